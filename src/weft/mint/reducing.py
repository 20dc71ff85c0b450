"""Reductions, sorting and searching in `mindspore.mint`: pairs with int64 positions, sums of integers in int64."""

from __future__ import annotations

from typing import Any

from weft import dtypes, ops
from weft.core import Tensor
from weft.mint.arithmetic import a_tensor, summed_type

__all__ = [
    "argmin", "argsort", "bincount", "count_nonzero", "cummax", "cummin", "cumprod", "cumsum", "kthvalue", "max",
    "median", "min", "norm",
    "prod", "searchsorted", "sort", "std", "std_mean", "sum", "topk", "unique", "var", "var_mean",
]  # fmt: skip


def _positions(found: tuple[Any, Any]) -> tuple[Any, Any]:
    """Values, and where they are as int64."""
    return found[0], found[1].astype(dtypes.int64)


def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Sum over dimensions; integers and bools are summed in int64.

    Example:
        >>> print(sum(Tensor([[1, 2], [3, 4]]), dim=1))
        [3 7]
    """
    return ops.sum(input, dim, keepdim, dtype=summed_type(input, dtype))


def prod(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Product over dimensions; integers and bools are multiplied in int64.

    Example:
        >>> print(prod(Tensor([[1, 2], [3, 4]]), dim=1))
        [ 2 12]
    """
    return ops.prod(input, dim, keepdim, summed_type(input, dtype))


def cumsum(input: Any, dim: int, dtype: Any = None) -> Any:
    """Running sums along a dimension; integers and bools are summed in int64.

    Example:
        >>> print(cumsum(Tensor([1, 2, 3]), 0))
        [1 3 6]
    """
    return ops.cumsum(input, dim, summed_type(input, dtype))


def cumprod(input: Any, dim: int, dtype: Any = None) -> Any:
    """Running products along a dimension; integers and bools are multiplied in int64.

    Example:
        >>> print(cumprod(Tensor([1, 2, 3]), 0))
        [1 2 6]
    """
    return ops.cumprod(input, dim, summed_type(input, dtype))


def cummax(input: Any, dim: int) -> Any:
    """Largest elements so far along a dimension, and their positions.

    Example:
        >>> print(*cummax(Tensor([1, 3, 2]), 0))
        [1 3 3] [0 1 1]
    """
    return _positions(ops.cummax(input, dim))


def cummin(input: Any, dim: int) -> Any:
    """Smallest elements so far along a dimension, and their positions.

    Example:
        >>> print(*cummin(Tensor([3, 1, 2]), 0))
        [3 1 1] [0 1 1]
    """
    return _positions(ops.cummin(input, dim))


def _extreme(name: str, input: Any, dim: Any, keepdim: bool, other: Any) -> Any:
    a_tensor(name, input)
    if other is not None:
        if dim is not None:
            raise TypeError(f"{name}() takes a dimension or another tensor, not both")
        dim = a_tensor(name, other)
    if isinstance(dim, Tensor):
        if keepdim:
            raise TypeError(f"{name}() of two tensors takes no keepdim")
        return (ops.maximum if name == "max" else ops.minimum)(input, dim)
    if dim is None:
        if keepdim:
            raise TypeError(f"{name}() of all elements takes no keepdim")
        return (ops.amax if name == "max" else ops.amin)(input)
    return _positions((ops.max if name == "max" else ops.min)(input, dim, keepdim))


