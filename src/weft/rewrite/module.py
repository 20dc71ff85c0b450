"""The module of a rewritten network: its text, its classes, and the network itself."""

from __future__ import annotations

import ast
import builtins
import copy
import inspect
import itertools
import linecache
import os
import sys
import types
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any

from weft.core.home import Home
from weft.nn.cell import Cell
from weft.rewrite.grown import Grown
from weft.rewrite.names import Definition, Names
from weft.rewrite.parameters import name_parameters

_count = itertools.count()
#: where the sources of networks are saved
FOLDER = "rewritten_network"
#: containers in which a cell keeps its own state, and which no other cell shares
_OWN = Cell.__weft_counted__ - {"_compiled"}


class Module:
    """The module of a rewritten network.

    Args:
        tree: of the network.
    """

    def __init__(self, tree: Grown) -> None:
        self.tree = tree
        #: the name of the class that each tree became; trees with the same statements share one
        self.classes: dict[int, str] = {}
        trees, functions = tree._trees(), tree.project.functions
        apart = [Definition(each.source) for each in functions.values()]
        methods = {id(each): [Definition(source) for source, _ in each.methods.values()] for each in trees}
        self.names = names = Names(
            [each.class_name for each in trees],
            {function: each.name for function, each in functions.items()},
            [*apart, *(each for listed in methods.values() for each in listed)],
        )
        parts = [ast.unparse(each.definition) for each in apart]
        known: dict[tuple[str, str], str] = {}
        classes = []
        for each in trees:
            base = names.bind(type(each.network).__name__, _holder(type(each.network)))
            body, added = _body(methods[id(each)]), each._added
            name = each.class_name
            if not added:
                name = known.setdefault((base, body), name)
            self.classes[id(each)] = name
            if name == each.class_name:
                classes.append(f"{_comments(added)}class {name}({base}):\n{body}")
        parts += reversed(classes)
        body = "\n\n\n".join(parts) + "\n"
        used = {node.id for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name)}
        self.header = "\n".join(
            ["# The imports say what the names below are bound to.", *names.lines(used), "", "", ""]
        )
        self.text = self.header + body

    def network(self) -> Cell:
        """The rewritten network."""
        name = f"{self.tree.class_name}_{next(_count)}"
        file = _save(name, self.text)
        module = types.ModuleType(name)
        module.__dict__.update(self.names.values())
        module.__dict__.update(__file__=file, __builtins__=builtins)
        below = "\n" * (self.header.count("\n")) + self.text[len(self.header) :]
        sys.modules[name] = module  # `inspect` finds the source of a class by its module
        exec(compile(below, file, "exec"), module.__dict__)
        rebuilding = _Rebuilding(self, module.__dict__)
        made = rebuilding.cell(self.tree.network)
        name_parameters(made, self.tree.network, rebuilding.inserted())
        return made


class _Rebuilding:
    """Makes the cells of the rewritten network: those with a tree are of new classes, those without any are shared."""

    def __init__(self, module: Module, namespace: dict[str, Any]) -> None:
        self.trees = {id(tree.network): tree for tree in module.tree._trees()}
        self.classes = {key: namespace[name] for key, name in module.classes.items()}
        self.made: dict[int, Cell] = {}
        #: containers that are being copied
        self.open: set[int] = set()

    def cell(self, cell: Cell) -> Cell:
        """What a cell becomes."""
        if id(cell) in self.made:
            return self.made[id(cell)]
        tree = self.trees.get(id(cell))
        if tree is None and not self._changes(cell, set()):
            return self.made.setdefault(id(cell), cell)
        cls = type(cell) if tree is None else self.classes[id(tree)]
        made: Any = cls.__new__(cls)
        self.made[id(cell)] = made
        state = made.__dict__
        for name, value in cell.__dict__.items():
            value = Home(made) if name == "_compiled" else self._value(value)
            state[name] = copy.copy(value) if name in _OWN and value is cell.__dict__[name] else value
        for name, value in _slots_of(cell):
            object.__setattr__(made, name, self._value(value))
        if tree is not None:
            state.pop("construct", None)  # a compiled one, which computes what the original does
        state["cls_name"] = cls.__name__
        made._refresh_extras()
        prefixed, state["_auto_prefix"] = state["_auto_prefix"], False  # `name_parameters` names them
        for name, value in (tree._added if tree is not None else {}).items():
            setattr(made, name, self._value(value))
        state["_auto_prefix"] = prefixed
        return made

    def inserted(self) -> list[tuple[Cell, Iterable[str]]]:
        """The new cells, with the names of the attributes that were added to each."""
        return [(self.made[key], tree._added) for key, tree in self.trees.items() if key in self.made]

    def _value(self, value: Any) -> Any:
        """What an attribute becomes: another one only where cells in it, or cells of methods in it, are rewritten."""
        if isinstance(value, Cell):
            return self.cell(value)
        if isinstance(value, types.MethodType) and isinstance(value.__self__, Cell):
            return self._method(value)
        if type(value) not in (dict, OrderedDict, list, tuple) or id(value) in self.open:
            return value
        self.open.add(id(value))  # it may contain itself
        old = list(value.values()) if isinstance(value, dict) else value
        new = [self._value(each) for each in old]
        self.open.discard(id(value))
        if all(one is other for one, other in zip(old, new, strict=True)):
            return value
        return type(value)(zip(value, new, strict=True) if isinstance(value, dict) else new)

    def _method(self, bound: types.MethodType) -> Any:
        """A bound method of what its cell becomes; as rewritten, where it is one of the class."""
        cell: Any = bound.__self__
        function = bound.__func__
        made = self.cell(cell)
        if made is cell:
            return bound
        name = function.__name__
        if inspect.getattr_static(type(cell), name, None) is function:
            return getattr(made, name)
        return types.MethodType(function, made)

    def _changes(self, cell: Cell, seen: set[int]) -> bool:
        """Whether a cell with a tree is below a cell."""
        if id(cell) in seen:
            return False
        seen.add(id(cell))
        return id(cell) in self.trees or any(
            self._changes(each, seen) for each in cell._cells.values() if each is not None
        )


def _slots_of(cell: Cell) -> Iterator[tuple[str, Any]]:
    """Attributes of a cell that are not in its dict, as its classes have slots for them."""
    for cls in type(cell).__mro__:
        for name, slot in cls.__dict__.items():
            if isinstance(slot, types.MemberDescriptorType) and hasattr(cell, name):
                yield name, slot.__get__(cell)


def _holder(cls: type) -> dict[str, Any]:
    """A dict that has a class by its name: its module, if that has it."""
    home = getattr(sys.modules.get(cls.__module__), "__dict__", {})
    return home if home.get(cls.__name__) is cls else {cls.__name__: cls}


def _comments(added: dict[str, Any]) -> str:
    """Comment lines for what was inserted."""
    return "".join(f"# self.{name}: {type(value).__name__}, inserted\n" for name, value in added.items())


def _body(methods: list[Definition]) -> str:
    """The methods of a class."""
    whole = ast.ClassDef("C", [], [], [each.definition for each in methods], [])
    return ast.unparse(ast.fix_missing_locations(whole)).partition("\n")[2]


def _save(name: str, text: str) -> str:
    """Save the source of a network, for readers and for error messages; returns the path of the file."""
    file = os.path.abspath(os.path.join(FOLDER, f"{name}.py"))
    try:
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "w", encoding="utf-8") as out:
            out.write(text)
    except OSError:
        pass  # the lines are known without the file
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    return file
