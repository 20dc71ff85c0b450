"""An entry as a record, and the entry that a record becomes in another process.

A record has the code of the entry, its guards and graph as text, and for each object that they name where it is and
what it is. In another process the guards are checked one after the other on the first call; an object is looked up
when the first guard names it, and must be what it was. So nothing is read that the guards before do not allow.
"""

from __future__ import annotations

import base64
import functools
import marshal
import operator
from collections.abc import Mapping, Sequence
from typing import Any, Final

from weft.capture.keeping.described import Descriptions, Undescribed
from weft.capture.keeping.located import VERSION, Locator, Unlocated, found
from weft.capture.keeping.plain import OTHER, packed, unpacked
from weft.capture.leaving.entry import Code, Entry
from weft.capture.state.guards import Guard
from weft.capture.writing.linking import compiled_code, entry_of
from weft.compile.chain import KeptGraph
from weft.compile.listing import known_digest, operations_of, read_graph
from weft.compile.segment import Segment
from weft.core.control import CALL
from weft.core.tensor import Tensor
from weft.ir.graph import Graph
from weft.ir.text import format_graph
from weft.parallel.placement import CONSTRAINT
from weft.parallel.stages import STAGE

#: what the code of an entry may need besides objects of the program
_STANDARD: Final = frozenset({"draws_in_turn"})

#: what it means that the code of an entry needs more
_WHY: Final = {
    "Suspension(": "the call breaks",
    "Yielded(": "it is a piece of a generator",
    "again(": "it raises an exception that the program keeps",
    "left_to_python": "the call is left to Python",
    "calling_back": "a function that the library calls back breaks",
    "refuse": "rules or hooks of the program run in the backward pass",
    "handed": "rules or hooks of the program run in the backward pass",
    "hash": "it asks for a hash, which is another one in each process",
    "the order of a set": "it reads or makes a set, whose order is another one in each process",
}

Record = dict[str, Any]


class NotKept(Exception):
    """An entry is not kept; the message says why."""


class Unfit(Exception):
    """A record does not fit a call; the message says why."""


def recorded(entry: Entry, values: Sequence[Any], function: Any) -> Record:
    """The record of an entry.

    Args:
        entry: what was captured.
        values: the values of its parameters in the captured call, which has not run yet.
        function: the compiled callable.

    Raises:
        NotKept: it holds what cannot be found in another process.
    """
    needed = sorted(entry.code.needs - _STANDARD)
    if needed:
        raise NotKept(", ".join([_WHY.get(name, f"it uses {name}") for name in needed]))
    graph, prepared = entry.segment.graph, entry.segment.executable.prepared
    if graph.is_open:
        raise NotKept("its graph leaves sizes open")
    if prepared is None:
        raise NotKept("its graph holds large constants, or calls the host")
    if any(node.op is CONSTRAINT or node.op is STAGE for node in prepared.walk()):
        raise NotKept("it lays tensors out over devices")
    before = None if graph.captured is None else graph.captured()
    operations = [operations_of(found) for found in (graph, prepared, before) if found is not None]
    if None in operations:
        raise NotKept("code of the program takes part in its operations")
    arguments = dict(zip(entry.parameters, values, strict=True))
    descriptions = Descriptions()
    steps: list[Any] = []

    def need(text: str) -> None:
        for name in locator.names_in(text):
            before = len(locator.places)
            locator.locate(name)
            for other in list(locator.places)[before:]:
                steps.append([other, locator.places[other], descriptions.of(entry.scope[other])])

    try:
        locator = Locator(entry.scope, arguments, entry.guards, function)
        need(" ".join(name for name, obj in entry.scope.items() if obj is function))
        for number, guard in enumerate(entry.guards):
            locator.checked = number
            need(guard.condition)
            steps.append(number)
            whole = VERSION.fullmatch(guard.condition)
            if whole is not None:
                steps.append([whole["expression"], None, descriptions.of(locator.loaded(whole["expression"]), True)])
        need(entry.source)
    except (Unlocated, Undescribed) as reason:
        raise NotKept(str(reason)) from None
    return {
        "source": entry.source,
        "compiled": _marshalled(entry, graph.name),
        "parameters": entry.parameters,
        "guards": [_guard(guard, entry.scope) for guard in entry.guards],
        "steps": steps,
        "name": graph.name,
        "graph": format_graph(prepared),
        "digest": None if any(node.op is CALL for node in prepared.nodes) else known_digest(prepared),
        "whole": None if prepared is graph else format_graph(graph),
        "captured": None if before is None else format_graph(before),
        "operations": functools.reduce(operator.or_, operations),
        "notes": graph.notes,
        "donatable": list(entry.segment.executable.donatable),
        "computes": entry.computes,
        "assumes": entry.failed is not None,
        "needs": sorted(entry.code.needs),
    }


