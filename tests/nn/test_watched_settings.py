"""What compiled code reads of Cells and Parameters besides their values: frozen weights, modes, hooks."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weft import Parameter, Tensor, nn
from weft.autodiff.grad import GradOperation, grad, value_and_grad
from weft.jit import jit

X = np.array([[1.0, 2.0]], np.float32)


def layers() -> nn.Cell:
    return nn.SequentialCell(nn.Dense(2, 2, "ones", "zeros"), nn.BatchNorm1d(2), nn.Dense(2, 1, "ones", "zeros"))


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.layers = layers()
        self.scale = Parameter(Tensor(np.ones(2, np.float32)), name="scale")

    def construct(self, x: Any) -> Any:
        return self.layers(x * self.scale).sum()


def trained(net: nn.Cell) -> Any:
    def program(x: Any) -> Any:
        weights = net.trainable_params()
        return len(weights), value_and_grad(net, None, weights)(x)

    return program


def asked(net: nn.Cell) -> Any:
    return lambda x: ([p.requires_grad for p in net.get_parameters()], net.training, net.requires_grad, x + 1)


def by_operation(net: nn.Cell) -> Any:
    return lambda x: GradOperation(get_by_list=True)(net)(x)


def switching(net: nn.Cell) -> Any:
    def program(x: Any) -> Any:
        before = net.training
        net.set_train(False)
        out = net(x)
        net.set_train(not before)
        return out, net.training

    return program


def freezing(net: nn.Cell) -> Any:
    parameters = list(net.get_parameters())

    def program(x: Any) -> Any:
        parameters[0].requires_grad = not parameters[0].requires_grad
        return net(x), [p.requires_grad for p in parameters], [p.name for p in net.trainable_params()]

    return program


def marking(net: nn.Cell) -> Any:
    def program(x: Any) -> Any:
        net.set_grad(not net.requires_grad)
        return net(x), net.requires_grad

    return program


def hooking(net: nn.Cell) -> Any:
    def program(x: Any) -> Any:
        handle = net.register_forward_hook(lambda cell, inputs, out: out * 2)
        out = net(x)
        handle.remove()
        return out

    return program


def of_one(net: nn.Cell) -> Any:
    weight = next(iter(net.get_parameters()))
    return lambda x: grad(net, None, weight)(x)


PROGRAMS = {
    function.__name__: function
    for function in (trained, asked, by_operation, switching, freezing, marking, hooking, of_one)
}


def edits(net: nn.Cell) -> list[Callable[[], Any]]:
    """What is done to a network between the calls."""
    first = next(iter(net.get_parameters()))
    handles: list[Any] = []

    def freeze(frozen: bool) -> None:
        first.requires_grad = not frozen

    return [
        lambda: None,
        lambda: freeze(True),
        lambda: (freeze(False), net.set_train()),
        lambda: handles.append(net.register_forward_hook(lambda cell, inputs, out: out * 3)),
        lambda: (handles[0].remove(), net.set_train(False), handles.append(first.register_hook(lambda g: g * 7))),
        lambda: handles[1].remove(),
        lambda: net.register_backward_hook(lambda cell, gi, go: None if gi[0] is None else (gi[0] * 2,)),
        lambda: net.set_grad(),
    ]


def numbers(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.asnumpy()
    return [numbers(item) for item in value] if isinstance(value, (tuple, list)) else value


def assert_same(a: Any, b: Any) -> None:
    if isinstance(a, list):
        assert len(a) == len(b)
        for one, other in zip(a, b, strict=True):
            assert_same(one, other)
    elif isinstance(a, np.ndarray):
        np.testing.assert_allclose(b, a, rtol=1e-4, atol=1e-6)
    else:
        assert a == b


@pytest.mark.parametrize("make", (layers, Net))
@pytest.mark.parametrize("name", PROGRAMS)
def test_changes_between_calls_and_in_calls(name: str, make: Any) -> None:
    nets = make(), make()
    programs = PROGRAMS[name](nets[0]), jit(PROGRAMS[name](nets[1]))
    for changes in zip(*map(edits, nets), strict=True):
        found = []
        for change, program in zip(changes, programs, strict=True):
            change()
            found.append(numbers(program(Tensor(X))))
        assert_same(*found)


def test_hooks_of_tensors_are_those_of_the_call() -> None:
    program = jit(lambda x: grad(lambda y: (y * y).sum())(x))
    x = Tensor([1.0, 2.0])
    found = [program(x).asnumpy()]
    factor = [10.0]
    handle = x.register_hook(lambda g: g * factor[0])
    found.append(program(x).asnumpy())
    factor[0] = 100.0
    found.append(program(x).asnumpy())
    handle.remove()
    found.append(program(x).asnumpy())
    for got, scale in zip(found, (1, 10, 100, 1), strict=True):
        np.testing.assert_allclose(got, np.array([2.0, 4.0]) * scale)


class Shift:
    def __init__(self) -> None:
        self.by = 1.0

    def __call__(self, x: Any) -> Any:
        return x + self.by

    def method(self, x: Any) -> Any:
        return x + self.by


@pytest.mark.parametrize(
    "part", (lambda s: s, lambda s: s.method, lambda s: functools.partial(Shift.method, s)), ids=("object", "m", "p")
)
def test_library_cells_enter_the_functions_that_they_hold(part: Any) -> None:
    shift = Shift()
    cell = nn.Dense(2, 2, "ones", "zeros", activation=part(shift))
    program = jit(lambda x: cell(x) * 2)
    for by in (1.0, 2.0, 5.0):
        shift.by = by
        np.testing.assert_allclose(program(Tensor(X)).asnumpy(), [[6 + 2 * by] * 2])


def test_library_code_that_nobody_declared_is_a_break() -> None:
    net = Net()
    visited: list[str] = []

    def visit(cell: nn.Cell) -> None:
        visited.append(type(cell).__name__)

    def program(x: Any) -> Any:
        y = x * 2
        net.apply(visit)
        return y + len(visited)

    compiled = jit(program)
    count = len(list(net.cells_and_names()))
    for call in (1, 2, 3):
        np.testing.assert_allclose(compiled(Tensor(X)).asnumpy(), X * 2 + call * count)
    assert len(visited) == 3 * count


def modes(net: nn.Cell, of: nn.Cell) -> list[Any]:
    """What a program does to a Cell between calls, each as a function."""
    return [
        lambda: net.set_train(),
        lambda: net.set_train(False),
        lambda: net.set_train(),
        lambda: setattr(of, "training", False),
        lambda: setattr(of, "training", 1),
        lambda: setattr(of, "training", False),
        lambda: setattr(of, "training", True),
        lambda: net.set_grad(),
        lambda: setattr(of, "momentum", 0.5),
        lambda: setattr(of, "momentum", 0.5),
        lambda: net.set_train(False),
        lambda: setattr(of, "momentum", 0.9),
        lambda: net.set_train(True),
        lambda: setattr(of, "gamma", Parameter(Tensor(np.full(2, 3.0, np.float32)))),
        lambda: of.register_forward_hook(lambda cell, inputs, output: output * 2),
        lambda: of.register_forward_hook(lambda cell, inputs, output: output * 3),
        lambda: net.set_train(False),
        lambda: net.set_train(True),
    ]


def test_changes_of_a_library_cell_are_seen_between_changes_of_its_mode() -> None:
    x = np.array([[1.0, 2.0], [3.0, 5.0]], np.float32)

    def told(deco: Any) -> list[Any]:
        net = layers()
        function = deco(lambda x: net(x))
        found = [function(Tensor(x)).asnumpy().tolist()]
        for change in modes(net, net[1]):
            change()
            found += [function(Tensor(x)).asnumpy().tolist() for _ in range(2)]
        return found

    np.testing.assert_allclose(told(jit), told(lambda function: function), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("make", (Net, layers, lambda: nn.Dropout(p=0.5)), ids=("own", "library", "dropout"))
def test_going_back_to_a_mode_finds_its_graph(make: Any) -> None:
    net = make()
    program = jit(lambda x: net(x))
    x = Tensor(np.array([[1.0, 2.0], [3.0, 5.0]], np.float32))
    for _ in range(5):
        net.set_train()
        program(x)
    assert len(program.report().graphs) == 1
    for number in range(100):
        net.set_train(number % 2 == 0)
        program(x)
    assert len(program.report().graphs) == 2


def test_compiled_code_that_switches_a_mode_leaves_the_versions_in_step() -> None:
    net = layers()

    @jit
    def evaluated(x: Any) -> Any:
        net.set_train(False)
        out = net(x)
        net.set_train(True)
        return out

    @jit
    def plain(x: Any) -> Any:
        return net(x)

    x = Tensor(np.array([[1.0, 2.0], [3.0, 5.0]], np.float32))
    for number in range(6):
        net.set_train(number % 2 == 0)
        for function in (plain, evaluated, plain):
            training = net.training
            found = function(x).asnumpy()
            if function is evaluated or not training:  # running statistics move in training
                assert net.training is (function is evaluated)
                if function is not evaluated:
                    np.testing.assert_allclose(found, net(x).asnumpy(), rtol=1e-5)
        for _, cell in net.cells_and_names():
            assert cell._version & 1 == cell.training
