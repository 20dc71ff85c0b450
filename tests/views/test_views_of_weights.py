"""Views of a Parameter that the program holds, written in part while the Parameter is differentiated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weft import Parameter, Tensor, jit, value_and_grad


def _item(v: Any) -> None:
    v[0] = v[0] * 0 + 7.0


def _twice(v: Any) -> None:
    v[1:].mul_(3.0)
    v[0] = 2.5


VIEWS: dict[str, Callable[[Any], Any]] = {
    "slice": lambda p: p[:3],
    "whole": lambda p: p[...],
    "reshaped": lambda p: p.reshape(2, 2),
    "reversed": lambda p: p[::-1],
}
WRITES: dict[str, Callable[[Any], Any]] = {
    "first": lambda v: v[0:1].mul_(2),
    "item": _item,
    "twice": _twice,
    "all": lambda v: v.mul_(2.0),
    "last": lambda v: v[-1:].add_(1.0),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("view", VIEWS)
def test_what_is_not_written_keeps_its_gradient(view: str, write: str) -> None:
    found = []
    for way in (
        lambda f, p: value_and_grad(f, None, [p]),
        lambda f, p: value_and_grad(jit(f), None, [p]),
        lambda f, p: jit(value_and_grad(f, None, [p])),
    ):
        p = Parameter(Tensor([1.0, 2.0, 3.0, 4.0]), name="p")
        v = VIEWS[view](p)

        def f(x: Any, p: Any = p, v: Any = v) -> Any:
            WRITES[write](v)
            return (p * p * x).sum() + v.sum()

        run = way(f, p)
        calls = []
        for _ in range(2):
            value, (gradient,) = run(Tensor(5.0))
            calls.append((value.item(), gradient.tolist()))
        found.append((calls, p.tolist(), v.tolist()))
    assert found[0] == found[1] == found[2]
    before = Parameter(Tensor([1.0, 2.0, 3.0, 4.0]), name="before")
    numbers = Tensor(np.arange(4.0))
    covered = set(VIEWS[view](numbers).asnumpy().ravel().astype(int).tolist())
    WRITES[write](VIEWS[view](before))
    written = {i for i, value in enumerate(before.tolist()) if value != i + 1}
    if write != "all":  # each element that nobody wrote has the slope of p * p * 5, and of the sum where `v` has it
        expected = [0.0 if i in written else 10.0 * (i + 1) + (i in covered) for i in range(4)]
        assert found[0][0][0][1] == expected
