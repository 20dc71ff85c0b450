"""What CPython's tests and random programs showed to be different once, as programs of their own."""

from __future__ import annotations

import collections
import copy
import dataclasses
import functools
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from tests.cpython.test_pure_programs import check_program
from weft import jit, jit_disable


class Items:
    def __iter__(self) -> Any:
        yield from (1, 2)


def appended_iterable() -> Any:
    kept: list[Any] = []
    kept.append(Items())
    kept.extend(Items())
    return type(kept[0]).__name__, kept[1:]


def exhausted_iterator() -> Any:
    items = [1]
    it = iter(items)
    taken = list(it)
    items.append(2)
    return taken, list(it), next(it, "end")


@jit_disable
def outside(*values: Any) -> int:
    return len(values)


def same_objects_behind_a_break(count: int = 2) -> Any:
    made = [(count, [2]), slice(count), frozenset([count]), "x".join, [].append, {count: 1}.items(), Spares(count).get]
    first, second, third, fourth, fifth, sixth, seventh = made
    others = list(made)
    outside(count)
    kept = [first, second, third, fourth, fifth, sixth, seventh]
    return [one is other for one, other in zip(kept, others, strict=True)], kept == made


def cache_that_is_cleared(count: int = 3) -> Any:
    remembered = functools.lru_cache(maxsize=2)(outside)
    for number in range(count):
        remembered(number % 2)
    info = remembered.cache_info()
    remembered.cache_clear()
    outside()
    return info, remembered.cache_info()


class Spares:
    def __init__(self, count: int) -> None:
        self.count = count

    def get(self) -> int:
        return self.count


def changed_dictionary() -> Any:
    d = {1: 1}
    for k in d:
        d[k + 1] = k
    return d


def late_values() -> Any:
    d = {1: 1, 2: 2}
    seen = []
    for k, v in d.items():
        d[2] = 7
        seen.append((k, v))
    return seen


def positional_only_name_as_keyword() -> Any:
    def f(a: Any = 1, /, **others: Any) -> Any:
        return a, others

    return f(a=2)


def context_of_replaced_error() -> Any:
    try:
        try:
            raise KeyError("inner")
        except KeyError:
            [][1]  # noqa: PLE0643 - the error is the case
    except IndexError as error:
        return repr(error.__context__)


def reraise_in_callee() -> Any:
    def again() -> None:
        raise  # noqa: PLE0704 - called from a handler

    try:
        raise ValueError("first")
    except ValueError:
        again()


def throw_into_delegate() -> Any:
    def inner() -> Any:
        try:
            yield 1
        except ValueError:
            yield 2
        return 3

    def outer() -> Any:
        got = yield from inner()
        yield got

    g = outer()
    return next(g), g.throw(ValueError), next(g)


def comparison_of_subclass() -> Any:
    class A:
        def __lt__(self, other: Any) -> Any:
            return "A"

    class B(A):
        def __gt__(self, other: Any) -> Any:
            return "B"

    return A() < B()


def len_is_checked() -> Any:
    class Negative:
        def __len__(self) -> int:
            return -1  # noqa: PLE0303 - the error is the case

    return bool(Negative())


def bad_operands() -> Any:
    class Thing:
        pass

    return Thing() + 1


def counted_items() -> Any:
    return sorted(collections.Counter("abca").items())


def own_class_attribute() -> Any:
    class Odd:
        @property
        def __class__(self) -> Any:
            raise RuntimeError("looked at")

    odd = Odd()
    return [odd][0] is odd


def descriptor_below_instance() -> Any:
    class Plain:
        def __get__(self, obj: Any, kind: Any) -> Any:
            return "descriptor"

    class Holder:
        x = Plain()

    holder = Holder()
    first = holder.x
    holder.__dict__["x"] = "instance"
    return first, holder.x, Holder.x


class OwnInt(int): ...


class OwnFloat(float): ...


class OwnComplex(complex): ...


class OwnStr(str): ...


