"""How batches reach a network: epochs of a dataset, and what MindSpore calls sinking.

MindSpore's sinks keep the host out of the loop; here the ordinary loop runs, whose steps wait for no batch: pipelines
read ahead, and the device works while Python goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from weft.core.tensor import Tensor
from weft.nn.cell import Cell

__all__ = ["DatasetHelper", "connect_network_with_dataset", "data_sink"]


def parts_of(item: Any) -> tuple[Any, ...]:
    """A batch as a tuple of Tensors.

    Args:
        item: a tuple, list, dict, or single array.
    """
    if isinstance(item, dict):
        parts: Sequence[Any] = list(item.values())
    else:
        parts = item if isinstance(item, (tuple, list)) else (item,)
    return tuple([part if isinstance(part, Tensor) else Tensor(np.asarray(part)) for part in parts])


class Epochs:
    """The batches of a dataset, one epoch after the other.

    Args:
        dataset: an iterable of batches, or an object with ``create_tuple_iterator()``, which is asked once, so that
            it shuffles anew for each epoch.
    """

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self._source: Any = None
        self._going: Iterator[Any] | None = None

    def epoch(self) -> Iterator[tuple[Any, ...]]:
        """The batches of the next epoch, from its start."""
        if self._source is None or not hasattr(self._dataset, "create_tuple_iterator") or self._going is not None:
            self._begin()
        self._going = iter(self._source)
        for item in self._going:
            yield parts_of(item)
        self._going = None

    def _begin(self) -> None:
        dataset = self._dataset
        asked = hasattr(dataset, "create_tuple_iterator")
        self._source = dataset.create_tuple_iterator() if asked else dataset

    def endless(self, count: int) -> Iterator[tuple[Any, ...]]:
        """The next so many batches, going on where the last ones ended, from one epoch into the next.

        Args:
            count: how many.
        """
        for _ in range(count):
            try:
                item = next(self._continued())
            except StopIteration:
                self._going = None
                try:
                    item = next(self._continued())
                except StopIteration:
                    raise ValueError("the dataset has no batches") from None
            yield parts_of(item)

    def _continued(self) -> Iterator[Any]:
        if self._going is None:
            if self._source is None:
                self._begin()
            self._going = iter(self._source)
        return self._going


class DatasetHelper:
    """The batches of a dataset for a loop of the program.

    Args:
        dataset: the dataset.
        dataset_sink_mode: whether the network of `connect_network_with_dataset` takes the batches by itself; the loop
            over the helper then gives no inputs.
        sink_size: batches of an epoch; -1 for all.
        epoch_num: how many epochs there are.

    Example:
        >>> helper = DatasetHelper([(np.ones(2, np.float32),)], dataset_sink_mode=False)
        >>> [tuple(x.shape) for (x,) in helper]
        [(2,)]
    """

    def __init__(self, dataset: Any, dataset_sink_mode: bool = True, sink_size: int = -1, epoch_num: int = 1) -> None:
        if not isinstance(dataset_sink_mode, bool):
            raise TypeError(f"DatasetHelper: dataset_sink_mode must be a bool, not {type(dataset_sink_mode).__name__}")
        if isinstance(sink_size, bool) or not isinstance(sink_size, int) or sink_size < -1 or sink_size == 0:
            raise ValueError(f"DatasetHelper: sink_size must be -1 or positive, not {sink_size}")
        del epoch_num
        self._dataset = dataset
        self._sinks = dataset_sink_mode
        self._sink_size = sink_size
        self._epochs = Epochs(dataset)
        self._waiting: tuple[Any, ...] | None = None

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        limited = self._sinks and self._sink_size != -1
        for batch in self._epochs.endless(self._sink_size) if limited else self._epochs.epoch():
            if self._sinks:
                self._waiting = batch
                yield ()
            else:
                yield batch

    def taken(self) -> tuple[Any, ...]:
        """The batch that the loop has come to.

        Raises:
            RuntimeError: it was taken before.
        """
        batch, self._waiting = self._waiting, None
        if batch is None:
            raise RuntimeError("the network has no batch: call it once in each round of a loop over the DatasetHelper")
        return batch

    def sink_size(self) -> int:
        """The number of batches in a round: one."""
        return 1

    def types_shapes(self) -> tuple[Any, Any]:
        """Element types and shapes of a batch."""
        return self._dataset.output_types(), self._dataset.output_shapes()

    def get_data_info(self) -> tuple[Any, Any]:
        """Element types and shapes of a batch."""
        return self.types_shapes()

    def stop_send(self) -> None:
        """Nothing: no queue is filled."""

    def release(self) -> None:
        """Nothing: no queue is filled."""

    def continue_send(self) -> None:
        """Nothing: no queue is filled."""


class _Connected(Cell):
    """A network that takes its inputs from a helper."""

    def __init__(self, network: Cell, helper: DatasetHelper) -> None:
        super().__init__(auto_prefix=False)
        self.network = network
        self._helper = helper

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.network(*args, **kwargs) if args or kwargs else self.network(*self._helper.taken())


def connect_network_with_dataset(network: Cell, dataset_helper: DatasetHelper) -> Cell:
    """A network that takes its inputs from a helper whose data is sunk.

    Args:
        network: the network.
        dataset_helper: the helper.

    Returns:
        Cell: called without inputs, once in each round of a loop over the helper. The network itself where the helper
            gives the inputs.

    Example:
        >>> helper = DatasetHelper([(Tensor([1.0, 2.0]),), (Tensor([3.0, 4.0]),)])
        >>> network = connect_network_with_dataset(nn.ReLU(), helper)
        >>> for _ in helper:
        ...     print(network())
        [1. 2.]
        [3. 4.]
    """
    return _Connected(network, dataset_helper) if dataset_helper._sinks else network


def data_sink(
    fn: Callable[..., Any], dataset: Any, sink_size: int = 1, jit_config: Any = None, input_signature: Any = None
) -> Callable[[], Any]:
    """A function that calls another with the next batches of a dataset.

    Args:
        fn: called with a batch.
        dataset: the dataset, which begins anew when it has ended.
        sink_size: how many batches each call takes.
        jit_config: where given, `fn` should be compiled; decorate it with `jit` for that.
        input_signature: accepted.

    Returns:
        Callable: gives what the last call gave.

    Example:
        >>> step = data_sink(lambda x: x + 1, [(Tensor([1.0]),), (Tensor([2.0]),)])
        >>> print(step(), step(), step())
        [2.] [3.] [2.]
    """
    del input_signature, jit_config
    if isinstance(sink_size, bool) or not isinstance(sink_size, int) or sink_size < 1:
        raise ValueError(f"data_sink: sink_size must be a positive int, not {sink_size!r}")
    epochs = Epochs(dataset)

    def sunk() -> Any:
        found = None
        for batch in epochs.endless(sink_size):
            found = fn(*batch)
        return found

    return sunk
