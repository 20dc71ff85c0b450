"""`for` loops over a range that a tensor decides to leave: loops of the graph, or unrolled where they cannot be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import Tensor, ops


def breaks(x: Any) -> Any:
    for i in range(200):
        x = x + i
        if x.sum() > 50:
            break
    return x


def breaks_or_ends(x: Any) -> Any:
    for i in range(3, 90, 2):
        x = x * 1.5
        if x.sum() > 50 * i:
            break
    else:
        x = x - 1
    return x, i


def returns(x: Any) -> Any:
    for i in range(100):
        x = x + 0.5
        if x.sum() > 20:
            return x * i
    return x


def raises(x: Any) -> Any:
    for i in range(100):
        x = x + 0.5
        if x.sum() > 30:
            raise ValueError("too much")
        if x.sum() > 20 + i:
            break
    return x


def keeps_a_list(x: Any) -> Any:
    seen = []
    for _ in range(12):
        x = x + 1
        seen.append(x.sum())
        if x.sum() > 20:
            break
    return ops.stack(seen).sum() + len(seen)


def indexes_a_list(x: Any) -> Any:
    weights = [0.5 * k for k in range(12)]
    for i in range(12):
        x = x + weights[i]
        if x.sum() > 20:
            break
    return x


def shares_its_iterator(x: Any) -> Any:
    numbers = iter(range(40))
    for i in numbers:
        x = x + i
        if x.sum() > 20:
            break
    return x + next(numbers)


def nested(x: Any) -> Any:
    for _ in range(10):
        for j in range(20):
            x = x + 0.25
            if x.sum() > 10 + j:
                break
        x = x * 0.5
    return x


def continues_and_breaks(x: Any) -> Any:
    total = x * 0
    for i in range(60):
        x = x + 0.25
        if x.sum() < 5:
            continue
        total = total + x * i
        if total.sum() > 500:
            break
    return total


def uses_the_number_afterwards(x: Any) -> Any:
    i = 0
    for i in range(50):  # noqa: B007
        x = x + 0.25
        if x.sum() > 10:
            break
    return x * i


PROGRAMS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        breaks, breaks_or_ends, returns, raises, keeps_a_list, indexes_a_list, shares_its_iterator, nested,
        continues_and_breaks, uses_the_number_afterwards,
    )
}  # fmt: skip


def outcome(function: Callable[..., Any], x: Tensor) -> Any:
    try:
        found = function(x)
    except ValueError as error:
        return str(error)
    if isinstance(found, tuple):
        return [float(part.asnumpy().sum()) if isinstance(part, Tensor) else part for part in found]
    return found.asnumpy().tolist()


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_eager_code(name: str) -> None:
    function = PROGRAMS[name]
    compiled = weft.jit(function)
    for start in (-20.0, -3.0, 0.0, 0.5, 3.0, 40.0, -20.0):
        x = Tensor(np.array([start, start + 0.25, 1.0], np.float32))
        found, wanted = outcome(compiled, x), outcome(function, x)
        assert found == (wanted if isinstance(wanted, str) else pytest.approx(wanted, rel=1e-5))


@pytest.mark.parametrize("name", ["breaks", "returns", "nested", "continues_and_breaks"])
def test_gradients(name: str) -> None:
    function = PROGRAMS[name]
    gradient = weft.grad(lambda x: (function(x) * x).sum())
    compiled = weft.jit(lambda x: gradient(x))
    run = weft.jit(function)
    outside = weft.grad(lambda x: (run(x) * x).sum())
    for start in (-3.0, 0.5, 3.0, 40.0):
        x = Tensor(np.array([start, start + 0.25, 1.0], np.float32))
        for found in (compiled(x), outside(x)):
            np.testing.assert_allclose(found.asnumpy(), gradient(x).asnumpy(), rtol=1e-4)


def test_one_loop_node_however_many_iterations() -> None:
    report = weft.explain(weft.jit(breaks))(Tensor([1.0]))
    (graph,) = report.graphs
    assert graph.operations["While"] == 1
    assert sum(graph.operations.values()) < 40
