"""Choices of handles: what a variable holds where only the running graph knows which of several tensors it is.

Where the paths of a branch meet, a variable may be one of two tensors that existed before. In Python it is then one of
them: a write through it is seen by the other name, and `is` tells which it is. A `Choice` stands for such a tensor. Its
value is that of the tensor that it is, so that reading costs nothing more; a write through it becomes a conditional
write of each candidate, and a write of a candidate one of the choice. `Tensor.rebind` asks `_spread` at every write, so
no operation has to know about choices. What cannot be said of all candidates alike (the class, an attribute, the hash)
is refused.
"""

from __future__ import annotations

import functools
import itertools
import threading
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NoReturn

from weft.core import sharing
from weft.core import trace as trace_module
from weft.core.number import as_number
from weft.core.tape import SYMBOL, WRITES
from weft.core.tensor import Parameter, Tensor, data_of
from weft.core.trace import Trace, has_another_type
from weft.errors import Refusal, Unsupported
from weft.ir.graph import Graph

#: `where(condition, a, b)`, installed by `weft.ops.select`
select: Any = None
#: ``either(trace, condition, ones, others)``: tensors that are the ones where the condition holds, else the others, as
#: they come out of a branch; installed by `weft.compile.control`
either: Any = None
#: a condition that only the running graph knows, or what computes one in the current graph
Condition = Tensor | Callable[[], Tensor]
_next_serial = itertools.count(1).__next__
_SLOTS: Final = frozenset({"_data", "_node", "_index", "_type", "_member", "cases", "own", "home", "serial"})


class Case:
    """One candidate of a choice.

    Args:
        handle: the tensor that the choice is in this case.
        condition: decides whether it is; None if it always is.
        when: the truth of the condition in this case.
    """

    __slots__ = ("handle", "condition", "when")

    def __init__(self, handle: Tensor, condition: Condition | None, when: bool = True) -> None:
        self.handle = handle
        self.condition = condition
        self.when = when

    def truth(self) -> Tensor:
        """Whether the case holds, as a run-time bool of the current graph."""
        found = True if self.condition is None else _value(self.condition)
        return as_number(found if self.when else select(found, False, True), bool)

    def pick(self, new: Any, old: Any) -> Any:
        """`new` where the case holds, else `old`."""
        if self.condition is None:
            return new
        found = _value(self.condition)
        return select(found, new, old) if self.when else select(found, old, new)

    def write(self, trace: Trace, writes: Callable[[], Any]) -> None:
        """Write tensors where the case holds.

        Where it does not hold they are what they were before, as behind a branch of the program: gradients pass them
        as if nothing had been written.

        Args:
            trace: the active trace.
            writes: writes them.
        """
        if self.condition is None:
            writes()
            return
        before: dict[int, tuple[Tensor, Tensor]] = {}
        told = trace.on_write

        def note(tensor: Tensor) -> None:
            if told is not None:
                told(tensor)
            if id(tensor) not in before:
                before[id(tensor)] = tensor, trace.present(tensor)

        trace.on_write = note
        try:
            writes()
        finally:
            trace.on_write = told
        if not before:
            return
        handles = [tensor for tensor, _ in before.values()]
        new, old = [trace.present(tensor) for tensor in handles], [was for _, was in before.values()]
        for handle, merged in zip(handles, self.merged(trace, new, old), strict=True):
            _take(handle, merged)

    def merged(self, trace: Trace, new: list[Tensor], old: list[Tensor]) -> list[Tensor]:
        """Tensors that are the new ones where the case holds, else the old ones, as behind a branch of the program: no
        gradient arrives at those that they are not.
        """
        if self.condition is None:
            return new
        sides = (new, old) if self.when else (old, new)
        found: list[Tensor] = either(trace, _value(self.condition), *sides)
        return found


def _value(condition: Condition) -> Tensor:
    return condition if isinstance(condition, Tensor) else condition()


