"""Branches on conditions that only the running graph knows: both sides run, and what differs becomes an `if`.

A side ends in one or more *outcomes*: it reached the join, it returned, it raised. Outcomes of the two sides with the
same label merge into one. Where several remain, a symbolic selector says which one holds, and the caller goes on with
each under a branch on the selector until one remains.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from typing import Any

from weft.capture.branching.decided_loops import Loop, decided_loop, note_exit
from weft.capture.branching.dropped import is_dropped
from weft.capture.branching.leaves import ABSENT, LoopChange, MergedTensor, MergeError, settled_contents, state_of
from weft.capture.branching.loops import Loops
from weft.capture.branching.merge import Joiner
from weft.capture.branching.outcomes import Alternatives, Iterated, Label, Outcome, Side
from weft.capture.code.flow import flow_of
from weft.capture.code.instructions import Decoded
from weft.capture.meaning.arithmetic import chosen, is_at, shifted
from weft.capture.meaning.parts import Machine, Part
from weft.capture.python.exceptions import raise_as_it_is
from weft.capture.python.packages import CAPTURE
from weft.capture.state.counts import with_one_count
from weft.capture.state.frame import UNBOUND, Exit, Fork, Frame, Raise, Return, Stop, Yield
from weft.capture.state.journal import contents_of, restore
from weft.compile.control import emit_if
from weft.core.choice import Choice
from weft.core.tensor import Tensor
from weft.core.tracebacks import WEFT, raised_in
from weft.core.transparency import UNBROKEN
from weft.errors import Refusal, Unsupported
from weft.ir.graph import Graph

#: "at most" this many branches may be followed to the end of the function because they do not merge earlier
_DUPLICATION_LIMIT = 64
#: how many sides of branches one capture follows
_SIDE_LIMIT = 4000
#: how deeply sides of branches nest: XLA takes ever longer, and JAX, which goes down by calls, comes to Python's limit
_DEPTH_LIMIT = 64


class Branches(Part):
    """The part of the interpreter that runs and merges the sides of branches."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.loops = Loops(machine, self)
        #: branches that were followed past their join because their sides did not merge there
        self.duplications = 0
        #: the jumps that tensors decided
        self.forked: set[tuple[Decoded, int]] = set()
        #: sides that were run
        self.sides = 0

    def fork(self, frame: Frame, pc: int, fork: Fork, stops: frozenset[int]) -> Exit | None:
        """Execute a branch on a symbolic condition.

        Returns:
            None if the frame goes on from where the sides met, else how the run ends.
        """
        self.machine.resolve_all(frame)
        self.forked.add((frame.decoded, pc))
        loop = decided_loop(frame, pc, fork, stops)
        if fork.otherwise is not None:
            return self._while_or_unrolled(frame, pc, fork, loop, stops)
        note_exit(frame, pc, fork)
        from_header = loop if loop is not None and loop.outside is None else None
        if loop is not None and from_header is None:
            result = self.loops.try_loop(frame, loop, stops, fork)
            if result is not None:
                try:
                    return self._settle(frame, result, stops)
                except MergeError as error:
                    raise _do_not_fit(frame, pc, error) from None
            frame.pc = pc + 1
        flow = flow_of(frame.decoded)
        join, meeting = flow.join(pc), flow.meeting(pc)
        pauses = frozenset() if join is None else frozenset({join})
        if from_header is not None:
            pauses |= from_header.ends | from_header.exits
        if meeting is not None and meeting != join:  # paths that leave earlier may come back in a later iteration
            pauses = frozenset({meeting}).union(from_header.exits if from_header is not None else ())
            pauses |= {header for header, _ in flow.loops_around(pc)}
        elif meeting is None and flow.meets_at_header(pc):  # as those of `continue` do
            pauses |= {header for header, _ in flow.loops_around(pc)}
        targets = [stops | pauses]
        if not pauses <= stops:
            targets.append(stops)  # if the sides do not merge at the join, follow both to the end
        for number, target in enumerate(targets):
            try:
                sides = self.both(
                    frame,
                    fork.condition,
                    self._take_side(frame, fork.when_true, target),
                    self._take_side(frame, fork.when_false, target),
                )
                return self._settle(frame, sides, stops, from_header)
            except MergeError as error:
                if number + 1 < len(targets) and self.duplications < _DUPLICATION_LIMIT:
                    self.duplications += 1
                    continue
                raise _do_not_fit(frame, pc, error) from None
        raise AssertionError("unreachable")

    def _while_or_unrolled(
        self, frame: Frame, pc: int, fork: Fork, loop: Loop | None, stops: frozenset[int]
    ) -> Exit | None:
        """A loop over a known range that a tensor may leave: a `while`, or else unrolled."""
        if loop is not None and loop.outside is not None:
            try:
                result = self.loops.try_loop(frame, loop, stops, fork)
                if result is not None:
                    return self._settle(frame, result, stops)
            except (Unsupported, MergeError):
                pass
        frame.pc = fork.otherwise()
        return None

    def _take_side(self, frame: Frame, take: Callable[[], int], stops: frozenset[int]) -> Callable[[], Exit]:
        def run() -> Exit:
            frame.pc = take()
            return self.machine.run(frame, stops)

        return run

    def both(self, frame: Frame, condition: Any, first: Callable[[], Exit], second: Callable[[], Exit]) -> Exit:
        """Run two sides under a condition and merge their outcomes."""
        if type(condition) is bool:
            return first() if condition else second()
        self.sides += 2
        if self.sides > _SIDE_LIMIT:  # from here on each condition refuses, so that the outermost leaves the graph
            raise Unsupported(
                Refusal.TENSOR_CONDITION,
                "conditions on tensors follow each other without meeting again, so that the number of paths doubles "
                f"with each (more than {_SIDE_LIMIT} were followed)",
                "let the paths meet again before the next condition, or use ops.where/ops.select",
                frame.decoded.location(frame.pc),
            )
        if sum(layer.side for layer in self.journal.layers) >= _DEPTH_LIMIT:
            raise Unsupported(
                Refusal.TENSOR_CONDITION,
                f"conditions on tensors stand in each other more than {_DEPTH_LIMIT} deep, as those of a loop do that "
                "each step may leave",
                "go over a range or the rows of a tensor, and make no list in the loop",
                frame.decoded.location(frame.pc),
            )
        location = self.trace.location()
        sides = (self.run_side(frame, "then", first), self.run_side(frame, "else", second))
        joiner = self._joiner(condition.tensor, sides)
        apart = self._separate_returns(sides, frame)
        labels: dict[Label, None] = {}
        for side in sides:
            labels.update((outcome.label, None) for outcome in side.outcomes)
        order = list(labels)
        selector: Any = None
        if len(order) > 1:
            choices = [self._selector_in(side, order) for side in sides]
            selector = joiner.leaf(choices[0], choices[1], "the outcome")
        outcomes = []
        for label in order:
            found = [next((o for o in side.outcomes if o.label == label), None) for side in sides]
            outcomes.append(self._join_outcomes(joiner, label, found[0], found[1], frame, sides))
        types = joiner.region_outputs()
        if types:
            emit_if(self.trace, condition.tensor, joiner.regions, [slot for _, _, _, slot in joiner.outputs], location)
        joiner.finish()
        if len(outcomes) == 1:
            return self.as_exit(frame, outcomes[0])
        return Alternatives(selector, outcomes, location, apart)

    def _joiner(self, condition: Tensor | None, sides: tuple[Side, Side]) -> Joiner:
        first, second = sides
        regions, constants = (first.region, second.region), (first.constants, second.constants)
        return Joiner(self.trace, condition, regions, constants, self.created, self.journal.namespaces)

    def _separate_returns(self, sides: tuple[Side, Side], frame: Frame) -> str:
        """Keep returns apart that do not merge: the caller goes on with each, or the entry returns what holds.

        Returns:
            str: why two of them do not merge, "" if all do.
        """
        apart = ""
        partners = [o for o in sides[0].outcomes if o.label[0] == "return"]
        numbers = itertools.count()
        for outcome in partners:
            outcome.label = ("return", next(numbers))
        for late in sides[1].outcomes:
            if late.label[0] == "return":
                partner = None
                for early in partners:
                    different = self._difference(sides, early, late, frame)
                    if not different:
                        partner = early
                        break
                    apart = apart or different
                late.label = ("return", next(numbers)) if partner is None else partner.label
                if partner is not None:
                    partners.remove(partner)
        return apart

    def _difference(self, sides: tuple[Side, Side], first: Outcome, second: Outcome, frame: Frame) -> str:
        """Why two outcomes cannot become one, "" if they can."""
        try:
            trial = self._joiner(None, sides)
            self._join_outcomes(trial, first.label, first, second, frame, sides)
        except MergeError as error:
            return str(error) or "they differ"
        return ""

    def run_side(self, frame: Frame, name: str, run: Callable[[], Exit]) -> Side:
        """Run one side in a region of its own; afterwards everything is as before."""
        base = frame.journal_contents()
        pc, made, constants = frame.pc, len(self.created), len(self.trace.created)
        self.machine.inside_step += 1
        with self.trace.region(name) as region:
            layer = self.journal.push()
            try:
                try:
                    result = run()
                except Unsupported:
                    raise
                except (KeyboardInterrupt, MergeError, LoopChange):
                    raise
                except BaseException as error:
                    if _is_ours(error):
                        raise
                    result = Raise(error)
                side = self._side(region, frame, result, layer.after())
                side.constants = set(itertools.islice(self.trace.created, constants, None))
            finally:
                self.machine.inside_step -= 1
                self.journal.take_back(layer)
                frame.journal_restore(base)
                frame.pc = pc
                self.journal.made_on_sides.update(itertools.islice(self.created, made, None))
        side.made = set(itertools.islice(self.created, made, None))
        return side

    def _side(self, region: Graph, frame: Frame, result: Exit, heap: dict[int, tuple[Any, Any]]) -> Side:
        if isinstance(result, Alternatives):
            for outcome in result.outcomes:
                outcome.heap = {**heap, **outcome.heap}
            side = Side(region, result.selector, result.outcomes)
        else:
            side = Side(region, None, [self._outcome(frame, result, heap)])
        self.journal.ends += [outcome.heap for outcome in side.outcomes]
        return side

    def _outcome(self, frame: Frame, result: Exit, heap: dict[int, tuple[Any, Any]]) -> Outcome:
        if isinstance(result, Stop):
            live = flow_of(frame.decoded).live[result.pc]  # what is not read again need not merge
            slots = [value if i in live else UNBOUND for i, value in enumerate(frame.slots)]
            return Outcome(("stop", result.pc), slots, list(frame.stack), None, heap, frame.exception)
        if isinstance(result, Return):
            return Outcome(("return", 0), None, None, result.value, heap, None)
        if isinstance(result, Iterated):
            return Outcome(("iterate",), list(frame.slots), list(frame.stack), result.go_on, heap, frame.exception)
        if isinstance(result, Raise):
            if self.machine.sources.is_known(result.exception):
                raise Unsupported(
                    Refusal.TENSOR_CONDITION,
                    "an exception from before is raised on one side of a branch on a tensor",
                    "",
                )
            return Outcome(("raise", id(result.exception)), None, None, result.exception, heap, None)
        assert isinstance(result, Yield)
        raise Unsupported(
            Refusal.TENSOR_CONDITION,
            "a generator yields on one side of a branch on a tensor",
            "yield on both sides, outside the branch",
        )

    def _selector_in(self, side: Side, order: list[Label]) -> Any:
        """The position among all labels of the outcome that a side ends in."""
        positions = [order.index(outcome.label) for outcome in side.outcomes]
        if side.selector is None:
            return positions[0]
        if positions == list(range(len(positions))):
            return side.selector
        before, self.trace.graph = self.trace.graph, side.region
        try:
            found: Any = positions[-1]
            for number in range(len(positions) - 1):
                found = chosen(is_at(side.selector, number), positions[number], found)
            return found
        finally:
            self.trace.graph = before

    def _join_outcomes(
        self, joiner: Joiner, label: Label, first: Outcome | None, second: Outcome | None, frame: Frame,
        sides: tuple[Side, Side],
    ) -> Outcome:  # fmt: skip
        """One outcome for two of the same label, of which one may be missing."""
        present = first or second
        assert present is not None
        names = frame.decoded.slot_names
        joiner.begin({} if first is None else first.heap, {} if second is None else second.heap)

        def both(of: Callable[[Outcome], list[Any]], called: Sequence[str]) -> list[Any]:
            sides = [itertools.repeat(ABSENT) if side is None else of(side) for side in (first, second)]
            return [joiner.merge(a, b, name) for a, b, name in zip(*sides, called, strict=False)]

        slots = stack = payload = None
        if present.slots is not None:
            slots = both(lambda outcome: outcome.slots, [f"`{name}`" for name in names])
            stack = both(lambda outcome: outcome.stack, ["a value in the expression"] * len(present.stack))
        if label[0] == "return":
            (payload,) = both(lambda outcome: [outcome.payload], ["the returned value"])
        elif label[0] == "iterate":
            (payload,) = both(lambda outcome: [outcome.payload], ["the loop's condition"])
        elif label[0] == "raise":
            payload = present.payload
        heap: dict[int, tuple[Any, Any]] = {}
        #: what only one side has, for which the other may have something in its place
        one_sided: list[tuple[Any, list[Any]]] = []
        followed: dict[int, Any] = {}
        for outcome in (first, second):
            for key, (obj, _) in (outcome.heap if outcome is not None else {}).items():
                if key not in followed and not joiner.is_inner(obj):
                    now = contents_of(obj) if self.journal.exists(key) else ABSENT
                    contents = [
                        ABSENT if o is None else o.heap[key][1] if key in o.heap else now for o in (first, second)
                    ]
                    followed[key] = None
                    if not isinstance(obj, Tensor) and any(c is ABSENT for c in contents):
                        followed[key] = contents[contents[0] is ABSENT]
                        one_sided.append((obj, contents))
                    elif not _is_unchanged(obj, contents):
                        try:
                            heap[key] = (obj, self._join_contents(joiner, obj, contents[0], contents[1]))
                        except MergeError:
                            ends = [side for side in (first, second) if side is not None]
                            if not (label[0] == "return" and is_dropped(self.machine, frame, key, ends)):
                                raise
        if first is not None and second is not None:
            joiner.identities.check(self.machine, frame, followed, sides[0].made | sides[1].made)
        for obj, contents in one_sided:
            heap[id(obj)] = (obj, self._join_contents(joiner, obj, contents[0], contents[1]))
        for exception in joiner.exceptions:
            for part in (exception, self.journal.namespace(exception)):
                heap[id(part)] = (part, contents_of(part))
        return Outcome(label, slots, stack, payload, heap, present.handling)

    def _join_contents(self, joiner: Joiner, obj: Any, a: Any, b: Any) -> Any:
        owner = self.journal.owner(id(obj))
        name = _heap_name(obj if owner is None else owner)
        if isinstance(obj, Tensor):
            a, b = settled_contents(a), settled_contents(b)
            now = [c if c is ABSENT else state_of(self.trace, obj, c) for c in (a, b)]
            merged = joiner.contents(now[0], now[1], name)
            extra = joiner.merge_items(a if a is ABSENT else a[1], b if b is ABSENT else b[1], name)
            return MergedTensor(merged, extra)
        return joiner.merge_contents(*with_one_count(owner, a, b), name)

    def as_exit(self, frame: Frame, outcome: Outcome) -> Exit:
        """Put the frame and the heap into the state of an outcome."""
        for obj, contents in outcome.heap.values():
            self.journal.touch(obj, in_place=True)  # what a side moved is known to have moved
            restore(obj, settled_contents(contents))
        if outcome.label[0] == "stop":
            frame.journal_restore((outcome.slots, outcome.stack, outcome.label[1], outcome.handling))
            return Stop(outcome.label[1])
        if outcome.label[0] == "return":
            return Return(outcome.payload)
        if outcome.label[0] == "iterate":
            frame.journal_restore((outcome.slots, outcome.stack, frame.pc, outcome.handling))
            return Iterated(outcome.payload)
        return raise_as_it_is(outcome.payload)

    def _settle(self, frame: Frame, result: Exit, stops: frozenset[int], loop: Loop | None = None) -> Exit | None:
        """Go on after a branch: None if the frame simply continues, else how the run ends.

        Args:
            frame: the frame.
            result: how the sides of the branch ended.
            stops: where the caller's run ends.
            loop: a loop to capture from its header on, once all outcomes that come to it are there.
        """
        flow = flow_of(frame.decoded)
        while True:
            if isinstance(result, Stop):
                if result.pc in stops:
                    return result
                if loop is None or result.pc not in loop.ends:
                    return None
                result, loop = self.loops.loop_from_header(frame, loop, stops), None
                continue
            if not isinstance(result, Alternatives):
                return result
            open_ = [k for k, o in enumerate(result.outcomes) if o.label[0] == "stop" and o.label[1] not in stops]
            if not open_:
                return result
            # what comes first goes on first, as far as the others; a stop holds only for the same iteration
            places = {k: result.outcomes[k].label[1] for k in open_}
            first = min(open_, key=lambda k: (flow.order(places[k]), -len(flow.loops_around(places[k]))))
            others = {place for k, place in places.items() if k != first}
            ends = stops | others | {header for place in others for header, _ in flow.loops_around(place)}
            assert places[first] not in ends, "no progress"
            begun = loop if loop is not None and places[first] in loop.ends else None
            result = self._continue_one(frame, result, first, ends, begun)
            loop = None if begun is not None else loop

    def _continue_one(
        self, frame: Frame, alternatives: Alternatives, position: int, stops: frozenset[int],
        loop: Loop | None,
    ) -> Exit:  # fmt: skip
        """Run the chosen outcome on to the stops under a branch on the selector."""
        outcome = alternatives.outcomes[position]
        condition = is_at(alternatives.selector, position)

        def go_on() -> Exit:
            self.as_exit(frame, outcome)
            return self.machine.run(frame, stops) if loop is None else self.loops.loop_from_header(frame, loop, stops)

        return self.both(frame, condition, go_on, lambda: self.without(frame, alternatives, position))

    def without(self, frame: Frame, alternatives: Alternatives, position: int) -> Exit:
        rest = [o for k, o in enumerate(alternatives.outcomes) if k != position]
        if len(rest) == 1:
            return self.as_exit(frame, rest[0])
        selector = shifted(alternatives.selector, position)
        return Alternatives(selector, rest, alternatives.location, alternatives.apart)

    def distinct(self, frame: Frame, result: Exit) -> Exit:
        """Merge outcomes of the same label, of which a loop may have several."""
        if not isinstance(result, Alternatives):
            return result
        labels = [outcome.label for outcome in result.outcomes]
        again = next((k for k, label in enumerate(labels) if label in labels[k + 1 :]), None)
        if again is None:
            return result
        return self.both(
            frame,
            is_at(result.selector, again),
            lambda: self.as_exit(frame, result.outcomes[again]),
            lambda: self.distinct(frame, self.without(frame, result, again)),
        )

    def continue_call(self, frame: Frame, result: Alternatives, stops: frozenset[int]) -> Exit | None:
        """Go on after a call that ended in several outcomes: with its value, or with its exception."""
        self.machine.resolve_all(frame)
        returned = [outcome for outcome in result.outcomes if outcome.label[0] == "return"]
        if len(returned) > 1 and _is_of_transform(frame):
            different = f" ({result.apart})" if result.apart else ""
            raise Unsupported(
                Refusal.TENSOR_CONDITION,
                f"the sides of a branch on a tensor leave different things{different}, and a transform in progress "
                "cannot go on with each",
                "let both sides return, and change, values of the same shapes, dtypes and kinds",
                None if result.location is None else result.location(),
            )
        pc, awaits = frame.pc, frame.awaits

        def take(position: int) -> Callable[[], Exit]:
            outcome = result.outcomes[position]

            def run() -> Exit:
                ended = self.as_exit(frame, outcome)  # raises here if the call raised
                assert isinstance(ended, Return)
                frame.awaits = awaits
                frame.receive(ended.value)
                return self.machine.run(frame, stops)

            def run_with_handlers() -> Exit:
                try:
                    return run()
                except Unsupported:
                    raise
                except BaseException as error:
                    if error is not outcome.payload:
                        raise
                    self.machine.unwind(frame, pc - 1, error)
                    return self.machine.run(frame, stops)

            return run_with_handlers

        def rest(position: int) -> Exit:
            if position == len(result.outcomes) - 1:
                return take(position)()
            condition = is_at(result.selector, position)
            return self.both(frame, condition, take(position), lambda: rest(position + 1))

        return self._settle(frame, rest(0), stops)


