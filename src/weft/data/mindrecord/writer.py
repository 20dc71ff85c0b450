"""FileWriter: rows to MindRecord files."""

from __future__ import annotations

import os
import struct
import warnings
from typing import Any, Final

from weft.data.mindrecord import pages
from weft.data.mindrecord.errors import (
    MRMAddSchemaError,
    MRMGetMetaError,
    MRMOpenForAppendError,
    ParamTypeError,
    ParamValueError,
)
from weft.data.mindrecord.schema import Fields

_FORBIDDEN: Final = set("\\/:*?\"<>|`&;'")
_MOST_FILES: Final = 1000


def checked_path(path: Any) -> str:
    """The path of a file, as writers and readers take it.

    Args:
        path: the path.

    Raises:
        ParamValueError: it is none.
    """
    if not path:
        raise ParamValueError("File path is not allowed None or empty!")
    if not isinstance(path, str):
        raise ParamValueError(f"File path: {path} is not string.")
    if set(os.path.basename(path)) & _FORBIDDEN:
        raise ParamValueError("File name should not contains \\/:*?\\\"<>|`&;\\'")
    return path


class _Shard:
    """One of the files that a writer writes.

    Args:
        path: its path.
        number: which of the files it is.
        page_size: the size of its pages.
    """

    def __init__(self, path: str, number: int, page_size: int) -> None:
        self.path = path
        self.number = number
        self.page_size = page_size
        #: what the header says of each page
        self.pages: list[dict[str, Any]] = []
        #: the rows of the database
        self.rows: list[tuple[Any, ...]] = []
        self.groups = 0
        self.saved = 0

    def resume(self, header: dict[str, Any], rows: list[tuple[Any, ...]]) -> None:
        """Go on where a file ends.

        Args:
            header: the header of the file.
            rows: the rows of its database.
        """
        self.pages = list(header["page"] or [])
        self.rows = rows
        self.groups = sum(len(page["row_group_ids"]) for page in self.pages if page["page_type"] == "RAW_DATA")
        self.saved = header["compression_size"]

    def _last(self, kind: str) -> dict[str, Any] | None:
        return next((page for page in reversed(self.pages) if page["page_type"] == kind), None)

    def _page(self, kind: str) -> dict[str, Any]:
        """A new page; its number follows when all pages of these rows are known."""
        rows = len(self.rows)
        return {
            "end_row_id": 0,
            "page_id": -1,
            "page_size": 0,
            "page_type": kind,
            "page_type_id": 0,
            "row_group_ids": [],
            "shard_id": self.number,
            "start_row_id": rows if kind == "BLOB_DATA" else 0,
        }

    def write(self, header_size: int, encoded: list[tuple[bytes, bytes, tuple[Any, ...]]]) -> None:
        """Write rows after those that there are.

        A row group is a stretch of rows whose parts are on one page of each kind. New pages for bytes and arrays come
        before new ones for numbers and texts.

        Args:
            header_size: where the pages begin.
            encoded: for each row its two parts, and what the database has after its place.
        """
        raw, blob = self._last("RAW_DATA"), self._last("BLOB_DATA")
        made: dict[str, list[dict[str, Any]]] = {"BLOB_DATA": [], "RAW_DATA": []}
        placed: list[tuple[dict[str, Any], int, bytes]] = []
        located = []
        for raw_part, blob_part, looked_up in encoded:
            sizes = [len(part) + pages.LENGTH_SIZE for part in (raw_part, blob_part)]
            fits = [
                page is not None and page["page_size"] + size <= self.page_size
                for page, size in zip((raw, blob), sizes, strict=True)
            ]
            if raw is None or blob is None or not all(fits):
                if raw is None or not fits[0]:
                    raw = self._page("RAW_DATA")
                    made["RAW_DATA"].append(raw)
                blob = self._page("BLOB_DATA")
                made["BLOB_DATA"].append(blob)
                blob["row_group_ids"].append({"id": 0, "offset": 0})
                raw["row_group_ids"].append({"id": self.groups, "offset": raw["page_size"]})
                self.groups += 1
            places = [raw["page_size"], blob["page_size"]]
            for page, part, size in zip((raw, blob), (raw_part, blob_part), sizes, strict=True):
                placed.append((page, page["page_size"], part))
                page["page_size"] += size
            located.append((raw, places[0], raw["page_size"], self.groups - 1, blob, places[1], blob["page_size"]))
            self.rows.append(looked_up)
            blob["end_row_id"] = len(self.rows)
        self._number(made)
        for place, (raw, *of_raw, blob, begin, end) in enumerate(located, len(self.rows) - len(located)):
            self.rows[place] = (place, raw["page_id"], *of_raw, blob["page_id"], begin, end, *self.rows[place])
        with open(self.path, "r+b") as stream:
            for page, begin, part in placed:
                stream.seek(header_size + page["page_id"] * self.page_size + begin)
                stream.write(struct.pack(pages.LENGTH, len(part)) + part)

    def _number(self, made: dict[str, list[dict[str, Any]]]) -> None:
        blobs = sum(page["page_type"] == "BLOB_DATA" for page in self.pages)
        last_raw = self._last("RAW_DATA")
        for page in (*made["BLOB_DATA"], *made["RAW_DATA"]):
            page["page_id"] = len(self.pages)
            if page["page_type"] == "BLOB_DATA":
                page["page_type_id"] = blobs
                blobs += 1
            else:
                page["page_type_id"] = 0 if last_raw is None else last_raw["page_id"] + 1
                last_raw = page
            self.pages.append(page)


