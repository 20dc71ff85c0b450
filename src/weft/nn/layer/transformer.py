"""Attention and the encoder blocks made of it."""

from __future__ import annotations

import copy
import math
from typing import Any, ClassVar

from weft import dtypes
from weft.core import Parameter, Tensor
from weft.nn.cell import Cell
from weft.nn.declared import Described, positive_int
from weft.nn.initializer import XavierUniform, initializer
from weft.nn.layer.basic import Dense, Dropout
from weft.nn.layer.container import CellList
from weft.nn.layer.normalization import LayerNorm
from weft.ops.activation import gelu, relu, softmax
from weft.ops.dropout import dropout as drop
from weft.ops.matmul import dense, matmul
from weft.ops.select import where


class MultiheadAttention(Cell):
    """Attention in several subspaces: each position of `query` gathers from `value` where `key` agrees with it.

    Args:
        embed_dim: size of the vectors; divides into the heads.
        num_heads: number of subspaces.
        dropout: probability of ignoring a position, while training.
        has_bias: whether the projections have biases.
        kdim: size of the keys; None is `embed_dim`.
        vdim: size of the values; None is `embed_dim`.
        batch_first: inputs are (N, L, E) instead of (L, N, E).
        dtype: element type of the parameters.

    Example:
        >>> import weft
        >>> x = weft.ops.ones((5, 2, 8), weft.float32)
        >>> out, weights = MultiheadAttention(8, 2)(x, x, x)
        >>> out.shape, weights.shape
        ((5, 2, 8), (2, 5, 5))
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        has_bias: bool = True,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        dtype: Any = dtypes.float32,
    ) -> None:
        super().__init__()
        self.embed_dim = positive_int("MultiheadAttention", "embed_dim", embed_dim)
        self.num_heads = positive_int("MultiheadAttention", "num_heads", num_heads)
        if embed_dim % num_heads:
            raise ValueError(f"MultiheadAttention: embed_dim {embed_dim} does not divide into {num_heads} heads")
        self.dropout = float(dropout)
        self.has_bias = has_bias
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        self.joint = self.kdim == self.vdim == embed_dim
        shapes = {"in_proj_weight": (3 * embed_dim, embed_dim)}
        if not self.joint:
            sizes = {"q": embed_dim, "k": self.kdim, "v": self.vdim}
            shapes = {f"{which}_proj_weight": (embed_dim, size) for which, size in sizes.items()}
        for name, shape in shapes.items():
            setattr(self, name, Parameter(initializer(XavierUniform(), shape, dtype), name=name))
        self.in_proj_bias: Any = None
        if has_bias:
            self.in_proj_bias = Parameter(initializer("zeros", (3 * embed_dim,), dtype), name="in_proj_bias")
        self.out_proj = Dense(embed_dim, embed_dim, bias_init="zeros", has_bias=has_bias, dtype=dtype)

    def _heads(self, x: Tensor, which: int) -> Any:
        """A projection as (N, heads, L, head size)."""
        rows = slice(which * self.embed_dim, (which + 1) * self.embed_dim)
        weight = self.in_proj_weight[rows] if self.joint else getattr(self, f"{'qkv'[which]}_proj_weight")
        bias = None if self.in_proj_bias is None else self.in_proj_bias[rows]
        projected = dense(x, weight, bias)
        batch, length = projected.shape[:2]
        return projected.reshape(batch, length, self.num_heads, self.head_dim).swapaxes(1, 2)

    def construct(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Any = None,
        need_weights: bool = True,
        attn_mask: Any = None,
        average_attn_weights: bool = True,
    ) -> Any:
        inputs: list[Any] = [query, key, value]
        alone = query.ndim == 2
        if alone:
            inputs = [x.expand_dims(0) for x in inputs]
        elif not self.batch_first:
            inputs = [x.swapaxes(0, 1) for x in inputs]
        q, k, v = (self._heads(x, which) for which, x in enumerate(inputs))
        scores = matmul(q * (1.0 / math.sqrt(self.head_dim)), k.swapaxes(-1, -2))
        if attn_mask is not None:
            scores = _masked(scores, attn_mask.reshape(scores.shape) if attn_mask.ndim == 3 else attn_mask)
        if key_padding_mask is not None:
            scores = _masked(scores, key_padding_mask.reshape(-1, 1, 1, key_padding_mask.shape[-1]))
        weights = softmax(scores, -1)
        dropped = drop(weights, self.dropout, True) if self.dropout and self.training else weights
        out = matmul(dropped, v).swapaxes(1, 2)
        out = self.out_proj(out.reshape(out.shape[0], out.shape[1], self.embed_dim))
        shown = weights.mean(1) if average_attn_weights else weights
        if alone:
            out, shown = out[0], shown[0]
        elif not self.batch_first:
            out = out.swapaxes(0, 1)
        return (out, shown) if need_weights else (out, None)


def _masked(scores: Any, mask: Any) -> Any:
    """Scores without the positions where a bool mask is True, or with a floating mask added."""
    if mask.dtype is dtypes.bool_:
        return where(mask, Tensor(float("-inf"), scores.dtype), scores)
    return scores + mask.astype(scores.dtype)


def _activation(given: Any) -> Any:
    """The function that is meant: one is itself, names are ``"relu"`` and ``"gelu"`` (the exact one)."""
    if not isinstance(given, str):
        return given
    found = {"relu": relu, "gelu": gelu}.get(given)
    if found is None:
        raise ValueError(f"activation must be 'relu', 'gelu' or a function, not {given!r}")
    return found


class _OfAttention(Described, Cell):
    """Base of what encoders and decoders are made of.

    Args:
        d_model: size of the vectors.
        nhead: number of attention heads.
        dim_feedforward: size between the dense layers.
        dropout: probability of zero, while training.
        activation: name of the activation between the dense layers, a Cell, or a function.
        layer_norm_eps: added to the variance.
        batch_first: inputs are (N, L, E) instead of (L, N, E).
        norm_first: normalise before the parts instead of after them.
        dtype: element type of the parameters.
        num_layers: how many.
        norm: applied at the end, or None.
    """

    _example = """
        >>> import weft
        >>> x, memory = weft.ops.ones((5, 2, 8)), weft.ops.ones((3, 2, 8))
        >>> {name}({})({}).shape
        (5, 2, 8)
    """


class _Layer(_OfAttention):
    """Base: attention and two dense layers, each with a residual and a normalisation."""

    #: whether it also looks at what an encoder gave
    _decodes: ClassVar[bool] = False

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        dtype: Any = dtypes.float32,
    ) -> None:
        super().__init__()
        for name in ("self_attn", "multihead_attn") if self._decodes else ("self_attn",):
            setattr(self, name, MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first, dtype=dtype))
        self.dense1 = Dense(d_model, dim_feedforward, dtype=dtype)
        self.dropout = Dropout(p=dropout)
        self.dense2 = Dense(dim_feedforward, d_model, dtype=dtype)
        self.norm_first = norm_first
        numbers = "123" if self._decodes else "12"
        for number in numbers:
            setattr(self, f"norm{number}", LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype))
        for number in numbers:
            setattr(self, f"dropout{number}", Dropout(p=dropout))
        self.activation: Any = _activation(activation)

    def _through(self, x: Tensor, *parts: tuple[Any, ...]) -> Any:
        """What comes out behind parts (method, arguments...), each with its residual and its normalisation."""
        for number, (part, *given) in enumerate(parts, 1):
            norm, dropout = getattr(self, f"norm{number}"), getattr(self, f"dropout{number}")
            x = x + dropout(part(norm(x), *given)) if self.norm_first else norm(x + dropout(part(x, *given)))
        return x

    def _attend(self, x: Tensor, mask: Any, padding: Any) -> Any:
        return self.self_attn(x, x, x, padding, False, mask)[0]

    def _feed_forward(self, x: Tensor) -> Any:
        return self.dense2(self.dropout(self.activation(self.dense1(x))))


class _Layers(_OfAttention):
    """Base: layers one after the other."""

    def __init__(self, layer: Cell, num_layers: int, norm: Cell | None = None) -> None:
        super().__init__()
        self.num_layers = positive_int(type(self).__name__, "num_layers", num_layers)
        self.layers = CellList([copy.deepcopy(layer) for _ in range(num_layers)])
        self.norm = norm

    def _through(self, x: Tensor, *others: Any) -> Tensor:
        for layer in self.layers:
            x = layer(x, *others)
        return x if self.norm is None else self.norm(x)


class TransformerEncoderLayer(_Layer, shows=("8, 2, 16", "x")):
    """Self-attention and two dense layers, each with a residual and a normalisation."""

    def construct(self, src: Tensor, src_mask: Any = None, src_key_padding_mask: Any = None) -> Tensor:
        return self._through(src, (self._attend, src_mask, src_key_padding_mask), (self._feed_forward,))


class TransformerEncoder(_Layers, shows=("TransformerEncoderLayer(8, 2, 16), 2", "x")):
    """Encoder layers one after the other.

    Args:
        encoder_layer: the layer, which is copied.
    """

    def __init__(self, encoder_layer: Cell, num_layers: int, norm: Cell | None = None) -> None:
        super().__init__(encoder_layer, num_layers, norm)

    def construct(self, src: Tensor, src_mask: Any = None, src_key_padding_mask: Any = None) -> Tensor:
        return self._through(src, src_mask, src_key_padding_mask)


class TransformerDecoderLayer(_Layer, decodes=True, shows=("8, 2, 16", "x, memory")):
    """Self-attention, attention to what an encoder gave, and two dense layers, each with a residual and a
    normalisation.
    """

    def construct(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
    ) -> Tensor:
        itself = self._attend, tgt_mask, tgt_key_padding_mask
        looking = self._look_at, memory, memory_mask, memory_key_padding_mask
        return self._through(tgt, itself, looking, (self._feed_forward,))

    def _look_at(self, x: Tensor, memory: Tensor, mask: Any, padding: Any) -> Any:
        return self.multihead_attn(x, memory, memory, padding, False, mask)[0]


class TransformerDecoder(_Layers, shows=("TransformerDecoderLayer(8, 2, 16), 2", "x, memory")):
    """Decoder layers one after the other.

    Args:
        decoder_layer: the layer, which is copied.
    """

    def __init__(self, decoder_layer: Cell, num_layers: int, norm: Cell | None = None) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def construct(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
    ) -> Tensor:
        masks = tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask
        return self._through(tgt, memory, *masks)


class Transformer(_OfAttention, shows=("8, 2, 1, 1, 16", "memory, x")):
    """An encoder and a decoder of sequences.

    Args:
        num_encoder_layers: layers of the encoder.
        num_decoder_layers: layers of the decoder.
        custom_encoder: in place of the encoder.
        custom_decoder: in place of the decoder.

    Raises:
        ValueError: the batches or the sizes of the inputs do not fit.
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = "relu",
        custom_encoder: Cell | None = None,
        custom_decoder: Cell | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        dtype: Any = dtypes.float32,
    ) -> None:
        super().__init__()
        settings: Any = (dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, dtype)
        norm = LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)
        self.encoder: Any = custom_encoder
        self.decoder: Any = custom_decoder
        if custom_encoder is None:
            layer: Cell = TransformerEncoderLayer(d_model, nhead, *settings)
            self.encoder = TransformerEncoder(layer, num_encoder_layers, norm)
        if custom_decoder is None:
            layer = TransformerDecoderLayer(d_model, nhead, *settings)
            self.decoder = TransformerDecoder(layer, num_decoder_layers, copy.deepcopy(norm))
        for _, param in self.parameters_and_names():
            if param.ndim > 1:
                param.set_data(initializer("xavier_uniform", param.shape, param.dtype))
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def construct(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Any = None,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        src_key_padding_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
    ) -> Tensor:
        batch = 0 if self.batch_first else 1
        if src.ndim != tgt.ndim or (src.ndim == 3 and src.shape[batch] != tgt.shape[batch]):
            raise ValueError(f"Transformer: the batches of {src.shape} and {tgt.shape} differ")
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise ValueError(f"Transformer: {src.shape} and {tgt.shape} must end with d_model = {self.d_model}")
        memory = self.encoder(src, src_mask, src_key_padding_mask)
        masks = tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask
        return self.decoder(tgt, memory, *masks)
