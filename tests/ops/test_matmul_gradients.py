"""Gradients of products of stacks of matrices with one matrix: sums over the stack, as JAX computes them."""

from __future__ import annotations

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import weft
from weft import Tensor, ops

STACKS = [((2, 3, 5, 4), (4, 6)), ((3, 5, 4), (4, 6)), ((5, 4), (3, 4, 6)), ((5, 4), (2, 3, 4, 6)), ((0, 5, 4), (4, 6)),
          ((2, 0, 4), (4, 6)), ((3, 5, 4), (3, 4, 6)), ((1, 5, 4), (3, 4, 6)), ((5, 4), (4, 6))]  # fmt: skip


def turned(shape: tuple[int, ...], transposed: bool) -> tuple[int, ...]:
    return (*shape[:-2], *(shape[:-3:-1] if transposed else shape[-2:]))


@pytest.mark.parametrize("transposed", list(itertools.product((False, True), repeat=2)))
@pytest.mark.parametrize("shapes", STACKS)
def test_gradients_are_those_of_jax(
    shapes: tuple[tuple[int, ...], tuple[int, ...]], transposed: tuple[bool, bool]
) -> None:
    product = ops.BatchMatMul(*transposed)

    def ours(x: Any, y: Any) -> Any:
        return (product(x, y) ** 2).sum()

    def theirs(x: Any, y: Any) -> Any:
        x, y = [jnp.swapaxes(a, -1, -2) if turn else a for a, turn in zip((x, y), transposed, strict=True)]
        return (jnp.matmul(x, y) ** 2).sum()

    gradients = [weft.grad(ours, (0, 1)), weft.jit(weft.grad(ours, (0, 1))), weft.grad(weft.jit(ours), (0, 1))]
    for seed in range(2):
        random = np.random.default_rng(seed)
        values = [
            random.standard_normal(turned(shape, turn)).astype(np.float32)
            for shape, turn in zip(shapes, transposed, strict=True)
        ]
        expected = jax.grad(theirs, (0, 1))(*values)
        for gradient in gradients:
            for found, wanted in zip(gradient(*map(Tensor, values)), expected, strict=True):
                assert found.shape == wanted.shape
                np.testing.assert_allclose(found.asnumpy(), wanted, rtol=2e-4, atol=1e-4)
        again = weft.grad(lambda x, y: (weft.grad(ours, 1)(x, y) ** 2).sum(), (0, 1))(*map(Tensor, values))
        second = jax.grad(lambda x, y: (jax.grad(theirs, 1)(x, y) ** 2).sum(), (0, 1))(*values)
        for found, wanted in zip(again, second, strict=True):
            np.testing.assert_allclose(
                found.asnumpy(), wanted, rtol=1e-3, atol=1e-3 * (1 + np.abs(wanted).max(initial=0))
            )
