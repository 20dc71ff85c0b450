"""Builtins that look at what captured code has not as Python has it: frames, the caller's module, lifetimes."""

from __future__ import annotations

import builtins
import collections
import dataclasses
import gc
import inspect
import sys
import traceback
import typing
import weakref
from typing import TYPE_CHECKING, Any, NoReturn

from weft.capture.meaning.table import Handler, handles, refused
from weft.errors import Refusal, Unsupported

if TYPE_CHECKING:
    from weft.capture.meaning.parts import Machine


def _named_by_frame(function: Any, keyword: str | None = "module") -> Handler:
    """A function that notes the module of the frame that calls it in what it makes."""

    def handler(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if keyword is None or kwargs.get(keyword) is None:
            raise Unsupported(
                Refusal.IMPURE_CALL,
                f"{function.__qualname__}() makes a class that notes the module of its caller",
                "call it outside the compiled function" + ("" if keyword is None else f", or pass {keyword}="),
            )
        return function(*args, **kwargs)

    return handler


handles(collections.namedtuple)(_named_by_frame(collections.namedtuple))
handles(dataclasses.make_dataclass)(
    _named_by_frame(dataclasses.make_dataclass, "module" if sys.version_info >= (3, 12) else None)
)
for _maker in (typing.NamedTuple, typing.NewType, typing.TypeVar, typing.ParamSpec, typing.TypeVarTuple):
    handles(_maker)(_named_by_frame(_maker, None))

for _looking, _name in (
    (inspect.stack, "inspect.stack"), (inspect.trace, "inspect.trace"), (inspect.currentframe, "inspect.currentframe"),
):  # fmt: skip
    handles(_looking)(refused(_name, "captured code has no frames: call it outside the compiled function"))


def _of_lifetimes(name: str) -> Handler:
    """A function that sees when objects come and go: capture keeps them alive, so the whole call runs in Python."""

    def handler(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
        refuse_lifetimes(f"{name}() sees how long objects live")

    return handler


def refuse_lifetimes(why: str) -> NoReturn:
    """Refuse a call whose outcome depends on when objects are freed."""
    refusal = Unsupported(
        Refusal.LIFETIME, f"{why}, and capture keeps them alive", "call it outside the compiled function"
    )
    refusal.whole = True
    raise refusal


@handles(sys._getframe)
def _getframe(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    refusal = Unsupported(
        Refusal.IMPURE_CALL, "sys._getframe() looks at the frames of the call", "call it outside the compiled function"
    )
    frame: Any = machine.frame
    while frame is not None and not refusal.whole:  # a generator made in the capture goes on in frames of its own
        refusal.whole, frame = frame.decoded.is_generator, frame.caller
    raise refusal


for _watching in (
    weakref.ref, weakref.proxy, weakref.finalize, sys.getrefcount, sys.getsizeof, gc.collect, gc.get_objects,
    gc.get_referrers, gc.is_tracked, gc.get_count, gc.freeze, gc.disable, gc.enable,
):  # fmt: skip
    handles(_watching)(_of_lifetimes(_watching.__name__))

for _name in ("input", "open", "exec", "eval", "compile", "__import__"):
    handles(getattr(builtins, _name))(refused(_name, "call it outside the compiled function"))


@handles(traceback.clear_frames)
def _clear_frames(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> None:
    """The frames of captured code are no Python frames: there is nothing to clear."""
