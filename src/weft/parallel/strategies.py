"""Strategies: into how many parts each dimension of an operator's inputs is cut, as MindSpore's programs say it.

A strategy names no axes of a grid. The devices are a grid of prime sizes here, and each dimension of an operation gets
axes of it in turn; dimensions that inputs share get the same ones, so that what lies together is computed together.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from weft.cache.mixing import primes
from weft.core import operators
from weft.core.tensor import Parameter, Tensor
from weft.core.transparency import keeps, transparent
from weft.cuts import check_strategy, is_nested
from weft.parallel import placement
from weft.parallel.layout import Layout
from weft.parallel.modes import is_in_auto_parallel_mode
from weft.parallel.placement import Place, constrained

_ANY: Final = "*"
#: the dimensions of inputs of which all are alike
_ALIKE: Final = (_ANY,) * 8
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
    "Dense": ("*k", "nk", "n"),
    "PReLU": ("nc", "c"),
    "SparseSoftmaxCrossEntropyWithLogits": ("nc", "n"),
    **dict.fromkeys(
        (
            "AddN",
            "ApproximateEqual",
            "BCEWithLogitsLoss",
            "BinaryCrossEntropy",
            "Concat",
            "IsClose",
            "KLDivLoss",
            "LayerNorm",
            "MaskedFill",
            "RealDiv",
            "RmsNorm",
            "Select",
            "SigmoidCrossEntropyWithLogits",
            "SmoothL1Loss",
            "SoftmaxCrossEntropyWithLogits",
            "Stack",
        ),
        _ALIKE,
    ),
}


def grid() -> tuple[tuple[int, ...], tuple[str, ...], tuple[int, ...]]:
    """The devices, or those of any stage of a pipeline, as a grid of prime sizes, the largest first: sizes, names and
    ranks of a `Place`.
    """
    stages = placement.stages()
    count = placement.count() // stages
    sizes = primes(count)
    return sizes, tuple([f"d{i}" for i in range(len(sizes))]), tuple(range(count)) if stages == 1 else ()


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
                    f"{self.who}: {parts} parts of a dimension need more devices than are left of the "
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


def check(
    who: str, strategies: Sequence[Any], tensors: Sequence[Tensor], dimensions: Sequence[str] = (), what: str = "input"
) -> None:
    """Check that strategies are those of some tensors, whatever devices there are.

    Args:
        who: the operator, for messages.
        strategies: for each tensor a tuple of numbers of parts, a `Layout`, or None for wherever it is.
        tensors: the tensors.
        dimensions: of each tensor by letters, see `places`.
        what: what the tensors are to the operator.

    Raises:
        ValueError: there are more or fewer of them, one is for another number of dimensions, or a dimension that
            tensors share is cut differently.
    """
    if len(strategies) != len(tensors):
        shapes = ", ".join(str(tensor.shape) for tensor in tensors)
        raise ValueError(
            f"{who}: {len(strategies)} strategies, {_text(strategies)}, for {len(tensors)} tensors ({what}s of the "
            f"shapes {shapes}): give one for each tensor, as in {_text([(1,) * tensor.ndim for tensor in tensors])}"
        )
    cut: dict[Any, tuple[int, int, int]] = {}
    for number, (strategy, tensor) in enumerate(zip(strategies, tensors, strict=True)):
        if strategy is None or isinstance(strategy, Layout):
            continue
        rank = tensor.ndim
        if len(strategy) != rank:
            raise ValueError(
                f"{who}: {what} {number} of shape {tensor.shape} has {rank} dimensions, and its strategy {strategy} is "
                f"for {len(strategy)}: give one number of parts for each dimension, as in {(1,) * rank}"
            )
        spec = dimensions[number] if number < len(dimensions) else ""
        for position, parts in enumerate(strategy):
            name = _named(spec, number, position, rank)
            if name is None or tensor.shape[position] == 1:  # one of size 1 is that of all elements of the other
                continue
            first, there, before = cut.setdefault(name, (number, position, parts))
            if before != parts:
                raise ValueError(
                    f"{who}: dimension {position} of {what} {number}, of shape {tensor.shape} and strategy {strategy}, "
                    f"is dimension {there} of {what} {first}, of shape {tensors[first].shape} and strategy "
                    f"{strategies[first]}: cut both into as many parts, not {parts} and {before}"
                )


def _text(strategies: Sequence[Any]) -> str:
    return repr(tuple(strategies))


def places(
    who: str, strategies: Sequence[Any], tensors: Sequence[Tensor], dimensions: Sequence[str] = (), what: str = "input"
) -> list[Any]:
    """Where tensors lie that an operation computes with.

    Args:
        who: the operator, for messages.
        strategies: for each tensor a tuple of numbers of parts, a `Layout`, or None for wherever it is.
        tensors: the tensors.
        dimensions: of each tensor by letters; none if nothing is known.
        what: what the tensors are to the operator.

    Returns:
        list: a `Place` for each tensor, or None.

    Raises:
        ValueError: a strategy does not fit its tensor, or the devices.
    """
    check(who, strategies, tensors, dimensions, what)
    axes = _Axes(who)
    found: list[Any] = []
    for number, (strategy, tensor) in enumerate(zip(strategies, tensors, strict=True)):
        if strategy is None:
            found.append(None)
            continue
        name = axes.who = f"{who}: {what} {number} of shape {tensor.shape} and strategy {strategy}"
        if isinstance(strategy, Layout):
            found.append(strategy.place(name, tensor.shape))
            continue
        rank = tensor.ndim
        spec = dimensions[number] if number < len(dimensions) else ""
        used: set[str] = set()
        dims = []
        for i, parts in enumerate(strategy):
            # where nothing is known, dimensions that are as far from the last are taken for the same
            dimension = _named(spec or _ANY, number, i, rank) or (number, i)
            dims.append(axes.take(dimension, parts, used))
        found.append(axes.place(dims).checked(name, tensor.shape))
    return found


def _named(spec: str, number: int, position: int, rank: int) -> Any:
    """What a dimension of a tensor is called; None for one that no other tensor has.

    Args:
        spec: the letters of its dimensions.
        number: of the tensor.
        position: of the dimension.
        rank: how many there are.
    """
    starred = spec.startswith(_ANY)
    place = position - rank + len(spec) if starred else position
    letter = spec[place] if 0 <= place < len(spec) else _ANY if starred else "."
    if letter == _ANY:
        return _ANY, position - rank
    return letter if letter.isalpha() else None


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


def flat(strategies: tuple[Any, ...]) -> list[Any]:
    """The strategies of single tensors, of a tuple with those of all inputs, some of which are tuples of tensors."""
    found: list[Any] = []
    for one in strategies:
        found += flat(one) if is_nested(one) else [one]
    return found


@keeps
def fitting(strategy: Any, value: Any) -> list[Any]:
    """The strategies of the tensors in an argument: numbers, which are cut into nothing, may have theirs, too."""
    strategies, items = flat(strategy), _items(value)
    if len(strategies) != len(items) or any(
        one not in ((), None) for one, item in zip(strategies, items, strict=True) if not isinstance(item, Tensor)
    ):
        return strategies
    return [one for one, item in zip(strategies, items, strict=True) if isinstance(item, Tensor)]


def _items(value: Any) -> list[Any]:
    """The tensors and numbers in an argument."""
    if isinstance(value, (tuple, list)):
        return [item for part in value for item in _items(part)]
    return [value] if isinstance(value, (Tensor, int, float, complex)) else []


@transparent
def spread(who: str, value: Any, strategy: Any, dimensions: Sequence[str] = (), what: str = "input") -> Any:
    """Arguments or results in the places that strategies say; where there is one device, they are only checked.

    Args:
        who: the operator or function, for messages.
        value: a tensor, or a sequence of them.
        strategy: one for each tensor; None for wherever they are.
        dimensions: see `places`.
        what: what the tensors are.

    Raises:
        ValueError: a strategy does not fit.
    """
    if strategy is None or len(strategy) == 0:
        return value
    tensors, strategies = leaves(value), fitting(strategy, value)
    if placement.count() == 1:
        check(who, strategies, tensors, dimensions, what)
        return value
    found = places(who, strategies, tensors, dimensions, what)
    for tensor, place in zip(tensors, found, strict=True):
        if place is not None and isinstance(tensor, Parameter):
            placement.adopt(tensor, place)
    moved = [
        tensor if place is None else constrained(tensor, place) for tensor, place in zip(tensors, found, strict=True)
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
    if not is_in_auto_parallel_mode():
        return function(*args, **kwargs)
    inside, outside = operator._strategy
    name = operator.name
    args, kwargs = spread_arguments(name, args, kwargs, inside, _dimensions(operator))
    return spread(name, function(*args, **kwargs), outside, (), "result")


@transparent
def spread_arguments(
    who: str, args: tuple[Any, ...], kwargs: dict[str, Any], strategy: Any, dimensions: Sequence[str] = ()
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call in the places that strategies say, see `spread`."""
    if not leaves(tuple(kwargs.values())):
        return spread(who, args, strategy, dimensions), kwargs
    given = spread(who, (*args, *kwargs.values()), strategy, dimensions)
    return given[: len(args)], dict(zip(kwargs, given[len(args) :], strict=True))


