"""The structure of a tape, found while it is recorded: gradients of the same structure are the same computation.

A gradient numbers the arrays of its tape as they come: those of its leaves, and for each entry the operands that are no
results of the tape, then the results. A `Form` is the structure so far, shared by all tapes that came to it, so that
one look-up for each entry is all that it costs to know it at the end. A tape of which something is not known has no
form; its structure is looked for when its gradient is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from weft.context import GRADIENTS as PAUSE
from weft.core.primitive import ACROSS, Primitive
from weft.core.tape import GRADIENTS, SYMBOL, Edge, TapeNode, next_sequence
from weft.core.tensor import LiteralTensor, Tensor, tracked
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
        begun: when the first leaf was made; entries that are older belong to other tapes.
        leaves: how many leaves there are.
    """

    __slots__ = ("form", "begun", "leaves")

    def __init__(self) -> None:
        self.form: Form | None = FORMS.root
        self.begun: float = 0
        self.leaves = 0

    def knows(self, producer: TapeNode) -> bool:
        """Whether it is known how an entry belongs to the tape; if not, neither is the form any more.

        Args:
            producer: an entry that computed an operand.
        """
        if producer.recording is not self and producer.sequence > self.begun:
            self.form = None  # made by another thread, in another gradient, or in a way that has no form
            return False
        return True

    def leaf(self, node: TapeNode, kind: TensorType) -> None:
        """Number the array of a leaf.

        Args:
            node: the leaf.
            kind: type of what it stands for.
        """
        form = self.form
        if form is None:
            return
        if not self.leaves:
            self.begun = node.sequence
        self.leaves += 1
        node.recording = self
        node.place = place = form.size
        found = form.following.get(kind)
        if found is None:
            step = Step(None, (), (), (), range(place, place + 1), kind)
            found = form.following[kind] = Form(form, step, place + 1, form.habits)
            FORMS.grown()
        self.form = found


def enter(node: GraphNode, inputs: Sequence[Any], owner: Any) -> None:
    """Let the entry of a compiled graph that was just recorded extend the form of its tape.

    Args:
        node: the entry.
        inputs: the operands.
        owner: owns the graph, and in `following` the forms that entries of it lead to, so that they go with it.
    """
    stack = GRADIENTS.stack
    recording: Any = stack[-1].recording if stack else None
    form = None if recording is None else recording.form
    if form is None:
        return
    described: list[Any] = [node.rule, ()]
    for tensor, edge, operand in zip(inputs, node.edges, node.operands, strict=True):
        if edge is None:
            described.append(None if tensor is None else tensor._type or tensor.type)
        elif not recording.knows(edge[0]):
            return
        elif edge[0].recording is recording:
            producer: Any = edge[0]
            if producer.__class__ is not TapeNode and producer.results[edge[1]] is not operand:
                recording.form = None  # a handle was given another array
                return
            described.append(edge[0].place + edge[1])
        else:
            described.append(tensor._type or tensor.type)
    what = (form, *described)
    found = owner.following.get(what)
    if found is None:
        found = owner.following[what] = _extended(form, (), described, len(node.results), owner.habits)
    node.recording = recording
    node.place = found.size - len(node.results)
    recording.form = found


def recorded(
    primitive: Primitive, attrs: tuple[Any, ...], key: Any, inputs: Sequence[Any], operands: list[Any], results: Any
) -> tuple[Tensor, ...] | None:
    """Results that were computed eagerly as tensors, with a tape entry; None if no gradient follows an operand.

    Args:
        primitive: what was computed.
        attrs: its attributes.
        key: tells the attributes from any others.
        inputs: the operands.
        operands: their arrays.
        results: the arrays that it gave.
    """
    if PAUSE.paused:
        return None
    stack = GRADIENTS.stack
    recording: Any = stack[-1].recording if stack else None
    form = None if recording is None else recording.form
    edges: list[Edge] = []
    described: list[Any] = [primitive, key]
    followed = ours = False
    for position, t in enumerate(inputs):
        producer = None if t is None else t._node
        if producer is not None and producer is not SYMBOL and producer.level is None:
            followed = True
            index = t._index
            edges.append((producer, index))
            if form is not None:
                if producer.recording is recording:
                    if producer.__class__ is not TapeNode and producer.results[index] is not operands[position]:
                        form = recording.form = None  # a handle was given another array
                        continue
                    described.append(producer.place + index)
                    ours = True
                    continue
                if not recording.knows(producer):
                    form = None
        else:
            edges.append(None)
            if t.__class__ is LiteralTensor:
                operands[position] = t
        if form is not None:
            described.append(None if t is None else t._type or t.type)
    if not followed:
        return None
    node: PrimitiveNode = _new(PrimitiveNode)  # what its constructor does, one call less for each operation
    node.sequence = next_sequence()
    node.edges = edges
    node.output_count = count = len(results)
    node.pullback = node.level = node.hooks = node.recording = None
    node.primitive = primitive
    node.attrs = attrs
    node.operands = operands
    node.results = results
    if ours and form is not None:
        if primitive.asks or primitive.effect == ACROSS:  # code of the program's, or other processes, take part
            recording.form = None
        else:
            what = tuple(described)
            found = form.following.get(what)
            if found is None:
                found = form.following[what] = _extended(form, attrs, described, count, form.habits)
                FORMS.grown()
            node.recording = recording
            node.place = found.size - count
            recording.form = found
    return tuple([tracked(data, node, i) for i, data in enumerate(results)])


def _extended(form: Form, attrs: tuple[Any, ...], described: list[Any], count: int, habits: Any) -> Form:
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
    step = Step(described[0], attrs, tuple(operands), tuple(followed), range(size, size + count), tuple(described))
    return Form(form, step, size + count, habits)


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


class GraphNode(KnownNode):
    """The tape entry of a compiled graph.

    Attributes:
        rule: what is known of its gradient, see `Step`; None if that takes more than arrays.
        split: ``split(index)`` computes the outputs again in pieces, each with an entry, of which one ends with an
            output; gives None if nothing else was computed with that output.
        pieces: whether the entry leads to those of pieces, which take its place.
        span: how far before its own number those of its pieces may lie; nothing else lies there.
        feeds: ``feeds(index)`` gives the numbers of the inputs that an output is computed from.
        unsure: the outputs that only some runs compute from what a gradient follows.
        age: the place of an output among those that the graph computes, for the order of hooks.
    """

    __slots__ = ("rule", "split", "pieces", "span", "unsure", "feeds", "age")

    rule: Any
    split: Callable[[int], Sequence[Tensor | None] | None] | None
    pieces: bool
    span: float
    unsure: frozenset[int]
    feeds: Callable[[int], frozenset[int]]
    age: Callable[[int], int]

    def behind(self, index: int) -> list[Edge]:
        """The producers of what an output is computed from."""
        return [self.edges[index]] if self.pieces else [self.edges[number] for number in self.feeds(index)]


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
    tensor._member = None
    if edge is None:
        tensor._node = None
    else:
        tensor._node, tensor._index = edge
    return tensor
