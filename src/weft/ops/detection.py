"""Boxes of objects in images: overlap, coding, suppression, and the parts of features that boxes cut out."""

from __future__ import annotations

from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

from weft import dtypes
from weft.core.bounds import check_bounds
from weft.core.declare import freeze, op, operator_class
from weft.core.dispatch import apply
from weft.core.primitive import RANDOM, Primitive, Sample
from weft.core.tensor import Tensor
from weft.ops.random import key_of

__all__ = [
    "bounding_box_decode", "bounding_box_encode", "check_valid", "crop_and_resize", "iou",
]  # fmt: skip

_BOXES: Final = np.array([[1, 2, 5, 8], [0, 0, 3, 3], [2, 4, 9, 7]], np.float32)
_OTHERS: Final = np.array([[2, 1, 6, 7.5], [0, 1, 2, 4], [4, 3, 8, 9]], np.float32)


def _require(name: str, what: str, allowed: tuple[dtypes.DType, ...], *operands: Any) -> None:
    """Refuses operands of an element type that is not allowed."""
    for operand in operands:
        found = operand.dtype if isinstance(operand, Tensor) else dtypes.of_np(operand.dtype)
        if found not in allowed:
            raise TypeError(f"{name}: {what} must be one of {', '.join(map(str, allowed))}, not {found}")


def _columns(name: str, what: str, boxes: Any, count: int = 4) -> None:
    if boxes.ndim != 2 or boxes.shape[1] != count:
        raise ValueError(f"{name}: {what} must have shape (N, {count}), not {tuple(boxes.shape)}")


_HALF_OR_SINGLE: Final = (dtypes.float16, dtypes.float32)


# -- overlap ---------------------------------------------------------------------------------------------------------


def _overlap(first: Any, second: Any, edge: float) -> tuple[Any, Any, Any]:
    """The areas that pairs of boxes share, and the areas of each; a box reaches `edge` beyond its last coordinate."""
    low = jnp.maximum(first[..., :2], second[..., :2])
    high = jnp.minimum(first[..., 2:4], second[..., 2:4])
    shared = jnp.prod(jnp.maximum(high - low + edge, 0), axis=-1)
    one, other = (jnp.prod(each[..., 2:4] - each[..., :2] + edge, axis=-1) for each in (first, second))
    return shared, one, other


@op(
    "IOU",
    init="mode='iou'",
    no_gradient="zero by definition",
    samples=[Sample((_BOXES, _OTHERS[:2]), {"mode": mode}) for mode in ("iou", "iof")],
)
def iou(anchor_boxes: Any, gt_boxes: Any, *, mode: str = "iou") -> Any:
    """The share of area that each true box has in common with each anchor; sides count both end points.

    Args:
        anchor_boxes: floating tensor (N, 4), (x0, y0, x1, y1) a row.
        gt_boxes: floating tensor (M, 4).
        mode: ``"iou"`` divides by the area of the union, ``"iof"`` by that of the true box.

    Returns:
        Tensor: (M, N). It has no gradient.

    Raises:
        KeyError: `mode` is another word.
        ValueError: the shapes are others.

    Example:
        >>> print(iou(Tensor([[0.0, 0.0, 1.0, 1.0]]), Tensor([[0.0, 0.0, 1.0, 0.0], [4.0, 4.0, 5.0, 5.0]])))
        [[0.5]
         [0. ]]
    """
    if mode not in ("iou", "iof"):
        raise KeyError(f"iou: mode must be 'iou' or 'iof', not {mode!r}")
    _columns("iou", "anchor_boxes", anchor_boxes)
    _columns("iou", "gt_boxes", gt_boxes)
    _require("iou", "boxes", (*_HALF_OR_SINGLE, dtypes.float64), anchor_boxes, gt_boxes)
    if anchor_boxes.dtype != gt_boxes.dtype:
        raise TypeError(f"iou: boxes must have one type, not {anchor_boxes.dtype} and {gt_boxes.dtype}")
    exact = jnp.promote_types(anchor_boxes.dtype, jnp.float32)  # areas leave the range of float16
    shared, anchors, truths = _overlap(anchor_boxes.astype(exact), gt_boxes.astype(exact)[:, None], 1.0)
    return (shared / (truths if mode == "iof" else anchors + truths - shared)).astype(anchor_boxes.dtype)


