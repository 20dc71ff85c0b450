"""Initializers: names, shapes, and the moments that each promises."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import weft
from weft import dtypes
from weft.core.tensor import Parameter, Tensor
from weft.nn import initializer as module
from weft.nn.initializer import initializer

SHAPE = (64, 32, 3, 3)
FAN_IN, FAN_OUT = 32 * 9, 64 * 9
#: initializer, mean, standard deviation, bound
MOMENTS: dict[str, tuple[Any, float, float, float]] = {
    "uniform": (module.Uniform(0.3), 0.0, 0.3 / math.sqrt(3), 0.3),
    "normal": (module.Normal(0.2, 1.0), 1.0, 0.2, math.inf),
    "truncated": (module.TruncatedNormal(0.2, 1.0), 1.0, 0.2 * 0.87962566, 0.4 + 1.0),
    "tail": (module.TruncatedNormal(1.0, 0.0, 3.0, 4.0), 3.2620, 0.2246, 4.0),
    "he_uniform": (module.HeUniform(), 0.0, math.sqrt(2 / FAN_IN), math.sqrt(6 / FAN_IN)),
    "he_slope": (module.HeUniform(math.sqrt(5)), 0.0, math.sqrt(1 / 3 / FAN_IN), math.sqrt(1 / FAN_IN)),
    "he_normal_out": (module.HeNormal(mode="fan_out"), 0.0, math.sqrt(2 / FAN_OUT), math.inf),
    "he_tanh": (module.HeNormal(nonlinearity="tanh"), 0.0, 5 / 3 / math.sqrt(FAN_IN), math.inf),
    "xavier_uniform": (
        module.XavierUniform(2), 0.0, 2 * math.sqrt(2 / (FAN_IN + FAN_OUT)), 2 * math.sqrt(6 / (FAN_IN + FAN_OUT)),
    ),
    "xavier_normal": (module.XavierNormal(), 0.0, math.sqrt(2 / (FAN_IN + FAN_OUT)), math.inf),
    "scaling": (module.VarianceScaling(2.0, "fan_avg"), 0.0, math.sqrt(4 / (FAN_IN + FAN_OUT)), math.inf),
}  # fmt: skip


@pytest.mark.parametrize("name", MOMENTS)
def test_moments(name: str) -> None:
    weft.set_seed(0)
    init, mean, std, bound = MOMENTS[name]
    values = initializer(init, SHAPE).asnumpy().astype(np.float64)
    assert values.shape == SHAPE
    assert values.mean() == pytest.approx(mean, abs=4 * std / math.sqrt(values.size))
    assert values.std() == pytest.approx(std, rel=0.02)
    assert np.abs(values).max() <= bound + 1e-6


@pytest.mark.parametrize("name", ("zeros", "ones", "normal", "XavierUniform", "xavier_normal", "he_uniform", "HeNormal",
                                  "truncatedNormal", "uniform", "orthogonal"))  # fmt: skip
@pytest.mark.parametrize("dtype", (dtypes.float32, dtypes.float16, dtypes.bfloat16), ids=str)
def test_names_and_types(name: str, dtype: Any) -> None:
    found = initializer(name, [4, 3], dtype)
    assert found.dtype is dtype
    assert found.shape == (4, 3)
    assert np.isfinite(found.asnumpy().astype(np.float32)).all()


def test_fixed_values() -> None:
    np.testing.assert_array_equal(initializer(3, (2,)).asnumpy(), [3, 3])
    np.testing.assert_array_equal(initializer("identity", (2, 3)).asnumpy(), np.eye(2, 3))
    np.testing.assert_array_equal(initializer(module.Constant([1, 2]), (2, 2)).asnumpy(), [[1, 2], [1, 2]])
    q = initializer(module.Orthogonal(2.0), (3, 2, 4)).asnumpy().reshape(3, 8)
    np.testing.assert_allclose(q @ q.T, 4 * np.eye(3), atol=1e-5)
    x = np.random.default_rng(0).standard_normal((1, 2, 5, 5)).astype(np.float32)
    w = initializer(module.Dirac(), (2, 2, 3, 3))
    np.testing.assert_allclose(weft.ops.conv2d(Tensor(x), w, pad_mode="same").asnumpy(), x, 1e-6)
    assert (initializer(module.Sparse(0.25), (8, 5)).asnumpy() == 0).sum(0).tolist() == [2] * 5


def test_seed_repeats_the_values() -> None:
    found = []
    for _ in range(2):
        weft.set_seed(7)
        found.append(initializer("normal", (3, 3)).asnumpy())
    np.testing.assert_array_equal(*found)
    assert not np.array_equal(found[0], initializer("normal", (3, 3)).asnumpy())


def test_tensors_and_parameters_take_initializers() -> None:
    given = Tensor([1.0, 2.0])
    assert initializer(given, (2,)) is given
    assert initializer(given, (2,), dtypes.float16).dtype is dtypes.float16
    assert Tensor(shape=(2, 2), dtype=dtypes.float32, init=module.One()).asnumpy().sum() == 4
    assert Parameter(initializer("ones", [2])).clone("zeros").asnumpy().tolist() == [0, 0]

    class Own(module.Initializer):
        def _initialize(self, arr: Any) -> None:
            arr[:] = 5

    np.testing.assert_array_equal(initializer(Own(), (2,)).asnumpy(), [5, 5])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    (
        (lambda: initializer("nope", (2,)), ValueError, "'nope' names no initializer"),
        (lambda: initializer(None, (2,)), TypeError, "takes an Initializer"),
        (lambda: initializer("ones"), ValueError, "needs shape"),
        (lambda: initializer("ones", (-1,)), ValueError, "negative dimension"),
        (lambda: initializer(Tensor([1.0]), (2,)), ValueError, "has shape"),
        (lambda: initializer("he_normal", (2,)), ValueError, "at least 2 dimensions"),
        (lambda: initializer("identity", (2,)), ValueError, "needs 2 dimensions"),
        (lambda: module.HeNormal(mode="fan"), ValueError, "fan_in"),
        (lambda: module.calculate_gain("nope"), ValueError, "no gain"),
    ),
)
def test_mistakes_are_named(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("name", ["normal", "xavier_uniform", "zeros"])
def test_initial_values_in_a_compiled_function_are_new_in_each_call(name: str) -> None:
    def f(x: Any) -> Any:
        return x + initializer(name, (2, 2))

    def calls(function: Any) -> list[Any]:
        weft.set_seed(3)
        return [function(weft.ops.zeros((2, 2))).asnumpy().tolist() for _ in range(3)]

    assert calls(weft.jit(f)) == calls(f)


def test_a_layer_made_by_the_first_call() -> None:
    class Lazy(weft.nn.Cell):
        def construct(self, x: Any) -> Any:
            if not hasattr(self, "inner"):
                self.inner = weft.nn.Dense(2, 2)
            return self.inner(x)

    def calls(compiler: Any) -> list[Any]:
        weft.set_seed(3)
        function = compiler(Lazy())
        return [function(weft.ops.ones((1, 2))).asnumpy().round(5).tolist() for _ in range(3)]

    assert calls(weft.jit) == calls(lambda cell: cell)
