"""A pipeline of four stages over eight simulated devices, beside the same written by hand in JAX; see `bench.spread`.

By hand each stage has compiled functions for its forward pass, its backward pass, the sum of two gradients and the
update; they are called for micro batch after micro batch in the order 1F1B, and what goes on is moved by
`jax.device_put`.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import weft
from bench.measure import Result, printed, row, seconds, steady
from bench.spread import DEPTH, HEADS, LENGTH, WIDTH, WORDS, Block
from weft import nn
from weft.compile.schedule import Job, scheduled
from weft.context import set_auto_parallel_context
from weft.nn.parallel import Pipeline
from weft.parallel.layout import Layout, reshard

STAGES, BATCHES, ROWS = 4, 8, 32
_EACH: Final = DEPTH // STAGES


class Embed(nn.Cell):
    """Words as vectors."""

    def __init__(self, grid: Layout) -> None:
        super().__init__()
        table = np.random.default_rng(1).standard_normal((WORDS, WIDTH)).astype(np.float32) * 0.05
        self.table = weft.Parameter(weft.Tensor(table), name="embed")
        self.rows = grid("dp", "None", "None")

    def construct(self, tokens: Any) -> Any:
        return reshard(weft.ops.gather(self.table, tokens, 0), self.rows)


class Head(nn.Cell):
    """The loss of the next word."""

    def __init__(self) -> None:
        super().__init__()
        table = np.random.default_rng(2).standard_normal((WIDTH, WORDS)).astype(np.float32) * 0.05
        self.weight = weft.Parameter(weft.Tensor(table), name="head")

    def construct(self, x: Any, targets: Any) -> Any:
        scores = weft.ops.log_softmax(weft.ops.matmul(x, self.weight), -1)
        return -weft.ops.gather_elements(scores, 2, targets.expand_dims(-1)).mean()


class Model(nn.Cell):
    """Twelve blocks, three in each stage."""

    def __init__(self) -> None:
        super().__init__()
        grid = Layout((2, 1), ("dp", "mp"))
        self.embed, self.head = Embed(grid), Head()
        self.blocks = nn.CellList([Block(f"block{i}.", "dp", "mp", grid) for i in range(DEPTH)])
        self.embed.pipeline_stage, self.head.pipeline_stage = 0, STAGES - 1
        for i, block in enumerate(self.blocks):
            block.pipeline_stage = i // _EACH

    def construct(self, tokens: Any, targets: Any) -> Any:
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x, targets)


def _ours(batches: int) -> Callable[..., Any]:
    set_auto_parallel_context(
        parallel_mode="semi_auto_parallel", pipeline_stages=STAGES, dataset_strategy=((2, 1), (2, 1))
    )
    model = Model()
    step = nn.TrainOneStepCell(Pipeline(model, batches), nn.Adam(model.trainable_params(), 1e-3))
    return weft.jit(step)


def _norm(x: Any, gamma: Any, beta: Any) -> Any:
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5) * gamma + beta


def _block(p: dict[str, Any], x: Any) -> Any:
    qkv = jnp.einsum("blw,wkhd->kbhld", _norm(x, p["g1"], p["b1"]), p["qkv"])
    scores = jax.nn.softmax(qkv[0] @ qkv[1].transpose(0, 1, 3, 2) * (WIDTH // HEADS) ** -0.5)
    x = x + jnp.einsum("bhld,hdw->blw", scores @ qkv[2], p["out"])
    return x + jax.nn.relu(_norm(x, p["g2"], p["b2"]) @ p["up"]) @ p["down"]


class _ByHand:
    """The same by hand."""

    def __init__(self, batches: int) -> None:
        import optax

        self.batches = batches
        devices = np.array(jax.devices()).reshape(STAGES, 2)
        meshes = [Mesh(row, ("dp",)) for row in devices]
        self.rows = [NamedSharding(mesh, PartitionSpec("dp")) for mesh in meshes]
        self.whole = [NamedSharding(mesh, PartitionSpec()) for mesh in meshes]
        random = np.random.default_rng(0)
        shapes = {
            "qkv": (WIDTH, 3, HEADS, WIDTH // HEADS), "out": (HEADS, WIDTH // HEADS, WIDTH), "up": (WIDTH, 4 * WIDTH),
            "down": (4 * WIDTH, WIDTH),
        }  # fmt: skip

        def made(stage: int) -> dict[str, Any]:
            found: dict[str, Any] = {}
            for i in range(_EACH):
                weights = {n: (random.standard_normal(s) * 0.05).astype(np.float32) for n, s in shapes.items()}
                found[str(i)] = weights | {n: np.full(WIDTH, n[0] == "g", np.float32) for n in ("g1", "b1", "g2", "b2")}
            if stage == 0:
                found["embed"] = (random.standard_normal((WORDS, WIDTH)) * 0.05).astype(np.float32)
            if stage == STAGES - 1:
                found["head"] = (random.standard_normal((WIDTH, WORDS)) * 0.05).astype(np.float32)
            return {name: jax.device_put(value, self.whole[stage]) for name, value in found.items()}

        def run(p: dict[str, Any], x: Any) -> Any:
            x = p["embed"][x] if "embed" in p else x
            for i in range(_EACH):
                x = _block(p[str(i)], x)
            return x

        def last(p: dict[str, Any], x: Any, targets: Any) -> Any:
            scores = jax.nn.log_softmax(run(p, x) @ p["head"])
            return -jnp.take_along_axis(scores, targets[..., None], 2).mean()

        self.params = [made(stage) for stage in range(STAGES)]
        optimizer = optax.adam(1e-3)
        self.states = [jax.device_put(optimizer.init(p), self.whole[stage]) for stage, p in enumerate(self.params)]
        self.first = jax.jit(lambda p, x: jax.vjp(lambda q: run(q, x), p))
        self.forward = jax.jit(lambda p, x: jax.vjp(run, p, x))
        self.last = jax.jit(jax.value_and_grad(last, (0, 1)))
        self.backward = jax.jit(lambda pull, dx: pull(dx))
        self.add = jax.jit(lambda a, b: jax.tree.map(jnp.add, a, b), donate_argnums=0)

        def update(p: Any, state: Any, gradients: Any) -> Any:
            updates, state = optimizer.update(gradients, state)
            return optax.apply_updates(p, updates), state

        self.update = jax.jit(update, donate_argnums=(0, 1))
        ways = [(s, s > STAGES - 1) for s in range(STAGES)] + [(s, True) for s in reversed(range(STAGES - 1))]
        jobs = [
            Job(stage, micro, returns, {micro * len(ways) + i - 1} if i else set())
            for micro in range(batches)
            for i, (stage, returns) in enumerate(ways)
        ]
        self.order = [(jobs[n].stage, jobs[n].micro or 0, jobs[n].returns) for n in scheduled(jobs, STAGES, "1f1b")]

    def __call__(self, tokens: Any, targets: Any) -> Any:
        parts = [np.split(value, self.batches) for value in (tokens, targets)]
        at: dict[int, Any] = {}
        pulls: dict[tuple[int, int], Any] = {}
        sums: list[Any] = [None] * STAGES
        losses = []
        for stage, micro, returns in self.order:
            if returns:
                gradients, *dx = self.backward(pulls.pop((stage, micro)), at[micro])
                if stage:
                    at[micro] = jax.device_put(dx[0], self.rows[stage - 1])
            elif stage == 0:
                y, pulls[stage, micro] = self.first(self.params[0], jax.device_put(parts[0][micro], self.rows[0]))
                at[micro] = jax.device_put(y, self.rows[1])
                continue
            elif stage < STAGES - 1:
                y, pulls[stage, micro] = self.forward(self.params[stage], at[micro])
                at[micro] = jax.device_put(y, self.rows[stage + 1])
                continue
            else:
                labels = jax.device_put(parts[1][micro], self.rows[stage])
                loss, (gradients, dx) = self.last(self.params[stage], at[micro], labels)
                losses.append(loss)
                at[micro] = jax.device_put(dx, self.rows[stage - 1])
            sums[stage] = gradients if sums[stage] is None else self.add(sums[stage], gradients)
        for stage in range(STAGES):
            self.params[stage], self.states[stage] = self.update(self.params[stage], self.states[stage], sums[stage])
        return sum(losses)


def _batch() -> list[Any]:
    random = np.random.default_rng(0)
    return [random.integers(0, WORDS, (ROWS, LENGTH)).astype(np.int32) for _ in range(2)]


def _step(repeat: int) -> Result:
    values = _batch()
    ours, theirs = _ours(BATCHES), _ByHand(BATCHES)
    tensors = [weft.Tensor(value) for value in values]
    for _ in range(2):
        ours(*tensors)
        theirs(*values)
    return steady(lambda: ours(*tensors), lambda: theirs(*values), repeat)


def _first_call(batches: int) -> float:
    tensors = [weft.Tensor(value) for value in _batch()]
    weft.jit(lambda x: x + 1)(tensors[0])
    ours = _ours(batches)
    rows = ROWS // 16 * batches  # micro batches of one size
    begun = time.perf_counter()
    ours(*[tensor[:rows] for tensor in tensors])
    return time.perf_counter() - begun


def main(name: str, repeat: int) -> None:
    """Measure a row in this process, and print it.

    Args:
        name: of the row.
        repeat: how often.
    """
    if name == "step":
        found = _step(repeat)
        print(json.dumps([found.ratio, found.ours, found.reference]))
    else:
        print(_first_call(int(name)))


def _measured(name: str, repeat: int, **variables: str) -> Any:
    command = f"from bench import pipeline; pipeline.main({name!r}, {repeat})"
    return json.loads(printed(command, WEFT_DEVICES="8", **variables).splitlines()[-1])


@row("8 devices: transformer of 12 blocks, pipeline of 4 stages x 8 micro-batches", 1.05)
def pipeline_step(repeat: int) -> Result:
    return Result(*_measured("step", repeat))


@row("8 devices: pipeline of 4 stages x 16 micro-batches, first call, over 1 micro-batch", 1.5)
def pipeline_first_call(repeat: int) -> Result:
    del repeat
    many, one = [min(_measured(str(n), 1, MS_COMPILER_CACHE_ENABLE="0") for _ in range(2)) for n in (16, 1)]
    return Result(many / one, seconds(many), seconds(one))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
