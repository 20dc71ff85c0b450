"""Trigonometric and hyperbolic functions, and special functions of each element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from weft import lazily
from weft.core.declare import op
from weft.ops._rules import floating
from weft.ops._samples import POSITIVE, one, positive, unary, unit
from weft.ops.binary import atan2
from weft.ops.math import mul, neg

if TYPE_CHECKING:
    from jax.scipy import special
else:
    special = lazily.deferred("jax.scipy.special")

__all__ = [
    "acos", "acosh", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "asin", "asinh",
    "atan", "atanh", "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "cos", "cosh", "digamma", "erf", "erfc",
    "erfinv", "gammaln", "i0", "igamma", "igammac", "lgamma", "mvlgamma", "polygamma", "sin", "sinc", "sinh", "tan",
    "zeta",
]  # fmt: skip

_ABOVE_ONE = POSITIVE + 1


@op("Sin", method="sin", gradient=lambda x, out, dout: (mul(dout, cos(x)),), samples=unary(), elementwise=True)
def sin(input: Any) -> Any:
    """Sine of each element (radians).

    Example:
        >>> print(sin(Tensor([0.0])))
        [0.]
    """
    return jnp.sin(floating(input))


@op("Cos", method="cos", gradient=lambda x, out, dout: (neg(mul(dout, sin(x))),), samples=unary(), elementwise=True)
def cos(input: Any) -> Any:
    """Cosine of each element (radians).

    Example:
        >>> print(cos(Tensor([0.0])))
        [1.]
    """
    return jnp.cos(floating(input))


@op("Tan", method="tan", samples=unit(), elementwise=True)
def tan(input: Any) -> Any:
    """Tangent of each element (radians).

    Example:
        >>> print(tan(Tensor([0.0])))
        [0.]
    """
    return jnp.tan(floating(input))


@op("Asin", method=("asin", "arcsin"), samples=unit(), elementwise=True)
def asin(input: Any) -> Any:
    """Arcsine of each element, in radians.

    Example:
        >>> print(asin(Tensor([0.0])))
        [0.]
    """
    return jnp.arcsin(floating(input))


@op("ACos", method=("acos", "arccos"), samples=unit(), elementwise=True)
def acos(input: Any) -> Any:
    """Arccosine of each element, in radians.

    Example:
        >>> print(acos(Tensor([1.0])))
        [0.]
    """
    return jnp.arccos(floating(input))


@op("Atan", method=("atan", "arctan"), samples=unary(), elementwise=True)
def atan(input: Any) -> Any:
    """Arctangent of each element, in radians.

    Example:
        >>> print(atan(Tensor([0.0])))
        [0.]
    """
    return jnp.arctan(floating(input))


@op("Sinh", method="sinh", samples=unary(), elementwise=True)
def sinh(input: Any) -> Any:
    """Hyperbolic sine of each element.

    Example:
        >>> print(sinh(Tensor([0.0])))
        [0.]
    """
    return jnp.sinh(floating(input))


@op("Cosh", method="cosh", samples=unary(), elementwise=True)
def cosh(input: Any) -> Any:
    """Hyperbolic cosine of each element.

    Example:
        >>> print(cosh(Tensor([0.0])))
        [1.]
    """
    return jnp.cosh(floating(input))


@op("Asinh", method=("asinh", "arcsinh"), samples=unary(), elementwise=True)
def asinh(input: Any) -> Any:
    """Inverse hyperbolic sine of each element.

    Example:
        >>> print(asinh(Tensor([0.0])))
        [0.]
    """
    return jnp.arcsinh(floating(input))


@op("Acosh", method=("acosh", "arccosh"), samples=unary(_ABOVE_ONE), elementwise=True)
def acosh(input: Any) -> Any:
    """Inverse hyperbolic cosine of each element.

    Example:
        >>> print(acosh(Tensor([1.0])))
        [0.]
    """
    return jnp.arccosh(floating(input))


@op("Atanh", method=("atanh", "arctanh"), samples=unit(), elementwise=True)
def atanh(input: Any) -> Any:
    """Inverse hyperbolic tangent of each element.

    Example:
        >>> print(atanh(Tensor([0.0])))
        [0.]
    """
    return jnp.arctanh(floating(input))


@op("Sinc", method="sinc", samples=unary(), elementwise=True)
def sinc(input: Any) -> Any:
    """``sin(pi x) / (pi x)`` of each element, 1 at zero.

    Example:
        >>> print(sinc(Tensor([0.0])))
        [1.]
    """
    return jnp.sinc(floating(input))


@op("Erf", method="erf", samples=unary(), elementwise=True)
def erf(input: Any) -> Any:
    """Error function of each element.

    Example:
        >>> print(erf(Tensor([0.0])))
        [0.]
    """
    return special.erf(floating(input))


@op("Erfc", method="erfc", samples=unary(), elementwise=True)
def erfc(input: Any) -> Any:
    """Complementary error function of each element.

    Example:
        >>> print(erfc(Tensor([0.0])))
        [1.]
    """
    return special.erfc(floating(input))


@op("Erfinv", method="erfinv", samples=unit(), elementwise=True)
def erfinv(input: Any) -> Any:
    """Inverse error function of each element.

    Example:
        >>> print(erfinv(Tensor([0.0])))
        [0.]
    """
    return special.erfinv(floating(input))


@op("Lgamma", method="lgamma", samples=positive(), elementwise=True)
def lgamma(input: Any) -> Any:
    """Logarithm of the gamma function of each element.

    Example:
        >>> print(lgamma(Tensor([1.0])).round(decimals=4))
        [0.]
    """
    return special.gammaln(floating(input))


@op("Digamma", method="digamma", samples=positive(), elementwise=True)
def digamma(input: Any) -> Any:
    """Derivative of `lgamma` at each element.

    Example:
        >>> digamma(Tensor([1.0])).shape
        (1,)
    """
    return special.digamma(floating(input))


def _bessel_i0_rule(input: Any, out: Any, dout: Any) -> tuple[Any]:
    return (mul(dout, bessel_i1(input)),)


@op("BesselI0", method="i0", gradient=_bessel_i0_rule, samples=unary(), elementwise=True)
def bessel_i0(x: Any) -> Any:
    """Modified Bessel function of order 0 of each element.

    Example:
        >>> print(bessel_i0(Tensor([0.0])).round(decimals=4))
        [1.]
    """
    return special.i0(floating(x))


@op("BesselI0e", samples=unary(), elementwise=True)
def bessel_i0e(x: Any) -> Any:
    """`bessel_i0`, scaled by ``exp(-abs(x))``.

    Example:
        >>> print(bessel_i0e(Tensor([0.0])).round(decimals=4))
        [1.]
    """
    return special.i0e(floating(x))


@op("BesselI1", samples=unary(), elementwise=True)
def bessel_i1(x: Any) -> Any:
    """Modified Bessel function of order 1 of each element.

    Example:
        >>> print(bessel_i1(Tensor([0.0])))
        [0.]
    """
    return special.i1(floating(x))


@op("BesselI1e", samples=unary(), elementwise=True)
def bessel_i1e(x: Any) -> Any:
    """`bessel_i1`, scaled by ``exp(-abs(x))``.

    Example:
        >>> print(bessel_i1e(Tensor([0.0])))
        [0.]
    """
    return special.i1e(floating(x))


@op("Polygamma", classes=("Polygamma",), samples=one(np.array([1, 1, 2], np.int32), POSITIVE), elementwise=True)
def polygamma(n: Any, input: Any) -> Any:
    """Derivative of order `n` of `digamma` at each element.

    Example:
        >>> polygamma(Tensor(1), Tensor([1.0])).shape
        (1,)
    """
    input = floating(input)
    return special.polygamma(n, input)


@op("Zeta", samples=one(_ABOVE_ONE, POSITIVE), promotes=True, elementwise=True)
def zeta(input: Any, other: Any) -> Any:
    """Hurwitz zeta function.

    Example:
        >>> zeta(Tensor([2.0]), Tensor([1.0])).shape
        (1,)
    """
    return special.zeta(floating(input), floating(other))


@op("Igamma", samples=one(POSITIVE, _ABOVE_ONE, differentiable=False), promotes=True, elementwise=True)
def igamma(input: Any, other: Any) -> Any:
    """Regularised lower incomplete gamma function.

    Example:
        >>> print(igamma(Tensor([1.0]), Tensor([0.0])))
        [0.]
    """
    return special.gammainc(floating(input), floating(other))


@op("Igammac", samples=one(POSITIVE, _ABOVE_ONE, differentiable=False), promotes=True, elementwise=True)
def igammac(input: Any, other: Any) -> Any:
    """Regularised upper incomplete gamma function.

    Example:
        >>> print(igammac(Tensor([1.0]), Tensor([0.0])))
        [1.]
    """
    return special.gammaincc(floating(input), floating(other))


@op("Mvlgamma", init="p", method="mvlgamma", samples=unary(_ABOVE_ONE, p=2))
def mvlgamma(input: Any, *, p: int) -> Any:
    """Logarithm of the multivariate gamma function of dimension `p`.

    Example:
        >>> print(mvlgamma(Tensor([1.0]), 1).round(decimals=4))
        [0.]
    """
    return special.multigammaln(floating(input), p)


def gammaln(input: Any) -> Any:
    """Same as `lgamma`.

    Example:
        >>> print(gammaln(Tensor([1.0])).round(decimals=4))
        [0.]
    """
    return lgamma(input)


arccosh = acosh
arccos = acos
arcsin = asin
arcsinh = asinh
arctan = atan
arctan2 = atan2
arctanh = atanh
i0 = bessel_i0
