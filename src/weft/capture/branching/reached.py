"""How often the tensors that a capture made can be reached from what it leaves: a tensor that only one choice may be
needs no identity.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from weft.capture.branching.leaves import MergedTensor
from weft.capture.branching.outcomes import Alternatives
from weft.capture.state.frame import Exit, Lazy, MaybeUnbound, Return, Suspend, Yield
from weft.capture.state.journal import Journaled, contents_of
from weft.core.choice import Choice
from weft.core.sharing import base_of
from weft.core.tensor import Tensor

if TYPE_CHECKING:
    from weft.capture.meaning.parts import Machine


def reached(interpreter: Machine, result: Exit) -> Counter[int]:
    """In how many places a tensor is held, by its id: in variables, containers, attributes, and as a candidate of
    choices, each counted once. What was made and may have been dropped counts as well.

    Args:
        interpreter: the interpreter, at the end of the capture.
        result: how the capture ended.
    """
    found: Counter[int] = Counter()
    seen: set[int] = set()
    waiting: list[Any] = list(_ends(result))
    for obj in interpreter.created.values():
        waiting.append(None if isinstance(obj, Tensor) else contents_of(obj))
    for layer in interpreter.journal.layers:
        waiting += [contents_of(obj) for obj, _ in layer.before.values() if not isinstance(obj, Tensor)]
    alive = []
    while waiting:
        value = waiting.pop()
        kind = type(value)
        if issubclass(kind, Tensor):
            found[id(value)] += 1
            choice = value if kind is Choice else base_of(value)  # a view holds its base, and so what that may be
            if type(choice) is Choice and id(choice) not in seen:
                seen.add(id(choice))
                waiting += [case.handle for case in choice.cases]
            continue
        if id(value) in seen:
            continue
        seen.add(id(value))
        alive.append(value)
        waiting += _parts(value, kind)
    return found


def _ends(result: Exit) -> Iterable[Any]:
    """What a capture ends with."""
    if isinstance(result, Return):
        yield result.value
    elif isinstance(result, Yield):
        yield result.value
        yield result.frame.journal_contents()
    elif isinstance(result, Suspend):
        for frame in result.chain():
            yield frame.journal_contents()
    elif isinstance(result, Alternatives):
        for outcome in result.outcomes:
            yield outcome.payload
            yield [contents for _, contents in outcome.heap.values()]


def _parts(value: Any, kind: type) -> list[Any]:
    if issubclass(kind, dict):
        return [*dict.keys(value), *dict.values(value)]
    for base in (list, tuple, set, frozenset):
        if issubclass(kind, base):
            return list(base.__iter__(value))
    if kind is slice:
        return [value.start, value.stop, value.step]
    if kind is MaybeUnbound:
        return [value.value, value.bound]
    if kind is Lazy:
        return [value.value]
    if kind is MergedTensor:
        return [value.namespace]
    if issubclass(kind, Journaled):
        return [value.journal_contents()]
    bound = getattr(value, "__self__", None)
    return [] if bound is None or isinstance(bound, type) else [bound]
