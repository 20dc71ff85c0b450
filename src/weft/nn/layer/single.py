"""Layers that are one operation, with its settings."""

from __future__ import annotations

import math
from typing import Any

from weft import dtypes
from weft.core import Parameter, Tensor
from weft.nn.declared import Applied, Shown, declared, positive_int
from weft.nn.initializer import Uniform
from weft.nn.layer.basic import make_weight
from weft.ops._checks import floats, reals
from weft.ops.matmul import matmul
from weft.ops.norm import lrn
from weft.ops.padding import interpolate
from weft.ops.shape import roll, tril, triu
from weft.ops.statistics import logsumexp


class Upsample(
    Shown,
    Applied,
    operation=interpolate,
    shows=("Upsample(scale_factor=2.0)(Tensor([[[1.0, 2.0]]]))", "[[[1. 1. 2. 2.]]]"),
):
    """Resizes the spatial dimensions, see `ops.interpolate`.

    Args:
        size: wanted sizes, an int or one for each dimension.
        scale_factor: factors, in place of `size`.
        mode: ``"nearest"``, ``"linear"``, ``"bilinear"``, ``"bicubic"``, ``"trilinear"``...
        align_corners: whether the corners' centres coincide.
        recompute_scale_factor: derive the exact factor from the rounded size.
    """

    @declared()
    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None: ...


class Roll(Shown, shows=("Roll(1, 0)(Tensor([1, 2, 3]))", "[3 1 2]")):
    """Shifts elements along axes, see `ops.roll`.

    Args:
        shift: how far, an int or one for each axis.
        axis: the axis, or several.
    """

    @declared()
    def __init__(self, shift: Any, axis: Any) -> None: ...

    def construct(self, input_x: Tensor) -> Any:
        return roll(input_x, shifts=self.shift, dims=self.axis)


class Tril(Shown, shows=("Tril()(Tensor([[1, 2], [3, 4]]))", "[[1 0]\n [3 4]]")):
    """The lower triangles of matrices; what is above diagonal `k` becomes zero."""

    def construct(self, x: Tensor, k: int = 0) -> Any:
        return tril(x, diagonal=k)


class Triu(Shown, shows=("Triu()(Tensor([[1, 2], [3, 4]]))", "[[1 2]\n [0 4]]")):
    """The upper triangles of matrices; what is below diagonal `k` becomes zero."""

    def construct(self, x: Tensor, k: int = 0) -> Any:
        return triu(x, diagonal=k)


class Unflatten(Shown, shows=("Unflatten(1, (2, -1))(Tensor([[1, 2, 3, 4]]))", "[[[1 2]\n  [3 4]]]")):
    """Makes several axes of one.

    Args:
        axis: the axis.
        unflattened_size: their sizes; one may be -1.
    """

    @declared(unflattened_size=lambda cell, what, value: tuple(value))
    def __init__(self, axis: int, unflattened_size: Any) -> None: ...

    def construct(self, input_x: Tensor) -> Any:
        axis = self.axis + input_x.ndim if self.axis < 0 else self.axis
        return input_x.reshape((*input_x.shape[:axis], *self.unflattened_size, *input_x.shape[axis + 1 :]))


class CentralCrop(Shown, shows=("CentralCrop(0.5)(Tensor([[[1, 2, 3, 4]] * 4]))", "[[[2 3]\n  [2 3]]]")):
    """The middle of images (C, H, W) or (N, C, H, W).

    Args:
        central_fraction: how much of each side is kept, above 0 and at most 1.
    """

    def __init__(self, central_fraction: float) -> None:
        super().__init__()
        floats("CentralCrop", central_fraction=central_fraction)
        if not 0 < central_fraction <= 1:
            raise ValueError(f"CentralCrop: central_fraction must be above 0 and at most 1, not {central_fraction}")
        self.central_fraction = central_fraction

    def construct(self, image: Tensor) -> Any:
        if image.ndim not in (3, 4):
            raise ValueError(f"CentralCrop: images have 3 or 4 dimensions, not shape {image.shape}")
        height, width = image.shape[-2:]
        top = int((height - height * self.central_fraction) / 2)
        left = int((width - width * self.central_fraction) / 2)
        return image[..., top : height - top, left : width - left]


