"""Optimizers with groups and their schedulers: the numbers in `grouped_answers.json` are those of MindSpore 2.10."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from weft import Parameter, Tensor, dtypes, nn, ops
from weft.nn import experimental as optim
from weft.nn.experimental import lr_scheduler as schedulers

ANSWERS = json.loads((Path(__file__).parent / "grouped_answers.json").read_text())
CHANGED = {"lr": 0.1, "betas": (0.8, 0.9), "eps": 1e-3, "weight_decay": 0.1}
OPTIMIZERS: dict[str, list[dict[str, Any]]] = {
    "Adadelta": [{}, {"lr": 0.5, "rho": 0.8, "eps": 1e-3, "weight_decay": 0.1}, {"maximize": True}],
    "Adagrad": [
        {},
        {"lr": 0.1, "lr_decay": 0.2, "weight_decay": 0.1, "initial_accumulator_value": 0.5, "eps": 1e-3},
        {"maximize": True, "lr": 0.1},
    ],
    "Adam": [{}, CHANGED, {"amsgrad": True, "lr": 0.1, "eps": 0.01}, {"maximize": True}],
    "AdamW": [{}, CHANGED, {"amsgrad": True, "lr": 0.1, "eps": 0.01}, {"maximize": True}],
    "Adamax": [{}, CHANGED, {"maximize": True}],
    "ASGD": [{}, {"lr": 0.1, "lambd": 0.01, "alpha": 0.5, "t0": 2.0, "weight_decay": 0.1}, {"maximize": True}],
    "NAdam": [{}, {**CHANGED, "momentum_decay": 0.1}],
    "RAdam": [{}, CHANGED],
    "RMSprop": [
        {},
        {"lr": 0.1, "alpha": 0.9, "eps": 1e-3, "weight_decay": 0.1},
        {"momentum": 0.5, "lr": 0.1},
        {"centered": True, "lr": 0.1},
        {"centered": True, "momentum": 0.5, "lr": 0.1, "maximize": True},
    ],
    "Rprop": [{}, {"lr": 0.1, "etas": (0.4, 1.3), "step_sizes": (1e-3, 1.0)}, {"maximize": True}],
    "SGD": [
        {"lr": 0.1},
        {"lr": 0.1, "momentum": 0.5},
        {"lr": 0.1, "momentum": 0.5, "dampening": 0.2, "weight_decay": 0.1},
        {"lr": 0.1, "momentum": 0.5, "nesterov": True},
        {"lr": 0.1, "maximize": True},
    ],
}
CASES = [(name, number) for name, options in OPTIMIZERS.items() for number in range(len(options))]


def parameters() -> list[Parameter]:
    values = [[1.0, -2.0, 0.5], [[0.1, 3.0]]]
    return [Parameter(Tensor(np.array(v, np.float32)), name=name) for name, v in zip("ab", values, strict=True)]


def gradient(step: int, place: int, param: Parameter) -> Tensor:
    angles = np.arange(param.size, dtype=np.float32) * 1.7 + step * (place + 1) * 2
    return Tensor((np.sin(angles) * (place + 1)).reshape(param.shape).astype(np.float32))


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(("name", "number"), CASES)
def test_steps(name: str, number: int, compiled: bool) -> None:
    params = parameters()
    optimizer = getattr(optim, name)(params, **OPTIMIZERS[name][number])
    call = weft.jit(optimizer) if compiled else optimizer
    for step, expected in enumerate(ANSWERS["optimizers"][f"{name}{number}"]):
        if step == 3:
            ops.assign(optimizer.param_groups[0]["lr"], optimizer.param_groups[0]["lr"] * 0.5)
        assert call(tuple([gradient(step, place, param) for place, param in enumerate(params)]))
        found = np.concatenate([param.asnumpy().ravel() for param in params])
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-6)


SCHEDULERS: dict[str, Callable[[Any], Any]] = {
    "StepLR": lambda o: schedulers.StepLR(o, 3, 0.5),
    "StepLR1": lambda o: schedulers.StepLR(o, 1),
    "MultiStepLR": lambda o: schedulers.MultiStepLR(o, [2, 5, 5], 0.5),
    "ConstantLR": lambda o: schedulers.ConstantLR(o, 0.5, 4),
    "ConstantLR1": schedulers.ConstantLR,
    "LinearLR": lambda o: schedulers.LinearLR(o, 0.5, 1.0, 4),
    "LinearLR1": schedulers.LinearLR,
    "ExponentialLR": lambda o: schedulers.ExponentialLR(o, 0.9),
    "PolynomialLR": lambda o: schedulers.PolynomialLR(o, 4, 2.0),
    "PolynomialLR1": schedulers.PolynomialLR,
    "CosineAnnealingLR": lambda o: schedulers.CosineAnnealingLR(o, 4, 0.01),
    "CosineAnnealingLR1": lambda o: schedulers.CosineAnnealingLR(o, 20),
    "CosineAnnealingWarmRestarts": lambda o: schedulers.CosineAnnealingWarmRestarts(o, 3, 2, 0.01),
    "CosineAnnealingWarmRestarts1": lambda o: schedulers.CosineAnnealingWarmRestarts(o, 2),
    "CyclicLR": lambda o: schedulers.CyclicLR(o, 0.01, 0.1, 2, 3),
    "CyclicLR1": lambda o: schedulers.CyclicLR(o, [0.01, 0.02], [0.1, 0.2], 3, mode="triangular2"),
    "CyclicLR2": lambda o: schedulers.CyclicLR(o, 0.01, 0.1, 2, mode="exp_range", gamma=0.9),
    "CyclicLR3": lambda o: schedulers.CyclicLR(o, 0.01, 0.1, 2, scale_fn=lambda x: 0.5**x, scale_mode="iterations"),
    "LambdaLR": lambda o: schedulers.LambdaLR(o, lambda e: 0.9**e),
    "LambdaLR1": lambda o: schedulers.LambdaLR(o, [lambda e: e // 2 + 1, lambda e: 0.5**e]),
    "MultiplicativeLR": lambda o: schedulers.MultiplicativeLR(o, lambda e: 0.9),
    "SequentialLR": lambda o: schedulers.SequentialLR(
        o, [schedulers.ConstantLR(o, 0.1, 2), schedulers.ExponentialLR(o, 0.9), schedulers.StepLR(o, 2, 0.5)], [3, 6]
    ),
    "ReduceLROnPlateau": lambda o: schedulers.ReduceLROnPlateau(o, "min", 0.5, 1),
    "ReduceLROnPlateau1": lambda o: schedulers.ReduceLROnPlateau(
        o, "max", 0.5, 0, threshold=0.1, threshold_mode="abs", cooldown=1, min_lr=0.02
    ),
    "ReduceLROnPlateau2": lambda o: schedulers.ReduceLROnPlateau(o, patience=0, min_lr=[0.01, 0.3], eps=0.05),
}
LOSSES = [5, 4, 4.5, 4.2, 4.1, 4.0, 3.99999, 3.9, 3.9, 3.9, 3.8, 3.9]


def two_groups() -> Any:
    first, second = parameters()
    return optim.SGD([{"params": [first], "lr": 0.1}, {"params": [second]}], lr=0.4)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", SCHEDULERS)
def test_rates(name: str, compiled: bool) -> None:
    optimizer = two_groups()
    scheduler = SCHEDULERS[name](optimizer)
    plateau = name.startswith("Reduce")

    def step(loss: Any) -> None:
        if plateau:
            scheduler.step(loss)
        else:
            scheduler.step()

    call = weft.jit(step) if compiled else step
    expected = ANSWERS["schedulers"][name]
    found = [[rate.item() for rate in scheduler.get_last_lr()]]
    for number in range(12):
        call(Tensor(LOSSES[number], dtypes.float32) if number % 2 else LOSSES[number])
        found.append([group["lr"].item() for group in optimizer.param_groups])
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-7)


def test_groups() -> None:
    first, second = parameters()
    optimizer = optim.Adam([{"params": first, "lr": 0.5, "eps": 0.25}, {"params": [second]}], 0.1)
    assert optimizer.group_start_id == [0, 1, 2]
    assert [group["eps"] for group in optimizer.param_groups] == [0.25, 1e-8]
    assert [group["lr"].item() for group in optimizer.param_groups] == pytest.approx([0.5, 0.1])
    assert [rate.name for rate in optimizer.lrs] == ["learning_rate_group_0", "learning_rate_group_1"]
    assert [param.name for param in optimizer.get_parameters()] == [
        *("a", "b", "exp_avg.a", "exp_avg.b", "exp_avg_sq.a", "exp_avg_sq.b", "max_exp_avg_sq.a", "max_exp_avg_sq.b"),
        "state_step",
    ]
    optimizer.add_param_group({"params": Parameter(Tensor([1.0]), name="c"), "lr": 1.0})
    assert optimizer.group_start_id == [0, 1, 2, 3]
    assert optimizer.exp_avg[2].name == "exp_avg.c"
    optimizer(tuple([gradient(1, place, param) for place, param in enumerate(optimizer.parameters)]))
    assert repr(optim.SGD(parameters(), 0.5)).splitlines()[:4] == [
        "SGD (", "Parameter Group 0", "    dampening: 0", "    grad_centralization: False",
    ]  # fmt: skip


def test_a_scheduler_of_the_program_and_one_that_goes_on() -> None:
    class Halved(schedulers.LRScheduler):
        def get_lr(self) -> list[Any]:
            return [base * 0.5**self.last_epoch for base in self.base_lrs]

    optimizer = two_groups()
    Halved(optimizer).step()
    assert [group["lr"].item() for group in optimizer.param_groups] == pytest.approx([0.05, 0.2])
    # what goes on does the next step at once
    again = Halved(optimizer, last_epoch=1)
    assert [rate.item() for rate in again.get_last_lr()] == pytest.approx([0.025, 0.1])


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: optim.SGD([], 0.1), ValueError),
        (lambda: optim.SGD(5, 0.1), TypeError),
        (lambda: optim.SGD([5], 0.1), TypeError),
        (lambda: optim.SGD(parameters()[0], 0.1), TypeError),
        (lambda: optim.SGD([{}], 0.1), KeyError),
        (lambda: optim.SGD(parameters()[:1] * 2, 0.1), ValueError),
        (lambda: optim.SGD([*parameters(), *parameters()], 0.1), ValueError),
        (lambda: optim.SGD(parameters(), -1), ValueError),
        (lambda: optim.SGD(parameters(), "a"), TypeError),
        (lambda: optim.SGD(parameters(), True), TypeError),
        (lambda: optim.SGD(parameters(), 0.1, -1.0), ValueError),
        (lambda: optim.SGD(parameters(), 0.1, "a"), TypeError),
        (lambda: optim.SGD(parameters(), 0.1, nesterov=True), ValueError),
        (lambda: optim.Adam(parameters(), betas=(0.9, 1.0)), ValueError),
        (lambda: optim.Adam(parameters(), betas=0.9), TypeError),
        (lambda: optim.Rprop(parameters(), etas=(1.5, 2.0)), ValueError),
        (lambda: optim.Adadelta(parameters(), rho=1.5), ValueError),
        (lambda: two_groups().add_param_group(5), TypeError),
        (lambda: two_groups()((Tensor([1.0]),)), ValueError),
        (lambda: two_groups()(Tensor([1.0])), TypeError),
        (lambda: schedulers.StepLR(5, 3), TypeError),
        (lambda: schedulers.StepLR(nn.SGD(parameters(), 0.1), 3), TypeError),
        (lambda: schedulers.StepLR(two_groups(), "a"), TypeError),
        (lambda: schedulers.StepLR(two_groups(), 2, "a"), TypeError),
        (lambda: schedulers.StepLR(two_groups(), 2, 0.1, 5), KeyError),
        (lambda: schedulers.StepLR(two_groups(), 2, 0.1, "a"), TypeError),
        (lambda: schedulers.StepLR(two_groups(), 2, 0.1, -2), ValueError),
        (lambda: schedulers.MultiStepLR(two_groups(), 5), TypeError),
        (lambda: schedulers.LambdaLR(two_groups(), [lambda e: 1]), ValueError),
        (lambda: schedulers.LambdaLR(two_groups(), 5), TypeError),
        (lambda: schedulers.ConstantLR(two_groups(), 2.0), ValueError),
        (lambda: schedulers.LinearLR(two_groups(), 0.0), ValueError),
        (lambda: schedulers.LinearLR(two_groups(), 0.1, 2.0), ValueError),
        (lambda: schedulers.CosineAnnealingWarmRestarts(two_groups(), 0), ValueError),
        (lambda: schedulers.CosineAnnealingWarmRestarts(two_groups(), 2, 0), ValueError),
        (lambda: schedulers.CosineAnnealingWarmRestarts(two_groups(), 2).step(-1), ValueError),
        (lambda: schedulers.CyclicLR(two_groups(), [0.1], 0.2), ValueError),
        (lambda: schedulers.CyclicLR(two_groups(), 0.1, 0.2, mode="z"), ValueError),
        (lambda: schedulers.ReduceLROnPlateau(two_groups(), "z"), ValueError),
        (lambda: schedulers.ReduceLROnPlateau(two_groups(), factor=1.0), ValueError),
        (lambda: schedulers.ReduceLROnPlateau(two_groups(), threshold_mode="z"), ValueError),
        (lambda: schedulers.ReduceLROnPlateau(two_groups(), min_lr=[1]), ValueError),
        (lambda: schedulers.ReduceLROnPlateau(5), TypeError),
        (lambda: schedulers.SequentialLR(two_groups(), [schedulers.StepLR(two_groups(), 2)], []), ValueError),
    ],
)
def test_wrong_arguments(make: Callable[[], Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        make()
