"""TFRecord files: records of named features, framed with their lengths and checksums."""

from __future__ import annotations

import gzip
import itertools
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from weft.data.checks import names_of
from weft.data.conversion import Row
from weft.data.files import one_of
from weft.data.kinds import UnionBaseDataset
from weft.data.samplers import Shuffle
from weft.data.schema import Schema
from weft.data.texts import FilesDataset

_LENGTH: Final = 8
_CHECKSUM: Final = 4


def _crc_table() -> list[int]:
    table = []
    for number in range(256):
        for _ in range(8):
            number = number >> 1 ^ (0x82F63B78 if number & 1 else 0)
        table.append(number)
    return table


_TABLE: Final = _crc_table()


def masked_crc(content: bytes) -> int:
    """The checksum that the format has: a rotated CRC-32C.

    Args:
        content: what is checked.
    """
    crc = 0xFFFFFFFF
    for byte in content:
        crc = _TABLE[(crc ^ byte) & 255] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records_of(path: str, compression: str | None = None) -> Iterator[bytes]:
    """The records of a file.

    Args:
        path: its path.
        compression: ``"GZIP"``, ``"ZLIB"`` or None.

    Raises:
        RuntimeError: the file is damaged.
    """
    with _opened(path, compression) as stream:
        while header := stream.read(_LENGTH + _CHECKSUM):
            if len(header) < _LENGTH + _CHECKSUM:
                raise RuntimeError(f"{path} ends in the middle of a record")
            length, crc = struct.unpack("<QI", header)
            if masked_crc(header[:_LENGTH]) != crc:
                raise RuntimeError(f"{path} is no TFRecord file, or is damaged")
            record = stream.read(length)
            if len(record) < length or len(stream.read(_CHECKSUM)) < _CHECKSUM:
                raise RuntimeError(f"{path} ends in the middle of a record")
            yield record


def _opened(path: str, compression: str | None) -> Any:
    if compression == "GZIP":
        return gzip.open(path, "rb")
    if compression == "ZLIB":
        return _Inflated(path)
    return open(path, "rb")


class _Inflated:
    """A file that zlib compressed, read whole."""

    def __init__(self, path: str) -> None:
        with open(path, "rb") as stream:
            self._content = zlib.decompress(stream.read())
        self._place = 0

    def __enter__(self) -> _Inflated:
        return self

    def __exit__(self, *error: object) -> None:
        self._content = b""

    def read(self, count: int) -> bytes:
        """The next bytes."""
        found = self._content[self._place : self._place + count]
        self._place += len(found)
        return found


def _number(content: bytes, place: int) -> tuple[int, int]:
    """A number of variable length, and the place after it."""
    found = shift = 0
    while True:
        byte = content[place]
        place += 1
        found |= (byte & 127) << shift
        if byte < 128:
            return found, place
        shift += 7


def _fields(content: bytes) -> Iterator[tuple[int, Any]]:
    """The fields of a message of protobuf: number and value."""
    place = 0
    while place < len(content):
        key, place = _number(content, place)
        kind = key & 7
        if kind == 0:
            value, place = _number(content, place)
            yield key >> 3, value
            continue
        if kind == 2:
            length, place = _number(content, place)
        elif kind in (1, 5):
            length = 8 if kind == 1 else 4
        else:
            raise ValueError(f"a field of kind {kind}")
        if place + length > len(content):
            raise ValueError("a field that is longer than its record")
        yield key >> 3, content[place : place + length]
        place += length


def features_of(record: bytes) -> dict[str, Any]:
    """The features of a record: arrays of int64 or float32, or lists of bytes.

    Args:
        record: the record.

    Raises:
        ValueError: it is none.
    """
    found: dict[str, Any] = {}
    try:
        for _, features in _fields(record):
            for _, entry in _fields(features):
                parts = dict(_fields(entry))
                name = parts[1].decode()
                found[name] = next(_values(kind, part) for kind, part in _fields(parts[2])) if parts.get(2) else []
    except (IndexError, KeyError, AttributeError, TypeError, StopIteration, struct.error) as error:
        raise ValueError("it is no record of features") from error
    return found


def _values(kind: int, content: bytes) -> Any:
    if kind == 1:
        return [value for _, value in _fields(content)]
    if kind == 2:
        return np.frombuffer(b"".join(value for _, value in _fields(content)), "<f4").copy()
    numbers: list[int] = []
    for _, value in _fields(content):
        if isinstance(value, int):
            numbers.append(value)
            continue
        place = 0
        while place < len(value):
            number, place = _number(value, place)
            numbers.append(number)
    return np.asarray(numbers, np.uint64).astype(np.int64)


