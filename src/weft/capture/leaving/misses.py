"""Calls that fit no entry: what differs from the closest one, which numbers change, and what never is the same."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from weft.capture.python.values import is_numpy_number
from weft.capture.sources.open_sizes import size_path
from weft.capture.state.events import FIRST
from weft.capture.state.guards import Difference, pinned_by
from weft.core.tensor import Tensor
from weft.ir.sizes import is_open_size
from weft.ir.types import TensorType

if TYPE_CHECKING:
    from weft.capture.leaving.entry import Entry

logger: Final = logging.getLogger("weft.jit")
#: entries that a call is compared with; older ones are rarely the closest
_COMPARED: Final = 8
#: captures in a row for the same value, none of them used again, after which no further graph is made for it; and where
#: that has come to pass before
PATIENCE: Final = (8, 2)


def compared(entries: Sequence[Entry], values: Sequence[object]) -> list[list[Difference]]:
    """What differs between a call and each of the latest entries.

    Args:
        entries: entries for calls of this form, most recently used first.
        values: the values of their parameters in the call.
    """
    return [entry.differences(values) for entry in entries[:_COMPARED]]


def distance(differences: Sequence[Difference]) -> tuple[int, int]:
    """How far an entry is from a call: nothing is read any more from what is of another class."""
    return sum(map(_is_of_another_class, differences)), len(differences)


def _is_of_another_class(difference: Difference) -> bool:
    guard = difference.guard
    if guard.kind == "type":
        return True
    return guard.kind == "value" and difference.exists and type(difference.found) is not type(guard.expected)


def changing_numbers(differences: Iterable[Difference]) -> set[str]:
    """What becomes an input of the next graph: lengths, ints, floats, numbers and arrays of NumPy that differ and kept
    their type.
    """
    found = set()
    for difference in differences:
        guard, kind = difference.guard, type(difference.guard.expected)
        if guard.kind == "length":
            found.add(f"len({guard.path})")
        elif type(difference.found) is kind and (
            (guard.kind == "value" and (kind in (int, float) or is_numpy_number(difference.found)))
            or (guard.kind in ("identity", "contents") and kind is np.ndarray)
        ):
            found.add(guard.path)
    return found


def note_sizes(sizes: dict[str, int], differences: Iterable[Difference]) -> None:
    """Note sizes of tensors that differ between a call and an entry, and which of them were the same.

    Args:
        sizes: path of a size -> a number, the same for those that never were found different.
        differences: what differs.
    """
    alike: dict[tuple[int, int], int] = {}
    for difference in differences:
        guard, found = difference.guard, difference.found
        if guard.kind == "same size" and guard.path in sizes:
            sizes[guard.path] = max(sizes.values()) + 1
        expected = guard.expected
        if guard.kind != "type" or type(expected) is not TensorType or type(found) is not Tensor:
            continue
        shape, kind = expected.shape, found.type
        if (kind.dtype, len(kind.shape)) != (expected.dtype, len(shape)):
            continue
        for axis, (before, now) in enumerate(zip(shape, kind.shape, strict=True)):
            path = size_path(guard.path, axis)
            if before != now and not is_open_size(before) and path not in sizes:
                sizes[path] = alike.setdefault((before, now), max(sizes.values(), default=-1) + 1)


class Restlessness:
    """Which values of one piece of code are others in each call: a graph that has one as a constant serves one call.

    Such a value needed a number of captures in a row, none of which was used again.
    """

    __slots__ = ("_captures",)

    def __init__(self) -> None:
        #: a value, see `pinned_by` -> how many captures it needed since one of them was used again
        self._captures: dict[str, int] = {}

    def missed(self, closest: Iterable[Difference]) -> set[str]:
        """Note a call that fits no entry; returns the paths of the values that need the next one.

        Args:
            closest: what differs between the call and the closest entry.
        """
        paths = {path for difference in closest if (path := pinned_by(difference.guard)) is not None}
        for path in paths:
            self._captures[path] = self._captures.get(path, 0) + 1
        return paths

    def beyond(self, patience: int) -> set[str]:
        """The paths of the values that needed so many captures in a row."""
        return {path for path, count in self._captures.items() if count >= patience}

    def used_again(self, entry: Entry) -> None:
        """A new entry was used a second time, so that what needed it comes again."""
        for path in entry.unproven:
            self._captures.pop(path, None)
        entry.unproven = set()


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
