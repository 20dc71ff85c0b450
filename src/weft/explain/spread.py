"""What a report says of a graph that ran on several devices: where its inputs and results lie, and its collectives."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from weft.compile.compilations import Compilation, SpreadProgram
from weft.compile.places import Places, names_of
from weft.core.control import CALL, IF, effect_of
from weft.core.primitive import IO
from weft.errors import Location
from weft.explain.collectives import Instruction, collectives_of
from weft.ir.graph import Graph, Value
from weft.ir.text import held_graph
from weft.ir.types import TOKEN, TensorType
from weft.parallel.holdings import Placement, along_axes, placed
from weft.parallel.pictures import picture

#: operations that say how a tensor lies
_ANNOTATIONS: Final = frozenset({"ShardingConstraint"})
#: what JAX calls its own, and its collectives, in the names that XLA carries along with instructions
_ASKED: Final = frozenset({
    "sharding_constraint", "reshard", "device_put", "psum", "psum_invariant", "pmax", "pmin", "ppermute", "pbroadcast",
    "all_gather", "all_gather_invariant", "reduce_scatter", "psum_scatter", "all_to_all", "ragged_all_to_all",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class SpreadArray:
    """An input or a result of a program on several devices.

    Args:
        name: its name; "" if it has none.
        type: its type.
        places: where it lies, as JAX says.
    """

    name: str
    type: TensorType
    places: Any

    @property
    def placement(self) -> Placement:
        """Where it lies."""
        return placed(self.places, self.type.shape)

    @property
    def each(self) -> str:
        """The type of what each device holds."""
        return repr(TensorType.of(self.type.dtype, self.placement.each))

    def picture(self) -> str:
        """A picture of who holds what, see `weft.parallel.picture`."""
        return picture(self.places, self.type.shape)

    def to_dict(self) -> dict[str, Any]:
        """The array as JSON data."""
        found = self.placement
        spread = None if found.axes is None else [list(names) for names in found.spread]
        return {"name": self.name, "type": repr(self.type), "layout": found.layout, "spread": spread, "each": self.each}


@dataclass(frozen=True, slots=True)
class CollectiveReport:
    """A collective of a compiled program.

    Args:
        instruction: what XLA made.
        axes: the axes of the mesh along which it is; None where it is along none.
        operations: the operations of the graph that it comes from, each with the line of the program; none where that
            is not known.
        asked: whether the program asked for it, see the page on reports in the documentation.
    """

    instruction: Instruction
    axes: tuple[str, ...] | None
    operations: tuple[tuple[str, Location | None], ...]
    asked: bool

    @property
    def kind(self) -> str:
        """``"all-reduce"``, ``"all-gather"``, ``"reduce-scatter"``, ``"all-to-all"``, ``"collective-permute"``..."""
        return self.instruction.kind

    @property
    def runs(self) -> int | None:
        """How often it runs in a run of the program; None in a loop of unknown length."""
        return self.instruction.runs

    @property
    def bytes_each(self) -> float:
        """The bytes that a device sends in a run of the program, that which sends the most; in a loop of unknown length
        those of one iteration.
        """
        return self.instruction.moved.most * (1 if self.runs is None else self.runs)

    @property
    def bytes_together(self) -> float:
        """The bytes that all devices send, as `bytes_each`."""
        return self.instruction.moved.together * (1 if self.runs is None else self.runs)

    @property
    def locations(self) -> tuple[Location, ...]:
        """The lines of the program that it comes from."""
        return tuple(dict.fromkeys([location for _, location in self.operations if location is not None]))

    def to_dict(self) -> dict[str, Any]:
        """The collective as JSON data."""
        return {
            "kind": self.kind,
            "result": list(self.instruction.result),
            "axes": None if self.axes is None else list(self.axes),
            "groups": [list(group) for group in self.instruction.groups],
            "runs": self.runs,
            "in_branch": not self.instruction.is_sure,
            "bytes_each": self.bytes_each,
            "bytes_together": self.bytes_together,
            "operations": [
                {"name": name, "file": place and place.file, "line": place and place.line}
                for name, place in self.operations
            ],
            "asked": self.asked,
        }


class ProgramReport:
    """A program on several devices that a graph was compiled to.

    Args:
        what: what was compiled of the graph, see `Compilation`.
        program: the program.

    Attributes:
        what: what was compiled of the graph.
        part: the name of the part of the graph; "" where it was compiled as a whole.
        times: how often the part runs in a run of the graph.
        devices: on how many devices it computes.
    """

    def __init__(self, what: str, program: SpreadProgram) -> None:
        self.what = what
        self.times = program.times or 1
        self.part = program.graph.name if program.times else ""
        self._graph = program.graph
        self._spread = program.spread
        self.devices = len(program.spread.devices)

    @cached_property
    def mesh(self) -> dict[str, int] | None:
        """The axes of the mesh: name -> size; None where nothing says which they are."""
        for array in (*self.inputs, *self.outputs):
            axes = array.placement.axes
            if axes is not None:
                return axes
        return None

    @cached_property
    def inputs(self) -> tuple[SpreadArray, ...]:
        """The inputs that the program reads."""
        params = _arrays(self._graph, self._graph.params)
        if any(position >= len(params) for position in self._spread.read):
            return ()
        return _spread([params[position] for position in self._spread.read], self._spread.inputs)

    @cached_property
    def outputs(self) -> tuple[SpreadArray, ...]:
        """The results."""
        return _spread(_arrays(self._graph, self._graph.outputs), self._spread.outputs)

    @property
    def text(self) -> str:
        """The program as XLA writes it after all its passes."""
        return self._spread.text()

    @cached_property
    def collectives(self) -> tuple[CollectiveReport, ...]:
        """The collectives, in the order in which XLA has them."""
        places = Places(self._graph)
        return tuple([self._collective(found, places) for found in collectives_of(self.text, self.devices)])

    @property
    def unasked(self) -> tuple[CollectiveReport, ...]:
        """The collectives that the program did not ask for."""
        return tuple([found for found in self.collectives if not found.asked])

    @property
    def bytes_each(self) -> float:
        """The bytes that a device sends in all collectives, in one run."""
        return sum([found.bytes_each for found in self.collectives])

    @property
    def bytes_together(self) -> float:
        """The bytes that all devices send in all collectives, in one run."""
        return sum([found.bytes_together for found in self.collectives])

    def _collective(self, found: Instruction, places: Places) -> CollectiveReport:
        operations = tuple([(node.op.name, node.where()) for node in places.found(found.name)])
        asked = all(self._is_asked_for(name, places) for name in names_of(found.name))
        return CollectiveReport(found, self._axes(found), operations, asked)

    def _is_asked_for(self, name: str, places: Places) -> bool:
        """Whether the program asked for what comes from an instruction of JAX's with a name."""
        if name.rpartition("/")[2] in _ASKED:
            return True
        return any(not self._annotated.isdisjoint(node.outputs) for node in places.found(name))

    @cached_property
    def _annotated(self) -> set[Value]:
        """What goes straight to an operation that says how a tensor lies, or comes from one."""
        found: set[Value] = set()
        _annotate(self._graph, found)
        return found

    def _axes(self, found: Instruction) -> tuple[str, ...] | None:
        mesh = self._mesh_numbered
        if mesh is None:
            return None
        groups = found.groups
        if found.kind == "collective-permute":
            groups = _connected(groups, self.devices)
        return along_axes([[mesh[1][number] for number in group] for group in groups], mesh[0])

    @cached_property
    def _mesh_numbered(self) -> tuple[dict[str, int], list[int]] | None:
        """The mesh, and the place in it of each device of the program."""
        for places in (*self._spread.inputs, *self._spread.outputs):
            mesh = getattr(places, "mesh", None)
            if mesh is not None and mesh.size == self.devices:
                numbers = {device: number for number, device in enumerate(mesh.devices.flat)}
                if all(device in numbers for device in self._spread.devices):
                    return dict(mesh.shape), [numbers[device] for device in self._spread.devices]
        return None

    def to_dict(self) -> dict[str, Any]:
        """The program as JSON data."""
        return {
            "what": self.what,
            "part": self.part,
            "times": self.times,
            "devices": self.devices,
            "mesh": self.mesh,
            "inputs": [array.to_dict() for array in self.inputs],
            "outputs": [array.to_dict() for array in self.outputs],
            "collectives": [found.to_dict() for found in self.collectives],
            "bytes_each": self.bytes_each,
            "bytes_together": self.bytes_together,
        }


