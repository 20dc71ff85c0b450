"""Products of matrices and vectors."""

from __future__ import annotations

import functools
import string
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from weft.core import Tensor, as_operator, op, operator_class, shows
from weft.core.tracebacks import hide_operation
from weft.errors import NoTensor
from weft.ops._checks import tensors
from weft.ops._rules import numbers, of_one_type, promoted, tensor
from weft.ops.math import add, mul
from weft.ops.reduce import counting, reduce_sum
from weft.ops.shape import expand_dims, ravel, reshape, squeeze

__all__ = [
    "dense", "linear",
    "addbmm", "addmm", "addmv", "addr", "baddbmm", "batch_dot", "bmm", "chain_matmul", "cross", "dot", "einsum",
    "ger", "inner", "kron", "matmul", "mm", "mv", "outer", "tensor_dot", "tensordot", "vander", "vecdot", "vdot",
]  # fmt: skip


def _product_rule(x: Any, y: Any, out: Any, dout: Any, *, transpose_a: bool, transpose_b: bool) -> Any:
    if len(x.shape) == 2 < len(y.shape):
        dx = _summed(y, dout, not transpose_b, True) if transpose_a else _summed(dout, y, True, not transpose_b)
    else:
        dx = _product(y, dout, transpose_b, True) if transpose_a else _product(dout, y, False, not transpose_b)
    if len(y.shape) == 2 < len(x.shape):
        dy = _summed(dout, x, False, transpose_a) if transpose_b else _summed(x, dout, transpose_a, False)
    else:
        dy = _product(dout, x, True, transpose_a) if transpose_b else _product(x, dout, not transpose_a, False)
    return dx, dy


def _summed(first: Any, second: Any, last_of_first: bool, last_of_second: bool) -> Any:
    """The sum of the products of all matrices of two stacks: at once, not one for each that are added up afterwards.

    Args:
        first: as many matrices as `second`.
        second: the others.
        last_of_first: whether the last of the dimensions of a matrix is summed over, or the other.
        last_of_second: the same of `second`.
    """
    stack = len(first.shape) - 2
    over = tuple(range(stack))
    return _tensor_dot(first, second, axes=((*over, stack + last_of_first), (*over, stack + last_of_second)))


