"""Other files as MindRecord files: names of files, schemas and rows are those of MindSpore 2.10."""

from __future__ import annotations

import gzip
import os
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tfrecord_samples import write_records

from weft import data as ds
from weft.data import mindrecord


def read(path: Path | str) -> tuple[dict[str, str], list[dict[str, Any]]]:
    reader = mindrecord.FileReader(str(path))
    schema = {name: said["type"] for name, said in reader.schema().items()}
    return schema, list(reader.get_next())


def test_csv(tmp_path: Path) -> None:
    source = tmp_path / "a.csv"
    source.write_text("id,score,name,long,mix\n1,2.5,a,99999999999,1\n2,3,b,1,x\n")
    assert mindrecord.CsvToMR(str(source), str(tmp_path / "a.mr")).transform() is None
    schema, rows = read(tmp_path / "a.mr")
    assert schema == {"id": "int64", "long": "int64", "mix": "string", "name": "string", "score": "float64"}
    assert rows == [
        {"id": 1, "long": 99999999999, "mix": "1", "name": "a", "score": 2.5},
        {"id": 2, "long": 1, "mix": "x", "name": "b", "score": 3.0},
    ]
    status = mindrecord.CsvToMR(str(source), str(tmp_path / "b.mr"), ["id", "name"], 2).run()
    assert status == mindrecord.SUCCESS == 0
    assert mindrecord.FAILED == 1
    assert sorted(name for name in os.listdir(tmp_path) if name.startswith("b.")) == [
        "b.mr0", "b.mr0.db", "b.mr1", "b.mr1.db",
    ]  # fmt: skip
    assert read(tmp_path / "b.mr0")[0] == {"id": "int64", "name": "string"}
    bad = tmp_path / "n.csv"
    bad.write_text("1a,b\n1,2\n")
    c = str(tmp_path / "c.mr")
    for call, error in (
        (lambda: mindrecord.CsvToMR(str(tmp_path / "none"), c).transform(), OSError),
        (lambda: mindrecord.CsvToMR(str(source), c, ["zz"]).transform(), RuntimeError),
        (lambda: mindrecord.CsvToMR(str(bad), c).transform(), ValueError),
        (lambda: mindrecord.CsvToMR(1, c), ValueError),
        (lambda: mindrecord.CsvToMR(str(source), 2), ValueError),
        (lambda: mindrecord.CsvToMR(str(source), c, "a"), ValueError),
        (lambda: mindrecord.CsvToMR(str(source), c, partition_number="a"), ValueError),
        (lambda: mindrecord.CsvToMR(str(source), c, partition_number=0).transform(), mindrecord_error()),
    ):
        with pytest.raises(error):
            call()


def mindrecord_error() -> type[Exception]:
    from weft.data.mindrecord.errors import ParamValueError

    return ParamValueError


def image(value: int) -> np.ndarray[Any, Any]:
    """An image of one colour, which JPEG keeps nearly: red, green and blue after one another."""
    return np.repeat(np.array([value, 2 * value, 3 * value], np.uint8), 1024)


