"""Arrays that are longer than what they hold: which elements along each axis are part of the program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any, NamedTuple

from weft.compile.padding.extents import Size, divided, is_symbolic, ratio, times


class Extent(NamedTuple):
    """How long an axis, or a factor of one, is in memory, and how long its valid part is, which stands first.

    Args:
        padded: the length in memory.
        size: the length in the program.
    """

    padded: int
    size: Size


#: An axis as the product of several, the last one the fastest: what merging axes of padded arrays makes of them.
#: Always as `merged` makes it, so that equal axes compare equal.
Axis = tuple[Extent, ...]


def merged(factors: Iterable[Extent]) -> Axis:
    """An axis of factors. Those with nothing to tell are left out, or joined with the one before."""
    result: list[Extent] = []
    for factor in factors:
        if factor == (1, 1):
            continue
        if result and factor.padded == factor.size:  # all of it is valid, so what stands before it is a leading block
            before = result.pop()
            factor = Extent(before.padded * factor.padded, before.size * factor.size)
        result.append(factor)
    return tuple(result)


def length_of(axis: Axis) -> int:
    """The length of an axis in memory."""
    return prod(factor.padded for factor in axis)


def size_of(axis: Axis) -> Size:
    """The length of an axis in the program."""
    return times(factor.size for factor in axis)


def is_static(axis: Axis) -> bool:
    """Whether all of an axis is valid in every call."""
    return not any(is_symbolic(factor.size) for factor in axis)


def split(factors: Sequence[Extent], sizes: Sequence[Size]) -> list[Axis] | None:
    """Distribute factors to axes of some sizes without moving an element.

    Args:
        factors: what the elements lie in.
        sizes: the sizes of the axes, whose product is that of the factors.

    Returns:
        The axes; None where an axis would begin within a factor.
    """
    rest = list(reversed(factors))
    axes = []
    for size in sizes:
        taken: list[Extent] = []
        while times(f.size for f in taken) != size:
            if not rest:
                return None
            factor = rest.pop()
            more = ratio(times(f.size for f in taken) * factor.size, size)
            if more is not None and more > 1:
                part = divided(factor.size, more)
                if part is None or factor.padded % more:
                    return None
                rest.append(Extent(more, more))
                factor = Extent(factor.padded // more, part)
            taken.append(factor)
        axes.append(merged(taken))
    return None if rest else axes


class Padded:
    """A value of the program in an array that is longer than the value.

    Args:
        array: the array. What lies outside the valid part may be anything.
        axes: for each axis of the array, which part of it is valid.
        uniform: axes along which all elements of the array are equal.
    """

    __slots__ = ("array", "axes", "uniform")

    def __init__(self, array: Any, axes: Sequence[Axis], uniform: Iterable[int] = ()) -> None:
        self.array = array
        self.axes = tuple(axes)
        self.uniform = frozenset(uniform)
