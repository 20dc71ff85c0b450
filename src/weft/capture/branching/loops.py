"""Loops whose trip count only the running graph knows: the loop test becomes a `while` over what the body changes.

The body is run on the state at the test until it comes back to the test. What differs then is carried; the body is run
again with the carried places generalised, until nothing more differs. Ways out of the loop other than its test
(`break`, `return`, `raise`) are further outcomes: the loop carries which one happened, and its state.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Protocol

from weft.capture.branching.carried import Carried, belongs
from weft.capture.branching.decided_loops import Loop
from weft.capture.branching.held import Candidates, Held, Path
from weft.capture.branching.leaves import (
    ABSENT,
    LoopChange,
    MergeError,
    binding,
    is_handle,
    is_leaf,
    leaf_type,
    now_in,
    same_leaf,
    settled_contents,
    state_of,
)
from weft.capture.branching.outcomes import Alternatives, Iterated, Outcome, Side
from weft.capture.code.flow import flow_of
from weft.capture.code.instructions import Decoded
from weft.capture.meaning.arithmetic import chosen, conjunction, is_at, negated, shifted
from weft.capture.state.frame import UNBOUND, Exit, Fork, Frame, MaybeUnbound, Stop
from weft.capture.state.journal import EMPTY_CELL, contents_of, restore
from weft.core.number import number_of
from weft.core.run_number import KINDS, RunNumber
from weft.core.tensor import Tensor
from weft.errors import NOTED, Refusal, Unsupported
from weft.ir.graph import Graph, Value
from weft.ir.types import TensorType, ValueType

if TYPE_CHECKING:
    from weft.capture.meaning.parts import Machine

#: how often a loop's body may be peeled off before the loop becomes a `while`
_PEEL_LIMIT: Final = 3
#: how many iterations are unrolled when a loop that also ends by itself cannot become a `while`
_UNROLL_LIMIT: Final = 200


class Branching(Protocol):
    """What loops ask of the part that runs and merges the sides of branches."""

    #: the jumps that tensors decided
    forked: set[tuple[Decoded, int]]

    def run_side(self, frame: Frame, name: str, run: Callable[[], Exit]) -> Side: ...
    def both(self, frame: Frame, condition: Any, first: Callable[[], Exit], second: Callable[[], Exit]) -> Exit: ...
    def as_exit(self, frame: Frame, outcome: Outcome) -> Exit: ...
    def without(self, frame: Frame, alternatives: Alternatives, position: int) -> Exit: ...
    def distinct(self, frame: Frame, result: Exit) -> Exit: ...


class Loops:
    """The part of the interpreter that turns loops into `while` nodes."""

    def __init__(self, machine: Machine, branches: Branching) -> None:
        self.machine = machine
        self.branches = branches
        self.trace = machine.trace
        self.journal = machine.journal
        self.created = machine.created

    def try_loop(self, frame: Frame, loop: Loop, stops: frozenset[int], fork: Fork | None) -> Exit | None:
        """Capture a loop, from its test (whose `fork` is given) or its header on.

        Returns:
            How the run of the loop ended; None if it cannot become a `while`, everything is then as before.
        """
        base = frame.journal_contents()
        layer = self.journal.push()
        try:
            result = self._capture_loop(frame, loop, stops, fork)
        except (LoopChange, MergeError, UnboundLocalError, Unsupported) as reason:
            del self.journal.layers[self.journal.layers.index(layer) :]
            layer.undo()
            frame.journal_restore(base)
            endless = all((frame.decoded, jump) in self.branches.forked for jump in loop.leaving)
            if isinstance(reason, Unsupported) and endless:
                raise
            key = min(loop.ends)
            count = frame.unrolled[key] = frame.unrolled.get(key, 0) + 1
            if count <= (_PEEL_LIMIT if endless else _UNROLL_LIMIT):
                return None
            raise Unsupported(
                Refusal.TENSOR_CONDITION,
                "how often this loop runs depends on a tensor, and its body changes something that the graph "
                f"cannot carry from one iteration to the next: {reason}",
                "keep shapes, dtypes and the structure of variables the same in every iteration",
                frame.decoded.location(loop.decided_at),
            ) from None
        self.journal.pop()
        for obj, before in layer.before.values():  # the enclosing layer must know what was written
            self.journal.layers[-1].before.setdefault(id(obj), (obj, before))
        return result

    def loop_from_header(self, frame: Frame, loop: Loop, stops: frozenset[int]) -> Exit:
        """Capture a loop whose header the frame has reached, or if it cannot become a `while` run one iteration."""
        return self.try_loop(frame, loop, stops, None) or self.machine.run(frame, stops, entered=True)

    def _capture_loop(
        self, frame: Frame, loop: Loop, stops: frozenset[int], fork: Fork | None
    ) -> Exit:  # fmt: skip
        location = self.trace.location()
        start = _State(frame, {})
        places: dict[Path, None] = {}
        candidates: Candidates = {}
        while True:
            attempt = self._run_body(frame, loop, stops, fork, start, places, candidates)
            new = [path for path in attempt.changed if path not in places]
            if not new and not attempt.held.grown:
                break
            for path in new:
                places[path] = None
        return self._emit_loop(frame, loop, fork, start, list(places), attempt, location)

    def _run_body(
        self, frame: Frame, loop: Loop, stops: frozenset[int], fork: Fork | None, start: _State,
        places: dict[Path, None], candidates: Candidates,
    ) -> _Attempt:  # fmt: skip
        """Run the body once in a region, with the carried places standing for region parameters."""
        attempt = _Attempt(Held(candidates))
        made, constants = len(self.created), len(self.trace.created)
        inner = stops | loop.ends | loop.exits

        def body() -> Exit:
            region = self.trace.graph
            held = attempt.held
            held.begin(region, {path: start.get(path) for path in places if start.is_handle(path)})
            for path in places:
                value = start.get(path)
                kinds = (start.bound_types[path], leaf_type(False)) if value is UNBOUND else (leaf_type(value),)
                attempt.params.append(tuple(region.add_param(kind) for kind in kinds))
                now = held.start(path, attempt.params[-1][0])
                bound = [number_of(param) for param in attempt.params[-1][1:]]
                start.put(self.machine, frame, path, MaybeUnbound(now, *bound) if bound else now)
            if fork is None:
                frame.pc = loop.inside
            else:
                frame.pc = fork.when_true() if loop.stay_when else fork.when_false()
            return self._evaluate_test(frame, self.machine.run(frame, inner, entered=True), loop, inner)

        side = self.branches.run_side(frame, "body", body)
        attempt.side = side
        for outcome in side.outcomes:
            if outcome.label[0] == "iterate":
                inside = set(itertools.islice(self.created, made, None))
                inside.update(itertools.islice(self.trace.created, constants, None))
                flow = flow_of(frame.decoded)
                live = flow.live[loop.inside]
                if loop.outside is not None:
                    live |= flow.live[loop.outside]
                attempt.changed = _changes(self.machine, start, outcome, places, inside, side.region, live)
                attempt.held.end(
                    inside, {path: _get(self.machine, outcome, path, start) for path in attempt.held.places}
                )
                attempt.go_on = outcome.payload
        return attempt

    def _evaluate_test(self, frame: Frame, result: Exit, loop: Loop, stops: frozenset[int]) -> Exit:
        """Where an iteration ends at the loop's test, evaluate the test's condition as part of the iteration."""
        if isinstance(result, Stop) and result.pc in loop.ends:
            return Iterated(self._condition_at(frame, result.pc, loop))
        if not isinstance(result, Alternatives):
            return result
        number = next(
            (k for k, o in enumerate(result.outcomes) if o.label[0] == "stop" and o.label[1] in loop.ends), None
        )
        if number is None:
            return result
        arrived = result.outcomes[number]

        def iterate() -> Exit:
            self.branches.as_exit(frame, arrived)
            return Iterated(self._condition_at(frame, arrived.label[1], loop))

        def otherwise() -> Exit:
            return self._evaluate_test(frame, self.branches.without(frame, result, number), loop, stops)

        return self.branches.both(frame, is_at(result.selector, number), iterate, otherwise)

    def _condition_at(self, frame: Frame, pc: int, loop: Loop) -> Any:
        """The condition of a loop test that was reached, as "the loop goes on"; the frame is left before the branch."""
        if loop.outside is None:
            return True
        frame.pc = pc + 1
        fork = self.machine.execute(frame, pc)
        if fork is None:
            raise LoopChange("its condition no longer depends on a tensor")
        stay_when = fork.true_pc == loop.inside or fork.true_pc not in loop.exits
        return fork.condition if stay_when else negated(fork.condition)

    def _emit_loop(
        self, frame: Frame, loop: Loop, fork: Fork | None, start: _State, places: list[Path],
        attempt: _Attempt, location: Any,
    ) -> Exit:  # fmt: skip
        """Append the `while` and describe the state after it."""
        trace, side = self.trace, attempt.side
        assert side is not None
        region = side.region
        iterate = next((o for o in side.outcomes if o.label[0] == "iterate"), None)
        if iterate is None:
            raise LoopChange("its body never comes back to the test")
        exits = [o for o in side.outcomes if o is not iterate]
        first: Any = True
        if fork is not None:
            first = fork.condition if loop.stay_when else negated(fork.condition)

        # what the loop carries besides its condition: the changed places, then which exit was taken and its state
        held = attempt.held
        carried = Carried(trace, region, self.created, held.inner)
        after_exit = [carried.outcome(o, frame) for o in exits]
        after_loop = held.leave(carried, first.tensor if fork is not None else None)
        slots_of: list[tuple[Any, ...]] = []
        for path, params in zip(places, attempt.params, strict=True):
            before, after = start.get(path), _get(self.machine, iterate, path, start)
            slot = after_loop.get(path)
            value, bound = binding(after)
            if len(params) == 1:
                slots_of.append((carried.add(params[0], before, now_in(trace, iterate.heap, after), slot),))
            else:
                value = number_of(params[0]) if value is ABSENT else now_in(trace, iterate.heap, value)
                slots_of.append((carried.add(params[0], ABSENT, value, slot), carried.add(params[1], False, bound)))
        selector: Any = None
        go_on: Any = attempt.go_on
        if exits:
            position = side.outcomes.index(iterate)
            before, trace.graph = trace.graph, region
            try:
                assert side.selector is not None
                ended = chosen(is_at(side.selector, position), 0, _exit_number(side, iterate))
                go_on = conjunction(go_on, is_at(side.selector, position))
            finally:
                trace.graph = before
            selector = carried.add(None, 0, ended)
        carried.emit(first, go_on, location)
        state: dict[Path, Any] = {
            path: slots[0] if len(slots) == 1 else MaybeUnbound(*slots)
            for path, slots in zip(places, slots_of, strict=True)
        }
        if fork is None:
            if selector is None:
                raise LoopChange("nothing ends it")
            if len(after_exit) == 1:
                return self.branches.as_exit(frame, after_exit[0])
            return self.branches.distinct(frame, Alternatives(shifted(selector, 0), after_exit))
        done = self._left_loop(frame, fork, loop, start, state)
        if selector is None:
            return self.branches.as_exit(frame, done)
        return self.branches.distinct(frame, Alternatives(selector, [done, *after_exit]))

    def _left_loop(self, frame: Frame, fork: Fork, loop: Loop, start: _State, state: dict[Path, Any]) -> Outcome:
        """The outcome of leaving the loop by its test."""
        base = frame.journal_contents()
        layer = self.journal.push()
        try:
            for path, value in state.items():
                start.put(self.machine, frame, path, value)
            leave = fork.when_false if loop.stay_when else fork.when_true
            pc = leave()
            return Outcome(("stop", pc), list(frame.slots), list(frame.stack), None, layer.after(), frame.exception)
        finally:
            self.journal.pop()
            layer.undo()
            frame.journal_restore(base)


class _Attempt:
    """One run of the body."""

    def __init__(self, held: Held) -> None:
        self.held = held
        #: region parameters of each carried place: its value, and for a variable unbound before, whether it is bound
        self.params: list[tuple[Value, ...]] = []
        self.side: Side | None = None
        self.changed: list[Path] = []
        self.go_on: Any = None


class _State:
    """The state at the loop's test, by places."""

    def __init__(self, frame: Frame, heap: dict[int, Any]) -> None:
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
        return _descend(value, keys)

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
                restore(obj, ((value._data, value._node, getattr(value, "_index", 0), None), namespace))
            else:
                restore(obj, _replaced(machine, contents_of(obj), keys, value))


