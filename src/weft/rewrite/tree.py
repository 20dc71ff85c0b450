"""SymbolTree: the statements of a network, to be read, changed and made a network again."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from weft.nn.cell import Cell
from weft.rewrite import tables
from weft.rewrite.blocks import Block
from weft.rewrite.checks import each_of, one_of
from weft.rewrite.grown import Grown
from weft.rewrite.module import Module
from weft.rewrite.node import Node, NodeType
from weft.rewrite.parameters import note_names
from weft.rewrite.project import Project
from weft.rewrite.sources import Unreadable, name_for, names_made
from weft.rewrite.values import expression_of


class Position(NamedTuple):
    """Where a node is to be inserted, as `SymbolTree.before` and `SymbolTree.after` give it."""

    tree: SymbolTree
    node: Node
    after: bool


class SymbolTree(Grown):
    """The statements of a network as nodes. `SymbolTree.create` makes it.

    Args:
        handler: what it shares with the trees of the other cells.
        network: the cell.

    Example:
        >>> from weft import nn
        >>> from weft.rewrite import SymbolTree
        >>> net = nn.SequentialCell(nn.Dense(2, 3), nn.ReLU())
        >>> [node.get_node_type().name for node in SymbolTree.create(net).nodes()]
        ['Input', 'CallFunction', 'ControlFlow', 'Output']
    """

    def __init__(self, handler: Project, network: Cell) -> None:
        super().__init__(handler, network)
        self._file_name = "./network_define.py"

    @classmethod
    def create(cls, network: Cell) -> SymbolTree:
        """The tree of a network.

        The source of `construct` is read and flattened: each operation becomes a statement, and a node. Cells of
        the program's own that it calls get trees of their own, functions and methods of the program are taken apart
        as well. What is not understood becomes a node of type `NodeType.Python`, and stays as it is.

        Args:
            network: the network, which is not changed.

        Returns:
            SymbolTree: its tree.

        Raises:
            TypeError: `network` is no Cell.
            RuntimeError: there is no source of its `construct`.

        Example:
            >>> from weft import nn
            >>> from weft.rewrite import SymbolTree
            >>> SymbolTree.create(3)
            Traceback (most recent call last):
            ...
            TypeError: For 'SymbolTree', the type of 'network' should be 'Cell', but got type 'int'.
        """
        one_of("SymbolTree", "network", network, Cell)
        note_names(network)
        try:
            return cls(Project(), network)
        except Unreadable as error:
            raise RuntimeError(f"SymbolTree.create: {type(network).__name__} cannot be rewritten: {error}") from None

    # -- reading ---------------------------------------------------------------------------------------

    def get_handler(self) -> SymbolTree:
        """The tree itself."""
        return self

    def get_origin_network(self) -> Cell:
        """The network that the tree was made of."""
        return self.network

    def nodes(self, all_nodes: bool = False) -> Iterator[Node]:
        """The nodes in the order of their statements.

        Args:
            all_nodes: also those inside control flow, functions, containers and cells of the program's own.

        Returns:
            a generator of nodes.

        Raises:
            TypeError: `all_nodes` is no bool.
        """
        one_of("nodes", "all_nodes", all_nodes, bool)
        if not all_nodes:
            yield from list(self.block.nodes)
            return
        for tree in self._trees():
            for block in tree._blocks():
                yield from list(block.nodes)

    def all_nodes(self, subtree_nodes: bool = True) -> Iterator[Node]:
        """All nodes, by default with those of the cells of the program's own."""
        for tree in self._trees() if subtree_nodes else [self]:
            for block in tree._blocks():
                yield from list(block.nodes)

    def get_node(self, node_name: str) -> Node | None:
        """The node of a name, also one inside control flow or a function; None where there is none."""
        one_of("SymbolTree", "node_name", node_name, str)
        return next((node for block in self._blocks() for node in block.nodes if node.name == node_name), None)

    def get_inputs(self) -> list[Node]:
        """The nodes of the arguments."""
        return [node for node in self.block.nodes if node.node_type is NodeType.Input]

    def unique_name(self, name: str = "output") -> str:
        """A name that no variable of `construct` has; it counts as taken then.

        Args:
            name: what it begins with.

        Returns:
            str: the name, with a number where it is taken.

        Raises:
            TypeError: `name` is no str.
            ValueError: no name can begin with it.
        """
        one_of("SymbolTree", "name", name, str)
        if not name.isidentifier():
            raise ValueError(f"For 'SymbolTree', 'name' should be a name such as a variable has, but got '{name}'.")
        self.variables.taken |= self.block.locals
        return self.variables.unique(name)

    # -- changing --------------------------------------------------------------------------------------

    def before(self, node: Node | str) -> Position:
        """The position before a node, for `insert`.

        Args:
            node: the node, or its name.

        Raises:
            TypeError: it is neither.
            RuntimeError: it was not inserted, or there is none of the name.
        """
        return _beside(self, node, after=False)

    def after(self, node: Node | str) -> Position:
        """The position after a node, for `insert`.

        Args:
            node: the node, or its name.

        Raises:
            TypeError: it is neither.
            RuntimeError: it was not inserted, or there is none of the name.
        """
        return _beside(self, node, after=True)

    def insert(self, position: Position, node: Node) -> Node:
        """Insert a node that `Node.create_...` made.

        Args:
            position: where, from `before` or `after`.
            node: the node; its name gets a number where it is taken.

        Returns:
            Node: the node.

        Raises:
            TypeError: an argument is of another type.
            ValueError: the position is of another tree, the node was inserted already, or there is an argument of the
                name already.
            RuntimeError: a statement is to stand before an argument of the network, or in a container.
        """
        one_of("SymbolTree", "position", position, Position)
        one_of("SymbolTree", "node", node, Node)
        if position.tree is not self:
            raise ValueError(
                f"Position is not in current SymbolTree, node:{type(position.tree.network).__name__}, "
                f"current: {type(self.network).__name__}. It is beside {position.node.name} of another tree; "
                "use `before` or `after` of the tree that inserts."
            )
        if node.block is not None:
            raise ValueError(f"Node in the SymbolTree cannot be inserted into SymbolTree again: {node.name}")
        with self.project.journal.whole_or_not():
            self.project.journal.keep(node)
            return self._insert(position, node)

    def _insert(self, position: Position, node: Node) -> Node:
        there, block = position.node, position.node.block
        if block is None:
            raise ValueError(f"the position is beside {there.name}, which was erased")
        if block.shown:
            raise RuntimeError(f"{there.name} is a cell in a container, where no statement can be inserted")
        if node.node_type is NodeType.Input:
            return self._insert_input(position, node)
        if _is_argument(there) and not (position.after and _is_last_argument(there)):
            raise RuntimeError("Can not insert a node before or between parameters:", there.name)
        if node.statement is not None:
            return self._insert_again(position, node)
        held = node.node_type is not NodeType.CallFunction
        node.name = self._unique_node(node.name, attribute=held)
        node.block = block
        if held:
            self._hold(node.name, node.instance)
        if node.node_type is NodeType.Tree:
            try:
                node.sub_tree = self._sub_tree(node.instance, whole=True)
            except Unreadable as error:
                raise RuntimeError(f"{node.name} cannot be taken apart: {error}; leave is_sub_net out") from None
        node.statement = node._make_statement()
        self.project.journal.add(block.locals, names_made(node.statement))
        _put(position, block, node)
        return node

    def _insert_again(self, position: Position, node: Node) -> Node:
        """Insert a node that was erased from this tree."""
        if node.origin is not self or node.node_type is NodeType.ControlFlow:
            raise ValueError(f"{node.name} cannot be inserted again: that needs a simple statement of this tree")
        node.block = position.node.block
        assert node.block is not None
        _put(position, node.block, node)
        return node

    def _insert_input(self, position: Position, node: Node) -> Node:
        there, block = position.node, position.node.block
        assert block is not None
        arguments = block.arguments
        if arguments is None or there.node_type is not NodeType.Input or not position.after:
            raise RuntimeError("an argument of the network can only be inserted after an argument:", there.name)
        names = [str(target) for target in node.wanted[0]]
        if any(isinstance(each, ast.arg) and each.arg in names for each in ast.walk(arguments)):
            raise ValueError(f"For 'SymbolTree', the network has an argument '{names[0]}' already.")
        made, insert = ast.arg(names[0]), self.project.journal.insert
        default = [expression_of(each, lambda value: name_for(f"{names[0]}_default", value)) for each in node.wanted[1]]
        if there.statement in arguments.kwonlyargs:
            at = arguments.kwonlyargs.index(there.statement) + 1
            insert(arguments.kwonlyargs, at, made)
            insert(arguments.kw_defaults, at, default[0] if default else None)
        else:
            positional = arguments.args if there.statement in arguments.args else arguments.posonlyargs
            at = positional.index(there.statement) + 1  # type: ignore[arg-type]
            count = len(arguments.posonlyargs) + len(arguments.args)
            index = at + (len(arguments.posonlyargs) if positional is arguments.args else 0)
            before = index - (count - len(arguments.defaults))
            if default:
                if before < 0:
                    raise RuntimeError(f"the argument {names[0]} has a default, so those after it need one, too")
                insert(arguments.defaults, before, default[0])
            elif before > 0:
                raise RuntimeError(f"the argument {names[0]} stands after one with a default, so it needs one, too")
            insert(positional, at, made)
        node.name, node.block, node.statement = self._unique_node(node.name), block, made
        block.put(block.nodes.index(there) + 1, node)
        self.project.journal.add(block.locals, {made.arg})
        return node

    def erase(self, node: Node | str) -> Node | None:
        """Erase a node and its statement.

        Args:
            node: the node, or its name.

        Returns:
            Node: the node.

        Raises:
            TypeError: it is neither.
            RuntimeError: it is no node of this tree, an argument of the network, or a cell in a container.
        """
        found = self._own(node)
        block = found.block
        assert block is not None
        if _is_argument(found) or block.shown:
            raise RuntimeError(f"erase node failed, node {found.name} not in function ast tree.")
        statement: Any = found.statement
        journal = self.project.journal
        partners = block.nodes if found.is_control_flow else [found]
        if all(each is found or each.statement is not statement for each in partners):
            journal.delete(block.body, block.body.index(statement))
        else:
            assert found.inner is not None
            while found.inner.body:
                journal.delete(found.inner.body, 0)
        block.take_out(found)
        journal.keep(found)
        found.block, found.origin = None, self
        return found

    erase_node = erase

    def replace(self, old_node: Node, new_nodes: Sequence[Node]) -> Node:
        """Put nodes in the place of one; which results they use and give is left to their arguments and targets.

        Args:
            old_node: the node, which is erased.
            new_nodes: what comes instead, in this order.

        Returns:
            Node: the last of them.

        Raises:
            TypeError: an argument is of another type.
            ValueError: there are no new nodes.
            RuntimeError: `old_node` is no node of this tree.
        """
        one_of("SymbolTree", "old_node", old_node, Node)
        one_of("SymbolTree", "new_nodes", new_nodes, list, tuple)
        each_of("SymbolTree", "new_nodes", new_nodes, Node)
        if not new_nodes:
            raise ValueError("SymbolTree.replace needs at least one new node; to leave one out, erase it")
        if _is_argument(self._own(old_node)):
            raise RuntimeError(f"{old_node.name} is an argument of the network, which cannot be replaced")
        with self.project.journal.whole_or_not():
            for node in new_nodes:
                self.insert(self.before(old_node), node)
            self.erase(old_node)
        return new_nodes[-1]

    def set_output(self, index: int, return_value: str) -> Node:
        """Let the last return statement return another name.

        Args:
            index: which argument of the statement: 0.
            return_value: the name.

        Returns:
            Node: of the statement.

        Raises:
            TypeError: an argument is of another type.
            ValueError: there is no argument of that index, or nothing has the name.
            RuntimeError: there is no return statement.
        """
        one_of("SymbolTree", "index", index, int)
        one_of("SymbolTree", "return_value", return_value, str)
        first = return_value.partition(".")[0]
        if first.isidentifier() and first not in self.block.locals and self.source.home_of(first) is None:
            raise ValueError(f"For 'SymbolTree', 'return_value' should be a variable, but nothing is named '{first}'.")
        for node in reversed(self.block.nodes):
            if node.node_type is NodeType.Output:
                node.set_arg(index, return_value)
                return node
        raise RuntimeError("Current node has no output")

    # -- what comes of it ------------------------------------------------------------------------------

    def print_node_tabulate(self, all_nodes: bool = False) -> None:
        """Print a table of the nodes: types, names, statements, and which uses the results of which.

        Args:
            all_nodes: also tables of what is inside control flow, functions, containers and cells.

        Raises:
            TypeError: `all_nodes` is no bool.
        """
        one_of("print_node_tabulate", "all_nodes", all_nodes, bool)
        trees = self._trees() if all_nodes else [self]
        blocks = [block for tree in trees for block in (_in_order(tree.block) if all_nodes else [tree.block])]
        print("".join(map(tables.table_of, blocks)))

    def dump(self) -> None:
        """Print the nodes as a text in the style of a graph."""
        print(tables.dump_of(self.block, type(self.network).construct.__name__))

    def get_code(self) -> str:
        """The source of the module with the rewritten network, its sub-cells and functions."""
        return Module(self).text

    def get_network(self) -> Cell:
        """The rewritten network.

        It shares the sub-cells, parameters and other attributes with the original one, so training the one trains
        the other. Its source is saved in the folder `rewritten_network`, where that can be written.

        Returns:
            Cell: an instance of a class that inherits from that of the original.
        """
        return Module(self).network()

    def set_saved_file_name(self, file_name: str) -> None:
        """Set the file of `save_network_to_file`; ".py" is added where it is missing."""
        one_of("SymbolTree", "file_name", file_name, str)
        self._file_name = file_name if file_name.endswith(".py") else f"{file_name}.py"

    def get_saved_file_name(self) -> str:
        """The file of `save_network_to_file`."""
        return self._file_name

    def save_network_to_file(self) -> None:
        """Write `get_code()` to the file of `get_saved_file_name()`."""
        with open(os.path.abspath(self._file_name), "w", encoding="utf-8") as file:
            file.write(self.get_code())

    def _own(self, node: Node | str) -> Node:
        one_of("SymbolTree", "node", node, Node, str)
        found = self.get_node(node) if isinstance(node, str) else node
        if found is None or found.block is None or found.block.tree is not self:
            name = node if isinstance(node, str) else node.name
            raise RuntimeError("Node is not belong to current SymbolTree: ", name)
        return found


