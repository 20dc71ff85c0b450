"""Compiled functions: the decorator, the entries of a function, and the cached call."""

from weft.jit import graph_mode as _graph_mode
from weft.jit import mapped as _mapped
from weft.jit.decorator import jit, ms_function
from weft.jit.disable import jit_disable
from weft.jit.function import compiled_of, is_compiled
from weft.jit.jit_class import jit_class
from weft.jit.signature import TensorSpec

__all__ = ["TensorSpec", "compiled_of", "is_compiled", "jit", "jit_class", "jit_disable", "ms_function"]
del _graph_mode, _mapped
