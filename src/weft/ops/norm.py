"""Normalisation: batch, layer, group, instance, RMS and L2."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from weft.core import OPERATOR_CLASSES, Operator, Primitive, Tensor, apply, op, operator_class, shows
from weft.core.declare import freeze
from weft.ops._checks import only

__all__ = ["batch_norm", "group_norm", "instance_norm", "l2_normalize", "layer_norm", "lrn", "rms_norm"]


def _wide(x: Any) -> Any:
    """An array in the precision that statistics are computed in: at least float32."""
    return x.astype(jnp.float32) if x.dtype.itemsize < 4 else x


def _moments(wide: Any, axes: Any) -> tuple[Any, Any]:
    """Means and (biased) variances over axes, which stay as dimensions of size 1."""
    mean = jnp.mean(wide, axis=axes, keepdims=True)
    return mean, jnp.mean(jnp.square(wide - mean), axis=axes, keepdims=True)


def _scaled(x: Any, scale: Any, shift: Any, shape: tuple[int, ...]) -> Any:
    """What is normalised, scaled and shifted where that is given."""
    if scale is not None:
        x = x * _wide(scale).reshape(shape)
    return x if shift is None else x + _wide(shift).reshape(shape)


def _channel_shape(x: Any, data_format: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes a channel's statistics run over, and the shape that broadcasts one number for each channel."""
    channel = x.ndim - 1 if data_format.endswith("C") and x.ndim > 2 else 1
    axes = tuple(i for i in range(x.ndim) if i != channel)
    return axes, tuple(x.shape[channel] if i == channel else 1 for i in range(x.ndim))


def _normalise(
    x: Any, scale: Any, bias: Any, mean: Any, var: Any, epsilon: float, shape: tuple[int, ...]
) -> tuple[Any, Any]:
    rstd = jax.lax.rsqrt(_wide(var) + epsilon)
    factor = rstd if scale is None else rstd * _wide(scale)
    out = (_wide(x) - _wide(mean).reshape(shape)) * factor.reshape(shape)
    return _scaled(out, None, bias, shape).astype(x.dtype), rstd


@op(
    "BatchNormTraining",
    classes=(),
    multiple=True,
    gradient=lambda x, scale, bias, out, dout, epsilon, data_format: apply(
        _BATCH_NORM_GRAD, (x, scale, bias, out[1], out[3], *dout), (data_format,)
    ),
)
def _batch_norm_train(x: Any, scale: Any = None, bias: Any = None, *, epsilon: float, data_format: str) -> Any:
    """Normalise by the batch; also its mean, (biased) variance and reciprocal standard deviation."""
    axes, shape = _channel_shape(x, data_format)
    mean, var = (each.reshape(-1) for each in _moments(_wide(x), axes))
    out, rstd = _normalise(x, scale, bias, mean, var, epsilon, shape)
    return out, mean, var, rstd


def _batch_norm_grad(
    x: Any, scale: Any, bias: Any, mean: Any, rstd: Any, dy: Any, dmean: Any, dvar: Any, drstd: Any, *, data_format: str
) -> Any:
    axes, shape = _channel_shape(x, data_format)
    count = math.prod(x.shape[a] for a in axes)
    wide, dy = _wide(x), _wide(dy)
    centred = wide - mean.reshape(shape)
    hat = centred * rstd.reshape(shape)
    dscale = jnp.sum(dy * hat, axis=axes)
    dbias = jnp.sum(dy, axis=axes)
    factor = rstd if scale is None else rstd * _wide(scale)
    dx = factor.reshape(shape) * (dy - (dbias.reshape(shape) + hat * dscale.reshape(shape)) / count)
    dvar = dvar - 0.5 * drstd * rstd**3  # reached by second derivatives, which start at the saved rstd
    dx = dx + (dmean.reshape(shape) + 2 * centred * dvar.reshape(shape)) / count
    return (
        dx.astype(x.dtype),
        jnp.zeros((0,)) if scale is None else dscale.astype(scale.dtype),
        jnp.zeros((0,)) if bias is None else dbias.astype(bias.dtype),
    )


_BATCH_NORM_GRAD: Primitive = Primitive("BatchNormGrad", _batch_norm_grad, attr_names=("data_format",), multiple=True)


