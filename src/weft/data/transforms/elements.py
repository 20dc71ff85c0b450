"""Operations on arrays of any kind: element types, parts, padding, masks, one-hot codes."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Final

import numpy as np

from weft import dtypes
from weft.data import checks
from weft.data.operation import Operation

_CONSTANTS: Final = (str, float, bool, int, bytes)


class Relational(IntEnum):
    """How `Mask` compares."""

    EQ = 0
    NE = 1
    GT = 2
    GE = 3
    LT = 4
    LE = 5


def checked_dtype(value: Any, name: str = "data_type") -> np.dtype[Any]:
    """The NumPy type that an element type of weft or NumPy names.

    Args:
        value: the element type.
        name: name of the argument.

    Returns:
        numpy.dtype: the type. That of `string` is the one of texts.
    """
    if value is dtypes.string:
        return np.dtype(np.str_)
    try:
        if not isinstance(value, (dtypes.DType, str, type, np.dtype)):
            raise TypeError
        return np.dtype(float) if value is float else np.dtype(dtypes.of(value).np_dtype)
    except TypeError:
        raise TypeError(
            f"Argument {name} with value {value} is not of type [{dtypes.DType}, {np.dtype}], but got {type(value)}."
        ) from None


def is_text(array: Any) -> bool:
    """Whether an array holds texts or bytes."""
    return bool(array.dtype.kind in "US")


def cast(array: Any, kind: np.dtype[Any]) -> Any:
    """An array in another element type; numbers outside the new type wrap around, as they do in C.

    Args:
        array: the array.
        kind: the type.

    Returns:
        numpy.ndarray: the new array.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if array.dtype.kind == "f" and kind.kind in "iu":
            return np.asarray(np.trunc(array)).astype(np.int64).astype(kind)
        return array.astype(kind)


class TypeCast(Operation):
    """Values in another element type.

    Args:
        data_type: the element type, of weft or NumPy.

    Example:
        >>> TypeCast("int32")(np.array([1.5, -2.5]))
        array([ 1, -2], dtype=int32)
    """

    def __init__(self, data_type: Any) -> None:
        self.data_type = checked_dtype(data_type)

    def apply(self, *columns: Any) -> Any:
        (array,) = columns
        if is_text(array) != (self.data_type.kind in "US"):
            raise self.wrong(f"does not support a cast from {array.dtype.name} to {self.data_type.name}.")
        return array if is_text(array) else cast(array, self.data_type)

    def for_all(self, column: Any) -> Any:
        if is_text(column) or self.data_type.kind in "US":
            return None
        return cast(column, self.data_type)


class OneHot(Operation):
    """A vector for each class number: one at its place, zeros elsewhere.

    Args:
        num_classes: how many classes there are.
        smoothing_rate: how much of the one is spread over all classes.

    Example:
        >>> OneHot(4)(2)
        array([0, 0, 1, 0])
    """

    def __init__(self, num_classes: int, smoothing_rate: float = 0.0) -> None:
        checks.of_type(num_classes, int, "num_classes")
        checks.within(num_classes, 0, checks.INT32_MAX, "num_classes", without_low=True)
        self.num_classes = num_classes
        self.smoothing_rate = checks.real(smoothing_rate, "smoothing_rate", 0.0, 1.0)

    def apply(self, *columns: Any) -> Any:
        (labels,) = columns
        if labels.dtype.kind not in "iu":
            raise self.wrong(f"only supports input of int type, but got {labels.dtype.name}.")
        if labels.size and labels.max() >= self.num_classes:
            raise self.wrong(f"class {labels.max()} should be less than num_classes, which is {self.num_classes}.")
        if labels.ndim == 2 and labels.shape[1] == 1:
            labels = labels[:, 0]
        if labels.ndim > 1:
            raise self.wrong(f"only supports scalars and 1D input, but got shape {labels.shape}.")
        hot = labels[..., None] == np.arange(self.num_classes)
        if not self.smoothing_rate:
            return hot.astype(labels.dtype)
        return hot * (1 - self.smoothing_rate) + self.smoothing_rate / self.num_classes


