"""Samples of the primitives of `weft.ops.random`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tests.ops.samples.values import POSITIVE, Sample, one
from weft import dtypes

_KEY = np.asarray([3, 5], np.uint32)
#: attributes of those that have no parameters
_DRAWN: dict[str, Any] = {"shape": (2, 3), "dtype": dtypes.float32}


def _with(*operands: Any, **attrs: Any) -> list[Sample]:
    return [Sample((_KEY, *operands), attrs, False, False)]


SAMPLES: Final[dict[str, list[Sample]]] = {
    "AdvanceRandom": one(_KEY),
    "OwnKey": one(_KEY, seed=7),
    **dict.fromkeys(("StandardNormal", "UniformReal", "StandardLaplace", "TruncatedNormal"), _with(**_DRAWN)),
    "UniformInt": _with(np.int64(0), np.int64(9), shape=(4,), dtype=dtypes.int64),
    "Bernoulli": _with(np.asarray([0.5, 0.25], np.float32), shape=(2, 2)),
    "Gamma": _with(POSITIVE, shape=(2, 2, 3)),
    "Poisson": _with(POSITIVE, shape=(2, 2, 3)),
    "Categorical": _with(np.asarray([[0.0, 1.0, -1.0]], np.float32), count=4),
    "Randperm": _with(n=5),
    "Gumbel": _with(POSITIVE),
}
