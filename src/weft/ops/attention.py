"""Attention as one operation, in the layouts, with the masks and over the caches that programs for Ascend use.

Everything is made of products, `softmax` and selections, so it runs on any device, and in any floating type; half types
are computed in float32.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

from weft import dtypes
from weft.core import Tensor, as_operator, operator_class
from weft.ops._checks import ints, one_of, optional_tensors, reals, strings, tensors
from weft.ops.activation import softmax
from weft.ops.create import arange, zeros
from weft.ops.dropout import dropout, dropout_by_bits
from weft.ops.elementwise import exp
from weft.ops.joining import concat
from weft.ops.matmul import matmul
from weft.ops.reduce import amax
from weft.ops.select import where
from weft.ops.state import assign

__all__ = ["flash_attention_score"]

_EVERYTHING: Final = 2147483647
#: layout -> how its dimensions go to (B, S, heads and their size); H holds both
_LAYOUTS: Final = {
    "BSH": (0, 1, 2), "BSND": (0, 1, 2, 3), "BNSD": (0, 2, 1, 3), "SBH": (1, 0, 2), "TND": (0, 1, 2), "TH": (0, 1),
}  # fmt: skip
#: what a score is where a key is not to be seen: a row of these only gives the mean of the values
_HIDDEN: Final = -1e30


def _to_heads(name: str, x: Tensor, layout: str, heads: int) -> Tensor:
    """A tensor as (B, N, S, D); the sequences of T are one batch."""
    order = _LAYOUTS[layout]
    if x.ndim != len(order):
        raise ValueError(f"{name}: a tensor of layout {layout} has {len(order)} dimensions, not shape {x.shape}")
    x = x.transpose(order)
    if layout[0] == "T":
        x = x.reshape((1, *x.shape))
    if layout[-1] == "H":
        if x.shape[-1] % heads:
            raise ValueError(f"{name}: a size of {x.shape[-1]} is no multiple of {heads} heads")
        x = x.reshape((*x.shape[:-1], heads, x.shape[-1] // heads))
    return x.transpose((0, 2, 1, 3))


def _from_heads(x: Tensor, layout: str) -> Tensor:
    x = x.transpose((0, 2, 1, 3))
    if layout[-1] == "H":
        x = x.reshape((*x.shape[:2], -1))
    if layout[0] == "T":
        x = x.reshape(x.shape[1:])
    order = _LAYOUTS[layout]
    return x.transpose(tuple([order.index(i) for i in range(len(order))]))


def _widened(x: Tensor) -> Tensor:
    return x.astype(dtypes.float32) if x.dtype.itemsize < 4 else x


def _products(one: Tensor, other: Tensor) -> Tensor:
    """Products of the matrices of each head; several heads of `one` may share one of `other`."""
    batch, heads, rows, size = one.shape
    shared = other.shape[1]
    grouped = _widened(one).reshape((batch, shared, heads // shared, rows, size))
    return matmul(grouped, _widened(other).expand_dims(2)).reshape((batch, heads, rows, other.shape[-1]))


def _scores(query: Tensor, key: Tensor, shift: Tensor | None, scale: Any) -> Tensor:
    """How well queries and keys fit: (B, N1, S1, S2)."""
    scores = _products(query, key.swapaxes(-1, -2))
    return (scores if shift is None else scores + shift.astype(scores.dtype)) * scale


# -- which keys a query sees ---------------------------------------------------------------------------------------


class _Places(NamedTuple):
    """Where queries and keys stand in their sequences, as a column and a row, and how much longer those of keys are."""

    query: Tensor
    key: Tensor
    longer: Any
    #: whether both belong to one sequence, where there are several
    together: Tensor | None = None


def _count(given: Any) -> Tensor:
    return given if isinstance(given, Tensor) else Tensor(list(given), dtypes.int64)


def _sequences(total: int, ends: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Number of the sequence of each of so many tokens, its place in that, and the length of the sequence."""
    ends = _count(ends).astype(dtypes.int64)
    starts = concat((zeros((1,), dtypes.int64), ends[:-1]))
    place = arange(total)
    number = (ends.reshape((1, -1)) <= place.reshape((-1, 1))).astype(dtypes.int64).sum(1)
    known = where(number < ends.shape[0], number, 0)
    return number, place - starts[known], (ends - starts)[known]


