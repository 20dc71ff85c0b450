"""How alike images are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from weft.core import Tensor
from weft.nn.declared import Shown
from weft.ops import operations
from weft.ops._checks import floats, lists, positive_ints, reals
from weft.ops.conv import conv2d
from weft.ops.elementwise import log
from weft.ops.joining import stack
from weft.ops.math import square
from weft.ops.pool import avg_pool2d
from weft.ops.reduce import reduce_mean


class _Comparison(Shown):
    """Base of what compares images.

    Args:
        max_val: the largest value of a pixel.
    """

    def __init__(self, max_val: Any = 1.0) -> None:
        super().__init__()
        self.max_val = self._positive("max_val", max_val)

    def _positive(self, what: str, value: Any) -> Any:
        name = type(self).__name__
        reals(name, **{what: value})
        if value <= 0:
            raise ValueError(f"{name}: {what} must be positive, not {value}")
        return value

    def _check(self, img1: Tensor, img2: Tensor) -> None:
        name = type(self).__name__
        if img1.shape != img2.shape:
            raise ValueError(f"{name}: the images have shapes {img1.shape} and {img2.shape}")
        if img1.ndim != 4:
            raise ValueError(f"{name}: images must have 4 dimensions (N, C, H, W), not shape {img1.shape}")


class PSNR(_Comparison, shows=("PSNR()(Tensor([[[[1.0, 1.0]]]]), Tensor([[[[0.0, 0.0]]]]))", "[0.]")):
    """The ratio of the largest square to the mean squared difference of two images, in decibels."""

    def construct(self, img1: Tensor, img2: Tensor) -> Tensor:
        self._check(img1, img2)
        error = reduce_mean(square(img1 - img2), (1, 2, 3))
        return log(self.max_val**2 / error) * (10 / math.log(10))


class SSIM(
    _Comparison, shows=("SSIM(filter_size=2)(Tensor([[[[1.0, 2.0]] * 2]]), Tensor([[[[1.0, 2.0]] * 2]]))", "[1.]")
):
    """How alike the structures of two images are: 1 where they are the same.

    Means and variances are those of windows, weighted as a normal distribution.

    Args:
        filter_size: side of a window.
        filter_sigma: standard deviation of the weights.
        k1: steadies the comparison of means.
        k2: steadies the comparison of variances.

    Raises:
        TypeError: an argument is no number.
        ValueError: a number is not positive, or an image is smaller than a window (raised when called).
    """

    def __init__(
        self, max_val: float = 1.0, filter_size: int = 11, filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03
    ) -> None:
        super().__init__(max_val)
        name = type(self).__name__
        positive_ints(name, filter_size=filter_size)
        floats(name, filter_sigma=filter_sigma, k1=k1, k2=k2)
        self.filter_size = filter_size
        self.filter_sigma = self._positive("filter_sigma", filter_sigma)
        self.c1, self.c2 = (k1 * max_val) ** 2, (k2 * max_val) ** 2
        place = np.arange(filter_size) - (filter_size - 1) / 2
        weights = np.exp(-np.square(place) / (2 * filter_sigma**2))
        self._weights = np.outer(weights, weights) / weights.sum() ** 2

    def _filtered(self, image: Tensor, kernel: Tensor) -> Tensor:
        count, channels, height, width = image.shape
        found = conv2d(image.reshape((count * channels, 1, height, width)), kernel)
        return found.reshape((count, channels, *found.shape[2:]))

    def _compared(self, img1: Tensor, img2: Tensor) -> tuple[Tensor, Tensor]:
        """For each image the mean of the similarity, and of the part of it that the variances make."""
        kernel = Tensor(self._weights[None, None].astype(img1.dtype.np_dtype))
        first, second = self._filtered(img1, kernel), self._filtered(img2, kernel)
        both = first * second
        squares = square(first) + square(second)
        products = self._filtered(img1 * img2, kernel)
        spread = self._filtered(square(img1) + square(img2), kernel)
        structure = (2.0 * (products - both) + self.c2) / (spread - squares + self.c2)
        luminance = (2.0 * both + self.c1) / (squares + self.c1)
        return reduce_mean(luminance * structure, (1, 2, 3)), reduce_mean(structure, (1, 2, 3))

    def _check(self, img1: Tensor, img2: Tensor) -> None:
        super()._check(img1, img2)
        name = type(self).__name__
        if img1.dtype != img2.dtype:
            raise TypeError(f"{name}: the images have element types {img1.dtype} and {img2.dtype}")
        if min(img1.shape[2:]) < self.filter_size:
            raise ValueError(f"{name}: images of {img1.shape[2:]} are smaller than a window of {self.filter_size}")

    def construct(self, img1: Tensor, img2: Tensor) -> Tensor:
        self._check(img1, img2)
        return self._compared(img1, img2)[0]


class MSSSIM(
    SSIM, shows=("MSSSIM(1.0, (0.5, 0.5), 2)(Tensor([[[[1.0] * 4] * 4]]), Tensor([[[[1.0] * 4] * 4]]))", "[1.]")
):
    """`SSIM` at several sizes of the images, each half of the one before, weighted.

    Args:
        power_factors: the weights, the largest size first.
        filter_sigma: standard deviation of the weights of a window.
    """

    def __init__(
        self,
        max_val: float = 1.0,
        power_factors: Any = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333),
        filter_size: int = 11,
        filter_sigma: float = 1.5,
        k1: float = 0.01,
        k2: float = 0.03,
    ) -> None:
        super().__init__(max_val, filter_size, filter_sigma, k1, k2)
        lists("MSSSIM", power_factors=power_factors)
        self.power_factors = tuple(float(each) for each in power_factors)

    def construct(self, img1: Tensor, img2: Tensor) -> Tensor:
        found: list[Tensor] = []
        for _ in self.power_factors:
            if found:
                img1, img2 = avg_pool2d(img1, 2, 2), avg_pool2d(img2, 2, 2)
            self._check(img1, img2)
            similarity, structure = self._compared(img1, img2)
            found.append(structure)
        found[-1] = similarity  # that of the smallest size
        powers = Tensor(np.asarray(self.power_factors, found[0].dtype.np_dtype))
        # what is negative counts as 0, whose root has no slope
        return (stack(found, -1).clip(0.0, None) ** powers).prod(-1)


class Unfold(
    Shown,
    shows=("Unfold([1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1])(Tensor([[[[1.0] * 5] * 4] * 3])).shape", "(1, 12, 3, 4)"),
):
    """The patches of images, as channels.

    Args:
        ksizes: ``[1, height, width, 1]`` of a window.
        strides: ``[1, rows, columns, 1]`` between the windows.
        rates: ``[1, rows, columns, 1]`` between the elements of a window.
        padding: ``"valid"``, or ``"same"``: with a border of zeros, as many windows as the strides go into the image.

    Raises:
        TypeError: an argument is no tuple or list.
        ValueError: an argument has not that form.
    """

    def __init__(self, ksizes: Any, strides: Any, rates: Any, padding: str = "valid") -> None:
        super().__init__()
        lists("Unfold", ksizes=ksizes, strides=strides, rates=rates)
        for what, value in (("ksizes", ksizes), ("strides", strides), ("rates", rates)):
            if len(value) != 4 or value[0] != 1 or value[3] != 1:
                raise ValueError(f"Unfold: {what} must be [1, rows, columns, 1], not {value}")
            if any(isinstance(n, bool) or not isinstance(n, int) or n < 1 for n in value[1:3]):
                raise ValueError(f"Unfold: {what} must hold positive ints, not {value}")
        if not isinstance(padding, str) or padding.lower() not in ("same", "valid"):
            raise ValueError(f"Unfold: padding must be 'same' or 'valid', not {padding!r}")
        self.ksizes, self.strides, self.rates = (tuple(each[1:3]) for each in (ksizes, strides, rates))
        self.padding = padding.lower()

    def construct(self, input_x: Tensor) -> Tensor:
        settings = [(1, 1, *each) for each in (self.ksizes, self.strides, self.rates)]
        return operations.ExtractImagePatches(*settings, self.padding)(input_x)
