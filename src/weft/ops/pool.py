"""Pooling: maxima and means of windows, with fixed or adaptive windows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from weft import dtypes
from weft.core import Primitive, Tensor, apply, as_operator, described, op, operator_class, shows, told
from weft.ops._checks import only, tensors
from weft.ops.conv import Pads, Sizes, padding_of, per_dimension

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d",
    "avg_pool1d", "avg_pool2d", "avg_pool3d", "max_pool1d", "max_pool2d", "max_pool3d",
]  # fmt: skip


class _Windows(NamedTuple):
    """How windows lie on the spatial dimensions of an array."""

    kernel: Sizes
    stride: Sizes
    #: ``"SAME"`` or ``"VALID"`` until it is known for which sizes
    pads: Pads | str
    dilation: Sizes
    data_format: str

    def full(self, spatial: Any, ndim: int, edge: Any) -> tuple[Any, ...]:
        """A spatial setting with the batch and channel dimensions added."""
        if self.data_format.endswith("C"):
            return (edge, *spatial, edge)
        return (*[edge] * (ndim - len(self.kernel)), *spatial)

    def reduced(self, x: Any, start: Any, reduce: Callable[..., Any]) -> Any:
        """Each window, without holes, as one element."""
        sizes, steps = (self.full(each, x.ndim, 1) for each in (self.kernel, self.stride))
        return jax.lax.reduce_window(x, start, reduce, sizes, steps, self.full(self.pads, x.ndim, (0, 0)))


def _lowest(dtype: Any) -> Any:
    return np.asarray(-np.inf if jnp.issubdtype(dtype, jnp.floating) else np.iinfo(dtype).min, dtype)


def _max_pool(x: Any, **settings: Any) -> Any:
    windows = _Windows(**settings)
    if max(windows.dilation) > 1:
        return _max_of_slices(x, windows)
    return windows.reduced(x, _lowest(x.dtype), jax.lax.max)


def _max_of_slices(x: Any, windows: _Windows) -> Any:
    """Maxima of windows with holes, which JAX does not differentiate: one slice for each element of the window.

    As without holes the first of equal elements is the maximum.
    """
    pads = windows.full(windows.pads, x.ndim, (0, 0))
    padded = jax.lax.pad(x, _lowest(x.dtype), [(low, high, 0) for low, high in pads])
    steps = windows.full(windows.stride, x.ndim, 1)
    best = None
    for offset in itertools.product(*map(range, windows.kernel)):
        first = [i * hole for i, hole in zip(offset, windows.dilation, strict=True)]
        reach = [(size - 1 - i) * hole for i, size, hole in zip(offset, windows.kernel, windows.dilation, strict=True)]
        ends = [n - r for n, r in zip(padded.shape, windows.full(reach, x.ndim, 0), strict=True)]
        part = jax.lax.slice(padded, windows.full(first, x.ndim, 0), ends, steps)
        best = part if best is None else jnp.where((part > best) | (part != part), part, best)
    return best


#: elements of a window up to which the gradient looks at one slice for each
_SLICES: Final = 16


def _max_pool_grad(x: Any, dout: Any, **settings: Any) -> Any:
    """The gradient of maxima of windows, each of which goes to the element that XLA's `select_and_scatter` selects."""
    windows = _Windows(**settings)
    kernel, holes = windows.kernel, max(windows.dilation) > 1
    if kernel != windows.stride or np.any(windows.pads) or holes or math.prod(kernel) > _SLICES:
        return jax.vjp(lambda x: _max_pool(x, **settings), x)[1](dout)[0]
    # Windows that do not overlap: XLA would scatter over arrays of indices, which costs it many times as much.
    steps = windows.full(kernel, x.ndim, 1)
    ends = [n * step for n, step in zip(dout.shape, steps, strict=True)]
    offsets = list(itertools.product(*[range(step) for step in steps]))
    best, *others = [
        jax.lax.slice(x, offset, [e - (s - 1 - o) for e, s, o in zip(ends, steps, offset, strict=True)], steps)
        for offset in offsets
    ]
    chosen = jnp.zeros(best.shape, np.int8)
    for number, part in enumerate(others, 1):
        stays = best >= part
        best, chosen = jnp.where(stays, best, part), jnp.where(stays, chosen, np.int8(number))
    zero = np.zeros((), dout.dtype)
    added = _added_to_zero(dout)
    parts = [jnp.where(chosen == np.int8(number), added, zero) for number in range(len(offsets))]
    for axis in range(x.ndim - 1, -1, -1):
        if steps[axis] > 1:
            parts = [_interleaved(parts[i : i + steps[axis]], axis) for i in range(0, len(parts), steps[axis])]
    return jax.lax.pad(parts[0], zero, [(0, n - end, 0) for n, end in zip(x.shape, ends, strict=True)])


