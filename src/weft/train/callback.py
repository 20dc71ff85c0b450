"""Callbacks: what happens around the epochs and steps of a `Model`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from weft.core.tensor import Parameter, Tensor
from weft.nn.cell import Cell
from weft.train.serialization import save_checkpoint


class RunContext:
    """What a callback sees of a run.

    Args:
        original_args: an object with the run's facts: `cur_epoch_num`, `cur_step_num`, `net_outputs`...

    Example:
        >>> from types import SimpleNamespace
        >>> context = RunContext(SimpleNamespace(cur_epoch_num=1))
        >>> context.request_stop()
        >>> context.get_stop_requested(), context.original_args().cur_epoch_num
        (True, 1)
    """

    def __init__(self, original_args: Any) -> None:
        self._original_args = original_args
        self._stop_requested = False

    def original_args(self) -> Any:
        """The run's facts."""
        return self._original_args

    def request_stop(self) -> None:
        """End the run after this step."""
        self._stop_requested = True

    def get_stop_requested(self) -> bool:
        """Whether the run is to end."""
        return self._stop_requested


class Callback:
    """Base of the callbacks: override the moments of interest; each gets the `RunContext`.

    The older names (`begin`, `epoch_begin`, `step_end`...) are called in training and in evaluation, unless the newer
    ones (`on_train_begin`, `on_eval_begin`...) are overridden.

    Example:
        >>> class Count(Callback):
        ...     steps = 0
        ...     def on_train_step_end(self, run_context):
        ...         self.steps += 1
    """

    def __enter__(self) -> Callback:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def begin(self, run_context: RunContext) -> None:
        """Before a run."""

    def epoch_begin(self, run_context: RunContext) -> None:
        """Before an epoch."""

    def epoch_end(self, run_context: RunContext) -> None:
        """After an epoch."""

    def step_begin(self, run_context: RunContext) -> None:
        """Before a step."""

    def step_end(self, run_context: RunContext) -> None:
        """After a step."""

    def end(self, run_context: RunContext) -> None:
        """After a run."""

    def on_train_begin(self, run_context: RunContext) -> None:
        """Before training."""
        self.begin(run_context)

    def on_train_epoch_begin(self, run_context: RunContext) -> None:
        """Before an epoch of training."""
        self.epoch_begin(run_context)

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """After an epoch of training."""
        self.epoch_end(run_context)

    def on_train_step_begin(self, run_context: RunContext) -> None:
        """Before a step of training."""
        self.step_begin(run_context)

    def on_train_step_end(self, run_context: RunContext) -> None:
        """After a step of training."""
        self.step_end(run_context)

    def on_train_end(self, run_context: RunContext) -> None:
        """After training."""
        self.end(run_context)

    def on_eval_begin(self, run_context: RunContext) -> None:
        """Before evaluation."""
        self.begin(run_context)

    def on_eval_epoch_begin(self, run_context: RunContext) -> None:
        """Before the pass of an evaluation."""
        self.epoch_begin(run_context)

    def on_eval_epoch_end(self, run_context: RunContext) -> None:
        """After the pass of an evaluation."""
        self.epoch_end(run_context)

    def on_eval_step_begin(self, run_context: RunContext) -> None:
        """Before a step of evaluation."""
        self.step_begin(run_context)

    def on_eval_step_end(self, run_context: RunContext) -> None:
        """After a step of evaluation."""
        self.step_end(run_context)

    def on_eval_end(self, run_context: RunContext) -> None:
        """After evaluation."""
        self.end(run_context)


def loss_of(outputs: Any) -> float:
    """The loss among a network's outputs, as a number: the first tensor, averaged.

    Args:
        outputs: a Tensor, an array, a number, or a tuple that begins with one.
    """
    if isinstance(outputs, (tuple, list)) and outputs:
        outputs = outputs[0]
    if isinstance(outputs, Tensor):
        outputs = np.array(outputs)
    return float(np.mean(outputs))


