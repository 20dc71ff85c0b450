"""Which tensors the places that a loop carries hold: one from before the loop, or one that an iteration made.

A loop carries the value of each changed place. Where a place holds a tensor, the tensor has an identity, too: before
the first iteration it is one that other names may reach, and an iteration may leave it there, bring another one from
before the loop, or one that another place holds as well. What a place can hold besides a tensor of its own is found by
running the body until nothing new turns up; the loop then carries a number that says which it is. The number is carried
only if somebody asks: where each iteration makes a new tensor, the place holds the first one if the loop never ran.
"""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final

from weft.capture.branching.carried import Carried
from weft.capture.branching.leaves import ABSENT, LoopChange, binding, is_handle, leaf_type
from weft.core.choice import Case, Choice, register
from weft.core.number import as_number, number_of
from weft.core.sharing import base_of, contiguous, layout, may_share, others_in_group
from weft.core.tensor import Tensor, data_of, wrap
from weft.core.trace import Trace
from weft.ir.graph import Graph, Value
from weft.ops.logic import logical_and
from weft.ops.select import where

#: a place in the state of a loop: ("slot", i), ("stack", i) or ("heap", id), then item keys
Path = tuple[Any, ...]
#: for each place, the tensors from before the loop, and the other places, whose tensors it may hold
Candidates = dict[Path, list[Any]]


#: what stands among these where it is not known how the elements of a place's tensor lie
_LAYOUT: Final = object()


class _Place:
    """A place that holds a tensor while the body runs.

    Args:
        region: the body.
        handle: what it holds when an iteration begins.
        begins: the number of what it holds when the loop begins, 0 if that is no candidate.
    """

    __slots__ = ("region", "handle", "begins", "param", "cases")

    def __init__(self, region: Graph, handle: Tensor, begins: int) -> None:
        self.region = region
        self.handle = handle
        self.begins = begins
        #: the region parameter with the number of what it holds, None as long as nobody asks
        self.param: Value | None = None
        #: what it holds when the iteration ends: numbers with the cases that must all hold
        self.cases: list[tuple[int, list[Case]]] = []

    def holds(self, number: int) -> Tensor:
        """Whether it holds a candidate, as a value of the body."""
        if self.param is None:
            self.param = self.region.add_param(leaf_type(0))
        return as_number(wrap(self.param) == number, bool)

    def at_end(self) -> Any:
        """The number of what it holds when the iteration ends."""
        number: Any = 0
        for candidate, cases in self.cases:
            truth: Any = True
            for case in cases:
                truth = case.truth() if truth is True else logical_and(truth, case.truth())
            number = candidate if truth is True else where(truth, candidate, number)
        return number if type(number) is int else as_number(number, int)


