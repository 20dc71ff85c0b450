"""`x[...]` and `x[...] = v`: any mix of ints, slices, None, Ellipsis, bool masks, integer arrays and tensors.

What is static in an index is an attribute, what is a tensor is an operand. Outside a capture the positions of ints
and slices are operands too, so that a loop over positions compiles once.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from weft import dtypes
from weft._jax_compat import Array
from weft.core import CAST, Primitive, Tensor, apply, check_bounds, shows, wrap
from weft.core import trace as trace_module
from weft.core.dispatch import literal, separate
from weft.core.number import GraphNumber, require
from weft.core.run_number import RunNumber, is_size, settled, shown, whole
from weft.core.sharing import KINDS, Kind, Layout, share
from weft.core.tracebacks import hide_operation
from weft.ir.sizes import has_open, is_open_size
from weft.ir.types import TensorType
from weft.ops._assigning import assigned, stays
from weft.ops._rules import tensor, wide
from weft.ops.joining import rows, stack
from weft.ops.reduce import any as any_of
from weft.ops.select import WHERE
from weft.ops.shape import reshape, zeros_of

#: one entry of a static index: ("i", position), ("s", start, stop, step), ("n",) a new axis, ("t",) the next operand
Entry = tuple[Any, ...]
Spec = tuple[Entry, ...]

_FULL_SLICE: Entry = ("s", None, None, None)


def _materialise(spec: Spec, indices: tuple[Any, ...]) -> tuple[Any, ...]:
    """The index as JAX takes it."""
    arrays = iter(indices)
    entries: list[Any] = []
    for kind, *parts in spec:
        if kind == "t":
            entries.append(wide(next(arrays)))
        elif kind == "n":
            entries.append(None)
        else:
            entries.append(slice(*parts) if kind == "s" else parts[0])
    return tuple(entries)


# -- the primitives: static positions ------------------------------------------------------------------------


def _get_rule(x: Any, *rest: Any, spec: Spec) -> Any:
    *indices, _, dout = rest
    return (apply(INDEX_ADD, (zeros_of(x), dout, *indices), (spec,)),)


def _set_rule(x: Any, value: Any, *rest: Any, spec: Spec) -> Any:
    *indices, _, dout = rest
    hole = apply(INDEX_SET, (dout, zeros_of(value), *indices), (spec,))
    return hole, apply(LAST_WRITTEN if indices else GETITEM, (dout, *indices), (spec,))


def _add_rule(x: Any, value: Any, *rest: Any, spec: Spec) -> Any:
    *indices, _, dout = rest
    return dout, apply(GETITEM, (dout, *indices), (spec,))


class _GetItem(Primitive):
    __slots__ = ()

    def _infer(self, attrs: tuple[Any, ...], inputs: tuple[TensorType | None, ...]) -> tuple[TensorType, ...]:
        """Without JAX where possible: a loop over a tensor reads each row by an index of its own."""
        spec, x = attrs[0], inputs[0]
        if len(inputs) == 1 and x is not None:
            shape: tuple[Any, ...] | None = None
            if x.is_open or has_open(spec):
                shape = _open_shape(spec, x.shape)
            elif x.weak is None and _dimensions(spec) == len(x.shape):
                box = box_of(spec, x.shape)
                shape = None if box is None else box.shape
            if shape is not None:
                return (TensorType.of(x.dtype, shape),)
        return super()._infer(attrs, inputs)


def _dimensions(spec: Spec) -> int:
    """How many dimensions of the tensor an index stands for."""
    return sum(entry[0] != "n" for entry in spec)


def _open_shape(spec: Spec, shape: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The shape of a selection where sizes are left open; None where they have to be known."""
    result = []
    axis = 0
    for kind, *parts in spec:
        if kind == "n":
            result.append(1)
            continue
        if kind == "s":
            start, stop, step = parts
            if (start, stop) == (None, None):
                if step not in (None, 1, -1):
                    return None
                result.append(shape[axis])
            elif None in (start, stop, step) or step < 0:  # not written by `_open_slice`
                if is_open_size(shape[axis]) or has_open((start, stop)):
                    return None
                result.append(len(range(*slice(start, stop, step).indices(shape[axis]))))
            else:
                if not is_open_size(stop) and not is_open_size(shape[axis]):
                    stop = min(stop, shape[axis])
                result.append(stop - start if step == 1 else -((start - stop) // step))
        axis += 1
    return (*result, *shape[axis:])


#: ``x[index]``
GETITEM = _GetItem(
    "GetItem", lambda x, *indices, spec: x[_materialise(spec, indices)], attr_names=("spec",), derivative=_get_rule
)


def _last_written(x: Any, *indices: Any, spec: Spec) -> Any:
    index = _materialise(spec, indices)
    found = x[index]
    return jnp.where(stays(x.shape, index, found.shape), found, jnp.zeros((), x.dtype))


#: ``x[index]``, but of positions that occur several times only the one that an assignment leaves there, else 0
LAST_WRITTEN = Primitive("LastWritten", _last_written, attr_names=("spec",))


class _Update(Primitive):
    __slots__ = ()

    def _infer(self, attrs: tuple[Any, ...], inputs: tuple[TensorType | None, ...]) -> tuple[TensorType, ...]:
        x, value = inputs[:2]
        plain = x is not None and value is not None and len(inputs) == 2 and (x.is_open or has_open(attrs))
        if plain and _open_shape(attrs[0], x.shape) == value.shape:  # type: ignore[union-attr]
            return (x,)  # type: ignore[return-value]
        return super()._infer(attrs, inputs)


def _fitting(value: Any, shape: tuple[Any, ...]) -> Any:
    """A value as it is assigned to a selection."""
    try:
        return jnp.broadcast_to(value, shape)
    except ValueError:
        raise ValueError(
            f"cannot assign a value of shape {tuple(value.shape)} to a selection of shape {shape}"
        ) from None


def _updated(x: Any, value: Any, indices: tuple[Any, ...], spec: Spec, add: bool) -> Any:
    """``x[index] = value``, or ``+=``. A box is no scatter: XLA is slow at some, and aborts at some that write all."""
    if not indices:
        if len(spec) <= x.ndim and all(map(_is_all, spec, x.shape)):
            value = _fitting(value, x.shape).astype(x.dtype)
            return x + value if add else value
        if not has_open(x.shape) and not has_open(spec):
            return _box_updated(x, value, spec, add)
    index = _materialise(spec, indices)
    shape = jax.eval_shape(lambda x, *indices: x[_materialise(spec, indices)], x, *indices).shape
    value = _fitting(value, shape).astype(x.dtype)
    if add:
        return x.at[index].max(value) if x.dtype == jnp.bool_ else x.at[index].add(value)  # bools: or
    return assigned(x, index, value)


def _is_all(entry: Entry, size: Any) -> bool:
    return entry == _FULL_SLICE or (entry[0] == "s" and entry[1] in (None, 0) and entry[2:] in ((size, 1), (None, 1)))


def _box_updated(x: Any, value: Any, spec: Spec, add: bool) -> Any:
    forward, turned = _forward(spec, x.shape)
    box = box_of(forward, x.shape)
    assert box is not None
    starts, sizes, steps, shape = box
    value = lax.rev(_fitting(value, shape).astype(x.dtype), turned).reshape(sizes)
    if not value.size:
        return x
    if any(step != 1 for step in steps):
        return _strided_updated(x, value, starts, steps, add)
    if add:
        value = value + lax.slice(x, starts, [start + size for start, size in zip(starts, sizes, strict=True)])
    return value if sizes == x.shape else lax.dynamic_update_slice(x, value, starts)


def _forward(spec: Spec, shape: tuple[int, ...]) -> tuple[Spec, tuple[int, ...]]:
    """An index without backward slices, one entry for each dimension, and the dimensions of the result to reverse."""
    entries: list[Entry] = []
    turned = []
    axis = dim = 0
    for entry in (*spec, *[_FULL_SLICE] * (len(shape) - _dimensions(spec))):
        if entry[0] == "s" and (entry[3] or 1) < 0:
            positions = range(*slice(*entry[1:]).indices(shape[axis]))[::-1]
            entry = ("s", positions.start, positions.stop, positions.step) if positions else ("s", 0, 0, 1)
            turned.append(dim)
        entries.append(entry)
        axis += entry[0] != "n"
        dim += entry[0] != "i"
    return tuple(entries), tuple(turned)


def _strided_updated(x: Any, value: Any, starts: Sequence[Any], steps: tuple[int, ...], add: bool = False) -> Any:
    """An array with every so manieth element of a box replaced, or added to.

    It is a selection over the whole array: where the elements between are put back by an update of the box, XLA (0.10,
    on a CPU) does it in place in a loop although the value is made of elements that were overwritten by then.
    """
    gaps = [(0, 0, step - 1) for step in steps]
    spread = lax.pad(value, jnp.zeros((), value.dtype), gaps)
    here = lax.pad(jnp.ones(value.shape, jnp.bool_), jnp.zeros((), jnp.bool_), gaps)
    spread, here = (lax.dynamic_update_slice(jnp.zeros(x.shape, a.dtype), a, starts) for a in (spread, here))
    return jnp.where(here, x + spread if add else spread, x)


#: the tensor with ``x[index] = value`` done
INDEX_SET = _Update(
    "IndexSet",
    lambda x, value, *indices, spec: _updated(x, value, indices, spec, False),
    attr_names=("spec",),
    derivative=_set_rule,
)
#: the tensor with ``x[index] += value`` done, positions that occur several times included
INDEX_ADD = _Update(
    "IndexAdd",
    lambda x, value, *indices, spec: _updated(x, value, indices, spec, True),
    attr_names=("spec",),
    derivative=_add_rule,
)

# -- the primitives: positions as an operand ------------------------------------------------------------------


def _slice_at(x: Any, starts: Any, *, sizes: Any, steps: Any, shape: Any) -> Any:
    spans = [(size - 1) * step + 1 if size else 0 for size, step in zip(sizes, steps, strict=True)]
    whole = lax.dynamic_slice(x, [starts[i] for i in range(x.ndim)], spans)
    return whole[tuple([slice(None, None, step) for step in steps])].reshape(shape)


def _update_at(x: Any, value: Any, starts: Any, *, sizes: Any, steps: Any, shape: Any) -> Any:
    value = _fitting(value, shape).astype(x.dtype).reshape(sizes)
    begins = [starts[i] for i in range(x.ndim)]
    if any(step != 1 for step in steps):
        return _strided_updated(x, value, begins, steps)
    return lax.dynamic_update_slice(x, value, begins)


def _slice_at_rule(x: Any, starts: Any, out: Any, dout: Any, **attrs: Any) -> Any:
    return (apply(UPDATE_AT, (zeros_of(x), dout, starts), tuple(attrs.values())),)


def _update_at_rule(x: Any, value: Any, starts: Any, out: Any, dout: Any, **attrs: Any) -> Any:
    values = tuple(attrs.values())
    hole = apply(UPDATE_AT, (dout, zeros_of(value), starts), values)
    return hole, apply(SLICE_AT, (dout, starts), values)


_AT = ("sizes", "steps", "shape")
#: a strided box of a tensor, at positions that are data
SLICE_AT = Primitive("SliceAt", _slice_at, attr_names=_AT, derivative=_slice_at_rule)
#: the tensor with a strided box replaced, at positions that are data
UPDATE_AT = Primitive("UpdateAt", _update_at, attr_names=_AT, derivative=_update_at_rule)

# -- understanding an index -----------------------------------------------------------------------------------


def _entries(index: Any) -> list[Any]:
    """The entries of an index, array-likes as tensors or NumPy arrays."""
    return [_array(entry) for entry in (index if isinstance(index, tuple) else (index,))]


def _array(entry: Any) -> Any:
    """An array-like entry as a Tensor or NumPy array; other entries as they are."""
    if isinstance(entry, Tensor):
        return entry
    if isinstance(entry, (list, range, tuple)):
        items = list(entry)
        if any_symbolic(items):
            return stack([tensor(item) for item in items])
        found = np.asarray([np.array(i) if isinstance(i, Tensor) else i for i in items])
        return found.astype(np.int64) if not found.size else found
    if isinstance(entry, Array):
        return Tensor(entry)
    if isinstance(entry, np.ndarray) and entry.ndim == 0:
        return entry[()]
    return entry


def any_symbolic(items: list[Any]) -> bool:
    """Whether a (nested) list holds a tensor that only the running graph knows."""
    return any(
        item.is_symbolic if isinstance(item, Tensor) else isinstance(item, (list, tuple)) and any_symbolic(list(item))
        for item in items
    )


def _is_mask(entry: Any) -> bool:
    if isinstance(entry, Tensor):
        return entry.dtype is dtypes.bool_
    return isinstance(entry, (bool, np.bool_)) or (isinstance(entry, np.ndarray) and entry.dtype == np.bool_)


def _consumed(entry: Any) -> int:
    """How many dimensions of the tensor an entry stands for."""
    if entry is None or entry is Ellipsis:
        return 0
    if _is_mask(entry):
        return len(entry.shape) if isinstance(entry, (Tensor, np.ndarray)) else 0
    return 1


def _expanded(index: Any, ndim: int) -> list[Any]:
    """The entries of an index, array-likes as arrays, one for every dimension."""
    entries = _entries(index)
    used = sum(map(_consumed, entries))
    dots = [i for i, entry in enumerate(entries) if entry is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if used > ndim:
        raise IndexError(f"too many indices: the tensor has {ndim} dimensions, the index stands for {used}")
    at = dots[0] if dots else len(entries)
    return [*entries[:at], *[slice(None)] * (ndim - used), *entries[at + 1 :]]


def _bounded(position: int, size: int, axis: int) -> int:
    if not -size <= position < size:
        raise IndexError(f"index {position} is out of bounds for axis {axis} with size {size}")
    return position + size if position < 0 else position


def _slice_entry(entry: slice, size: Any) -> Entry:
    parts = [None if part is None else whole(part) for part in (entry.start, entry.stop, entry.step)]
    if parts[2] == 0:
        raise ValueError("slice step cannot be zero")
    if any(map(is_size, (*parts, size))) and any(part is not None for part in parts):
        start, stop, step = parts
        return _open_slice(start, stop, step, size)
    return ("s", *parts)


def _open_slice(start: Any, stop: Any, step: Any, size: Any) -> Entry:
    """A slice where its bounds, or the size of the axis, are left open: both bounds within the axis, in their order."""
    step = 1 if step is None else operator.index(step)
    if step < 0:
        return ("s", *[None if part is None else operator.index(part) for part in (start, stop)], step)

    def within(position: Any) -> Any:
        if position < 0:
            position = position + size
            return 0 if position < 0 else position
        return size if position > size else position

    start = 0 if start is None else within(start)
    stop = size if stop is None else within(stop)
    return ("s", start, start if stop < start else stop, step)


def parse(index: Any, shape: tuple[int, ...]) -> tuple[Spec, list[Tensor]]:
    """An index as its static part and its tensors.

    Args:
        index: what stands between the brackets.
        shape: shape of the indexed tensor.

    Returns:
        tuple: the static entries, one for each dimension and new axis, and the operands they refer to.

    Raises:
        IndexError: as NumPy: out of bounds, too many indices, or no valid index.
    """
    spec: list[Entry] = []
    operands: list[Tensor] = []
    axis = 0
    for entry in _expanded(index, len(shape)):
        if entry is None:
            spec.append(("n",))
        elif _is_mask(entry):
            axis += _parse_mask(entry, shape, axis, spec, operands)
        else:
            size = shape[axis]
            operand = _operand(entry, size, axis)
            if operand is not None:
                spec.append(("t",))
                operands.append(operand)
            elif isinstance(entry, slice):
                spec.append(_slice_entry(entry, size))
            else:
                spec.append(("i", _bounded(_position(entry), size, axis)))
            axis += 1
    return tuple(spec), operands


def _operand(entry: Any, size: Any, axis: int) -> Tensor | None:
    """An entry that is data as a tensor of positions, None for others."""
    if isinstance(entry, Tensor):
        if entry.dtype.category != 1:
            raise IndexError(f"tensors used as indices must be integer or bool, not {entry.dtype}")
        check_bounds(entry, size, f"index {{}} is out of bounds for axis {axis} with size {shown(size)}")
        return entry
    if type(entry) is GraphNumber and entry.kind is int:
        number = entry.tensor
        require((number >= -size) & (number < size), f"whether an index fits axis {axis} with size {shown(size)}")
        return apply(CAST, (number,), (dtypes.int64,))
    if isinstance(entry, np.ndarray):
        if entry.dtype.kind not in "iu":
            raise IndexError(f"arrays used as indices must be integer or bool, not {entry.dtype}")
        for extreme in (entry.min(), entry.max()) if entry.size else ():
            _bounded(int(extreme), size, axis)
        return Tensor(entry)
    return None


def _position(entry: Any) -> int:
    try:
        return whole(entry)
    except TypeError:
        kind = type(settled(entry)).__name__
        raise IndexError(f"an index is made of ints, slices, None, ..., integer or bool arrays, not {kind}") from None


def _parse_mask(mask: Any, shape: tuple[int, ...], axis: int, spec: list[Entry], operands: list[Tensor]) -> int:
    """Append the integer arrays that a bool mask stands for; returns the number of dimensions it covers."""
    values = np.asarray(
        mask.concrete("indexing by a bool mask (the number of results)") if isinstance(mask, Tensor) else mask
    )
    covered = shape[axis : axis + values.ndim]
    if values.shape != covered:
        raise IndexError(
            f"a bool index of shape {values.shape} does not match the dimensions {covered} that it indexes"
        )
    if not values.ndim:
        if not values:
            raise IndexError("indexing by False is not supported; use x[:0] for an empty result")
        spec.append(("n",))
        return 0
    for positions in np.nonzero(values):
        spec.append(("t",))
        operands.append(Tensor(positions))
    return values.ndim


# -- reading ---------------------------------------------------------------------------------------------------


class Box(NamedTuple):
    """What an index of ints, forward slices and new axes selects."""

    starts: list[int]
    sizes: tuple[int, ...]
    steps: tuple[int, ...]
    #: of the result
    shape: tuple[int, ...]


def box_of(spec: Spec, shape: tuple[int, ...]) -> Box | None:
    """The box that an index selects; None if it is none."""
    starts: list[int] = []
    sizes, steps, result = [], [], []
    for kind, *parts in spec:
        if kind == "t":
            return None
        if kind == "n":
            result.append(1)
            continue
        start, count, step = parts[0], 1, 1
        if kind == "s":
            start, stop, step = slice(*parts).indices(shape[len(starts)])
            if step < 0:
                return None
            count = len(range(start, stop, step))
            result.append(count)
            start, step = start if count else 0, step if count > 1 else 1
        starts.append(start)
        sizes.append(count)
        steps.append(step)
    return Box(starts, tuple(sizes), tuple(steps), tuple(result))


@shows("Tensor([[1, 2], [3, 4]])[:, -1]", "[2 4]")
def getitem(self: Any, index: Any) -> Any:
    """``x[index]``, with NumPy's meaning.

    Args:
        self: tensor.
        index: ints, slices, None, Ellipsis, bool masks, integer arrays, lists and tensors, or a tuple of them.

    Returns:
        Tensor: the selected elements.

    Raises:
        IndexError: as NumPy.
    """
    try:
        spec, operands = parse(index, self.shape)
        made = _selected(self, spec, operands)
        # the operands of a view are positions that only the running graph knows
        return share(made, self, ("index", spec, tuple(operands))) if is_basic(index) else made
    except Exception as error:
        hide_operation(error)
        raise


def _selected(x: Any, spec: Spec, operands: Any) -> Any:
    """``x[index]``, as a new tensor."""
    if not operands and trace_module.current() is None:
        box = box_of(spec, x.shape)
        if box is not None:
            starts, *attrs = box
            if box.sizes == x.shape:
                return separate(x) if box.shape == x.shape else apply(_RESHAPE, (x,), (box.shape,))
            return apply(SLICE_AT, (x, wrap(np.array(starts, np.int32))), tuple(attrs))
    return apply(GETITEM, (x, *operands), (spec,))


def is_basic(index: Any) -> bool:
    """Whether an index selects a view: no part of it is an array or a mask."""
    for entry in index if isinstance(index, tuple) else (index,):
        kind = entry.__class__
        if kind is int or kind is slice or entry is None or entry is Ellipsis:
            continue
        if kind is bool or isinstance(entry, (Tensor, np.ndarray, np.bool_, list, range, tuple, Array)):
            return False
    return True


# -- writing ---------------------------------------------------------------------------------------------------


def setitem(self: Any, index: Any, value: Any) -> None:
    """``x[index] = value``, with NumPy's meaning; the handle then stands for the new value.

    Args:
        self: tensor.
        index: as for reading.
        value: tensor, array, nested list or number; cast to the tensor's dtype and broadcast.

    Raises:
        IndexError: as NumPy.
        ValueError: the value cannot be broadcast to the selection.

    Example:
        >>> x = Tensor([1, 2, 3])
        >>> x[1:] = 0
        >>> print(x)
        [1 0 0]
    """
    try:
        if self._member is None and trace_module.current() is None:  # a trace notes what its views are of
            self.rebind(updated(self, index, value))
            return
        region = None
        if is_basic(index):
            spec, operands = parse(index, self.shape)
            region = None if operands else ("index", spec, ())
        self.rebind(updated(self, index, value), region)
    except Exception as error:
        hide_operation(error)
        raise


def _value_for(x: Any, value: Any) -> Tensor:
    if issubclass(type(value), RunNumber):
        value = value.operand(x.dtype)
    if not isinstance(value, Tensor):
        if isinstance(value, (list, tuple)) and any_symbolic(list(value)):
            value = stack([tensor(item) for item in value])
        else:
            value = literal(value, x.dtype) if value.__class__ in (bool, int, float) else Tensor(value)
    return value if value.dtype is x.dtype else value.astype(x.dtype)


def updated(x: Any, index: Any, value: Any, accumulate: bool = False) -> Any:
    """A tensor like `x` with ``x[index] = value`` done; with `accumulate` it is added at each position."""
    value = _value_for(x, value)
    masked = None if accumulate else _masked(x, index, value)
    if masked is not None:
        return masked
    spec, operands = parse(index, x.shape)
    return apply(INDEX_ADD, (x, value, *operands), (spec,)) if accumulate else _replaced(x, value, spec, operands)


def _replaced(x: Any, value: Tensor, spec: Spec, operands: Any) -> Any:
    """A tensor like `x` with the selection of a parsed index replaced."""
    if trace_module.current() is None and not operands:
        box = box_of(spec, x.shape)
        if box is not None:
            starts, *attrs = box
            value = _fewer_dimensions(value, len(box.shape))
            return apply(UPDATE_AT, (x, value, wrap(np.array(starts, np.int32))), tuple(attrs))
    rank = sum(entry[0] in "sn" for entry in spec) + max((operand.ndim for operand in operands), default=0)
    return apply(INDEX_SET, (x, _fewer_dimensions(value, rank), *operands), (spec,))


def _fewer_dimensions(value: Tensor, rank: int) -> Tensor:
    """The value without leading dimensions of size 1 that the selection does not have."""
    extra = value.ndim - rank
    if extra > 0 and value.shape[:extra] == (1,) * extra:
        return reshape(value, value.shape[extra:])
    return value


def _masked(x: Any, index: Any, value: Tensor) -> Any:
    """Assignment by one bool mask of a value that does not depend on how many positions it selects; else None."""
    entries = _entries(index)
    while len(entries) > 1 and (
        entries[-1] is Ellipsis or (isinstance(entries[-1], slice) and entries[-1] == slice(None))
    ):
        entries.pop()
    if len(entries) != 1 or not _is_mask(entries[0]):
        return None
    mask = entries[0] if isinstance(entries[0], Tensor) else Tensor(np.asarray(entries[0]))
    if mask.shape != x.shape[: mask.ndim]:
        raise IndexError(f"a bool index of shape {mask.shape} does not match a tensor of shape {x.shape}")
    rest = x.ndim - mask.ndim
    value = _fewer_dimensions(value, rest)
    if value.ndim > rest:
        return None
    mask = reshape(mask, mask.shape + (1,) * rest)
    result = apply(WHERE, (mask, value, x))
    if result.shape != x.shape:
        raise ValueError(f"cannot assign a value of shape {value.shape} to positions of a tensor of shape {x.shape}")
    return result


def iterate(self: Any) -> Any:
    """The slices along the first dimension, one by one."""
    if not self.shape:
        raise TypeError("iteration over a 0-dimensional tensor")
    found = rows(self) if self.shape[0] else ()
    # each is a tensor of its own, made when its turn comes
    return iter(found) if self._node is None or trace_module.current() is not None else map(separate, found)


def row(rows_of: Any, position: Any) -> Any:
    """A slice along the first dimension as iteration gives it: a tensor of its own.

    Args:
        rows_of: tensor of at least one dimension.
        position: where it is, an int or an integer tensor within the tensor's bounds.
    """
    spec, operands = parse(position, rows_of.shape)
    return _selected(rows_of, spec, operands)


def contains(self: Any, value: Any) -> bool:
    """Whether some element equals the value."""
    found = self == value
    return bool(any_of(found)) if isinstance(found, Tensor) else False


def _selected_layout(found: Layout, spec: Spec) -> Layout | None:
    sizes, steps, axis = [], [], 0
    for kind, *args in spec:
        if kind == "n":
            sizes.append(1)
            steps.append(0)
            continue
        size, step = found[0][axis], found[1][axis]
        axis += 1
        if kind == "s":
            start, stop, by = slice(*args).indices(size)
            sizes.append(len(range(start, stop, by)))
            steps.append(step * by)
    return tuple(sizes), tuple(steps)


def _are_apart(shape: tuple[int, ...], one: Spec, other: Spec) -> bool:
    """Whether two indices select no element in common: in some dimension they have no position in common."""
    first, second = ([entry for entry in spec if entry[0] != "n"] for spec in (one, other))
    return any(
        a != b and _positions(a, size).isdisjoint(_positions(b, size))
        for a, b, size in zip(first, second, shape, strict=True)
        if a is not _FULL_SLICE and b is not _FULL_SLICE
    )


@functools.lru_cache(maxsize=1024)
def _positions(entry: Entry, size: int) -> frozenset[int]:
    return frozenset((entry[1],) if entry[0] == "i" else range(*slice(*entry[1:]).indices(size)))


KINDS["index"] = Kind(read=_selected, write=_replaced, layout=_selected_layout, apart=_are_apart)
_RESHAPE = Primitive.table["Reshape"]
Tensor.__getitem__ = getitem  # type: ignore[method-assign]
Tensor.__setitem__ = setitem  # type: ignore[method-assign]
Tensor.__iter__ = iterate  # type: ignore[method-assign]
Tensor.__contains__ = contains  # type: ignore[operator]
