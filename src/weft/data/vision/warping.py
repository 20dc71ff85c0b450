"""Where each pixel of a warped image comes from, to 1/32 of a pixel, as OpenCV counted until its release 5.

Later releases interpolate at exact places, and place ties differently, so that answers would depend on the release that
is installed.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weft.data.vision.libraries import cv2

_PLACES: Final = 5  # binary places of a position
_MORE: Final = 10  # those in which the terms of an affine map are added


def affinely(
    image: NDArray[Any], forward: NDArray[Any], size: tuple[int, int], flag: int, fill: tuple[float, ...]
) -> NDArray[Any]:
    """An image after an affine map.

    Args:
        image: the image.
        forward: where points go, a matrix of two rows.
        size: width and height of the result.
        flag: OpenCV's number of the interpolation.
        fill: colour of what was not in the image.
    """
    back = cv2.invertAffineTransform(np.asarray(forward, np.float64))
    across, along = np.arange(size[0]), np.arange(size[1])
    nearest = flag == cv2.INTER_NEAREST
    half = 1 << (_MORE - 1 if nearest else _MORE - _PLACES - 1)
    places = []
    for row in back:
        of_columns = np.rint(row[0] * across * (1 << _MORE)).astype(np.int64)
        of_rows = np.rint((row[1] * along + row[2]) * (1 << _MORE)).astype(np.int64) + half
        places.append((of_rows[:, None] + of_columns) >> (_MORE if nearest else _MORE - _PLACES))
    return _remapped(image, places[0], places[1], flag, fill)


def in_perspective(
    image: NDArray[Any], forward: NDArray[Any], size: tuple[int, int], flag: int, fill: tuple[float, ...]
) -> NDArray[Any]:
    """An image after a map of perspective.

    Args:
        image: the image.
        forward: where points go, a matrix of three rows.
        size: width and height of the result.
        flag: OpenCV's number of the interpolation.
        fill: colour of what was not in the image.
    """
    back = cv2.invert(np.asarray(forward, np.float64))[1]
    across, along = np.meshgrid(np.arange(size[0], dtype=np.float64), np.arange(size[1], dtype=np.float64))
    x, y, depth = (row[0] * across + row[1] * along + row[2] for row in back)
    whole = 1 if flag == cv2.INTER_NEAREST else 1 << _PLACES
    scale = np.where(depth != 0, whole / np.where(depth != 0, depth, 1), 0)
    bounds = np.iinfo(np.int32)
    places = [np.rint(np.clip(each * scale, bounds.min, bounds.max)).astype(np.int64) for each in (x, y)]
    return _remapped(image, places[0], places[1], flag, fill)


def _remapped(
    image: NDArray[Any], x: NDArray[np.int64], y: NDArray[np.int64], flag: int, fill: tuple[float, ...]
) -> NDArray[Any]:
    bounds = np.iinfo(np.int16)
    fractions = None
    if flag != cv2.INTER_NEAREST:
        below = (1 << _PLACES) - 1
        fractions = (((y & below) << _PLACES) + (x & below)).astype(np.uint16)
        x, y = x >> _PLACES, y >> _PLACES
    pixels = np.stack([x, y], -1).clip(bounds.min, bounds.max).astype(np.int16)
    done: NDArray[Any] = cv2.remap(image, pixels, fractions, flag, borderValue=fill)
    return done
