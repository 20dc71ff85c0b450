"""Choosing at random: positions, classes for sampled losses, and differentiable choices."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft import dtypes
from weft.core import Tensor, described, shows
from weft.ops._checks import bools, floats, ints, positive_ints, tensors
from weft.ops.activation import softmax
from weft.ops.create import full
from weft.ops.cumulative import cumsum
from weft.ops.elementwise import ceil, exp, log, log1p
from weft.ops.embedding import one_hot
from weft.ops.joining import cat, stack
from weft.ops.random import gumbel, rand, randint
from weft.ops.reduce import argmax
from weft.ops.select import where
from weft.ops.sorting import topk
from weft.ops.state import stop_gradient

__all__ = ["choice_with_mask", "gumbel_softmax", "log_uniform_candidate_sampler", "uniform_candidate_sampler"]


@shows("gumbel_softmax(Tensor([[0.0, 1.0]]), hard=True).sum()", "1.0")
def gumbel_softmax(logits: Any, tau: float = 1.0, hard: bool = False, dim: int = -1) -> Any:
    """A choice at random by log odds, through which gradients flow.

    Args:
        logits: log odds, of float16 or float32.
        tau: temperature: the lower, the nearer is the choice to one class.
        hard: exactly one class is chosen; the gradient is that of the other choice.
        dim: axis of the classes.

    Returns:
        Tensor: like `logits`, with the sum 1 along the axis.

    Raises:
        TypeError: an argument is of another type.
        ValueError: `tau` is not positive.
    """
    tensors("gumbel_softmax", logits=logits)
    if logits.dtype not in (dtypes.float16, dtypes.float32):
        raise TypeError(f"gumbel_softmax: the logits must be of float16 or float32, not of {logits.dtype}")
    floats("gumbel_softmax", tau=tau)
    bools("gumbel_softmax", hard=hard)
    if not tau > 0:
        raise ValueError(f"gumbel_softmax: tau must be positive, not {tau}")
    soft = softmax((logits + gumbel(logits)) / tau, dim)
    if not hard:
        return soft
    chosen = one_hot(argmax(soft, dim), soft.shape[dim], 1.0, 0.0, dim % logits.ndim).astype(logits.dtype)
    return chosen - stop_gradient(soft) + soft


@shows("*choice_with_mask(Tensor([False, True, False]), 2)", "[[1]\n [0]] [ True False]")
def choice_with_mask(input_x: Any, count: int = 256, seed: int | None = None) -> Any:
    """Positions of elements that are true, chosen at random.

    Args:
        input_x: tensor of bools, of 1 to 5 dimensions.
        count: how many.
        seed: picks a stream of its own.

    Returns:
        tuple[Tensor, Tensor]: positions, (count, dimensions) of int32, and whether each was chosen: where there are
        fewer elements, the rest is zeros.

    Raises:
        TypeError: `input_x` is no tensor of bools, or `count` no int.
        ValueError: `count` is not positive, or `input_x` has no dimension.
    """
    tensors("choice_with_mask", input_x=input_x)
    if input_x.dtype is not dtypes.bool_:
        raise TypeError(f"choice_with_mask: the input must be a tensor of bools, not of {input_x.dtype}")
    ints("choice_with_mask", seed=0 if seed is None else seed)
    positive_ints("choice_with_mask", count=count)
    if not 1 <= input_x.ndim <= 5:
        raise ValueError(f"choice_with_mask: the input must have 1 to 5 dimensions, not {input_x.ndim}")
    flat = input_x.reshape((-1,))
    found = min(count, flat.shape[0])
    keys, at = topk(where(flat, rand(flat.shape, seed=seed), -1.0), found)
    chosen, at = keys >= 0, at.astype(dtypes.int32)
    if found < count:
        chosen = cat((chosen, full((count - found,), False)))
        at = cat((at, full((count - found,), 0, dtype=dtypes.int32)))
    places, rest = [], where(chosen, at, full((count,), 0, dtype=dtypes.int32))
    for size in reversed(input_x.shape):
        places.append(rest % size)
        rest = rest // size
    return stack(places[::-1], 1), chosen


_CANDIDATES = described(
    true_classes="the classes of the samples, (N, num_true).",
    num_true="how many each sample has.",
    num_sampled="how many are drawn.",
    unique="draw different ones.",
    range_max="number of classes.",
    seed="picks a stream of its own.",
    returns="tuple[Tensor, Tensor, Tensor]: classes, (num_sampled,), and how often true and drawn ones are expected.",
    raises="TypeError: an argument is of another type.\nValueError: a number or shape does not fit.",
)


def check_classes(name: str, num_true: Any, num_sampled: Any, unique: Any, range_max: Any, seed: Any) -> None:
    """Check by what classes are drawn."""
    positive_ints(name, num_true=num_true, num_sampled=num_sampled, range_max=range_max)
    ints(name, seed=seed)
    if seed < 0:
        raise ValueError(f"{name}: seed must not be negative, not {seed}")
    bools(name, unique=unique)
    if unique and num_sampled > range_max:
        raise ValueError(f"{name}: there are not {num_sampled} of {range_max} classes")


def _check_samples(name: str, true_classes: Any, num_true: Any, *given: Any) -> None:
    tensors(name, true_classes=true_classes)
    check_classes(name, num_true, *given)
    if true_classes.ndim != 2 or true_classes.shape[1] != num_true:
        raise ValueError(f"{name}: true_classes must have the shape (N, {num_true}), not {true_classes.shape}")


def _unique(chances: Any, count: int, seed: int) -> tuple[Any, Any]:
    """Different classes drawn one after the other, and how many draws that takes if those drawn before are refused.

    Keys with Gumbel noise are in the order of such draws; and each waits for a class that was not drawn before.
    """
    noise = -log(-log(rand(chances.shape, seed=seed).maximum(1e-30)))
    drawn = topk(log(chances) + noise, count)[1]
    left = 1 - (cumsum(chances[drawn], 0) - chances[drawn])
    waited = ceil(log(rand(left.shape, seed=seed).maximum(1e-30)) / log1p(-left.minimum(1 - 1e-7)))
    return drawn, waited.maximum(1.0).sum()


def _expected(chance: Any, count: int, tries: Any) -> Any:
    """How often a class is expected among the draws; where some were refused, the chance that it is drawn at all."""
    plain = chance * float(count)
    return plain if tries is None else where(tries == count, plain, 1 - exp(tries * log1p(-chance)))


@_CANDIDATES
def log_uniform_candidate_sampler(
    true_classes: Any, num_true: int = 1, num_sampled: int = 5, unique: bool = True, range_max: int = 5, seed: int = 0
) -> Any:
    """Classes drawn with chances that fall with their numbers, for losses of samples of the classes.

    Example:
        >>> drawn, expected, _ = log_uniform_candidate_sampler(Tensor([[1], [4]]), 1, 3, False, 8)
        >>> drawn.shape, expected.shape
        ((3,), (2, 1))
    """
    name = "log_uniform_candidate_sampler"
    _check_samples(name, true_classes, num_true, num_sampled, unique, range_max, seed)
    scale = float(np.log(range_max + 1))
    if unique:
        places = np.arange(range_max, dtype=np.float64)
        chances = Tensor((np.log((places + 2) / (places + 1)) / scale).astype(np.float32))
        drawn, tries = _unique(chances, num_sampled, seed)
    else:
        drawn, tries = exp(rand(num_sampled, dtype=dtypes.float64, seed=seed) * scale), None
        drawn = (drawn.astype(dtypes.int64) - 1).clip(0, range_max - 1)
    below = [each.astype(dtypes.float32) for each in (true_classes, drawn)]
    expected = [_expected(log((each + 2) / (each + 1)) / scale, num_sampled, tries) for each in below]
    return drawn.astype(true_classes.dtype), *expected


@_CANDIDATES
def uniform_candidate_sampler(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int = 0,
    remove_accidental_hits: bool = False,
) -> Any:  # fmt: skip
    """Classes drawn with equal chances, for losses of samples of the classes.

    Args:
        remove_accidental_hits: accepted; true classes may be drawn.

    Example:
        >>> drawn, expected, _ = uniform_candidate_sampler(Tensor([[1], [4]]), 1, 2, False, 8)
        >>> print(expected)
        [[0.25]
         [0.25]]
    """
    _check_samples("uniform_candidate_sampler", true_classes, num_true, num_sampled, unique, range_max, seed)

    def chances(shape: tuple[int, ...]) -> Any:
        return full(shape, 1 / range_max, dtype=dtypes.float32)

    if unique:
        drawn, tries = _unique(chances((range_max,)), num_sampled, seed)
    else:
        drawn, tries = randint(0, range_max, (num_sampled,), seed), None
    expected = [_expected(chances(each.shape), num_sampled, tries) for each in (true_classes, drawn)]
    return drawn.astype(true_classes.dtype), *expected
