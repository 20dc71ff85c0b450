"""Functions of `mindspore.numpy` against NumPy: values, element types, compiled and not, gradients, bad calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
import weft.mindspore

F = np.array([[1.5, 2.0, 3.0], [4.0, 5.5, 7.0]], np.float32)
V = np.array([1.0, 2.5, 3.0, 0.5], np.float32)
W = np.array([2.0, -1.0, 0.5], np.float32)
I = np.array([[1, 0, 3], [4, 5, 0]], np.int32)  # noqa: E741
N = np.array([[1.0, np.nan, 3.0], [4.0, 5.0, np.nan]], np.float32)
B = np.array([True, False, True])
INDEX = np.array([[0, 2], [1, 1]], np.int32)

#: name, arguments, keywords, element types of the results where they are not NumPy's
CASES: tuple[tuple[Any, ...], ...] = (
    ("append", (F, F[:1]), {"axis": 0}),
    ("append", (F, I), {}, "float32"),
    ("argwhere", (I,), {}),
    ("array_equal", (F, I), {}),
    ("array_equal", (N, N), {"equal_nan": True}),
    ("array_equiv", (F[:1], F), {}),
    ("atleast_1d", (np.float32(2.0),), {}),
    ("atleast_2d", (V,), {}),
    ("atleast_3d", (F,), {}),
    ("average", (F,), {"axis": 1}),
    ("average", (F, 1, W), {"returned": True}),
    ("average", (F, None, F), {}),
    ("bartlett", (5,), {}, "float32"),
    ("blackman", (5,), {}, "float32"),
    ("hamming", (5,), {}, "float32"),
    ("hanning", (6,), {}, "float32"),
    ("bitwise_not", (I,), {}),
    ("broadcast_arrays", (F[:1], I), {}),
    ("choose", (np.array([0, 1, 0], np.int32), F), {}),
    ("choose", (np.array([3, -1, 0], np.int32), F), {"mode": "wrap"}),
    ("convolve", (V, W), {}),
    ("convolve", (V, W), {"mode": "same"}),
    ("convolve", (I[0], I[1]), {"mode": "valid"}, "int32"),
    ("copysign", (F, F - 4), {}),
    ("corrcoef", (F + I,), {}, "float32"),
    ("correlate", (V, W), {}),
    ("correlate", (W, V), {"mode": "same"}),
    ("correlate", (V, W), {"mode": "full"}),
    ("count_nonzero", (I,), {"axis": 1}, "int32"),
    ("cov", (F + I,), {}, "float32"),
    ("cov", (F, W), {"bias": True}, "float32"),
    ("cov", (F.T,), {"rowvar": False, "aweights": np.array([1, 2, 3], np.int32)}, "float32"),
    ("cov", (F,), {"fweights": np.array([1, 2, 3], np.int32)}, "float32"),
    ("cross", (F, W), {}),
    ("cross", (F, F + I), {"axisc": 0}),
    ("cumprod", (F, 1), {}),
    ("cumprod", (np.array([2, 3], np.int8),), {}, "int32"),
    ("diag_indices", (3, 3), {}, "int32"),
    ("diagflat", (F,), {"k": -1}),
    ("digitize", (F, V[:3]), {}, "int32"),
    ("digitize", (F, np.array([6.0, 3.0, 2.0], np.float32)), {"right": True}, "int32"),
    ("divmod", (F, 2.5), {}, "float32"),
    ("dsplit", (F[None], 3), {}),
    ("hsplit", (F, [1]), {}),
    ("vsplit", (F, 2), {}),
    ("ediff1d", (V,), {"to_begin": 7.0}),
    ("fabs", (-F,), {}),
    ("geomspace", (1.0, 16.0), {"num": 5}, "float32"),
    ("geomspace", (1.0, 16.0), {"num": 4, "endpoint": False}, "float32"),
    ("gradient", (F,), {}),
    ("gradient", (V, 2.0), {}),
    ("histogram", (V,), {"bins": 3}, "float32"),
    ("histogram", (V,), {"bins": 4, "range": (0.0, 3.0), "density": True}, "float32"),
    ("histogram", (W, np.array([-1.0, 0.0, 2.0], np.float32)), {"weights": W}, "float32"),
    ("histogram2d", (V, V * V), {"bins": [2, 3]}, "float32"),
    ("histogram_bin_edges", (V,), {"bins": 2}, "float32"),
    ("indices", ((2, 3),), {}, "int32"),
    ("indices", ((2, 3),), {"sparse": True}, "int32"),
    ("interp", (F - 0.2, np.sort(V), V), {}, "float32"),
    ("interp", (F - 0.2, np.sort(V), V), {"left": -1.0, "right": 9.0}, "float32"),
    ("intersect1d", (I, np.array([5, 3, 9], np.int32)), {}),
    ("intersect1d", (I, np.array([5, 3, 9], np.int32)), {"return_indices": True}, "int32"),
    ("ix_", (I[0], I[1, :2]), {}),
    ("nancumsum", (N, 1), {}),
    ("nanmax", (N, 0), {}),
    ("nanmin", (N,), {}),
    ("nanmean", (N, 1), {}),
    ("nanstd", (N, 1), {}),
    ("nansum", (N, 0), {"keepdims": True}),
    ("nanvar", (N,), {"ddof": 1}),
    ("polyadd", (V, W), {}),
    ("polysub", (W, V), {}),
    ("polymul", (V, W), {}),
    ("polyder", (V,), {"m": 2}, "float32"),
    ("polyint", (V, 2, [3.0, 4.0]), {}, "float32"),
    ("polyval", (V, F), {}),
    ("ptp", (F, 0), {}),
    ("ravel_multi_index", ((INDEX[0], INDEX[1]), (3, 3)), {}, "float32"),
    ("ravel_multi_index", ((INDEX[0], INDEX[1]), (3, 3)), {"order": "F"}, "float32"),
    ("rollaxis", (F[None], 2), {}),
    ("rollaxis", (F[None], 0, 2), {}),
    ("select", ([F > 5, F > 2], [F, F * 2], 9), {}),
    ("setdiff1d", (I, np.array([5, 3], np.int32)), {}),
    ("setdiff1d", (I[0], np.array([3], np.int32)), {"assume_unique": True}),
    ("signbit", (F - 4,), {}),
    ("take", (F, INDEX), {"axis": 1, "mode": "clip"}),
    ("take", (F, INDEX + 5), {"mode": "wrap"}),
    ("take_along_axis", (F, INDEX, 1), {}),
    ("take_along_axis", (F, INDEX[:1, :1], 0), {}),
    ("tri", (2, 3, 1), {}, "float32"),
    ("tril_indices_from", (F,), {}, "int32"),
    ("triu_indices_from", (F, 1), {}, "int32"),
    ("unwrap", (F * F,), {}),
    ("vander", (V, 3), {}, "float32"),
    ("vander", (V,), {"increasing": True}, "float32"),
)
#: names whose gradients lead to the first argument
DIFFERENTIABLE = {
    "append", "average", "convolve", "corrcoef", "correlate", "cov", "cross", "cumprod", "diagflat", "ediff1d",
    "fabs", "gradient", "interp", "nancumsum", "nanmax", "nanmean", "nanstd", "nansum", "nanvar", "polyadd",
    "polyder", "polyint", "polymul", "polyval", "ptp", "take", "take_along_axis", "unwrap", "vander",
}  # fmt: skip


def tensors(value: Any) -> Any:
    if isinstance(value, (list, tuple)) and any(isinstance(each, np.ndarray) for each in value):
        return type(value)([tensors(each) for each in value])
    return weft.Tensor(value) if isinstance(value, (np.ndarray, np.float32)) else value


def check(found: Any, expected: Any, kind: str | None) -> None:
    if isinstance(expected, (list, tuple)):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            check(one, other, kind)
        return
    expected = np.asarray(expected)
    if isinstance(found, weft.Tensor):
        assert found.asnumpy().dtype == (kind or expected.dtype)
    np.testing.assert_allclose(np.asarray(found), expected, rtol=2e-5, atol=1e-6)


def oracle(name: str) -> Any:
    if name == "trapz":
        return np.trapezoid if hasattr(np, "trapezoid") else np.trapz
    return getattr(np, name, None)


@pytest.mark.parametrize("case", CASES, ids=[f"{case[0]}{at}" for at, case in enumerate(CASES)])
def test_as_numpy(case: tuple[Any, ...]) -> None:
    import mindspore.numpy as mnp

    name, args, kwargs, *kind = case
    expected = oracle(name)(*args, **kwargs)
    named = {key: tensors(value) for key, value in kwargs.items()}
    given = [tensors(each) for each in args]

    def run(first: Any) -> Any:
        return getattr(mnp, name)(first, *given[1:], **named)

    compiled = weft.jit(run)
    for function in (run, compiled):
        check(function(given[0]), expected, kind[0] if kind else None)
    if isinstance(args[0], np.ndarray) and args[0].dtype == np.float32 and name in DIFFERENTIABLE:
        check_gradient(name, run, args, kwargs)
        check(
            compiled(weft.Tensor(args[0] * 2)),
            oracle(name)(args[0] * 2, *args[1:], **kwargs),
            kind[0] if kind else None,
        )


def check_gradient(name: str, run: Any, args: Any, kwargs: Any) -> None:
    def flat(result: Any) -> Any:
        return np.sum(
            [
                np.sum(np.square(np.float64(each)))
                for each in (result if isinstance(result, (list, tuple)) else [result])
            ]
        )

    def loss(x: Any) -> Any:
        results = run(x)
        return sum((each * each).sum() for each in (results if isinstance(results, (list, tuple)) else [results]))

    x = weft.Tensor(args[0])
    found = weft.grad(loss)(x).asnumpy()
    wide = [each.astype(np.float64) if getattr(each, "dtype", None) == np.float32 else each for each in args]
    numeric = np.zeros(args[0].shape)
    for at in np.ndindex(args[0].shape):
        step = np.zeros(args[0].shape)
        step[at] = 1e-6
        above, below = (flat(oracle(name)(wide[0] + sign * step, *wide[1:], **kwargs)) for sign in (1, -1))
        numeric[at] = (above - below) / 2e-6
    np.testing.assert_allclose(np.nan_to_num(found), np.nan_to_num(numeric), rtol=1e-3, atol=1e-3)


def test_compiled_gradients() -> None:
    import mindspore.numpy as mnp

    cases = {case[0]: case for case in CASES if case[0] in DIFFERENTIABLE}

    def loss(x: Any, y: Any) -> Any:
        total = 0.0
        for name, args, kwargs, *_ in cases.values():
            first = x if args[0] is F else y
            if args[0] is F or args[0] is V:
                found = getattr(mnp, name)(first, *map(tensors, args[1:]), **kwargs)
                total = total + (found * found).sum()
        return total

    gradient = weft.grad(loss, (0, 1))
    x, y = weft.Tensor(F), weft.Tensor(V)
    check(weft.jit(gradient)(x, y), [each.asnumpy() for each in gradient(x, y)], None)


def test_trapz() -> None:
    import mindspore.numpy as mnp

    for kwargs in ({}, {"dx": 2.0}, {"axis": 0}, {"x": W}):
        named = {key: tensors(value) for key, value in kwargs.items()}
        expected = oracle("trapz")(F, **kwargs)
        for function in (mnp.trapz, weft.jit(lambda x, named=named: mnp.trapz(x, **named))):
            check(function(weft.Tensor(F), **(named if function is mnp.trapz else {})), expected, "float32")
    check(weft.grad(lambda x: mnp.trapz(x).sum())(weft.Tensor(F)), [[0.5, 1.0, 0.5]] * 2, "float32")


def test_functions_of_the_program() -> None:
    import mindspore.numpy as mnp

    x = weft.Tensor(F)
    cases = (
        (lambda a: mnp.apply_along_axis(lambda v, k, b=0: (v * k).sum() + b, 1, a, 2, b=1), (F * 2).sum(1) + 1),
        (lambda a: mnp.apply_along_axis(mnp.diag, 0, a), np.apply_along_axis(np.diag, 0, F)),
        (lambda a: mnp.apply_over_axes(mnp.sum, a, (0, 1)), F.sum(keepdims=True)),
        (
            lambda a: mnp.piecewise(a, [a < 2, a > 5], [lambda v: -v, 9.0, lambda v: v * v]),
            np.where(F < 2, -F, np.where(F > 5, 9, F * F)),
        ),
        (lambda a: mnp.piecewise(a, [a < 2], [lambda v, k: v * k], 3.0), np.where(F < 2, F * 3, 0)),
        (lambda a: mnp.multi_dot([a, a.T, a]), F @ F.T @ F),
        (lambda a: mnp.multi_dot([a[0, :2], a, a[0]]), F[0, :2] @ F @ F[0]),
    )
    for function, expected in cases:
        for run in (function, weft.jit(function)):
            check(run(x), expected.astype(np.float32), None)
    check(weft.grad(lambda a: cases[4][0](a).sum())(x), np.where(F < 2, 3.0, 0.0), "float32")


def test_grids() -> None:
    import mindspore.numpy as mnp

    for key, kind in ((np.s_[0:5, 1:4:2], "int32"), (np.s_[-1:1:5j], "float32"), (np.s_[0:2, -1:1:3j], "float32")):
        check(mnp.mgrid[key], np.mgrid[key], kind)
        check(mnp.ogrid[key], np.ogrid[key], kind)
    for bad in (np.s_[:3], 3):
        with pytest.raises(TypeError):
            mnp.mgrid[bad]


def test_histogramdd() -> None:
    import mindspore.numpy as mnp

    points = np.stack([V, V * V, -V], 1)
    for bins, density in ((2, False), ([2, [0.0, 3.0, 6.0], 1], True)):
        expected, ends = np.histogramdd(points, bins, density=density)
        for run in (mnp.histogramdd, weft.jit(mnp.histogramdd)):
            found, found_ends = run(weft.Tensor(points), bins, density=density)
            check(found, expected, "float32")
            check(found_ends, ends, "float32")
    weights = weft.Tensor(np.array([1.0, 2.0, 3.0, 4.0], np.float32))
    gradient = weft.grad(
        lambda w: (mnp.histogram(weft.Tensor(V), 3, weights=w)[0] * weft.Tensor([1.0, 2.0, 3.0])).sum()
    )
    check(gradient(weights), [1.0, 3.0, 3.0, 1.0], "float32")


def test_element_types() -> None:
    import mindspore as ms
    import mindspore.numpy as mnp

    assert mnp.promote_types("float32", ms.float64) is ms.float64
    assert mnp.promote_types(ms.uint64, ms.int64) is ms.float64
    assert mnp.promote_types("int", "float") is ms.float32
    assert mnp.result_type("i2", mnp.float32, True) is ms.float32
    assert mnp.result_type(ms.int8, 3) is ms.int32
    assert mnp.result_type(weft.Tensor(F), 1.5) is ms.float32
    assert mnp.nanvar(weft.Tensor(V.astype(np.float64))).dtype is ms.float32
    assert mnp.nanmean(weft.Tensor(V.astype(np.float16))).dtype is ms.float32
    assert mnp.nansum(weft.Tensor(np.array([1, 2], np.int8))).dtype is ms.int8
    assert mnp.average(weft.Tensor(I)).dtype is ms.int32
    assert mnp.polyval(weft.Tensor(I[0]), 2).dtype is ms.float32
    assert mnp.size(weft.Tensor(F), 1) == 3
    assert [mnp.isscalar(each) for each in (3.1, "a", True, [1], weft.Tensor(1), np.float32(3))] == [True] * 3 + [
        False
    ] * 2 + [True]
    assert mnp.array_str(weft.Tensor([1, 2])) == "[1 2]"
    assert float(mnp.nanmax(weft.Tensor([np.nan, np.nan]))) == -float(1 << 63)


BAD: tuple[tuple[Any, ...], ...] = (
    (TypeError, "append", (F, [1, 2])),
    (ValueError, "append", (F, F, 5)),
    (ValueError, "apply_along_axis", (np.sum, 5, F)),
    (ValueError, "apply_over_axes", (np.sum, F, 5)),
    (TypeError, "array_equal", ("a", 3)),
    (TypeError, "array_equiv", (F, "a")),
    (TypeError, "array_str", ([1],)),
    (TypeError, "atleast_1d", ([1],)),
    (TypeError, "average", (F, None, F[0])),
    (TypeError, "bartlett", (1.5,)),
    (ValueError, "broadcast_arrays", (F, F[:, :2])),
    (NotImplementedError, "choose", ([0], [[1]], "raise")),
    (ValueError, "choose", (F[:1], F)),
    (ValueError, "convolve", (F, [1])),
    (ValueError, "convolve", ([], [1])),
    (ValueError, "correlate", ([1], [1], "x")),
    (TypeError, "copysign", (B, B)),
    (TypeError, "cov", (F, None, True, False, None, W)),
    (RuntimeError, "cov", (F, None, True, False, None, I[0, :2])),
    (ValueError, "cross", ([1, 2, 3, 4], [1, 2, 3, 4])),
    (ValueError, "cumprod", (F, 3)),
    (TypeError, "diag_indices", (1.5,)),
    (TypeError, "diagflat", (V, 1.5)),
    (ValueError, "digitize", (F, F)),
    (TypeError, "divmod", ("a", 1)),
    (ValueError, "dsplit", (F, 1)),
    (ValueError, "hsplit", (F, 2)),
    (TypeError, "vsplit", (F, 1.5)),
    (ValueError, "ediff1d", (V[:1],)),
    (TypeError, "geomspace", (1, 2, 1.5)),
    (NotImplementedError, "gradient", (F, [1.0])),
    (ValueError, "gradient", (V[:1],)),
    (NotImplementedError, "histogram", (V, "auto")),
    (ValueError, "histogram", (V, 2, (3, 1))),
    (TypeError, "histogram", (V, 2.5)),
    (ValueError, "histogram", (V, 2, None, W)),
    (ValueError, "histogramdd", (F, [2, 2])),
    (ValueError, "interp", ([1.0], [1, 2], [3])),
    (TypeError, "intersect1d", ([1], [2], 1)),
    (ValueError, "ix_", (F,)),
    (ValueError, "multi_dot", ([F],)),
    (ValueError, "nanmax", (F, (0, 0))),
    (ValueError, "nansum", (F, 4)),
    (ValueError, "piecewise", (V, [V > 0], [1, 2, 3])),
    (ValueError, "polyadd", (F, [1])),
    (ValueError, "polyder", ([1], -1)),
    (TypeError, "promote_types", (1, "float32")),
    (TypeError, "ptp", ([1, 2],)),
    (IndexError, "result_type", ()),
    (ValueError, "ravel_multi_index", ([[1], [2]], (3, 3, 3))),
    (ValueError, "rollaxis", (F, 1, 5)),
    (ValueError, "select", ([F > 1], [F, F])),
    (TypeError, "setdiff1d", ([1], [1], 1)),
    (TypeError, "signbit", (F, "int32")),
    (ValueError, "size", (F, 4)),
    (NotImplementedError, "take", (F, INDEX, 0, "raise")),
    (TypeError, "take", (F, [0])),
    (ValueError, "take_along_axis", (F, INDEX[0], 0)),
    (TypeError, "tri", (1.5,)),
    (ValueError, "tril_indices_from", (V,)),
    (ValueError, "unwrap", (F, 3.0, 5)),
    (ValueError, "vander", (F,)),
)  # fmt: skip


@pytest.mark.parametrize(("error", "name", "args"), BAD, ids=[f"{case[1]}{at}" for at, case in enumerate(BAD)])
def test_refused(error: type[Exception], name: str, args: tuple[Any, ...]) -> None:
    import mindspore.numpy as mnp

    with pytest.raises(error):
        getattr(mnp, name)(*map(tensors, args))
