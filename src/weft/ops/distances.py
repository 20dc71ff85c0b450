"""Distances and similarities of vectors, and how vectors are combined."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from weft import dtypes
from weft.core import Tensor, as_operator, op, shows
from weft.ops._checks import float_tensors, floats, ints, optional_tensors, reals, tensors
from weft.ops._kinks import vector_norm
from weft.ops._rules import one_axis, operands
from weft.ops.math import maximum
from weft.ops.matmul import matmul
from weft.ops.reduce import reduce_sum

__all__ = ["bidense", "combinations", "cosine_similarity", "dist", "pdist"]


@op("DistanceOfOrder", classes=())
def _distance(a: Any, b: Any, *, p: float) -> Any:
    """The norm of a difference."""
    a, b = operands("dist", a, b)
    gap = a - b
    return vector_norm(gap, p, tuple(range(gap.ndim)))


@shows("dist(Tensor([1.0, 1.0]), Tensor([4.0, 5.0]))", "5.0")
def dist(input: Any, other: Any, p: int = 2) -> Any:
    """The norm of the difference of two tensors.

    Args:
        input: tensor of floats.
        other: tensor that broadcasts with it.
        p: order of the norm, an int that is not negative.

    Returns:
        Tensor: a number.

    Raises:
        TypeError: an argument is no tensor of floats, or `p` no int.
        ValueError: `p` is negative.
    """
    float_tensors("dist", input=input, other=other)
    ints("dist", p=p)
    if p < 0:
        raise ValueError(f"dist: p must not be negative, not {p}")
    return _distance(input, other, float(p))


@op("PairwiseDistances", classes=())
def _pdist(x: Any, *, p: float) -> Any:
    """Distances of all pairs of rows."""
    first, second = np.triu_indices(x.shape[-2], 1)
    return vector_norm(x[..., first, :] - x[..., second, :], p, (-1,))


@shows("pdist(Tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]))", "[5.        1.        4.2426405]")
def pdist(input: Any, p: float = 2.0) -> Any:
    """The distances of all pairs of rows.

    Args:
        input: (n, m), of floats.
        p: order of the norm, a float that is not negative.

    Returns:
        Tensor: (n * (n - 1) / 2,).

    Raises:
        TypeError: `input` is no tensor of floats, or `p` no float.
        ValueError: `p` is negative, or `input` is no matrix.
    """
    float_tensors("pdist", input=input)
    floats("pdist", p=p)
    if not p >= 0:
        raise ValueError(f"pdist: p must not be negative, not {p}")
    if input.ndim != 2:
        raise ValueError(f"pdist: the input must be a matrix, not of shape {input.shape}")
    return _pdist(input, p)


@as_operator
def Pdist(x: Tensor, *, p: float = 2.0) -> Tensor:
    """The distances of each pair of rows.

    Args:
        p: order of the norm.
    """
    reals("Pdist", p=p)
    if p < 0 or x.ndim < 2:
        raise ValueError(f"Pdist: a norm of order {p} of rows of a shape {x.shape} does not exist")
    return _pdist(x, float(p))


@shows("cosine_similarity(Tensor([[3.0, 4.0]]), Tensor([[4.0, 3.0]]))", "[0.96]")
def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-08) -> Any:
    """The cosine of the angle of vectors along an axis.

    Args:
        x1: tensor of floats.
        x2: tensor of floats.
        dim: the axis.
        eps: least product of their lengths that is divided by.

    Returns:
        Tensor: without the axis.

    Raises:
        TypeError: an argument is no tensor of floats.
        ValueError: there is no such axis.
    """
    float_tensors("cosine_similarity", x1=x1, x2=x2)
    rank = max(x1.ndim, x2.ndim)
    axis = one_axis("cosine_similarity", dim, rank)
    lengths = _length(x1, axis - rank) * _length(x2, axis - rank)
    return reduce_sum(x1 * x2, axis) / maximum(lengths, eps)


@op("LengthOfVectors", classes=())
def _length(x: Any, *, axis: int) -> Any:
    """The lengths of vectors along an axis."""
    return vector_norm(x, 2, (axis,))


@shows("combinations(Tensor([1, 2, 3]))", "[[1 2]\n [1 3]\n [2 3]]")
def combinations(input: Any, r: int = 2, with_replacement: bool = False) -> Any:
    """All ways to choose elements, as rows; see `itertools.combinations`.

    Args:
        input: 1-D tensor.
        r: how many are chosen.
        with_replacement: an element may be chosen again.

    Returns:
        Tensor: (ways, r).

    Raises:
        TypeError: `input` is no tensor.
        ValueError: it does not have one dimension, or nothing is chosen.
    """
    tensors("combinations", input=input)
    if input.ndim != 1:
        raise ValueError(f"combinations: the input must have one dimension, not shape {input.shape}")
    if r < 1:
        raise ValueError(f"combinations: at least one element must be chosen, not {r}")
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = np.array([*choose(range(input.shape[0]), r)], np.int64).reshape((-1, r))
    return input[Tensor(rows)]


@shows("bidense(Tensor([[1.0, 2.0]]), Tensor([[3.0]]), Tensor([[[1.0], [1.0]]]))", "[[9.]]")
def bidense(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    """A bilinear layer: ``input1 @ weight[i] @ input2 + bias[i]`` of each pair of vectors.

    Args:
        input1: (..., n).
        input2: (..., m), with the same dimensions besides the last.
        weight: (outputs, n, m).
        bias: (outputs,), or a number; None for none.

    Returns:
        Tensor: (..., outputs).

    Raises:
        TypeError: an argument is no tensor.
        ValueError: the dimensions before the last differ.
    """
    tensors("bidense", input1=input1, input2=input2, weight=weight)
    optional_tensors("bidense", bias=bias)
    if input1.shape[:-1] != input2.shape[:-1]:
        raise ValueError(f"bidense: inputs of shapes {input1.shape} and {input2.shape} are no pairs of vectors")
    by_output = matmul(input1.expand_dims(-2).expand_dims(-2), weight)  # (..., outputs, 1, m)
    found = matmul(by_output, input2.expand_dims(-2).expand_dims(-1)).reshape((*input1.shape[:-1], weight.shape[0]))
    found = found if bias is None else found + bias
    return found.astype(dtypes.int64) if found.dtype.np_dtype.kind in "iu" else found  # it is a sum
