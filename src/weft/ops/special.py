"""Operator classes of special functions: Bessel functions of both kinds, and the incomplete beta function."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import jax.numpy as jnp
import jax.scipy.special
import numpy as np

from weft.core.declare import op, operator_class
from weft.core.primitive import Sample
from weft.lazily import deferred
from weft.ops._rules import floating, promoted
from weft.ops.elementwise import exp, log, log1p
from weft.ops.select import where
from weft.ops.trigonometry import lgamma

_chebyshev: Any = deferred("numpy.polynomial.chebyshev")
_scipy_special: Any = deferred("scipy.special")
#: where the functions are computed by a series, and from where on by an expansion
_BORDER: Final = 8.0
_TERMS: Final = 40


@cache
def _polynomials(kind: str) -> tuple[Any, ...]:
    """Coefficients by Chebyshev polynomials: for small arguments, and for those behind the border.

    They are fitted to values of SciPy, of what is left when the singular and oscillating factors are taken out.
    """
    special, chebinterpolate = _scipy_special, _chebyshev.chebinterpolate
    order = int(kind[1])
    j, y, i = (special.j0, special.j1)[order], (special.y0, special.y1)[order], (special.i0, special.i1)[order]
    scaled = (special.k0e, special.k1e)[order]

    def inside(t: Any) -> Any:
        x = _BORDER * np.sqrt((t + 1) / 2)
        odd = x if order else 1.0
        if kind[0] == "j":
            return j(x) / odd
        if kind[0] == "y":
            return (y(x) - 2 / np.pi * (np.log(x) * j(x) - (1 / x if order else 0))) / odd
        x = x / 4  # up to 2
        odd = x if order else 1.0
        return (scaled(x) * np.exp(-x) + (-1 if order else 1) * np.log(x) * i(x) - (1 / x if order else 0)) / odd

    def outside(t: Any) -> tuple[Any, Any]:
        x = _BORDER / np.maximum((t + 1) / 2, 1e-30) ** 0.5
        x = np.minimum(x, 1e7)
        phase = x - (2 * order + 1) * np.pi / 4
        both = (j(x) + 1j * y(x)) * np.exp(-1j * phase) * np.sqrt(np.pi * x / 2)
        return both.real, both.imag * x

    def far(t: Any) -> Any:
        x = 2 / np.maximum((t + 1) / 2, 1e-12)
        return scaled(x) * np.sqrt(x)

    near = chebinterpolate(inside, _TERMS)
    if kind[0] == "k":
        return near, chebinterpolate(far, _TERMS)
    return near, chebinterpolate(lambda t: outside(t)[0], 20), chebinterpolate(lambda t: outside(t)[1], 20)


def _series(coefficients: Any, t: Any) -> Any:
    """A sum of Chebyshev polynomials (Clenshaw)."""
    first = second = jnp.zeros_like(t)
    for c in coefficients[:0:-1]:
        first, second = 2 * t * first - second + float(c), first
    return t * first - second + float(coefficients[0])


def _oscillating(kind: str, x: Any) -> Any:
    """Bessel functions of the first and second kind, for arguments that are not negative."""
    order = int(kind[1])
    near, real, imaginary = _polynomials(kind)
    small = jnp.minimum(x, _BORDER)
    found = _series(near, 2 * jnp.square(small / _BORDER) - 1) * (small if order else 1.0)
    if kind[0] == "y":
        positive = jnp.where(small > 0, small, 1.0)
        singular = jnp.log(positive) * _oscillating(f"j{order}", positive) - (1 / positive if order else 0)
        found = jnp.where(small > 0, found + 2 / np.pi * singular, -jnp.inf)
    large = jnp.maximum(x, _BORDER)
    t = 2 * jnp.square(_BORDER / large) - 1
    p, q = _series(real, t), _series(imaginary, t) / large
    phase = large - (2 * order + 1) * np.pi / 4
    wave = p * jnp.cos(phase) - q * jnp.sin(phase) if kind[0] == "j" else p * jnp.sin(phase) + q * jnp.cos(phase)
    return jnp.where(x < _BORDER, found, wave * jnp.sqrt(2 / (np.pi * large)))


def _decaying(kind: str, x: Any) -> Any:
    """Modified Bessel functions of the second kind; those whose name ends so are multiplied by exp(x)."""
    order = int(kind[1])
    near, far = _polynomials(kind[:2])
    small = jnp.clip(x, 1e-30, 2.0)
    regular = _series(near, 2 * jnp.square(small / 2) - 1) * (small if order else 1.0)
    growing = (jax.scipy.special.i1 if order else jax.scipy.special.i0)(small)
    found = regular + (1 if order else -1) * jnp.log(small) * growing + (1 / small if order else 0)
    large = jnp.maximum(x, 2.0)
    decayed = _series(far, 2 * (2 / large) - 1) / jnp.sqrt(large)
    if kind.endswith("e"):
        result = jnp.where(x <= 2, found * jnp.exp(small), decayed)
    else:
        result = jnp.where(x <= 2, found, decayed * jnp.exp(-large))
    return jnp.where(x > 0, result, jnp.where(x == 0, jnp.inf, jnp.nan))


def _bessel_rule(x: Any, out: Any, dout: Any, *, kind: str) -> tuple[Any]:
    order = int(kind[1])
    other = _bessel(x, kind=f"{kind[0]}{1 - order}{kind[2:]}")
    if kind[0] == "k":
        slope = -other - out / x if order else -other
        slope = slope + out if kind.endswith("e") else slope
    else:
        slope = other - out / x if order else -other
    if kind == "j1":
        slope = where(x == 0, 0.5, slope)
    return (slope * dout,)


_KINDS: Final = ("j0", "j1", "y0", "y1", "k0", "k1", "k0e", "k1e")


@op(
    "BesselFunction",
    classes=(),
    gradient=_bessel_rule,
    samples=lambda: [
        Sample((np.array([0.5, 1.25, 3.0, 9.5], np.float32),), {"kind": kind}, differentiable=kind in ("j0", "j1"))
        for kind in _KINDS
    ],
)
def _bessel(x: Any, *, kind: str) -> Any:
    """A Bessel function by its letter and order."""
    if not jnp.issubdtype(x.dtype, jnp.floating):
        raise TypeError(f"Bessel functions take floats, not {x.dtype}")
    wide = x.astype(jnp.float64)
    if kind[0] == "k":
        return _decaying(kind, wide).astype(x.dtype)
    size = jnp.abs(wide)
    found = _oscillating(kind, size)
    if kind == "j1":
        found = found * jnp.where(wide < 0, -1, 1)
    elif kind[0] == "y":
        found = jnp.where(wide < 0, jnp.nan, found)
    return jnp.where(jnp.isinf(size), 0.0, found).astype(x.dtype)


def _of_kind(kind: str) -> Any:
    names = {"j": "of the first kind", "y": "of the second kind", "k": "of the second kind, modified"}

    def compute(x: Any) -> Any:
        return _bessel(x, kind=kind)

    scaled = ", multiplied by the exponential" if kind.endswith("e") else ""
    compute.__doc__ = f"The Bessel function {names[kind[0]]}, of order {kind[1]}{scaled}."
    return compute


BesselJ0, BesselJ1, BesselY0, BesselY1, BesselK0, BesselK1, BesselK0e, BesselK1e = (
    operator_class(f"Bessel{kind[0].upper()}{kind[1:]}", _of_kind(kind)) for kind in _KINDS
)


def _betainc_rule(a: Any, b: Any, x: Any, out: Any, dout: Any) -> tuple[Any, Any, Any]:
    """The derivative in the last operand; the first two are no path for gradients."""
    del out
    density = exp((a - 1) * log(x) + (b - 1) * log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b))
    return None, None, density * dout


@op(
    "RegularizedBeta",
    classes=(),
    gradient=_betainc_rule,
    samples=lambda: [
        Sample(
            (np.array([0.5, 2.0], np.float32), np.array([1.5, 3.0], np.float32), np.array([0.25, 0.75], np.float32)),
            differentiable=False,  # the first two operands are no path for gradients
        )
    ],
)
def _betainc(a: Any, b: Any, x: Any) -> Any:
    """The regularized incomplete beta function, elementwise."""
    if not a.shape == b.shape == x.shape:
        raise ValueError(f"Betainc: shapes {a.shape}, {b.shape} and {x.shape} differ")
    if not a.dtype == b.dtype == x.dtype:
        raise TypeError(f"Betainc: element types {a.dtype}, {b.dtype} and {x.dtype} differ")
    a, b, x = promoted(floating(a), floating(b), floating(x))
    return jax.scipy.special.betainc(a, b, x)


Betainc = operator_class("Betainc", _betainc)
