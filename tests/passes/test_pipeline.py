from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import weft
from tests.helpers.processes import python
from tests.helpers.profiling import calls_made
from weft import context
from weft.compile.listing import read_graph
from weft.core.primitive import exact
from weft.core.trace import CONSTANT, Literal
from weft.errors import GraphError
from weft.ir.graph import Graph
from weft.ir.types import TensorType
from weft.ops.math import add, mul
from weft.passes import dump as dump_module
from weft.passes import pipeline
from weft.passes.base import Pass
from weft.passes.fold_constants import FoldConstants
from weft.passes.if_to_select import IfToSelect
from weft.passes.inline_calls import InlineCalls
from weft.passes.pipeline import FINISH, PIPELINE, optimize
from weft.passes.position_operands import PositionOperands
from weft.passes.roll_repeats import RollRepeats
from weft.passes.share_repeats import ShareRepeats
from weft.passes.simplify import lossless

TEXT = """subgraph @net(%x: f32[3]) {
  %0 = Neg(%x) : f32[3]
  %1 = Neg(%0) : f32[3]
  Return(%1)
}
"""


def test_every_pass_is_in_the_pipeline_and_has_a_kebab_name() -> None:
    assert {step.name for step in (*PIPELINE, *FINISH, PositionOperands(), RollRepeats(), ShareRepeats())} == set(
        Pass.table
    )  # which run at the very end
    for name, cls in Pass.table.items():
        assert cls.name == name
        assert cls.__dataclass_params__.frozen  # type: ignore[attr-defined]


def test_names_of_passes_are_checked() -> None:
    with pytest.raises(ValueError, match="words-joined-by-dashes, not 'Bad_Name'"):
        type("Bad", (Pass,), {"name": "Bad_Name"})
    with pytest.raises(ValueError, match="'simplify' is declared twice"):
        type("Other", (Pass,), {"name": "simplify"})


def test_dump_sees_every_stage() -> None:
    stages: list[tuple[str, int]] = []
    optimize(read_graph(TEXT), lambda stage, graph: stages.append((stage, len(graph))))
    assert [stage for stage, _ in stages] == ["captured", *[step.name for step in PIPELINE]]
    assert stages[0][1] == 2
    assert stages[-1][1] == 0


@pytest.fixture
def saving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(dump_module, "_names", {})
    weft.set_context(save_graphs=True, save_graphs_path=str(tmp_path / "graphs"))
    yield tmp_path / "graphs"
    context.set_context(save_graphs=False, save_graphs_path=".")


def test_save_graphs_writes_numbered_files_that_read_back(saving: Path) -> None:
    optimize(read_graph(TEXT))
    names = [f"net_{i:02}_{name}.ir" for i, name in enumerate(["captured", *[step.name for step in PIPELINE]])]
    assert sorted(path.name for path in saving.iterdir()) == names
    assert (saving / names[0]).read_text() == TEXT
    for name in names:
        text = (saving / name).read_text()
        assert str(read_graph(text)) == text
    assert "Neg" not in (saving / names[-1]).read_text()


def test_a_second_graph_of_the_same_name_gets_its_own_files(saving: Path) -> None:
    optimize(read_graph(TEXT))
    optimize(read_graph(TEXT))
    assert (saving / "net_00_captured.ir").read_text() == (saving / "net.1_00_captured.ir").read_text()


def test_nothing_is_written_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    optimize(read_graph(TEXT))
    assert list(tmp_path.iterdir()) == []


@dataclass(frozen=True)
class Breaks:
    """Not a registered pass: leaves a graph that uses a value before it is defined."""

    name: ClassVar[str] = "breaks-it"

    def apply(self, graph: Graph) -> Graph:
        graph.nodes.reverse()
        return graph


def test_checking_names_the_guilty_pass() -> None:
    with pytest.raises(GraphError, match="not valid after pass 'breaks-it'"):
        optimize(read_graph(TEXT), passes=(Breaks(),), check=True)  # type: ignore[arg-type]


