"""Samples of the primitives of `weft.ops.bessel`."""

from __future__ import annotations

from typing import Final

from tests.ops.samples.values import POSITIVE, Sample, unary

_OTHERS = ("Y0", "Y1", "I0", "I0e", "I1", "I1e", "K0", "K0e", "K1", "K1e")
SAMPLES: Final[dict[str, list[Sample]]] = {
    **{f"BesselFunction{kind}": unary(POSITIVE) for kind in _OTHERS},
    "BesselFunctionJ0": unary(),
    "BesselFunctionJ1": unary(),
}
