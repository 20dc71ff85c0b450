"""Strategies: into how many parts each dimension of an operator's inputs is cut, as MindSpore's programs say it.

A strategy names no axes of a grid. The devices are a grid of prime sizes here, and each dimension of an operation gets
axes of it in turn; dimensions that inputs share get the same ones, so that what lies together is computed together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from weft.cache.mixing import primes
from weft.core import operators
from weft.core.tensor import Parameter, Tensor
from weft.core.transparency import keeps, transparent
from weft.parallel import placement
from weft.parallel.layout import Layout
from weft.parallel.modes import is_in_auto_parallel_mode
from weft.parallel.placement import Place, constrained

#: the dimensions of inputs by letters, equal ones for the same dimension; "." is one by itself. Those that a "*" stands
#: for are the same where they are as far from the last
_DIMENSIONS: Final[dict[str, tuple[str, ...]]] = {
    "BiasAdd": ("nc", "c"),
    "Conv2D": ("nchw", "oc..", "o"),
    "Conv2DTranspose": ("nchw", "co..", "o"),
    "Conv3D": ("ncdhw", "oc...", "o"),
    "BatchNorm": ("nc", "c", "c", "c", "c"),
    "Gather": ("vd", "ij"),
    "EmbeddingLookup": ("vd", "ij"),
    "Embedding": ("ij", "vd"),
}
_ANY: Final = "*"


def grid() -> tuple[tuple[int, ...], tuple[str, ...], tuple[int, ...]]:
    """The devices as a grid of prime sizes, the largest first: sizes, names and ranks of a `Place`."""
    count = placement.count()
    sizes = primes(count)
    return sizes, tuple([f"d{i}" for i in range(len(sizes))]), tuple(range(count))


class _Axes:
    """The axes of a grid, given out to the dimensions of one operation.

    Args:
        who: the operator, for messages.
    """

    def __init__(self, who: str) -> None:
        self.who = who
        self.sizes, self.names, self.ranks = grid()
        self._given: dict[tuple[Any, int], tuple[str, ...]] = {}

    def take(self, dimension: Any, parts: int, used: set[str]) -> tuple[str, ...]:
        """Axes with so many devices for a dimension: those that it has already, if they are as many.

        Args:
            dimension: which one.
            parts: into how many parts it is cut.
            used: axes that cut other dimensions of the same tensor; those that are chosen are added.

        Raises:
            ValueError: there are not so many devices left.
        """
        if parts == 1:
            return ()
        found = self._given.get((dimension, parts))
        if found is None or used.intersection(found):
            given = {name for names in self._given.values() for name in names}
            left = [name for name in self.names if name not in used]
            found = self._product([name for name in left if name not in given], parts) or self._product(left, parts)
            if found is None:
                raise ValueError(
                    f"{self.who}: a strategy with {parts} parts of a dimension needs more devices than are left of the "
                    f"{math.prod(self.sizes)}, or another number of them"
                )
            self._given[dimension, parts] = found
        used.update(found)
        return found

    def _product(self, names: Sequence[str], parts: int) -> tuple[str, ...] | None:
        """The first axes that have so many devices together; None if there are none."""
        chosen = []
        for name in names:
            size = self.sizes[self.names.index(name)]
            if parts % size == 0:
                chosen.append(name)
                parts //= size
        return tuple(chosen) if parts == 1 else None

    def place(self, dims: Sequence[tuple[str, ...]]) -> Place:
        """A place on this grid."""
        return Place(self.sizes, self.names, self.ranks, tuple(dims))


def places(who: str, strategies: Sequence[Any], tensors: Sequence[Tensor], dimensions: Sequence[str] = ()) -> list[Any]:
    """Where tensors lie that an operation computes with.

    Args:
        who: the operator, for messages.
        strategies: for each tensor a tuple of numbers of parts, a `Layout`, or None for wherever it is.
        tensors: the tensors.
        dimensions: of each tensor by letters; "*" if not given.

    Returns:
        list: a `Place` for each tensor, or None.

    Raises:
        ValueError: a strategy does not fit its tensor, or the devices.
    """
    axes = _Axes(who)
    found: list[Any] = []
    for number, (strategy, tensor) in enumerate(zip(strategies, tensors, strict=False)):
        if strategy is None:
            found.append(None)
        elif isinstance(strategy, Layout):
            found.append(strategy.place(who, tensor.shape))
        else:
            parts = _parts(who, strategy, tensor.shape)
            first, rank = tensor.ndim - len(parts), tensor.ndim
            spec = dimensions[number] if number < len(dimensions) else _ANY
            used: set[str] = set()
            dims = [axes.take(_named(spec, number, i, rank), count, used) for i, count in enumerate(parts, first)]
            found.append(axes.place([*[()] * first, *dims]).checked(who, tensor.shape))
    return found


def _named(spec: str, number: int, position: int, rank: int) -> Any:
    """What a dimension of a tensor is called.

    Args:
        spec: the letters of its dimensions.
        number: of the tensor.
        position: of the dimension.
        rank: how many there are.
    """
    place = position - rank + len(spec) if spec.startswith(_ANY) else position
    letter = spec[place] if 0 <= place < len(spec) else _ANY if spec.startswith(_ANY) else "."
    return letter if letter.isalpha() else (letter, position - rank, number if letter == "." else None)


def _parts(who: str, strategy: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    if not isinstance(strategy, (tuple, list)) or any(
        isinstance(part, bool) or not isinstance(part, int) or part < 1 for part in strategy
    ):
        raise TypeError(f"{who}: a strategy is a tuple of positive ints or a Layout, not {strategy!r}")
    if len(strategy) > len(shape):
        raise ValueError(f"{who}: the strategy {strategy} is not one for a tensor of shape {shape}")
    return tuple(strategy)


def is_spread() -> bool:
    """Whether the strategies of operators say where they compute: in the modes for it, where there are devices."""
    return is_in_auto_parallel_mode() and placement.count() > 1


@keeps
def leaves(value: Any) -> list[Tensor]:
    """The tensors in an argument, in their order."""
    if isinstance(value, Tensor):
        return [value]
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, (tuple, list)) else []


@keeps
def replaced(value: Any, new: Iterator[Any]) -> Any:
    """An argument with others in place of its tensors."""
    if isinstance(value, Tensor):
        return next(new)
    if type(value) not in (tuple, list):
        return value
    items = [replaced(item, new) for item in value]
    return tuple(items) if isinstance(value, tuple) else items


def flat(strategy: Any) -> list[Any]:
    """The strategies in a nested tuple of them."""
    nested = isinstance(strategy, (tuple, list)) and any(isinstance(one, (tuple, list, Layout)) for one in strategy)
    return [one for part in strategy for one in flat(part)] if nested else [strategy]


@transparent
def spread(who: str, value: Any, strategy: Any, dimensions: Sequence[str] = ()) -> Any:
    """Arguments or results in the places that strategies say.

    Args:
        who: the operator or function, for messages.
        value: a tensor, or a sequence of them.
        strategy: one for each tensor; None for wherever they are.
        dimensions: see `places`.

    Raises:
        ValueError: there are more strategies than tensors, or one does not fit.
    """
    if strategy is None or (not isinstance(strategy, Layout) and len(strategy) == 0):
        return value
    tensors, strategies = leaves(value), flat(strategy)
    if len(strategies) > len(tensors):
        raise ValueError(f"{who}: {len(strategies)} strategies for {len(tensors)} tensors")
    found = places(who, strategies, tensors, dimensions)
    for tensor, place in zip(tensors, found, strict=False):
        if place is not None and isinstance(tensor, Parameter):
            placement.adopt(tensor, place)
    moved = [
        tensor if place is None else constrained(tensor, place)
        for tensor, place in zip(tensors, [*found, *[None] * (len(tensors) - len(found))], strict=True)
    ]
    return replaced(value, iter(moved))


@transparent
def call(operator: Any, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call an operator whose inputs and results have strategies.

    Args:
        operator: the operator.
        function: what it computes.
        args: its arguments.
        kwargs: its arguments by name.
    """
    if not is_spread():
        return function(*args, **kwargs)
    inside, outside = operator._strategy
    name = operator.name
    result = function(*spread(name, args, inside, _dimensions(operator)), **kwargs)
    return spread(name, result, outside)


@transparent
def spread_around(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], inside: Any, outside: Any
) -> Any:
    """Call a function whose inputs and results have strategies.

    Args:
        function: the function.
        args: its arguments.
        kwargs: its arguments by name.
        inside: a strategy for each tensor among the arguments.
        outside: for each of the results.
    """
    if placement.count() == 1:
        return function(*args, **kwargs)
    return spread("shard", function(*spread("shard", args, inside), **kwargs), outside)


def _dimensions(operator: Any) -> tuple[str, ...]:
    """The dimensions of an operator's inputs."""
    name = operator.name
    if name in ("MatMul", "BatchMatMul"):
        return ("*km" if operator.transpose_a else "*mk", "*nk" if operator.transpose_b else "*kn")
    return _DIMENSIONS.get(name, ())


operators.spread_by(call)
