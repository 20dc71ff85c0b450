"""Compiled functions, known by what they compute: an earlier process's are loaded before JAX traces anything.

JAX finds an executable by the program that it has traced and lowered, which takes many times as long as to load it.
So a text that says what a function computes, with the types of its operands and the settings of the compiler, leads
to the key under which JAX keeps the executable, and to the types of its results.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Any, Final

import jax

from weft._jax_compat import Program, Spread, compiler_settings, loading
from weft.cache import partitioning
from weft.cache.inferred import Store
from weft.cache.mixing import Mixing
from weft.cache.version import VERSION

partitioning.install()
#: begins the keys of what is kept here
_PREFIX: Final = "program "
#: where it is kept; None where nothing is
_store: Store | None = None


def keep_in(store: Store | None) -> None:
    """Keep what is compiled from now on in a store, or nowhere."""
    global _store
    _store = store


def compiled(
    function: Callable[..., Any],
    text: Callable[[], str | None],
    donated: Sequence[int] = (),
    *,
    laid_out: tuple[Any, ...] | None = None,
    spreads: bool = False,
    around: Callable[[], contextlib.AbstractContextManager[Callable[[Spread], None] | None]] = contextlib.nullcontext,
    graph: Callable[[], Any] | None = None,
) -> Callable[..., Any]:
    """`jax.jit` of a function, which JAX traces only where no earlier process has compiled it.

    Args:
        function: a function of arrays.
        text: says what it computes, so that functions with the same text are the same; None for one that has no such
            text. It is asked for when the function is first called.
        donated: operands whose memory results may take over.
        laid_out: for each result where it lies, None for wherever the compiler puts it; None for all of them.
        spreads: whether it lays arrays out over several devices.
        around: makes a context in which a program is made or loaded; what it gives is told of one over several
            devices.
        graph: gives the graph that it computes, for messages; None for one that has none.

    Example:
        >>> import numpy as np
        >>> double = compiled(lambda x: x * 2, lambda: "x * 2")
        >>> double(np.float32(2.5)).item()
        5.0
    """
    jitted = jax.jit(function, donate_argnums=tuple(donated), out_shardings=laid_out)
    known: list[str | None] = []

    def key(types: str) -> str | None:
        if not known:
            known.append(text())
        if known[0] is None:
            return None
        facts = (VERSION, compiler_settings(), known[0], tuple(donated), types)
        return _PREFIX + hashlib.sha256(repr(facts).encode()).hexdigest()

    def find(types: str) -> Program | None:
        name = None if _store is None else key(types)
        content = None if _store is None or name is None else _store.get(name)
        return None if content is None else _read(content)

    def keep(types: str, program: Program) -> None:
        name = key(types)
        if _store is not None and name is not None:
            _store.put(name, json.dumps(program, separators=(",", ":")).encode())

    called = loading(jitted, find, keep, around, Mixing(function, tuple(donated), laid_out))
    return called if _called_by is None else _called_by(called, text, spreads, graph)


#: what runs compiled functions in place of themselves: made of a function, its text, whether it lays arrays out, and
#: what gives its graph
_Caller = Callable[[Any, Callable[[], str | None], bool, Callable[[], Any] | None], Any]
_called_by: _Caller | None = None


def call_by(caller: _Caller) -> None:
    """Set what is called in place of the functions that are compiled from now on.

    Args:
        caller: gives it, made of a function, what says what that computes, whether it lays arrays out, and what gives
            the graph that it computes, if it has one.
    """
    global _called_by
    _called_by = caller


def remembered(text: str | None, find: Callable[[], Any]) -> Any:
    """What is found out about a function, kept for the next process.

    Args:
        text: says what is asked about what; None where that has no text.
        find: finds it out; gives what JSON can write.

    Example:
        >>> remembered(None, lambda: [1, 2])
        [1, 2]
    """
    if _store is None or text is None:
        return find()
    key = "fact " + hashlib.sha256(repr((VERSION, compiler_settings(), text)).encode()).hexdigest()
    content = _store.get(key)
    if content is not None:
        try:
            return json.loads(content)
        except ValueError:
            pass
    found = find()
    _store.put(key, json.dumps(found).encode())
    return found


def _read(content: bytes) -> Program | None:
    try:
        return Program(*json.loads(content))
    except (ValueError, TypeError):
        return None
