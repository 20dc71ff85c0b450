"""The only module that sets JAX's global state or touches anything of JAX that is not public API."""

from __future__ import annotations

import contextlib
import functools
import gc
import logging
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import jax
import jax.monitoring
import jaxlib.version
import numpy as np
from jax._src import compilation_cache, dispatch, distributed, pjit, xla_bridge  # noqa: TID251  what this module is for
from jax._src import config as jax_config  # noqa: TID251
from jax._src import core as jax_core  # noqa: TID251
from jax._src import tree_util as jax_tree  # noqa: TID251
from jax._src import util as jax_util  # noqa: TID251
from jax._src.interpreters import batching, mlir, pxla  # noqa: TID251
from jax.experimental.layout import Layout
from jaxlib import _jax, xla_client
from jaxlib.cpu import _lapack

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

#: the versions of JAX and of its compiled part
JAX_VERSIONS: Final = (jax.__version__, jaxlib.version.__version__)
#: where their source lies
JAX_FOLDERS: Final = tuple(os.path.join(os.path.dirname(str(m.__file__)), "") for m in (jax, jaxlib.version))

Array = jax.Array
Tracer = jax.core.Tracer


def simulate_devices(count: int) -> None:
    """Let the processor stand for several devices; to be called before the first device is used."""
    jax.config.update("jax_num_cpu_devices", count)
    _have_threads_for(count)


def _have_threads_for(count: int) -> None:
    """Let programs over so many devices of the processor come to their end: a part of one that waits for the others
    keeps a thread, and XLA has one for each core, unless this variable says how many cores there are.
    """
    os.environ.setdefault("NPROC", str(2 * count))
    jax.config.update("jax_cpu_enable_async_dispatch", False)  # parts of two programs could wait for each other


#: how many devices the processor stands for
_SIMULATED: Final = os.environ.get("WEFT_DEVICES", "")
if _SIMULATED:
    if not _SIMULATED.isdecimal() or int(_SIMULATED) < 1:
        raise ValueError(f"WEFT_DEVICES={_SIMULATED!r} is no number of devices")
    simulate_devices(int(_SIMULATED))
elif _flagged := re.search(r"--xla_force_host_platform_device_count=(\d+)", os.environ["XLA_FLAGS"]):
    _have_threads_for(int(_flagged[1]))


def compute_on_host_only() -> None:
    """Leave accelerators to other processes; to be called before the first device is used."""
    jax.config.update("jax_platforms", "cpu")


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


class Stopped(Exception):
    """Raised by a callback to end the run of a graph, after it told whoever waits for the run why."""


def _is_told(record: logging.LogRecord) -> bool:
    return not (record.exc_info and record.exc_info[0] is Stopped)


logging.getLogger("jax._src.callback").addFilter(_is_told)


def lies_on_host(array: Array) -> bool:
    """Whether an array lies in memory of the host, as a whole, and where new arrays are put."""
    sharding: Any = array.sharding
    if type(sharding) is not jax.sharding.SingleDeviceSharding:
        return False
    device: Any = sharding._device
    chosen: Any = jax.config.jax_default_device  # type: ignore[attr-defined]
    return device.platform == "cpu" and device is (chosen or _first_device())


def computes_on_host() -> bool:
    """Whether new arrays are put into memory of the host."""
    return bool(_device().platform == "cpu")


def eagerly() -> Any:
    """Within this block operations on arrays are computed, also while JAX traces a function."""
    return jax.ensure_compile_time_eval()


def copied(array: Array) -> Array:
    """Another array with the same contents on the same devices, made without compiling anything."""
    if array.is_fully_addressable:
        return jax.device_put(array, may_alias=False)
    parts = [jax.device_put(shard.data, may_alias=False) for shard in array.addressable_shards]
    return jax.make_array_from_single_device_arrays(array.shape, array.sharding, parts, dtype=array.dtype)


class _Local(threading.local):
    #: whether what is being compiled was found on disk
    loaded = False
    #: the key of the program that JAX asked the store for last
    asked: str | None = None
    #: what JAX has loaded, while somebody wants to know
    made: list[Any] | None = None
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
    device = _device()
    described = []
    for operand in operands:
        kind = type(operand)
        if kind is _ARRAY:
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


