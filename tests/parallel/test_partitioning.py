"""What XLA's partitioner must not cut is whole, and the rest is cut as layouts say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.extend.core import Primitive

from tests.parallel.test_spread import run
from weft.cache.partitioning import whole_dimensions

X, ROWS, IDS = np.ones((16, 6), np.float32), np.ones((4, 6), np.float32), np.zeros(4, np.int32)


def whole(call: Callable[..., Any], *arrays: Any, devices: int = 8) -> list[tuple[str, Any, Any]]:
    """Of the operations of a function that keep dimensions whole: names, dimensions of operands and of results."""
    found = []

    def walk(jaxpr: Any) -> None:
        for equation in jaxpr.eqns:
            shapes = [[one.aval.shape for one in ones] for ones in (equation.invars, equation.outvars)]
            dims = whole_dimensions(equation.primitive, equation.params, *shapes, devices)
            if any(map(any, dims)) or any(0 in one for ones in dims for one in ones):
                found.append((equation.primitive.name, *([sorted(one) for one in ones] for ones in dims)))
            for inner in equation.params.values():
                if hasattr(inner, "jaxpr"):
                    walk(inner.jaxpr)

    walk(jax.make_jaxpr(call)(*arrays).jaxpr)
    return found


@pytest.mark.parametrize(
    "call",
    [
        lambda x: jnp.tanh(x) * x + x.sum(0) + jnp.where(x > 0, x, 1).mean(),
        lambda x: (x.T @ x, x[:8] + x[8:], jnp.concatenate([x, x]), jnp.reshape(x, (4, 24))),
        lambda x: jnp.clip(x, 0, 1).argmax(0) + x[:, None].astype(jnp.int32).transpose(1, 0, 2),
    ],
)
def test_what_computes_each_element_or_sums_is_cut_everywhere(call: Callable[..., Any]) -> None:
    assert whole(call, X) == []


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda x: x[:5], ("slice", [[0]], [[0]])),
        (lambda x: x[::2], ("slice", [[0]], [[0]])),
        (lambda x: lax.pad(x, np.float32(0), [(0, 0, 1), (0, 0, 0)]), ("pad", [[0], []], [[0]])),
        (lambda x: lax.pad(x, np.float32(0), [(0, 0, 0), (0, 2, 0)]), ("pad", [[1], []], [[1]])),
        (lambda x: jnp.concatenate([x, x], 1), ("concatenate", [[1], [1]], [[1]])),
        (lambda x: lax.dynamic_slice(x, [1, 0], [8, 6]), ("dynamic_slice", [[0], [], []], [[0]])),
        (lambda x: lax.sort(x, dimension=0), ("sort", [[0]], [[0]])),
        (lambda x: lax.cumsum(x, 1), ("cumsum", [[1]], [[1]])),
        (lambda x: lax.top_k(x, 2), ("top_k", [[1]], [[1], [1]])),
        (lambda x: lax.rev(x, (0,)), ("rev", [[0]], [[0]])),
        (lambda x: lax.fft(x, "RFFT", (6,)), ("fft", [[0, 1]], [[0, 1]])),
        (lambda x: lax.linalg.cholesky(x[:, :, None] * x[:, None]), ("cholesky", [[1, 2]], [[1, 2]])),
        (lambda x: lax.scan(lambda c, v: (c + v, c), x[0], x), ("scan", [[], [0]], [[], [0]])),
        (lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 3), (1, 1), "SAME"), ("reduce_window_sum", [[1]], [[1]])),
    ],
)
def test_dimensions_in_which_elements_move_are_whole(call: Callable[..., Any], expected: Any) -> None:
    assert expected in whole(call, X)


def test_tables_of_which_rows_are_looked_up_or_added_are_cut() -> None:
    def scores(x: Any, ids: Any) -> Any:
        return (jnp.take(x, ids, axis=0, mode="clip") ** 2).sum()

    names = [name for name, inside, outside in whole(jax.value_and_grad(scores), X, IDS) if inside != [[], [1]]]
    assert names == ["scatter-add"]  # the indices of which have their numbers in one dimension, which is whole as well
    ((_, inside, outside),) = whole(lambda x, i, u: x.at[i].add(u, mode="clip"), X, IDS, ROWS)
    assert (inside, outside) == ([[], [1], []], [[]])


def test_rows_that_are_set_are_whole() -> None:
    ((_, inside, outside),) = whole(lambda x, i, u: x.at[i].set(u, mode="clip"), X, IDS, ROWS)
    assert (inside, outside) == ([[0], [0, 1], [0]], [[0]])


def test_an_operation_that_nobody_listed_is_whole() -> None:
    unheard_of = Primitive("unheard_of")
    assert whole_dimensions(unheard_of, {}, [(4, 8), ()], [(8,)], 8) == ([{0, 1}, set()], [{0}])


def test_operations_cut_at_random() -> None:
    cases = "stepped:0 stepped:6 ordered:2 max:2 max:7 max:100 multiplied:3 fourier:9"
    assert "all agree" in run("partitioned", *cases.split())


@pytest.mark.slow
def test_more_operations_cut_at_random() -> None:
    assert "all agree" in run("partitioned", "100", "20")


def test_collectives_of_steps_are_those_of_their_layouts() -> None:
    assert "all agree" in run("partitioned_steps")
