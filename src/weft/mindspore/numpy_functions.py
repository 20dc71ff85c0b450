"""`mindspore.numpy`: products, convolutions, polynomials, differences and integrals, windows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as _np

from weft import dtypes, ops
from weft.core.tensor import Tensor
from weft.mindspore.numpy import asarray, dot, sum
from weft.mindspore.numpy_operands import a_count, a_tensor, an_array, an_axis, common, floating, single, some_axes

__all__ = [
    "bartlett", "blackman", "convolve", "copysign", "correlate", "cross", "divmod", "ediff1d", "geomspace", "gradient",
    "hamming", "hanning", "interp", "multi_dot", "polyadd", "polyder", "polyint", "polymul", "polysub", "polyval",
    "signbit", "trapz", "unwrap", "vander",
]  # fmt: skip

# -- elementwise ------------------------------------------------------------------------------------------------


def copysign(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """The elements of `x1` with the signs of those of `x2`, in the element type of `x1`.

    Example:
        >>> print(copysign(Tensor([1.0, -2.0]), Tensor([-1.0, 1.0])))
        [-1.  2.]
    """
    value, sign = an_array("copysign", x1), an_array("copysign", x2)
    if dtypes.bool_ in (value.dtype, sign.dtype):
        raise TypeError("copysign: bools have no sign")
    return ops.copysign(value, sign).astype(dtypes.of(dtype or value.dtype))


def signbit(x: Any, dtype: Any = None) -> Tensor:
    """Whether each element is less than 0.

    Raises:
        TypeError: `dtype` is another one than bool.

    Example:
        >>> print(signbit(Tensor([1.0, -2.0])))
        [False  True]
    """
    tensor = an_array("signbit", x)
    if dtype is not None and dtypes.of(dtype) is not dtypes.bool_:
        raise TypeError("signbit: the result has bools")
    return tensor < 0


def divmod(x1: Any, x2: Any, dtype: Any = None) -> tuple[Tensor, Tensor]:
    """Quotients rounded down, and what remains.

    Example:
        >>> print(*divmod(Tensor([7, -7]), 3))
        [ 2 -3] [1 2]
    """
    left, right = common((an_array("divmod", x1), an_array("divmod", x2)))
    quotient = ops.floor_div(left, right)
    remainder = left - quotient * right
    if dtype is None:
        return quotient, remainder
    return quotient.astype(dtypes.of(dtype)), remainder.astype(dtypes.of(dtype))


# -- products ---------------------------------------------------------------------------------------------------


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Tensor:
    """Cross products of vectors with two or three elements.

    Args:
        a: the first vectors.
        b: the second ones.
        axisa: the axis of `a` that the vectors lie along.
        axisb: the axis of `b`.
        axisc: the axis of the result; there is none if all vectors have two elements.
        axis: all of them.

    Raises:
        ValueError: vectors have another number of elements, or there is no such axis.

    Example:
        >>> print(cross(Tensor([1.0, 0.0, 0.0]), Tensor([0.0, 1.0, 0.0])))
        [0. 0. 1.]
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    left, right = common((an_array("cross", a), an_array("cross", b)))
    left = ops.movedim(left, an_axis("cross", axisa, left.ndim), -1)
    right = ops.movedim(right, an_axis("cross", axisb, right.ndim), -1)
    sizes = left.shape[-1], right.shape[-1]
    if not {*sizes} <= {2, 3}:
        raise ValueError(f"cross: vectors have two or three elements, not {sizes[0]} and {sizes[1]}")
    x1, y1, *rest1 = (left[..., at] for at in range(sizes[0]))
    x2, y2, *rest2 = (right[..., at] for at in range(sizes[1]))
    last = x1 * y2 - y1 * x2
    if sizes == (2, 2):
        return last
    z1 = rest1[0] if rest1 else ops.zeros_like(x1)
    z2 = rest2[0] if rest2 else ops.zeros_like(x2)
    found = ops.stack([y1 * z2 - z1 * y2, z1 * x2 - x1 * z2, last], -1)
    return ops.movedim(found, -1, an_axis("cross", axisc, found.ndim))


def _cheapest(sizes: Sequence[int]) -> dict[tuple[int, int], int]:
    """Where to cut each chain of matrices, so that their product costs least."""
    count = len(sizes) - 1
    costs = {(at, at): 0 for at in range(count)}
    cuts = {}
    for length in range(1, count):
        for first in range(count - length):
            last = first + length
            found = {
                cut: costs[first, cut] + costs[cut + 1, last] + sizes[first] * sizes[cut + 1] * sizes[last + 1]
                for cut in range(first, last)
            }
            cuts[first, last] = min(found, key=found.__getitem__)
            costs[first, last] = found[cuts[first, last]]
    return cuts


