"""Stand-ins for the arguments of a function whose gradient the program watches or gives: other handles on the same
values. What the function writes to them, or to lists and dicts that hold them, reaches the arguments when it is done.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from weft.autodiff.session import stopped
from weft.autodiff.tree import map_tensors, tensors_of
from weft.core.sharing import member, share
from weft.core.tensor import Tensor, data_of
from weft.core.transparency import keeps, transparent


@keeps
class StandIns:
    """What a function is given in the place of its arguments.

    Args:
        args: the arguments.
        given: the same structure with other tensors.
        constant: whether nothing inside the function is differentiated.
    """

    __slots__ = ("args", "given", "constant", "tensors", "_own", "_before", "_containers")

    def __init__(self, args: Sequence[Any], given: Sequence[Any], constant: bool) -> None:
        self.args, self.given, self.constant = tuple(args), tuple(given), constant
        #: the stand-ins, one for each tensor of the arguments
        self.tensors = tensors_of(self.given)
        self._own = {
            id(one): arg for arg, one in zip(tensors_of(self.args), self.tensors, strict=True) if arg is not one
        }
        self._before = list(map(data_of, self.tensors))
        found = _containers(self.args, self.given)
        self._containers = [(arg, one, one.copy()) for arg, one in found if arg is not one]

    @keeps
    def written(self) -> list[Tensor]:
        """The stand-ins that the function wrote."""
        return [one for one, data in zip(self.tensors, self._before, strict=True) if data_of(one) is not data]

    @keeps
    def hand_back(self, outputs: Sequence[Tensor], results: Sequence[Tensor]) -> list[tuple[Any, Any]]:
        """Write to the arguments what was written to their stand-ins, and let results that are arguments, or views of
        them, share their elements.

        Args:
            outputs: what the function returned.
            results: what stands for that outside of it.

        Returns:
            list: the lists and dicts among the arguments whose items are others now, each with these.
        """
        by_output = {id(output): result for output, result in zip(outputs, results, strict=True)}
        own = dict(self._own)
        for one in self.written():
            if id(one) in own:
                result = by_output.get(id(one))
                own[id(one)].rebind(result if result is not None else stopped(one) if self.constant else one)
        for output, result in zip(outputs, results, strict=True) if not self.constant else ():
            known = member(output)
            arg = own.get(id(output if known is None else known.base))
            if arg is not None and result is not output:
                share(result, arg, *(() if known is None else known.way))
        own |= {id(one): arg for arg, one, _ in self._containers}
        return [
            (arg, _outside(one, own, self.constant)) for arg, one, before in self._containers if not _same(one, before)
        ]

    @keeps
    def container_of(self, out: Any) -> Any:
        """The argument that a list or dict stands for, None for others."""
        return next((arg for arg, one, _ in self._containers if one is out), None)


@transparent
def refill(changed: Sequence[tuple[Any, Any]]) -> None:
    """Give lists and dicts their new items.

    Args:
        changed: each with its items, in the like of it.
    """
    for container, items in changed:
        if isinstance(container, list):
            container[:] = items
        else:
            for key in [key for key in container if key not in items]:
                del container[key]
            for key in items:
                container[key] = items[key]


def _containers(args: Any, given: Any) -> Iterator[tuple[Any, Any]]:
    """The lists and dicts in a structure, each with what stands for it."""
    if isinstance(args, (list, dict)):
        yield args, given
    if isinstance(args, (tuple, list)):
        for arg, one in zip(args, given, strict=True):
            yield from _containers(arg, one)
    elif isinstance(args, dict):
        for key, arg in args.items():
            yield from _containers(arg, given[key])


def _same(one: Any, before: Any) -> bool:
    """Whether the items of a list or dict are the ones that they were."""
    if isinstance(one, dict):
        return list(one) == list(before) and all(one[key] is before[key] for key in before)
    return len(one) == len(before) and all(a is b for a, b in zip(one, before, strict=True))


def _outside(container: Any, own: dict[int, Any], constant: bool) -> Any:
    """The items of a stand-in as the program is to see them: arguments in the place of what stands for them."""

    def shown(item: Any) -> Any:
        if id(item) in own:
            return own[id(item)]
        return map_tensors(stopped, item) if constant and tensors_of(item) else item

    if isinstance(container, dict):
        return {key: shown(item) for key, item in container.items()}
    return list(map(shown, container))


__all__ = ["StandIns", "refill"]
