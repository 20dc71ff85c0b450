"""Checks of reports on graphs on eight devices; prints, as JSON, what each came to.

It is given the number of runs with the same compile cache before, and a folder to write to.
"""

from __future__ import annotations

import gc
import json
import logging
import re
import sys
import traceback
from collections import Counter
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import weft
from weft import Tensor, nn, ops
from weft._jax_compat import Spread
from weft.core.declare import op
from weft.core.tensor import wrap
from weft.capture.state.events import FIRST
from weft.explain import Recorder
from weft.explain.spread import ProgramReport
from weft.parallel import picture

MESH = Mesh(np.array(jax.devices()).reshape(2, 4), ("dp", "mp"))
KINDS = re.compile(r" (all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute)(?:-start)?\(")


def places(*spec: Any) -> NamedSharding:
    return NamedSharding(MESH, PartitionSpec(*spec))


def array(shape: tuple[int, ...], *spec: Any) -> Any:
    values = np.linspace(-1, 1, int(np.prod(shape))).reshape(shape).astype(np.float32)
    return jax.device_put(values, places(*spec))


def tensor(shape: tuple[int, ...], *spec: Any) -> Tensor:
    return wrap(array(shape, *spec))


def of_the_library(function: Any) -> Any:
    """A function as one of the library's, which a capture does not look into."""
    function.__module__ = "weft.ops"
    return function


@op("Laid", classes=())
@of_the_library
def laid(x: Any, *, spec: tuple[str | None, ...] = ()) -> Any:
    """An annotation: how a tensor lies."""
    return jax.lax.with_sharding_constraint(x, places(*spec))


laid.primitive.name = "ShardingConstraint"


@op("SumAlong", classes=())
@of_the_library
def sum_along(x: Any, *, name: str) -> Any:
    """A collective of an implementation."""
    spread, summed = PartitionSpec("dp", "mp"), PartitionSpec(None, "mp")
    return jax.shard_map(lambda part: jax.lax.psum(part, name), mesh=MESH, in_specs=spread, out_specs=summed)(x)


def line_of(function: Any, text: str) -> int:
    """The number of the line of a function in which a text stands."""
    lines = open(__file__, encoding="utf-8").read().splitlines()
    first = getattr(function, "__wrapped__", function).__code__.co_firstlineno
    return next(number for number in range(first, len(lines)) if text in lines[number - 1])


def program_of(function: Any, *args: Tensor) -> ProgramReport:
    """What a function is compiled to, which is one program."""
    compiled = weft.jit(function)
    compiled(*args)
    (graph,) = compiled.report().graphs
    (program,) = graph.programs
    return program


def raw(function: Any, *args: Any) -> Counter[str]:
    """How many collectives of each kind are in what JAX itself makes of a function."""
    return Counter(KINDS.findall(jax.jit(function).lower(*args).compile().as_text()))


def kinds(program: ProgramReport) -> Counter[str]:
    return Counter(found.kind for found in program.collectives)


X, W, V = ((16, 8), "dp", "mp"), ((8, 8), "mp", None), ((16, 8), None, "dp")
CASES: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]] = {
    "sum over what is spread": (lambda x, w: ops.matmul(x, w), jnp.matmul, (((16, 8), None, "mp"), W)),
    "two axes": (lambda x, w: ops.matmul(x, w), jnp.matmul, (X, W)),
    "mismatch": (lambda x, v: x * 2 + v, lambda x, v: x * np.float32(2) + v, (X, V)),
    "reduction": (lambda x: x.sum(), lambda x: jnp.sum(x), (X,)),
    "one axis": (lambda x: x.sum(0), lambda x: jnp.sum(x, 0), (X,)),
    "neighbours": (lambda x: ops.roll(x, 1, 0), lambda x: jnp.roll(x, 1, 0), (X,)),
    "nothing": (lambda x: ops.exp(x) * 2, lambda x: jnp.exp(x) * np.float32(2), (X,)),
    "gathered": (lambda x: laid(ops.sin(x)), lambda x: jax.lax.with_sharding_constraint(jnp.sin(x), places()), (X,)),
    "all to all": (
        lambda x: laid(ops.sin(x), ("mp", "dp")),
        lambda x: jax.lax.with_sharding_constraint(jnp.sin(x), places("mp", "dp")),
        (X,),
    ),
}


