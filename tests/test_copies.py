"""`copy.copy` and `copy.deepcopy` inside compiled functions: what is shared and what is not, as in Python."""

from __future__ import annotations

import copy
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

import weft
from tests.helpers.values import plain, x
from weft import Tensor, nn
from weft.jit import jit

PROGRAMS: list[Callable[[Any], Any]] = []


def program(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Add a program."""
    PROGRAMS.append(function)
    return function


class Plain:
    def __init__(self, a: Any) -> None:
        self.a, self.b = a, [a, 1]


class OwnMethods:
    def __init__(self, a: Any, tag: str = "") -> None:
        self.a, self.tag = a, tag

    def __copy__(self) -> OwnMethods:
        return OwnMethods(self.a, "shallow")

    def __deepcopy__(self, memo: Any) -> OwnMethods:
        if self.a.sum() > 0:
            return OwnMethods(copy.deepcopy(self.a, memo), "positive")
        return OwnMethods(copy.deepcopy(self.a, memo) * 2, "positive")


class OwnState:
    def __init__(self, a: Any) -> None:
        self.a, self.calls = a, 0

    def __getstate__(self) -> Any:
        self.calls += 1
        return {"a": self.a}

    def __setstate__(self, state: Any) -> None:
        self.a, self.restored = state["a"] * 2, True


class OwnReduce:
    def __init__(self, a: Any) -> None:
        self.a = a

    def __reduce__(self) -> Any:
        return OwnReduce, (self.a + 1,)


class Slotted:
    __slots__ = ("a",)

    def __init__(self, a: Any) -> None:
        self.a = a


@dataclass
class Record:
    a: Any
    b: list[Any]


class Named(NamedTuple):
    a: Any
    b: Any


OUTSIDE = {"k": [1, x(1.0, 2.0)]}
OBJECT = Plain(x(3.0))


@program
def dictionary(v: Any) -> Any:
    original = {"v": v * 1, "items": [1]}
    shallow, deep = copy.copy(original), copy.deepcopy(original)
    original["v"][0] = 100.0
    original["items"].append(2)
    return original, shallow, deep


@program
def instance(v: Any) -> Any:
    p = Plain(v * 1)
    shallow, deep = copy.copy(p), copy.deepcopy(p)
    p.b.append(5)
    p.a[0] = 9.0
    shallow.a = v + 1
    return p, shallow, deep


@program
def own_methods(v: Any) -> Any:
    p = OwnMethods(v)
    return copy.copy(p), copy.deepcopy(p)


@program
def own_state(v: Any) -> Any:
    p = OwnState(v)
    return copy.copy(p), copy.deepcopy(p), p.calls


@program
def own_reduce(v: Any) -> Any:
    p = OwnReduce(v)
    return copy.copy(p), copy.deepcopy(p)


@program
def slots(v: Any) -> Any:
    p = Slotted(v)
    shallow, deep = copy.copy(p), copy.deepcopy(p)
    shallow.a = shallow.a + 1
    return p.a, shallow.a, deep.a


@program
def record(v: Any) -> Any:
    r = Record(v, [v])
    deep = copy.deepcopy(r)
    r.b.append(1)
    return r, deep, copy.copy(r)


@program
def named_tuple(v: Any) -> Any:
    n = Named(v, [1])
    deep = copy.deepcopy(n)
    n.b.append(2)
    return n, deep, copy.copy(n)


@program
def other_containers(v: Any) -> Any:
    ordered, default, queue = OrderedDict(a=v), defaultdict(list, a=[v]), deque([v])
    return copy.deepcopy(ordered), copy.copy(ordered), copy.deepcopy(default)["a"], list(copy.deepcopy(queue))


@program
def sets(v: Any) -> Any:
    return v, copy.deepcopy({1, 2}), copy.copy({1}), copy.deepcopy(frozenset([1])), copy.deepcopy((1, (2,)))


@program
def itself_inside(v: Any) -> Any:
    a = [v]
    a.append(a)
    b = copy.deepcopy(a)
    return b[1] is b, b is a, b[0]


@program
def shared_inside(v: Any) -> Any:
    p = Plain(v)
    pair = copy.deepcopy([p, p])
    return pair[0] is pair[1], pair[0].a is pair[0].b[0], pair[0].a is p.a, pair


@program
def tensors(v: Any) -> Any:
    return copy.copy(v), copy.deepcopy(v), copy.copy([v, v])[0] is v


@program
def on_one_side(v: Any) -> Any:
    if v.sum() > 0:
        made = copy.deepcopy(Plain(v)).b
    else:
        made = copy.copy([v * 2, 3])
    return made


@program
def outside_container(v: Any) -> Any:
    made = copy.deepcopy(OUTSIDE)
    made["k"].append(v)
    made["k"][1][0] = 7.0
    return made, len(OUTSIDE["k"])


@program
def outside_object(v: Any) -> Any:
    made = copy.deepcopy(OBJECT)
    made.a = made.a + v
    return made


@program
def attributes_as_a_dictionary(v: Any) -> Any:
    p = Plain(v)
    p.__dict__.update(c=v * 3)
    p.__dict__["d"] = 4
    return p, p.c, p.d


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_copies(function: Any) -> None:
    compiled = jit(function)
    for v in (x(1.0, 2.0), x(-1.0, -5.0), x(4.0, 4.0)):
        assert plain(compiled(v)) == plain(function(v))


def test_what_is_copied_may_change(monkeypatch: pytest.MonkeyPatch) -> None:
    for function in (outside_container, outside_object):
        compiled = jit(function)
        compiled(x(1.0, 2.0))
        monkeypatch.setitem(OUTSIDE, "k", [*OUTSIDE["k"], 3])
        monkeypatch.setattr(OBJECT, "a", x(10.0))
        monkeypatch.setattr(OBJECT, "new", 1, raising=False)
        assert plain(compiled(x(1.0, 2.0))) == plain(function(x(1.0, 2.0)))


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy])
@pytest.mark.parametrize("called", [True, False])
def test_cells_are_copied_in_compiled_functions(how: Any, called: bool) -> None:
    layers = (nn.Dense(2, 1, "ones", "zeros"), nn.ReLU(), nn.SequentialCell(nn.Dense(2, 2, "ones", "zeros"), nn.ReLU()))
    for net in layers:

        def f(x: Any, net: Any = net) -> Any:
            copied = how(net)
            return net(x) + (copied(x) if called else 1), copied is net

        compiled = weft.jit(f)
        for step in range(3):
            value = Tensor([[1.0, 2.0 + step]])
            assert str(compiled(value)) == str(f(value))


def test_a_copy_that_is_left_half_way_knows_what_it_has_copied() -> None:
    """An iterator of a dict is copied in Python: the ids of what was copied so far are those of the call by then."""

    def shared(x: Any, given: Any) -> Any:
        made, iterator = [x * 2], iter({"a": 1})
        copied = copy.deepcopy([made, given, [iterator], made, [made, iterator, given]])
        same = (
            copied[0] is copied[3],
            copied[4][0] is copied[0],
            copied[4][1] is copied[2][0],
            copied[4][2] is copied[1],
        )
        return same, len(copied), [type(part).__name__ for part in copied[4]], copied[0][0], copied[1]

    def nested(x: Any, given: Any) -> Any:
        copied = copy.deepcopy([[iter({"a": 1})]])[0]
        return len(copied), type(copied[0]).__name__, list(copied[0]), x * 2

    for function in (shared, nested):
        compiled = jit(function)
        for number in range(12):
            x, given = Tensor([float(number)]), [number]
            assert repr(compiled(x, given)) == repr(function(x, given))
