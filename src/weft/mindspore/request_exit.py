"""A callback that ends a run when somebody asks for it."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

from weft.mindir import export
from weft.train.callback import Callback, RunContext
from weft.train.serialization import save_checkpoint

__all__ = ["OnRequestExit"]


class OnRequestExit(Callback):
    """Ends a run after the step in which a signal came or a file asked for it, and saves the network.

    Args:
        save_ckpt: whether to save a checkpoint.
        save_mindir: whether to save the network as a MINDIR file, if `Cell.set_inputs` says what it takes.
        file_name: name of the files, without ending.
        directory: where they go, into a folder ``rank_0``.
        config_file: a JSON file: ``{"GracefulExit": 1}`` ends the run.
        sig: the signal.

    Raises:
        ValueError: an argument has the wrong type, or the signal cannot be waited for.

    Example:
        >>> OnRequestExit(file_name="LeNet5").file_name
        'LeNet5'
    """

    def __init__(
        self,
        save_ckpt: bool = True,
        save_mindir: bool = True,
        file_name: str = "Net",
        directory: str = "./",
        config_file: str | None = None,
        sig: int = signal.SIGTERM,
    ) -> None:
        for what, value, kind in (
            ("save_ckpt", save_ckpt, bool), ("save_mindir", save_mindir, bool), ("file_name", file_name, str),
            ("directory", directory, str), ("sig", sig, int), ("config_file", config_file or "", str),
        ):  # fmt: skip
            if not isinstance(value, kind):
                raise ValueError(f"OnRequestExit: {what} must be a {kind.__name__}, not {type(value).__name__}")
        if sig in (signal.SIGKILL, signal.SIGSTOP):
            raise ValueError(f"OnRequestExit: no process hears the signal {sig}")
        self.save_ckpt, self.save_mindir = save_ckpt, save_mindir
        self.file_name, self.directory = file_name, directory
        self.config_file, self.sig = config_file, sig
        self.exit = False
        self._before: Any = None

    def _listen(self) -> None:
        self.exit = False
        self._before = signal.signal(self.sig, self._heard)

    def _heard(self, number: int, frame: Any) -> None:
        self.exit = True

    def _asked(self) -> bool:
        if not self.exit and self.config_file and os.path.isfile(self.config_file):
            try:
                asked = json.loads(Path(self.config_file).read_text())
            except ValueError:
                return False
            self.exit = isinstance(asked, dict) and asked.get("GracefulExit") == 1
        return self.exit

    def _end(self, run_context: RunContext, facts: Any) -> None:
        if self._asked():
            self._save(facts.train_network, facts.network)
            run_context.request_stop()

    def _save(self, trained: Any, network: Any) -> None:
        path = os.path.join(self.directory, "rank_0", self.file_name)
        if self.save_ckpt:
            save_checkpoint(trained, f"{path}.ckpt")
        inputs = network.get_inputs()
        if self.save_mindir and inputs:
            export(network, *inputs, file_name=path, file_format="MINDIR")

    def on_train_begin(self, run_context: RunContext) -> None:
        """Wait for the signal."""
        self._listen()

    def on_train_step_end(self, run_context: RunContext) -> None:
        """End the run if that was asked for."""
        self._end(run_context, run_context.original_args())

    def on_train_end(self, run_context: RunContext) -> None:
        """Leave the signal to whoever had it."""
        signal.signal(self.sig, self._before)

    def on_eval_begin(self, run_context: RunContext) -> None:
        """Wait for the signal."""
        self._listen()

    def on_eval_step_end(self, run_context: RunContext) -> None:
        """End the evaluation if that was asked for."""
        if self._asked():
            run_context.request_stop()

    def on_eval_end(self, run_context: RunContext) -> None:
        """Leave the signal to whoever had it."""
        signal.signal(self.sig, self._before)
