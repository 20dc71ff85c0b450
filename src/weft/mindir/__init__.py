"""Networks as files that run without the program that made them: `export`, `load` and `GraphCell`."""

from weft.mindir.exporting import export
from weft.mindir.graph_cell import GraphCell
from weft.mindir.reading import load

__all__ = ["GraphCell", "export", "load"]
