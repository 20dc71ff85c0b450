"""`mindspore.profiler`: what the program computes, and when, as `jax.profiler` records it.

A profile is a folder that TensorBoard, XProf and Perfetto show. One is recorded at a time.
"""

from __future__ import annotations

import enum
import itertools
import json
import logging
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final, Self

import jax

from weft.core.transparency import python_only
from weft.mindspore.devices import synchronize

__all__ = [
    "AicoreMetrics", "ExportType", "HostSystem", "Profiler", "ProfilerActivity", "ProfilerLevel", "mstx", "profile",
    "schedule", "tensorboard_trace_handler",
]  # fmt: skip

_logger = logging.getLogger("weft")


class ProfilerLevel(enum.Enum):
    """How much is recorded; JAX records the same at each level."""

    LevelNone = "LevelNone"
    Level0 = "Level0"
    Level1 = "Level1"
    Level2 = "Level2"


class ProfilerActivity(enum.Enum):
    """Where is recorded; JAX records all."""

    NPU = "NPU"
    GPU = "GPU"
    CPU = "CPU"


class AicoreMetrics(enum.Enum):
    """What is counted on Ascend devices."""

    PipeUtilization = "PipeUtilization"
    ArithmeticUtilization = "ArithmeticUtilization"
    Memory = "Memory"
    MemoryL0 = "MemoryL0"
    MemoryUB = "MemoryUB"
    ResourceConflictRatio = "ResourceConflictRatio"
    L2Cache = "L2Cache"
    MemoryAccess = "MemoryAccess"
    AiCoreNone = "None"


class ExportType(enum.Enum):
    """As what a profile is written; JAX writes its own."""

    Db = "db"
    Text = "text"


class HostSystem(enum.Enum):
    """What of the host is recorded."""

    CPU = "cpu"
    MEM = "mem"
    DISK = "disk"
    NETWORK = "network"
    OSRT = "osrt"


class ProfilerAction(enum.Enum):
    """What a profiler does in a step."""

    NONE = 0
    WARM_UP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class schedule:
    """Which steps are recorded: some are skipped, and then, again and again, some waited, warmed up and recorded.

    Args:
        wait: steps to wait.
        active: steps to record.
        warmup: steps before, as long as which nothing is recorded either.
        repeat: how often; 0 for ever.
        skip_first: steps to skip at first.

    Raises:
        TypeError: an argument is no int.

    Example:
        >>> chosen = schedule(wait=1, active=2, repeat=1)
        >>> [chosen(step).name for step in range(4)]
        ['NONE', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """

    def __init__(self, *, wait: int, active: int, warmup: int = 0, repeat: int = 0, skip_first: int = 0) -> None:
        given = {"wait": wait, "active": active, "warmup": warmup, "repeat": repeat, "skip_first": skip_first}
        for what, value in given.items():
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"schedule: {what} must be an int, not {type(value).__name__}")
        self.wait, self.warmup, self.repeat = max(wait, 0), max(warmup, 0), max(repeat, 0)
        self.active, self.skip_first = max(active, 1), max(skip_first, 0)

    def __call__(self, step: int) -> ProfilerAction:
        if step < self.skip_first:
            return ProfilerAction.NONE
        rounds, place = divmod(step - self.skip_first, self.wait + self.warmup + self.active)
        if (self.repeat and rounds >= self.repeat) or place < self.wait:
            return ProfilerAction.NONE
        if place < self.wait + self.warmup:
            return ProfilerAction.WARM_UP
        last = place == self.wait + self.warmup + self.active - 1
        return ProfilerAction.RECORD_AND_SAVE if last else ProfilerAction.RECORD

    def to_dict(self) -> dict[str, int]:
        """The numbers of steps."""
        names = ("wait", "active", "warmup", "repeat", "skip_first")
        return {name: getattr(self, name) for name in names}

    def __repr__(self) -> str:
        return f"Schedule({', '.join(f'{name}={value}' for name, value in self.to_dict().items())})"


class _Handler:
    """Where profiles go, for `Profiler` and `profile`."""

    def __init__(self, dir_name: str | None) -> None:
        self.dir_name = dir_name

    def __call__(self, profiler: Any) -> None:
        """The profile is in its folder already."""


