"""`mindspore.numpy`: sums, means and extremes past NaN, weighted means, covariances, histograms."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as _np

from weft import dtypes, ops
from weft.core.tensor import Tensor
from weft.mindspore.numpy import all, any, asarray, mean, sum
from weft.mindspore.numpy_operands import (
    a_count,
    a_flag,
    a_tensor,
    an_array,
    an_axis,
    common,
    floating,
    single,
    some_axes,
)
from weft.ops.reduce import norm_root

__all__ = [
    "array_equal", "array_equiv", "average", "corrcoef", "count_nonzero", "cov", "cumprod", "digitize", "histogram",
    "histogram2d", "histogram_bin_edges", "histogramdd", "nancumsum", "nanmax", "nanmean", "nanmin", "nanstd",
    "nansum", "nanvar", "ptp", "sometrue",
]  # fmt: skip

#: what stands for NaN among the largest and smallest elements
_LARGE = float(1 << 63)


def _cast(tensor: Tensor, dtype: Any) -> Tensor:
    return tensor if dtype is None else tensor.astype(dtypes.of(dtype))


# -- past NaN ---------------------------------------------------------------------------------------------------


def _filled(tensor: Tensor, value: float) -> Tensor:
    """The elements with a number in the place of NaN."""
    if tensor.dtype.category < 2:
        return tensor
    return ops.where(ops.isnan(tensor), Tensor(value, tensor.dtype), tensor)


def _held(tensor: Tensor, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    """How many elements are not NaN, as floats."""
    counts = (~ops.isnan(tensor)) if tensor.dtype.category >= 2 else ops.ones_like(tensor).astype(dtypes.bool_)
    return sum(single(counts.astype(dtypes.float32)), axes, keepdims=keepdims)


def nansum(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """The sum over axes of the elements that are not NaN, in the element type of the array.

    Example:
        >>> print(nansum(Tensor([1.0, float("nan"), 3.0])))
        4.0
    """
    tensor = an_array("nansum", a)
    axes = some_axes("nansum", axis, tensor.ndim)
    return sum(_filled(tensor, 0.0), axes, keepdims=keepdims).astype(dtypes.of(dtype or tensor.dtype))


def nancumsum(a: Any, axis: Any = None, dtype: Any = None) -> Tensor:
    """Sums of the elements so far that are not NaN, along an axis or in the flattened array.

    Example:
        >>> print(nancumsum(Tensor([1.0, float("nan"), 3.0])))
        [1. 1. 4.]
    """
    tensor = _filled(a_tensor("nancumsum", a), 0.0)
    tensor = _widened(tensor.reshape((-1,)) if axis is None else tensor)
    return _cast(tensor.cumsum(0 if axis is None else an_axis("nancumsum", axis, tensor.ndim)), dtype)


def _widened(tensor: Tensor) -> Tensor:
    """Bools and integers of 8 or 16 bits as int32."""
    return tensor.astype(dtypes.int32) if tensor.dtype in (dtypes.bool_, dtypes.int8, dtypes.int16) else tensor


def nanmax(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """The largest element over axes of those that are not NaN; a large negative number where all are.

    Example:
        >>> print(nanmax(Tensor([1.0, float("nan"), 3.0])))
        3.0
    """
    tensor = an_array("nanmax", a)
    return _cast(ops.amax(_filled(tensor, -_LARGE), some_axes("nanmax", axis, tensor.ndim), keepdims), dtype)


def nanmin(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """The smallest element over axes of those that are not NaN; a large number where all are.

    Example:
        >>> print(nanmin(Tensor([1.0, float("nan"), 3.0])))
        1.0
    """
    tensor = an_array("nanmin", a)
    return _cast(ops.amin(_filled(tensor, _LARGE), some_axes("nanmin", axis, tensor.ndim), keepdims), dtype)


def nanmean(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """The mean over axes of the elements that are not NaN, in float32 or, of doubles, float64.

    Example:
        >>> print(nanmean(Tensor([1.0, float("nan"), 3.0])))
        2.0
    """
    tensor = an_array("nanmean", a)
    axes = some_axes("nanmean", axis, tensor.ndim)
    total = _cast(sum(_filled(single(tensor), 0.0), axes, keepdims=keepdims), dtype)
    return single(total) / _held(tensor, axes, keepdims)


def nanvar(a: Any, axis: Any = None, dtype: Any = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """The variance over axes of the elements that are not NaN, in float32.

    Example:
        >>> print(nanvar(Tensor([1.0, float("nan"), 3.0])))
        1.0
    """
    tensor = an_array("nanvar", a)
    axes = some_axes("nanvar", axis, tensor.ndim)
    values = single(tensor)
    middle = sum(_filled(values, 0.0), axes, keepdims=True) / _held(values, axes, True)
    distances = ops.square(_filled(values - middle, 0.0))
    count = _held(tensor, axes, keepdims) - ddof
    found = sum(distances, axes, keepdims=keepdims) / ops.where(count > 0, count, Tensor(_np.nan, count.dtype))
    return found.astype(dtypes.of(dtype or dtypes.float32))


def nanstd(a: Any, axis: Any = None, dtype: Any = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """The standard deviation over axes of the elements that are not NaN, in float32.

    Example:
        >>> print(nanstd(Tensor([1.0, float("nan"), 3.0])))
        1.0
    """
    return _cast(norm_root(nanvar(a, axis, None, ddof, keepdims)), dtype)


# -- other reductions -------------------------------------------------------------------------------------------


def ptp(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The largest element less the smallest one, over axes (all of them by default).

    Example:
        >>> print(ptp(Tensor([1.0, 5.0, 3.0])))
        4.0
    """
    tensor = a_tensor("ptp", x)
    axes = some_axes("ptp", axis, tensor.ndim)
    return ops.amax(tensor, axes, keepdims) - ops.amin(tensor, axes, keepdims)


