"""Arguments of gradients that the function, or the caller afterwards, writes to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import Parameter, Tensor, grad, jit, vjp


def halves(y: Any) -> Any:
    y[0] = y[1] * 2
    return (y * y).sum()


@pytest.mark.parametrize("compiled", [False, True])
def test_a_pullback_of_a_function_that_writes_its_argument(compiled: bool) -> None:
    f = jit(halves) if compiled else halves
    for values in ([2.0, 3.0, 4.0], [5.0, -1.0, 2.0]):
        x = Tensor(values)
        out, pullback = vjp(f, x)
        expected = [0.0, 10 * values[1], 2 * values[2]]
        for _ in range(2):
            assert pullback(Tensor(1.0))[0].tolist() == expected
        assert x.tolist() == [2 * values[1], *values[1:]]
        assert out.item() == 5 * values[1] ** 2 + values[2] ** 2
        assert grad(f)(Tensor(values)).tolist() == expected


def _item(x: Any) -> None:
    x[0] = 100.0


WRITES: dict[str, Callable[[Any], Any]] = {
    "item": _item,
    "in place": lambda x: x.add_(Tensor([1.0, 1.0])),
    "assign": lambda x: weft.ops.assign(x, Tensor([7.0, 8.0])),
    "through a view": lambda x: x[1:].zero_(),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("kind", ["tensor", "parameter", "array"])
def test_a_write_between_the_run_and_the_pullback(kind: str, write: str) -> None:
    """Gradients use the values as they were when an operation ran."""

    def program(x: Any) -> Any:
        _, pullback = vjp(lambda x: (x * x).sum(), x)
        first = pullback(Tensor(1.0))[0]
        WRITES[write](x)
        return first, pullback(Tensor(1.0))[0]

    def given() -> Any:
        if kind == "array":
            return Tensor.from_numpy(np.array([1.0, 2.0], np.float32))
        x = Tensor([1.0, 2.0])
        return Parameter(x, name="p") if kind == "parameter" else x

    for call in (program, jit(program)):
        for _ in range(2):
            first, second = call(given())
            assert first.tolist() == second.tolist() == [2.0, 4.0]


G = Tensor([1.0, 2.0, 3.0])


def _other_name(x: Any, y: Any) -> Any:
    y[0] = x[1]
    return (x * y).sum()


def _view_of_a_global(x: Any, y: Any) -> Any:
    G[1:].add_(x[:2])
    return (x * G).sum()


def _global(x: Any, y: Any) -> Any:
    G.add_(x)
    return (x[:2] * G[:2]).sum()


MODES: dict[str, Callable[[Any], Any]] = {
    "eager": grad,
    "of compiled": lambda f: grad(jit(f)),
    "compiled": lambda f: jit(grad(f)),
    "inside": lambda f: jit(lambda x, y: grad(f)(x, y) * 1),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("program", [_other_name, _view_of_a_global, _global])
def test_an_argument_that_is_written_under_another_name(program: Any, mode: str) -> None:
    """Inside the function it is a tensor of its own, so the write would be lost."""
    global G
    for _ in range(2):
        G = Tensor([1.0, 2.0, 3.0])
        with pytest.raises(ValueError, match="shares elements with another tensor"):
            MODES[mode](program)(G, G)


def test_forward_mode_refuses_it_too() -> None:
    b = Tensor([1.0, 2.0])
    with pytest.raises(ValueError, match="shares elements with another tensor"):
        weft.jvp(_other_name, (b, b), (Tensor([1.0, 0.0]), Tensor([0.0, 1.0])))


T = Tensor([0.3, 0.2, 0.1])


def _global_in_a_branch(x: Any, y: Any) -> Any:
    if x.sum() < 0.1:
        T.add_(x)
    return (x * T).sum()


def _argument_in_a_branch(x: Any, y: Any) -> Any:
    if x.sum() < 0.1:
        y.add_(x)
    return (x * y).sum()


def _global_in_a_loop(x: Any, y: Any) -> Any:
    i = 0
    while x.sum() < 0.1 and i < 3:
        T.add_(x)
        i += 1
    return (x * T).sum()


@pytest.mark.parametrize("way", [lambda f: f, jit], ids=["eager", "compiled"])
@pytest.mark.parametrize("f", [_global_in_a_branch, _argument_in_a_branch, _global_in_a_loop])
def test_a_write_that_a_run_does_not_make_is_not_refused(f: Callable[..., Any], way: Callable[[Any], Any]) -> None:
    for gradient in (grad(way(f)), way(grad(f))):
        for _ in range(3):
            T.set_data(Tensor([0.3, 0.2, 0.1]))
            np.testing.assert_allclose(gradient(T, T).asnumpy(), [0.3, 0.2, 0.1], rtol=1e-6)
            T.set_data(Tensor([-0.3, 0.2, 0.1]))
            with pytest.raises(ValueError, match="shares elements"):
                gradient(T, T)
