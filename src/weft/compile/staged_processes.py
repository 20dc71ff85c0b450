"""A graph with stages of a pipeline over processes: each runs the parts of its stage, and values cross between them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax

from weft.compile.lower import embedded
from weft.compile.staged import Part
from weft.core.trace import CONSTANT
from weft.ir.graph import Graph, Value
from weft.ir.text import format_graph
from weft.ir.types import TOKEN
from weft.parallel import crossing, spanning
from weft.parallel.placement import CONSTRAINT, Place, sharding


def graphs_of_parts(parts: Sequence[Part]) -> list[Graph]:
    """What each part computes.

    Args:
        parts: of a graph with stages.

    Raises:
        RuntimeError: one is an operation of the program's own that meets other processes.
    """
    found = []
    for part in parts:
        if not isinstance(part.graph, Graph):
            raise RuntimeError(
                f"{part.graph.op.name} at {part.graph.where()}: processes exchange nothing else in a network with "
                "stages of a pipeline; the values and gradients of a stage are those of all its processes"
            )
        found.append(part.graph)
    return found


class StagedRun:
    """The parts of a graph as a function of arrays, which all processes call.

    What no stage has to itself, as the batch and what is computed of it alone, each process has and computes.

    Args:
        graph: the graph.
        parts: in the order in which they run.
        functions: what computes each part.
    """

    def __init__(self, graph: Graph, parts: Sequence[Part], functions: Sequence[Callable[..., Any]]) -> None:
        self._graph = graph
        self._parts = list(zip(parts, functions, strict=True))
        self._name = graph.name
        self._digest = spanning.digest_of(format_graph(graph, locations=False))
        constants = [(n.outputs[0], n.attrs[0]) for n in graph.nodes if n.op is CONSTANT]
        arrays = embedded(list(enumerate([literal for _, literal in constants])))
        self._constants = [(value, array) for (value, _), (_, array) in zip(constants, arrays, strict=True)]
        last: dict[Value, int] = {}
        for number, part in enumerate(parts):
            last.update(dict.fromkeys((*part.inputs, *part.outputs), number))
        kept = set(graph.outputs)
        self._dead: list[list[Value]] = [[] for _ in parts]
        for value, number in last.items():
            if value not in kept:
                self._dead[number].append(value)

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        what = spanning.said(f"{self._name} in {len(self._parts)} parts {self._digest}", arrays)
        spanning.agree(what, told=functools.partial(spanning.told_of, lambda: self._graph, arrays))
        here = crossing.here()
        values: dict[Value, Any] = dict(self._constants)
        #: the stage that has a value; None where each process has it
        stages: dict[Value, int | None] = {}
        for value, array in zip(self._graph.params, arrays, strict=True):
            values[value], stages[value] = spanning.for_this(array), crossing.stage_of(array)
        #: what has crossed, by value and stage
        there: dict[Value, dict[int, Any]] = {}
        for (part, function), dead in zip(self._parts, self._dead, strict=True):
            stage = part.stage
            if stage is None:  # computed where what it computes with is
                stage = next((s for s in map(stages.get, part.inputs) if s is not None), None)
            if stage is not None:
                self._bring(part.inputs, stage, values, stages, there)
            stages.update(dict.fromkeys(part.outputs, stage))
            if stage is None or stage == here:
                operands = [there[v][here] if here in there.get(v, ()) else values[v] for v in part.inputs]
                with spanning.among(crossing.ranks_of(here)):
                    results = function(*operands)
                values.update(zip(part.outputs, results, strict=True))
            self._go_on(part, values, stages)
            for value in dead:
                values.pop(value, None)
                there.pop(value, None)
        return self._results(values, stages)

    def _go_on(self, part: Part, values: dict[Value, Any], stages: dict[Value, int | None]) -> None:
        """Let effects of later parts, here and in other stages, come after those of a part. All tokens hold the number
        of the run, which each process knows; the one that a part gives says that its effects are done.
        """
        before = next((v for v in part.inputs if v.type is TOKEN), None)
        for token in part.outputs if before is not None else ():
            if token.type is TOKEN:
                jax.block_until_ready(values.get(token))
                values[token], stages[token] = values[before], None  # type: ignore[index]

    def _bring(
        self,
        needed: Sequence[Value],
        stage: int,
        values: dict[Value, Any],
        stages: dict[Value, int | None],
        there: dict[Value, dict[int, Any]],
    ) -> None:
        """Let a stage have what others have."""
        by_source: dict[int, list[Value]] = {}
        for value in needed:
            source = stages.get(value)
            if source is not None and source != stage and stage not in there.get(value, ()) and value.type is not TOKEN:
                by_source.setdefault(source, []).append(value)
        here = crossing.here()
        for source, found in sorted(by_source.items()):
            if here in (source, stage):
                types = [(value.type.shape, value.type.dtype.np_dtype) for value in found]  # type: ignore[union-attr]
                moved = crossing.cross([values.get(value) for value in found], types, source, stage)
                for value, array in zip(found, moved, strict=False):
                    there.setdefault(value, {})[stage] = array
            for value in found:
                there.setdefault(value, {}).setdefault(stage, None)

    def _results(self, values: dict[Value, Any], stages: dict[Value, int | None]) -> tuple[Any, ...]:
        """What the graph gives: what lies in a place stays there, and the rest all processes get."""
        here = crossing.here()
        found: dict[Value, Any] = {}
        shared: dict[int, list[Value]] = {}
        for value in dict.fromkeys(self._graph.outputs):
            stage, node = stages.get(value), value.node
            if value.type is TOKEN:
                found[value] = values.get(value, ())
            elif stage is None:
                found[value] = spanning.for_each(values[value])
            elif node is None:
                found[value] = values.get(value, ())
            elif node.op is CONSTRAINT and node.attrs[2]:
                kind: Any = value.type
                where = sharding(Place(*node.attrs))
                found[value] = (
                    values[value] if stage == here else spanning.nothing_of(kind.shape, kind.dtype.np_dtype, where)
                )
            else:
                shared.setdefault(stage, []).append(value)
        for stage, given in sorted(shared.items()):
            types = [(value.type.shape, value.type.dtype.np_dtype) for value in given]  # type: ignore[union-attr]
            arrays = [values.get(value) for value in given]
            found.update(zip(given, crossing.shared(arrays, types, stage), strict=True))
        return tuple([found[value] for value in self._graph.outputs])
