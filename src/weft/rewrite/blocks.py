"""Blocks: the bodies of statements in which nodes stand."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from typing import Any, Protocol

from weft.rewrite.places import Place
from weft.rewrite.undo import Journal
from weft.rewrite.uses import Uses


class Owner(Protocol):
    """What nodes ask of the tree that they belong to; `Grown` says what each of these is."""

    network: Any
    project: Any

    def _unique_node(self, name: str, attribute: bool = False) -> str: ...
    def _sub_tree(self, cell: Any, whole: bool = False) -> Any: ...
    def _function(self, function: Any) -> tuple[str, Block | None] | None: ...
    def _method(self, bound: Any, name: str) -> Block | None: ...
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
        #: the nodes (`Node`) in the order of their statements
        self.nodes: list[Any] = []
        #: the block around the body of a control flow statement
        self.outer: Block | None = None
        #: the arguments of the function; None for a body inside
        self.arguments: ast.arguments | None = None
        #: what the function calls its cell; None for a function that has none
        self.self_name: str | None = None
        #: whether the statements only show what a container computes
        self.shown = False
        self._uses: Uses | None = None

    @property
    def journal(self) -> Journal:
        """Where changes of the network are noted."""
        found: Journal = self.tree.project.journal
        return found

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

    def in_order(self) -> Iterator[Any]:
        """The nodes of the function in which the block stands, in the order of their statements."""
        return self.root._with_inner()

    @property
    def root(self) -> Block:
        """The block of the function in which the block stands."""
        return self if self.outer is None else self.outer.root

    def bodies(self) -> Iterator[Block]:
        """The block itself, and the bodies of the control flow inside."""
        yield self
        for node in self.uses.control_flow:
            yield from node.inner.bodies()

    def _with_inner(self) -> Iterator[Any]:
        for node in self.nodes:
            yield node
            if node.inner is not None and node.inner.outer is self:
                yield from node.inner._with_inner()

    def providers(self) -> dict[Any, dict[int, tuple[Any, int]]]:
        """For each node, which of its arguments a node before it computes: the last that assigns the name."""
        return {node: self.uses.providers(node) for node in self.nodes}

    @property
    def uses(self) -> Uses:
        """Which of the nodes give names their values, and which read them."""
        if self._uses is None:
            self._uses = Uses(self.nodes)
        return self._uses

    def put(self, index: int, node: Any) -> None:
        """Put in a node that has its statement."""
        self.journal.insert(self.nodes, index, node)
        self.journal.note(self.forget)
        if self._uses is not None and not self._uses.insert(self.nodes, index):
            self.forget()

    def take_out(self, node: Any) -> None:
        """Take out a node."""
        self.journal.delete(self.nodes, self.nodes.index(node))
        self.journal.note(self.forget)
        if self._uses is not None:
            self._uses.remove(node)

    def write(self, node: Any, place: Place, expression: ast.expr) -> None:
        """Write an argument of a node."""
        self.journal.note(functools.partial(place.write, place.read()))
        self.journal.note(self.forget)
        place.write(expression)
        if self._uses is not None:
            self._uses.change(node)

    def forget(self) -> None:
        """The nodes, or their statements, are others."""
        self._uses = None
