"""How the sets that a capture makes came to their members.

A set shows its members in the order of its table, which depends on how it grew, and Python has no way to read a table
or to put one back. So a set from outside is only ever written by Python itself, and one that a capture made is made
again by the same steps, as far as they lead to the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any, Final

from weft.capture.python.containers import native_class

#: what each step gives the set that grows: members one by one, or a table of them, for which room is made first
_ONE_BY_ONE: Final = tuple
_TABLES: Final[dict[type, Callable[[Iterable[Any]], Collection[Any]]]] = {
    set: set, frozenset: set, dict: dict.fromkeys,
}  # fmt: skip
#: a step: what makes that which the set is given, and its members
Step = tuple[Callable[[Iterable[Any]], Collection[Any]], list[Any]]


class _Growth:
    """The steps by which one set came to its members."""

    __slots__ = ("ids", "lost", "obj", "steps")

    def __init__(self, obj: Any) -> None:
        self.obj = obj  # kept alive, so that its id stays its own
        self.steps: list[Step] = []
        self.ids: set[int] = set()
        #: whether members went, which leaves traces in the table
        self.lost = False


class SetGrowth:
    """The steps by which the sets of a capture came to their members."""

    def __init__(self) -> None:
        self._known: dict[int, _Growth] = {}

    def note(self, obj: Any, function: Any = None, given: Iterable[Any] = ()) -> None:
        """Note what a native call did to a set.

        Args:
            obj: a set that was made, or may have been changed; a frozenset that was made.
            function: what was called.
            given: the other arguments of the call.
        """
        growth = self._known.get(id(obj))
        if growth is None:
            growth = self._known[id(obj)] = _Growth(obj)
        native = native_class(type(obj))
        count = native.__len__(obj)
        name = getattr(function, "__name__", "")
        if name == "clear" and not growth.lost:  # the table is a new one
            growth.steps, growth.ids = [], set()
        given = list(given)
        if name == "add" and count == len(growth.ids) + 1:  # without looking at all
            growth.steps.append((_ONE_BY_ONE, given))
            growth.ids.update(map(id, given))
            return
        new = {id(member): member for member in native.__iter__(obj) if id(member) not in growth.ids}
        growth.lost = growth.lost or count != len(growth.ids) + len(new)
        if new:
            growth.steps.append(_step(new, given))
            growth.ids.update(new)

    def steps(self, obj: Any) -> list[Step] | None:
        """The steps that make a set again with its members in the same order, None if none are known."""
        self.note(obj)
        growth, native = self._known[id(obj)], native_class(type(obj))
        if growth.lost or (native is frozenset and len(growth.steps) > 1):
            return None
        given = [make(members) for make, members in growth.steps]
        again: Any = native(*given) if native is frozenset else set()
        for members in given if native is set else ():
            again.update(members)
        room = native.__sizeof__(again) - native.__basicsize__ == native.__sizeof__(obj) - type(obj).__basicsize__
        same = room and [*map(id, again)] == [*map(id, native.__iter__(obj))]
        return _joined(growth.steps) if same else None


def _joined(steps: list[Step]) -> list[Step]:
    """Steps, those that add members one by one in a row as one."""
    joined: list[Step] = []
    for make, members in steps:
        if make is _ONE_BY_ONE and joined and joined[-1][0] is make:
            joined[-1][1].extend(members)
        else:
            joined.append((make, list(members)))
    return joined


def _step(new: dict[int, Any], given: list[Any]) -> Step:
    """The step that gave a set new members, by id: in the order in which they were given, where that is known."""
    for value in given:
        if type(value) in (list, tuple):
            ordered = {id(member): member for member in value if id(member) in new}
            if len(ordered) == len(new):
                return _ONE_BY_ONE, list(ordered.values())
    make = next((_TABLES[type(value)] for value in given if type(value) in _TABLES), _ONE_BY_ONE)
    return make, list(new.values())