class LambdaCallback(Callback):
    """A callback made of functions.

    Args:
        on_train_epoch_begin: called with the `RunContext`; likewise the others.
        on_train_epoch_end: after an epoch of training.
        on_train_step_begin: before a step of training.
        on_train_step_end: after a step of training.
        on_train_begin: before training.
        on_train_end: after training.
        on_eval_epoch_begin: before the pass of an evaluation.
        on_eval_epoch_end: after the pass of an evaluation.
        on_eval_step_begin: before a step of evaluation.
        on_eval_step_end: after a step of evaluation.
        on_eval_begin: before evaluation.
        on_eval_end: after evaluation.

    Example:
        >>> LambdaCallback(on_train_end=lambda run_context: print("done")).on_train_end(None)
        done
    """

    def __init__(
        self,
        on_train_epoch_begin: Callable[[Any], None] | None = None,
        on_train_epoch_end: Callable[[Any], None] | None = None,
        on_train_step_begin: Callable[[Any], None] | None = None,
        on_train_step_end: Callable[[Any], None] | None = None,
        on_train_begin: Callable[[Any], None] | None = None,
        on_train_end: Callable[[Any], None] | None = None,
        on_eval_epoch_begin: Callable[[Any], None] | None = None,
        on_eval_epoch_end: Callable[[Any], None] | None = None,
        on_eval_step_begin: Callable[[Any], None] | None = None,
        on_eval_step_end: Callable[[Any], None] | None = None,
        on_eval_begin: Callable[[Any], None] | None = None,
        on_eval_end: Callable[[Any], None] | None = None,
    ) -> None:
        given = {name: value for name, value in locals().items() if name.startswith("on_") and value is not None}
        for name, function in given.items():
            if not callable(function):
                raise TypeError(f"LambdaCallback: {name} must be callable, not {type(function).__name__}")
            setattr(self, name, function)


class LossMonitor(Callback):
    """Prints the loss, and stops at one that is no number.

    Args:
        per_print_times: print every so many steps; 0 prints after each epoch.

    Raises:
        ValueError: the loss is infinite or not a number (raised during training).

    Example:
        >>> LossMonitor(10)._per_print_times
        10
    """

    def __init__(self, per_print_times: int = 1) -> None:
        if isinstance(per_print_times, bool) or not isinstance(per_print_times, int) or per_print_times < 0:
            raise ValueError(f"LossMonitor: per_print_times must be a non-negative int, not {per_print_times!r}")
        self._per_print_times = per_print_times
        self._last = 0

    def step_end(self, run_context: RunContext) -> None:
        """Print the loss of a step."""
        facts = run_context.original_args()
        step = (facts.cur_step_num - 1) % facts.batch_num + 1 if facts.batch_num else facts.cur_step_num
        due = self._per_print_times and facts.cur_step_num - self._last >= self._per_print_times
        if not due and not (not self._per_print_times and step == facts.batch_num):
            return
        self._last = facts.cur_step_num
        loss = loss_of(facts.net_outputs)
        if not np.isfinite(loss):
            raise ValueError(f"epoch: {facts.cur_epoch_num} step: {step}. the loss is {loss}; training ends")
        print(f"epoch: {facts.cur_epoch_num} step: {step}, loss is {loss}", flush=True)

    def on_eval_step_end(self, run_context: RunContext) -> None:
        """Evaluation prints nothing."""

    def begin(self, run_context: RunContext) -> None:
        """Start counting."""
        self._last = getattr(run_context.original_args(), "cur_step_num", 0)


