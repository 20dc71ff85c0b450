"""Making tensors: constants, ranges, grids."""

from __future__ import annotations

import builtins
import math
from typing import Any, Final

import jax.numpy as jnp
import numpy as np

from weft import dtypes
from weft.core import Tensor, apply, as_operator, described, op, operator_class, shows, told
from weft.core.run_number import whole
from weft.errors import Refusal, Unsupported
from weft.ops._checks import one_of
from weft.ops._rows import capitalized
from weft.ops._rules import numbers, tensor
from weft.ops.elementwise import make_complex
from weft.ops.joining import stack
from weft.ops.shape import FULL, broadcast_to, expand_dims, reshape

__all__ = [
    "arange", "bartlett_window", "blackman_window", "cartesian_prod", "complex", "empty", "empty_like", "eye",
    "fill", "fills", "full", "full_like", "hamming_window", "hann_window", "kaiser_window", "linspace", "logspace",
    "meshgrid", "ones", "ones_like", "range", "scalar_to_array", "scalar_to_tensor", "sequence_mask",
    "tril_indices", "triu_indices", "tuple_to_array", "zeros", "zeros_like",
]  # fmt: skip


_MADE: Final = described(
    **dict.fromkeys(("size", "shape"), "shape, an int or a tuple of them."),
    dtype="element type, float32 by default.",
    returns="Tensor: of that shape.",
)


def _shape_of(size: Any) -> tuple[int, ...]:
    shape = numbers(size)
    if any(dim < 0 for dim in shape):
        raise ValueError(f"a tensor cannot have the shape {shape}: dimensions must not be negative")
    return shape


def _filled(shape: tuple[int, ...], value: Any, dtype: Any) -> Any:
    return apply(FULL, (), (shape, value, dtype))


def _float_of(dtype: Any) -> Any:
    return dtypes.float32 if dtype is None else dtypes.of(dtype)


@_MADE
@shows("zeros((2, 2))", "[[0. 0.]\n [0. 0.]]")
def zeros(size: Any, dtype: Any = None) -> Any:
    """A tensor of zeros."""
    return _filled(_shape_of(size), 0, _float_of(dtype))


@_MADE
@shows("ones(3)", "[1. 1. 1.]")
def ones(shape: Any, dtype: Any = None) -> Any:
    """A tensor of ones."""
    return _filled(_shape_of(shape), 1, _float_of(dtype))


@_MADE
@shows("full((2, 2), 7)", "[[7 7]\n [7 7]]")
def full(size: Any, fill_value: Any, *, dtype: Any = None) -> Any:
    """A tensor of one number.

    Args:
        fill_value: number or 0-D tensor.
        dtype: element type; by default that of the number.
    """
    shape = _shape_of(size)
    if isinstance(fill_value, (bool, int)) and abs(fill_value) < 1 << 31:
        kind = bool if isinstance(fill_value, bool) else int
        return _filled(shape, int(fill_value), dtypes.of_python(kind) if dtype is None else dtypes.of(dtype))
    value = tensor(fill_value)
    return broadcast_to(value if dtype is None else value.astype(dtype), shape)


@_MADE
def fill(type: Any, shape: Any, value: Any) -> Any:
    """A tensor of one number.

    Args:
        type: element type.
        shape: shape.
        value: the number.

    Example:
        >>> import weft
        >>> print(fill(weft.float32, (2,), 3))
        [3. 3.]
    """
    return full(shape, value, dtype=type)


@shows("fills(Tensor([1.0, 2.0]), 3)", "[3. 3.]")
def fills(x: Any, value: Any) -> Any:
    """One number in the shape and element type of a tensor."""
    return full(x.shape, value, dtype=x.dtype)


@as_operator
def FillV2(shape: Any, value: Any) -> Any:
    """A tensor of one number, with its element type."""
    return full(shape, value)


@shows("empty(2, 3).shape", "(2, 3)")
def empty(*size: Any, dtype: Any = None) -> Any:
    """A tensor whose elements do not matter (here: zeros)."""
    return zeros(size[0] if len(size) == 1 else size, dtype)


