"""Bijectors: functions with an inverse and a known derivative, which make distributions of others."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft import dtypes
from weft.core import Tensor, described
from weft.nn.cell import Cell
from weft.nn.declared import Described
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

    def _parameter(self, what: str, value: Any, positive: bool = False) -> Tensor:
        """A parameter as a tensor."""
        if isinstance(value, bool) or not isinstance(value, (int, float, list, tuple, np.ndarray, np.generic, Tensor)):
            raise TypeError(f"{type(self).__name__}: {what} must be a number or a Tensor, not {type(value).__name__}")
        made = value if isinstance(value, Tensor) else Tensor(np.asarray(value), self._parameter_type)
        if positive and not np.all(made.asnumpy() > 0):
            raise ValueError(f"{type(self).__name__}: {what} must be positive")
        return made

    def _call(self, function: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(value, Tensor):
            raise TypeError(f"{type(self).__name__}.{function} takes a Tensor, not {type(value).__name__}")
        own = getattr(self, f"_{function}", None)
        if own is not None:
            return own(value, *args, **kwargs)
        if function == "inverse_log_jacobian":
            return -self._call("forward_log_jacobian", self.inverse(value, *args, **kwargs), *args, **kwargs)
        raise NotImplementedError(f"{function} is not implemented for {type(self).__name__} bijector.")

    @_described
    def forward(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """The images of values."""
        return self._call("forward", value, *args, **kwargs)

    @_described
    def inverse(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """What has the values as images."""
        return self._call("inverse", value, *args, **kwargs)

    @_described
    def forward_log_jacobian(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """The logarithm of the size of the derivative at values."""
        return self._call("forward_log_jacobian", value, *args, **kwargs)

    @_described
    def inverse_log_jacobian(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """The logarithm of the size of the derivative of the inverse at values."""
        return self._call("inverse_log_jacobian", value, *args, **kwargs)

    def construct(self, name: str, *args: Any, **kwargs: Any) -> Any:
        if name not in _FUNCTIONS:
            raise ValueError(f"{type(self).__name__}: {name!r} is none of {', '.join(_FUNCTIONS)}")
        return getattr(self, name)(*args, **kwargs)


class PowerTransform(Bijector, shows=("PowerTransform(0.5).forward(Tensor([2.0]))", "[4.]")):
    """``(1 + x * power) ** (1 / power)``; the exponential for power 0.

    Args:
        power: the power, at least 0.
        name: the name.

    Raises:
        TypeError: `power` is an int.
        ValueError: `power` is negative.
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

    def _forward(self, x: Any) -> Any:
        return exp(x) if self._is_exponential else exp(log1p(x * self.power) / self.power)

    def _inverse(self, y: Any) -> Any:
        return log(y) if self._is_exponential else expm1(log(y) * self.power) / self.power

    def _forward_log_jacobian(self, x: Any) -> Any:
        return x if self._is_exponential else (1.0 / self.power - 1.0) * log1p(x * self.power)

    def _inverse_log_jacobian(self, y: Any) -> Any:
        return (self.power - 1.0) * log(y)


class Exp(PowerTransform, shows=("Exp().forward(Tensor([0.0]))", "[1.]")):
    """The exponential."""

    def __init__(self, name: str = "Exp") -> None:
        super().__init__(0.0, name)


class ScalarAffine(Bijector, shows=("ScalarAffine(2.0, 1.0).forward(Tensor([3.0]))", "[7.]")):
    """``scale * x + shift``.

    Args:
        scale: the scale, not 0.
        shift: the shift.
        name: the name.

    Raises:
        ValueError: `scale` is 0.
    """

    def __init__(self, scale: Any = 1.0, shift: Any = 0.0, name: str = "ScalarAffine") -> None:
        super().__init__(True, True, name, None, {"scale": scale, "shift": shift})
        self.scale = self._parameter("scale", scale)
        self.shift = self._parameter("shift", shift)
        if np.any(self.scale.asnumpy() == 0):
            raise ValueError("ScalarAffine: scale must not be 0")

    def _forward(self, x: Any) -> Any:
        return self.scale * x + self.shift

    def _inverse(self, y: Any) -> Any:
        return (y - self.shift) / self.scale

    def _forward_log_jacobian(self, x: Any) -> Any:
        return log(absolute(self.scale))

    def _inverse_log_jacobian(self, y: Any) -> Any:
        return -log(absolute(self.scale))


class Softplus(Bijector, shows=("Softplus().forward(Tensor([0.0])).round(4)", "[0.6931]")):
    """``log(1 + exp(sharpness * x)) / sharpness``.

    Args:
        sharpness: the sharpness, not 0.
        name: the name.

    Raises:
        ValueError: `sharpness` is 0.
    """

    def __init__(self, sharpness: Any = 1.0, name: str = "Softplus") -> None:
        super().__init__(name=name, param={"sharpness": sharpness})
        self.sharpness = self._parameter("sharpness", sharpness)
        if np.any(self.sharpness.asnumpy() == 0):
            raise ValueError("Softplus: sharpness must not be 0")

    def _forward(self, x: Any) -> Any:
        return softplus(self.sharpness * x) / self.sharpness

    def _inverse(self, y: Any) -> Any:
        scaled = self.sharpness * y
        return (scaled + log(-expm1(-scaled))) / self.sharpness

    def _forward_log_jacobian(self, x: Any) -> Any:
        return -softplus(-self.sharpness * x)

    def _inverse_log_jacobian(self, y: Any) -> Any:
        return -log(-expm1(-self.sharpness * y))


class GumbelCDF(Bijector, shows=("round(GumbelCDF().inverse(Tensor(0.5)).item(), 4)", "0.3665")):
    """``exp(-exp(-(x - loc) / scale))``.

    Args:
        loc: the place.
        scale: the scale, positive.
        name: the name.

    Raises:
        ValueError: `scale` is not positive.
    """

    def __init__(self, loc: Any = 0.0, scale: Any = 1.0, name: str = "GumbelCDF") -> None:
        super().__init__(name=name, param={"loc": loc, "scale": scale})
        self.loc = self._parameter("loc", loc)
        self.scale = self._parameter("scale", scale, positive=True)

    def _forward(self, x: Any) -> Any:
        return exp(-exp(-(x - self.loc) / self.scale))

    def _inverse(self, y: Any) -> Any:
        return self.loc - self.scale * log(-log(y))

    def _forward_log_jacobian(self, x: Any) -> Any:
        z = (x - self.loc) / self.scale
        return -z - exp(-z) - log(self.scale)

    def _inverse_log_jacobian(self, y: Any) -> Any:
        return log(self.scale / (-log(y) * y))


class Invert(Bijector, shows=("Invert(Exp()).forward(Tensor([1.0]))", "[0.]")):
    """The inverse of a bijector.

    Args:
        bijector: the bijector.
        name: the name; empty for ``"Invert"`` and that of the bijector.

    Raises:
        TypeError: `bijector` is none.
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

    def _forward(self, x: Any) -> Any:
        return self._bijector.inverse(x)

    def _inverse(self, y: Any) -> Any:
        return self._bijector.forward(y)

    def _forward_log_jacobian(self, x: Any) -> Any:
        return self._bijector.inverse_log_jacobian(x)

    def _inverse_log_jacobian(self, y: Any) -> Any:
        return self._bijector.forward_log_jacobian(y)
