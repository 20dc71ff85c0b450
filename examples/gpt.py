"""A GPT of six layers learns the text of this project's documentation, character by character.

``python examples/gpt.py [--steps 20] [--plot gpt.png]`` trains it once for each way to run it, each in a process of its
own from the same weights and batches, and prints what the first step and the later ones take:

- *eager*: each operation runs when Python reaches it.
- *jit*: the whole training step is one graph.
- *blocks shared*: equal layers are compiled once (`lazy_inline`).
- *next process*: as before, and what XLA compiled is found in the compile cache.

The losses of all ways agree.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import weft
from weft import Tensor, nn, ops

ROOT = Path(__file__).parents[1]
CONTEXT, BATCH, WIDTH, HEADS = 64, 8, 128, 4
TOLERANCE = 1e-3


class Attention(nn.Cell):
    """Each character looks at those before it."""

    def __init__(self) -> None:
        super().__init__()
        self.projections = nn.CellList([nn.Dense(WIDTH, WIDTH) for _ in range(3)])
        self.out = nn.Dense(WIDTH, WIDTH)
        self.mask = Tensor(np.triu(np.full((CONTEXT, CONTEXT), -1e9, np.float32), 1))

    def construct(self, x: Any) -> Any:
        batch, length, _ = x.shape
        query, key, value = [
            project(x).reshape(batch, length, HEADS, WIDTH // HEADS).transpose(0, 2, 1, 3)
            for project in self.projections
        ]
        scores = ops.matmul(query, key.swapaxes(-1, -2)) * (WIDTH // HEADS) ** -0.5
        mixed = ops.matmul(ops.softmax(scores + self.mask, -1), value)
        return self.out(mixed.transpose(0, 2, 1, 3).reshape(x.shape))


class Block(nn.Cell):
    """A layer: attention, then two dense layers."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm((WIDTH,)), nn.LayerNorm((WIDTH,))
        self.attention = Attention()
        self.up, self.down = nn.Dense(WIDTH, 4 * WIDTH), nn.Dense(4 * WIDTH, WIDTH)

    def construct(self, x: Any) -> Any:
        x = x + self.attention(self.norm1(x))
        return x + self.down(ops.gelu(self.up(self.norm2(x))))


class SharedBlock(Block):
    """A layer that is compiled once for all of its kind."""

    @weft.lazy_inline
    def __init__(self) -> None:
        super().__init__()


