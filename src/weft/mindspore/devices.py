"""`mindspore.runtime` and `mindspore.hal`: waiting for devices, their memory, streams and events.

XLA orders what is computed by what it needs, so there is one stream a device, and waiting is for all that was begun.
Memory is what JAX says of a device; where it says nothing, as of CPUs, it is 0.
"""

from __future__ import annotations

import time
from typing import Any, Final, NamedTuple

import jax

from weft._jax_compat import default_platform, devices_of
from weft.context import get_context, set_context
from weft.core.transparency import python_only

__all__ = [
    "DeviceProperties", "Event", "Stream", "StreamCtx", "communication_stream", "current_stream", "default_stream",
    "device_count", "dispatch_threads_num", "empty_cache", "get_arch_list", "get_device_capability", "get_device_name",
    "get_device_properties", "is_available", "is_initialized", "launch_blocking", "max_memory_allocated",
    "max_memory_reserved", "memory_allocated", "memory_reserved", "memory_stats", "memory_summary",
    "reset_max_memory_allocated", "reset_max_memory_reserved", "reset_peak_memory_stats", "set_cpu_affinity",
    "set_cur_stream", "set_kernel_launch_group", "set_memory", "synchronize",
]  # fmt: skip

_PLATFORMS: Final = {"CPU": "cpu", "GPU": "gpu", "TPU": "tpu"}


# -- devices -------------------------------------------------------------------------------------------------------


def _platform(device_target: Any) -> str | None:
    """What JAX calls a kind of device, None if there is none here that it knows."""
    if device_target is None:
        device_target = get_context("device_target")
    if not isinstance(device_target, str):
        raise TypeError(f"device_target must be a str, not {type(device_target).__name__}")
    if device_target not in (*_PLATFORMS, "Ascend"):
        raise ValueError(f"device_target must be one of 'CPU', 'GPU', 'Ascend', 'TPU', not {device_target!r}")
    return _PLATFORMS.get(device_target)


def _device(device_id: int = 0, device_target: str | None = None) -> Any:
    """A device."""
    platform = _platform(device_target)
    if platform is None and device_target is None:  # Ascend stands for the default device
        platform = default_platform()
    found = devices_of(platform) if platform else []
    if not 0 <= device_id < len(found):
        raise RuntimeError(
            f"there is no device {device_id} of the kind {device_target or get_context('device_target')}"
        )
    return found[device_id]


def is_available(device_target: str) -> bool:
    """Whether there is a device of a kind.

    Args:
        device_target: ``"CPU"``, ``"GPU"``, ``"TPU"`` or ``"Ascend"``.

    Example:
        >>> is_available("CPU"), is_available("Ascend")
        (True, False)
    """
    platform = _platform(device_target)
    return platform is not None and bool(devices_of(platform))


is_initialized = is_available


def device_count(device_target: str | None = None) -> int:
    """How many devices of a kind there are; the cores of a CPU are one.

    Args:
        device_target: the kind, None for the one that computes.
    """
    platform = _platform(device_target)
    if platform is None and device_target is None:
        platform = default_platform()
    return min(1, len(devices_of("cpu"))) if platform == "cpu" else len(devices_of(platform)) if platform else 0


def get_device_name(device_id: int, device_target: str | None = None) -> str:
    """The name of a device.

    Args:
        device_id: which one.
        device_target: of which kind.
    """
    device = _device(device_id, device_target)
    return "CPU" if device.platform == "cpu" else str(device.device_kind)


class DeviceProperties(NamedTuple):
    """What is known of a device."""

    name: str
    total_memory: int
    free_memory: int


def get_device_properties(device_id: int, device_target: str | None = None) -> DeviceProperties:
    """Name and memory of a device.

    Args:
        device_id: which one.
        device_target: of which kind.
    """
    stats = _device(device_id, device_target).memory_stats() or {}
    total = stats.get("bytes_limit", 0)
    return DeviceProperties(get_device_name(device_id, device_target), total, total - stats.get("bytes_in_use", 0))


