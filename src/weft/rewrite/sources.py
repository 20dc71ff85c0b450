"""What a function was written as, and which names of its module it reads."""

from __future__ import annotations

import ast
import builtins
import copy
import dis
import functools
import inspect
import linecache
import os
import sys
import sysconfig
import types
from collections.abc import Iterator, Mapping
from importlib.machinery import SourceFileLoader
from typing import Any, Final

from weft.rewrite.numbered import spelled

#: stands for what is not known before the network runs
UNKNOWN: Final[Any] = type("Unknown", (), {"__repr__": lambda self: "UNKNOWN"})()
#: attribute of names in syntax trees that mean an object
_MEANT: Final = "weft_meant"
#: the statement above each module that decides what is compiled of a function
_FUTURES: Final = annotations.compiler_flag
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


def _is_wrapped(function: Any) -> bool:
    """Whether a decorator other than `jit` was put around a function."""
    while isinstance(function, (staticmethod, classmethod, types.MethodType)):
        function = function.__func__
    inner = getattr(function, "__dict__", {})
    return _is_wrapped(inner["__weft_inline__"]) if "__weft_inline__" in inner else "__wrapped__" in inner


def is_users(function: Any) -> bool:
    """Whether something is a function in Python that was not installed, by the library or another package."""
    if not isinstance(function, types.FunctionType):
        return False
    file, module = function.__code__.co_filename, str(function.__globals__.get("__name__"))
    return module.partition(".")[0] != "weft" and not file.startswith((*_INSTALLED, "<frozen"))


class Meant:
    """What a name in a syntax tree means, whatever the generated module calls it.

    Args:
        home: a dict that has the object.
        key: under which name.
    """

    def __init__(self, home: Mapping[str, Any], key: str) -> None:
        self.home = home
        self.key = key

    def __deepcopy__(self, memo: Any) -> Meant:
        return self  # a copy of a name means the same object


def name_for(name: str, value: Any) -> ast.Name:
    """A name that means an object, wherever it stands; the generated module may have to call it otherwise.

    Args:
        name: the name.
        value: the object.

    Returns:
        ast.Name: the name.
    """
    name = spelled(name)
    return _mean(ast.Name(name, ast.Load()), {name: value})


def meant_by(name: ast.AST) -> Meant | None:
    """What `name_for` has made a name mean; None for any other."""
    found: Meant | None = getattr(name, _MEANT, None)
    return found


def _mean(name: ast.Name, home: Mapping[str, Any]) -> ast.Name:
    setattr(name, _MEANT, Meant(home, name.id))
    return name


class Source:
    """A function: its definition as a syntax tree, and what the names in it mean.

    Args:
        function: the function.
        owner: the class that defines it as a method.
        name: under which the class has it.

    Raises:
        Unreadable: there is no text of it.
    """

    def __init__(self, function: Any, owner: type | None = None, name: str = "") -> None:
        raw = plain(function)
        if not isinstance(raw, types.FunctionType):
            raise Unreadable(f"{function!r} is no function in Python")
        found, around = _definition(raw)
        if _is_wrapped(function) and not found.decorator_list:
            raise Unreadable(f"{raw.__qualname__} was decorated after it was defined; decorate its def statement")
        for written in _written_outside(raw.__code__):
            raise Unreadable(f"{raw.__qualname__} writes {written}, a variable outside of it; make it an attribute")
        self.function: types.FunctionType = raw
        self.owner = owner
        self.name = name or raw.__code__.co_name
        self.definition: ast.FunctionDef = _Explicit(owner).visit(found)
        self.definition.name = self.name
        #: names that are variables of the function
        self.locals = {*raw.__code__.co_varnames, *raw.__code__.co_cellvars}
        self._bind_decorators(around)
        self._bind_defaults()
        self._read: tuple[str, list[Meant]] | None = None

    def note_read(self) -> None:
        """Note that the statements are those that were read."""
        self._read = self._state()

    @property
    def is_changed(self) -> bool:
        """Whether statements are others than those that were read."""
        return self._read != self._state()

    def _state(self) -> tuple[str, list[Meant]]:
        """What tells statements from others: the text, and what the names in it mean."""
        meant = [meant_by(node) for node in ast.walk(self.definition)]
        return ast.dump(self.definition), [each for each in meant if each is not None]

    def _bind_decorators(self, around: set[str]) -> None:
        """Say what the names in decorators mean, which are read where the function is defined."""
        for decorator in self.definition.decorator_list:
            own = names_made(decorator)
            for node in ast.walk(decorator):
                if not isinstance(node, ast.Name) or node.id in own:
                    continue
                in_class = self.owner is not None and node.id in self.owner.__dict__
                home = self.owner.__dict__ if in_class else self._closure_of(node.id)
                if home is None and node.id not in around:
                    home = self.home_of(node.id)
                if home is None:
                    raise Unreadable(
                        f"{self.function.__qualname__} has the decorator {ast.unparse(decorator)}, and {node.id} is "
                        "known only where it is defined; define it in the module"
                    )
                _mean(node, home)

    def _bind_defaults(self) -> None:
        """Say what the defaults are, which were computed where the function is defined."""
        made, arguments = self.function, self.definition.args
        positional = [*arguments.posonlyargs, *arguments.args][-len(arguments.defaults) or sys.maxsize :]
        values = dict(zip([each.arg for each in positional], made.__defaults__ or (), strict=False))
        by_name = made.__kwdefaults__ or {}
        if any(each.arg not in values for each in positional):
            raise Unreadable(f"the defaults of {made.__qualname__} were changed")
        arguments.defaults = [self._default(values[each.arg]) for each in positional]
        arguments.kw_defaults = [
            self._default(by_name[each.arg]) if each.arg in by_name else None for each in arguments.kwonlyargs
        ]

    def _default(self, value: Any) -> ast.expr:
        """The expression of a default."""
        if isinstance(value, (int, float, str, bool, type(None))):
            return ast.Constant(value)
        return name_for(f"{self.name}_default", value)

    @property
    def taken(self) -> set[str]:
        """All names in the function."""
        names = {node.id for node in ast.walk(self.definition) if isinstance(node, ast.Name)}
        return names | {node.arg for node in ast.walk(self.definition) if isinstance(node, ast.arg)}

    @property
    def self_name(self) -> str | None:
        """What a method calls its object; None for a function, and a method of a class."""
        positional = self.definition.args.posonlyargs + self.definition.args.args
        if self.owner is None or not positional or isinstance(self.owner.__dict__[self.name], classmethod):
            return None
        return positional[0].arg

    def home_of(self, name: str) -> Mapping[str, Any] | None:
        """A dict that has a name from elsewhere now: of the functions around, the module, Python; None for nowhere."""
        found = self._closure_of(name)
        homes = (self.function.__globals__, builtins.__dict__)
        return found if found is not None else next((home for home in homes if name in home), None)

    def _closure_of(self, name: str) -> Mapping[str, Any] | None:
        """A dict with a variable of the functions around it."""
        cells = zip(self.function.__code__.co_freevars, self.function.__closure__ or (), strict=True)
        return next(({name: cell.cell_contents} for key, cell in cells if key == name and _is_set(cell)), None)

    def look_up(self, name: str) -> Any:
        """What a name means now; UNKNOWN for a variable of the function."""
        home = self.home_of(name) if name not in self.locals else None
        return home[name] if home is not None else UNKNOWN


