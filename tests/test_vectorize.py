"""vmap against loops and jax.vmap."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.values import close
from weft.autodiff.check import check_grads
from weft.autodiff.grad import grad
from weft.core.tensor import Parameter, Tensor
from weft.core.trace import any_active
from weft.errors import Unsupported
from weft.ops.joining import stack
from weft.ops.matmul import matmul
from weft.ops.reduce import reduce_sum
from weft.ops.trigonometry import sin
from weft.vectorize import VMAP, Body, vmap

same = functools.partial(close, rtol=1e-5, atol=1e-6)
A = np.arange(6, dtype=np.float32).reshape(3, 2) / 4
B = (np.arange(6, dtype=np.float32).reshape(2, 3) - 2) / 3


@pytest.mark.parametrize(
    ("in_axes", "out_axes"), ((0, 0), ((0, 1), 0), ((0, None), 1), ((None, 1), -1), ((-2, -1), 1), (((0), (1)), (1,)))
)
def test_axes_against_jax(in_axes: Any, out_axes: Any) -> None:
    a, b = A, B if in_axes != 0 else A
    if in_axes == (0, None):
        b = A[0]
    if in_axes == (None, 1):
        a = B[:, 0]
    result = vmap(lambda x, y: sin(x) * y, in_axes, out_axes)(Tensor(a), Tensor(b))
    expected = jax.vmap(lambda x, y: jnp.sin(x) * y, in_axes, out_axes[0] if isinstance(out_axes, tuple) else out_axes)(
        a, b
    )
    same(result, expected)


@given(
    shape=st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3)),
    axis=st.integers(-3, 2),
    out=st.integers(-3, 2),
)
def test_against_a_loop(shape: Any, axis: int, out: int) -> None:
    data = np.random.default_rng(0).normal(size=shape)
    result = vmap(lambda x: sin(x) * reduce_sum(x), axis, out)(Tensor(data))
    rows = [np.sin(r) * r.sum() for r in np.moveaxis(data, axis, 0)]
    np.testing.assert_allclose(result.asnumpy(), np.stack(rows, out))


def test_structures_and_outputs() -> None:
    def fn(d: Any, n: int, pair: Any) -> Any:
        return {"s": d["a"] + pair[0], "k": 5}, [d["a"] * n, None]

    first, second = vmap(fn, (0, None, (0, None)), (0, 1))({"a": Tensor(A)}, 3, (Tensor(A), Tensor(1.0)))
    same(first["s"], 2 * A)
    same(first["k"], np.full(3, 5))
    same(second[0], (3 * A).T)
    assert second[1] is None


def test_outside_tensors_are_not_mapped() -> None:
    w = Parameter(Tensor(B), name="w")
    same(vmap(lambda x: matmul(x, w))(Tensor(A)), A @ B)
    w.set_data(Tensor(B * 2))
    same(vmap(lambda x: matmul(x, w))(Tensor(A)), A @ B * 2)


def test_output_axis_none() -> None:
    w = Tensor(B)
    a, b = vmap(lambda x: (x, w * 2), out_axes=(0, None))(Tensor(A))
    same(a, A)
    same(b, 2 * B)
    with pytest.raises(ValueError, match="out_axes is None for an output that differs"):
        vmap(lambda x: x, out_axes=None)(Tensor(A))


def test_nested_and_repeated() -> None:
    outer = vmap(vmap(lambda x, y: x * y, (None, 0)), (0, None))
    same(outer(Tensor(A[:, 0]), Tensor(B[0])), np.outer(A[:, 0], B[0]))
    w = Parameter(Tensor(2.0), name="w")
    same(vmap(lambda row: vmap(lambda x: x * w * reduce_sum(row))(row))(Tensor(A)), A * 2 * A.sum(1, keepdims=True))


def test_gradients_through_and_inside() -> None:
    w = Parameter(Tensor(A[0]), name="w")
    mapped = vmap(lambda x: reduce_sum(sin(x * w)))
    of_x, of_w = grad(mapped, 0, w)(Tensor(A))
    same(of_x, np.cos(A * A[0]) * A[0])
    same(of_w, (np.cos(A * A[0]) * A).sum(0))
    assert w._node is None
    same(vmap(grad(lambda x: reduce_sum(x * x * x)))(Tensor(A)), 3 * A * A)
    # gradients of each example with respect to a shared weight
    same(vmap(lambda x: grad(lambda v: reduce_sum(v * w * w), None, w)(x))(Tensor(A)), 2 * A * A[0])
    check_grads(vmap(lambda x, y: sin(x) * y * x, (0, None)), (Tensor(A), Tensor(A[1])), order=3, modes=("rev", "fwd"))
    inside = vmap(grad(lambda x: reduce_sum(sin(x) * x)))
    check_grads(inside, (Tensor(A),), order=2)


def test_same_structure_is_compiled_once() -> None:
    data = Tensor(np.ones((5, 7), np.float32))
    before = len(VMAP.executables)
    for _ in range(3):
        vmap(lambda x: sin(x) * 3.25)(data)
    assert len(VMAP.executables) == before + 1
    vmap(lambda x: sin(x) * 3.5)(data)
    assert len(VMAP.executables) == before + 2


def test_body_is_compared_by_structure() -> None:
    from weft.core.tensor import wrap
    from weft.core.trace import Trace, tracing

    def body(scale: float, name: str) -> Body:
        trace = Trace(name)
        x = wrap(trace.root.add_param(Tensor(A).type))
        with tracing(trace):
            trace.root.outputs.append(trace.use(sin(x) * scale))
        return Body(trace.root)

    assert body(2.0, "a") == body(2.0, "b")
    assert hash(body(2.0, "a")) == hash(body(2.0, "b"))
    assert body(2.0, "a") != body(3.0, "a")


def test_writes_to_outside_handles() -> None:
    count = Parameter(Tensor(1.0), name="count")

    def fn(x: Any) -> Any:
        count.set_data(count * 2)
        return x * count

    same(vmap(fn)(Tensor(A)), 2 * A)
    assert count.item() == 2.0
    assert count._node is None

    def batched(x: Any) -> Any:
        count.set_data(reduce_sum(x))
        return x

    with pytest.raises(ValueError, match="differs between examples is written"):
        vmap(batched)(Tensor(A))
    assert count.item() == 2.0


def test_ensemble_of_functions() -> None:
    w = [Parameter(Tensor(float(i + 1)), name=f"w{i}") for i in range(3)]
    functions = [lambda x, p=p: x * p for p in w]
    result = vmap(functions)(Tensor(A))
    same(result, A * np.array([[1], [2], [3]]))
    of_w = grad(vmap(functions), None, w)(Tensor(A))
    for i in range(3):
        same(of_w[i], A[i].sum())
    same(vmap(functions, None, 1)(Tensor(A)), np.stack([A, 2 * A, 3 * A], 1))
    with pytest.raises(ValueError, match="3 cells are mapped over an axis of size 2"):
        vmap(functions, 1)(Tensor(A))


def test_matches_a_stacked_loop_of_library_calls() -> None:
    same(vmap(lambda x: stack([x, x * 2], axis=1))(Tensor(A)), np.stack([A, 2 * A], 2))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    (
        (lambda: vmap(3), TypeError, "fn must be a function"),
        (lambda: vmap(sin, "0"), TypeError, "in_axes must be ints"),
        (lambda: vmap(sin, 0, 1.5), TypeError, "out_axes must be ints"),
        (lambda: vmap(sin, None), ValueError, "maps nothing"),
        (lambda: vmap(sin, (None,)), ValueError, "maps nothing"),
        (lambda: vmap(sin, (0, 0))(Tensor(A)), ValueError, "in_axes has 2 entries, .* 1 arguments"),
        (
            lambda: vmap(sin, 2)(Tensor(A)),
            ValueError,
            r"in_axes is 2 for argument 0, a tensor of 2 dimensions \(3, 2\)",
        ),
        (lambda: vmap(matmul)(Tensor(A), Tensor(B)), ValueError, "axis 0 of argument 1 is 2, an earlier one is 3"),
        (lambda: vmap(lambda n: n)(3), ValueError, "no tensor is mapped"),
        (lambda: vmap(lambda x: x, 0, 4)(Tensor(A)), ValueError, "out_axes is 4"),
        (lambda: vmap(lambda x: (x, x), 0, (0,))(Tensor(A)), ValueError, "1 entries for 2 outputs"),
        (lambda: vmap(lambda x: x if reduce_sum(x) > 0 else x * 2)(Tensor(A)), Unsupported, "value of a tensor"),
    ),
)
def test_refusals(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()
    assert any_active() == 0
