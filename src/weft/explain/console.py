"""A report on the terminal, with colours and frames where `rich` is installed."""

from __future__ import annotations

import importlib
from typing import Any

from weft.errors import excerpt
from weft.explain import text
from weft.explain.findings import BreakReport, Findings, FunctionReport


def print_report(report: Findings) -> None:
    """Print a report."""
    try:
        console = importlib.import_module("rich.console").Console()
    except ModuleNotFoundError:
        print(report)
        return
    print_rich(report, console)


def print_rich(report: Findings, console: Any) -> None:
    """Print a report on a console of `rich`."""
    styled = importlib.import_module("rich.text").Text
    if not report.functions:
        console.print("nothing was compiled")
    for function in report.functions:
        where = "" if function.defined is None else f"  {function.defined}"
        console.print(styled.assemble((function.name, "bold"), (where, "dim"), f"  {text.totals(function)}"))
        if function.graphs:
            console.print(_graphs(function))
        for graph in function.graphs:
            for number, line in enumerate(text.devices_lines(graph)):
                style = "yellow" if text.UNASKED in line else ""
                console.print(styled(line if number else f"graph {graph.number}: {line}", style=style), soft_wrap=True)
        for line in text.earlier_lines(function):
            console.print(line)
        for broken in (*function.breaks, *function.refusals):
            console.print(_break(broken))
        if function.evicted:
            dropped = text.count(function.evicted, "compiled version")
            console.print(f"{dropped} dropped, jit_cache_limit is reached", style="yellow")


def _graphs(function: FunctionReport) -> Any:
    styled = importlib.import_module("rich.text").Text
    table = importlib.import_module("rich.table").Table(box=importlib.import_module("rich.box").SIMPLE)
    for heading, justify in (("graph", "right"), ("made", "left"), ("operations", "left"), ("guards", "right")):
        table.add_column(heading, justify=justify)
    table.add_column("captured", justify="right", no_wrap=True)
    for graph in function.graphs:
        counts = [f"{name} {number}" for name, number in graph.operations.items()]
        made = "\n".join(filter(None, (text.reason(graph), text.extent_of(graph))))
        table.add_row(
            str(graph.number),
            styled(made, style="yellow" if graph.is_recompile else ""),
            styled(f"{sum(graph.operations.values())}: {text.shortened(counts)}"),
            str(len(graph.event.guards)),
            text.duration(graph.event.seconds),
        )
    return table


def _break(broken: BreakReport) -> Any:
    styled = importlib.import_module("rich.text").Text
    site = broken.site
    body = styled()
    for number, line in enumerate(excerpt(site.location)):
        body.append(line + "\n", style="bold red" if number else "bold")
    for label, value in (("why", site.why), ("do", site.do)):
        if value:
            body.append("\n".join(text.labelled(label, value)) + "\n")
    body.rstrip()
    title = styled(f"{'not compiled' if broken.refused else 'break'} [{site.kind}] at {site.location}")
    footer = None if broken.refused else styled(f"run {text.times(broken.count)}")
    panel = importlib.import_module("rich.panel").Panel
    return panel(body, title=title, title_align="left", subtitle=footer, subtitle_align="right", border_style="red")
