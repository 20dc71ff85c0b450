"""The entries that gradients of a tensor pass, where a compiled graph has one entry for all that it computes.

A graph that ran is run again in pieces where that one entry will not do: more was computed with one of its results, on
which a hook is registered; or only some runs compute a result from what is differentiated, and code of the user's is to
run where gradients of it pass.
"""

from __future__ import annotations

from typing import Any

from weft.autodiff.session import cut, followed
from weft.core.dispatch import pass_on
from weft.core.recording import GraphNode
from weft.core.tape import GRADIENTS, SPLITS, UNSURE, Edge, Hooks, TapeNode, next_sequence
from weft.core.tensor import Tensor


def passed_by_all(node: TapeNode, index: int) -> tuple[TapeNode, int]:
    """The entry, and its output, that gradients of a tensor pass, whatever was computed with the tensor.

    A compiled graph has one entry. Where it computed more with one of its results, it is run again in pieces, whose
    entries take the place of the one.
    """
    while isinstance(node, GraphNode) and (node.pieces or _split(node, index)):
        edge = node.edges[index]
        if edge is None:
            break
        node, index = edge
    return node, index


def is_left_alone(tensor: Tensor, given: Tensor) -> bool:
    """Whether what a graph gives as the new value of a tensor is the tensor as it was, which this run did not write.

    It matters where the tensor shares elements with others: a write would give those new values too. It is known where
    a gradient follows the tensor.
    """
    node: Any = given._node
    if tensor._member is None or not isinstance(node, GraphNode) or not (node.pieces or _split(node, given._index)):
        return False
    found = _in_pieces(node, given._index)
    return found is not None and found == _in_pieces(tensor._node, getattr(tensor, "_index", 0))


def _in_pieces(node: Any, index: int) -> Edge:
    """The entry of an output, past those of graphs that gave way to pieces; None if it has none."""
    while isinstance(node, GraphNode) and node.pieces:
        edge = node.edges[index]
        if edge is None:
            return None
        node, index = edge
    return None if node is None else (node, index)


def _split(node: GraphNode, index: int) -> bool:
    """Let the entry of a graph lead to entries of pieces of the graph, of which one ends with an output; whether more
    was computed with that output.
    """
    if node.split is None:
        return False
    begun = next_sequence()
    with followed():
        outputs = node.split(index)
    if outputs is None:
        return False
    ended = next_sequence()
    hooks: Any = node.hooks
    stays = hooks.__class__ is Hooks and hooks.called  # a pass may be in the middle of them
    if node.recording is not None:
        node.recording.form = node.recording = None
    node.edges = [(t._node, t._index) if t is not None and isinstance(t._node, TapeNode) else None for t in outputs]
    node.pullback, node.split, node.rule = pass_on, None, None
    node.operands = node.results = ()
    node.pieces = True
    SPLITS.count += 1
    stack = [edge[0] for edge in node.edges if edge is not None]
    seen: set[TapeNode] = set()
    share = node.span / (ended - begun)
    while stack:  # the pieces come where the graph came: after all that was computed before
        made = stack.pop()
        if made not in seen and begun < made.sequence < ended:
            seen.add(made)
            made.sequence = node.sequence - (ended - made.sequence) * share
            if isinstance(made, GraphNode):
                made.span = share
            stack += [edge[0] for edge in made.edges if edge is not None]
    if not stays:
        node.hooks = None
    for place, those in () if stays else hooks or ():
        edge = node.edges[place]
        if edge is not None:
            edge[0].add_hooks(edge[1], those)
    return True


def keep_history(tensor: Tensor) -> bool:
    """Whether gradients of a tensor lead to where a gradient in progress started; if not, it loses its history.

    In eager code a tensor that this run did not compute from what is differentiated has none in the first place.
    """
    if UNSURE.count and isinstance(tensor._node, TapeNode) and not _leads(tensor._node, tensor._index):
        cut(tensor)
    return tensor._node is not None


def _leads(node: TapeNode, index: int) -> bool:
    leaves = {leaf for session in GRADIENTS.stack for leaf in session.targets}
    stack, seen = [(node, index)], set()
    while stack:
        node, index = stack.pop()
        if node in leaves or not node.edges:
            return True
        edges = node.edges
        if isinstance(node, GraphNode):
            if index in node.unsure and not node.pieces:
                _split(node, index)
            edges = node.behind(index)
        for edge in edges:
            if edge is not None and edge not in seen:
                seen.add(edge)
                stack.append(edge)
    return False


UNSURE.settle = keep_history
