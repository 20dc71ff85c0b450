"""Programs of strangers: what changes between calls, from inside and outside of a compiled function, is seen.

Each program is a generator that is given a decorator and yields what can be observed. It runs plainly and compiled.
"""

from __future__ import annotations

import abc
import array
import collections
import contextlib
import ctypes
import functools
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import weft
from weft import Parameter, Tensor, nn

X = Tensor([1.0, 2.0])


def best_of_a_closure(deco: Any) -> Iterator[Any]:
    best = None

    @deco
    def f(x: Any) -> Any:
        nonlocal best
        if best is None or x.sum() > best:
            best = x.sum()
        return x - best

    for values in ([1.0, 2.0], [3.0, 0.5], [0.0, 1.0]):
        yield f(Tensor(values)), best


def set_and_read(deco: Any) -> Iterator[Any]:
    last: Any = None

    @deco
    def f(x: Any) -> Any:
        nonlocal last
        last = x * 2
        return last + 1

    @deco
    def g(x: Any) -> Any:
        nonlocal last
        last = "set"
        result = x if last == "set" else x * 0
        last = None
        return result

    for number in range(3):
        yield f(X * number), last, g(X), last


def context_in_a_closure(deco: Any) -> Iterator[Any]:
    current: Any = None

    @contextlib.contextmanager
    def scaled(by: float) -> Iterator[None]:
        nonlocal current
        before, current = current, by
        try:
            yield
        finally:
            current = before

    @deco
    def f(x: Any) -> Any:
        with scaled(3.0):
            return x * current

    for _ in range(3):
        yield f(X), current


def fresh_views_of_arrays(deco: Any) -> Iterator[Any]:
    weights = np.arange(4, dtype=np.float32).reshape(2, 2)
    f = deco(lambda x: x + Tensor(weights.T))
    for number in range(3):
        yield f(X)
        weights[0, 1] = number


def arrays_written_in_place(deco: Any) -> Iterator[Any]:
    w = np.array([[0, 1], [2, 3]], np.float32)

    def add(x: Any) -> Any:
        np.add(w, 1, out=w)
        return x * float(w.sum())

    def at(x: Any) -> Any:
        np.add.at(w, (0, 1), 2.0)
        np.clip(w, 0, 2, out=(w))
        return x * float(w.sum())

    def fill(x: Any) -> Any:
        w.T.fill(4)
        return x * float(w.sum())

    def order(x: Any) -> Any:
        w.sort(axis=0)
        w.put([0], [9])
        np.copyto(w, w[::-1].copy())
        return x * float(w[0, 0])

    for function in (add, at, order, fill, add):
        compiled = deco(function)
        for _ in range(2):
            yield compiled(X), w.tolist()


def dictionaries_while_iterated(deco: Any) -> Iterator[Any]:
    for kind in (dict, collections.OrderedDict, collections.Counter):
        d: Any = kind({"a": 1.0, "b": 2.0, "c": 3.0})
        mode = "del"

        @deco
        def f(x: Any, d: Any = d) -> Any:
            for k in d:
                x = x * d[k]
                if mode == "set":
                    d[k] = d[k] + 1
                if mode == "del":
                    del d[k]
            return x

        for mode in ("del", "set", "set", "get"):  # noqa: B007 - the function reads it
            try:
                yield f(X), dict(d)
            except RuntimeError as error:
                yield str(error), dict(d)


class _Double(nn.Cell):
    def construct(self, x: Any) -> Any:
        return x * 2


class _Triple(nn.Cell):
    def construct(self, x: Any) -> Any:
        return x * 3


def the_class_of_a_cell(deco: Any) -> Iterator[Any]:
    net = _Double()
    f, g = deco(lambda x: net(x)), deco(lambda n, x: n(x))
    for kind in (_Double, _Triple, _Double):
        net.__class__ = kind
        yield f(X), g(net, X)


