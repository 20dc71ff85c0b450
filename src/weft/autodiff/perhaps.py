"""Gradients that arrive on some paths of a graph only.

Eager code does not walk an entry of the tape at which no gradient arrives: it contributes nothing, and no hook of it
is called. In a graph the run decides which side of a branch uses a value and how often a loop runs, so there a gradient
may come with a condition. Zeros would not do: on their way back they would be multiplied by infinities.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from weft.core.dispatch import apply
from weft.core.primitive import Primitive
from weft.core.tensor import Tensor, data_of
from weft.ops.logic import logical_and, logical_or
from weft.ops.math import add


class Perhaps:
    """A gradient that arrives only where a condition holds.

    Args:
        value: the gradient; anything where none arrives.
        present: a scalar bool tensor: whether it arrives.
    """

    __slots__ = ("value", "present")

    def __init__(self, value: Tensor, present: Tensor) -> None:
        self.value = value
        self.present = present


#: what arrives at an output of an entry; None for nothing
Gradient = Tensor | Perhaps | None
#: for each output but tokens: whether a gradient arrives there, None where the run decides
Pattern = tuple[bool | None, ...]
#: where a graph gives the gradient of a parameter, and whether there is one: the number of an output, or True; None if
#: there never is
Place = tuple[int, int | bool] | None


def _gate(present: Any, value: Any) -> Any:
    return jnp.where(present, value, jnp.zeros_like(value))


def _join(present: Any, value: Any, other_present: Any, other: Any) -> Any:
    return jnp.where(other_present, jnp.where(present, value + other, other), value)


#: the gradient, zeros where none arrives
GATE: Primitive = Primitive(
    "GateGradient", _gate, derivative=lambda present, value, out, dout: (None, Perhaps(dout, present))
)
#: the sum of those of two gradients that arrive; anything where none does
JOIN: Primitive = Primitive(
    "JoinGradients",
    _join,
    derivative=lambda present, value, other_present, other, out, dout: (
        None,
        Perhaps(dout, present),
        None,
        Perhaps(dout, other_present),
    ),
)


def settled(gradient: Gradient) -> Tensor | None:
    """A gradient for those who take zeros where none arrives."""
    if gradient.__class__ is Perhaps:
        found: Tensor = apply(GATE, (gradient.present, gradient.value))
        return found
    return gradient  # type: ignore[return-value]


def joined(before: Gradient, after: Gradient) -> Gradient:
    """What arrives in one place from two.

    Args:
        before: what arrived there so far.
        after: what arrives now.
    """
    if before is None or after is None:
        return after if before is None else before
    if before.__class__ is not Perhaps and after.__class__ is not Perhaps:
        total: Tensor = add(before, after)
        return total
    (value, present), (other, other_present) = _parts(before), _parts(after)
    if present is not None and other_present is not None and data_of(present) is data_of(other_present):
        return Perhaps(add(value, other), present)
    true = None if present is not None and other_present is not None else Tensor(np.asarray(True))
    operands = (true if present is None else present, value, true if other_present is None else other_present, other)
    found = apply(JOIN, operands)
    return found if true is not None else Perhaps(found, logical_or(present, other_present))


def _parts(gradient: Any) -> tuple[Tensor, Tensor | None]:
    return (gradient.value, gradient.present) if gradient.__class__ is Perhaps else (gradient, None)


def arrived(douts: Sequence[Gradient]) -> tuple[list[Tensor | None], Tensor | None]:
    """What an entry is to be walked with.

    Args:
        douts: what arrived at its outputs.

    Returns:
        The gradients, and the condition under which it is walked at all; None if it always is.
    """
    if Perhaps not in [d.__class__ for d in douts]:
        return list(douts), None  # type: ignore[arg-type]
    given = [d for d in douts if d is not None]
    conditions = {id(data_of(d.present)): d.present for d in given if d.__class__ is Perhaps}
    always = any(d.__class__ is not Perhaps for d in given)
    if not always and len(conditions) == 1:
        (present,) = conditions.values()
        return [None if d is None else d.value for d in douts], present
    masked = [settled(d) for d in douts]
    if always:
        return masked, None
    first, *others = conditions.values()
    for condition in others:
        first = logical_or(first, condition)
    return masked, first


def under(gradients: Sequence[Gradient], present: Tensor | None) -> list[Gradient]:
    """Gradients that an entry gave which is walked under a condition."""
    if present is None:
        return list(gradients)
    found: list[Gradient] = []
    for gradient in gradients:
        if gradient is None:
            found.append(None)
        elif gradient.__class__ is Perhaps:  # such an entry is asked only if its own outputs have a gradient
            both = logical_and(present, gradient.present)
            found.append(Perhaps(gradient.value, both))
        else:
            found.append(Perhaps(gradient, present))  # type: ignore[arg-type]
    return found


def pattern_of(douts: Sequence[Gradient]) -> Pattern:
    """Where gradients arrive."""
    return tuple([False if d is None else None if d.__class__ is Perhaps else True for d in douts])


def operands_for(douts: Sequence[Gradient]) -> list[Tensor]:
    """What a graph for the pattern of some gradients takes of them."""
    found: list[Tensor] = []
    for dout in douts:
        if dout.__class__ is Perhaps:
            found += [dout.value, dout.present]
        elif dout is not None:
            found.append(dout)  # type: ignore[arg-type]
    return found


def gradient_at(place: Place, results: Sequence[Tensor]) -> Gradient:
    """The gradient that a graph gives in a place.

    Args:
        place: where.
        results: what the graph gives.
    """
    if place is None:
        return None
    value, present = place
    return results[value] if present is True else Perhaps(results[value], results[present])
