"""Assignment to positions that may occur several times: the last element counts, as in NumPy, on every device.

XLA writes a scatter's elements one after the other on a CPU, and in any order elsewhere.
"""

from __future__ import annotations

import math
from typing import Any, Final

import jax
import jax.numpy as jnp

#: where XLA writes in order
_IN_ORDER: Final = frozenset({"cpu"})


def _numbers(shape: tuple[int, ...]) -> Any:
    return jnp.arange(math.prod(shape), dtype=jnp.int32).reshape(shape)


def _last(shape: tuple[int, ...], index: Any, given: tuple[int, ...]) -> Any:
    """For each position of an array the number of the element that an assignment leaves there, -1 where it has none."""
    return jnp.full(shape, -1, jnp.int32).at[index].max(_numbers(given))


def stays(shape: tuple[int, ...], index: Any, given: tuple[int, ...]) -> Any:
    """Whether an assignment leaves each element where it is written, and no later one.

    Args:
        shape: of the array.
        index: what is indexed with.
        given: the shape of what is assigned.
    """
    return _last(shape, index, given)[index] == _numbers(given)


def assigned(x: Any, index: Any, value: Any, in_order: bool | None = None) -> Any:
    """``x[index] = value``.

    Args:
        x: array.
        index: what it is indexed with, arrays of positions among it.
        value: of the shape of the selection.
        in_order: whether XLA writes in order; None for where this process computes.

    Returns:
        Array: a new one.
    """
    if jax.default_backend() in _IN_ORDER if in_order is None else in_order:
        return x.at[index].set(value)
    if not value.size:
        return x
    written = _last(x.shape, index, value.shape)
    return jnp.where(written < 0, x, value.reshape(-1)[jnp.maximum(written, 0)].astype(x.dtype))
