"""One graph for all sizes: programs whose tensors change their sizes from call to call, against eager code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import Parameter, Tensor, ops
from weft.explain.explain import report_of

SHAPES = [(2, 3), (4, 5), (7, 3), (3, 9), (8, 8), (5, 12), (6, 2), (1, 4), (5, 1), (9, 16), (4, 5)]
POLICIES: dict[str, dict[str, Any]] = {"auto": {}, "full": {"fullgraph": True}, "bytecode": {"mode": "PIJit"}}
WEIGHT = Parameter(Tensor(np.linspace(-1, 1, 64, dtype=np.float32).reshape(64, 1)), name="weight")


def same(compiled: Any, eager: Any) -> None:
    """Values of equal kinds, shapes, element types and contents."""
    assert type(compiled) is type(eager)
    if isinstance(eager, Tensor):
        assert compiled.shape == eager.shape
        assert compiled.dtype == eager.dtype
        np.testing.assert_allclose(compiled.asnumpy(), eager.asnumpy(), rtol=2e-5, atol=2e-5)
    elif isinstance(eager, (tuple, list)):
        assert len(compiled) == len(eager)
        for one, other in zip(compiled, eager, strict=True):
            same(one, other)
    else:
        assert compiled == eager


def tensor(shape: tuple[int, ...], seed: int = 0) -> Tensor:
    """Random numbers."""
    return Tensor(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def loss(x: Any) -> Any:
    """A loss with labels of the size of the batch."""
    return ops.cross_entropy(x, ops.zeros((x.shape[0],), weft.int32))


def flat_loss(x: Any) -> Any:
    """Merged axes."""
    y = ops.stack([x, x * 2, x + 1], -1)
    return ops.cross_entropy(y.reshape(-1, 3), ops.zeros((x.size,), weft.int32))


def attention(x: Any) -> Any:
    """Scores of each row with each row, those that come later left out."""
    length = x.shape[0]
    scores = ops.matmul(x, x.T) / x.shape[1] ** 0.5
    later = ops.triu(ops.ones((length, length)), 1)
    return ops.matmul(ops.softmax(ops.where(later == 1, Tensor(-1e9), scores), -1), x)


def written(x: Any) -> Any:
    """Writes through views."""
    y = x.copy()
    y[0] = 1
    y[:, -1:] *= 2
    z = y.reshape(-1)
    z[0] = 7
    return y, z


def in_a_loop(x: Any) -> Any:
    """A loop whose end depends on a tensor."""
    while x.sum() < 10:
        x = x + ops.ones(x.shape)
    return x, x.shape


def on_a_side(x: Any) -> Any:
    """A branch on a tensor, with sizes inside."""
    y = x * x.shape[0] if x.sum() > 0 else x - x.shape[1]
    return y, y.shape[0] + 1


def rows(x: Any) -> Any:
    """A gradient inside."""
    return weft.grad(lambda y: (ops.softmax(y, -1) ** 2).sum() / y.shape[0])(x)


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "elementwise": lambda x: ops.relu(x) + 1,
    "sizes": lambda x: (x.shape[0] * 2, x.shape, x * x.shape[1], x.ndim),
    "softmax": lambda x: ops.softmax(x, -1),
    "flattened": lambda x: x.reshape(-1) * 2,
    "merged": lambda x: x.reshape(x.shape[0] * x.shape[1], 1),
    "split": lambda x: ops.concat([x, x], 1).reshape(x.shape[0], 2, x.shape[1]).sum(1),
    "gram": lambda x: ops.matmul(x, x.T),
    "means": lambda x: (x.mean(0), x.mean(), x.std(1)),
    "zeros": lambda x: ops.zeros((x.shape[0], 3)) + x.sum(),
    "joined": lambda x: ops.concat([x, x], 0),
    "sliced": lambda x: x[:, :1] + x[:, -1:],
    "first": lambda x: (x[0], x[-1], x[None], x[..., 0]),
    "shifted": lambda x: x[:-1].sum() + x[1:].sum(),
    "positions": lambda x: x + WEIGHT[: x.shape[1]].T,
    "strided": lambda x: x[::2],
    "reversed": lambda x: x[::-1],
    "range": lambda x: ops.arange(x.shape[1]) + x[0],
    "triangle": lambda x: ops.tril(ops.ones((x.shape[1], x.shape[1]))),
    "one hot": lambda x: ops.one_hot(ops.argmax(x, 0), x.shape[0], Tensor(1.0), Tensor(0.0)),
    "number": lambda x: x.sum() / x.size,
    "length": lambda x: (len(x), x * len(x)),
    "text": lambda x: f"{x.shape[0]} rows",
    "comparison": lambda x: x.shape[0] == x.shape[1],
    "sorted": lambda x: ops.sort(x, 0)[0],
    "largest": lambda x: x.max(),
    "cumulated": lambda x: ops.cumsum(x, 1),
    "tiled": lambda x: ops.tile(x, (2, 1)),
    "repeated": lambda x: ops.broadcast_to(x[:1], (x.shape[0], x.shape[1])),
    "split in two": lambda x: ops.split(ops.concat([x, x]), x.shape[0]),
    "list": lambda x: [x, x.T, {"n": x.shape}["n"]],
    "loss": loss,
    "flat loss": flat_loss,
    "gradient": rows,
    "attention": attention,
    "written": written,
    "loop": in_a_loop,
    "branch": on_a_side,
    "mapped": lambda x: weft.vmap(lambda row: row * row.shape[0] + row.sum())(x),
    "random": lambda x: ops.dropout(x, 0.0) + ops.zeros_like(x),
    "padded": lambda x: ops.pad(x, (1, 2)),
    "normalised": lambda x: ops.layer_norm(x.T, (x.shape[0],), ops.ones((x.shape[0],)), ops.zeros((x.shape[0],))),
}
#: programs that need to know sizes, with how many graphs they take at most
SPECIAL = {
    "text": len(SHAPES), "strided": len(SHAPES), "comparison": 4, "split in two": len(SHAPES), "positions": 3,
    "one hot": 3,
}  # fmt: skip


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_is_eager_for_all_sizes(name: str, policy: str) -> None:
    program = PROGRAMS[name]
    compiled = weft.jit(program, **POLICIES[policy])
    for number, shape in enumerate(SHAPES):
        x = tensor(shape, number)
        same(compiled(x), program(x))
    report = report_of(compiled)
    captured = [graph for graph in report.graphs if graph.operations]
    assert len(captured) <= SPECIAL.get(name, 5), report
