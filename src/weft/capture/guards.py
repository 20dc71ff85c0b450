"""The guard of an entry: one generated function that says whether the outside still looks as it did when captured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.capture.sources import Sources


def compile_guard(sources: Sources, arguments: str) -> Callable[..., bool] | None:
    """The check of all guards, None if there are none.

    Args:
        sources: the sources of the capture.
        arguments: parameter list of the check; guard expressions may refer to these names.

    Returns:
        A function of those arguments; an outside value that has vanished counts as changed.
    """
    if not sources.guards:
        return None
    lines = [f"def check({arguments}):", "    try:"]
    lines += [f"        if not ({condition}): return False" for condition in sources.guards]
    lines += ["    except (AttributeError, KeyError, IndexError, TypeError, ValueError):", "        return False"]
    lines += ["    return True"]
    scope = dict(sources.scope)
    exec(compile("\n".join(lines), "<weft guard>", "exec"), scope)
    found: Callable[..., bool] = scope["check"]
    return found


def first_failure(sources: Sources, values: dict[str, Any]) -> str | None:
    """What the first failing guard guards, None if all hold (for reports)."""
    scope = {**sources.scope, **values}
    for condition, what in sources.guards.items():
        try:
            if not eval(condition, scope):
                return what
        except (AttributeError, KeyError, IndexError, TypeError, ValueError):
            return what
    return None
