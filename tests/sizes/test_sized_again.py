"""What was compiled for the sizes of the first call is used for them again, once a graph takes them all."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

from weft import Tensor, jit, nn, value_and_grad


def _compiled_by(step: Any, calls: list[list[Tensor]]) -> int:
    """How many programs XLA compiles for the step."""
    seen: list[str] = []

    def listen(name: str, seconds: float, fun_name: str = "", **_: Any) -> None:
        if "backend_compile" in name and "step" in fun_name:
            seen.append(fun_name)

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        for inputs in calls:
            step(*inputs)
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)
    return len(seen)


def _batch(size: int) -> list[Tensor]:
    return [Tensor(np.ones((size, 4), np.float32)), Tensor(np.ones((size, 1), np.float32))]


@pytest.mark.parametrize("follow", ["gradient", "none"])
def test_a_smaller_last_batch_compiles_one_program_more(follow: str) -> None:
    net = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 1))
    loss = nn.MSELoss()
    optimizer = nn.Adam(net.trainable_params(), 1e-3)

    def forward(x: Any, y: Any) -> Any:
        return loss(net(x), y)

    grad = value_and_grad(forward, None, optimizer.parameters)

    @jit
    def step(x: Any, y: Any) -> Any:
        if follow == "none":
            return forward(x, y)
        value, gradients = grad(x, y)
        optimizer(gradients)
        return value

    first = _compiled_by(step, [_batch(32), _batch(32)])
    last = _compiled_by(step, [_batch(16), _batch(16)])
    assert first >= 1
    assert last >= 1
    assert _compiled_by(step, [_batch(size) for size in (32, 16, 32, 16)]) == 0


def test_sizes_as_numbers_are_those_of_each_call() -> None:
    """A graph for all sizes takes a number computed from them from the call, one for some sizes has it."""

    @jit
    def step(x: Any, y: Any) -> Any:
        return x * len(x) + y

    for size in (3, 5, 3, 7, 3, 5, 9, 11, 3):
        x, y = _batch(size)
        assert step(x, y).asnumpy().tolist() == (x.asnumpy() * size + y.asnumpy()).tolist()
