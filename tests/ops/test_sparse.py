"""Sparse tensors: what they are in MindSpore 2.10, against dense matrices, eagerly and compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from weft import Tensor, dtypes
from weft.ops import COOTensor, CSRTensor, RowTensor, dense_to_sparse_coo, dense_to_sparse_csr

DENSE = np.array([[0, 1, 0, 0], [0, 0, 2, -3], [0, 0, 0, 0]], np.float32)
FACTOR = np.arange(12, dtype=np.float32).reshape(3, 4) + 1


def coo(dense: Any = DENSE) -> Any:
    return dense_to_sparse_coo(Tensor(dense))


def csr(dense: Any = DENSE) -> Any:
    return dense_to_sparse_csr(Tensor(dense))


def test_parts() -> None:
    matrix = coo()
    assert matrix.indices.asnumpy().tolist() == [[0, 1], [1, 2], [1, 3]]
    assert (matrix.indices.dtype, matrix.dtype) == (dtypes.int32, dtypes.float32)
    assert (matrix.shape, matrix.ndim, matrix.size, matrix.itemsize) == ((3, 4), 2, 3, 4)
    assert matrix.to_tuple()[2] == (3, 4)
    rows = csr()
    assert rows.indptr.asnumpy().tolist() == [0, 1, 3, 3]
    assert rows.indices.asnumpy().tolist() == [1, 2, 3]
    assert rows.to_coo().indices.asnumpy().tolist() == [[0, 1], [1, 2], [1, 3]]
    assert matrix.to_csr().indptr.asnumpy().tolist() == [0, 1, 3, 3]
    row = RowTensor(Tensor([0, 2]), Tensor([[1.0, 2.0], [3.0, 4.0]]), (3, 2))
    assert row.dense_shape == (3, 2)
    assert row.to_dense().asnumpy().tolist() == [[1, 2], [0, 0], [3, 4]]
    assert "COOTensor(shape=[3, 4], dtype=Float32" in repr(matrix)


@pytest.mark.parametrize("compiled", [False, True])
def test_functions_of_matrices(compiled: bool) -> None:
    column = Tensor(FACTOR[0][:, None])
    calls = {
        "dense": (lambda m: m.to_dense(), lambda d: d),
        "mv": (lambda m: m.mv(column), lambda d: d @ FACTOR[0][:, None]),
        "mm": (lambda m: m.mm(Tensor(FACTOR.T)), lambda d: d @ FACTOR.T),
        "sum": (lambda m: m.sum(1), lambda d: d.sum(1, keepdims=True)),
        "abs": (lambda m: m.abs().to_dense(), np.abs),
        "mul": (lambda m: (m * Tensor(FACTOR) * 2.0).to_dense(), lambda d: d * FACTOR * 2),
        "div": (lambda m: (m / Tensor(2.0)).to_dense(), lambda d: d / 2),
        "coo": (lambda m: m.to_coo().to_dense(), lambda d: d),
    }
    for function, expected in calls.values():
        call = weft.jit(function) if compiled else function
        for dense in (DENSE, DENSE * 2, DENSE + 1):
            np.testing.assert_allclose(call(csr(dense)).asnumpy(), expected(dense), rtol=1e-6)


@pytest.mark.parametrize("compiled", [False, True])
def test_sums_and_products(compiled: bool) -> None:
    calls = {
        "add": (lambda a, b: (a + b).to_dense(), lambda a, b: a + b),
        "sub": (lambda a, b: (a - b).to_dense(), lambda a, b: a - b),
        "dense": (lambda a, b: a + b.to_dense(), lambda a, b: a + b),
        "threshold": (lambda a, b: a.add(b, 4.5).to_dense(), lambda a, b: (a + b) * (abs(a + b) >= 4.5)),
    }
    for function, expected in calls.values():
        call = weft.jit(function) if compiled else function
        for other in (DENSE, DENSE * 2):
            found = call(coo(DENSE), coo(other))
            np.testing.assert_allclose(found.asnumpy(), expected(DENSE, other), rtol=1e-6)
    total = csr().add(csr(FACTOR), Tensor(2.0), Tensor(1.0))
    np.testing.assert_allclose(total.to_dense().asnumpy(), DENSE * 2 + FACTOR)


def test_a_compiled_function_sees_the_values_of_each_call() -> None:
    @weft.jit
    def doubled(matrix: Any) -> Any:
        return matrix.values * 2

    places = Tensor([[0, 1], [1, 2]])
    for values in ([1.0, 2.0], [3.0, 4.0]):
        found = doubled(COOTensor(places, Tensor(values), (2, 3)))
        assert found.asnumpy().tolist() == [2 * value for value in values]


def test_gradients() -> None:
    places = Tensor([[0, 1], [1, 2]])

    def loss(values: Any) -> Any:
        return (COOTensor(places, values, (3, 4)).to_dense() * Tensor(FACTOR)).sum()

    for call in (weft.grad(loss), weft.jit(weft.grad(loss))):
        assert call(Tensor([1.0, 2.0])).asnumpy().tolist() == [2.0, 7.0]


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: COOTensor(Tensor([0, 2]), Tensor([1.0, 2.0]), (3,)), ValueError),
        (lambda: COOTensor(Tensor([[0, 1]]), Tensor([1.0, 2.0]), (3, 4)), ValueError),
        (lambda: COOTensor(5, Tensor([1.0]), (3, 4)), TypeError),
        (lambda: COOTensor(Tensor([[0.0, 1.0]]), Tensor([1.0]), (3, 4)), TypeError),
        (lambda: COOTensor(Tensor([[0, 1]]), Tensor([1.0]), [3, 4]), TypeError),
        (lambda: CSRTensor(Tensor([0, 1]), Tensor([1, 2]), Tensor([1.0, 2.0]), (3, 4)), ValueError),
        (lambda: CSRTensor(5, Tensor([1, 2]), Tensor([1.0, 2.0]), (3, 4)), TypeError),
        (lambda: RowTensor(Tensor([0]), Tensor([[1.0], [2.0]]), (3, 1)), ValueError),
        (lambda: RowTensor(), TypeError),
        (lambda: dense_to_sparse_coo(Tensor([1.0])), ValueError),
    ],
)
def test_wrong_arguments(make: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        make()
