"""What a compiled function has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.jit import compiled_of, jit


def compiler(mode: str) -> Callable[[Any], Any]:
    """What compiles functions: "PIJit" in that mode, "auto" by default; "eager" leaves them as they are."""
    if mode == "eager":
        return lambda function: function
    return lambda function: jit(function, mode="PIJit") if mode == "PIJit" else jit(function)


def entries(function: Any) -> int:
    """How many entries a compiled function, method or Cell's `construct` has, over all forms of calls."""
    compiled = compiled_of(function)
    assert compiled is not None, f"{function!r} is not compiled"
    return sum(map(len, compiled.entries.values()))
