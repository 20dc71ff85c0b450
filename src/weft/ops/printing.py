"""Printing, also from running graphs: `ops.print_`."""

from __future__ import annotations

import sys
from typing import Any

from weft.core import Tensor, operator_class
from weft.ops.host import Text, host_call

__all__ = ["print_"]


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
    host_call(_write, Text(tuple(parts)))


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


operator_class("Print", print_)