class Choice(Tensor):
    """A tensor that is one of several others, or where no case holds a tensor of its own.

    Args:
        cases: the others, of which at most one case holds.
        own: whether it may be a tensor of its own.
        home: the graph in which the choice is made.
    """

    __slots__ = ("cases", "own", "home", "serial")

    cases: list[Case]
    own: bool
    home: Graph
    serial: int

    def __init__(self, cases: Sequence[Case], own: bool, home: Graph) -> None:
        self.cases = list(cases)
        self.own = own
        self.home = home
        self.serial = _next_serial()
        self._data = None
        self._node = SYMBOL
        self._index = 0
        self._type = None
        self._member = None

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        kinds = self.kinds()
        return kinds.pop() if len(kinds) == 1 else Tensor  # see `class_of`

    def kinds(self) -> set[type]:
        """The classes that it may have."""
        found: set[type] = {Tensor} if self.own else set()
        for case in self.cases:
            found |= case.handle.kinds() if type(case.handle) is Choice else {type(case.handle)}
        return found

    def __weft_isinstance__(self, kind: type) -> bool:
        answers = {issubclass(found, kind) for found in self.kinds()}
        if len(answers) > 1:
            refuse(f"not all of them are of class {kind.__name__}")
        return answers.pop()

    def __hash__(self) -> int:
        return refuse("it is hashed")

    def __getattr__(self, name: str) -> Any:
        if name == "__dict__" or not any(hasattr(case.handle, name) for case in self.cases):
            raise AttributeError(f"'Tensor' object has no attribute {name!r}", name=name, obj=self)
        refuse(f"its attribute {name!r} is read")

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _SLOTS:
            refuse(f"its attribute {name!r} is set")
        object.__setattr__(self, name, value)


#: what a class has for itself
_OF_CLASSES: Final = frozenset({"__init__", "__new__", "__doc__", "__module__", "__slots__", "__dict__", "__weakref__"})


def complete() -> None:
    """Give choices what the class of Parameters does otherwise than that of tensors, by the class of the candidates."""
    for name, found in vars(Parameter).items():
        if name not in _OF_CLASSES and isinstance(found, (property, types.FunctionType)):
            setattr(Choice, name, property(_getter(name)))


def _getter(name: str) -> Callable[[Choice], Any]:
    in_place = name[:3] == "__i" and not hasattr(Tensor, name)

    def get(choice: Choice) -> Any:
        kind = class_of(choice)
        found = vars(Parameter)[name] if issubclass(kind, Parameter) else getattr(Tensor, name, None)
        if found is None and in_place:
            return lambda other: NotImplemented
        if found is None:
            raise AttributeError(f"'Tensor' object has no attribute {name!r}", name=name, obj=choice)
        return found.__get__(choice, kind)

    return get


def class_of(choice: Choice) -> type:
    """The class of the tensor that a choice is.

    Raises:
        Unsupported: not all candidates have the same.
    """
    kinds = choice.kinds()
    if len(kinds) > 1:
        refuse("its class is asked for, and not all of them have the same")
    return kinds.pop()


def refuse(why: str) -> NoReturn:
    """Refuse what only Python can do with one of several tensors."""
    raise Unsupported(
        Refusal.TENSOR_CONDITION,
        f"a tensor is one or another depending on a condition that only the running graph knows, and {why}",
        "give the paths new tensors (ops.where of both), or do this on each path",
    )


def choose(cases: Sequence[Case], value: Tensor, home: Graph) -> Choice:
    """The choice among several tensors of which exactly one case holds.

    Args:
        cases: the cases.
        value: the value of the tensor that it is.
        home: the graph in which the choice is made.
    """
    made = Choice(cases, False, home)
    _take(made, value)
    register(made)
    return made


class _Local(threading.local):
    def __init__(self) -> None:
        #: id of a tensor -> it, and the choices that may be it, with the case
        self.choices: dict[int, tuple[Tensor, list[tuple[Choice, Case]]]] = {}
        #: ids of choices that are being written
        self.busy: set[int] = set()


_local = _Local()


def register(choice: Choice) -> None:
    """Let writes of the candidates of a choice reach it."""
    for case in choice.cases:
        _local.choices.setdefault(id(case.handle), (case.handle, []))[1].append((choice, case))


def _of(tensor: Tensor, trace: Trace) -> Iterator[tuple[Choice, Case]]:
    """The choices that may be a tensor, as far as they still exist where the trace is now."""
    known = _local.choices.get(id(tensor))
    for choice, case in () if known is None else tuple(known[1]):
        if _is_within(trace, choice.home):
            yield choice, case


def _is_within(trace: Trace | None, home: Graph) -> bool:
    """Whether a trace, or one around it, is building a graph or a region of it."""
    while trace is not None:
        graph: Graph | None = trace.graph
        while graph is not None and graph is not home:
            graph = graph.parent
        if graph is not None:
            return True
        trace = trace.outer
    return False


