"""The state of a loop at its test, by places, and what an iteration changed in it.

A place is a variable, a value on the stack, or a part of the contents of an object. Objects that an iteration makes
anew in the places of others are these objects in the next iteration (`identities`): their contents are places like
those of an object that the iteration wrote.
"""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

from weft.capture.branching.carried import belongs
from weft.capture.branching.held import Path
from weft.capture.branching.identities import Pairs, parts_of, same_layout
from weft.capture.branching.leaves import (
    ABSENT,
    LoopChange,
    binding,
    is_handle,
    is_leaf,
    leaf_type,
    same_leaf,
    settled_contents,
    state_of,
)
from weft.capture.branching.outcomes import Outcome
from weft.capture.python.namespaces import namespace_of
from weft.capture.state.counts import with_one_count
from weft.capture.state.frame import UNBOUND, Frame, MaybeUnbound
from weft.capture.state.fresh import is_value
from weft.capture.state.journal import EMPTY_CELL, contents_of, restore
from weft.core.run_number import KINDS, RunNumber
from weft.core.tensor import Tensor, data_of
from weft.core.trace import Trace
from weft.errors import NOTED
from weft.ir.graph import Graph
from weft.ir.types import TensorType, ValueType

if TYPE_CHECKING:
    from weft.capture.meaning.parts import Machine


class LoopState:
    """The state at the loop's test, by places.

    Args:
        trace: the trace of the capture.
        frame: the frame of the loop.
        heap: contents of objects, by id.
    """

    def __init__(self, trace: Trace, frame: Frame, heap: dict[int, Any]) -> None:
        self._trace = trace
        self.slots = list(frame.slots)
        self.stack = list(frame.stack)
        self.heap = heap
        #: types of variables that only the body binds
        self.bound_types: dict[Path, ValueType] = {}

    def get(self, path: Path) -> Any:
        """The value at a place."""
        kind, where_, *keys = path
        value = (
            self.slots[where_] if kind == "slot" else self.stack[where_] if kind == "stack" else self.heap[where_][1]
        )
        return _descend(self._trace, value, keys)

    def is_handle(self, path: Path) -> bool:
        """Whether a place holds a tensor of the program, and no number nor the contents of a tensor."""
        if path[0] == "heap" and isinstance(self.heap[path[1]][0], Tensor):
            return False
        value = self.get(path)
        if value is UNBOUND:
            kind = self.bound_types[path]
            return isinstance(kind, TensorType) and kind.weak is None
        return is_handle(value)

    def put(self, machine: Any, frame: Frame, path: Path, value: Any) -> None:
        """Set a place of the running frame (or of the heap) to a value."""
        kind, where_, *keys = path
        if kind == "slot":
            frame.slots[where_] = _replaced(machine, frame.slots[where_], keys, value)
        elif kind == "stack":
            frame.stack[where_] = _replaced(machine, frame.stack[where_], keys, value)
        else:
            obj = self.heap[where_][0]
            machine.journal.touch(obj)
            if isinstance(obj, Tensor):
                _, namespace = contents_of(obj)
                restore(obj, ((data_of(value), value._node, getattr(value, "_index", 0), None), namespace))
            else:
                restore(obj, _replaced(machine, contents_of(obj), keys, value))


