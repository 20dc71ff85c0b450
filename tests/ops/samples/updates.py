"""Samples of the primitives of `weft.ops.updates`."""

from __future__ import annotations

import re
from typing import Any, Final

import numpy as np

from tests.ops.samples.values import Sample
from weft.core.operators import OPERATOR_CLASSES
from weft.core.primitive import Primitive

#: operands that are one number, and a value of each
_NUMBERS: Final[dict[str, float]] = {
    "lr": 0.1, "alpha": 0.1, "rho": 0.9, "decay": 0.9, "momentum": 0.5, "epsilon": 1e-3, "beta1": 0.9, "beta2": 0.75,
    "beta1_power": 0.5, "beta2_power": 0.25, "l1": 0.01, "l2": 0.1, "lr_power": -0.5, "sign_decay": 0.9, "beta": 0.9,
    "logbase": 1.5, "global_step": 2, "weight_decay": 0.01, "loss_scale": 2.0,
}  # fmt: skip
_SETTINGS: Final[dict[str, Any]] = {"use_nesterov": True, "update_slots": True, "l2_shrinkage": 0.1} | _NUMBERS


def step_of(primitive: Primitive) -> list[Sample]:
    """The sample of a step of an optimizer, whose operands are in the docstring of its class."""
    name = primitive.name.removesuffix("Step")
    found = re.search(rf"{name}\(\.\.\.\)\((.*)\)", OPERATOR_CLASSES[name].__doc__ or "")
    assert found is not None
    operands = found[1].split(", ")
    rows, some = np.array([[1.0, -2.0], [0.5, 1.5], [2.0, 1.0]], np.float32), np.array([2, 0], np.int32)
    known = {"indices": some, "grad": rows[:2] / 4 if "indices" in operands else rows / 4}
    known |= {name: np.array(value, np.float32) for name, value in _NUMBERS.items()}
    inputs = [known.get(name, rows if name in ("var", "m") else np.abs(rows)) for name in operands]
    return [Sample(tuple(inputs), {name: _SETTINGS[name] for name in primitive.attr_names}, vmap=False)]


SAMPLES: Final[dict[str, list[Sample]]] = {
    "LARSScaled": [
        Sample(
            (*[np.array([1.0, -2.0], np.float32)] * 2, *[np.array(v, np.float32) for v in (5.0, 5.0, 0.1, 0.1)]),
            {"epsilon": 1e-5, "hyperpara": 0.5, "use_clip": False},
            vmap=False,
        )
    ]
}
