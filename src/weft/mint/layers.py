"""Cells of `mindspore.mint.nn` with parameters, which are named ``weight`` and ``bias``."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from weft import dtypes, ops
from weft.core import Parameter, Tensor
from weft.mint import functional
from weft.nn.cell import Cell
from weft.nn.declared import positive_int
from weft.nn.initializer import HeUniform, Normal, Uniform, initializer
from weft.ops.conv import per_dimension

__all__ = [
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose2d", "Embedding",
    "GroupNorm", "LayerNorm", "Linear", "PReLU",
]  # fmt: skip


def _parameter(name: str, init: Any, shape: tuple[int, ...], dtype: Any, trained: bool = True) -> Parameter:
    made = initializer(init, shape, dtypes.float32 if dtype is None else dtype)
    return Parameter(made, name=name, requires_grad=trained)


class Linear(Cell):
    """A fully connected layer: ``x @ weight.T + bias``.

    Args:
        in_features: size of the input's last dimension.
        out_features: size of the output's last dimension.
        bias: whether there is a bias.
        weight_init: initializer of the weight (out, in); by default He uniform.
        bias_init: initializer of the bias (out,); by default uniform within ``1 / sqrt(in)``.
        dtype: element type of the parameters, float32 by default.

    Example:
        >>> Linear(2, 3)(Tensor([[1.0, 2.0]])).shape
        (1, 3)
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        weight_init: Any = None,
        bias_init: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.in_features = positive_int("Linear", "in_features", in_features)
        self.out_features = positive_int("Linear", "out_features", out_features)
        weight = HeUniform(math.sqrt(5)) if weight_init is None else weight_init
        self.weight = _parameter("weight", weight, (out_features, in_features), dtype)
        self.bias: Any = None
        if bias:
            start = Uniform(1 / math.sqrt(in_features)) if bias_init is None else bias_init
            self.bias = _parameter("bias", start, (out_features,), dtype)

    def construct(self, input: Tensor) -> Tensor:
        return ops.linear(input, self.weight, self.bias)

    def extend_repr(self) -> str:
        has = self.bias is not None
        return f"input_features={self.in_features}, output_features={self.out_features}, has_bias={has}"


class _Conv(Cell):
    """What the convolutions share."""

    _rank: ClassVar[int]
    _transposed: ClassVar[bool] = False
    _function: ClassVar[Any]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        dtype: Any = None,
    ) -> None:
        super().__init__()
        name, rank = type(self).__name__, self._rank
        self.in_channels = positive_int(name, "in_channels", in_channels)
        self.out_channels = positive_int(name, "out_channels", out_channels)
        self.groups = positive_int(name, "groups", groups)
        if in_channels % groups or out_channels % groups:
            raise ValueError(f"{name}: {in_channels} and {out_channels} channels must divide into {groups} group(s)")
        modes = ("zeros",) if self._transposed else ("zeros", "reflect", "replicate", "circular")
        if padding_mode not in modes:
            raise ValueError(f"{name}: padding_mode must be one of {', '.join(modes)}, not {padding_mode!r}")
        if isinstance(padding, str) and padding not in ("same", "valid"):
            raise ValueError(f"{name}: padding must be numbers, 'same' or 'valid', not {padding!r}")
        self.kernel_size = per_dimension(name, "kernel_size", kernel_size, rank)
        self.stride = per_dimension(name, "stride", stride, rank)
        self.dilation = per_dimension(name, "dilation", dilation, rank)
        if padding == "same" and self.stride != (1,) * rank:
            raise ValueError(f"{name}: padding='same' needs stride=1, not {stride!r}")
        self.padding = padding if isinstance(padding, str) else per_dimension(name, "padding", padding, rank, 0)
        self.padding_mode = padding_mode
        channels = (in_channels, out_channels // groups) if self._transposed else (out_channels, in_channels // groups)
        self.weight = _parameter("weight", HeUniform(math.sqrt(5)), (*channels, *self.kernel_size), dtype)
        self.bias: Any = None
        if bias:
            bound = 1 / math.sqrt(channels[1] * math.prod(self.kernel_size))
            self.bias = _parameter("bias", Uniform(bound), (out_channels,), dtype)

    def _border(self) -> tuple[int, ...]:
        """The padding as `ops.pad` takes it: (before, after) of the last dimension first."""
        if self.padding == "valid":
            return (0, 0) * self._rank
        pairs: list[int] = []
        for axis in reversed(range(self._rank)):
            total = self.dilation[axis] * (self.kernel_size[axis] - 1)
            amount = self.padding
            pairs += [total // 2, total - total // 2] if isinstance(amount, str) else [amount[axis]] * 2
        return tuple(pairs)

    def construct(self, input: Tensor) -> Tensor:
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            input, padding = ops.pad(input, self._border(), self.padding_mode), 0
        return type(self)._function(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)

    def extend_repr(self) -> str:
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}, padding={self.padding}, dilation={self.dilation}, groups={self.groups}, "
            f"bias={self.bias is not None}"
        )


