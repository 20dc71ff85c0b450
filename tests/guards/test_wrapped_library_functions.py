"""Functions of the program that bear the names of a library's, as `functools.wraps` gives them, are the program's."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.helpers.compiled import compiler
from weft import Tensor, nn, ops

STATE = {"k": 1}
CALLS: list[str] = []


def logged(function: Callable[..., Any]) -> Callable[..., Any]:
    """The usual decorator around a function of a library."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        CALLS.append(function.__name__)
        return function(*args, **kwargs) * STATE["k"]

    return wrapper


class Wrapper:
    """The same as a class."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.function = function

    def __call__(self, *args: Any) -> Any:
        CALLS.append("called")
        return self.function(*args) * STATE["k"]


class Scaled(nn.Dense):
    @functools.wraps(nn.Dense.construct)
    def construct(self, x: Tensor) -> Any:
        CALLS.append("construct")
        return super().construct(x) * STATE["k"]


def _renamed(cls: Any) -> Any:
    class Renamed(cls):  # type: ignore[misc]
        def construct(self, x: Tensor) -> Any:
            CALLS.append("renamed")
            return super().construct(x) * STATE["k"]

    return functools.update_wrapper(Renamed, cls, updated=())


class Forged:
    __module__ = "numpy"

    def __call__(self, x: Tensor) -> Any:
        CALLS.append("forged")
        return x * STATE["k"]

    @property
    def size(self) -> int:
        return STATE["k"]


@functools.wraps(len)
def length(items: Any) -> int:
    CALLS.append("length")
    return STATE["k"]


RELU, ADD, SUM = logged(ops.relu), logged(ops.add), logged(np.sum)
OBJECTS = [Wrapper(ops.relu), Wrapper(np.sum), Wrapper(len)]
DENSE, RENAMED, FORGED = Scaled(1, 1), _renamed(nn.ReLU)(), Forged()
PROGRAMS: dict[str, Callable[[Tensor], Any]] = {
    "operation": lambda x: RELU(x),
    "two operands": lambda x: ADD(x, x),
    "numpy": lambda x: x * float(SUM([1.0, 2.0])),
    "builtin": lambda x: x * length([1]),
    "object around an operation": lambda x: OBJECTS[0](x),
    "object around numpy": lambda x: x * float(OBJECTS[1]([1.0])),
    "object around a builtin": lambda x: x * OBJECTS[2]([1]),
    "method": lambda x: DENSE(x),
    "class": lambda x: RENAMED(x),
    "module of a class": lambda x: FORGED(x) * FORGED.size,
    "given to native code": lambda x: x * sum(map(length, [[1], [2]])),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("mode", ["PIJit", "auto"])
def test_they_are_entered(name: str, mode: str) -> None:
    program = PROGRAMS[name]
    compiled = compiler(mode)(program)
    for k in (1, 2, 3):
        STATE["k"] = k
        outcomes = []
        for function in (program, compiled):
            CALLS.clear()
            outcomes.append((function(Tensor([[1.5]])).asnumpy().tolist(), list(CALLS)))
        assert outcomes[0] == outcomes[1]
