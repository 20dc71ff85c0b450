"""Reports of real captures, by every way to ask for one."""

from __future__ import annotations

import gc
import io
import json
import linecache
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from tests.explain import explained as programs
from tests.explain.explained import a_break
from weft import Tensor
from weft.capture.state import events
from weft.capture.state.events import FIRST, KEPT, Captured, History
from weft.errors import Location, Unsupported, excerpt
from weft.explain import FunctionReport, Recorder, Report, console
from weft.explain.explain import report_of
from weft.ir.graph import Graph

X = Tensor(np.ones((2, 3), np.float32))


def batch(rows: int = 2) -> dict[str, Tensor]:
    return {"x": Tensor(np.ones((rows, 3), np.float32))}


def traced(function: Callable[..., Any], *args: Any) -> set[int]:
    """The lines of the programs that CPython runs in a call."""
    lines: set[int] = set()

    def trace(frame: types.FrameType, event: str, arg: Any) -> Any:
        if frame.f_code.co_filename != programs.__file__:
            return None
        if event == "line":
            lines.add(frame.f_lineno)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function(*args)
    finally:
        sys.settrace(before)
    return lines


@pytest.mark.parametrize("function", [programs.polynomial, programs.closures])
def test_lines_of_a_graph_are_those_that_python_runs(function: Callable[..., Any]) -> None:
    (graph,) = weft.explain(function)(X).graphs
    assert {line for file, line in graph.lines if file == programs.__file__} == traced(function, X)
    assert {file for file, _ in graph.lines} == {programs.__file__}


def test_operations_are_counted() -> None:
    def function(x: Tensor) -> Tensor:
        for _ in range(5):
            x = x * x
        return weft.ops.sin(x) + weft.ops.sin(x + 1)

    (graph,) = weft.explain(function)(X).graphs
    assert graph.operations == {"Mul": 5, "Add": 2, "Sin": 2}
    assert list(graph.operations) == ["Mul", "Add", "Sin"]
    assert graph.outputs == ["f32[2,3]"]
    assert graph.text.count("= Mul(") == 5


def test_operations_in_nested_graphs_are_counted() -> None:
    def function(x: Tensor) -> Tensor:
        while x.sum() < 100:
            x = x * 2
        return x

    (graph,) = weft.explain(function)(X).graphs
    assert graph.operations["While"] == 1
    assert graph.operations["Mul"] == 1


def test_a_report_of_a_decorated_function_needs_no_run() -> None:
    double = weft.jit(lambda x: x * 2)
    assert double.report().graphs == ()
    double(X)
    double(X)
    report = double.report()
    assert [graph.number for graph in report.graphs] == [1]
    assert report.recompiles == report.breaks == ()
    (graph,) = report.graphs
    assert graph.event.seconds > 0
    assert graph.event.first_run > 0
    assert report.guards == graph.event.guards != {}


def test_a_recompile_names_what_differs() -> None:
    step = weft.jit(lambda batch: batch["x"] * 2)
    step(batch(2))
    step(batch(5))
    step(batch(2))
    report = step.report()
    assert [graph.event.reason == FIRST for graph in report.graphs] == [True, False]
    (again,) = report.recompiles
    assert "x" in again.event.reason
    assert f"recompiled, {again.event.reason}" in str(report)
    assert report.to_dict()["functions"][0]["recompiles"] == [{"graph": 2, "reason": again.event.reason}]


