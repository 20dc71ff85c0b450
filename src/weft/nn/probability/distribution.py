"""The distributions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from weft import dtypes
from weft.core.tensor import Tensor
from weft.nn.probability.base import Distribution
from weft.ops.activation import sigmoid, softplus
from weft.ops.cumulative import cumsum
from weft.ops.elementwise import abs as absolute
from weft.ops.elementwise import exp, log, log1p
from weft.ops.gather import gather_elements
from weft.ops.random import rand, randn, random_categorical
from weft.ops.select import where
from weft.ops.trigonometry import atan, erf, tan

__all__ = [
    "Bernoulli", "Categorical", "Cauchy", "Distribution", "Exponential", "Geometric", "Gumbel", "Laplace",
    "LogNormal", "Logistic", "Normal", "Uniform",
]  # fmt: skip

_ROOT = 0.5 * math.log(2 * math.pi)


def _drawn(draw: Any, shape: tuple[int, ...], like: Any) -> Any:
    """Numbers by chance, of a shape that may be empty."""
    return draw(*(shape or (1,)), dtype=like.dtype).reshape(shape)


class _TwoNumbers(Distribution):
    """Distributions of a place and a width."""

    def _shape(self, shape: tuple[int, ...], parameters: list[Any]) -> tuple[int, ...]:
        return (*shape, *np.broadcast_shapes(*[each.shape for each in parameters]))


class Normal(_TwoNumbers):
    """The normal distribution.

    Args:
        mean: the mean: a number, a Tensor, or None where each call gives it.
        sd: the standard deviation, likewise.
        seed: kept.
        dtype: the element type.
        name: the name.

    Raises:
        ValueError: `sd` is not positive.

    Example:
        >>> import weft
        >>> print(round(Normal(0.0, 1.0).prob(weft.Tensor(0.0)).item(), 4))
        0.3989
    """

    taken = ("mean", "sd")

    def __init__(
        self, mean: Any = None, sd: Any = None, seed: Any = None, dtype: Any = None, name: str = "Normal"
    ) -> None:
        super().__init__(seed, dtype, name, {"mean": mean, "sd": sd})
        self._positive("sd")

    def _log_prob(self, value: Any, *args: Any) -> Any:
        mean, sd = self._given(args)
        return -(((value - mean) / sd) ** 2) / 2.0 - log(sd) - _ROOT

    def _cdf(self, value: Any, *args: Any) -> Any:
        mean, sd = self._given(args)
        return 0.5 * (1.0 + erf((value - mean) / (sd * math.sqrt(2.0))))

    def _mean(self, *args: Any) -> Any:
        parameters = self._given(args)
        return self._whole(parameters[0], parameters)

    _mode = _mean

    def _sd(self, *args: Any) -> Any:
        parameters = self._given(args)
        return self._whole(parameters[1], parameters)

    def _entropy(self, *args: Any) -> Any:
        parameters = self._given(args)
        return self._whole(0.5 + _ROOT + log(parameters[1]), parameters)

    def _kl_loss(self, mean_b: Any, sd_b: Any, *args: Any) -> Any:
        mean, sd = self._given(args)
        mean_b, sd_b = self._tensor(mean_b), self._tensor(sd_b)
        return log(sd_b) - log(sd) + (sd**2 + (mean - mean_b) ** 2) / (2.0 * sd_b**2) - 0.5

    def _sample(self, shape: tuple[int, ...], *args: Any) -> Any:
        mean, sd = parameters = self._given(args)
        return mean + sd * _drawn(randn, self._shape(shape, parameters), mean)


class LogNormal(Normal):
    """The distribution of what the logarithm is normally distributed.

    Args:
        loc: the mean of the logarithm: a number, a Tensor, or None where each call gives it.
        scale: its standard deviation, likewise.
        seed: kept.
        dtype: the element type.
        name: the name.

    Raises:
        ValueError: `scale` is not positive.

    Example:
        >>> import weft
        >>> print(LogNormal(0.0, 1.0).cdf(weft.Tensor(1.0)))
        0.5
    """

    def __init__(
        self, loc: Any = None, scale: Any = None, seed: Any = None, dtype: Any = None, name: str = "LogNormal"
    ) -> None:
        super().__init__(loc, scale, seed, dtype, name)

    def _log_prob(self, value: Any, *args: Any) -> Any:
        return super()._log_prob(log(value), *args) - log(value)

    def _cdf(self, value: Any, *args: Any) -> Any:
        return super()._cdf(log(value), *args)

    def _mean(self, *args: Any) -> Any:
        mean, sd = self._given(args)
        return exp(mean + sd**2 / 2.0)

    def _mode(self, *args: Any) -> Any:
        mean, sd = self._given(args)
        return exp(mean - sd**2)

    def _sd(self, *args: Any) -> Any:
        mean, sd = self._given(args)
        return exp(mean + sd**2 / 2.0) * (exp(sd**2) - 1.0).sqrt()

    def _entropy(self, *args: Any) -> Any:
        return super()._entropy(*args) + self._given(args)[0]

    def _sample(self, shape: tuple[int, ...], *args: Any) -> Any:
        return exp(super()._sample(shape, *args))


class Laplace(_TwoNumbers):
    """The Laplace distribution.

    Args:
        mean: the mean: a number, a Tensor, or None where each call gives it.
        sd: the scale, likewise.
        seed: kept.
        dtype: the element type.
        name: the name.

    Raises:
        ValueError: `sd` is not positive.

    Example:
        >>> import weft
        >>> print(Laplace(0.0, 1.0).prob(weft.Tensor(0.0)))
        0.5
    """

    taken = ("mean", "sd")

    def __init__(
        self, mean: Any = None, sd: Any = None, seed: Any = None, dtype: Any = None, name: str = "Laplace"
    ) -> None:
        super().__init__(seed, dtype, name, {"mean": mean, "sd": sd})
        self._positive("sd")

    def _log_prob(self, value: Any, *args: Any) -> Any:
        mean, sd = self._given(args)
        return -absolute(value - mean) / sd - log(2.0 * sd)


class Cauchy(_TwoNumbers):
    """The Cauchy distribution.

    Args:
        loc: the place of the peak: a number, a Tensor, or None where each call gives it.
        scale: half the width at half the height, likewise.
        seed: kept.
        dtype: the element type.
        name: the name.

    Raises:
        ValueError: `scale` is not positive, or a moment is asked for, which there is none.

    Example:
        >>> import weft
        >>> print(Cauchy(0.0, 1.0).cdf(weft.Tensor(1.0)))
        0.75
    """

    taken = ("loc", "scale")

    def __init__(
        self, loc: Any = None, scale: Any = None, seed: Any = None, dtype: Any = None, name: str = "Cauchy"
    ) -> None:
        super().__init__(seed, dtype, name, {"loc": loc, "scale": scale})
        self._positive("scale")

    def _log_prob(self, value: Any, *args: Any) -> Any:
        loc, scale = self._given(args)
        return -math.log(math.pi) - log(scale) - log1p(((value - loc) / scale) ** 2)

    def _cdf(self, value: Any, *args: Any) -> Any:
        loc, scale = self._given(args)
        return 0.5 + atan((value - loc) / scale) / math.pi

    def _mode(self, *args: Any) -> Any:
        parameters = self._given(args)
        return self._whole(parameters[0], parameters)

    def _mean(self, *args: Any) -> Any:
        raise ValueError("mean is undefined for Cauchy distribution.")

    def _sd(self, *args: Any) -> Any:
        raise ValueError("standard deviation is undefined for Cauchy distribution.")

    def _var(self, *args: Any) -> Any:
        raise ValueError("variance is undefined for Cauchy distribution.")

    def _entropy(self, *args: Any) -> Any:
        parameters = self._given(args)
        return self._whole(log(parameters[1]) + math.log(4 * math.pi), parameters)

    def _kl_loss(self, loc_b: Any, scale_b: Any, *args: Any) -> Any:
        loc, scale = self._given(args)
        loc_b, scale_b = self._tensor(loc_b), self._tensor(scale_b)
        return log(((scale + scale_b) ** 2 + (loc - loc_b) ** 2) / (4.0 * scale * scale_b))

    def _sample(self, shape: tuple[int, ...], *args: Any) -> Any:
        loc, scale = parameters = self._given(args)
        return loc + scale * tan(math.pi * (_drawn(rand, self._shape(shape, parameters), loc) - 0.5))


class Logistic(_TwoNumbers):
    """The logistic distribution.

    Args:
        loc: the mean: a number, a Tensor, or None where each call gives it.
        scale: the scale, likewise.
        seed: kept.
        dtype: the element type.
        name: the name.

    Raises:
        ValueError: `scale` is not positive.

    Example:
        >>> import weft
        >>> print(Logistic(0.0, 1.0).cdf(weft.Tensor(0.0)))
        0.5
    """

    taken = ("loc", "scale")

    def __init__(
        self, loc: Any = None, scale: Any = None, seed: Any = None, dtype: Any = None, name: str = "Logistic"
    ) -> None:
        super().__init__(seed, dtype, name, {"loc": loc, "scale": scale})
        self._positive("scale")

    def _log_prob(self, value: Any, *args: Any) -> Any:
        loc, scale = self._given(args)
        z = (value - loc) / scale
        return -z - log(scale) - 2.0 * softplus(-z)

    def _cdf(self, value: Any, *args: Any) -> Any:
        loc, scale = self._given(args)
        return sigmoid((value - loc) / scale)

    def _mean(self, *args: Any) -> Any:
        parameters = self._given(args)
        return self._whole(parameters[0], parameters)

    _mode = _mean

    def _sd(self, *args: Any) -> Any:
        parameters = self._given(args)
        return self._whole(parameters[1] * (math.pi / math.sqrt(3.0)), parameters)

    def _entropy(self, *args: Any) -> Any:
        parameters = self._given(args)
        return self._whole(log(parameters[1]) + 2.0, parameters)

    def _sample(self, shape: tuple[int, ...], *args: Any) -> Any:
        loc, scale = parameters = self._given(args)
        share = _drawn(rand, self._shape(shape, parameters), loc)
        return loc + scale * (log(share) - log1p(-share))


class Gumbel(_TwoNumbers):
    """The Gumbel distribution, of the largest of many numbers.

    Args:
        loc: the place of the peak: a number or a Tensor.
        scale: the scale, likewise.
        seed: kept.
        dtype: the element type.
        name: the name.

    Raises:
        ValueError: `scale` is not positive.

    Example:
        >>> import weft
        >>> print(round(Gumbel(0.0, 1.0).prob(weft.Tensor(0.0)).item(), 4))
        0.3679
    """

    taken = ("loc", "scale")

    def __init__(self, loc: Any, scale: Any, seed: Any = 0, dtype: Any = None, name: str = "Gumbel") -> None:
        super().__init__(seed, dtype, name, {"loc": loc, "scale": scale})
        self._positive("scale")

    def _log_prob(self, value: Any) -> Any:
        loc, scale = self._given(())
        z = (value - loc) / scale
        return -(z + exp(-z)) - log(scale)

    def _cdf(self, value: Any) -> Any:
        loc, scale = self._given(())
        return exp(-exp(-(value - loc) / scale))

    def _mean(self) -> Any:
        loc, scale = self._given(())
        return loc + scale * float(np.euler_gamma)

    def _mode(self) -> Any:
        parameters = self._given(())
        return self._whole(parameters[0], parameters)

    def _sd(self) -> Any:
        parameters = self._given(())
        return self._whole(parameters[1] * (math.pi / math.sqrt(6.0)), parameters)

    def _entropy(self) -> Any:
        parameters = self._given(())
        return self._whole(log(parameters[1]) + (1.0 + float(np.euler_gamma)), parameters)

    def _sample(self, shape: tuple[int, ...]) -> Any:
        loc, scale = parameters = self._given(())
        return loc - scale * log(-log(_drawn(rand, self._shape(shape, parameters), loc)))


class Uniform(_TwoNumbers):
    """The uniform distribution between two numbers.

    Args:
        low: the smaller: a number, a Tensor, or None where each call gives it.
        high: the larger, likewise.
        seed: kept.
        dtype: the element type.
        name: the name.

    Raises:
        ValueError: `high` is not larger than `low`.

    Example:
        >>> import weft
        >>> print(Uniform(0.0, 2.0).prob(weft.Tensor(1.0)))
        0.5
    """

    taken = ("low", "high")

    def __init__(
        self, low: Any = None, high: Any = None, seed: Any = None, dtype: Any = None, name: str = "Uniform"
    ) -> None:
        super().__init__(seed, dtype, name, {"low": low, "high": high})
        first, last = self.default_parameters
        if first is not None and last is not None and not np.all(first.asnumpy() < last.asnumpy()):
            raise ValueError("Uniform: low must be less than high")

    def _prob(self, value: Any, *args: Any) -> Any:
        low, high = self._given(args)
        return where((value >= low).logical_and(value <= high), 1.0 / (high - low), 0.0)

    def _log_prob(self, value: Any, *args: Any) -> Any:
        low, high = self._given(args)
        return where((value >= low).logical_and(value <= high), -log(high - low), -math.inf)

    def _cdf(self, value: Any, *args: Any) -> Any:
        low, high = self._given(args)
        return ((value - low) / (high - low)).clip(0.0, 1.0)

    def _mean(self, *args: Any) -> Any:
        low, high = self._given(args)
        return (low + high) / 2.0

    def _var(self, *args: Any) -> Any:
        low, high = self._given(args)
        return (high - low) ** 2 / 12.0

    def _entropy(self, *args: Any) -> Any:
        low, high = self._given(args)
        return log(high - low)

    def _kl_loss(self, low_b: Any, high_b: Any, *args: Any) -> Any:
        low, high = self._given(args)
        low_b, high_b = self._tensor(low_b), self._tensor(high_b)
        found = log(high_b - low_b) - log(high - low)
        return where((low_b <= low).logical_and(high_b >= high), found, math.inf)

    def _sample(self, shape: tuple[int, ...], *args: Any) -> Any:
        low, high = parameters = self._given(args)
        return low + (high - low) * _drawn(rand, self._shape(shape, parameters), low)


class Exponential(Distribution):
    """The exponential distribution.

    Args:
        rate: the rate: a number, a Tensor, or None where each call gives it.
        seed: kept.
        dtype: the element type.
        name: the name.

    Raises:
        ValueError: `rate` is not positive.

    Example:
        >>> import weft
        >>> print(Exponential(2.0).mean())
        0.5
    """

    taken = ("rate",)

    def __init__(self, rate: Any = None, seed: Any = None, dtype: Any = None, name: str = "Exponential") -> None:
        super().__init__(seed, dtype, name, {"rate": rate})
        self._positive("rate")

    def _log_prob(self, value: Any, *args: Any) -> Any:
        (rate,) = self._given(args)
        return where(value >= 0.0, log(rate) - rate * value, -math.inf)

    def _cdf(self, value: Any, *args: Any) -> Any:
        (rate,) = self._given(args)
        return where(value >= 0.0, 1.0 - exp(-rate * value), 0.0)

    def _log_survival(self, value: Any, *args: Any) -> Any:
        (rate,) = self._given(args)
        return where(value >= 0.0, -rate * value, 0.0)

    def _mean(self, *args: Any) -> Any:
        return 1.0 / self._given(args)[0]

    _sd = _mean

    def _mode(self, *args: Any) -> Any:
        return self._given(args)[0] * 0.0

    def _entropy(self, *args: Any) -> Any:
        return 1.0 - log(self._given(args)[0])

    def _kl_loss(self, rate_b: Any, *args: Any) -> Any:
        (rate,) = self._given(args)
        rate_b = self._tensor(rate_b)
        return log(rate) - log(rate_b) + rate_b / rate - 1.0

    def _sample(self, shape: tuple[int, ...], *args: Any) -> Any:
        (rate,) = self._given(args)
        return -log1p(-_drawn(rand, (*shape, *rate.shape), rate)) / rate


class _OfProbability(Distribution):
    taken = ("probs",)

    def __init__(self, probs: Any, seed: Any, dtype: Any, name: str) -> None:
        super().__init__(seed, dtypes.int32 if dtype is None else dtype, name, {"probs": probs})
        if probs is not None:
            values = self.default_parameters[0].asnumpy()
            if not np.all((values > 0) & (values < 1)):
                raise ValueError(f"{type(self).__name__}: probs must be between 0 and 1")


class Bernoulli(_OfProbability):
    """Ones and zeros.

    Args:
        probs: the probability of ones: a number, a Tensor, or None where each call gives it.
        seed: kept.
        dtype: the element type of what is drawn.
        name: the name.

    Raises:
        ValueError: `probs` is not between 0 and 1.

    Example:
        >>> import weft
        >>> print(round(Bernoulli(0.25).prob(weft.Tensor(1.0)).item(), 4))
        0.25
    """

    def __init__(self, probs: Any = None, seed: Any = None, dtype: Any = None, name: str = "Bernoulli") -> None:
        super().__init__(probs, seed, dtype, name)

    def _log_prob(self, value: Any, *args: Any) -> Any:
        (probs,) = self._given(args)
        return value * log(probs) + (1.0 - value) * log1p(-probs)

    def _cdf(self, value: Any, *args: Any) -> Any:
        (probs,) = self._given(args)
        return where(value < 0.0, 0.0, where(value < 1.0, 1.0 - probs, 1.0))

    def _mean(self, *args: Any) -> Any:
        return self._given(args)[0]

    def _mode(self, *args: Any) -> Any:
        return (self._given(args)[0] > 0.5).astype(self.dtype)

    def _var(self, *args: Any) -> Any:
        (probs,) = self._given(args)
        return probs * (1.0 - probs)

    def _entropy(self, *args: Any) -> Any:
        (probs,) = self._given(args)
        return -(probs * log(probs) + (1.0 - probs) * log1p(-probs))

    def _kl_loss(self, probs1_b: Any, *args: Any) -> Any:
        (probs,) = self._given(args)
        other = self._tensor(probs1_b)
        return probs * (log(probs) - log(other)) + (1.0 - probs) * (log1p(-probs) - log1p(-other))

    def _sample(self, shape: tuple[int, ...], *args: Any) -> Any:
        (probs,) = self._given(args)
        return (_drawn(rand, (*shape, *probs.shape), probs) < probs).astype(self.dtype)


class Geometric(_OfProbability):
    """How many times something fails before it succeeds.

    Args:
        probs: the probability of success: a number, a Tensor, or None where each call gives it.
        seed: kept.
        dtype: the element type of what is drawn.
        name: the name.

    Raises:
        ValueError: `probs` is not between 0 and 1.

    Example:
        >>> import weft
        >>> print(Geometric(0.5).prob(weft.Tensor(1.0)))
        0.25
    """

    def __init__(self, probs: Any = None, seed: Any = None, dtype: Any = None, name: str = "Geometric") -> None:
        super().__init__(probs, seed, dtype, name)

    def _prob(self, value: Any, *args: Any) -> Any:
        (probs,) = self._given(args)
        return where(value >= 0.0, (1.0 - probs) ** value * probs, 0.0)

    def _cdf(self, value: Any, *args: Any) -> Any:
        (probs,) = self._given(args)
        return where(value >= 0.0, 1.0 - (1.0 - probs) ** (value + 1.0), 0.0)

    def _mean(self, *args: Any) -> Any:
        (probs,) = self._given(args)
        return (1.0 - probs) / probs

    def _mode(self, *args: Any) -> Any:
        return (self._given(args)[0] * 0.0).astype(self.dtype)

    def _var(self, *args: Any) -> Any:
        (probs,) = self._given(args)
        return (1.0 - probs) / probs**2

    def _entropy(self, *args: Any) -> Any:
        (probs,) = self._given(args)
        return (-(1.0 - probs) * log1p(-probs) - probs * log(probs)) / probs

    def _kl_loss(self, probs1_b: Any, *args: Any) -> Any:
        (probs,) = self._given(args)
        other = self._tensor(probs1_b)
        return log(probs) - log(other) + (1.0 - probs) / probs * (log1p(-probs) - log1p(-other))

    def _sample(self, shape: tuple[int, ...], *args: Any) -> Any:
        (probs,) = self._given(args)
        drawn = log1p(-_drawn(rand, (*shape, *probs.shape), probs)) / log1p(-probs)
        return drawn.floor().astype(self.dtype)


class Categorical(Distribution):
    """Numbers of classes.

    Args:
        probs: the probabilities of the classes, in the last dimension: a Tensor, or None where each call gives it.
        seed: kept.
        dtype: the element type of what is drawn.
        name: the name.

    Raises:
        TypeError: `probs` is a number.
        ValueError: the probabilities are no probabilities.

    Example:
        >>> import weft
        >>> print(Categorical(weft.Tensor([0.25, 0.75])).prob(weft.Tensor([1])))
        [0.75]
    """

    taken = ("probs",)

    def __init__(self, probs: Any = None, seed: Any = None, dtype: Any = None, name: str = "Categorical") -> None:
        super().__init__(seed, dtypes.int32 if dtype is None else dtype, name, {"probs": probs})
        if probs is not None:
            values = self.default_parameters[0].asnumpy()
            if not values.ndim:
                raise TypeError("Categorical: probs must hold a probability for each class")
            if np.any(values < 0) or np.any(np.abs(values.sum(-1) - 1) > 1e-3):
                raise ValueError("Categorical: probs must not be negative, and their sum be 1")

    def _prob(self, value: Any, *args: Any) -> Any:
        (probs,) = self._given(args)
        return self._taken(probs, value)

    @staticmethod
    def _taken(table: Any, value: Any) -> Any:
        value = value.astype(dtypes.int32)
        shape = np.broadcast_shapes(value.shape, table.shape[:-1])
        wide = table.broadcast_to((*shape, table.shape[-1]))
        places = value.broadcast_to(shape)
        return gather_elements(wide, -1, places.reshape((*shape, 1))).reshape(shape)

    def _cdf(self, value: Any, *args: Any) -> Any:
        (probs,) = self._given(args)
        return self._taken(cumsum(probs, -1), value)

    def _mean(self, *args: Any) -> Any:
        (probs,) = self._given(args)
        return (probs * self._numbers(probs)).sum(-1, keepdims=True)

    @staticmethod
    def _numbers(probs: Any) -> Any:
        return Tensor(np.arange(probs.shape[-1]).astype(probs.dtype.np_dtype))

    def _var(self, *args: Any) -> Any:
        (probs,) = self._given(args)
        return (probs * (self._numbers(probs) - self._mean(*args)) ** 2).sum(-1, keepdims=True)

    def _mode(self, *args: Any) -> Any:
        return self._given(args)[0].argmax(-1).astype(self.dtype)

    def _entropy(self, *args: Any) -> Any:
        (probs,) = self._given(args)
        return -(probs * log(where(probs > 0.0, probs, 1.0))).sum(-1)

    def _kl_loss(self, probs_b: Any, *args: Any) -> Any:
        (probs,) = self._given(args)
        other = self._tensor(probs_b)
        return (probs * (log(where(probs > 0.0, probs, 1.0)) - log(other))).sum(-1)

    def _sample(self, shape: tuple[int, ...], *args: Any) -> Any:
        (probs,) = self._given(args)
        count = int(np.prod(shape))
        rows = log(probs).reshape((-1, probs.shape[-1]))
        drawn = random_categorical(rows, count)
        return drawn.transpose((1, 0)).reshape((*shape, *probs.shape[:-1])).astype(self.dtype)
