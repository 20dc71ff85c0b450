"""`mindspore.scipy.fft`: orthonormal cosine transforms of type 2, and their inverses, as products with a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft import dtypes, ops
from weft.core.tensor import Tensor
from weft.mindspore.numpy_operands import an_axis, some_axes

__all__ = ["dct", "dctn", "idct", "idctn"]


def _matrix(count: int, kind: Any) -> Tensor:
    """The matrix of the transform of vectors with a number of elements."""
    places = np.arange(count)
    found = np.cos(np.pi * places[:, None] * (2 * places + 1) / (2 * count)) * np.sqrt(2 / count)
    found[0] = np.sqrt(1 / count)
    return Tensor(found.astype(kind.np_dtype))


def _transform(name: str, x: Any, kind: Any, norm: Any, axes: list[int], sizes: list[int], inverse: bool) -> Tensor:
    if kind != 2:
        raise ValueError(f"{name}: type must be 2, not {kind!r}")
    if norm not in (None, "ortho"):
        raise ValueError(f"{name}: norm must be 'ortho', not {norm!r}")
    wide = x.dtype.category > 2 or x.dtype is dtypes.float64
    found = x if wide else x.astype(dtypes.float32)
    for axis, size in zip(axes, sizes, strict=True):
        if isinstance(size, bool) or not isinstance(size, int):
            raise TypeError(f"{name}: a length must be an int, not {type(size).__name__}")
        if size < 1:
            raise ValueError(f"{name}: a length must be positive, not {size}")
        moved = ops.movedim(found, axis, -1)[..., :size]
        moved = ops.pad(moved, [0, size - moved.shape[-1]]) if moved.shape[-1] < size else moved
        matrix = _matrix(size, found.dtype)
        found = ops.movedim(ops.matmul(moved, matrix if inverse else matrix.T), -1, axis)
    return found


def _tensor(name: str, x: Any) -> Tensor:
    if not isinstance(x, Tensor) or x.dtype is dtypes.bool_:
        raise TypeError(f"{name}: a tensor of numbers is expected, not {getattr(x, 'dtype', type(x).__name__)}")
    if x.ndim == 0 or 0 in x.shape:
        raise ValueError(f"{name}: there is nothing to transform in a tensor of shape {x.shape}")
    return x


def _along_one(name: str, x: Any, kind: Any, n: Any, axis: Any, norm: Any, inverse: bool) -> Tensor:
    tensor = _tensor(name, x)
    along = an_axis(name, axis, tensor.ndim)
    return _transform(name, tensor, kind, norm, [along], [tensor.shape[along] if n is None else n], inverse)


def _along_several(name: str, x: Any, kind: Any, s: Any, axes: Any, norm: Any, inverse: bool) -> Tensor:
    tensor = _tensor(name, x)
    if axes is None and s is not None:
        axes = tuple(range(tensor.ndim - len(s), tensor.ndim))
    found = some_axes(name, axes, tensor.ndim)
    if s is not None and len(s) != len(found):
        raise ValueError(f"{name}: {len(s)} lengths for {len(found)} axes")
    sizes = [tensor.shape[each] for each in found] if s is None else list(s)
    return _transform(name, tensor, kind, norm, list(found), sizes, inverse)


def dct(x: Tensor, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The cosine transform along an axis.

    Args:
        x: the tensor.
        type: 2.
        n: the length to which the tensor is cut, or filled with zeros.
        axis: the axis.
        norm: ``"ortho"``, which None stands for too.

    Raises:
        TypeError: `x` is no tensor of numbers.
        ValueError: there is no such axis, length, type or norm.

    Example:
        >>> print(dct(Tensor([1.0, 1.0, 1.0, 1.0]))[0])
        2.0
    """
    return _along_one("dct", x, type, n, axis, norm, False)


def idct(x: Tensor, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of the cosine transform along an axis.

    Args:
        x: the tensor.
        type: 2.
        n: the length to which the tensor is cut, or filled with zeros.
        axis: the axis.
        norm: ``"ortho"``, which None stands for too.

    Raises:
        TypeError: `x` is no tensor of numbers.
        ValueError: there is no such axis, length, type or norm.

    Example:
        >>> print(idct(Tensor([2.0, 0.0, 0.0, 0.0])))
        [1. 1. 1. 1.]
    """
    return _along_one("idct", x, type, n, axis, norm, True)


def dctn(x: Tensor, type: int = 2, s: Any = None, axes: Any = None, norm: str | None = None) -> Tensor:
    """The cosine transform along several axes.

    Args:
        x: the tensor.
        type: 2.
        s: the lengths to which the tensor is cut, or filled with zeros.
        axes: the axes, all by default.
        norm: ``"ortho"``, which None stands for too.

    Raises:
        TypeError: `x` is no tensor of numbers.
        ValueError: there is no such axis, length, type or norm.

    Example:
        >>> print(dctn(Tensor([[1.0, 1.0], [1.0, 1.0]]))[0, 0].round())
        2.0
    """
    return _along_several("dctn", x, type, s, axes, norm, False)


def idctn(x: Tensor, type: int = 2, s: Any = None, axes: Any = None, norm: str | None = None) -> Tensor:
    """The inverse of the cosine transform along several axes.

    Args:
        x: the tensor.
        type: 2.
        s: the lengths to which the tensor is cut, or filled with zeros.
        axes: the axes, all by default.
        norm: ``"ortho"``, which None stands for too.

    Raises:
        TypeError: `x` is no tensor of numbers.
        ValueError: there is no such axis, length, type or norm.

    Example:
        >>> print(idctn(Tensor([[2.0, 0.0], [0.0, 0.0]]))[0, 0].round())
        1.0
    """
    return _along_several("idctn", x, type, s, axes, norm, True)
