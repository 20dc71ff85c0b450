"""Boxes in images: answers of MindSpore 2.10, errors, gradients and graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from weft import Tensor, dtypes, ops
from weft.ops import operations as P

F = np.float32
SCORED = np.array(
    [
        [100, 100, 50, 68, 0.63],
        [150, 75, 165, 115, 0.55],
        [12, 190, 288, 200, 0.9],
        [28, 130, 106, 172, 0.3],
        [10, 188, 290, 205, 0.95],
        [10, 188, 290, 205, 0.2],
    ],
    F,
)
ANCHORS = np.array([[101, 169, 246, 429], [107, 150, 277, 400], [103, 130, 220, 400]], F)
TRUTHS = np.array([[121, 138, 304, 374], [97, 130, 250, 400]], F)
CODING: dict[str, Any] = {"means": (0.1, 0.2, 0.3, 0.4), "stds": (0.5, 0.6, 0.7, 0.8)}
FEATURES = (np.arange(168, dtype=F).reshape(2, 2, 6, 7) ** 1.5 / 50).astype(F)
ROIS = np.array([[0, 0.2, 0.3, 3.2, 4.7], [1, -1, 1, 9, 3], [0, 2, 2, 2, 2]], F)
IMAGES = (np.arange(80, dtype=F).reshape(2, 4, 5, 2) ** 1.5 / 5).astype(F)
BOXES = np.array([[0, 0, 1, 1], [0.25, 0.1, 0.9, 0.6], [-0.2, 0.3, 1.3, 0.7], [0.8, 0.9, 0.2, 0.1]], F)
IMAGE_OF = np.array([0, 1, 1, 0], np.int32)


def both(operation: Any, *arrays: Any) -> list[np.ndarray[Any, Any]]:
    """The results in eager code, which those of a graph equal."""
    found = []
    for function in (operation, weft.jit(lambda *tensors: operation(*tensors))):
        results = function(*map(Tensor, arrays))
        found.append([each.asnumpy() for each in (results if isinstance(results, tuple) else (results,))])
    for one, other in zip(*found, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one.astype(np.float64), other.astype(np.float64), 1e-5, 1e-5)
    return found[0]


# -- suppression -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_suppression_sorts_and_marks(dtype: Any) -> None:
    boxes, places, kept = both(P.NMSWithMask(0.1), SCORED.astype(dtype))
    np.testing.assert_array_equal(boxes, SCORED.astype(dtype)[[4, 2, 0, 1, 3, 5]])
    assert boxes.dtype == dtype
    assert places.dtype == np.int32
    assert places.tolist() == [0, 1, 2, 3, 4, 5]
    assert kept.tolist() == [True, False, True, True, True, False]


@pytest.mark.parametrize(("threshold", "second"), [(0.3, False), (0.35, False), (0.5, True), (0.55, True)])
def test_suppression_counts_no_end_points(threshold: float, second: bool) -> None:
    rows = np.array([[0, 0, 1, 1, 0.9], [0, 0, 1, 0.5, 0.8]], F)
    assert both(P.NMSWithMask(threshold), rows)[2].tolist() == [True, second]


def test_what_is_suppressed_suppresses_nothing() -> None:
    rows = np.array([[0, 0, 10, 10, 0.9], [0, 3, 10, 13, 0.8], [0, 6, 10, 16, 0.7]], F)
    assert both(P.NMSWithMask(0.5), rows)[2].tolist() == [True, False, True]


def test_suppression_of_boxes_apart_empty_and_unordered() -> None:
    apart = np.array([[0, 0, 10, 10, 0.9], [50, 53, 60, 63, 0.95]], F)
    assert both(P.NMSWithMask(-0.5), apart)[2].tolist() == [True, False]
    assert both(P.NMSWithMask(0.0), apart)[2].tolist() == [True, True]
    assert both(P.NMSWithMask(0.5), apart * 0)[2].tolist() == [True, True]
    assert [each.shape for each in both(P.NMSWithMask(0.5), SCORED[:0])] == [(0, 5), (0,), (0,)]
    unordered = np.array([[0, 0, 1, 1, np.nan], [0, 0, 1, 1, 0.95], [5, 5, 7, 7, 0.2]], F)
    np.testing.assert_array_equal(both(P.NMSWithMask(0.5), unordered)[0], unordered[[1, 2, 0]])


def test_suppression_refuses() -> None:
    with pytest.raises(TypeError, match="float"):
        P.NMSWithMask(1)(Tensor(SCORED))
    with pytest.raises(TypeError, match="Float64"):
        P.NMSWithMask(0.5)(Tensor(SCORED.astype(np.float64)))
    with pytest.raises(ValueError, match=r"\(N, 5\)"):
        P.NMSWithMask(0.5)(Tensor(SCORED[:, :4]))


# -- overlap ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "wanted"),
    [
        ("iou", [[0.46551168, 0.6898875, 0.4567706], [0.73686045, 0.7450681, 0.76623374]]),
        ("iof", [[0.59521186, 0.81005776, 0.54347825], [0.8116164, 0.86605644, 0.76623374]]),
    ],
)
def test_overlap(mode: str, wanted: Any) -> None:
    (found,) = both(P.IOU(mode), ANCHORS, TRUTHS)
    np.testing.assert_allclose(found, wanted, 1e-6)
    np.testing.assert_array_equal(both(P.IOU(mode), -ANCHORS, TRUTHS)[0], np.zeros((2, 3)))
    half = both(P.IOU(mode), ANCHORS.astype(np.float16), TRUTHS.astype(np.float16))[0]
    assert half.dtype == np.float16
    np.testing.assert_allclose(half, wanted, 1e-3)


def test_overlap_counts_end_points() -> None:
    anchors = np.array([[0, 0, 0.5, 0.5], [0, 0, 0, 0], [0.2, 0.2, 0.1, 0.1]], F)
    wanted = [[0.8711111, 0.5102041, 0.41326526], [0.44444445, 1.0, 0.5470086]]
    np.testing.assert_allclose(ops.iou(Tensor(anchors), Tensor(anchors[:2] * F(0.8))).asnumpy(), wanted, 1e-6)


def test_overlap_has_no_gradient() -> None:
    found = weft.grad(lambda x: ops.iou(x, Tensor(TRUTHS)).sum())(Tensor(ANCHORS))
    assert not found.asnumpy().any()


def test_overlap_refuses() -> None:
    with pytest.raises(KeyError):
        P.IOU("x")(Tensor(ANCHORS), Tensor(TRUTHS))
    for anchors, error in (
        (ANCHORS[:, :3], ValueError),
        (ANCHORS[0], ValueError),
        (ANCHORS.astype(np.int32), TypeError),
        (ANCHORS.astype(np.float16), TypeError),
    ):
        with pytest.raises(error):
            ops.iou(Tensor(anchors), Tensor(TRUTHS))


# -- coding ----------------------------------------------------------------------------------------------------------


def test_encoding() -> None:
    truths = np.concatenate([TRUTHS, TRUTHS[:1]])
    wanted = [
        [0.33424658, -0.60791826, -0.09810131, -0.62057537],
        [-0.41637427, -0.39973438, -0.5781585, -0.40416765],
        [0.6644068, -0.38868389, 0.20607302, -0.66757333],
    ]
    np.testing.assert_allclose(both(P.BoundingBoxEncode(**CODING), ANCHORS, truths)[0], wanted, 1e-4)
    half = both(P.BoundingBoxEncode(**CODING), ANCHORS.astype(np.float16), truths.astype(np.float16))[0]
    assert half.dtype == np.float16
    np.testing.assert_allclose(half, wanted, 2e-2)
    flat = np.array([[2, 2, 1, 1], [0, 0, 0, 0]], F)
    found = both(P.BoundingBoxEncode(), flat, np.array([[2, 2, 1, 1], [5, 5, 4, 4]], F))[0]
    np.testing.assert_array_equal(found, [[np.nan] * 4, [4.5, 4.5, -np.inf, -np.inf]])


def test_decoding() -> None:
    anchors = np.array([[4, 1, 2, 1], [100, 101, 200, 300]], F)
    deltas = np.array([[3, 1, 2, 2], [1, -3, 0.5, 0.1]], F)
    plain = P.BoundingBoxDecode(max_shape=(768, 1280), wh_ratio_clip=0.016)
    wanted = [[4.194528, 0, 0, 5.194528], [168.23958, 0, 333.76044, 0]]
    np.testing.assert_allclose(both(plain, anchors, deltas)[0], wanted, 1e-5)
    clipped = P.BoundingBoxDecode((250, 300), **CODING, wh_ratio_clip=0.1)
    wanted = [[4.636974, 0, 0, 4.994528], [114.3652, 0, 300, 41.607437]]
    np.testing.assert_allclose(both(clipped, anchors, deltas)[0], wanted, 1e-5)


def test_decoding_undoes_encoding() -> None:
    truths = np.concatenate([TRUTHS, TRUTHS[:1]])
    deltas = ops.bounding_box_encode(Tensor(ANCHORS), Tensor(truths), **CODING)
    found = ops.bounding_box_decode(Tensor(ANCHORS), deltas, (1000, 1000), **CODING)
    np.testing.assert_allclose(found.asnumpy(), truths, 1e-4)


def test_coding_refuses() -> None:
    one, two = Tensor(ANCHORS), Tensor(TRUTHS)
    for settings, error in (
        ({"means": [0.0] * 4}, TypeError),
        ({"means": (0, 0, 0, 0)}, TypeError),
        ({"stds": (1.0,)}, ValueError),
    ):
        with pytest.raises(error):
            P.BoundingBoxEncode(**settings)(one, one)
    with pytest.raises(ValueError, match="rows"):
        P.BoundingBoxEncode()(one, two)
    with pytest.raises(TypeError, match="Float64"):
        P.BoundingBoxEncode()(Tensor(ANCHORS.astype(np.float64)), Tensor(ANCHORS.astype(np.float64)))
    with pytest.raises(TypeError, match="tuple"):
        P.BoundingBoxDecode([250, 300])(one, one)
    with pytest.raises(ValueError, match="width"):
        P.BoundingBoxDecode((250, 300, 3))(one, one)
    with pytest.raises(TypeError):
        P.BoundingBoxDecode()


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int16])
def test_boxes_inside(dtype: Any) -> None:
    rows = [[50, 50, 10, 10], [0, 0, 9, 9], [-1, 0, 3, 3], [0, 0, 199, 50], [0, 0, 400, 50], [0, 0, 399, 199]]
    found = both(P.CheckValid(), np.array(rows, dtype), np.array([100, 200, 2], dtype))[0]
    assert found.tolist() == [True, True, False, True, False, True]


def test_boxes_inside_by_fractions() -> None:
    rows = np.array([[0, 0, 98, 98.9], [0, 0, 98.5, 99], [0, 0, 99, 99], [0, 0, 99.5, 20]], F)
    assert both(ops.check_valid, rows, np.array([100, 100, 1], F))[0].tolist() == [True, True, True, False]
    for boxes, metas, error in (
        (rows[:, :3], np.ones(3, F), ValueError),
        (rows, np.ones(2, F), ValueError),
        (rows.astype(np.int32), np.ones(3, np.int32), TypeError),
    ):
        with pytest.raises(error):
            ops.check_valid(Tensor(boxes), Tensor(metas))


# -- choice ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [2, 3, 5, 20])
def test_choice_of_a_mask(count: int) -> None:
    mask = np.zeros((3, 4), bool)
    mask[0, 1] = mask[2, 0] = mask[2, 3] = True
    choose = P.RandomChoiceWithMask(count=count)
    for function in (choose, weft.jit(lambda x: choose(x))):
        places, valid = (each.asnumpy() for each in function(Tensor(mask)))
        assert places.dtype == np.int32
        assert places.shape == (count, 2)
        assert valid.tolist() == [number < 3 for number in range(count)]
        found = set(map(tuple, places[valid].tolist()))
        assert len(found) == min(count, 3)
        assert all(mask[place] for place in found)
        assert not places[~valid].any()


def test_choices_differ_and_follow_the_seed() -> None:
    mask = Tensor(np.ones((5, 7), bool))
    choose = P.RandomChoiceWithMask(count=4)
    weft.set_seed(3)
    first = [choose(mask)[0].asnumpy().tolist() for _ in range(4)]
    weft.set_seed(3)
    assert [choose(mask)[0].asnumpy().tolist() for _ in range(4)] == first
    assert len({str(each) for each in first}) > 1


def test_choice_refuses() -> None:
    with pytest.raises(ValueError, match="positive"):
        P.RandomChoiceWithMask(count=0)(Tensor([True]))
    with pytest.raises(ValueError, match="dimensions"):
        P.RandomChoiceWithMask(count=2)(Tensor(np.ones((1,) * 6, bool)))
    with pytest.raises(TypeError, match="bool"):
        P.RandomChoiceWithMask(count=2)(Tensor([1, 0]))


# -- parts of features -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "region", "wanted"),
    [
        ((0.5, 1, 0), 0, [[0.28150865, 0.31325877, 0.34804916], [0.9499468, 1.0038536, 1.0592166]]),
        ((1.0, 1, 0), 1, [[18.577253, 19.560951, 0], [20.662764, 21.681431, 0]]),
        ((0.5, 2, 0), 2, [[0.64573753, 0.67744255, 0.7091475], [1.0029652, 1.0397791, 1.076593]]),
        ((1.0, 2, 0), 1, [[18.602001, 19.56158, 10.079677], [20.68838, 21.682035, 11.150269]]),
        ((1.0, 0, 0), 1, [[18.620962, 19.561623, 6.7197843], [20.708027, 21.682077, 7.433512]]),
        ((1.0, 0, 1), 0, [[0.9348446, 1.0765297, 1.2259722], [3.5273736, 3.7525291, 3.982467]]),
        ((0.5, 1, 1), 2, [[0.5488236, 0.56403756, 0.5792514], [0.72679895, 0.74329, 0.7597811]]),
        ((1.0, 1, 1), 1, [[19.138554, 20.232513, 0], [22.324306, 23.47489, 0]]),
        ((1.0, 2, 1), 0, [[0.93530685, 1.0768198, 1.2259722], [3.5276446, 3.752707, 3.9824667]]),
    ],
)
def test_aligned_regions(settings: tuple[float, int, int], region: int, wanted: Any) -> None:
    (found,) = both(P.ROIAlign(2, 3, *settings), FEATURES, ROIS)
    assert found.shape == (3, 2, 2, 3)
    np.testing.assert_allclose(found[region, 0], wanted, 1e-5)


def test_gradient_of_aligned_regions() -> None:
    align = P.ROIAlign(2, 2, 0.5, 2)
    for function in (align, weft.jit(lambda *operands: align(*operands))):
        features, rois = weft.grad(lambda x, r, f=function: f(x, r).sum(), (0, 1))(Tensor(FEATURES), Tensor(ROIS))
        rows = [[0.1025, 0.25625, 0.15375, 0, 0, 0, 0], [0.2975, 2.99375, 1.19625, 0, 0, 0, 0]]
        np.testing.assert_allclose(features.asnumpy()[0, 0, :2], rows, 1e-4)
        row = [0.06347656, 0.04882812, 0.04882812, 0.07324219, 0.05371094, 0.02441406, 0]
        np.testing.assert_allclose(features.asnumpy()[1, 0, 0], row, 1e-4)
        assert not rois.asnumpy().any()


def test_aligned_regions_refuse() -> None:
    features, rois = Tensor(FEATURES), Tensor(ROIS)
    for settings, error in (((2, 2, 0.5, 2, 3), ValueError), ((2.0, 2, 0.5), TypeError), ((2, 2, 1), TypeError)):
        with pytest.raises(error):
            P.ROIAlign(*settings)(features, rois)
    with pytest.raises(ValueError, match=r"\(N, 5\)"):
        P.ROIAlign(2, 2, 0.5)(features, rois[:, :4])
    align = P.ROIAlign(1, 1, 1.0)
    for function in (align, weft.jit(lambda *operands: align(*operands))):
        with pytest.raises(IndexError, match="image"):
            function(features, Tensor(np.array([[5, 0, 0, 2, 2]], F)))


@pytest.mark.parametrize(
    ("method", "wanted"),
    [
        (
            "bilinear",
            [[[12.10655, 13.271696], [22.45296, 23.898884]], [[88.66564, 90.95935], [97.95723, 100.32824]]],
        ),
        (
            "nearest",
            [[[17.888544, 19.246819], [29.632412, 31.233953]], [[92.9516, 95.28505], [102.4, 104.80935]]],
        ),
        (
            "bilinear_v2",
            [[[20.637829, 22.060825], [29.632412, 31.233953]], [[95.29465, 97.647224], [104.81865, 107.246536]]],
        ),
    ],
)
def test_crops(method: str, wanted: Any) -> None:
    (found,) = both(lambda *x: P.CropAndResize(method, 7.0)(*x, (1, 2)), IMAGES, BOXES, IMAGE_OF)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found[:2, 0], wanted, 1e-5)


def test_crops_beyond_the_image() -> None:
    y, x = np.mgrid[0:4, 0:5].astype(F)
    image, first = np.stack([y, x], -1)[None], np.array([0], np.int32)
    beyond = np.array([[-0.1, -0.1, 1.1, 1.1]], F)
    (found,) = both(lambda *x: P.CropAndResize("nearest", 7.0)(*x, (3, 3)), image, beyond, first)
    assert found[0].reshape(9, 2).tolist() == [[7, 7]] * 4 + [[2, 2]] + [[7, 7]] * 4
    (found,) = both(
        lambda *x: P.CropAndResize("bilinear_v2")(*x, (3, 2)), image, np.array([[-0.6, -0.9, 1.9, 1.7]], F), first
    )
    np.testing.assert_allclose(found[0, :, :, 0], [[0, 0], [2.5, 2.5], [3, 3]], atol=1e-5)
    np.testing.assert_allclose(found[0, :, :, 1], [[0, 4]] * 3, atol=1e-5)
    (found,) = both(
        lambda *x: P.CropAndResize("nearest")(*x, (2, 2)), image, np.array([[0, 0.125, 1 / 3, 0.375]], F), first
    )
    assert found[0].tolist() == [[[0, 1], [0, 2]], [[1, 1], [1, 2]]]


def test_gradient_of_crops() -> None:
    y, x = np.mgrid[0:4, 0:5].astype(F)
    image, first = Tensor(np.stack([y, x], -1)[None] ** 2), Tensor(np.array([0], np.int32))
    box = Tensor(np.array([[0.2, 0.1, 0.9, 0.8]], F))
    found = weft.grad(lambda x: ops.crop_and_resize(image, x, first, (2, 3)).sum())(box)
    np.testing.assert_allclose(found.asnumpy(), [[9, 20, 45, 68]], 1e-4)


@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float64])
def test_crops_are_single_precision(dtype: Any) -> None:
    operands = [Tensor(each) for each in (IMAGES.astype(dtype), BOXES, IMAGE_OF)]
    assert ops.crop_and_resize(*operands, (1, 2)).dtype is dtypes.float32


def test_crops_refuse() -> None:
    image, boxes, number = Tensor(IMAGES), Tensor(BOXES), Tensor(IMAGE_OF)
    for operands, error in (
        ((image, boxes, number, (1, 2), "x"), ValueError),
        ((image, boxes, number, (1, 2, 3)), ValueError),
        ((image, boxes, number, 3), TypeError),
        ((image, boxes, number, (0, 1)), ValueError),
        ((image[0], boxes, number, (1, 1)), ValueError),
        ((image, boxes[:2], number, (1, 1)), ValueError),
        ((image, boxes[:, :2], number, (1, 1)), ValueError),
        ((image, boxes, number + 1, (1, 1)), IndexError),
    ):
        with pytest.raises(error):
            ops.crop_and_resize(*operands)
