"""Iterating over objects as Python does, by iterators that the journal can take back."""

from __future__ import annotations

import functools
import itertools
import operator
import sys
from collections import OrderedDict, deque
from typing import Any, Final

from weft.capture.meaning import arithmetic
from weft.capture.meaning.gate import Reads
from weft.capture.meaning.impostors import impostor
from weft.capture.meaning.iterators import BufferedIterator, OutsideIterator, RestartingIterator, SequenceIterator
from weft.capture.meaning.parts import Machine, Part
from weft.capture.meaning.ranges import RowIterator, SymbolicRange, SymbolicRangeIterator
from weft.capture.python.classes import MISSING, class_attribute, is_opaque_iterator
from weft.capture.python.containers import VIEWS, items_of, mapping_of
from weft.capture.state.journal import Journaled
from weft.core.tensor import Tensor, wrap
from weft.ops.index import row

#: what Python's iterators see changes of, the methods by which Python does that, and the views
_HASHED: Final = (dict, set, frozenset, deque)
_HASHED_ITERATION: Final = tuple(kind.__dict__["__iter__"] for kind in (*_HASHED, OrderedDict))
#: the classes of views that show values
_VALUES: Final[tuple[type, ...]] = (type({}.values()), type(OrderedDict[int, int]().values()))
_ITEMS: Final[tuple[type, ...]] = (type({}.items()), type(OrderedDict[int, int]().items()))
#: iterations that a loop which a tensor may leave must have left to be a `while` of the graph
_WORTH_A_WHILE: Final = 8


