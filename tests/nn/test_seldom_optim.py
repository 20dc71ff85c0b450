"""The optimizers that few programs use take the steps that MindSpore takes; its answers are in a file, by case."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from weft import nn
from weft.core.tensor import Parameter, Tensor

ANSWERS: dict[str, Any] = json.loads((Path(__file__).parent / "seldom_answers.json").read_text())
RATES = [0.5, 0.4, 0.3, 0.2, 0.1]
CASES: dict[str, Callable[[Any], Any]] = {
    "asgd": lambda p: nn.ASGD(p),
    "asgd2": lambda p: nn.ASGD(p, 0.5, lambd=0.1, alpha=0.5, t0=2.0, weight_decay=0.1),
    "asgd3": lambda p: nn.ASGD(p, RATES),
    "asgd4": lambda p: nn.ASGD([{"params": p[:1], "lr": 0.3, "weight_decay": 0.1}, {"params": p[1:]}], 0.2),
    "asgde": lambda p: nn.ASGD(p, 0.1, lambd=1),
    "asgde2": lambda p: nn.ASGD(p, -0.1),
    "asgde3": lambda p: nn.ASGD(p, 0.1, t0="a"),  # type: ignore[arg-type]
    "asgde4": lambda p: nn.ASGD(p, weight_decay=-1.0),
    "rprop": lambda p: nn.Rprop(p),
    "rprop2": lambda p: nn.Rprop(p, 0.05, etas=(0.4, 1.5), step_sizes=(0.03, 0.1), weight_decay=0.1),
    "rprop3": lambda p: nn.Rprop(p, RATES),
    "rprope": lambda p: nn.Rprop(p, 0.1, etas=[0.5, 1.2]),  # type: ignore[arg-type]
    "rprope2": lambda p: nn.Rprop(p, 0.1, etas=(0.5, 1.2, 1.0)),  # type: ignore[arg-type]
    "rprope3": lambda p: nn.Rprop(p, 0.1, step_sizes=(1.0, 0.5)),
    "rprope4": lambda p: nn.Rprop(p, 0.1, etas=(1, 1.2)),
    "rprope5": lambda p: nn.Rprop(p, 0.1, etas=(1.5, 1.2)),
    "prox": lambda p: nn.ProximalAdagrad(p),
    "prox2": lambda p: nn.ProximalAdagrad(
        p, accum=0.2, learning_rate=0.5, l1=0.1, l2=0.2, loss_scale=2.0, weight_decay=0.1
    ),
    "proxe": lambda p: nn.ProximalAdagrad(p, accum=-1.0),
    "proxe2": lambda p: nn.ProximalAdagrad(p, l1=-1.0),
    "proxe3": lambda p: nn.ProximalAdagrad(p, l1=1),
    "proxe4": lambda p: nn.ProximalAdagrad(p, use_locking=1),  # type: ignore[arg-type]
    "lazy": lambda p: nn.LazyAdam(p),
    "lazy2": lambda p: nn.LazyAdam(p, 0.1, 0.8, 0.9, 1e-3, False, True, 0.1, 2.0),
    "lazye": lambda p: nn.LazyAdam(p, beta1=1.0),
    "lazye2": lambda p: nn.LazyAdam(p, eps=0.0),
    "off": lambda p: nn.AdamOffload(p),
    "off2": lambda p: nn.AdamOffload(p, 0.1, 0.8, 0.9, 1e-3, False, True, 0.1, 2.0),
    "ada": lambda p: nn.AdaFactor(p),
    "ada2": lambda p: nn.AdaFactor(
        p, learning_rate=0.1, beta1=0.9, weight_decay=0.1, scale_parameter=False, relative_step=False
    ),
    "ada3": lambda p: nn.AdaFactor(p, warmup_init=True),
    "adae": lambda p: nn.AdaFactor(p, learning_rate=0.1),
}


def values() -> tuple[list[Any], list[list[Any]]]:
    rng = np.random.default_rng(0)
    weights = [rng.standard_normal((2, 3)).astype(np.float32), rng.standard_normal(4).astype(np.float32)]
    return weights, [[rng.standard_normal(w.shape).astype(np.float32) for w in weights] for _ in range(5)]


@pytest.mark.parametrize("case", CASES)
def test_the_steps_are_those_of_mindspore(case: str) -> None:
    weights, gradients = values()

    def made() -> tuple[list[Parameter], Any]:
        params = [Parameter(Tensor(w), name=name) for w, name in zip(weights, ("a", "bias"), strict=True)]
        return params, CASES[case](params)

    if isinstance(ANSWERS[case], str):
        with pytest.raises({"TypeError": TypeError, "ValueError": ValueError}[ANSWERS[case]]):
            made()
        return
    (params, optimizer), (same, other) = made(), made()
    call = weft.jit(lambda *given: other(given))
    for step, wanted in zip(gradients, ANSWERS[case], strict=True):
        given = [Tensor(g) for g in step]
        optimizer(tuple(given))
        call(*given)
        for p, q, w in zip(params, same, wanted, strict=True):
            np.testing.assert_allclose(p, w, atol=2e-5)
            np.testing.assert_allclose(q, w, atol=2e-5)


def test_factored_sums_are_small() -> None:
    p = Parameter(Tensor(np.ones((3, 4), np.float32)), name="p")
    optimizer = nn.AdaFactor([p], beta1=None, compression=True)
    assert optimizer.exp_avg_sq_row[0].shape == (3,)
    assert optimizer.exp_avg_sq_col[0].shape == (4,)
    assert optimizer.exp_avg_sq_row[0].dtype is weft.float16
    optimizer((Tensor(np.ones((3, 4), np.float32)),))
    np.testing.assert_allclose(p, np.full((3, 4), 0.99), rtol=1e-3)
    for wrong in ({"warmup_init": True, "relative_step": False, "learning_rate": 0.1}, {"relative_step": False}):
        with pytest.raises(ValueError, match="AdaFactor"):
            nn.AdaFactor([p], **wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        nn.AdaFactor([p], eps=1e-3)  # type: ignore[arg-type]
