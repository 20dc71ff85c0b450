"""Bijectors: functions with an inverse and a known derivative, which make distributions of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from weft import dtypes
from weft.core import Tensor, described
from weft.nn.cell import Cell
from weft.nn.declared import Described
from weft.nn.probability.base import computing, parameter
from weft.ops.activation import softplus
from weft.ops.elementwise import abs as absolute
from weft.ops.elementwise import exp, expm1, log, log1p

__all__ = ["Bijector", "Exp", "GumbelCDF", "Invert", "PowerTransform", "ScalarAffine", "Softplus"]

_FUNCTIONS = ("forward", "inverse", "forward_log_jacobian", "inverse_log_jacobian")
_described = described(value="the values, a Tensor.", args="given on.", kwargs="given on.")


class Bijector(Described, Cell):
    """Base of the bijectors: a subclass defines `_forward`, `_inverse` and `_forward_log_jacobian`.

    Args:
        is_constant_jacobian: whether the derivative is a number.
        is_injective: whether no two values have the same image.
        name: the name; None for that of the class.
        dtype: the element type of the parameters.
        param: the arguments of the subclass, kept as `parameters`.

    Example:
        >>> class Twice(Bijector):
        ...     def __init__(self):
        ...         super().__init__(is_constant_jacobian=True)
        ...     def _forward(self, value):
        ...         return value * 2.0
        ...     def _inverse(self, value):
        ...         return value / 2.0
        >>> print(Twice().inverse(Tensor([4.0])))
        [2.]
    """

    _example = """
        >>> print({})
        {}
    """
    #: how functions are computed, by their names
    _formulas: ClassVar[dict[str, Callable[..., Any]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name, formula in cls.__dict__.get("_formulas", {}).items():
            setattr(cls, f"_{name}", formula)

    def __init__(
        self,
        is_constant_jacobian: bool = False,
        is_injective: bool = True,
        name: str | None = None,
        dtype: Any = None,
        param: Any = None,
    ) -> None:
        super().__init__()
        self._name = type(self).__name__ if name is None else name
        self._is_constant_jacobian = is_constant_jacobian
        self._is_injective = is_injective
        self._parameter_type = dtypes.float32 if dtype is None else dtype
        self.parameters = dict(param or {})

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    @property
    def is_constant_jacobian(self) -> bool:
        """Whether the derivative is a number."""
        return self._is_constant_jacobian

    @property
    def is_injective(self) -> bool:
        """Whether no two values have the same image."""
        return self._is_injective

    def _computed(self, function: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(value, Tensor):
            raise TypeError(f"{type(self).__name__}.{function} takes a Tensor, not {type(value).__name__}")
        own = getattr(self, f"_{function}", None)
        if own is not None:
            return own(value, *args, **kwargs)
        if function == "inverse_log_jacobian":
            return -self._computed("forward_log_jacobian", self.inverse(value, *args, **kwargs), *args, **kwargs)
        raise NotImplementedError(f"{function} is not implemented for {type(self).__name__} bijector.")

    forward = _described(computing("forward", "The images of values."))
    inverse = _described(computing("inverse", "What has the values as images."))
    forward_log_jacobian = _described(
        computing("forward_log_jacobian", "The logarithm of the size of the derivative at values.")
    )
    inverse_log_jacobian = _described(
        computing("inverse_log_jacobian", "The logarithm of the size of the derivative of the inverse at values.")
    )

    def construct(self, name: str, *args: Any, **kwargs: Any) -> Any:
        if name not in _FUNCTIONS:
            raise ValueError(f"{type(self).__name__}: {name!r} is none of {', '.join(_FUNCTIONS)}")
        return getattr(self, name)(*args, **kwargs)


class _OfArguments(Bijector):
    """Base of the bijectors below.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: a number is out of range.
    """

    def _parameter(self, what: str, value: Any) -> Tensor:
        return parameter(type(self).__name__, what, value, self._parameter_type)

    def _not_zero(self, what: str, value: Any) -> Tensor:
        made = self._parameter(what, value)
        if np.any(made.asnumpy() == 0):
            raise ValueError(f"{type(self).__name__}: {what} must not be 0")
        return made


class PowerTransform(_OfArguments, shows=("PowerTransform(0.5).forward(Tensor([2.0]))", "[4.]")):
    """``(1 + x * power) ** (1 / power)``; the exponential for power 0.

    Args:
        power: the power, a float of at least 0.
    """

    def __init__(self, power: Any = 0.0, name: str = "PowerTransform") -> None:
        super().__init__(name=name, param={"power": power})
        if isinstance(power, int):
            raise TypeError(f"PowerTransform: power must be a float, not {type(power).__name__}")
        self.power = self._parameter("power", power)
        values = self.power.asnumpy()
        if np.any(values < 0):
            raise ValueError("PowerTransform: power must not be negative")
        if np.any(values == 0) and not np.all(values == 0):
            raise ValueError("PowerTransform: some of the powers are 0 and some are not")
        self._is_exponential = bool(np.all(values == 0))

    _formulas = {
        "forward": lambda self, x: exp(x) if self._is_exponential else exp(log1p(x * self.power) / self.power),
        "inverse": lambda self, y: log(y) if self._is_exponential else expm1(log(y) * self.power) / self.power,
        "forward_log_jacobian": lambda self, x: (
            x if self._is_exponential else (1.0 / self.power - 1.0) * log1p(x * self.power)
        ),
        "inverse_log_jacobian": lambda self, y: (self.power - 1.0) * log(y),
    }


class Exp(PowerTransform, shows=("Exp().forward(Tensor([0.0]))", "[1.]")):
    """The exponential."""

    def __init__(self, name: str = "Exp") -> None:
        super().__init__(0.0, name)


class ScalarAffine(_OfArguments, shows=("ScalarAffine(2.0, 1.0).forward(Tensor([3.0]))", "[7.]")):
    """``scale * x + shift``.

    Args:
        scale: the scale, not 0.
        shift: the shift.
    """

    def __init__(self, scale: Any = 1.0, shift: Any = 0.0, name: str = "ScalarAffine") -> None:
        super().__init__(True, True, name, None, {"scale": scale, "shift": shift})
        self.scale, self.shift = self._not_zero("scale", scale), self._parameter("shift", shift)

    _formulas = {
        "forward": lambda self, x: self.scale * x + self.shift,
        "inverse": lambda self, y: (y - self.shift) / self.scale,
        "forward_log_jacobian": lambda self, x: log(absolute(self.scale)),
        "inverse_log_jacobian": lambda self, y: -log(absolute(self.scale)),
    }


class Softplus(_OfArguments, shows=("Softplus().forward(Tensor([0.0])).round(4)", "[0.6931]")):
    """``log(1 + exp(sharpness * x)) / sharpness``.

    Args:
        sharpness: the sharpness, not 0.
    """

    def __init__(self, sharpness: Any = 1.0, name: str = "Softplus") -> None:
        super().__init__(name=name, param={"sharpness": sharpness})
        self.sharpness = self._not_zero("sharpness", sharpness)

    _formulas = {
        "forward": lambda self, x: softplus(self.sharpness * x) / self.sharpness,
        "inverse": lambda self, y: y + log(-expm1(-self.sharpness * y)) / self.sharpness,
        "forward_log_jacobian": lambda self, x: -softplus(-self.sharpness * x),
        "inverse_log_jacobian": lambda self, y: -log(-expm1(-self.sharpness * y)),
    }


class GumbelCDF(_OfArguments, shows=("round(GumbelCDF().inverse(Tensor(0.5)).item(), 4)", "0.3665")):
    """``exp(-exp(-(x - loc) / scale))``.

    Args:
        loc: the place.
        scale: the scale, positive.
    """

    def __init__(self, loc: Any = 0.0, scale: Any = 1.0, name: str = "GumbelCDF") -> None:
        super().__init__(name=name, param={"loc": loc, "scale": scale})
        self.loc, self.scale = self._parameter("loc", loc), self._parameter("scale", scale)
        if not np.all(self.scale.asnumpy() > 0):
            raise ValueError("GumbelCDF: scale must be positive")

    def _forward_log_jacobian(self, x: Any) -> Any:
        z = (x - self.loc) / self.scale
        return -z - exp(-z) - log(self.scale)

    _formulas = {
        "forward": lambda self, x: exp(-exp(-(x - self.loc) / self.scale)),
        "inverse": lambda self, y: self.loc - self.scale * log(-log(y)),
        "inverse_log_jacobian": lambda self, y: log(self.scale / (-log(y) * y)),
    }


class Invert(_OfArguments, shows=("Invert(Exp()).forward(Tensor([1.0]))", "[0.]")):
    """The inverse of a bijector.

    Args:
        bijector: the bijector.
        name: the name; empty for ``"Invert"`` and that of the bijector.
    """

    def __init__(self, bijector: Bijector, name: str = "") -> None:
        if not isinstance(bijector, Bijector):
            raise TypeError(f"Invert takes a Bijector, not {type(bijector).__name__}")
        super().__init__(
            bijector.is_constant_jacobian, bijector.is_injective, name or f"Invert{bijector.name}", None, {}
        )
        self._bijector = bijector

    @property
    def bijector(self) -> Bijector:
        """The bijector."""
        return self._bijector

    _formulas = {
        "forward": lambda self, x: self.bijector.inverse(x),
        "inverse": lambda self, y: self.bijector.forward(y),
        "forward_log_jacobian": lambda self, x: self.bijector.inverse_log_jacobian(x),
        "inverse_log_jacobian": lambda self, y: self.bijector.forward_log_jacobian(y),
    }
