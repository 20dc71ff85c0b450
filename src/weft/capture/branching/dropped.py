"""What a call has made and nobody holds any more when it returns: it need not merge."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from weft.capture.branching.identities import elsewhere, leads_to, parts_of
from weft.core.tensor import Tensor

if TYPE_CHECKING:
    from weft.capture.branching.outcomes import Outcome
    from weft.capture.meaning.parts import Machine
    from weft.capture.state.frame import Frame


def is_dropped(machine: Machine, frame: Frame, key: int, ends: Sequence[Outcome]) -> bool:
    """Whether an object that sides of a branch wrote was made by the call that they return from, and goes with it.

    Args:
        machine: the interpreter, in the state that was before the sides.
        frame: the frame of the call.
        key: the object's id.
        ends: how the call may return.
    """
    if frame.begun is None:
        return False
    journal = machine.journal
    made = set(itertools.islice(machine.created, frame.begun, None))
    if not journal.belongs(key, made):
        return False
    owner = journal.owner(key)
    targets = {key} if owner is None else {key, id(owner)}
    for end in ends:
        written = {k: contents for k, (obj, contents) in end.heap.items() if not isinstance(obj, Tensor)}
        roots = [end.payload, *elsewhere(machine, frame, written)]
        for other, contents in written.items():
            if not journal.belongs(other, made):
                roots += parts_of(contents)
        if leads_to(machine, roots, targets, written):
            return False
    return True
