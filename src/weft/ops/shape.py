"""Shapes: reshape, transpose, broadcast and their kin; joining and splitting is in `joining`."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from weft.core import Primitive, Tensor, apply, described, op, operator_class, shows, wrap
from weft.core import trace as trace_module
from weft.core.dispatch import append
from weft.ops import _views as views
from weft.ops._checks import one_of
from weft.ops._rules import all_axes, flat_numbers, numbers, one_axis, tensor

__all__ = [
    "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_to", "diag", "diagonal", "diag_embed", "expand",
    "expand_as", "expand_dims", "flatten", "flip", "fliplr", "flipud", "moveaxis", "movedim", "permute", "ravel",
    "repeat_elements", "repeat_interleave", "reshape", "reverse", "reverse_sequence", "roll", "rot90", "squeeze",
    "swapaxes", "swapdims", "t", "tile", "transpose", "tril", "triu", "unsqueeze", "view_as_real",
]  # fmt: skip

#: what functions that give a shape, or leave it, have in common
_OF_SHAPE = described(input="tensor.", returns="Tensor: of shape `shape`.")
_LIKE_INPUT = described(input="tensor.", returns="Tensor: like `input`.")


@op(
    "BroadcastTo",
    init="shape",
    gradient=lambda x, out, dout, *, shape: (sum_to(dout, x.shape),),
    shares=views.share_broadcast,
    describe=_OF_SHAPE,
)
@shows("broadcast_to(Tensor([1.0, 2.0]), (2, 2))", "[[1. 2.]\n [1. 2.]]")
def broadcast_to(input: Any, *, shape: tuple[int, ...]) -> Any:
    """Repeat a tensor to a larger shape.

    Args:
        shape: wanted shape; -1 keeps a dimension.

    Raises:
        ValueError: the tensor's shape cannot be broadcast to `shape`.
    """
    shape = (shape,) if isinstance(shape, int) else shape
    offset = len(shape) - input.ndim
    full = tuple(input.shape[i - offset] if dim == -1 and i >= offset else dim for i, dim in enumerate(shape))
    try:
        return jnp.broadcast_to(input, full)
    except ValueError:
        raise ValueError(f"broadcast_to: shape {tuple(input.shape)} cannot be broadcast to {full}") from None


@op("SumTo", classes=(), gradient=lambda x, out, dout, *, shape: (broadcast_to(dout, x.shape),), describe=_OF_SHAPE)
@shows("sum_to(Tensor([[1.0, 2.0], [3.0, 4.0]]), (2,))", "[4. 6.]")
def sum_to(input: Any, *, shape: tuple[int, ...]) -> Any:
    """Sum a tensor over the dimensions that broadcasting from `shape` had repeated (the reverse of broadcasting).

    Args:
        shape: a shape that broadcasts to the tensor's.
    """
    extra = input.ndim - len(shape)
    axes = [axis for axis, size in enumerate(input.shape) if axis < extra or shape[axis - extra] == 1 != size]
    return jnp.sum(input, axis=tuple(axes), dtype=input.dtype).reshape(shape)


def _full(*, shape: tuple[int, ...], value: Any, dtype: Any) -> Any:
    return jnp.full(shape, value, dtype.np_dtype)


FULL = Primitive("Full", _full, attr_names=("shape", "value", "dtype"))


def zeros_of(tensor: Tensor) -> Tensor:
    """Zeros in the shape and dtype of a tensor (symbolic or not); in a graph, many are made when it runs."""
    kind = tensor.type
    attrs = (kind.shape, 0, kind.dtype)
    trace = trace_module.current()
    if trace is None:
        return apply(FULL, (), attrs)
    if not kind.is_open and tensor.nbytes <= trace_module.EMBED_LIMIT:
        return wrap(_zeros(attrs))
    (value,) = append(trace, FULL, (), attrs)
    return wrap(value)


@functools.lru_cache(maxsize=256)
def _zeros(attrs: tuple[Any, ...]) -> Any:
    """The array of a constant, for each shape and dtype one: the derivatives of a deep network have many."""
    with jax.ensure_compile_time_eval():  # it outlives whatever JAX traces at the moment
        return FULL.executable(attrs)()


def _reshape_rule(x: Any, out: Any, dout: Any, **_: Any) -> Any:
    return (reshape(dout, x.shape),)


@op("Reshape", gradient=_reshape_rule, shares=views.share_reshaped, describe=_OF_SHAPE)
@shows("reshape(Tensor([1.0, 2.0, 3.0, 4.0]), (2, -1))", "[[1. 2.]\n [3. 4.]]")
def reshape(input: Any, *, shape: tuple[int, ...]) -> Any:
    """The same elements in another shape.

    Args:
        shape: wanted dimensions; one of them may be -1.

    Raises:
        ValueError: the number of elements differs.
    """
    shape = (shape,) if isinstance(shape, int) else shape
    known = math.prod(d for d in shape if d != -1)
    unknown = shape.count(-1)
    if unknown > 1 or (input.size != known if not unknown else known == 0 or input.size % known):
        raise ValueError(
            f"reshape: a tensor of shape {input.shape} ({input.size} elements) cannot take the shape {tuple(shape)}"
        )
    return jnp.reshape(input, shape)


def _transpose_rule(x: Any, out: Any, dout: Any, *, input_perm: tuple[int, ...]) -> Any:
    return (transpose(dout, tuple(np.argsort([axis % x.ndim for axis in input_perm]).tolist())),)


@op("Transpose", gradient=_transpose_rule, shares=views.share_permuted)
@shows("transpose(Tensor([[1.0, 2.0], [3.0, 4.0]]), (1, 0))", "[[1. 3.]\n [2. 4.]]")
def transpose(input: Any, *, input_perm: tuple[int, ...]) -> Any:
    """Permute the dimensions.

    Args:
        input: tensor.
        input_perm: for each dimension of the result, the dimension it comes from.

    Returns:
        Tensor: the permuted tensor.

    Raises:
        ValueError: `input_perm` is no permutation of the dimensions.
    """
    perm = tuple(one_axis("transpose", a, input.ndim) for a in input_perm)
    if sorted(perm) != list(range(input.ndim)):
        raise ValueError(
            f"transpose: {tuple(input_perm)} is no permutation of the {input.ndim} dimensions of {input.shape}"
        )
    return jnp.transpose(input, perm)


@shows("permute(Tensor([[1.0, 2.0]]), (1, 0)).shape", "(2, 1)")
def permute(input: Any, axis: Any) -> Any:
    """Permute the dimensions; same as `transpose`."""
    return transpose(input, numbers(axis))


@shows("swapaxes(Tensor([[1.0, 2.0]]), 0, 1).shape", "(2, 1)")
def swapaxes(input: Any, axis0: int, axis1: int) -> Any:
    """Exchange two dimensions."""
    order = list(range(input.ndim))
    a, b = (one_axis("swapaxes", axis, input.ndim) for axis in (axis0, axis1))
    order[a], order[b] = order[b], order[a]
    return transpose(input, tuple(order))


@shows("moveaxis(Tensor([[[1.0, 2.0]]]), 2, 0).shape", "(2, 1, 1)")
def moveaxis(x: Any, source: Any, destination: Any) -> Any:
    """Move dimensions to other positions; the others keep their order."""
    sources = [one_axis("moveaxis", a, x.ndim) for a in numbers(source)]
    targets = [one_axis("moveaxis", a, x.ndim) for a in numbers(destination)]
    if len(sources) != len(targets):
        raise ValueError(f"moveaxis: {len(sources)} source axes but {len(targets)} destinations")
    order = [axis for axis in range(x.ndim) if axis not in sources]
    for target, origin in sorted(zip(targets, sources, strict=True)):
        order.insert(target, origin)
    return transpose(x, tuple(order))


@shows("t(Tensor([[1.0, 2.0]])).shape", "(2, 1)")
def t(input: Any) -> Any:
    """Transpose a matrix; a vector or a number stays as it is."""
    if input.ndim > 2:
        raise ValueError(f"t: needs at most 2 dimensions, not shape {input.shape}")
    return transpose(input, (1, 0)) if input.ndim == 2 else input


@op("ExpandDims", gradient=_reshape_rule, shares=views.share_resized)
@shows("expand_dims(Tensor([1.0, 2.0]), 0).shape", "(1, 2)")
def expand_dims(input_x: Any, *, axis: int) -> Any:
    """Insert a dimension of size 1.

    Args:
        input_x: tensor.
        axis: its position in the result.

    Returns:
        Tensor: with one more dimension.

    Raises:
        ValueError: `axis` is out of range.
    """
    axes = axis if isinstance(axis, tuple) else (axis,)
    return jnp.expand_dims(input_x, tuple(one_axis("expand_dims", a, input_x.ndim + len(axes)) for a in axes))


@shows("unsqueeze(Tensor([1.0, 2.0]), -1).shape", "(2, 1)")
def unsqueeze(input: Any, dim: int) -> Any:
    """Insert a dimension of size 1; same as `expand_dims`."""
    return expand_dims(input, dim)


@op("Squeeze", init="axis=()", gradient=_reshape_rule, shares=views.share_resized)
@shows("squeeze(Tensor([[[1.0, 2.0]]])).shape", "(2,)")
def squeeze(input: Any, *, axis: Any = None) -> Any:
    """Remove dimensions of size 1.

    Args:
        input: tensor.
        axis: which ones, of which those of another size stay; None or () for all of them.

    Returns:
        Tensor: without those dimensions.
    """
    if axis is None or axis == ():
        return jnp.squeeze(input)
    return jnp.squeeze(input, tuple(a for a in all_axes("squeeze", axis, input.ndim) if input.shape[a] == 1))


@shows("ravel(Tensor([[1.0, 2.0]])).shape", "(2,)")
def ravel(input: Any) -> Any:
    """All elements as one dimension."""
    return reshape(input, (-1,))


@shows("flatten(Tensor([[[1.0], [2.0]]])).shape", "(1, 2)")
def flatten(input: Any, order: str = "C", *, start_dim: int = 1, end_dim: int = -1) -> Any:
    """Join several dimensions into one.

    Args:
        input: tensor.
        order: ``"C"``, or ``"F"`` to read column first.
        start_dim: first dimension to join.
        end_dim: last dimension to join.

    Returns:
        Tensor: a 0-D tensor gives shape (1,).

    Raises:
        ValueError: a dimension is out of range or `start_dim` comes after `end_dim`.
    """
    one_of("flatten", ("C", "F"), order=order)
    if order == "F":
        input = transpose(input, tuple(reversed(range(input.ndim))))
    if input.ndim < 2:
        return reshape(input, (-1,))
    first, last = one_axis("flatten", start_dim, input.ndim), one_axis("flatten", end_dim, input.ndim)
    if first > last:
        raise ValueError(f"flatten: start_dim {start_dim} comes after end_dim {end_dim}")
    shape = input.shape
    return reshape(input, (*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :]))


@shows("expand(Tensor([[1.0], [2.0]]), (2, 3)).shape", "(2, 3)")
def expand(input: Any, *size: Any) -> Any:
    """Repeat dimensions of size 1 to a larger shape; -1 keeps a dimension."""
    return broadcast_to(input, flat_numbers(size))


@shows("expand_as(Tensor([1.0]), Tensor([[1.0, 2.0]])).shape", "(1, 2)")
def expand_as(input: Any, other: Any) -> Any:
    """Repeat a tensor to the shape of another."""
    return broadcast_to(input, other.shape)


@op("Tile")
@shows("tile(Tensor([1.0, 2.0]), (2,))", "[1. 2. 1. 2.]")
def tile(input: Any, *, dims: tuple[int, ...]) -> Any:
    """Repeat the whole tensor along its dimensions.

    Args:
        input: tensor.
        dims: how often for each dimension; more entries than dimensions add leading ones.

    Returns:
        Tensor: the repeated tensor.
    """
    return jnp.tile(input, dims)


@op("RepeatElements", classes=())
@shows("repeat_elements(Tensor([1.0, 2.0]), 2)", "[1. 1. 2. 2.]")
def repeat_elements(x: Any, *, rep: Any, axis: int = 0) -> Any:
    """Repeat each element along an axis.

    Args:
        x: tensor.
        rep: how often; one number, or one for each position.
        axis: the dimension.

    Returns:
        Tensor: the repeated tensor.
    """
    axis = one_axis("repeat", axis, x.ndim)
    if isinstance(rep, tuple):
        if len(rep) not in (1, x.shape[axis]):
            raise ValueError(f"repeat: {len(rep)} counts for {x.shape[axis]} positions of axis {axis}")
        rep = np.broadcast_to(np.asarray(rep), (x.shape[axis],))
        return jnp.repeat(x, rep, axis=axis, total_repeat_length=int(rep.sum()))
    return jnp.repeat(x, rep, axis=axis)


@shows("repeat_interleave(Tensor([[1.0, 2.0]]), 2)", "[1. 1. 2. 2.]")
def repeat_interleave(input: Any, repeats: Any, axis: int | None = None) -> Any:
    """Repeat each element; without an axis the tensor is flattened first."""
    if axis is None:
        input, axis = ravel(tensor(input)), 0
    return repeat_elements(input, repeats, axis)


@op("Flip", classes=(), gradient=lambda x, out, dout, *, dims: (flip(dout, dims),), describe=_LIKE_INPUT)
@shows("flip(Tensor([1.0, 2.0, 3.0]), (0,))", "[3. 2. 1.]")
def flip(input: Any, *, dims: Any) -> Any:
    """Reverse the order of the elements along dimensions.

    Args:
        dims: the dimensions.
    """
    return jnp.flip(input, all_axes("flip", dims, input.ndim))


@shows("fliplr(Tensor([[1.0, 2.0]]))", "[[2. 1.]]")
def fliplr(input: Any) -> Any:
    """Reverse the second dimension."""
    return flip(input, (1,))


@shows("flipud(Tensor([1.0, 2.0]))", "[2. 1.]")
def flipud(input: Any) -> Any:
    """Reverse the first dimension."""
    return flip(input, (0,))


@shows("reverse(Tensor([1.0, 2.0]), 0)", "[2. 1.]")
def reverse(x: Any, axis: Any) -> Any:
    """Reverse the order of the elements along dimensions."""
    return flip(x, numbers(axis))


@op("ReverseSequence", init="seq_dim, batch_dim=0")
@shows("reverse_sequence(Tensor([[1, 2, 3]]), Tensor([2]), 1)", "[[2 1 3]]")
def reverse_sequence(x: Any, seq_lengths: Any, *, seq_dim: int, batch_dim: int = 0) -> Any:
    """Reverse the first `seq_lengths[b]` elements of each sequence of a batch.

    Args:
        x: tensor.
        seq_lengths: 1-D integer tensor, one length for each batch element.
        seq_dim: the dimension to reverse.
        batch_dim: the dimension of the batch.

    Returns:
        Tensor: like `x`.
    """
    if seq_dim == batch_dim:
        raise ValueError(f"reverse_sequence: the sequences and the batch cannot both be dimension {seq_dim}")
    moved = jnp.moveaxis(x, (batch_dim, seq_dim), (0, 1))
    position, lengths = jnp.arange(moved.shape[1]), seq_lengths[:, None]
    source = jnp.where(position < lengths, lengths - 1 - position, position)
    turned = jax.vmap(lambda sequence, places: sequence[places])(moved, source)
    return jnp.moveaxis(turned, (0, 1), (batch_dim, seq_dim))


@op("Roll", classes=(), describe=_LIKE_INPUT)
@shows("roll(Tensor([1.0, 2.0, 3.0]), 1, 0)", "[3. 1. 2.]")
def roll(input: Any, *, shifts: Any, dims: Any = None) -> Any:
    """Shift elements along dimensions; what leaves at the end enters at the start.

    Args:
        shifts: by how much, for each of `dims`.
        dims: the dimensions; None shifts the flattened tensor.
    """
    return jnp.roll(input, shifts, dims)


@op("Rot90", classes=())
@shows("rot90(Tensor([[1, 2], [3, 4]]), 1, (0, 1))", "[[2 4]\n [1 3]]")
def rot90(input: Any, *, k: int = 1, dims: tuple[int, int] = (0, 1)) -> Any:
    """Rotate by 90 degrees in the plane of two dimensions."""
    return jnp.rot90(input, k, dims)


@op("Tril", init="diagonal=0")
@shows("tril(Tensor([[1, 2], [3, 4]]))", "[[1 0]\n [3 4]]")
def tril(input: Any, *, diagonal: int = 0) -> Any:
    """Keep the elements on and below a diagonal; the others become zero."""
    if input.ndim < 2:
        raise ValueError(f"tril: needs at least 2 dimensions, not shape {tuple(input.shape)}")
    return jnp.tril(input, diagonal)


@op("Triu", init="diagonal=0")
@shows("triu(Tensor([[1, 2], [3, 4]]))", "[[1 2]\n [0 4]]")
def triu(input: Any, *, diagonal: int = 0) -> Any:
    """Keep the elements on and above a diagonal; the others become zero."""
    if input.ndim < 2:
        raise ValueError(f"triu: needs at least 2 dimensions, not shape {tuple(input.shape)}")
    return jnp.triu(input, diagonal)


@op("DiagonalV2", classes=(), shares=views.share_diagonal)
@shows("diagonal(Tensor([[1, 2], [3, 4]]))", "[1 4]")
def diagonal(input: Any, *, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """The elements of a diagonal.

    Args:
        input: tensor of at least 2 dimensions.
        offset: 0 for the main diagonal, positive above it.
        dim1: first dimension of the plane.
        dim2: second dimension of the plane.

    Returns:
        Tensor: the diagonal is its last dimension.
    """
    if one_axis("diagonal", dim1, input.ndim) == one_axis("diagonal", dim2, input.ndim):
        raise ValueError(f"diagonal: dim1 and dim2 must be two dimensions, not {dim1} and {dim2}")
    return jnp.diagonal(input, offset, dim1, dim2)


@op("DiagEmbed", classes=())
def _diag_embed(input: Any, *, offset: int = 0) -> Any:
    """Matrices whose diagonals are the last dimension of the tensor."""
    size = input.shape[-1]
    full = jnp.zeros((*input.shape[:-1], size + abs(offset), size + abs(offset)), input.dtype)
    rows = np.arange(size) + max(-offset, 0)
    return full.at[..., rows, rows + offset].set(input)


@shows("diag_embed(Tensor([1, 2]))", "[[1 0]\n [0 2]]")
def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Matrices whose diagonals are the last dimension of a tensor."""
    if input.ndim == 0:
        raise ValueError("diag_embed: needs a tensor of at least one dimension")
    made = _diag_embed(input, offset)
    return moveaxis(made, (-2, -1), (dim1, dim2)) if (dim1, dim2) != (-2, -1) else made


