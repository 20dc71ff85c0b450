"""What a program that writes in place does inside gradients, in loops, and with numbers of the call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weft import Tensor, grad, jit, value_and_grad


def _either(x: Any, y: Any) -> Any:
    if x.sum() > 0:
        x.fill_(7.0)
    else:
        y.fill_(8.0)
    return (x * y).sum()


def _second(x: Any, y: Any) -> Any:
    y[0] = 5.0
    return (x * y).sum()


FORMS: dict[str, Callable[[Any], Any]] = {
    "eager": lambda f: grad(f, (0, 1)),
    "value_and_grad": lambda f: value_and_grad(f, (0, 1)),
    "grad of jit": lambda f: grad(jit(f), (0, 1)),
    "jit of grad": lambda f: jit(lambda x, y: grad(f, (0, 1))(x, y)),
    "PIJit": lambda f: jit(lambda x, y: grad(f, (0, 1))(x, y), mode="PIJit"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("f", [_either, _second])
def test_arguments_that_share_and_are_written(f: Callable[..., Any], form: str) -> None:
    gradient = FORMS[form](f)
    x, base = Tensor([1.0, 2.0]), Tensor([1.0, 2.0, 3.0])
    for pair in ((x, x), (base[:2], base[1:])):
        with pytest.raises(ValueError, match="shares elements with another tensor"):
            gradient(*pair)
    rows = Tensor([[1.0, 2.0], [3.0, 4.0]])
    gradient(x, x.copy())
    if form in ("eager", "value_and_grad"):
        gradient(rows[0], rows[1])  # of one base, but not the same elements


@pytest.mark.parametrize("compiled", [False, True])
def test_the_argument_is_written_under_another_name(compiled: bool) -> None:
    x = Tensor([1.0, 2.0])
    gradient = jit(lambda x, y: grad(_second)(x, y)) if compiled else grad(_second)
    with pytest.raises(ValueError, match="shares elements with another tensor"):
        gradient(x, x)


def _doubled(a0: Any, a1: Any) -> Any:
    v = a1.reshape(1, 4)
    while a0.sum() < 10:
        v[0][::2] += v[-1, 0]
        a0 = a0 + 5
    return a1


def _backwards(a0: Any, a1: Any) -> Any:
    v = a1.reshape(2, 2)
    while a0.sum() < 30:
        v[:, 0] += v[0, 0] + v[1, 1]
        a1[::-3] *= a1[1]
        a0 = a0 + 5
    return a1


@pytest.mark.parametrize("f", [_doubled, _backwards])
def test_strided_writes_of_what_is_read_in_a_loop(f: Callable[..., Any]) -> None:
    compiled = jit(f, fullgraph=True)
    for values in ([1.0, 5.0, 2.0, -3.0], [0.5, -1.0, 2.0, 4.0]):
        for start in ([[-3.0, 1.0], [0.0, -1.0]], [[0.0, 0.0], [1.0, 2.0]]):
            wanted = f(Tensor(start), Tensor(values)).asnumpy()
            np.testing.assert_allclose(compiled(Tensor(start), Tensor(values)).asnumpy(), wanted, rtol=1e-6)


def _item(x: Any, v: Any) -> Any:
    x[0] = v
    return x


def _by_mask(x: Any, v: Any) -> Any:
    x[x > 0] = v
    return x


def _filled(x: Any, v: Any) -> Any:
    return x.masked_fill(x > 0, v)


def _of_a_tensor(x: Any, v: Any) -> Any:
    x[0] = Tensor(v).item() * 1.0
    return x


def _outcome(f: Callable[..., Any], v: Any) -> Any:
    try:
        return f(Tensor(np.array([1, 2], np.int32)), v).asnumpy().tolist()
    except (ValueError, OverflowError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("f", [_item, _by_mask, _filled, _of_a_tensor])
def test_numbers_that_fit_no_int(f: Callable[..., Any]) -> None:
    compiled = jit(f)
    for v in (1.5, 2.5, 3.5, float("nan"), 4.5, float("inf"), 1e20, -7.25, 1e10, 2147483647.5, -2147483648.5, 5.5):
        assert _outcome(compiled, v) == _outcome(f, v), v


def test_an_index_that_is_a_float() -> None:
    def f(x: Any, i: Any) -> Any:
        x[i] = 9.0
        return x

    compiled = jit(f, fullgraph=True)
    for i in (0, 1.0, 1, 2.0, 3.0):
        if isinstance(i, float):
            with pytest.raises(IndexError, match="not float"):
                compiled(Tensor([1.0, 2.0, 3.0]), i)
        else:
            compiled(Tensor([1.0, 2.0, 3.0]), i)
