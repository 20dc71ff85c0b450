"""Samples of the primitives of `weft.ops.linear`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import Sample


def _samples() -> list[Sample]:
    x = np.array([[[1.0, -2.0, 3.0]], [[0.5, 4.0, -1.0]]], np.float32)
    w = np.array([[1.0, 0.5, -1.0], [2.0, -0.25, 0.75]], np.float32)
    return [Sample((x, w, np.array([1.0, 2.0], np.float32)), vmap=False), Sample((x[0, 0], w, None), vmap=False)]


SAMPLES: Final[dict[str, list[Sample]]] = {"Dense": _samples()}
