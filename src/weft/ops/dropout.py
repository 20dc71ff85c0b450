"""Dropout: zero elements, or whole channels, at random; and slopes by chance."""

from __future__ import annotations

import math
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

from weft import dtypes
from weft.core import RANDOM, Primitive, Tensor, apply, as_operator, operator_class, shows, told
from weft.core.declare import freeze
from weft.ops._checks import reals, tensors
from weft.ops._rules import tensor
from weft.ops.random import _key_of, draw_key, rand
from weft.ops.select import where

__all__ = ["dropout", "dropout1d", "dropout2d", "dropout3d", "rrelu"]


def _dropout(x: Any, key: Any, *, p: float, mask_rank: int) -> Any:
    """Masked and rescaled elements, and the mask; its trailing dimensions beyond `mask_rank` have size 1."""
    shape = x.shape[:mask_rank] + (1,) * (x.ndim - mask_rank)
    mask = jax.random.bernoulli(key, 1.0 - p, shape)
    return _masked(x, mask, p=p), mask


def _masked(x: Any, mask: Any, *, p: float) -> Any:
    scale = np.asarray(0.0 if p >= 1 else 1.0 / (1.0 - p), x.dtype)
    return jnp.where(mask, x * scale, jnp.zeros((), x.dtype))


_MASKED = Primitive("DropoutApply", _masked, attr_names=("p",))
DROPOUT = Primitive(
    "DropoutWithKey",
    _dropout,
    attr_names=("p", "mask_rank"),
    multiple=True,
    derivative=lambda x, key, out, dout, *, p, mask_rank: (apply(_MASKED, (dout[0], out[1]), (p,)),),
)


def _drop(name: str, x: Tensor, p: float, training: bool, mask_rank: int) -> Tensor:
    if isinstance(p, bool) or not isinstance(p, (int, float)) or not 0 <= p <= 1:
        raise ValueError(f"{name}: p, the probability of zero, must be a number in [0, 1], not {p!r}")
    tensors(name, x=x)
    if not training or p == 0:
        return x
    return apply(DROPOUT, (x, draw_key()), (float(p), mask_rank))[0]


@shows("dropout(Tensor([1.0, 2.0]), training=False)", "[1. 2.]")
def dropout(input: Tensor, p: float = 0.5, training: bool = True, seed: int | None = None) -> Tensor:
    """Zero elements at random and scale the rest by ``1 / (1 - p)``.

    Args:
        input: floating tensor.
        p: probability of zero.
        training: otherwise the input is returned.
        seed: draw from this seed instead of the random stream.
    """
    if seed is not None and training and 0 < p <= 1:
        key = Tensor(np.array([0, int(seed) & 0xFFFFFFFF], np.uint32))
        return apply(DROPOUT, (input, key), (float(p), input.ndim))[0]
    return _drop("dropout", input, p, training, input.ndim if isinstance(input, Tensor) else 0)


