"""Samples of the primitives of `weft.ops.sorting`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import INTEGERS, A, Sample
from weft import dtypes


def _sort_samples() -> list[Sample]:
    return [Sample((A,), {"axis": -1, "descending": False}), Sample((A,), {"axis": 0, "descending": True})]


SAMPLES: Final[dict[str, list[Sample]]] = {
    "Sort": _sort_samples(),
    "ArgSort": _sort_samples(),
    "TopK": [Sample((A,), {"k": 2, "largest": True}), Sample((A,), {"k": 1, "largest": False})],
    "SearchSorted": [
        Sample((np.array([1.0, 2.0, 4.0], np.float32), A), {"right": False, "dtype": dtypes.int64}, vmap=False)
    ],
    "MaskedScatter": [Sample((A, A > 0, A * 3))],
    "UniqueWithPad": [Sample((np.array([5, 2, 5, 1], np.int32), np.int32(0)))],
    "Histc": [Sample((A,), {"bins": 4, "min": -2.0, "max": 3.0}, vmap=False)],
    "Mode": [Sample((INTEGERS,), {"dim": 1, "keepdim": False}, False)],
}
