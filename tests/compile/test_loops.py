"""Loops that capture unrolled, compiled as loops: equal to the unrolled graph and to eager code, gradients too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import weft
from weft import Tensor, ops
from weft.compile import executable
from weft.ir.graph import Graph


@pytest.fixture
def rolled(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Graph]]:
    """The graphs that executables are made of."""
    made: list[Graph] = []
    plain = executable.compact

    def kept(graph: Graph, owned: bool) -> Graph:
        made.append(plain(graph, owned))
        return made[-1]

    monkeypatch.setattr(executable, "compact", kept)
    yield made
    weft.set_context(loop_unroll_limit=64)


def names(graph: Graph) -> list[str]:
    return [node.op.name for node in graph.nodes]


def array(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).uniform(0.25, 1.0, shape).astype(np.float32)


def chain(x: Any, y: Any, steps: int = 40) -> Any:
    out = x
    for i in range(steps):
        x = ops.tanh(x * y) + i * 0.125
        out = out + x
    return out


def fibonacci(x: Any, y: Any) -> Any:
    for _ in range(70):
        x, y = y, ops.sin(x + y)
    return x * y


def recurrent(x: Any, y: Any) -> Any:
    state, outputs = y[0], []
    for row in x:
        state = ops.tanh(row * 0.5 + state)
        outputs.append(state)
    return ops.stack(outputs) * x + outputs[3] + outputs[-2]


def backwards(x: Any, y: Any) -> Any:
    total = y[0] * 0
    for i in reversed(range(x.shape[0])):
        total = total * 0.5 + x[i] * y[0]
    return total


def rows(x: Any, y: Any) -> Any:
    return ops.stack([ops.exp(row) * y[0] + 1 for row in x])


def choosing(x: Any, y: Any) -> Any:
    for i in range(40):
        if x.sum() < y.sum() + i:
            x = x + y
        else:
            x = x - y
    return x


def nested(x: Any, y: Any) -> Any:
    for _ in range(12):
        for _ in range(20):
            x = ops.sin(x + y)
        x = x * y
    return x


def written(x: Any, y: Any) -> Any:
    out = ops.zeros_like(x)
    for i in range(x.shape[0]):
        out[i] = x[i] * 2 + out[i - 1]
    return out + y[0]


PROGRAMS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (chain, fibonacci, recurrent, backwards, rows, choosing, nested, written)
}


def check(function: Callable[..., Any], shape: tuple[int, ...]) -> None:
    compiled = weft.jit(function)
    gradient = weft.grad(lambda *args: (function(*args) * 2).sum(), (0, 1))
    inside = weft.jit(lambda *args: gradient(*args))
    outside = weft.grad(lambda *args: (compiled(*args) * 2).sum(), (0, 1))
    for seed in range(3):
        args = Tensor(array(*shape, seed=seed)), Tensor(array(*shape, seed=seed + 9))
        np.testing.assert_allclose(compiled(*args).asnumpy(), function(*args).asnumpy(), rtol=2e-5, atol=1e-6)
        wanted = [g.asnumpy() for g in gradient(*args)]
        for found in (inside(*args), outside(*args)):
            for g, w in zip(found, wanted, strict=True):
                np.testing.assert_allclose(g.asnumpy(), w, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("width", [1, 50])
@pytest.mark.parametrize("name", PROGRAMS)
def test_loops_compute_as_eager_code_does(name: str, width: int, rolled: list[Graph]) -> None:
    check(PROGRAMS[name], (70, width))
    assert len(rolled[0].nodes) < 64


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_unrolled(name: str, rolled: list[Graph]) -> None:
    weft.set_context(loop_unroll_limit=-1)
    check(PROGRAMS[name], (70, 2))
    assert not any("Repeat" in names(graph) for graph in rolled)


@pytest.mark.parametrize("limit", [0, 63, 64, 65, 1000])
@pytest.mark.parametrize("steps", [1, 2, 3, 4, 31, 32, 33, 63, 64, 65, 66, 67, 131])
def test_sums_of_any_length(steps: int, limit: int, rolled: list[Graph]) -> None:
    weft.set_context(loop_unroll_limit=limit)

    def function(x: Any) -> Any:
        for _ in range(steps):
            x = x + x
        return x

    x = Tensor(array(3))
    assert weft.jit(function)(x).asnumpy().tolist() == function(x).asnumpy().tolist()
    assert ("Repeat" in names(rolled[0])) == (steps > max(limit, 4))  # a loop of fewer steps would be no smaller


def test_integers_are_exact(rolled: list[Graph]) -> None:
    def function(x: Any, y: Any) -> Any:
        for i in range(100):
            x = (x * 3 + y // (i + 1)) % 1000003
            y = y + x
        return x, y

    args = Tensor(np.arange(5)), Tensor(np.arange(5) + 7)
    found, wanted = weft.jit(function)(*args), function(*args)
    for a, b in zip(found, wanted, strict=True):
        assert a.dtype == b.dtype
        assert a.asnumpy().tolist() == b.asnumpy().tolist()
    assert "Repeat" in names(rolled[0])


def test_loops_of_a_graph_that_prints_are_unrolled(rolled: list[Graph], capfd: pytest.CaptureFixture[str]) -> None:
    def function(x: Any) -> Any:
        for _ in range(80):
            x = x + 1
        print(x)
        return x

    assert weft.jit(function)(Tensor([1.0])).asnumpy().tolist() == [81.0]
    assert "81" in capfd.readouterr().out


def test_reports_say_so() -> None:
    def function(x: Any, y: Any) -> Any:
        for _ in range(80):
            x = x + y
        if x.sum() > 0:
            x = x * 2
        return x

    report = weft.explain(weft.jit(function))(Tensor([1.0]), Tensor([2.0]))
    assert report.graphs[0].notes == {"branches computed as selections": 1, "loops compiled as loops": 1}
    assert "loops compiled as loops: 1" in str(report)
