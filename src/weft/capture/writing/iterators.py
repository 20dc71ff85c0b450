"""Iterators of the capture, written as Python's own at the same position."""

from __future__ import annotations

from typing import Any, NoReturn, Protocol

from weft.capture.leaving.entries import Owner
from weft.capture.leaving.generators import make_generator, yield_point
from weft.capture.meaning.generators import InterpretedGenerator
from weft.capture.meaning.iteration import IndexIterator, UserIterator
from weft.capture.meaning.iterators import (
    MapIterator,
    OutsideIterator,
    RestartingIterator,
    ReverseIterator,
    SequenceIterator,
    ZipIterator,
)
from weft.capture.meaning.ranges import RowIterator, SymbolicRange, SymbolicRangeIterator
from weft.capture.sources.rebuilding import (
    Begun,
    advanced,
    finished_generator,
    finished_iterator,
    iterator_at,
    reversed_at,
)
from weft.capture.sources.sources import Sources
from weft.capture.state.journal import Journaled
from weft.core.tensor import Tensor


class Writing(Protocol):
    """What iterators ask of the writer of values."""

    sources: Sources
    owner: Owner
    created: Any
    lines: list[str]

    def fresh(self) -> str: ...
    def constant(self, value: Any) -> str: ...
    def expression(self, value: Any) -> str: ...
    def state(self, value: Any) -> str: ...

    def variable(self, value: Any) -> str: ...
    def refuse(self, value: Any) -> NoReturn: ...


def range_of(writer: Writing, value: SymbolicRange | SymbolicRangeIterator) -> str:
    start = value.current if isinstance(value, SymbolicRangeIterator) else value.start
    return f"range({', '.join(writer.expression(bound) for bound in (start, value.stop, value.step))})"


def iterator(writer: Writing, value: Journaled) -> str:
    """An iterator of the capture as Python's own, at the same position."""
    name = writer.fresh()
    if isinstance(value, OutsideIterator):
        return writer.expression(value.iterator)
    if isinstance(value, RowIterator):
        writer.refuse(value)
    if isinstance(value, SymbolicRangeIterator):
        text = f"iter({range_of(writer, value)})"
    elif isinstance(value, SequenceIterator):
        text = _sequence_iterator(writer, value)
    elif isinstance(value, RestartingIterator):
        text = _restarting_iterator(writer, value)
    elif isinstance(value, ReverseIterator):
        text = f"{writer.constant(reversed_at)}({writer.expression(value.sequence)}, {value.position})"
    elif isinstance(value, ZipIterator):
        parts = "".join(f"{_part(writer, part)}, " for part in value.parts)
        text = f"zip({parts}strict={value.strict})"
    elif isinstance(value, MapIterator) and value.rebuild is not None:
        function, *arguments = value.rebuild(value)
        text = f"{writer.constant(function)}({', '.join(_part(writer, argument) for argument in arguments)})"
    elif isinstance(value, UserIterator):
        return writer.expression(value.obj)
    elif isinstance(value, IndexIterator):
        at, over = writer.constant(iterator_at), writer.expression(value.obj)
        text = f"{at}({over}, {value.position})" if value.position >= 0 else f"{writer.constant(finished_iterator)}()"
    elif isinstance(value, InterpretedGenerator) and not value.gi_running:
        return _generator(writer, value)
    else:
        writer.refuse(value)
    writer.lines.append(f"{name} = {text}")
    return name


def _part(writer: Writing, value: Any) -> str:
    """What one of Python's iterators is made of, which asks it for its iterator."""
    text = writer.expression(value)
    return f"{writer.constant(Begun)}({text})" if isinstance(value, UserIterator) else text


def _generator(writer: Writing, value: InterpretedGenerator) -> str:
    """A generator as one of Python's, its body captured in pieces."""
    name = writer.fresh()
    if value.finished:
        writer.lines.append(
            f"{name} = {writer.constant(finished_generator)}({writer.constant(value.frame.decoded.code)})"
        )
        return name
    point, values = yield_point(writer.owner, value.frame, value.started)
    flat = "".join(f"{writer.variable(item)}, " for item in values)
    writer.lines.append(f"{name} = {writer.constant(make_generator)}({writer.constant(point)}, ({flat}))")
    return name


def _restarting_iterator(writer: Writing, value: RestartingIterator) -> str:
    if value.ended or value.is_invalid():  # no iterator made now would know
        writer.refuse(value)
    count = value.position + (value.ended is not None)
    return f"{writer.constant(advanced)}({writer.constant(value.make)}({writer.expression(value.over)}), {count})"


def _sequence_iterator(writer: Writing, value: SequenceIterator) -> str:
    sequence, position = value.sequence, value.position
    if position < 0:
        kind = next((kind for kind in (list, str, bytes, range) if isinstance(sequence, kind)), tuple)
        return f"{writer.constant(advanced)}(iter({'range(0)' if kind is range else kind.__name__ + '()'}), 1)"
    if isinstance(sequence, Tensor):
        return f"{writer.constant(iterator_at)}(tuple({writer.expression(sequence)}), {position})"
    if type(sequence) not in (list, tuple, str, bytes, range) and not isinstance(sequence, tuple):
        writer.refuse(value)
    if isinstance(sequence, list) and id(sequence) not in writer.created and id(sequence) not in writer.sources.known:
        rest = "".join(f"{writer.expression(item)}, " for item in sequence[position:])  # our own copy
        return f"iter([{rest}])"
    return f"{writer.constant(iterator_at)}({writer.expression(sequence)}, {position})"
