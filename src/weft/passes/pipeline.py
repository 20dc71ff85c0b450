"""The order in which passes run."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Final

from weft.core.control import IF
from weft.ir.graph import Graph
from weft.ir.verifier import verify
from weft.passes import dump as dump_module
from weft.passes.base import Pass
from weft.passes.drop_dead import DropDead
from weft.passes.fold_constants import FoldConstants
from weft.passes.if_to_select import IfToSelect
from weft.passes.inline_calls import InlineCalls
from weft.passes.merge_branches import MergeBranches
from weft.passes.merge_equal import MergeEqual
from weft.passes.resolve_control import ResolveControl
from weft.passes.rewrite import copy_graph
from weft.passes.simplify import Simplify


def is_on(value: str) -> bool:
    """Whether the value of an environment variable switches something on."""
    return value not in ("", "0")


#: check the graph after each pass
VERIFY: Final = is_on(os.environ.get("WEFT_VERIFY", ""))

#: dead code goes first, so that nothing is done for it; constants are known before control flow is looked at
PIPELINE: Final[tuple[Pass, ...]] = (
    DropDead(),
    InlineCalls(),
    FoldConstants(),
    ResolveControl(),
    FoldConstants(),
    Simplify(),
    MergeEqual(),
    DropDead(),
)
#: what is done where a graph becomes an executable. No derivative is taken of the result: in that of a selection zeros
#: would go back through the side that did not run, and zero times infinity is NaN
FINISH: Final[tuple[Pass, ...]] = (IfToSelect(), MergeEqual(), MergeBranches(), DropDead())

#: for graphs that leave sizes open, of which those for known sizes run the passes again
OPEN: Final[tuple[Pass, ...]] = (DropDead(), MergeEqual(), DropDead())

#: told the name of a stage and the graph after it
Dump = Callable[[str, Graph], None]


def optimize(
    graph: Graph, dump: Dump | None = None, *, passes: Sequence[Pass] = PIPELINE, check: bool = VERIFY
) -> Graph:
    """Run the passes over a graph, in place.

    Args:
        graph: a valid graph. Its parameters stay, and so do the number, order and types of its outputs.
        dump: called with the name of each pass and the graph after it, first with ``"captured"``; None writes files if
            the context's `save_graphs` is set.
        passes: what to run, in order.
        check: verify the graph before and after each pass; ``WEFT_VERIFY=1`` is the default for the process.

    Returns:
        Graph: the same object.

    Raises:
        GraphError: with `check`, a pass broke a rule of the IR.

    Example:
        >>> optimize(Graph("empty")).name
        'empty'
    """
    if dump is None:
        dump = dump_module.from_context(graph)
    if check:
        verify(graph)
    if dump is not None:
        dump("captured", graph)
    for step in passes:
        step.apply(graph)
        if check:
            verify(graph, after=step.name)
        if dump is not None:
            dump(step.name, graph)
    return graph


def prepared(graph: Graph, owned: bool) -> Graph:
    """A graph as executables are made of it: branches as selections, or merged.

    Args:
        graph: a graph that the other passes have been over.
        owned: whether it may be changed.

    Example:
        >>> prepared(Graph("empty"), True).name
        'empty'
    """
    if not any(node.op is IF for node in graph.walk()):
        return graph
    graph = graph if owned else copy_graph(graph)
    return optimize(graph, _unseen, passes=FINISH)


def _unseen(stage: str, graph: Graph) -> None:
    """No file shows these stages: the graph that is shown is the one that derivatives are taken of."""
