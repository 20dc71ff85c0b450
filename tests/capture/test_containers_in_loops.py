"""Containers and objects made, kept and written in loops and branches that only the running graph decides.

Each program is a function of one tensor. It runs plainly and compiled; what it returns is compared with all that it
holds, and with which of these are one object.
"""

from __future__ import annotations

import collections
import types
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

import weft
from tests.helpers.sources import function_of
from weft import Tensor

POLICIES: dict[str, dict[str, Any]] = {"auto": {}, "PIJit": {"mode": "PIJit"}, "PSJit": {"mode": "PSJit"}}
VALUES = ([1.0], [2.0], [5.0], [-1.0])


class Box:
    def __init__(self, value: Any) -> None:
        self.value = value


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def shape(value: Any, known: dict[int, int] | None = None) -> Any:
    """A value with all that it holds; an object met again is its number."""
    known = {} if known is None else known
    if isinstance(value, Tensor):
        return str(value.dtype), value.asnumpy().tolist()
    if value is None or isinstance(value, (int, float, str)):
        return type(value).__name__, value
    if isinstance(value, tuple):
        return tuple(shape(item, known) for item in value)
    if id(value) in known:
        return "again", known[id(value)]
    known[id(value)] = len(known)
    kind = type(value).__name__
    if isinstance(value, dict):
        return kind, [(key, shape(item, known)) for key, item in value.items()]
    if isinstance(value, (list, collections.deque, set, bytearray)):
        return kind, [shape(item, known) for item in value]
    slots = [value.value] if isinstance(value, Slotted) else []
    return kind, [shape(item, known) for item in (*slots, *getattr(value, "__dict__", {}).values())]


def outcome(function: Callable[[Any], Any], values: list[float]) -> Any:
    OUTSIDE.pop(3, None)
    try:
        return shape(function(Tensor(values)))
    except Exception as error:
        return type(error).__name__, str(error)


def check(function: Callable[[Any], Any], policy: str, *values: list[float]) -> None:
    compiled = weft.jit(function, **POLICIES[policy])
    for value in values or VALUES:
        assert outcome(compiled, value) == outcome(function, value), value


def list_appended_to(x: Any) -> Any:
    a = [0]
    while x.sum() < 3:
        x = x + 1
        a = [0]
        a.append(1)
    return a


def list_written_to(x: Any) -> Any:
    a = [0]
    while x.sum() < 3:
        x = x + 1
        a = [0]
        a[0] = 5
    return a


def list_popped_from(x: Any) -> Any:
    a = [0, 1]
    while x.sum() < 3:
        x = x + 1
        a = [0, 1]
        a.pop()
    return a


def list_extended(x: Any) -> Any:
    a = [0]
    while x.sum() < 3:
        x = x + 1
        a = [0]
        a += [x, 2]
    return a


def length_is_counted(x: Any) -> Any:
    a, n = [0], 0
    while x.sum() < 4:
        n += len(a)
        x = x + 1
        a = [0]
        a.append(1)
    return n, a


def dictionary_written_to(x: Any) -> Any:
    d: dict[str, Any] = {}
    while x.sum() < 3:
        x = x + 1
        d = {}
        d["k"] = x
    return d


def set_added_to(x: Any) -> Any:
    s = {1}
    while x.sum() < 3:
        x = x + 1
        s = {1}
        s.add(2)
    return s


def others_written_to(x: Any) -> Any:
    c, b, q = collections.Counter("a"), bytearray(b"a"), collections.deque([1], maxlen=3)
    while x.sum() < 3:
        x = x + 1
        c, b, q = collections.Counter("a"), bytearray(b"a"), collections.deque([1], maxlen=3)
        c["a"] += 1
        b.append(98)
        q.append(2)
    return c, b, q


def written_by_a_closure(x: Any) -> Any:
    a = [0]

    def add(value: Any) -> None:
        a.append(value)

    while x.sum() < 3:
        x = x + 1
        a = [0]
        add(1)
    return a


def copied_list(x: Any) -> Any:
    h = [x]
    while h[0].sum() < 10:
        h = list(h)
        h[0] = h[0] * 2 + 3
    return h[0]


def copied_dictionary(x: Any) -> Any:
    state = {"h": x, "n": 0}
    while state["h"].sum() < 10:
        state = dict(state)
        state["h"] = state["h"] * 2 + 3
        state["n"] += 1
    return state["h"], state["n"]


def first_made_in_the_loop(x: Any) -> Any:
    while x.sum() < 3:
        x = x + 1
        row = [x]
    return row


def dictionary_first_made_in_the_loop(x: Any) -> Any:
    for i in range(int(x[0])):
        row = {"x": x + i}
    return row


