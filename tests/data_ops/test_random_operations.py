"""Random operations: what holds for any draw, that a generator decides, and how often things happen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.data_ops.answers import HERE, flat, kept
from tests.data_ops.inputs import inputs
from weft.data import text, transforms, vision
from weft.data.randomness import drawing_from

_, JPG = kept(HERE / "answers.npz")
NHWC = vision.ImageBatchFormat.NHWC
Made = Callable[[], Any]

#: operation, names of what it is applied to, shapes of what it gives
OPERATIONS: list[tuple[Made, str, Any]] = [
    (lambda: vision.RandomCrop(7), "big", (7, 7, 3)),
    (lambda: vision.RandomCrop((50, 30), 4, True, 3), "big", (50, 30, 3)),
    (lambda: vision.RandomCrop(5), "clip", (2, 5, 5, 3)),
    (lambda: vision.RandomCrop(7), "pil", (7, 7, 3)),
    (lambda: vision.RandomResizedCrop(9), "big", (9, 9, 3)),
    (lambda: vision.RandomResizedCrop((9, 5)), "pil", (9, 5, 3)),
    (lambda: vision.RandomCropDecodeResize((8, 6)), "jpg", (8, 6, 3)),
    (lambda: vision.RandomHorizontalFlip(), "big", (40, 36, 3)),
    (lambda: vision.RandomVerticalFlip(), "big", (40, 36, 3)),
    (lambda: vision.RandomResize((9, 8)), "big", (9, 8, 3)),
    (lambda: vision.RandomRotation(30), "big", (40, 36, 3)),
    (lambda: vision.RandomRotation(30), "pil", (12, 10, 3)),
    (lambda: vision.RandomAffine(15, (0.1, 0.1), (0.9, 1.1), 5), "big", (40, 36, 3)),
    (lambda: vision.RandomAffine(15, (0.1, 0.2, 0, 0.1), (0.9, 1.1), (0, 5, 0, 5)), "pil", (12, 10, 3)),
    (lambda: vision.RandomPerspective(0.5, 0.9), "pil", (12, 10, 3)),
    (lambda: vision.RandomColor(), "big", (40, 36, 3)),
    (lambda: vision.RandomColorAdjust(0.4, 0.4, 0.4, 0.1), "big", (40, 36, 3)),
    (lambda: vision.RandomColorAdjust(0.4, 0.4, 0.4, 0.1), "pil", (12, 10, 3)),
    (lambda: vision.RandomSharpness(), "big", (40, 36, 3)),
    (lambda: vision.RandomAdjustSharpness(3.0), "big", (40, 36, 3)),
    (lambda: vision.RandomAutoContrast(), "big", (40, 36, 3)),
    (lambda: vision.RandomEqualize(), "big", (40, 36, 3)),
    (lambda: vision.RandomInvert(), "big", (40, 36, 3)),
    (lambda: vision.RandomPosterize((1, 8)), "big", (40, 36, 3)),
    (lambda: vision.RandomSolarize((10, 150)), "big", (40, 36, 3)),
    (lambda: vision.RandomLighting(0.3), "big", (40, 36, 3)),
    (lambda: vision.RandomLighting(0.3), "pil", (12, 10, 3)),
    (lambda: vision.RandomGrayscale(0.5), "pil", (12, 10, 3)),
    (lambda: vision.RandomErasing(0.9, value="random"), "fchw", (3, 12, 10)),
    (lambda: vision.CutOut(6, 2), "big", (40, 36, 3)),
    (lambda: vision.CutOut(4, is_hwc=False), "chw", (3, 12, 10)),
    (lambda: vision.AutoAugment(), "big", (40, 36, 3)),
    (lambda: vision.AutoAugment(vision.AutoAugmentPolicy.CIFAR10), "big", (40, 36, 3)),
    (lambda: vision.AutoAugment(vision.AutoAugmentPolicy.SVHN), "big", (40, 36, 3)),
    (lambda: vision.RandAugment(), "big", (40, 36, 3)),
    (lambda: vision.TrivialAugmentWide(), "big", (40, 36, 3)),
    (lambda: vision.UniformAugment([vision.HorizontalFlip(), vision.Invert()]), "big", (40, 36, 3)),
    (
        lambda: vision.RandomSelectSubpolicy([[(vision.Invert(), 0.5)], [(vision.HorizontalFlip(), 1)]]),
        "big",
        (40, 36, 3),
    ),
    (lambda: vision.MixUpBatch(), "batch labels", ((2, 12, 10, 3), (2, 3))),
    (lambda: vision.MixUp(2, 1.0), "batch labels", ((2, 12, 10, 3), (2, 3))),
    (lambda: vision.CutMixBatch(NHWC), "batch labels", ((2, 12, 10, 3), (2, 3))),
    (lambda: vision.RandomHorizontalFlipWithBBox(), "hwc boxes", ((12, 10, 3), (2, 5))),
    (lambda: vision.RandomVerticalFlipWithBBox(), "hwc boxes", ((12, 10, 3), (2, 5))),
    (lambda: vision.RandomResizeWithBBox((24, 20)), "hwc boxes", ((24, 20, 3), (2, 5))),
    (lambda: vision.BoundingBoxAugment(vision.Invert(), 0.5), "hwc boxes", ((12, 10, 3), (2, 5))),
    (lambda: transforms.RandomApply([vision.Invert()]), "hwc", (12, 10, 3)),
    (lambda: transforms.RandomChoice([vision.Invert(), vision.HorizontalFlip()]), "hwc", (12, 10, 3)),
    (lambda: transforms.RandomOrder([vision.Invert(), vision.Posterize(3)]), "hwc", (12, 10, 3)),
]
IDS = [
    f"{type(made()).__name__}-{names.replace(' ', '-')}-{place}" for place, (made, names, _) in enumerate(OPERATIONS)
]


def shapes_of(result: Any) -> Any:
    if isinstance(result, tuple):
        return tuple(shapes_of(each) for each in result)
    return np.asarray(result).shape


@pytest.mark.parametrize(("made", "names", "shapes"), OPERATIONS, ids=IDS)
def test_shapes_kinds_and_draws(made: Made, names: str, shapes: Any) -> None:
    seen = set()
    for seed in range(12):
        given = [inputs(JPG)[name] for name in names.split()]
        before = [np.array(each) for each in given]
        answers = []
        for _ in range(2):
            with drawing_from(np.random.default_rng(seed)):
                answers.append(made()(*given))
        assert shapes_of(answers[0]) == shapes
        assert repr(flat(answers[0])) == repr(flat(answers[1]))
        for each, copy in zip(given, before, strict=True):
            assert np.array_equal(np.asarray(each), copy)  # what comes in is not written
        first = answers[0][0] if isinstance(answers[0], tuple) else answers[0]
        assert isinstance(first, Image.Image) == isinstance(given[0], Image.Image)
        seen.add(np.asarray(first).tobytes())
    assert len(seen) > 1


def frequency(happened: Callable[[], bool], times: int = 2000) -> float:
    with drawing_from(np.random.default_rng(7)):
        return sum(happened() for _ in range(times)) / times


@pytest.mark.parametrize("prob", [0.1, 0.5, 0.8])
def test_flips_happen_as_often_as_asked(prob: float) -> None:
    row = np.arange(6, dtype=np.uint8).reshape(1, 2, 3)
    flip = vision.RandomHorizontalFlip(prob)
    assert frequency(lambda: flip(row)[0, 0, 0] != 0) == pytest.approx(prob, abs=0.04)


def test_places_of_crops_are_equally_frequent() -> None:
    columns = np.tile(np.arange(5, dtype=np.uint8)[None, :, None], (3, 1, 1))
    crop = vision.RandomCrop((3, 3))
    with drawing_from(np.random.default_rng(0)):
        starts = [int(crop(columns)[0, 0, 0]) for _ in range(3000)]
    counts = np.bincount(starts, minlength=3) / 3000
    assert len(counts) == 3
    assert counts == pytest.approx([1 / 3] * 3, abs=0.04)


def test_resized_crops_keep_to_their_ranges() -> None:
    crop = vision.RandomResizedCrop(8, (0.2, 0.5), (0.5, 2.0))
    with drawing_from(np.random.default_rng(0)):
        for _ in range(300):
            top, left, height, width = crop.part(200, 300)
            assert 0 <= top <= 200 - height
            assert 0 <= left <= 300 - width
            assert 0.19 <= height * width / (200 * 300) <= 0.51
            assert 0.49 <= width / height <= 2.03


def test_strengths_keep_to_their_ranges() -> None:
    gray = np.full((4, 4, 3), 100, np.uint8)
    adjust = vision.RandomColorAdjust(brightness=(0.5, 1.5))
    with drawing_from(np.random.default_rng(0)):
        values = [int(adjust(gray)[0, 0, 0]) for _ in range(500)]
    assert 50 <= min(values) < 55
    assert 145 < max(values) <= 150


def test_mixed_labels_are_those_of_mixed_images() -> None:
    images = np.zeros((4, 8, 8, 3), np.float32) + np.arange(4, dtype=np.float32)[:, None, None, None]
    labels = np.eye(4, dtype=np.float32)
    for operation in (vision.MixUpBatch(1.0), vision.MixUp(4, 1.0), vision.CutMixBatch(NHWC, 1.0)):
        with drawing_from(np.random.default_rng(3)):
            mixed, new_labels = operation(images, labels)
        np.testing.assert_allclose(new_labels.sum(-1), 1, atol=1e-5)
        np.testing.assert_allclose(mixed.mean((1, 2, 3)), new_labels @ np.arange(4), atol=1e-4)


def test_mixing_with_the_batch_before() -> None:
    mix = vision.MixUp(2, 1.0, is_single=False)
    zeros, ones = np.zeros((2, 2, 2, 3)), np.ones((2, 2, 2, 3))
    first, _ = mix(zeros, np.eye(2))
    second, _ = mix(ones, np.eye(2))
    assert not first.any()
    assert ((second > 0) & (second < 1)).all()


def test_boxes_go_with_crops() -> None:
    image = np.zeros((20, 20, 3), np.uint8)
    image[5:9, 6:12] = 255
    boxes = np.array([[6, 5, 6, 4, 1]], np.float32)
    for seed in range(20):
        with drawing_from(np.random.default_rng(seed)):
            part, moved = vision.RandomCropWithBBox((12, 12))(image, boxes)
        x, y, width, height = moved[0, :4].astype(int)
        if part.any():
            assert part[y : y + height, x : x + width].all()
            assert part.sum() == 255 * 3 * width * height
        else:
            assert (x, y, width, height) == (0, 0, 12, 12)


def test_choices_are_equally_frequent() -> None:
    choice = transforms.RandomChoice([lambda x: x + 1, lambda x: x + 2])
    assert frequency(lambda: int(choice(np.array(0))) == 1) == pytest.approx(0.5, abs=0.04)
    order = transforms.RandomOrder([lambda x: x + 1, lambda x: x * 2])
    assert frequency(lambda: int(order(np.array(1))) == 4) == pytest.approx(0.5, abs=0.04)


def test_policies_do_something_to_most_images() -> None:
    image = inputs(JPG)["big"]
    for operation in (vision.AutoAugment(), vision.RandAugment(), vision.TrivialAugmentWide()):
        assert frequency(lambda: not np.array_equal(operation(image), image), 200) > 0.5


def test_tokenizers_are_not_random() -> None:
    assert text.WhitespaceTokenizer()("a b").tolist() == text.WhitespaceTokenizer()("a b").tolist()


def test_squares_cover_as_much_as_mindspores_do() -> None:
    white = np.full((20, 16, 3), 255, np.uint8)
    cut = vision.CutOut(6)
    with drawing_from(np.random.default_rng(0)):
        areas = np.array([int((cut(white)[..., 0] == 0).sum()) for _ in range(2000)])
    assert areas.mean() == pytest.approx(18.7, abs=1)
    assert areas.std() == pytest.approx(13.5, abs=1)


def test_boxes_are_changed_one_by_one() -> None:
    boxes = np.array([[0, 0, 2, 2], [4, 4, 2, 2], [8, 8, 2, 2]], np.float32)
    black = np.zeros((12, 12, 3), np.uint8)
    augment = vision.BoundingBoxAugment(vision.Invert(), 0.5)
    with drawing_from(np.random.default_rng(0)):
        counts = np.array([int((augment(black, boxes)[0] > 0).sum()) // 12 for _ in range(1000)])
    assert counts.mean() == pytest.approx(1.5, abs=0.1)
    assert counts.std() == pytest.approx(0.866, abs=0.1)


def test_erased_rectangles() -> None:
    white = np.full((3, 20, 16), 255, np.uint8)
    erase = vision.RandomErasing(1.0)
    with drawing_from(np.random.default_rng(0)):
        masks = [erase(white)[0] == 0 for _ in range(1000)]
    assert np.mean([mask.sum() for mask in masks]) == pytest.approx(53.5, abs=3)
    assert np.mean([mask.any(1).sum() / mask.any(0).sum() for mask in masks if mask.any()]) == pytest.approx(
        0.82, abs=0.08
    )
