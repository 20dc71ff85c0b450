"""`weft.testing`: checks that fail where they should, with the report in the message."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import weft
from tests.explain.explained import a_break
from weft import Tensor
from weft.capture.state.events import History
from weft.testing import assert_compiles, assert_no_breaks


def rows(count: int) -> Tensor:
    return Tensor(np.ones((count, 3), np.float32))


def test_graphs_within_the_limit() -> None:
    double = weft.jit(lambda x: x * 2)
    with assert_compiles(max=3) as recorder:
        double(rows(1))
        double(rows(2))
        double(rows(1))  # the second graph, which is for all sizes, compiled for this one
    assert len(recorder.report().graphs) == 2
    with assert_compiles(max=0):
        double(rows(2))


def test_too_many_graphs_show_the_report() -> None:
    double = weft.jit(lambda x: x * 2)
    with pytest.raises(AssertionError) as caught, assert_compiles(max=1):
        [double(rows(count)) for count in (1, 2)]
    text = str(caught.value)
    assert text.startswith("2 graphs were made, at most 1 allowed\n\n")
    assert str(double.report()) in text


def test_graphs_of_other_threads_count() -> None:
    double = weft.jit(lambda x: x * 2)
    with pytest.raises(AssertionError, match="1 graph was made, at most 0"), assert_compiles(max=0):
        in_a_thread(double, rows(1))


def in_a_thread(function: Any, *args: Any) -> None:
    """Call a function in another thread."""
    thread = threading.Thread(target=function, args=args)
    thread.start()
    thread.join()


def test_blocks_nest() -> None:
    double = weft.jit(lambda x: x * 2)
    with assert_compiles(max=2):
        with assert_compiles(max=1):
            double(rows(1))
        with assert_compiles(max=1):
            double(rows(2))


@pytest.mark.parametrize("check", [lambda: assert_compiles(max=0), assert_no_breaks])
def test_exceptions_of_the_block_pass(check: Any) -> None:
    with pytest.raises(KeyError, match="mine"), check():
        {weft.jit(lambda x: x * 2)(rows(1)): 1}["mine"]


@pytest.mark.parametrize("value", [-1, True, 1.5, "1"])
def test_limits_are_checked(value: Any) -> None:
    with pytest.raises(ValueError, match="int of at least 0"), assert_compiles(max=value):
        pass


def test_no_breaks() -> None:
    with assert_no_breaks():
        weft.jit(lambda x: x * 2)(rows(1))


def test_breaks_show_the_report_also_when_compiled_before() -> None:
    history, site = History("leaves"), a_break()
    history.ran_break(site)
    with assert_no_breaks():
        pass
    with pytest.raises(AssertionError) as caught, assert_no_breaks():
        history.ran_break(site)
    text = str(caught.value)
    assert text.startswith("1 break was run, none allowed\n\n")
    for part in (str(site.location), "^^^", site.why, "run once"):
        assert part in text


# -- compilations by XLA ---------------------------------------------------------------------------------------------


def names(recorder: Any) -> list[str]:
    return [made.compilation.what for made in recorder.report().compilations]


def training_step() -> Any:
    net = weft.nn.Dense(6, 3)
    optimizer = weft.nn.Momentum(net.trainable_params(), 0.1, 0.9)
    step = weft.nn.TrainOneStepCell(weft.nn.WithLossCell(net, weft.nn.MSELoss()), optimizer).set_train()
    x, y = Tensor(np.ones((4, 6), np.float32)), Tensor(np.zeros((4, 3), np.float32))
    return lambda: step(x, y)


def test_a_training_step_is_compiled_once() -> None:
    step = training_step()
    weft.set_context(mode=weft.GRAPH_MODE)
    with assert_compiles(max=1) as recorder:
        for _ in range(4):
            step()
    assert names(recorder) == ["run in place"]


class ReturnsItsScale(weft.nn.TrainOneStepWithLossScaleCell):
    """As steps of published scripts do: the scale is read when it was moved."""

    def construct(self, *inputs: Any) -> Any:
        loss, overflow, _ = super().construct(*inputs)
        return loss, overflow, self.scale_sense.value()


def test_a_step_that_returns_its_loss_scale_is_compiled_once() -> None:
    net = weft.nn.Dense(60, 30)
    optimizer = weft.nn.Momentum(net.trainable_params(), 0.1, 0.9)
    update = weft.nn.DynamicLossScaleUpdateCell(8.0, 2, 3)
    cell = ReturnsItsScale(weft.nn.WithLossCell(net, weft.nn.MSELoss()), optimizer, update).set_train()
    x, y = Tensor(np.ones((4, 60), np.float32)), Tensor(np.zeros((4, 30), np.float32))
    weft.set_context(mode=weft.GRAPH_MODE)
    kept = []
    with assert_compiles(max=1) as recorder:
        for _ in range(6):
            kept.append(cell(x, y)[2])
    assert names(recorder) == ["run in place"]
    assert [scale.item() for scale in kept] == [8.0, 8.0, 16.0, 16.0, 16.0, 32.0]


def test_held_parameters_cost_a_second_compilation_that_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weft.compile.executable._RATE", 1.0)  # copies seem to take longer than compiling
    p = weft.Parameter(rows(2))

    @weft.jit
    def step(x: Tensor) -> Tensor:
        p.set_data(p + x)
        return p.sum()

    held = []
    with assert_compiles(max=2) as recorder:
        for _ in range(4):
            held.append(p.value())
            step(rows(2))
    assert names(recorder) == ["run in place", "run"]
    assert [t.asnumpy()[0, 0] for t in held] == [1.0, 2.0, 3.0, 4.0]
    assert "1 graph, 0 breaks, 0 recompiles, 1 further compilation" in str(recorder.report())
    p.set_data(rows(3), slice_shape=True)

    def keep_all() -> None:
        for _ in range(4):
            held.append(p.value())
            step(rows(3))

    with pytest.raises(AssertionError, match="1 graph and 1 further compilation were"), assert_compiles(max=1):
        keep_all()


def test_gradients_of_an_earlier_graph_count() -> None:
    cube = weft.jit(lambda x: (x * x * x).sum())
    cube(rows(1))
    with pytest.raises(AssertionError) as caught, assert_compiles(max=1):
        weft.grad(cube)(rows(1))
    text = str(caught.value)
    assert text.startswith("2 further compilations were made, at most 1 allowed\n\n")
    assert "graph 1, compiled by XLA: backward in " in text
    with assert_compiles(max=0):
        weft.grad(cube)(rows(1))
    with assert_compiles(max=3) as recorder:
        weft.grad(weft.grad(cube))(rows(1))
    assert names(recorder) == ["gradient of forward", "gradient of backward"]
    (graph,) = cube.report().graphs
    assert [made.what for made in graph.event.compilations] == ["run", "forward", "backward", *names(recorder)]
    assert graph.to_dict()["compilations"][1]["what"] == "forward"


def test_host_calls_in_loops_are_compiled_in_another_thread() -> None:
    @weft.jit
    def shout(n: Tensor) -> Tensor:
        while n > 0:
            print(n)
            n = n - 1
        return n

    with assert_compiles(max=1) as recorder:
        shout(Tensor(2))
    assert names(recorder) == ["run"]


def test_operations_by_themselves_are_counted_apart() -> None:
    x = rows(37)
    with assert_compiles(max=0) as recorder:
        x * x
    assert len(recorder.report().eager) >= 1
    assert recorder.report().to_dict()["totals"]["eager_compilations"] == len(recorder.report().eager)
    with assert_compiles(max=0, eager=0):
        x * x
    with pytest.raises(AssertionError, match="compiled, at most 0 allowed"), assert_compiles(max=0, eager=0):
        rows(38) * 2
    with pytest.raises(ValueError, match="eager must be an int"), assert_compiles(max=0, eager=-1):
        pass
