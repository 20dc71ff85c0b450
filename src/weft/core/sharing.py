"""Tensors that share elements: a base and its views.

A view is a handle like any other, with an array of its own. What is known besides is how it comes from its base: its
way, the steps of indexing, reshaping and permuting that lead to it. A write to one of the tensors of a storage is a
write to the base and to every view that shares an element with it; each gets its new value at once, by its way. So all
tensors hold what they stand for at any time, reading costs nothing, and for a capture a write through a view is the
write of several handles.

While a graph is built, what it makes of a tensor is noted in the trace, and tensors from outside do not change. Which
tensors share elements where only the running graph knows is a `Group`: a write to one of them is refused.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple, NoReturn

import numpy as np

from weft.core import tensor as tensor_module
from weft.core import trace as trace_module
from weft.core.tape import SYMBOL, WRITES, TapeNode
from weft.core.tensor import LiteralTensor, Tensor, data_of
from weft.core.trace import Trace, has_another_type
from weft.errors import Refusal, Unsupported
from weft.ir.graph import Graph, Value

#: one step from a tensor to a view of it: the name of its kind, static attributes, and operands that are tensors
Step = tuple[str, Any, tuple[Any, ...]]
Way = tuple[Step, ...]
#: how the elements of a tensor lie in the memory of its base: shape and steps in elements
Layout = tuple[tuple[int, ...], tuple[int, ...]]


class Kind(NamedTuple):
    """What steps of one kind do.

    Attributes:
        read: ``read(base, attrs, operands)``: the view.
        write: ``write(base, value, attrs, operands)``: the base with the view's elements replaced.
        layout: ``layout(layout of the base, attrs)``: the layout of the view, None if it can have none.
        apart: ``apart(shape of the base, attrs, other attrs)``: whether two views share no element for certain.
    """

    read: Callable[[Any, Any, Any], Any]
    write: Callable[[Any, Any, Any, Any], Any]
    layout: Callable[[Layout, Any], Layout | None]
    apart: Callable[[Any, Any, Any], bool] = lambda shape, one, other: False


KINDS: Final[dict[str, Kind]] = {}
#: held while a write goes to all tensors that share its elements, or another one comes to share them
WRITING: Final = threading.RLock()
#: the tensors that a tensor may be, itself among them if it may be one of its own; installed by `weft.core.choice`
_candidates: Callable[[Tensor], list[Tensor] | None]


def install_choices(candidates: Callable[[Tensor], list[Tensor] | None]) -> None:
    """Set what tells the tensors that a tensor may be; None for one that is itself."""
    global _candidates
    _candidates = candidates


#: what `weft.core.lending` does where memory is shared with a NumPy array: writes a tensor, and takes in a new view
_write_lent: Callable[[Tensor, Tensor, Step | None], bool]
_join: Callable[[Tensor], None]


def install_lending(write: Callable[[Tensor, Tensor, Step | None], bool], join: Callable[[Tensor], None]) -> None:
    """Set what writes a tensor, and takes in a new view, where memory is shared with a NumPy array."""
    global _write_lent, _join
    _write_lent, _join = write, join


class Storage:
    """The views of one base.

    Attributes:
        trace: the trace that made them, None outside of any.
    """

    __slots__ = ("trace", "views", "limit", "busy", "maybe", "memory", "version")

    def __init__(self, trace: Trace | None) -> None:
        self.trace = trace
        self.views: list[weakref.ref[Tensor]] = []
        self.limit = 8
        #: the thread that spreads a write to one of its tensors, 0 for none
        self.busy = 0
        #: the tensors that are views of the base in some cases
        self.maybe: list[Alternative] = []
        #: the NumPy array that shares the elements of the base, see `weft.core.lending`; None for none
        self.memory: Any = None
        #: how often another array came to hold the elements of the base while memory is shared
        self.version = 0

    def add(self, view: Tensor) -> None:
        """Note a view, as long as it lives."""
        views = self.views
        if len(views) >= self.limit:
            self.views = views = [known for known in views if known() is not None]
            self.limit = 2 * len(views) + 8
        views.append(weakref.ref(view))

    def living(self) -> Iterator[Tensor]:
        """The views that something still holds."""
        for known in tuple(self.views):
            view = known()
            if view is not None:
                yield view


class Member:
    """How a tensor belongs to a storage.

    Args:
        storage: the storage.
        base: the base; None for the base itself.
        way: from the base to the tensor.
        home: the graph in which it was made, None outside of any trace.
    """

    __slots__ = ("storage", "base", "way", "home", "held", "version")

    def __init__(self, storage: Storage, base: Tensor | None, way: Way, home: Graph | None) -> None:
        self.storage = storage
        self.base = base
        self.way = way
        self.home = home
        #: while memory is shared: the device array that the tensor has, of a view one that it had at a version
        self.held: Any = None
        self.version = 0


class Alternative:
    """A tensor that is a view of a base in one case.

    Args:
        view: the tensor.
        case: the base, and when it is a view of it (a `weft.core.choice.Case`).
        way: from the base.
        home: the graph in which that is so.
    """

    __slots__ = ("view", "case", "way", "home")

    def __init__(self, view: Tensor, case: Any, way: Way, home: Graph) -> None:
        self.view = view
        self.case = case
        self.way = way
        self.home = home


def share(view: Tensor, base: Tensor, *steps: Step) -> Tensor:
    """Let a new tensor share its elements with another.

    Args:
        view: the new tensor, on the array that the steps give.
        base: what it is a view of.
        steps: the way from `base`.

    Returns:
        Tensor: `view`.
    """
    if base.__class__ is LiteralTensor or view is base:
        return view
    trace = trace_module.current()
    if trace is None:
        with WRITING:
            known = base._member
            if known is None:
                base._member = known = Member(Storage(None), None, (), None)
            storage = known.storage
            if known.base is None:
                view._member = Member(storage, base, steps, None)
            else:
                view._member = Member(storage, known.base, known.way + steps, None)
            storage.add(view)
            if storage.memory is not None:
                _join(view)
        return view
    known = base._member
    if known is not None and known.storage.trace is trace:
        storage = known.storage
        view._member = Member(storage, known.base, known.way + steps, trace.graph)
    else:
        storage = _storage_of(trace, base)
        view._member = Member(storage, base, steps, trace.graph)
    storage.add(view)
    return view


def _storage_of(trace: Trace, base: Tensor) -> Storage:
    """What a trace knows of the views of a tensor."""
    found = trace.storages.get(id(base))
    if found is None:
        found = trace.storages[id(base)] = base, Storage(trace)
    storage: Storage = found[1]
    return storage


def member(tensor: Tensor) -> Member | None:
    """How a tensor is a view of another, as far as this thread's trace made it one, or outside of any trace."""
    trace, known = trace_module.current(), tensor._member
    if known is None or known.storage.trace is not trace or known.base is None:
        return None
    found: Member = known
    return found


