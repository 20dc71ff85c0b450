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


#: the comparisons of two sizes that a graph may rely on
COMPARISONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def inequalities(comparison: str, left: Size, right: Size) -> list[str]:
    """What a comparison says, in the form of `Graph.facts`.

    Example:
        >>> inequalities("<", atom(0), 4)
        ['4 >= s0 + 1']
    """
    pairs = {
        "<": [(right, left + 1)], "<=": [(right, left)], ">": [(left, right + 1)], ">=": [(left, right)],
        "==": [(left, right), (right, left)],
    }  # fmt: skip
    return [f"{one} >= {other}" for one, other in pairs.get(comparison, ())]


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
    from jax import export  # noqa: PLC0415

    (found,) = export.symbolic_shape(f"s{number}", scope=_scope())
    return found


def parsed(text: str) -> Size:
    """The size that a text spells, as ``str`` writes it; the text may come from anywhere.

    Raises:
        ValueError: the text spells none.

    Example:
        >>> parsed("floordiv(s0, 2)") == atom(0) // 2
        True
    """
    return _Reader(text).size()


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


#: classes of values that most attributes have
_PLAIN: Final = frozenset({bool, int, float, str, type(None)})


def has_open(value: Any) -> bool:
    """Whether there is an open size in a value, through tuples and slices."""
    kind = value.__class__
    if kind in _PLAIN:
        return False
    if kind is tuple:
        return any(each.__class__ not in _PLAIN and has_open(each) for each in value)
    if kind is slice:
        return has_open((value.start, value.stop, value.step))
    return is_open_size(value)


#: what a text of a size may be at most
_LENGTH: Final = 400
_DIGITS: Final = 18
_ATOM_DIGITS: Final = 4
_POWER: Final = 8
_PIECE: Final = re.compile(r"\s*(s?\d+|floordiv|mod|max|min|[-+*^(),])")


class _Reader:
    """Reads sizes: sums of products of ints, atoms, powers and functions, as they are written.

    Args:
        text: the text.
    """

    def __init__(self, text: str) -> None:
        if len(text) > _LENGTH:
            raise ValueError(f"a text of {len(text)} characters is no size")
        self.text = text
        self.pieces: list[str] = []
        end, text = 0, text.rstrip()
        while end < len(text):
            match = _PIECE.match(text, end)
            if match is None or not text.isascii():
                raise ValueError(f"{self.text!r} is no size")
            self.pieces.append(match[1])
            end = match.end()
        self.pieces.append("")
        self.position = 0

    def size(self) -> Size:
        """All of the text."""
        try:
            found = self._sum()
        except ValueError:
            raise
        except Exception as error:  # what computing with sizes refuses
            raise ValueError(f"{self.text!r} is no size: {error}"[:_LENGTH]) from None
        self._expect("")
        return found

    def _next(self) -> str:
        piece = self.pieces[self.position]
        self.position += 1
        return piece

    def _expect(self, piece: str) -> None:
        if self.position >= len(self.pieces) or self._next() != piece:
            raise ValueError(f"{self.text!r} is no size")

    def _accept(self, piece: str) -> bool:
        found = self.pieces[self.position] == piece
        self.position += found
        return found

    def _sum(self) -> Size:
        total: Size = -self._product() if self._accept("-") else self._product()
        while True:
            if self._accept("+"):
                total = total + self._product()
            elif self._accept("-"):
                total = total - self._product()
            else:
                return total

    def _product(self) -> Size:
        total = self._power()
        while self._accept("*"):
            total = total * self._power()
        return total

    def _power(self) -> Size:
        base = self._factor()
        if not self._accept("^"):
            return base
        exponent = self._next()
        if not exponent.isdigit() or len(exponent) > 1 or int(exponent) > _POWER:
            raise ValueError(f"{self.text!r} is no size")
        return base ** int(exponent)

    def _factor(self) -> Size:
        piece = self._next()
        if piece.isdigit() and len(piece) <= _DIGITS:
            return int(piece)
        if ATOM.fullmatch(piece) and len(piece) <= _ATOM_DIGITS + 1:
            return atom(int(piece[1:]))
        function = SIZE_FUNCTIONS.get(piece)
        if function is None:
            raise ValueError(f"{self.text!r} is no size")
        self._expect("(")
        left = self._sum()
        self._expect(",")
        right = self._sum()
        self._expect(")")
        return function(left, right)