@shows("diag(Tensor([1, 2]))", "[[1 0]\n [0 2]]")
def diag(input: Any) -> Any:
    """The tensor of twice the dimensions with these elements on its diagonal, and zeros elsewhere.

    Args:
        input: tensor of shape (D1, ..., Dk).

    Returns:
        Tensor: of shape (D1, ..., Dk, D1, ..., Dk); element (i1, ..., ik, i1, ..., ik) is element (i1, ..., ik).
    """
    input = tensor(input)
    made = _diag_embed(reshape(input, (-1,)), 0)
    return made if input.ndim == 1 else reshape(made, input.shape * 2)


def _raised(inputs: Any, least: int, shape_of: Callable[[tuple[int, ...]], tuple[int, ...]]) -> Any:
    """A tensor, or each of several, with more dimensions if it has fewer than `least`."""
    if isinstance(inputs, (tuple, list)):
        return tuple([_raised(each, least, shape_of) for each in inputs])
    given = tensor(inputs)
    return reshape(given, shape_of(given.shape)) if given.ndim < least else given


@shows("atleast_1d(Tensor(1.0)).shape", "(1,)")
def atleast_1d(inputs: Any) -> Any:
    """A number becomes a vector of one element; a tuple or list of tensors gives a tuple."""
    return _raised(inputs, 1, lambda shape: (1,))


