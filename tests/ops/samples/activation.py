"""Samples of the primitives of `weft.ops.activation`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tests.ops.samples.values import Sample

_OUT = np.array([[0.25, 0.5, 0.75], [0.125, 0.875, 0.5]], np.float32)
_DOUT = np.array([[1.0, -2.0, 0.5], [0.25, 3.0, -1.0]], np.float32)


def values() -> list[Sample]:
    x = np.array([[1.5, -2.25, 0.625], [3.5, 0.25, -0.75]], np.float32)
    return [Sample((x,)), Sample((x[0].astype(np.float16),), differentiable=False)]


def _grad_samples(**attrs: Any) -> list[Sample]:
    return [Sample((_OUT, _DOUT), attrs)]


SAMPLES: Final[dict[str, list[Sample]]] = {
    **dict.fromkeys(
        ("ReLU", "ReLU6", "Sigmoid", "Tanh", "HSwish", "HSigmoid", "Mish", "Softsign", "SiLU", "LogSigmoid"), values()
    ),
    **dict.fromkeys(("HShrink", "TanhShrink"), values()),
    "ReluGrad": _grad_samples(),
    "SigmoidGrad": _grad_samples(),
    "TanhGrad": _grad_samples(),
    "SoftmaxGrad": _grad_samples(axis=-1),
    "LogSoftmaxGrad": _grad_samples(axis=-1),
    "Gelu": values(),
    "FastGeLU": values(),
    "LeakyReLU": values(),
    "Elu": values(),
    "CeLU": values(),
    "SeLU": values(),
    "HardTanh": values(),
    "Softplus": values(),
    "SoftShrink": values(),
    "Threshold": [Sample((np.array([1.5, -2.0], np.float32),), {"thr": 0.5, "value": 9.0})],
    "PReLU": [
        Sample((np.array([[1.5, -2.0], [-0.5, 3.0]], np.float32), np.array([0.25, 0.5], np.float32)), vmap=False),
        Sample((np.array([[1.5, -2.0]], np.float32), np.array([0.25], np.float32)), vmap=False),
    ],
    "Softmax": [*values(), Sample((np.array([[1.5, -2.0], [0.5, 3.0]], np.float32),), {"axis": 0}, vmap=False)],
    "LogSoftmax": values(),
    "GLU": [Sample((np.array([[1.5, -2.0, 0.5, 3.0]], np.float32),))],
}
