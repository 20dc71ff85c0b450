"""A report as a page: one HTML file without scripts, that loads nothing.

The user's source stands in three columns: the graphs that each line went into, the line in the colour of its graph, and
in the margin what ran in Python and what was compiled again. The graphs follow, folded.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from weft.errors import Location, span
from weft.explain import text
from weft.explain.findings import BreakReport, Findings, FunctionReport, GraphReport
from weft.explain.source import SourceBlock, SourceLine, blocks_of
from weft.explain.spread import ProgramReport
from weft.explain.style import COLOURS, STYLE

#: links to graphs beside one line, before the rest is counted
_CHIPS: Final = 3
#: recompiles shown in the margin of one line, the latest ones
_NOTES: Final = 5
#: pictures of the inputs of a program on several devices, and of its results
_PICTURES: Final = 16
_HEAD: Final = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>{style}</style>
</head>
<body>"""


def page_of(report: Findings) -> str:
    """The page of a report."""
    return "\n".join(_page(report)) + "\n"


def _page(report: Findings) -> Iterator[str]:
    names = ", ".join(dict.fromkeys(function.name for function in report.functions)) or "nothing was compiled"
    yield _HEAD.format(title=escape(f"weft: {text.shortened(names.split(', '))}"), style=STYLE)
    yield f"<header><h1>{escape(text.shortened(names.split(', ')))}</h1>"
    operations = sum(sum(graph.operations.values()) for graph in report.graphs)
    tiles = [
        (str(len(report.graphs)), "graphs"),
        (str(operations), "operations"),
        (str(len(report.breaks)), "breaks"),
        (str(len(report.recompiles)), "recompiles"),
        (text.duration(report.seconds), "to capture"),
    ]
    if report.refusals:
        tiles.insert(3, (str(len(report.refusals)), "not compiled"))
    yield "<ul class=tiles>"
    yield from (f"<li><b>{escape(value)}</b> {escape(label)}</li>" for value, label in tiles)
    yield "</ul></header>"
    for position, function in enumerate(report.functions, 1):
        yield from _Section(position, function).lines()
    yield "</body></html>"


class _Section:
    """The part of the page on one function.

    Args:
        position: 1 for the first function, for the names of links.
        function: the function.
    """

    def __init__(self, position: int, function: FunctionReport) -> None:
        self.position = position
        self.function = function
        #: a graph and its recompiles begin at the same place, and have one colour
        places: dict[Location | None, list[GraphReport]] = {}
        for graph in function.graphs:
            places.setdefault(graph.event.starts, []).append(graph)
        self.places = list(places.values())
        self.colours = {graph.number: index % COLOURS for index, graphs in enumerate(self.places) for graph in graphs}

    def lines(self) -> Iterator[str]:
        """The lines of the page."""
        function = self.function
        yield f'<section class=function id="f{self.position}">'
        where = "" if function.defined is None else f" <span class=path>{escape(str(function.defined))}</span>"
        yield f"<h2>{escape(function.name)}{where}</h2>"
        yield f"<div class=dim>{escape(text.totals(function))}</div>"
        if function.evicted:
            dropped = text.count(function.evicted, "compiled version")
            yield f"<p>{dropped} dropped: the setting <code>jit_cache_limit</code> is reached.</p>"
        yield from self._legend()
        for block in blocks_of(function):
            yield from self._block(block)
        if function.graphs:
            yield "<h3>Graphs</h3>"
        for graph in function.graphs:
            yield from self._graph(graph)
        yield "</section>"

    def _legend(self) -> Iterator[str]:
        yield "<ul class=legend>"
        for graphs in self.places:
            chips = "".join(self._chip(graph.number) for graph in graphs[:_CHIPS])
            more = f" and {len(graphs) - _CHIPS} more" if len(graphs) > _CHIPS else ""
            yield f"<li>{chips}{more} {escape(text.extent_of(graphs[0]) or 'the whole function')}</li>"
        if self.function.breaks or self.function.refusals:
            yield '<li><span class="key py">Python</span> runs outside the graphs</li>'
        yield "</ul>"

    def _chip(self, number: int, label: str = "graph ") -> str:
        colour = self.colours[number]
        return f'<a class="chip c{colour}" href="#f{self.position}g{number}" title="graph {number}">{label}{number}</a>'

    # -- source ------------------------------------------------------------------------------------------------------

    def _block(self, block: SourceBlock) -> Iterator[str]:
        yield f"<h3 class=path>{escape(block.file)}</h3>"
        yield "<ol class=source>"
        for line in block.lines:
            yield self._line(line)
        yield "</ol>"

    def _line(self, line: SourceLine) -> str:
        kind = "idle"
        if line.breaks:
            kind = "ran py"
        elif line.graphs:
            kind = f"ran c{self.colours[line.graphs[0]]}"
        chips = "".join(self._chip(number, "") for number in line.graphs[:_CHIPS])
        if len(line.graphs) > _CHIPS:
            chips += f'<span class="dim">+{len(line.graphs) - _CHIPS}</span>'
        if line.breaks:
            chips += '<span class="key py">Python</span>'
        notes = "".join(self._recompile(graph) for graph in line.begins[-_NOTES:])
        if len(line.begins) > _NOTES:
            notes = f"<p class=dim>{len(line.begins) - _NOTES} earlier recompiles</p>{notes}"
        notes += "".join(_break(broken) for broken in line.breaks)
        if line.unasked:
            said = text.repeated([f"{what}: {text.moving(found)}" for what, found in line.unasked])
            shown = "".join(f"<p>{escape(each)}</p>" for each in said)
            notes += f'<div class="note again"><p class=title>collectives {text.UNASKED}</p>{shown}</div>'
        margin = f"<div class=margin>{notes}</div>" if notes else ""
        layout = "" if notes else " plain"
        return (
            f'<li class="line {kind}{layout}"><span class=number>{line.number}</span><span class=where>{chips}</span>'
            f"<pre>{_marked(line)}</pre>{margin}</li>"
        )

    def _recompile(self, graph: GraphReport) -> str:
        return (
            f'<div class="note again"><p class=title>recompiled: {self._chip(graph.number)}</p>'
            f"<p>{escape(graph.event.reason)}</p></div>"
        )

    # -- graphs ------------------------------------------------------------------------------------------------------

    def _graph(self, graph: GraphReport) -> Iterator[str]:
        operations = graph.operations
        total = text.count(sum(operations.values()), "operation")
        again = '<span class="again-mark">recompiled</span> ' if graph.is_recompile else ""
        yield f'<details class="graph c{self.colours[graph.number]}" id="f{self.position}g{graph.number}">'
        yield (
            f"<summary><b>graph {graph.number}</b> {again}{escape(graph.event.reason)} "
            f"<span class=dim>{total}, {text.times_of(graph)}</span></summary><div>"
        )
        extent = text.extent_of(graph)
        if extent:
            yield f"<p class=path>{escape(extent)}</p>"
        if operations:
            yield "<h3>Operations</h3><div class=bars>"
            most = max(operations.values())
            for name, times in operations.items():
                width = f"width:{100 * times / most:.0f}%"
                yield f'<span>{escape(name)}</span><span class=times>{times}</span><i style="{width}"></i>'
            yield "</div>"
        for heading, items in (("Inputs", graph.inputs), ("Outputs", graph.outputs), ("Guards", text.guarded(graph))):
            if items:
                yield f"<h3>{heading}</h3><ul class=compact>"
                yield from (f"<li>{escape(item)}</li>" for item in items)
                yield "</ul>"
        for program in graph.programs:
            yield from _program(program)
        if graph.exchanges:
            heading, *lines = text.exchange_lines(graph.exchanges)
            yield f"<h3>{escape(heading)}</h3><ul class=compact>"
            yield from (f"<li>{escape(line.strip())}</li>" for line in lines)
            yield "</ul>"
        yield f"<h3>Text</h3><pre class=text>{escape(graph.text)}</pre></div></details>"


