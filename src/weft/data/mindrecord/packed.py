"""Values as bytes: the fields of a row that are numbers and texts (MessagePack), and arrays of integers."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Final

import numpy as np

Array = np.ndarray[Any, Any]

_INTEGERS: Final = ((0xCC, ">B", 1 << 8), (0xCD, ">H", 1 << 16), (0xCE, ">I", 1 << 32), (0xCF, ">Q", 1 << 64))
_NEGATIVES: Final = ((0xD0, ">b", 1 << 7), (0xD1, ">h", 1 << 15), (0xD2, ">i", 1 << 31), (0xD3, ">q", 1 << 63))
_TEXTS: Final = ((0xD9, ">B", 1 << 8), (0xDA, ">H", 1 << 16), (0xDB, ">I", 1 << 32))
_LARGEST: Final = float(np.finfo(np.float32).max)
#: first byte and form of numbers
_NUMBERS: Final = {**{first: form for first, form, _ in (*_INTEGERS, *_NEGATIVES)}, 0xCA: ">f", 0xCB: ">d"}
_LENGTHS: Final = {first: form for first, form, _ in _TEXTS}


def _sized(rows: tuple[tuple[int, str, int], ...], number: int, size: int) -> bytes:
    for first, form, bound in rows:
        if size < bound:
            return bytes([first]) + struct.pack(form, number)
    raise OverflowError(f"{number} is no number of 64 bits")


def _packed(value: int | float | str) -> bytes:
    if isinstance(value, str):
        content = value.encode()
        start = bytes([0xA0 | len(content)]) if len(content) < 32 else _sized(_TEXTS, len(content), len(content))
        return start + content
    if isinstance(value, int):
        if -32 <= value < 128:
            return struct.pack(">b", value)
        return _sized(_INTEGERS, value, value) if value >= 0 else _sized(_NEGATIVES, value, ~value)
    if abs(value) <= _LARGEST and struct.unpack(">f", struct.pack(">f", value))[0] == value:
        return b"\xca" + struct.pack(">f", value)
    return b"\xcb" + struct.pack(">d", value)


def packed_fields(fields: dict[str, int | float | str]) -> bytes:
    """Fields as a map of MessagePack, in the order of their names.

    Args:
        fields: the values by name.

    Example:
        >>> packed_fields({"s": "ab", "i": -7}).hex(" ")
        '82 a1 69 f9 a1 73 a2 61 62'
    """
    count = len(fields)
    start = bytes([0x80 | count]) if count < 16 else struct.pack(">BH", 0xDE, count)
    return start + b"".join(_packed(name) + _packed(fields[name]) for name in sorted(fields))


def unpacked_fields(content: bytes) -> dict[str, Any]:
    """The fields in a map of MessagePack.

    Args:
        content: the map; nothing may come after it.

    Raises:
        ValueError: it is none, or holds anything but numbers and texts.

    Example:
        >>> unpacked_fields(packed_fields({"s": "ab", "i": -7}))
        {'i': -7, 's': 'ab'}
    """
    try:
        first = content[0]
        count, place = (first & 15, 1) if first & 0xF0 == 0x80 else (struct.unpack_from(">H", content, 1)[0], 3)
        if first & 0xF0 != 0x80 and first != 0xDE:
            raise ValueError("it does not begin with a map")
        fields = {}
        for _ in range(count):
            name, place = _value_at(content, place)
            fields[str(name)], place = _value_at(content, place)
    except (IndexError, struct.error) as error:
        raise ValueError("it ends too early") from error
    if place != len(content):
        raise ValueError("something comes after it")
    return fields


def _value_at(content: bytes, place: int) -> tuple[Any, int]:
    first = content[place]
    place += 1
    if first < 128:
        return first, place
    if first >= 0xE0:
        return first - 256, place
    if first in _NUMBERS:
        form = _NUMBERS[first]
        return struct.unpack_from(form, content, place)[0], place + struct.calcsize(form)
    if first & 0xE0 == 0xA0:
        length = first & 31
    elif first in _LENGTHS:
        (length,) = struct.unpack_from(_LENGTHS[first], content, place)
        place += struct.calcsize(_LENGTHS[first])
    else:
        raise ValueError(f"a value begins with the byte {first}")
    if place + length > len(content):
        raise IndexError
    return content[place : place + length].decode(), place + length


def narrowed(array: Array) -> bytes:
    """Integers in as few bytes as each needs: their number, the width of each in two bits, and their bytes.

    Args:
        array: integers of 32 or 64 bits.

    Example:
        >>> narrowed(np.array([1, 300])).hex(" ")
        '00 00 00 02 10 01 2c 01'
    """
    values = np.ascontiguousarray(array, "<i8").reshape(-1)
    magnitude = np.where(values < 0, ~values, values)
    codes = np.searchsorted(np.array([1 << 7, 1 << 15, 1 << 31]), magnitude, side="right").astype(np.uint8)
    filled = np.zeros(-(-len(codes) // 4) * 4, np.uint8)
    filled[: len(codes)] = codes
    quarters = filled.reshape(-1, 4)
    widths = quarters[:, 0] << 6 | quarters[:, 1] << 4 | quarters[:, 2] << 2 | quarters[:, 3]
    content = values.view(np.uint8).reshape(-1, 8)[_bytes_of(codes)]
    return struct.pack(">I", len(values)) + widths.tobytes() + content.tobytes()


def _bytes_of(codes: Array) -> Array:
    """Which of the eight bytes of each number there are."""
    return np.arange(8) < (1 << codes.astype(np.int64))[:, None]


def widened(content: bytes, dtype: Any) -> Array:
    """The integers that `narrowed` made bytes of, in one dimension.

    Args:
        content: the bytes.
        dtype: int32 or int64.

    Raises:
        ValueError: it is no such content, or the element type cannot hold a number.

    Example:
        >>> widened(narrowed(np.array([1, -300])), np.int32)
        array([   1, -300], dtype=int32)
    """
    if len(content) < 4:
        raise ValueError("an array of integers ends too early")
    (count,) = struct.unpack_from(">I", content)
    begin = 4 + -(-count // 4)
    if count > len(content):
        raise ValueError("an array of integers ends too early")
    packed = np.frombuffer(content, np.uint8, begin - 4, 4)
    codes = np.stack([packed >> shift & 3 for shift in (6, 4, 2, 0)], 1).reshape(-1)[:count]
    present = _bytes_of(codes)
    if begin + int(present.sum()) != len(content):
        raise ValueError("an array of integers has another size than it says")
    spread = np.zeros((count, 8), np.uint8)
    spread[present] = np.frombuffer(content, np.uint8, offset=begin)
    unused = 64 - (8 << codes.astype(np.int64))
    values = spread.view("<i8").reshape(-1) << unused >> unused
    found = values.astype(dtype)
    if not np.array_equal(found, values):
        raise ValueError(f"an integer is too large for {np.dtype(dtype)}")
    return found


#: how arrays of each type become bytes, and arrays of one dimension again
ARRAYS: Final[dict[str, tuple[Callable[[Array], bytes], Callable[[bytes], Array]]]] = {
    "int32": (narrowed, lambda content: widened(content, np.int32)),
    "int64": (narrowed, lambda content: widened(content, np.int64)),
    "float32": (lambda array: array.astype("<f4").tobytes(), lambda content: np.frombuffer(content, "<f4").copy()),
    "float64": (lambda array: array.astype("<f8").tobytes(), lambda content: np.frombuffer(content, "<f8").copy()),
}
