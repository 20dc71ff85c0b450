"""Iterators whose position the journal can take back, used in place of Python's own while capturing."""

from __future__ import annotations

import contextlib
import functools
import itertools
import operator
import sys
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from weft.capture.meaning.generators import CAPTURED_GENERATORS
from weft.capture.python.containers import CONTAINERS, items_of, mapping_of, native_class
from weft.capture.state.journal import PUT_BACK, Journal, Journaled
from weft.errors import Refusal, Unsupported

_ABSENT: Final = object()
#: classes of sequences of which Python's iterators have a class of their own
_SEQUENCES: Final = (list, tuple, str, bytes, range)


class Touching(Journaled):
    """An iterator that notes its state in the journal before it moves.

    `stands_for` is the class of the iterator that Python would have here: what `type` and `isinstance` see.
    """

    __slots__ = ("touch", "stands_for")

    def __init__(self, journal: Journal, stands_for: type) -> None:
        self.touch = journal.touch
        self.stands_for = stands_for
        journal.born(self)

    def __iter__(self) -> Any:
        return self


class SequenceIterator(Touching):
    """Items of an indexable object, as many as there are when each is asked for.

    Args:
        journal: where the position is noted before it moves.
        sequence: what is iterated.
        length: the number of items, if it cannot change.
        item: how to read an item; by default as `sequence[i]`.
        read: told of each item that is handed out; returns what stands for it.
    """

    __slots__ = ("sequence", "position", "length", "item", "read", "is_own")

    def __init__(
        self,
        journal: Journal,
        sequence: Any,
        length: int | None = None,
        item: Callable[[Any, int], Any] | None = None,
        read: Callable[[int, Any], Any] | None = None,
    ) -> None:
        kind: Any = next((k for k in _SEQUENCES if isinstance(sequence, k)), None)
        super().__init__(journal, type(iter(())) if kind is None else type(kind.__iter__(sequence)))
        self.read = read
        self.sequence = sequence
        self.position = 0
        self.length = length
        #: whether one loop has it, and nobody else
        self.is_own = False
        self.item = operator.getitem if item is None else item

    def __next__(self) -> Any:
        if self.position < 0:  # it has ended, and stays so even if the sequence grows
            raise StopIteration
        self.touch(self)
        if self.position >= (_count(self.sequence) if self.length is None else self.length):
            self.position = -1
            raise StopIteration
        self.position += 1
        item = self.item(self.sequence, self.position - 1)
        return item if self.read is None else self.read(self.position - 1, item)

    def __length_hint__(self) -> int:
        if self.position < 0:
            return 0
        return max(0, (_count(self.sequence) if self.length is None else self.length) - self.position)

    def journal_contents(self) -> Any:
        return self.position

    def journal_restore(self, contents: Any) -> None:
        self.position = contents


def _count(sequence: Any) -> int:
    if isinstance(sequence, list):
        return list.__len__(sequence)
    return tuple.__len__(sequence) if isinstance(sequence, tuple) else len(sequence)


class ReverseIterator(Touching):
    """Items of a list, tuple, range or tensor from its end, each as it is when it is asked for."""

    __slots__ = ("sequence", "position")

    def __init__(self, journal: Journal, sequence: Any) -> None:
        super().__init__(journal, type(reversed(sequence)))
        self.sequence = sequence
        self.position = len(sequence) - 1

    def __next__(self) -> Any:
        if self.position < 0:
            raise StopIteration
        self.touch(self)
        position, self.position = self.position, self.position - 1
        if position >= len(self.sequence):
            self.position = -1
            raise StopIteration
        return self.sequence[position]

    def __length_hint__(self) -> int:
        return self.position + 1 if self.position < len(self.sequence) else 0

    def journal_contents(self) -> Any:
        return self.position

    def journal_restore(self, contents: Any) -> None:
        self.position = contents


