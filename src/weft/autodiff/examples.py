"""Hooks that are registered while `vmap` traces its function, and outlive what they read there."""

from __future__ import annotations

import functools
from typing import Any

from weft.core import trace as trace_module
from weft.core.tensor import Tensor
from weft.errors import Refusal, Unsupported


def refuse_values_of_an_example(hook: Any) -> None:
    """Refuse a hook on a tensor from outside a mapped function, where it is seen to hold a value of the example.

    Args:
        hook: what is to be registered.
    """
    trace = trace_module.current()
    if trace is not None and trace.one_of_many and _holds_symbolic(hook, set()):
        raise Unsupported(
            Refusal.OUTPUT,
            "a hook on a tensor that is not mapped reads a value of one example, which is gone when the hook runs",
            "register it on a tensor computed for each example, as w * 1, and map the gradient: jit(vmap(grad(f)))",
        )


def _holds_symbolic(obj: Any, seen: set[int]) -> bool:
    if id(obj) in seen:
        return False
    seen.add(id(obj))
    if isinstance(obj, Tensor):
        return obj.is_symbolic
    if isinstance(obj, dict):
        return any(_holds_symbolic(part, seen) for part in obj.values())
    if isinstance(obj, (list, tuple, set, frozenset)):
        return any(_holds_symbolic(part, seen) for part in obj)
    if isinstance(obj, functools.partial):
        return any(_holds_symbolic(part, seen) for part in (obj.func, obj.args, obj.keywords))
    if isinstance(obj, type):
        return False
    parts: list[Any] = [getattr(obj, name, None) for name in ("__self__", "__defaults__", "__kwdefaults__", "__dict__")]
    for cell in getattr(obj, "__closure__", None) or ():
        try:
            parts.append(cell.cell_contents)
        except ValueError:  # a variable that is not set yet
            continue
    return any(_holds_symbolic(part, seen) for part in parts if part is not None)
