"""Names of earlier API versions: the ``tensor_*`` and ``scalar_*`` functions and helpers for tuples and lists."""

from __future__ import annotations

import functools
import math as python_math
import operator
from collections.abc import Callable
from typing import Any

from weft import dtypes
from weft.core import Tensor, keeps, operator_class, shows, told, transparent
from weft.ops import compare, elementwise, joining, math
from weft.ops._rules import all_axes

__all__ = [
    "Morph", "bool_and", "bool_eq", "bool_not", "bool_or", "dict_getitem", "in_dict", "is_", "is_not",
    "isinstance_", "list_append", "list_getitem", "list_len", "list_setitem", "make_dict", "make_list",
    "make_range", "make_slice", "make_tuple", "not_in_dict", "pack", "partial", "reduced_shape", "scalar_add",
    "scalar_cast", "scalar_div", "scalar_eq", "scalar_floordiv", "scalar_ge", "scalar_gt", "scalar_le",
    "scalar_log", "scalar_lt", "scalar_mod", "scalar_mul", "scalar_ne", "scalar_pow", "scalar_sub", "scalar_uadd",
    "scalar_usub", "shape_mul", "string_concat", "string_eq", "tensor_add", "tensor_div", "tensor_eq", "tensor_exp",
    "tensor_expm1", "tensor_floordiv", "tensor_ge", "tensor_gt", "tensor_le", "tensor_lt", "tensor_mod",
    "tensor_mul", "tensor_ne", "tensor_pow", "tensor_slice", "tensor_sub", "tuple_equal", "tuple_getitem",
    "tuple_len", "tuple_reversed", "tuple_setitem", "typeof", "unpack",
]  # fmt: skip

tensor_add = math.add
tensor_sub = math.sub
tensor_mul = math.mul
tensor_floordiv = math.floor_div
tensor_mod = math.floor_mod
tensor_pow = math.pow
tensor_exp = elementwise.exp
tensor_expm1 = elementwise.expm1
tensor_eq = compare.equal
tensor_ne = compare.not_equal
tensor_lt = compare.less
tensor_le = compare.less_equal
tensor_gt = compare.greater
tensor_ge = compare.greater_equal
tensor_slice = joining.slice
pack = joining.stack
unpack = joining.unstack

scalar_log = python_math.log
bool_eq = string_eq = tuple_equal = operator.eq
string_concat = operator.add
is_ = operator.is_
is_not = operator.is_not
tuple_len = list_len = len
tuple_getitem = list_getitem = dict_getitem = operator.getitem
isinstance_ = isinstance
make_slice = slice
partial = functools.partial


@shows("tensor_div(Tensor([1.0, 3.0]), 2)", "[0.5 1.5]")
def tensor_div(x: Any, y: Any) -> Any:
    """One tensor divided by another; of integers the quotients are integers."""
    return math.typed_div(x, y)


@keeps
class Morph:
    """An operator made of a function of operations.

    Args:
        fn: the function.
        infer_shape: accepted; shapes follow from the function.
        infer_dtype: accepted; types follow from the function.

    Example:
        >>> print(Morph(lambda x: x + 1, None, None)(Tensor([1])))
        [2]
    """

    #: what an instance is made of: programs make one anew for each call
    __weft_parts__ = ("fn", "infer_shape", "infer_dtype")

    def __init__(self, fn: Any, infer_shape: Any = None, infer_dtype: Any = None) -> None:
        self.fn = fn
        self.infer_shape = infer_shape
        self.infer_dtype = infer_dtype

    @transparent
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.fn(*args, **kwargs)


@shows("make_tuple(1, 2)", "(1, 2)")
def make_tuple(*items: Any) -> tuple[Any, ...]:
    """A tuple of the arguments."""
    return items


@shows("make_list(1, 2)", "[1, 2]")
def make_list(*items: Any) -> list[Any]:
    """A list of the arguments."""
    return list(items)


@shows('make_dict(("a",), (1,))', "{'a': 1}")
def make_dict(keys: Any, values: Any) -> dict[Any, Any]:
    """A dict of keys and values."""
    return dict(zip(keys, values, strict=True))


@shows("make_range(1, 4)", "(1, 2, 3)")
def make_range(*bounds: int) -> tuple[int, ...]:
    """The integers of a range as a tuple."""
    return tuple(range(*bounds))


