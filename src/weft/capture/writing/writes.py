"""Writes of outside objects, replayed by each call: the differences between their contents before and after."""

from __future__ import annotations

import ast
import types
from collections.abc import Iterable
from typing import Any

from weft.capture.python.containers import spelled
from weft.capture.python.spelling import stores_plainly
from weft.capture.state.counts import COUNT, changes, counts_changes
from weft.capture.state.journal import EMPTY_CELL, Journaled, contents_of, restore_sequence
from weft.capture.state.memory import owner_of_memory
from weft.capture.writing.writer import Writer
from weft.core.lending import overlap
from weft.core.sharing import share_nothing
from weft.core.tensor import Tensor, in_its_place
from weft.core.trace import Trace
from weft.errors import Refusal, Unsupported
from weft.ir.graph import Value

#: id of an outside tensor that the graph writes -> the output with its new value, and itself
Stored = dict[int, tuple[int, Tensor]]


class Writes:
    """Writes the statements that replay what the capture wrote.

    Args:
        writer: writes the values.
    """

    def __init__(self, writer: Writer) -> None:
        self.writer = writer

    def effects(self, trace: Trace) -> Stored:
        """Replay all writes to outside objects; returns the tensors whose new values the graph gives."""
        stored: Stored = {}
        sources, journal = self.writer.sources, self.writer.journal
        before: dict[int, tuple[Any, Any]] = {}
        for layer in journal.layers:
            for key, noted in layer.before.items():
                before.setdefault(key, noted)
        for key, (obj, contents) in before.items():
            if journal.belongs(key, self.writer.created) and not sources.is_known(obj):
                continue
            numbers = journal.exchanged.get(key)
            if numbers and isinstance(contents, dict):  # what a call finds there is that number, whatever it is
                part = next(part for part in ("list", "deque", "dict") if part in contents)
                contents = {**contents, part: contents[part].copy()}
                for place, number in numbers.items():
                    contents[part][place] = number
            try:
                self._effect(key, obj, contents, trace, stored)
            except Unsupported as refusal:
                if refusal.kind is Refusal.RESTLESS:  # the capture ends before the write
                    refusal.step = journal.first_written.get(key, 0)
                raise
        if stored:
            self._keep_apart(trace, [handle for _, handle in stored.values()])
        return stored

    def _keep_apart(self, trace: Trace, written: list[Tensor]) -> None:
        """The tensors that the graph writes share no elements with others that it uses."""
        first = self.writer.journal.first_written
        ids = set(map(id, written))
        used = [handle for handle, _ in trace.externals.values() if id(handle) not in ids]
        known = self.writer.sources.known.values()
        arrays = [obj for obj, _ in known if owner_of_memory(obj) is not None]
        what = None
        if not share_nothing([*written, *used], len(written)):
            what = "a tensor is written that shares elements with another one that the graph uses"
        elif overlap(tuple(written), tuple(arrays)):
            what = "a tensor is written that shares its memory with a NumPy array which the call reads"
        if what is not None:
            refusal = Unsupported(Refusal.OUTPUT, what)
            refusal.step = min(first.get(id(handle), 0) for handle in written)
            raise refusal
        self.writer.sources.share_nothing(written, used)
        self.writer.sources.lend_nothing(written, arrays)

    def _effect(self, key: int, obj: Any, contents: Any, trace: Trace, stored: Stored) -> None:
        """Replay the writes to one object; a tensor that the graph writes is put into `stored`."""
        sources, journal = self.writer.sources, self.writer.journal
        if isinstance(obj, Tensor):
            data, _ = contents
            if data[0].__class__ is Value or key in trace.created:
                return
            now, _ = contents_of(obj)
            if now[0] is not data[0]:
                sources.written(obj)
                stored[key] = self._tensor(obj, trace.region_of(obj)), obj
        elif isinstance(obj, Journaled):
            if sources.is_known(obj):
                raise AssertionError(f"{obj!r} cannot have come from outside")
        elif isinstance(obj, types.FrameType):
            return
        elif key in journal.namespaces:
            self._attributes(journal.namespaces[key], obj, contents["dict"], contents_of(obj)["dict"])
        elif key in journal.registries and not sources.is_known(obj):
            self._registry(*journal.registries[key], contents["dict"], contents_of(obj)["dict"])
        else:
            sources.written(obj)
            self._object(obj, contents, contents_of(obj))

    def _tensor(self, tensor: Tensor, region: Any) -> int:
        """Replay the write of an outside handle, of which a region is new; returns the position of its new value."""
        position = self.writer.output(self.writer.use(in_its_place(tensor)))
        self.writer.lines.append(f"store({self.writer.outside(tensor)}, {position}, {_spelled(region)})")
        return position

    def _object(self, obj: Any, before: Any, after: Any) -> None:
        """Replay the changes of an outside object."""
        target, kind = self.writer.outside(obj), type(obj)
        if isinstance(obj, types.CellType):
            if after is not EMPTY_CELL:
                self.writer.lines.append(f"{target}.cell_contents = {self.writer.state(after)}")
            elif before is not EMPTY_CELL:
                self.writer.lines.append(f"del {target}.cell_contents")
            return
        if "list" in after:
            self._list(obj, target, before["list"], after["list"])
        if "dict" in after:
            old, new = _identities(before["dict"]), _identities(after["dict"])
            reorder = old != new
            if not set(old) <= set(new):
                self.writer.sources.contents(obj)
            self._dictionary(kind, target, before["dict"], after["dict"], reorder)
        if "exception" in after:
            self.writer.exception(target, before["exception"], after["exception"])
        for part in ("deque", "bytes"):
            if part in after:
                self.writer.sources.contents(obj)
                items = [self.writer.expression(item) for item in after[part]]
                self.writer.lines.append(
                    f"{self.writer.constant(restore_sequence)}({target}, ({''.join(i + ', ' for i in items)}))"
                )
        for part in ("slots", "class"):
            for key, value in after.get(part, {}).items():
                if before.get(part, {}).get(key, EMPTY_CELL) is value:
                    continue
                if value is EMPTY_CELL:
                    self._call(self._attribute_hook(kind, "__delattr__"), target, repr(key))
                else:
                    self._call(
                        self._attribute_hook(kind, "__setattr__"), target, repr(key), self.writer.expression(value)
                    )
            for key in before.get(part, {}):
                if key not in after.get(part, {}):
                    self._call(self._attribute_hook(kind, "__delattr__"), target, repr(key))

    def _list(self, obj: Any, target: str, before: list[Any], after: list[Any]) -> None:
        """Give an outside list its new items: old ones by their places, or, where those are not known, as they are."""
        kind, writer, count = type(obj), self.writer, len(before)
        places = writer.journal.places.get(id(obj))
        if places is None:
            writer.sources.contents(obj)  # any of the old items may stand anywhere
            items = [writer.expression(item) for item in after]
            writer.write(kind, "__setitem__", target, "slice(None)", f"[{', '.join(items)}]")
            return
        if cleared := id(obj) in writer.journal.cleared:
            count, places = 0, [None] * len(after)
        new = {place: writer.expression(after[place]) for place, old in enumerate(places) if old is None}
        kept = [place for place in places if place is not None]
        if cleared:
            writer.write(kind, "clear", target)
        if kept == list(range(count)) == places[:count]:  # it only grew
            if new:
                writer.write(kind, "extend", target, f"[{', '.join(new.values())}]")
            return
        writer.sources.length(obj)
        if len(after) == count and all(place == old for place, old in enumerate(places) if old is not None):
            for place, item in new.items():  # items were replaced
                writer.write(kind, "__setitem__", target, str(place), item)
        elif kept == sorted(kept) and places[: len(kept)] == kept:  # items were taken out, others put at the end
            for place in sorted(set(range(count)).difference(kept), reverse=True):
                writer.write(kind, "pop", target, str(place))
            if new:
                writer.write(kind, "extend", target, f"[{', '.join(new.values())}]")
        else:
            old_items = writer.fresh()
            iterated = spelled(kind, "__iter__", lambda native, _: writer.constant(native), target)
            writer.lines.append(f"{old_items} = [*{iterated}]")
            items = [new[place] if old is None else f"{old_items}[{old}]" for place, old in enumerate(places)]
            writer.write(kind, "__setitem__", target, "slice(None)", f"[{', '.join(items)}]")

    def _attributes(self, owner: Any, namespace: Any, before: dict[Any, Any], after: dict[Any, Any]) -> None:
        """Replay the changes of an outside object's attributes, past what its class does when they are written."""
        if _identities(before) == _identities(after) and _identities(before.values()) == _identities(after.values()):
            return
        self.writer.sources.tie(owner, namespace)
        self.writer.sources.written(owner)
        kind, target = type(owner), self.writer.outside(owner)
        is_cell = counts_changes(kind, before, after)
        if is_cell:
            grows = changes(before, after)
            after = {**after, COUNT: before[COUNT]}
        if list(before) == list(after)[: len(before)] and all(stores_plainly(kind, key) for key in after):
            for key, value in after.items():
                if before.get(key, EMPTY_CELL) is not value:
                    self.writer.lines.append(f"{target}.{key} = {self.writer.expression(value)}")
        else:
            self._dictionary(dict, self.writer.namespace(kind, target), before, after, True)
        if is_cell:  # the last bit is whether it trains now
            held = self.writer.namespace(kind, target)
            count = f"({held}[{COUNT!r}] + {grows} & -2) | ({held}.get('training') is True)"
            self.writer.lines.append(f"{held}[{COUNT!r}] = {count}")

    def _registry(self, owner: Any, name: str, before: dict[Any, Any], after: dict[Any, Any]) -> None:
        """Replay the changes of a dictionary that an object keeps about itself."""
        target = f"{self.writer.namespace(type(owner), self.writer.outside(owner))}[{name!r}]"
        self._dictionary(dict, target, before, after, False)

    def _attribute_hook(self, kind: type, name: str) -> Any:
        return getattr(type if issubclass(kind, type) else object, name)

    def _call(self, function: Any, *args: str) -> None:
        self.writer.lines.append(f"{self.writer.constant(function)}({', '.join(args)})")

    def _dictionary(
        self, kind: type, target: str, before: dict[Any, Any], after: dict[Any, Any], reorder: bool
    ) -> None:
        # keys by identity: to look one up may call the program's own `__hash__` and `__eq__`
        old, new = {id(key): value for key, value in before.items()}, dict.fromkeys(_identities(after))
        for key in before:
            if id(key) not in new:
                self.writer.write(kind, "pop", target, self.writer.expression(key), "None")
        if reorder:
            moved = _put_again(list(old), list(new))
            for key in before:
                if id(key) in moved:
                    self.writer.write(kind, "pop", target, self.writer.expression(key), "None")
            old = {key: value for key, value in old.items() if key not in moved}
        for key, value in after.items():
            if id(key) not in old or old[id(key)] is not value:
                self.writer.write(
                    kind, "__setitem__", target, self.writer.expression(key), self.writer.expression(value)
                )


def _spelled(region: Any) -> str:
    """A region as an expression; one that is more than plain data is everything."""
    try:
        return repr(region) if ast.literal_eval(repr(region)) == region else "None"
    except (SyntaxError, ValueError):
        return "None"


def _put_again(before: list[int], after: list[int]) -> set[int]:
    """The keys of a dictionary that were taken out and put in again: whatever comes after an old one out of order."""
    place = {key: number for number, key in enumerate(before)}
    last = -1
    for number, key in enumerate(after):
        if place.get(key, -1) <= last:
            return {key for key in after[number:] if key in place}
        last = place[key]
    return set()


def _identities(items: Iterable[Any]) -> list[int]:
    return [id(item) for item in items]
