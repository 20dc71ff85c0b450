"""Assignment to positions that occur several times is NumPy's, in whatever order XLA writes."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import weft
from weft import Tensor, ops
from weft.ops._assigning import assigned, stays

RANDOM = np.random.default_rng(0)
SELECTIONS: list[Any] = [
    np.array([1, 3, 1, 0, 1]),
    np.array([-1, 3, 3]),
    np.zeros(0, np.int64),
    (np.array([0, 2, 0]), np.array([1, 1, 1])),
    (slice(None), np.array([2, 2, 0])),
    (np.array([[1], [0]]), slice(1, 3), np.array([0, 0])),
    (..., np.array([1, 1])),
]


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("index", SELECTIONS, ids=range(len(SELECTIONS)))
def test_the_last_element_counts(index: Any, in_order: bool) -> None:
    x = RANDOM.standard_normal((4, 3, 2)).astype(np.float32)
    value = RANDOM.standard_normal(x[index].shape).astype(np.float32)
    wanted = x.copy()
    wanted[index] = value
    np.testing.assert_array_equal(assigned(jnp.asarray(x), index, value, in_order), wanted)
    if not in_order:  # JAX's own gradient is that of positions which occur once
        gradients = jax.vjp(lambda x, value: assigned(x, index, value, False), x, value)[1](wanted)
        counts = stays(x.shape, index, value.shape)
        np.testing.assert_array_equal(gradients[1], np.where(counts, wanted[index], 0))
        np.testing.assert_array_equal(gradients[0], np.where(wanted == x, wanted, 0))


def test_operations_whose_positions_occur_several_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """What processes give that have no CPU for the first device is what those give that have."""
    x, rows = Tensor(RANDOM.standard_normal((4, 3)).astype(np.float32)), Tensor([1, 3, 1, 1])
    new = Tensor(RANDOM.standard_normal((4, 3)).astype(np.float32))

    def written(x: Any, new: Any) -> Any:
        y = x * 1
        y[rows] = new
        return y.sum(1)

    programs = {
        "assignment": written,
        "scatter": lambda x, new: ops.tensor_scatter_update(x, rows.reshape(4, 1), new),
        "elements": lambda x, new: ops.tensor_scatter_elements(x, rows.reshape(4, 1), new[:, :1]),
    }

    def answers(program: Any) -> list[Any]:
        gradients = weft.grad(lambda x, new: (program(x, new) ** 2).sum(), (0, 1))(x, new)
        return [one.asnumpy() for one in (program(x, new), *gradients)]

    before = {name: answers(program) for name, program in programs.items()}
    monkeypatch.setattr("weft.ops._assigning._IN_ORDER", frozenset())
    for name, program in programs.items():
        compiled = weft.jit(lambda x, new, program=program: program(x, new) + 0)  # graphs that are new
        for one, other in zip(before[name], answers(compiled), strict=True):
            np.testing.assert_allclose(one, other, 1e-6)
