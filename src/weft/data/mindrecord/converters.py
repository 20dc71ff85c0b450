"""From other files to MindRecord: CIFAR, CSV, ImageNet, MNIST, TFRecord."""

from __future__ import annotations

import csv
import enum
import os
import pickle
from collections.abc import Iterable, Iterator
from typing import Any, Final

import numpy as np

from weft.data.files import read_idx
from weft.data.mindrecord.errors import PathNotExistsError
from weft.data.mindrecord.writer import FileWriter, checked_path
from weft.data.records import features_of, records_of
from weft.data.workers import needs
from weft.lazily import deferred

cv2: Any = deferred("cv2")

#: how many rows are written at once
_AT_ONCE: Final = 256


class MSRStatus(enum.IntEnum):
    """Whether something was done."""

    SUCCESS = 0
    FAILED = 1

    __str__ = enum.Enum.__str__


SUCCESS: Final = MSRStatus.SUCCESS
FAILED: Final = MSRStatus.FAILED


class _Converter:
    """Writes rows of other files."""

    def run(self) -> MSRStatus:
        """Write the rows.

        Returns:
            MSRStatus: SUCCESS.
        """
        raise NotImplementedError

    def transform(self) -> None:
        """Write the rows.

        Raises:
            RuntimeError: there are none.
        """
        self.run()


def _written(
    path: str, parts: int, schema: dict[str, Any], what: str, indexes: list[str] | None, rows: Iterable[dict[str, Any]]
) -> None:
    """Write rows to a file, or to several."""
    writer = FileWriter(path, parts)
    writer.add_schema(schema, what)
    if indexes:
        writer.add_index(indexes)
    waiting: list[dict[str, Any]] = []
    for row in rows:
        waiting.append(row)
        if len(waiting) == _AT_ONCE:
            writer.write_raw_data(waiting)
            waiting = []
    if waiting:
        writer.write_raw_data(waiting)
    writer.commit()


def _parts(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("The parameter partition_number must be int")
    return value


def _encoded(image: Any) -> bytes:
    """An image as JPEG."""
    needs("cv2", "encoded images")
    done, content = cv2.imencode(".jpeg", image if image.ndim == 2 else image[..., ::-1])
    if not done:
        raise RuntimeError("an image cannot be encoded")
    return bytes(content.tobytes())


class _Arrays(pickle.Unpickler):
    """Reads lists, dicts, texts and arrays, and nothing that could run code."""

    def find_class(self, module: str, name: str) -> Any:
        known = {("numpy", "dtype"), ("numpy", "ndarray")}
        whole = module.startswith(("numpy.core.", "numpy._core.")) and name in ("_reconstruct", "scalar", "_frombuffer")
        if (module, name) in known or whole:
            return super().find_class(module, name)
        if (module, name) == ("_codecs", "encode"):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} is no part of CIFAR's files")


class _Cifar(_Converter):
    """Rows of CIFAR's files for Python."""

    training: tuple[str, ...]
    testing: str
    #: the columns of labels, and what files call them
    labels: dict[str, bytes]

    def __init__(self, source: str, destination: str) -> None:
        checked_path(source)
        self.source = source
        self.destination = checked_path(destination)

    def run(self, fields: list[str] | None = None) -> MSRStatus:
        """Write the rows.

        Args:
            fields: columns that have an index.

        Returns:
            MSRStatus: SUCCESS.
        """
        if fields is not None and not isinstance(fields, list):
            raise ValueError("The parameter fields should be None or list")
        present = sorted(os.listdir(self.source))
        for names, path in ((self.training, self.destination), ((self.testing,), f"{self.destination}_test")):
            columns = {"id": {"type": "int64"}, **{name: {"type": "int64"} for name in self.labels}}
            schema = {**columns, "data": {"type": "bytes"}}
            rows = self._rows([name for name in names if name in present])
            _written(path, 1, schema, "img_schema", fields, rows)
        return SUCCESS

    def transform(self, fields: list[str] | None = None) -> None:
        """Write the rows.

        Args:
            fields: columns that have an index.
        """
        self.run(fields)

    def _rows(self, names: list[str]) -> Iterator[dict[str, Any]]:
        place = 0
        for name in names:
            path = os.path.join(self.source, name)
            with open(path, "rb") as stream:
                try:
                    content = _Arrays(stream, encoding="bytes").load()
                    images = np.asarray(content[b"data"], np.uint8).reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
                    columns = {column: content[key] for column, key in self.labels.items()}
                except (pickle.UnpicklingError, KeyError, ValueError, EOFError, TypeError) as error:
                    raise RuntimeError(f"{path} is no file of CIFAR's format, or is damaged: {error}") from error
            for number, image in enumerate(images):
                labels = {column: int(values[number]) for column, values in columns.items()}
                yield {"id": place, **labels, "data": _encoded(image)}
                place += 1


class Cifar10ToMR(_Cifar):
    """CIFAR-10, of its files for Python.

    Args:
        source: the folder of the files.
        destination: the file that is written; ``_test`` is added for the rows for tests.
    """

    training = tuple(f"data_batch_{number}" for number in range(1, 6))
    testing = "test_batch"
    labels = {"label": b"labels"}


