"""Gather and scatter: reading and writing elements by integer tensors."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from weft import dtypes
from weft.core import Parameter, Tensor, as_operator, check_bounds, described, op, operator_class, shows, told
from weft.core.conversion import converted
from weft.core.run_number import shown
from weft.ops._assigning import assigned
from weft.ops._checks import one_of
from weft.ops._kinks import multiplied_at
from weft.ops._rules import numbers, one_axis, tensor, wide
from weft.ops.select import where
from weft.ops.shape import broadcast_to, reshape
from weft.ops.state import write

__all__ = [
    "diagonal_scatter", "gather", "gather_d", "gather_elements", "gather_nd", "index_add", "index_fill",
    "index_select", "inplace_add", "inplace_index_add", "inplace_sub", "inplace_update", "scatter", "scatter_add",
    "scatter_div", "scatter_max", "scatter_min", "scatter_mul", "scatter_nd", "scatter_nd_add", "scatter_nd_div",
    "scatter_nd_max", "scatter_nd_min", "scatter_nd_mul", "scatter_nd_sub", "scatter_nd_update", "scatter_sub",
    "scatter_update", "select_scatter", "slice_scatter", "take", "take_along_dim", "tensor_scatter_add",
    "tensor_scatter_div", "tensor_scatter_elements", "tensor_scatter_max", "tensor_scatter_min",
    "tensor_scatter_mul", "tensor_scatter_sub", "tensor_scatter_update", "unsorted_segment_max",
    "unsorted_segment_min", "unsorted_segment_prod", "unsorted_segment_sum",
]  # fmt: skip


def _integer(name: str, indices: Any) -> Any:
    """Indices that can be compared with any size."""
    if not jnp.issubdtype(indices.dtype, jnp.integer):
        raise TypeError(f"{name}: indices must be integers, not {dtypes.of_np(indices.dtype)}")
    return wide(indices)


# -- reading -------------------------------------------------------------------------------------------------


def _along(name: str) -> Any:
    """Refuses positions along an axis that are out of bounds."""

    def check(x: Any, indices: Any, axis: Any) -> None:
        shape = np.shape(x)
        if isinstance(axis, int) and -len(shape) <= axis < len(shape):
            axis %= len(shape)
            what = f"{name}: index {{}} is out of bounds for axis {axis} with size {shown(shape[axis])}"
            check_bounds(indices, shape[axis], what)

    return check


def _at(name: str, shape: Any, indices: Any) -> None:
    """Refuses coordinates in the last dimension of a tensor that are out of bounds."""
    count = np.shape(indices)[-1:]
    if count and count[0] <= len(shape):
        what = f"{name}: a coordinate {{}} is out of bounds in a tensor of shape {shown(tuple(shape))}"
        check_bounds(indices, tuple(shape[: count[0]]), what)


@op("Gather", classes=(), bounds=lambda x, indices, axis, batch_dims: _along("gather")(x, indices, axis))
def _gather(input_params: Any, input_indices: Any, *, axis: int, batch_dims: int = 0) -> Any:
    input_indices = _integer("gather", input_indices)
    axis = one_axis("gather", axis, input_params.ndim)
    if not batch_dims:
        return jnp.take(input_params, input_indices, axis=axis)
    step: Any = partial(jnp.take, axis=axis - batch_dims)
    for _ in range(batch_dims % (input_indices.ndim + 1)):
        step = jax.vmap(step)
    return step(input_params, input_indices)


@shows("gather(Tensor([10, 20, 30]), Tensor([2, 0]), 0)", "[30 10]")
def gather(input_params: Any, input_indices: Any, axis: Any, batch_dims: int = 0) -> Any:
    """Slices of a tensor along an axis, at the positions that an integer tensor names.

    Args:
        input_params: tensor.
        input_indices: integer tensor.
        axis: the axis to read along.
        batch_dims: leading dimensions that both tensors share.

    Returns:
        Tensor: the dimension `axis` replaced by the dimensions of the indices.

    Raises:
        TypeError: the indices are not integers.
        ValueError: `axis` is out of range.
    """
    return _gather(input_params, input_indices, axis=axis, batch_dims=batch_dims)


@op("GatherD", classes=(), bounds=_along("gather_elements"))
def _gather_d(x: Any, index: Any, *, dim: int) -> Any:
    index = _integer("gather_elements", index)
    dim = one_axis("gather_elements", dim, x.ndim)
    if index.ndim != x.ndim:
        raise ValueError(
            f"gather_elements: the index needs {x.ndim} dimensions like the tensor, not shape {tuple(index.shape)}"
        )
    box = tuple(slice(None) if i == dim else slice(0, size) for i, size in enumerate(index.shape))
    return jnp.take_along_axis(x[box], index, axis=dim)


@shows("gather_d(Tensor([[1, 2], [3, 4]]), 1, Tensor([[0, 0], [1, 0]]))", "[[1 1]\n [4 3]]")
def gather_d(x: Any, dim: int, index: Any) -> Any:
    """For each position of the index, the element of its line along a dimension.

    Args:
        x: tensor.
        dim: the dimension.
        index: integer tensor with as many dimensions as `x`.

    Returns:
        Tensor: of the shape of `index`.
    """
    return _gather_d(x, index, dim=dim)


@shows("gather_elements(Tensor([[1, 2], [3, 4]]), 1, Tensor([[0, 0], [1, 0]]))", "[[1 1]\n [4 3]]")
def gather_elements(input: Any, dim: int, index: Any) -> Any:
    """Same as `gather_d`."""
    return _gather_d(input, index, dim=dim)


@shows("take_along_dim(Tensor([[3, 1]]), Tensor([[1, 0]]), 1)", "[[1 3]]")
def take_along_dim(input: Any, indices: Any, dim: int | None = None) -> Any:
    """For each position of the index, the element of its line along a dimension."""
    if dim is None:
        return _gather_d(reshape(input, (-1,)), reshape(indices, (-1,)), dim=0)
    return _gather_d(input, indices, dim=dim)


@op("GatherNd", bounds=lambda x, indices: _at("gather_nd", np.shape(x), indices))
@shows("gather_nd(Tensor([[1, 2], [3, 4]]), Tensor([[0, 1], [1, 0]]))", "[2 3]")
def gather_nd(input_x: Any, indices: Any) -> Any:
    """Elements or slices at the coordinates in the last dimension of an integer tensor.

    Args:
        input_x: tensor.
        indices: integer tensor; its last dimension holds coordinates.

    Returns:
        Tensor: of shape ``indices.shape[:-1] + input_x.shape[indices.shape[-1]:]``.

    Raises:
        ValueError: more coordinates than dimensions.
    """
    return input_x[_coordinates("gather_nd", input_x, indices)]


def _coordinates(name: str, x: Any, indices: Any) -> Any:
    """The coordinates in the last dimension of a tensor, one array for each."""
    indices = _integer(name, indices)
    if not indices.ndim or indices.shape[-1] > x.ndim:
        raise ValueError(
            f"{name}: the last dimension of the indices {tuple(indices.shape)} must hold at most {x.ndim} coordinates"
        )
    return tuple(jnp.moveaxis(indices, -1, 0))


@shows("take(Tensor([4, 3, 5]), Tensor([0, 2]))", "[4 5]")
def take(input: Any, indices: Any, axis: int | None = None, mode: str = "clip") -> Any:
    """Elements at integer positions, of the flattened tensor or along an axis.

    Args:
        input: tensor.
        indices: integer tensor or list.
        axis: the axis; None for the flattened tensor.
        mode: what happens to positions out of range: ``"clip"``, ``"wrap"``, or ``"raise"`` for an error.

    Returns:
        Tensor: the elements.

    Raises:
        ValueError: another mode.
        IndexError: with ``"raise"``, a position is out of range.
    """
    if axis is None:
        input, axis = reshape(input, (-1,)), 0
    one_of("take", ("clip", "wrap", "raise"), mode=mode)
    size = input.shape[one_axis("take", axis, input.ndim)]
    indices = tensor(indices)
    if mode == "wrap":
        indices = indices % size
    elif mode == "clip":
        indices = where(indices < 0, indices + size, indices).clip(0, size - 1)
    return gather(input, indices, axis)


@shows("index_select(Tensor([4, 3, 5]), 0, Tensor([2, 0]))", "[5 4]")
def index_select(input: Any, axis: int, index: Any) -> Any:
    """Slices along an axis at integer positions."""
    return gather(input, tensor(index), axis)


# -- writing by coordinates ------------------------------------------------------------------------------------


def _divided_at(x: Any, positions: Any, divisors: Any) -> Any:
    if not jnp.issubdtype(x.dtype, jnp.inexact):
        return converted(x.at[positions].divide(divisors), x.dtype)
    return x / multiplied_at(jnp.ones_like(x), positions, divisors)


#: writes of an array at positions, a tuple of one integer array for each of its first dimensions
_WRITES: dict[str, Any] = {
    "update": assigned,
    "add": lambda x, at, v: x.at[at].add(v),
    "sub": lambda x, at, v: x.at[at].add(-v),
    "mul": multiplied_at,
    "div": _divided_at,
    "max": lambda x, at, v: x.at[at].max(v),
    "min": lambda x, at, v: x.at[at].min(v),
}
#: the same, as `tensor_scatter_elements` calls them
_REDUCTIONS = {"none" if name == "update" else name: write_at for name, write_at in _WRITES.items()}


def _scatter_bounds(x: Any, indices: Any, updates: Any, reduction: str) -> None:
    _at(f"tensor_scatter_{reduction}", np.shape(x), indices)


@op("TensorScatter", classes=(), bounds=_scatter_bounds)
def _tensor_scatter(x: Any, indices: Any, updates: Any, *, reduction: str) -> Any:
    """A tensor with updates at coordinates applied."""
    at = _coordinates(f"tensor_scatter_{reduction}", x, indices)
    wanted = (*indices.shape[:-1], *x.shape[indices.shape[-1] :])
    if tuple(updates.shape) != wanted:
        raise ValueError(f"tensor_scatter_{reduction}: updates must have shape {wanted}, not {tuple(updates.shape)}")
    return _WRITES[reduction](x, at, updates.astype(x.dtype))


#: for each of them: its sentences for tensors and for parameters, and [4.0, 3.0] with a 2.0 written to the second
_ACTIONS = {
    "update": ("Replace elements", "Replace elements", "[4. 2.]"),
    "add": ("Add to elements", "Add to elements", "[4. 5.]"),
    "sub": ("Subtract from elements", "Subtract from elements", "[4. 1.]"),
    "mul": ("Multiply elements", "Multiply elements", "[4. 6.]"),
    "div": ("Divide elements", "Divide elements", "[4.  1.5]"),
    "max": ("Take the larger of elements and updates", "Raise elements to at least the updates", "[4. 3.]"),
    "min": ("Take the smaller of elements and updates", "Lower elements to at most the updates", "[4. 2.]"),
}
_AT_COORDINATES = {
    "indices": "integer tensor; its last dimension holds coordinates.",
    "updates": "tensor of shape ``indices.shape[:-1] + input_x.shape[indices.shape[-1]:]``.",
}
_SCATTERED = described(
    input_x="tensor.", **_AT_COORDINATES, returns="Tensor: like `input_x`.",
    raises="ValueError: the shape of `updates` does not fit.",
)  # fmt: skip


def _on_tensors(reduction: str) -> Any:
    """The function that writes to tensors at coordinates."""
    name, (sentence, _, printed) = f"tensor_scatter_{reduction}", _ACTIONS[reduction]

    def function(input_x: Any, indices: Any, updates: Any) -> Any:
        return _tensor_scatter(input_x, indices, updates, reduction=reduction)

    told(function, name, f"{sentence} at the coordinates in the last dimension of an integer tensor.")
    return shows(f"{name}(Tensor([4.0, 3.0]), Tensor([[1]]), Tensor([2.0]))", printed)(_SCATTERED(function))


(
    tensor_scatter_update, tensor_scatter_add, tensor_scatter_sub, tensor_scatter_mul, tensor_scatter_div,
    tensor_scatter_max, tensor_scatter_min,
) = map(_on_tensors, _ACTIONS)  # fmt: skip


@shows("scatter_nd(Tensor([[1], [3]]), Tensor([5, 6]), (4,))", "[0 5 0 6]")
def scatter_nd(indices: Any, updates: Any, shape: Any) -> Any:
    """Zeros with updates added at coordinates.

    Args:
        indices: integer tensor; its last dimension holds coordinates.
        updates: tensor.
        shape: shape of the result.

    Returns:
        Tensor: of shape `shape`.
    """
    return _scatter_nd(indices, updates, shape=numbers(shape))


@op("ScatterNd", classes=(), bounds=lambda indices, updates, shape: _at("scatter_nd", shape, indices))
def _scatter_nd(indices: Any, updates: Any, *, shape: tuple[int, ...]) -> Any:
    zeros = jnp.zeros(shape, updates.dtype)
    return zeros.at[_coordinates("scatter_nd", zeros, indices)].add(updates)


@op(
    "TensorScatterElements",
    classes=(),
    bounds=lambda x, indices, updates, axis, reduction: _along("scatter")(x, indices, axis),
)
def _scatter_elements(x: Any, indices: Any, updates: Any, *, axis: int, reduction: str) -> Any:
    """A tensor with one element for each position of the index replaced, along an axis."""
    indices = _integer("scatter", indices)
    axis = one_axis("scatter", axis, x.ndim)
    one_of("scatter", _REDUCTIONS, reduction=reduction)
    updates = jnp.broadcast_to(updates, indices.shape)
    grid = list(jnp.indices(indices.shape, sparse=True))
    grid[axis] = indices
    return _REDUCTIONS[reduction](x, tuple(grid), updates.astype(x.dtype))


@shows("tensor_scatter_elements(Tensor([1, 2, 3]), Tensor([2, 0]), Tensor([9, 8]))", "[8 2 9]")
def tensor_scatter_elements(input_x: Any, indices: Any, updates: Any, axis: int = 0, reduction: str = "none") -> Any:
    """Write one element for each position of an integer tensor, along an axis.

    Args:
        input_x: tensor.
        indices: integer tensor with as many dimensions as `input_x`.
        updates: tensor of the shape of `indices`.
        axis: the axis that the indices stand for.
        reduction: ``"none"`` to replace, or ``"add"``, ``"sub"``, ``"mul"``, ``"div"``, ``"max"``, ``"min"``.

    Returns:
        Tensor: like `input_x`.

    Raises:
        ValueError: another reduction.
    """
    return _scatter_elements(input_x, indices, updates, axis=axis, reduction=reduction)


@shows("scatter(Tensor([1, 2, 3]), 0, Tensor([2, 0]), Tensor([9, 8]))", "[8 2 9]")
def scatter(input: Any, axis: int, index: Any, src: Any) -> Any:
    """Replace one element for each position of an integer tensor, along an axis."""
    return _scatter_elements(input, index, tensor(src), axis=axis, reduction="none")


@shows("index_add(Tensor([1, 2, 3]), Tensor([0, 2]), Tensor([5, 7]), 0)", "[ 6  2 10]")
def index_add(x: Any, indices: Any, y: Any, axis: int, use_lock: bool = True, check_index_bound: bool = True) -> Any:
    """Add slices to a parameter or tensor along an axis, at integer positions.

    Args:
        x: Parameter, which is written, or tensor.
        indices: 1-D integer tensor.
        y: tensor like `x`, with one slice for each index.
        axis: the axis.

    Returns:
        Tensor: the sum.
    """
    result = _index_add(x, indices, y, axis=axis)
    return write(x, result, "index_add") if isinstance(x, Parameter) else result


@op("IndexAddAlong", classes=(), bounds=lambda x, indices, y, axis: _along("index_add")(x, indices, axis))
def _index_add(x: Any, indices: Any, y: Any, *, axis: int) -> Any:
    """A tensor with slices added along an axis."""
    axis = one_axis("index_add", axis, x.ndim)
    return x.at[(slice(None),) * axis + (_integer("index_add", indices),)].add(y.astype(x.dtype))


@shows("index_fill(Tensor([1, 2, 3]), 0, Tensor([0, 2]), 9)", "[9 2 9]")
def index_fill(x: Any, axis: int, index: Any, value: Any) -> Any:
    """Fill slices along an axis with a number."""
    if x.ndim == 0:
        return reshape(index_fill(reshape(x, (1,)), axis, index, value), ())
    axis = one_axis("index_fill", axis, x.ndim)
    _along("index_fill")(x, index, axis)
    size = x.shape[axis]
    filled = (tensor(index).astype(dtypes.int64) % max(size, 1)).reshape(1, -1)
    hit = (Tensor(np.arange(size)).reshape(-1, 1) == filled).any(1)
    return where(reshape(hit, (size, *[1] * (x.ndim - axis - 1))), tensor(value).astype(x.dtype), x)


# -- writing rows, returning a new tensor -----------------------------------------------------------------------


def _rows(indices: Any) -> Any:
    return tensor(indices if isinstance(indices, Tensor) else list(numbers(indices)))


@shows("inplace_add(Tensor([1, 2, 3]), Tensor([5]), 1)", "[1 7 3]")
def inplace_add(x: Any, v: Any, indices: Any) -> Any:
    """A tensor with rows added at positions of the first dimension."""
    return _index_add(x, _rows(indices), v, axis=0)


@shows("inplace_sub(Tensor([1, 2, 3]), Tensor([5]), 1)", "[ 1 -3  3]")
def inplace_sub(x: Any, v: Any, indices: Any) -> Any:
    """A tensor with rows subtracted at positions of the first dimension."""
    return _index_add(x, _rows(indices), -v, axis=0)


@shows("inplace_update(Tensor([1, 2, 3]), Tensor([5]), 1)", "[1 5 3]")
def inplace_update(x: Any, v: Any, indices: Any) -> Any:
    """A tensor with rows replaced at positions of the first dimension."""
    return _tensor_scatter(x, reshape(_rows(indices), (-1, 1)), v, reduction="update")


@shows("inplace_index_add(Parameter(Tensor([1, 2, 3])), Tensor([0]), Tensor([5]), 0).value()", "[6 2 3]")
def inplace_index_add(var: Any, indices: Any, updates: Any, axis: int) -> Any:
    """Add slices to a parameter along an axis."""
    return write(var, _index_add(var, indices, updates, axis=axis), "inplace_index_add")


@shows("select_scatter(Tensor([[1, 2], [3, 4]]), Tensor([8, 9]), 0, 1)", "[[1 2]\n [8 9]]")
def select_scatter(input: Any, src: Any, axis: int, index: int) -> Any:
    """A tensor with one slice along an axis replaced."""
    axis = one_axis("select_scatter", axis, input.ndim)
    return _with(input, (slice(None),) * axis + (index,), src)


@shows("slice_scatter(Tensor([1, 2, 3]), Tensor([9]), 0, 1, 2)", "[1 9 3]")
def slice_scatter(
    input: Any, src: Any, axis: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Any:
    """A tensor with a range of slices along an axis replaced."""
    axis = one_axis("slice_scatter", axis, input.ndim)
    return _with(input, (slice(None),) * axis + (slice(start, end, step),), src)


@shows("diagonal_scatter(Tensor([[1, 2], [3, 4]]), Tensor([8, 9]))", "[[8 2]\n [3 9]]")
def diagonal_scatter(input: Any, src: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """A tensor with a diagonal replaced."""
    first, second = one_axis("diagonal_scatter", dim1, input.ndim), one_axis("diagonal_scatter", dim2, input.ndim)
    rows, columns = input.shape[first], input.shape[second]
    length = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    positions = np.arange(length)
    moved = input.moveaxis((first, second), (0, 1))
    values = tensor(src).moveaxis(-1, 0)
    changed = _with(moved, (positions + max(-offset, 0), positions + max(offset, 0)), values)
    return changed.moveaxis((0, 1), (first, second))


def _with(x: Any, index: Any, value: Any) -> Any:
    result = tensor(x).copy()
    result[index] = value
    return result


# -- writing parameters --------------------------------------------------------------------------------------


def _check_kind(name: str, written: Any, updates: Any) -> None:
    """Refuse floats where a Parameter holds none: they would be cut off without a word."""
    if isinstance(updates, Tensor) and updates.dtype.is_floating and written.dtype.np_dtype.kind in "biu":
        raise TypeError(f"{name}: updates of {updates.dtype} do not fit a Parameter of {written.dtype}")


_WRITTEN = {
    "input_x": "the Parameter.",
    "returns": "Parameter: `input_x`.",
    "raises": "TypeError: the updates are floats, and the Parameter holds none.",
}
_ROWS_WRITTEN = described(
    indices="integer tensor.", updates="tensor of shape ``indices.shape + input_x.shape[1:]``.", **_WRITTEN
)
_POINTS_WRITTEN = described(**_AT_COORDINATES, **_WRITTEN)


def _row_writer(reduction: str) -> Any:
    """The function that writes rows of parameters."""
    name, (_, sentence, printed) = f"scatter_{reduction}", _ACTIONS[reduction]

    def function(input_x: Any, indices: Any, updates: Any) -> Any:
        indices, updates = tensor(indices), tensor(updates)
        points = reshape(indices, (*indices.shape, 1))
        shape = (*indices.shape, *input_x.shape[1:])
        updates = updates if updates.shape == shape else broadcast_to(updates, shape)
        _check_kind(name, input_x, updates)
        return write(input_x, _tensor_scatter(input_x, points, updates, reduction=reduction), name)

    told(function, name, f"{sentence} of a parameter, at positions of its first dimension.")
    example = f"{name}(Parameter(Tensor([4.0, 3.0])), Tensor([1]), Tensor([2.0])).value()"
    return shows(example, printed)(_ROWS_WRITTEN(function))


def _point_writer(reduction: str) -> Any:
    """The function that writes to parameters at coordinates."""
    name, (_, sentence, printed) = f"scatter_nd_{reduction}", _ACTIONS[reduction]

    def function(input_x: Any, indices: Any, updates: Any, use_locking: bool = False) -> Any:
        _check_kind(name, input_x, updates)
        return write(input_x, _tensor_scatter(input_x, tensor(indices), updates, reduction=reduction), name)

    told(function, name, f"{sentence} of a parameter, at the coordinates in the last dimension of the indices.")
    example = f"{name}(Parameter(Tensor([4.0, 3.0])), Tensor([[1]]), Tensor([2.0])).value()"
    return shows(example, printed)(_POINTS_WRITTEN(function))


scatter_update, scatter_add, scatter_sub, scatter_mul, scatter_div, scatter_max, scatter_min = map(
    _row_writer, _ACTIONS
)
(
    scatter_nd_update, scatter_nd_add, scatter_nd_sub, scatter_nd_mul, scatter_nd_div, scatter_nd_max, scatter_nd_min,
) = map(_point_writer, _ACTIONS)  # fmt: skip

# -- segments ------------------------------------------------------------------------------------------------


def _segment_bounds(input_x: Any, segment_ids: Any, num_segments: int, reduction: str) -> None:
    what = f"unsorted_segment: a row is of segment {{}}, there are {shown(num_segments)}"
    if isinstance(num_segments, int):
        check_bounds(segment_ids, num_segments, what, least=np.iinfo(np.int64).min)  # negative ones are dropped


@op("UnsortedSegment", classes=(), bounds=_segment_bounds)
def _segment(input_x: Any, segment_ids: Any, *, num_segments: int, reduction: str) -> Any:
    """Rows of a tensor combined by the segment they belong to."""
    segment_ids = _integer("unsorted_segment", segment_ids)
    rest = input_x.shape[segment_ids.ndim :]
    info: Any = (jnp.finfo if jnp.issubdtype(input_x.dtype, jnp.inexact) else jnp.iinfo)(input_x.dtype)
    start: Any = {"add": 0, "mul": 1, "max": info.min, "min": info.max}[reduction]
    full = jnp.full((num_segments, *rest), start, input_x.dtype)
    ids = jnp.where(segment_ids < 0, num_segments, segment_ids)  # negative ids are dropped, as any out of range
    return _WRITES[reduction](full, (ids,), input_x)


@shows("unsorted_segment_sum(Tensor([1, 2, 3]), Tensor([0, 1, 0]), 2)", "[4 2]")
def unsorted_segment_sum(input_x: Any, segment_ids: Any, num_segments: int) -> Any:
    """Sum of the rows of each segment."""
    return _segment(input_x, segment_ids, num_segments=num_segments, reduction="add")


def _of_segments(word: str, reduction: str, sentence: str, printed: str) -> Any:
    """The function that reduces the rows of each segment."""
    name = f"unsorted_segment_{word}"

    def compute(x: Any, segment_ids: Any, num_segments: int) -> Any:
        return _segment(x, segment_ids, num_segments=num_segments, reduction=reduction)

    told(compute, name, sentence)
    return shows(f"{name}(Tensor([1, 2, 3]), Tensor([0, 1, 0]), 2)", printed)(compute)


unsorted_segment_max = _of_segments("max", "max", "Largest row elements of each segment.", "[3 2]")
unsorted_segment_min = _of_segments("min", "min", "Smallest row elements of each segment.", "[1 2]")
unsorted_segment_prod = _of_segments("prod", "mul", "Product of the rows of each segment.", "[3 2]")


@as_operator
def TensorScatterElements(data: Any, indices: Any, updates: Any, *, axis: int = 0, reduction: str = "none") -> Any:
    """Write one element for each position of an integer tensor, along an axis."""
    return tensor_scatter_elements(data, indices, updates, axis, reduction)


@as_operator
def IndexAdd(x: Any, indices: Any, y: Any, *, axis: int) -> Any:
    """Add slices along an axis."""
    return index_add(x, indices, y, axis)


operator_class("Gather", gather, "batch_dims=0")
operator_class("GatherV2", gather)
operator_class("SparseGatherV2", gather)
operator_class("GatherD", gather_d)
operator_class("ScatterNd", scatter_nd)
operator_class("IndexFill", index_fill)
operator_class("InplaceAdd", inplace_add, "indices")
operator_class("InplaceSub", inplace_sub, "indices")
operator_class("InplaceUpdate", inplace_update, "indices")
operator_class("UnsortedSegmentSum", unsorted_segment_sum)
operator_class("UnsortedSegmentMax", unsorted_segment_max)
operator_class("UnsortedSegmentMin", unsorted_segment_min)
operator_class("UnsortedSegmentProd", unsorted_segment_prod)


def _locking(function: Any) -> Any:
    def writer(input_x: Any, indices: Any, updates: Any, use_locking: bool = False) -> Any:
        return function(input_x, indices, updates)

    writer.__doc__ = function.__doc__
    return writer


for _reduction in _ACTIONS:
    _title, _writer = _reduction.capitalize(), _locking(globals()[f"scatter_{_reduction}"])
    operator_class(f"TensorScatter{_title}", globals()[f"tensor_scatter_{_reduction}"])
    operator_class(f"ScatterNd{_title}", globals()[f"scatter_nd_{_reduction}"], "use_locking=False")
    operator_class(f"Scatter{_title}", _writer, "use_locking=False")
