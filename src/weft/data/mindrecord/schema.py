"""What the rows of MindRecord files hold: the fields with their types, and how a row becomes bytes and a row again.

A row has two parts. Numbers and texts are one part (a map of MessagePack), bytes and arrays the other: one after the
other in the order of the names, each after its length. Where there is only one, its length is left out.
"""

from __future__ import annotations

import re
import struct
from typing import Any, Final

import numpy as np

from weft.data.mindrecord.errors import MRMBuildSchemaError, MRMDefineIndexError, MRMInvalidSchemaError
from weft.data.mindrecord.packed import ARRAYS, packed_fields, unpacked_fields

#: for each type of a field what a value of it may be, the class of Python's and the element type
_SCALARS: Final[dict[str, tuple[type, Any]]] = {
    "int32": (int, np.int32),
    "int64": (int, np.int64),
    "float32": (float, np.float32),
    "float64": (float, np.float64),
    "string": (str, None),
    "bytes": (bytes, None),
}
#: types of fields in the database
_COLUMNS: Final = {"int32": "INTEGER", "int64": "INTEGER", "float32": "REAL", "float64": "REAL", "string": "TEXT"}
_SIZE: Final = ">Q"


class Fields:
    """The fields of rows.

    Args:
        content: for each name a dict with the type, and for arrays the shape.

    Raises:
        MRMInvalidSchemaError: `content` is not that.
        MRMBuildSchemaError: a shape has more than one unknown size.
    """

    def __init__(self, content: Any) -> None:
        if not isinstance(content, dict):
            raise MRMInvalidSchemaError("Schema content should be dict.")
        if not content:
            raise MRMInvalidSchemaError("Schema content is empty.")
        for name, said in content.items():
            self._check(name, said)
        self.content: dict[str, dict[str, Any]] = {name: dict(content[name]) for name in sorted(content)}
        in_blob = {name: "shape" in said or said["type"] == "bytes" for name, said in self.content.items()}
        #: names of the fields that are bytes or arrays
        self.blobs = [name for name, is_blob in in_blob.items() if is_blob]
        #: names of the others
        self.raws = [name for name, is_blob in in_blob.items() if not is_blob]

    @staticmethod
    def _check(name: Any, said: Any) -> None:
        if not isinstance(name, str):
            raise TypeError(f"the name of a field must be a str, not {type(name).__name__}")
        if not re.fullmatch(r"[0-9a-zA-Z_]+", name):
            raise MRMInvalidSchemaError(f"Field '{name}' should be composed of '0-9' or 'a-z' or 'A-Z' or '_'.")
        if not isinstance(said, dict) or "type" not in said:
            raise MRMInvalidSchemaError(f"Field '{name}' should be dict.")
        if set(said) - {"type", "shape"}:
            raise MRMInvalidSchemaError(f"Field '{said}' contains illegal attributes.")
        kind = said["type"]
        if not isinstance(kind, str) or kind not in (ARRAYS if "shape" in said else _SCALARS):
            raise MRMInvalidSchemaError(f"Field '{name}' contain illegal attribute '{kind}'.")
        shape = said.get("shape", [])
        if not isinstance(shape, (list, tuple)):
            raise MRMInvalidSchemaError(f"Field '{name}' contain illegal attribute '{shape}'.")
        if any(isinstance(size, bool) or not isinstance(size, int) or size < -1 for size in shape):
            raise MRMBuildSchemaError()
        if list(shape).count(-1) > 1:
            raise MRMBuildSchemaError()

    def column_type(self, name: str) -> str:
        """The type of a column of the database.

        Args:
            name: name of a field.

        Raises:
            MRMDefineIndexError: the field is bytes or an array.
        """
        if name in self.blobs:
            raise MRMDefineIndexError(f"Failed to set field {name} since it's not primitive type.")
        return _COLUMNS[self.content[name]["type"]]

    def objection(self, row: dict[str, Any]) -> str | None:
        """What is wrong with a row; None where it fits.

        Args:
            row: values by name; others than those of the fields are left out.
        """
        for name, said in self.content.items():
            if name not in row:
                return f"there is no {name!r}"
            value, kind = row[name], said["type"]
            if "shape" in said:
                if not isinstance(value, np.ndarray) or value.dtype != kind:
                    return f"{name!r} must be an array of {kind}"
                try:
                    value.reshape(said["shape"])
                except ValueError:
                    return f"{name!r} of shape {value.shape} does not fit {said['shape']}"
            elif type(value) not in _SCALARS[kind]:
                return f"{name!r} must be {kind}, not {type(value).__name__}"
            elif isinstance(value, int) and not -(bound := 1 << int(kind[3:]) - 1) <= value < bound:
                return f"{name!r} is {value}, which is no {kind}"
        return None

    def encoded(self, row: dict[str, Any]) -> tuple[bytes, bytes, int]:
        """The two parts of a row as bytes, and how many bytes the form of integers saved.

        Args:
            row: values by name.
        """
        scalars = {name: row[name].item() if isinstance(row[name], np.generic) else row[name] for name in self.raws}
        # a row without numbers and texts has one number, which says nothing
        raw = packed_fields(scalars if scalars else {"id": 0})
        parts, saved = [], 0
        for name in self.blobs:
            part = row[name]
            if isinstance(part, np.ndarray):
                content = ARRAYS[self.content[name]["type"]][0](part)
                saved += part.nbytes - len(content)
                part = content
            parts.append(part)
        if len(parts) == 1:
            return raw, parts[0], saved
        blob = b"".join(struct.pack(_SIZE, len(part)) + part for part in parts) if parts else bytes(4)
        return raw, blob, saved

    def scalars(self, raw: bytes) -> dict[str, Any]:
        """The numbers and texts in the part of a row that holds them.

        Args:
            raw: the part.

        Raises:
            ValueError: it does not hold them.
        """
        found = unpacked_fields(raw)
        for name in self.raws:
            if name not in found:
                raise ValueError(f"there is no {name!r}")
            if isinstance(found[name], str) != (self.content[name]["type"] == "string"):
                raise ValueError(f"{name!r} is no {self.content[name]['type']}")
        return {name: found[name] for name in self.raws}

    def blobs_of(self, blob: bytes) -> dict[str, Any]:
        """The bytes and arrays in the part of a row that holds them.

        Args:
            blob: the part.

        Raises:
            ValueError: it does not hold them.
        """
        if len(self.blobs) == 1:
            return {self.blobs[0]: self._decoded(self.blobs[0], blob)}
        found, place, size = {}, 0, struct.calcsize(_SIZE)
        for name in self.blobs:
            if place + size > len(blob):
                raise ValueError("it ends too early")
            (length,) = struct.unpack_from(_SIZE, blob, place)
            place += size
            if length > len(blob) - place:
                raise ValueError("it ends too early")
            found[name] = self._decoded(name, blob[place : place + length])
            place += length
        return found

    def _decoded(self, name: str, content: bytes) -> Any:
        said = self.content[name]
        if "shape" not in said:
            return content
        return ARRAYS[said["type"]][1](content).reshape(said["shape"])
