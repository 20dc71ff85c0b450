"""State, order and facts: assignment to parameters, identity and cast, depend, shape and type queries."""

from __future__ import annotations

from typing import Any, Final

import jax.numpy as jnp
import numpy as np

from weft import dtypes
from weft.core import CAST, Parameter, Primitive, Tensor, apply, as_operator, data_of, op, operator_class, shows, wrap
from weft.core import trace as trace_module
from weft.core.dispatch import separate
from weft.core.tape import SYMBOL
from weft.core.tensor import view
from weft.ops._rules import tensor
from weft.ops.shape import zeros_of
from weft.parallel.processes import processes

__all__ = [
    "assign", "assign_add", "assign_sub", "cast", "deepcopy", "depend", "dtype", "dyn_shape", "identity",
    "is_nonzero", "is_tensor", "load", "numel", "population_count", "rank", "same_type_shape", "shape", "shape_",
    "size", "stop_gradient", "tensor_move",
]  # fmt: skip


def current_value(source: Tensor) -> Tensor:
    """A plain handle on what a tensor stands for now; symbolic while capturing, so that it can be stored."""
    trace = trace_module.current()
    if trace is None:
        return view(source)
    result = wrap(trace.use(source))
    node = source._node
    if node is not None and node is not SYMBOL:
        result._node = node
        result._index = source._index
    return result


def write(variable: Any, value: Any, name: str) -> Any:
    """Store a value in a parameter, converted to its dtype.

    Returns:
        Tensor: what the parameter holds now; later writes to the parameter do not change it.

    Raises:
        TypeError: the target is no tensor.
        ValueError: the shapes differ.
    """
    if not isinstance(variable, Tensor):
        raise TypeError(f"{name}: the first argument must be a Parameter, not {type(variable).__name__}")
    value = _like(variable, value)
    if value.shape != variable.shape:
        if value.size != 1 or variable.size != 1:
            target = f"parameter {variable.name!r}" if isinstance(variable, Parameter) else "the tensor"
            raise ValueError(f"{name}: a value of shape {value.shape} does not fit {target} of shape {variable.shape}")
        value = value.reshape(variable.shape)
    variable.rebind(current_value(cast(value, variable.dtype)))
    return current_value(variable)


def _like(variable: Any, value: Any) -> Any:
    return value if isinstance(value, Tensor) else Tensor(value, variable.dtype)


@shows("assign(Parameter(Tensor([1.0])), Tensor([3.0]))", "[3.]")
def assign(variable: Any, value: Any) -> Any:
    """Store a value in a parameter.

    Args:
        variable: the Parameter.
        value: tensor or number of the parameter's shape, cast to its dtype.

    Returns:
        Tensor: what the parameter holds now.

    Raises:
        ValueError: the shapes differ.
    """
    return write(variable, value, "assign")


@shows("assign_add(Parameter(Tensor([1.0])), Tensor([3.0]))", "[4.]")
def assign_add(variable: Any, value: Any) -> Any:
    """Add a value to a parameter."""
    return write(variable, variable + _like(variable, value), "assign_add")


@shows("assign_sub(Parameter(Tensor([1.0])), Tensor([3.0]))", "[-2.]")
def assign_sub(variable: Any, value: Any) -> Any:
    """Subtract a value from a parameter."""
    return write(variable, variable - _like(variable, value), "assign_sub")


# -- identity, casts, order ----------------------------------------------------------------------------------


@shows("identity(Tensor([1.0]))", "[1.]")
def identity(x: Any) -> Any:
    """The same elements as a new tensor; anything else as it is."""
    return apply(Primitive.table["Identity"], (x,)) if isinstance(x, Tensor) else x


@op("StopGradient", classes=(), no_gradient="stops gradients by definition", elementwise=True)
def _stop_gradient(value: Any) -> Any:
    """The same elements, without gradient."""
    return value


@shows("stop_gradient(Tensor([1.0]))", "[1.]")
def stop_gradient(value: Any) -> Any:
    """The tensor, as a constant for every gradient.

    Args:
        value: tensor, or a tuple or list of tensors.

    Returns:
        Tensor: the same elements, without gradient history.
    """
    if isinstance(value, (tuple, list)):
        return type(value)([stop_gradient(item) for item in value])
    if not isinstance(value, Tensor):
        return value
    if trace_module.current() is None:
        return wrap(data_of(value))
    return _stop_gradient(value)


@shows('cast(Tensor([1.7]), "int32")', "[1]")
def cast(input: Any, dtype: Any) -> Any:
    """Convert to an element type.

    Args:
        input: tensor or number.
        dtype: element type.

    Returns:
        Tensor: of that element type; the tensor itself if it already has it.

    Raises:
        TypeError: `dtype` names no element type.
    """
    wanted = dtypes.of(dtype)
    if not isinstance(input, Tensor):
        return Tensor(input, wanted)
    if input.dtype is wanted and input.type.weak is None:
        return input
    return apply(CAST, (input,), (wanted,))