def attributes_of_a_parameter(deco: Any) -> Iterator[Any]:
    p: Any = Parameter(Tensor([1.0, 1.0]), name="p")

    @deco
    def f(x: Any) -> Any:
        p.steps = getattr(p, "steps", 0) + 1
        return x * p * p.steps * getattr(p, "lr_mult", 1.0), hasattr(p, "lr_mult")

    for number in range(4):
        if number == 2:
            p.lr_mult = 10.0
        yield f(X), p.steps


def unbound_variables(deco: Any) -> Iterator[Any]:
    k: Any = 1.0

    @deco
    def f(x: Any) -> Any:
        return x * k

    @deco
    def g(x: Any) -> Any:
        nonlocal k
        del k
        return x * 2

    for value in (None, 5.0, None, 6.0):
        if value is not None:
            k = value
        for function in (f, g, f):
            try:
                yield function(X)
            except NameError as error:
                yield str(error)


def unbound_globals(deco: Any) -> Iterator[Any]:
    def f(x: Any) -> Any:
        return x * _missing  # type: ignore[name-defined]

    def g(x: Any) -> Any:
        global _missing
        del _missing
        return x

    f, g = deco(f), deco(g)
    for value in (None, 5.0, None, 6.0):
        if value is not None:
            globals()["_missing"] = value
        for function in (f, g, f):
            try:
                yield function(X)
            except NameError as error:
                yield str(error)


def undefined_beside_a_written_global(deco: Any) -> Iterator[Any]:
    def f(x: Any) -> Any:
        global _written
        _written = x
        try:
            return x * _missing  # type: ignore[name-defined]
        except NameError:
            return x

    f = deco(f)
    for value in (None, 5.0, 6.0):
        if value is not None:
            globals()["_missing"] = value
        yield f(X)


def containers_in_c(deco: Any) -> Iterator[Any]:
    numbers = array.array("f", [1, 2])
    names = {"a": 1.0}
    held: dict[str, tuple[Any, Callable[[Any, Any], Any], Callable[[float], Any]]] = {
        "array": (numbers, lambda x, s: x * s[0], lambda v: numbers.__setitem__(0, v)),
        "sum": (numbers, lambda x, s: x * sum(s), lambda v: numbers.__setitem__(0, v)),
        "view": (memoryview(numbers), lambda x, s: x * s[0], lambda v: numbers.__setitem__(0, v)),
        "proxy": (types.MappingProxyType(names), lambda x, s: x * s["a"], lambda v: names.__setitem__("a", v)),
        "values": (names.values(), lambda x, s: x * next(iter(s)), lambda v: names.__setitem__("a", v)),
    }
    raw = (ctypes.c_float * 2)(1, 2)
    held["ctypes"] = (raw, lambda x, s: x * s[0], lambda v: raw.__setitem__(0, v))
    for name, (kept, read, change) in held.items():
        f = deco(lambda x, kept=kept, read=read: read(x, kept))
        g = deco(lambda x: read(x, kept))
        for value in (1.0, 5.0, 7.0):
            change(value)
            yield name, f(X), g(X)


@typing.runtime_checkable
class _HasScale(typing.Protocol):
    scale: float


class _Abstract(abc.ABC):  # noqa: B024
    pass


def relations_of_classes(deco: Any) -> Iterator[Any]:
    class Plain:
        pass

    o: Any = Plain()
    f = deco(lambda x: (x * isinstance(o, _HasScale), x * isinstance(o, _Abstract), isinstance(o, (int, _Abstract))))
    yield f(X)
    o.scale = 1.0
    yield f(X)
    _Abstract.register(Plain)
    yield f(X)
    del o.scale
    yield f(X)


def protocols_asked_of_new_objects(deco: Any) -> Iterator[Any]:
    class Plain:
        pass

    @deco
    def f(x: Any, scaled: bool) -> Any:
        o: Any = Plain()
        if scaled:
            o.scale = 2.0
        match o:
            case _HasScale(scale=scale):
                x = x * scale
        return x, isinstance(o, _HasScale)

    for scaled in (False, True, False):
        yield f(X, scaled)
    Plain.scale = 3.0  # type: ignore[attr-defined]
    for scaled in (False, True):
        yield f(X, scaled)