class TimeMonitor(Callback):
    """Prints the time of each epoch and step.

    Args:
        data_size: steps in an epoch; None takes the data's.

    Example:
        >>> TimeMonitor().data_size is None
        True
    """

    def __init__(self, data_size: int | None = None) -> None:
        if data_size is not None and (isinstance(data_size, bool) or not isinstance(data_size, int) or data_size < 1):
            raise ValueError(f"TimeMonitor: data_size must be a positive int, not {data_size!r}")
        self.data_size = data_size
        self.epoch_time = time.perf_counter()
        self._first = 0

    def epoch_begin(self, run_context: RunContext) -> None:
        """Note the time."""
        self.epoch_time = time.perf_counter()
        self._first = getattr(run_context.original_args(), "cur_step_num", 0)

    def epoch_end(self, run_context: RunContext) -> None:
        """Print the time since `epoch_begin`."""
        spent = (time.perf_counter() - self.epoch_time) * 1000
        facts = run_context.original_args()
        steps = self.data_size or getattr(facts, "cur_step_num", 0) - self._first or facts.batch_num or 1
        print(f"Train epoch time: {spent:5.3f} ms, per step time: {spent / steps:5.3f} ms", flush=True)

    def on_eval_epoch_end(self, run_context: RunContext) -> None:
        """Evaluation prints nothing."""


class History(Callback):
    """Keeps the loss of each epoch: ``history.epoch["loss"]`` and ``history.history``.

    Example:
        >>> History().history
        {}
    """

    def __init__(self) -> None:
        self.history: dict[str, list[Any]] = {}
        self.epoch: dict[str, list[int]] = {}

    def begin(self, run_context: RunContext) -> None:
        """Start empty."""
        self.epoch = {"epoch": []}

    def on_eval_begin(self, run_context: RunContext) -> None:
        """Evaluation belongs to the run."""

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Keep the loss."""
        facts = run_context.original_args()
        self.epoch.setdefault("epoch", []).append(facts.cur_epoch_num)
        self.history.setdefault("net_output", []).append(loss_of(facts.net_outputs))
        for name, value in (getattr(facts, "eval_results", None) or {}).items():
            self.history.setdefault(f"eval_{name}", []).append(value)


class EarlyStopping(Callback):
    """Ends training when a number stops getting better.

    Args:
        monitor: ``"loss"``, or the name of a metric of the evaluation that `Model.fit` runs.
        min_delta: by how much it must get better to count.
        patience: how many epochs without to wait.
        verbose: print when training ends.
        mode: ``"min"``, ``"max"``, or ``"auto"`` (by the name).

    Example:
        >>> EarlyStopping(patience=2).patience
        2
    """

    def __init__(
        self, monitor: str = "loss", min_delta: float = 0, patience: int = 0, verbose: bool = False, mode: str = "auto"
    ) -> None:
        if mode not in ("min", "max", "auto"):
            raise ValueError(f"EarlyStopping: mode must be 'min', 'max' or 'auto', not {mode!r}")
        if patience < 0:
            raise ValueError(f"EarlyStopping: patience must not be negative, got {patience}")
        self.monitor = monitor
        self.min_delta = abs(float(min_delta))
        self.patience = patience
        self.verbose = verbose
        larger = mode == "max" or (mode == "auto" and any(word in monitor.lower() for word in ("acc", "f1", "top")))
        self._sign = 1.0 if larger else -1.0
        self._best = -np.inf
        self._waited = 0

    def begin(self, run_context: RunContext) -> None:
        """Start anew."""
        self._best = -np.inf
        self._waited = 0

    def on_eval_begin(self, run_context: RunContext) -> None:
        """Evaluation belongs to the run."""

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Compare with the best so far."""
        facts = run_context.original_args()
        results = getattr(facts, "eval_results", None) or {}
        if self.monitor in results:
            value = float(results[self.monitor])
        elif self.monitor == "loss":
            value = loss_of(facts.net_outputs)
        else:
            return
        score = self._sign * value
        if score > self._best + (self.min_delta if np.isfinite(self._best) else 0):
            self._best = score
            self._waited = 0
            return
        self._waited += 1
        if self._waited >= max(self.patience, 1):
            if self.verbose:
                print(f"Epoch {facts.cur_epoch_num}: early stopping", flush=True)
            run_context.request_stop()


