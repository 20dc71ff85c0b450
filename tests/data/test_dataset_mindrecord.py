"""MindDataset: the numbers are those that MindSpore 2.10 gives for the same files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.data_settings import settings_of_pipelines  # noqa: F401
from weft import data as ds
from weft.data import vision
from weft.data.mindrecord import FileWriter


def write(path: Path, schema: dict[str, Any], rows: list[dict[str, Any]], count: int = 1) -> str:
    writer = FileWriter(str(path), count)
    writer.set_header_size(1 << 14)
    writer.set_page_size(1 << 15)
    writer.add_schema(schema)
    writer.write_raw_data(rows)
    writer.commit()
    return str(path) if count == 1 else f"{path}0"


@pytest.fixture(scope="module")
def ten(tmp_path_factory: pytest.TempPathFactory) -> str:
    schema = {"i": {"type": "int64"}, "c": {"type": "int32"}, "d": {"type": "bytes"}}
    rows = [{"i": i, "c": i % 3, "d": b"%d" % i} for i in range(10)]
    return write(tmp_path_factory.mktemp("ten") / "t", schema, rows, 3)


def numbers(path: Any, **options: Any) -> list[int]:
    dataset = ds.MindDataset(path, **options)
    found = [int(row["i"]) for row in dataset.create_dict_iterator(num_epochs=1, output_numpy=True)]
    assert dataset.get_dataset_size() == len(found)
    return found


def test_types_of_columns(tmp_path: Path) -> None:
    schema: dict[str, Any] = {
        "name": {"type": "string"},
        "n": {"type": "int32"},
        "big": {"type": "int64"},
        "f": {"type": "float32"},
        "g": {"type": "float64"},
        "data": {"type": "bytes"},
        "v": {"type": "int32", "shape": [-1]},
        "w": {"type": "int64", "shape": [2, -1]},
        "x": {"type": "float32", "shape": [2]},
    }
    rows = [
        {
            "name": f"n{i}",
            "n": i,
            "big": -i * 2**33,
            "f": i / 3,
            "g": i / 3,
            "data": b"%d" % (i * 100),
            "v": np.arange(i + 1, dtype=np.int32) * 1000 - 5,
            "w": np.arange(4).reshape(2, 2) * 2**20,
            "x": np.array([i, 0.5], np.float32),
        }
        for i in range(2)
    ]
    path = write(tmp_path / "t", schema, rows)
    dataset = ds.MindDataset(path, shuffle=False)
    assert dataset.get_col_names() == ["big", "data", "f", "g", "n", "name", "v", "w", "x"]
    kinds = ["int64", "S", "float32", "float64", "int32", "U", "int32", "int64", "float32"]
    assert dataset.output_types() == [np.dtype(kind) for kind in kinds]
    assert dataset.output_shapes() == [[], [1], [], [], [], [], [1], [2, 2], [2]]
    found = list(dataset.create_dict_iterator(num_epochs=1, output_numpy=True))[1]
    assert {name: (str(x.dtype), x.tolist()) for name, x in found.items()} == {
        "big": ("int64", -(2**33)),
        "data": ("|S3", [b"100"]),
        "f": ("float32", np.float32(1 / 3).item()),
        "g": ("float64", 1 / 3),
        "n": ("int32", 1),
        "name": ("<U2", "n1"),
        "v": ("int32", [-5, 995]),
        "w": ("int64", [[0, 2**20], [2**21, 3 * 2**20]]),
        "x": ("float32", [1.0, 0.5]),
    }
    chosen = ds.MindDataset(path, ["x", "data"], shuffle=False)
    assert list(next(iter(chosen.create_dict_iterator(num_epochs=1)))) == ["x", "data"]
    with pytest.raises(RuntimeError, match="column name: q can not found in schema"):
        ds.MindDataset(path, ["q"]).get_dataset_size()


def test_bytes_are_images(tmp_path: Path) -> None:
    image_module = pytest.importorskip("PIL.Image")
    pixels = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    stream = io.BytesIO()
    image_module.fromarray(pixels).save(stream, "PNG")
    path = write(tmp_path / "t", {"image": {"type": "bytes"}}, [{"image": stream.getvalue()}] * 2)
    functions = [
        vision.Decode(),
        vision.Decode(to_pil=True),
        lambda x: np.array(image_module.open(io.BytesIO(x))),
        lambda x: np.array(image_module.open(io.BytesIO(x.tobytes()))),
        lambda x: np.array(image_module.open(io.BytesIO(np.frombuffer(x, np.uint8)))),
    ]
    for function in functions:
        for (found,) in ds.MindDataset(path).map([function, np.asarray]).create_tuple_iterator(output_numpy=True):
            assert np.array_equal(found, pixels)


def test_files(ten: str) -> None:
    first, second, third = (f"{ten[:-1]}{number}" for number in range(3))
    assert numbers(first, shuffle=False) == list(range(10))
    assert numbers([second], shuffle=False) == [4, 5, 6]
    assert numbers([third, first], shuffle=False) == [7, 8, 9, 0, 1, 2, 3]


def test_parts(ten: str) -> None:
    parts = [numbers(ten, num_shards=3, shard_id=part, shuffle=False) for part in range(3)]
    assert parts == [[0, 3, 6, 9], [1, 4, 7, 0], [2, 5, 8, 1]]
    assert numbers(ten, num_shards=2, shard_id=1, num_samples=2, shuffle=False) == [1, 3]
    together = [i for part in range(2) for i in numbers(ten, num_shards=2, shard_id=part)]
    assert len(together) == 10


def test_rows_are_appended_until_parts_are_even(ten: str) -> None:
    options: dict[str, Any] = {
        "columns_list": ["i", "c", "d"],
        "padded_sample": {"i": -1, "c": 5, "d": b"zz"},
        "shuffle": False,
    }
    parts = [numbers(ten, num_shards=4, shard_id=part, num_padded=2, **options) for part in range(4)]
    assert parts == [[0, 4, 8], [1, 5, 9], [2, 6, -1], [3, 7, -1]]
    assert numbers(ten, num_padded=2, **options) == [*range(10), -1, -1]
    last = list(ds.MindDataset(ten, num_padded=1, **options).create_dict_iterator(num_epochs=1, output_numpy=True))[-1]
    assert {name: (str(x.dtype), x.tolist()) for name, x in last.items()} == {
        "i": ("int64", -1),
        "c": ("int32", 5),
        "d": ("|S2", [b"zz"]),
    }
    with pytest.raises(RuntimeError, match="can not be divisible"):
        numbers(ten, num_shards=4, shard_id=0, num_padded=1, **options)


def test_samples_and_samplers(ten: str) -> None:
    assert numbers(ten, num_samples=4, shuffle=False) == [0, 1, 2, 3]
    assert numbers(ten, num_samples=20, shuffle=False) == list(range(10))
    assert numbers(ten, num_samples=0, shuffle=False) == list(range(10))
    assert numbers(ten, sampler=ds.SequentialSampler(2, 5)) == [2, 3, 4, 5, 6]
    assert numbers(ten, sampler=ds.DistributedSampler(3, 1, shuffle=False)) == [1, 4, 7, 0]
    assert numbers(ten, sampler=ds.DistributedSampler(3, 1, shuffle=False, num_samples=2)) == [1, 4]
    assert numbers(ten, sampler=ds.SubsetSampler([5, 3, 1])) == [5, 3, 1]
    assert sorted(numbers(ten, sampler=ds.SubsetRandomSampler([1, 3, 5]))) == [1, 3, 5]
    assert sorted(numbers(ten, sampler=ds.RandomSampler())) == list(range(10))
    assert numbers(ten, sampler=ds.PKSampler(2, class_column="c")) == [0, 3, 1, 4, 2, 5]
    for wrong in ("d", "label"):
        with pytest.raises(RuntimeError, match=f"'class_column': {wrong} can not found"):
            numbers(ten, sampler=ds.PKSampler(2, class_column=wrong))


@pytest.mark.parametrize("how", [None, True, *ds.Shuffle])
def test_orders(how: Any, ten: str) -> None:
    ds.config.set_seed(3)
    found = numbers(ten, shuffle=how)
    iterator = ds.MindDataset(ten, shuffle=how).create_dict_iterator(num_epochs=2, output_numpy=True)
    epochs = [[int(row["i"]) for row in iterator] for _ in range(2)]
    assert sorted(found) == list(range(10))
    assert all(sorted(epoch) == list(range(10)) for epoch in epochs)
    files = [{0, 1, 2, 3}, {4, 5, 6}, {7, 8, 9}]
    if how is ds.Shuffle.FALSE:
        assert found == list(range(10))
    if how is ds.Shuffle.INFILE:
        assert [set(found[:4]), set(found[4:7]), set(found[7:])] == files
    if how is ds.Shuffle.FILES:
        assert all(sorted(part) == part for part in (found[found.index(min(each)) :][: len(each)] for each in files))
        parts = [numbers(ten, shuffle=how, num_shards=2, shard_id=part) for part in range(2)]
        assert sorted(parts[0] + parts[1]) == list(range(10))


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"num_shards": 2}, RuntimeError, "num_shards is specified and currently requires shard_id as well."),
        ({"shard_id": 0}, RuntimeError, "shard_id is specified but num_shards is not."),
        ({"num_shards": 2, "shard_id": 2}, ValueError, "is not within the required interval"),
        ({"shuffle": "global"}, TypeError, "shuffle must be of boolean or enum"),
        ({"shuffle": True, "sampler": [1]}, RuntimeError, "sampler and shuffle cannot be specified"),
        ({"num_shards": 2, "shard_id": 0, "sampler": [1]}, RuntimeError, "sampler and sharding cannot be"),
        ({"num_samples": -1}, ValueError, "num_samples"),
        ({"num_padded": 2}, RuntimeError, "num_padded is specified but padded_sample is not."),
        ({"padded_sample": {"i": 1}, "columns_list": ["i"]}, RuntimeError, "requires num_padded as well"),
        ({"padded_sample": {"i": 1}, "num_padded": 1}, RuntimeError, "requires columns_list as well"),
        (
            {"padded_sample": {"i": 1}, "num_padded": 1, "columns_list": ["i", "c"]},
            ValueError,
            "padded_sample cannot match columns_list",
        ),
    ],
)
def test_wrong_arguments(options: dict[str, Any], error: type[Exception], text: str, ten: str) -> None:
    with pytest.raises(error, match=text):
        ds.MindDataset(ten, **options)


def test_wrong_files(ten: str, tmp_path: Path) -> None:
    for wrong in (ten[:-1], [ten, str(tmp_path / "none")]):
        with pytest.raises(ValueError, match="does not exist or permission denied"):
            ds.MindDataset(wrong)
    with pytest.raises(TypeError, match="5 is not string"):
        ds.MindDataset(5)  # type: ignore[arg-type]
    other = write(tmp_path / "o", {"i": {"type": "int32"}}, [{"i": 1}])
    with pytest.raises(RuntimeError, match="is different from others"):
        ds.MindDataset([ten, other]).get_dataset_size()


def test_the_next_epoch_does_not_see_what_was_changed(tmp_path: Path) -> None:
    path = write(tmp_path / "t", {"v": {"type": "int32", "shape": [2]}}, [{"v": np.arange(2, dtype=np.int32)}])
    dataset = ds.MindDataset(path)
    for _ in range(2):
        for (found,) in dataset.create_tuple_iterator(output_numpy=True):
            assert found.tolist() == [0, 1]
            found += 1
