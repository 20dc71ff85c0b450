"""Checkpoint files of ranks, each with the slices that a rank holds, read as the whole that they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from weft.errors import CheckpointError
from weft.parallel.slices import Box
from weft.train import loading
from weft.train.folders import Folder
from weft.train.strategies import SliceLayout, Strategy

Array = np.ndarray[Any, Any]


class Whole(NamedTuple):
    """A parameter of which slices are known.

    Args:
        shape: its shape.
        dtype: its element type.
        cells: the slices, by what part they are.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    cells: dict[Box, Array]


class Sliced:
    """The files of ranks.

    Args:
        files: by rank; those of some ranks may be missing, and then what only they hold cannot be read.
        strategy: how parameters are cut. None for what the files say themselves; what is no slice by that is whole.
        names: gives the name of a parameter, of that in the files; None for the same.

    Raises:
        CheckpointError: a file is damaged, or files do not fit each other or the strategy.
    """

    def __init__(
        self, files: Mapping[int, Path], strategy: Strategy | None, names: Callable[[str], str] | None = None
    ) -> None:
        self.strategy = strategy
        #: parameters by name, in the order of the files
        self.wholes: dict[str, Whole] = {}
        #: the parameters that ranks share, as the files say
        self.trained: set[str] = set()
        #: strings by name
        self.texts: dict[str, str] = {}
        for rank, path in sorted(files.items()):
            arrays, texts, facts = loading.read(path)
            self.texts.update(texts)
            for name, array in arrays.items():
                if not self._counts(rank, name):
                    continue
                shape, box = self._place(rank, path, name, array, facts["slices"])
                known = name if names is None else names(name)
                self._add(path, known, shape, box, array)
                if name in facts["trained"]:
                    self.trained.add(known)

    @classmethod
    def of_folders(cls, opened: list[Folder], names: Callable[[str], str]) -> Sliced:
        """What folders hold that `weft.train.folders` wrote.

        Args:
            opened: the folders.
            names: gives the name of a parameter, of that in the folders.
        """
        found = cls({}, None)
        for folder in opened:
            found.texts.update(folder.texts)
            for name, stored in folder.tensors.items():
                known = names(name)
                found._add(
                    folder.path, known, stored.shape, Box((0,) * len(stored.shape), stored.shape), folder.read(name)
                )
                if name in folder.trained:
                    found.trained.add(known)
        return found

    def _counts(self, rank: int, name: str) -> bool:
        """Whether a rank is of the first stage that has a parameter; others may cut it in another way."""
        stages = self.strategy.stages_of(name) if self.strategy is not None else []
        return not stages or self.strategy is None or rank // self.strategy.stage_devices == stages[0]

    def _place(
        self, rank: int, path: Path, name: str, array: Array, slices: Mapping[str, loading.Slice]
    ) -> tuple[tuple[int, ...], Box]:
        """Of what shape an array is a slice, and which."""
        if self.strategy is None:
            if name in slices:
                return slices[name]
            return array.shape, Box((0,) * array.ndim, array.shape)
        layout = self.layout(rank, name)
        if layout is None:
            return array.shape, Box((0,) * array.ndim, array.shape)
        try:
            return layout.whole(array.shape), layout.box(array.shape, rank % self.strategy.stage_devices)
        except ValueError as error:
            raise CheckpointError(f"{name!r} in {path} does not fit the strategy: {error}") from None

    def layout(self, rank: int, name: str) -> SliceLayout | None:
        """How a rank holds a parameter, as the strategy says; None for whole."""
        assert self.strategy is not None
        named = self.strategy.layouts.get(rank // self.strategy.stage_devices, {})
        return named.get(name)

    def _add(self, path: Path, name: str, shape: tuple[int, ...], box: Box, array: Array) -> None:
        whole = self.wholes.setdefault(name, Whole(shape, array.dtype, {}))
        if (whole.shape, whole.dtype) != (shape, array.dtype):
            raise CheckpointError(
                f"{name!r} is {array.dtype.name}{list(shape)} by what {path} holds, and {whole.dtype.name}"
                f"{list(whole.shape)} by what others do"
            )
        first = whole.cells.setdefault(box, array)
        if self.strategy is None and not np.array_equal(
            np.ascontiguousarray(first).reshape(-1).view(np.uint8),
            np.ascontiguousarray(array).reshape(-1).view(np.uint8),
        ):
            raise CheckpointError(
                f"{name!r} has other elements in {path} than in files before, and nothing says that they are slices: "
                "give the strategy file"
            )

    def read(self, name: str, box: Box | None = None) -> Array:
        """The elements of a parameter, or a part of them.

        Args:
            name: the parameter.
            box: the part; None for all.

        Raises:
            CheckpointError: a slice is missing.
        """
        whole = self.wholes[name]
        wanted = Box((0,) * len(whole.shape), whole.shape) if box is None else box
        if wanted in whole.cells:
            return whole.cells[wanted]
        shared = {cell: wanted.common(cell) for cell in whole.cells}
        filled = sum(math.prod(common.size) for common in shared.values() if common is not None)
        if filled != math.prod(wanted.size):
            raise CheckpointError(
                f"the files hold {filled} of the {math.prod(wanted.size)} elements of {name!r}: some are missing"
            )
        found = np.empty(wanted.size, whole.dtype)
        for cell, common in shared.items():
            if common is not None:
                found[common.within(wanted.start)] = whole.cells[cell][common.within(cell.start)]
        return found

    def of_rank(self, strategy: Strategy, rank: int) -> dict[str, Array]:
        """What a rank holds of all this under another strategy, by name.

        Args:
            strategy: the strategy.
            rank: the rank.

        Raises:
            CheckpointError: a slice is missing, or a parameter cannot be cut so.
        """
        stage, place = divmod(rank, strategy.stage_devices)
        found: dict[str, Array] = {}
        for name, whole in self.wholes.items():
            stages = strategy.stages_of(name)
            if not stages:
                found[name] = self.read(name)
            elif stage in stages:
                layout = strategy.layouts[stage][name]
                try:
                    box = layout.box(layout.size(whole.shape), place)
                except ValueError as error:
                    raise CheckpointError(f"{name!r}: {error}") from None
                found[name] = self.read(name, box)
        return found


def ranks_for(rank: int, source: Strategy, target: Strategy) -> list[int]:
    """The ranks whose files hold what a rank needs under another strategy, none of which could be left out.

    Args:
        rank: the rank.
        source: how the files are cut.
        target: the other strategy.
    """
    stage, place = divmod(rank, target.stage_devices)
    wanted = [name for name in source.names() if not target.stages_of(name) or stage in target.stages_of(name)]
    alternatives: list[list[int]] = []
    for name in wanted:
        first = source.stages_of(name)[0]
        layout = source.layouts[first][name]
        # as if a slice of the one had as many elements as the other has cuts
        other = target.layouts[stage][name] if target.stages_of(name) else None
        cuts = other.cuts if other is not None else (1,) * len(layout.cuts)
        if len(cuts) != len(layout.cuts):
            raise ValueError(
                f"{name!r} has {len(layout.cuts)} dimensions by one strategy, and {len(cuts)} by the other"
            )
        box = other.box(layout.cuts, place) if other is not None else Box((0,) * len(cuts), layout.cuts)
        needed: dict[Box, list[int]] = {}
        for holder in range(source.stage_devices):
            cell = layout.box(cuts, holder)
            if cell.common(box) is not None or not cuts:
                needed.setdefault(cell, []).append(first * source.stage_devices + holder)
        alternatives += needed.values()
    found: set[int] = set()
    for holders in sorted(alternatives, key=len):
        if found.isdisjoint(holders):
            found.add(min(holders))
    for one in sorted(found):
        if all(not found.isdisjoint(set(holders) - {one}) for holders in alternatives):
            found.discard(one)
    return sorted(found) or [0]
