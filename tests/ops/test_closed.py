"""`core.closed`: which functions depend on their arguments and constants alone."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from weft.core.closed import outside_of

FACTOR = 2
CONSTANTS = (1, "two", 3.0, np.float32(4))
TABLE: list[Any] = []
ARRAY = np.ones(2)
DEVICE = jnp.ones(2)


def helper(x: Any, factor: int = 3) -> Any:
    return x * factor + FACTOR


def recursive(n: Any) -> Any:
    return 1 if n == 0 else n * recursive(n - 1)


def counting(x: Any) -> Any:
    global FACTOR
    FACTOR += 1
    return x


def importing(x: Any) -> Any:
    import numpy as numeric

    return numeric.sin(x)


def reading_files(x: Any) -> Any:
    return open("file").read()


def closing_over(value: Any) -> Callable[[Any], Any]:
    return lambda x: x * value


def writing_its_cell() -> Callable[[Any], Any]:
    count = 0

    def inner(x: Any) -> Any:
        nonlocal count
        count += 1
        return x

    return inner


def with_cells_of_its_own(x: Any) -> Any:
    total = 0

    def add(y: Any) -> Any:
        nonlocal total
        total += y
        return total

    return [add(y) for y in x][-1]


class Model:
    def run(self, x: Any) -> Any:
        return x


CLOSED: dict[str, Any] = {
    "arguments": lambda x, y: x + y,
    "a constant": lambda x: x * FACTOR,
    "constants": lambda x: x * CONSTANTS[0],
    "another function": lambda x: helper(x),
    "NumPy": lambda x: np.sin(x) + math.pi + np.linalg.norm(x),
    "JAX": lambda x: jnp.sin(x) + jax.nn.relu(x) + DEVICE,
    "compiled by JAX": jax.jit(helper),
    "builtins": lambda x: sum(range(len(x))),
    "an exception": lambda x: ValueError(x),
    "itself": recursive,
    "an import": importing,
    "a closure": closing_over(2),
    "its own cells": with_cells_of_its_own,
    "a partial": functools.partial(helper, factor=2),
    "a ufunc": np.sin,
    "a function of NumPy": np.linalg.norm,
}
OPEN: dict[str, Any] = {
    "a list": lambda x: TABLE,
    "an array that can be written": lambda x: x + ARRAY,
    "a global that it writes": counting,
    "a cell that it writes": writing_its_cell(),
    "a closure over a list": closing_over([1]),
    "a closure over an open function": closing_over(counting),
    "randomness": lambda x: np.random.rand(2),
    "the clock": lambda x: time.time(),
    "output": lambda x: print(x),
    "files": reading_files,
    "a missing name": lambda x: missing,  # type: ignore[name-defined]  # noqa: F821
    "a method": Model().run,
    "a class": lambda x: Model(),
    "a method of a list": TABLE.append,
    "an instance": functools.partial(helper, Model()),
    "globals": lambda x: globals(),
    "compiled by JAX, open": jax.jit(counting),
}


@pytest.mark.parametrize("name", CLOSED)
def test_closed(name: str) -> None:
    found = outside_of(CLOSED[name])
    assert found is not None
    assert hash(found) == hash(outside_of(CLOSED[name]))
    assert found == outside_of(CLOSED[name])


@pytest.mark.parametrize("name", OPEN)
def test_open(name: str) -> None:
    assert outside_of(OPEN[name]) is None


def test_what_computes_with_jax() -> None:
    with_jax = {"JAX", "compiled by JAX"}
    assert {name for name, function in CLOSED.items() if outside_of(function, by_jax=False) is None} == with_jax


def test_the_key_changes_with_what_it_depends_on(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [outside_of(CLOSED["another function"])]
    for value in (1, True, 1.0, "1", 0.0, -0.0, (1,), DEVICE, jnp.ones(2)):
        monkeypatch.setitem(globals(), "FACTOR", value)
        keys.append(outside_of(CLOSED["another function"]))
    assert len(set(keys)) == len(keys)
    monkeypatch.setitem(globals(), "FACTOR", [1])
    assert outside_of(CLOSED["another function"]) is None
    monkeypatch.setattr(helper, "__defaults__", (4,))
    monkeypatch.setitem(globals(), "FACTOR", 2)
    assert outside_of(CLOSED["another function"]) not in keys
