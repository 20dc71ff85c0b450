"""MindSpore's checkpoint format: one protobuf message, a list of named values.

    Checkpoint { repeated Value value = 1; }
    Value      { string tag = 1; TensorProto tensor = 2; }
    TensorProto { repeated int64 dims = 1; string tensor_type = 2; bytes tensor_content = 3; }

A value that is too large for one message comes in several of one tag, whose contents are joined. Readers pass over
fields that they do not know; in one of these, facts of weft's own stand. A checksum may follow the message.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import ml_dtypes
import numpy as np

#: names of element types in a file
ELEMENT_TYPES: Final[dict[str, Any]] = {
    "Bool": np.bool_, "Int8": np.int8, "Int16": np.int16, "Int32": np.int32, "Int64": np.int64, "UInt8": np.uint8,
    "UInt16": np.uint16, "UInt32": np.uint32, "UInt64": np.uint64, "Float16": np.float16,
    "BFloat16": ml_dtypes.bfloat16, "Float32": np.float32, "Float64": np.float64, "Complex64": np.complex64,
    "Complex128": np.complex128,
}  # fmt: skip
_NAMES: Final = {np.dtype(kind): name for name, kind in ELEMENT_TYPES.items()}
_TEXT: Final = "str"
#: the field of weft's own facts
_FACTS: Final = 2047
_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5
#: bytes of a value that are written in one message, far from the 2 GiB that readers take
SLICE: Final = 512 << 20
#: between the message and its checksum, which has ten bytes
_CHECKSUM: Final = b"crc_num"


class Damaged(Exception):
    """What a file holds is no checkpoint; the message says where it goes wrong."""


# -- writing -----------------------------------------------------------------------------------------------------


def encoded(arrays: Mapping[str, np.ndarray[Any, Any]], texts: Mapping[str, str], facts: bytes) -> Iterator[bytes]:
    """The parts of a file.

    Args:
        arrays: arrays by name, of the element types of `ELEMENT_TYPES`.
        texts: strings by name.
        facts: what else to keep.

    Example:
        >>> content = b"".join(encoded({"w": np.ones(2, np.float32)}, {"made_by": "me"}, b""))
        >>> arrays, texts, facts = decoded(content)
        >>> arrays["w"].tolist(), texts
        ([1.0, 1.0], {'made_by': 'me'})
    """
    if facts:  # first, so that a reader finds out if what follows is cut off
        yield _tag(_FACTS, len(facts)) + facts
    for name, array in arrays.items():
        dims = b"".join(b"\x08" + varint(size) for size in array.shape)
        content = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
        for start in range(0, max(len(content), 1), SLICE):
            yield from _value(name, dims, _NAMES[array.dtype], content[start : start + SLICE])
    for name, text in texts.items():
        yield from _value(name, b"\x08\x00", _TEXT, text.encode("utf-32-le"))


def with_checksum(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The parts of a file, and a checksum by which readers find damage."""
    found = 0
    for part in parts:
        found = zlib.crc32(part, found)
        yield part
    yield _checksum(found)


def _checksum(number: int) -> bytes:
    return _CHECKSUM + number.to_bytes(10, "big")


def _value(name: str, dims: bytes, kind: str, content: Any) -> Iterator[bytes]:
    tag = name.encode()
    tag = _tag(1, len(tag)) + tag
    head = dims + _tag(2, len(kind)) + kind.encode() + _tag(3, len(content))
    length = len(head) + len(content)
    inner = _tag(2, length)
    yield _tag(1, len(tag) + len(inner) + length) + tag + inner + head
    yield bytes(content)


def _tag(field: int, length: int) -> bytes:
    """The head of a field with a length."""
    return varint(field << 3 | _BYTES) + varint(length)


def varint(number: int) -> bytes:
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)


# -- reading -----------------------------------------------------------------------------------------------------


