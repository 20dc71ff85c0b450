"""Each ``<pass>/<case>.ir`` holds a graph, a line ``=>``, and the graph that the pass must make of it.

``python tests/ir_text/test_ir_text.py`` writes the results anew; read the difference before you keep it.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import jax
import numpy as np
import pytest

import weft  # noqa: F401  declares the operations that the texts name
from weft.compile.listing import read_graph
from weft.compile.lower import lower
from weft.ir.graph import Graph
from weft.ir.text import format_graph
from weft.ir.types import TensorType
from weft.ir.verifier import verify
from weft.passes.base import Pass
from weft.passes.pipeline import optimize

HERE = Path(__file__).parent
CASES = sorted(HERE.glob("*/*.ir"))


def transformed(path: Path, text: str) -> Graph:
    graph = verify(read_graph(text))
    if path.parent.name == "pipeline":
        return optimize(graph, check=True)
    return verify(Pass.table[path.parent.name]().apply(graph), after=path.parent.name)


def run(graph: Graph, random: Random) -> list[np.ndarray]:
    arrays = []
    for value in graph.params:
        kind = value.type
        if not isinstance(kind, TensorType):
            arrays.append(())
            continue
        numbers = [random.choice((0.0, -0.0, 1.0, -2.0, 0.5, float("nan"))) for _ in range(kind.size)]
        if kind.dtype.category < 2:
            numbers = [int(n == n and n) for n in numbers]
        arrays.append(np.array(numbers).reshape(kind.shape).astype(kind.dtype.np_dtype))
    with jax.disable_jit():  # operation by operation, so that bits can be compared
        return [np.asarray(r) for r in lower(graph)(*arrays) if not isinstance(r, tuple)]


@pytest.mark.parametrize("path", CASES, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_pass_makes_the_expected_text(path: Path) -> None:
    before, after = path.read_text().split("=>\n")
    assert format_graph(transformed(path, before), locations=False) == after


@pytest.mark.parametrize("path", CASES, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_expected_text_computes_the_same_bits(path: Path) -> None:
    before, after = path.read_text().split("=>\n")
    for seed in range(6):
        wanted = run(read_graph(before), Random(seed))
        found = run(verify(read_graph(after)), Random(seed))
        for a, b in zip(wanted, found, strict=True):
            assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())


def test_every_pass_has_cases() -> None:
    assert {path.parent.name for path in CASES} == {*Pass.table, "pipeline"}


if __name__ == "__main__":
    for case in CASES:
        text = case.read_text().split("=>\n")[0]
        case.write_text(text + "=>\n" + format_graph(transformed(case, text), locations=False))
