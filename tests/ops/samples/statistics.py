"""Samples of the primitives of `weft.ops.statistics`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import INTEGERS, A, Sample
from weft import dtypes


def _ddof_samples() -> list[Sample]:
    return [
        Sample((A,), {"axis": None, "ddof": 0, "keepdims": False}),
        Sample((A,), {"axis": 1, "ddof": 1, "keepdims": True}),
    ]


def _norm_samples() -> list[Sample]:
    return [
        Sample((A,), {"ord": 2.0, "dim": 1, "keepdim": False}),
        Sample((A,), {"ord": None, "dim": None, "keepdim": False}),
        Sample((A,), {"ord": 1.0, "dim": (0,), "keepdim": True}),
    ]


SAMPLES: Final[dict[str, list[Sample]]] = {
    "Variance": _ddof_samples(),
    "LogSumExp": [Sample((A,), {"dim": 1, "keepdim": False}), Sample((A,), {"dim": None, "keepdim": True})],
    "Median": [Sample((A,), {"global_median": False, "axis": 1, "keep_dims": False})],
    "Quantile": [Sample((A, np.float32(0.3)), {"axis": 1, "keepdims": False, "ignore_nan": False})],
    "NanMedian": [Sample((A,), {"axis": 1, "keepdims": False})],
    "Norm": _norm_samples(),
    "CountNonZero": [Sample((INTEGERS,), {"axis": (0,), "keep_dims": False, "dtype": dtypes.int32})],
}