def test_a_changed_global_is_a_recompile(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = weft.jit(programs.closures)
    compiled(X)
    monkeypatch.setattr(programs, "SCALE", 3.0)
    compiled(X)
    (again,) = compiled.report().recompiles
    assert "SCALE" in again.event.reason


def test_other_numbers_of_arguments_are_recompiles() -> None:
    add = weft.jit(lambda x, y=1.0: x + y)
    add(X)
    add(X, X)
    assert len(add.report().recompiles) == 1


@pytest.mark.parametrize("mode", [weft.PYNATIVE_MODE, weft.GRAPH_MODE])
def test_explain_takes_whatever_can_be_compiled(mode: int) -> None:
    weft.set_context(mode=mode)
    model, net, jitted_net = programs.Model(), programs.Net(), programs.JittedNet()
    cases: list[tuple[Any, Any, str]] = [
        (programs.polynomial, X, "polynomial"),
        (weft.jit(programs.polynomial), X, "polynomial"),
        (lambda x: x + 1, X, "<lambda>"),
        (model.plain, X, "plain"),
        (model.jitted, X, "jitted"),
        (model.static, X, "static"),
        (programs.Model.static, X, "static"),
        (net, batch(), "Net"),
        (net.construct, batch(), "construct"),
        (jitted_net.construct, X, "construct"),
        (jitted_net, X, "JittedNet" if mode == weft.GRAPH_MODE else "construct"),
        (weft.jit(programs.Net()), batch(), "construct"),
    ]
    for fn, argument, name in cases:
        report = weft.explain(fn)(argument)
        function = report.functions[0]
        if mode == weft.GRAPH_MODE and isinstance(fn, weft.nn.Cell):
            name = type(fn).__name__
        assert (function.name, len(function.graphs)) == (name, 1), fn
        assert function.defined is not None
        assert function.defined.file in (programs.__file__, __file__)


def test_report_of_cells_and_methods() -> None:
    net = programs.Net()
    net(batch())
    assert net.report().functions == ()  # eager
    weft.set_context(mode=weft.GRAPH_MODE)
    net(batch(2))
    net(batch(3))
    assert len(net.report().graphs) == 2
    assert net.report().functions[0].defined.scope == "Net.construct"  # type: ignore[union-attr]
    model, other = programs.Model(), programs.Model()
    model.jitted(X)
    assert len(report_of(model.jitted).graphs) == 1
    assert report_of(other.jitted).graphs == ()
    assert len(model.jitted.report().graphs) >= 1  # of all instances: a bound method has the attributes of its function


@pytest.mark.parametrize("fn", [3, "text", programs.Net, int])
def test_what_cannot_be_compiled_is_refused(fn: Any) -> None:
    with pytest.raises(TypeError, match="functions, methods and Cells"):
        weft.explain(fn)


def test_explain_again_adds_to_the_same_report() -> None:
    explained = weft.explain(programs.Net())
    assert len(explained(batch(2)).graphs) == 1
    assert len(explained(batch(2)).graphs) == 1
    assert len(explained(batch(4)).recompiles) == 1


def test_exceptions_of_the_function_are_its_own() -> None:
    with pytest.raises(NameError, match="undefined"):
        weft.explain(programs.fails)(X)


def test_a_strict_refusal_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the end of the capture nothing is known of it, so the report is on the place that refused it."""
    function = weft.jit(programs.leaves, fullgraph=True)
    with pytest.raises(Unsupported) as caught:
        function(X)
    with pytest.raises(Unsupported):
        function(X)
    (refusal,) = function.report().refusals
    assert refusal.count == 2
    assert refusal.site.location == caught.value.location
    assert refusal.site.why == caught.value.why
    text = str(function.report())
    for line in str(caught.value).splitlines()[1:]:
        assert line.strip() in text  # the line, its carets, why and what to do
    assert weft.explain(function)(X).refusals[0].count == 3


def test_functions_called_by_the_explained_one_are_reported_too() -> None:
    inner = weft.jit(lambda x: x * 3)
    inner(X)
    outer = weft.jit(lambda x: x + 1)

    class Outer(weft.nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            return outer(x)

    net = Outer()
    net.__dict__["construct"] = weft.jit(net.construct)
    report = weft.explain(net)(X)
    assert [function.name for function in report.functions] == ["construct"]  # the inner one is in its graph
    with Recorder() as recorder:
        inner(X)
        outer(X)
    assert [function.name for function in recorder.report().functions] == ["<lambda>"]


def test_a_recorder_sees_functions_that_are_gone() -> None:
    def run(rows: int) -> None:
        weft.jit(lambda batch: batch["x"] + 1)(batch(rows))

    with Recorder() as recorder:
        run(1)
        run(2)
        gc.collect()
        assert len(recorder.report().graphs) == 2
    assert len(recorder.report().graphs) == 2
    assert events.listeners.count(recorder._note) == 0


def test_json_is_the_report() -> None:
    compiled = weft.jit(programs.closures)
    compiled(X)
    report = compiled.report()
    data = json.loads(report.to_json())
    assert data == json.loads(report.to_json(indent=None)) == report.to_dict()
    (function,) = data["functions"]
    (graph,) = function["graphs"]
    assert function["defined"]["file"] == programs.__file__
    source = linecache.getline(programs.__file__, function["defined"]["line"])
    assert source.startswith("def closures")
    assert graph["operations"] == report.graphs[0].operations
    assert data["totals"]["operations"] == sum(graph["operations"].values())
    assert {place["line"] for place in graph["lines"]} == traced(programs.closures, X)


def test_text_and_colours_say_the_same(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    rich = pytest.importorskip("rich.console")
    step = weft.jit(lambda batch: batch["x"] * 2)
    step(batch(2))
    step(batch(5))
    report = step.report()
    out = io.StringIO()
    console.print_rich(report, rich.Console(file=out, width=200))
    shown = out.getvalue()
    for word in (
        "<lambda>",
        "2 graphs, 0 breaks, 1 recompile",
        "first call",
        "Mul 1",
        report.recompiles[0].event.reason,
    ):
        assert word in shown
        assert word in str(report)
    report.print()
    assert "first call" in capsys.readouterr().out
    monkeypatch.setitem(sys.modules, "rich", None)
    monkeypatch.setitem(sys.modules, "rich.console", None)
    report.print()
    assert capsys.readouterr().out == str(report) + "\n"


def test_an_empty_report() -> None:
    assert str(Report([])) == "nothing was compiled"
    assert Report([]).to_dict()["totals"]["graphs"] == 0
    assert "nothing was compiled" in Report([]).to_html()


# -- records that a capture makes only after a long time, or with breaks -----------------------------------------------


def test_breaks_are_counted_and_shown_with_carets() -> None:
    history, site = History("leaves"), a_break()
    for _ in range(3):
        history.ran_break(site)
    report = Report([FunctionReport.of(history)])
    (broken,) = report.breaks
    assert broken.count == 3
    lines = str(report).splitlines()
    at = next(
        i for i, line in enumerate(lines) if line.endswith(f"break [unknown-call] at {site.location}, run 3 times")
    )
    source, carets = lines[at + 1], lines[at + 2]
    start = carets.index("^")
    assert source[start : start + carets.count("^")] == "np.sin(y.asnumpy())"
    assert [line.strip() for line in lines[at + 3 :]] == [
        "why: numpy.sin computes outside <the> graph",
        "do:  use ops.sin:",
        "ops.sin(y)",
    ]


def test_a_recorder_counts_what_ran_in_its_block_only() -> None:
    history, site = History("leaves"), a_break()
    history.ran_break(site)
    with Recorder() as recorder:
        history.ran_break(site)
        history.ran_break(site)
    assert [broken.count for broken in recorder.report().breaks] == [2]
    with recorder:
        pass
    assert recorder.report().functions == ()


def test_a_history_keeps_the_last_graphs_and_their_numbers() -> None:
    history = History("endless")
    for i in range(KEPT + 5):
        history.add(Captured(Graph(f"g{i}"), {}, FIRST if not i else "argument x: 1 -> 2", None, None))
    with Recorder() as recorder:
        history.add(Captured(Graph("last"), {}, "argument x: 2 -> 3", None, None))
    report = FunctionReport.of(history)
    assert [report.graphs[0].number, report.graphs[-1].number] == [7, KEPT + 6]
    assert [graph.number for graph in recorder.report().graphs] == [KEPT + 6]


def test_evicted_versions_are_mentioned() -> None:
    history = History("busy")
    history.evicted = 2
    assert "2 compiled versions dropped" in str(Report([FunctionReport.of(history)]))


@pytest.mark.parametrize(
    ("source", "start", "end", "marked"),
    [
        ("    y = f(x)\n", 8, 12, "f(x)"),
        ("    s = 'ünï' + f(x)\n", 18, 22, "f(x)"),
        ("f(x)", 0, 4, "f(x)"),
        ("    y = f(x)\n", 8, None, "f"),
        ("    y = f(x)\n", 8, 8, "f"),
    ],
)
def test_carets_stand_under_the_expression(source: str, start: int, end: int | None, marked: str) -> None:
    linecache.cache["<excerpt>"] = (len(source), None, [source], "<excerpt>")
    line, carets = excerpt(Location("<excerpt>", 1, start, end))
    assert line == source.strip()
    assert line[carets.index("^") :][: carets.count("^")] == marked
    assert excerpt(Location("<excerpt>", 1)) == [line]
    assert excerpt(Location("<excerpt>", 9, 1, 2)) == []
