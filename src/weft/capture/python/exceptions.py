"""What Python notes in exceptions: which one was being handled when another was raised."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, NoReturn

#: exceptions, each with its context at some time
Contexts = list[tuple[BaseException, BaseException | None]]


def context_chain(error: BaseException | None) -> Iterator[BaseException]:
    """An exception, its context, the context of that, and so on."""
    seen: set[int] = set()
    current = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__context__


def set_context(error: BaseException, handled: BaseException | None) -> None:
    """Note which exception was being handled when another one was raised; the chain never becomes a ring."""
    if handled is None or handled is error:
        return
    for link in context_chain(handled):
        if link.__context__ is error:
            link.__context__ = None
            break
    error.__context__ = handled


def drop_context(error: BaseException, ambient: BaseException | None, handled: BaseException | None) -> None:
    """Take what the capture itself was handling out of a new exception's chain, unless the program handles it too."""
    if ambient is None or ambient is handled:
        return
    for link in context_chain(error):
        if link.__context__ is ambient:
            link.__context__ = None
            return


def chain_native(error: BaseException, handled: BaseException | None) -> None:
    """`set_context` for an exception from native code, which may have raised several, each while handling the last."""
    last = error
    for link in context_chain(error):
        if link is handled:
            return
        last = link
    set_context(last, handled)


def contexts_before(error: BaseException) -> Contexts:
    """The contexts that `raise error` may change: its own, and those of what is being handled, to cut a ring."""
    return [(link, link.__context__) for link in (error, *context_chain(sys.exception()))]


def restore_contexts(before: Contexts) -> None:
    """Undo what a `raise` did to contexts."""
    for link, context in before:
        link.__context__ = context


def raise_as_it_is(error: BaseException) -> NoReturn:
    """Raise an exception that was raised before: what is being handled now is not what it was raised in."""
    before = contexts_before(error)
    try:
        raise error
    finally:
        restore_contexts(before)


def raise_chained(error: BaseException) -> NoReturn:
    """Raise an exception of a graph: what the caller is handling comes last in its chain."""
    chain_native(error, sys.exception())
    raise_as_it_is(error)


def function_text(function: Any) -> str:
    """How messages about the arguments of a call name the function."""
    name = getattr(function, "__qualname__", None)
    if name is None:
        return str(function)
    module = getattr(function, "__module__", None)
    return f"{name}()" if module in (None, "builtins") else f"{module}.{name}()"


def unbound_local(name: str) -> UnboundLocalError:
    """Python's error for a local variable that has no value."""
    return UnboundLocalError(f"cannot access local variable '{name}' where it is not associated with a value")
