"""Tracebacks of the user's program: those of exceptions that a graph made, and the runtime's own frames taken out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Final

from weft.capture.code.instructions import Decoded
from weft.capture.leaving.step_functions import raising_step, waiting_step
from weft.capture.python.exceptions import contexts_before, restore_contexts
from weft.capture.python.packages import CAPTURE
from weft.core.frames import PASSED_OVER
from weft.core.tracebacks import WEFT, entries, is_full, kept, linked, raised_in

#: the file that generated code of the runtime claims to be from
RUNNER: Final = f"<weft step>{PASSED_OVER}"
#: what lies between the user's frames is from these files
OURS: Final = ("<weft ", *(CAPTURE, f"{WEFT}jit{os.sep}"))


def keep_user_frames(error: BaseException, skip: int, again: int | None) -> None:
    """Take the runtime's own frames out of a traceback.

    Args:
        error: the exception.
        skip: how many of the outermost user's frames are left out too: those outside the frame that handles it.
        again: a further frame to leave out: one that raised the exception again, which has its entry already.
    """
    shown = [e for e in entries(error.__traceback__) if not e.tb_frame.f_code.co_filename.startswith(OURS)]
    if again is not None:
        del shown[again : again + 1]
    error.__traceback__ = linked(shown[skip:])


def hide_runtime(error: BaseException) -> None:
    """Take the library's frames out of the traceback of what a compiled function raises.

    What ends in those of the runtime is an error of the runtime itself, which stays as it is.

    Args:
        error: the exception.
    """
    file = raised_in(error)
    if file and not file.startswith(OURS) and not is_full():
        error.__traceback__ = kept(error.__traceback__)


class Place:
    """An instruction at which an exception left a frame.

    Args:
        decoded: the code of the frame.
        pc: the instruction.
        namespace: the globals of the frame.
    """

    __slots__ = ("decoded", "pc", "namespace")

    def __init__(self, decoded: Decoded, pc: int, namespace: dict[str, Any]) -> None:
        self.decoded = decoded
        self.pc = pc
        self.namespace = namespace


class Way:
    """The frames that an exception of a graph came through, for its traceback.

    Args:
        places: where it left each frame, the innermost first.
    """

    __slots__ = ("places", "_steps")

    def __init__(self, places: Sequence[Place]) -> None:
        self.places = tuple(places)
        self._steps: list[Any] | None = None

    def mark(self, error: BaseException) -> None:
        """Give an exception the traceback that it has in Python."""
        if self._steps is None:
            first, *outer = self.places
            self._steps = [raising_step(first.decoded, first.pc, first.namespace)]
            self._steps += [waiting_step(p.decoded, p.pc, p.namespace, [], [], False)() for p in outer]
        before = contexts_before(error)
        try:
            _raise_through(self._steps, error)
        except BaseException as raised:
            if raised is not error:
                raise
        restore_contexts(before)
        keep_user_frames(error, 0, None)


def _raise_through(steps: Sequence[Any], error: BaseException) -> None:
    """Call the last of some functions, which calls the one before, down to the first, which raises."""
    if len(steps) == 1:
        steps[0](error)
    else:
        steps[-1](_raise_through, (steps[:-1], error))