def _places(name: str, layout: str, q: Tensor, k: Tensor, query_ends: Any = None, key_ends: Any = None) -> _Places:
    queries, keys = q.shape[2], k.shape[2]
    if layout[0] != "T":
        return _Places(arange(queries).reshape((-1, 1)), arange(keys).reshape((1, -1)), keys - queries)
    if query_ends is None or key_ends is None:
        raise ValueError(f"{name}: layout {layout} needs actual_seq_qlen and actual_seq_kvlen")
    number, place, length = (x.reshape((-1, 1)) for x in _sequences(queries, query_ends))
    of_key, place_of_key, length_of_key = (x.reshape((1, -1)) for x in _sequences(keys, key_ends))
    return _Places(place, place_of_key, length_of_key - length, number == of_key)


def _both(one: Tensor | None, other: Tensor | None) -> Tensor | None:
    """What two masks show; None shows all."""
    if one is None or other is None:
        return other if one is None else one
    return one & other


def _shown(scores: Tensor, seen: Tensor | None) -> Tensor:
    return scores if seen is None else where(seen, scores, _HIDDEN)


def _band(places: _Places, before: int, after: int, offset: Any) -> Tensor | None:
    """The keys around the place of a query: at most `before` before it and `after` behind it; None for all."""
    behind = places.key - places.query - offset
    return _both(behind <= after if after < _EVERYTHING else None, -behind <= before if before < _EVERYTHING else None)


def _among_first(places: Tensor, counts: Any) -> Tensor:
    """Which places are among the first of each of the batch, so many: (B, 1, 1, places)."""
    return places.reshape((1, 1, 1, -1)) < _count(counts).reshape((-1, 1, 1, 1))


def _given_mask(name: str, mask: Tensor, places: _Places) -> Tensor:
    """What a mask that was given shows, as (B or 1, N1 or 1, S1, S2), of bools."""
    hidden = mask if mask.dtype is dtypes.bool_ else mask != 0
    queries, keys = places.query.shape[0], places.key.shape[1]
    if places.together is not None and hidden.ndim == 2 and hidden.shape != (queries, keys):
        hidden = hidden[places.query, places.key]  # one mask for all sequences
    if hidden.ndim == 3:
        hidden = hidden.reshape((hidden.shape[0], 1, *hidden.shape[1:]))
    if math.prod(hidden.shape[-2:]) != queries * keys:
        raise RuntimeError(f"{name}: attn_mask {mask.shape} does not fit {queries} and {keys} tokens")
    return ~hidden


def _seen(
    name: str, mask: Tensor | None, places: _Places, mode: int, before: int, after: int, prefix: Any = None
) -> Tensor | None:
    """Which keys each query sees, None for all."""
    seen: Tensor | None = None
    if mode in (2, 3, 4) or (mode == 0 and mask is not None) or (mode == 5 and mask is None):
        if mode in (2, 3, 5):
            before, after = _EVERYTHING, 0
        seen = _band(places, before, after, places.longer if mode > 2 else 0)
    if mode == 5 and mask is None:
        if prefix is None:
            raise ValueError(f"{name}: sparse_mode 5 needs a prefix or a mask")
        assert seen is not None
        seen = seen | _among_first(places.key, prefix)
    if mask is not None and mode in (0, 1, 5):
        seen = _both(seen, _given_mask(name, mask, places))
    return _both(seen, places.together)


# -- the operations ------------------------------------------------------------------------------------------------


def _checked(name: str, query: Any, key: Any, value: Any, heads: Any, layout: Any, mode: Any, **numbers: Any) -> None:
    tensors(name, query=query, key=key, value=value)
    if not query.dtype.is_floating:
        raise TypeError(f"{name}: query must be of floats, not {query.dtype}")
    if not query.dtype is key.dtype is value.dtype:
        raise TypeError(f"{name}: query, key and value are of {query.dtype}, {key.dtype} and {value.dtype}")
    reals(name, **numbers)
    strings(name, input_layout=layout)
    one_of(name, _LAYOUTS, input_layout=layout)
    ints(name, sparse_mode=mode, heads=heads)
    if mode not in range(6):
        raise RuntimeError(f"{name}: sparse_mode must be 0 to 5, not {mode}")
    if heads <= 0:
        raise RuntimeError(f"{name}: the number of heads must be positive, not {heads}")


