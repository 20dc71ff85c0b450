"""Graphs whose repeating stretches are compiled once: as fast to compile, and equal to the graph as one executable."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from tests.random_programs.child import checked
from weft import Parameter, Tensor, nn, ops
from weft.compile import chain, executable
from weft.ir.graph import Graph
from weft.passes.drop_dead import DropDead
from weft.passes.position_operands import PositionOperands
from weft.passes.share_repeats import ShareRepeats

WIDTH = 6


class Layer(nn.Cell):
    def __init__(self, scale: float = 1.0) -> None:
        super().__init__()
        self.dense = nn.Dense(WIDTH, WIDTH)
        self.norm = nn.LayerNorm((WIDTH,))
        self.drop = nn.Dropout(p=0.5)
        self.scale = scale

    def construct(self, x: Any) -> Any:
        return x + self.drop(ops.tanh(self.dense(self.norm(x)))) * self.scale


class Stack(nn.Cell):
    def __init__(self, depth: int) -> None:
        super().__init__()
        self.layers = nn.CellList([Layer() for _ in range(depth)])
        self.head = nn.Dense(WIDTH, 2)

    def construct(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> list[Graph]:
    """Share what repeats in every graph, however small; the list has the graphs with calls."""
    with_calls: list[Graph] = []

    def compact(graph: Graph, owned: bool) -> Graph:
        found = chain.compact(graph, owned)
        if any(node.op is chain.CALL for node in found.nodes):
            with_calls.append(found)
        return found

    monkeypatch.setattr(chain, "_sharing", lambda graph, size: ShareRepeats(least=2, saved=2))
    monkeypatch.setattr(executable, "compact", compact)
    return with_calls


def same(found: Any, expected: Any) -> None:
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            same(a, b)
    else:
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found.asnumpy(), expected.asnumpy(), rtol=1e-4, atol=2e-6)


def inputs(seed: int) -> Tensor:
    return Tensor(np.random.default_rng(seed).normal(size=(3, WIDTH)).astype(np.float32))


def test_a_network_and_its_gradients_are_as_without_sharing(always: list[Graph]) -> None:
    net = Stack(5)
    loss = lambda x: (net(x) ** 2).sum()  # noqa: E731
    weights = net.trainable_params()
    whole = weft.jit(weft.value_and_grad(loss, 0, weights))
    outside = weft.value_and_grad(weft.jit(loss), 0, weights)
    twice = weft.jit(weft.grad(lambda x: weft.grad(loss)(x).sum()))
    for seed in range(3):
        x = inputs(seed)
        expected = weft.value_and_grad(loss, 0, weights)(x)
        same(whole(x), expected)
        same(outside(x), expected)
        same(twice(x), weft.grad(lambda x: weft.grad(loss)(x).sum())(x))
    assert len(always) >= 4


def test_dropout_differs_from_layer_to_layer_and_from_call_to_call(always: list[Graph]) -> None:
    net = Stack(4)
    net.set_train()
    compiled = weft.jit(lambda x: net(x))
    weft.set_seed(3)
    expected = [net(inputs(0)) for _ in range(3)]
    weft.set_seed(3)
    same([compiled(inputs(0)) for _ in range(3)], expected)
    assert not np.array_equal(expected[0].asnumpy(), expected[1].asnumpy())
    assert always


def test_a_layer_that_is_changed_is_computed_as_it_is(always: list[Graph]) -> None:
    net = Stack(6)
    compiled = weft.jit(lambda x: net(x))
    x = inputs(1)
    same(compiled(x), net(x))
    net.layers[2].scale = -3.0
    same(compiled(x), net(x))
    net.layers[4] = Layer(0.25)
    same(compiled(x), net(x))
    net.layers[0].dense.weight.set_data(Tensor(np.eye(WIDTH, dtype=np.float32)))
    same(compiled(x), net(x))
    assert len(always) >= 3


def test_updates_in_place_reach_every_parameter(always: list[Graph]) -> None:
    def train(compile: Callable[..., Any]) -> list[Any]:
        weft.set_seed(1)
        net = Stack(4)
        for i, weight in enumerate(net.trainable_params()):
            weight.set_data(Tensor(np.random.default_rng(i).normal(size=weight.shape, scale=0.3).astype(np.float32)))
        optimizer = nn.Momentum(net.trainable_params(), 0.001, 0.9)
        gradient = weft.value_and_grad(lambda x: (net(x) ** 2).mean(), None, optimizer.parameters)

        def step(x: Any) -> Any:
            loss, gradients = gradient(x)
            optimizer(gradients)
            return loss

        step = compile(step)
        kept = net.layers[0].dense.weight.value()
        before = kept.asnumpy().copy()
        losses = [step(inputs(i)) for i in range(5)]
        np.testing.assert_array_equal(kept.asnumpy(), before)  # what somebody else holds stays whole
        return [losses, [p.value() for p in net.get_parameters()], [p.value() for p in optimizer.moments]]

    same(train(weft.jit), train(lambda step: step))
    assert always


def test_weights_are_given_away_only_where_nothing_needs_them_any_more(always: list[Graph]) -> None:
    weights = [Parameter(Tensor(np.full((4, 4), 0.5, np.float32)), name=f"w{i}") for i in range(6)]

    def step(x: Any) -> Any:
        y = x
        for w in weights:
            y = ops.tanh(ops.matmul(y, w)) + 1
            w.set_data(w * 0.9 + y.mean())
        for w in weights:
            y = ops.tanh(ops.matmul(y, w)) + 1
        return y

    compiled, x = weft.jit(step), Tensor(np.eye(4, dtype=np.float32))
    start = [w.asnumpy().copy() for w in weights]
    expected = []
    for _ in range(4):
        expected.append((step(x), [w.value() for w in weights]))
    for w, value in zip(weights, start, strict=True):
        w.set_data(Tensor(value))
    for y, after in expected:
        same(compiled(x), y)
        same([w.value() for w in weights], after)
    assert always


def test_layers_with_branches_of_their_own(always: list[Graph]) -> None:
    weights = [Tensor(np.random.default_rng(i).normal(size=(WIDTH,)).astype(np.float32)) for i in range(5)]

    def net(x: Any) -> Any:
        for w in weights:
            if (x * w).sum() > 0:
                x = ops.tanh(x * w) + w
            else:
                x = x - w * 2
        return x

    compiled = weft.jit(net)
    for seed in range(6):
        same(compiled(inputs(seed)), net(inputs(seed)))
        same(weft.grad(compiled)(inputs(seed)), weft.grad(net)(inputs(seed)))
    assert always


def test_a_large_graph_is_shared_unasked_and_a_small_one_is_not() -> None:
    def compiled(depth: int) -> int:
        net = Stack(depth)
        net.set_train(False)
        function = weft.jit(lambda x: net(x))
        same(function(inputs(0)), net(inputs(0)))
        (made,) = function.report().compilations
        return made.compilation.parts

    assert compiled(8) == 1
    deep = compiled(chain.LARGE // 3)
    assert 1 < deep < 6
    weft.set_context(auto_block_reuse=False)
    try:
        assert compiled(40) == 1
    finally:
        weft.set_context(auto_block_reuse=True)


def test_a_graph_that_prints_is_one_executable(capfd: pytest.CaptureFixture[str], always: list[Graph]) -> None:
    def chatty(x: Any) -> Any:
        for i in range(6):
            x = ops.tanh(x * 2 + 1)
            print("at", i, x.sum())
        return x

    found = weft.jit(chatty)(inputs(0))
    shown = capfd.readouterr().out
    same(found, chatty(inputs(0)))
    assert capfd.readouterr().out == shown
    assert not always


def test_compiled_parts_are_freed_with_the_function(always: list[Graph]) -> None:
    import jax

    net = Stack(5)
    compiled = weft.jit(lambda x: net(x))
    compiled(inputs(0))
    always.clear()
    gc.collect()
    held = len(jax.devices()[0].client.live_executables())
    del compiled
    gc.collect()
    assert len(jax.devices()[0].client.live_executables()) < held


@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("width", [2, 600])
def test_steps_of_an_unrolled_loop_share_their_parts(width: int, loops: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """What reads and writes at another position in each step is the same program, and so are gradients of it."""
    if not loops:
        monkeypatch.setattr(chain, "RollRepeats", lambda limit: DropDead())
    random = np.random.default_rng(0)
    weight = Parameter(Tensor(random.standard_normal((width, width)).astype(np.float32) / width), name="weight")
    steps = 70

    def recurrent(xs: Any, h: Any) -> Any:
        out = ops.zeros((steps, 2), weft.float32)
        for t in range(steps):
            h = ops.tanh(ops.matmul(xs[t] + h, weight) * 0.5 + xs[-1 - t])
            out[t] = h.sum(1)
        return (out * out).sum()

    gradient = weft.value_and_grad(recurrent, (0, 1), [weight])
    compiled = weft.jit(lambda xs, h: gradient(xs, h))
    for scale in (1.0, 2.0):
        xs = Tensor((scale * random.standard_normal((steps, 2, width))).astype(np.float32))
        h = Tensor(random.standard_normal((2, width)).astype(np.float32))
        (value, (inputs, weights)), (wanted, (own, ours)) = compiled(xs, h), gradient(xs, h)
        np.testing.assert_allclose(value.asnumpy(), wanted.asnumpy(), rtol=1e-4)
        for found, expected in zip((*inputs, *weights), (*own, *ours), strict=True):
            np.testing.assert_allclose(found.asnumpy(), expected.asnumpy(), rtol=1e-3, atol=1e-4)
    (graph,) = compiled.report().graphs
    (compilation,) = graph.event.compilations
    assert len(graph.event.graph.nodes) >= chain.LARGE
    assert compilation.parts == 1 if loops else 1 < compilation.parts <= 12


@pytest.mark.parametrize("seeds", [range(8), pytest.param(range(8, 300), marks=pytest.mark.slow)])
def test_random_programs_whose_graphs_all_share(monkeypatch: pytest.MonkeyPatch, seeds: range) -> None:
    """Whatever repeats is shared, however small it is."""
    monkeypatch.setattr(chain, "PositionOperands", lambda: PositionOperands(least=2))
    monkeypatch.setattr(chain, "_sharing", lambda graph, size: ShareRepeats(least=2, saved=1))
    findings = {seed: found for seed in seeds if (found := checked(seed, 0)["findings"])}
    assert findings == {}
