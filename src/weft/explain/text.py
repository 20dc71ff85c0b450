"""A report as plain text."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from weft.compile.compilations import Compilation
from weft.errors import Location, excerpt

if TYPE_CHECKING:
    from weft.explain.exchanges import ExchangeReport
    from weft.explain.findings import BreakReport, Findings, FunctionReport, GraphReport
    from weft.explain.spread import CollectiveReport, ProgramReport, SpreadArray

#: how many names of a list are shown before the rest is counted
_SHOWN: Final = 8
#: what is said of a collective that the program did not ask for
UNASKED: Final = "not asked for"


def report_lines(report: Findings) -> Iterator[str]:
    """The lines of a report, functions parted by empty lines."""
    if not report.functions:
        yield "nothing was compiled"
    for index, function in enumerate(report.functions):
        if index:
            yield ""
        yield from function_lines(function)


def function_lines(function: FunctionReport) -> Iterator[str]:
    """The lines of what happened to one function."""
    where = "" if function.defined is None else f" ({function.defined})"
    yield f"{function.name}{where}: {totals(function)}"
    for graph in function.graphs:
        yield from _indented(graph_lines(graph), "  ")
    yield from _indented(earlier_lines(function), "  ")
    for broken in (*function.breaks, *function.refusals):
        yield from _indented(break_lines(broken), "  ")
    if function.evicted:
        yield f"  {count(function.evicted, 'compiled version')} dropped, jit_cache_limit is reached"


def graph_lines(graph: GraphReport) -> Iterator[str]:
    """The lines of one graph."""
    event = graph.event
    yield f"graph {graph.number}: {reason(graph)}"
    extent = extent_of(graph)
    if extent:
        yield f"  {extent}"
    operations = graph.operations
    total = count(sum(operations.values()), "operation")
    names = shortened([f"{name} {times}" for name, times in operations.items()])
    yield f"  {total}: {names}" if names else f"  {total}"
    if graph.notes:
        yield "  " + ", ".join([f"{what}: {times}" for what, times in graph.notes.items()])
    if graph.inputs:
        yield f"  {count(len(graph.inputs), 'input')}: {shortened(graph.inputs)}"
    if event.guards:
        yield f"  {count(len(event.guards), 'guard')}: {shortened(guarded(graph))}"
    yield f"  {times_of(graph)}"
    if event.compilations:
        yield f"  compiled by XLA: {shortened([compilation_of(made) for made in event.compilations])}"
    yield from _indented(devices_lines(graph), "  ")


def devices_lines(graph: GraphReport) -> Iterator[str]:
    """The lines of a graph that ran on several devices, or that meets other processes; none for any other."""
    programs = Counter([tuple(program_lines(program)) for program in graph.programs])
    for (heading, *lines), number in programs.items():
        yield heading if number == 1 else f"{heading}, compiled {times(number)}"
        yield from lines
    if graph.exchanges:
        yield from exchange_lines(graph.exchanges)


def program_lines(program: ProgramReport) -> Iterator[str]:
    """The lines of a program on several devices."""
    yield heading_of(program)
    for what, arrays in (("inputs", program.inputs), ("results", program.outputs)):
        if arrays:
            yield f"  {what}: {shortened(repeated([array_of(array) for array in arrays]))}"
    if not program.collectives:
        yield "  no collectives"
        return
    yield f"  {total_of(program)}"
    for line in repeated([collective_of(found) for found in program.collectives if found.asked]):
        yield f"    {line}"
    for line in repeated([collective_of(found) for found in program.unasked]):
        yield f"    {UNASKED}: {line}"


def exchange_lines(exchanges: Sequence[ExchangeReport]) -> Iterator[str]:
    """The lines of what several processes run together."""
    known = [found.moved for found in exchanges if found.moved is not None]
    least = "at least " if len(known) < len(exchanges) else ""
    each, together = sum([found.most for found in known]), sum([found.together for found in known])
    sent = moved(each, together, "process", "processes")
    yield f"{count(len(exchanges), 'exchange')} between processes, {least}{sent}"
    for line in repeated([exchange_of(found) for found in exchanges]):
        yield f"  {line}"


def exchange_of(found: ExchangeReport) -> str:
    """What several processes run together, in a line."""
    at = "" if found.location is None else f" at {found.location}"
    operands = f" {', '.join(found.operands)}" if found.operands else ""
    sent = "by the sizes of the call" if found.moved is None else sent_by(found.moved.most, found.moved.together)
    return f"{found.operation}{operands} among {count(len(found.ranks), 'process', 'processes')}: {sent}{at}"


def heading_of(program: ProgramReport) -> str:
    """What was compiled, and for which devices."""
    part = f", {program.part}, {times(program.times)}" if program.part else ""
    return f"{program.what}{part} on {program.devices} devices{mesh_of(program)}"


def total_of(program: ProgramReport) -> str:
    """How many collectives a program has, and how much all of them move."""
    least = "at least " if any(found.runs is None for found in program.collectives) else ""
    sent = moved(program.bytes_each, program.bytes_together)
    return f"{count(len(program.collectives), 'collective')}, {least}{sent}"


def mesh_of(program: ProgramReport) -> str:
    """The mesh of a program, behind what stands before it."""
    return "" if program.mesh is None else f", {' x '.join([f'{name} {size}' for name, size in program.mesh.items()])}"


def array_of(array: SpreadArray) -> str:
    """An input or a result of a program on several devices, and where it lies."""
    name = f"{array.name}: " if array.name else ""
    if array.placement.is_whole:
        return f"{name}{array.type!r} whole on each"
    return f"{name}{array.type!r} as {array.placement.layout}"


def collective_of(found: CollectiveReport) -> str:
    """A collective, in a line: what, how much, and where it comes from."""
    where = "; ".join([f"{name} at {at}" if at else name for name, at in found.operations]) or "no known line"
    return f"{moving(found)}; {where}"


def moving(found: CollectiveReport) -> str:
    """A collective: what, and how much."""
    sizes = sorted({len(group) for group in found.instruction.groups})
    among = f"among {' or '.join(map(str, sizes))}"
    if found.axes is not None:
        among = f"along {', '.join(found.axes)}"
    elif found.kind == "collective-permute":
        among = f"of {count(len(found.instruction.groups), 'pair')}"
    runs = found.runs
    often = "" if runs == 1 else ", in a loop of unknown length" if runs is None else f", {times(runs)}"
    often += "" if found.instruction.is_sure else ", in a branch"
    result = shortened(repeated(list(found.instruction.result)))
    return f"{found.kind} {result} {among}{often}: {sent_by(found.bytes_each, found.bytes_together)}"


def moved(each: float, together: float, one: str = "device", all: str = "devices") -> str:
    """How many bytes are sent."""
    return f"{size(each)} from each {one}, {size(together)} from all {all}"


def sent_by(each: float, together: float) -> str:
    """The same, shorter."""
    return f"{size(each)} from each, {size(together)} in all"


def size(count: float) -> str:
    """A number of bytes in the unit that fits."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 10_000 or unit == "GB":
            break
        count /= 1000
    return f"{count:.0f} {unit}"


