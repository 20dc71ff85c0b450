"""Samples of the primitives of `weft.ops.recurrent`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tests.ops.samples.values import Sample
from weft.ops.recurrent import GATES


def _samples() -> list[Sample]:
    generator = np.random.default_rng(0)

    def normal(*shape: int) -> Any:
        return generator.standard_normal(shape).astype(np.float32)

    found = []
    for kind, gates in GATES.items():
        c = normal(2, 3) if kind == "lstm" else None
        inputs = (
            normal(4, 2, 5), np.array([4, 2]) if kind in ("lstm", "gru") else None, normal(2, 3), c,
            normal(gates * 3, 5), normal(gates * 3, 3), normal(gates * 3), normal(gates * 3),
        )  # fmt: skip
        smooth = kind != "relu"
        found.append(Sample(inputs, {"kind": kind, "reverse": kind == "gru"}, differentiable=smooth, vmap=False))
    return found


SAMPLES: Final[dict[str, list[Sample]]] = {"RecurrentWalk": _samples()}
