"""Nodes: the statements of a network."""

from __future__ import annotations

import ast
import textwrap
import types
from enum import Enum
from typing import Any

from weft.core.operators import Operator
from weft.nn.cell import Cell
from weft.rewrite.blocks import Block
from weft.rewrite.checks import by_name, each_of, identifier, index_of, one_of
from weft.rewrite.places import Place, assigns_call, names_assigned, places_in
from weft.rewrite.sources import name_for
from weft.rewrite.values import ScopedValue, ValueType, check_argument, check_target, expression_of, target_of, value_of


class NodeType(Enum):
    """What a statement of a network does.

    - `Unknown`: not known.
    - `CallCell`: calls a cell of the library, or one that was inserted as a whole.
    - `CallPrimitive`: calls an operator object.
    - `CallModule`: not used.
    - `CallFunction`: calls a function or a method.
    - `CallMethod`: makes a tuple, list or dict, takes an item, or gives a value a name.
    - `Python`: any other statement; it stays as it is.
    - `Input`: an argument of the network.
    - `Output`: returns.
    - `Tree`: calls a cell of the program's own, which has a `SymbolTree` of its own.
    - `CellContainer`: calls a `SequentialCell`, or reads a container of cells.
    - `MathOps`: computes with operators, as ``+``, ``<`` and ``not``.
    - `ControlFlow`: ``if``, ``else``, ``for`` or ``while``.
    """

    Unknown = 0
    CallCell = 1
    CallPrimitive = 2
    CallModule = 3
    CallFunction = 4
    CallMethod = 5
    Python = 6
    Input = 7
    Output = 8
    Tree = 9
    CellContainer = 10
    MathOps = 11
    ControlFlow = 12