def _like(input: Any, value: int, dtype: Any) -> Any:
    input = tensor(input)
    return _filled(input.shape, value, input.dtype if dtype is None else dtypes.of(dtype))


@shows("zeros_like(Tensor([1, 2]))", "[0 0]")
def zeros_like(input: Any, *, dtype: Any = None) -> Any:
    """Zeros in the shape (and, by default, element type) of a tensor."""
    if isinstance(input, (tuple, list)):
        return tuple(zeros_like(item, dtype=dtype) for item in input)
    return _like(input, 0, dtype)


@shows("ones_like(Tensor([1, 2]))", "[1 1]")
def ones_like(input: Any, *, dtype: Any = None) -> Any:
    """Ones in the shape (and, by default, element type) of a tensor."""
    return _like(input, 1, dtype)


@shows("empty_like(Tensor([1, 2])).shape", "(2,)")
def empty_like(input: Any, *, dtype: Any = None) -> Any:
    """A tensor in the shape of another, whose elements do not matter."""
    return _like(input, 0, dtype)


@shows("full_like(Tensor([1.0, 2.0]), 5)", "[5. 5.]")
def full_like(input: Any, fill_value: Any, *, dtype: Any = None) -> Any:
    """One number in the shape (and, by default, element type) of a tensor."""
    return full(input.shape, fill_value, dtype=input.dtype if dtype is None else dtype)


# -- ranges ------------------------------------------------------------------------------------------------


@op("Arange", classes=(), no_gradient="a constant")
def _arange(start: Any, step: Any, *, size: int) -> Any:
    """`size` numbers from `start`, by `step`."""
    return start + step * jnp.arange(size, dtype=start.dtype)


def _number(value: Any) -> Any:
    if isinstance(value, Tensor):
        if value.is_symbolic:
            raise Unsupported(
                Refusal.DYNAMIC_SHAPE,
                "the size of a range depends on a tensor that only the running graph knows",
                "take the bounds from shapes or Python numbers",
            )
        return value.item()
    return value.item() if isinstance(value, np.generic) else value