class Held:
    """The tensors in the carried places of one run of the body.

    Args:
        trace: the trace.
        candidates: what each place may hold, as far as it is known; more is added.
        shared: likewise what the tensor in a place may share elements with: tensors from before the loop, and other
            places.
    """

    def __init__(self, trace: Trace, candidates: Candidates, shared: Candidates) -> None:
        self.trace = trace
        self.candidates = candidates
        self.shared = shared
        self._initial: Mapping[Path, Any] = {}
        self.places: dict[Path, _Place] = {}
        #: whether a place turned out to hold something new, so that the body must run again
        self.grown = False
        self._region: Graph | None = None
        self._constants: set[int] = set()

    def begin(self, region: Graph, initial: Mapping[Path, Any]) -> None:
        """An iteration begins, the places holding what they may hold.

        Args:
            region: the body.
            initial: the places that hold tensors, and what they hold before the loop.
        """
        self._region = region
        self._initial = initial
        for path, value in initial.items():
            self.candidates.setdefault(path, [value] if isinstance(value, Tensor) else [])
        for path in self._order(initial):
            known = self.candidates[path]
            handle: Tensor = Choice((), True, region) if known else wrap(None)
            begins = 1 if known and known[0] is initial[path] else 0
            place = self.places[path] = _Place(region, handle, begins)
            for number, candidate in enumerate(known, 1):
                held = self.places[candidate].handle if type(candidate) is tuple else candidate
                assert type(handle) is Choice
                handle.cases.append(Case(held, lambda place=place, number=number: place.holds(number)))
        self._mark_shared({path: place.handle for path, place in self.places.items()})

    def _mark_shared(self, handles: Mapping[Path, Tensor]) -> None:
        """Say what the tensors that places hold may share elements with."""
        for path, others in self.shared.items():
            if path not in handles:
                continue
            first = self._initial[path]
            for other in (*others, first) if isinstance(first, Tensor) else others:
                tensor = handles.get(other) if type(other) is tuple else other
                if tensor is _LAYOUT:
                    self.trace.layouts[id(handles[path])] = None
                elif tensor is not None:
                    may_share(self.trace, handles[path], tensor)

    def _note_shared(self, tensors: Mapping[Path, Tensor]) -> None:
        """Find out what the tensors share elements with that the places hold at the end of an iteration."""
        places = {id(place.handle): path for path, place in self.places.items()}
        bases: dict[int, Path] = {}
        for path, tensor in tensors.items():
            if any(not _lies_plainly(one) for one in (tensor, self._initial[path]) if isinstance(one, Tensor)):
                self._add_shared(path, _LAYOUT)
            if not self.inner(tensor):
                continue
            base = base_of(tensor)
            others = [one.case.handle for one in self.trace.alternatives.get(id(base), ())]
            for other in (base, *others, *others_in_group(self.trace, base)):
                target: Any = other if not self.inner(other) else places.get(id(other))
                if target is None:
                    target = bases.setdefault(id(other), path)
                if other is not tensor and not (type(target) is tuple and target == path and id(other) not in places):
                    self._add_shared(path, target)

    def _add_shared(self, path: Path, other: Any) -> None:
        known = self.shared.setdefault(path, [])
        if not any(_is_same(one, other) for one in known):
            known.append(other)
            self.grown = True

    def _order(self, initial: Mapping[Path, Any]) -> list[Path]:
        """The places, those that others may hold first."""
        holds = {path: [c for c in self.candidates[path] if type(c) is tuple] for path in initial}
        try:
            return list(TopologicalSorter(holds).static_order())
        except CycleError:
            raise LoopChange("variables take turns in holding each other's tensors") from None

    def start(self, path: Path, param: Value) -> Any:
        """What a place holds when the iteration begins; its value is a parameter of the region."""
        place = self.places.get(path)
        if place is None:
            return number_of(param)
        handle = place.handle
        handle._data, handle._node, handle._type = param, wrap(param)._node, None
        if type(handle) is Choice:
            register(handle)
        return handle

    def inner(self, tensor: Tensor) -> bool:
        """Whether a tensor was made in the body."""
        if not tensor.is_symbolic:
            return id(tensor) in self._constants
        assert self._region is not None
        return data_of(tensor).graph.lies_in(self._region)

    def end(self, constants: set[int], final: Mapping[Path, Any]) -> None:
        """The iteration has come back to the loop's test.

        Args:
            constants: ids of the constants made in the body.
            final: what the places hold.
        """
        self._constants = constants
        found = {path: binding(value)[0] for path, value in final.items()}
        tensors = {path: value for path, value in found.items() if value is not ABSENT and is_handle(value)}
        #: id of a tensor of the body -> the first place that holds it, or the only one that may
        holders: dict[int, Path] = {}
        for path, tensor in tensors.items():
            if self.inner(tensor):
                holders.setdefault(id(tensor), path)
        claimed: dict[int, Path] = {}

        def expand(path: Path, tensor: Tensor, cases: list[Case]) -> None:
            if not self.inner(tensor):
                self._may_hold(path, tensor, cases)
                return
            holder = holders.get(id(tensor), path)
            if holder != path:
                self._may_hold(path, holder, cases)
                return
            if claimed.setdefault(id(tensor), path) != path:
                raise LoopChange("two variables may hold the same tensor of an earlier iteration")
            if type(tensor) is Choice:
                for case in tensor.cases:
                    expand(path, case.handle, cases if case.condition is None else [*cases, case])

        for path, tensor in tensors.items():
            expand(path, tensor, [])
        self._note_shared(tensors)

    def _may_hold(self, path: Path, candidate: Any, cases: list[Case]) -> None:
        known = self.candidates[path]
        number = next((n for n, other in enumerate(known, 1) if _is_same(other, candidate)), None)
        if number is None:
            known.append(candidate)
            self.grown = True
        else:
            self.places[path].cases.append((number, cases))

    def leave(self, carried: Carried, first: Any) -> dict[Path, Tensor]:
        """Carry what says which tensors the places hold.

        Args:
            carried: the values that the loop carries.
            first: whether the loop runs at all; None for a loop that begins with its body.

        Returns:
            dict: what the places hold after the loop; their values are to be carried into these handles.
        """
        trace, numbers = carried.trace, {}
        before, trace.graph = trace.graph, carried.region
        try:
            for path, place in self.places.items():
                if place.cases:
                    numbers[path] = place.at_end()
        finally:
            trace.graph = before
        after: dict[Path, Tensor] = {}
        for path, place in self.places.items():
            known = self.candidates[path]
            asked = path in numbers or place.param is not None
            slot = carried.add(place.param, place.begins, numbers.get(path, 0)) if asked else None
            cases = []
            for number, candidate in enumerate(known, 1):
                held = after[candidate] if type(candidate) is tuple else candidate
                if slot is not None:
                    cases.append(Case(held, lambda slot=slot, number=number: as_number(slot.tensor == number, bool)))
                elif number == place.begins and first is not None:
                    cases.append(Case(held, first, False))
            after[path] = made = Choice(cases, True, trace.graph) if cases else wrap(None)
            if type(made) is Choice:
                carried.choices.append(made)
        self._mark_shared(after)
        return after


def _lies_plainly(tensor: Tensor) -> bool:
    found = layout(tensor)
    return found is not None and found[1] == contiguous(found[0])


def _is_same(one: Any, other: Any) -> bool:
    return one == other if type(one) is tuple and type(other) is tuple else one is other