def tensorboard_trace_handler(
    dir_name: str | None = None, worker_name: str | None = None, analyse_flag: bool = True, async_mode: bool = False
) -> Callable[[Any], None]:
    """Have profiles written to a folder that TensorBoard shows, for ``on_trace_ready=``.

    Args:
        dir_name: the folder.
        worker_name: accepted.
        analyse_flag: accepted.
        async_mode: accepted.
    """
    del worker_name, analyse_flag, async_mode
    return _Handler(dir_name)


class _ExperimentalConfig:
    """Further settings of `profile`, kept.

    Args:
        settings: by name.
    """

    def __init__(self, **settings: Any) -> None:
        self.__dict__.update(settings)


#: the settings of MindSpore's profilers that JAX has no counterpart for
_ACCEPTED: Final = frozenset({
    "profiler_level", "activities", "op_time", "profile_memory", "profile_communication", "parallel_strategy",
    "aicore_metrics", "l2_cache", "hbm_ddr", "pcie", "sync_enable", "with_stack", "data_process", "timeline_limit",
    "data_simplification", "profile_framework", "host_stack", "mstx", "export_type", "record_shapes",
    "mstx_domain_include", "mstx_domain_exclude", "sys_io", "sys_interconnection", "host_sys", "aic_metrics",
    "experimental_config", "is_detail", "is_show_op_path", "subgraph", "optypes_to_deal", "optypes_not_deal",
})  # fmt: skip


class Profiler:
    """Records what is computed until it is stopped, or in the steps of a schedule.

    Args:
        kwargs: `output_path`, the folder; `start_profile`, whether to begin at once; `schedule`, which steps are
            recorded; `on_trace_ready`, called with the profiler after each recording. Other settings of MindSpore's
            are accepted: JAX records the same with each.

    Raises:
        RuntimeError: another profile is being recorded.

    Example:
        >>> import tempfile, weft
        >>> folder = tempfile.mkdtemp()
        >>> with Profiler(output_path=folder):
        ...     x = weft.Tensor([1.0]) + 1
    """

    _running: Profiler | None = None

    def __init__(self, **kwargs: Any) -> None:
        unknown = sorted(set(kwargs) - _ACCEPTED - {"output_path", "start_profile", "schedule", "on_trace_ready"})
        if unknown:
            _logger.warning("Profiler: settings that are not known have no effect: %s", ", ".join(unknown))
        begin = kwargs.get("start_profile", True)
        if not isinstance(begin, bool):
            raise TypeError(f"Profiler: start_profile must be a bool, not {type(begin).__name__}")
        chosen, ready = kwargs.get("schedule"), kwargs.get("on_trace_ready")
        for what, value in (("schedule", chosen), ("on_trace_ready", ready)):
            if value is not None and not callable(value):
                raise TypeError(f"Profiler: {what} must be callable, not {type(value).__name__}")
        path = kwargs.get("output_path") or getattr(ready, "dir_name", None) or "./data"
        if not isinstance(path, str):
            raise TypeError(f"Profiler: output_path must be a str, not {type(path).__name__}")
        self._path = Path(path)
        self._schedule, self._ready = chosen, ready
        self._step = 0
        self._begun = False
        self._metadata: dict[str, Any] = {}
        if begin:
            self.start()

    @property
    def output_path(self) -> str:
        """The folder."""
        return str(self._path)

    @python_only
    def start(self) -> None:
        """Begin to record, or to follow the schedule."""
        if self._begun:
            return
        self._begun = True
        self._step = 0
        self._follow()

    @python_only
    def stop(self) -> None:
        """Stop; what was recorded is written."""
        if self._begun:
            self._begun = False
            self._save()

    @python_only
    def step(self) -> None:
        """A step of the program is done."""
        if self._schedule is None:
            _logger.warning("Profiler.step has no effect without a schedule")
            return
        if self._begun:
            if self._schedule(self._step) is ProfilerAction.RECORD_AND_SAVE:
                self._save()
            self._step += 1
            self._follow()

    @python_only
    def analyse(
        self, offline_path: Any = None, pretty: bool = False, step_list: Any = None, mode: str = "sync"
    ) -> None:
        """Stop; there is nothing to work out, as viewers read what is written.

        Args:
            offline_path: accepted.
            pretty: accepted.
            step_list: accepted.
            mode: accepted.
        """
        del offline_path, pretty, step_list, mode
        self.stop()

    @classmethod
    def offline_analyse(cls, path: str, **kwargs: Any) -> None:
        """Nothing is to be worked out, as viewers read what is written.

        Args:
            path: accepted.
            kwargs: accepted.
        """
        del path, kwargs

    def add_metadata(self, key: str, value: str) -> None:
        """Note something beside the profile, in ``profiler_metadata.json``.

        Args:
            key: what.
            value: a text.
        """
        if not isinstance(key, str) or not isinstance(value, str):
            raise TypeError("add_metadata takes two strings")
        self._metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """Note something beside the profile, in ``profiler_metadata.json``.

        Args:
            key: what.
            value: JSON.
        """
        self._metadata[key] = json.loads(value)

    def _follow(self) -> None:
        """Record if the schedule says so."""
        action = ProfilerAction.RECORD if self._schedule is None else self._schedule(self._step)
        if action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE) and Profiler._running is not self:
            if Profiler._running is not None:
                raise RuntimeError("another profile is being recorded; stop it first")
            self._path.mkdir(parents=True, exist_ok=True)
            jax.profiler.start_trace(str(self._path))
            Profiler._running = self

    def _save(self) -> None:
        """Write what was recorded, if anything was."""
        if Profiler._running is not self:
            return
        synchronize()
        Profiler._running = None
        jax.profiler.stop_trace()
        if self._metadata:
            (self._path / "profiler_metadata.json").write_text(json.dumps(self._metadata), encoding="utf-8")
        if self._ready is not None:
            self._ready(self)

    @python_only
    def __enter__(self) -> Self:
        self.start()
        return self

    @python_only
    def __exit__(self, *error: object) -> None:
        self.stop()