class LRN(Shown, shows=("LRN(alpha=3.0)(Tensor([[[[1.0]]]]))", "[[[[0.5]]]]")):
    """Local response normalization, see `ops.lrn`.

    Args:
        depth_radius: how many channels on either side count.
        bias: added to the sum, so that nothing is divided by zero.
        alpha: factor of the sum.
        beta: exponent.
        norm_region: ``"ACROSS_CHANNELS"``.
    """

    @declared()
    def __init__(
        self,
        depth_radius: int = 5,
        bias: float = 1.0,
        alpha: float = 1.0,
        beta: float = 0.5,
        norm_region: str = "ACROSS_CHANNELS",
    ) -> None: ...

    def construct(self, input_x: Tensor) -> Any:
        return lrn(input_x, self.depth_radius, self.bias, self.alpha, self.beta, self.norm_region)


class L1Regularizer(Shown, shows=("L1Regularizer(0.5)(Tensor([1.0, -3.0]))", "2.0")):
    """The sum of absolute values, times a factor.

    Args:
        scale: the factor, above 0.
    """

    def __init__(self, scale: float) -> None:
        super().__init__()
        reals("L1Regularizer", scale=scale)
        if not 0 < scale < math.inf:
            raise ValueError(f"L1Regularizer: scale must be a finite number above 0, not {scale}")
        self.scale = scale

    def construct(self, weights: Tensor) -> Any:
        return weights.abs().sum() * self.scale


class ReduceLogSumExp(
    Shown, Applied, operation=logsumexp, shows=("ReduceLogSumExp(0)(Tensor([0.0, 0.0]))", "0.6931472")
):
    """The logarithm of the sum of exponentials along axes.

    Args:
        axis: the axis, or several; ``()`` for all.
        keep_dims: keep the axes, with size 1.
    """

    @declared()
    def __init__(self, axis: Any, keep_dims: bool = False) -> None: ...


class BiDense(Shown, shows=("BiDense(2, 3, 4)(Tensor([[1.0, 2.0]]), Tensor([[1.0, 2.0, 3.0]])).shape", "(1, 4)")):
    """A layer that is linear in each of two inputs: ``x1 @ weight[k] @ x2 + bias[k]`` for each output `k`.

    Args:
        in1_channels: size of the first input's last dimension.
        in2_channels: size of the second input's last dimension.
        out_channels: size of the output's last dimension.
        weight_init: initializer of the weight (out, in1, in2); by default uniform within ``1 / sqrt(in1)``.
        bias_init: initializer of the bias (out,); by default the same.
        has_bias: whether there is a bias.
        dtype: element type of the parameters.
    """

    def __init__(
        self,
        in1_channels: int,
        in2_channels: int,
        out_channels: int,
        weight_init: Any = None,
        bias_init: Any = None,
        has_bias: bool = True,
        dtype: Any = dtypes.float32,
    ) -> None:
        super().__init__()
        self.in1_channels = positive_int("BiDense", "in1_channels", in1_channels)
        self.in2_channels = positive_int("BiDense", "in2_channels", in2_channels)
        self.out_channels = positive_int("BiDense", "out_channels", out_channels)
        self.has_bias = has_bias
        bound = Uniform(1 / math.sqrt(in1_channels))
        sizes = (out_channels, in1_channels, in2_channels)
        self.weight = Parameter(make_weight(weight_init, sizes, dtype, bound), name="weight")
        self.bias: Any = None
        if has_bias:
            self.bias = Parameter(make_weight(bias_init, (out_channels,), dtype, bound), name="bias")

    def construct(self, input1: Tensor, input2: Tensor) -> Any:
        mapped = matmul(input1.reshape((-1, self.in1_channels)), self.weight)  # (out, rows, in2)
        out = (mapped * input2.reshape((-1, self.in2_channels))).sum(-1).T
        out = out.reshape((*input1.shape[:-1], self.out_channels))
        return out if self.bias is None else out + self.bias

    def extend_repr(self) -> str:
        return (
            f"in1_channels={self.in1_channels}, in2_channels={self.in2_channels}, output_channels={self.out_channels}, "
            f"has_bias={self.has_bias}"
        )
