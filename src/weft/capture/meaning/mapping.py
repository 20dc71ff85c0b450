"""`vmap` in a capture: the function of one example is entered, and its graph is a region that becomes an operation."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from weft.autodiff.tree import map_tensors, tensors_of
from weft.capture.meaning.table import handles
from weft.capture.python.containers import members
from weft.compile.control import operands_of
from weft.core.number import require
from weft.core.run_number import RunNumber
from weft.core.tensor import Tensor
from weft.errors import Refusal, Unsupported
from weft.ir.graph import Graph, Value
from weft.ops.reduce import all as all_of
from weft.passes.rewrite import copy_graph
from weft.vectorize import VmapCall, VmapFunction, name_of

if TYPE_CHECKING:
    from weft.capture.meaning.parts import Machine
    from weft.capture.state.journal import Layer


@handles(VmapFunction.__call__)
def _map(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Call a mapped function."""
    if kwargs:
        return VmapFunction.__call__(*args, **kwargs)  # raises Python's own error
    request, *given = args
    fn, in_axes, out_axes = [machine.attributes.get_attr(request, name) for name in ("fn", "in_axes", "out_axes")]
    trace, made = machine.trace, _Made(machine)
    token = trace.token
    before = None if token is None else token._data
    assumed, trace.holds = trace.holds, None  # what holds for one example need not for the next
    holds: list[Tensor] = []
    with trace.region(f"vmap_{name_of(fn)}") as region:
        call = VmapCall(in_axes, out_axes, given, region)
        layer = machine.journal.push(side=False)
        written: list[tuple[Tensor, Any]] = []
        try:
            out = _with_tensors(machine, machine.calls.call(fn, call.args, {}, lambda e: _refusal(machine, e)))
            holds = [] if trace.holds is None else [trace.holds]
            written = [noted for noted in _written(machine, layer, region, made) if noted[0] not in holds]
            results = (*tensors_of(out), *[handle for handle, _ in written], *holds)
            region.outputs = [trace.use(tensor) for tensor in results]
        finally:
            trace.holds = assumed
            _keep(machine, layer, region, made)
    if trace.token is not token or (token is not None and token._data is not before):
        raise call.refusal()
    outside = [trace.tensor_of(value) for value in operands_of(trace, (region,), len(call.operands))]
    result, conditions = call.finish(out, _alone(region), outside, [handle for handle, _ in written], len(holds))
    for condition in conditions:
        require(all_of(condition), "whether the numbers of all examples are in range")
    _note_made(machine, result)
    return result


def _with_tensors(machine: Machine, out: Any) -> Any:
    """What the function returned, numbers as tensors."""

    def converted(value: Any) -> Any:
        is_number = issubclass(type(value), (RunNumber, bool, int, float, complex))
        return machine.calls.call(Tensor, [value], {}) if is_number else value

    return map_tensors(lambda tensor: tensor, out, converted)


def _refusal(machine: Machine, ended: Any) -> Unsupported:
    """Why a function that may end in several ways cannot be mapped."""
    raised = [outcome.payload for outcome in ended.outcomes if outcome.label[0] == "raise"]
    if not raised:
        return Unsupported(
            Refusal.TENSOR_CONDITION,
            "the sides of a branch on a tensor return, or change, objects of different kinds, and vmap runs its "
            "function once, for all examples",
            "let both sides return and change values of the same kinds, or use ops.where",
        )
    way = machine.journal.ways.get(id(raised[0]))
    return Unsupported(
        Refusal.TENSOR_CONDITION,
        f"whether the function given to vmap raises {type(raised[0]).__name__} depends on the example, and vmap runs "
        "it once, for all examples",
        "check all examples before vmap is called, or what it returned",
        way[0][0].decoded.location(way[0][1]) if way else None,
    )


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


class _Made:
    """What the capture had made when a mapped function began: it makes the rest.

    Args:
        machine: the interpreter.
    """

    __slots__ = ("machine", "objects", "constants")

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.objects, self.constants = len(machine.created), len(machine.trace.created)

    def by(self, region: Graph) -> Callable[[Tensor, Any], bool]:
        """Tells whether a tensor is one that the mapped function made: by itself, and by what it was at first.

        Args:
            region: the graph of the mapped function.
        """
        noted = set(itertools.islice(self.machine.created, self.objects, None))
        noted.update(itertools.islice(self.machine.trace.created, self.constants, None))

        def made(tensor: Tensor, data: Any) -> bool:
            return data.graph.lies_in(region) if data.__class__ is Value else id(tensor) in noted

        return made


def _written(machine: Machine, layer: Layer, region: Graph, made: _Made) -> list[tuple[Tensor, Any]]:
    """The tensors from outside the mapped function that it wrote, with what they were."""
    is_made = made.by(region)
    return [
        (obj, contents)
        for obj, contents in layer.before.values()
        if isinstance(obj, Tensor)
        and not is_made(obj, contents[0][0])
        and obj is not machine.trace.token
        and obj._data is not contents[0][0]
    ]


def _keep(machine: Machine, layer: Layer, region: Graph, made: _Made) -> None:
    """End the mapped function: tensors from outside are as they were, other objects as the function left them."""
    for handle, contents in _written(machine, layer, region, made):
        (handle._data, handle._node, handle._index, handle._type), _ = contents
    machine.journal.keep(layer)


__all__: list[str] = []
