"""`MS_DEV_SIDE_EFFECT_LOAD_ELIM`: every level gives what eager code gives, with the fewest nodes and the least memory.

The state of a graph is single assignment: what a parameter was at each read is a value of the graph, so there is
nothing to copy, and no level at which a result is wrong.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import weft
from weft import Parameter, Tensor, jit, ops
from weft.compile.lower import lower
from weft.explain import explain

#: reads and writes a parameter in a loop, under a gradient, on a side of a branch; prints what every call gives
PROGRAM = """
import json
import numpy as np
import weft
from weft import Parameter, Tensor, nn, ops

weft.set_context(mode=weft.GRAPH_MODE)


class Forward(nn.Cell):
    def __init__(self):
        super().__init__()
        self.weight = Parameter(Tensor(np.zeros(3, np.float32)), name="param")

    def construct(self, x):
        out = self.weight + 0
        for i in range(4):
            ops.assign(self.weight, x * i + self.weight)
            out = x * self.weight + out
            if out.sum() > 20:
                ops.assign_add(self.weight, x)
        return out + self.weight


class Backward(nn.Cell):
    def __init__(self, net):
        super().__init__(auto_prefix=False)
        self.net = net
        self.grad = weft.grad(net)

    def construct(self, x):
        return self.grad(x)


found = []
net = Forward()
backward = Backward(net)
for k in range(3):
    x = Tensor(np.arange(3.0, dtype=np.float32) + k)
    found += [net(x).tolist(), backward(x).tolist(), net.weight.tolist()]
report = net.report()
nodes = [sum(graph.operations.values()) for graph in report.graphs]
eager = []
weft.set_context(mode=weft.PYNATIVE_MODE)
net.weight.set_data(Tensor(np.zeros(3, np.float32)))
for k in range(3):
    x = Tensor(np.arange(3.0, dtype=np.float32) + k)
    eager += [net(x).tolist(), weft.grad(net)(x).tolist(), net.weight.tolist()]
print(json.dumps([found, eager, nodes]))
"""


@pytest.fixture(scope="module")
def levels(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """What the program prints at each level, and without one."""
    script = Path(tmp_path_factory.mktemp("levels")) / "program.py"
    script.write_text(PROGRAM)
    found = []
    for level in (None, "0", "1", "2", "3"):
        environment = dict(os.environ)
        environment.pop("MS_DEV_SIDE_EFFECT_LOAD_ELIM", None)
        if level is not None:
            environment["MS_DEV_SIDE_EFFECT_LOAD_ELIM"] = level
        run = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=True)
        found.append(json.loads(run.stdout))
    return found


def test_each_level_gives_what_eager_code_gives(levels: list[Any]) -> None:
    for graphs, eager, _ in levels:
        for got, wanted in zip(graphs, eager, strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_each_level_has_the_fewest_nodes(levels: list[Any]) -> None:
    assert all(nodes == levels[0][2] for _, _, nodes in levels)


def test_reads_between_writes_are_no_copies() -> None:
    state = Parameter(Tensor(np.zeros((256, 1024), np.float32)), name="state")  # 1 MiB

    def program(x: Any) -> Any:
        total = state + 0
        for i in range(20):
            ops.assign(state, state * x + i)
            total = total + state
        return total

    compiled = jit(program)
    x = Tensor(np.float32(0.5))
    wanted = program(x).asnumpy()
    state.set_data(ops.zeros_like(state))
    np.testing.assert_allclose(compiled(x).asnumpy(), wanted, rtol=1e-6)
    (graph,) = explain(compiled)(x).graphs
    assert set(graph.operations) <= {"Mul", "Add", "Repeat"}
    arrays = [jax.ShapeDtypeStruct(value.type.shape, value.type.dtype.np_dtype) for value in graph.graph.params]
    memory = jax.jit(lower(graph.graph)).lower(*arrays).compile().memory_analysis()
    assert memory.temp_size_in_bytes < 3 << 20  # 20 values of the state, none of them kept


def test_gradients_keep_what_they_need() -> None:
    state = Parameter(Tensor([1.0]), name="state")

    def program(x: Any) -> Any:
        before = state * x
        ops.assign(state, x * 3)
        after = state * x
        ops.assign(state, Tensor([7.0]))
        return before * after + state

    for way in (weft.grad(program), weft.grad(jit(program)), jit(weft.grad(program))):
        for value in (2.0, 3.0):
            state.set_data(Tensor([1.0]))
            np.testing.assert_allclose(way(Tensor([value])).asnumpy(), [9 * value**2])
            assert state.tolist() == [7.0]
