"""An executable: a graph compiled for repeated calls, with a second variant that reuses its inputs' memory.

A graph that updates parameters takes their arrays and returns new ones. When nobody but the parameter's handle
refers to an array, its memory may be given to the result: the donating variant does that. Reference counts decide
whether anybody else refers to it, so an array that another handle, a tape, a view or a thread still holds stays whole.
"""

from __future__ import annotations

import functools
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Final

from weft._jax_compat import copied
from weft.compile.carried import expose, supplied
from weft.compile.chain import KeptGraph, Parts, compact, fitting, is_chain
from weft.compile.compilations import IN_PLACE, RUN, Compilations, compiling
from weft.compile.host_calls import with_host_calls
from weft.core.control import effect_of
from weft.core.garbage import freed_after
from weft.core.primitive import IO
from weft.core.threads import others_run
from weft.core.trace import Literal, Reference
from weft.ir.graph import Graph
from weft.passes.pipeline import prepared

_count = sys.getrefcount


def _holders_of_list_item() -> int:
    """What `getrefcount` says, on this Python, of an object that only a list holds."""
    items = [object()]
    return _count(items[0])


_ONLY_THE_LIST: Final = _holders_of_list_item()


def exclusively_held(arrays: list[Any], positions: Sequence[int], holders: int = 1) -> bool:
    """Whether nobody refers to some of the arrays but the caller's handles and this very list.

    A NumPy view, a second tensor handle, a tape entry or a variable of any thread counts as a reference. An array that
    stands in the list twice is not exclusively held.

    Args:
        arrays: the arrays as the executable takes them. No other variable may hold the items while this runs.
        positions: which of them to look at.
        holders: references that are expected for each besides the list; 1 for the tensor handle it came from.

    Returns:
        bool: True if each of them has exactly that many references.

    Example:
        >>> import jax.numpy as jnp
        >>> handle = [jnp.zeros(3)]
        >>> exclusively_held([handle[0]], (0,))
        True
        >>> other = handle[0]
        >>> exclusively_held([handle[0]], (0,))
        False
    """
    expected = _ONLY_THE_LIST + holders
    for i in positions:  # noqa: SIM110  on the way of every call, a plain loop is faster
        if _count(arrays[i]) != expected:
            return False
    return True


