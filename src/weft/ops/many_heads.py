"""Attention of many heads, with the projections into the heads and out of them: the function behind the layer."""

from __future__ import annotations

import math
from typing import Any

from weft import dtypes
from weft.core import Tensor, shows
from weft.ops.activation import softmax
from weft.ops.create import zeros
from weft.ops.dropout import dropout
from weft.ops.joining import concat
from weft.ops.matmul import dense, matmul
from weft.ops.select import where
from weft.ops.shape import broadcast_to

__all__ = ["expanded", "multi_head_attention_forward", "same_type"]


@shows("expanded(Tensor([1.0]), 3).shape", "(1, 1, 1)")
def expanded(x: Tensor, ndim: int) -> Any:
    """A tensor with dimensions of size 1 before the others, so many in all."""
    return x.reshape((*(1,) * (ndim - x.ndim), *x.shape))


@shows("same_type(dtypes.float32, dtypes.int32)", "False")
def same_type(dtype1: Any, dtype2: Any) -> bool:
    """Whether two element types are the same."""
    return bool(dtype1 == dtype2)


def _hidden(scores: Any, mask: Any, more: int) -> Any:
    """Scores without what a mask of bools hides, or with one of floats added; of so many more keys it hides nothing."""
    if more:
        mask = concat((mask, zeros((*mask.shape[:-1], more), mask.dtype)), -1)
    if mask.dtype is dtypes.bool_:
        return where(mask, float("-inf"), scores)
    return scores + mask.astype(scores.dtype)


def multi_head_attention_forward(
    query: Any,
    key: Any,
    value: Any,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Any,
    in_proj_bias: Any,
    bias_k: Any,
    bias_v: Any,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Any,
    out_proj_bias: Any,
    training: bool = True,
    key_padding_mask: Any = None,
    attn_mask: Any = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Any = None,
    k_proj_weight: Any = None,
    v_proj_weight: Any = None,
    static_k: Any = None,
    static_v: Any = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
    k_is_v: bool = False,
    q_is_k: bool = False,
    dtype: Any = dtypes.float32,
) -> tuple[Any, Any]:
    """Attention of many heads, and its weights; `MultiheadAttention` is the layer.

    Args:
        query: (L, N, E), or (L, E) of one example.
        key: (S, N, E).
        value: (S, N, E).
        embed_dim_to_check: E.
        num_heads: how many heads there are.
        in_proj_weight: (3 E, E): the projections of queries, keys and values.
        in_proj_bias: (3 E,), or None.
        bias_k: (1, 1, E), one more key for all; or None.
        bias_v: its value.
        add_zero_attn: whether there is one more key, of zeros.
        dropout_p: probability of ignoring a key, while training.
        out_proj_weight: (E, E): the projection of the output.
        out_proj_bias: (E,), or None.
        training: whether the program trains.
        key_padding_mask: (N, S), of bools that hide keys, or floats that are added.
        attn_mask: (L, S) or (N heads, L, S), of the same kinds.
        use_separate_proj_weight: whether the three projections are given one by one.
        q_proj_weight: (E, E).
        k_proj_weight: (E, size of keys).
        v_proj_weight: (E, size of values).
        static_k: keys that are in heads already, (N heads, S, E / heads); or None.
        static_v: values that are.
        average_attn_weights: whether the weights are the mean of those of the heads.
        is_causal: accepted; the mask says what is hidden.
        k_is_v: accepted.
        q_is_k: accepted.
        dtype: accepted.

    Returns:
        tuple[Tensor, Tensor]: the output, like `query`, and the weights, (N, L, S) or (N, heads, L, S).

    Raises:
        ValueError: the sizes do not fit.

    Example:
        >>> x, w = Tensor([[[1.0, 2.0]]]), Tensor([[1.0, 0.0], [0.0, 1.0]])
        >>> joint = concat((w, w, w))
        >>> print(multi_head_attention_forward(x, x, x, 2, 1, joint, None, None, None, False, 0.0, w, None)[0])
        [[[1. 2.]]]
    """
    name = "multi_head_attention_forward"
    del is_causal, k_is_v, q_is_k, dtype
    alone = query.ndim == 2
    if alone:
        query, key, value = (x.expand_dims(1) for x in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.expand_dims(0)
    length, batch, size = query.shape
    if size != embed_dim_to_check:
        raise ValueError(f"{name}: the size is {size}, not {embed_dim_to_check}")
    if size % num_heads:
        raise ValueError(f"{name}: a size of {size} does not divide into {num_heads} heads")
    each = size // num_heads
    weights = (q_proj_weight, k_proj_weight, v_proj_weight)
    if not use_separate_proj_weight:
        weights = tuple([in_proj_weight[i * size : (i + 1) * size] for i in range(3)])
    biases = [None if in_proj_bias is None else in_proj_bias[i * size : (i + 1) * size] for i in range(3)]
    q, k, v = (dense(x, w, b) for x, w, b in zip((query, key, value), weights, biases, strict=True))
    more = 0
    if bias_k is not None:
        k, v = (concat((x, broadcast_to(b, (1, batch, size)))) for x, b in ((k, bias_k), (v, bias_v)))
        more += 1

    def in_heads(x: Any, static: Any = None) -> Any:
        if static is not None:
            return static.reshape((batch, num_heads, static.shape[1], each))
        return x.reshape((x.shape[0], batch, num_heads, each)).transpose((1, 2, 0, 3))

    q, k, v = in_heads(q), in_heads(k, static_k), in_heads(v, static_v)
    if add_zero_attn:
        nothing = zeros((batch, num_heads, 1, each), k.dtype)
        k, v = (concat((x, nothing), 2) for x in (k, v))
        more += 1
    scores = matmul(q * (1.0 / math.sqrt(each)), k.swapaxes(-1, -2))
    if attn_mask is not None:
        mask = attn_mask if attn_mask.ndim == 2 else attn_mask.reshape((batch, num_heads, *attn_mask.shape[1:]))
        scores = _hidden(scores, mask, more)
    if key_padding_mask is not None:
        scores = _hidden(scores, key_padding_mask.reshape((batch, 1, 1, -1)), more)
    shares = softmax(scores, -1)
    if training and dropout_p > 0:
        shares = dropout(shares, dropout_p)
    out = matmul(shares, v).transpose((2, 0, 1, 3)).reshape((length, batch, size))
    out = dense(out, out_proj_weight, out_proj_bias)
    shown = shares.mean(1) if average_attn_weights else shares
    return (out[:, 0], shown[0]) if alone else (out, shown)
