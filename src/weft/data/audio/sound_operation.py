"""What operations on sound have in common: their arguments as rows, and which arrays they take."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np

from weft.data import checks
from weft.data.operation import Operation

NEEDED: Final = inspect.Parameter.empty


@dataclass(frozen=True, slots=True)
class Arg:
    """An argument of an operation.

    Args:
        kind: `int`, `float`, `bool`, another class, or an enumeration.
        default: what it is if not given; `NEEDED` where it must be.
        said: what a docstring says of it.
        low: the least number.
        high: the greatest number.
        above: whether the least number itself is refused.
        nonzero: whether 0 is refused.
    """

    kind: Any
    default: Any = NEEDED
    said: str = ""
    low: float = -float("inf")
    high: float = float("inf")
    above: bool = False
    nonzero: bool = False

    def checked(self, name: str, value: Any) -> Any:
        """The argument, which must be of the kind and between the bounds.

        Args:
            name: its name.
            value: its value.
        """
        if value is None and self.default is None:
            return None
        if self.kind not in (int, float):
            checks.of_type(value, self.kind, name)
            return value
        checks.of_type(value, (int, float) if self.kind is float else int, name)
        checks.within(value, self.low, self.high, name, without_low=self.above)
        if self.nonzero and value == 0:
            raise ValueError(f"Input {name} with value 0 is not within the required interval: it can not be zero.")
        return float(value) if self.kind is float else int(value)


def whole(default: Any, said: str, low: float = 0, **bounds: Any) -> Arg:
    """An argument that is an integer, not negative unless it is said."""
    return Arg(int, default, said, low, **bounds)


def real(default: Any, said: str, low: float = -float("inf"), high: float = float("inf"), above: bool = False) -> Arg:
    """An argument that is a number."""
    return Arg(float, default, said, low, high, above)


def flag(default: bool, said: str) -> Arg:
    """An argument that is true or false."""
    return Arg(bool, default, said)


def choice(default: Any, said: str) -> Arg:
    """An argument that is one of an enumeration."""
    return Arg(type(default), default, said)


def rate(default: Any = NEEDED) -> Arg:
    """The argument `sample_rate`."""
    return Arg(int, default, "samples a second.", nonzero=True)


class SoundOperation(Operation):
    """A step on sound: floats whose last dimension is time, unless it is said.

    A class says its arguments (`takes`) and what becomes of the samples (`changed`); its constructor and the list of
    arguments in its docstring are made of that.
    """

    takes: ClassVar[dict[str, Arg]] = {}
    #: how many dimensions the input has at least
    least: ClassVar[int] = 1
    #: whether the last dimension is of two: real and imaginary parts
    complex: ClassVar[bool] = False
    #: the element type of the result; None for that of the samples
    gives: ClassVar[type[np.floating[Any]] | None] = None
    #: whether integers are taken, too
    integers: ClassVar[bool] = True
    __signature__: ClassVar[inspect.Signature]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = [inspect.Parameter(name, kind, default=each.default) for name, each in cls.takes.items()]
        cls.__signature__ = inspect.Signature(parameters)
        if cls.__doc__ and cls.takes and "Args:" not in cls.__doc__ and not cls.__name__.startswith("_"):
            lines = "\n".join(f"        {name}: {each.said}" for name, each in cls.takes.items())
            cls.__doc__ += f"\n\n    Args:\n{lines}\n    "

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        try:
            bound = self.__signature__.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{type(self).__name__}: {error}") from None
        bound.apply_defaults()
        self.given = {name: self.takes[name].checked(name, value) for name, value in bound.arguments.items()}
        self.prepare(**self.given)

    def prepare(self, **given: Any) -> None:
        """Refuse arguments that do not go together, and make what all calls need of them."""

    def received(self, column: Any) -> Any:
        if not isinstance(column, np.ndarray):
            raise TypeError(f"{self.name}: the input should be a NumPy array, but got {type(column)}.")
        if column.dtype.kind not in ("biuf" if self.integers else "f"):
            raise self.wrong(f"the input should be numbers, but got element type {column.dtype.name}.")
        if column.ndim < self.least or (self.complex and column.shape[-1] != 2):
            raise self.wrong(f"the input has a shape that it cannot have: {column.shape}.")
        return column if column.dtype == np.float64 else column.astype(np.float32)

    def apply(self, *columns: Any) -> Any:
        found = self.changed(columns[0], **self.given)
        kind = columns[0].dtype if self.gives is None else self.gives
        if isinstance(found, tuple):
            return tuple([each.astype(kind, copy=False) for each in found])
        return found.astype(kind, copy=False)

    def changed(self, samples: Any, **given: Any) -> Any:
        """What becomes of the samples."""
        raise NotImplementedError


def clipped(samples: Any) -> Any:
    """Samples between -1 and 1."""
    return np.clip(samples, -1, 1)
