"""Kept entries: found by the same program in another process, and by no other.

Each program stands here with edits of one line. It is run, then run again as another process would (all objects are
new), then with each edit: what was kept is found by the first and gives nothing old to the others.
"""

from __future__ import annotations

import pytest

from tests.cache.edited import Memory, check_edited, check_found_again, results, same
from weft.capture.keeping import described, entries

#: name -> source, the arguments of `f`, and edits as (old text, new text)
PROGRAMS: dict[str, tuple[str, str, list[tuple[str, str]]]] = {
    "globals": (
        """
SCALE = 1.5
TABLE = [1.0, 2.0]
NAMES = {"a": 3.0}
def helper(x): return x * SCALE
def other(x): return x + SCALE
alias = helper
def f(x):
    for n in TABLE: x = x + n
    return alias(x) * NAMES["a"]
""",
        "(T,)",
        [
            ("SCALE = 1.5", "SCALE = 1.25"), ("[1.0, 2.0]", "[1.0, 3.0]"), ("[1.0, 2.0]", "[1.0, 2.0, 0.5]"),
            ('"a": 3.0', '"a": 4.0'), ("alias = helper", "alias = other"), ("return x * SCALE", "return x / SCALE"),
            ("def f(x):", "def f(x):\n    x = x + 1"), ("def other", "def helper(x): return x\n\ndef other"),
        ],
    ),
    "defaults and closures": (
        """
def outer(k, m=2.0):
    def inner(x, p=1.5, *, q=0.25):
        return x * k + p * q - m
    return inner
g = outer(3.0)
def f(x, s=0.5): return g(x) * s
""",
        "(T,)",
        [
            ("outer(3.0)", "outer(4.0)"), ("m=2.0", "m=2.5"), ("p=1.5", "p=1.25"), ("q=0.25", "q=0.75"),
            ("s=0.5", "s=0.75"), ("outer(3.0)", "outer(3)"), ("outer(3.0)", "outer(3.0, 1.0)"),
        ],
    ),
    "classes": (
        """
import enum, dataclasses, collections
class Base:
    base = 1.5
    def add(self, x): return x + self.base
class Mix:
    extra = 0.25
class Thing(Base, Mix):
    def __init__(self, n): self.n = n
    @property
    def half(self): return self.n / 2
    @staticmethod
    def s(x): return x * 3
    @classmethod
    def c(cls, x): return x * cls.base
    def __mul__(self, x): return x * self.n
    def __call__(self, x): return self.c(self.s(self.add(x))) + self.half + self.extra + type(self).base
class Kind(enum.Enum):
    A = 1.0
    B = 2.0
Point = collections.namedtuple("Point", "u v")
@dataclasses.dataclass(frozen=True)
class Data:
    a: float = 1.0
    b: float = 2.0
thing, point, data = Thing(4.0), Point(0.5, 1.5), Data(b=3.0)
def f(x): return thing(x) + thing * x + Kind.B.value * point.u + data.a * data.b
""",
        "(T,)",
        [
            ("base = 1.5", "base = 1.75"), ("x + self.base", "x - self.base"), ("extra = 0.25", "extra = 0.5"),
            ("self.n / 2", "self.n / 4"), ("return x * 3", "return x * 5"), ("x * cls.base", "x + cls.base"),
            ("x * self.n", "x - self.n"), ("B = 2.0", "B = 2.5"), ("Point(0.5, 1.5)", "Point(0.75, 1.5)"),
            ('"u v"', '"v u"'), ("a: float = 1.0", "a: float = 1.5"), ("Data(b=3.0)", "Data(b=3.5)"),
            ("Thing(4.0)", "Thing(6.0)"), ("class Mix:", "class Mix:\n    base = 9.0"),
            ("class Mix:", "class Mix:\n    def __mul__(self, x): return x"),
            ("Thing(Base, Mix):", "Thing(Base, Mix):\n    base = 7.0"),
        ],
    ),
    "metaclass": (
        """
class Meta(type):
    @property
    def twice(cls): return cls.base * 2
class Base(metaclass=Meta):
    base = 1.5
thing = Base()
def f(x): return x * type(thing).twice + thing.base
""",
        "(T,)",
        [("base = 1.5", "base = 2.5"), ("cls.base * 2", "cls.base * 3")],
    ),
    "objects": (
        """
import re, functools, decimal, datetime
import numpy as np
PATTERN = re.compile("a([0-9]+)")
part = functools.partial(lambda x, y, z=1.0: x * y + z, z=0.5)
BOUNDS = np.array([0.5, 2.5])
KIND = np.dtype("float32")
when = datetime.timedelta(seconds=3)
price = decimal.Decimal("1.5")
STEPS = [lambda v: v + 1.0, lambda v: v * 2.0]
ORDER = {"x": 1.0, "y": 2.0}
WINDOW = slice(0, 2)
TEXT = "a12"
def f(x):
    for step in STEPS: x = step(x)
    for number, key in enumerate(ORDER): x = x + ORDER[key] * number
    y = part(x, float(PATTERN.match(TEXT).group(1)))
    y = y * float(BOUNDS[0]) + when.seconds + float(price)
    return (y[WINDOW] + KIND.itemsize).sum()
""",
        "(T,)",
        [
            ("a([0-9]+)", "a([0-9])"), ("z=0.5)", "z=0.75)"), ("x * y + z", "x * y - z"), ("[0.5, 2.5]", "[0.75, 2.5]"),
            ('dtype("float32")', 'dtype("float64")'), ("seconds=3", "seconds=4"), ('"1.5"', '"1.75"'),
            ("v + 1.0, lambda", "v + 1.5, lambda"), ('"x": 1.0, "y": 2.0', '"y": 2.0, "x": 1.0'),
            ("slice(0, 2)", "slice(0, 1)"), ('TEXT = "a12"', 'TEXT = "a13"'), ("v * 2.0]", "v * 2.0, abs]"),
        ],
    ),
    "cells": (
        """
from weft import nn, ops, Parameter, Tensor, set_seed
import numpy as np
def ones(*shape): return Tensor(np.ones(shape, np.float32))
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 3, weight_init="ones", bias_init="ones", has_bias=True, activation="relu")
        self.norm = nn.BatchNorm1d(3, momentum=0.75, eps=0.001)
        self.drop = nn.Dropout(p=0.5)
        self.body = nn.SequentialCell(nn.Dense(3, 3, weight_init="ones"), nn.Tanh())
        self.more = nn.CellList([nn.Dense(3, 3, weight_init="ones") for _ in range(2)])
        self.last = self.more[1]
        self.shift = Parameter(ones(3), name="shift", requires_grad=True)
        self.k = 2.0
    def construct(self, x):
        y = self.drop(self.norm(self.dense(x))) + self.body(x)
        for cell in self.more: y = cell(y) * 0.25
        return self.last(y) * self.k + self.shift
net = Net()
net.set_train(False)
def f(x): return net(x)
""",
        "(M,)",
        [
            ('bias_init="ones"', 'bias_init="zeros"'), ('activation="relu"', 'activation="sigmoid"'),
            ("has_bias=True", "has_bias=False"), ("eps=0.001", "eps=0.5"), ("nn.Tanh()", "nn.Sigmoid()"),
            ("range(2)", "range(3)"), ("self.more[1]", "self.more[0]"), ("self.k = 2.0", "self.k = 2.5"),
            ("self.more[1]", 'nn.Dense(3, 3, weight_init="zeros")'),
            ("set_train(False)", "set_train(True); set_seed(3)"),
            ("nn.Dropout(p=0.5)", "nn.Dropout(p=0.25)"), ('nn.Tanh())', 'nn.Tanh(), nn.ReLU())'),
        ],
    ),
    "training": (
        """
from weft import nn, ops, Parameter, Tensor, value_and_grad
import numpy as np
def ones(*shape): return Tensor(np.ones(shape, np.float32))
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(ones(3), name="w")
        self.v = Parameter(ones(3), name="v")
    def construct(self, x): return (x * self.w - self.v) ** 2
net = Net()
net.v.requires_grad = True
optimizer = nn.Momentum(net.trainable_params(), 0.5, 0.75, weight_decay=0.25, loss_scale=2.0)
gradient = value_and_grad(lambda x: net(x).mean(), None, optimizer.parameters)
def f(x):
    loss, grads = gradient(x)
    optimizer(grads)
    return loss, net.w * 1, net.v * 1
""",
        "(M,)",
        [
            ("params(), 0.5", "params(), 0.25"), ("0.75, weight", "0.5, weight"), ("weight_decay=0.25", "weight_decay=0.5"),
            ("loss_scale=2.0", "loss_scale=4.0"), ("requires_grad = True", "requires_grad = False"),
            ("nn.Momentum(net.trainable_params(), 0.5, 0.75,", "nn.SGD(net.trainable_params(), 0.5,"),
            ("** 2", "** 4"), ('self.v = Parameter(ones(3), name="v")', "self.v = self.w"), (".mean()", ".sum()"),
        ],
    ),
    "branches": (
        """
from weft import ops
LIMIT = 2.0
def f(x, n=3):
    total = 0
    while x.sum() < LIMIT:
        x = x + 0.5
        total = total + 1
    if x.max() > 1:
        y = ops.sqrt(x)
    else:
        y = x * n
    for i in range(n):
        y = y + i
    return y, total
""",
        "(T,)",
        [
            ("LIMIT = 2.0", "LIMIT = 9.0"), ("x + 0.5", "x + 0.75"), ("> 1:", "> 100:"), ("x * n", "x - n"),
            ("n=3", "n=4"), ("total + 1", "total + 2"), ("ops.sqrt", "ops.exp"),
        ],
    ),
    "large": (
        """
from weft import ops
FACTOR = 0.1
def f(x):
    for i in range(120):
        y = ops.tanh(x * 1.5)
        z = ops.exp(y) - ops.sin(x) * FACTOR + ops.cos(y)
        z = z / (1 + ops.abs(z))
        x = z * x + ops.sigmoid(z - y)
    return x
""",
        "(T,)",
        [("FACTOR = 0.1", "FACTOR = 0.3"), ("range(120)", "range(121)")],
    ),
    "errors": (
        """
LIMIT = 1.0
class Wrong(ValueError): pass
def check(n):
    if n > LIMIT: raise Wrong(f"{n} is more than {LIMIT}")
def f(x):
    try: check(x.ndim + 1)
    except Wrong as error: return x + len(str(error))
    return x
""",
        "(T,)",
        [("LIMIT = 1.0", "LIMIT = 1.25"), ("(ValueError)", "(KeyError)"), ("is more than", "exceeds"), ("+ 1)", "- 1)")],
    ),
}  # fmt: skip
EDITS = [(name, number) for name, (_, _, edits) in PROGRAMS.items() for number in range(len(edits))]


