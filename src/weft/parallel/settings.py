"""The settings of parallel programs as an object, which training scripts ask for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from weft.context import (
    PARALLEL_SETTINGS,
    get_auto_parallel_context,
    is_auto_parallel_context_set,
    reset_auto_parallel_context,
    set_auto_parallel_context,
)

#: what methods call a setting that has another name in `set_auto_parallel_context`
_ALSO: Final = {"all_reduce_fusion_split_indices": "all_reduce_fusion_config", "strategy_search_mode": "search_mode"}


class AutoParallelContext:
    """The settings, with a method for each question, as ``get_device_num()`` and ``get_device_num_is_set()``.

    Example:
        >>> settings = auto_parallel_context()
        >>> settings.get_device_num_is_set(), settings.get_device_num()
        (False, 1)
        >>> settings.set_gradients_mean(True)
        >>> get_auto_parallel_context("gradients_mean")
        True
        >>> settings.reset()
    """

    def reset(self) -> None:
        """Put the settings back to their defaults."""
        reset_auto_parallel_context()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        kind, _, setting = name.partition("_")
        asked = setting.removesuffix("_is_set")
        key = _ALSO.get(asked, asked)
        if key in PARALLEL_SETTINGS:
            if kind == "get" and asked != setting:
                return lambda: is_auto_parallel_context_set(key)
            if kind == "get":
                return lambda: get_auto_parallel_context(key)
            if kind == "set" and asked == setting:
                return lambda value: set_auto_parallel_context(**{key: value})
        raise AttributeError(f"the settings of parallel programs have no method {name!r}")


_SETTINGS: Final = AutoParallelContext()


def auto_parallel_context() -> AutoParallelContext:
    """The settings of parallel programs.

    Example:
        >>> auto_parallel_context() is auto_parallel_context()
        True
    """
    return _SETTINGS