class Executable:
    """A compiled graph.

    Each variant is compiled at its first call, and freed with this object.

    Args:
        graph: a valid graph, passes applied. It is read when a variant is compiled, so it must not change afterwards.
        donatable: parameters of the graph whose memory a result may take over. One that no result fits (by shape and
            dtype) is left out.
        record: the compilations of the graph; None makes one.
        what: what the compilation is in the record.
        is_prepared: whether the graph is one that was prepared before.

    Attributes:
        run: ``run(*arrays) -> tuple``, one array for each parameter of the graph (``()`` for a token); never donates.
            It returns when all host calls of the graph are done, and raises what one of them raises.
        run_donating: the same, taking over the memory of the `donatable` arrays, which are invalid afterwards.
        record: the compilations of the graph.

    Example:
        >>> import numpy as np
        >>> from weft import dtypes
        >>> from weft.ir.types import TensorType
        >>> graph = Graph("same")
        >>> graph.outputs.append(graph.add_param(TensorType.of(dtypes.float32, ())))
        >>> Executable(graph).run(np.float32(2))[0].item()
        2.0
    """

    __slots__ = (
        "name",
        "donatable",
        "run",
        "run_donating",
        "record",
        "_preparation",
        "_first_calls",
        "_copies",
        "_copied",
        "_spared",
        "_sizes",
        "__weakref__",
    )

    def __init__(
        self,
        graph: Graph | KeptGraph,
        donatable: Sequence[int] = (),
        record: Compilations | None = None,
        what: str = RUN,
        is_prepared: bool = False,
    ) -> None:
        self.name = graph.name
        self.record = record = record or Compilations()
        has_io = isinstance(graph, Graph) and any(effect_of(node) == IO for node in graph.nodes)
        self._preparation = preparation = _Preparation(graph, is_prepared, has_io, Parts(record, what))
        if isinstance(graph, KeptGraph):
            self.donatable = graph.donatable
        else:  # what a host call raises leaves everything as it was before, so nothing may be given away
            self.donatable = () if has_io else fitting(graph, donatable)
        #: the variants that were not called yet
        self._first_calls = {"run"}
        #: calls for which shared arrays were copied
        self._copies = 0
        #: bytes of their copies
        self._copied = 0
        #: calls that could have donated
        self._spared = 0
        #: bytes of the donatable arrays, which are the same in all calls
        self._sizes: dict[int, int] = {}
        self.run: Callable[..., Any] = _First(weakref.ref(self), "run", preparation, (), (what, record))
        self.run_donating: Callable[..., Any] = self.run
        if self.donatable:
            self._first_calls.add("run_donating")
            self.run_donating = _First(
                weakref.ref(self), "run_donating", preparation, self.donatable, (IN_PLACE, record)
            )

    @property
    def prepared(self) -> Graph | None:
        """The graph as it is compiled, for an executable in another process; None if that takes more than the graph:
        constants that are handed to it, calls of the host.
        """
        graph = self._preparation.graph
        alone = isinstance(graph, Graph) and not self._preparation.carried and not self._preparation.has_io
        return graph if alone else None  # type: ignore[return-value]

    @property
    def plain(self) -> Callable[..., Any] | None:
        """The same function for use within others that are compiled; None if it needs more than its arguments, or is
        made of several executables.
        """
        graph = self.prepared
        if graph is None or is_chain(graph):
            return None
        return self._preparation.parts.compiled(graph)

    def call(self, arrays: list[Any], holders: int = 1) -> Any:
        """Run the variant that fits: the donating one if every donatable array is exclusively held.

        So that a graph is compiled once if possible, the other variant serves while it is the only one that is
        compiled: calls get copies of arrays that others hold, until copying has taken as long as compiling would, and
        one call leaves memory unused. Where little of the memory is held (a loss scale that the last step returned),
        calls always get copies of it. While other threads run all arrays count as held, since one may read a handle
        at any moment.

        Args:
            arrays: one array for each parameter of the graph; see `exclusively_held` for who may hold the items.
            holders: expected references to each donatable array besides this list.

        Returns:
            tuple: one array for each output.
        """
        donatable = self.donatable
        if not donatable:
            return self.run(*arrays)
        first_calls = self._first_calls
        alone = not others_run()
        exclusive = alone and exclusively_held(arrays, donatable, holders)
        if not exclusive:
            held = _held(arrays, donatable, holders) if alone else donatable
            sizes = self._sizes = self._sizes or {i: arrays[i].nbytes for i in donatable}
            size = sum([sizes[i] for i in held])
            exclusive = alone and size * _CHEAP <= sum(sizes.values())
            if exclusive:
                _copy(arrays, held)
        if exclusive:
            if "run_donating" in first_calls and "run" not in first_calls and self._spared < _SPARED:
                self._spared += 1
                return self.run(*arrays)
            return self.run_donating(*arrays)
        if "run" in first_calls and self._may_copy(len(held), size):
            _copy(arrays, held)
            return self.run_donating(*arrays)
        return self.run(*arrays)

    def _may_copy(self, count: int, size: int) -> bool:
        """Whether a call may copy arrays of so many bytes rather than compile a variant that needs no copies."""
        self._copies += 1
        self._copied += size + count * _BEGUN
        compiled = sum([made.seconds for made in self.record.made if made.what == IN_PLACE])
        return self._copies <= _COPIED or self._copied < compiled * _RATE

    def __repr__(self) -> str:
        return f"<executable of {self.name}>"


