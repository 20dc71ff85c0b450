"""Generated edits of the outside between calls: every call must see them, whatever was captured before.

A world is made twice from one seed, for the eager program and for the compiled one; the same edits are applied
to both, and all results, states and exceptions must agree.
"""

from __future__ import annotations

import random
import types
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.helpers.values import plain
from weft import nn
from weft.core.tensor import Parameter, Tensor
from weft.jit import jit

SOURCE = """
scale = 2
settings = {"gain": 1.5, "shift": 0, "on": True, "nested": {"depth": 1}}
layers = [1.0, 2, 3]
LIMIT = 3
box = Box()

def helper(v, k=2, *, extra=1):
    return v * k + extra

def read_globals(x):
    y = x * scale
    if settings["on"]:
        y = y * settings["gain"] + settings["shift"]
    return helper(y) + settings["nested"]["depth"]

def read_builtins(x):
    return x * len(layers) + abs(-2) + max(1, scale)

def read_list(x):
    for k in layers:
        x = x + k
    first, *rest = layers
    return x * first + len(rest) + layers[-1]

def read_dict(x):
    for key, value in settings.items():
        if isinstance(value, (int, float)):
            x = x + value
    return x + settings.get("bonus", 0) + ("gain" in settings)

def read_object(x):
    y = x * box.k + box.offset()
    if hasattr(box, "more"):
        y = y + box.more
    return y + box.kind + box.twice + Box.static(1) + box.child.k + (box.child is box.other)

def read_special(x):
    total = box + 2
    return x * total + len(box) + (1 if box else 0) + box[1] + box.missing_one + (3 in box)

def read_super(x):
    return x * box.inherited() + type(box).kind

def read_containers(x):
    point = box.point
    return x * point.a + point[1] + sum(box.queue) + (2 in box.tags) + len(box.tags) + box.table["a"] + min(box.row)

def write_state(x):
    box.count += 1
    box.history.append(x.sum())
    box.log["last"] = box.count
    return x * box.count + len(box.log)

def write_list(x):
    box.row.append(box.count)
    box.row[0] = box.row[-1]
    last = box.row.pop()
    return x + last + sum(box.row)

def read_cells(x):
    return net(x) * net.factor
"""
CLOSURE = """
def make(k, items):
    def inner(x):
        return x * k + sum(items)
    def edit(value):
        nonlocal k
        k = value
    return inner, edit
closed, edit_closed = make(2, layers)
"""


class Point(NamedTuple):
    a: float
    b: float


@dataclass
class Child:
    k: float = 1.0
    tags: list[int] = field(default_factory=list)


def make_classes() -> tuple[type, type]:
    """Fresh classes, since edits change them."""

    class Base:
        kind = 1

        def inherited(self) -> float:
            return 2.0

        def offset(self) -> float:
            return 0.5

    class Box(Base):
        def __init__(self) -> None:
            self.k = 2.0
            self.child = Child()
            self.other = Child()
            self.point = Point(1.0, 2.0)
            self.queue = deque([1, 2])
            self.tags = {1, 2}
            self.table = OrderedDict(a=1, b=2)
            self.row = [3, 1, 2]
            self.count = 0
            self.history: list[Any] = []
            self.log: dict[str, Any] = {}

        @property
        def twice(self) -> float:
            return self.k * 2

        @staticmethod
        def static(v: float) -> float:
            return v + 1

        def inherited(self) -> float:
            return super().inherited() * 3

        def __add__(self, other: float) -> float:
            return self.k + other

        def __len__(self) -> int:
            return len(self.row)

        def __getitem__(self, index: int) -> float:
            return self.row[index]

        def __getattr__(self, name: str) -> float:
            if name == "missing_one":
                return 7.0
            raise AttributeError(name)

        def __contains__(self, item: int) -> bool:
            return item in self.row

    return Base, Box


