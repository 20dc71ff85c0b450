"""Checkpoint files of ranks under one strategy as those of another, against NumPy; files that MindSpore wrote."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weft import Tensor, nn, train
from weft.core.tensor import Parameter
from weft.core.transparency import PYTHON_ONLY
from weft.errors import CheckpointError
from weft.train import (
    converting,
    distributed,
    load_checkpoint,
    loading,
    save_checkpoint,
    serialization,
    strategies,
    transforming,
)
from weft.train.strategies import SliceLayout

GRIDS = [(1,), (2,), (4,), (2, 2), (1, 4), (8,), (2, 2, 2), (4, 2), (2, 4)]


def sliced(whole: np.ndarray[Any, Any], layout: SliceLayout, rank: int) -> np.ndarray[Any, Any]:
    """The slice of a rank, cut by NumPy."""
    grid = layout.dev_matrix[0].dim
    place = np.unravel_index(rank, grid)
    for dim, axis in enumerate(layout.tensor_map[0].dim):
        if axis >= 0:
            whole = np.split(whole, grid[-1 - axis], dim)[place[-1 - axis]]
    if layout.pieces > 1:
        cut = [place[-1 - axis] for axis in layout.tensor_map[0].dim if axis >= 0]
        axes = [len(grid) - 1 - axis for axis in layout.tensor_map[0].dim if axis >= 0]
        same = [r for r in range(math.prod(grid)) if [np.unravel_index(r, grid)[axis] for axis in axes] == cut]
        whole = np.split(whole, layout.pieces)[same.index(rank) % layout.pieces]
    return whole


def some_layout(chosen: random.Random, dims: int, devices: int) -> SliceLayout:
    grid = chosen.choice([grid for grid in GRIDS if math.prod(grid) == devices])
    axes = [*range(len(grid)), -1, -1, -1]
    chosen.shuffle(axes)
    cut = axes[:dims]
    step = pieces = 0
    free = [axis for axis in range(len(grid)) if axis not in cut and grid[-1 - axis] > 1]
    if free and dims and chosen.random() < 0.5:
        step, pieces = math.prod(grid[len(grid) - free[0] :]), math.prod(grid[-1 - axis] for axis in free)
        pieces = chosen.choice([pieces, grid[-1 - free[0]]])
    return SliceLayout(grid, cut, step, pieces)


def ranks(folder: Path, prefix: str, count: int, form: str = "ckpt") -> list[dict[str, np.ndarray[Any, Any]]]:
    files = [folder / f"rank_{rank}" / f"{prefix}{rank}.{form}" for rank in range(count)]
    assert len(list(folder.iterdir())) == count
    return [{name: value.asnumpy() for name, value in load_checkpoint(file).items()} for file in files]


def equal(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert found.keys() == wanted.keys()
    for name in wanted:
        np.testing.assert_array_equal(found[name], wanted[name], err_msg=name, strict=True)


@pytest.mark.parametrize("seed", range(12))
def test_any_strategy_becomes_any_other(tmp_path: Path, seed: int) -> None:
    chosen = random.Random(seed)
    shapes = {f"p{i}": chosen.choice([(16,), (16, 16), (16, 8, 8)]) for i in range(4)}
    whole = {name: np.random.default_rng(i).standard_normal(shape) for i, (name, shape) in enumerate(shapes.items())}
    whole["step"] = np.array([3])
    (tmp_path / "whole" / "rank_0").mkdir(parents=True)
    form = chosen.choice(["ckpt", "safetensors"])
    save_checkpoint({k: Tensor(v) for k, v in whole.items()}, tmp_path / "whole" / "rank_0" / f"net.{form}")

    first = chosen.choice([2, 4, 8])
    source = {name: some_layout(chosen, len(shape), first) for name, shape in shapes.items()}
    strategies.write(tmp_path / "source.ckpt", source.items())
    # the other is for a pipeline of two stages, one parameter in both
    second = chosen.choice([1, 2, 4])
    stages = [
        {name: some_layout(chosen, len(shapes[name]), second) for name in names}
        for names in (["p0", "p1", "p2"], ["p2", "p3"])
    ]
    ending = chosen.choice(["ckpt", "json"])
    for number, stage in enumerate(stages):
        strategies.write(tmp_path / "stages" / f"stage{number}.{ending}", stage.items(), number)
    train.merge_pipeline_strategys(str(tmp_path / "stages"), str(tmp_path / "target.ckpt"))

    train.transform_checkpoints(str(tmp_path / "whole"), str(tmp_path / "a"), "x", None, str(tmp_path / "source.ckpt"))
    for rank, found in enumerate(ranks(tmp_path / "a", "x", first)):
        equal(found, {k: sliced(v, source[k], rank) if k in source else v for k, v in whole.items()})
    files = (str(tmp_path / "source.ckpt"), str(tmp_path / "target.ckpt"))
    train.transform_checkpoints(str(tmp_path / "a"), str(tmp_path / "b"), "y_", *files, output_format=form)
    for rank, found in enumerate(ranks(tmp_path / "b", "y_", 2 * second, form)):
        stage = stages[rank // second]
        wanted = {k: sliced(whole[k], layout, rank % second) for k, layout in stage.items()}
        equal(found, {k: wanted[k] for k in whole if k in wanted} | {"step": whole["step"]})
        # the same from those files only that are said to be needed
        needed = train.rank_list_for_transform(rank, *files)
        given = {each: str(tmp_path / "a" / f"rank_{each}" / f"x{each}.ckpt") for each in needed}
        train.transform_checkpoint_by_rank(rank, given, str(tmp_path / "one.ckpt"), *files)
        equal({k: v.asnumpy() for k, v in load_checkpoint(tmp_path / "one.ckpt").items()}, found)
        if len(needed) > 1:
            del given[needed[0]]
            with pytest.raises(CheckpointError, match="some are missing"):
                train.transform_checkpoint_by_rank(rank, given, str(tmp_path / "less.ckpt"), *files)
            assert not (tmp_path / "less.ckpt").exists()
    train.transform_checkpoints(str(tmp_path / "b"), str(tmp_path / "c"), "z", str(tmp_path / "target.ckpt"))
    equal(ranks(tmp_path / "c", "z", 1)[0], whole)


# -- into networks ---------------------------------------------------------------------------------------------------


class Net(nn.Cell):
    def __init__(self, rows: int = 4) -> None:
        super().__init__()
        self.w = Parameter(Tensor(np.zeros((rows, 4), np.float32)), name="w")
        self.s = Parameter(Tensor(0), name="s", requires_grad=False)


@pytest.fixture
def two_ranks(tmp_path: Path) -> Path:
    """``w`` cut in two rows of two, ``s`` the same on both."""
    strategies.write(tmp_path / "two.ckpt", [("w", SliceLayout((2,), (0, -1)))])
    for rank in range(2):
        w = np.arange(16, dtype=np.float32).reshape(2, 2, 4)[rank]
        for form in ("ckpt", "safetensors"):
            save_checkpoint({"w": Tensor(w), "s": Tensor(7)}, tmp_path / form / f"rank_{rank}" / f"net.{form}")
    return tmp_path


WHOLE = np.arange(16, dtype=np.float32).reshape(4, 4)


def test_files_of_ranks_load_into_a_network(two_ranks: Path) -> None:
    files = [str(two_ranks / "ckpt" / f"rank_{rank}" / "net.ckpt") for rank in range(2)]
    net = Net()
    given = {"train_strategy_filename": str(two_ranks / "two.ckpt")}
    assert train.load_distributed_checkpoint(net, files, None, **given) == ([], [])
    np.testing.assert_array_equal(net.w.asnumpy(), WHOLE)
    assert int(net.s) == 7
    # a network that holds slices itself: for a rank, by a file, what is built of one, or lists
    strategies.write(two_ranks / "four.json", [("w", SliceLayout((2, 2), (0, -1), 2, 2))])
    four = str(two_ranks / "four.json")
    listed = {"w": [[2, 2], [0, -1], [2, 4], 0, 2, 2]}
    for predict in (four, train.build_searched_strategy(four), listed):
        for rank, row in enumerate([0, 2, 1, 3]):
            part = Net(1)
            train.load_distributed_checkpoint(part, files, predict, **given, rank_id=rank)
            np.testing.assert_array_equal(part.w.asnumpy(), WHOLE[row : row + 1])
            whole = Net()  # one that has whole parameters gets them
            train.load_distributed_checkpoint(whole, files, predict, **given, rank_id=rank)
            np.testing.assert_array_equal(whole.w.asnumpy(), WHOLE)
    # without a strategy nothing says that they are slices
    before = net.w.asnumpy()
    with pytest.raises(CheckpointError, match="nothing says that they are slices"):
        train.load_distributed_checkpoint(net, files)
    with pytest.raises(CheckpointError, match="for 2 ranks; there are 1 files"):
        train.load_distributed_checkpoint(net, files[:1], **given)
    with pytest.raises(CheckpointError, match="does not fit the network"):
        train.load_distributed_checkpoint(Net(3), files, **given)
    np.testing.assert_array_equal(net.w.asnumpy(), before)


def test_unified_safetensors(two_ranks: Path) -> None:
    folder, strategy, whole = str(two_ranks / "safetensors"), str(two_ranks / "two.ckpt"), two_ranks / "whole"
    train.unified_safetensors(folder, strategy, str(whole))
    assert sorted(path.name for path in whole.iterdir()) == [
        "hyper_param.safetensors",
        "param_name_map.json",
        "part0.safetensors",
    ]
    net = Net()
    given: dict[str, Any] = {"format": "safetensors", "unified_safetensors_dir": str(whole)}
    assert train.load_distributed_checkpoint(net, **given) == ([], [])
    np.testing.assert_array_equal(net.w.asnumpy(), WHOLE)
    found = train.load_distributed_checkpoint(net, **given, name_map={"w": "v"}, return_param_dict=True)
    assert sorted(found) == ["s", "v"]
    # to the files of ranks, without a network
    into = two_ranks / "again"
    train.load_distributed_checkpoint(None, **given, predict_strategy=strategy, dst_safetensors_dir=str(into))
    for rank in range(2):
        found = load_checkpoint(into / f"rank_{rank}" / "net.safetensors")
        np.testing.assert_array_equal(found["w"].asnumpy(), WHOLE[2 * rank : 2 * rank + 2])
    # names chosen and changed
    train.unified_safetensors(folder, strategy, str(whole), choice_func=lambda name: "v" if name == "w" else False)
    assert sorted(load_checkpoint(whole / "part0.safetensors")) == ["v"]
    with pytest.raises(ValueError, match="there is no checkpoint file"):
        train.unified_safetensors(folder, strategy, str(whole), file_suffix="_3")
    (whole / "param_name_map.json").write_text('{"weight_map": 3}')
    with pytest.raises(CheckpointError, match=r"holds neither index\.json nor param_name_map\.json"):
        train.load_distributed_checkpoint(net, **given)


def test_segmented_checkpoints(tmp_path: Path) -> None:
    save_checkpoint({"a": Tensor([1.0])}, tmp_path / "x.ckpt", append_dict={"who": "me"})
    save_checkpoint({"a": Tensor([3.0]), "b": Tensor([2.0])}, tmp_path / "y.safetensors")
    (tmp_path / "notes.txt").write_text("")
    found = train.load_segmented_checkpoints(str(tmp_path))
    assert found.pop("who") == "me"
    assert {name: value.asnumpy()[0] for name, value in found.items()} == {"a": 3.0, "b": 2.0}
    assert sorted(train.load_segmented_checkpoints(str(tmp_path), specify_prefix="b")) == ["b"]
    with pytest.raises(CheckpointError, match="no parameter is left"):
        train.load_segmented_checkpoints(str(tmp_path), choice_func=lambda name: False)
    with pytest.raises(ValueError, match="there is no folder"):
        train.load_segmented_checkpoints(str(tmp_path / "none"))


# -- slices and strategy files ---------------------------------------------------------------------------------------


def slices(*rows: Any, name: str = "w") -> list[Parameter]:
    return [Parameter(Tensor(np.array(row, np.float32)), name=name) for row in rows]


@pytest.mark.parametrize(
    ("layout", "wanted"),
    [
        (None, [[1, 2], [3, 4], [5, 6], [7, 8]]),
        (SliceLayout((2, 2), (1, 0)), [[1, 2, 3, 4], [5, 6, 7, 8]]),
        (SliceLayout((2, 2), (0, 1)), [[1, 2, 5, 6], [3, 4, 7, 8]]),
        (SliceLayout((4,), (-1, 0)), [[1, 2, 3, 4, 5, 6, 7, 8]]),
        (SliceLayout((4,), (-1, -1), 1, 4), [[1, 2], [3, 4], [5, 6], [7, 8]]),
    ],
)
def test_slices_are_merged(layout: SliceLayout | None, wanted: list[Any]) -> None:
    given = slices([[1, 2]], [[3, 4]], [[5, 6]], [[7, 8]])
    found = train.merge_sliced_parameter(given, layout and {"w": layout})
    assert (found.name, found.asnumpy().tolist(), found.requires_grad) == ("w", wanted, True)


def test_slices_that_do_not_fit() -> None:
    strategy = {"w": SliceLayout((4,), (0,))}
    for given, chosen, error, message in (
        ([], None, ValueError, "must not be empty"),
        ((1,), None, TypeError, "must be a list"),
        ([1], None, TypeError, "must hold Parameters"),
        (slices([1], [2]), [1], TypeError, "strategy must be a dict"),
        (slices([1]) + slices([2], name="v"), None, ValueError, "slices of one parameter"),
        (slices([1], [[2]]), None, ValueError, "slices of one parameter"),
        (slices([1], [2]), strategy, ValueError, "2 slices do not fit the layout"),
        (slices([1], [2], name="v"), strategy, KeyError, "does not name 'v'"),
        (slices([1], [1], [1], [1, 2]), strategy, ValueError, "different shapes"),
    ):
        with pytest.raises(error, match=message):
            train.merge_sliced_parameter(given, chosen)  # type: ignore[arg-type]


#: what MindSpore 2.10 wrote for two stages: ``w`` cut along rows and ``v`` along columns on two devices, ``sh`` not cut
MERGED = (
    b"\x08\x01\x12\x10\n\x06Node-0\x12\x06\x08\x00\x12\x02\x08\x01\x12\x10\n\x06Node-0\x12\x06\x08\x01\x12\x02\x08\x01"
    b'\x1a&\n\x030-w\x12\x1f\n\x02\x08\x02\x12\r\x08\x00\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x1a\x00"\x02\x08'
    b"\x00(\x000\x008\x00\x1a%\n\x040-sh\x12\x1d\n\x02\x08\x02\x12\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x1a"
    b'\x00"\x02\x08\x00(\x000\x008\x00\x1a&\n\x031-v\x12\x1f\n\x02\x08\x02\x12\r\x08\xff\xff\xff\xff\xff\xff\xff\xff'
    b'\xff\x01\x08\x00\x1a\x00"\x02\x08\x00(\x000\x008\x00\x1a%\n\x041-sh\x12\x1d\n\x02\x08\x02\x12\x0b\x08\xff\xff'
    b'\xff\xff\xff\xff\xff\xff\xff\x01\x1a\x00"\x02\x08\x00(\x000\x008\x00'
)


def test_the_strategy_files_of_mindspore(tmp_path: Path) -> None:
    (tmp_path / "merged.ckpt").write_bytes(MERGED)
    found = train.build_searched_strategy(str(tmp_path / "merged.ckpt"))
    assert list(found) == ["0-w", "0-sh", "1-v", "1-sh"]
    assert (found["0-w"].dev_matrix[0].dim, found["0-w"].tensor_map[0].dim) == ((2,), (0, -1))
    assert (found["1-v"].field, found["1-v"].opt_weight_shard_size, found["1-v"].param_split_shape) == (0, 0, [])
    given = str(tmp_path / "merged.ckpt")
    assert train.rank_list_for_transform(0, given) == [0, 1, 2, 3]
    assert [train.rank_list_for_transform(rank, given, given) for rank in range(4)] == [[0], [1], [0, 2], [0, 3]]
    assert train.rank_list_for_transform(0) == [0]


@pytest.mark.parametrize("ending", ["ckpt", "json"])
def test_strategy_files_come_back(tmp_path: Path, ending: str) -> None:
    chosen = random.Random(1)
    layouts = {f"p{i}": some_layout(chosen, i % 4, 4) for i in range(20)}
    layouts["all"] = SliceLayout((4,), (-1,), 1, 4, (2, 3), (5,), 6)
    strategies.write(tmp_path / f"x.{ending}", layouts.items(), 3)
    found = strategies.read(tmp_path / f"x.{ending}", "test")
    assert (found.stage, found.devices) == (3, 4)
    assert {k: repr(v) for k, v in found.layouts[0].items()} == {k: repr(v) for k, v in layouts.items()}
    kept = found.layouts[0]["all"]
    assert (kept.param_split_shape[0].dim, kept.indices_offset[0].dim, kept.field) == ((2, 3), (5,), 6)


@pytest.mark.parametrize("ending", ["ckpt", "json"])
@pytest.mark.parametrize("rounds", [400, pytest.param(20_000, marks=pytest.mark.slow)])
def test_damaged_strategy_files_are_one_error(tmp_path: Path, ending: str, rounds: int) -> None:
    file = tmp_path / f"x.{ending}"
    strategies.write(file, [("w", SliceLayout((2, 4), (0, -1), 4, 2)), ("bias", SliceLayout((8,), (-1,)))])
    content = file.read_bytes()
    chosen = random.Random(rounds)
    refused = 0
    for _ in range(rounds):
        bad = bytearray(content)
        for _ in range(chosen.randrange(1, 4)):
            at = chosen.randrange(len(bad) + 1)
            bad[at : at + chosen.randrange(3)] = bytes(chosen.randrange(256) for _ in range(chosen.randrange(3)))
        file.write_bytes(bad[: chosen.randrange(len(bad))] if chosen.random() < 0.3 else bad)
        try:
            train.build_searched_strategy(str(file))
        except ValueError as error:
            refused += "strategy file" in str(error) or 10**6
    assert 0 < refused < 10**6


def test_what_is_wrong_with_the_arguments(two_ranks: Path) -> None:
    folder, strategy = str(two_ranks / "ckpt"), str(two_ranks / "two.ckpt")
    new = str(two_ranks / "new")
    (two_ranks / "empty").mkdir()
    strategies.write(two_ranks / "eight.ckpt", [("w", SliceLayout((8,), (0, -1)))])
    strategies.write(two_ranks / "flat.ckpt", [("w", SliceLayout((2,), (0,)))])
    for call, error, message in (
        (lambda: train.transform_checkpoints(folder + "x", new, "p"), NotADirectoryError, "is no folder"),
        (lambda: train.transform_checkpoints(str(two_ranks / "empty"), new, "p"), ValueError, "no checkpoint files"),
        (lambda: train.transform_checkpoints(folder, new, 3), TypeError, "ckpt_prefix"),  # type: ignore[arg-type]
        (lambda: train.transform_checkpoints(folder, new, "p", output_format="x"), ValueError, "output_format"),
        (lambda: train.transform_checkpoints(folder, new, "p", "none"), ValueError, "no strategy file"),
        (lambda: train.transform_checkpoints(folder, new, "p", 3), TypeError, "strategy"),  # type: ignore[arg-type]
        (
            lambda: train.transform_checkpoints(folder, new, "p", str(two_ranks / "eight.ckpt")),
            ValueError,
            "no file of rank 2",
        ),
        (
            lambda: train.transform_checkpoints(folder, new, "p", str(two_ranks / "flat.ckpt")),
            CheckpointError,
            "does not fit the strategy",
        ),
        (
            lambda: train.transform_checkpoints(folder, new, "p", strategy, str(two_ranks / "eight.ckpt")),
            CheckpointError,
            r"shape \(4, 4\) cannot be cut",
        ),
        (lambda: train.rank_list_for_transform("0"), TypeError, "rank_id"),  # type: ignore[arg-type]
        (lambda: train.rank_list_for_transform(2, None, strategy), ValueError, "there is no rank 2 of 2"),
        (lambda: train.transform_checkpoint_by_rank(0, [], "x.ckpt"), TypeError, "files_map"),  # type: ignore[arg-type]
        (lambda: train.transform_checkpoint_by_rank(0, {0: "none"}, "x.ckpt"), ValueError, "no checkpoint file none"),
        (lambda: train.transform_checkpoint_by_rank(0, {}, "x.bin"), ValueError, "must end in"),
        (lambda: train.merge_pipeline_strategys(folder + "x", new), NotADirectoryError, "is no folder"),
        (lambda: train.merge_pipeline_strategys(str(two_ranks / "empty"), new), ValueError, "no strategy files"),
        (lambda: train.build_searched_strategy(3), TypeError, "strategy_filename"),  # type: ignore[arg-type]
        (lambda: train.restore_group_info_list("none"), ValueError, "no group file"),
        (lambda: train.load_distributed_checkpoint(Net(), ["none"]), CheckpointError, "no checkpoint none"),
        (lambda: train.load_distributed_checkpoint(Net()), TypeError, "checkpoint_filenames"),
        (lambda: train.load_distributed_checkpoint(3, ["x"]), TypeError, "must be a Cell"),  # type: ignore[arg-type]
        (lambda: train.load_distributed_checkpoint(None, [strategy]), ValueError, "dst_safetensors_dir"),
        (lambda: train.save_param_strategy_file(3, new), TypeError, "must be a Cell"),  # type: ignore[arg-type]
    ):
        with pytest.raises(error, match=message):
            call()
    assert not Path(new).exists()


def test_files_of_ranks_that_hold_the_same_slices(tmp_path: Path) -> None:
    def found(rank: int, strategy: Path) -> str | None:
        path = train.get_ckpt_path_with_strategy(
            str(tmp_path / f"rank_{rank}" / f"rank_{rank}-1_2.ckpt"), str(strategy)
        )
        return path and path[len(str(tmp_path)) + 1 :]

    def keep(*ranks: int) -> None:
        for rank in range(20):
            file = tmp_path / f"rank_{rank}" / f"rank_{rank}-1_2.ckpt"
            file.parent.mkdir(exist_ok=True)
            file.unlink(missing_ok=True)
            if rank in ranks:
                file.touch()

    one, staged, pieces = tmp_path / "one.ckpt", tmp_path / "staged.ckpt", tmp_path / "pieces.ckpt"
    strategies.write(one, [("a", SliceLayout((2, 2, 2), (0, -1))), ("b", SliceLayout((2, 2, 2), (1,)))])
    strategies.write(staged, [("a", SliceLayout((2, 4), (0,)))], stage=1)
    strategies.write(pieces, [("a", SliceLayout((4,), (-1,), 1, 2))])
    keep(5, 7, 12)
    assert found(1, one) == found(5, one) == "rank_5/rank_5-1_2.ckpt"
    assert found(3, one) == "rank_7/rank_7-1_2.ckpt"
    assert found(0, one) is found(2, one) is found(4, one) is None
    assert found(8, staged) == found(12, staged) == "rank_12/rank_12-1_2.ckpt"
    assert found(9, staged) is None
    keep(3)
    assert found(1, pieces) == found(3, pieces) == "rank_3/rank_3-1_2.ckpt"
    assert found(0, pieces) is None
    with pytest.raises(ValueError, match="has no rank 0"):
        found(0, staged)
    with pytest.raises(ValueError, match="no strategy file"):
        found(0, tmp_path / "none.ckpt")
    with pytest.raises(TypeError, match="cur_strategy_path"):
        train.get_ckpt_path_with_strategy("rank_0", 3)  # type: ignore[arg-type]
    other = tmp_path / "rank" / "net.ckpt"
    assert train.get_ckpt_path_with_strategy(str(other), str(one)) is None
    other.parent.mkdir()
    other.touch()
    assert train.get_ckpt_path_with_strategy(str(other), str(one)) == str(other)


@pytest.mark.parametrize("module", [serialization, loading, converting, distributed, transforming])
def test_what_reads_or_writes_files_is_left_to_python(module: Any) -> None:
    """A compiled function would keep what its first call found."""
    free = {"load_param_into_net", "merge_sliced_parameter"}  # they only compute
    for name in train.__all__:
        found = getattr(module, name, None)
        if getattr(found, "__module__", "") == module.__name__ and name not in free:
            assert found.__code__ in PYTHON_ONLY, name
