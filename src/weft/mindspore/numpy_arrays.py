"""`mindspore.numpy`: cutting, padding and copying arrays, their norms and traces, positions in them."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as _np

from weft import dtypes, ops
from weft.core.tensor import Tensor
from weft.mindspore.numpy import asarray, max, min, where

__all__ = [
    "amax", "amin", "array_split", "copy", "norm", "pad", "round", "split", "trace", "tril_indices", "triu_indices",
    "unravel_index",
]  # fmt: skip


def array_split(x: Any, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """Cut at indices, or into nearly equal pieces.

    Example:
        >>> [piece.shape for piece in array_split(Tensor([1, 2, 3]), 2)]
        [(2,), (1,)]
    """
    return list(ops.tensor_split(asarray(x), indices_or_sections, axis))


def split(x: Any, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """Cut at indices, or into equal pieces.

    Raises:
        ValueError: there are no equal pieces.

    Example:
        >>> [piece.shape for piece in split(Tensor([1, 2, 3, 4]), 2)]
        [(2,), (2,)]
    """
    array = asarray(x)
    if isinstance(indices_or_sections, int) and indices_or_sections > 0 and array.shape[axis] % indices_or_sections:
        raise ValueError(f"split: a size of {array.shape[axis]} has not {indices_or_sections} equal pieces")
    return array_split(array, indices_or_sections, axis)


def copy(a: Any) -> Tensor:
    """An array of its own with the same elements.

    Example:
        >>> print(copy(Tensor([1, 2])))
        [1 2]
    """
    return asarray(a).copy()


def _limited(reduce: Any, limit: Any, empty: Any, a: Any, axis: Any, keepdims: bool, initial: Any, mask: Any) -> Tensor:
    """A maximum or minimum of the elements where a mask is true, and of an initial value."""
    array = asarray(a)
    if mask is not True:
        if initial is None:
            raise ValueError("an initial value is needed with where=, for rows of which no element counts")
        array = where(asarray(mask), array, empty(array))
    found = reduce(array, axis, keepdims)
    return found if initial is None else limit(found, Tensor(initial, found.dtype))


def _bound(name: str) -> Any:
    """What no element of an array exceeds: the infinity, or the largest or smallest integer, of its type."""

    def bound(array: Tensor) -> Tensor:
        kind = array.dtype
        sign = 1 if name == "max" else -1
        number = sign * _np.inf if kind.is_floating else getattr(_np.iinfo(kind.np_dtype), name)
        return Tensor(number, kind)

    return bound


def amax(a: Any, axis: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Tensor:
    """The largest element over axes, of those where `where` is true, and `initial`.

    Example:
        >>> print(amax(Tensor([[1.0, 5.0], [3.0, 4.0]]), axis=1, initial=4.5))
        [5.  4.5]
    """
    return _limited(max, ops.maximum, _bound("min"), a, axis, keepdims, initial, where)


def amin(a: Any, axis: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Tensor:
    """The smallest element over axes, of those where `where` is true, and `initial`.

    Example:
        >>> print(amin(Tensor([[1.0, 5.0], [3.0, 4.0]]), axis=1, initial=2.5))
        [1.  2.5]
    """
    return _limited(min, ops.minimum, _bound("max"), a, axis, keepdims, initial, where)


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The norm of vectors or matrices.

    Args:
        x: the array.
        ord: the order: a number, ``"fro"`` or ``"nuc"``; None is the 2-norm of all elements.
        axis: that of vectors, or the two of matrices; None for all.
        keepdims: leave the axes with size 1.

    Example:
        >>> print(norm(Tensor([3.0, 4.0])))
        5.0
    """
    return ops.norm(asarray(x), ord, axis, keepdims)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Tensor:
    """The sum of a diagonal.

    Example:
        >>> print(trace(Tensor([[1, 2], [3, 4]])))
        5
    """
    found = ops.diagonal(asarray(a), offset, axis1, axis2)
    return (found if dtype is None else found.astype(dtype)).sum(-1)


def round(a: Any, decimals: int = 0) -> Tensor:
    """The elements rounded to a number of decimals.

    Example:
        >>> print(round(Tensor([1.25, 2.5]), 1))
        [1.2 2.5]
    """
    return ops.round(asarray(a), decimals=decimals)


def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Tensor, ...]:
    """Positions in a shape of flat ones.

    Args:
        indices: flat positions.
        shape: the shape.
        order: ``"C"``: the last index runs fastest; ``"F"``: the first.

    Example:
        >>> [int(i) for i in unravel_index(5, (3, 4))]
        [1, 1]
    """
    if order not in ("C", "F"):
        raise ValueError(f"unravel_index: order must be 'C' or 'F', not {order!r}")
    rest = asarray(indices)
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    found = []
    for size in sizes if order == "F" else reversed(sizes):
        found.append(rest % size)
        rest = rest // size
    return tuple(found if order == "F" else reversed(found))


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Tensor, Tensor]:
    """Rows and columns of the lower triangle.

    Example:
        >>> print(tril_indices(2)[0])
        [0 1 1]
    """
    rows, columns = ops.tril_indices(n, n if m is None else m, k, dtype=dtypes.int32)
    return rows, columns


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Tensor, Tensor]:
    """Rows and columns of the upper triangle.

    Example:
        >>> print(triu_indices(2)[1])
        [0 1 1]
    """
    rows, columns = ops.triu_indices(n, n if m is None else m, k, dtype=dtypes.int32)
    return rows, columns


def pad(arr: Any, pad_width: Any, mode: str = "constant", constant_values: Any = 0) -> Tensor:
    """An array with a border.

    Args:
        arr: the array.
        pad_width: how wide: a number, (before, after) for all axes, or such a pair for each axis.
        mode: what the border holds: ``"constant"``, ``"edge"``, ``"reflect"``, ``"symmetric"`` or ``"wrap"``.
        constant_values: the number that it holds.

    Raises:
        ValueError: there is no such mode.

    Example:
        >>> print(pad(Tensor([1, 2]), (1, 2), constant_values=7))
        [7 1 2 7 7]
        >>> print(pad(Tensor([1, 2, 3]), 2, mode="reflect"))
        [3 2 1 2 3 2 1]
    """
    array = asarray(arr)
    widths = _np.broadcast_to(_np.asarray(pad_width), (array.ndim, 2)).tolist()
    if mode == "constant":
        flat = [int(width) for pair in reversed(widths) for width in pair]
        return ops.pad(array, flat, "constant", constant_values)
    if mode not in ("edge", "reflect", "symmetric", "wrap"):
        raise ValueError(f"pad: mode must be 'constant', 'edge', 'reflect', 'symmetric' or 'wrap', not {mode!r}")
    kind: Any = mode
    for axis, pair in enumerate(widths):
        if builtins.any(pair):
            array = ops.gather(array, Tensor(_np.pad(_np.arange(array.shape[axis]), pair, kind)), axis)
    return array
