"""What a report says of compiled functions, as plain data."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from weft.capture.state.events import BreakSite, Captured, Compiled, History
from weft.compile.compilations import Compilation
from weft.core.trace import CONSTANT
from weft.errors import Location, excerpt
from weft.explain.exchanges import ExchangeReport, exchanges_of
from weft.explain.spread import CollectiveReport, ProgramReport, programs_of
from weft.ir.graph import Graph
from weft.ir.text import format_graph


@dataclass(frozen=True, slots=True)
class GraphReport:
    """One graph of a compiled function.

    Args:
        number: 1 for the first graph that the function made.
        event: what was recorded when it was made.
    """

    number: int
    event: Captured

    @property
    def graph(self) -> Graph:
        """The graph, passes applied."""
        return self.event.graph

    @property
    def is_recompile(self) -> bool:
        """Whether an earlier graph for the same place in the code did not fit."""
        return self.event.is_recompile

    @property
    def operations(self) -> dict[str, int]:
        """How often each operation stands in the graph, nested graphs included and constants left out."""
        counts = Counter(node.op.name for node in self.graph.walk() if node.op is not CONSTANT)
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    @property
    def notes(self) -> dict[str, int]:
        """What was made of branches and loops, and how often."""
        return dict(sorted(self.graph.notes.items()))

    @property
    def inputs(self) -> list[str]:
        """Type of each input, after its name if it has one."""
        return [f"{value.name}: {value.type!r}" if value.name else repr(value.type) for value in self.graph.params]

    @property
    def outputs(self) -> list[str]:
        """Type of each output."""
        return [repr(value.type) for value in self.graph.outputs]

    @property
    def lines(self) -> frozenset[tuple[str, int]]:
        """(file, line) of the user's code that went into the graph."""
        places = (node.where() for node in self.graph.walk())
        return self.event.lines | {(place.file, place.line) for place in places if place is not None}

    @property
    def programs(self) -> tuple[ProgramReport, ...]:
        """The programs on several devices that it was compiled to, as long as they are kept."""
        return programs_of(self.event.compilations)

    @property
    def exchanges(self) -> tuple[ExchangeReport, ...]:
        """The operations that several processes run together."""
        return tuple(exchanges_of(self.graph))

    @property
    def text(self) -> str:
        """The graph in its text form."""
        return format_graph(self.graph)

    def to_dict(self) -> dict[str, Any]:
        """The graph as JSON data."""
        event = self.event
        return {
            "number": self.number,
            "name": self.graph.name,
            "reason": event.reason,
            "recompile": self.is_recompile,
            "starts": _place(event.starts),
            "ends": None if event.ends is None else _place(event.ends.location),
            "operations": self.operations,
            "notes": self.notes,
            "inputs": self.inputs,
            "outputs": self.outputs,
            "guards": dict(event.guards),
            "lines": [{"file": file, "line": line} for file, line in sorted(self.lines)],
            "capture_seconds": event.seconds,
            "first_run_seconds": event.first_run,
            "compilations": [_compilation(made) for made in event.compilations],
            "programs": [program.to_dict() for program in self.programs],
            "exchanges": [exchange.to_dict() for exchange in self.exchanges],
            "at": event.at,
            "text": self.text,
        }


