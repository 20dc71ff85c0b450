"""Look-ups of numbers of the call in containers of plain values: what is found is a number of the call again."""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any, Final

from weft.capture.sources.numbers import CallNumber

if TYPE_CHECKING:
    from weft.capture.meaning.parts import Machine

#: what a container is compared as: a copy that nobody writes
_COPIES: Final[dict[type, Any]] = {list: tuple, tuple: tuple, dict: dict, set: frozenset, frozenset: frozenset}
#: classes whose instances are hashed and compared without the program's code
_PLAIN: Final = frozenset({int, float, bool, complex, str, bytes, type(None)})
#: larger containers are not guarded as a whole for one look-up
_LONG: Final = 1000


def item_at(machine: Machine, container: Any, place: Any) -> Any:
    """`container[place]`, a number at a place that is a number of the call; None if it is no such item.

    Args:
        machine: the interpreter.
        container: what is subscripted.
        place: the index or key.
    """
    if type(place) is not CallNumber or type(container) not in (list, tuple, dict) or not _is_plain(container):
        return None
    try:
        value = container[place.value]
    except LookupError:  # which Python raises
        return None
    if type(value) not in (int, float):
        return None
    return _computed(machine, operator.getitem, container, place, "{}[{{}}]", "item {}")


def is_in(machine: Machine, container: Any, item: Any) -> bool | None:
    """`item in container` for a number of the call, guarded by the answer; None if nothing can be said of it.

    Args:
        machine: the interpreter.
        container: where it is looked for.
        item: what is looked for.
    """
    if type(item) is not CallNumber or type(container) not in _COPIES or not _is_plain(container):
        return None
    return machine.sources.numbers.truth(
        _computed(machine, operator.contains, container, item, "({{}} in {})", "where {} is found")
    )


def _is_plain(container: Any) -> bool:
    if not 0 < len(container) <= _LONG:
        return False
    values = container.values() if type(container) is dict else ()
    return all(type(item) in _PLAIN for item in (*container, *values))


def _computed(machine: Machine, function: Any, container: Any, number: CallNumber, text: str, label: str) -> Any:
    with machine.sources.constants():
        machine.sources.contents(container)
    kept = _COPIES[type(container)](container)
    spelled = text.format(machine.sources.name(kept, "constant"))
    return machine.sources.numbers.call(functools.partial(function, kept), [number], spelled, label)
