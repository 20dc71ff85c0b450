"""What a compiled function has."""

from __future__ import annotations

from typing import Any

from weft.jit import compiled_of


def entries(function: Any) -> int:
    """How many entries a compiled function, method or Cell's `construct` has, over all forms of calls."""
    compiled = compiled_of(function)
    assert compiled is not None, f"{function!r} is not compiled"
    return sum(map(len, compiled.entries.values()))