def read_in_the_next_iteration(x: Any) -> Any:
    n = 0
    while x.sum() < 5:
        if n > 0:
            x = x + row[0]  # type: ignore[has-type]  # noqa: F821
        x = x + 1
        row = [x]  # noqa: F841
        n += 1
    return x, n


def two_names(x: Any) -> Any:
    a = [x]
    b = a
    while x.sum() < 3:
        x = x + 1
        a = [x]
        b = a
    a.append(0)
    return a, b


def second_name_from_before(x: Any) -> Any:
    a = [x]
    b = a
    while x.sum() < 3:
        x = x + 1
        a = [x]
    a.append(0)
    return a, b


def second_name_in_a_container(x: Any) -> Any:
    a = [x]
    keep = (1, [a])
    while x.sum() < 3:
        x = x + 1
        a = [x]
    a.append(0)
    return a, keep


def second_name_in_an_object(x: Any) -> Any:
    a = [x]
    box = Box((a,))
    while x.sum() < 3:
        x = x + 1
        a = [x]
    a.append(0)
    return a, box


def second_name_of_a_closure(x: Any) -> Any:
    a = [x]

    def length(of: Any = a) -> int:
        return len(of)

    while x.sum() < 3:
        x = x + 1
        a = [x]
    a.append(0)
    return a, length()


def second_name_of_a_caller(x: Any) -> Any:
    def inner(a: Any, x: Any) -> Any:
        while x.sum() < 3:
            x = x + 1
            a = [x]
        a.append(0)
        return a

    a = [x]
    return inner(a, x), a


def second_name_bound_to_a_method(x: Any) -> Any:
    a = [x]
    add = a.append
    while x.sum() < 3:
        x = x + 1
        a = [x]
    add(1)
    return a


def second_name_of_an_iterator(x: Any) -> Any:
    a = [1, 2]
    over = iter(a)
    while x.sum() < 3:
        x = x + 1
        a = [1, 2]
    a.append(3)
    return list(over), a


def second_name_kept_by_the_first_iteration(x: Any) -> Any:
    keep: list[Any] = []
    a, n = [x], 0
    while x.sum() < 4:
        x = x + 1
        a = [x]
        if n == 0:
            keep.append(a)
        n += 1
    a.append(0)
    return a, keep


def held_by_an_operation(x: Any) -> Any:
    def key(a: Any) -> Any:
        y = a[0]
        while y.sum() < 5:
            y = y + 1
            a = [y]
        a.append(0)
        return 1

    return [len(a) for a in sorted([[x], [x + 1]], key=key)], len(max([[x], [x + 1]], key=key))


def held_by_a_sort_with_branches(x: Any) -> Any:
    def key(a: Any) -> Any:
        y = a[0]
        if y.sum() > 1.5:
            a = [y]
        a.append(0)
        return len(a)

    return [len(a) for a in sorted([[x], [x + 1]], key=key)]


def names_that_part(x: Any) -> Any:
    a = [x]
    b = a
    while x.sum() < 3:
        x = x + 1
        a, b = [x], [x]
    a.append(0)
    return a, b


def names_that_meet(x: Any) -> Any:
    a, b = [x], [x]
    while x.sum() < 3:
        x = x + 1
        a = [x]
        b = a
    a.append(0)
    return a, b


def names_that_change_places(x: Any) -> Any:
    a, b = [x], [x + 1]
    while x.sum() < 4:
        x = x + 1
        a, b = b, a
    a.append(0)
    return a, b


def one_behind_the_other(x: Any) -> Any:
    a, b = [x], [x + 1]
    while x.sum() < 4:
        x = x + 1
        a, b = [x], a
    a.append(0)
    return a, b


def one_in_two_places(x: Any) -> Any:
    c = [x]
    r = {"a": c, "b": c}
    while x.sum() < 3:
        x = x + 1
        c = [x]
        r = {"a": c, "b": c}
    r["a"].append(0)
    return r, c


def rows_that_are_one(x: Any) -> Any:
    n = 0
    r = [[n] * 2] * 2
    while x.sum() < 3:
        x = x + 1
        n += 1
        r = [[n] * 2] * 2
    r[0].append(1)
    return r


def holding_each_other(x: Any) -> Any:
    a: list[Any] = [x]
    b: list[Any] = [a]
    a.append(b)
    while x.sum() < 3:
        x = x + 1
        a = [x]
        b = [a]
        a.append(b)
    b.append(1)
    return a, b


def holding_themselves(x: Any) -> Any:
    a: list[Any] = [x]
    a.append(a)
    while x.sum() < 3:
        x = x + 1
        a = [x]
        a.append(a)
    return a


def tuples_of_lists(x: Any) -> Any:
    t: Any = ([x], [x])
    while x.sum() < 3:
        x = x + 1
        t = (t[1], [x])
        t[0].append(1)
        t[0].pop()
    t[0].append(1)
    return t


