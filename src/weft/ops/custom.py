"""`Custom`: operators made of a function of the program's, in Python on the host or of JAX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import jax

from weft import dtypes
from weft.core import OPERATOR_CLASSES, Operator, Primitive, Tensor, apply, keeps, transparent
from weft.core.closed import outside_of
from weft.core.operators import differentiated
from weft.dtypes import DType
from weft.ir.types import TensorType
from weft.ops.host_functions import call_on_host

#: kinds of functions that MindSpore knows and weft does not run, with the reason
_OTHER_TYPES: Final = {
    "aot": "libraries compiled for MindSpore's kernels",
    "hybrid": "MindSpore's Hybrid language",
    "akg": "AKG kernels",
    "tbe": "TBE kernels for Ascend",
    "aicpu": "AI CPU kernels for Ascend",
    "julia": "Julia functions",
}


class Custom(Operator):
    """An operator made of a function of the program's.

    A ``"pyfunc"`` runs in Python on the host: it gets a NumPy array for each tensor, other arguments as they are, and
    returns arrays of the types that `out_shape` and `out_dtype` say. A ``"jax"`` function gets and returns JAX arrays
    and is compiled with what is around it. A function that depends on its arguments and constants only is part of
    graphs; one that reads or changes something else runs in Python, between two graphs.

    Args:
        func: the function.
        out_shape: shape of the result, a tuple of shapes for several results, or a function of the inputs' shapes that
            returns it; needed for a ``"pyfunc"``.
        out_dtype: likewise the element type, a tuple of them, or a function of the inputs' element types.
        func_type: ``"pyfunc"`` or ``"jax"``.
        bprop: the derivative: ``bprop(*inputs, out, dout)`` returns a gradient for each input. A ``"jax"`` function
            has that of JAX without it; a ``"pyfunc"`` has none.
        reg_info: accepted; the types of the inputs are those of the call.

    Raises:
        TypeError: `func` is no function, or a ``"pyfunc"`` has no `out_shape` or `out_dtype`.
        ValueError: another `func_type`.

    Example:
        >>> import numpy as np
        >>> cube = Custom(
        ...     lambda x: x**3, lambda x: x, lambda x: x, bprop=lambda x, out, dout: (3 * x * x * dout,)
        ... )
        >>> print(cube(Tensor([1.0, 2.0])))
        [1. 8.]
        >>> from weft import grad
        >>> print(grad(cube)(Tensor([1.0, 2.0])))
        [ 3. 12.]
    """

    @keeps
    def __init__(
        self,
        func: Callable[..., Any],
        out_shape: Any = None,
        out_dtype: Any = None,
        func_type: str = "pyfunc",
        bprop: Callable[..., Any] | None = None,
        reg_info: Any = None,
    ) -> None:
        if func_type in _OTHER_TYPES:
            raise ValueError(
                f"Custom(func_type={func_type!r}): {_OTHER_TYPES[func_type]} do not run here; write the function with "
                "NumPy (func_type='pyfunc') or JAX (func_type='jax')"
            )
        if func_type not in ("pyfunc", "jax"):
            raise ValueError(f"Custom: func_type is 'pyfunc' or 'jax', not {func_type!r}")
        if not callable(func):
            raise TypeError(f"Custom(func_type={func_type!r}): func must be a function, not {type(func).__name__}")
        if bprop is not None and not callable(bprop):
            raise TypeError(f"Custom: bprop must be a function, not {type(bprop).__name__}")
        if func_type == "pyfunc" and (out_shape is None or out_dtype is None):
            raise TypeError("Custom(func_type='pyfunc') needs out_shape and out_dtype, the type of what func returns")
        label = getattr(func, "__name__", type(func).__name__)
        super().__init__(f"Custom({label})")
        self.func = func
        self.out_shape = out_shape
        self.out_dtype = out_dtype
        self.func_type = func_type
        self.bprop = bprop
        self.reg_info = reg_info
        self._jax_function = JaxFunction(func, self.name) if func_type == "jax" else None

    @transparent
    def __call__(self, *inputs: Any) -> Any:
        if self.bprop is None and self._jax_function is not None:
            return self._compute(*inputs)
        return differentiated(self._pull if self.bprop is None else self.bprop, self._compute, inputs)

    @transparent
    def _compute(self, *inputs: Any) -> Any:
        if self._jax_function is not None:
            return call_jax(self._jax_function, inputs)
        shapes, kinds = self.out_shape, self.out_dtype
        if callable(shapes):
            shapes = shapes(*[list(value.shape) if isinstance(value, Tensor) else [] for value in inputs])
        if callable(kinds) and not isinstance(kinds, DType):
            kinds = kinds(*[value.dtype if isinstance(value, Tensor) else type(value) for value in inputs])
        return call_python(self.func, inputs, shapes, kinds, self.name)

    @keeps
    def _pull(self, *_: Any) -> Any:
        raise RuntimeError(f"{self.name} has no derivative: give it one, Custom(..., bprop=...)")


class PyFunc(Custom):
    """A function of NumPy arrays as an operator; `Custom` is the general form.

    Args:
        fn: the function: takes an array for each tensor and returns an array, or a tuple of them.
        in_types: the element types of the inputs; accepted.
        in_shapes: their shapes; accepted.
        out_types: the element types of the results.
        out_shapes: their shapes.
        stateful: accepted; calls keep the order of the program.

    Returns:
        tuple[Tensor, ...]: the results, also where there is one.

    Example:
        >>> import weft
        >>> double = PyFunc(lambda x: x * 2, [weft.float32], [(2,)], [weft.float32], [(2,)])
        >>> print(double(Tensor([1.0, 4.0]))[0])
        [2. 8.]
    """

    @keeps
    def __init__(
        self,
        fn: Callable[..., Any],
        in_types: Any,
        in_shapes: Any,
        out_types: Any,
        out_shapes: Any,
        stateful: bool = True,
    ) -> None:
        if len(out_types) != len(out_shapes):
            raise ValueError(f"PyFunc: out_types {out_types!r} and out_shapes {out_shapes!r} differ in number")
        self.alone = len(out_types) == 1
        super().__init__(
            fn, out_shapes[0] if self.alone else tuple(out_shapes), out_types[0] if self.alone else tuple(out_types)
        )
        self.in_types = in_types
        self.in_shapes = in_shapes
        self.stateful = stateful

    @transparent
    def __call__(self, *inputs: Any) -> Any:
        given = inputs[0] if len(inputs) == 1 and isinstance(inputs[0], (tuple, list)) else inputs
        made = super().__call__(*given)
        return (made,) if self.alone else made


@keeps
def call_python(function: Callable[..., Any], inputs: Sequence[Any], shapes: Any, kinds: Any, name: str) -> Any:
    """Call a ``"pyfunc"``; a capture does it by `weft.capture.meaning.custom`."""
    return call_on_host(function, inputs, _types(shapes, kinds, name), name)


def _types(shapes: Any, kinds: Any, name: str) -> Any:
    """The type of the result, or a tuple of them."""
    if not isinstance(kinds, (tuple, list)):
        return TensorType.of(dtypes.of(kinds), _shape(shapes, name))
    if not isinstance(shapes, (tuple, list)) or len(shapes) != len(kinds):
        raise ValueError(f"{name}: out_shape {shapes!r} and out_dtype {kinds!r} speak of different numbers of results")
    return tuple([TensorType.of(dtypes.of(k), _shape(s, name)) for s, k in zip(shapes, kinds, strict=True)])


def _shape(shape: Any, name: str) -> tuple[int, ...]:
    if not isinstance(shape, (tuple, list)) or not all(isinstance(size, int) for size in shape):
        raise TypeError(f"{name}: out_shape is a tuple or list of ints for each result, not {shape!r}")
    return tuple(shape)


# -- functions of JAX ----------------------------------------------------------------------------------------------


class _Tensor:
    """Stands in the arguments of a JAX function for a tensor."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "tensor"


