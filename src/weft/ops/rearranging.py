"""Operator classes that move blocks of pixels: to the batch and back, to columns and back, patches, channels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from weft.core import Tensor, as_operator
from weft.ops._checks import ints
from weft.ops._rules import numbers
from weft.ops.conv import conv2d
from weft.ops.gather import gather
from weft.ops.images import fold, unfold
from weft.ops.index import getitem
from weft.ops.joining import concat
from weft.ops.padding import pad
from weft.ops.shape import reshape, transpose


def _pairs(name: str, what: str, value: Any, count: int) -> list[tuple[int, int]]:
    """Two non-negative numbers for each dimension."""
    if isinstance(value, Tensor):
        value = value.tolist()
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{name}: {what} must be a list of pairs, not {type(value).__name__}")
    pairs = [numbers(pair) for pair in value]
    if len(pairs) != count or any(len(pair) != 2 for pair in pairs):
        raise ValueError(f"{name}: {what} must be {count} pairs, not {value}")
    if any(number < 0 for pair in pairs for number in pair):
        raise ValueError(f"{name}: {what} must not be negative: {value}")
    return [(low, high) for low, high in pairs]


def _blocks(name: str, block_shape: Any) -> tuple[int, ...]:
    if not isinstance(block_shape, (list, tuple, int, Tensor)) or isinstance(block_shape, bool):
        raise TypeError(f"{name}: block_shape must be integers, not {type(block_shape).__name__}")
    blocks = numbers(block_shape)
    if not blocks or min(blocks) < 1:
        raise ValueError(f"{name}: block_shape must be positive integers, not {block_shape}")
    return blocks


def _to_batch(name: str, x: Tensor, blocks: tuple[int, ...], paddings: Any, first: int) -> Tensor:
    """Make examples of the pixels of blocks; the blocks begin at the dimension `first`."""
    if x.ndim != first + len(blocks):
        raise ValueError(f"{name}: blocks of {len(blocks)} dimensions need {first + len(blocks)}, not shape {x.shape}")
    pairs = _pairs(name, "paddings", paddings, len(blocks))
    if any(map(any, pairs)):
        x = pad(x, [number for pair in reversed(pairs) for number in pair])
    count, between, sizes = x.shape[0], x.shape[1:first], x.shape[first:]
    if any(size % block for size, block in zip(sizes, blocks, strict=True)):
        raise RuntimeError(f"{name}: padded sizes {sizes} are no multiples of {blocks}")
    split = [part for size, block in zip(sizes, blocks, strict=True) for part in (size // block, block)]
    x = reshape(x, (count, *between, *split))
    inner = range(first + 1, x.ndim, 2)
    x = transpose(x, (*inner, 0, *range(1, first), *range(first, x.ndim, 2)))
    return reshape(x, (math.prod(blocks) * count, *between, *split[::2]))


def _from_batch(name: str, x: Tensor, blocks: tuple[int, ...], crops: Any, first: int) -> Tensor:
    """Make blocks of pixels of examples, and cut the edges."""
    if x.ndim != first + len(blocks):
        raise ValueError(f"{name}: blocks of {len(blocks)} dimensions need {first + len(blocks)}, not shape {x.shape}")
    pairs = _pairs(name, "crops", crops, len(blocks))
    count, left = divmod(x.shape[0], math.prod(blocks))
    if left:
        raise ValueError(f"{name}: {x.shape[0]} examples are no multiple of {math.prod(blocks)}")
    between, sizes = x.shape[1:first], x.shape[first:]
    rank = len(blocks)
    x = reshape(x, (*blocks, count, *between, *sizes))
    order = [rank, *range(rank + 1, rank + first)]
    order += [axis for i in range(rank) for axis in (rank + first + i, i)]
    x = reshape(transpose(x, tuple(order)), (count, *between, *[s * b for s, b in zip(sizes, blocks, strict=True)]))
    cut = [slice(low, size - high) for (low, high), size in zip(pairs, x.shape[first:], strict=True)]
    if any(part.start >= part.stop for part in cut):
        raise ValueError(f"{name}: crops {crops} leave nothing of {x.shape[first:]}")
    return getitem(x, (*[slice(None)] * first, *cut)) if any(map(any, pairs)) else x


def _square(name: str, block_size: Any) -> tuple[int, int]:
    ints(name, block_size=block_size)
    if block_size < 2:
        raise ValueError(f"{name}: block_size must be at least 2, not {block_size}")
    return block_size, block_size


@as_operator
def SpaceToBatch(input_x: Tensor, *, block_size: int, paddings: Any) -> Tensor:
    """Make examples of the pixels of square blocks of images (N, C, H, W).

    Args:
        block_size: height and width of a block.
        paddings: zeros before and after the rows and the columns, two pairs.
    """
    return _to_batch("SpaceToBatch", input_x, _square("SpaceToBatch", block_size), paddings, 2)


@as_operator
def BatchToSpace(input_x: Tensor, *, block_size: int, crops: Any) -> Tensor:
    """Make square blocks of pixels of the examples of images (N, C, H, W).

    Args:
        block_size: height and width of a block.
        crops: what is cut before and after the rows and the columns, two pairs.
    """
    return _from_batch("BatchToSpace", input_x, _square("BatchToSpace", block_size), crops, 2)


@as_operator
def SpaceToBatchND(input_x: Tensor, *, block_shape: Any, paddings: Any) -> Tensor:
    """Make examples of the elements of blocks of the last dimensions.

    Args:
        block_shape: sizes of a block.
        paddings: zeros before and after each dimension, in pairs.
    """
    blocks = _blocks("SpaceToBatchND", block_shape)
    if isinstance(block_shape, int):
        blocks *= input_x.ndim - 2
    return _to_batch("SpaceToBatchND", input_x, blocks, paddings, input_x.ndim - len(blocks))


@as_operator
def BatchToSpaceND(input_x: Tensor, *, block_shape: Any, crops: Any) -> Tensor:
    """Make blocks of the last dimensions of examples.

    Args:
        block_shape: sizes of a block.
        crops: what is cut before and after each dimension, in pairs.
    """
    blocks = _blocks("BatchToSpaceND", block_shape)
    if isinstance(block_shape, int):
        blocks *= input_x.ndim - 2
    return _from_batch("BatchToSpaceND", input_x, blocks, crops, input_x.ndim - len(blocks))


@as_operator
def BatchToSpaceNDV2(input_x: Tensor, block_shape: Any, crops: Any) -> Tensor:
    """Make blocks of the dimensions after the first of examples."""
    return _from_batch("BatchToSpaceNDV2", input_x, _blocks("BatchToSpaceNDV2", block_shape), crops, 1)


@as_operator
def Im2Col(x: Tensor, *, ksizes: Any, strides: Any = 1, dilations: Any = 1, pads: Any = 0) -> Tensor:
    """The windows of images (N, C, H, W) as columns (N, C, elements of a window, windows).

    Args:
        ksizes: size of a window.
        strides: distance of windows.
        dilations: distance of the elements of a window.
        pads: zeros around the images.
    """
    if not isinstance(x, Tensor):
        raise TypeError(f"Im2Col takes a tensor, not {type(x).__name__}")
    if x.ndim != 4:
        raise ValueError(f"Im2Col takes images (N, C, H, W), not shape {x.shape}")
    columns = unfold(x, ksizes, dilations, pads, strides)
    count, channels = x.shape[:2]
    return reshape(columns, (count, channels, -1, columns.shape[-1]))


@as_operator
def Col2Im(
    x: Tensor, output_size: Any, *, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """The sums of the windows that columns (N, C, elements of a window, windows) stand for.

    Args:
        kernel_size: size of a window.
        dilation: distance of the elements of a window.
        padding: zeros around the images.
        stride: distance of windows.
    """
    if not isinstance(x, Tensor):
        raise TypeError(f"Col2Im takes a tensor, not {type(x).__name__}")
    if x.ndim != 4:
        raise ValueError(f"Col2Im takes columns (N, C, K, L), not shape {x.shape}")
    return fold(x, numbers(output_size), kernel_size, dilation, padding, stride)


def _four(name: str, what: str, value: Any) -> tuple[int, int]:
    """The last two of four numbers of which the first two are 1."""
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{name}: {what} must be a tuple, not {type(value).__name__}")
    if len(value) != 4 or tuple(value[:2]) != (1, 1) or min(value) < 1:
        raise ValueError(f"{name}: {what} must be (1, 1, rows, columns), not {value}")
    return value[2], value[3]


def _edges(name: str, padding: str, sizes: Sequence[int], kernel: Sequence[int], strides: Sequence[int]) -> list[int]:
    """The zeros before and after each dimension, from the last one on."""
    if not isinstance(padding, str) or padding.upper() not in ("SAME", "VALID"):
        raise ValueError(f"{name}: padding must be 'SAME' or 'VALID', not {padding!r}")
    found: list[int] = []
    for size, length, stride in zip(reversed(sizes), reversed(kernel), reversed(strides), strict=True):
        needed = max((-(-size // stride) - 1) * stride + length - size, 0) if padding.upper() == "SAME" else 0
        found += [needed // 2, needed - needed // 2]
    return found


def _patches(
    name: str, x: Tensor, kernel: Sequence[int], strides: Sequence[int], rates: Sequence[int], padding: str
) -> Tensor:
    """The windows of the dimensions after the second, their elements as channels with those of the image last."""
    spans = [(length - 1) * rate + 1 for length, rate in zip(kernel, rates, strict=True)]
    edges = _edges(name, padding, x.shape[2:], spans, strides)
    if any(edges):
        x = pad(x, edges)
    counts = [(size - span) // stride + 1 for size, span, stride in zip(x.shape[2:], spans, strides, strict=True)]
    if min(counts) < 1:
        raise ValueError(f"{name}: a window of {spans} does not fit into {x.shape[2:]}")
    parts = [
        getitem(
            x,
            (
                *[slice(None)] * 2,
                *[
                    slice(at * rate, at * rate + (count - 1) * stride + 1, stride)
                    for at, rate, count, stride in zip(place, rates, counts, strides, strict=True)
                ],
            ),
        )
        for place in itertools.product(*map(range, kernel))
    ]
    return parts[0] if len(parts) == 1 else concat(parts, 1)


@as_operator
def ExtractImagePatches(input_x: Tensor, *, ksizes: Any, strides: Any, rates: Any, padding: str = "VALID") -> Tensor:
    """The windows of images (N, C, H, W), their elements as channels.

    Args:
        ksizes: (1, 1, rows, columns) of a window.
        strides: (1, 1, rows, columns) between windows.
        rates: (1, 1, rows, columns) between the elements of a window.
        padding: ``"SAME"`` or ``"VALID"``.
    """
    name = "ExtractImagePatches"
    kernel, step, rate = _four(name, "ksizes", ksizes), _four(name, "strides", strides), _four(name, "rates", rates)
    if input_x.ndim != 4:
        raise ValueError(f"{name} takes images (N, C, H, W), not shape {input_x.shape}")
    return _patches(name, input_x, kernel, step, rate, padding)


def _five(name: str, what: str, value: Any) -> tuple[int, ...]:
    """The last three of five numbers of which the first two are 1."""
    if isinstance(value, bool) or not isinstance(value, (list, tuple, int)):
        raise TypeError(f"{name}: {what} must be integers, not {type(value).__name__}")
    found = (1, 1, *[value] * 3) if isinstance(value, int) else tuple(value)
    found = (1, 1, *found) if len(found) == 3 else found
    if len(found) != 5 or found[:2] != (1, 1) or min(found) < 1:
        raise ValueError(f"{name}: {what} must be (1, 1, depth, rows, columns), not {value}")
    return found[2:]


@as_operator
def ExtractVolumePatches(input_x: Tensor, *, kernel_size: Any, strides: Any, padding: str) -> Tensor:
    """The windows of volumes (N, C, D, H, W), their elements as channels.

    Args:
        kernel_size: size of a window, a number or (1, 1, depth, rows, columns).
        strides: distance of windows, likewise.
        padding: ``"SAME"`` or ``"VALID"``.
    """
    name = "ExtractVolumePatches"
    kernel, step = _five(name, "kernel_size", kernel_size), _five(name, "strides", strides)
    if input_x.ndim != 5:
        raise ValueError(f"{name} takes volumes (N, C, D, H, W), not shape {input_x.shape}")
    return _patches(name, input_x, kernel, step, (1, 1, 1), padding)


@as_operator
def ChannelShuffle(x: Tensor, *, group: int) -> Tensor:
    """Deal the channels of images out to groups.

    Args:
        group: the number of groups.
    """
    if isinstance(group, bool) or not isinstance(group, int):
        raise ValueError(f"ChannelShuffle: group must be an int, not {type(group).__name__}")
    if x.ndim < 3:
        raise ValueError(f"ChannelShuffle takes at least 3 dimensions, not shape {x.shape}")
    count, channels, *sizes = x.shape
    if group < 1 or channels % group:
        raise ValueError(f"ChannelShuffle: {channels} channels are no multiple of {group} groups")
    split = reshape(x, (count, group, channels // group, *sizes))
    return reshape(transpose(split, (0, 2, 1, *range(3, split.ndim))), x.shape)


@as_operator
def DepthwiseConv2dNative(
    x: Tensor, weight: Tensor, *, channel_multiplier: int, kernel_size: Any, mode: int = 3, pad_mode: str = "valid",
    pad: Any = 0, stride: Any = 1, dilation: Any = 1, group: int = 1,
) -> Tensor:  # fmt: skip
    """Convolve each channel by filters of its own.

    Args:
        channel_multiplier: filters for each channel.
        kernel_size: size of the filters.
        mode: accepted.
        pad_mode: ``"valid"``, ``"same"`` or ``"pad"``.
        pad: zeros around the images where `pad_mode` is ``"pad"``.
        stride: distance of windows.
        dilation: distance of the elements of a window.
        group: accepted.
    """
    del kernel_size, mode, group
    channels = x.shape[1]
    if weight.ndim != 4 or weight.shape[:2] != (channel_multiplier, channels):
        raise ValueError(
            f"DepthwiseConv2dNative: filters for {channels} channels have the shape ({channel_multiplier}, {channels}, "
            f"rows, columns), not {weight.shape}"
        )
    filters = reshape(transpose(weight, (1, 0, 2, 3)), (channels * channel_multiplier, 1, *weight.shape[2:]))
    return conv2d(x, filters, pad_mode=pad_mode, padding=pad, stride=stride, dilation=dilation, groups=channels)


def _check_format(name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string, not {type(value).__name__}")
    if value not in ("NHWC", "NCHW"):
        raise ValueError(f"{name} must be 'NHWC' or 'NCHW', not {value!r}")


def _moved(name: str, src_format: str, dst_format: str) -> list[int]:
    """Where each dimension of the second format is in the first one."""
    _check_format(f"{name}: src_format", src_format)
    _check_format(f"{name}: dst_format", dst_format)
    return [src_format.index(letter) for letter in dst_format]


@as_operator
def DataFormatDimMap(input_x: Tensor, *, src_format: str = "NHWC", dst_format: str = "NCHW") -> Tensor:
    """For positions of dimensions in the second data format, those of the same dimensions in the first one.

    Args:
        src_format: ``"NHWC"`` or ``"NCHW"``.
        dst_format: the same.
    """
    table = Tensor(_moved("DataFormatDimMap", src_format, dst_format), input_x.dtype)
    return gather(table, input_x % 4, 0)


@as_operator
def DataFormatVecPermute(input_x: Tensor, *, src_format: str = "NHWC", dst_format: str = "NCHW") -> Tensor:
    """What stands for the dimensions of one data format, in the order of another one.

    Args:
        src_format: ``"NHWC"`` or ``"NCHW"``.
        dst_format: the same.
    """
    order = _moved("DataFormatVecPermute", src_format, dst_format)
    if input_x.shape not in ((4,), (4, 2)):
        raise ValueError(f"DataFormatVecPermute takes a shape of (4,) or (4, 2), not {input_x.shape}")
    return getitem(input_x, order)
