"""Iterators over datasets: epochs of rows as lists or dicts of Tensors, which can be resumed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from weft.capture.python.users import users_code
from weft.data import config
from weft.data.ahead import Ahead
from weft.data.conversion import Row, given
from weft.data.node import Node, Run


class DatasetIterator:
    """The rows of a dataset, one epoch after the other.

    Each epoch ends with `StopIteration`; what is read after that is the next epoch.

    Args:
        dataset: the dataset.
        num_epochs: how many epochs there are; -1 for any number.
        output_numpy: whether arrays are given instead of Tensors.
        init_step: rows that count as read.
    """

    def __init__(self, dataset: Node, num_epochs: int = -1, output_numpy: bool = False, init_step: int = 0) -> None:
        if isinstance(num_epochs, bool) or not isinstance(num_epochs, int):
            raise TypeError(f"num_epochs must be an int, not {type(num_epochs).__name__}")
        if num_epochs != -1 and num_epochs < 1:
            raise ValueError(f"num_epochs should be either -1 or a positive int, not {num_epochs}")
        self._dataset = dataset
        names = dataset.columns()
        #: places and names of the columns that are given: those of metadata are not, until they are renamed
        self._given = [(place, name) for place, name in enumerate(names) if not name.startswith("_meta-")]
        self._num_epochs = num_epochs
        self._as_arrays = bool(output_numpy)
        self._run = Run.through(dataset)
        #: whether nothing of the program is run for the rows
        self._quiet = dataset.reads_alone() and users_code((dataset,)) is None
        self._epoch = 0
        self._row = 0
        self._rows: Any = None
        if init_step:
            size = max(1, dataset.size())
            self._epoch, self._row = divmod(init_step, size)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._rows is None:
            self._begin()
        try:
            row = next(self._rows)
        except StopIteration:
            self._end()
            self._epoch += 1
            self._row = 0
            raise
        except BaseException:
            self._end()
            raise
        self._row += 1
        return self._shown(row)

    def _begin(self) -> None:
        if self._num_epochs != -1 and self._epoch >= self._num_epochs:
            raise RuntimeError(f"the iterator is at its end: it was made for num_epochs={self._num_epochs}")
        dataset, run, begin = self._dataset, self._run.anew(self._epoch), self._row
        if config.get_debug_mode():
            self._rows = dataset.rows(run, begin)
        else:
            self._rows = Ahead(lambda: dataset.rows(run, begin), config.get_prefetch_size(), run.stopped, self._quiet)

    def _end(self) -> None:
        rows, self._rows = self._rows, None
        if rows is not None and hasattr(rows, "close"):
            rows.close()

    def _shown(self, row: Row) -> Any:
        raise NotImplementedError

    def get_state(self) -> dict[str, int]:
        """Where the iterator is: the seed, the epoch, and how many of its rows were read.

        Example:
            >>> from weft import data as ds
            >>> rows = ds.NumpySlicesDataset([5, 6, 7], ["x"], shuffle=False).create_dict_iterator(output_numpy=True)
            >>> first = next(rows)
            >>> rows.get_state()["row"]
            1
        """
        return {"seed": self._run.seed, "epoch": self._epoch, "row": self._row}

    def set_state(self, state: dict[str, int]) -> None:
        """Go on where an iterator over the same dataset was.

        Args:
            state: what its `get_state` gave.
        """
        self._end()
        self._run = Run.through(self._dataset, state["seed"])
        self._epoch, self._row = state["epoch"], state["row"]

    def get_col_names(self) -> list[str]:
        """The names of the columns."""
        return [name for _, name in self._given]

    def stop(self) -> None:
        """End what was started for it."""
        self._end()
        self._epoch = max(self._num_epochs, 0)

    def release(self) -> None:
        """End what was started for it."""
        self.stop()


class TupleIterator(DatasetIterator):
    """Rows as lists, in the order of the columns."""

    def _shown(self, row: Row) -> list[Any]:
        return [given(row[place], self._as_arrays) for place, _ in self._given]


class DictIterator(DatasetIterator):
    """Rows as dicts by column."""

    def _shown(self, row: Row) -> dict[str, Any]:
        return {name: given(row[place], self._as_arrays) for place, name in self._given}