def repeated(items: list[str]) -> list[str]:
    """Each item once, with how often it is there."""
    return [item if number == 1 else f"{number} x {item}" for item, number in Counter(items).items()]


def earlier_lines(function: FunctionReport) -> Iterator[str]:
    """The compilations of graphs that were made before what a report is about."""
    shown = {graph.number for graph in function.graphs}
    for made in function.compilations:
        if made.graph not in shown:
            yield f"graph {made.graph}, compiled by XLA: {compilation_of(made.compilation)}"


def compilation_of(made: Compilation) -> str:
    """What XLA compiled, and how long it took."""
    parts = f" ({made.parts} executables)" if made.parts > 1 else ""
    return f"{made.what} in {duration(made.seconds)}{parts}"


def break_lines(broken: BreakReport) -> Iterator[str]:
    """The lines of one break: what, where, the source line with carets, why, what to do."""
    site = broken.site
    if broken.refused:
        yield f"not compiled [{site.kind}] at {site.location}"
    else:
        yield f"break [{site.kind}] at {site.location}, run {times(broken.count)}"
    yield from _indented(excerpt(site.location), "    ")
    yield from labelled("why", site.why)
    if site.do:
        yield from labelled("do", site.do)


def labelled(label: str, value: str) -> Iterator[str]:
    """A text of one or more lines behind a label; its own indentation is kept."""
    first, *rest = value.splitlines() or [""]
    yield f"  {label + ':':4} {first}"
    yield from rest


def totals(report: Findings | FunctionReport) -> str:
    """How many graphs, breaks and recompiles there are."""
    parts = [
        count(len(report.graphs), "graph"),
        count(len(report.breaks), "break"),
        count(len(report.recompiles), "recompile"),
    ]
    if report.further:
        parts.append(count(len(report.further), "further compilation"))
    if report.refusals:
        parts.append(f"not compiled at {count(len(report.refusals), 'place')}")
    return ", ".join(parts)


def reason(graph: GraphReport) -> str:
    """Why a graph was made."""
    return f"recompiled, {graph.event.reason}" if graph.is_recompile else graph.event.reason


def extent_of(graph: GraphReport) -> str:
    """From where to where a graph goes; "" for the whole function."""
    starts, ends = graph.event.starts, graph.event.ends
    if starts is None and ends is None:
        return ""
    first = "from the start of the function" if starts is None else f"from {short(starts)}"
    return f"{first} to its end" if ends is None else f"{first} to the break at {short(ends.location)}"


def short(location: Location) -> str:
    """A place, without the folder of its file."""
    return str(replace(location, file=os.path.basename(location.file)))


def guarded(graph: GraphReport) -> list[str]:
    """What the guards of a graph guard, each once."""
    return list(dict.fromkeys(graph.event.guards.values()))


def shortened(items: list[str]) -> str:
    """The first items of a list, and how many more there are."""
    rest = len(items) - _SHOWN
    return ", ".join(items) if rest <= 1 else f"{', '.join(items[:_SHOWN])} and {rest} more"


def count(number: int, noun: str, several: str = "") -> str:
    """A number of things, the noun in the plural unless there is one."""
    return f"{number} {noun if number == 1 else several or f'{noun}s'}"


def times(number: int) -> str:
    """How often."""
    return "once" if number == 1 else f"{number} times"


def times_of(graph: GraphReport) -> str:
    """How long a graph took to make."""
    captured = f"captured in {duration(graph.event.seconds)}"
    first_run = graph.event.first_run
    return f"{captured}, compiled and first run in {duration(first_run)}" if first_run else captured


def duration(seconds: float) -> str:
    """A time in the unit that fits."""
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.1f} ms"


def _indented(lines: Iterator[str] | list[str], indent: str) -> Iterator[str]:
    for line in lines:
        yield indent + line