def _of_channels(rank: int, shapes: str, given: str, printed: str) -> Any:
    """The function of a number of dimensions."""
    name = f"dropout{rank}d"

    def drop(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
        ndim = input.ndim if isinstance(input, Tensor) else rank + 1  # what is no tensor is refused below
        if ndim not in (rank + 1, rank + 2):
            raise ValueError(f"{name}: the input must have {rank + 2} dimensions (N, C, ...), not shape {input.shape}")
        return _drop(name, input, p, training, ndim - rank)

    shown = f"    >>> print({name}(Tensor({given}), training=False))\n    {printed}"
    return told(drop, name, f"Zero whole channels of {shapes} at random.\n\nExample:\n{shown}")


dropout1d = _of_channels(1, "(N, C, L) or (C, L)", "[[1.0]]", "[[1.]]")
dropout2d = _of_channels(2, "(N, C, H, W) or (C, H, W)", "[[[1.0]]]", "[[[1.]]]")
dropout3d = _of_channels(3, "(N, C, D, H, W) or (C, D, H, W)", "[[[[1.0]]]]", "[[[[1.]]]]")


#: the bytes of a mask of bits are a multiple of this
_MASK_BYTES: Final = 16


def _bits(key: Any, *, shape: tuple[int, ...], keep_prob: float) -> Any:
    """A bit for each element, 1 with a probability, in bytes."""
    count = math.prod(shape)
    mask = jax.random.bernoulli(key, keep_prob, (count,))
    return jnp.packbits(jnp.pad(mask, (0, -count % (8 * _MASK_BYTES))), bitorder="little")


def _by_bits(x: Any, mask: Any, keep_prob: Any) -> Any:
    kept = jnp.unpackbits(mask, count=x.size, bitorder="little").reshape(x.shape)
    scale = jax.lax.stop_gradient(keep_prob).astype(x.dtype)
    return jnp.where(kept == 1, x / scale, jnp.zeros((), x.dtype))


_GENERATE = Primitive(
    "DropoutBits", _bits, attr_names=("shape", "keep_prob"), effect=RANDOM, no_gradient="random numbers"
)
_BY_BITS = Primitive("DropoutByBits", _by_bits)


@as_operator
def DropoutGenMask(shape: Any, keep_prob: Any, *, Seed0: int = 0, Seed1: int = 0) -> Tensor:
    """Bits that tell which elements stay: ``DropoutGenMask()(shape, keep_prob)``, for `DropoutDoMask`.

    Its length is the number of elements, rounded up to 128 bits.
    """
    probability = float(freeze(keep_prob))
    if not 0 <= probability <= 1:
        raise ValueError(f"DropoutGenMask: keep_prob must be in [0, 1], not {probability}")
    return apply(_GENERATE, (_key_of(Seed0, Seed1),), (tuple(freeze(shape)), probability))


def dropout_by_bits(input_x: Tensor, mask: Tensor, keep_prob: Any) -> Tensor:
    """Zero the elements whose bit is 0 and divide the rest: ``DropoutDoMask()(x, mask, keep_prob)``."""
    if mask.dtype is not dtypes.uint8 or mask.ndim != 1:
        raise TypeError(f"DropoutDoMask: the mask must be one row of uint8, not {mask.dtype} of shape {mask.shape}")
    if mask.size * 8 < input_x.size:
        raise ValueError(f"DropoutDoMask: a mask of {mask.size * 8} bits is too short for {input_x.size} elements")
    return apply(_BY_BITS, (input_x, mask, tensor(keep_prob)))


operator_class("DropoutDoMask", dropout_by_bits)


@as_operator
def Dropout(x: Tensor, *, keep_prob: float = 0.5, Seed0: int = 0, Seed1: int = 0) -> Any:
    """Zero elements at random: ``Dropout(keep_prob)(x)`` returns the output and the mask."""
    if not 0 < keep_prob <= 1:
        raise ValueError(f"Dropout: keep_prob must be in (0, 1], not {keep_prob}")
    key = Tensor(np.array([Seed0, Seed1], np.uint32)) if Seed0 or Seed1 else draw_key()
    out, mask = apply(DROPOUT, (x, key), (1.0 - float(keep_prob), x.ndim))
    return out, mask.astype(x.dtype)


@shows("rrelu(Tensor([-1.0, 2.0]), 0.5, 0.5)", "[-0.5  2. ]")
def rrelu(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3) -> Tensor:
    """Negative elements times slopes by chance.

    Args:
        input: tensor, of floats.
        lower: the smallest slope.
        upper: the largest slope.

    Returns:
        Tensor: of the same shape and element type.

    Raises:
        TypeError: a slope is no number.
        ValueError: a slope is not from 0 to 1, or `lower` is larger than `upper`.
    """
    reals("rrelu", lower=lower, upper=upper)
    if not 0 <= lower <= upper <= 1:
        raise ValueError(f"rrelu: lower must be at most upper, and both in [0, 1], not {lower} and {upper}")
    floats = input if input.dtype.is_floating else input.astype(dtypes.float32)
    slopes = float(lower) + float(upper - lower) * rand(*(input.shape or (1,)), dtype=floats.dtype).reshape(input.shape)
    return where(floats >= 0.0, floats, floats * slopes).astype(input.dtype)