def _batch_norm_infer(x: Any, scale: Any, bias: Any, mean: Any, var: Any, *, epsilon: float, data_format: str) -> Any:
    return _normalise(x, scale, bias, mean, var, epsilon, _channel_shape(x, data_format)[1])[0]


_BATCH_NORM_INFER = Primitive("BatchNormInference", _batch_norm_infer, attr_names=("epsilon", "data_format"))


@op("MoveTowards", classes=(), elementwise=True)
def _moved(running: Any, batch: Any, scale: Any, *, momentum: float) -> Any:
    """A running statistic, moved towards one of a batch; the scale is an operand: all of a size share a program."""
    scaled = batch.astype(running.dtype) * scale.astype(running.dtype)
    return running + (scaled - running) * np.asarray(momentum, running.dtype)


def _check_channels(name: str, x: Tensor, data_format: str, **vectors: Tensor | None) -> None:
    if x.ndim < 2:
        raise ValueError(f"{name}: the input must have at least 2 dimensions (N, C, ...), not shape {x.shape}")
    channels = x.shape[-1] if data_format.endswith("C") and x.ndim > 2 else x.shape[1]
    for what, vector in vectors.items():
        if vector is not None and vector.shape != (channels,):
            raise ValueError(
                f"{name}: {what} has shape {vector.shape}; an input of shape {x.shape} has {channels} channels"
            )


def batch_norm(
    input_x: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
    data_format: str = "NCHW",
) -> Tensor:
    """Normalise each channel by batch or running statistics.

    Args:
        input_x: (N, C, ...).
        running_mean: (C,); written when training.
        running_var: (C,); written when training, with the variance over n - 1 elements.
        weight: (C,) scale, or None.
        bias: (C,) shift, or None.
        training: use the batch's statistics, and move the running ones towards them.
        momentum: share of the batch in the running statistics.
        eps: added to the variance.
        data_format: where the channels are.

    Returns:
        Tensor: in the shape and dtype of the input.

    Example:
        >>> zero, one = Tensor([0.0]), Tensor([1.0])
        >>> print(batch_norm(Tensor([[2.0], [4.0]]), zero, one, one, zero, training=True, eps=3.0))
        [[-0.5]
         [ 0.5]]
    """
    _check_channels("batch_norm", input_x, data_format, weight=weight, bias=bias, running_mean=running_mean)
    if training or running_mean is None or running_var is None:
        out, mean, var, _ = _batch_norm_train(input_x, weight, bias, float(eps), data_format)
        if training and running_mean is not None and running_var is not None:
            _move_statistics(input_x, running_mean, running_var, mean, var, momentum)
        return out
    return apply(_BATCH_NORM_INFER, (input_x, weight, bias, running_mean, running_var), (float(eps), data_format))


def _move_statistics(
    x: Tensor, running_mean: Tensor, running_var: Tensor, mean: Tensor, var: Tensor, momentum: float
) -> None:
    """Write ``running + momentum * (batch - running)`` into both running statistics, outside of any gradient.

    The batch is a sample, so its variance counts with n / (n - 1); that of one element is 0.
    """
    count = math.prod(x.shape) // max(mean.shape[0], 1)
    unbiased = count / max(count - 1, 1)
    for running, batch, scale in ((running_mean, mean, 1.0), (running_var, var, unbiased)):
        running.rebind(_moved(running, apply(_DETACH, (batch,)), scale, float(momentum)))


class _Detach(Primitive):
    """The operand itself: nothing is compiled for it."""

    __slots__ = ()

    def executable(self, attrs: tuple[Any, ...]) -> Callable[..., Any]:
        return self.implementation


_DETACH = _Detach("Detach", lambda x: x, no_gradient="a running statistic takes no part in gradients")


