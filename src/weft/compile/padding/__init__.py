"""Programs with sizes that each call gives, in arrays of fixed sizes that have room for the largest: exact, whatever
stands in the rest of the arrays, so that one executable serves all sizes up to that.
"""

from weft.compile.padding.arrays import Extent
from weft.compile.padding.program import PaddedProgram, padded
from weft.compile.padding.table import Refused

__all__ = ["Extent", "PaddedProgram", "Refused", "padded"]