def max(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """The largest element; with a dimension, the largest along it and their positions; with a tensor, elementwise.

    Args:
        input: tensor.
        dim: a dimension, or a tensor to compare with.
        keepdim: leave the dimension with size 1.
        other: the tensor to compare with.

    Example:
        >>> x = Tensor([[1.0, 5.0, 3.0]])
        >>> print(max(x), *max(x, 1))
        5.0 [5.] [1]
    """
    return _extreme("max", input, dim, keepdim, other)


def min(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """The smallest element; see `max`.

    Example:
        >>> x = Tensor([[4.0, 5.0, 3.0]])
        >>> print(min(x), *min(x, 1))
        3.0 [3.] [2]
    """
    return _extreme("min", input, dim, keepdim, other)


def median(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The median of all elements, the lower of two; with a dimension, those along it and their positions.

    Example:
        >>> x = Tensor([[4.0, 5.0, 3.0]])
        >>> print(median(x), *median(x, 1))
        4.0 [4.] [0]
    """
    if dim is None:
        return ops.median(a_tensor("median", input).reshape((-1,)), 0)[0]
    return _positions(ops.median(input, dim, keepdim))


def kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """The `k`-th smallest element along a dimension (counting from 1) and its position.

    Example:
        >>> print(*kthvalue(Tensor([3, 1, 2]), 2))
        2 2
    """
    return _positions(ops.kthvalue(input, k, dim, keepdim))


def sort(input: Any, *, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """The elements in order along a dimension, and where they were; always stable.

    Example:
        >>> print(*sort(Tensor([3, 1, 2])))
        [1 2 3] [1 2 0]
    """
    del stable
    return _positions(ops.sort(input, dim, descending))


def argsort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """Where the elements in order along a dimension are; always stable.

    Example:
        >>> print(argsort(Tensor([3, 1, 2])))
        [1 2 0]
    """
    return sort(input, dim=dim, descending=descending, stable=stable)[1]


def topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The `k` largest or smallest elements along a dimension, and where they are.

    Example:
        >>> print(*topk(Tensor([3, 1, 2]), 2))
        [3 2] [0 2]
    """
    return _positions(ops.topk(input, k, dim, largest, sorted))


def count_nonzero(input: Any, dim: Any = None) -> Any:
    """How many elements are not zero, over dimensions.

    Example:
        >>> print(count_nonzero(Tensor([3, 0, 2])))
        2
    """
    return ops.count_nonzero(input, () if dim is None else dim, dtype=dtypes.int64)


def std(input: Any, dim: Any = None, *, correction: int = 1, keepdim: bool = False) -> Any:
    """Standard deviation over dimensions, by the number of elements less `correction`.

    Example:
        >>> print(std(Tensor([1.0, 3.0]), correction=0))
        1.0
    """
    return ops.std(input, dim, correction, keepdim)


def var(input: Any, dim: Any = None, *, correction: int = 1, keepdim: bool = False) -> Any:
    """Variance over dimensions, by the number of elements less `correction`.

    Example:
        >>> print(var(Tensor([1.0, 3.0])))
        2.0
    """
    return ops.var(input, dim, correction, keepdim)


def std_mean(input: Any, dim: Any = None, *, correction: int = 1, keepdim: bool = False) -> Any:
    """Standard deviation and mean over dimensions.

    Example:
        >>> print(*std_mean(Tensor([1.0, 3.0]), correction=0))
        1.0 2.0
    """
    return ops.std_mean(input, dim, correction, keepdim)


def var_mean(input: Any, dim: Any = None, *, correction: int = 1, keepdim: bool = False) -> Any:
    """Variance and mean over dimensions.

    Example:
        >>> print(*var_mean(Tensor([1.0, 3.0])))
        2.0 2.0
    """
    return ops.var_mean(input, dim, correction, keepdim)


def norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Vector norm over dimensions: those of all elements, or of the ones named.

    Args:
        input: tensor.
        p: the order, a number; ``"fro"`` is 2.
        dim: a dimension or a tuple of them; None for all.
        keepdim: leave them with size 1.
        dtype: element type to compute in.

    Example:
        >>> print(norm(Tensor([[3.0, 4.0]])))
        5.0
    """
    return vector_norm(input, 2 if p == "fro" else p, dim, keepdim, dtype=dtype)


def vector_norm(x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Vector norm over dimensions, of all elements by default.

    Args:
        x: tensor.
        ord: a number, ``inf`` and ``-inf`` among them.
        dim: a dimension or a tuple of them; None for all.
        keepdim: leave them with size 1.
        dtype: element type to compute in.

    Example:
        >>> print(vector_norm(Tensor([[3.0, -4.0]]), 1))
        7.0
    """
    if isinstance(ord, bool) or not isinstance(ord, (int, float)):
        kind = ValueError if isinstance(ord, str) else TypeError
        raise kind(f"vector_norm: the order must be a number, not {ord!r}")
    given = a_tensor("vector_norm", x)
    rank = given.ndim
    axes = tuple(range(rank)) if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    axes = tuple([axis % rank for axis in axes]) if rank else ()
    # the dimensions as one, the last
    others = [axis for axis in range(rank) if axis not in axes]
    flat = ops.permute(given, (*others, *axes)) if rank else given
    sizes = tuple([given.shape[axis] for axis in others])
    found = ops.norm(flat.reshape((*sizes, -1)), ord, -1, dtype=dtype)
    if not keepdim:
        return found
    return found.reshape(tuple([1 if axis in axes else given.shape[axis] for axis in range(rank)]))


def unique(
    input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The different elements in order; with `dim`, the different slices.

    Args:
        input: tensor.
        sorted: accepted; they are always in order.
        return_inverse: also for each element the position of its value in the result.
        return_counts: also how often each value occurs.
        dim: compare slices along this dimension; None flattens.

    Example:
        >>> print(unique(Tensor([3, 1, 3])))
        [1 3]
    """
    del sorted
    if dim is not None:
        raise NotImplementedError("unique: slices along a dimension are not available; dim must be None")
    values, inverse = ops.unique(a_tensor("unique", input))
    order = ops.argsort(values)
    values = values[order]
    inverse = ops.argsort(order)[inverse]
    found = [values]
    if return_inverse:
        found.append(inverse.astype(dtypes.int64))
    if return_counts:
        found.append(ops.bincount(inverse.reshape((-1,))).astype(dtypes.int64))
    return found[0] if len(found) == 1 else tuple(found)


def searchsorted(
    sorted_sequence: Any,
    values: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Any = None,
) -> Any:
    """Where values would go in sequences that are in order.

    Args:
        sorted_sequence: tensor, in order along its last dimension.
        values: tensor.
        out_int32: give int32 positions instead of int64.
        right: behind equal elements instead of before them.
        side: the same as ``"right"`` or ``"left"``.
        sorter: positions that put the sequence in order.

    Raises:
        ValueError: `side` says something else than `right`.

    Example:
        >>> print(searchsorted(Tensor([1, 3, 5]), Tensor([3, 4]), side="right"))
        [2 2]
    """
    if side not in (None, "left", "right"):
        raise ValueError(f"searchsorted: side must be 'left' or 'right', not {side!r}")
    if side == "left" and right:
        raise ValueError("searchsorted: side='left' and right=True say different things")
    if sorter is not None:
        sorted_sequence = ops.gather_elements(sorted_sequence, -1, sorter)
    return ops.searchsorted(sorted_sequence, values, out_int32=out_int32, right=right or side == "right")


def argmin(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The position of the smallest element, as int64.

    Example:
        >>> print(argmin(Tensor([3, 1, 2])))
        1
    """
    return ops.argmin(input, dim, keepdim).astype(dtypes.int64)


def bincount(input: Any, weights: Any = None, minlength: int = 0) -> Any:
    """How often each number occurs, as int64, or the sums of their weights.

    Example:
        >>> print(bincount(Tensor([0, 2, 2])))
        [1 0 2]
    """
    found = ops.bincount(input, weights, minlength)
    return found if weights is not None else found.astype(dtypes.int64)
