"""What a function was written as, and which names of its module it reads."""

from __future__ import annotations

import ast
import builtins
import dis
import inspect
import os
import sys
import sysconfig
import textwrap
import types
from collections.abc import Iterator
from typing import Any, Final

#: stands for what is not known before the network runs
UNKNOWN: Final[Any] = type("Unknown", (), {"__repr__": lambda self: "UNKNOWN"})()
_INSTALLED: Final = tuple(os.path.join(sysconfig.get_path(kind), "") for kind in ("stdlib", "purelib", "platlib"))


class Unreadable(Exception):
    """A function has no source that could be rewritten; says why."""


def plain(function: Any) -> Any:
    """The function under its decorators.

    Args:
        function: anything that is called.

    Returns:
        Any: a function in Python, or what was found instead.
    """
    while True:
        if isinstance(function, (staticmethod, classmethod, types.MethodType)):
            function = function.__func__
        elif "__weft_inline__" in getattr(function, "__dict__", {}):
            function = function.__weft_inline__
        elif "__wrapped__" in getattr(function, "__dict__", {}):
            function = function.__wrapped__
        else:
            return function


def is_users(function: Any) -> bool:
    """Whether something is a function in Python that was not installed, by the library or another package."""
    if not isinstance(function, types.FunctionType):
        return False
    file, module = function.__code__.co_filename, str(function.__globals__.get("__name__"))
    return module.partition(".")[0] != "weft" and not file.startswith((*_INSTALLED, "<frozen"))


class Source:
    """A function: its definition as a syntax tree, and what the names in it mean.

    Args:
        function: the function.
        owner: the class that defines it as a method.

    Raises:
        Unreadable: there is no text of it.
    """

    def __init__(self, function: Any, owner: type | None = None) -> None:
        raw = plain(function)
        if not isinstance(raw, types.FunctionType):
            raise Unreadable(f"{function!r} is no function in Python")
        try:
            found = ast.parse(textwrap.dedent(inspect.getsource(raw))).body[0]
        except (OSError, SyntaxError, IndexError) as error:
            raise Unreadable(f"there is no source text of {raw.__qualname__} ({error})") from None
        if not isinstance(found, ast.FunctionDef):
            raise Unreadable(f"{raw.__qualname__} is not defined by a def statement")
        for name in _written_outside(raw.__code__):
            raise Unreadable(f"{raw.__qualname__} writes {name}, a variable outside of it; make it an attribute")
        self.function: types.FunctionType = raw
        self.owner = owner
        self.definition: ast.FunctionDef = _Explicit(owner).visit(found)
        cells = zip(raw.__code__.co_freevars, raw.__closure__ or (), strict=True)
        #: variables of the functions around it
        self.around = {name: cell.cell_contents for name, cell in cells if name != "__class__" and _is_set(cell)}
        #: names that are variables of the function
        self.locals = {*raw.__code__.co_varnames, *raw.__code__.co_cellvars}
        #: names that the function reads from elsewhere
        self.outside = [*self.around, *dict.fromkeys(_globals_of(raw.__code__))]
        self._made_with_it()
        if owner is not None and owner.__name__ not in self.locals:
            self.around.setdefault(owner.__name__, owner)

    def _made_with_it(self) -> None:
        """Bind what is computed where the function is defined: its decorators, and defaults that are no literals."""
        made, arguments = self.function, self.definition.args
        for decorator in self.definition.decorator_list:
            self.outside += [node.id for node in ast.walk(decorator) if isinstance(node, ast.Name)]
        positional = [*arguments.posonlyargs, *arguments.args][-len(arguments.defaults) or sys.maxsize :]
        values = dict(zip([each.arg for each in positional], made.__defaults__ or (), strict=False))
        arguments.defaults = [self._default(values[each.arg]) for each in positional]
        by_name = made.__kwdefaults__ or {}
        arguments.kw_defaults = [
            self._default(by_name[each.arg]) if each.arg in by_name else None for each in arguments.kwonlyargs
        ]

    def _default(self, value: Any) -> ast.expr:
        """The expression of a default."""
        if isinstance(value, (int, float, str, bool, type(None))):
            return ast.Constant(value)
        name = f"{self.definition.name}_default"
        while name in self.around or name in self.taken:
            name += "_"
        self.around[name] = value
        self.outside.append(name)
        return ast.Name(name, ast.Load())

    @property
    def taken(self) -> set[str]:
        """All names in the function."""
        names = {node.id for node in ast.walk(self.definition) if isinstance(node, ast.Name)}
        return names | {node.arg for node in ast.walk(self.definition) if isinstance(node, ast.arg)}

    @property
    def self_name(self) -> str | None:
        """What a method calls its object; None for a function, and a method of a class."""
        positional = self.definition.args.posonlyargs + self.definition.args.args
        if self.owner is None or not positional or isinstance(self.owner.__dict__[self.function.__name__], classmethod):
            return None
        return positional[0].arg

    def home_of(self, name: str) -> dict[str, Any] | None:
        """The dict in which a name from elsewhere is looked up; None for a builtin, or one that is nowhere."""
        return next((home for home in (self.around, self.function.__globals__) if name in home), None)

    def look_up(self, name: str) -> Any:
        """What a name means now; UNKNOWN for a variable of the function."""
        if name in self.locals:
            return UNKNOWN
        home = self.home_of(name)
        return home[name] if home is not None else getattr(builtins, name, UNKNOWN)


class _Explicit(ast.NodeTransformer):
    """Writes out what a method means by its place in a class: ``super()``, ``__class__`` and names like ``__x``."""

    def __init__(self, owner: type | None) -> None:
        self.owner = owner
        self.first = ""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if not self.first:
            arguments = [*node.args.posonlyargs, *node.args.args]
            self.first = arguments[0].arg if arguments else "self"
            for each in ast.walk(node):
                if isinstance(each, ast.arg):
                    each.annotation = None
                elif isinstance(each, ast.FunctionDef):
                    each.returns = None
            if ast.get_docstring(node) is not None and len(node.body) > 1:
                del node.body[0]
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if self.owner is not None and isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
            node.args = [ast.Name(self.owner.__name__, ast.Load()), ast.Name(self.first, ast.Load())]
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if self.owner is not None and node.id == "__class__":
            node.id = self.owner.__name__
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if self.owner is not None and node.attr.startswith("__") and not node.attr.endswith("__"):
            node.attr = f"_{self.owner.__name__.lstrip('_')}{node.attr}"
        return node


def _globals_of(code: types.CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield str(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _globals_of(constant)


def _written_outside(code: types.CodeType) -> Iterator[str]:
    """The variables of its module, or of functions around it, that a function assigns."""
    for instruction in dis.get_instructions(code):
        name, kind = str(instruction.argval), instruction.opname
        if kind in ("STORE_GLOBAL", "DELETE_GLOBAL") or (
            kind in ("STORE_DEREF", "DELETE_DEREF") and name in code.co_freevars
        ):
            yield name


def _is_set(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True
