"""Calls that leave the graph: where a graph ends, the step that runs in Python, and how the call goes on.

An entry that cannot hold the whole call ends in a *suspension*: the state of the frames of the call, as values. The
instruction that could not be in the graph runs as a step; then the frames go on as a *continuation*, captured like
any call, with those values for arguments. Continuations return their suspensions to one loop, so a break in a loop does
not nest.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any, Final

from weft.capture.code.flow import flow_of
from weft.capture.code.instructions import Handler
from weft.capture.leaving.entries import Entries, Owner, Recency
from weft.capture.leaving.entry import MISS, Entry
from weft.capture.leaving.running import run_text, standing
from weft.capture.leaving.shapes import FrameShape
from weft.capture.leaving.steps import VALUE, Outcome, Step, step_of, step_of_debugger, step_that_raises
from weft.capture.leaving.tracebacks import RUNNER, keep_user_frames
from weft.capture.python.exceptions import raise_as_it_is
from weft.capture.state.events import BreakSite
from weft.core.frames import passed_over
from weft.errors import Refusal, Unsupported


class Suspension:
    """A call that has left the graph.

    Args:
        point: where.
        values: the values of its frames.
    """

    __slots__ = ("point", "values")

    def __init__(self, point: BreakPoint, values: tuple[Any, ...]) -> None:
        self.point = point
        self.values = values


#: a place where so many captures found nothing to compute with tensors is left to Python
IDLE_CAPTURES = 16

#: a place is taken for idle from the start once so many captures behind breaks found nothing in the whole callable
_IDLE_CONTINUATIONS: Final = 4


@passed_over
class Continuation:
    """How a call goes on from a place: the entries captured for it."""

    __slots__ = ("owner", "shapes", "entries", "idle", "rest")

    def __init__(self, owner: Owner, shapes: tuple[FrameShape, ...]) -> None:
        self.owner = owner
        self.shapes = shapes
        #: how many captures were made, all without computing anything with tensors; None once one did compute
        self.idle: int | None = 0
        #: runs the rest of the innermost frame in Python, where that is left to it
        self.rest: Callable[[tuple[Any, ...]], Any] | None = None
        self.entries: Entries = _ContinuationEntries(self)

    def capture(self, values: tuple[Any, ...], why: str) -> Entry:
        """Capture how a call with some values goes on."""
        owner = self.owner
        entry = owner.capture_continuation(self, values, why)
        self.idle = None if entry.computes or self.idle is None else self.idle + 1
        owner.idle = None if entry.computes or owner.idle is None else owner.idle + 1
        return entry

    def is_idle(self) -> bool:
        """Whether it looks as if nothing were computed with tensors in what follows."""
        if self.idle is None:
            return False
        return self.idle > 0 or (self.owner.idle is not None and self.owner.idle >= _IDLE_CONTINUATIONS)

    def leave(self, site: BreakSite | None = None) -> Callable[[tuple[Any, ...]], Any] | None:
        """Leave the rest of the innermost frame to Python, see `rest_of_frame`."""
        if self.rest is None:
            self.rest = self.owner.rest_of(self, site)
        self.idle = None if self.rest is None else IDLE_CAPTURES
        return self.rest


@passed_over
class _ContinuationEntries(Entries):
    """The entries of a continuation; there are none any more when the rest of the frame is left to Python."""

    def __init__(self, continuation: Continuation) -> None:
        super().__init__(continuation.owner, Recency(), continuation.capture)
        self.continuation = continuation

    def _capture_and_call(self, values: tuple[Any, ...], tried: Collection[Entry]) -> Any:
        idle = self.continuation.idle
        if idle is not None and idle >= IDLE_CAPTURES:
            run = self.continuation.leave()
            if run is not None:
                self.entries = []
                return run(values)
        return super()._capture_and_call(values, tried)


def continuation_at(owner: Owner, shapes: tuple[FrameShape, ...]) -> Continuation:
    """The continuation of an owner's calls at a place, one for all ways that lead there."""
    key = tuple(shape.key for shape in shapes)
    found = owner.continuations.get(key)
    if found is None:
        found = owner.continuations.setdefault(key, Continuation(owner, shapes))
    return found


