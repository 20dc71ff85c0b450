"""`Function`: computations with a derivative of the program's own, eagerly and in graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.helpers.compiled import compiler, entries
from tests.helpers.outcomes import printed_by
from weft import Parameter, Tensor, grad, jit, nn, ops, vmap
from weft.autodiff.function import Function
from weft.testing import assert_no_breaks

X = np.array([1.0, 2.0], np.float32)
MODES = pytest.mark.parametrize("mode", ("eager", "auto"))


class Cube(Function):
    @staticmethod
    def forward(ctx: Any, x: Any, factor: Any) -> Any:
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x * x * x * factor

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 3 * x * x * ctx.factor * gradient, None


class TenfoldExp(Function):
    """Saves its result; the derivative is ten times the real one, so that one sees which was used."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        y = ops.exp(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient * ctx.saved_tensors[0] * 10


class Several(Function):
    """Containers, attributes that hold tensors, a result without derivative, an input that may need none."""

    @staticmethod
    def forward(ctx: Any, pair: Any, y: Any, *, shift: float = 0.0) -> Any:
        first, second = pair
        between = ops.sin(first)
        ctx.kept = {"pair": pair, "between": [between]}
        ctx.label = "kept"
        larger = first > y
        ctx.mark_non_differentiable(larger)
        return {"product": first * y + shift}, between * second, larger, "text"

    @staticmethod
    def backward(ctx: Any, product: Any, other: Any, larger: Any, text: Any) -> Any:
        assert (text, ctx.label, larger.shape) == (None, "kept", (2,))
        print("backward", ctx.needs_input_grad)
        first, second = ctx.kept["pair"]
        (between,) = ctx.kept["between"]
        y = product["product"] * first if ctx.needs_input_grad[1] else None
        return (other * second, other * between), y


class AddsOne(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        x[:] = x + 1
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient * 5


class Asks(Function):
    @staticmethod
    def forward(ctx: Any, x: Any, y: Any) -> Any:
        print("forward", ctx.needs_input_grad)
        return x * y

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        print("backward", ctx.needs_input_grad)
        return gradient, gradient * 2


class Refuses(Function):
    @staticmethod
    def forward(ctx: Any, x: Any, limit: Any) -> Any:
        if x.sum() > limit:
            raise ValueError("forward refuses")
        return x * 2

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        raise KeyError("backward refuses")


def several(x: Any) -> Any:
    first, second, larger, text = Several.apply((x, x * x), x + 1, shift=2.0)
    assert text == "text"
    once = Several.apply([x, Tensor(X)], Tensor(X))
    return first["product"] * second + ops.where(larger, x, x * 2) + once[0]["product"]


def written(x: Any) -> Any:
    y = x * 2
    z = AddsOne.apply(y)
    return y * z + y


def in_a_loop(x: Any) -> Any:
    for i in range(3):
        x = Cube.apply(x * 0.5, i + 1)
    return TenfoldExp.apply(x)


def in_a_branch(x: Any) -> Any:
    return Cube.apply(x, 2) if x.sum() > 2 else TenfoldExp.apply(x)


def in_a_graph_loop(x: Any) -> Any:
    while x.sum() < 20:
        x = Cube.apply(x, 2.0) + x
    return x


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "inputs": lambda x: Cube.apply(x, 2) * x,
    "results": lambda x: TenfoldExp.apply(x) * TenfoldExp.apply(x * 0.5),
    "a tensor attribute": lambda x: Cube.apply(x, ops.sum(x)),
    "several": several,
    "written": written,
    "a loop": in_a_loop,
    "a branch": in_a_branch,
    "a graph loop": in_a_graph_loop,
    "asking": lambda x: Asks.apply(x, Tensor(X)) + Asks.apply(Tensor(X), x),
    "a stopped input": lambda x: Cube.apply(ops.stop_gradient(x), 2) + x,
}


