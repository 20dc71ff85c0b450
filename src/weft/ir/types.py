"""Types of IR values. Types are interned: equal types are the same object, so comparing is `is`."""

from __future__ import annotations

from typing import ClassVar, Final

from weft.dtypes import ALL, DType
from weft.ir.sizes import is_open_size


class TensorType:
    """Element type and shape of a tensor value.

    Args:
        dtype: element type.
        shape: dimensions; one that the graph leaves open is an expression (see `weft.ir.sizes`).
        weak: the Python number type (`int`, `float`, `bool`) when the value stands for a Python number
            that only the running graph knows; such a value promotes like the number.

    Example:
        >>> from weft import dtypes
        >>> TensorType.of(dtypes.float32, (2, 3))
        f32[2,3]
    """

    __slots__ = ("dtype", "shape", "weak", "is_open", "__weakref__")
    _interned: ClassVar[dict[tuple[DType, tuple[int, ...], type | None], TensorType]] = {}

    dtype: DType
    shape: tuple[int, ...]
    weak: type | None
    #: whether some dimension is left open
    is_open: bool

    @classmethod
    def of(cls, dtype: DType, shape: tuple[int, ...], weak: type | None = None) -> TensorType:
        """The one type object with these fields."""
        key = (dtype, shape, weak)
        found = cls._interned.get(key)
        if found is None:
            found = object.__new__(cls)
            found.dtype, found.shape, found.weak = key
            found.is_open = any(map(is_open_size, shape))
            found = cls._interned.setdefault(key, found)
        return found

    def admits(self, kind: TensorType) -> bool:
        """Whether another type is this one with known sizes."""
        found = _ADMITTED.get((self, kind))
        if found is None:
            same = (self.dtype, self.weak, len(self.shape)) == (kind.dtype, kind.weak, len(kind.shape))
            found = same and all(is_open_size(a) or a == b for a, b in zip(self.shape, kind.shape, strict=True))
            if len(_ADMITTED) >= _ADMITTED_KEPT:
                _ADMITTED.clear()
            _ADMITTED[self, kind] = found
        return found

    @property
    def size(self) -> int:
        """Number of elements."""
        count = 1
        for dim in self.shape:
            count *= dim
        return count

    def __repr__(self) -> str:
        kind = SHORT_NAMES[self.dtype]
        weak = "" if self.weak is None else f":{self.weak.__name__}"
        return f"{kind}[{','.join(map(str, self.shape))}]{weak}"

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return TensorType.of, (self.dtype, self.shape, self.weak)


#: answers of `TensorType.admits`
_ADMITTED: dict[tuple[TensorType, TensorType], bool] = {}
_ADMITTED_KEPT: Final = 4096


class TokenType:
    """The type of an effect token: it carries order, no data."""

    __slots__ = ()
    is_open: ClassVar[bool] = False

    def __repr__(self) -> str:
        return "token"


TOKEN = TokenType()
ValueType = TensorType | TokenType


def _short(dtype: DType) -> str:
    name = dtype.np_dtype.name
    for long, brief in (("bfloat", "bf"), ("float", "f"), ("uint", "u"), ("int", "i"), ("complex", "c")):
        if name.startswith(long):
            return brief + name[len(long) :]
    return name


def _short_names() -> dict[DType, str]:
    return {dtype: _short(dtype) for dtype in ALL}


SHORT_NAMES: dict[DType, str] = _short_names()
