"""Names that operations also have: those of kernels, of earlier releases, and functions of what is a method."""

from __future__ import annotations

from typing import Any

import numpy as np

import weft.ops.matmul as matmul
import weft.ops.padding as padding
import weft.ops.shape as shapes
from weft import dtypes
from weft.core import Tensor, as_operator, described, operator_class, shows

# modules of whose names `weft.ops` has a function
from weft.ops import activation, compare, create, cumulative, joining, math, pool, random
from weft.ops import loss as losses
from weft.ops._checks import ints, no_generator, one_of, tensors
from weft.ops.binary import float_power
from weft.ops.state import dyn_shape

__all__ = [
    "adaptive_avg_pool2d_ext", "baddbmm_ext", "bernoulli_ext", "diagflat", "dict_setitem", "diff_ext", "einsum_ext",
    "eps", "float_power_ext", "floordiv", "floormod", "hastype", "isconstant", "isnan_ext", "list_equal", "move_to",
    "mse_loss_ext", "reshape_", "row_stack", "scalar_max", "scalar_min", "soft_shrink", "tensor_muls", "tensor_range",
    "tuple_div", "type_as", "upsample", "view_as",
]  # fmt: skip

adaptive_avg_pool2d_ext = pool.adaptive_avg_pool2d
baddbmm_ext = matmul.baddbmm
diff_ext = cumulative.diff
einsum_ext = matmul.einsum
float_power_ext = float_power
floordiv = math.floor_div
floormod = math.floor_mod
isnan_ext = compare.isnan
mse_loss_ext = losses.mse_loss
reshape_ = shapes.reshape
row_stack = joining.vstack
soft_shrink = activation.softshrink
tensor_muls = math.mul
tensor_range = create.range
upsample = padding.interpolate
scalar_max = max
scalar_min = min


_of_tensors = described(raises="TypeError: an argument is no tensor.", input="tensor.", other="tensor.")


@shows("bernoulli_ext(Tensor([0.0, 1.0]))", "[0. 1.]")
@_of_tensors
def bernoulli_ext(input: Any, *, generator: Any = None) -> Any:
    """Ones with probabilities, zeros otherwise.

    Args:
        input: the probabilities, a tensor of floats.
        generator: None: random numbers follow `set_seed`.

    Returns:
        Tensor: like `input`.
    """
    no_generator("bernoulli_ext", generator)
    tensors("bernoulli_ext", input=input)
    return random.bernoulli(input, input)


@shows("diagflat(Tensor([1, 2]))", "[[1 0]\n [0 2]]")
def diagflat(input: Any, offset: int = 0) -> Any:
    """The matrix on a diagonal of which the elements of a tensor stand.

    Args:
        input: tensor.
        offset: the diagonal: those above the main one are positive.

    Returns:
        Tensor: a square matrix.

    Raises:
        TypeError: `input` is no tensor, or `offset` no int.
    """
    tensors("diagflat", input=input)
    ints("diagflat", offset=offset)
    return shapes.diag_embed(input.ravel(), offset)


@shows('dict_setitem({"a": 1}, "b", 2)', "{'a': 1, 'b': 2}")
def dict_setitem(data: Any, key: Any, value: Any) -> dict[Any, Any]:
    """A dict with one item replaced."""
    return {**data, key: value}


@shows("eps(Tensor([5.0]))", "[1.1920929e-07]")
def eps(x: Any) -> Any:
    """The distance from 1 to the next number of an element type, in the shape of a tensor.

    Args:
        x: tensor of floats.

    Returns:
        Tensor: like `x`.

    Raises:
        TypeError: `x` is no tensor of floats.
    """
    tensors("eps", x=x)
    if x.dtype not in (dtypes.float16, dtypes.float32, dtypes.float64):
        raise TypeError(f"eps: the input must be a tensor of floats, not of {x.dtype}")
    return create.full(x.shape, float(np.finfo(x.dtype.np_dtype).eps), dtype=x.dtype)