def _definition(function: types.FunctionType) -> tuple[ast.FunctionDef, set[str]]:
    """The def statement that made a function, and the names that functions around it make."""
    code = function.__code__
    try:
        text = "".join(inspect.findsource(function)[0])
        found = _definitions(text).get((code.co_name, code.co_firstlineno))
        edited = _is_as_imported(function) and _without_places(code) not in _codes(text, code.co_flags & _FUTURES)
    except (OSError, SyntaxError, IndexError, ValueError) as error:
        raise Unreadable(f"there is no source text of {function.__qualname__} ({error})") from None
    if found is None:
        raise Unreadable(f"{function.__qualname__} is not made by a def statement that is still in its file")
    if edited:
        raise Unreadable(f"the file of {function.__qualname__} was edited after it was imported; import it again")
    return copy.deepcopy(found[0]), found[1]


@functools.lru_cache(maxsize=16)
def _definitions(text: str) -> dict[tuple[str, int], tuple[ast.FunctionDef, set[str]]]:
    """The def statements of a file by name and first line, which code objects know, too."""
    found = {}

    def visit(node: ast.AST, around: set[str]) -> None:
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            found[node.name, first] = node, around
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            around = around | names_made(node)
        for child in ast.iter_child_nodes(node):
            visit(child, around)

    visit(ast.parse(text), set())
    return found


@functools.lru_cache(maxsize=16)
def _codes(text: str, futures: int) -> set[types.CodeType]:
    """The code of the functions of a file, without places."""
    found, waiting = set(), [compile(text, "<read>", "exec", futures, dont_inherit=True)]
    while waiting:
        code = waiting.pop()
        waiting += [each for each in code.co_consts if isinstance(each, types.CodeType)]
        found.add(_without_places(code))
    return found


def _without_places(code: types.CodeType) -> types.CodeType:
    """Code without the columns of its expressions, which are not always known; the line where it begins stays."""
    inside = [_without_places(each) if isinstance(each, types.CodeType) else each for each in code.co_consts]
    return code.replace(co_linetable=b"", co_consts=tuple(inside))


def _is_as_imported(function: types.FunctionType) -> bool:
    """Whether the lines of a function are those of a file, which Python compiled as it is."""
    lines, spec = linecache.cache.get(function.__code__.co_filename), function.__globals__.get("__spec__")
    plainly = spec is None or type(spec.loader) is SourceFileLoader
    return plainly and lines is not None and len(lines) > 1 and lines[1] is not None


def names_made(tree: ast.AST) -> set[str]:
    """The names that a syntax tree binds, in any scope inside."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.alias(name=name, asname=other):
                found.add(other or name.partition(".")[0])
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                found.add(name)
            case ast.MatchMapping(rest=str(name)):
                found.add(name)
    return found


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
            node.args = [name_for(self.owner.__name__, self.owner), ast.Name(self.first, ast.Load())]
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if self.owner is not None and node.id == "__class__":
            return name_for(self.owner.__name__, self.owner)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if self.owner is not None:
            node.attr = mangled(node.attr, self.owner)
        return node


def mangled(name: str, cls: type) -> str:
    """What an attribute is called that a class writes as a name: another one where that is private, as ``__x``."""
    prefix = cls.__name__.lstrip("_")
    return f"_{prefix}{name}" if prefix and name.startswith("__") and not name.endswith("__") else name


def globals_of(code: types.CodeType) -> Iterator[str]:
    """The names that code reads from its module or from Python."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield str(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from globals_of(constant)


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
