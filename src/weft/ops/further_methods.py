"""Tensor methods of single releases: those of functions here, forms of their own, and those that write.

`weft.ops.methods` has the ones that programs call most.
"""

from __future__ import annotations

import math as python_math
from typing import Any

import numpy as np

from weft import dtypes
from weft.core import Parameter, Tensor, add_method
from weft.ops import (
    activation,
    compare,
    create,
    elementwise,
    factors,
    former,
    gather,
    images,
    linalg,
    matmul,
    random,
    reduce,
    select,
    shape,
    sorting,
    space,
    state,
    statistics,
    trigonometry,
)
from weft.ops import index as indexing
from weft.ops._checks import bools, floats, no_generator
from weft.ops._rules import flat_numbers, tensor
from weft.ops.methods import attach_methods, in_place

_SAME: tuple[tuple[Any, str], ...] = (
    (activation, "hardshrink"),
    (create, "fills"),
    (elementwise, "inv"),
    (factors, "geqrf lstsq orgqr ormqr"),
    (former, "diagflat move_to soft_shrink"),
    (gather, "inplace_update unsorted_segment_max unsorted_segment_min unsorted_segment_prod"),
    (images, "fold"),
    (linalg, "eigvals log_matrix_determinant lu_solve matrix_determinant"),
    (random, "random_categorical"),
    (shape, "reverse"),
    (sorting, "top_k unique_with_pad"),
    (space, "col2im"),
    (statistics, "cov renorm"),
    (trigonometry, "igamma igammac"),
)
#: methods that add, divide... at rows, under the names that they have as functions of tensors
_SCATTERED = "div max min mul sub"


def _method_argmax_with_value(self: Any, axis: Any = 0, keep_dims: bool = False) -> Any:
    """The maxima along an axis, of all elements where it is None, and where they are."""
    return _with_value(reduce.max, self, axis, keep_dims)


def _method_argmin_with_value(self: Any, axis: Any = 0, keep_dims: bool = False) -> Any:
    """The minima along an axis, of all elements where it is None, and where they are."""
    return _with_value(reduce.min, self, axis, keep_dims)


def _with_value(function: Any, x: Any, axis: Any, keep_dims: bool) -> Any:
    found, at = function(x, axis, keep_dims)
    return found, at.astype(dtypes.int64)


def _method_cauchy(self: Any, median: float = 0.0, sigma: float = 1.0) -> Any:
    """Numbers of a Cauchy distribution in the shape of this tensor."""
    drawn = random.rand(self.shape, dtype=dtypes.float32)
    return (((drawn - 0.5) * python_math.pi).tan() * sigma + median).astype(self.dtype)


def _method_clone(self: Any) -> Any:
    """A copy, through which gradients flow."""
    return state.deepcopy(self)


def _method_log_normal(self: Any, mean: float = 1.0, std: float = 2.0) -> Any:
    """Numbers whose logarithms are of a normal distribution, in the shape of this tensor of floats."""
    if not self.dtype.is_floating:
        raise TypeError(f"log_normal: the tensor must be of floats, not of {self.dtype}")
    return (random.randn(self.shape, dtype=self.dtype) * std + mean).exp()


def _method_data_ptr(self: Any) -> int:
    """The address of the elements in memory."""
    return int(self.asnumpy().ctypes.data)


def _method_flush_from_cache(self: Any) -> None:
    """Write what caches hold of the tensor back to it: there are none."""


def _method_uniform(self: Any, from_: float = 0.0, to: float = 1.0, generator: Any = None) -> Any:
    """Numbers of a uniform distribution in the shape of this tensor."""
    no_generator("uniform", generator)
    if from_ > to:
        raise TypeError(f"uniform: from_ must not be larger than to, not {from_} and {to}")
    return random.rand(self.shape, dtype=self.dtype) * (to - from_) + from_


def _diagonal(x: Any, wrap: bool) -> Any:
    """Which elements the main diagonal has; it goes on below a tall matrix where it wraps."""
    if x.ndim < 2:
        raise ValueError(f"fill_diagonal: the tensor must have at least 2 dimensions, not shape {x.shape}")
    if x.ndim > 2 and len(set(x.shape)) > 1:
        raise ValueError(f"fill_diagonal: more than 2 dimensions must have one size, not {x.shape}")
    chosen = np.zeros(x.shape, bool)
    np.fill_diagonal(chosen, True, wrap)
    return Tensor(chosen)


