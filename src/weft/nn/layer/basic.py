"""Dense and other basic layers."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from weft import dtypes
from weft.core import Parameter, Tensor
from weft.nn.declared import Shown, declared, integer, positive_int, with_inputs_spread, with_operators
from weft.nn.initializer import HeUniform, Uniform, Zero, initializer
from weft.nn.layer.activation import get_activation
from weft.ops import operations
from weft.ops._checks import one_of
from weft.ops.dropout import dropout, dropout1d, dropout2d, dropout3d
from weft.ops.embedding import one_hot
from weft.ops.matmul import dense, matmul
from weft.ops.padding import mirror_pad, pad
from weft.ops.select import scaled_down
from weft.ops.shape import flatten
from weft.ops.statistics import norm


def make_weight(init: Any, shape: tuple[int, ...], dtype: Any, default: Any) -> Any:
    """The initial value of a weight, from what a layer was given or a default initializer."""
    return initializer(default if init is None else init, shape, dtype)


@with_operators(
    matmul=lambda layer: operations.MatMul(transpose_b=True),
    bias_add=lambda layer: operations.BiasAdd(),
    reshape=lambda layer: operations.Reshape(),
    shape_op=lambda layer: operations.Shape(),
)
class Dense(Shown, shows=("Dense(2, 3)(Tensor([[1.0, 2.0]])).shape", "(1, 3)")):
    """A fully connected layer: ``activation(x @ weight.T + bias)``.

    Args:
        in_channels: size of the input's last dimension.
        out_channels: size of the output's last dimension.
        weight_init: initializer of the weight (out, in); by default He uniform.
        bias_init: initializer of the bias (out,); by default uniform within ``1 / sqrt(in)``, and zeros where
            `weight_init` is given.
        has_bias: whether there is a bias.
        activation: name of an activation, a Cell, or None.
        dtype: element type of the parameters.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        weight_init: Any = None,
        bias_init: Any = None,
        has_bias: bool = True,
        activation: Any = None,
        dtype: Any = dtypes.float32,
    ) -> None:
        super().__init__()
        self.in_channels = positive_int("Dense", "in_channels", in_channels)
        self.out_channels = positive_int("Dense", "out_channels", out_channels)
        self.has_bias = has_bias
        weight = make_weight(weight_init, (out_channels, in_channels), dtype, HeUniform(math.sqrt(5)))
        self.weight = Parameter(weight, name="weight")
        self.bias: Any = None
        if has_bias:
            default = Uniform(1 / math.sqrt(in_channels)) if weight_init is None else Zero()
            self.bias = Parameter(make_weight(bias_init, (out_channels,), dtype, default), name="bias")
        self.activation: Any = get_activation(activation) if isinstance(activation, str) else activation
        self.activation_flag = self.activation is not None

    def construct(self, x: Tensor) -> Tensor:
        out = dense(x, self.weight, self.bias if self.has_bias else None)
        return self.activation(out) if self.activation_flag else out

    def _by_operators(self, x: Tensor) -> Tensor:
        shape = x.shape
        out = self.matmul(self.reshape(x, (-1, shape[-1])), self.weight)
        if self.has_bias:
            out = self.bias_add(out, self.bias)
        out = self.reshape(out, (*shape[:-1], self.out_channels))
        return self.activation(out) if self.activation_flag else out

    _with_own = _by_operators

    def extend_repr(self) -> str:
        text = f"input_channels={self.in_channels}, output_channels={self.out_channels}"
        if self.has_bias:
            text += f", has_bias={self.has_bias}"
        if self.activation_flag:
            text += f", activation={self.activation}"
        return text


