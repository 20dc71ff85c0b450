"""Objects of the program that a finished graph holds: what each call gives to its rules, and what is guarded.

A finished graph holds no object in the place of which the next call may bring another. In its rules, which backward
passes after the call need, `Handed` stands for it, and the entry loads the object, or makes it anew, in each call that
a gradient follows. Whatever else operations hold is guarded to be this object.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from weft.autodiff import session
from weft.autodiff.marks import MARK, Handed, Rule, is_free, made_by_the_call, name_of, parts_of
from weft.capture.python.packages import module_of
from weft.capture.sources.sources import Sources
from weft.capture.writing.writer import Writer
from weft.errors import Unsupported
from weft.ir.graph import Graph
from weft.ops.host import HostCall
from weft.ops.host_functions import HostFunction


class Handing:
    """What an entry gives to the rules of its graph.

    Args:
        clock: the step that runs.
    """

    __slots__ = ("expressions", "lines", "scope", "refused", "unguarded", "_clock", "_depth", "_noted", "_places")

    def __init__(self, clock: Callable[[], int]) -> None:
        #: what loads the objects, or makes them, after the statements
        self.expressions: list[str] = []
        self.lines: list[str] = []
        #: what these use besides outside objects
        self.scope: dict[str, Any] = {}
        #: why backward passes after the call cannot have the objects; None if they can
        self.refused: Unsupported | None = None
        #: why an object cannot be guarded: it was another one in each of the last calls; None if all could be
        self.unguarded: Unsupported | None = None
        self._clock = clock
        self._depth = session.depth()
        #: objects that rules hold, with the step that put the rule into the graph, and whether that was inside of a
        #: gradient in progress, by id
        self._noted: dict[int, tuple[Any, int, bool]] = {}
        self._places: dict[int, Handed] = {}

    def note(self, objects: Sequence[Any]) -> None:
        """A rule that is put into the graph holds some objects."""
        for obj in objects:
            self._noted.setdefault(id(obj), (obj, self._clock(), session.depth() > self._depth))

    def finish(self, graph: Graph, sources: Sources, writer: Writer) -> None:
        """Take the objects out of the rules of a complete graph.

        Args:
            graph: the graph.
            sources: guards what cannot be taken out.
            writer: writes the statements of the entry.
        """
        memo: dict[int, Any] = {}
        for node in graph.walk():
            if node.op is MARK:
                rule, results = node.attrs
                node.attrs = (rule.on(lambda obj: self._handed(writer, obj), memo), results)
            else:
                for obj in _held_by(node.attrs):
                    self._guard(sources, obj)
        writer.load_first()
        self.lines, self.scope = writer.lines, writer.scope
        self._noted.clear()

    def _guard(self, sources: Sources, obj: Any) -> None:
        """Guard that the next call has the same object."""
        for part in _made_of(obj):
            try:
                sources.identity(part)
            except Unsupported as refusal:
                self.unguarded = self._placed(refusal, obj)

    def _handed(self, writer: Writer, obj: Any) -> Any:
        """What stands for an object in the finished graph."""
        if is_free(obj) and id(obj) in writer.created:
            return obj  # it is made of nothing that belongs to the call
        found = self._places.get(id(obj))
        if found is None:
            label = name_of(obj)
            found = self._places[id(obj)] = Handed(len(self._places), label)
            if self.refused is None:
                self._write(writer, obj, label)
        return found

    def _write(self, writer: Writer, obj: Any, label: str) -> None:
        """Write how a call has an object."""
        if any(id(part) in writer.created for part in parts_of(obj)):
            self.refused = self._placed(made_by_the_call(label), obj)
            return
        try:
            self.expressions.append(writer.expression(obj))
        except Unsupported as refusal:
            self.refused = self._placed(refusal, obj)
        if writer.outputs:  # it is bound to what the graph computes
            self.refused = self._placed(made_by_the_call(label), obj)

    def _placed(self, refusal: Unsupported, obj: Any) -> Unsupported:
        """A refusal of the step that put an object into the graph."""
        if id(obj) in self._noted:
            _, refusal.step, refusal.in_callback = self._noted[id(obj)]
        return refusal


def _held_by(attribute: Any) -> Iterator[Any]:
    """The objects that an attribute of an operation holds, or the one that it is."""
    kind = type(attribute)
    if kind in _PLAIN:
        return
    if kind is tuple:
        for part in attribute:
            yield from _held_by(part)
    elif kind in (HostCall, HostFunction) or issubclass(kind, Rule):
        yield from attribute.objects()
    elif module_of(kind).partition(".")[0] == "weft":
        graph = getattr(attribute, "graph", None)
        if isinstance(graph, Graph):  # of a mapped function: nobody hands anything over to the rules in it
            for node in graph.walk():
                yield from _held_by(node.attrs)
    else:
        yield attribute


_PLAIN: Final = frozenset({int, bool, float, complex, str, type(None)})


def _made_of(obj: Any) -> list[Any]:
    """What is the same in the next call if that has the same object, or one that is made anew of the same."""
    kind = type(obj)
    if kind in (tuple, frozenset):
        return [part for item in obj for part in _made_of(item)]
    if kind is functools.partial:
        return [part for item in (obj.func, *obj.args, *obj.keywords.values()) for part in _made_of(item)]
    return parts_of(obj)[1:] or [obj]


__all__: Final = ["Handing"]
