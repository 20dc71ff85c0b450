"""Trigonometric and hyperbolic functions, and special functions of each element."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp

from weft import lazily
from weft.core import op, shows
from weft.ops._rows import of_floats, row
from weft.ops._rules import floating, promoted
from weft.ops.binary import atan2
from weft.ops.elementwise import exp, log, log1p
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

_row, _of_floats = partial(row, __name__), partial(of_floats, __name__)


def _special(name: str, function: str, *texts: str, **traits: Any) -> Any:
    """Declare a function of `jax.scipy.special`, which is imported when it is first called."""

    def compute(x: Any) -> Any:
        return getattr(special, function)(x)

    return _of_floats(name, compute, *texts, **traits)


sin = _of_floats("sin", jnp.sin, "Sine of each element (radians).", "[0.0]", "[0.]",
    gradient=lambda x, out, dout: (mul(dout, cos(x)),))  # fmt: skip
cos: Any = _of_floats("cos", jnp.cos, "Cosine of each element (radians).", "[0.0]", "[1.]",
    gradient=lambda x, out, dout: (neg(mul(dout, sin(x))),))  # fmt: skip
tan = _of_floats("tan", jnp.tan, "Tangent of each element (radians).", "[0.0]", "[0.]")
asin = _of_floats("asin", jnp.arcsin, "Arcsine of each element, in radians.", "[0.0]", "[0.]", also="arcsin")
acos = _of_floats("acos", jnp.arccos, "Arccosine of each element, in radians.", "[1.0]", "[0.]", primitive="ACos",
    also="arccos")  # fmt: skip
atan = _of_floats("atan", jnp.arctan, "Arctangent of each element, in radians.", "[0.0]", "[0.]", also="arctan")
sinh = _of_floats("sinh", jnp.sinh, "Hyperbolic sine of each element.", "[0.0]", "[0.]")
cosh = _of_floats("cosh", jnp.cosh, "Hyperbolic cosine of each element.", "[0.0]", "[1.]")
asinh = _of_floats("asinh", jnp.arcsinh, "Inverse hyperbolic sine of each element.", "[0.0]", "[0.]", also="arcsinh")
acosh = _of_floats("acosh", jnp.arccosh, "Inverse hyperbolic cosine of each element.", "[1.0]", "[0.]", also="arccosh")
atanh = _of_floats("atanh", jnp.arctanh, "Inverse hyperbolic tangent of each element.", "[0.0]", "[0.]", also="arctanh")
sinc = _of_floats("sinc", jnp.sinc, "``sin(pi x) / (pi x)`` of each element, 1 at zero.", "[0.0]", "[1.]")
erf = _special("erf", "erf", "Error function of each element.", "[0.0]", "[0.]")
erfc = _special("erfc", "erfc", "Complementary error function of each element.", "[0.0]", "[1.]")
erfinv = _special("erfinv", "erfinv", "Inverse error function of each element.", "[0.0]", "[0.]")
lgamma = _special("lgamma", "gammaln", "Logarithm of the gamma function of each element.", "[1.0]", "[0.]",
    then=".round(decimals=4)")  # fmt: skip
digamma = _special("digamma", "digamma", "Derivative of `lgamma` at each element.", "[1.0]", "(1,)", then=".shape")
bessel_i0 = _row("bessel_i0", lambda x: special.i0(floating(x)), "Modified Bessel function of order 0 of each element.",
    "[0.0]", "[1.]", then=".round(decimals=4)", method="i0",
    gradient=lambda x, out, dout: (mul(dout, bessel_i1(x)),))  # fmt: skip
bessel_i0e = _row("bessel_i0e", lambda x: special.i0e(floating(x)), "`bessel_i0`, scaled by ``exp(-abs(x))``.", "[0.0]",
    "[1.]", then=".round(decimals=4)", method=())  # fmt: skip
bessel_i1: Any = _row("bessel_i1", lambda x: special.i1(floating(x)),
    "Modified Bessel function of order 1 of each element.", "[0.0]", "[0.]", method=())  # fmt: skip
bessel_i1e = _row("bessel_i1e", lambda x: special.i1e(floating(x)), "`bessel_i1`, scaled by ``exp(-abs(x))``.", "[0.0]",
    "[0.]", method=())  # fmt: skip
polygamma = _row("polygamma", lambda n, input: special.polygamma(n, floating(input)),
    "Derivative of order `n` of `digamma` at each element.", "Tensor(1), [1.0]", "(1,)", then=".shape",
    method=())  # fmt: skip
zeta = _row("zeta", lambda input, other: special.zeta(floating(input), floating(other)), "Hurwitz zeta function.",
    "[2.0], [1.0]", "(1,)", then=".shape", promotes=True, method=())  # fmt: skip
igamma = _row("igamma", lambda input, other: special.gammainc(floating(input), floating(other)),
    "Regularised lower incomplete gamma function.", "[1.0], [0.0]", "[0.]", promotes=True, method=())  # fmt: skip
igammac = _row("igammac", lambda input, other: special.gammaincc(floating(input), floating(other)),
    "Regularised upper incomplete gamma function.", "[1.0], [0.0]", "[1.]", promotes=True, method=())  # fmt: skip
mvlgamma = _row("mvlgamma", lambda input, *, p: special.multigammaln(floating(input), p),
    "Logarithm of the multivariate gamma function of dimension `p`.", "[1.0], 1", "[0.]", then=".round(decimals=4)",
    init="p", elementwise=False, integers="p")  # fmt: skip


@shows("gammaln(Tensor([1.0])).round(decimals=4)", "[0.]")
def gammaln(input: Any) -> Any:
    """Same as `lgamma`."""
    return lgamma(input)


def _betainc_rule(a: Any, b: Any, x: Any, out: Any, dout: Any) -> tuple[Any, Any, Any]:
    """The derivative in the last operand; the first two are no path for gradients."""
    del out
    density = exp((a - 1) * log(x) + (b - 1) * log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b))
    return None, None, density * dout


@op("RegularizedBeta", classes="Betainc", gradient=_betainc_rule)
def _betainc(a: Any, b: Any, x: Any) -> Any:
    """The regularized incomplete beta function, elementwise."""
    if not a.shape == b.shape == x.shape:
        raise ValueError(f"Betainc: shapes {a.shape}, {b.shape} and {x.shape} differ")
    if not a.dtype == b.dtype == x.dtype:
        raise TypeError(f"Betainc: element types {a.dtype}, {b.dtype} and {x.dtype} differ")
    a, b, x = promoted(floating(a), floating(b), floating(x))
    return special.betainc(a, b, x)


arcsin, arccos, arctan, arcsinh, arccosh, arctanh = asin, acos, atan, asinh, acosh, atanh
arctan2, i0 = atan2, bessel_i0
