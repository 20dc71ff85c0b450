"""`vmap` in a capture: the function of one example is entered, and its graph is a region that becomes an operation."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from weft import dtypes
from weft.autodiff.tree import map_tensors, tensors_of
from weft.capture.meaning.table import handles
from weft.capture.python.containers import members
from weft.capture.python.defined import defined_at
from weft.capture.python.namespaces import namespace_of
from weft.capture.state.frame import Return
from weft.capture.state.journal import contents_of, slots_of
from weft.compile.regions import operands_of
from weft.core.number import require
from weft.core.run_number import RunNumber
from weft.core.tensor import Tensor, data_of
from weft.errors import Refusal, Unsupported
from weft.ir.graph import Graph, Value
from weft.ops.compare import not_equal
from weft.ops.reduce import all as all_of
from weft.ops.reduce import argmax
from weft.passes.rewrite import copy_graph
from weft.vectorize import Mapped, VmapCall, VmapFunction, name_of

if TYPE_CHECKING:
    from weft.capture.meaning.parts import Machine
    from weft.capture.state.journal import Layer


@handles(VmapFunction.mapped, VmapFunction.traced)
def _map(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Mapped:
    """Call a mapped function."""
    request, *given = args
    fn, in_axes, out_axes = [machine.attributes.get_attr(request, name) for name in ("fn", "in_axes", "out_axes")]
    trace = machine.trace
    around = trace.take_conditions()  # what holds for one example need not for the next
    outer, trace.one_of_many = (trace.one_of_many, trace.examples), True
    assumed: Tensor | None = None
    checked: Tensor | None = None
    holds: Sequence[Tensor] = ()
    with trace.region(f"vmap_{name_of(fn)}") as region:
        trace.examples = (*trace.examples, region)
        call = VmapCall(in_axes, out_axes, given, region)
        example = _Example(machine, region, fn)
        written: list[tuple[Tensor, Any]] = []
        try:
            out = _with_tensors(machine, machine.calls.call(fn, call.args, {}, example.returned))
            assumed, checked = trace.take_conditions()
            holds = [condition for condition in (assumed, checked) if condition is not None]
            written = [noted for noted in example.written() if not any(noted[0] is assumption for assumption in holds)]
            example.check_raised(holds)
            results = (*tensors_of(out), *[handle for handle, _ in written], *holds, *example.selector)
            region.outputs = [trace.use(tensor) for tensor in results]
        finally:
            (trace.holds, trace.checked), (trace.one_of_many, trace.examples) = around, outer
            example.end()
    outside = [trace.tensor_of(value) for value in operands_of(trace, (region,), len(call.operands))]
    handles_written = [handle for handle, _ in written]
    further = len(holds) + len(example.selector)
    try:
        result, rest = call.finish(out, _alone(region), outside, handles_written, further)
    except (TypeError, ValueError) as error:  # in Python the function might not come as far
        raise Unsupported(Refusal.OUTPUT, str(error), "", defined_at(fn)) from None
    conditions = iter(rest[: len(holds)])
    if assumed is not None:
        require(all_of(next(conditions)), "whether the numbers of all examples are in range")
    if checked is not None:
        trace.check(all_of(next(conditions)))
    _note_made(machine, result)
    return result, example.raised_by(rest[len(holds) :])


def _with_tensors(machine: Machine, out: Any) -> Any:
    """What the function returned, numbers as tensors."""

    def converted(value: Any) -> Any:
        is_number = issubclass(type(value), (RunNumber, bool, int, float, complex))
        return machine.calls.call(Tensor, [value], {}) if is_number else value

    return map_tensors(lambda tensor: tensor, out, converted)


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


class _Example:
    """The call of a mapped function for one example.

    Args:
        machine: the interpreter, before the call.
        region: the graph of one example.
        fn: the function.
    """

    __slots__ = ("machine", "region", "fn", "layer", "objects", "constants", "selector", "kept", "raised")

    def __init__(self, machine: Machine, region: Graph, fn: Any) -> None:
        self.machine = machine
        self.region = region
        self.fn = fn
        #: how many objects and constants there were before
        self.objects, self.constants = len(machine.created), len(machine.trace.created)
        self.layer: Layer = machine.journal.push(side=False)
        #: where the function may raise: which of its outcomes holds, and of those the one in which it returns
        self.selector: list[Tensor] = []
        self.kept = 0
        #: the outcomes in which it raises
        self.raised: list[tuple[int, Any]] = []

    def returned(self, ended: Any) -> Any:
        """The value that the function returns, of several ways in which it may end."""
        returned = [(k, outcome) for k, outcome in enumerate(ended.outcomes) if outcome.label[0] == "return"]
        self.raised = [(k, outcome) for k, outcome in enumerate(ended.outcomes) if outcome.label[0] == "raise"]
        if len(returned) + len(self.raised) < len(ended.outcomes) or len(returned) > 1:
            raise Unsupported(
                Refusal.TENSOR_CONDITION,
                "the sides of a branch on a tensor return, or change, objects of different kinds, and vmap runs its "
                "function once, for all examples",
                "let both sides return and change values of the same kinds, or use ops.where",
                defined_at(self.fn),
            )
        if not returned:
            self._refuse("it never returns")
        self.selector = [ended.selector.tensor]
        self.kept, outcome = returned[0]
        found = self.machine.branches.as_exit(self.machine.frame, outcome)
        assert isinstance(found, Return)
        return found.value

    def _refuse(self, why: str) -> NoReturn:
        """Refuse the function at the place where it raises an exception."""
        way = self.machine.journal.ways.get(id(self.raised[0][1].payload))
        raise Unsupported(
            Refusal.TENSOR_CONDITION,
            f"whether the function given to vmap raises an exception depends on the example, and {why}",
            "check all examples before vmap is called, or what it returned",
            way[0][0].decoded.location(way[0][1]) if way else None,
        )

    def written(self) -> list[tuple[Tensor, Any]]:
        """The tensors from outside that it wrote, with what they were."""
        is_made, token = self._is_made(), self.machine.trace.token
        return [
            (obj, contents)
            for obj, contents in self.layer.before.values()
            if isinstance(obj, Tensor)
            and not is_made(obj, contents[0][0])
            and obj is not token
            and data_of(obj) is not contents[0][0]
        ]

    def _is_made(self) -> Callable[[Tensor, Any], bool]:
        """Tells of a tensor, and what it was at first, whether it was made for the example."""
        noted = set(itertools.islice(self.machine.created, self.objects, None))
        noted.update(itertools.islice(self.machine.trace.created, self.constants, None))

        def is_made(tensor: Tensor, data: Any) -> bool:
            return data.graph.lies_in(self.region) if data.__class__ is Value else id(tensor) in noted

        return is_made

    def check_raised(self, holds: Sequence[Tensor]) -> None:
        """Refuse exceptions that are not the same for all examples, and changes of what was there before.

        Args:
            holds: what the function assumes.
        """
        if not self.raised:
            return
        for _, outcome in self.raised:
            noted = outcome.heap.get(id(outcome.payload))
            if not _is_plain(outcome.payload, contents_of(outcome.payload) if noted is None else noted[1]):
                self._refuse("the exception holds more than plain values")
        is_made, journal = self._is_made(), self.machine.journal
        made = set(itertools.islice(self.machine.created, self.objects, None))
        ends = [(key, obj, obj) for _, outcome in self.raised for key, (obj, _) in outcome.heap.items()]
        for key, obj, contents in [*((key, *noted) for key, noted in self.layer.before.items()), *ends]:
            if isinstance(obj, Tensor):
                first = data_of(obj) if contents is obj else contents[0][0]
                inside = any(obj is assumption for assumption in holds) or is_made(obj, first)
            else:
                inside = journal.belongs(key, made)
            if not inside:
                self._refuse("it changes what was there before")

    def end(self) -> None:
        """End the call: tensors from outside are as they were, other objects as the function left them."""
        for handle, contents in self.written():
            (handle._data, handle._node, handle._index, handle._type), _ = contents
        self.machine.journal.keep(self.layer)

    def raised_by(self, selectors: Sequence[Tensor]) -> Sequence[tuple[Any, BaseException]]:
        """What is raised for the first of all examples that does not return, each with whether it is.

        Args:
            selectors: for all examples, which outcome holds; nothing if the function cannot raise.
        """
        found = []
        for ended in selectors:
            if not ended.size:
                continue
            first = ended[argmax(not_equal(ended, self.kept).astype(dtypes.int32))]
            for number, outcome in self.raised:
                self.machine.journal.made_on_sides.discard(id(outcome.payload))
                found.append((first == number, outcome.payload))
        return found


def _is_plain(error: BaseException, contents: Any) -> bool:
    """Whether an exception is what its class and plain arguments say."""
    now, noted = contents_of(error)["exception"], contents["exception"]
    if any(noted[name] is not value for name, value in now.items()) or namespace_of(error):
        return False
    plain = all(value is None or type(value) in (str, bool, int, float) for value in error.args)
    return plain and error.__cause__ is None and error.__context__ is None and not slots_of(type(error))


__all__: list[str] = []
