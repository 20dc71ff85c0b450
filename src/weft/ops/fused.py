"""What other devices compute in one kernel: normalizations of sums, gated units, rotations of positions."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from weft.core import described, op, shows
from weft.ops._checks import bools, floats, ints, one_of, tensors
from weft.ops.activation import silu
from weft.ops.joining import chunk
from weft.ops.norm import layer_normalized, rms_norm

__all__ = ["add_layer_norm", "add_rms_norm", "deformable_conv2d", "rotary_position_embedding", "swiglu"]


_OF_SUM = described(
    x1="tensor of floats.",
    x2="tensor of the same shape.",
    gamma="scale, of the last dimensions.",
    raises="TypeError: an argument is of another type.\nValueError: the shapes do not fit.",
)


@_OF_SUM
@shows("add_rms_norm(Tensor([[1.0, 2.0]]), Tensor([[2.0, 1.0]]), Tensor([1.0, 2.0]), 7.0)[0]", "[[0.75 1.5 ]]")
def add_rms_norm(x1: Any, x2: Any, gamma: Any, epsilon: float = 1e-06) -> Any:
    """`rms_norm` of a sum.

    Args:
        epsilon: added to the mean square.

    Returns:
        tuple[Tensor, Tensor, Tensor]: the output, the reciprocal root mean square of float32, and the sum.
    """
    tensors("add_rms_norm", x1=x1, x2=x2, gamma=gamma)
    if x1.shape != x2.shape:
        raise ValueError(f"add_rms_norm: x1 and x2 need one shape, not {x1.shape} and {x2.shape}")
    total = x1 + x2
    return (*rms_norm(total, gamma, epsilon), total)


@_OF_SUM
def add_layer_norm(
    x1: Any, x2: Any, gamma: Any, beta: Any, epsilon: float = 1e-05, additional_output: bool = False
) -> Any:
    """Layer normalization of a sum.

    Args:
        beta: shift, of the same shape.
        epsilon: added to the variance.
        additional_output: accepted; the sum is always returned.

    Returns:
        tuple[Tensor, ...]: the output, the means and the reciprocal standard deviations of float32, and the sum.

    Example:
        >>> one = Tensor([1.0, 1.0])
        >>> print(add_layer_norm(Tensor([[1.0, 2.0]]), Tensor([[0.0, 1.0]]), one, one, 0.0)[0])
        [[0. 2.]]
    """
    tensors("add_layer_norm", x1=x1, x2=x2, gamma=gamma, beta=beta)
    floats("add_layer_norm", epsilon=epsilon)
    bools("add_layer_norm", additional_output=additional_output)
    if x1.shape != x2.shape or gamma.shape != beta.shape or x1.shape[x1.ndim - gamma.ndim :] != gamma.shape:
        raise ValueError(f"add_layer_norm: shapes {x1.shape}, {x2.shape}, {gamma.shape} and {beta.shape} do not fit")
    total = x1 + x2
    begin = x1.ndim - gamma.ndim
    out, mean, variance = layer_normalized(total, gamma, beta, begin, begin, epsilon)
    return out, mean, (variance + epsilon).rsqrt(), total


@shows("swiglu(Tensor([0.0, 1.0, 2.0, 3.0]))", "[0.        2.1931758]")
def swiglu(input: Any, dim: int = -1) -> Any:
    """The second half of a tensor, scaled by `silu` of the first.

    Args:
        input: tensor of floats.
        dim: the axis that is halved.

    Returns:
        Tensor: of half the size.

    Raises:
        TypeError: `input` is no tensor.
        RuntimeError: the size along the axis is odd.
    """
    tensors("swiglu", input=input)
    if input.ndim == 0 or input.shape[dim] % 2:
        raise RuntimeError(f"swiglu: an input of shape {input.shape} has no two halves along axis {dim}")
    gate, value = chunk(input, 2, dim)
    return silu(gate) * value


@op("RotateHalves", classes=())
def _rotated(x: Any, *, pairs: bool) -> Any:
    """Each pair of elements turned by a right angle: those of two halves, or neighbours."""
    if pairs:
        return jnp.stack([-x[..., 1::2], x[..., 0::2]], -1).reshape(x.shape)
    half = x.shape[-1] // 2
    return jnp.concatenate([-x[..., half:], x[..., :half]], -1)


def rotary_position_embedding(x: Any, cos: Any, sin: Any, mode: int = 0) -> Any:
    """Vectors turned by angles that say where they stand.

    Args:
        x: 4-D tensor of floats, whose last dimension is even.
        cos: cosines of the angles, a 4-D tensor that broadcasts with `x`.
        sin: their sines.
        mode: which elements are turned together: 0, those of the two halves; 1, neighbours.

    Returns:
        Tensor: like `x`.

    Raises:
        TypeError: an argument is of another type.
        ValueError: the shapes do not fit, or there is no such mode.

    Example:
        >>> x, quarter = Tensor([[[[1.0, 2.0]]]]), Tensor([[[[1.0, 1.0]]]])
        >>> print(rotary_position_embedding(x, quarter * 0, quarter))
        [[[[-2.  1.]]]]
    """
    name = "rotary_position_embedding"
    tensors(name, x=x, cos=cos, sin=sin)
    ints(name, mode=mode)
    one_of(name, (0, 1), mode=mode)
    if x.ndim != 4 or cos.ndim != 4 or sin.shape != cos.shape or x.shape[-1] % 2:
        raise ValueError(f"{name}: shapes {x.shape}, {cos.shape} and {sin.shape} do not fit")
    return (x * cos + _rotated(x, bool(mode)) * sin).astype(x.dtype)


@op("DeformedColumns", classes=())
def deformed(
    x: Any,
    offsets: Any,
    *,
    kernel: tuple[int, int],
    strides: tuple[int, int],
    padding: tuple[int, int, int, int],
    dilations: tuple[int, int],
    groups: int,
) -> Any:
    """Elements of windows, each moved by an offset and scaled, as (N, C, elements, windows).

    Between pixels they are interpolated; outside of the image they are 0.
    """
    batch, channels, height, width = x.shape
    rows, columns = offsets.shape[2:]
    moved = offsets.reshape((batch, 3, groups, kernel[0] * kernel[1], rows, columns))
    inner = np.meshgrid(np.arange(kernel[0]) * dilations[0], np.arange(kernel[1]) * dilations[1], indexing="ij")
    down, right = (axis.reshape((-1, 1, 1)) for axis in inner)
    y = moved[:, 1] + (down + np.arange(rows)[:, None] * strides[0] - padding[0]).astype(x.dtype)
    at = moved[:, 0] + (right + np.arange(columns) * strides[1] - padding[2]).astype(x.dtype)
    flat = x.reshape((batch, groups, channels // groups, height * width))
    top, left = jnp.floor(y), jnp.floor(at)
    total = jnp.zeros((batch, groups, channels // groups, y[0, 0].size), x.dtype)
    for one_down in (0, 1):
        for one_right in (0, 1):
            line, place = top + one_down, left + one_right
            part = (1 - jnp.abs(y - line)) * (1 - jnp.abs(at - place))
            inside = (line >= 0) & (line < height) & (place >= 0) & (place < width)
            corner = jnp.clip(line, 0, height - 1) * width + jnp.clip(place, 0, width - 1)
            index = corner.astype(jnp.int32).reshape((batch, groups, 1, -1))
            scale = jnp.where(inside, part, 0).reshape((batch, groups, 1, -1))
            total = total + jnp.take_along_axis(flat, index, 3) * scale
    scaled = total * moved[:, 2].reshape((batch, groups, 1, -1))
    return scaled.reshape((batch, channels, kernel[0] * kernel[1], rows * columns))


def deformable_conv2d(
    x: Any,
    weight: Any,
    offsets: Any,
    kernel_size: Any,
    strides: Any,
    padding: Any,
    bias: Any = None,
    dilations: Any = (1, 1, 1, 1),
    groups: int = 1,
    deformable_groups: int = 1,
    modulated: bool = True,
) -> Any:
    """Convolution of images at places that are moved by offsets, with elements that are scaled.

    Args:
        x: (N, C, H, W), of floats.
        weight: (O, C / groups, KH, KW).
        offsets: (N, 3 * deformable_groups * KH * KW, H', W'): to the right, down, and the scales.
        kernel_size: (KH, KW).
        strides: step, four ints of which the first two are 1.
        padding: border at the top, bottom, left and right.
        bias: (O,) or None.
        dilations: distance of the kernel's elements, four ints of which the first two are 1.
        groups: number of channel groups.
        deformable_groups: how many groups of channels have offsets of their own.
        modulated: True: elements are scaled.

    Returns:
        Tensor: (N, O, H', W').

    Raises:
        TypeError: an argument is of another type.
        ValueError: the shapes do not fit.

    Example:
        >>> import numpy as np
        >>> still = Tensor(np.concatenate([np.zeros((1, 2, 1, 2)), np.ones((1, 1, 1, 2))], 1).astype(np.float32))
        >>> weight, ones = Tensor([[[[3.0]]]]), (1, 1, 1, 1)
        >>> print(deformable_conv2d(Tensor([[[[1.0, 2.0]]]]), weight, still, (1, 1), ones, (0, 0, 0, 0)))
        [[[[3. 6.]]]]
    """
    name = "deformable_conv2d"
    tensors(name, x=x, weight=weight, offsets=offsets)
    settings = {"kernel_size": kernel_size, "strides": strides, "padding": padding, "dilations": dilations}
    for what, value in settings.items():
        if not isinstance(value, tuple) or any(isinstance(n, bool) or not isinstance(n, int) for n in value):
            raise TypeError(f"{name}: {what} must be a tuple of ints, not {value!r}")
        count = 2 if what == "kernel_size" else 4
        if len(value) != count or min(value) < (what != "padding"):
            raise ValueError(f"{name}: {what} must be {count} ints that are not less, not {value!r}")
    bools(name, modulated=modulated)
    if not modulated or strides[:2] != (1, 1) or dilations[:2] != (1, 1):
        raise ValueError(f"{name}: modulated must be True, and the first two strides and dilations 1")
    if x.ndim != 4 or weight.ndim != 4 or offsets.ndim != 4:
        raise ValueError(f"{name}: x, weight and offsets must have 4 dimensions")
    size = [
        (n + low + high - d * (k - 1) - 1) // s + 1
        for n, low, high, d, k, s in zip(
            x.shape[2:], padding[::2], padding[1::2], dilations[2:], kernel_size, strides[2:], strict=True
        )
    ]
    batch, channels = x.shape[:2]
    elements = kernel_size[0] * kernel_size[1]
    if (
        groups < 1
        or deformable_groups < 1
        or channels % groups
        or channels % deformable_groups
        or weight.shape[0] % groups
        or weight.shape[1:] != (channels // groups, *kernel_size)
        or offsets.shape != (batch, 3 * deformable_groups * elements, *size)
    ):
        raise ValueError(f"{name}: shapes {x.shape}, {weight.shape} and {offsets.shape} do not fit")
    found = deformed(x, offsets, kernel_size, strides[2:], padding, dilations[2:], deformable_groups)
    parts = found.reshape((batch, groups, channels // groups * elements, size[0] * size[1]))
    product = weight.reshape((groups, weight.shape[0] // groups, -1)) @ parts
    result = product.reshape((batch, weight.shape[0], *size))
    return result if bias is None else result + bias.reshape((-1, 1, 1))
