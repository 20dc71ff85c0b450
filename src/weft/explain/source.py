"""The user's source as a report shows it: the functions that ran, line by line, with what happened at each line."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable
from dataclasses import dataclass, field

from weft.explain.findings import BreakReport, FunctionReport, GraphReport
from weft.explain.spread import CollectiveReport


@dataclass(slots=True)
class SourceLine:
    """One line of the user's source.

    Args:
        number: 1-based line.
        text: the line, without its end.
        graphs: numbers of the graphs that it went into.
        breaks: what ran in Python, or was refused, here.
        begins: the graphs that begin here because an earlier one did not fit.
        unasked: the collectives that come from here and that the program did not ask for, each with what was compiled.
    """

    number: int
    text: str
    graphs: list[int] = field(default_factory=list)
    breaks: list[BreakReport] = field(default_factory=list)
    begins: list[GraphReport] = field(default_factory=list)
    unasked: list[tuple[str, CollectiveReport]] = field(default_factory=list)


@dataclass(slots=True)
class SourceBlock:
    """Successive lines of a file: one function, or several that touch.

    Args:
        file: path of the file.
        lines: its lines.
    """

    file: str
    lines: list[SourceLine]


def blocks_of(function: FunctionReport) -> list[SourceBlock]:
    """The source of all that a function's graphs and breaks ran: its own first, then by file and line."""
    table: dict[tuple[str, int], SourceLine] = {}

    def line(file: str, number: int) -> SourceLine:
        return table.setdefault((file, number), SourceLine(number, ""))

    own = function.defined
    for graph in function.graphs:
        for file, number in graph.lines:
            line(file, number).graphs.append(graph.number)
        begin = graph.event.starts or own
        if graph.is_recompile and begin is not None:
            line(begin.file, begin.line).begins.append(graph)
        for program in graph.programs:
            for found in program.unasked:
                for place in dict.fromkeys([(place.file, place.line) for place in found.locations]):
                    line(*place).unasked.append((program.what, found))
    for broken in (*function.breaks, *function.refusals):
        line(broken.site.location.file, broken.site.location.line).breaks.append(broken)
    if own is not None:
        line(own.file, own.line)
    blocks = []
    for file in sorted({file for file, _ in table}):
        source = linecache.getlines(file)
        wanted = [number for other, number in table if other == file]
        for first, last in ranges(source, wanted):
            lines = [line(file, number) for number in range(first, last + 1)]
            for shown in lines:
                shown.text = source[shown.number - 1].rstrip("\r\n") if shown.number <= len(source) else ""
            blocks.append(SourceBlock(file, lines))
    return sorted(blocks, key=lambda block: own is None or not _has(block, own.file, own.line))


def ranges(source: list[str], wanted: Iterable[int]) -> list[tuple[int, int]]:
    """The line ranges (first, last) of the functions around some lines, or of the statements outside functions.

    Args:
        source: lines of the file; lines beyond them stand for themselves.
        wanted: 1-based lines.

    Returns:
        list: ranges that do not overlap, in order.

    Example:
        >>> ranges(["def f():", "    return 1", "", "g = lambda: (", "    2)"], [2, 5])
        [(1, 2), (4, 5)]
    """
    statements = _statements("".join(line if line.endswith("\n") else line + "\n" for line in source))
    found = sorted({_around(statements, number) for number in wanted})
    merged: list[tuple[int, int]] = []
    for first, last in found:
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return merged


def _statements(text: str) -> list[tuple[bool, int, int]]:
    """(defines a function, first line, last line) of each statement."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            decorators = getattr(node, "decorator_list", [])
            first = min([node.lineno, *[decorator.lineno for decorator in decorators]])
            found.append((_is_function(node), first, node.end_lineno or node.lineno))
    return found


def _is_function(node: ast.stmt) -> bool:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return True
    return not hasattr(node, "body") and any(isinstance(part, ast.Lambda) for part in ast.walk(node))


def _around(statements: list[tuple[bool, int, int]], number: int) -> tuple[int, int]:
    around = [(is_function, first, last) for is_function, first, last in statements if first <= number <= last]
    candidates = [entry for entry in around if entry[0]] or around
    if not candidates:
        return number, number
    _, first, last = min(candidates, key=lambda entry: entry[2] - entry[1])
    return first, last


def _has(block: SourceBlock, file: str, number: int) -> bool:
    return block.file == file and any(line.number == number for line in block.lines)
