"""The operations: one declaration each, a file per family; the functional API and operator classes made from them.

Importing the families attaches the Tensor methods. A name that is both a module and a function (`norm`, `select`,
`shape`...) is the function here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from weft.core.operators import OPERATOR_CLASSES as _OPERATOR_CLASSES
from weft.lazily import lazily as _lazily
from weft.ops import _operands, element_types, setting_types
from weft.ops import blocks as _blocks  # noqa: F401  (declares the operator classes)
from weft.ops import further_methods as _further_methods  # noqa: F401  (attaches more methods)
from weft.ops import methods as _methods  # noqa: F401  (attaches the methods)
from weft.ops import optimizer as _optimizer  # noqa: F401  (declares the steps)
from weft.ops._later import LATER as _LATER
from weft.ops.activation import *
from weft.ops.binary import *
from weft.ops.blocks import *
from weft.ops.compare import *
from weft.ops.conv import *
from weft.ops.create import *
from weft.ops.cumulative import *
from weft.ops.custom import *
from weft.ops.dropout import *
from weft.ops.elementwise import *
from weft.ops.embedding import *
from weft.ops.factors import *
from weft.ops.former import *
from weft.ops.gather import *
from weft.ops.host import *
from weft.ops.images import *
from weft.ops.in_place import *
from weft.ops.joining import *
from weft.ops.linalg import *
from weft.ops.logic import *
from weft.ops.loss import *
from weft.ops.math import *
from weft.ops.matmul import *
from weft.ops.norm import *
from weft.ops.padding import *
from weft.ops.pool import *
from weft.ops.printing import *
from weft.ops.random import *
from weft.ops.reduce import *
from weft.ops.select import *
from weft.ops.shape import *
from weft.ops.sorting import *
from weft.ops.space import *
from weft.ops.sparse import *
from weft.ops.state import *
from weft.ops.statistics import *
from weft.ops.trigonometry import *

if _TYPE_CHECKING:
    from weft.ops.attention import *
    from weft.ops.bessel import *
    from weft.ops.collectives import *
    from weft.ops.detection import *
    from weft.ops.distances import *
    from weft.ops.dumping import *
    from weft.ops.experts import *
    from weft.ops.fourier import *
    from weft.ops.fused import *
    from weft.ops.legacy import *
    from weft.ops.loops import *
    from weft.ops.margins import *
    from weft.ops.sampling import *
    from weft.ops.segments import *
    from weft.ops.sequences import *
    from weft.ops.sparse_functions import *
    from weft.ops.summary import *
    from weft.ops.unpooling import *

element_types.attach()
setting_types.attach()
globals().update(_OPERATOR_CLASSES)

#: public names: the functions and the operator classes
__all__ = [
    name
    for name, value in [*globals().items()]
    if not name.startswith("_") and name != "annotations" and type(value).__name__ != "module"
]
__all__.extend(name for names in _LATER.values() for name in names.split())
_operands.PLAIN.update({name: globals().pop(name) for name in _operands.plain(globals())})
_WAITING = {**_LATER, _operands.__name__: " ".join(_operands.PLAIN)}
if not _TYPE_CHECKING:
    __getattr__, __dir__ = _lazily(__name__, _WAITING, _operands.offered)
