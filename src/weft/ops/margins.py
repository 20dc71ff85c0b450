"""Losses that ask for a margin between the classes of a sample and the others."""

from __future__ import annotations

from typing import Any, Final

import jax.numpy as jnp

from weft import dtypes
from weft.core import Tensor, check_bounds, described, op, shows
from weft.ops._checks import float_tensors, ints, one_of, tensors
from weft.ops._kinks import rectified
from weft.ops.activation import logsigmoid

__all__ = ["multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss"]

REDUCTIONS: Final = ("none", "mean", "sum")
_DESCRIBED: Final = described(
    reduction='``"mean"``, ``"sum"`` or ``"none"``.',
    returns="Tensor: a number, or without reduction one for each sample.",
    raises="TypeError: an argument is of another type.\n"
    "ValueError: the shapes do not fit, or there is no such reduction.",
)


def _check(name: str, input: Any, target: Any, reduction: Any) -> None:
    tensors(name, input=input, target=target)
    float_tensors(name, input=input)
    one_of(name, REDUCTIONS, reduction=reduction)


def reduced(loss: Tensor, reduction: str) -> Tensor:
    """The mean or sum of a loss, or itself: the names of reductions are those of methods of tensors."""
    return loss if reduction == "none" else getattr(loss, reduction)()


def _target_bounds(x: Any, target: Any, weight: Any, p: int, margin: float) -> None:
    check_bounds(target, x.shape[1], "multi_margin_loss: there is no class {}", least=0)


@op("MarginOfClass", classes=(), bounds=_target_bounds)
def margin_of_class(x: Any, target: Any, weight: Any = None, *, p: int, margin: float) -> Any:
    """For each sample the mean over the other classes of how much they are too near to that of the sample."""
    at = target[:, None]
    gap = rectified(jnp.asarray(margin, x.dtype) - jnp.take_along_axis(x, at, 1) + x) ** p
    if weight is not None:
        gap = gap * weight[at]
    return jnp.sum(jnp.where(jnp.arange(x.shape[1]) == at, 0, gap), 1) / x.shape[1]


@_DESCRIBED
@shows("multi_margin_loss(Tensor([[0.5, 0.25, 2.0]]), Tensor([2]))", "0.0")
def multi_margin_loss(
    input: Any, target: Any, p: int = 1, margin: int = 1, weight: Any = None, reduction: str = "mean"
) -> Any:
    """How much other classes are nearer to the class of a sample than a margin.

    Args:
        input: scores, (N, C), of floats.
        target: classes, (N,), of int64.
        p: 1, or 2 for squares.
        margin: the margin, an int.
        weight: factors of the classes, (C,), of the type of `input`; None for 1.
    """
    _check("multi_margin_loss", input, target, reduction)
    ints("multi_margin_loss", margin=margin)
    one_of("multi_margin_loss", (1, 2), p=p)
    if target.dtype is not dtypes.int64:
        raise TypeError(f"multi_margin_loss: target must be of int64, not of {target.dtype}")
    if input.ndim != 2 or target.shape != input.shape[:1]:
        raise ValueError(f"multi_margin_loss: classes of shape {target.shape} do not fit scores of shape {input.shape}")
    if weight is not None:
        if weight.dtype is not input.dtype:
            raise TypeError(f"multi_margin_loss: weight is {weight.dtype}, input {input.dtype}")
        if weight.shape != input.shape[1:]:
            raise ValueError(f"multi_margin_loss: {input.shape[1]} classes need as many weights, not {weight.shape}")
    return reduced(margin_of_class(input, target, weight, p, margin), reduction)


@op("MarginOfLabels", classes=())
def margin_of_labels(x: Any, target: Any) -> Any:
    """For each sample the sum over its labels and the other classes of how much they are too near, over the classes."""
    count = x.shape[-1]
    given = jnp.cumsum(target < 0, -1) == 0  # labels end at the first negative one
    at = jnp.where(given, target, 0)
    is_label = jnp.any((at[..., None] == jnp.arange(count)) & given[..., None], -2)
    gap = rectified(1 - (jnp.take_along_axis(x, at, -1)[..., :, None] - x[..., None, :]))
    counted = given[..., :, None] & ~is_label[..., None, :]
    return jnp.sum(jnp.where(counted, gap, 0), (-1, -2)) / count


@_DESCRIBED
def multilabel_margin_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """How much other classes are nearer to the classes of a sample than 1.

    Args:
        input: scores, (N, C) or (C,), of floats.
        target: for each sample its classes, of int32, and then -1, in the shape of `input`.

    Example:
        >>> import numpy as np
        >>> labels = Tensor(np.array([[3, 0, -1, 1]], np.int32))
        >>> print(multilabel_margin_loss(Tensor([[0.25, 0.25, 0.5, 0.75]]), labels))
        0.875
    """
    _check("multilabel_margin_loss", input, target, reduction)
    if target.dtype is not dtypes.int32:
        raise TypeError(f"multilabel_margin_loss: target must be of int32, not of {target.dtype}")
    if input.ndim not in (1, 2) or target.shape != input.shape:
        raise ValueError(f"multilabel_margin_loss: labels of shape {target.shape} do not fit {input.shape}")
    return reduced(margin_of_labels(input, target), reduction)


@_DESCRIBED
@shows("multilabel_soft_margin_loss(Tensor([[0.0, 0.0]]), Tensor([[1.0, 0.0]]))", "0.6931472")
def multilabel_soft_margin_loss(input: Any, target: Any, weight: Any = None, reduction: str = "mean") -> Any:
    """The cross entropy of each class by itself, averaged over the classes.

    Args:
        input: scores, (N, C).
        target: 1 for the classes of a sample and 0 for the others, in the shape of `input`.
        weight: factors of the classes; None for 1.
    """
    _check("multilabel_soft_margin_loss", input, target, reduction)
    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    return reduced(loss.mean(axis=-1), reduction)
