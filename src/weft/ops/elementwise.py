"""Functions of each element: exponentials, roots, rounding, signs, complex parts."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from weft import dtypes
from weft.core.declare import op, operator_class
from weft.ops._kinks import magnitude
from weft.ops._rules import floating
from weft.ops._samples import POSITIVE, UNIT, A, one, positive, unary
from weft.ops.math import mul, real_div, square, typed_div

__all__ = [
    "abs", "absolute", "angle", "cbrt", "ceil", "conj", "deg2rad", "exp", "exp2", "expm1", "fix", "floor", "frac",
    "imag", "inv", "is_complex", "log", "log10", "log1p", "log2", "logit", "nan_to_num", "polar", "rad2deg", "real",
    "rint", "round", "rsqrt", "sgn", "sign", "signbit", "sqrt", "trunc", "view_as_complex", "is_floating_point",
    "frexp", "copysign",
]  # fmt: skip


@op(
    "Abs",
    method=("abs", "absolute"),
    gradient=lambda x, out, dout: (mul(dout, conj(sign(x)) if x.dtype.category == 3 else sign(x)),),
    samples=unary(),
    elementwise=True,
)
def abs(input: Any) -> Any:
    """Absolute value of each element.

    Example:
        >>> print(abs(Tensor([-1.0, 2.0])))
        [1. 2.]
    """
    return jnp.abs(input)


@op("Sign", method="sign", no_gradient="piecewise constant", samples=unary(), elementwise=True)
def sign(input: Any) -> Any:
    """-1, 0 or 1 by the sign of each element.

    Example:
        >>> print(sign(Tensor([-3.0, 0.0, 2.0])))
        [-1.  0.  1.]
    """
    return jnp.sign(input)


def sgn(input: Any) -> Any:
    """Same as `sign`; for complex elements the direction ``z / abs(z)``.

    Example:
        >>> print(sgn(Tensor([-3.0, 2.0])))
        [-1.  1.]
    """
    return sign(input)


@op("SignBit", classes=(), method="signbit", no_gradient="bool result", samples=unary(), elementwise=True)
def signbit(input: Any) -> Any:
    """Whether the sign bit of each element is set.

    Example:
        >>> print(signbit(Tensor([-1.0, 2.0])))
        [ True False]
    """
    return jnp.signbit(floating(input))


@op("CopySign", classes=(), method="copysign", samples=one(POSITIVE, A), promotes=True, elementwise=True)
def copysign(x: Any, other: Any) -> Any:
    """The magnitude of `x` with the sign of `other`.

    Example:
        >>> print(copysign(Tensor([1.0, -2.0]), Tensor([-1.0, 1.0])))
        [-1.  2.]
    """
    x, other = floating(x), floating(other)
    size = magnitude(x)
    return jnp.where(jnp.signbit(other), -size, size)


@op("Exp", method="exp", gradient=lambda x, out, dout: (mul(dout, out),), samples=unary(), elementwise=True)
def exp(input: Any) -> Any:
    """e to the power of each element.

    Example:
        >>> print(exp(Tensor([0.0])))
        [1.]
    """
    return jnp.exp(floating(input))


@op("Exp2", classes=(), method="exp2", samples=unary(), elementwise=True)
def exp2(input: Any) -> Any:
    """2 to the power of each element.

    Example:
        >>> print(exp2(Tensor([3.0])))
        [8.]
    """
    return jnp.exp2(floating(input))


@op("Expm1", method="expm1", samples=unary(), elementwise=True)
def expm1(input: Any) -> Any:
    """``exp(x) - 1``, precise near zero.

    Example:
        >>> print(expm1(Tensor([0.0])))
        [0.]
    """
    return jnp.expm1(floating(input))


@op("Log", method="log", gradient=lambda x, out, dout: (real_div(dout, x),), samples=positive(), elementwise=True)
def log(input: Any) -> Any:
    """Natural logarithm of each element.

    Example:
        >>> print(log(Tensor([1.0])))
        [0.]
    """
    return jnp.log(floating(input))


@op("Log1p", method="log1p", samples=positive(), elementwise=True)
def log1p(input: Any) -> Any:
    """``log(1 + x)``, precise near zero.

    Example:
        >>> print(log1p(Tensor([0.0])))
        [0.]
    """
    return jnp.log1p(floating(input))


@op("Log2", classes=(), method="log2", samples=positive(), elementwise=True)
def log2(input: Any) -> Any:
    """Logarithm to base 2 of each element.

    Example:
        >>> print(log2(Tensor([8.0])))
        [3.]
    """
    return jnp.log2(floating(input))


@op("Log10", classes=(), method="log10", samples=positive(), elementwise=True)
def log10(input: Any) -> Any:
    """Logarithm to base 10 of each element.

    Example:
        >>> print(log10(Tensor([100.0])))
        [2.]
    """
    return jnp.log10(floating(input))


@op(
    "Sqrt",
    method="sqrt",
    gradient=lambda x, out, dout: (real_div(dout, mul(out, 2)),),
    samples=positive(),
    elementwise=True,
)
def sqrt(x: Any) -> Any:
    """Square root of each element.

    Example:
        >>> print(sqrt(Tensor([4.0, 9.0])))
        [2. 3.]
    """
    return jnp.sqrt(floating(x))


@op(
    "Rsqrt",
    method="rsqrt",
    gradient=lambda x, out, dout: (mul(mul(dout, -0.5), mul(out, square(out))),),
    samples=positive(),
    elementwise=True,
)
def rsqrt(input: Any) -> Any:
    """One divided by the square root of each element.

    Example:
        >>> print(rsqrt(Tensor([4.0])))
        [0.5]
    """
    return lax.rsqrt(floating(input))


@op("Cbrt", classes=(), method="cbrt", samples=positive(), elementwise=True)
def cbrt(input: Any) -> Any:
    """Cube root of each element.

    Example:
        >>> print(cbrt(Tensor([8.0])))
        [2.]
    """
    return jnp.cbrt(floating(input))


@op("Floor", method="floor", no_gradient="piecewise constant", samples=unary(), elementwise=True)
def floor(input: Any) -> Any:
    """Round each element down.

    Example:
        >>> print(floor(Tensor([1.7, -1.2])))
        [ 1. -2.]
    """
    return jnp.floor(input).astype(input.dtype)


@op("Ceil", method="ceil", no_gradient="piecewise constant", samples=unary(), elementwise=True)
def ceil(input: Any) -> Any:
    """Round each element up.

    Example:
        >>> print(ceil(Tensor([1.2, -1.7])))
        [ 2. -1.]
    """
    return jnp.ceil(input).astype(input.dtype)


@op("Trunc", method=("trunc", "fix"), no_gradient="piecewise constant", samples=unary(), elementwise=True)
def trunc(input: Any) -> Any:
    """Round each element toward zero.

    Example:
        >>> print(trunc(Tensor([1.7, -1.7])))
        [ 1. -1.]
    """
    return jnp.trunc(input).astype(input.dtype)


@op("Round", classes=(), no_gradient="piecewise constant", samples=unary(decimals=0), elementwise=True)
def round(input: Any, *, decimals: int = 0) -> Any:
    """Round each element to a number of decimals, halves to even.

    Example:
        >>> print(round(Tensor([1.5, 2.5])))
        [2. 2.]
    """
    return jnp.round(input, decimals)


@op("Rint", no_gradient="piecewise constant", samples=unary(), elementwise=True)
def rint(input: Any) -> Any:
    """Round each element to the nearest integer, halves to even.

    Example:
        >>> print(rint(Tensor([1.5, 2.5])))
        [2. 2.]
    """
    return jnp.rint(floating(input))


def frac(x: Any) -> Any:
    """The part of each element after the point; of bools, int64.

    Example:
        >>> print(frac(Tensor([1.5, -1.5])))
        [ 0.5 -0.5]
    """
    return mul(x.astype(dtypes.int64), 0) if x.dtype is dtypes.bool_ else x - trunc(x)


@op("Logit", method="logit", init="eps=-1.0", samples=one(np.abs(UNIT), eps=-1.0))
def logit(input: Any, *, eps: float | None = None) -> Any:
    """``log(x / (1 - x))``; with `eps`, elements are first brought into [eps, 1 - eps].

    Example:
        >>> print(logit(Tensor([0.5])))
        [0.]
    """
    input = floating(input)
    if eps is not None and eps >= 0:
        input = jnp.where(input < eps, eps, jnp.where(input > 1 - eps, 1 - eps, input)).astype(input.dtype)
    return jnp.log(input / (1 - input))


@op("Deg2Rad", classes=(), method="deg2rad", samples=unary(), elementwise=True)
def deg2rad(x: Any) -> Any:
    """Degrees to radians.

    Example:
        >>> print(deg2rad(Tensor([0.0])))
        [0.]
    """
    return jnp.deg2rad(floating(x))


@op("Rad2Deg", classes=(), method="rad2deg", samples=unary(), elementwise=True)
def rad2deg(x: Any) -> Any:
    """Radians to degrees.

    Example:
        >>> print(rad2deg(Tensor([0.0])))
        [0.]
    """
    return jnp.rad2deg(floating(x))


@op(
    "NanToNum",
    init="nan=0.0, posinf=None, neginf=None",
    method="nan_to_num",
    samples=one(A, nan=0.0, posinf=None, neginf=None),
)
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

    Example:
        >>> print(nan_to_num(Tensor([float("nan"), 1.0])))
        [0. 1.]
    """
    return jnp.nan_to_num(input, nan=0.0 if nan is None else nan, posinf=posinf, neginf=neginf)