@passed_over
class BreakPoint:
    """The end of a graph before an instruction that runs in Python.

    Args:
        owner: the compiled callable.
        shapes: the frames, the outermost first; the innermost goes on at the instruction.
        site: what is reported; None for what is no break in the user's sense.
        expected: an exception that capture met here.
        calls_back: whether the instruction calls library code that calls a user's function, in which the graph ended:
            that function is captured by itself, and the break counts where it has one.
    """

    __slots__ = ("owner", "shapes", "site", "expected", "calls_back", "step", "go_on", "counts", "refused")

    def __init__(
        self, owner: Owner, shapes: tuple[FrameShape, ...], site: BreakSite | None, expected: BaseException | None,
        calls_back: bool = False,
    ) -> None:  # fmt: skip
        self.calls_back = calls_back
        self.owner = owner
        self.shapes = shapes
        self.site = site
        #: why the instruction is not in the graph, reported or not; None if it would raise in the graph, too
        self.refused = site
        self.expected = expected
        #: whether running it counts as a break: where it follows a graph, or begins another expression than the step
        #: before. So ``np.sum(x.asnumpy())`` is one break, and two such statements in a row are two.
        self.counts = True
        inner = shapes[-1]
        step = step_of(inner.decoded, inner.pc, inner.stack)
        if step is None and expected is not None:
            step = step_that_raises(expected)
        if step is None:
            raise Unsupported(
                Refusal.UNSUPPORTED_SYNTAX,
                f"the instruction {inner.decoded.instrs[inner.pc].name} cannot run on its own",
                location=inner.decoded.location(inner.pc),
            )
        if site is not None and site.kind == Refusal.DEBUGGER.value:
            step = step_of_debugger(step, inner.decoded, inner.pc, inner.names()[0])
        self.step: Step = step
        #: runs the step on the values of the frames, then the continuation: its result, a suspension if it breaks again
        self.go_on: Callable[[tuple[Any, ...]], Any] = self._go_on_first

    def _go_on_first(self, values: tuple[Any, ...]) -> Any:
        self.go_on = self._generate()
        return self.go_on(values)

    def _generate(self) -> Callable[[tuple[Any, ...]], Any]:
        """The function that goes on from here, as code of its own: a break costs what it would cost by hand."""
        shapes, step = self.shapes, self.step
        inner = shapes[-1]
        names = [f"v{i}" for i in range(sum(shape.size for shape in shapes))]
        handlers = Handlers(self.owner, shapes, inner.pc)
        again = standing(shapes[:-1], len(shapes)) if inner.decoded.instrs[inner.pc].name == "RERAISE" else None

        def failed(error: BaseException, values: tuple[Any, ...]) -> Any:
            self.expected = None  # a later call need not raise: what the step reads is not guarded
            if isinstance(error, Unsupported) and error.location is None and self.refused is not None:
                self.refused.explain(error)  # what cannot do without a graph was left to Python for this reason
            return handlers.go_on(error, values, again)

        scope: dict[str, Any] = {"MISS": MISS, "failed": failed}
        lines = [f"{', '.join(names)}, = v"] if names else []
        if self.calls_back:
            scope["calling_back"] = self._calling_back
        elif self.site is not None and self.counts:
            scope["count"] = self.owner.history.count_of(self.site)
            scope["ran_break"], scope["site"] = self.owner.history.ran_break, self.site
            lines += ["if count.times: count.times += 1", "else: ran_break(site)"]
        running = run_text(shapes, step, names, scope)
        lines += [
            "try:",
            f"    {'with calling_back(): ' if self.calls_back else ''}outcome, pushed = {running}",
            "except BaseException as error:",
            "    failure = error",
            "else:",
            "    failure = None",
            "if failure is not None:",  # outside of the handler: what goes on is not in the midst of handling it
            "    try: return failed(failure, v)",
            "    finally: del failure",  # the frame would keep it alive, and it the frames of the program
        ]
        if self.expected is not None:
            scope["unexpected"] = self._did_not_raise
            lines.append("unexpected()")
        for number, outcome in enumerate(step.outcomes):
            continuation, taken = self._follow(outcome, names)
            scope[f"entries{number}"] = continuation.entries
            returned = [f"p{i}" for i in range(outcome.pushed.count(VALUE))]
            returned += [f"new{i}" for i in range(len(step.rebound))]
            pushed = "".join(f"{name}, " for name in returned)
            block = [
                *([f"{pushed}= pushed"] if pushed else []),
                f"found = entries{number}.entries",
                "if found:",
                f"    result = found[0].run({', '.join(taken)})",
                "    if result is not MISS: return result",
                f"return entries{number}.call(({''.join(name + ', ' for name in taken)}), 1)",
            ]
            if number < len(step.outcomes) - 1:
                lines += [f"if outcome == {number}:", *["    " + line for line in block]]
            else:
                lines += block
        text = "def go_on(v):\n" + "".join(f"    {line}\n" for line in lines)
        exec(compile(text, RUNNER, "exec"), scope)
        made: Callable[[tuple[Any, ...]], Any] = scope["go_on"]
        return made

    @contextmanager
    def _calling_back(self) -> Iterator[None]:
        """Run the step with captured callbacks; a break is reported here only if none of them reports one."""
        history = self.owner.history
        before = sum(history.breaks.values())
        try:
            with self.owner.captured_callbacks():
                yield
        finally:
            if self.site is not None and self.counts and sum(history.breaks.values()) == before:
                history.ran_break(self.site)

    def _did_not_raise(self) -> None:
        """Code that ran after the graph, such as a handler of `logging`, changed what the step reads."""
        if self.expected is None:
            return
        inner = self.shapes[-1]
        location = inner.decoded.location(inner.pc)
        why = f"capture raised {type(self.expected).__name__} here ({self.expected}), and Python did not"
        do = "what logging, print and warnings call runs after the graph: do not read what it writes"
        site = BreakSite(Refusal.IMPURE_CALL.value, location, why, do)
        if site not in self.owner.history.breaks:
            message = f"{why}, so this part ran in Python; {do}"
            warnings.warn_explicit(message, RuntimeWarning, location.file, location.line)
        self.owner.history.ran_break(site)

    def _follow(self, outcome: Outcome, names: list[str]) -> tuple[Continuation, list[str]]:
        """The continuation after an outcome, and the names of the values that it takes.

        They are `p0`... for what was pushed, `new0`... for local variables that the step may have changed.
        """
        inner = self.shapes[-1]
        kept = inner.stack[: len(inner.stack) - self.step.operands]
        live = flow_of(inner.decoded).live[outcome.target]
        bound = tuple(has and i in live for i, has in enumerate(inner.bound))
        shape = FrameShape(inner.function, outcome.target, bound, (*kept, *outcome.pushed), inner.handling)
        before = len(names) - inner.size
        below = before + len(inner.slots)
        taken = names[:before]
        rebound = {name: f"new{i}" for i, name in enumerate(self.step.rebound)}
        slot_names = inner.decoded.slot_names
        taken += [rebound.get(slot_names[slot], names[before + n]) for n, slot in enumerate(inner.slots) if bound[slot]]
        taken += names[below : below + kept.count(VALUE)]
        taken += [f"p{i}" for i in range(outcome.pushed.count(VALUE))]
        taken += names[len(names) - inner.handling :]
        return continuation_at(self.owner, (*self.shapes[:-1], shape)), taken


