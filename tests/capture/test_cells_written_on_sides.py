"""Attributes of Cells written where only the graph knows whether: no more graphs than for any other object, and whoever
looks at the Cell sees that it has changed.
"""

from __future__ import annotations

from typing import Any

import pytest

import weft
from weft import Parameter, Tensor, jit, nn


class State:
    """What an object of no framework keeps."""

    def __init__(self) -> None:
        self.count = 0
        self.last: Any = Tensor([0.0, 0.0])
        self.inner: Any = None


class Net(nn.Cell):
    """The same in a Cell."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self.last = Tensor([0.0, 0.0])
        self.inner = nn.ReLU()
        self.steps = Parameter(Tensor(0, weft.int32), name="steps", requires_grad=False)


def counts(obj: Any, x: Any) -> Any:
    if x.sum() > 0:
        obj.count += 1
    return x * obj.count


def keeps(obj: Any, x: Any) -> Any:
    if x.sum() > 0:
        obj.last = x * 2
    else:
        obj.count = obj.count + 2
    return x + obj.last


def writes_back(obj: Any, x: Any) -> Any:
    if x.sum() > 0:
        obj.inner = obj.inner
    return x + 1


def trains(obj: Any, x: Any) -> Any:
    obj.training = True
    if x.sum() > 0:
        obj.training = False
        obj.count += 1
    return x + obj.count


def counts_in_a_loop(obj: Any, x: Any) -> Any:
    while x.sum() < 10:
        obj.count += 1
        x = x.abs() * 2 + 1
    return x * obj.count


def keeps_in_a_loop(obj: Any, x: Any) -> Any:
    while x.sum() < 10:
        obj.last = x
        x = x.abs() * 2 + 1
    return x + obj.last


def keeps_in_a_branch_of_a_loop(obj: Any, x: Any) -> Any:
    while x.sum() < 10:
        if x[0] > 0:
            obj.last = x
            obj.count += 1
        x = x.abs() * 2 + 1
    return x + obj.last * obj.count


PROGRAMS = [counts, keeps, writes_back, trains, counts_in_a_loop, keeps_in_a_loop, keeps_in_a_branch_of_a_loop]


@pytest.mark.parametrize("kind", [Net, State])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_is_like_any_object(program: Any, kind: Any) -> None:
    eager, compiled = kind(), kind()
    run = jit(lambda x: program(compiled, x))
    for i in range(20):
        x = [3.0 + i % 5, -1.0 - i % 7 * 1.5]
        assert run(Tensor(x)).asnumpy().tolist() == program(eager, Tensor(x)).asnumpy().tolist()
        assert compiled.count == eager.count
        assert compiled.last.asnumpy().tolist() == eager.last.asnumpy().tolist()
        assert getattr(compiled, "training", None) == getattr(eager, "training", None)
    assert len(run.report().graphs) <= 3
    assert not run.report().breaks


def test_a_parameter_written_in_place_stays() -> None:
    net = Net()

    def step(x: Any) -> Any:
        if x.sum() > 0:
            net.steps += 1
        return x * net.steps

    run = jit(step)
    for i in range(12):
        run(Tensor([1.0 - i % 2 * 2]))
    assert int(net.steps) == 6
    assert len(run.report().graphs) == 1


@pytest.mark.parametrize("loop", [False, True])
def test_other_graphs_see_the_change(loop: bool) -> None:
    """A layer of the library, of which other graphs guard the version alone."""
    layer = nn.ReLU()
    layer.scale = 1.0

    class Scaled(nn.Cell):
        def construct(self, x: Any) -> Any:
            return layer(x) * layer.scale

    reader = jit(Scaled())

    def change(x: Any) -> Any:
        if loop:
            while x.sum() < 4:
                layer.scale = layer.scale * 2.0
                x = x + 1
        elif x.sum() > 0:
            layer.scale = layer.scale * 2.0
        return x

    write, scale = jit(change), 1.0
    for x in (1.0, -1.0, 1.0, 1.0) if not loop else (3.0, 5.0, 2.0, 3.0):
        assert reader(Tensor([1.0])).asnumpy().tolist() == [scale]
        write(Tensor([x]))
        scale *= (2.0 ** max(0, 4 - int(x))) if loop else 2.0 if x > 0 else 1.0
        assert layer.scale == scale


def test_a_layer_replaced_on_a_side() -> None:
    """Another layer in the place of one is seen by every graph."""

    class Switching(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.SequentialCell([nn.ReLU()])

        def construct(self, x: Any) -> Any:
            return self.layers(x)

    net = Switching()
    reader = jit(net)

    def change(x: Any) -> Any:
        if x.sum() > 0:
            net.layers[0] = nn.Tanh()
        return x

    write = jit(change)
    assert reader(Tensor([-1.0])).asnumpy().tolist() == [0.0]
    write(Tensor([-1.0]))
    assert reader(Tensor([-1.0])).asnumpy().tolist() == [0.0]
    write(Tensor([1.0]))
    assert float(reader(Tensor([-1.0]))[0]) == pytest.approx(-0.7615942)
