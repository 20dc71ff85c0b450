"""Distributions that the gamma function describes, the half-normal one, and those that bijectors make of others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from weft.nn.probability.base import Distribution
from weft.nn.probability.bijector import Bijector
from weft.nn.probability.distribution import _Family
from weft.ops.elementwise import floor, log, log1p
from weft.ops.random import random_gamma, random_poisson
from weft.ops.select import where
from weft.ops.trigonometry import digamma, igamma, igammac, lgamma

__all__ = ["Beta", "Gamma", "HalfNormal", "Poisson", "StudentT", "TransformedDistribution"]


def _parameter(place: int) -> property:
    def parameter(self: Any) -> Any:
        """The parameter of that name; None where each call gives it."""
        return self.default_parameters[place]

    return property(parameter)


class _Positive(_Family):
    """Base of the distributions whose parameters are all positive.

    Args:
        dtype: the element type, a floating one.
    """

    _summaries = frozenset({"mean", "mode", "sd", "var", "entropy"})

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._above_zero = cls.taken
        for place, name in enumerate(cls.taken):
            if not hasattr(cls, name):
                setattr(cls, name, _parameter(place))

    def _made(self) -> None:
        if not self.dtype.is_floating:
            raise TypeError(f"{type(self).__name__}: dtype must be floating, not {self.dtype}")
        super()._made()


def _log_beta(a: Any, b: Any) -> Any:
    return lgamma(a) + lgamma(b) - lgamma(a + b)


class Beta(
    _Positive,
    taken=("concentration1", "concentration0"),
    shows=("Beta(2.0, 3.0).prob(weft.Tensor(0.5)).round(4)", "1.5"),
):
    """The beta distribution.

    Args:
        concentration1: the first concentration, positive: a number, a Tensor, or None where each call gives it.
        concentration0: the second one, likewise.
    """

    _formulas = {
        "log_prob": lambda value, a, b: (a - 1.0) * log(value) + (b - 1.0) * log1p(-value) - _log_beta(a, b),
        "mean": lambda a, b: a / (a + b),
        "var": lambda a, b: a * b / ((a + b) ** 2 * (a + b + 1.0)),
        "mode": lambda a, b: where((a > 1.0) & (b > 1.0), (a - 1.0) / (a + b - 2.0), math.nan),
    }

    def _entropy(self, a: Any, b: Any) -> Any:
        total = a + b
        return _log_beta(a, b) - (a - 1.0) * digamma(a) - (b - 1.0) * digamma(b) + (total - 2.0) * digamma(total)

    def _kl_loss(self, concentration1_b: Any, concentration0_b: Any, a: Any, b: Any) -> Any:
        change_a, change_b = a - concentration1_b, b - concentration0_b
        return (
            _log_beta(concentration1_b, concentration0_b)
            - _log_beta(a, b)
            + change_a * digamma(a)
            + change_b * digamma(b)
            - (change_a + change_b) * digamma(a + b)
        )

    def _sample(self, shape: tuple[int, ...], a: Any, b: Any) -> Any:
        whole = np.broadcast_shapes(a.shape, b.shape)
        one, other = (random_gamma(shape, each.broadcast_to(whole)) for each in (a, b))
        return one / (one + other)


class Gamma(_Positive, taken=("concentration", "rate"), shows=("Gamma(2.0, 4.0).mean()", "0.5")):
    """The gamma distribution.

    Args:
        concentration: the concentration, positive: a number, a Tensor, or None where each call gives it.
    """

    _formulas = {
        "log_prob": lambda value, a, rate: (a - 1.0) * log(value) - rate * value + a * log(rate) - lgamma(a),
        "cdf": lambda value, a, rate: igamma(*_alike(a, rate * value)),
        "mean": lambda a, rate: a / rate,
        "var": lambda a, rate: a / rate**2,
        "mode": lambda a, rate: where(a > 1.0, (a - 1.0) / rate, math.nan),
        "entropy": lambda a, rate: a - log(rate) + lgamma(a) + (1.0 - a) * digamma(a),
        "kl_loss": lambda concentration_b, rate_b, a, rate: (
            (a - concentration_b) * digamma(a)
            + lgamma(concentration_b)
            - lgamma(a)
            + concentration_b * (log(rate) - log(rate_b))
            + a * (rate_b / rate - 1.0)
        ),
    }

    def _sample(self, shape: tuple[int, ...], a: Any, rate: Any) -> Any:
        return random_gamma(shape, a.broadcast_to(np.broadcast_shapes(a.shape, rate.shape))) / rate


def _alike(a: Any, b: Any) -> tuple[Any, Any]:
    """Two tensors in the shape of both."""
    shape = np.broadcast_shapes(a.shape, b.shape)
    return a.broadcast_to(shape), b.broadcast_to(shape)


class Poisson(_Positive, taken=("rate",), shows=("Poisson(2.0).prob(weft.Tensor(0.0)).round(4)", "0.1353")):
    """The Poisson distribution."""

    def _log_prob(self, value: Any, rate: Any) -> Any:
        inside = where(value >= 0.0, value, 0.0)
        return where(value >= 0.0, inside * log(rate) - lgamma(inside + 1.0) - rate, -math.inf)

    def _cdf(self, value: Any, rate: Any) -> Any:
        inside = where(value >= 0.0, value, 0.0)
        return where(value >= 0.0, igammac(*_alike(inside + 1.0, rate)), 0.0)

    _formulas = {"mean": lambda rate: rate, "var": lambda rate: rate, "mode": floor}

    def _sample(self, shape: tuple[int, ...], rate: Any) -> Any:
        return random_poisson(shape, rate, dtype=self.dtype)


class HalfNormal(
    _Family,
    taken=("mean", "sd"),
    above_zero=("sd",),
    shows=("round(HalfNormal(0.0, 1.0).prob(weft.Tensor(0.0)).item(), 4)", "0.7979"),
):
    """The normal distribution of what is above the mean only."""

    _formulas = {
        "log_prob": lambda value, mean, sd: (
            -(((value - mean) / sd) ** 2) / 2.0 - log(sd) + 0.5 * math.log(2.0 / math.pi)
        )
    }


class StudentT(
    _Family,
    taken=("df", "mean", "sd"),
    above_zero=("df", "sd"),
    shows=("round(StudentT(1.0, 0.0, 1.0).prob(weft.Tensor(0.0)).item(), 4)", "0.3183"),
):
    """Student's t distribution.

    Args:
        df: the degrees of freedom, positive: a number, a Tensor, or None where each call gives it.
        sd: the scale, positive: likewise.
    """

    def _log_prob(self, value: Any, df: Any, mean: Any, sd: Any) -> Any:
        square = ((value - mean) / sd) ** 2
        norm = log(sd) + 0.5 * log(df) + 0.5 * math.log(math.pi) + lgamma(df / 2.0) - lgamma((df + 1.0) / 2.0)
        return -0.5 * (df + 1.0) * log1p(square / df) - norm


class TransformedDistribution(Distribution):
    """The distribution of the images of what another one gives.

    Args:
        bijector: the function; `cdf` takes it for an increasing one.
        distribution: the other distribution.
        seed: kept.
        name: the name.

    Raises:
        TypeError: an argument is another thing.

    Example:
        >>> import weft
        >>> from weft.nn.probability import bijector, distribution
        >>> made = TransformedDistribution(bijector.Exp(), distribution.Normal(0.0, 1.0))
        >>> print(made.cdf(weft.Tensor(1.0)))
        0.5
    """

    def __init__(
        self, bijector: Bijector, distribution: Distribution, seed: Any = None, name: str = "transformed_distribution"
    ) -> None:
        for what, value, kind in (("bijector", bijector, Bijector), ("distribution", distribution, Distribution)):
            if not isinstance(value, kind):
                raise TypeError(
                    f"TransformedDistribution: {what} must be a {kind.__name__}, not {type(value).__name__}"
                )
        super().__init__(seed, distribution.dtype, name, {"bijector": bijector, "distribution": distribution})
        self._bijector = bijector
        self._distribution = distribution

    @property
    def bijector(self) -> Bijector:
        """The function."""
        return self._bijector

    @property
    def distribution(self) -> Distribution:
        """The other distribution."""
        return self._distribution

    @property
    def is_linear_transformation(self) -> bool:
        """Whether the derivative of the function is a number."""
        return self._bijector.is_constant_jacobian

    @property
    def batch_shape(self) -> Any:
        """The shape of the parameters of the other distribution."""
        return self._distribution.batch_shape

    def _given_to(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The parameters that a call gives to the other distribution, by their places."""
        names = self._distribution.taken
        return (*args, *[kwargs.get(name) for name in names[len(args) :]]) if kwargs else args

    def _log_prob(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        before = self._distribution.log_prob(self._bijector.inverse(value), *self._given_to(args, kwargs))
        return before + self._bijector.inverse_log_jacobian(value)

    def _cdf(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        return self._distribution.cdf(self._bijector.inverse(value), *self._given_to(args, kwargs))

    def _survival_function(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        inverse = self._bijector.inverse(value)
        return self._distribution.survival_function(inverse, *self._given_to(args, kwargs))

    def _mean(self, *args: Any, **kwargs: Any) -> Any:
        if not self.is_linear_transformation:
            raise ValueError("TransformedDistribution knows the mean of what a linear bijector makes only")
        return self._bijector.forward(self._distribution.mean(*self._given_to(args, kwargs)))

    def _sample(self, shape: tuple[int, ...], *args: Any, **kwargs: Any) -> Any:
        return self._bijector.forward(self._distribution.sample(shape, *self._given_to(args, kwargs)))
