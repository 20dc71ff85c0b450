"""ScopedValue: what stands in a statement as a target or an argument, a name or a value."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

from weft.rewrite.checks import each_of, one_of

_CONSTANTS = (int, float, str, bool, type(None))


class ValueType(Enum):
    """What a `ScopedValue` is.

    - `ConstantValue`: a number, a string, a bool or None.
    - `TupleValue`, `ListValue`, `DictValue`: a container of values.
    - `NamingValue`: a name, as in ``x`` or ``self.fc``.
    - `CustomObjValue`: any other object.
    - `UnsupportedValue`: an expression that is none of these, as ``x[0]``.
    """

    ConstantValue = 0
    TupleValue = 20
    ListValue = 21
    DictValue = 22
    NamingValue = 40
    CustomObjValue = 41
    UnsupportedValue = 50


_CONTAINERS: dict[type, ValueType] = {tuple: ValueType.TupleValue, list: ValueType.ListValue, dict: ValueType.DictValue}


class ScopedValue:
    """A name with the scope before its last dot, or a value.

    Args:
        arg_type: what it is.
        scope: what stands before the last dot of a name: "self" for ``self.fc``.
        value: the name, or the value.

    Raises:
        TypeError: `arg_type` is no `ValueType`.

    Example:
        >>> from weft.rewrite import ScopedValue
        >>> ScopedValue.create_naming_value("fc", "self"), ScopedValue.create_variable_value(2)
        (self.fc, 2)
    """

    def __init__(self, arg_type: ValueType, scope: str = "", value: Any = None) -> None:
        one_of("ScopedValue", "arg_type", arg_type, ValueType)
        one_of("ScopedValue", "scope", scope, str)
        self.type = arg_type
        self.scope = scope
        self.value = value
        #: for a target that was read: all that is assigned with it, as written, and which part of how many it is
        self.part: tuple[ast.expr, int, int] | None = None

    @classmethod
    def create_variable_value(cls, value: Any) -> ScopedValue:
        """What a value is as an argument.

        Args:
            value: any object.

        Returns:
            ScopedValue: a constant, a container of such values, or an object.

        Example:
            >>> from weft.rewrite import ScopedValue
            >>> ScopedValue.create_variable_value(2)
            2
        """
        if isinstance(value, _CONSTANTS):
            return cls(ValueType.ConstantValue, "", value)
        if type(value) in (tuple, list):
            return cls(_CONTAINERS[type(value)], "", type(value)(map(cls.create_variable_value, value)))
        if type(value) is dict:
            items = {key: cls.create_variable_value(each) for key, each in value.items()}
            return cls(ValueType.DictValue, "", items)
        return cls(ValueType.CustomObjValue, "", value)

    @classmethod
    def create_naming_value(cls, name: str, scope: str = "") -> ScopedValue:
        """A name.

        Args:
            name: the name.
            scope: what stands before its last dot.

        Returns:
            ScopedValue: the name.

        Raises:
            TypeError: one of them is no str.

        Example:
            >>> from weft.rewrite import ScopedValue
            >>> ScopedValue.create_naming_value("conv", "self")
            self.conv
        """
        one_of("ScopedValue", "name", name, str)
        one_of("ScopedValue", "scope", scope, str)
        return cls(ValueType.NamingValue, scope, name)

    @staticmethod
    def create_name_values(names: Sequence[str], scopes: Sequence[str] | None = None) -> list[ScopedValue]:
        """Several names.

        Args:
            names: a list or tuple of names.
            scopes: what stands before the last dot of each.

        Returns:
            list: the names.

        Raises:
            TypeError: they are no lists or tuples of str.
            ValueError: there are not as many scopes as names.

        Example:
            >>> from weft.rewrite import ScopedValue
            >>> ScopedValue.create_name_values(["z", "z_1"], ["self", "self"])
            [self.z, self.z_1]
        """
        each_of("ScopedValue", "names", names, str)
        if scopes is None:
            scopes = [""] * len(names)
        each_of("ScopedValue", "scopes", scopes, str)
        if len(names) != len(scopes):
            raise ValueError("Length of names should be equal to length of scopes")
        return [ScopedValue.create_naming_value(*pair) for pair in zip(names, scopes, strict=True)]

    def __str__(self) -> str:
        if self.type is ValueType.ConstantValue:
            return str(self.value)
        if self.type is ValueType.NamingValue:
            return f"{self.scope}.{self.value}" if self.scope else str(self.value)
        if self.type is ValueType.CustomObjValue:
            return f"CustomObj: {self.value}"
        return f"Illegal ValueType: {self.type}"

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScopedValue):
            return False
        return (self.type, self.scope) == (other.type, other.scope) and bool(self.value == other.value)

    def __hash__(self) -> int:
        return hash((self.type, self.scope, str(self.value)))


def value_of(expression: ast.expr) -> ScopedValue:
    """What an expression of a statement is.

    Args:
        expression: the expression.

    Returns:
        ScopedValue: a name or a constant; an unsupported value, which holds the text, for anything else.
    """
    if isinstance(expression, ast.Constant) and isinstance(expression.value, _CONSTANTS):
        return ScopedValue(ValueType.ConstantValue, "", expression.value)
    parts = []
    inside = expression
    while isinstance(inside, ast.Attribute):
        parts.append(inside.attr)
        inside = inside.value
    if isinstance(inside, ast.Name):
        name, *scope = *parts, inside.id
        return ScopedValue(ValueType.NamingValue, ".".join(reversed(scope)), name)
    return ScopedValue(ValueType.UnsupportedValue, "", ast.unparse(expression))


def expression_of(value: ScopedValue, keep: Callable[[Any], ast.expr]) -> ast.expr:
    """The expression of a value.

    Args:
        value: the value.
        keep: gives the expression for an object.

    Returns:
        ast.expr: the expression.

    Raises:
        SyntaxError: a name is none.
    """
    if value.type is ValueType.CustomObjValue:
        return keep(value.value)
    if value.type in (ValueType.TupleValue, ValueType.ListValue):
        items = [expression_of(each, keep) for each in value.value]
        kind = ast.Tuple if value.type is ValueType.TupleValue else ast.List
        return kind(elts=items, ctx=ast.Load())
    if value.type is ValueType.DictValue:
        items = [expression_of(each, keep) for each in value.value.values()]
        return ast.Dict(keys=[ast.Constant(key) for key in value.value], values=items)
    if value.type is ValueType.ConstantValue:
        return _parsed(repr(value.value)) if not isinstance(value.value, float) else ast.Constant(value.value)
    return _parsed(_text(value))


def check_argument(where: str, name: str, value: ScopedValue) -> None:
    """Refuse a value that no expression could be made of.

    Args:
        where: who was given it.
        name: the argument.
        value: what it is.

    Raises:
        ValueError: it is named by what is no name.
    """
    try:
        expression_of(value, lambda _: ast.Constant(None))
    except SyntaxError:
        raise ValueError(
            f"For '{where}', '{name}' should be a name, as of a variable or an attribute, but got '{value}'."
        ) from None


def check_target(where: str, name: str, value: ScopedValue) -> None:
    """Refuse a value that nothing can be assigned to.

    Args:
        where: who was given it.
        name: the argument.
        value: what it is.

    Raises:
        ValueError: it is no name, attribute or item.
    """
    try:
        _target_of(value)
    except SyntaxError:
        raise ValueError(f"For '{where}', '{name}' should be names that can be assigned, but got '{value}'.") from None


def target_of(values: Sequence[ScopedValue]) -> ast.expr:
    """The expression of what is assigned by one statement.

    Args:
        values: the targets; those of a statement, all of them, give what it assigns with stars and parentheses.

    Returns:
        ast.expr: the expression.
    """
    written = values[0].part
    if written is not None:
        target, _, count = written
        parts = [each.part for each in values]
        if len(parts) == count and all(
            part is not None and part[0] is target and part[1] == index for index, part in enumerate(parts)
        ):
            return copy.deepcopy(target)
    made = [_target_of(each) for each in values]
    return made[0] if len(made) == 1 else ast.Tuple(made, ast.Store())


def _target_of(value: ScopedValue) -> ast.expr:
    if value.type not in (ValueType.NamingValue, ValueType.UnsupportedValue):
        raise SyntaxError("no name")
    match ast.parse(f"{_text(value)} = None").body:
        case [ast.Assign(targets=[target])]:
            return target
    raise SyntaxError("no name")


def is_chain(expression: ast.expr) -> bool:
    """Whether an expression is a name, or attributes of one: ``x``, ``self.fc``, ``ops.relu``."""
    while isinstance(expression, ast.Attribute):
        expression = expression.value
    return isinstance(expression, ast.Name)


def _text(value: ScopedValue) -> str:
    return str(value if value.type is ValueType.NamingValue else value.value)


def _parsed(text: str) -> ast.expr:
    text = text.strip()
    if text.startswith("*"):
        return ast.Starred(_parsed(text[1:]), ast.Load())
    return ast.parse(text, mode="eval").body
