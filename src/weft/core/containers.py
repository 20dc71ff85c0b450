"""`mutable`: numbers and containers whose values may change between calls of a compiled function."""

from __future__ import annotations

from typing import Any

from weft.core.tensor import Tensor


class _Mark:
    """Says of a number or container that its numbers are inputs of a graph, not constants."""

    __ms_mutable__ = True


class _Int(int, _Mark):
    pass


class _Float(float, _Mark):
    pass


class _Tuple(tuple, _Mark):  # type: ignore[type-arg]
    pass


class _List(list, _Mark):  # type: ignore[type-arg]
    pass


class _Dict(dict, _Mark):  # type: ignore[type-arg]
    pass


_MADE: dict[type, type] = {int: _Int, float: _Float, tuple: _Tuple, list: _List, dict: _Dict}


def mutable(input_data: Any, dynamic_len: bool = False) -> Any:
    """Mark a value whose numbers become inputs of compiled functions, so that a new value needs no new compilation.

    Args:
        input_data: a number, a tensor, or a tuple, list or dict of them.
        dynamic_len: whether the length may change between calls too.

    Returns:
        The value, equal to `input_data`, with the mark.

    Raises:
        TypeError: another type of value.

    Example:
        >>> mutable(3) + 1
        4
    """
    if not isinstance(dynamic_len, bool):
        raise TypeError(f"dynamic_len must be a bool, not {type(dynamic_len).__name__}")
    if isinstance(input_data, Tensor):
        return input_data
    kind: Any
    made: Any
    for kind, made in _MADE.items():
        if type(input_data) is kind or type(input_data) is made:
            if kind in (tuple, list):
                return made(mutable(item) for item in input_data)
            if kind is dict:
                return made((key, mutable(item)) for key, item in input_data.items())
            return made(input_data)
    raise TypeError(f"mutable() takes numbers, tensors, tuples, lists and dicts, not {type(input_data).__name__}")


def is_mutable(value: Any) -> bool:
    """Whether a value carries the mark."""
    return issubclass(type(value), _Mark)
