"""The Tensor methods: those whose form differs from the functional one, and the list of those that are the same.

Declarations attach their own methods (`method=...`); this module attaches the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import prod as product
from types import FunctionType
from typing import Any

import numpy as np

# modules of whose names `weft.ops` has a function
import weft.ops.gather as gather
import weft.ops.matmul as matmul
import weft.ops.select as select
import weft.ops.shape as shapes
from weft import dtypes
from weft.core import Parameter, Tensor, add_method, choice, data_of, keeps, sharing, transparent
from weft.core.lending import part
from weft.errors import NoTensor
from weft.ops import (
    binary,
    compare,
    create,
    cumulative,
    elementwise,
    images,
    joining,
    linalg,
    logic,
    math,
    random,
    reduce,
    sorting,
    state,
    statistics,
)
from weft.ops import index as indexing
from weft.ops._checks import no_generator, one_of
from weft.ops._operands import refusing
from weft.ops._rules import flat_numbers, numbers, one_axis, tensor

# -- methods that are functions under the same name ---------------------------------------------------------------

_SAME: tuple[tuple[Any, str], ...] = (
    (binary, "addcdiv addcmul float_power squared_difference logaddexp logaddexp2 heaviside ldexp gcd lcm nextafter"),
    (cumulative, "cummax cummin cumprod logcumsumexp diff"),
    (elementwise, "frac is_complex is_floating_point round sgn"),
    (gather, "gather_elements gather_nd index_add index_fill index_select scatter select_scatter slice_scatter"),
    (gather, "tensor_scatter_add tensor_scatter_div tensor_scatter_max tensor_scatter_min tensor_scatter_mul take"),
    (gather, "tensor_scatter_sub tensor_scatter_update diagonal_scatter"),
    (joining, "chunk split tensor_split unbind hsplit vsplit dsplit narrow"),
    (linalg, "logdet adjoint matrix_power cholesky_inverse cholesky_solve svd"),
    (math, "div_no_nan real_div positive"),
    (matmul, "addbmm addmm addmv addr baddbmm bmm matmul mm mv outer inner dot cross ger"),
    (random, "bernoulli multinomial"),
    (reduce, "amax amin aminmax ptp"),
    (select, "clamp masked_fill clip"),
    (shapes, "diag diag_embed expand_as expand_dims flip fliplr flipud moveaxis movedim repeat_interleave"),
    (shapes, "roll rot90 squeeze swapaxes swapdims t tril triu unsqueeze ravel"),
    (sorting, "argwhere bincount bucketize histc masked_scatter masked_select msort topk"),
    (sorting, "unique unique_consecutive nonzero mode kthvalue"),
    (statistics, "count_nonzero median nanmean nanmedian nanquantile nansum norm quantile"),
)


# -- forms that several methods share ----------------------------------------------------------------------------------


def _truth(name: str) -> Any:
    function = getattr(reduce, name)

    def method(
        self: Any,
        axis: Any = None,
        keep_dims: bool = False,
        *,
        keepdims: bool = False,
        dim: Any = None,
        keepdim: bool = False,
    ) -> Any:
        return function(self, axis if dim is None else dim, keep_dims or keepdims or keepdim)

    method.__doc__ = f"Whether {name} of the elements are true, over axes; see `ops.{name}`."
    return method


def _extreme(name: str) -> Any:
    """`Tensor.max` and `Tensor.min`: with an axis by position or as `dim` also where the element is."""
    both, value = getattr(reduce, name), getattr(reduce, f"a{name}")

    def method(
        self: Any,
        *dims: Any,
        axis: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
        return_indices: bool = False,
        dim: Any = None,
        keepdim: bool = False,
    ) -> Any:
        if len(dims) > 2:
            raise TypeError(f"{name}() takes an axis and whether to keep it by position, not {len(dims)} arguments")
        kept = dims[1] if len(dims) == 2 else keepdims or keepdim
        if dims and isinstance(dims[0], int):
            dim = dims[0]
        elif dims:
            axis = dims[0]
        if dim is not None:
            return both(self, dim, kept)
        if return_indices:
            return both(self, axis, kept, initial=initial, where=None if where is True else where)
        return value(self, axis, kept and axis is not None, initial=initial, where=where)

    method.__doc__ = (
        f"The {name}imum over axes: ``x.{name}()``, ``x.{name}(axis=0)``; values and int64 positions along an axis: "
        f"``x.{name}(0)``, ``x.{name}(dim=0)``, ``x.{name}(axis=0, return_indices=True)``."
    )
    return method


def of_itself(sentence: str, compute: Callable[[Any], Any], returns: str = "Any") -> Any:
    """A method without arguments.

    Args:
        sentence: what it gives.
        compute: how.
        returns: of which type that is.
    """

    def method(self: Any) -> Any:
        return compute(self)

    method.__doc__, method.__annotations__["return"] = sentence, returns
    return method


def _caster(dtype: Any) -> Any:
    return of_itself(f"Convert to {dtype}.", lambda self: state.cast(self, dtype))


def _some(name: str, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of a method, of which there must be one at least."""
    if not given:
        raise TypeError(f"{name}() needs an argument: the shape")
    return given