@transparent
def spread_around(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], inside: Any, outside: Any, who: str
) -> Any:
    """Call a function whose inputs and results have strategies.

    Args:
        function: the function.
        args: its arguments.
        kwargs: its arguments by name.
        inside: a strategy for each tensor among the arguments.
        outside: for each of the results.
        who: the function, for messages.
    """
    args, kwargs = spread_arguments(who, args, kwargs, inside)
    return spread(who, function(*args, **kwargs), outside, (), "result")


@keeps
def plan(who: str, function: Any, parameters: Any) -> None:
    """Place parameters of a Cell as a plan says that names them; those that have a place keep it.

    Args:
        who: the function that is given the plan, for messages.
        function: the Cell.
        parameters: for parameters by name, how each is cut.

    Raises:
        TypeError: the plan is no dictionary of names and strategies, or for no Cell.
        ValueError: there is no parameter of a name, or its strategy does not fit.
    """
    if not isinstance(parameters, dict):
        raise TypeError(f"{who}: parameter_plan must be a dict, not {type(parameters).__name__}")
    if not hasattr(function, "parameters_and_names"):
        raise TypeError(f"{who}: a parameter_plan is for a Cell, not for {type(function).__name__}")
    named: dict[str, Parameter] = {}
    for name, parameter in function.parameters_and_names():
        named[parameter.name] = parameter
        named.setdefault(name, parameter)
    for name, strategy in parameters.items():
        if not isinstance(name, str):
            raise TypeError(
                f"{who}: parameter_plan has names of parameters, not {name!r} of type {type(name).__name__}"
            )
        check_strategy(who, f"parameter_plan[{name!r}]", strategy)
        if name not in named:
            near = difflib.get_close_matches(name, named, 3, 0.4) or sorted(named)[:3]
            does = f"did you mean {' or '.join(map(repr, near))}?" if near else "it has none"
            raise ValueError(f"{who}: parameter_plan names {name!r}, and there is no such parameter; {does}")
    for name, strategy in parameters.items():
        what = f"{who}: parameter_plan[{name!r}]"
        if placement.count() == 1:
            check(what, [strategy], [named[name]], what="parameter")
        else:
            place = places(what, [strategy], [named[name]], what="parameter")[0]
            if place is not None:
                placement.adopt(named[name], place)


def _dimensions(operator: Any) -> tuple[str, ...]:
    """The dimensions of an operator's inputs."""
    name = operator.name
    if name in ("MatMul", "BatchMatMul"):
        return ("*km" if operator.transpose_a else "*mk", "*nk" if operator.transpose_b else "*kn")
    if name in _DIMENSIONS:
        found = _DIMENSIONS[name]
        # the channels that a kernel of a group has are not those of the image
        return found if getattr(operator, "group", 1) == 1 else (found[0], found[1].replace("c", "."), *found[2:])
    primitive = getattr(type(operator), "primitive", None)
    return _ALIKE if primitive is not None and primitive.elementwise else ()


operators.spread_by(call)
