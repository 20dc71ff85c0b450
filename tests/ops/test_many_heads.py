"""The function behind attention of many heads: recorded answers of MindSpore 2.10, and the layer."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
import weft.mindspore
from weft import Tensor, jit, nn
from weft.ops.many_heads import expanded, multi_head_attention_forward, same_type

RECORDED = json.loads((Path(__file__).parent / "recorded_heads.json").read_text())
#: the operands that the answers were recorded with, drawn in this order
RANDOM = np.random.RandomState(1)


def drawn(*shape: int) -> Tensor:
    return Tensor(np.round(RANDOM.randn(*shape), 2).astype(np.float32))


L, S, N, E, H = 3, 4, 2, 4, 2
Q, K, V, W, B, OW, OB = (drawn(*s) for s in ((L, N, E), (S, N, E), (S, N, E), (3 * E, E), (3 * E,), (E, E), (E,)))
WQ, WK, WV, BK, BV = (drawn(*s) for s in ((E, E), (E, 6), (E, 5), (1, 1, E), (1, 1, E)))
WIDE = drawn(S, N, 6), drawn(S, N, 5)
FLOATS, OF_HEADS = drawn(L, S), drawn(N * H, L, S)
ABOVE = Tensor(np.triu(np.ones((L, S)), 2).astype(bool))
PADDING = Tensor([[False, False, True, True], [False, False, False, True]])
PLAIN = (E, H, W, B, None, None, False, 0.0, OW, OB)
MORE = (E, H, W, B, BK, BV, False, 0.0, OW, OB)
CASES: dict[str, tuple[tuple[Any, ...], tuple[Any, ...], dict[str, Any]]] = {
    "plain": ((Q, K, V), PLAIN, {}),
    "same": ((Q, Q, Q), PLAIN, {"k_is_v": True, "q_is_k": True}),
    "kv": ((Q, K, K), PLAIN, {"k_is_v": True}),
    "separate": (
        (Q, *WIDE),
        (E, H, None, B, None, None, False, 0.0, OW, OB),
        {"use_separate_proj_weight": True, "q_proj_weight": WQ, "k_proj_weight": WK, "v_proj_weight": WV},
    ),
    "nobias": ((Q, K, V), (E, H, W, None, None, None, False, 0.0, OW, None), {}),
    "bias_kv": ((Q, K, V), MORE, {}),
    "zero": ((Q, K, V), (E, H, W, B, None, None, True, 0.0, OW, OB), {}),
    "mask": ((Q, K, V), PLAIN, {"attn_mask": ABOVE}),
    "fmask": ((Q, K, V), PLAIN, {"attn_mask": FLOATS}),
    "mask3": ((Q, K, V), PLAIN, {"attn_mask": OF_HEADS}),
    "kpm": ((Q, K, V), PLAIN, {"key_padding_mask": PADDING}),
    "kpm2d": ((Q[:, 0], K[:, 0], V[:, 0]), PLAIN, {"key_padding_mask": PADDING[0]}),
    "both": ((Q, K, V), PLAIN, {"key_padding_mask": PADDING, "attn_mask": ABOVE}),
    "heads": ((Q, K, V), PLAIN, {"average_attn_weights": False}),
}


def test_all_answers_are_compared() -> None:
    assert set(CASES) == set(RECORDED)


@pytest.mark.parametrize("case", CASES)
def test_answers_of_mindspore(case: str) -> None:
    inputs, settings, named = CASES[case]
    function = importlib.import_module("mindspore.ops.function.nn_func").multi_head_attention_forward

    def call(q: Tensor, k: Tensor, v: Tensor) -> Any:
        return function(q, k, v, *settings, training=False, **named)

    for run in (call, jit(call)):
        for found, wanted in zip(run(*inputs), RECORDED[case], strict=True):
            np.testing.assert_allclose(found.asnumpy(), np.array(wanted), rtol=2e-5, atol=2e-6)


def test_gradients_are_those_of_the_layer() -> None:
    layer = nn.MultiheadAttention(E, H)
    layer.in_proj_weight.set_data(W)
    layer.in_proj_bias.set_data(B)
    layer.out_proj.weight.set_data(OW)
    layer.out_proj.bias.set_data(OB)

    def of_layer(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return (layer(q, k, v)[0] * Q).sum()

    def of_function(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return (multi_head_attention_forward(q, k, v, *PLAIN, training=False)[0] * Q).sum()

    wanted = weft.grad(of_layer, (0, 1, 2))(Q, K, V)
    for function in (weft.grad(of_function, (0, 1, 2)), jit(weft.grad(of_function, (0, 1, 2)))):
        for found, each in zip(function(Q, K, V), wanted, strict=True):
            np.testing.assert_allclose(found.asnumpy(), each.asnumpy(), rtol=1e-4, atol=1e-6)


def test_keys_in_heads_dropout_and_refusals() -> None:
    def in_heads(x: Tensor) -> Tensor:
        return x.reshape((S, N * H, E // H)).swapaxes(0, 1)

    keys, values = (weft.ops.dense(x, W[i * E : (i + 1) * E], B[i * E : (i + 1) * E]) for i, x in ((1, K), (2, V)))
    found = multi_head_attention_forward(
        Q, K, V, *PLAIN, training=False, static_k=in_heads(keys), static_v=in_heads(values)
    )
    np.testing.assert_allclose(found[0].asnumpy(), np.array(RECORDED["plain"][0]), rtol=2e-5, atol=2e-6)
    dropping = (E, H, W, B, None, None, False, 0.5, OW, OB)
    shares = multi_head_attention_forward(Q, K, V, *dropping, average_attn_weights=False)[1].asnumpy()
    kept = np.array(RECORDED["heads"][1])
    assert (shares == 0).any()
    np.testing.assert_allclose(shares[shares != 0], 2 * kept[shares != 0], rtol=1e-3, atol=2e-6)
    for bad in ((5, H), (E, 3)):
        with pytest.raises(ValueError, match="multi_head_attention_forward"):
            multi_head_attention_forward(Q, K, V, *bad, *PLAIN[2:])
    assert expanded(Q, 5).shape == (1, 1, *Q.shape)
    assert same_type(weft.float32, weft.float32)
    assert not same_type(weft.float32, weft.int32)


def test_masks_of_both_kinds_hide() -> None:
    """MindSpore 2.10 adds 1 to scores where a mask of bools meets one of floats, or `is_causal`; here it hides."""

    def call(**named: Any) -> Any:
        return multi_head_attention_forward(Q, K, V, *MORE[:6], True, *MORE[7:], training=False, **named)[0].asnumpy()

    hiding = Tensor(np.where(ABOVE.asnumpy(), -np.inf, 0).astype(np.float32))
    padding = Tensor(np.where(PADDING.asnumpy(), -np.inf, 0).astype(np.float32))
    found = call(attn_mask=FLOATS, key_padding_mask=PADDING)
    np.testing.assert_allclose(found, call(attn_mask=FLOATS, key_padding_mask=padding), rtol=1e-6)
    found = call(attn_mask=ABOVE, is_causal=True)
    np.testing.assert_allclose(found, call(attn_mask=hiding), rtol=1e-6)
