"""Functions over structures: `HyperMap`, `Map`, `MultitypeFuncGraph`, `Partial`.

Plain Python that a capture steps through, so that the functions they call are captured like any other.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from weft.core.tensor import Parameter, Tensor
from weft.core.transparency import keeps, transparent
from weft.dtypes import DType, TypeName


@keeps
class HyperMap:
    """Apply a function to corresponding items of nested tuples, lists and dicts.

    Args:
        ops: the function; None takes it as the first argument of the call.
        reverse: apply it to the last items first.

    Raises:
        TypeError: there is no function, or a structure meets a single value.
        ValueError: structures differ in length.

    Example:
        >>> HyperMap()(lambda a, b: a + b, ((1, 2), [3]), ((10, 20), [30]))
        ((11, 22), [33])
    """

    #: what an instance is made of: programs make one anew for each call
    __weft_parts__ = ("ops", "reverse")
    #: whether items that are containers themselves are mapped over
    nested = True

    def __init__(self, ops: Callable[..., Any] | None = None, reverse: bool = False) -> None:
        if ops is not None and not callable(ops):
            raise TypeError(f"{type(self).__name__}: ops must be a function, not {type(ops).__name__}")
        if not isinstance(reverse, bool):
            raise TypeError(f"{type(self).__name__}: reverse must be a bool, not {type(reverse).__name__}")
        self.ops = ops
        self.reverse = reverse

    @transparent
    def __call__(self, *args: Any) -> Any:
        function = self.ops
        if function is None:
            if not args or not callable(args[0]):
                name = type(self).__name__
                raise TypeError(f"{name}() without a function takes one as the first argument of the call")
            function = args[0]
            args = args[1:]
        if not args:
            raise TypeError(f"{type(self).__name__} needs at least one structure to map over")
        return _map(function, args, self.reverse, self.nested, True)


class Map(HyperMap):
    """Apply a function to corresponding items of tuples or lists; items are not looked into.

    Args:
        ops: the function; None takes it as the first argument of the call.
        reverse: apply it to the last items first.

    Example:
        >>> Map()(lambda a: len(a), ((1, 2), (3,)))
        (2, 1)
    """

    nested = False


@transparent
def _map(function: Callable[..., Any], args: Sequence[Any], reverse: bool, nested: bool, top: bool) -> Any:
    first = args[0]
    if not (nested or top) or not isinstance(first, (tuple, list, dict)):
        for other in args[1:]:
            if (nested or top) and isinstance(other, (tuple, list, dict)):
                raise TypeError(
                    f"the structures to map over differ: a {type(first).__name__} stands where "
                    f"another argument has a {type(other).__name__} of {len(other)} items"
                )
        return function(*args)
    keys = _keys(args)
    if reverse:
        keys = keys[::-1]
    results = []
    for key in keys:
        items = []
        for arg in args:
            items.append(arg[key])
        results.append(_map(function, items, reverse, nested, False))
    if reverse:
        keys = keys[::-1]
        results = results[::-1]
    if isinstance(first, dict):
        return dict(zip(keys, results, strict=True))
    if isinstance(first, list):
        return results
    return tuple(results)


@keeps
def _keys(args: Sequence[Any]) -> list[Any]:
    """The keys or positions that all structures have."""
    first = args[0]
    for other in args[1:]:
        if isinstance(first, dict) is not isinstance(other, dict) or not isinstance(other, (dict, tuple, list)):
            raise TypeError(
                f"the structures to map over differ: a {type(first).__name__} of {len(first)} items stands where "
                f"another argument has {other!r:.40} ({type(other).__name__})"
            )
        if len(other) != len(first) or (isinstance(other, dict) and set(other) != set(first)):
            raise ValueError(
                f"the structures to map over differ: one has {len(first)} items where another has {len(other)}"
            )
    return list(first) if isinstance(first, dict) else list(range(len(first)))


# -- dispatch on types -------------------------------------------------------------------------------------------

_ALIASES = {
    "int_": "int", "uint": "int", "float_": "float", "bool_": "bool", "str": "string", "none": "none",
    "typenone": "none", "nonetype": "none", "func": "function", "ref": "parameter", "tensor_type": "tensor",
    "tensortype": "tensor", "list_": "list", "tuple_": "tuple", "dictionary": "dict",
}  # fmt: skip


def _type_name(kind: Any) -> str:
    """The lower-case name of a type given by name, TypeName, element type or Python class."""
    if isinstance(kind, (DType, TypeName)):
        name = kind.name
    elif isinstance(kind, str):
        name = kind
    elif isinstance(kind, type):
        name = kind.__name__
    else:
        raise TypeError(f"a type is registered by name, e.g. 'Tensor' or 'Number', not by {type(kind).__name__}")
    lower = name.lower()
    return _ALIASES.get(lower, lower)


def _names_of(value: Any) -> tuple[str, ...]:
    """The names under which a value matches, the most specific first."""
    if isinstance(value, Tensor):
        return ("parameter", "tensor") if isinstance(value, Parameter) else ("tensor",)
    if value is None:
        return ("none",)
    if isinstance(value, bool):
        return ("bool", "number")
    if isinstance(value, int):
        return ("int", "int64", "int32", "number")
    if isinstance(value, float):
        return ("float", "float32", "float64", "number")
    if isinstance(value, str):
        return ("string",)
    if isinstance(value, tuple):
        return ("tuple",)
    if isinstance(value, list):
        return ("list",)
    if isinstance(value, dict):
        return ("dict",)
    own = tuple(kind.__name__.lower() for kind in type(value).__mro__[:-1])
    return (*own, "function") if callable(value) else own


class MultitypeFuncGraph:
    """A function with an implementation for each combination of argument types.

    Args:
        name: shown in errors.
        read_value: accepted; parameters are always passed by value or handle as the implementation uses them.

    Raises:
        TypeError: a call matches no registered implementation.

    Example:
        >>> double = MultitypeFuncGraph("double")
        >>> @double.register("Number")
        ... def double_number(x):
        ...     return x * 2
        >>> double(4)
        8
    """

    def __init__(self, name: str, read_value: bool = False, doc_url: str = "") -> None:
        del doc_url
        if not isinstance(name, str):
            raise TypeError(f"MultitypeFuncGraph: name must be a str, not {type(name).__name__}")
        self.name = name
        self.read_value = read_value
        self.entries: list[tuple[tuple[str, ...], Callable[..., Any]]] = []
        self._chosen: dict[Any, Callable[..., Any]] = {}

    def register(self, *type_names: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """A decorator that registers an implementation.

        Args:
            type_names: a type for each argument: "Tensor", "Number", "Int", "Float", "Bool", "String", "Tuple", "List",
                "Dict", "None", "Function", the name of a class, or a dtype.
        """
        names = tuple([_type_name(kind) for kind in type_names])

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            self.entries = [entry for entry in self.entries if entry[0] != names]
            self.entries.append((names, function))
            self._chosen.clear()
            return function

        return decorate

    def select(self, args: Sequence[Any]) -> Callable[..., Any]:
        """The implementation for these arguments: the one whose types are most specific."""
        return self._select(self.entries, args)

    @keeps
    def _select(self, entries: Sequence[tuple[tuple[str, ...], Callable[..., Any]]], args: Any) -> Callable[..., Any]:
        offered = tuple([_names_of(arg) for arg in args])
        chosen = self._chosen.get(offered)
        if chosen is not None:
            return chosen
        best: tuple[int, Callable[..., Any]] | None = None
        for names, function in entries:
            if len(names) == len(offered) and all(n in o for n, o in zip(names, offered, strict=True)):
                distance = sum(o.index(n) for n, o in zip(names, offered, strict=True))
                if best is None or distance < best[0]:
                    best = (distance, function)
        if best is None:
            given = ", ".join(_shown(arg) for arg in args)
            known = "; ".join(f"({', '.join(names)})" for names, _ in entries) or "none"
            raise TypeError(f"{self.name} has no implementation for ({given}); registered are: {known}")
        self._chosen[offered] = best[1]
        return best[1]

    @transparent
    def __call__(self, *args: Any) -> Any:
        function = self._select(self.entries, args)  # what is registered is read here, so that capture knows of it
        return function(*args)

    def __repr__(self) -> str:
        return f"MultitypeFuncGraph({self.name!r})"


def _shown(value: Any) -> str:
    return "None" if value is None else type(value).__name__


class Partial:
    """An operator that fixes the first arguments of a function.

    Example:
        >>> Partial()(lambda a, b: a - b, 10)(3)
        7
    """

    @transparent
    def __call__(self, func: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:
        return partial(func, *args, **kwargs)


@keeps
def partial(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """A function with its first arguments (and some keywords) fixed.

    Args:
        func: the function.
        args: its first arguments.
        kwargs: keyword arguments.

    Raises:
        TypeError: `func` cannot be called.

    Example:
        >>> partial(pow, 2)(5)
        32
    """
    if not callable(func):
        raise TypeError(f"partial needs a function, not {type(func).__name__}")
    return functools.partial(func, *args, **kwargs)
