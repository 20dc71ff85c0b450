"""Activation functions."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from weft import dtypes
from weft.core import Primitive, Tensor, apply, described, op, operator_class, shows
from weft.core.conversion import converted
from weft.ops._checks import ints, one_of
from weft.ops._rows import of_floats, of_one, row
from weft.ops._rules import floating

__all__ = [
    "celu", "elu", "fast_gelu", "gelu", "glu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu",
    "log_sigmoid", "log_softmax", "logsigmoid", "mish", "prelu", "relu", "relu6", "selu", "sigmoid", "silu", "softmax",
    "softmin", "softplus", "softshrink", "softsign", "tanh", "tanhshrink", "threshold",
]  # fmt: skip


_row, _of_one, _of_floats = (partial(declare, __name__) for declare in (row, of_one, of_floats))


def _of_x(name: str, function: Any, *texts: str, **traits: Any) -> Any:
    """Declare a function whose operand is called `x`."""

    def compute(x: Any) -> Any:
        return function(x)

    return _row(name, compute, *texts, **traits)


def _of_any(name: str, function: Any, *texts: str, **traits: Any) -> Any:
    """Declare a function of floats whose result is in the element type of the operand."""
    return _row(name, lambda input: converted(function(floating(input)), input.dtype), *texts, **traits)


def _floats(name: str, x: Any) -> Any:
    """An operand that must be of floats."""
    if not jnp.issubdtype(x.dtype, jnp.floating):
        raise TypeError(f"{name} needs a floating tensor, not {dtypes.of_np(x.dtype)}; cast it first")
    return x


def _from_output(name: str, compute: Any, *attributes: str) -> Any:
    """A derivative rule that needs only the output, which keeps the input's memory free.

    It is a primitive, so that a graph holds one node, and has itself a derivative (made by JAX).
    """
    primitive = Primitive(name, compute, attr_names=attributes)

    def rule(x: Any, out: Any, dout: Any, **given: Any) -> Any:
        return (apply(primitive, (out, dout), tuple([given[each] for each in attributes])),)

    return rule


_RELU_GRAD = Primitive("ReluGrad", lambda out, dout: jnp.where(out > 0, dout, jnp.zeros_like(dout)))
_RELU_GRAD.derivative = lambda y, d, out, dout: (None, apply(_RELU_GRAD, (y, dout)))
relu = _row("relu", lambda input: jnp.maximum(input, jnp.zeros((), input.dtype)), "Replace negative elements by zero.",
    "[-1.0, 2.0]", "[0. 2.]", primitive="ReLU",
    gradient=lambda x, out, dout: (apply(_RELU_GRAD, (out, dout)),))  # fmt: skip
relu6 = _of_x("relu6", jax.nn.relu6, "Clip elements to the range from 0 to 6.", "[-1.0, 2.0, 8.0]", "[0. 2. 6.]",
    primitive="ReLU6", method=())  # fmt: skip
sigmoid = _of_floats("sigmoid", jax.nn.sigmoid, "The logistic function ``1 / (1 + exp(-x))``.", "[0.0]", "[0.5]",
    gradient=_from_output("SigmoidGrad", lambda out, dout: dout * out * (1 - out)))  # fmt: skip
tanh = _of_floats("tanh", jnp.tanh, "Hyperbolic tangent.", "[0.0]", "[0.]",
    gradient=_from_output("TanhGrad", lambda out, dout: dout * (1 - out * out)))  # fmt: skip


@op("Gelu", classes=(), method="gelu", elementwise=True)
@shows("gelu(Tensor([0.0]))", "[0.]")
def gelu(input: Any, *, approximate: str = "none") -> Any:
    """Gaussian error linear unit.

    Args:
        input: floating tensor.
        approximate: ``"none"``, or ``"tanh"`` for the cheaper formula.
    """
    one_of("gelu", ("none", "tanh"), approximate=approximate)
    return jax.nn.gelu(_floats("gelu", input), approximate=approximate == "tanh")


def _gelu_operator(x: Any) -> Tensor:
    """Gaussian error linear unit, by the tanh formula."""
    return gelu(x, "tanh")


operator_class("GeLU", _gelu_operator)
operator_class("Gelu", _gelu_operator)


fast_gelu = _row("fast_gelu", lambda x: x * jax.nn.sigmoid(1.702 * x),
    "A Gaussian error linear unit approximated by a sigmoid.", "[0.0]", "[0.]", primitive="FastGeLU",
    classes=("FastGeLU", "FastGelu"), method=())  # fmt: skip


@op("LeakyReLU", classes=(), method="leaky_relu", elementwise=True)
@shows("leaky_relu(Tensor([-1.0, 2.0]), alpha=0.5)", "[-0.5  2. ]")
def leaky_relu(input: Any, *, alpha: float = 0.2) -> Any:
    """Multiply negative elements by `alpha`; the gradient at 0 is the mean of both sides."""
    if not jnp.issubdtype(input.dtype, jnp.inexact):  # numbers in the type of the tensor
        return jnp.where(input > 0, input, (input * int(alpha)).astype(input.dtype))
    slope = jnp.where(input == 0, 0.5 * (1 + alpha), jnp.where(input > 0, 1, alpha))
    return input * slope.astype(input.dtype)


elu = _row("elu", lambda input_x, *, alpha=1.0: jax.nn.elu(_floats("elu", input_x), alpha),
    "Exponential linear unit: ``alpha * (exp(x) - 1)`` for negative elements.", "[0.0, 2.0]", "[0. 2.]",
    init="alpha=1.0", method=())  # fmt: skip


@op("CeLU", init="alpha=1.0", elementwise=True)
@shows("celu(Tensor([0.0, 2.0]))", "[0. 2.]")
def celu(x: Any, *, alpha: float = 1.0) -> Any:
    """Continuously differentiable exponential linear unit."""
    if alpha == 0:
        raise ValueError("celu: alpha must not be 0")
    return jax.nn.celu(x, alpha)


@op("SeLU", elementwise=True)
@shows("selu(Tensor([0.0]))", "[0.]")
def selu(input_x: Any) -> Any:
    """Scaled exponential linear unit, which keeps activations normalised."""
    if not jnp.issubdtype(input_x.dtype, jnp.inexact):
        return converted(jnp.maximum(jax.nn.selu(floating(input_x)), 0), input_x.dtype)
    return jax.nn.selu(input_x)


hardswish = _of_any("hardswish", jax.nn.hard_swish, "``x * relu6(x + 3) / 6``.", "[-4.0, 3.0]", "[-0.  3.]",
    primitive="HSwish")  # fmt: skip
hardsigmoid = _of_any("hardsigmoid", jax.nn.hard_sigmoid, "``relu6(x + 3) / 6``.", "[-4.0, 0.0, 4.0]", "[0.  0.5 1. ]",
    primitive="HSigmoid")  # fmt: skip


@op("HardTanh", classes=(), elementwise=True)
@shows("hardtanh(Tensor([-2.0, 0.5, 2.0]))", "[-1.   0.5  1. ]")
def hardtanh(input: Any, *, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """Clip elements to ``[min_val, max_val]``."""
    if min_val > max_val:
        raise ValueError(f"hardtanh: min_val {min_val} is above max_val {max_val}")
    # strictly inside, so that the gradient at the bounds is 0
    inside = (input > min_val) & (input < max_val)
    low, high = jnp.asarray(min_val, input.dtype), jnp.asarray(max_val, input.dtype)
    return jnp.where(inside, input, jnp.where(input <= low, low, high))


@op("Softplus", elementwise=True)
@shows("softplus(Tensor([30.0]))", "[30.]")
def softplus(input: Any, *, beta: float = 1, threshold: float = 20) -> Any:
    """Smooth rectifier ``log(1 + exp(beta * x)) / beta``.

    Args:
        input: floating tensor.
        beta: sharpness.
        threshold: where ``beta * x`` is larger, the result is `x` itself.
    """
    scaled = input * beta
    safe = jnp.where(scaled > threshold, 0, scaled)
    return jnp.where(scaled > threshold, input, jax.nn.softplus(safe) / beta)


mish = _of_x("mish", jax.nn.mish, "``x * tanh(softplus(x))``.", "[0.0]", "[0.]")
softsign = _of_x("softsign", jax.nn.soft_sign, "``x / (1 + abs(x))``.", "[1.0]", "[0.5]", method=())
silu = _of_one("silu", jax.nn.silu, "Sigmoid-weighted linear unit ``x * sigmoid(x)``.", "[0.0]", "[0.]",
    primitive="SiLU")  # fmt: skip
logsigmoid = _of_x("logsigmoid", jax.nn.log_sigmoid, "Logarithm of the sigmoid, without overflow.", "[100.0]",
    "[ True]", then=" == 0", primitive="LogSigmoid", method=(), classes=())  # fmt: skip


def _soft_shrunk(input: Any, *, lambd: float = 0.5) -> Any:
    return jnp.where(input > lambd, input - lambd, jnp.where(input < -lambd, input + lambd, jnp.zeros_like(input)))


hardshrink = _row("hardshrink",
    lambda input, *, lambd=0.5: jnp.where(jnp.abs(input) > lambd, input, jnp.zeros_like(input)),
    "Replace elements within ``[-lambd, lambd]`` by zero.", "[0.25, 2.0]", "[0. 2.]", primitive="HShrink",
    init="lambd=0.5", method=())  # fmt: skip
softshrink = _row("softshrink", _soft_shrunk, "Move elements towards zero by `lambd`, stopping at zero.", "[0.25, 2.0]",
    "[0.  1.5]", primitive="SoftShrink", init="lambd=0.5", method=())  # fmt: skip
tanhshrink = _row("tanhshrink", lambda input: input - jnp.tanh(input), "``x - tanh(x)``.", "[0.0]", "[0.]",
    primitive="TanhShrink", classes=(), method=())  # fmt: skip
threshold = _row("threshold",
    lambda input, *, thr, value: jnp.where(input > thr, input, jnp.asarray(value, input.dtype)),
    "Replace elements that are not above `thr` by `value`.", "[0.0, 2.0], 1.0, 9.0", "[9. 2.]", method=(), classes=(),
    elementwise=False)  # fmt: skip


@op("PReLU")
@shows("prelu(Tensor([[-2.0, 1.0]]), Tensor([0.5]))", "[[-1.  1.]]")
def prelu(input: Any, weight: Any) -> Any:
    """Multiply negative elements by a learned slope.

    Args:
        input: floating tensor (N, C, ...).
        weight: slopes, shape (C,) or (1,).

    Raises:
        ValueError: the number of slopes is neither 1 nor C.
    """
    channels = input.shape[1] if input.ndim > 1 else 1
    if weight.ndim != 1 or weight.shape[0] not in (1, channels):
        raise ValueError(f"prelu: weight must have shape (1,) or ({channels},), not {tuple(weight.shape)}")
    if weight.shape[0] > 1:
        weight = weight.reshape((1, -1) + (1,) * (input.ndim - 2))
    elif input.ndim == 0:
        weight = weight.reshape(())
    return jnp.where(input > 0, input, input * weight.astype(input.dtype))


_ALONG = described(
    **dict.fromkeys(("input", "logits"), "floating tensor."),
    axis="axis.",
    dtype="element type to compute in and return.",
)


def _along(name: str, x: Any, axis: Any, dtype: Any) -> Any:
    """What is computed along an axis, or several, that are checked."""
    for one in axis if isinstance(axis, tuple) else (axis,):
        ints(name, axis=one)
        if not -max(x.ndim, 1) <= one < max(x.ndim, 1):
            raise ValueError(f"{name}: axis {one} is out of range for a tensor of {x.ndim} dimensions")
    return floating(x if dtype is None else x.astype(dtype.np_dtype))


def _softmax_grad(out: Any, dout: Any, *, axis: Any) -> Any:
    return (dout - jnp.sum(dout * out, axis=axis, keepdims=True)) * out


@op(
    "Softmax",
    init="axis=-1",
    method="softmax",
    gradient=_from_output("SoftmaxGrad", _softmax_grad, "axis"),
    describe=_ALONG,
)
@shows("softmax(Tensor([0.0, 0.0]))", "[0.5 0.5]")
def softmax(input: Any, *, axis: int = -1, dtype: Any = None) -> Any:
    """Exponentials divided by their sum along an axis.

    Args:
        axis: axis, or tuple of axes.
    """
    return jax.nn.softmax(_along("softmax", input, axis, dtype), axis=axis)


def _log_softmax_grad(out: Any, dout: Any, *, axis: Any) -> Any:
    return dout - jnp.exp(out) * jnp.sum(dout, axis=axis, keepdims=True)


@op(
    "LogSoftmax",
    init="axis=-1",
    method="log_softmax",
    gradient=_from_output("LogSoftmaxGrad", _log_softmax_grad, "axis"),
    describe=_ALONG,
)
@shows("log_softmax(Tensor([0.0]))", "[0.]")
def log_softmax(logits: Any, *, axis: int = -1, dtype: Any = None) -> Any:
    """Logarithm of the softmax along an axis."""
    return jax.nn.log_softmax(_along("log_softmax", logits, axis, dtype), axis=axis)


@shows("softmin(Tensor([0.0, 0.0]))", "[0.5 0.5]")
def softmin(x: Tensor, axis: int = -1, *, dtype: Any = None) -> Tensor:
    """Softmax of the negated elements."""
    return softmax(-1 * x, axis, dtype)


@op("GLU", classes=(), method="glu")
@shows("glu(Tensor([2.0, 0.0]))", "[1.]")
def glu(x: Any, *, axis: int = -1) -> Any:
    """Gated linear unit: the first half times the sigmoid of the second half along an axis.

    Raises:
        ValueError: the axis has an odd size.
    """
    if x.shape[axis] % 2:
        raise ValueError(f"glu: axis {axis} has size {x.shape[axis]}, which is not even")
    return jax.nn.glu(x, axis)


@shows("log_sigmoid(Tensor([100.0])) == 0", "[ True]")
def log_sigmoid(x: Tensor) -> Tensor:
    """Same as `logsigmoid`."""
    return logsigmoid(x)
