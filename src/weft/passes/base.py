"""What a pass is, and the table of all passes."""

from __future__ import annotations

import re
from typing import ClassVar

from weft.ir.graph import Graph

_KEBAB = re.compile(r"[a-z]+(-[a-z]+)*")


class Pass:
    """Base of the passes: frozen dataclasses whose fields are the pass's limits.

    A subclass with a `name` registers itself.
    """

    name: ClassVar[str] = ""
    table: ClassVar[dict[str, type[Pass]]] = {}

    def __init_subclass__(cls) -> None:
        name = cls.__dict__.get("name", "")
        if not _KEBAB.fullmatch(name):
            raise ValueError(f"{cls.__name__}: the name of a pass is words-joined-by-dashes, not {name!r}")
        if Pass.table.setdefault(name, cls).__qualname__ != cls.__qualname__:
            raise ValueError(f"pass {name!r} is declared twice")
        Pass.table[name] = cls  # a frozen dataclass with slots is made twice; the last one counts

    def apply(self, graph: Graph) -> Graph:
        """Rewrite a valid graph in place.

        Args:
            graph: the graph; its regions are rewritten as well.

        Returns:
            Graph: the same object.
        """
        raise NotImplementedError
