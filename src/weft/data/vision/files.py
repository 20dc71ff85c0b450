"""Images and files: what is read, written and encoded, and how large an image is."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from weft.data.operation import is_pil
from weft.data.vision.enums import ImageReadMode
from weft.data.vision.libraries import cv2


def _name_of(filename: Any) -> str:
    if not isinstance(filename, str):
        raise TypeError(f"Input filename is not of type {str}, but got: {type(filename)}.")
    return filename


def _array(image: Any, name: str) -> Any:
    """The array of an image, which may be a tensor."""
    if not isinstance(image, np.ndarray) and hasattr(image, "asnumpy"):
        image = image.asnumpy()
    if not isinstance(image, np.ndarray):
        raise TypeError(f"Input {name} is not of type {np.ndarray} or Tensor, but got: {type(image)}.")
    return image


def read_file(filename: str) -> Any:
    """The bytes of a file.

    Args:
        filename: path of the file.

    Returns:
        numpy.ndarray: the bytes, in one dimension.
    """
    if not os.path.exists(_name_of(filename)):
        raise RuntimeError(f"ReadFile: Invalid file path, {filename} does not exist.")
    if not os.path.isfile(filename):
        raise RuntimeError(f"ReadFile: Invalid file path, {filename} is not a regular file.")
    return np.fromfile(filename, np.uint8)


def write_file(filename: str, data: Any) -> None:
    """Write bytes to a file.

    Args:
        filename: path of the file.
        data: array or tensor of uint8, in one dimension.
    """
    _name_of(filename)
    array = _array(data, "data")
    _bytes_only(array, "WriteFile")
    if array.ndim != 1:
        raise RuntimeError(f"WriteFile: The data has invalid dimensions. It should be one, but got {array.ndim}.")
    with open(filename, "wb") as file:
        file.write(array.tobytes())


def _bytes_only(array: Any, name: str) -> None:
    if array.dtype != np.uint8:
        raise RuntimeError(f"{name}: The type of the elements should be UINT8, but got {array.dtype.name}.")


def read_image(filename: str, mode: ImageReadMode = ImageReadMode.UNCHANGED) -> Any:
    """The image of a file.

    Args:
        filename: path of the file.
        mode: as what it is read.

    Returns:
        numpy.ndarray: the image, (H, W, C), in RGB, without transparency.
    """
    _name_of(filename)
    if not isinstance(mode, ImageReadMode):
        raise TypeError(f"Input mode is not of type {ImageReadMode}, but got: {type(mode)}.")
    if not os.path.isfile(filename):
        raise RuntimeError(f"ReadImage: Invalid file path, {filename} does not exist.")
    flags = {
        ImageReadMode.UNCHANGED: "IMREAD_UNCHANGED",
        ImageReadMode.GRAYSCALE: "IMREAD_GRAYSCALE",
        ImageReadMode.COLOR: "IMREAD_COLOR",
    }
    image = cv2.imdecode(np.fromfile(filename, np.uint8), getattr(cv2, flags[mode]))
    if image is None:
        raise RuntimeError(f"ReadImage: Failed to read file {filename}.")
    if image.ndim == 2:
        return image[:, :, None]
    return cv2.cvtColor(image, cv2.COLOR_BGR2RGB if image.shape[2] == 3 else cv2.COLOR_BGRA2RGB)


def _encoded(image: Any, name: str, suffix: str, setting: str, value: int, low: int, high: int) -> Any:
    array = _array(image, "image")
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"Input {setting} is not of type {int}, but got: {type(value)}.")
    _bytes_only(array, name)
    if array.ndim not in (2, 3):
        raise RuntimeError(
            f"{name}: The image has invalid dimensions. It should have two or three dimensions, but got {array.ndim}."
        )
    if array.ndim == 3 and array.shape[2] not in (1, 3):
        raise RuntimeError(
            f"{name}: The image has invalid channels. It should have 1 or 3 channels, but got {array.shape[2]}."
        )
    if not low <= value <= high:
        raise RuntimeError(f"{name}: Invalid {setting} {value}, should be in range of [{low}, {high}].")
    if array.ndim == 3 and array.shape[2] == 3:
        array = cv2.cvtColor(array, cv2.COLOR_RGB2BGR)
    flag = cv2.IMWRITE_PNG_COMPRESSION if suffix == ".png" else cv2.IMWRITE_JPEG_QUALITY
    _, encoded = cv2.imencode(suffix, array, [flag, value])
    return encoded.reshape(-1)


def encode_jpeg(image: Any, quality: int = 75) -> Any:
    """The bytes of an image as JPEG.

    Args:
        image: array or tensor of uint8, (H, W) or (H, W, C).
        quality: from 1 to 100.

    Returns:
        numpy.ndarray: the bytes.
    """
    return _encoded(image, "EncodeJpeg", ".jpg", "quality", quality, 1, 100)


def encode_png(image: Any, compression_level: int = 6) -> Any:
    """The bytes of an image as PNG.

    Args:
        image: array or tensor of uint8, (H, W) or (H, W, C).
        compression_level: from 0 to 9.

    Returns:
        numpy.ndarray: the bytes.
    """
    return _encoded(image, "EncodePng", ".png", "compression_level", compression_level, 0, 9)


def write_jpeg(filename: str, image: Any, quality: int = 75) -> None:
    """Write an image to a file as JPEG.

    Args:
        filename: path of the file.
        image: array or tensor of uint8, (H, W) or (H, W, C).
        quality: from 1 to 100.
    """
    write_file(_name_of(filename), _encoded(image, "WriteJpeg", ".jpg", "quality", quality, 1, 100))


def write_png(filename: str, image: Any, compression_level: int = 6) -> None:
    """Write an image to a file as PNG.

    Args:
        filename: path of the file.
        image: array or tensor of uint8, (H, W) or (H, W, C).
        compression_level: from 0 to 9.
    """
    write_file(_name_of(filename), _encoded(image, "WritePng", ".png", "compression_level", compression_level, 0, 9))


def _image(image: Any, name: str) -> Any:
    if is_pil(image):
        return np.asarray(image)
    if not isinstance(image, np.ndarray):
        raise TypeError(f"Input image is not of type {np.ndarray} or PIL.Image.Image, but got: {type(image)}.")
    if image.ndim < 2:
        raise RuntimeError(
            f"{name}: invalid parameter, image should have at least two dimensions, but got: {image.ndim}"
        )
    return image


def get_image_size(image: Any) -> list[int]:
    """Height and width of an image.

    Args:
        image: array or image of Pillow.

    Returns:
        list: height and width.
    """
    array = _image(image, "GetImageSize")
    return list(array.shape[:2] if array.ndim == 2 else array.shape[-3:-1])


def get_image_num_channels(image: Any) -> int:
    """How many channels an image has.

    Args:
        image: array or image of Pillow.

    Returns:
        int: the number.
    """
    array = _image(image, "GetImageNumChannels")
    return 1 if array.ndim == 2 else int(array.shape[-1])
