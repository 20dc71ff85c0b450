"""Tensor methods of single releases: those of functions here, forms of their own, and those that write.

`weft.ops.methods` has the ones that programs call most.
"""

from __future__ import annotations

import math
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
from weft.ops.methods import attach, attach_written, listed, of_itself

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


def _with_value(found: Any, at: Any) -> Any:
    return found, at.astype(dtypes.int64)


def _scattered(name: str) -> Any:
    function = getattr(gather, f"tensor_scatter_{name}")

    def method(self: Any, indices: Any, updates: Any) -> Any:
        return function(self, indices, updates)

    method.__doc__ = f"See `ops.tensor_scatter_{name}`."
    return method


def _diagonal(x: Any, wrap: bool) -> Any:
    """Which elements the main diagonal has; it goes on below a tall matrix where it wraps."""
    if x.ndim < 2:
        raise ValueError(f"fill_diagonal: the tensor must have at least 2 dimensions, not shape {x.shape}")
    if x.ndim > 2 and len(set(x.shape)) > 1:
        raise ValueError(f"fill_diagonal: more than 2 dimensions must have one size, not {x.shape}")
    chosen = np.zeros(x.shape, bool)
    np.fill_diagonal(chosen, True, wrap)
    return Tensor(chosen)


def _filled_diagonal(self: Any, fill_value: Any, wrap: bool = False) -> Any:
    return select.masked_fill(self, _diagonal(self, wrap), fill_value)


#: element types whose sums are of int64
_SUMMED = frozenset({dtypes.bool_, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.uint8})


def _never(self: Any) -> bool:
    return False


