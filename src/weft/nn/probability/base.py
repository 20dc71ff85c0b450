"""Distribution: what all distributions share, and what of one function another is computed from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Final

import numpy as np

from weft import dtypes
from weft.core import Tensor, described
from weft.core.describing import told
from weft.nn.cell import Cell
from weft.ops._checks import strings
from weft.ops.elementwise import exp, log

_FUNCTIONS = (
    *("prob", "log_prob", "cdf", "log_cdf", "survival_function", "log_survival", "mean", "sd", "var", "mode"),
    *("entropy", "kl_loss", "cross_entropy", "sample"),
)

#: those that take values
_OF_VALUE = frozenset({"prob", "log_prob", "cdf", "log_cdf", "survival_function", "log_survival"})

#: what functions are computed of where a distribution does not define them, and how
_OF_OTHERS: Final[dict[str, tuple[str, Callable[[Any], Any]]]] = {
    "prob": ("log_prob", exp),
    "log_prob": ("prob", log),
    "log_cdf": ("cdf", log),
    "survival_function": ("cdf", lambda cdf: 1.0 - cdf),
    "log_survival": ("survival_function", log),
    "sd": ("var", lambda var: var.sqrt()),
    "var": ("sd", lambda sd: sd**2),
}  # fmt: skip

_described = described(
    value="the values.", args="parameters of the distribution for this call.", kwargs="likewise, by name."
)


def computing(name: str, what: str, of_values: bool = True) -> Any:
    """A method that computes a function, of values or of nothing but parameters.

    Args:
        name: of the function.
        what: the docstring, but for what the arguments are.
        of_values: which of them.
    """

    def of_them(self: Any, value: Any, *args: Any, **kwargs: Any) -> Any:
        return self._computed(name, value, *args, **kwargs)

    def of_parameters(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self._computed(name, *args, **kwargs)

    return told(of_them if of_values else of_parameters, name, what)


def parameter(name: str, what: str, value: Any, dtype: Any) -> Tensor:
    """A parameter as a tensor.

    Args:
        name: of the distribution or bijector.
        what: the parameter.
        value: the parameter as it was given.
        dtype: the element type, if it is no tensor yet.

    Raises:
        TypeError: it is no number.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, list, tuple, np.ndarray, np.generic, Tensor)):
        raise TypeError(f"{name}: {what} must be a number or a Tensor, not {type(value).__name__}")
    return value if isinstance(value, Tensor) else Tensor(np.asarray(value), dtype)


_described_of_two = described(
    dist="the name of the kind.",
    args="the parameters of the other, then those of this one for this call.",
    kwargs="likewise, by name.",
)


