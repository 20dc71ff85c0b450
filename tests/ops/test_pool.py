"""Pooling against loops over windows, in NumPy."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weft
from weft import ops
from weft.autodiff.grad import grad
from weft.core.tensor import Tensor
from weft.ops.pool import MAX_POOL, MAX_POOL_GRAD

GENERATOR = np.random.default_rng(0)


def image(*shape: int) -> Any:
    return GENERATOR.permutation(math.prod(shape)).reshape(shape).astype(np.float32) / 7


def windows(size: int, kernel: int, stride: int, low: int, high: int, dilation: int, ceil: bool) -> list[list[int]]:
    """The positions in the input that each window covers, padding included (negative, or beyond the size)."""
    reach = dilation * (kernel - 1) + 1
    room = size + low + high - reach
    count = (math.ceil(room / stride) if ceil else room // stride) + 1
    if ceil and (count - 1) * stride >= size + low:
        count -= 1
    return [[i * stride - low + k * dilation for k in range(kernel)] for i in range(count)]


cases = st.fixed_dictionaries(
    {
        "kernel": st.tuples(st.integers(1, 3), st.integers(1, 3)),
        "stride": st.tuples(st.integers(1, 3), st.integers(1, 3)),
        "pad": st.tuples(st.integers(0, 1), st.integers(0, 1)),
        "ceil": st.booleans(),
        "counted": st.booleans(),
    }
)


def pooled(x: Any, case: dict[str, Any], dilation: Any, reduce: Any) -> Any:
    height, width = x.shape[2:]
    rows, columns = (
        windows(n, case["kernel"][i], case["stride"][i], case["pad"][i], case["pad"][i], dilation[i], case["ceil"])
        for i, n in enumerate((height, width))
    )
    out = np.zeros((*x.shape[:2], len(rows), len(columns)))
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            inside = [(r, c) for r in row for c in column if 0 <= r < height and 0 <= c < width]
            padded = [(r, c) for r in row for c in column if r < height + case["pad"][0] and c < width + case["pad"][1]]
            out[:, :, i, j] = reduce(np.stack([x[:, :, r, c] for r, c in inside]), len(padded))
    return out


@settings(max_examples=15)
@given(cases, st.tuples(st.integers(1, 2), st.integers(1, 2)))
def test_max_pool2d(case: dict[str, Any], dilation: Any) -> None:
    case["pad"] = tuple(min(p, k // 2) for p, k in zip(case["pad"], case["kernel"], strict=True))
    x = image(2, 2, 7, 6)
    wanted = pooled(x, case, dilation, lambda v, _: v.max(0))
    for indices in (False, True):
        found = ops.max_pool2d(Tensor(x), case["kernel"], case["stride"], case["pad"], dilation, indices, case["ceil"])
        if indices:
            found, where = found
            flat = x.reshape(2, 2, -1)
            at = where.asnumpy().reshape(2, 2, -1)
            np.testing.assert_allclose(np.take_along_axis(flat, at, 2).reshape(wanted.shape), wanted)
        np.testing.assert_allclose(found.asnumpy(), wanted)


@settings(max_examples=15)
@given(cases)
def test_avg_pool2d(case: dict[str, Any]) -> None:
    case["pad"] = tuple(min(p, k // 2) for p, k in zip(case["pad"], case["kernel"], strict=True))
    x = image(2, 2, 7, 6)

    def mean(values: Any, padded: int) -> Any:
        return values.sum(0) / (padded if case["counted"] else len(values))

    found = ops.avg_pool2d(Tensor(x), case["kernel"], case["stride"], case["pad"], case["ceil"], case["counted"])
    np.testing.assert_allclose(found.asnumpy(), pooled(x, case, (1, 1), mean), 1e-5, 1e-5)


@given(st.integers(1, 3), st.integers(1, 3))
def test_same_mode_keeps_ceil_of_the_size_and_counts_real_elements(kernel: int, stride: int) -> None:
    x = np.ones((1, 1, 7, 5), np.float32)
    found = ops.AvgPool(kernel, stride, "same")(Tensor(x))
    assert found.shape[2:] == (-(-7 // stride), -(-5 // stride))
    np.testing.assert_allclose(found.asnumpy(), 1.0)
    assert ops.MaxPool(kernel, stride, "SAME")(Tensor(x)).shape == found.shape


@settings(max_examples=15)
@given(st.integers(1, 7), st.integers(1, 6))
def test_adaptive_windows_cover_the_input(height: int, width: int) -> None:
    x = image(2, 1, 7, 6)
    wanted_mean = np.zeros((2, 1, height, width))
    wanted_max = np.zeros((2, 1, height, width))
    for i in range(height):
        for j in range(width):
            rows = slice(i * 7 // height, math.ceil((i + 1) * 7 / height))
            columns = slice(j * 6 // width, math.ceil((j + 1) * 6 / width))
            wanted_mean[:, :, i, j] = x[:, :, rows, columns].mean((2, 3))
            wanted_max[:, :, i, j] = x[:, :, rows, columns].max((2, 3))
    np.testing.assert_allclose(ops.adaptive_avg_pool2d(Tensor(x), (height, width)).asnumpy(), wanted_mean, 1e-5)
    found, where = ops.adaptive_max_pool2d(Tensor(x), (height, width), True)
    np.testing.assert_allclose(found.asnumpy(), wanted_max)
    at = where.asnumpy().reshape(2, 1, -1)
    np.testing.assert_allclose(np.take_along_axis(x.reshape(2, 1, -1), at, 2).reshape(wanted_max.shape), wanted_max)


def test_layouts_and_other_ranks_agree() -> None:
    x = image(2, 3, 6, 6)
    last = Tensor(x.transpose(0, 2, 3, 1))
    for name in ("MaxPool", "AvgPool"):
        operator = getattr(ops, name)
        found = operator(2, 2, "same", "NHWC")(last)
        np.testing.assert_allclose(found.asnumpy().transpose(0, 3, 1, 2), operator(2, 2, "same")(Tensor(x)).asnumpy())
    line = Tensor(x[:, :, 0])
    np.testing.assert_allclose(
        ops.max_pool1d(line, 2, 2).asnumpy(), ops.max_pool2d(Tensor(x[:, :, :1]), (1, 2), (1, 2)).asnumpy()[:, :, 0]
    )
    cube = Tensor(x[:, :, None])
    np.testing.assert_allclose(
        ops.avg_pool3d(cube, (1, 2, 2), (1, 2, 2)).asnumpy()[:, :, 0], ops.avg_pool2d(Tensor(x), 2, 2).asnumpy(), 1e-6
    )


def test_gradient_of_the_maximum_goes_to_the_maximum() -> None:
    x = image(1, 1, 4, 4)
    gradient = grad(lambda x: ops.max_pool2d(x, 2).sum())(Tensor(x)).asnumpy()
    wanted = np.zeros_like(x)
    for i in (0, 2):
        for j in (0, 2):
            window = x[0, 0, i : i + 2, j : j + 2]
            at = np.unravel_index(window.argmax(), (2, 2))
            wanted[0, 0, i + at[0], j + at[1]] = 1
    np.testing.assert_array_equal(gradient, wanted)


@pytest.mark.parametrize(
    ("call", "text"),
    (
        (lambda x: ops.max_pool2d(x, 9), "does not fit into a dimension of 4"),
        (lambda x: ops.max_pool2d(x, 2, 2, 2), "more than half"),
        (lambda x: ops.adaptive_avg_pool2d(x, (2, 2, 2)), "output_size"),
        (lambda x: ops.MaxPool(2, 2)(x[0]), "4 dimensions"),
    ),
)
def test_mistakes_are_named(call: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        call(Tensor(image(1, 1, 4, 4)))


TILES: Any = [
    ((2, 2), (3, 2, 7, 8), "NCHW"),
    ((2, 2), (3, 7, 8, 2), "NHWC"),
    ((2, 1), (2, 2, 4, 5), "NCHW"),
    ((1, 1), (2, 2, 3, 3), "NCHW"),
    ((4, 4), (1, 1, 9, 8), "NCHW"),
    ((5, 4), (1, 1, 10, 8), "NCHW"),  # more elements than are looked at one by one
    ((3,), (2, 3, 10), "NCW"),
    ((2, 2, 2), (2, 1, 4, 5, 6), "NCDHW"),
]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize(("kernel", "shape", "data_format"), TILES)
def test_gradient_of_windows_side_by_side(kernel: Any, shape: Any, data_format: str, dtype: str) -> None:
    """Bit for bit what XLA's own selection gives, with ties, infinities, NaN and negative zeros among the numbers."""
    random = np.random.default_rng(1)
    x = random.integers(-2, 2, shape).astype(np.float32)
    for special in (np.nan, -0.0, -np.inf):
        x[random.random(shape) < 0.1] = special
    rank = len(kernel)
    attrs = {"pads": ((0, 0),) * rank, "dilation": (1,) * rank, "data_format": data_format}

    def pooled(x: Any) -> Any:
        return MAX_POOL.implementation(x, kernel=kernel, stride=kernel, **attrs)

    x = jnp.asarray(x, dtype)
    dout = random.integers(-1, 2, pooled(x).shape).astype(np.float32)
    dout[dout == 1] = -0.0
    dout = jnp.asarray(dout, dtype)
    expected = jax.jit(lambda x, dout: jax.vjp(pooled, x)[1](dout)[0])(x, dout)
    found = MAX_POOL_GRAD.executable((kernel, kernel, *attrs.values()))(x, dout)
    assert np.asarray(found).tobytes() == np.asarray(expected).tobytes()


def test_the_second_derivative_where_a_maximum_is_zero() -> None:
    """The gradient that arrives is 0 there, and depends on the maximum all the same."""
    x = Tensor(np.array([[[[0.0, -1.0], [-2.0, -3.0]]]], np.float32))
    first = weft.grad(lambda x: (ops.MaxPool(2, 2)(x) ** 2).sum())
    second = weft.grad(lambda x: first(x)[0, 0, 0, 0])(x).asnumpy()
    np.testing.assert_array_equal(second, [[[[2.0, 0.0], [0.0, 0.0]]]])


@pytest.mark.parametrize("name", ["fractional_max_pool2d", "fractional_max_pool3d", "adaptive_max_pool3d"])
def test_what_is_no_tensor_is_refused_under_the_name_of_the_parameter(name: str) -> None:
    with pytest.raises(TypeError, match=f"^{name}: input must be a Tensor, not str"):
        getattr(ops, name)("x", 2)