@jax.custom_jvp
def _added_to_zero(x: Any) -> Any:
    """A sum that starts with 0 is never -0.0; XLA leaves out the addition of a zero."""
    return jnp.where(x == 0, np.zeros((), x.dtype), x)


_added_to_zero.defjvp(lambda primals, tangents: (_added_to_zero(*primals), tangents[0]))


def _interleaved(parts: Sequence[Any], axis: int) -> Any:
    """Arrays of one shape as one, whose elements along an axis come from each in turn."""
    shape = parts[0].shape
    return jnp.stack(parts, axis + 1).reshape((*shape[:axis], shape[axis] * len(parts), *shape[axis + 1 :]))


def _avg_pool(x: Any, *, counted: Pads, divisor: int, **settings: Any) -> Any:
    """Window sums divided by `divisor`, or, where it is 0, by the elements inside the `counted` padding."""
    windows = _Windows(**settings, dilation=())
    total = windows.reduced(x, np.zeros((), x.dtype), jax.lax.add)
    if divisor:
        return total / np.asarray(divisor, x.dtype)
    last = windows.data_format.endswith("C")
    first = 1 if last else x.ndim - len(windows.kernel)
    counts = np.ones((), np.int64)
    for axis, (size, step, (low, _), (inner_low, inner_high)) in enumerate(
        zip(windows.kernel, windows.stride, windows.pads, counted, strict=True), first
    ):
        starts = np.arange(total.shape[axis]) * step - low
        ends = np.minimum(starts + size, x.shape[axis] + inner_high)
        counts = np.multiply.outer(counts, np.maximum(ends - np.maximum(starts, -inner_low), 1))
    return total / (counts[..., None] if last else counts).astype(x.dtype)


@op("MaxPoolingWithIndices", classes=(), multiple=True)
def _max_pool_indices(
    x: Any, *, kernel: tuple[int, ...], stride: tuple[int, ...], pads: Pads, dilation: tuple[int, ...]
) -> Any:
    """Maxima and their flat positions in the unpadded spatial dimensions."""
    index, inside = [], []
    lengths = x.shape[x.ndim - len(kernel) :]
    for length, size, step, (low, high), hole in zip(lengths, kernel, stride, pads, dilation, strict=True):
        count = (length + low + high - hole * (size - 1) - 1) // step + 1
        positions = np.arange(count)[:, None] * step - low + np.arange(size) * hole
        inside.append((positions >= 0) & (positions < length))
        index.append(np.clip(positions, 0, length - 1))
    return _gathered_max(x, index, inside)


def _gathered_max(x: Any, index: list[Any], inside: list[Any]) -> Any:
    """Maxima over windows given by index tables (outputs, window size) for each spatial dimension."""
    rank = len(index)
    lead, spatial = x.shape[: x.ndim - rank], x.shape[x.ndim - rank :]
    masks, flat = np.ones((), bool), np.zeros((), np.int64)
    for i, (table, ok) in enumerate(zip(index, inside, strict=True)):
        others = [axis for axis in range(2 * rank) if axis not in (i, rank + i)]
        masks = masks & np.expand_dims(ok, others)
        flat = flat * spatial[i] + np.expand_dims(table, others)
    outputs = flat.shape[:rank]
    flat, masks = flat.reshape((*outputs, -1)), masks.reshape((*outputs, -1))
    windows = jnp.where(masks, x.reshape((*lead, math.prod(spatial)))[..., flat], _lowest(x.dtype))
    return largest(windows, jnp.broadcast_to(flat, windows.shape))