class BatchNorm(Operator):
    """Normalise each channel: ``BatchNorm(is_training)(x, scale, bias, mean, variance)``.

    Args:
        is_training: use the batch's statistics, and move `mean` and `variance` towards them.
        epsilon: added to the variance.
        momentum: share of the batch in the running statistics.
        data_format: where the channels are.

    Returns:
        tuple: output, mean, variance, and two values that the derivative keeps.
    """

    def __init__(
        self, is_training: bool = False, epsilon: float = 1e-5, momentum: float = 0.1, data_format: str = "NCHW"
    ) -> None:
        if not 0 < epsilon <= 1:
            raise ValueError(f"BatchNorm: epsilon must be in (0, 1], not {epsilon}")
        if not 0 <= momentum <= 1:
            raise ValueError(f"BatchNorm: momentum must be in [0, 1], not {momentum}")
        self.is_training, self.epsilon, self.momentum, self.data_format = is_training, epsilon, momentum, data_format
        self.fixed = {
            "is_training": is_training, "epsilon": epsilon, "momentum": momentum, "data_format": data_format,
        }  # fmt: skip

    def construct(self, input_x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor) -> Any:
        _check_channels("BatchNorm", input_x, self.data_format, scale=scale, bias=bias, mean=mean, variance=variance)
        settings = (float(self.epsilon), self.data_format)
        if not self.is_training:
            out = apply(_BATCH_NORM_INFER, (input_x, scale, bias, mean, variance), settings)
            return out, mean, variance, mean, variance
        out, batch_mean, batch_var, rstd = _batch_norm_train(input_x, scale, bias, *settings)
        _move_statistics(input_x, mean, variance, batch_mean, batch_var, self.momentum)
        return out, batch_mean, batch_var, batch_mean, rstd


OPERATOR_CLASSES["BatchNorm"] = BatchNorm


@op("LayerNormalization", classes=(), multiple=True)
def layer_normalized(x: Any, gamma: Any = None, beta: Any = None, *, begin: int, params: int, epsilon: float) -> Any:
    """Normalise over the dimensions from `begin` on; also the means and variances."""
    axes = tuple(range(begin, x.ndim))
    wide = _wide(x)
    mean, var = _moments(wide, axes)
    out = _scaled((wide - mean) * jax.lax.rsqrt(var + epsilon), gamma, beta, x.shape[params:])
    return out.astype(x.dtype), mean, var


