"""Layers of the less usual kinds of pooling: what undoes it, its windows of drawn places, its other norms."""

from __future__ import annotations

from typing import Any, ClassVar

from weft import ops
from weft.core import Tensor
from weft.nn.cell import Cell
from weft.nn.declared import Described, declared


class _Named(Described, Cell):
    """Base: a function of `ops` that is looked up by its name.

    Args:
        kernel_size: window.
        stride: step; None for that of the window.
        padding: what was added at the borders.
        norm_type: the degree of the norm.
        ceil_mode: also keep windows that reach over the border.
        output_size: wanted sizes.
        output_ratio: wanted sizes as shares of those of the input, in place of `output_size`.
        return_indices: also return the positions of the maxima.
        _random_samples: the places, in place of drawn ones.
    """

    _example = """
        >>> {name}({}).{}
        {}
    """

    _function: ClassVar[str] = ""

    def _of(self, *given: Any) -> Any:
        return getattr(ops, self._function)(*given)


class _MaxUnpool(_Named, shows=("2", "kernel_size", "2")):
    @declared()
    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None: ...

    def construct(self, x: Tensor, indices: Tensor, output_size: Any = None) -> Any:
        return self._of(x, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool1d(_MaxUnpool, function="max_unpool1d"):
    """Puts maxima back where they were, in one dimension."""


class MaxUnpool2d(_MaxUnpool, function="max_unpool2d"):
    """Puts maxima back where they were, in two dimensions."""


class MaxUnpool3d(_MaxUnpool, function="max_unpool3d"):
    """Puts maxima back where they were, in three dimensions."""


class _LPPool(_Named, shows=("2, 3", "norm_type", "2")):
    @declared()
    def __init__(self, norm_type: Any, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> None: ...

    def construct(self, x: Tensor) -> Any:
        return self._of(x, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool1d(_LPPool, function="lp_pool1d"):
    """Norms of windows over one dimension."""


class LPPool2d(_LPPool, function="lp_pool2d"):
    """Norms of windows over two dimensions."""


class _FractionalMaxPool(_Named, shows=("3, output_size=2", "output_size", "2")):
    @declared()
    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> None: ...

    def construct(self, input: Tensor) -> Any:
        places = self.return_indices, self._random_samples
        return self._of(input, self.kernel_size, self.output_size, self.output_ratio, *places)


class FractionalMaxPool2d(_FractionalMaxPool, function="fractional_max_pool2d"):
    """Maxima of windows at drawn places, over two dimensions."""


class FractionalMaxPool3d(_FractionalMaxPool, function="fractional_max_pool3d"):
    """Maxima of windows at drawn places, over three dimensions."""


class AdaptiveMaxPool3d(_Named, function="adaptive_max_pool3d", shows=("(1, 2, 2)", "output_size", "(1, 2, 2)")):
    """Maxima of windows that give a wanted size, over three dimensions.

    Args:
        output_size: wanted sizes, an int or (depth, height, width); None for that of the input.
    """

    @declared()
    def __init__(self, output_size: Any, return_indices: bool = False) -> None: ...

    def construct(self, input: Tensor) -> Any:
        return self._of(input, self.output_size, self.return_indices)
