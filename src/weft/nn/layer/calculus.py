"""Operations and derivatives as layers, under the names that older programs use."""

from __future__ import annotations

from typing import Any

from weft import dtypes, ops
from weft.autodiff.grad import jvp, vjp
from weft.core import Operator, Parameter, Tensor, transparent
from weft.nn.cell import Cell
from weft.nn.declared import Shown, declared
from weft.nn.initializer import initializer
from weft.nn.layer.basic import ClipByNorm
from weft.ops._checks import bools, ints, one_of, positive_ints
from weft.ops.shape import diag_embed


def _floats(layer: str, **inputs: Any) -> None:
    """Refuse inputs of other elements than float16 and float32."""
    for name, value in inputs.items():
        if value.dtype not in (dtypes.float16, dtypes.float32):
            raise TypeError(f"{layer}: {name} must be float16 or float32, not {value.dtype}")


def _matrices(layer: str, input_x: Tensor) -> None:
    """Refuse an input that holds no matrices."""
    if input_x.ndim < 2:
        raise ValueError(f"{layer}: the input must have two dimensions, not {input_x.ndim}")


class DiGamma(Shown, shows=("DiGamma()(Tensor([1.0])).round(4)", "[-0.5772]")):
    """The derivative of the logarithm of the gamma function, see `ops.digamma`."""

    def construct(self, x: Tensor) -> Any:
        _floats("DiGamma", x=x)
        return ops.digamma(x)


class LGamma(Shown, shows=("round(LGamma()(Tensor(4.0)).item(), 4)", "1.7918")):
    """The logarithm of the gamma function, see `ops.lgamma`."""

    def construct(self, x: Tensor) -> Any:
        _floats("LGamma", x=x)
        return ops.lgamma(x)


class LBeta(Shown, shows=("LBeta()(Tensor([2.0]), Tensor([3.0])).round(4)", "[-2.4849]")):
    """The logarithm of the beta function."""

    def construct(self, x: Tensor, y: Tensor) -> Any:
        _floats("LBeta", x=x, y=y)
        return ops.lgamma(x) + ops.lgamma(y) - ops.lgamma(x + y)


class IGamma(Shown, shows=("IGamma()(Tensor([2.0]), Tensor([2.0])).round(4)", "[0.594]")):
    """The lower incomplete gamma function, see `ops.igamma`."""

    def construct(self, a: Tensor, x: Tensor) -> Any:
        _floats("IGamma", a=a, x=x)
        return ops.igamma(a, x)


class MatDet(Shown, shows=("MatDet()(Tensor([[2.0, 0.0], [0.0, 3.0]]))", "6.0")):
    """Determinants of matrices, see `ops.det`."""

    def construct(self, a: Tensor) -> Any:
        return ops.det(a)


class MatInverse(Shown, shows=("MatInverse()(Tensor([[2.0, 0.0], [0.0, 4.0]]))", "[[0.5  0.  ]\n [0.   0.25]]")):
    """Inverses of matrices, see `ops.inverse`."""

    def construct(self, a: Tensor) -> Any:
        return ops.inverse(a)


class MatrixDiag(Shown, shows=("MatrixDiag()(Tensor([1, 2]))", "[[1 0]\n [0 2]]")):
    """Matrices that have rows as their diagonals."""

    def construct(self, input_x: Tensor) -> Any:
        if input_x.ndim < 1:
            raise ValueError("MatrixDiag: the input must have a dimension")
        return diag_embed(input_x)


class MatrixDiagPart(Shown, shows=("MatrixDiagPart()(Tensor([[1, 2], [3, 4]]))", "[1 4]")):
    """The diagonals of matrices."""

    def construct(self, input_x: Tensor) -> Any:
        _matrices("MatrixDiagPart", input_x)
        return ops.diagonal(input_x, 0, -2, -1)


class MatrixSetDiag(Shown, shows=("MatrixSetDiag()(Tensor([[1, 2], [3, 4]]), Tensor([5, 6]))", "[[5 2]\n [3 6]]")):
    """Matrices with other diagonals."""

    def construct(self, input_x: Tensor, diagonal: Tensor) -> Any:
        _matrices("MatrixSetDiag", input_x)
        rows, columns = input_x.shape[-2:]
        wanted = (*input_x.shape[:-2], min(rows, columns))
        if diagonal.shape != wanted:
            raise ValueError(f"MatrixSetDiag: the diagonals must have shape {wanted}, not {diagonal.shape}")
        spread = diagonal.expand_dims(-2 if rows > columns else -1)  # along the side that is as long as it
        return ops.where(ops.eye(rows, columns, dtypes.bool_), spread, input_x)


