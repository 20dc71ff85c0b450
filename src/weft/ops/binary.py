"""Functions of two or three tensors, elementwise: angles, interpolation, safe products, integer pairs."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax.numpy as jnp

from weft import dtypes
from weft.core import op, shows
from weft.ops._rows import of_pairs
from weft.ops._rules import broadcastable, floating, operands, tensor
from weft.ops.math import add, div_no_nan, mul, neg, pow

__all__ = [
    "addcdiv", "addcmul", "atan2", "float_power", "fmax", "fmin", "gcd", "heaviside", "hypot", "lcm", "ldexp",
    "lerp", "logaddexp", "logaddexp2", "nextafter", "squared_difference", "xdivy", "xlogy",
]  # fmt: skip

_of_pairs = partial(of_pairs, __name__)


def _floats(name: str, *arrays: Any) -> Any:
    return map(floating, operands(name, *arrays))


@shows("float_power(Tensor([1, 2, 3]), 2)", "[1. 4. 9.]")
def float_power(input: Any, exponent: Any) -> Any:
    """Raise to a power in double precision.

    Args:
        input: tensor or number.
        exponent: tensor or number.

    Returns:
        Tensor: float64.
    """
    return pow(tensor(input).astype(dtypes.float64), tensor(exponent).astype(dtypes.float64))


_PREFERRED = "elementwise, ignoring NaN. Where equal, the gradient goes to `input`."
fmax = _of_pairs("fmax", lambda x, y: jnp.where((x >= y) | (y != y), x, y), f"The larger of two tensors, {_PREFERRED}",
    '[1.0, float("nan")], [0.0, 2.0]', "[1. 2.]", primitive="FMax", classes=("FMax", "Fmax"))  # fmt: skip
fmin = _of_pairs("fmin", lambda x, y: jnp.where((x <= y) | (y != y), x, y), f"The smaller of two tensors, {_PREFERRED}",
    '[1.0, float("nan")], [0.0, 2.0]', "[0. 2.]", primitive="FMin", classes=("FMin", "Fmin"))  # fmt: skip
squared_difference = _of_pairs("squared_difference", lambda x, y: jnp.square(jnp.subtract(x, y)),
    "Square of the difference, elementwise.", "[1.0, 4.0], 2.0", "[1. 4.]", commutative=True, method=())  # fmt: skip


def _atan2_rule(x: Any, y: Any, out: Any, dout: Any) -> Any:
    square = add(mul(x, x), mul(y, y))
    return mul(dout, div_no_nan(y, square)), mul(dout, div_no_nan(neg(x), square))


atan2 = _of_pairs("atan2", jnp.arctan2, "Angle of the point (other, input), in radians.", "[0.0], [1.0]", "[0.]",
    also="arctan2", prepared=_floats, gradient=_atan2_rule)  # fmt: skip


def _hypot_rule(x: Any, y: Any, out: Any, dout: Any) -> Any:
    return mul(dout, div_no_nan(x, out)), mul(dout, div_no_nan(y, out))


hypot = _of_pairs("hypot", jnp.hypot, "Length of the hypotenuse, elementwise.", "[3.0], [4.0]", "[5.]",
    prepared=_floats, gradient=_hypot_rule)  # fmt: skip


@op("Xdivy", method="xdivy", promotes=True, elementwise=True)
@shows("xdivy(Tensor([0.0, 1.0]), Tensor([0.0, 2.0]))", "[0.  0.5]")
def xdivy(x: Any, y: Any) -> Any:
    """``x / y``, zero where both are zero."""
    x, y = _floats("xdivy", x, y)
    # where the quotient exists it is taken, so that its slope 1 / y is
    zero = (x == 0) & ((y == 0) | (y != y))
    return jnp.where(zero, 0, x / jnp.where(zero, 1, y))


@op("MulNoNan", promotes=True, elementwise=True)
def _mul_no_nan(input: Any, other: Any) -> Any:
    """Product that is 0 where the second factor is 0, whatever the first is: ``MulNoNan()(x, y)``."""
    input, other = operands("MulNoNan", input, other)
    zero = (other == 0) & ~jnp.isfinite(input)  # where the first is finite the product is taken, so that its slope is
    return jnp.where(zero, jnp.zeros((), other.dtype), jnp.where(zero, jnp.ones((), input.dtype), input) * other)


@op("Xlogy", method="xlogy", promotes=True, elementwise=True)
@shows("xlogy(Tensor([0.0, 2.0]), Tensor([0.0, 1.0]))", "[0. 0.]")
def xlogy(input: Any, other: Any) -> Any:
    """``input * log(other)``, zero where `input` is zero."""
    input, other = _floats("xlogy", input, other)
    # where the logarithm is finite the product is taken, so that its slope log(other) is
    zero = (input == 0) & ~((other > 0) & (other < jnp.inf))
    return jnp.where(zero, 0, input * jnp.log(jnp.where(zero, 1, other)))


logaddexp = _of_pairs("logaddexp", jnp.logaddexp, "``log(exp(input) + exp(other))`` without overflow.",
    "[1000.0], [-1000.0]", "[1000.]", primitive="LogAddExp", classes=(), prepared=_floats, commutative=True,
    method=())  # fmt: skip
logaddexp2 = _of_pairs("logaddexp2", jnp.logaddexp2, "``log2(2**input + 2**other)`` without overflow.", "[1.0], [1.0]",
    "[2.]", primitive="LogAddExp2", classes=(), prepared=_floats, commutative=True, method=())  # fmt: skip
nextafter = _of_pairs("nextafter", jnp.nextafter, "The next representable number from `input` towards `other`.",
    "[1.0], [2.0]", "[ True]", then=" > 1", primitive="NextAfter", method=(), prepared=_floats,
    no_gradient="a step of rounding")  # fmt: skip


@op("Heaviside", no_gradient="piecewise constant", promotes=True, elementwise=True)
@shows("heaviside(Tensor([-1.0, 0.0, 2.0]), 0.5)", "[0.  0.5 1. ]")
def heaviside(input: Any, values: Any) -> Any:
    """The step function: 0 below zero, 1 above, `values` at zero."""
    input, values = operands("heaviside", input, values)
    return jnp.where(input > 0, jnp.ones_like(input), jnp.where(input < 0, jnp.zeros_like(input), values))


gcd = _of_pairs("gcd", jnp.gcd, "Greatest common divisor, elementwise.", "[12, 18], 8", "[4 2]",
    no_gradient="integer result", commutative=True, method=())  # fmt: skip
lcm = _of_pairs("lcm", jnp.lcm, "Least common multiple, elementwise.", "[4, 6], 10", "[20 30]",
    no_gradient="integer result", commutative=True, method=())  # fmt: skip


@op("Ldexp", classes=(), elementwise=True)
@shows("ldexp(Tensor([1.0, 3.0]), Tensor([2, 1]))", "[4. 6.]")
def ldexp(x: Any, other: Any) -> Any:
    """``x * 2**other``."""
    broadcastable("ldexp", x, other)
    x = floating(x)
    return x * jnp.exp2(other.astype(x.dtype))


@op("Lerp", method="lerp", promotes=True, elementwise=True)
@shows("lerp(Tensor([0.0, 2.0]), Tensor([4.0, 4.0]), 0.5)", "[2. 3.]")
def lerp(input: Any, end: Any, weight: Any) -> Any:
    """Linear interpolation: ``input + weight * (end - input)``.

    Args:
        input: tensor, the start.
        end: tensor.
        weight: tensor or number.

    Returns:
        Tensor: of the broadcast shape.
    """
    input, end, weight = operands("lerp", input, end, weight)
    return input + weight * (end - input)


@op("Addcdiv", promotes=True, elementwise=True)
@shows("addcdiv(Tensor([1.0]), Tensor([3.0]), Tensor([2.0]), 2.0)", "[4.]")
def addcdiv(input: Any, tensor1: Any, tensor2: Any, value: Any = 1) -> Any:
    """``input + value * tensor1 / tensor2``."""
    input, tensor1, tensor2, value = operands("addcdiv", input, tensor1, tensor2, value)
    return input + value * (tensor1 / tensor2)


@op("Addcmul", promotes=True, elementwise=True)
@shows("addcmul(Tensor([1.0]), Tensor([3.0]), Tensor([2.0]), 2.0)", "[13.]")
def addcmul(input: Any, tensor1: Any, tensor2: Any, value: Any = 1) -> Any:
    """``input + value * tensor1 * tensor2``."""
    input, tensor1, tensor2, value = operands("addcmul", input, tensor1, tensor2, value)
    return input + value * tensor1 * tensor2