def get_device_capability(device_id: int, device_target: str | None = None) -> tuple[int, int] | None:
    """The generation of a GPU, None for others.

    Args:
        device_id: which one.
        device_target: of which kind.
    """
    text = str(getattr(_device(device_id, device_target), "compute_capability", ""))
    major, _, minor = text.partition(".")
    return (int(major), int(minor)) if major.isdecimal() and minor.isdecimal() else None


def get_arch_list(device_target: str | None = None) -> None:
    """The generations for which there are kernels: XLA makes kernels for the device, so there is no list."""
    _platform(device_target)


@python_only
def synchronize() -> None:
    """Wait for all that was begun on devices.

    Example:
        >>> synchronize()
    """
    jax.effects_barrier()
    for array in jax.live_arrays():
        if not array.is_deleted():
            array.block_until_ready()


@python_only
def launch_blocking() -> None:
    """Wait for each eager operation, as ``set_context(pynative_synchronize=True)`` does."""
    set_context(pynative_synchronize=True)


# -- memory --------------------------------------------------------------------------------------------------------

#: the peaks that JAX gave when the program began to count anew
_peaks: dict[str, int] = {}


def _stat(now: str, peak: str | None = None, device_target: str | None = None) -> int:
    """Bytes that JAX counts on the device that computes, or the most since the program began to count anew."""
    index = get_context("device_id") if get_context("device_target") != "CPU" else 0
    stats = _device(index, device_target).memory_stats() or {}
    used = int(stats.get(now, 0))
    if peak is None:
        return used
    most = int(stats.get(peak, used))
    return used if most <= _peaks.get(peak, -1) else most


@python_only
def memory_allocated(device_target: str | None = None) -> int:
    """Bytes of the device in use.

    Example:
        >>> memory_allocated() >= 0
        True
    """
    return _stat("bytes_in_use", None, device_target)


@python_only
def memory_reserved(device_target: str | None = None) -> int:
    """Bytes of the device that the process holds."""
    return max(_stat("pool_bytes", None, device_target), _stat("bytes_in_use", None, device_target))


@python_only
def max_memory_allocated(device_target: str | None = None) -> int:
    """The most bytes of the device in use at a time.

    After `reset_max_memory_allocated`, those in use now, until there are more than ever before.
    """
    return _stat("bytes_in_use", "peak_bytes_in_use", device_target)


@python_only
def max_memory_reserved(device_target: str | None = None) -> int:
    """The most bytes of the device that the process held at a time; see `max_memory_allocated`."""
    return max(_stat("pool_bytes", "peak_pool_bytes", device_target), max_memory_allocated(device_target))


@python_only
def reset_max_memory_allocated(device_target: str | None = None) -> None:
    """Count the most bytes in use anew."""
    _forget("peak_bytes_in_use", device_target)


@python_only
def reset_max_memory_reserved(device_target: str | None = None) -> None:
    """Count the most bytes held anew."""
    _forget("peak_pool_bytes", device_target)


@python_only
def reset_peak_memory_stats(device_target: str | None = None) -> None:
    """Count the most bytes in use, and held, anew."""
    _forget("peak_bytes_in_use", device_target)
    _forget("peak_pool_bytes", device_target)


def _forget(peak: str, device_target: str | None) -> None:
    stats = _device(0, device_target).memory_stats() or {}
    if peak in stats:
        _peaks[peak] = int(stats[peak])


@python_only
def memory_stats(device_target: str | None = None) -> dict[str, Any]:
    """The memory of the device as a dictionary.

    Example:
        >>> "total_allocated_memory" in memory_stats()
        True
    """
    reserved, used = memory_reserved(device_target), memory_allocated(device_target)
    pool = {"block_unit_size": 0, "block_counts": 0, "blocks_info": {}}
    return {
        "total_reserved_memory": reserved,
        "total_allocated_memory": used,
        "total_idle_memory": reserved - used,
        "total_eager_free_memory": 0,
        "max_reserved_memory": max_memory_reserved(device_target),
        "max_allocated_memory": max_memory_allocated(device_target),
        "common_mem_pool_stats": dict(pool),
        "persistent_mem_pool_stats": dict(pool),
    }


