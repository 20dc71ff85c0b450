"""A graph with calls as a chain of executables: a callee is compiled once, for all its calls.

What stands between two calls is a stretch, compiled as one. XLA would copy a callee to each place where it is called,
so that a network of 192 layers would take 192 times as long to compile as one layer.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from weft import context
from weft.cache.programs import compiled
from weft.compile.compilations import IN_PLACE, Compilations, Programs
from weft.compile.listing import known_digest
from weft.compile.lower import Lowered, embedded, function_name, lower
from weft.compile.staged import Move, Part, is_staged, staged
from weft.compile.staged_processes import StagedRun, graphs_of_parts
from weft.core.control import CALL, REPEAT
from weft.core.primitive import ACROSS
from weft.core.trace import CONSTANT
from weft.ir.graph import Graph, Node, Value
from weft.ir.types import TOKEN, TensorType
from weft.parallel.placement import CONSTRAINT, Place, sharding, stages
from weft.parallel.processes import processes
from weft.passes.drop_dead import DropDead
from weft.passes.position_operands import PositionOperands
from weft.passes.rewrite import copy_graph, cut_out
from weft.passes.roll_repeats import RollRepeats
from weft.passes.share_repeats import ShareRepeats

#: run, slots of the operands, slots of the results, slots that are dead afterwards
_Step = tuple[Callable[..., Any], tuple[int, ...], tuple[int, ...], tuple[int, ...]]


class KeptGraph(NamedTuple):
    """A graph that an earlier process has compiled as one executable, read where that is not found.

    Args:
        name: its name.
        digest: that of what it computes, see `known_digest`.
        donatable: parameters whose memory results may take over.
        read: makes the graph.
    """

    name: str
    digest: str
    donatable: tuple[int, ...]
    read: Callable[[], Graph]


def _lowered_later(graph: KeptGraph, read: Callable[[], Graph]) -> Lowered:
    made: list[Lowered] = []

    def evaluate(*arrays: Any) -> tuple[Any, ...]:
        if not made:
            made.append(lower(read()))
        return made[0](*arrays)

    evaluate.__name__ = evaluate.__qualname__ = function_name(graph)
    return evaluate


class Parts:
    """The compiled parts of a graph, made when they are first asked for; variants of the graph have them in common.

    Args:
        record: where compilations are noted.
        what: what they are in the record.
    """

    def __init__(self, record: Compilations, what: str) -> None:
        self._record = record
        self._what = what
        self._made: dict[Any, tuple[Graph | KeptGraph, Callable[..., Any]]] = {}
        self._lowered: dict[int, Lowered] = {}
        #: graphs with stages of a pipeline, and the same as parts
        self._staged: dict[int, tuple[Graph, tuple[Graph, list[Part]]]] = {}
        #: how often the parts of a chain run when it does
        self._times: Counter[Any] = Counter()
        #: the names of the functions that XLA compiles
        self.names: set[str] = set()

    def compiled(self, graph: Graph | KeptGraph, donated: tuple[int, ...] = ()) -> Callable[..., Any]:
        """A graph as a function on arrays.

        Args:
            graph: a graph without IO. It must not change afterwards.
            donated: parameters whose memory results may take over.
        """
        if processes().count > 1 and isinstance(graph, Graph) and is_staged(graph):
            donated = ()  # nothing is given away while another process may fail
        found = self._made.get((id(graph), donated))
        if found is None:
            found = self._made[id(graph), donated] = graph, self._compile(graph, donated)
        return found[1]

    def _compile(self, graph: Graph | KeptGraph, donated: tuple[int, ...]) -> Callable[..., Any]:
        if isinstance(graph, KeptGraph):
            self.names.add(function_name(graph))
            read = functools.cache(graph.read)
            around = self._around(read, donated)
            return compiled(_lowered_later(graph, read), lambda: graph.digest, donated, around=around, graph=read)
        if is_chain(graph):
            return _chain(graph, donated, self)
        function = self._lowered.get(id(graph))
        if function is None:
            function = self._lowered[id(graph)] = lower(graph)
        self.names.add(function.__name__)
        spreads = any(node.op is CONSTRAINT for node in graph.walk())
        laid_out, around = _laid_out(graph), self._around(graph, donated)
        return compiled(
            function,
            lambda: known_digest(graph),
            donated,
            laid_out=laid_out,
            spreads=spreads,
            around=around,
            graph=lambda: graph,
        )

    def staged(self, graph: Graph) -> tuple[Graph, list[Part]]:
        """The parts of a graph with stages, see `weft.compile.staged.staged`."""
        found = self._staged.get(id(graph))
        if found is None:
            config = context.get_auto_parallel_context("pipeline_config")
            scheduler = config.get("pipeline_scheduler", context.SCHEDULERS[0])
            made = staged(graph, stages(), scheduler, lambda part: compact(part, True))
            found = self._staged[id(graph)] = graph, made
        return found[1]

    def _around(self, graph: Graph | Callable[[], Graph], donated: tuple[int, ...]) -> Any:
        """A context for the compilations of a part: also those that come later, as for operands in another layout."""
        what = IN_PLACE if donated else self._what
        return Programs(graph, self.names, what, self._record, self._times[id(graph), donated]).around

    def chained(
        self, whole: Graph, given: tuple[int, ...], pieces: Sequence[tuple[Graph, tuple[int, ...]]]
    ) -> list[Callable[..., Any]]:
        """The parts of a chain as functions on arrays, in the order in which they run.

        Args:
            whole: the graph of the chain.
            given: its parameters whose memory results may take over.
            pieces: each part, and its parameters whose memory results may take over.
        """
        often = self._times[id(whole), given] or 1  # it may be part of a chain itself
        for key, times in Counter([(id(graph), donated) for graph, donated in pieces]).items():
            self._times.setdefault(key, often * times)
        return [self.compiled(graph, donated) for graph, donated in pieces]


def _laid_out(graph: Graph) -> tuple[Any, ...] | None:
    """Where the outputs of a graph lie that are in a place, None for the others; None if none is. XLA takes a wish at
    the end of a program for a proposal.
    """
    nodes = [value.node for value in graph.outputs]
    found = [sharding(Place(*node.attrs)) if node and node.op is CONSTRAINT else None for node in nodes]
    return None if all(where is None for where in found) else tuple(found)


#: nodes from which on stretches that repeat are looked for unasked: smaller graphs run faster as one executable, and
#: are compiled in about a second
LARGE: Final = 1000


def compact(graph: Graph, owned: bool) -> Graph:
    """A graph in which long stretches that repeat are loops, and others calls, where settings or the function say so.

    Args:
        graph: the graph.
        owned: whether it may be changed.
    """
    if is_staged(graph):  # its parts are made compact
        return graph
    limit = context.get_context("loop_unroll_limit")
    found = graph
    if 0 <= limit < len(graph.nodes):
        found = DropDead().apply(RollRepeats(limit=limit).apply(PositionOperands().apply(copy_graph(graph))))
    share = _sharing(graph, len(found.nodes))
    if share is not None:
        if found is graph:
            found = DropDead().apply(PositionOperands().apply(graph if owned else copy_graph(graph)))
        found = share.apply(found)
    elif len(found.nodes) == len(graph.nodes) and not any(node.op is REPEAT for node in found.nodes):
        return graph
    found.notes.update(graph.notes | found.notes)
    return found


def _sharing(graph: Graph, size: int) -> ShareRepeats | None:
    """How stretches of a graph are shared; None if they are not.

    Args:
        graph: the graph.
        size: its nodes, where loops are one each.
    """
    if graph.reuses_blocks:
        return ShareRepeats()
    if any(node.op is CONSTRAINT for node in graph.nodes):
        return None  # XLA puts the collectives of a whole program together
    if size >= LARGE and context.get_context("auto_block_reuse"):
        return ShareRepeats(least=16, saved=64)
    return None


def is_chain(graph: Graph) -> bool:
    """Whether a graph is compiled in several parts: it has calls, or meets other processes, or is one of stages."""
    return any(node.op is CALL or node.op.effect == ACROSS for node in graph.nodes) or is_staged(graph)


def _chain(graph: Graph, donated: tuple[int, ...], parts: Parts) -> Callable[..., Any]:
    """A graph with calls as a function that runs one executable after the other."""
    if is_staged(graph):
        whole, found = parts.staged(graph)
        if processes().count > 1:
            return StagedRun(whole, found, parts.chained(graph, (), [(one, ()) for one in graphs_of_parts(found)]))
        pieces = _pieces_of_stages(whole, found, donated)
    else:
        whole, pieces = graph, _pieces(graph)
    slots: dict[Value, int] = {value: i for i, value in enumerate(whole.params)}
    constants = []
    for node in whole.nodes:
        for value in node.outputs:
            slots[value] = len(slots)
        if node.op is CONSTANT:
            constants.append((slots[node.outputs[0]], node.attrs[0]))
    for piece in pieces:
        for value in piece.outputs:
            slots.setdefault(value, len(slots))
    kept = {slot for slot, _ in constants}.union(slots[value] for value in whole.outputs)
    last: dict[Value, int] = {value: i for i, piece in enumerate(pieces) for value in (*piece.inputs, *piece.outputs)}
    given = {whole.params[i] for i in donated if whole.params[i] not in whole.outputs}
    steps: list[_Step] = []
    # nothing is given away before all other processes were met: what one of them fails in leaves everything as it was
    met = max((i for i, piece in enumerate(pieces) if piece.meets), default=-1)
    compiled_pieces: list[tuple[Graph, tuple[int, ...]]] = []
    for position, piece in enumerate(pieces):
        used = piece.inputs
        ends = [i for i, v in enumerate(used) if v in given and last[v] == position and used.count(v) == 1]
        if isinstance(piece.graph, Graph):
            compiled_pieces.append((piece.graph, fitting(piece.graph, ends) if position > met else ()))
    functions = iter(parts.chained(graph, donated, compiled_pieces))
    for position, piece in enumerate(pieces):
        used = piece.inputs
        run = next(functions) if isinstance(piece.graph, Graph) else piece.graph
        if piece.move is not None:
            run = _moving(run, piece.move)
        dead = {slots[value] for value in (*used, *piece.outputs) if last[value] == position} - kept
        steps.append((run, tuple([slots[v] for v in used]), tuple([slots[v] for v in piece.outputs]), tuple(dead)))
    return _function(
        len(whole.params), len(slots), steps, tuple([slots[v] for v in whole.outputs]), embedded(constants)
    )


def _function(
    count: int, size: int, steps: Sequence[_Step], outputs: tuple[int, ...], constants: Sequence[tuple[int, Any]]
) -> Callable[..., Any]:
    padding = [None] * (size - count)

    def chain(*arrays: Any) -> tuple[Any, ...]:
        values: list[Any] = [*arrays, *padding]
        for slot, array in constants:
            values[slot] = array
        for run, operands, results, dead in steps:
            for slot, value in zip(results, run(*[values[i] for i in operands]), strict=True):
                values[slot] = value
            for slot in dead:
                values[slot] = None
        return tuple([values[i] for i in outputs])

    return chain


class _Piece:
    """What one executable computes.

    Args:
        graph: a callee, a stretch between calls, a part of a stage, or a function: the operation that meets other
            processes, or what moves values to a stage.
        inputs: values of the whole graph, one for each parameter.
        outputs: values of the whole graph, one for each output.
        meets: whether it meets other processes.
        move: what puts operands where it runs; None if they are there.
    """

    __slots__ = ("graph", "inputs", "outputs", "meets", "move")

    def __init__(
        self, graph: Any, inputs: Sequence[Value], outputs: Sequence[Value], meets: bool, move: Move | None = None
    ) -> None:
        self.graph: Graph | Callable[..., Any] = graph
        self.inputs = inputs
        self.outputs = outputs
        self.meets = meets
        self.move = move


def _pieces(graph: Graph) -> list[_Piece]:
    """A graph cut at its calls. What a call does not need waits, so that stretches are few and long."""
    users: dict[Value | None, list[Node | None]] = {value: [None] for value in graph.outputs}
    for node in graph.nodes:
        for value in node.inputs:
            users.setdefault(value, []).append(node)
    pieces: list[_Piece] = []
    waiting: dict[Node, None] = {}

    def cut() -> None:
        if waiting:
            outputs = [v for node in waiting for v in node.outputs if any(u not in waiting for u in users.get(v, ()))]
            pieces.append(_stretch(graph, list(waiting), outputs, len(pieces)))
            waiting.clear()

    for node in graph.nodes:
        across = node.op.effect == ACROSS
        if node.op is CALL or across:
            if any(value is not None and value.node in waiting for value in node.inputs):
                cut()
            found: Any = _met(node) if across else node.regions[0]
            pieces.append(_Piece(found, node.inputs, node.outputs, across or _meets(found)))  # type: ignore[arg-type]
        elif node.op is not CONSTANT:
            waiting[node] = None
    cut()
    return pieces


def _pieces_of_stages(graph: Graph, found: Sequence[Part], donated: Sequence[int]) -> list[_Piece]:
    """The parts of a graph of stages, with the moves of values between these.

    Args:
        graph: the graph.
        found: its parts.
        donated: parameters whose memory results may take over.
    """
    moves = [Move(stage) for stage in range(stages())]
    last = {value: number for number, one in enumerate(found) for value in one.inputs}
    given = {graph.params[i] for i in donated}
    made: dict[Value, int] = {}
    there: dict[tuple[Value, int], Value] = {}
    pieces: list[_Piece] = []
    for number, one in enumerate(found):
        stage, operands = one.stage or 0, []
        for value in one.inputs:
            goes_along = value in given and last[value] == number  # it is moved by the part, which may take it over
            if value.type is not TOKEN and made.get(value) != stage and not goes_along:
                moved = there.get((value, stage))
                if moved is None:
                    moved = there[value, stage] = Value(value.type, graph, None, 0)
                    pieces.append(_Piece(moves[stage].alone, [value], [moved], False))
                value = moved
            operands.append(value)
        made.update(dict.fromkeys(one.outputs, stage))
        if isinstance(one.graph, Graph):
            pieces.append(_Piece(one.graph, operands, one.outputs, False, moves[stage]))
        else:
            pieces.append(_Piece(_met(one.graph), operands, one.outputs, True))
    return pieces


def _moving(run: Callable[..., Any], move: Move) -> Callable[..., Any]:
    return lambda *arrays: run(*[move(array) for array in arrays])


def _meets(graph: Graph | Callable[..., Any]) -> bool:
    """Whether a piece meets other processes."""
    return not isinstance(graph, Graph) or any(node.op.effect == ACROSS for node in graph.walk())


def _met(node: Node) -> Callable[..., Any]:
    """An operation that meets other processes as a function that gives a tuple."""
    op: Any = node.op
    run = op.executable(node.attrs)
    return run if op.multiple else lambda *arrays: (run(*arrays),)


def _stretch(graph: Graph, nodes: Sequence[Node], outputs: Sequence[Value], number: int) -> _Piece:
    """Nodes as a graph of their own, with the constants that they use."""
    made, inputs = cut_out(f"{graph.name}_{number}", graph, nodes, outputs)
    return _Piece(made, inputs, outputs, False)


def fitting(graph: Graph, donatable: Sequence[int]) -> tuple[int, ...]:
    """The donatable parameters for which a result of the same shape and dtype is left.

    Args:
        graph: what is computed.
        donatable: positions of parameters.
    """
    results: dict[Any, int] = {}
    for value in graph.outputs:
        if isinstance(value.type, TensorType):
            key = (value.type.dtype, value.type.shape)
            results[key] = results.get(key, 0) + 1
    chosen = []
    for position in sorted(set(donatable)):
        kind = graph.params[position].type
        if isinstance(kind, TensorType) and results.get((kind.dtype, kind.shape), 0):
            results[kind.dtype, kind.shape] -= 1
            chosen.append(position)
    return tuple(chosen)