def _keys(over: Any) -> list[Any] | None:
    """What Python's iterators find their way by: the keys or items that they come by; None for what cannot change."""
    kind = type(over)
    if kind is range:
        return None
    if not issubclass(kind, CONTAINERS):
        over = mapping_of(over)
        kind = type(over)
    return [key for key, _ in items_of(over)] if issubclass(kind, dict) else list(native_class(kind).__iter__(over))


class RestartingIterator(Touching):
    """Items by Python's own iterator, made again after an undo: of dictionaries, sets and deques, it notices changes.

    An undo puts what is iterated back, but an iterator over it may then stand elsewhere, or have ended. So Python's
    iterator serves as long as nothing was put back; later ones begin anew, if the keys are still those of the start.

    Args:
        journal: where the position is noted before it moves.
        over: what is iterated.
        make: makes Python's iterator over it.
        read: told of each item that is handed out, after what is iterated and the key or index; returns what stands for
            it.
    """

    __slots__ = ("over", "make", "source", "position", "ended", "keys", "undone", "read")

    def __init__(
        self, journal: Journal, over: Any, make: Callable[[Any], Iterator[Any]] = iter,
        read: Callable[[Any, Any, Any], Any] | None = None,
    ) -> None:  # fmt: skip
        self.over = over
        self.make = make
        self.read = read
        self.keys = _keys(over)
        self.source: Iterator[Any] | None = make(over)
        super().__init__(journal, type(self.source))
        self.position = 0
        #: what the last step raised: "" if there was no item, else that what is iterated was changed
        self.ended: str | None = None
        self.undone = PUT_BACK.count

    def __next__(self) -> Any:
        self.touch(self)
        if self.source is None or self.undone != PUT_BACK.count:
            self._restart()
        assert self.source is not None
        try:
            item = next(self.source)
        except StopIteration:
            self.ended = ""
            raise
        except RuntimeError as error:
            self.ended = str(error)
            raise
        self.position += 1
        if self.read is None:
            return item
        place = self.position - 1
        return self.read(
            self.over, place if self.keys is None or isinstance(self.over, deque) else self.keys[place], item
        )

    def _restart(self) -> None:
        """Python's iterator may have lost its place: make another one, or raise what it would."""
        repeats, changed = next((what for kind, what in _CHANGED.items() if self.stands_for in kind), (True, ""))
        if self.ended is not None:
            if self.ended and repeats:
                raise RuntimeError(self.ended)
            raise StopIteration
        if self.is_invalid():
            if self.keys is not None and len(self.keys) != len(self.over):
                self.ended = changed
                raise RuntimeError(changed)
            raise Unsupported(
                Refusal.TENSOR_CONDITION,
                "what an iterator iterates over got other items, and was put back where paths of the program meet",
                "change containers outside of loops over them",
            )
        self.undone = PUT_BACK.count
        self.source = self.make(self.over)
        for _ in range(self.position):
            next(self.source)

    def is_invalid(self) -> bool:
        """Whether what is iterated got or lost items meanwhile, so that the next step raises, or goes elsewhere."""
        now = _keys(self.over)
        return self.keys is not None and (
            now is None or len(now) != len(self.keys) or any(map(operator.is_not, now, self.keys))
        )

    def journal_contents(self) -> Any:
        return self.position, self.ended

    def journal_restore(self, contents: Any) -> None:
        if contents != (self.position, self.ended):
            self.position, self.ended = contents
            self.source = None


_D: Final[dict[Any, Any]] = {}
_OF_DICT: Final[tuple[Any, ...]] = (
    iter(_D), iter(_D.values()), iter(_D.items()), reversed(_D), reversed(_D.values()), reversed(_D.items())
)  # fmt: skip
#: classes of Python's iterators that notice changes: whether they do so again when asked again, and what they say
_CHANGED: Final[dict[tuple[type, ...], tuple[bool, str]]] = {
    (type(iter(set())),): (True, "Set changed size during iteration"),
    (type(iter(deque())),): (False, "deque mutated during iteration"),
    (type(iter(OrderedDict())),): (False, "OrderedDict mutated during iteration"),
    tuple(map(type, _OF_DICT)): (True, "dictionary changed size during iteration"),
}  # fmt: skip


