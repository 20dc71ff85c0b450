"""Blocks whose backward pass computes again what it needs: same values and gradients, effects once, memory given up."""

from __future__ import annotations

import functools
import gc
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

import weft
from weft import Parameter, Tensor, grad, jit, nn, ops, value_and_grad
from weft.autodiff.recompute import recompute

MODES: dict[str, Callable[[Any], Any]] = {
    "eager": lambda function: function, "auto": jit, "PIJit": functools.partial(jit, mode="PIJit"),
}  # fmt: skip
X = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]], np.float32)
BATCH = np.random.default_rng(1).normal(size=(16, 3)).astype(np.float32)


class Block(nn.Cell):
    """Weights, a state that the forward pass moves, random numbers, and a count that Python keeps."""

    def __init__(self) -> None:
        super().__init__()
        self.wide, self.norm, self.drop = nn.Dense(3, 8), nn.BatchNorm1d(8), nn.Dropout(p=0.4)
        self.narrow = nn.Dense(8, 3)
        self.count = 0

    def construct(self, x: Any) -> Any:
        self.count += 1
        return x + self.narrow(self.drop(self.norm(self.wide(x)).tanh()))


def trained(mode: str, which: Callable[[nn.Cell], None]) -> list[Any]:
    """Values, gradients and states of three steps of a network."""
    weft.set_seed(3)
    net = nn.SequentialCell(Block(), Block(), Block())
    values = np.random.default_rng(0)
    for weight in net.trainable_params():
        weight.set_data(Tensor(values.normal(size=weight.shape).astype(np.float32)))
    net.set_train()
    which(net)
    step = MODES[mode](value_and_grad(lambda x: (net(x) ** 2).mean(), 0, net.trainable_params()))
    found: list[Any] = []
    for factor in (1.0, -2.0, 0.5):
        value, (of_input, of_weights) = step(Tensor(BATCH * np.float32(factor)))
        found += [value, of_input, *of_weights]
    found += [*net.get_parameters(), *[block.count for block in net]]
    return [part.asnumpy() if isinstance(part, Tensor) else part for part in found]


def each(cells: Iterable[nn.Cell]) -> None:
    for cell in cells:
        cell.recompute()


WHICH: dict[str, Callable[[Any], None]] = {
    "all blocks": lambda net: each(net),
    "the network": lambda net: net.recompute(),
    "nested": lambda net: each(cell for _, cell in net.cells_and_names()),
    "one layer": lambda net: net[1].wide.recompute(),
    "switched off again": lambda net: (net[0].recompute(), net[0].recompute(False))[0],
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("which", WHICH)
def test_a_network_trains_as_without(which: str, mode: str) -> None:
    expected = trained("eager", lambda net: None)
    for found, wanted in zip(trained(mode, WHICH[which]), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


W = Parameter(Tensor(np.float32(1.5)), name="w")
LOG: list[str] = []


def with_containers(x: Any) -> Any:
    y = x.sin()
    return {"a": (y * W, x), "b": [y.exp(), 3, None]}


def with_a_hook(x: Any) -> Any:
    y = x.sin()
    y.register_hook(lambda dout: dout * 2)
    return (y * W).exp()


class Own(nn.Cell):
    def construct(self, x: Any) -> Any:
        return x * x

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        return (dout * 3 + out,)


OWN = Own()

PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "containers": lambda x: (lambda r: r["a"][0] + r["a"][1] + r["b"][0])(recompute(with_containers, x)),
    "keywords": lambda x: recompute(lambda a, *, b: (a * b).tanh(), x, b=x + 1),
    "hook inside": lambda x: recompute(with_a_hook, x),
    "bprop inside": lambda x: recompute(lambda y: (OWN(y.sin()) * W).tanh(), x),
    "condition inside": lambda x: recompute(lambda y: (y * y if y.sum() > 0 else y.exp()) * W, x),
    "condition outside": lambda x: recompute(lambda y: (y * y).sin(), x) if x.sum() > 0 else recompute(ops.exp, x),
    "the input itself": lambda x: recompute(lambda y: y, x) * x,
    "an outer tensor": lambda x: (lambda y: recompute(lambda z: (z * y).sin(), x))(x.exp()),
    "integers": lambda x: recompute(lambda y: (y.argmax(axis=1).astype(y.dtype), y.exp()), x)[1],
    "stopped": lambda x: recompute(lambda y: ops.stop_gradient(y.sin()) * y.cos(), x),
    "a loop": lambda x: functools.reduce(lambda y, _: recompute(lambda z: (z * W).sin(), y), range(4), x),
    "two results": lambda x: (lambda r: r[0] * r[1])(recompute(lambda y: ops.split(y.exp(), 1, axis=0), x)),
    "in place": lambda x: recompute(written, x),
}


def written(x: Any) -> Any:
    y = x * 2
    y[0] = y[1] * x[0]
    return y.sin()


def plain(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return function(*args, **kwargs)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_programs(program: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def derived(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def loss(x: Any) -> Any:
            return (function(x) * 1.5).sum()

        first = value_and_grad(loss, 0, [W])
        return lambda x: (first(x), grad(lambda y: (grad(loss)(y) * y).sum())(x))

    run = MODES[mode](derived(PROGRAMS[program]))
    inputs = [Tensor(X), Tensor(-X), Tensor(X + 1)]
    found = [run(x) for x in inputs]
    monkeypatch.setitem(globals(), "recompute", plain)
    wanted = [derived(PROGRAMS[program])(x) for x in inputs]
    for ((value, (by_x, (by_w,))), second), ((value_, (by_x_, (by_w_,))), second_) in zip(found, wanted, strict=True):
        for a, b in ((value, value_), (by_x, by_x_), (by_w, by_w_), (second, second_)):
            np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=2e-5, atol=1e-6)


def test_a_gradient_outside_of_the_compiled_function() -> None:
    def block(x: Any) -> Any:
        return (x.sin() * W).exp()

    expected = grad(lambda x: block(x).sum())(Tensor(X))
    found = grad(jit(lambda x: recompute(block, x).sum()))(Tensor(X))
    np.testing.assert_allclose(found.asnumpy(), expected.asnumpy(), rtol=1e-6)


def test_what_is_computed_on_the_way_is_given_up() -> None:
    alive: list[list[bool]] = []

    for call in (plain, recompute):
        kept: list[Any] = []

        def block(x: Any, kept: list[Any] = kept) -> Any:
            for _ in range(3):
                x = x.sin()
                kept.append(weakref.ref(x._data))
            return x * 2

        def loss(x: Any, call: Any = call, block: Any = block, kept: list[Any] = kept) -> Any:
            y = call(block, x)
            gc.collect()
            alive.append([part() is not None for part in kept])
            return y.sum()

        grad(loss)(Tensor(X))
    assert alive == [[True, True, True], [False, False, False]]


@pytest.mark.parametrize("mode", ["auto", "PIJit"])
def test_a_graph_computes_it_again(mode: str) -> None:
    """The operations of the block stand in the graph once more, behind a barrier."""

    def loss(x: Any) -> Any:
        return recompute(lambda y: y.sin().tanh().sin().tanh(), x).sum()

    step = MODES[mode](value_and_grad(loss))
    step(Tensor(X))
    names = [node.op.name for node in step.report().graphs[-1].event.graph.nodes]
    assert names.count("Barrier") == 1
    assert names.count("Tanh") == 4


def test_what_cannot_be_called() -> None:
    with pytest.raises(TypeError, match="takes a Cell or a function, not int"):
        recompute(3, Tensor(X))  # type: ignore[arg-type]