def loss(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: function(x).sum()


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_derivatives_are_those_of_eager_code(name: str) -> None:
    f = PROGRAMS[name]
    compiled = jit(f)
    runs = {
        "value": (f, compiled, jit(f)),
        "gradient": (grad(loss(f)), grad(loss(compiled)), jit(grad(loss(f)))),
        "second": tuple(
            run(grad(lambda x, g=g: g(x).sum()))
            for run, g in ((lambda h: h, grad(loss(f))), (lambda h: h, grad(loss(compiled))), (jit, grad(loss(f))))
        ),
    }
    for values in (X, X * 0.5, X):
        for what, (eager, *others) in runs.items():
            expected, _, printed = printed_by(lambda: eager(Tensor(values)))
            for other in others:
                found, error, out = printed_by(lambda: other(Tensor(values)))
                assert error is None, what
                np.testing.assert_allclose(found, expected, rtol=1e-4, err_msg=what)
                assert out == printed, what


@MODES
def test_the_derivative_is_the_one_that_was_written(mode: str) -> None:
    run = compiler(mode)
    np.testing.assert_allclose(run(grad(loss(lambda x: Cube.apply(x, 2))))(Tensor(X)), 6 * X * X)
    np.testing.assert_allclose(run(grad(loss(TenfoldExp.apply)))(Tensor(X)), 10 * np.exp(X), rtol=1e-6)
    second = run(grad(loss(grad(loss(TenfoldExp.apply)))))(Tensor(X))
    np.testing.assert_allclose(second, 100 * np.exp(X), rtol=1e-6)
    np.testing.assert_allclose(run(grad(loss(written)))(Tensor(X)), 10 * 2 * (2 * X + 1) + 10)
    np.testing.assert_allclose(run(written)(Tensor(X)), (2 * X + 1) ** 2 + 2 * X + 1)


@MODES
def test_which_inputs_need_gradients(mode: str) -> None:
    run = compiler(mode)
    y = Tensor(X)
    assert printed_by(lambda: run(Asks.apply)(y, y))[2] == "forward (False, False)\n"
    lines = "forward (True, False)\nbackward (True, False)\n"
    assert printed_by(lambda: run(grad(lambda x: Asks.apply(x, y).sum()))(y))[2] == lines
    assert printed_by(lambda: grad(run(lambda x: Asks.apply(x, y).sum()))(y))[2] == lines
    lines = "forward (True, True)\nbackward (True, True)\n"
    assert printed_by(lambda: run(grad(lambda x, y: Asks.apply(x, y).sum(), (0, 1)))(y, y))[2] == lines
    assert printed_by(lambda: grad(run(lambda x, y: Asks.apply(x, y).sum()), (0, 1))(y, y))[2] == lines


@MODES
def test_errors(mode: str) -> None:
    run = compiler(mode)
    with pytest.raises(ValueError, match="forward refuses"):
        run(Refuses.apply)(Tensor(X), Tensor(1.0))
    with pytest.raises(KeyError, match="backward refuses"):
        grad(run(lambda x: Refuses.apply(x, Tensor(9.0)).sum()))(Tensor(X))
    with pytest.raises(KeyError, match="backward refuses"):
        run(grad(lambda x: Refuses.apply(x, Tensor(9.0)).sum()))(Tensor(X))
    assert run(Refuses.apply)(Tensor(X), Tensor(9.0)).asnumpy().tolist() == [2.0, 4.0]

    class Unfinished(Function):
        pass

    class TooMany(Cube):
        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return gradient, None, None

    with pytest.raises(NotImplementedError, match="a Function needs forward"):
        run(Unfinished.apply)(Tensor(X))
    with pytest.raises(RuntimeError, match=r"TooMany\.backward returned 3 gradients for 2 inputs"):
        grad(run(lambda x: TooMany.apply(x, 2).sum()))(Tensor(X))


def test_it_is_in_the_graph() -> None:
    run = jit(grad(loss(lambda x: Cube.apply(x, 2) * TenfoldExp.apply(x))))
    with assert_no_breaks():
        for x in (X, X * 2):
            run(Tensor(x))
    assert entries(run) == 1


@MODES
def test_changed_constants(mode: str) -> None:
    run = compiler(mode)(grad(lambda x, factor: Cube.apply(x, factor).sum()))
    for factor in (2, 3, 4, Tensor(5.0), 2):
        np.testing.assert_allclose(run(Tensor(X), factor), 3 * X * X * float(factor))


@MODES
def test_weights_of_cells(mode: str) -> None:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.weight = Parameter(Tensor(X), name="weight")

        def construct(self, x: Any) -> Any:
            return Cube.apply(self.weight * x, 2).sum()

    net = Net()
    found = compiler(mode)(grad(net, None, net.trainable_params()))(Tensor([3.0, 1.0]))
    np.testing.assert_allclose(found[0], 6 * (X * [3, 1]) ** 2 * [3, 1])


def test_each_example_of_a_mapped_function() -> None:
    rows = np.arange(6, dtype=np.float32).reshape(3, 2)
    for run in (vmap(lambda x: Cube.apply(x, 2)), jit(vmap(lambda x: Cube.apply(x, 2)))):
        np.testing.assert_allclose(run(Tensor(rows)), 2 * rows**3)
        np.testing.assert_allclose(grad(lambda x, run=run: run(x).sum())(Tensor(rows)), 6 * rows**2)