def test_the_environment_switches_checking_on() -> None:
    code = "from weft.passes import pipeline; print(pipeline.VERIFY)"
    done = python("-c", code, WEFT_VERIFY="1")
    assert done.stdout.strip() == "True"
    assert [pipeline.is_on(value) for value in ("1", "yes", "0", "")] == [True, True, False, False]


BRANCH = """subgraph @f(%c: bool[], %x: f32[3]) {
  %0 = If(%c, %x) {
    then: subgraph @then(%x: f32[3]) {
      %0 = Neg(%x) : f32[3]
      %1 = Exp(%0) : f32[3]
      Return(%1)
    }
    else: subgraph @else(%x: f32[3]) {
      Return(%x)
    }
  } : f32[3]
  Return(%0)
}
"""


@pytest.mark.parametrize(
    ("limits", "branches"), (({}, 0), ({"nodes": 1}, 1), ({"elements": 8}, 1), ({"elements": 9}, 0))
)
def test_limits_of_if_to_select(limits: dict[str, int], branches: int) -> None:
    graph = IfToSelect(**limits).apply(read_graph(BRANCH))
    assert sum(node.op.name == "If" for node in graph.nodes) == branches


def test_limits_of_inlining_and_folding() -> None:
    text = """subgraph @f(%x: f32[3]) {
      %0 = Call(%x) { callee: subgraph @g(%x: f32[3]) { %0 = Neg(%x) : f32[3] Return(%0) } } : f32[3]
      %1 = Call(%0) { callee: @g } : f32[3]
      %2 = Constant() {value=f32[3] {1.0, 2.0, 3.0}} : f32[3]
      %3 = Neg(%2) : f32[3]
      Return(%1, %3)
    }"""
    assert sum(n.op.name == "Call" for n in InlineCalls(limit=0).apply(read_graph(text)).nodes) == 2
    assert sum(n.op.name == "Neg" for n in FoldConstants(limit=2).apply(read_graph(text)).nodes) == 1
    assert sum(n.op.name == "Neg" for n in FoldConstants(limit=3).apply(read_graph(text)).nodes) == 0


def test_attribute_keys_tell_equal_numbers_apart() -> None:
    values = [1, True, 1.0, 0, False, 0.0, -0.0, (1,), (True,), (1.0,), 1 + 0j, None]
    keys = [exact(v) for v in values]
    for i, a in enumerate(keys):
        for j, b in enumerate(keys):
            if i != j:
                assert a != b or values[i] != values[j] or type(values[i]) is type(values[j]) is int, (
                    values[i],
                    values[j],
                )
    assert exact((1, (2.5,))) == exact((1, (2.5,)))


def test_lossless_against_every_value_of_small_types() -> None:
    from weft import dtypes

    small = [d for d in dtypes.ALL if d.itemsize <= 2 and d.category < 3]
    for narrow in small:
        kind = f"u{narrow.itemsize}"
        every = np.arange(2 ** (8 * narrow.itemsize), dtype=kind).view(narrow.np_dtype)
        if narrow.category == 0:
            every = np.array([False, True])
        with np.errstate(all="ignore"):
            every = every[~np.isnan(every.astype(np.float64))]
        for wide in dtypes.ALL:
            if lossless(narrow, wide):
                with np.errstate(all="ignore"):
                    assert (every.astype(wide.np_dtype).astype(narrow.np_dtype) == every).all(), (narrow, wide)


def large_graph(count: int) -> Graph:
    kind = TensorType.of(weft.float32, (3,))
    graph = Graph("large")
    values = [graph.add_param(kind), graph.add_param(kind)]
    for i in range(count):
        a, b = values[-1], values[(i * 7919) % len(values)]
        if i % 10 == 9:
            literal = Literal(np.full(3, i % 40, np.float32))
            values += graph.add_node(CONSTANT, (), (literal,), (kind,)).outputs
        else:
            values += graph.add_node((add, mul)[i % 2].primitive, (a, b), (), (kind,)).outputs
    graph.outputs = values[-100:]
    return graph


def test_the_work_grows_as_the_graph_does() -> None:
    small, large = (calls_made(functools.partial(optimize, large_graph(size))) for size in (1000, 4000))
    assert large < 4.4 * small
    assert large < 60 * 4000