def _suppressed(boxes: Any, *, iou_threshold: float) -> tuple[Any, Any, Any]:
    _columns("NMSWithMask", "bboxes", boxes, 5)
    boxes = boxes[jnp.argsort(-boxes[:, 4], stable=True)]
    count = boxes.shape[0]
    places = jnp.arange(count, dtype=jnp.int32)
    if not count:
        return boxes, places, jnp.ones(0, bool)
    exact = jax.lax.stop_gradient(boxes).astype(jnp.promote_types(boxes.dtype, jnp.float32))

    def keep(position: Any, kept: Any) -> Any:
        shared, one, all_ = _overlap(exact[position], exact, 0.0)
        drops = (shared / (one + all_ - shared) > iou_threshold) & (places > position)
        return kept & ~(drops & kept[position])

    return boxes, places, jax.lax.fori_loop(0, count, keep, jnp.ones(count, bool))


_SUPPRESS = Primitive(
    "NonMaximumSuppression",
    _suppressed,
    attr_names=("iou_threshold",),
    multiple=True,
    samples=[
        Sample(
            (np.concatenate([_BOXES, _OTHERS], 0)[:, [0, 1, 2, 3, 0]] + np.arange(6)[:, None] * [0, 0, 0, 0, 9.0],),
            {"iou_threshold": 0.25},
        )
    ],
)


def _suppress_operator(bboxes: Tensor, *, iou_threshold: float) -> Any:
    """Boxes by falling score, their positions, and which stay: ``NMSWithMask(iou_threshold)(bboxes)``.

    A row is (x0, y0, x1, y1, score). A box stays if it overlaps no box before it that stays by more than the
    threshold. Boxes of equal score stay in order.
    """
    if not isinstance(iou_threshold, float):
        raise TypeError(f"NMSWithMask: iou_threshold must be a float, not {type(iou_threshold).__name__}")
    _require("NMSWithMask", "bboxes", _HALF_OR_SINGLE, bboxes)
    return apply(_SUPPRESS, (bboxes,), (iou_threshold,))


operator_class("NMSWithMask", _suppress_operator, "iou_threshold=0.5")


# -- coding ----------------------------------------------------------------------------------------------------------


def _four(name: str, what: str, values: Any) -> None:
    if not isinstance(values, tuple):
        raise TypeError(f"{name}: {what} must be a tuple, not {type(values).__name__}")
    if len(values) != 4:
        raise ValueError(f"{name}: {what} must have 4 numbers, not {len(values)}")
    for value in values:
        if not isinstance(value, float):
            raise TypeError(f"{name}: {what} must hold floats, not {type(value).__name__}")


def _pair(name: str, one: Any, other: Any, what: tuple[str, str]) -> None:
    for text, boxes in zip(what, (one, other), strict=True):
        _columns(name, text, boxes)
    if one.shape[0] != other.shape[0]:
        raise ValueError(f"{name}: {what[0]} has {one.shape[0]} rows, {what[1]} has {other.shape[0]}")
    _require(name, "boxes", _HALF_OR_SINGLE, one, other)


def _centre(boxes: Any) -> tuple[Any, Any]:
    """Centres and sizes of boxes, whose sides count both end points."""
    return (boxes[:, :2] + boxes[:, 2:]) * 0.5, boxes[:, 2:] - boxes[:, :2] + 1


def _encoded(anchor: Any, truth: Any, *, means: tuple[float, ...], stds: tuple[float, ...]) -> Any:
    (centre, size), (true_centre, true_size) = _centre(anchor), _centre(truth)
    deltas = jnp.concatenate([(true_centre - centre) / size, jnp.log(true_size / size)], axis=1)
    return (deltas - np.asarray(means, deltas.dtype)) / np.asarray(stds, deltas.dtype)