@op("MatMul", classes=(), gradient=_product_rule)
def _product(input: Any, other: Any, *, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    """Matrix product over the last two dimensions."""
    of_one_type("matmul", input, other)
    a = jnp.swapaxes(input, -1, -2) if transpose_a else input
    b = jnp.swapaxes(other, -1, -2) if transpose_b else other
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(
            f"matmul: the inner sizes of {_shown(input, transpose_a)} and {_shown(other, transpose_b)} differ: "
            f"{a.shape[-1]} and {b.shape[-2]}"
        )
    try:
        jnp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise ValueError(
            f"matmul: the leading dimensions of {input.shape} and {other.shape} cannot be broadcast together"
        ) from None
    return jnp.matmul(a, b)


def _shown(array: Any, transposed: bool) -> str:
    return f"{tuple(array.shape)}{' (transposed)' if transposed else ''}"


@shows("matmul(Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]]))", "[[11.]]")
def matmul(input: Any, other: Any) -> Any:
    """Matrix product, broadcasting over leading dimensions; vectors count as a row (left) or a column (right).

    Args:
        input: tensor of at least 1 dimension.
        other: tensor of at least 1 dimension.

    Returns:
        Tensor: the product.

    Raises:
        TypeError: different element types.
        ValueError: shapes that do not fit.
    """
    for given in (input, other):
        if isinstance(given, (int, float, complex, str)):
            raise NoTensor(f"matmul takes tensors, not {type(given).__name__}")
    input, other = tensor(input), tensor(other)
    left, right = len(input.shape), len(other.shape)
    if left >= 2 and right >= 2:
        return _product(input, other)
    if not left or not right:
        raise ValueError("matmul: a 0-dimensional tensor has no matrix product; use * instead")
    if left == 1:
        input = expand_dims(input, 0)
    if right == 1:
        other = expand_dims(other, 1)
    result = _product(input, other)
    if right == 1:
        result = squeeze(result, -1)
    return squeeze(result, -1 if right == 1 else -2) if left == 1 else result


@as_operator
def MatMul(x: Any, y: Any, *, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    """Product of two matrices, either of them transposed first."""
    if len(x.shape) != 2 or len(y.shape) != 2:
        raise ValueError(
            f"MatMul: needs two matrices, not shapes {x.shape} and {y.shape}; use BatchMatMul or ops.matmul"
        )
    return _product(x, y, transpose_a, transpose_b)


@as_operator
def BatchMatMul(x: Any, y: Any, *, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    """Products of batches of matrices, either of them transposed first."""
    if len(x.shape) < 2 or len(y.shape) < 2:
        raise ValueError(f"BatchMatMul: needs at least 2 dimensions, not shapes {x.shape} and {y.shape}")
    return _product(x, y, transpose_a, transpose_b)


@shows("mm(Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]]))", "[[11.]]")
def mm(input: Any, mat2: Any) -> Any:
    """Product of two matrices."""
    tensors("mm", input=input, mat2=mat2)
    if input.ndim != 2 or mat2.ndim != 2:
        raise ValueError(f"mm: needs two matrices, not shapes {input.shape} and {mat2.shape}")
    return _product(input, mat2)


@shows("bmm(Tensor([[[1.0, 2.0]]]), Tensor([[[3.0], [4.0]]]))", "[[[11.]]]")
def bmm(input_x: Any, mat2: Any) -> Any:
    """Products of two batches of matrices."""
    if input_x.ndim < 2 or mat2.ndim != input_x.ndim:
        raise ValueError(f"bmm: needs two batches of matrices, not shapes {input_x.shape} and {mat2.shape}")
    return _product(input_x, mat2)


@shows("mv(Tensor([[1.0, 2.0]]), Tensor([3.0, 4.0]))", "[11.]")
def mv(mat: Any, vec: Any) -> Any:
    """Product of a matrix and a vector."""
    if mat.ndim != 2 or vec.ndim != 1:
        raise ValueError(f"mv: needs a matrix and a vector, not shapes {mat.shape} and {vec.shape}")
    return matmul(mat, vec)


@shows("addmm(Tensor([[1.0]]), Tensor([[2.0]]), Tensor([[3.0]]))", "[[7.]]")
def addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """``beta * input + alpha * (mat1 @ mat2)``."""
    return _sum_of(input, mm(mat1, mat2), beta, alpha)


@shows("addmv(Tensor([1.0]), Tensor([[2.0]]), Tensor([3.0]))", "[7.]")
def addmv(input: Any, mat: Any, vec: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """``beta * input + alpha * (mat @ vec)``."""
    return _sum_of(input, mv(mat, vec), beta, alpha)


@shows("addbmm(Tensor([[1.0]]), Tensor([[[2.0]]]), Tensor([[[3.0]]]))", "[[7.]]")
def addbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """``beta * input + alpha * sum(batch1 @ batch2)`` over the batch; of integers, int64."""
    return _sum_of(input, reduce_sum(counting(bmm(batch1, batch2), None), 0), beta, alpha)


@shows("baddbmm(Tensor([[[1.0]]]), Tensor([[[2.0]]]), Tensor([[[3.0]]]))", "[[[7.]]]")
def baddbmm(input: Any, batch1: Any, batch2: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    """``beta * input + alpha * (batch1 @ batch2)``."""
    return _sum_of(input, bmm(batch1, batch2), beta, alpha)


@shows("addr(Tensor([[1.0]]), Tensor([2.0]), Tensor([3.0]))", "[[7.]]")
def addr(x: Any, vec1: Any, vec2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """``beta * x + alpha * outer(vec1, vec2)``."""
    return _sum_of(x, outer(vec1, vec2), beta, alpha)


def _sum_of(input: Any, product: Any, beta: Any, alpha: Any) -> Any:
    return add(input if beta == 1 else mul(input, beta), product if alpha == 1 else mul(product, alpha))


@shows("outer(Tensor([1, 2]), Tensor([3, 4]))", "[[3 4]\n [6 8]]")
def outer(input: Any, vec2: Any) -> Any:
    """Product of every element of one vector with every element of another."""
    return mul(expand_dims(ravel(tensor(input)), 1), expand_dims(ravel(tensor(vec2)), 0))


@shows("inner(Tensor([1, 2]), Tensor([3, 4]))", "11")
def inner(input: Any, other: Any) -> Any:
    """Sum of products over the last dimension of both."""
    if input.ndim == 0 or other.ndim == 0:
        return mul(input, other)
    return tensor_dot(input, other, ((-1,), (-1,)))


@shows("dot(Tensor([1.0, 2.0]), Tensor([3.0, 4.0]))", "11.0")
def dot(input: Any, other: Any) -> Any:
    """Sum of products over the last dimension of `input` and the last but one of `other`."""
    if input.ndim == 0 or other.ndim == 0:
        return mul(input, other)
    return tensor_dot(input, other, ((input.ndim - 1,), (max(other.ndim - 2, 0),)))


vdot = dot


@op("TensorDot", classes=())
def _tensor_dot(x1: Any, x2: Any, *, axes: Any) -> Any:
    x1, x2 = promoted(x1, x2)
    return jnp.tensordot(x1, x2, axes)


@shows("tensor_dot(Tensor([1, 2]), Tensor([3, 4]), 1)", "11")
def tensor_dot(x1: Any, x2: Any, axes: Any) -> Any:
    """Sum of products over pairs of dimensions.

    Args:
        x1: tensor.
        x2: tensor.
        axes: a number `n` (the last `n` of `x1` with the first `n` of `x2`), or two lists of axes.

    Returns:
        Tensor: the remaining dimensions of `x1`, then those of `x2`.

    Raises:
        ValueError: sizes differ.
    """
    if not isinstance(axes, int):
        axes = tuple(numbers(a) for a in axes)
    return _tensor_dot(x1, x2, axes=axes)


@shows("tensordot(Tensor([1, 2]), Tensor([3, 4]), 1)", "11")
def tensordot(x1: Any, x2: Any, axes: Any = 2) -> Any:
    """Same as `tensor_dot`."""
    return tensor_dot(x1, x2, axes)


@shows("batch_dot(Tensor([[1.0, 2.0]]), Tensor([[3.0, 4.0]]))", "[[11.]]")
def batch_dot(x1: Any, x2: Any, axes: Any = None) -> Any:
    """Sum of products over one dimension of each, for each element of the batch."""
    if axes is None:
        axes = (x1.ndim - 1, x2.ndim - 1 if x2.ndim == 2 else x2.ndim - 2)
    first, second = axes if isinstance(axes, (tuple, list)) else (axes, axes)
    first, second = first % x1.ndim, second % x2.ndim
    letters = iter("abcdefghijklmnopqrstuvwxy")
    names = ["z" if i == first else next(letters) for i in range(1, x1.ndim)]
    others = ["z" if i == second else next(letters) for i in range(1, x2.ndim)]
    one, two = "".join(names), "".join(others)
    result = einsum(f"Z{one},Z{two}->Z{(one + two).replace('z', '')}", x1, x2)
    return expand_dims(result, -1) if result.ndim == 1 else result


@op("Einsum", classes=())
def _einsum(*operands: Any, equation: str) -> Any:
    return jnp.einsum(equation, *promoted(*operands))


@shows('einsum("i,i->", Tensor([1.0, 2.0]), Tensor([3.0, 4.0]))', "11.0")
def einsum(equation: Any, *operands: Any) -> Any:
    """Sum of products by index names, such as ``"ij,jk->ik"``.

    Args:
        equation: names of the dimensions of each operand, and of the result after ``->``; or the first operand, where
            each is followed by the numbers of its dimensions (0 to 51, or ``...``), the last also by the result's.
        operands: tensors, or one list of them.

    Returns:
        Tensor: the result.

    Raises:
        ValueError: the equation does not fit the operands.
    """
    if isinstance(equation, Tensor):
        equation, operands = _named_dimensions((equation, *operands))
    if not isinstance(equation, str):
        raise TypeError(f"einsum: the equation must be a str, not {type(equation).__name__}")
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    return _einsum(*operands, equation=equation)


def _named_dimensions(given: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """The equation and operands of tensors that are followed by the numbers of their dimensions."""
    *pairs, last = given if len(given) % 2 else (*given, None)
    if not all(isinstance(each, (list, tuple)) for each in (*pairs[1::2], *([] if last is None else [last]))):
        raise TypeError("einsum: each tensor must be followed by a list of the numbers of its dimensions")
    names = [_names_of(numbers) for numbers in pairs[1::2]]
    return ",".join(names) + ("" if last is None else f"->{_names_of(last)}"), tuple(pairs[::2])


def _names_of(numbers: Any) -> str:
    for number in numbers:
        if number is not Ellipsis and not (type(number) is int and 0 <= number < len(string.ascii_letters)):
            raise ValueError(f"einsum: dimensions are numbers from 0 to 51 or ..., not {number!r}")
    letters = string.ascii_uppercase + string.ascii_lowercase
    return "".join("..." if number is Ellipsis else letters[number] for number in numbers)


@as_operator
def Einsum(operands: Any, *, equation: str) -> Any:
    """Sum of products by index names."""
    return _einsum(*operands, equation=equation)


@op("Kron", classes=())
@shows("kron(Tensor([1, 10]), Tensor([1, 2]))", "[ 1  2 10 20]")
def kron(input: Any, other: Any) -> Any:
    """Kronecker product."""
    input, other = promoted(input, other)
    if input.dtype == jnp.bool_:
        return jnp.kron(input.astype(jnp.uint8), other.astype(jnp.uint8)).astype(jnp.bool_)
    return jnp.kron(input, other)


@op("Cross", init="dim=-65530")
@shows("cross(Tensor([1, 0, 0]), Tensor([0, 1, 0]))", "[0 0 1]")
def cross(input: Any, other: Any, *, dim: Any = None) -> Any:
    """Vector product along a dimension of size 3.

    Args:
        input: tensor.
        other: tensor.
        dim: the dimension; None for the first of size 3.

    Returns:
        Tensor: like the operands.

    Raises:
        ValueError: no such dimension has size 3.
    """
    if dim is None or dim == -65530:
        dim = next((i for i, size in enumerate(input.shape) if size == 3), None)
    if dim is None or input.shape[dim] != 3 or other.shape[dim] != 3:
        raise ValueError(
            f"cross: needs a dimension of size 3; the shapes are {tuple(input.shape)} and {tuple(other.shape)}"
        )
    input, other = promoted(input, other)
    return jnp.cross(input, other, axis=dim)


@shows("vecdot(Tensor([[1.0, 2.0]]), Tensor([[3.0, 4.0]]))", "[11.]")
def vecdot(x: Any, y: Any, *, axis: int = -1) -> Any:
    """Sum of products along one axis, broadcasting over the others."""
    return reduce_sum(counting(mul(x, y), None), axis)


@shows("chain_matmul(Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]]))", "[[11.]]")
def chain_matmul(*matrices: Any) -> Any:
    """Product of several matrices."""
    if len(matrices) == 1 and isinstance(matrices[0], (list, tuple)):
        matrices = tuple(matrices[0])
    return functools.reduce(matmul, matrices)


@shows("vander(Tensor([1, 2, 3]))", "[[1 1 1]\n [4 2 1]\n [9 3 1]]")
def vander(x: Any, N: int | None = None) -> Any:
    """Matrix of powers of a vector, the highest first."""
    count = x.shape[0] if N is None else N
    return reshape(x, (-1, 1)) ** Tensor(np.arange(count - 1, -1, -1))


ger = outer


def _method(function: Callable[..., Any], *taken: type) -> Any:
    """A method of tensors for ``@``, with operands of some classes."""

    def method(self: Tensor, other: Any) -> Any:
        if not isinstance(other, taken):
            return NotImplemented
        try:
            return function(self, other)
        except Exception as error:
            hide_operation(error)
            raise

    return method


Tensor.__matmul__ = _method(matmul, Tensor, np.ndarray, list, tuple)  # type: ignore[method-assign]
Tensor.__rmatmul__ = _method(  # type: ignore[method-assign]
    lambda self, other: matmul(other, self), np.ndarray, list, tuple
)

operator_class("TensorDot", tensor_dot, "axes")
operator_class("Ger", outer)


@op("Dense")
def dense(input: Any, weight: Any, bias: Any = None) -> Any:
    """Multiply the last dimension by a weight and add a bias.

    Args:
        input: (..., K).
        weight: (O, K), or (K,) for a single output without its dimension.
        bias: (O,) or None.

    Returns:
        Tensor: (..., O).

    Raises:
        TypeError: different element types.
        ValueError: the sizes do not fit.

    Example:
        >>> from weft.core.tensor import Tensor
        >>> print(dense(Tensor([[1.0, 2.0]]), Tensor([[3.0, 4.0]]), Tensor([10.0])))
        [[21.]]
    """
    if input.ndim < 1 or weight.ndim not in (1, 2) or input.shape[-1] != weight.shape[-1]:
        raise ValueError(
            f"dense: an input of shape {tuple(input.shape)} does not fit a weight of shape {tuple(weight.shape)}; the "
            "last dimensions must be equal"
        )
    if bias is not None and tuple(bias.shape) not in ((), tuple(weight.shape[:-1])):
        raise ValueError(f"dense: a bias of shape {tuple(bias.shape)} does not fit {weight.shape[0]} outputs")
    of_one_type("dense", input, weight)
    out = jnp.matmul(input, weight.T)
    return out if bias is None else out + bias.astype(out.dtype)


linear = dense
