"""Operations on the values of pixels and on what holds them: scales, element types, order of axes, encodings."""

from __future__ import annotations

import io
from collections.abc import Sequence
from types import ModuleType
from typing import Any, Final

import numpy as np

from weft.data import checks
from weft.data.operation import Operation, is_pil
from weft.data.transforms.elements import TypeCast, checked_dtype
from weft.data.vision import on_arrays, on_pil
from weft.data.vision.enums import ConvertMode
from weft.data.vision.image_operation import ONLY_ARRAYS, ONLY_PIL, ImageOperation, OnDevice
from weft.data.vision.libraries import Image, cv2


class Decode(OnDevice):
    """The image that encoded bytes hold, in RGB.

    Args:
        to_pil: whether to give an image of Pillow instead of an array (H, W, C).
    """

    def __init__(self, to_pil: bool = False) -> None:
        self.to_pil = checks.boolean(to_pil, "to_pil")
        self.in_python = to_pil

    def received(self, column: Any) -> Any:
        if isinstance(column, (bytes, bytearray)):
            column = np.frombuffer(column, np.uint8)
        if not isinstance(column, np.ndarray):
            raise TypeError(f"The type of the encoded image should be {np.ndarray}, but got {type(column)}.")
        if column.dtype.kind == "S" and column.size == 1:
            column = np.frombuffer(column.tobytes(), np.uint8)
        if column.ndim != 1:
            raise TypeError(f"The number of array dimensions of the encoded image should be 1, but got {column.ndim}.")
        return column

    def apply(self, *columns: Any) -> Any:
        (encoded,) = columns
        if self.to_pil:
            return opened(encoded)
        return decoded(encoded, self.name)


def opened(encoded: np.ndarray[Any, Any]) -> Any:
    """The image of Pillow that encoded bytes hold."""
    try:
        return Image.open(io.BytesIO(encoded.tobytes())).convert("RGB")
    except (OSError, ValueError) as wrong:
        raise ValueError(f"{wrong}: Failed to decode given image.") from wrong


def decoded(encoded: np.ndarray[Any, Any], name: str) -> Any:
    """The array (H, W, 3) that encoded bytes hold."""
    found = None
    if encoded.dtype.itemsize == 1 and encoded.size:
        found = cv2.imdecode(encoded.view(np.uint8), cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION)
    if found is None:
        raise RuntimeError(f"{name}: image decode failed: the data is no image of a known format.")
    return cv2.cvtColor(found, cv2.COLOR_BGR2RGB)


class Rescale(ImageOperation):
    """Each value times a number plus another, in float32.

    Args:
        rescale: the factor.
        shift: what is added.
    """

    def __init__(self, rescale: float, shift: float) -> None:
        self.rescale = checks.real(rescale, "rescale")
        self.shift = checks.real(shift, "shift")

    def on(self, image: Any, room: ModuleType) -> Any:
        if image.dtype.kind not in "biuf":
            raise RuntimeError(f"the image should hold numbers, but got element type {image.dtype}.")
        return image.astype(np.float32) * np.float32(self.rescale) + np.float32(self.shift)

    def for_all(self, column: Any) -> Any:
        return self.on(column, on_arrays) if column.ndim > 1 and column.dtype.kind in "biuf" else None


class Normalize(ImageOperation):
    """Each channel minus its mean, divided by its standard deviation, in float32.

    Args:
        mean: means of the channels.
        std: standard deviations of the channels.
        is_hwc: whether the channels come last.
    """

    def __init__(self, mean: Sequence[float], std: Sequence[float], is_hwc: bool = True) -> None:
        for name, values, without_low in (("mean", mean, False), ("std", std, True)):
            checks.of_type(values, (list, tuple), name)
            for place, value in enumerate(values):
                each = f"{name}[{place}]"
                checks.of_type(value, (int, float), each)
                checks.within(value, 0, 255, each, without_low=without_low)
        if len(mean) != len(std):
            raise ValueError(f"Length of mean and std must be equal, but got {mean!r} and {std!r}.")
        self.mean = np.array(mean, np.float32)
        self.std = np.array(std, np.float32)
        self.is_hwc = checks.boolean(is_hwc, "is_hwc")

    def on(self, image: Any, room: ModuleType) -> Any:
        if image.ndim < 2:
            raise RuntimeError(f"the image should have at least 2 dimensions, but got {image.ndim}.")
        axis = -1 if self.is_hwc else -3
        channels = 1 if image.ndim == 2 else image.shape[axis]
        if len(self.mean) not in (1, channels):
            raise RuntimeError(
                f"number of channels does not match the size of mean and std, got channels: {channels}, size of mean: "
                f"{len(self.mean)}."
            )
        mean, std = self.mean, self.std
        done = image.astype(np.float32, order="C")
        rows = done
        if not self.is_hwc and image.ndim > 2:
            mean, std = mean[:, None, None], std[:, None, None]
        elif len(mean) > 1 and done.size:  # long rows are computed faster than many short ones
            width = image.shape[-2]
            mean, std = np.tile(mean, width), np.tile(std, width)
            rows = done.reshape(-1, mean.size)
        rows -= mean
        rows /= std
        return done


