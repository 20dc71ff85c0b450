"""Operations of which the operands and results are cut at random, evenly and unevenly, along the dimensions in which they
move elements too: values and gradients are those of one device, compiled, eagerly and in graph mode. Arguments: names of
operations with seeds, ``topk:3``, or a first seed and how many for all of them.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Callable
from typing import Any

os.environ["WEFT_DEVICES"] = "8"

import numpy as np

import weft
from weft import Tensor, jit, ops
from weft.parallel.layout import Layout, reshard

Random = np.random.Generator
#: a function of tensors, and what it is given
Case = tuple[Callable[..., Any], tuple[Any, ...]]
GRIDS = [Layout((8,), ("a",)), Layout((4, 2), ("a", "b")), Layout((2, 2, 2), ("a", "b", "c"))]
PARTS = [{"a": 8}, {"a": 4, "b": 2}, {"a": 2, "b": 2, "c": 2}]


def array(random: Random, *shape: int) -> Any:
    return random.standard_normal(shape).astype(np.float32)


def size(random: Random) -> int:
    return int(random.choice([2, 2, 3, 4, 5, 6, 8, 12]))


def sizes(random: Random) -> tuple[int, int]:
    return size(random), size(random)


def places(random: Random, count: int, *shape: int) -> Any:
    return random.integers(0, count, shape).astype(np.int32)


def found(random: Random) -> Case:
    n, m = sizes(random)
    taken = int(random.integers(1, m + 1))
    return lambda x, i: x[:, i[0] : i[0] + taken], (array(random, n, m, 3), places(random, m - taken + 1, 1))


def written(random: Random) -> Case:
    n, m = sizes(random)
    taken = int(random.integers(1, m + 1))

    def write(x: Any, u: Any, i: Any) -> Any:
        y = x * 1
        y[:, i[0] : i[0] + taken] = u
        return y

    return write, (array(random, n, m, 4), array(random, n, taken, 4), places(random, m - taken + 1, 1))


def stepped(random: Random) -> Case:
    n, m = sizes(random)
    start, step = int(random.integers(0, n)), int(random.integers(1, 4))
    return lambda x: x[start::step, ::-1], (array(random, n, m),)


def padded(random: Random) -> Case:
    widths = tuple(int(n) for n in random.integers(0, 4, 4))
    return lambda x: ops.pad(x, widths), (array(random, *sizes(random)),)


def joined(random: Random) -> Case:
    n, m = sizes(random)
    axis = int(random.integers(2))
    other = (size(random), m) if axis == 0 else (n, size(random))
    return lambda x, y: ops.concat((x, y), axis), (array(random, n, m), array(random, *other))


def turned(random: Random) -> Case:
    return lambda x: ops.roll(ops.flip(x, (0,)), 3, 1), (array(random, *sizes(random)),)


def fourier(random: Random) -> Case:
    axis = int(random.integers(2))
    return lambda x: ops.abs(ops.fft(x, dim=axis)), (array(random, *sizes(random)),)


def largest(random: Random) -> Case:
    n, m = sizes(random)
    count = int(random.integers(1, m + 1))
    return lambda x: ops.topk(x, count)[0], (array(random, n, m),)


def ordered(random: Random) -> Case:
    axis = int(random.integers(2))
    return lambda x: ops.sort(x, axis=axis)[0], (array(random, *sizes(random)),)


def summed(random: Random) -> Case:
    axis = int(random.integers(2))
    return lambda x: ops.cumsum(x, axis), (array(random, *sizes(random)),)


def pooled(random: Random) -> Case:
    n, m = sizes(random)
    window = int(random.integers(2, 4))
    return lambda x: ops.max_pool2d(x, window, 1), (array(random, 2, 3, n + 1, m + 1),)


def averaged(random: Random) -> Case:
    n, m = sizes(random)
    window = int(random.integers(2, 4))
    return lambda x: ops.avg_pool2d(x, window, 1), (array(random, 2, 3, n + 1, m + 1),)


def rows_updated(kind: str) -> Callable[[Random], Case]:
    def make(random: Random) -> Case:
        n, m = sizes(random)
        rows = random.permutation(n)[: int(random.integers(1, n + 1))].astype(np.int32)
        update = getattr(ops, f"TensorScatter{kind}")()
        return lambda x, i, u: update(x, i, u), (array(random, n, m), rows[:, None], array(random, len(rows), m))

    return make


def along(random: Random) -> Case:
    n, m = sizes(random)
    axis = int(random.integers(2))
    shape = (size(random), m) if axis == 0 else (n, size(random))
    return lambda x, i: ops.gather_elements(x, axis, i), (array(random, n, m), places(random, (n, m)[axis], *shape))


def looked_up(random: Random) -> Case:
    n, m = sizes(random)
    return lambda x, i: ops.gather(x, i, 0), (array(random, n, m), places(random, n, *sizes(random)))


def triangle(random: Random) -> Case:
    n = size(random)
    return lambda x: ops.cholesky(ops.matmul(x, x.T) + 5 * ops.eye(n)), (array(random, n, n),)


CASES: dict[str, Callable[[Random], Case]] = {
    "found": found, "written": written, "stepped": stepped, "padded": padded, "joined": joined, "turned": turned,
    "fourier": fourier, "largest": largest, "ordered": ordered, "summed": summed, "pooled": pooled,
    "averaged": averaged, "set": rows_updated("Update"), "added": rows_updated("Add"), "max": rows_updated("Max"),
    "multiplied": rows_updated("Mul"), "along": along, "looked_up": looked_up, "triangle": triangle,
}  # fmt: skip


def laid(random: Random, shape: tuple[int, ...], chosen: int) -> Callable[[Any], Any]:
    """A tensor cut at random; one that cannot be cut so evenly is a slice of a larger one that is."""
    axes = list(random.permutation(sorted(PARTS[chosen])))
    taken: list[Any] = [axes.pop() if axes and n > 1 and random.random() < 0.85 else "None" for n in shape]
    more = [-n % PARTS[chosen].get(axis, 1) for n, axis in zip(shape, taken, strict=True)]
    layout = GRIDS[chosen](*map(str, taken))

    def lay(tensor: Any) -> Any:
        if not any(more):
            return reshard(tensor, layout)
        widths = [n for pair in ((0, n) for n in reversed(more)) for n in pair]
        return reshard(ops.pad(tensor, widths), layout)[tuple(slice(n) for n in shape)]

    return lay if shape else lambda tensor: tensor


def check(name: str, seed: int) -> None:
    random = np.random.default_rng([zlib.crc32(name.encode()), seed])
    function, arrays = CASES[name](random)
    tensors = [Tensor(one) for one in arrays]
    out = function(*tensors)
    chosen = int(random.integers(len(GRIDS)))
    inside = [laid(random, one.shape, chosen) for one in arrays]
    outside = laid(random, out.shape, chosen) if random.random() < 0.7 else lambda tensor: tensor
    weights = Tensor(array(random, *out.shape))
    floats = tuple(i for i, one in enumerate(arrays) if one.dtype == np.float32)

    def spread(*given: Any) -> Any:
        return outside(function(*[lay(one) for lay, one in zip(inside, given, strict=True)]))

    def all_of(call: Callable[..., Any]) -> Callable[..., Any]:
        gradient = weft.grad(lambda *given: (call(*given) * weights).sum(), floats)
        return lambda *given: (call(*given), gradient(*given))

    def answers(call: Callable[..., Any]) -> list[Any]:
        value, gradients = call(*tensors)
        return [one.asnumpy() for one in (value, *(gradients if isinstance(gradients, tuple) else (gradients,)))]

    expected = answers(jit(all_of(function)))
    for way in dict.fromkeys(["jit", str(random.choice(["eager", "jit", "graph"]))]):
        if way == "graph":
            weft.set_context(mode=weft.GRAPH_MODE)
        try:
            got = answers(all_of(spread) if way == "eager" else jit(all_of(spread)))
        finally:
            weft.set_context(mode=weft.PYNATIVE_MODE)
        for one, other in zip(got, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4, err_msg=f"{name}:{seed} {way}")


def main() -> None:
    if ":" in sys.argv[1]:
        chosen = [(name, int(seed)) for name, _, seed in (one.partition(":") for one in sys.argv[1:])]
    else:
        first, count = map(int, sys.argv[1:])
        chosen = [(name, seed) for seed in range(first, first + count) for name in CASES]
    for name, seed in chosen:
        check(name, seed)
    print(f"all agree: {len(chosen)}", flush=True)


main()
