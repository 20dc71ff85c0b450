"""`mindspore.mint.nn.functional`: rows of `weft.mint.table`, and here what does more than an operation of weft."""

from __future__ import annotations

from typing import Any

from weft import dtypes, ops
from weft.core import Tensor, transparent
from weft.lazily import Names
from weft.mint import shaping
from weft.mint.arithmetic import a_tensor
from weft.mint.rows import functions
from weft.mint.shaping import flatten as flatten
from weft.mint.table import NN_FUNCTIONS
from weft.ops._operands import refuse_strangers

_ROWS = functions(NN_FUNCTIONS, Names(ops), __name__)
globals().update(_ROWS)

__all__ = sorted(  # noqa: PLE0605
    {
        *_ROWS,
        *("adaptive_max_pool1d", "adaptive_max_pool2d", "avg_pool1d", "avg_pool2d", "avg_pool3d"),
        *("binary_cross_entropy_with_logits", "conv1d", "conv2d", "conv3d", "dropout", "dropout2d", "elu", "elu_"),
        *("flatten", "hardtanh", "hardtanh_", "kl_div", "log_softmax", "max_pool2d", "normalize", "one_hot"),
        *("pixel_shuffle", "relu", "relu6", "relu_", "sigmoid_", "silu", "smooth_l1_loss", "softmax", "threshold"),
        *("threshold_", "fold", "unfold", "grid_sample"),
    }
)

# -- activations: `inplace` writes the result into the input ------------------------------------------------------


def _written(input: Any, made: Any, inplace: bool) -> Any:
    """The result, in the input where that is asked for."""
    return a_tensor("an operation in place", input).copy_(made) if inplace else made


def relu(input: Any, inplace: bool = False) -> Any:
    """The larger of each element and 0.

    Example:
        >>> print(relu(Tensor([-1.0, 2.0])))
        [0. 2.]
    """
    return _written(input, ops.relu(input), inplace)


def relu_(input: Any) -> Any:
    """`relu` in place."""
    return relu(input, True)


def relu6(input: Any, inplace: bool = False) -> Any:
    """Each element between 0 and 6.

    Example:
        >>> print(relu6(Tensor([-1.0, 8.0])))
        [0. 6.]
    """
    return _written(input, ops.relu6(input), inplace)


def elu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """Exponential linear unit.

    Example:
        >>> print(elu(Tensor([0.0, 2.0])))
        [0. 2.]
    """
    return _written(input, ops.elu(input, alpha), inplace)


def elu_(input: Any, alpha: float = 1.0) -> Any:
    """`elu` in place."""
    return elu(input, alpha, True)


def silu(input: Any, inplace: bool = False) -> Any:
    """Each element times its sigmoid.

    Example:
        >>> print(silu(Tensor([0.0])))
        [0.]
    """
    return _written(input, ops.silu(input), inplace)


def sigmoid_(input: Any) -> Any:
    """`sigmoid` in place."""
    return _written(input, ops.sigmoid(input), True)


def hardtanh(input: Any, min_val: Any = -1.0, max_val: Any = 1.0, inplace: bool = False) -> Any:
    """Each element between two bounds.

    Example:
        >>> print(hardtanh(Tensor([-3.0, 0.5])))
        [-1.   0.5]
    """
    return _written(input, ops.hardtanh(input, min_val, max_val), inplace)


def hardtanh_(input: Any, min_val: Any = -1, max_val: Any = 1) -> Any:
    """`hardtanh` in place."""
    return hardtanh(input, min_val, max_val, True)


def threshold(input: Any, threshold: Any, value: Any, inplace: bool = False) -> Any:
    """Elements above a threshold, a value in place of the others.

    Example:
        >>> print(threshold(Tensor([1.0, 3.0]), 2.0, 9.0))
        [9. 3.]
    """
    return _written(input, ops.threshold(input, threshold, value), inplace)


def threshold_(input: Any, threshold: Any, value: Any) -> Any:
    """`threshold` in place."""
    return _written(input, ops.threshold(input, threshold, value), True)


def _softmax_dim(input: Any, dim: int | None) -> int:
    """The dimension, or the one that mint takes where none is given: the first of 0, 1 and 3 dimensions, else 1."""
    return dim if dim is not None else 0 if a_tensor("softmax", input).ndim in (0, 1, 3) else 1


def softmax(input: Any, dim: int | None = None, dtype: Any = None) -> Any:
    """Exponentials along a dimension, divided by their sum.

    Example:
        >>> print(softmax(Tensor([1.0, 1.0])))
        [0.5 0.5]
    """
    return shaping.softmax(input, _softmax_dim(input, dim), dtype=dtype)


def log_softmax(input: Any, dim: int | None = None, *, dtype: Any = None) -> Any:
    """The logarithm of `softmax`.

    Example:
        >>> print(log_softmax(Tensor([0.0]), 0))
        [0.]
    """
    return ops.log_softmax(input, _softmax_dim(input, dim), dtype=dtype)


# -- layers ------------------------------------------------------------------------------------------------------