class NormalizePad(Normalize):
    """`Normalize`, with a channel of zeros after the others.

    Args:
        mean: means of the channels.
        std: standard deviations of the channels.
        dtype: ``"float32"`` or ``"float16"``.
        is_hwc: whether the channels come last.
    """

    def __init__(
        self, mean: Sequence[float], std: Sequence[float], dtype: str = "float32", is_hwc: bool = True
    ) -> None:
        super().__init__(mean, std, is_hwc)
        if not isinstance(dtype, str):
            raise TypeError(f"dtype should be string, but got {dtype!r}.")
        if dtype not in ("float32", "float16"):
            raise ValueError(f"dtype only supports float32 or float16, but got {dtype!r}.")
        self.dtype = dtype

    def on(self, image: Any, room: ModuleType) -> Any:
        on_arrays.needs(image)
        done = super().on(image, room)
        axis = 2 if self.is_hwc or image.ndim == 2 else 0
        done = done[:, :, None] if done.ndim == 2 else done
        return np.concatenate([done, np.zeros_like(done.take([0], axis))], axis).astype(self.dtype)


class HWC2CHW(ImageOperation):
    """The channels first instead of last."""

    def on(self, image: Any, room: ModuleType) -> Any:
        on_arrays.needs(image)
        return image if image.ndim == 2 else np.ascontiguousarray(image.transpose(2, 0, 1))

    def for_all(self, column: Any) -> Any:
        return np.ascontiguousarray(column.transpose(0, 3, 1, 2)) if column.ndim == 4 else None


class ToTensor(ImageOperation):
    """The channels first, and values divided by 255.

    Args:
        output_type: element type of the result, of weft or NumPy.
    """

    def __init__(self, output_type: Any = np.float32) -> None:
        self.output_type = checked_dtype(output_type, "output_type")

    def on(self, image: Any, room: ModuleType) -> Any:
        on_arrays.needs(image)
        channels_last = image[:, :, None] if image.ndim == 2 else image
        scaled = np.ascontiguousarray(channels_last.transpose(2, 0, 1)).astype(np.float32) / np.float32(255)
        return scaled.astype(self.output_type)

    def for_all(self, column: Any) -> Any:
        if column.ndim != 4:
            return None
        scaled = np.ascontiguousarray(column.transpose(0, 3, 1, 2)).astype(np.float32) / np.float32(255)
        return scaled.astype(self.output_type)


class ToPIL(Operation):
    """An image of Pillow."""

    in_python = True
    #: modes of images with one channel; others hold bytes
    _GRAY: Final = {
        "bool": None,
        "uint8": None,
        "int8": "I",
        "int16": "I",
        "uint16": None,
        "int32": None,
        "uint32": "I",
        "float32": None,
        "float64": "F",
    }

    def received(self, column: Any) -> Any:
        if not isinstance(column, np.ndarray) and not is_pil(column):
            raise TypeError(f"The input image should be of type numpy.ndarray or PIL.Image.Image. Got {type(column)}.")
        return column

    def apply(self, *columns: Any) -> Any:
        (image,) = columns
        if is_pil(image):
            return image
        if image.ndim not in (2, 3):
            raise ValueError(f"The dimension of input image should be 2 or 3. Got {image.ndim}.")
        if image.ndim == 3 and image.shape[2] > 4:
            raise ValueError(f"The channel of input image should not exceed 4. Got {image.shape[2]}.")
        if image.ndim == 3 and image.shape[2] == 1:
            image = image[:, :, 0]
        kind = image.dtype.name
        if image.ndim == 2:
            if kind not in self._GRAY:
                raise TypeError(
                    f"The input image type {kind} is not supported when image shape is [H, W] or [H, W, 1]."
                )
            wider = {"I": np.int32, "F": np.float32}.get(self._GRAY[kind] or "")
            return Image.fromarray(image if wider is None else image.astype(wider))
        if kind not in ("uint8", "bool"):
            raise TypeError(
                f"The input image type {kind} is not supported when image shape is [H, W, 2], [H, W, 3] or [H, W, 4]."
            )
        return Image.fromarray(image.astype(np.uint8))


class ToNumpy(Operation):
    """An array of an image."""

    def apply(self, *columns: Any) -> Any:
        return columns[0]


class ToType(TypeCast):
    """Values in another element type; see `transforms.TypeCast`."""


class Grayscale(ImageOperation):
    """The image without colour.

    Args:
        num_output_channels: 1, or 3 for three equal ones.
    """

    takes = ONLY_PIL
    in_python = True

    def __init__(self, num_output_channels: int = 1) -> None:
        checks.of_type(num_output_channels, int, "num_output_channels")
        if num_output_channels not in (1, 3):
            raise ValueError(
                f"Number of channels of the output grayscale image should be either 1 or 3. Got {num_output_channels}."
            )
        self.channels = num_output_channels

    def on(self, image: Any, room: ModuleType) -> Any:
        return on_pil.grayscale(image, self.channels)


