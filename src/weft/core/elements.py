"""Device arrays of what programs make tensors of: numbers, nested lists, arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft import dtypes
from weft._jax_compat import Array, Tracer, to_device
from weft.dtypes import DType
from weft.errors import NoTensor


@np.errstate(over="ignore")
def array_of(value: Any, dtype: DType | None) -> Array:
    """The device array of numbers, nested lists, NumPy or JAX arrays."""
    if isinstance(value, (Array, Tracer)):
        return value if dtype is None else value.astype(dtype.np_dtype)
    if isinstance(value, (list, tuple)):
        value = _without_tensors(value)
        first: Any = value
        while isinstance(first, (list, tuple)) and first:
            first = first[0]
        try:
            array = np.array(value)
        except ValueError as error:
            raise ValueError(f"nested lists of unequal lengths make no tensor: {error}") from None
        if dtype is None and array.dtype == np.float64 and not isinstance(first, np.floating):
            dtype = dtypes.float32  # Python floats are float32 tensors, NumPy arrays keep their type
    elif isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic):
        array = np.asarray(value, None if dtype is None else dtype.np_dtype)
        dtype = dtype or dtypes.of_python(_number_type(value))
    else:
        array = np.asarray(value)
    if array.dtype == object or array.dtype.kind in "SUMmO":
        raise NoTensor(f"a tensor holds numbers; {type(value).__name__} does not give any: {value!r:.60}")
    if not array.dtype.isnative:  # from a file of another machine
        array = array.astype(array.dtype.newbyteorder("="))
    return to_device(array, None if dtype is None else dtype.np_dtype)


def _number_type(value: Any) -> type:
    for kind in (bool, int, float, complex):
        if isinstance(value, kind):
            return kind
    raise TypeError(f"{value!r} is not a number")


def _without_tensors(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_without_tensors(item) for item in value]
    return np.array(value) if hasattr(value, "__array__") else value