def _do_not_fit(frame: Frame, pc: int, error: MergeError) -> Unsupported:
    return Unsupported(
        Refusal.TENSOR_CONDITION,
        f"the condition is a tensor, so both paths go into the graph, but they do not fit together: {error}",
        "give both paths the same shapes, dtypes and kinds of values, or use ops.where/ops.select",
        frame.decoded.location(pc),
    )


def _is_of_transform(frame: Frame | None) -> bool:
    """Whether a frame belongs to library code that keeps the tape of a gradient, or maps a function."""
    while frame is not None and frame.transparent:
        if frame.function.__code__ in UNBROKEN:
            return True
        frame = frame.caller
    return False


#: modules whose exceptions are never the user's
_INTERNAL = (
    *(f"{CAPTURE}{room}{os.sep}" for room in ("branching", "sources", "writing")),
    f"{CAPTURE}state{os.sep}journal.py",
)
#: where exceptions that the captured program raises come from
_RAISES = f"{CAPTURE}machine{os.sep}opcodes_control.py"


def _is_ours(error: BaseException) -> bool:
    """Whether an exception comes from weft's own bookkeeping rather than from the captured program."""
    file = raised_in(error)
    if isinstance(error, AssertionError) and file.startswith(WEFT):
        return file != _RAISES
    return file.startswith(_INTERNAL)


def _is_unchanged(obj: Any, contents: list[Any]) -> bool:
    """Whether a tensor has the same contents at the ends of both sides as before."""
    if not isinstance(obj, Tensor):
        return False
    now = contents_of(obj)
    settled = [now if c is ABSENT else settled_contents(c) for c in contents]
    return all(c[0][0] is now[0][0] and c[0][1] is now[0][1] and c[1] == now[1] for c in settled)


def _heap_name(obj: Any) -> str:
    if issubclass(type(obj), Tensor):
        name = None if type(obj) is Choice else getattr(obj, "name", None)
        return f"parameter {name!r}" if isinstance(name, str) else "a tensor written in place"
    return f"the contents of a {type(obj).__name__}"