def _descend(value: Any, keys: list[Any]) -> Any:
    for key in keys:
        value = value[key]
    return value


def _replaced(machine: Any, value: Any, keys: list[Any], leaf: Any) -> Any:
    """A copy of a nested container with one leaf replaced."""
    if not keys:
        return leaf
    key, *rest = keys
    item = _replaced(machine, value[key], rest, leaf)
    if isinstance(value, tuple):
        items = [item if i == key else v for i, v in enumerate(value)]
        copy: Any = type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    else:
        copy = value.copy()
        copy[key] = item
    machine.trace.merged[id(copy)] = copy  # it stands for the one before the loop, too
    return machine.made(copy)


def _changes(
    machine: Any,
    start: _State,
    outcome: Outcome,
    places: dict[Path, None],
    inside: set[int],
    region: Graph,
    live: frozenset[int],
) -> list[Path]:
    """The places whose value after an iteration differs from the one before.

    Args:
        start: the state at the test.
        outcome: the state when the body came back to it.
        places: what is carried already.
        inside: ids of objects made in the body; the next iteration makes its own.
        region: the graph of the body.
        live: the fast locals that are read later.
    """
    changed: list[Path] = []
    for i, (before, after) in enumerate(zip(start.slots, outcome.slots, strict=True)):
        if i not in live:
            continue
        if before is UNBOUND:
            _bind(start, after, ("slot", i), changed)
            continue
        _compare(before, after, ("slot", i), places, changed)
    for i, (before, after) in enumerate(zip(start.stack, outcome.stack, strict=True)):
        _compare(before, after, ("stack", i), places, changed)
    for key, (obj, after) in outcome.heap.items():
        if machine.journal.belongs(key, inside) or (isinstance(obj, Tensor) and belongs(obj, region)):
            continue
        if key not in start.heap:
            start.heap[key] = (obj, _comparable(machine, obj, contents_of(obj)))
        before = start.heap[key][1]
        after = _comparable(machine, obj, after)
        if isinstance(obj, Tensor):
            if ("heap", key) in places or not same_leaf(before, after):
                _check_type(before, after)
                changed.append(("heap", key))
        else:
            _compare(before, after, ("heap", key), places, changed)
    return changed


