"""Derivatives of higher order along a curve (`jet`, `derivative`), and the linear map at a point (`linearize`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.autodiff.backward import Walk, walked
from weft.autodiff.grad import Linear, jvp, linearized, start_product, tangents_of
from weft.autodiff.session import Session, begin, call, close, keep_tapes, settle
from weft.autodiff.tree import map_tensors, tensors_of
from weft.core.dispatch import CAST, apply
from weft.core.tensor import Tensor, view
from weft.core.transparency import keeps, unbroken
from weft.dtypes import float32
from weft.ops.create import ones_like, zeros, zeros_like
from weft.ops.joining import stack


class LinearMap:
    """The Jacobian at a point as a function: tangents of the inputs in, tangents of the outputs out."""

    __slots__ = ("session", "linear")
    #: a tape cannot be made again
    __weft_parts__ = None

    def __init__(self, session: Session, linear: Linear) -> None:
        self.session = session
        self.linear = linear

    @unbroken
    def __call__(self, *v: Any) -> Any:
        inner = begin((), ())  # tells whether another gradient is in progress around this call
        try:
            found = walked(self.walk(inner, v))
        finally:
            close(inner)
        return self.linear.shaped(found, inner.followed)

    @keeps
    def walk(self, inner: Session, v: tuple[Any, ...]) -> Walk:
        """The pass from tangents of the inputs."""
        given = tuple(v[0]) if len(v) == 1 and isinstance(v[0], (tuple, list)) else v
        return self.linear.walk(tangents_of(self.session, given), inner.followed)


@unbroken
def linearize(fn: Callable[..., Any], inputs: Any) -> tuple[Any, LinearMap]:
    """The outputs of a function, and its Jacobian at that point as a function.

    `jvp` computes both anew for each tangent; here the function runs once, and what it computed is kept for the map.

    Args:
        fn: function or Cell.
        inputs: its argument, or a tuple or list of its arguments.

    Returns:
        ``(outputs, jvp_fn)``. ``jvp_fn(v)`` takes a tangent for each input, of its shape and dtype (also by position,
        ``jvp_fn(*v)``), and returns the tangents of the outputs.

    Raises:
        TypeError: no input is a tensor.

    Example:
        >>> out, along = linearize(lambda x, y: x * x * y, (Tensor(3.0), Tensor(2.0)))
        >>> print(out, along((Tensor(1.0), Tensor(0.0))), along((Tensor(0.0), Tensor(1.0))))
        18.0 12.0 9.0
    """
    session = start_product(tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,), None, False)
    try:
        out = call(session, fn, {})
        linear = linearized(session, map_tensors(view, out))
        keep_tapes()
    finally:
        close(session)
    return settle(session, out), LinearMap(session, linear)


@unbroken
def jet(fn: Callable[..., Any], primals: Any, series: Any) -> tuple[Any, Any]:
    """Derivatives of a function along a curve through its inputs, from the first to the n-th.

    The curve is given by its own derivatives at the point. With the first of ones and the others of zeros, the results
    are the derivatives of an elementwise function. They are found by differentiating n times, so the work grows
    exponentially with n.

    Args:
        fn: function or Cell of tensors.
        primals: its argument, or a tuple of its arguments; integers are taken as float32.
        series: for each argument a tensor of shape ``(n, *shape)``: the first to the n-th derivative of the curve.

    Returns:
        ``(outputs, derivatives)``: tensors, or lists of them for a function of several outputs; derivatives have shape
        ``(n, *shape)``.

    Raises:
        TypeError: `primals` is neither a tensor nor a tuple of tensors, or `series` is of another kind.
        ValueError: a series does not have the shape ``(n, *shape)`` of its input, with one n for all.

    Example:
        >>> out, derivatives = jet(lambda x: x * x * x, Tensor(2.0), Tensor([1.0, 0.0, 0.0]))
        >>> print(out, derivatives)
        8.0 [12. 12.  6.]
    """
    points, curves = _curve(primals, series)
    order = curves[0].shape[0]

    def along(t: Tensor) -> Any:
        return fn(*_points_at(points, curves, t))

    found = _orders(along, order)
    columns = [[tensors_of(of_order)[i] for of_order in found] for i in range(len(tensors_of(found[0])))]
    outputs = [column[0] for column in columns]
    derivatives = [stack(column[1:]) for column in columns]
    if isinstance(found[0], Tensor):
        return outputs[0], derivatives[0]
    return outputs, derivatives


@unbroken
def derivative(fn: Callable[..., Any], primals: Any, order: int) -> tuple[Any, Any]:
    """The n-th derivative of a function along the direction of ones.

    Args:
        fn: function or Cell of tensors.
        primals: its argument, or a tuple of its arguments; integers are taken as float32.
        order: n, at least 1.

    Returns:
        ``(outputs, n-th derivatives)``: tensors, or lists of them for a function of several outputs.

    Raises:
        TypeError: `primals` is neither a tensor nor a tuple of tensors, or `order` is not an int.
        ValueError: `order` is less than 1.

    Example:
        >>> out, third = derivative(lambda x: x * x * x, Tensor(2.0), 3)
        >>> print(out, third)
        8.0 6.0
    """
    outputs, derivatives = jet(fn, primals, _straight(primals, order))
    if isinstance(derivatives, Tensor):
        return outputs, derivatives[-1]
    return outputs, [found[-1] for found in derivatives]


@keeps
def _curve(primals: Any, series: Any) -> tuple[list[Tensor], list[Tensor]]:
    """The inputs and their series as lists of floating tensors, checked."""
    if isinstance(primals, Tensor) != isinstance(series, Tensor):
        raise TypeError(
            "series must be of the kind of primals, a tensor or a tuple of tensors: "
            f"primals is a {type(primals).__name__}, series a {type(series).__name__}"
        )
    points, curves = _floating(primals, "primals"), _floating(series, "series")
    if len(points) != len(curves):
        raise ValueError(f"series must hold a tensor for each of the {len(points)} primals, it holds {len(curves)}")
    order = curves[0].shape[0] if curves[0].shape else 0
    if not order:
        raise ValueError(f"series must have the shape (n, *shape of the input) with n >= 1, not {curves[0].shape}")
    for point, curve in zip(points, curves, strict=True):
        if curve.shape != (order, *point.shape):
            raise ValueError(
                f"a series for an input of shape {point.shape} must be {(order, *point.shape)}, not {curve.shape}"
            )
    return points, [apply(CAST, (curve,), (point.dtype,)) for point, curve in zip(points, curves, strict=True)]


@keeps
def _floating(value: Any, name: str) -> list[Tensor]:
    """A tensor, or a tuple of tensors, as a list of floating tensors."""
    given = list(value) if isinstance(value, (tuple, list)) else [value]
    for tensor in given:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name} must be a tensor or a tuple of tensors, not {type(tensor).__name__}")
    if not given:
        raise ValueError(f"{name} must hold at least one tensor")
    return [tensor if tensor.dtype.category >= 2 else apply(CAST, (tensor,), (float32,)) for tensor in given]


@keeps
def _straight(primals: Any, order: int) -> Any:
    """Series of a straight line in the direction of ones."""
    if not isinstance(order, int) or isinstance(order, bool):
        raise TypeError(f"order must be an int, not {type(order).__name__}")
    if order < 1:
        raise ValueError(f"order must be at least 1, got {order}")
    points = _floating(primals, "primals")
    lines = [stack([ones_like(point)] + [zeros_like(point)] * (order - 1)) for point in points]
    return tuple(lines) if isinstance(primals, (tuple, list)) else lines[0]


@keeps
def _points_at(points: Sequence[Tensor], curves: Sequence[Tensor], t: Tensor) -> list[Tensor]:
    """The inputs at t on the curve: a polynomial with the given derivatives at 0 (Horner's scheme)."""
    found = []
    for point, curve in zip(points, curves, strict=True):
        at = apply(CAST, (t,), (point.dtype,))
        rest = curve[-1]
        for k in range(curve.shape[0] - 1, 0, -1):
            rest = curve[k - 1] + rest * at / (k + 1)
        found.append(point + rest * at)
    return found


@unbroken
def _orders(along: Callable[[Tensor], Any], order: int) -> tuple[Any, ...]:
    """The value of a function of t at 0 and its derivatives up to an order."""

    def up_to(order: int, t: Tensor) -> tuple[Any, ...]:
        if order == 0:
            return (along(t),)
        found, tangents = jvp(lambda t: up_to(order - 1, t), t, ones_like(t))
        return (found[0], *tangents)

    return up_to(order, zeros((), float32))
