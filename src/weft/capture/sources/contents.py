"""What is read from containers of the outside: items, keys, lengths, or everything, each with its guard.

What the capture itself has written does not count: guards speak of the contents before.
"""

from __future__ import annotations

import operator
from collections import defaultdict, deque
from typing import Any, Final

from weft.capture.python.containers import (
    VIEWS,
    factory_of,
    items_of,
    length,
    members,
    native_class,
    room_of,
    shown_by,
    spelled,
    values_of,
)
from weft.capture.python.values import same_values
from weft.capture.sources.known import Known
from weft.capture.sources.numbers import ObjectId
from weft.capture.state.guards import KEPT, Guard, is_long

#: containers longer than this are compared item by item by identity when all of them is read
_LONG: Final = 4096
#: up to how many keys of a written dictionary or set are guarded one by one
_FEW: Final = 32
#: keys that are spelled in a guard
_SPELLED: Final = (int, str, bool, type(None), bytes)
_MISSING: Final = object()


class Contents(Known):
    """Reads of containers."""

    def _tracked(self, obj: Any) -> str:
        """The expression that loads a container whose contents are not all guarded yet, "" for any other object."""
        self.origin(obj)
        if issubclass(type(obj), deque) and id(obj) in self.known:  # what it is given may push out what it holds
            expression, room = self.known[id(obj)][1], room_of(obj)
            asked = f"{self.name(room_of, 'function')}({expression})"
            self._guard(f"{asked} == {room}", "value", f"{self.path(expression)}.maxlen", room, asked)
        return self.known[id(obj)][1] if id(obj) in self.pending else ""

    def _spelled(self, obj: Any, method: str, *operands: str) -> str:
        """The expression that calls a method of Python's own on a container, whatever its class has in its place."""
        return spelled(type(obj), method, self.name, *operands)

    def original(self, obj: Any) -> Any:
        """The contents of a container before the capture wrote it: a list, a dict, a set, bytes or the object."""
        before = self.before(obj)
        if isinstance(before, dict):
            for part in ("list", "dict", "set", "deque", "bytes"):
                if part in before:
                    return before[part]
        return obj

    def item(self, obj: Any, key: Any, value: Any) -> Any:
        """An item of a container was read; returns what stands for it in the capture."""
        if self.origin(obj) is None:
            return value
        self._key_from_outside(key)
        before = self.original(obj)
        if before is not obj:
            return self._item_of_written(obj, before, key, value)
        if not _is_spelled(key) or not isinstance(obj, (list, tuple, dict)):
            self.contents(obj)
            return value
        if isinstance(before, dict) and not dict.__contains__(before, key):  # it is what `__missing__` gives
            self.has(obj, key)
            return value
        return self._load_item(obj, key, value)

    def items_of_tuple(self, obj: tuple[Any, ...]) -> list[Any]:
        """All items of a tuple were read; returns what stands for them in the capture."""
        items = [*tuple.__iter__(obj)]
        if id(obj) not in self.known:
            return items
        self.length(obj)
        return [self.item(obj, place, item) for place, item in enumerate(items)]

    def first_item(self, obj: Any, key: Any, value: Any) -> Any:
        """An item that a container from outside held before the capture wrote it was read."""
        if _is_spelled(key):
            return self._load_item(obj, key, value)
        self.contents(obj)
        return value

    def _load_item(self, obj: Any, key: Any, value: Any) -> Any:
        expression = self.known[id(obj)][1]
        return self._load(self._item(obj, expression, repr(key)), value, f"{self.path(expression)}[{key!r}]")

    def _item(self, obj: Any, expression: str, key: str) -> str:
        """The expression for an item of a container."""
        if issubclass(type(obj), dict) and hasattr(type(obj), "__missing__"):  # which must not be called
            return self._spelled(obj, "get", expression, key, self.name(_MISSING, "object"))
        return self._spelled(obj, "__getitem__", expression, key)

    def constant_item(self, obj: Any, key: Any, value: Any) -> None:
        """An item was read by native code: its value is a constant of the capture."""
        with self.constants():
            self.item(obj, key, value)

    def _item_of_written(self, obj: Any, before: Any, key: Any, value: Any) -> Any:
        """An item of a container that the capture has written: it may be an old one, at another place now."""
        if isinstance(before, dict) and _is_spelled(key):
            if dict.get(before, key, _MISSING) is value:
                return self._load_item(obj, key, value)
            return value
        if self._is_refilled(obj):
            return value
        if isinstance(before, list) and type(key) in (int, bool):
            places, count = self.places.get(id(obj)), len(before)
            if places is not None:
                place = places[key]
                if key < 0 and places[:count] == list(range(count)):  # it only grew: however long it was, the same
                    return value if place is None else self._load_item(obj, key + len(places) - count, value)
                if place is None or place != key:
                    self.length(obj)
                return value if place is None else self._load_item(obj, place, value)
        self.contents(obj)
        return value

    def _key_from_outside(self, key: Any) -> None:
        """A container of the outside is asked for a key: if it is a tensor's id, only that tensor has the answer."""
        if type(key) is ObjectId and id(key.obj) in self.known:
            expression = self.known[id(key.obj)][1]
            self._guard(f"id({expression}) == {int(key)}", "identity", f"id({self.path(expression)})")

    def has(self, obj: Any, key: Any) -> None:
        """Whether a key is in a container was asked."""
        if type(obj) in VIEWS:
            self.contents(obj)
            return
        expression = self._tracked(obj)
        if not expression:
            return
        self._key_from_outside(key)
        before = self.original(obj)
        if not isinstance(before, (dict, set, frozenset)) or not _is_spelled(key):
            self.contents(obj)
            return
        path = f"{key!r} in {self.path(expression)}"
        present = native_class(type(before)).__contains__(before, key)
        contained = self._spelled(obj, "__contains__", expression, repr(key))
        self._guard(contained if present else f"not {contained}", "relation", path, present)

    def length(self, obj: Any) -> None:
        """The length of a container was read."""
        obj = shown_by(obj)
        expression = self._tracked(obj)
        if not expression or self._is_refilled(obj):
            return
        before = self.original(obj)
        self._guard_length(obj, expression, length(before))
        if before is not obj and isinstance(before, (dict, set, frozenset)):
            self._guard_presence(obj, before)

    def _guard_presence(self, obj: Any, before: Any) -> None:
        """How long a written dictionary or set is depends on which of the keys that were written it had."""
        keys = {key for held in (before, obj) for key in native_class(type(held)).__iter__(held)}
        if len(keys) > _FEW or not all(map(_is_spelled, keys)):
            self.contents(obj)
            return
        for key in sorted(keys, key=repr):
            self.has(obj, key)

    def counted(self, obj: Any) -> Any:
        """The length of a container for interpreted code: where it changed between calls, a number of the call."""
        expression = self._tracked(obj)
        path = f"len({self.path(expression)})"
        before = self.original(obj)
        by_methods = before is obj or self.places.get(id(obj)) is not None  # how many were added depends on no contents
        if not expression or path not in self.varying or not by_methods or self._is_refilled(obj):
            self.length(obj)
            return length(obj)
        before = length(before)
        number = self.numbers.base(self._spelled(obj, "__len__", expression), before, path)
        added = length(obj) - before
        return self.numbers.infix(operator.add, "+", number, added) if added else number

    def _is_refilled(self, obj: Any) -> bool:
        """Whether a list was cleared, so that all that it holds is known: what it held before is of no account."""
        return id(obj) in self.cleared and self.places.get(id(obj)) is not None

    def _guard_length(self, obj: Any, expression: str, count: int) -> None:
        found = self._spelled(obj, "__len__", expression)
        self._guard(f"{found} == {count}", "length", self.path(expression), count, found)

    def contents(self, obj: Any, numbers: dict[Any, Any] | None = None, unread: str | None = None) -> None:
        """Everything in a container was read, one level deep.

        Args:
            obj: the container.
            numbers: gets the numbers that are not constants of this capture, by key, each after its value; without it
                they are constants.
            unread: a key of a dictionary whose item was not read.
        """
        obj = shown_by(obj)
        expression = self._tracked(obj)
        if not expression or self._is_refilled(obj):
            return
        path = self.path(expression)
        before = self.original(obj)
        self.pending.discard(id(obj))
        taken = self.taken_numbers.pop(id(obj), None)
        if taken is not None:  # everything else is guarded
            for key, (item, _) in taken.items():
                self._read_item(obj, expression, key, item, path, numbers)
            return
        if issubclass(type(obj), defaultdict):  # which copies and texts have, too
            self._read(f"{self.name(factory_of, 'function')}({expression})", factory_of(obj), f"{path}.default_factory")
        self._guard_length(obj, expression, length(before))
        if isinstance(before, (bytearray, bytes)):
            kept = self._constant(bytes(members(before)))
            self._guard(self._spelled(obj, "__eq__", expression, kept), "contents", path)
        elif isinstance(before, (set, frozenset)):
            self._guard_keys(obj, expression, list(members(before)), path)  # in the order that iterating shows
            room = self._spelled(obj, "__sizeof__", expression)  # on which the order of what is made of it depends
            self._guard(f"{room} == {native_class(type(before)).__sizeof__(before)}", "contents", path)
        elif isinstance(before, dict):
            self._guard_items(obj, expression, before, path, numbers, unread)
        elif length(before) > _LONG:
            same, kept = self.name(same_items, "object"), self.name(list(members(before)), KEPT)
            self._guard(f"{same}([*{self._spelled(obj, '__iter__', expression)}], {kept})", "contents", path)
        else:
            for position, item in enumerate(members(before)):
                self._read_item(obj, expression, position, item, path, numbers)

    def taken_over(self, obj: Any) -> dict[Any, Any]:
        """A container is copied: its keys, their order and its length are read, but of the items only which they are.

        Returns:
            The numbers that are not constants of this capture, by the key or index at which the container has them now.
        """
        obj = shown_by(obj)
        if not self.varying:
            self.contents(obj)
            return {}
        numbers = self.taken_numbers.get(id(obj))
        if numbers is None:
            numbers = {}
            self.contents(obj, numbers)
            if not numbers:
                return {}
            self.pending.add(id(obj))  # whoever looks at the items has them as constants
            self.taken_numbers[id(obj)] = numbers
        before = self.original(obj)
        if before is obj:
            return {key: number for key, (_, number) in numbers.items()}
        if isinstance(before, dict):
            held = numbers.items()
            return {key: number for key, (item, number) in held if dict.get(obj, key, _MISSING) is item}
        places = self.places.get(id(obj))
        if places is not None:
            return {now: numbers[place][1] for now, place in enumerate(places) if place in numbers}
        self.contents(obj)
        return {}

    def _read_item(
        self, obj: Any, expression: str, key: Any, item: Any, path: str, numbers: dict[Any, Any] | None
    ) -> None:  # fmt: skip
        read = self._read if numbers is None else self._load
        found = read(self._item(obj, expression, repr(key)), item, f"{path}[{key!r}]")
        if numbers is not None and found is not item:
            numbers[key] = item, found

    def _guard_items(
        self, obj: Any, expression: str, before: dict[Any, Any], path: str, numbers: dict[Any, Any] | None,
        unread: str | None,
    ) -> None:  # fmt: skip
        items = items_of(before)
        keys = [key for key, _ in items]
        self._guard_keys(obj, expression, keys, path)
        if all(map(_is_spelled, keys)):
            for key, item in items:
                if key != unread:
                    self._read_item(obj, expression, key, item, path, numbers)
            return
        # by their places: looking up a key may call the program's own `__hash__` and `__eq__`
        values = f"{self.name(values_of, 'object')}({expression})"
        if self.guarded:
            local = f"values{len(self.guards)}"
            condition = f"({local} := {values}).__class__ is list"
            self.add(Guard(condition, "compute", f"values of {path}"))
            values = local
        for place, (key, item) in enumerate(items):
            shown = f"{key!r:.40}" if _is_value(key) and not is_long(key) else f"a {type(key).__name__}"
            self._read(f"{values}[{place}]", item, f"{path}[{shown}]")

    def _guard_keys(self, obj: Any, expression: str, keys: list[Any], path: str) -> None:
        listed = f"[*{self._spelled(obj, '__iter__', expression)}]"
        if all(map(_is_value, keys)):
            kept = self.name(keys, KEPT)
            same = f"{self.name(same_values, 'object')}({listed}, {kept})"
            self._guard(same, "keys", path, keys, listed)
            return
        self._keep(keys)
        same, kept = self.name(same_items, "object"), self.name(keys, KEPT)
        self._guard(f"{same}({listed}, {kept})", "keys", f"keys of {path}")  # to show them may call their methods

    def _keep(self, objects: Any) -> None:
        """Objects that are guarded by identity through what holds them load as themselves."""
        for obj in objects:
            if not _is_value(obj):
                self.identity(obj)  # it may be known as something else, such as the argument that is looked up
                self.root(obj, self.name(obj, "object"))
                self.told_apart(obj)


def _is_spelled(key: Any) -> bool:
    return type(key) in _SPELLED and not is_long(key)


def _is_value(key: Any) -> bool:
    """Whether a key is told from others by its value."""
    if type(key) is tuple:
        return all(_is_value(part) for part in key)
    return type(key) in (*_SPELLED, float, complex)


def same_items(items: Any, kept: list[Any]) -> bool:
    """Whether a sequence holds exactly these objects, in order."""
    return len(items) == len(kept) and all(a is b for a, b in zip(items, kept, strict=True))
