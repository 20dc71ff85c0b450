"""Embedding layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft import dtypes
from weft.core import Parameter, Tensor
from weft.nn.declared import Shown, positive_int, with_operators
from weft.nn.initializer import initializer
from weft.ops import operations
from weft.ops._checks import one_of
from weft.ops.embedding import embedding, one_hot
from weft.ops.matmul import matmul
from weft.ops.shape import reshape
from weft.parallel.modes import is_in_auto_parallel_mode
from weft.parallel.strategies import spread


def _spread_rows(layer: Any, operator: Any, ids: Tensor, rows: Callable[[Any, Tensor], Tensor]) -> Tensor:
    """What a layer looks up, as the strategy of an operator spreads it: that is for the table and the indices, and for
    the rows, of the shape of the indices or flat.
    """
    inside, outside = operator._strategy or (None, None)
    table, given = layer.embedding_table, ids
    if inside and is_in_auto_parallel_mode():
        flat = len(inside) > 1 and isinstance(inside[1], tuple) and len(inside[1]) == 1
        given = ids.reshape(-1) if flat else ids
        table, given = spread(operator.name, (table, given), inside, ("vd", "i" if flat else "*i"))
    out = rows(table, given.reshape(ids.shape))
    if outside and is_in_auto_parallel_mode():
        flat = isinstance(outside[0], tuple) and len(outside[0]) == 2
        found = out.reshape(-1, out.shape[-1]) if flat else out
        out = spread(operator.name, (found,), outside[:1], (), "result")[0].reshape(out.shape)
    return out


class _Table(Shown):
    """Base: looks up rows of a trained table.

    Args:
        vocab_size: number of rows.
        embedding_size: length of a row.
        dtype: element type of the table.
    """

    def __init__(self, vocab_size: int, embedding_size: int) -> None:
        super().__init__()
        name = type(self).__name__
        self.vocab_size = positive_int(name, "vocab_size", vocab_size)
        self.embedding_size = positive_int(name, "embedding_size", embedding_size)


@with_operators(
    gather=lambda layer: operations.Gather(),
    expand=lambda layer: operations.ExpandDims(),
    reshape_flat=lambda layer: operations.Reshape(),
    one_hot=lambda layer: operations.OneHot(),
    array_mul=lambda layer: operations.MatMul(),
)
class Embedding(_Table, shows=("Embedding(10, 4)(Tensor([[1, 2, 3]])).shape", "(1, 3, 4)")):
    """Looks up rows of a trained table.

    Args:
        use_one_hot: compute by multiplication with one-hot vectors.
        embedding_table: initializer of the table.
        padding_idx: a row that starts at zero and gets no gradient.
    """

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        use_one_hot: bool = False,
        embedding_table: Any = "normal",
        dtype: Any = dtypes.float32,
        padding_idx: int | None = None,
    ) -> None:
        super().__init__(vocab_size, embedding_size)
        self.use_one_hot = use_one_hot
        self.dtype = dtypes.of(dtype)
        self.padding_idx = padding_idx
        self.init_tensor = initializer(embedding_table, (vocab_size, embedding_size), dtype)
        if padding_idx is not None:
            if isinstance(padding_idx, bool) or not 0 <= padding_idx < vocab_size:
                raise ValueError(f"Embedding: padding_idx must be in [0, {vocab_size}), not {padding_idx!r}")
            values = np.array(self.init_tensor)
            values[padding_idx] = 0
            self.init_tensor = Tensor(values)
        self.embedding_table = Parameter(self.init_tensor, name="embedding_table")

    def construct(self, ids: Tensor) -> Tensor:
        return self._rows(self.embedding_table, ids)

    def _by_operators(self, ids: Tensor) -> Tensor:
        return _spread_rows(self, self.gather, ids, self._rows)

    def _with_own(self, ids: Tensor) -> Tensor:
        flat = self.reshape_flat(ids, (-1,))
        if self.use_one_hot:
            hot = self.one_hot(flat, self.vocab_size, Tensor(1, self.dtype), Tensor(0, self.dtype))
            rows = self.array_mul(hot, self.embedding_table)
        else:
            rows = self.gather(self.embedding_table, flat, 0)
        return reshape(rows, (*ids.shape, self.embedding_size))

    def _rows(self, table: Any, ids: Tensor) -> Tensor:
        if not self.use_one_hot:
            return embedding(ids, table, self.padding_idx)
        hot = one_hot(ids, self.vocab_size, Tensor(1, self.dtype), Tensor(0, self.dtype))
        return matmul(hot, table)

    def extend_repr(self) -> str:
        return (
            f"vocab_size={self.vocab_size}, embedding_size={self.embedding_size}, use_one_hot={self.use_one_hot}, "
            f"embedding_table={self.embedding_table!r}, dtype={self.dtype}, padding_idx={self.padding_idx}"
        )


@with_operators(gatherv2=lambda layer: operations.Gather(), embeddinglookup=lambda layer: operations.EmbeddingLookup())
class EmbeddingLookup(_Table, shows=("EmbeddingLookup(10, 4)(Tensor([1, 2])).shape", "(2, 4)")):
    """Looks up rows of a trained table; indices outside of it give zeros.

    Args:
        param_init: initializer of the table.
        target: kept: where MindSpore looks up.
        slice_mode: kept: how MindSpore parts the table among devices; one of the constants of the class.
        manual_shapes: kept.
        max_norm: rescale longer rows to this norm.
        sparse: kept.
        vocab_cache_size: kept.
    """

    BATCH_SLICE = "batch_slice"
    FIELD_SLICE = "field_slice"
    TABLE_ROW_SLICE = "table_row_slice"
    TABLE_COLUMN_SLICE = "table_column_slice"

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        param_init: Any = "normal",
        target: str = "CPU",
        slice_mode: str = "batch_slice",
        manual_shapes: Any = None,
        max_norm: float | None = None,
        sparse: bool = True,
        vocab_cache_size: int = 0,
        dtype: Any = dtypes.float32,
    ) -> None:
        super().__init__(vocab_size, embedding_size)
        one_of("EmbeddingLookup", ("CPU", "DEVICE"), target=target)
        modes = (self.BATCH_SLICE, self.FIELD_SLICE, self.TABLE_ROW_SLICE, self.TABLE_COLUMN_SLICE)
        one_of("EmbeddingLookup", modes, slice_mode=slice_mode)
        self.max_norm = max_norm
        table = initializer(param_init, (vocab_size, embedding_size), dtype)
        self.embedding_table = Parameter(table, name="embedding_table")

    def construct(self, indices: Tensor) -> Tensor:
        return self._rows(self.embedding_table, indices)

    def _by_operators(self, indices: Tensor) -> Tensor:
        return _spread_rows(self, self.gatherv2, indices, self._rows)

    def _with_own(self, indices: Tensor) -> Tensor:
        found = self.embeddinglookup if "embeddinglookup" in self.__dict__ else self.gatherv2
        return found(self.embedding_table, indices, 0)

    def _rows(self, table: Any, indices: Tensor) -> Tensor:
        return embedding(indices, table, max_norm=self.max_norm)