class Iteration(Part):
    """The part of the interpreter that iterates."""

    def get_iter(self, obj: Any) -> Any:
        """`iter(obj)`, as an iterator that the journal can take back."""
        journal = self.journal
        if isinstance(obj, OutsideIterator):
            return obj
        if id(obj) in self.sources.opaque and is_opaque_iterator(obj):
            return OutsideIterator(journal, obj)
        self.machine.arrays.refuse_opaque(obj)
        if type(obj) is SymbolicRange:
            return SymbolicRangeIterator(journal, obj)
        if isinstance(obj, Journaled) and hasattr(obj, "__next__"):
            return obj
        kind = type(obj)
        if kind in (list, tuple) and self.sources.is_known(obj):
            self.sources.length(obj)
            return SequenceIterator(journal, obj, read=lambda index, item: self.sources.item(obj, index, item))
        if kind is range and max(abs(obj.start), abs(obj.stop)) >= sys.maxsize >> 1:  # it has no length
            return RestartingIterator(journal, obj)
        if kind in (list, tuple, range, str, bytes):
            return SequenceIterator(journal, obj)
        own = self.machine.objects.user_method(obj, "__iter__")
        if own is None and isinstance(obj, Tensor):
            if not obj.shape:
                raise TypeError("iteration over a 0-dimensional tensor")
            # the rows are those of now, whatever is written to the tensor before they are taken
            return SequenceIterator(journal, self.machine.trace.present(obj), obj.shape[0], row)
        if own is None:
            if isinstance(obj, _HASHED) and class_attribute(kind, "__iter__") in _HASHED_ITERATION:
                return self._over_hashed(obj)
            if kind in VIEWS:  # which goes past what the class of the dict has for iteration
                return self._over_hashed(obj)
            for native in (list, tuple):
                if isinstance(obj, native) and class_attribute(kind, "__iter__") is native.__dict__["__iter__"]:
                    self.sources.length(obj)
                    read = functools.partial(self.sources.item, obj) if self.sources.is_known(obj) else None
                    return SequenceIterator(journal, obj, item=native.__getitem__, read=read)
            self.sources.contents(obj)
            if (
                class_attribute(kind, "__iter__") is MISSING
                and self.machine.objects.user_method(obj, "__getitem__") is not None
            ):
                return IndexIterator(self.machine, obj)
        made = self.python_iter(obj)
        if isinstance(made, Journaled):
            return made
        if self.machine.objects.user_method(made, "__next__") is not None:
            return UserIterator(self.machine, made)
        if id(made) not in self.created and not (made is not obj and sys.getrefcount(made) <= 2):
            return OutsideIterator(journal, made)
        return BufferedIterator(self.machine, made)

    def _over_hashed(self, obj: Any) -> RestartingIterator:
        """An iterator over a dictionary, a view of one, a set or a deque, which gives what stands for the items."""
        read: Any = None
        numbers = self.sources.taken_over(obj)
        if not numbers:
            return RestartingIterator(self.journal, obj)
        if isinstance(obj, deque):
            read = functools.partial(self._item_of_deque, numbers)
        elif type(obj) in _ITEMS:
            read = self._pair_of_view
        elif type(obj) in _VALUES:
            read = self._value_of_view
        return RestartingIterator(self.journal, obj, read=read)

    def _item_of_deque(self, numbers: dict[int, Any], items: Any, place: int, item: Any) -> Any:
        if self.sources.original(items) is items:
            return numbers.get(place, item)
        self.sources.contents(items)  # it was written meanwhile
        return item

    def _pair_of_view(self, view: Any, key: Any, pair: Any) -> Any:
        return key, self.sources.item(mapping_of(view), key, pair[1])

    def _value_of_view(self, view: Any, key: Any, value: Any) -> Any:
        return self.sources.item(mapping_of(view), key, value)

    def resumed(self, iterator: Any) -> Any:
        """What a loop that began before this capture goes on with: an iterator is not asked for its iterator again."""
        if isinstance(iterator, Journaled):
            return iterator
        if self.machine.objects.user_method(iterator, "__next__") is not None:
            return UserIterator(self.machine, iterator)
        own = self.machine.objects.user_method(iterator, "__iter__")
        return self.get_iter(iterator) if own is None else OutsideIterator(self.journal, iterator)

    def iterator(self, obj: Any) -> Any:
        """`iter(obj)` as the program gets it."""
        made = self.python_iter(obj)
        if isinstance(made, Journaled) or self.machine.objects.user_method(made, "__next__") is not None or made is obj:
            return made
        return self.get_iter(self.machine.made(made))

    def python_iter(self, obj: Any) -> Any:
        """`iter(obj)` as Python code sees it: what a user's `__iter__` returns is itself."""
        own = self.machine.objects.user_method(obj, "__iter__")
        if own is None:
            if type(obj) is SymbolicRange:
                return self.get_iter(obj)
            if isinstance(obj, Journaled):
                return obj
            if self._is_native_iterable(obj):
                if not is_opaque_iterator(obj):
                    self.gate.read(Reads.CONTENTS, obj)
                return iter(obj)
            return self.get_iter(obj)
        made = self.machine.calls.call(own, [obj], {})
        if not isinstance(made, Journaled) and not hasattr(type(made), "__next__"):
            raise TypeError(f"iter() returned non-iterator of type '{type(made).__name__}'")
        return made

    def _is_native_iterable(self, obj: Any) -> bool:
        """Whether Python's own iterator over an object is taken, for lack of one that the journal can take back."""
        kind = type(obj)
        if kind in (list, tuple, range, str, bytes) or kind in VIEWS or isinstance(obj, (Tensor, list)):
            return False
        if isinstance(obj, _HASHED) and class_attribute(kind, "__iter__") in _HASHED_ITERATION:
            return False
        if isinstance(obj, tuple) and class_attribute(kind, "__iter__") is tuple.__dict__["__iter__"]:
            return False
        return (
            class_attribute(kind, "__iter__") is not MISSING
            or self.machine.objects.user_method(obj, "__getitem__") is None
        )

    def iterates_by_user(self, obj: Any) -> bool:
        """Whether taking the items of an object calls a method of the user's."""
        by_index = class_attribute(type(obj), "__iter__") is MISSING
        return self.machine.objects.user_method(obj, "__getitem__" if by_index else "__iter__") is not None

    def listed(self, obj: Any) -> Any:
        """Something native code can make a list or tuple of in place of `obj`, which is asked for its length, too."""
        items = self.iterate(obj)
        self.ask_length(obj)
        return items

    def hashed(self, obj: Any) -> Any:
        """Something that gives a set its members in place of `obj`: Python takes the whole table of a set or dict."""
        if is_table(obj):
            self.sources.taken_over(obj)
            return obj
        return [self.machine.gate.read(Reads.ALL, item) for item in self.iterate(obj)]

    def ask_length(self, iterable: Any) -> None:
        """Ask a user's iterable how long it may be, as a list does before it takes the items."""
        if isinstance(iterable, (IndexIterator, UserIterator)):
            iterable = iterable.obj
        for method, function in (("__len__", len), ("__length_hint__", operator.length_hint)):
            own = self.machine.objects.user_method(iterable, method)
            if own is not None:
                try:
                    result = self.machine.calls.call(own, [iterable], {})
                except TypeError:
                    continue
                if not isinstance(result, Tensor):
                    function(impostor(iterable, **{method: lambda _, result=result: result}))
                return

    def is_iterable(self, obj: Any) -> bool:
        """Whether Python finds a way to iterate over an object."""
        if isinstance(obj, (Tensor, Journaled)):
            return True
        found = class_attribute(type(obj), "__iter__")
        if found is MISSING:
            return class_attribute(type(obj), "__getitem__") is not MISSING and not isinstance(obj, dict)
        return found is not None

    def mapping(self, obj: Any) -> dict[Any, Any]:
        """The dictionary to merge in place of any mapping, asked as Python asks it.

        Raises:
            AttributeError: it has no `keys`.
        """
        if issubclass(type(obj), dict):
            users = any(
                self.machine.objects.user_method(obj, name) is not None for name in ("__iter__", "keys", "__getitem__")
            )
            if not users or class_attribute(type(obj), "__iter__") is dict.__dict__["__iter__"]:
                numbers = self.sources.taken_over(obj)
                found: dict[Any, Any] = self.machine.made({**dict(items_of(obj)), **numbers}) if numbers else obj
                return found
        keys = self.machine.calls.call(self.machine.attributes.get_attr(obj, "keys"), [], {})
        return {key: self.machine.objects.get_item(obj, key) for key in self.get_iter(keys)}

    def iterate(self, obj: Any) -> Any:
        """Something native code can iterate in place of `obj`."""
        if type(obj) in (list, tuple) and self.sources.is_known(obj):
            return list(self.get_iter(obj))
        if type(obj) is SymbolicRange:
            return self.get_iter(obj)
        if type(obj) in (list, tuple, range, str, dict, set, frozenset) or isinstance(obj, Journaled):
            self.sources.taken_over(obj)
            return obj
        return self.get_iter(obj)

    def own_iter(self, obj: Any) -> Any:
        """`iter(obj)` for a loop that nobody else gets the iterator of."""
        found = self.get_iter(obj)
        if type(found) is SequenceIterator and (type(obj) is range or Tensor in type(obj).__mro__):
            found.is_own = True
        return found

    def decided_by_the_graph(self, iterator: Any) -> Any:
        """What is left of a range, or of the rows of a tensor, as if only the graph knew its end; anything else, and
        what is short, as it is.
        """
        if type(iterator) is not SequenceIterator or not iterator.is_own:
            return iterator
        items = iterator.sequence
        left = (items if isinstance(items, range) else range(len(items)))[iterator.position :]
        if iterator.position < 0 or len(left) < _WORTH_A_WHILE:
            return iterator
        trace = self.machine.trace
        stop = arithmetic.number(wrap(trace.use(Tensor(left.stop))), int)
        positions = SymbolicRange(left.start, stop, left.step)
        if isinstance(items, Tensor):
            return RowIterator(self.journal, positions, items)
        return SymbolicRangeIterator(self.journal, positions)

    def advance(self, iterator: SymbolicRangeIterator) -> Any:
        """The next item of a symbolic range."""
        return iterator.advance()


