"""Arrays of one element type made into another."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def converted(array: Any, kind: Any) -> Any:
    """An array with another NumPy element type.

    Truth values become numbers by a choice between 1 and 0. XLA would rewrite ``convert(mask) * x`` to
    ``select(mask, x, 0)``, in which a NaN or an infinity that the mask hides is 0 and not NaN. A complex number
    becomes a real one by its real part.
    """
    array = array if hasattr(array, "astype") else np.asarray(array)
    if array.dtype == np.bool_ and isinstance(array, jax.Array) and jnp.issubdtype(kind, jnp.inexact):
        return jax.lax.select(array, jnp.ones(array.shape, kind), jnp.zeros(array.shape, kind))
    if (
        np.issubdtype(array.dtype, np.complexfloating)
        and not np.issubdtype(kind, np.complexfloating)
        and kind != np.bool_
    ):
        array = array.real
    return array.astype(kind)
