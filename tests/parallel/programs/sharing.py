"""Tensors that have the memory of a parameter in common with it stay what they are when steps over four devices write
to the parameter, and parameters of one tensor part.
"""

from __future__ import annotations

import copy
import os
import sys
from collections.abc import Callable
from typing import Any

os.environ["WEFT_DEVICES"] = "4"

import numpy as np
import pytest

import weft
from weft import Parameter, Tensor, nn, ops
from weft.context import reset_auto_parallel_context, set_auto_parallel_context
from weft.nn.parallel import Pipeline

MODES: dict[str, dict[str, Any]] = {
    "one": {"parallel_mode": "stand_alone"},
    "data": {"parallel_mode": "data_parallel"},
    "semi": {"parallel_mode": "semi_auto_parallel"},
    "level3": {
        "parallel_mode": "semi_auto_parallel", "enable_parallel_optimizer": True,
        "parallel_optimizer_config": {"optimizer_level": "level3", "parallel_optimizer_threshold": 0},
    },
    "stages": {"parallel_mode": "semi_auto_parallel", "pipeline_stages": 2, "dataset_strategy": "full_batch"},
}  # fmt: skip
KEPT: dict[str, Callable[[Any], Any]] = {
    "clone": lambda p: p.clone(),
    "copy": lambda p: p.copy(),
    "value": lambda p: p.value(),
    "tensor": Tensor,
    "parameter": lambda p: Parameter(p, name="other"),
    "stopped": ops.stop_gradient,
    "identity": lambda p: ops.Identity()(p),
    "sum": lambda p: p + 0,
}
X = Tensor(np.random.default_rng(0).standard_normal((8, 8)).astype(np.float32))


def network(weight: Any = None) -> Any:
    weft.set_seed(1)
    net = nn.SequentialCell([nn.Dense(8, 8), nn.Dense(8, 8)])
    if weight is not None:
        for cell in net:
            cell.weight = Parameter(weight, name=cell.weight.name)
    net[0].pipeline_stage, net[1].pipeline_stage = 0, 1
    return net


def step_of(net: Any) -> Any:
    step = nn.TrainOneStepCell(Pipeline(nn.WithLossCell(net, nn.MSELoss()), 2), nn.Adam(net.trainable_params(), 0.1))
    step.set_train()
    return weft.jit(step)


def main() -> None:
    for mode, settings in MODES.items():
        reset_auto_parallel_context()
        set_auto_parallel_context(**settings)
        for name, keep in KEPT.items():
            net = network()
            step = step_of(net)
            for turn in range(3):
                before = net[0].weight.asnumpy().copy()
                kept, twin = keep(net[0].weight), copy.deepcopy(net)
                step(X, X)
                assert np.array_equal(kept.asnumpy(), before), (mode, name, turn)
                assert np.array_equal((kept + 1).asnumpy(), before + 1), (mode, name, turn)
                assert np.array_equal(twin[0].weight.asnumpy(), before), (mode, name, turn)
                if turn == 1:
                    net[0].weight.set_data(kept)
        initial = Tensor(np.eye(8, dtype=np.float32))
        net = network(initial)
        losses = [float(step(X, X)) for step in [step_of(net)] for _ in range(3)]
        assert np.array_equal(initial.asnumpy(), np.eye(8)), mode
        assert not np.array_equal(net[0].weight.asnumpy(), net[1].weight.asnumpy()), mode
        print(mode, losses, flush=True)
        if mode == "one":
            expected = losses
        np.testing.assert_allclose(losses, expected, rtol=1e-5, err_msg=mode)
    named()
    out_of_range()
    averages()
    print("all agree", flush=True)


class Masked(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(8, 8)

    def construct(self, x: Any, y: Any, mask: Any = None) -> Any:
        return ((self.dense(x) - y) ** 2 * mask).mean()


def named() -> None:
    """Arguments by name are cut like the others."""
    results = []
    for settings in (MODES["one"], MODES["stages"]):
        reset_auto_parallel_context()
        set_auto_parallel_context(**settings)
        weft.set_seed(1)
        net = Masked()
        net.dense.pipeline_stage = 1
        mask = Tensor((np.arange(64).reshape(8, 8) % 3).astype(np.float32))
        results.append(float(weft.jit(Pipeline(net, 4))(X, X, mask=mask)))
    np.testing.assert_allclose(results[0], results[1], rtol=1e-6)


def averages() -> None:
    """A network that follows a trained one, which lies in parts: some of their tensors have parts of one shape."""
    results = []
    for settings in (MODES["one"], MODES["level3"], {**MODES["level3"], "dataset_strategy": "full_batch"}):
        reset_auto_parallel_context()
        set_auto_parallel_context(**settings)
        weft.set_seed(1)
        net, target = (nn.SequentialCell(nn.Dense(8, 16), nn.Dense(16, 4)) for _ in range(2))
        optimizer = nn.SGD(net.trainable_params(), 0.1)
        losses = weft.value_and_grad(
            lambda x, net=net, target=target: ops.square(net(x) - target(x)).mean(), None, optimizer.parameters
        )

        @weft.jit
        def step(x: Any, net: Any = net, target: Any = target, optimizer: Any = optimizer, losses: Any = losses) -> Any:
            loss, gradients = losses(x)
            optimizer(gradients)
            for one, other in zip(target.get_parameters(), net.get_parameters(), strict=True):
                ops.assign(one, one * 0.9 + other * 0.1)
            return loss

        results.append([float(step(X)) for _ in range(3)])
    np.testing.assert_allclose(results[1], results[0], rtol=1e-5)
    np.testing.assert_allclose(results[2], results[0], rtol=1e-5)


def out_of_range() -> None:
    """A stage that there is not is an error, and the next network is none the worse for it."""
    for compiled in (False, True):
        net = network()
        net[1].pipeline_stage = 2
        with pytest.raises(ValueError, match=r"Dense\.pipeline_stage=2: pipeline_stages=2, so the last one is 1"):
            weft.jit(net)(X) if compiled else net(X)
        step_of(network())(X, X)


main()
sys.exit(0)
