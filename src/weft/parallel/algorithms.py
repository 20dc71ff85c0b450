"""Settings of the search for sharding strategies: stored, as one process has nothing to spread."""

from __future__ import annotations

from typing import Any, Final

from weft.context import note

__all__ = ["get_algo_parameters", "reset_algo_parameters", "set_algo_parameters"]

_DEFAULTS: Final[dict[str, Any]] = {
    "fully_use_devices": False,
    "elementwise_op_strategy_follow": False,
    "enable_algo_approxi": False,
    "algo_approxi_epsilon": 0.1,
    "tensor_slice_align_enable": False,
    "tensor_slice_align_size": 16,
}
_values = dict(_DEFAULTS)


def set_algo_parameters(**kwargs: Any) -> None:
    """Change settings of the search.

    Args:
        kwargs: settings by name.

    Raises:
        ValueError: there is no such setting.
        TypeError: a value has the wrong type.

    Example:
        >>> set_algo_parameters(elementwise_op_strategy_follow=True)
        >>> get_algo_parameters("elementwise_op_strategy_follow")
        True
        >>> reset_algo_parameters()
    """
    for name, value in kwargs.items():
        kind = type(_known(name))
        if type(value) is not kind:
            raise TypeError(f"set_algo_parameters: {name} must be {kind.__name__}, not {type(value).__name__}")
    _values.update(kwargs)
    note("algorithms", (repr(_values),))


def get_algo_parameters(attr_key: str) -> Any:
    """The value of a setting of the search.

    Args:
        attr_key: name of the setting.

    Raises:
        ValueError: there is no such setting.
    """
    _known(attr_key)
    return _values[attr_key]


def reset_algo_parameters() -> None:
    """Put the settings of the search back to their defaults."""
    _values.update(_DEFAULTS)
    note("algorithms", ())


def _known(name: str) -> Any:
    """The default of a setting."""
    if name not in _DEFAULTS:
        raise ValueError(f"{name!r} is no setting of the search for strategies; known: {', '.join(_DEFAULTS)}")
    return _DEFAULTS[name]