def test_edits_are_edits() -> None:
    for name, number in EDITS:
        source, _, edits = PROGRAMS[name]
        assert edits[number][0] in source, edits[number]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_program_finds_its_entries(name: str, memory: Memory) -> None:
    source, arguments, _ = PROGRAMS[name]
    check_found_again(source, arguments)


@pytest.mark.parametrize(("name", "number"), EDITS)
def test_an_edited_program_gets_nothing_old(name: str, number: int, memory: Memory) -> None:
    source, arguments, edits = PROGRAMS[name]
    check_edited(source, arguments, edits[number])


#: programs that use what must be found in another way: source, arguments
FOUND: dict[str, tuple[str, str]] = {
    "schedule": (
        """
from weft import nn, value_and_grad
class Decay(nn.learning_rate_schedule.LearningRateSchedule):
    def __init__(self, rate):
        super().__init__()
        self.rate = rate
    def construct(self, step): return self.rate / (step + 1)
net = nn.Dense(3, 1, weight_init="ones")
optimizer = nn.SGD(net.trainable_params(), Decay(0.5))
gradient = value_and_grad(lambda x: net(x).sum(), None, optimizer.parameters)
def f(x):
    loss, gradients = gradient(x)
    optimizer(gradients)
    return loss
""",
        "(M,)",
    ),
    "seed": (
        """
from weft import nn, set_seed
set_seed(1)
net = nn.SequentialCell(nn.Dense(3, 3, weight_init="ones"), nn.Dropout(p=0.5))
net.set_train()
def f(x): return net(x)
""",
        "(M,)",
    ),
    "membership": ('SKIP = {"bias", "beta"}\ndef f(x): return x * 2 if "bias" in SKIP else x\n', "(T,)"),
    "partial": ("import functools\ndef scale(x, k): return x * k\nf = functools.partial(scale, k=3)\n", "(T,)"),
    "lazy_inline": (
        """
from weft import nn, lazy_inline
class Config:
    width = 3
class Block(nn.Cell):
    @lazy_inline
    def __init__(self, config):
        super().__init__()
        self.dense = nn.Dense(config.width, config.width, weight_init="ones")
    def construct(self, x): return self.dense(x) + x
net = nn.SequentialCell(Block(Config()), Block(Config()))
def f(x): return net(x)
""",
        "(M,)",
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_is_found_by_the_same_program(name: str, memory: Memory) -> None:
    expected, _ = results(*FOUND[name], compiled=False)
    same(results(*FOUND[name], compiled=True)[0], expected)
    again, found = results(*FOUND[name], compiled=True)
    same(again, expected)
    assert found > 0


def test_what_was_used_recently_is_kept_at_the_limit(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit the least recently used graph goes; a program that is run again now and then keeps its own."""
    monkeypatch.setattr(entries, "_LIMIT", 8)
    monkeypatch.setattr(entries, "_RECENT", 4)

    def found(number: int) -> int:
        return results(f"K = {number}.0\ndef f(x): return x * K\n", "(T,)", compiled=True)[1]

    assert found(0) == found(1) == 0
    for number in range(2, 30):
        assert found(number) == 0
        if number % 3 == 0:
            assert found(0) == 1
    assert found(0) == found(29) == found(25) == 1
    assert found(1) == found(5) == 0


def test_edits_that_are_taken_back_find_their_graphs(memory: Memory) -> None:
    def found(number: int) -> int:
        return results(f"K = {number}.0\ndef f(x): return x * K\n", "(T,)", compiled=True)[1]

    for number in range(40):
        assert found(number) == 0
    assert all(found(number) == 1 for number in range(40))


def test_the_reason_says_what_is_compared_and_what_to_do() -> None:
    class Home(dict[str, float]):
        pass

    with pytest.raises(described.Undescribed) as caught:
        described.Descriptions().of(Home(k=1.0), whole=True)
    for part in (__name__, "Home", "another process could not compare", "make it in the compiled function"):
        assert part in str(caught.value)