def check_counts_are_those_of_jax() -> None:
    for name, (function, plain, operands) in CASES.items():
        arrays = [array(*operand) for operand in operands]
        program = program_of(function, *map(wrap, arrays))
        assert kinds(program) == raw(plain, *arrays), (name, kinds(program), raw(plain, *arrays))
        assert program.devices == 8
        assert program.mesh == {"dp": 2, "mp": 4}, program.mesh


def check_bytes() -> None:
    (found,) = program_of(CASES["sum over what is spread"][0], tensor((16, 8), None, "mp"), tensor(*W)).collectives
    assert (found.kind, found.axes, found.runs) == ("all-reduce", ("mp",), 1), found
    size = 16 * 8 * 4
    assert found.bytes_each == 2 * size * 3 / 4, found.bytes_each
    assert found.bytes_together == 8 * found.bytes_each
    gathered = program_of(CASES["gathered"][0], tensor(*X)).collectives
    assert {found.axes for found in gathered} == {("mp",), ("dp",)}
    assert sum(found.bytes_each for found in gathered) == (8 * 8 * 4) * 3 / 4 + size / 2


def check_layouts() -> None:
    program = program_of(CASES["two axes"][0], tensor(*X), tensor(*W))
    assert [found.placement.layout for found in program.inputs] == ["(dp, mp)", "(mp, None)"]
    assert [found.each for found in program.inputs] == ["f32[8,2]", "f32[2,8]"]
    (result,) = program.outputs
    compiled = weft.jit(CASES["two axes"][0])
    assert result.places.is_equivalent_to(compiled(tensor(*X), tensor(*W))._data.sharding, 2)
    assert program.inputs[0].picture() == picture(tensor(*X)).replace("float32", "")


