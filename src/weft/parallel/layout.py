"""How the dimensions of a tensor lie on a grid of devices."""

from __future__ import annotations

import copy
import math
from typing import Any

from weft.core.tensor import Parameter, Tensor
from weft.parallel import placement
from weft.parallel.placement import Place

__all__ = ["Layout", "layout_of", "place", "reshard"]


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

    def place(self, who: str, shape: tuple[int, ...]) -> Place:
        """Where a tensor of a shape lies; dimensions that the layout does not name are not cut.

        Args:
            who: the function that asks, for messages.
            shape: of the tensor.

        Raises:
            ValueError: no dimensions were named, or the tensor cannot be cut like this.
        """
        if "interleaved_parallel" in self._names:
            raise ValueError(f"{who}: an axis 'interleaved_parallel' is not one of devices")
        self.to_dict()  # raises if there are no dimensions
        axes = [() if name == "None" else name if isinstance(name, tuple) else (name,) for name in self._named()]
        return Place(self._shape, self._names, self._devices(who), tuple(axes)).checked(who, shape)

    def _devices(self, who: str) -> tuple[int, ...]:
        """The devices of the grid; none where it is one of any stage of a pipeline."""
        stages, size = placement.stages(), math.prod(self._shape)
        if stages == 1 or list(self._ranks) != list(range(size)):
            return tuple(self._ranks)
        if size != placement.count() // stages:
            raise ValueError(
                f"{who}: the layout {self!r} is one of {size} devices, but each of the {stages} stages has "
                f"{placement.count() // stages}"
            )
        return ()

    def __repr__(self) -> str:
        of = "" if self._map is None else f"({', '.join(map(repr, self._named()))})"
        return f"Layout({self._shape}, {self._names}){of}"

    def _named(self) -> list[Any]:
        """For each dimension the axis that cuts it, several in a tuple, or "None"."""
        found = []
        for entry in self._map or ():
            axes = [entry] if isinstance(entry, int) else entry
            names = tuple([self._names[-1 - axis] for axis in axes if axis != -1])
            found.append(names if len(names) > 1 else names[0] if names else "None")
        return found

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


def reshard(tensor: Tensor, layout: Layout) -> Tensor:
    """The same elements, laid out over devices.

    Eagerly they are moved; in a graph the compiler lays them out like this there, and what it computes with them
    follows. The gradient has the same layout. On one device the layout is checked and nothing else happens.

    Args:
        tensor: the tensor.
        layout: for its dimensions; those that it does not name are not cut.

    Returns:
        Tensor: with the values of `tensor`.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: a dimension cannot be cut like this, or there are other devices than those of the layout.

    Example:
        >>> print(reshard(Tensor([[1.0], [2.0]]), Layout((2, 1), ("dp", "mp"))("dp", "None")))
        [[1.]
         [2.]]
    """
    found = _place("reshard", tensor, layout)
    return placement.constrained(tensor, found) if placement.is_here(found) else tensor


def place(parameter: Parameter, layout: Layout | None) -> Parameter:
    """Lay a Parameter out over devices, now and whatever is written to it later.

    Args:
        parameter: the Parameter.
        layout: for its dimensions; None lets later values lie where they come from.

    Returns:
        Parameter: the same one.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: a dimension cannot be cut like this, or there are other devices than those of the layout.

    Example:
        >>> weight = Parameter(Tensor([[1.0], [2.0]]), name="weight")
        >>> print(place(weight, Layout((2,), ("mp",))("mp")).value())
        [[1.]
         [2.]]
    """
    if not isinstance(parameter, Parameter):
        raise TypeError(f"place: parameter must be a Parameter, not {type(parameter).__name__}")
    found = None if layout is None else _place("place", parameter, layout)
    if found is None or placement.is_here(found):
        placement.keep_in(parameter, found)
    return parameter


def layout_of(tensor: Tensor) -> Layout | None:
    """How a tensor is laid out over devices; None where it lies on one, or only the running graph knows.

    Args:
        tensor: the tensor.

    Example:
        >>> layout_of(Tensor([1.0])) is None
        True
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"layout_of: tensor must be a Tensor, not {type(tensor).__name__}")
    found = placement.place_of(tensor)
    if found is None:
        return None
    laid = Layout(found.sizes, found.names, list(found.ranks))
    laid._map = tuple([laid._position(axes if len(axes) > 1 else axes[0] if axes else None) for axes in found.dims])
    return laid


def _place(who: str, tensor: Any, layout: Any) -> Place:
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{who}: tensor must be a Tensor, not {type(tensor).__name__}")
    if not isinstance(layout, Layout):
        raise TypeError(f"{who}: layout must be a Layout, not {type(layout).__name__}")
    return layout.place(who, tensor.shape)
