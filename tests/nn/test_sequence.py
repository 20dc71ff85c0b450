"""Recurrent layers and attention against their formulas in NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.helpers.values import normals
from weft import dtypes, nn
from weft.autodiff.grad import GradOperation
from weft.core.tensor import Tensor

normal = normals()


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def cell_step(kind: str, x: Any, h: Any, c: Any, weights: list[Any]) -> tuple[Any, Any]:
    w_ih, w_hh, b_ih, b_hh = weights
    a, b = x @ w_ih.T + b_ih, h @ w_hh.T + b_hh
    if kind == "gru":
        (ar, az, an), (br, bz, bn) = np.split(a, 3, -1), np.split(b, 3, -1)
        z = sigmoid(az + bz)
        h = (1 - z) * np.tanh(an + sigmoid(ar + br) * bn) + z * h
        return h, h
    if kind == "lstm":
        i, f, g, o = np.split(a + b, 4, -1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        return sigmoid(o) * np.tanh(c), c
    h = np.tanh(a + b) if kind == "tanh" else np.maximum(a + b, 0)
    return h, h


MAKERS: dict[str, Any] = {
    "lstm": nn.LSTM, "gru": nn.GRU, "tanh": nn.RNN, "relu": lambda *a, **k: nn.RNN(*a, nonlinearity="relu", **k),
}  # fmt: skip


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("lengths", [None, [5, 2, 1]])
def test_layers_walk_like_the_formula(kind: str, both: bool, lengths: Any) -> None:
    net = MAKERS[kind](3, 4, num_layers=2, bidirectional=both, batch_first=True)
    x = normal(3, 5, 3)
    directions = 2 if both else 1
    start = normal(2 * directions, 3, 4), normal(2 * directions, 3, 4)
    hx = tuple(map(Tensor, start)) if kind == "lstm" else Tensor(start[0])
    out, last = net(Tensor(x), hx, None if lengths is None else Tensor(lengths))
    wanted = x
    states = []
    for layer in range(2):
        parts = np.zeros((3, 5, 4 * directions), np.float32)
        for direction in range(directions):
            suffix = f"_l{layer}" + "_reverse" * direction
            weights = [getattr(net, n + suffix).asnumpy() for n in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
            at = layer * directions + direction
            for n in range(3):
                h, c = start[0][at, n], start[1][at, n]
                steps = range(5 if lengths is None else lengths[n])
                for t in reversed(steps) if direction else steps:
                    h, c = cell_step(kind, wanted[n, t], h, c, weights)
                    parts[n, t, direction * 4 : direction * 4 + 4] = h
                states.append((at, n, h, c))
        wanted = parts
    np.testing.assert_allclose(out.asnumpy(), wanted, 1e-4, 1e-5)
    for at, n, h, c in states:
        found = last if kind == "lstm" else (last, None)
        np.testing.assert_allclose(found[0].asnumpy()[at, n], h, 1e-4, 1e-5)
        if kind == "lstm":
            np.testing.assert_allclose(found[1].asnumpy()[at, n], c, 1e-4, 1e-5)


def test_parameters_are_named_by_layer_and_direction() -> None:
    net = nn.LSTM(3, 4, 2, bidirectional=True)
    names = {p.name: p.shape for p in net.get_parameters()}
    assert names["weight_ih_l0"] == (16, 3)
    assert names["weight_ih_l1_reverse"] == (16, 8)
    assert names["bias_hh_l1"] == (16,)
    assert len(names) == 16


@pytest.mark.parametrize(("make", "kind"), [(nn.LSTMCell, "lstm"), (nn.GRUCell, "gru"), (nn.RNNCell, "tanh")])
def test_cells_step_like_the_formula(make: Any, kind: str) -> None:
    cell = make(3, 4)
    x, h, c = normal(2, 3), normal(2, 4), normal(2, 4)
    weights = [getattr(cell, n).asnumpy() for n in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
    wanted = cell_step(kind, x, h, c, weights)
    if kind == "lstm":
        found = cell(Tensor(x), (Tensor(h), Tensor(c)))
        np.testing.assert_allclose(found[1].asnumpy(), wanted[1], 1e-4, 1e-5)
        found = found[0]
    else:
        found = cell(Tensor(x), Tensor(h))
    np.testing.assert_allclose(found.asnumpy(), wanted[0], 1e-4, 1e-5)


def attention(net: nn.MultiheadAttention, q: Any, k: Any, v: Any, allowed: Any) -> tuple[Any, Any]:
    """Attention of one sample, one head at a time; `allowed` is a (L, S) bool mask."""
    size, head = net.embed_dim, net.head_dim
    weight, bias = net.in_proj_weight.asnumpy(), net.in_proj_bias.asnumpy()
    q, k, v = (
        x @ weight[i * size : (i + 1) * size].T + bias[i * size : (i + 1) * size] for i, x in enumerate((q, k, v))
    )
    parts, shown = [], []
    for n in range(net.num_heads):
        columns = slice(n * head, (n + 1) * head)
        scores = q[:, columns] @ k[:, columns].T / math.sqrt(head)
        scores = np.where(allowed, scores, -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        parts.append(weights @ v[:, columns])
        shown.append(weights)
    out = np.concatenate(parts, -1) @ net.out_proj.weight.asnumpy().T + net.out_proj.bias.asnumpy()
    return out, np.mean(shown, 0)


@pytest.mark.parametrize("mask", ["none", "bool", "float", "padding"])
@pytest.mark.parametrize("batch_first", [False, True])
def test_attention_is_the_formula(mask: str, batch_first: bool) -> None:
    net = nn.MultiheadAttention(8, 2, batch_first=batch_first)
    net.in_proj_bias.set_data(Tensor(normal(24)))
    q, k, v = normal(2, 3, 8), normal(2, 5, 8), normal(2, 5, 8)
    allowed = np.ones((2, 3, 5), bool)
    settings: dict[str, Any] = {}
    if mask in ("bool", "float"):
        allowed[:] = np.tril(np.ones((3, 5), bool), 1)
        forbidden = ~allowed[0]
        settings["attn_mask"] = Tensor(forbidden if mask == "bool" else np.where(forbidden, -np.inf, 0).astype("f4"))
    if mask == "padding":
        allowed[1, :, 3:] = False
        settings["key_padding_mask"] = Tensor(~allowed[:, 0])
    given = [x if batch_first else x.swapaxes(0, 1) for x in (q, k, v)]
    out, weights = net(*(Tensor(x.copy()) for x in given), **settings)
    for n in range(2):
        wanted, shown = attention(net, q[n], k[n], v[n], allowed[n])
        found = out.asnumpy()[n] if batch_first else out.asnumpy()[:, n]
        np.testing.assert_allclose(found, wanted, 1e-4, 1e-5)
        np.testing.assert_allclose(weights.asnumpy()[n], shown, 1e-4, 1e-5)


def test_attention_takes_keys_of_other_sizes_and_no_batch() -> None:
    net = nn.MultiheadAttention(8, 2, kdim=3, vdim=5)
    out, weights = net(Tensor(normal(4, 8)), Tensor(normal(6, 3)), Tensor(normal(6, 5)))
    assert (out.shape, weights.shape) == ((4, 8), (4, 6))
    assert {p.name for p in net.get_parameters()} >= {"q_proj_weight", "k_proj_weight", "v_proj_weight"}
    with pytest.raises(ValueError, match="does not divide into 3 heads"):
        nn.MultiheadAttention(8, 3)


@pytest.mark.parametrize("norm_first", [False, True])
def test_encoder_layers_have_parameters_of_their_own_and_train(norm_first: bool) -> None:
    net = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, 0.0, norm_first=norm_first), 2, nn.LayerNorm((8,)))
    names = [p.name for p in net.trainable_params()]
    assert "layers.1.self_attn.in_proj_weight" in names
    assert "norm.gamma" in names
    assert len(names) == len(set(names)) == 26
    x, weights = Tensor(normal(5, 2, 8)), Tensor(normal(5, 2, 8))
    found = GradOperation(get_by_list=True)(lambda x: (net(x) * weights).sum(), net.trainable_params())(x)
    assert all(np.isfinite(g.asnumpy()).all() for g in found)
    assert sum(bool(g.asnumpy().any()) for g in found) >= 24
    assert net(x).dtype is dtypes.float32
