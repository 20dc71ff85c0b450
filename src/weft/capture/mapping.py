"""`vmap` in a capture: the function of one example is entered, and its graph is a region that becomes an operation."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from weft.autodiff.tree import tensors_of
from weft.capture.builtins import handles
from weft.capture.containers import members
from weft.compile.control import operands_of
from weft.core.tensor import Tensor
from weft.passes.rewrite import copy_graph
from weft.vectorize import VmapCall, VmapFunction, name_of

if TYPE_CHECKING:
    from weft.capture.interpreter import Interpreter
    from weft.capture.journal import Layer
    from weft.ir.graph import Graph


@handles(VmapFunction.__call__)
def _map(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Call a mapped function."""
    if kwargs:
        return VmapFunction.__call__(*args, **kwargs)  # raises Python's own error
    request, *given = args
    fn, in_axes, out_axes = [interp.get_attr(request, name) for name in ("fn", "in_axes", "out_axes")]
    trace, made = interp.trace, len(interp.created)
    token = trace.token
    before = None if token is None else token._data
    with trace.region(f"vmap_{name_of(fn)}") as region:
        call = VmapCall(in_axes, out_axes, given, region)
        layer = interp.journal.push(side=False)
        written: list[tuple[Tensor, Any]] = []
        try:
            out = call.with_tensors(interp.call(fn, call.args, {}))
            written = _written(interp, layer, made)
            region.outputs = [trace.use(t) for t in (*tensors_of(out), *[handle for handle, _ in written])]
        finally:
            _keep(interp, layer, made)
    if trace.token is not token or (token is not None and token._data is not before):
        raise call.refusal()
    outside = [trace.tensor_of(value) for value in operands_of(trace, (region,), len(call.operands))]
    result = call.finish(out, _alone(region), outside, [handle for handle, _ in written])
    _note_made(interp, result)
    return result


def _note_made(interp: Interpreter, value: Any) -> None:
    """Note what a mapping returned: its tensors, and the containers around them, are new."""
    if isinstance(value, (Tensor, tuple, list, dict)):
        interp.made(value)
    if isinstance(value, (tuple, list, dict)):
        for part in members(value):
            _note_made(interp, part)


def _alone(region: Graph) -> Graph:
    """A region as a graph of its own."""
    return copy_graph(region)


def _written(interp: Interpreter, layer: Layer, made: int) -> list[tuple[Tensor, Any]]:
    """The tensors from outside the mapped function that it wrote, with what they were."""
    inside = set(itertools.islice(interp.created, made, None))
    return [
        (obj, contents)
        for key, (obj, contents) in layer.before.items()
        if isinstance(obj, Tensor)
        and key not in inside
        and obj is not interp.trace.token
        and obj._data is not contents[0][0]
    ]


def _keep(interp: Interpreter, layer: Layer, made: int) -> None:
    """End the mapped function: tensors from outside are as they were, other objects as the function left them."""
    for handle, contents in _written(interp, layer, made):
        (handle._data, handle._node, handle._index, handle._type), _ = contents
    interp.journal.pop()
    below = interp.journal.layers[-1].before
    for key, noted in layer.before.items():
        below.setdefault(key, noted)


__all__: list[str] = []
