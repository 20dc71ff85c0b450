"""Reports: the breaks that `explain` shows are those that happen, each with its line and its number of runs."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import weft
from tests.helpers.profiling import profiled
from tests.helpers.sources import module_of
from weft.core import trace as trace_module
from weft.core.tensor import Tensor

_SEEDS: Final = 120
_HEAD: Final = """
import contextlib
import numpy as np
from weft import ops

class Manager:
    def __enter__(self):
        return 2.0
    def __exit__(self, *error):
        return False

def callee(x):
    n = float(np.sum(x.asnumpy()))
    return ops.tanh(x * n)

def callee_in_callee(x):
    y = callee(x + 1) * 0.5
    return y - callee(y)

def pieces(x):
    for i in range(2):
        x = x * 0.5 + i
        n = float(np.mean(x.asnumpy()))
        yield x * n
"""
#: statements with breaks, and without
_BREAKS: Final = [
    "x = x * float(np.sum(x.asnumpy()))",
    "n = float(np.tanh(x.asnumpy().max()))",
    "x = x + float(np.sin(np.sum(x.asnumpy()))) * 0.5",
    "x = callee(x)",
    "x = callee_in_callee(x)",
    "n = float(np.sum(x.asnumpy())) + float(np.sum((x * 2).asnumpy()))",
    "for piece in pieces(x): x = x + piece",
    "parts = [float(np.sum((x * i).asnumpy())) for i in range(2)]",
    "parts = [float(np.sum(x.asnumpy())) for i in range(2)]",
]
_PLAIN: Final = [
    "x = ops.tanh(x * 1.5 + 0.25)", "kept.append(x.sum())", "print('shape', x.shape)", "n = n * 0.5 + len(kept)",
    "x = x * n", "with Manager() as k: x = x * k", "assert len(x.shape) == 1",
]  # fmt: skip
_AROUND: Final = [
    "if True:", "for i in range(2):", "with Manager():", "with contextlib.suppress(ValueError):",
    "while len(kept) < {count} + 2 and not kept.append(0):", "if x.sum() > -{count}:",
]  # fmt: skip


def source_of(seed: int) -> str:
    """A module with a function `program` that leaves the graph somewhere."""
    rng = random.Random(seed)
    lines = ["def program(x):", "    n, kept = 0.5, []"]
    for number in range(rng.randint(2, 5)):
        depth = 1
        if rng.random() < 0.4:
            lines.append("    " + rng.choice(_AROUND).format(count=number))
            depth = 2
        for _ in range(rng.randint(1, 2)):
            lines.append("    " * depth + rng.choice(_BREAKS if rng.random() < 0.6 else _PLAIN))
    lines += ["    " + rng.choice(_BREAKS), "    x = ops.relu(x) + n", "    return x, kept"]
    return _HEAD + "\n".join(lines) + "\n"


def runs_of_breaks(function: Callable[[], Any], file: str) -> Counter[tuple[str, int]]:
    """How often each line takes the value of a tensor, or asks for its truth, while it runs in Python."""
    counted: Counter[tuple[str, int]] = Counter()
    codes = (Tensor.asnumpy.__code__, Tensor.__bool__.__code__)

    def note(frame: Any, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code in codes and trace_module.current() is None:
            caller = frame.f_back
            if caller.f_code.co_filename == file:
                counted[frame.f_code.co_name, caller.f_lineno] += 1

    with profiled(note):
        function()
    return counted


@pytest.mark.parametrize("group", range(0, _SEEDS, 10))
def test_reported_breaks_are_those_that_happen(group: int) -> None:
    differing = {}
    for seed in range(group, group + 10):
        source, file = source_of(seed), f"<reported {seed}>"
        module = module_of(source, file, "reported")
        x = Tensor(np.array([0.5, -0.25, 1.0], np.float32))
        eager = runs_of_breaks(lambda function=module.program, x=x: function(x), file)  # type: ignore[attr-defined]
        explainer = weft.explain(module.program)
        for calls in (1, 2):
            reports = []
            happened = runs_of_breaks(lambda: reports.append(explainer(x)), file)
            taken = Counter({place: count for place, count in eager.items() if place[0] == "asnumpy"})
            assert Counter({place: happened[place] for place in taken}) == taken, f"program {seed}"
            assert all(happened[place] <= eager[place] for place in happened), f"program {seed}"
            reported: Counter[tuple[str, int]] = Counter()
            for site in reports[0].functions[0].breaks:
                assert site.site.location.file == file
                name = "__bool__" if site.site.kind == "tensor-condition" else "asnumpy"
                reported[name, site.site.location.line] += site.count
            if reported != Counter({place: count * calls for place, count in happened.items()}):
                differing[seed, calls] = reported, happened
    assert differing == {}