def read(base: Any, way: Way) -> Any:
    """What stands at the end of a way."""
    for kind, attrs, operands in way:
        base = KINDS[kind].read(base, attrs, operands)
    return base


def written(base: Any, way: Way, value: Any) -> Any:
    """The base with what stands at the end of a way replaced."""
    if not way:
        return value
    (kind, attrs, operands), *rest = way
    if rest:
        value = written(KINDS[kind].read(base, attrs, operands), tuple(rest), value)
    return KINDS[kind].write(base, value, attrs, operands)


def layout(tensor: Tensor) -> Layout | None:
    """How the elements of a tensor lie in the memory of its base; None where only the running graph knows."""
    trace = trace_module.current()
    known = tensor._member
    if trace is None or (known is not None and known.storage.trace is trace):
        return _layout(tensor, known)
    several = _candidates(tensor)
    if several is not None:
        found = [layout(one) if one is not tensor else _noted_layout(trace, one, None) for one in several]
        return found[0] if all(one == found[0] for one in found) else None
    return _noted_layout(trace, tensor, known)


def _noted_layout(trace: Trace, tensor: Tensor, known: Member | None) -> Layout | None:
    if id(tensor) in trace.layouts:
        return trace.layouts[id(tensor)]
    found = _layout(tensor, known)
    trace.read_layout(tensor, found)
    return found


def _layout(tensor: Tensor, known: Member | None) -> Layout | None:
    shape = tensor.shape
    if known is None or known.base is None:
        return shape, contiguous(shape)
    found = layout(known.base)
    for kind, attrs, _ in known.way:
        if found is None:
            return None
        found = KINDS[kind].layout(found, attrs)
    return found


def contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The steps of a tensor whose elements lie one after the other."""
    steps, step = [], 1
    for size in reversed(shape):
        steps.append(step)
        step *= size or 1
    return tuple(reversed(steps))


def is_contiguous(tensor: Tensor) -> bool:
    """Whether the elements of a tensor lie one after the other."""
    found = layout(tensor)
    if found is None:
        raise Unsupported(
            Refusal.TENSOR_CONDITION,
            "how a tensor lies in memory depends on a condition that only the running graph knows",
            "ask on each path",
        )
    shape, steps = found
    wanted = contiguous(shape)
    return 0 in shape or all(size == 1 or a == b for size, a, b in zip(shape, steps, wanted, strict=True))


def _are_apart(base: Tensor, one: Way, other: Way) -> bool:
    """Whether two views share no element for certain."""
    if not one or not other or one[0][0] != other[0][0]:
        return False
    (kind, attrs, operands), (_, others, other_operands) = one[0], other[0]
    if operands or other_operands:
        return False
    return KINDS[kind].apart(base.shape, attrs, others)


# -- writing ---------------------------------------------------------------------------------------------------


def _write(tensor: Tensor, source: Tensor, region: Step | None) -> bool:
    """Write a tensor that may share elements: see `Tensor.rebind`. Returns whether it was written here.

    Args:
        tensor: the tensor.
        source: its new value.
        region: what is new of it, None for all.
    """
    trace = trace_module.current()
    known = tensor._member
    if trace is not None:
        trace.note_region(tensor, source, region)
        return _write_in_trace(trace, tensor, source, region)
    if known is None or known.storage.trace is not None or known.storage.busy == threading.get_ident():
        return False  # a storage of a trace that has ended holds no tensors of the program
    if known.storage.memory is not None:
        return _write_lent(tensor, source, region)
    return write_all(tensor, source, region, known)


def write_all(tensor: Tensor, source: Tensor, region: Step | None, known: Member) -> bool:
    """Write a tensor outside of any trace, its base and views; returns whether it was written here.

    Args:
        tensor: the tensor.
        source: its new value.
        region: what is new of it, None for all.
        known: how it belongs to its storage.
    """
    if source.type is not tensor.type:
        _leave(None, tensor, known)
        return False
    _spread(None, tensor, source, region, known)
    return True


def _write_in_trace(trace: Trace, tensor: Tensor, source: Tensor, region: Step | None) -> bool:
    known = tensor._member
    if known is None or known.storage.trace is not trace:
        _note_outside(trace, tensor)
        found = trace.storages.get(id(tensor))
        known = None if found is None else Member(found[1], None, (), None)
    busy = known is not None and known.storage.busy
    if known is not None and not busy and has_another_type(tensor, source):
        _leave(trace, tensor, known)
        known = None
    if not busy:
        _refuse_unclear(trace, tensor)
    alternatives = trace.alternatives.get(id(tensor), ()) if trace.alternatives else ()
    if (known is None or busy) and not alternatives:
        return False
    if known is None or busy:
        _take(tensor, source)
    else:
        _spread(trace, tensor, source, region, known)
    _spread_to_alternatives(trace, tensor, alternatives)
    return True


def _spread(trace: Trace | None, tensor: Tensor, source: Tensor, region: Step | None, known: Member) -> None:
    """Write a tensor, its base, and the views that share elements with it."""
    base: Tensor = tensor if known.base is None else known.base
    storage = known.storage
    way = known.way if region is None else (*known.way, region)
    new_of_base = way[0] if len(way) == 1 else None
    with WRITING:
        storage.busy = threading.get_ident()
        try:
            if base is tensor:
                _take(tensor, source)
            elif region is not None and type(base._node) is TapeNode:
                # what is not new keeps the history that it has in the base: the view may have none
                base.rebind(written(base, way, read(source, (region,))), new_of_base)
                _take(tensor, read(base, known.way))
            else:
                new = written(base, known.way, source)
                _take(tensor, source)
                base.rebind(new, new_of_base)
            _renew(trace, storage, base, tensor, way)
        finally:
            storage.busy = 0


def _renew(trace: Trace | None, storage: Storage, base: Tensor, tensor: Tensor | None, way: Way) -> None:
    """Give the views that share elements with what was written their new values."""
    for view in storage.living():
        other = view._member
        if view is tensor or other is None or other.storage is not storage or _are_apart(base, way, other.way):
            continue
        if trace is None or is_around(trace, other.home):
            view.rebind(read(base, other.way))
    for one in storage.maybe:
        if trace is not None and is_around(trace, one.home) and id(one.view) not in trace.spreading:
            trace.spreading.add(id(one.view))
            try:
                one.case.write(trace, lambda one=one: one.view.rebind(read(base, one.way)))
            finally:
                trace.spreading.discard(id(one.view))


def _spread_to_alternatives(trace: Trace, tensor: Tensor, alternatives: Sequence[Alternative]) -> None:
    """Write the bases of which a tensor may be a view."""
    if id(tensor) in trace.spreading:
        return
    trace.spreading.add(id(tensor))
    try:
        for one in alternatives:
            if is_around(trace, one.home):
                base = one.case.handle
                one.case.write(trace, lambda base=base, way=one.way: base.rebind(written(base, way, tensor)))
    finally:
        trace.spreading.discard(id(tensor))


def renew_views(trace: Trace | None, base: Tensor) -> None:
    """Compute the views of a tensor from it anew.

    It got another value in another way than by a write; or gradients of what is computed with a view from now on are to
    pass the tensor, while the view has its value from what was written to it.

    Args:
        trace: the trace, None outside of any.
        base: the tensor, perhaps one without views.
    """
    if trace is None:
        known = base._member
        storage = None if known is None or known.base is not None else known.storage
    else:
        found = trace.storages.get(id(base))
        storage = None if found is None else found[1]
    if storage is None or storage.busy:
        return
    with WRITING:
        storage.busy = threading.get_ident()
        try:
            _renew(trace, storage, base, None, ())
        finally:
            storage.busy = 0


def is_around(trace: Trace, home: Graph | None) -> bool:
    """Whether a trace is building a graph, or a region inside of it."""
    graph: Graph | None = trace.graph
    while graph is not None and graph is not home:
        graph = graph.parent
    return graph is not None


def _take(tensor: Tensor, source: Tensor) -> None:
    tensor._data = data_of(source)
    tensor._node = node = source._node
    if node is not None and node is not SYMBOL:
        tensor._index = source._index
        if WRITES.handles is not None:
            WRITES.handles[id(tensor)] = tensor
    tensor._type = source._type


def _leave(trace: Trace | None, tensor: Tensor, known: Member) -> None:
    """A tensor gets a value of another shape or type: from now on it shares with none of those it shared with."""
    if known.base is not None:
        tensor._member = None
        return
    heir = tensor_module.view(tensor)
    if trace is None:
        heir._member = tensor._member
        tensor._member = None
    else:
        trace.storages[id(heir)] = heir, trace.storages.pop(id(tensor))[1]
    for view in known.storage.living():
        other = view._member
        if other is not None and other.base is tensor:
            other.base = heir


def spread(tensor: Tensor, region: Step | None = None) -> None:
    """A tensor that shares elements was written by a graph, without `rebind`: the others get their new values.

    Args:
        tensor: the tensor.
        region: what is new of it, None for all.
    """
    _write(tensor, tensor, region)


# -- what a trace may take for granted ---------------------------------------------------------------------------


def _foreign(trace: Trace, tensor: Tensor) -> Storage | None:
    """The storage of a tensor outside of a trace."""
    known = tensor._member
    if known is not None and known.storage.trace is not trace:
        found: Storage = known.storage
        return found
    outer = trace.outer
    while outer is not None:
        if id(tensor) in outer.storages:
            return _storage_of(outer, tensor)
        outer = outer.outer
    return None


def _note_outside(trace: Trace, tensor: Tensor) -> None:
    """A tensor from outside is written: the graph may not know others that share its elements."""
    storage = _foreign(trace, tensor)
    if storage is None:
        return
    for other, _ in trace.externals.values():
        if other is not tensor and _foreign(trace, other) is storage:
            _refuse_shared()
    for known, other in trace.written_storages:
        if known is storage and other is not tensor:
            _refuse_shared()
    trace.written_storages.append((storage, tensor))


def note_read(trace: Trace, tensor: Tensor) -> None:
    """A tensor from outside is read for the first time, by a trace that has written some that share elements."""
    storage = _foreign(trace, tensor)
    if storage is not None and any(known is storage and other is not tensor for known, other in trace.written_storages):
        _refuse_shared()


def _refuse_shared() -> NoReturn:
    raise Unsupported(
        Refusal.OUTPUT,
        "a tensor is written that shares elements with another one from outside, which the graph also uses",
        "take the view inside of the compiled function, or copy it",
    )


def share_nothing(tensors: Sequence[Tensor], written_count: int) -> bool:
    """Whether none of the first tensors shares elements with any other.

    Args:
        tensors: tensors.
        written_count: how many of them are asked about.
    """
    written = {
        id(known.storage): (tensor, known.storage)
        for tensor in tensors[:written_count]
        if (known := tensor._member) is not None
    }
    if not written:
        return True
    for tensor in tensors:
        known = tensor._member
        if known is None:
            continue
        if written.get(id(known.storage), (tensor,))[0] is not tensor:
            return False
        if known.storage.memory is not None and any(
            share_memory(known.storage, other) for _, other in written.values() if other is not known.storage
        ):
            return False
    return True


def share_memory(one: Storage, other: Storage) -> bool:
    """Whether the elements of two storages lie in the same memory of the program: of one NumPy array."""
    memory, beside = one.memory, other.memory
    return memory is not None and beside is not None and np.may_share_memory(memory, beside)


# -- what only the running graph knows ---------------------------------------------------------------------------


def base_of(tensor: Tensor) -> Tensor:
    """The base of a view, another tensor itself."""
    known = member(tensor)
    return tensor if known is None or known.base is None else known.base


def share_elements(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors share an element; within a trace also where they have the same base."""
    base, beside = base_of(one), base_of(other)
    if base is not beside:
        known, others = base._member, beside._member
        return known is not None and others is not None and share_memory(known.storage, others.storage)
    if one is other or one is base or other is base or trace_module.current() is not None:
        return True
    numbers = Tensor(np.arange(base.size).reshape(base.shape))
    places = [set(np.asarray(read(numbers, tensor._member.way)).ravel().tolist()) for tensor in (one, other)]
    return not places[0].isdisjoint(places[1])


