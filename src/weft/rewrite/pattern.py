"""Patterns of nodes, and their replacement."""

from __future__ import annotations

import abc
import types
from collections import OrderedDict
from collections.abc import Sequence
from itertools import product
from typing import Any

from weft.nn.cell import Cell
from weft.rewrite.checks import each_of, one_of
from weft.rewrite.node import Node, NodeType
from weft.rewrite.places import chains_read, chains_written, is_part
from weft.rewrite.tree import SymbolTree


class PatternNode:
    """One node of a pattern.

    Args:
        pattern_node_name: its name, by which `Replacement.build` finds the node that it matched.
        match_type: the class of what the node calls.
        inputs: the nodes that compute its arguments; none for any.

    Raises:
        TypeError: an argument is of another type.

    Example:
        >>> from weft import nn
        >>> from weft.rewrite import PatternNode
        >>> act = PatternNode("act", nn.ReLU, [PatternNode("conv", nn.Conv2d)])
        >>> act.name(), act.type().__name__, [each.name() for each in act.get_inputs()]
        ('act', 'ReLU', ['conv'])
    """

    def __init__(
        self, pattern_node_name: str, match_type: Any = types.NoneType, inputs: Sequence[PatternNode] | None = None
    ) -> None:
        one_of("PatternNode", "pattern_node_name", pattern_node_name, str)
        if not callable(match_type):
            raise TypeError(
                f"For 'PatternNode', the type of 'match_type' should be a class or a function, but got '{match_type}' "
                f"with type '{type(match_type).__name__}'."
            )
        self._name = pattern_node_name
        self._type = match_type
        self._inputs: list[PatternNode] = []
        if inputs is not None:
            self.set_inputs(list(inputs))

    @staticmethod
    def from_node(node: Node) -> PatternNode:
        """A pattern node that matches nodes like one.

        Args:
            node: the node.

        Raises:
            TypeError: it is no `Node`.
        """
        one_of("PatternNode", "node", node, Node)
        return PatternNode(node.get_name(), node.get_instance_type())

    @staticmethod
    def create_pattern_from_node(node: Node) -> PatternNode:
        """The pattern of a node and of all that it is computed from.

        Args:
            node: the node.

        Raises:
            TypeError: it is no `Node`.
        """
        made = PatternNode.from_node(node)
        made.set_inputs([
            PatternNode.create_pattern_from_node(each) if each.get_node_type() is not NodeType.Input else VarNode()
            for each in node.get_inputs()
        ])  # fmt: skip
        return made

    @staticmethod
    def create_pattern_from_list(type_list: Sequence[Any]) -> PatternNode:
        """The pattern of a chain of nodes, each of which uses the result of the one before.

        Args:
            type_list: the classes of what they call, in order.

        Raises:
            TypeError: it is no list.
            ValueError: it is empty.
        """
        one_of("PatternNode", "type_list", type_list, list, tuple)
        if not type_list:
            raise ValueError("a pattern needs at least one type")
        last: PatternNode | None = None
        for index, kind in enumerate(type_list):
            last = PatternNode(f"{index}-{kind}", kind, [] if last is None else [last])
        assert last is not None
        return last

    def add_input(self, node: PatternNode) -> None:
        """Add a node that computes an argument."""
        one_of("PatternNode", "node", node, PatternNode)
        self._inputs.append(node)

    def set_inputs(self, inputs: list[PatternNode]) -> None:
        """Set the nodes that compute the arguments."""
        each_of("PatternNode", "inputs", inputs, PatternNode)
        self._inputs = list(inputs)

    def get_inputs(self) -> list[PatternNode]:
        """The nodes that compute the arguments."""
        return self._inputs

    def name(self) -> str:
        """The name of the pattern node."""
        return self._name

    def type(self) -> Any:
        """The class of what a matching node calls."""
        return self._type

    def match(self, node: Node) -> bool:
        """Whether a node calls what the pattern node asks for.

        Args:
            node: the node.

        Raises:
            TypeError: it is no `Node`.
        """
        one_of("PatternNode", "node", node, Node)
        return bool(node.get_instance_type() == self._type)


class VarNode(PatternNode):
    """A pattern node that matches every node, and an argument that no node computes."""

    def __init__(self) -> None:
        super().__init__("placeholder", Cell)

    def match(self, node: Node) -> bool:
        """Whether a node matches: always.

        Args:
            node: the node.
        """
        one_of("PatternNode", "node", node, Node)
        return True


class Replacement(abc.ABC):
    """What comes in the place of nodes that a pattern matched.

    Example:
        >>> from weft import nn
        >>> from weft.rewrite import Node, Replacement
        >>> class Smooth(Replacement):
        ...     def build(self, pattern, is_chain_pattern, matched):
        ...         act = matched[pattern.name()]
        ...         return [Node.create_call_cell(nn.GELU(), act.get_targets(), act.get_args())]
    """

    @abc.abstractmethod
    def build(self, pattern: PatternNode, is_chain_pattern: bool, matched: OrderedDict[str, Node]) -> list[Node]:
        """The new nodes.

        Args:
            pattern: the last node of the pattern.
            is_chain_pattern: whether the pattern was given as a list.
            matched: the matched nodes by the names of the pattern's nodes.

        Returns:
            list: the new nodes, in order; none to leave the matched ones.
        """