def _heads_of_keys(name: str, query: Tensor, key: Tensor, heads: int, layout: str) -> int:
    if layout[-1] != "H":
        return key.shape[layout.index("N")]
    size = query.shape[-1] // heads
    if not size or key.shape[-1] % size:
        raise RuntimeError(f"{name}: heads of queries have size {size}, keys have {key.shape[-1]} in all")
    return key.shape[-1] // size


def _prepared(
    name: str, query: Tensor, key: Tensor, value: Tensor, heads: int, shared: int, layout: str
) -> tuple[Tensor, Tensor, Tensor]:
    if not shared or heads % shared:
        raise RuntimeError(f"{name}: {heads} heads of queries cannot share {shared} heads of keys")
    q = _to_heads(name, query, layout, heads)
    k, v = (_to_heads(name, x, layout, shared) for x in (key, value))
    if q.shape[1] != heads:
        raise RuntimeError(f"{name}: the query has {q.shape[1]} heads, not {heads}")
    if q.shape[-1] != k.shape[-1] or k.shape[:3] != v.shape[:3]:
        raise RuntimeError(f"{name}: shapes {query.shape}, {key.shape} and {value.shape} do not fit")
    return q, k, v


def _attention(
    name: str,
    query: Any,
    key: Any,
    value: Any,
    real_shift: Any = None,
    drop_mask: Any = None,
    padding_mask: Any = None,
    attn_mask: Any = None,
    prefix: Any = None,
    actual_seq_qlen: Any = None,
    actual_seq_kvlen: Any = None,
    head_num: int = 0,
    keep_prob: float = 1.0,
    scale_value: float = 1.0,
    pre_tokens: int = _EVERYTHING,
    next_tokens: int = _EVERYTHING,
    input_layout: str = "BSH",
    sparse_mode: int = 0,
) -> tuple[Tensor, Tensor]:
    """The scores, with what is hidden, and the output."""
    numbers = {"scale": scale_value, "keep_prob": keep_prob, "pre_tokens": pre_tokens, "next_tokens": next_tokens}
    _checked(name, query, key, value, head_num, input_layout, sparse_mode, **numbers)
    optional_tensors(name, real_shift=real_shift, drop_mask=drop_mask, padding_mask=padding_mask, attn_mask=attn_mask)
    if padding_mask is not None:
        raise NotImplementedError(f"{name}: padding_mask must be None")
    if real_shift is not None and real_shift.dtype is not query.dtype:
        raise TypeError(f"{name}: real_shift is of {real_shift.dtype}, query of {query.dtype}")
    if attn_mask is not None and attn_mask.dtype not in (dtypes.bool_, dtypes.uint8):
        raise TypeError(f"{name}: attn_mask must be of bool or uint8, not {attn_mask.dtype}")
    if not 0 < keep_prob <= 1:
        raise ValueError(f"{name}: keep_prob must be in (0, 1], not {keep_prob}")
    shared = _heads_of_keys(name, query, key, head_num, input_layout)
    q, k, v = _prepared(name, query, key, value, head_num, shared, input_layout)
    places = _places(name, input_layout, q, k, actual_seq_qlen, actual_seq_kvlen)
    seen = _seen(name, attn_mask, places, sparse_mode, pre_tokens, next_tokens, prefix)
    scores = _shown(_scores(q, k, real_shift, scale_value), seen)
    shares = softmax(scores, -1)
    if drop_mask is not None:
        shares = dropout_by_bits(shares, drop_mask.reshape(-1), keep_prob)
    elif keep_prob < 1:
        shares = dropout(shares, 1.0 - keep_prob)
    return scores, _from_heads(_products(shares, v).astype(query.dtype), input_layout)


