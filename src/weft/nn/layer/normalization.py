"""Normalisation layers."""

from __future__ import annotations

from typing import Any, ClassVar

from weft import dtypes
from weft.core import Parameter, Tensor
from weft.nn.cell import Cell
from weft.nn.declared import Described, positive_int, with_inputs_spread, with_operators
from weft.nn.initializer import initializer
from weft.ops import operations
from weft.ops._checks import one_of
from weft.ops.norm import LayerNorm as LayerNormOperator
from weft.ops.norm import batch_norm, group_norm, instance_norm


class _Normalisation(Described, Cell):
    """Base: a normalisation with a scale and a shift that are trained.

    Args:
        num_features: number of channels.
        eps: added to the variance.
        affine: train the scale and the shift.
        gamma_init: initializer of the scale.
        beta_init: initializer of the shift.
        dtype: element type of the parameters.
    """

    _example = """
        >>> {name}({})(Tensor({})).shape
        {}
    """

    #: the attributes that the printed form shows
    _printed: ClassVar[tuple[str, ...]] = ()

    def _scale_and_shift(
        self, shape: tuple[int, ...], gamma_init: Any, beta_init: Any, dtype: Any, affine: bool = True
    ) -> None:
        self.gamma = Parameter(initializer(gamma_init, shape, dtype), name="gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, shape, dtype), name="beta", requires_grad=affine)

    def extend_repr(self) -> str:
        return ", ".join([f"{name}={getattr(self, name)!r}" for name in self._printed])


@with_operators(
    bn_train=lambda layer: operations.BatchNorm(True, layer.eps, 1 - layer.momentum, layer.data_format),
    bn_infer=lambda layer: operations.BatchNorm(False, layer.eps, data_format=layer.data_format),
)
class _BatchNorm(_Normalisation):
    """Normalises each channel by the batch while training, by running statistics otherwise.

    Args:
        momentum: share of the old value when a running statistic moves.
        moving_mean_init: initializer of the running mean.
        moving_var_init: initializer of the running variance.
        use_batch_statistics: True: always use the batch; False: never; None: while training.
        data_format: ``"NCHW"``; of images also ``"NHWC"``, of volumes ``"NCDHW"``.
    """

    _dimensions: ClassVar[tuple[int, ...]] = (2, 3, 4, 5)
    _printed = ("num_features", "eps", "momentum", "gamma", "beta", "moving_mean", "moving_variance")
    _by_operators = with_inputs_spread("bn_train", "bn_infer")

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.9,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        moving_mean_init: Any = "zeros",
        moving_var_init: Any = "ones",
        use_batch_statistics: bool | None = None,
        data_format: str = "NCHW",
        dtype: Any = dtypes.float32,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        self.num_features = positive_int(name, "num_features", num_features)
        if not 0 <= momentum <= 1:
            raise ValueError(f"{name}: momentum must be in [0, 1], not {momentum!r}")
        if eps <= 0:
            raise ValueError(f"{name}: eps must be positive, not {eps!r}")
        if use_batch_statistics is not None and not isinstance(use_batch_statistics, bool):
            raise TypeError(f"{name}: use_batch_statistics must be a bool or None, not {use_batch_statistics!r}")
        one_of(name, ("NCHW", "NHWC", "NCDHW"), data_format=data_format)
        self.eps = float(eps)
        self.momentum = float(momentum)
        self.use_batch_statistics = use_batch_statistics
        self.data_format = data_format
        shape = (num_features,)
        mean = initializer(moving_mean_init, shape, dtype)
        self.moving_mean = Parameter(mean, name="mean", requires_grad=False)
        variance = initializer(moving_var_init, shape, dtype)
        self.moving_variance = Parameter(variance, name="variance", requires_grad=False)
        self._scale_and_shift(shape, gamma_init, beta_init, dtype, affine)

    def _uses_the_batch(self) -> bool:
        """An explicit True normalises by the batch even in evaluation, and still moves the running statistics."""
        return self.training if self.use_batch_statistics is None else self.use_batch_statistics

    def construct(self, x: Tensor) -> Tensor:
        if x.ndim not in self._dimensions:
            wanted = " or ".join(map(str, self._dimensions))
            raise ValueError(f"{type(self).__name__}: the input must have {wanted} dimensions, not shape {x.shape}")
        training = self._uses_the_batch()
        settings = training, 1 - self.momentum if training else 0.0, self.eps, self.data_format
        return batch_norm(x, self.moving_mean, self.moving_variance, self.gamma, self.beta, *settings)

    def _with_own(self, x: Tensor) -> Tensor:
        operator = self.bn_train if self._uses_the_batch() else self.bn_infer
        return operator(x, self.gamma, self.beta, self.moving_mean, self.moving_variance)[0]


class BatchNorm1d(_BatchNorm, dimensions=(2, 3), shows=("2", "[[1.0, 2.0]]", "(1, 2)")):
    """Batch normalisation of (N, C) or (N, C, L)."""


class BatchNorm2d(_BatchNorm, dimensions=(4,), shows=("1", "[[[[1.0, 2.0]]]]", "(1, 1, 1, 2)")):
    """Batch normalisation of (N, C, H, W)."""


class BatchNorm3d(_BatchNorm, dimensions=(5,), shows=("1", "[[[[[1.0, 2.0]]]]]", "(1, 1, 1, 1, 2)")):
    """Batch normalisation of (N, C, D, H, W)."""


class LayerNorm(_Normalisation, shows=("(2,)", "[[2.0, 4.0]]", "(1, 2)")):
    """Normalises over the last dimensions.

    Args:
        normalized_shape: the dimensions of scale and shift, usually the last ones of the input.
        begin_norm_axis: first axis to normalise.
        begin_params_axis: first axis of scale and shift.
        epsilon: added to the variance.
    """

    _printed = ("normalized_shape", "begin_norm_axis", "begin_params_axis", "gamma", "beta")

    def __init__(
        self,
        normalized_shape: Any,
        begin_norm_axis: int = -1,
        begin_params_axis: int = -1,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        epsilon: float = 1e-7,
        dtype: Any = dtypes.float32,
    ) -> None:
        super().__init__()
        if not isinstance(normalized_shape, (tuple, list)):
            raise TypeError(
                f"LayerNorm: normalized_shape must be a tuple or list of ints, not {type(normalized_shape).__name__}; "
                f"write LayerNorm(({normalized_shape},))"
            )
        if not normalized_shape:
            raise ValueError("LayerNorm: normalized_shape must not be empty")
        self.normalized_shape = tuple(normalized_shape)
        self.begin_norm_axis = begin_norm_axis
        self.begin_params_axis = begin_params_axis
        self.epsilon = float(epsilon)
        self._scale_and_shift(self.normalized_shape, gamma_init, beta_init, dtype)
        self.layer_norm = LayerNormOperator(begin_norm_axis, begin_params_axis, self.epsilon)

    def construct(self, input_x: Tensor) -> Tensor:
        return self.layer_norm(input_x, self.gamma, self.beta)[0]


class GroupNorm(_Normalisation, shows=("1, 2", "[[[[1.0]], [[3.0]]]]", "(1, 2, 1, 1)")):
    """Normalises each sample over groups of channels.

    Args:
        num_groups: number of groups.
        num_channels: number of channels.
    """

    _printed = ("num_groups", "num_channels")

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        dtype: Any = dtypes.float32,
    ) -> None:
        super().__init__()
        self.num_groups = positive_int("GroupNorm", "num_groups", num_groups)
        self.num_channels = positive_int("GroupNorm", "num_channels", num_channels)
        if num_channels % num_groups:
            raise ValueError(f"GroupNorm: {num_channels} channels do not divide into {num_groups} groups")
        self.eps = float(eps)
        self.affine = affine
        self._scale_and_shift((num_channels,), gamma_init, beta_init, dtype, affine)

    def construct(self, x: Tensor) -> Tensor:
        return group_norm(x, self.num_groups, self.gamma, self.beta, self.eps)


