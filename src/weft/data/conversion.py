"""Arrays of what functions of the program return, and what iterators give of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from weft.core.tensor import Tensor

Array: TypeAlias = np.ndarray[Any, Any]
Row: TypeAlias = tuple[Array, ...]

#: what has nothing to be looked at before it is made an array
_NUMBERS: Final = frozenset({int, float, bool, *(np.dtype(code).type for code in "?bhilqBHILQefd")})
#: the kinds of element types that a column may have
_HELD: Final = "biufUSV"
#: arrays of more bytes are put together by NumPy
_SMALL: Final = 4096


def array_of(value: Any, what: str) -> np.ndarray[Any, Any]:
    """A value of the program as an array.

    Args:
        value: a number, text, an array, a Tensor, or a list of these.
        what: what gave it, for messages.

    Raises:
        TypeError: it is nothing that a column can hold.
    """
    if type(value) in _NUMBERS:
        return np.asarray(value)
    if type(value) is np.ndarray:
        found = value
    elif isinstance(value, Tensor):
        found = np.array(value)
    elif value is None or isinstance(value, (dict, set)):
        raise TypeError(f"{what}: a column holds numbers or text, not {type(value).__name__}")
    else:
        try:
            found = np.asarray(value)
        except ValueError as error:
            raise TypeError(f"{what}: no array can be made of {type(value).__name__}: {error}") from error
    if found.dtype.kind not in _HELD:
        raise TypeError(f"{what}: a column holds numbers or text, not {found.dtype}")
    return found


def row_of(value: Any, columns: int, what: str) -> Row:
    """What a function of the program returned, as a row of so many columns.

    Args:
        value: one value, or a tuple of one for each column.
        columns: how many columns there are.
        what: what gave it, for messages.

    Raises:
        ValueError: there are more or fewer values.
    """
    values = value if isinstance(value, tuple) else (value,)
    if len(values) != columns:
        raise ValueError(f"{what}: {len(values)} values for {columns} columns")
    return tuple(
        [
            each
            if type(each) is np.ndarray and each.dtype.kind in _HELD
            else np.asarray(each)
            if type(each) in _NUMBERS
            else array_of(each, what)
            for each in values
        ]
    )


def stacked(arrays: list[np.ndarray[Any, Any]], column: str) -> np.ndarray[Any, Any]:
    """Arrays of one shape and element type as one array with a dimension more.

    Args:
        arrays: the arrays.
        column: name of their column, for messages.

    Raises:
        RuntimeError: they differ.
    """
    if alike(arrays):
        return stacked_alike(arrays)
    first = arrays[0]
    shape, dtype = first.shape, first.dtype
    for other in arrays:
        if other.shape != shape:
            raise RuntimeError(
                f"batch: cannot batch tensors with different shapes in column {column!r}: the first has "
                f"{shape}, another {other.shape}"
            )
        if other.dtype != dtype and not (other.dtype.kind == dtype.kind and dtype.kind in "US"):
            raise RuntimeError(
                f"batch: cannot batch tensors with different types in column {column!r}: the first has "
                f"{dtype}, another {other.dtype}"
            )
    return np.stack(arrays)


def numbers_alike(values: Sequence[Any]) -> Array | None:
    """Numbers of one type as an array; None where they are not.

    Args:
        values: the values, at least one.
    """
    kind = type(values[0])
    if kind not in _NUMBERS or len(set(map(type, values))) != 1:
        return None
    try:
        return np.fromiter(values, np.dtype(kind), len(values))
    except OverflowError:
        return None


def alike(values: Sequence[Any]) -> bool:
    """Whether values are arrays of one shape and element type.

    Args:
        values: the values, at least one.
    """
    return (
        set(map(type, values)) == {np.ndarray}
        and len({each.shape for each in values}) == 1
        and len({each.dtype for each in values}) == 1
    )


def stacked_alike(arrays: Sequence[Array]) -> Array:
    """Arrays that are alike as one array with a dimension more.

    Args:
        arrays: the arrays.
    """
    first = arrays[0]
    shape, dtype = first.shape, first.dtype
    if dtype.kind in "biuf" and dtype.isnative and 0 < first.nbytes <= _SMALL:
        if not shape:
            return np.fromiter(arrays, dtype, len(arrays))
        # NumPy looks at each array for longer than it takes to copy a small one
        parts: list[Any] = [np.ascontiguousarray(each) for each in arrays]
        return np.frombuffer(bytearray().join(parts), dtype).reshape(len(arrays), *shape)
    return np.stack(arrays)


def given(array: np.ndarray[Any, Any], as_arrays: bool) -> Any:
    """What an iterator gives of an array: a Tensor, or the array where that is asked for or it holds text.

    Args:
        array: the array.
        as_arrays: whether arrays are asked for.
    """
    if as_arrays or array.dtype.kind in "USV":
        return array
    return Tensor(array)
