from __future__ import annotations

from random import Random
from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from random_graphs import SEEN, arguments, random_graph, repeating_graph

from weft.compile.chain import Parts, fitting
from weft.compile.compilations import RUN, Compilations
from weft.compile.listing import read_graph
from weft.compile.lower import lower
from weft.core.control import CALL, REPEAT
from weft.ir.graph import Graph
from weft.ir.verifier import verify
from weft.passes.base import Pass
from weft.passes.drop_dead import DropDead
from weft.passes.pipeline import optimize
from weft.passes.rewrite import copy_graph
from weft.passes.roll_repeats import RollRepeats
from weft.passes.share_repeats import ShareRepeats

randoms = st.integers(0, 2**32).map(Random)


def run(graph: Graph, arrays: tuple[Any, ...]) -> tuple[Any, list[float]]:
    SEEN.clear()
    results = jax.jit(lower(graph))(*arrays)
    jax.effects_barrier()
    return results, list(SEEN)


def check_same(before: Any, after: Any) -> None:
    for a, b in zip(before[0], after[0], strict=True):
        if isinstance(a, tuple):
            assert a == b == ()
            continue
        assert a.dtype == b.dtype
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-5)
    np.testing.assert_allclose(before[1], after[1], rtol=1e-5)


@settings(max_examples=60)
@given(randoms)
def test_printing_and_parsing_gives_the_same_graph(random: Random) -> None:
    graph = verify(random_graph(random))
    text = str(graph)
    again = verify(read_graph(text))
    assert str(again) == text
    assert len(again) == len(graph)


@settings(max_examples=15)
@given(randoms)
def test_a_parsed_graph_computes_the_same(random: Random) -> None:
    graph, arrays = random_graph(random), arguments(random)
    check_same(run(graph, arrays), run(read_graph(str(graph)), arrays))


@settings(max_examples=30)
@example(Random(1441))  # a callee without nodes
@given(randoms)
def test_the_pipeline_keeps_results_and_io(random: Random) -> None:
    graph, arrays = random_graph(random), arguments(random)
    before = run(graph, arrays)
    text = str(graph)
    copy = copy_graph(graph)
    assert str(copy) == text
    optimize(copy, check=True)
    assert str(graph) == text  # the copy shares nothing with the original
    assert [p.type for p in copy.params] == [p.type for p in graph.params]
    assert [v.type for v in copy.outputs] == [v.type for v in graph.outputs]
    check_same(before, run(copy, arrays))


@pytest.mark.parametrize("name", sorted(Pass.table))
@settings(max_examples=8)
@given(random=randoms)
def test_each_pass_keeps_results_and_io(name: str, random: Random) -> None:
    graph, arrays = random_graph(random), arguments(random)
    before = run(graph, arrays)
    result = Pass.table[name]().apply(graph)
    assert result is graph
    check_same(before, run(verify(graph, after=name), arrays))


@settings(max_examples=15)
@given(randoms)
def test_repeating_the_pipeline_comes_to_rest(random: Random) -> None:
    graph = random_graph(random)
    texts = [str(optimize(graph)) for _ in range(12)]
    assert texts[-1] == texts[-2]


@settings(max_examples=60)
@given(randoms)
def test_stretches_that_repeat_are_calls_that_compute_the_same(random: Random) -> None:
    graph, arrays = verify(repeating_graph(random)), arguments(random)[:-1]
    before = run(graph, arrays)
    shared = verify(ShareRepeats(least=2, saved=2).apply(copy_graph(graph)))
    check_same(before, run(shared, arrays))
    donated = fitting(shared, range(len(shared.params)))
    parts = Parts(Compilations(), RUN)
    for places in ((), donated):
        copies = [array.copy() for array in jax.tree.map(jax.numpy.asarray, arrays)]
        check_same(before, (parts.compiled(shared, places)(*copies), []))


def test_most_generated_graphs_are_shared() -> None:
    """So that the test above tests what it says."""
    called = 0
    for seed in range(50):
        shared = ShareRepeats(least=2, saved=2).apply(repeating_graph(Random(seed)))
        called += any(node.op is CALL and node.regions[0].name.endswith("_block") for node in shared.walk())
    assert called > 25


def rolled(graph: Graph, body: int) -> Graph:
    return DropDead().apply(RollRepeats(limit=0, body=body, least=2).apply(graph))


@settings(max_examples=60)
@given(randoms, st.integers(1, 8))
def test_loops_compute_what_the_nodes_did(random: Random, body: int) -> None:
    graph, arrays = repeating_graph(random), arguments(random)[:-1]
    loops = verify(rolled(copy_graph(graph), body))
    check_same(run(graph, arrays), run(loops, arrays))
    assert str(verify(read_graph(str(loops)))) == str(loops)


def test_many_generated_graphs_become_loops() -> None:
    """So that the test above tests what it says."""
    found = sum(any(node.op is REPEAT for node in rolled(repeating_graph(Random(i)), 1).nodes) for i in range(50))
    assert found > 10
