"""Creation, gather and scatter, sorting, linear algebra and Tensor methods, against NumPy."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import weft
from tests.helpers.values import close
from weft import Tensor, ops

same = functools.partial(close, atol=1e-6)
GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(3, 4)).astype(np.float32)
SQUARE = GENERATOR.normal(size=(2, 3, 3)) + 3 * np.eye(3)


# -- creation --------------------------------------------------------------------------------------------------


@given(st.integers(-9, 9), st.integers(-9, 9), st.integers(-3, 3).filter(bool))
def test_arange(start: int, end: int, step: int) -> None:
    wanted = np.arange(start, end, step)
    if (end - start) * step < 0:
        with pytest.raises(ValueError, match="does not lead from"):
            ops.arange(start, end, step)
        return
    found = ops.arange(start, end, step)
    assert found.dtype is weft.int64
    same(found, wanted)
    same(ops.arange(start * 0.5, end * 0.5, step * 0.5), np.arange(start * 0.5, end * 0.5, step * 0.5))


def test_creation() -> None:
    assert ops.zeros(3).tolist() == [0.0] * 3
    assert ops.ones((2, 1), weft.int32).dtype is weft.int32
    assert ops.full((2,), 2).dtype is weft.int64
    assert ops.full((2,), 2.5).dtype is weft.float32
    assert ops.full((2,), True).dtype is weft.bool_
    assert np.signbit(ops.full((1,), -0.0).item())
    assert not np.signbit(ops.full((1,), 0.0).item())
    assert ops.fill(weft.float16, (2,), 3).dtype is weft.float16
    assert ops.Fill()(weft.int32, (2,), 3).tolist() == [3, 3]
    assert ops.FillV2()((2,), Tensor(3, weft.int32)).tolist() == [3, 3]
    same(ops.eye(2, 3), np.eye(2, 3))
    same(ops.Eye()(2, 3, weft.int32), np.eye(2, 3))
    same(ops.linspace(0, 1, 4), np.linspace(0, 1, 4))
    same(ops.LinSpace()(Tensor(0.0), Tensor(1.0), 4), np.linspace(0, 1, 4))
    same(ops.logspace(0, 2, 3), [1, 10, 100])
    same(ops.tril_indices(3, 3, -1), np.stack(np.tril_indices(3, -1, 3)))
    for indexing in ("xy", "ij"):
        grids = ops.meshgrid(Tensor([1, 2]), Tensor([3, 4, 5]), Tensor([6]), indexing=indexing)
        for found, wanted in zip(grids, np.meshgrid([1, 2], [3, 4, 5], [6], indexing=indexing), strict=True):
            same(found, wanted)
    x = Tensor(X)
    assert ops.zeros_like(x).shape == ops.ones_like(x).shape == X.shape
    assert ops.OnesLike()(x).dtype is weft.float32
    assert x.new_zeros((2,)).dtype is weft.float32
    assert x.new_ones((2, 3)).shape == (2, 3)
    assert ops.tuple_to_array((1, 2)).tolist() == [1, 2]
    assert ops.Range()(Tensor(0), Tensor(6), Tensor(2)).tolist() == [0, 2, 4]
    with pytest.raises(ValueError, match="must not be negative"):
        ops.zeros((-1,))
    with pytest.raises(ValueError, match="step must not be zero"):
        ops.arange(0, 3, 0)


@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "kaiser", "hann"])
@pytest.mark.parametrize("periodic", [True, False])
def test_windows(name: str, periodic: bool) -> None:
    made = getattr(ops, f"{name}_window")(5, periodic)
    oracle = {"hann": np.hanning, "kaiser": lambda n: np.kaiser(n, 12.0)}.get(name) or getattr(np, name)
    same(made, oracle(6)[:-1] if periodic else oracle(5))


# -- gather and scatter -----------------------------------------------------------------------------------------


@given(st.data())
def test_gather(data: Any) -> None:
    axis = data.draw(st.integers(-2, 1))
    index = data.draw(
        hnp.arrays(np.int64, st.sampled_from([(), (2,), (2, 3)]), elements=st.integers(0, X.shape[axis] - 1))
    )
    same(ops.gather(Tensor(X), Tensor(index), axis), np.take(X, index, axis))
    same(ops.Gather()(Tensor(X), Tensor(index), axis), np.take(X, index, axis))
    same(Tensor(X).take(Tensor(index), axis), np.take(X, index, axis))
    if index.ndim == 1:
        same(Tensor(X).index_select(axis, Tensor(index)), np.take(X, index, axis))


@given(st.integers(-2, 1), st.data())
def test_gather_elements(axis: int, data: Any) -> None:
    shape = list(X.shape)
    shape[axis] = data.draw(st.integers(1, 5))
    index = data.draw(hnp.arrays(np.int64, tuple(shape), elements=st.integers(0, X.shape[axis] - 1)))
    wanted = np.take_along_axis(X, index, axis)
    same(ops.gather_elements(Tensor(X), axis, Tensor(index)), wanted)
    same(ops.GatherD()(Tensor(X), axis, Tensor(index)), wanted)
    updates = np.zeros(index.shape, np.float32)
    put = X.copy()
    np.put_along_axis(put, index, updates, axis)
    same(ops.tensor_scatter_elements(Tensor(X), Tensor(index), Tensor(updates), axis), put)
    same(Tensor(X).scatter(axis, Tensor(index), Tensor(updates)), put)


def test_batched_gather() -> None:
    index = np.array([[1, 0], [3, 2], [0, 0]])
    same(ops.gather(Tensor(X), Tensor(index), 1, 1), np.take_along_axis(X, index, 1))


def test_coordinates() -> None:
    points = np.array([[0, 1], [2, 3], [0, 1]])
    same(ops.gather_nd(Tensor(X), Tensor(points)), X[tuple(points.T)])
    updates = np.array([1.0, 2.0, 4.0], np.float32)
    wanted = np.zeros((3, 4), np.float32)
    np.add.at(wanted, tuple(points.T), updates)
    same(ops.scatter_nd(Tensor(points), Tensor(updates), (3, 4)), wanted)
    same(ops.ScatterNd()(Tensor(points), Tensor(updates), (3, 4)), wanted)
    same(ops.tensor_scatter_add(Tensor(X), Tensor(points), Tensor(updates)), X + wanted)
    same(ops.tensor_scatter_sub(Tensor(X), Tensor(points), Tensor(updates)), X - wanted)
    with pytest.raises(ValueError, match="updates must have shape"):
        ops.tensor_scatter_add(Tensor(X), Tensor(points), Tensor(updates[:2]))
    with pytest.raises(TypeError, match="must be integers"):
        ops.gather_nd(Tensor(X), Tensor([[0.0, 1.0]]))


def test_rows() -> None:
    rows, v = np.array([2, 0]), np.ones((2, 4), np.float32)
    added = X.copy()
    added[rows] += v
    same(ops.inplace_add(Tensor(X), Tensor(v), (2, 0)), added)
    same(ops.InplaceAdd((2, 0))(Tensor(X), Tensor(v)), added)
    same(ops.index_add(Tensor(X), Tensor(rows), Tensor(v), 0), added)
    subtracted = X.copy()
    subtracted[rows] -= v
    same(ops.InplaceSub((2, 0))(Tensor(X), Tensor(v)), subtracted)
    replaced = X.copy()
    replaced[rows] = v
    same(ops.InplaceUpdate((2, 0))(Tensor(X), Tensor(v)), replaced)
    filled = X.copy()
    filled[:, [1, 3]] = 7
    same(ops.index_fill(Tensor(X), 1, Tensor([1, 3]), 7), filled)
    ids = np.array([1, 0, 1])
    same(ops.unsorted_segment_sum(Tensor(X), Tensor(ids), 2), [X[1], X[0] + X[2]])
    same(ops.UnsortedSegmentMax()(Tensor(X), Tensor(ids), 2), [X[1], np.maximum(X[0], X[2])])
    column = X.copy()
    column[:, 1] = 0
    same(ops.select_scatter(Tensor(X), Tensor(np.zeros(3, np.float32)), 1, 1), column)
    for offset in (-1, 0, 1):
        length = np.diagonal(X, offset).size
        changed = ops.diagonal_scatter(Tensor(X), Tensor(np.zeros(length, np.float32)), offset)
        same(changed, np.where(np.eye(3, 4, offset) > 0, 0, X))


# -- choosing -----------------------------------------------------------------------------------------------------


@given(hnp.arrays(np.bool_, (3, 4)))
def test_masks(mask: Any) -> None:
    t, m = Tensor(X), Tensor(mask)
    same(ops.where(m, t, 0.0), np.where(mask, X, 0))
    same(ops.select(m, t, -t), np.where(mask, X, -X))
    same(ops.Select()(m, t, -t), np.where(mask, X, -X))
    same(t.masked_fill(m, 9), np.where(mask, 9, X))
    same(ops.masked_select(t, m), X[mask])
    source = np.arange(12, dtype=np.float32)
    wanted = X.copy()
    wanted[mask] = source[: mask.sum()]
    same(ops.masked_scatter(t, m, Tensor(source)), wanted)
    np.testing.assert_array_equal(ops.nonzero(m).asnumpy(), np.argwhere(mask))
    assert ops.count_nonzero(m).item() == mask.sum()
    with pytest.raises(TypeError, match="must be bool"):
        t.masked_fill(t, 0)


def test_clipping() -> None:
    t = Tensor(X)
    same(t.clip(-0.5, 0.5), X.clip(-0.5, 0.5))
    same(t.clamp(min=0), X.clip(0))
    same(ops.clip_by_value(t, Tensor(-0.5), None), X.clip(-0.5))
    norm = np.sqrt(np.square(X).sum())
    same(ops.clip_by_norm(t, 1.0), X / norm)
    same(ops.clip_by_norm(t, 100.0), X)
    parts = ops.clip_by_global_norm((t, t), 1.0)
    same(parts[1], X / (norm * 2**0.5))


# -- order and counts -----------------------------------------------------------------------------------------------


@given(hnp.arrays(np.int64, st.integers(1, 8), elements=st.integers(0, 4)))
def test_counts(x: Any) -> None:
    t = Tensor(x)
    values, inverse = ops.unique(t)
    wanted = list(dict.fromkeys(x.tolist()))  # in the order in which they come
    assert values.asnumpy().tolist() == wanted
    np.testing.assert_array_equal(values.asnumpy()[inverse.asnumpy()], x)
    padded, again = ops.unique_with_pad(t, -1)
    np.testing.assert_array_equal(padded.asnumpy(), wanted + [-1] * (x.size - len(wanted)))
    np.testing.assert_array_equal(again.asnumpy(), inverse.asnumpy())
    np.testing.assert_array_equal(ops.bincount(t).asnumpy(), np.bincount(x))
    kept, counts = ops.unique_consecutive(t, return_counts=True)
    np.testing.assert_array_equal(np.repeat(kept.asnumpy(), counts.asnumpy()), x)
    assert not np.any(np.diff(kept.asnumpy()) == 0)
    mode, where = ops.mode(t)
    assert np.bincount(x)[mode.item()] == np.bincount(x).max()
    assert x[where.item()] == mode.item()
    edges = np.sort(x)
    for right in (False, True):
        found = ops.searchsorted(Tensor(edges), t, right=right)
        np.testing.assert_array_equal(found.asnumpy(), np.searchsorted(edges, x, "right" if right else "left"))
    np.testing.assert_array_equal(ops.cummax(t, 0)[0].asnumpy(), np.maximum.accumulate(x))
    np.testing.assert_array_equal(ops.cummin(t, 0)[0].asnumpy(), np.minimum.accumulate(x))


@pytest.mark.parametrize("largest", [True, False])
def test_topk(largest: bool) -> None:
    for axis in (0, 1, None):
        values, positions = ops.topk(Tensor(X), 2, axis, largest)
        along = 1 if axis is None else axis
        order = np.argsort(-X if largest else X, along).take([0, 1], along)
        np.testing.assert_array_equal(positions.asnumpy(), order)
        same(values, np.take_along_axis(X, order, along))
    with pytest.raises(ValueError, match="topk: k is 9"):
        ops.topk(Tensor(X), 9)


@pytest.mark.parametrize(("exclusive", "reverse"), [(False, False), (True, False), (False, True), (True, True)])
def test_running_sums(exclusive: bool, reverse: bool) -> None:
    x = X[0]
    source = x[::-1] if reverse else x
    wanted = np.cumsum(source)
    if exclusive:
        wanted = np.append(0, wanted[:-1])
    found = ops.CumSum(exclusive, reverse)(Tensor(x), 0)
    same(found, wanted[::-1] if reverse else wanted, 1e-5)


# -- statistics -------------------------------------------------------------------------------------------------------


def test_statistics() -> None:
    t = Tensor(X)
    same(t.std(ddof=1), X.std(ddof=1), 1e-5)
    same(ops.logsumexp(t, 1), np.log(np.exp(X).sum(1)), 1e-5)
    same(ops.quantile(t, 0.3, 1), np.quantile(X, 0.3, 1), 1e-5)
    same(ops.median(t, 0)[0], np.sort(X, 0)[1])
    for order in (None, 1, 2, np.inf, "fro"):
        same(ops.norm(t, order), np.linalg.norm(X, order), 1e-5)
    same(ops.norm(t, 1, 0), np.linalg.norm(X, 1, 0), 1e-5)
    holed = X.copy()
    holed[0, 0] = np.nan
    same(ops.nanmean(Tensor(holed), 0), np.nanmean(holed, 0), 1e-5)
    same(ops.nansum(Tensor(holed)), np.nansum(holed), 1e-5)
    same(ops.diff(t), np.diff(X))
    same(ops.trapz(t), np.trapezoid(X), 1e-5)
    same(ops.L2Loss()(t), np.square(X).sum() / 2, 1e-5)


# -- linear algebra ---------------------------------------------------------------------------------------------------


def test_linear_algebra() -> None:
    t = Tensor(SQUARE)
    same(ops.inverse(t), np.linalg.inv(SQUARE))
    same(ops.det(t), np.linalg.det(SQUARE))
    same(ops.slogdet(t)[1], np.linalg.slogdet(SQUARE)[1])
    definite = SQUARE @ SQUARE.swapaxes(-1, -2)
    same(ops.cholesky(Tensor(definite)), np.linalg.cholesky(definite))
    b = np.ones((2, 3, 1))
    same(ops.matrix_solve(t, Tensor(b)), np.linalg.solve(SQUARE, b))
    same(ops.solve(t[0], Tensor(b[0, :, 0])), np.linalg.solve(SQUARE[0], b[0, :, 0]))
    same(ops.svd(t, compute_uv=False), np.linalg.svd(SQUARE, compute_uv=False))
    s, u, v = ops.svd(t)
    same(u @ (s.expand_dims(-1) * v.swapaxes(-1, -2)), SQUARE)
    q, r = ops.qr(t)
    same(q @ r, SQUARE)
    same(ops.matrix_power(t, 3), np.linalg.matrix_power(SQUARE, 3))
    same(ops.pinv(Tensor(X.astype(np.float64))), np.linalg.pinv(X.astype(np.float64)))
    same(ops.trace(t[0]), np.trace(SQUARE[0]))
    same(ops.kron(t[0], t[1]), np.kron(SQUARE[0], SQUARE[1]))
    same(ops.cdist(t[0], t[1]), np.linalg.norm(SQUARE[0][:, None] - SQUARE[1][None], axis=-1))
    same(ops.einsum("bij,bjk->bik", t, t), SQUARE @ SQUARE)
    same(ops.tensor_dot(t, t, ((0, 1), (0, 1))), np.tensordot(SQUARE, SQUARE, ((0, 1), (0, 1))))
    same(ops.dot(t[0], t[1]), np.dot(SQUARE[0], SQUARE[1]))
    same(ops.inner(t[0], t[1]), np.inner(SQUARE[0], SQUARE[1]))
    same(ops.outer(t[0, 0], t[0, 1]), np.outer(SQUARE[0, 0], SQUARE[0, 1]))
    same(ops.cross(t[0], t[1], dim=1), np.cross(SQUARE[0], SQUARE[1]))
    same(ops.addmm(t[0], t[0], t[1], beta=2, alpha=3), 2 * SQUARE[0] + 3 * SQUARE[0] @ SQUARE[1])
    same(ops.batch_dot(t, t, (1, 2)), np.einsum("bij,bki->bjk", SQUARE, SQUARE))
    with pytest.raises(ValueError, match="square"):
        ops.inverse(Tensor(X))


# -- methods ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "oracle"),
    [
        (lambda t: t.flatten(), lambda x: x.ravel()),
        (lambda t: t.flatten("F"), lambda x: x.ravel("F")),
        (lambda t: t.view(4, 3), lambda x: x.reshape(4, 3)),
        (lambda t: t.view_as(t.T), lambda x: x.reshape(4, 3)),
        (lambda t: t.permute(1, 0), lambda x: x.T),
        (lambda t: t.transpose(), lambda x: x.T),
        (lambda t: t.unsqueeze(0).squeeze(0), lambda x: x),
        (lambda t: t.expand_dims(1).broadcast_to((3, 2, 4)), lambda x: np.broadcast_to(x[:, None], (3, 2, 4))),
        (lambda t: t[:, :1].expand(-1, 4), lambda x: np.broadcast_to(x[:, :1], (3, 4))),
        (lambda t: t[:, :1].expand_as(t), lambda x: np.broadcast_to(x[:, :1], (3, 4))),
        (lambda t: t.tile((2, 1)), lambda x: np.tile(x, (2, 1))),
        (lambda t: t.repeat(2), lambda x: x.repeat(2)),
        (lambda t: t.repeat([1, 2, 0], 0), lambda x: x.repeat([1, 2, 0], 0)),
        (lambda t: t.split(2, 1)[1], lambda x: x[:, 2:]),
        (lambda t: t.chunk(2, 0)[1], lambda x: x[2:]),
        (lambda t: t.abs().sqrt().exp(), lambda x: np.exp(np.sqrt(np.abs(x)))),
        (lambda t: t.pow(2).sum(axis=1, keepdims=True), lambda x: np.square(x).sum(1, keepdims=True)),
        (lambda t: t.sum(dim=0), lambda x: x.sum(0)),
        (lambda t: t.max(axis=0), lambda x: x.max(0)),
        (lambda t: t.min(), lambda x: x.min()),
        (lambda t: t.max(axis=1, return_indices=True)[1], lambda x: x.argmax(1)),
        (lambda t: t.matmul(t.T), lambda x: x @ x.T),
        (lambda t: t.mm(t.T), lambda x: x @ x.T),
        (lambda t: t.isnan(), np.isnan),
        (lambda t: t.where(t > 0, -t), np.abs),
        (lambda t: t.select(0, 1), lambda x: x[1]),
        (lambda t: t.argsort(-1), lambda x: x.argsort(-1)),
        (lambda t: t.sort(0)[0], lambda x: np.sort(x, 0)),
        (lambda t: t.cumsum(), np.cumsum),
        (lambda t: t.ptp(0), lambda x: np.ptp(x, 0)),
        (lambda t: t.swapaxes(0, 1), lambda x: x.T),
        (lambda t: t.norm(), np.linalg.norm),
        (lambda t: t.diagonal(), np.diagonal),
        (lambda t: t.tril(), np.tril),
        (lambda t: t.resize(2, 7), lambda x: np.append(x.ravel(), [0, 0]).reshape(2, 7)),
        (lambda t: t.unfold(1, 2, 1), lambda x: np.lib.stride_tricks.sliding_window_view(x, 2, 1)),
        (lambda t: t.fill(2), lambda x: np.full_like(x, 2)),
        (lambda t: t.copy(), lambda x: x),
        (lambda t: t.value(), lambda x: x),
        (lambda t: t.round(decimals=1), lambda x: x.round(1)),
        (lambda t: t.gather_elements(1, t.argsort(1)), lambda x: np.sort(x, 1)),
        (lambda t: t.reshape((2, -1)).mean(0), lambda x: x.reshape(2, -1).mean(0)),
    ],
)
def test_methods(call: Any, oracle: Any) -> None:
    same(call(Tensor(X)), oracle(X), 1e-5)


def test_method_facts() -> None:
    t = Tensor(X)
    assert (t.numel(), t.dim(), t.nelement()) == (12, 2, 12)
    assert t.is_contiguous()
    assert t.contiguous() is t
    assert t.is_floating_point()
    assert not t.is_complex()
    assert t.is_signed()
    assert hash(t) == hash(t)
    copy = t.copy()
    changed = copy.itemset((0, 0), 5.0)
    assert changed[0, 0].item() == 5.0
    assert copy[0, 0].item() == X[0, 0]
    assert copy.itemset(11, 6.0)[2, 3].item() == 6.0
    assert t.all().item() == bool(X.all())


def test_covariance() -> None:
    x, counts, weights = X.astype(np.float64), np.array([1, 2, 1, 3]), np.array([0.5, 1.0, 2.0, 1.0])
    same(ops.cov(Tensor(x)), np.cov(x))
    same(ops.cov(Tensor(x[0]), correction=0), np.cov(x[0], ddof=0))
    found = ops.cov(Tensor(x), fweights=Tensor(counts), aweights=Tensor(weights))
    same(found, np.cov(x, fweights=counts, aweights=weights))