@op("Frexp", classes=(), multiple=True, no_gradient="splits the representation", samples=unary(), elementwise=True)
def frexp(input: Any) -> Any:
    """Mantissa in [0.5, 1) and exponent of each element.

    Example:
        >>> mantissa, exponent = frexp(Tensor([4.0]))
        >>> print(mantissa, exponent)
        [0.5] [3]
    """
    return tuple(jnp.frexp(floating(input)))


# -- complex numbers -----------------------------------------------------------------------------------------

_COMPLEX = A.astype(np.complex64) + 1j * POSITIVE


@op("Real", method="real", samples=one(_COMPLEX, differentiable=False), elementwise=True)
def real(input: Any) -> Any:
    """Real part of each element.

    Example:
        >>> print(real(Tensor([1 + 2j])))
        [1.]
    """
    return jnp.real(input)


@op("Imag", method="imag", samples=one(_COMPLEX, differentiable=False), elementwise=True)
def imag(input: Any) -> Any:
    """Imaginary part of each element.

    Example:
        >>> print(imag(Tensor([1 + 2j])))
        [2.]
    """
    return jnp.imag(input)


@op("Conj", method="conj", samples=one(_COMPLEX, differentiable=False), elementwise=True)
def conj(input: Any) -> Any:
    """Complex conjugate of each element.

    Example:
        >>> print(conj(Tensor([1 + 2j])))
        [1.-2.j]
    """
    return jnp.conj(input)