_CODING: Final[dict[str, Any]] = {"means": (0.1, 0.2, 0.3, 0.4), "stds": (0.5, 0.6, 0.7, 0.8)}
_ENCODE = Primitive("EncodeBoxes", _encoded, attr_names=("means", "stds"), samples=[Sample((_BOXES, _OTHERS), _CODING)])


def bounding_box_encode(
    anchor_box: Tensor,
    groundtruth_box: Tensor,
    means: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0),
    stds: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0),
) -> Tensor:
    """True boxes relative to anchors: shift of the centre in anchor sizes, and logarithm of the ratio of sizes.

    Args:
        anchor_box: float16 or float32 tensor (N, 4), (x0, y0, x1, y1) a row.
        groundtruth_box: tensor (N, 4).
        means: what is subtracted, 4 floats.
        stds: what it is divided by then, 4 floats.

    Returns:
        Tensor: (N, 4).

    Example:
        >>> print(bounding_box_encode(Tensor([[2.0, 2.0, 2.0, 3.0]]), Tensor([[1.0, 2.0, 1.0, 3.0]])))
        [[-1.  0.  0.  0.]]
    """
    name = "bounding_box_encode"
    _four(name, "means", means)
    _four(name, "stds", stds)
    _pair(name, anchor_box, groundtruth_box, ("anchor_box", "groundtruth_box"))
    return apply(_ENCODE, (anchor_box, groundtruth_box), (means, stds))


def _decoded(
    anchor: Any,
    deltas: Any,
    *,
    max_shape: tuple[int, int],
    means: tuple[float, ...],
    stds: tuple[float, ...],
    wh_ratio_clip: float,
) -> Any:
    centre, size = _centre(anchor)
    deltas = deltas * np.asarray(stds, deltas.dtype) + np.asarray(means, deltas.dtype)
    limit = np.asarray(abs(np.log(wh_ratio_clip)), deltas.dtype)
    size, centre = size * jnp.exp(jnp.clip(deltas[:, 2:], -limit, limit)), centre + size * deltas[:, :2]
    found = jnp.concatenate([centre - (size * 0.5 - 0.5), centre + (size * 0.5 - 0.5)], axis=1)
    height, width = max_shape
    return jnp.clip(found, 0, np.asarray([width, height, width, height], found.dtype))


_DECODE = Primitive(
    "DecodeBoxes",
    _decoded,
    attr_names=("max_shape", "means", "stds", "wh_ratio_clip"),
    samples=[
        Sample(
            (_BOXES, np.array([[0.1, 0.2, 0.3, -0.4], [2, -0.1, 0.2, 0.1], [0, -3, 0.2, 9]], np.float32)),
            {"max_shape": (20, 30), **_CODING, "wh_ratio_clip": 0.1},
        )
    ],
)


def bounding_box_decode(
    anchor_box: Tensor,
    deltas: Tensor,
    max_shape: tuple[int, int],
    means: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0),
    stds: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0),
    wh_ratio_clip: float = 0.016,
) -> Tensor:
    """Boxes from what `bounding_box_encode` made of them, cut off at the border of the image.

    Args:
        anchor_box: float16 or float32 tensor (N, 4), (x0, y0, x1, y1) a row.
        deltas: tensor (N, 4).
        max_shape: height and width of the image.
        means: what was subtracted, 4 floats.
        stds: what it was divided by, 4 floats.
        wh_ratio_clip: the largest change of a side, as a ratio below 1.

    Returns:
        Tensor: (N, 4).

    Example:
        >>> print(bounding_box_decode(Tensor([[2.0, 2.0, 2.0, 3.0]]), Tensor([[-1.0, 0.0, 0.0, 0.0]]), (9, 9)))
        [[1. 2. 1. 3.]]
    """
    name = "bounding_box_decode"
    _four(name, "means", means)
    _four(name, "stds", stds)
    if not isinstance(max_shape, tuple):
        raise TypeError(f"{name}: max_shape must be a tuple, not {type(max_shape).__name__}")
    if len(max_shape) != 2:
        raise ValueError(f"{name}: max_shape must be a height and a width, not {max_shape}")
    if not isinstance(wh_ratio_clip, float):
        raise TypeError(f"{name}: wh_ratio_clip must be a float, not {type(wh_ratio_clip).__name__}")
    _pair(name, anchor_box, deltas, ("anchor_box", "deltas"))
    return apply(_DECODE, (anchor_box, deltas), (max_shape, means, stds, wh_ratio_clip))