@passed_over
class Handlers:
    """How frames go on when an exception is raised in the innermost: at the handlers of their code.

    Args:
        owner: the compiled callable.
        shapes: the frames, the outermost first; the outer ones wait in calls.
        pc: the instruction of the innermost that raises.
    """

    __slots__ = ("owner", "shapes", "pc", "_found")

    def __init__(self, owner: Owner, shapes: tuple[FrameShape, ...], pc: int) -> None:
        self.owner = owner
        self.shapes = shapes
        self.pc = pc
        self._found: dict[int, tuple[list[int], Continuation]] = {}

    def go_on(self, error: BaseException, values: tuple[Any, ...], again: int | None) -> Any:
        """Go on at the innermost handler, or raise the exception if there is none.

        Args:
            error: the exception.
            values: the values of the frames.
            again: see `keep_user_frames`.
        """
        for depth in range(len(self.shapes) - 1, -1, -1):
            shape = self.shapes[depth]
            place = self.pc if depth == len(self.shapes) - 1 else shape.pc - 1
            handler = shape.decoded.handler_at(place)
            if handler is None:
                continue
            found = self._found.get(depth)
            if found is None:
                found = self._found[depth] = self._continuation(depth, handler)
            picked, continuation = found
            keep_user_frames(error, standing(self.shapes[:-1], depth), again)
            flat = [values[i] for i in picked]
            if handler.push_lasti:
                flat.append(shape.decoded.instrs[place].offset)
            return continuation.entries.call((*flat, error, *self._handled_by(depth, values)))
        keep_user_frames(error, 0, again)
        return raise_as_it_is(error)

    def _continuation(self, depth: int, handler: Handler) -> tuple[list[int], Continuation]:
        """The continuation at a handler, and which of the values it takes."""
        shape = self.shapes[depth]
        live = flow_of(shape.decoded).live[handler.target]
        bound = tuple(has and i in live for i, has in enumerate(shape.bound))
        kept = shape.stack[: handler.depth]
        before = sum(s.size for s in self.shapes[:depth])
        picked = list(range(before))
        picked += [before + n for n, slot in enumerate(shape.slots) if bound[slot]]
        picked += range(before + len(shape.slots), before + len(shape.slots) + kept.count(VALUE))
        stack = (*kept, *([VALUE] if handler.push_lasti else []), VALUE)
        made = FrameShape(shape.function, handler.target, bound, stack, shape.handling)
        return picked, continuation_at(self.owner, (*self.shapes[:depth], made))

    def _handled_by(self, depth: int, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """The exception that a frame is handling, if any."""
        if not self.shapes[depth].handling:
            return ()
        return (values[sum(shape.size for shape in self.shapes[: depth + 1]) - 1],)


@passed_over
def drive(result: Any) -> Any:
    """Run suspensions until a call has its result."""
    while result.__class__ is Suspension:
        result = result.point.go_on(result.values)
    return result