@contextlib.contextmanager
def without_notes() -> Iterator[None]:
    """Within this block exceptions are those of the operation, without the note that JAX adds on its own frames."""
    try:
        yield
    except Exception as error:
        notes = [note for note in getattr(error, "__notes__", ()) if "JAX_TRACEBACK_FILTERING" not in note]
        if notes:
            error.__notes__ = notes
        elif hasattr(error, "__notes__"):
            del error.__notes__
        raise


#: by an operation, its parameters, the shapes of operands and results and the number of devices: dimensions of each
_Dims = Callable[[Any, dict[str, Any], list[Any], list[Any], int], tuple[Sequence[set[int]], Sequence[set[int]]]]


def keep_whole(dims: _Dims) -> None:
    """Have these dimensions of operands and results of JAX's operations be whole in programs for several devices."""
    known = mlir._get_lowering_rules

    def whole(ctx: Any, value: Any, aval: Any, kept: set[int]) -> Any:
        if not kept or not isinstance(aval.dtype, np.dtype):
            return value
        mesh = jax.sharding.AbstractMesh((ctx.module_context.axis_context.num_devices,), ("all",))
        spec = jax.P(*[None if i in kept else jax.P.UNCONSTRAINED for i in range(aval.ndim)])
        rows = Layout(tuple(range(aval.ndim))) if ctx.primitive.name == "fft" else None  # a CPU has it for no other
        return pjit._sharding_constraint_hlo_lowering(
            ctx.replace(avals_in=[aval], avals_out=[aval]), value, sharding=jax.NamedSharding(mesh, spec),
            layout=rows, context_mesh=None, unconstrained_dims=set(range(aval.ndim)) - kept,
        )[0]  # fmt: skip

    def around(primitive: Any, devices: int, rule: Any) -> Any:
        def lower(ctx: Any, *operands: Any, **params: Any) -> Any:
            given, made = ([getattr(aval, "shape", ()) for aval in avals] for avals in (ctx.avals_in, ctx.avals_out))
            inside, outside = dims(primitive, params, given, made, devices)
            kept = [whole(ctx, *one) for one in zip(operands, ctx.avals_in, inside, strict=True)]
            found = rule(ctx, *kept, **params)
            return [whole(ctx, *one) for one in zip(found, ctx.avals_out, outside, strict=True)]

        return lower

    def rules(ctx: Any, primitive: Any, of: Any) -> Any:
        found, default, inline = known(ctx, primitive, of)
        devices = getattr(ctx.axis_context, "num_devices", 1)  # 1 where a program says itself what each device computes
        if devices > 1:
            found = {platform: around(primitive, devices, rule) for platform, rule in found.items()}
            default = default and around(primitive, devices, default)
        return found, default, inline

    mlir._get_lowering_rules = rules  # type: ignore[assignment]


def is_elementwise(primitive: Any) -> bool:
    """Whether an operation of JAX, given operands of one shape, computes each element of such elements."""
    batched = getattr(batching.fancy_primitive_batchers.get(primitive), "func", None)
    return batched in (batching.vectorized_batcher, batching.broadcast_batcher)


#: what programs that are being made ask for layouts: part of what JAX knows them by
_AMONG: Final = jax.make_user_context(None)


def among_devices(devices: Any) -> contextlib.AbstractContextManager[Any]:
    """Within this block programs are made anew, for some devices: what `devices_of_program` gives there."""
    return _AMONG(devices)


def devices_of_program() -> Any:
    """The devices that a program is being made for; None where those of its operands and layouts are the same."""
    return _AMONG.value


def bound_to(operand: Any) -> tuple[Any, ...] | None:
    """The devices, in their order, to which an array is bound; None for what computes wherever the others are."""
    return operand.sharding._device_assignment if type(operand) is _ARRAY and operand._committed else None


def devices_of_layout(sharding: Any) -> tuple[Any, ...]:
    """The devices of a layout, in their order."""
    found: tuple[Any, ...] = sharding._device_assignment
    return found


