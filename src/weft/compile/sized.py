"""Graphs that leave sizes of their inputs open: one capture for all sizes, compiled for those that calls bring.

The graph for some sizes (`with_sizes`) has ints in all types and attributes, and is optimized, differentiated and
compiled like any other.
"""

from __future__ import annotations

import copy
import functools
import logging
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from weft import lazily
from weft.autodiff.perhaps import Pattern, Place
from weft.compile.buckets import EXACT, AtSizes, Buckets, Key, PaddedGraph
from weft.compile.chain import fitting
from weft.compile.compilations import RUN, Compilations
from weft.compile.executable import Executable
from weft.compile.known_sizes import places_of, with_sizes
from weft.compile.listing import known_digest
from weft.compile.pieces import Pieces, asks
from weft.compile.segment import Derivative, Segment
from weft.core.primitive import Primitive
from weft.core.tensor import Tensor, data_of
from weft.ir.graph import Graph
from weft.passes.pipeline import optimize

if TYPE_CHECKING:
    from weft.compile import padding
else:
    padding = lazily.deferred("weft.compile.padding")

logger: Final = logging.getLogger("weft.jit")
#: graphs for single sizes that are kept; the least recently used goes first
_KEPT: Final = 64


def _gone() -> None:
    """A reference to nothing."""


class SizedExecutable:
    """The executables of a graph that leaves sizes open: that for the sizes of a call runs it. See `Executable`.

    Args:
        segment: the graph with what is made of it.
    """

    #: it is not kept for another process
    prepared = None
    plain = None

    def __init__(self, segment: SizedSegment) -> None:
        self.segment = segment
        self.name = segment.name
        self.donatable: tuple[int, ...] = fitting(segment.graph, segment.donatable)

    def run(self, *arrays: Any) -> Any:
        """Run without taking over memory."""
        return self.segment.executable_for(arrays).run(*arrays)

    def call(self, arrays: list[Any], holders: int = 1) -> Any:
        """Run the variant that fits, see `Executable.call`."""
        return self.segment.executable_for(arrays).call(arrays, holders)


