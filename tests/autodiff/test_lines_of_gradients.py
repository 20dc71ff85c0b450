"""What a graph computes for a gradient has the line of the operation of which it is the gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from weft import Tensor, ops
from weft.compile.differentiate import differentiate
from weft.core.trace import CONSTANT
from weft.ir.graph import Graph, Node

X = Tensor(np.linspace(0.1, 1, 6, dtype=np.float32).reshape(2, 3))


def straight(x: Tensor) -> Tensor:
    y = ops.sin(x)
    y = ops.tanh(y * 3)
    return y.sum()


def branching(x: Tensor) -> Tensor:
    if x.sum() > 0:
        y = ops.sin(x)
        y = ops.tanh(y)
        y = ops.log(y + 2)
        y = ops.exp(y)
    else:
        y = ops.cos(x)
        y = ops.atan(y)
        y = ops.sinh(y)
        y = ops.tan(y)
    return y.sum()


def looping(x: Tensor) -> Tensor:
    while x.sum() < 100:
        x = ops.exp(x)
    return x.sum()


def lines(graph: Graph, function: Any) -> dict[str, set[int | None]]:
    """The lines of the nodes of each operation, counted from that which defines a function; None for nodes without."""
    found: dict[str, set[int | None]] = {}
    first = function.__code__.co_firstlineno

    def note(node: Node) -> None:
        where = node.where()
        found.setdefault(node.op.name, set()).add(None if where is None else where.line - first)

    for node in graph.walk():
        if node.op is not CONSTANT:
            note(node)
    return found


def captured(function: Any) -> Graph:
    compiled = weft.jit(function)
    compiled(X)
    (graph,) = compiled.report().graphs
    return graph.graph


@pytest.mark.parametrize(
    ("function", "expected"),
    [(straight, {"Cos": {1}, "Mul": {1, 2}}), (branching, {"Cos": {2, 7}, "Sin": {2, 7}}), (looping, {"Mul": {2}})],
)
def test_of_a_graph_that_a_gradient_follows(function: Any, expected: dict[str, set[int]]) -> None:
    pair = differentiate(captured(function), (True,))
    forward, backward = lines(pair.forward, function), lines(pair.backward.graph, function)
    for name, wanted in expected.items():
        assert wanted <= forward.get(name, set()) | backward.get(name, set()), (name, forward, backward)
    if function is straight:
        assert None not in set().union(*forward.values(), *backward.values()), backward


def test_of_a_gradient_within_a_graph() -> None:
    def stepped(x: Tensor) -> Tensor:
        gradient: Tensor = weft.grad(straight)(x)
        return gradient * 2

    found = lines(captured(stepped), straight)
    assert found["Cos"] == {1}
    assert {1, 2} <= found["Mul"]
    np.testing.assert_array_equal(weft.jit(stepped)(X).asnumpy(), stepped(X).asnumpy())


def test_of_a_gradient_of_a_gradient() -> None:
    def twice(x: Tensor) -> Tensor:
        second: Tensor = weft.grad(lambda x: weft.grad(straight)(x).sum())(x)
        return second

    found = lines(captured(twice), straight)
    assert found["Cos"] == {1}
    np.testing.assert_allclose(weft.jit(twice)(X).asnumpy(), twice(X).asnumpy(), rtol=1e-6)


def test_code_after_the_gradient_has_its_own_lines() -> None:
    def after(x: Tensor) -> Tensor:
        gradient = weft.grad(straight)(x)
        return ops.erf(gradient)

    graph = captured(after)
    assert lines(graph, after)["Erf"] == {2}