@shows("arange(1, 6, 2)", "[1 3 5]")
def arange(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None) -> Any:
    """Numbers of a range, the end not included.

    Args:
        start: first number; the end, if it is the only argument.
        end: where to stop.
        step: distance, not zero.
        dtype: element type; by default int64 for integers, else float32.

    Returns:
        Tensor: 1-D.

    Raises:
        ValueError: `step` is zero or leads away from `end`.
    """
    start, end, step = _number(start), _number(end), _number(step)
    if end is None:
        start, end = 0, start
    if step == 0:
        raise ValueError("arange: step must not be zero")
    whole = all(isinstance(v, int) for v in (start, end, step))
    count = -((start - end) // step) if whole else math.ceil((end - start) / step)
    if (end - start) * step < 0:
        raise ValueError(f"arange: a step of {step} does not lead from {start} to {end}")
    wanted = (dtypes.int64 if whole else dtypes.float32) if dtype is None else dtypes.of(dtype)
    working = wanted if wanted.category == 1 and all(isinstance(v, int) for v in (start, step)) else dtypes.float64
    return _arange(Tensor(start, working), Tensor(step, working), size=count).astype(wanted)


@shows("range(0, 6, 2)", "[0 2 4]")
def range(start: Any, end: Any, step: Any = 1, maxlen: int = 1000000) -> Any:
    """Numbers of a range, the end not included, in the element type of the bounds."""
    kinds = [value.dtype for value in (start, end, step) if isinstance(value, Tensor)]
    return arange(start, end, step, dtype=kinds[0] if kinds else None)


@op("LinSpace", classes=())
def _linspace(start: Any, stop: Any, *, num: int) -> Any:
    """`num` numbers from `start` to `stop`, both included."""
    kind = jnp.result_type(start, stop)
    kind = kind if jnp.issubdtype(kind, jnp.inexact) else jnp.float32
    return jnp.linspace(start, stop, num, axis=-1, dtype=kind)


@shows("linspace(0, 1, 5)", "[0.   0.25 0.5  0.75 1.  ]")
def linspace(start: Any, end: Any, steps: Any) -> Any:
    """Numbers at equal distances, both ends included.

    Args:
        start: first number, or a tensor of them.
        end: last number, or a tensor of them.
        steps: how many.

    Returns:
        Tensor: the numbers along the last dimension.
    """
    first, last = tensor(start), tensor(end)
    if first.dtype.category < 2 and last.dtype.category < 2:
        first, last = first.astype(dtypes.float32), last.astype(dtypes.float32)
    return _linspace(first, last, num=int(_number(steps)))


@shows("logspace(0, 2, 3)", "[  1.  10. 100.]")
def logspace(start: Any, end: Any, steps: Any, base: float = 10, *, dtype: Any = dtypes.float32) -> Any:
    """Powers of a base whose exponents are at equal distances."""
    first, last = (tensor(each).astype(dtypes.float64) for each in (start, end))
    return (float(base) ** linspace(first, last, steps)).astype(dtype)


@op("Eye", classes=(), no_gradient="a constant")
def _eye(*, n: int, m: int, dtype: Any) -> Any:
    """Ones on the main diagonal, zeros elsewhere."""
    return jnp.eye(n, m, dtype=dtype.np_dtype)


@shows("eye(2)", "[[1. 0.]\n [0. 1.]]")
def eye(n: int, m: int | None = None, dtype: Any = None) -> Any:
    """A matrix with ones on the main diagonal.

    Args:
        n: rows.
        m: columns, as many as rows by default.
        dtype: element type, float32 by default.

    Returns:
        Tensor: of shape (n, m).
    """
    rows, columns = whole(n), whole(n if m is None else m)
    return _eye(rows, columns, _float_of(dtype))


@shows("meshgrid(Tensor([1, 2]), Tensor([3, 4, 5]))[0]", "[[1 2]\n [1 2]\n [1 2]]")
def meshgrid(*inputs: Any, indexing: str = "xy") -> Any:
    """Grids of coordinates from vectors.

    Args:
        inputs: 1-D tensors, or one tuple of them.
        indexing: ``"xy"``, or ``"ij"`` for matrix order.

    Returns:
        tuple[Tensor, ...]: one grid for each vector.

    Raises:
        ValueError: another word for `indexing`.
    """
    if len(inputs) == 1 and isinstance(inputs[0], (tuple, list)):
        inputs = tuple(inputs[0])
    one_of("meshgrid", ("xy", "ij"), indexing=indexing)
    count = len(inputs)
    axes = [1, 0, *builtins.range(2, count)] if indexing == "xy" and count > 1 else [*builtins.range(count)]
    sizes = tuple([inputs[axis].size for axis in axes])
    grids = []
    for vector, axis in zip(inputs, axes, strict=True):
        shape = tuple([vector.size if each == axis else 1 for each in builtins.range(count)])
        grids.append(broadcast_to(reshape(vector, shape), sizes))
    return tuple(grids)


@shows("cartesian_prod(Tensor([1, 2]), Tensor([3]))", "[[1 3]\n [2 3]]")
def cartesian_prod(*inputs: Any) -> Any:
    """All combinations of the elements of vectors, one a row."""
    if len(inputs) == 1:
        return inputs[0]
    return stack([grid.reshape(-1) for grid in meshgrid(*inputs, indexing="ij")], 1)


@shows("tril_indices(2, 2)", "[[0 1 1]\n [0 0 1]]")
def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Any = dtypes.int64) -> Any:
    """Positions on and below a diagonal: rows first, columns second."""
    return Tensor(np.stack(np.tril_indices(row, offset, col)), dtype)


@shows("triu_indices(2, 2)", "[[0 0 1]\n [0 1 1]]")
def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Any = dtypes.int64) -> Any:
    """Positions on and above a diagonal: rows first, columns second."""
    return Tensor(np.stack(np.triu_indices(row, offset, col)), dtype)