_MEANS: Final = "means=(0.0, 0.0, 0.0, 0.0), stds=(1.0, 1.0, 1.0, 1.0)"
operator_class("BoundingBoxEncode", bounding_box_encode, _MEANS)
operator_class("BoundingBoxDecode", bounding_box_decode, f"max_shape, {_MEANS}, wh_ratio_clip=0.016")


@op(
    "CheckValid",
    no_gradient="bool result",
    samples=[Sample((_BOXES, np.array([8, 9, 1], np.float32))), Sample((_BOXES, np.array([4, 5, 2], np.float32)))],
)
def check_valid(bboxes: Any, img_metas: Any) -> Any:
    """Which boxes lie inside an image.

    Args:
        bboxes: tensor (N, 4), (x0, y0, x1, y1) a row.
        img_metas: height, width and the ratio by which both are multiplied.

    Returns:
        Tensor: (N,), bool.

    Example:
        >>> print(check_valid(Tensor([[0.0, 0.0, 9.0, 4.0], [0.0, 0.0, 9.0, 5.0]]), Tensor([5.0, 10.0, 1.0])))
        [ True False]
    """
    _columns("check_valid", "bboxes", bboxes)
    if img_metas.shape != (3,):
        raise ValueError(f"check_valid: img_metas must have shape (3,), not {tuple(img_metas.shape)}")
    _require("check_valid", "operands", (*_HALF_OR_SINGLE, dtypes.int16, dtypes.uint8), bboxes, img_metas)
    boxes, metas = bboxes.astype(jnp.float32), img_metas.astype(jnp.float32)
    limits = jnp.stack([metas[1], metas[0]]) * metas[2] - 1
    return jnp.all((boxes[:, :2] >= 0) & (boxes[:, 2:] <= limits), axis=1)


# -- choice ----------------------------------------------------------------------------------------------------------


def _chosen(key: Any, mask: Any, *, count: int) -> tuple[Any, Any]:
    flat = mask.reshape(-1)
    order = jnp.argsort(jnp.where(flat, jax.random.uniform(key, flat.shape), 2.0))[:count]
    order = jnp.pad(order, (0, count - order.shape[0]))
    valid = jnp.arange(count) < jnp.sum(flat)
    places = jnp.stack(jnp.unravel_index(order, mask.shape), axis=1)
    return jnp.where(valid[:, None], places, 0).astype(jnp.int32), valid


_CHOOSE = Primitive(
    "ChooseOfMask",
    _chosen,
    attr_names=("count",),
    multiple=True,
    effect=RANDOM,
    no_gradient="random numbers",
    samples=[
        Sample((np.array([3, 5], np.uint32), np.array([[True, False, True], [True] * 3])), {"count": n}, False, False)
        for n in (3, 8)
    ],
)


