"""Cells of parallel programs in one process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import weft
from weft import nn
from weft.autodiff.grad import GradOperation
from weft.context import reset_auto_parallel_context, set_auto_parallel_context
from weft.nn.parallel import (
    AutoParallel,
    DistributedGradReducer,
    GradAccumulation,
    MicroBatchInterleaved,
    Pipeline,
    PipelineGradReducer,
    SyncBatchNorm,
    shard,
)
from weft.parallel.layout import Layout
from weft.parallel.world import SeveralProcesses

X = np.arange(8, dtype=np.float32).reshape(4, 2)


@pytest.fixture(autouse=True)
def _defaults() -> Iterator[None]:
    yield
    reset_auto_parallel_context()
    weft.set_context(mode=weft.PYNATIVE_MODE)


@pytest.mark.parametrize("mode", [weft.PYNATIVE_MODE, weft.GRAPH_MODE])
@pytest.mark.parametrize("kind", [Pipeline, GradAccumulation, MicroBatchInterleaved])
def test_parts_are_added_up(kind: Callable[..., nn.Cell], mode: int) -> None:
    weft.set_context(mode=mode)
    for parts in (1, 2, 4):
        for value in (X, X - 3):
            x = weft.Tensor(value)
            expected = value.reshape(parts, 4 // parts, 2).sum(0)
            np.testing.assert_array_equal(kind(nn.Identity(), parts)(x).asnumpy(), expected)

            class Both(nn.Cell):
                def construct(self, a: Any, b: Any, factor: Any) -> Any:
                    return a + b * factor

            np.testing.assert_array_equal(kind(Both(), parts)(x, x, 2).asnumpy(), expected * 3)


def test_gradients_of_parts_are_those_of_the_sum() -> None:
    net = nn.Dense(2, 1, "ones", "zeros")
    whole, parts = nn.WithLossCell(net, nn.MSELoss("sum")), GradAccumulation(nn.WithLossCell(net, nn.MSELoss("sum")), 2)
    x, y = weft.Tensor(X), weft.Tensor(np.ones((4, 1), np.float32))
    expected = weft.grad(whole, None, net.trainable_params())(x, y)
    for mode in (weft.PYNATIVE_MODE, weft.GRAPH_MODE):
        weft.set_context(mode=mode)
        for found, wanted in zip(weft.grad(parts, None, net.trainable_params())(x, y), expected, strict=True):
            np.testing.assert_allclose(found.asnumpy(), wanted.asnumpy(), rtol=1e-6)


@pytest.mark.parametrize("mode", [weft.PYNATIVE_MODE, weft.GRAPH_MODE])
def test_a_step_of_data_parallel_training(mode: int) -> None:
    """As scripts write it: gradients through the reducer, with and without it the same step."""

    class Step(nn.Cell):
        def __init__(self, network: nn.Cell, optimizer: Any, reduced: bool) -> None:
            super().__init__(auto_prefix=False)
            self.network, self.optimizer = network, optimizer
            self.grad = GradOperation(get_by_list=True)
            self.reduced = reduced
            self.grad_reducer = DistributedGradReducer(optimizer.parameters, True, 1)

        def construct(self, x: Any, y: Any) -> Any:
            loss = self.network(x, y)
            grads = self.grad(self.network, self.optimizer.parameters)(x, y)
            if self.reduced:
                grads = self.grad_reducer(grads)
            self.optimizer(grads)
            return loss

    weft.set_context(mode=mode)
    set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True, device_num=1)
    found = []
    for reduced in (False, True):
        net = nn.Dense(2, 1, "ones", "zeros")
        step = Step(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.01, 0.9), reduced)
        x, y = weft.Tensor(X), weft.Tensor(np.ones((4, 1), np.float32))
        losses = [float(step(x, y)) for _ in range(4)]
        assert losses[-1] < losses[0]
        found.append((losses, net.weight.asnumpy()))
    assert found[0][0] == found[1][0]
    np.testing.assert_array_equal(found[0][1], found[1][1])


def test_the_reducers() -> None:
    grads = (weft.Tensor([1.0, 2.0]), weft.Tensor([3.0]))
    assert [g.asnumpy().tolist() for g in DistributedGradReducer([])(grads)] == [[1.0, 2.0], [3.0]]
    assert [g.asnumpy().tolist() for g in PipelineGradReducer([], 2.0)(grads)] == [[0.5, 1.0], [1.5]]


@pytest.mark.parametrize("training", [True, False])
def test_sync_batch_norm_is_batch_norm(training: bool) -> None:
    image = weft.Tensor(np.random.default_rng(0).standard_normal((3, 2, 4, 4)).astype(np.float32))
    ours, plain = SyncBatchNorm(2, process_groups=[[0]]), nn.BatchNorm2d(2)
    for _ in range(2):
        expected = plain.set_train(training)(image)
        np.testing.assert_array_equal(ours.set_train(training)(image).asnumpy(), expected.asnumpy())
    np.testing.assert_array_equal(ours.moving_mean.asnumpy(), plain.moving_mean.asnumpy())
    assert [p.name for p in ours.get_parameters()] == [p.name for p in plain.get_parameters()]


def test_auto_parallel_is_the_network() -> None:
    net = nn.Dense(2, 1, "ones", "zeros")
    shared = AutoParallel(net, parallel_mode="sharding_propagation")
    shared.dataset_strategy("full_batch")
    shared.dataset_strategy((Layout((1,), ("dp",))("dp"),))
    shared.hsdp()
    shared.pipeline(1)
    shared.enable_gradients_mean()
    shared.save_param_strategy_file("/nowhere/strategy.json")
    assert shared.get_pipeline_stages() == 1
    assert [p.name for p in shared.get_parameters()] == ["weight", "bias"]
    for mode in (weft.PYNATIVE_MODE, weft.GRAPH_MODE):
        weft.set_context(mode=mode)
        np.testing.assert_array_equal(shared(weft.Tensor(X)).asnumpy(), X.sum(1, keepdims=True))


def test_a_sharded_function_is_the_function() -> None:
    @weft.jit
    def run(x: weft.Tensor) -> weft.Tensor:
        return shard(lambda a: a * 2, in_strategy=((1, 1),))(x) + 1

    for value in (X, X + 1):
        np.testing.assert_array_equal(run(weft.Tensor(value)).asnumpy(), value * 2 + 1)


@pytest.mark.parametrize(
    "call",
    [
        lambda net: DistributedGradReducer([], True, 8),
        lambda net: SyncBatchNorm(2, process_groups=[[0, 1]]),
        lambda net: AutoParallel(net).hsdp(8),
    ],
)
def test_other_processes_are_refused(call: Callable[[Any], Any]) -> None:
    with pytest.raises(SeveralProcesses, match="one process, rank 0 of 1"):
        call(nn.Identity())


def test_the_reducer_refuses_the_devices_of_the_settings() -> None:
    set_auto_parallel_context(device_num=8)
    with pytest.raises(SeveralProcesses, match="8 devices"):
        DistributedGradReducer([])


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda net: DistributedGradReducer([], 1), TypeError),
        (lambda net: DistributedGradReducer([], True, "1"), TypeError),
        (lambda net: DistributedGradReducer([], True, 0), ValueError),
        (lambda net: Pipeline(3, 1), TypeError),
        (lambda net: Pipeline(net, 0), ValueError),
        (lambda net: Pipeline(net, 3)(weft.Tensor(X)), ValueError),
        (lambda net: AutoParallel(net, "foo"), ValueError),
        (lambda net: AutoParallel(net).dataset_strategy("foo"), ValueError),
        (lambda net: AutoParallel(net).dataset_strategy(3), TypeError),
        (lambda net: AutoParallel(net).pipeline(0), ValueError),
        (lambda net: AutoParallel(net).pipeline(2, scheduler="3f4b"), ValueError),
        (lambda net: Pipeline(net, 2, stage_config={"a": 0, "b": 1}), ValueError),
        (lambda net: AutoParallel(net).save_param_strategy_file(3), TypeError),
        (lambda net: shard(3, ((1,),)), TypeError),
        (lambda net: shard(net, 3), TypeError),
    ],
)
def test_wrong_arguments(call: Callable[[Any], Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        call(nn.Identity())


def test_a_reducer_does_not_own_what_it_compares() -> None:
    class Step(nn.Cell):
        def __init__(self, network: nn.Cell, optimizer: nn.Cell) -> None:
            super().__init__()
            self.grad_reducer = DistributedGradReducer(optimizer.parameters)
            self.network = network

    net = nn.Dense(2, 2)
    step = Step(net, nn.SGD(net.trainable_params(), 0.1))
    assert [param.name for param in step.get_parameters()] == ["network.weight", "network.bias"]
    assert list(step.parameters_dict()) == ["network.weight", "network.bias"]
