"""Whether arguments share elements is asked in each call, under every policy; threads write to views of one base."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weft import Tensor, jit

POLICIES: dict[str, Callable[..., Any]] = {
    "auto": jit,
    "PIJit": lambda f: jit(f, mode="PIJit"),
    "PSJit": lambda f: jit(f, mode="PSJit"),
    "ast": lambda f: jit(f, capture_mode="ast"),
    "compile_once": lambda f: jit(f, compile_once=True),
}
PAIRS: dict[str, Callable[[Any], Any]] = {
    "apart": lambda x: Tensor([0.0, 0.0]),
    "row": lambda x: x[0],
    "other row": lambda x: x[1],
    "column": lambda x: x.T[1],
    "same elements": lambda x: x[:][0],
}
ORDERS = [
    ("apart", "row"),
    ("row", "apart", "row"),
    ("row", "other row", "column"),
    ("apart", "same elements", "apart"),
]


def _fill(a: Any, b: Any) -> Any:
    b.fill_(9.0)
    return a * 1


def _write_both(a: Any, b: Any) -> Any:
    b.add_(1.0)
    a[0, 0] = 100.0
    return b * 1


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("program", [_fill, _write_both])
@pytest.mark.parametrize("form", ["arguments", "list", "dict"])
@pytest.mark.parametrize("order", ORDERS, ids=" ".join)
def test_later_calls_share_otherwise(policy: str, program: Any, form: str, order: tuple[str, ...]) -> None:
    def call(a: Any, b: Any) -> Any:
        return program(a, b)

    def of_list(both: Any) -> Any:
        return program(both[0], both[1])

    def of_dict(both: Any) -> Any:
        return program(both["a"], both["b"])

    def results(decorate: Callable[[Any], Any]) -> list[Any]:
        run = decorate({"arguments": call, "list": of_list, "dict": of_dict}[form])
        found = []
        for which in order:
            x = Tensor([[1.0, 2.0], [3.0, 4.0]])
            other = PAIRS[which](x)
            given: Any = {"arguments": (x, other), "list": ([x, other],), "dict": ({"a": x, "b": other},)}[form]
            found.append((run(*given).asnumpy().tolist(), x.asnumpy().tolist(), other.asnumpy().tolist()))
        return found

    assert results(POLICIES[policy]) == results(lambda f: f)


@pytest.mark.parametrize("decorate", [lambda f: f, jit], ids=["eager", "jit"])
def test_threads_write_to_rows_of_one_tensor(decorate: Any) -> None:
    @decorate  # type: ignore[untyped-decorator]
    def add(v: Any) -> Any:
        return v.add_(1.0)

    x = Tensor(np.zeros((4, 8), np.float32))
    rows = [x[i] for i in range(4)]
    add(Tensor(np.zeros(8, np.float32)))

    def work(row: Any) -> None:
        for _ in range(20):
            add(row)

    threads = [threading.Thread(target=work, args=(row,)) for row in rows]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert x.asnumpy().tolist() == np.full((4, 8), 20.0).tolist()
    assert [row.asnumpy().tolist() for row in rows] == x.asnumpy().tolist()


def test_attributes_of_arguments_stay_constants_of_their_policy() -> None:
    class Net:
        value = 5

        @jit(mode="PSJit")
        def run(self, x: Any) -> Any:
            return x + self.value

    net = Net()
    assert net.run(Tensor([1.0])).asnumpy().tolist() == [6.0]
    net.value = 1
    assert net.run(Tensor([1.0])).asnumpy().tolist() == [6.0]
