"""A branch on a tensor makes a view of what another branch, or a loop, chose: writes reach all that it may be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.views.test_chosen_views import MODES, found
from weft import Tensor, grad, jit, nn
from weft.errors import Unsupported


def turned(a: Any, c: Any) -> Any:
    i = 0
    while a[0, 0] > c and i < 2:
        a = a[::-1]
        i += 1
    return a


def first_large(a: Any, c: Any) -> Any:
    for i in range(10):
        if i >= c:
            break
        a = a.T
    return a


def choice_of_others(x: Any, y: Any, z: Any, c: Any) -> Any:
    return x[1] if c > 0 else (y if c > -2 else z)[-1]


def view_of_a_loop(x: Any, y: Any, z: Any, c: Any) -> Any:
    r = x[0]
    if c > 0:
        r = first_large(x, c)[1]
    return r


def view_of_a_loop_of_its_own(x: Any, y: Any, z: Any, c: Any) -> Any:
    r = x[0] * 1
    if c > 0:
        r = first_large(y, c).T[1]
    return r


def loop_on_the_other_side(x: Any, y: Any, z: Any, c: Any) -> Any:
    return x[0] if c > 5 else turned(y, c)[1]


def loops_on_both_sides(x: Any, y: Any, z: Any, c: Any) -> Any:
    return turned(x, c)[1] if c < 0 else turned(x, c)[0]


def choices_of_choices(x: Any, y: Any, z: Any, c: Any) -> Any:
    a = (x if c > 0 else y)[1]
    b = (y if c > -2 else z)[0]
    return (a if c < 2 else b)[:1]


def a_view_of_a_view_of_a_choice(x: Any, y: Any, z: Any, c: Any) -> Any:
    if c > -1:
        return (y.T if c > 1 else z)[0][1:]
    return x[0][1:]


def in_a_loop(x: Any, y: Any, z: Any, c: Any) -> Any:
    r = x[0]
    k = c * 1
    while k > 0:
        if k > 1:
            r = (y if k > 2 else z)[1]
        k = k - 1
    return r


CHOICES: list[Callable[..., Any]] = [
    choice_of_others, view_of_a_loop, view_of_a_loop_of_its_own, loop_on_the_other_side, loops_on_both_sides,
    choices_of_choices, a_view_of_a_view_of_a_choice, in_a_loop,
]  # fmt: skip


def matrices(aliases: int) -> list[Any]:
    """Three matrices; of the second kind two share their elements, of the third all."""
    x, y, z = [Tensor(np.arange(4.0, dtype=np.float32).reshape(2, 2) + 10 * k) for k in range(3)]
    return [[x, y, z], [x, y, y.T], [x, x[...], x.T]][aliases]


def written(choose: Callable[..., Any]) -> Callable[..., Any]:
    def run(x: Any, y: Any, z: Any, c: Any) -> Any:
        choose(x, y, z, c).add_(100.0)
        return x * 1, y * 1, z * 1

    return run


def read_after_a_write(choose: Callable[..., Any]) -> Callable[..., Any]:
    def run(x: Any, y: Any, z: Any, c: Any) -> Any:
        r = choose(x, y, z, c)
        y.mul_(2.0)
        x.add_(100.0)
        return r * 1

    return run


def of_its_own(choose: Callable[..., Any]) -> Callable[..., Any]:
    def run(x: Any, y: Any, z: Any, c: Any) -> Any:
        a, b = x * 1, y * 1
        choose(a, b, z, c).mul_(3.0)
        return a, b

    return run


USES = [lambda choose: choose, written, read_after_a_write, of_its_own]


@pytest.mark.parametrize("use", USES, ids=["returned", "written", "read", "its own"])
@pytest.mark.parametrize("choose", CHOICES)
def test_writes_reach_what_was_chosen(choose: Callable[..., Any], use: Callable[..., Any]) -> None:
    def history(run: Callable[..., Any], aliases: int) -> list[Any]:
        seen = []
        for c in (1.0, -1.0, 3.0, -3.0, 0.0):
            given = matrices(aliases)
            result = run(*given, Tensor(np.float32(c)))
            seen.append((found(result), found(given)))
            if isinstance(result, Tensor):
                result.fill_(7.0)
                seen.append((found(result), found(given)))
        return seen

    function = use(choose)
    for aliases in range(3):
        expected = history(function, aliases)
        for name, mode in MODES.items():
            try:
                got = history(mode(function), aliases)
            except Unsupported:
                assert name == "whole"
                continue
            assert got == expected, (name, aliases)


@pytest.mark.parametrize("choose", CHOICES)
def test_gradients_pass_what_was_chosen(choose: Callable[..., Any]) -> None:
    def loss(x: Any, y: Any, z: Any, c: Any) -> Any:
        a, b = x * 1, y * 1
        choose(a, b, z * 1, c).mul_(3.0)
        return (a * a).sum() + (b * b * b).sum()

    for c in (1.0, -1.0, 3.0):
        given = (*matrices(0), Tensor(np.float32(c)))
        expected = [v.tolist() for v in grad(loss, (0, 1))(*given)]
        for run in (grad(jit(loss), (0, 1)), jit(grad(loss, (0, 1)))):
            assert [v.tolist() for v in run(*given)] == expected


def test_a_cell_keeps_the_view_that_it_chose() -> None:
    class Ring(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.buffer = Tensor([[1.0, 2.0], [3.0, 4.0]])
            self.current = self.buffer[0]

        def construct(self, c: Any) -> Any:
            if c < 5:
                self.current = turned(self.buffer, c)[1]
            self.current.add_(1.0)
            return self.buffer.sum()

    eager, compiled = Ring(), jit(Ring())
    c = Tensor(0.0)
    assert [compiled(c).item() for _ in range(3)] == [eager(c).item() for _ in range(3)]


@pytest.mark.parametrize("mode", MODES)
def test_a_kept_tensor_of_another_shape_is_another_graph(mode: str) -> None:
    class Kept:
        def __init__(self) -> None:
            self.items: list[Any] = []
            self.weight = Tensor([1.0, 2.0])

    def step(kept: Any, x: Any) -> Any:
        kept.items[-1].add_(1.0)
        return kept.items[-1] * 2, kept.weight + x

    def history(run: Callable[..., Any]) -> list[Any]:
        kept, seen = Kept(), []
        for shape in ((2,), (2, 2), (3,), (2,)):
            kept.items.append(Tensor(np.ones(shape, np.float32)))
            kept.weight = Tensor(np.full(shape, len(kept.items), np.float32))
            result = run(kept, Tensor(1.0))
            kept.items[-1][0] = 5.0
            seen.append((found(result), found(kept.items), kept.items[-1].shape))
        return seen

    assert history(MODES[mode](step)) == history(step)
