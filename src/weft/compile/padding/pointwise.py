"""Rules of what is computed element by element, and of the sizes themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
from jax import lax

from weft._jax_compat import bind_again
from weft.compile.padding.arrays import Padded
from weft.compile.padding.space import Space
from weft.compile.padding.table import Refused, rule


@rule(
    "abs", "acos", "acosh", "add", "add_any", "and", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil",
    "clamp", "clz", "complex", "conj", "convert_element_type", "copy", "cos", "cosh", "div", "eq", "eq_to", "erf",
    "erf_inv", "erfc", "exp", "exp2", "expm1", "floor", "ge", "gt", "imag", "integer_pow", "is_finite", "le", "le_to",
    "log", "log1p", "log2", "logistic", "lt", "lt_to", "max", "min", "mul", "name", "mulhi", "ne", "neg", "nextafter",
    "not", "one_minus_square", "or", "population_count", "pow", "real", "reduce_precision", "rem", "round", "rsqrt",
    "select_n", "shift_left", "shift_right_arithmetic", "shift_right_logical", "sign", "sin", "sinh", "sqrt", "square",
    "stop_gradient", "sub", "tan", "tanh", "xor",
)  # fmt: skip
def pointwise(space: Space, equation: Any, *operands: Padded) -> Padded:
    """Each element depends on the elements at the same position."""
    values = space.aligned(operands)
    ranked = [value for value in values if value.axes]
    axes, uniform = [], []
    for dim in range(len(ranked[0].axes)):
        longer = [value for value in ranked if value.axes[dim]]
        axes.append(longer[0].axes[dim] if longer else ())
        if all(dim in value.uniform for value in longer):
            uniform.append(dim)
    return Padded(bind_again(equation, [value.array for value in values])[0], axes, uniform)


@rule(
    "bessel_i0e", "bessel_i1e", "digamma", "igamma", "igamma_grad_a", "igammac", "lgamma", "polygamma",
    "regularized_incomplete_beta", "zeta",
)  # fmt: skip
def series(space: Space, equation: Any, *operands: Padded) -> Padded:
    """Some are loops that go on until all elements are there, so these are all such for which that is soon."""
    values = [
        Padded(space.filled(value, range(len(value.axes)), value.array.dtype.type(0.5)), value.axes)
        for value in operands
    ]
    return pointwise(space, equation, *values)


@rule("bitcast_convert_type")
def bitcast(space: Space, equation: Any, operand: Padded) -> Padded:
    """Element by element where both types are as wide."""
    if np.dtype(equation.params["new_dtype"]).itemsize != operand.array.dtype.itemsize:
        raise Refused("bitcast_convert_type", "changes the width of the elements")
    return pointwise(space, equation, operand)


@rule("optimization_barrier")
def barrier(space: Space, equation: Any, *operands: Padded) -> list[Padded]:
    """The same arrays."""
    arrays = bind_again(equation, [value.array for value in operands])
    return [Padded(array, value.axes, value.uniform) for array, value in zip(arrays, operands, strict=True)]


@rule("dim_as_value")
def dimension(space: Space, equation: Any) -> Padded:
    """A size as a number."""
    dtype = equation.outvars[0].aval.dtype
    return Padded(space.size(equation.params["dim"], np.dtype(dtype).type), ())


@rule("iota")
def iota(space: Space, equation: Any) -> Padded:
    """The positions along an axis."""
    axes = space.axes(equation.params["shape"])
    shape = [space.room(size) for size in equation.params["shape"]]
    along = equation.params["dimension"]
    array = lax.broadcasted_iota(equation.params["dtype"], shape, along)
    return Padded(array, axes, set(range(len(shape))) - {along})


@rule("broadcast_in_dim")
def broadcast(space: Space, equation: Any, operand: Padded) -> Padded:
    """New axes are uniform, and so are those that had one element."""
    dims = [int(dim) for dim in equation.params["broadcast_dimensions"]]
    axes = space.axes(equation.params["shape"])
    shape = [space.room(size) for size in equation.params["shape"]]
    uniform = set(range(len(shape))) - set(dims)
    source = equation.invars[0].aval.shape
    for old, new in enumerate(dims):
        if isinstance(source[old], int) and source[old] == 1:
            uniform.add(new)
        else:
            axes[new], shape[new] = operand.axes[old], operand.array.shape[old]
            uniform |= {new} if old in operand.uniform else set()
    return Padded(lax.broadcast_in_dim(operand.array, shape, dims), axes, uniform)
