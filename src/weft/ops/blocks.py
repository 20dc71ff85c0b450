"""Blocks of images moved to channels or to the batch, and back."""

from __future__ import annotations

from typing import Any

from weft.core.declare import freeze, operator_class
from weft.core.tensor import Tensor
from weft.ops.padding import pad
from weft.ops.shape import reshape, transpose


def _block(name: str, x: Tensor, size: Any) -> None:
    if isinstance(size, bool) or not isinstance(size, int):
        raise TypeError(f"{name}: block_size must be an int, not {type(size).__name__}")
    if size < 2:
        raise ValueError(f"{name}: block_size must be at least 2, not {size}")
    if x.ndim != 4:
        raise ValueError(f"{name}: the input must have 4 dimensions (N, C, H, W), not shape {x.shape}")


def _depth_to_space(x: Tensor, *, block_size: int) -> Tensor:
    """Channels as blocks of the image: ``DepthToSpace(block_size)(x)``."""
    _block("DepthToSpace", x, block_size)
    n, c, h, w = x.shape
    if c % block_size**2:
        raise ValueError(f"DepthToSpace: {c} channels are no multiple of {block_size**2}")
    depth = c // block_size**2
    parts = reshape(x, (n, block_size, block_size, depth, h, w))
    return reshape(transpose(parts, (0, 3, 4, 1, 5, 2)), (n, depth, h * block_size, w * block_size))


def _space_to_depth(x: Tensor, *, block_size: int) -> Tensor:
    """Blocks of the image as channels: ``SpaceToDepth(block_size)(x)``."""
    _block("SpaceToDepth", x, block_size)
    n, c, h, w = x.shape
    if h % block_size or w % block_size:
        raise ValueError(f"SpaceToDepth: an image of {h} x {w} does not divide into blocks of {block_size}")
    parts = reshape(x, (n, c, h // block_size, block_size, w // block_size, block_size))
    return reshape(transpose(parts, (0, 3, 5, 1, 2, 4)), (n, -1, h // block_size, w // block_size))


def _pairs(name: str, what: str, x: Tensor, block_shape: Any, pairs: Any) -> tuple[tuple[int, ...], Any]:
    """The block's sizes, one a spatial dimension, and a pair of numbers for each."""
    pairs = freeze(pairs)
    sizes = freeze(block_shape)
    sizes = sizes if isinstance(sizes, tuple) else (sizes,) * len(pairs)
    if min(sizes) < 1 or len(pairs) != len(sizes) or any(len(p) != 2 or min(p) < 0 for p in pairs):
        raise ValueError(f"{name}: {what} must be a pair of numbers for each size of the block {sizes}, not {pairs}")
    if x.ndim <= len(sizes):
        raise ValueError(f"{name}: an input of shape {x.shape} has no {len(sizes)} spatial dimensions")
    return sizes, pairs


def _space_to_batch(x: Tensor, *, block_shape: Any, paddings: Any) -> Tensor:
    """Positions of blocks as examples: ``SpaceToBatchND(block_shape, paddings)(x)``."""
    sizes, pairs = _pairs("SpaceToBatchND", "paddings", x, block_shape, paddings)
    x = pad(x, tuple(n for pair in reversed(pairs) for n in pair))
    rank, lead = len(sizes), x.ndim - len(sizes)
    spatial = x.shape[lead:]
    if any(length % size for length, size in zip(spatial, sizes, strict=True)):
        raise ValueError(f"SpaceToBatchND: sizes {spatial} with paddings do not divide into blocks of {sizes}")
    counts = [length // size for length, size in zip(spatial, sizes, strict=True)]
    split = [n for pair in zip(counts, sizes, strict=True) for n in pair]
    inside, outside = [lead + 2 * i + 1 for i in range(rank)], [lead + 2 * i for i in range(rank)]
    parts = transpose(reshape(x, (*x.shape[:lead], *split)), (*inside, *range(lead), *outside))
    return reshape(parts, (-1, *x.shape[1:lead], *counts))


def _batch_to_space(x: Tensor, *, block_shape: Any, crops: Any) -> Tensor:
    """Examples as positions of blocks: ``BatchToSpaceND(block_shape, crops)(x)``."""
    sizes, pairs = _pairs("BatchToSpaceND", "crops", x, block_shape, crops)
    rank, lead = len(sizes), x.ndim - len(sizes)
    parts = reshape(x, (*sizes, -1, *x.shape[1:]))
    order = [n for i in range(rank) for n in (rank + lead + i, i)]
    lengths = [length * size for length, size in zip(x.shape[lead:], sizes, strict=True)]
    whole = reshape(transpose(parts, (*range(rank, rank + lead), *order)), (-1, *x.shape[1:lead], *lengths))
    return pad(whole, tuple(-n for pair in reversed(pairs) for n in pair))


operator_class("DepthToSpace", _depth_to_space, "block_size")
operator_class("SpaceToDepth", _space_to_depth, "block_size")
operator_class("SpaceToBatchND", _space_to_batch, "block_shape, paddings")
operator_class("BatchToSpaceND", _batch_to_space, "block_shape, crops")