def multi_dot(arrays: Sequence[Any]) -> Tensor:
    """The product of matrices, in the order that costs least; the first and the last may be vectors.

    Raises:
        ValueError: there are fewer than two, or they are no matrices.

    Example:
        >>> print(multi_dot([Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]]), Tensor([[2.0]])]))
        [[22.]]
    """
    if len(arrays) < 2:
        raise ValueError("multi_dot: at least two arrays are expected")
    tensors = [an_array("multi_dot", each) for each in arrays]
    if len(tensors) == 2:
        return dot(*tensors)
    row, column = tensors[0].ndim == 1, tensors[-1].ndim == 1
    tensors[0] = tensors[0].reshape((1, -1)) if row else tensors[0]
    tensors[-1] = tensors[-1].reshape((-1, 1)) if column else tensors[-1]
    if any(each.ndim != 2 for each in tensors):
        raise ValueError("multi_dot: the arrays must have two dimensions")
    cuts = _cheapest([each.shape[0] for each in tensors] + [tensors[-1].shape[1]])

    def product(first: int, last: int) -> Tensor:
        if first == last:
            return tensors[first]
        cut = cuts[first, last]
        return ops.matmul(product(first, cut), product(cut + 1, last))

    found = product(0, len(tensors) - 1)
    return found.reshape(found.shape[int(row) : 2 - int(column)])


def _full(name: str, a: Tensor, v: Tensor) -> Tensor:
    """All sums of products of which some factors overlap."""
    long, short = (a, v) if a.shape[0] >= v.shape[0] else (v, a)
    count, width = long.shape[0], short.shape[0]
    if long.dtype.category < 2:  # exact, whatever their sizes
        places = _np.arange(count + width - 1)[:, None] - _np.arange(width)
        outside = (places < 0) | (places >= count)
        found = ops.where(Tensor(outside), 0, long[Tensor(_np.where(outside, 0, places))].astype(dtypes.int64))
        return sum(found * short, 1).astype(long.dtype)
    padded = ops.pad(long, [width - 1, width - 1]).reshape((1, 1, -1))
    return ops.conv1d(padded, ops.flip(short, (0,)).reshape((1, 1, -1))).reshape((-1,))


def _part(full: Tensor, mode: str, first: int, second: int) -> Tensor:
    """Those of all sums that a mode asks for."""
    long, short = max(first, second), min(first, second)
    if mode == "full":
        return full
    if mode == "same":
        begin = (short - 1) // 2
        return full[begin : begin + long]
    return full[short - 1 : long]


def _signals(name: str, a: Any, v: Any, mode: Any) -> tuple[Tensor, Tensor]:
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"{name}: mode must be 'full', 'same' or 'valid', not {mode!r}")
    first, second = an_array(name, a), an_array(name, v)
    if not first.size or not second.size:
        raise ValueError(f"{name}: the inputs must not be empty")
    first, second = (each.reshape((1,)) if each.ndim == 0 else each for each in (first, second))
    if first.ndim != 1 or second.ndim != 1:
        raise ValueError(f"{name}: the inputs must have one dimension")
    return first, second


def convolve(a: Any, v: Any, mode: str = "full") -> Tensor:
    """The convolution of two vectors.

    Args:
        a: the first vector.
        v: the second one.
        mode: ``"full"``: all sums; ``"same"``: as many as the longer vector has; ``"valid"``: those of full overlap.

    Raises:
        ValueError: an input is no vector or is empty, or there is no such mode.

    Example:
        >>> print(convolve([1, 2, 3], [4, 5]))
        [ 4 13 22 15]
    """
    first, second = common(_signals("convolve", a, v, mode))
    return _part(_full("convolve", first, second), mode, first.shape[0], second.shape[0])


def correlate(a: Any, v: Any, mode: str = "valid") -> Tensor:
    """The cross-correlation of two vectors; integers as float32.

    Args:
        a: the first vector.
        v: the second one.
        mode: ``"full"``: all sums; ``"same"``: as many as the longer vector has; ``"valid"``: those of full overlap.

    Raises:
        ValueError: an input is no vector or is empty, or there is no such mode.

    Example:
        >>> print(correlate(Tensor([1.0, 2.0, 3.0]), Tensor([0.0, 1.0, 0.5])))
        [3.5]
    """
    first, second = common(map(floating, _signals("correlate", a, v, mode)))
    if second.dtype.category > 2:
        second = ops.conj(second)
    full = _full("correlate", first, ops.flip(second, (0,)))
    if mode == "same" and first.shape[0] < second.shape[0]:  # the middle is that of the vector which stays
        begin = first.shape[0] // 2
        return full[begin : begin + second.shape[0]]
    return _part(full, mode, first.shape[0], second.shape[0])


