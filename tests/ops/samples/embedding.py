"""Samples of the primitives of `weft.ops.embedding`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import Sample


def _one_hot_samples() -> list[Sample]:
    on, off = np.array(2.0, np.float32), np.array(-1.0, np.float32)
    return [Sample((np.array([[0, 2], [1, 5]]), on, off), {"depth": 3, "axis": -1})]


def _embedding_samples() -> list[Sample]:
    table = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32)
    return [Sample((np.array([[0, 2], [1, 1]]), table), {"padding_idx": None, "offset": 0}, vmap=False)]


SAMPLES: Final[dict[str, list[Sample]]] = {
    "OneHotValues": _one_hot_samples(),
    "EmbeddingRows": _embedding_samples(),
    "ClipRows": [Sample((np.array([[3.0, 4.0], [0.3, 0.4]], np.float32),), {"max_norm": 1.0})],
}
