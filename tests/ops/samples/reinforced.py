"""Samples of the primitives of `weft.ops.reinforced`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import Sample


def _samples() -> list[Sample]:
    random = np.random.default_rng(0)
    reward, last = (random.standard_normal(shape).astype(np.float32) for shape in ((4, 2, 3), (2, 3)))
    done = np.array([[0, 1], [0, 0], [1, 0], [0, 0]], bool)
    return [Sample((reward, done, last), {"gamma": 0.9}, vmap=False)]


SAMPLES: Final[dict[str, list[Sample]]] = {"RewardsToCome": _samples()}
