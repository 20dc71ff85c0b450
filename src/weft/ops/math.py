"""Elementwise arithmetic."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import jax.numpy as jnp
from jax import lax

from weft.core import add_method, described, op, operator_class, shows
from weft.ops._checks import one_of
from weft.ops._rows import of_one, of_pairs
from weft.ops._rules import floating, operands, promoted, tensor

__all__ = [
    "accumulate_n", "add", "addn", "bias_add", "div", "div_no_nan", "divide", "floor_div", "floor_divide",
    "floor_mod", "fmod", "maximum", "minimum", "mod", "mul", "multiply", "neg", "negative", "positive", "pow",
    "real_div", "reciprocal", "remainder", "square", "sub", "subtract", "true_divide", "truncate_div",
    "truncate_mod",
]  # fmt: skip

_SIDES: Final = dict.fromkeys(("input", "other", "x", "y"), "tensor or number.")
_TWO: Final = described(returns="Tensor: of the broadcast shape and promoted dtype.", **_SIDES)
_QUOTIENT: Final = described(returns="Tensor: of the broadcast shape, floating point.", **_SIDES)
_ONE: Final = described(input="tensor.", returns="Tensor: like `input`.")
_rounded = partial(op, promotes=True, elementwise=True, describe=_TWO, no_gradient="piecewise constant")


def _kept_apart(input: Any, other: Any) -> tuple[Any, Any]:
    """Operands of which XLA must not know that one is a constant, where they may be Python numbers.

    It makes ``x`` of ``x + 0``, also for ``-0.0``, multiplies by ``1 / c`` for ``x / c`` and by ``c * d`` for
    ``x * c * d``.
    """
    is_number = input.ndim == other.ndim == 0 and input.dtype == other.dtype == jnp.float64
    return lax.optimization_barrier((input, other)) if is_number else (input, other)


def _exact(name: str, *arrays: Any) -> tuple[Any, Any]:
    return _kept_apart(*operands(name, *arrays))


def _exact_floats(name: str, *arrays: Any) -> tuple[Any, Any]:
    return _kept_apart(*map(floating, operands("div", *arrays)))


def _unless_bools(compute: Any, of_bools: Any) -> Any:
    """A function of two arrays that is another one of bools."""
    return lambda x, y: of_bools(x, y) if x.dtype == jnp.bool_ else compute(x, y)


#: arithmetic of one operand and of two, and such that is exact between numbers
_single = partial(of_one, __name__, describe=_ONE)
_pair = partial(of_pairs, __name__, describe=_TWO)
_exactly = partial(_pair, prepared=_exact)


add = _exactly("add", jnp.add, "Add elementwise, with broadcasting.", "[1.0, 2.0], 1", "[2. 3.]", method=(),
    operator="__add__", reflected="__radd__", classes=("Add", "TensorAdd"),
    gradient=lambda x, y, out, dout: (dout, dout), commutative=True)  # fmt: skip
sub = _exactly("sub", _unless_bools(jnp.subtract, jnp.logical_xor),
    "Subtract elementwise, with broadcasting; of bools, whether they differ.", "[1.0, 2.0], 1", "[0. 1.]",
    method="subtract", operator="__sub__", reflected="__rsub__",
    gradient=lambda x, y, out, dout: (dout, neg(dout)))  # fmt: skip
mul: Any = _exactly("mul", jnp.multiply, "Multiply elementwise, with broadcasting.", "[1.0, 2.0], 3", "[3. 6.]",
    also="multiply", operator="__mul__", reflected="__rmul__",
    gradient=lambda x, y, out, dout: (mul(y, dout), mul(x, dout)), commutative=True)  # fmt: skip


def _div_rule(x: Any, y: Any, out: Any, dout: Any) -> Any:
    dx = real_div(dout, y)
    return dx, neg(mul(dx, out))


real_div = _pair("real_div", jnp.divide, "Divide elementwise; integers give float32.", "[1, 2], 4", "[0.25 0.5 ]",
    prepared=_exact_floats, describe=_QUOTIENT, method=("true_divide", "divide"), operator="__truediv__",
    reflected="__rtruediv__", classes="Div", gradient=_div_rule)  # fmt: skip


@shows("typed_div(Tensor([1, -7]), 4)", "[ 0 -1]")
def typed_div(x: Any, y: Any) -> Any:
    """Divide elementwise in the type of the operands: quotients of integers are rounded toward zero."""
    whole = all(tensor(each).dtype.category == 1 for each in (x, y))
    return truncate_div(x, y) if whole else real_div(x, y)


@shows('div(Tensor([7.0, -7.0]), 2.0, rounding_mode="trunc")', "[ 3. -3.]")
def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """Divide elementwise, optionally rounding the quotient.

    Args:
        input: tensor or number.
        other: tensor or number.
        rounding_mode: None, ``"floor"`` or ``"trunc"``.

    Returns:
        Tensor: of the broadcast shape; floating point without rounding.

    Raises:
        ValueError: `rounding_mode` is another word.
    """
    if rounding_mode is None:
        return real_div(input, other)
    one_of("div", (None, "floor", "trunc"), rounding_mode=rounding_mode)
    return floor_div(input, other) if rounding_mode == "floor" else truncate_div(input, other)


@_rounded("FloorDiv", method=("floor_div", "floor_divide"), operator="__floordiv__", reflected="__rfloordiv__")
@shows("floor_div(Tensor([7, -7]), 2)", "[ 3 -4]")
def floor_div(x: Any, y: Any) -> Any:
    """Divide and round down, elementwise; bools stay as they are."""
    x, y = operands("floor_div", x, y)
    return jnp.broadcast_arrays(x, y)[0] if x.dtype == jnp.bool_ else jnp.floor_divide(x, y)


@_rounded("TruncateDiv")
@shows("truncate_div(Tensor([7, -7]), 2)", "[ 3 -3]")
def truncate_div(x: Any, y: Any) -> Any:
    """Divide and round toward zero, elementwise."""
    x, y = operands("truncate_div", x, y)
    if jnp.issubdtype(x.dtype, jnp.inexact):
        return jnp.trunc(jnp.divide(x, y))
    return jnp.sign(x) * jnp.sign(y) * (jnp.abs(x) // jnp.abs(y))


def _only_first(x: Any, y: Any) -> Any:
    """The remainder of bools: what is true of the first only."""
    return x & ~y


floor_mod = _pair("floor_mod", _unless_bools(jnp.remainder, _only_first),
    "Remainder of the division rounded down: it has the sign of the divisor, as Python's ``%``.", "[7, -7], 4", "[3 1]",
    also="remainder", operator="__mod__", reflected="__rmod__",
    gradient=lambda x, y, out, dout: (dout, neg(mul(dout, floor_div(x, y)))))  # fmt: skip
fmod = _pair("fmod", _unless_bools(jnp.fmod, _only_first),
    "Remainder of the division rounded toward zero: it has the sign of the dividend.", "[7, -7], 4", "[ 3 -3]",
    primitive="Mod", classes=("Mod", "TruncateMod"),
    gradient=lambda x, y, out, dout: (dout, neg(mul(dout, truncate_div(x, y)))))  # fmt: skip


@op("DivNoNan", promotes=True, elementwise=True, describe=_QUOTIENT)
@shows("div_no_nan(Tensor([1.0, 2.0]), Tensor([0.0, 4.0]))", "[0.  0.5]")
def div_no_nan(input: Any, other: Any) -> Any:
    """Divide elementwise; where the divisor is zero the result is zero."""
    input, other = operands("div_no_nan", input, other)
    zero = other == 0
    return jnp.where(zero, 0, jnp.divide(floating(input), floating(jnp.where(zero, 1, other))))


def _pow_rule(x: Any, y: Any, out: Any, dout: Any) -> Any:
    return mul(dout, _pow_by_base(x, y)), mul(dout, xlogy_safe(out, x))


@op("PowBase", classes=(), promotes=True, elementwise=True)
def _pow_by_base(base: Any, exponent: Any) -> Any:
    """Derivative of a power by its base, 0 where base and exponent are zero."""
    base, exponent = operands("pow", base, exponent)
    zero = (exponent == 0) & (base == 0)
    return jnp.where(zero, 0, exponent * jnp.power(jnp.where(zero, 1, base), exponent - 1))


@op("LogWeighted", classes=(), promotes=True, elementwise=True)
def xlogy_safe(weight: Any, base: Any) -> Any:
    """``weight * log(base)``, zero where the base has no logarithm: where it is 0, or real and negative."""
    weight, base = promoted(weight, base)
    has_logarithm = base != 0 if jnp.iscomplexobj(base) else base > 0
    return jnp.where(has_logarithm, weight * jnp.log(floating(jnp.where(has_logarithm, base, 1))), 0)


@op("Pow", method="pow", operator="__pow__", reflected="__rpow__", gradient=_pow_rule, promotes=True, elementwise=True)
def pow(input: Any, exponent: Any) -> Any:
    """Raise to a power elementwise, with broadcasting.

    Args:
        input: tensor or number.
        exponent: tensor or number. An integer to a negative power is rounded toward zero: 1 and -1 stay what they
            are, all else gives 0.

    Returns:
        Tensor: of the broadcast shape and promoted dtype.

    Example:
        >>> print(pow(Tensor([1.0, 2.0, 3.0]), 2))
        [1. 4. 9.]
        >>> print(pow(Tensor([-1, 1, 2]), -3))
        [-1  1  0]
    """
    input, exponent = operands("pow", input, exponent)
    if not jnp.issubdtype(input.dtype, jnp.signedinteger):
        return jnp.power(input, exponent)
    power = jnp.power(input, jnp.where(exponent < 0, exponent & 1, exponent))  # repeated squaring knows no fractions
    return jnp.where((exponent < 0) & (jnp.abs(input) != 1), 0, power)


neg: Any = _single("neg", jnp.negative, "Negate elementwise.", "[1.0, -2.0]", "[-1.  2.]", also="negative",
    gradient=lambda x, out, dout: (neg(dout),))  # fmt: skip
square = _single("square", jnp.square, "Square of each element.", "[1.0, -2.0]", "[1. 4.]",
    gradient=lambda x, out, dout: (mul(dout, mul(x, 2)),))  # fmt: skip
reciprocal = _single("reciprocal", lambda x: jnp.reciprocal(floating(x)),
    "One divided by each element; integers give float32.", "[1.0, 4.0]", "[1.   0.25]",
    describe=described(input="tensor.", returns="Tensor: floating point."),
    gradient=lambda x, out, dout: (neg(mul(dout, square(out))),))  # fmt: skip
_PARTED = "NaN wins. Where equal, half of the gradient goes to each."
maximum = _pair("maximum", jnp.maximum, f"The larger of two tensors, elementwise; {_PARTED}", "[1.0, 4.0], [3.0, 2.0]",
    "[3. 4.]", gradient=lambda x, y, out, dout: (_where_larger(x, y, dout), _where_larger(y, x, dout)))  # fmt: skip
minimum = _pair("minimum", jnp.minimum, f"The smaller of two tensors, elementwise; {_PARTED}", "[1.0, 4.0], [3.0, 2.0]",
    "[1. 2.]", gradient=lambda x, y, out, dout: (_where_larger(y, x, dout), _where_larger(x, y, dout)))  # fmt: skip


@op("WhereLarger", classes=(), elementwise=True)
def _where_larger(a: Any, b: Any, value: Any) -> Any:
    """The value where a > b, half of it where they are equal, else zero."""
    a, b = promoted(a, b)
    return jnp.where(a > b, value, jnp.where(a == b, value * 0.5, jnp.zeros_like(value)))


@op(
    "AddN", classes=(), gradient=lambda *xs_out_dout: tuple(xs_out_dout[-1] for _ in xs_out_dout[:-2]), elementwise=True
)
def _add_all(*tensors: Any) -> Any:
    """Sum of tensors of one shape."""
    if any(t.shape != tensors[0].shape for t in tensors):
        raise ValueError(f"addn: all tensors must have one shape, not {', '.join(str(t.shape) for t in tensors)}")
    total, *rest = promoted(*tensors)
    for other in rest:
        total = total + other
    return total


@shows("addn([Tensor([1.0]), Tensor([2.0]), Tensor([3.0])])", "[6.]")
def addn(x: Any) -> Any:
    """Add several tensors of one shape.

    Args:
        x: a list or tuple of tensors, or one tensor.

    Returns:
        Tensor: the sum.

    Raises:
        ValueError: no tensors, or different shapes.
    """
    if not isinstance(x, (list, tuple)):
        return _add_all(x)
    if not x:
        raise ValueError("addn needs at least one tensor")
    return _add_all(*x)


def _bias_add_rule(x: Any, bias: Any, out: Any, dout: Any, *, data_format: str) -> Any:
    axis = _channel_axis(x.ndim, data_format)
    return dout, dout.sum(tuple(i for i in range(x.ndim) if i != axis))


def _channel_axis(ndim: int, data_format: str) -> int:
    one_of("bias_add", ("NCHW", "NHWC", "NCDHW", "NC"), data_format=data_format)
    return ndim - 1 if data_format == "NHWC" or ndim == 1 else 1


@op("BiasAdd", init='data_format="NCHW"', gradient=_bias_add_rule)
@shows("bias_add(Tensor([[1.0, 2.0]]), Tensor([10.0, 20.0]))", "[[11. 22.]]")
def bias_add(input_x: Any, bias: Any, *, data_format: str = "NCHW") -> Any:
    """Add one number to each channel.

    Args:
        input_x: tensor of at least 2 dimensions.
        bias: 1-D tensor, one number for each channel.
        data_format: ``"NCHW"`` (channels second) or ``"NHWC"`` (last).

    Returns:
        Tensor: like `input_x`.

    Raises:
        ValueError: `bias` does not have one element for each channel.
    """
    if input_x.ndim == 0:
        raise ValueError("bias_add: needs a tensor of at least one dimension")
    axis = _channel_axis(input_x.ndim, data_format)
    if bias.ndim != 1 or bias.shape[0] != input_x.shape[axis]:
        raise ValueError(
            f"bias_add: bias needs one element for each of the {input_x.shape[axis]} channels, not shape {bias.shape}"
        )
    return jnp.add(*promoted(input_x, bias.reshape((-1, *[1] * (input_x.ndim - 1 - axis)))))


@shows("positive(Tensor([1.0]))", "[1.]")
def positive(input: Any) -> Any:
    """The tensor itself."""
    return tensor(input)


@shows("remainder(Tensor([5.0, -5.0]), 3.0)", "[2. 1.]")
def remainder(input: Any, other: Any) -> Any:
    """Remainder of the division rounded down, as Python's ``%``."""
    return floor_mod(input, other)


@shows("subtract(Tensor([1, 2]), Tensor([10, 20]), alpha=2)", "[-19 -38]")
def subtract(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """``input - alpha * other``."""
    return sub(input, other if alpha == 1 else mul(tensor(other), alpha))


accumulate_n, multiply, negative = addn, mul, neg
divide, true_divide, floor_divide = div, real_div, floor_div
mod, truncate_mod = floor_mod, fmod

add_method("div", div)
operator_class("RealDiv", typed_div)
operator_class("AddN", addn)
operator_class("AccumulateNV2", addn)