def restored(record: Record, values: Sequence[Any], function: Any) -> Entry:
    """The entry of a record, for a call that it fits.

    Args:
        record: what `recorded` made.
        values: the values of the parameters in the call.
        function: the compiled callable.

    Raises:
        Unfit: it is for other calls, or for another program.
    """
    arguments = dict(zip(record["parameters"], values, strict=True))
    names: dict[str, Any] = {}
    within: dict[str, Any] = dict(arguments)  # with what guards compute
    descriptions = Descriptions()
    try:
        compiled, conditions = marshal.loads(base64.b64decode(record["compiled"]))
        for step in record["steps"]:
            if type(step) is int:
                if not eval(conditions[step], within):
                    raise Unfit(f"{record['guards'][step][2]} differs")
                continue
            name, place, description = step
            obj = eval(name, within) if place is None else found(place, within, function)
            if descriptions.of(obj, place is None) != description:
                raise Unfit(f"{name}, a {type(obj).__name__}, is another one")
            if place is not None:
                names[name] = within[name] = obj
        segment = _segment(record)
    except Unfit:
        raise
    except Exception as error:  # what the entry reads is not there, or refuses to be read
        raise Unfit(f"{type(error).__name__}: {error}") from None
    scope = {**names, "Tensor": Tensor}
    guards = [
        Guard(condition, kind, path, _expected(expected, scope), expression)
        for condition, kind, path, expected, expression in record["guards"]
    ]
    code = Code(record["source"], record["parameters"], frozenset(record["needs"]), record["assumes"])
    return entry_of(code, segment, guards, scope, {}, record["computes"], compiled)


def _marshalled(entry: Entry, name: str) -> str:
    """The code of an entry and the conditions of its guards as Python runs them: compiling them takes a while.

    The name under which entries are kept says which version of Python reads it.
    """
    conditions = [compile(guard.condition, "<weft guard>", "eval") for guard in entry.guards]
    return base64.b64encode(marshal.dumps((compiled_code(entry.source, name), conditions))).decode()


def _segment(record: Record) -> Segment:
    """The graph of a record with its executable; it is read when it is needed."""

    def read(part: str) -> Graph:
        graph = read_graph(record[part], record["operations"])
        graph.notes.update(record["notes"])
        return graph

    def whole() -> Graph:
        graph = read("graph" if record["whole"] is None else "whole")
        if record["captured"] is not None:
            graph.captured = functools.cache(lambda: read("captured"))
        return graph

    if record["digest"] is None:  # its parts are executables
        return Segment(whole, record["donatable"], prepared=read("graph"))
    kept = KeptGraph(record["name"], record["digest"], tuple(record["donatable"]), lambda: read("graph"))
    return Segment(whole, prepared=kept)


def _guard(guard: Guard, scope: Mapping[str, Any]) -> list[Any]:
    """A guard as JSON; what it found while capturing only serves reports and comparisons."""
    expected = packed(guard.expected)
    if expected is OTHER:
        name = next((name for name, obj in scope.items() if obj is guard.expected), None)
        expected = None if name is None else ["name", name]
    return [guard.condition, guard.kind, guard.path, expected, guard.expression]


def _expected(value: Any, scope: Mapping[str, Any]) -> Any:
    return scope.get(value[1]) if type(value) is list and value[0] == "name" else unpacked(value)
