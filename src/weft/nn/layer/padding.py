"""Layers that add a border, and those that move pixels between channels and places."""

from __future__ import annotations

from typing import Any, ClassVar

from weft.core import Tensor
from weft.nn.cell import Cell
from weft.nn.declared import Described, Shown, declared, positive_int
from weft.ops._checks import reals
from weft.ops.images import pixel_shuffle, pixel_unshuffle
from weft.ops.padding import pad


class _Border(Described, Cell):
    """Base: a border of the last dimensions.

    Args:
        value: the number.

    Raises:
        TypeError: an argument is no number. The padding is an int, or a tuple of ints.
        ValueError: `padding` has not so many numbers, or is negative where a border does not cut off.
    """

    _example = """
        >>> print({name}({})(Tensor({})))
        {}
    """

    #: how many dimensions have a border
    rank: ClassVar[int] = 1
    mode: ClassVar[str] = "constant"
    #: whether a border can cut off
    cuts: ClassVar[bool] = False

    def __init__(self, padding: Any) -> None:
        super().__init__()
        name = type(self).__name__
        if isinstance(padding, int) and not isinstance(padding, bool):
            padding = (padding,) * (2 * self.rank)
        if not isinstance(padding, tuple) or any(isinstance(n, bool) or not isinstance(n, int) for n in padding):
            raise TypeError(f"{name}: padding must be an int or a tuple of ints, not {padding!r}")
        if not padding or len(padding) % 2 or len(padding) > 2 * self.rank:
            raise ValueError(f"{name}: padding must hold pairs for at most {self.rank} dimensions, not {padding}")
        if not self.cuts and min(padding) < 0:
            raise ValueError(f"{name}: padding must not be negative, not {padding}")
        self.padding = padding
        self.value: Any = None

    def construct(self, x: Tensor) -> Tensor:
        return pad(x, self.padding, self.mode, self.value)


class _One(_Border, rank=1):
    """Base.

    Args:
        padding: an int for both sides, or (before, after); with constants, negative numbers cut off.
    """


class _Two(_Border, rank=2):
    """Base.

    Args:
        padding: an int for all sides, or (left, right, top, bottom); with constants, negative numbers cut off.
    """


class _Three(_Border, rank=3):
    """Base.

    Args:
        padding: an int for all sides, or six: (before, after) of the last dimension, of the one before, of the one
            before that; with constants, negative numbers cut off.
    """


class _Constant(_Border):
    """Base: a border of one number."""

    cuts = True

    def __init__(self, padding: Any, value: Any) -> None:
        super().__init__(padding)
        reals(type(self).__name__, value=value)
        self.value = value

    def construct(self, x: Tensor) -> Tensor:
        found = super().construct(x)
        if 0 in found.shape:
            raise ValueError(f"{type(self).__name__}: nothing is left of a shape {x.shape}")
        return found


class ConstantPad1d(_One, _Constant, shows=("(1, 0), 5.0", "[[1.0]]", "[[5. 1.]]")):
    """Adds a border of one number to the last dimension."""


class ConstantPad2d(_Two, _Constant, shows=("(1, 0, 0, 1), 5.0", "[[1.0]]", "[[5. 1.]\n [5. 5.]]")):
    """Adds a border of one number to the last two dimensions."""


class ConstantPad3d(_Three, _Constant, shows=("(1, 0, 1, 0, 0, 0), 5.0", "[[[1.0]]]", "[[[5. 5.]\n  [5. 1.]]]")):
    """Adds a border of one number to the last three dimensions."""


class ZeroPad2d(_Two, _Constant, shows=("(1, 0, 0, 0)", "[[1.0]]", "[[0. 1.]]")):
    """Adds a border of zeros to the last two dimensions."""

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0)


class ReflectionPad1d(_One, mode="reflect", shows=("(2, 0)", "[[1.0, 2.0, 3.0]]", "[[3. 2. 1. 2. 3.]]")):
    """Adds a border that mirrors the last dimension, without its edges."""


class ReflectionPad2d(
    _Two, ReflectionPad1d, shows=("(1, 0, 1, 0)", "[[[1, 2], [3, 4]]]", "[[[4 3 4]\n  [2 1 2]\n  [4 3 4]]]")
):
    """Adds a border that mirrors the last two dimensions, without their edges."""


class ReflectionPad3d(_Three, ReflectionPad1d, shows=("(2, 0, 0, 0, 0, 0)", "[[[[1, 2, 3]]]]", "[[[[3 2 1 2 3]]]]")):
    """Adds a border that mirrors the last three dimensions, without their edges."""


class ReplicationPad1d(_One, mode="replicate", shows=("(2, 0)", "[[1.0, 2.0]]", "[[1. 1. 1. 2.]]")):
    """Adds a border that repeats the edges of the last dimension."""


class ReplicationPad2d(_Two, ReplicationPad1d, shows=("(1, 0, 1, 0)", "[[[1, 2]]]", "[[[1 1 2]\n  [1 1 2]]]")):
    """Adds a border that repeats the edges of the last two dimensions."""


class ReplicationPad3d(_Three, ReplicationPad1d, shows=("(2, 0, 0, 0, 0, 0)", "[[[[1, 2]]]]", "[[[[1 1 1 2]]]]")):
    """Adds a border that repeats the edges of the last three dimensions."""


class PixelShuffle(Shown, shows=("PixelShuffle(2)(Tensor([[[[1]], [[2]], [[3]], [[4]]]]))", "[[[[1 2]\n   [3 4]]]]")):
    """Makes larger images of fewer channels; see `ops.pixel_shuffle`.

    Args:
        upscale_factor: the side of the squares of pixels that channels become.

    Raises:
        ValueError: it is not positive.
    """

    @declared(upscale_factor=positive_int)
    def __init__(self, upscale_factor: int) -> None: ...

    def construct(self, input: Tensor) -> Tensor:
        return pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(Shown, shows=("PixelUnshuffle(2)(Tensor([[[[1, 2], [3, 4]]]])).reshape(-1)", "[1 2 3 4]")):
    """Makes smaller images of more channels; see `ops.pixel_unshuffle`.

    Args:
        downscale_factor: the side of the squares of pixels that become channels.

    Raises:
        ValueError: it is not positive.
    """

    @declared(downscale_factor=positive_int)
    def __init__(self, downscale_factor: int) -> None: ...

    def construct(self, input: Tensor) -> Tensor:
        return pixel_unshuffle(input, self.downscale_factor)


class ChannelShuffle(
    Shown, shows=("ChannelShuffle(2)(Tensor([[[[1]], [[2]], [[3]], [[4]]]])).reshape(-1)", "[1 3 2 4]")
):
    """Takes the channels of groups in turn.

    Args:
        groups: how many groups there are.

    Raises:
        TypeError: `groups` is no int.
        ValueError: `groups` is not positive, or does not divide the number of channels (raised when called).
    """

    @declared(groups=positive_int)
    def __init__(self, groups: int) -> None: ...

    def construct(self, x: Tensor) -> Tensor:
        if x.ndim < 3:
            raise ValueError(f"ChannelShuffle: images have at least 3 dimensions, not {x.ndim}")
        *batch, channels, height, width = x.shape
        if channels % self.groups:
            raise ValueError(f"ChannelShuffle: {channels} channels cannot be divided by {self.groups}")
        parts = x.reshape((*batch, self.groups, channels // self.groups, height, width))
        return parts.swapaxes(-4, -3).reshape(x.shape)
