"""Small helpers that several op families share: promotion and shape checks inside JAX implementations."""

from __future__ import annotations

from functools import reduce
from typing import Any

import jax.numpy as jnp
import numpy as np

from weft import dtypes
from weft.core import Tensor
from weft.core.conversion import converted
from weft.core.run_number import whole


def promoted(*arrays: Any) -> tuple[Any, ...]:
    """Arrays cast to their common element type (`dtypes.promote`)."""
    first = arrays[0].dtype
    if all(a.dtype == first for a in arrays):
        return arrays
    common = reduce(dtypes.promote, [dtypes.of_np(array.dtype) for array in arrays])
    return tuple(converted(a, common.np_dtype) for a in arrays)


def floating(array: Any) -> Any:
    """An array as floating point: integers and bools become float32."""
    if jnp.issubdtype(array.dtype, jnp.inexact):
        return array
    return converted(array, jnp.float32)


def mean_of(array: Any, axes: tuple[int, ...] | None = None, keepdims: bool = False) -> Any:
    """The mean of an array in its element type: rounded toward zero for integers, float32 for bools."""
    if not jnp.issubdtype(array.dtype, jnp.integer):
        return jnp.mean(floating(array), axes, keepdims=keepdims)
    total = jnp.sum(array, axes, dtype=array.dtype, keepdims=keepdims)
    count = max(array.size // max(total.size, 1), 1)
    return converted(jnp.sign(total).astype(jnp.int64) * (jnp.abs(total.astype(jnp.int64)) // count), array.dtype)


def wide(indices: Any) -> Any:
    """Integers that can be compared with any size: those of 8 or 16 bits as int32."""
    return converted(indices, jnp.int32) if indices.dtype.itemsize < 4 else indices


def broadcastable(name: str, *arrays: Any) -> tuple[int, ...]:
    """The common shape of operands.

    Raises:
        ValueError: the shapes cannot be broadcast together.
    """
    try:
        return tuple(jnp.broadcast_shapes(*(a.shape for a in arrays)))
    except ValueError:
        shapes = " and ".join(str(tuple(a.shape)) for a in arrays)
        raise ValueError(
            f"{name}: shapes {shapes} cannot be broadcast together; "
            "sizes must be equal, or 1, aligned from the last dimension"
        ) from None


def operands(name: str, *arrays: Any) -> tuple[Any, ...]:
    """Operands of an elementwise operation: promoted to one type, shapes checked."""
    broadcastable(name, *arrays)
    return promoted(*arrays)


def of_one_type(name: str, *arrays: Any) -> None:
    """Refuse operands of different element types, where nothing is promoted.

    Raises:
        TypeError: they differ.
    """
    kinds = [dtypes.of_np(array.dtype) for array in arrays]
    if any(kind is not kinds[0] for kind in kinds):
        names = " and ".join(kind.np_dtype.name for kind in kinds)
        raise TypeError(f"{name}: the operands must have one element type, not {names}; cast one of them")


def one_axis(name: str, axis: int, ndim: int) -> int:
    """A non-negative axis.

    Raises:
        TypeError: the axis is not an integer.
        ValueError: the tensor has no such axis.
    """
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise TypeError(f"{name}: axis must be an int, not {type(axis).__name__} ({axis!r:.40})")
    if not -ndim <= axis < ndim:
        raise ValueError(
            f"{name}: axis {axis} is out of range; a tensor of {ndim} dimensions has axes {-ndim}..{ndim - 1}"
        )
    return axis % ndim


def all_axes(name: str, axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes that a reduction runs over: None and () mean all of them."""
    if axis is None or axis == ():
        return tuple(range(ndim))
    wanted = axis if isinstance(axis, tuple) else (axis,)
    if ndim == 0 and all(a in (0, -1) for a in wanted):
        return ()
    found = tuple(one_axis(name, a, ndim) for a in wanted)
    if len(set(found)) != len(found):
        raise ValueError(f"{name}: axis {axis} names a dimension twice")
    return found


def tensor(value: Any) -> Tensor:
    """A value as a tensor."""
    return value if isinstance(value, Tensor) else Tensor(value)


def numbers(values: Any) -> tuple[int, ...]:
    """A size, axis list or permutation as a tuple of Python ints (a tensor must be concrete)."""
    if isinstance(values, Tensor):
        values = values.tolist()
    if isinstance(values, (list, tuple)):
        return tuple([v if v.__class__ is int else whole(v) for v in values])
    return (whole(values),)


def flat_numbers(values: tuple[Any, ...]) -> tuple[int, ...]:
    """The same for ``f(2, 3)`` and ``f((2, 3))``: what variadic methods receive."""
    one = len(values) == 1 and isinstance(values[0], (list, tuple, Tensor))
    return numbers(values[0] if one else values)


def known(name: str, given: Tensor) -> np.ndarray[Any, Any]:
    """The elements of a tensor on which the size of a result depends."""
    return np.asarray(given.concrete(f"{name} (the size of its result)"))
