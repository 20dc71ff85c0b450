"""Places from outside that a call writes several times: what they held before must not pass for what is written."""

from __future__ import annotations

import collections
import random
from collections.abc import Callable
from typing import Any

import pytest

import weft
from weft import Tensor, nn

KEEP = object()


class Plain:
    shared: Any = 0


class Slotted:
    __slots__ = ("a", "b")


class SlottedList(list[Any]):
    __slots__ = ("a",)


class SlottedDict(dict[str, Any]):
    __slots__ = ("k",)


class Net(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return x


class Logged:
    """A key that counts how often it is hashed."""

    hashed = 0

    def __hash__(self) -> int:
        Logged.hashed += 1
        return 3

    def __eq__(self, other: object) -> bool:
        return self is other


LOGGED = Logged()
#: how a program spells a place
PLACES = [
    "s.a", "s.b", "t.a", "t.b", "n.a", "n.b", "Plain.shared", "d['k']", "d[(0, 1)]", "d[1.5]", "d[None]", "d[KEEP]",
    "d[True]", "o['k']", "e['k']", "l[0]", "l[-1]", "q[0]", "G", "c", "vars(s)['a']", "globals()['G']", "d[LOGGED]",
    "m.a", "m[0]", "h.k", "h['k']",
]  # fmt: skip
#: statements that write a place, or read it into `x`
STATEMENTS = [
    "{p} = {v}", "{p} = {v}", "{p} = {v}", "x = x + {p}", "{p} += {v}", "{p} = {q}", "{p} = {p} + 1 - 1",
    "for _ in range({v}): {p} += 1", "{p} = {p} * 0", "x = x + {p} * 2 + {q}", "seen.append({p})",
    "if x.sum() > {v}: {p} = {v}", "if {p} > {v}: x = x * 2",
]  # fmt: skip
#: one after the other, each a value that all places hold when the call begins
VALUES = (2, 3, 4, 2, 0, 1, 5, 2)


def program_of(seed: int) -> str:
    """The source of a function `made()` that returns the program, a setter and a getter of its closure variable."""
    choose = random.Random(seed)
    places = choose.sample(PLACES, choose.choice((1, 1, 2, 3)))
    body = []
    for _ in range(choose.randint(2, 6)):
        statement = choose.choice(STATEMENTS)
        body.append(statement.format(p=choose.choice(places), q=choose.choice(places), v=choose.randint(0, 3)))
    lines = "\n".join(f"        {line}" for line in body)
    return (
        "def made():\n    c = 0\n"
        "    def program(x, s, t, n, d, o, e, l, q, m, h, seen):\n"
        f"        global G\n        nonlocal c\n{lines}\n        return x * 2\n"
        "    def put(value):\n        nonlocal c\n        c = value\n"
        "    def get():\n        return c\n"
        "    return program, put, get\n"
    )


def outcomes(source: str, compiled: Callable[[Any], Any]) -> list[Any]:
    """What each call returns, and what it leaves in all places."""
    scope: dict[str, Any] = {"Plain": Plain, "KEEP": KEEP, "LOGGED": LOGGED, "G": 0}
    exec(source, scope)
    program, put, get = scope["made"]()
    function, found = compiled(program), []
    for number, value in enumerate(VALUES):
        s, t, n = Plain(), Slotted(), Net()
        for obj in (s, t, n):
            obj.a, obj.b = value, value  # type: ignore[attr-defined]
        d = {"k": value, (0, 1): value, 1.5: value, None: value, KEEP: value, True: value, LOGGED: value}
        o, e = collections.OrderedDict(k=value), collections.defaultdict(int, k=value)
        items, q = [value, value], collections.deque([value])
        m, h = SlottedList([value]), SlottedDict(k=value)
        m.a = h.k = value
        Plain.shared = scope["G"] = value
        put(value)
        seen: list[Any] = []
        result = function(Tensor([float(number % 3)]), s, t, n, d, o, e, items, q, m, h, seen)
        after = (s.a, s.b, t.a, t.b, n.a, n.b, Plain.shared, scope["G"], get(), m.a, h.k)  # type: ignore[attr-defined]
        found.append(
            (result.asnumpy().tolist(), after, list(d.values()), [*o.items(), *e.items(), *items, *q, *m, h["k"]], seen)
        )
    return found


@pytest.mark.parametrize("seed", range(80))
def test_random_writes(seed: int) -> None:
    source = program_of(seed)
    assert outcomes(source, weft.jit) == outcomes(source, lambda function: function), source


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(80, 2000))
def test_more_random_writes(seed: int) -> None:
    test_random_writes(seed)


@pytest.mark.parametrize(
    ("first", "last"), [(False, True), ("", "on"), (1, None), (None, KEEP), (0.5, 1.0), ((), (1,))]
)
def test_what_a_call_puts_back_is_put_back_by_the_next(first: Any, last: Any) -> None:
    """Nothing reads the attribute, which holds at the end of the first call what it held before."""

    @weft.jit
    def busy(state: Any, x: Tensor) -> Tensor:
        state.flag = first
        y = x * 2
        state.flag = last
        return y

    for before in (last, first, "other", last):
        state = Plain()
        state.flag = before  # type: ignore[attr-defined]
        busy(state, Tensor([1.0]))
        assert state.flag is last  # type: ignore[attr-defined]


def test_tensors_put_back() -> None:
    old, new = Tensor([3.0]), Tensor([4.0])

    @weft.jit
    def swap(state: Any) -> Tensor:
        state.held = new
        state.held = old
        return old * 2

    for before in (old, new, old):
        state = Plain()
        state.held = before  # type: ignore[attr-defined]
        swap(state)
        assert state.held is old  # type: ignore[attr-defined]
