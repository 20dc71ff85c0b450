"""The layout of a MindRecord file, and the database beside it.

A file begins with the length of its header and the header, a JSON text; after `header_size` bytes come pages of
`page_size` bytes. A page holds one of the two parts of rows, each part after its length. The database has for each row
the page, begin and end of both parts, and the fields by which rows can be looked up.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import struct
import urllib.parse
from typing import Any, Final

import numpy as np

from weft.data.mindrecord.errors import MindRecordException
from weft.data.mindrecord.schema import Fields

Array = np.ndarray[Any, Any]

VERSION: Final = "3.0"
HEADER_SIZES: Final = (16 * 1024, 128 * 1024 * 1024)
PAGE_SIZES: Final = (32 * 1024, 256 * 1024 * 1024)
LENGTH: Final = "<Q"
LENGTH_SIZE: Final = 8

#: columns of the database: where a row is
PLACES: Final = (
    *("ROW_ID", "PAGE_ID_RAW", "PAGE_OFFSET_RAW", "PAGE_OFFSET_RAW_END", "ROW_GROUP_ID"),
    *("PAGE_ID_BLOB", "PAGE_OFFSET_BLOB", "PAGE_OFFSET_BLOB_END"),
)


def database_of(path: str) -> str:
    """The path of the database of a file."""
    return path + ".db"


def header_text(header: dict[str, Any]) -> bytes:
    """A header as it stands in a file, after its length.

    Args:
        header: the header.
    """
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    return struct.pack(LENGTH, len(text)) + text


def read_header(path: str) -> dict[str, Any]:
    """The header of a file, checked.

    Args:
        path: the file.

    Raises:
        RuntimeError: it is no file of MindRecord, or is damaged.
    """
    size = os.path.getsize(path)
    if size < LENGTH_SIZE:
        raise RuntimeError(
            f"Invalid file, the size of mindrecord file: {size} is smaller than the lower limit: {LENGTH_SIZE}. "
            f"Please check file path: {path} and use 'FileWriter' to generate valid mindrecord files."
        )
    with open(path, "rb") as stream:
        (length,) = struct.unpack(LENGTH, stream.read(LENGTH_SIZE))
        if length > min(size - LENGTH_SIZE, HEADER_SIZES[1]):
            raise RuntimeError(f"{path} is no file of MindRecord, or is damaged: its header has no possible length")
        text = stream.read(length)
    try:
        header = dict(json.loads(text))
        if header["version"] != VERSION:
            raise ValueError(f"it has version {header['version']!r}, and only {VERSION} can be read")
        _check_header(header)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise RuntimeError(f"{path} is no file of MindRecord, or is damaged: {error}") from error
    return header


def _natural(value: Any, name: str, most: int = 1 << 62) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise ValueError(f"{name} is {value!r}")
    return value


def _check_header(header: dict[str, Any]) -> None:
    _natural(header["header_size"], "header_size", HEADER_SIZES[1])
    _natural(header["page_size"], "page_size", PAGE_SIZES[1])
    for page in header["page"] or []:
        if page["page_type"] not in ("RAW_DATA", "BLOB_DATA"):
            raise ValueError(f"a page has the type {page['page_type']!r}")
        _natural(page["page_id"], "page_id")
        _natural(page["page_size"], "the size of a page", header["page_size"])
        if not isinstance(page["row_group_ids"], list):
            raise ValueError("the row groups of a page are no list")
    _natural(header["compression_size"], "compression_size")
    if not isinstance(header["schema"], list) or len(header["schema"]) != 1:
        raise ValueError("there is not one schema")
    if not isinstance(header["schema"][0]["schema"], dict) or not isinstance(header["schema"][0]["desc"], str):
        raise ValueError("the schema is no dict, or its description no text")
    if not isinstance(header["shard_addresses"], list):
        raise ValueError("the names of the files are no list")
    for name in header["shard_addresses"]:
        if not isinstance(name, str) or os.path.basename(name) != name or not name:
            raise ValueError(f"{name!r} is no name of a file")
    if _natural(header["shard_id"], "shard_id") >= len(header["shard_addresses"]):
        raise ValueError("shard_id is larger than the number of files")
    for each in header["index_fields"] or []:
        if each["index_field"] not in header["schema"][0]["schema"]:
            raise ValueError("an index field is no field")


def fields_of(header: dict[str, Any], path: str) -> tuple[Fields, list[str]]:
    """The fields that a header says, and the names of those by which rows can be looked up.

    Args:
        header: the header.
        path: its file, for messages.

    Raises:
        RuntimeError: it says none.
    """
    try:
        fields = Fields(header["schema"][0]["schema"])
        indexes = [each["index_field"] for each in header["index_fields"] or []]
        for name in indexes:
            fields.column_type(name)
    except (MindRecordException, TypeError) as error:
        raise RuntimeError(f"{path} is no file of MindRecord, or is damaged: {error}") from error
    return fields, indexes


def index_columns(indexes: list[str], fields: Fields) -> list[tuple[str, str]]:
    """The columns of the database that rows can be looked up by, with their types.

    Args:
        indexes: names of fields.
        fields: the fields.
    """
    return [
        column
        for place, name in enumerate(indexes)
        for column in ((f"INC_{place}", "INT"), (f"{name}_0", fields.column_type(name)))
    ]


def write_database(path: str, columns: list[tuple[str, str]], rows: list[tuple[Any, ...]]) -> None:
    """Write the database of a file, in place of one that may be there.

    Args:
        path: the file.
        columns: names and types of the columns after those of `PLACES`.
        rows: what they hold.
    """
    place = database_of(path)
    if os.path.exists(place):
        os.remove(place)
    with contextlib.closing(sqlite3.connect(place)) as database, database:
        said = [f"{name} INT NOT NULL" for name in PLACES] + [f"{name} {kind}" for name, kind in columns]
        key = ",".join(["ROW_ID", *[name for name, _ in columns[::2]]])
        database.execute(f"CREATE TABLE INDEXES({', '.join(said)}, PRIMARY KEY({key}))")
        database.executemany(f"INSERT INTO INDEXES VALUES({','.join('?' * len(said))})", rows)
        database.execute("CREATE TABLE SHARD_NAME(NAME TEXT NOT NULL)")
        database.execute("INSERT INTO SHARD_NAME VALUES(?)", (os.path.basename(path),))
    os.chmod(place, 0o600)


def read_database(path: str, columns: tuple[str, ...] = PLACES) -> list[tuple[Any, ...]]:
    """What the database of a file says of its rows, in their order.

    Args:
        path: the file.
        columns: the columns that are read.

    Raises:
        RuntimeError: there is no database, it is damaged, or that of another file.
    """
    place = database_of(path)
    if not os.path.isfile(place):
        raise RuntimeError(f"The input: {place} is not exists.")
    address = f"file:{urllib.parse.quote(os.path.abspath(place))}?mode=ro"
    try:
        with contextlib.closing(sqlite3.connect(address, uri=True)) as database:
            names = [name for (name,) in database.execute("SELECT NAME FROM SHARD_NAME")]
            asked = ", ".join(f'"{name}"' for name in columns)
            rows = database.execute(f"SELECT {asked} FROM INDEXES ORDER BY ROW_ID").fetchall()
    except (sqlite3.Error, ValueError) as error:  # texts of a damaged database may be no texts
        raise RuntimeError(f"{place} is no database of a MindRecord file, or is damaged: {error}") from error
    if names != [os.path.basename(path)]:
        raise RuntimeError(f"{place} is the database of {names}: a mindrecord file must not be renamed")
    return rows


def places_of(path: str, header: dict[str, Any]) -> Array:
    """Where the rows of a file are: begin and end of the two parts of each, in bytes from the start of the file.

    Args:
        path: the file.
        header: its header.

    Raises:
        RuntimeError: the database says places that are not in the pages of the file.
    """
    rows = read_database(path)
    try:
        found = np.array(rows, np.int64).reshape(-1, len(PLACES))
    except (ValueError, TypeError, OverflowError) as error:
        raise RuntimeError(f"{database_of(path)} is damaged: a place of a row is no number") from error
    size = os.path.getsize(path)
    parts: list[Array] = []
    for kind, first in (("RAW_DATA", 1), ("BLOB_DATA", 5)):
        sizes = {page["page_id"]: page["page_size"] for page in header["page"] or [] if page["page_type"] == kind}
        pages, begins, ends = found[:, first], found[:, first + 1], found[:, first + 2]
        known = np.array([sizes.get(page, -1) for page in pages.tolist()], np.int64)
        start = header["header_size"] + pages * header["page_size"]
        if np.any((known < 0) | (begins < 0) | (ends - begins < LENGTH_SIZE) | (ends > known)):
            raise RuntimeError(f"{database_of(path)} is damaged, or not of {path}: a row is outside the pages")
        if np.any(start + ends > size):
            raise RuntimeError(f"{path} is damaged: it ends before its last row")
        parts.extend((start + begins, start + ends))
    return np.stack(parts, 1)
