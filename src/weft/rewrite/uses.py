"""Which statements of a body give names their values, and which read them."""

from __future__ import annotations

import ast
from bisect import bisect_left, insort
from collections.abc import Iterator
from typing import Any

#: between the places of two statements, so that others can be put there
_GAP = 1 << 32
#: behind every statement
_END = float("inf")

#: where a name stands: place of the statement, which of its targets or arguments, and its node
_Entry = tuple[int, int, Any]


class Uses:
    """Which nodes of a body give names their values, and which read them; it grows with the body.

    Args:
        nodes: the nodes (`Node`) in the order of their statements.
    """

    def __init__(self, nodes: list[Any]) -> None:
        #: a number for each node, in the order of the statements
        self.places: dict[Any, int] = {}
        self._given: dict[str, list[_Entry]] = {}
        self._arguments: dict[str, list[_Entry]] = {}
        self._mentions: dict[str, list[_Entry]] = {}
        self._control_flow: list[_Entry] = []
        self._lists: dict[Any, list[tuple[list[_Entry], _Entry]]] = {}
        for index, node in enumerate(nodes):
            self._add(node, (index + 1) * _GAP)

    def insert(self, nodes: list[Any], index: int) -> bool:
        """Note a node that was inserted; returns whether there was room for it."""
        before = self.places[nodes[index - 1]] if index else 0
        after = self.places[nodes[index + 1]] if index + 1 < len(nodes) else before + 2 * _GAP
        if after - before < 2:
            return False
        self._add(nodes[index], (before + after) // 2)
        return True

    def remove(self, node: Any) -> int:
        """Note that a node was erased; returns its place."""
        for entries, entry in self._lists.pop(node):
            del entries[bisect_left(entries, entry)]
        return self.places.pop(node)

    def change(self, node: Any) -> None:
        """Note that a node has other arguments."""
        self._add(node, self.remove(node))

    def providers(self, node: Any) -> dict[int, tuple[Any, int]]:
        """Which arguments of a node, by index, a node before it computes: the last that assigns the name."""
        found = {}
        for index, name in enumerate(node.names_of_arguments()):
            given = self._given.get(name, [])
            at = bisect_left(given, (self.places[node],))
            if at:
                found[index] = given[at - 1][2], given[at - 1][1]
        return found

    def users(self, node: Any) -> dict[int, list[tuple[Any, int]]]:
        """For the targets of a node, by index, which nodes have them as which argument."""
        here = self.places[node]
        names = {name: index for index, name in enumerate(node.names_of_targets()) if name}
        read = [
            (entry, target)
            for name, target in names.items()
            for entry in self._between(self._arguments.get(name, []), here, self._given_anew(here, name))
        ]
        found: dict[int, list[tuple[Any, int]]] = {}
        for (_, argument, other), target in sorted(read, key=lambda each: each[0][:2]):
            found.setdefault(target, []).append((other, argument))
        return found

    def readers(self, node: Any) -> Iterator[Any]:
        """The nodes of the body that may read a name that a node gives, or also give it, before it is given anew."""
        here = self.places[node]
        for name in filter(None, node.names_of_targets()):
            end = self._given_anew(here, name)
            for *_, other in self._between(self._mentions.get(name, []), here, end):
                yield other
            for *_, other in self._between(self._control_flow, here, end):
                if any(body.uses.mentions(name) for body in other.inner.bodies()):
                    yield other

    def mentions(self, name: str, before: Any = None) -> bool:
        """Whether a node, one before another if that is given, gives or may read a name."""
        end = _END if before is None else self.places[before]
        return any(entries and entries[0][0] < end for entries in (self._mentions.get(name), self._given.get(name)))

    @property
    def control_flow(self) -> list[Any]:
        """The nodes of control flow statements."""
        return [node for *_, node in self._control_flow]

    def is_given_anew(self, node: Any, name: str) -> bool:
        """Whether a node behind one gives a name, too."""
        return self._given_anew(self.places[node], name) != _END

    def _given_anew(self, place: int, name: str) -> float:
        given = self._given.get(name, [])
        at = bisect_left(given, (place + 1,))
        return given[at][0] if at < len(given) else _END

    @staticmethod
    def _between(entries: list[_Entry], place: int, end: float) -> list[_Entry]:
        """The entries behind a place, as far as the end, which counts as well."""
        return entries[bisect_left(entries, (place + 1,)) : bisect_left(entries, (end + 1,))]

    def _add(self, node: Any, place: int) -> None:
        self.places[node] = place
        held = self._lists[node] = []
        named = [
            *((self._given, *each) for each in enumerate(node.names_of_targets())),
            *((self._arguments, *each) for each in enumerate(node.names_of_arguments())),
        ]
        if node.is_control_flow:
            held.append((self._control_flow, (place, 0, node)))
        named += [(self._mentions, 0, name) for name in _mentioned(node)]
        for table, index, name in named:
            if name:
                held.append((table.setdefault(name, []), (place, index, node)))
        for entries, entry in held:
            insort(entries, entry)


def _mentioned(node: Any) -> set[str]:
    """The names that a node may read, without what is inside; all where it is not known which of them it assigns."""
    match node.statement:
        case ast.If(test=first) | ast.While(test=first):
            parts = [first]
        case ast.For(target=target, iter=first):
            parts = [target, first]
        case statement:
            parts = [statement]
    known = bool(node.names_of_targets())
    names = [each for part in parts for each in ast.walk(part) if isinstance(each, ast.Name)]
    return {each.id for each in names if not (known and isinstance(each.ctx, ast.Store))}
