"""What is said where the processes of an exchange come with different operations."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from weft.parallel.groups import Group

#: characters of a line that are shown around a difference
_LONG: Final = 240


@dataclass(slots=True)
class Differing:
    """An exchange to which the processes came with different operations: what each said, and says in full."""

    group: Group
    number: int
    came: dict[int, tuple[str, str, Any]]
    #: when it is declared with what was said until then
    until: float
    lines: dict[int, list[str]] = field(default_factory=dict)

    def told(self) -> str:
        """What came, and the first line in which that differs of one that came with something else than the first."""
        head = f"the processes came to exchange {self.number} of {self.group.told()} with different operations:"
        every = [f"\n  rank {rank}: {what} ({at})" for rank, (what, at, _) in sorted(self.came.items())]
        first = self.group.ranks[0]
        other = next(rank for rank in self.group.ranks if self.came[rank][0] != self.came[first][0])
        pairs = itertools.zip_longest(self.lines.get(first, ()), self.lines.get(other, ()), fillvalue="nothing more")
        for one, two in pairs if first in self.lines and other in self.lines else ():
            if one.partition("  # ")[0] != two.partition("  # ")[0]:
                mine, others = _shortened(one.strip(), two.strip())
                every.append(f"\nthe first difference:\n  rank {first}: {mine}\n  rank {other}: {others}")
                break
        return head + "".join(every)


def _shortened(one: str, two: str) -> Iterator[str]:
    """Two lines that differ somewhere: how they begin, what is around the difference, and the place behind a ``#``.
    Of an operation with many results these are left out, where they are the same.
    """
    results, mark, _ = one.partition(" = ")
    lines = [one, two]
    if mark and two.startswith(results + mark) and max(map(len, lines)) > _LONG:
        lines = [line.removeprefix(results + mark) for line in lines]
    same = next((place for place, (a, b) in enumerate(zip(*lines, strict=False)) if a != b), 0)
    for line in lines:
        text, mark, place = line.partition("  # ")
        if len(text) > _LONG:
            begin = max(same - _LONG // 3, 0)
            head = f"{text[: _LONG // 3]} ... " if begin > _LONG // 3 else text[:begin]
            text = f"{head}{text[begin : begin + _LONG]}{' ...' if begin + _LONG < len(text) else ''}"
        yield text + mark + place
