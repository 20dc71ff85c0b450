"""Lists from outside that calls rearrange: each call finds other items at other places, one entry serves them all."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from tests.helpers.rounds import rounds
from weft import Tensor
from weft.testing import assert_compiles

#: statements on the list `h`, the number `k` and the tensor `x`
STATEMENTS = (
    "h.append(k)", "h.append(x * k)", "h.append(a)", "h.pop()", "h.pop(0)", "h.pop(1)", "h.pop(-2)", "list.pop(h, 0)",
    "h.insert(0, k)", "h.insert(1, k)", "h.insert(-1, a)", "del h[0]", "del h[-1]", "h[0] = k", "h[-1] = a",
    "h[1] = h[0]", "h.reverse()", "h.clear()", "h.extend([k, a])", "h.extend(h)", "h += [k]", "h[:1] = []",
    "h.sort(key=lambda v: v is a)", "list.append(h, k)", "h.__setitem__(0, k)", "h.__delitem__(0)",
)  # fmt: skip
#: expressions that the call returns
READS = (
    "h[0]",
    "h[-1]",
    "len(h)",
    "h.pop()",
    "h.pop(0)",
    "list(h)",
    "a in h",
    "h.index(a)",
    "h[1:]",
    "h.count(k)",
    "0",
)
BRANCHES = ("if k > 2:", "if len(h) > 3:", "if x.sum() > 3:", "if True:", "for _ in range(2):")


def program(seed: int) -> str:
    """A function of a list, its items and a number, that writes and reads the list."""
    draw = random.Random(seed)
    lines = ["def f(x, k, h, a):", "    read = []"]
    for _ in range(draw.randint(1, 4)):
        statement = draw.choice(STATEMENTS)
        if draw.random() < 0.3:
            lines += ["    " + draw.choice(BRANCHES), f"        {statement}"]
        else:
            lines.append(f"    {statement}")
        if draw.random() < 0.4:
            lines.append(f"    read.append({draw.choice(READS)})")
    lines.append(f"    return x * k, read, {draw.choice(READS)}")
    return "\n".join(lines)


def play(source: str, compile_: Callable[[Any], Any]) -> list[Any]:
    """What six calls do with a list that lives on between them."""
    names: dict[str, Any] = {"np": np, "weft": weft}
    exec(compile(source, "<list program>", "exec"), names)
    function = compile_(names["f"])
    a = ["a"]
    held = [0, a, 0, Tensor(np.float32(1)), 5, a]
    found = []
    for number in range(6):
        before = copy.copy(held)
        try:
            result = function(Tensor(np.full(2, number, np.float32)), number % 4, held, a)
        except (IndexError, ValueError, TypeError) as error:
            result = repr(error)
        found.append([shown(result, a, before), shown(held, a, before)])
        if len(held) < 3:
            held += [number, a, 7.5]
        del held[8:]
    return found


def shown(value: Any, a: Any, before: list[Any]) -> Any:
    """A value to compare: numbers by class and value, tensors too, other objects by identity."""
    if isinstance(value, (list, tuple)) and value is not a:
        return [type(value).__name__, *[shown(item, a, before) for item in value]]
    if isinstance(value, Tensor):
        place = next((i for i, old in enumerate(before) if old is value), None)
        return "tensor", str(value.dtype), value.asnumpy().tolist(), place
    return ("a",) if value is a else (type(value).__name__, repr(value))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("first", rounds(24, 300, 12))
def test_lists_are_rearranged_as_in_python(first: int) -> None:
    for seed in range(first, first + 12):
        source = program(seed)
        assert play(source, weft.jit) == play(source, lambda f: f), source


def calls(function: Any, limit: int, count: int = 12) -> None:
    x = Tensor(np.ones(3, np.float32))
    with assert_compiles(max=limit):
        for k in range(count):
            function(x, k)


def test_a_sliding_window_needs_few_graphs() -> None:
    window = [0, 0, 0]

    @weft.jit
    def f(x: Tensor, k: int) -> Tensor:
        window.append(k)
        window.pop(0)
        return x * 2

    calls(f, 3)
    assert window == [9, 10, 11]


def test_a_window_that_fills_up_needs_few_graphs() -> None:
    window: list[float] = []

    @weft.jit
    def f(x: Tensor, k: int) -> Tensor:
        window.append(k * 1.5)
        if len(window) > 4:
            window.pop(0)
        return x + sum(window) / len(window)

    x = Tensor(np.ones(3, np.float32))
    expected: list[float] = []
    with assert_compiles(max=7):
        for k in range(12):
            expected = [*expected, k * 1.5][-4:]
            np.testing.assert_allclose(f(x, k).asnumpy(), 1 + sum(expected) / len(expected), rtol=1e-6)
    assert window == expected


def test_a_list_that_grows_forever_needs_few_graphs() -> None:
    seen: list[int] = []

    @weft.jit
    def f(x: Tensor, k: int) -> Tensor:
        seen.append(k)
        return x * (1.0 if len(seen) < 100 else 0.5)

    calls(f, 3, 30)
    assert seen == list(range(30))
