"""Random programs on tensors of random sizes: one graph for all of them gives what eager code gives."""

from __future__ import annotations

import random
from typing import Any

import pytest
from test_open_sizes import same, tensor

import weft
from weft import Tensor, ops
from weft.explain.explain import report_of

#: a step from a matrix to a matrix; `a` is the matrix, `b` and `t` its sizes
STEPS = [
    "a + a.mean(0)", "a * b", "a / t", "ops.softmax(a, {axis})", "a - a.max({axis}, keepdims=True)", "a.T",
    "ops.relu(a)",
    "a[1:] if b > 1 else a", "a[:, :-1] if t > 1 else a", "a[:1] + a", "ops.concat([a, a], {axis})", "a.reshape(t, b)",
    "a.reshape(-1, 1)", "a.reshape(1, b * t)", "ops.cumsum(a, {axis})", "ops.tanh(ops.matmul(a, a.T) / t)",
    "a + ops.arange(t)", "ops.where(a > 0, a, ops.zeros((b, t)))", "ops.flip(a, ({axis},))", "a[::-1]",
    "a.expand_dims(1).tile((1, 2, 1)).reshape(b * 2, t)", "ops.stack([a, a + 1], 2).sum(2)",
    "a * (ops.argmax(a, 1) + 1).expand_dims(1)",
    "ops.gather(a, ops.argmax(a, 0), 0)", "ops.sort(a, {axis})[0]", "weft.grad(lambda q: (q * q).mean())(a)",
    "weft.vmap(lambda row: row - row.sum())(a)", "a.swapaxes(0, 1)", "ops.broadcast_to(a[:1], (b, t))",
    "ops.tril(a)", "a ** 2 - a.sum() / a.size", "ops.pad(a, (1, 0))",
]  # fmt: skip


def program(seed: int) -> Any:
    """A random program of several steps."""
    draw = random.Random(seed)
    lines = ["def f(a):"]
    for _ in range(draw.randint(2, 5)):
        step = draw.choice(STEPS).replace("{axis}", str(draw.randint(0, 1)))
        kind = draw.random()
        lines.append("    b, t = a.shape")
        if kind < 0.15:
            lines += ["    if a.sum() > 0:", f"        a = {step}", "    else:", "        a = a * 2"]
        elif kind < 0.25:
            lines += [f"    a = {step}", "    a[0] = a[-1] * 2"]
        else:
            lines.append(f"    a = {step}")
        lines.append("    a = ops.clamp(a, -3, 3)")
    lines.append("    return a, a.shape, a.sum()")
    scope: dict[str, Any] = {"ops": ops, "weft": weft, "Tensor": Tensor}
    source = "\n".join(lines)
    exec(compile(source, f"<program {seed}>", "exec"), scope)
    return scope["f"], source


def check(seed: int, calls: int) -> None:
    """Compare one program at random sizes, values and gradients."""
    function, source = program(seed)
    draw = random.Random(seed)
    compiled = weft.jit(function)
    inside = weft.jit(weft.grad(lambda x: function(x)[2]))
    outside = weft.grad(lambda x: compiled(x)[2])
    for number in range(calls):
        shape = (draw.randint(1, 9), draw.randint(1, 12))
        x = tensor(shape, number)
        try:
            expected = function(tensor(shape, number))
        except Exception as error:
            with pytest.raises(type(error)):
                compiled(x)
            continue
        try:
            same(compiled(x), expected)
            same(compiled(x), expected)
            gradient = weft.grad(lambda q: function(q)[2])(x)
            same(inside(x), gradient)
            same(outside(x), gradient)
        except AssertionError as error:
            raise AssertionError(f"{shape}\n{source}\n{report_of(compiled)}") from error


@pytest.mark.parametrize("seed", range(6))
def test_random_programs(seed: int) -> None:
    check(seed, 7)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 300))
def test_more_random_programs(seed: int) -> None:
    check(seed, 12)
