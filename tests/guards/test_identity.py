"""Which of two objects it is: every way to ask, where calls differ in the answer."""

from __future__ import annotations

import collections
import io
import operator
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import weft
from tests.helpers.compiled import compiler
from weft import Tensor


class Plain:
    pass


class Failure(Exception):
    pass


class Carrier:
    def __init__(self, value: Any) -> None:
        self.value = value


def counting() -> Iterator[int]:
    yield 1


def function() -> Callable[[], int]:
    return lambda: 0


def removed(a: Any, b: Any) -> bool:
    items = [a]
    if b in items:
        items.remove(b)
    return not items


MAKERS: dict[str, Callable[[], Any]] = {
    "instance": Plain,
    "exception": Failure,
    "built-in exception": lambda: ValueError(1),
    "object": object,
    "generator": counting,
    "iterator": lambda: iter([1]),
    "function": function,
    "method": lambda: Plain().__eq__,
    "stream": io.StringIO,
    "lock": threading.Lock,
    "list": lambda: [1],
    "deque": lambda: collections.deque([1]),
    "tensor": lambda: Tensor([1.0]),
    "text": lambda: "".join(["two ", "words"]),
    "bytes": lambda: b"".join([b"two ", b"words"]),
    "nan": lambda: float("nan"),
    "complex": lambda: complex("1j"),
}

USES: dict[str, Callable[[Any, Any], Any]] = {
    "is": lambda a, b: a is b,
    "is not": lambda a, b: a is not b,
    "operator.is_": lambda a, b: operator.is_(a, b),
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "__eq__": lambda a, b: a.__eq__(b) is True,
    "in a list": lambda a, b: a in [b],
    "in a tuple": lambda a, b: a in (1, b),
    "count": lambda a, b: [b].count(a),
    "countOf": lambda a, b: operator.countOf([a], b),
    "remove": removed,
    "tuples": lambda a, b: (a,) == (b,),
    "lists": lambda a, b: [a] == [b],
    "any": lambda a, b: any(item is a for item in (1, b)),
    "any equal": lambda a, b: any(item == a for item in (1, b)),
    "get": lambda a, b: {a: 1}.get(b),
    "two keys": lambda a, b: {a: 2, b: 3}[a] == 3,
    "set": lambda a, b: len({a, b}) == 1,
    "difference": lambda a, b: not ({a} - {b}),
    "hash": lambda a, b: hash(a) == hash(b),
    "id": lambda a, b: id(a) == id(b),
    "by id": lambda a, b: {id(a): 1}.get(id(b)),
}

CARRIERS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "itself": (lambda value: value, lambda value: value),
    "list": (lambda value: [value], operator.itemgetter(0)),
    "attribute": (Carrier, operator.attrgetter("value")),
}


def fits(use: str, make: Callable[[], Any]) -> bool:
    """Whether Python answers the question with one value."""
    try:
        return isinstance(USES[use](make(), make()), bool | int | None)
    except (TypeError, ValueError):
        return False


CASES = [(kind, use) for kind, make in MAKERS.items() for use in USES if fits(use, make)]


@pytest.mark.parametrize("mode", ["auto", "PIJit"])
@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda number: "-".join(CASES[number]))
def test_another_object_is_another_answer(number: int, mode: str) -> None:
    kind, use = CASES[number]
    make, ask = MAKERS[kind], USES[use]
    hold, take = tuple(CARRIERS.values())[number % len(CARRIERS)]

    def program(x: Any, a: Any, b: Any) -> Any:
        return x * (2 if ask(take(a), take(b)) else 3)

    x, kept = Tensor([1.0]), make()
    pairs = [(kept, kept), (kept, make()), (kept, kept), (make(), make()), (make(), kept), (kept, kept)]
    for first in (0, 1):
        compiled = compiler(mode)(program)
        for a, b in pairs[first:]:
            one, other = hold(a), hold(b)
            assert compiled(x, one, other).item() == program(x, one, other).item()


def test_many_objects_are_told_apart_each_by_itself() -> None:
    def program(x: Any, items: Any) -> Any:
        return x * len(set(items))

    compiled = weft.jit(program)
    objects = [Plain() for _ in range(80)]
    for items in (objects, objects[:40] * 2, objects, [Plain() for _ in range(80)]):
        assert compiled(Tensor([1.0]), items).item() == program(Tensor([1.0]), items).item()