class _Methods:
    """Methods of a form of their own, each attached to `Tensor` under its name."""

    clone = of_itself("A copy, through which gradients flow.", state.deepcopy)
    data_ptr = of_itself("The address of the elements in memory.", lambda self: int(self.asnumpy().ctypes.data), "int")
    flush_from_cache = of_itself(
        "Write what caches hold of the tensor back to it: there are none.", lambda self: None, "None"
    )
    get_bytes = of_itself(
        "The elements as bytes.", lambda self: np.asarray(self.concrete("get_bytes()")).tobytes(), "bytes"
    )
    is_init = of_itself("Whether an initializer waits: never, elements are there from the beginning.", _never, "bool")
    is_pinned = of_itself("Whether the elements are in memory that is kept for transfers: never.", _never, "bool")
    is_shared = of_itself("Whether the elements are in memory that processes share: never.", _never, "bool")
    pin_memory = of_itself("The tensor itself.", lambda self: self)

    def argmax_with_value(self: Any, axis: Any = 0, keep_dims: bool = False) -> Any:
        """The maxima along an axis, of all elements where it is None, and where they are."""
        return _with_value(*reduce.max(self, axis, keep_dims))

    def argmin_with_value(self: Any, axis: Any = 0, keep_dims: bool = False) -> Any:
        """The minima along an axis, of all elements where it is None, and where they are."""
        return _with_value(*reduce.min(self, axis, keep_dims))

    def cauchy(self: Any, median: float = 0.0, sigma: float = 1.0) -> Any:
        """Numbers of a Cauchy distribution in the shape of this tensor."""
        drawn = random.rand(self.shape, dtype=dtypes.float32)
        return (((drawn - 0.5) * math.pi).tan() * sigma + median).astype(self.dtype)

    def log_normal(self: Any, mean: float = 1.0, std: float = 2.0) -> Any:
        """Numbers whose logarithms are of a normal distribution, in the shape of this tensor of floats."""
        if not self.dtype.is_floating:
            raise TypeError(f"log_normal: the tensor must be of floats, not of {self.dtype}")
        return (random.randn(self.shape, dtype=self.dtype) * std + mean).exp()

    def uniform(self: Any, from_: float = 0.0, to: float = 1.0, generator: Any = None) -> Any:
        """Numbers of a uniform distribution in the shape of this tensor."""
        no_generator("uniform", generator)
        if from_ > to:
            raise TypeError(f"uniform: from_ must not be larger than to, not {from_} and {to}")
        return random.rand(self.shape, dtype=self.dtype) * (to - from_) + from_

    def fill_diagonal(self: Any, fill_value: float, wrap: bool = False) -> Any:
        """A copy with a number on the main diagonal."""
        floats("fill_diagonal", fill_value=fill_value)
        return _filled_diagonal(self, fill_value, wrap)

    def index(self: Any, indices: Any) -> Any:
        """Elements by a tensor of positions for each of the first dimensions."""
        if not isinstance(indices, (tuple, list)):
            raise TypeError(f"index: the indices must be a tuple of tensors, not {type(indices).__name__}")
        return self[tuple(indices)]

    def index_put(self: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
        """A copy with elements written, or added, by a tensor of positions for each of the first dimensions."""
        if not isinstance(indices, (tuple, list)):
            raise TypeError(f"index_put: the indices must be a tuple of tensors, not {type(indices).__name__}")
        bools("index_put", accumulate=accumulate)
        return indexing.updated(self, tuple(indices), values, accumulate)

    def approximate_equal(self: Any, other: Any, tolerance: float = 1e-5) -> Any:
        """Whether elements differ by less than a tolerance; see `ops.approximate_equal`.

        Raises:
            ValueError: `other` is no tensor.
        """
        if not isinstance(other, Tensor):
            raise ValueError(f"approximate_equal: other must be a Tensor, not {type(other).__name__}")
        return compare.approximate_equal(self, other, tolerance)

    def new_empty(self: Any, size: Any, *, dtype: Any = None, device: Any = None) -> Any:
        """A tensor of another shape and this element type, whose elements are zeros."""
        return create.zeros(flat_numbers((size,)), self.dtype if dtype is None else dtype)

    def qr(self: Any, some: bool = True) -> Any:
        """The QR decomposition; without `some` with a square first factor."""
        return linalg.qr(self, "reduced" if some else "complete")

    def requires_grad_(self: Any, requires_grad: bool = True) -> Any:
        """Say whether a parameter is trained; returns the tensor."""
        bools("requires_grad_", requires_grad=requires_grad)
        if isinstance(self, Parameter):
            self.requires_grad = requires_grad
        return self

    def reshape_as(self: Any, other: Any) -> Any:
        """The same elements in the shape of another tensor."""
        return shape.reshape(self, other.shape)

    def reverse_sequence(self: Any, seq_lengths: Any, seq_dim: int = 0, batch_dim: int = 0) -> Any:
        """The beginnings of sequences reversed; see `ops.reverse_sequence`."""
        return shape.reverse_sequence(self, seq_lengths, seq_dim, batch_dim)

    def scatter_add(self: Any, *args: Any, **named: Any) -> Any:
        """``x.scatter_add(dim, index, src)``: add single elements; ``x.scatter_add(indices, updates)``: add rows."""
        names = ("dim", "index", "src") if "dim" in named or len(args) + len(named) == 3 else ("indices", "updates")
        given = {**dict(zip(names, args, strict=False)), **named}
        if len(args) > len(names) or set(given) != set(names) or len(given) != len(args) + len(named):
            raise TypeError("scatter_add() takes dim, index and src, or indices and updates")
        if len(names) == 2:
            return gather.tensor_scatter_add(self, given["indices"], given["updates"])
        return gather.tensor_scatter_elements(self, given["index"], given["src"], given["dim"], "add")

    scatter_div, scatter_max, scatter_min = _scattered("div"), _scattered("max"), _scattered("min")
    scatter_mul, scatter_sub = _scattered("mul"), _scattered("sub")

    def set_const_arg(self: Any, const_arg: bool = True) -> Any:
        """Accepted; returns the tensor."""
        bools("set_const_arg", const_arg=const_arg)
        return self

    def sum_to_size(self: Any, *size: Any) -> Any:
        """The sums over the dimensions in which a smaller shape has the size 1, or which it lacks."""
        if any(isinstance(each, str) for each in size):
            raise ValueError(f"sum_to_size: sizes are ints, not {size}")
        wanted = flat_numbers(size)
        given = self.shape[max(self.ndim - len(wanted), 0) :]
        if len(wanted) != len(given) or any(w not in (1, g) for w, g in zip(wanted, given, strict=True)):
            raise ValueError(f"sum_to_size: {wanted} does not expand to the shape {self.shape}")
        return shape.sum_to(self.astype(dtypes.int64) if self.dtype in _SUMMED else self, wanted)

    def triangular_solve(
        self: Any, A: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False
    ) -> Any:
        """The solution of ``A @ x = self`` with a triangular matrix, and that matrix."""
        return linalg.triangular_solve(A, self, not upper, transpose, unitriangular), A

    def to_(self: Any, device: Any = None, non_blocking: bool = False) -> Any:
        """The tensor itself, on the one device that there is.

        Raises:
            ValueError: no device is given.
        """
        if not isinstance(device, str):
            raise ValueError(f"to_: a device is expected, not {device!r}")
        return self

    # -- properties

    @property
    def data(self: Any) -> Any:
        """A view of all elements that is a constant for every gradient; setting it writes them."""
        return self.detach()

    @data.setter
    def data(self: Any, data: Any) -> None:
        self.assign_value(data)

    mH = property(linalg.adjoint, doc="Conjugate transpose of the last two axes.")
    is_meta = property(_never, doc="Whether the tensor has no elements, only a shape: never.")
    init_finished = property(lambda self: True, doc="Whether the elements are there: always.")
    symbolic_shape = property(lambda self: None, doc="Sizes that are known as expressions: none.")
    const_arg = property(_never, doc="Whether graphs hold the tensor as a constant where it is given: never.")


class _Written:
    """What methods give the tensor as its value, each under the name of the method."""

    addmm_, erfinv_, fill_diagonal_, sign_ = matmul.addmm, trigonometry.erfinv, _filled_diagonal, elementwise.sign
    scatter_add_ = _Methods.scatter_add

    def exponential_(self: Any, lambd: float = 1, *, generator: Any = None) -> Any:
        no_generator("exponential_", generator)
        if not lambd > 0:
            raise ValueError(f"exponential_: lambd must be positive, not {lambd}")
        return -(1 - random.rand(self.shape, dtype=dtypes.float32)).log() / lambd

    def index_copy_(self: Any, dim: int, index: Any, tensor: Any) -> Any:
        axis = dim % self.ndim if self.ndim else 0
        return indexing.updated(self, (*(slice(None),) * axis, index), tensor, False)

    def put_(self: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
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


for _name, _function in listed(_SAME):
    add_method(_name, _function)
attach(vars(_Methods))
attach_written(vars(_Written))