#: iterators that compare, add or test the items that they are given
_ASKING: Final = frozenset(
    {
        itertools.groupby,
        itertools.compress,
        itertools.count,
        itertools.filterfalse,
        itertools.takewhile,
        itertools.dropwhile,
    }
)


class BufferedIterator(Touching):
    """Items of an iterator made during the capture, kept so that they can be handed out again after an undo.

    Args:
        machine: the interpreter.
        source: the iterator.
        ahead: items that come before those of the iterator.
    """

    __slots__ = ("journal", "source", "buffer", "journaled", "position", "ended", "noted", "next")

    def __init__(self, machine: Any, source: Iterator[Any], ahead: Iterable[Any] = ()) -> None:
        super().__init__(machine.journal, type(source))
        self.journal = machine.journal
        self.source = source
        self.buffer: list[Any] = [*ahead]
        #: positions of items whose making changed what the journal takes back: other iterators, objects
        self.journaled: set[int] = set()
        self.position = 0
        self.ended = False
        self.noted = machine.made_if_fresh
        self.next = functools.partial(machine.native.call, None, next) if self.asks else next

    def __next__(self) -> Any:
        if self.ended:
            raise StopIteration
        self.touch(self)
        if self.position == len(self.buffer):
            self._advance()
        elif self.position in self.journaled:
            raise Unsupported(
                Refusal.ITERATION,
                f"this {type(self.source).__name__} takes its items from an iterator of the program, which both sides "
                "of a condition advance",
                "make a list of the items first, or loop over the iterator itself",
            )
        item = self.buffer[self.position]
        if item is _ABSENT:
            self.ended = True
            raise StopIteration
        self.position += 1
        return item

    def _advance(self) -> None:
        """Take the next item, or the end, from the iterator."""
        touches = self.journal.touches
        item = _ABSENT
        with contextlib.suppress(StopIteration):
            item = self.noted(self.next(self.source))
        if self.journal.touches != touches:
            self.journaled.add(len(self.buffer))
        self.buffer.append(item)

    @property
    def asks(self) -> bool:
        """Whether the iterator compares, adds or tests what it is given."""
        return type(self.source) in _ASKING

    def left(self) -> list[Any]:
        """The items that were taken from the iterator and are still to come."""
        return [item for item in self.buffer[self.position :] if item is not _ABSENT]

    def journal_contents(self) -> Any:
        return self.position, self.ended

    def journal_restore(self, contents: Any) -> None:
        self.position, self.ended = contents


_LIST_ITERATOR: Final[type] = type(iter([]))


def of_native(machine: Any, made: Iterator[Any]) -> Touching:
    """The journal's iterator for one that native code made during the capture.

    Args:
        machine: the interpreter.
        made: the iterator, which nobody else has.
    """
    if type(made) is _LIST_ITERATOR:
        reduced: Any = made.__reduce__()  # `iter`, what it is called with, and how far it is
        items = reduced[1][0]
        # by the iterator, by what was made of it and while it is asked: a list that nobody else can change
        if sys.getrefcount(items) <= 4:
            return SequenceIterator(machine.journal, machine.made([*made]))
    return BufferedIterator(machine, made)


_ITERABLES: Final[tuple[Any, ...]] = (
    [], (), "", b"", range(0), range(1 << 70), {}, {}.values(), {}.items(), OrderedDict(), deque(), set(),
)  # fmt: skip
#: iterators in which nothing of the user's runs
_OF_PYTHON: Final = frozenset(
    {zip, enumerate, map, filter, reversed, type(reversed([])), *map(type, map(iter, _ITERABLES))}
)