class OwnBytes(bytes): ...


class OwnTuple(tuple[Any, ...]): ...


class OwnSet(frozenset[Any]): ...


class OwnPair(collections.namedtuple("Pair", "a b")):
    def __new__(cls, *items: Any) -> Any:
        raise AssertionError("it was made already")


class OwnPartial(functools.partial[Any]):
    tag: Any


class OwnNumber(int):
    name: str

    def __new__(cls, name: str, value: int) -> Any:
        made = super().__new__(cls, value)
        made.name = name
        return made


class Kept:
    only: Any = None
    seen: list[str] = []

    def __new__(cls, text: str) -> Any:
        if cls.only is None:
            cls.only = super().__new__(cls)
        return cls.only

    def __init__(self, text: str) -> None:
        self.seen = [*self.seen, text]


class Factory:
    seen: Any = None

    def __new__(cls, value: Any) -> Any:
        return value if value == "other" else object.__new__(Made)

    def __init__(self, value: Any) -> None:
        self.seen = "by Factory", value


class Made(Factory):
    def __init__(self, value: Any) -> None:
        self.seen = "by Made", value


class Slotted:
    __slots__ = ("__hidden", "empty")

    def __init__(self, value: Any) -> None:
        self.__hidden = value

    def shown(self) -> Any:
        return self.__hidden, hasattr(self, "empty")


def long_numbers() -> Any:
    long = 1 << 100_000
    d = {long: 1}
    pickle.dumps(1)  # ends the graph
    d[long] += 1
    return long, d, -long, [long]


def values_of_own_classes() -> Any:
    made: list[Any] = [
        OwnInt(3), OwnFloat(-0.0), OwnComplex(1j), OwnStr("ab"), OwnBytes(b"ab"), OwnTuple((1, 2)), OwnSet((1, 2)),
        OwnPair._make((1, 2)), OwnNumber("a", 3),
    ]  # fmt: skip
    for value in made:
        value.tag = [value]
    pickle.dumps(1)  # ends the graph
    return [(type(value).__name__, value, len(value.tag), value.tag[0] is value) for value in made], made[-1].name


def kept_by_new() -> Any:
    first = Kept("a")
    pickle.dumps(1)  # ends the graph
    second = Kept("b")
    pickle.dumps(1)
    return first is second is Kept.only, first.seen[-2:]


def other_class_from_new() -> Any:
    made = Factory(3)
    return type(made).__name__, made.seen, type(Factory.__new__(Factory, "other")).__name__, Factory("other")


def private_slots() -> Any:
    made = Slotted(3)
    pickle.dumps(1)  # ends the graph
    return made.shown()


def context_taken_away() -> Any:
    def waiting() -> Any:
        try:
            yield 1
        except BaseException:
            other = KeyError()
            try:
                raise other
            finally:
                other.__context__ = None

    g = waiting()
    next(g)
    pickle.dumps(1)  # ends the graph
    try:
        g.throw(IndexError())
    except KeyError as caught:
        return caught.__context__


def context_of_what_is_thrown() -> Any:
    def waiting(handles: bool) -> Any:
        try:
            if not handles:
                yield 1
            try:
                raise KeyError("handled")
            except KeyError:
                yield 2
        except IndexError as thrown:
            yield repr(thrown.__context__)

    seen = []
    for handles in (False, True):
        g = waiting(handles)
        seen.append(next(g))
        pickle.dumps(1)  # ends the graph
        error = IndexError()
        try:
            raise ValueError("of the caller")
        except ValueError:
            seen.append(g.throw(error))
            seen.append(repr(error.__context__))
    g = waiting(True)
    pickle.dumps(1)
    try:
        raise ValueError("of the caller")
    except ValueError:
        try:
            g.throw(error)
        except IndexError as thrown:
            seen.append(repr(thrown.__context__))
    return seen


