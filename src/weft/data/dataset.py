"""What every dataset can do: its methods make operations, iterators and answers about itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from weft.data.checks import integer
from weft.data.iterators import DictIterator, TupleIterator
from weft.data.node import Node, Run


class Dataset(Node):
    """A pipeline: rows of columns, read from sources and changed by operations.

    Args:
        children: the datasets that it reads from.
        num_parallel_workers: how many workers it has; None for the setting.
        cache: kept.
    """

    def __init__(self, children: Any = None, num_parallel_workers: int | None = None, cache: Any = None) -> None:
        if children is None:
            children = ()
        super().__init__(tuple(children) if isinstance(children, (list, tuple)) else (children,))
        if num_parallel_workers is not None:
            integer(num_parallel_workers, "num_parallel_workers", 1, 1024)
        self.num_parallel_workers = num_parallel_workers
        self.cache = cache
        self._shapes: list[list[int]] | None = None
        self._types: list[Any] | None = None
        #: the number of rows of one epoch, once `get_dataset_size` was asked
        self.dataset_size: int | None = None
        self._init_step = 0
        #: the number of batches that the training loop takes at once
        self.sink_size = -1

    # operations

    def _then(self, kind: str, *args: Any, **kwargs: Any) -> Any:
        return Node.kinds[kind](self, *args, **kwargs)

    def batch(
        self,
        batch_size: int | Callable[[Any], int],
        drop_remainder: bool = False,
        num_parallel_workers: int | None = None,
        **kwargs: Any,
    ) -> Any:
        """Rows in groups, each column stacked.

        Args:
            batch_size: rows in a group, or a function of a `BatchInfo` that gives it.
            drop_remainder: whether a last group that is smaller is left out.
            num_parallel_workers: workers of `per_batch_map`.
            kwargs: `per_batch_map`: called with a list of arrays for each input column and a `BatchInfo`, gives a list
                for each output column; `input_columns`, `output_columns`; `python_multiprocessing`; `max_rowsize`.

        Example:
            >>> from weft import data as ds
            >>> [x.asnumpy().tolist() for (x,) in ds.NumpySlicesDataset([1, 2, 3], shuffle=False).batch(2)]
            [[1, 2], [3]]
        """
        return self._then("BatchDataset", batch_size, drop_remainder, num_parallel_workers, **kwargs)

    def padded_batch(
        self,
        batch_size: int | Callable[[Any], int],
        drop_remainder: bool = False,
        num_parallel_workers: int | None = None,
        pad_info: dict[str, Any] | None = None,
    ) -> Any:
        """Rows in groups, each column padded to one shape and stacked.

        Args:
            batch_size: rows in a group.
            drop_remainder: whether a last group that is smaller is left out.
            num_parallel_workers: kept.
            pad_info: for each column that is padded, its shape (None for the largest in the group) and the value.
        """
        return self._then("PaddedBatchDataset", batch_size, drop_remainder, num_parallel_workers, pad_info)

    def bucket_batch_by_length(
        self,
        column_names: list[str],
        bucket_boundaries: list[int],
        bucket_batch_sizes: list[int],
        element_length_function: Callable[..., int] | None = None,
        pad_info: dict[str, Any] | None = None,
        pad_to_bucket_boundary: bool = False,
        drop_remainder: bool = False,
    ) -> Any:
        """Groups of rows of similar length.

        Args:
            column_names: the columns that give the length.
            bucket_boundaries: where the buckets begin, after the first.
            bucket_batch_sizes: rows in a group, for each bucket.
            element_length_function: gives the length of a row; of one column it is that of its first dimension.
            pad_info: as for `padded_batch`.
            pad_to_bucket_boundary: whether dimensions that are not given are padded to the bucket's end.
            drop_remainder: whether groups that are not full are left out.
        """
        return self._then(
            "BucketBatchByLengthDataset",
            column_names,
            bucket_boundaries,
            bucket_batch_sizes,
            element_length_function,
            pad_info,
            pad_to_bucket_boundary,
            drop_remainder,
        )

    def map(
        self,
        operations: Any,
        input_columns: Any = None,
        output_columns: Any = None,
        num_parallel_workers: int | None = None,
        **kwargs: Any,
    ) -> Any:
        """Rows changed by functions.

        Args:
            operations: a function, or a list of them, each applied to what the one before returned.
            input_columns: the columns that the first is called with; as many from the left as it takes, if not given.
            output_columns: names of what the last returns; those of the input columns, if not given.
            num_parallel_workers: how many rows may be in work at once.
            kwargs: `python_multiprocessing`: whether worker processes do it; `callbacks`, `cache`, `max_rowsize`,
                `offload` are kept.

        Example:
            >>> from weft import data as ds
            >>> squares = ds.NumpySlicesDataset([1, 2, 3], ["x"], shuffle=False).map(lambda x: x * x, ["x"])
            >>> [int(x) for (x,) in squares]
            [1, 4, 9]
        """
        if kwargs.pop("column_order", None) is not None:
            raise ValueError("map takes no column_order any more: call project(...) after it")
        return self._then("MapDataset", operations, input_columns, output_columns, num_parallel_workers, **kwargs)

    def filter(
        self, predicate: Callable[..., Any], input_columns: Any = None, num_parallel_workers: int | None = None
    ) -> Any:
        """The rows for which a function says so.

        Args:
            predicate: the function.
            input_columns: the columns that it is called with; all, if not given.
            num_parallel_workers: how many rows may be in work at once.
        """
        return self._then("FilterDataset", predicate, input_columns, num_parallel_workers)

    def shuffle(self, buffer_size: int) -> Any:
        """Rows in random order, each drawn from the next `buffer_size`.

        Args:
            buffer_size: the number of rows to draw from, at least 2.
        """
        return self._then("ShuffleDataset", buffer_size)

    def repeat(self, count: int | None = None) -> Any:
        """The rows several times.

        Args:
            count: how many times; None or -1 for no end.
        """
        return self._then("RepeatDataset", count)

    def take(self, count: int = -1) -> Any:
        """The first rows.

        Args:
            count: how many; -1 for all.
        """
        return self._then("TakeDataset", count)

    def skip(self, count: int) -> Any:
        """All rows but the first.

        Args:
            count: how many are left out.
        """
        return self._then("SkipDataset", count)

    def project(self, columns: Any) -> Any:
        """Some columns, in the order given.

        Args:
            columns: their names.
        """
        return self._then("ProjectDataset", columns)

    def rename(self, input_columns: Any, output_columns: Any) -> Any:
        """The same rows with other names of columns.

        Args:
            input_columns: names that there are.
            output_columns: names that these get.
        """
        return self._then("RenameDataset", input_columns, output_columns)

    def zip(self, datasets: Any) -> Any:
        """The columns of several datasets side by side.

        Args:
            datasets: a dataset, or a tuple of them.
        """
        others = datasets if isinstance(datasets, tuple) else (datasets,)
        return Node.kinds["ZipDataset"]((self, *others))

    def concat(self, datasets: Any) -> Any:
        """The rows of several datasets one after the other.

        Args:
            datasets: a dataset, or a list of them.
        """
        others = datasets if isinstance(datasets, (list, tuple)) else [datasets]
        return Node.kinds["ConcatDataset"]([self, *others])

    def __add__(self, datasets: Any) -> Any:
        return self.concat(datasets)

    def flat_map(self, func: Callable[..., Any]) -> Any:
        """The rows of the datasets that a function gives for the rows.

        Args:
            func: called with the first column of a row as an array; gives a dataset.
        """
        if not callable(func):
            raise TypeError("flat_map: func must be a function")
        found: Any = None
        for row in self.create_tuple_iterator(num_epochs=1, output_numpy=True):
            part = func(*row)
            if not isinstance(part, Dataset):
                raise TypeError("flat_map: func must return a dataset")
            found = part if found is None else found + part
        if found is None:
            raise RuntimeError("flat_map: the dataset has no rows")
        return found

    def apply(self, apply_func: Callable[[Any], Any]) -> Any:
        """The dataset that a function makes of this one.

        Args:
            apply_func: the function.
        """
        if not callable(apply_func):
            raise TypeError("apply: apply_func must be a function")
        found = apply_func(self)
        if not isinstance(found, Dataset):
            raise TypeError("apply: apply_func must return a dataset")
        return found

    def split(self, sizes: Sequence[int] | Sequence[float], randomize: bool = True) -> tuple[Any, ...]:
        """The rows in parts that have none in common.

        Args:
            sizes: numbers of rows, or fractions that sum up to 1.
            randomize: whether the rows are shuffled before.

        Example:
            >>> from weft import data as ds
            >>> train, test = ds.NumpySlicesDataset(list(range(10)), shuffle=False).split([0.8, 0.2])
            >>> len(train), len(test)
            (8, 2)
        """
        return tuple(
            Node.kinds["SplitPart"](self, begin, size, order) for begin, size, order in self._parts(sizes, randomize)
        )

    def _parts(self, sizes: Any, randomize: bool) -> Iterator[tuple[int, int, int | None]]:
        total = self.get_dataset_size()
        counts = absolute(sizes, total)
        # all parts are of one order, whatever is set in between
        order = Run.through(self).seed if randomize else None
        begin = 0
        for count in counts:
            yield begin, count, order
            begin += count

    def sync_wait(self, condition_name: str, num_batch: int = 1, callback: Any = None) -> Any:
        """The same rows, some of them only after `sync_update` was called.

        Args:
            condition_name: a name for it.
            num_batch: how many rows go on before the first call, and after each.
            callback: called by `sync_update` with its data.
        """
        return self._then("SyncWaitDataset", condition_name, num_batch, callback)

    def sync_update(self, condition_name: str, num_batch: int | None = None, data: Any = None) -> None:
        """Let rows through `sync_wait`.

        Args:
            condition_name: its name.
            num_batch: how many rows; as many as it was given, if None.
            data: what its callback is called with.
        """
        for node in self._all():
            if getattr(node, "condition_name", None) == condition_name:
                node.release(num_batch, data)
                return
        raise RuntimeError(f"sync_update: no sync_wait is named {condition_name!r}")

    def disable_sync(self) -> None:
        """Let all rows through every `sync_wait`."""
        for node in self._all():
            if hasattr(node, "disable"):
                node.disable()

    def is_sync(self) -> bool:
        """Whether there is a `sync_wait` in the pipeline."""
        return any(hasattr(node, "condition_name") for node in self._all())

    def _all(self) -> Iterator[Any]:
        """The nodes of the tree."""
        yield self
        for child in self.children:
            if isinstance(child, Dataset):
                yield from child._all()

    # reading

    def create_tuple_iterator(
        self, columns: Any = None, num_epochs: int = -1, output_numpy: bool = False, do_copy: bool = False
    ) -> TupleIterator:
        """An iterator whose rows are lists of Tensors.

        Args:
            columns: the columns that it gives; all, if not given.
            num_epochs: how often it can be gone through; -1 for any number of times.
            output_numpy: whether it gives arrays.
            do_copy: kept; Tensors have memory of their own.
        """
        del do_copy
        shown = self if columns is None else self.project(columns)
        return TupleIterator(shown, num_epochs, output_numpy, self._init_step)

    def create_dict_iterator(
        self, num_epochs: int = -1, output_numpy: bool = False, do_copy: bool = False
    ) -> DictIterator:
        """An iterator whose rows are dicts of Tensors by column.

        Args:
            num_epochs: how often it can be gone through; -1 for any number of times.
            output_numpy: whether it gives arrays.
            do_copy: kept; Tensors have memory of their own.

        Example:
            >>> from weft import data as ds
            >>> next(ds.NumpySlicesDataset({"x": [1]}).create_dict_iterator(output_numpy=True))
            {'x': array(1)}
        """
        del do_copy
        return DictIterator(self, num_epochs, output_numpy, self._init_step)

    def __iter__(self) -> TupleIterator:
        return self.create_tuple_iterator(num_epochs=1)

    def __len__(self) -> int:
        return self.get_dataset_size()

    def __bool__(self) -> bool:
        return True

    def reset(self) -> None:
        """Nothing: each iterator starts anew."""

    def set_init_step(self, init_step: int) -> None:
        """Begin iterators after some rows, as if these had been read.

        Args:
            init_step: how many rows.
        """
        self._init_step = integer(init_step, "init_step", 0)

    def get_init_step(self) -> int:
        """What `set_init_step` set."""
        return self._init_step

    def device_que(
        self, send_epoch_end: bool = True, create_data_info_queue: bool = False, queue_name: str = ""
    ) -> Dataset:
        """The dataset itself: batches reach the device from Python."""
        del send_epoch_end, create_data_info_queue, queue_name
        return self

    # answers

    def get_dataset_size(self) -> int:
        """The number of rows of one epoch."""
        if self.dataset_size is None:
            self.dataset_size = self.size()
        return self.dataset_size

    def get_batch_size(self) -> int:
        """The number of elements in a row: that of the last `batch`, 1 without one."""
        for node in self._line():
            size = getattr(node, "batch_size", None)
            if size is not None:
                return int(size) if isinstance(size, int) else -1
        return 1

    def get_repeat_count(self) -> int:
        """How often the rows are repeated; -1 for no end."""
        count = 1
        for node in self._line():
            if isinstance(node, Node.kinds["RepeatDataset"]):
                if node.count == -1:
                    return -1
                count *= node.count
        return count

    def _line(self) -> Iterator[Any]:
        """This node and those that its rows come from, while each has one."""
        node: Any = self
        while True:
            yield node
            if len(node.children) != 1:
                return
            node = node.children[0]

    def get_col_names(self) -> list[str]:
        """The names of the columns."""
        return list(self.columns())

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return self.get_col_names()

    def _look(self) -> None:
        for row in self.rows(Run.through(self)):
            self._shapes = [list(part.shape) for part in row]
            self._types = [_type_shown(part.dtype) for part in row]
            return
        self._shapes, self._types = [], []

    def output_shapes(self, estimate: bool = False) -> list[list[Any]]:
        """The shape of each column in the first row.

        Args:
            estimate: whether to read all rows, and give None for sizes that differ.
        """
        if estimate:
            found: list[list[Any]] | None = None
            for row in self.rows(Run.through(self)):
                shapes = [list(part.shape) for part in row]
                found = shapes if found is None else [_same_sizes(a, b) for a, b in zip(found, shapes, strict=True)]
            return found or []
        if self._shapes is None:
            self._look()
        return self._shapes or []

    def output_types(self) -> list[Any]:
        """The element type of each column in the first row."""
        if self._types is None:
            self._look()
        return self._types or []

    def num_classes(self) -> int | None:
        """The number of classes, None where the sources do not know it."""
        for child in self.children:
            if isinstance(child, Dataset):
                found = child.num_classes()
                if found is not None:
                    return found
        return None

    def get_class_indexing(self) -> dict[str, Any]:
        """The number of each class by its name; empty where the sources do not know it."""
        return self.children[0].get_class_indexing() if self.children else {}  # type: ignore[attr-defined]

    def is_shuffled(self) -> bool:
        """Whether the rows come in random order."""
        return any(child.is_shuffled() for child in self.children if isinstance(child, Dataset))

    def is_sharded(self) -> bool:
        """Whether there are rows that are left to other processes."""
        return any(child.is_sharded() for child in self.children if isinstance(child, Dataset))


def absolute(sizes: Any, total: int) -> list[int]:
    """Numbers of rows of parts.

    Args:
        sizes: numbers, or fractions.
        total: the number of all rows.

    Raises:
        RuntimeError: the numbers are not those of all rows.
        ValueError: the fractions do not sum up to 1, or a size is impossible.
    """
    if not isinstance(sizes, (list, tuple)) or not sizes:
        raise ValueError("split: sizes must be a list that is not empty")
    if all(isinstance(size, int) and not isinstance(size, bool) for size in sizes):
        if any(size <= 0 for size in sizes):
            raise ValueError("split: each size must be positive")
        if sum(sizes) != total:
            raise RuntimeError(f"split: the sum of split sizes {sum(sizes)} is not equal to dataset size {total}")
        return list(sizes)
    if not all(isinstance(size, float) for size in sizes):
        raise ValueError("split: sizes must be ints or floats alike")
    if any(not 0 < size <= 1 for size in sizes) or abs(sum(sizes) - 1) > 1e-9:
        raise ValueError("split: sizes is a list of float, but the percentages do not sum up to 1")
    counts = [round(size * total) for size in sizes]
    missing = total - sum(counts)
    for place, count in enumerate(counts):
        if count + missing > 0:
            counts[place] += missing
            break
    if any(count <= 0 for count in counts):
        raise RuntimeError("split: a part would have no rows")
    return counts


def _same_sizes(left: list[Any], right: list[Any]) -> list[Any]:
    if len(left) != len(right):
        raise ValueError("output_shapes(estimate=True): the number of dimensions differs from row to row")
    return [a if a == b else None for a, b in zip(left, right, strict=True)]


def _type_shown(dtype: np.dtype[Any]) -> Any:
    return np.dtype(dtype.kind) if dtype.kind in "SU" else dtype
