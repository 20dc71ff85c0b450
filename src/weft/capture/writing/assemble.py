"""The code of an entry: guards, inputs, the call of the executable, results, as one generated function."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

from weft.capture.leaving.entry import Code, Entry
from weft.capture.sources.sources import Sources
from weft.capture.state.guards import check_lines
from weft.capture.writing.handing import Handing
from weft.capture.writing.linking import entry_of
from weft.capture.writing.writer import Writer
from weft.capture.writing.writes import Stored
from weft.compile.pieces import as_captured
from weft.compile.sized import segment_of
from weft.core.control import comes_out
from weft.core.primitive import Primitive
from weft.core.tensor import Tensor
from weft.ir.graph import Graph, Node, Value
from weft.ir.types import TOKEN, TensorType
from weft.ops.random import draws_in_turn, random_state
from weft.ops.select import WHERE
from weft.parallel.placement import CONSTRAINT
from weft.passes.drop_dead import DropDead
from weft.passes.rewrite import copy_graph, renumber


def assemble(
    graph: Graph,
    handles: dict[Value, Tensor],
    numbers: dict[Value, str],
    writer: Writer,
    parameters: list[str],
    stored: Stored,
    computes: bool = True,
    refused_if_followed: Callable[[], None] | None = None,
    handing: Handing | None = None,
) -> Entry:
    """Compile the entry's code: guards, inputs, the executable's call, results.

    Args:
        graph: the graph.
        handles: the outside tensors that its parameters stand for.
        numbers: the numbers that they stand for.
        writer: the statements that make the results.
        parameters: names of the entry's parameters.
        stored: the outside tensors that are always written.
        computes: whether something is computed with tensors.
        refused_if_followed: told of a call that a gradient follows, which the entry is not for; None if it is.
        handing: what such a call gives to the rules of the graph.
    """
    sources = writer.sources
    needed = dict(writer.scope)
    loads: list[str | None] = []
    datas: list[str] = []  # the inputs as device arrays
    looked: list[str] = []  # likewise, where a tensor shares its memory with a NumPy array
    wrapped: list[str] = []  # the inputs as tensors, for a call that a gradient follows
    donatable: list[int] = []
    put_back: list[str] = []  # whose memory the graph took over, where its conditions do not hold
    for position, param in enumerate(graph.params):
        if param.type is TOKEN or param in numbers:
            number = numbers.get(param)
            loads.append(None)
            datas.append("()" if number is None else number)
            looked.append(datas[-1])
            wrapped.append("None" if number is None else f"leaf_of({number})")
            continue
        handle = handles[param]
        known = sources.known.get(id(handle))
        loaded = known is not None and (not writer.once or known[1].isidentifier())
        expression = known[1] if known is not None and loaded else sources.name(handle, "handle")
        loads.append(expression)
        wrapped.append(expression)
        datas.append(f"{expression}._data")
        looked.append(f"data_of({expression})")
        if id(handle) in stored and (param in writer.unchanged or not writer.conditions):
            donatable.append(position)
            if writer.conditions:
                put_back.append(f"store({expression}, {writer.unchanged[param]}, None)")
    # what rebuilding takes besides results: the arguments, and numbers of the call, which the checks computed
    taken = ", ".join([*parameters, *sources.numbers.names])
    tensors = [load for load in loads if load is not None]
    followed = " or ".join(f"{load}._node is not None" for load in tensors)
    body: list[str] = []
    # an entry for one call checks nothing, but what follows needs the numbers that checks compute
    guards = [guard for guard in sources.guards.values() if not writer.once or ":=" in guard.condition]
    body += check_lines(guards, "MISS")
    if followed:
        inputs = "".join(f"{text}, " for text in wrapped)
        if refused_if_followed is not None:
            needed["refuse"] = refused_if_followed
            body += [f"if {followed}:", "    refuse()", "    return MISS"]
        elif handing is not None and handing.expressions:
            needed |= handing.scope
            handed = "".join(f"{text}, " for text in handing.expressions)
            body += [f"if {followed}:", *(f"    {line}" for line in handing.lines)]
            body += [f"    return rebuild(segment.follow(({inputs}), ({handed})), {taken})"]
        else:
            body += [f"if {followed}:", f"    return rebuild(segment.follow(({inputs})), {taken})"]
    if not graph.outputs:
        body.append("outs = ()")
    elif not tensors:
        body.append(f"outs = run({', '.join(datas)})")
    else:
        # each by a name of its own where nothing takes them over: unpacking a tuple in a call takes longer
        held = [f"array{i}" for i in range(len(datas))]
        arrays, call = ("arrays", "call(arrays)") if donatable else (f"({', '.join(held)},)", f"run({', '.join(held)})")

        def reading(texts: list[str]) -> str:
            return f"arrays = [{', '.join(texts)}]" if donatable else "; ".join(map("{} = {}".format, held, texts))

        body += [f"try: {reading(datas)}", "except AttributeError:", f"    {reading(looked)}"]
        body += [f"try: outs = {call}", "except Exception:"]
        body += [f"    if not is_put_back(({', '.join(tensors)},), {arrays}): raise"]
        body += [f"    return entry({', '.join(parameters)})"]
    types_of = {i: value.type for i, value in enumerate(graph.outputs)}
    for position, unless in writer.conditions.items():
        body.append(f"if not outs[{position}].item():")
        body += [f"    {line}" for text in put_back for line in _inline(text, types_of, sources)]
        body.append(f"    {unless}")
    body += [line for text in writer.lines for line in _inline(text, types_of, sources)]
    writer.lines[:0] = [f"if not leaf({position}): {unless}" for position, unless in writer.conditions.items()]
    if id(random_state()) in stored:
        needed["draws_in_turn"] = draws_in_turn
        body = ["with draws_in_turn():", *(f"    {line}" for line in body)]
    signature = ", ".join(parameters)
    source = f"def entry({signature}):\n" + "".join(f"    {line}\n" for line in body)
    source += f"def rebuild(outs, {taken}):\n    leaf = outs.__getitem__\n"
    source += "    def store(handle, position, region):\n"
    behind = tuple([position for position, value in enumerate(as_captured(graph).outputs) if comes_out(value)])
    if behind and any("store(" in line for line in writer.lines):
        source += f"        if position in {behind} and is_left_alone(handle, outs[position]): return\n"
    source += "        handle.rebind(outs[position], region)\n"
    if any("number(" in line for line in writer.lines):
        source += "    def number(position): return outs[position].item()\n"
    source += "".join(f"    {line}\n" for line in writer.lines)
    needs = {*needed, *sources.of_process, *(name for name in _LEAVING if name in source)}
    if handing is not None and handing.expressions:
        needs.add("handed")
    others = (obj for obj, _ in sources.known.values() if id(obj) not in sources.pending)
    if any(map(_is_ordered_by_hash, (*writer.created.values(), *others))):
        needs.add("the order of a set")
    code = Code(source, parameters, frozenset(needs), bool(writer.conditions))
    names = dict(sources.scope, Tensor=Tensor)
    return entry_of(code, segment_of(graph, donatable), list(sources.guards.values()), names, needed, computes)


def keep_where_it_fails(
    graph: Graph, writer: Writer, stored: Stored, externals: dict[int, tuple[Tensor, Value]]
) -> None:
    """Let written tensors stay what they were where a condition does not hold, so that their memory may be taken over.

    Args:
        graph: the graph, with its outputs.
        writer: knows the conditions; told which parameters are kept.
        stored: the outside tensors that are always written.
        externals: the outside tensors that the graph reads, with their parameters, by id.
    """
    if writer.has_further_conditions:
        return
    first, *others = writer.conditions
    holds = graph.outputs[first]
    for position in others:
        inputs = (holds, graph.outputs[position])
        holds = graph.add_node(Primitive.table["LogicalAnd"], inputs, (), (holds.type,)).outputs[0]
    positions = Counter(position for position, _ in stored.values())
    updates = _Updates(graph, holds)
    for position, handle in stored.values():
        _, param = externals.get(id(handle), (None, None))
        value = graph.outputs[position]
        if param is None or param.type is not value.type or position in writer.conditions or positions[position] > 1:
            continue
        if value is not param:
            value = (
                updates.kept(value, param) or graph.add_node(WHERE, (holds, value, param), (), (value.type,)).outputs[0]
            )
            place = getattr(handle, "place", None)
            if place is not None:
                value = graph.add_node(CONSTRAINT, (value,), tuple(place), (value.type,)).outputs[0]
            graph.outputs[position] = value
        writer.unchanged[param] = position


class _Updates:
    """Operations of a graph that can be none where a condition does not hold, as the steps of optimizers.

    Args:
        graph: the graph.
        holds: the condition.
    """

    def __init__(self, graph: Graph, holds: Value) -> None:
        self._graph, self._holds = graph, holds
        self._users: dict[Value, list[Node]] = {}
        for node in graph.walk():
            for value in (*node.inputs, *[result for region in node.regions for result in region.outputs]):
                if value is not None:
                    self._users.setdefault(value, []).append(node)
        self._made: dict[Node, Node | None] = {}

    def kept(self, value: Value, param: Value) -> Value | None:
        """What such an operation gives for a value that takes the place of a parameter; None if it comes of no such."""
        value = _moved_from(value)
        node = value.node
        if node is None or not isinstance(node.op, Primitive) or node.op.conditional is None:
            return None
        attrs, first = node.op.conditional(*node.attrs)
        before = node.inputs[first + value.index]
        if before is None or _moved_from(before) is not param:
            return None
        if node not in self._made:
            free = not any(map(self._is_used, node.outputs))
            types = tuple([output.type for output in node.outputs])
            operands = (*node.inputs, self._holds)
            self._made[node] = self._graph.add_node(node.op, operands, attrs, types) if free else None
        made = self._made[node]
        return None if made is None else made.outputs[value.index]

    def _is_used(self, value: Value) -> bool:
        """Whether something is computed of a value."""
        users = self._users.get(value, ())
        return any(node.op is not CONSTRAINT or any(map(self._is_used, node.outputs)) for node in users)


def _moved_from(value: Value) -> Value:
    """What lies in the place of a value, or in several one after the other."""
    while value.node is not None and value.node.op is CONSTRAINT and value.node.inputs[0] is not None:
        value = value.node.inputs[0]
    return value


def _is_ordered_by_hash(obj: Any) -> bool:
    """Whether an object shows its members in an order that is another in each process."""
    return type(obj) in (set, frozenset) and not _NUMBERS.issuperset(map(type, obj))


_NUMBERS: Final = frozenset({bool, int, float, complex})


#: what leaves a call half way
_LEAVING: Final = ("Suspension(", "Yielded(", "again(")


def drop_unused(graph: Graph) -> None:
    """Take the parameters of a graph away that nothing uses, not even for their sizes."""
    used: set[Value | None] = set(graph.outputs)
    used.update(param for param in graph.params if param.type.is_open)
    for node in graph.nodes:
        used.update(node.inputs)
    graph.params[:] = [param for param in graph.params if param in used]
    renumber(graph.params)


def kept_apart(graph: Graph) -> Graph | None:
    """A copy of a graph before passes, if a program may register hooks on several results, or on one that comes out of
    a branch or loop: tensors that passes find to be equal have hooks of their own.
    """
    kinds = [value.type for value in graph.outputs]
    count = sum(isinstance(kind, TensorType) and kind.dtype.category >= 2 for kind in kinds)
    if count == 0 or (count == 1 and not any(map(comes_out, graph.outputs))):
        return None
    return DropDead().apply(copy_graph(graph))


def uses_results(graph: Graph) -> bool:
    """Whether more than a result itself leads a gradient to it: then a hook on it asks which results are one value."""
    results = set(graph.outputs)
    if len(results) < len(graph.outputs) or any(value.node is None or comes_out(value) for value in results):
        return True
    return any(not results.isdisjoint(node.inputs) for node in graph.nodes)


def keep_params(graph: Graph, numbers: Sequence[int]) -> bool:
    """Keep some of a graph's parameters; False if it needs more.

    Args:
        graph: the graph.
        numbers: those to keep.
    """
    params = [graph.params[number] for number in numbers]
    needed = {value for node in graph.nodes for value in node.inputs} | set(graph.outputs)
    if not needed.isdisjoint(set(graph.params) - set(params)):
        return False
    graph.params[:] = params
    renumber(params)
    return True


#: the statement that writes a tensor from outside: which, the output with its new value, what is new of it
_STORE: Final = re.compile(r"store\((.*?), (\d+), (None|\(.*\))\)")


def _inline(text: str, types_of: dict[int, Any], sources: Sources) -> list[str]:
    """The statement for raw arrays: `leaf` and `store` written out."""
    stripped = text.lstrip()
    indent = text[: len(text) - len(stripped)]
    if stripped.startswith("store("):
        target, position, region = _STORE.fullmatch(stripped).groups()  # type: ignore[union-attr]
        kind = "None" if types_of[int(position)].is_open else sources.name(types_of[int(position)], "type")
        return [
            f"{indent}stored = {target}",
            f"{indent}stored._data = outs[{position}]; stored._node = None; stored._type = {kind}",
            f"{indent}if stored._member is not None: spread(stored, {region})",
        ]
    name, _, value = stripped.partition(" = ")
    if value.startswith("number("):
        return [f"{indent}{name} = outs[{value[7:-1]}].item()"]
    if value.startswith("leaf("):
        position = value[5:-1]
        kind = types_of[int(position)]
        spelled = "None" if kind.is_open else sources.name(TensorType.of(kind.dtype, kind.shape), "type")
        made = f"{name} = new(Tensor); {name}._data = outs[{position}]; {name}._node = {name}._member = None"
        return [f"{indent}{made}; {name}._type = {spelled}"]
    return [text]