@shows("deepcopy(Tensor([1.0]))", "[1.]")
def deepcopy(input_x: Any) -> Any:
    """A tensor of the same elements that later writes to the original do not change."""
    return separate(tensor(input_x))


@shows("load(Tensor([1.0]))", "[1.]")
def load(variable: Any, monad: Any = None) -> Any:
    """The current value of a parameter."""
    return current_value(variable)


@shows("tensor_move(Tensor([1.0]))", "[1.]")
def tensor_move(x: Any) -> Any:
    """Same as `deepcopy`."""
    return deepcopy(x)


@shows("depend(Tensor([1.0]), Tensor([2.0]))", "[1.]")
def depend(value: Any, *expressions: Any) -> Any:
    """The value, after the expressions are computed.

    Effects always happen in the order of the program here, so this only says what is true anyway.

    Args:
        value: what to return.
        expressions: what comes first.

    Returns:
        `value`.

    Raises:
        TypeError: no expression is given.
    """
    if not expressions:
        raise TypeError("depend needs the value and what it depends on: depend(value, expr)")
    if processes().count > 1 and isinstance(value, Tensor):
        # where it is an exchange its gradient is one, too, to which all of its processes come
        for expression in expressions:
            if isinstance(expression, Tensor):
                value = apply(_AFTER, (value, expression))
    return value


_AFTER: Final = Primitive(
    "After",
    lambda value, expression: value,
    derivative=lambda value, expression, out, dout: (dout, zeros_of(expression)),
)


# -- facts ---------------------------------------------------------------------------------------------------


@shows("shape(Tensor([[1, 2]]))", "(1, 2)")
def shape(input_x: Any) -> tuple[int, ...]:
    """Dimensions of a tensor."""
    return tensor(input_x).shape


@shows("dyn_shape(Tensor([[1, 2]]))", "[1 2]")
def dyn_shape(input_x: Any) -> Any:
    """Dimensions of a tensor as an int64 tensor."""
    return Tensor(np.asarray(input_x.shape, np.int64))


@shows("dtype(Tensor([1]))", "Int64")
def dtype(x: Any) -> Any:
    """Element type of a tensor."""
    return tensor(x).dtype


@shows("rank(Tensor([[1, 2]]))", "2")
def rank(input_x: Any) -> int:
    """Number of dimensions."""
    return tensor(input_x).ndim


@shows("size(Tensor([[1, 2]]))", "2")
def size(input_x: Any) -> int:
    """Number of elements."""
    return tensor(input_x).size


@shows("is_tensor(1)", "False")
def is_tensor(obj: Any) -> bool:
    """Whether an object is a tensor."""
    return isinstance(obj, Tensor)


@shows("is_nonzero(Tensor([2]))", "True")
def is_nonzero(input: Any) -> bool:
    """Whether the only element of a tensor is not zero.

    Raises:
        ValueError: more than one element.
    """
    return bool(tensor(input))


@shows("population_count(Tensor([3, 8]))", "[2 1]")
def population_count(input_x: Any) -> Any:
    """Number of bits that are set in each integer."""
    return _population_count(input_x)


@op("PopulationCount", no_gradient="integer result", elementwise=True)
def _population_count(input_x: Any) -> Any:
    """Number of bits that are set in each integer."""
    return jnp.bitwise_count(input_x).astype(jnp.uint8)


@shows("same_type_shape(Tensor([1]), Tensor([2]))", "[1]")
def same_type_shape(x: Any, y: Any) -> Any:
    """The first tensor, after checking that both have the same element type and shape.

    Raises:
        TypeError: the element types differ.
        ValueError: the shapes differ.
    """
    if x.dtype is not y.dtype:
        raise TypeError(f"same_type_shape: element types {x.dtype} and {y.dtype} differ")
    if x.shape != y.shape:
        raise ValueError(f"same_type_shape: shapes {x.shape} and {y.shape} differ")
    return x


# -- overflow flags of other devices ---------------------------------------------------------------------------


@as_operator
def NPUAllocFloatStatus() -> Any:
    """A cleared overflow flag; operations here never set one."""
    return Tensor(np.zeros(8, np.float32))


@as_operator
def NPUGetFloatStatus(x: Any) -> Any:
    """The overflow flag."""
    return current_value(x)


@as_operator
def NPUClearFloatStatus(x: Any) -> Any:
    """The cleared overflow flag."""
    return zeros_of(x)


numel = size
shape_ = shape

for _name, _function in (
    ("Assign", assign), ("AssignAdd", assign_add), ("AssignSub", assign_sub), ("Cast", cast), ("Depend", depend),
    ("Identity", identity), ("Load", load), ("TensorMove", deepcopy), ("Shape", shape), ("TensorShape", dyn_shape),
    ("DType", dtype), ("Rank", rank), ("Size", size), ("SameTypeShape", same_type_shape),
    ("StopGradient", stop_gradient),
):  # fmt: skip
    operator_class(_name, _function)
