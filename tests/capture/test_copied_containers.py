"""Copies of containers: keys, order and length are read, the numbers among the items pass as what they are."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import operator
import types
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from weft import Tensor
from weft.jit import jit

State = namedtuple("State", "w step")


class Typed(NamedTuple):
    w: Any
    step: int = 0


class Mapped(dict[str, Any]):
    pass


class Listed(list[Any]):
    pass


def w() -> Tensor:
    return Tensor(np.asarray([1.0], np.float32))


def items() -> dict[str, Any]:
    return {"w": w(), "step": 0}


def listed() -> list[Any]:
    return [w(), 0]


def new(s: Any) -> dict[str, Any]:
    return {"w": s["w"] + s["step"], "step": s["step"] + 1}


def counted(s: Any) -> Any:
    """The same dictionary a step later."""
    s["w"] = s["w"] + s["step"]
    s["step"] = s["step"] + 1
    return s


def moved(s: Any) -> Any:
    """The same list a step later."""
    s[0] = s[0] + s[1]
    s[1] = s[1] + 1
    return s


def with_update(s: Any) -> Any:
    made = s.copy()
    made.update(new(s))
    return made


def updated(s: Any) -> Any:
    s.update(new(s))
    return s


def updated_by_names(s: Any) -> Any:
    s.update(**new(s))
    return s


def merged_in_place(s: Any) -> Any:
    s |= new(s)
    return s


def zipped(s: Any) -> Any:
    return dict(zip(s.keys(), [v + 1 if isinstance(v, int) else v + s["step"] for v in s.values()], strict=True))


def namespace(s: Any) -> Any:
    made = types.SimpleNamespace(**vars(s))
    made.w = made.w + made.step
    made.step = made.step + 1
    return made


def by_names(s: Any) -> Any:
    def call(w: Any, step: Any) -> Any:
        return {"w": w + step, "step": step + 1}

    return call(**s)


def matched(s: Any) -> Any:
    match s:
        case {"w": found, **rest}:
            return {"w": found + rest["step"], "step": rest["step"] + 1}


def unpacked(s: Any) -> Any:
    found, step = s
    return s._make([found + step, step + 1])


def unpacked_starred(s: Any) -> Any:
    found, *rest = s
    return State(found + rest[0], rest[0] + 1)


def as_star(s: Any) -> Any:
    made = State(*s)
    return State(made.w + made.step, made.step + 1)


def added(s: Any) -> Any:
    whole = (*s, 1)
    other = s + (1,)
    return whole[0] + other[1], other[1] + 1


def sliced(s: Any) -> Any:
    return s[:1][0] + s[1:][0], s[:][1] + 1


def multiplied(s: Any) -> Any:
    twice = s * 2
    return [twice[2] + twice[3], twice[1] + 1]


def extended(s: Any) -> Any:
    made: list[Any] = []
    made.extend(s)
    more: list[Any] = []
    more += s
    return [moved(made)[0], moved(more)[1]]


def set_by_slice(s: Any) -> Any:
    made = [1, 2]
    made[:] = s
    return moved(made)


def copied_deque(s: Any) -> Any:
    made = s.copy()
    return deque([made[0] + made[1], made[1] + 1])


KINDS: dict[str, tuple[Callable[[Any], Any], Callable[[], Any]]] = {
    "_replace": (lambda s: s._replace(w=s.w + s.step, step=s.step + 1), lambda: State(w(), 0)),
    "_replace, typed": (lambda s: s._replace(w=s.w + s.step, step=s.step + 1), lambda: Typed(w(), 0)),
    "_asdict": (lambda s: State(**new(s._asdict())), lambda: State(w(), 0)),
    "_make": (unpacked, lambda: State(w(), 0)),
    "unpacked": (unpacked_starred, lambda: State(w(), 0)),
    "as arguments": (as_star, lambda: State(w(), 0)),
    "copy.copy, named": (lambda s: copy.copy(s)._replace(w=s.w + s.step, step=s.step + 1), lambda: State(w(), 0)),
    "{**s}": (lambda s: {**s, "w": s["w"] + s["step"], "step": s["step"] + 1}, items),
    "dict(s)": (lambda s: counted(dict(s)), items),
    "dict(s, ...)": (lambda s: dict(s, **new(s)), items),
    "s | {...}": (lambda s: s | new(s), items),
    "{} | s": (lambda s: counted({} | s), items),
    "s |= {...}": (merged_in_place, items),
    "copy": (lambda s: counted(s.copy()), items),
    "copy, update": (with_update, items),
    "update": (updated, items),
    "update by names": (updated_by_names, items),
    "copy.copy": (lambda s: counted(copy.copy(s)), items),
    "items": (lambda s: {k: v + 1 if k == "step" else v + s["step"] for k, v in s.items()}, items),
    "zip": (zipped, items),
    "as named arguments": (by_names, items),
    "match": (matched, items),
    "pairs": (lambda s: new(dict([(k, s[k]) for k in s])), items),  # noqa: C404
    "OrderedDict": (lambda s: counted(OrderedDict(s)), lambda: OrderedDict(items())),
    "OrderedDict.copy": (lambda s: counted(s.copy()), lambda: OrderedDict(items())),
    "OrderedDict, copy.copy": (lambda s: counted(copy.copy(s)), lambda: OrderedDict(items())),
    "OrderedDict |": (lambda s: s | new(s), lambda: OrderedDict(items())),
    "OrderedDict of pairs": (lambda s: OrderedDict(list(new(s).items())), lambda: OrderedDict(items())),
    "OrderedDict.update": (updated, lambda: OrderedDict(items())),
    "defaultdict": (lambda s: counted(defaultdict(int, s)), lambda: defaultdict(int, items())),
    "defaultdict.copy": (lambda s: counted(s.copy()), lambda: defaultdict(int, items())),
    "defaultdict, copy.copy": (lambda s: counted(copy.copy(s)), lambda: defaultdict(int, items())),
    "a class derived from dict": (lambda s: counted(Mapped(s)), lambda: Mapped(items())),
    "SimpleNamespace": (namespace, lambda: types.SimpleNamespace(**items())),
    "list(s)": (lambda s: moved(list(s)), listed),
    "[*s]": (lambda s: moved([*s]), listed),
    "list.copy": (lambda s: moved(s.copy()), listed),
    "copy.copy, list": (lambda s: moved(copy.copy(s)), listed),
    "list slice": (lambda s: moved(s[:]), listed),
    "list * 2": (multiplied, listed),
    "extend": (extended, listed),
    "slice assignment": (set_by_slice, listed),
    "a class derived from list": (lambda s: moved(Listed(s)), lambda: Listed(listed())),
    "tuple(s)": (lambda s: tuple(moved([*tuple(s)])), lambda: tuple(listed())),
    "tuple +": (added, lambda: tuple(listed())),
    "tuple slice": (sliced, lambda: tuple(listed())),
    "deque.copy": (copied_deque, lambda: deque(listed())),
    "deque unpacked": (lambda s: deque(moved([*s])), lambda: deque(listed())),
}


def plain(value: Any) -> Any:
    """A value with its types, the order of its keys, and tensors as lists."""
    if isinstance(value, Tensor):
        return "tensor", value.asnumpy().tolist(), str(value.dtype)
    if isinstance(value, types.SimpleNamespace):
        return types.SimpleNamespace, plain(vars(value))
    if isinstance(value, dict):
        return type(value), [(key, plain(item)) for key, item in value.items()]
    if isinstance(value, (list, tuple, deque)):
        return type(value), [plain(item) for item in value]
    return type(value), repr(value)


@pytest.mark.parametrize("fullgraph", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_a_state_that_each_call_copies_needs_two_graphs(kind: str, fullgraph: bool) -> None:
    function, make = KINDS[kind]
    compiled, state, expected = jit(function, fullgraph=fullgraph), make(), make()
    for _ in range(10):
        state, expected = compiled(state), function(expected)
        assert plain(state) == plain(expected)
    report = compiled.report()
    assert (len(report.graphs), len(report.breaks)) == (2, 0)


def named_loop(how: Callable[[Any, Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def run(s: Any, until: Any) -> Any:
        while s.w.sum() < until.sum():
            s = how(s, s.w + 1 + s.step * 0.5, s.step + 1)
        return s, s.step

    return run


def keyed_loop(how: Callable[[Any, Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def run(s: Any, until: Any) -> Any:
        while s["w"].sum() < until.sum():
            s = how(s, s["w"] + 1 + s["step"] * 0.5, s["step"] + 1)
        return s, s["step"]

    return run


def listed_loop(how: Callable[[Any, Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def run(s: Any, until: Any) -> Any:
        while s[0].sum() < until.sum():
            s = how(s, s[0] + 1 + s[1] * 0.5, s[1] + 1)
        return s, s[1]

    return run


def on_sides(s: Any, until: Any) -> Any:
    made = {**s}
    made = {**made, "step": made["step"] + 2} if until.sum() > 3 else dict(made, w=made["w"] * 2)
    both = {**s, **made}
    return both, both["step"] * until


def named_on_sides(s: Any, until: Any) -> Any:
    made = s
    if until.sum() > 3:
        made = s._replace(step=s.step + 2)
    return made, made.step * until


def with_items(s: Any, found: Any, step: Any) -> Any:
    made = s.copy()
    made.update(w=found, step=step)
    return made


LOOPS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[], Any]]] = {
    "a new one": (named_loop(lambda s, found, step: State(found, step)), lambda: State(w(), 0)),
    "_replace": (named_loop(lambda s, found, step: s._replace(w=found, step=step)), lambda: State(w(), 0)),
    "_make": (named_loop(lambda s, found, step: s._make((found, step))), lambda: State(w(), 0)),
    "copy.copy": (named_loop(lambda s, found, step: copy.copy(s)._replace(w=found, step=step)), lambda: State(w(), 0)),
    "as arguments": (named_loop(lambda s, found, step: State(*s)._replace(w=found, step=step)), lambda: State(w(), 0)),
    "a tuple": (listed_loop(lambda s, found, step: (found, step)), lambda: tuple(listed())),
    "a longer tuple": (listed_loop(lambda s, found, step: (found, step, *s[2:])), lambda: (*listed(), 0.5)),
    "{**s}": (keyed_loop(lambda s, found, step: {**s, "w": found, "step": step}), items),
    "dict(s, ...)": (keyed_loop(lambda s, found, step: dict(s, w=found, step=step)), items),
    "s | {...}": (keyed_loop(lambda s, found, step: s | {"w": found, "step": step}), items),
    "update": (keyed_loop(with_items), items),
    "OrderedDict": (keyed_loop(lambda s, found, step: dict(OrderedDict(s, w=found, step=step))), items),
    "list slice": (listed_loop(lambda s, found, step: [found, step, *s[2:]]), listed),
    "on sides": (on_sides, items),
    "named, on sides": (named_on_sides, lambda: State(w(), 0)),
}


def with_step(state: Any, step: int) -> Any:
    if isinstance(state, dict):
        return {**state, "step": step}
    return type(state)(*[state[0], step, *state[2:]]) if hasattr(state, "_fields") else type(state)([state[0], step])


@pytest.mark.parametrize("fullgraph", [True, False])
@pytest.mark.parametrize("kind", LOOPS)
def test_a_state_that_loops_and_branches_on_tensors_copy(kind: str, fullgraph: bool) -> None:
    function, make = LOOPS[kind]
    compiled = jit(function, fullgraph=fullgraph)
    for call, until in enumerate([9.0, 1.0, 3.0, 40.0, 1.0, 0.0, 5.0]):  # the body runs several times, once or never
        given = Tensor([until])
        state = with_step(make(), call)
        if kind == "a longer tuple":
            state = (*state[:2], 0.5 * call)
        assert plain(compiled(state, given)) == plain(function(state, given)), call
    report = compiled.report()
    assert (len(report.graphs), len(report.breaks)) == (2, 0)


LOOKS: dict[str, Callable[[Any], Any]] = {
    "json": lambda s: json.dumps({k: v for k, v in s.items() if k != "w"}),
    "text": lambda s: "{step} {lr}".format_map(s),
    "sum": lambda s: sum(v for k, v in s.items() if k != "w"),
    "sorted": lambda s: sorted([v for k, v in s.items() if k != "w"]),
    "index": lambda s: [*s.values()][1:].index(s["lr"]),
    "in": lambda s: (3 in [*s.values()][1:], ("step", 2) in s.items()),
    "equal": lambda s: {k: v for k, v in s.items() if k != "w"} == {"step": 2, "lr": 1.0},
    "getitem": lambda s: operator.getitem(s, "step"),
    "hash": lambda s: hash(tuple([v for k, v in s.items() if k != "w"])),
    "reversed": lambda s: [s[k] for k in reversed(s)],
    "fromkeys": lambda s: dict.fromkeys([s["step"], s["lr"]]),
    "as a key": lambda s: {s["step"]: s["lr"]},
    "condition": lambda s: "even" if s["step"] % 2 == 0 else "odd",
    "range": lambda s: [1] * s["step"] + list(range(s["step"])),
    "print": lambda s: print(s["step"], [*s.values()][1:], s.keys()),
    "identity": lambda s: [{**s}["lr"] is s["lr"], next(iter(s.values())) is s["w"], s.copy() is s],
    "taken out": lambda s: (lambda made: (made.pop("step"), made.setdefault("lr", 3), made.popitem()[0]))(dict(s)),
    "own reflected": lambda s: (s["step"], 1) + Reflected((s["lr"],)),
    "own keys": lambda s: {**Keys(s)},
    "own or": lambda s: s | Ored(a=1),
    "own iterator": lambda s: [*Iterated([s["step"]]), *tuple(Iterated([1]))],
}


class Reflected(tuple[Any, ...]):
    __slots__ = ()

    def __radd__(self, other: Any) -> Any:
        return "reflected", other, tuple(self)


class Keys(dict[str, Any]):
    def keys(self) -> Any:
        return ["step"]


class Ored(dict[str, Any]):
    def __ror__(self, other: Any) -> Any:
        return "or", dict(other), dict(self)


class Iterated(list[Any]):
    def __iter__(self) -> Any:
        return iter([7, 8])


def both(function: Callable[[Any], Any], make: Callable[[int], Any], calls: int = 9) -> None:
    """Compare a function with itself compiled: results, what it prints, and what it leaves in its argument."""
    compiled = jit(function)
    for call in range(calls):
        shown, states, printed = [], [make(call), make(call)], [io.StringIO(), io.StringIO()]
        for run, state, stream in zip((function, compiled), states, printed, strict=True):
            with contextlib.redirect_stdout(stream):
                shown.append(plain(run(state)))
        assert shown[0] == shown[1], call
        assert plain(states[0]) == plain(states[1]), call
        assert printed[0].getvalue() == printed[1].getvalue(), call


@pytest.mark.parametrize("look", LOOKS)
def test_whoever_looks_at_a_container_that_was_copied_sees_the_numbers_of_the_call(look: str) -> None:
    def run(s: Any) -> Any:
        first = {**s}
        seen = LOOKS[look](s)
        return seen, {**first, "w": first["w"] + 1}, LOOKS[look](first)

    both(run, lambda call: {"w": w(), "step": call % 4, "lr": 0.5 * call})


WRITES: dict[str, Callable[[Any], Any]] = {
    "the same": lambda s: s.update(step=s["step"]),
    "a constant": lambda s: s.update(step=2),
    "a constant item": lambda s: s.__setitem__("step", 2),
    "another key": lambda s: s.update({"step": s["step"] + 1, "new": 3}),
    "taken out": lambda s: s.pop("lr"),
    "taken out and put in": lambda s: (s.pop("step"), s.__setitem__("step", 2)),
    "cleared": lambda s: (s.clear(), s.update(w=w(), step=2)),
    "default": lambda s: s.setdefault("step", 5),
    "itself": lambda s: s.update(s),
    "pairs": lambda s: s.update([("step", s["step"] + 1), ("lr", 1)]),
}


@pytest.mark.parametrize("write", WRITES)
def test_what_is_written_to_a_dictionary_does_not_show_in_its_copies(write: str) -> None:
    def run(s: Any) -> Any:
        before, view = {**s}, s.items()
        WRITES[write](s)
        made = s.copy()
        made["step"] = 17
        return before, made, {**s}, list(view), s["w"] + 1

    both(run, lambda call: {"w": w(), "step": call % 4, "lr": 0.5 * call})


OF_LISTS: dict[str, Callable[[Any], Any]] = {
    "append": lambda s: s.append(s[1]),
    "insert": lambda s: s.insert(0, s[1] + 1),
    "pop": lambda s: s.pop(0),
    "pop the last": lambda s: s.pop(),
    "item": lambda s: s.__setitem__(0, 2),
    "reverse": lambda s: s.reverse(),
    "clear": lambda s: (s.clear(), s.extend([1, 2, 3])),
    "slice": lambda s: s.__setitem__(slice(0, 1), [9, 9]),
    "extend": lambda s: s.extend(s),
    "delete": lambda s: s.__delitem__(1),
    "sort": lambda s: s.sort(),
}


@pytest.mark.parametrize("write", OF_LISTS)
def test_what_is_written_to_a_list_does_not_show_in_its_copies(write: str) -> None:
    def run(s: Any) -> Any:
        before = [*s]
        OF_LISTS[write](s)
        return before, s[:], [*s], s + [1], s.copy(), tuple(s), s[-2:], w() + len(s)

    both(run, lambda call: [call % 5, 0.5 * (call % 3), 2, call])


@pytest.mark.parametrize("write", ["append", "rotate", "popleft", "appendleft"])
def test_what_is_written_to_a_deque_does_not_show_in_its_copies(write: str) -> None:
    def run(s: Any) -> Any:
        before, walked = s.copy(), [v for v in s]  # noqa: C416
        getattr(s, write)(*([] if write == "popleft" else [2]))
        return before, walked, list(s), s.copy(), s + deque([1]), w() + len(s)

    both(run, lambda call: deque([call % 5, 0.5 * (call % 3), 2, call], maxlen=5))


def test_a_class_whose_methods_take_part_later_is_seen() -> None:
    class Later(dict[str, Any]):
        pass

    def run(s: Any) -> Any:
        made: dict[str, Any] = {}
        made.update(s)
        return made, w() + s["step"]

    compiled = jit(run)
    for step in range(3):
        assert plain(compiled(Later(items(), step=step))) == plain(run(Later(items(), step=step)))
    Later.keys = lambda self: ["step"]  # type: ignore[assignment, method-assign, return-value]
    assert plain(compiled(Later(items(), step=5))) == plain(run(Later(items(), step=5)))


def test_other_keys_another_order_and_another_length_are_read() -> None:
    def run(s: Any) -> Any:
        return {**s}, [*s.values()], w() + s["step"]

    compiled = jit(run)
    for step in range(4):
        for state in ({"step": step, "b": 1}, {"b": 1, "step": step}, {"step": step}, {"step": step, "c": step}):
            assert plain(compiled(state)) == plain(run(state))


def test_dictionaries_that_are_long_or_have_other_keys_are_copied() -> None:
    def run(s: Any) -> Any:
        return {**s}, s | {}, w() + len(s)

    compiled = jit(run)
    for step in range(4):
        for keys in (range(5000), [(1, 2), 3.5, None, b"b"]):
            state = dict.fromkeys(keys, 0)
            state[next(iter(state))] = step
            assert plain(compiled(state)) == plain(run(state))
