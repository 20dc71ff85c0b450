"""Groups of element types, and questions about them, as `mindspore.common.dtype` has them."""

from __future__ import annotations

from enum import Enum, unique
from typing import Any, Final

from weft import dtypes
from weft.dtypes import DType, Kind, TypeName

__all__ = [
    "QuantDtype", "all_types", "complex_type", "float_type", "int_type", "is_subclass", "number_type", "signed_type",
    "str_to_type", "type_size_in_bytes", "uint_type",
]  # fmt: skip

_FLOATS_OF_8_BITS: Final = (dtypes.float8_e4m3fn, dtypes.float8_e5m2)

int_type: Final = (dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64)
uint_type: Final = (dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64)
_WIDE_FLOATS: Final = (dtypes.float16, dtypes.float32, dtypes.float64, dtypes.bfloat16)
float_type: Final = (*_WIDE_FLOATS, *_FLOATS_OF_8_BITS)
complex_type: Final = (dtypes.complex64, dtypes.complex128)
_LAST: Final = (*_WIDE_FLOATS, *complex_type, dtypes.qint4x2, *_FLOATS_OF_8_BITS)
signed_type: Final = (*int_type, *_LAST)
number_type: Final = (*int_type, *uint_type, *_LAST)
all_types: Final = (dtypes.bool_, *number_type)


@unique
class QuantDtype(Enum):
    """The integers that a quantized network computes with: 1 to 16 bits, with a sign or without.

    Example:
        >>> QuantDtype.INT8, str(QuantDtype.UINT4), QuantDtype.UINT4.value()
        (<QuantDtype.INT8: 7>, 'UINT4', 103)
    """

    INT1 = 0
    INT2 = 1
    INT3 = 2
    INT4 = 3
    INT5 = 4
    INT6 = 5
    INT7 = 6
    INT8 = 7
    INT9 = 8
    INT10 = 9
    INT11 = 10
    INT12 = 11
    INT13 = 12
    INT14 = 13
    INT15 = 14
    INT16 = 15
    UINT1 = 100
    UINT2 = 101
    UINT3 = 102
    UINT4 = 103
    UINT5 = 104
    UINT6 = 105
    UINT7 = 106
    UINT8 = 107
    UINT9 = 108
    UINT10 = 109
    UINT11 = 110
    UINT12 = 111
    UINT13 = 112
    UINT14 = 113
    UINT15 = 114
    UINT16 = 115

    def __str__(self) -> str:
        return self.name

    def value(self) -> int:  # type: ignore[override]
        """The number of the type."""
        return int(self._value_)


def type_size_in_bytes(dtype: Any) -> int:
    """How many bytes an element of a type takes.

    Args:
        dtype: the element type.

    Example:
        >>> type_size_in_bytes(dtypes.float16)
        2
    """
    return dtypes.of(dtype).itemsize


def is_subclass(type_: Any, dtype: Any) -> bool:
    """Whether an element type is another one, or of its kind.

    Args:
        type_: element type.
        dtype: element type, kind (`Float`, `Int`...) or `number`.

    Example:
        >>> is_subclass(dtypes.float32, dtypes.number), is_subclass(dtypes.float32, dtypes.Int)
        (True, False)
    """
    if dtype is dtypes.number:
        return isinstance(type_, DType) and type_ is not dtypes.bool_
    if isinstance(dtype, Kind):
        return isinstance(type_, dtype)
    return bool(type_ == dtype)


#: types without elements that MindSpore knows by name
_NAMED: Final[dict[str, TypeName]] = {"string": dtypes.string, "list": dtypes.list_, "tuple": dtypes.tuple_}


def str_to_type(name: str) -> Any:
    """The type that a name stands for.

    Args:
        name: such as ``"float32"`` or ``"Float32"``.

    Raises:
        TypeError: there is none.

    Example:
        >>> str_to_type("float32")
        mindspore.float32
    """
    return _NAMED[name] if name in _NAMED else dtypes.of(name)
