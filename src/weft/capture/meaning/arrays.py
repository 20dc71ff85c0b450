"""Data that only the call knows: arrays of NumPy and JAX are inputs of the graph from where they become tensors."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from weft import dtypes
from weft.capture.meaning.parts import Part
from weft.capture.python.containers import members
from weft.capture.python.values import ARRAYS, is_numpy_number, only_the_call_knows
from weft.capture.state.guards import Guard
from weft.core.elements import array_of
from weft.core.tensor import Tensor, wrap
from weft.ir.types import TensorType

_NUMERIC_KINDS: Final = frozenset("biufc")


class Arrays(Part):
    """The part of the interpreter that deals with what is only known when the entry runs, see `Sources.opaque`."""

    def array_input(self, value: Any) -> Tensor | None:
        """A new tensor with the data that an array of the call has in each call; None for what makes no tensor."""
        sources = self.sources
        if id(value) not in sources.opaque or not isinstance(value, ARRAYS):
            return None
        tensor_type = type_of_array(value)
        if tensor_type is None:
            return None
        param = sources.arrays.get(id(value))
        if param is None:
            expression = sources.known[id(value)][1]
            typed = f"{sources.name(type_of_array, 'object')}({expression})"
            condition = f"{typed} is {sources.name(tensor_type, 'type')}"
            path = sources.path(expression)
            sources.add(Guard(condition, "type", path, tensor_type, typed))
            param = sources.arrays[id(value)] = self.trace.root.add_param(tensor_type, expression)
            sources.numbers.inputs[param] = f"{sources.name(array_of, 'object')}({expression}, None)"
        return wrap(param)

    def operands(self, left: Any, right: Any) -> tuple[Any, Any]:
        """Both operands of an operator: inputs of the graph beside a tensor, see `_beside`."""
        right = self._beside(right, left)
        return (self._beside(left, right) if is_numpy_number(left) else left), right  # an array goes on by itself

    def _beside(self, value: Any, other: Any) -> Any:
        """An operand that may be an array or a number of the call: an input of the graph beside a tensor."""
        if not isinstance(other, Tensor) or id(value) not in self.sources.opaque:
            return value
        if isinstance(value, np.floating) and isinstance(value, float):  # which tensors take for a float of Python
            expression = self.sources.known[id(value)][1]
            return self.sources.numbers.base(f"float({expression})", float(value), self.sources.path(expression))
        array = self.array_input(value) if isinstance(value, np.ndarray) or is_numpy_number(value) else None
        return value if array is None else array

    def refuse_opaque(self, *values: Any) -> None:
        """Refuse to compute while capturing with data whose contents only the call knows."""
        opaque = self.sources.opaque
        if not opaque:
            return
        pending = list(values)
        seen: set[int] = set()
        while pending:
            value = pending.pop()
            if id(value) in opaque:
                if not is_numpy_number(value):
                    raise only_the_call_knows(value)
                self.sources.pin(value)
            if issubclass(type(value), (list, tuple, dict)) and id(value) not in seen:
                seen.add(id(value))
                pending += members(value)


def type_of_array(array: Any) -> TensorType | None:
    """The type of the tensor that an array makes; None for one that does not hold numbers as they lie in memory."""
    if array.dtype.kind not in _NUMERIC_KINDS or not array.dtype.isnative:
        return None
    return TensorType.of(dtypes.of_np(array.dtype), array.shape)
