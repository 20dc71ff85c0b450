"""What calls give: the answers in `recorded_calls.json` are those of MindSpore 2.10."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from recorded_calls import CALLS, STORED, answer, names

import weft
import weft.mindspore

ANSWERS = json.loads(STORED.read_text())


def agrees(found: Any, expected: Any) -> None:
    if isinstance(expected, str):
        assert found == expected
    elif isinstance(expected, list):
        for one, other in zip(found, expected, strict=True):
            agrees(one, other)
    else:
        assert (found["dtype"], found["shape"]) == (expected["dtype"], expected["shape"])
        np.testing.assert_allclose(found["values"], expected["values"], rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("number", range(len(CALLS)), ids=[function for function, _ in CALLS])
def test_answers(number: int) -> None:
    import mindspore

    agrees(answer(mindspore, *CALLS[number]), ANSWERS[number])


@pytest.mark.parametrize("number", range(len(CALLS)), ids=[function for function, _ in CALLS])
def test_compiled_functions_and_gradients(number: int) -> None:
    import mindspore

    if isinstance(ANSWERS[number], str):
        return
    known = names(mindspore)
    function = eval(CALLS[number][0], known)
    arguments = eval(f"({CALLS[number][1]},)", known)

    def call(*given: Any) -> Any:
        return function(*given)

    def total(*given: Any) -> Any:
        found = call(*given)
        return (found[0] if isinstance(found, tuple) else found).sum()

    compiled = weft.jit(call)
    slope, compiled_slope = weft.grad(total), weft.jit(weft.grad(total))
    for factor in (1.0, 0.5):
        first, *rest = arguments
        first = first * factor
        for one, other in ((call, compiled), (slope, compiled_slope)):
            left, right = one(first, *rest), other(first, *rest)
            pairs = zip(left, right, strict=True) if isinstance(left, tuple) else [(left, right)]
            for a, b in pairs:
                np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-5, atol=1e-6)


def test_slopes_by_chance() -> None:
    weft.set_seed(1)
    x = weft.Tensor(-np.ones(1000, np.float32))
    for call in (weft.nn.RReLU(), weft.jit(weft.nn.RReLU())):
        slopes = -call(x).asnumpy()
        assert 1 / 8 <= slopes.min() < 0.14
        assert 0.31 < slopes.max() <= 1 / 3
        assert slopes.mean() == pytest.approx(11 / 48, abs=0.01)
