"""How the dimensions of a tensor lie on a grid of devices."""

from __future__ import annotations

import copy
import math
from typing import Any

__all__ = ["Layout"]


class Layout:
    """A grid of devices, and which of its axes each dimension of a tensor is spread along.

    Args:
        device_matrix: size of each axis of the grid.
        alias_name: name of each axis.
        rank_list: the devices; None for as many as the grid has, from 0.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: the lengths differ, or two axes have one name.

    Example:
        >>> layout = Layout((2, 2), ("dp", "mp"))
        >>> layout("dp", "None").to_dict()["tensor_map"]
        (1, -1)
    """

    def __init__(self, device_matrix: Any, alias_name: Any, rank_list: Any = None) -> None:
        for what, value, kind in (("device_matrix", device_matrix, int), ("alias_name", alias_name, str)):
            if not isinstance(value, tuple):
                raise TypeError(f"Layout: {what} must be a tuple, not {type(value).__name__}")
            wrong = [item for item in value if not isinstance(item, kind)]
            if wrong:
                raise TypeError(f"Layout: each of {what} must be {kind.__name__}, not {type(wrong[0]).__name__}")
        if len(device_matrix) != len(alias_name):
            raise ValueError(f"Layout: {len(device_matrix)} sizes of axes do not fit {len(alias_name)} names")
        if len(set(alias_name)) != len(alias_name) or "" in alias_name:
            raise ValueError(f"Layout: the names of the axes must be different, and not empty; not {alias_name}")
        if rank_list is not None and not isinstance(rank_list, list):
            raise TypeError(f"Layout: rank_list must be a list, not {type(rank_list).__name__}")
        devices = math.prod(device_matrix)
        if rank_list is not None and (len(rank_list) != devices or len(set(rank_list)) != devices):
            raise ValueError(f"Layout: rank_list must name {devices} different devices, not {rank_list}")
        self._shape = device_matrix
        self._names = alias_name
        self._ranks = list(range(devices)) if rank_list is None else list(rank_list)
        self._map: tuple[Any, ...] | None = None

    def __call__(self, *tensor_map: Any) -> Layout:
        """The layout of a tensor whose dimensions are spread along these axes.

        Args:
            tensor_map: for each dimension the name of an axis, several names in a tuple, or ``"None"``.

        Raises:
            ValueError: there is no axis of such a name.
        """
        made = copy.copy(self)
        made._map = tuple([self._position(axis) for axis in tensor_map])
        return made

    def _position(self, axis: Any) -> Any:
        """The number of an axis, counted from the last."""
        if isinstance(axis, tuple):
            return tuple([self._position(part) for part in axis])
        if axis in (None, "None"):
            return -1
        if axis not in self._names:
            raise ValueError(f"Layout: there is no axis {axis!r} among {self._names}")
        return len(self._names) - 1 - self._names.index(axis)

    def to_dict(self) -> dict[str, Any]:
        """The layout as a dictionary.

        Raises:
            ValueError: no dimensions of a tensor were named, by calling the layout.
        """
        if self._map is None:
            raise ValueError("Layout: call the layout with the axes of a tensor's dimensions first")
        return {
            "device_matrix": self._shape,
            "tensor_map": self._map,
            "interleaved_parallel": "interleaved_parallel" in self._names,
            "alias_name": self._names,
            "rank_list": self._ranks,
        }
