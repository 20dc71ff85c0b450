"""The functions of `itertools`: native iterators whose items the capture keeps, the user's functions entered."""

from __future__ import annotations

import itertools
import operator
from typing import TYPE_CHECKING, Any, Final

from weft.capture.meaning.iterators import BufferedIterator
from weft.capture.meaning.table import Handler, handles

if TYPE_CHECKING:
    from weft.capture.meaning.parts import Machine


#: where a function is given that is called for each item: the position, and the name
_CALLING: Final[dict[Any, tuple[int, str]]] = {
    itertools.accumulate: (1, "func"), itertools.groupby: (1, "key"), itertools.takewhile: (0, ""),
    itertools.dropwhile: (0, ""), itertools.filterfalse: (0, ""),
}  # fmt: skip


class _Deferred:
    """A user's iterable as native code gets it: entered by the interpreter when the native code asks for its items."""

    def __init__(self, machine: Machine, iterable: Any) -> None:
        self.machine, self.iterable = machine, iterable

    def __iter__(self) -> Any:
        return self.machine.iteration.get_iter(self.iterable)


def _converted(machine: Machine, value: Any) -> Any:
    """An argument as the native code gets it."""
    return _Deferred(machine, value) if machine.iteration.iterates_by_user(value) else value


def _entered(machine: Machine, function: Any) -> Any:
    """A function as the native code gets it, which calls it; what is none gives Python's own error then."""
    return machine.calls.callback(function) if callable(function) else function


def _with_callbacks(kind: Any) -> Handler:
    """A native callable whose function arguments are entered by the interpreter when it calls them."""

    def handler(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if kind is itertools.accumulate and len(args) == 1 and kwargs.get("func") is None:
            kwargs = {**kwargs, "func": operator.add}
        position, name = _CALLING.get(kind, (None, ""))
        given = [
            _entered(machine, value) if at == position else _converted(machine, value) for at, value in enumerate(args)
        ]
        named = {
            key: _entered(machine, value) if key == name else _converted(machine, value)
            for key, value in kwargs.items()
        }
        made = machine.native.call((), kind, *given, **named)
        return BufferedIterator(machine, made)

    return handler


for _lazy in (
    itertools.accumulate, itertools.takewhile, itertools.dropwhile, itertools.filterfalse, itertools.groupby,
    itertools.chain, itertools.product, itertools.permutations, itertools.combinations, itertools.islice,
    itertools.zip_longest, itertools.repeat, itertools.count, itertools.cycle, itertools.compress,
    itertools.combinations_with_replacement, itertools.pairwise,
):  # fmt: skip
    handles(_lazy)(_with_callbacks(_lazy))


def _dividing(function: Any) -> Handler:
    """A callable that divides an iterator, or the part of one that was divided before, which may stay itself."""

    def handler(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
        whole = args[0] if args else None
        ahead: list[Any] = []
        if type(whole) is BufferedIterator and type(whole.source) is _TEE:
            ahead = whole.left()
            args = [whole.source, *args[1:]]
        made = function(*[_converted(machine, a) for a in args], **kwargs)
        parts = made if isinstance(made, tuple) else (made,)
        found = [whole if args and p is args[0] else BufferedIterator(machine, p, ahead) for p in parts]
        return tuple(found) if parts is made else found[0]

    return handler


_TEE: Final[Any] = type(itertools.tee(())[0])
for _divider in (itertools.tee, _TEE):
    handles(_divider)(_dividing(_divider))
