"""Logic of bools and bits of integers."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np

from weft import dtypes
from weft.core.declare import op, operator_class
from weft.ops._rules import broadcastable, of_one_type, operands
from weft.ops._samples import DIVISORS, FLAGS, INTEGERS, pairs, unary

__all__ = [
    "bitwise_and", "bitwise_left_shift", "bitwise_not", "bitwise_or", "bitwise_right_shift", "bitwise_xor",
    "invert", "logical_and", "logical_not", "logical_or", "logical_xor",
]  # fmt: skip

_WHY = "bool result"
#: logic of two operands
_of_flags = partial(op, no_gradient=_WHY, samples=pairs(FLAGS, ~FLAGS, False), commutative=True, elementwise=True)

# -- logic -----------------------------------------------------------------------------------------------


def _logical(name: str, *arrays: Any) -> Any:
    broadcastable(name, *arrays)
    return [a.astype(jnp.bool_) for a in arrays]


@_of_flags("LogicalAnd", method="logical_and")
def logical_and(input: Any, other: Any) -> Any:
    """Whether both elements are true (nonzero).

    Example:
        >>> print(logical_and(Tensor([True, True]), Tensor([True, False])))
        [ True False]
    """
    return jnp.logical_and(*_logical("logical_and", input, other))


@_of_flags("LogicalOr", method="logical_or")
def logical_or(input: Any, other: Any) -> Any:
    """Whether either element is true (nonzero).

    Example:
        >>> print(logical_or(Tensor([True, False]), Tensor([False, False])))
        [ True False]
    """
    return jnp.logical_or(*_logical("logical_or", input, other))


@_of_flags("LogicalXor", method="logical_xor")
def logical_xor(input: Any, other: Any) -> Any:
    """Whether exactly one element is true (nonzero).

    Example:
        >>> print(logical_xor(Tensor([True, True]), Tensor([True, False])))
        [False  True]
    """
    return jnp.logical_xor(*_logical("logical_xor", input, other))


@op("LogicalNot", method="logical_not", no_gradient=_WHY, samples=unary(FLAGS), elementwise=True)
def logical_not(input: Any) -> Any:
    """Whether each element is false (zero).

    Example:
        >>> print(logical_not(Tensor([True, False])))
        [False  True]
    """
    return jnp.logical_not(input)


# -- bits ------------------------------------------------------------------------------------------------


def _bits(name: str, *arrays: Any) -> Any:
    arrays = operands(name, *arrays)
    if not (jnp.issubdtype(arrays[0].dtype, jnp.integer) or arrays[0].dtype == jnp.bool_):
        raise TypeError(f"{name}: needs integer or bool tensors, not {dtypes.of_np(arrays[0].dtype)}")
    return arrays


_INTEGER_RESULT = "integer result"
#: logic of bits of two operands
_of_bits = partial(
    op,
    no_gradient=_INTEGER_RESULT,
    samples=pairs(INTEGERS, DIVISORS, False),
    promotes=True,
    commutative=True,
    elementwise=True,
)
#: shifts of bits
_shift = partial(
    op, no_gradient=_INTEGER_RESULT, samples=pairs(INTEGERS, np.abs(DIVISORS), False), promotes=True, elementwise=True
)


@_of_bits("BitwiseAnd", method="bitwise_and", operator="__and__", reflected="__rand__")
def bitwise_and(input: Any, other: Any) -> Any:
    """And of the bits; the logical and of bools.

    Example:
        >>> print(bitwise_and(Tensor([6, 5]), 3))
        [2 1]
    """
    return jnp.bitwise_and(*_bits("bitwise_and", input, other))


@_of_bits("BitwiseOr", method="bitwise_or", operator="__or__", reflected="__ror__")
def bitwise_or(input: Any, other: Any) -> Any:
    """Or of the bits; the logical or of bools.

    Example:
        >>> print(bitwise_or(Tensor([6, 5]), 3))
        [7 7]
    """
    return jnp.bitwise_or(*_bits("bitwise_or", input, other))


@_of_bits("BitwiseXor", method="bitwise_xor", operator="__xor__", reflected="__rxor__")
def bitwise_xor(input: Any, other: Any) -> Any:
    """Exclusive or of the bits; the logical one of bools.

    Example:
        >>> print(bitwise_xor(Tensor([6, 5]), 3))
        [5 6]
    """
    return jnp.bitwise_xor(*_bits("bitwise_xor", input, other))


@op("Invert", method=("bitwise_not", "invert"), no_gradient=_INTEGER_RESULT, samples=unary(INTEGERS), elementwise=True)
def invert(x: Any) -> Any:
    """Every bit flipped; the logical not of bools.

    Example:
        >>> print(invert(Tensor([0, 1])))
        [-1 -2]
    """
    return jnp.invert(*_bits("invert", x))


@_shift("LeftShift", method="bitwise_left_shift", operator="__lshift__", reflected="__rlshift__")
def bitwise_left_shift(input: Any, other: Any) -> Any:
    """Bits shifted to the left.

    Example:
        >>> print(bitwise_left_shift(Tensor([1, 2]), 2))
        [4 8]
    """
    of_one_type("bitwise_left_shift", input, other)
    return jnp.left_shift(*_bits("bitwise_left_shift", input, other))


@_shift("RightShift", method="bitwise_right_shift", operator="__rshift__", reflected="__rrshift__")
def bitwise_right_shift(input: Any, other: Any) -> Any:
    """Bits shifted to the right, keeping the sign.

    Example:
        >>> print(bitwise_right_shift(Tensor([8, 5]), 2))
        [2 1]
    """
    of_one_type("bitwise_right_shift", input, other)
    return jnp.right_shift(*_bits("bitwise_right_shift", input, other))


bitwise_not = invert

operator_class("BitwiseNot", invert)
