"""Which policy applies where: graph mode, decorated functions in decorated functions, functions that run in Python."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.helpers.compiled import entries
from tests.helpers.processes import python
from tests.helpers.values import values, x
from weft import GRAPH_MODE, Tensor, Unsupported, context, nn, set_context
from weft.errors import Refusal
from weft.jit import compiled_of, jit, jit_disable, ms_function

SCALE = 2.0


@pytest.fixture(autouse=True)
def _default_settings() -> Iterator[None]:
    yield
    context.reset()


class Note:
    """Where code ran last: in Python, or in a graph (then each run of the graph writes what the capture wrote)."""

    place = ""

    def here(self, v: Any) -> None:
        self.place = "graph" if (v * 1).is_symbolic else "python"


# -- the two limits of mode="PIJit" ---------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"mode": "PIJit"}, {"capture_mode": "bytecode"}])
def test_pijit_counts_as_absent_in_graph_mode(options: dict[str, str]) -> None:
    note = Note()

    @jit(**options)
    def guarded(v: Any) -> Any:
        note.here(v)
        return v * 2

    @jit
    def automatic(v: Any) -> Any:
        note.here(v)
        return v * 2

    for function, runs_in_python in ((guarded, True), (automatic, False)):
        set_context(mode=GRAPH_MODE)
        assert values(function(x())) == [2.0, 4.0]
        assert (entries(function) == 0) == runs_in_python
        assert note.place == ("python" if runs_in_python else "graph")
        context.reset()
        assert values(function(x())) == [2.0, 4.0]
        assert entries(function) == 1
        assert values(function(x())) == [2.0, 4.0]  # the entry is there, and yet:
        set_context(mode=GRAPH_MODE)
        assert values(function(x(1.0, 2.0, 3.0))) == [2.0, 4.0, 6.0]
        assert entries(function) == (1 if runs_in_python else 2)
        assert values(function(x())) == [2.0, 4.0]
        assert note.place == ("python" if runs_in_python else "graph")
        context.reset()
        assert values(function(x())) == [2.0, 4.0]
        assert note.place == "graph"


def test_pijit_of_a_construct_is_part_of_the_graph_of_its_cell() -> None:
    class Net(nn.Cell):
        @jit(mode="PIJit")
        def construct(self, v: Any) -> Any:
            return v * 2

    net = Net()
    set_context(mode=GRAPH_MODE)
    assert values(net(x())) == [2.0, 4.0]
    assert entries(net.construct) == 0
    context.reset()
    assert values(net(x())) == [2.0, 4.0]
    assert entries(net.construct) == 1


def test_pijit_counts_as_absent_inside_psjit(monkeypatch: pytest.MonkeyPatch) -> None:
    @jit(mode="PIJit")
    def guarded(v: Any) -> Any:
        return v * SCALE

    @jit(mode="PSJit")
    def static(v: Any) -> Any:
        return guarded(v) + SCALE

    @jit
    def automatic(v: Any) -> Any:
        return static(v)

    assert values(static(x())) == [4.0, 6.0]
    assert values(automatic(x())) == [4.0, 6.0]
    assert entries(guarded) == 0
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert values(static(x())) == [4.0, 6.0]  # SCALE is a constant of the first call, in the inner function too
    assert values(guarded(x())) == [3.0, 6.0]  # called by itself, it sees the edit
    assert values(automatic(x())) == [6.0, 9.0]  # the outermost policy is the one that counts


def test_ms_function_is_the_static_policy() -> None:
    assert not compiled_of(ms_function(lambda v: v)).guarded
    assert compiled_of(ms_function(lambda v: v, mode="PIJit")).guarded


# -- jit_disable ----------------------------------------------------------------------------------------


def test_a_disabled_function_runs_in_python_with_all_that_it_calls() -> None:
    notes = Note(), Note()

    @jit
    def inner(v: Any) -> Any:
        notes[0].here(v)
        return v * 2

    class Net(nn.Cell):
        @jit
        def construct(self, v: Any) -> Any:
            notes[1].here(v)
            return v * 2

    net = Net()

    def function(v: Any) -> Any:
        return net(inner(v))

    assert values(jit(function)(x())) == [4.0, 8.0]
    assert [note.place for note in notes] == ["graph", "graph"]
    for disabled in (
        jit_disable(function),
        jit_disable()(function),
        jit_disable(jit(function)),
        jit(jit_disable(function)),
        jit_disable(jit_disable(function)),
    ):
        assert values(disabled(x())) == [4.0, 8.0]
        assert [note.place for note in notes] == ["python", "python"]
        for note in notes:
            note.place = ""
    assert entries(inner) == entries(net.construct) == 0


def test_compiled_code_leaves_a_disabled_function_to_python() -> None:
    @jit_disable
    def host(v: Any) -> Any:
        return v * 2

    @jit(fullgraph=True)
    def whole(v: Any) -> Any:
        return host(v + 1)

    with pytest.raises(Unsupported, match=r"host is decorated with jit_disable") as caught:
        whole(x())
    assert caught.value.kind is Refusal.DISABLED
    assert caught.value.location is not None
    assert caught.value.location.line == whole.__wrapped__.__code__.co_firstlineno + 2


def test_a_disabled_function_is_a_break() -> None:
    note = Note()

    @jit
    def inner(v: Any) -> Any:
        return v * 3

    @jit_disable
    def host(v: Any) -> Any:
        note.here(v)
        return inner(v)

    class Net(nn.Cell):
        @jit
        def construct(self, v: Any) -> Any:
            return host(v + 1) * 2

    net = Net()
    for _ in range(2):
        assert values(net(x())) == [12.0, 18.0]
        assert note.place == "python"
    (site,) = compiled_of(net.construct).history.breaks
    assert (site.kind, site.location.line) == ("disabled", Net.construct.__wrapped__.__code__.co_firstlineno + 2)
    assert entries(inner) == 0


def test_a_block_in_which_everything_runs_in_python() -> None:
    note = Note()

    @jit
    def f(v: Any) -> Any:
        note.here(v)
        return v * 2

    def place() -> str:
        assert values(f(x())) == [2.0, 4.0]
        return note.place

    assert place() == "graph"
    others: list[str] = []
    with jit_disable():
        assert place() == "python"
        with jit_disable():
            assert place() == "python"
        assert place() == "python"
        thread = threading.Thread(target=lambda: others.append(place()))
        thread.start()
        thread.join()
    assert others == ["graph"]  # another thread is not concerned
    assert place() == "graph"
    with pytest.raises(ValueError, match="out"), jit_disable():
        raise ValueError("out")
    assert place() == "graph"
    assert entries(f) == 1


@pytest.mark.parametrize("kind", ["class", "instance", "method", "static"])
def test_jit_disable_on_cells_and_methods(kind: str) -> None:
    class Net(nn.Cell):
        def construct(self, v: Any) -> Any:
            return v * 2 if v.sum() > 0 else v

        @jit_disable
        def method(self, v: Any) -> Any:
            return v * 2

        @jit_disable
        @staticmethod
        def static(v: Any) -> Any:
            return v * 2

    net = jit_disable(Net)() if kind == "class" else jit_disable(Net()) if kind == "instance" else Net()
    assert isinstance(net, nn.Cell)
    run = {"method": net.method, "static": net.static}.get(kind, net)
    assert values(run(x())) == [2.0, 4.0]
    with pytest.raises(Unsupported, match="jit_disable"):
        jit(lambda v: run(v), fullgraph=True)(x())


# -- switched off for the process -----------------------------------------------------------------------

PROGRAM = """
import numpy as np
import weft
from weft import nn

