"""What the tests of `jit` call compiled functions with, and ask of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft import Tensor
from weft.jit import compiled_of


def x(*values: float) -> Tensor:
    """A tensor of single precision."""
    return Tensor(np.asarray(values or (1.0, 2.0), np.float32))


def values(tensor: Any) -> list[float]:
    """The elements of a tensor."""
    return tensor.asnumpy().tolist()


def entries(function: Any) -> int:
    """How many graphs a compiled function has."""
    compiled = compiled_of(function)
    assert compiled is not None
    return sum(map(len, compiled.entries.values()))
