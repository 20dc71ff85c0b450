"""Programs that are edited: each is run as a module of its own, as another process would run it."""

from __future__ import annotations

import sys
import types
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from weft import Tensor, jit
from weft.core.parameters import ParameterTuple
from weft.jit.function import compiled_of


class Memory(dict[str, bytes]):
    """A compile cache in memory."""

    def put(self, key: str, value: bytes) -> None:
        """Keep a value."""
        self[key] = value


def loaded(source: str, compiled: bool) -> types.ModuleType:
    """A program as a module of its own; all of them are edits of one file. What it decorates by `deco` is compiled."""
    module = sys.modules["edited"] = types.ModuleType("edited")
    module.__dict__["deco"] = jit if compiled else lambda function: function
    exec(compile(source, "edited.py", "exec"), module.__dict__)
    return module


def plain(value: Any) -> Any:
    if isinstance(value, (tuple, ParameterTuple)):
        return [plain(item) for item in value]
    return value.asnumpy().tolist() if isinstance(value, Tensor) else value


def outcomes(f: Any, arguments: str, names: Mapping[str, Any] | None = None) -> list[Any]:
    """What three calls of a function give; its arguments may use some names."""
    found = []
    for scale in (1.0, 1.0, -0.5):
        x = np.array([0.5, -1.0, 2.0], np.float32) * np.float32(scale)
        given = {**(names or {}), "T": Tensor(x), "M": Tensor(np.stack([x, x * 2]))}
        try:
            found.append(plain(f(*eval(arguments, given))))
        except Exception as error:
            found.append(f"{type(error).__name__}: {error}")
    return found


def compiled_once(f: Any) -> Any:
    """A function as a compiled one, unless its program has decorated it."""
    return jit(f) if compiled_of(f) is None else f


def found_of(f: Any) -> int:
    """How many graphs of a compiled function came from the cache."""
    compiled = compiled_of(f)
    assert compiled is not None
    return sum("earlier process" in event.reason for event in compiled.history.captured)


def results(source: str, arguments: str, compiled: bool) -> tuple[list[Any], int]:
    """What three calls of `f` give, and how many entries came from the cache."""
    module = loaded(source, compiled)
    if not compiled:
        return outcomes(module.f, arguments, vars(module)), 0
    f = compiled_once(module.f)
    return outcomes(f, arguments, vars(module)), found_of(f)


def same(found: Any, expected: Any) -> None:
    if isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            same(one, other)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-5, abs=1e-6, nan_ok=True)
    else:
        assert found == expected


def check_found_again(source: str, arguments: str) -> list[Any]:
    """The same program, as the next process runs it, finds its entries; returns what eager code gives."""
    expected, _ = results(source, arguments, compiled=False)
    first, found = results(source, arguments, compiled=True)
    assert found == 0
    again, found = results(source, arguments, compiled=True)
    same(first, expected)
    same(again, expected)
    assert found > 0
    return expected


def check_edited(source: str, arguments: str, edit: tuple[str, str]) -> None:
    """An edited program gets nothing that was kept before, and neither does the first one afterwards."""
    assert edit[0] in source
    results(source, arguments, compiled=True)
    edited = source.replace(*edit)
    expected, _ = results(edited, arguments, compiled=False)
    same(results(edited, arguments, compiled=True)[0], expected)
    same(results(edited, arguments, compiled=True)[0], expected)
    same(results(source, arguments, compiled=True)[0], results(source, arguments, compiled=False)[0])