# -- polynomials ------------------------------------------------------------------------------------------------


def _coefficients(name: str, p: Any) -> Tensor:
    found = an_array(name, p)
    if found.ndim > 1:
        raise ValueError(f"{name}: coefficients are a number or have one dimension, not {found.ndim}")
    return found.reshape((-1,))


def _order(name: str, m: Any) -> int:
    if a_count(name, "m", m) < 0:
        raise ValueError(f"{name}: m must not be negative")
    return int(m)


def _added(name: str, a1: Any, a2: Any, sign: int) -> Tensor:
    first, second = common((_coefficients(name, a1), _coefficients(name, a2)))
    count = max(first.shape[0], second.shape[0])
    first, second = (ops.pad(each, [count - each.shape[0], 0]) for each in (first, second))
    return first + second if sign > 0 else first - second


def polyadd(a1: Any, a2: Any) -> Tensor:
    """The sum of two polynomials, given by their coefficients from the highest degree.

    Example:
        >>> print(polyadd([1, 2], [9, 5, 4]))
        [9 6 6]
    """
    return _added("polyadd", a1, a2, 1)


def polysub(a1: Any, a2: Any) -> Tensor:
    """The difference of two polynomials, given by their coefficients from the highest degree.

    Example:
        >>> print(polysub([2, 10, -2], [3, 10, -4]))
        [-1  0  2]
    """
    return _added("polysub", a1, a2, -1)


def polymul(a1: Any, a2: Any) -> Tensor:
    """The product of two polynomials, given by their coefficients from the highest degree.

    Example:
        >>> print(polymul([3, 1, 2], [2, 5]))
        [ 6 17  9 10]
    """
    return convolve(_coefficients("polymul", a1), _coefficients("polymul", a2))


def polyval(p: Any, x: Any) -> Tensor:
    """A polynomial, given by its coefficients from the highest degree, at points; as float32 or float64.

    Example:
        >>> print(polyval([3, 0, 1], 5))
        76.0
    """
    coefficients, points = common((single(_coefficients("polyval", p)), single(an_array("polyval", x))))
    found = ops.zeros_like(points)
    for at in range(coefficients.shape[0]):
        found = found * points + coefficients[at]
    return found


def polyder(p: Any, m: int = 1) -> Tensor:
    """The `m`-th derivative of a polynomial, given by its coefficients from the highest degree.

    Example:
        >>> print(polyder([1, 1, 1, 1]))
        [3 2 1]
    """
    found = _coefficients("polyder", p)
    for _ in range(_order("polyder", m)):
        degrees = _np.arange(found.shape[0] - 1, 0, -1)
        if not degrees.size:
            return ops.zeros((0,), dtype=dtypes.float32)
        found = found[:-1] * Tensor(degrees.astype(found.dtype.np_dtype))
    return found


def polyint(p: Any, m: int = 1, k: Any = None) -> Tensor:
    """The `m`-th integral of a polynomial, given by its coefficients from the highest degree.

    Args:
        p: the coefficients.
        m: how often it is integrated.
        k: the constants of integration, 0 by default.

    Example:
        >>> print(polyint([1, 1]))
        [0.5 1.  0. ]
    """
    found = _coefficients("polyint", p)
    order = _order("polyint", m)
    constants = ops.zeros((order,), dtype=dtypes.float32) if k is None else _coefficients("polyint", k)
    if constants.shape[0] == 1:
        constants = constants.broadcast_to((order,))
    if constants.shape[0] < order:
        raise ValueError(f"polyint: {constants.shape[0]} constants for {order} integrals")
    for step in range(order):
        found = floating(found)
        degrees = Tensor(_np.arange(found.shape[0], 0, -1).astype(found.dtype.np_dtype))
        found = ops.concat([found / degrees, constants[step : step + 1].astype(found.dtype)], 0)
    return found


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Tensor:
    """The powers of a vector's elements, in columns from the highest one.

    Args:
        x: the vector.
        N: how many columns, as many as there are elements by default.
        increasing: begin with the power 0.

    Raises:
        ValueError: `x` is no vector, or `N` is negative.

    Example:
        >>> print(vander([1, 2, 3], 2))
        [[1 1]
         [2 1]
         [3 1]]
    """
    tensor = an_array("vander", x)
    if tensor.ndim != 1:
        raise ValueError(f"vander: x must have one dimension, not {tensor.ndim}")
    count = (a_count("vander", "N", N) if N is not None else 0) or tensor.shape[0]
    if count < 0:
        raise ValueError(f"vander: N must not be negative, not {N}")
    columns = [ops.ones_like(tensor)]
    for _ in range(count - 1):
        columns.append(columns[-1] * tensor)
    return ops.stack(columns if increasing else columns[::-1], -1)