class Conv1d(_Conv):
    """Convolution over one dimension; see `Conv2d`.

    Example:
        >>> Conv1d(3, 8, 3)(ops.ones((1, 3, 5), dtypes.float32)).shape
        (1, 8, 3)
    """

    _rank = 1
    _function = staticmethod(functional.conv1d)


class Conv2d(_Conv):
    """Convolution over two dimensions.

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        kernel_size: an int or (height, width).
        stride: step.
        padding: border on both sides: a number, one for each dimension, ``"same"`` or ``"valid"``.
        dilation: distance of the kernel's elements.
        groups: number of channel groups.
        bias: whether there is a bias.
        padding_mode: ``"zeros"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
        dtype: element type of the parameters, float32 by default.

    Example:
        >>> Conv2d(3, 8, 3)(ops.ones((1, 3, 5, 5), dtypes.float32)).shape
        (1, 8, 3, 3)
    """

    _rank = 2
    _function = staticmethod(functional.conv2d)


class Conv3d(_Conv):
    """Convolution over three dimensions; see `Conv2d`.

    Example:
        >>> Conv3d(1, 2, 3)(ops.ones((1, 1, 3, 3, 3), dtypes.float32)).shape
        (1, 2, 1, 1, 1)
    """

    _rank = 3
    _function = staticmethod(functional.conv3d)


class ConvTranspose2d(_Conv):
    """Transposed convolution over two dimensions.

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        kernel_size: an int or (height, width).
        stride: step.
        padding: zeros that the convolution this one reverses had added.
        output_padding: rows and columns added on one side of the output.
        groups: number of channel groups.
        bias: whether there is a bias.
        dilation: distance of the kernel's elements.
        padding_mode: ``"zeros"``.
        dtype: element type of the parameters, float32 by default.

    Example:
        >>> ConvTranspose2d(1, 2, 2, stride=2)(ops.ones((1, 1, 3, 3), dtypes.float32)).shape
        (1, 2, 6, 6)
    """

    _rank = 2
    _transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, dtype
        )
        self.output_padding = per_dimension("ConvTranspose2d", "output_padding", output_padding, 2, 0)

    def construct(self, input: Tensor, output_size: Any = None) -> Tensor:
        added = self.output_padding if output_size is None else self._added(input, output_size)
        return ops.conv_transpose2d(
            input, self.weight, self.bias, self.stride, self.padding, added, self.groups, self.dilation
        )

    def _added(self, input: Tensor, output_size: Any) -> tuple[int, ...]:
        """How many rows and columns are added on one side for a result of some size."""
        wanted = [int(size) for size in output_size][-2:]
        added = []
        pads: Any = self.padding
        for place, size in enumerate(input.shape[-2:]):
            step, hole = self.stride[place], self.dilation[place]
            least = (size - 1) * step - 2 * pads[place] + hole * (self.kernel_size[place] - 1) + 1
            if not least <= wanted[place] < least + max(step, hole):
                raise ValueError(
                    f"ConvTranspose2d: output_size[{place}] can be {least} to {least + max(step, hole) - 1}, not "
                    f"{wanted[place]}"
                )
            added.append(wanted[place] - least)
        return tuple(added)


