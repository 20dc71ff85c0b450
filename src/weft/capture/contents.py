"""What is read from containers of the outside: items, keys, lengths, or everything, each with its guard.

What the capture itself has written does not count: guards speak of the contents before.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, Final

from weft.capture.guards import is_long
from weft.capture.journal import items_of
from weft.capture.numbers import TensorId

if TYPE_CHECKING:
    from weft.capture.sources import Sources

#: containers of which later calls may bring others with other contents
CONTAINERS: Final = (list, tuple, dict, set, frozenset, deque, bytearray)
#: containers longer than this are compared item by item by identity when all of them is read
_LONG: Final = 4096
#: keys that are spelled in a guard
_SPELLED: Final = (int, str, bool, type(None), bytes)


class Contents:
    """The part of `Sources` that reads from containers."""

    pending: set[int]
    varying: Collection[str]
    before: Callable[[Any], Any]

    def _tracked(self: Sources, obj: Any) -> str:
        """The expression that loads a container whose contents are not all guarded yet, "" for any other object."""
        return self.known[id(obj)][1] if id(obj) in self.pending else ""

    def original(self: Sources, obj: Any) -> Any:
        """The contents of a container before the capture wrote it: a list, a dict, a set, bytes or the object."""
        before = self.before(obj)
        if isinstance(before, dict):
            for part in ("list", "dict", "set", "deque", "bytes"):
                if part in before:
                    return before[part]
        return obj

    def item(self: Sources, obj: Any, key: Any, value: Any) -> Any:
        """An item of a container was read; returns what stands for it in the capture."""
        known = self.known.get(id(obj))
        if known is None:
            return value
        self._key_from_outside(key)
        before = self.original(obj)
        if before is not obj:
            return self._item_of_written(obj, before, key, value)
        if not _is_spelled(key) or not isinstance(obj, (list, tuple, dict)):
            self.contents(obj)
            return value
        return self._load_item(known[1], key, value)

    def _load_item(self: Sources, expression: str, key: Any, value: Any) -> Any:
        return self._load(f"{expression}[{key!r}]", value, f"{self.path(expression)}[{key!r}]")

    def constant_item(self: Sources, obj: Any, key: Any, value: Any) -> None:
        """An item was read by native code: its value is a constant of the capture."""
        with self.constants():
            self.item(obj, key, value)

    def _item_of_written(self: Sources, obj: Any, before: Any, key: Any, value: Any) -> Any:
        """An item of a container that the capture has written: it may be an old one, at another place now."""
        if isinstance(before, dict) and _is_spelled(key):
            if key in before and before[key] is value:
                return self._load_item(self.known[id(obj)][1], key, value)
            return value
        if isinstance(before, list) and type(key) in (int, bool):
            added = len(obj) - len(before)
            grown = added >= 0 and all(new is old for new, old in zip(obj, before, strict=False))
            if grown and -added <= key < 0:
                return value  # one of the new ones, whatever was there before
            if grown and key < 0:
                return self._load_item(self.known[id(obj)][1], key + added, value)
            if grown and key < len(before):
                return self._load_item(self.known[id(obj)][1], key, value)
        self.contents(obj)
        return value

    def _key_from_outside(self: Sources, key: Any) -> None:
        """A container of the outside is asked for a key: if it is a tensor's id, only that tensor has the answer."""
        if type(key) is TensorId:
            expression = self.known[id(key.tensor)][1]
            self._guard(f"id({expression}) == {int(key)}", "identity", f"id({self.path(expression)})")

    def has(self: Sources, obj: Any, key: Any) -> None:
        """Whether a key is in a container was asked."""
        expression = self._tracked(obj)
        if not expression:
            return
        self._key_from_outside(key)
        before = self.original(obj)
        if not isinstance(before, (dict, set, frozenset)) or not _is_spelled(key):
            self.contents(obj)
            return
        path = f"{key!r} in {self.path(expression)}"
        present = key in before
        negation = "" if present else "not "
        self._guard(f"{key!r} {negation}in {expression}", "relation", path, present)

    def length(self: Sources, obj: Any) -> None:
        """The length of a container was read."""
        expression = self._tracked(obj)
        if expression:
            count = len(self.original(obj))
            self._guard(f"len({expression}) == {count}", "length", self.path(expression), count, f"len({expression})")

    def contents(self: Sources, obj: Any) -> None:
        """Everything in a container was read, one level deep."""
        expression = self._tracked(obj)
        if not expression:
            return
        self.length(obj)
        self.pending.discard(id(obj))
        path = self.path(expression)
        before = self.original(obj)
        if isinstance(before, (bytearray, bytes)):
            self._guard(f"bytes({expression}) == {bytes(before)!r}", "contents", path)
        elif isinstance(before, (set, frozenset)):
            self._guard_members(expression, before, path)
        elif isinstance(before, dict):
            items = items_of(before)
            self._guard_keys(expression, before, path)
            for key, item in items:
                if _is_spelled(key):
                    self._read(f"{expression}[{key!r}]", item, f"{path}[{key!r}]")
                else:
                    shown = f"a {type(key).__name__}" if is_long(key) else f"{key!r:.40}"
                    self._read(f"{expression}[{self.name(key, 'key')}]", item, f"{path}[{shown}]")
        elif len(before) > _LONG:
            same, kept = self.name(same_items, "object"), self.name(list(before), "constant")
            self._guard(f"{same}({expression}, {kept})", "contents", path)
        else:
            for position, item in enumerate(before):
                self._read(f"{expression}[{position}]", item, f"{path}[{position}]")

    def _guard_keys(self: Sources, expression: str, value: dict[Any, Any], path: str) -> None:
        keys = list(value)
        if all(_is_value(key) for key in keys):
            kept = self.name(keys, "constant")
            self._guard(f"list({expression}) == {kept}", "keys", path, keys, f"list({expression})")
            return
        self._keep(keys)
        same, kept = self.name(same_items, "object"), self.name(keys, "constant")
        self._guard(f"{same}(list({expression}), {kept})", "keys", path, keys, f"list({expression})")

    def _guard_members(self: Sources, expression: str, value: Any, path: str) -> None:
        members = frozenset(value)
        if all(_is_value(member) for member in members):
            self._guard(f"{expression} == {self.name(members, 'constant')}", "contents", path)
            return
        self._keep(members)
        kept = self.name(frozenset(map(id, members)), "constant")
        self._guard(f"{{*map(id, {expression})}} == {kept}", "contents", path)

    def _keep(self: Sources, objects: Any) -> None:
        """Objects that are guarded by identity through what holds them load as themselves."""
        for obj in objects:
            if not _is_value(obj):
                self.root(obj, self.name(obj, "object"))


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
