"""Sources that read files row by row: TextFileDataset, CSVDataset, and what record files have in common with them."""

from __future__ import annotations

import csv
import glob
import itertools
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from weft.data import config
from weft.data.checks import integer, names_of
from weft.data.conversion import Row
from weft.data.kinds import TextBaseDataset, UnionBaseDataset
from weft.data.node import Run
from weft.data.samplers import Shuffle
from weft.data.shuffling import drawn_from
from weft.data.sources import SourceDataset

#: how many rows a global shuffle draws from
_BUFFER = 10000


def files_of(patterns: Any) -> list[str]:
    """The files that patterns match, in order.

    Args:
        patterns: a path or pattern, or a list of them.

    Raises:
        ValueError: a pattern matches none.
    """
    listed = [patterns] if isinstance(patterns, (str, os.PathLike)) else list(patterns)
    found: list[str] = []
    unmatched = []
    for pattern in listed:
        text = os.path.expanduser(os.fspath(pattern))
        matches = [text] if os.path.isfile(text) else sorted(filter(os.path.isfile, glob.glob(text, recursive=True)))
        if not matches:
            unmatched.append(text)
        found.extend(matches)
    if unmatched:
        raise ValueError(f"The following patterns did not match any files: {unmatched}.")
    return found


class FilesDataset(SourceDataset):
    """Rows of files.

    Args:
        dataset_files: paths or patterns.
        num_samples: how many rows at most.
        num_parallel_workers: from how many files rows are taken in turn.
        shuffle: a `Shuffle`, or whether rows come in random order.
        num_shards: how many parts there are.
        shard_id: which of them is read.
        cache: kept.
    """

    def __init__(
        self,
        dataset_files: Any,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: Any = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        super().__init__((), num_parallel_workers, cache)
        self.dataset_files = files_of(dataset_files)
        if num_samples is not None:
            integer(num_samples, "num_samples", 0)
        if not isinstance(shuffle, (bool, Shuffle)) and shuffle is not None:
            raise TypeError("shuffle must be of boolean or enum of 'Shuffle' values like 'Shuffle.GLOBAL'.")
        if (num_shards is None) != (shard_id is None):
            raise RuntimeError("num_shards and shard_id need to be passed in together.")
        if num_shards is not None and shard_id is not None and integer(shard_id, "shard_id", 0) >= num_shards:
            raise ValueError(f"shard_id {shard_id} must be smaller than num_shards {num_shards}")
        self.num_samples = num_samples or None
        in_order = shuffle in (False, Shuffle.FALSE)
        self.order: Any = None if in_order else Shuffle.GLOBAL if shuffle in (True, None) else shuffle
        self.num_shards = num_shards
        self.shard_id = shard_id
        self._counts: list[int] | None = None

    def rows_in(self, path: str) -> Iterator[Row]:
        """The rows of a file."""
        raise NotImplementedError

    def rows_counted(self, path: str) -> int:
        """The number of rows of a file."""
        return sum(1 for _ in self.rows_in(path))

    def parts(self) -> list[tuple[str, int, int | None]]:
        """The files with the first row that is read of each, and the one after the last."""
        if self.num_shards is None or self.shard_id is None:
            return [(path, 0, None) for path in self.dataset_files]
        each = -(-self._total() // self.num_shards)
        begin, end = self.shard_id * each, (self.shard_id + 1) * each
        found: list[tuple[str, int, int | None]] = []
        before = 0
        for path, count in zip(self.dataset_files, self._counted(), strict=True):
            first, last = max(begin - before, 0), min(end - before, count)
            if first < last:
                found.append((path, first, last))
            before += count
        return found

    def _counted(self) -> list[int]:
        if self._counts is None:
            self._counts = [self.rows_counted(path) for path in self.dataset_files]
        return self._counts

    def _total(self) -> int:
        return sum(self._counted())

    def all_rows(self, run: Run) -> Iterator[Row]:
        generator = run.generator(self)
        parts = self.parts()
        if self.order in (Shuffle.GLOBAL, Shuffle.FILES, Shuffle.ADAPTIVE, Shuffle.PARTIAL):
            parts = [parts[place] for place in generator.permutation(len(parts)).tolist()]
        lines: list[Iterator[Row]] = [itertools.islice(self.rows_in(path), first, last) for path, first, last in parts]
        if self.order == Shuffle.INFILE:
            lines = [iter(drawn_from(line, _BUFFER, generator)) for line in lines]
        found: Iterator[Row] = _in_turn(lines, self.num_parallel_workers or config.get_num_parallel_workers())
        if self.order in (Shuffle.GLOBAL, Shuffle.ADAPTIVE, Shuffle.PARTIAL):
            found = drawn_from(found, _BUFFER, generator)
        return found if self.num_samples is None else itertools.islice(found, self.num_samples)

    def size(self) -> int:
        counts = dict(zip(self.dataset_files, self._counted(), strict=True))
        total = sum((counts[path] if last is None else last) - first for path, first, last in self.parts())
        return total if self.num_samples is None else min(total, self.num_samples)

    def is_shuffled(self) -> bool:
        return self.order is not None

    def is_sharded(self) -> bool:
        return self.num_shards is not None and self.num_shards > 1


def _in_turn(lines: list[Iterator[Row]], workers: int) -> Iterator[Row]:
    """Rows of several files in turn; each of so many workers reads its files one after the other."""
    waiting = [itertools.chain.from_iterable(lines[worker::workers]) for worker in range(min(workers, len(lines)))]
    while waiting:
        left = []
        for line in waiting:
            for row in line:
                yield row
                left.append(line)
                break
        waiting = left


class TextFileDataset(FilesDataset, TextBaseDataset):
    """The lines of text files that are not empty, in the column ``text``.

    Args:
        dataset_files: paths or patterns.
        num_samples: how many rows at most.
        num_parallel_workers: from how many files lines are taken in turn.
        shuffle: a `Shuffle`, or whether rows come in random order.
        num_shards: how many parts there are.
        shard_id: which of them is read.
        cache: kept.
    """

    def columns(self) -> list[str]:
        return ["text"]

    def rows_in(self, path: str) -> Iterator[Row]:
        with open(path, encoding="utf-8", newline="\n") as stream:
            for line in stream:
                text = line.rstrip("\r\n")
                if text:
                    yield (np.asarray(text),)


class CSVDataset(FilesDataset, UnionBaseDataset):
    """The lines of files of values separated by commas.

    Args:
        dataset_files: paths or patterns.
        field_delim: what separates values.
        column_defaults: a value for each column where a line has none, which says the type too; texts, if not given.
        column_names: names of the columns; what the first line of the first file says, if not given.
        num_samples: how many rows at most.
        num_parallel_workers: from how many files lines are taken in turn.
        shuffle: a `Shuffle`, or whether rows come in random order.
        num_shards: how many parts there are.
        shard_id: which of them is read.
        cache: kept.
    """

    def __init__(
        self,
        dataset_files: Any,
        field_delim: str = ",",
        column_defaults: list[Any] | None = None,
        column_names: Any = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: Any = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        super().__init__(dataset_files, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)
        if not isinstance(field_delim, str) or len(field_delim) != 1:
            raise ValueError("field_delim should be a single character.")
        self._delimiter = field_delim
        self._headed = column_names is None
        self._names = self._header() if column_names is None else names_of("column_names", column_names)
        self._defaults = [""] * len(self._names) if column_defaults is None else list(column_defaults)
        for each in self._defaults:
            if not isinstance(each, (int, float, str)):
                raise TypeError("column type in column_defaults is invalid: a value must be an int, a float or a str.")

    def _header(self) -> list[str]:
        with open(self.dataset_files[0], encoding="utf-8", newline="") as stream:
            for fields in csv.reader(stream, delimiter=self._delimiter):
                return names_of("column_names", fields)
        raise RuntimeError(f"CSVDataset: {self.dataset_files[0]} is empty, and no column_names are given")

    def columns(self) -> list[str]:
        return self._names

    def rows_in(self, path: str) -> Iterator[Row]:
        with open(path, encoding="utf-8", newline="") as stream:
            lines = csv.reader(stream, delimiter=self._delimiter)
            for number, fields in enumerate(lines):
                if not fields or (self._headed and number == 0):
                    continue
                if len(fields) != len(self._names):
                    where = f"{path}, line {lines.line_num}"
                    raise RuntimeError(f"CSVDataset: {where}: {len(fields)} values for {len(self._names)} columns")
                yield tuple([self._value(field, place, path, lines.line_num) for place, field in enumerate(fields)])

    def _value(self, field: str, place: int, path: str, line: int) -> np.ndarray[Any, Any]:
        default = self._defaults[place]
        if isinstance(default, str):
            return np.asarray(field or default)
        try:
            if isinstance(default, float):
                return np.asarray(float(field) if field else default, np.float32)
            return np.asarray(int(float(field)) if field else default, np.int32)
        except ValueError as error:
            raise RuntimeError(
                f"CSVDataset: {path}, line {line}: {field!r} in column {self._names[place]!r} is no number"
            ) from error