class Moments(Shown, shows=("*Moments(axis=0)(Tensor([1.0, 3.0]))", "2.0 1.0")):
    """Mean and variance.

    Args:
        axis: over which dimensions, an int or a tuple; None for all.
        keep_dims: whether those stay, with size 1.

    Raises:
        TypeError: an argument has the wrong type.
    """

    def __init__(self, axis: Any = None, keep_dims: bool | None = None) -> None:
        super().__init__()
        if axis is not None and (isinstance(axis, bool) or not isinstance(axis, (int, tuple))):
            raise TypeError(f"Moments: axis must be an int or a tuple, not {type(axis).__name__}")
        if keep_dims is not None:
            bools("Moments", keep_dims=keep_dims)
        self.axis = axis
        self.keep_dims = bool(keep_dims)

    def construct(self, x: Tensor) -> Any:
        _floats("Moments", x=x)
        axis = tuple(range(x.ndim)) if self.axis is None or self.axis == () else self.axis
        variance, mean = ops.var_mean(x.astype(dtypes.float32), axis, keepdims=self.keep_dims)
        return mean.astype(x.dtype), variance.astype(x.dtype)


class Range(Shown, shows=("Range(1, 8, 2)()", "[1 3 5 7]")):
    """Numbers at equal distances: int32, or float32 where one of the bounds is a float.

    Args:
        start: the first number, or the end where there is no `limit`.
        limit: the end, which is not among the numbers.
        delta: the distance.

    Raises:
        ValueError: `delta` is 0.
    """

    def __init__(self, start: Any, limit: Any = None, delta: Any = 1) -> None:
        super().__init__()
        if delta == 0:
            raise ValueError("Range: delta must not be 0")
        first, end = (0, start) if limit is None else (start, limit)
        kind = dtypes.float32 if any(isinstance(each, float) for each in (first, end, delta)) else dtypes.int32
        self.result_tensor = ops.arange(first, end, delta, dtype=kind)

    def construct(self) -> Any:
        return self.result_tensor


class ImageGradients(
    Shown,
    shows=("*[each.reshape(-1) for each in ImageGradients()(Tensor([[[[1, 2], [4, 8]]]]))]", "[3 6 0 0] [1 0 4 0]"),
):
    """Differences of neighbours along the height and along the width of images (N, C, H, W); zero at the end."""

    def construct(self, images: Tensor) -> Any:
        if images.ndim != 4:
            raise ValueError(f"ImageGradients: images must have 4 dimensions, not {images.ndim}")
        down, right = images[:, :, 1:] - images[:, :, :-1], images[..., 1:] - images[..., :-1]
        return (
            ops.cat((down, ops.zeros_like(images[:, :, :1])), 2),
            ops.cat((right, ops.zeros_like(images[..., :1])), 3),
        )


# -- derivatives -----------------------------------------------------------------------------------------------------


class Jvp(Shown, shows=("*Jvp(lambda x: x * x)(Tensor([3.0]), Tensor([1.0]))", "[9.] [6.]")):
    """The value of a function and its derivative in a direction.

    Args:
        fn: the function or Cell.
    """

    @declared()
    def __init__(self, fn: Any) -> None: ...

    @transparent
    def construct(self, *args: Any) -> Any:
        inputs, direction = args[:-1], args[-1]
        return jvp(self.fn, inputs if len(inputs) > 1 else inputs[0], direction)


class Vjp(Shown, shows=("*Vjp(lambda x: x * x)(Tensor([3.0]), Tensor([1.0]))", "[9.] [6.]")):
    """The value of a function and the gradients of the inputs for one of the result.

    Args:
        fn: the function or Cell.
    """

    @declared()
    def __init__(self, fn: Any) -> None: ...

    @transparent
    def construct(self, *args: Any) -> Any:
        inputs, given = args[:-1], args[-1]
        value, pull = vjp(self.fn, *inputs)
        gradients = pull(*given) if isinstance(given, tuple) else pull(given)
        return value, gradients[0] if isinstance(gradients, tuple) and len(inputs) == 1 else gradients


# -- layers of layers ------------------------------------------------------------------------------------------------


