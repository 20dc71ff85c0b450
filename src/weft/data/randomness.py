"""Which random numbers a step of a pipeline draws: those of the element that it is applied to.

A pipeline gives each element a generator of its own, made of the seed and the element's place, so that the same seed
gives the same elements with any number of workers. Outside a pipeline one generator serves all calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

_of_element: ContextVar[np.random.Generator | None] = ContextVar("_of_element", default=None)
_outside = np.random.default_rng()


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
    return _outside if found is None else found


@contextmanager
def drawing_from(chosen: np.random.Generator) -> Iterator[None]:
    """Within the block, random operations draw from a generator.

    Args:
        chosen: the generator of the element.
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
