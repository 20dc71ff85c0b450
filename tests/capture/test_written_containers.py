"""Containers from outside that a compiled function writes and then asks: generated functions, contents that change.

What a container holds after its own methods wrote it depends on what it held before, as far as they left that in
it: each call brings other contents of every length.
"""

from __future__ import annotations

import functools
import itertools
import random
import types
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

from weft import Tensor, jit

POLICIES: dict[str, Callable[[Any], Any]] = {"auto": jit, "PIJit": functools.partial(jit, mode="PIJit")}

WRITES: dict[type, tuple[str, ...]] = {
    list: (
        "{o}.append({k})", "{o}.clear()", "{o}.insert(0, {k})", "{o}.insert(1, {k})", "{o}.extend([{k}, 2])",
        "{o}.pop() if {o} else None", "{o}.pop(0) if len({o}) > 1 else None", "{o}.reverse()", "{o} += [{k}]",
        "{o}.remove({k}) if {k} in {o} else None", "{o}[:] = [{k}]", "{o}[0:1] = []", "{o}.sort()",
    ),
    dict: (
        "{o}[{k}] = 5", "{o}[{k}] = 6", "{o}.clear()", "{o}.pop({k}, None)", "{o}.setdefault({k}, 7)",
        "{o}.update({{{k}: 1, 9: 2}})", "{o}.popitem() if {o} else None", "{o} |= {{{k}: 3}}",
    ),
    set: (
        "{o}.add({k})", "{o}.discard({k})", "{o}.clear()", "{o}.update([{k}, 9])", "{o} |= {{{k}}}", "{o} -= {{{k}}}",
        "{o} &= {{1, 2, {k}}}", "{o} ^= {{{k}}}",
    ),
}  # fmt: skip
READS: dict[type, tuple[str, ...]] = {
    list: ("len({o})", "bool({o})", "{o}[0] if {o} else None", "{o}[-1] if {o} else None", "{k} in {o}", "sum({o})"),
    dict: (
        "len({o})",
        "bool({o})",
        "{o}.get({k})",
        "{k} in {o}",
        "list({o})",
        "len({o}.values())",
        "list({o}.items())",
    ),
    set: ("len({o})", "bool({o})", "{k} in {o}", "sorted({o})"),
}


def contents(kind: type) -> list[Any]:
    """Containers of a kind whose contents differ by one thing each."""
    found = [list(some) for count in range(4) for some in itertools.permutations((1, 2, 3), count)]
    if kind is list:
        return [*found, [1, 1], [2, 2, 2, 2]]
    return [dict.fromkeys(keys, value) for keys in found for value in (5, 6)] if kind is dict else list(map(set, found))


def function(kind: type, seed: int) -> tuple[str, Callable[[types.SimpleNamespace], Callable[..., Any]]]:
    """A function of random writes and reads of a container, where the graph breaks at times."""
    draw = random.Random(f"{kind.__name__} {seed}")
    lines = ["def make(s):", "    def f(x):", "        seen = []"]
    for _ in range(draw.randint(2, 7)):
        indent = " " * 8
        chance = draw.random()
        if chance < 0.15:
            lines.append(f"{indent}x.asnumpy()")
            continue
        if chance < 0.35:
            lines.append(f"{indent}if x.sum() > {draw.choice((-1, 1, 3))}:")
            indent += "    "
        form = draw.choice(WRITES[kind] if draw.random() < 0.6 else READS[kind])
        text = form.format(o="s.o", k=draw.randint(1, 3))
        lines.append(indent + (text if form in WRITES[kind] else f"seen.append({text})"))
    source = "\n".join([*lines, "        return seen, len(s.o), x + len(seen)", "    return f"])
    space: dict[str, Any] = {}
    exec(source, space)
    return source, space["make"]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize("kind", WRITES, ids=lambda kind: kind.__name__)
def test_what_they_hold_depends_on_what_they_held(kind: type, seed: int, policy: str) -> None:
    source, make = function(kind, seed)
    eager, compiled = types.SimpleNamespace(), types.SimpleNamespace()
    run, run_compiled = make(eager), POLICIES[policy](make(compiled))
    calls = contents(kind)
    random.Random(seed).shuffle(calls)
    for held in calls[:12]:
        eager.o, compiled.o = kind(held), kind(held)
        expected, found = run(Tensor([2.0])), run_compiled(Tensor([2.0]))
        assert repr((found, compiled.o)) == repr((expected, eager.o)), f"{source}\nwith {held}"


@pytest.mark.parametrize("policy", POLICIES)
def test_a_function_without_arguments_asks_the_length_of_a_list(policy: str) -> None:
    w, items = Tensor([1.0, 2.0]), [1]

    @POLICIES[policy]
    def f() -> Any:
        return w * len(items), len(items)

    for count in range(1, 6):
        found = f()
        assert found[1] == count
        assert found[0].tolist() == [1.0 * count, 2.0 * count]
        items.append(count)


def test_the_room_of_a_deque() -> None:
    def push(x: Any, window: Any) -> Any:
        window.append(4)
        return x * len(window)

    def copied(x: Any, window: Any) -> Any:
        window = window.copy()
        window.extend([7, 8])
        return x * len(window)

    for function in (push, copied):
        compiled = jit(function)
        for room in (3, 9, None, 3, 4, 5):
            mine, theirs = deque([1, 2, 3], maxlen=room), deque([1, 2, 3], maxlen=room)
            assert compiled(Tensor([1.0]), mine).asnumpy() == function(Tensor([1.0]), theirs).asnumpy()
            assert (mine, mine.maxlen) == (theirs, theirs.maxlen)