class Distribution(Cell):
    """Base of the distributions: a subclass defines some of `_prob`, `_log_prob`, `_cdf`, `_mean`, `_sd`, `_sample`...

    Args:
        seed: kept: numbers are drawn from the program's stream.
        dtype: the element type of what is computed.
        name: the name.
        param: the arguments of the subclass, kept as `parameters`.

    Raises:
        TypeError: `name` is no text.

    Example:
        >>> import weft
        >>> class Triangle(Distribution):
        ...     def __init__(self):
        ...         super().__init__(0, weft.float32, "Triangle", {})
        ...     def _prob(self, value):
        ...         return 2.0 * value
        >>> print(round(Triangle().log_prob(weft.Tensor(0.5)).item(), 4))
        0.0
    """

    #: names of the parameters of the distribution
    taken: ClassVar[tuple[str, ...]] = ()

    def __init__(self, seed: Any = None, dtype: Any = None, name: str = "Distribution", param: Any = None) -> None:
        super().__init__()
        strings(type(self).__name__, name=name)
        self.seed = 0 if seed is None else seed
        self.dtype = dtypes.float32 if dtype is None else dtype
        self.distribution_name = name
        self.parameters = dict(param or {})
        #: the parameters as tensors; None for one that each call gives
        self.default_parameters: list[Any] = [self._tensor(self.parameters.get(each)) for each in self.taken]

    @property
    def name(self) -> str:
        """The name."""
        return self.distribution_name

    @property
    def batch_shape(self) -> Any:
        """The shape of the parameters; None where each call gives some."""
        if any(each is None for each in self.default_parameters):
            return None
        return np.broadcast_shapes(*[each.shape for each in self.default_parameters])

    def _tensor(self, value: Any) -> Any:
        if value is None or isinstance(value, Tensor):
            return self._typed(value)
        dtype = self.dtype if self.dtype.is_floating else dtypes.float32
        return parameter(type(self).__name__, "a parameter", value, dtype)

    def _refuse_numbers(self, given: tuple[Any, ...]) -> None:
        """Refuse what a call gives as a parameter and is no tensor."""
        for value in given:
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"{type(self).__name__}: a parameter of a call must be a Tensor, not {type(value).__name__}"
                )

    def _given(self, given: tuple[Any, ...]) -> list[Any]:
        """The parameters of a call: those that it gives, else those of the distribution."""
        self._refuse_numbers(given)
        found = []
        for place, default in enumerate(self.default_parameters):
            value = self._tensor(given[place]) if place < len(given) and given[place] is not None else default
            if value is None:
                raise ValueError(f"{type(self).__name__}: {self.taken[place]} must be given, here or when it is made")
            found.append(value)
        return found

    def _whole(self, value: Any, parameters: list[Any]) -> Any:
        """A result in the shape of all parameters."""
        shape = np.broadcast_shapes(*[each.shape for each in parameters])
        return value if value.shape == shape else value.broadcast_to(shape)

    def _call(self, function: str, *args: Any, **kwargs: Any) -> Any:
        own = getattr(self, f"_{function}", None)
        if own is None:
            raise NotImplementedError(f"{function} is not implemented for {type(self).__name__} distribution.")
        if function in _OF_VALUE and args:
            args = (self._typed(args[0]), *args[1:])
        return own(*args, **kwargs)

    def _typed(self, value: Any) -> Any:
        """Floats in the element type of what is computed."""
        floats = isinstance(value, Tensor) and value.dtype.is_floating and self.dtype.is_floating
        return value.astype(self.dtype) if floats and value.dtype is not self.dtype else value

    def _has(self, function: str) -> bool:
        return hasattr(self, f"_{function}")

    def _computed(self, function: str, *args: Any, **kwargs: Any) -> Any:
        """What a function gives, by the distribution's own or by that which it follows from."""
        other, convert = _OF_OTHERS.get(function, ("", None))
        of_each_other = _OF_OTHERS.get(other, ("",))[0] == function
        if convert is None or self._has(function) or (of_each_other and not self._has(other)):
            return self._call(function, *args, **kwargs)
        return convert(getattr(self, other)(*args, **kwargs))

    prob = _described(computing("prob", "The probability, or its density, of values."))
    log_prob = _described(computing("log_prob", "The logarithm of `prob`."))
    cdf = _described(computing("cdf", "The probability of values at most as large."))
    log_cdf = _described(computing("log_cdf", "The logarithm of `cdf`."))
    survival_function = _described(computing("survival_function", "The probability of larger values."))
    log_survival = _described(computing("log_survival", "The logarithm of `survival_function`."))
    mean = _described(computing("mean", "The mean.", False))
    mode = _described(computing("mode", "The value of the largest probability.", False))
    sd = _described(computing("sd", "The standard deviation.", False))
    var = _described(computing("var", "The variance.", False))
    entropy = _described(computing("entropy", "The mean of minus `log_prob`.", False))

    @_described_of_two
    def kl_loss(self, dist: str, *args: Any, **kwargs: Any) -> Any:
        """How far this distribution is from another one of the same kind (Kullback-Leibler).

        Raises:
            ValueError: `dist` is another kind.
        """
        if dist != type(self).__name__:
            raise ValueError(f"{type(self).__name__}.kl_loss: the other distribution must be one, too, not {dist!r}")
        if self._has("kl_loss"):
            self._refuse_numbers((*args, *kwargs.values()))
        return self._call("kl_loss", *args, **kwargs)

    @_described_of_two
    def cross_entropy(self, dist: str, *args: Any, **kwargs: Any) -> Any:
        """`entropy` and `kl_loss` together."""
        own = args[len(self.taken) :]
        return self.entropy(*own) + self.kl_loss(dist, *args, **kwargs)

    @_described
    def sample(self, shape: Any = (), *args: Any, **kwargs: Any) -> Any:
        """Numbers by chance.

        Args:
            shape: the shape, before that of the parameters.
        """
        return self._call("sample", tuple(shape), *args, **kwargs)

    def get_dist_args(self, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The parameters of a call: those that it gives, else those of the distribution.

        Args:
            args: parameters.
            kwargs: likewise, by name.
        """
        return tuple(self._given((*args, *[kwargs.get(each) for each in self.taken[len(args) :]])))

    def construct(self, name: str, *args: Any, **kwargs: Any) -> Any:
        if name not in _FUNCTIONS:
            raise NotImplementedError(f"{type(self).__name__}: {name!r} is none of {', '.join(_FUNCTIONS)}")
        return getattr(self, name)(*args, **kwargs)
