"""How tensors print: `str` as NumPy prints arrays, `repr` with shape, type and 8-digit scientific floats."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from weft.dtypes import DType


class Printable(Protocol):
    """What printing needs of a tensor."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> DType: ...
    def concrete(self, use: str) -> Any:
        """The device array; refuses where there is none, naming the use."""


def _printable(tensor: Printable) -> np.ndarray[Any, Any]:
    array = np.asarray(tensor.concrete("printing"))
    if array.dtype.kind == "V" or array.dtype.name == "bfloat16":
        return array.astype(np.float32)
    return array


def text(tensor: Printable) -> str:
    """The elements, as NumPy prints them."""
    return str(_printable(tensor))


def _scientific(value: Any) -> str:
    return f"{value: .8e}"


def representation(tensor: Printable) -> str:
    """Shape, element type and elements: ``Tensor(shape=[2], dtype=Float32, value= [ 1.0e+00, 2.0e+00])``."""
    array = _printable(tensor)
    formatter: Any = {}
    if array.dtype.kind == "f":
        positive = not np.any(np.signbit(array)) and array.ndim > 1
        formatter["float_kind"] = (lambda v: f"{v:.8e}") if positive else _scientific
    body = np.array2string(array, separator=", ", formatter=formatter, threshold=1000)
    if array.ndim <= 1:
        if array.dtype.kind != "f" and array.ndim == 1 and array.size:
            body = "[ " + body[1:] if array.dtype.kind in "iu" else body
        head = " "
    else:
        head = "\n"
    if head == " ":
        body = body.lstrip()
    return f"Tensor(shape={list(tensor.shape)}, dtype={tensor.dtype}, value={head}{body})"
