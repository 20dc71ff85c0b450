"""Printing from running graphs: `ops.print_`, and what a captured ``print(...)`` becomes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from weft.core import formatting
from weft.core import trace as trace_module
from weft.core.declare import operator_class
from weft.core.primitive import IO, Primitive
from weft.core.tensor import Tensor, wrap
from weft.ir.types import TOKEN

__all__ = ["print_"]

#: how one tensor is shown: a format specification (or "!r"), and the Python type whose number it stands for
Hole = tuple[str, type | None]


def print_host(parts: tuple[str | Hole, ...], *arrays: Any) -> None:
    """Print on the host.

    Args:
        parts: static text and holes, the attribute of `PRINT`.
        arrays: the values that fill the holes.
    """
    values = iter(arrays)
    texts = [part if isinstance(part, str) else _shown(part, np.asarray(next(values))) for part in parts]
    sys.stdout.write("".join(texts))
    sys.stdout.flush()


def _shown(hole: Hole, array: np.ndarray[Any, Any]) -> str:
    spec, kind = hole
    if kind is not None:
        number = kind(array.item())
        return repr(number) if spec == "!r" else format(number, spec)
    tensor = wrap(array)
    if spec == "!r":
        return formatting.representation(tensor)
    return format(tensor, "" if spec == "!s" else spec)


def _callback(*arrays: Any, parts: tuple[str | Hole, ...]) -> tuple[()]:
    def show(*values: Any) -> None:
        print_host(parts, *values)

    jax.debug.callback(show, *arrays, ordered=True)
    return ()


#: prints its operands; in a graph the first operand and the result are the token that orders effects
PRINT = Primitive("Print", _callback, attr_names=("parts",), multiple=True, effect=IO, no_gradient="prints")


def print_values(parts: Sequence[str | tuple[Tensor, str]]) -> None:
    """Print text now, or, while capturing, when the graph runs.

    Args:
        parts: strings, and pairs of a tensor and a format specification (``"!r"`` for its representation).
    """
    described: list[str | Hole] = []
    tensors: list[Tensor] = []
    for part in parts:
        if isinstance(part, str):
            described.append(part)
        else:
            described.append((part[1], part[0].type.weak))
            tensors.append(part[0])
    trace = trace_module.current()
    if trace is None:
        print_host(tuple(described), *[t.concrete("printing") for t in tensors])
        return
    token = trace.io_token()
    inputs = (trace.use(token), *[trace.use(t) for t in tensors])
    token.rebind(wrap(trace.append(PRINT, inputs, (tuple(described),), (TOKEN,))[0]))


def print_(*input_x: Any) -> None:
    """Print tensors and text, one a line, also from inside a compiled function.

    Args:
        input_x: tensors, numbers and strings.

    Example:
        >>> print_("loss:", Tensor([1, 2]))
        loss:
        Tensor(shape=[2], dtype=Int64, value= [ 1, 2])
    """
    parts: list[Any] = []
    for value in input_x:
        for item in value if isinstance(value, (tuple, list)) else (value,):
            parts.append((item, "!r") if isinstance(item, Tensor) else str(item))
            parts.append("\n")
    print_values(parts)


operator_class("Print", print_)
