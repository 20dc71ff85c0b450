"""Operator classes of random numbers: distributions, permutations, sampled classes, and dropout of channels."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, Final

import numpy as np

from weft import dtypes
from weft.core import Tensor, as_operator, described, operator_class, told
from weft.ops._checks import ints, lists, reals
from weft.ops._rules import numbers
from weft.ops.create import full, ones, ones_like
from weft.ops.dropout import dropout2d, dropout3d
from weft.ops.elementwise import exp, log
from weft.ops.joining import concat
from weft.ops.random import multinomial_with_replacement, rand, randint, randn, random_gamma, random_poisson, randperm
from weft.ops.sampling import check_classes
from weft.ops.shape import reshape
from weft.ops.sorting import topk
from weft.ops.trigonometry import erf, erfinv, tan


def _seed(seed: Any, seed2: Any) -> int | None:
    """One seed of two; None where both are 0."""
    ints("a random operator", seed=seed, seed2=seed2)
    if seed < 0 or seed2 < 0:
        raise ValueError(f"a seed must not be negative, but is {min(seed, seed2)}")
    return seed * 0x10001 + seed2 or None


_SEEDED: Final = described(seed="picks a stream of its own.", seed2="the same.", dtype="element type.")


@as_operator
@_SEEDED
def RandomGamma(shape: Any, alpha: Tensor, *, seed: int = 0, seed2: int = 0) -> Tensor:
    """Numbers of gamma distributions with rate 1."""
    return random_gamma(shape, alpha, _seed(seed, seed2))


@as_operator
@_SEEDED
def RandomPoisson(shape: Any, rate: Tensor, *, seed: int = 0, seed2: int = 0, dtype: Any = dtypes.int64) -> Tensor:
    """Numbers of Poisson distributions."""
    return random_poisson(shape, rate, _seed(seed, seed2), dtype)


@as_operator
def Randperm(n: Any, *, max_length: int = 1, pad: int = -1, dtype: Any = dtypes.int32) -> Tensor:
    """The numbers below `n` in random order, and a number in the places behind.

    Args:
        max_length: the number of places.
        pad: the number.
        dtype: element type.
    """
    ints("Randperm", max_length=max_length, pad=pad)
    (count,) = numbers(n)
    if max_length < 1 or not 0 <= count <= max_length:
        raise ValueError(f"Randperm: {count} numbers have no room in {max_length} places")
    found = randperm(count, dtype=dtype)
    return found if count == max_length else concat((found, full((max_length - count,), pad, dtype=dtype)), 0)


@as_operator
@_SEEDED
def RandpermV2(n: Any, *, seed: int = 0, offset: int = 0, dtype: Any = dtypes.int64) -> Tensor:
    """The numbers below `n` in random order.

    Args:
        offset: accepted.
    """
    return randperm(n, seed, offset, dtype)


@as_operator
def MultinomialWithReplacement(
    x: Tensor, seed: Any, offset: Any, *, numsamples: int, replacement: bool = False
) -> Tensor:
    """Categories drawn with the weights of the last dimension.

    Args:
        numsamples: how many are drawn.
        replacement: whether a category may be drawn again.
    """
    name = "MultinomialWithReplacement"
    if x.ndim not in (1, 2):
        raise ValueError(f"{name} takes 1 or 2 dimensions, not shape {x.shape}")
    ints(name, numsamples=numsamples)
    del replacement
    (first,), (second,) = numbers(seed), numbers(offset)
    return multinomial_with_replacement(x, first, second, numsamples)


@as_operator
@_SEEDED
def NonDeterministicInts(shape: Any, *, dtype: Any = dtypes.int64) -> Tensor:
    """Integers that no seed determines, of all that there are."""
    if dtype not in (dtypes.int32, dtypes.int64, dtypes.uint32, dtypes.uint64):
        raise TypeError(f"NonDeterministicInts: dtype must be one of integers of 32 or 64 bits, not {dtype}")
    wide = np.iinfo(np.int64)
    return randint(wide.min, wide.max, numbers(shape)).astype(dtype)


@as_operator
@_SEEDED
def ParameterizedTruncatedNormal(
    shape: Any, mean: Tensor, stdevs: Tensor, min: Tensor, max: Tensor, *, seed: int = 0, seed2: int = 0
) -> Tensor:
    """Numbers of normal distributions between bounds; the first dimension is that of the distributions."""
    size = numbers(shape)
    if len(size) < 1:
        raise ValueError("ParameterizedTruncatedNormal: a shape has at least 1 dimension")
    rows = (-1, *[1] * (len(size) - 1))
    middle, spread, low, high = (reshape(each, rows) for each in (mean, stdevs, min, max))
    width = spread * math.sqrt(2)
    bottom, top = (erf((bound - middle) / width) for bound in (low, high))
    drawn = rand(size, dtype=mean.dtype if mean.dtype.itemsize >= 4 else dtypes.float32, seed=_seed(seed, seed2))
    found = middle + width * erfinv(bottom + drawn * (top - bottom))
    return found.maximum(low).minimum(high).astype(mean.dtype)


@as_operator
def LogNormalReverse(input: Tensor, *, mean: float = 1.0, std: float = 2.0) -> Tensor:
    """Numbers of a log-normal distribution in the shape of a tensor.

    Args:
        mean: of the logarithms.
        std: of the logarithms.
    """
    return exp(randn(input.shape) * std + mean).astype(input.dtype)


@as_operator
def Cauchy(*, size: Any, median: float = 0.0, sigma: float = 1.0) -> Tensor:
    """Numbers of a Cauchy distribution.

    Args:
        size: the shape.
        median: the middle.
        sigma: the scale.
    """
    lists("Cauchy", size=size)
    if not size or min(size) < 1 or sigma <= 0:
        raise ValueError(f"Cauchy: a size of {size} and a scale of {sigma} do not exist")
    return median + sigma * tan(math.pi * (rand(tuple(size)) - 0.5))


# -- sampled classes ---------------------------------------------------------------------------------------------------


def _chances(kind: str, classes: int, numbers: Tensor) -> Tensor:
    """How probable some classes are in one draw, also those behind the last one."""
    if kind == "uniform":
        return ones_like(numbers, dtype=dtypes.float64) / classes
    return (1 / (numbers.astype(dtypes.float64) + 1)).log1p() / math.log(classes + 1)


@cache
def _draws(kind: str, classes: int, drawn: int) -> float:
    """How often classes are drawn until enough are different: as often as makes the expected number of these that."""
    if drawn == classes:
        return math.inf
    low, high = 0.0, 1.0
    rest = np.log1p(-_chances(kind, classes, Tensor(np.arange(classes))).asnumpy())
    while -np.expm1(high * rest).sum() < drawn:  # the sum is that of the classes expected after so many draws
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if -(np.expm1(middle * rest)).sum() < drawn else (low, middle)
    return high


def _expected(kind: str, classes: int, drawn: int, unique: bool, numbers: Tensor) -> Tensor:
    """How often some classes are expected among the drawn ones."""
    chances = _chances(kind, classes, numbers)
    often = -((-chances).log1p() * _draws(kind, classes, drawn)).expm1() if unique else chances * drawn
    return often.astype(dtypes.float32)


_CANDIDATES: Final = described(
    num_true="classes of each example.",
    num_sampled="how many are drawn.",
    unique="whether each is drawn once.",
    range_max="the number of classes.",
    seed="picks a stream of its own.",
)


def _sampler(name: str, kind: str, doc: str, init: str) -> type:
    """Declare the operator class that draws classes by the chances of a kind."""

    def compute(
        true_classes: Tensor, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int, **accepted: Any
    ) -> Any:
        check_classes(name, num_true, num_sampled, unique, range_max, seed)
        if true_classes.ndim < 1 or true_classes.shape[-1] != num_true:
            raise ValueError(f"{name}: classes of shape {true_classes.shape} are not {num_true} for each example")
        odds = _chances(kind, range_max, Tensor(np.arange(range_max))).log()
        shape = (range_max,) if unique else (num_sampled, range_max)
        keys = odds - log(-log(rand(shape, dtype=dtypes.float64, seed=_seed(seed, 0)).maximum(1e-300)))
        sampled = (topk(keys, num_sampled)[1] if unique else keys.argmax(-1)).astype(true_classes.dtype)
        expected = [_expected(kind, range_max, num_sampled, unique, each) for each in (true_classes, sampled)]
        return sampled, *expected

    return operator_class(name, _CANDIDATES(told(compute, name, doc)), init)


UniformCandidateSampler = _sampler(
    "UniformCandidateSampler",
    "uniform",
    """Classes drawn at random, and how often those of the examples and the drawn ones are expected.

