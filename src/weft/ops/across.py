"""What several processes compute together as primitives, with their derivatives.

Derivatives are those of the sum of what all processes compute: a process gets the gradients of all that it reached.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from jax import lax
from jax import numpy as jnp

from weft.core import Tensor, apply
from weft.parallel.exchange import ALIKE, AXIS, Exchange
from weft.parallel.groups import Group
from weft.parallel.processes import processes

__all__ = ["ReduceOp"]


class ReduceOp:
    """How values of processes become one.

    Example:
        >>> ReduceOp.SUM
        'sum'
    """

    SUM: Final = "sum"
    MAX: Final = "max"
    MIN: Final = "min"
    PROD: Final = "prod"
    AVG: Final = "avg"


#: all of them
REDUCTIONS: Final = (ReduceOp.SUM, ReduceOp.MAX, ReduceOp.MIN, ReduceOp.PROD, ReduceOp.AVG)


def _reduced(x: Any, op: str, group: Group) -> Any:
    if op == ReduceOp.MAX or (op == ReduceOp.SUM and x.dtype == bool):
        return lax.pmax(x, AXIS)
    if op == ReduceOp.MIN or (op == ReduceOp.PROD and x.dtype == bool):
        return lax.pmin(x, AXIS)
    if op == ReduceOp.PROD:
        return jnp.prod(lax.all_gather(x, AXIS), axis=0, dtype=x.dtype)
    total = lax.psum(x, AXIS)
    return (total / len(group.ranks) if op == ReduceOp.AVG else total).astype(x.dtype)


def _reduce(x: Any, *, op: str, root: int, group: Group) -> Any:
    return jnp.where(lax.axis_index(AXIS) == root, _reduced(x, op, group), x)


def _reduce_scatter(x: Any, *, op: str, group: Group) -> Any:
    if op == ReduceOp.SUM and x.dtype != bool:
        return lax.psum_scatter(x, AXIS, tiled=True)
    rows = x.shape[0] // len(group.ranks)
    return lax.dynamic_slice_in_dim(_reduced(x, op, group), lax.axis_index(AXIS) * rows, rows)


def _gather(x: Any, *, root: int, group: Group) -> Any:
    every = lax.all_gather(x, AXIS, tiled=True)
    return jnp.where(lax.axis_index(AXIS) == root, every, jnp.zeros_like(every))


def _scatter(x: Any, *, root: int, group: Group) -> Any:
    parts = lax.all_to_all(x, AXIS, 0, 0, tiled=True)
    rows = x.shape[0] // len(group.ranks)
    return parts[root * rows : (root + 1) * rows]


def _broadcast(x: Any, *, root: int, group: Group) -> Any:
    if jnp.iscomplexobj(x):
        return lax.complex(_from_root(x.real, root), _from_root(x.imag, root))
    return _from_root(x, root)


def _from_root(x: Any, root: int) -> Any:
    """The bits of one process, exactly: those of the others are left out of a sum of integers."""
    bits = x.astype(np.uint8) if x.dtype == bool else lax.bitcast_convert_type(x, np.dtype(f"u{x.dtype.itemsize}"))
    found = lax.psum(jnp.where(lax.axis_index(AXIS) == root, bits, jnp.zeros_like(bits)), AXIS)
    return found.astype(bool) if x.dtype == bool else lax.bitcast_convert_type(found, x.dtype)


def _transfer(x: Any, *, tag: str, group: Group) -> Any:
    return jnp.where(lax.axis_index(AXIS) == 0, x, lax.ppermute(x, AXIS, [(0, 1)]))


def _all_reduce_rule(x: Tensor, out: Tensor, dout: Tensor, *, op: str, group: Group) -> tuple[Any]:
    total = apply(ALL_REDUCE, (dout,), (ReduceOp.SUM, group))
    return (_through(x, out, total, op, group),)


def _through(x: Tensor, out: Tensor, total: Tensor, op: str, group: Group) -> Any:
    """The gradient of one operand of a reduction from that of its result, summed over processes."""
    if op == ReduceOp.SUM:
        return total
    if op == ReduceOp.AVG:
        return total / len(group.ranks)
    if op == ReduceOp.PROD:
        return total * _others(x, group)
    chosen = (x == out).astype(x.dtype)
    return total * chosen / apply(ALL_REDUCE, (chosen,), (ReduceOp.SUM, group))


def _others(x: Tensor, group: Group) -> Tensor:
    """The product of the tensors of all other processes."""
    every = apply(ALL_GATHER, (x.reshape(1, *x.shape),), (group,))
    others = [every[i] for i, rank in enumerate(group.ranks) if rank != processes().rank]
    return functools.reduce(operator.mul, others)


def _reduce_rule(x: Tensor, out: Tensor, dout: Tensor, *, op: str, root: int, group: Group) -> tuple[Any]:
    at_root = apply(BROADCAST, (dout,), (root, group))
    whole = apply(BROADCAST, (out,), (root, group))
    gradient = _through(x, whole, at_root, op, group)
    return (gradient if group.ranks[root] == processes().rank else gradient + dout,)


def _all_reduce_each(*xs: Any, op: str, alike: tuple[str, ...], group: Group) -> tuple[Any, ...]:
    return tuple([_reduced(x, op, group) for x in xs[: len(xs) - len(alike)]])


def _all_reduce_each_rule(*given: Any, op: str, alike: tuple[str, ...], group: Group) -> tuple[Any, ...]:
    *xs, outs, douts = given
    totals = apply(ALL_REDUCE_EACH, tuple(douts), (ReduceOp.SUM, (), group))
    reduced = [_through(x, out, total, op, group) for x, out, total in zip(xs, outs, totals, strict=False)]
    return (*reduced, *[None] * len(alike))


def _reduce_scatter_rule(x: Tensor, out: Tensor, dout: Tensor, *, op: str, group: Group) -> tuple[Any]:
    every = apply(ALL_GATHER, (dout,), (group,))
    whole = out if op in (ReduceOp.SUM, ReduceOp.AVG, ReduceOp.PROD) else apply(ALL_GATHER, (out,), (group,))
    return (_through(x, whole, every, op, group),)


def _brought_back(by: Callable[..., tuple[Exchange, tuple[Any, ...]]]) -> Callable[..., tuple[Any]]:
    """The rule of an exchange that only moves elements: another one, and its attributes, bring the gradient back."""

    def rule(x: Tensor, out: Tensor, dout: Tensor, **attributes: Any) -> tuple[Any]:
        back, attrs = by(**attributes)
        return (apply(back, (dout,), attrs),)

    return rule


def _broadcast_rule(x: Tensor, out: Tensor, dout: Tensor, *, root: int, group: Group) -> tuple[Any]:
    total = apply(ALL_REDUCE, (dout,), (ReduceOp.SUM, group))
    return (total if group.ranks[root] == processes().rank else total * 0,)


def _transfer_rule(x: Tensor, out: Tensor, dout: Tensor, *, tag: str, group: Group) -> tuple[Any]:
    sends = group.ranks[0] == processes().rank
    way_back = group._replace(ranks=group.ranks[::-1])
    back = apply(TRANSFER, (dout * 0 if sends else dout,), (f"gradient of {tag}", way_back))
    return (dout + back if sends else dout * 0,)


class _Transfer(Exchange):
    """What brings a tensor from the first process of its group to the second."""

    __slots__ = ()

    def way(self, ranks: tuple[int, ...]) -> str:
        return f" from rank {ranks[0]} to rank {ranks[1]}"


def _exchange(
    name: str,
    implementation: Callable[..., Any],
    rule: Any,
    *attributes: str,
    multiple: bool = False,
    kind: type[Exchange] = Exchange,
) -> Exchange:
    names = (*attributes, "group")
    return kind(f"{name}Across", implementation, attr_names=names, derivative=rule, multiple=multiple)


ALL_REDUCE: Final = _exchange("AllReduce", _reduced, _all_reduce_rule, "op")
#: several tensors in one exchange, and Parameters behind them, named, that must be the same in all processes
ALL_REDUCE_EACH: Final = _exchange("AllReduceEach", _all_reduce_each, _all_reduce_each_rule, "op", ALIKE, multiple=True)
REDUCE: Final = _exchange("Reduce", _reduce, _reduce_rule, "op", "root")
ALL_GATHER: Final = _exchange(
    "AllGather",
    lambda x, group: lax.all_gather(x, AXIS, tiled=True),
    _brought_back(lambda group: (REDUCE_SCATTER, (ReduceOp.SUM, group))),
)
REDUCE_SCATTER: Final[Exchange] = _exchange("ReduceScatter", _reduce_scatter, _reduce_scatter_rule, "op")
GATHER: Final[Exchange] = _exchange(
    "CollectiveGather", _gather, _brought_back(lambda root, group: (SCATTER, (root, group))), "root"
)
SCATTER: Final[Exchange] = _exchange(
    "CollectiveScatter", _scatter, _brought_back(lambda root, group: (GATHER, (root, group))), "root"
)
ALL_TO_ALL: Final[Exchange] = _exchange(
    "AlltoAll",
    lambda x, split, concat, group: lax.all_to_all(x, AXIS, split, concat, tiled=True),
    _brought_back(lambda split, concat, group: (ALL_TO_ALL, (concat, split, group))),
    "split",
    "concat",
)
BROADCAST: Final = _exchange("Broadcast", _broadcast, _broadcast_rule, "root")
TRANSFER: Final = _exchange("Transfer", _transfer, _transfer_rule, "tag", kind=_Transfer)
BARRIER: Final = _exchange("Barrier", lambda x, group: lax.psum(x, AXIS), None)
