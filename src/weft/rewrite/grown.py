"""The statements of one cell, as they were read and as they grow: what `SymbolTree` shows."""

from __future__ import annotations

from typing import Any, Self

from weft.nn.cell import Cell
from weft.rewrite.building import Builder, attribute_of, owner_of, source_of
from weft.rewrite.checks import one_of
from weft.rewrite.node import Block
from weft.rewrite.project import Expanded, Project
from weft.rewrite.sources import UNKNOWN, Source, Unreadable, plain


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
        #: what was inserted, by the name of the attribute that it becomes
        self.added: dict[str, Any] = {}
        #: methods of the cell that are taken apart: construct and those that it calls
        self.methods: dict[str, tuple[Source, Block | None]] = {}
        source = source_of(type(network), "construct")
        if plain(network.__dict__.get("construct", source.function)) is not source.function:
            raise Unreadable("its construct was replaced on the instance; define it in the class")
        handler.trees[id(network)] = self
        self.class_name = handler.names.define(f"{type(network).__name__}Opt")
        self.methods["construct"] = (source, None)
        builder = Builder(self, source)
        self.variables = builder.flattener
        self.block = builder.function(self.class_name)
        self.methods["construct"] = (source, self.block)

    def blocks(self) -> list[Block]:
        """The block of `construct` and those inside, but not of other trees."""
        found: list[Block] = []
        waiting = [self.block]
        while waiting:
            block = waiting.pop()
            if block not in found:
                found.append(block)
                waiting += [node.inner for node in block.nodes if node.inner is not None]
        return found

    def trees(self) -> list[Self]:
        """This tree and those of the cells that it calls, each once."""
        found: list[Any] = [self]
        for tree in found:
            met = [node.sub_tree for block in tree.blocks() for node in block.nodes if node.sub_tree is not None]
            at = found.index(tree) + 1
            found[at:at] = [each for each in dict.fromkeys(met) if each not in found]
        return found

    # -- what the nodes are made with ------------------------------------------------------------------

    def sub_tree(self, cell: Any, whole: bool = False) -> Self | None:
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
                trees[id(cell)] = None
        found: Self | None = trees.get(id(cell))
        return found

    def function(self, function: Any) -> tuple[str, Block | None] | None:
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
            if plain(function) is not function or source.around or source.definition.decorator_list:
                return None
            made = functions[function] = Expanded(source, self.project.names.define(source.definition.name))
            source.definition.name = made.name
            made.block = Builder(self, source).function(made.name)
        return functions[function].name, functions[function].block

    def method(self, bound: Any) -> Block | None:
        """The statements of a method that the cell's class itself defines; None for another one."""
        function = plain(bound)
        name, cls = function.__name__, self.defining
        if plain(cls.__dict__.get(name)) is not function:
            return None
        if name not in self.methods:
            try:
                source = Source(function, cls)
            except Unreadable:
                return None
            self.methods[name] = (source, None)
            self.methods[name] = (source, Builder(self, source).function(f"{self.class_name}.{name}"))
        return self.methods[name][1]

    def bind(self, source: Source) -> None:
        """Bind what a function reads in the generated module."""
        self.project.names.bind_all(source)

    @property
    def defining(self) -> type:
        """The class whose `construct` the tree is of."""
        return owner_of(type(self.network), "construct") or type(self.network)

    # -- what they are changed with --------------------------------------------------------------------

    def unique_node(self, name: str, attribute: bool = False) -> str:
        """A name that no node of the tree has, nor an attribute of the network if it is to become one."""
        found, count = name, 0
        while found in self._node_names or (attribute and self._has(found)):
            count += 1
            found = f"{name}_{count}"
        self._node_names.add(found)
        return found

    def keep(self, value: Any) -> str:
        """Make a value an attribute of the rewritten network; returns the attribute's name."""
        for name, added in self.added.items():
            if added is value:
                return name
        base = f"arg_{type(value).__name__}"
        found, count = base, 0
        while self._has(found):
            count += 1
            found = f"{base}_{count}"
        self.added[found] = value
        return found

    def name_function(self, function: Any, block: Block) -> str:
        """What a function that a new node calls is named in the generated module."""
        name = getattr(function, "__name__", type(function).__name__)
        name = name if name.isidentifier() else "function"  # as of a lambda
        return self.project.names.bind(name, {name: function}, avoid=block.locals)

    def _has(self, name: str) -> bool:
        held = name in self.added or hasattr(type(self.network), name)
        return held or attribute_of(self.network, name) is not UNKNOWN


def _is_library(cls: type) -> bool:
    return cls.__module__.partition(".")[0] == "weft"