class Identity(Shown, shows=("Identity()(Tensor([1.0]))", "[1.]")):
    """Returns its input.

    Args:
        args: ignored.
        kwargs: ignored.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        del args, kwargs
        super().__init__()

    def construct(self, x: Any) -> Any:
        return x


class Flatten(Shown, shows=("Flatten()(Tensor([[[1.0, 2.0], [3.0, 4.0]]]))", "[[1. 2. 3. 4.]]")):
    """Merges dimensions into one.

    Args:
        start_dim: first dimension to merge.
        end_dim: last dimension to merge.
    """

    @declared(start_dim=integer, end_dim=integer)
    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None: ...

    def construct(self, x: Tensor) -> Tensor:
        return flatten(x, start_dim=self.start_dim, end_dim=self.end_dim)


def drop_probability(cell: str, keep_prob: float | None, p: float | None) -> float:
    """The probability of zero, from either way to state it.

    Raises:
        ValueError: both or neither are given, or it lies outside of its range.
    """
    if p is None and keep_prob is None:
        raise ValueError(f"{cell} needs p=..., the probability of zero")
    if p is not None and keep_prob is not None and abs(1 - keep_prob - p) > 1e-9:
        raise ValueError(f"{cell}: give p or keep_prob, not both")
    found = p if p is not None else 1 - float(keep_prob)  # type: ignore[arg-type]
    if not 0 <= found < 1:
        raise ValueError(f"{cell}: the probability of zero must be in [0, 1), not {found}")
    return float(found)


@with_operators(dropout=lambda layer: operations.Dropout(1 - layer.p))
class Dropout(Shown, shows=("Dropout(p=0.5)(Tensor([1.0, 2.0]))", "[1. 2.]")):
    """While training, zeroes elements at random and scales up the rest.

    Args:
        keep_prob: probability of keeping an element (older programs).
        p: probability of zeroing an element.
        dtype: accepted.
    """

    def __init__(self, keep_prob: float | None = None, p: float | None = None, dtype: Any = dtypes.float32) -> None:
        super().__init__()
        del dtype
        self.p = drop_probability("Dropout", keep_prob, 0.5 if p is None and keep_prob is None else p)
        self.keep_prob = 1 - self.p

    def construct(self, x: Tensor) -> Tensor:
        if not self.training or self.p == 0:
            return x
        return dropout(x, self.p, True)

    _by_operators = with_inputs_spread("dropout")

    def _with_own(self, x: Tensor) -> Any:
        return self.dropout(x)[0] if self.training and self.p else x

    def extend_repr(self) -> str:
        return f"p={self.p}"


class _DropoutChannels(Shown):
    """Base: zeroes whole channels.

    Args:
        p: probability of zeroing a channel.
    """

    p: float
    _function: ClassVar[Any] = None

    @declared(p=lambda cell, what, p: 1.0 if p == 1 else drop_probability(cell, None, p))
    def __init__(self, p: float = 0.5) -> None: ...

    def construct(self, x: Tensor) -> Tensor:
        return type(self)._function(x, self.p, True) if self.training else x

    def extend_repr(self) -> str:
        return f"p={self.p}"


class Dropout1d(
    _DropoutChannels, function=staticmethod(dropout1d), shows=("Dropout1d()(Tensor([[[1.0]]]))", "[[[1.]]]")
):
    """While training, zeroes whole channels of (N, C, L) at random."""


class Dropout2d(
    _DropoutChannels, function=staticmethod(dropout2d), shows=("Dropout2d()(Tensor([[[[1.0]]]]))", "[[[[1.]]]]")
):
    """While training, zeroes whole channels of (N, C, H, W) at random."""


class Dropout3d(
    _DropoutChannels, function=staticmethod(dropout3d), shows=("Dropout3d()(Tensor([[[[[1.0]]]]]))", "[[[[[1.]]]]]")
):
    """While training, zeroes whole channels of (N, C, D, H, W) at random."""


class OneHot(Shown, shows=("OneHot(depth=3)(Tensor([0, 2]))", "[[1. 0. 0.]\n [0. 0. 1.]]")):
    """Makes one-hot vectors of indices.

    Args:
        axis: where the new dimension goes.
        depth: length of the vectors.
        on_value: value at the index.
        off_value: value elsewhere.
        dtype: element type of the result.
    """

    def __init__(
        self, axis: int = -1, depth: int = 1, on_value: Any = 1.0, off_value: Any = 0.0, dtype: Any = dtypes.float32
    ) -> None:
        super().__init__()
        self.axis = axis
        self.depth = depth
        self.dtype = dtypes.of(dtype)
        self.on_value = Tensor(on_value, self.dtype)
        self.off_value = Tensor(off_value, self.dtype)

    def construct(self, indices: Tensor) -> Tensor:
        return one_hot(indices, self.depth, self.on_value, self.off_value, self.axis)


class Pad(Shown, shows=("Pad(((1, 2),))(Tensor([1.0]))", "[0. 1. 0. 0.]")):
    """Adds a border.

    Args:
        paddings: a (before, after) pair for each dimension.
        mode: ``"CONSTANT"`` (zeros), ``"REFLECT"`` or ``"SYMMETRIC"``.
    """

    def __init__(self, paddings: tuple[tuple[int, int], ...], mode: str = "CONSTANT") -> None:
        super().__init__()
        one_of("Pad", ("CONSTANT", "REFLECT", "SYMMETRIC"), mode=mode)
        if not isinstance(paddings, tuple):
            raise TypeError(f"Pad: paddings must be a tuple of (before, after) pairs, not {type(paddings).__name__}")
        if any(len(pair) != 2 for pair in paddings):
            raise ValueError(f"Pad: paddings must hold a (before, after) pair for each dimension, not {paddings}")
        self.paddings = paddings
        self.mode = mode

    def construct(self, x: Tensor) -> Tensor:
        if self.mode == "CONSTANT":
            return pad(x, tuple(n for pair in reversed(self.paddings) for n in pair))
        return mirror_pad(x, self.paddings, self.mode)


class MatMul(Shown, shows=("MatMul()(Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]]))", "[[11.]]")):
    """Multiplies matrices.

    Args:
        transpose_x1: transpose the first operand's last two dimensions.
        transpose_x2: transpose the second operand's last two dimensions.
    """

    @declared()
    def __init__(self, transpose_x1: bool = False, transpose_x2: bool = False) -> None: ...

    def construct(self, x1: Tensor, x2: Tensor) -> Tensor:
        if self.transpose_x1 and x1.ndim > 1:
            x1 = x1.swapaxes(-1, -2)
        if self.transpose_x2 and x2.ndim > 1:
            x2 = x2.swapaxes(-1, -2)
        return matmul(x1, x2)


class ClipByNorm(Shown, shows=("ClipByNorm()(Tensor([3.0, 4.0]), Tensor(1.0))", "[0.6 0.8]")):
    """Scales a tensor down so that its Euclidean norm is at most a bound.

    Args:
        axis: axes of the norm; None for all.
    """

    @declared()
    def __init__(self, axis: Any = None) -> None: ...

    def construct(self, x: Tensor, clip_norm: Any) -> Tensor:
        return scaled_down(x, norm(x, None, self.axis, True), clip_norm)


class Norm(Shown, shows=("Norm()(Tensor([3.0, 4.0]))", "5.0")):
    """The Euclidean norm.

    Args:
        axis: axes of the norm; all by default.
        keep_dims: keep the axes with size 1.
    """

    @declared(axis=lambda cell, what, axis: axis if axis != () else None)
    def __init__(self, axis: Any = (), keep_dims: bool = False) -> None: ...

    def construct(self, x: Tensor) -> Tensor:
        return norm(x, None, self.axis, self.keep_dims)
