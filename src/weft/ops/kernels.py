"""Operator classes that programs rarely name themselves: second versions, gradients of others, parts of layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft import dtypes
from weft.core import Tensor, as_operator, operator_class
from weft.ops import math as functions
from weft.ops._checks import bools, floats, ints, positive_ints, tensors
from weft.ops._rules import tensor
from weft.ops.compare import equal, greater, less
from weft.ops.elementwise import ceil, floor
from weft.ops.fused import deformed
from weft.ops.gather import gather
from weft.ops.matmul import einsum
from weft.ops.random import rand
from weft.ops.select import where
from weft.ops.shape import reshape, sum_to, swapaxes, zeros_of
from weft.ops.sparse_operators import FLOATS, of_type
from weft.ops.state import current_value

# -- second versions ---------------------------------------------------------------------------------------------------


@as_operator
def AddV2(x: Any, y: Any) -> Tensor:
    """The sum of two tensors of one shape."""
    first, second = tensor(x), tensor(y)
    if first.dtype is second.dtype is dtypes.bool_:
        raise TypeError("AddV2: tensors of bools have no sum")
    if first.shape != second.shape:
        raise ValueError(f"AddV2: shapes {first.shape} and {second.shape} differ")
    return functions.add(x, y)


@as_operator
def NPUGetFloatStatusV2(input: Any) -> Tensor:
    """The overflow flag, which operations here never set."""
    tensors("NPUGetFloatStatusV2", input=input)
    return current_value(input)


@as_operator
def NPUClearFloatStatusV2(input: Any) -> Tensor:
    """The cleared overflow flag."""
    tensors("NPUClearFloatStatusV2", input=input)
    return zeros_of(input)


@as_operator
def Uniform(x: Any, *, minval: float = 0.0, maxval: float = 1.0, seed: int = 0, offset: int = 0) -> Tensor:
    """Numbers of a uniform distribution in the shape and type of a tensor.

    Args:
        minval: the least of them.
        maxval: what they are less than.
        seed: picks a stream of its own; 0: `set_seed` does.
        offset: accepted.
    """
    floats("Uniform", minval=minval, maxval=maxval)
    ints("Uniform", seed=seed, offset=offset)
    if minval > maxval:
        raise ValueError(f"Uniform: minval must not be more than maxval, but {minval} is more than {maxval}")
    of_type("Uniform", FLOATS, x=x)
    return minval + (maxval - minval) * rand(x.shape, dtype=x.dtype, seed=seed or None)


# -- gradients ---------------------------------------------------------------------------------------------------------


def _extreme(word: str, wins: Callable[..., Any]) -> type:
    name = f"{word}imumGrad"

    def compute(x1: Any, x2: Any, grads: Any, *, grad_x: bool = True, grad_y: bool = True) -> Any:
        bools(name, grad_x=grad_x, grad_y=grad_y)
        one, other, given = tensor(x1), tensor(x2), tensor(grads)
        if one.dtype is not other.dtype:
            raise TypeError(f"{name}: operands of {one.dtype} and {other.dtype} are of two types")
        half = functions.typed_div(given, 2).astype(given.dtype)
        shared = where(equal(one, other), half, zeros_of(given))
        found = ((where(wins(one, other), given, shared), one), (where(wins(other, one), given, shared), other))
        return tuple(sum_to(each, operand.shape).astype(operand.dtype) for each, operand in found)

    compute.__doc__ = f"""What the gradient of the {word.lower()}imum of two operands is for each; of equal ones, half.

    Args:
        grad_x: accepted: both are computed.
        grad_y: accepted.
    """
    return operator_class(name, compute, "grad_x=True, grad_y=True")


MaximumGrad = _extreme("Max", greater)
MinimumGrad = _extreme("Min", less)


@as_operator
def HSigmoidGrad(grads: Any, input_x: Any) -> Tensor:
    """The gradient of the operand of `hardsigmoid`."""
    tensors("HSigmoidGrad", grads=grads, input_x=input_x)
    if grads.shape != input_x.shape:
        raise ValueError(f"HSigmoidGrad: shapes {grads.shape} and {input_x.shape} differ")
    return where(abs(input_x) < 3, functions.typed_div(grads, 6), zeros_of(grads)).astype(grads.dtype)


@as_operator
def PReLUGrad(dy: Any, x: Any, weight: Any) -> Any:
    """The gradients of the operand and the weights of `prelu`."""
    tensors("PReLUGrad", dy=dy, x=x, weight=weight)
    channels = x.shape[1] if x.ndim > 1 else 1
    if dy.shape != x.shape or weight.shape not in ((1,), (channels,)):
        raise ValueError(f"PReLUGrad: shapes {dy.shape}, {x.shape} and weights of {weight.shape} do not fit")
    slopes = reshape(weight, (-1, *[1] * (x.ndim - 2)))
    above = x > 0
    by_weight = sum_to(where(above, zeros_of(x), dy * x), (1,) * (x.ndim - slopes.ndim) + slopes.shape)
    return where(above, dy, dy * slopes), reshape(by_weight, weight.shape)


# -- parts of layers ---------------------------------------------------------------------------------------------------


@as_operator
def DeformableOffsets(
    x: Any,
    offsets: Any,
    *,
    strides: Any,
    pads: Any,
    ksize: Any,
    dilations: Any = (1, 1, 1, 1),
    data_format: str = "NCHW",
    deformable_groups: int = 1,
    modulated: bool = True,
) -> Tensor:
    """Elements of windows, each moved by an offset and scaled; windows stand side by side, as an image.

    Args:
        strides: step, four ints of which the first two are 1.
        pads: border at the top, bottom, left and right.
        ksize: (KH, KW).
        dilations: distance of the elements, four ints of which the first two are 1.
        data_format: "NCHW".
        deformable_groups: how many groups of channels have offsets of their own.
        modulated: True: elements are scaled.
    """
    name = "DeformableOffsets"
    tensors(name, x=x, offsets=offsets)
    if data_format != "NCHW":
        raise ValueError(f"{name}: data_format must be 'NCHW', not {data_format!r}")
    positive_ints(name, deformable_groups=deformable_groups)
    for what, value, count in (("strides", strides, 4), ("dilations", dilations, 4), ("ksize", ksize, 2)):
        if (
            not isinstance(value, tuple)
            or len(value) != count
            or min(value) < 1
            or value[: count - 2] != (1,) * (count - 2)
        ):
            raise ValueError(f"{name}: {what} must be {count} positive ints, 1 in N and C, not {value}")
    if not modulated or not isinstance(pads, tuple) or len(pads) != 4 or min(pads) < 0:
        raise ValueError(f"{name}: modulated must be True and pads 4 ints, not {pads}")
    height, width = (
        (n + low + high - d * (k - 1) - 1) // s + 1
        for n, low, high, d, k, s in zip(
            x.shape[2:], pads[::2], pads[1::2], dilations[2:], ksize, strides[2:], strict=True
        )
    )
    elements = ksize[0] * ksize[1]
    wanted = (x.shape[0], 3 * deformable_groups * elements, height, width)
    if offsets.shape != wanted or x.shape[1] % deformable_groups:
        raise ValueError(f"{name}: offsets must be of shape {wanted}, not {offsets.shape}")
    columns = deformed(
        x, offsets, kernel=ksize, strides=strides[2:], padding=pads, dilations=dilations[2:], groups=deformable_groups
    )
    apart = reshape(columns, (*x.shape[:2], *ksize, height, width)).permute(0, 1, 4, 2, 5, 3)
    return reshape(apart, (*x.shape[:2], height * ksize[0], width * ksize[1]))


@as_operator
def PSROIPooling(features: Any, rois: Any, *, spatial_scale: float, group_size: int, output_dim: int) -> Tensor:
    """Means over the cells of regions of images, of which each cell has channels of its own.

    The regions are (B, 5, N): number of the image, and the left, upper, right and lower end.

    Args:
        spatial_scale: what ends of regions are multiplied with.
        group_size: how many cells a region has along each side.
        output_dim: how many channels the result has.
    """
    name = "PSROIPooling"
    floats(name, spatial_scale=spatial_scale)
    positive_ints(name, group_size=group_size, output_dim=output_dim)
    of_type(name, FLOATS, features=features, rois=rois)
    if rois.ndim != 3 or rois.shape[1] != 5 or features.ndim != 4:
        raise ValueError(f"{name}: regions are (B, 5, N) of images (N, C, H, W), not {rois.shape} and {features.shape}")
    _, channels, height, width = features.shape
    if channels != group_size * group_size * output_dim:
        raise ValueError(f"{name}: {channels} channels are not {output_dim} for each of {group_size}² cells")
    flat = reshape(swapaxes(rois, 1, 2), (-1, 5))
    ends = floor(flat[:, 1:] * spatial_scale + 0.5)
    across, down = (_cells(ends[:, i], ends[:, i + 2], group_size, size) for i, size in ((0, width), (1, height)))
    images = gather(features, flat[:, 0].astype(dtypes.int32), 0)
    grouped = reshape(images, (-1, output_dim, group_size, group_size, height, width))
    return einsum("ndghyx,ngy,nhx->ndgh", grouped, down, across)


def _cells(begin: Any, end: Any, cells: int, size: int) -> Any:
    """The share of each pixel of a line in the mean of each cell between two ends; the last pixel ends the line."""
    step = reshape((end - begin).maximum(0.1) / cells, (-1, 1))
    number = Tensor(np.arange(cells), begin.dtype)
    first = (floor(number * step) + reshape(begin, (-1, 1))).clip(0, size - 1)
    last = (ceil((number + 1) * step) + reshape(begin, (-1, 1))).clip(0, size - 1)
    pixel = Tensor(np.arange(size), begin.dtype)
    inside = (pixel >= reshape(first, (-1, cells, 1))) & (pixel < reshape(last, (-1, cells, 1)))
    return inside.astype(begin.dtype) / reshape((last - first).maximum(1), (-1, cells, 1))