class _InstanceNorm(_Normalisation):
    """Normalises each channel of each sample.

    Args:
        momentum: accepted.
    """

    _printed = ("num_features", "eps")
    _dimensions: ClassVar[int] = 4

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        dtype: Any = dtypes.float32,
    ) -> None:
        super().__init__()
        self.num_features = positive_int(type(self).__name__, "num_features", num_features)
        self.eps = float(eps)
        self.momentum = momentum
        self._scale_and_shift((num_features,), gamma_init, beta_init, dtype, affine)

    def construct(self, x: Tensor) -> Tensor:
        if x.ndim != self._dimensions or x.shape[1] != self.num_features:
            raise ValueError(
                f"{type(self).__name__}: the input must have {self._dimensions} dimensions and {self.num_features} "
                f"channels, not shape {x.shape}"
            )
        return instance_norm(x, self.gamma, self.beta, self.eps)


class InstanceNorm1d(_InstanceNorm, dimensions=3, shows=("1", "[[[1.0, 3.0]]]", "(1, 1, 2)")):
    """Normalises each channel of each sample of (N, C, L)."""


class InstanceNorm2d(_InstanceNorm, shows=("1", "[[[[1.0, 3.0]]]]", "(1, 1, 1, 2)")):
    """Normalises each channel of each sample of (N, C, H, W)."""


class InstanceNorm3d(_InstanceNorm, dimensions=5, shows=("1", "[[[[[1.0, 3.0]]]]]", "(1, 1, 1, 1, 2)")):
    """Normalises each channel of each sample of (N, C, D, H, W)."""
