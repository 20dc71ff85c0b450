"""Mixtures of experts: tokens in the order of their experts, and products with the weights of each."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp

from weft import dtypes
from weft.core import Tensor, op, operator_class, shows
from weft.ops._checks import bools, ints, only, optional_tensors, tensors
from weft.ops.create import ones, zeros
from weft.ops.joining import concat
from weft.ops.matmul import matmul
from weft.ops.quantized import restored, turned
from weft.ops.sorting import argsort

__all__ = ["moe_token_permute", "moe_token_unpermute"]


def moe_token_permute(tokens: Any, indices: Any, num_out_tokens: int | None = None, padded_mode: bool = False) -> Any:
    """Tokens in the order of the experts that they go to, those of one expert together.

    Args:
        tokens: (tokens, size).
        indices: the expert of each token, or the experts: (tokens,) or (tokens, experts of each), of ints.
        num_out_tokens: how many are kept; None for all.
        padded_mode: False.

    Returns:
        tuple[Tensor, Tensor]: the tokens, and for each index where its token is among them, of int32.

    Raises:
        TypeError: an argument is of another type.
        ValueError: the dimensions are not these.
        RuntimeError: there are more or fewer indices than tokens.

    Example:
        >>> moved, where_to = moe_token_permute(Tensor([[1.0], [2.0], [3.0]]), Tensor([2, 0, 1]))
        >>> print(moved.ravel(), where_to)
        [2. 3. 1.] [2 0 1]
    """
    name = "moe_token_permute"
    tensors(name, tokens=tokens, indices=indices)
    if indices.dtype not in (dtypes.int32, dtypes.int64):
        raise TypeError(f"{name}: indices must be of int32 or int64, not {indices.dtype}")
    if num_out_tokens is not None:
        ints(name, num_out_tokens=num_out_tokens)
    bools(name, padded_mode=padded_mode)
    only(name, False, padded_mode=padded_mode)
    if tokens.ndim != 2 or indices.ndim not in (1, 2):
        raise ValueError(f"{name}: shapes {tokens.shape} and {indices.shape} have other dimensions")
    if tokens.shape[0] != indices.shape[0]:
        raise RuntimeError(f"{name}: {tokens.shape[0]} tokens have {indices.shape[0]} rows of indices")
    each = math.prod(indices.shape[1:])
    order = argsort(indices.reshape(-1))
    where_to = argsort(order).astype(dtypes.int32)
    return tokens[(order if num_out_tokens is None else order[:num_out_tokens]) // each], where_to


@shows("moe_token_unpermute(Tensor([[2.0], [3.0], [1.0]]), Tensor([2, 0, 1])).ravel()", "[1. 2. 3.]")
def moe_token_unpermute(
    permuted_tokens: Any, sorted_indices: Any, probs: Any = None, padded_mode: bool = False, restore_shape: Any = None
) -> Any:
    """Tokens in the order they had before `moe_token_permute`; those of several experts are summed.

    Args:
        permuted_tokens: (tokens, size), in the order of experts.
        sorted_indices: where each is among them.
        probs: weights of the experts of each token, (tokens, experts of each); None where there is one.
        padded_mode: False.
        restore_shape: accepted.

    Returns:
        Tensor: (tokens, size). Tokens that were not kept count as 0.

    Raises:
        TypeError: an argument is no tensor.
        ValueError: `padded_mode` is True.
    """
    name = "moe_token_unpermute"
    del restore_shape
    tensors(name, permuted_tokens=permuted_tokens, sorted_indices=sorted_indices)
    optional_tensors(name, probs=probs)
    given, where_to = permuted_tokens, sorted_indices
    only(name, False, padded_mode=bool(padded_mode))
    if where_to.shape[0] > given.shape[0]:
        given = concat((given, zeros((where_to.shape[0] - given.shape[0], *given.shape[1:]), given.dtype)))
    found = given[where_to]
    if probs is None:
        return found
    parts = found.reshape((*probs.shape, *given.shape[1:]))
    return (parts * probs.reshape((*probs.shape, 1)).astype(parts.dtype)).sum(1)


# -- products ------------------------------------------------------------------------------------------------------


def _inside(x: Any, counts: Any) -> Any:
    """Rows that belong to a group; the others as 0."""
    rows = jnp.arange(x.shape[0]) < jnp.sum(counts)
    return jnp.where(rows[:, None], x, jnp.zeros((), x.dtype))


@op(
    "GroupedProduct",
    classes=(),
    gradient=lambda x, weight, counts, out, dout: (
        _grouped_product(dout, weight.swapaxes(1, 2), counts),
        _grouped_outer(x, dout, counts),
        None,
    ),
)
def _grouped_product(x: Any, weight: Any, counts: Any) -> Any:
    """Products of rows with matrices, so many rows with each; rows beyond give 0."""
    return _inside(jax.lax.ragged_dot(x, weight, counts.astype(jnp.int32)), counts)


@op(
    "GroupedOuterProduct",
    classes=(),
    gradient=lambda x, y, counts, out, dout: (
        _grouped_product(y, dout.swapaxes(1, 2), counts),
        _grouped_product(x, dout, counts),
        None,
    ),
)
def _grouped_outer(x: Any, y: Any, counts: Any) -> Any:
    """For each group of rows the sum of their outer products: (groups, columns of x, columns of y)."""
    still = jnp.zeros((counts.shape[0], x.shape[1], y.shape[1]), x.dtype)
    groups = counts.astype(jnp.int32)
    return jax.vjp(lambda weight: jax.lax.ragged_dot(x, weight, groups), still)[1](_inside(y, counts))[0]


def _grouped(
    name: str,
    x: Any,
    weight: Any,
    bias: Any = None,
    scale: Any = None,
    offset: Any = None,
    antiquant_scale: Any = None,
    antiquant_offset: Any = None,
    group_list: Any = None,
    split_item: int = 0,
    group_type: int = -1,
    *,
    counted: bool = False,
    transposed: tuple[bool, bool] = (False, False),
) -> Any:
    if scale is not None or offset is not None:
        raise NotImplementedError(f"{name}: integers of 8 bits are not computed with; scale and offset must be None")
    if (split_item, group_type) not in ((0, -1), (3, 0)):
        raise TypeError(
            f"{name}: split_item and group_type are 0 and -1, or 3 and 0; not {split_item} and {group_type}"
        )
    found = []
    lists = [[None] * len(weight) if parts is None else parts for parts in (bias, antiquant_scale, antiquant_offset)]
    for a, w, b, s, o in zip(x, weight, *lists, strict=True):
        rows, factors = turned(a, transposed[0]), turned(w, transposed[1])
        factors = factors if s is None else restored(factors, s, o, a.dtype)
        if group_type < 0:
            made = matmul(rows, factors)
            found.append(made if b is None else made + b)
            continue
        if group_list is None:
            raise TypeError(f"{name}: with split_item 3, group_list must be given")
        ends = group_list if isinstance(group_list, Tensor) else Tensor(list(group_list), dtypes.int64)
        if ends.shape != factors.shape[:1]:
            raise ValueError(f"{name}: {factors.shape[0]} matrices have groups {ends.shape}")
        counts = ends if counted else concat((ends[:1], ends[1:] - ends[:-1]))
        made = _grouped_product(rows, factors, counts)
        if b is not None:
            made = made + _grouped_product(ones((rows.shape[0], 1), rows.dtype), b.expand_dims(1), counts)
        found.append(made)
    return tuple(found)


def _grouped_matmul(*lists: Any, transpose_a: bool, transpose_b: bool, **settings: Any) -> Any:
    """Products of several matrices, or of groups of the rows of one.

    Args:
        x: list of tensors; of one, whose rows are grouped.
        weight: list of matrices; of one tensor (groups, rows, columns).
        bias: list of rows that are added, or None.
        scale: None.
        offset: None.
        antiquant_scale: list of factors of columns of weights of integers, or None.
        antiquant_offset: list of what is added to them before, or None.
        group_list: the row after the last of each group, where the rows of one tensor are grouped.

    Returns:
        tuple[Tensor, ...]: the products; rows of no group are 0.
    """
    return _grouped("GroupedMatmul", *lists, transposed=(bool(transpose_a), bool(transpose_b)), **settings)


def grouped_matmul_v4(
    x: Any,
    weight: Any,
    bias: Any = None,
    scale: Any = None,
    offset: Any = None,
    antiquant_scale: Any = None,
    antiquant_offset: Any = None,
    pre_token_scale: Any = None,
    group_list: Any = None,
    activation_input: Any = None,
    activation_quant_scale: Any = None,
    activation_quant_offset: Any = None,
    split_item: int = 0,
    group_type: int = -1,
    group_list_type: int = 0,
    act_type: int = 0,
    output_dtype: Any = None,
) -> Any:
    """Products of several matrices, or of groups of the rows of one, see `GroupedMatmul`.

    Args:
        x: list of tensors.
        weight: list of matrices, or of one tensor of them.
        bias: list, or None.
        scale: None.
        offset: None.
        antiquant_scale: list, or None.
        antiquant_offset: list, or None.
        pre_token_scale: None.
        group_list: the row after the last of each group, or how many rows it has.
        activation_input: None.
        activation_quant_scale: None.
        activation_quant_offset: None.
        split_item: 0 for several products, 3 for groups of rows.
        group_type: -1 for several products, 0 for groups of rows.
        group_list_type: 0 for rows after the last, 1 for how many.
        act_type: 0.
        output_dtype: element type of the results; that of `x` where none is given.

    Example:
        >>> x, w = Tensor([[1.0], [2.0], [3.0]]), Tensor([[[1.0]], [[10.0]]])
        >>> groups = Tensor([1, 2])
        >>> print(grouped_matmul_v4([x], [w], group_list=groups, split_item=3, group_type=0, group_list_type=1)[0])
        [[ 1.]
         [20.]
         [30.]]
    """
    name = "grouped_matmul_v4"
    others = (pre_token_scale, activation_input, activation_quant_scale, activation_quant_offset)
    if any(each is not None for each in others) or act_type:
        raise NotImplementedError(f"{name}: quantized activations are not computed")
    if group_list_type not in (0, 1):
        raise TypeError(f"{name}: group_list_type must be 0 or 1, not {group_list_type}")
    given = (x, weight, bias, scale, offset, antiquant_scale, antiquant_offset, group_list, split_item, group_type)
    found = _grouped(name, *given, counted=group_list_type == 1)
    return found if output_dtype is None else tuple([part.astype(output_dtype) for part in found])


operator_class("GroupedMatmul", _grouped_matmul, "split_item=0, group_type=-1, transpose_a=False, transpose_b=False")
operator_class("GroupedMatmulV4", grouped_matmul_v4)
