"""Bessel functions of order 0 and 1.

Each is an expansion in Chebyshev polynomials on both sides of a point: near zero of the function, or of what it is
besides its logarithm, and far from it of the slowly varying factors of its asymptotic form. The coefficients are
interpolated from SciPy's functions when the first one is used.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import jax.numpy as jnp
import numpy as np

from weft import lazily
from weft.core import described
from weft.ops._rows import row
from weft.ops.math import mul, sub
from weft.ops.select import where

if TYPE_CHECKING:
    from jax.scipy import special as jax_special
    from scipy import special
else:
    special, jax_special = lazily.deferred("scipy.special"), lazily.deferred("jax.scipy.special")

__all__ = [
    "bessel_j0", "bessel_j1", "bessel_k0", "bessel_k0e", "bessel_k1", "bessel_k1e", "bessel_y0", "bessel_y1",
]  # fmt: skip

#: where the asymptotic forms of the first and second kind begin, and those of the third
_FAR: Final = 8.0
_FAR_K: Final = 2.0
_DESCRIBED: Final = described(
    x="tensor of floats.", returns="Tensor: like `x`.", raises="TypeError: `x` is no tensor of floats."
)


@cache
def _coefficients(kind: str, order: int, degree: int = 30) -> Any:
    """Those of an expansion, for an argument between -1 and 1."""
    found = np.polynomial.chebyshev.chebinterpolate(lambda t: _EXPANDED[kind](t.astype(np.longdouble), order), degree)
    return np.trim_zeros(np.where(np.abs(found) < 1e-18, 0, found), "b")


def _near(t: Any, far: float) -> Any:
    """The argument whose square an expansion near zero is in, away from zero itself."""
    return (far * np.maximum(np.sqrt((t + 1) / 2), 1e-9)).astype(np.float64)


def _first_near(t: Any, order: int) -> Any:
    """A function of the first kind near zero; divided by the argument in order 1."""
    x = _near(t, _FAR)
    found = getattr(special, f"j{order}")(x)
    return found / x if order else found


def _without_log(t: Any, order: int, far: float, kind: str, beside: str, factor: float) -> Any:
    """A function of the second or third kind near zero without its logarithm; times the argument in order 1."""
    x = _near(t, far)
    logarithm = factor * np.log(x / 2) * getattr(special, f"{beside}{order}")(x)
    found = getattr(special, f"{kind}{order}")(x) - logarithm
    return x * found if order else found


def _wave(t: Any, order: int, shifted: bool) -> Any:
    """The factors of cosine and sine in the asymptotic forms: functions of ``(far / x) ** 2``."""
    x = (_FAR / np.maximum(np.sqrt((t + 1) / 2), 1e-6)).astype(np.float64)
    phase = x - (0.25 + 0.5 * order) * np.pi
    first, second = special.jv(order, x), special.yv(order, x)
    root = np.sqrt(np.pi * x / 2)
    if shifted:
        return root * (second * np.cos(phase) - first * np.sin(phase)) * x / _FAR
    return root * (first * np.cos(phase) + second * np.sin(phase))


def _scaled(t: Any, order: int) -> Any:
    """The slowly varying factor of a function of the third kind far from zero, in ``far / x``."""
    x = (_FAR_K / np.maximum((t + 1) / 2, 1e-6)).astype(np.float64)
    return np.sqrt(x) * getattr(special, f"k{order}e")(x)


_EXPANDED: Final[dict[str, Callable[[Any, int], Any]]] = {
    "j": _first_near,
    "y": lambda t, order: _without_log(t, order, _FAR, "y", "j", 2 / np.pi),
    "p": lambda t, order: _wave(t, order, False),
    "q": lambda t, order: _wave(t, order, True),
    "k": lambda t, order: _without_log(t, order, _FAR_K, "k", "i", 1 if order else -1),
    "ke": _scaled,
}


def _expanded(kind: str, order: int, t: Any) -> Any:
    """An expansion at ``t`` between -1 and 1, by Clenshaw's recurrence."""
    first, *rest = [jnp.asarray(c, t.dtype) for c in _coefficients(kind, order)]
    after = before = jnp.zeros_like(t)
    for coefficient in reversed(rest):
        after, before = 2 * t * after - before + coefficient, after
    return t * after - before + first


def _first_and_second(x: Any, order: int, second: bool) -> Any:
    """J or Y of what is not negative."""
    near = jnp.minimum(x, _FAR)
    square = 2 * jnp.square(near / _FAR) - 1
    low = _expanded("j", order, square) * (near if order else 1)
    if second:
        safe = jnp.where(near > 0, near, 1)
        beside = _expanded("y", order, square)
        low = (beside / safe if order else beside) + 2 / np.pi * jnp.log(safe / 2) * low
        low = jnp.where(near > 0, low, -jnp.inf)
    far = jnp.maximum(x, _FAR)
    ratio = _FAR / far
    t = 2 * jnp.square(ratio) - 1
    phase = far - (0.25 + 0.5 * order) * np.pi
    cosine, sine = jnp.cos(phase), jnp.sin(phase)
    p, q = _expanded("p", order, t), _expanded("q", order, t) * ratio
    wave = p * sine + q * cosine if second else p * cosine - q * sine
    high = jnp.where(jnp.isinf(far), 0, jnp.sqrt(2 / (np.pi * far)) * wave)
    return jnp.where(x <= _FAR, low, high)