def _choice_operator(input_x: Tensor, *, count: int, seed: int, seed2: int) -> Any:
    """Positions of `count` true elements at random: ``RandomChoiceWithMask(count, seed, seed2)(mask)``.

    The second result tells which rows stand for an element; where there are less than `count`, the others are 0.
    """
    name = "RandomChoiceWithMask"
    if isinstance(count, bool) or not isinstance(count, int):
        raise TypeError(f"{name}: count must be an int, not {type(count).__name__}")
    if count <= 0:
        raise ValueError(f"{name}: count must be positive, not {count}")
    if input_x.dtype is not dtypes.bool_:
        raise TypeError(f"{name}: the mask must be bool, not {input_x.dtype}")
    if not 1 <= input_x.ndim <= 5:
        raise ValueError(f"{name}: the mask must have 1 to 5 dimensions, not {input_x.ndim}")
    return apply(_CHOOSE, (key_of(seed, seed2), input_x), (count,))


operator_class("RandomChoiceWithMask", _choice_operator, "count=256, seed=0, seed2=0")


# -- parts of features -----------------------------------------------------------------------------------------------


def _between(at: Any, size: int) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """The two positions around each coordinate, and their weights; coordinates beyond an end are at the end."""
    at = jnp.clip(at, 0, size - 1)
    low = jax.lax.stop_gradient(jnp.floor(at))
    part = at - low
    first = low.astype(jnp.int32)
    return (first, 1 - part), (jnp.minimum(first + 1, size - 1), part)


def _counted(start: Any, size: Any, bins: int, length: int) -> Any:
    """The weights (N, bins, length) of positions in the mean of as many samples as a bin has whole positions."""
    step = size / bins
    counts = jnp.maximum(jnp.floor(step), 1)
    lefts = start[:, None] + step[:, None] * np.arange(bins)

    def add(number: Any, weights: Any) -> Any:
        at = lefts + ((number + 0.5) * step / counts)[:, None]
        used = (at >= -1) & (at <= length) & (number < counts)[:, None]
        for place, weight in _between(at, length):
            weights = weights + jax.nn.one_hot(place, length, dtype=at.dtype) * (weight * used)[..., None]
        return weights

    most = jnp.max(counts, initial=0).astype(jnp.int32)
    total = jax.lax.fori_loop(0, most, add, jnp.zeros((*lefts.shape, length), lefts.dtype))
    return total / counts[:, None, None]


def _aligned(
    features: Any,
    rois: Any,
    *,
    pooled_height: int,
    pooled_width: int,
    spatial_scale: float,
    sample_num: int,
    roi_end_mode: int,
) -> Any:
    rois = jax.lax.stop_gradient(rois).astype(jnp.promote_types(rois.dtype, jnp.float32))
    image = jnp.clip(rois[:, 0].astype(jnp.int32), 0, features.shape[0] - 1)
    start = rois[:, 1:3] * spatial_scale
    size = (rois[:, 3:5] + roi_end_mode) * spatial_scale - start
    if not roi_end_mode:
        size = jnp.maximum(size, 1)
    # rows first; columns come first in the boxes
    outputs, spatial = (pooled_height, pooled_width), features.shape[2:]
    sides = [(start[:, 1 - axis], size[:, 1 - axis], outputs[axis], spatial[axis]) for axis in (0, 1)]
    if sample_num:
        return _sampled(features, image, sides, sample_num)
    weights = [_counted(*side) for side in sides]

    def pool(each: Any) -> Any:
        number, rows, columns = each
        return jnp.einsum("chw,ih,jw->cij", features[number], rows, columns)

    return jax.lax.map(pool, (image, *weights)).astype(features.dtype)


def _sampled(features: Any, image: Any, sides: list[tuple[Any, Any, int, int]], samples: int) -> Any:
    """Means of `samples` times `samples` values in each bin."""
    axes = []
    for start, size, bins, length in sides:
        places = np.arange(bins)[:, None] + (np.arange(samples) + 0.5) / samples
        at = start[:, None] + (size / bins)[:, None] * places.reshape(-1).astype(size.dtype)
        used = (at >= -1) & (at <= length)
        axes.append([(place, weight * used) for place, weight in _between(at, length)])
    total: Any = 0
    for row, row_weight in axes[0]:
        for column, column_weight in axes[1]:
            taken = features[image[:, None, None], :, row[:, :, None], column[:, None, :]]
            total = total + taken * (row_weight[:, :, None] * column_weight[:, None, :])[..., None]
    windows = total.reshape(image.shape[0], sides[0][2], samples, sides[1][2], samples, features.shape[1])
    return jnp.moveaxis(jnp.mean(windows, axis=(2, 4)), -1, 1).astype(features.dtype)