def flash_attention_score(
    query: Any,
    key: Any,
    value: Any,
    head_num: int,
    real_shift: Any = None,
    drop_mask: Any = None,
    padding_mask: Any = None,
    attn_mask: Any = None,
    prefix: Any = None,
    actual_seq_qlen: Any = None,
    actual_seq_kvlen: Any = None,
    keep_prob: float = 1.0,
    scalar_value: float = 1.0,
    pre_tokens: int = 2147483647,
    next_tokens: int = 2147483647,
    inner_precise: int = 0,
    input_layout: str = "BSH",
    sparse_mode: int = 0,
) -> Any:
    """Attention: values, weighted by how well their keys fit to queries.

    Args:
        query: tensor of floats, in the layout; B is the batch, S a sequence, N the heads, D the size of one, H both
            together, T the tokens of all sequences.
        key: tensor of the same type; its heads may be fewer, each for several of the queries.
        value: tensor like `key`.
        head_num: the heads of `query`.
        real_shift: added to the products of queries and keys before they are scaled, (B or 1, N, S1, S2).
        drop_mask: bits that tell which weights stay, of uint8; where none are given and `keep_prob` is below 1, they
            are drawn.
        padding_mask: None.
        attn_mask: 1 or True where a query does not see a key, (S1, S2), (B, 1, S1, S2) or (B, N, S1, S2).
        prefix: for each of the batch, how many keys all queries see, in mode 5.
        actual_seq_qlen: where each sequence of queries ends, with T in the layout.
        actual_seq_kvlen: where each sequence of keys ends.
        keep_prob: the probability with which a weight stays.
        scalar_value: the factor of the products.
        pre_tokens: how many keys before its own place a query sees, in mode 4, and in mode 0 with a mask.
        next_tokens: how many behind it.
        inner_precise: accepted.
        input_layout: ``"BSH"``, ``"BNSD"``, ``"SBH"``, ``"BSND"``, ``"TND"`` or ``"TH"``.
        sparse_mode: 0, 1: the mask says all; 2: keys up to the place of the query, from the first; 3: from the last;
            4: a band; 5: as 3, and the prefix. From 2 to 4 the mask is not read.

    Returns:
        Tensor: like `query`. A query that sees nothing gets the mean of the values.

    Raises:
        TypeError: an argument is of another type.
        ValueError: the layout, or a number, is not allowed.
        RuntimeError: heads or shapes do not fit, or there is no such mode.

    Example:
        >>> x = Tensor([[[1.0, 0.0], [0.0, 1.0]]])
        >>> print(flash_attention_score(x, x, x, 1, sparse_mode=2, scalar_value=100.0))
        [[[1. 0.]
          [0. 1.]]]
    """
    del inner_precise
    given = (query, key, value, real_shift, drop_mask, padding_mask, attn_mask, prefix, actual_seq_qlen)
    settings = (head_num, keep_prob, scalar_value, pre_tokens, next_tokens, input_layout, sparse_mode)
    return _attention("flash_attention_score", *given, actual_seq_kvlen, *settings)[1]


def _flash_attention_operator(
    query: Any, key: Any, value: Any, *others: Any, inner_precise: int, **settings: Any
) -> Any:
    """`flash_attention_score` with the largest scores and the sums of their exponentials.

    Returns:
        tuple: both of them (B, N, S, 8), eight times the same, or (T, N, 8); a 0 without a meaning; the output.
    """
    del inner_precise
    scores, out = _attention("FlashAttentionScore", query, key, value, *others, **settings)
    largest = amax(scores, -1, True)
    total = exp(scores - largest).sum(-1, keepdims=True)
    facts = [x.astype(dtypes.float32).broadcast_to((*x.shape[:-1], 8)) for x in (largest, total)]
    if settings["input_layout"][0] == "T":
        facts = [x[0].swapaxes(0, 1) for x in facts]
    return (*facts, zeros((), query.dtype), out)


operator_class(
    "FlashAttentionScore",
    _flash_attention_operator,
    "head_num, keep_prob=1.0, scale_value=1.0, pre_tokens=2147483647, next_tokens=2147483647, inner_precise=0, "
    "input_layout='BSH', sparse_mode=0",
)


