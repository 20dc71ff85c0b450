"""`mindspore.mint.special`."""

from __future__ import annotations

from weft.mint.functional import log_softmax
from weft.ops.elementwise import exp2, expm1, log1p, round
from weft.ops.trigonometry import erfc, sinc

__all__ = ["erfc", "exp2", "expm1", "log1p", "log_softmax", "round", "sinc"]
