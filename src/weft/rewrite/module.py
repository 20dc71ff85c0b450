"""The module of a rewritten network: its text, its classes, and the network itself."""

from __future__ import annotations

import ast
import builtins
import copy
import itertools
import linecache
import os
import sys
import types
from collections import OrderedDict
from typing import Any

from weft.core.home import Home
from weft.core.parameters import rename
from weft.core.tensor import Parameter
from weft.nn.cell import Cell
from weft.rewrite.grown import Grown

_count = itertools.count()
#: where the sources of networks are saved
FOLDER = "rewritten_network"


class Module:
    """The module of a rewritten network.

    Args:
        tree: of the network.
    """

    def __init__(self, tree: Grown) -> None:
        self.tree = tree
        #: the name of the class that each tree became; trees with the same statements share one
        self.classes: dict[int, str] = {}
        names = tree.project.names
        parts = [ast.unparse(_whole(each)) for each in tree.project.definitions()]
        known: dict[tuple[str, str], str] = {}
        classes = []
        for each in tree.trees():
            base = names.bind(type(each.network).__name__, _holder(type(each.network)))
            body, held = _body(each), _held(each)
            name = each.class_name
            if not each.added:
                name = known.setdefault((base, body), name)
            self.classes[id(each)] = name
            if name == each.class_name:
                classes.append(f"{held}class {name}({base}):\n{body}")
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
        module.__dict__.update(self.tree.project.names.values())
        module.__dict__.update(__file__=file, __builtins__=builtins)
        below = "\n" * (self.header.count("\n")) + self.text[len(self.header) :]
        sys.modules[name] = module  # `inspect` finds the source of a class by its module
        exec(compile(below, file, "exec"), module.__dict__)
        rebuilding = _Rebuilding(self, module.__dict__)
        made = rebuilding.cell(self.tree.network)
        rebuilding.name_parameters(made)
        return made


class _Rebuilding:
    """Makes the cells of the rewritten network: those with a tree are of new classes, those without any are shared."""

    def __init__(self, module: Module, namespace: dict[str, Any]) -> None:
        self.trees = {id(tree.network): tree for tree in module.tree.trees()}
        self.classes = {key: namespace[name] for key, name in module.classes.items()}
        self.made: dict[int, Cell] = {}

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
            state[name] = self._value(value) if name != "_compiled" else Home(made)
        if tree is not None:
            state.pop("construct", None)  # a compiled one, which computes what the original does
        state["cls_name"] = cls.__name__
        made._refresh_extras()
        for name, value in (tree.added if tree is not None else {}).items():
            setattr(made, name, self._value(value))
        return made

    def name_parameters(self, whole: Cell) -> None:
        """Name the parameters of what was inserted by their paths in the network."""
        added = {id(self.made[key]): tree.added for key, tree in self.trees.items() if key in self.made}
        for path, cell in whole.cells_and_names():
            for name in added.get(id(cell), ()):
                held = getattr(cell, name)
                prefix = f"{path}.{name}" if path else name
                if isinstance(held, Cell):
                    held.update_parameters_name(f"{prefix}.")
                elif isinstance(held, Parameter):
                    rename(held, prefix)

    def _value(self, value: Any) -> Any:
        """What an attribute becomes: its own container, in which rewritten cells are replaced."""
        if isinstance(value, Cell):
            return self.cell(value)
        if type(value) in (dict, OrderedDict):
            return type(value)((key, self._value(each)) for key, each in value.items())
        if type(value) in (list, tuple) and any(isinstance(each, Cell) for each in value):
            return type(value)(map(self._value, value))
        return value

    def _changes(self, cell: Cell, seen: set[int]) -> bool:
        """Whether a cell with a tree is below a cell."""
        if id(cell) in seen:
            return False
        seen.add(id(cell))
        return id(cell) in self.trees or any(
            self._changes(each, seen) for each in cell._cells.values() if each is not None
        )


def _holder(cls: type) -> dict[str, Any]:
    """A dict that has a class by its name: its module, if that has it."""
    home = getattr(sys.modules.get(cls.__module__), "__dict__", {})
    return home if home.get(cls.__name__) is cls else {cls.__name__: cls}


def _whole(definition: ast.FunctionDef) -> ast.FunctionDef:
    """A definition without empty bodies."""
    made = copy.deepcopy(definition)
    for node in ast.walk(made):
        if isinstance(node, (ast.FunctionDef, ast.If, ast.For, ast.While)) and not node.body:
            node.body = [ast.Pass()]
    return ast.fix_missing_locations(made)


def _held(tree: Grown) -> str:
    """Comment lines for what was inserted."""
    return "".join(f"# self.{name}: {type(value).__name__}, inserted\n" for name, value in tree.added.items())


def _body(tree: Grown) -> str:
    """The methods of a class."""
    methods: list[ast.stmt] = [_whole(source.definition) for source, _ in tree.methods.values()]
    whole = ast.ClassDef(name="C", bases=[], keywords=[], body=methods, decorator_list=[])
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
