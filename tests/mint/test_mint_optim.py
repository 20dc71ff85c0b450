"""`mindspore.mint.optim` against the formulas in NumPy, in Python and in one graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from weft import Parameter, Tensor
from weft.mint import optim

START = np.array([1.0, -2.0, 0.5])
GRADIENTS = np.random.default_rng(1).standard_normal((4, 3))


def adam(settings: dict[str, Any], decoupled: bool) -> np.ndarray[Any, Any]:
    lr, (b1, b2) = settings.get("lr", 1e-3), settings.get("betas", (0.9, 0.999))
    decay = settings.get("weight_decay", 0.01 if decoupled else 0.0)
    p, m, v, largest = START.copy(), np.zeros(3), np.zeros(3), np.zeros(3)
    for t, g in enumerate(GRADIENTS, 1):
        g = -g if settings.get("maximize") else g
        if decoupled:
            p = p - lr * decay * p
        else:
            g = g + decay * p
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
        largest = np.maximum(largest, v)
        used = largest if settings.get("amsgrad") else v
        p = p - lr / (1 - b1**t) * m / (np.sqrt(used / (1 - b2**t)) + settings.get("eps", 1e-8))
    return p


def sgd(settings: dict[str, Any]) -> np.ndarray[Any, Any]:
    lr, momentum, dampening = settings["lr"], settings.get("momentum", 0), settings.get("dampening", 0)
    p, v = START.copy(), None
    for g in GRADIENTS:
        g = (-g if settings.get("maximize") else g) + settings.get("weight_decay", 0) * p
        if momentum:
            v = g if v is None else momentum * v + (1 - dampening) * g
            g = g + momentum * v if settings.get("nesterov") else v
        p = p - lr * g
    return p


CASES: list[tuple[str, dict[str, Any]]] = [
    *(
        (name, settings)
        for name in ("Adam", "AdamW", "FusedAdamW")
        for settings in (
            {},
            {"lr": 0.1, "betas": (0.8, 0.9), "eps": 1e-3, "weight_decay": 0.1},
            {"lr": 0.1, "amsgrad": True, "maximize": True},
        )
    ),
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.5, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "maximize": True}),
]


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize(("name", "settings"), CASES)
def test_steps(name: str, settings: dict[str, Any], jit: bool) -> None:
    # a name with "beta" is not left out of the decay
    parameter = Parameter(Tensor(START), name="beta")
    optimizer = getattr(optim, name)([parameter], **settings)
    step = weft.jit(lambda g: optimizer((g,)), fullgraph=True) if jit else lambda g: optimizer((g,))
    for gradient in GRADIENTS:
        step(Tensor(gradient))
    expected = sgd(settings) if name == "SGD" else adam(settings, name != "Adam")
    np.testing.assert_allclose(parameter.asnumpy(), expected, rtol=1e-5, atol=1e-6)


def test_groups() -> None:
    a, b = (Parameter(Tensor(np.ones(2, np.float32)), name=name) for name in "ab")
    optimizer = optim.SGD([{"params": [a], "lr": 0.5}, {"params": [b], "weight_decay": 1.0}], lr=0.1)
    g = Tensor(np.ones(2, np.float32))
    optimizer((g, g))
    np.testing.assert_allclose(a.asnumpy(), 0.5)
    np.testing.assert_allclose(b.asnumpy(), 0.8)
    groups = optimizer.param_groups
    assert [[p.name for p in group["params"]] for group in groups] == [["a"], ["b"]]
    groups[0]["lr"].set_data(Tensor(0.25, weft.float32))
    optimizer((g, g))
    np.testing.assert_allclose(a.asnumpy(), 0.25)


@pytest.mark.parametrize("jit", [False, True])
def test_a_group_that_comes_later_keeps_its_largest_moment(jit: bool) -> None:
    alone, first, later = (Parameter(Tensor(START), name=name) for name in ("alone", "first", "later"))
    settings = {"lr": 0.1, "amsgrad": True}
    optimizer = optim.Adam([first], lr=0.1)
    assert [each.name for each in optimizer.get_parameters()][1:] == ["exp_avg.first", "exp_avg_sq.first", "state_step"]
    optimizer.add_param_group({"params": [later], "amsgrad": True})
    single = optim.Adam([alone], **settings)
    step = weft.jit(lambda g: (optimizer((g, g)), single((g,))), fullgraph=True) if jit else None
    for gradient in (*GRADIENTS, *GRADIENTS / 100):
        g = Tensor(gradient)
        _ = step(g) if step is not None else (optimizer((g, g)), single((g,)))
    np.testing.assert_allclose(later.asnumpy(), alone.asnumpy(), rtol=1e-6)
    assert not np.allclose(later.asnumpy(), first.asnumpy())


def test_a_schedule_changes_the_rate() -> None:
    parameter = Parameter(Tensor(np.ones(2, np.float32)), name="p")
    optimizer = optim.SGD([parameter], lr=1.0)
    schedule = weft.nn.experimental.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    step = weft.jit(lambda g: optimizer((g,)), fullgraph=True)
    for _ in range(3):
        step(Tensor(np.ones(2, np.float32)))
        schedule.step()
    np.testing.assert_allclose(parameter.asnumpy(), 1 - 1.75)


def test_wrong_settings() -> None:
    parameter = Parameter(Tensor([1.0]), name="p")
    with pytest.raises(TypeError, match="must be Iterable"):
        optim.Adam(parameter)
    with pytest.raises(TypeError):
        optim.SGD([parameter])
    with pytest.raises(TypeError):
        optim.Adam([parameter], learning_rate=0.1)
    with pytest.raises(ValueError, match="nesterov"):
        optim.SGD([parameter], lr=0.1, nesterov=True)
