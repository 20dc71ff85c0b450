"""Samples of the primitives of `weft.ops.distances`."""

from __future__ import annotations

from typing import Final

from tests.ops.samples.values import A, B, Sample

SAMPLES: Final[dict[str, list[Sample]]] = {
    "DistanceOfOrder": [Sample((A, B), {"p": p}) for p in (1.0, 2.0, 3.0)],
    "PairwiseDistances": [Sample((A.T.copy(),), {"p": p}) for p in (1.0, 2.0, 3.0)],
    "LengthOfVectors": [Sample((A,), {"axis": -1}), Sample((A,), {"axis": -2})],
}