class Net(nn.Cell):  # type: ignore[misc]
    """A user's Cell with a sub-cell of the library and one attribute that changes."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(2, 2, weight_init="ones", bias_init="zeros")
        self.factor = 1.5
        self.scale = Parameter(Tensor(np.array([2.0, 3.0], np.float32)), name="scale")

    def construct(self, x: Any) -> Any:
        if self.training:
            x = x + 1
        return self.dense(x.reshape(1, 2)).reshape(2) * self.scale


class World:
    """A module with programs and everything that they read."""

    def __init__(self) -> None:
        self.module = types.ModuleType("world")
        self.names: dict[str, Any] = self.module.__dict__
        self.base, self.box_class = make_classes()
        self.names.update(Box=self.box_class, net=Net())
        exec(SOURCE + CLOSURE, self.names)

    @property
    def box(self) -> Any:
        return self.names["box"]


PROGRAMS = [
    "read_globals", "read_builtins", "read_list", "read_dict", "read_object", "read_special", "read_super",
    "read_containers", "write_state", "write_list", "read_cells", "closed",
]  # fmt: skip
Edit = Callable[[World, random.Random], None]
EDITS: list[Edit] = []


def edit(function: Edit) -> Edit:
    EDITS.append(function)
    return function


def number(rng: random.Random) -> float:
    return rng.choice([0, 1, 2, 3, 7, -1, 0.0, -0.0, 0.5, 1.0, 2.5, -3.25, True, False])


@edit
def a_global(world: World, rng: random.Random) -> None:
    world.names["scale"] = number(rng)


@edit
def an_item(world: World, rng: random.Random) -> None:
    world.names["settings"][rng.choice(["gain", "shift", "on"])] = number(rng)


@edit
def a_nested_item(world: World, rng: random.Random) -> None:
    world.names["settings"]["nested"]["depth"] = number(rng)


@edit
def a_new_dictionary(world: World, rng: random.Random) -> None:
    world.names["settings"] = {**world.names["settings"], "nested": {"depth": number(rng)}}


@edit
def a_key(world: World, rng: random.Random) -> None:
    if world.names["settings"].pop("bonus", None) is None:
        world.names["settings"]["bonus"] = number(rng)


@edit
def a_list_item(world: World, rng: random.Random) -> None:
    world.names["layers"][rng.randrange(3)] = number(rng)


@edit
def a_list_length(world: World, rng: random.Random) -> None:
    layers = world.names["layers"]
    layers.append(number(rng)) if len(layers) < 5 else layers.__delitem__(slice(3, None))


@edit
def a_builtin_hidden_by_a_global(world: World, rng: random.Random) -> None:
    name = rng.choice(["len", "abs", "max"])
    if world.names.pop(name, None) is None:
        value = number(rng)
        world.names[name] = lambda *args: value


@edit
def the_code_of_a_function(world: World, rng: random.Random) -> None:
    scope: dict[str, Any] = {}
    exec(f"def helper(v, k=2, *, extra=1):\n    return v * k - extra + {number(rng)!r}", scope)
    world.names["helper"].__code__ = scope["helper"].__code__


@edit
def a_default(world: World, rng: random.Random) -> None:
    world.names["helper"].__defaults__ = (number(rng),)


@edit
def a_keyword_default(world: World, rng: random.Random) -> None:
    world.names["helper"].__kwdefaults__ = {"extra": number(rng)}


@edit
def a_function(world: World, rng: random.Random) -> None:
    value = number(rng)
    world.names["helper"] = lambda v, k=value: v + k


@edit
def a_closure_variable(world: World, rng: random.Random) -> None:
    world.names["edit_closed"](number(rng))


@edit
def an_attribute(world: World, rng: random.Random) -> None:
    world.box.k = number(rng)


@edit
def an_optional_attribute(world: World, rng: random.Random) -> None:
    if "more" in world.box.__dict__:
        del world.box.more
    else:
        world.box.more = number(rng)


@edit
def a_method_hidden_by_an_attribute(world: World, rng: random.Random) -> None:
    if world.box.__dict__.pop("offset", None) is None:
        value = number(rng)
        world.box.offset = lambda: value


@edit
def a_method(world: World, rng: random.Random) -> None:
    value = number(rng)
    name = rng.choice(["offset", "inherited"])
    setattr(world.base, name, lambda self: value)


@edit
def a_class_attribute(world: World, rng: random.Random) -> None:
    rng.choice([world.base, world.box_class]).kind = number(rng)


@edit
def an_instance_attribute_over_a_class_attribute(world: World, rng: random.Random) -> None:
    world.box.kind = number(rng)


@edit
def a_property(world: World, rng: random.Random) -> None:
    value = number(rng)
    world.box_class.twice = property(lambda self: self.k + value)


@edit
def a_static_method(world: World, rng: random.Random) -> None:
    value = number(rng)
    world.box_class.static = staticmethod(lambda v: v * value)


@edit
def a_special_method(world: World, rng: random.Random) -> None:
    value = abs(int(number(rng)))
    name = rng.choice(["__add__", "__len__", "__getitem__", "__contains__", "__getattr__", "__bool__"])
    result: Any = bool(value) if name == "__bool__" else value
    setattr(world.box_class, name, lambda self, *args: result)


@edit
def another_object(world: World, rng: random.Random) -> None:
    old = world.box
    world.names["box"] = world.box_class()
    world.box.k = number(rng)
    world.box.count = old.count


@edit
def a_child(world: World, rng: random.Random) -> None:
    world.box.child = Child(number(rng))


@edit
def an_alias(world: World, rng: random.Random) -> None:
    world.box.other = world.box.child if rng.random() < 0.5 else Child()


@edit
def an_attribute_of_a_child(world: World, rng: random.Random) -> None:
    world.box.child.k = number(rng)


@edit
def other_containers(world: World, rng: random.Random) -> None:
    box, value = world.box, number(rng)
    rng.choice([
        lambda: setattr(box, "point", Point(value, 1.0)), lambda: box.queue.append(value), lambda: box.queue.popleft(),
        lambda: box.tags.symmetric_difference_update({value}), lambda: box.table.update(a=value),
        lambda: box.table.move_to_end("a"), lambda: box.row.insert(1, value), lambda: box.row.reverse(),
        lambda: box.history.clear(), lambda: box.log.clear(), lambda: box.log.update(other=value),
    ])()  # fmt: skip


@edit
def a_counter(world: World, rng: random.Random) -> None:
    world.box.count = number(rng)


@edit
def the_mode_of_a_cell(world: World, rng: random.Random) -> None:
    world.names["net"].set_train(rng.random() < 0.5)


@edit
def an_attribute_of_a_cell(world: World, rng: random.Random) -> None:
    world.names["net"].factor = number(rng)


@edit
def a_parameter(world: World, rng: random.Random) -> None:
    net = world.names["net"]
    data = Tensor(np.array([number(rng), 1.0], np.float32))
    if rng.random() < 0.5:
        net.scale.set_data(data)
    else:
        net.scale = Parameter(data, name="scale")


@edit
def a_sub_cell(world: World, rng: random.Random) -> None:
    world.names["net"].dense = nn.Dense(2, 2, weight_init=rng.choice(["ones", "zeros"]), bias_init="zeros")


def outcome(function: Callable[..., Any], world: World, x: np.ndarray[Any, Any]) -> Any:
    """The result or exception of a call, and the state that it leaves."""
    try:
        result = plain(function(Tensor(x)), 3)
    except Exception as error:
        result = (type(error).__name__, str(error))
    box = world.box
    return result, box.count, plain(box.history, 3), box.log, box.row


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_edit_is_missed(program: str) -> None:
    """42 edits for each program, 504 in all."""
    rng = random.Random(PROGRAMS.index(program))
    eager, compiled = World(), World()
    function = jit(compiled.names[program])
    x = np.array([1.0, -2.0], np.float32)
    kinds = [EDITS[number % len(EDITS)] for number in range(42)]
    rng.shuffle(kinds)
    assert outcome(function, compiled, x) == outcome(eager.names[program], eager, x)
    for count, change in enumerate(kinds):
        seed = rng.random()
        for world in (eager, compiled):
            change(world, random.Random(seed))
        wanted = outcome(eager.names[program], eager, x)
        found = outcome(function, compiled, x)
        assert repr(found) == repr(wanted), f"after edit {count}, {change.__name__}"
