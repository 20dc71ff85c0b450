"""Tensors on memory that others have made: Python's buffers, DLPack."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from weft import dtypes
from weft.core.tensor import Tensor, data_of
from weft.core.transparency import python_only

__all__ = ["frombuffer", "from_dlpack", "to_dlpack"]

#: what DLPack calls the memory of the host
_HOST = (1, 0)


@python_only
def frombuffer(buffer: Any, dtype: Any, count: int = -1, offset: int = 0) -> Tensor:
    """A tensor with one dimension on the memory of a buffer; what is written to one is seen by the other.

    A buffer that cannot be written is copied, as any is where tensors live on an accelerator.

    Args:
        buffer: bytes, a bytearray, an array...
        dtype: the element type.
        count: how many elements; all by default.
        offset: how many bytes are before them.

    Raises:
        RuntimeError: it is no buffer, or it does not hold so many elements.

    Example:
        >>> print(frombuffer(bytearray([1, 2, 3]), dtypes.uint8))
        [1 2 3]
    """
    kind = dtypes.of(dtype)
    try:
        size = memoryview(buffer).nbytes
    except TypeError:
        raise RuntimeError(f"frombuffer: {type(buffer).__name__} is no buffer") from None
    if not size or not count or count < -1:
        raise RuntimeError(f"frombuffer: there are {size} bytes, and count is {count}")
    if not 0 <= offset < size:
        raise RuntimeError(f"frombuffer: offset {offset} is not in [0, {size})")
    left = size - offset
    if count < 0 and left % kind.itemsize:
        raise RuntimeError(f"frombuffer: {left} bytes are no whole number of elements with {kind.itemsize} bytes")
    if count * kind.itemsize > left:
        raise RuntimeError(f"frombuffer: {left} bytes hold no {count} elements with {kind.itemsize} bytes")
    return Tensor.from_numpy(np.frombuffer(buffer, kind.np_dtype, count, offset))


class _Capsule:
    """What has DLPack's methods, of a capsule of memory of the host."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return _HOST


@python_only
def from_dlpack(dlpack: Any) -> Tensor:
    """A tensor of what another library offers by DLPack.

    On the host they share the memory: what is written to one is seen by the other.

    Args:
        dlpack: a capsule that `to_dlpack` or another library has made (of memory of the host), or an object that makes
            them.

    Raises:
        RuntimeError: it is none, or it was used before.

    Example:
        >>> print(from_dlpack(to_dlpack(Tensor([1.0, 2.0]))))
        [1. 2.]
    """
    source = dlpack if hasattr(dlpack, "__dlpack__") else _Capsule(dlpack)
    if isinstance(source, _Capsule) and type(dlpack).__name__ != "PyCapsule":
        raise RuntimeError(f"from_dlpack: a capsule is expected, not {type(dlpack).__name__}")
    try:
        if source.__dlpack_device__() == _HOST and _known_to_numpy(source):
            return Tensor.from_numpy(np.from_dlpack(source))
        return Tensor(jax.dlpack.from_dlpack(source, copy=True))
    except (BufferError, ValueError, TypeError) as error:
        raise RuntimeError(f"from_dlpack: the capsule is not valid, or was used before ({error})") from None


def _known_to_numpy(source: Any) -> bool:
    """Whether NumPy has the element type: capsules are taken for such."""
    return getattr(getattr(source, "dtype", None), "name", "") != "bfloat16"


@python_only
def to_dlpack(tensor: Tensor) -> Any:
    """A capsule by which other libraries share the memory of a tensor on the host.

    Of bfloat16, and on an accelerator, the memory is that of the elements at the moment.

    Args:
        tensor: the tensor.

    Raises:
        TypeError: it is none.

    Example:
        >>> type(to_dlpack(Tensor([1.0]))).__name__
        'PyCapsule'
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"to_dlpack: a Tensor is expected, not {type(tensor).__name__}")
    if tensor.dtype is dtypes.bfloat16:
        return data_of(tensor).__dlpack__()
    return tensor.asnumpy().__dlpack__()
