"""`vmap` in a capture: the function of one example is entered, and its graph is a region that becomes an operation."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from weft.autodiff.tree import tensors_of
from weft.capture.meaning.table import handles
from weft.capture.python.containers import members
from weft.compile.control import operands_of
from weft.core.tensor import Tensor
from weft.passes.rewrite import copy_graph
from weft.vectorize import VmapCall, VmapFunction, name_of

if TYPE_CHECKING:
    from weft.capture.meaning.parts import Machine
    from weft.capture.state.journal import Layer
    from weft.ir.graph import Graph


@handles(VmapFunction.__call__)
def _map(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Call a mapped function."""
    if kwargs:
        return VmapFunction.__call__(*args, **kwargs)  # raises Python's own error
    request, *given = args
    fn, in_axes, out_axes = [machine.attributes.get_attr(request, name) for name in ("fn", "in_axes", "out_axes")]
    trace, made = machine.trace, len(machine.created)
    token = trace.token
    before = None if token is None else token._data
    with trace.region(f"vmap_{name_of(fn)}") as region:
        call = VmapCall(in_axes, out_axes, given, region)
        layer = machine.journal.push(side=False)
        written: list[tuple[Tensor, Any]] = []
        try:
            out = call.with_tensors(machine.calls.call(fn, call.args, {}))
            written = _written(machine, layer, made)
            region.outputs = [trace.use(t) for t in (*tensors_of(out), *[handle for handle, _ in written])]
        finally:
            _keep(machine, layer, made)
    if trace.token is not token or (token is not None and token._data is not before):
        raise call.refusal()
    outside = [trace.tensor_of(value) for value in operands_of(trace, (region,), len(call.operands))]
    result = call.finish(out, _alone(region), outside, [handle for handle, _ in written])
    _note_made(machine, result)
    return result


def _note_made(machine: Machine, value: Any) -> None:
    """Note what a mapping returned: its tensors, and the containers around them, are new."""
    if isinstance(value, (Tensor, tuple, list, dict)):
        machine.made(value)
    if isinstance(value, (tuple, list, dict)):
        for part in members(value):
            _note_made(machine, part)


def _alone(region: Graph) -> Graph:
    """A region as a graph of its own."""
    return copy_graph(region)


def _written(machine: Machine, layer: Layer, made: int) -> list[tuple[Tensor, Any]]:
    """The tensors from outside the mapped function that it wrote, with what they were."""
    inside = set(itertools.islice(machine.created, made, None))
    return [
        (obj, contents)
        for key, (obj, contents) in layer.before.items()
        if isinstance(obj, Tensor)
        and key not in inside
        and obj is not machine.trace.token
        and obj._data is not contents[0][0]
    ]


def _keep(machine: Machine, layer: Layer, made: int) -> None:
    """End the mapped function: tensors from outside are as they were, other objects as the function left them."""
    for handle, contents in _written(machine, layer, made):
        (handle._data, handle._node, handle._index, handle._type), _ = contents
    machine.journal.keep(layer)


__all__: list[str] = []
