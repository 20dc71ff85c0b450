"""Imports inside of compiled functions: modules that come and go between calls, and names that are missing."""

from __future__ import annotations

import importlib
import statistics
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.compiled import compiler
from tests.helpers.values import values, x

OPTIONAL = "weft_test_optional"
Decorate = Callable[[Any], Any]


def optional(v: Any) -> Any:
    try:
        import weft_test_optional as found  # type: ignore[import-not-found]
    except ImportError as error:
        return values(v * 1), f"without ({error})"
    return values(v * found.K), f"with {found.K}"


def calls_while_a_module_comes_and_goes(decorate: Decorate, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    with monkeypatch.context() as patch:
        function = decorate(lambda v: optional(v))
        seen = [function(x())]
        module: Any = types.ModuleType(OPTIONAL)
        module.K = 3.0
        patch.setitem(sys.modules, OPTIONAL, module)
        seen.append(function(x()))
        patch.setitem(sys.modules, OPTIONAL, None)  # type: ignore[arg-type]
        seen.append(function(x()))
        patch.delitem(sys.modules, OPTIONAL)
        seen.append(function(x()))
        (folder / f"{OPTIONAL}.py").write_text("K = 5.0\n")
        patch.syspath_prepend(folder)
        importlib.invalidate_caches()
        seen += [function(x()), function(x())]
        (folder / f"{OPTIONAL}.py").unlink()
        sys.modules.pop(OPTIONAL, None)
    return seen


@pytest.mark.parametrize("mode", ["auto", "PIJit"])
def test_a_module_that_comes_and_goes(mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [
        calls_while_a_module_comes_and_goes(decorate, tmp_path, monkeypatch)
        for decorate in (compiler("eager"), compiler(mode))
    ]
    assert found[0] == found[1]


def missing(v: Any) -> Any:
    y = v * 2
    from math import nope  # type: ignore[attr-defined]

    return y * nope


def missing_behind_a_break(v: Any) -> Any:
    total = float(v.asnumpy().sum())
    from weft.nn import NoSuchLayer  # type: ignore[attr-defined]

    return v * total, NoSuchLayer


@pytest.mark.parametrize("mode", ["auto", "PIJit"])
@pytest.mark.parametrize("function", [missing, missing_behind_a_break])
def test_a_name_that_a_module_lacks(function: Callable[..., Any], mode: str) -> None:
    found = []
    for decorate in (compiler("eager"), compiler(mode)):
        compiled = decorate(function)
        for _ in range(2):
            with pytest.raises(ImportError) as caught:
                compiled(x())
            error = caught.value
            found.append((type(error), str(error), error.name, error.__cause__, error.__context__))
    assert found[:2] == found[2:]


@pytest.mark.parametrize("mode", ["auto", "PIJit"])
def test_a_library_that_counts_what_an_iterator_gives(mode: str) -> None:
    """`statistics` makes a Counter of an iterator: a look at what that does must not use it up."""

    def counted(v: Any, data: Any) -> Any:
        return values(v * 2), statistics.multimode(data), statistics.mode(data), statistics.median(data)

    compiled = compiler(mode)(counted)
    for data in ([1, 2, 2], (1.5, 1.5), [3, 3, 1], [1, 2, 2]):
        assert compiled(x(), data) == counted(x(), data)
