"""Integers and bools through means, variances, differences and quotients: their types stay, as MindSpore says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from weft import Tensor, jit, ops

WHOLE = np.array([[-3, 2, 5], [4, -1, 0]])


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64])
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
def test_means_are_rounded_toward_zero(kind: Any, axis: Any) -> None:
    @jit
    def mean(x: Tensor) -> Tensor:
        return ops.mean(x, axis)

    for shift in (0, -3):
        x = Tensor((WHOLE + shift).astype(kind))
        expected = np.trunc((WHOLE + shift).mean(axis)).astype(kind)
        for found in (ops.mean(x, axis), mean(x), x.mean(axis), ops.ReduceMean()(x, () if axis is None else axis)):
            assert found.dtype.np_dtype == kind
            np.testing.assert_array_equal(found.asnumpy(), expected)


def test_a_mean_of_bools_is_a_share() -> None:
    assert float(ops.mean(Tensor([True, False, True, True]))) == 0.75


@pytest.mark.parametrize("kind", [np.uint8, np.int32])
def test_variances_are_around_the_mean_as_an_integer(kind: Any) -> None:
    x = np.array([4, 2, 4, 3, 0, 1], kind)
    distances = (x.astype(np.float32) - np.trunc(x.mean())) ** 2
    for ddof in (0, 1):
        np.testing.assert_allclose(ops.var(Tensor(x), None, ddof).asnumpy(), distances.sum() / (6 - ddof), rtol=1e-6)
    np.testing.assert_allclose(jit(ops.std)(Tensor(x)).asnumpy(), np.sqrt(distances.mean()), rtol=1e-6)


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        (lambda a, b: a - b, [False, True, True, False]),
        (lambda a, b: a // b, [False, False, True, True]),
        (lambda a, b: a % b, [False, False, True, False]),
        (ops.fmod, [False, False, True, False]),
        (lambda a, b: +a, [False, False, True, True]),
        (ops.kron, [False] * 8 + [False, True, False, True] * 2),
    ],
)  # fmt: skip
def test_bools_stay_bools(operation: Any, expected: list[bool]) -> None:
    a, b = Tensor([False, False, True, True]), Tensor([False, True, False, True])
    for found in (operation(a, b), jit(operation)(a, b)):
        assert found.dtype is weft.bool_
        np.testing.assert_array_equal(found.asnumpy(), expected)


def test_sums_and_products_of_bools() -> None:
    flags = Tensor([[True, False], [False, False]])
    np.testing.assert_array_equal(ops.ReduceSum()(flags, 1).asnumpy(), [True, False])
    np.testing.assert_array_equal(ops.ReduceProd()(flags, 1).asnumpy(), [False, False])
    assert ops.sum(flags).dtype is weft.int64
    assert int(ops.sum(flags)) == 1


def test_quotients_in_the_type_of_the_operands() -> None:
    a, b = Tensor([7, -7], weft.int32), Tensor([2, 2], weft.int32)
    for found in (ops.RealDiv()(a, b), ops.tensor_div(a, b), jit(ops.tensor_div)(a, b)):
        assert found.dtype is weft.int32
        np.testing.assert_array_equal(found.asnumpy(), [3, -3])
    np.testing.assert_array_equal((a / b).asnumpy(), [3.5, -3.5])
    np.testing.assert_array_equal(ops.inv(Tensor([1, -1, 4], weft.int32)).asnumpy(), [1, -1, 0])
    x = Tensor([4.0])
    assert float(weft.grad(ops.tensor_div)(x, Tensor([2.0]))[0]) == 0.5


def test_powers_of_integer_matrices() -> None:
    rows = np.array([[1, 2], [3, 4]], np.int32)
    for n in (0, 1, 5):
        found = ops.matrix_power(Tensor(rows), n)
        assert found.dtype is weft.int32
        np.testing.assert_array_equal(found.asnumpy(), np.linalg.matrix_power(rows, n))


def test_a_pseudo_inverse_leaves_small_singular_values_out() -> None:
    rows = np.diag([4.0, 1.0, 0.1]).astype(np.float32)
    np.testing.assert_allclose(ops.pinv(Tensor(rows), atol=0.5).asnumpy(), np.diag([0.25, 1, 0]), atol=1e-6)
    np.testing.assert_allclose(ops.pinv(Tensor(rows), rtol=0.3).asnumpy(), np.diag([0.25, 0, 0]), atol=1e-6)
    np.testing.assert_allclose(ops.pinv(Tensor(rows)).asnumpy(), np.diag([0.25, 1, 10]), rtol=1e-5, atol=1e-6)


def test_products_and_shifts_need_one_element_type() -> None:
    half, whole = Tensor(np.ones((2, 2), np.float16)), Tensor(np.ones((2, 2), np.float32))
    for call in (lambda: half @ whole, lambda: ops.matmul(whole, half), lambda: ops.dense(half, whole)):
        with pytest.raises(TypeError, match="one element type, not float"):
            call()
    with pytest.raises(TypeError, match="one element type"):
        ops.bitwise_left_shift(Tensor([1], weft.int32), Tensor([1], weft.int64))
    np.testing.assert_array_equal(ops.bitwise_left_shift(Tensor([1], weft.int8), 2).asnumpy(), [4])
