"""The operator classes, by name: ``operations.Add()(x, y)``."""

from __future__ import annotations

import weft.ops  # noqa: F401  (declares them)
from weft.core.operators import OPERATOR_CLASSES, Operator

globals().update(OPERATOR_CLASSES)

__all__ = ["Operator"]
__all__.extend(OPERATOR_CLASSES)
