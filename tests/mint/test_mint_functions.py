"""Every function of `mindspore.mint`: NumPy's answer, in Python and in one graph, with values that change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

import weft
from weft import Tensor, mint

X = np.array([[0.3, -1.2, 0.7], [2.0, 0.5, -0.4]], np.float32)
Y = np.array([[1.5, 0.2, 0.9], [0.6, 1.1, 2.4]], np.float32)
U = np.array([[0.1, 0.4, 0.9], [0.6, 0.2, 0.3]], np.float32)
V = np.array([1.0, 2.5, -0.5], np.float32)
S = np.array([[2.0, 0.5], [0.3, 1.5]], np.float32)
N = np.array([[3, 1, 2], [4, 6, 5]], np.int32)
J = np.array([[1, 2, 3], [2, 4, 3]], np.int32)
B = np.array([[True, False, True], [True, True, False]])
AT = np.array([[0, 2], [1, 1]], np.int64)
PICK = np.array([2, 0], np.int64)
M = X[None] * np.ones((2, 1, 1), np.float32)
C = (X + 1j * Y).astype(np.complex64)

#: name -> (arguments, what NumPy says of them); a list where a name has several forms
Case = tuple[tuple[Any, ...], dict[str, Any], Callable[..., Any]]
CASES: dict[str, list[Case]] = {}


def case(names: str, answer: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    for name in names.split():
        CASES.setdefault(name, []).append((args, kwargs, answer))


for _names, _answer in {
    "abs": np.abs, "acos arccos": np.arccos, "asin": np.arcsin, "atan arctan": np.arctan, "ceil": np.ceil,
    "cos": np.cos, "cosh": np.cosh, "erf": scipy.special.erf, "erfc": scipy.special.erfc, "asinh arcsinh": np.arcsinh,
    "erfinv": scipy.special.erfinv, "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "fix trunc": np.trunc,
    "floor": np.floor, "isfinite": np.isfinite, "isinf": np.isinf, "isneginf": np.isneginf, "log": np.log,
    "log10": np.log10, "log1p": np.log1p, "log2": np.log2, "neg negative": np.negative, "real": np.real,
    "reciprocal": np.reciprocal, "rsqrt": lambda x: 1 / np.sqrt(x), "sigmoid": scipy.special.expit, "sign": np.sign,
    "sin": np.sin, "sinc": np.sinc, "sinh": np.sinh, "sqrt": np.sqrt, "square": np.square, "tan": np.tan,
    "tanh": np.tanh, "atanh arctanh": np.arctanh, "frac": lambda x: x - np.trunc(x), "round": np.round,
    "ravel": np.ravel, "clone": lambda x: x, "nan_to_num": np.nan_to_num, "logical_not": np.logical_not,
}.items():  # fmt: skip
    case(_names, _answer, U)
case("arcsin", lambda x: np.arcsin(x), x=U)
case("acosh arccosh", np.arccosh, U + 1)
case("isnan", lambda tensor: np.isnan(tensor), tensor=U)
case("imag", np.imag, C)
case("real", np.real, C)
case("inverse", np.linalg.inv, S)
case("trace", np.trace, S)
for _names, _answer in {
    "atan2 arctan2": np.arctan2, "eq": np.equal, "ne not_equal": np.not_equal, "floor_divide": np.floor_divide,
    "fmod": np.fmod, "ge greater_equal": np.greater_equal, "gt greater": np.greater, "le less_equal": np.less_equal,
    "lt less": np.less, "logaddexp": np.logaddexp, "logaddexp2": np.logaddexp2, "maximum": np.maximum,
    "minimum": np.minimum, "mul": np.multiply, "remainder": np.mod, "div divide": np.divide, "pow": None,
    "xlogy": scipy.special.xlogy, "add": np.add, "sub": np.subtract, "isclose": np.isclose,
}.items():  # fmt: skip
    if _answer is not None:
        case(_names, _answer, Y, U)
case("bitwise_and", np.bitwise_and, N, J)
case("bitwise_or", np.bitwise_or, N, J)
case("bitwise_xor", np.bitwise_xor, N, J)
case("bitwise_not", np.invert, N)
case("gcd", np.gcd, N, J)
case("logical_and", np.logical_and, B, U > 0.3)
case("logical_or", np.logical_or, B, U > 0.3)
case("logical_xor", np.logical_xor, B, U > 0.3)
case("dot vdot", np.dot, V, X[0])
case("matmul mm", np.matmul, X, X.T.copy())
case("pow", np.power, Y, 2)
case("pow", np.power, 2, Y)
case("float_power", np.float_power, N, 2)
case("add", lambda x, y, alpha: x + alpha * y, X, Y, alpha=2)
case("sub", lambda x, y, alpha: x - alpha * y, X, 3, alpha=0.5)
case("div divide", lambda x, y, rounding_mode: np.floor(x / y), Y, V, rounding_mode="floor")
case("clamp clip", lambda x, low, high: np.clip(x, low, high), X, -0.5, 1)
case("clamp clip", lambda x, max: np.minimum(x, max), X, max=0.4)
case("lerp", lambda x, y, w: x + w * (y - x), X, Y, 0.25)
case("polar", lambda r, a: (r * np.exp(1j * a)).astype(np.complex64), Y, X)
case("round", np.round, X, decimals=1)
case("addcdiv", lambda x, y, z, value: x + value * y / z, X, Y, U, value=2)
case("addcmul", lambda x, y, z, value: x + value * y * z, X, Y, U, value=2)
case("equal", np.array_equal, X, Y)
case("equal", np.array_equal, X, V)
case("allclose", np.allclose, X, Y)
case("item", np.ndarray.item, V[:1])
case("cdist", lambda x, y: np.sqrt(((x[:, None] - y[None]) ** 2).sum(-1)), X, Y)
case("einsum", lambda e, x, y: np.einsum(e, x, y), "ij,kj->ik", X, Y)
case("triangular_solve", lambda b, A: (np.linalg.solve(np.triu(A), b), A), X[:, :1], S)
case("triangular_solve", lambda b, A, upper: (np.linalg.solve(np.tril(A), b), A), X[:, :1], S, upper=False)

for _dims in ({}, {"dim": 1}, {"dim": 0, "keepdim": True}):

    def _reduced(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, dim=None, keepdim=False: function(x, axis=dim, keepdims=keepdim)

    case("all", _reduced(np.all), B, **_dims)
    case("any", _reduced(np.any), B, **_dims)
    case("amax", _reduced(np.amax), X, **_dims)
    case("amin", _reduced(np.amin), X, **_dims)
    case("argmax", _reduced(np.argmax), X, **{k: v for k, v in _dims.items() if k == "dim"})
    case("argmin", _reduced(np.argmin), X, **{k: v for k, v in _dims.items() if k == "dim"})
    case("mean", _reduced(np.mean), X, **_dims)
    case("nansum", _reduced(np.nansum), np.where(B, X, np.float32(np.nan)), **_dims)
    case("sum", _reduced(np.sum), X, **_dims)
    case("sum", _reduced(lambda x, **o: np.sum(x, dtype=np.int64, **o)), N, **_dims)
    case("prod", _reduced(np.prod), X, **_dims)
    case("prod", _reduced(lambda x, **o: np.prod(x, dtype=np.int64, **o)), N, **_dims)
    case("std", _reduced(lambda x, **o: np.std(x, ddof=1, **o)), X, **_dims)
    case("var", _reduced(lambda x, **o: np.var(x, ddof=1, **o)), X, **_dims)
    case("std_mean", _reduced(lambda x, **o: (np.std(x, ddof=1, **o), np.mean(x, **o))), X, **_dims)
    case("var_mean", _reduced(lambda x, **o: (np.var(x, ddof=1, **o), np.mean(x, **o))), X, **_dims)
    case("norm", _reduced(lambda x, **o: np.sqrt(np.sum(x * x, **o))), X, **_dims)
case("var", lambda x, correction: np.var(x), X, correction=0)
case("norm", lambda x, p, dim: np.abs(x).max(dim), X, float("inf"), (0, 1))
case("norm", lambda x, p: np.abs(x).sum(), X, 1)
case("norm", lambda x, p, dim, keepdim: (abs(x) ** p).sum(dim, keepdims=True) ** (1 / p), M, 3, (0, 2), keepdim=True)
case("logsumexp", lambda x, dim: np.log(np.exp(x).sum(dim)), X, 1)
case("count_nonzero", np.count_nonzero, B.astype(np.float32))
case("count_nonzero", lambda x, dim: np.count_nonzero(x, dim), B.astype(np.float32), 1)
case("cumsum", lambda x, dim: np.cumsum(x, dim), X, 1)
case("cumsum", lambda x, dim: np.cumsum(x, dim, np.int64), N, dim=0)
case("cumprod", lambda x, dim: np.cumprod(x, dim), X, 1)
case("cummax", lambda x, dim: (np.maximum.accumulate(x, dim), np.array([[0, 0, 2], [0, 0, 0]])), X, 1)
case("cummin", lambda x, dim: (np.minimum.accumulate(x, dim), np.array([[0, 1, 1], [0, 1, 2]])), X, 1)
case("max", np.max, X)
case("max", lambda x, dim: (x.max(dim), x.argmax(dim)), X, 1)
case("max", lambda x, dim, keepdim: (x.max(dim, keepdims=True), x.argmax(dim)[None]), X, dim=0, keepdim=True)
case("max", np.maximum, X, Y)
case("max", lambda x, other: np.maximum(x, other), X, other=Y)
case("min", np.min, X)
case("min", lambda x, dim: (x.min(dim), x.argmin(dim)), X, 1)
case("min", np.minimum, X, Y)
case("median", lambda x: np.sort(x.ravel())[2], X)
case("median", lambda x, dim: (np.median(x, dim), x.argsort(dim)[:, 1]), X, 1)
case("kthvalue", lambda x, k: (np.sort(x)[:, k - 1], x.argsort()[:, k - 1]), X, 2)
case("sort", lambda x: (np.sort(x), np.argsort(x)), X)
case("sort", lambda x, dim, descending: (-np.sort(-x, dim), np.argsort(-x, dim)), X, dim=0, descending=True)
case("argsort", lambda x, dim, descending: np.argsort(-x, dim), X, 1, True)
case("topk", lambda x, k: (-np.sort(-x)[:, :k], np.argsort(-x)[:, :k]), X, 2)
case("topk", lambda x, k, dim, largest: (np.sort(x, dim)[:k], np.argsort(x, dim)[:k]), X, 1, 0, False)
case("searchsorted", np.searchsorted, np.sort(V), U)
case("searchsorted", lambda s, v, right: np.searchsorted(s, v, "right"), np.sort(V), np.sort(V), right=True)
case("searchsorted", lambda s, v, sorter: np.searchsorted(s, v, sorter=sorter), V, U, sorter=np.argsort(V))
case("diff", lambda x, n: np.diff(x, n), X, 2)

case("addmm", lambda x, y, z, beta, alpha: beta * x + alpha * y @ z, S, S, S.T.copy(), beta=2, alpha=3)
case("addmv", lambda x, y, z, beta: beta * x + y @ z, X[:, 0], X, V, beta=2)
case("addbmm", lambda x, y, z, alpha: x + alpha * (y @ z).sum(0), S, M, M.transpose(0, 2, 1).copy(), alpha=3)
case("baddbmm", lambda x, y, z, beta: beta * x + y @ z, S[None], M, M.transpose(0, 2, 1).copy(), beta=2)
case("bmm", np.matmul, M, M.transpose(0, 2, 1).copy())
case("mv", np.matmul, X, V)
case("outer", np.outer, V, X[0])
case("cross", np.cross, V, X[0])
case("diag", np.diag, V)
case("diag", np.diag, S, 1)
case("tril", np.tril, X, 0)
case("triu", lambda x, diagonal: np.triu(x, diagonal), X, diagonal=1)

case("broadcast_to", np.broadcast_to, V, (2, 3))
case("cat concat", lambda x: np.concatenate(x), (X, Y))
case("cat concat", lambda x, dim: np.concatenate(x, dim), (X, Y), dim=1)
case("stack", lambda x, dim: np.stack(x, dim), [X, Y], 1)
case("hstack", np.hstack, (X, Y))
case("dstack", np.dstack, (X, Y))
case("chunk", lambda x, n, dim: (x[:, :2], x[:, 2:]), X, 2, 1)
case("split", lambda x, size: (x[:1], x[1:]), X, 1)
case("split", lambda x, sizes, dim: (x[:, :1], x[:, 1:]), X, [1, 2], dim=1)
case("unbind", lambda x, dim: tuple(x.T), X, 1)
case("flip", lambda x, dims: np.flip(x, dims), X, (0, 1))
case("narrow", lambda x, dim, start, length: x[:, start : start + length], X, 1, 1, 2)
case("select", lambda x, dim, index: x[:, index], X, 1, -1)
case("permute", lambda x, dims: np.transpose(x, dims), M, (2, 0, 1))
case("transpose swapaxes", np.swapaxes, M, 0, 2)
case("t", np.transpose, X)
case("t", lambda x: x, V)
case("reshape", np.reshape, X, (3, -1))
case("flatten", np.ravel, X)
case("flatten", lambda x, start_dim: x.reshape(2, -1), M, start_dim=1)
case("squeeze", lambda x, dim: x[0], X[None], 0)
case("squeeze", lambda x, dim: x, X, (0, 1))
case("unsqueeze", np.expand_dims, X, 1)
case("roll", lambda x, shifts, dims: np.roll(x, shifts, dims), X, 1, 1)
case("tile", np.tile, X, (2, 2))
case("repeat_interleave", np.repeat, X, 2)
case("repeat_interleave", lambda x, n, dim: np.repeat(x, n, dim), X, 2, 1)
case("meshgrid", lambda x, y: tuple(np.meshgrid(x, y, indexing="ij")), V, PICK)
case("gather", lambda x, dim, at: np.take_along_axis(x, at, dim), X, 1, AT)
case("index_select", lambda x, dim, at: np.take(x, at, dim), X, 1, PICK)
case("take", lambda x, at: x.ravel()[at], X, PICK)
case("where", np.where, B, X, Y)
case("where", np.where, B, X, 0.0)
case("softmax", lambda x, dim: scipy.special.softmax(x, dim), X, -1)


def _scattered(x: Any, dim: int, at: Any, src: Any) -> Any:
    out = x.copy()
    np.put_along_axis(out, at, src, dim)
    return out


def _added(x: Any, dim: int, at: Any, src: Any) -> Any:
    out = x.copy()
    for row, column in np.ndindex(at.shape):
        out[row, at[row, column]] += src[row, column]
    return out


def _index_added(x: Any, dim: int, at: Any, src: Any, alpha: int = 1) -> Any:
    out = x.copy()
    np.add.at(out, (slice(None), at), alpha * src)
    return out


case("scatter", _scattered, X, 1, np.array([[0, 2], [1, 0]]), S)
case("scatter_add", _added, X, 1, AT, S)
case("index_add", _index_added, X, 1, PICK, S)
case("index_add", _index_added, X, 1, PICK, S, alpha=2)

case("arange", lambda end: np.arange(end), 5)
case("arange", lambda *a: np.arange(*a, dtype=np.float32), 0, 2, 0.5)
case("eye", lambda n, m: np.eye(n, m, dtype=np.float32), 2, 3)
case("full", lambda size, value: np.full(size, value, np.float32), (2, 3), 1.5)
case("full_like", np.full_like, X, 2.5)
case("ones", lambda size: np.ones(size, np.float32), (2, 3))
case("zeros", lambda size: np.zeros(size, np.float32), (2, 3))
case("ones_like", np.ones_like, X)
case("zeros_like", np.zeros_like, N)
case("empty", lambda *size: np.zeros(size, np.float32), 2, 3)
case("empty_like", np.zeros_like, N)
case("linspace", lambda a, b, n: np.linspace(a, b, n, dtype=np.float32), 0, 1, 5)

# -- steps of normalization, kernels ----------------------------------------------------------------------------

case("addr_", lambda x, a, b, **k: k["beta"] * x + k["alpha"] * np.outer(a, b), X, V[:2], V, beta=0.5, alpha=2.0)
case("batch_norm_stats", lambda x, eps: (x.mean(0), 1 / np.sqrt(x.var(0) + eps)), X, 1e-3)
case("batch_norm_elemt", lambda x, w, b, m, s: (x - m) * s * w + b, X, V, V, U[0], U[1])
case(
    "batch_norm_gather_stats_with_counts",
    lambda x, mean, invstd, counts, eps: (
        np.average(mean, 0, counts),
        1 / np.sqrt(np.average(invstd**-2 - eps + (mean - np.average(mean, 0, counts)) ** 2, 0, counts) + eps),
    ),
    X, Y, U, counts=N[0, :2], eps=1e-3,
)  # fmt: skip
_KERNEL = M[:, :, :2].swapaxes(1, 2).repeat(2, 1)[:, :3]
case(
    "conv_tbc",
    lambda x, w, b: x[:-1] @ w[0] + x[1:] @ w[1] + b,
    M, _KERNEL, V,
)  # fmt: skip
case("npu_gelu", lambda x: x * scipy.special.ndtr(x), X)
case("conv2d", lambda x, w: np.einsum("ncij,ocij->no", x, w)[:, :, None, None], M[None], M[None])

#: the shape of the result depends on the values, so a graph of one shape cannot hold them
OF_VALUES = {"bincount", "masked_select", "nonzero", "unique", "unique_consecutive"}
#: what they are for: numbers that no other library draws
RANDOM = {
    "bernoulli", "multinomial", "normal", "rand", "rand_like", "randint", "randint_like", "randn", "randn_like",
    "randperm",
}  # fmt: skip
ALL = [(name, *one) for name, cases in sorted(CASES.items()) for one in cases]


def tensors(value: Any) -> Any:
    """The arrays of arguments as tensors."""
    if isinstance(value, np.ndarray):
        return Tensor(value)
    if isinstance(value, (tuple, list)) and any(isinstance(one, np.ndarray) for one in value):
        return type(value)(map(tensors, value))
    return value


def changed(value: Any) -> Any:
    """Other values of floating tensors, in the same order."""
    if isinstance(value, np.ndarray) and value.dtype == np.float32:
        return value * np.float32(0.9)
    if isinstance(value, (tuple, list)) and any(isinstance(one, np.ndarray) for one in value):
        return type(value)(map(changed, value))
    return value


def assert_says(found: Any, expected: Any) -> None:
    if isinstance(expected, tuple):
        assert isinstance(found, tuple)
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_says(one, other)
        return
    if isinstance(found, Tensor):
        found = found.asnumpy()
    expected = np.asarray(expected)
    assert np.shape(found) == expected.shape
    if isinstance(found, np.ndarray) and expected.dtype.kind in "ib":
        assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-5)


def test_every_name_has_a_case() -> None:
    assert set(mint.__all__) == {*CASES, *OF_VALUES, *RANDOM, "histc"}


@pytest.mark.parametrize("number", range(len(ALL)), ids=[f"{name}-{i}" for i, (name, *_) in enumerate(ALL)])
def test_says_what_numpy_says_eagerly_and_in_a_graph(number: int) -> None:
    name, args, kwargs, answer = ALL[number]
    function = getattr(mint, name)

    @weft.jit(fullgraph=True)
    def graph(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    for change in (False, True, False):
        if change and name in ("acosh", "arccosh"):
            continue
        a = tuple(map(changed, args)) if change else args
        k = {key: changed(value) for key, value in kwargs.items()} if change else kwargs
        expected = answer(*a, **k)
        given, named = tuple(map(tensors, a)), {key: tensors(value) for key, value in k.items()}
        assert_says(function(*given, **named), expected)
        assert_says(graph(*given, **named), expected)


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "expected"),
    [
        ("nonzero", (B,), {}, np.argwhere(B)),
        ("nonzero", (B,), {"as_tuple": True}, np.nonzero(B)),
        ("where", (B,), {}, np.nonzero(B)),
        ("masked_select", (X, B), {}, X[B]),
        ("bincount", (J.ravel(),), {"minlength": 6}, np.bincount(J.ravel(), minlength=6)),
        ("unique", (J,), {}, np.unique(J)),
        ("unique", (J,), {"return_inverse": True, "return_counts": True}, None),
        ("unique_consecutive", (np.array([1, 1, 2, 1]),), {}, np.array([1, 2, 1])),
        ("histc", (Y, 4), {"min": 0, "max": 2}, np.histogram(Y, 4, (0, 2))[0].astype(np.float32) - [0, 0, 0, 0]),
    ],
)
def test_results_whose_size_depends_on_values(name: str, args: Any, kwargs: Any, expected: Any) -> None:
    if expected is None:
        values, inverse, counts = np.unique(J, return_inverse=True, return_counts=True)
        expected = values, inverse.reshape(J.shape), counts
    function = getattr(mint, name)
    given = tuple(map(tensors, args))
    graph = weft.jit(lambda *a: function(*a, **kwargs))
    for _ in range(2):
        assert_says(function(*given, **kwargs), expected)
        assert_says(graph(*given), expected)


@pytest.mark.parametrize(
    ("function", "shape", "low", "high"),
    [
        (lambda: mint.rand(3, 4), (3, 4), 0, 1),
        (lambda: mint.rand((3, 4), dtype=weft.float64), (3, 4), 0, 1),
        (lambda: mint.randn(3), (3,), -9, 9),
        (lambda: mint.rand_like(Tensor(X)), (2, 3), 0, 1),
        (lambda: mint.randn_like(Tensor(X)), (2, 3), -9, 9),
        (lambda: mint.randint(5, (7,)), (7,), 0, 4),
        (lambda: mint.randint(3, 5, (7,), dtype=weft.int32), (7,), 3, 4),
        (lambda: mint.randint_like(Tensor(X), 3, 5), (2, 3), 3, 4),
        (lambda: mint.randperm(4), (4,), 0, 3),
        (lambda: mint.normal(5.0, 0.001, (2, 2)), (2, 2), 4, 6),
        (lambda: mint.normal(Tensor(V), 0.001), (3,), -1, 3),
        (lambda: mint.bernoulli(Tensor(U)), (2, 3), 0, 1),
        (lambda: mint.multinomial(Tensor(U), 2), (2, 2), 0, 2),
    ],
)
def test_random_numbers_are_in_range_eagerly_and_in_a_graph(
    function: Callable[[], Any], shape: Any, low: float, high: float
) -> None:
    for made in (function(), weft.jit(function, fullgraph=True)()):
        values = made.asnumpy()
        assert values.shape == shape
        assert ((low <= values) & (values <= high)).all()


@pytest.mark.parametrize("name", ["exp", "mul", "sum", "softmax", "narrow", "select", "norm", "cumsum", "lerp"])
def test_gradients_are_those_of_the_operations(name: str) -> None:
    rest = {
        "mul": (Tensor(Y),), "softmax": (1,), "narrow": (1, 1, 2), "select": (1, 0), "cumsum": (1,),
        "lerp": (Tensor(Y), 0.25),
    }.get(name, ())  # fmt: skip

    def loss(x: Any) -> Any:
        return mint.sum(mint.square(getattr(mint, name)(x, *rest)))

    x = X.astype(np.float64)
    found = weft.grad(loss)(Tensor(x)).asnumpy()
    np.testing.assert_allclose(weft.jit(weft.grad(loss), fullgraph=True)(Tensor(x)).asnumpy(), found, rtol=1e-6)
    for at in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[at] = 1e-4
        wanted = (loss(Tensor(x + step)).item() - loss(Tensor(x - step)).item()) / 2e-4
        assert abs(found[at] - wanted) < 1e-3


@pytest.mark.parametrize(
    "view",
    [
        lambda x: mint.select(x, 0, 1),
        lambda x: mint.narrow(x, 1, 1, 2),
        lambda x: mint.transpose(x, 0, 1),
        lambda x: mint.permute(x, (1, 0)),
        lambda x: mint.reshape(x, (-1,)),
        lambda x: mint.unsqueeze(x, 0),
        lambda x: mint.squeeze(x, 0),
        lambda x: mint.t(x),
        lambda x: mint.split(x, 1)[0],
        lambda x: mint.chunk(x, 2)[1],
        lambda x: mint.unbind(x)[0],
        lambda x: mint.flatten(x),
    ],
)
def test_a_write_through_a_view_is_seen(view: Callable[[Any], Any]) -> None:
    def program(x: Any) -> Any:
        base = x + 1
        view(base).mul_(2)
        return base

    x = Tensor(X)
    eager = program(x).asnumpy()
    assert (eager != X + 1).any()
    np.testing.assert_array_equal(weft.jit(program, fullgraph=True)(x).asnumpy(), eager)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x: mint.sum(x, axis=0),
        lambda x: mint.add(x),
        lambda x: mint.add(x, x, 2),
        lambda x: mint.narrow(x, 0),
        lambda x: mint.transpose(x, (1, 0)),
        lambda x: mint.squeeze(x),
        lambda x: mint.max(x, keepdim=True),
        lambda x: mint.where(x > 2, x),
        lambda x: mint.cat([x], axis=0),
        lambda x: mint.argmin(x, 0, False, 1),
        lambda x: mint.select(1, 0, x),
        lambda x: mint.permute(x, 1, 0),
        lambda x: mint.rand(2, sizes=3),
    ],
)
def test_wrong_arguments_are_type_errors(wrong: Callable[[Any], Any]) -> None:
    for run in (wrong, weft.jit(wrong)):
        with pytest.raises(TypeError):
            run(Tensor(X))


def test_what_is_not_available_is_said() -> None:
    with pytest.raises(NotImplementedError, match="set_seed"):
        mint.rand(2, generator=object())
    with pytest.raises(NotImplementedError, match="dim must be None"):
        mint.unique(Tensor(X), dim=0)
