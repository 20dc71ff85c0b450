"""Attention as one operation and over caches of blocks, against NumPy."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
import weft.mindspore
from weft import Parameter, Tensor, jit, ops
from weft.ops import operations as P

Array = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(3)
BATCH, HEADS, SHARED, QUERIES, KEYS, SIZE = 2, 4, 2, 3, 5, 8
SCALE = 0.3


def normal(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


#: as (B, N, S, D)
Q, K, V = normal(BATCH, HEADS, QUERIES, SIZE), normal(BATCH, SHARED, KEYS, SIZE), normal(BATCH, SHARED, KEYS, SIZE)


def attention(q: Array, k: Array, v: Array, seen: Array | None = None, shift: Any = 0.0) -> tuple[Array, Array]:
    """Scores with what is hidden, and the output."""
    times = q.shape[1] // k.shape[1]
    k, v = (np.repeat(x, times, 1) for x in (k, v))
    scores = SCALE * (np.einsum("bnqd,bnkd->bnqk", q, k) + shift)
    if seen is not None:
        scores = np.where(seen, scores, -1e30)
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    return scores, np.einsum("bnqk,bnkd->bnqd", shares / shares.sum(-1, keepdims=True), v)


def laid(x: Array, layout: str) -> Array:
    order = {"BSH": (0, 2, 1, 3), "BSND": (0, 2, 1, 3), "BNSD": (0, 1, 2, 3), "SBH": (2, 0, 1, 3)}[layout]
    x = x.transpose(order)
    return x.reshape(*x.shape[:2], -1) if layout[-1] == "H" else x


def close(found: Any, wanted: Array, tolerance: float = 1e-5) -> None:
    np.testing.assert_allclose(found.asnumpy().astype(np.float32), wanted, rtol=tolerance, atol=tolerance)


AT, TO = np.arange(QUERIES)[:, None], np.arange(KEYS)[None, :]
MASK = RANDOM.random((BATCH, 1, QUERIES, KEYS)) < 0.4
MASK[..., 0] = False
#: what is called with, and what each query sees
MASKS: dict[str, tuple[dict[str, Any], Array | None]] = {
    "none": ({}, None),
    "a mask": ({"attn_mask": MASK}, ~MASK),
    "a mask of bytes for all": ({"attn_mask": MASK[0, 0].astype(np.uint8), "sparse_mode": 1}, ~MASK[0, 0]),
    "a mask and a band": ({"attn_mask": MASK, "pre_tokens": 1, "next_tokens": 1}, ~MASK & (abs(AT - TO) <= 1)),
    "a band without a mask": ({"pre_tokens": 1, "next_tokens": 1}, None),
    "from the first": ({"sparse_mode": 2}, TO <= AT),
    "from the last": ({"sparse_mode": 3, "attn_mask": MASK[0, 0]}, TO <= AT + KEYS - QUERIES),
    "a band from the last": (
        {"sparse_mode": 4, "pre_tokens": 1, "next_tokens": 0},
        (TO <= AT + KEYS - QUERIES) & (TO >= AT + KEYS - QUERIES - 1),
    ),
    "a prefix": (
        {"sparse_mode": 5, "prefix": (2, 4)},
        (TO <= AT + KEYS - QUERIES) | (np.array([2, 4]).reshape(-1, 1, 1, 1) > TO),
    ),
}


@pytest.mark.parametrize("layout", ("BSH", "BSND", "BNSD", "SBH"))
@pytest.mark.parametrize("masks", MASKS)
def test_masks_in_every_layout(layout: str, masks: str) -> None:
    settings, seen = MASKS[masks]
    given = {name: Tensor(x) if isinstance(x, np.ndarray) else x for name, x in settings.items()}
    scores, wanted = attention(Q, K, V, seen)
    q, k, v = (Tensor(laid(x, layout)) for x in (Q, K, V))

    def call(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return ops.flash_attention_score(q, k, v, HEADS, scalar_value=SCALE, input_layout=layout, **given)

    for run in (call, jit(call)):
        close(run(q, k, v), laid(wanted, layout))
        close(run(q, k, 2 * v), laid(2 * wanted, layout))
    fixed = {name: given[name] for name in ("pre_tokens", "next_tokens", "sparse_mode") if name in given}
    operator = P.FlashAttentionScore(HEADS, 1.0, SCALE, input_layout=layout, **fixed)
    inputs = {name: given[name] for name in ("attn_mask", "prefix") if name in given}
    largest, total, _, out = operator(q, k, v, **inputs)
    close(out, laid(wanted, layout))
    assert largest.shape == total.shape == (BATCH, HEADS, QUERIES, 8)
    close(largest[..., 3], scores.max(-1))
    close(total[..., 0], np.exp(scores - scores.max(-1, keepdims=True)).sum(-1), 1e-4)


def test_gradients_are_those_of_the_formula() -> None:
    q, k, v = map(Tensor, (Q, K, V))
    shift = normal(1, HEADS, QUERIES, KEYS)

    def loss(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
        return lambda q, k, v, shift: (function(q, k, v, shift) * Tensor(Q)).sum()

    def fused(q: Tensor, k: Tensor, v: Tensor, shift: Tensor) -> Tensor:
        settings = {"scalar_value": SCALE, "input_layout": "BNSD", "sparse_mode": 3}
        return ops.flash_attention_score(q, k, v, HEADS, shift, **settings)

    def written(q: Tensor, k: Tensor, v: Tensor, shift: Tensor) -> Tensor:
        k, v = (ops.repeat_interleave(x, HEADS // SHARED, 1) for x in (k, v))
        scores = (ops.matmul(q, k.swapaxes(2, 3)) + shift) * SCALE
        return ops.matmul(ops.softmax(ops.where(Tensor(TO <= AT + KEYS - QUERIES), scores, -1e30), -1), v)

    arguments = (q, k, v, Tensor(shift))
    close(fused(*arguments), attention(Q, K, V, TO <= AT + KEYS - QUERIES, shift)[1])
    wanted = weft.grad(loss(written), (0, 1, 2, 3))(*arguments)
    for function in (weft.grad(loss(fused), (0, 1, 2, 3)), jit(weft.grad(loss(fused), (0, 1, 2, 3)))):
        for found, each in zip(function(*arguments), wanted, strict=True):
            close(found, each.asnumpy())


def test_tokens_of_several_sequences() -> None:
    lengths, of_keys = (2, 1, 3), (4, 2, 3)
    q, k, v = normal(6, HEADS, SIZE), normal(9, SHARED, SIZE), normal(9, SHARED, SIZE)
    ends, ends_of_keys = np.cumsum(lengths), np.cumsum(of_keys)
    for mode in (0, 2, 3):
        parts, largest = [], []
        for i, (a, b) in enumerate(zip(lengths, of_keys, strict=True)):
            queries, keys = slice(ends[i] - a, ends[i]), slice(ends_of_keys[i] - b, ends_of_keys[i])
            at, to = np.arange(a)[:, None], np.arange(b)[None, :]
            seen = None if mode == 0 else to <= at + (b - a) * (mode == 3)
            rows = [x.transpose(1, 0, 2)[None] for x in (q[queries], k[keys], v[keys])]
            scores, out = attention(*rows, seen)
            parts.append(out[0].transpose(1, 0, 2))
            largest.append(scores.max(-1)[0].T)
        wanted = np.concatenate(parts)

        def call(q: Tensor, ends: Any, others: Any, mode: int = mode) -> Tensor:
            settings = {"scalar_value": SCALE, "input_layout": "TND", "sparse_mode": mode}
            kept = {"actual_seq_qlen": ends, "actual_seq_kvlen": others}
            return ops.flash_attention_score(q, Tensor(k), Tensor(v), HEADS, **kept, **settings)

        for run in (call, jit(call)):
            close(run(Tensor(q), tuple(ends.tolist()), tuple(ends_of_keys.tolist())), wanted)
            close(run(Tensor(q), Tensor(ends), Tensor(ends_of_keys)), wanted)
        operator = P.FlashAttentionScore(HEADS, scale_value=SCALE, input_layout="TND", sparse_mode=mode)
        found = operator(*map(Tensor, (q, k, v)), actual_seq_qlen=Tensor(ends), actual_seq_kvlen=Tensor(ends_of_keys))
        close(found[3], wanted)
        close(found[0][..., 0], np.concatenate(largest))
        flat = ops.flash_attention_score(
            *(Tensor(x.reshape(x.shape[0], -1)) for x in (q, k, v)), HEADS, scalar_value=SCALE, input_layout="TH",
            actual_seq_qlen=Tensor(ends), actual_seq_kvlen=Tensor(ends_of_keys), sparse_mode=mode,
        )  # fmt: skip
        close(flat, wanted.reshape(6, -1))
    with pytest.raises(ValueError, match="needs actual_seq_qlen"):
        ops.flash_attention_score(*map(Tensor, (q, k, v)), HEADS, input_layout="TND")


def test_half_types_and_dropout() -> None:
    q, k, v = (Tensor(x).astype(weft.float16) for x in (Q, K, V))
    found = ops.flash_attention_score(q, k, v, HEADS, scalar_value=SCALE, input_layout="BNSD")
    assert found.dtype is weft.float16
    close(found, attention(Q, K, V)[1], 5e-3)

    ones = Tensor(np.ones((1, 1, 64, 8), np.float32))
    keeps = Tensor(np.ones((1, 1, 64, 64), np.float32))

    def dropped(x: Tensor, keep: float, mask: Any = None) -> Tensor:
        return ops.flash_attention_score(x, x, x, 1, None, mask, keep_prob=keep, input_layout="BNSD")

    for run in (dropped, jit(dropped)):
        shares = run(ones, 0.5).asnumpy()[..., 0]
        assert abs(shares.mean() - 1) < 0.1
        assert shares.std() > 0.05
        np.testing.assert_allclose(shares * 32, np.round(shares * 32), atol=1e-3)  # so many of 64 keys, twice each
    bits = P.DropoutGenMask(3, 4)(keeps.shape, Tensor(0.5))
    kept = P.DropoutDoMask()(keeps / 64, bits, Tensor(0.5)).asnumpy().sum(-1)
    close(dropped(ones, 0.5, bits.reshape((1, 1, 64, 8)))[..., 0], kept)


@pytest.mark.parametrize(
    ("change", "error"),
    (
        ({"query": 1}, TypeError),
        ({"query": Tensor(Q).astype(weft.float16)}, TypeError),
        ({"input_layout": "XYZ"}, ValueError),
        ({"input_layout": 3}, TypeError),
        ({"sparse_mode": 1.0}, TypeError),
        ({"sparse_mode": 7}, RuntimeError),
        ({"head_num": 0}, RuntimeError),
        ({"head_num": 3}, RuntimeError),
        ({"keep_prob": "1"}, TypeError),
        ({"keep_prob": 0.0}, ValueError),
        ({"attn_mask": Tensor(MASK.astype(np.float32))}, TypeError),
        ({"attn_mask": Tensor(MASK[..., :2])}, RuntimeError),
        ({"real_shift": Tensor(normal(1, 1, 1, 1)).astype(weft.float16)}, TypeError),
        ({"drop_mask": 3}, TypeError),
        ({"padding_mask": Tensor(1)}, NotImplementedError),
        ({"sparse_mode": 5}, ValueError),
    ),
)
def test_what_is_refused(change: dict[str, Any], error: type[Exception]) -> None:
    arguments = {"query": Tensor(Q), "key": Tensor(K), "value": Tensor(V), "head_num": HEADS, "input_layout": "BNSD"}
    with pytest.raises(error):
        ops.flash_attention_score(**{**arguments, **change})


def test_prompts() -> None:
    prompt = importlib.import_module("mindspore.ops.operations.nn_ops").PromptFlashAttention
    settings = {"input_layout": "BNSD", "num_key_value_heads": SHARED}
    plain = prompt(HEADS, SCALE, **settings)
    q, k, v = map(Tensor, (Q, K, V))
    for run in (plain, jit(lambda *x: plain(*x))):
        close(run(q, k, v), attention(Q, K, V)[1])
        close(run(q, k, v, Tensor(MASK)), attention(Q, K, V, ~MASK & (TO <= AT))[1])
        close(run(q, k, v, Tensor(MASK[:, 0].astype(np.uint8))), attention(Q, K, V, ~MASK & (TO <= AT))[1])
        lengths, of_keys = np.array([3, 1]), np.array([2, 5])
        wanted = attention(Q, K, V, (of_keys.reshape(-1, 1, 1, 1) > TO) & (AT >= 0))[1]
        wanted = np.where(AT.reshape(1, 1, -1, 1) < lengths.reshape(-1, 1, 1, 1), wanted, 0)
        close(run(q, k, v, None, Tensor(lengths), Tensor(of_keys)), wanted)
    shift = normal(1, HEADS, QUERIES + 1, KEYS)
    found = prompt(HEADS, SCALE, sparse_mode=3, **settings)(q, k, v, pse_shift=Tensor(shift))
    close(found, attention(Q, K, V, TO <= AT + KEYS - QUERIES, shift[:, :, :QUERIES])[1])
    wide = prompt(HEADS, SCALE, input_layout="BSH", num_key_value_heads=SHARED)
    close(wide(*(Tensor(laid(x, "BSH")) for x in (Q, K, V))), laid(attention(Q, K, V)[1], "BSH"))
    with pytest.raises(NotImplementedError):
        plain(q, k, v, quant_scale2=Tensor(1.0))
    with pytest.raises(RuntimeError):
        prompt(HEADS, SCALE, input_layout="BNSD", num_key_value_heads=3)(q, k, v)


def test_caches_of_blocks() -> None:
    blocks, each = 6, 2
    lengths = np.array([3, 5])
    tables = np.array([[4, 0, -1], [1, 5, 2]])
    keys, values = normal(8, SHARED, SIZE), normal(8, SHARED, SIZE)
    slots = np.array([8, 9, 0, 2, 3, 10, 11, 4])  # of the tokens of both sequences, one after the other
    store, attend = P.ReshapeAndCache(), P.PagedAttention(HEADS, SCALE, SHARED)
    query = normal(2, HEADS, SIZE)
    wanted = np.concatenate(
        [
            attention(query[i][None, :, None], *(x[a:b].transpose(1, 0, 2)[None] for x in (keys, values)))[1]
            for i, (a, b) in enumerate(((0, 3), (3, 8)))
        ]
    ).reshape(2, HEADS, SIZE)
    for wrap in (lambda f: f, jit):
        caches = [Parameter(Tensor(np.full((blocks, each, SHARED, SIZE), 7, np.float32)), name=n) for n in "kv"]

        def write(key: Tensor, value: Tensor, slots: Tensor, caches: Any = caches) -> Tensor:
            return store(key, value, *caches, slots)

        def read(query: Tensor, tables: Tensor, lengths: Tensor, caches: Any = caches) -> Tensor:
            return attend(query, *caches, tables, lengths)

        save, look = wrap(write), wrap(read)
        skipped = np.where(np.arange(8) == 2, -1, slots)
        assert save(Tensor(keys), Tensor(values), Tensor(skipped)).tolist() == keys.tolist()
        rows = caches[0].asnumpy().reshape(-1, SHARED, SIZE)
        np.testing.assert_array_equal(rows[0], 7)
        np.testing.assert_array_equal(rows[slots[3]], keys[3])
        save(Tensor(keys.reshape(8, -1)), Tensor(values.reshape(8, -1)), Tensor(slots))
        rows = caches[1].asnumpy().reshape(-1, SHARED, SIZE)
        np.testing.assert_array_equal(rows[slots], values)
        close(look(Tensor(query), Tensor(tables), Tensor(lengths)), wanted)
        close(look(Tensor(query.reshape(2, 1, -1)), Tensor(tables), Tensor(lengths)), wanted.reshape(2, 1, -1))
    shift = normal(2, HEADS, 1, each * 3)
    hidden = P.PagedAttentionMask(HEADS, SCALE, SHARED)
    found = hidden(Tensor(query), *caches, Tensor(tables), Tensor(lengths), alibi_mask=Tensor(shift))
    first = attention(
        query[:1, :, None], *(x[:3].transpose(1, 0, 2)[None] for x in (keys, values)), None, shift[:1, ..., :3] / SCALE
    )[1]
    close(found[:1], first.reshape(1, HEADS, SIZE))
    with pytest.raises(NotImplementedError):
        attend(Tensor(query), *caches, Tensor(tables), Tensor(lengths), Tensor(1.0))
    with pytest.raises(TypeError):
        store(Tensor(keys), Tensor(values), caches[0])
