"""`mindspore.mint`: weft's operations with the signatures that mint gives them.

Most functions are rows of `weft.mint.table`; those that do something else stand in `arithmetic`, `reducing`, `shaping`
and `making`. The modules `nn`, `functional` (`mint.nn.functional`), `optim`, `linalg` and `special` are those inside.
"""

from __future__ import annotations

from weft import ops as _ops
from weft.lazily import Names as _Names
from weft.mint import arithmetic as _arithmetic
from weft.mint import making as _making
from weft.mint import normalizing as _normalizing
from weft.mint import reducing as _reducing
from weft.mint import shaping as _shaping
from weft.mint.arithmetic import *
from weft.mint.functional import conv2d as conv2d
from weft.mint.making import *
from weft.mint.normalizing import *
from weft.mint.reducing import *
from weft.mint.rows import functions as _functions
from weft.mint.shaping import *
from weft.mint.table import FUNCTIONS as _FUNCTIONS
from weft.ops._operands import refuse_strangers as _refuse_strangers

_refuse_strangers(globals(), __name__)

_ROWS = _functions(_FUNCTIONS, _Names(_ops), __name__)
globals().update(_ROWS)

#: public names
__all__ = sorted(  # noqa: PLE0605
    {
        *(*_ROWS, "conv2d", *_arithmetic.__all__, *_making.__all__),
        *(*_normalizing.__all__, *_reducing.__all__, *_shaping.__all__),
    }
)
