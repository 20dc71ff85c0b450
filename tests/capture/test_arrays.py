"""NumPy arrays that meet tensors in a graph: inputs whose data each call brings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

from weft import jit, ops
from weft.core.tensor import Tensor
from weft.testing import assert_compiles

BIG = np.arange(10_000, dtype=np.float32)


def made(x: Any, z: Any) -> Any:
    return Tensor(z) * 2 + x.sum()


def made_twice(x: Any, z: Any) -> Any:
    first, second = Tensor(z), Tensor(z)
    first[0] = 9
    return first, second, first is second


def converted(x: Any, z: Any) -> Any:
    return Tensor(z, dtype=ops.cast(x, "int32").dtype), Tensor.from_numpy(z) + 1


def operand(x: Any, z: Any) -> Any:
    return x + z, x * z, x < z, x == z, x - z[:1]


def shapes(x: Any, z: Any) -> Any:
    return x.sum() * z.shape[0] * z.ndim if len(z) == 3 else x


def in_branch(x: Any, z: Any) -> Any:
    if x.sum() > 0:
        return Tensor(z) + x
    return x - Tensor(z)


def in_loop(x: Any, z: Any) -> Any:
    i = 0
    while x.sum() < 10 and i < 3:
        x = x + Tensor(z) + 1
        i += 1
    return x


def reversed_operand(x: Any, z: Any) -> Any:
    return z + x, z * x


DATA: list[Callable[[], Any]] = [
    lambda: np.array([1.0, -2.0, 3.0], np.float32),
    lambda: np.array([1.0, 2.0, 4.0]),
    lambda: np.array([1, 2, 3]),
    lambda: np.array([True, False, True]),
    lambda: np.arange(6, dtype=np.int16)[::2],
    lambda: np.array([1.0, 2.0, 3.0], ">f4"),
    lambda: jax.numpy.array([1.0, 2.0, 3.0]),
]


#: what takes no JAX arrays
OF_NUMPY = (converted, operand, reversed_operand)


@pytest.mark.parametrize(
    "program", [made, made_twice, converted, operand, shapes, in_branch, in_loop, reversed_operand]
)
def test_arrays_do_what_they_do_eagerly(program: Callable[..., Any]) -> None:
    compiled = jit(program)
    for make in DATA:
        if program in OF_NUMPY and isinstance(make(), jax.Array):
            continue
        for sign in (1.0, -1.0):
            x = Tensor(np.array([0.5, 1.5, 2.5], np.float32) * np.float32(sign))
            wanted, found = jax.tree.leaves(program(x, make())), jax.tree.leaves(compiled(x, make()))
            assert [type(leaf) for leaf in found] == [type(leaf) for leaf in wanted]
            for one, other in zip(found, wanted, strict=True):
                assert getattr(one, "dtype", None) == getattr(other, "dtype", None)
                np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-6)


def test_no_graph_for_each_array() -> None:
    compiled = jit(lambda x, z: x + Tensor(z))
    x = Tensor(np.zeros(3, np.float32))
    with assert_compiles(max=1):
        for k in range(5):
            np.testing.assert_array_equal(compiled(x, np.full(3, k, np.float32)).asnumpy(), [k] * 3)


def test_another_shape_is_another_graph() -> None:
    compiled = jit(lambda z: Tensor(z).sum())
    assert float(compiled(np.ones(3, np.float32))) == 3
    assert float(compiled(np.ones(4, np.float32))) == 4
    assert "shape (3,) -> (4,)" in str(compiled.report())


def test_an_array_written_in_place_is_read_again() -> None:
    compiled = jit(lambda x: x + Tensor(BIG).sum())
    x = Tensor(np.zeros((), np.float32))
    for k in range(3):
        BIG[:] = k
        assert float(compiled(x)) == k * BIG.size
