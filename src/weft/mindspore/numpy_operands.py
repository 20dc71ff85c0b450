"""What functions of `mindspore.numpy` are given: tensors, arrays and axes, checked."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any

import numpy as _np

from weft import dtypes
from weft.core.tensor import Tensor
from weft.mindspore.numpy import asarray


def a_tensor(name: str, value: Any) -> Tensor:
    """The argument of a function that takes tensors only.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(value, Tensor):
        raise TypeError(f"{name}: a Tensor is expected, not {type(value).__name__}")
    return value


def an_array(name: str, value: Any) -> Tensor:
    """A tensor of a number, a list, a tuple or an array.

    Raises:
        TypeError: it is none of them.
    """
    if not isinstance(value, (int, float, list, tuple, Tensor, _np.ndarray, _np.generic)):
        raise TypeError(
            f"{name}: int, float, bool, list, tuple and Tensor are expected, not {type(value).__name__} ({value!r})"
        )
    return asarray(value)


def an_axis(name: str, axis: Any, ndim: int) -> int:
    """An axis, counted from the first.

    Raises:
        TypeError: it is no int.
        ValueError: there is no such axis.
    """
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise TypeError(f"{name}: an axis must be an int, not {type(axis).__name__}")
    if not -ndim <= axis < ndim:
        raise ValueError(f"{name}: axis {axis} is out of bounds for an array of dimension {ndim}")
    return axis % ndim


def some_axes(name: str, axis: Any, ndim: int) -> tuple[int, ...]:
    """Axes, counted from the first; None stands for all.

    Raises:
        TypeError: one is no int.
        ValueError: there is no such axis, or one comes twice.
    """
    if axis is None:
        return tuple(range(ndim))
    found = tuple(an_axis(name, each, ndim) for each in (axis if isinstance(axis, (tuple, list)) else (axis,)))
    if len(set(found)) < len(found):
        raise ValueError(f"{name}: duplicate axes in {axis}")
    return found


def a_count(name: str, what: str, value: Any) -> int:
    """An int.

    Raises:
        TypeError: it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name}: {what} must be an int, not {type(value).__name__}")
    return value


def a_flag(name: str, what: str, value: Any) -> bool:
    """A bool.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(value, bool):
        raise TypeError(f"{name}: {what} must be a bool, not {type(value).__name__}")
    return value


def common(tensors: Iterable[Tensor]) -> list[Tensor]:
    """Tensors in their common element type."""
    given = list(tensors)
    kind = reduce(dtypes.promote, (each.dtype for each in given))
    return [each.astype(kind) for each in given]


def floating(tensor: Tensor) -> Tensor:
    """A tensor of floats: integers and bools become float32."""
    return tensor if tensor.dtype.category >= 2 else tensor.astype(dtypes.float32)


def single(tensor: Tensor) -> Tensor:
    """A tensor in float32, or in float64 or a complex type if it has that."""
    return tensor if tensor.dtype.category > 2 or tensor.dtype is dtypes.float64 else tensor.astype(dtypes.float32)