class _Preparation:
    """What is compiled of a graph, made when it is first asked for: a graph that gradients always follow never is.

    Args:
        graph: the graph; or one that was compiled before, which takes no preparation.
        is_prepared: whether the graph is one that was prepared before.
        has_io: whether it calls the host.
        parts: its compiled parts.

    Attributes:
        graph: the graph to compile.
        carried: what is handed to it besides its operands.
    """

    def __init__(self, graph: Graph | KeptGraph, is_prepared: bool, has_io: bool, parts: Parts) -> None:
        self.has_io = has_io
        self.parts = parts
        self._given = graph
        self._is_prepared = is_prepared
        self._lock = threading.RLock()

    @property
    def graph(self) -> Graph | KeptGraph:
        return self._found[0]

    @property
    def carried(self) -> list[Literal | Reference]:
        return self._found[1]

    @functools.cached_property
    def _found(self) -> tuple[Graph | KeptGraph, list[Literal | Reference]]:
        given = self._given
        if isinstance(given, KeptGraph):
            return given, []
        with self._lock:
            found = self.__dict__.get("_found")  # another thread made it meanwhile
            return found if found is not None else self._prepare(given)

    def _prepare(self, given: Graph) -> tuple[Graph, list[Literal | Reference]]:
        exposed, carried = expose(given)
        if not self._is_prepared:
            exposed = prepared(exposed, owned=exposed is not given)
            if not self.has_io:
                exposed = compact(exposed, owned=exposed is not given)
            given.notes.update(exposed.notes)
        return exposed, carried

    def variant(self, donated: Sequence[int]) -> Callable[..., Any]:
        """The compiled function of what is handed over and the operands.

        Args:
            donated: parameters of the given graph whose memory results may take over.
        """
        return self.parts.compiled(self.graph, tuple([len(self.carried) + position for position in donated]))

    def finished(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """A `variant` as a function of the operands."""
        call = supplied(call, self.carried)
        return with_host_calls(call, self._given) if self.has_io else call  # type: ignore[arg-type]


#: calls that may copy what others hold in any case, before the variant that does not donate is compiled
_COPIED: Final = 2
#: bytes that are copied in a second: little, as what is copied is read again
_RATE: Final = 2e9
#: bytes that are copied while a copy is begun
_BEGUN: Final = 20_000
#: how many times as large as the arrays to copy all that can be taken over must be, so that copies cost next to nothing
_CHEAP: Final = 16
#: calls that could donate before the variant that does so is compiled beside the other
_SPARED: Final = 1


def _held(arrays: list[Any], positions: Sequence[int], holders: int) -> list[int]:
    """The positions of those that somebody else refers to."""
    return [i for i in positions if not exclusively_held(arrays, (i,), holders)]


def _copy(arrays: list[Any], positions: Sequence[int]) -> None:
    for i in positions:
        arrays[i] = copied(arrays[i])


class _First:
    """The call of a variant until it was called: what XLA compiles meanwhile belongs to the graph.

    One thread makes it, alone, unless it runs code of the program's, which may wait for other threads.

    Args:
        executable: a weak reference to the executable, whose attribute is replaced.
        name: the attribute.
        preparation: gives what is compiled.
        donated: parameters whose memory results may take over.
        what: what the compilation is in the record, and the record.
    """

    __slots__ = ("executable", "name", "preparation", "donated", "what", "lock", "call")

    def __init__(
        self,
        executable: weakref.ref[Executable],
        name: str,
        preparation: _Preparation,
        donated: Sequence[int],
        what: tuple[str, Compilations],
    ) -> None:
        self.executable = executable
        self.name = name
        self.preparation = preparation
        self.donated = donated
        self.what = what
        self.lock = threading.RLock()
        #: what whoever kept this object calls, once it was called
        self.call: Callable[..., Any] | None = None

    def __call__(self, *arrays: Any) -> Any:
        if self.call is not None:
            return self.call(*arrays)
        if self.preparation.has_io:
            return self._call(arrays)
        with self.lock, freed_after():  # lowering makes much that stays as long: the collector waits
            return self._call(arrays)

    def _call(self, arrays: Sequence[Any]) -> Any:
        if self.call is not None:
            return self.call(*arrays)
        preparation = self.preparation
        compiled = preparation.variant(self.donated)

        def compile_and_run(*arrays: Any) -> Any:
            with compiling(preparation.parts.names, *self.what):
                return compiled(*arrays)

        result = preparation.finished(compile_and_run)(*arrays)
        self.call = preparation.finished(compiled)
        executable = self.executable()
        if executable is not None and self.name in executable._first_calls:
            executable._first_calls.discard(self.name)
            setattr(executable, self.name, self.call)
            if not executable.donatable:
                executable.run_donating = executable.run
        return result
