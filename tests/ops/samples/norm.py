"""Samples of the primitives of `weft.ops.norm`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tests.ops.samples.values import Sample


def _channel_samples(extra: int, **attrs: Any) -> list[Sample]:
    generator = np.random.default_rng(0)
    x = generator.standard_normal((3, 2, 2, 2)).astype(np.float32)
    rest = [generator.uniform(0.5, 1.5, 2).astype(np.float32) for _ in range(extra)]
    return [Sample((x, *rest), attrs)]


def _batch_norm_grad_samples() -> list[Sample]:
    generator = np.random.default_rng(1)
    x, dy = (generator.standard_normal((3, 2, 2, 2)).astype(np.float32) for _ in range(2))
    vectors = [generator.uniform(0.5, 1.5, 2).astype(np.float32) for _ in range(7)]
    return [Sample((x, *vectors[:4], dy, *vectors[4:]), {"data_format": "NCHW"})]


_PAIR = np.array([1.0, -3.0], np.float32)


def _layer_samples() -> list[Sample]:
    generator = np.random.default_rng(0)
    x = generator.standard_normal((2, 3, 4)).astype(np.float32)
    gamma, beta = (generator.standard_normal(4).astype(np.float32) for _ in range(2))
    return [Sample((x, gamma, beta), {"begin": 2, "params": 2, "epsilon": 1e-5}, vmap=False)]


def _rms_samples() -> list[Sample]:
    x = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]], np.float32)
    return [Sample((x, np.array([1.0, 0.5, 2.0], np.float32)), vmap=False)]


SAMPLES: Final[dict[str, list[Sample]]] = {
    "BatchNormGrad": _batch_norm_grad_samples(),
    "BatchNormTraining": _channel_samples(2, epsilon=1e-5, data_format="NCHW"),
    "BatchNormInference": _channel_samples(4, epsilon=1e-5, data_format="NCHW"),
    "MoveTowards": [Sample((_PAIR, _PAIR[::-1].copy(), np.array(1.5)), {"momentum": 0.25})],
    "Detach": [Sample((_PAIR,))],
    "LayerNormalization": _layer_samples(),
    "GroupNormalization": _channel_samples(2, num_groups=1, eps=1e-5),
    "RmsNorm": _rms_samples(),
    "L2Normalize": [Sample((np.array([[3.0, 4.0], [1.0, -2.0]], np.float32),), {"axis": 1}, vmap=False)],
    "LRN": _channel_samples(0),
}
