"""Rows that pass between the nodes of a pipeline together.

A chunk is a list of rows, or `Columns`: rows alike, whose columns are one array each, so that nothing is done for each
of them. A node hands on a chunk as soon as it has one and waits for no further rows, since a source may wait for what
the program does with those before: where each row may take its time, a chunk has one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from weft.data.conversion import Array, Row, alike, numbers_alike, stacked_alike

#: rows of more bytes are not put together where they would have to be taken apart again
_LARGEST_PACKED: Final = 4096
#: how many rows, and about how many bytes, a chunk of arrays in memory has
_MOST_ROWS: Final = 256
_MOST_BYTES: Final = 1 << 18


class Columns:
    """Rows alike.

    Args:
        arrays: for each column the rows in one array.
    """

    __slots__ = ("arrays",)

    def __init__(self, arrays: list[Array]) -> None:
        self.arrays = arrays

    def __len__(self) -> int:
        return len(self.arrays[0])

    def __reduce__(self) -> Any:
        return Columns, (self.arrays,)

    def part(self, begin: int, end: int) -> Columns:
        """Some rows that follow each other, in the same memory.

        Args:
            begin: place of the first.
            end: place after the last.
        """
        return Columns([array[begin:end] for array in self.arrays])

    def taken(self, places: Any) -> Columns:
        """Copies of some rows.

        Args:
            places: where they are.
        """
        return Columns([array.take(places, 0) for array in self.arrays])

    def rows(self) -> list[Row]:
        """The rows one by one, in the same memory."""
        return list(zip(*map(cells, self.arrays), strict=True))

    def is_like(self, other: Columns) -> bool:
        """Whether the rows of another are like these.

        Args:
            other: the other.
        """
        return len(self.arrays) == len(other.arrays) and all(
            a.dtype == b.dtype and a.shape[1:] == b.shape[1:] for a, b in zip(self.arrays, other.arrays, strict=True)
        )

    @property
    def nbytes(self) -> int:
        """How many bytes the rows have."""
        return sum(array.nbytes for array in self.arrays)


Chunk: TypeAlias = list[Row] | Columns


def cells(array: Array) -> list[Array]:
    """The rows of one column; of numbers, arrays of no dimension rather than scalars.

    Args:
        array: the column.
    """
    return list(array) if array.ndim > 1 else [array[place, ...] for place in range(len(array))]


def rows_of(chunk: Any) -> list[Any]:
    """The rows of a chunk one by one.

    Args:
        chunk: the chunk.
    """
    return chunk.rows() if type(chunk) is Columns else chunk


def part_of(chunk: Any, begin: int, end: int) -> Any:
    """Some rows of a chunk that follow each other.

    Args:
        chunk: the chunk.
        begin: place of the first.
        end: place after the last.
    """
    return chunk.part(begin, end) if type(chunk) is Columns else chunk[begin:end]


def flattened(chunks: Iterable[Chunk]) -> Iterator[Row]:
    """The rows of chunks, one after the other.

    Args:
        chunks: the chunks.
    """
    for chunk in chunks:
        yield from rows_of(chunk)


def packed(rows: list[Any]) -> Any:
    """Small rows as `Columns` where they are alike: far fewer objects to send.

    Args:
        rows: the rows, or other items, which stay as they are.
    """
    width = len(rows[0]) if rows and type(rows[0]) is tuple else 0
    if not width or any(type(row) is not tuple or len(row) != width for row in rows):
        return rows
    arrays = []
    for values in zip(*rows, strict=True):
        array = packed_column(values)
        if array is None:
            return rows
        arrays.append(array)
    return Columns(arrays)


def packed_column(values: Sequence[Any]) -> Array | None:
    """Small arrays that are alike as one array; None where they are not.

    Args:
        values: the arrays, or other values.
    """
    first = values[0]
    if type(first) is not np.ndarray or first.nbytes > _LARGEST_PACKED or not alike(values):
        return None
    return stacked_alike(values)


def packed_values(values: Sequence[Any]) -> Array | None:
    """Numbers of one type, or small arrays that are alike, as one array; None where they are neither.

    Args:
        values: the values.
    """
    if type(values[0]) is np.ndarray:
        return packed_column(values) if values[0].dtype.kind in "biuf" else None
    return numbers_alike(values)


def joined(chunks: list[Chunk]) -> Chunk:
    """The rows of several chunks as one.

    Args:
        chunks: the chunks, at least one.
    """
    first = chunks[0]
    if len(chunks) == 1:
        return first
    if all(type(chunk) is Columns and type(first) is Columns and first.is_like(chunk) for chunk in chunks):
        return Columns([np.concatenate(parts) for parts in zip(*[each.arrays for each in chunks], strict=True)])  # type: ignore[union-attr]
    return [row for chunk in chunks for row in rows_of(chunk)]


def grouped(chunks: Iterator[Chunk], size: int) -> Iterator[Chunk]:
    """The same rows in chunks of one size; the last may have fewer.

    Args:
        chunks: the chunks.
        size: how many rows.
    """
    held: list[Chunk] = []
    #: the last of them, where it is a list of this function's own
    rows: list[Row] | None = None
    missing = size
    for chunk in chunks:
        count = len(chunk)
        if count < missing:
            missing -= count
            if type(chunk) is not list:
                held.append(chunk)
                rows = None
            elif rows is None:
                rows = list(chunk)
                held.append(rows)
            else:
                rows += chunk
            continue
        begin = 0
        while count - begin >= missing:
            held.append(part_of(chunk, begin, begin + missing))
            begin += missing
            yield joined(held)
            held, rows, missing = [], None, size
        if begin < count:
            held.append(part_of(chunk, begin, count))
            missing -= count - begin
    if held:
        yield joined(held)


def after(chunks: Iterator[Chunk], count: int) -> Iterator[Chunk]:
    """The chunks without so many first rows.

    Args:
        chunks: the chunks.
        count: how many rows.
    """
    for chunk in chunks:
        if count >= len(chunk):
            count -= len(chunk)
            continue
        yield part_of(chunk, count, len(chunk)) if count else chunk
        count = 0


def first_of(chunks: Iterator[Chunk], count: int) -> Iterator[Chunk]:
    """The chunks up to so many rows.

    Args:
        chunks: the chunks.
        count: how many rows.
    """
    while count > 0:
        chunk = next(chunks, None)
        if chunk is None:
            return
        yield chunk if len(chunk) <= count else part_of(chunk, 0, count)
        count -= len(chunk)


def gathered(arrays: Sequence[Array], places: Any, one_by_one: bool) -> Iterator[Columns]:
    """Rows of arrays in memory.

    Args:
        arrays: for each column all rows.
        places: which rows, an array.
        one_by_one: whether each chunk has one row.
    """
    each = sum(array.nbytes for array in arrays) // max(1, len(arrays[0]))
    size = 1 if one_by_one else max(1, min(_MOST_ROWS, _MOST_BYTES // max(1, each)))
    for begin in range(0, len(places), size):
        chosen = places[begin : begin + size]
        yield Columns([array.take(chosen, 0) for array in arrays])
