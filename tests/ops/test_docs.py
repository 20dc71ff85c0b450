"""Every public operation has a docstring whose example runs."""

from __future__ import annotations

import doctest
import inspect
from typing import Any

import numpy as np
import pytest

import weft
from weft import ops
from weft.ops import operations

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
FUNCTIONS = sorted(
    name
    for name in ops.__all__
    if inspect.isfunction(getattr(ops, name)) and getattr(ops, name).__module__.startswith("weft.ops")
)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_example_runs(name: str) -> None:
    function = getattr(ops, name)
    assert function.__doc__, f"ops.{name} has no docstring"
    scope: dict[str, Any] = {**vars(ops), "weft": weft, "np": np, "Tensor": weft.Tensor, "Parameter": weft.Parameter}
    scope[function.__name__] = function
    test = doctest.DocTestParser().get_doctest(function.__doc__, scope, name, None, 0)
    assert test.examples, f"ops.{name} has no example"
    output: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=output.append)
    assert not output, "".join(output)


def test_names_of_modules_and_functions() -> None:
    for name in ("norm", "select", "shape", "dropout", "embedding"):
        assert callable(getattr(ops, name)), f"ops.{name} is the module, not the function"


def test_there_are_enough_names() -> None:
    assert len(FUNCTIONS) >= 220


@pytest.mark.parametrize("name", sorted({*operations.__all__} - {"Operator"}))
def test_operator_class_is_exported(name: str) -> None:
    made = getattr(operations, name)
    assert getattr(ops, name) is made
    assert made.__doc__
