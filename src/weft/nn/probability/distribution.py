"""The distributions."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import MethodType
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from weft import dtypes
from weft.core import Tensor
from weft.nn.declared import Described, constructor, signed
from weft.nn.probability.base import Distribution
from weft.ops.activation import sigmoid, softplus
from weft.ops.cumulative import cumsum
from weft.ops.elementwise import abs as absolute
from weft.ops.elementwise import exp, log, log1p
from weft.ops.gather import gather_elements
from weft.ops.random import rand, randn, random_categorical
from weft.ops.select import where
from weft.ops.trigonometry import atan, erf, lgamma, tan

__all__ = [
    "Bernoulli", "Categorical", "Cauchy", "Distribution", "Exponential", "Geometric", "Gumbel", "Laplace",
    "LogNormal", "Logistic", "Normal", "Uniform",
]  # fmt: skip

_ROOT = 0.5 * math.log(2 * math.pi)

#: functions of a value, or of a shape
_OF_ONE: Final = frozenset({"prob", "log_prob", "cdf", "log_cdf", "survival_function", "log_survival", "sample"})


def _drawn(draw: Any, shape: tuple[int, ...], *parameters: Any) -> Any:
    """Numbers by chance for each of the parameters, of a shape that may be empty."""
    shape = (*shape, *np.broadcast_shapes(*[each.shape for each in parameters]))
    return draw(*(shape or (1,)), dtype=parameters[0].dtype).reshape(shape)


def _build(self: _Family, owner: type, given: dict[str, Any]) -> None:
    *values, seed, dtype, name = given.values()
    dtype = self._default if dtype is None else dtype
    Distribution.__init__(self, seed, dtype, name, dict(zip(self.taken, values, strict=True)))
    self._made()


#: makes the constructor of another signature: parameters of the distribution, then those of all
_of_signature = constructor(_build)


class _Family(Described, Distribution):
    """Base of the distributions below: what computes a function is given the parameters behind its own arguments.

    Constructors take the parameters (`taken`): numbers or Tensors, or None where each call gives them.

    Args:
        mean: the mean: a number, a Tensor, or None where each call gives it.
        sd: the standard deviation, positive: likewise.
        loc: the place of the peak: a number, a Tensor, or None where each call gives it.
        scale: the width, positive: likewise.
        rate: the rate, positive: a number, a Tensor, or None where each call gives it.
        seed: kept.
        dtype: the element type.
        name: the name.

    Raises:
        TypeError: a parameter is no number and no Tensor, or `name` no text.
        ValueError: a parameter is out of range.
    """

    _example = """
        >>> import weft
        >>> print({})
        {}
    """

    #: the element type, if none is given
    _default: ClassVar[Any] = None
    #: parameters that must be positive
    _above_zero: ClassVar[tuple[str, ...]] = ()
    #: functions whose results are brought into the shape of all parameters
    _summaries: ClassVar[frozenset[str]] = frozenset()
    #: how functions are computed, by their names
    _formulas: ClassVar[dict[str, Callable[..., Any]]] = {}

    def __init_subclass__(cls, taken: tuple[str, ...] | None = None, **kwargs: Any) -> None:
        cls.taken = cls.taken if taken is None else taken
        for name, formula in cls.__dict__.get("_formulas", {}).items():
            setattr(cls, f"_{name}", staticmethod(formula))
        if cls.__module__.startswith("weft.") and "__init__" not in cls.__dict__:
            names = (*cls.taken, "seed", "dtype", "name")
            annotations = {**dict.fromkeys(names, "Any"), "name": "str", "return": "None"}
            defaults = {**dict.fromkeys(names), "name": cls.__name__}
            made: Any = _of_signature(signed(annotations, defaults))
            made.__set_name__(cls, "__init__")
        super().__init_subclass__(**kwargs)

    if TYPE_CHECKING:

        def __init__(self, *parameters: Any, **settings: Any) -> None: ...

    def _made(self) -> None:
        """Refuse parameters that are none."""
        for name, value in zip(self.taken, self.default_parameters, strict=True):
            if name in self._above_zero and value is not None and not np.all(value.asnumpy() > 0):
                raise ValueError(f"{type(self).__name__}: {name} must be positive")

    def _call(self, function: str, *args: Any, **kwargs: Any) -> Any:
        if function == "kl_loss":
            args, first = self._of_other(args, kwargs), len(self.taken)
        else:
            first = int(function in _OF_ONE)
        parameters = self._given(args[first:])
        found = super()._call(function, *args[:first], *parameters, **kwargs)
        return self._whole(found, parameters) if function in self._summaries else found

    def _of_other(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """What `kl_loss` is given, with the parameters of the other distribution as tensors at the beginning."""
        if not self._has("kl_loss"):
            return args
        count = len(self.taken)
        own = self._kl_loss
        first = int(isinstance(own, MethodType))  # behind `self`
        names = own.__code__.co_varnames[first + len(args) : first + count]
        named = [kwargs.pop(name) for name in names if name in kwargs]
        return (*[self._tensor(each) for each in (*args[:count], *named)], *args[count:])


class _TwoNumbers(_Family):
    """Base of the distributions of a place and a width."""

    _summaries = frozenset({"mean", "mode", "sd", "var", "entropy"})


class _Located(_TwoNumbers, taken=("loc", "scale"), above_zero=("scale",)):
    """Base of those that name them so."""


class Normal(
    _TwoNumbers,
    taken=("mean", "sd"),
    above_zero=("sd",),
    shows=("round(Normal(0.0, 1.0).prob(weft.Tensor(0.0)).item(), 4)", "0.3989"),
):
    """The normal distribution."""

    _formulas = {
        "log_prob": lambda value, mean, sd: -(((value - mean) / sd) ** 2) / 2.0 - log(sd) - _ROOT,
        "cdf": lambda value, mean, sd: 0.5 * (1.0 + erf((value - mean) / (sd * math.sqrt(2.0)))),
        "mean": lambda mean, sd: mean,
        "mode": lambda mean, sd: mean,
        "sd": lambda mean, sd: sd,
        "entropy": lambda mean, sd: 0.5 + _ROOT + log(sd),
        "kl_loss": lambda mean_b, sd_b, mean, sd: (
            log(sd_b) - log(sd) + (sd**2 + (mean - mean_b) ** 2) / (2.0 * sd_b**2) - 0.5
        ),
    }

    def _sample(self, shape: tuple[int, ...], mean: Any, sd: Any) -> Any:
        return mean + sd * _drawn(randn, shape, mean, sd)


class LogNormal(Normal, shows=("LogNormal(0.0, 1.0).cdf(weft.Tensor(1.0))", "0.5")):
    """The distribution of what the logarithm is normally distributed.

    Args:
        loc: the mean of the logarithm: a number, a Tensor, or None where each call gives it.
        scale: its standard deviation, positive: likewise.
    """

    @_of_signature
    def __init__(
        self, loc: Any = None, scale: Any = None, seed: Any = None, dtype: Any = None, name: str = "LogNormal"
    ) -> None: ...

    _formulas = {
        "log_prob": lambda value, mean, sd: Normal._formulas["log_prob"](log(value), mean, sd) - log(value),
        "cdf": lambda value, mean, sd: Normal._formulas["cdf"](log(value), mean, sd),
        "mean": lambda mean, sd: exp(mean + sd**2 / 2.0),
        "mode": lambda mean, sd: exp(mean - sd**2),
        "sd": lambda mean, sd: exp(mean + sd**2 / 2.0) * (exp(sd**2) - 1.0).sqrt(),
        "entropy": lambda mean, sd: Normal._formulas["entropy"](mean, sd) + mean,
    }

    def _sample(self, shape: tuple[int, ...], mean: Any, sd: Any) -> Any:
        return exp(super()._sample(shape, mean, sd))


class Laplace(
    _TwoNumbers, taken=("mean", "sd"), above_zero=("sd",), shows=("Laplace(0.0, 1.0).prob(weft.Tensor(0.0))", "0.5")
):
    """The Laplace distribution.

    Args:
        sd: the scale, positive: likewise.
    """

    _formulas = {"log_prob": lambda value, mean, sd: -absolute(value - mean) / sd - log(2.0 * sd)}


def _undefined(moment: str) -> Callable[..., Any]:
    def formula(*parameters: Any) -> Any:
        raise ValueError(f"{moment} is undefined for Cauchy distribution.")

    return formula


class Cauchy(_Located, shows=("Cauchy(0.0, 1.0).cdf(weft.Tensor(1.0))", "0.75")):
    """The Cauchy distribution.

    It has no mean and no variance: who asks for them gets a ValueError.

    Args:
        scale: half the width at half the height, positive: likewise.
    """

    _formulas = {
        "log_prob": lambda value, loc, scale: -math.log(math.pi) - log(scale) - log1p(((value - loc) / scale) ** 2),
        "cdf": lambda value, loc, scale: 0.5 + atan((value - loc) / scale) / math.pi,
        "mean": _undefined("mean"),
        "sd": _undefined("standard deviation"),
        "var": _undefined("variance"),
        "mode": lambda loc, scale: loc,
        "entropy": lambda loc, scale: log(scale) + math.log(4 * math.pi),
        "kl_loss": lambda loc_b, scale_b, loc, scale: log(
            ((scale + scale_b) ** 2 + (loc - loc_b) ** 2) / (4.0 * scale * scale_b)
        ),
    }

    def _sample(self, shape: tuple[int, ...], loc: Any, scale: Any) -> Any:
        return loc + scale * tan(math.pi * (_drawn(rand, shape, loc, scale) - 0.5))


class Logistic(_Located, shows=("Logistic(0.0, 1.0).cdf(weft.Tensor(0.0))", "0.5")):
    """The logistic distribution."""

    def _log_prob(self, value: Any, loc: Any, scale: Any) -> Any:
        z = (value - loc) / scale
        return -z - log(scale) - 2.0 * softplus(-z)

    _formulas = {
        "cdf": lambda value, loc, scale: sigmoid((value - loc) / scale),
        "mean": lambda loc, scale: loc,
        "mode": lambda loc, scale: loc,
        "sd": lambda loc, scale: scale * (math.pi / math.sqrt(3.0)),
        "entropy": lambda loc, scale: log(scale) + 2.0,
    }

    def _sample(self, shape: tuple[int, ...], loc: Any, scale: Any) -> Any:
        share = _drawn(rand, shape, loc, scale)
        return loc + scale * (log(share) - log1p(-share))


class Gumbel(_Located, shows=("round(Gumbel(0.0, 1.0).prob(weft.Tensor(0.0)).item(), 4)", "0.3679")):
    """The Gumbel distribution, of the largest of many numbers.

    Args:
        loc: the place of the peak: a number or a Tensor.
    """

    @_of_signature
    def __init__(self, loc: Any, scale: Any, seed: Any = 0, dtype: Any = None, name: str = "Gumbel") -> None: ...

    def _call(self, function: str, *args: Any, **kwargs: Any) -> Any:
        own = 2 if function == "kl_loss" else int(function in _OF_ONE)
        if self._has(function) and len(args) > own:
            raise TypeError(f"Gumbel.{function}: the parameters are given when the distribution is made")
        return super()._call(function, *args, **kwargs)

    def _kl_loss(self, loc_b: Any, scale_b: Any, loc: Any, scale: Any) -> Any:
        ratio = scale / scale_b
        apart = (loc - loc_b) / scale_b
        return apart - log(ratio) + float(np.euler_gamma) * (ratio - 1.0) + exp(lgamma(ratio + 1.0) - apart) - 1.0

    def _log_prob(self, value: Any, loc: Any, scale: Any) -> Any:
        z = (value - loc) / scale
        return -(z + exp(-z)) - log(scale)

    _formulas = {
        "cdf": lambda value, loc, scale: exp(-exp(-(value - loc) / scale)),
        "mean": lambda loc, scale: loc + scale * float(np.euler_gamma),
        "mode": lambda loc, scale: loc,
        "sd": lambda loc, scale: scale * (math.pi / math.sqrt(6.0)),
        "entropy": lambda loc, scale: log(scale) + (1.0 + float(np.euler_gamma)),
    }

    def _sample(self, shape: tuple[int, ...], loc: Any, scale: Any) -> Any:
        return loc - scale * log(-log(_drawn(rand, shape, loc, scale)))


class Uniform(_TwoNumbers, taken=("low", "high"), shows=("Uniform(0.0, 2.0).prob(weft.Tensor(1.0))", "0.5")):
    """The uniform distribution between two numbers.

    Args:
        low: the smaller: a number, a Tensor, or None where each call gives it.
        high: the larger, likewise.
    """

    def _made(self) -> None:
        first, last = self.default_parameters
        if first is not None and last is not None and not np.all(first.asnumpy() < last.asnumpy()):
            raise ValueError("Uniform: low must be less than high")

    _formulas = {
        "prob": lambda value, low, high: where((value >= low).logical_and(value <= high), 1.0 / (high - low), 0.0),
        "log_prob": lambda value, low, high: where(
            (value >= low).logical_and(value <= high), -log(high - low), -math.inf
        ),
        "cdf": lambda value, low, high: ((value - low) / (high - low)).clip(0.0, 1.0),
        "mean": lambda low, high: (low + high) / 2.0,
        "var": lambda low, high: (high - low) ** 2 / 12.0,
        "entropy": lambda low, high: log(high - low),
    }

    def _kl_loss(self, low_b: Any, high_b: Any, low: Any, high: Any) -> Any:
        found = log(high_b - low_b) - log(high - low)
        return where((low_b <= low).logical_and(high_b >= high), found, math.inf)

    def _sample(self, shape: tuple[int, ...], low: Any, high: Any) -> Any:
        return low + (high - low) * _drawn(rand, shape, low, high)


class Exponential(_Family, taken=("rate",), above_zero=("rate",), shows=("Exponential(2.0).mean()", "0.5")):
    """The exponential distribution."""

    _formulas = {
        "log_prob": lambda value, rate: where(value >= 0.0, log(rate) - rate * value, -math.inf),
        "cdf": lambda value, rate: where(value >= 0.0, 1.0 - exp(-rate * value), 0.0),
        "log_survival": lambda value, rate: where(value >= 0.0, -rate * value, 0.0),
        "mean": lambda rate: 1.0 / rate,
        "sd": lambda rate: 1.0 / rate,
        "mode": lambda rate: rate * 0.0,
        "entropy": lambda rate: 1.0 - log(rate),
        "kl_loss": lambda rate_b, rate: log(rate) - log(rate_b) + rate_b / rate - 1.0,
    }

    def _sample(self, shape: tuple[int, ...], rate: Any) -> Any:
        return -log1p(-_drawn(rand, shape, rate)) / rate


class _OfProbability(_Family, taken=("probs",)):
    """Base of the distributions of one probability.

    Args:
        dtype: the element type of what is drawn.
    """

    _default = dtypes.int32

    def _made(self) -> None:
        (probs,) = self.default_parameters
        if probs is not None:
            values = probs.asnumpy()
            if not np.all((values > 0) & (values < 1)):
                raise ValueError(f"{type(self).__name__}: probs must be between 0 and 1")


class Bernoulli(_OfProbability, shows=("round(Bernoulli(0.25).prob(weft.Tensor(1.0)).item(), 4)", "0.25")):
    """Ones and zeros.

    Args:
        probs: the probability of ones: a number, a Tensor, or None where each call gives it.
    """

    _formulas = {
        "log_prob": lambda value, probs: value * log(probs) + (1.0 - value) * log1p(-probs),
        "cdf": lambda value, probs: where(value < 0.0, 0.0, where(value < 1.0, 1.0 - probs, 1.0)),
        "mean": lambda probs: probs,
        "var": lambda probs: probs * (1.0 - probs),
        "entropy": lambda probs: -(probs * log(probs) + (1.0 - probs) * log1p(-probs)),
        "kl_loss": lambda probs1_b, probs: (
            probs * (log(probs) - log(probs1_b)) + (1.0 - probs) * (log1p(-probs) - log1p(-probs1_b))
        ),
    }

    def _mode(self, probs: Any) -> Any:
        return (probs > 0.5).astype(self.dtype)

    def _sample(self, shape: tuple[int, ...], probs: Any) -> Any:
        return (_drawn(rand, shape, probs) < probs).astype(self.dtype)


class Geometric(_OfProbability, shows=("Geometric(0.5).prob(weft.Tensor(1.0))", "0.25")):
    """How many times something fails before it succeeds.

    Args:
        probs: the probability of success: a number, a Tensor, or None where each call gives it.
    """

    _formulas = {
        "prob": lambda value, probs: where(value >= 0.0, (1.0 - probs) ** value * probs, 0.0),
        "cdf": lambda value, probs: where(value >= 0.0, 1.0 - (1.0 - probs) ** (value + 1.0), 0.0),
        "mean": lambda probs: (1.0 - probs) / probs,
        "var": lambda probs: (1.0 - probs) / probs**2,
        "entropy": lambda probs: (-(1.0 - probs) * log1p(-probs) - probs * log(probs)) / probs,
        "kl_loss": lambda probs1_b, probs: (
            log(probs) - log(probs1_b) + (1.0 - probs) / probs * (log1p(-probs) - log1p(-probs1_b))
        ),
    }

    def _mode(self, probs: Any) -> Any:
        return (probs * 0.0).astype(self.dtype)

    def _sample(self, shape: tuple[int, ...], probs: Any) -> Any:
        drawn = log1p(-_drawn(rand, shape, probs)) / log1p(-probs)
        return drawn.floor().astype(self.dtype)


def _numbers(probs: Any) -> Any:
    """The numbers of the classes."""
    return Tensor(np.arange(probs.shape[-1]).astype(probs.dtype.np_dtype))


def _of_class(table: Any, value: Any) -> Any:
    """What stands in the last dimension of a table for the class of each value."""
    shape = np.broadcast_shapes(value.shape, table.shape[:-1])
    wide = table.broadcast_to((*shape, table.shape[-1]))
    places = value.astype(dtypes.int32).broadcast_to(shape)
    return gather_elements(wide, -1, places.reshape((*shape, 1))).reshape(shape)


class Categorical(_OfProbability, shows=("Categorical(weft.Tensor([0.25, 0.75])).prob(weft.Tensor([1]))", "[0.75]")):
    """Numbers of classes.

    Args:
        probs: the probabilities of the classes, in the last dimension: a Tensor, or None where each call gives it.
    """

    def _made(self) -> None:
        (probs,) = self.default_parameters
        if probs is not None:
            values = probs.asnumpy()
            if not values.ndim:
                raise TypeError("Categorical: probs must hold a probability for each class")
            if np.any(values < 0) or np.any(np.abs(values.sum(-1) - 1) > 1e-3):
                raise ValueError("Categorical: probs must not be negative, and their sum be 1")

    _formulas = {
        "prob": lambda value, probs: _of_class(probs, value),
        "cdf": lambda value, probs: _of_class(cumsum(probs, -1), value),
        "mean": lambda probs: (probs * _numbers(probs)).sum(-1, keepdims=True),
        "var": lambda probs: (probs * (_numbers(probs) - (probs * _numbers(probs)).sum(-1, keepdims=True)) ** 2).sum(
            -1, keepdims=True
        ),
        "entropy": lambda probs: -(probs * log(where(probs > 0.0, probs, 1.0))).sum(-1),
        "kl_loss": lambda probs_b, probs: (probs * (log(where(probs > 0.0, probs, 1.0)) - log(probs_b))).sum(-1),
    }

    def _mode(self, probs: Any) -> Any:
        return probs.argmax(-1).astype(self.dtype)

    def _sample(self, shape: tuple[int, ...], probs: Any) -> Any:
        drawn = random_categorical(log(probs).reshape((-1, probs.shape[-1])), int(np.prod(shape)))
        return drawn.transpose((1, 0)).reshape((*shape, *probs.shape[:-1])).astype(self.dtype)