def texts_of_exceptions(deco: Any) -> Iterator[Any]:
    error = ValueError("one")
    f = deco(lambda x: (x, str(error), repr(error)))
    for number in range(3):
        yield f(X)
        error.args = (number, "more")


def seeds(deco: Any) -> Iterator[Any]:
    before = weft.get_seed()
    f = deco(lambda x: x * weft.get_seed())

    def g(x: Any, seed: int) -> Any:
        weft.set_seed(seed)
        return x

    g = deco(g)
    try:
        for seed in (3, 4, 3):
            weft.set_seed(seed)
            yield f(X), g(X, seed + 1), weft.get_seed()
    finally:
        weft.set_seed(before or 0)


def best_in_a_mapping(deco: Any) -> Iterator[Any]:
    class Plain:
        pass

    for kind in (dict, collections.OrderedDict, collections.defaultdict, vars):
        s: Any = vars(Plain()) if kind is vars else kind()
        s.update(best=Tensor(9.0), wait=0, last=None)

        @deco
        def step(loss: Any, s: Any = s) -> Any:
            if loss < s["best"]:
                s["best"] = loss
                s["wait"] = 0
                s["last"] = loss * 2
            else:
                s["wait"] += 1
            return loss * 2

        for value in (5.0, 6.0, 7.0, 1.0, 4.0, 3.0):
            yield step(Tensor(value)), s["best"], s["wait"], s["last"]


def loss_scale(deco: Any) -> Iterator[Any]:
    u = types.SimpleNamespace(scale=8.0, good=0)

    @deco
    def step(g: Any) -> Any:
        if g < 0:
            u.scale /= 2
            u.good = 0
        else:
            u.good += 1
            if u.good == 2:
                u.scale *= 2
                u.good = 0
        return g * 2

    for value in (1.0, 1.0, -1.0, 1.0, 1.0, -1.0, 1.0):
        yield step(Tensor(value)), u.scale, u.good


def best_of_an_object(deco: Any) -> Iterator[Any]:
    b = types.SimpleNamespace(loss=Tensor(9.0), arg=-1, i=0)

    @deco
    def f(x: Any) -> Any:
        s = x.sum()
        if s < b.loss:
            b.loss = s
            b.arg = b.i
        b.i += 1
        return s

    for value in (3.0, 2.0, 4.0, 1.0, 5.0):
        yield f(Tensor([value])), b.loss, b.arg, b.i


def counted_loop(deco: Any) -> Iterator[Any]:
    s: dict[str, Any] = {"t": Tensor(0.0), "n": 0}

    @deco
    def f(x: Any) -> Any:
        while s["t"] < x:
            s["t"] = s["t"] + 1
            s["n"] += 1
        return x * 2

    for value in (2.0, 1.0, 4.0, 3.0):
        yield f(Tensor(value)), s["t"], s["n"]


def unused_results_that_raise(deco: Any) -> Iterator[Any]:
    def plain_division(x: Any) -> Any:
        y = x * 2
        5 // int(y[0])
        return y

    def caught(x: Any) -> Any:
        try:
            1 / int(x[0])
        except ZeroDivisionError:
            return "zero"
        return "ok"

    def shifted(x: Any) -> Any:
        [1 << int(x[0])]
        return x

    for function in (plain_division, caught, shifted):
        f = deco(function)
        for value in (0.0, 2.0, 0.0, -3.0, 0.0, 1.0):
            try:
                yield f(Tensor([value]))
            except (ZeroDivisionError, ValueError) as error:
                yield repr(error)


