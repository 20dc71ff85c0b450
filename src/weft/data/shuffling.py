"""Rows in random order, each drawn from so many that come next."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from weft.data.chunks import Chunk, Columns, flattened, joined, packed, part_of, rows_of
from weft.data.conversion import Row

#: how many places are drawn at once
_AT_ONCE: Final = 1024


def drawn_from(rows: Iterator[Row], count: int, generator: np.random.Generator) -> Iterator[Row]:
    """Rows in random order, each drawn from the next so many.

    Args:
        rows: the rows.
        count: how many are drawn from.
        generator: random numbers.
    """
    held = list(itertools.islice(rows, count))
    return _one_by_one(held, rows, _places(count, generator), generator)


def _places(count: int, generator: np.random.Generator) -> Iterator[int]:
    while True:
        yield from generator.integers(count, size=_AT_ONCE).tolist()


def _one_by_one(
    held: list[Row], rows: Iterator[Row], places: Iterator[int], generator: np.random.Generator
) -> Iterator[Row]:
    """Rows in the place of which others are held from then on, and those that are held in the end."""
    for row in rows:
        place = next(places)
        yield held[place]
        held[place] = row
    for place in generator.permutation(len(held)).tolist():
        yield held[place]


def shuffled(chunks: Iterator[Chunk], count: int, generator: np.random.Generator) -> Iterator[Chunk]:
    """Rows in chunks, in the order of `drawn_from`. Rows alike stay in arrays, a chunk for each that comes.

    Args:
        chunks: the rows.
        count: how many are drawn from.
        generator: random numbers.
    """
    parts, chunks = _begun(chunks, count)
    if not parts:
        return
    places = _places(count, generator)
    found = joined(parts)
    if type(found) is list and any(type(part) is Columns for part in parts):
        found = packed(found)
    if type(found) is Columns:
        held = Columns([array.copy() for array in found.arrays])
        for chunk in chunks:
            new = packed(chunk) if type(chunk) is list else chunk
            if type(new) is not Columns or not held.is_like(new):
                chunks = itertools.chain([chunk], chunks)
                break
            yield _exchanged(held, new, np.fromiter(itertools.islice(places, len(new)), np.int64, len(new)))
        else:
            yield held.taken(generator.permutation(len(held)))
            return
        found = held
    for row in _one_by_one(list(rows_of(found)), flattened(chunks), places, generator):
        yield [row]


def _begun(chunks: Iterator[Chunk], count: int) -> tuple[list[Chunk], Iterator[Chunk]]:
    """The chunks of the first so many rows, and the others."""
    parts: list[Chunk] = []
    for chunk in chunks:
        if len(chunk) > count:
            parts.append(part_of(chunk, 0, count))
            return parts, itertools.chain([part_of(chunk, count, len(chunk))], chunks)
        parts.append(chunk)
        count -= len(chunk)
        if not count:
            break
    return parts, chunks


def _exchanged(held: Columns, new: Columns, places: np.ndarray[Any, np.dtype[np.int64]]) -> Columns:
    """The rows at some places, each of which is the next new row from then on."""
    # a place may be drawn again: then the row there is the new one of the time before
    order = np.argsort(places, kind="stable")
    again = np.diff(places[order]) == 0
    later, earlier = order[1:][again], order[:-1][again]
    last = order[np.append(~again, True)]
    given = held.taken(places)
    for array, old, fresh in zip(given.arrays, held.arrays, new.arrays, strict=True):
        array[later] = fresh[earlier]
        old[places[last]] = fresh[last]
    return given
