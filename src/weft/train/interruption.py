"""Callbacks for runs that stand still, or that were interrupted."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from weft.core.tensor import Parameter, Tensor
from weft.train.callback import Callback, RunContext, loss_of
from weft.train.loading import load_checkpoint, load_param_into_net
from weft.train.serialization import save_checkpoint

_LARGER = ("acc", "f1", "top")


class ReduceLROnPlateau(Callback):
    """Lowers the learning rate when a number stops getting better.

    Args:
        monitor: ``"loss"``, ``"eval_loss"``, or the name of a metric of the evaluation that `Model.fit` runs.
        factor: the rate is multiplied by this, less than 1.
        patience: how many epochs without to wait.
        verbose: print when the rate is lowered.
        mode: ``"min"``, ``"max"``, or ``"auto"`` (by the name).
        min_delta: by how much it must get better to count.
        cooldown: how many epochs after it was lowered do not count.
        min_lr: the least rate.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: an argument is out of range.

    Example:
        >>> ReduceLROnPlateau(patience=2).factor
        0.1
    """

    def __init__(
        self,
        monitor: str = "eval_loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: bool = False,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0,
    ) -> None:
        name = "ReduceLROnPlateau"
        for what, value, kinds in (
            ("monitor", monitor, str), ("factor", factor, float), ("patience", patience, int),
            ("verbose", verbose, bool), ("min_delta", min_delta, (int, float)), ("cooldown", cooldown, int),
            ("min_lr", min_lr, (int, float)),
        ):  # fmt: skip
            if not isinstance(value, kinds):
                raise TypeError(f"{name}: {what} has the wrong type: {value!r}")
        for what, number in (("patience", patience), ("cooldown", cooldown), ("min_lr", min_lr), ("factor", factor)):
            if number < 0:
                raise ValueError(f"{name}: {what} must not be negative, not {number}")
        if factor >= 1:
            raise ValueError(f"{name}: factor must be less than 1, not {factor}")
        if mode not in ("min", "max", "auto"):
            raise ValueError(f"{name}: mode must be 'min', 'max' or 'auto', not {mode!r}")
        self.monitor, self.factor, self.patience, self.verbose = monitor, factor, patience, verbose
        self.mode, self.min_delta, self.cooldown, self.min_lr = mode, abs(min_delta), cooldown, min_lr
        larger = mode == "max" or (mode == "auto" and any(word in monitor.lower() for word in _LARGER))
        self._sign = 1.0 if larger else -1.0
        self._begin()

    def _begin(self) -> None:
        self.wait = self.cooldown_counter = 0
        self._best = -np.inf

    def on_train_begin(self, run_context: RunContext) -> None:
        """Start anew."""
        self._begin()

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Compare with the best so far.

        Raises:
            ValueError: the rate of the optimizer is no number that can be written.
        """
        facts = run_context.original_args()
        value = monitored(self.monitor, facts)
        if value is None:
            return
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.wait = 0
        if self._sign * value > self._best + self.min_delta:
            self._best = self._sign * value
            self.wait = 0
        elif self.cooldown_counter <= 0:
            self.wait += 1
            if self.wait >= self.patience:
                self._lower(facts)
                self.cooldown_counter = self.cooldown
                self.wait = 0

    def _lower(self, facts: Any) -> None:
        rate = getattr(getattr(facts, "optimizer", None), "learning_rate", None)
        if not isinstance(rate, Parameter):
            raise ValueError("ReduceLROnPlateau: the learning rate of the optimizer must be one Parameter")
        before = float(rate.value().item())
        if before > self.min_lr:
            after = max(before * self.factor, self.min_lr)
            rate.set_data(Tensor(after, rate.dtype))
            if self.verbose:
                print(f"Epoch {facts.cur_epoch_num}: the learning rate is now {after}", flush=True)


def monitored(name: str, facts: Any) -> float | None:
    """The number of an epoch that a callback looks at, None where there is none.

    Args:
        name: ``"loss"`` for that of training, or a metric, of the evaluation, perhaps behind ``eval_``.
        facts: the run's facts.

    Returns:
        float: the number.

    Example:
        >>> from types import SimpleNamespace
        >>> monitored("eval_acc", SimpleNamespace(eval_results={"acc": 0.5}))
        0.5
    """
    results = getattr(facts, "eval_results", None) or {}
    for known in (name, name.removeprefix("eval_")):
        if known in results and (known != "loss" or name != "loss"):
            return float(results[known])
    return loss_of(facts.net_outputs) if name == "loss" else None


class BackupAndRestore(Callback):
    """Saves the network of a run, and begins with what an interrupted run saved.

    Args:
        backup_dir: the folder.
        save_freq: ``"epoch"``, or after how many epochs it is saved.
        delete_checkpoint: whether the file goes when training has ended.

    Raises:
        ValueError: an argument has the wrong type.

    Example:
        >>> import tempfile
        >>> BackupAndRestore(tempfile.mkdtemp()).save_freq
        1
    """

    def __init__(self, backup_dir: str, save_freq: Any = "epoch", delete_checkpoint: bool = True) -> None:
        if not isinstance(backup_dir, str):
            raise ValueError(f"BackupAndRestore: backup_dir must be a str, not {type(backup_dir).__name__}")
        if save_freq != "epoch" and (isinstance(save_freq, bool) or not isinstance(save_freq, int)):
            raise ValueError(f"BackupAndRestore: save_freq must be 'epoch' or an int, not {save_freq!r}")
        if not isinstance(delete_checkpoint, bool):
            raise ValueError(f"BackupAndRestore: delete_checkpoint must be a bool, not {delete_checkpoint!r}")
        self.backup_dir = backup_dir
        self.save_freq = 1 if save_freq == "epoch" else max(save_freq, 1)
        self.delete_checkpoint = delete_checkpoint
        self.backup_file = os.path.join(backup_dir, "backup.ckpt")

    def on_train_begin(self, run_context: RunContext) -> None:
        """Load what was saved."""
        if os.path.isfile(self.backup_file):
            facts = run_context.original_args()
            load_param_into_net(facts.train_network, load_checkpoint(self.backup_file))

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Save."""
        facts = run_context.original_args()
        if facts.cur_epoch_num % self.save_freq == 0:
            save_checkpoint(facts.train_network, self.backup_file, append_dict={"epoch_num": facts.cur_epoch_num})

    def on_train_end(self, run_context: RunContext) -> None:
        """Remove the file."""
        if self.delete_checkpoint and os.path.isfile(self.backup_file):
            os.remove(self.backup_file)
