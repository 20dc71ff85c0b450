"""Nodes from source: what each statement of a function does, and what it calls."""

from __future__ import annotations

import ast
import contextlib
import inspect
import types
from typing import Any

from weft.core.operators import Operator
from weft.nn.cell import Cell
from weft.nn.layer.container import CellDict, CellList, SequentialCell
from weft.rewrite.attributes import attribute_of
from weft.rewrite.blocks import Block, Owner
from weft.rewrite.flatten import Flattener, operation_name
from weft.rewrite.node import Node, NodeType
from weft.rewrite.sources import UNKNOWN, Source, Unreadable, is_users, meant_by

CONTAINERS = (CellList, SequentialCell, CellDict)
_HEADS = {ast.If: "if", ast.For: "for", ast.While: "while"}


class Builder:
    """Makes the nodes of one function, and of the functions of the program that it calls.

    Args:
        tree: the tree that the nodes belong to.
        source: the function; its statements are flattened in place.
    """

    def __init__(self, tree: Owner, source: Source) -> None:
        self.tree = tree
        self.source = source
        self.taken = source.taken
        self.flattener = Flattener({*self.taken})
        self.flattener.body(source.definition.body)
        #: operators that the function makes of literals, to call them in the same statement
        self.operators: dict[str, Operator] = {}

    def function(self, title: str) -> Block:
        """The block of the function."""
        definition = self.source.definition
        variables = self.source.locals | (self.flattener.taken - self.taken)
        block = Block(self.tree, title, definition.body, variables)
        block.arguments = definition.args
        block.self_name = self.source.self_name
        arguments = definition.args
        own = [*arguments.posonlyargs, *arguments.args]
        for argument in [*own[self.source.owner is not None :], *arguments.kwonlyargs]:
            self._add(block, Node(NodeType.Input, f"input_{argument.arg}", argument))
        for rest in (arguments.vararg, arguments.kwarg):
            if rest is not None:
                self._add(block, Node(NodeType.Python, "arg", rest))
        self._fill(block)
        ast.fix_missing_locations(definition)
        self.source.note_read()
        return block

    def _fill(self, block: Block) -> None:
        """Make the nodes of a block's statements."""
        for statement in block.body:
            if isinstance(statement, (ast.If, ast.For, ast.While)):
                self._control_flow(block, statement)
            else:
                self._add(block, self._node(block, statement))

    def _add(self, block: Block, node: Node) -> None:
        node.name = self.tree._unique_node(node.name)
        node.block = block
        if node.inner is not None and not node.inner.title:
            node.inner.title = f"{block.title}.{node.name}"
        block.nodes.append(node)

    def _control_flow(self, block: Block, statement: ast.If | ast.For | ast.While) -> None:
        head = _HEADS[type(statement)]
        parts = [(f"{head}_node", statement.body)]
        if statement.orelse:
            parts.append(("else_node" if head == "if" else f"{head}_else_node", statement.orelse))
        for name, body in parts:
            node = Node(NodeType.ControlFlow, name, statement)
            node.inner = Block(self.tree, "", body, block.locals)
            node.inner.self_name = block.self_name
            node.inner.outer = block
            self._add(block, node)
            self._fill(node.inner)

    def _node(self, block: Block, statement: ast.stmt) -> Node:
        """The node of a simple statement."""
        match statement:
            case ast.Return():
                return Node(NodeType.Output, "return", statement)
            case ast.Assign(targets=[_], value=ast.Call() as call):
                return self._call(block, statement, call)
            case ast.Assign(targets=[_], value=ast.BinOp() as value):
                return Node(NodeType.MathOps, f"binop_{operation_name(value)}", statement)
            case ast.Assign(targets=[_], value=ast.UnaryOp() as value):
                return Node(NodeType.MathOps, f"unaryop_{operation_name(value)}", statement)
            case ast.Assign(targets=[_], value=ast.BoolOp() as value):
                return Node(NodeType.MathOps, f"boolop_{operation_name(value)}", statement)
            case ast.Assign(targets=[_], value=ast.Compare(ops=kinds)):
                return Node(
                    NodeType.MathOps, "_".join(["compare", *(type(k).__name__.lower() for k in kinds)]), statement
                )
            case ast.Assign(targets=[_], value=ast.Attribute() as value):
                found = self.meaning(value)
                if isinstance(found, CONTAINERS):
                    return self._container(block, statement, found, ast.unparse(value))
                return Node(NodeType.CallMethod, "attribute_assign", statement)
            case ast.Assign(targets=[_], value=value) if (name := _made(value)) is not None:
                return Node(NodeType.CallMethod, name, statement)
        return Node(NodeType.Python, type(statement).__name__, statement)

    # -- calls -----------------------------------------------------------------------------------------

    def _call(self, block: Block, statement: ast.Assign, call: ast.Call) -> Node:
        """The node of a call."""
        name, found = operation_name(call), self.meaning(call.func)
        if isinstance(found, Operator):
            return Node(NodeType.CallPrimitive, name, statement, found)
        if isinstance(found, SequentialCell) and owner_of(type(found), "construct") is SequentialCell:
            return self._container(block, statement, found, name)
        if isinstance(found, Cell):
            sub_tree = self.tree._sub_tree(found)
            node = Node(NodeType.CallCell if sub_tree is None else NodeType.Tree, name, statement, found)
            node.sub_tree = sub_tree
            return node
        if isinstance(found, types.MethodType):
            node = Node(NodeType.CallFunction, name, statement)
            node.inner = self.tree._method(found, name)
            node.instance = found if node.inner is not None else None
            return node
        if isinstance(found, type) and issubclass(found, Operator):
            self._note_operator(statement.targets[0], found, call)
        if found is UNKNOWN or isinstance(found, type) or inspect.isbuiltin(found):
            return Node(NodeType.CallFunction, name, statement)
        node = Node(NodeType.CallFunction, name, statement, found)
        expanded = self.tree._function(found) if is_users(found) else None
        if expanded is not None:
            node.name, node.inner = expanded
        return node

    def _note_operator(self, target: ast.expr, cls: type[Operator], call: ast.Call) -> None:
        """Note what ``Add_var = ops.Add()`` made, where that was taken out of ``ops.Add()(x, y)``."""
        if isinstance(target, ast.Name) and target.id not in self.taken:
            with contextlib.suppress(ValueError, TypeError):  # not made of literals
                args = [ast.literal_eval(each) for each in call.args]
                named = {each.arg: ast.literal_eval(each.value) for each in call.keywords if each.arg is not None}
                self.operators[target.id] = cls(*args, **named)

    def meaning(self, expression: ast.expr) -> Any:
        """What a name or attribute means: of the network itself, or of modules; UNKNOWN where only a run tells."""
        if isinstance(expression, ast.Name) and expression.id in self.operators:
            return self.operators[expression.id]
        if isinstance(expression, ast.Name):
            meant = meant_by(expression)
            return self.source.look_up(expression.id) if meant is None else meant.home.get(meant.key, UNKNOWN)
        if not isinstance(expression, ast.Attribute):
            return UNKNOWN
        base = expression.value
        if isinstance(base, ast.Name) and base.id == self.source.self_name:
            return attribute_of(self.tree.network, expression.attr)
        home = self.meaning(base)
        if isinstance(home, types.ModuleType):
            return getattr(home, expression.attr, UNKNOWN)
        return UNKNOWN

    def _container(self, block: Block, statement: ast.Assign, cells: Cell, name: str) -> Node:
        """The node of a container of cells, with a node for each of its cells."""
        node = Node(NodeType.CellContainer, name, statement, cells)
        shown = Block(self.tree, "", [], block.locals)
        shown.shown = True
        for cell in cells.cells():
            kind = type(cell).__name__
            call = ast.Call(ast.Name(kind, ast.Load()), [], [])
            if isinstance(statement.value, ast.Call):
                call.args = (
                    [*statement.value.args]
                    if not shown.nodes
                    else [ast.parse(ast.unparse(statement.targets[0]), mode="eval").body]
                )
            sub_tree = self.tree._sub_tree(cell)
            part = Node(NodeType.CallCell if sub_tree is None else NodeType.Tree, kind, None, cell)
            part.sub_tree = sub_tree
            self._add(shown, part)
            call.func = ast.Name(part.name, ast.Load())
            part.statement = ast.Assign(targets=statement.targets, value=call)
        node.inner = shown
        return node


def owner_of(cls: type, name: str) -> type | None:
    """The class that defines a method, the class itself or one of its bases."""
    return next((each for each in cls.__mro__ if name in each.__dict__), None)


def source_of(cls: type, name: str) -> Source:
    """The source of a method of a class.

    Args:
        cls: the class, or one that inherits the method.
        name: of the method.

    Returns:
        Source: the method.

    Raises:
        Unreadable: there is no text of it.
    """
    owner = owner_of(cls, name)
    if owner is None:
        raise Unreadable(f"{cls.__name__} has no method {name}")
    return Source(owner.__dict__[name], owner, name)


def _made(value: ast.expr) -> str | None:
    """What a node is called that makes something, or gives it a name; None for other expressions."""
    match value:
        case ast.Tuple():
            return "tuple"
        case ast.List():
            return "list"
        case ast.Dict(keys=keys) if all(isinstance(k, ast.Constant) and isinstance(k.value, str) for k in keys):
            return "dict"
        case ast.Subscript():
            return "subscript_var"
        case ast.Constant():
            return "constant_assign"
        case ast.Name():
            return "name_assign"
    return None
