"""Views that come out of branches and loops: what the tensors that stand for them outside share elements with.

A view that a side of a branch made is outside of it another tensor. That is a view of the same base if all sides agree,
and in some cases if they do not (`core.sharing.share_in_case`). Where not even that can be said, as after a loop,
it may share elements with others (`may_share`), and writes to them are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from weft.core.choice import Case, Choice
from weft.core.sharing import Way, base_of, kin, layout, may_share, member, share, share_in_case
from weft.core.tensor import Tensor
from weft.core.trace import Trace


class Origin(NamedTuple):
    """A tensor of a region for which another one stands outside.

    Attributes:
        leaf: the tensor.
        stands: what stands outside for the tensors of the region, by id.
        made: whether a tensor was made in the region.
        when: the case in which the tensor outside is this one: a condition and its truth, None if it always is.
    """

    leaf: Tensor
    stands: Mapping[int, Any]
    made: Callable[[Tensor], bool]
    when: tuple[Any, bool] | None


class _Found(NamedTuple):
    """How an origin shares elements: with a base outside (None if it has none there), by a way from it; the base
    inside; and others with which it shares in a way that only the running graph knows.
    """

    base: Tensor | None
    way: Way
    inner: Tensor
    unclear: list[Tensor]


class Comers:
    """Tensors outside of a branch or a loop, with those inside that they stand for.

    Args:
        trace: the trace.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._comers: list[tuple[Tensor, list[Origin], bool]] = []

    def add(self, outside: Tensor, origins: Iterable[Origin], alone: bool) -> None:
        """Note a tensor outside.

        Args:
            outside: the tensor.
            origins: what it stands for.
            alone: whether it is nothing else.
        """
        if known := list(origins):
            self._comers.append((outside, known, alone))

    def settle(self) -> None:
        """The branch or loop is complete: say what its tensors share elements with."""
        comers, self._comers = self._comers, []
        for outside, origins, alone in comers:
            found = [self._found(origin) for origin in origins]
            base, way = found[0].base, found[0].way
            same = all(one.base is base and one.way == way and not one.unclear for one in found)
            if alone and same and base is not None and base is not outside and type(outside) is not Choice:
                share(outside, base, *way)
                continue
            layouts = [layout(origin.leaf) for origin in origins]
            self._trace.layouts[id(outside)] = layouts[0] if all(one == layouts[0] for one in layouts) else None
            for origin, one in zip(origins, found, strict=True):
                self._relate(outside, origin, one)

    def _relate(self, outside: Tensor, origin: Origin, found: _Found) -> None:
        trace, base = self._trace, found.base
        if base is None or found.unclear:
            may_share(trace, outside, found.inner)  # with others that come out
        for other in found.unclear:
            may_share(trace, outside, other)
        if base is None or base is outside:
            return
        if origin.when is None or found.unclear:
            may_share(trace, outside, base)
        else:
            share_in_case(trace, outside, Case(base, *origin.when), found.way)

    def _found(self, origin: Origin) -> _Found:
        trace, known = self._trace, member(origin.leaf)
        inner = base_of(origin.leaf)
        way: Way = () if known is None else known.way
        if inner is origin.leaf:  # what it may be itself, the one outside may be too (`core.choice`)
            cases = [one.case.handle for one in trace.alternatives.get(id(inner), ())]
            others = [other for handle in cases for other in kin(trace, handle)]
        else:
            others = kin(trace, inner)
        others += trace.groups.get(id(inner), ())
        standing = [self._outside(origin, other) for other in others if other is not inner]
        unclear = [inner if one is None else one for one in standing]
        if any(operands for _, _, operands in way):
            unclear.append(inner)
        return _Found(self._outside(origin, inner), way, inner, unclear)

    def _outside(self, origin: Origin, base: Tensor) -> Tensor | None:
        return origin.stands.get(id(base)) if origin.made(base) else base
