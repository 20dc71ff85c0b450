"""The operator classes, by name: ``operations.Add()(x, y)``."""

from __future__ import annotations

import weft.ops  # noqa: F401  (declares them)
from weft import lazily
from weft.core import OPERATOR_CLASSES, Operator
from weft.ops._later import OPERATORS
from weft.ops._operands import offered

globals().update(OPERATOR_CLASSES)

__all__ = ["Operator"]
__all__.extend(OPERATOR_CLASSES)
__all__.extend(name for names in OPERATORS.values() for name in names.split() if name not in OPERATOR_CLASSES)
__getattr__, __dir__ = lazily.lazily(__name__, OPERATORS, offered)
