"""The table of rules: for each primitive of JAX, how it is computed on padded arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

#: (space, equation, operands) -> the result or a list of results
Rule = Callable[..., Any]
#: by the name of the primitive
RULES: Final[dict[str, Rule]] = {}


class Refused(Exception):
    """Raised where a program is not known to be exact in padded arrays.

    Args:
        what: the primitive, or what else it is about.
        why: the reason.
    """

    def __init__(self, what: str, why: str) -> None:
        super().__init__(f"{what}: {why}")
        self.what = what
        self.why = why


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Enter a function as the rule of the primitives with these names."""

    def enter(function: Rule) -> Rule:
        for name in names:
            assert name not in RULES, name
            RULES[name] = function
        return function

    return enter
