"""Choosing between values: where, select, masks, clipping."""

from __future__ import annotations

import functools
from typing import Any

import jax.numpy as jnp

from weft import dtypes
from weft.core import Primitive, Tensor, apply, choice, described, op, operator_class, shows
from weft.core.dispatch import literal
from weft.core.run_number import RunNumber
from weft.errors import NoTensor
from weft.ops._rules import broadcastable, operands, tensor
from weft.ops.math import add, maximum, minimum, mul, real_div
from weft.ops.reduce import norm_root, reduce_sum, sum_of_powers
from weft.ops.shape import zeros_of

__all__ = [
    "choose", "clamp", "clip", "clip_by_global_norm", "clip_by_norm", "clip_by_value", "masked_fill", "select",
    "where",
]  # fmt: skip


def _where_rule(condition: Any, x: Any, y: Any, out: Any, dout: Any) -> Any:
    zero = zeros_of(dout)
    return None, apply(WHERE, (condition, dout, zero)), apply(WHERE, (condition, zero, dout))


def _where(condition: Any, x: Any, y: Any) -> Any:
    broadcastable("where", condition, x, y)
    return jnp.where(condition.astype(jnp.bool_), *operands("where", x, y))


#: elementwise choice; numbers among the values take the dtype of the other value, see `where`
WHERE = Primitive("Where", _where, elementwise=True, derivative=_where_rule)
_CHOOSING = described(
    condition="bool tensor.",
    input="tensor or number.",
    other="tensor or number.",
    returns="Tensor: of the broadcast shape and promoted dtype.",
)


@_CHOOSING
@shows("where(Tensor([True, False]), Tensor([1.0, 2.0]), 0.0)", "[1. 0.]")
def where(condition: Any, input: Any, other: Any) -> Any:
    """Elements of `input` where the condition holds, else of `other`, with broadcasting.

    Raises:
        ValueError: shapes that cannot be broadcast together.
    """
    return apply(WHERE, (condition, *_values(input, other)))


choice.select = where


def _values(input: Any, other: Any) -> tuple[Any, Any]:
    """Two values, a number among them in the dtype that promotion asks for."""
    return _beside(input, other), _beside(other, input)


def _beside(value: Any, other: Any) -> Any:
    if isinstance(value, Tensor) or not isinstance(other, Tensor) or other.type.weak is not None:
        return value
    kind = next((k for k in (bool, int, float, complex) if isinstance(value, k)), None)
    if kind is None:
        return value
    dtype = dtypes.promote_scalar(other.dtype, kind)
    if issubclass(type(value), RunNumber):
        return value.operand(dtype).astype(dtype)
    return literal(kind(value), dtype)


@_CHOOSING
@shows("select(Tensor([True, False]), Tensor([1.0, 2.0]), Tensor([3.0, 4.0]))", "[1. 4.]")
def select(condition: Any, input: Any, other: Any) -> Any:
    """Elements of `input` where the condition holds, else of `other`."""
    return where(condition, input, other)


@shows("masked_fill(Tensor([1.0, 2.0]), Tensor([True, False]), -1)", "[-1.  2.]")
def masked_fill(input_x: Any, mask: Any, value: Any) -> Any:
    """A number where the mask holds, the elements of the tensor elsewhere.

    Args:
        input_x: tensor.
        mask: bool tensor, broadcast with `input_x`.
        value: number or 0-D tensor, cast to the dtype of `input_x`.

    Returns:
        Tensor: of the broadcast shape and the dtype of `input_x`.

    Raises:
        TypeError: the mask is not bool.
    """
    input_x, mask = tensor(input_x), tensor(mask)
    if mask.dtype is not dtypes.bool_:
        raise TypeError(
            f"masked_fill: the mask must be bool, not {mask.dtype}; compare first: masked_fill(x, x > 0, v)"
        )
    if issubclass(type(value), RunNumber):
        value = value.operand(input_x.dtype)
    is_number = value.__class__ in (bool, int, float)
    filling = literal(value, input_x.dtype) if is_number else tensor(value).astype(input_x.dtype)
    return apply(WHERE, (mask, filling, input_x))


@shows("clamp(Tensor([-1.0, 0.5, 2.0]), 0, 1)", "[0.  0.5 1. ]")
def clamp(input: Any, min: Any = None, max: Any = None) -> Any:
    """Bring each element into a range.

    Args:
        input: tensor, or a list or tuple of tensors.
        min: lower bound, tensor or number; None for none.
        max: upper bound, tensor or number; None for none. It wins where the bounds cross.

    Returns:
        Tensor: like `input`.

    Raises:
        ValueError: neither bound is given.
    """
    if input is None or isinstance(input, str):
        raise NoTensor(f"clamp takes tensors, not {type(input).__name__}")
    if min is None and max is None:
        raise ValueError("clamp: at least one of min and max is needed")
    if isinstance(input, (list, tuple)):
        return type(input)([clamp(item, min, max) for item in input])
    if min is not None:
        input = _at_least(input, min)
    return input if max is None else _at_most(input, max)


