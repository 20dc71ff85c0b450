"""Functions of the program's that run when the graph does, or that JAX traces: `ops.Custom`.

They run past the capture, so only such are taken into a graph as depend on their arguments and constants alone
(`weft.core.closed`); a guard asks again in every call. The call of any other is a break.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from weft.capture.meaning.gate import DEFAULT
from weft.capture.meaning.table import handles
from weft.capture.python.classes import MISSING
from weft.core import trace as trace_module
from weft.core.closed import outside_of
from weft.errors import Refusal, Unsupported
from weft.ops.custom import call_jax, call_python

if TYPE_CHECKING:
    from weft.capture.meaning.parts import Machine


class _Unchanged:
    """The check of a guard: whether a function depends on what it did when it was captured.

    Args:
        outside: what that was.
        by_jax: whether it may compute with JAX.
    """

    __slots__ = ("outside", "by_jax")
    __name__ = "what a custom operator depends on"

    def __init__(self, outside: tuple[Any, ...], by_jax: bool) -> None:
        self.outside = outside
        self.by_jax = by_jax

    def __call__(self, function: Callable[..., Any]) -> bool:
        return outside_of(function, self.by_jax) == self.outside


def _check_closed(machine: Machine, function: Any, by_jax: bool) -> None:

    def is_written(holder: Any, name: str) -> bool:
        noted = machine.journal.noted(holder)
        return noted is not None and (
            not isinstance(holder, dict) or noted["dict"].get(name, MISSING) is not holder.get(name, MISSING)
        )

    outside = outside_of(function, by_jax, is_written)
    if outside is None:
        raise Unsupported(
            Refusal.UNKNOWN_CALL,
            f"{getattr(function, '__qualname__', type(function).__name__)} depends on more than its arguments and "
            "constants, on what the compiled function has written, or changes something",
            "let it compute its result from its arguments, constants and functions of "
            f"{'JAX and NumPy' if by_jax else 'NumPy'} alone",
        )
    if id(function) in machine.created:
        raise Unsupported(
            Refusal.UNKNOWN_CALL,
            "the function of a custom operator is made inside the compiled function",
            "define it outside and pass values as arguments",
        )
    machine.sources.condition(_Unchanged(outside, by_jax), function, True)


def _has_written(machine: Machine) -> bool:
    """Whether the call has written anything that lies outside of it, besides handles of the graph's own."""
    trace = trace_module.current()
    assert trace is not None
    own = {id(trace.token), id(trace.holds), id(trace.checked)}
    written = {key for layer in machine.journal.layers for key in layer.before} - own
    return any(not machine.journal.belongs(key, machine.created) for key in written)


def _check_leaving(machine: Machine, name: str) -> None:
    """Refuse a call that may raise while the graph runs, where more would have to be done then than to raise that."""
    why = ""
    if machine.journal.wrote_outside and _has_written(machine):
        why = "after the compiled function has written something, which stays written if it raises"
    frame: Any = machine.frame
    while frame is not None:
        if not frame.function.__module__.startswith("weft.") and frame.decoded.handler_at(frame.pc - 1) is not None:
            why = "inside of try or with, which would handle what it raises"
        frame = frame.caller
    if why:
        raise Unsupported(
            Refusal.IMPURE_CALL,
            f"{name} calls a function of the host {why}",
            "call it before, or let JAX compute it (func_type='jax')",
        )


@handles(call_python)
def _call_python(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    del kwargs
    function, inputs, shapes, kinds, name = args
    _check_closed(machine, function, False)
    _check_leaving(machine, name)
    return call_python(function, machine.gate.arguments(DEFAULT, list(inputs), {})[0], shapes, kinds, name)


@handles(call_jax)
def _call_jax(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    del kwargs
    function, inputs = args
    _check_closed(machine, function.function, True)
    return call_jax(function, machine.gate.arguments(DEFAULT, list(inputs), {})[0])
