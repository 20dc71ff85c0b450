"""Loops whose trip count only the running graph knows: the loop test becomes a `while` over what the body changes.

The body is run on the state at the test until it comes back to the test. What differs then is carried; the body is run
again with the carried places generalised, until nothing more differs. Ways out of the loop other than its test
(`break`, `return`, `raise`) are further outcomes: the loop carries which one happened, and its state.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Protocol

from weft.capture.branching.carried import Carried
from weft.capture.branching.decided_loops import Loop
from weft.capture.branching.held import Candidates, Held, Path
from weft.capture.branching.iterations import Iteration, LoopState
from weft.capture.branching.leaves import ABSENT, LoopChange, MergeError, binding, leaf_type, now_in
from weft.capture.branching.outcomes import Alternatives, Iterated, Outcome, Side
from weft.capture.code.flow import flow_of
from weft.capture.code.instructions import Decoded
from weft.capture.meaning.arithmetic import chosen, conjunction, is_at, negated, shifted
from weft.capture.state.frame import UNBOUND, Exit, Fork, Frame, MaybeUnbound, Stop
from weft.core.number import GraphNumber, as_number, number_of
from weft.errors import Refusal, Unsupported
from weft.ir.graph import Graph, Value

if TYPE_CHECKING:
    from weft.capture.meaning.parts import Machine

#: how often a loop's body may be peeled off before the loop becomes a `while`
_PEEL_LIMIT: Final = 3
#: how many iterations are unrolled when a loop that also ends by itself cannot become a `while`
_UNROLL_LIMIT: Final = 200
#: how often the body is run to find what is carried; what still grows then would grow for ever
_ROUND_LIMIT: Final = 200


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
            self.journal.take_back(layer)
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
        self.journal.keep(layer)
        return result

    def loop_from_header(self, frame: Frame, loop: Loop, stops: frozenset[int]) -> Exit:
        """Capture a loop whose header the frame has reached, or if it cannot become a `while` run one iteration."""
        return self.try_loop(frame, loop, stops, None) or self.machine.run(frame, stops, entered=True)

    def _capture_loop(
        self, frame: Frame, loop: Loop, stops: frozenset[int], fork: Fork | None
    ) -> Exit:  # fmt: skip
        location = self.trace.location()
        start = LoopState(self.trace, frame, {})
        places: dict[Path, None] = {}
        candidates: Candidates = {}
        shared: Candidates = {}
        for _ in range(_ROUND_LIMIT):
            attempt = self._run_body(frame, loop, stops, fork, start, places, Held(self.trace, candidates, shared))
            new = [path for path in attempt.changed if path not in places]
            if not new and not attempt.held.grown:
                return self._emit_loop(frame, loop, fork, start, list(places), attempt, location)
            for path in new:
                places[path] = None
        raise LoopChange("each iteration changes something that was not there before")

    def _run_body(
        self, frame: Frame, loop: Loop, stops: frozenset[int], fork: Fork | None, start: LoopState,
        places: dict[Path, None], held: Held,
    ) -> _Attempt:  # fmt: skip
        """Run the body once in a region, with the carried places standing for region parameters."""
        attempt = _Attempt(held)
        made, constants = len(self.created), len(self.trace.created)
        inner = stops | loop.ends | loop.exits

        def body() -> Exit:
            region = self.trace.graph
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
                attempt.iteration = iteration = Iteration(self.machine, frame, start, outcome, places, inside)
                attempt.changed = iteration.changes(side.region, live)
                attempt.held.end(inside, {path: iteration.get(path) for path in attempt.held.places})
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
        self, frame: Frame, loop: Loop, fork: Fork | None, start: LoopState, places: list[Path],
        attempt: _Attempt, location: Any,
    ) -> Exit:  # fmt: skip
        """Append the `while` and describe the state after it."""
        trace, side = self.trace, attempt.side
        assert side is not None
        region = side.region
        iterate = next((o for o in side.outcomes if o.label[0] == "iterate"), None)
        if iterate is None or attempt.iteration is None:
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
            before, after = start.get(path), attempt.iteration.get(path)
            slot = after_loop.get(path)
            value, bound = binding(after)
            if len(params) == 1:
                slots_of.append((carried.add(params[0], before, now_in(trace, iterate.heap, after), slot),))
            else:
                value = number_of(params[0]) if value is ABSENT else now_in(trace, iterate.heap, value)
                slots_of.append((carried.add(params[0], ABSENT, value, slot), carried.add(params[1], False, bound)))
        selector: Any = None
        go_on: Any = self._while_right(iterate, region, attempt.go_on)
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

    def _while_right(self, iterate: Outcome, region: Graph, go_on: Any) -> Any:
        """Whether the loop goes on: not with numbers that are not Python's, by which it might never end."""
        trace = self.trace
        before, trace.graph = trace.graph, region
        try:
            for condition in (trace.holds, trace.checked):
                if condition is not None and id(condition) in iterate.heap:
                    go_on = conjunction(
                        go_on, GraphNumber(bool, as_number(now_in(trace, iterate.heap, condition), bool))
                    )
        finally:
            trace.graph = before
        return go_on

    def _left_loop(self, frame: Frame, fork: Fork, loop: Loop, start: LoopState, state: dict[Path, Any]) -> Outcome:
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
            self.journal.take_back(layer)
            frame.journal_restore(base)


class _Attempt:
    """One run of the body."""

    def __init__(self, held: Held) -> None:
        self.held = held
        #: region parameters of each carried place: its value, and for a variable unbound before, whether it is bound
        self.params: list[tuple[Value, ...]] = []
        self.side: Side | None = None
        #: the state that it came back with, None if it did not
        self.iteration: Iteration | None = None
        self.changed: list[Path] = []
        self.go_on: Any = None


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
