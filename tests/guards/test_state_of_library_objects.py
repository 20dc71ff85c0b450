"""Objects of the library that remember something: compiled code sees it in each call, and changes it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import Parameter, Tensor, context, explain, jit, nn, train
from weft.data import NumpySlicesDataset
from weft.mint import optim as mint_optim
from weft.nn.experimental import lr_scheduler, rules
from weft.ops.generator import Generator
from weft.train import amp, metrics

Program = Callable[[Callable[..., Any]], list[Any]]


def number(value: Any) -> Any:
    return np.asarray(value).round(5).tolist()


def scale_manager(compiled: Callable[..., Any]) -> list[Any]:
    manager = train.DynamicLossScaleManager(2**4, 2, 2)
    scaled = compiled(lambda x: x * manager.get_loss_scale())
    found = []
    for overflow in (False, False, True, False, True):
        manager.update_loss_scale(overflow)
        found.append((manager.get_loss_scale(), number(scaled(Tensor(1.0)))))
    return found


def scale_manager_inside(compiled: Callable[..., Any]) -> list[Any]:
    manager = train.DynamicLossScaleManager(2**4, 2, 2)

    def step(x: Any, overflow: bool) -> Any:
        manager.update_loss_scale(overflow)
        return x * manager.get_loss_scale()

    step = compiled(step)
    overflows = (False, False, True, False, True, False, False, False, False)
    return [(number(step(Tensor(1.0), overflow)), manager.get_loss_scale()) for overflow in overflows]


def fixed_scale(compiled: Callable[..., Any]) -> list[Any]:
    manager = train.FixedLossScaleManager(8.0)
    scaled = compiled(lambda x: x * manager.get_loss_scale())
    found = [number(scaled(Tensor(1.0)))]
    manager._loss_scale = 4.0
    return [*found, number(scaled(Tensor(1.0)))]


def metric(make: Callable[[], Any], *updates: Any) -> Program:
    def run(compiled: Callable[..., Any]) -> list[Any]:
        kept, other = make(), make()
        read = compiled(lambda x: x * float(np.sum(kept.eval())))

        def both(*given: Any) -> Any:
            other.update(*given)
            return other.eval()

        both, found = compiled(both), []
        for given in updates:
            kept.update(*given)
            other.update(*given)
            found.append((number(read(Tensor(1.0))), number(both(*given))))
        return found

    return run


SCORES = Tensor([[0.2, 0.8], [0.7, 0.3]]), Tensor([[0.1, 0.9], [0.4, 0.6]]), Tensor([[0.9, 0.1], [0.8, 0.2]])
LABELS = Tensor([1, 1]), Tensor([1, 0]), Tensor([0, 0])


def scaler(compiled: Callable[..., Any]) -> list[Any]:
    kept = amp.DynamicLossScaler(64.0, 2, 100)

    def adjusted(finite: Any) -> Any:
        kept.adjust(finite)
        return kept.scale(Tensor(1.0))

    adjusted, found = compiled(adjusted), []
    for factor in (2, 4, 4):
        kept.scale_factor = factor
        found.append(number(adjusted(Tensor(False))))
    kept.scale_value = Parameter(Tensor(1000.0), name="fresh")
    found.append(number(adjusted(Tensor(True))))
    kept.scale_window = 1
    return [*found, number(adjusted(Tensor(True))), number(adjusted(Tensor(True)))]


def schedule(compiled: Callable[..., Any]) -> list[Any]:
    optimizer = rules.SGD([Parameter(Tensor([1.0]), name="p")], lr=1.0)
    kept = lr_scheduler.ExponentialLR(optimizer, 0.5)

    def rate() -> Any:
        kept.step()
        return optimizer.param_groups[0]["lr"] * 1

    rate, found = compiled(rate), []
    for gamma in (0.5, 0.1, 0.1):
        kept.gamma = gamma
        found.append(number(rate()))
    return found


def generator(compiled: Callable[..., Any]) -> list[Any]:
    kept = Generator()
    seed, found = compiled(lambda x: x * kept.initial_seed()), []
    for value in (1, 7, 9, 7):
        kept.manual_seed(value)
        found.append(number(seed(Tensor(1.0))))
    return found


PROGRAMS: dict[str, Program] = {
    "loss scale": scale_manager,
    "loss scale inside": scale_manager_inside,
    "fixed loss scale": fixed_scale,
    "Loss": metric(metrics.Loss, (Tensor(1.0),), (Tensor(2.0),), (Tensor(6.0),)),
    "Accuracy": metric(metrics.Accuracy, *zip(SCORES, LABELS, strict=True)),
    "F1": metric(metrics.F1, *zip(SCORES, LABELS, strict=True)),
    "MSE": metric(metrics.MSE, *zip(SCORES, SCORES[::-1], strict=True)),
    "scaler": scaler,
    "schedule": schedule,
    "generator": generator,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_it_remembers_is_seen(name: str) -> None:
    assert PROGRAMS[name](jit) == PROGRAMS[name](lambda function: function)


RULES: dict[str, Callable[..., Any]] = {
    **{name: getattr(rules, name) for name in ("Adam", "AdamW", "Adagrad", "RMSprop", "Rprop", "SGD")},
    "mint.AdamW": mint_optim.AdamW,
    "mint.SGD": mint_optim.SGD,
}
CHANGES: dict[str, tuple[Any, ...]] = {
    "lr": (0.1, 0.5, 0.01, 0.02, 0.03),
    "lr as a tensor": (Tensor(0.1), Tensor(0.5), Parameter(Tensor(0.01), name="rate"), Tensor(0.02)),
    "weight_decay": (0.0, 0.1, 0.2),
    "betas": ((0.9, 0.999), (0.5, 0.9)),
    "maximize": (False, True, False),
    "eps": (1e-8, 0.1),
}


def trained(make: Callable[..., Any], change: str, replaced: bool, compiled: Callable[..., Any]) -> Any:
    param = Parameter(Tensor([1.0, 2.0]), name="p")
    optimizer, option = make([param], lr=0.1), change.partition(" ")[0]
    step, found = compiled(lambda gradient: optimizer((gradient,))), []
    for value in CHANGES[change]:
        for number_of_group, group in enumerate(optimizer.param_groups):
            if replaced:
                optimizer.param_groups[number_of_group] = {**group, option: value}
            else:
                group[option] = value
        step(Tensor([1.0, 0.5]))
        found.append(number(param.asnumpy()))
    return found, step


@pytest.mark.parametrize("replaced", [False, True], ids=["written", "replaced"])
@pytest.mark.parametrize(
    ("name", "change"),
    [
        (name, change)
        for name, make in RULES.items()
        for change in CHANGES
        if change.partition(" ")[0] in inspect.signature(make).parameters
    ],
)
def test_options_of_a_group_are_those_of_the_call(name: str, change: str, replaced: bool) -> None:
    found, step = trained(RULES[name], change, replaced, jit)
    assert found == trained(RULES[name], change, replaced, lambda function: function)[0]
    if change == "lr":
        assert "2 graphs" in str(explain(step)(Tensor([1.0, 0.5])))


@pytest.mark.parametrize("mode", [context.PYNATIVE_MODE, context.GRAPH_MODE])
def test_a_callback_changes_the_rate(mode: int) -> None:
    class Decay(train.Callback):
        def on_train_epoch_end(self, run_context: Any) -> None:
            for group in optimizer.param_groups:
                group["lr"] = 0.0
            seen.append(net.weight.asnumpy().copy())

    context.set_context(mode=mode)
    net, seen = nn.Dense(2, 1, weight_init="ones", bias_init="zeros"), list[Any]()
    optimizer = rules.SGD(net.trainable_params(), lr=0.1)
    data = NumpySlicesDataset((np.ones((4, 2), np.float32), np.zeros((4, 1), np.float32)), shuffle=False).batch(2)
    weft.train.Model(net, nn.MSELoss(), optimizer).train(3, data, callbacks=[Decay()], dataset_sink_mode=False)
    assert abs(seen[0] - 0.44).max() < 0.01
    assert all(np.array_equal(seen[0], each) for each in seen[1:])