@shows("sequence_mask(Tensor([1, 3]), 3)", "[[ True False False]\n [ True  True  True]]")
def sequence_mask(lengths: Any, maxlen: int | None = None) -> Any:
    """Bool rows whose first `length` elements are true.

    Args:
        lengths: integer tensor.
        maxlen: size of a row; by default the largest length (needs its value).

    Returns:
        Tensor: bool, with one more dimension than `lengths`.
    """
    if maxlen is None:
        maxlen = int(lengths.max().concrete("the longest length"))
    return arange(maxlen) < expand_dims(lengths, -1)


# -- windows -----------------------------------------------------------------------------------------------


def _sampled(name: str, make: Any, length: Any, periodic: bool, dtype: Any) -> Any:
    """A window of a length."""
    if isinstance(length, str):
        raise TypeError(f"{name}: the length must be an int, not {length!r}")
    if dtype is not None and dtypes.of(dtype).category != 2:
        raise TypeError(f"{name}: the element type must be floating point, not {dtypes.of(dtype)}")
    length = int(_number(length))
    if length < 0:
        raise ValueError(f"{name}: the length must not be negative, not {length}")
    values = make(length + 1)[:-1] if periodic and length > 1 else make(length)
    return Tensor(values.astype(_float_of(dtype).np_dtype))


def _window(name: str, make: Any, sentence: str, printed: str, then: str = "", kind: Any = None) -> Any:
    """The function of a window without parameters, by default in an element type."""

    def window(window_length: int, periodic: bool = True, *, dtype: Any = None) -> Any:
        return _sampled(name, make, window_length, periodic, dtype or kind)

    return shows(f"{name}(4){then}", printed)(told(window, name, sentence))


bartlett_window = _window("bartlett_window", np.bartlett, "Triangular window.", "[0.  0.5 1.  0.5]")
blackman_window = _window("blackman_window", np.blackman, "Blackman window.", "(4,)", ".shape")
hann_window = _window(
    "hann_window", np.hanning, "Hann window, in float64 by default.", "(4,)", ".shape", dtypes.float64
)


@shows("hamming_window(4).shape", "(4,)")
def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, *, dtype: Any = None
) -> Any:
    """Hamming window."""

    def make(count: int) -> Any:
        return alpha - beta * np.cos(2 * np.pi * np.arange(count) / max(count - 1, 1)) if count != 1 else np.ones(1)

    return _sampled("hamming_window", make, window_length, periodic, dtype)


@shows("kaiser_window(4).shape", "(4,)")
def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: Any = None) -> Any:
    """Kaiser window, in float64 by default."""
    kind = dtype or dtypes.float64
    return _sampled("kaiser_window", lambda count: np.kaiser(count, beta), window_length, periodic, kind)


# -- from Python values ------------------------------------------------------------------------------------


@shows("scalar_to_tensor(2.5)", "2.5")
def scalar_to_tensor(input_x: Any, dtype: Any = dtypes.float32) -> Any:
    """A number as a 0-D tensor."""
    return tensor(input_x).astype(dtype)


@shows("scalar_to_array(2)", "2")
def scalar_to_array(input_x: Any) -> Any:
    """A number as a 0-D tensor of its own element type."""
    return tensor(input_x)


@shows("tuple_to_array((1, 2))", "[1 2]")
def tuple_to_array(input_x: Any) -> Any:
    """A tuple of numbers as a 1-D tensor; ints as int32."""
    if any(isinstance(item, Tensor) for item in input_x):
        return stack([tensor(item) for item in input_x])
    made = Tensor(input_x)
    return made.astype(dtypes.int32) if made.dtype is dtypes.int64 else made


@shows("complex(Tensor([1.0]), Tensor([2.0]))", "[1.+2.j]")
def complex(input: Any, other: Any) -> Any:
    """Complex numbers of real and imaginary parts."""
    return make_complex(input, other)


for _function in (
    zeros, ones, zeros_like, ones_like, fill, fills, full_like, eye, scalar_to_tensor, scalar_to_array, tuple_to_array
):  # fmt: skip
    operator_class(capitalized(_function.__name__), _function)
operator_class("LinSpace", linspace)
operator_class("Range", range, "maxlen=1000000")
operator_class("Meshgrid", meshgrid, 'indexing="xy"')
operator_class("LogSpace", logspace, "steps=10, base=10, dtype=dtypes.float32")
