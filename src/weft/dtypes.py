"""Data types: one object for each, with its NumPy and Python counterparts, and the promotion rules."""

from __future__ import annotations

import builtins
from functools import cache
from typing import Any, ClassVar, Final

import ml_dtypes
import numpy as np

_CATEGORY: Final = {"b": 0, "u": 1, "i": 1, "f": 2, "V": 2, "c": 3}


class DType:
    """A tensor element type, such as `float32`.

    Args:
        name: the printed name, e.g. ``"Float32"``.
        np_dtype: the NumPy type that stores one element.
    """

    __slots__ = ("name", "np_dtype", "category", "itemsize")

    def __init__(self, name: str, np_dtype: Any) -> None:
        self.name = name
        self.np_dtype = np.dtype(np_dtype)
        kind = self.np_dtype.kind
        #: 0 bool, 1 integer, 2 floating, 3 complex; the order in which kinds promote
        self.category = _CATEGORY[kind]
        self.itemsize = self.np_dtype.itemsize

    @property
    def is_floating(self) -> bool:
        """Whether values are floating point (not complex)."""
        return self.category == 2

    @property
    def is_signed(self) -> bool:
        """Whether negative values exist."""
        return self.category >= 2 or self.np_dtype.kind == "i"

    def __repr__(self) -> str:
        return f"mindspore.{self.np_dtype.name}"

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return of, (self.np_dtype.name,)

    def __deepcopy__(self, memo: dict[int, Any]) -> DType:
        return self


class TypeName:
    """A name of a non-numeric type that programs mention (`string`, `tensor_type`, `list_`...)."""

    __slots__ = ("name", "shown")

    def __init__(self, name: str, shown: str = "") -> None:
        self.name = name
        self.shown = shown or name

    def __repr__(self) -> str:
        return self.shown

    def __str__(self) -> str:
        return self.name


bool_ = DType("Bool", np.bool_)
int8 = DType("Int8", np.int8)
int16 = DType("Int16", np.int16)
int32 = DType("Int32", np.int32)
int64 = DType("Int64", np.int64)
uint8 = DType("UInt8", np.uint8)
uint16 = DType("UInt16", np.uint16)
uint32 = DType("UInt32", np.uint32)
uint64 = DType("UInt64", np.uint64)
float16 = DType("Float16", np.float16)
float32 = DType("Float32", np.float32)
float64 = DType("Float64", np.float64)
bfloat16 = DType("BFloat16", ml_dtypes.bfloat16)
float8_e4m3fn = DType("Float8E4M3FN", ml_dtypes.float8_e4m3fn)
float8_e5m2 = DType("Float8E5M2", ml_dtypes.float8_e5m2)
complex64 = DType("Complex64", np.complex64)
complex128 = DType("Complex128", np.complex128)

ALL: Final = (
    bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
    float16, float32, float64, bfloat16, float8_e4m3fn, float8_e5m2, complex64, complex128,
)  # fmt: skip
_BY_NP: Final[dict[np.dtype[Any], DType]] = {d.np_dtype: d for d in ALL}
_BY_NAME: Final[dict[str, DType]] = {d.np_dtype.name: d for d in ALL} | {d.name: d for d in ALL}
_BY_PY: Final[dict[type, DType]] = {
    builtins.bool: bool_,
    builtins.int: int64,
    builtins.float: float32,
    builtins.complex: complex64,
}

#: the class of element types
Type = DType


class Kind(type):
    """A class whose instances are the element types of a kind; called, it gives the one of so many bits."""

    #: bits -> element type
    types: dict[builtins.int, DType]

    def __instancecheck__(cls, value: object) -> builtins.bool:
        return isinstance(value, DType) and any(value is one for one in cls.types.values())

    def __call__(cls, bits: builtins.int) -> Any:
        """The element type of that many bits.

        Raises:
            RuntimeError: the kind has none.
        """
        if bits not in cls.types:
            known = ", ".join(str(one) for one in sorted(cls.types))
            raise RuntimeError(f"{cls.__name__} has types of {known} bits, not of {bits}")
        return cls.types[bits]


class Int(metaclass=Kind):
    """The class of signed integer types: ``isinstance(int32, Int)``, ``Int(32) is int32``."""

    types: ClassVar = {8: int8, 16: int16, 32: int32, 64: int64}


class UInt(metaclass=Kind):
    """The class of unsigned integer types."""

    types: ClassVar = {8: uint8, 16: uint16, 32: uint32, 64: uint64}


class Float(metaclass=Kind):
    """The class of floating types of IEEE 754."""

    types: ClassVar = {16: float16, 32: float32, 64: float64}


class BFloat(metaclass=Kind):
    """The class of the floating type with the exponent of `float32`."""

    types: ClassVar = {16: bfloat16}


class Complex(metaclass=Kind):
    """The class of complex types."""

    types: ClassVar = {64: complex64, 128: complex128}


class Bool(metaclass=Kind):
    """The class of the type of truth values."""

    types: ClassVar = {8: bool_}


class TensorType:
    """The type of tensors with an element type.

    Args:
        element: the element type.

    Example:
        >>> TensorType(float32)
        mindspore.tensor[float32]
    """

    __slots__ = ("_element",)

    def __init__(self, element: DType) -> None:
        self._element = element

    def element_type(self) -> DType:
        """The element type."""
        return self._element

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorType) and other._element is self._element

    def __hash__(self) -> int:
        return hash((TensorType, self._element.name))

    def __repr__(self) -> str:
        return f"mindspore.tensor[{self._element.np_dtype.name}]"


