"""Cells that make what a graph cannot hold and keep it: Python makes the call, compiled as in eager code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from weft import GRAPH_MODE, PYNATIVE_MODE, Parameter, Tensor, grad, jit, nn, set_context


class MakesALayer(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Tanh()

    def construct(self, x: Any) -> Any:
        y = self.layer(x)
        self.layer = nn.ReLU()
        return y + self.layer(x)


class InsertsAParameter(nn.Cell):
    def construct(self, x: Any) -> Any:
        if not hasattr(self, "p"):
            self.insert_param_to_cell("p", Parameter(Tensor(3.0), name="p"))
        return x * self.p


class SetsAParameter(nn.Cell):
    def construct(self, x: Any) -> Any:
        if not hasattr(self, "p"):
            self.p = Parameter(Tensor(3.0), name="p")
        return x * self.p


def gradient_of_compiled(cell: Any) -> Any:
    compiled = jit(cell)
    return grad(lambda x: compiled(x).sum())


WAYS: dict[str, Callable[[Any], Any]] = {
    "the cell": jit,
    "a function": lambda cell: jit(lambda x: cell(x)),
    "its construct": lambda cell: jit(cell.construct),
    "its gradient": lambda cell: jit(grad(lambda x: cell(x).sum())),
    "a gradient of the compiled cell": gradient_of_compiled,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [MakesALayer, InsertsAParameter, SetsAParameter])
def test_as_eager_code(kind: type[nn.Cell], way: str) -> None:
    eager = kind()
    function = grad(lambda x: eager(x).sum()) if "gradient" in way else eager
    compiled = WAYS[way](kind())
    for values in ([1.0, -2.0], [-3.0, 4.0], [0.5, 0.25]):
        wanted, found = function(Tensor(values)), compiled(Tensor(values))
        assert found.asnumpy() == pytest.approx(wanted.asnumpy(), rel=1e-6)


@pytest.mark.parametrize("kind", [MakesALayer, InsertsAParameter, SetsAParameter])
def test_in_graph_mode(kind: type[nn.Cell]) -> None:
    inputs = [Tensor(values) for values in ([1.0, -2.0], [-3.0, 4.0], [0.5, 0.25])]
    eager, cell = kind(), kind()
    wanted = [eager(x).asnumpy() for x in inputs]
    set_context(mode=GRAPH_MODE)
    try:
        found = [cell(x).asnumpy() for x in inputs]
    finally:
        set_context(mode=PYNATIVE_MODE)
    assert found == [pytest.approx(value, rel=1e-6) for value in wanted]