class Fill(Operation):
    """An array of one value, of the shape and element type of the input.

    Args:
        fill_value: the value.
    """

    def __init__(self, fill_value: Any) -> None:
        checks.of_type(fill_value, _CONSTANTS, "fill_value")
        self.fill_value = fill_value

    def apply(self, *columns: Any) -> Any:
        (array,) = columns
        given = np.asarray(self.fill_value)
        if (is_text(array) or is_text(given)) and given.dtype.kind != array.dtype.kind:
            raise self.wrong(
                f"fill_value and input must hold texts both or numbers both, but got {self.fill_value!r} and element "
                f"type {array.dtype.name}."
            )
        kind = given.dtype if is_text(given) else array.dtype
        return np.full(array.shape, given if is_text(given) else cast(given, kind), kind)


class Slice(Operation):
    """Part of an array.

    Args:
        slices: for each axis an int, a list of ints, a slice, None (all of it) or an ellipsis (all that remain). Axes
            are kept.
    """

    def __init__(self, *slices: Any) -> None:
        for each in slices:
            if each is not None:
                checks.of_type(each, (int, list, slice, bool, type(Ellipsis)), "slice")
        self.slices = slices

    def apply(self, *columns: Any) -> Any:
        (array,) = columns
        given = list(self.slices)
        if Ellipsis in [each for each in given if each is Ellipsis]:
            place = next(index for index, each in enumerate(given) if each is Ellipsis)
            given[place : place + 1] = [None] * (array.ndim - len(given) + 1)
        if len(given) > array.ndim:
            raise self.wrong(f"got {len(given)} slices for an array of shape {array.shape}.")
        for axis, each in enumerate(given):
            if each is None or each is True:
                continue
            if isinstance(each, slice):
                array = array[(slice(None),) * axis + (each,)]
                continue
            places = each if isinstance(each, list) else [each]
            if not places:
                raise self.wrong("a list of places can not be empty.")
            try:
                array = np.take(array, places, axis)
            except IndexError:
                raise self.wrong(
                    f"index {each} is out of bounds for axis {axis} of size {array.shape[axis]}."
                ) from None
        return array


class Concatenate(Operation):
    """Columns one after the other.

    Args:
        axis: 0 or -1, since arrays have one axis.
        prepend: an array that comes first.
        append: an array that comes last.
    """

    columns = None

    def __init__(self, axis: int = 0, prepend: Any = None, append: Any = None) -> None:
        checks.of_type(axis, int, "axis")
        if axis not in (0, -1):
            raise ValueError(f"only 1D concatenation supported, but got axis {axis}.")
        for name, array in (("prepend", prepend), ("append", append)):
            if array is not None:
                checks.of_type(array, np.ndarray, name)
                if array.ndim != 1:
                    raise ValueError(f"{name}: can only prepend and append 1D arrays, but got shape {array.shape}.")
        self.prepend, self.append = prepend, append

    def apply(self, *columns: Any) -> Any:
        parts = [part for part in (self.prepend, *columns, self.append) if part is not None]
        for part in parts:
            if part.ndim != 1:
                raise self.wrong(f"only 1D input supported, got shape {part.shape}.")
            if part.dtype != parts[0].dtype and not (part.dtype.kind == parts[0].dtype.kind and is_text(part)):
                raise self.wrong(f"element types differ: {part.dtype.name} and {parts[0].dtype.name}.")
        return np.concatenate(parts)


class Duplicate(Operation):
    """A column twice."""

    def apply(self, *columns: Any) -> Any:
        return columns[0], columns[0].copy()