class _BatchNorm(Cell):
    """Normalises each channel by the batch while training, by running statistics otherwise.

    Args:
        num_features: number of channels.
        eps: added to the variance.
        momentum: share of the new value when a running statistic moves.
        affine: train a scale and a shift.
        track_running_stats: keep running statistics; else the batch is used in evaluation, too.
        dtype: element type of the parameters, float32 by default.
    """

    _dimensions: ClassVar[tuple[int, ...]]

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_features = positive_int(type(self).__name__, "num_features", num_features)
        if isinstance(momentum, bool) or not isinstance(momentum, (int, float)):
            raise TypeError(f"{type(self).__name__}: momentum must be a number, not {momentum!r}")
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        shape = (num_features,)
        self.weight = _parameter("weight", "ones", shape, dtype) if affine else None
        self.bias = _parameter("bias", "zeros", shape, dtype) if affine else None
        self.running_mean: Any = None
        self.running_var: Any = None
        self.num_batches_tracked: Any = None
        if track_running_stats:
            self.running_mean = _parameter("running_mean", "zeros", shape, dtype, False)
            self.running_var = _parameter("running_var", "ones", shape, dtype, False)
            self.num_batches_tracked = Parameter(
                Tensor(0, dtypes.int64), name="num_batches_tracked", requires_grad=False
            )

    def construct(self, input: Tensor) -> Tensor:
        if input.ndim not in self._dimensions:
            wanted = " or ".join(map(str, self._dimensions))
            raise ValueError(f"{type(self).__name__}: the input must have {wanted} dimensions, not shape {input.shape}")
        by_batch = self.training or not self.track_running_stats
        if not by_batch:
            return ops.batch_norm(
                input, self.running_mean, self.running_var, self.weight, self.bias, False, 0.0, self.eps
            )
        moves = self.training and self.track_running_stats
        mean, var, share = (self.running_mean, self.running_var, self.momentum) if moves else (None, None, 0.0)
        if moves:
            ops.assign_add(self.num_batches_tracked, Tensor(1, dtypes.int64))
        return ops.batch_norm(input, mean, var, self.weight, self.bias, True, share, self.eps)

    def extend_repr(self) -> str:
        return (
            f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"track_running_stats={self.track_running_stats}"
        )


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of (N, C) or (N, C, L); see `BatchNorm2d`."""

    _dimensions = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of (N, C, H, W).

    Args:
        num_features: number of channels.
        eps: added to the variance.
        momentum: share of the new value when a running statistic moves.
        affine: train a scale and a shift.
        track_running_stats: keep running statistics; else the batch is used in evaluation, too.
        dtype: element type of the parameters, float32 by default.

    Example:
        >>> BatchNorm2d(1)(Tensor([[[[1.0, 2.0]]]])).shape
        (1, 1, 1, 2)
    """

    _dimensions = (4,)


class BatchNorm3d(_BatchNorm):
    """Batch normalisation of (N, C, D, H, W); see `BatchNorm2d`."""

    _dimensions = (5,)