@python_only
def memory_summary(device_target: str | None = None) -> str:
    """The memory of the device as a table."""
    stats = memory_stats(device_target)
    rows = {
        "Reserved memory": stats["total_reserved_memory"],
        "Allocated memory": stats["total_allocated_memory"],
        "Idle memory": stats["total_idle_memory"],
        "Max reserved memory": stats["max_reserved_memory"],
        "Max allocated memory": stats["max_allocated_memory"],
    }
    head = "| Metric               | Data                 |"
    return "\n".join([head, "|" + "-" * (len(head) - 2) + "|", *[f"| {k:20} | {v:18} B |" for k, v in rows.items()]])


@python_only
def empty_cache() -> None:
    """Give memory back that is not in use: JAX does so by itself."""


@python_only
def set_memory(
    init_size: str = "2GB",
    increase_size: str = "2GB",
    max_size: str = "1024GB",
    optimize_level: str = "O0",
    huge_page_reserve_size: str = "0GB",
) -> None:
    """How the memory of the device is held, as ``set_context(max_device_memory=...)`` sets it.

    Args:
        init_size: what is held at first.
        increase_size: by how much.
        max_size: the most.
        optimize_level: ``"O0"`` or ``"O1"``.
        huge_page_reserve_size: accepted.

    Raises:
        ValueError: a size is not like ``"10GB"``.

    Example:
        >>> set_memory(max_size="1024GB")
    """
    if not isinstance(huge_page_reserve_size, str):
        raise TypeError(
            f"set_memory: huge_page_reserve_size must be a str, not {type(huge_page_reserve_size).__name__}"
        )
    set_context(
        mempool_block_size=init_size, variable_memory_max_size=increase_size, max_device_memory=max_size,
        memory_optimize_level=optimize_level,
    )  # fmt: skip


# -- threads -------------------------------------------------------------------------------------------------------


@python_only
def dispatch_threads_num(threads_num: int) -> None:
    """Threads of the runtime, as ``set_context(runtime_num_threads=...)`` sets them.

    Args:
        threads_num: how many.
    """
    set_context(runtime_num_threads=threads_num)


@python_only
def set_cpu_affinity(
    enable_affinity: bool, affinity_cpu_list: Any = None, module_to_cpu_dict: Any = None, bind_file: Any = None
) -> None:
    """On which cores the process runs: the operating system chooses.

    Args:
        enable_affinity: accepted.
        affinity_cpu_list: accepted.
        module_to_cpu_dict: accepted.
        bind_file: accepted.
    """
    del affinity_cpu_list, module_to_cpu_dict, bind_file
    if not isinstance(enable_affinity, bool):
        raise TypeError(f"set_cpu_affinity: enable_affinity must be a bool, not {type(enable_affinity).__name__}")


@python_only
def set_kernel_launch_group(thread_num: int = 2, kernel_group_num: int = 8) -> None:
    """How kernels are started together: XLA chooses.

    Args:
        thread_num: accepted.
        kernel_group_num: accepted.
    """
    for what, value in (("thread_num", thread_num), ("kernel_group_num", kernel_group_num)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"set_kernel_launch_group: {what} must be an int, not {type(value).__name__}")
        if value < 1:
            raise ValueError(f"set_kernel_launch_group: {what} must be positive, not {value}")


# -- streams and events --------------------------------------------------------------------------------------------