def colours(path: Path, column: str = "data") -> list[list[int]]:
    from weft.data import vision

    data = ds.MindDataset(str(path), [column], shuffle=False).map(vision.Decode(), [column])
    return [x[0, 0].tolist() for (x,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]


def test_cifar(tmp_path: Path) -> None:
    pytest.importorskip("cv2")
    ten, hundred = tmp_path / "c10", tmp_path / "c100"
    ten.mkdir()
    hundred.mkdir()
    for name in (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"):
        labels = [len(name), 3]
        content = {b"data": np.stack([image(20), image(30)]), b"labels": labels, b"filenames": [b"a", b"b"]}
        (ten / name).write_bytes(pickle.dumps(content))
    for name in ("train", "test"):
        content = {b"data": np.stack([image(20), image(30)]), b"fine_labels": [7, 8], b"coarse_labels": [1, 2]}
        (hundred / name).write_bytes(pickle.dumps(content))
    mindrecord.Cifar10ToMR(str(ten), str(tmp_path / "x.mr")).transform(["label"])
    schema, rows = read(tmp_path / "x.mr")
    assert schema == {"data": "bytes", "id": "int64", "label": "int64"}
    assert [(row["id"], row["label"]) for row in rows][:3] == [(0, 12), (1, 3), (2, 12)]
    assert len(rows) == 10
    assert len(read(tmp_path / "x.mr_test")[1]) == 2
    assert np.abs(np.array(colours(tmp_path / "x.mr_test")) - [[20, 40, 60], [30, 60, 90]]).max() <= 3
    mindrecord.Cifar100ToMR(str(hundred), str(tmp_path / "y.mr")).transform()
    schema, rows = read(tmp_path / "y.mr")
    assert schema == {"coarse_label": "int64", "data": "bytes", "fine_label": "int64", "id": "int64"}
    assert [(row["id"], row["fine_label"], row["coarse_label"]) for row in rows] == [(0, 7, 1), (1, 8, 2)]
    assert len(read(tmp_path / "y.mr_test")[1]) == 2
    with pytest.raises(ValueError, match="fields should be None or list"):
        mindrecord.Cifar10ToMR(str(ten), str(tmp_path / "z.mr")).transform("label")
    with pytest.raises(mindrecord_error()):
        mindrecord.Cifar10ToMR(1, str(tmp_path / "z.mr"))
    # a file of pickle runs nothing
    (hundred / "train").write_bytes(b"cos\nsystem\n(S'true'\ntR.")
    with pytest.raises(RuntimeError, match="system is no part of CIFAR's files"):
        mindrecord.Cifar100ToMR(str(hundred), str(tmp_path / "w.mr")).transform()


def test_mnist(tmp_path: Path) -> None:
    pytest.importorskip("cv2")
    for part, count in (("train", 3), ("t10k", 2)):
        images = struct.pack(">IIII", 2051, count, 28, 28) + bytes([50]) * (784 * count)
        (tmp_path / f"{part}-images-idx3-ubyte.gz").write_bytes(gzip.compress(images))
        labels = struct.pack(">II", 2049, count) + bytes(range(count))
        (tmp_path / f"{part}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(labels))
    mindrecord.MnistToMR(str(tmp_path), str(tmp_path / "m")).transform()
    for name, count in (("train", 3), ("test", 2)):
        schema, rows = read(tmp_path / f"m_{name}.mindrecord")
        assert schema == {"data": "bytes", "label": "int64"}
        assert [row["label"] for row in rows] == list(range(count))
        assert colours(tmp_path / f"m_{name}.mindrecord") == [[50, 50, 50]] * count


def test_imagenet(tmp_path: Path) -> None:
    for name in ("n1/a.JPEG", "n1/b.JPEG", "n2/c.JPEG", "n2/d.txt"):
        (tmp_path / "im" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "im" / name).write_bytes(name.encode())
    (tmp_path / "map.txt").write_text("n1 0\nn2 1\n")
    given = (str(tmp_path / "map.txt"), str(tmp_path / "im"))
    mindrecord.ImageNetToMR(*given, str(tmp_path / "i.mr")).transform()
    schema, rows = read(tmp_path / "i.mr")
    assert schema == {"file_name": "string", "image": "bytes", "label": "int32"}
    assert rows == [
        {"file_name": str(tmp_path / "im" / name), "label": label, "image": name.encode()}
        for name, label in (("n1/a.JPEG", 0), ("n1/b.JPEG", 0), ("n2/c.JPEG", 1))
    ]
    from weft.data.mindrecord.errors import PathNotExistsError

    with pytest.raises(PathNotExistsError, match="not valid image dir"):
        mindrecord.ImageNetToMR(given[0], str(tmp_path / "none"), str(tmp_path / "j.mr")).transform()


class Feature:
    """What TensorFlow's description of a feature has."""

    def __init__(self, shape: list[int], dtype: str) -> None:
        self.shape = shape
        self.dtype = dtype


def test_tfrecords(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"name": [b"a"], "image": [b"\x00\x01"], "one": [7], "some": [1.5, 2.5]},
        {"name": [b"b"], "image": [b"\x02"], "one": [8], "some": [3.5, 4.5]},
    ]
    write_records(tmp_path / "t.tfrecord", rows)
    features = {
        "name": Feature([], "string"),
        "image": Feature([], "string"),
        "one": Feature([], "int64"),
        "some": Feature([2], "float32"),
    }
    mindrecord.TFRecordToMR(str(tmp_path / "t.tfrecord"), str(tmp_path / "t.mr"), features, ["image"]).transform()
    schema, found = read(tmp_path / "t.mr")
    assert schema == {"image": "bytes", "name": "string", "one": "int64", "some": "float32"}
    assert [(row["name"], row["image"], row["one"], row["some"].tolist()) for row in found] == [
        ("a", b"\x00\x01", 7, [1.5, 2.5]),
        ("b", b"\x02", 8, [3.5, 4.5]),
    ]
    with pytest.raises(ValueError, match="feature_dict"):
        mindrecord.TFRecordToMR("a", str(tmp_path / "u.mr"), {"a": 1})
    with pytest.raises(ValueError, match="is not in feature_dict"):
        mindrecord.TFRecordToMR("a", str(tmp_path / "u.mr"), features, ["zz"])


def test_encryption_is_not_there() -> None:
    mindrecord.set_enc_key(None)
    mindrecord.set_enc_mode("AES-GCM")
    mindrecord.set_dec_mode(None)
    with pytest.raises(NotImplementedError, match="cannot be encrypted"):
        mindrecord.set_enc_key("0123456789012345")
    for call in (
        lambda: mindrecord.set_enc_key("short"),
        lambda: mindrecord.set_enc_key(1),
        lambda: mindrecord.set_enc_mode("AES-CBC"),
        lambda: mindrecord.set_dec_mode(1),
    ):
        with pytest.raises(ValueError, match=r"The (length|input)"):
            call()
