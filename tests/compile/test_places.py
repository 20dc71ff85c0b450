"""From the names of instructions to nodes of the graph."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import weft
from weft import Tensor, ops
from weft.compile.lower import lower
from weft.compile.places import Places, names_of
from weft.ir.graph import Graph


def graph_of(function: object, *arguments: Tensor) -> Graph:
    compiled = weft.jit(function)
    compiled(*arguments)
    (graph,) = compiled.report().graphs
    return graph.graph


X = Tensor(np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3))


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("jit(f)/add", ["jit(f)/add"]),
        ("jit(<lambda>)/(a/add:b/mul)", ["jit(<lambda>)/a/add", "jit(<lambda>)/b/mul"]),
        ("jit(f)/(a:b)/(c:d)", ["jit(f)/a/c", "jit(f)/a/d", "jit(f)/b/c", "jit(f)/b/d"]),
        ("(a/(b:c):d)", ["a/b", "a/c", "d"]),
        ("jit(f)/vmap(x:y)", ["jit(f)/vmap(x:y)"]),
        ("jit(f)/(open", ["jit(f)/(open"]),
        ("", [""]),
    ],
)
def test_names_that_stand_for_several(name: str, names: list[str]) -> None:
    assert names_of(name) == names


def test_numbers_lead_to_nodes() -> None:
    def function(x: Tensor) -> Tensor:
        y = ops.sin(x)
        while y.sum() < 1:
            y = y + ops.cos(x)
        return y

    graph = graph_of(function, X)
    places = Places(graph)
    for node in graph.walk():
        (found,) = places.found(f"jit(function)/{places.mark}/7.Other/{places.name(node)}/body/add") or [None]
        assert found is None  # a number that is another operation's ends the way
        assert places.found(f"jit(function)/{places.mark}/{places.name(node)}/body/add") == [node]
        assert places.found(f"jit(function)/{places.name(node)}/add") == []
        assert places.found(f"jit(function)/graph.00000000/{places.name(node)}/add") == []
    assert places.found(f"jit(f)/{places.mark}/999.Sin/sin") == []
    assert places.found("arrays[1]") == []


def test_a_parameter_leads_to_what_reads_it() -> None:
    graph = graph_of(lambda x: ops.sin(x) + ops.cos(x), X)
    places = Places(graph)
    assert [node.op.name for node in places.found("arrays[0]")] == ["Sin", "Cos"]
    text = jax.jit(lower(graph)).lower(X._data).as_text(debug_info=True)
    assert '"arrays[0]"' in text  # the lowering has not changed what JAX calls it


def test_names_in_the_program_are_those_of_its_nodes() -> None:
    def function(x: Tensor) -> Tensor:
        y = weft.vmap(lambda row: ops.tanh(row) * row)(x)
        return ops.exp(y).sum()

    graph = graph_of(function, X)
    places = Places(graph)
    text = jax.jit(lower(graph)).lower(X._data).as_text(debug_info=True)
    names = {node.op.name for name in text.split('"') if places.mark in name for node in places.found(name)}
    assert {"Tanh", "Mul", "Exp", "ReduceSum"} <= names


def test_a_line_more_changes_no_name() -> None:
    graphs = []
    for lines in ("def f(x):\n    return x * 2 + 1", "\n\ndef f(x):\n    y = x * 2\n    return y + 1"):
        namespace: dict[str, object] = {}
        exec(compile(lines, "<a program>", "exec"), namespace)
        graphs.append(graph_of(namespace["f"], X))
    one, other = map(Places, graphs)
    assert one.mark == other.mark
    assert [one.name(node) for node in one.nodes] == [other.name(node) for node in other.nodes]
