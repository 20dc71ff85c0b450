"""How a row of a table becomes a function: mint's names of parameters over an operation of weft.

A row is the signature of the function, and behind ``=`` the operation where it has another name: ``"cat(tensors,
dim=0)"``, ``"gather(input, dim, index) = gather_elements"``. Arguments are passed on in their order, those behind ``*``
by their names. The function is the operation itself where the signatures are equal.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter, Signature, signature
from typing import Any, Final

_EMPTY: Final = Parameter.empty


def parse(row: str) -> tuple[str, Signature, str]:
    """The name of a row, its signature, and the name of the operation behind it."""
    text, _, target = row.partition(" = ")
    made = ast.parse(f"def {text}: ...").body[0]
    assert isinstance(made, ast.FunctionDef)
    found, arguments = [], made.args
    assert arguments.vararg is None, row
    assert arguments.kwarg is None, row
    defaults: list[Any] = [_EMPTY] * (len(arguments.args) - len(arguments.defaults))
    defaults += map(ast.literal_eval, arguments.defaults)
    for argument, default in zip(arguments.args, defaults, strict=True):
        found.append(Parameter(argument.arg, Parameter.POSITIONAL_OR_KEYWORD, default=default))
    for argument, node in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        value = _EMPTY if node is None else ast.literal_eval(node)
        found.append(Parameter(argument.arg, Parameter.KEYWORD_ONLY, default=value))
    return made.name, Signature(found), target or made.name


def shape_of(found: Signature) -> list[tuple[str, Any, Any, type]]:
    """What two signatures have in common where the same calls are right: names, kinds and defaults."""
    return [(one.name, one.kind, one.default, type(one.default)) for one in found.parameters.values()]


def renamed(name: str, wanted: Signature, operation: Callable[..., Any], module: str) -> Callable[..., Any]:
    """The operation under another signature.

    Raises:
        TypeError: the operation cannot be given those arguments.
    """
    offered = signature(operation)
    if shape_of(offered) == shape_of(wanted):
        return operation
    by_place = [p for p in wanted.parameters.values() if p.kind is Parameter.POSITIONAL_OR_KEYWORD]
    by_name = {p.name: p.default for p in wanted.parameters.values() if p.kind is Parameter.KEYWORD_ONLY}
    offered.bind(*by_place, **by_name)
    defaults = tuple(p.default for p in by_place)
    needed = defaults.count(_EMPTY)

    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs or not needed <= len(args) <= len(defaults):
            try:
                bound = wanted.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{name}() {error}") from None
            bound.apply_defaults()
            return operation(*bound.args, **bound.kwargs)
        return operation(*args, *defaults[len(args) :], **by_name)

    call.__name__ = call.__qualname__ = name
    call.__module__ = module
    call.__doc__ = f"`weft.ops.{operation.__name__}` as ``{name}{wanted}``."
    call.__signature__ = wanted  # type: ignore[attr-defined]
    return call


def functions(rows: Iterable[str], operations: Mapping[str, Any], module: str) -> dict[str, Callable[..., Any]]:
    """The functions of a table, by name.

    Args:
        rows: see above.
        operations: where the operations are.
        module: the module that offers the functions.
    """
    found = {}
    for row in rows:
        name, wanted, target = parse(row)
        found[name] = renamed(name, wanted, operations[target], module)
    return found