@as_operator
def PromptFlashAttention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    actual_seq_lengths: Any = None,
    actual_seq_lengths_kv: Any = None,
    pse_shift: Any = None,
    deq_scale1: Any = None,
    quant_scale1: Any = None,
    deq_scale2: Any = None,
    quant_scale2: Any = None,
    quant_offset2: Any = None,
    *,
    num_heads: int = 1,
    scale_value: float = 1.0,
    pre_tokens: int = 2147483647,
    next_tokens: int = 0,
    input_layout: str = "BSH",
    num_key_value_heads: int = 0,
    sparse_mode: int = 0,
    inner_precise: int = 1,
) -> Any:
    """Attention of a whole prompt, see `flash_attention_score`; keys beyond the length of a sequence are not seen.

    Returns:
        Tensor: like `query`; 0 beyond the length of a sequence of queries.
    """
    del inner_precise
    name = "PromptFlashAttention"
    numbers = {"scale_value": scale_value, "pre_tokens": pre_tokens, "next_tokens": next_tokens}
    _checked(name, query, key, value, num_heads, input_layout, sparse_mode, **numbers)
    optional_tensors(name, attn_mask=attn_mask, pse_shift=pse_shift)
    if any(x is not None for x in (deq_scale1, quant_scale1, deq_scale2, quant_scale2, quant_offset2)):
        raise NotImplementedError(f"{name}: integers of 8 bits are not computed with; the scales must be None")
    if input_layout[0] == "T" or sparse_mode == 5:
        raise ValueError(f"{name}: no layout {input_layout} with sparse_mode {sparse_mode}")
    shared = num_key_value_heads or num_heads
    q, k, v = _prepared(name, query, key, value, num_heads, shared, input_layout)
    places = _places(name, input_layout, q, k)
    shift = None if pse_shift is None else pse_shift[..., : q.shape[2], : k.shape[2]]
    seen = _seen(name, attn_mask, places, sparse_mode, pre_tokens, next_tokens)
    if actual_seq_lengths_kv is not None:
        seen = _both(seen, _among_first(places.key, actual_seq_lengths_kv))
    shares = softmax(_shown(_scores(q, k, shift, scale_value), seen), -1)
    out = _products(shares, v).astype(query.dtype)
    if actual_seq_lengths is not None:
        out = where(_among_first(places.query, actual_seq_lengths).swapaxes(-1, -2), out, zeros((), out.dtype))
    return _from_heads(out, input_layout)


# -- caches of keys and values in blocks ---------------------------------------------------------------------------


def _store(cache: Tensor, rows: Tensor, slots: Tensor) -> None:
    """Write rows into the slots of a cache of blocks; those of negative slots are left out."""
    count = cache.shape[0] * cache.shape[1]
    row = cache.shape[2:]
    flat = concat((cache.reshape((count, *row)), zeros((1, *row), cache.dtype)))
    flat[where(slots < 0, count, slots)] = rows.reshape((-1, *row)).astype(cache.dtype)
    assign(cache, flat[:count].reshape(cache.shape))


@as_operator
def ReshapeAndCache(
    key: Any, value: Any = None, key_cache: Any = None, value_cache: Any = None, slot_mapping: Any = None
) -> Any:
    """Write keys and values of tokens into caches of blocks.

    Args:
        key: the keys of each token.
        value: the values; None where there is no cache of them.
        key_cache: (blocks, tokens of a block, heads, size), which is written.
        value_cache: the same for the values.
        slot_mapping: which place of the cache each token gets, counted through all blocks; none, where it is negative.

    Returns:
        Tensor: `key`.
    """
    name = "ReshapeAndCache"
    optional_tensors(
        name, key=key, value=value, key_cache=key_cache, value_cache=value_cache, slot_mapping=slot_mapping
    )
    if key_cache is None or slot_mapping is None or (value is None) is not (value_cache is None):
        raise TypeError(f"{name}: a cache of keys and slots are needed, and a cache for values")
    for cache, rows in ((key_cache, key), (value_cache, value)):
        if cache is not None:
            _store(cache, rows, slot_mapping.reshape(-1))
    return key


