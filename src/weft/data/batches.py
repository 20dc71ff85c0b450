"""Operations that put rows together: batch, padded_batch, bucket_batch_by_length."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from weft.data import config
from weft.data.checks import integer, names_of, places
from weft.data.chunks import Chunk, Columns, flattened, grouped, packed, rows_of
from weft.data.conversion import Row, array_of, stacked
from weft.data.dataset import Dataset
from weft.data.drawing import may_draw
from weft.data.kinds import UnionBaseDataset
from weft.data.node import InChunks, Run
from weft.data.operations import called, takes
from weft.data.workers import Job, in_order


class BatchInfo:
    """Where in the data a batch is.

    Args:
        batch_num: number of the batch in its epoch.
        epoch_num: number of the epoch.
    """

    def __init__(self, batch_num: int = 0, epoch_num: int = 0) -> None:
        self._batch_num = batch_num
        self._epoch_num = epoch_num

    def get_batch_num(self) -> int:
        """The number of the batch in its epoch, from 0."""
        return self._batch_num

    def get_epoch_num(self) -> int:
        """The number of the epoch, from 0."""
        return self._epoch_num


class _Batched:
    """What `batch` does to a group of rows; travels to worker processes."""

    def __init__(
        self,
        columns: list[str],
        function: Callable[..., Any] | None,
        inputs: list[int],
        outputs: list[str],
        kept: list[int],
        pads: dict[int, tuple[Any, Any]],
    ) -> None:
        self.columns = columns
        self.function = function
        self.inputs = inputs
        self.outputs = outputs
        self.kept = kept
        self.pads = pads

    def __call__(self, group: tuple[Chunk, BatchInfo]) -> Row:
        chunk, info = group
        rows = rows_of(chunk)
        if self.function is None:
            return tuple([self._one(list(values), place) for place, values in enumerate(zip(*rows, strict=True))])
        try:
            found = self.function(*[[row[place] for row in rows] for place in self.inputs], info)
        except Exception as error:
            raise RuntimeError(
                f"batch operation: per_batch_map [{called(self.function)}] failed. {type(error).__name__}: {error}"
            ) from error
        values = found if isinstance(found, tuple) else (found,)
        if len(values) != len(self.outputs):
            raise RuntimeError(
                f"batch operation: per_batch_map [{called(self.function)}] returned {len(values)} columns, "
                f"but there are {len(self.outputs)} output_columns"
            )
        made = [self._made(value, name) for value, name in zip(values, self.outputs, strict=True)]
        return (*made, *(self._one([row[place] for row in rows], place) for place in self.kept))

    def _one(self, values: list[np.ndarray[Any, Any]], place: int) -> np.ndarray[Any, Any]:
        pad = self.pads.get(place)
        if pad is not None:
            values = padded(values, *pad, self.columns[place])
        return stacked(values, self.columns[place])

    @staticmethod
    def _made(value: Any, column: str) -> np.ndarray[Any, Any]:
        what = "batch operation: per_batch_map"
        if isinstance(value, (list, tuple)) and value:
            return stacked([array_of(each, what) for each in value], column)
        return array_of(value, what)


class BatchDataset(InChunks, UnionBaseDataset):
    """See `Dataset.batch`."""

    def __init__(
        self,
        input_dataset: Dataset,
        batch_size: int | Callable[[BatchInfo], int],
        drop_remainder: bool = False,
        num_parallel_workers: int | None = None,
        per_batch_map: Callable[..., Any] | None = None,
        input_columns: Any = None,
        output_columns: Any = None,
        python_multiprocessing: bool = False,
        max_rowsize: Any = None,
        pad_info: dict[str, Any] | None = None,
    ) -> None:
        del max_rowsize
        super().__init__(input_dataset, num_parallel_workers)
        if not callable(batch_size):
            integer(batch_size, "batch_size")
        if not isinstance(drop_remainder, bool):
            raise TypeError(f"drop_remainder must be a bool, not {type(drop_remainder).__name__}")
        self.batch_size = batch_size
        self.drop_remainder = drop_remainder
        self.per_batch_map = per_batch_map
        self.python_multiprocessing = python_multiprocessing
        self.pad_info = pad_info
        self._asked = None if not input_columns else names_of("input_columns", input_columns)
        self._given = None if not output_columns else names_of("output_columns", output_columns)
        if per_batch_map is None and self._given is not None:
            raise ValueError("batch: output_columns need per_batch_map")

    def _layout(self) -> tuple[list[int], list[str], list[int]]:
        before = self.children[0].columns()
        if self._asked is not None:
            names = self._asked
        else:
            # a function takes its input columns and the BatchInfo
            count = takes(self.per_batch_map)
            names = before if count is None else before[: max(0, count - 1)]
        inputs = places(before, names, "batch")
        outputs = names if self._given is None else self._given
        kept = [place for place in range(len(before)) if place not in inputs and before[place] not in outputs]
        return inputs, outputs, kept

    def columns(self) -> list[str]:
        before = self.children[0].columns()
        if self.per_batch_map is None:
            return before
        inputs, outputs, kept = self._layout()
        if len(inputs) != len(outputs):
            return [*outputs, *(before[place] for place in kept)]
        renamed = dict(zip(inputs, outputs, strict=True))
        return [renamed.get(place, before[place]) for place in sorted([*inputs, *kept])]

    def chunks(self, run: Run, begin: int = 0) -> Iterator[Chunk]:
        before = self.children[0].columns()
        pads = pads_of(self.pad_info, before)
        if self.per_batch_map is None and not pads and isinstance(self.batch_size, int):
            return self._stacked(run, begin, self.batch_size, before)
        if self.per_batch_map is None:
            layout: tuple[list[int], list[str], list[int]] = ([], [], [])
        else:
            layout = self._layout()
        inputs, outputs, kept = layout
        batched = _Batched(before, self.per_batch_map, inputs, outputs, kept, pads)
        job = Job(batched, run.entropy(self), self.python_multiprocessing and may_draw(self.per_batch_map))
        workers = 1 if self.per_batch_map is None else config.workers_of(self.num_parallel_workers, False)
        groups = ([group] for group in self._groups(run, begin))
        made = in_order(job, groups, begin, workers, self.python_multiprocessing and workers > 1)
        order = [*inputs, *kept]
        if len(inputs) != len(outputs) or order == sorted(order):
            return made
        back = sorted(range(len(order)), key=order.__getitem__)
        return ([tuple([row[place] for place in back])] for row in flattened(made))

    def _stacked(self, run: Run, begin: int, size: int, columns: list[str]) -> Iterator[Chunk]:
        """Batches that are nothing but their rows."""
        for group in grouped(self.children[0].chunks(run, begin * size), size):
            if len(group) < size and self.drop_remainder:
                return
            if isinstance(group, Columns):
                yield [tuple(group.arrays)]
            else:
                yield [tuple(map(stacked, map(list, zip(*group, strict=True)), columns))]

    def _groups(self, run: Run, begin: int) -> Iterator[tuple[Chunk, BatchInfo]]:
        child = self.children[0]
        if isinstance(self.batch_size, int):
            groups = grouped(child.chunks(run, begin * self.batch_size), self.batch_size)
            for number, group in enumerate(groups, begin):
                if len(group) < self.batch_size and self.drop_remainder:
                    return
                # worker processes get arrays rather than rows
                sent = packed(group) if self.python_multiprocessing and isinstance(group, list) else group
                yield sent, BatchInfo(number, run.epoch)
            return
        source = child.rows(run)
        for number in itertools.count():
            info = BatchInfo(number, run.epoch)
            size = self._sized(info)
            rows = list(itertools.islice(source, size))
            if len(rows) < size and (self.drop_remainder or not rows):
                return
            if number >= begin:
                yield rows, info

    def _sized(self, info: BatchInfo) -> int:
        size: Any = self.batch_size(info)  # type: ignore[operator]
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
            raise RuntimeError(f"batch operation: batch_size returned {size!r}, which is no positive int")
        return int(size)

    def size(self) -> int:
        if not isinstance(self.batch_size, int):
            return sum(1 for _ in self._groups(Run.through(self), 0))
        size = self.children[0].size()
        return size // self.batch_size if self.drop_remainder else -(-size // self.batch_size)


class PaddedBatchDataset(BatchDataset):
    """See `Dataset.padded_batch`."""

    def __init__(
        self,
        input_dataset: Dataset,
        batch_size: int | Callable[[BatchInfo], int],
        drop_remainder: bool = False,
        num_parallel_workers: int | None = None,
        pad_info: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(
            input_dataset,
            batch_size,
            drop_remainder,
            num_parallel_workers,
            pad_info={} if pad_info is None else pad_info,
        )


def pads_of(pad_info: dict[str, Any] | None, columns: list[str]) -> dict[int, tuple[Any, Any]]:
    """Shapes and values by the places of columns.

    Args:
        pad_info: for each column its shape and value; empty for all columns.
        columns: the columns that there are.
    """
    if pad_info is None:
        return {}
    if not pad_info:
        return dict.fromkeys(range(len(columns)), (None, None))
    for value in pad_info.values():
        if not isinstance(value, tuple) or len(value) != 2:
            raise TypeError("pad_info: a column's value must be a tuple of a shape and a value")
    return {columns.index(name): value for name, value in pad_info.items() if places(columns, [name], "pad_info")}


def padded(arrays: list[np.ndarray[Any, Any]], shape: Any, value: Any, column: str) -> list[np.ndarray[Any, Any]]:
    """Arrays filled up, or cut, to one shape.

    Args:
        arrays: the arrays.
        shape: the shape, None in it for the largest size; None for the largest of all dimensions.
        value: what is filled in; 0 or the empty text if None.
        column: name of their column, for messages.
    """
    rank = arrays[0].ndim
    if any(each.ndim != rank for each in arrays):
        raise RuntimeError(f"padded_batch: the number of dimensions in column {column!r} differs")
    wanted = [None] * rank if shape is None else list(shape)
    if len(wanted) != rank:
        raise RuntimeError(
            f"padded_batch: pad_info for column {column!r} has {len(wanted)} dimensions, its rows {rank}"
        )
    whole_shape = tuple(
        [
            max(each.shape[axis] for each in arrays) if size in (None, -1) else int(size)
            for axis, size in enumerate(wanted)
        ]
    )
    made = []
    for each in arrays:
        if each.shape == whole_shape:
            made.append(each)
            continue
        if each.dtype.kind in "US":
            fill: Any = np.array("" if value is None else value, each.dtype.kind)
            target = np.full(whole_shape, fill, np.promote_types(each.dtype, fill.dtype))
        else:
            target = np.full(whole_shape, 0 if value is None else value, each.dtype)
        part = tuple([slice(min(a, b)) for a, b in zip(each.shape, whole_shape, strict=True)])
        target[part] = each[part]
        made.append(target)
    return made


class BucketBatchByLengthDataset(UnionBaseDataset):
    """See `Dataset.bucket_batch_by_length`."""

    def __init__(
        self,
        input_dataset: Dataset,
        column_names: Any,
        bucket_boundaries: list[int],
        bucket_batch_sizes: list[int],
        element_length_function: Callable[..., int] | None = None,
        pad_info: dict[str, Any] | None = None,
        pad_to_bucket_boundary: bool = False,
        drop_remainder: bool = False,
    ) -> None:
        super().__init__(input_dataset)
        self._names = names_of("column_names", column_names)
        for each in bucket_boundaries:
            integer(each, "bucket_boundaries")
        if not bucket_boundaries or any(a >= b for a, b in itertools.pairwise(bucket_boundaries)):
            raise ValueError("bucket_boundaries should be strictly increasing, and not empty")
        for each in bucket_batch_sizes:
            integer(each, "bucket_batch_sizes")
        if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
            raise ValueError("bucket_batch_sizes must contain one element more than bucket_boundaries")
        if element_length_function is None and len(self._names) != 1:
            raise ValueError("If element_length_function is not specified, exactly one column name should be passed in")
        self._boundaries = list(bucket_boundaries)
        self._sizes = list(bucket_batch_sizes)
        self._length = element_length_function
        self._pad_info = pad_info
        self._to_boundary = pad_to_bucket_boundary
        self._drop = drop_remainder

    def _measured(self, values: list[np.ndarray[Any, Any]]) -> int:
        if self._length is None:
            return values[0].shape[0] if values[0].ndim else 1
        try:
            return int(self._length(*values))
        except Exception as error:
            raise RuntimeError(
                f"bucket_batch_by_length operation: [{called(self._length)}] failed. {type(error).__name__}: {error}"
            ) from error

    def all_rows(self, run: Run) -> Iterator[Row]:
        before = self.children[0].columns()
        inputs = places(before, self._names, "bucket_batch_by_length")
        pads = {} if self._pad_info is None else pads_of(self._pad_info, before)
        buckets: list[list[Row]] = [[] for _ in self._sizes]
        for row in self.children[0].rows(run):
            length = self._measured([row[place] for place in inputs])
            number = sum(length >= boundary for boundary in self._boundaries)
            bucket = buckets[number]
            bucket.append(row)
            if len(bucket) == self._sizes[number]:
                yield self._made(bucket, number, before, pads)
                buckets[number] = []
        if not self._drop:
            for number, bucket in enumerate(buckets):
                if bucket:
                    yield self._made(bucket, number, before, pads)

    def _made(self, bucket: list[Row], number: int, columns: list[str], pads: dict[int, tuple[Any, Any]]) -> Row:
        if self._to_boundary and number < len(self._boundaries):
            end = self._boundaries[number] - 1
            pads = {
                place: ([end if size is None else size for size in shape] if shape is not None else None, value)
                for place, (shape, value) in pads.items()
            }
        return _Batched(columns, None, [], [], [], pads)((bucket, BatchInfo()))

    def size(self) -> int:
        return self.counted()