class _Once:
    """The key of a function that may depend on anything: no two calls have the same."""

    __slots__ = ()


_TENSOR: Final = _Tensor()
#: types of results that a function remembers
_REMEMBERED: Final = 256


@dataclass(slots=True, eq=False)
class JaxFunction:
    """A function on JAX arrays as primitives.

    Args:
        function: the function.
        name: of the operator.
    """

    function: Callable[..., Any]
    name: str
    #: by whether it returns several results
    primitives: dict[bool, Primitive] = field(default_factory=dict, init=False)
    #: whether it returns several results, by what that depends on
    structures: dict[Any, bool] = field(default_factory=dict, init=False)

    def __reduce__(self) -> Any:
        return JaxFunction, (self.function, self.name)  # what was compiled is not copied

    def __call__(self, inputs: Sequence[Any]) -> Any:
        """Compute it as an operation, like those of the library."""
        tensors = tuple([value for value in inputs if isinstance(value, Tensor)])
        layout = tuple([_TENSOR if isinstance(value, Tensor) else value for value in inputs])
        outside = outside_of(self.function)
        attrs = (layout, _Once() if outside is None else outside)
        return apply(self._primitive(attrs, tensors), tensors, attrs)

    def _primitive(self, attrs: tuple[Any, ...], tensors: tuple[Tensor, ...]) -> Primitive:
        kinds = [(tensor.dtype.np_dtype, tensor.shape) for tensor in tensors]
        key = (*attrs, tuple(kinds))
        several = self.structures.get(key)
        if several is None:
            if len(self.structures) >= _REMEMBERED:
                self.structures.clear()
            given = [jax.ShapeDtypeStruct(shape, kind) for kind, shape in kinds]
            found = jax.eval_shape(lambda *arrays: self.function(*_filled(attrs[0], arrays)), *given)
            several = self.structures[key] = isinstance(found, (tuple, list))
        primitive = self.primitives.get(several)
        if primitive is None:

            def implementation(*arrays: Any, layout: Any, outside: Any) -> Any:
                del outside
                found = self.function(*_filled(layout, arrays))
                return tuple(found) if several else found

            primitive = self.primitives[several] = Primitive(
                self.name, implementation, attr_names=("layout", "outside"), multiple=several, register=False
            )
        return primitive


def _filled(layout: Sequence[Any], arrays: Sequence[Any]) -> list[Any]:
    rest = iter(arrays)
    return [next(rest) if value is _TENSOR else value for value in layout]


@keeps
def call_jax(function: JaxFunction, inputs: Sequence[Any]) -> Any:
    """Call a ``"jax"`` function; a capture does it by `weft.capture.meaning.custom`."""
    return function(inputs)


OPERATOR_CLASSES["Custom"] = Custom
OPERATOR_CLASSES["PyFunc"] = PyFunc

__all__ = ["Custom", "PyFunc"]
