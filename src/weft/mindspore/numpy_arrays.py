"""`mindspore.numpy`: cutting, padding and copying arrays, their norms and traces, positions in them."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as _np

from weft import dtypes, ops
from weft.core.tensor import Tensor
from weft.mindspore.numpy import asarray, where

__all__ = [
    "amax", "amin", "array_split", "copy", "diag", "flip", "float_power", "isin", "matrix_power", "meshgrid",
    "norm", "pad", "round", "searchsorted", "split", "tensordot", "trace", "tril_indices", "triu_indices",
    "unravel_index",
]  # fmt: skip


def array_split(x: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """Cut at indices, which gives a list, or into nearly equal pieces, which gives a tuple.

    Example:
        >>> [piece.shape for piece in array_split(Tensor([1, 2, 3]), 2)]
        [(2,), (1,)]
    """
    pieces = ops.tensor_split(asarray(x), indices_or_sections, axis)
    return tuple(pieces) if isinstance(indices_or_sections, int) else list(pieces)


def split(x: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """Cut at indices, which gives a list, or into equal pieces, which gives a tuple.

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
    return _limited(ops.amax, ops.maximum, _bound("min"), a, axis, keepdims, initial, where)


def amin(a: Any, axis: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Tensor:
    """The smallest element over axes, of those where `where` is true, and `initial`.

    Example:
        >>> print(amin(Tensor([[1.0, 5.0], [3.0, 4.0]]), axis=1, initial=2.5))
        [1.  2.5]
    """
    return _limited(ops.amin, ops.minimum, _bound("max"), a, axis, keepdims, initial, where)


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


def matrix_power(a: Any, n: int) -> Tensor:
    """A square matrix multiplied by itself.

    Args:
        a: the matrix, or a batch of them.
        n: how many factors; 0 gives the identity.

    Raises:
        TypeError: `n` is no int.
        ValueError: `n` is negative, or the last two dimensions differ.

    Example:
        >>> print(matrix_power([[1.0, 1.0], [0.0, 1.0]], 3))
        [[1. 3.]
         [0. 1.]]
    """
    if isinstance(n, bool) or not isinstance(n, int):
        raise TypeError(f"matrix_power: n must be an int, not {type(n).__name__}")
    if n < 0:
        raise ValueError(f"matrix_power: n must not be negative, not {n}")
    return ops.matrix_power(asarray(a), n)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Tensor:
    """The sum of a diagonal.

    Example:
        >>> print(trace(Tensor([[1, 2], [3, 4]])))
        5
    """
    return asarray(a).trace(offset, axis1, axis2, dtype)


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


def _borders(array: Tensor, axis: int, mode: str, stat_length: Any, end_values: Any, widths: Any) -> list[Tensor]:
    """What stands before and after an array along an axis, where it is computed from the elements."""
    made, size = [], array.shape[axis]
    for after, width in enumerate(widths):
        shape = [width if each == axis else length for each, length in enumerate(array.shape)]
        if mode == "empty":
            made.append(ops.zeros(tuple(shape), array.dtype))
            continue
        if mode == "linear_ramp":
            edge = ops.narrow(array, axis, size - 1 if after else 0, 1)
            along = [-1 if each == axis else 1 for each in range(array.ndim)]
            shares = Tensor(_np.arange(width) / builtins.max(width, 1)).reshape(along)
            ramp = end_values[after] + (edge - end_values[after]) * (ops.flip(shares, (axis,)) if after else shares)
            made.append(ramp.astype(array.dtype))
            continue
        length = size if stat_length is None else builtins.min(stat_length[after], size)
        part = ops.narrow(array, axis, size - length if after else 0, length)
        if mode == "mean":
            whole = part.dtype.np_dtype.kind in "iub"
            of = ops.mean(part.astype(dtypes.float64) if whole else part, axis, keep_dims=True)
            of = (ops.round(of) if whole else of).astype(array.dtype)
        else:
            of = (ops.amax if mode == "maximum" else ops.amin)(part, axis, keepdims=True)
        made.append(ops.broadcast_to(of, tuple(shape)))
    return made


def pad(
    arr: Any,
    pad_width: Any,
    mode: str = "constant",
    stat_length: Any = None,
    constant_values: Any = 0,
    end_values: Any = 0,
    reflect_type: str = "even",
) -> Tensor:
    """An array with a border.

    Args:
        arr: the array.
        pad_width: how wide: a number, (before, after) for all axes, or such a pair for each axis.
        mode: what the border holds: ``"constant"``, ``"edge"``, ``"reflect"``, ``"symmetric"``, ``"wrap"``,
            ``"linear_ramp"`` (from the edge to `end_values`), ``"maximum"``, ``"minimum"``, ``"mean"`` or ``"empty"``
            (zeros).
        stat_length: of how many elements from the edge the maximum, minimum or mean is; None for all. Like `pad_width`.
        constant_values: the number that it holds.
        end_values: the numbers at the ends of ramps, like `pad_width`.
        reflect_type: ``"even"``.

    Raises:
        ValueError: there is no such mode.
        NotImplementedError: medians, and reflections of another type.

    Example:
        >>> print(pad(Tensor([1, 2]), (1, 2), constant_values=7))
        [7 1 2 7 7]
        >>> print(pad(Tensor([1, 2, 3]), 2, mode="reflect"))
        [3 2 1 2 3 2 1]
        >>> print(pad(Tensor([4.0, 2.0]), 2, mode="linear_ramp"))
        [0. 2. 4. 2. 1. 0.]
    """
    array = asarray(arr)

    def by_axis(value: Any) -> Any:
        return _np.broadcast_to(_np.asarray(value), (array.ndim, 2)).tolist()

    widths = by_axis(pad_width)
    if mode == "constant":
        flat = [int(width) for pair in reversed(widths) for width in pair]
        return ops.pad(array, flat, "constant", constant_values)
    if mode == "median" or reflect_type != "even":
        raise NotImplementedError(f"pad: there is no mode {mode!r} of type {reflect_type!r}")
    computed = mode in ("linear_ramp", "maximum", "minimum", "mean", "empty")
    if not computed and mode not in ("edge", "reflect", "symmetric", "wrap"):
        raise ValueError(f"pad: there is no mode {mode!r}")
    kind: Any = mode
    lengths, ends = None if stat_length is None else by_axis(stat_length), by_axis(end_values)
    for axis, pair in enumerate(widths):
        if computed:
            first, last = _borders(array, axis, mode, lengths and lengths[axis], ends[axis], pair)
            array = ops.cat((first, array, last), axis)
        elif builtins.any(pair):
            array = ops.gather(array, Tensor(_np.pad(_np.arange(array.shape[axis]), pair, kind)), axis)
    return array


def diag(v: Any, k: int = 0) -> Tensor:
    """A diagonal of a matrix, or the matrix with a vector on it.

    Example:
        >>> print(diag(Tensor([[1, 2], [3, 4]])))
        [1 4]
    """
    array = asarray(v)
    if array.ndim not in (1, 2):
        raise ValueError(f"diag: v must have one or two dimensions, not {array.ndim}")
    return ops.diag_embed(array, k) if array.ndim == 1 else ops.diagonal(array, k)


def flip(m: Any, axis: Any = None) -> Tensor:
    """The elements in reverse order along axes, all of them by default.

    Example:
        >>> print(flip(Tensor([1, 2, 3])))
        [3 2 1]
    """
    array = asarray(m)
    axes = tuple(range(array.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    return ops.flip(array, axes) if array.ndim else array


def isin(element: Any, test_elements: Any, invert: bool = False) -> Tensor:
    """Whether each element is among the others; with `invert` whether it is not.

    Example:
        >>> print(isin(Tensor([1, 2]), Tensor([2])))
        [False  True]
    """
    found = ops.isin(asarray(element), asarray(test_elements))
    return ops.logical_not(found) if invert else found


def meshgrid(*xi: Any, sparse: bool = False, indexing: str = "xy") -> list[Tensor]:
    """Coordinates of a grid, from those along each axis; with `sparse` each with one long dimension.

    Example:
        >>> [each.shape for each in meshgrid(Tensor([1, 2, 3]), Tensor([1, 2]))]
        [(2, 3), (2, 3)]
    """
    grids = list(ops.meshgrid(*map(asarray, xi), indexing=indexing))
    if not sparse:
        return grids
    places = [1, 0, *range(2, len(grids))] if indexing == "xy" and len(grids) > 1 else range(len(grids))
    return [
        asarray(one).reshape(tuple(-1 if at == place else 1 for at in range(len(grids))))
        for one, place in zip(xi, places, strict=True)
    ]


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Tensor:
    """Where values would be inserted into sorted elements, as int32.

    Example:
        >>> print(searchsorted(Tensor([1.0, 2.0, 3.0]), 2.0))
        1
    """
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side must be 'left' or 'right', not {side!r}")
    array = asarray(a)
    ordered = array if sorter is None else ops.gather(array, asarray(sorter), 0)
    return ops.searchsorted(ordered, asarray(v), out_int32=True, right=side == "right")


def tensordot(a: Any, b: Any, axes: Any = 2) -> Tensor:
    """The product summed over axes of both.

    Example:
        >>> print(tensordot(Tensor([[1.0, 2.0]]), Tensor([[3.0, 4.0]])))
        11.0
    """
    return ops.tensor_dot(asarray(a), asarray(b), axes)


def float_power(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Powers in float32.

    Example:
        >>> print(float_power(Tensor([2, 3]), 2))
        [4. 9.]
    """
    found = ops.pow(asarray(x1).astype(dtypes.float32), asarray(x2).astype(dtypes.float32))
    return found if dtype is None else found.astype(dtype)