def objects(x: Any) -> Any:
    box, slotted, space = Box(x), Slotted([x]), types.SimpleNamespace(n=0)
    while x.sum() < 3:
        x = x + 1
        box, slotted, space = Box(x), Slotted([x]), types.SimpleNamespace(n=space.n)
        box.value = box.value * 2
        slotted.value.append(box)
        slotted.value.pop()
        space.n += 1
    box.other = 1  # type: ignore[attr-defined]
    return box, slotted, space


def objects_that_link(x: Any) -> Any:
    box = Box(x)
    box.next = box  # type: ignore[attr-defined]
    while x.sum() < 3:
        x = x + 1
        new = Box(x)
        new.next = new  # type: ignore[attr-defined]
        box = new
    return box, box.next is box  # type: ignore[attr-defined]


def longer_and_longer(x: Any) -> Any:
    head: Any = None
    while x.sum() < 3:
        x = x + 1
        head = [x, head]
    return head


def with_a_break(x: Any) -> Any:
    a = [0]
    for i in range(int(x[0])):
        a = [0]
        a.append(1)
        if x.sum() < i:
            break
    return a, x + 1


def with_a_break_in_between(x: Any) -> Any:
    a = [0]
    while x.sum() < 4:
        x = x + 1
        a = [0]
        if x.max() > 2.5:
            break
        a.append(1)
    a.append(2)
    return a, x + 1


def with_a_return(x: Any) -> Any:
    a = [0]
    b = a
    while x.sum() < 4:
        x = x + 1
        a = [0, x]
        if x.max() > 2.5:
            return a, b
        b = a
    return b, a


def deleted_in_the_loop(x: Any) -> Any:
    n, a = 0, [x]
    while x.sum() < 4:
        x = x + 1
        try:
            n += len(a)
            del a
        except UnboundLocalError:
            n += 100
    return n


def nested_loops(x: Any) -> Any:
    total, row = 0, [0]
    while x.sum() < 4:
        x = x + 1
        row = [0]
        y = x
        while y.sum() < 6:
            y = y + 1
            row = [row[0] + 1]
        row.append(7)
        total += len(row) + row[0]
    return total, row


def nested_containers(x: Any) -> Any:
    d: dict[str, Any] = {"a": [x, {"n": 0}], "b": ([x],)}
    while x.sum() < 3:
        x = x + 1
        d = {"a": [x, dict(d["a"][1])], "b": ([d["b"][0][0] * 2],)}
        d["a"][1]["n"] += 1
    return d


def branch_with_two_names(x: Any) -> Any:
    if x.sum() > 0:
        a = [1]
        b = a
    else:
        a = [1]
        b = [1]
    a.append(0)
    return a, b


def branch_that_parts_names(x: Any) -> Any:
    c = [x]
    d = c
    if x.sum() > 0:
        c = [x + 1]
    c.append(0)
    return c, d


def branch_beside_a_holder(x: Any) -> Any:
    c = [1]
    d = Box((c,))
    if x.sum() > 0:
        c = [2]
    c.append(0)
    return c, d


def branch_beside_a_caller(x: Any) -> Any:
    def inner(c: Any, x: Any) -> Any:
        if x.sum() > 0:
            c = [2]
        c.append(0)
        return c

    c = [1]
    return inner(c, x), c


def branch_bound_on_one_side(x: Any) -> Any:
    a = [x]
    if x.sum() > 0:
        a = [x + 1]
        b = a
    a.append(0)
    return (a, b) if x.sum() > 0 else a


def dictionary_while_iterated(x: Any) -> Any:
    d = {1: 1, 2: 2}
    for _ in d:
        if x[0] > 0:
            d[3] = 3
    return len(d)


def dictionary_behind_its_iterator(x: Any) -> Any:
    d = {1: 1, 2: 2}
    over = iter(d)
    next(over)
    if x[0] > 0:
        d[3] = 3
    return next(over)


def set_while_iterated(x: Any) -> Any:
    s, n = {1, 2}, 0
    for item in s:
        n += item
        if x[0] > 0:
            s.add(9)
    return n, s


def items_while_popped(x: Any) -> Any:
    d, n = {1: 1, 2: 2}, 0
    for key, _ in d.items():
        n += key
        if x[0] > 0:
            d.pop(key)
    return n, d


def ordered_dictionary_while_iterated(x: Any) -> Any:
    d, n = collections.OrderedDict(a=1, b=2), 0
    for key in d:
        n += d[key]
        if x[0] > 0:
            d["c"] = 3
    return n


