"""Settings of pipelines: the seed, the number of workers, how far they read ahead; others are kept and read back."""

from __future__ import annotations

import enum
import json
import os
from typing import Any

from weft.data.debug import DebugHook, checked_hooks
from weft.ops.random import get_seed as seed_of_program

__all__ = [
    "ErrorSamplesMode",
    "get_auto_num_workers",
    "get_auto_offload",
    "get_autotune_interval",
    "get_callback_timeout",
    "get_debug_mode",
    "get_dynamic_shape",
    "get_enable_autotune",
    "get_enable_shared_mem",
    "get_enable_watchdog",
    "get_error_samples_mode",
    "get_fast_recovery",
    "get_iterator_mode",
    "get_monitor_sampling_interval",
    "get_multiprocessing_start_method",
    "get_multiprocessing_timeout_interval",
    "get_num_parallel_workers",
    "get_numa_enable",
    "get_prefetch_size",
    "get_seed",
    "get_video_backend",
    "load",
    "set_auto_num_workers",
    "set_auto_offload",
    "set_autotune_interval",
    "set_callback_timeout",
    "set_debug_mode",
    "set_dynamic_shape",
    "set_enable_autotune",
    "set_enable_shared_mem",
    "set_enable_watchdog",
    "set_error_samples_mode",
    "set_fast_recovery",
    "set_iterator_mode",
    "set_monitor_sampling_interval",
    "set_multiprocessing_start_method",
    "set_multiprocessing_timeout_interval",
    "set_num_parallel_workers",
    "set_numa_enable",
    "set_prefetch_size",
    "set_seed",
    "set_sending_batches",
    "set_video_backend",
]


class ErrorSamplesMode(enum.IntEnum):
    """What becomes of an element that an operation cannot process: raise, put another in its place, leave it out."""

    RETURN = 0
    REPLACE = 1
    SKIP = 2


_LARGEST = 2**31 - 1
_DEFAULT_SEED = 5489

_values: dict[str, Any] = {
    "seed": None,
    "num_parallel_workers": min(8, os.cpu_count() or 1),
    "prefetch_size": 16,
    "auto_num_workers": False,
    "auto_offload": False,
    "autotune_interval": 0,
    "callback_timeout": 60,
    "debug_hooks": [],
    "debug_mode": False,
    "dynamic_shape": False,
    "enable_autotune": False,
    "enable_shared_mem": True,
    "enable_watchdog": True,
    "error_samples_mode": ErrorSamplesMode.RETURN,
    "fast_recovery": True,
    "iterator_mode": {"do_copy": False, "parallel_convert": False},
    "monitor_sampling_interval": 1000,
    "multiprocessing_start_method": "fork",
    "multiprocessing_timeout_interval": 300,
    "numa_enable": False,
    "sending_batches": 0,
    "video_backend": "CPU",
}
#: the number of workers that the program set; None where it set none
_workers_asked: int | None = None


def _flag(name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise TypeError(f"set_{name}: expected a bool, not {type(value).__name__}")
    _values[name] = value


def _whole(name: str, value: Any, least: int = 1, most: int = _LARGEST) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"set_{name}: expected an int, not {type(value).__name__}")
    if not least <= value <= most:
        raise ValueError(f"set_{name}: {value} is not within the required interval of [{least}, {most}]")
    _values[name] = value
    return value


def chosen_seed() -> int | None:
    """The seed that pipelines start from: of `set_seed` here or of the program; None where neither was called."""
    own = _values["seed"]
    return own if own is not None else seed_of_program()


def workers_of(asked: int | None, shared: bool) -> int:
    """How many workers an operation has.

    Args:
        asked: the number that the operation was given.
        shared: whether its functions may run side by side without being asked to.
    """
    if _values["debug_mode"]:
        return 0
    if asked is not None:
        return asked
    return _workers_asked or (_values["num_parallel_workers"] if shared else 1)


def set_seed(seed: int) -> None:
    """Set the seed of shuffles, samplers and random operations.

    Args:
        seed: a non-negative int.

    Example:
        >>> from weft.data import config
        >>> config.set_seed(3)
        >>> config.get_seed()
        3
    """
    _whole("seed", seed, 0, 2**32 - 1)


def get_seed() -> int:
    """The seed of pipelines."""
    seed = chosen_seed()
    return _DEFAULT_SEED if seed is None else seed


def set_num_parallel_workers(num: int) -> None:
    """Set the number of workers of operations that are given none."""
    global _workers_asked
    _workers_asked = _whole("num_parallel_workers", num, 1, 1024)


def get_num_parallel_workers() -> int:
    """The number of workers of operations that are given none."""
    return int(_values["num_parallel_workers"])


def set_prefetch_size(size: int) -> None:
    """Set how many rows a pipeline reads ahead."""
    _whole("prefetch_size", size)


def get_prefetch_size() -> int:
    """How many rows a pipeline reads ahead."""
    return int(_values["prefetch_size"])


def set_debug_mode(debug_mode_flag: bool, debug_hook_list: Any = None) -> None:
    """Run pipelines without workers and threads, so that a debugger sees the program's functions.

    Args:
        debug_mode_flag: whether to do so.
        debug_hook_list: hooks that see what the operations of each `map` get and give.
    """
    hooks = checked_hooks(debug_hook_list)
    _flag("debug_mode", debug_mode_flag)
    _values["debug_hooks"] = hooks


def debug_hooks() -> list[DebugHook]:
    """The hooks of `set_debug_mode` while pipelines are debugged."""
    return list(_values["debug_hooks"]) if _values["debug_mode"] else []


