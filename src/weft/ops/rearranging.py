"""Operator classes that move blocks of pixels: to the batch and back, to columns and back, patches, channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from jax import lax

from weft.core import Tensor, as_operator, described
from weft.ops._checks import ints, need_shape, one_of, strings
from weft.ops._rules import numbers
from weft.ops.conv import conv2d
from weft.ops.gather import gather
from weft.ops.images import fold, unfold, window_slices
from weft.ops.index import getitem
from weft.ops.joining import concat
from weft.ops.padding import pad
from weft.ops.shape import reshape, transpose
from weft.ops.space import batch_to_blocks, blocks_to_batch

_DESCRIBED: Final = described(
    block_size="height and width of a block.",
    block_shape="sizes of a block.",
    paddings="zeros before and after each dimension of a block, in pairs.",
    crops="what is cut before and after each dimension of a block, in pairs.",
    dilation="distance of the elements of a window.",
    dilations="distance of the elements of a window.",
    stride="distance of windows.",
    padding='``"SAME"`` or ``"VALID"``.',
    src_format='``"NHWC"`` or ``"NCHW"``.',
    dst_format="the same.",
)


def _pairs(name: str, what: str, value: Any, x: Tensor, first: int, rank: int) -> list[tuple[int, ...]]:
    """Two non-negative numbers for each dimension of a block; the blocks begin at the dimension `first`."""
    if x.ndim != first + rank:
        raise ValueError(f"{name}: blocks of {rank} dimensions need {first + rank}, not shape {x.shape}")
    if isinstance(value, Tensor):
        value = value.tolist()
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{name}: {what} must be a list of pairs, not {type(value).__name__}")
    pairs = [numbers(pair) for pair in value]
    if len(pairs) != rank or any(len(pair) != 2 or min(pair) < 0 for pair in pairs):
        raise ValueError(f"{name}: {what} must be {rank} pairs of numbers that are not negative, not {value}")
    return pairs


def _blocks(name: str, block_shape: Any) -> tuple[int, ...]:
    if not isinstance(block_shape, (list, tuple, int, Tensor)) or isinstance(block_shape, bool):
        raise TypeError(f"{name}: block_shape must be integers, not {type(block_shape).__name__}")
    blocks = numbers(block_shape)
    if not blocks or min(blocks) < 1:
        raise ValueError(f"{name}: block_shape must be positive integers, not {block_shape}")
    return blocks


def _of_rank(name: str, block_shape: Any, x: Tensor) -> tuple[int, ...]:
    """The sizes of a block, an int for all of the dimensions after the second."""
    blocks = _blocks(name, block_shape)
    return blocks * (x.ndim - 2) if isinstance(block_shape, int) else blocks


def _to_batch(name: str, x: Tensor, blocks: tuple[int, ...], paddings: Any, first: int) -> Tensor:
    return blocks_to_batch(name, x, blocks, _pairs(name, "paddings", paddings, x, first, len(blocks)))


def _from_batch(name: str, x: Tensor, blocks: tuple[int, ...], crops: Any, first: int) -> Tensor:
    return batch_to_blocks(name, x, blocks, _pairs(name, "crops", crops, x, first, len(blocks)))


def _square(name: str, block_size: Any) -> tuple[int, int]:
    ints(name, block_size=block_size)
    if block_size < 2:
        raise ValueError(f"{name}: block_size must be at least 2, not {block_size}")
    return block_size, block_size


@as_operator
@_DESCRIBED
def SpaceToBatch(input_x: Tensor, *, block_size: int, paddings: Any) -> Tensor:
    """Make examples of the pixels of square blocks of images (N, C, H, W)."""
    return _to_batch("SpaceToBatch", input_x, _square("SpaceToBatch", block_size), paddings, 2)


@as_operator
@_DESCRIBED
def BatchToSpace(input_x: Tensor, *, block_size: int, crops: Any) -> Tensor:
    """Make square blocks of pixels of the examples of images (N, C, H, W)."""
    return _from_batch("BatchToSpace", input_x, _square("BatchToSpace", block_size), crops, 2)


@as_operator
@_DESCRIBED
def SpaceToBatchND(input_x: Tensor, *, block_shape: Any, paddings: Any) -> Tensor:
    """Make examples of the elements of blocks of the last dimensions."""
    blocks = _of_rank("SpaceToBatchND", block_shape, input_x)
    return _to_batch("SpaceToBatchND", input_x, blocks, paddings, input_x.ndim - len(blocks))


@as_operator
@_DESCRIBED
def BatchToSpaceND(input_x: Tensor, *, block_shape: Any, crops: Any) -> Tensor:
    """Make blocks of the last dimensions of examples."""
    blocks = _of_rank("BatchToSpaceND", block_shape, input_x)
    return _from_batch("BatchToSpaceND", input_x, blocks, crops, input_x.ndim - len(blocks))


@as_operator
def BatchToSpaceNDV2(input_x: Tensor, block_shape: Any, crops: Any) -> Tensor:
    """Make blocks of the dimensions after the first of examples."""
    return _from_batch("BatchToSpaceNDV2", input_x, _blocks("BatchToSpaceNDV2", block_shape), crops, 1)


@as_operator
@_DESCRIBED
def Im2Col(x: Tensor, *, ksizes: Any, strides: Any = 1, dilations: Any = 1, pads: Any = 0) -> Tensor:
    """The windows of images (N, C, H, W) as columns (N, C, elements of a window, windows).

    Args:
        ksizes: size of a window.
        strides: distance of windows.
        pads: zeros around the images.
    """
    need_shape("Im2Col", "(N, C, H, W)", x)
    columns = unfold(x, ksizes, dilations, pads, strides)
    return reshape(columns, (*x.shape[:2], -1, columns.shape[-1]))


@as_operator
@_DESCRIBED
def Col2Im(
    x: Tensor, output_size: Any, *, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """The sums of the windows that columns (N, C, elements of a window, windows) stand for.

    Args:
        kernel_size: size of a window.
        padding: zeros around the images.
    """
    need_shape("Col2Im", "(N, C, elements of a window, windows)", x)
    return fold(x, numbers(output_size), kernel_size, dilation, padding, stride)


def _window(name: str, what: str, value: Any, rank: int) -> tuple[int, ...]:
    """Sizes behind a 1 for the examples and a 1 for the channels; those of volumes may stand alone, or be one int."""
    if isinstance(value, bool) or not isinstance(value, (list, tuple, int) if rank == 3 else (list, tuple)):
        raise TypeError(f"{name}: {what} must be a tuple of ints, not {type(value).__name__}")
    found = (value,) * rank if isinstance(value, int) else tuple(value)
    found = (1, 1, *found) if len(found) == rank == 3 else found
    if len(found) != rank + 2 or found[:2] != (1, 1) or min(found) < 1:
        raise ValueError(f"{name}: {what} must be (1, 1, and {rank} positive ints), not {value}")
    return found[2:]


def _patches(
    name: str, x: Tensor, kernel: Sequence[int], strides: Sequence[int], rates: Sequence[int], padding: str
) -> Tensor:
    """The windows of the dimensions after the second, their elements as channels with those of the image last."""
    if not isinstance(padding, str) or padding.upper() not in ("SAME", "VALID"):
        raise ValueError(f"{name}: padding must be 'SAME' or 'VALID', not {padding!r}")
    spans = [(length - 1) * rate + 1 for length, rate in zip(kernel, rates, strict=True)]
    edges = lax.padtype_to_pads(x.shape[2:], spans, strides, padding.upper())
    if any(map(any, edges)):
        x = pad(x, ((0, 0), (0, 0), *edges))
    counts = [(size - span) // stride + 1 for size, span, stride in zip(x.shape[2:], spans, strides, strict=True)]
    if min(counts) < 1:
        raise ValueError(f"{name}: a window of {spans} does not fit into {x.shape[2:]}")
    return concat([getitem(x, (..., *place)) for place in window_slices(counts, kernel, rates, strides)], 1)


@as_operator
@_DESCRIBED
def ExtractImagePatches(input_x: Tensor, *, ksizes: Any, strides: Any, rates: Any, padding: str = "VALID") -> Tensor:
    """The windows of images (N, C, H, W), their elements as channels.

    Args:
        ksizes: (1, 1, rows, columns) of a window.
        strides: (1, 1, rows, columns) between windows.
        rates: (1, 1, rows, columns) between the elements of a window.
    """
    name = "ExtractImagePatches"
    kernel, steps = _window(name, "ksizes", ksizes, 2), _window(name, "strides", strides, 2)
    apart = _window(name, "rates", rates, 2)
    need_shape(name, "(N, C, H, W)", input_x)
    return _patches(name, input_x, kernel, steps, apart, padding)


@as_operator
@_DESCRIBED
def ExtractVolumePatches(input_x: Tensor, *, kernel_size: Any, strides: Any, padding: str) -> Tensor:
    """The windows of volumes (N, C, D, H, W), their elements as channels.

    Args:
        kernel_size: size of a window, a number or (1, 1, depth, rows, columns).
        strides: distance of windows, likewise.
    """
    name = "ExtractVolumePatches"
    kernel, steps = _window(name, "kernel_size", kernel_size, 3), _window(name, "strides", strides, 3)
    need_shape(name, "(N, C, D, H, W)", input_x)
    return _patches(name, input_x, kernel, steps, (1, 1, 1), padding)


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
@_DESCRIBED
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


def _moved(name: str, src_format: str, dst_format: str) -> list[int]:
    """Where each dimension of the second format is in the first one."""
    strings(name, src_format=src_format, dst_format=dst_format)
    one_of(name, ("NHWC", "NCHW"), src_format=src_format, dst_format=dst_format)
    return [src_format.index(letter) for letter in dst_format]


@as_operator
@_DESCRIBED
def DataFormatDimMap(input_x: Tensor, *, src_format: str = "NHWC", dst_format: str = "NCHW") -> Tensor:
    """For positions of dimensions in the second data format, those of the same dimensions in the first one."""
    table = Tensor(_moved("DataFormatDimMap", src_format, dst_format), input_x.dtype)
    return gather(table, input_x % 4, 0)


@as_operator
@_DESCRIBED
def DataFormatVecPermute(input_x: Tensor, *, src_format: str = "NHWC", dst_format: str = "NCHW") -> Tensor:
    """What stands for the dimensions of one data format, in the order of another one."""
    order = _moved("DataFormatVecPermute", src_format, dst_format)
    if input_x.shape not in ((4,), (4, 2)):
        raise ValueError(f"DataFormatVecPermute takes a shape of (4,) or (4, 2), not {input_x.shape}")
    return getitem(input_x, order)
