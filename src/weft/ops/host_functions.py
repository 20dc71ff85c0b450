"""Functions of the host whose results go on in the graph: what `ops.Custom` with ``func_type="pyfunc"`` is made of.

Eagerly the function is called at once. A running graph calls it when it comes to it, in the order of all that reaches
the host, and goes on with the results; what the function raises ends the run, and is raised by whoever called the
compiled function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import jax
import numpy as np
from jax.experimental import io_callback

from weft._jax_compat import Stopped, to_device
from weft.core import IO, Primitive, Tensor, data_of, wrap
from weft.core import trace as trace_module
from weft.errors import Refusal, Unsupported
from weft.ir.types import TensorType
from weft.ops.host import TOKEN_TYPE, appended, hand_over

#: stands in the arguments of a host function for a tensor
_HOLE: Final = object()


@dataclass(slots=True, eq=False)
class HostFunction:
    """A Python function on arrays, called by a running graph.

    Args:
        function: gets a NumPy array for each tensor and other arguments as they are.
        args: its arguments, with holes for tensors.
        types: the types of its results.
        single: whether it returns one array, and no tuple of them.
        name: of the operator, for errors.
        location: where in the user's code the call is: a Location, or a function that returns one, or None.
    """

    function: Callable[..., Any]
    args: Sequence[Any]
    types: tuple[TensorType, ...]
    single: bool
    name: str
    location: Any = None

    def results(self, arrays: Sequence[Any]) -> list[np.ndarray[Any, Any]]:
        """Make the call; the function gets copies, which it may write.

        Args:
            arrays: the values of the tensors among the arguments, in their order.

        Raises:
            ValueError: the function returned something of another shape, or another number of results.
            TypeError: something of another type.
        """
        values = iter(arrays)
        found = self.function(*[np.array(next(values)) if arg is _HOLE else arg for arg in self.args])
        if self.single:
            found = (found,)
        elif not isinstance(found, (tuple, list)) or len(found) != len(self.types):
            count = f"{len(found)} results" if isinstance(found, (tuple, list)) else f"a {type(found).__name__}"
            raise ValueError(f"{self.name} returned {count}, but out_dtype has {len(self.types)} types")
        return [self._checked(value, kind) for value, kind in zip(found, self.types, strict=True)]

    def _checked(self, value: Any, kind: TensorType) -> np.ndarray[Any, Any]:
        if isinstance(value, Tensor):
            value = np.array(value)
        wanted = kind.dtype.np_dtype
        array = np.asarray(value) if isinstance(value, (np.ndarray, np.generic)) else np.asarray(value, wanted)
        if array.dtype != wanted:
            raise TypeError(f"{self.name} returned an array of {array.dtype}, but out_dtype is {kind.dtype}")
        if array.shape != kind.shape:
            raise ValueError(f"{self.name} returned an array of shape {array.shape}, but out_shape is {kind.shape}")
        return array

    def perform(self, arrays: Sequence[Any]) -> None:
        """Raise what the call raised when the graph made it."""
        raise arrays[0]

    def objects(self) -> list[Any]:
        """The objects that the call holds."""
        return [self.function, *self.args]

    def __repr__(self) -> str:
        return f"<{self.name}>"


def _call(token: Any, *arrays: Any, call: HostFunction) -> tuple[Any, ...]:
    kinds = [jax.ShapeDtypeStruct(kind.shape, kind.dtype.np_dtype) for kind in call.types]

    def arrive(number: Any, *values: Any) -> Any:
        try:
            return (number, *call.results(values))
        except BaseException as error:
            hand_over(number, call, (error,))
            raise Stopped from None

    return tuple(io_callback(arrive, (TOKEN_TYPE, *kinds), token, *arrays))


#: calls a function of the host; the token that orders effects is the number of the run
HOST_FUNCTION: Final = Primitive(
    "HostFunction", _call, attr_names=("call",), multiple=True, effect=IO, no_gradient="a function of the host"
)


def call_on_host(function: Callable[..., Any], args: Sequence[Any], types: Any, name: str) -> Any:
    """Call a function on arrays now, or, while capturing, when the graph runs.

    Args:
        function: gets a NumPy array for each tensor, and other arguments as they are; computes from them alone.
        args: its arguments.
        types: the type of its result; a tuple of them if it returns several.
        name: of the operator, for errors.

    Returns:
        Tensor, or a tuple of them.

    Raises:
        Unsupported: the call is in a branch, a loop or a mapped function of a graph.
    """
    single = isinstance(types, TensorType)
    tensors = [arg for arg in args if isinstance(arg, Tensor)]
    kept = [_HOLE if isinstance(arg, Tensor) else arg for arg in args]
    call = HostFunction(function, kept, (types,) if single else types, single, name)
    trace = trace_module.current()
    if trace is None:
        found = call.results([data_of(tensor) for tensor in tensors])
        results = tuple([wrap(to_device(a, kind.dtype.np_dtype)) for a, kind in zip(found, call.types, strict=True)])
    else:
        if trace.graph is not trace.root:
            raise Unsupported(
                Refusal.IMPURE_CALL,
                f"{name} calls a function of the host in a branch, a loop or a mapped function",
                "take it out of the branch, loop or mapped function",
            )
        results = appended(trace, HOST_FUNCTION, call, tensors, call.types)
    return results[0] if single else results
