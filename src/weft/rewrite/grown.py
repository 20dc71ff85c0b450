"""The statements of one cell, as they were read and as they grow: what `SymbolTree` shows."""

from __future__ import annotations

import ast
import functools
from typing import Any, Self

from weft.nn.cell import Cell
from weft.rewrite.attributes import attribute_of, attributes_assigned, is_answered
from weft.rewrite.blocks import Block
from weft.rewrite.building import CONTAINERS, Builder, owner_of, source_of
from weft.rewrite.checks import one_of
from weft.rewrite.numbered import numbered, spelled
from weft.rewrite.project import Expanded, Project
from weft.rewrite.sources import UNKNOWN, Source, Unreadable, mangled, plain

#: attributes by which a cell goes through its sub-cells
_ALL_CELLS = frozenset({"_cells", "cells", "name_cells", "cells_and_names"})


class Grown:
    """The statements of one cell.

    Args:
        handler: what it shares with the trees of the other cells.
        network: the cell.

    Raises:
        Unreadable: there is no source of its `construct`.
    """

    def __init__(self, handler: Project, network: Cell) -> None:
        one_of("SymbolTree", "handler", handler, Project)
        self.project = handler
        self.network = network
        self._node_names: set[str] = set()
        self._numbers: dict[bool, dict[str, int]] = {False: {}, True: {}}
        #: what statements were made with, by the name of the attribute that it is to be
        self.kept: dict[str, Any] = {}
        #: methods of the cell that are taken apart: construct and those that it calls
        self.methods: dict[str, tuple[Source, Block | None]] = {}
        source = source_of(type(network), "construct")
        if plain(network.__dict__.get("construct", source.function)) is not source.function:
            raise Unreadable("its construct was replaced on the instance; define it in the class")
        self.source = source
        handler.journal.put(handler.trees, id(network), self)
        self.class_name = handler.define(f"{spelled(type(network).__name__)}Opt")
        self.methods["construct"] = (source, None)
        builder = Builder(self, source)
        self.variables = builder.flattener
        self.block = builder.function(self.class_name)
        self.methods["construct"] = (source, self.block)

    def _blocks(self) -> list[Block]:
        """The block of `construct` and those inside, but not of other trees."""
        found: dict[Block, None] = {}
        waiting = [self.block]
        while waiting:
            block = waiting.pop()
            if block not in found:
                found[block] = None
                waiting += [node.inner for node in block.nodes if node.inner is not None]
        return list(found)

    def _trees(self) -> list[Self]:
        """This tree and those of the cells that it calls, each once."""
        found: list[Self] = []
        known, waiting = {self}, [self]
        while waiting:
            tree = waiting.pop()
            found.append(tree)
            met = [node.sub_tree for block in tree._blocks() for node in block.nodes if node.sub_tree is not None]
            new = [each for each in dict.fromkeys(met) if each not in known]
            known.update(new)
            waiting += reversed(new)
        return found

    # -- what the nodes are made with ------------------------------------------------------------------

    def _sub_tree(self, cell: Any, whole: bool = False) -> Self | None:
        """The tree of a cell of the program's own; None for one of the library, or without source.

        Args:
            cell: the cell; one object has one tree.
            whole: whatever the cell is; what stands in the way is raised.

        Returns:
            the tree.

        Raises:
            Unreadable: there is no source, and `whole`.
        """
        trees = self.project.trees
        defining = owner_of(type(cell), "construct")
        if trees.get(id(cell)) is None and (whole or (defining is not None and not _is_library(defining))):
            try:
                return type(self)(self.project, cell)
            except Unreadable:
                if whole:
                    raise
                self.project.journal.put(trees, id(cell), None)
        found: Self | None = trees.get(id(cell))
        return found

    def _function(self, function: Any) -> tuple[str, Block | None] | None:
        """A function of the program, taken apart once: its name in the generated module, and its statements.

        Args:
            function: the function.

        Returns:
            tuple: name and statements; None for one that is decorated, has variables around it, or no source.
        """
        functions = self.project.functions
        if function not in functions:
            try:
                source = Source(function)
            except Unreadable:
                return None
            if plain(function) is not function or function.__closure__ or source.definition.decorator_list:
                return None
            made = Expanded(source, self.project.define(source.definition.name))
            self.project.journal.put(functions, function, made)
            made.block = Builder(self, source).function(made.name)
        return functions[function].name, functions[function].block

    def _method(self, bound: Any, name: str) -> Block | None:
        """The statements of a method, called by a name, that the cell's class itself defines; None for another one."""
        function = plain(bound)
        cls = self._defining
        own = bound.__self__ is self.network or bound.__self__ is type(self.network)
        name = name if plain(cls.__dict__.get(name)) is function else mangled(function.__name__, cls)
        if not own or plain(cls.__dict__.get(name)) is not function:
            return None
        if name not in self.methods:
            try:
                source = Source(cls.__dict__[name], cls, name)
            except Unreadable:
                return None
            self.methods[name] = (source, None)
            self.methods[name] = (source, Builder(self, source).function(f"{self.class_name}.{name}"))
        return self.methods[name][1]

    @property
    def _defining(self) -> type:
        """The class whose `construct` the tree is of."""
        return owner_of(type(self.network), "construct") or type(self.network)

    # -- what they are changed with --------------------------------------------------------------------

    def _unique_node(self, name: str, attribute: bool = False) -> str:
        """A name that no node of the tree has, nor an attribute of the network if it is to become one."""
        numbers = self._numbers[attribute]
        found = numbered(name, lambda each: each in self._node_names or (attribute and self._has(each)), numbers)
        self.project.journal.add(self._node_names, {found})
        self.project.journal.note(numbers.clear)
        return found

    def _keep(self, value: Any) -> str:
        """A name for a value that is to be an attribute of the rewritten network."""
        for name, kept in self.kept.items():
            if kept is value:
                return name
        found = numbered(f"arg_{spelled(type(value).__name__)}", self._has)
        self._hold(found, value)
        return found

    def _hold(self, name: str, value: Any) -> None:
        """Note an attribute that the rewritten network is to have.

        Raises:
            RuntimeError: it is a cell, and would be one of those that the network goes through.
        """
        if isinstance(value, Cell) and self._goes_through_cells:
            kind = type(self.network).__name__
            raise RuntimeError(
                f"{kind} goes through all its cells, of which {name} would be one; insert a cell where {kind} is "
                "called, such as in a cell around it, or a function here"
            )
        self.project.journal.put(self.kept, name, value)

    @functools.cached_property
    def _goes_through_cells(self) -> bool:
        """Whether the network is a container of cells, or reads all its cells at once."""
        own = self.network.__dict__.keys() - {"_cells"}
        return isinstance(self.network, CONTAINERS) or bool((_ALL_CELLS - own) & self._attributes())

    def _attributes(self) -> set[str]:
        """The attributes of the network of which the statements speak."""
        return {
            node.attr
            for source, _ in self.methods.values()
            for node in ast.walk(source.definition)
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == source.self_name
        }

    @property
    def _added(self) -> dict[str, Any]:
        """The attributes that were added to the network, by name: those of which its statements speak."""
        used = self._attributes()
        return {name: value for name, value in self.kept.items() if name in used}

    def _has(self, name: str) -> bool:
        network = self.network
        held = name in self.kept or hasattr(type(network), name) or attribute_of(network, name) is not UNKNOWN
        return held or name in self._assigned or is_answered(network, name)

    @functools.cached_property
    def _assigned(self) -> frozenset[str]:
        """The attributes that methods of the network assign, perhaps not yet."""
        return attributes_assigned(type(self.network))


def _is_library(cls: type) -> bool:
    return cls.__module__.partition(".")[0] == "weft"