def _scaled(x: Any, alpha: Any) -> Any:
    return x if alpha == 1 else math.mul(tensor(x), alpha)


class _Methods:
    """Methods of a form of their own, each attached to `Tensor` under its name."""

    # -- reductions

    def sum(
        self: Any,
        axis: Any = None,
        dtype: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        *,
        dim: Any = None,
        keepdim: bool = False,
    ) -> Any:
        """Sum over axes; see `ops.sum`; ``x.sum(axis, dtype, keepdims)`` or ``x.sum(dim, keepdim)``."""
        if isinstance(dtype, bool):
            dtype, keepdim = None, dtype
        total = reduce.sum(self, axis if dim is None else dim, keepdims or keepdim, dtype=dtype)
        return total if initial is None else total + initial

    def prod(
        self: Any,
        axis: Any = None,
        keep_dims: bool = False,
        dtype: Any = None,
        *,
        keepdims: bool = False,
        dim: Any = None,
        keepdim: bool = False,
    ) -> Any:
        """Product over axes; see `ops.prod`."""
        return reduce.prod(self, axis if dim is None else dim, keep_dims or keepdims or keepdim, dtype)

    def mean(
        self: Any,
        axis: Any = None,
        keep_dims: bool = False,
        *,
        keepdims: bool = False,
        dtype: Any = None,
        dim: Any = None,
        keepdim: bool = False,
    ) -> Any:
        """Mean over axes; see `ops.mean`."""
        return reduce.mean_ext(self, axis if dim is None else dim, keep_dims or keepdims or keepdim, dtype=dtype)

    all, any = _truth("all"), _truth("any")
    max, min = _extreme("max"), _extreme("min")

    def argmax(self: Any, axis: Any = None, keepdims: bool = False, *, dim: Any = None, keepdim: bool = False) -> Any:
        """Position of the largest element; see `ops.argmax`."""
        return reduce.argmax(self, axis if dim is None else dim, keepdims or keepdim)

    def argmin(self: Any, axis: Any = None, keepdims: bool = False, *, dim: Any = None, keepdim: bool = False) -> Any:
        """Position of the smallest element; see `ops.argmin`."""
        return reduce.argmin(self, axis if dim is None else dim, keepdims or keepdim)

    def diagonal(
        self: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, *, dim1: Any = None, dim2: Any = None
    ) -> Any:
        """The elements of a diagonal; see `ops.diagonal`."""
        return shapes.diagonal(self, offset, axis1 if dim1 is None else dim1, axis2 if dim2 is None else dim2)

    def trace(self: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Any:
        """The sum of a diagonal; of integers, int64; of bools, whether any is true."""
        if self.dtype is dtypes.bool_ and dtype is None:
            return reduce.any(shapes.diagonal(self, offset, axis1, axis2), -1)
        return reduce.sum(shapes.diagonal(self, offset, axis1, axis2), -1, dtype=dtype)

    def logsumexp(self: Any, dim: Any, keepdim: bool = False) -> Any:
        """Logarithm of the sum of exponentials over axes; see `ops.logsumexp`."""
        return statistics.logsumexp(self, dim, keepdim)

    def std(
        self: Any, axis: Any = None, ddof: Any = 0, keepdims: bool = False, *, dim: Any = None, keepdim: bool = False
    ) -> Any:
        """Standard deviation over axes; see `ops.std`."""
        return statistics.std(self, axis if dim is None else dim, ddof, keepdims or keepdim)

    def var(
        self: Any, axis: Any = None, ddof: Any = 0, keepdims: bool = False, *, dim: Any = None, keepdim: bool = False
    ) -> Any:
        """Variance over axes; see `ops.var`."""
        return statistics.var(self, axis if dim is None else dim, ddof, keepdims or keepdim)

    def cumsum(self: Any, axis: Any = None, dtype: Any = None, *, dim: Any = None) -> Any:
        """Running sum along an axis; without one, of the flattened tensor. Bools and 8 and 16 bits give int32."""
        axis = axis if dim is None else dim
        if dtype is None and self.dtype.category < 2 and self.dtype.itemsize < 4:
            dtype = dtypes.int32
        return cumulative.cumsum(shapes.ravel(self), 0, dtype) if axis is None else cumulative.cumsum(self, axis, dtype)

    # -- shapes

    def reshape(self: Any, *shape: Any) -> Any:
        """The same elements in another shape: ``x.reshape(2, 3)`` or ``x.reshape((2, 3))``."""
        return shapes.reshape(self, flat_numbers(_some("reshape", shape)))

    def view_as(self: Any, other: Any) -> Any:
        """The same elements in the shape of another tensor."""
        if not isinstance(other, Tensor):
            raise NoTensor(f"view_as() takes a tensor, not {type(other).__name__}")
        return shapes.reshape(self, other.shape)

    def transpose(self: Any, *axes: Any) -> Any:
        """Permute the dimensions; without arguments reverse them."""
        if not axes or axes == (None,):
            return shapes.transpose(self, tuple(reversed(range(self.ndim))))
        return shapes.transpose(self, flat_numbers(axes))

    def flatten(self: Any, order: str = "C", *, start_dim: int = 0, end_dim: int = -1) -> Any:
        """Join several dimensions into one; all of them by default."""
        return shapes.flatten(self, order, start_dim=start_dim, end_dim=end_dim)

    def broadcast_to(self: Any, *shape: Any) -> Any:
        """Repeat a tensor to a larger shape; see `ops.broadcast_to`."""
        return shapes.broadcast_to(self, flat_numbers(_some("broadcast_to", shape)))

    def expand(self: Any, *size: Any) -> Any:
        """Repeat dimensions of size 1 to a larger shape; -1 keeps a dimension."""
        return shapes.broadcast_to(self, flat_numbers(_some("expand", size)))

    def tile(self: Any, *dims: Any) -> Any:
        """Repeat the whole tensor along its dimensions; see `ops.tile`."""
        return shapes.tile(self, flat_numbers(_some("tile", dims)))

    def repeat(self: Any, repeats: Any, axis: Any = None) -> Any:
        """Repeat each element, along an axis or of the flattened tensor (as NumPy)."""
        return shapes.repeat_interleave(self, repeats, axis)

    def resize(self: Any, *new_shape: Any) -> Any:
        """The elements in another shape, cut off or filled with zeros."""
        wanted = flat_numbers(new_shape)
        count = int(np.prod(wanted, dtype=np.int64))
        flat = shapes.ravel(self)
        if count > self.size:
            flat = joining.zero_pad(flat, (0,), (count - self.size,))
        return shapes.reshape(flat[:count], wanted)

    def unfold(self: Any, *args: Any, **named: Any) -> Any:
        """``x.unfold(dimension, size, step)``: windows of an axis as a new last dimension;
        ``x.unfold(kernel_size, dilation=1, padding=0, stride=1)``: patches of images, see `ops.unfold`.
        """
        windows = len(args) == 3 and not named and all(isinstance(each, int) for each in args)
        if windows or not {"dimension", "size", "step"}.isdisjoint(named):
            return joining.unfold_windows(self, *args, **named)
        return images.unfold(self, *args, **named)

    # -- types

    def astype(self: Any, dtype: Any, copy: bool = True) -> Any:
        """Convert to an element type; see `ops.cast`. Python's ``float`` is float64."""
        return state.cast(self, dtypes.float64 if dtype is float else dtype)

    def type_as(self: Any, other: Any) -> Any:
        """Convert to the element type of another tensor."""
        return state.cast(self, other.dtype)

    def to(self: Any, *args: Any, **kwargs: Any) -> Any:
        """Convert to an element type (or to that of another tensor); a device is accepted and ignored."""
        wanted = kwargs.get("dtype")
        for arg in args:
            if isinstance(arg, Tensor):
                wanted = arg.dtype
            elif not isinstance(arg, (str, bool)) or arg in ("float32", "float16", "int32", "int64"):
                wanted = arg
        return self if wanted is None else state.cast(self, wanted)

    # -- copies and writes

    copy = of_itself("A tensor of the same elements that later writes to this one do not change.", state.deepcopy)
    value = of_itself("The current value as a plain tensor.", state.current_value)

    @keeps
    def __deepcopy__(self: Any, memodict: Any) -> Any:
        """The same for `copy.deepcopy`, through which gradients flow as through `copy`."""
        del memodict
        return state.deepcopy(self)

    def assign_value(self: Any, value: Any) -> Any:
        """Take the value of another tensor."""
        new = state.current_value(tensor(value))
        part(self)
        return self.rebind(new)

    def set_data(self: Any, data: Any) -> Any:
        """Take the value of another tensor."""
        return _Methods.assign_value(self, data)

    def fill(self: Any, value: Any) -> Any:
        """A tensor of this shape and element type filled with a number."""
        return create.full(self.shape, value, dtype=self.dtype)

    def itemset(self: Any, *args: Any) -> Any:
        """A copy with another value of one element: ``x.itemset(value)`` or ``x.itemset(index, value)``."""
        found = self.copy()
        if len(args) == 1:
            if self.size != 1:
                raise IndexError(f"itemset(value) needs a tensor with one element, this one has shape {self.shape}")
            found[(0,) * self.ndim] = args[0]
            return found
        index, value = args
        if isinstance(index, tuple):
            found[index] = value
        else:
            if not -self.size <= index < self.size:
                raise IndexError(f"itemset: index {index} is out of bounds for a tensor of {self.size} elements")
            found[np.unravel_index(index % self.size, self.shape)] = value
        return found

    def add(self: Any, other: Any, *, alpha: Any = 1) -> Any:
        return math.add(self, _scaled(other, alpha))

    def sub(self: Any, other: Any, *, alpha: Any = 1) -> Any:
        return math.sub(self, _scaled(other, alpha))

    @transparent
    def allclose(self: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
        """Whether all elements are close, as a bool."""
        return compare.allclose(self, other, rtol, atol, equal_nan).item()

    # -- choosing

    def where(self: Any, condition: Any, y: Any) -> Any:
        """These elements where the condition holds, else those of `y`."""
        return select.where(condition, self, y)

    def select(self: Any, *args: Any) -> Any:
        """``x.select(condition, y)``: elements by a condition; ``x.select(axis, index)``: one slice along an axis."""
        if len(args) != 2:
            raise TypeError(
                f"select() takes a condition and a tensor, or an axis and an index, not {len(args)} arguments"
            )
        first, second = args
        if isinstance(first, Tensor):
            return select.where(first, self, second)
        axis = one_axis("select", first, self.ndim)
        return self[(slice(None),) * axis + (second,)]

    def choose(self: Any, choices: Any, mode: str = "clip") -> Any:
        """For each position the element of the tensor that this integer tensor names."""
        return select.choose(self.clip(0, len(choices) - 1) if mode == "clip" else self % len(choices), choices)

    def sort(self: Any, axis: int = -1, descending: bool = False, *, dim: int | None = None) -> Any:
        """The elements in ascending order along an axis, and their positions; see `ops.sort`."""
        return sorting.sort(self, axis if dim is None else dim, descending)

    def argsort(self: Any, axis: int = -1, descending: bool = False, *, dim: int | None = None) -> Any:
        """The positions of the elements in ascending order; see `ops.argsort`."""
        return sorting.argsort(self, axis if dim is None else dim, descending)

    def searchsorted(self: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
        """Where values would be inserted into this sorted tensor, as int32."""
        one_of("searchsorted", ("left", "right"), side=side)
        ordered = self if sorter is None else gather.gather(self, sorter, 0)
        return sorting.searchsorted(ordered, v, out_int32=True, right=side == "right")

    def gather(self: Any, input_indices: Any = None, axis: Any = None, batch_dims: int = 0, **named: Any) -> Any:
        """``x.gather(indices, axis)``: slices; ``x.gather(dim, index)``: single elements, see `ops.gather_elements`."""
        dim, index = named.pop("dim", input_indices), named.pop("index", axis)
        if named:
            raise TypeError(f"gather() got an unexpected keyword argument {next(iter(named))!r}")
        if isinstance(index, Tensor) and not isinstance(dim, Tensor):
            return gather.gather_elements(self, dim, index)
        return gather.gather(self, input_indices, axis, batch_dims)

    # -- new tensors

    def new_zeros(self: Any, size: Any, dtype: Any = None) -> Any:
        """Zeros of another shape and this element type."""
        return create.zeros(numbers(size), self.dtype if dtype is None else dtype)

    def new_ones(self: Any, size: Any, dtype: Any = None) -> Any:
        """Ones of another shape and this element type."""
        return create.ones(numbers(size), self.dtype if dtype is None else dtype)

    def new_full(self: Any, size: Any, fill_value: Any, *, dtype: Any = None) -> Any:
        """One number in another shape and this element type."""
        return create.full(size, fill_value, dtype=self.dtype if dtype is None else dtype)

    def new_tensor(self: Any, data: Any, *, dtype: Any = None) -> Any:
        """A tensor of other data and this element type."""
        return Tensor(data, self.dtype if dtype is None else dtype)

    # -- facts

    dim = of_itself("Number of dimensions.", lambda self: int(self.ndim), "int")
    numel = of_itself("Number of elements.", lambda self: int(self.size), "int")
    storage_offset = of_itself("The first element's place among those that the tensor has: 0.", lambda self: 0, "int")
    is_signed = of_itself("Whether the element type has negative values.", lambda self: self.dtype.is_signed, "bool")
    is_contiguous = of_itself(
        "Whether the elements lie in order, one after the other; those of a view may lie otherwise in its base.",
        sharing.is_contiguous,
        "bool",
    )

    def stride(self: Any, dim: int | None = None) -> Any:
        """Elements from one position of an axis to the next; of all axes, as a list, without an axis."""
        steps = [product(self.shape[at + 1 :]) for at in range(self.ndim)]
        return steps if dim is None else steps[one_axis("stride", dim, self.ndim)]

    def init_data(self: Any, *_: Any, **__: Any) -> Any:
        """The tensor itself, which has its elements from the beginning."""
        return self

    def contiguous(self: Any) -> Any:
        """The tensor itself if it is contiguous, else a copy."""
        return self if sharing.is_contiguous(self) else state.deepcopy(self)

    def detach(self: Any) -> Any:
        """A view of all elements that is a constant for every gradient."""
        return sharing.share(state.stop_gradient(self), self, ("detach", None, ()))

    def data_sync(self: Any, need_wait: bool = True) -> None:
        """Wait until the value is computed."""
        if need_wait and not self.is_symbolic:
            data_of(self).block_until_ready()

    # -- operators that are no declarations

    def __divmod__(self: Any, other: Any) -> Any:
        return math.floor_div(self, other), math.floor_mod(self, other)

    def __rdivmod__(self: Any, other: Any) -> Any:
        return math.floor_div(other, self), math.floor_mod(other, self)

    def __invert__(self: Any) -> Any:
        return logic.logical_not(self.astype(dtypes.bool_))

    def __round__(self: Any, ndigits: int | None = None) -> Any:
        return elementwise.round(self, decimals=ndigits or 0)

    # -- properties

    T = property(lambda self: shapes.transpose(self, tuple(reversed(range(self.ndim)))), doc="All axes reversed.")
    mT = property(lambda self: shapes.swapaxes(self, -1, -2), doc="Transpose of the last two axes.")
    H = property(linalg.adjoint, doc="Conjugate transpose of the last two axes.")
    has_init = property(
        lambda self: False, doc="Whether an initializer waits: never, elements are there from the beginning."
    )
    init = property(lambda self: None, doc="The initializer that waits: none.")

    @property
    def device(self: Any) -> str:
        """Kind of device that holds the values: CPU, GPU or TPU."""
        return "CPU" if self.is_symbolic else str(next(iter(data_of(self).devices())).platform).upper()


# -- methods that write ------------------------------------------------------------------------------------------------


def _in_place(name: str, function: Any) -> Any:
    """A method that writes what a function makes of the tensor, and returns the tensor."""

    def write(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = function(self, *args, **kwargs)
        if result.shape != self.shape:
            raise ValueError(f"{name}: the result has shape {result.shape}, which does not fit into shape {self.shape}")
        return self.rebind(state.current_value(state.cast(result, self.dtype)))

    write.__doc__ = f"Replace the tensor's value by ``{name.rstrip('_')}`` of it; returns the tensor."
    return write


def _by_method(name: str) -> Any:
    def compute(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(self, name)(*args, **kwargs)

    return compute


class _Written:
    """What methods give the tensor as its value, each under the name of the method."""

    add_, sub_, fill_ = _Methods.add, _Methods.sub, _Methods.fill

    def copy_(self: Any, source: Any) -> Any:
        return shapes.broadcast_to(tensor(source), self.shape)

    def zero_(self: Any) -> Any:
        return shapes.zeros_of(self)

    def index_add_(self: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
        return gather.index_add(self, index, _scaled(source, alpha), dim)

    def index_put_(self: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
        if not isinstance(indices, (tuple, list)):
            raise TypeError(f"index_put_: indices must be a tuple or list of tensors, not {type(indices).__name__}")
        return indexing.updated(self, tuple(indices), values, accumulate)

    def random_(self: Any, from_: int = 0, to: int | None = None) -> Any:
        return random.randint(from_, 2**24 if to is None else to, self.shape, dtype=self.dtype)

    def bernoulli_(self: Any, p: Any = 0.5) -> Any:
        return random.bernoulli(self, p)

    def uniform_(self: Any, from_: float = 0.0, to: float = 1.0, *, generator: Any = None) -> Any:
        no_generator("uniform_", generator)
        drawn = random.rand(self.shape, dtype=self.dtype)
        return drawn * (to - from_) + from_

    def normal_(self: Any, mean: float = 0.0, std: float = 1.0) -> Any:
        return random.randn(self.shape, dtype=self.dtype) * std + mean


#: functions of which each has a method that writes, under its name with an underscore
_BY_FUNCTION: tuple[tuple[Any, str], ...] = (
    (elementwise, "abs ceil exp floor log sqrt"),
    (gather, "index_fill scatter"),
    (math, "div mul neg pow square"),
    (select, "clamp masked_fill"),
    (sorting, "masked_scatter"),
)
#: methods of which each has one
_BY_METHOD = "sigmoid tanh relu floor_divide remainder round trunc sin cos rsqrt reciprocal erf"


def _parameter_in_place(symbol: str, function: Any) -> Any:
    def write(self: Any, other: Any) -> Any:
        state.write(self, function(self, other), f"Parameter {symbol}")
        return self

    return write


# -- all together ---------------------------------------------------------------------------------------------------

_ALIASES = {"view": "reshape", "permute": "transpose", "eq": "equal", "nelement": "numel", "ndimension": "dim"}
_CASTERS = {
    "float": dtypes.float32, "int": dtypes.int32, "long": dtypes.int64, "half": dtypes.float16,
    "double": dtypes.float64, "bool": dtypes.bool_, "byte": dtypes.uint8, "short": dtypes.int16,
    "bfloat16": dtypes.bfloat16,
}  # fmt: skip
_OPERATORS = {
    "__neg__": math.neg, "__pos__": math.positive, "__abs__": elementwise.abs,
    "__floor__": elementwise.floor, "__ceil__": elementwise.ceil, "__trunc__": elementwise.trunc,
}  # fmt: skip
#: operators that write parameters
_AUGMENTED = (
    ("+=", "__iadd__", math.add), ("-=", "__isub__", math.sub), ("*=", "__imul__", math.mul),
    ("/=", "__itruediv__", math.real_div), ("//=", "__ifloordiv__", math.floor_div),
    ("%=", "__imod__", math.floor_mod), ("**=", "__ipow__", math.pow),
)  # fmt: skip


def listed(rows: Iterable[tuple[Any, str]]) -> Iterator[tuple[str, Any]]:
    """The names in rows of modules, and what the modules have under them."""
    for module, names in rows:
        for name in names.split():
            yield name, getattr(module, name)


def attach(methods: Mapping[str, Any]) -> None:
    """Attach the functions and properties in the namespace of a class to `Tensor`, each under its name."""
    for name, value in methods.items():
        if isinstance(value, property):
            setattr(Tensor, name, value)
        elif isinstance(value, FunctionType):
            value.__name__, value.__qualname__ = name, f"Tensor.{name}"
            add_method(name, value)


def attach_written(functions: Mapping[str, Any]) -> None:
    """Attach methods that give the tensor what functions make of it as its value, each under its name."""
    found = [(name, value) for name, value in functions.items() if isinstance(value, FunctionType)]
    for name, function in found:
        if function.__name__ == name:  # made for the method, which messages name
            function.__qualname__ = f"Tensor.{name}"
    attach({name: _in_place(name, function) for name, function in found})


def _attach() -> None:
    for name, function in listed(_SAME):
        add_method(name, function if hasattr(function, "primitive") else refusing(function, __name__))
    attach(vars(_Methods))
    for alias, name in _ALIASES.items():
        add_method(alias, getattr(Tensor, name))
    attach({name: _caster(dtype) for name, dtype in _CASTERS.items()})
    attach_written(vars(_Written))
    attach_written({f"{name}_": function for name, function in listed(_BY_FUNCTION)})
    attach_written({f"{name}_": _by_method(name) for name in _BY_METHOD.split()})
    for name, function in _OPERATORS.items():
        setattr(Tensor, name, function)
    for symbol, name, function in _AUGMENTED:
        setattr(Parameter, name, _parameter_in_place(symbol, function))
    choice.complete()


_attach()
