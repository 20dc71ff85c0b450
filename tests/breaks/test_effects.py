"""Side effects of generated programs: everything reachable after each call is as eager execution leaves it.

A hundred programs always run, a thousand with `make slow`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest
from effect_programs import program
from object_graph import ObjectGraph, difference

from tests.helpers.outcomes import chain_of, printed_by
from tests.helpers.rounds import rounds
from tests.helpers.sources import module_of
from weft import jit
from weft.core.tensor import Tensor

_GROUP: Final = 10
_CALLS: Final = 3
_MODULE: Final = "effects_world"


class World:
    """A module made from a source, and what its program is called with.

    Args:
        source: the module.
        file: what its code says it is from.
    """

    def __init__(self, source: str, file: str) -> None:
        self.file = file
        self.module = module_of(source, file, _MODULE)
        self.names = self.module.__dict__
        #: a tensor chosen by the running graph is a new one, whichever it was in Python
        self.forks = ".sum() >" in source or ".sum() <" in source
        self.items: list[Any] = [0]
        self.iterator = iter([self.items, 1, 2, 3])
        self.results: list[Any] = []

    def call(self, function: Callable[..., Any], number: int) -> tuple[Any, ...]:
        """Call the program; what can be told of the call beside the state that it leaves."""
        rng = np.random.default_rng(number)
        x, y = (Tensor(rng.normal(size=3).astype(np.float32)) for _ in range(2))
        obj = self.names["Box"](x) if number == 1 else self.names["box"]
        result, error, text = printed_by(lambda: function(x, y, (2, 3, 2)[number], self.items, obj, self.iterator))
        self.results += [result, x, y, obj]
        return text, chain_of(error, self.file)

    def graph(self) -> ObjectGraph:
        """Everything that can be reached now."""
        names = {key: value for key, value in self.names.items() if not key.startswith("__")}
        return ObjectGraph(
            [self.results, self.items, names, self.iterator, self.names["closed_over"]()], _MODULE, not self.forks
        )


def check(seed: int) -> str:
    """What differs between the eager and the compiled program of a seed, "" if nothing."""
    source = program(seed)
    file = f"<effects {seed}>"
    eager, compiled = World(source, file), World(source, file)
    function = jit(compiled.names["program"])
    for number in range(_CALLS):
        wanted, found = eager.call(eager.names["program"], number), compiled.call(function, number)
        if wanted != found:
            return f"call {number}: {found}, not {wanted}"
        differs = difference(compiled.graph(), eager.graph())
        if differs:
            return f"after call {number}: {differs}"
    one, other = compiled.graph().drained(), eager.graph().drained()
    return difference(*(ObjectGraph(items, _MODULE, not eager.forks) for items in (one, other)))


@pytest.mark.parametrize("group", rounds(40, 1000, _GROUP))
def test_side_effects_are_those_of_python(group: int) -> None:
    differing = {seed: check(seed) for seed in range(group, group + _GROUP)}
    assert {seed: differs for seed, differs in differing.items() if differs} == {}
