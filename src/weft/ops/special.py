"""Operator classes of special functions: Bessel functions of both kinds, and the incomplete beta function."""

from __future__ import annotations

from typing import Any, Final

import jax.scipy.special

from weft.core import op, operator_class
from weft.ops import bessel
from weft.ops._rules import floating, promoted
from weft.ops.elementwise import exp, log, log1p
from weft.ops.trigonometry import lgamma

_KINDS: Final = ("j0", "j1", "y0", "y1", "k0", "k1", "k0e", "k1e")


def _of_kind(kind: str) -> Any:
    names = {"j": "of the first kind", "y": "of the second kind", "k": "of the second kind, modified"}

    def compute(x: Any) -> Any:
        return getattr(bessel, f"bessel_{kind}")(x)

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


@op("RegularizedBeta", classes=(), gradient=_betainc_rule)
def _betainc(a: Any, b: Any, x: Any) -> Any:
    """The regularized incomplete beta function, elementwise."""
    if not a.shape == b.shape == x.shape:
        raise ValueError(f"Betainc: shapes {a.shape}, {b.shape} and {x.shape} differ")
    if not a.dtype == b.dtype == x.dtype:
        raise TypeError(f"Betainc: element types {a.dtype}, {b.dtype} and {x.dtype} differ")
    a, b, x = promoted(floating(a), floating(b), floating(x))
    return jax.scipy.special.betainc(a, b, x)


Betainc = operator_class("Betainc", _betainc)