def mixed(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    y = ops.matmul(x, w)
    y = laid(y, ("dp", None))
    z = y * 3 + v
    return ops.tanh(z).sum()


def check_lines_and_what_was_asked_for() -> None:
    program = program_of(mixed, tensor((16, 8), None, "mp"), tensor(*W), tensor(*V))
    by_line: dict[int, set[bool]] = {}
    for found in program.collectives:
        assert found.locations, found
        assert {place.file for place in found.locations} == {__file__}
        for place in found.locations:
            by_line.setdefault(place.line, set()).add(found.asked)
    assert by_line[line_of(mixed, "ops.matmul")] == {True}, by_line  # its result goes to what says how it lies
    assert by_line[line_of(mixed, "y * 3")] == {False}, by_line
    assert by_line[line_of(mixed, ".sum()")] == {False}, by_line
    assert set(by_line) == {line_of(mixed, text) for text in ("ops.matmul", "y * 3", ".sum()")}
    assert program.unasked


def check_what_comes_out_of_a_branch_or_a_mapped_function_is_asked_for() -> None:
    def branching(x: Tensor, w: Tensor) -> Tensor:
        if x.sum() > 0:
            y = x
            for _ in range(3):
                y = ops.tanh(ops.matmul(y, w))
            y = ops.matmul(y, w)
        else:
            y = ops.exp(x)
        return laid(y, ("dp", None))

    program = program_of(branching, tensor((16, 8), None, "mp"), tensor(*W))
    last = line_of(branching, "y = ops.matmul")
    by_line = {found.locations[0].line: found.asked for found in program.collectives if found.locations}
    assert by_line[last], by_line
    assert not by_line[last - 1], by_line

    def mapped(x: Tensor) -> Tensor:
        rows: Tensor = weft.vmap(lambda row: laid(ops.exp(row).sum()))(x)
        return rows

    program = program_of(mapped, tensor((16, 8), None, "mp"))
    assert program.collectives
    assert not program.unasked, program.unasked


def check_an_annotated_input_is_asked_for() -> None:
    program = program_of(lambda x: ops.sin(laid(x)), tensor(*X))
    assert [found.asked for found in program.collectives] == [True, True], program.collectives


def check_a_collective_of_an_implementation_is_asked_for() -> None:
    program = program_of(lambda x: sum_along(x, "dp"), tensor(*X))
    (found,) = program.collectives
    assert (found.kind, found.axes, found.asked) == ("all-reduce", ("dp",), True), found
    assert found.operations[0][0] == "SumAlong"


def looped(x: Tensor, w: Tensor) -> Tensor:
    for _ in range(20):
        x = ops.tanh(ops.matmul(x, w))
    return x


def rolled_up(x: Tensor, w: Tensor) -> Tensor:
    return looped(x, w)


def check_loops_of_known_length() -> None:
    operands = tensor((16, 8), None, "mp"), tensor(*W)
    unrolled = program_of(looped, *operands)
    assert kinds(unrolled)["all-reduce"] == 20
    weft.set_context(loop_unroll_limit=4)
    rolled = program_of(rolled_up, *operands)
    weft.set_context(loop_unroll_limit=-1)
    assert len(rolled.collectives) < 20, rolled.collectives
    assert sum(found.runs or 0 for found in rolled.collectives if found.kind == "all-reduce") == 20
    assert rolled.bytes_each == unrolled.bytes_each
    assert {found.locations[0].line for found in rolled.collectives} == {line_of(looped, "ops.matmul")}


def until(x: Tensor, w: Tensor) -> Tensor:
    while x.sum() < 1:
        x = ops.exp(ops.matmul(x, w))
    return x


def check_loops_of_unknown_length() -> None:
    program = program_of(until, tensor((16, 8), None, "mp"), tensor(*W))
    inside = [found for found in program.collectives if found.operations[0][0] == "MatMul"]
    assert inside
    assert {found.runs for found in inside} == {None}
    assert {found.locations[0].line for found in inside} == {line_of(until, "ops.exp")}
    assert "in a loop of unknown length" in str(weft.explain(until)(tensor((16, 8), None, "mp"), tensor(*W)))


def either(x: Tensor, w: Tensor) -> Tensor:
    if x.sum() > 0:
        for _ in range(3):
            x = ops.tanh(ops.matmul(x, w))
    return x


def check_branches() -> None:
    program = program_of(either, tensor((16, 8), None, "mp"), tensor(*W))
    inside = [found for found in program.collectives if found.operations[0][0] == "MatMul"]
    assert len(inside) == 3
    assert {found.instruction.is_sure for found in inside} == {False}
    assert {found.locations[0].line for found in inside} == {line_of(either, "ops.tanh")}


def lossy(x: Tensor, w: Tensor) -> Tensor:
    y = ops.matmul(x, w)
    return (y * y).sum()


def check_gradients() -> None:
    compiled = weft.jit(lossy)
    operands = tensor((16, 8), "dp", None), tensor((8, 8), None, None)
    weft.grad(compiled, 1)(*operands)
    (graph,) = compiled.report().graphs
    backward = next(program for program in graph.programs if program.what == "backward")
    raw_counts = raw(lambda x, d: jnp.matmul(x.T, d), operands[0]._data, array((16, 8), "dp", None))
    assert kinds(backward) == raw_counts, (kinds(backward), raw_counts)
    (found,) = backward.collectives
    assert (found.kind, found.axes) == ("all-reduce", ("dp",))
    assert found.locations[0].line == line_of(lossy, "ops.matmul")


def check_gradients_within_a_graph() -> None:
    def stepped(x: Tensor, w: Tensor) -> Tensor:
        gradient: Tensor = weft.grad(lossy, 1)(x, w)
        return gradient

    (found,) = program_of(stepped, tensor((16, 8), "dp", None), tensor((8, 8), None, None)).collectives
    assert (found.kind, found.locations[0].line) == ("all-reduce", line_of(lossy, "ops.matmul"))


def check_another_layout_is_a_further_compilation() -> None:
    compiled = weft.jit(lossy)
    with Recorder() as recorder:
        first = compiled(tensor(*X), tensor(*W)).item()
        second = compiled(tensor((16, 8), "mp", None), tensor(*W)).item()
        alone = compiled(Tensor(np.asarray(array(*X))), Tensor(np.asarray(array(*W)))).item()
    assert np.allclose([first, second], alone)
    report = recorder.report()
    (graph,) = report.graphs
    assert [made.what for made in graph.event.compilations] == ["run"] * 3
    assert [program.inputs[0].placement.layout for program in graph.programs] == ["(dp, mp)", "(mp, None)"]
    assert not [made for made in report.eager if made.what == "lossy"], report.eager
    assert compiled(tensor(*X), tensor(*W)).item() == first
    assert len(graph.programs) == 2


def check_updates() -> None:
    weight = weft.Parameter(tensor(*W), name="weight")

    @weft.jit
    def step(x: Tensor) -> Tensor:
        y = ops.matmul(x, weight)
        ops.assign(weight, weight * 0.5)
        return y

    for _ in range(3):
        step(tensor((16, 8), None, "mp"))
    (graph,) = step.report().graphs
    assert {program.what for program in graph.programs} <= {"run", "run in place"}
    for program in graph.programs:
        assert kinds(program) == {"all-reduce": 1}, program.collectives
        assert "weight: f32[8,8] as (mp, None)" in str(step.report())


def check_calls_of_the_host() -> None:
    def shown(x: Tensor) -> Tensor:
        print("mean", x.mean())
        return x + 1

    program = program_of(shown, tensor(*X))
    assert kinds(program)["all-reduce"] >= 1
    assert program.inputs[0].placement.layout == "(dp, mp)"
    # XLA lets devices wait for each other where the host is called, which comes from no operation
    known = [found for found in program.collectives if found.instruction.name]
    assert len(known) >= len(program.collectives) - 1
    assert {found.locations[0].line for found in known} == {line_of(shown, "print")}


def check_mapped_functions() -> None:
    def each(x: Tensor, w: Tensor) -> Tensor:
        def row(r: Tensor) -> Tensor:
            doubled = r * 2
            return ops.matmul(doubled, w)

        mapped: Tensor = weft.vmap(row)(x)
        return mapped

    (found,) = program_of(each, tensor((16, 8), None, "mp"), tensor(*W)).collectives
    assert found.locations[0].line == line_of(each, "ops.matmul"), found


class Block(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.weight = weft.Parameter(tensor(*W), name="weight")

    def construct(self, x: Tensor) -> Tensor:
        return ops.tanh(ops.matmul(x, self.weight))


class Blocks(nn.Cell):
    @weft.lazy_inline
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.CellList([Block() for _ in range(12)])

    def construct(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = block(x)
        return x


def check_parts() -> None:
    network = Blocks()
    network.construct = weft.jit(network.construct)
    network(tensor((16, 8), None, "mp"))
    (graph,) = network.construct.report().graphs
    runs = [(program.times, found) for program in graph.programs for found in program.collectives]
    assert sum(times * (found.runs or 0) for times, found in runs if found.kind == "all-reduce") == 12, runs
    assert {place.line for _, found in runs for place in found.locations} == {line_of(Block.construct, "ops.matmul")}


def check_nothing_is_read_unasked() -> None:
    read, text = [], Spread.text
    Spread.text = lambda self: read.append(self) or text(self)  # type: ignore[method-assign,func-returns-value,assignment]
    try:
        compiled = weft.jit(lossy)
        compiled(tensor(*X), tensor(*W))
        report = compiled.report()
        assert not read
        assert "all-reduce" in str(report)
        assert read
    finally:
        Spread.text = text  # type: ignore[method-assign]


def check_programs_go_with_what_runs_them() -> None:
    def alone(x: Tensor) -> Tensor:
        return x.sum()

    compiled = weft.jit(alone)
    compiled(tensor(*X))
    report = compiled.report()
    (made,) = report.graphs[0].event.compilations
    (reference,) = made.programs
    assert report.graphs[0].programs
    del compiled
    gc.collect()
    if report.graphs[0].event.reason == FIRST:  # a graph of an earlier process is made by what runs it
        assert report.graphs[0].programs == ()
        assert "all-reduce" not in str(report)
    del report
    gc.collect()
    assert reference() is None


def check_what_an_earlier_process_compiled() -> None:
    """The line is another one in each process: what is found in the cache was compiled where it was the first."""
    lines = [""] * (1 + int(sys.argv[1]))
    lines += ["import weft", "def moved(x):", "    y = x * 2", "    return y.sum()"]
    file = f"{sys.argv[2]}/moved.py"
    with open(file, "w", encoding="utf-8") as written:
        written.write("\n".join(lines))
    namespace: dict[str, Any] = {"__name__": "moved"}
    exec(compile("\n".join(lines), file, "exec"), namespace)
    compiled = weft.jit(namespace["moved"])
    compiled(tensor(*X))
    (graph,) = compiled.report().graphs
    (made,) = graph.event.compilations
    assert made.loaded == (sys.argv[1] != "0"), made
    (program,) = graph.programs
    assert kinds(program) == {"all-reduce": 2}
    assert {place.line for found in program.collectives for place in found.locations} == {len(lines)}


def check_one_device() -> None:
    compiled = weft.jit(lossy)
    compiled(Tensor(np.ones((4, 4), np.float32)), Tensor(np.ones((4, 4), np.float32)))
    assert compiled.report().graphs[0].programs == ()
    assert "devices" not in str(compiled.report())


def check_the_ways_to_show_it() -> None:
    compiled = weft.jit(mixed)
    operands = tensor((16, 8), None, "mp"), tensor(*W), tensor(*V)
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("weft.jit").addHandler(handler)
    weft.set_context(jit_log="collectives")
    compiled(*operands)
    weft.set_context(jit_log="")
    report = compiled.report()
    text, page = str(report), report.to_html()
    assert "run on 8 devices, dp 2 x mp 4" in text
    assert f"{__file__}:{line_of(mixed, 'y * 3')}" in text
    assert text.count("not asked for: ") >= 2
    line = page.split("y * 3 + v")[1].split("<li class")[0]
    assert "collectives not asked for" in line, line
    assert "run: all-to-all" in line, line
    assert len(report.unasked) == text.count("not asked for: ")
    assert "| 0, 4 |" in page, page
    program = json.loads(report.to_json())["functions"][0]["graphs"][0]["programs"][0]
    assert program["mesh"] == {"dp": 2, "mp": 4}
    assert program["inputs"][0]["spread"] == [[], ["mp"]]
    assert len(program["collectives"]) == len(report.collectives)
    assert sum("not asked for" in line and "mixed (graph 1)" in line for line in lines) >= 2, lines


def check_pictures() -> None:
    assert picture(tensor((16, 8), "dp", "mp")).splitlines() == [
        "float32[16, 8] on 8 devices, dp 2 x mp 4, as (dp, mp): float32[8, 2] on each",
        "",
        "       mp",
        "   dp  0  1  2  3",
        "       4  5  6  7",
        "",
        "          0:2   2:4   4:6   6:8",
        "        +-----+-----+-----+-----+",
        "    0:8 |  0  |  1  |  2  |  3  |",
        "        +-----+-----+-----+-----+",
        "   8:16 |  4  |  5  |  6  |  7  |",
        "        +-----+-----+-----+-----+",
    ]
    assert "whole on each" in picture(tensor((3,)))
    assert "| 0 to 3 |" in picture(tensor((8,), "dp"))
    for shape, *spec in ([(8,), ("dp", "mp")], [(4, 3, 8), "dp", None, "mp"], [(2, 4, 2), "dp", "mp", None]):
        drawing = picture(tensor(shape, *spec)).split("+", 1)[1]
        for shard in array(shape, *spec).addressable_shards:
            assert re.search(rf"\b{shard.device.id}\b", drawing), drawing
    assert picture(Tensor([1.0])) == "float32[1] on device 0"


def check_pictures_in_compiled_functions() -> None:
    def drawn(x: Tensor) -> tuple[str, str]:
        y = x * 2
        return picture(x), picture(y)

    compiled = weft.jit(drawn)
    for spec in (("dp", None), (None, "mp"), ("dp", None)):
        x = tensor((16, 8), *spec)
        assert compiled(x) == drawn(x)
        assert str(spec[0]) in compiled(x)[0].split("as (")[1]


def main() -> None:
    # why something was not found in the cache, shown where a check fails
    logging.basicConfig(stream=sys.stderr, level=logging.INFO)
    logging.getLogger("jax._src.cache_key").setLevel(logging.DEBUG)
    found: dict[str, str] = {}
    for name, check in list(globals().items()):
        if name.startswith("check_"):
            try:
                check()
                found[name] = ""
            except Exception:
                found[name] = traceback.format_exc()
    sys.stdout.flush()
    print("\n" + json.dumps(found))


if __name__ == "__main__":
    main()
