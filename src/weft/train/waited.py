"""Callbacks of pipelines that wait for the training."""

from __future__ import annotations

import threading
from typing import Any

from weft.data import config
from weft.data.callbacks import DSCallback
from weft.train.callback import Callback


class WaitedDSCallback(Callback, DSCallback):
    """What a program wants to do in a `map` when the training has done its step, or its epoch.

    It is given to the `map` and to the training. From the second step and epoch on, the pipeline waits for the
    training before it goes on.

    Args:
        step_size: how many rows a step has.

    Raises:
        RuntimeError: the training did not come so far in the time that `config.set_callback_timeout` gives.
    """

    def __init__(self, step_size: int = 1) -> None:
        Callback.__init__(self)
        DSCallback.__init__(self, step_size)
        self._changed = threading.Condition()
        self._done = {"step": 0, "epoch": 0}
        self._ended = False
        self._train_run_context: Any = None

    def sync_epoch_begin(self, train_run_context: Any, ds_run_context: Any) -> None:
        """Called before the first row of an epoch, after the epoch of the training before.

        Args:
            train_run_context: what the training knows of itself.
            ds_run_context: what the pipeline knows of itself.
        """

    def sync_step_begin(self, train_run_context: Any, ds_run_context: Any) -> None:
        """Called before the rows of a step, after the step of the training before.

        Args:
            train_run_context: what the training knows of itself.
            ds_run_context: what the pipeline knows of itself.
        """

    def ds_epoch_begin(self, ds_run_context: Any) -> None:
        """Wait for the training, and call `sync_epoch_begin`."""
        if ds_run_context.cur_epoch_num > 1:
            self._wait("epoch", ds_run_context.cur_epoch_num - 1)
            self.sync_epoch_begin(self._train_run_context, ds_run_context)

    def ds_step_begin(self, ds_run_context: Any) -> None:
        """Wait for the training, and call `sync_step_begin`."""
        steps = (ds_run_context.cur_step_num - 1) // self.step_size
        if steps >= 1:
            self._wait("step", steps)
            self.sync_step_begin(self._train_run_context, ds_run_context)

    def on_train_step_end(self, run_context: Any) -> None:
        """Let the pipeline go on."""
        super().on_train_step_end(run_context)
        self._tell(run_context, "step")

    def on_train_epoch_end(self, run_context: Any) -> None:
        """Let the pipeline go on."""
        super().on_train_epoch_end(run_context)
        self._tell(run_context, "epoch")

    def on_train_end(self, run_context: Any) -> None:
        """Let the pipeline go on whatever it waits for."""
        super().on_train_end(run_context)
        self._ended = True
        self._tell(run_context)

    def _tell(self, run_context: Any, what: str | None = None) -> None:
        with self._changed:
            if what is not None:
                self._done[what] += 1
            self._train_run_context = run_context.original_args()
            self._changed.notify_all()

    def _wait(self, what: str, count: int) -> None:
        seconds = config.get_callback_timeout()
        with self._changed:
            if not self._changed.wait_for(lambda: self._ended or self._done[what] >= count, seconds):
                raise RuntimeError(
                    f"{type(self).__name__}: the training did not finish its {what} within {seconds} seconds; the "
                    "callback must be given to the training, too"
                )
