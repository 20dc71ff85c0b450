"""`mindspore.mint.special`."""

from __future__ import annotations

from typing import Any

from weft import ops
from weft.mint.functional import log_softmax
from weft.ops.elementwise import exp2, expm1, log1p
from weft.ops.trigonometry import erfc, sinc

__all__ = ["erfc", "exp2", "expm1", "log1p", "log_softmax", "round", "sinc"]


def round(input: Any) -> Any:
    """The nearest integers, halves to the even one.

    Example:
        >>> import weft
        >>> print(round(weft.Tensor([1.2, 2.5])))
        [1. 2.]
    """
    return ops.round(input)
