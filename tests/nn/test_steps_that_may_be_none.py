"""A compiled step whose indices are checked takes the step of an eager one, or none where they are out of bounds."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

from tests.nn import test_grouped_optim, test_optim, test_seldom_optim
from weft import Parameter, Tensor, dtypes, jit, nn, ops
from weft.nn import experimental

MAKERS: dict[str, Callable[[Any], Any]] = {
    **{f"{name} of nn": (lambda p, case=case: case[0](p, learning_rate=0.05, **case[2]))
       for name, case in test_optim.CASES.items()},
    **{name: make for name, make in test_seldom_optim.CASES.items() if not re.search(r"e\d*$", name)},
    **{f"{name} {number} with groups": (lambda p, name=name, options=options: getattr(experimental, name)(p, **options))
       for name, every in test_grouped_optim.OPTIMIZERS.items() for number, options in enumerate(every)},
}  # fmt: skip
#: the rows of each step: the second and the fourth are out of bounds
ROWS = ([0, 2], [0, 3], [1, 1], [-4, 0], [2, 0])


class Looking(nn.Cell):
    """Two parameters, of which rows are looked up."""

    def __init__(self, dtype: Any = dtypes.float32) -> None:
        super().__init__()
        self.table = Parameter(Tensor(np.linspace(-1.0, 1.0, 12).reshape(3, 4), dtype))
        self.bias = Parameter(Tensor(np.linspace(0.5, 1.0, 4), dtype))

    def construct(self, rows: Any) -> Any:
        return ((ops.gather(self.table, rows, 0) * self.bias) ** 2).sum() + self.bias.sum()


def trained(make: Callable[[Any], Any], compiled: bool, dtype: Any = dtypes.float32) -> list[Any]:
    """All values of a network and its optimizer after each step, and the losses; errors in the place of a loss."""
    net = Looking(dtype)
    optimizer = make(list(net.trainable_params()))
    losses = nn.ForwardValueAndGrad(net, weights=net.trainable_params(), get_by_list=True)

    def step(rows: Any) -> Any:
        loss, gradients = losses(rows)
        optimizer(gradients)
        return loss

    run = jit(step) if compiled else step
    found: list[Any] = []
    for rows in ROWS:
        try:
            found.append(run(Tensor(rows)).asnumpy())
        except IndexError as error:
            found.append(str(error))
        found += [value.asnumpy() for value in (*net.get_parameters(), *optimizer.get_parameters())]
    return found


@pytest.mark.parametrize("name", MAKERS)
def test_compiled_steps_are_those_of_eager_code(name: str) -> None:
    for mine, theirs in zip(trained(MAKERS[name], True), trained(MAKERS[name], False), strict=True):
        if isinstance(theirs, str):
            assert mine == theirs
        else:
            np.testing.assert_allclose(mine, theirs, 1e-5, 1e-6)


@pytest.mark.parametrize("make", [lambda p: nn.Adam(p, 0.05), lambda p: experimental.AdamW(p, lr=0.05)])
def test_of_small_floats(make: Callable[[Any], Any]) -> None:
    for mine, theirs in zip(trained(make, True, dtypes.float16), trained(make, False, dtypes.float16), strict=True):
        if isinstance(theirs, str):
            assert mine == theirs
        else:
            np.testing.assert_allclose(mine, theirs, 1e-2, 1e-3)


def test_no_state_is_copied() -> None:
    """What a step changes is written where it lies."""
    before = {id(executable) for executable in jax.devices()[0].client.live_executables()}
    net = nn.SequentialCell(nn.Embedding(30, 8), nn.Flatten(), nn.Dense(16, 5))
    step = nn.TrainOneStepCell(
        nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")),
        nn.Adam(net.trainable_params(), 0.01),
    )
    run = jit(step)
    x, y = Tensor(np.array([[1, 2], [3, 4], [0, 29]])), Tensor(np.array([0, 4, 2]))
    run(x, y)
    run(x, y)
    (program,) = [
        text
        for executable in jax.devices()[0].client.live_executables()
        if id(executable) not in before
        for text in [executable.hlo_modules()[0].to_string()]
        if "f32[30,8]" in text
    ]
    entry = program[program.index("\nENTRY") :]
    operands = re.findall(r"(%\S+) = ([a-z0-9]+\[[\d,]*\])\S* parameter\((\d+)\)", entry)
    assert [kind for _, kind, _ in operands][8:14] == ["f32[30,8]", "f32[5,16]", "f32[5]"] * 2
    copied = set(re.findall(r" copy\((%[^),]+)\)", entry))  # weights are, where XLA needs them again behind the step
    assert not copied & {name for name, _, _ in operands[8:14]}, entry