# -- differences, integrals, interpolation ----------------------------------------------------------------------


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Tensor:
    """The differences of elements that follow one another, perhaps with others before and behind them.

    Example:
        >>> print(ediff1d(Tensor([1, 3, 6])))
        [2 3]
    """
    flat = a_tensor("ediff1d", ary).reshape((-1,))
    if flat.shape[0] < 2:
        raise ValueError("ediff1d: at least two elements are expected")
    pieces = [flat[1:] - flat[:-1]]
    if to_begin is not None:
        pieces.insert(0, an_array("ediff1d", to_begin).reshape((-1,)).astype(flat.dtype))
    if to_end is not None:
        pieces.append(an_array("ediff1d", to_end).reshape((-1,)).astype(flat.dtype))
    return pieces[0] if len(pieces) == 1 else ops.concat(pieces, 0)


def _slopes(tensor: Tensor, axis: int) -> Tensor:
    """The central differences along an axis, one-sided ones at its ends."""
    count = tensor.shape[axis]
    if count < 2:
        raise ValueError(f"gradient: at least two elements are expected along axis {axis}")

    def piece(begin: int, end: int) -> Tensor:
        return tensor[(slice(None),) * axis + (slice(begin, end),)]

    inner = [(piece(2, count) - piece(0, count - 2)) / 2] if count > 2 else []
    first, last = piece(1, 2) - piece(0, 1), piece(count - 1, count) - piece(count - 2, count - 1)
    return ops.concat([first, *inner, last], axis)


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """The slopes along axes: central differences, one-sided ones at the ends; in float32 or float64.

    Args:
        f: values on a grid.
        varargs: the distance of grid points, or one for each axis.
        axis: the axes, all by default.
        edge_order: 1.

    Returns:
        A tensor for one axis, a list for more.

    Raises:
        NotImplementedError: `edge_order` is another one, or distances are no numbers.
        TypeError: there are more or fewer distances than axes.
        ValueError: an axis has fewer than two points.

    Example:
        >>> print(gradient(Tensor([1.0, 4.0, 9.0])))
        [3. 4. 5.]
    """
    if edge_order != 1:
        raise NotImplementedError("gradient: edge_order must be 1")
    tensor = single(an_array("gradient", f))
    axes = some_axes("gradient", axis, tensor.ndim)
    if len(varargs) not in (0, 1, len(axes)):
        raise TypeError(f"gradient: {len(varargs)} distances for {len(axes)} axes")
    for each in varargs:
        if not isinstance(each, (int, float)) and not (isinstance(each, Tensor) and each.ndim == 0):
            raise NotImplementedError("gradient: the distances of grid points must be numbers")
    distances = varargs * len(axes) if len(varargs) == 1 else varargs or (1,) * len(axes)
    found = [_slopes(tensor, each) / distance for each, distance in zip(axes, distances, strict=True)]
    return found[0] if len(found) == 1 else found


