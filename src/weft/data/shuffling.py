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
#: how many rows must come together for them to be put in arrays
_WORTH_PACKING: Final = 16


def drawn_from(rows: Iterator[Row], count: int, generator: np.random.Generator) -> Iterator[Row]:
    """Rows in random order, each drawn from the next so many.

    Args:
        rows: the rows.
        count: how many are drawn from.
        generator: random numbers.
    """
    return flattened(shuffled(([row] for row in rows), count, generator))


def _places(count: int, generator: np.random.Generator) -> Iterator[int]:
    while True:
        yield from generator.integers(count, size=_AT_ONCE).tolist()


def _one_by_one(
    held: list[Row], chunks: Iterator[Chunk], places: Iterator[int], generator: np.random.Generator
) -> Iterator[Chunk]:
    """Rows in the place of which others are held from then on, and those that are held in the end."""
    for chunk in chunks:
        if len(chunk) == 1:
            place = next(places)
            yield [held[place]]
            (held[place],) = rows_of(chunk)
            continue
        given = []
        for row, place in zip(rows_of(chunk), places, strict=False):
            given.append(held[place])
            held[place] = row
        yield given
    yield [held[place] for place in generator.permutation(len(held)).tolist()]


def shuffled(chunks: Iterator[Chunk], count: int, generator: np.random.Generator) -> Iterator[Chunk]:
    """Rows in chunks, in the order of `drawn_from`, a chunk for each that comes. Rows alike are in arrays meanwhile.

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
    if type(found) is list and any(len(part) >= _WORTH_PACKING for part in parts):
        found = packed(found)
    if type(found) is Columns:
        held = Columns([array.copy() for array in found.arrays])
        for chunk in chunks:
            new = packed(chunk) if type(chunk) is list and len(chunk) >= _WORTH_PACKING else chunk
            if type(new) is not Columns or not held.is_like(new):
                chunks = itertools.chain([chunk], chunks)
                break
            yield _exchanged(held, new, np.fromiter(itertools.islice(places, len(new)), np.int64, len(new)))
        else:
            yield held.taken(generator.permutation(len(held)))
            return
        found = held
    yield from _one_by_one(list(rows_of(found)), chunks, places, generator)


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