class LayerNorm(Cell):
    """Normalises over the last dimensions.

    Args:
        normalized_shape: their sizes, an int for the last one alone.
        eps: added to the variance.
        elementwise_affine: train a scale, and a shift with `bias`.
        bias: train a shift.
        dtype: element type of the parameters, float32 by default.

    Example:
        >>> LayerNorm(2)(Tensor([[2.0, 4.0]])).shape
        (1, 2)
    """

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape = shape
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self.weight = _parameter("weight", "ones", shape, dtype) if elementwise_affine else None
        self.bias = _parameter("bias", "zeros", shape, dtype) if elementwise_affine and bias else None

    def construct(self, input: Tensor) -> Tensor:
        return ops.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extend_repr(self) -> str:
        return f"normalized_shape={self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Cell):
    """Normalises groups of channels.

    Args:
        num_groups: number of groups.
        num_channels: number of channels.
        eps: added to the variance.
        affine: train a scale and a shift.
        dtype: element type of the parameters, float32 by default.

    Example:
        >>> GroupNorm(1, 2)(ops.ones((1, 2, 3), dtypes.float32)).shape
        (1, 2, 3)
    """

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_groups = positive_int("GroupNorm", "num_groups", num_groups)
        self.num_channels = positive_int("GroupNorm", "num_channels", num_channels)
        if num_channels % num_groups:
            raise ValueError(f"GroupNorm: {num_channels} channels do not divide into {num_groups} groups")
        self.eps = eps
        self.affine = affine
        self.weight = _parameter("weight", "ones", (num_channels,), dtype) if affine else None
        self.bias = _parameter("bias", "zeros", (num_channels,), dtype) if affine else None

    def construct(self, input: Tensor) -> Tensor:
        return ops.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extend_repr(self) -> str:
        return f"num_groups={self.num_groups}, num_channels={self.num_channels}, eps={self.eps}, affine={self.affine}"


class Embedding(Cell):
    """Looks up rows of a trained table.

    Args:
        num_embeddings: number of rows.
        embedding_dim: length of a row.
        padding_idx: a row that starts at zero and gets no gradient.
        max_norm: rows that are longer are shortened to it.
        norm_type: order of that norm.
        scale_grad_by_freq: divide the gradient of a row by how often it is looked up.
        sparse: must be False.
        _weight: the table to start with.
        _freeze: do not train it.
        dtype: element type of the table, float32 by default.

    Example:
        >>> Embedding(10, 4)(Tensor([[1, 2, 3]])).shape
        (1, 3, 4)
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Any = None,
        _freeze: bool = False,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if sparse:
            raise ValueError("Embedding: sparse gradients are not available, sparse must be False")
        self.num_embeddings = positive_int("Embedding", "num_embeddings", num_embeddings)
        self.embedding_dim = positive_int("Embedding", "embedding_dim", embedding_dim)
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise ValueError(f"Embedding: padding_idx must be a row of {num_embeddings}, not {padding_idx!r}")
        self.padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        shape = (num_embeddings, embedding_dim)
        if _weight is None:
            start = initializer(Normal(1.0), shape, dtypes.float32 if dtype is None else dtype)
            if self.padding_idx is not None:
                values = np.array(start)
                values[self.padding_idx] = 0
                start = Tensor(values)
        else:
            start = _weight
            if tuple(start.shape) != shape:
                raise ValueError(f"Embedding: a table of shape {shape} is needed, _weight has {tuple(start.shape)}")
        self.weight = Parameter(start, name="weight", requires_grad=not _freeze)

    def construct(self, input: Tensor) -> Tensor:
        return ops.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq
        )

    def extend_repr(self) -> str:
        return (
            f"num_embeddings={self.num_embeddings}, embedding_dim={self.embedding_dim}, "
            f"padding_idx={self.padding_idx}, max_norm={self.max_norm}, norm_type={self.norm_type}, "
            f"scale_grad_by_freq={self.scale_grad_by_freq}, dtype={self.weight.dtype}"
        )


class PReLU(Cell):
    """Rectifier whose negative side has a trained slope.

    Args:
        num_parameters: one slope for all channels, or one for each.
        init: the slope to start with.
        dtype: element type of the slopes, float32 by default.

    Example:
        >>> print(PReLU()(Tensor([[-4.0, 2.0]])))
        [[-1.  2.]]
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25, dtype: Any = None) -> None:
        super().__init__()
        self.weight = _parameter("weight", init, (positive_int("PReLU", "num_parameters", num_parameters),), dtype)

    def construct(self, input: Tensor) -> Tensor:
        return ops.prelu(input, self.weight)