def _program(program: ProgramReport) -> Iterator[str]:
    """A program on several devices: where its arrays lie, with pictures, and its collectives."""
    yield f"<h3>{escape(text.heading_of(program))}</h3>"
    for what, arrays in (("input", program.inputs), ("result", program.outputs)):
        pictures = {f"{what} {text.array_of(array)}": array for array in arrays}
        for number, (line, array) in enumerate(pictures.items()):
            if number == _PICTURES:
                yield f"<p class=dim>and {text.count(len(pictures) - _PICTURES, f'further {what}')}</p>"
                break
            yield f"<details><summary>{escape(line)}</summary><pre class=text>{escape(array.picture())}</pre></details>"
    yield f"<p>{escape(text.total_of(program))}</p><ul class=compact>"
    for line in text.repeated([text.collective_of(found) for found in program.collectives if found.asked]):
        yield f"<li>{escape(line)}</li>"
    for line in text.repeated([text.collective_of(found) for found in program.unasked]):
        yield f'<li><span class="again-mark">{text.UNASKED}</span> {escape(line)}</li>'
    yield "</ul>"


def _marked(line: SourceLine) -> str:
    """The text of a line, with what a break runs underlined."""
    spans = sorted(found for broken in line.breaks if (found := span(broken.site.location, line.text)) is not None)
    parts, done = [], 0
    for start, end in spans:
        if start >= done:
            parts.append(f"{escape(line.text[done:start])}<span class=at>{escape(line.text[start:end])}</span>")
            done = end
    return "".join(parts) + escape(line.text[done:])


def _break(broken: BreakReport) -> str:
    site = broken.site
    title = f"not compiled: {site.kind}" if broken.refused else f"break: {site.kind}, run {text.times(broken.count)}"
    todo = f"<p class=todo><b>do</b> {escape(site.do)}</p>" if site.do else ""
    return (
        f'<div class="note py"><p class=title>{escape(title)}</p>'
        f"<p class=path>line {_place(broken)}</p><p><b>why</b> {escape(site.why)}</p>{todo}</div>"
    )


def _place(broken: BreakReport) -> str:
    location = broken.site.location
    column = "" if location.column is None else f", column {location.column + 1}"
    return f"{location.line}{column}"
