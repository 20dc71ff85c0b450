"""Functions of sparse tensors: elementwise ones, products, sums, softmax, joining, their parts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from weft import dtypes
from weft.core import Tensor, shows, told, transparent
from weft.errors import NoTensor
from weft.ops import activation, compare, elementwise, trigonometry
from weft.ops import math as functions
from weft.ops._rules import one_axis
from weft.ops.gather import gather_nd
from weft.ops.joining import concat, stack
from weft.ops.sorting import argsort
from weft.ops.sparse import COOTensor, CSRTensor, RowTensor, ends_of_rows, rows_of, softmax_of

_MODULES: Final = (activation, compare, elementwise, trigonometry, functions)
#: functions of the elements that there are; zeros stay, whatever the function makes of 0
_UNARY: Final = (
    "abs acos acosh asin asinh atan atanh ceil cos cosh exp expm1 floor inv=reciprocal isfinite isinf isnan log log1p "
    "neg relu relu6 round sigmoid sin sinh softsign sqrt square tan tanh"
)


def _a(kind: type, name: str, value: Any) -> Any:
    """A sparse tensor of a kind.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(value, kind):
        raise NoTensor(f"{name}: a {kind.__name__} is expected, not {type(value).__name__}")
    return value


def _unary(kind: type, name: str, operation: Callable[[Tensor], Tensor]) -> Callable[..., Any]:
    """The function of a sparse tensor that applies an operation to its elements."""

    def function(x: Any) -> Any:
        return _a(kind, name, x).of_values(operation)

    return told(function, name, _UNARY_DOC.format(operation=operation, kind=kind, name=name, prefix=name[:3]))


_UNARY_DOC: Final = """`ops.{operation.__name__}` of the elements that a {kind.__name__} has.

Args:
    x: the sparse tensor.

Returns:
    {kind.__name__}: with the same places.

Raises:
    TypeError: `x` is no {kind.__name__}.

Example:
    >>> {name}(Tensor([[0.5, 0.0], [0.0, 1.0]]).to_{prefix}()).shape
    (2, 2)
"""
_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {}
for _entry in _UNARY.split():
    _name, _, _original = _entry.partition("=")
    _operation = next(getattr(each, _original or _name) for each in _MODULES if hasattr(each, _original or _name))
    for _prefix, _kind in (("coo", COOTensor), ("csr", CSRTensor)):
        _FUNCTIONS[f"{_prefix}_{_name}"] = _unary(_kind, f"{_prefix}_{_name}", _operation)
globals().update(_FUNCTIONS)

__all__ = [
    "coo2csr", "coo_add", "coo_concat", "coo_tensor_get_dense_shape", "coo_tensor_get_indices",
    "coo_tensor_get_values", "csr2coo", "csr_add", "csr_div", "csr_gather", "csr_mm", "csr_mul", "csr_mv",
    "csr_reduce_sum", "csr_softmax", "csr_tensor_get_dense_shape", "csr_tensor_get_indices",
    "csr_tensor_get_indptr", "csr_tensor_get_values", "csr_to_coo", "csr_to_dense", "make_coo_tensor",
    "make_csr_tensor", "make_row_tensor", "make_sparse_tensor", "row_tensor_get_dense_shape",
    "row_tensor_get_indices", "row_tensor_get_values",
]  # fmt: skip
__all__.extend(_FUNCTIONS)

# -- conversions ------------------------------------------------------------------------------------------------


@shows("csr_to_coo(Tensor([[0.0, 5.0, 0.0], [0.0, 0.0, 6.0]]).to_csr()).indices", "[[0 1]\n [1 2]]")
def csr_to_coo(tensor: CSRTensor) -> COOTensor:
    """A matrix by rows as one by places.

    Raises:
        TypeError: it is no CSRTensor.
    """
    return _a(CSRTensor, "csr_to_coo", tensor).to_coo()


