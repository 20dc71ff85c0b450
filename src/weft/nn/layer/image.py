"""How alike images are."""

from __future__ import annotations

import math
from typing import Any

from weft.core.tensor import Tensor
from weft.nn.cell import Cell
from weft.ops.elementwise import log
from weft.ops.math import square
from weft.ops.reduce import reduce_mean


class PSNR(Cell):
    """The ratio of the largest square to the mean squared difference of two images, in decibels.

    Args:
        max_val: the largest value of a pixel.

    Example:
        >>> import weft
        >>> first, second = weft.ops.ones((1, 1, 2, 2)), weft.ops.zeros((1, 1, 2, 2))
        >>> print(PSNR(max_val=1.0)(first, second))
        [0.]
    """

    def __init__(self, max_val: Any = 1.0) -> None:
        super().__init__()
        if isinstance(max_val, bool) or not isinstance(max_val, (int, float)):
            raise TypeError(f"PSNR: max_val must be a number, not {type(max_val).__name__}")
        if max_val <= 0:
            raise ValueError(f"PSNR: max_val must be positive, not {max_val}")
        self.max_val = max_val

    def construct(self, img1: Tensor, img2: Tensor) -> Tensor:
        if img1.shape != img2.shape:
            raise ValueError(f"PSNR: the images have shapes {img1.shape} and {img2.shape}")
        if img1.ndim != 4:
            raise ValueError(f"PSNR: images must have 4 dimensions (N, C, H, W), not shape {img1.shape}")
        error = reduce_mean(square(img1 - img2), (1, 2, 3))
        return log(self.max_val**2 / error) * (10 / math.log(10))
