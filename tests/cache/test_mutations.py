"""A program is edited again and again, in functions that a compiled one reaches: no process gets what an edit changed.

The edits are small (a number, an operator, a function), so that most of what is compiled stays the same. Results are
compared with those of eager code without the cache.
"""

from __future__ import annotations

import ast
import random
from pathlib import Path
from typing import Any, Final

import pytest

from tests.helpers.processes import python

PROGRAM: Final = """
import dataclasses
import enum
import functools
import re
import numpy as np
import weft
from weft import Tensor, nn, ops

SCALE = 1.5
TABLE = [0.5, 2.0, 3.0]
WEIGHTS = {"a": 1.25, "b": 0.75}


def helper(x, power=2, *, shift=0.25):
    return ops.sin(x) * power + shift


def nested(x):
    def inner(y):
        return ops.cos(y) - SCALE
    return inner(x) + inner(x * 2)


class Kind(enum.Enum):
    SLOW = 0.5
    FAST = 2.5


class Base:
    offset = 0.375

    def shifted(self, x):
        return x + self.offset * Kind.FAST.value


@dataclasses.dataclass(frozen=True)
class Settings:
    gain: float = 1.75
    name: str = "step-12"

    @functools.cached_property
    def number(self):
        return float(PATTERN.search(self.name).group(1)) * 0.25


PATTERN = re.compile("([0-9]+)")
SETTINGS = Settings(gain=0.625)
BOUNDS = np.array([-2.0, 1.5])
BLEND = functools.partial(lambda a, b, share: a * share + b * (1.0 - share), share=0.25)


class Layer(Base, nn.Cell):
    rate = 0.125

    def __init__(self):
        super().__init__()
        nn.Cell.__init__(self)
        self.weight = weft.Parameter(Tensor(np.full((3, 3), 0.5, np.float32)), name="weight")
        self.dense = nn.Dense(3, 3, weight_init="ones", has_bias=True, activation="relu")
        self.norm = nn.LayerNorm((3,), epsilon=0.001)
        self.drop = nn.Dropout(p=0.5)
        self.body = nn.SequentialCell(nn.Dense(3, 4, weight_init="ones"), nn.Tanh(), nn.Dense(4, 3, weight_init="ones"))
        self.tied = self.dense if 1.0 > 0.5 else nn.Dense(3, 3, weight_init="ones", activation="relu")

    @property
    def doubled(self):
        return self.rate * 2

    def construct(self, x):
        y = self.norm(self.dense(x)) + self.tied(x) * 0.5 + self.body(x)
        return self.shifted(ops.matmul(x, self.weight) * self.doubled + x.sum(1, keepdims=True)) + y


LAYER = Layer()
STEPS = [lambda v: v + 1.0, lambda v: v * 3.0]


def program(x):
    y = helper(x) + helper(x, 3, shift=0.5)
    for step in STEPS:
        y = step(y)
    for number in TABLE:
        y = y + ops.tanh(x * number)
    if y.sum() > 4.0:
        y = nested(y)
    else:
        y = nested(y) * WEIGHTS["a"] - WEIGHTS["b"]
    total = sum(n * 0.5 for n in range(4))
    y = BLEND(y, ops.clip_by_value(y, float(BOUNDS[0]), float(BOUNDS[1]))) * SETTINGS.gain + SETTINGS.number
    return LAYER(y).mean(0) * total


def gradient(x):
    return weft.grad(lambda v: program(v).sum())(x)


class Scorer(Base):
    def __init__(self, gain):
        self.gain, self.layers, self.last = gain, [nn.Dense(3, 3, weight_init="ones", activation="relu")], LAYER.dense
        self.mapped = weft.vmap(self.one)
        self.slopes = weft.grad(lambda v: self.one(v).sum(), None, tuple(self.last.trainable_params()))

    def one(self, v):
        for layer in self.layers:
            v = layer(v.reshape(1, 3))[0] * self.gain - 0.5
        return ops.tanh(self.last(v.reshape(1, 3)) * 0.125)[0] + self.shifted(v)

    def score(self, x):
        return self.mapped(x) * self.slopes(x[0])[0].sum() + weft.vmap(lambda v: ops.cos(v) * 1.75)(x)


scored = Scorer(0.625).score
"""
#: runs programs from files and prints where compiled code and eager code without the cache differ
RUN: Final = """
import sys
import types
import numpy as np
import weft
from weft import Tensor, jit
from weft.capture.keeping.entries import KeptEntries

found = [0, 0]
find = KeptEntries.find
KeptEntries.find = lambda self, *args: noted(find(self, *args))

def outcome(function, x):
    try:
        return function(x).asnumpy()
    except Exception as error:
        return f"{type(error).__name__}: {error}"

def noted(entry):
    found[entry is not None] += 1
    return entry

for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        source = file.read()
    module = sys.modules["edited"] = types.ModuleType("edited")
    space = module.__dict__
    try:
        exec(compile(source, "program.py", "exec"), space)  # all are edits of one file
    except ValueError:  # a layer refuses its arguments
        continue
    for name in ("program", "gradient", "scored"):
        for scale in (0.25, 2.0):
            x = Tensor(np.linspace(-scale, scale, 6, dtype=np.float32).reshape(2, 3))
            weft.set_context(enable_compile_cache=False)
            expected = outcome(space[name], x)
            weft.set_context(enable_compile_cache=True)
            given = outcome(jit(space[name]), x)
            if type(expected) is str or type(given) is str:
                same = type(expected) is type(given) and expected == given
            else:
                largest = np.abs(expected).max()
                same = np.allclose(given, expected, rtol=1e-4, atol=1e-5 * largest, equal_nan=True)
            if not same:
                print(path, name, scale, given, expected)
print(found[1])
"""
OPERATORS: Final = (ast.Add, ast.Sub, ast.Mult)
FUNCTIONS: Final = ("sin", "cos", "tanh", "Tanh")
#: constants that are no numbers -> what they become
CHANGED: Final[dict[Any, Any]] = {
    "relu": "tanh", True: False, "step-12": "step-7", "([0-9]+)": "([0-9])", "ones": "zeros",
}  # fmt: skip


