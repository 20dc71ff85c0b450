"""Layers in a row as one cell: a convolution or a dense layer, normalisation, activation."""

from __future__ import annotations

from typing import Any

from weft.core import Operator, Tensor
from weft.nn.cell import Cell
from weft.nn.declared import Described
from weft.nn.layer.activation import LeakyReLU, get_activation
from weft.nn.layer.basic import Dense
from weft.nn.layer.conv import Conv2d
from weft.nn.layer.normalization import BatchNorm1d, BatchNorm2d
from weft.ops._checks import bools


class _NormalisedAndActivated(Described, Cell):
    """What follows the layer: perhaps a normalisation, perhaps an activation.

    Args:
        has_bias: whether there is a bias.
        weight_init: initializer of the weight.
        bias_init: initializer of the bias.
        momentum: of the normalisation.
        eps: of the normalisation.
        activation: name of an activation, a Cell, an operator, or None.
        alpha: slope of ``"leakyrelu"`` for negative numbers.
        after_fake: accepted; it concerns quantisation.
    """

    _example = """
        >>> import weft
        >>> {name}({}, activation="relu")(weft.ops.ones({})).shape
        {}
    """

    def _follow(
        self, norm: type, channels: int, has_bn: bool, momentum: float, eps: float, activation: Any, alpha: float
    ) -> None:
        name = type(self).__name__
        bools(name, has_bn=has_bn)
        self.has_bn = has_bn
        if has_bn:
            self.batchnorm = norm(channels, eps, momentum)
        self.has_act = activation is not None
        if activation == "leakyrelu":
            self.activation: Any = LeakyReLU(alpha)
        elif isinstance(activation, str):
            self.activation = get_activation(activation, name)
        elif isinstance(activation, (Cell, Operator)):
            self.activation = activation
        elif activation is not None:
            raise TypeError(f"{name}: activation must be a str, Cell or Primitive, not {type(activation).__name__}")

    def _followed(self, x: Tensor) -> Tensor:
        if self.has_bn:
            x = self.batchnorm(x)
        return self.activation(x) if self.has_act else x


class Conv2dBnAct(_NormalisedAndActivated, shows=("3, 8, 3, has_bn=True", "(1, 3, 5, 5)", "(1, 8, 5, 5)")):
    """A convolution, then perhaps a normalisation and an activation.

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        kernel_size: as `Conv2d` takes it, like the arguments up to `bias_init`.
        stride: step.
        pad_mode: ``"same"``, ``"valid"`` or ``"pad"``.
        padding: for ``"pad"``.
        dilation: distance of the kernel's elements.
        group: number of channel groups.
        has_bn: whether a `BatchNorm2d` follows.
    """

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
        has_bias: bool = False,
        weight_init: Any = "normal",
        bias_init: Any = "zeros",
        has_bn: bool = False,
        momentum: float = 0.997,
        eps: float = 1e-5,
        activation: Any = None,
        alpha: float = 0.2,
        after_fake: bool = True,
    ) -> None:
        super().__init__()
        self.conv = Conv2d(
            in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, weight_init,
            bias_init,
        )  # fmt: skip
        self._follow(BatchNorm2d, out_channels, has_bn, momentum, eps, activation, alpha)
        self.after_fake = after_fake

    def construct(self, x: Tensor) -> Tensor:
        return self._followed(self.conv(x))


class DenseBnAct(_NormalisedAndActivated, shows=("2, 3", "(1, 2)", "(1, 3)")):
    """A fully connected layer, then perhaps a normalisation and an activation.

    Args:
        in_channels: size of the input's last dimension.
        out_channels: size of the output's last dimension.
        has_bn: whether a `BatchNorm1d` follows.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        weight_init: Any = "normal",
        bias_init: Any = "zeros",
        has_bias: bool = True,
        has_bn: bool = False,
        momentum: float = 0.9,
        eps: float = 1e-5,
        activation: Any = None,
        alpha: float = 0.2,
        after_fake: bool = True,
    ) -> None:
        super().__init__()
        self.dense = Dense(in_channels, out_channels, weight_init, bias_init, has_bias)
        self._follow(BatchNorm1d, out_channels, has_bn, momentum, eps, activation, alpha)
        self.after_fake = after_fake

    def construct(self, x: Tensor) -> Tensor:
        return self._followed(self.dense(x))
