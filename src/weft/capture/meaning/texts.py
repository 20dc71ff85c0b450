"""Texts that native code makes: `str`, `repr`, `format`, `%` and `str.format` over values of the captured program.

A text with the value of a tensor is completed when the graph runs, see `weft.capture.state.lazytext`.
"""

from __future__ import annotations

import re
import string
from typing import TYPE_CHECKING, Any, Final

from weft.capture.state.lazytext import Holes, needs_characters
from weft.core.run_number import settled

if TYPE_CHECKING:
    from weft.capture.meaning.parts import Machine

#: a conversion of `%` with its flags, width and precision
_CONVERSION: Final = re.compile(r"%(?:\([^)]*\))?([#0\- +]*)(\*|\d*)((?:\.(?:\*|\d*))?)[hlL]?(.)", re.DOTALL)


def texted(machine: Machine, values: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
    """Call native code that makes a text of its arguments; one with tensors in it is completed by the graph.

    Args:
        machine: the interpreter.
        values: what it compares, hashes or shows.
        function: the native code, which does not look at the texts that it puts together.
        args: its positional arguments.
        kwargs: its keyword arguments.
    """
    for value in args:
        machine.sources.inside(value)
    with Holes() as holes:
        made = machine.native.call(values, function, *args, **kwargs)
    return holes.complete(made)


def percent(machine: Machine, function: Any, template: str, values: Any) -> Any:
    """``template % values``."""
    machine.sources.inside(values)
    if any("*" in field for field in _CONVERSION.findall(template)):  # which takes an int of Python's own
        values = settled(values)
    with Holes() as holes:
        made = machine.native.call((values,), function, template, values)
    if holes.parts:
        for _, width, precision, conversion in _CONVERSION.findall(template):
            if conversion == "a" or (conversion in "sr" and (width or precision)):
                raise needs_characters()
    return _shown(machine, holes.complete(made))


def format_text(machine: Machine, method: Any, template: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """``template.format(...)``."""
    for value in (*args, *kwargs.values()):
        machine.sources.inside(value)
    with Holes() as holes:
        made = machine.native.call([*args, *kwargs.values()], method, *args, **kwargs)
    if holes.parts and any(_is_measured(field) for field in string.Formatter().parse(template)):
        raise needs_characters()
    return _shown(machine, holes.complete(made))


def _shown(machine: Machine, text: Any) -> Any:
    """A text that does not show where objects of the capture are."""
    return machine.made_if_fresh(text) if type(text) is str else text


def _is_measured(field: tuple[Any, ...]) -> bool:
    """Whether a replacement field may look at the characters of a text that is put into it."""
    _, _, spec, conversion = field
    return conversion == "a" or bool(conversion and spec)
