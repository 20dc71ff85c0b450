"""Compiled programs that are kept for the next process, which runs them without tracing anything."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import jax
import jax.monitoring
import numpy as np
from jax._src import compilation_cache, distributed
from jax._src import config as jax_config
from jax._src import core as jax_core
from jax._src import tree_util as jax_tree
from jax._src import util as jax_util
from jax._src.interpreters import pxla
from jaxlib import _jax, xla_client
from jaxlib.cpu import _lapack

from weft._jax_compat.arrays import ARRAY, computing_device
from weft._jax_compat.compilations import COMPILED, LOADED
from weft._jax_compat.layouts import Spread, cut_as_can_be, noted
from weft._jax_compat.tracing import without_notes


class _Local(threading.local):
    #: the key of the program that JAX asked the store for last
    asked: str | None = None


_local = _Local()


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
    """Read a compiled program that is kept. One that XLA cannot read, as some big ones that it wrote, is none."""
    _local.asked = key
    try:
        return _read_by_jax(key, *args, **kwargs)
    except Exception as error:
        if _kept_in is None:
            raise
        logging.getLogger("weft.cache").info("a compiled program that is kept cannot be read: %r", error)
        store: Any = compilation_cache._cache
        store.drop(key)
        return None, None


_read_by_jax: Final = compilation_cache.get_executable_and_time
compilation_cache.get_executable_and_time = _read_kept  # type: ignore[assignment]


class Program(NamedTuple):
    """What is known of a function compiled for operands of some types, so that it runs without being traced.

    Args:
        key: that under which JAX keeps the executable.
        outputs: the results, each the number of an array; nested tuples, lists and None as the function returns them.
        types: element type, shape and weakness of each array of the results.
        committed: for each of them, whether it must stay on its device.
        read: the positions of the operands that the executable takes.
    """

    key: str
    outputs: Any
    types: list[tuple[str, list[int], bool]]
    committed: list[bool]
    read: list[int]


def operand_types(operands: Sequence[Any]) -> str | None:
    """The types of operands as text; None where they are not all arrays on the device that computes."""
    device = computing_device()
    described = []
    for operand in operands:
        kind = type(operand)
        if kind is ARRAY:
            sharding = operand.sharding
            if type(sharding) is not jax.sharding.SingleDeviceSharding or sharding._device is not device:
                return None
            described.append(f"{operand.dtype}{operand.shape}{'w' * operand.weak_type}{'c' * operand._committed}")
        elif issubclass(kind, (np.ndarray, np.generic)):
            if operand.dtype.kind not in "biufcV":
                return None
            described.append(f"{operand.dtype}{operand.shape}n")
        elif operand is None or operand == ():
            described.append("-")
        else:
            return None
    return f"{device.platform} {device.device_kind} {device.id} {device.client.platform_version} {described}"


def compiler_settings() -> str:
    """The settings of JAX and XLA on which depends what a function is compiled to."""
    states = {name: value for name, value in jax.config.values.items() if name not in _OF_THE_CACHE}
    within = _ADDRESS.sub("", repr(jax_config.trace_context()))
    among = distributed.global_state  # programs of several processes are compiled for the device of one of them
    place = (among.process_id, among.num_processes)
    return f"{sorted(states.items())} {within} {place} {os.environ.get('XLA_FLAGS')}"


def loading(
    jitted: Any,
    find: Callable[[str], Program | None],
    keep: Callable[[str, Program], None],
    around: Callable[[], contextlib.AbstractContextManager[Callable[[Spread], None] | None]] = contextlib.nullcontext,
    mixing: Any = None,
) -> Callable[..., Any]:
    """A function made by `jax.jit` that JAX traces only for operands for which no compiled program is known.

    Args:
        jitted: the function, of arrays.
        find: the program for operands of some types, by their text.
        keep: told of a program that JAX has made.
        around: makes a context in which a program is made or loaded; what it gives is told of one over several
            devices.
        mixing: called with operands that JAX refuses since they, or layouts within the function, lie on different
            devices; it ``knows(operands)`` those that it is called with for sure, and that an error ``is_refusal``.
    """
    miss = jitted._cache_miss
    little: list[bool] = []

    def missed(*operands: Any) -> Any:
        return cut_as_can_be(told, operands, little)

    def told(*operands: Any) -> Any:
        with around() as note:
            return chosen(*operands) if note is None else noted(chosen, operands, note)

    def chosen(*operands: Any) -> Any:
        if mixing is None:
            return answered(*operands)
        if not mixing.knows(operands):
            try:
                return answered(*operands)
            except ValueError as error:
                if not mixing.is_refusal(error):
                    raise
        with without_notes():
            return mixing(*operands), None, False

    def answered(*operands: Any) -> Any:
        plain = _kept_in is not None and jax_core.trace_state_clean() and not jax.config.values["jax_debug_nans"]
        types = operand_types(operands) if plain else None
        if types is None:
            with without_notes():
                return miss(*operands)
        known = find(types)
        made = None if known is None else _loaded(jitted, known, operands)
        if made is not None:
            return made
        _local.asked = None
        with without_notes():
            result = miss(*operands)
        found = None if _local.asked is None else _program(_local.asked, *result[:2])
        if found is not None:
            keep(types, found)
        return result

    function = jitted._fun
    call = _jax.pjit(
        jax_util.fun_name(function), function, missed, [], [],
        pxla.JitGlobalCppCacheKeys(), jax_tree.dispatch_registry, pxla.cc_shard_arg,
    )  # fmt: skip
    call._fun, call._jit_info = function, jitted._jit_info
    return call


def _program(key: str, result: Any, fast: Any) -> Program | None:
    """What to know of a program that JAX has just compiled; None if it is more than an executable on arrays of one
    device.
    """
    if fast is None or fast.const_args or any(layout is not None for layout in fast.in_device_local_layouts):
        return None
    if len(fast.xla_executable.local_devices()) > 1:  # it is spread: where its arrays lie is not in their types
        return None
    arrays: list[Any] = []
    outputs = _numbered(result, arrays)
    if outputs is _OTHER or len(arrays) != len(fast.out_avals):
        return None
    types = [(str(a.dtype), list(a.shape), bool(a.weak_type)) for a in fast.out_avals]
    read = [position for position, kept in enumerate(fast.kept_var_bitvec) if kept]
    return Program(key, outputs, types, [bool(committed) for committed in fast.out_committed], read)


def _numbered(result: Any, arrays: list[Any]) -> Any:
    """A result with numbers in place of its arrays, which are added to a list; lists begin with their kind."""
    kind = type(result)
    if result is None:
        return None
    if kind is tuple or kind is list:
        return [kind.__name__, *[_numbered(item, arrays) for item in result]]
    if kind is not ARRAY:
        return _OTHER
    arrays.append(result)
    return len(arrays) - 1


def _filled(outputs: Any, arrays: Sequence[Any]) -> Any:
    """A result from what `_numbered` made of it."""
    if outputs is None:
        return None
    if type(outputs) is int:
        return arrays[outputs]
    items = [_filled(item, arrays) for item in outputs[1:]]
    return tuple(items) if outputs[0] == "tuple" else items


def _loaded(jitted: Any, program: Program, operands: Sequence[Any]) -> Any:
    """Run a program that is kept: what JAX's dispatch asks for, result and how to call it from now on; None if it is
    kept no longer.
    """
    begun = time.monotonic()
    device = computing_device()
    executable, _ = _read_kept(program.key, None, device.client, xla_client.DeviceList((device,)))
    if executable is None:
        return None
    _prepare_libraries(executable)
    name = jax_util.fun_name(jitted._fun)
    place = jax.sharding.SingleDeviceSharding(device)
    shardings = [place] * len(program.read)
    layouts = [None] * len(program.read)
    kept = set(program.read)
    avals = [jax.core.ShapedArray(tuple(shape), np.dtype(dtype), weak) for dtype, shape, weak in program.types]
    places = [place] * len(avals)
    run = pxla.ExecuteReplicated(
        executable, name, device.client, pxla.InputsHandler(shardings, layouts),
        pxla.global_avals_to_results_handler(avals, places, all(program.committed)),
        [], [], [], False, kept, None, None,
    )  # fmt: skip
    jax.monitoring.record_event(LOADED)
    jax.monitoring.record_event_duration_secs(COMPILED, time.monotonic() - begun, fun_name=f"jit({name})")
    flat = [operand for operand in operands if operand is not None and type(operand) is not tuple]
    result = _filled(program.outputs, run(*flat))
    tree = jax_tree.dispatch_registry.flatten(result, None)[1]
    fast = pxla.MeshExecutableFastpathData(
        executable, tree, shardings, places, avals, program.committed, [i in kept for i in range(len(flat))],
        layouts, [],
    )  # fmt: skip
    return result, fast, False


def _prepare_libraries(executable: Any) -> None:
    """Load what an executable calls besides XLA. JAX does it when it lowers such a call, which is not done for a
    program that is kept; without it the call goes nowhere and ends the process.
    """
    if any("lapack_" in module.to_string() for module in executable.hlo_modules()):
        _lapack.initialize()


_OTHER: Final = object()
#: where the text of an object says where it is; only inside of JAX's transformations does it say more
_ADDRESS: Final = re.compile(r" at 0x[0-9a-f]+")
#: settings that say where and when executables are kept
_OF_THE_CACHE: Final = frozenset({
    "jax_compilation_cache_dir", "jax_enable_compilation_cache", "jax_explain_cache_misses", "jax_log_compiles",
    "jax_default_device",
})  # fmt: skip
