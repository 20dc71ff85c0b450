"""Logic of bools and bits of integers."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax.numpy as jnp

from weft import dtypes
from weft.core import operator_class
from weft.ops._rows import of_one, of_pairs, row
from weft.ops._rules import broadcastable, of_one_type, operands

__all__ = [
    "bitwise_and", "bitwise_left_shift", "bitwise_not", "bitwise_or", "bitwise_right_shift", "bitwise_xor",
    "invert", "logical_and", "logical_not", "logical_or", "logical_xor",
]  # fmt: skip

_WHY = "bool result"

# -- logic -----------------------------------------------------------------------------------------------


def _logical(name: str, *arrays: Any) -> Any:
    broadcastable(name, *arrays)
    return [a.astype(jnp.bool_) for a in arrays]


_of_flags = partial(of_pairs, __name__, prepared=_logical, no_gradient=_WHY, promotes=False, commutative=True)
logical_and = _of_flags("logical_and", jnp.logical_and, "Whether both elements are true (nonzero).",
    "[True, True], [True, False]", "[ True False]")  # fmt: skip
logical_or = _of_flags("logical_or", jnp.logical_or, "Whether either element is true (nonzero).",
    "[True, False], [False, False]", "[ True False]")  # fmt: skip
logical_xor = _of_flags("logical_xor", jnp.logical_xor, "Whether exactly one element is true (nonzero).",
    "[True, True], [True, False]", "[False  True]")  # fmt: skip
logical_not = of_one(
    __name__, "logical_not", jnp.logical_not, "Whether each element is false (zero).", "[True, False]", "[False  True]",
    no_gradient=_WHY,
)  # fmt: skip


# -- bits ------------------------------------------------------------------------------------------------


def _bits(name: str, *arrays: Any) -> Any:
    arrays = operands(name, *arrays)
    if not (jnp.issubdtype(arrays[0].dtype, jnp.integer) or arrays[0].dtype == jnp.bool_):
        raise TypeError(f"{name}: needs integer or bool tensors, not {dtypes.of_np(arrays[0].dtype)}")
    return arrays


def _bits_of_one_type(name: str, *arrays: Any) -> Any:
    of_one_type(name, *arrays)
    return _bits(name, *arrays)


_of_bits = partial(of_pairs, __name__, prepared=_bits, no_gradient="integer result", commutative=True)
_shift = partial(of_pairs, __name__, prepared=_bits_of_one_type, no_gradient="integer result")
bitwise_and = _of_bits("bitwise_and", jnp.bitwise_and, "And of the bits; the logical and of bools.", "[6, 5], 3",
    "[2 1]", operator="__and__", reflected="__rand__")  # fmt: skip
bitwise_or = _of_bits("bitwise_or", jnp.bitwise_or, "Or of the bits; the logical or of bools.", "[6, 5], 3", "[7 7]",
    operator="__or__", reflected="__ror__")  # fmt: skip
bitwise_xor = _of_bits("bitwise_xor", jnp.bitwise_xor, "Exclusive or of the bits; the logical one of bools.",
    "[6, 5], 3", "[5 6]", operator="__xor__", reflected="__rxor__")  # fmt: skip
bitwise_left_shift = _shift("bitwise_left_shift", jnp.left_shift, "Bits shifted to the left.", "[1, 2], 2", "[4 8]",
    primitive="LeftShift", operator="__lshift__", reflected="__rlshift__")  # fmt: skip
bitwise_right_shift = _shift("bitwise_right_shift", jnp.right_shift, "Bits shifted to the right, keeping the sign.",
    "[8, 5], 2", "[2 1]", primitive="RightShift", operator="__rshift__", reflected="__rrshift__")  # fmt: skip
invert = row(
    __name__, "invert", lambda x: jnp.invert(*_bits("invert", x)), "Every bit flipped; the logical not of bools.",
    "[0, 1]", "[-1 -2]", method=("bitwise_not", "invert"), no_gradient="integer result",
)  # fmt: skip
bitwise_not = invert

operator_class("BitwiseNot", invert)
