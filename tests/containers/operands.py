"""Containers of each kind, with tensors, numbers that come from tensors, and None inside, made or from outside."""

from __future__ import annotations

import collections
import types
from dataclasses import dataclass
from typing import Final

import numpy as np

from tests.containers import prelude
from tests.gate.operands import ARRIVALS, Operand

#: the tensor `x` in each call: other values, another length
TENSORS: Final = tuple(
    f"Tensor(np.array({values}, np.float32))" for values in ([1, 2, 3], [2, -1, 4], [0, 4], [1, 3, 2.5])
)
#: three items of a container that the program makes, of `x` and of `y = x * 2`
MADE: Final[dict[str, tuple[str, str, str]]] = {
    "tensors": ("y", "x + 1", "x"),
    "numbers": ("int(x[0])", "x.shape[0]", "float(x[1])"),
    "mixed": ("y", "None", "x[0].item()"),
    "nested": ("[y, 1]", "(x, 'a')", "{'k': y}"),
}
#: three items of a container from outside, in which K is the number of the call
OUTSIDE: Final[dict[str, tuple[str, str, str]]] = {
    "tensors": ("Tensor([K, 2.])", "Tensor([K.5])", "Tensor([[3., K]])"),
    "numbers": ("K", "3", "K.5"),
    "mixed": ("Tensor([K, 2.])", "None", "K"),
    "nested": ("[Tensor([K, 2.]), K]", "(Tensor([1., K]), 'a')", "{'k': Tensor([K.5])}"),
}


@dataclass(frozen=True)
class Kind:
    """A kind of container.

    Attributes:
        cls: the class whose methods are called.
        text: an expression of a container with the items A, B and D.
        insides: what it can have inside, keys of `MADE`.
        kept: whether one object can be given new contents between calls.
    """

    cls: type
    text: str
    insides: tuple[str, ...] = ("tensors", "numbers", "mixed", "nested")
    kept: bool = False


_NUMBERS: Final = ("numbers",)
_HASHED: Final = ("numbers", "mixed")

