"""Convolution layers."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from weft import dtypes
from weft.core import Parameter, Tensor
from weft.nn.cell import Cell
from weft.nn.declared import Described, declared, like, positive_int, with_operators
from weft.nn.initializer import HeUniform, Uniform
from weft.nn.layer.basic import make_weight
from weft.ops import conv as ops
from weft.ops import operations
from weft.ops.shape import expand_dims, squeeze


def _settings(layer: Any) -> dict[str, Any]:
    """What the operator of a convolution layer is made with, with four dimensions for those of one."""
    names = ("kernel_size", "stride", "dilation")
    found = {name: getattr(layer, name) for name in names}
    padding = layer.padding
    if layer._rank == 1:
        found = {name: (1, *size) for name, size in found.items()}
        padding = (0, 0, padding, padding) if isinstance(padding, int) else (0, 0, *padding)
    return {**found, "pad_mode": layer.pad_mode, "pad": padding, "group": layer.group}


def _flat_convolution(layer: Any) -> Any:
    return operations.Conv2D(
        layer.out_channels, **_settings(layer), data_format=layer.data_format.replace("NCDHW", "NCHW")
    )


@with_operators(bias_add=lambda layer: operations.BiasAdd(layer.data_format))
class _Conv(Described, Cell):
    """What the convolution layers share: settings, weight and bias.

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        kernel_size: an int.
        stride: step.
        pad_mode: ``"same"``, ``"valid"`` or ``"pad"``.
        padding: for ``"pad"``.
        dilation: distance of the kernel's elements.
        group: number of channel groups.
        has_bias: whether there is a bias.
        weight_init: initializer of the weight.
        bias_init: initializer of the bias.
        data_format: ``"NCDHW"``.
        dtype: element type of the parameters.
    """

    _example = """
        >>> import weft
        >>> {name}({})(weft.ops.ones({}, weft.float32)).shape
        {}
    """

    _rank: ClassVar[int] = 2
    _transposed: ClassVar[bool] = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        pad_mode: str = "same",
        padding: Any = 0,
        dilation: Any = 1,
        group: int = 1,
        output_padding: Any = 0,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        data_format: str = "NCHW",
        dtype: Any = dtypes.float32,
    ) -> None:
        super().__init__()
        name, rank = type(self).__name__, self._rank
        self.in_channels = positive_int(name, "in_channels", in_channels)
        self.out_channels = positive_int(name, "out_channels", out_channels)
        self.group = positive_int(name, "group", group)
        if in_channels % group or out_channels % group:
            raise ValueError(
                f"{name}: in_channels {in_channels} and out_channels {out_channels} must divide into {group} groups"
            )
        self.kernel_size = ops.per_dimension(name, "kernel_size", kernel_size, rank)
        self.stride = ops.per_dimension(name, "stride", stride, rank)
        self.dilation = ops.per_dimension(name, "dilation", dilation, rank)
        if self._transposed and rank > 1:
            self.output_padding = ops.per_dimension(name, "output_padding", output_padding, rank, 0)
        ops.padding_of(name, pad_mode, padding, rank)
        if data_format not in ("NCHW", "NCDHW", "NHWC") or (data_format == "NHWC" and rank != 2):
            raise ValueError(f"{name}: data_format {data_format!r} is not available")
        self.pad_mode = pad_mode
        self.padding = padding
        self.has_bias = has_bias
        self.data_format = data_format
        if rank == 1 and isinstance(weight_init, Tensor) and weight_init.ndim == 3:
            weight_init = expand_dims(weight_init, 2)
        self.weight_init = weight_init
        self.bias_init = bias_init
        kernel = (1, *self.kernel_size) if rank == 1 else self.kernel_size
        first, second = (in_channels, out_channels) if self._transposed else (out_channels, in_channels)
        shape = (first, second // group, *kernel)
        weight = make_weight(weight_init, shape, dtype, HeUniform(math.sqrt(5)))
        self.weight = Parameter(weight, name="weight")
        self.bias: Any = None
        if has_bias:
            bound = 1 / math.sqrt(math.prod(shape[1:]))
            self.bias = Parameter(make_weight(bias_init, (out_channels,), dtype, Uniform(bound)), name="bias")

    def _bias_now(self) -> Any:
        """The bias, where the layer has one now."""
        return self.bias if self.has_bias else None

    def extend_repr(self) -> str:
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}, pad_mode={self.pad_mode}, padding={self.padding}, dilation={self.dilation}, "
            f"group={self.group}, has_bias={self.has_bias}, weight_init={self.weight_init}, "
            f"bias_init={self.bias_init}, format={self.data_format}"
        )


@with_operators(conv2d=_flat_convolution)
class Conv2d(_Conv, shows=("3, 8, 3", "(1, 3, 5, 5)", "(1, 8, 5, 5)")):
    """Convolution over two dimensions.

    Args:
        kernel_size: an int or (height, width).
        padding: for ``"pad"``: an int or (top, bottom, left, right).
        weight_init: initializer of the weight (out, in / group, height, width); by default He uniform.
        bias_init: initializer of the bias (out,); by default uniform within ``1 / sqrt(fan_in)``.
        data_format: ``"NCHW"`` or ``"NHWC"``.
    """

    __init__ = declared()(like(_Conv.__init__, without=("output_padding",)))

    def construct(self, x: Tensor) -> Tensor:
        return ops.convolve(
            "Conv2d", 2, x, self.weight, self._bias_now(), self.stride, self.pad_mode, self.padding, self.dilation,
            self.group, self.data_format,
        )  # fmt: skip

    def _by_operators(self, x: Tensor) -> Tensor:
        out = self.conv2d(x, self.weight)
        return self.bias_add(out, self.bias) if self.has_bias else out

    _with_own = _by_operators


@with_operators(conv2d=_flat_convolution)
class Conv1d(_Conv, rank=1, shows=("3, 8, 3", "(1, 3, 5)", "(1, 8, 5)")):
    """Convolution over one dimension; the weight is stored as (out, in / group, 1, kernel)."""

    __init__ = declared()(like(_Conv.__init__, without=("output_padding", "data_format")))

    def construct(self, x: Tensor) -> Tensor:
        weight = squeeze(self.weight, 2)
        settings = self.stride, self.pad_mode, self.padding, self.dilation, self.group
        return ops.conv1d(x, weight, self._bias_now(), *settings)


@with_operators(conv3d=lambda layer: operations.Conv3D(layer.out_channels, **_settings(layer)))
class Conv3d(_Conv, rank=3, shows=("1, 2, 3", "(1, 1, 3, 3, 3)", "(1, 2, 3, 3, 3)")):
    """Convolution over three dimensions.

    Args:
        kernel_size: an int or (depth, height, width).
        padding: for ``"pad"``: an int, or a pair for each dimension, flat.
    """

    __init__ = declared()(like(_Conv.__init__, without=("output_padding",), data_format="NCDHW"))

    def construct(self, x: Tensor) -> Tensor:
        return ops.conv3d(
            x, self.weight, self._bias_now(), self.stride, self.pad_mode, self.padding, self.dilation, self.group
        )

    def _by_operators(self, x: Tensor) -> Tensor:
        out = self.conv3d(x, self.weight)
        return self.bias_add(out, self.bias) if self.has_bias else out

    _with_own = _by_operators


@with_operators(conv2d_transpose=lambda layer: operations.Conv2DTranspose(layer.in_channels, **_settings(layer)))
class Conv2dTranspose(_Conv, transposed=True, shows=("3, 8, 3, stride=2", "(1, 3, 5, 5)", "(1, 8, 10, 10)")):
    """Transposed convolution over two dimensions.

    Args:
        kernel_size: an int or (height, width).
        pad_mode: ``"same"`` (output is input times stride), ``"valid"`` or ``"pad"``.
        padding: for ``"pad"``: an int or (top, bottom, left, right).
        output_padding: rows and columns added on one side of the output.
        weight_init: initializer of the weight (in, out / group, height, width).
    """

    @declared()
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        pad_mode: str = "same",
        padding: Any = 0,
        output_padding: Any = 0,
        dilation: Any = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        dtype: Any = dtypes.float32,
    ) -> None: ...

    def construct(self, x: Tensor) -> Tensor:
        return ops.conv_transpose2d(
            x, self.weight, self._bias_now(), self.stride, self.padding, self.output_padding, self.group, self.dilation,
            self.pad_mode,
        )  # fmt: skip


@with_operators(conv2d_transpose=lambda layer: operations.Conv2DTranspose(layer.in_channels, **_settings(layer)))
class Conv1dTranspose(_Conv, rank=1, transposed=True, shows=("3, 8, 3, stride=2", "(1, 3, 5)", "(1, 8, 10)")):
    """Transposed convolution over one dimension; the weight is stored as (in, out / group, 1, kernel)."""

    __init__ = declared()(like(_Conv.__init__, without=("output_padding", "data_format")))

    def construct(self, x: Tensor) -> Tensor:
        weight = squeeze(self.weight, 2)
        return ops.conv_transpose1d(
            x, weight, self._bias_now(), self.stride, self.padding, 0, self.group, self.dilation, self.pad_mode
        )


@with_operators(
    conv3d_transpose=lambda layer: operations.Conv3DTranspose(layer.in_channels, layer.out_channels, **_settings(layer))
)
class Conv3dTranspose(
    _Conv, rank=3, transposed=True, shows=("3, 8, 3, stride=2", "(1, 3, 5, 5, 5)", "(1, 8, 10, 10, 10)")
):
    """Transposed convolution over three dimensions.

    Args:
        kernel_size: an int or (depth, height, width).
        pad_mode: ``"same"`` (output is input times stride), ``"valid"`` or ``"pad"``.
        padding: for ``"pad"``: an int or (front, back, top, bottom, left, right).
        output_padding: what is added on one side of the output.
        weight_init: initializer of the weight (in, out / group, depth, height, width).
    """

    __init__ = declared()(like(_Conv.__init__, data_format="NCDHW"))

    def construct(self, x: Tensor) -> Tensor:
        out = ops.conv3d_transpose(
            x, self.weight, self.pad_mode, self.padding, self.stride, self.dilation, self.group, self.output_padding
        )
        return out + self.bias.reshape((-1, 1, 1, 1)) if self.has_bias else out
