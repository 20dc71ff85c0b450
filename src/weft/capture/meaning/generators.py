"""Generators whose frames the interpreter runs."""

from __future__ import annotations

import types
from collections.abc import Container
from contextlib import _GeneratorContextManagerBase
from typing import Any, Final

from weft.capture.code.instructions import CLOSE_RETURNS
from weft.capture.state.journal import Journaled
from weft.errors import Refusal, Unsupported

#: code of generators whose body goes on in captured pieces
CAPTURED_GENERATORS: Final[set[types.CodeType]] = set()


class InterpretedGenerator(Journaled):
    """A generator whose frame the interpreter runs.

    Args:
        frame: the frame, at the start of the function.
        machine: the interpreter.
    """

    __slots__ = ("frame", "machine", "started", "finished", "gi_running")

    stands_for = types.GeneratorType

    def __init__(self, frame: Any, machine: Any) -> None:
        self.frame = frame
        self.machine = machine
        machine.journal.born(self)
        machine.journal.born(frame)
        self.started = False
        self.finished = False
        self.gi_running = False

    def __iter__(self) -> InterpretedGenerator:
        return self

    def __next__(self) -> Any:
        return self.send(None)

    @property
    def gi_code(self) -> types.CodeType:
        """The code that it runs."""
        code: types.CodeType = self.frame.decoded.code
        return code

    @property
    def gi_suspended(self) -> bool:
        """Whether it stands at a `yield`."""
        return self.started and not self.finished and not self.gi_running

    @property
    def gi_yieldfrom(self) -> Any:
        """What it delegates to by `yield from`, None if nothing."""
        return self.frame.delegate() if self.gi_suspended else None

    def send(self, value: Any) -> Any:
        """Continue with `value` as the result of the `yield`."""
        if not self.started and not self.gi_running and not self.finished and value is not None:
            raise TypeError("can't send non-None value to a just-started generator")
        return self._continue(value, None)

    def throw(self, kind: Any, *rest: Any) -> Any:
        """Continue by raising an exception at the `yield`."""
        if rest:
            raise Unsupported(
                Refusal.UNSUPPORTED_SYNTAX,
                "generator.throw() is called with the parts of an exception",
                "pass the exception itself",
            )
        if isinstance(kind, type) and issubclass(kind, BaseException):
            kind = self._new_exception(kind)
        if not isinstance(kind, BaseException):
            raise TypeError(
                f"exceptions must be classes or instances deriving from BaseException, not {type(kind).__name__}"
            )
        return self._throw(kind)

    def _throw(self, exception: BaseException) -> Any:
        receiver = None if self.gi_running else self.gi_yieldfrom
        if receiver is None:
            return self._continue(None, exception)
        closing = isinstance(exception, GeneratorExit)
        forward = self._method_of_delegate(receiver, "close" if closing else "throw")
        if forward is None:
            return self._continue(None, exception)
        stopped: StopIteration | None = None
        try:
            result = self._delegating(self.machine.calls.call, forward, [] if closing else [exception], {})
            if not closing:
                return result
        except Unsupported:
            raise
        except BaseException as error:
            exception = error
            if isinstance(error, StopIteration) and not closing:
                stopped = error
        if stopped is not None:
            return self._continue(stopped.value, None, delegated=True)
        return self._continue(None, exception)

    def _method_of_delegate(self, receiver: Any, name: str) -> Any:
        failure: BaseException | None = None
        try:
            return self.machine.attributes.get_attr_or_none(receiver, name)
        except Unsupported:
            raise
        except BaseException as error:
            failure = error
        if name == "close":
            raise Unsupported(
                Refusal.UNSUPPORTED_SYNTAX,
                f"looking for close() of a {type(receiver).__name__} raises an exception, which Python prints",
            )
        raise failure

    def _new_exception(self, kind: type[BaseException]) -> BaseException:
        """What is thrown for a class: an instance, or what making one raises."""
        try:
            made = self.machine.calls.call(kind, [], {})
        except Unsupported:
            raise
        except BaseException as error:
            return error
        if isinstance(made, BaseException):
            return made
        return TypeError(f"calling {kind!r} should have returned an instance of BaseException, not {type(made)!r}")

    def _delegating(self, function: Any, *args: Any) -> Any:
        self.gi_running = True
        try:
            return function(*args)
        finally:
            self.gi_running = False

    def close(self) -> Any:
        """Finish by raising GeneratorExit at the `yield`."""
        if self.finished:
            return None
        if not self.started and not self.gi_running:
            self.machine.journal.touch(self)
            self.finished = True
            return None
        try:
            self._throw(GeneratorExit())
        except GeneratorExit:
            return None
        except StopIteration as stop:
            return stop.value if CLOSE_RETURNS else None
        raise RuntimeError("generator ignored GeneratorExit")

    def _continue(self, value: Any, exception: BaseException | None, delegated: bool = False) -> Any:
        """Run on; `delegated` gives `value` as the result of the `yield from` at which it stands."""
        if self.gi_running:
            raise ValueError("generator already executing")
        touch = self.machine.journal.touch
        touch(self)
        if self.finished:
            if exception is not None:
                raise exception
            raise StopIteration
        if not self.started and exception is not None:
            self.finished = True
            raise exception
        touch(self.frame)
        if delegated:
            self.frame.leave_delegate(value)
        elif self.started:
            self.frame.stack.append(value)
        self.started = True
        self.gi_running = True
        ended: BaseException | None = None
        try:
            yielded, result = self.machine.calls.resume_generator(self.frame, exception)
        except Unsupported:
            raise
        except BaseException as error:
            self.finished = True
            ended = error
        finally:
            self.gi_running = False
        if ended is not None:
            if isinstance(ended, StopIteration):
                wrapped = RuntimeError("generator raised StopIteration")
                wrapped.__cause__ = wrapped.__context__ = ended
                raise wrapped
            raise ended
        if yielded:
            return result
        self.finished = True
        raise StopIteration(*(() if result is None else (result,)))

    def journal_contents(self) -> Any:
        return (self.started, self.finished)

    def journal_restore(self, contents: Any) -> None:
        self.started, self.finished = contents


def refuse_abandoned(created: dict[int, Any], births: dict[int, int], kept: Container[int], ended: bool) -> None:
    """Refuse generators whose `try` or `with` Python ends once nobody holds them: it knows when that is.

    Args:
        created: the objects made during the capture.
        births: the step that made each, by id.
        kept: ids of objects that live on, generators included.
        ended: whether the call has ended, so that it leaves none of them any more.
    """
    managers = [o for o in created.values() if issubclass(type(o), _GeneratorContextManagerBase)]
    closed = {id(vars(o).get("gen")) for o in managers if id(o) in kept}
    for obj in created.values():
        if type(obj) is not InterpretedGenerator or obj.finished or id(obj) in closed:  # a `with` closes that one
            continue
        frame, place = obj.frame, max(obj.frame.pc - 1, 0)
        if obj.gi_suspended and frame.protected(place) if id(obj) not in kept else not ended and frame.watched():
            why = f"the generator {frame.function.__name__}() ends a try or with statement when nobody holds it"
            refusal = Unsupported(Refusal.LIFETIME, why, "close it, or use it up", frame.decoded.location(place))
            refusal.step, refusal.whole = births.get(id(obj)), True
            raise refusal
