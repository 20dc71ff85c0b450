"""Which random numbers a step of a pipeline draws: those of the element that it is applied to.

A pipeline gives each element a generator of its own, made of the seed and the element's place, so that the same seed
gives the same elements with any number of workers. Outside a pipeline one generator serves all calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np


class Draws:
    """The random numbers of elements that are processed one after the other; made where an element draws some.

    Args:
        entropy: numbers that tell this step of the pipeline from others.
    """

    __slots__ = ("_entropy", "_generator", "_made_at", "place")

    def __init__(self, entropy: tuple[int, ...]) -> None:
        self._entropy = entropy
        self._generator: np.random.Generator | None = None
        self._made_at = -1
        #: the number of the element
        self.place = 0

    def generator(self) -> np.random.Generator:
        """The generator of the element."""
        if self._generator is None or self._made_at != self.place:
            self._generator = np.random.default_rng(self.sequence())
            self._made_at = self.place
        return self._generator

    def sequence(self) -> np.random.SeedSequence:
        """What the generator of the element is made of."""
        return np.random.SeedSequence((*self._entropy, self.place))


_of_element: ContextVar[np.random.Generator | Draws | None] = ContextVar("_of_element", default=None)
_outside = np.random.default_rng()

#: what `drawing_from` does, for those who cannot afford a block for each element: enter, and leave with what that gave
enter = _of_element.set
leave = _of_element.reset


def generator() -> np.random.Generator:
    """The generator that a random operation draws from now.

    Example:
        >>> with drawing_from(np.random.default_rng(0)):
        ...     first = generator().random()
        >>> with drawing_from(np.random.default_rng(0)):
        ...     generator().random() == first
        True
    """
    found = _of_element.get()
    if found is None:
        return _outside
    return found.generator() if isinstance(found, Draws) else found


@contextmanager
def drawing_from(chosen: np.random.Generator | Draws) -> Iterator[None]:
    """Within the block, random operations draw from a generator.

    Args:
        chosen: the generator of the element, or the draws of one element after the other.
    """
    token = _of_element.set(chosen)
    try:
        yield
    finally:
        _of_element.reset(token)


def seed_outside(seed: int) -> None:
    """Begin the random numbers of calls outside pipelines anew.

    Args:
        seed: the seed.
    """
    global _outside
    _outside = np.random.default_rng(seed)
