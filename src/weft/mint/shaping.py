"""Shapes, selection and writing by positions in `mindspore.mint`, where more differs than the names of parameters."""

from __future__ import annotations

from typing import Any

from weft import ops
from weft.core.tensor import Tensor  # noqa: F401  (examples)
from weft.mint.arithmetic import a_tensor

__all__ = [
    "diag",
    "flatten", "gather", "index_add", "meshgrid", "repeat_interleave", "scatter", "scatter_add", "select", "softmax",
    "squeeze", "t", "take", "where",
]  # fmt: skip


def diag(input: Any, diagonal: int = 0) -> Any:
    """The diagonal of a matrix, or the matrix with this diagonal.

    Args:
        input: vector or matrix.
        diagonal: which diagonal; above the main one where positive.

    Example:
        >>> print(diag(Tensor([1, 2])))
        [[1 0]
         [0 2]]
    """
    input = a_tensor("diag", input)
    if input.ndim == 1:
        return ops.diag_embed(input, offset=diagonal)
    return ops.diagonal(input, offset=diagonal).copy()


def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """Merge dimensions into one.

    Example:
        >>> print(flatten(Tensor([[1, 2], [3, 4]])))
        [1 2 3 4]
    """
    return ops.flatten(input, start_dim=start_dim, end_dim=end_dim)


def squeeze(input: Any, dim: Any) -> Any:
    """The tensor without those of the dimensions named that have size 1.

    Example:
        >>> squeeze(Tensor([[1, 2]]), (0, 1)).shape
        (2,)
    """
    return ops.squeeze(a_tensor("squeeze", input), dim)


def t(input: Any) -> Any:
    """A matrix transposed; vectors and numbers as they are.

    Example:
        >>> print(t(Tensor([[1, 2]])))
        [[1]
         [2]]
    """
    return ops.t(input)


def select(input: Any, dim: int, index: Any) -> Any:
    """One slice of a dimension, a view.

    Args:
        input: tensor.
        dim: the dimension, which the result lacks.
        index: the position in it.

    Example:
        >>> print(select(Tensor([[1, 2], [3, 4]]), 1, 0))
        [1 3]
    """
    return a_tensor("select", input).select(dim, index)


def gather(input: Any, dim: int, index: Any) -> Any:
    """Elements along a dimension, by positions.

    Example:
        >>> print(gather(Tensor([[1, 2], [3, 4]]), 1, Tensor([[0], [1]])))
        [[1]
         [4]]
    """
    return ops.gather_elements(input, dim, index)


def take(input: Any, index: Any) -> Any:
    """Elements of the flattened tensor, by positions.

    Example:
        >>> print(take(Tensor([[1, 2], [3, 4]]), Tensor([0, 3])))
        [1 4]
    """
    return a_tensor("take", input).reshape((-1,))[index]


def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """Elements of one tensor where a condition holds, of another elsewhere; or where it holds, a tensor a dimension.

    Example:
        >>> print(where(Tensor([True, False]), Tensor([1, 2]), 0))
        [1 0]
    """
    if input is None and other is None:
        return ops.nonzero(condition, as_tuple=True)
    if input is None or other is None:
        raise TypeError("where() takes a condition, or a condition and two values")
    return ops.where(condition, input, other)


def softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Exponentials along a dimension, divided by their sum.

    Example:
        >>> print(softmax(Tensor([1.0, 1.0]), 0))
        [0.5 0.5]
    """
    if input.ndim == 0:
        return ops.softmax(input.reshape((1,)), dim, dtype=dtype).reshape(())
    return ops.softmax(input, dim, dtype=dtype)


def repeat_interleave(input: Any, repeats: Any, dim: int | None = None, *, output_size: int | None = None) -> Any:
    """Each element, or slice of a dimension, several times.

    Args:
        input: tensor.
        repeats: how often, for all or for each.
        dim: the dimension; None flattens.
        output_size: the size that the result has along it.

    Raises:
        ValueError: it has another.

    Example:
        >>> print(repeat_interleave(Tensor([1, 2]), 2))
        [1 1 2 2]
    """
    found = ops.repeat_interleave(input, repeats, dim)
    if output_size is not None and found.shape[0 if dim is None else dim] != output_size:
        raise ValueError(f"repeat_interleave: the result has shape {found.shape}, output_size is {output_size}")
    return found


def meshgrid(*tensors: Any, indexing: str | None = None) -> Any:
    """The coordinates of a grid, a tensor for each dimension; ``"ij"`` by default.

    Example:
        >>> print(meshgrid(Tensor([1, 2]), Tensor([3, 4, 5]))[0].shape)
        (2, 3)
    """
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    return ops.meshgrid(*tensors, indexing="ij" if indexing is None else indexing)


def scatter(input: Any, dim: int, index: Any, src: Any) -> Any:
    """A copy with elements replaced along a dimension, by positions.

    Example:
        >>> print(scatter(Tensor([1, 2, 3]), 0, Tensor([2]), Tensor([9])))
        [1 2 9]
    """
    return ops.scatter(input, dim, index, src)


def scatter_add(input: Any, dim: int, index: Any, src: Any) -> Any:
    """A copy with elements added along a dimension, by positions.

    Example:
        >>> print(scatter_add(Tensor([1, 2, 3]), 0, Tensor([2, 2]), Tensor([9, 9])))
        [ 1  2 21]
    """
    return ops.tensor_scatter_elements(input, index, src, dim, "add")


def index_add(input: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    """A copy with slices added along a dimension, by positions.

    Args:
        input: tensor.
        dim: the dimension.
        index: 1-dimensional positions.
        source: the slices.
        alpha: factor of the slices.

    Example:
        >>> print(index_add(Tensor([1, 2, 3]), 0, Tensor([2]), Tensor([9]), alpha=2))
        [ 1  2 21]
    """
    return ops.index_add(input, index, source if alpha == 1 else ops.mul(source, alpha), dim)
