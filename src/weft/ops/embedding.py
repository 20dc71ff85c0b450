"""Lookups: embeddings and one-hot vectors."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from weft.core import Tensor, check_bounds, op, operator_class, shows
from weft.core.run_number import shown, whole
from weft.ops._kinks import vector_norm
from weft.ops._rules import promoted, wide

__all__ = ["embedding", "embedding_lookup", "one_hot"]


@op("OneHotValues", classes=())
def _one_hot(indices: Any, on_value: Any, off_value: Any, *, depth: int, axis: int) -> Any:
    on_value, off_value = promoted(on_value, off_value)
    hot = indices[..., None] == jnp.arange(depth, dtype=indices.dtype)
    return jnp.where(jnp.moveaxis(hot, -1, axis), on_value, off_value)


@shows("one_hot(Tensor([0, 2]), 3)", "[[1 0 0]\n [0 0 1]]")
def one_hot(indices: Tensor, depth: Any, on_value: Any = 1, off_value: Any = 0, axis: int = -1) -> Tensor:
    """Vectors with `on_value` at an index and `off_value` elsewhere.

    Args:
        indices: integer tensor; an index outside of the range gives `off_value` everywhere.
        depth: length of the vectors.
        on_value: tensor or number.
        off_value: tensor or number.
        axis: where the new dimension goes.

    Returns:
        Tensor: in the dtype of the values (ints give int64).

    Raises:
        TypeError: the indices are not integers.
        ValueError: the depth is negative, or the axis out of range.
    """
    if not isinstance(indices, Tensor):
        indices = Tensor(indices)
    if indices.dtype.category != 1:
        raise TypeError(f"one_hot: indices must be integers, not {indices.dtype}")
    depth = whole(depth)
    if depth < 0:
        raise ValueError(f"one_hot: depth must not be negative, got {depth}")
    if not -1 <= axis <= indices.ndim:
        raise ValueError(f"one_hot: axis {axis} is out of range for indices of shape {indices.shape}")
    return _one_hot(indices, on_value, off_value, depth, axis)


operator_class("OneHot", one_hot, "axis=-1")


@op("EmbeddingRows", classes=())
def _embedding(input: Any, weight: Any, *, padding_idx: int | None, offset: int | None) -> Any:
    """Rows of a table; the row `padding_idx` gets no gradient.

    Indices minus the offset that are outside of the table give zeros; without an offset, negative ones count from the
    end.
    """
    input = wide(input)
    index = jnp.where(input < 0, input + weight.shape[0], input) if offset is None else input - offset
    if padding_idx is not None:
        frozen = jnp.arange(weight.shape[0]).reshape((-1,) + (1,) * (weight.ndim - 1)) == padding_idx
        weight = jnp.where(frozen, jax.lax.stop_gradient(weight), weight)
    found = jnp.take(weight, jnp.clip(index, 0, weight.shape[0] - 1), axis=0)
    inside = ((index >= 0) & (index < weight.shape[0])).reshape(index.shape + (1,) * (weight.ndim - 1))
    return jnp.where(inside, found, jnp.zeros((), weight.dtype))


@shows("embedding(Tensor([1, 0]), Tensor([[1.0], [2.0]]))", "[[2.]\n [1.]]")
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
) -> Tensor:
    """Rows of a table by index.

    Args:
        input: integer tensor of row numbers; negative ones count from the end.
        weight: the table (rows, ...).
        padding_idx: a row that gets no gradient.
        max_norm: rescale longer rows of the result to this norm.
        norm_type: which norm.
        scale_grad_by_freq: must be False.

    Returns:
        Tensor: ``input.shape + weight.shape[1:]``.

    Raises:
        IndexError: an index is out of bounds.
        TypeError: the indices are not integers.
    """
    if scale_grad_by_freq:
        raise ValueError("embedding: scale_grad_by_freq=True is not available; scale the gradient in the loss instead")
    if input.dtype.category != 1:
        raise TypeError(f"embedding: the indices must be integers, not {input.dtype}")
    rows = weight.shape[0]
    if padding_idx is not None:
        if not -rows <= padding_idx < rows:
            raise ValueError(f"embedding: padding_idx {padding_idx} is out of range for {rows} rows")
        padding_idx %= rows
    check_bounds(input, rows, f"embedding: index {{}} is out of bounds for a table of {shown(rows)} rows")
    found = _embedding(input, weight, padding_idx, None)
    if max_norm is not None:
        found = _clip_rows(found, float(max_norm), float(norm_type))
    return found


@op("ClipRows", classes=())
def _clip_rows(x: Any, *, max_norm: float, norm_type: float = 2.0) -> Any:
    norm = vector_norm(x, norm_type, (-1,), True)
    return x * jnp.where(norm > max_norm, max_norm / (norm + 1e-7), 1.0).astype(x.dtype)


@shows("embedding_lookup(Tensor([[1.0], [2.0]]), Tensor([11, 15]), 10)", "[[2.]\n [0.]]")
def embedding_lookup(input_params: Tensor, input_indices: Tensor, offset: int = 0) -> Tensor:
    """Rows of a table by index minus an offset; indices outside of the table give zeros."""
    return _embedding(input_indices, input_params, None, int(offset))


operator_class("EmbeddingLookup", embedding_lookup)
