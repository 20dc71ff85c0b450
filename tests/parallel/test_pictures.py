"""Pictures of where the elements of tensors lie; those of tensors on several devices are with the reports."""

from __future__ import annotations

import re

import numpy as np
import pytest

import weft
from weft import Tensor
from weft.parallel import picture
from weft.parallel.holdings import along_axes, placed
from weft.parallel.layout import Layout

GRID = Layout((2, 2, 2), ("a", "b", "c"))


def owners(layout: Layout, shape: tuple[int, ...]) -> dict[str, np.ndarray]:
    """What each rank holds of an array of numbers, by splitting it along one axis after the other."""
    facts = layout.to_dict()
    whole = np.arange(int(np.prod(shape))).reshape(shape)
    found = {}
    grid = np.array(facts["rank_list"]).reshape(facts["device_matrix"])
    for place in np.ndindex(*grid.shape):
        part = whole
        for dimension, axes in enumerate(facts["tensor_map"]):
            for axis in axes if isinstance(axes, tuple) else (axes,):
                if axis >= 0:
                    number = grid.ndim - 1 - axis
                    part = np.split(part, grid.shape[number], dimension)[place[number]]
        found[str(grid[place])] = part
    return found


@pytest.mark.parametrize(
    ("layout", "shape"),
    [
        (GRID("a", "None", "c"), (4, 2, 6)),
        (GRID(("a", "c"), "b"), (8, 4)),
        (GRID(("c", "a"), "None"), (8, 4)),
        (GRID("None", "None"), (3, 5)),
        (Layout((2, 4), ("dp", "mp"), [7, 6, 5, 4, 3, 2, 1, 0])("mp", "dp"), (4, 2)),
    ],
)
def test_each_rank_holds_what_splitting_gives_it(layout: Layout, shape: tuple[int, ...]) -> None:
    whole = np.arange(int(np.prod(shape))).reshape(shape)
    placement = placed(layout, shape)
    for rank, part in owners(layout, shape).items():
        bounds = placement.held[rank]
        assert np.array_equal(whole[tuple([slice(begin, end) for begin, end in bounds])], part)
    assert placement.each == next(iter(owners(layout, shape).values())).shape


def test_a_drawing_of_two_dimensions() -> None:
    layout = Layout((2, 2), ("dp", "mp"), [3, 2, 1, 0])("mp", "dp")
    assert picture(layout, (4, 6)).splitlines() == [
        "[4, 6] on 4 ranks, dp 2 x mp 2, as (mp, dp): [2, 3] on each",
        "",
        "       mp",
        "   dp  3  2",
        "       1  0",
        "",
        "         0:3   3:6",
        "       +-----+-----+",
        "   0:2 |  3  |  1  |",
        "       +-----+-----+",
        "   2:4 |  2  |  0  |",
        "       +-----+-----+",
    ]


def test_three_axes_and_three_dimensions() -> None:
    shown = picture(GRID("a", "b", "c"), (2, 2, 2)).splitlines()
    assert shown[2:8] == ["      c", "   a 0", "   b  0  1", "      2  3", "   a 1", "   b  4  5"]
    assert [line.strip() for line in shown if "ranks" not in line and "rank" in line] == [
        f"[{a}:{a + 1}, {b}:{b + 1}, {c}:{c + 1}]  rank {4 * a + 2 * b + c}"
        for a in range(2) for b in range(2) for c in range(2)
    ]  # fmt: skip


def test_what_is_too_wide_is_a_list() -> None:
    layout = Layout((32,), ("dp",))("dp")
    shown = picture(layout, (64,)).splitlines()
    assert shown[-1] == "   [62:64]  rank 31"
    assert len([line for line in shown if re.match(r"   \[", line)]) == 32


def test_many_devices() -> None:
    shown = picture(Layout((4, 64), ("dp", "mp"))("dp", "None"), (8, 2)).splitlines()
    assert "   2:4 | 64 to 127  |" in shown
    columns = picture(Layout((4, 4), ("dp", "mp"))("None", "mp"), (8, 4)).splitlines()
    assert "| 0, 4, 8, 12 | 1, 5, 9, 13 | 2, 6, 10, 14 | 3, 7, 11, 15 |" in " ".join(" ".join(columns).split())


def test_a_tensor_on_one_device() -> None:
    assert picture(Tensor(np.ones((2, 3), np.float32))) == "float32[2, 3] on device 0"
    assert picture(weft.Parameter(Tensor([1, 2]), name="p")) == "int64[2] on device 0"
    shared = np.zeros(3, np.float32)
    assert picture(Tensor.from_numpy(shared)) == "float32[3] on device 0"


def test_what_has_no_picture() -> None:
    with pytest.raises(TypeError, match="a Tensor, a Layout or a sharding, not int"):
        picture(3)
    with pytest.raises(ValueError, match="no shape of its own"):
        picture(GRID("a", "b"))
    with pytest.raises(ValueError, match="call the layout with the axes"):
        picture(GRID, (2, 2))
    with pytest.raises(ValueError, match="2 dimensions does not fit the shape"):
        picture(GRID("a", "b"), (2, 2, 2))
    with pytest.raises(ValueError, match="of size 3 cannot be divided"):
        picture(GRID("a", "b"), (3, 2))


@pytest.mark.parametrize(
    ("groups", "axes"),
    [
        ([[0, 1], [2, 3], [4, 5], [6, 7]], ("c",)),
        ([[0, 4], [1, 5], [2, 6], [3, 7]], ("a",)),
        ([[5, 0, 1, 4], [2, 3, 6, 7]], ("a", "c")),
        ([list(range(8))], ("a", "b", "c")),
        ([[0, 3], [1, 2], [4, 7], [5, 6]], None),
        ([[0, 1]], None),
    ],
)
def test_axes_of_groups(groups: list[list[int]], axes: tuple[str, ...] | None) -> None:
    assert along_axes(groups, {"a": 2, "b": 2, "c": 2}) == axes
