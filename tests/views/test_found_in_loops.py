"""Tensors that the body of a loop makes, writes and drops: the loop does not carry them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.helpers.programs import Case, check_case
from weft import Parameter, Tensor
from weft.capture.branching import loops
from weft.capture.branching.iterations import Iteration
from weft.jit import jit


def rows_of_an_argument(b: Any, n: Any) -> Any:
    while n > 0:
        n = n - 1
        for row in b:  # rows are tensors of their own: b does not change
            row.zero_()
    return n, b


def rows_of_a_result(b: Any, n: Any) -> Any:
    c = b * 2
    while n > 0:
        n = n - 1
        for row in c:
            row.add_(1.0)
            b = b + row
    return b, c


def rows_of_a_tensor_that_changes(b: Any, n: Any) -> Any:
    b = b * 1
    while b.sum() > 0:
        b.sub_(1.0)
        for row in b:
            row.zero_()
    return b, n


def rows_taken_one_by_one(b: Any, n: Any) -> Any:
    c = b * 1
    first = c[0]
    while n > 0:
        n = n - 1
        first = next(iter(c))
        first.add_(n)
    return c, first


def rows_of_a_copy(b: Any, n: Any) -> Any:
    acc = b[0] * 0
    while n > 0:
        n = n - 1
        for row in b.copy():
            row[0] = n
            acc = acc + row
    return acc


def a_tensor_of_a_tensor(b: Any, n: Any) -> Any:
    c = b * 1
    last = c
    while n > 0:
        n = n - 1
        last = Tensor(c)
        last.add_(n)
    return c, last, last is c


def a_tensor_of_an_argument(b: Any, n: Any) -> Any:
    last = b
    while n > 0:
        n = n - 1
        last = Tensor(b)
        last.add_(n)
    return b, last, last is b


def many_rows_until_one(b: Any, n: Any) -> Any:
    c = b.reshape(-1).expand_dims(-1) * 1
    acc = c[0]
    for row in c.repeat(5, 0):
        row.mul_(2.0)
        acc = acc + row
        if acc.sum() > n * 4:
            break
    return acc, c


PROGRAMS: list[Callable[..., Any]] = [
    rows_of_an_argument, rows_of_a_result, rows_of_a_tensor_that_changes, rows_taken_one_by_one, rows_of_a_copy,
    a_tensor_of_a_tensor, a_tensor_of_an_argument, many_rows_until_one,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_dropped_tensors(program: Callable[..., Any]) -> None:
    ones = np.ones((2, 2), np.float32)
    inputs = [
        (ones, np.float32(3)),
        (ones * 2, np.float32(2)),
        (ones, np.float32(0)),
        (np.ones((3, 2), np.float32), np.float32(2)),
        (np.ones((4, 2), np.float32), np.float32(3)),
    ]
    check_case(Case(program, inputs, False, False, False, -1))
    jit(program, fullgraph=True)(Tensor(ones), Tensor(np.float32(3)))


def test_rows_of_a_parameter() -> None:
    weight = Parameter(Tensor(np.ones((2, 2), np.float32)))

    @jit(fullgraph=True)
    def program(n: Any) -> Any:
        total = n * 0
        while n > 0:
            n = n - 1
            for row in weight:
                row.add_(n)
                total = total + row.sum()
        return total

    assert program(Tensor(3.0)).item() == 4 * 3 + 4 * 3
    assert weight.asnumpy().tolist() == [[1, 1], [1, 1]]


def test_what_always_grows_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the cause: a loop whose carried places never settle becomes a break."""
    changes, rounds = Iteration.changes, 0

    def one_more(self: Iteration, *args: Any) -> Any:
        nonlocal rounds
        rounds += 1
        return [*changes(self, *args), ("slot", 0, rounds)]

    def program(n: Any) -> Any:
        while n > 0:
            n = n - 1
        return n

    monkeypatch.setattr(Iteration, "changes", one_more)
    monkeypatch.setattr(loops.LoopState, "is_handle", lambda self, path: False)
    monkeypatch.setattr(loops.LoopState, "get", lambda self, path: 0)
    monkeypatch.setattr(loops.LoopState, "put", lambda self, *args: None)
    monkeypatch.setattr(Iteration, "get", lambda self, path: 0)
    assert jit(program)(Tensor(3.0)).item() == 0
    assert rounds >= loops._ROUND_LIMIT


@pytest.mark.parametrize("n", [24, 36, 40, 41])
def test_a_loop_reads_what_an_earlier_one_wrote(n: int) -> None:
    """Both are rolled up, the second in a later round, when the tensor that it reads rows of is another value."""

    def program(a: Any, b: Any) -> Any:
        for i in range(1, n):
            b[i] -= b[i - 1] * 0.2
            a[-1, 0] = b[i].sum()
        for i in range(n - 1):
            a[i] = b[-1] + b[i]
        return a

    ones = np.ones((n, 2), np.float32)
    wanted = program(Tensor(ones), Tensor(ones)).asnumpy()
    found = jit(program, fullgraph=True)(Tensor(ones), Tensor(ones)).asnumpy()
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
