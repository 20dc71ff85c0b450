"""Operators with random strategies over several devices: those that fit give what one device gives, eagerly, compiled,
in graph mode and in gradients; those that do not are errors that name the operator. Arguments: first seed, how many,
devices.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

os.environ["WEFT_DEVICES"] = sys.argv[3]

import numpy as np
import pytest

import weft
from weft import Parameter, ParameterTuple, Tensor, jit, nn, ops
from weft.context import reset_auto_parallel_context, set_auto_parallel_context
from weft.nn.parallel import shard

FIRST, COUNT, DEVICES = map(int, sys.argv[1:])


class Case(NamedTuple):
    """An operator and what it is given: arrays and other arguments, letters for the dimensions of each array, and for
    those of the result where they are known."""

    make: Callable[[], Any]
    given: tuple[Any, ...]
    letters: list[str]
    result: str = ""
    #: whether dimensions with the same letter must be cut into as many parts
    shares: bool = True


Random = np.random.Generator
SIZES = (4, 6, 8, 12, 16, 24)


def array(random: Random, *shape: int) -> Any:
    return random.standard_normal(shape).astype(np.float32)


def shape_of(random: Random, least: int = 1, most: int = 4) -> tuple[int, ...]:
    return tuple(int(random.choice(SIZES[: 6 if most < 4 else 3])) for _ in range(random.integers(least, most + 1)))


def unary(random: Random) -> Case:
    name = str(random.choice(["ReLU", "Tanh", "Sigmoid", "Square", "Exp", "GeLU", "Neg", "Softmax", "LogSoftmax"]))
    shape = shape_of(random, 2 if "max" in name else 1)
    return Case(getattr(ops, name), (array(random, *shape),), ["abcd"[: len(shape)]], "abcd"[: len(shape)])


def binary(random: Random) -> Case:
    name = str(random.choice(["Add", "Mul", "Sub", "Maximum", "RealDiv", "SquaredDifference"]))
    shape = shape_of(random)
    other = tuple(1 if random.random() < 0.2 else n for n in shape)[random.integers(len(shape)) :]
    letters = "abcd"[: len(shape)]
    short = "".join("." if n == 1 else c for n, c in zip(other, letters[len(shape) - len(other) :], strict=True))
    given = (array(random, *shape), array(random, *other) + 3 if name == "RealDiv" else array(random, *other))
    return Case(getattr(ops, name), given, [letters, short], letters)


def product(random: Random) -> Case:
    left, right = bool(random.integers(2)), bool(random.integers(2))
    m, k, n = (int(random.choice(SIZES)) for _ in range(3))
    batch = shape_of(random, 1, 2) if random.random() < 0.5 else ()
    make = ops.BatchMatMul if batch else ops.MatMul
    head = "ab"[: len(batch)]
    a = array(random, *batch, *((k, m) if left else (m, k)))
    b = array(random, *batch, *((n, k) if right else (k, n)))
    letters = [head + ("km" if left else "mk"), head + ("nk" if right else "kn")]
    return Case(lambda: make(transpose_a=left, transpose_b=right), (a, b), letters, head + "mn")


def bias(random: Random) -> Case:
    n, c = shape_of(random, 2, 2)
    return Case(ops.BiasAdd, (array(random, n, c), array(random, c)), ["nc", "c"], "nc")


def convolution(random: Random) -> Case:
    n, c, o = (int(random.choice((2, 4, 8))) for _ in range(3))
    if random.random() < 0.3:
        made: Any = ops.MaxPool if random.random() < 0.7 else ops.AvgPool
        return Case(lambda: made(3, 1, "same"), (array(random, n, c, 8, 8),), ["nchw"], "nchw")
    group = 2 if random.random() < 0.3 else 1
    given = (array(random, n, c, 8, 8), array(random, o, c // group, 3, 3))
    kernel = "oc.." if group == 1 else "o..."
    return Case(lambda: ops.Conv2D(o, 3, pad_mode="same", group=group), given, ["nchw", kernel], "nohw")


def rows(random: Random) -> Case:
    v, d, i, j = (int(random.choice(SIZES)) for _ in range(4))
    ids = random.integers(0, v, (i, j)).astype(np.int32)
    return Case(ops.Gather, (array(random, v, d), ids, 0), ["vd", "ij"], "ijd")


def together(random: Random) -> Case:
    name, count = str(random.choice(["Concat", "Stack", "AddN"])), int(random.integers(2, 4))
    shape = shape_of(random, 1, 3)
    make: Any = ops.AddN if name == "AddN" else lambda: getattr(ops, name)(0)
    return Case(make, (tuple(array(random, *shape) for _ in range(count)),), ["abc"[: len(shape)]] * count)


def reduction(random: Random) -> Case:
    name = str(random.choice(["ReduceSum", "ReduceMean", "ReduceMax"]))
    shape = shape_of(random, 2, 3)
    return Case(getattr(ops, name), (array(random, *shape), int(random.integers(len(shape)))), ["abc"[: len(shape)]])


def normal(random: Random) -> Case:
    n, d = shape_of(random, 2, 2)
    given = (array(random, n, d), array(random, d), array(random, d))
    return Case(ops.LayerNorm, given, ["nd", "d", "d"])


def choice(random: Random) -> Case:
    shape = shape_of(random, 2, 3)
    letters = "abc"[: len(shape)]
    given = (random.random(shape) < 0.5, array(random, *shape), array(random, *shape))
    return Case(ops.Select, given, [letters] * 3, letters)


def permuted(random: Random) -> Case:
    shape = shape_of(random, 3, 3)
    return Case(ops.Transpose, (array(random, *shape), (2, 0, 1)), ["abc"], "cab")


def batch_norm(random: Random) -> Case:
    n, c = shape_of(random, 2, 2)
    given = (array(random, n, c), array(random, c), array(random, c), array(random, c), abs(array(random, c)))
    return Case(ops.BatchNorm, given, ["nc", "c", "c", "c", "c"])


def sort(random: Random) -> Case:
    shape = shape_of(random, 2, 2)
    return Case(lambda: ops.TopK(sorted=True), (array(random, *shape), 3), ["ab"])


def function(random: Random) -> Case:
    m, k, n = (int(random.choice(SIZES)) for _ in range(3))
    return Case(
        lambda: _Function(lambda a, b: a @ b + b.sum()), (array(random, m, k), array(random, k, n)), ["mk", "kn"], "mn",
        shares=False,
    )  # fmt: skip


class _Function:
    """A function that takes strategies as an operator does."""

    name = "shard"

    def __init__(self, fn: Callable[..., Any]) -> None:
        self.fn = fn

    def shard(self, inside: Any, outside: Any = None) -> Any:
        return shard(self.fn, inside, outside)

    def __call__(self, *args: Any) -> Any:
        return self.fn(*args)


CASES = [
    unary, binary, binary, product, product, bias, convolution, rows, together, reduction, normal, choice, permuted,
    batch_norm, sort, function,
]  # fmt: skip


def leaves(value: Any) -> list[Any]:
    if isinstance(value, np.ndarray):
        return [value]
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, tuple) else []


def divisors(count: int) -> list[int]:
    return [n for n in range(1, count + 1) if count % n == 0]


def strategy(random: Random, letters: list[str], shapes: list[tuple[int, ...]], cut: dict[str, int]) -> Any:
    """One that fits: each letter has its parts, and the parts of a tensor divide the devices."""
    sizes: dict[str, set[int]] = {}
    for named, shape in zip(letters, shapes, strict=True):
        for letter, size in zip(named, shape, strict=True):
            sizes.setdefault(letter, set()).add(size)
    for letter in random.permutation(sorted(set("".join(letters)) - set(cut) - {"."})):
        fitting = [
            n for n in divisors(DEVICES)
            if all(size % n == 0 for size in sizes[letter])
            and all(DEVICES % math.prod([n, *[cut.get(c, 1) for c in named]]) == 0 for named in letters if letter in named)
        ]  # fmt: skip
        cut[str(letter)] = int(random.choice(fitting))
    return tuple(tuple(cut.get(letter, 1) for letter in named) for named in letters)


def spoilt(random: Random, case: Case, fitting: Any, shapes: list[tuple[int, ...]]) -> Any:
    """A strategy that does not fit, made of one that does; None where there is none of the kind that is chosen."""
    found = [list(parts) for parts in fitting]
    tensor = int(random.integers(len(found)))
    kind = str(random.choice(["fewer", "more", "short", "long", "shared", "size", "devices"]))
    if kind == "fewer":
        found = found[:-1]
    elif kind == "more":
        found.append([1] * len(found[-1]))
    elif kind == "short":
        found[tensor] = found[tensor][:-1]
    elif kind == "long":
        found[tensor].append(1)
    elif kind == "shared" and case.shares:
        named = case.letters[tensor]
        for place, letter in enumerate(named):
            rest = math.prod(parts for i, parts in enumerate(found[tensor]) if i != place)
            others = [n for n in divisors(DEVICES) if n != found[tensor][place] and DEVICES % (n * rest) == 0
                      and shapes[tensor][place] % n == 0]  # fmt: skip
            if letter != "." and sum(letter in other for other in case.letters) > 1 and others:
                found[tensor][place] = int(random.choice(others))
                break
        else:
            return None
    elif kind == "size" and any(size % DEVICES for size in shapes[tensor]):
        place = next(i for i, size in enumerate(shapes[tensor]) if size % DEVICES)
        found = [[1] * len(parts) for parts in found]
        found[tensor][place] = DEVICES
    elif kind == "devices":
        place = int(random.integers(len(found[tensor])))
        found[tensor][place] = int(random.choice([5, 7, 2 * DEVICES]))
    else:
        return None
    return tuple(map(tuple, found)) if found else None


class Network(nn.Cell):
    """The operator, with some of its arguments as Parameters."""

    def __init__(self, operator: Any, given: tuple[Any, ...], kept: list[int]) -> None:
        super().__init__()
        self.operator, self.given = operator, given
        self.kept = ParameterTuple([Parameter(Tensor(leaves(given)[i]), name=f"p{i}") for i in kept])
        self.places = kept

    def construct(self, *tensors: Any) -> Any:
        rest, kept = list(tensors), list(self.kept)
        chosen = [kept.pop(0) if i in self.places else rest.pop(0) for i in range(len(rest) + len(kept))]
        return self.operator(*_filled(self.given, chosen))


def _filled(given: Any, tensors: list[Any]) -> Any:
    return tuple(
        tensors.pop(0) if isinstance(one, np.ndarray) else _filled(one, tensors) if _holds(one) else one
        for one in given
    )


def _holds(value: Any) -> bool:
    return isinstance(value, tuple) and any(isinstance(one, np.ndarray) for one in value)


def loss(network: Network) -> Callable[..., Any]:
    def compute(*tensors: Any) -> Any:
        out = network(*tensors)
        out = out[0] if isinstance(out, tuple) else out
        return (out * ops.cos(out)).sum()

    return compute


def answers(network: Network, tensors: list[Any], way: str) -> list[Any]:
    """Results and gradients."""
    floats = tuple(i for i, t in enumerate(tensors) if t.dtype == weft.float32)
    calls: list[Any] = [network]
    if floats:
        calls.append(weft.grad(loss(network), floats))
    if len(network.kept):
        calls.append(weft.grad(loss(network), None, list(network.kept)))
    found: list[Any] = []
    weft.set_context(mode=weft.GRAPH_MODE if way == "graph" else weft.PYNATIVE_MODE)
    try:
        for call in calls:
            run = jit(call) if way == "jit" else call
            for _ in range(2):
                out = run(*tensors)
            found += [one.asnumpy() for one in (out if isinstance(out, (tuple, list)) else [out])]
    finally:
        weft.set_context(mode=weft.PYNATIVE_MODE)
    return found


def main() -> None:
    fitted = refused = 0
    for seed in range(FIRST, FIRST + COUNT):
        random = np.random.default_rng(seed)
        case = CASES[seed % len(CASES)](random)
        arrays = leaves(case.given)
        shapes = [one.shape for one in arrays]
        kept = [i for i, one in enumerate(arrays) if one.dtype == np.float32 and random.random() < 0.3]
        tensors = [Tensor(one) for i, one in enumerate(arrays) if i not in kept]
        way = ("eager", "jit", "graph")[seed // len(CASES) % 3]
        set_auto_parallel_context(parallel_mode=str(random.choice(["semi_auto_parallel", "auto_parallel"])))
        cut: dict[str, int] = {}
        fitting = strategy(random, case.letters, shapes, cut)
        outside: Any = None
        if case.result and random.random() < 0.4:
            where = tuple(cut.get(letter, 1) for letter in case.result)
            outside = (where,) if DEVICES % math.prod(where) == 0 else None
        operator = case.make()
        name = operator.name
        what = f"seed {seed} {way}: {name} {fitting} {outside} of {shapes}, parameters {kept}"
        expected = answers(Network(operator, case.given, kept), tensors, "eager")
        found = answers(Network(case.make().shard(fitting, outside), case.given, kept), tensors, way)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-4 * max(1.0, abs(other).max()), err_msg=what)
        fitted += 1
        wrong = spoilt(random, case, fitting, shapes)
        if wrong is not None:
            spread = Network(case.make().shard(wrong), case.given, kept)
            with pytest.raises(ValueError, match=f"^{name}: "):
                print(f"{what}: {wrong} gives {answers(spread, tensors, way)}")
            refused += 1
        reset_auto_parallel_context()
    print(f"all agree: {fitted} fit, {refused} are refused", flush=True)


main()