class SizedSegment:
    """A `Segment` for a graph that leaves sizes open.

    Args:
        graph: the graph.
        donatable: parameters whose memory the results may take over.
    """

    def __init__(self, graph: Graph, donatable: Sequence[int] = ()) -> None:
        self.graph = graph
        self.name = graph.name
        self.donatable = donatable
        self.compilations = Compilations()
        self._places = places_of(graph)
        self._exact: dict[Key, Segment] = {}
        #: graphs that were captured for some sizes, which may be what this one is for them
        self._captured: dict[Key, weakref.ref[Segment]] = {}
        self._buckets = Buckets()
        self._lock = threading.RLock()
        self._padded: PaddedGraph | None = None
        self._derivatives: dict[Any, SizedDerivative | None] = {}
        self._chosen: dict[Key, Key | None] = {}
        self.executable = SizedExecutable(self)

    def note_captured(self, segments: Iterable[Segment | SizedSegment]) -> None:
        """Note graphs that the same code gave where sizes were known: what is compiled for them is used again."""
        for segment in segments:
            if isinstance(segment, Segment):
                shapes = [getattr(param.type, "shape", ()) for param in segment.graph.params]
                if all(number < len(shapes) and axis < len(shapes[number]) for number, axis in self._places.values()):
                    key = tuple([shapes[number][axis] for number, axis in self._places.values()])
                    self._captured.setdefault(key, weakref.ref(segment))

    def key_of(self, arrays: Sequence[Any]) -> Key:
        """The sizes in a call."""
        return tuple([arrays[number].shape[axis] for number, axis in self._places.values()])

    def exact(self, key: Key) -> Segment:
        """The segment for some sizes alone."""
        found = self._exact.get(key)
        if found is None:
            while len(self._exact) >= _KEPT:
                self._exact.pop(next(iter(self._exact)), None)
            sizes = dict(zip(self._places, key, strict=True))
            graph = optimize(with_sizes(self.graph, sizes))
            captured = self.graph.captured
            if captured is not None:
                graph.captured = functools.cache(lambda: with_sizes(captured(), sizes))
            found = self._exact[key] = self._captured_as(key, graph) or Segment(
                graph, self.donatable, self.compilations
            )
        return found

    def _captured_as(self, key: Key, graph: Graph) -> Segment | None:
        """What was captured for some sizes, if it is the graph for them."""
        made = self._captured.pop(key, _gone)()
        if made is None or made.executable.donatable != fitting(graph, self.donatable):
            return None
        digest = known_digest(graph)
        return made if digest is not None and digest == known_digest(made.graph) else None

    def executable_for(self, arrays: Sequence[Any]) -> Executable | AtSizes:
        """What runs the graph for the sizes of the arrays of a call."""
        key = self.key_of(arrays)
        with self._lock:
            bucket = self._bucket(key)
            if bucket is None or self._padded is None:
                return self.exact(key).executable
        return self._padded.at(key, bucket)

    def _bucket(self, key: Key) -> Key | None:
        """The bucket in which a call runs; None for sizes that are compiled for themselves."""
        if key in self._exact:
            return None
        if key not in self._chosen:
            if len(self._chosen) >= _KEPT:
                self._chosen.clear()
            self._chosen[key] = self._choose(key)
        return self._chosen[key]

    def _choose(self, key: Key) -> Key | None:
        if key in self._captured or len(self._exact) < EXACT:
            return None
        try:
            if self._padded is None:
                atoms = list(self._places)
                self._padded = PaddedGraph(
                    self.graph, atoms, self.executable.donatable, self.compilations, RUN, self.graph.facts
                )
        except padding.Refused as refused:
            logger.info("%s: each size is compiled for itself: %s", self.name, refused)
            return None
        for bucket in self._buckets.choose(key):
            try:
                self._padded.program(bucket)
            except padding.Refused as refused:
                logger.info("%s: no arrays of sizes %s: %s", self.name, bucket, refused)
                continue
            if bucket not in self._buckets.made:
                self._buckets.made.append(bucket)
            return bucket
        return None

    def follow(self, inputs: Sequence[Tensor | None], handed: Sequence[Any] = ()) -> list[Any]:
        """Run on tensors of which some are followed by a gradient, see `Segment.follow`."""
        arrays = [() if t is None else data_of(t) for t in inputs]
        key = self.key_of(arrays)
        with self._lock:
            bucket = self._bucket(key)
        if bucket is None:
            return self.exact(key).follow(inputs, handed)
        followed = tuple([t is not None and t._node is not None for t in inputs])
        derivative = self._derivative(followed)
        if derivative is None or asks(self.graph):
            return self.exact(key).follow(inputs, handed)
        try:
            return derivative.at(key, bucket, self.exact).forward(list(inputs), arrays)
        except padding.Refused as refused:
            logger.info("%s: each size is compiled for itself where a gradient follows: %s", self.name, refused)
            self._derivatives[followed, Primitive.rules_epoch] = None
            return self.exact(key).follow(inputs, handed)

    def _derivative(self, followed: tuple[bool, ...]) -> SizedDerivative | None:
        """The derivative for all sizes; None if there is none but for each alone."""
        key = (followed, Primitive.rules_epoch)
        if key not in self._derivatives:
            try:
                made = SizedDerivative(self.graph, followed, self.compilations, list(self._places))
            except Exception as error:  # a rule that needs to know a size
                logger.info("%s: each size has a gradient of its own: %s", self.name, error)
                made = None
            self._derivatives[key] = made
        return self._derivatives[key]


class SizedDerivative(Derivative):
    """The derivative of a graph that leaves sizes open, in the arrays of buckets.

    Args:
        graph: the graph.
        followed: for each parameter, whether a gradient follows it.
        record: where compilations are noted.
        atoms: the names of the sizes that it leaves open.
    """

    def __init__(self, graph: Graph, followed: tuple[bool, ...], record: Compilations, atoms: list[str]) -> None:
        self._atoms = atoms
        self._facts = graph.facts
        self._sizes: tuple[Key, Key] = ((), ())
        self._exact: Callable[[], Derivative]
        super().__init__(graph, followed, record, "")

    def at(self, key: Key, bucket: Key, exact: Callable[[Key], Segment]) -> SizedDerivative:
        """The derivative for some sizes, in the arrays of a bucket.

        Args:
            key: the sizes.
            bucket: the bucket.
            exact: gives the segment for some sizes alone, for second derivatives and for hooks that come late.
        """
        found = copy.copy(self)
        found._sizes = key, bucket
        found._exact = lambda: exact(key).derivative(self.followed)
        return found

    def joint(self, pattern: Pattern) -> tuple[Segment, tuple[Place, ...]]:
        return self._exact().joint(pattern)

    def _cut_behind(self, place: int) -> Pieces | None:
        return self._exact()._cut_behind(place)

    def _compiled(self, graph: Graph, what: str) -> Any:
        return PaddedGraph(graph, self._atoms, (), self._record, what, self._facts)

    def _run(self, executable: Any, arrays: Sequence[Any]) -> Sequence[Any]:
        found: Sequence[Any] = executable.at(*self._sizes).run(*arrays)
        return found


def segment_of(graph: Graph, donatable: Sequence[int] = ()) -> Segment | SizedSegment:
    """The segment of a graph, which may leave sizes open."""
    return SizedSegment(graph, donatable) if graph.is_open else Segment(graph, donatable)


__all__: Final = ["SizedSegment", "segment_of"]
