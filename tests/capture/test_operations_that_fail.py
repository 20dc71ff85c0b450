"""Operations of the library that raise on one side of a branch are in the graph like the program's own `raise`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from weft import Tensor, jit


def _reshaped(x: Any, k: Any) -> Any:
    if k < 2:
        x.reshape(7)
    return x


def _added(x: Any, k: Any) -> Any:
    if k < 2:
        x = x + Tensor([1.0, 2.0])
    return x * 2


def _written(x: Any, k: Any) -> Any:
    y = x * 1
    if k < 2:
        y[0] = Tensor([1.0, 2.0])
    return y


def _in_a_loop(x: Any, k: Any) -> Any:
    while k < 2:
        x[0].add_(Tensor([1.0, 2.0]))
        k = k + 1
    return x


@pytest.mark.parametrize("f", [_reshaped, _added, _written, _in_a_loop])
def test_on_one_side(f: Callable[..., Any]) -> None:
    compiled = jit(f, fullgraph=True)
    for k in (3, 1, 4, 0):
        outcomes = []
        for g in (f, compiled):
            try:
                outcomes.append(g(Tensor([1.0, 2.0, 3.0]), Tensor(k)).asnumpy().tolist())
            except ValueError as error:
                outcomes.append((type(error), str(error)))
        assert outcomes[0] == outcomes[1]
        assert isinstance(outcomes[0], list) == (k > 1)


def test_their_exceptions_have_no_notes_of_the_compiler() -> None:
    for f in (_reshaped, jit(_reshaped)):
        with pytest.raises(ValueError, match="cannot take the shape") as caught:
            f(Tensor([1.0, 2.0, 3.0]), Tensor(1))
        assert not getattr(caught.value, "__notes__", [])
