"""What functions ask of their arguments, by name: ``ints("top_k", k=k)`` refuses what is no int."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Protocol

from weft import dtypes
from weft.core import Tensor
from weft.errors import NoTensor


class Check(Protocol):
    """Refuses arguments.

    Args:
        name: the function, for messages.
        given: the arguments by their names.
    """

    def __call__(self, name: str, /, **given: Any) -> None: ...


def _of(described: str, *classes: type, error: type[Exception] = TypeError) -> Check:
    """The check that arguments are of classes; a bool is no number."""

    def check(name: str, /, **given: Any) -> None:
        for what, value in given.items():
            if not isinstance(value, classes) or (value.__class__ is bool and bool not in classes):
                raise error(f"{name}: {what} must be {described}, not {type(value).__name__}")

    return check


bools = _of("a bool", bool)
ints = _of("an int", int)
floats = _of("a float", float)
#: ints and floats
reals = _of("a number", int, float)
strings = _of("a string", str)
tuples = _of("a tuple", tuple)
lists = _of("a list or tuple", list, tuple)
tensors = _of("a Tensor", Tensor, error=NoTensor)


def positive_ints(name: str, /, **given: Any) -> None:
    """Refuse what is no int, and ints below 1."""
    ints(name, **given)
    for what, value in given.items():
        if value < 1:
            raise ValueError(f"{name}: {what} must be positive, not {value}")


def float_tensors(name: str, /, **given: Any) -> None:
    """Refuse what is no tensor, and tensors of other elements than floats."""
    tensors(name, **given)
    for what, value in given.items():
        if not value.dtype.is_floating:
            raise TypeError(f"{name}: {what} must be a tensor of floats, not of {value.dtype}")


def need_shape(name: str, layout: str, x: Any, /) -> None:
    """Refuse what is no tensor, and one without the dimensions of a layout such as ``"(N, C, H, W)"``."""
    tensors(name, **{"the input": x})
    if x.ndim != layout.count(",") + 1:
        raise ValueError(f"{name}: the input must have the shape {layout}, not {x.shape}")


def index_types(name: str, /, **given: Any) -> None:
    """Refuse what is none of the element types of positions."""
    for what, value in given.items():
        if value not in (dtypes.int32, dtypes.int64):
            raise TypeError(f"{name}: {what} must be int32 or int64, not {value}")


def one_of(name: str, choices: Collection[Any], /, **given: Any) -> None:
    """Refuse what is none of some values."""
    for what, value in given.items():
        if value not in choices:
            *others, last = [repr(each) for each in choices]
            raise ValueError(f"{name}: {what} must be {', '.join(others)} or {last}, not {value!r}")


def only(name: str, wanted: Any, /, **given: Any) -> None:
    """Refuse other values than the one that is supported."""
    for what, value in given.items():
        if value != wanted:
            raise ValueError(f"{name}: {what} must be {wanted!r}, not {value!r}")


def optional_tensors(name: str, /, **given: Any) -> None:
    """Refuse what is neither a tensor nor None."""
    tensors(name, **{what: value for what, value in given.items() if value is not None})


def no_generator(name: str, generator: Any) -> None:
    """Refuse a generator where one can be given in MindSpore."""
    if generator is not None:
        raise NotImplementedError(f"{name}: random numbers follow set_seed; generator must be None")
