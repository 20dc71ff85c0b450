"""Writes TFRecord files."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from weft.data.records import masked_crc


def _varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    found = b""
    while number > 127:
        found += bytes([number & 127 | 128])
        number >>= 7
    return found + bytes([number])


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _feature(values: list[Any]) -> bytes:
    if isinstance(values[0], bytes):
        return _field(1, b"".join(_field(1, value) for value in values))
    if isinstance(values[0], float):
        return _field(2, _field(1, struct.pack(f"<{len(values)}f", *values)))
    return _field(3, _field(1, b"".join(map(_varint, values))))


def write_records(path: Path, rows: list[dict[str, list[Any]]]) -> None:
    """A TFRecord file."""
    content = b""
    for row in rows:
        entries = b"".join(_field(1, _field(1, k.encode()) + _field(2, _feature(v))) for k, v in row.items())
        record = _field(1, entries)
        length = struct.pack("<Q", len(record))
        content += length + struct.pack("<I", masked_crc(length)) + record + struct.pack("<I", masked_crc(record))
    path.write_bytes(content)
