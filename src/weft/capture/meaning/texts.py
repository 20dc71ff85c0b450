"""Texts that native code makes: `str`, `repr`, `format`, `%` and `str.format` over values of the captured program.

A text with the value of a tensor is completed when the graph runs, see `weft.capture.state.lazytext`.
"""

from __future__ import annotations

import re
import string
from _string import formatter_field_name_split  # type: ignore[import-not-found]
from typing import TYPE_CHECKING, Any, Final

from weft.capture.state.lazytext import Holes, LazyText, needs_characters
from weft.core.run_number import settled
from weft.errors import Refusal, Unsupported

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
    fields = _CONVERSION.findall(template)
    if any("*" in width + precision for _, width, precision, _ in fields):  # which takes an int of Python's own
        values = settled(values)
    with Holes() as holes:
        made = machine.native.call((values,), function, template, values)
    if holes.parts:
        for _, width, precision, conversion in fields:
            if conversion == "a" or (conversion in "sr" and (width or precision)):
                raise needs_characters()
    return _shown(machine, holes.complete(made))


#: what no method of the user's shows
_TEXTS: Final = frozenset({str, bool, int, float, type(None)})


def format_text(machine: Machine, method: Any, template: str, args: list[Any], kwargs: dict[str, Any] | None) -> Any:
    """``template.format(...)``, or `format_map` of the one argument: each field is filled as in an f-string."""
    plain = kwargs is not None and _TEXTS.issuperset(map(type, (*args, *kwargs.values())))
    if plain or not _BRACES.intersection(str.__iter__(template)):  # it is then what it is
        return machine.native.call(args, method, *args, **(kwargs or {}))
    try:
        return _Fields(machine, args, kwargs).filled(template)
    except _Malformed:
        machine.native.call([*args, *(kwargs or {}).values()], method, *args, **(kwargs or {}))  # Python's own error
        raise Unsupported(Refusal.UNSUPPORTED_SYNTAX, "this template of str.format() is not understood") from None


class _Malformed(Exception):
    """A template, or what is given for it, is not as it must be."""


class _Fields:
    """The replacement fields of one call of `str.format`, or of `format_map` where nothing is given by name."""

    def __init__(self, machine: Machine, args: list[Any], kwargs: dict[str, Any] | None) -> None:
        self.machine, self.args, self.kwargs = machine, args, kwargs
        #: how many fields without a name there were; None where they have numbers
        self.automatic: int | None = 0

    def filled(self, template: str, depth: int = 0) -> Any:
        """A template, or the specification of a field, with what its fields show."""
        parts: list[Any] = []
        try:
            fields = list(string.Formatter().parse(template))
        except ValueError:
            raise _Malformed from None
        for literal, name, spec, conversion in fields:
            parts.append(literal)
            if name is None:
                continue
            if depth > 1:
                raise _Malformed
            value = self._converted(self._value(name), conversion)
            parts.append(self.machine.objects.format(value, self.filled(spec or "", depth + 1)))
        return LazyText.join(parts)

    def _value(self, name: str) -> Any:
        """What a field names."""
        try:
            first, rest = formatter_field_name_split(name)
            rest = list(rest)
        except ValueError:
            raise _Malformed from None
        if self.kwargs is None:
            if not isinstance(first, str) or first == "":
                raise _Malformed
            return self._within(self.machine.objects.get_item(self.args[0], first), rest)
        if first == "":
            if self.automatic is None:
                raise _Malformed
            first, self.automatic = self.automatic, self.automatic + 1
        elif isinstance(first, int):
            if self.automatic:
                raise _Malformed
            self.automatic = None
        given: Any = self.args if isinstance(first, int) else self.kwargs
        try:
            value = given[first]
        except LookupError:
            raise _Malformed from None
        return self._within(value, rest)

    def _within(self, value: Any, path: list[tuple[bool, Any]]) -> Any:
        """An attribute or item of what a field names."""
        for is_attribute, key in path:
            objects = self.machine.objects
            value = self.machine.attributes.get_attr(value, key) if is_attribute else objects.get_item(value, key)
        return value

    def _converted(self, value: Any, conversion: str | None) -> Any:
        """A value as `!r`, `!s` or `!a` ask for it."""
        if conversion is None:
            return value
        if conversion not in _CONVERSIONS:
            raise _Malformed
        return self.machine.calls.call(_CONVERSIONS[conversion], [value], {})


_BRACES: Final = frozenset("{}")
_CONVERSIONS: Final = {"r": repr, "s": str, "a": ascii}


def _shown(machine: Machine, text: Any) -> Any:
    """A text that does not show where objects of the capture are."""
    return machine.made_if_fresh(text) if type(text) is str else text
