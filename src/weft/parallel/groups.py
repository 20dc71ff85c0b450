"""Groups of processes: those that come to an exchange, and under which name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

#: ranks that are listed one by one
_MANY: Final = 10


class Group(NamedTuple):
    """Who comes to an exchange. Exchanges of two groups have nothing to do with each other, whoever is in them.

    Args:
        name: by which the program calls it; "" for all processes, and for what is spread over some.
        ranks: of the processes, in the order of their places.
        kind: of the exchanges, where some have nothing to do with the others of the group either.
    """

    name: str
    ranks: tuple[int, ...]
    kind: str = ""

    def told(self) -> str:
        """The group in messages."""
        return f"group {self.name!r} of {listed(self.ranks)}" if self.name else listed(self.ranks)


def group_of(said: Sequence[Any]) -> Group:
    """A group that came as JSON.

    Raises:
        ValueError: it is none.
    """
    name, ranks, kind = said
    return Group(str(name), tuple(map(int, ranks)), str(kind))


def listed(ranks: Sequence[int]) -> str:
    """Ranks as a list, of many the first and the last."""
    return str(list(ranks)) if len(ranks) <= _MANY else f"{str(list(ranks[: _MANY - 2]))[:-1]}, ... {ranks[-1]}]"