class TFRecordDataset(FilesDataset, UnionBaseDataset):
    """Records of TFRecord files.

    Args:
        dataset_files: paths or patterns.
        schema: a `Schema`, or the path of one; what the first record has, in the order of the names, if not given.
        columns_list: the columns that are read; all, if not given.
        num_samples: how many rows at most.
        num_parallel_workers: from how many files rows are taken in turn.
        shuffle: a `Shuffle`, or whether rows come in random order.
        num_shards: how many parts there are.
        shard_id: which of them is read.
        shard_equal_rows: whether parts have the same number of rows; else they have the same number of files.
        cache: kept.
        compression_type: ``"GZIP"``, ``"ZLIB"``, or None.
    """

    def __init__(
        self,
        dataset_files: Any,
        schema: Any = None,
        columns_list: Any = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: Any = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        shard_equal_rows: bool = False,
        cache: Any = None,
        compression_type: str | None = None,
    ) -> None:
        super().__init__(dataset_files, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)
        self._compression = one_of("compression_type", compression_type or None, (None, "GZIP", "ZLIB"))
        self._schema = schema if isinstance(schema, Schema) or schema is None else Schema(schema)
        self._asked = None if not columns_list else names_of("columns_list", columns_list)
        self._equal_rows = shard_equal_rows
        self._found: list[tuple[str, Callable[[Any], np.ndarray[Any, Any]]]] | None = None

    def _readers(self) -> list[tuple[str, Callable[[Any], np.ndarray[Any, Any]]]]:
        if self._found is None:
            if self._schema is not None:
                facts = [(facts["name"], _reader(facts)) for facts in self._schema.columns]
            else:
                first = next(iter(records_of(self.dataset_files[0], self._compression)), None)
                if first is None:
                    raise RuntimeError(f"{self.dataset_files[0]} has no records")
                facts = [
                    (name, _reader({"type": None})) for name in sorted(self._features(first, self.dataset_files[0]))
                ]
            if self._asked is not None:
                known = dict(facts)
                for name in self._asked:
                    if name not in known:
                        raise RuntimeError(f"Invalid columns_list, tfrecord file failed to find column name: {name}")
                facts = [(name, known[name]) for name in self._asked]
            self._found = facts
        return self._found

    def columns(self) -> list[str]:
        return [name for name, _ in self._readers()]

    @staticmethod
    def _features(record: bytes, path: str) -> dict[str, Any]:
        try:
            return features_of(record)
        except ValueError as error:
            raise RuntimeError(f"TFRecordDataset: a record of {path} cannot be read: {error}") from error

    def rows_in(self, path: str) -> Iterator[Row]:
        readers = self._readers()
        for record in records_of(path, self._compression):
            features = self._features(record, path)
            for name, _ in readers:
                if name not in features:
                    raise RuntimeError(f"TFRecordDataset: a record of {path} has no feature {name!r}")
            try:
                yield tuple([read(features[name]) for name, read in readers])
            except (TypeError, ValueError) as error:
                raise RuntimeError(f"TFRecordDataset: a record of {path} does not fit its schema: {error}") from error

    def rows_counted(self, path: str) -> int:
        return sum(1 for _ in records_of(path, self._compression))

    def parts(self) -> list[tuple[str, int, int | None]]:
        if self.num_shards is None or self._equal_rows:
            return super().parts()
        chosen = itertools.islice(self.dataset_files, self.shard_id, None, self.num_shards)
        return [(path, 0, None) for path in chosen]


def _reader(facts: dict[str, Any]) -> Callable[[Any], np.ndarray[Any, Any]]:
    """What makes an array of a feature, as a schema says."""
    kind = facts["type"]
    shape = facts.get("shape")

    def read(values: Any) -> np.ndarray[Any, Any]:
        if not isinstance(values, list):
            found = values if kind is None else values.astype(kind)
        elif kind == "string":
            found = np.asarray([value.decode() for value in values])
        else:
            joined = np.frombuffer(b"".join(values), np.uint8)
            found = joined.copy() if kind in (None, "uint8", "bytes") else joined.view(kind).copy()
        return found if shape is None else found.reshape(shape)

    return read
