"""Every compilation by XLA, told to whom it belongs: to a compiled graph, or else to an operation that ran by itself.

JAX reports each of them in the thread that asked for it. An executable says, around the call in which it is compiled,
that the compilation of the function it calls is its own.
"""

from __future__ import annotations

import collections
import functools
import threading
import time
import weakref
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from weft._jax_compat import Spread, on_compilation, was_loaded
from weft.ir.graph import Graph


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
        programs: those of them that compute on several devices, as long as they are kept.
    """

    what: str
    seconds: float
    loaded: bool = False
    at: float = field(default_factory=time.time)
    parts: int = 1
    programs: tuple[weakref.ref[SpreadProgram], ...] = field(default=(), compare=False, repr=False)


class SpreadProgram:
    """A program over several devices that a graph was compiled to.

    Args:
        graph: the graph, or the part of it, or what makes it when it is asked for.
        spread: the program.
        times: how often a part runs in a run of the graph; 0 for all of it.
    """

    __slots__ = ("_graph", "spread", "times", "__weakref__")

    def __init__(self, graph: Graph | Callable[[], Graph], spread: Spread, times: int) -> None:
        self._graph = graph
        self.spread = spread
        self.times = times

    @property
    def graph(self) -> Graph:
        """The graph, as it was lowered."""
        if not isinstance(self._graph, Graph):
            self._graph = self._graph()
        return self._graph


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


class _Expected:
    """The compilations that are expected in a thread.

    Args:
        names: names of the functions.
        record: the record of the graph to which they belong.
    """

    __slots__ = ("names", "record", "made", "programs")

    def __init__(self, names: Collection[str], record: Compilations) -> None:
        self.names = names
        self.record = record
        #: how long it took, and whether it was loaded, for each function that was compiled
        self.made: list[tuple[float, bool]] = []
        #: the programs over several devices among them
        self.programs: list[weakref.ref[SpreadProgram]] = []


class _Local(threading.local):
    expected: _Expected | None = None


_local = _Local()
#: told of each compilation that belongs to no graph
listeners: Final[list[Callable[[Compilation], None]]] = []


@contextmanager
def compiling(names: Collection[str], what: str, record: Compilations) -> Iterator[None]:
    """Within the block, the compilation of some functions belongs to a graph.

    Within another such block for the same record this is part of that one.

    Args:
        names: names of the functions.
        what: what it is to the graph.
        record: the record of the graph.
    """
    before = _local.expected
    if before is not None and before.record is record:
        yield
        return
    found = _local.expected = _Expected(names, record)
    try:
        yield
    finally:
        _local.expected = before
        if found.made:
            seconds = sum(seconds for seconds, _ in found.made)
            loaded = all(loaded for _, loaded in found.made)
            record.add(Compilation(what, seconds, loaded, parts=len(found.made), programs=tuple(found.programs)))


class Programs:
    """The programs over several devices that a graph was compiled to, one for each combination of layouts. Whoever
    runs them keeps this; reports find them as long as it is kept.

    Args:
        graph: the graph, or what makes it when it is asked for.
        names: names of the functions that XLA compiles.
        what: what a compilation is to the graph.
        record: the record of the graph.
        times: how often a part runs in a run of the graph; 0 for all of it.
    """

    def __init__(
        self,
        graph: Graph | Callable[[], Graph],
        names: Collection[str],
        what: str,
        record: Compilations,
        times: int = 0,
    ) -> None:
        self._graph = graph
        self._times = times
        self._compiling = functools.partial(compiling, names, what, record)
        self._kept: collections.deque[SpreadProgram] = collections.deque(maxlen=_LAYOUTS)

    @contextmanager
    def around(self) -> Iterator[Callable[[Spread], None]]:
        """A context in which a program is made or loaded; it gives what is told of one over several devices."""
        with self._compiling():
            yield self._add

    def _add(self, spread: Spread) -> None:
        program = SpreadProgram(self._graph, spread, self._times)
        self._kept.append(program)
        expected = _local.expected
        if expected is not None:
            expected.programs.append(weakref.ref(program))


#: programs over several devices of one function that are kept for reports
_LAYOUTS: Final = 64


def _note(name: str, seconds: float) -> None:
    loaded = was_loaded()
    expected = _local.expected
    if expected is not None and name in expected.names:
        expected.made.append((seconds, loaded))
        return
    for listener in tuple(listeners):
        listener(Compilation(name, seconds, loaded))


on_compilation(_note)