class Node:
    """One statement of a network. `SymbolTree` makes those of a network; the functions `create_...` make new ones.

    Args:
        node_type: what the statement does.
        name: of the node, unique in its tree.
        statement: the statement; an argument for an input; None for a node that is not inserted yet.
        instance: the cell, operator or function that is called.

    Example:
        >>> from weft import nn
        >>> from weft.rewrite import Node, ScopedValue
        >>> node = Node.create_call_cell(nn.ReLU(), ["y"], [ScopedValue.create_naming_value("x")], name="act")
        >>> node.get_name(), node.get_node_type().name, node.get_targets(), node.get_args()
        ('act', 'CallCell', [y], [x])
    """

    def __init__(
        self, node_type: NodeType, name: str, statement: ast.stmt | ast.arg | None, instance: Any = None
    ) -> None:
        one_of("Node", "node_type", node_type, NodeType)
        self.node_type = node_type
        self.name = name
        self.statement = statement
        self.instance = instance
        #: where it stands; None for a node that is not inserted
        self.block: Block | None = None
        #: the tree that it was erased from
        self.origin: Any = None
        #: what it contains: the body of a control flow statement, of a function, the cells of a container
        self.inner: Block | None = None
        #: a `SymbolTree`, for a cell of the program's own
        self.sub_tree: Any = None
        #: targets, arguments and arguments by name of a node that is not inserted yet
        self.wanted: tuple[list[ScopedValue], list[ScopedValue], dict[str, ScopedValue]] = ([], [], {})
        self._attributes: dict[str, Any] | None = None

    # -- new nodes -------------------------------------------------------------------------------------

    @staticmethod
    def create_call_cell(
        cell: Cell | Operator,
        targets: list[ScopedValue | str],
        args: list[ScopedValue] | None = None,
        kwargs: dict[str, ScopedValue] | None = None,
        name: str = "",
        is_sub_net: bool = False,
    ) -> Node:
        """A node that calls a cell or an operator: ``targets = self.name(*args, **kwargs)``.

        Args:
            cell: what is called.
            targets: the names that get the result.
            args: the arguments.
            kwargs: the arguments by name.
            name: of the node and of the attribute; by default that of the cell's class. Where the network has it
                already, it gets a number when the node is inserted.
            is_sub_net: take the cell apart, so that its own statements can be rewritten.

        Returns:
            Node: to be inserted.

        Raises:
            TypeError: an argument is of another type.
            ValueError: a name cannot be one of an attribute, or a target or argument is no name.

        Example:
            >>> from weft import nn
            >>> from weft.rewrite import Node, ScopedValue
            >>> Node.create_call_cell(nn.ReLU(), ["x"], [ScopedValue.create_naming_value("x")]).get_name()
            'ReLU'
        """
        one_of("Node", "cell", cell, Cell, Operator)
        one_of("Node", "name", name, str)
        one_of("Node", "is_sub_net", is_sub_net, bool)
        name = name or type(cell).__name__
        identifier("Node", "name", name)
        if name.startswith("__"):
            raise ValueError(f"For 'Node', 'name' should not begin as private names do, but got '{name}'.")
        kind = NodeType.CallCell if isinstance(cell, Cell) else NodeType.CallPrimitive
        if is_sub_net and kind is NodeType.CallCell:
            kind = NodeType.Tree
        return _wanted(Node(kind, name, None, cell), "Node", targets, args, kwargs)

    @staticmethod
    def create_call_function(
        function: Any,
        targets: list[ScopedValue | str],
        args: list[ScopedValue] | None = None,
        kwargs: dict[str, ScopedValue] | None = None,
    ) -> Node:
        """A node that calls a function, which is not taken apart: ``targets = function(*args, **kwargs)``.

        Args:
            function: what is called: a function or a class.
            targets: the names that get the result.
            args: the arguments.
            kwargs: the arguments by name.

        Returns:
            Node: to be inserted.

        Raises:
            TypeError: an argument is of another type.
            ValueError: a target or argument is no name.

        Example:
            >>> from weft import ops
            >>> from weft.rewrite import Node, ScopedValue
            >>> Node.create_call_function(ops.abs, ["x"], [ScopedValue.create_naming_value("x")]).get_name()
            'abs'
        """
        where = "create_call_function"
        if not callable(function) or isinstance(function, (Cell, Operator)):
            one_of(where, "function", function, types.FunctionType, type, types.BuiltinFunctionType)
        name = getattr(function, "__name__", type(function).__name__)
        return _wanted(Node(NodeType.CallFunction, name, None, function), where, targets, args, kwargs)

    @staticmethod
    def create_input(param_name: str, default: ScopedValue | None = None) -> Node:
        """A node for one more argument of the network.

        Args:
            param_name: its name.
            default: what it is where it is not given.

        Returns:
            Node: to be inserted after an input.

        Raises:
            TypeError: an argument is of another type.
            ValueError: `param_name` is no name, or `default` is one.

        Example:
            >>> from weft.rewrite import Node
            >>> Node.create_input("mask").get_name()
            'input_mask'
        """
        one_of("Node", "param_name", param_name, str)
        identifier("Node", "param_name", param_name)
        if default is not None:
            one_of("Node", "default", default, ScopedValue)
            if default.type in (ValueType.NamingValue, ValueType.UnsupportedValue):
                raise ValueError(f"For 'Node', 'default' should be a value, but got the name '{default}'.")
        made = Node(NodeType.Input, f"input_{param_name}", None)
        made.wanted = ([ScopedValue.create_naming_value(param_name)], [] if default is None else [default], {})
        return made

    # -- what it is ------------------------------------------------------------------------------------

    def get_handler(self) -> Node:
        """The node itself."""
        return self

    def get_name(self) -> str:
        """The name of the node, unique in its tree once it is inserted."""
        return self.name

    def get_node_type(self) -> NodeType:
        """What the statement does."""
        return self.node_type

    def get_instance(self) -> Any:
        """The cell, operator or function that is called; None for other statements."""
        return self.instance

    def get_instance_type(self) -> Any:
        """The class of the cell or operator that is called, or the function; ``NoneType`` for other statements."""
        return self.instance if isinstance(self.instance, types.FunctionType) else type(self.instance)

    def get_symbol_tree(self) -> Any:
        """The `SymbolTree` that the node belongs to; None for one that is not inserted."""
        return None if self.block is None else self.block.tree

    def get_sub_tree(self) -> Any:
        """The tree of the cell that is called.

        Returns:
            SymbolTree: to be rewritten like any.

        Raises:
            TypeError: the node is of another type than `NodeType.Tree`.
            AttributeError: it is not inserted yet.
        """
        if self.node_type is not NodeType.Tree:
            raise TypeError(f"For get_sub_tree, the type of node should be 'NodeType.Tree', but got {self.node_type}")
        if self.sub_tree is None:
            raise AttributeError(f"the node {self.name} has no tree before it is inserted into one")
        return self.sub_tree

    def get_attributes(self) -> dict[str, Any]:
        """The attributes of what is called, and those set by `set_attribute`."""
        if self._attributes is None:
            own = getattr(self.instance, "__dict__", {}) if isinstance(self.instance, (Cell, Operator)) else {}
            self._attributes = {name: value for name, value in own.items() if not name.startswith("_")}
        return self._attributes

    def get_attribute(self, key: str) -> Any:
        """One of `get_attributes`; None where there is none of the name."""
        return self.get_attributes().get(key)

    def set_attribute(self, key: str, value: Any) -> None:
        """Note something on the node; the network does not change."""
        one_of("Node", "key", key, str)
        self.get_attributes()[key] = value

    # -- what it computes from what --------------------------------------------------------------------

    def get_targets(self) -> list[ScopedValue]:
        """The names that get the result."""
        match self.statement:
            case None:
                return list(self.wanted[0])
            case ast.arg(arg=name) if self.node_type is NodeType.Input:
                return [ScopedValue.create_naming_value(name)]
            case ast.Assign(targets=[target]) if self.node_type is not NodeType.Python:
                parts = list(names_assigned(target))
                values = [value_of(each) for each in parts]
                for index, each in enumerate(values):
                    each.part = target, index, len(parts)
                return values
        return []

    def get_args(self) -> list[ScopedValue]:
        """The arguments, without those by name."""
        if self.statement is None:
            return list(self.wanted[1])
        return [value_of(place.read()) for place in self._places()]

    def get_kwargs(self) -> dict[str, ScopedValue]:
        """The arguments by name; ``**more`` by the name "**more", which `Node.create_...` take, too."""
        if self.statement is None:
            return dict(self.wanted[2])
        value = getattr(self.statement, "value", None)
        if isinstance(value, ast.Call) and self._is_call():
            named: list[tuple[Any, ast.expr]] = [
                (keyword.arg or f"**{ast.unparse(keyword.value)}", keyword.value) for keyword in value.keywords
            ]
        elif isinstance(value, ast.Dict) and self._is_call():
            keys: list[Any] = value.keys
            named = [(key.value, each) for key, each in zip(keys, value.values, strict=True)]
        else:
            return {}
        return {name: value_of(each) for name, each in named}

    def names_of_targets(self) -> list[str]:
        """The targets, those that are no names as ""."""
        return [str(each) if each.type is ValueType.NamingValue else "" for each in self.get_targets()]

    def names_of_arguments(self) -> list[str]:
        """The arguments, also those by name; those that are no names as ""."""
        values = [*self.get_args(), *self.get_kwargs().values()]
        return [str(each) if each.type is ValueType.NamingValue else "" for each in values]

    def get_arg_providers(self) -> dict[int, tuple[Node, int]]:
        """For each argument, also by name, that a node of the block computes: the node, and which target it is."""
        return {} if self.block is None else self.block.uses.providers(self)

    def get_target_users(self, index: int = -1) -> Any:
        """The nodes that use the results, and as which argument.

        Args:
            index: of the target; -1 for all.

        Returns:
            a list of pairs, or a dict of such lists by target.
        """
        users = {} if self.block is None else self.block.uses.users(self)
        return users if index == -1 else users.get(index, [])

    def get_inputs(self) -> list[Node]:
        """The nodes of the same block that compute the arguments, in the order of the arguments."""
        return [provider for provider, _ in self.get_arg_providers().values()]

    def get_users(self) -> list[Node]:
        """The nodes of the same block that use a result, in the order of their statements."""
        return list(dict.fromkeys(user for users in self.get_target_users().values() for user, _ in users))

    def get_prev(self) -> Node | None:
        """The node before it in its block; None for the first."""
        return self._beside(-1)

    def get_next(self) -> Node | None:
        """The node after it in its block; None for the last."""
        return self._beside(1)

    def _beside(self, step: int) -> Node | None:
        nodes = self.block.nodes if self.block is not None else [self]
        at = nodes.index(self) + step
        return nodes[at] if 0 <= at < len(nodes) else None

    # -- changing it -----------------------------------------------------------------------------------

    def set_arg(self, index: int, arg: ScopedValue | str) -> None:
        """Give the statement another argument.

        Args:
            index: which, without those by name.
            arg: the argument; a name as a str.

        Raises:
            TypeError: an argument is of another type.
            ValueError: there is no argument of that index, or `arg` is no name.
            RuntimeError: the node was erased, or is a cell in a container.
        """
        one_of("Node", "index", index, int)
        one_of("Node", "arg", arg, ScopedValue, str)
        value = _named(arg) if isinstance(arg, str) else arg
        check_argument("Node", "arg", value)
        if self.statement is None:
            index_of("index", index, len(self.wanted[1]))
            self.wanted[1][index] = value
            return
        places = self._places()
        index_of("index", index, len(places))
        if self.block is None:
            raise RuntimeError(f"the node {self.name} was erased; insert it again before its arguments are set")
        self._check_held()
        made = expression_of(value, self.block.keep)
        if isinstance(made, ast.Starred) and not places[index].star:
            raise ValueError(f"For 'Node', 'arg' can be starred in calls, tuples and lists only, but got '{value}'.")
        self.block.write(self, places[index], made)

    def set_arg_by_node(self, arg_idx: int, src_node: Node, out_idx: int | None = None) -> None:
        """Give the statement a result of another node as an argument.

        Args:
            arg_idx: which argument, without those by name.
            src_node: the other node.
            out_idx: which of its targets; needed where it has several.

        Raises:
            TypeError: an argument is of another type.
            ValueError: there is no argument or target of that index, or several targets and no index, or
                `src_node` does not stand before this node in the same function.
            RuntimeError: the node is a cell in a container.
        """
        one_of("Node", "arg_idx", arg_idx, int)
        one_of("Node", "src_node", src_node, Node)
        index_of("arg_idx", arg_idx, len(self.get_args()))
        self._check_held()
        self._check_before(src_node)
        targets = src_node.get_targets()
        if out_idx is None:
            if len(targets) != 1:
                raise ValueError(f"out_idx must say which of the {len(targets)} targets of {src_node.name} is meant")
            out_idx = 0
        one_of("Node", "out_idx", out_idx, int)
        index_of("out_idx", out_idx, len(targets))
        self.set_arg(arg_idx, targets[out_idx])

    def _check_held(self) -> None:
        """Refuse to change a statement that only shows what a container computes."""
        if self.block is not None and self.block.shown:
            raise RuntimeError(
                f"{self.name} is a cell in a container, whose arguments cannot be set; set those of the container"
            )

    def _check_before(self, source: Node) -> None:
        """Refuse a node whose results this node cannot have."""
        erased = source.block is None and source.statement is not None
        if erased or (source.block is None and self.block is not None):
            raise ValueError(
                f"For 'Node', 'src_node' should be in the tree, but {source.name} is not; insert it first."
            )
        if self.block is None or source.block is None:
            return
        if source.block.root is not self.block.root:
            raise ValueError(f"For 'Node', 'src_node' should be in the same function, but {source.name} is not.")
        order = self.block.nodes if source.block is self.block else list(self.block.in_order())
        if order.index(source) >= order.index(self):
            raise ValueError(
                f"For 'Node', 'src_node' should stand before {self.name}, but {source.name} does not; "
                "to name a variable that is assigned earlier, too, use set_arg."
            )

    # -- its statement ---------------------------------------------------------------------------------

    def _code(self) -> str:
        """The statement as text; for ``else`` the part from there."""
        if isinstance(self.statement, ast.arg):
            return self.statement.arg
        if self.statement is None:
            return ""
        if self._is_else:
            assert self.inner is not None
            return "else:\n" + textwrap.indent("\n".join(map(ast.unparse, self.inner.body)), "    ")
        if isinstance(self.statement, (ast.If, ast.For, ast.While)):
            orelse, self.statement.orelse = self.statement.orelse, []
            try:
                return ast.unparse(self.statement)
            finally:
                self.statement.orelse = orelse
        return ast.unparse(ast.fix_missing_locations(self.statement))

    @property
    def _is_else(self) -> bool:
        """Whether it is the ``else`` of a control flow statement."""
        return self.node_type is NodeType.ControlFlow and (
            self.inner is not None and self.inner.body is getattr(self.statement, "orelse", None)
        )

    @property
    def is_control_flow(self) -> bool:
        """Whether it is a control flow statement, or the ``else`` of one."""
        return self.node_type is NodeType.ControlFlow

    def _is_call(self) -> bool:
        return self.node_type not in (NodeType.Python, NodeType.Input)

    def _places(self) -> list[Place]:
        """Where the arguments stand."""
        statement = self.statement
        if not self._is_call() or (self.node_type is NodeType.CellContainer and not assigns_call(statement)):
            return []
        match statement:
            case ast.Assign(value=ast.Dict()):
                return []
            case ast.Assign(value=value):
                places = places_in(value)
                return [Place(statement, "value")] if places is None else places
            case ast.Return(value=ast.expr()):
                return [Place(statement, "value")]
            case ast.If() | ast.While():
                return [Place(statement, "test")]
            case ast.For():
                return [Place(statement, "iter")]
        return []

    def _make_statement(self) -> ast.stmt:
        """The statement of a node that is being inserted, with the name that it has got."""
        targets, args, kwargs = self.wanted
        assert self.block is not None
        keep = self.block.keep
        called: ast.expr
        if self.node_type is NodeType.CallFunction:
            name = getattr(self.instance, "__name__", type(self.instance).__name__)
            called = name_for(name, self.instance)
        else:
            called = ast.Attribute(ast.Name(self.block.cell_name(self.name), ast.Load()), self.name, ast.Load())
        call = ast.Call(
            func=called,
            args=[expression_of(each, keep) for each in args],
            keywords=[
                ast.keyword(None if name.startswith("**") else name, expression_of(each, keep))
                for name, each in kwargs.items()
            ],
        )
        return ast.fix_missing_locations(ast.Assign(targets=[target_of(targets)], value=call))


def _wanted(node: Node, where: str, targets: Any, args: Any, kwargs: Any) -> Node:
    """Note what a new node is to compute from what."""
    one_of(where, "targets", targets, list, tuple)
    each_of(where, "targets", targets, ScopedValue, str)
    if args is not None:
        each_of(where, "args", args, ScopedValue)
    if kwargs is not None:
        by_name(where, "kwargs", kwargs, ScopedValue)
    node.wanted = ([_named(each) for each in targets], list(args or ()), dict(kwargs or {}))
    if not targets:
        raise ValueError(f"For '{where}', 'targets' should have a name for the result, but got none.")
    for each in node.wanted[0]:
        check_target(where, "targets", each)
    for each in node.wanted[1]:
        check_argument(where, "args", each)
    for name, each in node.wanted[2].items():
        if not name.startswith("**"):
            identifier(where, "kwargs", name)
        check_argument(where, "kwargs", each)
    return node


def _named(name: ScopedValue | str) -> ScopedValue:
    if isinstance(name, ScopedValue):
        return name
    scope, _, last = name.rpartition(".")
    return ScopedValue.create_naming_value(last, scope)
