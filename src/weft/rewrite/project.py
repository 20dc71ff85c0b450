"""What the trees of one network share: the functions of the generated module, its classes, and the trees themselves."""

from __future__ import annotations

from typing import Any

from weft.rewrite.blocks import Block
from weft.rewrite.numbered import numbered
from weft.rewrite.sources import Source
from weft.rewrite.undo import Journal


class Expanded:
    """A function of the program that is taken apart.

    Args:
        source: its definition.
        name: what its nodes are called.
    """

    def __init__(self, source: Source, name: str) -> None:
        self.source = source
        self.name = name
        #: its statements; None while they are being read, as where it calls itself
        self.block: Block | None = None


class Project:
    """What the trees of one network share."""

    def __init__(self) -> None:
        #: the tree of each cell, by the identity of the cell; None for a cell without source
        self.trees: dict[int, Any] = {}
        self.functions: dict[Any, Expanded] = {}
        self._defined: set[str] = set()
        self._numbers: dict[str, int] = {}
        #: where changes of the trees are noted
        self.journal = Journal()

    def define(self, name: str) -> str:
        """A name for a function or class that no other one of the network has: the given one, or with a number."""
        found = numbered(name, self._defined.__contains__, self._numbers)
        self.journal.add(self._defined, {found})
        self.journal.note(self._numbers.clear)
        return found