def largest(windows: Any, positions: Any) -> tuple[Any, Any]:
    """The largest element of each window, the last dimension, and the position that it has."""
    best = jnp.argmax(windows, -1, keepdims=True)
    values, places = (jnp.take_along_axis(each, best, -1)[..., 0] for each in (windows, positions))
    return values, places


def _adaptive_table(length: int, outputs: int) -> tuple[Any, Any]:
    """Start and end of each adaptive window."""
    steps = np.arange(outputs)
    return steps * length // outputs, -(-(steps + 1) * length // outputs)


@op("AdaptiveAvgPooling", classes=())
def _adaptive_avg_pool(x: Any, *, output_size: tuple[int, ...]) -> Any:
    for axis, outputs in enumerate(output_size, x.ndim - len(output_size)):
        start, end = _adaptive_table(x.shape[axis], outputs)
        positions = np.arange(x.shape[axis])
        inside = (positions >= start[:, None]) & (positions < end[:, None])
        weights = inside / (end - start)[:, None]
        x = jnp.moveaxis(jnp.tensordot(x, jnp.asarray(weights, x.dtype), ((axis,), (1,))), -1, axis)
    return x


def _adaptive_max_pool(x: Any, *, output_size: tuple[int, ...]) -> Any:
    index, inside = [], []
    for axis, outputs in enumerate(output_size, x.ndim - len(output_size)):
        start, end = _adaptive_table(x.shape[axis], outputs)
        table = start[:, None] + np.arange(int((end - start).max()))
        inside.append(table < end[:, None])
        index.append(np.minimum(table, (end - 1)[:, None]))
    return _gathered_max(x, index, inside)


MAX_POOL_GRAD = Primitive("MaxPoolingGrad", _max_pool_grad, attr_names=_Windows._fields)
MAX_POOL = Primitive(
    "MaxPooling",
    _max_pool,
    attr_names=_Windows._fields,
    derivative=lambda x, out, dout, **attrs: (apply(MAX_POOL_GRAD, (x, dout), tuple(attrs.values())),),
)
AVG_POOL = Primitive(
    "AvgPooling", _avg_pool, attr_names=("kernel", "stride", "pads", "counted", "divisor", "data_format")
)
ADAPTIVE_MAX_POOL = Primitive("AdaptiveMaxPooling", _adaptive_max_pool, attr_names=("output_size",), multiple=True)


