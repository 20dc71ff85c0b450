"""Random valid graphs for property tests: arithmetic, shapes, constants, branches, loops, calls and ordered IO."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
from jax.experimental import io_callback

import weft.ops.compare
import weft.ops.elementwise
import weft.ops.joining
import weft.ops.math
import weft.ops.shape  # noqa: F401  these declare the operations used below
from weft import dtypes
from weft.core.control import CONDITION, add_call, add_if, add_while
from weft.core.primitive import IO, Primitive
from weft.core.trace import CONSTANT, Literal
from weft.ir.graph import Graph, Value
from weft.ir.types import TOKEN, TensorType
from weft.passes.rewrite import copy_graph, splice

F0, F3 = TensorType.of(dtypes.float32, ()), TensorType.of(dtypes.float32, (3,))
F23, F32 = TensorType.of(dtypes.float32, (2, 3)), TensorType.of(dtypes.float32, (3, 2))
I0, I3 = TensorType.of(dtypes.int32, ()), TensorType.of(dtypes.int32, (3,))
NUMERIC = (F0, F3, F23, I0, I3)
ALL = (*NUMERIC, CONDITION)
SPECIAL = (0.0, -0.0, 1.0, -1.0, 2.0, 0.5, float("inf"), float("nan"))

#: what the IO operation of these graphs has seen
SEEN: list[float] = []


def _note(token: Any, x: Any) -> Any:
    io_callback(lambda array: SEEN.append(float(np.sum(array))), None, x, ordered=True)
    return token


NOTE = Primitive("TestNote", _note, effect=IO)


class Builder:
    """Appends random nodes to a graph."""

    def __init__(self, random: Random, graph: Graph, depth: int = 0) -> None:
        self.random = random
        self.graph = graph
        self.depth = depth
        self.token: Value | None = next((v for v in graph.params if v.type is TOKEN), None)
        self.values = [v for v in graph.params if v.type is not TOKEN]

    def of(self, *types: Any) -> Value:
        """A value of one of these types, a new constant if there is none."""
        found = [v for v in self.values if v.type in types]
        return self.random.choice(found) if found else self.constant(self.random.choice(types))

    def add(self, name: str, *inputs: Value, **attrs: Any) -> Value:
        op = Primitive.table[name]
        values = tuple([attrs[n] for n in op.attr_names])
        types = op.infer(values, tuple([v.type for v in inputs]))  # type: ignore[misc]
        return self.keep(*self.graph.add_node(op, inputs, values, types).outputs)

    def keep(self, *values: Value) -> Value:
        self.values += [v for v in values if v.type is not TOKEN]
        return values[0]

    def constant(self, kind: TensorType) -> Value:
        numbers = [self.random.choice(SPECIAL) for _ in range(kind.size)]
        if kind.dtype is not dtypes.float32:
            numbers = [n if np.isfinite(n) else 3.0 for n in numbers]
        array = np.array(numbers).reshape(kind.shape).astype(kind.dtype.np_dtype)
        return self.keep(*self.graph.add_node(CONSTANT, (), (Literal(array),), (kind,)).outputs)

    # -- one node each -------------------------------------------------------------------------------------------

    def unary(self) -> None:
        self.add(self.random.choice(("Neg", "Abs")), self.of(*NUMERIC))

    def binary(self) -> None:
        kind = self.random.choice(((F0, F3, F23), (I0, I3)))
        self.add(self.random.choice(("Add", "Sub", "Mul", "Maximum")), self.of(*kind), self.of(*kind))

    def number(self) -> None:
        self.constant(self.random.choice(ALL))

    def cast(self) -> None:
        x = self.of(F0, F3, F23)
        wide = self.add("Cast", x, dtype=self.random.choice((dtypes.float64, dtypes.float32, dtypes.bfloat16)))
        self.values.remove(wide)
        self.add("Cast", wide, dtype=dtypes.float32)

    def compare(self) -> None:
        self.add(self.random.choice(("Less", "Equal")), self.of(F0, I0), self.of(F0, I0))

    def negate(self) -> None:
        self.add("LogicalNot", self.of(CONDITION))

    def reshape(self) -> None:
        x = self.add("Reshape", self.of(F23), shape=self.random.choice(((3, 2), (6,), (1, 6), (2, 3))))
        self.add("Reshape", x, shape=(2, 3))

    def transpose(self) -> None:
        x = self.add("Transpose", self.of(F23), input_perm=self.random.choice(((1, 0), (0, 1), (-1, 0))))
        if x.type is F32:
            self.add("Transpose", x, input_perm=(1, 0))

    def broadcast(self) -> None:
        self.add("BroadcastTo", self.of(F0, F3, F23), shape=(2, 3))

    def note(self) -> None:
        if self.token is not None:
            self.token = self.graph.add_node(NOTE, (self.token, self.of(F0, F3)), (), (TOKEN,)).outputs[0]

    # -- regions ---------------------------------------------------------------------------------------------------

    def operands(self) -> list[Value]:
        chosen = [self.random.choice(self.values) for _ in range(self.random.randint(0, 3))] if self.values else []
        return [*chosen, *([self.token] if self.token is not None and self.random.random() < 0.6 else [])]

    def region(self, name: str, operands: list[Value]) -> Builder:
        region = Graph(name, parent=self.graph)
        for value in operands:
            region.add_param(value.type)
        inner = Builder(self.random, region, self.depth + 1)
        inner.nodes(self.random.randint(0, 5))
        return inner

    def finish(self, inner: Builder, types: list[Any]) -> Graph:
        inner.graph.outputs = [inner.token if t is TOKEN else inner.of(t) for t in types]  # type: ignore[misc]
        return inner.graph

    def result_types(self, operands: list[Value]) -> list[Any]:
        types: list[Any] = [self.random.choice(ALL) for _ in range(self.random.randint(1, 3))]
        return [*types, *[v.type for v in operands if v.type is TOKEN]]

    def results(self, values: tuple[Value, ...]) -> None:
        for value in values:
            if value.type is TOKEN:
                self.token = value
        self.keep(*values)

    def branch(self) -> None:
        if self.depth < 3:
            condition, operands = self.of(CONDITION), self.operands()
            types = self.result_types(operands)
            then, orelse = (self.finish(self.region(name, operands), types) for name in ("then", "else"))
            self.results(add_if(self.graph, condition, operands, then, orelse))

    def loop(self) -> None:
        if self.depth >= 2:
            return
        go, count = self.of(CONDITION), self.constant(I0)
        carry = [go, count, *self.operands()]
        invariants = [self.random.choice(self.values) for _ in range(self.random.randint(0, 2))]
        inner = self.region("body", [*carry, *invariants])
        one = inner.constant(I0)
        one.node.attrs = (Literal(np.array(1, np.int32)),)  # type: ignore[union-attr]
        limit = inner.constant(I0)
        limit.node.attrs = (Literal(np.array(self.random.randint(-1, 3), np.int32)),)  # type: ignore[union-attr]
        after = inner.add("Add", inner.graph.params[1], one)
        again = inner.add("Less", after, limit)
        kept = [p if self.random.random() < 0.3 and p.type is not TOKEN else None for p in inner.graph.params]
        rest = [inner.token if v.type is TOKEN else kept[i + 2] or inner.of(v.type) for i, v in enumerate(carry[2:])]
        inner.graph.outputs = [again, after, *rest]  # type: ignore[list-item]
        self.results(add_while(self.graph, carry, invariants, inner.graph))

    def call(self) -> None:
        if self.depth < 2:
            operands = self.operands()
            callee = self.finish(self.region("callee", operands), self.result_types(operands))
            for _ in range(self.random.choice((1, 1, 2))):
                given = [self.token if v.type is TOKEN else self.of(v.type) for v in operands]
                self.results(add_call(self.graph, callee, given))  # type: ignore[arg-type]

    def nodes(self, count: int) -> None:
        plain = (self.unary, self.binary, self.binary, self.number, self.cast, self.compare, self.negate)
        shapes = (self.reshape, self.transpose, self.broadcast, self.note)
        regions = (self.branch, self.branch, self.loop, self.call)
        for _ in range(count):
            self.random.choice((*plain, *shapes, *regions))()


def random_graph(random: Random) -> Graph:
    """A graph of up to some dozens of nodes."""
    graph = Graph("random")
    for i, kind in enumerate((F0, F3, F23, I3, CONDITION)):
        graph.add_param(kind, f"x{i}")
    graph.add_param(TOKEN, "io")
    builder = Builder(random, graph)
    builder.nodes(random.randint(1, 14))
    values = list(builder.values)
    graph.outputs = [random.choice(values) for _ in range(random.randint(1, 6))]
    graph.outputs.append(builder.token)  # type: ignore[arg-type]
    return graph


def repeating_graph(random: Random) -> Graph:
    """A graph in which stretches repeat: of changing length and number, wired to each other or to anything before."""
    graph = Graph("repeating")
    for i, kind in enumerate((F0, F3, F23, I3, CONDITION)):
        graph.add_param(kind, f"x{i}")
    builder = Builder(random, graph)
    for _ in range(random.randint(1, 3)):
        builder.nodes(random.randint(0, 3))
        kinds = [random.choice(ALL) for _ in range(random.randint(1, 4))]
        body = Graph("body", parent=graph)
        for kind in kinds:
            body.add_param(kind)
        inner = Builder(random, body, depth=1)
        inner.nodes(random.randint(2, 12))
        body.outputs = [random.choice(inner.values) for _ in range(random.randint(1, 4))]
        before: list[Value] = []
        for _ in range(random.randint(2, 6)):
            chained = random.random() < 0.8
            given = [
                next((v for v in before if v.type is kind and chained), None) or builder.of(kind) for kind in kinds
            ]
            before = splice(graph, copy_graph(body, graph), given)
            builder.keep(*before)
            if random.random() < 0.15:
                builder.nodes(1)
    graph.outputs = [random.choice(builder.values) for _ in range(random.randint(1, 6))]
    return graph


def arguments(random: Random) -> tuple[Any, ...]:
    """Arrays for the parameters of a random graph."""

    def floats(*shape: int) -> Any:
        return np.array([random.choice(SPECIAL) for _ in range(int(np.prod(shape)))], np.float32).reshape(shape)

    ints = np.array([random.randint(-3, 3) for _ in range(3)], np.int32)
    return (floats(), floats(3), floats(2, 3), ints, np.array(random.random() < 0.5), ())