def get_debug_mode() -> bool:
    """Whether pipelines run without workers and threads."""
    return bool(_values["debug_mode"])


def set_error_samples_mode(error_samples_mode: ErrorSamplesMode) -> None:
    """Set what becomes of an element for which a `map` operation raises."""
    if not isinstance(error_samples_mode, ErrorSamplesMode):
        raise TypeError("set_error_samples_mode: expected an ErrorSamplesMode")
    _values["error_samples_mode"] = error_samples_mode


def get_error_samples_mode() -> ErrorSamplesMode:
    """What becomes of an element for which a `map` operation raises."""
    return ErrorSamplesMode(_values["error_samples_mode"])


def set_enable_shared_mem(enable: bool) -> None:
    """Kept: arrays come from worker processes through pipes."""
    _flag("enable_shared_mem", enable)


def get_enable_shared_mem() -> bool:
    """What `set_enable_shared_mem` set."""
    return bool(_values["enable_shared_mem"])


def set_enable_watchdog(enable: bool) -> None:
    """Kept: a worker process that ends is always noticed."""
    _flag("enable_watchdog", enable)


def get_enable_watchdog() -> bool:
    """What `set_enable_watchdog` set."""
    return bool(_values["enable_watchdog"])


def set_multiprocessing_start_method(start_method: str = "fork") -> None:
    """Kept: worker processes are always started anew, since a process with threads cannot safely be forked."""
    if start_method not in ("fork", "spawn"):
        raise ValueError(f"set_multiprocessing_start_method: 'fork' or 'spawn', not {start_method!r}")
    _values["multiprocessing_start_method"] = start_method


def get_multiprocessing_start_method() -> str:
    """What `set_multiprocessing_start_method` set."""
    return str(_values["multiprocessing_start_method"])


def set_multiprocessing_timeout_interval(interval: int) -> None:
    """Kept."""
    _whole("multiprocessing_timeout_interval", interval)


def get_multiprocessing_timeout_interval() -> int:
    """What `set_multiprocessing_timeout_interval` set."""
    return int(_values["multiprocessing_timeout_interval"])


def set_auto_num_workers(enable: bool) -> None:
    """Kept."""
    _flag("auto_num_workers", enable)


def get_auto_num_workers() -> bool:
    """What `set_auto_num_workers` set."""
    return bool(_values["auto_num_workers"])


def set_auto_offload(offload: bool) -> None:
    """Kept."""
    _flag("auto_offload", offload)


def get_auto_offload() -> bool:
    """What `set_auto_offload` set."""
    return bool(_values["auto_offload"])


def set_enable_autotune(enable: bool, filepath_prefix: str | None = None) -> None:
    """Kept."""
    del filepath_prefix
    _flag("enable_autotune", enable)


def get_enable_autotune() -> bool:
    """What `set_enable_autotune` set."""
    return bool(_values["enable_autotune"])


def set_autotune_interval(interval: int) -> None:
    """Kept."""
    _whole("autotune_interval", interval, 0)


def get_autotune_interval() -> int:
    """What `set_autotune_interval` set."""
    return int(_values["autotune_interval"])


def set_callback_timeout(timeout: int) -> None:
    """Kept."""
    _whole("callback_timeout", timeout)


def get_callback_timeout() -> int:
    """What `set_callback_timeout` set."""
    return int(_values["callback_timeout"])


def set_dynamic_shape(is_dynamic: bool) -> None:
    """Kept."""
    _flag("dynamic_shape", is_dynamic)


def get_dynamic_shape() -> bool:
    """What `set_dynamic_shape` set."""
    return bool(_values["dynamic_shape"])


def set_fast_recovery(fast_recovery: bool) -> None:
    """Kept."""
    _flag("fast_recovery", fast_recovery)


def get_fast_recovery() -> bool:
    """What `set_fast_recovery` set."""
    return bool(_values["fast_recovery"])


def set_iterator_mode(do_copy: bool = False, parallel_convert: bool = False) -> None:
    """Kept."""
    _values["iterator_mode"] = {"do_copy": do_copy, "parallel_convert": parallel_convert}


def get_iterator_mode() -> dict[str, bool]:
    """What `set_iterator_mode` set."""
    return dict(_values["iterator_mode"])


def set_monitor_sampling_interval(interval: int) -> None:
    """Kept."""
    _whole("monitor_sampling_interval", interval)


def get_monitor_sampling_interval() -> int:
    """What `set_monitor_sampling_interval` set."""
    return int(_values["monitor_sampling_interval"])


def set_numa_enable(numa_enable: bool) -> None:
    """Kept."""
    _flag("numa_enable", numa_enable)


def get_numa_enable() -> bool:
    """What `set_numa_enable` set."""
    return bool(_values["numa_enable"])


def set_sending_batches(batch_num: int) -> None:
    """Kept."""
    _whole("sending_batches", batch_num, 0)


def set_video_backend(backend: str) -> None:
    """Kept."""
    _values["video_backend"] = backend


def get_video_backend() -> str:
    """What `set_video_backend` set."""
    return str(_values["video_backend"])


def load(file: str) -> None:
    """Read settings from a JSON file.

    Args:
        file: path of the file: names as in the setters, without ``set_``.
    """
    with open(file, encoding="utf-8") as stream:
        settings = json.load(stream)
    for name, value in settings.items():
        setter = globals().get(f"set_{name}")
        if setter is not None:
            setter(value)