@shows("csr_to_dense(Tensor([[0.0, 5.0, 0.0]]).to_csr())", "[[0. 5. 0.]]")
def csr_to_dense(csr_tensor: CSRTensor) -> Tensor:
    """A matrix by rows with its zeros.

    Raises:
        TypeError: it is no CSRTensor.
    """
    return _a(CSRTensor, "csr_to_dense", csr_tensor).to_dense()


@shows("coo2csr(Tensor([0, 2, 2]), 3)", "[0 1 1 3]")
def coo2csr(row_indices: Tensor, height: int) -> Tensor:
    """Where the elements of each row begin, of the row of each element, which ascends.

    Args:
        row_indices: the rows.
        height: how many rows there are.

    Returns:
        Tensor: (height + 1,).
    """
    return ends_of_rows(row_indices, height)


@shows("csr2coo(Tensor([0, 1, 1, 3]), 3)", "[0 2 2]")
def csr2coo(indptr: Tensor, nnz: int) -> Tensor:
    """The row of each element, of where the elements of each row begin.

    Args:
        indptr: where they begin.
        nnz: how many elements there are.

    Returns:
        Tensor: (nnz,).
    """
    return rows_of(indptr, nnz)


# -- products and sums ------------------------------------------------------------------------------------------


@shows("csr_mv(Tensor([[0.0, 1.0], [2.0, 0.0]]).to_csr(), Tensor([[1.0], [3.0]]))", "[[3.]\n [2.]]")
def csr_mv(csr_tensor: CSRTensor, dense: Tensor) -> Tensor:
    """The product of a matrix and a column, see `CSRTensor.mv`."""
    return _a(CSRTensor, "csr_mv", csr_tensor).mv(dense)


@shows("csr_mm(Tensor([[0.0, 1.0], [2.0, 0.0]]).to_csr(), Tensor([[1.0], [3.0]]))", "[[3.]\n [2.]]")
def csr_mm(
    a: CSRTensor, b: Any, trans_a: bool = False, trans_b: bool = False, adjoint_a: bool = False, adjoint_b: bool = False
) -> Any:
    """The product of a matrix by rows and another matrix.

    Args:
        a: the first matrix.
        b: the second one: a CSRTensor or a tensor.
        trans_a: transpose the first one.
        trans_b: transpose the second one.
        adjoint_a: transpose and conjugate the first one.
        adjoint_b: transpose and conjugate the second one.

    Returns:
        CSRTensor: if both are; else a tensor.
    """
    first = _turned(_a(CSRTensor, "csr_mm", a), trans_a, adjoint_a)
    return first.mm(_turned(b, trans_b, adjoint_b))


def _turned(matrix: Any, transposed: bool, adjoint: bool) -> Any:
    if adjoint:
        matrix = matrix.of_values(elementwise.conj) if isinstance(matrix, CSRTensor) else elementwise.conj(matrix)
    if not (transposed or adjoint):
        return matrix
    return matrix.transposed() if isinstance(matrix, CSRTensor) else matrix.T


@shows("csr_mul(Tensor([[0.0, 5.0]]).to_csr(), Tensor([[2.0, 3.0]])).values", "[15.]")
def csr_mul(x: CSRTensor, y: Any) -> CSRTensor:
    """The elements of a matrix times those of a tensor at their places.

    Args:
        x: the matrix.
        y: the tensor, which is broadcast to the shape of the matrix.
    """
    return _a(CSRTensor, "csr_mul", x) * y


@shows("csr_div(Tensor([[0.0, 6.0]]).to_csr(), Tensor([[2.0, 3.0]]))", "[2.]")
def csr_div(x: CSRTensor, y: Any) -> Tensor:
    """The elements of a matrix divided by those of a tensor at their places, as a tensor of the elements.

    Args:
        x: the matrix.
        y: the tensor, which is broadcast to the shape of the matrix.
    """
    return (_a(CSRTensor, "csr_div", x) / y).values


@shows("csr_add(Tensor([[0.0, 5.0]]).to_csr(), Tensor([[1.0, 5.0]]).to_csr(), 2, 1).values", "[ 1. 15.]")
def csr_add(a: CSRTensor, b: CSRTensor, alpha: Any, beta: Any) -> CSRTensor:
    """A matrix times a number and another one times a number, see `CSRTensor.add`."""
    return _a(CSRTensor, "csr_add", a).add(_a(CSRTensor, "csr_add", b), alpha, beta)