_FEATURES: Final = np.linspace(-2, 3, 60, dtype=np.float32).reshape(1, 2, 5, 6) ** 2
_REGIONS: Final = np.array([[0, 0.3, 1.2, 4.1, 3.7], [0, -1, 1, 9, 3]], np.float32)
_ALIGN = Primitive(
    "AlignRegions",
    _aligned,
    attr_names=("pooled_height", "pooled_width", "spatial_scale", "sample_num", "roi_end_mode"),
    samples=[
        Sample(
            (_FEATURES, _REGIONS),
            {"pooled_height": 2, "pooled_width": 3, "spatial_scale": scale, "sample_num": count, "roi_end_mode": end},
            differentiable=False,  # with respect to the regions, whose gradient is zero by definition
        )
        for scale, count, end in ((1.0, 2, 1), (0.5, 1, 0), (1.0, 0, 0))
    ],
)


def _align_operator(
    features: Tensor,
    rois: Tensor,
    *,
    pooled_height: int,
    pooled_width: int,
    spatial_scale: float,
    sample_num: int,
    roi_end_mode: int,
) -> Tensor:
    """Means of features in the bins of regions: ``ROIAlign(height, width, scale, samples, end_mode)(features, rois)``.

    Features are (N, C, H, W); a row of the regions is (image, x0, y0, x1, y1), multiplied by the scale. With 0 samples
    a bin has as many as it has whole positions, one at least. With `roi_end_mode` 1 a region includes its end point.
    Regions have no gradient.
    """
    name = "ROIAlign"
    settings = {
        "pooled_height": pooled_height,
        "pooled_width": pooled_width,
        "sample_num": sample_num,
        "roi_end_mode": roi_end_mode,
    }
    for what, value in settings.items():
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"{name}: {what} must be an int, not {type(value).__name__}")
    if not isinstance(spatial_scale, float):
        raise TypeError(f"{name}: spatial_scale must be a float, not {type(spatial_scale).__name__}")
    if roi_end_mode not in (0, 1):
        raise ValueError(f"{name}: roi_end_mode must be 0 or 1, not {roi_end_mode}")
    if sample_num < 0 or min(pooled_height, pooled_width) < 1:
        raise ValueError(f"{name}: there are no {pooled_height} x {pooled_width} bins of {sample_num} samples")
    if features.ndim != 4:
        raise ValueError(f"{name}: the features must have 4 dimensions (N, C, H, W), not shape {features.shape}")
    _columns(name, "rois", rois, 5)
    check_bounds(rois[:, 0].astype(dtypes.int32), features.shape[0], f"{name}: there is no image {{}}", least=0)
    return apply(_ALIGN, (features, rois), (pooled_height, pooled_width, spatial_scale, sample_num, roi_end_mode))


operator_class("ROIAlign", _align_operator, "pooled_height, pooled_width, spatial_scale, sample_num=2, roi_end_mode=1")


