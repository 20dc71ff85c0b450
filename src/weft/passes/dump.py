"""Writes graphs to files while they are optimised (`save_graphs`)."""

from __future__ import annotations

import threading
from pathlib import Path

from weft import context
from weft.ir.graph import Graph
from weft.ir.text import format_graph, graph_name

_names: dict[str, int] = {}
_lock = threading.Lock()


class GraphFiles:
    """The files of one compilation: ``<folder>/<graph name>_<number>_<pass>.ir``.

    A second compilation of a graph with the same name in this process writes ``<graph name>.1_...``, and so on.

    Args:
        folder: where to write; made if it is missing.
        name: name of the graph.
    """

    def __init__(self, folder: str | Path, name: str) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        with _lock:
            copy = _names.get(name, 0)
            _names[name] = copy + 1
        self.name = f"{name}.{copy}" if copy else name
        self.number = 0

    def __call__(self, stage: str, graph: Graph) -> None:
        """Write the graph as it is after a stage."""
        path = self.folder / f"{self.name}_{self.number:02}_{stage}.ir"
        path.write_text(format_graph(graph), encoding="utf-8")
        self.number += 1


def from_context(graph: Graph) -> GraphFiles | None:
    """The files that `save_graphs` asks for, or None."""
    if not context.get_context("save_graphs"):
        return None
    return GraphFiles(context.get_context("save_graphs_path"), graph_name(graph))
