from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from weft import Tensor, lazy_inline, nn, ops


class Inner(nn.Cell):
    @lazy_inline
    def __init__(self, width: int, act: str = "relu") -> None:
        super().__init__()
        self.dense = nn.Dense(width, width)
        self.norm = nn.LayerNorm((width,))
        self.act = act

    def construct(self, x: Any) -> Any:
        x = self.norm(self.dense(ops.sin(x) * 3 + 1)) - ops.cos(x)
        return ops.relu(x) if self.act == "relu" else ops.tanh(x)


class Outer(nn.Cell):
    @lazy_inline
    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        self.inner = nn.CellList([Inner(width) for _ in range(depth)])
        self.out = nn.Dense(width, width)

    def construct(self, x: Any) -> Any:
        for inner in self.inner:
            x = inner(x)
        return self.out(x) + x


class Model(nn.Cell):
    def __init__(self, blocks: list[Any]) -> None:
        super().__init__()
        self.blocks = nn.CellList(blocks)

    def construct(self, x: Any) -> Any:
        for block in self.blocks:
            x = block(x)
        return x


X = Tensor(np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4))


def parts(function: Any) -> list[int]:
    return [made.compilation.parts for made in function.report().compilations]


def check(net: Any) -> list[int]:
    """Values and gradients, taken inside and outside; how many executables the call was compiled to."""

    def loss(x: Any) -> Any:
        return (net(x) ** 2).sum()

    weights = net.trainable_params()
    compiled = weft.jit(loss)
    for x in (X, X * 2):
        np.testing.assert_allclose(compiled(x).asnumpy(), loss(x).asnumpy(), rtol=1e-4)
        expected = weft.value_and_grad(loss, 0, weights)(x)
        for found in (weft.value_and_grad(compiled, 0, weights)(x), weft.jit(weft.value_and_grad(loss, 0, weights))(x)):
            np.testing.assert_allclose(found[1][0].asnumpy(), expected[1][0].asnumpy(), rtol=1e-3, atol=1e-4)
            for a, b in zip(found[1][1], expected[1][1], strict=True):
                np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-3, atol=1e-4)
    return parts(compiled)


def test_blocks_share_their_graph() -> None:
    made = check(Model([Inner(4) for _ in range(6)]))
    assert all(1 < count <= 4 for count in made)


def test_blocks_inside_of_blocks_share_theirs() -> None:
    made = check(Model([Outer(4, 3) for _ in range(4)]))
    assert all(1 < count <= 6 for count in made)


def test_a_block_that_was_changed_has_a_graph_of_its_own() -> None:
    blocks = [Inner(4) for _ in range(6)]
    blocks[3].act = "tanh"
    assert len({block.cell_init_args for block in blocks}) == 1
    check(Model(blocks))
    blocks[0].dense = nn.Dense(4, 4, has_bias=False)
    check(Model(blocks))


def test_one_block_called_for_each_micro_batch() -> None:
    block = Outer(4, 3)

    def loss(xs: Any) -> Any:
        total = 0
        for i in range(4):
            total = total + (block(xs[i]) ** 2).sum()
        return total

    weights = block.trainable_params()
    xs = Tensor(np.random.default_rng(0).normal(size=(4, 2, 4)).astype(np.float32))
    compiled = weft.jit(weft.value_and_grad(loss, None, weights))
    found, expected = compiled(xs), weft.value_and_grad(loss, None, weights)(xs)
    np.testing.assert_allclose(found[0].asnumpy(), expected[0].asnumpy(), rtol=1e-4)
    for a, b in zip(found[1], expected[1], strict=True):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-3, atol=1e-4)


def test_other_graphs_of_the_process_stay_whole() -> None:
    check(Model([Inner(4) for _ in range(3)]))
    plain = weft.jit(lambda x: ops.tanh(ops.tanh(ops.tanh(ops.tanh(x * 2) * 2) * 2) * 2))
    plain(X)
    assert parts(plain) == [1]


def test_what_tells_how_a_cell_was_made() -> None:
    assert Inner(4).cell_init_args == Inner(width=4, act="relu").cell_init_args == "Inner(width=4, act='relu')"
    assert Inner(4).cell_init_args != Inner(4, "tanh").cell_init_args
    assert nn.ReLU().cell_init_args == "ReLU"


def test_attributes_may_belong_to_it() -> None:
    class Block(nn.Cell):
        @lazy_inline(attrs=["kind"], policy="front")
        def __init__(self, kind: int) -> None:
            super().__init__()
            self.kind = kind * 2

    assert Block(1).cell_init_args == "Block(kind=2)"


def test_hooks_and_casts_of_blocks_work() -> None:
    block = Inner(4)
    block.register_forward_hook(lambda cell, inputs, output: output + 1)
    block.to_float(weft.float16)
    compiled = weft.jit(lambda x: block(x))
    np.testing.assert_allclose(compiled(X).asnumpy(), block(X).asnumpy(), rtol=1e-2, atol=1e-2)


def test_wrong_uses_are_errors() -> None:
    with pytest.raises(TypeError, match="decorates the __init__ of a Cell, not int"):
        lazy_inline(3)
    with pytest.raises(TypeError, match="attrs takes names of attributes, not 3"):
        lazy_inline(attrs=3)
    with pytest.raises(ValueError, match="policy takes None or 'front', not 'back'"):
        lazy_inline(policy="back")

    class NoCell:
        @lazy_inline
        def __init__(self) -> None:
            pass

    with pytest.raises(TypeError, match="decorates the __init__ of a Cell, not of NoCell"):
        NoCell()
