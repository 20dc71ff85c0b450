"""The digits that come with scikit-learn: 1,797 images of 8 x 8 pixels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Digits:
    """Images (N, 1, 8, 8) float32 in [0, 1] and labels (N,) int32, a fifth of them held out."""

    images: Array
    labels: Array
    test_images: Array
    test_labels: Array

    def batches(self, size: int, epochs: int, seed: int) -> Iterator[tuple[Array, Array]]:
        """Shuffled batches of equal size, epoch after epoch; the same for the same seed."""
        rng = np.random.default_rng(seed)
        for _ in range(epochs):
            order = rng.permutation(len(self.images))
            for start in range(0, len(order) - size + 1, size):
                chosen = order[start : start + size]
                yield self.images[chosen], self.labels[chosen]

    def steps(self, size: int, epochs: int) -> int:
        """How many batches `batches` yields."""
        return len(self.images) // size * epochs


def load(seed: int) -> Digits:
    """Load the digits and hold out a random fifth for the test."""
    found = load_digits()
    images = (found.images[:, None] / 16).astype(np.float32)
    labels = found.target.astype(np.int32)
    order = np.random.default_rng(seed).permutation(len(images))
    test, train = np.split(order, [len(order) // 5])
    return Digits(images[train], labels[train], images[test], labels[test])