class TimeDistributed(Cell):
    """A layer applied to each of several times.

    Args:
        layer: the layer.
        time_axis: the dimension of times.
        reshape_with_axis: times and this dimension become one, to which the layer is applied at once; None applies the
            layer to one time after the other.

    Raises:
        TypeError: `layer` is no Cell or operator, or an axis no int.

    Example:
        >>> from weft import nn, ops
        >>> TimeDistributed(nn.Dense(3, 6), time_axis=1)(ops.ones((2, 4, 3))).shape
        (2, 4, 6)
    """

    def __init__(self, layer: Any, time_axis: int, reshape_with_axis: int | None = None) -> None:
        super().__init__()
        if not isinstance(layer, (Cell, Operator)):
            raise TypeError(f"TimeDistributed: layer must be a Cell or an operator, not {type(layer).__name__}")
        ints("TimeDistributed", time_axis=time_axis)
        if reshape_with_axis is not None:
            ints("TimeDistributed", reshape_with_axis=reshape_with_axis)
        self.layer = layer
        self.time_axis = time_axis
        self.reshape_with_axis = reshape_with_axis

    @transparent
    def construct(self, inputs: Tensor) -> Any:
        rank = inputs.ndim
        if rank < 3:
            raise ValueError(f"TimeDistributed: the input must have 3 dimensions, not {rank}")
        time = self.time_axis % rank
        if self.reshape_with_axis is None:
            found = [self.layer(inputs.take(Tensor(step), time)) for step in range(inputs.shape[time])]
            return ops.stack(found, time)
        joined = (self.reshape_with_axis % rank, time)
        moved = ops.movedim(inputs, joined, (0, 1))
        result = self.layer(moved.reshape(-1, *moved.shape[2:]))
        return ops.movedim(result.reshape(*moved.shape[:2], *result.shape[1:]), (0, 1), joined)


class MultiFieldEmbeddingLookup(Cell):
    """Vectors of indices, weighed and combined within fields.

    Args:
        vocab_size: how many vectors there are.
        embedding_size: how long they are.
        field_size: how many fields there are.
        param_init: initial values of the vectors.
        target: ``"CPU"`` or ``"DEVICE"``; accepted.
        slice_mode: how devices share the vectors; accepted.
        feature_num_list: accepted.
        max_norm: vectors are made no longer than this.
        sparse: accepted.
        operator: ``"SUM"``, ``"MEAN"`` or ``"MAX"``.
        dtype: element type of the vectors.

    Raises:
        TypeError: a size is no int.
        ValueError: a size is not positive, or a text is no such one.

    Example:
        >>> layer = MultiFieldEmbeddingLookup(3, 1, 2, Tensor([[1.0], [2.0], [4.0]]))
        >>> print(layer(Tensor([[0, 1, 2]]), Tensor([[1.0, 1.0, 2.0]]), Tensor([[0, 0, 1]])))
        [[[3.]
          [8.]]]
    """

    OPERATOR_SUM, OPERATOR_MEAN, OPERATOR_MAX = "SUM", "MEAN", "MAX"

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        field_size: int,
        param_init: Any = "normal",
        target: str = "CPU",
        slice_mode: str = "batch_slice",
        feature_num_list: Any = None,
        max_norm: float | None = None,
        sparse: bool = True,
        operator: str = "SUM",
        dtype: Any = dtypes.float32,
    ) -> None:
        super().__init__()
        name = "MultiFieldEmbeddingLookup"
        positive_ints(name, vocab_size=vocab_size, embedding_size=embedding_size, field_size=field_size)
        one_of(name, ("SUM", "MAX", "MEAN"), operator=operator)
        one_of(name, ("CPU", "DEVICE"), target=target)
        modes = ("batch_slice", "field_slice", "table_row_slice", "table_column_slice")
        one_of(name, modes, slice_mode=slice_mode)
        self.vocab_size, self.embedding_size, self.field_size = vocab_size, embedding_size, field_size
        self.operator = operator
        self.target, self.slice_mode, self.feature_num_list, self.sparse = target, slice_mode, feature_num_list, sparse
        self.max_norm = max_norm
        weight = initializer(param_init, (vocab_size, embedding_size), dtype)
        self.embedding_table = Parameter(weight, name="embedding_table")
        self._clip: Any = None if max_norm is None else ClipByNorm(axis=2)

    def construct(self, input_indices: Tensor, input_values: Tensor, field_ids: Tensor) -> Any:
        vectors = self.embedding_table[input_indices]
        if self._clip is not None:
            vectors = self._clip(vectors, Tensor(self.max_norm, vectors.dtype))
        weighed = (vectors * input_values.expand_dims(-1)).expand_dims(1)
        fields = ops.arange(self.field_size, dtype=field_ids.dtype).reshape(1, -1, 1)
        inside = field_ids.expand_dims(1) == fields
        share = ops.where(inside, input_values.expand_dims(1), 0.0).sum(-1).expand_dims(-1)
        if self.operator == "MAX":
            low = Tensor(float("-inf"), weighed.dtype)
            found = ops.amax(ops.where(inside.expand_dims(-1), weighed, low), 2)
            return ops.where(inside.any(-1).expand_dims(-1) & (share != 0), found, ops.zeros_like(found))
        found = ops.where(inside.expand_dims(-1), weighed, ops.zeros_like(weighed)).sum(2)
        if self.operator == "MEAN":
            found = found / ops.where(share == 0, 1.0, share)
        return ops.where(share == 0, ops.zeros_like(found), found)
