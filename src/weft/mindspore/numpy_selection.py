"""`mindspore.numpy`: elements chosen by positions and conditions, grids of positions, sets, shapes and pieces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, Final

import numpy as _np

from weft import dtypes, ops
from weft.core.tensor import Tensor
from weft.core.transparency import transparent
from weft.mindspore.numpy import asarray, zeros_like
from weft.mindspore.numpy_arrays import diag, split, tril_indices, triu_indices
from weft.mindspore.numpy_operands import a_count, a_flag, a_tensor, an_array, an_axis, common

__all__ = [
    "append", "apply_along_axis", "apply_over_axes", "argwhere", "array_str", "atleast_1d", "atleast_2d",
    "atleast_3d", "broadcast_arrays", "choose", "diag_indices", "diagflat", "dsplit", "empty_like", "hsplit",
    "indices", "intersect1d", "isscalar", "ix_", "mgrid", "ogrid", "piecewise", "promote_types", "ravel_multi_index",
    "result_type", "rollaxis", "select", "setdiff1d", "size", "take", "take_along_axis", "tri", "tril_indices_from",
    "triu_indices_from", "vsplit",
]  # fmt: skip

# -- shapes and pieces ------------------------------------------------------------------------------------------


def append(arr: Any, values: Any, axis: int | None = None) -> Tensor:
    """A tensor and another one behind it along an axis, or both flattened.

    Example:
        >>> print(append(Tensor([1, 2]), Tensor([3])))
        [1 2 3]
    """
    first, second = common((a_tensor("append", arr), a_tensor("append", values)))
    if axis is None:
        return ops.concat([first.reshape((-1,)), second.reshape((-1,))], 0)
    return ops.concat([first, second], an_axis("append", axis, first.ndim))


def _at_least(name: str, reshape: Callable[[Tensor], Tensor], arys: tuple[Any, ...]) -> Any:
    found = [reshape(a_tensor(name, each)) for each in arys]
    return found[0] if len(found) == 1 else found


def atleast_1d(*arys: Any) -> Any:
    """Tensors with one dimension or more; a list of them, if there are several.

    Example:
        >>> atleast_1d(Tensor(1.0)).shape
        (1,)
    """
    return _at_least("atleast_1d", lambda each: each if each.ndim else each.reshape((1,)), arys)


def atleast_2d(*arys: Any) -> Any:
    """Tensors with two dimensions or more, the first of which are new; a list of them, if there are several.

    Example:
        >>> atleast_2d(Tensor([1.0, 2.0])).shape
        (1, 2)
    """
    return _at_least("atleast_2d", lambda each: each if each.ndim > 1 else each.reshape((1, -1)), arys)


def atleast_3d(*arys: Any) -> Any:
    """Tensors with three dimensions or more: (n,) becomes (1, n, 1); a list of them, if there are several.

    Example:
        >>> atleast_3d(Tensor([1.0, 2.0])).shape
        (1, 2, 1)
    """

    def reshape(each: Tensor) -> Tensor:
        if each.ndim > 2:
            return each
        return each.reshape((*each.shape, 1) if each.ndim == 2 else (1, -1, 1))

    return _at_least("atleast_3d", reshape, arys)


def broadcast_arrays(*args: Any) -> list[Tensor]:
    """Tensors in the shape that all broadcast to.

    Example:
        >>> [each.shape for each in broadcast_arrays(Tensor([[1, 2]]), Tensor([[3], [4]]))]
        [(2, 2), (2, 2)]
    """
    tensors = [a_tensor("broadcast_arrays", each) for each in args]
    shape = _np.broadcast_shapes(*(each.shape for each in tensors))
    return [each.broadcast_to(shape) for each in tensors]


def _pieces(name: str, x: Any, indices_or_sections: Any, axis: int) -> Any:
    tensor = a_tensor(name, x)
    if not isinstance(indices_or_sections, (int, tuple, list)):
        raise TypeError(f"{name}: an int, a tuple or a list is expected, not {type(indices_or_sections).__name__}")
    return split(tensor, indices_or_sections, an_axis(name, axis, tensor.ndim))


def vsplit(x: Any, indices_or_sections: Any) -> Any:
    """Cut along the first axis, as `split` does.

    Example:
        >>> [piece.shape for piece in vsplit(Tensor([[1], [2]]), 2)]
        [(1, 1), (1, 1)]
    """
    return _pieces("vsplit", x, indices_or_sections, 0)


def hsplit(x: Any, indices_or_sections: Any) -> Any:
    """Cut along the second axis, as `split` does.

    Example:
        >>> [piece.shape for piece in hsplit(Tensor([[1, 2]]), 2)]
        [(1, 1), (1, 1)]
    """
    return _pieces("hsplit", x, indices_or_sections, 1)


def dsplit(x: Any, indices_or_sections: Any) -> Any:
    """Cut along the third axis, as `split` does.

    Example:
        >>> [piece.shape for piece in dsplit(Tensor([[[1, 2]]]), 2)]
        [(1, 1, 1), (1, 1, 1)]
    """
    return _pieces("dsplit", x, indices_or_sections, 2)


def rollaxis(x: Any, axis: int, start: int = 0) -> Tensor:
    """The tensor with an axis moved to where it lies before another one.

    Args:
        x: the tensor.
        axis: the axis to be moved.
        start: the axis that comes behind it.

    Raises:
        ValueError: there is no such axis.

    Example:
        >>> rollaxis(Tensor([[1, 2, 3]]), 1).shape
        (3, 1)
    """
    tensor = a_tensor("rollaxis", x)
    moved, ndim = an_axis("rollaxis", axis, tensor.ndim), tensor.ndim
    if not -ndim <= a_count("rollaxis", "start", start) <= ndim:
        raise ValueError(f"rollaxis: start {start} is not in [{-ndim}, {ndim}]")
    target = start + ndim if start < 0 else start
    return ops.movedim(tensor, moved, target - 1 if moved < target else target)


def diagflat(v: Any, k: int = 0) -> Tensor:
    """A matrix with the elements of a tensor on its `k`-th diagonal.

    Example:
        >>> print(diagflat(Tensor([1, 2])))
        [[1 0]
         [0 2]]
    """
    return diag(a_tensor("diagflat", v).reshape((-1,)), a_count("diagflat", "k", k))


def empty_like(prototype: Any, dtype: Any = None, shape: Any = None) -> Tensor:
    """A tensor whose contents do not matter (zeros), in the shape and the element type of another one.

    Example:
        >>> empty_like(Tensor([1, 2])).shape
        (2,)
    """
    return zeros_like(an_array("empty_like", prototype), dtype, shape)


def size(a: Any, axis: int | None = None) -> int:
    """How many elements there are, in all or along an axis.

    Example:
        >>> size(Tensor([[1, 2, 3]]), 1)
        3
    """
    tensor = an_array("size", a)
    return int(tensor.size) if axis is None else int(tensor.shape[an_axis("size", axis, tensor.ndim)])


def array_str(a: Any) -> str:
    """The elements as text.

    Example:
        >>> array_str(Tensor([1, 2]))
        '[1 2]'
    """
    return str(a_tensor("array_str", a))


def isscalar(element: Any) -> bool:
    """Whether something is a number, a bool or a string, not a tensor or a container.

    Example:
        >>> isscalar(3.1), isscalar(Tensor(3.1))
        (True, False)
    """
    return isinstance(element, (int, float, complex, str, bytes, _np.generic))


# -- element types ----------------------------------------------------------------------------------------------

#: what Python's types are called; a number of Python's has that type
_NAMED: Final = {"int": dtypes.int32, "float": dtypes.float32, "bool": dtypes.bool_}


def _kind(value: Any) -> dtypes.DType:
    """An element type.

    Raises:
        TypeError: it is none, or one of complex numbers or bfloat16.
    """
    if isinstance(value, str) and value in _NAMED:
        return _NAMED[value]
    if isinstance(value, (str, dtypes.DType)):
        found = dtypes.of(value)
        if found.category < 3 and found is not dtypes.bfloat16:
            return found
    raise TypeError(f"{value!r} is no element type whose promotion is defined")


def promote_types(type1: Any, type2: Any) -> dtypes.DType:
    """The smallest element type that both can be converted to.

    Example:
        >>> promote_types("float32", "float64")
        mindspore.float64
    """
    first, second = _kind(type1), _kind(type2)
    if dtypes.uint64 in (first, second) and {first.category, second.category} == {1} and first is not second:
        other = second if first is dtypes.uint64 else first
        return dtypes.float64 if other.is_signed else dtypes.uint64
    return dtypes.promote(first, second)


def result_type(*arrays_and_dtypes: Any) -> dtypes.DType:
    """The element type of an operation on tensors, numbers and element types.

    Example:
        >>> result_type("int16", Tensor([1.5]), True)
        mindspore.float32
    """
    kinds = []
    for each in arrays_and_dtypes:
        if isinstance(each, (bool, int, float)):
            kinds.append(_NAMED[type(each).__name__])
        else:
            kinds.append(_kind(each.dtype if isinstance(each, Tensor) else each))
    if not kinds:
        raise IndexError("result_type: at least one argument is expected")
    return reduce(promote_types, kinds)


# -- functions of the program -----------------------------------------------------------------------------------


@transparent
def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> Tensor:
    """A function of each vector along an axis.

    Args:
        func1d: the function of a vector.
        axis: the axis: in its place come the dimensions of what the function returns.
        arr: the vectors.
        args: what else the function is given.
        kwargs: what it is given by name.

    Raises:
        ValueError: there is no such axis.

    Example:
        >>> print(apply_along_axis(lambda row: row.sum(), 1, Tensor([[1.0, 2.0], [3.0, 4.0]])))
        [3. 7.]
    """
    rows, before, behind = _rows(axis, arr)
    results = [func1d(row, *args, **kwargs) for row in rows]
    return _together(results, before, behind)


def _rows(axis: Any, arr: Any) -> tuple[list[Tensor], tuple[int, ...], tuple[int, ...]]:
    tensor = a_tensor("apply_along_axis", arr)
    along = an_axis("apply_along_axis", axis, tensor.ndim)
    shape = tensor.shape
    flat = ops.movedim(tensor, along, -1).reshape((-1, shape[along]))
    return [flat[at] for at in range(flat.shape[0])], shape[:along], shape[along + 1 :]


def _together(results: list[Any], before: tuple[int, ...], behind: tuple[int, ...]) -> Tensor:
    tensors = [asarray(each) for each in results]
    own = tensors[0].shape
    found = ops.stack(tensors, 0).reshape((*before, *behind, *own))
    places = range(len(before) + len(behind), len(before) + len(behind) + len(own))
    return ops.movedim(found, tuple(places), tuple(range(len(before), len(before) + len(own)))) if own else found


@transparent
def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Tensor:
    """A function of a tensor and an axis, applied for one axis after the other.

    Args:
        func: the function; an axis that it takes away is put back with size 1.
        a: the tensor.
        axes: the axes.

    Raises:
        ValueError: the function changes the number of dimensions otherwise.

    Example:
        >>> print(apply_over_axes(lambda x, axis: x.sum(axis), Tensor([[1.0, 2.0], [3.0, 4.0]]), (0, 1)))
        [[10.]]
    """
    found = an_array("apply_over_axes", a)
    for axis in _each_axis(axes, found.ndim):
        found = _put_back(func(found, axis), found.ndim, axis)
    return found


def _each_axis(axes: Any, ndim: int) -> list[int]:
    return [an_axis("apply_over_axes", each, ndim) for each in (axes if isinstance(axes, (tuple, list)) else (axes,))]


def _put_back(result: Any, ndim: int, axis: int) -> Tensor:
    found = asarray(result)
    if found.ndim == ndim:
        return found
    if found.ndim != ndim - 1:
        raise ValueError(f"apply_over_axes: the function returns {found.ndim} dimensions for {ndim}")
    return ops.expand_dims(found, axis)


@transparent
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Tensor:
    """The function whose condition is true, of each element.

    Args:
        x: the elements.
        condlist: the conditions.
        funclist: a function of the elements, or a number, for each condition, and perhaps one for where none is true.
        args: what else the functions are given.
        kw: what they are given by name.

    Raises:
        ValueError: there are more or fewer functions.

    Example:
        >>> x = Tensor([-1.0, 2.0])
        >>> print(piecewise(x, [x < 0, x >= 0], [lambda v: -v, lambda v: v * 2]))
        [1. 4.]
    """
    array = asarray(x)
    results = [func(array, *args, **kw) if callable(func) else func for func in funclist]
    return _of_conditions(array, _conditions(condlist), results)


def _conditions(condlist: Any) -> list[Tensor]:
    if isinstance(condlist, (list, tuple)) and condlist and not isinstance(condlist[0], (bool, int, float)):
        return [asarray(each).astype(dtypes.bool_) for each in condlist]
    array = asarray(condlist).astype(dtypes.bool_)
    return [array] if array.ndim < 2 else [array[at] for at in range(array.shape[0])]


def _of_conditions(array: Tensor, conditions: list[Tensor], results: list[Any]) -> Tensor:
    if len(results) not in (len(conditions), len(conditions) + 1):
        raise ValueError(f"piecewise: {len(results)} functions for {len(conditions)} conditions")
    choices = common(map(asarray, results))
    rest = choices.pop() if len(results) > len(conditions) else Tensor(0, choices[0].dtype)
    # of several conditions that are true, the last one counts
    return _chosen(conditions[::-1], choices[::-1], rest).broadcast_to(
        _np.broadcast_shapes(array.shape, *(each.shape for each in conditions))
    )


def _chosen(conditions: Sequence[Tensor], choices: Sequence[Tensor], rest: Tensor) -> Tensor:
    """The choice of the first condition that is true, `rest` where none is."""
    found = rest
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        found = ops.where(condition, choice, found)
    return found


# -- chosen elements --------------------------------------------------------------------------------------------


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Tensor:
    """The choice of the first condition that is true, of each element.

    Args:
        condlist: the conditions.
        choicelist: the choices.
        default: the number where no condition is true, cast to the element type of the choices.

    Raises:
        ValueError: there are more or fewer choices than conditions.

    Example:
        >>> x = Tensor([1.0, 2.0, 3.0])
        >>> print(select([x > 2, x > 1], [x, x * 10]))
        [ 0. 20.  3.]
    """
    conditions = [asarray(each).astype(dtypes.bool_) for each in condlist]
    if len(conditions) != len(choicelist):
        raise ValueError(f"select: {len(choicelist)} choices for {len(conditions)} conditions")
    choices = common(asarray(each) for each in choicelist)
    return _chosen(conditions, choices, asarray(default).astype(choices[0].dtype))


def _within(name: str, positions: Tensor, count: int, mode: Any) -> Tensor:
    """Positions from 0 to below a count.

    Raises:
        NotImplementedError: positions outside are to raise.
        ValueError: there is no such mode.
    """
    if mode == "raise":
        raise NotImplementedError(f"{name}: mode 'raise' is not supported")
    if mode not in ("wrap", "clip"):
        raise ValueError(f"{name}: mode must be 'raise', 'wrap' or 'clip', not {mode!r}")
    return ops.floor_mod(positions, count) if mode == "wrap" else ops.clamp(positions, 0, count - 1)


def choose(a: Any, choices: Any, mode: str = "clip") -> Tensor:
    """At each place the element of the choice that a position names.

    Args:
        a: the positions.
        choices: the tensors to choose from.
        mode: what becomes of positions outside: ``"clip"`` or ``"wrap"``.

    Raises:
        ValueError: positions are no integers, or there is no such mode.

    Example:
        >>> print(choose([1, 0], [[1, 2], [10, 20]]))
        [10  2]
    """
    positions = an_array("choose", a)
    if positions.dtype.category != 1:
        raise ValueError(f"choose: positions must be integers, not {positions.dtype}")
    if isinstance(choices, Tensor):
        tensors = [choices[at] for at in range(choices.shape[0])]
    else:
        tensors = common(asarray(each) for each in choices)
    positions = _within("choose", positions, len(tensors), mode)
    shape = _np.broadcast_shapes(positions.shape, *(each.shape for each in tensors))
    table = ops.stack([each.broadcast_to(shape) for each in tensors], 0)
    return ops.gather_elements(table, 0, positions.broadcast_to(shape).reshape((1, *shape)))[0]


def take(a: Any, indices: Any, axis: int | None = None, mode: str = "clip") -> Tensor:
    """Elements at positions along an axis, or in the flattened tensor.

    Args:
        a: the tensor.
        indices: the positions; negative ones count from the end.
        axis: the axis.
        mode: what becomes of positions outside: ``"clip"`` or ``"wrap"``.

    Raises:
        ValueError: there is no such axis, or no such mode.

    Example:
        >>> print(take(Tensor([4, 3, 5]), Tensor([0, 2])))
        [4 5]
    """
    tensor, positions = a_tensor("take", a), a_tensor("take", indices)
    tensor = tensor.reshape((-1,)) if axis is None else tensor
    along = 0 if axis is None else an_axis("take", axis, tensor.ndim)
    count = tensor.shape[along]
    if mode == "clip":  # negative positions count from the end
        positions = ops.clamp(positions, -count, count - 1)
        positions = ops.where(positions < 0, positions + count, positions)
    return ops.gather(tensor, _within("take", positions, count, mode), along)


def take_along_axis(arr: Any, indices: Any, axis: int | None) -> Tensor:
    """At each place the element at a position along an axis, or in the flattened tensor.

    Args:
        arr: the tensor.
        indices: the positions; the other dimensions are broadcast to those of the tensor.
        axis: the axis.

    Raises:
        ValueError: the numbers of dimensions differ.

    Example:
        >>> print(take_along_axis(Tensor([[1, 2], [3, 4]]), Tensor([[1], [0]]), 1))
        [[2]
         [3]]
    """
    tensor, positions = a_tensor("take_along_axis", arr), a_tensor("take_along_axis", indices)
    if axis is None:
        tensor, axis = tensor.reshape((-1,)), 0
    along = an_axis("take_along_axis", axis, tensor.ndim)
    if positions.ndim != tensor.ndim:
        raise ValueError(f"take_along_axis: positions have {positions.ndim} dimensions, the tensor {tensor.ndim}")
    others = _np.broadcast_shapes(_without(tensor.shape, along), _without(positions.shape, along))
    tensor = tensor.broadcast_to((*others[:along], tensor.shape[along], *others[along:]))
    positions = positions.broadcast_to((*others[:along], positions.shape[along], *others[along:]))
    count = tensor.shape[along]
    return ops.gather_elements(tensor, along, ops.where(positions < 0, positions + count, positions))


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return shape[:axis] + shape[axis + 1 :]


# -- positions and grids ----------------------------------------------------------------------------------------


def argwhere(a: Any) -> Tensor:
    """The positions of the elements that are not 0, a row for each, as int64.

    Raises:
        ValueError: the array has no dimensions.

    Example:
        >>> print(argwhere(Tensor([0, 5])))
        [[1]]
    """
    tensor = an_array("argwhere", a)
    if not tensor.ndim:
        raise ValueError("argwhere: an array with dimensions is expected")
    return ops.nonzero(tensor)


def ravel_multi_index(multi_index: Any, dims: Any, mode: str = "clip", order: str = "C") -> Tensor:
    """Flat positions in a shape, as float32.

    Args:
        multi_index: positions along each axis.
        dims: the shape.
        mode: what becomes of positions outside: ``"clip"`` or ``"wrap"``.
        order: ``"C"``: the last index runs fastest; ``"F"``: the first.

    Raises:
        ValueError: there are more or fewer positions than axes, or there is no such order.

    Example:
        >>> print(ravel_multi_index([[3], [4]], (7, 6)))
        [22.]
    """
    if order not in ("C", "F"):
        raise ValueError(f"ravel_multi_index: order must be 'C' or 'F', not {order!r}")
    sizes = (dims,) if isinstance(dims, int) else tuple(dims)
    if isinstance(multi_index, (tuple, list)):
        given = [asarray(each) for each in multi_index]
    else:
        table = an_array("ravel_multi_index", multi_index)
        given = [table[at] for at in range(table.shape[0])]
    if len(given) != len(sizes):
        raise ValueError(f"ravel_multi_index: positions along {len(given)} axes of {len(sizes)}")
    found = Tensor(0, dtypes.int32)
    pairs = list(zip(given, sizes, strict=True))
    for positions, count in pairs if order == "C" else pairs[::-1]:
        found = found * count + _within("ravel_multi_index", positions, count, mode)
    return found.astype(dtypes.float32)


def indices(dimensions: Sequence[int], dtype: Any = dtypes.int32, sparse: bool = False) -> list[Tensor]:
    """The positions along each axis of a grid.

    Args:
        dimensions: the shape of the grid.
        dtype: element type of the positions.
        sparse: give each with one long dimension.

    Example:
        >>> print(*indices((1, 2)))
        [[0 0]] [[0 1]]
    """
    shape = tuple(a_count("indices", "a size", each) for each in dimensions)
    found = _np.indices(shape, sparse=True)
    kind = dtypes.to_np(dtype)
    return [Tensor((each if sparse else _np.broadcast_to(each, shape)).astype(kind)) for each in found]


def ix_(*args: Any) -> tuple[Tensor, ...]:
    """Vectors, each with one long dimension, as indices of the places where they meet.

    Example:
        >>> [each.shape for each in ix_(Tensor([0, 1]), Tensor([2, 4, 5]))]
        [(2, 1), (1, 3)]
    """
    tensors = [a_tensor("ix_", each) for each in args]
    if any(each.ndim != 1 for each in tensors):
        raise ValueError("ix_: the indices must have one dimension")
    return tuple(
        each.reshape(tuple(-1 if at == place else 1 for at in range(len(tensors))))
        for place, each in enumerate(tensors)
    )


class _Grid:
    """Makes grids of slices: ``mgrid[0:5, -1:1:3j]``; an imaginary step is a number of points."""

    def __init__(self, sparse: bool) -> None:
        self._sparse = sparse

    def __getitem__(self, keys: Any) -> Any:
        several = isinstance(keys, tuple)
        for key in keys if several else (keys,):
            if not isinstance(key, slice):
                raise TypeError(f"a grid is made of slices, not of {type(key).__name__}")
            parts = [key.start, key.stop, *([] if key.step is None else [key.step])]
            if any(isinstance(each, bool) or not isinstance(each, (int, float, complex)) for each in parts):
                raise TypeError("the slices of a grid have a start and a stop, which are numbers")
        made: Any = (_np.ogrid if self._sparse else _np.mgrid)[keys]
        if self._sparse and several:
            kind = _np.result_type(*made)
            return [_narrow(each.astype(kind)) for each in made]
        return _narrow(made)


def _narrow(values: _np.ndarray[Any, Any]) -> Tensor:
    return Tensor(values.astype(_np.float32 if values.dtype.kind == "f" else _np.int32))


mgrid: Final = _Grid(sparse=False)
ogrid: Final = _Grid(sparse=True)


def diag_indices(n: int, ndim: int = 2) -> tuple[Tensor, ...]:
    """The positions of a diagonal, along each axis.

    Example:
        >>> print(*diag_indices(3))
        [0 1 2] [0 1 2]
    """
    places = _np.arange(a_count("diag_indices", "n", n), dtype=_np.int32)
    return tuple(Tensor(places) for _ in range(a_count("diag_indices", "ndim", ndim)))


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = dtypes.float32) -> Tensor:
    """Ones on and below the `k`-th diagonal of an (N, M) matrix.

    Example:
        >>> print(tri(2))
        [[1. 0.]
         [1. 1.]]
    """
    rows = a_count("tri", "N", N)
    return Tensor(_np.tri(rows, rows if M is None else a_count("tri", "M", M), k, dtypes.to_np(dtype)))


def _matrix(name: str, arr: Any) -> tuple[int, ...]:
    tensor = an_array(name, arr)
    if tensor.ndim != 2:
        raise ValueError(f"{name}: the array must have two dimensions, not {tensor.ndim}")
    return tuple(tensor.shape)


def tril_indices_from(arr: Any, k: int = 0) -> tuple[Tensor, Tensor]:
    """Rows and columns of the lower triangle of a matrix.

    Example:
        >>> print(*tril_indices_from(Tensor([[1, 2], [3, 4]])))
        [0 1 1] [0 0 1]
    """
    rows, columns = _matrix("tril_indices_from", arr)
    return tril_indices(rows, k, columns)


def triu_indices_from(arr: Any, k: int = 0) -> tuple[Tensor, Tensor]:
    """Rows and columns of the upper triangle of a matrix.

    Example:
        >>> print(*triu_indices_from(Tensor([[1, 2], [3, 4]])))
        [0 0 1] [0 1 1]
    """
    rows, columns = _matrix("triu_indices_from", arr)
    return triu_indices(rows, k, columns)


# -- sets -------------------------------------------------------------------------------------------------------


def _distinct(tensor: Tensor) -> Tensor:
    """The elements in ascending order, each once."""
    ordered = ops.sort(tensor.reshape((-1,)))[0]
    if ordered.shape[0] < 2:
        return ordered
    return ops.masked_select(ordered, ops.concat([Tensor([True]), ordered[1:] != ordered[:-1]], 0))


def _operands(name: str, ar1: Any, ar2: Any) -> tuple[Tensor, Tensor]:
    first, second = common((an_array(name, ar1), an_array(name, ar2)))
    return first.reshape((-1,)), second.reshape((-1,))


def _first(tensor: Tensor, values: Tensor) -> Tensor:
    """Where each of some values comes first in a vector, as int32."""
    return ops.argmax((tensor.reshape((1, -1)) == values.reshape((-1, 1))).astype(dtypes.int32), 1).astype(dtypes.int32)


def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """The elements that are in both arrays, in ascending order.

    Args:
        ar1: the first array.
        ar2: the second one.
        assume_unique: say that no array has an element twice.
        return_indices: also give where each comes first in both, as int32.

    Example:
        >>> print(intersect1d([1, 3, 4, 3], [3, 1, 2, 1]))
        [1 3]
    """
    a_flag("intersect1d", "assume_unique", assume_unique)
    a_flag("intersect1d", "return_indices", return_indices)
    first, second = _operands("intersect1d", ar1, ar2)
    ordered = ops.sort(first)[0] if assume_unique else _distinct(first)
    found = ops.masked_select(ordered, ops.isin(ordered, second))
    return (found, _first(first, found), _first(second, found)) if return_indices else found


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Tensor:
    """The elements of an array that are not in another one, in ascending order.

    Args:
        ar1: the array.
        ar2: the other one.
        assume_unique: say that no array has an element twice; then their order stays.

    Example:
        >>> print(setdiff1d([1, 2, 3, 2], [3, 4]))
        [1 2]
    """
    a_flag("setdiff1d", "assume_unique", assume_unique)
    first, second = _operands("setdiff1d", ar1, ar2)
    values = first if assume_unique else _distinct(first)
    return ops.masked_select(values, ops.logical_not(ops.isin(values, second)))
