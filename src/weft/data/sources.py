"""Sources of rows that the program has in memory, or makes: GeneratorDataset, NumpySlicesDataset, PaddedDataset."""

from __future__ import annotations

import functools
import inspect
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from weft import dtypes
from weft.data import config
from weft.data.checks import names_of
from weft.data.chunks import Chunk, Columns, gathered, packed_values
from weft.data.conversion import Array, Row, array_of, row_of, stacked
from weft.data.dataset import Dataset
from weft.data.drawing import may_draw
from weft.data.kinds import UnionBaseDataset
from weft.data.node import InChunks, Run
from weft.data.operations import called
from weft.data.samplers import PKSampler, Places, chosen_sampler, sampler_of
from weft.data.workers import ByColumns, Job, in_order


class SourceDataset(Dataset):
    """A dataset that reads from none."""


class MappableDataset(InChunks, SourceDataset):
    """A source that knows its rows by number.

    Args:
        num_parallel_workers: how many workers it has.
        sampler: chooses rows.
        num_samples: how many rows at most.
        shuffle: whether in random order.
        num_shards: how many parts there are.
        shard_id: which of them is read.
        cache: kept.
    """

    #: whether rows come in random order where the program does not say
    shuffles = True
    #: class of the error for arguments that contradict each other
    conflict: type[Exception] = RuntimeError

    def __init__(
        self,
        num_parallel_workers: int | None = None,
        sampler: Any = None,
        num_samples: int | None = None,
        shuffle: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        super().__init__((), num_parallel_workers, cache)
        self.sampler = chosen_sampler(sampler, num_samples, shuffle, num_shards, shard_id, self.shuffles, self.conflict)

    def total(self) -> int:
        """The number of all rows."""
        raise NotImplementedError

    def row_at(self, place: int) -> Row:
        """The row with a number."""
        raise NotImplementedError

    def labels(self) -> Any:
        """The class of each row; None where the source does not know it."""
        return None

    def _prepared(self) -> Any:
        sampler = self.sampler
        if isinstance(sampler, PKSampler):
            sampler.labels = self.labels()
            if sampler.labels is None:
                raise ValueError(f"{type(self).__name__} doesn't support PKSampler.")
        return sampler

    def chunks(self, run: Run, begin: int = 0) -> Iterator[Chunk]:
        chosen = self._prepared().chosen(self.total(), run.generator(self))
        return self.chunks_at(run, chosen[begin:], begin)

    def in_memory(self) -> Sequence[Array] | None:
        """All rows of each column in one array, of which rows may be copied at any time; None where there is none."""
        return None

    def chunks_at(self, run: Run, chosen: Places, first: int = 0) -> Iterator[Chunk]:
        """Rows by their numbers.

        Args:
            run: the run.
            chosen: the numbers.
            first: how many were read before.
        """
        arrays = self.in_memory()
        if arrays is not None:
            return gathered(arrays, chosen, config.get_debug_mode())
        workers = config.workers_of(self.num_parallel_workers, True)
        return in_order(Job(self.row_at, run.entropy(self)), [chosen.tolist()], first, workers, False)

    def size(self) -> int:
        return self._prepared().count(self.total())

    def use_sampler(self, new_sampler: Any) -> None:
        """Choose rows by another sampler.

        Args:
            new_sampler: the sampler; None for all rows in order.
        """
        self.sampler = (
            chosen_sampler(None, None, False, None, None, False) if new_sampler is None else sampler_of(new_sampler)
        )
        self._sampler_changed()

    def add_sampler(self, new_sampler: Any) -> None:
        """Let another sampler choose first, among whose rows the one there is chooses.

        Args:
            new_sampler: the sampler.
        """
        self.sampler.add_child(new_sampler)
        self._sampler_changed()

    def _sampler_changed(self) -> None:
        """Note that it is what it would be if it were made with its sampler."""
        self.dataset_size = None
        args, kwargs = self.made_with
        given = inspect.signature(type(self)).bind(*args, **kwargs).arguments
        others = dict.fromkeys(given.keys() & {"num_samples", "shuffle", "num_shards", "shard_id"})
        self.made_with = ((), {**given, **others, "sampler": self.sampler})

    def is_shuffled(self) -> bool:
        return bool(self.sampler.is_shuffled())

    def is_sharded(self) -> bool:
        return bool(self.sampler.is_sharded())


class _Getter(ByColumns):
    """Rows of a source with `__getitem__`; travels to worker processes."""

    def __init__(self, source: Any, columns: int, types: list[Any] | None) -> None:
        self.source = source
        self.columns = columns
        self.types = types
        self.what = f"GeneratorDataset: [{called(source)}]"
        self.is_by_columns = types is None
        self.one = functools.partial(operator.getitem, source)

    def __call__(self, place: int) -> Row:
        try:
            value = self.source[place]
        except Exception as error:
            raise self.failed(place, error) from error
        return self.made(value)

    def arguments(self, chunk: list[int]) -> list[int]:
        return chunk

    def failed(self, argument: int, error: Exception) -> Exception:
        return RuntimeError(
            f"GeneratorDataset: [{type(self.source).__name__}.__getitem__({argument})] failed. "
            f"{type(error).__name__}: {error}"
        )

    def collected(self, chunk: list[int], found: list[Any]) -> Chunk | None:
        width = self.columns
        if set(map(type, found)) == {tuple} and set(map(len, found)) == {width}:
            columns: list[Any] = list(zip(*found, strict=True))
        elif width == 1:
            columns = [found]
        else:
            columns = []
        arrays: list[Any] = [packed_values(values) for values in columns]
        if arrays and all(array is not None for array in arrays):
            return Columns(arrays)
        return None

    def finished(self, item: int, value: Any) -> Row:
        return self.made(value)

    def made(self, value: Any) -> Row:
        """A row of what the source gave."""
        if type(value) is not tuple and isinstance(value, list):
            value = tuple(value)
        try:
            row = row_of(value, self.columns, self.what)
        except (TypeError, ValueError) as error:
            raise RuntimeError(str(error)) from error
        if self.types is not None:
            for part, wanted in zip(row, self.types, strict=False):
                if wanted is not None and part.dtype != wanted:
                    raise RuntimeError(
                        f"{self.what}: type of returned data should be same with specified column_types: "
                        f"{wanted}, but got {part.dtype}"
                    )
        return row


class GeneratorDataset(MappableDataset, UnionBaseDataset):
    """Rows that an object or function of the program gives.

    Args:
        source: an object with `__getitem__` and `__len__`, an iterable, an iterator, or a function that gives one.
        column_names: names of the columns.
        column_types: element types that are checked.
        schema: names and types of the columns instead.
        num_samples: how many rows at most.
        num_parallel_workers: how many rows of an object with `__getitem__` may be in work at once.
        shuffle: whether in random order, which an object with `__getitem__` can be read in and is, if not said.
        sampler: chooses rows.
        num_shards: how many parts there are.
        shard_id: which of them is read.
        python_multiprocessing: whether worker processes read, if there is more than one worker.
        max_rowsize: kept.
        batch_sampler: gives lists of numbers of rows, each of which becomes a batch.
        collate_fn: makes a row of the rows of a batch.

    Example:
        >>> from weft import data as ds
        >>> def squares():
        ...     for i in range(3):
        ...         yield i, i * i
        >>> for row in ds.GeneratorDataset(squares, ["x", "y"]).create_dict_iterator(num_epochs=1, output_numpy=True):
        ...     print(row["x"], row["y"])
        0 0
        1 1
        2 4
    """

    conflict = ValueError

    def __init__(
        self,
        source: Any,
        column_names: Any = None,
        column_types: Any = None,
        schema: Any = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = 1,
        shuffle: Any = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        python_multiprocessing: bool = True,
        max_rowsize: Any = None,
        batch_sampler: Any = None,
        collate_fn: Callable[[list[Any]], Any] | None = None,
    ) -> None:
        del max_rowsize
        if schema is not None:
            column_names = [column["name"] for column in schema.columns]
            column_types = [dtypes.of(column["type"]) for column in schema.columns]
        if column_names is None:
            raise ValueError("Neither columns_names nor schema are provided.")
        self._random_access = hasattr(source, "__getitem__") and hasattr(source, "__len__")
        if not self._random_access:
            if not callable(source) and not isinstance(source, Iterable) and not hasattr(source, "__next__"):
                raise TypeError(
                    "GeneratorDataset: source must have __getitem__ and __len__, be iterable, or be a function that "
                    f"gives an iterable, not {type(source).__name__}"
                )
            for name, value in (("sampler", sampler), ("num_shards", num_shards), ("batch_sampler", batch_sampler)):
                if value is not None:
                    raise ValueError(f"{name} is not supported if source does not have attribute '__getitem__'.")
            shuffle = None
        if collate_fn is not None and batch_sampler is None:
            raise ValueError("collate_fn can be specified only when batch_sampler is set.")
        self.shuffles = self._random_access
        super().__init__(num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id)
        self.source = source
        self.num_samples = num_samples or None
        self.python_multiprocessing = python_multiprocessing
        self.batch_sampler = batch_sampler
        self.collate_fn = collate_fn
        self._names = names_of("column_names", column_names)
        types = None
        if column_types is not None:
            listed = column_types if isinstance(column_types, (list, tuple)) else [column_types]
            types = [None if each is None else np.dtype(dtypes.to_np(dtypes.of(each))) for each in listed]
        self._getter = _Getter(source, len(self._names), types)

    def columns(self) -> list[str]:
        return self._names

    def total(self) -> int:
        return len(self.source)

    def reads_alone(self) -> bool:
        return False

    def chunks(self, run: Run, begin: int = 0) -> Iterator[Chunk]:
        if self.batch_sampler is not None:
            return ([row] for row in itertools.islice(self._batches(), begin, None))
        if self._random_access:
            return super().chunks(run, begin)
        return ([row] for row in itertools.islice(self._iterated(), begin, self.num_samples))

    def in_memory(self) -> Sequence[Array] | None:
        source = self.source
        return source.arrays() if type(source) is _Slices else None

    def chunks_at(self, run: Run, chosen: Places, first: int = 0) -> Iterator[Chunk]:
        if self.in_memory() is not None:
            return super().chunks_at(run, chosen, first)
        workers = config.workers_of(self.num_parallel_workers, False)
        processes = self.python_multiprocessing and workers > 1
        job = Job(self._getter, run.entropy(self), processes and may_draw(self.source))
        return in_order(job, [chosen.tolist()], first, workers, processes)

    def __getattribute__(self, name: str) -> Any:
        # a part of a split asks for rows by number; a source that is only iterable has none
        if name == "chunks_at" and not (object.__getattribute__(self, "_random_access") and self.batch_sampler is None):
            raise AttributeError(name)
        return super().__getattribute__(name)

    def _iterated(self) -> Iterator[Row]:
        source = self.source
        try:
            # a class of the program may be callable and iterable
            if hasattr(source, "__next__") and not hasattr(source, "__iter__"):
                values: Any = _Nexts(source)
            else:
                values = iter(source if isinstance(source, Iterable) else source())
            for value in values:
                yield self._getter.made(value)
        except (GeneratorExit, KeyboardInterrupt, SystemExit):
            raise
        except RuntimeError as error:
            if str(error).startswith("GeneratorDataset: "):
                raise
            raise self._failed(error) from error
        except Exception as error:
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> RuntimeError:
        return RuntimeError(f"GeneratorDataset: [{called(self.source)}] failed. {type(error).__name__}: {error}")

    def _batches(self) -> Iterator[Row]:
        for chosen in self.batch_sampler:
            if self.collate_fn is None:
                rows = [self._getter(int(place)) for place in chosen]
                columns = zip(self._names, zip(*rows, strict=True), strict=True)
                yield tuple([stacked(list(values), name) for name, values in columns])
            else:
                try:
                    found = self.collate_fn([self.source[int(place)] for place in chosen])
                except Exception as error:
                    name = called(self.collate_fn)
                    raise RuntimeError(
                        f"GeneratorDataset: collate_fn [{name}] failed. {type(error).__name__}: {error}"
                    ) from error
                yield self._getter.made(found)

    def size(self) -> int:
        if self.batch_sampler is not None:
            return len(self.batch_sampler) if hasattr(self.batch_sampler, "__len__") else self.counted()
        if self._random_access:
            return super().size()
        if hasattr(self.source, "__len__"):
            total = len(self.source)
            return total if self.num_samples is None else min(total, self.num_samples)
        return self.counted()

    def __getitem__(self, index: int) -> Any:
        return self.source[index]


class _Nexts:
    """The values of an object that has `__next__` only."""

    def __init__(self, source: Any) -> None:
        self.source = source

    def __iter__(self) -> _Nexts:
        return self

    def __next__(self) -> Any:
        return next(self.source)


class _Slices:
    """Arrays and lists side by side."""

    def __init__(self, parts: list[Any]) -> None:
        self.parts = parts

    def __len__(self) -> int:
        return len(self.parts[0])

    def arrays(self) -> list[Array] | None:
        """The parts, if they are arrays of numbers."""
        return (
            self.parts if all(type(part) is np.ndarray and part.dtype.kind in "biuf" for part in self.parts) else None
        )

    def __getitem__(self, place: int) -> tuple[Any, ...]:
        return tuple([part[place] for part in self.parts])


class NumpySlicesDataset(GeneratorDataset):
    """Slices of arrays and lists.

    Args:
        data: an array or a list, a tuple of them, or a dict of them by column.
        column_names: names of the columns; ``column_0`` and so on, or the keys of the dict, if not given.
        num_samples: how many rows at most.
        num_parallel_workers: how many rows may be in work at once.
        shuffle: whether in random order, which it is if not said.
        sampler: chooses rows.
        num_shards: how many parts there are.
        shard_id: which of them is read.

    Example:
        >>> from weft import data as ds
        >>> data = ds.NumpySlicesDataset({"x": [1, 2], "y": [[3, 4], [5, 6]]}, shuffle=False)
        >>> for row in data.create_dict_iterator(num_epochs=1, output_numpy=True):
        ...     print(row["x"], row["y"])
        1 [3 4]
        2 [5 6]
    """

    def __init__(
        self,
        data: Any,
        column_names: Any = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = 1,
        shuffle: Any = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
    ) -> None:
        if not isinstance(data, (list, tuple, dict, np.ndarray)):
            raise TypeError(f"NumpySlicesDataset: data must be a list, tuple, dict or array, not {type(data).__name__}")
        if not len(data):
            raise ValueError("Argument data cannot be empty")
        if isinstance(data, dict):
            names, parts = list(data), list(data.values())
        else:
            parts = list(data) if isinstance(data, tuple) else [data]
            names = [f"column_{number}" for number in range(len(parts))]
        if len({len(part) for part in parts}) != 1:
            raise ValueError("Data length in each column is not equal.")
        if column_names is not None:
            given = names_of("column_names", column_names)
            if len(given) != len(parts):
                raise ValueError(f"Num of input column names is {len(given)}, but required is {len(parts)}.")
            names = given
        # what stands in the program's own list may change; arrays are read where they are
        super().__init__(
            _Slices(parts),
            names,
            num_samples=num_samples,
            num_parallel_workers=num_parallel_workers,
            shuffle=shuffle,
            sampler=sampler,
            num_shards=num_shards,
            shard_id=shard_id,
            python_multiprocessing=False,
        )


class PaddedDataset(GeneratorDataset):
    """Rows given as dicts, to be appended to another dataset.

    Args:
        padded_samples: a list of dicts of arrays by column.
    """

    def __init__(self, padded_samples: list[dict[str, Any]]) -> None:
        if not padded_samples:
            raise ValueError("PaddedDataset: padded_samples must not be empty")
        names = list(padded_samples[0])
        rows = [tuple(array_of(sample[name], "PaddedDataset") for name in names) for sample in padded_samples]
        super().__init__(rows, names, shuffle=False)