string = TypeName("String")
type_none = TypeName("None", "mindspore.type_none")
tensor_type = TypeName("Tensor")
list_ = TypeName("List")
tuple_ = TypeName("Tuple")
number = TypeName("Number")
function = TypeName("Function")
type_type = TypeName("TypeType")
#: two integers of 4 bits in a byte, as the settings of quantized programs name them; no tensor has it
qint4x2 = TypeName("Int4", "mindspore.int4")


def of(value: Any) -> DType:
    """The DType that a dtype-like names.

    Args:
        value: a DType, a NumPy dtype or scalar type, a Python type (`int`, `float`, `bool`, `complex`) or a name.

    Returns:
        DType: the one object for that type.

    Raises:
        TypeError: the value names no supported element type.

    Example:
        >>> of("float32") is float32
        True
    """
    if isinstance(value, DType):
        return value
    found = None
    if isinstance(value, str):
        found = _BY_NAME.get(value)
    elif isinstance(value, builtins.type) and value in _BY_PY:
        found = _BY_PY[value]
    if found is None:
        try:
            found = _BY_NP.get(np.dtype(value))
        except TypeError:
            found = None
    if found is None:
        names = ", ".join(d.np_dtype.name for d in ALL)
        raise TypeError(f"{value!r} is not a tensor dtype; the dtypes are: {names}")
    return found


def of_np(np_dtype: np.dtype[Any]) -> DType:
    """The DType of a NumPy dtype (fast path of `of`)."""
    found = _BY_NP.get(np_dtype)
    return of(np_dtype) if found is None else found


def of_python(kind: type) -> DType:
    """The DType that a Python number of this type gets when it becomes a tensor on its own."""
    return _BY_PY[kind]


def to_np(value: Any) -> type:
    """The NumPy scalar type of a dtype-like: ``dtype_to_nptype(float32) is numpy.float32``."""
    return of(value).np_dtype.type


def to_python(value: Any) -> type:
    """The Python type that holds one element of a dtype-like."""
    return (bool, int, float, complex)[of(value).category]


def get_py_obj_dtype(obj: Any) -> Any:
    """What the type of a Python object is called: an element type, or the name of another type.

    Args:
        obj: the object, or a type of Python.

    Raises:
        NotImplementedError: objects of that type have no such name.

    Example:
        >>> get_py_obj_dtype(1.5)
        mindspore.float64
    """
    if isinstance(obj, DType):
        return type_type
    kind = obj if isinstance(obj, builtins.type) else builtins.type(obj)
    found = _OF_PYTHON.get(kind)
    if found is not None:
        return found
    element = getattr(obj, "dtype", None)
    if isinstance(element, DType) and not isinstance(obj, builtins.type):
        return TensorType(element)
    if callable(obj) and not isinstance(obj, builtins.type):
        return function
    raise NotImplementedError(f"the Python type {kind} has no name among MindSpore's types")


_OF_PYTHON: Final[dict[builtins.type, Any]] = {
    builtins.bool: bool_,
    builtins.int: int64,
    builtins.float: float64,
    builtins.complex: complex128,
    str: string,
    builtins.type(None): type_none,
    list: list_,
    tuple: tuple_,
}


@cache
def promote(a: DType, b: DType) -> DType:
    """The element type of an operation on two tensors.

    The higher of bool < integer < floating < complex wins; within one kind the wider. A signed and an
    unsigned integer give the next wider signed type. float16 with bfloat16 gives float32.

    Args:
        a: element type of one operand.
        b: element type of the other.

    Returns:
        DType: the common element type.

    Raises:
        TypeError: uint64 with a signed integer has no common integer type.

    Example:
        >>> promote(int32, float16)
        mindspore.float16
    """
    if a is b:
        return a
    if a.category != b.category:
        low, high = (a, b) if a.category < b.category else (b, a)
        if high.category == 3 and low is float64:
            return complex128
        return high
    if a.category == 1 and a.is_signed != b.is_signed:
        signed, unsigned = (a, b) if a.is_signed else (b, a)
        if signed.itemsize > unsigned.itemsize:
            return signed
        if unsigned is uint64:
            raise TypeError(f"{a} and {b} have no common integer type; cast one of them")
        return {1: int16, 2: int32, 4: int64}[unsigned.itemsize]
    if a.itemsize == b.itemsize:
        return float32  # float16 with bfloat16, or floats of 8 bits of two kinds
    return a if a.itemsize > b.itemsize else b


@cache
def promote_scalar(tensor: DType, kind: type) -> DType:
    """The element type of an operation on a tensor and a Python number.

    A number never widens a tensor of its own kind or of a higher one; a float makes an integer tensor
    float32, an int makes a bool tensor int64.

    Args:
        tensor: element type of the tensor.
        kind: the Python number's type.

    Returns:
        DType: the element type of the result.

    Example:
        >>> promote_scalar(float16, float), promote_scalar(int32, float)
        (mindspore.float16, mindspore.float32)
    """
    scalar = _BY_PY[kind]
    if scalar.category <= tensor.category:
        return tensor
    if scalar.category == 3 and tensor is float64:
        return complex128
    return scalar


def real_division(a: DType, b: DType) -> DType:
    """The element type of a true division: that of `promote`, integers and bools giving float32."""
    common = promote(a, b)
    return common if common.category >= 2 else float32
