"""Pictures, in text, of where the elements of a tensor lie."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from weft.core.tensor import Tensor, data_of
from weft.core.transparency import python_only
from weft.ir.graph import Value
from weft.parallel.holdings import Bounds, Placement, each_dimension, placed
from weft.parallel.layout import Layout
from weft.parallel.processes import processes

#: columns that a drawing may have; what is wider is a list
_WIDTH: Final = 120
#: numbers that follow one another from which on only the first and the last are shown
_MANY: Final = 4


@python_only
def picture(what: Any, shape: Sequence[int] | None = None) -> str:
    """A picture of the devices, and of which of them holds what of a tensor.

    Inside of a compiled function it is drawn in Python, since a tensor may lie elsewhere in each call.

    Args:
        what: a tensor; or a `Layout` that was called with the axes of the dimensions, or a sharding of JAX's, for a
            tensor that is not there.
        shape: the shape of that tensor; left out for one that is there.

    Returns:
        str: some lines. Devices are named by their number; where several processes compute together, as ``r1.0``: rank
        1, its first device. The numbers of a `Layout` are its ranks.

    Raises:
        TypeError: it is neither of these.
        ValueError: there is no shape, or one that does not fit.

    Example:
        >>> from weft.parallel.layout import Layout
        >>> print(picture(Layout((2, 2), ("dp", "mp"))("dp", "None"), (6, 4)))
        [6, 4] on 4 ranks, dp 2 x mp 2, as (dp, None): [3, 4] on each
        <BLANKLINE>
               mp
           dp  0  1
               2  3
        <BLANKLINE>
               +------+
           0:3 | 0, 1 |
               +------+
           3:6 | 2, 3 |
               +------+
    """
    if isinstance(what, Tensor):
        data = data_of(what)
        if isinstance(data, Value):
            raise TypeError("picture: a tensor of a graph lies nowhere before the graph runs")
        return "\n".join(_lines(placed(data.sharding, data.shape), str(what.dtype).lower()))
    if not (isinstance(what, Layout) or hasattr(what, "devices_indices_map")):
        raise TypeError(f"picture: a Tensor, a Layout or a sharding, not {type(what).__name__}")
    if shape is None:
        raise ValueError("picture: a layout has no shape of its own; give one")
    return "\n".join(_lines(placed(what, tuple(shape)), ""))


def _lines(placement: Placement, dtype: str) -> Iterator[str]:
    count = len(placement.held)
    kind = f"{dtype}[{', '.join(map(str, placement.shape))}]"
    if count == 1:
        (device,) = placement.held
        yield f"{kind} on {placement.names} {device}"
        if processes().count > 1 and placement.names == "device":
            yield f"each of the {processes().count} processes has a tensor of its own"
        return
    axes = "" if placement.axes is None else f", {' x '.join([f'{n} {size}' for n, size in placement.axes.items()])}"
    there = f"{kind} on {count} {placement.names}s{axes}"
    if placement.is_whole:
        yield f"{there}: whole on each"
    else:
        yield f"{there}, as {placement.layout}: {dtype}[{', '.join(map(str, placement.each))}] on each"
    if placement.axes is not None:
        yield ""
        yield from _grid(placement)
    if not placement.is_whole:
        yield ""
        yield from _parts(placement)


def _grid(placement: Placement) -> Iterator[str]:
    """The devices in rows, the last axis of the grid from left to right; further axes than two one below the other."""
    names = list(placement.axes or ())
    rows = placement.grid.reshape(-1, placement.grid.shape[-1])
    width = max([len(str(device)) for device in placement.grid.flat])
    left = max([len(name) for name in names[:-1]], default=0)
    yield f"   {'':{left}}  {names[-1]}"
    for place, row in zip(np.ndindex(*placement.grid.shape[:-1]), rows, strict=True):
        first = not place or place[-1] == 0
        if first and len(place) > 1:
            yield "   " + ", ".join([f"{name} {number}" for name, number in zip(names, place[:-1], strict=False)])
        label = names[-2] if first and place else ""
        yield f"   {label:{left}}  {'  '.join([f'{device!s:>{width}}' for device in row])}".rstrip()


def _parts(placement: Placement) -> Iterator[str]:
    """Which devices hold each part: as a drawing where at most two dimensions are spread, as a list else."""
    spread = list(each_dimension(placement))
    holders = placement.parts
    if len(spread) <= 2:
        drawn = list(_drawn(placement, spread, holders))
        if max(map(len, drawn)) <= _WIDTH:
            yield from drawn
            return
    for bounds, devices in sorted(holders.items()):
        index = ", ".join([f"{begin}:{end}" for begin, end in bounds])
        yield f"   [{index}]  {_named(placement, devices)}"


def _drawn(
    placement: Placement, spread: list[tuple[int, list[tuple[int, int]]]], holders: dict[Bounds, list[str]]
) -> Iterator[str]:
    rank = len(placement.shape)
    down = spread[0] if len(spread) == 2 or spread[0][0] < rank - 1 else None
    across = spread[-1] if down is None or len(spread) == 2 else None
    cells = {
        (down and bounds[down[0]], across and bounds[across[0]]): _several(devices)
        for bounds, devices in holders.items()
    }
    columns: list[Any] = [None] if across is None else across[1]
    rows: list[Any] = [None] if down is None else down[1]
    heads = ["" if column is None else f"{column[0]}:{column[1]}" for column in columns]
    labels = ["" if row is None else f"{row[0]}:{row[1]}" for row in rows]
    width = max([len(text) for text in (*cells.values(), *heads)])
    left = max(map(len, labels))
    if rank > 2:
        said = [
            f"dimension {found[0]} {way}" for found, way in ((down, "down"), (across, "across")) if found is not None
        ]
        yield f"   {' ' * left} {', '.join(said)}"
    if across is not None:
        yield f"   {' ' * left}   {'   '.join([f'{head:^{width}}' for head in heads])}".rstrip()
    rule = f"   {' ' * left} +{'+'.join(['-' * (width + 2)] * len(columns))}+"
    yield rule
    for row, label in zip(rows, labels, strict=True):
        held = "|".join([f" {cells[row, column]:^{width}} " for column in columns])
        yield f"   {label:>{left}} |{held}|"
        yield rule


def _named(placement: Placement, devices: Sequence[str]) -> str:
    return f"{placement.names}{'s' * (len(devices) > 1)} {_several(devices)}"


def _several(devices: Sequence[str]) -> str:
    """The names of devices: of many whose numbers follow one another the first and the last."""
    runs: list[list[str]] = []
    for device in devices:
        follows = runs and device.isdecimal() and runs[-1][-1].isdecimal() and int(device) == int(runs[-1][-1]) + 1
        if follows:
            runs[-1].append(device)
        else:
            runs.append([device])
    return ", ".join([f"{run[0]} to {run[-1]}" if len(run) >= _MANY else ", ".join(run) for run in runs])


__all__: Final = ["picture"]
