"""Boxes: how much they overlap, their coding relative to anchors, suppression, sampling, regions of feature maps.

A box is ``(x1, y1, x2, y2)``. Where corners are pixels, a box from 0 to 9 is 10 wide.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp

from weft.core import Tensor, check_bounds, described, op, operator_class, shows
from weft.ops._checks import one_of
from weft.ops.random import _key_of, _random

__all__ = [
    "bounding_box_decode", "bounding_box_encode", "check_valid", "iou", "nms_with_mask", "random_choice_with_mask",
    "roi_align",
]  # fmt: skip

_CODING_INIT = "means=(0.0, 0.0, 0.0, 0.0), stds=(1.0, 1.0, 1.0, 1.0)"
_CODING = described(
    anchor_box="(N, 4), corners as pixels.",
    means="of the four numbers, which encoding takes away.",
    stds="of the four numbers, which encoding divides by.",
    returns="Tensor: (N, 4).",
)


def _check_boxes(name: str, columns: int, **given: Any) -> None:
    for what, boxes in given.items():
        if boxes.ndim != 2 or boxes.shape[1] != columns:
            raise ValueError(f"{name}: {what} must have the shape (N, {columns}), not {tuple(boxes.shape)}")


def _pixels(boxes: Any) -> tuple[Any, Any, Any, Any]:
    """Centres, widths and heights of boxes whose corners are pixels."""
    width, height = boxes[:, 2] - boxes[:, 0] + 1, boxes[:, 3] - boxes[:, 1] + 1
    return (boxes[:, 0] + boxes[:, 2]) / 2, (boxes[:, 1] + boxes[:, 3]) / 2, width, height


def _overlaps(first: Any, second: Any, extra: float) -> tuple[Any, Any, Any]:
    """Areas of the intersections of each two boxes, of the first boxes and of the second ones."""
    low = jnp.maximum(first[:, None, :2], second[None, :, :2])
    high = jnp.minimum(first[:, None, 2:4], second[None, :, 2:4])
    size = jnp.maximum(high - low + extra, 0)
    areas = [(b[:, 2] - b[:, 0] + extra) * (b[:, 3] - b[:, 1] + extra) for b in (first, second)]
    return size[..., 0] * size[..., 1], areas[0][:, None], areas[1][None, :]


@op("IOU", init="mode='iou'")
@shows("iou(Tensor([[0.0, 0.0, 1.0, 1.0]]), Tensor([[0.0, 0.0, 1.0, 3.0]]))", "[[0.5]]")
def iou(anchor_boxes: Any, gt_boxes: Any, *, mode: str = "iou") -> Any:
    """How much each two boxes overlap.

    Args:
        anchor_boxes: (N, 4), corners as pixels.
        gt_boxes: (M, 4).
        mode: ``"iou"``: the intersection as a part of the union; ``"iof"``: as a part of the box of `gt_boxes`.

    Returns:
        Tensor: (M, N).

    Raises:
        KeyError: there is no such mode.
    """
    _check_boxes("iou", 4, anchor_boxes=anchor_boxes, gt_boxes=gt_boxes)
    if mode not in ("iou", "iof"):
        raise KeyError(f"iou: mode must be 'iou' or 'iof', not {mode!r}")
    both, truth, anchors = _overlaps(gt_boxes, anchor_boxes, 1)
    return both / (truth + anchors - both if mode == "iou" else truth)


@op("BoundingBoxEncode", init=_CODING_INIT, describe=_CODING)
@shows("bounding_box_encode(Tensor([[0.0, 0.0, 1.0, 1.0]]), Tensor([[1.0, 0.0, 2.0, 1.0]]))", "[[0.5 0.  0.  0. ]]")
def bounding_box_encode(
    anchor_box: Any,
    groundtruth_box: Any,
    *,
    means: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0),
    stds: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0),
) -> Any:
    """Boxes relative to anchors: offsets of centres, and logarithms of sizes.

    Args:
        groundtruth_box: (N, 4).
    """
    _check_boxes("bounding_box_encode", 4, anchor_box=anchor_box, groundtruth_box=groundtruth_box)
    x, y, width, height = _pixels(anchor_box)
    to_x, to_y, to_width, to_height = _pixels(groundtruth_box)
    found = [(to_x - x) / width, (to_y - y) / height, jnp.log(to_width / width), jnp.log(to_height / height)]
    return jnp.stack([(d - mean) / std for d, mean, std in zip(found, means, stds, strict=True)], -1)


@op("BoundingBoxDecode", init=f"max_shape, {_CODING_INIT}, wh_ratio_clip=0.016", describe=_CODING)
@shows("bounding_box_decode(Tensor([[0.0, 0.0, 1.0, 1.0]]), Tensor([[0.5, 0.0, 0.0, 0.0]]), (9, 9))", "[[1. 0. 2. 1.]]")
def bounding_box_decode(
    anchor_box: Any,
    deltas: Any,
    *,
    max_shape: tuple[int, ...],
    means: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0),
    stds: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0),
    wh_ratio_clip: float = 0.016,
) -> Any:
    """Boxes from what `bounding_box_encode` gives.

    Args:
        deltas: (N, 4).
        max_shape: height and width of the image, to which boxes are cut.
        wh_ratio_clip: the least ratio of sizes; its inverse is the largest.
    """
    _check_boxes("bounding_box_decode", 4, anchor_box=anchor_box, deltas=deltas)
    if len(max_shape) != 2:
        raise ValueError(f"bounding_box_decode: max_shape must be (height, width), not {max_shape}")
    dx, dy, dw, dh = [deltas[:, i] * stds[i] + means[i] for i in range(4)]
    most = abs(math.log(wh_ratio_clip))
    x, y, width, height = _pixels(anchor_box)
    x, y = x + width * dx, y + height * dy
    width, height = width * jnp.exp(jnp.clip(dw, -most, most)), height * jnp.exp(jnp.clip(dh, -most, most))
    corners = [x - width / 2 + 0.5, y - height / 2 + 0.5, x + width / 2 - 0.5, y + height / 2 - 0.5]
    rows, columns = max_shape
    return jnp.clip(jnp.stack(corners, -1), 0, jnp.asarray([columns, rows, columns, rows], anchor_box.dtype))


@op("CheckValid", no_gradient="bool result")
@shows("check_valid(Tensor([[0.0, 0.0, 4.0, 4.0]]), Tensor([5.0, 5.0, 1.0]))", "[ True]")
def check_valid(bboxes: Any, img_metas: Any) -> Any:
    """Whether boxes are in an image.

    Args:
        bboxes: (N, 4), corners as pixels.
        img_metas: height and width of the image, and a ratio of which both are multiplied.

    Returns:
        Tensor: (N,), bools.
    """
    _check_boxes("check_valid", 4, bboxes=bboxes)
    if img_metas.shape != (3,):
        raise ValueError(f"check_valid: img_metas must have the shape (3,), not {tuple(img_metas.shape)}")
    rows, columns = img_metas[0] * img_metas[2], img_metas[1] * img_metas[2]
    inside = (bboxes[:, 0] >= 0) & (bboxes[:, 1] >= 0)
    return inside & (bboxes[:, 2] <= columns - 1) & (bboxes[:, 3] <= rows - 1)


@op("NMSWithMask", init="iou_threshold=0.5", multiple=True, no_gradient="a choice of boxes")
@shows("nms_with_mask(Tensor([[0.0, 0.0, 2.0, 2.0, 0.5], [0.0, 0.0, 2.0, 2.0, 0.75]]))[2]", "[ True False]")
def nms_with_mask(bboxes: Any, *, iou_threshold: float = 0.5) -> Any:
    """Suppress boxes that overlap with one of a higher score.

    Args:
        bboxes: (N, 5), corners and score.
        iou_threshold: boxes overlap if the intersection is a larger part of the union.

    Returns:
        tuple: the boxes by falling score, their numbers in this order, and whether each stays.
    """
    _check_boxes("nms_with_mask", 5, bboxes=bboxes)
    ordered = bboxes[jnp.argsort(bboxes[:, 4])[::-1]]
    both, first, second = _overlaps(ordered, ordered, 0)
    overlap = both > iou_threshold * (first + second - both)
    count = bboxes.shape[0]
    later = jnp.arange(count)

    def suppress(number: Any, kept: Any) -> Any:
        return kept & ~(kept[number] & overlap[number] & (later > number))

    kept = jax.lax.fori_loop(0, count, suppress, jnp.ones(count, bool))
    return ordered, jnp.arange(count, dtype=jnp.int32), kept


@_random("ChoiceWithMask")
def _choice(key: Any, mask: Any, *, count: int) -> Any:
    """Flat positions of chosen elements that are true, in random order; -1 where there are not enough."""
    flat = mask.reshape(-1)
    order = jnp.argsort(jnp.where(flat, jax.random.uniform(key, flat.shape), 2.0))[:count]
    chosen = jnp.where(flat[order], order, -1)
    return jnp.pad(chosen, (0, count - chosen.shape[0]), constant_values=-1)


def random_choice_with_mask(input_x: Tensor, count: int = 256, seed: int = 0, seed2: int = 0) -> Any:
    """Choose elements that are true at random, each at most once.

    Args:
        input_x: bools.
        count: how many.
        seed: of a stream of its own; 0 takes from the stream of all operations.
        seed2: a second one.

    Returns:
        tuple: positions (count, dimensions), and whether there is an element: zeros and False where there are not
        enough.

    Example:
        >>> position, found = random_choice_with_mask(Tensor([False, True]), 2)
        >>> print(position[0], found)
        [1] [ True False]
    """
    if not 1 <= input_x.ndim <= 5:
        raise ValueError(f"random_choice_with_mask takes 1 to 5 dimensions, not the shape {input_x.shape}")
    if count < 1:
        raise ValueError(f"random_choice_with_mask: count must be positive, not {count}")
    chosen = _choice(_key_of(seed, seed2), input_x.astype("bool"), count=count)
    return _positions(chosen, shape=input_x.shape)


@op("Positions", classes=(), multiple=True, no_gradient="integer result")
def _positions(flat: Any, *, shape: tuple[int, ...]) -> Any:
    """Positions in a shape of flat ones, and whether they are at least 0."""
    position = jnp.stack(jnp.unravel_index(jnp.maximum(flat, 0), shape), -1)
    return position.astype(jnp.int32), flat >= 0


def _image_bounds(features: Any, rois: Any, *_: Any) -> None:
    """Refuse regions of images that are not there."""
    if isinstance(rois, Tensor) and rois.ndim == 2 and rois.shape[1] == 5:
        check_bounds(rois[:, 0].astype("int64"), features.shape[0], "roi_align: there is no image {}", least=0)


@op("ROIAlign", init="pooled_height, pooled_width, spatial_scale, sample_num=2, roi_end_mode=1", bounds=_image_bounds)
def roi_align(
    features: Any,
    rois: Any,
    *,
    pooled_height: int,
    pooled_width: int,
    spatial_scale: float,
    sample_num: int = 2,
    roi_end_mode: int = 1,
) -> Any:
    """Regions of feature maps at one size: each cell is the mean of points, which are interpolated.

    Regions have no gradient.

    Args:
        features: (N, C, H, W).
        rois: (R, 5): the number of the image, and a box in it.
        pooled_height: rows of the result.
        pooled_width: columns of the result.
        spatial_scale: of the boxes to the feature map.
        sample_num: points a cell in each direction.
        roi_end_mode: 1: corners are pixels; 0: they are points, and a region is at least 1 wide.

    Returns:
        Tensor: (R, C, pooled_height, pooled_width).

    Raises:
        ValueError: a shape or number is not allowed.
        IndexError: there is no such image.

    Example:
        >>> print(roi_align(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), Tensor([[0.0, 0.0, 0.0, 1.0, 1.0]]), 1, 1, 1.0, 1))
        [[[[4.]]]]
    """
    if features.ndim != 4:
        raise ValueError(f"roi_align: features must have the shape (N, C, H, W), not {tuple(features.shape)}")
    _check_boxes("roi_align", 5, rois=rois)
    for what, value in (("pooled_height", pooled_height), ("pooled_width", pooled_width), ("sample_num", sample_num)):
        if value < 1:
            raise ValueError(f"roi_align: {what} must be positive, not {value}")
    one_of("roi_align", (0, 1), roi_end_mode=roi_end_mode)
    rois = jax.lax.stop_gradient(rois)
    image = rois[:, 0].astype(jnp.int32)
    start = rois[:, 1:3] * spatial_scale
    size = (rois[:, 3:5] + roi_end_mode) * spatial_scale - start
    if roi_end_mode == 0:
        size = jnp.maximum(size, 1)
    weights = [
        _weights(start[:, axis], size[:, axis], cells, sample_num, length).astype(features.dtype)
        for axis, cells, length in ((1, pooled_height, features.shape[2]), (0, pooled_width, features.shape[3]))
    ]
    return jnp.einsum("rchw,rph,rqw->rcpq", features[image], *weights, precision="highest")


def _weights(start: Any, size: Any, cells: int, points: int, length: int) -> Any:
    """What each position along an axis counts for each cell of a region: (R, cells, length)."""
    steps = (jnp.arange(cells * points) + 0.5) / (cells * points)
    at = start[:, None] + size[:, None] * steps.astype(start.dtype)
    inside = (at >= -1) & (at <= length)
    at = jnp.clip(at, 0, length - 1)[..., None]
    near = jnp.maximum(1 - jnp.abs(at - jnp.arange(length)), 0) * inside[..., None]
    return near.reshape(start.shape[0], cells, points, length).mean(2)


operator_class("RandomChoiceWithMask", random_choice_with_mask, "count=256, seed=0, seed2=0")