class Spread(NamedTuple):
    """A compiled program over several devices.

    Args:
        executable: what XLA made.
        devices: the devices, in the order in which the program numbers them.
        inputs: the sharding of each operand that it takes.
        read: the positions of these among the arrays that the function is given.
        outputs: the sharding of each result.
    """

    executable: Any
    devices: tuple[Any, ...]
    inputs: tuple[Any, ...]
    read: tuple[int, ...]
    outputs: tuple[Any, ...]

    def text(self) -> str:
        """The program as XLA writes it after all its passes."""
        return "\n".join([module.to_string() for module in self.executable.hlo_modules()])


def _spread(executable: Any, inputs: Sequence[Any], read: Iterable[int], outputs: Sequence[Any]) -> Spread | None:
    """What is known of a compiled program, where it is one over several devices."""
    places = next((s for s in (*outputs, *inputs) if getattr(s, "num_devices", 1) > 1), None)
    if places is None:
        return None
    return Spread(executable, tuple(places._device_assignment), tuple(inputs), tuple(read), tuple(outputs))


def _noted(call: Callable[..., Any], operands: Sequence[Any], note: Callable[[Spread], None]) -> Any:
    """What JAX's dispatch is answered; somebody is told of the program that it is answered with."""
    before, _local.made = _local.made, []
    try:
        answer = call(*operands)
        made, fast = _local.made, answer[1]
    finally:
        _local.made = before
    spread = None
    if fast is not None:
        read = [position for position, kept in enumerate(fast.kept_var_bitvec) if kept]
        spread = _spread(fast.xla_executable, fast.in_shardings, read, fast.out_shardings)
    elif made:  # JAX calls this one by itself, as it does where a program calls the host
        last = made[-1]
        spread = _spread(last.xla_executable, last._in_shardings, sorted(last._kept_var_idx), last._out_shardings)
    if spread is not None:
        note(spread)
    return answer


def _load_noting(unloaded: Any) -> Any:
    made = _load_by_jax(unloaded)
    if _local.made is not None:
        _local.made.append(made)
    return made


def _donated_alike(*args: Any) -> Any:
    """Which operand each result takes the memory of: XLA chooses where it lays some results out, which JAX ignores."""
    aliases, given, donors = _donated_by_jax(*args)  # type: ignore[no-untyped-call]
    if args[-1] is not None and None in args[-1]:
        donors = [alias is not None or bool(donors and donors[n]) for n, alias in enumerate(aliases)]
    return [None] * len(aliases) if donors else aliases, given, donors


_donated_by_jax: Final = mlir._set_up_aliases
mlir._set_up_aliases = _donated_alike
_load_by_jax: Final = pxla.UnloadedMeshExecutable.load
pxla.UnloadedMeshExecutable.load = _load_noting  # type: ignore[assignment,method-assign]


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

    def missed(*operands: Any) -> Any:
        with around() as note:
            return chosen(*operands) if note is None else _noted(chosen, operands, note)

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
    if kind is not _ARRAY:
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
    device = _device()
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
    jax.monitoring.record_event(_LOADED)
    jax.monitoring.record_event_duration_secs(_COMPILED, time.monotonic() - begun, fun_name=f"jit({name})")
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


def _device() -> Any:
    """The device that computes what is on no other."""
    return jax.config.values["jax_default_device"] or _first_device()


@functools.cache
def _first_device() -> Any:
    return jax.local_devices()[0]


_ARRAY: Final = xla_client.ArrayImpl
_OTHER: Final = object()
#: where the text of an object says where it is; only inside of JAX's transformations does it say more
_ADDRESS: Final = re.compile(r" at 0x[0-9a-f]+")
#: settings that say where and when executables are kept
_OF_THE_CACHE: Final = frozenset({
    "jax_compilation_cache_dir", "jax_enable_compilation_cache", "jax_explain_cache_misses", "jax_log_compiles",
    "jax_default_device",
})  # fmt: skip


def dimension_terms(dim: Any) -> list[tuple[int, list[tuple[Any, int]]]]:
    """A symbolic dimension as a sum: for each term the coefficient, and the factors with their exponents.

    A factor is the name of a variable, or the name of an operation (``"floordiv"``, ``"mod"``, ``"max"``, ``"min"``)
    and its two operands, which are dimensions.
    """
    return [
        (coefficient, [(f.var or (f.operation, *f.operands), exponent) for f, exponent in term._factors])
        for term, coefficient in dim._sorted_terms
    ]