@op("Angle", method="angle", samples=one(_COMPLEX, differentiable=False), elementwise=True)
def angle(input: Any) -> Any:
    """Angle of each complex element, in radians.

    Example:
        >>> print(angle(Tensor([1 + 0j])))
        [0.]
    """
    return jnp.angle(input)


@op("Complex", classes=("Complex",), samples=one(A, POSITIVE, differentiable=False), elementwise=True)
def make_complex(real: Any, imag: Any) -> Any:
    """Complex numbers of real and imaginary parts."""
    return lax.complex(floating(real), floating(imag))


def polar(abs: Any, angle: Any) -> Any:
    """Complex numbers of magnitudes and angles.

    Example:
        >>> print(polar(Tensor([2.0]), Tensor([0.0])))
        [2.+0.j]
    """
    return make_complex(abs * angle.cos(), abs * angle.sin())


def view_as_complex(input: Any) -> Any:
    """A real tensor whose last dimension holds real and imaginary part as a complex one.

    Example:
        >>> print(view_as_complex(Tensor([[1.0, 2.0]])))
        [1.+2.j]
    """
    if not input.shape or input.shape[-1] != 2:
        raise ValueError(f"view_as_complex: the last dimension must have size 2, not shape {input.shape}")
    return make_complex(input[..., 0], input[..., 1])


def is_complex(input: Any) -> bool:
    """Whether the element type is complex.

    Example:
        >>> is_complex(Tensor([1.0]))
        False
    """
    return bool(input.dtype.category == 3)


def is_floating_point(input: Any) -> bool:
    """Whether the element type is floating point.

    Example:
        >>> is_floating_point(Tensor([1.0]))
        True
    """
    return bool(input.dtype.is_floating)


def inv(x: Any) -> Any:
    """One divided by each element, in the type of the tensor: those of integers are rounded toward zero.

    Example:
        >>> print(inv(Tensor([4.0])))
        [0.25]
    """
    return typed_div(1, x)


absolute = abs
fix = trunc

operator_class("Inv", inv)
operator_class("Round", round)
operator_class("Polar", polar)