def is_table(obj: Any) -> bool:
    """Whether sets take over the table of an object, past whatever its class has for iteration."""
    return issubclass(type(obj), (set, frozenset)) or type(obj) is dict


class UserIterator(Journaled):
    """An object with a Python `__next__`, entered by the interpreter."""

    __slots__ = ("machine", "obj")

    @property
    def stands_for(self) -> type:
        """The class that `type` sees."""
        return type(self.obj)

    def __init__(self, machine: Any, obj: Any) -> None:
        self.machine, self.obj = machine, obj

    def __iter__(self) -> UserIterator:
        return self

    def __next__(self) -> Any:
        return self.machine.calls.call(class_attribute(type(self.obj), "__next__"), [self.obj], {})

    def journal_contents(self) -> Any:
        return None

    def journal_restore(self, contents: Any) -> None:
        """The object itself is journaled when it is written."""


class IndexIterator(Journaled):
    """An object with only a Python `__getitem__`, iterated by index."""

    __slots__ = ("machine", "obj", "position")

    stands_for = type(iter(type("_Indexed", (), {"__getitem__": lambda self, index: index})()))

    def __init__(self, machine: Any, obj: Any) -> None:
        self.machine, self.obj, self.position = machine, obj, 0
        machine.journal.born(self)

    def __iter__(self) -> IndexIterator:
        return self

    def __next__(self) -> Any:
        if self.position < 0:
            raise StopIteration
        self.machine.journal.touch(self)
        try:
            item = self.machine.objects.get_item(self.obj, self.position)
        except (IndexError, StopIteration):
            self.position = -1
        else:
            self.position += 1
            return item
        raise StopIteration

    def journal_contents(self) -> Any:
        return self.position

    def journal_restore(self, contents: Any) -> None:
        self.position = contents