class CheckpointConfig:
    """When `ModelCheckpoint` saves, and how many files it keeps.

    Args:
        save_checkpoint_steps: every so many steps; None for not by steps.
        save_checkpoint_seconds: every so many seconds, if not by steps.
        keep_checkpoint_max: keep the newest of them; 0 or None keeps all.
        keep_checkpoint_per_n_minutes: accepted.
        integrated_save: see `save_checkpoint`; with False several processes need folders of their own.
        async_save: see `save_checkpoint`.
        saved_network: save this network instead of the trained one.
        append_info: further values to save: ``"epoch_num"``, ``"step_num"``, or dicts of them.
        crc_check: see `save_checkpoint`.
        format: ``"ckpt"`` or ``"safetensors"``.
        kwargs: accepted.

    Example:
        >>> CheckpointConfig(save_checkpoint_steps=10).save_checkpoint_steps
        10
    """

    def __init__(
        self,
        save_checkpoint_steps: int | None = 1,
        save_checkpoint_seconds: int | None = 0,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_per_n_minutes: int | None = 0,
        integrated_save: bool = True,
        async_save: bool = False,
        saved_network: Cell | None = None,
        append_info: list[Any] | None = None,
        crc_check: bool = False,
        format: str = "ckpt",
        **kwargs: Any,
    ) -> None:
        if format not in ("ckpt", "safetensors"):
            raise ValueError(f"CheckpointConfig: format must be 'ckpt' or 'safetensors', not {format!r}")
        for what, value in (
            ("save_checkpoint_steps", save_checkpoint_steps),
            ("save_checkpoint_seconds", save_checkpoint_seconds),
            ("keep_checkpoint_max", keep_checkpoint_max),
        ):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
                raise ValueError(f"CheckpointConfig: {what} must be a non-negative int or None, not {value!r}")
        if not save_checkpoint_steps and not save_checkpoint_seconds:
            raise ValueError("CheckpointConfig needs save_checkpoint_steps or save_checkpoint_seconds")
        if saved_network is not None and not isinstance(saved_network, Cell):
            raise TypeError(f"CheckpointConfig: saved_network must be a Cell, not {type(saved_network).__name__}")
        self.save_checkpoint_steps = save_checkpoint_steps
        self.save_checkpoint_seconds = save_checkpoint_seconds
        self.keep_checkpoint_max = keep_checkpoint_max
        self.keep_checkpoint_per_n_minutes = keep_checkpoint_per_n_minutes
        self.integrated_save = integrated_save
        self.async_save = async_save
        self.saved_network = saved_network
        self.append_info = list(append_info or [])
        self.crc_check = crc_check
        self.format = format
        self.settings = kwargs


def _trained(facts: Any) -> list[Any]:
    """What a run trains: the parameters of the network and the optimizer, and the buffers of the network."""
    buffers = [item for item in facts.network.state_dict().items() if not isinstance(item[1], Parameter)]
    return [*facts.train_network.get_parameters(), *[{"name": name, "data": value} for name, value in buffers]]


