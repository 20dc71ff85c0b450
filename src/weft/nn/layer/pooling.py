"""Pooling layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from weft.core import Tensor
from weft.nn.cell import Cell
from weft.nn.declared import Applied, Described, Shown, calling, declared, with_inputs_spread, with_operators
from weft.ops import operations
from weft.ops import pool as ops
from weft.ops.pool import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d, adaptive_max_pool1d


class _Pool(Described, Cell):
    """Base: a window that moves over the last dimensions.

    Args:
        kernel_size: window, an int or one for each dimension.
        stride: step.
        pad_mode: ``"same"``, ``"valid"`` or ``"pad"``.
        padding: for ``"pad"``.
        dilation: distance of the window's elements.
        return_indices: also return the positions of the maxima.
        ceil_mode: also keep windows that reach over the border.
        count_include_pad: count the padding's zeros as elements.
        divisor_override: divide by this.
        data_format: order of the dimensions: ``"NCHW"``, or over two dimensions ``"NHWC"``.
    """

    _example = """
        >>> print({name}({})(Tensor({})))
        {}
    """

    _rank: ClassVar[int] = 2

    def __init__(self, kernel_size: Any, stride: Any, pad_mode: str, data_format: str) -> None:
        super().__init__()
        name = type(self).__name__
        if not isinstance(pad_mode, str) or pad_mode.lower() not in ("same", "valid", "pad"):
            raise ValueError(f"{name}: pad_mode must be 'same', 'valid' or 'pad', not {pad_mode!r}")
        for what, value in (("kernel_size", kernel_size), ("stride", stride)):
            for one in value if isinstance(value, (tuple, list)) else (value,):
                if isinstance(one, bool) or not isinstance(one, int):
                    raise TypeError(f"{name}: {what} must be an int or a tuple of ints, not {value!r}")
                if one < 1:
                    raise ValueError(f"{name}: {what} must be positive, not {value!r}")
        self.kernel_size = kernel_size
        self.stride = stride
        self.pad_mode = pad_mode
        self.data_format = data_format
        self.format = data_format

    def _by(self, operation: Callable[..., Any], x: Tensor, *settings: Any) -> Any:
        window = self.kernel_size, self.stride, self.pad_mode, self.padding
        return operation(type(self).__name__, self._rank, x, *window, *settings, self.data_format)

    def extend_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode.upper()}"


def _settings(pool: Any) -> tuple[Any, ...]:
    """What the operator of a pool over two dimensions is made with."""
    return pool.kernel_size, pool.stride, pool.pad_mode, pool.data_format


class _MaxPool(_Pool):
    @declared()
    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NCHW",
    ) -> None: ...

    def _made(self) -> None:
        if self.pad_mode.lower() != "pad" and (self.ceil_mode or self.return_indices or self.dilation != 1):
            raise ValueError(
                f"{type(self).__name__}: dilation, return_indices and ceil_mode need pad_mode='pad', not "
                f"{self.pad_mode!r}"
            )

    def construct(self, x: Tensor) -> Any:
        return self._by(ops.max_pool, x, self.dilation, self.ceil_mode, self.return_indices)


class MaxPool1d(_MaxPool, rank=1, shows=("2, 2", "[[[1.0, 3.0, 2.0, 4.0]]]", "[[[3. 4.]]]")):
    """Maxima of windows over one dimension."""


@with_operators(max_pool=lambda pool: operations.MaxPool(*_settings(pool)))
class MaxPool2d(_MaxPool, shows=("2, 2", "[[[[1.0, 2.0], [3.0, 4.0]]]]", "[[[[4.]]]]")):
    """Maxima of windows over two dimensions."""

    _by_operators = with_inputs_spread("max_pool")
    _with_own = calling("max_pool")


class MaxPool3d(_MaxPool, rank=3, shows=("(1, 2, 1)", "[[[[[1.0], [2.0]]]]]", "[[[[[2.]]]]]")):
    """Maxima of windows over three dimensions."""


class _AvgPool(_Pool):
    @declared()
    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
        data_format: str = "NCHW",
    ) -> None: ...

    def _made(self) -> None:
        if self.divisor_override is not None and self.divisor_override <= 0:
            raise ValueError(f"{type(self).__name__}: divisor_override must be positive, not {self.divisor_override}")

    def construct(self, x: Tensor) -> Tensor:
        # "same" in one or two dimensions counts only real elements, whatever the setting, which is for explicit padding
        counted = self.count_include_pad and (self._rank == 3 or self.pad_mode.lower() == "pad")
        return self._by(ops.avg_pool, x, self.ceil_mode, counted, self.divisor_override)


class AvgPool1d(_AvgPool, rank=1, shows=("2", "[[[1.0, 3.0, 5.0]]]", "[[[2. 4.]]]")):
    """Means of windows over one dimension."""


@with_operators(avg_pool=lambda pool: operations.AvgPool(*_settings(pool)))
class AvgPool2d(_AvgPool, shows=("2", "[[[[1.0, 2.0], [3.0, 4.0]]]]", "[[[[2.5]]]]")):
    """Means of windows over two dimensions."""

    _by_operators = with_inputs_spread("avg_pool")
    _with_own = calling("avg_pool")


class AvgPool3d(_AvgPool, rank=3, shows=("(1, 2, 1)", "[[[[[1.0], [2.0]]]]]", "[[[[[1.5]]]]]")):
    """Means of windows over three dimensions."""


class _Adaptive(Described, Applied):
    """Base: as many windows as wanted.

    Args:
        output_size: an int, or over several dimensions one for each, of which None keeps a size.
    """

    _example = _Pool._example

    @declared()
    def __init__(self, output_size: Any) -> None: ...

    def extend_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_Adaptive, operation=adaptive_avg_pool1d, shows=("2", "[[[1.0, 3.0, 5.0]]]", "[[[2. 4.]]]")):
    """Means of as many windows as wanted over one dimension."""


class AdaptiveAvgPool2d(_Adaptive, operation=adaptive_avg_pool2d, shows=("1", "[[[[1.0, 2.0]]]]", "[[[[1.5]]]]")):
    """Means of as many windows as wanted over two dimensions."""


class AdaptiveAvgPool3d(_Adaptive, operation=adaptive_avg_pool3d, shows=("1", "[[[[[1.0, 2.0]]]]]", "[[[[[1.5]]]]]")):
    """Means of as many windows as wanted over three dimensions."""


class AdaptiveMaxPool1d(_Adaptive, operation=adaptive_max_pool1d, shows=("2", "[[[1.0, 3.0, 5.0]]]", "[[[3. 5.]]]")):
    """Maxima of as many windows as wanted over one dimension."""


class AdaptiveMaxPool2d(Shown, shows=("AdaptiveMaxPool2d(1)(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]))", "[[[[4.]]]]")):
    """Maxima of as many windows as wanted over two dimensions.

    Args:
        output_size: an int or (height, width), None keeps a size.
        return_indices: also return the positions of the maxima.
    """

    @declared()
    def __init__(self, output_size: Any, return_indices: bool = False) -> None: ...

    def construct(self, x: Tensor) -> Any:
        return ops.adaptive_max_pool2d(x, self.output_size, self.return_indices)