def decoded(content: bytes) -> tuple[dict[str, np.ndarray[Any, Any]], dict[str, str], bytes]:
    """The arrays and strings of a file by name, and weft's own facts.

    Raises:
        Damaged: the file is no checkpoint.
    """
    data = memoryview(_checked(content))
    parts: dict[str, list[memoryview]] = {}
    kinds: dict[str, tuple[str, tuple[int, ...]]] = {}
    facts = b""
    for field, value in fields(data):
        if field == 1:
            name, kind, dims, part = _read_value(message(value, "a value"))
            if kinds.setdefault(name, (kind, dims)) != (kind, dims):
                raise Damaged(f"the parts of {name!r} differ in type or shape")
            parts.setdefault(name, []).append(part)
        elif field == _FACTS:
            facts = bytes(message(value, "a note"))
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    texts: dict[str, str] = {}
    for name, (kind, dims) in kinds.items():
        whole = parts[name][0] if len(parts[name]) == 1 else b"".join(parts[name])
        if kind == _TEXT:
            try:
                texts[name] = bytes(whole).decode("utf-32-le")
            except UnicodeDecodeError:
                raise Damaged(f"{name!r} is no text") from None
        else:
            arrays[name] = _array(name, kind, dims, whole)
    return arrays, texts, facts


def _checked(content: bytes) -> bytes:
    """A file without its checksum, if it has one."""
    end = len(content) - len(_CHECKSUM) - 10
    if end < 0 or content[end : end + len(_CHECKSUM)] != _CHECKSUM:
        return content
    if _checksum(zlib.crc32(memoryview(content)[:end])) != content[end:]:
        raise Damaged("its checksum is that of another content")
    return content[:end]


def _read_value(data: memoryview) -> tuple[str, str, tuple[int, ...], memoryview]:
    name, tensor = None, None
    for field, value in fields(data):
        if field == 1:
            name = text(value, "a name")
        elif field == 2:
            tensor = message(value, "a tensor")
    if name is None or tensor is None:
        raise Damaged("a value has no name or no tensor")
    dims: list[int] = []
    kind, content = "", memoryview(b"")
    for field, value in fields(tensor):
        if field == 1:
            dims += [value] if isinstance(value, int) else packed(value)
        elif field == 2:
            kind = text(value, "an element type")
        elif field == 3:
            content = message(value, "the content of a tensor")
    return name, kind, tuple(dims), content


def _array(name: str, kind: str, dims: tuple[int, ...], content: Any) -> np.ndarray[Any, Any]:
    if kind not in ELEMENT_TYPES:
        raise Damaged(f"{name!r} has the element type {kind!r:.40}, which a tensor cannot have")
    dtype = np.dtype(ELEMENT_TYPES[kind])
    # a single element may be said to have the one size 0
    shape = () if dims == (0,) and len(content) == dtype.itemsize else dims
    if len(shape) > 32 or math.prod(shape) * dtype.itemsize != len(content):
        raise Damaged(f"{name!r} of shape {shape} does not fill its place of {len(content)} bytes")
    if dtype == np.bool_ and len(content) and max(content) > 1:
        raise Damaged(f"{name!r} holds bytes that are no bool")
    return np.frombuffer(content, dtype).reshape(shape)


def fields(data: memoryview) -> Iterator[tuple[int, Any]]:
    """The fields of a message: number, and an int or bytes."""
    place = 0
    while place < len(data):
        key, place = _read_varint(data, place)
        field, form = key >> 3, key & 7
        if not field:
            raise Damaged("a field has the number 0")
        if form == _VARINT:
            value: Any
            value, place = _read_varint(data, place)
        else:
            if form == _BYTES:
                length, place = _read_varint(data, place)
            elif form in (_EIGHT_BYTES, _FOUR_BYTES):
                length = 8 if form == _EIGHT_BYTES else 4
            else:
                raise Damaged(f"a field has the unknown form {form}")
            if length > len(data) - place:
                raise Damaged("it ends in the middle of a field")
            value, place = data[place : place + length], place + length
        yield field, value


def _read_varint(data: memoryview, place: int) -> tuple[int, int]:
    number = 0
    for shift in range(0, 70, 7):
        if place >= len(data):
            raise Damaged("it ends in the middle of a number")
        byte = data[place]
        place += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number & (1 << 64) - 1, place
    raise Damaged("a number has more than ten bytes")


def packed(data: memoryview) -> list[int]:
    found, place = [], 0
    while place < len(data):
        number, place = _read_varint(data, place)
        found.append(number)
    return found


def message(value: Any, what: str) -> memoryview:
    if not isinstance(value, memoryview):
        raise Damaged(f"{what} is a number")
    return value


def text(value: Any, what: str) -> str:
    try:
        return bytes(message(value, what)).decode()
    except UnicodeDecodeError:
        raise Damaged(f"{what} is no text") from None
