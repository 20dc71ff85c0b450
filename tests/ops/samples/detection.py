"""Samples of the primitives of `weft.ops.detection`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tests.ops.samples.values import Sample, one

_ANCHORS = np.array([[0, 0, 10, 10], [5, 5, 15, 20], [1, 2, 3, 4]], np.float32)
_BOXES = np.array([[1, 0, 5, 6], [6, 6, 12, 18], [2, 2, 2.5, 3]], np.float32)
_DELTAS = np.array([[0.1, -0.2, 0.3, 0.25], [-0.3, 0.2, -0.1, 0.4], [0.0, 0.1, 0.2, -0.3]], np.float32)
_CODING: dict[str, Any] = {"means": (0.0, 0.1, 0.2, 0.3), "stds": (0.5, 1.0, 0.25, 1.0)}
_SCORED = np.array([[0, 0, 10, 10, 0.6], [1, 1, 11, 11, 0.7], [20, 20, 30, 30, 0.5], [0, 0, 9, 9, 0.65]], np.float32)
_MAP = np.arange(36, dtype=np.float32).reshape(1, 1, 6, 6) / 4
_ROIS = np.array([[0, 1, 1, 8, 10], [0, 0, 2, 3, 3]], np.float32)

SAMPLES: Final[dict[str, list[Sample]]] = {
    "ChoiceWithMask": [
        Sample((np.asarray([3, 5], np.uint32), np.array([[True, False], [True, True]])), {"count": 4}, False, False)
    ],
    "IOU": [Sample((_ANCHORS, _BOXES), {"mode": m}, False) for m in ("iou", "iof")],
    "BoundingBoxEncode": one(_ANCHORS, _BOXES, **_CODING),
    "BoundingBoxDecode": one(_ANCHORS, _DELTAS, max_shape=(30, 40), wh_ratio_clip=0.016, **_CODING),
    "CheckValid": one(_ANCHORS, np.array([16, 20, 1], np.float32), differentiable=False),
    "NMSWithMask": one(_SCORED, iou_threshold=0.5, differentiable=False),
    "Positions": one(np.array([3, 0, -1]), shape=(2, 2), differentiable=False),
    "ROIAlign": [
        Sample(
            (_MAP, _ROIS),
            {"pooled_height": 2, "pooled_width": 3, "spatial_scale": 0.5, "sample_num": 2, "roi_end_mode": mode},
            False,
            False,
        )
        for mode in (0, 1)
    ],
}
