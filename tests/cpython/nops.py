"""Code with instructions that do nothing inserted at random: no result may change."""

from __future__ import annotations

import functools
import types
from random import Random
from typing import Any

from bytecode import Bytecode, Instr

#: instructions that must directly precede the next one
_BOUND_TO_NEXT = frozenset(
    {"KW_NAMES", "PRECALL", "CACHE", "EXTENDED_ARG", "COPY_FREE_VARS", "MAKE_CELL", "END_FOR", "YIELD_VALUE"}
)
#: instructions that jumps skip: FOR_ITER and SEND know that they are at the target
_SKIPPED = frozenset({"END_FOR", "END_SEND"})


def code_with_nops(code: types.CodeType, random: Random, share: float = 0.3) -> types.CodeType:
    """The same code, and the code inside it, with NOPs.

    Args:
        code: the code.
        random: where all choices come from.
        share: chance of a NOP before each instruction.

    Returns:
        Code that does the same.
    """
    instrs = Bytecode.from_code(code)
    made: list[Any] = []
    free = False
    for item in instrs:
        if isinstance(item, Instr):
            if free and item.name not in _SKIPPED and random.random() < share:
                made.append(Instr("NOP", location=item.location))
            free = item.name not in _BOUND_TO_NEXT and (free or item.name == "RESUME")
            if isinstance(item.arg, types.CodeType):
                item = Instr(item.name, code_with_nops(item.arg, random, share), location=item.location)
        made.append(item)
    instrs[:] = made
    return instrs.to_code()


def with_nops(function: Any, random: Random, share: float = 0.3) -> Any:
    """A function like another, its code with NOPs."""
    if not isinstance(function, types.FunctionType):
        return function
    made = types.FunctionType(
        code_with_nops(function.__code__, random, share),
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    made.__kwdefaults__ = function.__kwdefaults__
    functools.update_wrapper(made, function)
    del made.__wrapped__
    return made
