"""Functions on tensors that share their memory with NumPy arrays, eagerly and compiled, with writes between calls."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weft import Parameter, Tensor, grad, jit, ops, value_and_grad

P = Parameter(Tensor([1.0, 2.0]), name="p")


def branch(x: Any, y: Any) -> Any:
    if x.sum() > 0:
        x.add_(1.0)
    else:
        y[0] = x[1]
    return x + y


def loop(x: Any, y: Any) -> Any:
    while x.sum() < 10:
        x.add_(1.5)
    v = y[1:]
    for _ in range(3):
        v.mul_(x[1:])
    return v


def gradient(x: Any, y: Any) -> Any:
    def loss(x: Any) -> Any:
        x = x * y
        return (x * x).sum()

    return grad(loss)(x)


def gradient_beside_a_write(x: Any, y: Any) -> Any:
    def loss() -> Any:
        y.mul_(0.5)
        return (P * P * y + x).sum()

    return value_and_grad(loss, None, [P])()[1][0]


def assigned(x: Any, y: Any) -> Any:
    ops.assign(P, x + P * 0.5)
    return P * y


def replaced(x: Any, y: Any) -> Any:
    if x.sum() > 0:
        P.set_data(P + x)
    P.set_data(P * 0.5)
    return P + y


def seen_by_the_function(x: Any, y: Any) -> Any:
    z = x * y
    inside = z.asnumpy()
    inside[0] = 1.5
    y.asnumpy()[1] += 0.5
    return z + y


FUNCTIONS = (branch, loop, gradient, gradient_beside_a_write, assigned, replaced, seen_by_the_function)
COMPILED = {function: jit(function) for function in FUNCTIONS}


def history(function: Callable[..., Any], seed: int) -> list[Any]:
    """All values after each call; some of the tensors share with arrays that are written between the calls."""
    rng = random.Random(seed)

    def number() -> float:
        return float(np.float32(rng.uniform(-2, 2)))

    x, y = Tensor([number(), number()]), Tensor([number(), number()])
    P.set_data(Tensor([number(), 1.0]))
    tensors = (x, y, P)
    arrays = [tensor.asnumpy() if rng.random() < 0.6 else None for tensor in tensors]
    found = []
    for _ in range(3):
        for array in arrays:
            if array is not None:
                array[rng.randrange(2)] = number()
        result = function(x, y)
        kept = result.asnumpy() if rng.random() < 0.5 else None
        if kept is not None:
            kept[0] = 3.0
        found.append([np.array(tensor).tolist() for tensor in (result, *tensors)])
        for tensor, array in zip(tensors, arrays, strict=True):
            if array is not None and not (tensor is P and function in (replaced, COMPILED[replaced])):
                assert array.tolist() == np.array(tensor).tolist()
        found.append([None if array is None else array.tolist() for array in arrays])
    return found


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_graph_does_what_eager_code_does(function: Any, seed: int) -> None:
    wanted, found = history(function, seed), history(COMPILED[function], seed)
    assert str(wanted).count("None") == str(found).count("None")
    for one, other in zip(wanted, found, strict=True):
        for a, b in zip(one, other, strict=True):
            assert a is None or np.allclose(a, b, rtol=1e-4, atol=1e-5)


def test_sizes_that_change() -> None:
    total = jit(lambda x: (x * 2).sum(0))
    for size in (2, 3, 4, 5, 6, 3, 9):
        a = np.ones((size, 2), np.float32)
        tensor = Tensor.from_numpy(a)
        assert total(tensor).tolist() == [2.0 * size, 2.0 * size]
        a[0, 0] = 5.0
        assert total(tensor).tolist() == [2.0 * size + 8.0, 2.0 * size]
        tensor.mul_(2.0)
        assert total(tensor).tolist() == (a * 2).sum(0).tolist() == [4.0 * size + 16.0, 4.0 * size]


def test_one_entry_serves_tensors_that_share_and_those_that_do_not() -> None:
    double = jit(lambda x: x * 2)
    tensor = Tensor([1.0, 2.0])
    kept: list[Any] = []
    for number in range(10):
        array = tensor.asnumpy()
        array[0] = number
        assert double(tensor).tolist() == [2.0 * number, 4.0]
        kept[:] = [array] * (number % 2)
        del array
        assert double(tensor).tolist() == [2.0 * number, 4.0]
    assert len(double.report().functions[0].graphs) == 1


def _on_one_array() -> tuple[Tensor, Tensor]:
    array = np.ones(3, np.float32)
    return Tensor.from_numpy(array), Tensor.from_numpy(array)


def _on_parts() -> tuple[Tensor, Tensor]:
    array = np.ones(4, np.float32)
    return Tensor.from_numpy(array[1:]), Tensor.from_numpy(array[:3])


def _on_what_another_lends() -> tuple[Tensor, Tensor]:
    x = Tensor([1.0, 1.0, 1.0])
    return x, Tensor.from_numpy(x.asnumpy())


def _apart() -> tuple[Tensor, Tensor]:
    array = np.ones(6, np.float32)
    return Tensor.from_numpy(array[:3]), Tensor.from_numpy(array[3:])


def _second_is_written(x: Any, y: Any) -> Any:
    y.add_(1.0)
    return x.sum()


def _both_are_written(x: Any, y: Any) -> Any:
    x.add_(1.0)
    y.mul_(2.0)
    return x * 1


def _made_inside(x: Any, y: Any) -> Any:
    z = Tensor.from_numpy(x.asnumpy()[1:])
    z[0] = 5.0
    return x.sum()


def _both_get_one_value(x: Any, y: Any) -> Any:
    x[:2] = 5.0
    z = y.sum() * 2
    P.set_data(z + P)
    ops.assign(x, x * 0 + P[0])
    ops.assign(P, x[:2])
    return z


@pytest.mark.parametrize("function", [_second_is_written, _both_are_written, _made_inside, _both_get_one_value])
def test_tensors_on_one_array_see_each_others_writes(function: Callable[..., Any]) -> None:
    compiled = jit(function)
    for made in (_apart, _on_one_array, _on_parts, _on_what_another_lends, _apart):
        found = []
        for way in (function, compiled):
            P.set_data(Tensor([1.0, 2.0]))
            x, y = made()
            result = way(x, y)
            found.append([t.asnumpy().tolist() for t in (result, x, y, P)])
        assert found[0] == found[1], made


def test_a_gradient_refuses_to_write_one_of_two_tensors_on_one_array() -> None:
    def function(x: Any, y: Any) -> Any:
        y.add_(1.0)
        return (x * y).sum()

    for way in (value_and_grad(function, (0, 1)), value_and_grad(jit(function), (0, 1)),
                jit(value_and_grad(function, (0, 1)))):  # fmt: skip
        with pytest.raises(ValueError, match="shares elements"):
            way(*_on_one_array())
        assert float(way(*_apart())[0]) == 6


def test_tensors_that_are_written_with_one_value_are_all_known_to_be_written() -> None:
    def function(x: Any, y: Any, z: Any) -> None:
        x[:2] = 5.0
        z.add_(y.sum())
        ops.assign(x, z)

    compiled = jit(function)
    for made in (_on_one_array, _apart, _on_what_another_lends):
        found = []
        for way in (function, compiled):
            (x, y), z = made(), Tensor([1.0, 2.0, 3.0])
            way(x, y, z)
            found.append([t.asnumpy().tolist() for t in (x, y, z)])
        assert found[0] == found[1], made
