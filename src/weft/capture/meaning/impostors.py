"""Objects that stand for the program's where Python itself is to raise an error or to check a result."""

from __future__ import annotations

from typing import Any

from weft.capture.meaning.iterators import refuse_look
from weft.capture.meaning.ranges import SymbolicRange
from weft.capture.python.packages import is_heap_type
from weft.core.tensor import Tensor
from weft.errors import Refusal, Unsupported


def impostor(obj: Any, **methods: Any) -> Any:
    """An object of a class of the same name that has these methods only: for messages and checks of native code."""
    made: Any = type(type(obj).__name__, (), methods)()
    return made


def impostor_of(iterator: Any) -> Any:
    """An object of a class named like that which one of the capture's own iterators stands for."""
    if type(iterator) is SymbolicRange:  # which has methods
        refuse_look(iterator, "a look")
    made: Any = type(iterator.stands_for.__name__, (), {})()
    return made


def unsupported_operands(function: Any, *operands: Any) -> Any:
    """Raise Python's own error for operands whose special methods all returned `NotImplemented`."""
    function(*[impostor(o) if is_heap_type(type(o)) and not isinstance(o, Tensor) else o for o in operands])
    raise Unsupported(
        Refusal.UNSUPPORTED_SYNTAX, f"no special method accepts {' and '.join(type(o).__name__ for o in operands)}"
    )
