"""Every compilation by XLA, told to whom it belongs: to a compiled graph, or else to an operation that ran by itself.

JAX reports each of them in the thread that asked for it. An executable says, around the call in which it is compiled,
that the compilation of the function it calls is its own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from weft._jax_compat import on_compilation, was_loaded


@dataclass(frozen=True, slots=True)
class Compilation:
    """One compilation by XLA, of one executable or of all those of a graph in parts.

    Args:
        what: what was compiled of a graph (`RUN`, `IN_PLACE`, `FORWARD`, `BACKWARD`, after ``gradient of`` for the
            graph of a gradient), or the name of an operation.
        seconds: how long XLA took.
        loaded: whether it was found in the compile cache, so that XLA only loaded it.
        at: when it was done, in seconds since the epoch.
        parts: how many executables it made.
    """

    what: str
    seconds: float
    loaded: bool = False
    at: float = field(default_factory=time.time)
    parts: int = 1


#: the graph as it is
RUN: Final = "run"
#: the graph, its results in the memory of its inputs
IN_PLACE: Final = "run in place"
#: the graph for a call that a gradient follows
FORWARD: Final = "forward"
#: the gradient
BACKWARD: Final = "backward"


class Compilations:
    """The compilations of one captured graph: of its variants, and of those of its derivatives.

    Attributes:
        made: in the order in which they were made.
        listener: told of each; None where nobody keeps a record.
    """

    __slots__ = ("made", "listener")

    def __init__(self) -> None:
        self.made: list[Compilation] = []
        self.listener: Callable[[Compilation], None] | None = None

    def add(self, compilation: Compilation) -> None:
        """A variant was compiled."""
        self.made.append(compilation)
        if self.listener is not None:
            self.listener(compilation)


class _Local(threading.local):
    #: the functions whose compilation is expected, and how long it took for those that were compiled
    expected: tuple[Collection[str], list[tuple[float, bool]]] | None = None


_local = _Local()
#: told of each compilation that belongs to no graph
listeners: Final[list[Callable[[Compilation], None]]] = []


@contextmanager
def compiling(names: Collection[str], what: str, record: Compilations) -> Iterator[None]:
    """Within the block, the compilation of some functions belongs to a graph.

    Args:
        names: names of the functions.
        what: what it is to the graph.
        record: the record of the graph.
    """
    made: list[tuple[float, bool]] = []
    before, _local.expected = _local.expected, (names, made)
    try:
        yield
    finally:
        _local.expected = before
        if made:
            seconds = sum(seconds for seconds, _ in made)
            record.add(Compilation(what, seconds, all(loaded for _, loaded in made), parts=len(made)))


def _note(name: str, seconds: float) -> None:
    loaded = was_loaded()
    expected = _local.expected
    if expected is not None and name in expected[0]:
        expected[1].append((seconds, loaded))
        return
    for listener in tuple(listeners):
        listener(Compilation(name, seconds, loaded))


on_compilation(_note)
