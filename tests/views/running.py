"""Runs programs of views on NumPy arrays and on tensors, and compares all values, also after further writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.views.writer import arguments
from weft import Tensor
from weft.jit import jit


def _add(target: Any, number: float) -> None:
    if isinstance(target, Tensor):
        target.add_(number)
    else:
        target += number


def _mul(target: Any, number: float) -> None:
    if isinstance(target, Tensor):
        target.mul_(number)
    else:
        target *= number


def _look(tensor: Any) -> None:
    str(tensor.asnumpy() if isinstance(tensor, Tensor) else tensor)


def _new(value: Any) -> Any:
    """What was computed as an array: NumPy computes numbers of arrays without dimensions."""
    return value if isinstance(value, Tensor) else np.asarray(value)


def made(text: str) -> Any:
    """The function that a text defines."""
    scope: dict[str, Any] = {}
    exec(compile(text, "<program>", "exec"), {"add_": _add, "mul_": _mul, "look": _look, "new": _new}, scope)
    return scope["f"]


def values(tensors: Any) -> list[Any]:
    """The elements of arrays or tensors."""
    return [np.asarray(tensor).tolist() for tensor in tensors]


def history(function: Callable[..., Any], kind: Callable[[Any], Any]) -> list[Any]:
    """What calls return, and what all tensors are after each of them is written."""
    found = []
    for number in range(3):
        given = [kind(array) for array in arguments(number)]
        if number == 2:  # an argument that is a view itself
            whole = kind(np.concatenate([arguments(number)[0], arguments(number)[0]]))
            given[0] = whole[1:4]
            given.append(whole)
        returned = function(*given[:2])
        seen = [*given, *returned]
        found.append(values(seen))
        for place, tensor in enumerate(seen):
            tensor[...] = 100.0 + place
            found.append(values(seen))
    return found


def check(text: str, **options: Any) -> Any:
    """Compare a program in NumPy, eagerly and compiled; returns the compiled function."""
    wanted = history(made(text), np.array)
    assert history(made(text), Tensor) == wanted, f"eager\n{text}"
    compiled = jit(made(text), **options)
    assert history(compiled, Tensor) == wanted, f"compiled\n{text}"
    return compiled