def _take(tensor: Tensor, source: Tensor) -> None:
    """Let a tensor stand for the value of another, telling nobody."""
    tensor._data = data_of(source)
    tensor._node = source._node
    tensor._type = source._type
    if source._node is not None and source._node is not SYMBOL:
        tensor._index = source._index
        if WRITES.handles is not None:
            WRITES.handles[id(tensor)] = tensor


def _spread(trace: Trace, tensor: Tensor, source: Tensor) -> None:
    """A tensor is about to be written: what it may be, and what may be it, take the value where they are the same."""
    busy = _local.busy
    if isinstance(tensor, Choice):
        if id(tensor) in busy:
            return
        if has_another_type(tensor, source):
            refuse("it gets a value of another shape or type")
        busy.add(id(tensor))
        try:
            for case in tensor.cases:
                case.write(trace, functools.partial(case.handle.rebind, source))
        finally:
            busy.discard(id(tensor))
    _reach(trace, tensor, source)


def _reach(trace: Trace, tensor: Tensor, source: Tensor) -> None:
    for choice, case in _of(tensor, trace):
        if id(choice) in _local.busy:
            continue
        if has_another_type(choice, source):
            refuse("it gets a value of another shape or type")
        case.write(trace, functools.partial(_become, trace, choice, source))


def _become(trace: Trace, choice: Choice, source: Tensor) -> None:
    """A candidate that a choice is was written."""
    if trace.on_write is not None:
        trace.on_write(choice)
    _reach(trace, choice, source)
    _take(choice, source)
    sharing.renew_views(trace, choice)


def _exchange(state: Any) -> Any:
    """A trace that is inside of no other begins, or ends and what was interrupted goes on; returns the choices so far.

    Args:
        state: the choices to go on with, None to begin without any.
    """
    before = (_local.choices, _local.busy)
    _local.choices, _local.busy = ({}, set()) if state is None else state
    return before


trace_module.install_choices(_spread, _exchange)


def _candidates(tensor: Tensor) -> list[Tensor] | None:
    if type(tensor) is not Choice:
        return None
    return [case.handle for case in tensor.cases] + [tensor] * (tensor.own or not tensor.cases)


sharing.install_choices(_candidates)


def follow(tensor: Tensor) -> list[tuple[Tensor, Any, Any]]:
    """A gradient follows a tensor from now on: the choices that may be it take its new value.

    Args:
        tensor: a Parameter, on the leaf of a gradient.

    Returns:
        list: what `unfollow` needs to take it back.
    """
    trace = trace_module.current()
    if trace is None:
        return []
    if isinstance(tensor, Choice):
        refuse("a gradient with respect to it is asked for")
    changed: list[tuple[Tensor, Any, Any]] = []

    def reach(handle: Tensor) -> None:
        for choice, case in _of(handle, trace):
            before = _state(choice)
            _take(choice, case.merged(trace, [handle], [choice])[0])
            changed.append((choice, before, _state(choice)))
            reach(choice)

    reach(tensor)
    return changed


def unfollow(changed: Sequence[tuple[Tensor, Any, Any]], cut: Callable[[Tensor], None] | None) -> None:
    """The gradient is done: choices that were not written meanwhile are themselves again.

    Args:
        changed: what `follow` returned.
        cut: called with those that were written.
    """
    for choice, before, during in reversed(changed):
        if data_of(choice) is during[0] and choice._node is during[1]:
            choice._data, choice._node, choice._index, choice._type = before
        elif cut is not None:
            cut(choice)


def _state(tensor: Tensor) -> tuple[Any, Any, int, Any]:
    return data_of(tensor), tensor._node, getattr(tensor, "_index", 0), tensor._type


def same(a: Any, b: Any, told_apart: Callable[[Any, Any], None]) -> Any:
    """Whether two values are one object: a bool, or a run-time bool where the running graph knows.

    Args:
        a: a value.
        b: another value.
        told_apart: called with two different objects that may be what the values are.
    """
    if a is b:
        return True
    choices = [v for v in (a, b) if type(v) is Choice]
    if not choices or not all(issubclass(type(v), Tensor) for v in (a, b)):
        told_apart(a, b)
        return False
    newer = max(choices, key=lambda choice: choice.serial)  # what it may be existed before
    other = b if newer is a else a
    found: Any = False
    for case in newer.cases:
        is_it = same(case.handle, other, told_apart)
        if is_it is False:
            continue
        here = case.truth() if is_it is True else select(case.truth(), is_it, False)
        found = here if found is False else select(found, True, here)
    return found if found is False else as_number(found, bool)
