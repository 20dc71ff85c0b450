"""Which of a process's threads exchange something with other processes, in an order that all processes have.

Two threads that run at once come to the exchanges of one group in any order, and in another one in another process:
values would be added that do not belong together. So a thread takes a group over only where that order is certain, or
where the other order is noticed in the process that has it: if it was started after the last exchange of the thread
that had the group; if it left the group to threads that have ended; or if it must have started the one that had it,
which has ended.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Final

from weft.parallel.groups import Group

#: how the names of threads of weft's begin, which start none of the program
_OWN: Final = "weft"


@dataclass(slots=True)
class _Turn:
    """A thread that exchanges over a group, and those that ran beside it at its last exchange."""

    thread: threading.Thread
    beside: list[threading.Thread] = field(default_factory=list)

    def must_be_of(self, thread: threading.Thread) -> bool:
        """Whether it has ended, and nobody but another thread can have started it."""
        return not self.thread.is_alive() and all(each in (self.thread, thread) for each in self.beside)


class Turns:
    """The threads that have exchanged over each group: the last one has it, the others left it to the next."""

    def __init__(self) -> None:
        self._turns: dict[Group, list[_Turn]] = {}
        self._guard = threading.Lock()

    def take(self, group: Group, thread: threading.Thread, what: str) -> None:
        """A thread comes to an exchange.

        Args:
            group: over which.
            thread: the one that asks for it.
            what: the exchange, for messages.

        Raises:
            RuntimeError: another thread exchanges over the group, too.
        """
        with self._guard:
            turns = self._turns.setdefault(group, [])
            if not turns or turns[-1].thread is not thread:
                self._change(turns, thread, group, what)
            turns[-1].beside = [each for each in threading.enumerate() if not each.name.startswith(_OWN)]

    @staticmethod
    def _change(turns: list[_Turn], thread: threading.Thread, group: Group, what: str) -> None:
        left = list(turns)
        if any(turn.thread is thread for turn in left):
            while left[-1].thread is not thread and not left[-1].thread.is_alive():
                left.pop()
            allowed = left[-1].thread is thread
        else:
            allowed = not left or thread not in left[-1].beside or left[-1].must_be_of(thread)
            left.append(_Turn(thread))
        if not allowed:
            name = f"group {group.name!r}" if group.name else "the group of all processes"
            raise RuntimeError(
                f"{what}: the thread {thread.name!r} exchanges over {name}, as the thread "
                f"{turns[-1].thread.name!r} does, which runs beside it: in another process they may come in another "
                "order. A thread needs a group of its own: create_group(name, ranks)"
            )
        turns[:] = left