def _second(x: Any, order: int) -> Any:
    """Y of what is positive; minus infinity of the rest."""
    return _first_and_second(jnp.maximum(x, 0), order, True)


def _third(x: Any, order: int, scaled: bool) -> Any:
    """K of what is positive, times ``exp(x)`` where it is scaled."""
    near = jnp.clip(x, 0, _FAR_K)
    safe = jnp.where(near > 0, near, 1)
    beside, logarithm = _expanded("k", order, 2 * jnp.square(near / _FAR_K) - 1), jnp.log(safe / 2)
    if order:
        low = beside / safe + logarithm * jax_special.i1(near)
    else:
        low = beside - logarithm * jax_special.i0(near)
    far = jnp.maximum(x, _FAR_K)
    high = _expanded("ke", order, 2 * (_FAR_K / far) - 1) / jnp.sqrt(far)
    if scaled:
        low = low * jnp.exp(near)
    else:
        high = high * jnp.exp(-far)
    return jnp.where(x > 0, jnp.where(x <= _FAR_K, low, high), jnp.inf)


def _over(numerator: Any, x: Any, at_zero: float) -> Any:
    """A quotient, and its limit where `x` is 0."""
    zero = x == 0
    return where(zero, at_zero, numerator / where(zero, 1.0, x))


def _bessel(kind: str, compute: Callable[[Any], Any], *texts: str, **traits: Any) -> Any:
    """Declare a Bessel function, see `row`; `compute` is given what is a number, in a type that is wide enough."""
    name = f"bessel_{kind}"

    def narrow(x: Any) -> Any:
        if not jnp.issubdtype(x.dtype, jnp.floating):
            raise TypeError(f"{name}: the input must be a tensor of floats, not of {x.dtype}")
        wide = x if x.dtype == jnp.float64 else x.astype(jnp.float32)
        return jnp.where(jnp.isnan(wide), wide, compute(wide)).astype(x.dtype)

    traits = {"then": ".round(decimals=4)", "method": (), "describe": _DESCRIBED, **traits}
    traits["classes"] = f"Bessel{kind.capitalize()}"
    return row(__name__, name, narrow, *texts, primitive=f"BesselFunction{kind.capitalize()}", **traits)


bessel_j0 = _bessel("j0", lambda v: _first_and_second(jnp.abs(v), 0, False),
    "The Bessel function of the first kind of order 0.", "[0.0]", "[1.]", then="",
    gradient=lambda x, out, dout: (mul(-bessel_j1(x), dout),))  # fmt: skip
bessel_j1: Any = _bessel("j1", lambda v: jnp.sign(v) * _first_and_second(jnp.abs(v), 1, False),
    "The Bessel function of the first kind of order 1.", "[0.0]", "[0.]", then="",
    gradient=lambda x, out, dout: (mul(sub(bessel_j0(x), _over(out, x, 0.5)), dout),))  # fmt: skip
bessel_y0 = _bessel("y0", lambda v: _second(v, 0),
    "The Bessel function of the second kind of order 0; minus infinity of what is not positive.", "[1.0, 2.0]",
    "[0.0883 0.5104]", gradient=lambda x, out, dout: (mul(-bessel_y1(x), dout),))  # fmt: skip
bessel_y1: Any = _bessel("y1", lambda v: _second(v, 1),
    "The Bessel function of the second kind of order 1; minus infinity of what is not positive.", "[1.0, 2.0]",
    "[-0.7812 -0.107 ]", gradient=lambda x, out, dout: (mul(sub(bessel_y0(x), out / x), dout),))  # fmt: skip
bessel_k0 = _bessel("k0", lambda v: _third(v, 0, False),
    "The modified Bessel function of the second kind of order 0; infinity of what is not positive.", "[1.0, 2.0]",
    "[0.421  0.1139]", gradient=lambda x, out, dout: (mul(-bessel_k1(x), dout),))  # fmt: skip
bessel_k0e = _bessel("k0e", lambda v: _third(v, 0, True), "`bessel_k0` times ``exp(x)``.", "[1.0, 2.0]",
    "[1.1445 0.8416]", gradient=lambda x, out, dout: (mul(sub(out, bessel_k1e(x)), dout),))  # fmt: skip
bessel_k1: Any = _bessel("k1", lambda v: _third(v, 1, False),
    "The modified Bessel function of the second kind of order 1; infinity of what is not positive.", "[1.0, 2.0]",
    "[0.6019 0.1399]", gradient=lambda x, out, dout: (mul(-(bessel_k0(x) + out / x), dout),))  # fmt: skip
bessel_k1e: Any = _bessel("k1e", lambda v: _third(v, 1, True), "`bessel_k1` times ``exp(x)``.", "[1.0, 2.0]",
    "[1.6362 1.0335]", gradient=lambda x, out, dout: (mul(out - bessel_k0e(x) - out / x, dout),))  # fmt: skip
