"""Random programs in arrays that are longer than their values."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tests.compile.test_padding import BUCKET, F, N, checked, traced

#: what programs begin with
ARRAYS = [("b, t", F), ("t, b, 2", F), ("b * t", F), ("t, 3", F), ("b, t", N)]
#: a step of a program: from random choices and values a function of the values
Step = Callable[[random.Random, list[Any]], Callable[[list[Any]], Any]]
STEPS: list[Step] = []


def step(make: Step) -> Step:
    """Enter a step."""
    STEPS.append(make)
    return make


def some(choose: random.Random, values: list[Any], ranks: range = range(1, 5)) -> int:
    """The number of a value that is an array of real numbers."""
    fitting = [i for i, v in enumerate(values) if v.dtype == F and v.ndim in ranks]
    return choose.choice(fitting[-6:] if choose.random() < 0.7 else fitting)


@step
def elementwise(choose: random.Random, values: list[Any]) -> Callable[[list[Any]], Any]:
    i, function = (
        some(choose, values),
        choose.choice([jnp.tanh, jnp.sin, jnp.negative, lambda x: jnp.where(x > 0, x, 1)]),
    )
    return lambda v: function(v[i])


@step
def along(choose: random.Random, values: list[Any]) -> Callable[[list[Any]], Any]:
    i = some(choose, values)
    axis = choose.randrange(values[i].ndim)
    function = choose.choice([
        lambda x: jnp.cumsum(x, axis), lambda x: lax.cumsum(x, axis, reverse=True), lambda x: jax.nn.softmax(x, axis),
        lambda x: jnp.sort(x, axis), lambda x: lax.rev(x, (axis,)), lambda x: jnp.roll(x, 1, axis),
        lambda x: lax.cummax(x, axis, reverse=True), lambda x: x - x.mean(axis, keepdims=True),
    ])  # fmt: skip
    return lambda v: function(v[i])


@step
def summed(choose: random.Random, values: list[Any]) -> Callable[[list[Any]], Any]:
    i = some(choose, values)
    axes = tuple(choose.sample(range(values[i].ndim), choose.randint(1, values[i].ndim)))
    function = choose.choice([jnp.sum, jnp.max, jnp.min, jnp.mean])
    keep = choose.random() < 0.5
    return lambda v: function(v[i], axis=axes, keepdims=keep)


@step
def extreme(choose: random.Random, values: list[Any]) -> Callable[[list[Any]], Any]:
    i = some(choose, values)
    axis, function = choose.randrange(values[i].ndim), choose.choice([jnp.argmax, jnp.argmin, jnp.argsort])
    return lambda v: function(v[i], axis=axis).astype(F)


@step
def sliced(choose: random.Random, values: list[Any]) -> Callable[[list[Any]], Any]:
    i = some(choose, values)
    index = [slice(None)] * values[i].ndim
    part = choose.choice(
        [slice(None, -1), slice(1, None), slice(None, None, 2), slice(3), -1, 0, slice(None, None, -1)]
    )
    index[choose.randrange(len(index))] = part
    return lambda v: v[i][tuple(index)]


@step
def written(choose: random.Random, values: list[Any]) -> Callable[[list[Any]], Any]:
    i = some(choose, values)
    index: list[Any] = [slice(None)] * values[i].ndim
    index[choose.randrange(len(index))] = choose.choice([slice(None, -1), slice(1, None), slice(2), 0, -1])
    add = choose.random() < 0.5
    return lambda v: v[i].at[tuple(index)].add(1.0) if add else v[i].at[tuple(index)].set(0.5)


@step
def turned(choose: random.Random, values: list[Any]) -> Callable[[list[Any]], Any]:
    i = some(choose, values)
    order = choose.sample(range(values[i].ndim), values[i].ndim)
    return lambda v: v[i].transpose(order)


@step
def flat(choose: random.Random, values: list[Any]) -> Callable[[list[Any]], Any]:
    i = some(choose, values, range(2, 5))
    at = choose.randrange(values[i].ndim - 1)
    return lambda v: v[i].reshape(*v[i].shape[:at], -1, *v[i].shape[at + 2 :])


@step
def unflattened(choose: random.Random, values: list[Any]) -> Callable[[list[Any]], Any]:
    i, j = some(choose, values, range(1, 2)), some(choose, values, range(2, 5))
    j = j if values[i].size == values[j].size else i  # JAX takes symbolic sizes on trust
    return lambda v: v[i].reshape(v[j].shape)


@step
def with_ones(choose: random.Random, values: list[Any]) -> Callable[[list[Any]], Any]:
    i = some(choose, values, range(1, 4))
    at = choose.randint(0, values[i].ndim)
    return lambda v: jnp.expand_dims(v[i], at)


@step
def padded_with(choose: random.Random, values: list[Any]) -> Callable[[list[Any]], Any]:
    i = some(choose, values)
    widths = [
        (choose.choice([0, 0, 1, 2, -1]), choose.choice([0, 1, 2]), choose.choice([0, 0, 1]))
        for _ in range(values[i].ndim)
    ]
    return lambda v: lax.pad(v[i], F(0.25), widths)


@step
def joined(choose: random.Random, values: list[Any]) -> Callable[[list[Any]], Any]:
    i, j = some(choose, values), some(choose, values)
    axis = choose.randrange(values[i].ndim)
    return lambda v: jnp.concatenate([v[i], v[j], v[i]], axis)


@step
def copies(choose: random.Random, values: list[Any]) -> Callable[[list[Any]], Any]:
    i = some(choose, values)
    counts = [choose.choice([1, 2, 3]) for _ in range(values[i].ndim)]
    return lambda v: jnp.tile(v[i], counts)


@step
def combined(choose: random.Random, values: list[Any]) -> Callable[[list[Any]], Any]:
    i, j = some(choose, values), some(choose, values)
    function = choose.choice([jnp.add, jnp.multiply, jnp.maximum, lambda x, y: jnp.where(x > y, x, 0)])
    return lambda v: function(v[i], v[j])


@step
def outer(choose: random.Random, values: list[Any]) -> Callable[[list[Any]], Any]:
    i, j = some(choose, values, range(1, 3)), some(choose, values, range(1, 3))
    return lambda v: jnp.tensordot(v[i], v[j], 0)


@step
def contracted(choose: random.Random, values: list[Any]) -> Callable[[list[Any]], Any]:
    i, j = some(choose, values), some(choose, values)
    axes = choose.randrange(values[i].ndim), choose.randrange(values[j].ndim)
    return lambda v: jnp.tanh(jnp.tensordot(v[i], v[j], axes=axes))


@step
def multiplied(choose: random.Random, values: list[Any]) -> Callable[[list[Any]], Any]:
    i, j = some(choose, values, range(2, 4)), some(choose, values, range(2, 4))
    return lambda v: jnp.tanh(v[i] @ v[j].swapaxes(-1, -2))


@step
def taken(choose: random.Random, values: list[Any]) -> Callable[[list[Any]], Any]:
    i = some(choose, values)
    axis, mode = choose.randrange(values[i].ndim), choose.choice(["clip", "fill", "wrap"])
    row = choose.random() < 0.5
    return lambda v: jnp.nan_to_num(jnp.take(v[i], v[4][0] if row else v[4], axis=axis, mode=mode), nan=0.5)


@step
def added_at(choose: random.Random, values: list[Any]) -> Callable[[list[Any]], Any]:
    i = some(choose, values, range(1, 3))
    mode = choose.choice(["clip", "drop"])
    return lambda v: v[i].at[v[4]].add(0.5, mode=mode)


@step
def repeated(choose: random.Random, values: list[Any]) -> Callable[[list[Any]], Any]:
    i = some(choose, values, range(2, 4))
    back = choose.random() < 0.5

    def function(v: list[Any]) -> Any:
        def body(state: Any, row: Any) -> Any:
            state = jnp.tanh(state + row.T.reshape(row.shape))
            return state, state * row

        state, rows = lax.scan(body, jnp.zeros(v[i].shape[1:], F), v[i], reverse=back)
        return rows + state

    return function


@step
def branched(choose: random.Random, values: list[Any]) -> Callable[[list[Any]], Any]:
    i = some(choose, values)
    return lambda v: lax.cond(v[4][0, 0] > 2, jnp.cos, lambda x: x.reshape(-1)[::-1].reshape(x.shape), v[i])


def written_by_chance(seed: int, length: int) -> tuple[Callable[..., Any], list[Any]]:
    """A random program, and its steps: those are left out that JAX cannot trace with symbolic dimensions."""
    choose = random.Random(seed)
    taken: list[Callable[[list[Any]], Any]] = []

    def replayed(*arrays: Any) -> list[Any]:
        values = list(arrays)
        for function in taken:
            values.append(function(values))
        return values[len(arrays) :]

    scope = jax.export.SymbolicScope()
    kinds = [jax.ShapeDtypeStruct(jax.export.symbolic_shape(shape, scope=scope), dtype) for shape, dtype in ARRAYS]
    shapes: list[Any] = list(kinds)
    while len(taken) < length:
        try:
            function = choose.choice(STEPS)(choose, shapes)
            made = jax.eval_shape(lambda *values, f=function: f(list(values)), *shapes)
        except Exception:  # JAX has many ways to say that shapes do not fit, or that it cannot tell
            continue
        most = {"b": BUCKET["b"], "t": BUCKET["t"]}
        room = np.prod([size if isinstance(size, int) else size._evaluate(most) for size in made.shape], initial=1)
        if made.ndim <= 4 and room <= 3000:
            taken.append(function)
            shapes.append(made)
    return replayed, taken


def check(seed: int, length: int = 8, gradient: bool = False) -> None:
    """A random program gives in padded arrays what it gives in arrays that fit."""
    function, _ = written_by_chance(seed, length)
    given = function
    if gradient:

        def loss(*arrays: Any) -> Any:
            return sum([jnp.sin(value).sum() for value in given(*arrays)], F(0))

        function = jax.grad(loss, (0, 1, 2, 3))
    checked(function, ARRAYS, traced(function, ARRAYS), [(4, 6), (2, 3), (3, 2)])


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed: int) -> None:
    check(seed)
