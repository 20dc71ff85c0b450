"""Sources give the rows that MindSpore 2.10 gives for the same programs; the numbers are its answers."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tfrecord_samples import write_records

import weft
from weft import data as ds


def shown(dataset: Any) -> list[Any]:
    """The rows as lists of element type, shape and values."""
    return [
        [(str(x.dtype), tuple(x.shape), x.tolist()) for x in row]
        for row in dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)
    ]


def column(dataset: Any) -> list[Any]:
    """The values of the first column."""
    return [row[0].tolist() for row in dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)]


def many_types() -> Any:
    yield 0, 0.0, np.float32(0), np.array([0], np.uint8), True, np.int32(3), np.array(["a", "bc"]), "str", b"by"


class Squares:
    """Rows by number."""

    def __getitem__(self, place: int) -> tuple[Any, ...]:
        return (np.int32(place * place),)

    def __len__(self) -> int:
        return 4


class Counting:
    """Rows in order, anew for each epoch."""

    def __iter__(self) -> Any:
        self.count = 0
        return self

    def __next__(self) -> tuple[int]:
        if self.count >= 3:
            raise StopIteration
        self.count += 1
        return (self.count,)


class TestGenerator:
    def test_element_types(self) -> None:
        assert shown(ds.GeneratorDataset(many_types, [f"c{i}" for i in range(9)])) == [
            [
                ("int64", (), 0),
                ("float64", (), 0.0),
                ("float32", (), 0.0),
                ("uint8", (1,), [0]),
                ("bool", (), True),
                ("int32", (), 3),
                ("<U2", (2,), ["a", "bc"]),
                ("<U3", (), "str"),
                ("|S2", (), b"by"),
            ]
        ]

    def test_tensors_for_numbers_arrays_for_text(self) -> None:
        (row,) = list(ds.GeneratorDataset(many_types, [f"c{i}" for i in range(9)]))
        assert [type(x) for x in row] == [weft.Tensor] * 6 + [np.ndarray] * 3
        assert str(row[1].dtype) == "Float64"

    @pytest.mark.parametrize(
        ("source", "names", "rows"),
        [
            (
                [[1, 2], [3, 4]],
                ["a", "b"],
                [[("int64", (), 1), ("int64", (), 2)], [("int64", (), 3), ("int64", (), 4)]],
            ),
            ([1, 2], "a", [[("int64", (), 1)], [("int64", (), 2)]]),
            ([([1, 2], [1.5])], ["a", "b"], [[("int64", (2,), [1, 2]), ("float64", (1,), [1.5])]]),
            (np.arange(2), ["x"], [[("int64", (), 0)], [("int64", (), 1)]]),
            ([weft.Tensor([1.0, 2.0])], ["x"], [[("float32", (2,), [1.0, 2.0])]]),
        ],
    )
    def test_values(self, source: Any, names: Any, rows: Any) -> None:
        assert shown(ds.GeneratorDataset(source, names, shuffle=False)) == rows

    def test_iterable_is_read_anew(self) -> None:
        data = ds.GeneratorDataset(Counting(), ["x"])
        assert column(data.repeat(2)) == [1, 2, 3, 1, 2, 3]
        assert data.get_dataset_size() == 3

    def test_an_iterator_has_one_epoch(self) -> None:
        assert column(ds.GeneratorDataset(iter([1, 2, 3]), ["x"]).repeat(2)) == [1, 2, 3]

    def test_num_samples_and_shards(self) -> None:
        assert column(ds.GeneratorDataset(Counting(), ["x"], num_samples=2)) == [1, 2]
        assert column(ds.GeneratorDataset(Squares(), ["x"], shuffle=False, num_samples=2)) == [0, 1]
        assert column(ds.GeneratorDataset(Squares(), ["x"], shuffle=False, num_shards=3, shard_id=1)) == [1, 0]

    def test_batch_sampler_and_collate(self) -> None:
        data = ds.GeneratorDataset(Squares(), ["x"], batch_sampler=[[0, 1], [3]])
        assert column(data) == [[0, 1], [9]]
        summed = ds.GeneratorDataset(
            Squares(), ["x"], batch_sampler=[[1, 2], [3]], collate_fn=lambda rows: sum(rows, ())[0]
        )
        assert column(summed) == [1, 9]

    @pytest.mark.parametrize("workers", [1, 2])
    @pytest.mark.parametrize("processes", [False, True])
    def test_workers_keep_the_order(self, workers: int, processes: bool) -> None:
        data = ds.GeneratorDataset(
            Squares(), ["x"], shuffle=False, num_parallel_workers=workers, python_multiprocessing=processes
        )
        assert column(data) == [0, 1, 4, 9]

    @pytest.mark.parametrize(
        ("source", "message"),
        [
            ([(1, 2)], "2 values for 3 columns"),
            ([(None, 1, 1)], "not NoneType"),
            ([({}, 1, 1)], "not dict"),
            ([(1j, 1, 1)], "complex128"),
            ([([1, [2]], 1, 1)], "no array can be made"),
        ],
    )
    def test_bad_rows(self, source: Any, message: str) -> None:
        with pytest.raises(RuntimeError, match=message):
            list(ds.GeneratorDataset(source, ["a", "b", "c"]))

    def test_checked_types(self) -> None:
        with pytest.raises(RuntimeError, match="column_types"):
            list(ds.GeneratorDataset([(1,)], ["a"], column_types=[weft.float32]))
        schema = ds.Schema()
        schema.add_column("q", weft.int64)
        assert shown(ds.GeneratorDataset([(1,)], schema=schema)) == [[("int64", (), 1)]]

    def test_bad_arguments(self) -> None:
        with pytest.raises(ValueError, match="Neither columns_names nor schema"):
            ds.GeneratorDataset([1])
        with pytest.raises(ValueError, match="sampler is not supported"):
            ds.GeneratorDataset(Counting(), ["x"], sampler=ds.SequentialSampler())
        with pytest.raises(ValueError, match="num_shards is not supported"):
            ds.GeneratorDataset(Counting(), ["x"], num_shards=2, shard_id=0)
        with pytest.raises(TypeError, match="source must have"):
            ds.GeneratorDataset(3, ["x"])


class TestNumpySlices:
    @pytest.mark.parametrize(
        ("given", "rows"),
        [
            (np.arange(4).reshape(2, 2), [[("int64", (2,), [0, 1])], [("int64", (2,), [2, 3])]]),
            ([1.0, 2], [[("float64", (), 1.0)], [("int64", (), 2)]]),
            (([1, 2], [3.0, 4]), [[("int64", (), 1), ("float64", (), 3.0)], [("int64", (), 2), ("int64", (), 4)]]),
            ({"a": [1], "b": ["x"]}, [[("int64", (), 1), ("<U1", (), "x")]]),
        ],
    )
    def test_rows(self, given: Any, rows: Any) -> None:
        assert shown(ds.NumpySlicesDataset(given, shuffle=False)) == rows

    def test_names(self) -> None:
        assert ds.NumpySlicesDataset([1]).get_col_names() == ["column_0"]
        assert ds.NumpySlicesDataset(([1], [2])).get_col_names() == ["column_0", "column_1"]
        assert ds.NumpySlicesDataset({"u": [1]}).get_col_names() == ["u"]
        assert ds.NumpySlicesDataset(([1], [2]), ["p", "q"]).get_col_names() == ["p", "q"]

    def test_refused(self) -> None:
        with pytest.raises(ValueError, match="not equal"):
            ds.NumpySlicesDataset(([1, 2], [3.0]))
        with pytest.raises(ValueError, match="cannot be empty"):
            ds.NumpySlicesDataset([])


def weigh(dataset: Any) -> list[Any]:
    """For each row what tells it from others."""
    return [
        [(str(x.dtype), x.shape, int(x.astype(np.int64).sum()), x.ravel()[:3].tolist()) for x in row]
        for row in dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)
    ]


@pytest.fixture
def mnist(tmp_path: Path) -> Path:
    for part, count in (("train", 4), ("t10k", 2)):
        images = bytes((i * 7) % 256 for i in range(count * 784))
        (tmp_path / f"{part}-images-idx3-ubyte").write_bytes(
            b"\0\0\x08\x03" + struct.pack(">III", count, 28, 28) + images
        )
        labels = bytes(range(count))
        (tmp_path / f"{part}-labels-idx1-ubyte").write_bytes(b"\0\0\x08\x01" + struct.pack(">I", count) + labels)
    return tmp_path


class TestImages:
    def test_mnist(self, mnist: Path) -> None:
        rows = [
            [("uint8", (28, 28, 1), 98760, [0, 7, 14]), ("uint32", (), 0, [0])],
            [("uint8", (28, 28, 1), 100552, [112, 119, 126]), ("uint32", (), 1, [1])],
            [("uint8", (28, 28, 1), 99528, [224, 231, 238]), ("uint32", (), 2, [2])],
            [("uint8", (28, 28, 1), 100040, [80, 87, 94]), ("uint32", (), 3, [3])],
        ]
        assert weigh(ds.MnistDataset(mnist, shuffle=False)) == rows[:2] + rows
        assert weigh(ds.MnistDataset(mnist, "test", shuffle=False)) == rows[:2]
        assert weigh(ds.MnistDataset(str(mnist), sampler=ds.PKSampler(1))) == rows
        assert ds.MnistDataset(mnist, "train").get_dataset_size() == 4
        with pytest.raises(ValueError, match="usage"):
            ds.MnistDataset(mnist, "valid")

    def test_parts_of_mnist_in_folders_of_their_own(self, mnist: Path) -> None:
        apart = mnist / "test"
        apart.mkdir()
        for name in ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"):
            (mnist / name).rename(apart / name)
        assert ds.MnistDataset(mnist).get_dataset_size() == ds.MnistDataset(mnist, "all").get_dataset_size() == 4
        assert ds.MnistDataset(apart).get_dataset_size() == 2
        with pytest.raises(RuntimeError, match="t10k-images"):
            list(ds.MnistDataset(mnist, "test"))
        (apart / "t10k-labels-idx1-ubyte").unlink()
        with pytest.raises(RuntimeError, match="t10k-labels"):
            list(ds.MnistDataset(apart))
        (apart / "t10k-images-idx3-ubyte").unlink()
        with pytest.raises(RuntimeError, match="t10k-images"):
            list(ds.MnistDataset(apart))

    def test_damaged_mnist(self, mnist: Path) -> None:
        path = mnist / "t10k-images-idx3-ubyte"
        path.write_bytes(path.read_bytes()[:-1])
        with pytest.raises(RuntimeError, match="damaged"):
            list(ds.MnistDataset(mnist, "test"))

    def test_a_row_is_its_readers_own(self, mnist: Path) -> None:
        data = ds.MnistDataset(mnist, "test", shuffle=False)
        for image, _ in data.create_tuple_iterator(num_epochs=1, output_numpy=True):
            image[:] = 0
        assert weigh(data)[0][0][2] == 98760

    def test_cifar(self, tmp_path: Path) -> None:
        def records(count: int, labels: int) -> bytes:
            return b"".join(
                bytes([i] * labels) + bytes((i + j // 1024 * 3) % 256 for j in range(3072)) for i in range(count)
            )

        (tmp_path / "data_batch_1.bin").write_bytes(records(2, 1))
        (tmp_path / "test_batch.bin").write_bytes(records(1, 1))
        (tmp_path / "train.bin").write_bytes(records(2, 2))
        ten = weigh(ds.Cifar10Dataset(tmp_path, shuffle=False))
        assert [row[0][3] for row in ten] == [[0, 3, 6], [1, 4, 7], [0, 3, 6]]
        assert [row[1] for row in ten] == [("uint32", (), i, [i]) for i in (0, 1, 0)]
        hundred = ds.Cifar100Dataset(tmp_path, "train", shuffle=False)
        assert hundred.get_col_names() == ["image", "coarse_label", "fine_label"]
        assert weigh(hundred)[1][2] == ("uint32", (), 1, [1])

    def test_image_folder(self, tmp_path: Path) -> None:
        cv2 = pytest.importorskip("cv2")
        pixels = (np.arange(60) * 3).astype(np.uint8).reshape(5, 4, 3)
        for name, count in (("dog", 2), ("cat", 1)):
            (tmp_path / name).mkdir()
            for i in range(count):
                cv2.imwrite(str(tmp_path / name / f"{i}.png"), (pixels + i)[..., ::-1])
        data = ds.ImageFolderDataset(tmp_path, shuffle=False, decode=True)
        rows = list(data.create_tuple_iterator(num_epochs=1, output_numpy=True))
        assert [int(label) for _, label in rows] == [0, 1, 1]
        assert rows[0][1].dtype == np.int32
        np.testing.assert_array_equal(rows[2][0], pixels + 1)
        assert data.num_classes() == 2
        assert data.get_class_indexing() == {"cat": 0, "dog": 1}
        raw = ds.ImageFolderDataset(tmp_path, shuffle=False, class_indexing={"dog": 7})
        rows = list(raw.create_tuple_iterator(num_epochs=1, output_numpy=True))
        assert [int(label) for _, label in rows] == [7, 7]
        assert rows[0][0].tobytes() == (tmp_path / "dog" / "0.png").read_bytes()
        (tmp_path / "dog" / "x.txt").write_text("no")
        with pytest.raises(RuntimeError, match=r"x\.txt is no image"):
            list(ds.ImageFolderDataset(tmp_path, decode=True))
        assert len(ds.ImageFolderDataset(tmp_path, extensions=[".png"])) == 3

    def test_no_folder(self) -> None:
        with pytest.raises(ValueError, match="does not exist"):
            ds.ImageFolderDataset("/nowhere/at/all")


class TestTexts:
    def test_lines(self, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_text("one\n\ntwo\nthree")
        (tmp_path / "b.txt").write_text("four\n")
        paths = [str(tmp_path / "a.txt"), str(tmp_path / "b.txt")]

        def read(**more: Any) -> list[str]:
            return column(ds.TextFileDataset(paths, shuffle=False, num_parallel_workers=2, **more))

        assert read() == ["one", "four", "two", "three"]
        assert read(num_shards=2, shard_id=0) == ["one", "two"]
        assert read(num_shards=2, shard_id=1) == ["three", "four"]
        assert ds.TextFileDataset(str(tmp_path / "*.txt"), num_samples=2).get_dataset_size() == 2
        assert sorted(column(ds.TextFileDataset(paths))) == ["four", "one", "three", "two"]
        with pytest.raises(ValueError, match="did not match any files"):
            ds.TextFileDataset("/nowhere.txt")

    def test_values_separated_by_commas(self, tmp_path: Path) -> None:
        path = tmp_path / "a.csv"
        path.write_text('1,2.5,x\n3,4.5,"y,z"\n')
        names = ["a", "b", "c"]
        assert shown(ds.CSVDataset(path, column_defaults=[1, 1.0, ""], column_names=names, shuffle=False)) == [
            [("int32", (), 1), ("float32", (), 2.5), ("<U1", (), "x")],
            [("int32", (), 3), ("float32", (), 4.5), ("<U3", (), "y,z")],
        ]
        assert shown(ds.CSVDataset(path, column_names=names, shuffle=False))[0][0] == ("<U1", (), "1")
        with pytest.raises(RuntimeError, match="3 values for 2 columns"):
            list(ds.CSVDataset(path, column_names=["a", "b"]))
        path.write_text("p,q\n1,2\n3,4\n")
        data = ds.CSVDataset(path, column_defaults=[0, 0.5], shuffle=False)
        assert data.get_col_names() == ["p", "q"]
        assert shown(data)[1] == [("int32", (), 3), ("float32", (), 4.0)]


class TestRecords:
    def test_records(self, tmp_path: Path) -> None:
        first, second = tmp_path / "a.tfrecord", tmp_path / "b.tfrecord"
        write_records(first, [{"z": [i, -i], "f": [i + 0.5], "b": [b"ab%d" % i]} for i in range(3)])
        write_records(second, [{"z": [10, 11], "f": [1.5], "b": [b"q"]}])
        data = ds.TFRecordDataset(first, shuffle=False)
        assert data.get_col_names() == ["b", "f", "z"]
        assert shown(data)[1] == [("uint8", (3,), [97, 98, 49]), ("float32", (1,), [1.5]), ("int64", (2,), [1, -1])]

        def values(**more: Any) -> list[Any]:
            both = [str(first), str(second)]
            return column(ds.TFRecordDataset(both, columns_list=["f"], shuffle=False, num_parallel_workers=2, **more))

        assert values() == [[0.5], [1.5], [1.5], [2.5]]
        assert values(num_shards=2, shard_id=1) == [[1.5]]
        assert values(num_shards=2, shard_id=0, shard_equal_rows=True) == [[0.5], [1.5]]
        assert values(num_shards=2, shard_id=1, shard_equal_rows=True) == [[2.5], [1.5]]
        schema = ds.Schema()
        schema.add_column("z", weft.int64, [2, 1])
        schema.add_column("f", weft.float16, [])
        schema.add_column("b", weft.string if hasattr(weft, "string") else "string", [])
        assert shown(ds.TFRecordDataset(first, schema=schema, shuffle=False))[2] == [
            ("int64", (2, 1), [[2], [-2]]),
            ("float16", (), 2.5),
            ("<U3", (), "ab2"),
        ]
        with pytest.raises(RuntimeError, match="failed to find column name: nope"):
            list(ds.TFRecordDataset(first, columns_list=["nope"]))

    def test_damaged(self, tmp_path: Path) -> None:
        path = tmp_path / "a.tfrecord"
        write_records(path, [{"z": [1]}, {"z": [2]}])
        whole = path.read_bytes()
        for end in range(1, len(whole) // 2):
            path.write_bytes(whole[: len(whole) // 2 + end])
            if end < len(whole) // 2:
                with pytest.raises(RuntimeError, match="middle of a record"):
                    list(ds.TFRecordDataset(path))
        path.write_bytes(bytes(byte ^ 255 for byte in whole))
        with pytest.raises(RuntimeError, match="no TFRecord file"):
            list(ds.TFRecordDataset(path))
