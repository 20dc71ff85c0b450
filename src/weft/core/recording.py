"""The structure of a tape, found while it is recorded: gradients of the same structure are the same computation.

A gradient numbers the arrays of its tape as they come: those of its leaves, and for each entry the operands that are no
results of the tape, then the results. A `Form` is the structure so far, shared by all tapes that came to it, so that one
look-up for each entry is all that it costs to know it at the end. A tape of which something is not known has no form;
its gradient is computed entry by entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from weft.core.primitive import Primitive
from weft.core.tape import GRADIENTS, Edge, TapeNode, next_sequence
from weft.core.tensor import LiteralTensor, Tensor
from weft.ir.types import TensorType

_new = object.__new__
#: forms that are remembered
_MOST: Final = 1 << 14


class Step:
    """One entry of a form.

    Args:
        rule: the primitive, or what a compiled graph knows of its gradient; None for a leaf.
        attrs: attributes of the primitive.
        operands: the number of each operand's array, None for one that was left out.
        followed: for each operand, whether it is a leaf or a result of the tape.
        results: the numbers of the results.
        described: rule, attributes and operands as a key, with the types of operands that are no results of the tape.
    """

    __slots__ = ("rule", "attrs", "operands", "followed", "results", "described")

    def __init__(
        self,
        rule: Any,
        attrs: tuple[Any, ...],
        operands: tuple[int | None, ...],
        followed: tuple[bool, ...],
        results: range,
        described: Any,
    ) -> None:
        self.rule = rule
        self.attrs = attrs
        self.operands = operands
        self.followed = followed
        self.results = results
        self.described = described


class Form:
    """What is known of a tape up to some entry.

    Args:
        parent: the form before its last entry, None for the empty one.
        step: the last entry.
        size: how many arrays have numbers.
        habits: where passes over tapes like this are counted, see `weft.autodiff.structure`.
    """

    __slots__ = ("parent", "step", "size", "habits", "following", "passes")

    def __init__(self, parent: Form | None, step: Step | None, size: int, habits: dict[Any, Any] | None) -> None:
        self.parent = parent
        self.step = step
        self.size = size
        self.habits = habits
        #: by what the next entry computes of which operands
        self.following: dict[Any, Form] = {}
        #: the backward passes over tapes of this form, by where they begin
        self.passes: dict[Any, Any] = {}

    def steps(self) -> list[Step]:
        """The entries, oldest first."""
        found = []
        form: Form | None = self
        while form is not None and form.step is not None:
            found.append(form.step)
            form = form.parent
        return found[::-1]


class _Forms:
    """All forms, from the empty one on."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget them."""
        self.root = Form(None, None, 0, None)
        self.count = 0

    def grown(self) -> None:
        """Note that there is one more."""
        self.count += 1
        if self.count > _MOST:
            self.clear()


FORMS: Final = _Forms()


class Recording:
    """The form of the tape of a gradient in progress. It holds nothing of the tape itself.

    Attributes:
        form: None from the first entry on of which something is not known.
        begun: entries that are older belong to other tapes.
        leaves: how many leaves there are.
    """

    __slots__ = ("form", "begun", "leaves")

    def __init__(self) -> None:
        self.form: Form | None = FORMS.root
        self.begun = next_sequence()
        self.leaves = 0

    def leaf(self, node: TapeNode, kind: TensorType) -> None:
        """Number the array of a leaf.

        Args:
            node: the leaf.
            kind: type of what it stands for.
        """
        form = self.form
        if form is None:
            return
        self.leaves += 1
        node.recording = self
        node.place = place = form.size
        found = form.following.get(kind)
        if found is None:
            step = Step(None, (), (), (), range(place, place + 1), kind)
            found = form.following[kind] = Form(form, step, place + 1, form.habits)
            FORMS.grown()
        self.form = found


def enter(
    node: TapeNode, rule: Any, attrs: tuple[Any, ...], key: Any, inputs: Sequence[Any], count: int, own: Any = None
) -> None:
    """Let an entry that was just recorded extend the form of its tape.

    Args:
        node: the entry.
        rule: see `Step`.
        attrs: see `Step`.
        key: tells the attributes from any others.
        inputs: the operands.
        count: how many results are kept for the gradient.
        own: holds the forms that the entry leads to, and goes with the rule; None if the rule lives for ever.
    """
    stack = GRADIENTS.stack
    recording = stack[-1].recording if stack else None
    if recording is None:
        return
    form = recording.form
    if form is None:
        return
    if own is None and rule.asks:
        recording.form = None  # code of the program's takes part
        return
    described = [rule, key]
    ours = False
    for tensor, edge in zip(inputs, node.edges, strict=True):
        if edge is not None:
            producer = edge[0]
            if producer.recording is recording:
                described.append(producer.place + edge[1])
                ours = True
                continue
            if producer.sequence > recording.begun:
                recording.form = None  # made by another thread, or in another gradient
                return
        described.append(None if tensor is None else tensor._type or tensor.type)
    if not ours:
        return
    if own is None:
        known, what = form.following, tuple(described)
    else:
        known, what = own.following, (form, *described)
    found = known.get(what)
    if found is None:
        found = known[what] = _extended(form, rule, attrs, described, count, own)
        if own is None:
            FORMS.grown()
    node.recording = recording
    node.place = found.size - count
    recording.form = found


