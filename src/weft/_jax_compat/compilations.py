"""Compilations by XLA: who is told of them, and what JAX remembers of them."""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Final

import jax
import jax.monitoring
from jax._src import dispatch, pjit
from jax._src import util as jax_util
from jax._src.interpreters import mlir

#: JAX's name for the event that a compilation has ended
COMPILED: Final = "/jax/core/compile/backend_compile_duration"
#: and for the one, before it, that it was found on disk
LOADED: Final = "/jax/compilation_cache/cache_hits"


class _Local(threading.local):
    #: whether what is being compiled was found on disk
    loaded = False
    #: what holds the programs that JAX writes for XLA in this thread, and for how many more it is used
    context: Any = None
    uses = 0


_local = _Local()


def _ir_context() -> Any:
    """What holds a program that JAX writes for XLA: one for many programs of a thread.

    Making one takes as long as writing a small program, as it loads all dialects. It also keeps all types, constants
    and locations of its programs as long as it lives, so it is not used for ever.
    """
    if not _local.uses:
        _local.context, _local.uses = _make_ir_context(), _PROGRAMS
    _local.uses -= 1
    return _local.context


#: programs that one context holds
_PROGRAMS: Final = 64
_make_ir_context: Final = mlir.make_ir_context
mlir.make_ir_context = _ir_context


def _note_loaded(event: str, **facts: Any) -> None:
    if event == LOADED:
        _local.loaded = True


jax.monitoring.register_event_listener(_note_loaded)


def on_compilation(listener: Callable[[str, float], None]) -> None:
    """Call ``listener(name, seconds)``, in the thread that asked for it, after each compilation by XLA."""

    def heard(event: str, duration_secs: float, **facts: Any) -> None:
        if event == COMPILED:
            name = str(facts.get("fun_name", ""))
            listener(name[4:-1] if name.startswith("jit(") else name, duration_secs)

    jax.monitoring.register_event_duration_secs_listener(heard)


def was_loaded() -> bool:
    """Whether the compilation that a listener of this thread is told of was a load from disk; asked once for each."""
    loaded, _local.loaded = _local.loaded, False
    return loaded


def _forget_traces(name: str, seconds: float) -> None:
    """Drop what JAX remembers of tracing once in a while: it is never read again unless something is compiled again,
    but holds some 100 KB for each shape that an operation was ever traced with. Compiled code stays.
    """
    global _compilations
    del name, seconds
    _compilations += 1
    if _compilations % _REMEMBERED == 0:
        for cache in list(getattr(jax_util, "_caches", ())):
            if cache is not _OPERATIONS:
                cache.cache_clear()
        _SEEN.clear()
        _collect()


def _collect() -> None:
    """Free what refers to itself, as what JAX remembers does: it would lie there until Python looks by itself.

    Not while a debugger runs, which would stop in what the collector calls; and at most a twentieth of the time, since
    the collector looks at all objects of the program.
    """
    global _next_collection
    begun = time.monotonic()
    if gc.isenabled() and sys.gettrace() is None and begun >= _next_collection:
        gc.collect()
        ended = time.monotonic()
        _next_collection = ended + 20 * (ended - begun)


#: the time before which the collector is not called again
_next_collection = 0.0
#: the argument types that JAX has seen of each function, among them its own, which live for ever
_SEEN: Final[Any] = getattr(pjit, "_seen_qdds", {})
#: JAX's own compiled operations, which programs that use JAX beside us need in every step
_OPERATIONS: Final[Any] = getattr(dispatch, "xla_primitive_callable", None)
#: compilations between two times that JAX's memory of tracing is emptied
_REMEMBERED: Final = 64
_compilations = 0
on_compilation(_forget_traces)
