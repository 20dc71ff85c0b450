"""Blocks: bodies of statements, and the nodes that stand in them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

from weft.rewrite.values import ValueType

if TYPE_CHECKING:
    from weft.rewrite.node import Node


class Owner(Protocol):
    """What nodes ask of the tree that they belong to; `Grown` says what each of these is."""

    network: Any

    def _unique_node(self, name: str, attribute: bool = False) -> str: ...
    def _sub_tree(self, cell: Any, whole: bool = False) -> Any: ...
    def _function(self, function: Any) -> tuple[str, Block | None] | None: ...
    def _method(self, bound: Any) -> Block | None: ...
    def _keep(self, value: Any) -> str: ...


class Block:
    """The nodes of one body of statements.

    Args:
        tree: the tree that they belong to.
        title: of the body, for tables.
        body: the statements.
        locals: names of variables of the function.
    """

    def __init__(self, tree: Owner, title: str, body: list[ast.stmt], locals: set[str]) -> None:
        self.tree = tree
        self.title = title
        self.body = body
        self.locals = locals
        self.nodes: list[Node] = []
        #: the block around the body of a control flow statement
        self.outer: Block | None = None
        #: the arguments of the function; None for a body inside
        self.arguments: ast.arguments | None = None
        #: what the function calls its cell; None for a function that has none
        self.self_name: str | None = None
        #: whether the statements only show what a container computes
        self.shown = False
        self._providers: dict[Node, dict[int, tuple[Node, int]]] | None = None

    def cell_name(self, what: str) -> str:
        """What the function calls its cell, of which something is to be an attribute."""
        if self.self_name is None:
            raise RuntimeError(
                f"{what} cannot become an attribute in {self.title}, which is no method of a cell; "
                "call a function there, or insert the statement where the network calls it"
            )
        return self.self_name

    def keep(self, value: Any) -> ast.expr:
        """Make a value an attribute of the rewritten network; returns the expression for it."""
        cell = ast.Name(self.cell_name(repr(value)), ast.Load())
        return ast.Attribute(cell, self.tree._keep(value), ast.Load())

    def in_order(self) -> Iterator[Node]:
        """The nodes of the function in which the block stands, in the order of their statements."""
        return self.root._with_inner()

    @property
    def root(self) -> Block:
        """The block of the function in which the block stands."""
        return self if self.outer is None else self.outer.root

    def _with_inner(self) -> Iterator[Node]:
        for node in self.nodes:
            yield node
            if node.inner is not None and node.inner.outer is self:
                yield from node.inner._with_inner()

    def providers(self) -> dict[Node, dict[int, tuple[Node, int]]]:
        """For each node, which of its arguments a node before it computes: the last that assigns the name."""
        if self._providers is not None:
            return self._providers
        found: dict[Node, dict[int, tuple[Node, int]]] = {}
        last: dict[str, tuple[Node, int]] = {}
        for node in self.nodes:
            values = [*node.get_args(), *node.get_kwargs().values()]
            names = [str(each) if each.type is ValueType.NamingValue else "" for each in values]
            found[node] = {index: last[name] for index, name in enumerate(names) if name in last}
            last.update((str(each), (node, index)) for index, each in enumerate(node.get_targets()))
        self._providers = found
        return found

    def forget(self) -> None:
        """Something about the nodes has changed."""
        self._providers = None