class PatternEngine:
    """Replaces what a pattern matches.

    Args:
        pattern: the last node of a pattern, or a list of classes, for a chain.
        replacement: makes the new nodes.

    Raises:
        TypeError: an argument is of another type.

    Example:
        >>> from weft import nn
        >>> from weft.rewrite import PatternEngine, Replacement
        >>> class Nothing(Replacement):
        ...     def build(self, pattern, is_chain_pattern, matched):
        ...         return []
        >>> PatternEngine([nn.Conv2d, nn.ReLU], Nothing()).pattern().type().__name__
        'ReLU'
    """

    def __init__(self, pattern: PatternNode | list[Any], replacement: Replacement | None = None) -> None:
        one_of("PatternEngine", "replacement", replacement, Replacement)
        one_of("PatternEngine", "pattern", pattern, PatternNode, list)
        self._replacement: Any = replacement
        if isinstance(pattern, PatternNode):
            self._pattern = pattern
        else:
            self._pattern = PatternNode.create_pattern_from_list(pattern)
        self._is_chain = not isinstance(pattern, PatternNode)

    def pattern(self) -> PatternNode:
        """The last node of the pattern."""
        return self._pattern

    def apply(self, stree: SymbolTree) -> bool:
        """Replace what the pattern matches in each body of a tree, the last first, and of the trees of its cells.

        The nodes of a match stand in one body: of `construct`, of a method, or of a control flow statement. Only they
        use the results of those before the last of them, and what they read is not assigned anew before the last of
        them, where the new nodes come. Cells in containers and functions are left as they are.

        Args:
            stree: the tree.

        Returns:
            bool: whether something was replaced.

        Raises:
            TypeError: `stree` is no `SymbolTree`.
        """
        one_of("PatternEngine", "stree", stree, SymbolTree)
        trees = stree._trees()
        with stree.project.journal.whole_or_not():
            return any([self._apply(tree) for tree in trees])  # noqa: C419 - to all of them

    def _apply(self, tree: SymbolTree) -> bool:
        """Replace what the pattern matches in the bodies of one tree."""
        replaced: set[Node] = set()
        bodies = [block.nodes for block in tree._blocks() if block.self_name is not None and not block.shown]
        for node in [node for body in bodies for node in reversed(body)]:
            matched: OrderedDict[str, Node] = OrderedDict()
            free: set[Node] = set()
            if node in replaced or not self._matches(self._pattern, node, matched, free):
                continue
            found = set(matched.values())
            if not replaced.isdisjoint(found) or not free.isdisjoint(_erased(node, found)):
                continue
            if not _is_closed(node, found) or not _can_be_computed_at(node, found):
                continue
            new = self._replacement.build(self._pattern, self._is_chain, matched)
            if not new:
                continue
            each_of("PatternEngine", "new_nodes", new, Node)
            tree.replace(node, new)
            replaced |= found
            for other in _erased(node, found):
                tree.erase(other)
        return bool(replaced)

    def _matches(self, pattern: PatternNode, node: Node, matched: OrderedDict[str, Node], free: set[Node]) -> bool:
        """Whether a node matches, and which others do; `free` are those that compute arguments that may be any."""
        if not pattern.match(node):
            return False
        inputs = node.get_inputs()
        wanted = pattern.get_inputs()
        if wanted:
            if len(wanted) != len(inputs):
                return False
            if not all(self._matches(*pair, matched, free) for pair in zip(wanted, inputs, strict=True)):
                return False
        else:
            free.update(inputs)
        if isinstance(pattern, VarNode):
            free.add(node)
        else:
            matched[pattern.name()] = node
        return True


def _erased(last: Node, found: set[Node]) -> list[Node]:
    """The nodes of a match that are erased when the last of them is replaced."""
    return [each for each in found - {last} if each.get_node_type() is not NodeType.Input]


def _can_be_computed_at(last: Node, found: set[Node]) -> bool:
    """Whether what the nodes of a match read has the same values where the last of them stands."""
    block = last.block
    assert block is not None
    end = block.nodes.index(last)
    for each in _erased(last, found):
        read = chains_read(each.statement)
        between = [other for other in block.nodes[block.nodes.index(each) + 1 : end] if other not in found]
        if any(is_part(*pair) for other in between for pair in product(chains_written(other.statement), read)):
            return False
    return True


def _is_closed(last: Node, found: set[Node]) -> bool:
    """Whether no statement outside a match uses what is erased with it."""
    return not any(_is_read_elsewhere(each, found) for each in _erased(last, found))


def _is_read_elsewhere(node: Node, found: set[Node]) -> bool:
    """Whether what a node computes may be read outside a match."""
    block, names = node.block, node.names_of_targets()
    assert block is not None
    if not all(map(str.isidentifier, names)):
        return True  # an attribute or an item, which anything may read
    if not found.issuperset(block.uses.readers(node)):
        return True
    last = [name for name in names if not block.uses.is_given_anew(node, name)]
    return block.outer is not None and any(
        body.uses.mentions(name, before=node if body is block else None)
        for name in last
        for body in block.root.bodies()
    )
