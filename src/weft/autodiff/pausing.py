"""`no_grad`: a block in which nothing that is computed leaves a history for gradients."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from weft.context import GRADIENTS
from weft.core import trace as trace_module
from weft.core.transparency import keeps, transparent
from weft.errors import Refusal, Unsupported


@keeps
class no_grad:
    """A block, or a decorator of functions, in which what is computed is a constant for gradients.

    A gradient that begins inside of it is computed as usual; a gradient around it does not lead into it. In a compiled
    function the block begins and ends between two graphs.

    Example:
        >>> from weft import Tensor, grad
        >>> def f(x):
        ...     with no_grad():
        ...         factor = x * 3
        ...     return x * factor
        >>> print(grad(f)(Tensor([2.0])))
        [6.]
    """

    def __init__(self) -> None:
        #: for each time that it was entered, whether histories were paused before
        self._before: tuple[bool, ...] = ()

    def __enter__(self) -> no_grad:
        _refuse_in_graphs("begins")
        self._before = (*self._before, GRADIENTS.paused)
        GRADIENTS.paused = True
        return self

    def __exit__(self, *_: object) -> None:
        _refuse_in_graphs("ends")
        *rest, GRADIENTS.paused = self._before
        self._before = tuple(rest)

    @transparent
    def __call__(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """Decorate a function, each call of which is such a block."""

        @functools.wraps(fn)
        def paused(*args: Any, **kwargs: Any) -> Any:
            with no_grad():
                return fn(*args, **kwargs)

        return paused


def _refuse_in_graphs(what: str) -> None:
    if trace_module.current() is not None:
        raise Unsupported(
            Refusal.IMPURE_CALL,
            f"a no_grad block {what} here, which concerns gradients of the whole thread",
            "use ops.stop_gradient on what is computed in it",
        )


__all__ = ["no_grad"]
