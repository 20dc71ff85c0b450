"""Arrays that are moved over themselves through other forms of them: compiled code reads before it overwrites."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import Tensor, grad, jit, ops


def row_then_shift(x: Any) -> Any:
    x.view((-1,))[0] = 100.0
    x[1:] = x[:-1]


def scaled(x: Any) -> Any:
    x.flatten()[:4].mul_(2.0)
    x[1:] = x[:-1] * 2


def copied(x: Any) -> Any:
    x.reshape(-1)[0] = 100.0
    x[1:].copy_(x[:-1])


def one_row_twice(x: Any) -> Any:
    row = x[0]
    row[1:] = row[:-1]
    row[1:] = row[:-1]
    x[1] = x[0]


def queue(x: Any) -> Any:
    flat = x.view((-1,))
    width = x.shape[1]
    for value in (7.0, 8.0, 9.0):
        flat[width:] = flat[:-width]
        x[0] = value


def made_here(x: Any) -> Any:
    y = x * 1
    y.view((-1,))[0] = 100.0
    y[1:] = y[:-1]
    return y


def without_views(x: Any) -> Any:
    y = x.reshape(-1) * 1
    y[0] = 100.0
    y = y.reshape(x.shape)
    z = y.copy()
    z[1:] = y[:-1]
    return z


def updated(x: Any) -> Any:
    flat = ops.tensor_scatter_update(x.reshape(-1), Tensor([[0]]), Tensor(np.array([100]).astype(x.asnumpy().dtype)))
    y = flat.reshape(x.shape) * 1
    y[1:] = y[:-1]
    return y


def flat_alone(x: Any) -> Any:
    flat = x.reshape(-1)
    flat[3:] = flat[:-3]
    return flat


def columns(x: Any) -> Any:
    turned = x.T
    turned[1:] = turned[:-1]
    turned[:-1] += turned[1:]


PROGRAMS = (
    row_then_shift, scaled, copied, one_row_twice, queue, made_here, without_views, updated, flat_alone, columns,
)  # fmt: skip


@pytest.mark.parametrize("shape", [(2, 2), (4, 4), (64, 32), (3, 5)])
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.float16])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_what_is_overwritten_was_read(program: Callable[..., Any], dtype: Any, shape: tuple[int, int]) -> None:
    compiled = jit(program)
    for step in range(3):
        data = (np.arange(np.prod(shape)).reshape(shape) % 50 + step).astype(dtype)
        ours, theirs = Tensor(data), Tensor(data)
        found, wanted = compiled(ours), program(theirs)
        np.testing.assert_array_equal(ours.asnumpy(), theirs.asnumpy())
        if wanted is not None:
            np.testing.assert_array_equal(found.asnumpy(), wanted.asnumpy())


def test_gradients() -> None:
    def loss(w: Any) -> Any:
        y = w * 2
        y.view((-1,))[0] = 100.0
        y[1:] = y[:-1] * w[1:]
        return (y * y).sum()

    data = Tensor(np.arange(1.0, 10.0, dtype=np.float32).reshape(3, 3))
    wanted = grad(loss)(data).asnumpy()
    for function in (grad(jit(loss)), jit(grad(loss))):
        np.testing.assert_allclose(function(data).asnumpy(), wanted, rtol=1e-6)
    assert wanted[1, 0] == 81568


@pytest.mark.parametrize("limit", [0, 64])
def test_in_loops(limit: int) -> None:
    def rolled(x: Any) -> Any:
        flat = x.view((-1,))
        for i in range(80):
            flat[4:] = flat[:-4]
            x[0] = x[-1] * 0.5 + i
        return x.sum()

    weft.set_context(loop_unroll_limit=limit)
    try:
        ours, theirs = (Tensor(np.arange(16.0, dtype=np.float32).reshape(4, 4)) for _ in range(2))
        np.testing.assert_allclose(jit(rolled)(ours).asnumpy(), rolled(theirs).asnumpy(), rtol=1e-6)
        np.testing.assert_allclose(ours.asnumpy(), theirs.asnumpy(), rtol=1e-6)
    finally:
        weft.set_context(loop_unroll_limit=64)


_PLACES = ("x[0]", "r", "q", "x[1]", "x.T[0]", "x[2]", "x.view((16,))[:4]", "x.diagonal()", "x.view((16,))[k:k + 4]")
_MOVES = (("1:", ":-1"), (":-1", "1:"), ("::2", "1::2"), (":", "::-1"), ("2:", ":2"), ("1:3", ":2"), ("0", "1"))


def _statement(choose: Callable[[Any], Any]) -> str:
    place, other, (to, source) = choose(_PLACES), choose(_PLACES), choose(_MOVES)
    factor = choose(["", "", " * 1", " + c"])
    forms = [f"{place}[{to}] = {place}[{source}]{factor}", f"{place}[{to}] += {other}[{source}]{factor}"]
    forms += [f"{place}[{to}].copy_({other}[{source}]{factor})", "x[1:] = x[:-1]", "x[:, 1:] = x[:, :-1]"]
    forms += [f"r = {place}", f"q = {place}", "v = x.view((16,)); v[4:] = v[:-4]", f"{place}[0] = c", "x[...] = x.T"]
    return str(choose(forms))


def _program(seed: int) -> str:
    choose = random.Random(seed).choice
    lines = [_statement(choose) for _ in range(choose(range(3, 9)))]
    if choose([True, False, False]):
        lines = ["for _ in range(3):", *[f"    {line}" for line in lines]]
    return (
        "def f(x, k, c):\n    r, q = x[0], x[1]\n" + "".join(f"    {line}\n" for line in lines) + "    return r * 1\n"
    )


@pytest.mark.parametrize("seeds", [range(12), pytest.param(range(12, 300), marks=pytest.mark.slow)])
def test_random_moves(seeds: range) -> None:
    for seed in seeds:
        scope: dict[str, Any] = {}
        exec(_program(seed), scope)
        function = scope["f"]
        compiled = jit(function)
        for step in range(3):
            data = np.random.default_rng(seed * 3 + step).integers(-4, 6, (4, 4)).astype(np.float32)
            ours, theirs = [(Tensor(data), step % 2, Tensor(np.float32(step - 1))) for _ in range(2)]
            found, wanted = compiled(*ours), function(*theirs)
            message = f"seed {seed}, call {step}:\n{_program(seed)}"
            np.testing.assert_allclose(ours[0].asnumpy(), theirs[0].asnumpy(), rtol=1e-5, err_msg=message)
            np.testing.assert_allclose(found.asnumpy(), wanted.asnumpy(), rtol=1e-5, err_msg=message)
