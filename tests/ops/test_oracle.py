"""Arithmetic, promotion, broadcasting, comparison, reductions and shapes, against NumPy."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import weft
from weft import Tensor, dtypes, ops

FLOATS = st.floats(-8, 8, width=32).map(lambda v: round(v, 2))
SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=1, max_side=3)
BINARY: list[Callable[[Any, Any], Any]] = [
    operator.add, operator.sub, operator.mul, operator.lt, operator.le, operator.gt, operator.ge, operator.eq,
    operator.ne,
]  # fmt: skip


def floats(shape: Any) -> Any:
    return hnp.arrays(np.float32, shape, elements=FLOATS)


@given(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3), st.sampled_from(BINARY), st.data())
def test_binary_operators_broadcast(shapes: Any, op: Any, data: Any) -> None:
    a, b = (data.draw(floats(shape)) for shape in shapes.input_shapes)
    found = op(Tensor(a), Tensor(b))
    np.testing.assert_allclose(found.asnumpy(), op(a, b), 1e-6)
    np.testing.assert_allclose(op(a, Tensor(b)).asnumpy(), op(a, b), 1e-6)
    np.testing.assert_allclose(op(Tensor(a), b).asnumpy(), op(a, b), 1e-6)


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=5), st.integers(-9, 9).filter(bool))
def test_integer_division_is_that_of_python(values: list[int], divisor: int) -> None:
    t = Tensor(values)
    assert (t // divisor).tolist() == [v // divisor for v in values]
    assert (t % divisor).tolist() == [v % divisor for v in values]
    quotient, rest = divmod(t, divisor)
    assert quotient.tolist() == [v // divisor for v in values]
    assert rest.tolist() == [v % divisor for v in values]
    assert ops.truncate_div(t, divisor).tolist() == [int(v / divisor) for v in values]
    assert ops.fmod(t, divisor).tolist() == [int(math.fmod(v, divisor)) for v in values]
    assert (t / divisor).dtype is weft.float32


@given(st.sampled_from(dtypes.ALL), st.sampled_from(dtypes.ALL))
def test_result_type_follows_the_rule(a: Any, b: Any) -> None:
    x, y = Tensor(np.ones(2), a), Tensor(np.ones(2), b)
    try:
        wanted = dtypes.promote(a, b)
    except TypeError:
        with pytest.raises(TypeError):
            x + y
        return
    assert (x + y).dtype is wanted
    assert (x * y).dtype is wanted
    assert ops.maximum(x, y).dtype is wanted if wanted.category < 3 else True
    assert (x / y).dtype is dtypes.real_division(a, b)
    assert (x == y).dtype is weft.bool_
    assert ops.where(Tensor([True, False]), x, y).dtype is wanted


@pytest.mark.parametrize("number", [True, 2, 2.5, 1j])
@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
def test_python_number_beside_a_tensor(dtype: Any, number: Any) -> None:
    x = Tensor(np.ones(2), dtype)
    wanted = dtypes.promote_scalar(dtype, type(number))
    assert (x + number).dtype is wanted
    assert (number * x).dtype is wanted
    assert ops.where(Tensor([True, False]), x, number).dtype is wanted


def test_shapes_that_do_not_broadcast() -> None:
    with pytest.raises(ValueError, match=r"add: shapes \(2,\) and \(3,\)"):
        Tensor([1, 2]) + Tensor([1, 2, 3])


def test_operands_that_are_no_numbers() -> None:
    x = Tensor([1.0])
    with pytest.raises(TypeError):
        x + "a"
    with pytest.raises(TypeError):
        None * x
    assert (x == None) is False  # noqa: E711
    assert (x != None) is True  # noqa: E711
    assert (x == "a") is False
    assert (x == None) is False  # noqa: E711
    assert x == [1.0]


@pytest.mark.parametrize("op", [operator.and_, operator.or_, operator.xor])
def test_bits(op: Any) -> None:
    a, b = np.array([6, 5, -3], np.int32), np.array([3, 1, 2], np.int32)
    np.testing.assert_array_equal(op(Tensor(a), Tensor(b)).asnumpy(), op(a, b))
    np.testing.assert_array_equal(op(Tensor(a > 0), Tensor(b > 1)).asnumpy(), op(a > 0, b > 1))
    with pytest.raises(TypeError, match="integer or bool"):
        op(Tensor([1.0]), Tensor([2.0]))
    np.testing.assert_array_equal(ops.bitwise_not(Tensor(a)).asnumpy(), ~a)
    np.testing.assert_array_equal((~Tensor(np.array([6, 0, -3]))).asnumpy(), [False, True, False])
    np.testing.assert_array_equal((~Tensor(a > 0)).asnumpy(), a <= 0)
    np.testing.assert_array_equal((Tensor(a) << 2).asnumpy(), a << 2)
    np.testing.assert_array_equal((Tensor(a) >> 1).asnumpy(), a >> 1)


def test_python_functions() -> None:
    a, b = Tensor([1.0, -2.5]), Tensor([3.0, 4.0])
    assert sum([a, b]).tolist() == [4.0, 1.5]
    assert abs(a).tolist() == [1.0, 2.5]
    assert round(a).tolist() == [1.0, -2.0]
    assert pow(a, 2).tolist() == [1.0, 6.25]
    assert (2**b).tolist() == [8.0, 16.0]
    assert max(Tensor(1), Tensor(5)).item() == 5
    assert min(Tensor(1), Tensor(5)).item() == 1
    assert (-a).tolist() == [-1.0, 2.5]
    assert (+a).tolist() == [1.0, -2.5]
    assert (1 - a).tolist() == [0.0, 3.5]
    assert (1 / b).shape == (2,)
    assert sorted([Tensor(3), Tensor(1)])[0].item() == 1


# -- reductions --------------------------------------------------------------------------------------------------

REDUCTIONS = [
    ("sum", np.sum), ("mean", np.mean), ("prod", np.prod), ("max", np.max), ("min", np.min), ("std", np.std),
    ("var", np.var),
    ("all", np.all), ("any", np.any),
]  # fmt: skip


@st.composite
def reducible(draw: Any) -> tuple[Any, Any]:
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=3))
    axis = draw(
        st.one_of(st.none(), st.integers(-len(shape), len(shape) - 1), hnp.valid_tuple_axes(len(shape), min_size=1))
    )
    return draw(floats(shape)), axis


@given(reducible(), st.sampled_from(REDUCTIONS), st.booleans())
def test_reductions(case: tuple[Any, Any], reduction: Any, keep: bool) -> None:
    x, axis = case
    name, oracle = reduction
    found = getattr(Tensor(x), name)(axis=axis, keepdims=keep)
    keep = keep and not (axis is None and name in ("max", "min"))  # without an axis, there is none to keep
    wanted = oracle(x.astype(np.float64) if name not in ("all", "any") else x, axis=axis, keepdims=keep)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found.asnumpy(), wanted, 1e-4, 1e-4)


@given(reducible(), st.booleans())
def test_operator_classes_reduce(case: tuple[Any, Any], keep: bool) -> None:
    x, axis = case
    wanted = np.sum(x, axis=axis, keepdims=keep)
    largest = np.max(x, axis=axis, keepdims=keep)
    axis = () if axis is None else axis
    np.testing.assert_allclose(ops.ReduceSum(keep_dims=keep)(Tensor(x), axis).asnumpy(), wanted, 1e-4, 1e-4)
    np.testing.assert_allclose(ops.ReduceMax(keep)(Tensor(x), axis).asnumpy(), largest)


@given(reducible())
def test_extremes_and_order(case: tuple[Any, Any]) -> None:
    x, axis = case
    if isinstance(axis, tuple):
        axis = axis[0]
    t = Tensor(x)
    np.testing.assert_array_equal(t.argmax(axis).asnumpy(), np.argmax(x, axis))
    np.testing.assert_array_equal(t.argmin(axis).asnumpy(), np.argmin(x, axis))
    along = -1 if axis is None else axis
    values, positions = ops.sort(t, along)
    np.testing.assert_array_equal(values.asnumpy(), np.sort(x, along))
    np.testing.assert_array_equal(positions.asnumpy(), np.argsort(x, along, kind="stable"))
    np.testing.assert_array_equal(t.cumsum(along).shape, x.shape)
    np.testing.assert_allclose(t.cumsum(along).asnumpy(), np.cumsum(x, along), 1e-4, 1e-4)
    found, index = ops.max(t, along)
    np.testing.assert_array_equal(found.asnumpy(), np.max(x, along))
    np.testing.assert_array_equal(index.asnumpy(), np.argmax(x, along))
    k = x.shape[along]
    np.testing.assert_array_equal(ops.topk(t, k, along)[0].asnumpy(), -np.sort(-x, along))
    assert ops.ArgMaxWithValue(along)(t)[0].dtype is weft.int64


@pytest.mark.parametrize("axis", [2, -3, (0, 0), 1.5, "a"])
def test_axes_that_do_not_exist(axis: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="axis"):
        Tensor(np.ones((2, 2))).sum(axis)


# -- shapes -----------------------------------------------------------------------------------------------------


@given(floats((2, 3, 2)), st.permutations(range(3)))
def test_shape_operations(x: Any, order: Any) -> None:
    t = Tensor(x)
    np.testing.assert_array_equal(t.transpose(order).asnumpy(), x.transpose(order))
    np.testing.assert_array_equal(t.transpose(*order).asnumpy(), x.transpose(order))
    np.testing.assert_array_equal(ops.moveaxis(t, order[0], order[1]).asnumpy(), np.moveaxis(x, order[0], order[1]))
    np.testing.assert_array_equal(t.swapaxes(order[0], order[1]).asnumpy(), x.swapaxes(order[0], order[1]))
    np.testing.assert_array_equal(ops.flip(t, (order[0],)).asnumpy(), np.flip(x, order[0]))
    np.testing.assert_array_equal(ops.roll(t, 1, order[0]).asnumpy(), np.roll(x, 1, order[0]))
    np.testing.assert_array_equal(ops.concat([t, t], order[0]).asnumpy(), np.concatenate([x, x], order[0]))
    np.testing.assert_array_equal(ops.stack([t, t], order[0]).asnumpy(), np.stack([x, x], order[0]))
    np.testing.assert_array_equal(ops.tile(t, tuple(order)).asnumpy(), np.tile(x, order))
    np.testing.assert_array_equal(t.repeat(2, order[0]).asnumpy(), x.repeat(2, order[0]))
    for piece, wanted in zip(ops.tensor_split(t, 2, order[0]), np.array_split(x, 2, order[0]), strict=True):
        np.testing.assert_array_equal(piece.asnumpy(), wanted)
    np.testing.assert_array_equal(t.T.asnumpy(), x.T)
    np.testing.assert_array_equal(t.reshape(3, -1).asnumpy(), x.reshape(3, -1))
    np.testing.assert_array_equal(t.view((-1,)).asnumpy(), x.ravel())


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: x.reshape(4, 4), r"reshape: a tensor of shape \(2, 3\) \(6 elements\)"),
        (lambda x: x.reshape(-1, -1), "reshape"),
        (lambda x: x.transpose(0, 0), "permutation"),
        (lambda x: ops.concat([x, x.T]), "differ in another dimension"),
        (lambda x: ops.stack([x, x.T]), "one shape"),
        (lambda x: ops.split(x, [1, 1], 1), "do not sum"),
        (lambda x: ops.Split(1, 2)(x), "equal pieces"),
        (lambda x: x @ x, "inner sizes"),
        (lambda x: ops.MatMul()(x[0], x), "two matrices"),
        (lambda x: ops.broadcast_to(x, (3, 3)), "cannot be broadcast"),
        (lambda x: ops.expand_dims(x, 5), "out of range"),
        (lambda x: ops.concat([]), "at least one"),
        (lambda x: ops.clamp(x), "at least one of min and max"),
    ],
)
def test_errors_name_what_is_wrong(call: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call(Tensor(np.ones((2, 3), np.float32)))


# -- products ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shapes",
    [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)),
     ((2, 3), (5, 3, 4)), ((3,), (5, 3, 4)), ((5, 2, 3), (3,))],
)  # fmt: skip
def test_matmul(shapes: Any) -> None:
    generator = np.random.default_rng(0)
    a, b = (generator.normal(size=shape) for shape in shapes)
    found = Tensor(a) @ Tensor(b)
    np.testing.assert_allclose(found.asnumpy(), a @ b, 1e-10)
    np.testing.assert_allclose((a @ Tensor(b)).asnumpy(), a @ b, 1e-10)

    def loss(x: Tensor, y: Tensor) -> Tensor:
        return (x @ y).square().sum()

    by_a, by_b = weft.grad(loss, grad_position=(0, 1))(Tensor(a), Tensor(b))
    assert by_a.shape == a.shape
    assert by_b.shape == b.shape
    step = 1e-6 * generator.normal(size=a.shape)
    slope = (np.square((a + step) @ b).sum() - np.square((a - step) @ b).sum()) / 2
    np.testing.assert_allclose(np.sum(by_a.asnumpy() * step), slope, 1e-6)


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("second", [False, True])
def test_transposed_products(first: bool, second: bool) -> None:
    generator = np.random.default_rng(0)
    a, b = generator.normal(size=(2, 3)), generator.normal(size=(3, 4))
    x, y = (a.T if first else a), (b.T if second else b)
    np.testing.assert_allclose(ops.MatMul(first, second)(Tensor(x), Tensor(y)).asnumpy(), a @ b, 1e-10)
    found = ops.BatchMatMul(first, second)(Tensor(x[None]), Tensor(y[None]))
    np.testing.assert_allclose(found.asnumpy(), (a @ b)[None], 1e-10)


def test_numpy_float64_is_a_python_float() -> None:
    x = Tensor([1.0, 2.0])
    assert (x * np.sqrt(2.0)).dtype is weft.float32
    assert (np.sqrt(2.0) * x).dtype is weft.float32
    assert ops.where(x > 1, x, np.float64(0)).dtype is weft.float32