@shows("csr_reduce_sum(Tensor([[5.0, 6.0]]).to_csr(), 1)", "[[11.]]")
def csr_reduce_sum(csr_tensor: CSRTensor, axis: int) -> Tensor:
    """The sums of rows or columns, see `CSRTensor.sum`."""
    return _a(CSRTensor, "csr_reduce_sum", csr_tensor).sum(axis)


@shows('csr_softmax(Tensor([[1.0, 0.0, 1.0]]).to_csr(), "float32").values', "[0.5 0.5]")
def csr_softmax(logits: CSRTensor, dtype: Any) -> CSRTensor:
    """The softmax of each row, over the elements that there are.

    Args:
        logits: the matrix.
        dtype: element type of the result.

    Raises:
        TypeError: `logits` is no CSRTensor.
    """
    matrix = _a(CSRTensor, "csr_softmax", logits)
    rows = rows_of(matrix.indptr, matrix.indices.shape[0])
    values = softmax_of(matrix.values.astype(dtypes.of(dtype)), rows, matrix.shape[0])
    return CSRTensor(matrix.indptr, matrix.indices, values, matrix.shape)


@shows("csr_gather(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([[1.0, 2.0], [3.0, 4.0]]), (2, 2))", "[2. 3.]")
def csr_gather(indptr: Tensor, indices: Tensor, dense: Tensor, sparse_shape: tuple[int, ...]) -> Tensor:
    """The elements of a tensor at the places of a matrix by rows.

    Args:
        indptr: where the elements of each row begin.
        indices: their columns.
        dense: the tensor; dimensions past the second stay.
        sparse_shape: the shape of the matrix.

    Returns:
        Tensor: one element for each column.
    """
    dense = dense.broadcast_to((*sparse_shape[:2], *dense.shape[2:]))
    return gather_nd(dense, stack((rows_of(indptr.astype(indices.dtype), indices.shape[0]), indices), -1))


@shows("coo_add(Tensor([[0, 5]]).to_coo(), Tensor([[1, 5]]).to_coo(), Tensor(2)).values", "[10]")
def coo_add(x1: COOTensor, x2: COOTensor, thresh: Any) -> COOTensor:
    """The sum of two matrices by places, see `COOTensor.add`.

    Raises:
        TypeError: one is no COOTensor.
    """
    return _a(COOTensor, "coo_add", x1).add(_a(COOTensor, "coo_add", x2), thresh)


@shows("coo_concat([Tensor([[0, 5]]).to_coo(), Tensor([[6, 0]]).to_coo()]).to_dense()", "[[0 5]\n [6 0]]")
def coo_concat(sp_input: Any, concat_dim: int = 0) -> COOTensor:
    """Matrices by places, joined along an axis.

    Args:
        sp_input: the matrices.
        concat_dim: the axis.

    Raises:
        TypeError: one is no COOTensor.
        ValueError: there is one only, there is no such axis, or the other sizes differ.
    """
    matrices = [_a(COOTensor, "coo_concat", each) for each in sp_input]
    if len(matrices) < 2:
        raise ValueError("coo_concat: two matrices are expected at least")
    axis = one_axis("coo_concat", concat_dim, 2)
    places, total = [], 0
    for each in matrices:
        if each.shape[1 - axis] != matrices[0].shape[1 - axis]:
            raise ValueError(f"coo_concat: matrices of shapes {matrices[0].shape} and {each.shape} do not fit")
        row, column = each.indices[:, 0], each.indices[:, 1]
        places.append(stack((row + total, column) if axis == 0 else (row, column + total), -1))
        total += each.shape[axis]
    shape = (total, matrices[0].shape[1]) if axis == 0 else (matrices[0].shape[0], total)
    indices, values = concat(places, 0), concat([each.values for each in matrices], 0)
    order = argsort(indices[:, 0].astype(dtypes.int64) * shape[1] + indices[:, 1])
    return COOTensor(indices[order], values[order], shape)