class ModelCheckpoint(Callback):
    """Saves the network and the optimizer while they train, as ``prefix-epoch_step.ckpt``.

    Args:
        prefix: start of the file names.
        directory: folder; None is the current one.
        config: when to save.

    Example:
        >>> ModelCheckpoint("net").latest_ckpt_file_name
        ''
    """

    def __init__(
        self, prefix: str = "CKP", directory: str | None = None, config: CheckpointConfig | None = None
    ) -> None:
        if not isinstance(prefix, str) or "/" in prefix or not prefix:
            raise ValueError(f"ModelCheckpoint: prefix must be a file name without '/', not {prefix!r}")
        if config is not None and not isinstance(config, CheckpointConfig):
            raise TypeError(f"ModelCheckpoint: config must be a CheckpointConfig, not {type(config).__name__}")
        self._prefix = prefix
        self._directory = Path(os.getcwd() if directory is None else directory)
        self._config = config or CheckpointConfig()
        self._saved: list[Path] = []
        self._last_step = 0
        self._last_time = time.monotonic()

    @property
    def latest_ckpt_file_name(self) -> str:
        """The newest file, empty before the first."""
        return str(self._saved[-1]) if self._saved else ""

    def begin(self, run_context: RunContext) -> None:
        """Start counting."""
        self._last_step = getattr(run_context.original_args(), "cur_step_num", 0)
        self._last_time = time.monotonic()

    def on_eval_begin(self, run_context: RunContext) -> None:
        """Evaluation saves nothing."""

    def on_eval_step_end(self, run_context: RunContext) -> None:
        """Evaluation saves nothing."""

    def on_eval_end(self, run_context: RunContext) -> None:
        """Evaluation saves nothing."""

    def step_end(self, run_context: RunContext) -> None:
        """Save if it is time."""
        facts = run_context.original_args()
        config = self._config
        if config.save_checkpoint_steps:
            due = facts.cur_step_num >= self._last_step + config.save_checkpoint_steps
        else:
            due = time.monotonic() - self._last_time >= (config.save_checkpoint_seconds or 0)
        if due:
            self._save(facts)

    def end(self, run_context: RunContext) -> None:
        """Save what the last save did not see."""
        facts = run_context.original_args()
        if facts.cur_step_num != self._last_step:
            self._save(facts)

    def _save(self, facts: Any) -> None:
        self._last_step = facts.cur_step_num
        self._last_time = time.monotonic()
        step = (facts.cur_step_num - 1) % facts.batch_num + 1 if facts.batch_num else facts.cur_step_num
        path = self._directory / f"{self._prefix}-{facts.cur_epoch_num}_{step}.{self._config.format}"
        append: dict[str, Any] = {}
        for item in self._config.append_info:
            if item in ("epoch_num", "step_num"):
                append[item] = facts.cur_epoch_num if item == "epoch_num" else facts.cur_step_num
            elif isinstance(item, dict):
                append.update(item)
        saved = self._config.saved_network or _trained(facts)
        save_checkpoint(
            saved,
            path,
            self._config.integrated_save,
            self._config.async_save,
            append_dict=append or None,
            crc_check=self._config.crc_check,
            format=self._config.format,
        )
        if path in self._saved:
            self._saved.remove(path)
        self._saved.append(path)
        keep = self._config.keep_checkpoint_max
        while keep and len(self._saved) > keep:
            self._saved.pop(0).unlink(missing_ok=True)


class LearningRateScheduler(Callback):
    """Changes the learning rate before the next step.

    Args:
        learning_rate_function: called with the learning rate and the number of steps, gives the next learning rate.

    Raises:
        ValueError: the optimizer's learning rate is no number that can be assigned to (raised during training).

    Example:
        >>> scheduler = LearningRateScheduler(lambda rate, step: rate * 0.5 if step % 10 == 0 else rate)
        >>> scheduler.learning_rate_function(1.0, 10)
        0.5
    """

    def __init__(self, learning_rate_function: Callable[[float, int], float]) -> None:
        if not callable(learning_rate_function):
            raise TypeError(
                f"LearningRateScheduler: {type(learning_rate_function).__name__} is no function of the rate and step"
            )
        self.learning_rate_function = learning_rate_function

    def step_end(self, run_context: RunContext) -> None:
        """Set the learning rate of the next step."""
        facts = run_context.original_args()
        rate = getattr(facts.optimizer, "learning_rate", None)
        if not isinstance(rate, Parameter) or rate.ndim:
            raise ValueError("LearningRateScheduler needs an optimizer whose learning rate is one number")
        following = self.learning_rate_function(float(rate.asnumpy()), facts.cur_step_num)
        rate.set_data(Tensor(float(following), rate.dtype))

    def on_eval_step_end(self, run_context: RunContext) -> None:
        """Evaluation changes no rate."""
