"""The kernel: primitives, tensors, traces, and the one door that every computation goes through.

Promises that a computation means the same whether it runs now or is being captured. Knows nothing of particular
operations, of derivatives beyond the tape's entries, or of Python bytecode.
"""

from weft.core.bounds import check_bounds
from weft.core.declare import add_method, as_operator, op, operator_class
from weft.core.describing import Described, described, shows, told
from weft.core.dispatch import CAST, apply
from weft.core.operators import OPERATOR_CLASSES, Operator
from weft.core.primitive import IO, PURE, RANDOM, Primitive
from weft.core.tensor import Parameter, Tensor, data_of, present, wrap
from weft.core.transparency import keeps, transparent

#: what families of operations and of Cells are made with
__all__ = [
    "CAST", "Described", "IO", "OPERATOR_CLASSES", "Operator", "PURE", "Parameter", "Primitive", "RANDOM", "Tensor",
    "add_method", "apply", "as_operator", "check_bounds", "data_of", "described", "keeps", "op", "operator_class",
    "present", "shows", "told", "transparent", "wrap",
]  # fmt: skip