def share_in_case(trace: Trace, view: Tensor, case: Any, way: Way) -> None:
    """A tensor is a view of another in one case.

    Args:
        trace: the trace.
        view: the tensor.
        case: the other, and when (a `weft.core.choice.Case`).
        way: from the other.
    """
    base = case.handle
    known = base._member
    if known is not None and known.storage.trace is trace:
        storage, way = known.storage, known.way + way
        base = case.handle = known.base
    else:
        storage = _storage_of(trace, base)
    found = Alternative(view, case, way, trace.graph)
    storage.maybe.append(found)
    trace.alternatives.setdefault(id(view), []).append(found)


def may_share(trace: Trace, one: Tensor, other: Tensor) -> None:
    """Two tensors may share elements, as the running graph decides.

    Args:
        trace: the trace.
        one: a tensor.
        other: another one.
    """
    groups = trace.groups
    group: list[Tensor] = []
    for tensor in (base_of(one), *kin(trace, other)):
        for known in groups.get(id(tensor), [tensor]):
            if not any(known is before for before in group):
                group.append(known)
    if len(group) > 1:
        for tensor in group:
            groups[id(tensor)] = group


def kin(trace: Trace, tensor: Tensor) -> list[Tensor]:
    """The base of a tensor, and all tensors of which that is one, or a view, in some case.

    Args:
        trace: the trace.
        tensor: the tensor.
    """
    found = [base_of(tensor)]
    for one in found:  # which grows meanwhile
        cases = [known.case.handle for known in trace.alternatives.get(id(one), ())]
        for other in map(base_of, (*cases, *(_candidates(one) or ()))):
            if not any(other is before for before in found):
                found.append(other)
    return found


def others_in_group(trace: Trace, tensor: Tensor) -> list[Tensor]:
    """The tensors that exist where the trace is now, and may share elements with one."""
    base = base_of(tensor)
    group = trace.groups.get(id(base), ())
    return [other for other in group if other is not base and _exists(trace, other)]


def _exists(trace: Trace, tensor: Tensor) -> bool:
    data = data_of(tensor)
    return data.__class__ is not Value or is_around(trace, data.graph)


def _refuse_unclear(trace: Trace, tensor: Tensor) -> None:
    if trace.groups and others_in_group(trace, tensor):
        raise Unsupported(
            Refusal.TENSOR_CONDITION,
            "a tensor is written that shares its elements with another one or not, depending on a condition that only "
            "the running graph knows",
            "copy the tensor on each path (x.copy()), or write it before they part",
        )


tensor_module.install_sharing(_write)
trace_module.install_sharing(note_read)
