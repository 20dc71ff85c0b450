"""Samples of the primitives of `weft.ops.binary`."""

from __future__ import annotations

from typing import Final

from tests.ops.samples.values import POSITIVE, A, B, Sample, integer_pairs, one, pairs

SAMPLES: Final[dict[str, list[Sample]]] = {
    "Xdivy": pairs(),
    "MulNoNan": pairs(),
    "Xlogy": pairs(A, POSITIVE),
    "NextAfter": pairs(differentiable=False),
    "Heaviside": pairs(differentiable=False),
    "Gcd": integer_pairs(),
    "Lcm": integer_pairs(),
    "Ldexp": pairs(),
    "Lerp": one(A, B, POSITIVE),
    "Addcdiv": one(A, A, POSITIVE, B),
    "Addcmul": one(A, A, POSITIVE, B),
}