@shows("atleast_2d(Tensor([1.0, 2.0])).shape", "(1, 2)")
def atleast_2d(inputs: Any) -> Any:
    """Add leading dimensions until there are two; a tuple or list of tensors gives a tuple."""
    return _raised(inputs, 2, lambda shape: (1, *shape) if shape else (1, 1))


@shows("atleast_3d(Tensor([1.0, 2.0])).shape", "(1, 2, 1)")
def atleast_3d(inputs: Any) -> Any:
    """Add dimensions until there are three: (n,) becomes (1, n, 1), (m, n) becomes (m, n, 1);
    a tuple or list of tensors gives a tuple.
    """
    return _raised(inputs, 3, lambda shape: {0: (1, 1, 1), 1: (1, *shape, 1), 2: (*shape, 1)}[len(shape)])


@op("ViewAsReal", classes=())
@shows("view_as_real(Tensor([1 + 2j])).shape", "(1, 2)")
def view_as_real(input: Any) -> Any:
    """A complex tensor as a real one whose last dimension holds real and imaginary part."""
    return jnp.stack([jnp.real(input), jnp.imag(input)], axis=-1)


movedim = moveaxis


@shows("swapdims(Tensor([[1, 2, 3]]), 0, 1).shape", "(3, 1)")
def swapdims(input: Any, dim0: int, dim1: int) -> Any:
    """Exchange two dimensions; see `swapaxes`."""
    return swapaxes(input, dim0, dim1)


operator_class("Flatten", flatten)
operator_class("ReverseV2", reverse, "axis")
operator_class("Diag", diag)
