"""The changes that a Cell counts (`_version`): a number that follows from its other attributes, so that the paths of a
branch and the iterations of a loop do not differ by it.
"""

from __future__ import annotations

from typing import Any, Final

from weft.capture.python.classes import mark_of

COUNT: Final = "_version"
#: attributes that are no change but a mode, to which the last bit of the count belongs
_OF_THE_MODE: Final = frozenset({"training", "_phase", COUNT})


def counts_changes(kind: type, *attributes: dict[Any, Any]) -> bool:
    """Whether instances of a class are Cells, which count their changes; and these attributes of one hold a count."""
    return mark_of(kind, "__weft_versions__") is not None and all(type(items.get(COUNT)) is int for items in attributes)


def changes(before: dict[Any, Any], after: dict[Any, Any]) -> int:
    """By how much the count of a Cell grows when its attributes change; its last bit is whether it trains."""
    counted: int = (after[COUNT] & -2) - (before[COUNT] & -2)
    if counted:
        return counted
    differ = {name for name in {*before, *after} if before.get(name, before) is not after.get(name, after)}
    return 0 if differ <= _OF_THE_MODE else 2


def with_one_count(owner: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Two contents of the namespace of an object, as the journal notes them: those of a Cell that has counted more
    changes in one than in the other, with the larger count in both.
    """
    if owner is None or not (type(a) is dict and type(b) is dict and "dict" in a and "dict" in b):
        return a, b
    first, second = a["dict"], b["dict"]
    if not counts_changes(type(owner), first, second):
        return a, b
    if first[COUNT] == second[COUNT] or (first[COUNT] ^ second[COUNT]) & 1:
        return a, b
    count = max(first[COUNT], second[COUNT])
    return {**a, "dict": {**first, COUNT: count}}, {**b, "dict": {**second, COUNT: count}}
