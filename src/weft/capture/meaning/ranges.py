"""`range` with a bound that only the running graph knows."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

from weft.capture.meaning import arithmetic
from weft.capture.meaning.iterators import Touching, refuse_look
from weft.capture.state.journal import Journal, Journaled
from weft.core.number import GraphNumber, require
from weft.core.tensor import Tensor
from weft.ops.index import row

_BOUNDS: Final = ("start", "stop", "step")


class SymbolicRange(Journaled):
    """`range` with a bound that only the running graph knows.

    The interpreter computes what it can of it. Whoever else asks it anything, native code above all, is refused.
    """

    __slots__ = _BOUNDS
    stands_for = range

    def __init__(self, start: Any, stop: Any, step: Any) -> None:
        self.start, self.stop, self.step = start, stop, step

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return range

    def is_filled(self) -> GraphNumber:
        """Whether it has items."""
        filled: GraphNumber = arithmetic.binary(operator.lt if self.step > 0 else operator.gt, self.start, self.stop)
        return filled

    def length(self) -> GraphNumber:
        """The number of its items."""
        low, high = (self.start, self.stop) if self.step > 0 else (self.stop, self.start)
        count = arithmetic.binary(operator.sub, high, low)
        if (size := abs(self.step)) != 1:
            count = arithmetic.binary(operator.add, count, size - 1)
            count = arithmetic.binary(operator.floordiv, count, size)
        found: GraphNumber = arithmetic.chosen(self.is_filled(), count, 0)
        return found

    def item(self, index: Any) -> Any:
        """The item at an index, a number."""
        count, position = self.length(), arithmetic.tensor_of(index)
        fits = (position >= -count.tensor) & (position < count.tensor)
        require(fits, "whether an index fits a range")
        past = arithmetic.number(position < 0, bool)
        index = arithmetic.chosen(past, arithmetic.binary(operator.add, count, index), index)
        return arithmetic.binary(operator.add, self.start, arithmetic.binary(operator.mul, index, self.step))

    def backwards(self) -> SymbolicRange:
        """The range of the same items, the last first."""
        before = arithmetic.binary(operator.add, self.start, -self.step)
        last = arithmetic.binary(operator.add, before, arithmetic.binary(operator.mul, self.length(), self.step))
        return SymbolicRange(last, before, -self.step)

    def journal_contents(self) -> Any:
        return self.start, self.stop

    def journal_restore(self, contents: Any) -> None:
        """It does not change."""


def _refused(name: str) -> Callable[..., Any]:
    def method(self: SymbolicRange, *args: Any, **kwargs: Any) -> Any:
        refuse_look(self, f"{name}()")

    return method


#: what the object itself needs
_OWN: Final = frozenset(
    {
        "__class__", "__new__", "__init__", "__getattribute__", "__setattr__", "__delattr__", "__init_subclass__",
        "__subclasshook__", "__doc__", *_BOUNDS,
    }
)  # fmt: skip
for _name in {*dir(range), "__bool__", "__array__", "__copy__", "__deepcopy__"} - _OWN:
    setattr(SymbolicRange, _name, _refused(_name))


class SymbolicRangeIterator(Touching):
    """Iterator of a `SymbolicRange`: the `for` loop over it becomes a `while` of the graph."""

    __slots__ = ("current", "stop", "step")

    def __init__(self, journal: Journal, over: SymbolicRange) -> None:
        super().__init__(journal, type(iter(range(1))))
        self.current = over.start
        self.stop = over.stop
        self.step = over.step

    def symbolic_test(self) -> Any:
        """Whether another item exists: a symbolic truth, or a bool where it is known."""
        if any(map(arithmetic.is_graph_number, (self.current, self.stop))):
            return SymbolicRange(self.current, self.stop, self.step).is_filled()
        return self.current < self.stop if self.step > 0 else self.current > self.stop

    def advance(self) -> Any:
        """The current item; moves to the next."""
        self.touch(self)
        item = self.current
        self.current = arithmetic.advanced(item, self.step)
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


class RowIterator(SymbolicRangeIterator):
    """Iterator of the rows of a tensor in a loop that the graph decides.

    Args:
        journal: where the position is noted before it moves.
        positions: those of the rows.
        rows: the tensor, which nobody writes.
    """

    __slots__ = ("rows",)

    def __init__(self, journal: Journal, positions: SymbolicRange, rows: Tensor) -> None:
        super().__init__(journal, positions)
        self.rows = rows

    def advance(self) -> Any:
        return row(self.rows, arithmetic.tensor_of(super().advance()))
