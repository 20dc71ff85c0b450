"""One executable for many sizes: arrays with room for the largest, exact whatever stands in the rest of them.

The first few sizes of a graph are compiled each for itself, which is fastest to run. From then on sizes share
executables for *buckets*, the sizes that one has room for (see `weft.compile.padding`).
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import jax
import numpy as np

from weft import lazily
from weft._jax_compat import to_device
from weft.cache.programs import compiled
from weft.compile.compilations import Compilations, compiling
from weft.compile.executable import exclusively_held
from weft.compile.known_sizes import with_sizes
from weft.compile.lower import function_name, lower
from weft.core.control import CALL, effect_of
from weft.core.primitive import ACROSS, IO
from weft.core.threads import others_run
from weft.ir.graph import Graph
from weft.ir.sizes import constrained, evaluated
from weft.ir.types import TensorType

if TYPE_CHECKING:
    from weft.compile import padding
    from weft.compile.padding import Extent, PaddedProgram
else:
    padding = lazily.deferred("weft.compile.padding")

#: the values of the atoms, in their order
Key = tuple[int, ...]
#: sizes that are compiled each for itself
EXACT: Final = 3
#: buckets from which on a call takes what has room for it, however much
_BUCKETS: Final = 5
#: how much more elements than it needs a call may take before there are so many buckets
_WASTE: Final = 4


class Buckets:
    """Which sizes share an executable."""

    def __init__(self) -> None:
        self.made: list[Key] = []
        self._seen: Key = ()

    def choose(self, key: Key) -> list[Key]:
        """The buckets to try for the sizes of a call, the best first."""
        self._seen = tuple(map(max, key, self._seen)) if self._seen else key
        fitting = [made for made in self.made if all(a <= b for a, b in zip(key, made, strict=True))]
        best = min(fitting, key=math.prod, default=None)
        if best is not None and (len(self.made) >= _BUCKETS or math.prod(best) <= _WASTE * math.prod(key)):
            return [best]
        many = len(self.made) >= _BUCKETS
        rounded = tuple([1 << (size - 1).bit_length() for size in (self._seen if many else key)])
        return [*dict.fromkeys((rounded, self._seen, key))]


class PaddedGraph:
    """A graph that leaves sizes open as functions on arrays of the sizes of buckets.

    Args:
        graph: the graph.
        atoms: the names of the sizes that it leaves open.
        donatable: parameters whose memory the results may take over.
        record: where compilations are noted.
        what: what they are in the record.
        facts: what holds of the sizes.

    Raises:
        Refused: it holds something that is not known to be exact in padded arrays.
    """

    plain = None

    def __init__(
        self,
        graph: Graph,
        atoms: Sequence[str],
        donatable: Sequence[int],
        record: Compilations,
        what: str,
        facts: Sequence[str],
    ) -> None:
        self.graph = graph
        self.atoms = atoms
        self.donatable = tuple([place for place in donatable if not graph.params[place].type.is_open])
        self._record = record
        self._what = what
        self._name = function_name(graph)
        self._compiled: dict[tuple[Key, bool], tuple[PaddedProgram, Callable[..., Any]]] = {}
        #: what was called, and so is compiled
        self._ran: set[tuple[Key, bool]] = set()
        self._lock = threading.RLock()
        self._facts = facts
        self._symbolic = self._traced()

    def _traced(self) -> Any:
        try:
            graph = with_sizes(self.graph, constrained(self.atoms, self._facts), check=False)
        except Exception as error:  # facts that JAX does not understand
            raise padding.Refused(self.graph.name, f"{type(error).__name__}: {error}") from error
        kinds = [param.type for param in graph.params]
        if any(effect_of(node) in (IO, ACROSS) or node.op is CALL for node in graph.nodes):
            raise padding.Refused(graph.name, "it calls the host")
        if not all(isinstance(kind, TensorType) for kind in kinds):
            raise padding.Refused(graph.name, "it has effects")
        structs = [jax.ShapeDtypeStruct(kind.shape, kind.dtype.np_dtype) for kind in kinds]  # type: ignore[union-attr]
        try:
            return jax.make_jaxpr(lower(graph))(*structs)
        except Exception as error:  # an implementation that needs to know a size
            raise padding.Refused(graph.name, f"{type(error).__name__}: {error}") from error

    def program(self, bucket: Key, donates: bool = False) -> tuple[PaddedProgram, Callable[..., Any]]:
        """The function for a bucket, and compiled.

        Raises:
            Refused: it is not known to be exact there.
        """
        found = self._compiled.get((bucket, donates))
        if found is None:
            sizes = len(self.atoms)
            program = padding.padded(self._symbolic, self.atoms, dict(zip(self.atoms, bucket, strict=True)))

            def run(*operands: Any) -> tuple[Any, ...]:
                return tuple(program(operands[:sizes], *operands[sizes:]))

            run.__name__ = run.__qualname__ = self._name
            donated = tuple([sizes + place for place in self.donatable]) if donates else ()
            found = self._compiled[bucket, donates] = program, compiled(run, lambda: None, donated)
        return found

    def run(self, bucket: Key, donates: bool, *arrays: Any) -> Any:
        """Call the function for a bucket; its first call, which compiles, is made by one thread alone."""
        _, program = self.program(bucket, donates)
        if (bucket, donates) in self._ran:
            return program(*arrays)
        with self._lock, compiling((self._name,), self._what, self._record):
            found = program(*arrays)
            self._ran.add((bucket, donates))
        return found

    def at(self, key: Key, bucket: Key) -> AtSizes:
        """The graph for some sizes, in the arrays of a bucket."""
        return AtSizes(self, key, bucket)


class AtSizes:
    """A `PaddedGraph` for some sizes; see `Executable`.

    Args:
        padded: the graph.
        key: the sizes.
        bucket: the bucket.
    """

    plain = None

    def __init__(self, padded: PaddedGraph, key: Key, bucket: Key) -> None:
        self._padded = padded
        self._bucket = bucket
        self._values = dict(zip(padded.atoms, key, strict=True))
        self._sizes = [np.int32(size) for size in key]

    def run(self, *arrays: Any) -> tuple[Any, ...]:
        """Run without taking over memory."""
        return self._run(arrays, False)

    def call(self, arrays: list[Any], holders: int = 1) -> tuple[Any, ...]:
        """Run, taking over memory that nobody else holds, see `Executable.call`."""
        donatable = self._padded.donatable
        donates = bool(donatable) and not others_run() and exclusively_held(arrays, donatable, holders)
        return self._run(arrays, donates)

    def _run(self, arrays: Sequence[Any], donates: bool) -> tuple[Any, ...]:
        program, _ = self._padded.program(self._bucket, donates)
        given = [_filled(array, extents) for array, extents in zip(arrays, program.inputs, strict=True)]
        found = self._padded.run(self._bucket, donates, *self._sizes, *given)
        return tuple([self._cut(array, extents) for array, extents in zip(found, program.outputs, strict=True)])

    def _cut(self, array: Any, extents: tuple[Extent, ...]) -> Any:
        """The valid part of a result."""
        shape = tuple([evaluated(extent.size, self._values) for extent in extents])
        if shape == array.shape:
            return array
        block = tuple([slice(size) for size in shape])
        if _on_host(array):  # a slice on the device would be compiled for each size
            return to_device(np.asarray(array)[block])
        return array[block]


def _filled(array: Any, extents: tuple[Extent, ...]) -> Any:
    """An array with room for the bucket."""
    shape = tuple([extent.padded for extent in extents])
    if shape == array.shape:
        return array
    if not _on_host(array):
        return jax.numpy.pad(array, [(0, room - size) for room, size in zip(shape, array.shape, strict=True)])
    found = np.zeros(shape, array.dtype)
    found[tuple([slice(size) for size in array.shape])] = np.asarray(array)
    return found


def _on_host(array: Any) -> bool:
    return isinstance(array, np.ndarray) or all(device.platform == "cpu" for device in array.devices())