class Cifar100ToMR(_Cifar):
    """CIFAR-100, of its files for Python.

    Args:
        source: the folder of the files.
        destination: the file that is written; ``_test`` is added for the rows for tests.
    """

    training = ("train",)
    testing = "test"
    labels = {"fine_label": b"fine_labels", "coarse_label": b"coarse_labels"}


def _typed(values: list[str]) -> tuple[str, list[Any]]:
    """The type of a column of texts, and its values."""
    for kind, made in (("int64", int), ("float64", float)):
        try:
            return kind, [made(value) if value or kind == "int64" else float("nan") for value in values]
        except ValueError:
            continue
    return "string", list(values)


class CsvToMR(_Converter):
    """A CSV file, whose first line names the columns.

    Args:
        source: the file.
        destination: the file that is written.
        columns_list: the columns that are read; all, if not given.
        partition_number: into how many files.
    """

    def __init__(
        self, source: str, destination: str, columns_list: list[str] | None = None, partition_number: int = 1
    ) -> None:
        for name, value in (("source", source), ("destination", destination)):
            if not isinstance(value, str):
                raise ValueError(f"The parameter {name} must be str.")
        checked_path(destination)
        named = columns_list is None or (
            isinstance(columns_list, list) and all(isinstance(each, str) for each in columns_list)
        )
        if not named:
            raise ValueError("The parameter columns_list must be list of str.")
        self.source, self.destination, self.columns = source, destination, columns_list or None
        self.partition_number = _parts(partition_number)

    def run(self) -> MSRStatus:
        if not os.path.isfile(self.source):
            raise OSError(f"Csv file {self.source} do not exist.")
        with open(self.source, encoding="utf-8", newline="") as stream:
            header, *lines = [fields for fields in csv.reader(stream) if fields] or [[]]
        for name in header:
            if not name or name[0].isdigit():
                raise ValueError(f"The first line of the csv file names the columns, but {name!r} is no name.")
        if any(len(fields) != len(header) for fields in lines):
            raise RuntimeError(f"{self.source} has a line without {len(header)} values")
        for name in self.columns or []:
            if name not in header:
                raise RuntimeError(f"The parameter columns_list is illegal, column {name} does not exist.")
        table = dict(zip(header, map(list, zip(*lines, strict=True)), strict=True)) if lines else {}
        typed = {name: _typed(table[name]) for name in self.columns or header if name in table}
        schema = {name: {"type": kind} for name, (kind, _) in typed.items()}
        rows = [
            dict(zip(typed, values, strict=True)) for values in zip(*[each[1] for each in typed.values()], strict=True)
        ]
        if not rows:
            raise RuntimeError(f"{self.source} has no lines with values")
        _written(self.destination, self.partition_number, schema, "csv_schema", None, rows)
        return SUCCESS


class ImageNetToMR(_Converter):
    """Images in folders, whose numbers a file lists.

    Args:
        map_file: the file: a folder's name and its number a line.
        image_dir: the folder of the folders.
        destination: the file that is written.
        partition_number: into how many files.
    """

    def __init__(self, map_file: str, image_dir: str, destination: str, partition_number: int = 1) -> None:
        checked_path(map_file)
        checked_path(image_dir)
        self.map_file, self.image_dir, self.destination = map_file, image_dir, checked_path(destination)
        self.partition_number = _parts(partition_number)

    def run(self) -> MSRStatus:
        if not os.path.isfile(self.map_file):
            raise PathNotExistsError(f"not valid map file in {self.map_file}")
        if not os.path.isdir(self.image_dir):
            raise PathNotExistsError(f"not valid image dir in {self.image_dir}")
        schema = {"label": {"type": "int32"}, "image": {"type": "bytes"}, "file_name": {"type": "string"}}
        _written(self.destination, self.partition_number, schema, "img_schema", ["label", "file_name"], self._rows())
        return SUCCESS

    def _rows(self) -> Iterator[dict[str, Any]]:
        with open(self.map_file, encoding="utf-8") as stream:
            listed = [line.split() for line in stream if line.strip()]
        for fields in listed:
            if len(fields) != 2 or not fields[1].isdigit():
                raise RuntimeError(f"{self.map_file} has a line that cannot be read: {' '.join(fields)}")
            folder = os.path.join(self.image_dir, fields[0])
            for name in sorted(os.listdir(folder)):
                if name.lower().endswith((".jpg", ".jpeg", ".png")):
                    path = os.path.join(folder, name)
                    with open(path, "rb") as image:
                        yield {"label": int(fields[1]), "image": image.read(), "file_name": path}