class FileWriter:
    """Writes rows to MindRecord files, which `MindDataset` and `FileReader` read.

    Args:
        file_name: the path of the file; that of several files ends in their number.
        shard_num: how many files there are, 1 to 1000.
        overwrite: whether files that there are may be replaced.

    Raises:
        ParamValueError: an argument is not that.

    Example:
        >>> import os, tempfile
        >>> import numpy as np
        >>> from weft.data.mindrecord import FileReader, FileWriter
        >>> path = os.path.join(tempfile.mkdtemp(), "squares.mindrecord")
        >>> writer = FileWriter(path)
        >>> writer.set_header_size(1 << 14)
        >>> writer.add_schema({"number": {"type": "int32"}, "square": {"type": "int64", "shape": [-1]}}, "squares")
        >>> writer.write_raw_data([{"number": 3, "square": np.array([9])}])
        >>> writer.commit()
        >>> list(FileReader(path).get_next())
        [{'number': 3, 'square': array([9])}]
    """

    def __init__(self, file_name: str, shard_num: int = 1, overwrite: bool = False) -> None:
        path = checked_path(file_name)
        if shard_num is None:
            raise ParamValueError("Parameter shard_num is None.")
        if isinstance(shard_num, bool) or not isinstance(shard_num, int):
            raise ParamValueError("Parameter shard_num's type is not int.")
        if not 1 <= shard_num <= _MOST_FILES:
            raise ParamValueError(f"Parameter shard_num's value: {shard_num} should between 1 and {_MOST_FILES}.")
        if not isinstance(overwrite, bool):
            raise ParamValueError("Parameter overwrite's type is not bool.")
        digits = len(str(shard_num - 1))
        paths = [path] if shard_num == 1 else [f"{path}{number:0{digits}}" for number in range(shard_num)]
        self._overwrite = overwrite
        self._start(paths)

    def _start(self, paths: list[str]) -> None:
        self._paths = paths
        self._header_size = 1 << 24
        self._page_size = 1 << 25
        self._description = ""
        self._fields: Fields | None = None
        self._indexes: list[str] | None = None
        #: the files, once they are there
        self._shards: list[_Shard] = []
        #: the first of the files that get one row more when rows cannot be parted evenly
        self._larger = 0

    @classmethod
    def open_for_append(cls, file_name: str) -> FileWriter:
        """A writer that adds rows to files that there are.

        Args:
            file_name: the path of one of the files that were written together.

        Returns:
            The writer.

        Raises:
            RuntimeError: a file is missing or damaged.
            MRMOpenForAppendError: it is not of the files that were written together.
        """
        path = checked_path(file_name)
        if not os.path.isfile(path):
            raise RuntimeError(f"The input: {path} is not exists.")
        first = pages.read_header(path)
        if os.path.basename(path) not in first["shard_addresses"]:
            raise MRMOpenForAppendError()
        writer = cls.__new__(cls)
        writer._overwrite = False
        folder = os.path.dirname(path)
        writer._start([os.path.join(folder, name) for name in first["shard_addresses"]])
        writer._header_size, writer._page_size = first["header_size"], first["page_size"]
        writer._description = first["schema"][0]["desc"]
        writer._fields, writer._indexes = pages.fields_of(first, path)
        columns = [name for name, _ in pages.index_columns(writer._indexes, writer._fields)]
        for number, each in enumerate(writer._paths):
            header = pages.read_header(each)
            shard = _Shard(each, number, writer._page_size)
            pages.places_of(each, header)
            shard.resume(header, pages.read_database(each, (*pages.PLACES, *columns)))
            writer._shards.append(shard)
        return writer

    def set_header_size(self, header_size: int) -> None:
        """Say how large the header of each file is.

        Args:
            header_size: the size in bytes, 16 KiB to 128 MiB.

        Raises:
            RuntimeError: it is not in that range.
        """
        self._header_size = _size("header", header_size, pages.HEADER_SIZES)

    def set_page_size(self, page_size: int) -> None:
        """Say how large a page is, on which a row must have room.

        Args:
            page_size: the size in bytes, 32 KiB to 256 MiB, a multiple of 4.

        Raises:
            RuntimeError: it is not that.
        """
        size = _size("page", page_size, pages.PAGE_SIZES)
        if size % 4:
            raise RuntimeError(f"Invalid data, page size {size} should be divided by four.")
        self._page_size = size

    def add_schema(self, content: dict[str, Any], desc: str | None = None) -> None:
        """Say which fields rows have.

        Args:
            content: for each name a dict with the type (``"int32"``, ``"int64"``, ``"float32"``, ``"float64"``,
                ``"string"``, ``"bytes"``), and for an array its shape, where one size may be -1.
            desc: a description.

        Raises:
            MRMInvalidSchemaError: `content` is not that.
            MRMBuildSchemaError: a shape has several unknown sizes.
            MRMAddSchemaError: there is a schema.
        """
        fields = Fields(content)
        if self._fields is not None:
            raise MRMAddSchemaError()
        self._fields = fields
        self._description = desc or ""

    def add_index(self, index_fields: list[str]) -> None:
        """Say by which fields rows can be looked up; by all numbers and texts, if not said.

        Args:
            index_fields: names of fields that are numbers or texts.

        Raises:
            ParamTypeError: it is no list of names.
            MRMDefineIndexError: a field is bytes or an array.
            MRMGetMetaError: there is no schema.
            RuntimeError: there is no such field, or it was named before.
        """
        if not index_fields or not isinstance(index_fields, list):
            raise ParamTypeError("index_fields", "list")
        for name in index_fields:
            if not isinstance(name, str):
                raise ParamTypeError("index field", "str")
        if self._fields is None:
            raise MRMGetMetaError()
        added = list(self._indexes or [])
        for name in index_fields:
            if name not in self._fields.content:
                raise RuntimeError(f"Invalid input, 'index_fields': {name} can not found in schema.")
            self._fields.column_type(name)
            if name in added:
                raise RuntimeError(
                    f"The 'index_fields': {name} is added repeatedly. Please remove the redundant 'add_index' function."
                )
            added.append(name)
        self._indexes = added

    def _known(self) -> Fields:
        if self._fields is None:
            raise RuntimeError(
                "Invalid data, schema is not found in header, please use 'add_schema' to add a schema for new "
                "mindrecord files."
            )
        return self._fields

    def _opened(self) -> list[_Shard]:
        """The files, made when they are first needed."""
        if not self._shards:
            fields = self._known()
            folder = os.path.dirname(self._paths[0])
            if folder and not os.path.isdir(folder):
                raise RuntimeError(
                    f"Invalid dir, failed to get the realpath of mindrecord file dir. Please check path: {folder}"
                )
            for path in self._paths:
                for each in (path, pages.database_of(path)):
                    if os.path.exists(each) and not self._overwrite:
                        raise RuntimeError(
                            f"Invalid file, mindrecord files already exist. Please check file path: {each}. If you do "
                            "not want to keep the files, set the 'overwrite' parameter to True and try again."
                        )
                    if os.path.exists(each):
                        os.remove(each)
            if self._indexes is None:
                self._indexes = list(fields.raws)
            for number, path in enumerate(self._paths):
                with open(path, "xb"):
                    os.chmod(path, 0o600)
                self._shards.append(_Shard(path, number, self._page_size))
        return self._shards

    def write_raw_data(self, raw_data: list[dict[str, Any]], parallel_writer: bool = False) -> None:
        """Write rows.

        A row that does not fit the schema is left out, with a warning.

        Args:
            raw_data: the rows: values by name, arrays of the element types of the schema.
            parallel_writer: kept: rows are written one after the other.

        Raises:
            ParamTypeError: it is no list of dicts.
            TypeError: `parallel_writer` is no bool.
            RuntimeError: no row fits the schema, or one is larger than a page.
        """
        if not isinstance(raw_data, list):
            raise ParamTypeError("raw_data", "list")
        if not isinstance(parallel_writer, bool):
            raise TypeError("The parameter parallel_writer must be bool.")
        for row in raw_data:
            if not isinstance(row, dict):
                raise ParamTypeError("raw_data item", "dict")
        fields = self._known()
        objections = [fields.objection(row) for row in raw_data]
        fitting = [row for row, objection in zip(raw_data, objections, strict=True) if objection is None]
        if not fitting:
            reason = f" {objections[0]}." if objections else ""
            raise RuntimeError(
                f"There is no valid data which can be written by 'write_raw_data' to mindrecord file.{reason}"
            )
        if len(fitting) < len(raw_data):
            reason = next(objection for objection in objections if objection is not None)
            warnings.warn(
                f"{len(raw_data) - len(fitting)} of {len(raw_data)} rows do not fit the schema and are left out: "
                f"{reason}",
                stacklevel=2,
            )
        shards = self._opened()
        encoded = [fields.encoded(row) for row in fitting]
        for raw, blob, _ in encoded:
            for kind, part in (("raw", raw), ("blob", blob)):
                if len(part) + pages.LENGTH_SIZE > self._page_size:
                    raise RuntimeError(
                        f"Invalid data, Page size: {self._page_size} is too small to save a {kind} row. Please try to "
                        "use the mindrecord api 'set_page_size(value)' to enable larger page size, and the value range "
                        f"is in [{pages.PAGE_SIZES[0]} bytes, {pages.PAGE_SIZES[1]} bytes]."
                    )
        each, more = divmod(len(fitting), len(shards))
        larger = {(self._larger + number) % len(shards) for number in range(more)}
        self._larger = (self._larger + more) % len(shards)
        begin = 0
        for shard in shards:
            end = begin + each + (shard.number in larger)
            chosen = slice(begin, end)
            looked_up = [self._looked_up(fields, raw) for raw, _, _ in encoded[chosen]]
            rows = [(raw, blob, found) for (raw, blob, _), found in zip(encoded[chosen], looked_up, strict=True)]
            shard.saved += sum(saved for _, _, saved in encoded[chosen])
            shard.write(self._header_size, rows)
            begin = end

    def _looked_up(self, fields: Fields, raw: bytes) -> tuple[Any, ...]:
        values = fields.scalars(raw) if self._indexes else {}
        return tuple(value for name in self._indexes or [] for value in (0, values[name]))

    def commit(self) -> None:
        """Finish the files: write their headers and databases.

        Raises:
            RuntimeError: there is no schema, or the header is too small for what it must say.
        """
        shards = self._opened()
        fields = self._known()
        indexes = self._indexes or []
        for shard in shards:
            header = {
                "header_size": self._header_size,
                "index_fields": [{"index_field": name, "schema_id": 0} for name in indexes] or None,
                "page": shard.pages or None,
                "page_size": self._page_size,
                "compression_size": shard.saved,
                "schema": [{"blob_fields": fields.blobs, "desc": self._description, "schema": self._said(fields)}],
                "shard_addresses": [os.path.basename(path) for path in self._paths],
                "shard_id": shard.number,
                "statistics": None,
                "version": pages.VERSION,
            }
            text = pages.header_text(header)
            if len(text) > self._header_size:
                raise RuntimeError(
                    f"The header of {shard.path} needs {len(text)} bytes: set_header_size must say a larger size than "
                    f"{self._header_size}"
                )
            with open(shard.path, "r+b") as stream:
                stream.write(text)
            pages.write_database(shard.path, pages.index_columns(indexes, fields), shard.rows)

    @staticmethod
    def _said(fields: Fields) -> dict[str, dict[str, Any]]:
        return {name: {key: said[key] for key in sorted(said)} for name, said in fields.content.items()}


def _size(name: str, value: Any, bounds: tuple[int, int]) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"the {name} size must be an int, not {type(value).__name__}")
    if not bounds[0] <= value <= bounds[1]:
        raise RuntimeError(
            f"Invalid data, {name} size: {value} should be in range [{bounds[0]} bytes, {bounds[1]} bytes]."
        )
    return value