def programs_of(compilations: Iterable[Compilation]) -> tuple[ProgramReport, ...]:
    """What is still kept of the programs on several devices that were compiled."""
    kept = [(made.what, program()) for made in compilations for program in made.programs]
    return tuple([_report_of(what, program) for what, program in kept if program is not None])


#: what was read of programs, as long as they are kept
_read: Final[weakref.WeakKeyDictionary[SpreadProgram, ProgramReport]] = weakref.WeakKeyDictionary()


def _report_of(what: str, program: SpreadProgram) -> ProgramReport:
    found = _read.get(program)
    if found is None:
        found = _read[program] = ProgramReport(what, program)
    return found


def _arrays(graph: Graph, values: Iterable[Value]) -> list[Value]:
    """Which parameters or results of a graph are arrays when it runs; tokens are where it calls the host."""
    has_io = any(effect_of(node) == IO for node in graph.nodes)
    return [value for value in values if has_io or value.type is not TOKEN]


def _spread(values: list[Value], places: Iterable[Any]) -> tuple[SpreadArray, ...]:
    pairs = zip(values, places, strict=False)
    return tuple([SpreadArray(value.name, value.type, at) for value, at in pairs if isinstance(value.type, TensorType)])


def _annotate(graph: Graph, found: set[Value]) -> None:
    """Add the values of a graph that go straight to an operation that says how a tensor lies, and their results."""
    for node in reversed(graph.nodes):
        if node.op.name in _ANNOTATIONS:
            found.update(node.outputs)
            found.update([value for value in node.inputs if value is not None])
        for region in node.regions:
            if node.op in (IF, CALL):  # what comes out of the region is what comes out of the operation
                pairs = zip(region.outputs, node.outputs, strict=True)
                found.update([inner for inner, outer in pairs if outer in found])
            _annotate(region, found)
        for held in map(held_graph, node.attrs):
            if isinstance(held, Graph):
                _annotate(held, found)


def _connected(pairs: Iterable[tuple[int, ...]], devices: int) -> tuple[tuple[int, ...], ...]:
    """The groups of devices between which a permutation moves data."""
    group = list(range(devices))
    for source, target in pairs:
        one, other = group[source], group[target]
        group = [one if found == other else found for found in group]
    return tuple([tuple([i for i, found in enumerate(group) if found == number]) for number in sorted(set(group))])


__all__: Final = ["CollectiveReport", "ProgramReport", "SpreadArray", "programs_of"]
