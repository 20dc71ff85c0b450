"""What a file holds: a graph, the tensors it reads, and the structures of its inputs and its result."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from weft.ir.graph import Graph
from weft.ir.sizes import Size


class Tensors(NamedTuple):
    """A tensor that the graph reads or writes, other than an input.

    Args:
        name: the parameter's name, or one made for it.
        kind: ``"parameter"``, ``"constant"`` or ``"random"`` (the state of the random stream).
        trained: whether a parameter is trained.
    """

    name: str
    kind: str
    trained: bool


class GraphProgram(NamedTuple):
    """A graph with its weights, as `load` returns it for `GraphCell`.

    Args:
        graph: the graph.
        inputs: for each argument its structure; each tensor is ``["tensor", number, element type, shape]``, where
            an open size is an atom (see `weft.ir.sizes`), None if the graph does not use it.
        params: for each parameter of the graph ``["input", number]``, ``["state", number]`` or ``["size", size]``.
        state: the tensors that the graph reads or writes.
        result: the structure of the result.
        stored: pairs of an output of the graph and the number in `state` of the tensor that it replaces.
        checks: pairs of an output of the graph, which says whether indices are in bounds, and the message if not.
        weights: the arrays of `state` by name.
        conditions: what the graph relies on: comparisons of two sizes.
    """

    graph: Graph
    inputs: list[Any]
    params: list[list[Any]]
    state: list[Tensors]
    result: Any
    stored: list[list[int]]
    checks: list[Any]
    weights: dict[str, np.ndarray[Any, Any]]
    conditions: list[tuple[Size, str, Size]]
