"""State outside a compiled function that changes between its calls: each call must see, and leave, what Python would.

A case is a program and what happens to its state; it runs eagerly and compiled, and all results and states must agree.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.helpers.values import plain
from weft.core.tensor import Tensor
from weft.jit import jit

CASES: list[Callable[[], tuple[Any, Any, Any]]] = []
GLOBAL = 0


def case(make: Callable[[], tuple[Any, Any, Any]]) -> Callable[[], tuple[Any, Any, Any]]:
    """Add a case: returns the function, the function that shows the state, and the steps.

    A step is the number of a call's tensor, or a function that changes the state.
    """
    CASES.append(make)
    return make


class Box:
    """An object with attributes."""

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)

    def scale(self, v: Any) -> Any:
        return v * self.k


def change(box: Any, **attributes: Any) -> Callable[[], None]:
    def step() -> None:
        for key, value in attributes.items():
            setattr(box, key, value)

    return step


# -- callables that hold objects -------------------------------------------------------------------------


@case
def bound_method() -> Any:
    box = Box(k=2)
    return box.scale, box, (1, change(box, k=3), 1)


@case
def method_that_counts() -> Any:
    class Counter(Box):
        def run(self, v: Any) -> Any:
            self.calls += 1
            return v * self.calls

    box = Counter(calls=0)
    return box.run, box, (1, 1, 2, change(box, calls=10), 1)


@case
def partial() -> Any:
    box = Box(k=2)
    return functools.partial(Box.scale, box), box, (1, change(box, k=3), 1)


@case
def partial_by_keyword() -> Any:
    box = Box(k=2)
    function: Any = functools.partial(lambda v, box: v * box.k, box=box)
    return function, box, (1, change(box, k=3), 1)


@case
def partial_with_other_keywords() -> Any:
    function = functools.partial(lambda v, k: v * k, k=2)
    return function, None, (1, lambda: function.keywords.update(k=3), 1)


@case
def method_in_a_closure() -> Any:
    box = Box(k=2)
    method = box.scale
    return lambda v: method(v), box, (1, change(box, k=3), 1)


@case
def method_of_another_object_in_an_attribute() -> Any:
    inner, other = Box(k=2), Box(k=5)
    box = Box(method=inner.scale)
    steps = (1, change(inner, k=3), 1, change(box, method=other.scale), 1, change(other, k=7), 1)
    return lambda v: box.method(v), inner, steps


@case
def class_method() -> Any:
    class Kind:
        k = 2

        @classmethod
        def run(cls, v: Any) -> Any:
            return v * cls.k

    run = Kind.run
    return lambda v: run(v), None, (1, change(Kind, k=3), 1)


@case
def compiled_method_in_a_closure() -> Any:
    class Kind:
        k = 2

        @jit
        def run(self, v: Any) -> Any:
            return v * self.k

    instance = Kind()
    run = instance.run
    return lambda v: run(v), None, (1, change(instance, k=3), 1)


@case
def method_of_a_dictionary() -> Any:
    table = {"k": 2}
    get = table.get
    return lambda v: v * get("k"), None, (1, lambda: table.update(k=3), 1)


@case
def method_of_a_dictionary_in_an_attribute() -> Any:
    table, other = {"k": 2}, {"k": 7}
    box = Box(get=table.get)
    steps = (1, lambda: table.update(k=3), 1, change(box, get=other.get), 1)
    return lambda v: v * box.get("k"), None, steps


@case
def builtin_in_an_attribute() -> Any:
    box = Box(f=math.floor)
    return lambda v: v * box.f(1.5), None, (1, change(box, f=math.ceil), 1)


# -- writes that depend on what was there ----------------------------------------------------------------


@case
def write_of_the_value_that_is_there() -> Any:
    box = Box(flag=True)

    def f(v: Any) -> Any:
        box.flag = True
        return v

    return f, box, (1, change(box, flag=False), 1)


@case
def write_on_one_side() -> Any:
    box = Box(k=0)

    def f(v: Any) -> Any:
        if v > 0:
            box.k = 2
        return v

    return f, box, (-1, change(box, k=7), -1, 1, change(box, k=9), -1)


@case
def tensor_written_on_one_side() -> Any:
    box = Box(last=Tensor(5.0))

    def f(v: Any) -> Any:
        if v > 0:
            box.last = v
        return v

    return f, box, (-1, change(box, last=Tensor(7.0)), -1, 1, change(box, last=Tensor(9.0)), -1)


@case
def write_in_a_loop() -> Any:
    box = Box(k=0)

    def f(v: Any) -> Any:
        while v > 0:
            v = v - 1
            box.k = 5
        return v

    return f, box, (-1, change(box, k=7), -1, 2, change(box, k=9), -1)


@case
def count_on_one_side() -> Any:
    box = Box(k=0)

    def f(v: Any) -> Any:
        if v > 0:
            box.k += 1
        return v * box.k

    return f, box, (1, -1, 1, 1, -1)


@case
def slot_written_on_one_side() -> Any:
    class Slotted:
        __slots__ = ("k",)

    slotted = Slotted()
    slotted.k = 0
    shown = Box()

    def f(v: Any) -> Any:
        if v > 0:
            slotted.k = 2
        return v

    def show() -> None:
        shown.k = slotted.k

    return f, shown, (-1, show, change(slotted, k=7), -1, show, 1, show, change(slotted, k=9), -1, show)


@case
def closure_variable_written_on_one_side() -> Any:
    box, k = Box(), 0

    def f(v: Any) -> Any:
        nonlocal k
        if v > 0:
            k = 2
        return v

    def put(value: int) -> Callable[[], None]:
        def step() -> None:
            nonlocal k
            box.seen, k = k, value

        return step

    return f, box, (-1, put(7), -1, put(8), 1, put(9), -1, put(0), -1)


@case
def global_written_on_one_side() -> Any:
    box = Box()

    def f(v: Any) -> Any:
        global GLOBAL
        if v > 0:
            GLOBAL = 2
        return v

    def put(value: int) -> Callable[[], None]:
        def step() -> None:
            global GLOBAL
            box.seen, GLOBAL = GLOBAL, value

        return step

    return f, box, (put(0), -1, put(7), -1, put(8), 1, put(9), -1, put(0), -1)


@case
def item_written_on_one_side() -> Any:
    class Table(dict[str, int]):
        """A dictionary that is known by its identity only."""

    table, box = Table(k=0), Box()

    def f(v: Any) -> Any:
        if v > 0:
            table["k"] = 2
        return v

    def put(value: int) -> Callable[[], None]:
        def step() -> None:
            box.seen, table["k"] = table["k"], value

        return step

    return f, box, (-1, put(7), -1, put(8), 1, put(9), -1, put(0), -1)


@case
def swapped_objects() -> Any:
    box = Box(a=Box(k=1), b=Box(k=2))

    def f(v: Any) -> Any:
        box.a, box.b = box.b, box.a
        return v * box.a.k

    return f, box, (1, 1, 1)


@case
def swapped_tensors() -> Any:
    box = Box(a=Tensor(1.0), b=Tensor(2.0))

    def f(v: Any) -> Any:
        box.a, box.b = box.b, box.a
        return v * box.a

    return f, box, (1, 1, 1)


@case
def object_written_after_it_moved() -> Any:
    box = Box(a=Box(k=1), b=Box(k=2))

    def f(v: Any) -> Any:
        moved = box.a
        box.a = box.b
        moved.k += 5
        box.c = moved
        return v

    return f, box, (1,)


# -- attributes that are not there -----------------------------------------------------------------------


@case
def attribute_that_appears() -> Any:
    box = Box()
    steps = (1, change(box, k=3), 1, lambda: delattr(box, "k"), 1)
    return lambda v: v * (box.k if hasattr(box, "k") else 2), box, steps


@case
def default_of_getattr() -> Any:
    box = Box()
    return lambda v: v * getattr(box, "k", 2), box, (1, change(box, k=3), 1)


@case
def attribute_that_only_getattr_knows() -> Any:
    class Dynamic(Box):
        def __getattr__(self, name: str) -> Any:
            if name == "k":
                return 2
            raise AttributeError(name)

    box = Dynamic()
    return lambda v: v * box.k, box, (1, change(box, k=3), 1)


@case
def made_at_the_first_call() -> Any:
    box = Box()

    def f(v: Any) -> Any:
        if not hasattr(box, "k"):
            box.k = 3
        return v * box.k

    return f, box, (1, 1, lambda: delattr(box, "k"), 1, change(box, k=4), 1)


@case
def cached_property() -> Any:
    class Lazy(Box):
        @functools.cached_property
        def double(self) -> Any:
            return self.k * 2

    box = Lazy(k=2)
    return lambda v: v * box.double, box, (1, 1, change(box, double=11), 1)


@case
def signed_zeros_of_a_complex_number() -> Any:
    box = Box(k=complex(1, 0.0))
    return lambda v: (v, math.copysign(1.0, box.k.imag)), None, (1, change(box, k=complex(1, -0.0)), 1)


@pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__)
def test_each_call_sees_the_state(make: Any) -> None:
    logs = []
    for wrapped in (False, True):
        function, state, steps = make()
        function = jit(function) if wrapped else function
        log: list[Any] = []
        for step in steps:
            if callable(step):
                step()
            else:
                log.append(plain(function(Tensor(np.float32(step)))))
            log.append(plain(state))
        logs.append(log)
    assert logs[1] == logs[0]


def test_ids_of_tensors_among_ids_of_the_outside() -> None:
    seen: set[int] = set()
    tensors = [Tensor([1.0]), Tensor([1.0])]

    @jit
    def marked(x: Any) -> Any:
        return (x + 1 if id(x) in seen else x), id(x)

    for _ in range(2):
        for x in tensors:
            value, number = marked(x)
            assert (float(value.asnumpy()[0]), number) == (1.0 + (id(x) in seen), id(x))
        seen.add(id(tensors[1]))