class OutsideIterator(Touching):
    """An iterator that existed before the capture: only Python can advance it, since that cannot be taken back.

    Args:
        journal: the capture's journal.
        iterator: the iterator.
    """

    __slots__ = ("iterator",)

    def __init__(self, journal: Journal, iterator: Iterator[Any]) -> None:
        super().__init__(journal, type(iterator))
        self.iterator = iterator

    def __next__(self) -> Any:
        kind = type(self.iterator)
        refusal = Unsupported(
            Refusal.ITERATION,
            f"the items of this {kind.__name__} are only known when it is advanced",
            "pass a list or a tuple, or move the loop out of the compiled function",
        )
        refusal.quiet = kind in _OF_PYTHON or getattr(self.iterator, "gi_code", None) in CAPTURED_GENERATORS
        raise refusal

    def journal_contents(self) -> Any:
        return None

    def journal_restore(self, contents: Any) -> None:
        """It is never advanced here."""


class ZipIterator(Touching):
    """`zip` over the capture's iterators."""

    __slots__ = ("parts", "strict")

    def __init__(self, journal: Journal, parts: list[Any], strict: bool) -> None:
        super().__init__(journal, zip)
        self.parts = parts
        self.strict = strict

    def __next__(self) -> tuple[Any, ...]:
        if not self.parts:
            raise StopIteration
        items: list[Any] = []
        for number, part in enumerate(self.parts):
            item = next(part, _ABSENT)
            if item is _ABSENT:
                if self.strict:
                    self._check(number)
                raise StopIteration
            items.append(item)
        return tuple(items)

    def _check(self, number: int) -> None:
        def named(count: int) -> str:
            return f"arguments 1-{count}" if count > 1 else "argument 1"

        if number > 0:
            raise ValueError(f"zip() argument {number + 1} is shorter than {named(number)}")
        for later in range(1, len(self.parts)):
            if next(self.parts[later], _ABSENT) is not _ABSENT:
                raise ValueError(f"zip() argument {later + 1} is longer than {named(later)}")

    def journal_contents(self) -> Any:
        return None

    def journal_restore(self, contents: Any) -> None:
        """The parts restore themselves."""


class MapIterator(Touching):
    """Results of a call for each item of the parts (`map`, `filter`, `enumerate`).

    Args:
        journal: the capture's journal.
        compute: makes the result from the number of the item and the item.
        part: the iterator of the items.
        rebuild: gives the builtin and its arguments that make the same iterator in Python, from here on.
    """

    __slots__ = ("compute", "part", "count", "rebuild")

    def __init__(
        self, journal: Journal, stands_for: type, compute: Callable[[int, Any], Any], part: Any,
        rebuild: Callable[[MapIterator], tuple[Any, ...]] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(journal, stands_for)
        self.compute = compute
        self.part = part
        self.count = 0
        self.rebuild = rebuild

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


class CallIterator(Touching):
    """Results of a function until it returns a sentinel: `iter(function, sentinel)`.

    Args:
        journal: where the state is noted before it changes.
        compute: calls the function; returns whether there is a result, and the result.
    """

    __slots__ = ("compute", "ended")

    def __init__(self, journal: Journal, compute: Callable[[], tuple[bool, Any]]) -> None:
        super().__init__(journal, type(iter(int, 1)))
        self.compute = compute
        self.ended = False

    def __next__(self) -> Any:
        if self.ended:
            raise StopIteration
        try:
            more, value = self.compute()
        except StopIteration:
            self.touch(self)
            self.ended = True
            raise
        if self.ended:  # the function itself used the iterator up
            raise StopIteration
        if not more:
            self.touch(self)
            self.ended = True
            raise StopIteration
        return value

    def journal_contents(self) -> Any:
        return self.ended

    def journal_restore(self, contents: Any) -> None:
        self.ended = contents


SKIP = object()


def refuse_look(iterator: Any, what: str) -> None:
    """Refuse native code that would look at one of the capture's own iterators."""
    kind = iterator.stands_for.__name__
    raise Unsupported(
        Refusal.UNSUPPORTED_SYNTAX,
        f"{what} of a {kind} is taken while capturing, which has iterators of its own",
        "use the items, not the iterator",
    )