class MnistToMR(_Converter):
    """MNIST, of its compressed files.

    Args:
        source: the folder of the files.
        destination: the files that are written: ``_train.mindrecord`` and ``_test.mindrecord`` are added.
        partition_number: into how many files each.
    """

    def __init__(self, source: str, destination: str, partition_number: int = 1) -> None:
        checked_path(source)
        self.source, self.destination = source, checked_path(destination)
        self.partition_number = _parts(partition_number)

    def run(self) -> MSRStatus:
        schema = {"label": {"type": "int64"}, "data": {"type": "bytes"}}
        for part, name in (("train", "train"), ("t10k", "test")):
            images, labels = (
                read_idx(os.path.join(self.source, f"{part}-{kind}-ubyte.gz"))
                for kind in ("images-idx3", "labels-idx1")
            )
            if len(images) != len(labels):
                raise RuntimeError("as many images as labels are expected")
            pairs = zip(images, labels.tolist(), strict=True)
            rows = ({"label": label, "data": _encoded(image)} for image, label in pairs)
            path = f"{self.destination}_{name}.mindrecord"
            _written(path, self.partition_number, schema, "mnist_schema", ["label"], rows)
        return SUCCESS


class TFRecordToMR(_Converter):
    """A TFRecord file.

    Args:
        source: the file.
        destination: the file that is written.
        feature_dict: for each column an object with its ``shape`` and ``dtype``, such as `tf.io.FixedLenFeature`.
        bytes_fields: columns of bytes that are no texts.
    """

    def __init__(
        self, source: str, destination: str, feature_dict: dict[str, Any], bytes_fields: list[str] | None = None
    ) -> None:
        if not isinstance(source, str):
            raise ValueError("The parameter source must be str.")
        self.source, self.destination = source, checked_path(destination)
        if not isinstance(feature_dict, dict) or not all(
            hasattr(each, "shape") and hasattr(each, "dtype") for each in feature_dict.values()
        ):
            raise ValueError("Parameter feature_dict is expected to be a dict of objects with shape and dtype.")
        if bytes_fields is not None and not isinstance(bytes_fields, list):
            raise ValueError("Parameter bytes_fields must be list(str)")
        self.bytes_fields = bytes_fields or []
        for name in self.bytes_fields:
            if name not in feature_dict:
                raise ValueError(f"Parameter bytes_fields: {name} is not in feature_dict")
        self.features = {name: self._feature(name, each) for name, each in feature_dict.items()}

    def _feature(self, name: str, said: Any) -> dict[str, Any]:
        kind = str(getattr(said.dtype, "name", said.dtype))
        shape = [int(each) for each in said.shape]
        if kind in ("string", "str"):
            return {"type": "bytes" if name in self.bytes_fields else "string"}
        if kind not in ("int64", "int32", "float32", "float64"):
            raise ValueError(f"feature_dict: {name} has the element type {kind}, which MindRecord does not know")
        return {"type": kind, "shape": shape} if shape and shape != [1] else {"type": kind}

    def run(self) -> MSRStatus:
        if not os.path.isfile(self.source):
            raise ValueError(f"The parameter source {self.source} does not exist.")
        _written(self.destination, 1, self.features, "tfrecord_schema", None, self._rows())
        return SUCCESS

    def _rows(self) -> Iterator[dict[str, Any]]:
        for record in records_of(self.source):
            found = features_of(record)
            row: dict[str, Any] = {}
            for name, feature in self.features.items():
                if name not in found:
                    raise RuntimeError(f"{self.source} has a record without {name}")
                values = found[name]
                if feature["type"] in ("bytes", "string"):
                    row[name] = values[0] if feature["type"] == "bytes" else values[0].decode("utf-8")
                elif "shape" in feature:
                    row[name] = np.asarray(values, feature["type"]).reshape(feature["shape"])
                else:
                    row[name] = np.asarray(values, feature["type"]).ravel()[0].item()
            yield row


def set_enc_key(enc_key: str | None) -> None:
    """Set the key of encryption, which is not there: only None is taken.

    Args:
        enc_key: the key, of 16, 24 or 32 characters; None for no encryption.

    Raises:
        ValueError: it is no such key.
        NotImplementedError: it is one.
    """
    if enc_key is None:
        return
    if not isinstance(enc_key, str):
        raise ValueError("The input enc_key is not str.")
    if len(enc_key) not in (16, 24, 32):
        raise ValueError("The length of input enc_key is not 16, 24, 32.")
    raise NotImplementedError("MindRecord files cannot be encrypted or decrypted here.")


def set_enc_mode(enc_mode: Any = "AES-GCM") -> None:
    """Set how files are encrypted, which has an effect with a key only.

    Args:
        enc_mode: ``"AES-GCM"``, or a function.
    """
    if enc_mode != "AES-GCM" and not callable(enc_mode):
        raise ValueError("The input enc_mode is invalid.")


def set_dec_mode(dec_mode: Any = "AES-GCM") -> None:
    """Set how files are decrypted, which has an effect with a key only.

    Args:
        dec_mode: ``"AES-GCM"``, a function, or None.
    """
    if dec_mode is None or callable(dec_mode):
        return
    if not isinstance(dec_mode, str):
        raise ValueError("The input dec_mode is not str.")
    if dec_mode != "AES-GCM":
        raise ValueError("The input dec_mode is invalid.")
