"""Random programs that use iterators partly: before, within and after loops with breaks and conditions on tensors."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import weft
from weft import Tensor


class Restarting:
    """Its own iterator; each `iter` begins anew."""

    def __init__(self, count: int) -> None:
        self.count, self.asked, self.position = count, 0, 0

    def __iter__(self) -> Iterator[Any]:
        self.asked += 1
        self.position = 0
        return self

    def __next__(self) -> int:
        self.position += 1
        if self.position > self.count:
            raise StopIteration
        return self.position


class Once(Restarting):
    def __iter__(self) -> Iterator[Any]:
        self.asked += 1
        return self


class Fresh(Restarting):
    def __iter__(self) -> Iterator[Any]:
        self.asked += 1
        return Restarting(self.count)


class Generating(Restarting):
    def __iter__(self) -> Iterator[Any]:
        self.asked += 1
        for k in range(self.count):
            self.position = k
            yield k + 1


class Indexed:
    def __init__(self, count: int) -> None:
        self.count, self.asked, self.position = count, 0, 0

    def __getitem__(self, index: int) -> int:
        self.asked += 1
        if index >= self.count:
            raise IndexError
        return index + 1


LOG: list[Any] = []


def total(value: Any) -> Any:
    return sum(map(total, value)) if isinstance(value, tuple) else value


def note(x: Tensor) -> None:
    """A break in a nested call."""
    LOG.append(float(x.asnumpy()[0]))


def torn(x: Tensor) -> Tensor:
    """A break that computes."""
    return Tensor(x.asnumpy())


SOURCES = [
    "d", "d2", "items", "pair", "range(n)", "iter(d)", "iter(items)", "table", "table.items()", "one", "(k for k in d)",
    "(k * 2 for k in items)", "reversed(items)", "[*d2]", "itertools.count()", "outside",
]  # fmt: skip
WRAPPED = [
    "enumerate({a})", "enumerate({a}, 2)", "zip({a}, {b})", "map(double, {a})", "filter(odd, {a})",
    "itertools.islice({a}, 1, 4)", "itertools.chain([1], {f}, items)", "itertools.takewhile(small, {a})", "iter({a})",
    "zip({a}, range(3))", "(q for q in {a})", "itertools.pairwise({a})",
]  # fmt: skip
STATEMENTS = [
    "x = x + total(v)", "x = x + total(v)", "x = x + total(v)", "note(x)", "if x.sum() > {k}: break",
    "if total(v) > {k}: break", "if x.sum() > {k}: LOG.append(1); break", "x = x + total(next({i}, 0))",
    "if total(v) == {k}: continue", "x = torn(x)", "last = total(v)",
]  # fmt: skip
SCOPE = {
    "itertools": itertools, "LOG": LOG, "note": note, "torn": torn, "total": total,
    "double": lambda v: total(v) * 2, "odd": lambda v: total(v) % 2 == 1, "small": lambda v: total(v) < 4,
}  # fmt: skip


class Writer:
    """Writes a program.

    Args:
        seed: of the random choices.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names: list[str] = []

    def source(self, depth: int) -> str:
        """Something to iterate over, nested at most so deep."""
        if depth == 0 or self.random.random() < 0.25:
            return self.random.choice(SOURCES)
        a, b = self.source(depth - 1), self.source(depth - 1)
        finite = "items" if "count" in a else a
        return self.random.choice(WRAPPED).format(a=a, b=b, f=finite)

    def bounded(self, depth: int) -> str:
        """The same, with an end."""
        found = self.source(depth)
        return f"itertools.islice({found}, 6)" if "count()" in found else found

    def loop(self, indent: int, nested: bool) -> list[str]:
        """A `for` statement."""
        space, over = "    " * indent, self.bounded(self.random.randint(0, 2))
        if self.names and self.random.random() < 0.35:
            over = self.random.choice(self.names)
        lines = [f"{space}for v in {over}:"]
        for _ in range(self.random.randint(1, 3)):
            if not nested and self.random.random() < 0.1:
                lines += self.loop(indent + 1, True)
                continue
            statement = self.random.choice(STATEMENTS)
            name = self.random.choice(self.names) if self.names else "outside"
            lines.append(f"{space}    " + statement.format(k=self.random.randint(1, 12), i=name))
        if self.random.random() < 0.25:
            lines += [f"{space}else:", f"{space}    LOG.append('else')"]
        return lines

    def program(self) -> str:
        """The source of a function `program`."""
        lines = ["def program(x, d, d2, items, pair, table, one, n, outside):", "    last = 0"]
        for number in range(self.random.randint(0, 2)):
            lines.append(f"    i{number} = iter({self.bounded(self.random.randint(0, 2))})")
            self.names.append(f"i{number}")
        for _ in range(self.random.randint(1, 3)):
            lines += self.loop(1, False)
        lines += [f"    x = x + total(next({name}, -1))" for name in self.names]
        if self.random.random() < 0.3:
            lines += [f"    first, *rest = {self.bounded(1)}", "    x = x + total(first) + len(rest)"]
        return "\n".join([*lines, "    return x, last"])


#: the data of each call
CALLS: tuple[tuple[Any, int], ...] = (
    (Restarting, 2), (Fresh, 3), (Restarting, 1), (Once, 4), (Generating, 3), (Indexed, 2), (Restarting, 0),
    (Restarting, 5),
)  # fmt: skip


def outcomes(source: str, compiler: Callable[[Any], Any]) -> list[Any]:
    scope: dict[str, Any] = dict(SCOPE)
    exec(source, scope)
    function, found = compiler(scope["program"]), []
    for kind, count in CALLS:
        LOG.clear()
        data, other, outside = kind(count), Fresh(count + 1), iter([5, 6, 7, 8])
        try:
            x, last = function(
                Tensor([1.0]), data, other, [1, 2, 3, 4][: count + 1], (1, 2), {1: 2, 3: 4}, {7}, count, outside
            )
            result: Any = (x.asnumpy().tolist(), last)
        except (ValueError, TypeError) as error:
            result = type(error), str(error)
        found.append((result, data.asked, data.position, other.asked, list(LOG), list(outside)))
    return found


@pytest.mark.parametrize("seed", range(30))
def test_random_iterator_programs(seed: int) -> None:
    source = Writer(seed).program()
    assert outcomes(source, weft.jit) == outcomes(source, lambda function: function), source


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30, 600))
def test_more_random_iterator_programs(seed: int) -> None:
    test_random_iterator_programs(seed)
