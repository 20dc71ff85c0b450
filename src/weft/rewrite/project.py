"""What the trees of one network share: the names of the generated module, its functions, and the trees themselves."""

from __future__ import annotations

import ast
from typing import Any

from weft.rewrite.names import Names
from weft.rewrite.node import Block
from weft.rewrite.sources import Source


class Expanded:
    """A function of the program that is taken apart.

    Args:
        source: its definition.
        name: what it is called in the generated module.
    """

    def __init__(self, source: Source, name: str) -> None:
        self.source = source
        self.name = name
        #: its statements; None while they are being read, as where it calls itself
        self.block: Block | None = None


class Project:
    """What the trees of one network share."""

    def __init__(self) -> None:
        self.names = Names()
        #: the tree of each cell, by the identity of the cell; None for a cell without source
        self.trees: dict[int, Any] = {}
        self.functions: dict[Any, Expanded] = {}

    def definitions(self) -> list[ast.FunctionDef]:
        """The functions of the generated module."""
        return [each.source.definition for each in self.functions.values()]