def _paged_operator(
    query: Any,
    key_cache: Any,
    value_cache: Any = None,
    block_tables: Any = None,
    context_lens: Any = None,
    antiquant_scale: Any = None,
    antiquant_offset: Any = None,
    attn_mask: Any = None,
    q_seq_lens: Any = None,
    alibi_mask: Any = None,
    *,
    head_num: int,
    scale_value: float,
    kv_head_num: int,
    kv_cache_quant_mode: str,
    mask_mode: str,
    mla_v_dim: int,
) -> Any:
    """Attention of one new token of each sequence over the keys and values in caches of blocks.

    Args:
        query: the queries, one token of each sequence; heads and their size may be one dimension.
        key_cache: (blocks, tokens of a block, heads, size).
        value_cache: the same for the values; None where they are the first `mla_v_dim` elements of keys.
        block_tables: (sequences, most blocks): which blocks the tokens of a sequence are in.
        context_lens: how many tokens each sequence has.
        antiquant_scale: None.
        antiquant_offset: None.
        attn_mask: None.
        q_seq_lens: None.
        alibi_mask: added to the scores, of a shape that broadcasts with (sequences, heads, 1, tokens).

    Returns:
        Tensor: like `query`.
    """
    name = "PagedAttention"
    del kv_cache_quant_mode
    tensors(name, query=query, key_cache=key_cache)
    others = {"value_cache": value_cache, "block_tables": block_tables, "context_lens": context_lens}
    optional_tensors(name, **others, alibi_mask=alibi_mask)
    if any(x is not None for x in (antiquant_scale, antiquant_offset, attn_mask, q_seq_lens)) or (
        mask_mode != "MASK_DEFAULT"
    ):
        raise NotImplementedError(f"{name}: only floats, and one new token of each sequence, are computed")
    if block_tables is None or context_lens is None or (value_cache is None and not mla_v_dim):
        raise TypeError(f"{name}: blocks of keys and values, and lengths, are needed")
    count, most = block_tables.shape[0], block_tables.shape[1] * key_cache.shape[1]
    if query.size % (count * head_num):
        raise RuntimeError(f"{name}: queries {query.shape} are not one token of {count} sequences")
    tables = where(block_tables < 0, 0, block_tables)

    def gathered(cache: Tensor) -> Tensor:
        return cache[tables].reshape((count, most, kv_head_num, -1)).swapaxes(1, 2)

    keys = gathered(key_cache)
    values = keys[..., :mla_v_dim] if value_cache is None else gathered(value_cache)
    scores = _scores(query.reshape((count, head_num, 1, -1)), keys, None, scale_value)
    if alibi_mask is not None:
        scores = scores + alibi_mask.astype(scores.dtype)[..., :most]
    shares = softmax(_shown(scores, _among_first(arange(most), context_lens)), -1)
    out = _products(shares, values).astype(query.dtype)
    return out.reshape(query.shape if value_cache is not None else (*query.shape[:-1], -1))


operator_class(
    "PagedAttention",
    _paged_operator,
    "head_num, scale_value, kv_head_num, kv_cache_quant_mode='DEFAULT', mask_mode='MASK_DEFAULT', mla_v_dim=0",
)


def _paged_mask_operator(
    query: Any,
    key_cache: Any,
    value_cache: Any,
    block_tables: Any,
    context_lens: Any,
    antiquant_scale: Any = None,
    antiquant_offset: Any = None,
    alibi_mask: Any = None,
    **settings: Any,
) -> Any:
    """`PagedAttention` with something added to the scores."""
    caches = (key_cache, value_cache, block_tables, context_lens, antiquant_scale, antiquant_offset)
    return _paged_operator(query, *caches, alibi_mask=alibi_mask, mask_mode="MASK_DEFAULT", mla_v_dim=0, **settings)


operator_class(
    "PagedAttentionMask", _paged_mask_operator, "head_num, scale_value, kv_head_num, kv_cache_quant_mode='DEFAULT'"
)
