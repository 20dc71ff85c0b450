"""The sample arguments of `export`, some sizes of which may be left open."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from weft.capture.whole import Whole, capture_whole
from weft.core.tensor import NoElements, Tensor, data_of
from weft.ir.sizes import is_open_size

#: what tells which axes share a size, from the number of the tensor and the axis
_Grouping = Callable[[int, int], Hashable]


def captured(net: Any, inputs: Sequence[Any]) -> tuple[Whole, list[Tensor], list[Any]]:
    """A call with sample arguments as one graph, the tensors in the arguments, and the structure of each.

    Each size that is left open is first taken for one of its own. If the call does not allow that, open sizes of the
    same axis number are one size.

    Args:
        net: a Cell or function.
        inputs: the arguments.

    Raises:
        Unsupported: the call cannot be one graph, or needs an open size to be one value.
        TypeError: an argument is no Tensor, nor a tuple, list or dictionary of them.
    """
    apart = _Samples(lambda number, axis: (number, axis))
    try:
        whole = apart.capture(net, inputs)
        if whole.held is None:
            return whole, apart.leaves, apart.described(inputs, whole)
        problem: Exception = whole.held
    except Exception as error:
        problem = error
    shared = _Samples(lambda number, axis: axis)
    if apart.count() == shared.count_of(inputs):
        raise problem
    whole = shared.capture(net, inputs)
    if whole.held is not None:
        raise whole.held
    return whole, shared.leaves, shared.described(inputs, whole)


class _Samples:
    """Copies of the sample arguments, with some sizes where they are open.

    Args:
        group: which open axes have the same size.
    """

    def __init__(self, group: _Grouping) -> None:
        self.group = group
        #: copies of the tensors, so that none of them is a weight
        self.leaves: list[Tensor] = []
        #: the number of the group of each open axis, by id of the copy
        self.open: dict[int, list[int | None]] = {}
        self._groups: dict[Hashable, int] = {}

    def capture(self, net: Any, inputs: Sequence[Any]) -> Whole:
        """Capture the call with the copies."""
        copies = [self._copied(value) for value in inputs]
        return capture_whole(net, copies, getattr(net, "__name__", type(net).__name__), self.open)

    def count(self) -> int:
        """How many different sizes are open."""
        return len(self._groups)

    def count_of(self, inputs: Sequence[Any]) -> int:
        """How many different sizes are open in arguments."""
        probe = _Samples(self.group)
        for value in inputs:
            probe._copied(value)
        return probe.count()

    def _copied(self, value: Any) -> Any:
        """An argument with new handles for its tensors."""
        if isinstance(value, Tensor):
            copy = self._sample(value) if isinstance(data_of(value), NoElements) else Tensor(np.array(value))
            self.leaves.append(copy)
            return copy
        if type(value) in (tuple, list):
            made = [self._copied(item) for item in value]
            return tuple(made) if type(value) is tuple else made
        if type(value) is dict and all(type(key) is str for key in value):
            return {key: self._copied(item) for key, item in value.items()}
        raise TypeError(
            f"export: an input must be a Tensor, or a tuple, list or dict of Tensors, not {type(value).__name__}"
        )

    def _sample(self, value: Tensor) -> Tensor:
        """A tensor of zeros where only a type is given; different open sizes are different primes."""
        kind = data_of(value).kind
        groups: list[int | None] = []
        for axis, size in enumerate(kind.shape):
            number = None
            if size < 0:
                number = self._groups.setdefault(self.group(len(self.leaves), axis), len(self._groups))
            groups.append(number)
        shape = [size if number is None else _prime(number) for size, number in zip(kind.shape, groups, strict=True)]
        copy = Tensor(np.zeros(shape, kind.dtype.np_dtype))
        self.open[id(copy)] = groups
        return copy

    def described(self, inputs: Sequence[Any], whole: Whole) -> list[Any]:
        """The structure of the arguments, with the sizes that the graph takes."""
        leaves = iter(enumerate(self.leaves))

        def one(value: Any) -> list[Any]:
            if isinstance(value, Tensor):
                number, leaf = next(leaves)
                kind = whole.types.get(id(leaf))
                shape: list[Any] = list(leaf.shape)
                if kind is not None:
                    shape = [str(size) if is_open_size(size) else size for size in kind.shape]
                elif id(leaf) in self.open:  # the call does not read it
                    groups = self.open[id(leaf)]
                    shape = [size if group is None else None for size, group in zip(shape, groups, strict=True)]
                return ["tensor", number, leaf.dtype.np_dtype.name, shape]
            if type(value) is dict:
                return ["dict", [[key, one(item)] for key, item in value.items()]]
            return [type(value).__name__, [one(item) for item in value]]

        return [one(value) for value in inputs]


def _prime(number: int) -> int:
    """The prime number from 5 on with a number."""
    found = 5
    while True:
        if all(found % divisor for divisor in range(2, int(found**0.5) + 1)):
            if number == 0:
                return found
            number -= 1
        found += 2