class Event:
    """A point in what was begun, to wait for or to measure time from.

    Args:
        enable_timing: whether time is measured.
        blocking: accepted.

    Example:
        >>> before, after = Event(enable_timing=True), Event(enable_timing=True)
        >>> before.record()
        >>> after.record()
        >>> before.elapsed_time(after) >= 0.0
        True
    """

    def __init__(self, enable_timing: bool = False, blocking: bool = False) -> None:
        for what, value in (("enable_timing", enable_timing), ("blocking", blocking)):
            if not isinstance(value, bool):
                raise TypeError(f"Event: {what} must be a bool, not {type(value).__name__}")
        self.enable_timing = enable_timing
        self._time: float | None = None

    @python_only
    def record(self, stream: Stream | None = None) -> None:
        """Be the point that is reached when all that was begun is done; with timing, wait for it."""
        del stream
        if self.enable_timing:
            synchronize()
        self._time = time.perf_counter()

    @python_only
    def wait(self, stream: Stream | None = None) -> None:
        """Have what is begun later wait: it does, for what it needs."""
        del stream

    @python_only
    def synchronize(self) -> None:
        """Wait until the point is reached."""
        synchronize()

    @python_only
    def query(self) -> bool:
        """Whether the point is reached, after waiting for it."""
        synchronize()
        return True

    @python_only
    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this point to another.

        Args:
            end_event: the other.

        Raises:
            RuntimeError: one of them was not recorded, or measures no time.
        """
        if not isinstance(end_event, Event):
            raise TypeError(f"elapsed_time takes an Event, not {type(end_event).__name__}")
        if self._time is None or end_event._time is None or not (self.enable_timing and end_event.enable_timing):
            raise RuntimeError("elapsed_time: both events must be made with enable_timing=True, and recorded")
        return (end_event._time - self._time) * 1000


class Stream:
    """A queue of work of the device. There is one, whatever the program makes.

    Args:
        priority: accepted.
        kwargs: accepted.

    Example:
        >>> Stream() == current_stream()
        True
    """

    def __init__(self, priority: int = 0, **kwargs: Any) -> None:
        del priority, kwargs

    @property
    def stream_id(self) -> int:
        """The number of the stream."""
        return 0

    @python_only
    def record_event(self, event: Event | None = None) -> Event:
        """Record an event, a new one if none is given."""
        found = Event() if event is None else event
        found.record(self)
        return found

    @python_only
    def wait_event(self, event: Event) -> None:
        """Have what is begun later wait for an event."""
        event.wait(self)

    @python_only
    def wait_stream(self, stream: Stream) -> None:
        """Have what is begun later wait for another stream."""
        del stream

    @python_only
    def synchronize(self) -> None:
        """Wait for all that was begun."""
        synchronize()

    @python_only
    def query(self) -> bool:
        """Whether all that was begun is done, after waiting for it."""
        synchronize()
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream)

    def __hash__(self) -> int:
        return hash(Stream)

    def __repr__(self) -> str:
        return f"Stream(device_name={get_context('device_target')}, device_id:{get_context('device_id')}, stream id:0)"


class StreamCtx:
    """Within the block, work goes to a stream.

    Args:
        ctx_stream: the stream.

    Example:
        >>> with StreamCtx(Stream()):
        ...     pass
    """

    def __init__(self, ctx_stream: Stream | None) -> None:
        if ctx_stream is not None and not isinstance(ctx_stream, Stream):
            raise TypeError(f"StreamCtx takes a Stream, not {type(ctx_stream).__name__}")
        self.stream = ctx_stream

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        pass


def current_stream() -> Stream:
    """The stream of the device."""
    return Stream()


default_stream = communication_stream = current_stream


@python_only
def set_cur_stream(stream: Stream | None) -> None:
    """Have work go to a stream.

    Args:
        stream: the stream.
    """
    StreamCtx(stream)


class Target:
    """`mindspore.device_context.cpu` and its like: whether there are such devices, and how many.

    Args:
        name: the kind.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def is_available(self) -> bool:
        """Whether there is such a device."""
        return is_available(self.name)

    def device_count(self) -> int:
        """How many there are.

        Raises:
            RuntimeError: there is none.
        """
        if not is_available(self.name):
            raise RuntimeError(f"there is no device of the kind {self.name}")
        return device_count(self.name)


CPU: Final = Target("CPU")
GPU: Final = Target("GPU")
ASCEND: Final = Target("Ascend")
