"""Breaks in functions that library code calls back, as `grad` does: such a function is captured by itself."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weft import Parameter, Tensor, nn, ops
from weft.autodiff.composite import HyperMap
from weft.autodiff.grad import GradOperation, grad, jvp, value_and_grad, vjp
from weft.jit import jit

SEEN: list[float] = []


def note(x: Any) -> Any:
    """What no graph can hold: a value that Python looks at."""
    SEEN.append(float(x.asnumpy().sum()))
    return x


def broken(x: Any, y: Any) -> Any:
    h = ops.tanh(x * y) + x
    note(h)
    h = h * h + ops.sin(y)
    return (h * x).sum()


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.w = Parameter(Tensor(np.array([0.5, -1.0, 2.0], np.float32)), name="w")

    def construct(self, x: Any) -> Any:
        h = ops.exp(x * self.w)
        note(h)
        return (h * self.w).sum()


NET = Net()


def with_aux(x: Any, y: Any) -> Any:
    return broken(x, y), x + y


def through_cell(x: Any, y: Any) -> Any:
    loss, weights = value_and_grad(NET, None, [NET.w])(x + y)
    return loss * 2, weights


def twice(x: Any, y: Any) -> Any:
    return grad(lambda z: grad(broken)(z, y).sum())(x) + 1


def by_pullback(x: Any, y: Any) -> Any:
    out, pull = vjp(broken, x * 2, y)
    return out, pull(Tensor(np.float32(3)))


def closed_over(x: Any, y: Any) -> Any:
    count = [0]

    def inner(a: Any, scale: Any = 2) -> Any:
        count[0] += 1
        return broken(a * scale, y) + count[0]

    return grad(inner)(x), grad(inner)(x, scale=3), count


def pulled_later(x: Any, y: Any) -> Any:
    out, pull = vjp(lambda a: (a * a * y).sum(), x)
    note(out)
    return pull(out)


def kept_transforms(x: Any, y: Any) -> Any:
    count = [1]

    def inner(a: Any) -> Any:
        count[0] += 1
        return (a * y).sum() * count[0]

    derivative, mapped = grad(inner), HyperMap(lambda a: a * count[0])
    note(x)
    first = derivative(x)
    note(first)
    return first + derivative(x), mapped((x, [y])), count


PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "grad": lambda x, y: grad(broken)(x + 1, y) * 2,
    "both": lambda x, y: grad(broken, (0, 1))(x, y * 2),
    "value": lambda x, y: value_and_grad(broken)(x, y),
    "aux": lambda x, y: grad(with_aux, 0, None, True)(x, y),
    "operation": lambda x, y: GradOperation(get_all=True)(broken)(x, y),
    "cell": through_cell,
    "second order": twice,
    "vjp": by_pullback,
    "jvp": lambda x, y: jvp(broken, (x, y), (y, x)),
    "closure": closed_over,
    "pulled later": pulled_later,
    "kept": kept_transforms,
}


def numbers(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.asnumpy()
    return [numbers(item) for item in value] if isinstance(value, (tuple, list)) else value


def equal(a: Any, b: Any) -> None:
    if isinstance(a, list):
        assert len(a) == len(b)
        for one, other in zip(a, b, strict=True):
            equal(one, other)
    else:
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_a_transform_computes_is_that_of_eager(name: str) -> None:
    program = PROGRAMS[name]
    jitted = jit(program, mode="PIJit")
    for scale in (1.0, 2.0, 2.0):
        x = Tensor(np.array([0.3, -0.7, 1.1], np.float32) * np.float32(scale))
        y = Tensor(np.array([1.5, 0.2, -0.4], np.float32))
        SEEN.clear()
        wanted, seen = numbers(program(x, y)), list(SEEN)
        SEEN.clear()
        equal(numbers(jitted(x, y)), wanted)
        np.testing.assert_allclose(SEEN, seen, rtol=2e-5)
    report = jitted.report()
    lines = {found.site.location.line for found in report.breaks}
    assert note.__code__.co_firstlineno + 2 in lines
    assert len(lines) == {"pulled later": 3, "vjp": 2}.get(name, 1)  # a tape stays in Python
    assert not any("other object" in graph.event.reason for graph in report.graphs)


def test_the_function_is_in_graphs_and_its_break_is_one() -> None:
    jitted = jit(PROGRAMS["grad"], mode="PIJit")
    x, y = Tensor(np.ones(3, np.float32)), Tensor(np.ones(3, np.float32))
    for _ in range(3):
        jitted(x, y)
    report = jitted.report()
    assert [found.count for found in report.breaks] == [3]
    kinds = [kind for graph in report.graphs for kind in graph.operations]
    assert {"Tanh", "Sin", "ReduceSum"} <= set(kinds)


def test_exceptions_of_the_function_keep_their_place() -> None:
    def wrong(x: Any) -> Any:
        note(x)
        return ops.reshape(x, (7, 7)).sum()

    def program(x: Any) -> Any:
        return grad(wrong)(x * 2)

    x = Tensor(np.ones(3, np.float32))
    for function in (program, jit(program, mode="PIJit")):
        with pytest.raises(ValueError, match=r"reshape|shape") as caught:
            function(x)
        lines = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
        assert lines.index("program") < lines.index("wrong")
    assert grad(lambda a: (a * a).sum())(x).asnumpy().tolist() == [2, 2, 2]


def test_train_step_with_a_look_at_the_loss() -> None:
    def weights(compiled: bool) -> list[Any]:
        net = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 1))
        generator = np.random.default_rng(0)
        for parameter in net.trainable_params():
            parameter.set_data(Tensor(generator.normal(size=parameter.shape).astype(np.float32)))
        optimizer = nn.Momentum(net.trainable_params(), 0.05, 0.9)

        def forward(x: Any, y: Any) -> Any:
            loss = ((net(x) - y) ** 2).mean()
            if float(loss.asnumpy()) > 1e9:
                return loss * 0
            return loss + ops.exp(-loss)

        forward_and_gradients = value_and_grad(forward, None, optimizer.parameters)

        def step(x: Any, y: Any) -> Any:
            loss, gradients = forward_and_gradients(x * 2, y)
            optimizer(gradients)
            return loss

        run = jit(step, mode="PIJit") if compiled else step
        x = Tensor(generator.normal(size=(3, 4)).astype(np.float32))
        y = Tensor(generator.normal(size=(3, 1)).astype(np.float32))
        losses = [float(run(x, y)) for _ in range(4)]
        return [losses, *[p.asnumpy() for p in net.trainable_params()]]

    for got, wanted in zip(weights(True), weights(False), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


def test_a_compiled_transform_breaks_in_its_function() -> None:
    """There is no frame of the program around the transform."""
    x = Tensor(np.array([0.3, -0.7, 1.1], np.float32))

    def function(x: Any) -> Any:
        return broken(x, x + 1)

    jitted = jit(grad(function))
    SEEN.clear()
    wanted = grad(function)(x).asnumpy()
    for _ in range(3):
        np.testing.assert_allclose(jitted(x).asnumpy(), wanted, rtol=2e-5)
    assert len(SEEN) == 4