class profile(Profiler):
    """Records what is computed until it is stopped, or in the steps of a schedule; see `Profiler`.

    Args:
        activities: accepted.
        with_stack: accepted.
        profile_memory: accepted.
        data_process: accepted.
        parallel_strategy: accepted.
        start_profile: whether to begin at once.
        hbm_ddr: accepted.
        pcie: accepted.
        sync_enable: accepted.
        record_shapes: accepted.
        schedule: which steps are recorded.
        on_trace_ready: called with the profile after each recording.
        experimental_config: accepted.
    """

    def __init__(
        self,
        activities: Iterable[ProfilerActivity] | None = None,
        with_stack: bool = False,
        profile_memory: bool = False,
        data_process: bool = False,
        parallel_strategy: bool = False,
        start_profile: bool = True,
        hbm_ddr: bool = False,
        pcie: bool = False,
        sync_enable: bool = True,
        record_shapes: bool = False,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[Any], Any] | None = None,
        experimental_config: Any = None,
    ) -> None:
        del activities, with_stack, profile_memory, data_process, parallel_strategy, hbm_ddr, pcie, sync_enable
        del record_shapes, experimental_config
        super().__init__(start_profile=start_profile, schedule=schedule, on_trace_ready=on_trace_ready)


class mstx:
    """Marks in a profile.

    Example:
        >>> number = mstx.range_start("forward")
        >>> mstx.range_end(number)
        >>> mstx.mark("here")
    """

    _numbers = itertools.count(1)
    _open: Final[dict[int, Any]] = {}

    @staticmethod
    @python_only
    def mark(message: str, stream: Any = None, domain: str = "default") -> None:
        """Mark a moment."""
        del stream
        with jax.profiler.TraceAnnotation(message, domain=domain):
            pass

    @staticmethod
    @python_only
    def range_start(message: str, stream: Any = None, domain: str = "default") -> int:
        """Begin to mark a time; returns its number."""
        del stream
        number = next(mstx._numbers)
        mstx._open[number] = jax.profiler.TraceAnnotation(message, domain=domain)
        mstx._open[number].__enter__()
        return number

    @staticmethod
    @python_only
    def range_end(range_id: int, domain: str = "default") -> None:
        """End to mark a time."""
        del domain
        found = mstx._open.pop(range_id, None)
        if found is not None:
            found.__exit__(None, None, None)