def what_transforms_are_made_of(deco: Any) -> Iterator[Any]:
    a, b = (Parameter(Tensor([1.0, 2.0]) * k, name=f"p{k}") for k in (1, 3))
    x, y = Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([[5.0, 6.0], [7.0, 8.0]])

    class Held:
        of_weights: Any = weft.grad(lambda v: (v * a * a * b).sum(), None, (a, b))
        of_inputs: Any = weft.grad(lambda v, w: (v * v * w).sum(), (0, 1))
        mapped: Any = weft.vmap(lambda v, w: v * w[0], (0, [0]))

        def step(self, v: Any, w: Any) -> Any:
            return *self.of_weights(v), *self.of_inputs(v, w), self.mapped(v, [w])

    held = Held()
    step = deco(held.step)
    yield step(x, y)
    for part, name, value in [
        ("of_weights", "weights", (b, a)), ("of_weights", "weights", (b,)), ("of_weights", "weights", (a, b)),
        ("of_inputs", "positions", (1, 0)), ("of_inputs", "positions", (1,)), ("mapped", "in_axes", (1, [0])),
        ("mapped", "in_axes", (1, [1])), ("mapped", "out_axes", 1), ("of_weights", "weights", (b, b)),
    ]:  # fmt: skip
        setattr(getattr(held, part), name, value)
        for _ in range(2):
            yield step(x, y)


PROGRAMS = [
    what_transforms_are_made_of,
    best_of_a_closure, set_and_read, context_in_a_closure, fresh_views_of_arrays, arrays_written_in_place,
    dictionaries_while_iterated, the_class_of_a_cell, attributes_of_a_parameter, unbound_variables, unbound_globals,
    undefined_beside_a_written_global,
    containers_in_c, relations_of_classes, protocols_asked_of_new_objects,
    texts_of_exceptions, seeds, best_in_a_mapping, loss_scale, best_of_an_object,
    counted_loop, unused_results_that_raise,
]  # fmt: skip


def plain(value: Any) -> Any:
    """A value to compare."""
    if isinstance(value, Tensor):
        return str(value.dtype), value.asnumpy().tolist()
    return tuple(map(plain, value)) if isinstance(value, tuple) else value