def _extended(
    form: Form, rule: Any, attrs: tuple[Any, ...], described: list[Any], count: int, own: Any
) -> Form:  # fmt: skip
    size = form.size
    operands: list[int | None] = []
    followed = []
    for what in described[2:]:
        followed.append(what.__class__ is int)
        if what is None or what.__class__ is int:
            operands.append(what)
        else:
            operands.append(size)
            size += 1
    step = Step(rule, attrs, tuple(operands), tuple(followed), range(size, size + count), tuple(described))
    return Form(form, step, size + count, form.habits if own is None else own.habits)


def arrays_of(
    recording: Recording, size: int, roots: Iterable[TapeNode]
) -> tuple[list[Any], set[TapeNode]] | None:  # fmt: skip
    """The arrays of a tape by number, None for those that lead to no root.

    Args:
        recording: the tape's.
        size: how many arrays have numbers.
        roots: entries.

    Returns:
        The arrays, and the entries that they belong to; None if an entry has hooks, or a handle was given another array
        than its entry computed.
    """
    arrays: list[Any] = [None] * size
    seen = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.hooks:
            return None
        if node.__class__ is TapeNode:
            continue
        place = node.place
        for array in node.results:  # type: ignore[attr-defined]
            before = arrays[place]
            if before is not None and before is not array:
                return None
            arrays[place] = array
            place += 1
        place = node.place
        edges = node.edges
        operands = node.operands  # type: ignore[attr-defined]
        for position in range(len(operands) - 1, -1, -1):
            array = operands[position]
            edge = edges[position]
            if edge is not None and edge[0].recording is recording:
                source = edge[0].place + edge[1]
                before = arrays[source]
                if before is None:
                    arrays[source] = array
                elif before is not array:
                    return None
                stack.append(edge[0])
            elif array is not None:
                place -= 1
                arrays[place] = array._data if array.__class__ is LiteralTensor else array
    return arrays, seen


class KnownNode(TapeNode):
    """A tape entry whose gradient can be computed from arrays alone.

    Attributes:
        operands: the array of each operand as it was, the tensor itself for the constant of a Python number, None for
            one that was left out.
        results: arrays that the gradient may need: the outputs first.
    """

    __slots__ = ("operands", "results")

    operands: Sequence[Any]
    results: Sequence[Any]


class PrimitiveNode(KnownNode):
    """The tape entry of a primitive: what its derivative rule needs.

    Args:
        primitive: what was computed.
        attrs: its attributes.
        operands: see `KnownNode`; of a graph under construction, the tensors as they were.
        results: device arrays or IR values of the outputs.
    """

    __slots__ = ("primitive", "attrs")

    def __init__(
        self,
        primitive: Primitive,
        attrs: tuple[Any, ...],
        operands: Sequence[Any],
        edges: Sequence[Edge],
        results: Any,
        level: Any,
    ) -> None:
        self.sequence = next_sequence()  # as TapeNode.__init__ does, one call less for each operation
        self.edges = edges
        self.output_count = len(results)
        self.pullback = None
        self.level = level
        self.hooks = None
        self.recording = None
        self.primitive = primitive
        self.attrs = attrs
        self.operands = operands
        self.results = results

    @property
    def inputs(self) -> list[Any]:
        """The operands as tensors, with their history."""
        if self.level is not None:
            return list(self.operands)
        return [
            data if data is None or data.__class__ is LiteralTensor else _tensor(data, edge)
            for data, edge in zip(self.operands, self.edges, strict=True)
        ]

    def arrays(self) -> list[Any]:
        """The operands as arrays."""
        return [data._data if data.__class__ is LiteralTensor else data for data in self.operands]


def _tensor(data: Any, edge: Edge) -> Tensor:
    """A handle on an operand. It was there when the entry was made, so a capture is not told of it."""
    tensor: Tensor = _new(Tensor)
    tensor._data = data
    tensor._type = None
    if edge is None:
        tensor._node = None
    else:
        tensor._node, tensor._index = edge
    return tensor
