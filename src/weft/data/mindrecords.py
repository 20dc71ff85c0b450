"""MindDataset: the rows of MindRecord files as a source."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from weft.data.checks import integer
from weft.data.conversion import Row
from weft.data.kinds import UnionBaseDataset
from weft.data.mindrecord.reader import Records
from weft.data.samplers import (
    BuiltinSampler,
    DistributedSampler,
    PKSampler,
    Places,
    RandomSampler,
    SequentialSampler,
    Shuffle,
    sampler_of,
)
from weft.data.sources import MappableDataset


class _ByFile(BuiltinSampler):
    """All rows: files in random order, or the rows of each file.

    Args:
        counts: how many rows each file has.
        files: whether it is the files whose order is random.
    """

    def __init__(self, counts: list[int], files: bool) -> None:
        super().__init__()
        self.counts = counts
        self.files = files

    def places(self, size: int, generator: np.random.Generator) -> Places:
        counts = [*self.counts, size - sum(self.counts)]
        stretches = np.split(np.arange(size), np.cumsum(counts)[:-1])
        if self.files:
            return np.concatenate([stretches[place] for place in generator.permutation(len(stretches))])
        return np.concatenate([generator.permutation(stretch) for stretch in stretches])

    def is_shuffled(self) -> bool:
        return True


def _checked(dataset_files: Any) -> str | list[str]:
    listed = dataset_files if isinstance(dataset_files, list) else [dataset_files]
    for path in listed:
        if not isinstance(path, str):
            raise TypeError(f"path: {path} is not string")
        if not os.path.isfile(path):
            raise ValueError(f"The file {os.path.abspath(path)} does not exist or permission denied!")
    return dataset_files if isinstance(dataset_files, (str, list)) else listed


class MindDataset(MappableDataset, UnionBaseDataset):
    """The rows of MindRecord files, which `mindrecord.FileWriter` writes.

    A number is an array of no dimension, a text too; bytes are an array of one element of an element type as long.

    Args:
        dataset_files: the path of a file, for all files that were written together, or a list of paths of files.
        columns_list: names of the fields that are read, in this order; all in the order of the names, if not given.
        num_parallel_workers: how many rows may be in work at once.
        shuffle: a `Shuffle`, or whether in random order, which it is if not said.
        num_shards: how many parts there are.
        shard_id: which of them is read.
        sampler: chooses rows.
        padded_sample: a row that comes `num_padded` times after the others: values by name.
        num_padded: how many times; with them, the number of rows must be a multiple of `num_shards`.
        num_samples: how many rows at most.
        cache: kept.

    Raises:
        ValueError: a file is missing, or an argument contradicts another.
        RuntimeError: a file is damaged, there is no such field, or an argument needs another.

    Example:
        >>> import os, tempfile
        >>> from weft import data
        >>> from weft.data.mindrecord import FileWriter
        >>> path = os.path.join(tempfile.mkdtemp(), "labels.mindrecord")
        >>> writer = FileWriter(path)
        >>> writer.add_schema({"label": {"type": "int32"}})
        >>> writer.write_raw_data([{"label": label} for label in (5, 6, 7)])
        >>> writer.commit()
        >>> [int(label) for (label,) in data.MindDataset(path, shuffle=False)]
        [5, 6, 7]
    """

    def __init__(
        self,
        dataset_files: str | list[str],
        columns_list: list[str] | None = None,
        num_parallel_workers: int | None = None,
        shuffle: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        sampler: Any = None,
        padded_sample: dict[str, Any] | None = None,
        num_padded: int | None = None,
        num_samples: int | None = None,
        cache: Any = None,
    ) -> None:
        files = _checked(dataset_files)
        if shuffle is not None and not isinstance(shuffle, (bool, Shuffle)):
            raise TypeError(
                "shuffle must be of boolean or enum of 'Shuffle' values like 'Shuffle.ADAPTIVE' or 'Shuffle.GLOBAL' or "
                "'Shuffle.PARTIAL' or 'Shuffle.FILES' or 'Shuffle.INFILE'."
            )
        _check_sharding(num_shards, shard_id)
        if sampler is not None and shuffle is not None:
            raise RuntimeError("sampler and shuffle cannot be specified at the same time.")
        if sampler is not None and num_shards is not None:
            raise RuntimeError("sampler and sharding cannot be specified at the same time.")
        _check_padding(columns_list, padded_sample, num_padded)
        if num_samples is not None:
            integer(num_samples, "num_samples", 0, float("inf"))
            if sampler is not None:
                raise ValueError("num_samples and sampler cannot be specified at the same time.")
        super().__init__(num_parallel_workers, None, None, False, None, None, cache)
        self.dataset_files = files
        self._records: Records | None = None
        self._asked = list(columns_list) if columns_list else None
        self._padded = padded_sample
        self._num_padded = num_padded or 0
        self.num_shards = num_shards
        self._order = shuffle
        self._limits = (num_samples, num_shards, shard_id)
        self.sampler = None if sampler is None else sampler_of(sampler)
        if self.sampler is None and shuffle not in (Shuffle.FILES, Shuffle.INFILE):
            self.sampler = self._sampler_for(shuffle not in (False, Shuffle.FALSE), None)

    def _sampler_for(self, random: bool, child: Any) -> Any:
        num_samples, num_shards, shard_id = self._limits
        found: Any = RandomSampler(num_samples=num_samples) if random else SequentialSampler(num_samples=num_samples)
        if num_shards is not None and shard_id is not None:
            found = DistributedSampler(num_shards, shard_id, random, num_samples)
        found.add_child(child)
        return found

    def _read(self) -> Records:
        if self._records is None:
            records = Records(self.dataset_files)
            records.asked(self._asked or [])
            if self.num_shards and self._num_padded and (len(records) + self._num_padded) % self.num_shards:
                raise RuntimeError(
                    f"Invalid data, the size of dataset and padded samples: {self._num_padded} can not be divisible by "
                    "the value of 'num_shards'. Please adjust the value of 'num_padded'."
                )
            if self.sampler is None:
                self.sampler = self._sampler_for(False, _ByFile(records.counts, self._order is Shuffle.FILES))
            self._records = records
        return self._records

    def columns(self) -> list[str]:
        return self._asked or list(self._read().fields.content)

    def total(self) -> int:
        return len(self._read()) + self._num_padded

    def _prepared(self) -> Any:
        self._read()
        return super()._prepared()

    def row_at(self, place: int) -> Row:
        records = self._read()
        names = self.columns()
        if place >= len(records):
            row = self._padded or {}
        else:
            row = records.row(place, None if set(names) & set(records.fields.blobs) else "raw")
        return tuple([_as_array(row[name], records.fields.content[name]) for name in names])

    def labels(self) -> Any:
        name = self.sampler.class_column if isinstance(self.sampler, PKSampler) else ""
        records = self._read()
        if name not in records.fields.raws:
            raise RuntimeError(
                f"Invalid data, 'class_column': {name} can not found in fields of mindrecord files. Please check "
                "'class_column' in PKSampler."
            )
        padded = [] if self._padded is None or name not in self._padded else [self._padded[name]] * self._num_padded
        return [*records.column(name), *padded]


def _check_sharding(num_shards: Any, shard_id: Any) -> None:
    if num_shards is not None and shard_id is None:
        raise RuntimeError("num_shards is specified and currently requires shard_id as well.")
    if num_shards is None and shard_id is not None:
        raise RuntimeError("shard_id is specified but num_shards is not.")
    if num_shards is not None:
        integer(num_shards, "num_shards")
        integer(shard_id, "shard_id", 0, num_shards - 1)


def _check_padding(columns_list: Any, padded_sample: Any, num_padded: Any) -> None:
    if padded_sample is not None:
        if not isinstance(padded_sample, dict):
            raise TypeError("padded_sample must be a dict.")
        if num_padded is None:
            raise RuntimeError("padded_sample is specified and requires num_padded as well.")
        if not columns_list:
            raise RuntimeError("padded_sample is specified and requires columns_list as well.")
        if any(name not in padded_sample for name in columns_list):
            raise ValueError("padded_sample cannot match columns_list.")
    if num_padded is not None:
        if isinstance(num_padded, bool) or not isinstance(num_padded, int):
            raise TypeError("num_padded must be an int.")
        if num_padded < 0:
            raise ValueError("num_padded cannot be less than 0.")
        if padded_sample is None:
            raise RuntimeError("num_padded is specified but padded_sample is not.")


def _as_array(value: Any, said: dict[str, Any]) -> np.ndarray[Any, Any]:
    if isinstance(value, np.ndarray):
        # a row is its reader's own: what changes it must not change the next epoch
        return value.astype(said["type"])
    if isinstance(value, bytes):
        return np.array([value], f"S{max(len(value), 1)}")
    if isinstance(value, str):
        return np.asarray(value)
    return np.asarray(value, said["type"])
