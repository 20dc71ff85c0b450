"""A transformer as users write it."""

from __future__ import annotations

from typing import Any

import weft
from weft import nn, ops


class Attention(nn.Cell):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads, self.scale = heads, (width // heads) ** -0.5
        self.query, self.key, self.value = nn.Dense(width, width), nn.Dense(width, width), nn.Dense(width, width)
        self.out = nn.Dense(width, width)

    def split(self, x: Any) -> Any:
        batch, length, width = x.shape
        return x.reshape(batch, length, self.heads, width // self.heads).transpose(0, 2, 1, 3)

    def construct(self, x: Any, mask: Any) -> Any:
        query, key, value = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = ops.matmul(query, key.transpose(0, 1, 3, 2)) * self.scale
        if mask is not None:
            scores = scores + mask
        mixed = ops.matmul(ops.softmax(scores, -1), value)
        return self.out(mixed.transpose(0, 2, 1, 3).reshape(x.shape))


class Block(nn.Cell):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm((width,)), nn.LayerNorm((width,))
        self.attention = Attention(width, heads)
        self.up, self.act, self.down = nn.Dense(width, 4 * width), nn.GELU(), nn.Dense(4 * width, width)

    def construct(self, x: Any, mask: Any) -> Any:
        x = x + self.attention(self.norm1(x), mask)
        return x + self.down(self.act(self.up(self.norm2(x))))


class LazyBlock(Block):
    @weft.lazy_inline
    def __init__(self, width: int, heads: int) -> None:
        super().__init__(width, heads)


class Transformer(nn.Cell):
    """A language model of equal blocks over 100 tokens.

    Args:
        depth: how many blocks.
        width: size of the vectors.
        heads: of the attention.
        block: the class of the blocks.
    """

    def __init__(self, depth: int, width: int, heads: int, block: type[Block] = Block) -> None:
        super().__init__()
        self.embed = nn.Embedding(100, width)
        self.blocks = nn.CellList([block(width, heads) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm((width,)), nn.Dense(width, 100)

    def construct(self, tokens: Any) -> Any:
        x = self.embed(tokens)
        length = tokens.shape[1]
        mask = ops.triu(ops.full((length, length), -1e9, dtype=weft.float32), 1)
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x))
