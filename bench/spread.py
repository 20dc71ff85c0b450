"""Steps over eight simulated devices, each beside the same step written by hand in JAX with the same shardings.

Each row is measured in a process of its own: how many devices a processor stands for is decided when it begins.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import weft
from bench.lenet import BATCH, LeNet, batch, jax_step
from bench.measure import Result, printed, row, steady
from weft import nn
from weft.context import set_auto_parallel_context
from weft.explain.collectives import collectives_of
from weft.parallel.layout import Layout, place, reshard

WIDTH, HEADS, DEPTH, LENGTH, ROWS, WORDS = 128, 4, 12, 32, 16, 128
_AXES: Final = {"data": (8, 1), "tensor": (1, 8), "mixed": (2, 4)}


def _measured(name: str, repeat: int) -> Result:
    command = f"from bench import spread; spread.main({name!r}, {repeat})"
    return Result(*json.loads(printed(command, WEFT_DEVICES="8").splitlines()[-1]))


def main(name: str, repeat: int) -> None:
    """Measure a row in this process, and print it.

    Args:
        name: of the row.
        repeat: how often.
    """
    found = _ROWS[name](repeat)
    print(json.dumps([found.ratio, found.ours, found.reference]))


class Block(nn.Cell):
    """A block of a transformer, with the weights of a head together so that they can be spread by heads."""

    def __init__(self, name: str, dp: str, mp: str, grid: Layout) -> None:
        super().__init__()
        shapes = {"qkv": (WIDTH, 3, HEADS, WIDTH // HEADS), "out": (HEADS, WIDTH // HEADS, WIDTH)}
        shapes |= {"up": (WIDTH, 4 * WIDTH), "down": (4 * WIDTH, WIDTH)}
        random = np.random.default_rng(0)
        self.weights = {
            what: weft.Parameter(weft.Tensor(random.standard_normal(shape).astype(np.float32) * 0.05), name=name + what)
            for what, shape in shapes.items()
        }
        self.qkv, self.out, self.up, self.down = self.weights.values()
        self.norm1, self.norm2 = nn.LayerNorm((WIDTH,), epsilon=1e-5), nn.LayerNorm((WIDTH,), epsilon=1e-5)
        self.rows, self.hidden = grid(dp, "None", "None"), grid(dp, "None", mp)
        for param, axes in ((self.up, ("None", mp)), (self.down, (mp, "None"))):
            place(param, grid(*axes))
        for param in (self.qkv, self.out, *self.norm1.get_parameters(), *self.norm2.get_parameters()):
            place(param, grid("None"))

    def construct(self, x: Any) -> Any:
        qkv = weft.ops.einsum("blw,wkhd->kbhld", self.norm1(x), self.qkv)
        scores = weft.ops.softmax(weft.ops.matmul(qkv[0], qkv[1].transpose(0, 1, 3, 2)) * (WIDTH // HEADS) ** -0.5, -1)
        x = x + weft.ops.einsum("bhld,hdw->blw", weft.ops.matmul(scores, qkv[2]), self.out)
        hidden = reshard(weft.ops.relu(weft.ops.matmul(self.norm2(x), self.up)), self.hidden)
        return reshard(x + weft.ops.matmul(hidden, self.down), self.rows)


class Model(nn.Cell):
    """Twelve such blocks over words, and the loss of the next one."""

    def __init__(self, dp: int, mp: int) -> None:
        super().__init__()
        grid = Layout((dp, mp), ("dp", "mp"))
        table = np.random.default_rng(1).standard_normal((WORDS, WIDTH)).astype(np.float32)
        self.embed = weft.Parameter(weft.Tensor(table * 0.05), name="embed")
        place(self.embed, grid("None"))
        self.blocks = nn.CellList([Block(f"block{i}.", "dp", "mp", grid) for i in range(DEPTH)])
        self.rows = grid("dp", "None", "None")

    def construct(self, tokens: Any, targets: Any) -> Any:
        x = reshard(weft.ops.gather(self.embed, tokens, 0), self.rows)
        for block in self.blocks:
            x = block(x)
        scores = weft.ops.log_softmax(weft.ops.matmul(x, self.embed.T), -1)
        return -weft.ops.gather_elements(scores, 2, targets.expand_dims(-1)).mean()


def _jax_model(dp: int, mp: int) -> tuple[dict[str, Any], Callable[..., Any], Any]:
    """The same by hand: parameters, the loss of them, and the sharding of tokens."""
    mesh = Mesh(np.array(jax.devices()).reshape(dp, mp), ("dp", "mp"))

    def at(*spec: Any) -> NamedSharding:
        return NamedSharding(mesh, PartitionSpec(*spec))

    random = np.random.default_rng(0)

    def weights(*shape: int, spec: tuple[Any, ...] = ()) -> Any:
        return jax.device_put((random.standard_normal(shape) * 0.05).astype(np.float32), at(*spec))

    params: dict[str, Any] = {"embed": weights(WORDS, WIDTH)}
    for i in range(DEPTH):
        params |= {
            f"{i}.qkv": weights(WIDTH, 3, HEADS, WIDTH // HEADS),
            f"{i}.out": weights(HEADS, WIDTH // HEADS, WIDTH),
            f"{i}.up": weights(WIDTH, 4 * WIDTH, spec=(None, "mp")),
            f"{i}.down": weights(4 * WIDTH, WIDTH, spec=("mp", None)),
            **{f"{i}.{what}": jax.device_put(np.full(WIDTH, start, np.float32), at())
               for what, start in (("g1", 1), ("b1", 0), ("g2", 1), ("b2", 0))},
        }  # fmt: skip

    def norm(x: Any, gamma: Any, beta: Any) -> Any:
        mean = x.mean(-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5) * gamma + beta

    def loss(p: dict[str, Any], tokens: Any, targets: Any) -> Any:
        keep = jax.lax.with_sharding_constraint
        x = keep(p["embed"][tokens], at("dp"))
        for i in range(DEPTH):
            qkv = jnp.einsum("blw,wkhd->kbhld", norm(x, p[f"{i}.g1"], p[f"{i}.b1"]), p[f"{i}.qkv"])
            scores = jax.nn.softmax(qkv[0] @ qkv[1].transpose(0, 1, 3, 2) * (WIDTH // HEADS) ** -0.5)
            x = x + jnp.einsum("bhld,hdw->blw", scores @ qkv[2], p[f"{i}.out"])
            hidden = keep(jax.nn.relu(norm(x, p[f"{i}.g2"], p[f"{i}.b2"]) @ p[f"{i}.up"]), at("dp", None, "mp"))
            x = keep(x + hidden @ p[f"{i}.down"], at("dp"))
        scores = jax.nn.log_softmax(x @ p["embed"].T)
        return -jnp.take_along_axis(scores, targets[..., None], 2).mean()

    return params, loss, at("dp")


def by_hand(dp: int, mp: int) -> tuple[Callable[..., Any], Any, Any]:
    """The step by hand, what gives the text of its program, and where its operands lie.

    Args:
        dp: devices along which rows are spread.
        mp: devices along which weights are spread.
    """
    import optax

    params, loss, rows = _jax_model(dp, mp)
    optimizer = optax.adam(1e-3)
    state = optimizer.init(params)
    where = jax.tree.map(lambda array: array.sharding, params)
    held = jax.tree.map(lambda array: array.sharding if isinstance(array.sharding, NamedSharding) else None, state)

    def update(params: Any, state: Any, tokens: Any, targets: Any) -> Any:
        value, gradients = jax.value_and_grad(loss)(params, tokens, targets)
        updates, state = optimizer.update(gradients, state)
        return optax.apply_updates(params, updates), state, value

    compiled = jax.jit(update, donate_argnums=(0, 1), out_shardings=(where, held, None))
    held_now: list[Any] = [params, state]

    def step(tokens: Any, targets: Any) -> Any:
        held_now[0], held_now[1], value = compiled(*held_now, tokens, targets)
        return value

    def text(tokens: Any, targets: Any) -> str:
        return compiled.lower(*held_now, tokens, targets).compile().as_text() or ""

    return step, text, rows


def _transformer(kind: str) -> Callable[[int], Result]:
    def measure(repeat: int) -> Result:
        dp, mp = _AXES[kind]
        set_auto_parallel_context(parallel_mode="semi_auto_parallel", dataset_strategy=((dp, 1), (dp, 1)))
        model = Model(dp, mp)
        step = nn.TrainOneStepCell(model, nn.Adam(model.trainable_params(), 1e-3))
        ours = weft.jit(step)
        theirs, text, rows = by_hand(dp, mp)
        random = np.random.default_rng(0)
        values = [random.integers(0, WORDS, (ROWS, LENGTH)).astype(np.int32) for _ in range(2)]
        tensors, arrays = [weft.Tensor(v) for v in values], [jax.device_put(v, rows) for v in values]
        for _ in range(2):
            ours(*tensors)
            theirs(*arrays)
        _print_collectives(ours, text(*arrays))
        return steady(lambda: ours(*tensors), lambda: theirs(*arrays), repeat)

    return measure


def _print_collectives(ours: Any, theirs: str) -> None:
    """Collectives of both programs, by kind: number, and the bytes that a device sends."""
    found = max((module.to_string() for module in _modules()), key=len)
    print("weft:", _collectives(found), "JAX:", _collectives(theirs), file=sys.stderr)


def _modules() -> list[Any]:
    """The programs that are loaded in this process and span its devices."""
    client = jax.devices()[0].client
    return [m for e in client.live_executables() if len(e.local_devices()) > 1 for m in e.hlo_modules()]


def _collectives(text: str) -> dict[str, tuple[int, float]]:
    counts: Counter[str] = Counter()
    moved: dict[str, float] = {}
    for one in collectives_of(text, len(jax.devices())):
        counts[one.kind] += 1
        moved[one.kind] = moved.get(one.kind, 0.0) + one.moved.most
    return {kind: (counts[kind], moved[kind]) for kind in counts}


def _lenet(repeat: int) -> Result:
    set_auto_parallel_context(parallel_mode="data_parallel")
    net = LeNet()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.Momentum(net.trainable_params(), 0.01, 0.9))
    ours, theirs = weft.jit(step), jax_step(compiled=True)
    x, y = batch()
    rows = NamedSharding(Mesh(np.array(jax.devices()), ("dp",)), PartitionSpec("dp"))
    tensors, arrays = (weft.Tensor(x), weft.Tensor(y)), (jax.device_put(x, rows), jax.device_put(y, rows))
    assert BATCH % 8 == 0
    return steady(lambda: ours(*tensors), lambda: theirs(*arrays), repeat)


def _call(repeat: int) -> Result:
    grid = Layout((8,), ("dp",))("dp")
    mesh = NamedSharding(Mesh(np.array(jax.devices()), ("dp",)), PartitionSpec("dp"))
    value = np.arange(64, dtype=np.float32)
    x, array = reshard(weft.Tensor(value), grid), jax.device_put(value, mesh)
    ours = weft.jit(lambda a: reshard(a * 2 + 1, grid))
    theirs = jax.jit(lambda a: jax.lax.with_sharding_constraint(a * 2 + 1, mesh))
    return steady(lambda: ours(x), lambda: theirs(array), repeat)


def _memory(repeat: int) -> Result:
    """Bytes that one device holds of what Adam keeps, beside an eighth of it."""
    del repeat
    level = {"optimizer_level": "level1", "parallel_optimizer_threshold": 0}
    set_auto_parallel_context(
        parallel_mode="data_parallel", enable_parallel_optimizer=True, parallel_optimizer_config=level
    )
    model = nn.SequentialCell([nn.Dense(256, 1024), nn.ReLU(), nn.Dense(1024, 256)])
    optimizer = nn.Adam(model.trainable_params(), 1e-3)
    step = weft.jit(nn.TrainOneStepCell(nn.WithLossCell(model, nn.MSELoss()), optimizer))
    x = weft.Tensor(np.ones((16, 256), np.float32))
    for _ in range(3):
        step(x, x)
    states = [*optimizer.moment1, *optimizer.moment2]
    held = sum(state.concrete("a measurement").addressable_shards[0].data.nbytes for state in states)
    ideal = sum(state.nbytes for state in states) / 8
    return Result(held / ideal, f"{held / 1e6:.3g} MB", f"{ideal / 1e6:.3g} MB")


_ROWS: Final[dict[str, Callable[[int], Result]]] = {
    "lenet": _lenet, "call": _call, "memory": _memory, **{kind: _transformer(kind) for kind in _AXES}
}  # fmt: skip


@row("8 devices: LeNet step, data parallel", 1.05)
def lenet_data(repeat: int) -> Result:
    return _measured("lenet", 2 * repeat)


@row("8 devices: transformer of 12 blocks, data parallel", 1.05)
def transformer_data(repeat: int) -> Result:
    return _measured("data", repeat)


@row("8 devices: transformer of 12 blocks, tensor parallel", 1.05)
def transformer_tensor(repeat: int) -> Result:
    return _measured("tensor", repeat)


@row("8 devices: transformer of 12 blocks, 2 x data, 4 x tensor", 1.05)
def transformer_mixed(repeat: int) -> Result:
    return _measured("mixed", repeat)


@row("8 devices: a cached call", 1.2)
def cached_call(repeat: int) -> Result:
    return _measured("call", 2 * repeat)


@row("8 devices: memory of what the optimizer keeps", 1.1)
def optimizer_memory(repeat: int) -> Result:
    return _measured("memory", repeat)
