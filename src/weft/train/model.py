"""Model: the training and evaluation loops."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

from weft.nn.cell import Cell
from weft.nn.loss_scale import TrainOneStepWithLossScaleCell
from weft.nn.parallel import broadcast_parameters
from weft.nn.wrap import WithEvalCell, WithLossCell
from weft.parallel import rows
from weft.parallel.modes import get_device_num, get_parallel_mode, get_parameter_broadcast, is_in_auto_parallel_mode
from weft.parallel.placement import count
from weft.train.amp import auto_mixed_precision, training_step
from weft.train.callback import Callback, RunContext
from weft.train.feeding import Epochs
from weft.train.laying import lay_out, layouts, write_strategy
from weft.train.loss_scale_manager import LossScaleManager
from weft.train.metrics import Loss, Metric, metrics_of


def size_of(dataset: Any) -> int | None:
    """The number of batches, None if the dataset does not know it."""
    if hasattr(dataset, "get_dataset_size"):
        return int(dataset.get_dataset_size())
    return len(dataset) if hasattr(dataset, "__len__") else None


class Model:
    """A network with its loss, optimizer and metrics: `train`, `eval`, `fit`, `predict`.

    Args:
        network: the network; without `loss_fn` it returns the loss.
        loss_fn: called with the network's output and the label.
        optimizer: updates the network's parameters.
        metrics: a dict of metrics by name, or a set of names.
        eval_network: used by `eval` instead of the network; returns what the metrics take.
        eval_indexes: positions of loss, prediction and label among its outputs.
        amp_level: ``"O0"``, or a mixed-precision level, see `auto_mixed_precision`.
        boost_level: accepted.
        kwargs: `loss_scale_manager`; `keep_batchnorm_fp32` is accepted.

    Example:
        >>> from weft import nn
        >>> net = nn.Dense(1, 1, "ones", "zeros")
        >>> model = Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.25), metrics={"mse"})
        >>> data = [(np.ones((2, 1), np.float32), np.zeros((2, 1), np.float32))]
        >>> model.train(2, data)
        >>> model.eval(data)
        {'mse': 0.0}
    """

    def __init__(
        self,
        network: Cell,
        loss_fn: Any = None,
        optimizer: Any = None,
        metrics: Any = None,
        eval_network: Cell | None = None,
        eval_indexes: list[int] | None = None,
        amp_level: str = "O0",
        boost_level: str = "O0",
        **kwargs: Any,
    ) -> None:
        for what, value in (("network", network), ("eval_network", eval_network)):
            if not isinstance(value, Cell) and not (value is None and what == "eval_network"):
                raise TypeError(f"Model: {what} must be a Cell, not {type(value).__name__}")
        unknown = set(kwargs) - {"loss_scale_manager", "keep_batchnorm_fp32"}
        if unknown:
            raise ValueError(f"Model got unknown settings: {', '.join(sorted(unknown))}")
        del boost_level
        self._network = network if amp_level == "O0" else auto_mixed_precision(network, amp_level)
        self._loss_fn = loss_fn
        self._optimizer = optimizer
        self._metric_fns = metrics_of(metrics)
        self._eval_network = eval_network
        self._eval_indexes = eval_indexes
        self._manager: LossScaleManager | None = kwargs.get("loss_scale_manager")
        self._train_network: Cell | None = None
        self._predict_network = network
        self.epoch_iter = 0

    @property
    def train_network(self) -> Cell:
        """The cell that makes one training step."""
        if self._train_network is None:
            self._train_network = self._build_train_network()
        return self._train_network

    @property
    def predict_network(self) -> Cell:
        """The network."""
        return self._predict_network

    @property
    def eval_network(self) -> Cell:
        """The cell that evaluates one batch."""
        if self._eval_network is None:
            self._eval_network = WithEvalCell(self._network, self._loss_fn)
            self._eval_indexes = [0, 1, 2]
        return self._eval_network

    def _build_train_network(self) -> Cell:
        if self._optimizer is None:
            if self._loss_fn is not None:
                raise ValueError("Model.train needs an optimizer: Model(network, loss_fn, optimizer)")
            return self._network  # the network makes the step by itself
        network = self._network if self._loss_fn is None else WithLossCell(self._network, self._loss_fn)
        return training_step(network, self._optimizer, self._manager)

    def build(
        self,
        train_dataset: Any = None,
        valid_dataset: Any = None,
        sink_size: int = -1,
        epoch: int = 1,
        sink_mode: bool = True,
    ) -> None:
        """Make the cells that train and evaluate; their graphs are compiled by the first batch.

        Args:
            train_dataset: whether a training cell is made.
            valid_dataset: whether an evaluation cell is made.
            sink_size: accepted.
            epoch: accepted.
            sink_mode: accepted.

        Raises:
            ValueError: there is something to evaluate, but there are no metrics.
        """
        if valid_dataset is not None and not self._metric_fns:
            raise ValueError("Model.build needs metrics to evaluate: Model(..., metrics={'accuracy'})")
        _ = None if train_dataset is None else self.train_network
        _ = None if valid_dataset is None else self.eval_network

    def infer_predict_layout(self, *predict_data: Any, skip_backend_compile: bool = False) -> dict[str, Any]:
        """How devices share the parameters of the network, which are laid out so; nothing is computed.

        Args:
            predict_data: the inputs.
            skip_backend_compile: accepted.

        Returns:
            dict: for each parameter that this process has the grid of devices, the axis along which each dimension is
            cut, the shape of a slice; empty on one device.

        Raises:
            RuntimeError: the settings ask for no automatic parallel mode.
        """
        _check_mode("infer_predict_layout")
        network = self._predict_network
        network.set_train(False)
        return _laid_out("infer_predict_layout", network, predict_data)

    def infer_train_layout(
        self, train_dataset: Any, dataset_sink_mode: bool = True, sink_size: int = -1
    ) -> dict[str, Any]:
        """How devices share the parameters of the training cell, which are laid out so; nothing is computed.

        Args:
            train_dataset: iterable of batches, of which the first is read.
            dataset_sink_mode: accepted.
            sink_size: accepted.

        Returns:
            dict: for each parameter that this process has the grid of devices, the axis along which each dimension is
            cut, the shape of a slice; empty on one device.

        Raises:
            RuntimeError: the settings ask for no automatic parallel mode.
        """
        _check_mode("infer_train_layout")
        network = self.train_network
        network.set_train()
        return _laid_out("infer_train_layout", network, next(Epochs(train_dataset).epoch(), ()) if count() > 1 else ())

    def train(
        self,
        epoch: int,
        train_dataset: Iterable[Any],
        callbacks: Any = None,
        dataset_sink_mode: bool = False,
        sink_size: int = -1,
        initial_epoch: int = 0,
    ) -> None:
        """Train for a number of epochs.

        Args:
            epoch: number of the last epoch.
            train_dataset: iterable of batches, iterated anew in each epoch.
            callbacks: a Callback, or a list of them.
            dataset_sink_mode: whether `sink_size` counts; batches are fed from Python.
            sink_size: steps of an epoch, which goes on where the last one ended; -1 for all of the data.
            initial_epoch: epochs that count as done.
        """
        steps = sink_size if dataset_sink_mode else -1
        self._run(epoch, train_dataset, callbacks, steps, initial_epoch)

    def fit(
        self,
        epoch: int,
        train_dataset: Iterable[Any],
        valid_dataset: Iterable[Any] | None = None,
        valid_frequency: int | list[int] = 1,
        callbacks: Any = None,
        dataset_sink_mode: bool = False,
        valid_dataset_sink_mode: bool = False,
        sink_size: int = -1,
        initial_epoch: int = 0,
    ) -> None:
        """Train, and evaluate between epochs.

        Args:
            epoch: number of the last epoch.
            train_dataset: iterable of batches, iterated anew in each epoch.
            valid_dataset: the same for evaluation; None for none.
            valid_frequency: evaluate every so many epochs, or after the epochs in a list.
            callbacks: a Callback, or a list of them.
            dataset_sink_mode: whether `sink_size` counts.
            valid_dataset_sink_mode: accepted.
            sink_size: steps of an epoch, which goes on where the last one ended; -1 for all of the data.
            initial_epoch: epochs that count as done.
        """
        del valid_dataset_sink_mode
        steps = sink_size if dataset_sink_mode else -1
        self._run(epoch, train_dataset, callbacks, steps, initial_epoch, valid_dataset, valid_frequency)

    def _run(
        self,
        epoch: int,
        dataset: Iterable[Any],
        callbacks: Any,
        sink_size: int,
        initial_epoch: int,
        valid_dataset: Iterable[Any] | None = None,
        valid_frequency: int | list[int] = 1,
    ) -> None:
        if isinstance(epoch, bool) or not isinstance(epoch, int) or epoch < 1:
            raise ValueError(f"Model.train: epoch must be a positive int, not {epoch!r}")
        if initial_epoch < 0 or initial_epoch >= epoch:
            raise ValueError(f"Model.train: initial_epoch must be in [0, {epoch}), not {initial_epoch}")
        if iter(dataset) is dataset and epoch - initial_epoch > 1:
            raise ValueError("Model.train: the data can be iterated only once; pass a list or a dataset")
        with _entered(callbacks) as listed:
            self._train(epoch, dataset, listed, sink_size, initial_epoch, valid_dataset, valid_frequency)

    def _train(
        self,
        epoch: int,
        dataset: Iterable[Any],
        listed: list[Callback],
        sink_size: int,
        initial_epoch: int,
        valid_dataset: Iterable[Any] | None,
        valid_frequency: int | list[int],
    ) -> None:
        network = self.train_network
        network.set_train()
        if get_parameter_broadcast():
            broadcast_parameters(network)
        epochs = Epochs(dataset)
        facts = self._facts("train", network, dataset, listed)
        if sink_size != -1:
            facts.batch_num = sink_size
        facts.epoch_num = epoch
        facts.cur_step_num = initial_epoch * (facts.batch_num or 0)
        context, written = RunContext(facts), False
        _call(listed, "on_train_begin", context)
        for number in range(initial_epoch + 1, epoch + 1):
            facts.cur_epoch_num = number
            self.epoch_iter = number
            _call(listed, "on_train_epoch_begin", context)
            network.set_train()
            for batch in epochs.epoch() if sink_size == -1 else epochs.endless(sink_size):
                facts.cur_step_num += 1
                facts.train_dataset_element = batch
                _call(listed, "on_train_step_begin", context)
                facts.net_outputs = network(*batch)
                if not written:  # the first step has laid the parameters out
                    write_strategy(network)
                    written = True
                self._note_overflow(facts.net_outputs)
                _call(listed, "on_train_step_end", context)
                if context.get_stop_requested():
                    break
            if valid_dataset is not None and _is_due(number, valid_frequency):
                facts.eval_results = self._evaluate(valid_dataset, listed)
                facts.metrics = facts.eval_results
            _call(listed, "on_train_epoch_end", context)
            if context.get_stop_requested():
                break
        _call(listed, "on_train_end", context)

    def _note_overflow(self, outputs: Any) -> None:
        manager, network = self._manager, self._train_network
        scaled = isinstance(network, TrainOneStepWithLossScaleCell) and network.loss_scaling_manager is None
        if manager is not None and scaled:
            manager.update_loss_scale(bool(outputs[1]))

    def _facts(self, mode: str, network: Cell, dataset: Any, callbacks: list[Callback]) -> SimpleNamespace:
        return SimpleNamespace(
            mode=mode,
            network=self._network,
            train_network=network if mode == "train" else None,
            eval_network=network if mode == "eval" else None,
            loss_fn=self._loss_fn,
            optimizer=self._optimizer,
            metrics=None,
            eval_results=None,
            epoch_num=1,
            batch_num=size_of(dataset),
            cur_epoch_num=0,
            cur_step_num=0,
            net_outputs=None,
            list_callback=callbacks,
            train_dataset=dataset if mode == "train" else None,
            valid_dataset=dataset if mode == "eval" else None,
            parallel_mode=get_parallel_mode(),
            device_number=get_device_num(),
            dataset_sink_mode=False,
        )

    def eval(
        self, valid_dataset: Iterable[Any], callbacks: Any = None, dataset_sink_mode: bool = False
    ) -> dict[str, Any]:
        """Evaluate the metrics.

        Args:
            valid_dataset: iterable of batches.
            callbacks: a Callback, or a list of them.
            dataset_sink_mode: accepted.

        Returns:
            dict: the results by name.

        Raises:
            ValueError: the model has no metrics.
        """
        del dataset_sink_mode
        with _entered(callbacks) as listed:
            return self._evaluate(valid_dataset, listed)

    def _evaluate(self, valid_dataset: Iterable[Any], listed: list[Callback]) -> dict[str, Any]:
        if not self._metric_fns:
            raise ValueError("Model.eval needs metrics: Model(..., metrics={'accuracy'})")
        network = self.eval_network
        training = self._network.training
        network.set_train(False)
        facts = self._facts("eval", network, valid_dataset, listed)
        facts.cur_epoch_num = 1
        context = RunContext(facts)
        for metric in self._metric_fns.values():
            metric.clear()
        try:
            _call(listed, "on_eval_begin", context)
            _call(listed, "on_eval_epoch_begin", context)
            for batch in Epochs(valid_dataset).epoch():
                facts.cur_step_num += 1
                _call(listed, "on_eval_step_begin", context)
                facts.net_outputs = rows.call(lambda args, _: network(*args), batch, {})
                self._update_metrics(facts.net_outputs)
                _call(listed, "on_eval_step_end", context)
                if context.get_stop_requested():
                    break
            _call(listed, "on_eval_epoch_end", context)
            results = {name: metric.eval() for name, metric in self._metric_fns.items()}
            facts.metrics = facts.eval_results = results
            _call(listed, "on_eval_end", context)
        finally:
            network.set_train(training)
        return results

    def _update_metrics(self, outputs: Any) -> None:
        values = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
        places = self._eval_indexes
        for name, metric in self._metric_fns.items():
            metric.update(*_chosen(name, metric, values, places))

    def predict(self, *predict_data: Any) -> Any:
        """The network's output, without training behaviour.

        Args:
            predict_data: the inputs.
        """
        self._predict_network.set_train(False)
        return rows.call(lambda args, _: self._predict_network(*args), predict_data, {})


def _chosen(name: str, metric: Metric, values: Sequence[Any], places: list[int] | None) -> list[Any]:
    """The outputs of the evaluation that a metric takes."""
    if metric.indexes is not None:
        return [values[i] for i in metric.indexes]
    if places is None:
        return list(values)
    if len(places) != 3:
        raise ValueError(f"eval_indexes must hold the positions of loss, prediction and label, not {places}")
    if isinstance(metric, Loss):
        if values[places[0]] is None:
            raise ValueError(f"the metric {name!r} needs a loss: Model(network, loss_fn, ...)")
        return [values[places[0]]]
    return [values[places[1]], values[places[2]]]


def _is_due(epoch: int, frequency: int | list[int]) -> bool:
    return epoch in frequency if isinstance(frequency, (list, tuple)) else epoch % frequency == 0


@contextlib.contextmanager
def _entered(callbacks: Any) -> Iterator[list[Callback]]:
    """The callbacks of a run; each is a context, in which the run is."""
    with contextlib.ExitStack() as stack:
        listed = _callbacks(callbacks)
        for callback in listed:
            stack.enter_context(callback)
        yield listed


def _callbacks(callbacks: Any) -> list[Callback]:
    listed = [] if callbacks is None else list(callbacks) if isinstance(callbacks, (list, tuple)) else [callbacks]
    for callback in listed:
        if not isinstance(callback, Callback):
            raise TypeError(f"callbacks must be Callbacks, not {type(callback).__name__}")
    return listed


def _call(callbacks: list[Callback], moment: str, context: RunContext) -> None:
    for callback in callbacks:
        getattr(callback, moment)(context)


def _check_mode(caller: str) -> None:
    """Refuse to speak of layouts where there are none.

    Raises:
        RuntimeError: the settings ask for no automatic parallel mode.
    """
    if not is_in_auto_parallel_mode():
        raise RuntimeError(
            f"Model.{caller} needs the parallel mode 'semi_auto_parallel' or 'auto_parallel', "
            f"not {get_parallel_mode()!r}"
        )


def _laid_out(caller: str, network: Cell, inputs: Sequence[Any]) -> dict[str, Any]:
    """The layouts of parameters as the first call with these inputs makes them."""
    lay_out(network, inputs)
    write_strategy(network)
    return layouts(f"Model.{caller}", network)
