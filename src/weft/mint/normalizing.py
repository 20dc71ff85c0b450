"""Steps of batch normalization across devices, and functions of single kernels."""

from __future__ import annotations

from typing import Any

from weft import dtypes, ops
from weft.mint.arithmetic import a_tensor

__all__ = [
    "addr_", "batch_norm_elemt", "batch_norm_gather_stats_with_counts", "batch_norm_stats", "conv_tbc", "npu_gelu",
]  # fmt: skip


def addr_(input: Any, vec1: Any, vec2: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    """``beta * input + alpha * outer(vec1, vec2)``, written into the input.

    Example:
        >>> print(addr_(Tensor([[1.0, 2.0]]), Tensor([2.0]), Tensor([3.0, 4.0])))
        [[ 7. 10.]]
    """
    given = a_tensor("addr_", input)
    return given.copy_(ops.addr(given, vec1, vec2, beta=beta, alpha=alpha))


def _by_channel(x: Any, rank: int) -> Any:
    return x.reshape((1, -1, *(1,) * (rank - 2)))


def batch_norm_stats(input: Any, eps: Any) -> Any:
    """The mean of each channel, and the reciprocal of its standard deviation.

    Args:
        input: (N, C, ...).
        eps: added to the variance.

    Example:
        >>> print(*batch_norm_stats(Tensor([[1.0], [3.0]]), 0.0))
        [2.] [1.]
    """
    given = a_tensor("batch_norm_stats", input)
    wide = given if given.dtype is dtypes.float64 else given.astype(dtypes.float32)
    axes = tuple(axis for axis in range(given.ndim) if axis != 1)
    return wide.mean(axes), 1 / ops.sqrt(ops.var(wide, axes) + eps)


def batch_norm_elemt(
    input: Any, weight: Any = None, bias: Any = None, mean: Any = None, invstd: Any = None, eps: float = 1e-05
) -> Any:
    """Batch normalization with means and reciprocal standard deviations that are given.

    Args:
        input: (N, C, ...).
        weight: scale of the channels, None for 1.
        bias: shift of the channels, None for 0.
        mean: mean of the channels.
        invstd: the reciprocals.
        eps: accepted; it is part of the reciprocals.

    Example:
        >>> print(batch_norm_elemt(Tensor([[1.0], [3.0]]), None, None, Tensor([2.0]), Tensor([1.0])))
        [[-1.]
         [ 1.]]
    """
    given = a_tensor("batch_norm_elemt", input)
    middle, scale = a_tensor("batch_norm_elemt", mean), a_tensor("batch_norm_elemt", invstd)
    scale = scale if weight is None else scale * weight
    found = (given - _by_channel(middle, given.ndim)) * _by_channel(scale, given.ndim)
    return (found if bias is None else found + _by_channel(bias, given.ndim)).astype(given.dtype)


def batch_norm_gather_stats_with_counts(
    input: Any,
    mean: Any,
    invstd: Any,
    running_mean: Any = None,
    running_var: Any = None,
    momentum: float = 0.1,
    eps: float = 1e-05,
    counts: Any = None,
) -> Any:
    """The means and reciprocal standard deviations of the channels, of those of several parts of a batch.

    Args:
        input: one part, (N, C, ...).
        mean: means of the parts, (parts, C).
        invstd: their reciprocal standard deviations, (parts, C).
        running_mean: statistics that follow the means, or None.
        running_var: statistics that follow the variances, or None.
        momentum: how fast they follow.
        eps: what was added to the variances.
        counts: elements of a channel in each part, (parts,).

    Example:
        >>> means, reciprocals = Tensor([[1.0], [3.0]]), Tensor([[1.0], [1.0]])
        >>> print(batch_norm_gather_stats_with_counts(means, means, reciprocals, eps=0.0, counts=Tensor([2.0, 2.0]))[0])
        [2.]
    """
    name = "batch_norm_gather_stats_with_counts"
    means, scales = a_tensor(name, mean), a_tensor(name, invstd)
    size = a_tensor(name, counts).astype(means.dtype).expand_dims(1)
    total = size.sum()
    middle = (means * size).sum(0) / total
    spread = 1 / ops.square(scales) - eps + ops.square(means - middle)
    variance = (spread * size).sum(0) / total
    for kept, new in ((running_mean, middle), (running_var, variance * total / (total - 1))):
        if kept is not None:
            kept.copy_(kept * (1 - momentum) + ops.stop_gradient(new) * momentum)
    return middle, 1 / ops.sqrt(variance + eps)


def conv_tbc(input: Any, weight: Any, bias: Any, pad: int = 0) -> Any:
    """Convolution over time of (T, N, C).

    Args:
        input: (T, N, C).
        weight: (width, C, O).
        bias: (O,).
        pad: zeros before and after.

    Example:
        >>> conv_tbc(Tensor([[[1.0]], [[2.0]]]), Tensor([[[3.0]]]), Tensor([1.0])).ravel().tolist()
        [4.0, 7.0]
    """
    given, kernel = a_tensor("conv_tbc", input), a_tensor("conv_tbc", weight)
    if given.ndim != 3 or kernel.ndim != 3:
        raise ValueError(f"conv_tbc: input and weight must have 3 dimensions, not {given.shape} and {kernel.shape}")
    found = ops.conv1d(given.transpose((1, 2, 0)), kernel.transpose((2, 1, 0)), bias, 1, "pad", pad)
    return found.transpose((2, 0, 1))


def npu_gelu(input: Any, approximate: str = "none") -> Any:
    """Each element times the normal distribution's share below it.

    Args:
        input: tensor of floats.
        approximate: ``"none"`` or ``"tanh"``.

    Example:
        >>> print(npu_gelu(Tensor([0.0])))
        [0.]
    """
    return ops.gelu(input, approximate=approximate)
