"""Iterators whose position the journal can take back, used in place of Python's own while capturing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from weft.capture.journal import Journal, Journaled
from weft.core.number import as_number
from weft.core.tensor import Tensor


class _Touching(Journaled):
    """An iterator that notes its state in the journal before it moves."""

    __slots__ = ("touch",)

    def __init__(self, journal: Journal) -> None:
        self.touch = journal.touch
        journal.created[id(self)] = self

    def __iter__(self) -> Any:
        return self


class SequenceIterator(_Touching):
    """Items of an indexable object, as many as there are when each is asked for."""

    __slots__ = ("sequence", "position", "length")

    def __init__(self, journal: Journal, sequence: Any, length: int | None = None) -> None:
        super().__init__(journal)
        self.sequence = sequence
        self.position = 0
        self.length = length

    def __next__(self) -> Any:
        length = len(self.sequence) if self.length is None else self.length
        if self.position >= length:
            raise StopIteration
        self.touch(self)
        self.position += 1
        return self.sequence[self.position - 1]

    def __length_hint__(self) -> int:
        return max(0, (len(self.sequence) if self.length is None else self.length) - self.position)

    def journal_contents(self) -> Any:
        return self.position

    def journal_restore(self, contents: Any) -> None:
        self.position = contents


class BufferedIterator(_Touching):
    """Items of a foreign iterator, kept so that they can be handed out again after an undo."""

    __slots__ = ("source", "buffer", "position")

    def __init__(self, journal: Journal, source: Iterator[Any]) -> None:
        super().__init__(journal)
        self.source = source
        self.buffer: list[Any] = []
        self.position = 0

    def __next__(self) -> Any:
        self.touch(self)
        if self.position == len(self.buffer):
            self.buffer.append(next(self.source))
        self.position += 1
        return self.buffer[self.position - 1]

    def journal_contents(self) -> Any:
        return self.position

    def journal_restore(self, contents: Any) -> None:
        self.position = contents


class ZipIterator(_Touching):
    """`zip` over the capture's iterators."""

    __slots__ = ("parts", "strict")

    def __init__(self, journal: Journal, parts: list[Any], strict: bool) -> None:
        super().__init__(journal)
        self.parts = parts
        self.strict = strict

    def __next__(self) -> tuple[Any, ...]:
        if not self.parts:
            raise StopIteration
        items: list[Any] = []
        for number, part in enumerate(self.parts):
            try:
                items.append(next(part))
            except StopIteration:
                if self.strict:
                    self._check(number)
                raise
        return tuple(items)

    def _check(self, number: int) -> None:
        def named(count: int) -> str:
            return f"argument{'' if count == 1 else f's 1-{count}'}" if count > 1 else "argument 1"

        if number > 0:
            raise ValueError(f"zip() argument {number + 1} is shorter than {named(number)}")
        for later in range(1, len(self.parts)):
            try:
                next(self.parts[later])
            except StopIteration:
                continue
            raise ValueError(f"zip() argument {later + 1} is longer than {named(later)}")

    def journal_contents(self) -> Any:
        return None

    def journal_restore(self, contents: Any) -> None:
        """The parts restore themselves."""


class MapIterator(_Touching):
    """Results of a call for each item of the parts (`map`, `filter`, `enumerate`)."""

    __slots__ = ("compute", "part", "count")

    def __init__(self, journal: Journal, compute: Callable[[int, Any], Any], part: Any) -> None:
        super().__init__(journal)
        self.compute = compute
        self.part = part
        self.count = 0

    def __next__(self) -> Any:
        while True:
            item = next(self.part)
            self.touch(self)
            self.count += 1
            result = self.compute(self.count - 1, item)
            if result is not SKIP:
                return result

    def journal_contents(self) -> Any:
        return self.count

    def journal_restore(self, contents: Any) -> None:
        self.count = contents


SKIP = object()


class SymbolicRange:
    """`range` with a bound that only the running graph knows."""

    __slots__ = ("start", "stop", "step")

    def __init__(self, start: Any, stop: Any, step: Any) -> None:
        self.start, self.stop, self.step = start, stop, step


class SymbolicRangeIterator(_Touching):
    """Iterator of a `SymbolicRange`: the `for` loop over it becomes a `while` of the graph."""

    __slots__ = ("current", "stop", "step")

    def __init__(self, journal: Journal, over: SymbolicRange) -> None:
        super().__init__(journal)
        self.current = over.start
        self.stop = over.stop
        self.step = over.step

    def symbolic_test(self) -> Any:
        """Whether another item exists: a symbolic truth, or a bool where it is known."""
        more = self.current < self.stop if self.step > 0 else self.current > self.stop
        return as_number(more, bool) if isinstance(more, Tensor) else more

    def advance(self) -> Any:
        """The current item; moves to the next."""
        self.touch(self)
        item = self.current
        self.current = item + self.step
        return item

    def __next__(self) -> Any:
        more = self.symbolic_test()
        if not more:  # a symbolic bound refuses here: only a `for` statement can iterate it
            raise StopIteration
        return self.advance()

    def journal_contents(self) -> Any:
        return self.current

    def journal_restore(self, contents: Any) -> None:
        self.current = contents


class InterpretedGenerator(Journaled):
    """A generator whose frame the interpreter runs.

    Args:
        frame: the frame, at the start of the function.
        resume: runs a frame until it yields or returns; returns (yielded?, value).
        journal: where the frame is noted before it runs.
    """

    __slots__ = ("frame", "resume", "touch", "started", "finished")

    def __init__(self, frame: Any, resume: Any, journal: Journal) -> None:
        self.frame = frame
        self.resume = resume
        self.touch = journal.touch
        journal.created[id(self)] = self
        journal.created[id(frame)] = frame
        self.started = False
        self.finished = False

    def __iter__(self) -> InterpretedGenerator:
        return self

    def __next__(self) -> Any:
        return self.send(None)

    def send(self, value: Any) -> Any:
        """Continue with `value` as the result of the `yield`."""
        if not self.started and value is not None:
            raise TypeError("can't send non-None value to a just-started generator")
        return self._continue(value, None)

    def throw(self, kind: Any, value: Any = None, traceback: Any = None) -> Any:
        """Continue by raising an exception at the `yield`."""
        exception = kind if isinstance(kind, BaseException) else (value if value is not None else kind())
        if not self.started:
            self.touch(self)
            self.finished = True
            raise exception
        return self._continue(None, exception)

    def close(self) -> None:
        """Finish by raising GeneratorExit at the `yield`."""
        if self.finished:
            return
        if not self.started:
            self.touch(self)
            self.finished = True
            return
        try:
            self._continue(None, GeneratorExit())
        except (GeneratorExit, StopIteration):
            return
        raise RuntimeError("generator ignored GeneratorExit")

    def _continue(self, value: Any, exception: BaseException | None) -> Any:
        self.touch(self)
        if self.finished:
            if exception is not None:
                raise exception
            raise StopIteration
        self.touch(self.frame)
        if self.started and exception is None:
            self.frame.stack.append(value)
        self.started = True
        try:
            yielded, result = self.resume(self.frame, exception)
        except BaseException as error:
            self.finished = True
            if isinstance(error, StopIteration):
                raise RuntimeError("generator raised StopIteration") from error
            raise
        if yielded:
            return result
        self.finished = True
        raise StopIteration(result)

    def journal_contents(self) -> Any:
        return (self.started, self.finished)

    def journal_restore(self, contents: Any) -> None:
        self.started, self.finished = contents