def cumprod(a: Any, axis: Any = None, dtype: Any = None) -> Tensor:
    """Products of the elements so far along an axis, or in the flattened array.

    Example:
        >>> print(cumprod(Tensor([1.0, 2.0, 3.0])))
        [1. 2. 6.]
    """
    tensor = a_tensor("cumprod", a)
    along = 0 if axis is None else an_axis("cumprod", axis, tensor.ndim)
    tensor = _widened(tensor.reshape((-1,)) if axis is None else tensor)
    return ops.cumprod(_cast(tensor, dtype), along).astype(dtypes.of(dtype or tensor.dtype))


def count_nonzero(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """How many elements are not 0, over axes (all of them by default), as int32.

    Example:
        >>> print(count_nonzero(Tensor([0.0, 5.0, 3.0])))
        2
    """
    tensor = an_array("count_nonzero", x)
    axes = some_axes("count_nonzero", axis, tensor.ndim)
    return sum((tensor != 0).astype(dtypes.int32), axes, keepdims=keepdims).astype(dtypes.int32)


def sometrue(a: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Whether some element is true, over axes (all of them by default).

    Example:
        >>> print(sometrue(Tensor([True, False])))
        True
    """
    tensor = an_array("sometrue", a)
    return any(tensor, some_axes("sometrue", axis, tensor.ndim), a_flag("sometrue", "keepdims", keepdims))


def average(x: Any, axis: Any = None, weights: Any = None, returned: bool = False) -> Any:
    """The mean over axes, perhaps with weights; with `returned` also the sum of the weights.

    Raises:
        TypeError: the weights have another shape and no axis is given.
        ValueError: they are not as many as the axis is long.

    Example:
        >>> print(average(Tensor([1.0, 5.0]), weights=Tensor([3.0, 1.0])))
        2.0
    """
    tensor = a_tensor("average", x)
    axes = some_axes("average", axis, tensor.ndim)
    if weights is None:
        found = mean(tensor, axes).astype(tensor.dtype)
        count = _np.prod([tensor.shape[each] for each in axes], dtype=_np.int64)
        return (found, ops.full_like(found, int(count))) if returned else found
    given = asarray(weights)
    if given.shape != tensor.shape:
        if axis is None or len(axes) != 1:
            raise TypeError("average: an axis must be given where x and the weights have different shapes")
        if given.ndim != 1 or given.shape[0] != tensor.shape[axes[0]]:
            raise ValueError(f"average: weights of shape {given.shape} for an axis of size {tensor.shape[axes[0]]}")
        given = given.reshape(tuple(-1 if at == axes[0] else 1 for at in range(tensor.ndim)))
    kind = dtypes.promote(tensor.dtype, given.dtype)
    given = given.broadcast_to(tensor.shape)
    total = sum(floating(given), axes)
    found = (sum(floating(tensor) * given, axes) / total).astype(kind)
    return (found, total.astype(kind)) if returned else found


def _weights(name: str, given: Any, count: int, whole: bool) -> Tensor:
    """The weights of observations.

    Raises:
        TypeError: they are to be integers and are not.
        RuntimeError: they are not a vector, or not as many as there are observations.
    """
    found = asarray(given)
    if whole and found.dtype.category != 1:
        raise TypeError(f"{name}: weights must be integers, not {found.dtype}")
    if found.shape != (count,):
        raise RuntimeError(f"{name}: weights of shape {found.shape} for {count} observations")
    return found


def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    dtype: Any = None,
) -> Tensor:
    """The covariances of variables, in float32 if no element type is given.

    Args:
        m: the observations: a row for each variable.
        y: more variables.
        rowvar: whether variables are rows, not columns.
        bias: divide by the number of observations instead of one less.
        ddof: what is taken from that number, whatever `bias` says.
        fweights: how often each observation counts: integers.
        aweights: how much it counts.
        dtype: element type of the result.

    Raises:
        ValueError: an array has more than two dimensions.

    Example:
        >>> print(cov(Tensor([[1.0, 2.0], [3.0, 5.0]])))
        [[0.5 1. ]
         [1.  2. ]]
    """
    kind = dtypes.of(dtype or dtypes.float32)
    rows = []
    for each in (m,) if y is None else (m, y):
        array = an_array("cov", each)
        if array.ndim > 2:
            raise ValueError("cov: an array has more than two dimensions")
        flat = array.ndim < 2
        array = array.reshape((1, -1)) if flat else array
        rows.append((array if rowvar or flat else array.T).astype(kind))
    table = rows[0] if len(rows) == 1 else ops.concat(rows, 0)
    count = table.shape[1]
    weights = None
    if fweights is not None:
        weights = _weights("cov", fweights, count, True).astype(kind)
    if aweights is not None:
        given = _weights("cov", aweights, count, False).astype(kind)
        weights = given if weights is None else weights * given
    less = (0 if bias else 1) if ddof is None else ddof
    if weights is None:
        middle, divisor, scaled = mean(table, 1, keepdims=True), builtins.max(count - less, 0), None
    else:
        total = sum(weights)
        middle = sum(table * weights, 1, keepdims=True) / total
        both = 1 if aweights is None else sum(weights * given) / total
        divisor, scaled = total - less * both, weights
    distances = table - middle
    right = distances if scaled is None else distances * scaled
    found = ops.matmul(distances, right.T) / divisor
    return found.reshape(()) if found.shape == (1, 1) else found


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, dtype: Any = None) -> Tensor:
    """The correlation coefficients of variables, in float32 if no element type is given.

    Args:
        x: the observations: a row for each variable.
        y: more variables.
        rowvar: whether variables are rows, not columns.
        dtype: element type of the result.

    Example:
        >>> print(corrcoef(Tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])))
        [[ 1. -1.]
         [-1.  1.]]
    """
    found = cov(x, y, rowvar, dtype=dtype)
    if not found.ndim:
        return found / found
    widths = ops.sqrt(ops.diagonal(found))
    return ops.clamp(found / widths.reshape((-1, 1)) / widths, -1.0, 1.0)


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Tensor:
    """Whether two arrays have the same shape and the same elements.

    Example:
        >>> print(array_equal([1, 2], [1, 2]))
        True
    """
    left, right = an_array("array_equal", a1), an_array("array_equal", a2)
    a_flag("array_equal", "equal_nan", equal_nan)
    if left.shape != right.shape:
        return Tensor(False)
    same = left == right
    if equal_nan and left.dtype.category >= 2 and right.dtype.category >= 2:
        same = ops.logical_or(same, ops.logical_and(ops.isnan(left), ops.isnan(right)))
    return all(same)


def array_equiv(a1: Any, a2: Any) -> Tensor:
    """Whether two arrays, one of them broadcast to the shape of the other, have the same elements.

    Example:
        >>> print(array_equiv([1, 2], [[1, 2], [1, 2]]))
        True
    """
    left, right = an_array("array_equiv", a1), an_array("array_equiv", a2)
    try:
        shape = _np.broadcast_shapes(left.shape, right.shape)
    except ValueError:
        return Tensor(False)
    return all(left == right) if shape in (left.shape, right.shape) else Tensor(False)


# -- histograms -------------------------------------------------------------------------------------------------


def digitize(x: Any, bins: Any, right: bool = False) -> Tensor:
    """In which bin each element lies, as int32.

    Args:
        x: the elements.
        bins: where the bins end, in ascending or descending order.
        right: whether a bin holds its upper end instead of its lower one.

    Raises:
        ValueError: `bins` has not one dimension.

    Example:
        >>> print(digitize(Tensor([0.5, 3.0]), Tensor([0.0, 1.0, 2.0])))
        [1 3]
    """
    tensor, ends = an_array("digitize", x), an_array("digitize", bins)
    if ends.ndim != 1:
        raise ValueError(f"digitize: bins must have one dimension, not {ends.ndim}")
    count = ends.shape[0]
    if not count:
        return ops.zeros(tensor.shape, dtype=dtypes.int32)
    tensor, ends = common((tensor, ends))
    rising = ops.searchsorted(ends, tensor, out_int32=True, right=not right)
    falling = count - ops.searchsorted(ops.flip(ends, (0,)), tensor, out_int32=True, right=not right)
    return ops.where(ends[0] <= ends[count - 1], rising, falling).astype(dtypes.int32)


def _limits(values: Tensor, limits: Any) -> tuple[Any, Any]:
    """Where equal bins begin and end."""
    if limits is not None:
        if not isinstance(limits, (tuple, list)) or len(limits) != 2:
            raise ValueError("histogram: range must be a pair of numbers")
        low, high = limits
        if low > high:
            raise ValueError("histogram: the end of the range must not be less than its beginning")
        return (low - 0.5, high + 0.5) if low == high else (float(low), float(high))
    if not values.size:
        return 0.0, 1.0
    low, high = ops.amin(values), ops.amax(values)
    spread = (low == high).astype(dtypes.float32) * 0.5
    return low - spread, high + spread


def _equal_bins(values: Tensor, count: int, limits: Any) -> Tensor:
    """The ends of bins of one width."""
    low, high = _limits(single(values).astype(dtypes.float32), limits)
    steps = Tensor(_np.arange(count + 1, dtype=_np.float32) / _np.float32(builtins.max(count, 1)))
    last = Tensor(_np.arange(count + 1) == count) if count else Tensor([False])
    return ops.where(last, high, low + (high - low) * steps).astype(dtypes.float32)


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Tensor:
    """The ends of the bins of a histogram.

    Args:
        a: the data.
        bins: how many bins of one width there are, or where they end.
        range: where bins of one width begin and end: the smallest and the largest element by default.
        weights: of no account.

    Raises:
        NotImplementedError: `bins` is a string.
        TypeError: `bins` is a float.
        ValueError: `bins` has more dimensions than one, or `range` ends before it begins.

    Example:
        >>> print(histogram_bin_edges(Tensor([0.0, 5.0]), bins=2))
        [0.  2.5 5. ]
    """
    del weights
    if isinstance(bins, str):
        raise NotImplementedError("histogram: names of rules are not supported as bins")
    values = an_array("histogram", a)
    if isinstance(bins, (list, tuple, Tensor, _np.ndarray)):
        ends = asarray(bins)
        if ends.ndim != 1:
            raise ValueError(f"histogram: bins must have one dimension, not {ends.ndim}")
        return ends
    return _equal_bins(values, a_count("histogram", "bins", bins), range)


def _places(values: Tensor, ends: Tensor) -> Tensor:
    """The bin of each element, -1 for those in none; the last bin holds its upper end."""
    values, ends = common((values, ends))
    count = ends.shape[0] - 1
    found = ops.searchsorted(ends, values, out_int32=True, right=True) - 1
    found = ops.where(values == ends[count], count - 1, found)
    return ops.where(ops.logical_or(found >= count, ops.isnan(floating(values))), -1, found).astype(dtypes.int32)


def _tally(places: Tensor, weights: Tensor, count: int) -> Tensor:
    return ops.unsorted_segment_sum(weights, places, count)


def histogram(a: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False) -> Any:
    """How many elements lie in each bin, as float32, and the ends of the bins.

    Args:
        a: the data.
        bins: how many bins of one width there are, or where they end.
        range: where bins of one width begin and end: the smallest and the largest element by default.
        weights: how much each element counts.
        density: divide by the sum and the width of each bin.

    Raises:
        ValueError: the weights have another shape than the data.

    Example:
        >>> print(*histogram(Tensor([1.0, 2.0, 1.0]), bins=[0, 1, 2, 3]))
        [0. 2. 1.] [0 1 2 3]
    """
    values = an_array("histogram", a)
    ends = histogram_bin_edges(values, bins, range)
    heights = _heights("histogram", weights, values.shape).reshape((-1,))
    found = (
        _tally(_places(values.reshape((-1,)), ends), heights, ends.shape[0] - 1) if ends.shape[0] > 1 else heights[:0]
    )
    if density:
        found = found / (ends[1:] - ends[:-1]).astype(dtypes.float32) / sum(found)
    return found, ends


def _heights(name: str, weights: Any, shape: tuple[int, ...]) -> Tensor:
    if weights is None:
        return ops.ones(shape, dtype=dtypes.float32)
    given = asarray(weights).astype(dtypes.float32)
    if given.shape != shape:
        raise ValueError(f"{name}: weights of shape {given.shape} for data of shape {shape}")
    return given


def histogramdd(sample: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False) -> Any:
    """How many points lie in each cell of a grid, as float32, and the ends of the bins of each axis.

    Args:
        sample: (points, axes), or a list of the coordinates along each axis.
        bins: how many bins of one width each axis has, or a number or ends of bins for each.
        range: where the bins of each axis begin and end.
        weights: how much each point counts.
        density: divide by the sum and the size of each cell.

    Raises:
        ValueError: `bins` or `range` is for another number of axes.

    Example:
        >>> counts, ends = histogramdd(Tensor([[0.0, 1.0], [1.0, 2.0]]), bins=2)
        >>> print(counts)
        [[1. 0.]
         [0. 1.]]
    """
    if isinstance(sample, (list, tuple)):
        points = ops.stack(common(asarray(each).reshape((-1,)) for each in sample), -1)
    else:
        points = an_array("histogramdd", sample)
    if points.ndim != 2:
        raise ValueError(f"histogramdd: the points must have two dimensions, not {points.ndim}")
    axes = points.shape[1]
    each_bins = [bins] * axes if isinstance(bins, int) else list(bins)
    if len(each_bins) != axes:
        raise ValueError(f"histogramdd: there are bins for {len(each_bins)} axes of {axes}")
    if range is not None and len(range) != axes:
        raise ValueError(f"histogramdd: there are ranges for {len(range)} axes of {axes}")
    ends, place, inside = [], Tensor(0, dtypes.int32), Tensor(True)
    for axis, own in enumerate(each_bins):
        values = points[:, axis]
        ends.append(histogram_bin_edges(values, own, None if range is None else range[axis]))
        found = _places(values, ends[-1])
        inside = ops.logical_and(inside, found >= 0)
        place = place * (ends[-1].shape[0] - 1) + found
    shape = tuple(each.shape[0] - 1 for each in ends)
    heights = _heights("histogramdd", weights, (points.shape[0],))
    count = int(_np.prod(shape))
    counts = _tally(ops.where(inside, place, -1).astype(dtypes.int32), heights, count).reshape(shape)
    if density:
        total = sum(counts)
        for axis, each in enumerate(ends):
            width = (each[1:] - each[:-1]).astype(dtypes.float32)
            counts = counts / width.reshape(tuple(-1 if at == axis else 1 for at in builtins.range(axes)))
        counts = counts / total
    return counts, ends


def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """How many points lie in each cell of a grid, as float32, and the ends of the bins along both axes.

    Args:
        x: first coordinates.
        y: second coordinates.
        bins: how many bins of one width both axes have, or a number or ends of bins for each.
        range: where the bins of both axes begin and end.
        weights: how much each point counts.
        density: divide by the sum and the size of each cell.

    Raises:
        ValueError: the coordinates are not equally many.

    Example:
        >>> print(histogram2d(Tensor([0.0, 1.0]), Tensor([1.0, 2.0]), bins=2)[0])
        [[1. 0.]
         [0. 1.]]
    """
    first, second = an_array("histogram2d", x), an_array("histogram2d", y)
    if first.shape != second.shape:
        raise ValueError(f"histogram2d: there are {first.shape} first and {second.shape} second coordinates")
    counts, ends = histogramdd([first, second], bins, range, weights, density)
    return counts, ends[0], ends[1]