log = []

@weft.jit
def f(v):
    log.append((v * 1).is_symbolic)
    return v * 2

class Net(nn.Cell):
    def construct(self, v):
        log.append((v * 1).is_symbolic)
        return f(v)

v = weft.Tensor(np.ones(2, np.float32))
f(v)
weft.set_context(mode=weft.GRAPH_MODE)
Net()(v)
print(weft.get_context("jit"), log == [False] * 3)
weft.set_context(jit=not weft.get_context("jit"))
f(v)
print(weft.get_context("jit"), len(f.compiled.entries))
"""


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"WEFT_JIT": "0"}, ["False", "True", "True", "1"]),
        ({"WEFT_JIT": "", "MS_JIT": "0"}, ["False", "True", "True", "1"]),
        ({"WEFT_JIT": "1", "MS_JIT": "0"}, ["True", "False", "False", "1"]),
    ],
)
def test_the_environment_switches_compiling_off(environment: dict[str, str], expected: list[str]) -> None:
    run = python("-c", PROGRAM, **environment)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == expected


def test_a_wrong_switch_is_named() -> None:
    run = python("-c", "import weft", WEFT_JIT="maybe")
    assert run.returncode != 0
    assert "the environment variable WEFT_JIT must be 0 or 1, not 'maybe'" in run.stderr


def test_hooks_run_in_graph_mode_with_compiling_switched_off() -> None:
    class Net(nn.Cell):
        def construct(self, v: Any) -> Any:
            return v * 2

    net = Net()
    net.register_forward_hook(lambda cell, inputs, output: output + 1)
    set_context(mode=GRAPH_MODE)
    assert values(net(x())) == [3.0, 5.0]
    set_context(jit=False)
    assert values(net(x())) == [3.0, 5.0]
    set_context(jit=True)
    with jit_disable():
        assert values(net(x())) == [3.0, 5.0]
    with pytest.raises(TypeError, match=r"Net takes 1 argument"), jit_disable():
        net(x(), x())


@pytest.mark.parametrize("mode", ["PSJit", "PIJit"])
def test_the_mode_of_a_layer_that_a_call_changes_between_breaks(mode: str) -> None:
    layer = nn.BatchNorm1d(1)

    def function(x: Any) -> Any:
        layer.set_train(True)
        _ = (x + 1).asnumpy()
        y = layer(x)
        layer.set_train(False)
        _ = (x + 1).asnumpy()
        return y

    compiled = jit(function, mode=mode)
    for _ in range(3):
        assert not layer.training
        np.testing.assert_allclose(compiled(Tensor([[1.0], [3.0]])).asnumpy().ravel(), [-1, 1], rtol=1e-4)