def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """While training, zeroes elements at random and scales up the rest.

    Example:
        >>> print(dropout(Tensor([1.0]), 0.5, training=False))
        [1.]
    """
    return _written(input, ops.dropout(input, p, training), inplace)


def dropout2d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """While training, zeroes whole channels of (N, C, ...) at random.

    Example:
        >>> print(dropout2d(Tensor([[[[1.0]]]]), 0.5, training=False))
        [[[[1.]]]]
    """
    flat = getattr(input, "ndim", 4) in (2, 3)
    given = input.reshape((*input.shape[:2], -1, 1)) if flat else input
    dropped = ops.dropout2d(given, p, training)
    return _written(input, dropped.reshape(input.shape) if flat else dropped, inplace)


def _batched(name: str, input: Any, rank: int) -> tuple[Any, bool]:
    """The input with a batch dimension, and whether it had one."""
    given = a_tensor(name, input)
    return (given, True) if given.ndim != rank + 1 else (ops.unsqueeze(given, 0), False)


def _convolved(
    rank: int, input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    name = f"conv{rank}d"
    given, batched = _batched(name, input, rank)
    mode, amount = (padding, 0) if isinstance(padding, str) else ("pad", padding)
    if isinstance(amount, (tuple, list)):
        # a number for each dimension is both sides of it; two numbers for one dimension would be its two sides
        amount = tuple(amount) * rank if len(amount) == 1 else tuple(amount)
        if len(amount) != rank:
            raise ValueError(f"{name}: padding must be a number or {rank} of them, not {padding!r}")
    found = getattr(ops, name)(given, weight, bias, stride, mode, amount, dilation, groups)
    return found if batched else ops.squeeze(found, 0)


def conv1d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    """Convolution over one dimension; see `conv2d`.

    Example:
        >>> conv1d(Tensor([[[1.0, 2.0, 3.0]]]), Tensor([[[1.0, 1.0]]])).shape
        (1, 1, 2)
    """
    return _convolved(1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    """Convolution over two dimensions.

    Args:
        input: (N, C, H, W) or (C, H, W).
        weight: (O, C / groups, KH, KW).
        bias: (O,) or None.
        stride: step.
        padding: zeros on both sides: a number, one for each dimension, ``"same"`` or ``"valid"``.
        dilation: distance of the kernel's elements.
        groups: number of channel groups.

    Example:
        >>> conv2d(Tensor([[[[1.0, 2.0]]]]), Tensor([[[[1.0, 1.0]]]])).shape
        (1, 1, 1, 1)
    """
    return _convolved(2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    """Convolution over three dimensions; see `conv2d`.

    Example:
        >>> conv3d(Tensor([[[[[1.0, 2.0]]]]]), Tensor([[[[[1.0, 1.0]]]]])).shape
        (1, 1, 1, 1, 1)
    """
    return _convolved(3, input, weight, bias, stride, padding, dilation, groups)


def max_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Maxima of windows over the last two dimensions, with their int64 positions where asked for.

    Example:
        >>> print(max_pool2d(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), 2))
        [[[[4.]]]]
    """
    found = ops.max_pool2d(input, kernel_size, stride, padding, dilation, return_indices, ceil_mode)
    return (found[0], found[1].astype(dtypes.int64)) if return_indices else found


def _averaged(rank: int, input: Any, kernel_size: Any, stride: Any, *rest: Any) -> Any:
    step = kernel_size if stride is None else stride
    return getattr(ops, f"avg_pool{rank}d")(input, kernel_size, step, *rest)


def avg_pool1d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:
    """Means of windows over the last dimension.

    Example:
        >>> print(avg_pool1d(Tensor([[[1.0, 2.0]]]), 2))
        [[[1.5]]]
    """
    return _averaged(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad)


def avg_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    """Means of windows over the last two dimensions.

    Example:
        >>> print(avg_pool2d(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), 2))
        [[[[2.5]]]]
    """
    return _averaged(2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override or 0)


def avg_pool3d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    """Means of windows over the last three dimensions.

    Example:
        >>> print(avg_pool3d(Tensor([[[[[1.0, 2.0]]]]]), (1, 1, 2)))
        [[[[[1.5]]]]]
    """
    return _averaged(3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override or 0)


def adaptive_max_pool1d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """Maxima of as many windows as wanted over the last dimension.

    Example:
        >>> print(adaptive_max_pool1d(Tensor([[[1.0, 3.0, 5.0, 7.0]]]), 2))
        [[[3. 7.]]]
    """
    if not return_indices:
        return ops.adaptive_max_pool1d(input, output_size)
    size = output_size if isinstance(output_size, int) else output_size[0]
    values, positions = adaptive_max_pool2d(ops.unsqueeze(input, -2), (1, size), True)
    return ops.squeeze(values, -2), ops.squeeze(positions, -2)


def adaptive_max_pool2d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """Maxima of as many windows as wanted over the last two dimensions, with their int64 positions where asked for.

    Example:
        >>> print(adaptive_max_pool2d(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), 1))
        [[[[4.]]]]
    """
    found = ops.adaptive_max_pool2d(input, output_size, return_indices)
    return (found[0], found[1].astype(dtypes.int64)) if return_indices else found


def normalize(input: Any, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Any:
    """A tensor divided by its norms along a dimension, or by `eps` where that is larger.

    Example:
        >>> print(normalize(Tensor([[3.0, 4.0]])))
        [[0.6 0.8]]
    """
    return ops.div(input, ops.clamp(ops.norm(input, p, dim, True), eps))


@transparent
def one_hot(tensor: Any, num_classes: int = -1) -> Any:
    """One-hot vectors of indices, as int64.

    Args:
        tensor: indices.
        num_classes: length of the vectors; -1 for one more than the largest index.

    Example:
        >>> print(one_hot(Tensor([0, 2])))
        [[1 0 0]
         [0 0 1]]
    """
    given = a_tensor("one_hot", tensor)
    if num_classes == -1:
        num_classes = int(ops.amax(given).item()) + 1
    return ops.one_hot(given, num_classes, Tensor(1, dtypes.int64), Tensor(0, dtypes.int64))


def pixel_shuffle(input: Any, upscale_factor: int) -> Any:
    """Channels as pixels: (..., C * r * r, H, W) becomes (..., C, H * r, W * r).

    Example:
        >>> pixel_shuffle(ops.ones((1, 4, 2, 3), dtypes.float32), 2).shape
        (1, 1, 4, 6)
    """
    r = upscale_factor
    *before, channels, height, width = a_tensor("pixel_shuffle", input).shape
    if channels % (r * r):
        raise ValueError(f"pixel_shuffle: {channels} channels are not a multiple of {r} * {r}")
    n = len(before)
    parts = input.reshape((*before, channels // (r * r), r, r, height, width))
    moved = ops.permute(parts, (*range(n), n, n + 3, n + 1, n + 4, n + 2))
    return moved.reshape((*before, channels // (r * r), height * r, width * r))


# -- patches and points ------------------------------------------------------------------------------------------


def unfold(input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """The patches of images (C, H, W) or (N, C, H, W), with their elements in one dimension.

    Example:
        >>> unfold(ops.ones((2, 3, 4), dtypes.float32), 2).shape
        (8, 6)
    """
    if a_tensor("unfold", input).ndim == 3:
        return ops.unfold(input.expand_dims(0), kernel_size, dilation, padding, stride).squeeze(0)
    return ops.unfold(input, kernel_size, dilation, padding, stride)


def fold(input: Any, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """The images whose patches `unfold` gives; elements in several patches are added.

    Example:
        >>> fold(ops.ones((8, 6), dtypes.float32), (3, 4), 2).shape
        (2, 3, 4)
    """
    patches = a_tensor("fold", input)
    if patches.ndim == 2:
        return fold(patches.expand_dims(0), output_size, kernel_size, dilation, padding, stride).squeeze(0)
    if patches.ndim != 3:
        raise ValueError(f"fold: patches have the shape (N, elements, windows), not {patches.shape}")
    return ops.fold(patches, output_size, kernel_size, dilation, padding, stride)


def grid_sample(
    input: Any, grid: Any, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: Any = None
) -> Any:
    """The values of images at points.

    Example:
        >>> print(grid_sample(Tensor([[[[1.0, 3.0]]]]), Tensor([[[[0.0, 0.0]]]])))
        [[[[2.]]]]
    """
    return ops.grid_sample(input, grid, mode, padding_mode, bool(align_corners))


# -- losses ------------------------------------------------------------------------------------------------------


def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, reduction: str = "mean", pos_weight: Any = None
) -> Any:
    """Binary cross entropy of the sigmoid of the input.

    Example:
        >>> print(binary_cross_entropy_with_logits(Tensor([0.0]), Tensor([1.0])))
        0.6931472
    """
    return ops.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)


def smooth_l1_loss(input: Any, target: Any, reduction: str = "mean", beta: float = 1.0) -> Any:
    """Squared error where it is small, absolute error where it is large.

    Example:
        >>> print(smooth_l1_loss(Tensor([0.0]), Tensor([3.0])))
        2.5
    """
    return ops.smooth_l1_loss(input, target, beta, reduction)


def kl_div(input: Any, target: Any, reduction: str = "mean", log_target: bool = False) -> Any:
    """Divergence of a distribution from one that is given by logarithms.

    Args:
        input: logarithms of probabilities.
        target: probabilities.
        reduction: ``"none"``, ``"mean"``, ``"batchmean"`` or ``"sum"``.
        log_target: the target holds logarithms, too.

    Example:
        >>> print(kl_div(Tensor([0.0]), Tensor([1.0])))
        0.0
    """
    if not log_target:
        return ops.kl_div(input, target, reduction)
    found = ops.mul(ops.exp(target), ops.sub(target, input))
    if reduction == "none":
        return found
    if reduction == "mean":
        return ops.mean(found)
    if reduction in ("sum", "batchmean"):
        total = ops.sum(found)
        return total if reduction == "sum" else ops.div(total, input.shape[0])
    raise ValueError(f"kl_div: reduction must be 'none', 'mean', 'batchmean' or 'sum', not {reduction!r}")


refuse_strangers(globals(), __name__)