@pytest.mark.parametrize("policy", [{}, {"mode": "PIJit"}], ids=["auto", "PIJit"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_changes_between_calls_are_seen(program: Any, policy: dict[str, Any]) -> None:
    globals().pop("_missing", None)
    wanted = [plain(found) for found in program(lambda function: function)]
    globals().pop("_missing", None)
    if program is relations_of_classes:  # which classes are registered cannot be undone
        _Abstract.register(type("Another", (), {}))
    assert [plain(found) for found in program(functools.partial(weft.jit, **policy))] == wanted


def early_stopping(deco: Any) -> Iterator[Any]:
    s = types.SimpleNamespace(best=1e9, bad=0)

    @deco
    def f(x: Any) -> Any:
        loss = float((x * x).sum())
        if loss < s.best:
            s.best = loss
            s.bad = 0
        else:
            s.bad += 1
        return x * s.bad

    for number in range(14):
        yield f(Tensor([float(7 - number)])), s.best, s.bad


def skipped_steps(deco: Any) -> Iterator[Any]:
    best, skipped = 1e9, 0

    @deco
    def f(x: Any) -> Any:
        nonlocal best, skipped
        if x.sum() > 2:
            best = float(x.sum())
            skipped += 1
        return x * skipped + best

    for number in range(14):
        yield f(Tensor([float(7 - number)])), best, skipped


def schedules(deco: Any) -> Iterator[Any]:
    rates, table, milestones = [0.1 * number for number in range(30)], {0: 1.0, 3: 2.0}, {4, 9}

    @deco
    def f(x: Any, step: int) -> Any:
        rate = rates[step] if step < 20 else rates[-step]
        factor = table[step] if step in table else 0.5  # noqa: SIM401 - get() is another look-up
        return x * rate * factor - (1 if step in (2, 5) or step in milestones else 0)

    for step in range(14):
        yield f(X, step)
    rates[13] = 7.0
    table[13] = 9.0
    milestones.add(13)
    yield f(X, 13)
    try:
        f(X, 40)
    except IndexError as error:
        yield str(error)
    yield f(X, 13), f(X, True)


#: `schedules` has six paths, then other contents, an error and other types
@pytest.mark.parametrize(("program", "most"), [(early_stopping, 4), (skipped_steps, 4), (schedules, 14)])
def test_numbers_that_change_need_few_graphs(program: Any, most: int) -> None:
    made = []

    def compiled(function: Any) -> Any:
        made.append(weft.jit(function))
        return made[-1]

    wanted = [plain(found) for found in program(lambda function: function)]
    assert [plain(found) for found in program(compiled)] == wanted
    assert len(made[0].report().graphs) <= most


SHOWN = {
    "print": print,
    "in a tuple": lambda p: print((p,)),
    "in a dictionary": lambda p: print({"a": [p]}),
    "f-string": lambda p: print(f"{p}"),
    "str": lambda p: print(str(p)),
    "percent": lambda p: print("%s" % p),  # noqa: UP031
    "format": lambda p: print("{}".format(p)),  # noqa: UP032
    "repr": lambda p: print(repr([p])),
}


@pytest.mark.parametrize("policy", [{}, {"mode": "PIJit"}], ids=["auto", "PIJit"])
@pytest.mark.parametrize("how", SHOWN)
def test_the_text_of_a_parameter_shows_its_name(how: str, policy: dict[str, Any], capsys: Any) -> None:
    show = SHOWN[how]
    texts = []
    for deco in (lambda f: f, functools.partial(weft.jit, **policy)):
        called = deco(lambda p: (show(p), p + 1)[1])
        a, b = (Parameter(Tensor([1.0, 2.0]), name=name) for name in "ab")
        for parameter in (a, b, a):
            called(parameter)
        a.requires_grad = False
        called(a)
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1]


def test_a_constant_made_by_a_pullback_is_new_in_each_call() -> None:
    pulled = weft.jit(lambda y: weft.vjp(lambda v: v + 1, y)[1](Tensor([2.0, 1.0]))[0])
    first, second = pulled(X), pulled(X)
    assert first is not second
    first[0] = 9.0
    assert pulled(X).asnumpy().tolist() == [2.0, 1.0] == second.asnumpy().tolist()


def test_a_weight_keeps_its_gradient_where_a_capture_was_given_up() -> None:
    w = Parameter(Tensor(1.0), name="w")

    @weft.jit
    def step(x: Tensor) -> Tensor:
        if x < 0:  # a side of it cannot be in the graph

            def loss(v: Tensor) -> Any:
                return v if v > 0 else None

            weft.grad(loss, None, [w])(x)
        return w

    for _ in range(2):
        found = weft.value_and_grad(lambda x: step(x).sum(), None, [w])(Tensor(0.25))[1]
        assert float(found[0]) == 1.0


def test_a_list_that_was_cleared_and_filled_again() -> None:
    w, seen = Tensor(1.0), []

    @weft.jit
    def step(x: Tensor) -> None:
        seen.clear()
        try:
            if w > 2:
                raise ValueError
        finally:
            seen.append(w in [x] * 0)

    for value in (0.25, -1.5, 1.0):
        step(Tensor(value))
        assert seen == [False]


def test_attributes_of_built_in_objects_are_written_by_the_entry() -> None:
    holders: list[Any] = [types.ModuleType("m"), types.SimpleNamespace(), functools.partial(pow), ValueError()]
    for holder in holders:
        holder.count = 0

    @weft.jit
    def step(x: Tensor) -> Tensor:
        for holder in holders:
            holder.count += 1
        return x * holders[0].count

    for number in range(1, 4):
        assert float(step(Tensor(1.0))) == number
        assert [holder.count for holder in holders] == [number] * 4
    assert not step.report().breaks
    assert len(step.report().graphs) == 2


@pytest.mark.parametrize("kind", [int, float, complex, property, type(lambda: 0).__class__])
def test_descriptors_of_a_built_in_class_are_read_from_it(kind: type) -> None:
    step = weft.jit(lambda x, v: (hasattr(v, "real"), hasattr(v, "fget"), x + 1), mode="PIJit")
    found = [step(X, value)[:2] for value in (kind, object, kind)]
    assert found == [(hasattr(value, "real"), hasattr(value, "fget")) for value in (kind, object, kind)]