class Mask(Operation):
    """Where values compare with a constant as asked.

    Args:
        operator: how they are compared.
        constant: the constant.
        dtype: element type of the mask.
    """

    _COMPARE: Final = {
        Relational.EQ: np.equal,
        Relational.NE: np.not_equal,
        Relational.GT: np.greater,
        Relational.GE: np.greater_equal,
        Relational.LT: np.less,
        Relational.LE: np.less_equal,
    }

    def __init__(self, operator: Relational, constant: Any, dtype: Any = dtypes.bool_) -> None:
        checks.of_type(operator, Relational, "operator")
        checks.of_type(constant, _CONSTANTS, "constant")
        self.compare, self.constant = self._COMPARE[operator], constant
        self.dtype = checked_dtype(dtype, "dtype")

    def apply(self, *columns: Any) -> Any:
        (array,) = columns
        constant = np.asarray(self.constant)
        if is_text(array) != is_text(constant):
            raise self.wrong(
                f"input and constant must be numbers both or texts both, but got element type {array.dtype.name} and "
                f"constant {self.constant!r}."
            )
        return np.asarray(self.compare(array, constant)).astype(self.dtype)


class PadEnd(Operation):
    """An array padded at its ends, or cut, to a shape.

    Args:
        pad_shape: the shape; None for an axis that stays.
        pad_value: what is put in; None for zero or the empty text.
    """

    def __init__(self, pad_shape: list[int | None], pad_value: Any = None) -> None:
        checks.of_type(pad_shape, list, "pad_shape")
        for place, length in enumerate(pad_shape):
            if length is None:
                continue
            if not isinstance(length, int):
                raise TypeError(f"a value in the list is not an integer: pad_shape[{place}] is {length!r}.")
            checks.within(length, 1, 2**63 - 1, f"pad_shape[{place}]")
        if pad_value is not None:
            checks.of_type(pad_value, _CONSTANTS, "pad_value")
        self.pad_shape, self.pad_value = pad_shape, pad_value

    def apply(self, *columns: Any) -> Any:
        (array,) = columns
        if len(self.pad_shape) != array.ndim:
            raise self.wrong(f"pad_shape {self.pad_shape} does not fit an array of shape {array.shape}.")
        value = np.asarray(self.pad_value if self.pad_value is not None else ("" if array.dtype.kind == "U" else 0))
        if self.pad_value is None and array.dtype.kind == "S":
            value = np.asarray(b"")
        if is_text(array) != is_text(value):
            raise self.wrong(
                f"can not pad numbers and texts together, but got pad_value {self.pad_value!r} and element type "
                f"{array.dtype.name}."
            )
        shape = [old if new is None else new for old, new in zip(array.shape, self.pad_shape, strict=True)]
        kind = np.result_type(array, value) if is_text(array) else array.dtype
        padded = np.full(shape, value if is_text(array) else cast(value, kind), kind)
        kept = tuple(slice(min(old, new)) for old, new in zip(array.shape, shape, strict=True))
        padded[kept] = array[kept]
        return padded


class Unique(Operation):
    """The values of a batch, each once, in the order of their first places; the places of all values among them; and
    how often each occurs."""

    def apply(self, *columns: Any) -> Any:
        (array,) = columns
        if is_text(array):
            raise self.wrong(f"only supports numbers, got {array.dtype.name}.")
        if array.ndim < 2:
            raise self.wrong(f"input must be at least 2-D in order to do unique op, got rank: {array.ndim}")
        values, first, inverse, counts = np.unique(
            array.ravel(), return_index=True, return_inverse=True, return_counts=True
        )
        order = np.argsort(first)
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return values[order], place[inverse].astype(np.int32), counts[order].astype(np.int32)


class Plugin(Operation):
    """An operation of a compiled library, which weft does not run."""

    def __init__(self, lib_path: str, func_name: str, user_args: str | None = None) -> None:
        raise NotImplementedError(
            f"transforms.Plugin: the library {lib_path} is compiled for MindSpore's own C++ interface; write "
            f"{func_name} as a Python callable instead."
        )
