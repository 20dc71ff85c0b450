"""The tape: what eager (and symbolic) computation leaves behind so that a gradient can run through it.

Nodes reference their parents, so a tape lives exactly as long as a tensor that was computed on it.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Sequence
from typing import Any

next_sequence = itertools.count(1).__next__
#: numbers hooks as they are registered
next_registration = itertools.count(1).__next__

#: an edge to the producer of an input: the node and which of its outputs, or None for a constant
Edge = tuple["TapeNode", int] | None


class TapeNode:
    """One recorded computation.

    Args:
        edges: the producers of the inputs.
        output_count: number of outputs.
        pullback: ``pullback(douts, needs, record) -> gradients``; `douts` has one Tensor or None for each
            output, `needs` one bool for each input, `record` asks for a result that can be differentiated.
        level: the graph under construction when this was recorded, None for eager computation.
    """

    __slots__ = ("sequence", "edges", "output_count", "pullback", "level", "hooks", "recording", "place")

    #: the number of the first output's array in the form of the tape, see `weft.core.recording`
    place: int

    def __init__(
        self,
        edges: Sequence[Edge],
        output_count: int,
        pullback: Callable[[list[Any], list[bool], bool], Sequence[Any]] | None,
        level: Any = None,
    ) -> None:
        #: entries are walked from those with high numbers to those with low ones
        self.sequence: float = next_sequence()
        self.edges = edges
        self.output_count = output_count
        self.pullback = pullback
        self.level = level
        #: the hooks of its only output, each with its number among all; or `Hooks`, those of several registrations
        self.hooks: list[tuple[int, Any]] | None = None
        #: the recording of a tape whose form this entry is part of
        self.recording: Any = None

    def add_hooks(self, index: int, hooks: list[tuple[int, Any]]) -> None:
        """Add a list of hooks to an output.

        The list goes wherever the hooks go, so that whoever holds it can take a hook back.
        """
        if self.recording is not None:
            self.recording.form = None
        if self.hooks.__class__ is not Hooks:  # those of a rule of a graph stay its own
            self.hooks = Hooks(() if self.hooks is None else [(0, self.hooks)])
        assert self.hooks is not None
        self.hooks.append((index, hooks))


class Hooks(list[tuple[int, Any]]):
    """The hooks of an entry that computes something: the number of an output with a list of its hooks.

    Attributes:
        past: stands for the entry where its own rule computes with its results: gradients that arrive there do not pass
            the hooks. None as long as no rule did.
        called: whether a pass has come to them.
    """

    __slots__ = ("called", "past")

    def __init__(self, hooks: Sequence[tuple[int, Any]] = ()) -> None:
        super().__init__(hooks)
        self.past: TapeNode | None = None
        self.called = False


class _Splits:
    """How many entries were replaced by entries of pieces, so that a pass in progress looks for its way again."""

    count = 0


SPLITS = _Splits()


class _Unsure:
    """Entries of graphs of which only the run knows whether a result was computed from what is differentiated.

    Attributes:
        count: how many there were so far.
        settle: ``settle(tensor)`` takes away the history of a tensor that leads nowhere; set by `weft.autodiff`.
    """

    count = 0
    settle: Callable[[Any], Any]


UNSURE = _Unsure()


class ConditionalNode(TapeNode):
    """An entry at which a gradient may arrive under a condition, and which knows which gradients it gives.

    Its pullback takes and gives `weft.autodiff.perhaps.Gradient`; that of other entries is walked under the condition.
    """

    __slots__ = ()


class SymbolMark:
    """What `Tensor._node` holds for a symbolic tensor that no gradient follows."""

    __slots__ = ("level",)

    def __init__(self) -> None:
        self.level = None


SYMBOL = SymbolMark()
#: the level of an entry whose gradient is done: nothing is recorded on it any more
RELEASED = SymbolMark()


class _Gradients(threading.local):
    """The gradients in progress in this thread, the innermost last."""

    def __init__(self) -> None:
        self.stack: list[Any] = []


GRADIENTS = _Gradients()


class _Writes(threading.local):
    """The handles that were bound to a recorded value while a gradient is in progress, by id.

    A buffer written in the forward pass (a moving average, a stored state) outlives the gradient; when the
    gradient is done these handles are cut from its tape.
    """

    handles: dict[int, Any] | None = None


WRITES = _Writes()
