"""Jacobians and Hessians: `jacrev`, `jacfwd`, `hessian`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.autodiff.backward import walked
from weft.autodiff.grad import _check_flags, _check_position, _positions_of, _split, linearized
from weft.autodiff.session import Session, begin, call, close, collected, settle, tensors_of_templates, walk_of
from weft.autodiff.tree import map_tensors, tensors_of
from weft.core.tensor import Tensor
from weft.core.transparency import keeps, unbroken
from weft.ops.joining import stack
from weft.ops.shape import reshape


@keeps
class JacobianFunction:
    """The Jacobian of a function, as a callable.

    Args:
        fn: function or Cell.
        positions: positions of the arguments to differentiate.
        single: whether one position was asked for by itself.
        has_aux: whether only the first output is differentiated.
        forward: one product with the Jacobian for each input element, instead of one for each output element.
    """

    __slots__ = ("fn", "positions", "single", "has_aux", "forward", "__weakref__")
    #: what an instance is made of: programs make one anew for each call
    __weft_parts__ = __slots__[:-1]

    def __init__(self, fn: Callable[..., Any], positions: Any, single: bool, has_aux: bool, forward: bool) -> None:
        if not callable(fn):
            raise TypeError(f"a function or Cell is differentiated, not {type(fn).__name__}")
        self.fn = fn
        self.positions = positions
        self.single = single
        self.has_aux = has_aux
        self.forward = forward

    @unbroken
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        session = self.start(args)
        try:
            out = call(session, self.fn, kwargs)
            target, aux = _split(out, self.has_aux)
            blocks = _by_input(session, target) if self.forward else _by_output(session, target)
        finally:
            close(session)
        return self.finish(session, target, aux, blocks)

    @keeps
    def start(self, args: tuple[Any, ...]) -> Session:
        """Open the session of a call."""
        for position in self.positions:
            _check_position(position, args)
            if not isinstance(args[position], Tensor):
                raise TypeError(
                    f"the argument at position {position} must be a tensor to have a Jacobian, "
                    f"not {type(args[position]).__name__}"
                )
        return begin(args, self.positions)

    @keeps
    def finish(self, session: Session, target: Any, aux: tuple[Any, ...], blocks: list[list[Tensor]]) -> Any:
        """The result of a call, from the blocks of the Jacobian."""
        rows = iter([row[0] if self.single else tuple(row) for row in blocks])
        result = map_tensors(lambda _: next(rows), target)
        if self.has_aux:
            return result, settle(session, aux[0] if len(aux) == 1 else aux)
        return result


@keeps
def _basis(like: Tensor) -> list[Tensor]:
    """The unit vectors of a tensor's space."""
    units = np.eye(like.size, dtype=like.dtype.np_dtype).reshape((like.size, *like.shape))
    return [Tensor(unit) for unit in units]


@unbroken
def _by_output(session: Session, target: Any) -> list[list[Tensor]]:
    """A block for each output and input, one backward pass for each output element."""
    blocks = []
    for output in tensors_of(target):
        rows = []
        for unit in _basis(output):
            rows.append(collected(session, walked(walk_of(session, [output], [unit]))))
        blocks.append(_joined_rows(session, output, rows))
    return blocks


@keeps
def _joined_rows(session: Session, output: Tensor, rows: list[list[Tensor]]) -> list[Tensor]:
    inputs = tensors_of_templates(session)
    return [reshape(stack([row[i] for row in rows]), (*output.shape, *x.shape)) for i, x in enumerate(inputs)]


@unbroken
def _by_input(session: Session, target: Any) -> list[list[Tensor]]:
    """A block for each output and input, one product with the Jacobian for each input element."""
    linear = linearized(session, target)
    columns = []
    for tangents in _unit_tangents(session):
        columns.append(linear.shaped(walked(linear.walk(tangents))))
    return _joined_columns(session, target, columns)


@keeps
def _unit_tangents(session: Session) -> list[list[Any]]:
    """The unit vectors of the space of all inputs, one input after the other."""
    inputs = tensors_of_templates(session)
    found = []
    for i, x in enumerate(inputs):
        for unit in _basis(x):
            tangents: list[Any] = [None] * len(inputs)
            tangents[i] = unit
            found.append(tangents)
    return found


@keeps
def _joined_columns(session: Session, target: Any, columns: list[Any]) -> list[list[Tensor]]:
    blocks: list[list[Tensor]] = [[] for _ in tensors_of(target)]
    flat = iter([tensors_of(column) for column in columns])
    for x in tensors_of_templates(session):
        own = [next(flat) for _ in range(x.size)]
        for j, output in enumerate(tensors_of(target)):
            joined = stack([column[j] for column in own], axis=len(output.shape))
            blocks[j].append(reshape(joined, (*output.shape, *x.shape)))
    return blocks


@keeps
def jacrev(fn: Callable[..., Any], grad_position: int | tuple[int, ...] = 0, has_aux: bool = False) -> JacobianFunction:
    """The Jacobian of a function by backward passes, one for each output element.

    Args:
        fn: function or Cell of tensors.
        grad_position: which arguments.
        has_aux: differentiate only the first output and return the others as well.

    Returns:
        A callable with the arguments of `fn`. For each output it returns a tensor of shape
        ``output.shape + input.shape``, or a tuple of them for a tuple of positions; with `has_aux` together with the
        other outputs.

    Raises:
        TypeError: a differentiated argument is not a tensor.

    Example:
        >>> print(jacrev(lambda x: x * x)(Tensor([1.0, 2.0])))
        [[2. 0.]
         [0. 4.]]
    """
    return _jacobian(fn, grad_position, has_aux, False)


@keeps
def jacfwd(fn: Callable[..., Any], grad_position: int | tuple[int, ...] = 0, has_aux: bool = False) -> JacobianFunction:
    """The Jacobian of a function by products with it, one for each input element; see `jacrev`.

    Example:
        >>> print(jacfwd(lambda x: x * x)(Tensor([1.0, 2.0])))
        [[2. 0.]
         [0. 4.]]
    """
    return _jacobian(fn, grad_position, has_aux, True)


@keeps
def _jacobian(fn: Callable[..., Any], grad_position: Any, has_aux: bool, forward: bool) -> JacobianFunction:
    _check_flags(has_aux=has_aux)
    positions, single = _positions_of(grad_position)
    if positions is None:
        raise TypeError("grad_position must be an int or a tuple of ints, not None")
    return JacobianFunction(fn, positions, single, has_aux, forward)


@keeps
def hessian(fn: Callable[..., Any], grad_position: int | tuple[int, ...] = 0) -> JacobianFunction:
    """The matrix of second derivatives of a function with a scalar output.

    Args:
        fn: function or Cell of tensors.
        grad_position: which arguments.

    Returns:
        A callable with the arguments of `fn` that returns a tensor of shape ``input.shape + input.shape``, or for a
        tuple of positions a tuple of tuples of them.

    Example:
        >>> print(hessian(lambda x: (x * x * x).sum())(Tensor([1.0, 2.0])))
        [[ 6.  0.]
         [ 0. 12.]]
    """
    return jacfwd(jacrev(fn, grad_position), grad_position)