def edited(source: str, seed: int) -> str:
    """The source with one to three small edits."""
    rng = random.Random(seed)
    tree = ast.parse(source)
    body = [node for statement in tree.body[7:] for node in ast.walk(statement)]
    places = [
        node
        for node in body
        if (isinstance(node, ast.Constant) and type(node.value) is float)
        or (isinstance(node, ast.BinOp) and isinstance(node.op, OPERATORS))
        or (isinstance(node, ast.Attribute) and node.attr in FUNCTIONS)
        or (isinstance(node, ast.Constant) and type(node.value) in (str, bool) and node.value in CHANGED)
    ]
    for node in rng.sample(places, rng.randint(1, 3)):
        if isinstance(node, ast.Constant) and node.value in CHANGED:
            node.value = CHANGED[node.value]
        elif isinstance(node, ast.Constant):
            node.value = rng.choice([0.1, 0.3, 1.1, 2.2, node.value + 1])
        elif isinstance(node, ast.BinOp):
            node.op = rng.choice([kind for kind in OPERATORS if not isinstance(node.op, kind)])()
        elif isinstance(node, ast.Attribute):
            node.attr = (
                rng.choice([name for name in FUNCTIONS[:3] if name != node.attr]) if node.attr != "Tanh" else "Sigmoid"
            )
    return ast.unparse(tree)


@pytest.mark.parametrize(("edits", "processes"), [(6, 2), pytest.param(200, 10, marks=pytest.mark.slow)])
def test_edits_of_what_a_compiled_function_reaches(tmp_path: Path, edits: int, processes: int) -> None:
    files = []
    for seed in range(edits):
        files.append(tmp_path / f"edit{seed}.py")
        files[-1].write_text(edited(PROGRAM, seed), encoding="utf-8")
    folder = {"MS_COMPILER_CACHE_ENABLE": "1", "MS_COMPILER_CACHE_PATH": str(tmp_path / "cache")}
    for number in range(processes):
        mine = files[number::processes]
        done = python("-c", RUN, *map(str, mine), **folder)
        assert (done.returncode, done.stderr) == (0, "")
        assert int(done.stdout) > 0  # by the second of two calls each; nothing else is printed
    done = python("-c", RUN, *map(str, files[-2:]), **folder)  # what was kept is found by its own program
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) > 0
