"""weft: one deep-learning program, run eagerly and as a compiled graph.

The names here are the framework's own; `weft.nn` has the cells, `weft.ops` the operations, `weft.train` checkpoints.
Programs written for MindSpore import `mindspore` instead (see `weft.mindspore`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from weft.collecting import importing as _importing
from weft.lazily import lazily as _lazily

if _TYPE_CHECKING:
    from weft import train
    from weft.train import load_checkpoint, load_param_into_net, save_checkpoint
else:
    __getattr__, __dir__ = _lazily(
        __name__, {"weft": "train", "weft.train": "load_checkpoint load_param_into_net save_checkpoint"}
    )

with _importing():
    from weft.parallel.processes import join as _join

    _join()
    from weft import nn, ops
    from weft.autodiff.grad import grad, jvp, value_and_grad, vjp
    from weft.autodiff.jacobian import jacfwd, jacrev
    from weft.cache import configure as _configure_cache
    from weft.context import GRAPH_MODE, PYNATIVE_MODE, get_context, set_context
    from weft.core.containers import mutable
    from weft.core.parameters import ParameterTuple
    from weft.core.tensor import Parameter, Tensor
    from weft.dtypes import (
        bfloat16,
        bool_,
        complex64,
        complex128,
        float16,
        float32,
        float64,
        int8,
        int16,
        int32,
        int64,
        uint8,
        uint16,
        uint32,
        uint64,
    )
    from weft.errors import Unsupported, WeftError
    from weft.explain import explain
    from weft.jit import jit, jit_class, jit_disable, ms_function
    from weft.nn.lazy_inline import lazy_inline
    from weft.ops.random import get_seed, set_seed
    from weft.vectorize import vmap

    _configure_cache()

__version__ = "0.1.0"

__all__ = [
    "GRAPH_MODE",
    "PYNATIVE_MODE",
    "Parameter",
    "ParameterTuple",
    "Tensor",
    "Unsupported",
    "WeftError",
    "bfloat16",
    "bool_",
    "complex64",
    "complex128",
    "float16",
    "float32",
    "float64",
    "explain",
    "get_context",
    "get_seed",
    "grad",
    "int8",
    "int16",
    "int32",
    "int64",
    "jacfwd",
    "jacrev",
    "jit",
    "jit_class",
    "jit_disable",
    "jvp",
    "lazy_inline",
    "load_checkpoint",
    "load_param_into_net",
    "ms_function",
    "mutable",
    "nn",
    "ops",
    "save_checkpoint",
    "set_context",
    "set_seed",
    "train",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "value_and_grad",
    "vjp",
    "vmap",
]
