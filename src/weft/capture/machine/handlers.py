"""The table of instruction handlers: canonical instruction name -> function of interpreter, frame and instruction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from weft.capture.code.instructions import Instr
from weft.capture.state.frame import Frame

HANDLERS: Final[dict[str, Callable[[Any, Frame, Instr], Any]]] = {}


def handles(*names: str) -> Callable[[Any], Any]:
    """Register a handler under names of instructions."""

    def register(function: Any) -> Any:
        for name in names:
            if name in HANDLERS:
                raise ValueError(f"two handlers for {name}")
            HANDLERS[name] = function
        return function

    return register
