"""Functions of each element: exponentials, roots, rounding, signs, complex parts."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax.numpy as jnp
from jax import lax

from weft import dtypes
from weft.core import op, operator_class, shows
from weft.ops._kinks import direction, magnitude
from weft.ops._rows import of_floats, of_one, row
from weft.ops._rules import floating
from weft.ops.math import mul, real_div, square, typed_div

__all__ = [
    "abs", "absolute", "angle", "cbrt", "ceil", "conj", "deg2rad", "exp", "exp2", "expm1", "fix", "floor", "frac",
    "imag", "inv", "is_complex", "log", "log10", "log1p", "log2", "logit", "nan_to_num", "polar", "rad2deg", "real",
    "rint", "round", "rsqrt", "sgn", "sign", "signbit", "sqrt", "trunc", "view_as_complex", "is_floating_point",
    "frexp", "copysign",
]  # fmt: skip

_row, _of_one, _of_floats = (partial(declare, __name__) for declare in (row, of_one, of_floats))
_rounded = partial(_row, no_gradient="piecewise constant")


def _kept(function: Any) -> Any:
    """A function in the element type of its operand."""
    return lambda input: function(input).astype(input.dtype)


abs = _of_one("abs", jnp.abs, "Absolute value of each element.", "[-1.0, 2.0]", "[1. 2.]", also="absolute",
    gradient=lambda x, out, dout: (mul(dout, conj(sign(x)) if x.dtype.category == 3 else sign(x)),))  # fmt: skip
sign: Any = _of_one("sign", direction, "-1, 0 or 1 by the sign of each element.", "[-3.0, 0.0, 2.0]", "[-1.  0.  1.]")


@shows("sgn(Tensor([-3.0, 2.0]))", "[-1.  1.]")
def sgn(input: Any) -> Any:
    """Same as `sign`; for complex elements the direction ``z / abs(z)``."""
    return sign(input)


signbit = _of_floats("signbit", jnp.signbit, "Whether the sign bit of each element is set.", "[-1.0, 2.0]",
    "[ True False]", primitive="SignBit", classes=(), no_gradient="bool result")  # fmt: skip


@op("CopySign", classes=(), method="copysign", promotes=True, elementwise=True)
@shows("copysign(Tensor([1.0, -2.0]), Tensor([-1.0, 1.0]))", "[-1.  2.]")
def copysign(x: Any, other: Any) -> Any:
    """The magnitude of `x` with the sign of `other`."""
    size = magnitude(floating(x))
    return jnp.where(jnp.signbit(floating(other)), -size, size)


exp = _of_floats("exp", jnp.exp, "e to the power of each element.", "[0.0]", "[1.]",
    gradient=lambda x, out, dout: (mul(dout, out),))  # fmt: skip
exp2 = _of_floats("exp2", jnp.exp2, "2 to the power of each element.", "[3.0]", "[8.]", classes=())
expm1 = _of_floats("expm1", jnp.expm1, "``exp(x) - 1``, precise near zero.", "[0.0]", "[0.]")
log = _of_floats("log", jnp.log, "Natural logarithm of each element.", "[1.0]", "[0.]",
    gradient=lambda x, out, dout: (real_div(dout, x),))  # fmt: skip
log1p = _of_floats("log1p", jnp.log1p, "``log(1 + x)``, precise near zero.", "[0.0]", "[0.]")
log2 = _of_floats("log2", jnp.log2, "Logarithm to base 2 of each element.", "[8.0]", "[3.]", classes=())
log10 = _of_floats("log10", jnp.log10, "Logarithm to base 10 of each element.", "[100.0]", "[2.]", classes=())
sqrt = _row("sqrt", lambda x: jnp.sqrt(floating(x)), "Square root of each element.", "[4.0, 9.0]", "[2. 3.]",
    gradient=lambda x, out, dout: (real_div(dout, mul(out, 2)),))  # fmt: skip
rsqrt = _of_floats("rsqrt", lax.rsqrt, "One divided by the square root of each element.", "[4.0]", "[0.5]",
    gradient=lambda x, out, dout: (mul(mul(dout, -0.5), mul(out, square(out))),))  # fmt: skip
cbrt = _of_floats("cbrt", jnp.cbrt, "Cube root of each element.", "[8.0]", "[2.]", classes=())
floor = _rounded("floor", _kept(jnp.floor), "Round each element down.", "[1.7, -1.2]", "[ 1. -2.]")
ceil = _rounded("ceil", _kept(jnp.ceil), "Round each element up.", "[1.2, -1.7]", "[ 2. -1.]")
trunc = _rounded("trunc", _kept(jnp.trunc), "Round each element toward zero.", "[1.7, -1.7]", "[ 1. -1.]",
    also="fix")  # fmt: skip
round = _rounded("round", lambda input, *, decimals=0: jnp.round(input, decimals),
    "Round each element to a number of decimals, halves to even.", "[1.5, 2.5]", "[2. 2.]", method=(),
    integers="decimals")  # fmt: skip
rint = _rounded("rint", lambda input: jnp.rint(floating(input)),
    "Round each element to the nearest integer, halves to even.", "[1.5, 2.5]", "[2. 2.]", method=())  # fmt: skip


@shows("frac(Tensor([1.5, -1.5]))", "[ 0.5 -0.5]")
def frac(x: Any) -> Any:
    """The part of each element after the point; of bools, int64."""
    return mul(x.astype(dtypes.int64), 0) if x.dtype is dtypes.bool_ else x - trunc(x)


@op("Logit", method="logit", init="eps=-1.0")
@shows("logit(Tensor([0.5]))", "[0.]")
def logit(input: Any, *, eps: float | None = None) -> Any:
    """``log(x / (1 - x))``; with `eps`, elements are first brought into [eps, 1 - eps]."""
    input = floating(input)
    if eps is not None and eps >= 0:
        input = jnp.where(input < eps, eps, jnp.where(input > 1 - eps, 1 - eps, input)).astype(input.dtype)
    return jnp.log(input / (1 - input))


deg2rad = _row("deg2rad", lambda x: jnp.deg2rad(floating(x)), "Degrees to radians.", "[0.0]", "[0.]",
    primitive="Deg2Rad", classes=())  # fmt: skip
rad2deg = _row("rad2deg", lambda x: jnp.rad2deg(floating(x)), "Radians to degrees.", "[0.0]", "[0.]",
    primitive="Rad2Deg", classes=())  # fmt: skip


@op("NanToNum", init="nan=0.0, posinf=None, neginf=None", method="nan_to_num")
@shows('nan_to_num(Tensor([float("nan"), 1.0]))', "[0. 1.]")
def nan_to_num(
    input: Any, *, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Any:
    """Replace NaN and infinities by numbers.

    Args:
        input: tensor.
        nan: replacement of NaN, 0 by default.
        posinf: replacement of infinity, the largest number by default.
        neginf: replacement of minus infinity, the smallest number by default.

    Returns:
        Tensor: like `input`.
    """
    return jnp.nan_to_num(input, nan=0.0 if nan is None else nan, posinf=posinf, neginf=neginf)


@op("Frexp", classes=(), multiple=True, no_gradient="splits the representation", elementwise=True)
def frexp(input: Any) -> Any:
    """Mantissa in [0.5, 1) and exponent of each element.

    Example:
        >>> mantissa, exponent = frexp(Tensor([4.0]))
        >>> print(mantissa, exponent)
        [0.5] [3]
    """
    return tuple(jnp.frexp(floating(input)))


# -- complex numbers -----------------------------------------------------------------------------------------

real = _of_one("real", jnp.real, "Real part of each element.", "[1 + 2j]", "[1.]")
imag = _of_one("imag", jnp.imag, "Imaginary part of each element.", "[1 + 2j]", "[2.]")
conj: Any = _of_one("conj", jnp.conj, "Complex conjugate of each element.", "[1 + 2j]", "[1.-2.j]")
angle = _of_one("angle", jnp.angle, "Angle of each complex element, in radians.", "[1 + 0j]", "[0.]")


@op("Complex", elementwise=True)
def make_complex(real: Any, imag: Any) -> Any:
    """Complex numbers of real and imaginary parts."""
    return lax.complex(floating(real), floating(imag))


@shows("polar(Tensor([2.0]), Tensor([0.0]))", "[2.+0.j]")
def polar(abs: Any, angle: Any) -> Any:
    """Complex numbers of magnitudes and angles."""
    return make_complex(abs * angle.cos(), abs * angle.sin())


@shows("view_as_complex(Tensor([[1.0, 2.0]]))", "[1.+2.j]")
def view_as_complex(input: Any) -> Any:
    """A real tensor whose last dimension holds real and imaginary part as a complex one."""
    if not input.shape or input.shape[-1] != 2:
        raise ValueError(f"view_as_complex: the last dimension must have size 2, not shape {input.shape}")
    return make_complex(input[..., 0], input[..., 1])


@shows("is_complex(Tensor([1.0]))", "False")
def is_complex(input: Any) -> bool:
    """Whether the element type is complex."""
    return bool(input.dtype.category == 3)


@shows("is_floating_point(Tensor([1.0]))", "True")
def is_floating_point(input: Any) -> bool:
    """Whether the element type is floating point."""
    return bool(input.dtype.is_floating)


@shows("inv(Tensor([4.0]))", "[0.25]")
def inv(x: Any) -> Any:
    """One divided by each element, in the type of the tensor: those of integers are rounded toward zero."""
    return typed_div(1, x)


absolute, fix = abs, trunc

operator_class("Inv", inv)
operator_class("Polar", polar)
