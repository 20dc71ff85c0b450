"""Schedulers of optimizers whose groups change later: a scheduler goes on with those that it was made for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from weft import Parameter, Tensor, jit
from weft.nn.experimental import SGD, lr_scheduler

#: with the rate after three steps, from 0.1, as MindSpore gives it
SCHEDULERS: dict[str, tuple[Callable[[Any], Any], float]] = {
    "StepLR": (lambda o: lr_scheduler.StepLR(o, 1, 0.5), 0.0125),
    "LambdaLR": (lambda o: lr_scheduler.LambdaLR(o, lambda epoch: 0.5**epoch), 0.0125),
    "MultiplicativeLR": (lambda o: lr_scheduler.MultiplicativeLR(o, lambda epoch: 0.5), 0.0125),
    "CosineAnnealingLR": (lambda o: lr_scheduler.CosineAnnealingLR(o, 10), 0.0794),
    "PolynomialLR": (lambda o: lr_scheduler.PolynomialLR(o, 10), 0.07),
    "CyclicLR": (lambda o: lr_scheduler.CyclicLR(o, 0.1, 0.2, 2, 2), 0.15),
    "CosineAnnealingWarmRestarts": (lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 3), 0.1),
    "ReduceLROnPlateau": (lambda o: lr_scheduler.ReduceLROnPlateau(o, "min", 0.5, 0), 0.025),
}


def made(name: str, way: Callable[..., Any]) -> tuple[Any, Any, Callable[[], None]]:
    optimizer = SGD([Parameter(Tensor([1.0]), name="a")], lr=0.1)
    scheduler = SCHEDULERS[name][0](optimizer)
    step = way((lambda: scheduler.step(Tensor(1.0))) if name == "ReduceLROnPlateau" else (lambda: scheduler.step()))
    return optimizer, scheduler, step


@pytest.mark.parametrize("way", [lambda function: function, jit], ids=["eager", "jit"])
@pytest.mark.parametrize("name", SCHEDULERS)
def test_a_group_that_comes_later_keeps_its_rate(name: str, way: Any) -> None:
    optimizer, scheduler, step = made(name, way)
    step()
    optimizer.add_param_group({"params": [Parameter(Tensor([1.0]), name="b")], "lr": 0.5})
    step()
    step()
    first, second = [group["lr"].item() for group in optimizer.param_groups]
    assert (round(first, 4), second) == (SCHEDULERS[name][1], 0.5)
    assert [round(rate.item(), 4) for rate in scheduler.get_last_lr()] == [SCHEDULERS[name][1]]


@pytest.mark.parametrize("way", [lambda function: function, jit], ids=["eager", "jit"])
@pytest.mark.parametrize("name", ["MultiplicativeLR", "ReduceLROnPlateau", "StepLR"])
def test_it_goes_on_from_a_rate_that_the_program_put_there(name: str, way: Any) -> None:
    optimizer, _, step = made(name, way)
    step()
    optimizer.param_groups[0]["lr"] = 0.8
    step()
    assert optimizer.param_groups[0]["lr"].item() == pytest.approx(0.4)
