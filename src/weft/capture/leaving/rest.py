"""Stretches of code without tensors that are left to Python, from a place where capture went on to the frame's end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.capture.leaving.misses import logger
from weft.capture.leaving.resume import resume_function
from weft.capture.leaving.running import nested_text
from weft.capture.leaving.shapes import FrameShape
from weft.capture.leaving.steps import VALUE
from weft.capture.leaving.suspension import Continuation, Handlers, continuation_at
from weft.capture.leaving.tracebacks import RUNNER, keep_user_frames
from weft.capture.state.events import BreakSite
from weft.capture.state.frame import NULL, Await, check_init
from weft.core.dispatch import Watch
from weft.core.frames import passed_over
from weft.errors import Refusal


def rest_of_frame(continuation: Continuation, site: BreakSite | None = None) -> Callable[[tuple[Any, ...]], Any] | None:
    """What runs the rest of the innermost frame of a continuation in Python; None where Python cannot go on.

    Args:
        continuation: the place, with its frames.
        site: why, where capture refused what follows; None where nothing was ever computed with tensors.

    Returns:
        A function of the values of the frames; its result is that of the call, or a suspension of the frames that wait.
    """
    inner = continuation.shapes[-1]
    if site is None and inner.function.__code__ in continuation.owner.computing:
        return None
    function = resume_function(inner)
    return None if function is None else _Rest(continuation, function, site).run


def _runner(
    waiting: Sequence[FrameShape], outer: int, function: Callable[..., Any]
) -> Callable[[tuple[Any, ...]], Any]:
    """The function of the values of all frames that calls another with those of the innermost, as the others wait."""
    scope: dict[str, Any] = {"resume": function}
    text = nested_text(waiting, [f"v[{i}]" for i in range(outer)], "resume", [f"*v[{outer}:]"], scope)
    exec(compile(f"def run(v): return {text}", RUNNER, "exec"), scope)
    run: Callable[[tuple[Any, ...]], Any] = scope["run"]
    return run


@passed_over
class _Rest:
    """The rest of a frame in Python, then the frames that wait for it.

    Args:
        continuation: the place, with its frames.
        function: the resume function.
        site: what is reported; None where nothing was ever computed with tensors.
    """

    __slots__ = ("continuation", "idle", "site", "outer", "awaits", "call", "_handlers", "_following")

    def __init__(self, continuation: Continuation, function: Callable[..., Any], site: BreakSite | None) -> None:
        self.continuation = continuation
        #: whether it is left to Python for computing nothing with tensors
        self.idle = site is None
        owner, shapes = continuation.owner, continuation.shapes
        inner = shapes[-1]
        name = inner.decoded.code.co_qualname
        self.site = site or BreakSite(
            Refusal.NO_TENSORS.value,
            inner.decoded.location(inner.pc),
            f"what follows in {name} was captured again and again and never computed anything with tensors",
            "compile the functions that compute with tensors",
        )
        waiting = shapes[:-1]
        #: how many values the waiting frames have
        self.outer = sum(shape.size for shape in waiting)
        #: what the innermost of them does with the result
        self.awaits = waiting[-1].awaits if waiting else Await.VALUE
        self.call = _runner(waiting, self.outer, function)
        self._handlers = Handlers(owner, waiting, waiting[-1].pc - 1) if waiting else None
        self._following: Continuation | None = None

    def run(self, values: tuple[Any, ...]) -> Any:
        """Run the rest of the frame, then go on with the frames that wait."""
        self.continuation.owner.history.ran_break(self.site)
        watch = Watch()
        failure: BaseException | None = None
        try:
            with watch:
                result = self.call(values)
                if self.awaits is Await.NONE:
                    check_init(result)
        except BaseException as error:
            if self._handlers is None:
                keep_user_frames(error, 0, None)
                raise
            failure = error
        finally:
            if watch.noticed and self.idle:
                self._take_back()
        if failure is not None:
            assert self._handlers is not None
            try:
                return self._handlers.go_on(failure, values[: self.outer], None)
            finally:
                del failure  # this frame would keep it alive, and it the frames of the program
        if self._handlers is None:
            return result
        waiting = self.continuation.shapes[:-1]
        if self._following is None:
            self._following = continuation_at(self.continuation.owner, (*waiting[:-1], _after_call(waiting[-1])))
        end = self.outer - waiting[-1].handling
        received = (result,) if self.awaits in (Await.VALUE, Await.CALLABLE) else ()
        return self._following.entries.call((*values[:end], *received, *values[end : self.outer]))

    def _take_back(self) -> None:
        """The rest does compute with tensors: from now on it is captured, and so is that of the same code elsewhere."""
        owner, code = self.continuation.owner, self.continuation.shapes[-1].function.__code__
        owner.computing.add(code)
        for continuation in owner.continuations.values():
            if continuation.shapes[-1].function.__code__ is code:
                continuation.idle, continuation.rest = None, None
        logger.warning(
            "%s: the rest of %s was left to Python at %s, since captures there computed nothing with tensors, but now "
            "it did compute with some; from the next call on it is captured again",
            owner.name, code.co_qualname, self.site.location,
        )  # fmt: skip


def _after_call(shape: FrameShape) -> FrameShape:
    """A frame that waited in a call, once it has the result; see `Frame.receive`."""
    pushed = {Await.VALUE: (VALUE,), Await.CALLABLE: (VALUE, NULL)}.get(shape.awaits, ())
    return FrameShape(shape.function, shape.pc, shape.bound, (*shape.stack, *pushed), shape.handling)
