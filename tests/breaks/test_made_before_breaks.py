"""A break needs an object that native code made and that cannot be copied: the graph ends before it is made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tests.helpers.values import close
from weft import Tensor, explain, grad, jit


def noise(k: int) -> Tensor:
    return Tensor(np.random.RandomState(k).randn(3).astype(np.float32))


def drawn(k: int) -> Tensor:
    return Tensor(np.random.Generator(np.random.PCG64(k)).normal(size=3).astype(np.float32))


def yielding(x: Any, make: Any) -> Iterator[Any]:
    for k in (1, 2):
        yield (x * make(k)).sum()


PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "expression": lambda x, make: sum((x * make(k)).sum() for k in (1, 2)),
    "list of it": lambda x, make: sum([*((x * make(k)).sum() for k in (1, 2))]),
    "largest": lambda x, make: max((x * make(k)).sum() for k in (1, 2)),
    "function": lambda x, make: sum(yielding(x, make)),
    "comprehension": lambda x, make: sum([(x * make(k)).sum() for k in (1, 2)]),
    "gradient": lambda x, make: grad(lambda x: sum((x * x * make(k)).sum() for k in (1, 2)))(x).sum(),
}


@pytest.mark.parametrize("make", [noise, drawn])
@pytest.mark.parametrize("name", PROGRAMS)
def test_objects_that_are_needed_by_breaks(name: str, make: Callable[[int], Tensor]) -> None:
    program = PROGRAMS[name]
    compiled = jit(lambda x: program(x, make))
    for number in range(3):
        x = Tensor(np.arange(3, dtype=np.float32) + number)
        close(compiled(x), program(x, make).asnumpy())


def test_what_comes_before_is_in_a_graph() -> None:
    compiled = jit(lambda x: (x * 2 + 1) * noise(3))
    report = explain(compiled)(Tensor(np.ones(3, np.float32)))
    assert any("Mul" in str(graph.event.made) for graph in report.graphs)
    assert "RandomState" in str(report)
