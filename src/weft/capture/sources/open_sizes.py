"""Which sizes of the tensors that a capture reads are left open, and the type of a tensor that has some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weft.core.tensor import Tensor, data_of
from weft.ir.sizes import Size, atom
from weft.ir.types import TensorType


def size_path(path: str, axis: int) -> str:
    """The path of the size of a tensor's axis."""
    return f"{path}.shape[{axis}]"


class OpenSizes:
    """The sizes that a capture leaves open; those of one group are one size, as long as they are equal."""

    def __init__(self) -> None:
        #: path of a size -> its group, see `Owner.sizes`
        self.paths: Mapping[str, int] = {}
        #: the groups of each axis of tensors that say so themselves, by id of the tensor; None for a known size
        self.tensors: Mapping[int, Sequence[int | None]] = {}
        #: what stands for a group, and which size that is in this capture
        self._chosen: dict[Any, tuple[Size, int]] = {}

    def type_of(self, expression: str, value: Tensor, path: str) -> TensorType:
        """The type of a tensor in which sizes are left open.

        Args:
            expression: what loads the tensor.
            value: the tensor.
            path: the same in the user's terms.
        """
        shape: list[Any] = [*data_of(value).shape]
        groups = self.tensors.get(id(value))
        for axis, size in enumerate(data_of(value).shape):
            group = self.paths.get(size_path(path, axis)) if groups is None else groups[axis]
            if group is not None and size:
                chosen = self._chosen.setdefault(group, (atom(len(self._chosen)), size))
                if chosen[1] != size:
                    chosen = self._chosen[group, expression, axis] = (atom(len(self._chosen)), size)
                shape[axis] = chosen[0]
        return TensorType.of(value.type.dtype, tuple(shape), value.type.weak)
