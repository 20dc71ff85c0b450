"""The only module that sets JAX's global state or touches anything of JAX that is not public API."""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Final

import jax
import jax.monitoring
import numpy as np
from jax._src import compilation_cache, dispatch, pjit  # noqa: TID251  what this module is for
from jax._src import util as jax_util  # noqa: TID251
from jax._src.interpreters import mlir  # noqa: TID251

# 64-bit element types are real in this framework; JAX has one process-wide switch for them.
jax.config.update("jax_enable_x64", True)

# XLA must round where the program does: a cast to float16 or bfloat16 and back is not left out. It reads this
# once, when the first device is used.
_ROUNDS: Final = "--xla_allow_excess_precision"
if _ROUNDS not in os.environ.get("XLA_FLAGS", ""):
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {_ROUNDS}=false".strip()

#: JAX's name for the event that a compilation has ended
_COMPILED: Final = "/jax/core/compile/backend_compile_duration"
#: and for the one, before it, that it was found on disk
_LOADED: Final = "/jax/compilation_cache/cache_hits"

Array = jax.Array
Tracer = jax.core.Tracer


@np.errstate(over="ignore")  # what a half type has no room for is infinite, as it is on the device
def to_device(value: Any, np_dtype: Any = None) -> Array:
    """Put a NumPy-like value on the default device. The one way in for memory of the host.

    JAX may read that memory long after this returns, while the device is busy, or share it for good. So it gets a copy
    that nobody else knows; what the caller does with its own memory makes no difference.
    """
    owned = np.array(value, dtype=np_dtype, order="C")
    # made while JAX traces one of our functions, the array must still be an ordinary one: it may be kept and used later
    with jax.ensure_compile_time_eval():
        # not `jnp.asarray`, which compiles something for each new shape; the array inside, since whoever takes a shard
        # must hold the same object, or its references would not be counted
        return jax.device_put(owned).addressable_data(0)


def copied(array: Array) -> Array:
    """Another array with the same contents on the same device, made without compiling anything."""
    return jax.device_put(array, may_alias=False)


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
    if event == _LOADED:
        _local.loaded = True


jax.monitoring.register_event_listener(_note_loaded)


def on_compilation(listener: Callable[[str, float], None]) -> None:
    """Call ``listener(name, seconds)``, in the thread that asked for it, after each compilation by XLA."""

    def heard(event: str, duration_secs: float, **facts: Any) -> None:
        if event == _COMPILED:
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


def keep_executables(store: Any) -> None:
    """Ask a store for compiled programs before compiling, and give it those that were compiled.

    Args:
        store: has ``get(key) -> bytes | None``, ``put(key, value)`` and ``drop(key)``, which says that XLA could not
            read what `get` gave; None keeps nothing. Where the program has told JAX itself where to keep them, that
            stays.
    """
    global _kept_in
    if jax.config.values["jax_compilation_cache_dir"] != _kept_in or not hasattr(
        compilation_cache, "_cache_initialized"
    ):
        return
    _kept_in = None if store is None else str(store._path)
    jax.config.update("jax_compilation_cache_dir", _kept_in)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    jax.config.update("jax_persistent_cache_enable_xla_caches", "none")  # files of its own, which nobody checks
    compilation_cache.reset_cache()
    compilation_cache._cache = store
    compilation_cache._cache_initialized = store is not None


#: the folder of the store that JAX was given last
_kept_in: str | None = None


def _read_kept(key: str, *args: Any, **kwargs: Any) -> Any:
    """Read a compiled program that is kept. One that XLA cannot read is none: some big ones it writes and cannot
    parse, and JAX would warn of them in each process.
    """
    try:
        return _read_by_jax(key, *args, **kwargs)
    except Exception:
        if _kept_in is None:
            raise
        store: Any = compilation_cache._cache
        store.drop(key)
        return None, None


_read_by_jax: Final = compilation_cache.get_executable_and_time
compilation_cache.get_executable_and_time = _read_kept  # type: ignore[assignment]


def compiled_programs(function: Any) -> int:
    """For how many shapes and dtypes a function made by `jax.jit` holds compiled code."""
    count: int = function._cache_size()
    return count


def default_platform() -> str:
    """The platform that computations run on: ``"cpu"``, ``"gpu"`` or ``"tpu"``."""
    return jax.default_backend()


def devices_of(platform: str) -> list[Any]:
    """The local devices of a platform (``"cpu"``, ``"gpu"``, ``"tpu"``); empty if it is absent."""
    try:
        return list(jax.local_devices(backend=platform))
    except RuntimeError:
        return []


def use_device(device: Any) -> None:
    """Make a device the one that new arrays are placed on; None gives the choice back to JAX."""
    jax.config.update("jax_default_device", device)
