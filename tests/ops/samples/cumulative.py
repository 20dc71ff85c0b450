"""Samples of the primitives of `weft.ops.cumulative`."""

from __future__ import annotations

from typing import Final

from tests.ops.samples.values import A, Sample


def _cumulative_samples() -> list[Sample]:
    return [
        Sample((A,), {"axis": 1, "exclusive": False, "reverse": False}),
        Sample((A,), {"axis": 0, "exclusive": True, "reverse": False}),
        Sample((A,), {"axis": -1, "exclusive": False, "reverse": True}),
    ]


SAMPLES: Final[dict[str, list[Sample]]] = {
    "CumSum": _cumulative_samples(),
    "CumProd": _cumulative_samples(),
    "Cummax": [Sample((A,), {"axis": 1})],
    "Cummin": [Sample((A,), {"axis": 1})],
    "LogCumSumExp": [Sample((A,), {"axis": 1})],
}
