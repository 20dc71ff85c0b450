"""What the exchanges of a graph move between processes.

An exchange is an operation whose implementation names JAX's collectives over the processes of a group; what these move
is found by tracing it, which compiles nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import jax

from weft.core.primitive import ACROSS
from weft.errors import Location
from weft.explain.collectives import Moved, moved
from weft.ir.graph import Graph, Node, Value
from weft.parallel.exchange import mesh_for, over

#: JAX's collectives by the kind of XLA's that they become
_KINDS: Final = {
    "psum": "all-reduce", "psum_invariant": "all-reduce", "pmax": "all-reduce", "pmin": "all-reduce",
    "all_gather": "all-gather", "all_gather_invariant": "all-gather", "reduce_scatter": "reduce-scatter",
    "psum_scatter": "reduce-scatter", "all_to_all": "all-to-all", "ppermute": "collective-permute",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ExchangeReport:
    """An operation of a graph that several processes run together.

    Args:
        operation: its name.
        location: the line of the program, None if it has none.
        operands: types of what each process brings.
        ranks: the processes that take part.
        moved: the bytes that the process sends which sends the most, and those that all send; None where the graph
            leaves sizes open.
    """

    operation: str
    location: Location | None
    operands: tuple[str, ...]
    ranks: tuple[int, ...]
    moved: Moved | None

    def to_dict(self) -> dict[str, Any]:
        """The exchange as JSON data."""
        place = self.location
        return {
            "operation": self.operation,
            "file": place and place.file,
            "line": place and place.line,
            "operands": list(self.operands),
            "ranks": list(self.ranks),
            "bytes_each": self.moved and self.moved.most,
            "bytes_together": self.moved and self.moved.together,
        }


def exchanges_of(graph: Graph) -> list[ExchangeReport]:
    """The exchanges of a graph, in order. Each runs once when the graph does."""
    return [_exchange(node) for node in graph.walk() if node.op.effect == ACROSS]


def _exchange(node: Node) -> ExchangeReport:
    types = [value.type for value in node.inputs if isinstance(value, Value)]
    moved = None if any(kind.is_open for kind in types) else _together(node, types)
    name = node.op.name.removesuffix("Across")
    return ExchangeReport(name, node.where(), tuple(map(repr, types)), node.attrs[-1].ranks, moved)


def _together(node: Node, types: Sequence[Any]) -> Moved:
    """What the collectives of an exchange move."""
    op: Any = node.op
    count = len(node.attrs[-1].ranks)
    operands = [jax.ShapeDtypeStruct(kind.shape, kind.dtype.np_dtype) for kind in types]
    traced = jax.make_jaxpr(over(op.bound(node.attrs), mesh_for(count)))(*operands)
    each = list(_moved(traced.jaxpr, count))
    return Moved(sum([found.most for found in each]), sum([found.together for found in each]))


def _moved(jaxpr: Any, count: int) -> Iterator[Moved]:
    everyone = (tuple(range(count)),)
    for equation in jaxpr.eqns:
        kind = _KINDS.get(equation.primitive.name)
        if kind is not None:
            groups = tuple(equation.params["perm"]) if kind == "collective-permute" else everyone
            size = sum([variable.aval.size * variable.aval.dtype.itemsize for variable in equation.outvars])
            yield moved(kind, size, groups)
        for value in equation.params.values():
            inner = getattr(value, "jaxpr", value)
            if hasattr(inner, "eqns"):
                yield from _moved(inner, count)


__all__: Final = ["ExchangeReport", "exchanges_of"]
