"""`Tensor.max` and `Tensor.min` in their two forms, and sums of integers, eagerly and in graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import Tensor, dtypes, ops

FIRST = np.array([[1.0, 5.0, 3.0], [4.0, 2.0, 6.0]], np.float32)


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("wrapped", [lambda f: f, weft.jit])
def test_an_axis_by_position_or_as_dim_gives_positions_too(name: str, wrapped: Callable[..., Any]) -> None:
    def both(x: Tensor) -> Any:
        find = getattr(x, name)
        return find(0), find(1, True), find(dim=1, keepdim=True), find(axis=1), find(axis=0, return_indices=True)

    run = wrapped(both)
    for values in (FIRST, -FIRST[::-1]):
        by_row, kept, named, plain, asked = run(Tensor(values))
        for found, axis in ((by_row, 0), (asked, 0)):
            np.testing.assert_array_equal(found[0].asnumpy(), getattr(values, name)(axis))
            np.testing.assert_array_equal(found[1].asnumpy(), getattr(values, f"arg{name}")(axis))
            assert found[1].dtype is dtypes.int64
        assert kept[0].shape == named[0].shape == named[1].shape == (2, 1)
        np.testing.assert_array_equal(plain.asnumpy(), getattr(values, name)(1))


def test_gradients_of_the_pair() -> None:
    found = weft.grad(lambda x: x.max(1)[0].sum())(Tensor(FIRST))
    np.testing.assert_array_equal(found.asnumpy(), [[0, 1, 0], [0, 0, 1]])


def test_more_than_an_axis_by_position_is_refused() -> None:
    with pytest.raises(TypeError, match=r"max\(\) takes an axis"):
        Tensor(FIRST).max(0, True, 1)


@pytest.mark.parametrize("kind", [dtypes.int8, dtypes.uint8, dtypes.int32, dtypes.bool_])
@pytest.mark.parametrize("wrapped", [lambda f: f, weft.jit])
def test_integers_are_summed_and_multiplied_in_int64(kind: Any, wrapped: Callable[..., Any]) -> None:
    run = wrapped(lambda x: (x.sum(), ops.sum(x, 0), ops.prod(x), x.prod(dim=0)))
    for values in ([100, 100, 2], [1, 1, 1]):
        total, row, product, last = run(Tensor(values).astype(kind))
        numbers = np.array(values) > 0 if kind is dtypes.bool_ else np.array(values)
        assert {each.dtype for each in (total, row, product, last)} == {dtypes.int64}
        assert total.item() == row.item() == numbers.sum()
        assert product.item() == last.item() == numbers.prod()


@pytest.mark.parametrize("name", ["topk", "diff", "cumsum", "median", "concat"])
@pytest.mark.parametrize("stranger", ["abc", None])
def test_operands_that_are_no_tensors_are_type_errors(name: str, stranger: Any) -> None:
    with pytest.raises(TypeError):
        getattr(ops, name)(stranger, 1)
