"""Calls that fit no entry: what differs from the closest one, and which numbers keep changing."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from weft.capture.state.events import FIRST
from weft.capture.state.guards import Difference

if TYPE_CHECKING:
    from weft.capture.leaving.entry import Entry

logger: Final = logging.getLogger("weft.jit")
#: entries that a call is compared with; older ones are rarely the closest
_COMPARED: Final = 8


def compared(entries: Sequence[Entry], values: Sequence[object]) -> list[list[Difference]]:
    """What differs between a call and each of the latest entries.

    Args:
        entries: entries for calls of this form, most recently used first.
        values: the values of their parameters in the call.
    """
    return [entry.differences(values) for entry in entries[:_COMPARED]]


def changing_numbers(differences: Iterable[Difference]) -> set[str]:
    """What becomes an input of the next graph: ints and floats that differ and kept their type, lengths that differ."""
    found = set()
    for difference in differences:
        guard, kind = difference.guard, type(difference.guard.expected)
        if guard.kind == "length":
            found.add(f"len({guard.path})")
        elif guard.kind == "value" and kind in (int, float) and type(difference.found) is kind:
            found.add(guard.path)
    return found


def another_form(key: tuple[object, ...], others: Iterable[tuple[object, ...]]) -> str:
    """Why a call needs an entry of its own whose number of arguments, or their names, no earlier call had.

    Args:
        key: the form of the call: number of positional arguments, names of the others.
        others: the forms of earlier calls.
    """
    forms = "; ".join(map(_form, others))
    return f"called with {_form(key)}, before with {forms}" if forms else FIRST


def _form(key: tuple[object, ...]) -> str:
    count, *names = key
    named = f" and {', '.join(f'{name}=' for name in names)}" if names else ""
    return f"{count} positional argument{'' if count == 1 else 's'}{named}"
