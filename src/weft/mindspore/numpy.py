"""`mindspore.numpy`: NumPy's names and parameters on tensors, made from the operations of `weft.ops`.

Names whose operation takes the same arguments are rows of the table; here are those whose parameters differ.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as _np

from weft import dtypes, ops
from weft.core.tensor import Tensor
from weft.ops import reduce
from weft.ops._rules import one_axis
from weft.ops.reduce import norm_root

pi: Final = math.pi
e: Final = math.e
inf: Final = math.inf
nan: Final = math.nan
newaxis: Final = None

__all__ = [
    "all",
    "any",
    "arange",
    "argmax",
    "argmin",
    "array",
    "asarray",
    "asfarray",
    "clip",
    "concatenate",
    "cumsum",
    "dot",
    "e",
    "empty",
    "expand_dims",
    "eye",
    "full",
    "full_like",
    "identity",
    "inf",
    "linspace",
    "logspace",
    "mean",
    "nan",
    "newaxis",
    "ones",
    "ones_like",
    "pi",
    "prod",
    "rand",
    "randint",
    "randn",
    "ravel",
    "reshape",
    "stack",
    "std",
    "sum",
    "transpose",
    "unique",
    "var",
    "where",
    "zeros",
    "zeros_like",
]

_Axis = int | Sequence[int] | None


def array(obj: Any, dtype: Any = None, copy: bool = True, ndmin: int = 0) -> Tensor:
    """A tensor of numbers, nested lists or arrays, with at least `ndmin` dimensions.

    Example:
        >>> print(array([[1, 2], [3, 4]]))
        [[1 2]
         [3 4]]
    """
    del copy  # device arrays are immutable, so sharing one cannot be seen
    made = Tensor(obj, None if dtype is None else dtypes.of(dtype))
    if dtype is None and made.dtype is dtypes.int64 and not isinstance(obj, (Tensor, _np.ndarray, _np.generic)):
        limits = _np.iinfo(_np.int32)
        values = _np.array(made)
        if not values.size or (values.min() >= limits.min and values.max() <= limits.max):
            made = made.astype(dtypes.int32)  # as Python's ints do there
    return made.reshape((1,) * builtins.max(0, ndmin - made.ndim) + made.shape)


def asarray(a: Any, dtype: Any = None) -> Tensor:
    """A tensor of numbers, nested lists or arrays.

    Example:
        >>> print(asarray([1.0, 2.0]))
        [1. 2.]
    """
    return array(a, dtype)


def asfarray(a: Any, dtype: Any = dtypes.float32) -> Tensor:
    """A floating-point tensor of numbers, nested lists or arrays.

    Example:
        >>> print(asfarray([1, 2]))
        [1. 2.]
    """
    wanted = dtypes.of(dtype)
    return array(a, wanted if wanted.is_floating else dtypes.float32)


def zeros(shape: Any, dtype: Any = dtypes.float32) -> Tensor:
    """A tensor of zeros.

    Example:
        >>> print(zeros(3))
        [0. 0. 0.]
    """
    return Tensor(_np.zeros(shape, dtypes.to_np(dtype)))


def ones(shape: Any, dtype: Any = dtypes.float32) -> Tensor:
    """A tensor of ones.

    Example:
        >>> print(ones((1, 2)))
        [[1. 1.]]
    """
    return Tensor(_np.ones(shape, dtypes.to_np(dtype)))


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    """A tensor filled with one value (or a value that broadcasts to the shape).

    Example:
        >>> print(full(2, 7))
        [7 7]
    """
    value = array(fill_value, dtype)
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    return ops.broadcast_to(value, sizes).copy()  # a tensor with elements of its own


def empty(shape: Any, dtype: Any = dtypes.float32) -> Tensor:
    """A tensor whose contents do not matter (zeros).

    Example:
        >>> empty((2, 3)).shape
        (2, 3)
    """
    return zeros(shape, dtype)


def _shaped(like: Tensor, shape: Any) -> Any:
    return like.shape if shape is None else shape


def zeros_like(a: Any, dtype: Any = None, shape: Any = None) -> Tensor:
    """Zeros in the shape of another tensor.

    Example:
        >>> print(zeros_like(Tensor([1, 2])))
        [0 0]
    """
    like = asarray(a)
    return zeros(_shaped(like, shape), dtype or like.dtype)


def ones_like(a: Any, dtype: Any = None, shape: Any = None) -> Tensor:
    """Ones in the shape of another tensor.

    Example:
        >>> print(ones_like(Tensor([1, 2])))
        [1 1]
    """
    like = asarray(a)
    return ones(_shaped(like, shape), dtype or like.dtype)


def full_like(a: Any, fill_value: Any, dtype: Any = None, shape: Any = None) -> Tensor:
    """One value in the shape of another tensor.

    Example:
        >>> print(full_like(Tensor([1.0, 2.0]), 5))
        [5. 5.]
    """
    like = asarray(a)
    return full(_shaped(like, shape), fill_value, dtype or like.dtype)


def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Tensor:
    """Evenly spaced numbers, `stop` excluded: ``arange(stop)``, ``arange(start, stop)``...

    Example:
        >>> print(arange(1, 7, 2))
        [1 3 5]
    """
    if stop is None:
        start, stop = 0, start
    values = _np.arange(start, stop, 1 if step is None else step)
    if dtype is None and values.dtype == _np.float64:
        dtype = dtypes.float32  # as Python floats do
    elif dtype is None and values.dtype == _np.int64 and (not values.size or _np.abs(values).max() < 1 << 31):
        dtype = dtypes.int32
    return array(values, dtype)


def linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None, axis: int = 0
) -> Any:
    """`num` evenly spaced numbers from `start` to `stop`.

    Example:
        >>> print(linspace(0, 1, 3))
        [0.  0.5 1. ]
    """
    kind = dtype or dtypes.float32
    found, step = _np.linspace(_host(start), _host(stop), num, endpoint, retstep=True, axis=axis)
    return (array(found, kind), array(step, kind)) if retstep else array(found, kind)


def _host(value: Any) -> Any:
    return value.asnumpy() if isinstance(value, Tensor) else value


def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: float = 10.0, dtype: Any = None, axis: int = 0
) -> Tensor:
    """`num` numbers whose logarithms are evenly spaced.

    Example:
        >>> print(logspace(0, 2, 3))
        [  1.  10. 100.]
    """
    return array(
        _np.power(base, _np.linspace(_host(start), _host(stop), num, endpoint, axis=axis)), dtype or dtypes.float32
    )


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = dtypes.float32) -> Tensor:
    """Ones on the `k`-th diagonal of an (N, M) matrix.

    Example:
        >>> print(eye(2))
        [[1. 0.]
         [0. 1.]]
    """
    return array(_np.eye(N, M, k), dtype)


def identity(n: int, dtype: Any = dtypes.float32) -> Tensor:
    """The (n, n) identity matrix.

    Example:
        >>> print(identity(2))
        [[1. 0.]
         [0. 1.]]
    """
    return eye(n, dtype=dtype)


def rand(*shape: int, dtype: Any = dtypes.float32) -> Tensor:
    """Uniform random numbers in [0, 1).

    Example:
        >>> rand(2, 3).shape
        (2, 3)
    """
    return ops.rand(*shape, dtype=dtype)


def randn(*shape: int, dtype: Any = dtypes.float32) -> Tensor:
    """Standard normal random numbers.

    Example:
        >>> randn(2, 3).shape
        (2, 3)
    """
    return ops.randn(*shape, dtype=dtype)


def randint(minval: int, maxval: int | None = None, shape: Any = None, dtype: Any = dtypes.int32) -> Tensor:
    """Random integers from `minval` to below `maxval`, or from 0 to below `minval`.

    Example:
        >>> randint(5, shape=(2,)).shape
        (2,)
    """
    low, high = (0, minval) if maxval is None else (minval, maxval)
    size = (1,) if shape is None else (shape,) if isinstance(shape, int) else tuple(shape)
    return ops.randint(low, high, size, dtype=dtype)


def _axes(axis: _Axis, ndim: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(ndim))
    return tuple(one_axis("axis", each, ndim) for each in ((axis,) if isinstance(axis, int) else axis))


def _flat(a: Any, axis: int | None) -> tuple[Tensor, int]:
    tensor = asarray(a)
    return (tensor.reshape((-1,)), 0) if axis is None else (tensor, axis)


def sum(a: Any, axis: _Axis = None, dtype: Any = None, keepdims: bool = False, initial: Any = None) -> Tensor:
    """The sum over axes (all of them by default), and of an initial value; of integers, int64.

    Example:
        >>> print(sum(Tensor([[1.0, 2.0], [3.0, 4.0]]), axis=0))
        [4. 6.]
    """
    tensor = asarray(a)
    found = reduce.reduce_sum(reduce.counting(tensor, None), axis=_axes(axis, tensor.ndim), keep_dims=keepdims)
    found = found if initial is None else found + initial
    return found if dtype is None else found.astype(dtype)


def mean(a: Any, axis: _Axis = None, keepdims: bool = False, dtype: Any = None) -> Tensor:
    """The mean over axes (all of them by default); that of integers is an integer, see `ops.mean`.

    Example:
        >>> print(mean(Tensor([1.0, 2.0])))
        1.5
    """
    tensor = asarray(a)
    tensor = tensor if dtype is None else tensor.astype(dtype)
    return reduce.reduce_mean(tensor, axis=_axes(axis, tensor.ndim), keep_dims=keepdims)


def prod(a: Any, axis: _Axis = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """The product over axes (all of them by default).

    Example:
        >>> print(prod(Tensor([2.0, 3.0])))
        6.0
    """
    tensor = asarray(a) if dtype is None else asarray(a).astype(dtype)
    return reduce.reduce_prod(tensor, axis=_axes(axis, tensor.ndim), keep_dims=keepdims)


def var(x: Any, axis: _Axis = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """The variance over axes (all of them by default).

    Example:
        >>> print(var(Tensor([1.0, 3.0])))
        1.0
    """
    tensor = asarray(x)
    tensor = tensor if tensor.dtype.category >= 1 else tensor.astype(dtypes.float32)
    axes = _axes(axis, tensor.ndim)
    count = math.prod(tensor.shape[i] for i in axes)
    distance = ops.square(tensor - mean(tensor, axes, keepdims=True))
    return sum(distance, axes, keepdims=keepdims) / (count - ddof)


def std(x: Any, axis: _Axis = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """The standard deviation over axes (all of them by default).

    Example:
        >>> print(std(Tensor([1.0, 3.0])))
        1.0
    """
    return norm_root(var(x, axis, ddof, keepdims))


def all(a: Any, axis: _Axis = None, keepdims: bool = False) -> Tensor:
    """Whether every element is true, over axes (all of them by default).

    Example:
        >>> print(all(Tensor([True, False])))
        False
    """
    tensor = asarray(a).astype(dtypes.bool_)
    return reduce.reduce_all(tensor, axis=_axes(axis, tensor.ndim), keep_dims=keepdims)


def any(a: Any, axis: _Axis = None, keepdims: bool = False) -> Tensor:
    """Whether some element is true, over axes (all of them by default).

    Example:
        >>> print(any(Tensor([True, False])))
        True
    """
    tensor = asarray(a).astype(dtypes.bool_)
    return reduce.reduce_any(tensor, axis=_axes(axis, tensor.ndim), keep_dims=keepdims)


def argmax(a: Any, axis: int | None = None) -> Tensor:
    """The position of the largest element along an axis, or in the flattened tensor.

    Example:
        >>> print(argmax(Tensor([1.0, 3.0, 2.0])))
        1
    """
    return ops.argmax(*_flat(a, axis))


def argmin(a: Any, axis: int | None = None) -> Tensor:
    """The position of the smallest element along an axis, or in the flattened tensor.

    Example:
        >>> print(argmin(Tensor([1.0, 3.0, 2.0])))
        0
    """
    found = ops.argmin(*_flat(a, axis))
    return found.astype(dtypes.int64) if asarray(a).ndim == 0 else found


def cumsum(a: Any, axis: int | None = None, dtype: Any = None) -> Tensor:
    """Sums of the elements so far along an axis, or in the flattened tensor.

    Example:
        >>> print(cumsum(Tensor([1.0, 2.0, 3.0])))
        [1. 3. 6.]
    """
    tensor, along = _flat(a, axis)
    return tensor.cumsum(along, dtype)


def reshape(x: Any, new_shape: Any) -> Tensor:
    """The same elements in another shape.

    Example:
        >>> reshape(Tensor([1, 2, 3, 4]), (2, 2)).shape
        (2, 2)
    """
    return asarray(x).reshape((new_shape,) if isinstance(new_shape, int) else tuple(new_shape))


def ravel(x: Any) -> Tensor:
    """The elements in one dimension.

    Example:
        >>> ravel(Tensor([[1, 2], [3, 4]])).shape
        (4,)
    """
    return reshape(x, -1)


def transpose(a: Any, axes: Sequence[int] | None = None) -> Tensor:
    """The tensor with its axes permuted, reversed by default.

    Example:
        >>> transpose(Tensor([[1, 2, 3]])).shape
        (3, 1)
    """
    tensor = asarray(a)
    return ops.transpose(tensor, tuple(range(tensor.ndim))[::-1] if axes is None else tuple(axes))


def concatenate(arrays: Sequence[Any], axis: int | None = 0) -> Tensor:
    """Tensors joined along an axis, or flattened and joined.

    Example:
        >>> print(concatenate((Tensor([1, 2]), Tensor([3]))))
        [1 2 3]
    """
    tensors = [asarray(a) for a in arrays]
    if axis is None:
        tensors, axis = [ravel(t) for t in tensors], 0
    return ops.concat(tensors, axis)


def stack(arrays: Sequence[Any], axis: int = 0) -> Tensor:
    """Tensors of one shape joined along a new axis.

    Example:
        >>> stack((Tensor([1, 2]), Tensor([3, 4]))).shape
        (2, 2)
    """
    return ops.stack([asarray(a) for a in arrays], axis)


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Elements of `x` where the condition is true, of `y` elsewhere.

    Example:
        >>> print(where(Tensor([True, False]), 1.0, 2.0))
        [1. 2.]
    """
    return ops.where(asarray(condition), x, y)


