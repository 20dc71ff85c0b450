"""Counters in dictionaries, as programs write them: few graphs, whatever the dictionary holds meanwhile."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import pytest

import weft
from weft import Tensor


class State:
    def __init__(self) -> None:
        self.counts: dict[Any, Any] = {}
        self.made: Any = collections.defaultdict(int)
        self.ordered: Any = collections.OrderedDict(n=1)


def _get(s: State, x: Any, k: int) -> Any:
    s.counts["n"] = s.counts.get("n", 0) + 1
    return x * s.counts["n"]


def _set_default(s: State, x: Any, k: int) -> Any:
    s.counts["n"] = s.counts.setdefault("n", 0) + 1
    return x * s.counts["n"]


def _by_key(s: State, x: Any, k: int) -> Any:
    s.counts[k] = s.counts.get(k, 0) + 1
    return x * s.counts[k], dict(s.counts)


def _absent(s: State, x: Any, k: int) -> Any:
    return x * s.counts.get("nothing", k), s.counts.get("n"), s.counts.get("nothing")


def _listed(s: State, x: Any, k: int) -> Any:
    items = s.counts.setdefault("items", [])
    items.append(k)
    return x * len(items), s.counts["items"] is items


def _others(s: State, x: Any, k: int) -> Any:
    return x * s.made.get("n", 5), s.made.setdefault("k", 7), s.ordered.get("n"), dict.get(s.counts, "n", 0)


def _on_a_side(s: State, x: Any, k: int) -> Any:
    if x.sum() > 0:
        s.counts["n"] = s.counts.get("n", 0) + 1
    return x * s.counts.get("n", -1)


def _divided(s: State, x: Any, k: int) -> Any:
    quotient, rest = divmod(k, 4)
    return x * (quotient + 1) + (rest + 1), divmod(k * 1.5, 2), divmod(-k, 3)


#: with the largest number of graphs that twelve calls may need; None where keys or whole dictionaries are read
PROGRAMS: dict[Callable[..., Any], int | None] = {
    _get: 5, _set_default: 5, _by_key: None, _absent: 4, _listed: 4, _others: None, _on_a_side: 6, _divided: 2,
}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_counted(program: Callable[..., Any]) -> None:
    compiled, found = weft.jit(program), []
    for function in (program, compiled):
        state, results = State(), []
        for k in range(12):
            results.append(repr(function(state, Tensor([1.0 if k % 3 else -1.0]), k)))
            if k == 6:
                state.counts["n"] = 2.5
            if k == 8:
                state.counts.pop("n", None)
            if k == 9:
                state.made["n"] = k
            results.append(repr((state.counts, state.made, state.ordered)))
        found.append(results)
    assert found[0] == found[1]
    most = PROGRAMS[program]
    assert most is None or len(compiled.report().graphs) <= most
