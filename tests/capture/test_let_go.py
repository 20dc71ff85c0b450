"""What a called function made and changed on one side of a branch: it matters only if something holds it afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import weft
from tests.helpers.compiled import compiler
from tests.helpers.values import snapshot
from weft import Tensor


class Holder:
    kept: Any = None


def grown(x: Any) -> list[Any]:
    found = [x]
    if x > 0:
        found.append(x * 2)
    return found


def let_go(x: Any, held: Any) -> Any:
    found = grown(x)
    if x > 3:
        found.append(x * 5)
        found[0] = x * 7
    named = {"x": x}
    if x < 0:
        named["y"] = x * 3
    return sum(found) + sum(named.values())


def returned(x: Any, held: Any) -> Any:
    found = [x]
    if x > 0:
        found.append(x * 2)
    return found


def returned_in_part(x: Any, held: Any) -> Any:
    inner = Holder()
    inner.kept = found = [x]
    if x > 0:
        found.append(x * 2)
    return {"inner": inner}


def in_a_closure(x: Any, held: Any) -> Any:
    found = [x]

    def add(value: Any) -> int:
        found.append(value)
        return len(found)

    if x > 0:
        add(x * 2)
    return add


def held_by_an_argument(x: Any, held: Any) -> Any:
    held.kept = found = [x]
    if x > 0:
        found.append(x * 2)
    return x * 3


def held_on_one_side(x: Any, held: Any) -> Any:
    found = [x]
    if x > 0:
        found.append(x * 2)
        held.kept = found
    return x * 3


def in_a_generator(x: Any, held: Any) -> Any:
    found = [x]
    items = (item for item in [found])
    if x > 0:
        found.append(x * 2)
    return items


def in_an_iterator(x: Any, held: Any) -> Any:
    found = [x]
    items = iter(found)
    if x > 0:
        found.append(x * 2)
    return items


def left_by_a_callee(x: Any, held: Any) -> Any:
    found: list[Any] = []
    held_by_an_argument(x, held)
    if x > 0:
        found.append(held.kept)
        held.kept = None
    return x * (1 + len(found))


PROGRAMS = (
    let_go, returned, returned_in_part, in_a_closure, held_by_an_argument, held_on_one_side, in_a_generator,
    in_an_iterator, left_by_a_callee,
)  # fmt: skip


def seen(value: Any) -> Any:
    """All that can be reached, as plain data."""
    if callable(value) and not isinstance(value, Tensor):
        return value(5), [seen(cell.cell_contents) for cell in value.__closure__]
    if isinstance(value, Holder):
        return seen(value.kept)
    if isinstance(value, dict):
        return {key: seen(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [seen(item) for item in value]
    if isinstance(value, Tensor):
        return snapshot(value).tolist()
    return [seen(item) for item in value] if hasattr(value, "__next__") else value


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.parametrize("mode", ("auto", "PIJit"))
def test_after_a_call(program: Callable[..., Any], mode: str) -> None:
    def called(x: Any, held: Any) -> Any:
        result = program(x * 2, held)
        return result, x + 1

    compiled = compiler(mode)(called)
    for number in (1.0, -1.0, 2.0, -3.0, 1.0):
        holders = Holder(), Holder()
        found, expected = compiled(Tensor(number), holders[0]), called(Tensor(number), holders[1])
        assert seen(found) == seen(expected)
        assert seen(holders[0]) == seen(holders[1])


def test_what_is_let_go_is_no_reason_for_more_paths() -> None:
    def called(x: Any, held: Any) -> Any:
        for _ in range(8):
            x = let_go(x, held) * 0.1
        return x

    compiled = weft.jit(called, fullgraph=True)
    for number in (1.0, -1.0, 40.0):
        assert abs(compiled(Tensor(number), None) - called(Tensor(number), None)) < 1e-5
