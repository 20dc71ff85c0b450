"""Blocks of pixels that become channels, and back."""

from __future__ import annotations

from typing import Any

from weft.core import described, op, shows

__all__ = ["depth_to_space", "space_to_depth"]


_blocks = described(block_size="height and width of a block.", raises="ValueError: a shape or number is not allowed.")


def _check(name: str, input: Any, block_size: int) -> None:
    if input.ndim != 4:
        raise ValueError(f"{name} takes a tensor of the shape (N, C, H, W), not {tuple(input.shape)}")
    if block_size < 2:
        raise ValueError(f"{name}: block_size must be at least 2, not {block_size}")


@op("DepthToSpace", init="block_size")
@shows("depth_to_space(Tensor([[[[1]], [[2]], [[3]], [[4]]]]), 2)", "[[[[1 2]\n   [3 4]]]]")
@_blocks
def depth_to_space(input: Any, *, block_size: int) -> Any:
    """Make blocks of pixels of channels.

    Args:
        input: (N, C, H, W), where C is a multiple of the square of `block_size`.

    Returns:
        Tensor: (N, C / block_size², H · block_size, W · block_size).
    """
    _check("depth_to_space", input, block_size)
    count, channels, height, width = input.shape
    kept, left = divmod(channels, block_size**2)
    if left:
        raise ValueError(f"depth_to_space: {channels} channels are no multiple of {block_size}²")
    blocks = input.reshape(count, block_size, block_size, kept, height, width).transpose(0, 3, 4, 1, 5, 2)
    return blocks.reshape(count, kept, height * block_size, width * block_size)


@op("SpaceToDepth", init="block_size")
@shows("space_to_depth(Tensor([[[[1, 2], [3, 4]]]]), 2).shape", "(1, 4, 1, 1)")
@_blocks
def space_to_depth(input: Any, *, block_size: int) -> Any:
    """Make channels of blocks of pixels.

    Args:
        input: (N, C, H, W), where H and W are multiples of `block_size`.

    Returns:
        Tensor: (N, C · block_size², H / block_size, W / block_size).
    """
    _check("space_to_depth", input, block_size)
    count, channels, height, width = input.shape
    if height % block_size or width % block_size:
        raise ValueError(f"space_to_depth: a size of {height} by {width} has no whole blocks of {block_size}")
    rows, columns = height // block_size, width // block_size
    blocks = input.reshape(count, channels, rows, block_size, columns, block_size).transpose(0, 3, 5, 1, 2, 4)
    return blocks.reshape(count, channels * block_size**2, rows, columns)
