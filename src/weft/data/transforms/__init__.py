"""Operations on columns of any kind, and operations made of others."""

from __future__ import annotations

from weft.data.operation import Operation
from weft.data.transforms.composing import Compose, RandomApply, RandomChoice, RandomOrder, not_random
from weft.data.transforms.elements import (
    Concatenate,
    Duplicate,
    Fill,
    Mask,
    OneHot,
    PadEnd,
    Plugin,
    Relational,
    Slice,
    TypeCast,
    Unique,
)

__all__ = [
    "Compose", "Concatenate", "Duplicate", "Fill", "Mask", "OneHot", "Operation", "PadEnd", "Plugin", "RandomApply",
    "RandomChoice", "RandomOrder", "Relational", "Slice", "TypeCast", "Unique", "not_random",
]  # fmt: skip
