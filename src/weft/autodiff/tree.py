"""Nested tuples, lists and dicts of tensors: walking them, and building others of the same structure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from weft.core.tensor import Tensor

_NUMBERS = (bool, int, float, complex)


def tensors_of(value: Any) -> list[Tensor]:
    """The tensors in a nested structure, in order."""
    if isinstance(value, Tensor):
        return [value]
    found: list[Tensor] = []
    if isinstance(value, (tuple, list)):
        for item in value:
            found.extend(tensors_of(item))
    elif isinstance(value, dict):
        for item in value.values():
            found.extend(tensors_of(item))
    return found


def map_tensors(function: Callable[[Tensor], Any], value: Any, other: Callable[[Any], Any] | None = None) -> Any:
    """A structure with every tensor replaced; what is neither tensor nor container goes through `other` or stays."""
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, tuple):
        items = [map_tensors(function, item, other) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, list):
        return [map_tensors(function, item, other) for item in value]
    if isinstance(value, dict):
        return {key: map_tensors(function, item, other) for key, item in value.items()}
    return value if other is None else other(value)


def gradient_like(template: Any, gradients: Iterator[Any]) -> Any:
    """The gradients of a structure's tensors in that structure; a number in it has gradient 0, anything else None."""
    return map_tensors(lambda _: next(gradients), template, lambda leaf: 0 if isinstance(leaf, _NUMBERS) else None)


def paired(template: Any, value: Any, what: str) -> list[Any]:
    """What `value` holds at the places where `template` holds tensors.

    Raises:
        ValueError: the structures differ; `what` names the value.
    """
    if isinstance(template, Tensor):
        return [value]
    if isinstance(template, (tuple, list)):
        tensors = tensors_of(template)
        if not tensors:
            return []
        if not isinstance(value, (tuple, list)) or len(value) != len(template):
            if len(tensors) == 1 and isinstance(value, Tensor):
                return [value]
            raise ValueError(
                f"{what} must have the structure of the output, a {type(template).__name__} of {len(template)} items, "
                f"not {_describe(value)}"
            )
        return [leaf for t, v in zip(template, value, strict=True) for leaf in paired(t, v, what)]
    if isinstance(template, dict):
        if not isinstance(value, dict) or list(value) != list(template):
            raise ValueError(f"{what} must be a dict with the keys {list(template)}, not {_describe(value)}")
        return [leaf for key in template for leaf in paired(template[key], value[key], what)]
    return []


def _describe(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"a tensor of shape {value.shape}"
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)} items"
    return f"a {type(value).__name__}"
