"""`mindspore.numpy` against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft.mindspore  # noqa: F401  answers `import mindspore`

mnp: Any = pytest.importorskip("mindspore.numpy")

A = np.array([[1.5, -2.0, 3.0], [4.0, 0.5, -6.0]], np.float32)
B = np.array([[0.5, 1.0, 2.0], [1.0, 3.0, 0.25]], np.float32)
CASES = (
    ("sum", (A,), {}),
    ("sum", (A,), {"axis": 1, "keepdims": True}),
    ("sum", (A,), {"axis": (0, 1)}),
    ("mean", (A,), {"axis": -1}),
    ("max", (A,), {"axis": 0}),
    ("min", (A,), {}),
    ("prod", (A,), {"axis": 1}),
    ("var", (A,), {"axis": 0, "ddof": 1}),
    ("std", (A,), {"keepdims": True}),
    ("all", (A > -3,), {"axis": 1}),
    ("any", (A > 3,), {"axis": 0}),
    ("argmax", (A,), {}),
    ("argmin", (A,), {"axis": 1}),
    ("cumsum", (A,), {}),
    ("cumsum", (A,), {"axis": 1}),
    ("reshape", (A, (3, -1)), {}),
    ("reshape", (A, 6), {}),
    ("ravel", (A,), {}),
    ("transpose", (A,), {}),
    ("transpose", (A[None], (2, 0, 1)), {}),
    ("concatenate", ((A, B),), {"axis": 1}),
    ("concatenate", ((A, B[0]),), {"axis": None}),
    ("stack", ((A, B),), {"axis": -1}),
    ("where", (A > 0, A, B), {}),
    ("dot", (A, B.T), {}),
    ("dot", (A[0], B[0]), {}),
    ("dot", (A, B[0]), {}),
    ("dot", (A[None], np.stack([B.T, B.T])), {}),
    ("dot", (np.float32(2), A), {}),
    ("expand_dims", (A, (0, -1)), {}),
    ("clip", (A, -1.0, 2.0), {}),
    ("array", ([[1, 2], [3, 4]],), {"ndmin": 3}),
    ("zeros", ((2, 3), np.float32), {}),
    ("ones", (4, np.float32), {}),
    ("full", ((2, 3), 7), {}),
    ("full_like", (A, 2), {}),
    ("zeros_like", (A,), {}),
    ("ones_like", (A,), {}),
    ("arange", (5,), {}),
    ("arange", (1, 10, 3), {}),
    ("linspace", (0, 1, 5), {"dtype": np.float32}),
    ("logspace", (0, 2, 3), {"dtype": np.float32}),
    ("eye", (3,), {"dtype": np.float32, "k": 1}),
    ("identity", (3,), {"dtype": np.float32}),
    *[
        (name, (A,), {})
        for name in ("abs", "exp", "sin", "cos", "tan", "tanh", "sqrt", "square", "negative", "sign", "floor")
    ],
    *[(name, (A, B), {}) for name in ("add", "subtract", "multiply", "divide", "maximum", "minimum", "less", "equal")],
    ("matmul", (A, B.T), {}),
    ("unique", (np.array([[1, 2], [1, 3]]),), {}),
    ("power", (B, 2), {}),
    ("squeeze", (A[None],), {}),
    ("tile", (A, (2, 1)), {}),
    ("isnan", (A,), {}),
    ("logical_and", (A > 0, B > 1), {}),
)


def tensors(value: Any) -> Any:
    """NumPy arrays inside a value as tensors."""
    if isinstance(value, np.ndarray):
        return mnp.array(value)
    if isinstance(value, tuple) and any(isinstance(item, np.ndarray) for item in value):
        return tuple(tensors(item) for item in value)
    return value


@pytest.mark.parametrize(("name", "arguments", "options"), CASES, ids=lambda v: v if isinstance(v, str) else "")
def test_agrees_with_numpy(name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
    with np.errstate(all="ignore"):
        expected = np.asarray(getattr(np, name)(*arguments, **options))
    found = getattr(mnp, name)(*[tensors(a) for a in arguments], **options)
    assert found.shape == expected.shape
    assert found.dtype.np_dtype.kind == expected.dtype.kind
    np.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-5, atol=1e-6)


def test_random_numbers_have_the_shape_and_range() -> None:
    uniform = mnp.rand(200, 3).asnumpy()
    assert uniform.shape == (200, 3)
    assert 0 <= uniform.min() < uniform.max() < 1
    assert abs(mnp.randn(2000).asnumpy().mean()) < 0.2
    assert set(mnp.randint(2, 5, (200,)).asnumpy().tolist()) == {2, 3, 4}


def test_constants_and_dtypes() -> None:
    assert mnp.pi == np.pi
    assert mnp.newaxis is None
    assert str(mnp.zeros(2, mnp.int32).dtype) == "Int32"
