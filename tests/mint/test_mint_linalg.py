"""`mindspore.mint.linalg` and `mint.special` against NumPy, in Python and in one graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

import weft
from weft import Tensor
from weft.mint import linalg, special

X = np.array([[0.3, -1.2, 0.7], [2.0, 0.5, -0.4]], np.float32)
M = np.stack([X, 2 * X])
S = np.array([[2.0, 0.5], [0.3, 1.5]], np.float32)
U = np.array([0.1, 0.4, 1.5], np.float32)

CASES: list[tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]] = [
    (linalg.inv, np.linalg.inv, (S,)),
    (linalg.matrix_norm, np.linalg.norm, (X,)),
    (lambda x: linalg.matrix_norm(x, 1), lambda x: np.linalg.norm(x, 1), (X,)),
    (lambda x: linalg.matrix_norm(x, "nuc", keepdim=True), lambda x: np.linalg.norm(x, "nuc", (1, 2), True), (M,)),
    (linalg.norm, lambda x: np.linalg.norm(x.ravel()), (M,)),
    (lambda x: linalg.norm(x, 2), lambda x: np.linalg.norm(x, 2), (X,)),
    (lambda x: linalg.norm(x, 1, 1), lambda x: np.linalg.norm(x, 1, 1), (X,)),
    (linalg.vector_norm, lambda x: np.linalg.norm(x.ravel()), (M,)),
    (
        lambda x: linalg.vector_norm(x, 3, (0, 2), True),
        lambda x: (abs(x) ** 3).sum((0, 2), keepdims=True) ** (1 / 3),
        (M,),
    ),
    (lambda x: linalg.vector_norm(x, 0), lambda x: np.float32(np.count_nonzero(x)), (X,)),
    (lambda x: linalg.vector_norm(x, float("-inf"), -1), lambda x: abs(x).min(axis=-1), (X,)),
    (lambda x: abs(linalg.qr(x)[1]), lambda x: abs(np.linalg.qr(x)[1]), (S,)),
    (special.erfc, scipy.special.erfc, (U,)),
    (special.exp2, np.exp2, (U,)),
    (special.expm1, np.expm1, (U,)),
    (special.log1p, np.log1p, (U,)),
    (special.log_softmax, scipy.special.log_softmax, (U,)),
    (special.round, np.round, (U,)),
    (special.sinc, np.sinc, (U,)),
]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_says_what_numpy_says(number: int) -> None:
    function, answer, args = CASES[number]
    graph = weft.jit(lambda *a: function(*a), fullgraph=True)
    for factor in (1, 0.9):
        given = [np.float32(factor) * one for one in args]
        expected = answer(*given)
        for run in (function, graph):
            found = run(*map(Tensor, given)).asnumpy()
            assert found.shape == np.shape(expected)
            np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-6)


def test_the_order_of_a_vector_norm_is_a_number() -> None:
    with pytest.raises(ValueError, match="order must be a number"):
        linalg.vector_norm(Tensor(X), "fro")