KINDS: Final[dict[str, Kind]] = {
    "list": Kind(list, "[A, B, D]", kept=True),
    "tuple": Kind(tuple, "(A, B, D)"),
    "dict": Kind(dict, "{'a': A, 'b': B, 'c': D}", kept=True),
    "dict with numbers for keys": Kind(dict, "{0: A, 1: B, 'a': D}", kept=True),
    "set": Kind(set, "{A, B, D}", _HASHED, kept=True),
    "frozenset": Kind(frozenset, "frozenset([A, B, D])", _HASHED),
    "deque": Kind(collections.deque, "collections.deque([A, B, D])", kept=True),
    "bounded deque": Kind(collections.deque, "collections.deque([A, B, D], 3)", kept=True),
    "OrderedDict": Kind(collections.OrderedDict, "collections.OrderedDict(a=A, b=B, c=D)", kept=True),
    "defaultdict": Kind(collections.defaultdict, "collections.defaultdict(list, a=A, b=B, c=D)", kept=True),
    "Counter": Kind(collections.Counter, "collections.Counter(a=A, b=B)", _NUMBERS, kept=True),
    "ChainMap": Kind(collections.ChainMap, "collections.ChainMap({'a': A}, {'a': B, 'c': D})"),
    "UserList": Kind(collections.UserList, "collections.UserList([A, B, D])"),
    "UserDict": Kind(collections.UserDict, "collections.UserDict(a=A, b=B, c=D)"),
    "named tuple": Kind(prelude.Triple, "Triple(A, B, D)"),
    "dataclass": Kind(prelude.Record, "Record(A, B, D)", kept=True),
    "frozen dataclass": Kind(prelude.Fixed, "Fixed(A, B, D)"),
    "slots": Kind(prelude.Slots, "Slots(A, B, D)", kept=True),
    "object": Kind(prelude.Box, "Box(A, B, D)", kept=True),
    "namespace": Kind(types.SimpleNamespace, "types.SimpleNamespace(a=A, b=B, c=D)", kept=True),
    "own list": Kind(prelude.Bag, "Bag([A, B, D])", kept=True),
    "own counting list": Kind(prelude.Counted, "Counted([A, B, D])", kept=True),
    "own dict": Kind(prelude.Table, "Table(a=A, b=B, c=D)", kept=True),
    "mapping proxy": Kind(types.MappingProxyType, "types.MappingProxyType({'a': A, 'b': B})"),
    "keys": Kind(type({}.keys()), "{'a': A, 'b': B}.keys()", _NUMBERS),
    "values": Kind(type({}.values()), "{'a': A, 'b': B}.values()"),
    "items": Kind(type({}.items()), "{'a': A, 'b': B}.items()"),
    "range": Kind(range, "range(A, A + 4)", _NUMBERS),
    "slice": Kind(slice, "slice(0, B)", _NUMBERS),
    "str": Kind(str, "f'a{B}-'", _NUMBERS),
    "bytes": Kind(bytes, "b'a%d-' % B", _NUMBERS),
    "int": Kind(int, "A", _NUMBERS),
    "size": Kind(int, "B", _NUMBERS),
    "float": Kind(float, "D", _NUMBERS),
    "bool": Kind(bool, "bool(A > 1)", _NUMBERS),
    "None": Kind(type(None), "None", _NUMBERS),
    "array": Kind(np.ndarray, "np.array([[1.5, A], [B, D]])", _NUMBERS, kept=True),
    "int array": Kind(np.ndarray, "np.array([B, A, 0])", _NUMBERS, kept=True),
    "object array": Kind(np.ndarray, "np.array([None, A, 'a'], dtype=object)", _NUMBERS, kept=True),
    "NumPy float": Kind(np.float32, "np.float32(D)", _NUMBERS),
    "NumPy int": Kind(np.int64, "np.int64(A)", _NUMBERS),
    "NumPy bool": Kind(np.bool_, "np.bool_(A > 1)", _NUMBERS),
}


def _filled(text: str, items: tuple[str, str, str]) -> str:
    """A kind's expression with the items in place."""
    for sign, item in zip("ABD", items, strict=True):
        # capitals of names such as `None` or `Box` have letters beside them
        text = _replaced(text, sign, item)
    return text


def _replaced(text: str, sign: str, item: str) -> str:
    found = []
    for number, letter in enumerate(text):
        alone = not (text[number - 1 : number].isalnum() or text[number + 1 : number + 2].isalnum())
        found.append(item if letter == sign and alone else letter)
    return "".join(found)


def made(kind: str, inside: str) -> Operand:
    """A container that the program makes of its tensors."""
    text = _filled(KINDS[kind].text, MADE[inside])
    return Operand(f"{kind} of {inside}", "tensor", (), TENSORS, (f"v = {text}",), "", "", "")


def outside(kind: str, inside: str, arrival: str) -> Operand:
    """A container from outside that arrives in one of the ways of `ARRIVALS`."""
    values = tuple(
        _filled(KINDS[kind].text, tuple(item.replace("K", str(call)) for item in OUTSIDE[inside]))
        for call in (1, 2, 5, 4)
    )
    code, before, arguments, passed = ARRIVALS[arrival]
    name = f"{kind} of {inside} ({arrival})"
    return Operand(name, "tensor", values, TENSORS, code, before, arguments, passed)


def ways(kind: str) -> list[str]:
    """The ways in which a container of a kind reaches a program."""
    return ["made", "argument", *(name for name in ARRIVALS if name not in ("argument", "kept") or KINDS[kind].kept)]


def operand(kind: str, inside: str, way: str) -> Operand:
    """The container of a kind that reaches the program in a way."""
    return made(kind, inside) if way == "made" else outside(kind, inside, way)


def watches_outside(way: str) -> bool:
    """Whether what arrives in a way is a constant of graphs that have no guards."""
    return way not in ("made", "argument")
