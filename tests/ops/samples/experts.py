"""Samples of the primitives of `weft.ops.experts`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import Sample


def _samples() -> list[Sample]:
    random = np.random.default_rng(0)
    x, w = (random.standard_normal(shape).astype(np.float32) for shape in ((5, 3), (3, 3, 2)))
    return [Sample((x, w, np.array([2, 0, 2], np.int32)), {}, vmap=False)]


def _outer_samples() -> list[Sample]:
    random = np.random.default_rng(1)
    x, y = (random.standard_normal(shape).astype(np.float32) for shape in ((5, 3), (5, 2)))
    return [Sample((x, y, np.array([2, 0, 2], np.int32)), {}, vmap=False)]


SAMPLES: Final[dict[str, list[Sample]]] = {"GroupedProduct": _samples(), "GroupedOuterProduct": _outer_samples()}
