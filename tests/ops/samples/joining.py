"""Samples of the primitives of `weft.ops.joining`."""

from __future__ import annotations

from typing import Final

from tests.ops.samples.values import A, B, Sample, one

SAMPLES: Final[dict[str, list[Sample]]] = {
    "Concat": [Sample((A, B), {"axis": 0}), Sample((A, B), {"axis": -1})],
    "Split": [Sample((A,), {"sizes": (1, 2), "axis": 1}), Sample((A,), {"sizes": (1, 1), "axis": 0})],
    "Stack": [Sample((A, B), {"axis": 0}), Sample((A, B), {"axis": -1})],
    "Unstack": [Sample((A,), {"axis": 0, "num": 2}), Sample((A,), {"axis": -1, "num": 3})],
    "BlockDiag": one(A, B),
    "ZeroPad": one(A, before=(1, 0), after=(0, 2)),
    "Slice": [Sample((A,), {"begin": (0, 1), "size": (2, 2)}), Sample((A,), {"begin": (1, 0), "size": (-1, 1)})],
    "UnfoldWindows": one(A, dimension=1, size=2, step=1),
}