def deque_while_iterated(x: Any) -> Any:
    d, n = collections.deque([1, 2]), 0
    for item in d:
        n += item
        if x[0] > 0:
            d.append(3)
    return n


def change_that_is_caught(x: Any) -> Any:
    d, n = {1: 1, 2: 2}, 0
    try:
        for key in d:
            n += key
            if x[0] > 0:
                d[3] = 3
    except RuntimeError as error:
        return str(error), n
    return n


def ended_on_one_side(x: Any) -> Any:
    d = {1: 1}
    over = iter(d)
    next(over)
    r = next(over, 0) if x[0] > 0 else 1
    d[2] = 2
    return r, next(over, 5)


def keys_replaced(x: Any) -> Any:
    d = {1: 1, 2: 2, 3: 3}
    del d[1]
    over = iter(d)
    next(over)
    if x[0] > 0:
        d[7] = 1
        del d[2]
    return next(over), d


def views_of_what_is_cleared(x: Any) -> Any:
    d = {1: 1, 2: 2}
    over, back = iter(d.values()), reversed(d)
    next(over)
    if x[0] > 0:
        d.clear()
    return next(over), list(back)


OUTSIDE = {1: 1, 2: 2}


def dictionary_from_outside(x: Any) -> Any:
    n = 0
    for key in OUTSIDE:
        n += key
        if x[0] > 0:
            OUTSIDE[3] = 3
    return n


PROGRAMS = [value for value in tuple(globals().values()) if getattr(value, "__annotations__", {}).get("x") == "Any"]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_containers_are_what_they_are_eagerly(program: Any, policy: str) -> None:
    check(program, policy)


def test_gradients_pass_through_containers_made_in_loops() -> None:
    def f(x: Any) -> Any:
        h = [x]
        while h[0].sum() < 10:
            h = [h[0]]
            h[0] = h[0] * 2
        return h[0].sum()

    assert weft.grad(weft.jit(f))(Tensor([1.0])).asnumpy() == weft.grad(f)(Tensor([1.0])).asnumpy() == 16


def test_lists_made_anew_in_a_loop_need_no_break() -> None:
    compiled = weft.jit(copied_list, fullgraph=True)
    assert compiled(Tensor([1.0])).asnumpy() == copied_list(Tensor([1.0])).asnumpy()
    compiled = weft.jit(one_in_two_places, fullgraph=True)
    assert outcome(compiled, [1.0]) == outcome(one_in_two_places, [1.0])


_STATEMENTS = (
    "a = [x]", "a = [n]", "a = list(a)", "b = a", "a = b", "a, b = b, a", "b = [a]", "b = list(b)", "a.append(n)",
    "a.append(b)", "a.pop()", "a[0] = x * 2", "a += [1]", "n += len(a)", "n += len(b)", "c = {'p': a, 'q': b}",
    "c = dict(c)", "c['p'] = a", "c['q'] = [x]", "a = c['p']", "b = c['q']", "c['r'] = n", "t = (a, b)", "a = t[0]",
    "b, a = t", "d = Box(a)", "d.value = b", "a = d.value", "d.value = [n]", "d = Box(d.value)", "keep(a)",
    "r = [x, n]", "a = [a, a]", "n += a is b", "n += c['p'] is a", "n += d.value is b",
)  # fmt: skip


def _block(random: Random, count: int, indent: str) -> str:
    lines = []
    for _ in range(count):
        if random.random() < 0.15:
            lines.append(f"{indent}if x[0] > {random.choice((1.5, 2.5, 3.5))}:")
            lines.append(f"{indent}    {random.choice((*_STATEMENTS, 'break' if len(indent) > 4 else 'n += 1'))}")
        else:
            lines.append(indent + random.choice(_STATEMENTS))
    return "\n".join(lines)


def random_program(random: Random) -> str:
    header = random.choice(("while x.sum() < 4:", "for i in range(int(x[0])):"))
    head = "    a, b, n, k = [x], [1], 0, []\n    c, d, t, keep = {'p': a, 'q': b}, Box(a), (a, b), k.append\n"
    before, inside, after = (
        _block(random, random.randint(least, most), indent)
        for least, most, indent in ((0, 2, "    "), (1, 4, "        "), (0, 2, "    "))
    )
    returned = "a, b, c, d, t, n, k, x" + random.choice(("", "", "", "", ", r"))
    return (
        "class Box:\n    def __init__(self, value):\n        self.value = value\n"
        f"def f(x):\n{head}{before}\n    {header}\n        x = x + 1\n{inside}\n{after}\n"
        f"    a.append(9)\n    return {returned}\n"
    )


@pytest.mark.parametrize("seed", range(60))
def test_generated_programs(seed: int) -> None:
    check(function_of(random_program(Random(seed))), "auto", [1.0], [2.0], [5.0])
