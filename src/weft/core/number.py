"""Python numbers that only the running graph knows: 0-dimensional values that promote like the numbers they are."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from weft import dtypes
from weft.core import trace as trace_module
from weft.core.conversion import converted
from weft.core.dispatch import record
from weft.core.primitive import Primitive
from weft.core.run_number import RunNumber
from weft.core.tensor import Tensor, wrap
from weft.dtypes import DType
from weft.errors import Refusal, Unsupported
from weft.ir.graph import Value
from weft.ir.types import TensorType

#: how each kind of Python number is stored
STORAGE = {bool: dtypes.bool_, int: dtypes.int64, float: dtypes.float64}


class _NumberPrimitive(Primitive):
    __slots__ = ()

    def _infer(self, attrs: tuple[Any, ...], inputs: tuple[TensorType | None, ...]) -> tuple[TensorType, ...]:
        (kind,) = attrs
        return (TensorType.of(STORAGE[kind], (), kind),)


def _to_number(x: Any, *, kind: type) -> Any:

    return converted(x.reshape(()), STORAGE[kind].np_dtype)


TO_NUMBER = _NumberPrimitive(
    "ToNumber", _to_number, attr_names=("kind",), no_gradient="a Python number is a constant for every gradient"
)


class GraphNumber(RunNumber):
    """A Python number that only the running graph knows.

    Args:
        kind: `bool`, `int` or `float`.
        tensor: the 0-dimensional value of the graph that stands for it, whose type says that it is a number.
    """

    __slots__ = ("tensor",)

    def __init__(self, kind: type, tensor: Tensor) -> None:
        super().__init__(kind)
        self.tensor = tensor

    def operand(self, dtype: DType | None = None) -> Tensor:
        if dtype is not None and dtype.category == 1:
            least, most = limits(dtype)
            if self.kind is float:  # Python's `int` of it
                fits = (self.tensor > float(least - 1)) & (self.tensor < float(most + 1))
                require(fits, f"whether a number fits {dtype}")
            elif self.kind is int and dtype is not dtypes.int64:
                require((self.tensor >= least) & (self.tensor <= most), f"whether a number fits {dtype}")
        return self.tensor

    def _text(self, spec: str) -> str:
        """What stands for the number in a text that the running graph completes."""
        trace = trace_module.current()
        if trace is None or trace.write_text is None:
            return self.constant()
        return trace.write_text(self, spec)

    def __str__(self) -> str:
        return self._text("")

    def __repr__(self) -> str:
        return self._text("!r")

    def __format__(self, spec: str) -> str:
        return self._text(spec)

    def constant(self) -> Any:
        raise Unsupported(
            Refusal.TENSOR_VALUE,
            f"the value of a Python {self.kind.__name__} is needed that only the running graph knows",
            "compute with it in tensors, or do this outside the compiled function",
        )


_LEAST: Final = -(1 << 63)
_MOST: Final = (1 << 63) - 1


def limits(dtype: DType) -> tuple[int, int]:
    """The least and the greatest number of an integer element type that a Python int of a graph can have."""
    info = np.iinfo(dtype.np_dtype)
    return max(int(info.min), _LEAST), min(int(info.max), _MOST)


def require(condition: Tensor, what: str) -> None:
    """Go on with the capture of a graph that is right only where a condition holds.

    Where it does not hold the results of the graph are dropped and the call is captured again, without what assumed it.

    Args:
        condition: a symbolic truth.
        what: what is not known otherwise, for the message.

    Raises:
        Unsupported: the capture may not assume anything.
    """
    trace = trace_module.current()
    assert trace is not None
    if trace.exact:
        raise Unsupported(
            Refusal.TENSOR_VALUE,
            f"{what} is only known when the graph runs, and it did not hold before",
            "compute with tensors, or do this outside the compiled function",
        )
    trace.require(condition)


def number_of(value: Value) -> Any:
    """What stands in captured code for a value of the graph: a number if its type says so, else a tensor."""
    tensor = wrap(value)
    kind = value.type.weak if isinstance(value.type, TensorType) else None
    return tensor if kind is None else GraphNumber(kind, tensor)


def as_number(value: Any, kind: type) -> Tensor:
    """The tensor of a run-time Python number, from a one-element symbolic tensor or a Python number.

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
    """The constant tensor that stores a Python number in a graph.

    Raises:
        Unsupported: it is an int of more than 64 bits.
    """
    if kind is int and not _LEAST <= value <= _MOST:
        raise Unsupported(
            Refusal.TENSOR_VALUE,
            "an int of more than 64 bits would be in the graph",
            "compute with it outside the compiled function",
        )
    return Tensor(np.asarray(kind(value), STORAGE[kind].np_dtype))


__all__ = [
    "STORAGE", "TO_NUMBER", "GraphNumber", "apply_constant", "as_number", "limits", "number_of", "require",
]  # fmt: skip
