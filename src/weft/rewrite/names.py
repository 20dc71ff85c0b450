"""The names of the module that a rewritten network is defined in."""

from __future__ import annotations

import ast
import builtins
import copy
import sys
import types
from collections.abc import Container, Iterable, Mapping
from typing import Any

from weft.rewrite.numbered import numbered
from weft.rewrite.sources import UNKNOWN, Source, globals_of, meant_by, names_made

#: syntax nodes with variables of their own
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Definition:
    """A function as it stands in the generated module: a copy, whose names are still to be decided.

    Args:
        source: the function, with its statements as they are now.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.definition = made = _whole(source.definition)
        #: names in functions and comprehensions inside that are variables there
        self.inner = {
            id(node)
            for scope in ast.walk(made)
            if scope is not made and isinstance(scope, _SCOPES)
            for names in [names_made(scope)]
            for node in ast.walk(scope)
            if isinstance(node, ast.Name) and node.id in names
        }
        #: names that are variables in it
        self.own = names_made(made) - {made.name}
        body: list[ast.stmt] = [made]
        code = compile(ast.Module(body, []), "<rewritten>", "exec", dont_inherit=True)
        #: names that it reads from elsewhere
        self.outside = list(dict.fromkeys(globals_of(code)))

    def is_outside(self, name: ast.Name) -> bool:
        """Whether what a name means follows from where the function was written."""
        return name.id in self.outside and id(name) not in self.inner and meant_by(name) is None

    def is_changed(self, functions: Container[Any]) -> bool:
        """Whether its statements are others than those read, or it mentions one of some functions."""
        return self.source.is_changed or any(
            isinstance(value, types.FunctionType) and value in functions
            for node in ast.walk(self.definition)
            if isinstance(node, (ast.Name, ast.Attribute))
            for value in [self.look_up(node)]
        )

    def look_up(self, expression: ast.expr) -> Any:
        """What a name, or an attribute of a module, means; UNKNOWN for anything else."""
        if isinstance(expression, ast.Name) and self.is_outside(expression):
            home = self.source.home_of(expression.id)
            return UNKNOWN if home is None else home[expression.id]
        if isinstance(expression, ast.Attribute):
            home_module = self.look_up(expression.value)
            if isinstance(home_module, types.ModuleType):
                return getattr(home_module, expression.attr, UNKNOWN)
        return UNKNOWN


class Names:
    """What the names of a generated module are bound to: they are decided when it is generated, of its whole text.

    Args:
        classes: names of the classes that the module defines.
        functions: what the module calls the functions of the program that it defines anew.
        definitions: all that the module defines.
    """

    def __init__(self, classes: Iterable[str], functions: Mapping[Any, str], definitions: list[Definition]) -> None:
        self._homes: dict[str, tuple[Mapping[str, Any], str]] = {}
        self._defined = set(classes)
        variables = {name for each in definitions for name in each.own}
        self._functions = {function: self._define(name, variables) for function, name in functions.items()}
        for each in definitions:
            if each.source.owner is None:
                each.definition.name = self._functions[each.source.function]
        for each in definitions:
            self._bind_text(each)
        for each in definitions:  # last, since their names are free
            self._bind_meant(each)

    def bind(self, name: str, home: Mapping[str, Any], avoid: Iterable[str] = (), key: str = "") -> str:
        """Bind a name as a dict has it.

        Args:
            name: the name.
            home: a dict that has it, such as the variables of a module.
            avoid: names that cannot be taken.
            key: what the dict calls it, where that is another name.

        Returns:
            str: the name, or another one where it is bound to something else already.
        """
        key = key or name
        found = numbered(name, lambda each: each in self._defined or each in avoid or not self._may_be(each, home[key]))
        self._homes.setdefault(found, (home, key))
        return found

    def values(self) -> dict[str, Any]:
        """What each name is bound to now."""
        return {name: home[key] for name, (home, key) in self._homes.items() if key in home}

    def lines(self, used: set[str]) -> list[str]:
        """Import statements that say where each name comes from that is used."""
        homes = [(name, *self._homes[name]) for name in used if name in self._homes]
        return sorted(
            _origin(name, home, key)
            for name, home, key in homes
            if key in home and not (home is builtins.__dict__ and name == key)
        )

    def _define(self, name: str, avoid: set[str]) -> str:
        found = numbered(name, lambda each: each in self._defined or each in avoid)
        self._defined.add(found)
        return found

    def _bind_text(self, made: Definition) -> None:
        """Bind the names of a text, and rename in it what is bound to something else already."""
        _Renamed(made, self._functions).visit(made.definition)
        uses: dict[str, list[ast.Name]] = {}
        for node in ast.walk(made.definition):
            if isinstance(node, ast.Name) and made.is_outside(node) and not hasattr(node, _DECIDED):
                uses.setdefault(node.id, []).append(node)
        taken = made.own | {node.id for node in ast.walk(made.definition) if isinstance(node, ast.Name)}
        for name in made.outside:
            home = made.source.home_of(name)
            if home is not None and name in uses:
                bound = self.bind(name, home, avoid=taken - {name})
                for use in uses[name]:
                    use.id = bound

    def _bind_meant(self, made: Definition) -> None:
        """Give the names that mean an object names which nothing else has."""
        for node in ast.walk(made.definition):
            meant = meant_by(node)
            if meant is not None and isinstance(node, ast.Name):
                node.id = self.bind(node.id, meant.home, avoid=made.own, key=meant.key)

    def _may_be(self, name: str, value: Any) -> bool:
        if name not in self._homes:
            return True
        home, key = self._homes[name]
        return home.get(key) is value


#: attribute of names in syntax trees that are as they are to be
_DECIDED = "weft_decided"


class _Renamed(ast.NodeTransformer):
    """Lets every mention of a function that the module defines anew mean the new one."""

    def __init__(self, made: Definition, functions: Mapping[Any, str]) -> None:
        self.made = made
        self.functions = functions

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self._decided(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        found = self._decided(node)
        return self.generic_visit(node) if found is node else found

    def _decided(self, node: ast.Name | ast.Attribute) -> ast.AST:
        value = self.made.look_up(node)
        if not isinstance(value, types.FunctionType) or value not in self.functions:
            return node
        name = ast.Name(self.functions[value], ast.Load())
        setattr(name, _DECIDED, True)
        return name


def _whole(definition: ast.FunctionDef) -> ast.FunctionDef:
    """A copy of a definition without empty bodies."""
    made = copy.deepcopy(definition)
    for node in ast.walk(made):
        if isinstance(node, (ast.FunctionDef, ast.If, ast.For, ast.While)) and not node.body:
            node.body = [ast.Pass()]
    return ast.fix_missing_locations(made)


def _origin(name: str, home: Mapping[str, Any], key: str) -> str:
    value = home[key]
    if isinstance(value, types.ModuleType):
        return f"import {value.__name__}" + (f" as {name}" if name != value.__name__ else "")
    module = home.get("__name__") or getattr(value, "__module__", None)
    if getattr(sys.modules.get(str(module)), key, UNKNOWN) is not value:
        module = min(_offering(key, value), key=len, default=None)
    if module is None:
        return f"# {name}: {type(value).__name__}"
    return f"from {module} import {key}" + (f" as {name}" if name != key else "")


def _offering(key: str, value: Any) -> list[str]:
    """The modules that can be imported and have an object, which its own module may not have."""
    return [
        name
        for name, module in list(sys.modules.items())
        for known in [getattr(module, "__dict__", {})]
        if known.get("__spec__") is not None and known.get(key, UNKNOWN) is value
    ]
