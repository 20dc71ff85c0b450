"""Functions and layers of sparse tensors against dense matrices: eagerly, compiled, gradients, bad calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.special

import weft
from weft import Tensor, dtypes, nn, ops
from weft.ops import COOTensor, CSRTensor, RowTensor

DENSE = np.array([[0, 0.5, 0, 0.25], [0, 0, 0.75, -0.3], [0, 0, 0, 0]], np.float32)
FACTOR = np.arange(12, dtype=np.float32).reshape(3, 4) + 1
PLACES = np.argwhere(DENSE)
VALUES = DENSE[tuple(PLACES.T)]
#: what NumPy has for each elementwise function, and how its elements are mapped into its domain
UNARY: dict[str, Any] = {
    "abs": np.abs, "acos": np.arccos, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan, "atanh": np.arctanh,
    "ceil": np.ceil, "cos": np.cos, "cosh": np.cosh, "exp": np.exp, "expm1": np.expm1, "floor": np.floor,
    "inv": np.reciprocal, "isfinite": np.isfinite, "isinf": np.isinf, "isnan": np.isnan, "log1p": np.log1p,
    "neg": np.negative, "relu": lambda x: np.maximum(x, 0), "relu6": lambda x: np.clip(x, 0, 6), "round": np.round,
    "sigmoid": scipy.special.expit, "sin": np.sin, "sinh": np.sinh, "softsign": lambda x: x / (1 + np.abs(x)),
    "square": np.square, "tan": np.tan, "tanh": np.tanh,
}  # fmt: skip
#: functions of elements that are larger than 1
LARGE: dict[str, Any] = {"acosh": np.arccosh, "log": np.log, "sqrt": np.sqrt}


def coo(values: Any = VALUES) -> COOTensor:
    return COOTensor(Tensor(PLACES), Tensor(values), DENSE.shape)


def csr(values: Any = VALUES) -> CSRTensor:
    return CSRTensor(Tensor(np.array([0, 2, 4, 4])), Tensor(PLACES[:, 1].copy()), Tensor(values), DENSE.shape)


@pytest.mark.parametrize(("prefix", "make"), [("coo", coo), ("csr", csr)])
def test_elementwise(prefix: str, make: Any) -> None:
    def all_of(small: Any, large: Any) -> Any:
        found = [getattr(ops, f"{prefix}_{name}")(small) for name in UNARY]
        return [each.values for each in found + [getattr(ops, f"{prefix}_{name}")(large) for name in LARGE]]

    for call in (all_of, weft.jit(all_of)):
        for scale in (1.0, 0.5):
            small, large = (VALUES * scale).astype(np.float32), (np.abs(VALUES) * scale + 1).astype(np.float32)
            expected = [f(small) for f in UNARY.values()] + [f(large) for f in LARGE.values()]
            for name, one, other in zip([*UNARY, *LARGE], call(make(small), make(large)), expected, strict=True):
                np.testing.assert_allclose(one.asnumpy(), other, rtol=1e-5, atol=1e-6, err_msg=name)
                assert one.asnumpy().dtype == other.dtype
    assert isinstance(getattr(ops, f"{prefix}_sin")(make()), type(make()))

    def loss(values: Any) -> Any:
        return getattr(ops, f"{prefix}_sin")(
            COOTensor(Tensor(PLACES), values, DENSE.shape) if prefix == "coo" else csr_of(values)
        ).values.sum()

    def csr_of(values: Any) -> CSRTensor:
        return CSRTensor(Tensor([0, 2, 4, 4]), Tensor(PLACES[:, 1].copy()), values, DENSE.shape)

    for gradient in (weft.grad(loss), weft.jit(weft.grad(loss))):
        np.testing.assert_allclose(gradient(Tensor(VALUES)).asnumpy(), np.cos(VALUES), rtol=1e-6)
    for bad in (csr() if prefix == "coo" else coo(), Tensor(VALUES), 1):
        with pytest.raises(TypeError):
            getattr(ops, f"{prefix}_abs")(bad)


COLUMN = FACTOR[0][:, None]
SPARSE_CALLS: dict[str, tuple[Any, Any]] = {
    "csr_mv": (lambda m: ops.csr_mv(m, Tensor(COLUMN)), lambda d: d @ COLUMN),
    "csr_mm": (lambda m: ops.csr_mm(m, Tensor(FACTOR.T)), lambda d: d @ FACTOR.T),
    "csr_mm_turned": (lambda m: ops.csr_mm(m, Tensor(FACTOR.T), trans_a=True, trans_b=True), lambda d: d.T @ FACTOR),
    "csr_mul": (lambda m: ops.csr_mul(m, Tensor(FACTOR)).to_dense(), lambda d: d * FACTOR),
    "csr_div": (lambda m: ops.csr_div(m, Tensor(FACTOR)), lambda d: (d / FACTOR)[tuple(PLACES.T)]),
    "csr_reduce_sum": (lambda m: ops.csr_reduce_sum(m, 1), lambda d: d.sum(1, keepdims=True)),
    "columns": (lambda m: m.sum(0), lambda d: d.sum(0, keepdims=True)),
    "csr_to_coo": (lambda m: ops.csr_to_coo(m).to_dense(), lambda d: d),
    "csr_to_dense": (lambda m: ops.csr_to_dense(m), lambda d: d),
    "csr_softmax": (
        lambda m: ops.csr_softmax(m, dtypes.float32).to_dense(),
        lambda d: np.where(d != 0, np.exp(d) / np.where(d != 0, np.exp(d), 0).sum(1, keepdims=True).clip(1e-9), 0),
    ),
    "csr_tensor_get_values": (lambda m: ops.csr_tensor_get_values(m), lambda d: d[tuple(PLACES.T)]),
    "plus_dense": (lambda m: m + Tensor(FACTOR), lambda d: d + FACTOR),
    "minus_dense": (lambda m: m - Tensor(FACTOR), lambda d: d - FACTOR),
}


@pytest.mark.parametrize("name", SPARSE_CALLS)
def test_matrices_by_rows(name: str) -> None:
    call, expected = SPARSE_CALLS[name]
    for function in (call, weft.jit(call)):
        for scale in (1, 2):
            found = function(csr(VALUES * scale)).asnumpy()
            np.testing.assert_allclose(found, expected(DENSE * scale), rtol=1e-5)
            assert found.dtype == np.float32


def test_gradients_of_products() -> None:
    def loss(values: Any, factor: Any) -> Any:
        matrix = CSRTensor(Tensor([0, 2, 4, 4]), Tensor(PLACES[:, 1].copy()), values, DENSE.shape)
        return (ops.csr_mm(matrix, factor) * Tensor(FACTOR[:, :3])).sum()

    total = FACTOR[:, :3] @ FACTOR
    for gradient in (weft.grad(loss, (0, 1)), weft.jit(weft.grad(loss, (0, 1)))):
        of_values, of_factor = gradient(Tensor(VALUES), Tensor(FACTOR.T))
        np.testing.assert_allclose(of_values.asnumpy(), total[tuple(PLACES.T)], rtol=1e-5)
        np.testing.assert_allclose(of_factor.asnumpy(), DENSE.T @ FACTOR[:, :3], rtol=1e-5)


def test_sums_of_matrices() -> None:
    one = Tensor(1.0)
    np.testing.assert_allclose(ops.csr_add(csr(), csr(), one, Tensor(2.0)).to_dense().asnumpy(), DENSE * 3, rtol=1e-6)
    np.testing.assert_allclose((csr() + csr()).to_dense().asnumpy(), DENSE * 2)
    np.testing.assert_allclose((csr() - csr(VALUES * 3)).to_dense().asnumpy(), DENSE * -2, rtol=1e-6)
    found = ops.coo_add(coo(), coo(), Tensor(0.55))
    np.testing.assert_allclose(
        found.to_dense().asnumpy(),
        np.where(DENSE * 2 >= 0.55, DENSE * 2, 0) + np.where(DENSE * 2 <= -0.55, DENSE * 2, 0),
    )
    product = ops.csr_mm(csr(), csr(), trans_b=True)
    assert isinstance(product, CSRTensor)
    np.testing.assert_allclose(product.to_dense().asnumpy(), DENSE @ DENSE.T, rtol=1e-6)


def test_joined() -> None:
    for axis in (0, 1, -1):
        for call in (ops.coo_concat, weft.jit(ops.coo_concat)):
            found = call([coo(), coo(VALUES * 2)], axis)
            expected = np.concatenate([DENSE, DENSE * 2], axis)
            np.testing.assert_allclose(found.to_dense().asnumpy(), expected)
            assert found.indices.asnumpy().tolist() == np.argwhere(expected).tolist()
    for bad in ([coo()], [coo(), COOTensor(Tensor([[0, 0]]), Tensor([1.0]), (2, 2))]):
        with pytest.raises(ValueError, match="coo_concat"):
            ops.coo_concat(bad)
    with pytest.raises(ValueError, match="axis"):
        ops.coo_concat([coo(), coo()], 2)


def test_pointers_and_parts() -> None:
    for run in (lambda f: f, weft.jit):
        assert run(lambda rows: ops.coo2csr(rows, 4))(Tensor([0, 2, 2])).asnumpy().tolist() == [0, 1, 1, 3, 3]
        assert run(lambda begins: ops.csr2coo(begins, 3))(Tensor([0, 1, 1, 3])).asnumpy().tolist() == [0, 2, 2]
        gathered = run(lambda d: ops.csr_gather(Tensor([0, 2, 4, 4]), Tensor([1, 3, 2, 3]), d, (3, 4)))
        np.testing.assert_allclose(gathered(Tensor(FACTOR)).asnumpy(), FACTOR[tuple(PLACES.T)])
    made = ops.make_coo_tensor(Tensor(PLACES), Tensor(VALUES), (3, 4))
    assert ops.coo_tensor_get_indices(made).asnumpy().tolist() == PLACES.tolist()
    assert ops.coo_tensor_get_values(ops.make_sparse_tensor(*made.to_tuple())).asnumpy().tolist() == VALUES.tolist()
    assert ops.coo_tensor_get_dense_shape(made) == (3, 4)
    rows = ops.make_csr_tensor(*csr().to_tuple())
    assert ops.csr_tensor_get_indptr(rows).asnumpy().tolist() == [0, 2, 4, 4]
    assert ops.csr_tensor_get_indices(rows).asnumpy().tolist() == [1, 3, 2, 3]
    assert ops.csr_tensor_get_dense_shape(rows) == (3, 4)
    row = ops.make_row_tensor(Tensor([1]), Tensor([[5.0, 6.0]]), (2, 2))
    assert isinstance(row, RowTensor)
    assert ops.row_tensor_get_indices(row).asnumpy().tolist() == [1]
    assert ops.row_tensor_get_values(row).asnumpy().tolist() == [[5, 6]]
    assert ops.row_tensor_get_dense_shape(row) == (2, 2)
    with pytest.raises(TypeError):
        ops.coo_tensor_get_values(row)


def test_tensors_become_sparse() -> None:
    places = Tensor(DENSE).to_coo()
    assert isinstance(places, COOTensor)
    assert places.indices.asnumpy().tolist() == PLACES.tolist()
    rows = Tensor(DENSE).to_csr()
    assert isinstance(rows, CSRTensor)
    assert rows.indptr.asnumpy().tolist() == [0, 2, 4, 4]
    with pytest.raises(ValueError, match=r"matrix|shape"):
        Tensor([1.0]).to_csr()


@pytest.mark.parametrize("compiled", [False, True])
def test_layers(compiled: bool) -> None:
    run: Any = weft.jit if compiled else (lambda f: f)
    np.testing.assert_allclose(run(nn.SparseToDense())(coo()).asnumpy(), DENSE)
    for first in (False, True):
        for second in (False, True):
            layer = nn.SparseTensorDenseMatmul(first, second)
            left = DENSE.T if first else DENSE
            right = np.arange(2 * left.shape[1], dtype=np.float32).reshape(left.shape[1], 2)
            given = Tensor(right.T.copy() if second else right)
            product = run(lambda v, d, layer=layer: layer(Tensor(PLACES), v, (3, 4), d))
            np.testing.assert_allclose(product(Tensor(VALUES), given).asnumpy(), left @ right, rtol=1e-6)
    gradient = run(weft.grad(lambda v: nn.SparseTensorDenseMatmul()(Tensor(PLACES), v, (3, 4), Tensor(FACTOR.T)).sum()))
    np.testing.assert_allclose(gradient(Tensor(VALUES)).asnumpy(), FACTOR.sum(0)[PLACES[:, 1]])


@pytest.mark.parametrize("make", [nn.SparseTensorDenseMatmul, ops.SparseTensorDenseMatmul])
@pytest.mark.parametrize("compiled", [False, True])
def test_only_the_dense_matrix_is_conjugated(make: Any, compiled: bool) -> None:
    run: Any = weft.jit if compiled else (lambda f: f)
    for values in (VALUES + 1j * VALUES[::-1], VALUES - 2j):
        sparse = np.zeros((3, 4), np.complex64)
        sparse[tuple(PLACES.T)] = values
        for first in (False, True):
            left = sparse.T if first else sparse
            right = (np.arange(2 * left.shape[1]).reshape(left.shape[1], 2) * (1 - 1j)).astype(np.complex64)
            for second in (False, True):
                operation = make(first, second)
                product = run(lambda v, d, op=operation: op(Tensor(PLACES), v, (3, 4), d))
                found = product(Tensor(values.astype(np.complex64)), Tensor(right.conj().T.copy() if second else right))
                np.testing.assert_allclose(found.asnumpy(), left @ right, rtol=1e-5)


BAD: tuple[Any, ...] = (
    (TypeError, lambda: ops.SparseTensorDenseMatmul()(Tensor(PLACES), Tensor(VALUES), (3, 4), Tensor(np.ones((4, 1))))),
    (TypeError, lambda: ops.SparseTensorDenseMatmul()(Tensor(VALUES), Tensor(VALUES), (3, 4), Tensor(FACTOR.T))),
    (TypeError, lambda: nn.SparseTensorDenseMatmul(1)),
    (TypeError, lambda: nn.SparseTensorDenseMatmul()(Tensor(PLACES), Tensor(VALUES), (3, 4), Tensor(np.ones((4, 1))))),
    (ValueError, lambda: nn.SparseTensorDenseMatmul()(Tensor(PLACES), Tensor(VALUES), (3, 4), Tensor(FACTOR))),
    (TypeError, lambda: nn.SparseTensorDenseMatmul()(Tensor(VALUES), Tensor(VALUES), (3, 4), Tensor(FACTOR.T))),
    (ValueError, lambda: csr().mv(Tensor(FACTOR))),
    (TypeError, lambda: csr().mm(FACTOR)),
    (ValueError, lambda: csr().sum(2)),
    (TypeError, lambda: ops.csr_mm(coo(), Tensor(FACTOR.T))),
    (TypeError, lambda: ops.csr_to_dense(coo())),
    (TypeError, lambda: ops.coo_add(coo(), csr(), 0)),
)


@pytest.mark.parametrize(("error", "call"), BAD)
def test_refused(error: type[Exception], call: Any) -> None:
    with pytest.raises(error):
        call()
