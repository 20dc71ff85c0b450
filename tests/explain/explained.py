"""Programs to report on, in a file of their own: the tests know their lines."""

from __future__ import annotations

import linecache

import numpy as np

import weft
from weft import Tensor, nn, ops
from weft.capture.state.events import BreakSite
from weft.errors import Location

SCALE = 2.0


def polynomial(x: Tensor) -> Tensor:
    total = x * 0
    for power in range(3):
        if power == 1:
            continue
        total = total + x**power
    return total


def closures(x: Tensor) -> Tensor:
    def scaled(y: Tensor) -> Tensor:
        if SCALE < 0:
            return y
        return y * SCALE

    parts = [scaled(x + i) for i in range(2)]
    try:
        first, second = parts
        if second.shape[0] > 100:
            raise ValueError("too long")
    except ValueError:
        return x
    else:
        total = first - second
    while len(parts) > 1:
        parts.pop()
    return total.sum()


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(3, 2)
        self.scale = 0.5

    def construct(self, batch: dict[str, Tensor]) -> Tensor:
        hidden = self.dense(batch["x"])
        return ops.relu(hidden) * self.scale


class JittedNet(nn.Cell):
    @weft.jit
    def construct(self, x: Tensor) -> Tensor:
        return x * 2


class Model:
    def __init__(self) -> None:
        self.weight = Tensor([2.0])

    def plain(self, x: Tensor) -> Tensor:
        return x * self.weight

    @weft.jit
    def jitted(self, x: Tensor) -> Tensor:
        return x * self.weight

    @staticmethod
    @weft.jit
    def static(x: Tensor) -> Tensor:
        return x + 1


def leaves(x: Tensor) -> Tensor:
    y = x * 2
    return y * float(np.sin(y.asnumpy()).sum())  # ü: columns count bytes, <tags> & all


def fails(x: Tensor) -> Tensor:
    return x + undefined  # noqa: F821


def line_of(text: str) -> int:
    """The line of this file that a text first stands in."""
    lines = linecache.getlines(__file__)
    return next(number for number, line in enumerate(lines, 1) if text in line)


def a_break(fragment: str = "np.sin(y.asnumpy())") -> BreakSite:
    """A break at an expression of this file."""
    number = line_of(fragment)
    source = linecache.getline(__file__, number)
    column = len(source[: source.index(fragment)].encode())
    location = Location(__file__, number, column, column + len(fragment.encode()), "leaves")
    return BreakSite("unknown-call", location, "numpy.sin computes outside <the> graph", "use ops.sin:\n    ops.sin(y)")
