"""Operations on images: NumPy arrays (H, W, C) and images of Pillow."""

from __future__ import annotations

from weft.data.transforms.composing import not_random
from weft.data.vision.boxes import (
    BoundingBoxAugment,
    RandomCropWithBBox,
    RandomHorizontalFlipWithBBox,
    RandomResizedCropWithBBox,
    RandomResizeWithBBox,
    RandomVerticalFlipWithBBox,
    ResizeWithBBox,
)
from weft.data.vision.colours import (
    AdjustBrightness,
    AdjustContrast,
    AdjustGamma,
    AdjustHue,
    AdjustSaturation,
    AdjustSharpness,
    AutoContrast,
    Equalize,
    GaussianBlur,
    Invert,
    Posterize,
    RandomAdjustSharpness,
    RandomAutoContrast,
    RandomColor,
    RandomColorAdjust,
    RandomEqualize,
    RandomGrayscale,
    RandomInvert,
    RandomLighting,
    RandomPosterize,
    RandomSharpness,
    RandomSolarize,
    Solarize,
)
from weft.data.vision.cropping import (
    CenterCrop,
    Crop,
    FiveCrop,
    Pad,
    PadToSize,
    RandomCrop,
    RandomCropDecodeResize,
    RandomResizedCrop,
    ResizedCrop,
    SlicePatches,
    TenCrop,
)
from weft.data.vision.enums import (
    AutoAugmentPolicy,
    Border,
    ConvertMode,
    ImageBatchFormat,
    ImageReadMode,
    Inter,
    SliceMode,
)
from weft.data.vision.erasing import CutMixBatch, CutOut, Erase, MixUp, MixUpBatch, RandomErasing
from weft.data.vision.files import (
    encode_jpeg,
    encode_png,
    get_image_num_channels,
    get_image_size,
    read_file,
    read_image,
    write_file,
    write_jpeg,
    write_png,
)
from weft.data.vision.geometry import (
    Affine,
    HorizontalFlip,
    Perspective,
    RandomAffine,
    RandomHorizontalFlip,
    RandomPerspective,
    RandomResize,
    RandomRotation,
    RandomVerticalFlip,
    Resize,
    Rotate,
    VerticalFlip,
)
from weft.data.vision.policies import (
    AutoAugment,
    RandAugment,
    RandomSelectSubpolicy,
    TrivialAugmentWide,
    UniformAugment,
)
from weft.data.vision.values import (
    HWC2CHW,
    ConvertColor,
    Decode,
    Grayscale,
    HsvToRgb,
    LinearTransformation,
    Normalize,
    NormalizePad,
    Rescale,
    RgbToHsv,
    ToNumpy,
    ToPIL,
    ToTensor,
    ToType,
)

__all__ = [
    "AdjustBrightness", "AdjustContrast", "AdjustGamma", "AdjustHue", "AdjustSaturation", "AdjustSharpness",
    "Affine", "AutoAugment", "AutoAugmentPolicy", "AutoContrast", "Border", "BoundingBoxAugment", "CenterCrop",
    "ConvertColor", "ConvertMode", "Crop", "CutMixBatch", "CutOut", "Decode", "Equalize", "Erase", "FiveCrop",
    "GaussianBlur", "Grayscale", "HWC2CHW", "HorizontalFlip", "HsvToRgb", "ImageBatchFormat", "ImageReadMode",
    "Inter", "Invert", "LinearTransformation", "MixUp", "MixUpBatch", "Normalize", "NormalizePad", "Pad",
    "PadToSize", "Perspective", "Posterize", "RandAugment", "RandomAdjustSharpness", "RandomAffine",
    "RandomAutoContrast", "RandomColor", "RandomColorAdjust", "RandomCrop", "RandomCropDecodeResize",
    "RandomCropWithBBox", "RandomEqualize", "RandomErasing", "RandomGrayscale", "RandomHorizontalFlip",
    "RandomHorizontalFlipWithBBox", "RandomInvert", "RandomLighting", "RandomPerspective", "RandomPosterize",
    "RandomResize", "RandomResizeWithBBox", "RandomResizedCrop", "RandomResizedCropWithBBox", "RandomRotation",
    "RandomSelectSubpolicy", "RandomSharpness", "RandomSolarize", "RandomVerticalFlip",
    "RandomVerticalFlipWithBBox", "Rescale", "Resize", "ResizeWithBBox", "ResizedCrop", "RgbToHsv", "Rotate",
    "SliceMode", "SlicePatches", "Solarize", "TenCrop", "ToNumpy", "ToPIL", "ToTensor", "ToType",
    "TrivialAugmentWide", "UniformAugment", "VerticalFlip", "encode_jpeg", "encode_png",
    "get_image_num_channels", "get_image_size", "not_random", "read_file", "read_image", "write_file",
    "write_jpeg", "write_png",
]  # fmt: skip