@op("AtLeast", classes=(), promotes=True, elementwise=True)
def _at_least(x: Any, bound: Any) -> Any:
    """What is below a bound replaced by it; at the bound the gradient goes to `x`."""
    x, bound = operands("clamp", x, bound)
    return jnp.where((x < bound) | (bound != bound), bound, x)


@op("AtMost", classes=(), promotes=True, elementwise=True)
def _at_most(x: Any, bound: Any) -> Any:
    """What is above a bound replaced by it; at the bound the gradient goes to `x`."""
    x, bound = operands("clamp", x, bound)
    return jnp.where((x > bound) | (bound != bound), bound, x)


@shows("clip_by_value(Tensor([-1.0, 0.5, 2.0]), 0, 1)", "[0.  0.5 1. ]")
def clip_by_value(x: Any, clip_value_min: Any = None, clip_value_max: Any = None) -> Any:
    """Bring each element into a range, as `clamp`; at a bound half of the gradient goes to each of the two."""
    if clip_value_min is None and clip_value_max is None:
        raise ValueError("clip_by_value: at least one of clip_value_min and clip_value_max is needed")
    if isinstance(x, (list, tuple)):
        return type(x)([clip_by_value(item, clip_value_min, clip_value_max) for item in x])
    if clip_value_min is not None:
        x = maximum(x, clip_value_min)
    return x if clip_value_max is None else minimum(x, clip_value_max)


@shows("clip_by_norm(Tensor([3.0, 4.0]), 1.0)", "[0.6 0.8]")
def clip_by_norm(x: Any, max_norm: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False) -> Any:
    """Scale tensors down so that their common norm is at most `max_norm`.

    Args:
        x: tensor, or a list or tuple of tensors.
        max_norm: largest norm.
        norm_type: order of the norm; ``inf`` for the largest element.
        error_if_nonfinite: raise if the norm is not finite (needs its value).

    Returns:
        Tensor, or a list or tuple as given; of integers and bools, float32.

    Raises:
        RuntimeError: the norm is not finite and `error_if_nonfinite` is set.
    """
    given = list(x) if isinstance(x, (list, tuple)) else [x]
    parts = [part if part.dtype.category >= 2 else part.astype(dtypes.float32) for part in given]
    order = float(norm_type)
    if order == float("inf"):
        total = functools.reduce(maximum, [part.abs().max() for part in parts])
    else:
        powers = [sum_of_powers(part, order=order).reshape(()) for part in parts]
        total = norm_root(functools.reduce(add, powers), order=order)
    if error_if_nonfinite and not bool(total.isfinite()):
        raise RuntimeError(f"clip_by_norm: the norm of order {norm_type} is not finite")
    clipped = [scaled_down(part, total, max_norm) for part in parts]
    return type(x)(clipped) if isinstance(x, (list, tuple)) else clipped[0]


@shows("clip_by_global_norm((Tensor([3.0]), Tensor([4.0])), 1.0)[1]", "[0.8]")
def clip_by_global_norm(x: Any, clip_norm: Any = 1.0, use_norm: Any = None) -> Any:
    """Scale a list of tensors down so that their common 2-norm is at most `clip_norm`.

    Args:
        x: list or tuple of tensors.
        clip_norm: largest norm.
        use_norm: the norm, if already known.

    Returns:
        tuple[Tensor, ...]: the scaled tensors.
    """
    if use_norm is None:
        squares = [reduce_sum(part.astype(dtypes.float32).square()) for part in x]
        use_norm = norm_root(functools.reduce(add, squares))
    return tuple(scaled_down(part, use_norm, clip_norm) for part in x)


def scaled_down(x: Any, norm: Any, most: Any) -> Any:
    """A tensor scaled so that its norm is at most a number; up to that number nothing depends on the norm."""
    norm = tensor(norm)
    return mul(x, real_div(most, where(norm <= most, most, norm)).astype(x.dtype))


@shows("choose(Tensor([0, 1]), [Tensor([1, 2]), Tensor([3, 4])])", "[1 4]")
def choose(index: Any, choices: Any) -> Any:
    """For each position the element of the tensor that the index names."""
    result = choices[0]
    for position, values in enumerate(choices[1:], 1):
        result = where(index == position, values, result)
    return result


clip = clamp

operator_class("Select", select)
operator_class("Where", where)
operator_class("MaskedFill", masked_fill)
operator_class("ClipByNorm", clip_by_norm)
