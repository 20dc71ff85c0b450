"""Plain values as JSON: texts, numbers, tuples of them, types of tensors."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from weft import dtypes
from weft.dtypes import DType
from weft.ir.types import TensorType

#: what `packed` gives for a value that is not plain
OTHER: Final = object()
_WEAK: Final[dict[str | None, type | None]] = {None: None, "bool": bool, "int": int, "float": float}
#: longer ints are not written: Python limits how many digits it reads
_BITS: Final = 4096


def packed(value: Any, owned: bool = False) -> Any:
    """A plain value as JSON has it; `OTHER` for any other.

    Args:
        value: any object.
        owned: whether nobody else holds it, so that another list or array of the same contents does as well.

    Example:
        >>> unpacked(packed((1, 2.5, None, "x")))
        (1, 2.5, None, 'x')
    """
    kind = type(value)
    if value is None or kind is bool or (kind is int and value.bit_length() < 64) or kind is str:
        return value if kind is not str or _is_text(value) else OTHER
    if kind is int and value.bit_length() <= _BITS:
        return ["int", hex(value)]
    if kind is float:
        return ["float", value.hex()]
    if kind is complex:
        return ["complex", value.real.hex(), value.imag.hex()]
    if kind is bytes:
        return ["bytes", value.hex()]
    if kind is tuple:
        items = [packed(item) for item in value]
        return OTHER if any(item is OTHER for item in items) else ["tuple", *items]
    if kind is list and owned:
        items = [packed(item) for item in value]
        return OTHER if any(item is OTHER for item in items) else ["list", *items]
    if kind is dict and owned:
        items = [packed(part) for item in value.items() for part in item]
        return OTHER if any(item is OTHER for item in items) else ["dict", *items]
    if kind is np.ndarray and owned and packed(value.dtype) is not OTHER:
        return ["array", value.dtype.str, list(value.shape), np.ascontiguousarray(value).tobytes().hex()]
    if kind is TensorType:
        return ["type", value.dtype.name, list(value.shape), value.weak and value.weak.__name__]
    if kind is DType:
        return ["dtype", value.name]
    if isinstance(value, np.dtype) and not value.hasobject and value.names is None:
        return ["numpy", value.str] if np.dtype(value.str) == value else OTHER
    return OTHER


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def unpacked(value: Any) -> Any:
    """The value that `packed` made JSON of."""
    if type(value) is not list:
        return value
    kind, *parts = value
    if kind in ("tuple", "list", "dict"):
        items = [unpacked(part) for part in parts]
        return (
            tuple(items)
            if kind == "tuple"
            else items
            if kind == "list"
            else dict(zip(items[::2], items[1::2], strict=True))
        )
    if kind == "type":
        return TensorType.of(dtypes.of(parts[0]), tuple(parts[1]), _WEAK[parts[2]])
    return _MADE[kind](*parts)


_MADE: Final[dict[str, Any]] = {
    "int": lambda text: int(text, 16),
    "float": float.fromhex,
    "complex": lambda real, imag: complex(float.fromhex(real), float.fromhex(imag)),
    "bytes": bytes.fromhex,
    "dtype": dtypes.of,
    "array": lambda kind, shape, data: np.frombuffer(bytes.fromhex(data), kind).reshape(shape).copy(),
    "numpy": np.dtype,
}