def dot(a: Any, b: Any) -> Tensor:
    """The product of vectors or matrices as NumPy's `dot` defines it.

    Example:
        >>> print(dot(Tensor([1.0, 2.0]), Tensor([3.0, 4.0])))
        11.0
    """
    left, right = asarray(a), asarray(b)
    if left.ndim == 0 or right.ndim == 0:
        return left * right
    if right.ndim == 1:
        return ops.matmul(left, right)
    return ops.tensor_dot(left, right, ((left.ndim - 1,), (right.ndim - 2,)))


def expand_dims(a: Any, axis: int | Sequence[int]) -> Tensor:
    """The tensor with new axes of length one.

    Example:
        >>> expand_dims(Tensor([1, 2]), (0, 2)).shape
        (1, 2, 1)
    """
    tensor = asarray(a)
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    ndim = tensor.ndim + len(axes)
    for position in sorted(a % ndim for a in axes):
        tensor = ops.expand_dims(tensor, position)
    return tensor


def clip(x: Any, xmin: Any, xmax: Any, dtype: Any = None) -> Tensor:
    """The elements limited to [xmin, xmax].

    Example:
        >>> print(clip(Tensor([1.0, 5.0, 9.0]), 2.0, 6.0))
        [2. 5. 6.]
    """
    tensor = asarray(x)
    return ops.clip_by_value(tensor, xmin, xmax).astype(dtype or tensor.dtype)


def unique(x: Any, return_inverse: bool = False) -> Any:
    """The distinct elements in the order of the tensor; with `return_inverse` also where each element is among them.

    Example:
        >>> print(unique(Tensor([3, 1, 3])))
        [3 1]
    """
    values, inverse = ops.unique(asarray(x))
    return (values, inverse) if return_inverse else values
