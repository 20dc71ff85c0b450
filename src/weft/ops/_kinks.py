"""Functions with kinks and poles, for implementations, with the derivative that they have there.

JAX differentiates ``abs`` at 0 as 1 and a root at 0 as infinity. Implementations use these functions instead, so that
losses, norms and distances have the derivative 0 where their two sides are equal.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def magnitude(x: Any) -> Any:
    """Absolute value; its derivative at 0 is 0, between the slopes on both sides."""
    if jnp.issubdtype(x.dtype, jnp.complexfloating):
        return root(jnp.square(x.real) + jnp.square(x.imag))
    return x * jnp.sign(x) if jnp.issubdtype(x.dtype, jnp.inexact) else jnp.abs(x)


def direction(x: Any) -> Any:
    """The sign of real numbers, constant on both sides of 0; of complex ones ``z / abs(z)``, which turns; 0 at 0."""
    if not jnp.issubdtype(x.dtype, jnp.complexfloating):
        return jnp.sign(x)
    size = magnitude(x)
    zero = size == 0
    return jnp.where(zero, jnp.zeros_like(x), x / jnp.where(zero, jnp.ones_like(size), size))


def root(x: Any, order: float = 2.0) -> Any:
    """A root of what is not negative; its derivative at 0 is 0, as if zero were the smallest of its neighbours."""
    zero = x == 0
    safe = jnp.where(zero, jnp.ones_like(x), x)
    found = jnp.sqrt(safe) if order == 2 else jnp.power(safe, 1.0 / order)
    return jnp.where(zero, jnp.zeros_like(x), found)


def power(x: Any, order: float) -> Any:
    """A positive power of what is not negative; its derivative at 0 is 0 where it would be infinite."""
    if order >= 1:
        return jnp.power(x, order)
    zero = x == 0
    return jnp.where(zero, jnp.zeros_like(x), jnp.power(jnp.where(zero, jnp.ones_like(x), x), order))


def vector_norm(x: Any, order: float, axes: tuple[int, ...], keepdims: bool = False) -> Any:
    """The norm of an order over axes; its derivative is 0 where the norm is 0."""
    if order == 2:
        square = jnp.square(x.real) + jnp.square(x.imag) if jnp.iscomplexobj(x) else jnp.square(x)
        return root(jnp.sum(square, axes, keepdims=keepdims))
    size = magnitude(x)
    if order == 0:
        return jnp.sum(size != 0, axes, dtype=size.dtype, keepdims=keepdims)
    if order == 1:
        return jnp.sum(size, axes, keepdims=keepdims)
    if np.isinf(order):
        return (jnp.max if order > 0 else jnp.min)(size, axes, keepdims=keepdims)
    if order > 0:
        return root(jnp.sum(power(size, order), axes, keepdims=keepdims), order)
    zero = jnp.any(size == 0, axes, keepdims=True)  # one element that is 0 makes such a norm 0
    total = jnp.sum(jnp.power(jnp.where(zero, jnp.ones_like(size), size), order), axes, keepdims=True)
    found = jnp.where(zero, jnp.zeros_like(total), jnp.power(total, 1.0 / order))
    return found if keepdims else jnp.squeeze(found, axes)


def rectified(x: Any) -> Any:
    """What is positive of `x`; its derivative at 0 is 1, as where a loss of a margin begins."""
    return jnp.where(x >= 0, x, jnp.zeros_like(x))


# -- products at positions ---------------------------------------------------------------------------------------


@jax.custom_jvp
def multiplied_at(x: Any, positions: tuple[Any, ...], factors: Any) -> Any:
    """An array with elements multiplied by factors; a position that repeats takes all of its factors.

    Args:
        x: array.
        positions: one integer array for each of the first dimensions of `x`; those out of range are left out.
        factors: array of the positions' shape and the remaining dimensions of `x`.
    """
    return x.at[positions].multiply(factors)


@multiplied_at.defjvp
def _multiplied_at_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    return jax.jvp(_multiplied_in_order, primals, tangents)


def _multiplied_in_order(x: Any, positions: tuple[Any, ...], factors: Any) -> Any:
    """The same without a division, so that every derivative is right, also where factors are 0.

    The factors are sorted by their positions, multiplied along each run of equal positions, and the product at the end
    of a run goes to its element.
    """
    shape = jnp.broadcast_shapes(*(p.shape for p in positions))
    rest = x.shape[len(positions) :]
    cells = x.size if not rest else int(np.prod(x.shape[: len(positions)]))
    flat, inside = jnp.zeros((), jnp.int64), jnp.ones((), bool)
    for size, found in zip(x.shape, positions, strict=False):
        found = jnp.where(found < 0, found + size, found)
        inside = inside & (found >= 0) & (found < size)
        flat = flat * size + found
    flat = jnp.broadcast_to(jnp.where(inside, flat, cells), shape).reshape(-1)
    if flat.size == 0 or x.size == 0:
        return x
    order = jnp.argsort(flat, stable=True)
    ids = flat[order]
    values = jnp.broadcast_to(factors, (*shape, *rest)).reshape((flat.size, *rest))[order]
    starts = jnp.concatenate([jnp.ones(1, bool), ids[1:] != ids[:-1]]).reshape((-1,) + (1,) * len(rest))
    starts = jnp.broadcast_to(starts, values.shape)

    def joined(a: Any, b: Any) -> Any:
        return a[0] | b[0], jnp.where(b[0], b[1], a[1] * b[1])

    products = jax.lax.associative_scan(joined, (starts, values))[1]
    last = jnp.full(cells + 1, -1).at[ids].max(jnp.arange(flat.size))[:-1]
    hit = (last >= 0).reshape((-1,) + (1,) * len(rest))
    found = jnp.where(hit, products[jnp.maximum(last, 0)], jnp.ones((), x.dtype))
    return x * found.reshape(x.shape)
