"""What a function writes to its arguments is the same where the program watches or gives its gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import Parameter, Tensor, nn, ops, value_and_grad
from weft.autodiff.function import Function
from weft.autodiff.recompute import recompute

X = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
RUNS: dict[str, Callable[[Any], Any]] = {
    "eager": value_and_grad,
    "gradient of a graph": lambda f: value_and_grad(weft.jit(f)),
    "gradient in a graph": lambda f: weft.jit(value_and_grad(f)),
}


class Rows(nn.Cell):
    def construct(self, x: Any, cache: Any) -> Any:
        cache[0] = x[1]
        return x * 2


class All(nn.Cell):
    def construct(self, x: Any, cache: Any) -> Any:
        cache.copy_(x * x)
        return x + cache


class Collecting(nn.Cell):
    def construct(self, x: Any, found: Any) -> Any:
        y = x * 2
        found.append(y)
        found.extend([x, y + 1])
        return y


class Replacing(nn.Cell):
    def construct(self, x: Any, found: Any) -> Any:
        found[0], first = x * found[0], found[0]
        return first * x


class Dropping(nn.Cell):
    def construct(self, x: Any, found: Any) -> Any:
        return found.pop() * x


class State(nn.Cell):
    def construct(self, x: Any, state: Any) -> Any:
        state["h"] = state["h"] * 0.5 + x
        state["n"] = state.pop("m", 0) + 1
        return state["h"] * 2


class Nested(nn.Cell):
    def construct(self, x: Any, state: Any) -> Any:
        state["all"][0].append(x * 3)
        state["all"][1].mul_(x)
        return x * state["all"][1]


class InPlace(nn.Cell):
    def construct(self, x: Any, other: Any) -> Any:
        return other.relu_()


class Same(nn.Cell):
    def construct(self, x: Any, other: Any) -> Any:
        return other


class View(nn.Cell):
    def construct(self, x: Any, other: Any) -> Any:
        return other[1]


def tensor(x: Any) -> Any:
    return x * 1 - 1.5


#: a cell, what it is given besides x, and what is computed of it all
PROGRAMS: dict[str, tuple[type[nn.Cell], Callable[[Any], Any], Callable[[Any, Any, Any], Any]]] = {
    "rows": (Rows, tensor, lambda x, given, y: (y * given).sum()),
    "rows of a constant": (Rows, lambda x: Tensor(X) + 0, lambda x, given, y: (y * given).sum()),
    "all": (All, tensor, lambda x, given, y: (y * given).sum()),
    "append": (Collecting, lambda x: [], lambda x, given, y: sum((f * f).sum() for f in given) + y.sum()),
    "append behind": (Collecting, lambda x: [x * 3], lambda x, given, y: sum((f * f).sum() for f in given)),
    "replace": (Replacing, lambda x: [x * 5, x], lambda x, given, y: (given[0] * y).sum() + given[1].sum()),
    "pop": (Dropping, lambda x: [x * 2, x * 3], lambda x, given, y: (y * given[-1]).sum() * len(given)),
    "dict": (
        State, lambda x: {"h": x * 3, "m": 4},
        lambda x, given, y: (y * given["h"]).sum() * given["n"] * len(given),
    ),
    "nested": (
        Nested, lambda x: {"all": ([], x * 2)},
        lambda x, given, y: (y * given["all"][1]).sum() + given["all"][0][0].sum() * len(given["all"][0]),
    ),
    "in place": (InPlace, tensor, lambda x, given, y: (given * 3 + y).sum()),
}  # fmt: skip
#: these return an argument, or a view of it
ALIASES = {
    "the same": (Same, tensor, lambda x, given, y: (y.add_(1.0) * given).sum()),
    "the same, written behind": (Same, tensor, lambda x, given, y: (given.mul_(2.0) * y).sum()),
    "a view": (View, tensor, lambda x, given, y: (y.add_(x[0]) * given).sum()),
    "a view, written behind": (View, tensor, lambda x, given, y: (given.mul_(2.0) * y).sum()),
    "in place, written behind": (InPlace, tensor, lambda x, given, y: (y.add_(1.0) * given).sum()),
}


def watched(cell: nn.Cell) -> nn.Cell:
    cell.register_backward_hook(lambda cell, grad_input, grad_output: None)
    return cell


def watched_before(cell: nn.Cell) -> nn.Cell:
    cell.register_backward_pre_hook(lambda cell, grad_output: None)
    return cell


def program(cell: nn.Cell, given: Callable[[Any], Any], loss: Callable[[Any, Any, Any], Any]) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        other = given(x)
        return loss(x, other, cell(x, other))

    return run


def of(run: str, function: Callable[[Any], Any]) -> list[Any]:
    compute = RUNS[run](function)
    return [[value.asnumpy().tolist() for value in compute(Tensor(x))] for x in (X, X + 1, X)]


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("watch", [watched, watched_before])
@pytest.mark.parametrize("name", [*PROGRAMS, *ALIASES])
def test_hooks_of_cells(name: str, watch: Callable[[nn.Cell], nn.Cell], run: str) -> None:
    cell, *others = {**PROGRAMS, **ALIASES}[name]
    assert of(run, program(watch(cell()), *others)) == of("eager", program(cell(), *others))


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_with_a_bprop(name: str, run: str) -> None:
    """The gradient of the cell is its own, but what it writes is the same."""
    cell, given, loss = PROGRAMS[name]

    class Own(cell):  # type: ignore[misc,valid-type]
        def bprop(self, x: Any, other: Any, out: Any, dout: Any) -> Any:
            return x * 0, None

    plain, own = (program(made(), given, loss) for made in (cell, Own))
    assert [value for value, _ in of(run, own)] == [value for value, _ in of("eager", plain)]
    assert own(Tensor(X)).asnumpy() == plain(Tensor(X)).asnumpy()


class Recorded(Function):
    @staticmethod
    def forward(ctx: Any, x: Any, found: Any) -> Any:
        if isinstance(found, dict):
            found["y"] = x * 1
        else:
            found.append(x * 1)
        return x * 2

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient * 2, None


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("make", [list, dict])
def test_containers_that_a_function_fills(make: Any, run: str) -> None:
    def loss(x: Any) -> Any:
        found = make()
        y = Recorded.apply(x, found)
        (only,) = found.values() if isinstance(found, dict) else found
        return (y * only).sum()

    assert of(run, loss)[0] == [60.0, (2 * X).tolist()]


@pytest.mark.parametrize("run", RUNS)
def test_lists_and_tensors_from_outside(run: str) -> None:
    found: list[Any] = []
    cache = Parameter(Tensor(np.zeros((2, 2), np.float32)), name="cache")
    collecting, rows = watched(Collecting()), watched(Rows())
    compute = RUNS[run](lambda x: (collecting(x, found) * rows(x, cache)).sum())
    for count, scale in ((3, 1), (6, 2), (9, 3)):
        compute(Tensor(X * scale))
        assert len(found) == count
        assert cache.asnumpy().tolist() == [[3.0 * scale, 4.0 * scale], [0.0, 0.0]]
    assert [value.asnumpy().tolist() for value in found[-3:]] == [
        (X * 6).tolist(),
        (X * 3).tolist(),
        (X * 6 + 1).tolist(),
    ]


@pytest.mark.parametrize("run", RUNS)
def test_a_container_that_is_returned_is_itself(run: str) -> None:
    class Filling(nn.Cell):
        def construct(self, state: Any) -> Any:
            state["y"] = state["x"] * 2
            return state

    cell = watched(Filling())

    def loss(x: Any) -> Any:
        state = {"x": x * 1}
        found = cell(state)
        return (found["y"] * state["y"]).sum() + int(found is state)

    assert of(run, loss)[0] == [121.0, (8 * X).tolist()]


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize(
    "block", [lambda y: y[0], lambda y: (y * 2)[0], lambda y: y.reshape(4)[:2], lambda y: y.T[:, 0]]
)
@pytest.mark.parametrize("write", [lambda y, z: y.mul_(2.0), lambda y, z: z[:1].mul_(y[1, 1])])
def test_a_view_that_a_recomputed_block_returns(
    write: Callable[[Any, Any], Any], block: Callable[[Any], Any], run: str
) -> None:
    def loss(x: Any, call: Callable[..., Any]) -> Any:
        y = x * 1
        z = call(block, y)
        write(y, z)
        return (z * y).sum()

    assert of(run, lambda x: loss(x, recompute)) == of("eager", lambda x: loss(x, lambda block, y: block(y)))


def test_the_gradients_that_a_hook_sees_of_what_is_written() -> None:
    """What is not written anew passes the hook as well as what is."""
    seen: list[Any] = []
    cell = Rows()
    cell.register_backward_hook(lambda cell, grad_input, grad_output: seen.append(grad_input))

    def loss(x: Any, cache: Any) -> Any:
        own = cache * 1
        return (cell(x, own) * own).sum()

    of_x, of_cache = weft.grad(loss, (0, 1))(Tensor(X), Tensor(X))
    np.testing.assert_array_equal(of_cache.asnumpy(), [[0.0, 0.0], [6.0, 8.0]])
    np.testing.assert_array_equal(of_x.asnumpy(), [[6.0, 8.0], [6.0 + 2.0, 8.0 + 4.0]])
    ((grad_x, grad_cache),) = seen
    np.testing.assert_array_equal(grad_x.asnumpy(), of_x.asnumpy())
    np.testing.assert_array_equal(grad_cache.asnumpy(), of_cache.asnumpy())


def test_gradients_of_a_bprop_that_writes() -> None:
    class Own(Rows):
        def bprop(self, x: Any, cache: Any, out: Any, dout: Any) -> Any:
            return dout * 7, ops.zeros_like(cache)

    cell = Own()
    for compute in (weft.grad, lambda f: weft.jit(weft.grad(f)), lambda f: weft.grad(weft.jit(f))):
        cache = Tensor(np.zeros((2, 2), np.float32))
        gradient = compute(lambda x, cache=cache: cell(x, cache).sum())(Tensor(X))
        assert gradient.asnumpy().tolist() == [[7.0, 7.0], [7.0, 7.0]]
        assert cache.asnumpy().tolist() == [[3.0, 4.0], [0.0, 0.0]]