def library_reads_descriptors() -> Any:
    class Counting:
        count = 0

        def __get__(self, obj: Any, kind: Any) -> Any:
            Counting.count += 1
            return Counting.count

        def __set__(self, obj: Any, value: Any) -> None: ...

    @dataclasses.dataclass
    class Holder:
        x: int = Counting()  # type: ignore[assignment]

    return Holder().x, Counting.count


def default_made_with_its_class() -> Any:
    @dataclasses.dataclass
    class Holder:
        held: Any = Slotted(3)  # noqa: RUF009 - one for all is the case
        kept: Any = Kept("default")  # noqa: RUF009

    return Holder().held.shown(), Holder().kept.seen[-1], Holder() == Holder()


def texts_with_addresses() -> Any:
    shown = []
    shows: Any = (
        "{0!r}".format,
        "%r".__mod__,
        lambda o: "%r" % o,  # noqa: UP031
        object.__repr__,
        lambda o: "{o}".format_map({"o": o}),
    )
    for show in shows:
        o = object()
        text = show(o)
        pickle.dumps(1)  # ends the graph
        shown.append(text == repr(o))
    return shown


def namespaces_of_objects() -> Any:
    made = OwnPartial(pow, ["a"], base=[True])
    made.tag = []
    other = copy.copy(made)  # calls __setstate__, which is not known
    plain: Any = object.__new__(Made)
    held = plain.__dict__
    held["seen"] = 1
    pickle.dumps(1)  # ends the graph
    plain.late = 2
    same = other.tag is made.tag, other.args is made.args, other.keywords is made.keywords
    return other.__dict__, other.args, same, held, held is plain.__dict__


def one_object_in_two_places() -> Any:
    items: list[Any] = []
    made: Any = ((items,), items.append, slice(items, 1), frozenset((1.5,)), OwnTuple((items,)), {1: 2}.keys())
    twice = [made, *made]
    pickle.dumps(1)  # ends the graph
    return [one is other for one, other in zip(made, twice[1:], strict=True)], twice[0] is made


def iterator_of_written_deque() -> Any:
    it, items = pickle.loads(pickle.dumps((iter(items := collections.deque([1, 2])), items)))
    for i in range(2):
        items[i] = i * 10
    pickle.dumps(1)  # ends the graph
    return list(it)


PROGRAMS = [
    cache_that_is_cleared,
    appended_iterable, exhausted_iterator, changed_dictionary, late_values, positional_only_name_as_keyword,
    context_of_replaced_error, reraise_in_callee, throw_into_delegate, comparison_of_subclass, len_is_checked,
    bad_operands, counted_items, same_objects_behind_a_break, own_class_attribute, descriptor_below_instance,
    long_numbers, values_of_own_classes, kept_by_new, other_class_from_new, private_slots, context_taken_away,
    namespaces_of_objects, texts_with_addresses, context_of_what_is_thrown, library_reads_descriptors,
    iterator_of_written_deque, default_made_with_its_class, one_object_in_two_places,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_program_does_what_python_does(program: Callable[[], Any]) -> None:
    check_program(program)


def test_numbers_with_more_digits_than_python_writes_are_compared() -> None:
    held = {1 << 100_000: 1}

    @jit(mode="PIJit")
    def f(n: int) -> Any:
        return n + (1 << 50_000), n > 1 << 50_000, held.get(n), {n: n}

    for n in (1 << 100_000, (1 << 100_000) + 1, (1 << 100_000) + 2, 5):
        assert f(n) == (n + (1 << 50_000), n > 1 << 50_000, held.get(n), {n: n})


def test_iterator_from_outside_advances_once_a_call() -> None:
    it = iter([1, 2, 3])

    @jit
    def f() -> Any:
        return next(it)

    assert [f(), f()] == [1, 2]
    assert list(it) == [3]


def test_writes_through_library_code_are_replayed() -> None:
    counter: collections.Counter[str] = collections.Counter()

    @jit(mode="PIJit")
    def f() -> None:
        counter["a"] += 1
        counter["b"] = 5

    f()
    f()
    assert counter == {"a": 2, "b": 5}
