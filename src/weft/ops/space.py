"""Moving elements between batch, channels and space, and grids of affine maps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core import Tensor, described, shows
from weft.ops._checks import ints, lists, tensors, tuples
from weft.ops.images import WINDOWS, fold
from weft.ops.matmul import matmul
from weft.ops.padding import pad
from weft.ops.shape import swapaxes

__all__ = ["affine_grid", "batch_to_space_nd", "channel_shuffle", "col2im", "space_to_batch_nd"]


@shows("channel_shuffle(Tensor([[[[1]], [[2]], [[3]], [[4]]]]), 2).ravel()", "[1 3 2 4]")
def channel_shuffle(x: Any, groups: int) -> Any:
    """Channels in another order: the first of each group, the second of each group...

    Args:
        x: (..., C, H, W), of at least 4 dimensions.
        groups: number of groups, which divides C.

    Returns:
        Tensor: like `x`.

    Raises:
        TypeError: `x` is no tensor, or has less than 4 dimensions.
        ValueError: `groups` is no positive int that divides the number of channels.
    """
    tensors("channel_shuffle", x=x)
    if x.ndim < 4:
        raise TypeError(f"channel_shuffle: the input must have at least 4 dimensions, not {x.ndim}")
    if isinstance(groups, bool) or not isinstance(groups, int) or groups < 1 or x.shape[-3] % groups:
        raise ValueError(f"channel_shuffle: {x.shape[-3]} channels are not {groups!r} groups")
    *lead, channels, height, width = x.shape
    parts = x.reshape((*lead, groups, channels // groups, height, width))
    return swapaxes(parts, -3, -4).reshape(x.shape)


@shows("affine_grid(Tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]), (1, 1, 1, 2))", "[[[[-0.5  0. ]\n   [ 0.5  0. ]]]]")
def affine_grid(theta: Any, size: Any, align_corners: bool = False) -> Any:
    """The places that affine maps give to the pixels of images, for `grid_sample`.

    Args:
        theta: the maps, (N, 2, 3), or (N, 3, 4) in three dimensions.
        size: the images' size (N, C, H, W), or (N, C, D, H, W), a tuple.
        align_corners: -1 and 1 are the centres of the outermost pixels, else their borders.

    Returns:
        Tensor: (N, H, W, 2), or (N, D, H, W, 3).

    Raises:
        TypeError: `theta` is no tensor, or `size` no tuple.
        ValueError: the shapes do not fit.
    """
    tensors("affine_grid", theta=theta)
    tuples("affine_grid", size=size)
    return affine_points("affine_grid", theta, size, align_corners)


def affine_points(name: str, theta: Any, size: tuple[int, ...], align_corners: bool) -> Any:
    """The places that affine maps give to the pixels of images of a size."""
    rank = len(size) - 2
    if rank not in (2, 3) or theta.shape != (size[0], rank, rank + 1):
        raise ValueError(f"{name}: maps of shape {theta.shape} are none of images of size {size}")
    axes = []
    for length in size[2:]:
        places = np.linspace(-1, 1, length) if length > 1 else np.zeros(1)
        axes.append(places if align_corners else places * (length - 1) / length)
    grid = np.stack([*np.meshgrid(*axes, indexing="ij")[::-1], np.ones(size[2:])], -1)
    base = Tensor(grid.reshape((-1, rank + 1)), theta.dtype)
    return matmul(base, swapaxes(theta, -1, -2)).reshape((size[0], *size[2:], rank))


@WINDOWS
@shows("col2im(Tensor([[[[1.0, 2.0], [2.0, 3.0]]]]), Tensor([1, 3]), (1, 2), 1, 0, 1)", "[[[[1. 4. 3.]]]]")
def col2im(input_x: Any, output_size: Any, kernel_size: Any, dilation: Any, padding_value: Any, stride: Any) -> Any:
    """The images whose patches are given; elements in several patches are added; see `fold`.

    Args:
        input_x: (N, C, height * width of a window, windows), of numbers.
        output_size: height and width of the images, a Tensor of two ints.
        padding_value: border of zeros that the images had.

    Returns:
        Tensor: (N, C, H, W), of the same element type.

    Raises:
        TypeError: an argument is of another type.
        ValueError: the patches are not those of images of this size.
    """
    tensors("col2im", input_x=input_x, output_size=output_size)
    return fold(input_x, output_size, kernel_size, dilation, padding_value, stride)


_IN_BLOCKS = described(
    input_x="(N, ..., W1, ..., WM).",
    block_shape="size of a block in each of the last dimensions; an int stands for all.",
    block_size="size of a block in each of the last dimensions; an int stands for all.",
)


def _blocks(name: str, x: Any, block: Any, borders: Any, what: str) -> tuple[tuple[int, ...], list[tuple[int, int]]]:
    """The block of each dimension of space, and what is added to it or cut off on both sides."""
    tensors(name, x=x)
    if isinstance(block, bool) or not isinstance(block, (int, list, tuple)):
        raise TypeError(f"{name}: a block must be an int, list or tuple, not {type(block).__name__}")
    lists(name, **{what: borders})
    sizes = tuple(block) if isinstance(block, (list, tuple)) else (block,) * len(borders)
    for size in sizes:
        ints(name, block_size=size)
    if min(sizes, default=0) < 1:
        raise ValueError(f"{name}: the sizes of a block must be positive, not {block}")
    if len(borders) != len(sizes) or any(len(pair) != 2 or min(pair) < 0 for pair in borders):
        raise ValueError(f"{name}: {what} must be two numbers for each of {len(sizes)} dimensions, not {borders}")
    if x.ndim <= len(sizes):
        raise ValueError(f"{name}: an input of shape {x.shape} has no {len(sizes)} dimensions besides the batch")
    return sizes, [(int(low), int(high)) for low, high in borders]


def blocks_to_batch(name: str, x: Any, blocks: tuple[int, ...], borders: Sequence[tuple[int, ...]]) -> Any:
    """Blocks of the last dimensions, with zeros at both sides, as examples of a batch."""
    first = x.ndim - len(blocks)
    if any(map(any, borders)):
        x = pad(x, (*[(0, 0)] * first, *borders))
    batch, *middle = x.shape[:first]
    if any(size % block for size, block in zip(x.shape[first:], blocks, strict=True)):
        raise RuntimeError(f"{name}: dimensions of {x.shape[first:]} cannot be divided into blocks of {blocks}")
    split = [n for size, block in zip(x.shape[first:], blocks, strict=True) for n in (size // block, block)]
    parts = x.reshape((batch, *middle, *split))
    order = (*range(first + 1, parts.ndim, 2), *range(first), *range(first, parts.ndim, 2))
    return parts.transpose(order).reshape((batch * math.prod(blocks), *middle, *split[::2]))


def batch_to_blocks(name: str, x: Any, blocks: tuple[int, ...], borders: Sequence[tuple[int, ...]]) -> Any:
    """Examples of a batch as blocks of the last dimensions, cut off at both sides."""
    count, rank = math.prod(blocks), len(blocks)
    first = x.ndim - rank
    batch, *middle = x.shape[:first]
    if batch % count:
        raise ValueError(f"{name}: a batch of {batch} cannot be divided into blocks of {count}")
    sizes = [size * block for size, block in zip(x.shape[first:], blocks, strict=True)]
    kept = [slice(low, size - high) for size, (low, high) in zip(sizes, borders, strict=True)]
    if any(part.start >= part.stop for part in kept):
        raise ValueError(f"{name}: cutting {borders} off leaves nothing of dimensions of {sizes}")
    parts = x.reshape((*blocks, batch // count, *x.shape[1:]))
    order = (*range(rank, rank + first), *(axis for i in range(rank) for axis in (rank + first + i, i)))
    whole = parts.transpose(order).reshape((batch // count, *middle, *sizes))
    return whole[(..., *kept)] if any(map(any, borders)) else whole


@_IN_BLOCKS
@shows("batch_to_space_nd(Tensor([[[[1]]], [[[2]]], [[[3]]], [[[4]]]]), 2, [[0, 0], [0, 0]])", "[[[[1 2]\n   [3 4]]]]")
def batch_to_space_nd(input_x: Any, block_shape: Any, crops: Any) -> Any:
    """Examples of a batch as blocks of the last dimensions: what `space_to_batch_nd` undoes.

    Args:
        crops: how much is cut off at both sides of each.

    Returns:
        Tensor: with N divided by the size of a block.

    Raises:
        TypeError: an argument is of another type.
        ValueError: the sizes do not fit.
    """
    blocks, cut = _blocks("batch_to_space_nd", input_x, block_shape, crops, "crops")
    return batch_to_blocks("batch_to_space_nd", input_x, blocks, cut)


@_IN_BLOCKS
@shows("space_to_batch_nd(Tensor([[[[1, 2], [3, 4]]]]), 2, [[0, 0], [0, 0]]).ravel()", "[1 2 3 4]")
def space_to_batch_nd(input_x: Any, block_size: Any, paddings: Any) -> Any:
    """Blocks of the last dimensions as examples of a batch.

    Args:
        paddings: zeros that are added at both sides of each.

    Returns:
        Tensor: with N times as many examples as a block has elements.

    Raises:
        TypeError: an argument is of another type.
        ValueError: the sizes are not those of the last dimensions.
        RuntimeError: a dimension cannot be divided into blocks.
    """
    blocks, added = _blocks("space_to_batch_nd", input_x, block_size, paddings, "paddings")
    return blocks_to_batch("space_to_batch_nd", input_x, blocks, added)