# -- parts ------------------------------------------------------------------------------------------------------


@shows("make_coo_tensor(Tensor([[0, 1]]), Tensor([5.0]), (1, 2)).shape", "(1, 2)")
def make_coo_tensor(indices: Tensor, values: Tensor, dense_shape: tuple[int, ...]) -> COOTensor:
    """A matrix by places, see `COOTensor`."""
    return COOTensor(indices, values, dense_shape)


@shows("make_sparse_tensor(Tensor([[0, 1]]), Tensor([5.0]), (1, 2)).shape", "(1, 2)")
def make_sparse_tensor(indices: Tensor, values: Tensor, dense_shape: tuple[int, ...]) -> COOTensor:
    """A matrix by places, see `COOTensor`."""
    return COOTensor(indices, values, dense_shape)


@shows("make_csr_tensor(Tensor([0, 1]), Tensor([1]), Tensor([5.0]), (1, 2)).shape", "(1, 2)")
def make_csr_tensor(indptr: Tensor, indices: Tensor, values: Tensor, dense_shape: tuple[int, ...]) -> CSRTensor:
    """A matrix by rows, see `CSRTensor`."""
    return CSRTensor(indptr, indices, values, dense_shape)


@shows("make_row_tensor(Tensor([0]), Tensor([[5.0, 6.0]]), (2, 2)).dense_shape", "(2, 2)")
def make_row_tensor(indices: Tensor, values: Tensor, dense_shape: tuple[int, ...]) -> RowTensor:
    """Some rows of a tensor, see `RowTensor`."""
    return RowTensor(indices, values, dense_shape)


def _part(kind: type, named: str, part: str, sentence: str, printed: str, attribute: str = "") -> Callable[[Any], Any]:
    """The function that gives a part of a sparse tensor of a kind, under the name that the parameter has."""
    name = f"{named}_get_{part}"

    def get(sparse: Any) -> Any:
        return getattr(_a(kind, name, sparse), attribute or part)

    get.__code__ = get.__code__.replace(co_varnames=(named,))
    get.__annotations__ = {named: kind.__name__, "return": "Any"}
    return told(get, name, f"{sentence}\n\nExample:\n    >>> print({name}({_SPARSE[named]}))\n    {printed}")


#: what the examples are given
_SPARSE: Final = {
    "coo_tensor": "Tensor([[0, 5]]).to_coo()",
    "csr_tensor": "Tensor([[0.0, 5.0]]).to_csr()",
    "row_tensor": "RowTensor(Tensor([1]), Tensor([[5, 6]]), (2, 2))",
}
_coo, _csr, _row = (
    partial(_part, kind, named) for kind, named in zip((COOTensor, CSRTensor, RowTensor), _SPARSE, strict=True)
)
coo_tensor_get_indices = _coo("indices", "The places of the elements.", "[[0 1]]")
coo_tensor_get_values = _coo("values", "The elements.", "[5]")
coo_tensor_get_dense_shape = _coo("dense_shape", "The shape of a matrix by places.", "(1, 2)", "shape")
csr_tensor_get_indptr = _csr("indptr", "Where the elements of each row begin.", "[0 1]")
csr_tensor_get_indices = _csr("indices", "The columns of the elements.", "[1]")
csr_tensor_get_values = _csr("values", "The elements.", "[5.]")
csr_tensor_get_dense_shape = _csr("dense_shape", "The shape of a matrix by rows.", "(1, 2)", "shape")
row_tensor_get_indices = _row("indices", "Which rows there are.", "[1]")
row_tensor_get_values = _row("values", "The rows.", "[[5 6]]")
row_tensor_get_dense_shape = _row("dense_shape", "The shape of the whole tensor.", "(2, 2)")


# every function reads attributes of what it is given: captures enter it
for _name in __all__:
    transparent(globals()[_name])
transparent(_turned)
transparent(_a)