def _cropped(
    image: Any,
    boxes: Any,
    box_indices: Any,
    *,
    crop_size: tuple[int, int],
    method: str,
    extrapolation_value: float,
) -> Any:
    image, boxes = image.astype(jnp.float32), boxes.astype(jnp.float32)
    number = box_indices.astype(jnp.int32)[:, None, None]
    axes, inside = [], []
    for axis, (length, count) in enumerate(zip(image.shape[1:3], crop_size, strict=True)):
        first, last = boxes[:, axis, None], boxes[:, axis + 2, None]
        steps = np.arange(count, dtype=np.float32)
        if method == "bilinear_v2":
            begin = jnp.trunc(jax.lax.stop_gradient(first) * length)
            size = jnp.maximum(jnp.trunc(jax.lax.stop_gradient(last) * length) + 1 - begin, 1)
            at = begin + jnp.maximum((steps + 0.5) * (size / count) - 0.5, 0)
        elif count > 1:
            at = first * (length - 1) + steps * ((last - first) * (length - 1) / (count - 1))
        else:
            at = 0.5 * (first + last) * (length - 1)
        inside.append((at >= 0) & (at <= length - 1) | (method == "bilinear_v2"))
        axes.append(_between(jnp.floor(at + 0.5) if method == "nearest" else at, length))
    total: Any = 0
    for row, row_weight in axes[0]:
        for column, column_weight in axes[1]:
            taken = image[number, row[:, :, None], column[:, None, :]]
            total = total + taken * (row_weight[:, :, None] * column_weight[:, None, :])[..., None]
    valid = inside[0][:, :, None] & inside[1][:, None, :]
    return jnp.where(valid[..., None], total, np.float32(extrapolation_value))


_METHODS: Final = ("bilinear", "nearest", "bilinear_v2")
_CROP = Primitive(
    "CropBoxes",
    _cropped,
    attr_names=("crop_size", "method", "extrapolation_value"),
    samples=[
        Sample(
            (
                np.moveaxis(_FEATURES, 1, -1),
                np.array([[0.13, 0.21, 0.92, 0.61], [-0.22, 0.33, 1.31, 0.74]], np.float32),
                np.array([0, 0], np.int32),
            ),
            {"crop_size": (3, 4), "method": method, "extrapolation_value": 7.0},
            differentiable=method == "bilinear",
        )
        for method in _METHODS
    ],
)


def crop_and_resize(
    image: Tensor,
    boxes: Tensor,
    box_indices: Tensor,
    crop_size: tuple[int, int],
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
) -> Tensor:
    """Cut boxes out of images and resize them.

    Args:
        image: (N, H, W, C).
        boxes: (M, 4), a row is (y0, x0, y1, x1), where 1 is the last position of the image.
        box_indices: (M,), the image of each box.
        crop_size: height and width of the results.
        method: ``"bilinear"``, ``"nearest"``, or ``"bilinear_v2"``, which reads the middle of positions.
        extrapolation_value: what lies outside of the image.

    Returns:
        Tensor: float32, (M, height, width, C).

    Raises:
        IndexError: there is no such image.
        ValueError: `method` is another word, or the shapes do not fit.

    Example:
        >>> image = Tensor([[[[0.0], [1.0], [2.0]]]])
        >>> print(crop_and_resize(image, Tensor([[0.0, 0.5, 0.0, 1.0]]), Tensor([0]), (1, 3)).reshape(-1))
        [1.  1.5 2. ]
    """
    name = "crop_and_resize"
    if method not in _METHODS:
        raise ValueError(f"{name}: method must be one of {', '.join(map(repr, _METHODS))}, not {method!r}")
    size = freeze(crop_size)
    if not isinstance(size, tuple):
        raise TypeError(f"{name}: crop_size must be a height and a width, not {type(crop_size).__name__}")
    if len(size) != 2 or min(size) < 1:
        raise ValueError(f"{name}: crop_size must be a positive height and width, not {size}")
    if image.ndim != 4:
        raise ValueError(f"{name}: the image must have 4 dimensions (N, H, W, C), not shape {image.shape}")
    _columns(name, "boxes", boxes)
    if box_indices.shape != (boxes.shape[0],):
        raise ValueError(f"{name}: box_indices must have shape ({boxes.shape[0]},), not {box_indices.shape}")
    check_bounds(box_indices, image.shape[0], f"{name}: there is no image {{}}", least=0)
    return apply(_CROP, (image, boxes, box_indices), (size, method, float(extrapolation_value)))


operator_class("CropAndResize", crop_and_resize, "method='bilinear', extrapolation_value=0.0")
