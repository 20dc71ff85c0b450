"""What a strategy may be: for each tensor into how many parts each of its dimensions is cut."""

from __future__ import annotations

from typing import Any, Final


def is_layout(value: Any) -> bool:
    """Whether a value is a `Layout`, which stands for the strategy of a tensor."""
    return callable(getattr(type(value), "place", None))


def is_nested(strategy: Any) -> bool:
    """Whether a strategy is not that of a tensor, but a tuple of those of several."""
    return isinstance(strategy, tuple) and any(
        one is None or isinstance(one, tuple) or is_layout(one) for one in strategy
    )


def check_strategies(who: str, what: str, value: Any) -> Any:
    """A value that may be the strategies of several tensors.

    Args:
        who: the function that is given them, for messages.
        what: its argument.
        value: a tuple with a strategy for each tensor; None for none.

    Returns:
        The value.

    Raises:
        TypeError: it is something else.
        ValueError: a dimension is cut into less than one part.

    Example:
        >>> check_strategies("MatMul.shard", "in_strategy", ((4, 1), (1, 2)))
        ((4, 1), (1, 2))
    """
    if value is not None:
        if not isinstance(value, tuple):
            raise TypeError(f"{who}: {what} must be {_SEVERAL}, not {value!r} of type {type(value).__name__}")
        for one in value:
            check_strategy(who, f"{what}, which is {_SEVERAL}", one)
    return value


def check_strategy(who: str, what: str, strategy: Any) -> None:
    """Check what may be the strategy of a tensor, or those of the tensors of an input that is a tuple.

    Args:
        who: the function that is given it, for messages.
        what: its argument.
        strategy: a tuple of numbers of parts, a `Layout`, or None.

    Raises:
        TypeError: it is something else.
        ValueError: a dimension is cut into less than one part.
    """
    if is_nested(strategy):
        for one in strategy:
            check_strategy(who, what, one)
    elif isinstance(strategy, tuple):
        for parts in strategy:
            if isinstance(parts, bool) or not isinstance(parts, int):
                raise TypeError(f"{who}: {strategy!r} is no strategy: {_ONE}, not {type(parts).__name__} (in {what})")
            if parts < 1:
                raise ValueError(f"{who}: a dimension is cut into at least 1 part, not {parts} as in {strategy}")
    elif strategy is not None and not is_layout(strategy):
        raise TypeError(f"{who}: {strategy!r} is no strategy: {_ONE}, not {type(strategy).__name__} (in {what})")


_ONE: Final = "it must be a tuple of positive ints, one for each dimension of a tensor, or a Layout"
_SEVERAL: Final = "a tuple with a strategy for each tensor, as ((4, 1), (1, 2))"
