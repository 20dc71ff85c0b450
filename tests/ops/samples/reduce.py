"""Samples of the primitives of `weft.ops.reduce`."""

from __future__ import annotations

from typing import Any, Final

from tests.ops.samples.values import FLAGS, INTEGERS, POSITIVE, A, Sample
from weft import dtypes


def _samples(*extra: Any) -> Sample:
    return [
        Sample((A,), {"axis": (), "keep_dims": False}),
        Sample((A,), {"axis": 1, "keep_dims": False}),
        Sample((A,), {"axis": (0, -1), "keep_dims": True}),
        *[Sample((x,), {"axis": 0, "keep_dims": False}, False) for x in extra],
    ]


def _arg_samples() -> list[Sample]:
    return [
        Sample((A,), {"axis": 1, "output_type": dtypes.int64}),
        Sample((A,), {"axis": -2, "output_type": dtypes.int32}),
    ]


def _with_value_samples() -> list[Sample]:
    return [Sample((A,), {"axis": 0, "keep_dims": False}), Sample((A,), {"axis": -1, "keep_dims": True})]


SAMPLES: Final[dict[str, list[Sample]]] = {
    **dict.fromkeys(("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd"), _samples(INTEGERS)),
    "ReduceAll": _samples(FLAGS),
    "ReduceAny": _samples(FLAGS),
    "SumOfPowers": [
        Sample((A,), {"order": 3.0}),
        Sample((A,), {"order": 0.5, "axis": (1,)}),
        Sample((A,), {"order": 2.0, "axis": (0,)}),
    ],
    "NormRoot": [Sample((POSITIVE,), {"order": p}) for p in (2.0, 3.0)],
    "Argmax": _arg_samples(),
    "Argmin": _arg_samples(),
    "ArgMaxWithValue": _with_value_samples(),
    "ArgMinWithValue": _with_value_samples(),
}
