"""Results that are views of an operand: how they are read from it, written into it, and how their elements lie."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from weft.core import Primitive, Tensor, apply
from weft.core import trace as trace_module
from weft.core.sharing import KINDS, Kind, Layout, contiguous, layout, may_share, share
from weft.core.trace import Undecided


def _primitive(name: str) -> Primitive:
    return Primitive.table[name]


# -- reshaping -------------------------------------------------------------------------------------------------


def reshaped_layout(found: Layout, shape: tuple[int, ...]) -> Layout | None:
    """The layout in another shape, None where the elements would have to be copied (as NumPy decides it)."""
    sizes, steps = found
    if 0 in shape or steps == contiguous(sizes):
        return shape, contiguous(shape)
    old = [(size, step) for size, step in zip(sizes, steps, strict=True) if size != 1]
    made, at, result = 0, 0, [0] * len(shape)
    new = [axis for axis, size in enumerate(shape) if size != 1]
    while made < len(new):
        block, axes = [old[at]], [new[made]]
        at, made = at + 1, made + 1
        before, after = block[0][0], shape[axes[0]]
        while before != after:
            if before < after:
                block.append(old[at])
                before *= old[at][0]
                at += 1
            else:
                axes.append(new[made])
                after *= shape[new[made]]
                made += 1
        if any(one[1] != size * step for one, (size, step) in itertools.pairwise(block)):
            return None
        step = block[-1][1]
        for axis in reversed(axes):
            result[axis] = step
            step *= shape[axis]
    return shape, tuple(result)


def share_reshaped(base: Tensor, made: Tensor, *_: Any) -> None:
    """The elements in another shape: a view where they need not be moved."""
    shape = made.shape
    trace = trace_module.current()
    known = base._member
    if trace is not None or (known is not None and known.base is not None):  # a base is contiguous
        found = layout(base)
        is_view: bool | None
        if trace is None:
            is_view = found is None or reshaped_layout(found, shape) is not None
        else:
            with trace.only_certain():
                is_view = None if found is None else _is_view(found, shape)
        if is_view is None:
            assert trace is not None
            may_share(trace, made, base)
            trace.layouts[id(made)] = None
            return
        if not is_view:
            return
    share(made, base, ("reshape", shape, ()))


def _is_view(found: Layout, shape: tuple[int, ...]) -> bool | None:
    """Whether another shape is a view, None where that depends on sizes that only the call knows."""
    try:
        return reshaped_layout(found, shape) is not None
    except Undecided:
        return None


def share_resized(base: Tensor, made: Tensor, *_: Any) -> None:
    """Dimensions of size 1 more or less."""
    share(made, base, ("reshape", made.shape, ()))


KINDS["reshape"] = Kind(
    read=lambda base, shape, operands: apply(_primitive("Reshape"), (base,), (shape,)),
    write=lambda base, value, shape, operands: apply(_primitive("Reshape"), (value,), (base.shape,)),
    layout=reshaped_layout,
)

# -- permuting --------------------------------------------------------------------------------------------------


def share_permuted(base: Tensor, made: Tensor, perm: tuple[int, ...]) -> None:
    """Dimensions in another order."""
    share(made, base, ("permute", tuple([axis % base.ndim for axis in perm]), ()))


def _permuted_layout(found: Layout, perm: tuple[int, ...]) -> Layout:
    shape, steps = found
    return tuple([shape[axis] for axis in perm]), tuple([steps[axis] for axis in perm])


def _permute_back(base: Tensor, value: Tensor, perm: tuple[int, ...], operands: Any) -> Any:
    inverse = tuple(np.argsort(perm).tolist())
    return apply(_primitive("Transpose"), (value,), (inverse,))


KINDS["permute"] = Kind(
    read=lambda base, perm, operands: apply(_primitive("Transpose"), (base,), (perm,)),
    write=_permute_back,
    layout=_permuted_layout,
)

# -- broadcasting -------------------------------------------------------------------------------------------------


def share_broadcast(base: Tensor, made: Tensor, *_: Any) -> None:
    """One element in several places."""
    share(made, base, ("broadcast", made.shape, ()))


def _refuse_repeated(base: Tensor, value: Tensor, shape: tuple[int, ...], operands: Any) -> Any:
    if math.prod(shape) != base.size:
        raise ValueError(
            f"a tensor of shape {shape} that repeats the elements of one of shape {base.shape} cannot be written; "
            "write a copy of it: x.broadcast_to(shape).copy()"
        )
    return apply(_primitive("Reshape"), (value,), (base.shape,))


def _broadcast_layout(found: Layout, shape: tuple[int, ...]) -> Layout:
    sizes, steps = found
    extra = len(shape) - len(sizes)
    repeated = [
        0 if size == 1 != wanted else step for size, step, wanted in zip(sizes, steps, shape[extra:], strict=True)
    ]
    return shape, (*(0,) * extra, *repeated)


KINDS["broadcast"] = Kind(
    read=lambda base, shape, operands: apply(_primitive("BroadcastTo"), (base,), (shape,)),
    write=_refuse_repeated,
    layout=_broadcast_layout,
)

# -- diagonals -----------------------------------------------------------------------------------------------------


def share_diagonal(base: Tensor, made: Tensor, offset: int, dim1: int, dim2: int) -> None:
    """The elements of a diagonal."""
    share(made, base, ("diagonal", (offset, dim1 % base.ndim, dim2 % base.ndim), ()))


def _write_diagonal(base: Tensor, value: Tensor, attrs: tuple[int, int, int], operands: Any) -> Any:
    offset, dim1, dim2 = attrs
    rest = [axis for axis in range(base.ndim) if axis not in (dim1, dim2)]
    order = (dim1, dim2, *rest)
    count = value.shape[-1]
    rows = np.arange(count) + max(-offset, 0)
    moved = apply(_primitive("Transpose"), (base,), (order,))
    turned = apply(_primitive("Transpose"), (value,), ((value.ndim - 1, *range(value.ndim - 1)),))
    spec = (("t",), ("t",), *[("s", None, None, None)] * len(rest))
    new = apply(_primitive("IndexSet"), (moved, turned, Tensor(rows), Tensor(rows + offset)), (spec,))
    return _permute_back(base, new, order, ())


def _diagonal_layout(found: Layout, attrs: tuple[int, int, int]) -> Layout:
    (shape, steps), (offset, dim1, dim2) = found, attrs
    rest = [axis for axis in range(len(shape)) if axis not in (dim1, dim2)]
    count = max(min(shape[dim1] + min(offset, 0), shape[dim2] - max(offset, 0)), 0)
    return (*[shape[a] for a in rest], count), (*[steps[a] for a in rest], steps[dim1] + steps[dim2])


KINDS["diagonal"] = Kind(
    read=lambda base, attrs, operands: apply(_primitive("DiagonalV2"), (base,), attrs),
    write=_write_diagonal,
    layout=_diagonal_layout,
)

# -- without gradient ---------------------------------------------------------------------------------------------

KINDS["detach"] = Kind(
    read=lambda base, attrs, operands: apply(_primitive("StopGradient"), (base,), ()),
    write=lambda base, value, attrs, operands: value,
    layout=lambda found, attrs: found,
)

# -- pieces ----------------------------------------------------------------------------------------------------------

_ALL = ("s", None, None, None)


def share_pieces(base: Tensor, made: tuple[Tensor, ...], sizes: tuple[int, ...], axis: int) -> None:
    """Pieces along an axis."""
    axis %= base.ndim
    before, after = (_ALL,) * axis, (_ALL,) * (base.ndim - axis - 1)
    start = 0
    for piece, size in zip(made, sizes, strict=True):
        share(piece, base, ("index", (*before, ("s", start, start + size, 1), *after), ()))
        start += size


def share_positions(base: Tensor, made: tuple[Tensor, ...], axis: int, num: int) -> None:
    """The single positions of an axis."""
    axis %= base.ndim
    before, after = (_ALL,) * axis, (_ALL,) * (base.ndim - axis - 1)
    for position, piece in enumerate(made):
        share(piece, base, ("index", (*before, ("i", position), *after), ()))


def share_box(base: Tensor, made: Tensor, begin: tuple[int, ...], _: Any) -> None:
    """A box."""
    spec = tuple([("s", first, first + size, 1) for first, size in zip(begin, made.shape, strict=True)])
    share(made, base, ("index", spec, ()))