class GPT(nn.Cell):
    """The language model.

    Args:
        characters: how many there are.
        layers: how many blocks.
        block: their class.
    """

    def __init__(self, characters: int, layers: int, block: type[Block]) -> None:
        super().__init__()
        self.embedding = nn.Embedding(characters, WIDTH)
        self.position = weft.Parameter(Tensor(np.zeros((CONTEXT, WIDTH), np.float32)), name="position")
        self.blocks = nn.CellList([block() for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm((WIDTH,)), nn.Dense(WIDTH, characters)

    def construct(self, text: Any) -> Any:
        x = self.embedding(text) + self.position
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def corpus() -> tuple[np.ndarray, int]:
    """The documentation as numbers of characters, and how many different ones it has."""
    files = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    characters = sorted(set(text))
    numbers = {character: number for number, character in enumerate(characters)}
    return np.array([numbers[character] for character in text], np.int32), len(characters)


def train(compiled: bool, shared: bool, steps: int, layers: int) -> dict[str, Any]:
    """Train in this process.

    Returns:
        dict: the seconds of the first step, the median of the later ones, all losses.
    """
    text, characters = corpus()
    weft.set_seed(1)
    network = GPT(characters, layers, SharedBlock if shared else Block)
    optimizer = nn.Adam(network.trainable_params(), 1e-3)
    loss_of = nn.CrossEntropyLoss()

    def forward(given: Any, wanted: Any) -> Any:
        return loss_of(network(given).reshape(-1, characters), wanted.reshape(-1))

    gradient = weft.value_and_grad(forward, None, optimizer.parameters)

    def step(given: Any, wanted: Any) -> Any:
        loss, gradients = gradient(given, wanted)
        optimizer(gradients)
        return loss

    run = weft.jit(step) if compiled else step
    random = np.random.default_rng(1)
    seconds, losses = [], []
    for _ in range(steps):
        places = random.integers(0, len(text) - CONTEXT, BATCH)[:, None] + np.arange(CONTEXT)
        start = time.perf_counter()
        losses.append(float(run(Tensor(text[places]), Tensor(text[places + 1])).asnumpy()))
        seconds.append(time.perf_counter() - start)
    return {"first": seconds[0], "later": statistics.median(seconds[1:]), "losses": losses}


def in_a_process(arguments: argparse.Namespace, way: list[str], folder: str | None) -> dict[str, Any]:
    """Train in a new process, with a folder for the compile cache or without the cache."""
    cache = {"MS_COMPILER_CACHE_ENABLE": "1", "MS_COMPILER_CACHE_PATH": folder} if folder else {
        "MS_COMPILER_CACHE_ENABLE": "0"
    }  # fmt: skip
    command = [sys.executable, __file__, "--steps", str(arguments.steps), "--layers", str(arguments.layers), *way]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **cache})
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def plot(results: dict[str, dict[str, Any]], path: str) -> None:
    """Write an image of the first step, the later ones and the losses."""
    from matplotlib.figure import Figure  # noqa: PLC0415  only --plot needs it

    figure = Figure(figsize=(11, 4), layout="constrained")
    first, later, losses = figure.subplots(1, 3)
    for axes, key, title in ((first, "first", "first step, seconds"), (later, "later", "later steps, seconds")):
        axes.barh(list(results), [result[key] for result in results.values()], color="#7a5c99")
        axes.invert_yaxis()
        axes.set_title(title)
    later.set_yticks([])
    for name, result in results.items():
        losses.plot(range(1, len(result["losses"]) + 1), result["losses"], label=name, linewidth=1)
    losses.set_title("loss")
    losses.legend(fontsize="small")
    figure.savefig(path, dpi=150)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--steps", type=int, default=20, help="training steps, two or more (20)")
    parser.add_argument("--layers", type=int, default=6, help="blocks of the network (6)")
    parser.add_argument("--plot", metavar="FILE", help="write an image of the times and the losses")
    parser.add_argument("--way", choices=("eager", "jit", "shared"), help="train once in this process, and print JSON")
    arguments = parser.parse_args()
    if arguments.steps < 2:
        parser.error("--steps must be 2 or more")
    if arguments.way:
        way = arguments.way
        print(json.dumps(train(way != "eager", way == "shared", arguments.steps, arguments.layers)))
        return 0
    results: dict[str, dict[str, Any]] = {}
    print(f"A GPT of {arguments.layers} layers, {arguments.steps} steps on {len(corpus()[0]):,} characters")
    print(f"{'':<34}{'first step':>12}{'later steps':>14}{'last loss':>12}")

    def show(name: str, way: str, folder: str | None = None) -> None:
        result = results[name] = in_a_process(arguments, ["--way", way], folder)
        first, later = f"{result['first']:.2f} s", f"{result['later'] * 1e3:.1f} ms"
        print(f"{name:<34}{first:>12}{later:>14}{result['losses'][-1]:>12.4f}", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        for way, name in (("eager", "eager"), ("jit", "jit"), ("shared", "jit, blocks shared")):
            show(name, way)
            in_a_process(arguments, ["--way", way], folder)
            show(f"{name}, next process", way, folder)
    if arguments.plot:
        plot(results, arguments.plot)
        print(f"Written: {arguments.plot}")
    last = [result["losses"][-1] for result in results.values()]
    agree = max(last) - min(last) <= TOLERANCE * max(last)
    print("The losses agree." if agree else "The losses do NOT agree.")
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
