"""Numbers that differ from call to call become inputs of the graph after their second value."""

from __future__ import annotations

import functools
import heapq
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.helpers.compiled import entries
from tests.helpers.values import same
from weft import ops
from weft.core.tensor import Tensor
from weft.jit import jit
from weft.nn.cell import Cell


class Trainer:
    """A counter attribute, a schedule in floats and an int argument."""

    def __init__(self) -> None:
        self.step = 0
        self.total = Tensor(np.zeros(2, np.float32))

    def run(self, x: Any, count: int, rate: float) -> Any:
        self.step += 1
        self.total = self.total + x * rate
        return x * self.step - count + rate / (self.step + 1)


class Net(Cell):  # type: ignore[misc]
    """The counter is an attribute of a Cell."""

    def __init__(self) -> None:
        super().__init__()
        self.step = 0

    def construct(self, x: Any, count: int, rate: float) -> Any:
        self.step += 1
        return x * self.step - count * rate


@pytest.mark.parametrize("make", [lambda: Trainer().run, Net])
def test_a_thousand_steps_compile_at_most_twice(make: Callable[[], Any]) -> None:
    eager, made = make(), make()
    if isinstance(made, Cell):
        function: Any = jit(lambda *args: made(*args))
    else:
        function = jit(made)
    x = Tensor(np.array([1.0, -2.0], np.float32))
    for step in range(1000):
        arguments = (x, step, 0.1 * 0.99**step)
        found, wanted = function(*arguments), eager(*arguments)
        if step < 5 or step % 97 == 0:
            np.testing.assert_allclose(found.asnumpy(), wanted.asnumpy(), rtol=1e-6)
            assert found.dtype == wanted.dtype
    assert entries(function) <= 2
    owner = getattr(made, "__self__", made)
    assert owner.step == 1000
    assert type(owner.step) is int


def arithmetic(x: Any, n: int, r: float) -> Any:
    a = (n * 3 + 1) // 2 - (n % 4) + (n & 6) + (n << 1) - -n + abs(n - 3)
    b = r * 2.5 + r**2 - n / 4 + math.sin(r) + min(r, 0.25) + max(n, 2) + round(r, 2) + int(r * 10) + float(n)
    return x * a + b, a, b, (n, r), {"n": n + 1}, n > 2, not r


def conditions(x: Any, n: int, r: float) -> Any:
    if n % 2 == 0:
        x = x * 2
    if r > 0.3 and n > 1:
        return x - n
    return x if n else -x


def needs_values(x: Any, n: int, r: float) -> Any:
    table = {0: 1.0, 1: 2.0}
    repeated = [r] * (n % 3)
    text = f"{n}:{r:.2f}" + str(n)
    for i in range(n % 4):
        x = x + i
    return x * table.get(n, 0.5) + len(text) + sum(repeated), text, repeated, isinstance(n, int), type(r) is float


def tensor_branches(x: Any, n: int, r: float) -> Any:
    if x.sum() > 0:
        k, s = n + 1, r
    else:
        k, s = n, r * 2
    total = n
    while (x * total).sum() < 20 and total < 30:
        total = total + 1
    return x * k + s, k, s, total


def operations(x: Any, n: int, r: float) -> Any:
    y = ops.add(x, n) + ops.full((2,), r) + Tensor(n).astype(x.dtype) + ops.pow(x, 2)
    y = y + ops.where(x > r, x, n) + ops.reshape(x, (n - n + 2,)) + ops.sum(x, n - n)
    z = x * 1.0
    z[0] = r
    return y + z, Tensor(r), Tensor(n)


NUMBERS = [(0, 0.5), (1, 0.0), (2, 0.25), (3, -1.5), (7, 2.0), (7, 0.5), (0, 0.0), (1, 1.0), (2, 3.0), (12, -0.0)]


@pytest.mark.parametrize("program", [arithmetic, conditions, needs_values, tensor_branches, operations])
def test_every_value_gives_what_python_gives(program: Callable[..., Any]) -> None:
    compiled = jit(program)
    for n, r in NUMBERS:
        x = np.array([1.5, -0.5 - n], np.float32)
        found, wanted = compiled(Tensor(x), n, r), program(Tensor(x), n, r)
        same(found, wanted)


def test_pure_arithmetic_needs_two_entries() -> None:
    compiled = jit(lambda x, n, r: (x * (n * 3 + 1) - r**2, n + 1, r / 2))
    x = Tensor(np.ones(2, np.float32))
    for step in range(20):
        compiled(x, step, 1.0 + step)
    assert entries(compiled) == 2


def test_errors_are_pythons() -> None:
    def program(x: Any, n: int) -> Any:
        return x * (10 // n)

    compiled = jit(program)
    x = Tensor(np.ones(2, np.float32))
    for n in (1, 2, 3):
        same(compiled(x, n), program(x, n))
    with pytest.raises(ZeroDivisionError):
        compiled(x, 0)
    same(compiled(x, 5), program(x, 5))


def test_numbers_beyond_64_bits() -> None:
    def program(x: Any, n: int) -> Any:
        return n * 2, x + (n % 7)

    compiled = jit(program)
    x = Tensor(np.ones(2, np.float32))
    for n in (1, 2, 3, 2**70, 2**90 + 1, 5):
        same(compiled(x, n), program(x, n))


def test_a_bool_is_no_number() -> None:
    compiled = jit(lambda x, n: (x * n, n))
    x = Tensor(np.ones(2, np.float32))
    for n in (1, 2, True, 3, False):
        found = compiled(x, n)
        assert type(found[1]) is type(n)
        assert found[1] == n


def test_native_code_writes_to_the_list_itself() -> None:
    def program(x: Any, n: int) -> Any:
        heap = [n, 3, (n + 1, [n])]
        heapq.heappush(heap[:2], 0)
        items = [n, 5 - n, 2]
        items.sort()
        heapq.heapify(items)
        heapq.heappush(items, n * 2)
        return x * items[0], items, heap

    compiled = jit(program)
    x = Tensor(np.ones(2, np.float32))
    for n in (1, 2, 3, 4):
        same(compiled(x, n), program(x, n))


def test_partial_functions_made_for_each_call_need_one_graph() -> None:
    def scaled(x: Any, factor: float, *, offset: int = 0) -> Any:
        return x * factor + offset

    compiled = jit(lambda x, function: function(x))
    x = Tensor([1.0, 2.0])
    for _ in range(4):
        assert compiled(x, functools.partial(scaled, factor=2.0, offset=1)).asnumpy().tolist() == [3, 5]
    assert len(compiled.report().graphs) == 1
    for offset in (2, 3, 4):
        made = functools.partial(scaled, factor=2.0, offset=offset)
        assert compiled(x, made).asnumpy().tolist() == [2 + offset, 4 + offset]
        made.keywords["offset"] = 0
        assert compiled(x, made).asnumpy().tolist() == [2, 4]