class TreeNodeHelper:
    """What older releases ask for the tree of a node of type `NodeType.Tree`."""

    @staticmethod
    def get_sub_tree(node: Node) -> SymbolTree:
        """The tree of the cell that a node calls: `Node.get_sub_tree`.

        Args:
            node: the node.

        Returns:
            SymbolTree: to be rewritten like any.

        Raises:
            TypeError: it is no `Node`, or one of another type.
        """
        one_of("TreeNodeHelper", "node", node, Node)
        found: SymbolTree = node.get_sub_tree()
        return found


def _put(position: Position, block: Block, node: Node) -> None:
    """Put a node and its statement beside another one."""
    there = position.node
    assert isinstance(node.statement, ast.stmt)
    at = 0 if _is_argument(there) else block.body.index(there.statement) + position.after  # type: ignore[arg-type]
    block.journal.insert(block.body, at, node.statement)
    index = block.nodes.index(there) + position.after
    while 0 < index < len(block.nodes) and block.nodes[index - 1].statement is block.nodes[index].statement:
        index += 1 if position.after else -1  # not between `if` and `else`
    block.put(index, node)


def _beside(tree: Any, node: Node | str, after: bool) -> Position:
    one_of("SymbolTree", "node", node, Node, str)
    if isinstance(node, Node) and node.block is not None:
        tree = node.block.tree
    return Position(tree, tree._own(node), after)


def _is_argument(node: Node) -> bool:
    return isinstance(node.statement, ast.arg)


def _is_last_argument(node: Node) -> bool:
    assert node.block is not None
    return [each for each in node.block.nodes if _is_argument(each)][-1] is node


def _in_order(block: Block) -> list[Block]:
    """A block and those inside, as tables show them."""
    found, waiting = [block], [block]
    while waiting:
        inner = [node.inner for node in waiting.pop().nodes if node.inner is not None]
        waiting += [each for each in inner if each not in found]
        found += [each for each in inner if each not in found]
    return found
