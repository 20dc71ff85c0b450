"""What reports say of exchanges between processes, and pictures in several."""

from __future__ import annotations

import json
import re

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import weft
from weft import Tensor, ops
from weft.core.tensor import wrap
from weft.explain.collectives import collectives_of
from weft.parallel import communication as comm
from weft.parallel import picture
from weft.parallel.exchange import AXIS

comm.init()
RANK, COUNT = comm.get_rank(), comm.get_group_size()
SUM = ops.AllReduce(ops.ReduceOp.SUM)
GATHER = ops.AllGather()
SCATTER = ops.ReduceScatter(ops.ReduceOp.SUM)


@weft.jit
def step(x: Tensor) -> Tensor:
    y = ops.sin(x)
    y = SUM(y)
    z = GATHER(y * 2)
    return SCATTER(z).sum()


X = Tensor(np.full((4, 6), RANK + 1, np.float32))
SIZE = 4 * 6 * 4


def line_of(text: str) -> int:
    lines = open(__file__, encoding="utf-8").read().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def moved_by_jax(function: object, rows: int) -> list[tuple[str, float]]:
    """The collectives of a program of JAX over the same processes."""
    first = {device.process_index: device for device in reversed(jax.devices())}
    mesh = Mesh(np.array([first[rank] for rank in range(COUNT)]), (AXIS,))
    over = jax.shard_map(function, mesh=mesh, in_specs=PartitionSpec(), out_specs=PartitionSpec(), check_vma=False)
    text = jax.jit(over).lower(jax.ShapeDtypeStruct((rows, 6), jnp.float32)).compile().as_text()
    return [(found.kind, found.moved.together) for found in collectives_of(text, COUNT)]


step(X)
(graph,) = step.report().graphs
exchanges = graph.exchanges
assert all(found.moved is not None for found in exchanges)
assert [found.operation for found in exchanges] == ["AllReduce", "AllGather", "ReduceScatter"], exchanges
assert [found.location and found.location.line for found in exchanges] == [
    line_of("y = SUM(y)"), line_of("z = GATHER"), line_of("return SCATTER"),
]  # fmt: skip
assert [found.operands for found in exchanges] == [("f32[4,6]",), ("f32[4,6]",), (f"f32[{4 * COUNT},6]",)]
assert {found.ranks for found in exchanges} == {tuple(range(COUNT))}
expected = [
    moved_by_jax(lambda x: jax.lax.psum(x, AXIS), 4),
    moved_by_jax(lambda x: jax.lax.all_gather(x, AXIS, tiled=True), 4),
    moved_by_jax(lambda x: jax.lax.psum_scatter(x, AXIS, tiled=True), 4 * COUNT),
]
assert [[moved for _, moved in found] for found in expected] == [[found.moved.together] for found in exchanges], (
    expected
)
assert exchanges[0].moved.most == 2 * SIZE * (COUNT - 1) / COUNT
text = str(step.report())
each = sum(found.moved.most for found in exchanges)
assert f"3 exchanges between processes, {each:.0f} bytes from each process" in text, text
assert re.search(rf"AllReduce f32\[4,6\] among {COUNT} processes: .* at .*reported.py:{line_of('y = SUM(y)')}", text), (
    text
)
assert "AllGather f32[4,6]" in step.report().to_html()
told = json.loads(step.report().to_json())["functions"][0]["graphs"][0]["exchanges"]
assert [found["operation"] for found in told] == ["AllReduce", "AllGather", "ReduceScatter"]
assert not graph.programs, graph.programs

# sizes that change from call to call
for rows in (4, 6, 8, 10, 12):
    step(Tensor(np.ones((rows, 6), np.float32)))
text = str(step.report())
assert "AllReduce f32[s0,6] among" in text, text
assert re.search(r"3 exchanges between processes, at least 0 bytes", text), text
json.loads(step.report().to_json())

# a tensor of each process, and one over all of them
assert picture(X).splitlines() == [
    f"float32[4, 6] on device r{RANK}",
    f"each of the {COUNT} processes has a tensor of its own",
]
places = NamedSharding(jax.make_mesh((COUNT,), ("dp",)), PartitionSpec("dp"))
spread = wrap(jax.make_array_from_callback((4 * COUNT, 6), places, lambda index: np.zeros((4, 6), np.float32)))
shown = picture(spread)
assert f"float32[{4 * COUNT}, 6] on {COUNT} devices, dp {COUNT}, as (dp, None): float32[4, 6] on each" in shown, shown
assert re.search(rf" 0:4 \| r0 \|.* {4 * (COUNT - 1)}:{4 * COUNT} \| r{COUNT - 1} \|", shown.replace("\n", " ")), shown
print("all agree")