Args:
    remove_accidental_hits: accepted; see `ComputeAccidentalHits`.""",
    "num_true, num_sampled, unique, range_max, seed=0, remove_accidental_hits=False",
)
LogUniformCandidateSampler = _sampler(
    "LogUniformCandidateSampler",
    "log uniform",
    "Classes drawn at random, the first ones more often, and how often those of the examples and the drawn ones are\n"
    "expected.",
    "num_true=1, num_sampled=5, unique=True, range_max=5, seed=0",
)


@as_operator
def ComputeAccidentalHits(true_classes: Tensor, sampled_candidates: Tensor, *, num_true: int = 1) -> Any:
    """The examples and the drawn classes that are among those of the example, and the lowest number for each.

    Args:
        num_true: classes of each example.
    """
    name = "ComputeAccidentalHits"
    ints(name, num_true=num_true)
    if true_classes.ndim != 2 or true_classes.shape[1] != num_true or sampled_candidates.ndim != 1:
        raise ValueError(f"{name}: shapes {true_classes.shape} and {sampled_candidates.shape} do not fit")
    given = (true_classes, sampled_candidates)
    for each in given:
        if each.dtype.category != 1:
            raise TypeError(f"{name}: classes are integers, not {each.dtype}")
    own, drawn = (np.asarray(each.concrete(f"{name} (the size of its result)")) for each in given)
    rows, _, places = np.nonzero(own[:, :, None] == drawn[None, None, :])
    weights = np.full(rows.shape, np.finfo(np.float32).min, np.float32)
    return Tensor(rows.astype(np.int32)), Tensor(places.astype(np.int64)), Tensor(weights)


# -- dropout -----------------------------------------------------------------------------------------------------------


def _channel_dropout(rank: int, drop: Any) -> Any:
    """Declare the operator class of a dropout of channels of a number of dimensions."""
    name = f"Dropout{rank}D"

    def compute(x: Tensor, *, keep_prob: float) -> Any:
        reals(name, keep_prob=keep_prob)
        if not 0 <= keep_prob <= 1 or x.ndim != rank + 2:
            raise ValueError(f"{name}: keep_prob is {keep_prob}, and the shape {x.shape}")
        kept = drop(ones((*x.shape[:2], *[1] * rank), dtypes.float32), 1 - float(keep_prob))
        return x * kept.astype(x.dtype), (kept != 0).broadcast_to(x.shape)

    compute.__doc__ = """Zero whole channels at random, and which elements are left.

    Args:
        keep_prob: the probability that a channel stays; the others are divided by it.
    """
    return operator_class(name, compute, "keep_prob=0.5")


Dropout2D, Dropout3D = _channel_dropout(2, dropout2d), _channel_dropout(3, dropout3d)
