"""Statements of one operation each: what is nested in an expression gets a name and a statement of its own.

``h = add(fc1(x), fc2(x) + w)`` becomes::

    fc2_var = fc2(x)
    add_var = fc2_var + w
    fc1_var = fc1(x)
    h = add(fc1_var, add_var)

As in MindSpore, the statements of a body are taken from the last to the first, and so are the arguments of an
operation. What Python computes only sometimes (the later parts of ``and`` and ``or``, both sides of a conditional
expression, comprehensions) or several times (the condition of ``while``) stays where it is, and so does what items are
taken of (``x[0]``).
"""

from __future__ import annotations

import ast
import keyword
from collections.abc import Callable

from weft.rewrite.numbered import numbered
from weft.rewrite.values import is_chain

#: expressions that get a statement of their own
_OPERATIONS = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.Subscript, ast.Tuple, ast.List, ast.Dict)
#: expressions that bind names or leave the function in the middle of a statement, which then stays as it is
_ACTIONS = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)


def operation_name(expression: ast.expr) -> str:
    """What an operation is called: that of a call by its callee, any other by what it does.

    Args:
        expression: the operation.

    Returns:
        str: the name.
    """
    match expression:
        case ast.Call(func=ast.Attribute(attr=name)) | ast.Call(func=ast.Name(id=name)):
            return name
        case ast.BinOp(op=kind) | ast.UnaryOp(op=kind) | ast.BoolOp(op=kind):
            return type(kind).__name__.lower()
    return type(expression).__name__.lower()


class Flattener:
    """Makes statements of one operation each.

    Args:
        taken: names that the function has already; those of new variables are added.
    """

    def __init__(self, taken: set[str]) -> None:
        self.taken = taken
        self._numbers: dict[str, int] = {}

    def unique(self, name: str) -> str:
        """A name that is not taken, which then is: the given one, or with a number."""
        found = numbered(name, lambda each: each in self.taken or keyword.iskeyword(each), self._numbers)
        self.taken.add(found)
        return found

    def body(self, statements: list[ast.stmt]) -> None:
        """Flatten the statements of a body, in place."""
        at = len(statements) - 1
        while at >= 0:
            statement = statements[at]
            if isinstance(statement, ast.Assign) and len(statement.targets) > 1:
                _one_target_each(statements, at)
            before = self._parts(statement)
            for part in before:
                statements.insert(at, part)
            for inner in _bodies(statement):
                self.body(inner)
            at += len(before) - 1

    def _parts(self, statement: ast.stmt) -> list[ast.stmt]:
        """Take the parts out of a statement, one level deep: the statements that compute them."""
        parts: list[ast.stmt] = []

        def take(expression: ast.expr, named: str = "") -> ast.expr:
            name = self.unique(named or f"{operation_name(expression)}_var")
            parts.append(ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=expression))
            return ast.Name(id=name, ctx=ast.Load())

        if any(isinstance(node, _ACTIONS) for node in _expressions(statement)):
            return []
        match statement:
            case ast.Assign() | ast.Expr():
                _take_inside(statement.value, take)
            case ast.Return(value=ast.expr()):
                assert statement.value is not None
                statement.value = _taken(statement.value, take)
            case ast.If():
                statement.test = _taken(statement.test, take)
            case ast.For(iter=ast.Attribute()) if is_chain(statement.iter):
                statement.iter = take(statement.iter, ast.unparse(statement.iter).replace(".", "_"))
            case ast.For():
                statement.iter = _taken(statement.iter, take)
        return parts


def _one_target_each(statements: list[ast.stmt], at: int) -> None:
    """Make ``a = b = value`` two statements."""
    statement = statements[at]
    assert isinstance(statement, ast.Assign)
    *others, last = statement.targets
    if isinstance(last, ast.Name):
        statement.targets = [last]
        statements[at + 1 : at + 1] = [ast.Assign([each], ast.Name(last.id, ast.Load())) for each in others]


def _bodies(statement: ast.stmt) -> list[list[ast.stmt]]:
    """The bodies that are flattened with a statement."""
    return [statement.body, statement.orelse] if isinstance(statement, (ast.If, ast.For, ast.While)) else []


def _expressions(statement: ast.stmt) -> list[ast.AST]:
    """Everything in the expressions that a statement itself computes."""
    own = [child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.expr)]
    return [node for child in own for node in ast.walk(child)]


def _taken(expression: ast.expr, take: Callable[[ast.expr], ast.expr]) -> ast.expr:
    """What stands for an expression after its operation was taken out."""
    if isinstance(expression, ast.Dict) and not _has_names(expression):
        return expression
    if isinstance(expression, _OPERATIONS):
        return take(expression)
    if isinstance(expression, ast.Attribute):
        expression.value = _taken(expression.value, take)
    return expression


def _take_inside(expression: ast.expr, take: Callable[[ast.expr], ast.expr]) -> None:
    """Take what an operation is computed from."""
    match expression:
        case ast.Call():
            lambdas = isinstance(expression.func, ast.Lambda)
            expression.func = take(expression.func) if lambdas else _taken(expression.func, take)
            expression.args = [_taken(each, take) for each in expression.args]
            for keyword in expression.keywords:
                keyword.value = _taken(keyword.value, take)
        case ast.BinOp():
            expression.left = _taken(expression.left, take)
            expression.right = _taken(expression.right, take)
        case ast.UnaryOp():
            expression.operand = _taken(expression.operand, take)
        case ast.Compare(comparators=[_]):
            expression.left = _taken(expression.left, take)
            expression.comparators = [_taken(expression.comparators[0], take)]
        case ast.Compare():
            expression.left = _taken(expression.left, take)
        case ast.BoolOp():
            expression.values[0] = _taken(expression.values[0], take)
        case ast.Tuple() | ast.List():
            expression.elts = [_taken(each, take) for each in expression.elts]
        case ast.Dict() if _has_names(expression):
            expression.values = [_taken(each, take) for each in expression.values]


def _has_names(expression: ast.Dict) -> bool:
    """Whether all keys of a dict are names."""
    return all(isinstance(key, ast.Constant) and isinstance(key.value, str) for key in expression.keys)