def trapz(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Tensor:
    """The integral along an axis by the trapezoidal rule, in float16 or float32.

    Args:
        y: the values.
        x: where they are.
        dx: how far apart, if `x` is not given.
        axis: the axis.

    Example:
        >>> print(trapz(Tensor([1.0, 2.0, 3.0])))
        4.0
    """
    tensor = an_array("trapz", y)
    tensor = tensor if tensor.dtype is dtypes.float16 else tensor.astype(dtypes.float32)
    along = an_axis("trapz", axis, tensor.ndim)
    tensor = ops.movedim(tensor, along, -1)
    if x is None:
        distance = dx
    else:
        places = floating(an_array("trapz", x))
        places = places if places.ndim == 1 else ops.movedim(places, along, -1)
        distance = places[..., 1:] - places[..., :-1]
    return sum((tensor[..., 1:] + tensor[..., :-1]) * distance, -1) / 2


def unwrap(p: Any, discont: float = math.pi, axis: int = -1) -> Tensor:
    """Angles with jumps larger than `discont` replaced by their complements to a full turn.

    Example:
        >>> print(unwrap(Tensor([0.0, 7.0])))
        [0.       0.716815]
    """
    tensor = single(an_array("unwrap", p))
    along = an_axis("unwrap", axis, tensor.ndim)
    tensor = ops.movedim(tensor, along, -1)
    jumps = tensor[..., 1:] - tensor[..., :-1]
    turned = ops.floor_mod(jumps + math.pi, 2 * math.pi) - math.pi
    turned = ops.where(ops.logical_and(turned == -math.pi, jumps > 0), math.pi, turned)
    corrections = ops.where(ops.abs(jumps) < discont, 0.0, turned - jumps).astype(tensor.dtype)
    found = ops.concat([tensor[..., :1], tensor[..., 1:] + ops.cumsum(corrections, -1)], -1)
    return ops.movedim(found, -1, along)


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> Tensor:
    """Values between points of a function, by linear interpolation; in float32 or float64.

    Args:
        x: where.
        xp: where the points are, in ascending order.
        fp: their values.
        left: the value before the first point: that of the point by default.
        right: the value behind the last point.

    Raises:
        ValueError: the points are no vectors of one length.

    Example:
        >>> print(interp(Tensor([1.5, 9.0]), [1, 2, 3], [3, 2, 0]))
        [2.5 0. ]
    """
    where, places, values = common(single(an_array("interp", each)) for each in (x, xp, fp))
    if places.ndim != 1 or values.ndim != 1:
        raise ValueError("interp: xp and fp must have one dimension")
    count = places.shape[0]
    if values.shape[0] != count:
        raise ValueError(f"interp: there are {count} places and {values.shape[0]} values")
    if count == 1:
        found = ops.zeros_like(where) + values[0]
    else:
        at = ops.clamp(ops.searchsorted(places, where, out_int32=True, right=True), 1, count - 1)
        before, behind = places[at - 1], places[at]
        share = ops.clamp((where - before) / (behind - before), 0.0, 1.0)
        found = values[at - 1] * (1 - share) + values[at] * share
    if left is not None:
        found = ops.where(where < places[0], left, found).astype(found.dtype)
    if right is not None:
        found = ops.where(where > places[count - 1], right, found).astype(found.dtype)
    return found


# -- windows and series -----------------------------------------------------------------------------------------


def _window(name: str, compute: Any, M: Any) -> Tensor:
    if isinstance(M, bool) or not isinstance(M, int):
        raise TypeError(f"{name}: the number of points must be an int, not {type(M).__name__}")
    return Tensor(compute(M).astype(_np.float32))


def bartlett(M: int) -> Tensor:
    """The Bartlett window with a number of points.

    Example:
        >>> print(bartlett(5))
        [0.  0.5 1.  0.5 0. ]
    """
    return _window("bartlett", _np.bartlett, M)


def blackman(M: int) -> Tensor:
    """The Blackman window with a number of points.

    Example:
        >>> blackman(5).shape
        (5,)
    """
    return _window("blackman", _np.blackman, M)


def hamming(M: int) -> Tensor:
    """The Hamming window with a number of points.

    Example:
        >>> print(hamming(3))
        [0.08 1.   0.08]
    """
    return _window("hamming", _np.hamming, M)


def hanning(M: int) -> Tensor:
    """The Hann window with a number of points.

    Example:
        >>> print(hanning(3))
        [0. 1. 0.]
    """
    return _window("hanning", _np.hanning, M)


def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Tensor:
    """`num` numbers from `start` to `stop`, each the same multiple of the one before.

    Example:
        >>> print(geomspace(1, 8, num=4))
        [1. 2. 4. 8.]
    """
    count = a_count("geomspace", "num", num)
    first, last = common((single(asarray(start)), single(asarray(stop))))
    first, last = first + ops.zeros_like(last), last + ops.zeros_like(first)
    steps = _np.arange(count) / max(count - 1 if endpoint else count, 1)
    powers = Tensor(steps.astype(first.dtype.np_dtype).reshape((-1,) + (1,) * first.ndim))
    found = ops.movedim(first * ops.pow(last / first, powers), 0, axis)
    if dtype is None:
        return found
    kind = dtypes.of(dtype)
    return (ops.round(found) if kind.category == 1 else found).astype(kind)
