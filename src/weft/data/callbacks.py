"""Callbacks of pipelines, and a cache: classes that programs derive from or make."""

from __future__ import annotations

from typing import Any

from weft.data.checks import integer


class DSCallback:
    """What a program wants to do while a `map` runs; called in the order of the rows.

    Args:
        step_size: after how many rows the methods for steps are called.
    """

    def __init__(self, step_size: int = 1) -> None:
        self.step_size = integer(step_size, "step_size")

    def ds_begin(self, ds_run_context: Any) -> None:
        """Called before the first row."""

    def ds_epoch_begin(self, ds_run_context: Any) -> None:
        """Called before the first row of an epoch."""

    def ds_epoch_end(self, ds_run_context: Any) -> None:
        """Called after the last row of an epoch."""

    def ds_step_begin(self, ds_run_context: Any) -> None:
        """Called before each `step_size`-th row."""

    def ds_step_end(self, ds_run_context: Any) -> None:
        """Called after each `step_size`-th row."""


class DatasetCache:
    """A cache for datasets; kept, and without effect: rows are read anew.

    Args:
        session_id: number of the session.
        size: how much memory it may take.
        spilling: whether it may use the disk.
        hostname: where its server is.
        port: which port that has.
        num_connections: how many connections there are.
        prefetch_size: how many rows are asked for at once.
    """

    def __init__(
        self,
        session_id: int,
        size: int = 0,
        spilling: bool = False,
        hostname: str | None = None,
        port: int | None = None,
        num_connections: int | None = None,
        prefetch_size: int | None = None,
    ) -> None:
        self.session_id = session_id
        self.size = size
        self.spilling = spilling
        self.hostname = hostname
        self.port = port
        self.num_connections = num_connections
        self.prefetch_size = prefetch_size
