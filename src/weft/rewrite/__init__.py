"""Rewriting networks: `construct` as a tree of statements that can be inserted, replaced and erased.

`SymbolTree.create` reads the source of a network and flattens it to statements of one operation each. Each is a
`Node`, whose arguments and targets are `ScopedValue`. `get_code` gives the source of the changed network, `get_network`
an instance of it, which shares the sub-cells and parameters of the original. `PatternEngine` replaces all nodes that a
`PatternNode` matches by what a `Replacement` makes.

The files: `sources` reads functions, `flatten` takes their expressions apart, `building` makes nodes of statements
(`node`, whose arguments `places` finds) in `blocks`, of which `uses` knows who gives and reads each name. `grown` holds
those of a cell (`attributes`: what that has), `tree` changes them, and `undo` takes refused changes back. `project` is
what the trees of one network share. `module` makes the new classes and `rebuilding` the new cells; `names` decides what
is called how (`numbered`: what is free), `parameters` the names of parameters. `tables` prints, `pattern` finds and
replaces, `values` and `checks` are about arguments.
"""

from weft.rewrite.node import Node, NodeType
from weft.rewrite.pattern import PatternEngine, PatternNode, Replacement, VarNode
from weft.rewrite.tree import SymbolTree, TreeNodeHelper
from weft.rewrite.values import ScopedValue, ValueType

__all__ = [
    "Node",
    "NodeType",
    "PatternEngine",
    "PatternNode",
    "Replacement",
    "ScopedValue",
    "SymbolTree",
    "TreeNodeHelper",
    "ValueType",
    "VarNode",
]
