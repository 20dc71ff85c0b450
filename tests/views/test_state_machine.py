"""A state machine of views and writes, with NumPy beside it."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from weft import Tensor
from weft.jit import jit

#: how a view is made, in NumPy and in weft alike
VIEWS = [
    "v[...]", "v[::-1]", "v[:1]", "v[-1:]", "v[..., None]", "v[None]", "v.T", "v.reshape(-1)", "v.reshape(2, -1)",
    "v.swapaxes(0, -1)", "v.squeeze()", "v.ravel()", "v[0, ...]",
]  # fmt: skip
#: writes of a view
WRITES = ["v[...] = n", "v[:1] = n", "v[-1:] += n", "v[...] = v * n"]


class Views(RuleBasedStateMachine):
    """Arrays and tensors that are made and written alike."""

    pairs = Bundle("pairs")

    def __init__(self) -> None:
        super().__init__()
        self.all: list[tuple[Any, Any]] = []

    def noted(self, array: Any, tensor: Any) -> tuple[Any, Any]:
        self.all.append((array, tensor))
        return array, tensor

    @rule(target=pairs, rows=st.integers(1, 3))
    def make(self, rows: int) -> tuple[Any, Any]:
        array = np.arange(rows * 4, dtype=np.float64).reshape(rows, 4)
        return self.noted(array, Tensor(array))

    @rule(target=pairs, pair=pairs, text=st.sampled_from(VIEWS), compiled=st.booleans())
    def view(self, pair: tuple[Any, Any], text: str, compiled: bool) -> tuple[Any, Any]:
        array, tensor = pair
        try:
            made = eval(text, {"v": array})
        except (IndexError, ValueError):
            return pair
        scope: dict[str, Any] = {}
        exec(f"def f(v): return {text}", scope)
        function = jit(scope["f"]) if compiled else scope["f"]
        return self.noted(made, function(tensor))

    @rule(pair=pairs, text=st.sampled_from(WRITES), number=st.integers(-3, 3), compiled=st.booleans())
    def write(self, pair: tuple[Any, Any], text: str, number: int, compiled: bool) -> None:
        array, tensor = pair
        scope: dict[str, Any] = {}
        exec(f"def f(v, n):\n    {text}", scope)
        if not array.ndim and "..." not in text:
            return
        scope["f"](array, float(number))
        (jit(scope["f"]) if compiled else scope["f"])(tensor, float(number))

    @invariant()
    def are_equal(self) -> None:
        for array, tensor in self.all:
            assert tensor.asnumpy().tolist() == array.tolist()


Views.TestCase.settings = settings(max_examples=15, stateful_step_count=15, deadline=None)
TestViews = Views.TestCase