@shows("layer_norm(Tensor([[2.0, 4.0]]), (2,), eps=3.0)", "[[-0.5  0.5]]")
def layer_norm(
    input: Tensor, normalized_shape: Any, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Normalise over the last dimensions.

    Args:
        input: floating tensor whose shape ends with `normalized_shape`.
        normalized_shape: an int, or a tuple of ints.
        weight: scale of shape `normalized_shape`, or None.
        bias: shift of shape `normalized_shape`, or None.
        eps: added to the variance.

    Raises:
        ValueError: the shapes do not fit.
    """
    frozen = freeze(normalized_shape)
    shape = (frozen,) if isinstance(frozen, int) else tuple(frozen)
    begin = input.ndim - len(shape)
    if not shape or begin < 0 or input.shape[begin:] != shape:
        raise ValueError(f"layer_norm: an input of shape {input.shape} does not end with normalized_shape {shape}")
    for what, tensor in (("weight", weight), ("bias", bias)):
        if tensor is not None and tensor.shape != shape:
            raise ValueError(f"layer_norm: {what} has shape {tensor.shape}, not normalized_shape {shape}")
    return layer_normalized(input, weight, bias, begin, begin, float(eps))[0]


def _layer_norm(
    input_x: Tensor, gamma: Tensor, beta: Tensor, *, begin_norm_axis: int, begin_params_axis: int, epsilon: float
) -> Any:
    """Normalise over the last dimensions: ``LayerNorm(begin_norm_axis, begin_params_axis)(x, gamma, beta)``."""
    axes = []
    for what, axis in (("begin_norm_axis", begin_norm_axis), ("begin_params_axis", begin_params_axis)):
        if not -input_x.ndim <= axis < input_x.ndim:
            raise ValueError(f"LayerNorm: {what} {axis} is out of range for an input of shape {input_x.shape}")
        axes.append(axis % input_x.ndim)
    shape = input_x.shape[axes[1] :]
    for what, tensor in (("gamma", gamma), ("beta", beta)):
        if tensor.shape != shape:
            raise ValueError(f"LayerNorm: {what} has shape {tensor.shape}; an input of {input_x.shape} takes {shape}")
    return layer_normalized(input_x, gamma, beta, *axes, float(epsilon))


LayerNorm = operator_class("LayerNorm", _layer_norm, "begin_norm_axis=1, begin_params_axis=1, epsilon=1e-07")


@op("GroupNormalization", classes=(), multiple=True)
def _group_norm(x: Any, weight: Any = None, bias: Any = None, *, num_groups: int, eps: float) -> Any:
    grouped = _wide(x).reshape((x.shape[0], num_groups, -1))
    mean, var = _moments(grouped, 2)
    rstd = jax.lax.rsqrt(var + eps)
    out = _scaled(((grouped - mean) * rstd).reshape(x.shape), weight, bias, (1, -1, *[1] * (x.ndim - 2)))
    return out.astype(x.dtype), mean[..., 0], rstd[..., 0]


@shows("group_norm(Tensor([[2.0, 4.0]]), 1, eps=3.0)", "[[-0.5  0.5]]")
def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Normalise each sample over groups of channels.

    Args:
        input: (N, C, ...).
        num_groups: number of groups that the channels divide into.
        weight: (C,) scale, or None.
        bias: (C,) shift, or None.
        eps: added to the variance.
    """
    _check_channels("group_norm", input, "NCHW", weight=weight, bias=bias)
    if num_groups < 1 or input.shape[1] % num_groups:
        raise ValueError(f"group_norm: {input.shape[1]} channels do not divide into {num_groups} groups")
    return _group_norm(input, weight, bias, num_groups, float(eps))[0]


@shows("instance_norm(Tensor([[[2.0, 4.0]]]), eps=3.0)", "[[[-0.5  0.5]]]")
def instance_norm(input: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5) -> Tensor:
    """Normalise each channel of each sample."""
    return group_norm(input, input.shape[1], weight, bias, eps)


@op("RmsNorm", init="epsilon=1e-6", multiple=True)
@shows("rms_norm(Tensor([[3.0, 3.0]]), Tensor([1.0, 2.0]), epsilon=7.0)[0]", "[[0.75 1.5 ]]")
def rms_norm(x: Any, gamma: Any, *, epsilon: float = 1e-6) -> Any:
    """Divide by the root mean square over the last dimensions, and scale.

    Args:
        x: floating tensor whose shape ends with that of `gamma`.
        gamma: scale.
        epsilon: added to the mean square.

    Returns:
        tuple: the output, and the reciprocal root mean square.
    """
    begin = x.ndim - gamma.ndim
    if tuple(x.shape[begin:]) != tuple(gamma.shape):
        raise ValueError(f"rms_norm: an input of shape {tuple(x.shape)} does not end with {tuple(gamma.shape)}")
    wide = _wide(x)
    rstd = jax.lax.rsqrt(jnp.mean(jnp.square(wide), tuple(range(begin, x.ndim)), keepdims=True) + epsilon)
    return (wide * rstd * _wide(gamma)).astype(x.dtype), rstd


@op("L2Normalize", init="axis=0, epsilon=1e-4")
@shows("l2_normalize(Tensor([3.0, 4.0]))", "[0.6 0.8]")
def l2_normalize(x: Any, *, axis: Any = 0, epsilon: float = 1e-4) -> Any:
    """Divide by the Euclidean norm along an axis, which counts as `epsilon` at least (squared)."""
    square = jnp.sum(jnp.square(x), axis=axis, keepdims=True)
    return x * jax.lax.rsqrt(jnp.maximum(square, np.asarray(epsilon, x.dtype)))


@op("LRN", init="depth_radius=5, bias=1.0, alpha=1.0, beta=0.5, norm_region='ACROSS_CHANNELS'")
@shows("lrn(Tensor([[[[2.0]]]]), alpha=0.75)", "[[[[1.]]]]")
def lrn(
    x: Any,
    *,
    depth_radius: int = 5,
    bias: float = 1.0,
    alpha: float = 1.0,
    beta: float = 0.5,
    norm_region: str = "ACROSS_CHANNELS",
) -> Any:
    """Local response normalisation across neighbouring channels.

    Args:
        x: (N, C, H, W).
        depth_radius: how many channels on each side count.
        bias: added to the sum.
        alpha: factor of the sum of squares.
        beta: exponent.
        norm_region: ``"ACROSS_CHANNELS"``.
    """
    only("lrn", "ACROSS_CHANNELS", norm_region=norm_region)
    pads = ((0, 0), (depth_radius, depth_radius), (0, 0), (0, 0))
    window, steps = (1, 2 * depth_radius + 1, 1, 1), (1, 1, 1, 1)
    square = jax.lax.reduce_window(jnp.square(x), np.zeros((), x.dtype), jax.lax.add, window, steps, pads)
    return x / jnp.power(bias + alpha * square, beta)
