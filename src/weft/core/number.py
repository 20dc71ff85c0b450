"""Python numbers that only the running graph knows: 0-dimensional values that promote like the numbers they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft import dtypes
from weft.core import trace as trace_module
from weft.core.dispatch import record
from weft.core.primitive import Primitive
from weft.core.tensor import Tensor
from weft.ir.types import TensorType

#: how each kind of Python number is stored
STORAGE = {bool: dtypes.bool_, int: dtypes.int64, float: dtypes.float64}


class _NumberPrimitive(Primitive):
    __slots__ = ()

    def _infer(self, attrs: tuple[Any, ...], inputs: tuple[TensorType | None, ...]) -> tuple[TensorType, ...]:
        (kind,) = attrs
        return (TensorType.of(STORAGE[kind], (), kind),)


def _to_number(x: Any, *, kind: type) -> Any:

    return x.reshape(()).astype(STORAGE[kind].np_dtype)


TO_NUMBER = _NumberPrimitive(
    "ToNumber",
    _to_number,
    attr_names=("kind",),
    no_gradient="a Python number is a constant for every gradient",
)


def as_number(value: Any, kind: type) -> Tensor:
    """A run-time Python number of a kind, from a one-element symbolic tensor or a Python number.

    Args:
        value: the tensor or number; a trace must be active.
        kind: `bool`, `int` or `float`.

    Raises:
        ValueError: the tensor has more than one element.
    """
    trace = trace_module.current()
    assert trace is not None
    if not isinstance(value, Tensor):
        value = apply_constant(value, kind)
    if value.size != 1:
        raise ValueError(f"{kind.__name__}() needs a tensor with one element, this one has shape {value.shape}")
    if value.type.weak is kind and value.is_symbolic:
        return value
    used = trace.use(value)
    results = trace.append(TO_NUMBER, (used,), (kind,), TO_NUMBER.infer((kind,), (used.type,)))  # type: ignore[arg-type]
    return record(TO_NUMBER, (kind,), (value,), results, trace.graph)[0]


def apply_constant(value: Any, kind: type) -> Tensor:
    """The constant tensor that stores a Python number in a graph."""
    tensor = Tensor(np.asarray(kind(value), STORAGE[kind].np_dtype))
    trace = trace_module.current()
    if trace is not None:
        trace.created[id(tensor)] = tensor
    return tensor


__all__ = ["STORAGE", "TO_NUMBER", "apply_constant", "as_number"]