@shows("tuple_setitem((1, 2), 0, 5)", "(5, 2)")
def tuple_setitem(data: Any, index: int, value: Any) -> tuple[Any, ...]:
    """A tuple with one item replaced."""
    return tuple(list_setitem(data, index, value))


@shows("list_setitem([1, 2], 0, 5)", "[5, 2]")
def list_setitem(data: Any, index: int, value: Any) -> list[Any]:
    """A list with one item replaced."""
    items = list(data)
    items[index] = value
    return items


@shows("list_append([1], 2)", "[1, 2]")
def list_append(data: Any, value: Any) -> list[Any]:
    """A list with one item more."""
    return [*data, value]


@shows("tuple_reversed((1, 2))", "(2, 1)")
def tuple_reversed(data: Any) -> tuple[Any, ...]:
    """A tuple in reverse order."""
    return tuple(reversed(data))


@shows('in_dict("a", {"a": 1})', "True")
def in_dict(key: Any, data: Any) -> bool:
    """Whether a dict has a key."""
    return key in data


@shows('not_in_dict("a", {"a": 1})', "False")
def not_in_dict(key: Any, data: Any) -> bool:
    """Whether a dict lacks a key."""
    return key not in data


@shows("bool_and(True, False)", "False")
def bool_and(x: bool, y: bool) -> bool:
    """Whether both are true."""
    return x and y


@shows("bool_or(True, False)", "True")
def bool_or(x: bool, y: bool) -> bool:
    """Whether either is true."""
    return x or y


@shows("bool_not(True)", "False")
def bool_not(x: bool) -> bool:
    """The opposite."""
    return not x


def scalar_cast(input_x: Any, input_y: Any) -> Any:
    """A number as the Python type of an element type.

    Example:
        >>> import weft
        >>> scalar_cast(2.7, weft.int32)
        2

    Raises:
        TypeError: it is no number.
    """
    if isinstance(input_x, str):
        raise TypeError("scalar_cast: input_x must be a number, not str")
    return dtypes.to_python(input_y)(input_x)


@shows("shape_mul((2, 3))", "6")
def shape_mul(shape: Any) -> int:
    """Product of the dimensions of a shape."""
    return python_math.prod(shape)


@shows("reduced_shape((2, 3), (0,))", "(1, 3)")
def reduced_shape(shape: Any, axis: Any) -> tuple[int, ...]:
    """A shape with the reduced axes of size 1."""
    axes = all_axes("reduced_shape", axis, len(shape))
    return tuple(1 if i in axes else dim for i, dim in enumerate(shape))


def _scalar(operation: Callable[..., Any], divides: bool = False) -> Callable[..., Any]:
    """A function ``scalar_...(x, y)`` of two numbers, or tensors."""
    name = f"scalar_{operation.__name__.removeprefix('true')}"

    def function(x: Any, y: Any) -> Any:
        if divides and isinstance(y, Tensor) and y.size != 1:
            raise ValueError(f"{name}: the divisor is a number or a tensor of one element, not of shape {y.shape}")
        return operation(x, y)

    doc = f"""`operator.{operation.__name__}` of two numbers, or of tensors.

Args:
    x: number or tensor.
    y: number or tensor{" of one element" if divides else ""}.

Example:
    >>> {name}(7, 2)
    {operation(7, 2)!r}
"""
    return told(function, name, doc)


scalar_add, scalar_sub, scalar_mul, scalar_pow = map(_scalar, (operator.add, operator.sub, operator.mul, operator.pow))
scalar_eq, scalar_ne, scalar_lt = map(_scalar, (operator.eq, operator.ne, operator.lt))
scalar_le, scalar_gt, scalar_ge = map(_scalar, (operator.le, operator.gt, operator.ge))
scalar_div, scalar_floordiv, scalar_mod = (
    _scalar(each, divides=True) for each in (operator.truediv, operator.floordiv, operator.mod)
)


@shows("scalar_uadd(2)", "2")
def scalar_uadd(x: Any) -> Any:
    """The number itself."""
    return x


@shows("scalar_usub(2)", "-2")
def scalar_usub(x: Any) -> Any:
    """The number with the opposite sign."""
    return -x


def typeof(value: Any) -> Any:
    """The element type of a tensor, the Python type of anything else.

    Example:
        >>> typeof(Tensor([1.0]))
        mindspore.float32
    """
    return value.dtype if isinstance(value, Tensor) else type(value)


operator_class("ScalarCast", scalar_cast)