class ConvertColor(ImageOperation):
    """The channels in another order, with or without transparency or colour.

    Args:
        convert_mode: from which channels to which.
    """

    #: OpenCV's names of the conversions, in the order of their numbers
    _CODES: Final = (
        *("RGB2RGBA", "RGBA2RGB", "BGR2RGBA", "RGBA2BGR", "BGR2RGB", "BGRA2RGBA"),
        *("BGR2GRAY", "RGB2GRAY", "GRAY2RGB", "GRAY2RGBA", "BGRA2GRAY", "RGBA2GRAY"),
    )

    def __init__(self, convert_mode: ConvertMode) -> None:
        checks.of_type(convert_mode, ConvertMode, "convert_mode")
        self.convert_mode = convert_mode

    def on(self, image: Any, room: ModuleType) -> Any:
        on_arrays.needs(image)
        return cv2.cvtColor(np.ascontiguousarray(image), getattr(cv2, f"COLOR_{self._CODES[int(self.convert_mode)]}"))


class LinearTransformation(ImageOperation):
    """All values of the image, minus means, times a square matrix.

    Args:
        transformation_matrix: the matrix, of shape (D, D), where D is the number of values.
        mean_vector: the means, of shape (D,).
    """

    takes = ONLY_ARRAYS
    in_python = True

    def __init__(self, transformation_matrix: Any, mean_vector: Any) -> None:
        checks.of_type(transformation_matrix, np.ndarray, "transformation_matrix")
        checks.of_type(mean_vector, np.ndarray, "mean_vector")
        shape = transformation_matrix.shape
        if len(shape) != 2 or shape[0] != shape[1]:
            raise ValueError(f"transformation_matrix should be a square matrix. Got shape {shape} instead.")
        if mean_vector.shape != shape[:1]:
            raise ValueError(f"mean_vector length {mean_vector.shape} should match either one dimension of {shape}.")
        self.matrix, self.mean = transformation_matrix, mean_vector

    def on(self, image: Any, room: ModuleType) -> Any:
        if image.size != len(self.mean):
            raise ValueError(
                f"transformation_matrix shape {self.matrix.shape} not compatible with Numpy image shape {image.shape}."
            )
        return np.dot(image.reshape(1, -1) - self.mean, self.matrix).reshape(image.shape)


class _Hsv(ImageOperation):
    """Between colours as red, green and blue, and as hue, saturation and value, all from 0 to 1.

    Args:
        is_hwc: whether the channels come last.
    """

    takes = ONLY_ARRAYS
    in_python = True

    def __init__(self, is_hwc: bool = False) -> None:
        self.is_hwc = checks.boolean(is_hwc, "is_hwc")

    def on(self, image: Any, room: ModuleType) -> Any:
        if image.ndim not in (3, 4):
            raise TypeError(f"img shape should be (H, W, C)/(N, H, W, C)/(C, H, W)/(N, C, H, W). Got {image.shape}.")
        axis = -1 if self.is_hwc else -3
        if image.shape[axis] != 3:
            raise TypeError(f"img should be 3 channels RGB img. Got {image.shape[axis]} channels.")
        first, second, third = np.moveaxis(image, axis, 0)
        return np.stack(self.changed(first, second, third), axis)

    def changed(self, first: Any, second: Any, third: Any) -> Sequence[Any]:
        """The three new channels."""
        raise NotImplementedError


class RgbToHsv(_Hsv):
    """Hue, saturation and value of red, green and blue."""

    def changed(self, first: Any, second: Any, third: Any) -> Sequence[Any]:
        red, green, blue = (channel.astype(np.float64) for channel in (first, second, third))
        high, low = np.maximum(np.maximum(red, green), blue), np.minimum(np.minimum(red, green), blue)
        spread = np.where(high > low, high - low, 1.0)
        saturation = np.where(high > low, (high - low) / np.where(high > 0, high, 1.0), 0.0)
        to_red, to_green, to_blue = (high - red) / spread, (high - green) / spread, (high - blue) / spread
        hue = np.where(red == high, to_blue - to_green, 4.0 + to_green - to_red)
        hue = np.where((green == high) & (red != high), 2.0 + to_red - to_blue, hue)
        return np.where(high > low, hue / 6.0 % 1.0, 0.0), saturation, high


class HsvToRgb(_Hsv):
    """Red, green and blue of hue, saturation and value."""

    def changed(self, first: Any, second: Any, third: Any) -> Sequence[Any]:
        kind = first.dtype
        hue, saturation, value = (each.astype(np.float64) for each in (first, second, third))
        sixth = (hue * 6.0).astype(np.int64)
        rest = hue * 6.0 - sixth
        low = value * (1.0 - saturation)
        falling = value * (1.0 - saturation * rest)
        rising = value * (1.0 - saturation * (1.0 - rest))
        which = sixth % 6
        red = np.choose(which, [value, falling, low, low, rising, value])
        green = np.choose(which, [rising, value, value, falling, low, low])
        blue = np.choose(which, [low, low, rising, value, value, falling])
        return red.astype(kind), green.astype(kind), blue.astype(kind)
