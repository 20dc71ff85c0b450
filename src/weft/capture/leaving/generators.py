"""Generators that live on outside the capture that began them: Python generators whose body runs in captured pieces."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from weft.capture.leaving.entries import Owner
from weft.capture.leaving.shapes import FrameShape, shape_of, values_of
from weft.capture.leaving.step_functions import raising_step
from weft.capture.leaving.steps import VALUE
from weft.capture.leaving.suspension import Continuation, Handlers, continuation_at, drive
from weft.capture.meaning.generators import CAPTURED_GENERATORS
from weft.capture.python.exceptions import contexts_before, raise_as_it_is, restore_contexts, set_context
from weft.capture.state.frame import Frame
from weft.core.frames import passed_over


@passed_over
class YieldPoint:
    """A generator's frame where it waits to be resumed.

    Args:
        owner: the compiled callable.
        shape: the frame.
        started: whether it has yielded, so that what is sent to it goes on its stack.
    """

    __slots__ = ("owner", "shape", "started", "_resumed", "_handlers", "_raise", "_left")

    def __init__(self, owner: Owner, shape: FrameShape, started: bool) -> None:
        self.owner = owner
        self.shape = shape
        self.started = started
        self._resumed: Continuation | None = None
        self._handlers: Handlers | None = None
        self._raise: Callable[..., Any] | None = None
        self._left: Continuation | None = None

    def resume(self, values: tuple[Any, ...], sent: Any) -> Any:
        """Go on: a result, or `Yielded`."""
        if not self.started:
            if self._resumed is None:
                self._resumed = continuation_at(self.owner, (self.shape,))
            return drive(self._resumed.entries.call(values))
        shape = self.shape
        if self._resumed is None:
            pushed = FrameShape(shape.function, shape.pc, shape.bound, (*shape.stack, VALUE), shape.handling)
            self._resumed = continuation_at(self.owner, (pushed,))
        end = len(values) - shape.handling
        return drive(self._resumed.entries.call((*values[:end], sent, *values[end:])))

    def throw(self, values: tuple[Any, ...], error: BaseException) -> Any:
        """Go on by raising an exception at the `yield`: a result, or `Yielded`."""
        if not self.started:
            raise_as_it_is(error)
        delegate = self._delegate(values)
        if delegate is not None:
            forward = getattr(delegate, "close" if isinstance(error, GeneratorExit) else "throw", None)
            if forward is not None:
                return self._throw_into(forward, values, error)
        return self._raise_here(values, error)

    def _delegate(self, values: tuple[Any, ...]) -> Any:
        """What the frame delegates to by `yield from`, None if nothing."""
        shape = self.shape
        return values[-1 - shape.handling] if shape.decoded.instrs[shape.pc - 2].name == "SEND" else None

    def _throw_into(self, forward: Callable[..., Any], values: tuple[Any, ...], error: BaseException) -> Any:
        """Give an exception to what the frame delegates to; see PEP 380."""
        failure = error
        try:
            if isinstance(error, GeneratorExit):
                forward()
            else:
                return Yielded(self, forward(error), values)
        except StopIteration as stop:
            if not isinstance(error, GeneratorExit):
                return self._leave_delegate(values, stop.value)
            failure = stop
        except BaseException as raised:
            failure = raised
        return self._raise_here(values, failure)

    def _leave_delegate(self, values: tuple[Any, ...], result: Any) -> Any:
        """Go on behind the `yield from`; see `Frame.leave_delegate`."""
        shape = self.shape
        send = shape.decoded.instrs[shape.pc - 2]
        end = len(values) - shape.handling
        kept = end - 1 if send.arg else end
        if self._left is None:
            stack = (*(shape.stack[:-1] if send.arg else shape.stack), VALUE)
            after = FrameShape(shape.function, send.target, shape.bound, stack, shape.handling)
            self._left = continuation_at(self.owner, (after,))
        return drive(self._left.entries.call((*values[:kept], result, *values[end:])))

    def _raise_here(self, values: tuple[Any, ...], error: BaseException) -> Any:
        if self._handlers is None:
            pc = self.shape.pc - 1
            while self.shape.decoded.instrs[pc].name != "YIELD_VALUE":
                pc -= 1
            self._handlers = Handlers(self.owner, (self.shape,), pc)
            self._raise = raising_step(self.shape.decoded, pc, self.shape.function.__globals__)
        assert self._raise is not None
        before = contexts_before(error)
        try:
            self._raise(error)
        except BaseException as raised:
            failure = raised
        restore_contexts(before)  # what the caller of `throw` is handling is none
        if self.shape.handling:
            set_context(failure, values[-1])
        return drive(self._handlers.go_on(failure, values, None))


class Yielded:
    """What a piece of a generator ended with.

    Args:
        point: where it waits.
        value: what it yielded.
        values: the values of its frame.
    """

    __slots__ = ("point", "value", "values")

    def __init__(self, point: YieldPoint, value: Any, values: tuple[Any, ...]) -> None:
        self.point = point
        self.value = value
        self.values = values


def yield_point(owner: Owner, frame: Frame, started: bool) -> tuple[YieldPoint, list[Any]]:
    """Where a generator's frame waits, and the values of the frame."""
    shape = shape_of(frame, frame.pc)
    return YieldPoint(owner, shape, started), values_of(frame, shape)


def make_generator(point: YieldPoint, values: tuple[Any, ...]) -> Any:
    """A Python generator that goes on from a place.

    Args:
        point: the place.
        values: the values of the frame there.

    Returns:
        A generator with the name of the user's.
    """
    made: Any = _generate(point, values)
    made.__name__ = point.shape.decoded.code.co_name
    made.__qualname__ = point.shape.decoded.code.co_qualname
    if point.started:
        made.send(None)  # it waits at a `yield`, as the user's generator did
    return made


@passed_over
def _generate(point: YieldPoint, values: tuple[Any, ...]) -> Generator[Any, Any, Any]:
    if point.started:
        result: Any = Yielded(point, None, values)
    else:
        result = point.resume(values, None)
    while result.__class__ is Yielded:
        sent, thrown = None, None
        try:
            sent = yield result.value
        except BaseException as error:
            thrown = error
        if thrown is None:
            result = result.point.resume(result.values, sent)
        else:  # outside of the handler: the body is not in the midst of handling it
            result = result.point.throw(result.values, thrown)
    return result


CAPTURED_GENERATORS.add(_generate.__code__)
