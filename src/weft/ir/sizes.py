"""Sizes of axes that a graph leaves open: expressions over the sizes of its inputs, which the call brings.

They are JAX's symbolic dimensions (`jax.export.symbolic_shape`), which its shape inference computes with. All are of
one scope, and an *atom* of it, ``s0``, ``s1``..., is the size of an axis of some input. It is at least 1.
"""

from __future__ import annotations

import functools
import operator
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import jax

#: an int, or an expression over atoms
Size = Any
#: the name of an atom in the text of a size
ATOM: Final = re.compile(r"\bs\d+\b")
#: the functions in the text of a size
SIZE_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "max": lambda a, b: a if a == b else jax.core.max_dim(a, b),
    "min": lambda a, b: a if a == b else jax.core.min_dim(a, b),
}


@functools.cache
def _scope() -> Any:
    from jax import export  # noqa: PLC0415  only a graph with open sizes needs it

    return export.SymbolicScope()


@functools.cache
def atom(number: int) -> Size:
    """The size with a number.

    Example:
        >>> atom(0) * 2 + 1
        2*s0 + 1
    """
    return parsed(f"s{number}")


def parsed(text: str) -> Size:
    """The size that a text spells.

    Raises:
        ValueError: the text spells none.

    Example:
        >>> parsed("floordiv(s0, 2)") == atom(0) // 2
        True
    """
    from jax import export  # noqa: PLC0415

    try:
        (found,) = export.symbolic_shape(text, scope=_scope())
    except Exception as error:
        raise ValueError(f"{text!r} is no size: {error}") from None
    return found


def constrained(names: Sequence[str], facts: Iterable[str]) -> dict[str, Size]:
    """Atoms of a scope of their own, of which more is known than that they are at least 1.

    Args:
        names: the names of the atoms.
        facts: what is known, as ``"s0 >= 2*s1"``.

    Example:
        >>> at_least(constrained(["s0"], ["s0 >= 2"])["s0"], 2)
        True
    """
    from jax import export  # noqa: PLC0415

    scope = export.SymbolicScope(list(facts))
    return dict(zip(names, export.symbolic_shape(", ".join(names), scope=scope), strict=True))


def is_open_size(size: Size) -> bool:
    """Whether a size is known only when the graph runs."""
    return not isinstance(size, int) and hasattr(size, "dimension_as_value")


def at_least(size: Size, bound: int) -> bool:
    """Whether a size is certainly at least a number.

    Example:
        >>> at_least(atom(0), 1), at_least(atom(0), 2), at_least(3, 2)
        (True, False, True)
    """
    try:
        return bool(size >= bound)
    except Exception:
        return False


def atoms_of(value: Any) -> list[str]:
    """The names of the atoms in the sizes in a value, in order."""
    names = {name for size in open_in(value) for name in ATOM.findall(str(size))}
    return sorted(names, key=lambda name: int(name[1:]))


@functools.lru_cache(maxsize=4096)
def spelled(size: Size) -> str:
    """A size as a Python expression over its atoms, `floordiv` and `mod`."""
    return str(size).replace("^", "**")


@functools.lru_cache(maxsize=4096)
def _code(size: Size) -> types.CodeType:
    return compile(spelled(size), "<size>", "eval")


def evaluated(size: Size, values: Mapping[str, Size]) -> Size:
    """A size where its atoms have these values, which may be atoms of another scope.

    Example:
        >>> evaluated(atom(0) * atom(1), {"s0": 2, "s1": 3})
        6
    """
    if isinstance(size, int):
        return size
    return eval(_code(size), {**SIZE_FUNCTIONS, **values})


def settled(value: Any, values: Mapping[str, Size]) -> Any:
    """A value with ints in place of the open sizes in it, through tuples and slices."""
    kind = value.__class__
    if kind is tuple:
        found = tuple([settled(item, values) for item in value])
        return value if all(map(operator.is_, found, value)) else found
    if kind is slice:
        return slice(settled(value.start, values), settled(value.stop, values), settled(value.step, values))
    return evaluated(value, values) if is_open_size(value) else value


def open_in(value: Any) -> Iterator[Size]:
    """The open sizes in a value, through tuples and slices."""
    kind = value.__class__
    if kind is tuple:
        for item in value:
            yield from open_in(item)
    elif kind is slice:
        yield from open_in((value.start, value.stop, value.step))
    elif is_open_size(value):
        yield value


def has_open(value: Any) -> bool:
    """Whether there is an open size in a value, through tuples and slices."""
    kind = value.__class__
    if kind is tuple:
        return any(map(has_open, value))
    if kind is slice:
        return has_open((value.start, value.stop, value.step))
    return is_open_size(value)