@dataclass(frozen=True, slots=True)
class BreakReport:
    """A place that ran in Python between two graphs, or that refused the whole capture.

    Args:
        site: what and where.
        count: how often it happened.
        refused: whether nothing of the function was captured because of it.
    """

    site: BreakSite
    count: int
    refused: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The break as JSON data."""
        return {
            "kind": self.site.kind,
            "location": _place(self.site.location),
            "source": next(iter(excerpt(self.site.location)), ""),
            "why": self.site.why,
            "do": self.site.do,
            "count": self.count,
        }


@dataclass(frozen=True, slots=True)
class FunctionReport:
    """What happened to one compiled function.

    Args:
        name: name of the function.
        defined: where it is defined, None if it has no source.
        graphs: its graphs in the order in which they were made.
        breaks: where it left a graph.
        refusals: what refused the capture of the whole function.
        evicted: compiled versions that were dropped because of the limit.
        compilations: what XLA compiled, of these graphs and of earlier ones.
    """

    name: str
    defined: Location | None
    graphs: tuple[GraphReport, ...]
    breaks: tuple[BreakReport, ...]
    refusals: tuple[BreakReport, ...] = ()
    evicted: int = 0
    compilations: tuple[Compiled, ...] = ()

    @classmethod
    def of(cls, history: History, since: Mark | None = None) -> FunctionReport:
        """The report of a history, or of what it gained since a mark was taken."""
        since = since or Mark()
        graphs = tuple(
            GraphReport(number, event)
            for number, event in enumerate(tuple(history.captured), history.forgotten + 1)
            if number > since.graphs
        )
        return cls(
            history.name,
            history.defined,
            graphs,
            _gained(history.breaks, since.breaks, False),
            _gained(history.refusals, since.refusals, True),
            history.evicted - since.evicted,
            _last(history.compiled, history.compilations - since.compilations),
        )

    @property
    def recompiles(self) -> tuple[GraphReport, ...]:
        """The graphs that were made because an earlier one for the same place did not fit."""
        return tuple(graph for graph in self.graphs if graph.is_recompile)

    @property
    def further(self) -> tuple[Compiled, ...]:
        """The compilations by XLA besides the first of each graph: gradients, second variants, earlier graphs."""
        new = {graph.number for graph in self.graphs}
        found = []
        for made in self.compilations:
            if made.graph in new:
                new.remove(made.graph)
            else:
                found.append(made)
        return tuple(found)

    @property
    def is_empty(self) -> bool:
        """Whether nothing happened."""
        return not (self.graphs or self.breaks or self.refusals or self.evicted or self.compilations)

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON data."""
        return {
            "name": self.name,
            "defined": _place(self.defined),
            "graphs": [graph.to_dict() for graph in self.graphs],
            "breaks": [broken.to_dict() for broken in self.breaks],
            "recompiles": [{"graph": graph.number, "reason": graph.event.reason} for graph in self.recompiles],
            "refusals": [refusal.to_dict() for refusal in self.refusals],
            "evicted": self.evicted,
            "compilations": [{"graph": made.graph, **_compilation(made.compilation)} for made in self.compilations],
        }


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a history had come at some moment.

    Args:
        graphs: graphs made so far.
        breaks: see `History`.
        refusals: see `History`.
        evicted: see `History`.
        compilations: see `History`.
    """

    graphs: int = 0
    breaks: Mapping[BreakSite, int] | None = None
    refusals: Mapping[BreakSite, int] | None = None
    evicted: int = 0
    compilations: int = 0

    @classmethod
    def of(cls, history: History) -> Mark:
        """How far a history has come."""
        return cls(
            history.forgotten + len(history.captured),
            dict(history.breaks),
            dict(history.refusals),
            history.evicted,
            history.compilations,
        )


class Findings:
    """What happened to compiled functions: graphs, breaks, recompiles, guards and times.

    Args:
        functions: the functions, the one that was asked about first.
        eager: what XLA compiled meanwhile outside of graphs: operations that ran by themselves.
    """

    def __init__(self, functions: Iterable[FunctionReport], eager: Iterable[Compilation] = ()) -> None:
        self.functions = tuple(functions)
        self.eager = tuple(eager)

    @property
    def graphs(self) -> tuple[GraphReport, ...]:
        """The graphs of all functions."""
        return tuple(graph for function in self.functions for graph in function.graphs)

    @property
    def breaks(self) -> tuple[BreakReport, ...]:
        """The breaks of all functions."""
        return tuple(broken for function in self.functions for broken in function.breaks)

    @property
    def refusals(self) -> tuple[BreakReport, ...]:
        """The places that refused the capture of a whole function."""
        return tuple(refusal for function in self.functions for refusal in function.refusals)

    @property
    def recompiles(self) -> tuple[GraphReport, ...]:
        """The graphs that were made because an earlier one for the same place did not fit."""
        return tuple(graph for function in self.functions for graph in function.recompiles)

    @property
    def compilations(self) -> tuple[Compiled, ...]:
        """What XLA compiled of all graphs."""
        return tuple(made for function in self.functions for made in function.compilations)

    @property
    def further(self) -> tuple[Compiled, ...]:
        """The compilations by XLA besides the first of each graph."""
        return tuple(made for function in self.functions for made in function.further)

    @property
    def collectives(self) -> tuple[CollectiveReport, ...]:
        """The collectives of what all graphs were compiled to for several devices."""
        return tuple(found for graph in self.graphs for program in graph.programs for found in program.collectives)

    @property
    def unasked(self) -> tuple[CollectiveReport, ...]:
        """Those of them that the program did not ask for."""
        return tuple(found for found in self.collectives if not found.asked)

    @property
    def exchanges(self) -> tuple[ExchangeReport, ...]:
        """The operations of all graphs that several processes run together."""
        return tuple(exchange for graph in self.graphs for exchange in graph.exchanges)

    @property
    def guards(self) -> dict[str, str]:
        """Condition -> what it guards, of all graphs."""
        return {condition: what for graph in self.graphs for condition, what in graph.event.guards.items()}

    @property
    def seconds(self) -> float:
        """Time spent on capturing."""
        return sum((graph.event.seconds for graph in self.graphs), 0.0)

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON data, see the page on reports in the documentation."""
        return {
            "functions": [function.to_dict() for function in self.functions],
            "totals": {
                "graphs": len(self.graphs),
                "operations": sum(sum(graph.operations.values()) for graph in self.graphs),
                "breaks": len(self.breaks),
                "recompiles": len(self.recompiles),
                "refusals": len(self.refusals),
                "compilations": len(self.compilations),
                "eager_compilations": len(self.eager),
                "capture_seconds": self.seconds,
            },
        }

    def to_json(self, indent: int | None = 2) -> str:
        """The report as JSON.

        Args:
            indent: spaces for each level; None writes one line.

        Returns:
            str: what `to_dict` returns, as text.
        """
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False)


def _last(items: list[Compiled], number: int) -> tuple[Compiled, ...]:
    return tuple(items[-number:]) if number else ()


def _compilation(made: Compilation) -> dict[str, Any]:
    return {"what": made.what, "seconds": made.seconds, "loaded": made.loaded, "at": made.at, "parts": made.parts}


def _gained(
    now: Mapping[BreakSite, int], before: Mapping[BreakSite, int] | None, refused: bool
) -> tuple[BreakReport, ...]:
    before = before or {}
    gains = ((site, count - before.get(site, 0)) for site, count in tuple(now.items()))
    return tuple(BreakReport(site, gain, refused) for site, gain in gains if gain > 0)


def _place(location: Location | None) -> dict[str, Any] | None:
    if location is None:
        return None
    return {
        "file": location.file,
        "line": location.line,
        "column": None if location.column is None else location.column + 1,
        "end_column": location.end_column,
        "scope": location.scope,
    }
