"""Hooks on parameters of networks that are made of library Cells only: library code finds them by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import Tensor, grad, jit, nn
from weft.data import NumpySlicesDataset
from weft.train import Model

X = Tensor([[1.0, 2.0]])


def dense() -> nn.Dense:
    return nn.Dense(2, 1, weight_init="ones", has_bias=False)


def trained(way: str, hook: Callable[[list[Any]], Callable[[Any], Any]], between: Callable[..., None]) -> list[Any]:
    """The weight after each of four steps, and what the hook noted."""
    net = nn.SequentialCell(dense())
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1))
    seen: list[Any] = []
    handles = [net[0].weight.register_hook(hook(seen))]
    run: Any = {"eager": step, "graph": step, "cell": jit(step), "function": jit(lambda x: step(x))}[way]
    weft.set_context(mode=weft.GRAPH_MODE if way == "graph" else weft.PYNATIVE_MODE)
    found = []
    try:
        for number in range(4):
            run(X)
            found.append(net[0].weight.asnumpy().tolist())
            between(number, net[0].weight, handles, seen)
    finally:
        weft.set_context(mode=weft.PYNATIVE_MODE)
    return [*found, len(seen), [float(np.asarray(one).sum()) for one in seen]]


def nothing(*_: Any) -> None: ...


def removed(number: int, weight: Any, handles: list[Any], seen: list[Any]) -> None:
    if number == 1:
        handles.pop().remove()


def replaced(number: int, weight: Any, handles: list[Any], seen: list[Any]) -> None:
    if number == 1:
        handles.pop().remove()
        handles.append(weight.register_hook(lambda g: g * 5))


def added(number: int, weight: Any, handles: list[Any], seen: list[Any]) -> None:
    if number < 2:
        handles.append(weight.register_hook(lambda g: g - 1))


@pytest.mark.parametrize("between", [nothing, removed, replaced, added])
@pytest.mark.parametrize(
    "hook",
    [
        lambda seen: lambda g: (seen.append(g), g * len(seen))[1],
        lambda seen: lambda g: seen.append(g * 2),
        lambda seen: lambda g: g * 3,
    ],
    ids=["counts", "records", "scales"],
)
@pytest.mark.parametrize("way", ["graph", "cell", "function"])
def test_steps(way: str, hook: Any, between: Any) -> None:
    expected, found = trained("eager", hook, between), trained(way, hook, between)
    np.testing.assert_allclose(found[:4], expected[:4], rtol=1e-6)
    assert found[4] == expected[4]
    np.testing.assert_allclose(found[5], expected[5], rtol=1e-6)


def test_closure_values() -> None:
    net = nn.SequentialCell(dense())
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1))
    scale = 1.0
    net[0].weight.register_hook(lambda g: g * scale)
    run = jit(lambda x: step(x))
    found = []
    for scale in (1.0, 0.0, 0.0, 2.0):  # noqa: B007  the hook reads it
        run(X)
        found.append(net[0].weight.asnumpy().tolist())
    np.testing.assert_allclose(found, [[[0.9, 0.8]]] * 3 + [[[0.7, 0.4]]], rtol=1e-6)


@pytest.mark.parametrize(
    "weights",
    [
        lambda net: net.trainable_params(),
        lambda net: list(net.get_parameters()),
        lambda net: list(net.parameters_dict().values()),
        lambda net: [param for _, param in net.parameters_and_names()],
        lambda net: [net.weight],
    ],
)
def test_hooks_that_come_and_go(weights: Callable[[Any], Any]) -> None:
    net = dense()
    run = jit(lambda x: grad(net, None, weights(net))(x)[0])
    expected = np.array([[1.0, 2.0]])
    for _ in range(2):
        np.testing.assert_allclose(run(X).asnumpy(), expected)
        handle = net.weight.register_hook(lambda g: g * 100)
        np.testing.assert_allclose(run(X).asnumpy(), expected * 100)
        handle.remove()
        np.testing.assert_allclose(run(X).asnumpy(), expected)


def test_model_in_graph_mode() -> None:
    def trained_by_model(mode: int) -> tuple[Any, int]:
        net = nn.SequentialCell(dense())
        seen: list[Any] = []
        net[0].weight.register_hook(lambda g: (seen.append(g), g * len(seen))[1])
        data = NumpySlicesDataset((np.ones((6, 2), np.float32), np.zeros((6, 1), np.float32)), shuffle=False).batch(2)
        weft.set_context(mode=mode)
        try:
            Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.01)).train(1, data, dataset_sink_mode=False)
        finally:
            weft.set_context(mode=weft.PYNATIVE_MODE)
        str(seen[-1])
        return net[0].weight.asnumpy(), len(seen)

    (expected, calls), (found, compiled_calls) = trained_by_model(weft.PYNATIVE_MODE), trained_by_model(weft.GRAPH_MODE)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert calls == compiled_calls == 3
