"""Integers of 8 bits in place of floats: what makes them, and products of them. Everything is computed exactly."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from weft import dtypes
from weft.core import as_operator, op
from weft.ops._checks import optional_tensors, tensors
from weft.ops.matmul import matmul


def _as_int8(x: Any) -> Any:
    return jnp.clip(jnp.round(x), -128, 127).astype(jnp.int8)


@op("QuantizedRows", classes=(), multiple=True, no_gradient="integers, and the scales that belong to them")
def _quantized_rows(x: Any) -> Any:
    """Each row as integers, and its scale: the largest magnitude becomes 127."""
    wide = x.astype(jnp.float32)
    scale = jnp.max(jnp.abs(wide), -1, keepdims=True) / 127
    return _as_int8(wide / jnp.where(scale == 0, 1, scale)), scale[..., 0]


@op("Quantized", classes=(), no_gradient="its results are integers")
def _quantized(x: Any, scale: Any, offset: Any) -> Any:
    """Scaled and moved elements as integers."""
    return _as_int8(x.astype(jnp.float32) * scale.astype(jnp.float32) + offset.astype(jnp.float32))


@as_operator
def DynamicQuantExt(x: Any, smooth_scales: Any = None) -> Any:
    """Each row as integers of 8 bits, of which the largest magnitude is 127.

    Args:
        x: tensor of floats.
        smooth_scales: factors of the elements of a row, or None.

    Returns:
        tuple[Tensor, Tensor]: the integers, and for each row what 1 stands for, of float32.
    """
    optional_tensors("DynamicQuantExt", x=x, smooth_scales=smooth_scales)
    if x.ndim < 1:
        raise ValueError("DynamicQuantExt: x must have at least 1 dimension")
    return _quantized_rows(x if smooth_scales is None else x * smooth_scales.astype(x.dtype))


@as_operator
def QuantV2(
    x: Any, scale: Any, offset: Any, sqrt_mode: bool = False, rounding_mode: str = "ROUND", dst_type: Any = dtypes.int8
) -> Any:
    """Scaled and moved elements, rounded to integers of 8 bits.

    Args:
        x: tensor of floats.
        scale: the factors, along the last dimension.
        offset: what is added.
        sqrt_mode: whether the factors count twice.
        rounding_mode: ``"ROUND"``: halves go to the even neighbour.
        dst_type: int8.

    Returns:
        Tensor: of int8.
    """
    name = "QuantV2"
    tensors(name, x=x, scale=scale, offset=offset)
    if not isinstance(rounding_mode, str) or rounding_mode.upper() != "ROUND" or dtypes.of(dst_type) is not dtypes.int8:
        raise ValueError(f"{name}: only rounding 'ROUND' to int8 is computed, not {rounding_mode!r} to {dst_type}")
    if scale.shape[-1:] != x.shape[-1:] and scale.size != 1:
        raise ValueError(f"{name}: scales {scale.shape} do not fit elements {x.shape}")
    return _quantized(x, scale * scale if sqrt_mode else scale, offset)


def turned(x: Any, transposed: bool) -> Any:
    """A matrix, transposed if so said."""
    return x.swapaxes(-1, -2) if transposed else x


def restored(weight: Any, scale: Any, offset: Any, kind: Any) -> Any:
    """What the integers of a weight stand for; those of a column share a scale, and perhaps an offset."""
    wide = weight.astype(kind)
    if offset is not None:
        wide = wide + offset.astype(kind).expand_dims(-2)
    return wide * scale.astype(kind).expand_dims(-2)


@as_operator
def QuantBatchMatmul(
    x1: Any,
    x2: Any,
    scale: Any,
    offset: Any = None,
    bias: Any = None,
    pertokenScaleOptional: Any = None,
    *,
    transpose_x1: bool = False,
    transpose_x2: bool = False,
    dtype: Any = dtypes.float16,
) -> Any:
    """The product of two matrices of integers of 8 bits, as what it stands for.

    Args:
        x1: of int8.
        x2: of int8.
        scale: what 1 stands for, in each column: of floats.
        offset: added to the scaled product, or None.
        bias: of int32, added to the product before, or of floats, added to what it stands for; or None.
        pertokenScaleOptional: what 1 stands for in each row, or None.

    Returns:
        Tensor: of the type that the constructor names.
    """
    name = "QuantBatchMatmul"
    optional_tensors(
        name, x1=x1, x2=x2, scale=scale, offset=offset, bias=bias, pertokenScaleOptional=pertokenScaleOptional
    )
    if x1.dtype is not dtypes.int8 or x2.dtype is not dtypes.int8:
        raise TypeError(f"{name}: x1 and x2 must be of int8, not {x1.dtype} and {x2.dtype}")
    if not scale.dtype.is_floating:
        raise NotImplementedError(f"{name}: scale must be of floats, not {scale.dtype}, which holds them for a device")
    found = matmul(turned(x1, transpose_x1).astype(dtypes.int32), turned(x2, transpose_x2).astype(dtypes.int32))
    whole = bias is not None and bias.dtype is dtypes.int32
    made = (found + bias if whole else found).astype(dtypes.float32) * scale.astype(dtypes.float32)
    if pertokenScaleOptional is not None:
        made = made * pertokenScaleOptional.astype(dtypes.float32).expand_dims(-1)
    for added in (offset, None if whole else bias):
        made = made if added is None else made + added.astype(dtypes.float32)
    return made.astype(dtype)


@as_operator
def WeightQuantBatchMatmul(
    x: Any,
    weight: Any,
    antiquant_scale: Any,
    antiquant_offset: Any = None,
    quant_scale: Any = None,
    quant_offset: Any = None,
    bias: Any = None,
    *,
    transpose_x: bool = False,
    transpose_weight: bool = False,
    antiquant_group_size: int = 0,
) -> Any:
    """The product of floats with a matrix of integers of 8 bits, as what it stands for.

    Args:
        x: tensor of floats.
        weight: of int8.
        antiquant_scale: what 1 stands for, in each column.
        antiquant_offset: added to the integers before, or None.
        quant_scale: None.
        quant_offset: None.
        bias: added to the product, or None.

    Returns:
        Tensor: of the type of `x`.
    """
    name = "WeightQuantBatchMatmul"
    optional_tensors(
        name, x=x, weight=weight, antiquant_scale=antiquant_scale, antiquant_offset=antiquant_offset, bias=bias
    )
    if quant_scale is not None or quant_offset is not None or antiquant_group_size:
        raise NotImplementedError(f"{name}: results are floats, and each column has one scale")
    offset = None if antiquant_offset is None else antiquant_offset.reshape(-1)
    columns = restored(turned(weight, transpose_weight), antiquant_scale.reshape(-1), offset, x.dtype)
    found = matmul(turned(x, transpose_x), columns)
    return found if bias is None else found + bias.astype(x.dtype)
