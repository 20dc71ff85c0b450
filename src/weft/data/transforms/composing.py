"""Operations made of others: one after the other, or by chance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from weft.data import checks
from weft.data.operation import Operation, is_pil
from weft.data.randomness import generator

Columns = tuple[Any, ...]
_Function = TypeVar("_Function", bound=Callable[..., Any])


def not_random(function: _Function) -> _Function:
    """Say of a callable that it gives the same for the same input.

    Args:
        function: the callable.

    Returns:
        The callable.
    """
    function.random = False  # type: ignore[attr-defined]
    return function


def columns_of(result: Any) -> Columns:
    """The columns that a callable gave: those of a tuple, or one."""
    return result if isinstance(result, tuple) else (result,)


def run(steps: list[Any], columns: Columns) -> Columns:
    """Columns after steps, one after the other."""
    for step in steps:
        columns = columns_of(step(*columns))
    return columns


class _Compound(Operation):
    """An operation made of others.

    Args:
        transforms: list of operations or other callables.
    """

    columns = None

    def __init__(self, transforms: list[Any]) -> None:
        self.transforms = checks.functions(transforms)

    def received(self, column: Any) -> Any:
        return column

    @property
    def in_python(self) -> bool:  # type: ignore[override]
        """Whether one of the operations is a step in Python."""
        return any(getattr(each, "in_python", False) for each in self.transforms)

    def apply(self, *columns: Any) -> Any:
        if not columns:
            raise self.wrong("takes at least one column, but got none.")
        done = run(self.chosen(), columns)
        return done[0] if len(done) == 1 else done

    def chosen(self) -> list[Any]:
        """Which operations are done now, in their order."""
        raise NotImplementedError


class Compose(_Compound):
    """Operations one after the other; each gets the columns that the one before gave.

    As in MindSpore, a direct call gives an array for one column, but a tuple of one where an image of Pillow comes in
    or one of the operations makes or needs one.

    Args:
        transforms: list of operations or other callables.

    Example:
        >>> Compose([lambda x: x + 1, lambda x: x * 2])(np.array([1, 2]))
        array([4, 6])
    """

    def chosen(self) -> list[Any]:
        return self.transforms

    def apply(self, *columns: Any) -> Any:
        done = super().apply(*columns)
        if self.in_python or any(map(is_pil, columns)):
            return columns_of(done)
        arrays = tuple(map(np.asarray, columns_of(done)))
        return arrays[0] if len(arrays) == 1 else arrays


class RandomApply(_Compound):
    """All operations with a probability, else none.

    Args:
        transforms: list of operations or other callables.
        prob: the probability.
    """

    def __init__(self, transforms: list[Any], prob: float = 0.5) -> None:
        super().__init__(transforms)
        self.prob = checks.probability(prob)

    def chosen(self) -> list[Any]:
        return self.transforms if generator().random() < self.prob else []


class RandomChoice(_Compound):
    """One of several operations."""

    def chosen(self) -> list[Any]:
        return [self.transforms[int(generator().integers(len(self.transforms)))]]


class RandomOrder(_Compound):
    """All operations, in an order by chance."""

    def chosen(self) -> list[Any]:
        return [self.transforms[place] for place in generator().permutation(len(self.transforms))]