class Iteration:
    """An iteration that came back to the test, compared with the state that it began with.

    Args:
        machine: the interpreter, in the state before the loop.
        frame: the frame of the loop.
        start: that state; contents of objects are added.
        outcome: the state when the body came back to the test.
        places: what is carried already.
        inside: ids of objects made in the body; the next iteration makes its own.
    """

    def __init__(
        self, machine: Machine, frame: Frame, start: LoopState, outcome: Outcome, places: dict[Path, None],
        inside: set[int],
    ) -> None:  # fmt: skip
        self._machine = machine
        self._frame = frame
        self._start = start
        self._outcome = outcome
        self._places = places
        self._inside = inside
        self._changed: list[Path] = []
        self._pairs = Pairs()
        #: id of an object -> what it contains when the iteration ends, or what its partner does
        self._ends: dict[int, Any] = {}

    def changes(self, region: Graph, live: frozenset[int]) -> list[Path]:
        """The places whose value after the iteration differs from the one before.

        Args:
            region: the graph of the body.
            live: the fast locals that are read later.
        """
        start, outcome = self._start, self._outcome
        for i, (before, after) in enumerate(zip(start.slots, outcome.slots, strict=True)):
            if i in live and before is UNBOUND:
                self._bind(after, ("slot", i))
            elif i in live:
                self._compare(before, after, ("slot", i))
        for i, (before, after) in enumerate(zip(start.stack, outcome.stack, strict=True)):
            self._compare(before, after, ("stack", i))
        own = []
        for key, (obj, after) in outcome.heap.items():
            if self._is_inside(key) or (isinstance(obj, Tensor) and belongs(obj, region)):
                continue
            if isinstance(obj, Tensor):
                self._tensor(obj, after)
            elif self._machine.journal.belongs(key, self._machine.created):
                own.append(obj)
            else:
                self._contents(obj, obj)
        held = {id(part) for obj in own for part in parts_of(contents_of(obj))}
        for obj in sorted(own, key=lambda obj: id(obj) in held):  # what holds others says which they become
            owner = self._machine.journal.owner(id(obj))
            if not {id(obj), id(owner)} & self._pairs.partners.keys():
                self._contents(obj, obj)
                self._pairs.alone(obj if owner is None else owner)
        self._pairs.check(self._machine, self._frame, dict.fromkeys(self._ends))
        return self._changed

    def get(self, path: Path) -> Any:
        """The value at a place after the iteration."""
        kind, where_, *keys = path
        trace = self._machine.trace
        if kind == "slot":
            return _descend(trace, self._outcome.slots[where_], keys)
        if kind == "stack":
            return _descend(trace, self._outcome.stack[where_], keys)
        if where_ in self._ends:
            return _descend(trace, self._ends[where_], keys)
        if where_ not in self._outcome.heap:
            return self._start.get(path)
        obj, contents = self._outcome.heap[where_]
        return self._comparable(obj, contents) if isinstance(obj, Tensor) else _descend(trace, contents, keys)

    def _is_inside(self, key: int) -> bool:
        return self._machine.journal.belongs(key, self._inside)

    def _tensor(self, obj: Tensor, after: Any) -> None:
        """Compare the value of a tensor from before the loop."""
        before = self._before(obj)
        now = self._comparable(obj, after)
        if ("heap", id(obj)) in self._places or not same_leaf(before, now):
            _check_type(before, now)
            self._changed.append(("heap", id(obj)))

    def _before(self, obj: Any) -> Any:
        """The contents of an object before the loop."""
        heap = self._start.heap
        if id(obj) not in heap:
            heap[id(obj)] = (obj, self._comparable(obj, contents_of(obj)))
        return heap[id(obj)][1]

    def _comparable(self, obj: Any, contents: Any) -> Any:
        if not isinstance(obj, Tensor):
            return contents
        return state_of(self._machine.trace, obj, settled_contents(contents))

    def _bind(self, after: Any, path: Path) -> None:
        """A variable that the body binds for the first time: it is carried with whether it is bound yet."""
        value, _ = binding(after)
        if value is ABSENT:
            return
        if not is_leaf(value):
            raise LoopChange("a variable is bound only inside the loop")
        kind = leaf_type(value)
        if self._start.bound_types.setdefault(path, kind) is not kind:
            raise LoopChange("a variable bound in the loop changes its type")
        self._changed.append(path)

    def _compare(self, before: Any, after: Any, path: Path) -> None:
        """Compare what is in a place before and after the iteration."""
        if before is after:
            self._same(before)
            return
        if before is EMPTY_CELL or after is EMPTY_CELL or after is UNBOUND or type(after) is MaybeUnbound:
            raise LoopChange("a variable is bound only in some iterations")
        if is_leaf(before) and is_leaf(after):
            if path in self._places or is_handle(before) or not same_leaf(before, after):
                _check_type(before, after)
                self._changed.append(path)
            return
        if type(before) is not type(after) or isinstance(before, Tensor):
            raise LoopChange(f"a {_kind(before)} becomes a {_kind(after)}")
        if isinstance(before, tuple) and len(before) == len(after):
            items_of = self._machine.trace.items_of
            for i, (x, y) in enumerate(zip(items_of(before), items_of(after), strict=True)):
                self._compare(x, y, (*path, i))
        elif _is_same_value(before, after):
            return
        elif self._is_own(before) and self._is_own(after) and same_layout(before, after):
            self._pair(before, after)
        else:
            raise LoopChange(f"a {_kind(before)} is replaced by another one")

    def _is_own(self, obj: Any) -> bool:
        """Whether an object was made during the capture; one from outside has to stay itself."""
        return self._machine.journal.belongs(id(obj), self._machine.created)

    def _same(self, value: Any) -> None:
        """A place holds the same after the iteration as before."""
        self._pairs.alone(value)
        for obj in (value, namespace_of(value)):
            if id(obj) in self._outcome.heap and not isinstance(obj, Tensor):
                self._contents(obj, obj)

    def _pair(self, before: Any, after: Any) -> None:
        """A place holds another object after the iteration: it is what the one before was."""
        if id(before) in self._pairs.partners and self._pairs.partners[id(before)] is after:
            return
        self._pairs.add(before, after, "a variable")
        self._contents(before, after)
        first, second = namespace_of(before), namespace_of(after)
        if first is not None and second is not None:
            self._machine.journal.namespace(before)
            self._machine.journal.namespace(after)
            self._pair(first, second)

    def _contents(self, obj: Any, other: Any) -> None:
        """Compare the contents of an object before the iteration with those of its partner after it."""
        key = id(obj)
        if key in self._ends:
            return
        before, noted = self._before(obj), self._outcome.heap.get(id(other))
        after = self._ends[key] = contents_of(other) if noted is None else noted[1]
        if isinstance(obj, types.CellType):
            self._compare(before, after, ("heap", key))
            return
        before, after = with_one_count(self._machine.journal.owner(key), before, after)
        self._record(before, after, ("heap", key))

    def _record(self, before: Any, after: Any, path: Path, depth: int = 2) -> None:
        """Compare contents as the journal notes them, in lists and dictionaries that are nobody's."""
        kind = type(before)
        if depth and kind is type(after) and kind in (list, tuple, dict, set):
            if kind is dict:
                if not _is_same_value(tuple(before), tuple(after)):
                    raise LoopChange("a dictionary, or an object, gets other keys or attributes")
                for key in before:
                    self._record(before[key], after[key], (*path, key), depth - 1)
            elif len(before) != len(after):
                raise LoopChange(f"something of {len(before)} items becomes one of {len(after)}")
            elif kind is set:
                if not _is_same_value(tuple(before), tuple(after)):
                    raise LoopChange("a set gets other items")
            else:
                for i, (x, y) in enumerate(zip(before, after, strict=True)):
                    self._record(x, y, (*path, i), depth - 1)
            return
        self._compare(before, after, path)


