"""Samples of the primitives of `weft.ops.index`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tests.ops.samples.values import A, Sample, one
from weft.ops.index import _FULL_SLICE, Spec

_ROWS = np.array([1, 0, 1])
_MIXED: Spec = (("t",), ("s", 2, None, -2))


def _get_samples() -> list[Sample]:
    return [
        Sample((A,), {"spec": (("i", 1), _FULL_SLICE)}),
        Sample((A,), {"spec": (_FULL_SLICE, ("n",), ("s", None, None, -1))}),
        Sample((A, _ROWS), {"spec": _MIXED}, vmap=False),
    ]


_WHERE_AT: dict[str, Any] = {"sizes": (1, 2), "steps": (1, 2), "shape": (2,)}

SAMPLES: Final[dict[str, list[Sample]]] = {
    "GetItem": _get_samples(),
    "LastWritten": [Sample((A, _ROWS), {"spec": _MIXED}, vmap=False)],
    "IndexSet": [
        Sample((A, np.float32(7)), {"spec": (("i", 1),)}),
        Sample((A, A[0, :2], np.array([1, 0])), {"spec": (("t",), ("s", None, 2, None))}, vmap=False),
    ],
    "IndexAdd": [Sample((A, A[:, :2][_ROWS], _ROWS), {"spec": _MIXED}, vmap=False)],
    "SliceAt": one(A, np.array([1, 0]), **_WHERE_AT),
    "UpdateAt": one(A, A[0, :2], np.array([1, 0]), **_WHERE_AT),
}
