"""Strategy files: how each parameter of a network is cut into the slices that ranks hold.

The file is MindSpore's, one protobuf message or the same as JSON:

    ParallelStrategyMap { int32 current_stage = 1; repeated Item parallel_strategy_item = 2;
                          repeated LayoutItem parallel_layout_item = 3; }
    Item       { string node_name = 1; Strategys parallel_strategys = 2; }    Strategys { int32 stage = 1; }
    LayoutItem { string param_name = 1; Layouts parallel_layouts = 2; }
    Layouts    { repeated Dims dev_matrix = 1; repeated Dims tensor_map = 2; repeated Dims param_split_shape = 3;
                 repeated Dims indices_offset = 4; int32 field = 5; int32 opt_weight_shard_step = 6;
                 int32 opt_weight_shard_size = 7; }
    Dims       { repeated int64 dim = 1; }

In a file of several stages of a pipeline the names begin with the number of the stage, as in ``1-dense.weight``.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from weft.parallel.slices import Box
from weft.train import ckpt, files

_STAGED: Final = re.compile(r"(\d+)-(.+)", re.DOTALL)
#: devices that a strategy may speak of, far above what there are
_MOST: Final = 1 << 20
_LISTS: Final = ("dev_matrix", "tensor_map", "param_split_shape", "indices_offset")
_NUMBERS: Final = ("field", "opt_weight_shard_step", "opt_weight_shard_size")


class Dims(NamedTuple):
    """Numbers of a layout.

    Args:
        dim: the numbers.
    """

    dim: tuple[int, ...]


class SliceLayout:
    """How a parameter is cut: a grid of devices, and its axis, counted from the last, along which each dimension is
    cut. Slices can be cut once more along the first dimension, as the states of optimizers are: the ranks that hold the
    same slice hold its pieces in turn.

    Args:
        dev_matrix: size of each axis of the grid.
        tensor_map: for each dimension the number of an axis, or -1.
        opt_weight_shard_step: distance of those ranks; kept.
        opt_weight_shard_size: number of pieces of a slice; 0 for slices that are not cut.
        param_split_shape: kept.
        indices_offset: kept.
        field: kept.

    Raises:
        ValueError: there can be no such layout.

    Example:
        >>> layout = SliceLayout((2, 2), (0, -1))
        >>> [layout.box((2, 3), rank).start for rank in range(4)]
        [(0, 0), (2, 0), (0, 0), (2, 0)]
    """

    def __init__(
        self,
        dev_matrix: Sequence[int],
        tensor_map: Sequence[int],
        opt_weight_shard_step: int = 0,
        opt_weight_shard_size: int = 0,
        param_split_shape: Sequence[int] = (),
        indices_offset: Sequence[int] = (),
        field: int = 0,
    ) -> None:
        #: by the names that MindSpore has for them, each a list of one
        self.dev_matrix = [Dims(tuple(dev_matrix))]
        self.tensor_map = [Dims(tuple(tensor_map))]
        self.param_split_shape = [Dims(tuple(param_split_shape))] if param_split_shape else []
        self.indices_offset = [Dims(tuple(indices_offset))] if indices_offset else []
        self.field = field
        self.opt_weight_shard_step = opt_weight_shard_step
        self.opt_weight_shard_size = opt_weight_shard_size
        if not dev_matrix or any(size < 1 for size in dev_matrix) or math.prod(dev_matrix) > _MOST:
            raise ValueError(f"{tuple(dev_matrix)} is no grid of devices")
        cut = [axis for axis in tensor_map if axis >= 0]
        if any(not -1 <= axis < len(dev_matrix) for axis in tensor_map) or len(set(cut)) != len(cut):
            raise ValueError(f"dimensions cannot be cut along the axes {tuple(tensor_map)} of {tuple(dev_matrix)}")
        self._free = [axis for axis in range(len(dev_matrix)) if axis not in cut]
        same = math.prod(dev_matrix[-1 - axis] for axis in self._free)
        if self.pieces > 1 and (not tensor_map or same % self.pieces):
            raise ValueError(f"slices that {same} ranks have cannot be cut in {self.pieces} pieces")

    def __repr__(self) -> str:
        again = f", pieces={self.pieces}" if self.pieces > 1 else ""
        return f"SliceLayout({self.dev_matrix[0].dim}, {self.tensor_map[0].dim}{again})"

    @property
    def devices(self) -> int:
        """Number of devices."""
        return math.prod(self.dev_matrix[0].dim)

    @property
    def pieces(self) -> int:
        """Into how many pieces slices are cut."""
        return max(self.opt_weight_shard_size, 1)

    @property
    def cuts(self) -> tuple[int, ...]:
        """Into how many parts each dimension is cut."""
        grid = self.dev_matrix[0].dim
        cuts = [1 if axis < 0 else grid[len(grid) - 1 - axis] for axis in self.tensor_map[0].dim]
        if self.pieces > 1:
            cuts[0] *= self.pieces
        return tuple(cuts)

    def whole(self, size: Sequence[int]) -> tuple[int, ...]:
        """The shape of a parameter of whose slices one has this size.

        Raises:
            ValueError: the layout is for another number of dimensions.
        """
        if len(size) != len(self.cuts):
            raise ValueError(f"a slice of shape {tuple(size)} does not fit the {self!r}")
        return tuple([n * cuts for n, cuts in zip(size, self.cuts, strict=True)])

    def size(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of the slices of a parameter.

        Raises:
            ValueError: it cannot be cut so.
        """
        if len(shape) != len(self.cuts) or any(n % cuts for n, cuts in zip(shape, self.cuts, strict=True)):
            raise ValueError(f"shape {tuple(shape)} cannot be cut as the {self!r} says")
        return tuple([n // cuts for n, cuts in zip(shape, self.cuts, strict=True)])

    def box(self, size: Sequence[int], rank: int) -> Box:
        """Which part of the parameter a rank holds.

        Args:
            size: the shape of a slice.
            rank: the rank, counted in its stage.
        """
        grid = self.dev_matrix[0].dim
        position: list[int] = []
        left = rank
        for extent in reversed(grid):
            left, place = divmod(left, extent)
            position.append(place)  # counted from the last axis
        start = [0 if axis < 0 else position[axis] for axis in self.tensor_map[0].dim]
        if self.pieces > 1:
            turn = 0
            for axis in reversed(self._free):
                turn = turn * grid[-1 - axis] + position[axis]
            start[0] = start[0] * self.pieces + turn % self.pieces
        return Box(tuple([place * n for place, n in zip(start, size, strict=True)]), tuple(size))


class Strategy:
    """What a strategy file says.

    Args:
        layouts: by stage and name.
        stage: the stage that the file is for, where it is for one.

    Raises:
        ValueError: stages have different numbers of devices.
    """

    def __init__(self, layouts: dict[int, dict[str, SliceLayout]], stage: int = 0) -> None:
        self.layouts = layouts
        self.stage = stage
        counts = {layout.devices for named in layouts.values() for layout in named.values()}
        if len(counts) > 1:
            raise ValueError(f"its layouts are for {' and '.join(map(str, sorted(counts)))} devices")
        #: number of devices of a stage
        self.stage_devices = max(counts, default=1)
        if (max(layouts, default=0) + 1) * self.stage_devices > _MOST:
            raise ValueError("it has too many stages")

    @property
    def devices(self) -> int:
        """Number of devices of all stages."""
        return self.stage_devices * (max(self.layouts, default=0) + 1)

    def stages_of(self, name: str) -> list[int]:
        """The stages that have a parameter; none if the strategy does not name it."""
        return [stage for stage, named in sorted(self.layouts.items()) if name in named]

    def names(self) -> list[str]:
        """The names of all parameters."""
        return list(dict.fromkeys(name for _, named in sorted(self.layouts.items()) for name in named))


#: the strategy of a program on one device
ALONE: Final = Strategy({0: {}})


# -- reading -----------------------------------------------------------------------------------------------------


def read(path: Path, caller: str) -> Strategy:
    """The strategy that a file holds.

    Args:
        path: the file.
        caller: who asks, for messages.

    Raises:
        ValueError: there is no such file, or it holds none.
    """
    if not path.is_file():
        raise ValueError(f"{caller}: there is no strategy file {path}")
    content = path.read_bytes()
    if not content:
        raise ValueError(f"{caller}: the strategy file {path} is empty")
    try:
        stage, found = _of_json(content) if path.suffix == ".json" else _of_message(content)
        layouts: dict[int, dict[str, SliceLayout]] = {}
        staged = [_STAGED.fullmatch(name) for name, _ in found]
        if not any(staged):
            return Strategy({0: dict(found)}, stage)
        for match, (name, layout) in zip(staged, found, strict=True):
            if match is None or len(match[1]) > 6:
                raise ValueError(f"{name!r:.100} is in no stage")
            layouts.setdefault(int(match[1]), {})[match[2]] = layout
        return Strategy(layouts)
    except (ckpt.Damaged, ValueError, RecursionError) as error:
        raise ValueError(f"{caller}: {path} is no undamaged strategy file: {error}") from None


def _of_message(content: bytes) -> tuple[int, list[tuple[str, SliceLayout]]]:
    stage = 0
    found: list[tuple[str, SliceLayout]] = []
    for field, value in ckpt.fields(memoryview(content)):
        if field == 1 and isinstance(value, int):
            stage = value
        elif field == 3:
            name, layout = "", None
            for inner, part in ckpt.fields(ckpt.message(value, "a layout")):
                if inner == 1:
                    name = ckpt.text(part, "a name")
                elif inner == 2:
                    layout = _layout(ckpt.message(part, "a layout"))
            if layout is None:
                raise ValueError(f"{name!r:.100} has no layout")
            found.append((name, layout))
    return stage, found


def _layout(data: memoryview) -> SliceLayout:
    given: dict[str, Any] = {}
    for field, value in ckpt.fields(data):
        if 1 <= field <= 4:
            numbers: list[int] = []
            for inner, part in ckpt.fields(ckpt.message(value, "a list of numbers")):
                if inner == 1:
                    numbers += [part] if isinstance(part, int) else ckpt.packed(part)
            given[_LISTS[field - 1]] = [_signed(n) for n in numbers]
        elif 5 <= field <= 7 and isinstance(value, int):
            given[_NUMBERS[field - 5]] = _signed(value)
    return SliceLayout(given.pop("dev_matrix", ()), given.pop("tensor_map", ()), **given)


def _signed(number: int) -> int:
    return number - (1 << 64) if number >= 1 << 63 else number


def _of_json(content: bytes) -> tuple[int, list[tuple[str, SliceLayout]]]:
    given = json.loads(content)
    stage = given.get("current_stage", 0) if isinstance(given, dict) else None
    items = given.get("parallel_layout_item", {}) if isinstance(given, dict) else None
    if not isinstance(items, dict) or type(stage) is not int or stage < 0:
        raise ValueError("it has no layouts")
    found = []
    for name, item in items.items():
        lists = {key: item.get(key, []) for key in _LISTS} if isinstance(item, dict) else {}
        numbers = {key: item.get(key, 0) for key in _NUMBERS} if isinstance(item, dict) else {}
        whole = [*numbers.values(), *(n for numbers_ in lists.values() if isinstance(numbers_, list) for n in numbers_)]
        if not lists or not all(isinstance(x, list) for x in lists.values()) or any(type(n) is not int for n in whole):
            raise ValueError(f"the layout of {name!r:.100} is no table of numbers")
        found.append((name, SliceLayout(**lists, **numbers)))
    return stage, found


# -- writing -----------------------------------------------------------------------------------------------------


def write(path: Path, layouts: Iterable[tuple[str, SliceLayout]], stage: int = 0) -> None:
    """Write a strategy file.

    Args:
        path: the file; JSON if its name ends so.
        layouts: by name.
        stage: the stage of the pipeline that they are for.
    """
    if path.suffix == ".json":
        items = {name: _plain(layout) for name, layout in layouts}
        content = {"current_stage": stage, "parallel_strategy_item": {}, "parallel_layout_item": items}
        files.write(path, [json.dumps(content, indent=1).encode()])
        return
    # readers look for the stage at an operator
    operator = _bytes(1, b"Default") + _bytes(2, _number(1, stage))
    parts = [_number(1, stage), _bytes(2, operator)]
    for name, layout in layouts:
        given = _plain(layout)
        # readers take every list to be there, if with nothing in it
        inner = b"".join(
            _bytes(field, b"".join(_number(1, n) for n in given[key])) for field, key in enumerate(_LISTS, 1)
        )
        inner += b"".join(_number(field, given[key]) for field, key in enumerate(_NUMBERS, 5))
        parts.append(_bytes(3, _bytes(1, name.encode()) + _bytes(2, inner)))
    files.write(path, parts)


def _plain(layout: SliceLayout) -> dict[str, Any]:
    lists = {key: list(getattr(layout, key)[0].dim) if getattr(layout, key) else [] for key in _LISTS}
    return {**lists, **{key: getattr(layout, key) for key in _NUMBERS}}


def _number(field: int, value: int) -> bytes:
    return ckpt.varint(field << 3) + ckpt.varint(value & (1 << 64) - 1)


def _bytes(field: int, value: bytes) -> bytes:
    return ckpt.varint(field << 3 | 2) + ckpt.varint(len(value)) + value