def hastype(x: Any, t: Any) -> bool:
    """Whether a value is of a type: an element type stands for Python's numbers, `tensor_type` for tensors.

    Example:
        >>> import weft
        >>> hastype(3, weft.int64), hastype(Tensor([3]), weft.int64)
        (True, False)
    """
    if isinstance(x, Tensor):
        return t is dtypes.tensor_type
    if isinstance(x, (tuple, list)):
        return t is (dtypes.tuple_ if isinstance(x, tuple) else dtypes.list_)
    if not isinstance(x, (bool, int, float)):
        return False
    own = dtypes.bool_ if isinstance(x, bool) else dtypes.int64 if isinstance(x, int) else dtypes.float32
    return t is own or t is dtypes.number


@shows("isconstant(3)", "True")
def isconstant(x: Any) -> bool:
    """Whether a value is known before the graph runs; a tensor that the graph computes is not."""
    return not (isinstance(x, Tensor) and x.is_symbolic)


@shows("list_equal([1], [1])", "True")
def list_equal(x: Any, y: Any) -> bool:
    """Whether two lists are equal."""
    return bool(x == y)


@shows("move_to(Tensor([1, 2]))", "[1 2]")
def move_to(input: Any, to: str = "CPU", blocking: bool = True) -> Any:
    """A copy of a tensor, which is on the one device that there is.

    Args:
        input: tensor, or a list or tuple of numbers.
        to: kind of device.
        blocking: accepted.

    Returns:
        Tensor: of the same elements.

    Raises:
        ValueError: `to` names no kind of device, or `blocking` is no bool.
    """
    one_of("move_to", ("Ascend", "GPU", "CPU"), to=to)
    if not isinstance(blocking, bool):
        raise ValueError(f"move_to: blocking must be a bool, not {blocking!r}")
    return input.copy() if isinstance(input, Tensor) else Tensor(input)


@shows("tuple_div((6, 4), (2, 2))", "(3, 2)")
def tuple_div(x: Any, y: Any) -> tuple[Any, ...]:
    """The quotients of the numbers of two tuples, rounded down."""
    return tuple(a // b for a, b in zip(x, y, strict=True))


@shows("type_as(Tensor([1.5]), Tensor([1]))", "[1]")
@_of_tensors
def type_as(input: Any, other: Any) -> Any:
    """A tensor in the element type of another one.

    Returns:
        Tensor: with the elements of `input`.
    """
    tensors("type_as", input=input, other=other)
    return input.astype(other.dtype)


@shows("view_as(Tensor([1, 2]), Tensor([[3], [4]]))", "[[1]\n [2]]")
@_of_tensors
def view_as(input: Any, other: Any) -> Any:
    """The elements of a tensor in the shape of another one.

    Args:
        other: tensor with as many elements.

    Returns:
        Tensor: a view of `input`.

    Raises:
        TypeError: an argument is no tensor.
        ValueError: they have not as many elements.
    """
    tensors("view_as", input=input, other=other)
    return input.view(other.shape)


@shows("format_cast(Tensor([1, 2]), 29)", "[1 2]")
def format_cast(input: Any, acl_format: int) -> Any:
    """A tensor in another layout of its elements in memory: XLA chooses layouts, so it is the tensor itself.

    Args:
        input: tensor.
        acl_format: number of the layout.

    Returns:
        Tensor: `input`.

    Raises:
        TypeError: an argument is of another type.
    """
    ints("format_cast", acl_format=acl_format)
    tensors("format_cast", input=input)
    return input


@as_operator
def DynamicShape(x: Any, *, dtype: Any = 9) -> Any:
    """Dimensions of a tensor as an int64 tensor, see `dyn_shape`."""
    del dtype
    tensors("DynamicShape", x=x)
    return dyn_shape(x)


operator_class("MoveTo", move_to)
