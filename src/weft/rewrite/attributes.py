"""Attributes of a cell: what it holds, and what its class says it may come to hold."""

from __future__ import annotations

import contextlib
import dis
import inspect
import re
import types
from collections.abc import Iterator
from typing import Any

from weft.nn.cell import Cell
from weft.rewrite.sources import UNKNOWN, plain


def attribute_of(network: Any, name: str) -> Any:
    """What an attribute of a cell is, without running code of its class.

    Args:
        network: the cell.
        name: of the attribute.

    Returns:
        Any: what the cell holds, or a bound method; UNKNOWN for anything else.
    """
    own = network.__dict__
    for held in (own, own.get("_cells", {}), own.get("_params", {})):
        if name in held:
            return held[name]
    found = inspect.getattr_static(type(network), name, UNKNOWN)
    if isinstance(found, types.FunctionType):
        return types.MethodType(found, network)
    if isinstance(found, classmethod):
        return types.MethodType(found.__func__, type(network))
    return UNKNOWN


def attributes_assigned(cls: type) -> frozenset[str]:
    """The attributes that methods of a class assign or delete.

    Args:
        cls: a class of cells.

    Returns:
        frozenset: their names; also those of attributes of other objects.
    """
    known = Cell.__mro__
    return frozenset(
        name
        for each in cls.__mro__
        if each not in known
        for method in each.__dict__.values()
        for code in _codes_of(method)
        for name in _assigned_in(code)
    )


def is_answered(network: Any, name: str) -> bool:
    """Whether a method of the program's own that is asked for missing attributes has an answer.

    Where it answers for every number behind a name, a name with a number is free: none would be otherwise.

    Args:
        network: the cell.
        name: of the attribute.
    """
    methods = ("__getattr__", "__getattribute__")
    if all(getattr(type(network), each) is getattr(Cell, each) for each in methods):
        return False
    family = re.fullmatch(r"(.*_)\d+", name)
    return _answers(network, name) and (family is None or not _answers(network, f"{family[1]}{10**9}"))


def _answers(network: Any, name: str) -> bool:
    with contextlib.suppress(Exception):
        return hasattr(network, name)
    return True


def _codes_of(method: Any) -> Iterator[types.CodeType]:
    """The code of a method or property."""
    parts = [getattr(method, name, None) for name in ("fget", "fset", "fdel", "func")]
    for each in (method, *parts):
        function = plain(each)
        if isinstance(function, types.FunctionType):
            yield function.__code__


def _assigned_in(code: types.CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("STORE_ATTR", "DELETE_ATTR"):
            yield str(instruction.argval)
    named = not {"setattr", "__setattr__"}.isdisjoint(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _assigned_in(constant)
        elif named and isinstance(constant, str):
            yield constant
