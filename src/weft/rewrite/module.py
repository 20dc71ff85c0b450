"""The module of a rewritten network: its text, its classes, and the network itself."""

from __future__ import annotations

import ast
import builtins
import itertools
import linecache
import os
import sys
import types
from typing import Any

from weft.nn.cell import Cell
from weft.rewrite.grown import Grown
from weft.rewrite.names import Definition, Names
from weft.rewrite.numbered import spelled
from weft.rewrite.parameters import name_parameters
from weft.rewrite.project import Project
from weft.rewrite.rebuilding import Rebuilding

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
        #: the name of the class that each rewritten cell became; cells with the same statements share one
        self.classes: dict[int, str] = {}
        functions = _rewritten_functions(tree.project)
        methods = {id(each): [Definition(source) for source, _ in each.methods.values()] for each in tree._trees()}
        #: the trees of which something was rewritten, and that of the network in any case
        self.trees = trees = [
            each
            for each in tree._trees()
            if each is tree or any(one.is_changed(functions) for one in methods[id(each)])
        ]
        self.names = names = Names(
            [each.class_name for each in trees],
            {function: tree.project.functions[function].name for function in functions},
            [*functions.values(), *(one for each in trees for one in methods[id(each)])],
        )
        parts = [ast.unparse(each.definition) for each in functions.values()]
        known: dict[tuple[str, str], str] = {}
        classes = []
        for each in trees:
            cls = type(each.network)
            base = names.bind(spelled(cls.__name__), _holder(cls), key=cls.__name__)
            body, added = _body(methods[id(each)]), each._added
            name = each.class_name
            if not added:
                name = known.setdefault((base, body), name)
            self.classes[id(each.network)] = name
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
        rebuilding = Rebuilding(
            self.tree.network,
            {key: module.__dict__[name] for key, name in self.classes.items()},
            {id(each.network): each._added for each in self.trees},
            [key for key, each in self.tree.project.trees.items() if each is not None],
        )
        made = rebuilding.whole()
        name_parameters(made, self.tree.network, rebuilding.inserted())
        return made


def _rewritten_functions(project: Project) -> dict[Any, Definition]:
    """The functions that were changed, or that mention one which was."""
    waiting = {function: Definition(each.source) for function, each in project.functions.items()}
    found: dict[Any, Definition] = {}
    while more := {function: each for function, each in waiting.items() if each.is_changed(found)}:
        found |= more
        waiting = {function: each for function, each in waiting.items() if function not in found}
    return {function: found[function] for function in project.functions if function in found}


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
