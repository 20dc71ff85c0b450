"""Sizes that a program leaves open, with what it says of them."""

from __future__ import annotations

from typing import Any

__all__ = ["Symbol"]


class Symbol:
    """A size that is left open, for ``Tensor(shape=[Symbol(), 3], dtype=...)``.

    What is said of the size is kept; which sizes change, and together, is found out by comparing calls.

    Args:
        max: the largest, 0 for no bound.
        min: the smallest.
        divisor: what divides it, less the remainder.
        remainder: what is left then.
        unique: whether equal symbols are equal sizes.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: an argument has the wrong value.

    Example:
        >>> Symbol(max=4, divisor=2)
        {'max': 4, 'divisor': 2}
    """

    def __init__(
        self, max: int = 0, min: int = 1, divisor: int = 1, remainder: int = 0, unique: bool = False, **kwargs: Any
    ) -> None:
        said = {"max": max, "min": min, "divisor": divisor, "remainder": remainder}
        for what, value in said.items():
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"Symbol: {what} must be an int, not {type(value).__name__}")
        if not isinstance(unique, bool):
            raise TypeError(f"Symbol: unique must be a bool, not {type(unique).__name__}")
        if divisor < 1:
            raise ValueError(f"Symbol: divisor must be positive, not {divisor}")
        if 0 < max < min or not 0 <= remainder < divisor:
            raise ValueError(f"Symbol: no size fits {said}")
        self.max, self.min, self.divisor, self.remainder, self.unique = max, min, divisor, remainder, unique
        self.kwargs = kwargs

    def to_dict(self) -> dict[str, Any]:
        """What is said of the size."""
        said = {"max": self.max, "min": self.min, "divisor": self.divisor, "remainder": self.remainder}
        first = {"max": 0, "min": 1, "divisor": 1, "remainder": 0}
        found: dict[str, Any] = {name: value for name, value in said.items() if value > first[name]}
        return {**found, "unique": True} if self.unique else found

    def __repr__(self) -> str:
        return repr(self.to_dict())
