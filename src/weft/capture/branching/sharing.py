"""Views that come out of branches and loops: what the tensors that stand for them outside share elements with.

A view that a side of a branch made is outside of it another tensor. Where it can only be one view of one tensor, that
tensor is a view of it; where the running graph decides, it may share elements with several (`core.sharing.may_share`),
and writes to them are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from weft.core.choice import Choice
from weft.core.sharing import Way, base_of, layout, may_share, member, share
from weft.core.tensor import Tensor
from weft.core.trace import Trace

#: a tensor of a region, what stands for its tensors outside by id, and whether a tensor was made in the region
Origin = tuple[Tensor, Mapping[int, Any], Callable[[Tensor], bool]]


class Comers:
    """Tensors outside of a branch or a loop, with those inside that they stand for.

    Args:
        trace: the trace.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._found: list[tuple[Tensor, list[Origin], bool]] = []

    def add(self, outside: Tensor, origins: Iterable[Origin], alone: bool) -> None:
        """Note a tensor outside.

        Args:
            outside: the tensor.
            origins: what it stands for.
            alone: whether it is nothing else.
        """
        if known := list(origins):
            self._found.append((outside, known, alone))

    def settle(self) -> None:
        """The branch or loop is complete: say what its tensors share elements with."""
        trace = self._trace
        for outside, origins, alone in self._found:
            ways = [self._way(*origin) for origin in origins]
            exact = alone and type(outside) is not Choice and not any(unclear for *_, unclear in ways)
            base, way, _, _ = ways[0]
            if exact and base is not None and base is not outside and all(_same(ways[0], other) for other in ways):
                share(outside, base, *way)
                continue
            layouts = [layout(leaf) for leaf, *_ in origins]
            trace.layouts[id(outside)] = layouts[0] if all(one == layouts[0] for one in layouts) else None
            for base, _, inner, unclear in ways:
                if base is not None and base is not outside:
                    may_share(trace, outside, base)
                if unclear or base is None:
                    may_share(trace, outside, inner)
        self._found = []

    def _way(
        self, leaf: Tensor, stands: Mapping[int, Any], made: Callable[[Tensor], bool]
    ) -> tuple[Tensor | None, Way, Tensor, bool]:
        """The base of a tensor outside, None if it has none there; the way from it, the base inside, and whether only
        the running graph knows what it shares elements with.
        """
        known = member(leaf)
        inner = base_of(leaf)
        way: Way = () if known is None else known.way
        base = stands.get(id(inner)) if made(inner) else inner
        unclear = id(inner) in self._trace.groups or any(operands for _, _, operands in way)
        return base, way, inner, unclear


def _same(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return one[0] is other[0] and one[1] == other[1]
