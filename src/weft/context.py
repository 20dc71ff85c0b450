"""Settings of the process: the execution mode, the device, where graphs and caches are written.

Every setting is one row of a table (default, check, what it does). A call that names an unknown setting or a wrong
value changes nothing and says what is allowed. Threads see the same settings.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
import re
import threading
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from weft._jax_compat import default_platform, devices_of, use_device
from weft.cuts import check_strategies

GRAPH_MODE: Final = 0
PYNATIVE_MODE: Final = 1
STRICT: Final = 0
COMPATIBLE: Final = 1
LAX: Final = 2
RELEASE: Final = 0
DEBUG: Final = 1

#: the current mode, for code that must not pay for a call; only this module writes it
MODE: int = PYNATIVE_MODE

Check = Callable[[str, Any], Any]


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of a settings table.

    Args:
        default: value before anything is set.
        check: returns the value to store, or raises TypeError or ValueError.
        doc: what the setting does, one sentence.
    """

    default: Any
    check: Check
    doc: str


# -- checks ------------------------------------------------------------------------------------------------------


def _type_error(key: str, wanted: str, value: Any) -> TypeError:
    return TypeError(f"context setting {key!r} must be {wanted}, not {type(value).__name__} ({value!r:.60})")


def _flag(key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise _type_error(key, "a bool", value)
    return value


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise _type_error(key, "a str", value)
    return value


def _table(key: str, value: Any) -> dict[Any, Any]:
    if not isinstance(value, Mapping):
        raise _type_error(key, "a dict", value)
    return dict(value)


def _anything(key: str, value: Any) -> Any:
    del key
    return value


def _integer(low: int, high: int | None = None) -> Check:
    bounds = f"an int of at least {low}" if high is None else f"an int from {low} to {high}"

    def check(key: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise _type_error(key, bounds, value)
        if value < low or (high is not None and value > high):
            raise ValueError(f"context setting {key!r} must be {bounds}, not {value}")
        return value

    return check


def _one_of(*allowed: Any, names: str = "") -> Check:
    shown = names or ", ".join(map(repr, allowed))
    kinds = {type(a) for a in allowed}

    def check(key: str, value: Any) -> Any:
        if type(value) not in kinds:
            raise _type_error(key, f"one of {shown}", value)
        if value not in allowed:
            raise ValueError(f"context setting {key!r} must be one of {shown}, not {value!r}")
        return value

    return check


def _memory(key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise _type_error(key, "a str such as '10GB'", value)
    if not re.fullmatch(r"\s*\d+(\.\d+)?\s*GB\s*", value):
        raise ValueError(f"context setting {key!r} must be a size such as '10GB', not {value!r}")
    return value.replace(" ", "")


def _save_graphs(key: str, value: Any) -> int | bool:
    if isinstance(value, bool):
        return value
    return int(_integer(0, 3)(key, value))


def _integers(key: str, value: Any) -> list[int]:
    if not isinstance(value, (list, tuple)) or any(isinstance(v, bool) or not isinstance(v, int) for v in value):
        raise _type_error(key, "a list of ints", value)
    return list(value)


def _optional(check: Check) -> Check:
    return lambda key, value: None if value is None else check(key, value)


_EVENTS: Final = ("graphs", "compilations", "breaks", "recompiles", "collectives")


def _events(key: str, value: Any) -> str:
    words = [word.strip() for word in _text(key, value).split(",") if word.strip()]
    wrong = [word for word in words if word not in (*_EVENTS, "all")]
    if wrong:
        raise ValueError(f"context setting {key!r} names events out of {', '.join(_EVENTS)}, all; not {wrong[0]!r}")
    return ",".join(name for name in _EVENTS if name in words or "all" in words)


def _events_of_environment() -> str:
    value = os.environ.get("WEFT_LOG", "")
    try:
        return _events("jit_log", value)
    except ValueError:
        known = f"events out of {', '.join(_EVENTS)}, all"
        warnings.warn(f"WEFT_LOG={value!r} is left out of account: it must name {known}", stacklevel=2)
        return ""


_TARGETS: Final = {"CPU": "cpu", "GPU": "gpu", "TPU": "tpu"}


def _device_target(key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise _type_error(key, "one of 'CPU', 'GPU', 'Ascend', 'TPU'", value)
    if value in ("Ascend", "Davinci"):
        return "Ascend"
    if value not in _TARGETS:
        raise ValueError(f"context setting {key!r} must be one of 'CPU', 'GPU', 'Ascend', 'TPU', not {value!r}")
    if not devices_of(_TARGETS[value]):
        present = ", ".join(repr(name) for name, platform in _TARGETS.items() if devices_of(platform))
        raise ValueError(f"device_target={value!r}: no such device is available here; available: {present}")
    return value


def environment_switch(*names: str) -> bool:
    """A switch that the first of these environment variables that is set decides: "0" is off, "1" is on, as is none."""
    for name in names:
        value = os.environ.get(name, "")
        if value in ("0", "1"):
            return value == "1"
        if value:
            raise ValueError(f"the environment variable {name} must be 0 or 1, not {value!r}")
    return True


# -- the settings ------------------------------------------------------------------------------------------------

SETTINGS: Final[dict[str, Setting]] = {
    "mode": Setting(
        PYNATIVE_MODE,
        _one_of(GRAPH_MODE, PYNATIVE_MODE, names="GRAPH_MODE (0), PYNATIVE_MODE (1)"),
        "Whether Cells run compiled as graphs (GRAPH_MODE) or operation by operation (PYNATIVE_MODE).",
    ),
    "device_target": Setting(
        None, _device_target, "Device to compute on: 'CPU', 'GPU', 'TPU'; 'Ascend' runs on the default device."
    ),
    "device_id": Setting(0, _integer(0, 4095), "Which device of the target to compute on."),
    "save_graphs": Setting(False, _save_graphs, "Write the graph after each pass as text: False, True or 0 to 3."),
    "save_graphs_path": Setting(".", _text, "Folder of the graphs that save_graphs writes."),
    "enable_compile_cache": Setting(
        None, _flag, "Keep compiled programs on disk for the next process; they are kept unless this is set to False."
    ),
    "check_bounds": Setting(
        True,
        _flag,
        "Check that indices in tensors and labels are in bounds; without it, results where they are not are undefined.",
    ),
    "auto_block_reuse": Setting(
        True, _flag, "Compile stretches of large graphs that repeat (layers, their gradients) once for all of them."
    ),
    "loop_unroll_limit": Setting(
        64,
        _integer(-1),
        "Most operations to which a loop is unrolled in a compiled graph; a longer one is compiled as a loop. "
        "-1 unrolls all.",
    ),
    "compile_cache_path": Setting(None, _text, "Folder of the compile cache; else it is among the user's caches."),
    "jit": Setting(
        environment_switch("WEFT_JIT", "MS_JIT"),
        _flag,
        "Compile decorated functions and graph mode; False (or WEFT_JIT=0 in the environment) runs all in Python.",
    ),
    "jit_level": Setting("", _one_of("", "O0", "O1", "O2", "O3"), "Optimisation level of compiled graphs."),
    "jit_config": Setting({}, _table, "Settings for compiled graphs, as one dict."),
    "jit_syntax_level": Setting(
        LAX,
        _one_of(STRICT, COMPATIBLE, LAX, names="STRICT (0), COMPATIBLE (1), LAX (2)"),
        "What happens to code that cannot be in a graph: STRICT refuses it, LAX runs it in Python.",
    ),
    "jit_cache_limit": Setting(64, _integer(1), "How many compiled versions of one function are kept."),
    "jit_log": Setting(
        _events_of_environment(),
        _events,
        "Which of 'graphs', 'compilations', 'breaks', 'recompiles', 'collectives', 'all' are warnings of the logger "
        "weft.jit, with commas between.",
    ),
    "jit_enable_inplace_ops": Setting(True, _flag, "Allow in-place tensor operations inside compiled graphs."),
    "precompile_only": Setting(False, _flag, "Compile graphs without running them."),
    "max_call_depth": Setting(1000, _integer(1), "Deepest nesting of function calls in a compiled function."),
    "enable_graph_kernel": Setting(False, _flag, "Fuse operations (the compiler always does)."),
    "graph_kernel_flags": Setting("", _text, "Options of operation fusion."),
    "reserve_class_name_in_scope": Setting(True, _flag, "Show class names in the scopes of printed graphs."),
    "pynative_synchronize": Setting(False, _flag, "Wait for each eager operation to finish."),
    "deterministic": Setting("OFF", _one_of("ON", "OFF"), "Use only kernels that give the same bits in every run."),
    "max_device_memory": Setting("1024GB", _memory, "Upper bound of device memory."),
    "memory_optimize_level": Setting("O0", _one_of("O0", "O1"), "Memory optimisation level."),
    "memory_offload": Setting("OFF", _one_of("ON", "OFF"), "Move idle data to the host when memory is short."),
    "mempool_block_size": Setting("1GB", _memory, "Block size of the device memory pool."),
    "variable_memory_max_size": Setting("30GB", _memory, "Upper bound of memory for variables."),
    "check_bprop": Setting(False, _flag, "Check the shapes and dtypes that hand-written derivatives return."),
    "grad_for_scalar": Setting(False, _flag, "Compute gradients of Python numbers as well."),
    "enable_reduce_precision": Setting(True, _flag, "Convert unsupported precisions to supported ones."),
    "enable_sparse": Setting(False, _flag, "Allow sparse tensors in graphs."),
    "runtime_num_threads": Setting(30, _integer(0), "Threads of the runtime."),
    "inter_op_parallel_num": Setting(0, _integer(0), "Operations that may run at the same time."),
    "op_timeout": Setting(900, _integer(0), "Seconds before an operation counts as hung."),
    "print_file_path": Setting("", _text, "File that Print writes to; empty for the console."),
    "env_config_path": Setting("", _text, "Path of a configuration file."),
    "auto_tune_mode": Setting(
        "NO_TUNE", _one_of("NO_TUNE", "RL", "GA", "RL,GA", "GA,RL"), "Automatic tuning of operations."
    ),
    "aoe_tune_mode": Setting("", _one_of("", "online", "offline"), "Automatic tuning mode."),
    "aoe_config": Setting({}, _table, "Options of automatic tuning."),
    "ascend_config": Setting({}, _table, "Options of Ascend devices."),
    "gpu_config": Setting({}, _table, "Options of GPU devices."),
    "exec_order": Setting("dfs", _one_of("bfs", "dfs", "gpto"), "Order in which independent operations are issued."),
    "debug_level": Setting(
        RELEASE, _one_of(RELEASE, DEBUG, names="RELEASE (0), DEBUG (1)"), "Keep more information for debugging."
    ),
    "disable_format_transform": Setting(False, _flag, "Keep the user's layout of images (NCHW stays NCHW)."),
    "support_binary": Setting(False, _flag, "Run from compiled Python files without sources."),
    "enable_profiling": Setting(False, _flag, "Record a profile."),
    "profiling_options": Setting("", _text, "Options of the profile."),
    "enable_dump": Setting(False, _flag, "Dump the results of operations."),
    "save_dump_path": Setting(".", _text, "Folder of the dumps."),
}


class ParallelMode:
    """Names of the ways to spread a network over devices."""

    STAND_ALONE: Final = "stand_alone"
    DATA_PARALLEL: Final = "data_parallel"
    HYBRID_PARALLEL: Final = "hybrid_parallel"
    SEMI_AUTO_PARALLEL: Final = "semi_auto_parallel"
    AUTO_PARALLEL: Final = "auto_parallel"
    MODE_LIST: Final = ["stand_alone", "data_parallel", "hybrid_parallel", "semi_auto_parallel", "auto_parallel"]


def _data_strategy(key: str, value: Any) -> Any:
    """How data is spread: a word for all inputs, or something for each."""
    if value is None or (isinstance(value, str) and value not in ("data_parallel", "full_batch")):
        raise ValueError(
            f"{key} must be 'data_parallel', 'full_batch' or a tuple with a strategy for each input, not {value!r}"
        )
    return value if isinstance(value, str) else check_strategies("set_auto_parallel_context", key, value)


def _optimizer_options(key: str, value: Any) -> Any:
    """What of an optimizer is spread, and over how many devices."""
    options = _table(key, value)
    unknown = set(options) - {
        "gradient_accumulation_shard", "parallel_optimizer_threshold", "optimizer_weight_shard_size", "optimizer_level",
    }  # fmt: skip
    if unknown:
        raise ValueError(f"{key} has no option {sorted(map(str, unknown))[0]!r}")
    level = options.get("optimizer_level", "level1")
    if level not in ("level1", "level2", "level3"):
        raise ValueError(f"{key}: optimizer_level must be 'level1', 'level2' or 'level3', not {level!r}")
    for name, least in (("parallel_optimizer_threshold", 0), ("optimizer_weight_shard_size", -1)):
        number = options.get(name, least)
        if isinstance(number, bool) or not isinstance(number, int) or number < least:
            raise ValueError(f"{key}: {name} must be an int of at least {least}, not {number!r}")
    return options


def _pipeline_options(key: str, value: Any) -> dict[Any, Any]:
    options = _table(key, value)
    for name in options.keys() - {"pipeline_interleave", "pipeline_scheduler"}:
        raise ValueError(f"{key}: there is no option {name!r}; the options are pipeline_interleave, pipeline_scheduler")
    scheduler = options.get("pipeline_scheduler", SCHEDULERS[0])
    if scheduler not in SCHEDULERS:
        raise ValueError(f"{key}: pipeline_scheduler must be one of {SCHEDULERS}, not {scheduler!r}")
    return options


#: orders in which the stages of a pipeline compute: a backward pass after each forward pass, as early as it goes; or
#: all forward passes first
SCHEDULERS: Final = ("1f1b", "gpipe")

PARALLEL_SETTINGS: Final[dict[str, Setting]] = {
    "device_num": Setting(1, _integer(1, 4096), "Number of devices."),
    "global_rank": Setting(0, _integer(0, 4095), "Rank of this process."),
    "gradients_mean": Setting(False, _flag, "Average gradients over devices instead of adding them."),
    "gradient_fp32_sync": Setting(True, _flag, "Reduce gradients in float32."),
    "loss_repeated_mean": Setting(True, _flag, "Average the loss when it is computed repeatedly."),
    "parallel_mode": Setting("stand_alone", _one_of(*ParallelMode.MODE_LIST), "How the network is spread."),
    "auto_parallel_search_mode": Setting(
        "recursive_programming",
        _one_of("recursive_programming", "dynamic_programming", "sharding_propagation"),
        "How sharding strategies are searched for.",
    ),
    "search_mode": Setting(
        "recursive_programming",
        _one_of("recursive_programming", "dynamic_programming", "sharding_propagation"),
        "How sharding strategies are searched for.",
    ),
    "parameter_broadcast": Setting(False, _flag, "Send the parameters of rank 0 to all before training."),
    "strategy_ckpt_load_file": Setting("", _text, "File to read sharding strategies from."),
    "strategy_ckpt_save_file": Setting("", _text, "File to write sharding strategies to."),
    "strategy_ckpt_config": Setting({}, _table, "Options of strategy files."),
    "full_batch": Setting(False, _flag, "Every device loads the whole batch."),
    "dataset_strategy": Setting("data_parallel", _data_strategy, "How the dataset is spread."),
    "enable_parallel_optimizer": Setting(False, _flag, "Spread the optimizer's state over devices."),
    "parallel_optimizer_config": Setting({}, _optimizer_options, "Options of the parallel optimizer."),
    "enable_alltoall": Setting(False, _flag, "Allow all-to-all communication."),
    "all_reduce_fusion_config": Setting([], _integers, "Where gradient reductions are fused."),
    "comm_fusion": Setting({}, _table, "Options of communication fusion."),
    "pipeline_stages": Setting(1, _integer(1), "Number of pipeline stages."),
    "pipeline_config": Setting({}, _pipeline_options, "Options of pipeline parallelism."),
    "pipeline_result_broadcast": Setting(False, _flag, "Send the last stage's result to all."),
    "grad_accumulation_step": Setting(1, _integer(1), "Steps over which gradients are accumulated."),
    "group_ckpt_save_file": Setting("", _text, "File to write communication groups to."),
    "communi_parallel_mode": Setting(
        "all_group_parallel",
        _one_of("all_group_parallel", "same_server_group_parallel", "no_group_parallel"),
        "Which groups communicate at the same time.",
    ),
    "optimizer_weight_shard_size": Setting(-1, _integer(-1), "Devices that share one optimizer state."),
    "optimizer_weight_shard_aggregated_save": Setting(False, _flag, "Gather sharded weights when saving."),
    "sharding_propagation": Setting(False, _flag, "Propagate sharding strategies."),
    "auto_pipeline": Setting(False, _flag, "Choose the pipeline stages."),
    "force_fp32_communication": Setting(False, _flag, "Communicate in float32."),
}

PS_SETTINGS: Final[dict[str, Setting]] = {
    "enable_ps": Setting(False, _flag, "Train with parameter servers."),
    "enable_ssl": Setting(False, _flag, "Encrypt the communication of parameter servers."),
    "config_file_path": Setting("", _text, "Path of the parameter server configuration."),
    "client_password": Setting("", _text, "Password of the client's certificate."),
    "server_password": Setting("", _text, "Password of the server's certificate."),
    "scheduler_manage_port": Setting(11202, _integer(1, 65535), "Port of the scheduler."),
}

Listener = Callable[[dict[str, Any]], None]


class Store:
    """The current values of a settings table.

    Args:
        kind: what the table is called in messages.
        settings: the table.
    """

    def __init__(self, kind: str, settings: Mapping[str, Setting]) -> None:
        self.kind = kind
        self.settings = settings
        self.lock = threading.RLock()
        self.values = self.defaults()
        #: the keys of the settings that were given, be it their defaults
        self.given: set[str] = set()

    def defaults(self) -> dict[str, Any]:
        """A fresh set of default values."""
        return {
            key: row.default.copy() if isinstance(row.default, (dict, list)) else row.default
            for key, row in self.settings.items()
        }

    def unknown(self, key: Any) -> ValueError:
        """The error for a key that is not in the table."""
        near = difflib.get_close_matches(str(key), self.settings, n=3)
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"known: {', '.join(self.settings)}"
        return ValueError(f"{key!r} is not a {self.kind} setting; {hint}")

    def checked(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """The values to store for these changes; raises if any is wrong."""
        result = {}
        for key, value in changes.items():
            row = self.settings.get(key)
            if row is None:
                raise self.unknown(key)
            result[key] = row.check(key, value)
        return result

    def set(self, changes: Mapping[str, Any]) -> None:
        """Change several settings, or none if any is wrong."""
        checked = self.checked(changes)
        with self.lock:
            self.values.update(checked)
            self.given.update(checked)

    def get(self, key: str) -> Any:
        """The current value of one setting."""
        try:
            value = self.values[key]
        except (KeyError, TypeError):
            raise self.unknown(key) from None
        return value.copy() if isinstance(value, (dict, list)) else value

    def reset(self) -> None:
        """Put every setting back to its default."""
        with self.lock:
            self.values = self.defaults()
            self.given.clear()

    def describe(self) -> str:
        """The table as Markdown, for the documentation."""
        lines = ["| setting | default | what it does |", "|---|---|---|"]
        lines += [f"| `{key}` | `{row.default!r}` | {row.doc} |" for key, row in self.settings.items()]
        return "\n".join(lines)


_context = Store("context", SETTINGS)
_parallel = Store("parallel context", PARALLEL_SETTINGS)
_servers = Store("parameter server context", PS_SETTINGS)
#: the modes in which the framework spreads what it computes
SPREAD_MODES: Final = (ParallelMode.SEMI_AUTO_PARALLEL, ParallelMode.AUTO_PARALLEL)
_listeners: list[Listener] = []
#: the settings that `set_context` leaves as they are
_pinned: set[str] = set()
#: settings that say how a program is run, where files go, what is recorded and how much is kept
_WITHOUT_EFFECT: Final = frozenset(
    {
        "mode", "jit", "jit_log", "save_graphs", "save_graphs_path",
        "auto_block_reuse", "loop_unroll_limit", "enable_compile_cache", "compile_cache_path", "jit_cache_limit",
        "precompile_only", "pynative_synchronize", "print_file_path", "enable_profiling", "profiling_options",
        "enable_dump", "save_dump_path", "op_timeout",
    }
)  # fmt: skip
_fingerprints: dict[tuple[str, ...], tuple[str, ...]] = {}
#: the settings that computations may depend on, for guards; only this module writes it
FINGERPRINT: tuple[str, ...] = ()


class _Gradients(threading.local):
    """Whether nothing that this thread computes leaves a history for gradients; see `weft.autodiff.pausing`."""

    paused = False


GRADIENTS: Final = _Gradients()
#: what else computations may depend on, texts by subject; only `note` writes it
_noted: dict[str, tuple[str, ...]] = {}
#: the subjects of these that count in `SPREAD_MODES` only
_noted_of_spreading: set[str] = set()
_warned_ascend = False


def note(subject: str, texts: tuple[str, ...], when_spread: bool = False) -> None:
    """Note a state of the process that computations depend on like on settings: compiled code is for this state.

    Args:
        subject: whose state; its texts take the place of those before.
        texts: what the state is; equal texts mean the same.
        when_spread: computations depend on it in `SPREAD_MODES` only, whenever it was noted.
    """
    if when_spread:
        _noted_of_spreading.add(subject)
    _noted[subject] = texts
    _publish({})


def set_context(**kwargs: Any) -> None:
    """Change settings of the process.

    Args:
        kwargs: settings by name, see `SETTINGS`; e.g. ``mode=GRAPH_MODE``, ``device_target="CPU"``,
            ``save_graphs=True``.

    Raises:
        ValueError: a setting is unknown (the nearest names are listed), or a value is not allowed.
        TypeError: a value has the wrong type.

    Example:
        >>> set_context(mode=PYNATIVE_MODE, save_graphs=False)
        >>> get_context("mode") == PYNATIVE_MODE
        True
    """
    _change(_context.checked({key: value for key, value in kwargs.items() if key not in _pinned}))


def pin(**kwargs: Any) -> None:
    """Choose settings for the program, which its own `set_context` leaves as they are from then on.

    Args:
        kwargs: settings by name; a pinned device target pins the number of the device too.

    Raises:
        ValueError: a setting is unknown, or a value is not allowed.
        TypeError: a value has the wrong type.

    Example:
        >>> pin(max_call_depth=500)
        >>> set_context(max_call_depth=2000)
        >>> get_context("max_call_depth")
        500
        >>> unpin()
        >>> set_context(max_call_depth=1000)
    """
    _change(_context.checked(kwargs))
    _pinned.update(kwargs)
    if "device_target" in kwargs:
        _pinned.add("device_id")


def unpin() -> None:
    """Let the program change all settings again; their values stay."""
    _pinned.clear()


def _change(checked: dict[str, Any]) -> None:
    with _context.lock:
        if "device_target" in checked or "device_id" in checked:
            _place(checked)
        values = _context.values
        changed = {key: value for key, value in checked.items() if values[key] != value}
        values.update(checked)
        _publish(changed)


def get_context(attr_key: str) -> Any:
    """The current value of a setting.

    Args:
        attr_key: name of the setting, see `SETTINGS`.

    Returns:
        The value last set, or the default.

    Raises:
        ValueError: the setting is unknown.

    Example:
        >>> get_context("max_call_depth")
        1000
    """
    value = _context.get(attr_key)
    return _WHERE_NOT_SET[attr_key]() if value is None else value


def chosen(key: str) -> Any:
    """The value of a setting, None where the program has not chosen one."""
    return _context.values[key]


def default_target() -> str:
    """The device target when none is set: the platform that the installed jaxlib prefers."""
    platform = default_platform()
    return next((name for name, p in _TARGETS.items() if p == platform), platform.upper())


#: what `get_context` says of settings that have no value until one is chosen
_WHERE_NOT_SET: Final[dict[str, Callable[[], Any]]] = {
    "device_target": default_target,
    "enable_compile_cache": lambda: False,
    "compile_cache_path": lambda: ".",
}


def mode() -> int:
    """The current mode: `GRAPH_MODE` or `PYNATIVE_MODE`."""
    return MODE


def reset() -> None:
    """Put every setting of the process back to its default."""
    with _context.lock:
        before = _context.values
        if before["device_target"] is not None or before["device_id"]:
            use_device(None)
        _context.reset()
        _publish({key: value for key, value in _context.values.items() if before[key] != value})


def on_change(callback: Listener) -> Callable[[], None]:
    """Call `callback(changes)` after settings change, with the new values by name.

    Args:
        callback: called in the thread that made the change, never with an empty dict.

    Returns:
        A function that ends the calls.
    """
    with _context.lock:
        _listeners.append(callback)

    def stop() -> None:
        with _context.lock:
            if callback in _listeners:
                _listeners.remove(callback)

    return stop


def describe() -> str:
    """The settings as a Markdown table."""
    return _context.describe()


def _fingerprint() -> tuple[str, ...]:
    """The settings that computations may depend on; equal ones are the same object."""
    values = _context.values
    made = [f"{key}={values[key]!r}" for key in values if key not in _WITHOUT_EFFECT]
    spread = _parallel.values["parallel_mode"] in SPREAD_MODES
    for subject, texts in _noted.items():
        if spread or subject not in _noted_of_spreading:
            made += texts
    return _fingerprints.setdefault(tuple(made), tuple(made))


def _publish(changed: dict[str, Any]) -> None:
    global MODE, FINGERPRINT
    MODE = _context.values["mode"]
    FINGERPRINT = _fingerprint()
    if changed:
        for listener in tuple(_listeners):
            listener(dict(changed))


def _place(changes: Mapping[str, Any]) -> None:
    """Select the device that the changes ask for; raises before anything has changed."""
    global _warned_ascend
    target = changes.get("device_target", _context.values["device_target"])
    index = changes.get("device_id", _context.values["device_id"])
    if target == "Ascend":
        if not _warned_ascend:
            _warned_ascend = True
            warnings.warn(
                f"device_target='Ascend' is not available here; computing on {default_target()} instead",
                RuntimeWarning,
                stacklevel=3,
            )
        use_device(None)
        return
    platform = _TARGETS[target] if target is not None else default_platform()
    devices = devices_of(platform)
    if platform == "cpu":
        # one CPU device computes with all cores; other ids name nothing
        use_device(None if default_platform() == "cpu" else devices[0])
        return
    if index >= len(devices):
        raise ValueError(f"device_id={index}: there are {len(devices)} {platform.upper()} devices, numbered from 0")
    use_device(None if index == 0 and platform == default_platform() else devices[index])


def _note_settings(store: Store) -> None:
    """Note the settings of a table that were given."""
    note(store.kind, tuple([f"{key}={value!r}" for key, value in store.values.items() if key in store.given]))


# -- parallel programs: settings that are stored for the code that spreads networks over devices -------------------


def set_processes(count: int, rank: int) -> None:
    """Let the settings say how many processes the program has.

    Args:
        count: number of processes.
        rank: number of this one.
    """
    for key, value in (("device_num", count), ("global_rank", rank)):
        PARALLEL_SETTINGS[key] = dataclasses.replace(PARALLEL_SETTINGS[key], default=value)
        _parallel.values[key] = value


def set_auto_parallel_context(**kwargs: Any) -> None:
    """Change the settings of parallel programs.

    Args:
        kwargs: settings by name, see `PARALLEL_SETTINGS`.

    Raises:
        ValueError: a setting is unknown or a value is not allowed.
        TypeError: a value has the wrong type.
        RuntimeError: stages are to be spread over several processes.

    Example:
        >>> set_auto_parallel_context(parallel_mode=ParallelMode.DATA_PARALLEL)
        >>> get_auto_parallel_context("parallel_mode")
        'data_parallel'
        >>> reset_auto_parallel_context()
    """
    _parallel.set(kwargs)
    _note_settings(_parallel)


def get_auto_parallel_context(attr_key: str) -> Any:
    """The current value of a setting of parallel programs."""
    return _parallel.get(attr_key)


def is_auto_parallel_context_set(attr_key: str) -> bool:
    """Whether a setting of parallel programs was given, be it its default."""
    _parallel.get(attr_key)
    return attr_key in _parallel.given


def reset_auto_parallel_context() -> None:
    """Put the settings of parallel programs back to their defaults."""
    _parallel.reset()
    _note_settings(_parallel)


def set_ps_context(**kwargs: Any) -> None:
    """Change the settings of parameter server training."""
    _servers.set(kwargs)
    _note_settings(_servers)


def get_ps_context(attr_key: str) -> Any:
    """The current value of a setting of parameter server training."""
    return _servers.get(attr_key)


def reset_ps_context() -> None:
    """Put the settings of parameter server training back to their defaults."""
    _servers.reset()
    _note_settings(_servers)


_publish({})
