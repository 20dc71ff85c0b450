"""Samples of the primitives of `weft.autodiff.perhaps`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tests.ops.samples.values import Sample


def _float(*values: float) -> Any:
    return np.array(values, np.float32)


def _samples(*values: Any) -> list[Sample]:
    return [Sample(values, vmap=False)]


SAMPLES: Final[dict[str, list[Sample]]] = {
    "GateGradient": _samples(np.array(True), _float(1.5, -2.0)),
    "JoinGradients": _samples(np.array(True), _float(1.5, -2.0), np.array(True), _float(0.5, 3.0)),
}
