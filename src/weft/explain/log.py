"""Graphs, breaks, recompiles and collectives as log lines of the logger ``weft.jit``.

A line is at level DEBUG (graphs, compilations by XLA, collectives) or INFO (breaks, recompiles), as in any library.
The kinds of event that the context setting ``jit_log`` or the environment variable ``WEFT_LOG`` names are at level
WARNING, which shows without any set-up of `logging`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from weft import context, lazily
from weft.capture.state import events
from weft.capture.state.events import EARLIER, BreakSite, Compiled, Event, History
from weft.core.trace import CONSTANT
from weft.errors import excerpt
from weft.explain.text import UNASKED, collective_of, count, duration, heading_of, repeated, total_of

if TYPE_CHECKING:
    from weft.explain import spread
else:
    spread = lazily.deferred("weft.explain.spread")

logger: Final = logging.getLogger("weft.jit")


def line_of(history: History, event: Event) -> str:
    """The log line of an event."""
    if isinstance(event, BreakSite):
        source = next(iter(excerpt(event.location)), "")
        shown = f" `{source.strip()}`" if source else ""
        todo = " ".join(event.do.split())
        return (
            f"break in {history.name} [{event.kind}] at {event.location}:{shown}; "
            f"{event.why}{f'; {todo}' if todo else ''}"
        )
    if isinstance(event, Compiled):
        made = event.compilation
        return f"XLA compiled {history.name} (graph {event.graph}): {made.what}, {duration(made.seconds)}"
    number = event.number
    operations = 0 if event.reason == EARLIER else sum(1 for node in event.graph.walk() if node.op is not CONSTANT)
    size = f"{count(operations, 'operation')}, captured in {duration(event.seconds)}"
    if event.reason == EARLIER:
        return f"found {history.name} (graph {number}) in the compile cache"
    if not event.is_recompile:
        where = "" if event.starts is None else f" from {event.starts}"
        return f"compiled {history.name} (graph {number}){where}: {size}"
    return f"recompiled {history.name} (graph {number}): {event.reason}; {size}"


def collective_lines(history: History, event: Compiled) -> Iterator[str]:
    """The log lines of the collectives that nobody asked for, and one for all of each program on several devices."""
    for program in spread.programs_of([event.compilation]):
        of = f"{history.name} (graph {event.graph}): {heading_of(program)}"
        yield f"{of}: {total_of(program)}"
        for line in repeated([collective_of(found) for found in program.unasked]):
            yield f"{of}, {UNASKED}: {line}"


def _log(history: History, event: Event) -> None:
    if isinstance(event, BreakSite):
        kind, level = "breaks", logging.INFO
    elif isinstance(event, Compiled):
        kind, level = "compilations", logging.DEBUG
    elif not event.is_recompile:
        kind, level = "graphs", logging.DEBUG
    else:
        kind, level = "recompiles", logging.INFO
    if kind in context.get_context("jit_log").split(","):
        level = logging.WARNING
    if logger.isEnabledFor(level):
        logger.log(level, "%s", line_of(history, event))
    if isinstance(event, Compiled) and event.compilation.programs:
        asked = "collectives" in context.get_context("jit_log").split(",")
        level = logging.WARNING if asked else logging.DEBUG
        if logger.isEnabledFor(level):
            for line in collective_lines(history, event):
                logger.log(level, "%s", line)


events.listeners.append(_log)