def bind_again(equation: Any, operands: Sequence[Any], **changed: Any) -> list[Any]:
    """The results of an equation of a jaxpr on operands, with some parameters changed."""
    primitive = equation.primitive
    with equation.ctx.manager:
        found = primitive.bind(*operands, **primitive.get_bind_params({**equation.params, **changed}))
    return list(found) if primitive.multiple_results else [found]


def draws_by_position(equation: Any) -> bool:
    """Whether each random bit of an equation depends only on the key and how many elements stand before it."""
    impl = equation.invars[0].aval.dtype._impl
    return impl.name == "threefry2x32" and bool(equation.ctx.threefry_partitionable)


def compiled_programs(function: Any) -> int:
    """For how many shapes and dtypes a function made by `jax.jit` holds compiled code."""
    count: int = function._cache_size()
    return count


#: seconds without a sign of life after which JAX ends all processes: never, who is alive is not its affair
_JAX_HEARTBEAT: Final = 10**7


def coordinator(address: str, members: int) -> Any:
    """Begin to keep what JAX tells processes of each other; it ends when nothing refers to what this returns.

    Args:
        address: host and port that members connect to.
        members: how many of them there are. One that is gone does not end the others.
    """
    host, _, port = address.rpartition(":")
    bound = address if host in ("127.0.0.1", "localhost") else f"[::]:{port}"
    return _jax.get_distributed_runtime_service(bound, members, shutdown_timeout=1, heartbeat_timeout=_JAX_HEARTBEAT)


#: how far this process is in finding the others: it has not begun, waits until all have, has reached their coordinator,
#: waits until all use their devices, has found these
APART, REACHING, REACHED, FINDING, TOGETHER = range(5)


class _Among(distributed.State):
    """What JAX reads when it looks for the devices of other processes, which takes until these do so, too."""

    def __init__(self, address: str, rank: int, count: int) -> None:
        self.coordinator_address, self.process_id, self.num_processes = address, rank, count
        self.stage = APART
        self.member: Any = None

    def connect(self, member: Any) -> None:
        """Reach the coordinator."""
        self.stage = REACHING
        member.connect()
        self.member, self.stage = member, REACHED

    @property
    def client(self) -> Any:  # type: ignore[override]
        """The connection to the coordinator."""
        self.stage = max(self.stage, FINDING)
        return self.member

    def shutdown(self) -> None:
        """Called by JAX when the process ends, which waits for no other one."""


def compute_among(address: str, rank: int, count: int, seconds: int) -> None:
    """Let the devices of several processes be those of one program, before the first computation.

    It returns when all processes have come to it. The process is aborted when it loses the coordinator.

    Args:
        address: host and port of JAX's coordinator.
        rank: number of this process.
        count: number of processes.
        seconds: how long to wait for the others.
    """
    distributed.global_state = among = _Among(address, rank, count)
    among.connect(
        _jax.get_distributed_runtime_client(
            address, rank, init_timeout=seconds, shutdown_timeout=1, heartbeat_timeout=_JAX_HEARTBEAT,
            shutdown_on_destruction=False, use_compression=True,
        )
    )  # fmt: skip


def noted_first(key: str, value: str) -> str:
    """What the first of several processes has noted under a key, which is the value if this one is that.

    Args:
        key: the same in all processes.
        value: what this one notes.
    """
    store = distributed.global_state.client
    assert store is not None
    with contextlib.suppress(Exception):  # that there is something already
        store.key_value_set(key, value)
    found: str = store.blocking_key_value_get(key, 1000)
    return found


def number_of_all(seconds: int) -> int:
    """A number that the first process drew, the same in all that compute together.

    Args:
        seconds: how long to wait for the first.
    """
    among = distributed.global_state
    assert isinstance(among, _Among)
    if among.process_id == 0:
        among.member.key_value_set("weft/number", str(int.from_bytes(os.urandom(4), "little")))
    return int(among.member.blocking_key_value_get("weft/number", seconds * 1000))


def stage() -> int:
    """How far this process is in finding the others."""
    state = distributed.global_state
    if not isinstance(state, _Among):
        return APART
    return TOGETHER if xla_bridge._backends else state.stage


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
