"""Where the arguments and targets of a statement stand in its syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

from weft.rewrite.sources import names_made
from weft.rewrite.values import is_chain


class Place(NamedTuple):
    """Where an expression stands: in a list of them, or in a field of a syntax node."""

    holder: Any
    key: Any
    #: whether ``*x`` can stand there
    star: bool = False

    def read(self) -> ast.expr:
        """The expression."""
        found: ast.expr = self.holder[self.key] if isinstance(self.holder, list) else getattr(self.holder, self.key)
        return found

    def write(self, expression: ast.expr) -> None:
        """Put another one there."""
        if isinstance(self.holder, list):
            self.holder[self.key] = expression
        else:
            setattr(self.holder, self.key, expression)


def names_assigned(target: ast.expr) -> Iterator[ast.expr]:
    """What is assigned, without stars and parentheses."""
    if isinstance(target, (ast.Tuple, ast.List)):
        for each in target.elts:
            yield from names_assigned(each)
    else:
        yield target.value if isinstance(target, ast.Starred) else target


def assigns_call(statement: Any) -> bool:
    """Whether a statement assigns the result of a call."""
    return isinstance(getattr(statement, "value", None), ast.Call)


def places_in(value: ast.expr) -> list[Place] | None:
    """Where the arguments of an operation stand; None for what is no operation."""
    match value:
        case ast.Call(args=items) | ast.Tuple(elts=items) | ast.List(elts=items):
            return [Place(items, index, star=True) for index in range(len(items))]
        case ast.BoolOp(values=items):
            return [Place(items, index) for index in range(len(items))]
        case ast.BinOp():
            return [Place(value, "left"), Place(value, "right")]
        case ast.UnaryOp():
            return [Place(value, "operand")]
        case ast.Compare(comparators=others):
            return [Place(value, "left"), *(Place(others, index) for index in range(len(others)))]
    return None


def chains_read(statement: Any) -> set[str]:
    """What a statement reads: names, and attributes of names as they are written."""
    return {chain for chain, written in _chains(statement) if not written}


def chains_written(statement: Any) -> set[str]:
    """What a statement assigns, deletes or changes items of: names, and attributes of names as they are written."""
    return names_made(statement) | {chain for chain, written in _chains(statement) if written}


def is_part(one: str, other: str) -> bool:
    """Whether one of two names or attributes is the other, or an attribute of it."""
    return f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")


def _chains(tree: ast.AST, written: bool = False) -> Iterator[tuple[str, bool]]:
    """The longest names and attributes of names in a syntax tree, and whether they, or parts of them, are assigned."""
    if isinstance(tree, (ast.Name, ast.Attribute, ast.Subscript)):
        written = written or not isinstance(tree.ctx, ast.Load)
        if is_chain(tree):
            yield ast.unparse(tree), written
            return
    for name, child in ast.iter_fields(tree):
        for each in child if isinstance(child, list) else [child]:
            if isinstance(each, ast.AST):
                yield from _chains(each, written and name == "value")