def _method_fill_diagonal(self: Any, fill_value: float, wrap: bool = False) -> Any:
    """A copy with a number on the main diagonal."""
    floats("fill_diagonal", fill_value=fill_value)
    return _filled_diagonal(self, fill_value, wrap)


def _filled_diagonal(self: Any, fill_value: Any, wrap: bool = False) -> Any:
    return select.masked_fill(self, _diagonal(self, wrap), fill_value)


def _method_get_bytes(self: Any) -> bytes:
    """The elements as bytes."""
    return np.asarray(self.concrete("get_bytes()")).tobytes()


def _method_index(self: Any, indices: Any) -> Any:
    """Elements by a tensor of positions for each of the first dimensions."""
    if not isinstance(indices, (tuple, list)):
        raise TypeError(f"index: the indices must be a tuple of tensors, not {type(indices).__name__}")
    return self[tuple(indices)]


def _method_index_put(self: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """A copy with elements written, or added, by a tensor of positions for each of the first dimensions."""
    if not isinstance(indices, (tuple, list)):
        raise TypeError(f"index_put: the indices must be a tuple of tensors, not {type(indices).__name__}")
    bools("index_put", accumulate=accumulate)
    return indexing.updated(self, tuple(indices), values, accumulate)


def _method_is_init(self: Any) -> bool:
    """Whether an initializer waits: never, elements are there from the beginning."""
    return False


def _method_is_pinned(self: Any) -> bool:
    """Whether the elements are in memory that is kept for transfers: never."""
    return False


def _method_is_shared(self: Any) -> bool:
    """Whether the elements are in memory that processes share: never."""
    return False


def _method_pin_memory(self: Any) -> Any:
    """The tensor itself."""
    return self


def _method_approximate_equal(self: Any, other: Any, tolerance: float = 1e-5) -> Any:
    """Whether elements differ by less than a tolerance; see `ops.approximate_equal`.

    Raises:
        ValueError: `other` is no tensor.
    """
    if not isinstance(other, Tensor):
        raise ValueError(f"approximate_equal: other must be a Tensor, not {type(other).__name__}")
    return compare.approximate_equal(self, other, tolerance)


def _method_new_empty(self: Any, size: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """A tensor of another shape and this element type, whose elements are zeros."""
    return create.zeros(flat_numbers((size,)), self.dtype if dtype is None else dtype)


def _method_qr(self: Any, some: bool = True) -> Any:
    """The QR decomposition; without `some` with a square first factor."""
    return linalg.qr(self, "reduced" if some else "complete")


def _method_requires_grad_(self: Any, requires_grad: bool = True) -> Any:
    """Say whether a parameter is trained; returns the tensor."""
    bools("requires_grad_", requires_grad=requires_grad)
    if isinstance(self, Parameter):
        self.requires_grad = requires_grad
    return self


def _method_reshape_as(self: Any, other: Any) -> Any:
    """The same elements in the shape of another tensor."""
    return shape.reshape(self, other.shape)


def _method_reverse_sequence(self: Any, seq_lengths: Any, seq_dim: int = 0, batch_dim: int = 0) -> Any:
    """The beginnings of sequences reversed; see `ops.reverse_sequence`."""
    return shape.reverse_sequence(self, seq_lengths, seq_dim, batch_dim)


def _method_scatter_add(self: Any, *args: Any, **named: Any) -> Any:
    """``x.scatter_add(dim, index, src)``: add single elements; ``x.scatter_add(indices, updates)``: add rows."""
    names = ("dim", "index", "src") if "dim" in named or len(args) + len(named) == 3 else ("indices", "updates")
    given = {**dict(zip(names, args, strict=False)), **named}
    if len(args) > len(names) or set(given) != set(names) or len(given) != len(args) + len(named):
        raise TypeError("scatter_add() takes dim, index and src, or indices and updates")
    if len(names) == 2:
        return gather.tensor_scatter_add(self, given["indices"], given["updates"])
    return gather.tensor_scatter_elements(self, given["index"], given["src"], given["dim"], "add")


def _scattered(name: str) -> Any:
    function = getattr(gather, f"tensor_scatter_{name}")

    def method(self: Any, indices: Any, updates: Any) -> Any:
        return function(self, indices, updates)

    method.__name__, method.__qualname__ = f"scatter_{name}", f"Tensor.scatter_{name}"
    method.__doc__ = f"See `ops.tensor_scatter_{name}`."
    return method


def _method_set_const_arg(self: Any, const_arg: bool = True) -> Any:
    """Accepted; returns the tensor."""
    bools("set_const_arg", const_arg=const_arg)
    return self


#: element types whose sums are of int64
_SUMMED = frozenset({dtypes.bool_, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.uint8})


def _method_sum_to_size(self: Any, *size: Any) -> Any:
    """The sums over the dimensions in which a smaller shape has the size 1, or which it lacks."""
    if any(isinstance(each, str) for each in size):
        raise ValueError(f"sum_to_size: sizes are ints, not {size}")
    wanted = flat_numbers(size)
    given = self.shape[max(self.ndim - len(wanted), 0) :]
    if len(wanted) != len(given) or any(w not in (1, g) for w, g in zip(wanted, given, strict=True)):
        raise ValueError(f"sum_to_size: {wanted} does not expand to the shape {self.shape}")
    return shape.sum_to(self.astype(dtypes.int64) if self.dtype in _SUMMED else self, wanted)


def _method_triangular_solve(
    self: Any, A: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """The solution of ``A @ x = self`` with a triangular matrix, and that matrix."""
    return linalg.triangular_solve(A, self, not upper, transpose, unitriangular), A


def _method_to_(self: Any, device: Any = None, non_blocking: bool = False) -> Any:
    """The tensor itself, on the one device that there is.

    Raises:
        ValueError: no device is given.
    """
    if not isinstance(device, str):
        raise ValueError(f"to_: a device is expected, not {device!r}")
    return self


# -- those that write ------------------------------------------------------------------------------------------------


def _exponential(self: Any, lambd: float = 1, *, generator: Any = None) -> Any:
    no_generator("exponential_", generator)
    if not lambd > 0:
        raise ValueError(f"exponential_: lambd must be positive, not {lambd}")
    return -(1 - random.rand(self.shape, dtype=dtypes.float32)).log() / lambd


def _put(self: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    positions, elements = tensor(index), tensor(source)
    if positions.dtype not in (dtypes.int64, dtypes.int32):
        raise TypeError(f"put_: the index must be of int64, not of {positions.dtype}")
    if elements.dtype is not self.dtype:
        raise TypeError(f"put_: the source is {elements.dtype}, the tensor {self.dtype}")
    if positions.size != elements.size:
        raise ValueError(f"put_: {positions.size} positions do not fit {elements.size} elements")
    reduction = "add" if accumulate else "none"
    flat = gather.tensor_scatter_elements(self.ravel(), positions.ravel(), elements.ravel(), 0, reduction)
    return flat.reshape(self.shape)


def _index_copied(self: Any, dim: int, index: Any, tensor: Any) -> Any:
    axis = dim % self.ndim if self.ndim else 0
    return indexing.updated(self, (*(slice(None),) * axis, index), tensor, False)


_IN_PLACE = {
    "addmm_": matmul.addmm,
    "erfinv_": trigonometry.erfinv,
    "exponential_": _exponential,
    "fill_diagonal_": _filled_diagonal,
    "index_copy_": _index_copied,
    "put_": _put,
    "scatter_add_": _method_scatter_add,
    "sign_": elementwise.sign,
}


def _data(self: Any) -> Any:
    return self.detach()


def _set_data(self: Any, data: Any) -> None:
    self.assign_value(data)


_PROPERTIES: dict[str, tuple[Any, Any, str]] = {
    "data": (_data, _set_data, "A view of all elements that is a constant for every gradient; setting it writes them."),
    "mH": (linalg.adjoint, None, "Conjugate transpose of the last two axes."),
    "is_meta": (lambda self: False, None, "Whether the tensor has no elements, only a shape: never."),
    "init_finished": (lambda self: True, None, "Whether the elements are there: always."),
    "symbolic_shape": (lambda self: None, None, "Sizes that are known as expressions: none."),
    "const_arg": (lambda self: False, None, "Whether graphs hold the tensor as a constant where it is given: never."),
}


def _attach() -> None:
    for module, names in _SAME:
        for name in names.split():
            add_method(name, getattr(module, name))
    for name in _SCATTERED.split():
        add_method(f"scatter_{name}", _scattered(name))
    attach_methods(globals())
    for name, function in _IN_PLACE.items():
        add_method(name, in_place(name, function))
    for name, (getter, setter, sentence) in _PROPERTIES.items():
        setattr(Tensor, name, property(getter, setter, doc=sentence))


_attach()