def _bind(start: _State, after: Any, path: Path, changed: list[Path]) -> None:
    """A variable that the body binds for the first time: it is carried with whether it is bound yet."""
    value, _ = binding(after)
    if value is ABSENT:
        return
    if not is_leaf(value):
        return  # stays unbound at the test: reading it in a later iteration is an error
    kind = leaf_type(value)
    if start.bound_types.setdefault(path, kind) is not kind:
        raise LoopChange("a variable bound in the loop changes its type")
    changed.append(path)


def _comparable(machine: Any, obj: Any, contents: Any) -> Any:
    if not isinstance(obj, Tensor):
        return contents
    return state_of(machine.trace, obj, settled_contents(contents))


def _compare(before: Any, after: Any, path: Path, places: dict[Path, None], changed: list[Path]) -> None:
    if before is after or after is UNBOUND:
        return
    if is_leaf(before) and is_leaf(after):
        if path in places or is_handle(before) or not same_leaf(before, after):
            _check_type(before, after)
            changed.append(path)
        return
    if type(before) is type(after):
        if isinstance(before, (tuple, list)) and len(before) == len(after):
            for i, (x, y) in enumerate(zip(before, after, strict=True)):
                _compare(x, y, (*path, i), places, changed)
            return
        if isinstance(before, dict) and list(before) == list(after):
            for key in before:
                _compare(before[key], after[key], (*path, key), places, changed)
            return
        try:
            if not isinstance(before, Tensor) and before == after:
                return
        except Exception as error:
            NOTED.newest = None
            raise LoopChange(f"a {type(before).__name__} is replaced") from error
    if before is EMPTY_CELL or after is EMPTY_CELL:
        raise LoopChange("a variable is bound only inside the loop")
    raise LoopChange(f"a {_kind(before)} becomes a {_kind(after)}")


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


def _get(machine: Any, outcome: Outcome, path: Path, start: _State) -> Any:
    kind, where_, *keys = path
    if kind == "slot":
        return _descend(outcome.slots[where_], keys)
    if kind == "stack":
        return _descend(outcome.stack[where_], keys)
    if where_ not in outcome.heap:
        return start.get(path)
    obj, contents = outcome.heap[where_]
    if isinstance(obj, Tensor):
        return _comparable(machine, obj, contents)
    return _descend(contents, keys)


def _exit_number(side: Side, iterate: Outcome) -> Any:
    """1, 2, ... for the outcomes of a body other than the next iteration, in their order."""
    assert side.selector is not None
    number: Any = 0
    count = 0
    for position, outcome in enumerate(side.outcomes):
        if outcome is not iterate:
            count += 1
            number = count if count == 1 else chosen(is_at(side.selector, position), count, number)
    return number
