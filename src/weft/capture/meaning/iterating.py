"""Builtins that go over items."""

from __future__ import annotations

import functools
import itertools
import operator
from typing import TYPE_CHECKING, Any

from weft.capture.meaning import arithmetic
from weft.capture.meaning.gate import hashed_of
from weft.capture.meaning.iterators import (
    SKIP,
    CallIterator,
    MapIterator,
    RestartingIterator,
    ReverseIterator,
    SequenceIterator,
    ZipIterator,
    refuse_look,
)
from weft.capture.meaning.ranges import SymbolicRange
from weft.capture.meaning.table import Handler, handles
from weft.capture.python.classes import MISSING, class_attribute
from weft.capture.state.journal import Journaled
from weft.capture.state.lazytext import LazyText
from weft.core.number import GraphNumber
from weft.core.run_number import settled
from weft.core.tensor import Tensor
from weft.core.transparency import transparent
from weft.errors import Refusal, Unsupported

if TYPE_CHECKING:
    from weft.capture.meaning.parts import Machine


# -- iteration -----------------------------------------------------------------------------------------------------


@handles(range)
def _range(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if any(map(machine.objects.is_of_graph, args)) and all(map(_is_bound, args)):
        bounds = [arithmetic.converted(int, a) if machine.objects.is_of_graph(a) else settled(a) for a in args]
        start, stop, step = (
            (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1) if len(bounds) == 2 else tuple(bounds)
        )
        if type(step) is GraphNumber:
            raise Unsupported(
                Refusal.TENSOR_VALUE, "the step of a range is only known when the graph runs", "use a constant step"
            )
        if step == 0:
            raise ValueError("range() arg 3 must not be zero")
        return SymbolicRange(start, stop, step)
    return machine.native.call((), range, *settled(args), **settled(kwargs))


def _is_bound(value: Any) -> bool:
    """Whether a value can be a bound of a range."""
    if isinstance(value, Tensor):
        return value.dtype.category <= 1 and value.size == 1
    return arithmetic.is_number(value) and arithmetic.kind_of(value) is not float


@handles(iter)
def _iter(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if len(args) == 1:
        return machine.iteration.iterator(args[0])
    function, sentinel = args
    if not callable(function):
        return iter(function, sentinel)

    def compute() -> tuple[bool, Any]:
        value = machine.calls.call(function, [], {})
        return not machine.objects.same_or_equal(sentinel, value), value

    return CallIterator(machine.journal, compute)


@handles(next)
def _next(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    iterator = args[0]
    own = machine.objects.user_method(iterator, "__next__")
    if own is None and not isinstance(iterator, Journaled) and hasattr(type(iterator), "__next__"):
        journal = machine.journal
        unknown = id(iterator) not in machine.sources.opaque and not journal.is_of_this_side(iterator)
        if unknown and journal.on_a_side():
            raise Unsupported(Refusal.IMPURE_CALL, f"a {type(iterator).__name__} moves on, which cannot be taken back")
        iterator = machine.iteration.get_iter(iterator)
    try:
        return machine.calls.call(own, [iterator], {}) if own is not None else next(iterator)
    except StopIteration:
        if len(args) > 1:
            return args[1]
        raise


@handles(zip)
def _zip(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    return ZipIterator(machine.journal, [machine.iteration.get_iter(a) for a in args], bool(kwargs.get("strict")))


@handles(map)
def _map(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    function, *iterables = args
    parts = ZipIterator(machine.journal, [machine.iteration.get_iter(i) for i in iterables], False)
    return MapIterator(
        machine.journal,
        map,
        lambda _, items: machine.calls.call(function, list(items), {}),
        parts,
        lambda made: (map, function, *parts.parts),
    )


@handles(filter)
def _filter(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    function, iterable = args

    def keep(_: int, item: Any) -> Any:
        chosen = machine.objects.truth(item if function is None else machine.calls.call(function, [item], {}))
        return item if chosen else SKIP

    return MapIterator(
        machine.journal, filter, keep, machine.iteration.get_iter(iterable), lambda made: (filter, function, made.part)
    )


@handles(sorted)
def _sorted(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    items = list(machine.iteration.listed(args[0]))
    key = kwargs.get("key")
    compared = items if key is None else None
    machine.native.call(compared, items.sort, key=machine.calls.callback(key), reverse=kwargs.get("reverse", False))
    return machine.made(items)


@handles(sum)
def _sum(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    total = args[1] if len(args) > 1 else kwargs.get("start", 0)
    if isinstance(total, (str, bytes, bytearray, LazyText)):
        return sum((), "" if isinstance(total, LazyText) else total)  # Python's own error
    for item in machine.iteration.get_iter(args[0]):
        total = machine.objects.binary(0, total, item)
    return total


def _quantifier(stop_at: bool) -> Handler:
    """`any` (stop at a true item) or `all` (at a false one)."""

    def handler(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
        pending: Any = None
        for item in machine.iteration.get_iter(args[0]):
            truth = machine.objects.truth(item)
            if type(truth) is bool:
                if truth is stop_at:
                    return stop_at
                continue
            decided = truth if stop_at else arithmetic.negated(truth)
            pending = decided if pending is None else arithmetic.disjunction(pending, decided)
        if pending is None:
            return not stop_at
        return pending if stop_at else arithmetic.negated(pending)

    return handler


def _extreme(function: Any, symbol: str) -> Handler:
    """`min` (symbol "<") or `max` (">")."""

    def handler(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
        items = list(machine.iteration.get_iter(args[0])) if len(args) == 1 else args
        key = kwargs.get("key")
        if not items:
            if "default" in kwargs:
                return kwargs["default"]
            return function(items)
        best = items[0]
        best_key = best if key is None else machine.calls.call(key, [best], {})
        for item in items[1:]:
            item_key = item if key is None else machine.calls.call(key, [item], {})
            better = machine.objects.truth(machine.objects.compare(symbol, item_key, best_key))
            if type(better) is not bool:  # only the graph knows
                best, best_key = machine.calls.call(_chosen, [better, (item, item_key), (best, best_key)], {})
            elif better:
                best, best_key = item, item_key
        return best

    return handler


@transparent
def _chosen(condition: Any, first: Any, second: Any) -> Any:
    """The first of two values where a condition holds, else the second: a branch like the user's own."""
    return first if condition else second


@handles(operator.length_hint)
def _length_hint(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    plain = args and type(args[0]) in (SequenceIterator, ReverseIterator)
    by_item = plain and getattr(args[0], "item", operator.getitem) not in (operator.getitem, list.__getitem__)
    if args and isinstance(args[0], Journaled) and (not plain or by_item):
        refuse_look(args[0], "length_hint()")
    return machine.native.call((), operator.length_hint, *args, **kwargs)


@handles(operator.contains)
def _contains(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if len(args) != 2 or kwargs:
        return operator.contains(*args, **kwargs)  # Python's own error
    return machine.objects.contains(*args)


def _container(kind: Any) -> Handler:
    def handler(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if len(args) == 1:
            if kind is dict and machine.attributes.get_attr_or_none(args[0], "keys") is not None:
                args = [machine.iteration.mapping(args[0])]
            elif kind is dict:
                args = [[machine.gate.pair(item) for item in machine.iteration.iterate(args[0])]]
            elif kind in (tuple, frozenset) and kind is type(args[0]):
                return args[0]
            elif kind in (list, tuple):
                args = [machine.iteration.listed(args[0])]
            else:
                args = [machine.iteration.hashed(args[0])]
        compared = () if kind in (list, tuple) else hashed_of(args) if kind is dict else args
        return machine.made(machine.native.call(compared, kind, *args, **kwargs))

    return handler


@handles(functools.reduce)
def _reduce(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    function, iterable, *initial = args
    iterator = machine.iteration.get_iter(iterable)
    if initial:
        total = initial[0]
    else:
        try:
            total = next(iterator)
        except StopIteration:
            raise TypeError("reduce() of empty iterable with no initial value") from None
    for item in iterator:
        total = machine.calls.call(function, [total, item], {})
    return total


@handles(itertools.starmap)
def _starmap(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    function, iterable = args
    return MapIterator(
        machine.journal,
        itertools.starmap,
        lambda _, items: machine.calls.call(function, list(machine.iteration.get_iter(items)), {}),
        machine.iteration.get_iter(iterable),
    )


@handles(reversed)
def _reversed(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    (sequence,) = args
    own = machine.objects.user_method(sequence, "__reversed__")
    if own is not None:
        return machine.calls.call(own, args, {})
    by_index = machine.objects.user_method(sequence, "__len__") or machine.objects.user_method(sequence, "__getitem__")
    if type(sequence) in (list, tuple, str) or (isinstance(sequence, Tensor) and not by_index):
        return ReverseIterator(machine.journal, sequence)
    if type(sequence) in (dict, range):
        return RestartingIterator(machine.journal, sequence, reversed)
    if type(sequence) is SymbolicRange:
        return machine.iteration.get_iter(sequence.backwards())
    if isinstance(sequence, Journaled):
        refuse_look(sequence, "reversed()")
    if class_attribute(type(sequence), "__reversed__") is None or class_attribute(type(sequence), "__len__") is MISSING:
        return reversed(sequence)  # Python's own error
    if by_index and class_attribute(type(sequence), "__getitem__") is MISSING:
        return reversed(sequence)
    if by_index and class_attribute(type(sequence), "__reversed__") is MISSING:
        length = machine.calls.call(len, [sequence], {})
        return SequenceIterator(
            machine.journal, sequence, length, lambda over, i: machine.objects.get_item(over, length - 1 - i)
        )
    return machine.iteration.get_iter(machine.made(reversed(sequence)))


@handles(enumerate)
def _enumerate(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    names = ("iterable", "start")[len(args) :]
    if len(args) > 2 or not kwargs.keys() <= set(names) or not (args or "iterable" in kwargs):
        return enumerate(*args, **kwargs)
    given = {**dict(zip(("iterable", "start"), args, strict=False)), **kwargs}
    first = machine.native.call((), operator.index, given.get("start", 0))
    part = machine.iteration.get_iter(given["iterable"])
    return MapIterator(
        machine.journal,
        enumerate,
        lambda i, item: (first + i, item),
        part,
        lambda made: (enumerate, made.part, first + made.count),
    )


handles(any)(_quantifier(True))
handles(all)(_quantifier(False))
handles(min)(_extreme(min, "<"))
handles(max)(_extreme(max, ">"))
for _kind in (list, tuple, set, frozenset, dict):
    handles(_kind)(_container(_kind))
