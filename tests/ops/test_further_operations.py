"""Functions of transforms, special functions, matrices, distances, pooling and losses, against oracles.

Each row is asked eagerly and in a graph, and again with other values; where it has a gradient, that is compared with
finite differences.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.spatial.distance
import scipy.special

import weft
from weft import Tensor, ops

RANDOM = np.random.default_rng(3)


def floats(*shape: int) -> Any:
    return RANDOM.normal(size=shape).astype(np.float32)


A, B, SQUARE = floats(3, 4), floats(3, 4), floats(3, 3) + 3 * np.eye(3, dtype=np.float32)
POSITIVE = np.abs(A) + np.float32(0.2)
COMPLEX = (A + 1j * B).astype(np.complex64)
IMAGE, LINE, CUBE = floats(1, 2, 6, 6), floats(1, 2, 8), floats(1, 2, 4, 4, 4)
CLASSES = np.array([1, 0, 3])
LABELS = (B > 0).astype(np.float32)
LU, PIVOTS = scipy.linalg.lu_factor(SQUARE)
LU, PIVOTS = LU.astype(np.float32), (PIVOTS + 1).astype(np.int32)
UPPER = np.triu(SQUARE)
GRID = floats(2, 2, 3)
SAMPLES = np.array([[[0.3, 0.6], [0.8, 0.1]]], np.float32)

#: name, arguments, answer; the arguments that are arrays become tensors
Row = tuple[str, tuple[Any, ...], dict[str, Any], Callable[..., Any]]
ROWS: list[Row] = []


def row(name: str, answer: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    ROWS.append((name, args, kwargs, answer))


# -- special functions and transforms --------------------------------------------------------------------------------

for _name in ("j0", "j1", "y0", "y1", "k0", "k1", "k0e", "k1e"):
    row(f"bessel_{_name}", getattr(scipy.special, _name), POSITIVE * 5)
for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    _oracle = getattr(np.fft, _name)
    row(_name, lambda x, n=None, dim=-1, norm=None, f=_oracle: f(x, n, dim, norm), A)
    row(_name, lambda x, n=None, dim=-1, norm=None, f=_oracle: f(x, n, dim, norm), A, 6, 0, "ortho")
    row(_name, lambda x, n=None, dim=-1, norm=None, f=_oracle: f(x, n, dim, norm), A, 3, -1, "forward")
for _name in ("fft", "ifft", "rfft", "irfft"):
    for _several in ("2", "n"):
        _oracle = getattr(np.fft, _name + _several)
        row(_name + _several, lambda x, s=None, dim=(-2, -1), norm=None, f=_oracle: f(x, s, dim, norm), A)
        row(
            _name + _several,
            lambda x, s=None, dim=None, norm=None, f=_oracle: f(x, s, dim, norm), IMAGE[0], (4, 4), (0, 2), "ortho",
        )  # fmt: skip
for _several in ("2", "n"):
    row(f"hfft{_several}", lambda x: np.fft.irfftn(x.conj(), norm="forward"), A)
    row(f"ihfft{_several}", lambda x: np.fft.rfftn(x, norm="forward").conj(), A)
row("fft", np.fft.fft, COMPLEX)
row("fftshift", np.fft.fftshift, A)
row("fftshift", lambda x, dim: np.fft.fftshift(x, dim), A, 1)
row("ifftshift", np.fft.ifftshift, A)
row("ifftshift", lambda x, dim: np.fft.ifftshift(x, dim), A, (0, 1))

# -- matrices --------------------------------------------------------------------------------------------------------

row("orgqr", lambda x, tau: scipy.linalg.lapack.sorgqr(x, tau)[0], floats(4, 2), np.array([0.4, 1.2], np.float32))
row("ormqr", lambda x, tau, c: scipy.linalg.lapack.sormqr("L", "N", x, tau, c, 64)[0],
    floats(4, 2), np.array([0.4, 1.2], np.float32), floats(4, 3))  # fmt: skip
row("ormqr", lambda x, tau, c, left, transpose: scipy.linalg.lapack.sormqr("R", "T", x, tau, c, 64)[0],
    floats(4, 2), np.array([0.4, 1.2], np.float32), floats(3, 4), False, True)  # fmt: skip
row("lstsq", lambda x, b: np.linalg.lstsq(x, b, rcond=None)[0], floats(4, 3), floats(4, 2))
row("lstsq", lambda x, b: np.linalg.lstsq(x, b, rcond=None)[0], floats(2, 3), floats(2, 2))
row("lstsq", lambda x, b: np.linalg.lstsq(x, b[:, None], rcond=None)[0], floats(4, 3), floats(4))
for _order in ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf):
    row("matrix_norm", lambda x, ord: np.linalg.norm(x, ord), A, _order)
row("matrix_norm", lambda x, ord, axis, keepdims: np.linalg.norm(x, ord, axis, keepdims), IMAGE[0], 1, (0, 2), True)


def with_diagonals(x: Any, diagonals: Any, low: int, high: int, above: str, below: str) -> Any:
    found = x.copy()
    longest = diagonals.shape[-1]
    for number, at in enumerate(range(high, low - 1, -1)):
        length = np.diagonal(x, at).size
        skipped = longest - length if (above if at >= 0 else below) == "RIGHT" else 0
        for i in range(length):
            found[i + max(-at, 0), i + max(at, 0)] = diagonals[number, skipped + i]
    return found


for _align in ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"):
    row(
        "matrix_set_diag",
        lambda x, d, k, align: with_diagonals(x, d, -1, 2, *align.split("_")), A, floats(4, 3), [-1, 2], _align,
    )  # fmt: skip
row("matrix_set_diag", lambda x, d: with_diagonals(x, d[None], 0, 0, "LEFT", "LEFT"), A, floats(3))
row("diagflat", lambda x, k: np.diagflat(x, k), A, 1)

# -- distances -------------------------------------------------------------------------------------------------------

for _p in (0, 1, 2, 3):
    row("dist", lambda a, b, p: np.linalg.norm((a - b).ravel(), p), A, B, _p)
for _p, _metric in ((1.0, "cityblock"), (2.0, "euclidean"), (math.inf, "chebyshev")):
    row("pdist", lambda x, p, m=_metric: scipy.spatial.distance.pdist(x, m), A, _p)
row("pdist", lambda x, p: scipy.spatial.distance.pdist(x, "minkowski", p=p), A, 3.0)
for _axis in (0, 1):
    row(
        "cosine_similarity",
        lambda a, b, dim: (a * b).sum(dim) / (np.linalg.norm(a, axis=dim) * np.linalg.norm(b, axis=dim)), A, B, _axis,
    )  # fmt: skip
row("combinations", lambda x, r: np.array([*itertools.combinations(x, r)]), A[0], 3)
row("combinations", lambda x, r, again: np.array([*itertools.combinations_with_replacement(x, r)]), A[0], 2, True)
row("bidense", lambda a, b, w, c: np.einsum("ni,oij,nj->no", a, w, b) + c, A, B[:, :2], floats(5, 4, 2), floats(5))

# -- pooling ---------------------------------------------------------------------------------------------------------


def windows(x: Any, size: int) -> Any:
    """The windows of a line that do not overlap."""
    return x.reshape((*x.shape[:-1], -1, size))


def squares(x: Any, size: int) -> Any:
    """The windows of an image that do not overlap."""
    n, c, h, w = x.shape
    split = x.reshape((n, c, h // size, size, w // size, size)).transpose((0, 1, 2, 4, 3, 5))
    return split.reshape((n, c, h // size, w // size, size * size))


row("lp_pool1d", lambda x, p, k: np.sum(windows(x, k) ** p, -1) ** (1 / p), np.abs(LINE), 3.0, 2)
row("lp_pool1d", lambda x, p, k: windows(x, k).max(-1), LINE, math.inf, 2)
row("lp_pool2d", lambda x, p, k: np.sqrt(np.sum(squares(x, k) ** 2, -1)), IMAGE, 2, 3)
row("adaptive_max_pool3d", lambda x, size: x.reshape((1, 2, 2, 2, 2, 2, 2, 2)).max((3, 5, 7)), CUBE, 2)


def scattered(x: Any, at: Any, shape: tuple[int, ...]) -> Any:
    found = np.zeros((*shape[:2], math.prod(shape[2:])), x.dtype)
    np.put_along_axis(found, at.reshape((*shape[:2], -1)), x.reshape((*shape[:2], -1)), -1)
    return found.reshape(shape)


_AT = np.tile(np.array([1, 2, 5, 7]), (1, 2, 1))
row("max_unpool1d", lambda x, at, k: scattered(x, at, (1, 2, 8)), LINE[..., :4], _AT, 2)
row("max_unpool1d", lambda x, at, k, s, p, o: scattered(x, at, (1, 2, 9)), LINE[..., :4], _AT, 2, None, 0, (9,))
_AT = np.tile(np.arange(9).reshape(3, 3) * 4, (1, 2, 1, 1))
row("max_unpool2d", lambda x, at, k: scattered(x, at, (1, 2, 6, 6)), IMAGE[..., :3, :3], _AT, 2)
row(
    "max_unpool3d", lambda x, at, k: scattered(x, at, (1, 2, 2, 2, 2)),
    CUBE[..., :1, :1, :1], np.full((1, 2, 1, 1, 1), 5), 2,
)  # fmt: skip


def fractional(x: Any, size: int, output_size: tuple[int, ...], _random_samples: Any) -> Any:
    rank = len(output_size)
    found = np.zeros((*x.shape[:2], *output_size), x.dtype)
    for n, c in np.ndindex(x.shape[:2]):
        starts = []
        for i, (length, count) in enumerate(zip(x.shape[2:], output_size, strict=True)):
            u, ratio = _random_samples[n, c, rank - 1 - i if rank == 2 else i], (length - size) / max(count - 1, 1)
            starts.append([int((j + u) * ratio) - int(u * ratio) for j in range(count - 1)] + [length - size])
        for place in np.ndindex(output_size):
            begins = [starts[i][p] for i, p in enumerate(place)]
            found[(n, c, *place)] = x[(n, c, *(slice(b, b + size) for b in begins))].max()
    return found


row("fractional_max_pool2d", fractional, IMAGE, 2, output_size=(3, 2), _random_samples=SAMPLES)
row("fractional_max_pool3d", fractional, CUBE, 2, output_size=(2, 3, 1),
    _random_samples=np.concatenate([SAMPLES, SAMPLES[..., :1]], -1))  # fmt: skip

# -- losses ----------------------------------------------------------------------------------------------------------


def margins(x: Any, target: Any, p: int, margin: int, weight: Any = None, reduction: str = "mean") -> Any:
    gap = np.maximum(0, margin - x[np.arange(3), target][:, None] + x) ** p
    gap[np.arange(3), target] = 0
    loss = gap.mean(1) * (1 if weight is None else weight[target])
    return loss if reduction == "none" else getattr(loss, reduction)()


for _p, _reduction in ((1, "mean"), (2, "none"), (1, "sum")):
    row("multi_margin_loss", margins, A, CLASSES, _p, 1, None, _reduction)
row("multi_margin_loss", margins, A, CLASSES, 2, 2, POSITIVE[0], "mean")


def label_margins(x: Any, target: Any, reduction: str) -> Any:
    found = []
    for scores, labels in zip(x, target, strict=True):
        own = [*itertools.takewhile(lambda label: label >= 0, labels)]
        others = [i for i in range(4) if i not in own]
        found.append(sum(max(0, 1 - scores[j] + scores[i]) for j in own for i in others) / 4)
    return np.array(found) if reduction == "none" else getattr(np, reduction)(found)


_LABELS = np.array([[1, 0, -1, 2], [3, -1, 0, 0], [0, 1, 2, 3]], np.int32)
for _reduction in ("none", "mean", "sum"):
    row("multilabel_margin_loss", label_margins, A, _LABELS, _reduction)
row("multilabel_soft_margin_loss", lambda x, y: np.mean(np.log1p(np.exp(x)) - x * y), A, LABELS)
row("multilabel_soft_margin_loss", lambda x, y, w, reduction: ((np.log1p(np.exp(x)) - x * y) * w).mean(-1),
    A, LABELS, POSITIVE[0], "none")  # fmt: skip

# -- moving and units ------------------------------------------------------------------------------------------------

row("channel_shuffle", lambda x, g: x.reshape((1, 2, 2, 3, 6)).swapaxes(1, 2).reshape((1, 4, 3, 6)),
    IMAGE.reshape((1, 4, 3, 6)), 2)  # fmt: skip
row("affine_grid", lambda t, size: np.einsum("hwk,nik->nhwi", np.stack([*np.meshgrid(
    (np.arange(3) * 2 + 1) / 3 - 1, (np.arange(2) * 2 + 1) / 2 - 1), np.ones((2, 3))], -1), t),
    GRID, (2, 1, 2, 3))  # fmt: skip
row("affine_grid", lambda t, size, corners: np.einsum("hwk,nik->nhwi", np.stack([*np.meshgrid(
    np.linspace(-1, 1, 3), np.linspace(-1, 1, 2)), np.ones((2, 3))], -1), t), GRID, (2, 1, 2, 3), True)  # fmt: skip
row("batch_to_space_nd", lambda x, b, c: x.reshape((2, 2, 1, 1, 2, 2)).transpose((2, 3, 4, 0, 5, 1)).reshape(
    (1, 1, 4, 4))[:, :, 1:, :2], floats(4, 1, 2, 2), 2, [[1, 0], [0, 2]])  # fmt: skip
row("space_to_batch_nd", lambda x, b, c: np.pad(x, ((0, 0), (0, 0), (1, 1), (0, 3))).reshape(
    (1, 2, 4, 2, 3, 3)).transpose((3, 5, 0, 1, 2, 4)).reshape((6, 2, 4, 3)),
    IMAGE, [2, 3], ((1, 1), (0, 3)))  # fmt: skip
row("swiglu", lambda x: x[:, :2] * scipy.special.expit(x[:, :2]) * x[:, 2:], A)
row("rotary_position_embedding", lambda x, c, s: x * c + np.concatenate([-x[..., 2:], x[..., :2]], -1) * s,
    A.reshape((1, 1, 3, 4)), B.reshape((1, 1, 3, 4)), POSITIVE.reshape((1, 1, 3, 4)))  # fmt: skip
row("rotary_position_embedding", lambda x, c, s, m: x * c + np.stack([-x[..., 1::2], x[..., ::2]], -1).reshape(
    x.shape) * s, A.reshape((1, 1, 3, 4)), B.reshape((1, 1, 3, 4)), POSITIVE.reshape((1, 1, 3, 4)), 1)  # fmt: skip
row("sparse_segment_mean", lambda x, at, ids: np.stack([x[:2].mean(0), x[2], x[0] * 0, x[1]]),
    A, np.array([0, 1, 2, 1]), np.array([0, 0, 1, 3]))  # fmt: skip

#: those that are left to Python, since sizes depend on values
SIZED = {"sparse_segment_mean"}


def tensors(values: Any) -> list[Any]:
    return [Tensor(v) if isinstance(v, np.ndarray) else v for v in values]


def changed(value: Any, factor: float) -> Any:
    is_float = isinstance(value, np.ndarray) and value.dtype.kind in "fc"
    return value * np.asarray(factor, value.dtype) if is_float else value


IDS = [f"{name}-{i}" for i, (name, *_) in enumerate(ROWS)]
#: the first row of each name, which is compiled and differentiated too
FIRST = [i for i, (name, *_) in enumerate(ROWS) if name not in [other for other, *_ in ROWS[:i]]]


@pytest.mark.parametrize("number", range(len(ROWS)), ids=IDS)
def test_says_what_the_oracle_says_eagerly_and_in_a_graph(number: int) -> None:
    name, args, kwargs, answer = ROWS[number]
    function = getattr(ops, name)
    names = [*kwargs]

    @weft.jit(fullgraph=name not in SIZED)
    def graph(given: Any, named: Any) -> Any:
        return function(*given, **named)

    runs = [lambda given, named: function(*given, **named), *([graph] if number in FIRST else [])]
    for factor in (1.0, 0.5):
        given = [changed(a, factor) for a in args]
        named = {n: changed(kwargs[n], factor) for n in names}
        expected = np.asarray(answer(*given, **named))
        kind = {"f": np.float32, "c": np.complex64}.get(expected.dtype.kind, expected.dtype)
        for run in runs:
            found = run(tensors(given), dict(zip(names, tensors(named.values()), strict=True)))
            assert found.asnumpy().dtype == kind
            np.testing.assert_allclose(found.asnumpy(), expected, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("number", FIRST, ids=[IDS[i] for i in FIRST])
def test_gradient_is_that_of_finite_differences(number: int) -> None:
    name, args, kwargs, _ = ROWS[number]
    function = getattr(ops, name)
    wide = [a.astype(np.float64) if isinstance(a, np.ndarray) and a.dtype.kind == "f" else a for a in args]
    named = {n: a.astype(np.float64) if isinstance(a, np.ndarray) else a for n, a in kwargs.items()}
    rest = tensors(wide[1:])
    made = dict(zip(named, tensors(named.values()), strict=True))

    def loss(x: Any) -> Any:
        found = function(x, *rest, **made)
        if found.is_complex():
            found = ops.real(found) + 2 * ops.imag(found)
        return (found * Tensor(np.cos(np.arange(found.size)).reshape(found.shape))).sum()

    x = wide[0]
    eager = weft.grad(loss)(Tensor(x)).asnumpy()
    graph = weft.jit(weft.grad(loss))(Tensor(x)).asnumpy() if name not in SIZED else eager
    np.testing.assert_allclose(graph, eager, rtol=1e-9, atol=1e-12)
    direction = np.sin(np.arange(x.size) + 1).reshape(x.shape)
    step = 1e-6
    slope = (loss(Tensor(x + step * direction)) - loss(Tensor(x - step * direction))).item() / (2 * step)
    np.testing.assert_allclose((eager * direction).sum(), slope, rtol=1e-4, atol=1e-6)
