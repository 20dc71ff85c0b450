"""A hook that was taken back does not run, wherever it went in between."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from weft import Tensor, grad, jit

SEEN: list[Any] = []


def tenfold(g: Any) -> Any:
    SEEN.append(("tenfold", g.tolist()))
    return g * 10


def seen(g: Any) -> None:
    SEEN.append(("seen", g.tolist()))


def then_an_earlier_tensor(x: Any, y: Any) -> Any:
    t1 = x * 2
    t2 = t1 * x
    handle = t2.register_hook(tenfold)
    t1.register_hook(seen)
    handle.remove()
    return (t2 * y).sum()


def then_one_beside_it(x: Any, y: Any) -> Any:
    t1 = x * 2
    t2 = t1 * 5
    t3 = x * y
    handle = t3.register_hook(tenfold)
    t1.register_hook(seen)
    handle.remove()
    return (t2 * t3).sum()


def one_of_two(x: Any, y: Any) -> Any:
    t1 = x * 2
    t2 = t1 * y
    t2.register_hook(seen)
    handle = t2.register_hook(tenfold)
    t2.register_hook(lambda g: g * 3)
    t1.register_hook(seen)
    handle.remove()
    handle.remove()
    return (t2 * x).sum()


def in_a_branch(x: Any, y: Any) -> Any:
    t1 = x * 2
    t2 = t1 * x
    handle = t2.register_hook(tenfold)
    t1.register_hook(seen)
    if y.sum() > 0:
        handle.remove()
    return (t2 * y).sum()


def both_in_turn(x: Any, y: Any) -> Any:
    t1 = x * 2
    t2 = t1 * x
    t3 = t2 * t1
    handles = [t.register_hook(tenfold) for t in (t3, t2, t1)]
    x.register_hook(seen)
    for handle in handles[:2]:
        handle.remove()
    return (t3 * t2 * y).sum()


def of_the_input(x: Any, y: Any) -> Any:
    handle = x.register_hook(tenfold)
    x.register_hook(seen)
    handle.remove()
    return (x * y).sum()


def with_a_block(x: Any, y: Any) -> Any:
    t1 = x * 2
    t2 = t1 * y
    with t2.register_hook(tenfold):
        t1.register_hook(seen)
    return (t2 * x).sum()


PROGRAMS = [
    then_an_earlier_tensor,
    then_one_beside_it,
    one_of_two,
    in_a_branch,
    both_in_turn,
    of_the_input,
    with_a_block,
]


def observed(call: Callable[..., Any]) -> list[Any]:
    found = []
    for x, y in (([1.0, 2.0], [0.5, 1.0]), ([1.0, 2.0], [-0.5, -1.0]), ([-1.0, 3.0], [2.0, 1.0])):
        SEEN.clear()
        found.append(([g.tolist() for g in call(Tensor(x), Tensor(y))], list(SEEN)))
    return found


def second(f: Any) -> Any:
    return grad(lambda x, y: (grad(f)(x, y) * y).sum(), (0, 1))


@pytest.mark.parametrize("function", PROGRAMS)
def test_it_does_not_run(function: Any) -> None:
    expected = observed(grad(function, (0, 1)))
    assert observed(grad(jit(function), (0, 1))) == expected
    assert observed(jit(grad(function, (0, 1)))) == expected
    expected = observed(second(function))
    assert observed(second(jit(function))) == expected
    assert observed(jit(second(function))) == expected


def test_from_outside_while_the_gradient_has_hooks_of_its_own() -> None:
    x = Tensor([1.0, 2.0])
    handle = x.register_hook(tenfold)

    def f(v: Any) -> Any:
        v.register_hook(seen)
        handle.remove()
        return (v * v).sum()

    for differentiated in (grad(f), grad(jit(f))):
        SEEN.clear()
        assert differentiated(x).tolist() == [2.0, 4.0]
        assert [what for what, _ in SEEN] == ["seen"]
        handle = x.register_hook(tenfold)


def random_program(seed: int) -> str:
    rng = random.Random(seed)
    steps = [f"h{i} = t{rng.randrange(4)}.register_hook(lambda g: g * {i + 2}.)" for i in range(rng.randint(2, 5))]
    numbers = list(range(len(steps)))
    rng.shuffle(numbers)
    for i in numbers[: rng.randint(1, len(numbers))]:
        begin = next(k for k, step in enumerate(steps) if step.startswith(f"h{i} ")) + 1
        test = "if y.sum() > 0: " if rng.random() < 0.2 else ""
        steps.insert(rng.randint(begin, len(steps)), f"{test}h{i}.remove()")
    if rng.random() < 0.4:
        steps.insert(rng.randrange(len(steps) + 1), f"t{rng.randrange(4)}.register_hook(seen)")
    made = ["t0 = x * 2", "t1 = t0 * x", "t2 = t1 + t0 * y", "t3 = t2 * t1"]
    return "\n    ".join(["def f(x, y):", *made, *steps, "return (t3 * t2).sum() + t0.sum()"])


@pytest.mark.parametrize("seed", range(24))
def test_random_programs(seed: int) -> None:
    space: dict[str, Any] = {"seen": seen}
    exec(random_program(seed), space)
    expected = observed(grad(space["f"], (0, 1)))
    assert observed(grad(jit(space["f"]), (0, 1))) == expected
    assert observed(jit(grad(space["f"], (0, 1)))) == expected
