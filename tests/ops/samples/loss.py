"""Samples of the primitives of `weft.ops.loss`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import Sample

_A = np.array([[0.5, -1.25, 2.0], [1.5, 0.25, -0.75]], np.float32)
_B = np.array([[0.25, 1.0, -0.5], [-1.0, 0.75, 2.5]], np.float32)
_P = np.array([[0.2, 0.7, 0.6], [0.1, 0.8, 0.4]], np.float32)
_Q = np.array([[0.3, 0.5, 0.9], [0.2, 0.6, 0.3]], np.float32)
_CLASSES = np.array([2, 0])


def _cross_entropy_samples() -> list[Sample]:
    weight = np.array([1.0, 2.0, 0.5], np.float32)
    return [
        Sample((_A, _CLASSES, None)),
        Sample((_A, _CLASSES, weight), {"label_smoothing": 0.25, "ignore_index": 0}, vmap=False),
        Sample((_A, _P, weight), {"reduction": "sum"}, vmap=False),
        Sample((_A[..., None] * np.ones(2, np.float32), _CLASSES[:, None] * np.ones(2, np.int64), None), vmap=False),
    ]


SAMPLES: Final[dict[str, list[Sample]]] = {
    "MSELoss": [Sample((_A, _B))],
    "L1Loss": [Sample((_A, _B))],
    "SmoothL1Loss": [Sample((_A, _B))],
    "HuberLoss": [Sample((_A, _B))],
    "BinaryCrossEntropyLoss": [Sample((_P, _Q, None)), Sample((_P, _Q, np.abs(_A)))],
    "BCEWithLogits": [Sample((_A, _Q, None, None)), Sample((_A, _Q, _P, np.abs(_B)))],
    "KLDivLoss": [Sample((_A, _Q))],
    "NegativeLogLikelihood": [
        Sample((_A, _CLASSES, None), {"ignore_index": -100}),
        Sample((_A, _CLASSES, np.array([1.0, 2.0, 0.5], np.float32)), {"label_smoothing": 0.25}, vmap=False),
    ],
    "NLLLossWithWeight": [
        Sample(
            (_A, _CLASSES, np.array([1.0, 2.0, 0.5], np.float32)),
            {"reduction": "mean", "ignore_index": -100},
            vmap=False,
        )
    ],
    "CrossEntropy": _cross_entropy_samples(),
    "CrossEntropyGrad": [
        Sample((_A, _CLASSES, np.array(0.5, np.float32)), {"ignore_index": 0, "reduction": "mean"}),
        Sample((_A, _CLASSES, np.array([0.5, 2.0], np.float32)), {"ignore_index": -1, "reduction": "none"}),
    ],
    "CrossEntropyGeneralGrad": [
        Sample(
            (_A, _P, np.array([1.0, 2.0, 0.5], np.float32), np.array(0.5, np.float32)),
            {"ignore_index": -100, "reduction": "mean", "label_smoothing": 0.25},
            vmap=False,
        )
    ],
    "SoftmaxCrossEntropyWithLogits": [Sample((_A, _P))],
    "SigmoidCrossEntropyWithLogits": [Sample((_A, _P))],
    "CosineEmbeddingLoss": [Sample((_A, _B, np.array([1, -1])))],
    "MarginRankingLoss": [Sample((_A, _B, np.sign(_B)))],
    "HingeEmbeddingLoss": [Sample((_A, np.sign(_B).astype(np.int32)))],
    "SoftMarginLoss": [Sample((_A, np.sign(_B)))],
    "TripletMargin": [Sample((_A, _B, _P))],
    "GaussianNLL": [Sample((_A, _B, _P))],
}
