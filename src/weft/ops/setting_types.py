"""The classes of settings that operator classes take: ``Stack("x")`` is refused where it is made."""

from __future__ import annotations

import functools
import inspect
from types import NoneType
from typing import Any, Final

from weft.core import OPERATOR_CLASSES, Tensor

#: operator class -> a setting, and the classes of its values
TAKEN: Final[dict[str, tuple[str, tuple[type, ...]]]] = {
    "BroadcastTo": ("shape", (tuple, list, Tensor, NoneType)),
    "MaxPool": ("kernel_size", (int, tuple)),
    "Pad": ("paddings", (tuple,)),
    "Softmax": ("axis", (int, tuple, NoneType)),
    "Squeeze": ("axis", (int, tuple, list, NoneType)),
    "Stack": ("axis", (int,)),
}


def attach() -> None:
    """Have the constructors of the table refuse other classes."""
    for name, (setting, classes) in TAKEN.items():
        cls: Any = OPERATOR_CLASSES[name]
        cls.__init__ = _checking(cls.__init__, name, setting, classes)


def _checking(constructor: Any, name: str, setting: str, classes: tuple[type, ...]) -> Any:
    at = list(inspect.signature(constructor).parameters).index(setting)

    @functools.wraps(constructor)
    def checked(*args: Any, **kwargs: Any) -> None:
        given = args[at] if at < len(args) else kwargs.get(setting, classes)
        if given is not classes and (isinstance(given, bool) or not isinstance(given, classes)):
            taken = " or ".join(each.__name__ for each in classes)
            raise TypeError(f"{name}: {setting} must be {taken}, not {type(given).__name__}")
        constructor(*args, **kwargs)

    return checked
