"""Code made from text, and places in code."""

from __future__ import annotations

import inspect
import linecache
import os
import types
from collections.abc import Callable
from typing import Any

import weft

_PACKAGE = os.path.dirname(weft.__file__) + os.sep


def module_of(source: str, file: str, name: str = "generated", **names: Any) -> types.ModuleType:
    """A module made from a text, with its lines where tracebacks look for them.

    Args:
        source: the text.
        file: what its code says it is from.
        name: the module's name.
        names: what the module has before it runs.
    """
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    module = types.ModuleType(name)
    module.__dict__.update(names)
    exec(compile(source, file, "exec", dont_inherit=True), module.__dict__)
    return module


def function_of(source: str, **names: Any) -> types.FunctionType:
    """The function `f` of a module made from a text, whose file is called ``<program ...>``."""
    function: types.FunctionType = module_of(source, f"<program {hash(source)}>", **names).f
    return function


def place_of(function: Callable[..., Any], text: str) -> tuple[int, int]:
    """Line and column, in bytes, of a piece of a function's source."""
    lines, first = inspect.getsourcelines(function)
    for number, line in enumerate(lines, first):
        if text in line:
            return number, len(line[: line.index(text)].encode())
    raise AssertionError(f"{text!r} is not in the source of {function.__qualname__}")


def is_frameworks(file: str) -> bool:
    """Whether a file is the framework's own, wherever that is installed."""
    return file.startswith(_PACKAGE)