def unpack(machine: Machine, value: Any, count: int) -> list[Any]:
    """Exactly `count` items of an iterable."""
    machine.sources.length(value)
    if type(value) in (tuple, list):
        items = list(value)
    else:
        if not machine.iteration.is_iterable(value):
            raise TypeError(f"cannot unpack non-iterable {type(value).__name__} object")
        items = []
        for item in machine.iteration.get_iter(value):
            items.append(item)
            if len(items) > count:
                raise ValueError(f"too many values to unpack (expected {count})")
    if len(items) < count:
        raise ValueError(f"not enough values to unpack (expected {count}, got {len(items)})")
    if len(items) > count:
        raise ValueError(f"too many values to unpack (expected {count})")
    if type(value) not in (tuple, list):
        return items
    return [machine.sources.item(value, i, item) for i, item in enumerate(items)]


def unpack_starred(machine: Machine, value: Any, before: int, after: int) -> list[Any]:
    """`before` items, a list of the middle ones, `after` items."""
    if not machine.iteration.is_iterable(value):
        raise TypeError(f"cannot unpack non-iterable {type(value).__name__} object")
    iterator = machine.iteration.get_iter(value)
    first = list(itertools.islice(iterator, before))
    if len(first) < before:
        raise ValueError(f"not enough values to unpack (expected at least {before + after}, got {len(first)})")
    # CPython makes a list of the iterator, which asks that for its iterator again
    rest = list(machine.iteration.listed(iterator.obj) if type(iterator) is UserIterator else iterator)
    if len(rest) < after:
        count = len(first) + len(rest)
        raise ValueError(f"not enough values to unpack (expected at least {before + after}, got {count})")
    end = len(rest) - after
    return [*first, machine.made(rest[:end]), *rest[end:]]