def _is_same_value(before: Any, after: Any) -> bool:
    """Whether two values are as good as one."""
    if before is after:
        return True
    if type(before) is not type(after) or isinstance(before, Tensor):
        return False
    if isinstance(before, tuple):
        return len(before) == len(after) and all(map(_is_same_value, before, after))
    if is_leaf(before):
        return same_leaf(before, after)
    if isinstance(before, (types.MethodType, types.BuiltinMethodType)):
        return bool(before.__self__ is after.__self__ and before == after)
    try:
        return is_value(before) and bool(before == after) and repr(before) == repr(after)
    except Exception:
        if NOTED.refused:
            NOTED.refused.clear()
        return False


def _descend(trace: Trace, value: Any, keys: list[Any]) -> Any:
    for key in keys:
        value = trace.items_of(value)[key] if isinstance(value, tuple) else value[key]
    return value


def _replaced(machine: Any, value: Any, keys: list[Any], leaf: Any) -> Any:
    """A value with one leaf in it replaced: tuples are made anew, the journal's lists and dictionaries are changed."""
    if not keys:
        return leaf
    key, *rest = keys
    if not isinstance(value, tuple):
        value[key] = _replaced(machine, value[key], rest, leaf)
        return value
    items = [*machine.trace.items_of(value)]
    items[key] = _replaced(machine, items[key], rest, leaf)
    copy: Any = type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    machine.trace.merged[id(copy)] = copy  # it stands for the one before the loop, too
    return machine.made(copy)


def _kind(value: Any) -> str:
    if issubclass(type(value), RunNumber):
        return f"Python {value.kind.__name__}"
    if isinstance(value, Tensor):
        return f"tensor {value.dtype}{list(value.shape)}"
    if isinstance(value, (list, tuple, dict, set)):
        return f"{type(value).__name__} of {len(value)} items"
    return f"Python {type(value).__name__}" if type(value) in KINDS else type(value).__name__


def _check_type(before: Any, after: Any) -> None:
    if leaf_type(before) is not leaf_type(after):
        raise LoopChange(f"a {_kind(before)} becomes a {_kind(after)}")
