"""The functional forms, by name: ``functional.add(x, y)``."""

from __future__ import annotations

from weft import ops
from weft.core.operators import OPERATOR_CLASSES

__all__ = [name for name in ops.__all__ if name not in OPERATOR_CLASSES]

globals().update({name: getattr(ops, name) for name in __all__})
