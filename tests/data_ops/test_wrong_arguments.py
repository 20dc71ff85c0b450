"""Arguments that are wrong, one at a time, and which errors MindSpore 2.10 raises for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft.mindspore  # noqa: F401
from weft import dtypes
from weft.data import text, transforms, vision

INTER, BORDER = vision.Inter, vision.Border
VOCAB = text.Vocab.from_list(["a", "b"])
#: arguments that are right, by operation
RIGHT: dict[str, dict[str, Any]] = {
    "vision.AdjustBrightness": {"brightness_factor": 1.0},
    "vision.AdjustContrast": {"contrast_factor": 1.0},
    "vision.AdjustGamma": {"gamma": 1.0, "gain": 1.0},
    "vision.AdjustHue": {"hue_factor": 0.1},
    "vision.AdjustSaturation": {"saturation_factor": 1.0},
    "vision.AdjustSharpness": {"sharpness_factor": 1.0},
    "vision.Affine": {
        "degrees": 1.0,
        "translate": [0.1, 0.1],
        "scale": 1.0,
        "shear": [1.0, 1.0],
        "resample": INTER.NEAREST,
        "fill_value": 0,
    },
    "vision.AutoAugment": {
        "policy": vision.AutoAugmentPolicy.IMAGENET,
        "interpolation": INTER.NEAREST,
        "fill_value": 0,
    },
    "vision.AutoContrast": {"cutoff": 1.0, "ignore": 3},
    "vision.BoundingBoxAugment": {"transform": vision.HorizontalFlip(), "ratio": 0.3},
    "vision.CenterCrop": {"size": 3},
    "vision.Crop": {"coordinates": (1, 1), "size": 3},
    "vision.ConvertColor": {"convert_mode": vision.ConvertMode.COLOR_RGB2BGR},
    "vision.CutMixBatch": {"image_batch_format": vision.ImageBatchFormat.NHWC, "alpha": 1.0, "prob": 1.0},
    "vision.CutOut": {"length": 2, "num_patches": 1, "is_hwc": True},
    "vision.Decode": {"to_pil": False},
    "vision.Erase": {"top": 1, "left": 1, "height": 1, "width": 1, "value": 0, "inplace": False},
    "vision.FiveCrop": {"size": 3},
    "vision.GaussianBlur": {"kernel_size": 3, "sigma": 1.0},
    "vision.Grayscale": {"num_output_channels": 1},
    "vision.HsvToRgb": {"is_hwc": True},
    "vision.LinearTransformation": {"transformation_matrix": np.eye(3), "mean_vector": np.zeros(3)},
    "vision.MixUp": {"batch_size": 2, "alpha": 1.0, "is_single": True},
    "vision.MixUpBatch": {"alpha": 1.0},
    "vision.Normalize": {"mean": [0.5], "std": [0.5], "is_hwc": True},
    "vision.NormalizePad": {"mean": [0.5], "std": [0.5], "dtype": "float32", "is_hwc": True},
    "vision.Pad": {"padding": 1, "fill_value": 0, "padding_mode": BORDER.CONSTANT},
    "vision.PadToSize": {"size": 5, "offset": 1, "fill_value": 0, "padding_mode": BORDER.CONSTANT},
    "vision.Perspective": {"start_points": [[0, 0]] * 4, "end_points": [[0, 0]] * 4, "interpolation": INTER.BILINEAR},
    "vision.Posterize": {"bits": 3},
    "vision.RandAugment": {
        "num_ops": 2,
        "magnitude": 9,
        "num_magnitude_bins": 31,
        "interpolation": INTER.NEAREST,
        "fill_value": 0,
    },
    "vision.RandomAdjustSharpness": {"degree": 1.0, "prob": 0.5},
    "vision.RandomAffine": {
        "degrees": 1,
        "translate": (0.1, 0.1),
        "scale": (1.0, 1.0),
        "shear": 1,
        "resample": INTER.NEAREST,
        "fill_value": 0,
    },
    "vision.RandomAutoContrast": {"cutoff": 1.0, "ignore": 1, "prob": 0.5},
    "vision.RandomColor": {"degrees": (0.1, 1.0)},
    "vision.RandomColorAdjust": {"brightness": 1, "contrast": 1, "saturation": 1, "hue": 0.1},
    "vision.RandomCrop": {
        "size": 3,
        "padding": 1,
        "pad_if_needed": True,
        "fill_value": 0,
        "padding_mode": BORDER.CONSTANT,
    },
    "vision.RandomCropDecodeResize": {
        "size": 3,
        "scale": (0.1, 1.0),
        "ratio": (0.5, 1.0),
        "interpolation": INTER.BILINEAR,
        "max_attempts": 3,
    },
    "vision.RandomEqualize": {"prob": 0.5},
    "vision.RandomErasing": {
        "prob": 0.5,
        "scale": (0.1, 0.2),
        "ratio": (0.3, 3.0),
        "value": 0,
        "inplace": False,
        "max_attempts": 3,
    },
    "vision.RandomGrayscale": {"prob": 0.5},
    "vision.RandomHorizontalFlip": {"prob": 0.5},
    "vision.RandomInvert": {"prob": 0.5},
    "vision.RandomLighting": {"alpha": 0.1},
    "vision.RandomPerspective": {"distortion_scale": 0.5, "prob": 0.5, "interpolation": INTER.BICUBIC},
    "vision.RandomPosterize": {"bits": (1, 8)},
    "vision.RandomResize": {"size": 3},
    "vision.RandomResizedCrop": {
        "size": 3,
        "scale": (0.1, 1.0),
        "ratio": (0.5, 1.0),
        "interpolation": INTER.BILINEAR,
        "max_attempts": 3,
    },
    "vision.RandomRotation": {
        "degrees": 3,
        "resample": INTER.NEAREST,
        "expand": False,
        "center": None,
        "fill_value": 0,
    },
    "vision.RandomSelectSubpolicy": {"policy": [[(vision.HorizontalFlip(), 0.5)]]},
    "vision.RandomSharpness": {"degrees": (0.1, 1.0)},
    "vision.RandomSolarize": {"threshold": (1, 2)},
    "vision.Rescale": {"rescale": 1.0, "shift": 0.0},
    "vision.Resize": {"size": 3, "interpolation": INTER.LINEAR},
    "vision.ResizedCrop": {"top": 1, "left": 1, "height": 1, "width": 1, "size": 3, "interpolation": INTER.BILINEAR},
    "vision.Rotate": {"degrees": 3, "resample": INTER.NEAREST, "expand": False, "center": None, "fill_value": 0},
    "vision.SlicePatches": {"num_height": 1, "num_width": 1, "slice_mode": vision.SliceMode.PAD, "fill_value": 0},
    "vision.Solarize": {"threshold": 3},
    "vision.TenCrop": {"size": 3, "use_vertical_flip": False},
    "vision.ToTensor": {"output_type": np.float32},
    "vision.ToType": {"data_type": np.float32},
    "vision.TrivialAugmentWide": {"num_magnitude_bins": 31, "interpolation": INTER.NEAREST, "fill_value": 0},
    "vision.UniformAugment": {"transforms": [vision.HorizontalFlip()], "num_ops": 1},
    "transforms.Compose": {"transforms": [vision.HorizontalFlip()]},
    "transforms.Concatenate": {"axis": 0, "prepend": np.zeros(1), "append": np.zeros(1)},
    "transforms.Fill": {"fill_value": 1},
    "transforms.Mask": {"operator": transforms.Relational.EQ, "constant": 1, "dtype": dtypes.bool_},
    "transforms.OneHot": {"num_classes": 3, "smoothing_rate": 0.1},
    "transforms.PadEnd": {"pad_shape": [3], "pad_value": 1},
    "transforms.RandomApply": {"transforms": [vision.HorizontalFlip()], "prob": 0.5},
    "transforms.TypeCast": {"data_type": np.float32},
    "text.AddToken": {"token": "a", "begin": True},
    "text.BasicTokenizer": {
        "lower_case": False,
        "keep_whitespace": False,
        "normalization_form": text.NormalizeForm.NONE,
        "preserve_unused_token": True,
        "with_offsets": False,
    },
    "text.BertTokenizer": {
        "vocab": VOCAB,
        "suffix_indicator": "##",
        "max_bytes_per_token": 100,
        "unknown_token": "[UNK]",
        "lower_case": False,
    },
    "text.Lookup": {"vocab": VOCAB, "unknown_token": "a", "data_type": dtypes.int32},
    "text.Ngram": {"n": 2, "left_pad": ("", 0), "right_pad": ("", 0), "separator": " "},
    "text.NormalizeUTF8": {"normalize_form": text.NormalizeForm.NFC},
    "text.RegexReplace": {"pattern": "a", "replace": "b", "replace_all": True},
    "text.RegexTokenizer": {"delim_pattern": "a", "keep_delim_pattern": "b", "with_offsets": False},
    "text.SlidingWindow": {"width": 2, "axis": 0},
    "text.ToNumber": {"data_type": dtypes.int32},
    "text.Truncate": {"max_seq_len": 2},
    "text.TruncateSequencePair": {"max_length": 2},
    "text.UnicodeScriptTokenizer": {"keep_whitespace": False, "with_offsets": False},
    "text.WordpieceTokenizer": {
        "vocab": VOCAB,
        "suffix_indicator": "##",
        "max_bytes_per_token": 100,
        "unknown_token": "[UNK]",
    },
    "text.Vocab.from_list": {"word_list": ["a"], "special_tokens": ["b"], "special_first": True},
}
#: what is put in the place of each
WRONG: tuple[Any, ...] = (
    "abc", -1, 0, None, [], (), 1.5, -0.5, True, 10**9, 10**18, (1,), (3, 1), (1, 2), [1, 2, 3], (1, 2, 3), ("a", "b"),
    (-1, 1), (0.5, 0.2), {}, np.zeros(2), float("inf"), (1, 2, 3, 4), 300,
)  # fmt: skip
ERRORS = {"T": TypeError, "V": ValueError, "R": RuntimeError}


def recorded() -> list[tuple[str, str, str]]:
    """Operation, argument, a letter for each wrong value: that of an error, ``o`` for none, ``.`` where weft differs.

    It differs where MindSpore takes bool for a number, has no bounds, or raises an error by accident.
    """
    lines = (Path(__file__).parent / "wrong_arguments.txt").read_text(encoding="utf-8").splitlines()
    return [(operation, argument, letters) for operation, argument, letters in map(str.split, lines)]


@pytest.mark.parametrize(("operation", "argument", "letters"), recorded())
def test_wrong_arguments(operation: str, argument: str, letters: str) -> None:
    made: Any = {"vision": vision, "transforms": transforms, "text": text}[operation.partition(".")[0]]
    for name in operation.split(".")[1:]:
        made = getattr(made, name)
    made(**RIGHT[operation])
    for letter, value in zip(letters, WRONG, strict=True):
        if letter == ".":
            continue
        arguments = {**RIGHT[operation], argument: value}
        if letter == "o":
            made(**arguments)
            continue
        try:
            made(**arguments)
        except ERRORS[letter]:
            continue
        pytest.fail(f"{operation}({argument}={value!r}) raises no {ERRORS[letter].__name__}")


def test_messages_name_argument_and_value() -> None:
    for call, named in (
        (lambda: vision.RandomHorizontalFlip(1.5), "prob with value 1.5"),
        (lambda: vision.Resize((3, 0)), "size at dim 1 with value 0"),
        (lambda: vision.Normalize([0.5, 300], [1, 1]), r"mean\[1\] with value 300"),
        (lambda: transforms.Compose([vision.Resize]), r"transforms\[0\] .* parentheses"),
        (lambda: text.Truncate("a"), "max_seq_len with value a"),
    ):
        with pytest.raises((TypeError, ValueError), match=named):
            call()
