"""Operations on boxes, against answers that MindSpore 2.10 gave, and each in graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import ops

A = np.array([[0, 0, 10, 10], [5, 5, 15, 20], [1, 2, 3, 4]], np.float32)
B = np.array([[0, 0, 5, 5], [6, 6, 12, 18], [2, 2, 2, 2]], np.float32)
MAP = np.arange(36, dtype=np.float32).reshape(1, 1, 6, 6)


def both(function: Callable[..., Any], *arrays: Any) -> Any:
    """The result eagerly, after checking that the compiled function gives the same, and again with other values."""
    compiled = weft.jit(function)
    for change in (0, 1):
        given = [weft.Tensor(a + change if a.dtype == np.float32 and change else a) for a in arrays]
        expected, found = function(*given), compiled(*given)
        for e, f in zip(*[r if isinstance(r, tuple) else (r,) for r in (expected, found)], strict=True):
            assert e.dtype == f.dtype
            np.testing.assert_allclose(f.asnumpy(), e.asnumpy(), rtol=1e-6)
    return function(*[weft.Tensor(a) for a in arrays])


def test_overlaps() -> None:
    expected = [[0.29752067, 0.00473934, 0.25], [0.13368984, 0.51704544, 0.0], [0.00826446, 0.0, 0.11111111]]
    np.testing.assert_allclose(both(ops.IOU(), A, B).asnumpy(), expected, rtol=1e-5)
    expected = [[1.0, 0.02777778, 0.25], [0.27472527, 1.0, 0.0], [1.0, 0.0, 1.0]]
    np.testing.assert_allclose(both(ops.IOU("iof"), A, B).asnumpy(), expected, rtol=1e-5)
    assert ops.iou(weft.Tensor(A), weft.Tensor(B[:2])).shape == (2, 3)
    with pytest.raises(KeyError, match="foo"):
        ops.iou(weft.Tensor(A), weft.Tensor(B), "foo")
    with pytest.raises(ValueError, match=r"\(N, 4\)"):
        ops.iou(weft.Tensor(A[:, :3]), weft.Tensor(B))


def test_coding() -> None:
    coded = both(ops.BoundingBoxEncode((0.0, 1.0, 2.0, 3.0), (0.1, 0.2, 0.3, 0.4)), A, B).asnumpy()
    np.testing.assert_allclose(coded[0], [-2.27272725, -6.13636351, -8.6871195, -9.0153399], rtol=1e-5)
    decoded = both(ops.BoundingBoxDecode((768, 1280)), A, B * np.float32(0.1)).asnumpy()
    expected = [
        [0.0, 0.0, 13.567966, 13.567966],
        [0.0, 0.0, 34.36064, 69.997185],
        [1.2678957, 2.2678957, 3.932104, 4.932104],
    ]
    np.testing.assert_allclose(decoded, expected, rtol=1e-5)
    settings = ((0.1, 0.2, 0.3, 0.4), (0.1, 0.2, 0.3, 0.4))
    decoded = ops.bounding_box_decode(weft.Tensor(A), weft.Tensor(B), (12, 11), *settings, 0.016).asnumpy()
    expected = [[0, 0, 11, 12], [0, 0, 11, 12], [0, 0.3198247, 6.089405, 9.280176]]
    np.testing.assert_allclose(decoded, expected, rtol=1e-5)
    one = ops.bounding_box_decode(weft.Tensor(A[:1]), weft.Tensor(np.array([[0, 0, 9, -9]], np.float32)), (768, 1280))
    np.testing.assert_allclose(one.asnumpy(), [[0.0, 5.412, 348.25, 4.588]], rtol=1e-5)
    again = ops.bounding_box_decode(
        weft.Tensor(A), ops.bounding_box_encode(weft.Tensor(A), weft.Tensor(B), *settings), (768, 1280), *settings
    )
    np.testing.assert_allclose(again.asnumpy(), B, atol=1e-4)


def test_boxes_in_an_image() -> None:
    boxes = np.array([[0, 0, 9, 9], [0, 0, 10, 9], [-1, 0, 5, 5], [0, 0, 11, 9]], np.float32)
    found = both(ops.CheckValid(), boxes, np.array([10, 11, 1], np.float32))
    assert found.asnumpy().tolist() == [True, True, False, False]
    assert ops.check_valid(weft.Tensor(A), weft.Tensor([16.0, 10.0, 1.3])).asnumpy().tolist() == [True, False, True]


def test_suppression() -> None:
    scored = np.array([[0, 0, 10, 10, 0.6], [1, 1, 11, 11, 0.7], [20, 20, 30, 30, 0.5], [0, 0, 9, 9, 0.65]], np.float32)
    boxes, numbers, kept = both(ops.NMSWithMask(0.5), scored)
    np.testing.assert_array_equal(boxes.asnumpy(), scored[[1, 3, 0, 2]])
    assert (numbers.dtype, numbers.asnumpy().tolist()) == (weft.int32, [0, 1, 2, 3])
    assert kept.asnumpy().tolist() == [True, False, False, True]
    # a box that is suppressed suppresses none, and the threshold itself does not
    row = np.array([[0, 0, 10, 10, 0.9], [5, 0, 15, 10, 0.8], [10, 0, 20, 10, 0.7]], np.float32)
    assert both(ops.NMSWithMask(0.3), row)[2].asnumpy().tolist() == [True, False, True]
    half = np.array([[0, 0, 10, 10, 0.9], [0, 0, 10, 5, 0.8]], np.float32)
    assert ops.nms_with_mask(weft.Tensor(half), 0.5)[2].asnumpy().tolist() == [True, True]
    with pytest.raises(ValueError, match=r"\(N, 5\)"):
        ops.nms_with_mask(weft.Tensor(A))


def test_choices() -> None:
    mask = np.array([[True, False], [True, True]])
    choose = ops.RandomChoiceWithMask(4)
    for function in (choose, weft.jit(lambda m: choose(m))):
        seen = set()
        for _ in range(40):
            position, found = function(weft.Tensor(mask))
            assert (position.dtype, position.shape) == (weft.int32, (4, 2))
            assert found.asnumpy().tolist() == [True, True, True, False]
            rows = [tuple(row) for row in position.asnumpy().tolist()]
            assert sorted(rows[:3]) == [(0, 0), (1, 0), (1, 1)]
            assert rows[3] == (0, 0)
            seen.add(tuple(rows))
        assert len(seen) > 3
    position, found = ops.random_choice_with_mask(weft.Tensor(mask), 2)
    assert found.asnumpy().all()
    assert mask[tuple(position.asnumpy().T)].all()
    assert not ops.random_choice_with_mask(weft.Tensor(np.zeros(3, bool)), 2)[1].asnumpy().any()
    with pytest.raises(ValueError, match="count"):
        ops.random_choice_with_mask(weft.Tensor(mask), 0)


@pytest.mark.parametrize(
    ("settings", "roi", "expected"),
    [
        ((2, 2, 0.5, 2), [0, 1, 1, 8, 10], [[12.0, 14.0], [27.0, 29.0]]),
        ((2, 2, 0.5, 2, 0), [0, 1, 1, 8, 10], [[11.125, 12.875], [24.625, 26.375]]),
        ((2, 2, 1.0, 2), [0, 0, 0, 9, 9], [[17.5, 0.0], [0.0, 0.0]]),
        ((2, 2, 1.0, 2, 0), [0, 2, 2, 2.5, 2.25], [[15.75, 16.25], [18.75, 19.25]]),
        ((2, 2, 1.0, 2), [0, -2, -2, 2, 2], [[0.0, 0.875], [5.25, 12.25]]),
        ((2, 2, 1.0, 2, 1), [0, 3, 3, 1, 1], [[19.25, 18.75], [16.25, 15.75]]),
    ],
)
def test_regions(settings: tuple[Any, ...], roi: list[float], expected: list[list[float]]) -> None:
    align = ops.ROIAlign(*settings)
    found = both(lambda x, r: align(x, r.astype("float32")), MAP, np.array([roi]))
    np.testing.assert_allclose(found.asnumpy()[0, 0], expected, rtol=1e-6)


def test_gradients_of_regions() -> None:
    align = ops.ROIAlign(1, 1, 1.0, 1)

    def loss(x: Any, r: Any) -> Any:
        return align(x, r).sum()

    x, r = weft.Tensor(np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2)), weft.Tensor([[0.0, 0.0, 0.0, 0.5, 0.5]])
    for gradient in (weft.grad(loss, (0, 1)), weft.jit(weft.grad(loss, (0, 1)))):
        of_map, of_roi = gradient(x, r)
        np.testing.assert_allclose(of_map.asnumpy()[0, 0], [[0.0625, 0.1875], [0.1875, 0.5625]], rtol=1e-6)
        assert not of_roi.asnumpy().any()


def test_regions_of_images_that_are_not_there() -> None:
    align = ops.ROIAlign(2, 2, 1.0)
    for function in (align, weft.jit(lambda x, r: align(x, r * 1))):
        assert function(weft.Tensor(MAP), weft.Tensor([[0.0, 1.0, 1.0, 2.0, 2.0]])).shape == (1, 1, 2, 2)
        with pytest.raises(IndexError, match="no image"):
            function(weft.Tensor(MAP), weft.Tensor([[1.0, 1.0, 1.0, 2.0, 2.0]]))
    for settings in ((0, 1, 1.0), (1, 1, 1.0, 0), (1, 1, 1.0, 1, 2)):
        with pytest.raises(ValueError, match="roi_align"):
            ops.ROIAlign(*settings)(weft.Tensor(MAP), weft.Tensor([[0.0, 1.0, 1.0, 2.0, 2.0]]))
