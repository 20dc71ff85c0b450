"""The order of sets: iterating one shows what Python shows, in calls and after them, whatever is done with it."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import weft
from tests.helpers.compiled import compiler
from tests.helpers.rounds import rounds
from weft import Tensor
from weft.testing import assert_compiles, assert_no_breaks

#: statements on the sets `s` (from outside), `t` and `m` (made in the call) and the number `k`; hashes collide
STATEMENTS = (
    "m.add(k)", "m.add(k + 8)", "m.add(0)", "m.discard(k)", "m.update([k, 16, 8])", "m.update({40, 8})", "m |= s",
    "m -= {k, 8}", "m ^= {k, 24}", "m &= s | {k}", "m.clear()", "m = {k, 8, 0}", "m = {0, 8, 16, 24, 32}", "m = set(s)",
    "m = s.copy()", "m = s | {k}", "m = s & {0, 8, 16, k}", "m = {v + 8 for v in s}", "m = set(range(0, k * 8, 8))",
    "m.update(dict.fromkeys([32, 0]))", "t = frozenset(m)", "t = frozenset([k, 0, 8])", "t = m | t", "m.remove(k)",
    "s.add(k)", "s.discard(k)", "s.add(k + 16)", "s |= {k, 24}", "s -= {k}", "s.pop()", "s.update([k, 56])",
)  # fmt: skip
#: expressions whose values the call returns
READS = (
    "list(m)", "list(s)", "list(t)", "m.pop()", "next(iter(m))", "len(m)", "k in m", "sorted(m)[:1]", "[v for v in t]",
    "list(m | s)", "list(t - {k})", "repr(m)", "tuple(s)", "max(m)", "list(enumerate(m))", "dict.fromkeys(m)",
)  # fmt: skip


def program(seed: int) -> str:
    """A function of a tensor, a number and a set, which makes others and returns some of them."""
    draw = random.Random(seed)
    lines = ["def f(x, k, s):", "    m, t, read = {k}, frozenset(), []"]
    for _ in range(draw.randint(2, 6)):
        test = f"if k % 3 {draw.choice(('== 1', '!= 2'))}: " if draw.random() < 0.2 else ""
        lines.append(f"    {test}{draw.choice(STATEMENTS)}")
        if draw.random() < 0.3:
            lines.append(f"    read.append({draw.choice(READS)})")
        if draw.random() < 0.2:
            lines.append("    read.append(float(x.asnumpy()[0]))")
    lines.append(f"    return x * k, read, {draw.choice(('m', 't', 's', 'list(m)', '(m, t)'))}, {draw.choice(READS)}")
    return "\n".join(lines)


def shown(value: Any) -> Any:
    """A value with the sets in it as lists, in their order, and what the next `pop` takes, which is taken."""
    if isinstance(value, (set, frozenset)):
        return type(value).__name__, list(value), [value.pop()] if isinstance(value, set) and value else []
    if isinstance(value, (list, tuple)):
        return [shown(item) for item in value]
    return value.asnumpy().tolist() if isinstance(value, Tensor) else value


def play(source: str, compile_: Callable[[Any], Any]) -> list[Any]:
    """What calls show that share two sets, equal at first, that differ in order."""
    names: dict[str, Any] = {}
    exec(compile(source, "<program>", "exec"), names)
    f, seen = compile_(names["f"]), []
    sets: list[Any] = [{8, 0}, {0, 8}, frozenset([16, 8, 0]), {24, 1}]
    for call in range(12):
        held, k = sets[call % 4], (8, 0, 16, 8, 1, 8)[call % 6]
        try:
            seen.append(shown(f(Tensor([2.0]), k, held)))
        except (KeyError, AttributeError, ValueError, TypeError, StopIteration) as error:
            seen.append([type(error).__name__, str(error)])
        seen += [list(held), list(held.copy()), held.__sizeof__()]
    return seen


@pytest.mark.parametrize("policy", ["auto", "PIJit"])
@pytest.mark.parametrize("seed", rounds(60, 1_000))
def test_programs_see_the_order_that_python_shows(seed: int, policy: str) -> None:
    source = program(seed)
    expected = play(source, compiler("eager"))
    assert play(source, compiler(policy)) == expected, source


def test_an_equal_set_in_another_order_has_a_graph_of_its_own() -> None:
    def f(x: Tensor, s: Any) -> Tensor:
        for k in s:
            x = x * 2 + k
        return x

    g = weft.jit(f)
    for s in ({8, 0}, {0, 8}, frozenset([8, 0]), frozenset([0, 8])):
        assert g(Tensor([1.0]), s).asnumpy() == f(Tensor([1.0]), s).asnumpy()


def test_what_a_set_has_already_is_no_change() -> None:
    def f(x: Tensor, seen: set[str]) -> Tensor:
        seen.add("f")
        seen.discard("g")
        return x + len(seen)

    g = weft.jit(f)
    with assert_compiles(max=1), assert_no_breaks():
        for value in (1.0, 2.0, 3.0):
            assert float(g(Tensor([value]), {"f"})[0]) == value + 1


def test_a_set_that_was_empty_on_the_way_keeps_the_place_of_the_next_pop() -> None:
    def f(x: Tensor, k: int) -> tuple[Tensor, set[Any]]:
        m = {k}
        m.pop()
        m.update([0, 1, 2])
        return x * k, m

    for k in (3, 1, 3):
        compiled, python = [g(Tensor([1.0]), k)[1] for g in (weft.jit(f), f)]
        assert [compiled.pop() for _ in range(3)] == [python.pop() for _ in range(3)]


def test_none_is_a_member_like_others() -> None:
    def f(x: Tensor, k: int) -> tuple[Tensor, set[Any]]:
        m: set[Any] = set()
        m.add(None)
        m.add(k)
        return x * k, m

    g = weft.jit(f)
    with assert_no_breaks():
        for k in (3, 1, 3):
            assert list(g(Tensor([1.0]), k)[1]) == list(f(Tensor([1.0]), k)[1])