def _settled(name: str, x: Tensor, given: _Windows, ceil_mode: bool) -> tuple[Pads, Pads]:
    """The padding of windows, with and without what `ceil_mode` adds."""
    plain, grown = [], []
    rank = len(given.kernel)
    spatial = x.shape[1 : 1 + rank] if given.data_format.endswith("C") else x.shape[x.ndim - rank :]
    for i, (size, window, step, hole) in enumerate(
        zip(spatial, given.kernel, given.stride, given.dilation, strict=True)
    ):
        reach = hole * (window - 1) + 1
        if given.pads == "SAME":
            total = max((-(-size // step) - 1) * step + reach - size, 0)
            low, high = total // 2, total - total // 2
        else:
            low, high = (0, 0) if isinstance(given.pads, str) else given.pads[i]
            if 2 * max(low, high) > reach:
                raise ValueError(f"{name}: padding {max(low, high)} is more than half of the window of {reach}")
        extra = 0
        if ceil_mode:
            room = size + low + high - reach
            count = -(-room // step) + 1
            if (count - 1) * step >= size + low:
                count -= 1  # the last window would start in the padding
            extra = max((count - 1) * step - room, 0)
        if size + low + high + extra < reach:
            raise ValueError(f"{name}: a window of {window} (dilation {hole}) does not fit into a dimension of {size}")
        plain.append((low, high))
        grown.append((low, high + extra))
    return tuple(grown), tuple(plain)


def check_input(name: str, x: Any, rank: int, lower: bool = True, what: str = "x") -> None:
    """Refuse what is no tensor with so many spatial dimensions; where `lower` says so, the batch may be missing."""
    tensors(name, **{what: x})
    if x.ndim != rank + 2 and not (lower and x.ndim == rank + 1):
        wanted = f"{rank + 1} or {rank + 2}" if lower else f"{rank + 2}"
        raise ValueError(f"{name}: the input must have {wanted} dimensions, not shape {x.shape}")


def max_pool(
    name: str,
    rank: int,
    x: Tensor,
    kernel_size: Any,
    stride: Any,
    pad_mode: str,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
    indices: bool,
    data_format: str = "NCHW",
) -> Any:
    """Maxima of windows over `rank` dimensions; `name` is the operation that messages name."""
    check_input(name, x, rank)
    kernel = per_dimension(name, "kernel_size", kernel_size, rank)
    steps = kernel if stride is None else per_dimension(name, "stride", stride, rank)
    holes = per_dimension(name, "dilation", dilation, rank)
    given = _Windows(kernel, steps, padding_of(name, pad_mode, padding, rank), holes, data_format)
    pads, _ = _settled(name, x, given, ceil_mode)
    if indices:
        return _max_pool_indices(x, kernel, steps, pads, holes)
    return apply(MAX_POOL, (x,), (kernel, steps, pads, holes, data_format))


def avg_pool(
    name: str,
    rank: int,
    x: Tensor,
    kernel_size: Any,
    stride: Any,
    pad_mode: str,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
    data_format: str = "NCHW",
) -> Tensor:
    """Means of windows over `rank` dimensions; `name` is the operation that messages name."""
    check_input(name, x, rank)
    kernel = per_dimension(name, "kernel_size", kernel_size, rank)
    steps = kernel if stride is None else per_dimension(name, "stride", stride, rank)
    given = _Windows(kernel, steps, padding_of(name, pad_mode, padding, rank), (1,) * rank, data_format)
    pads, plain = _settled(name, x, given, ceil_mode)
    counted = plain if count_include_pad else ((0, 0),) * rank
    divisor = divisor_override or 0
    if pad_mode.lower() == "same" and count_include_pad:  # each window has all elements, of which some are zeros
        divisor = divisor or math.prod(kernel)
    return apply(AVG_POOL, (x,), (kernel, steps, pads, counted, divisor, data_format))


def _maxima(rank: int, over: str, given: str, printed: str) -> Callable[..., Any]:
    """The function that gives maxima of windows over so many dimensions."""
    name = f"max_pool{rank}d"

    def pool(
        x: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> Any:
        return max_pool(name, rank, x, kernel_size, stride, "pad", padding, dilation, ceil_mode, return_indices)

    return shows(f"{name}(Tensor({given}), 2)", printed)(told(pool, name, f"Maxima of windows over the last {over}."))


max_pool1d = _maxima(1, "dimension; see `max_pool2d`", "[[[1.0, 3.0, 2.0, 4.0]]]", "[[[3. 4.]]]")
max_pool2d = described(
    x="(N, C, H, W).",
    kernel_size="window, an int or one for each dimension.",
    stride="step; None is the window size.",
    padding="border that never wins, an int or one for each dimension.",
    dilation="distance of the window's elements.",
    return_indices="also return the flat position of each maximum.",
    ceil_mode="also keep windows that reach over the border.",
    returns="Tensor, or a tuple of it and the int64 positions.",
)(_maxima(2, "two dimensions", "[[[[1.0, 2.0], [3.0, 4.0]]]]", "[[[[4.]]]]"))


@shows("max_pool3d(Tensor([[[[[1.0], [2.0]]]]]), (1, 2, 1))", "[[[[[2.]]]]]")
def max_pool3d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Maxima of windows over the last three dimensions; see `max_pool2d`."""
    return max_pool("max_pool3d", 3, x, kernel_size, stride, "pad", padding, dilation, ceil_mode, return_indices)


@shows("avg_pool1d(Tensor([[[1.0, 3.0, 5.0]]]), 2)", "[[[2. 4.]]]")
def avg_pool1d(
    input_x: Tensor,
    kernel_size: Any = 1,
    stride: Any = 1,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Means of windows over the last dimension; see `avg_pool2d`."""
    return avg_pool("avg_pool1d", 1, input_x, kernel_size, stride, "pad", padding, ceil_mode, count_include_pad, None)


def _means(rank: int, over: str, given: str, printed: str) -> Callable[..., Tensor]:
    """The function that gives means of windows over so many dimensions."""
    name = f"avg_pool{rank}d"

    def pool(
        input_x: Tensor,
        kernel_size: Any = 1,
        stride: Any = 1,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int = 0,
    ) -> Tensor:
        settings = (ceil_mode, count_include_pad, divisor_override)
        return avg_pool(name, rank, input_x, kernel_size, stride, "pad", padding, *settings)

    return shows(f"{name}(Tensor({given})", printed)(told(pool, name, f"Means of windows over the last {over}."))


avg_pool2d = described(
    input_x="(N, C, H, W).",
    kernel_size="window, an int or one for each dimension.",
    stride="step.",
    padding="border of zeros.",
    ceil_mode="also keep windows that reach over the border.",
    count_include_pad="count the padding's zeros as elements.",
    divisor_override="divide by this instead of the number of elements; 0 for not.",
)(_means(2, "two dimensions", "[[[[1.0, 2.0], [3.0, 4.0]]]]), 2", "[[[[2.5]]]]"))
avg_pool3d = _means(3, "three dimensions; see `avg_pool2d`", "[[[[[1.0], [2.0]]]]]), (1, 2, 1)", "[[[[[1.5]]]]]")


def _adaptive(name: str, rank: int, x: Tensor, output_size: Any) -> tuple[int, ...]:
    check_input(name, x, rank, what="input")
    sizes = output_size if isinstance(output_size, (tuple, list)) else (output_size,) * rank
    if len(sizes) != rank:
        raise ValueError(f"{name}: output_size must be an int or {rank} of them, not {output_size!r}")
    spatial = x.shape[x.ndim - rank :]
    found = tuple(size if wanted is None else int(wanted) for size, wanted in zip(spatial, sizes, strict=True))
    if min(found) < 1 or math.prod(spatial) == 0:
        raise ValueError(f"{name}: output_size must be positive and the input not empty, got {output_size!r}")
    return found


def _adaptive_means(rank: int, dimensions: str, given: str, printed: str) -> Callable[[Tensor, Any], Tensor]:
    """The function that gives means of as many windows as wanted."""
    name = f"adaptive_avg_pool{rank}d"

    def pool(input: Tensor, output_size: Any) -> Tensor:
        return _adaptive_avg_pool(input, _adaptive(name, rank, input, output_size))

    doc = f"""Means of as many windows as wanted over the last {dimensions}.

Args:
    input: without or with batches: a dimension of channels and {dimensions}.
    output_size: an int, or one for each dimension, where None keeps a size.

Example:
    >>> print({name}(Tensor({given}))
    {printed}"""
    return told(pool, name, doc)


adaptive_avg_pool1d = _adaptive_means(1, "dimension", "[[[1.0, 3.0, 5.0, 7.0]]]), 2", "[[[2. 6.]]]")
adaptive_avg_pool2d = _adaptive_means(2, "two dimensions", "[[[[1.0, 2.0], [3.0, 4.0]]]]), 1", "[[[[2.5]]]]")
adaptive_avg_pool3d = _adaptive_means(3, "three dimensions", "[[[[[1.0], [2.0]]]]]), 1", "[[[[[1.5]]]]]")


@shows("adaptive_max_pool1d(Tensor([[[1.0, 3.0, 5.0, 7.0]]]), 2)", "[[[3. 7.]]]")
def adaptive_max_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """Maxima of as many windows as wanted over the last dimension."""
    return apply(ADAPTIVE_MAX_POOL, (input,), (_adaptive("adaptive_max_pool1d", 1, input, output_size),))[0]


@shows("adaptive_max_pool2d(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), 1)", "[[[[4.]]]]")
def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Maxima of as many windows as wanted over the last two dimensions.

    Args:
        input: (N, C, H, W) or (C, H, W).
        output_size: an int, or (H', W') where None keeps a size.
        return_indices: also return the flat position of each maximum.
    """
    found = apply(ADAPTIVE_MAX_POOL, (input,), (_adaptive("adaptive_max_pool2d", 2, input, output_size),))
    return found if return_indices else found[0]


# -- operator classes ------------------------------------------------------------------------------------------------


def _max_pool2d(x: Tensor, **settings: Any) -> Any:
    """Maxima of windows: ``MaxPool(kernel_size, strides, pad_mode)(x)``."""
    check_input("MaxPool", x, 2, lower=False)
    return max_pool("MaxPool", 2, x, padding=0, dilation=1, ceil_mode=False, indices=False, **settings)


def _avg_pool2d(x: Tensor, **settings: Any) -> Tensor:
    """Means of windows: ``AvgPool(kernel_size, strides, pad_mode)(x)``."""
    check_input("AvgPool", x, 2, lower=False)
    given: dict[str, Any] = {"padding": 0, "ceil_mode": False, "count_include_pad": False, "divisor_override": None}
    return avg_pool("AvgPool", 2, x, **given, **settings)


def _max_pool_with_argmax(x: Tensor, *, data_format: str, **settings: Any) -> Any:
    """Maxima of windows and their positions in (C, H, W): ``MaxPoolWithArgmax(kernel_size, strides, pad_mode)(x)``."""
    name = "MaxPoolWithArgmax"
    only(name, "NCHW", data_format=data_format)
    values, positions = max_pool(name, 2, x, padding=0, dilation=1, ceil_mode=False, indices=True, **settings)
    planes = np.arange(x.shape[1], dtype=np.int32).reshape((-1, 1, 1)) * (x.shape[2] * x.shape[3])
    return values, positions.astype(dtypes.int32) + Tensor(planes)


def _max_pool3d(x: Tensor, *, ceil_mode: Any, data_format: str, **settings: Any) -> Any:
    """Maxima of windows: ``MaxPool3D(kernel_size, strides, pad_mode)(x)``."""
    only("MaxPool3D", "NCDHW", data_format=data_format)
    return max_pool("MaxPool3D", 3, x, dilation=1, ceil_mode=bool(ceil_mode), indices=False, **settings)


def _avg_pool3d(x: Tensor, *, data_format: str, **settings: Any) -> Tensor:
    """Means of windows: ``AvgPool3D(kernel_size, strides, pad_mode)(x)``."""
    only("AvgPool3D", "NCDHW", data_format=data_format)
    return avg_pool("AvgPool3D", 3, x, **settings)


_OF_IMAGES: Final = "kernel_size=1, strides=1, pad_mode='valid', data_format='NCHW'"
_OF_VOLUMES: Final = "ceil_mode=False, count_include_pad=True, divisor_override=0, data_format='NCDHW'"
_RENAMED: Final = {"strides": "stride", "pad": "padding", "pad_list": "padding"}
operator_class("MaxPool", _max_pool2d, _OF_IMAGES, _RENAMED)
operator_class("AvgPool", _avg_pool2d, _OF_IMAGES, _RENAMED)
operator_class("MaxPoolWithArgmax", _max_pool_with_argmax, _OF_IMAGES, _RENAMED)
operator_class(
    "MaxPool3D",
    _max_pool3d,
    "kernel_size=1, strides=1, pad_mode='VALID', pad_list=0, ceil_mode=None, data_format='NCDHW'",
    _RENAMED,
)
operator_class("AvgPool3D", _avg_pool3d, f"kernel_size=1, strides=1, pad_mode='valid', pad=0, {_OF_VOLUMES}", _RENAMED)


@as_operator
def AdaptiveAvgPool2D(x: Tensor, *, output_size: Any) -> Tensor:
    """Means of as many windows as wanted: ``AdaptiveAvgPool2D(output_size)(x)``."""
    return adaptive_avg_pool2d(x, output_size)
