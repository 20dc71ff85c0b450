"""Tensor methods of single releases, functions that write and that draw, and calls that are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

import weft
from weft import Tensor, ops

A = np.array([[0.5, -1.25, 2.0, 0.1], [1.5, 0.25, -0.75, -0.4], [0.2, 0.9, -0.3, 1.1]], np.float32)
UNIT = A / 4
SQUARE = np.array([[3, 0.5, 1], [0.25, 2, -0.5], [0.75, 0.5, 4]], np.float32)
ROWS = np.array([[0], [2]])
UPDATES = np.full((2, 4), 2, np.float32)
FIRST = np.array([0, 2])


def changed_rows(function: Any) -> Callable[..., Any]:
    def answer(x: Any, at: Any, updates: Any) -> Any:
        found = x.copy()
        function.at(found, at[:, 0], updates)
        return found

    return answer


def with_diagonal(x: Any, value: float, wrap: bool = False) -> Any:
    found = x.copy()
    np.fill_diagonal(found, value, wrap)
    return found


def put(x: Any, at: Any, values: Any, accumulate: bool = False) -> Any:
    found = x.copy().ravel()
    (np.add.at if accumulate else lambda a, i, v: a.__setitem__(i, v))(found, at.ravel(), values.ravel())
    return found.reshape(x.shape)


def placed(x: Any, axis: int, at: Any, values: Any, add: bool = False) -> Any:
    found = x.copy()
    place = (*(slice(None),) * axis, at)
    found[place] = found[place] + values if add else values
    return found


#: method, tensor, arguments, answer
METHODS: list[tuple[str, Any, tuple[Any, ...], Callable[..., Any]]] = [
    ("approximate_equal", A, (A + np.float32(1e-6),), lambda x, y: np.abs(x - y) < 1e-5),
    ("argmax_with_value", A, (1,), lambda x, axis: (x.max(axis), x.argmax(axis))),
    ("argmin_with_value", A, (0, True), lambda x, axis, k: (x.min(axis)[None], x.argmin(axis)[None])),
    ("clone", A, (), lambda x: x),
    ("cov", A, (), np.cov),
    ("diagflat", A[0], (1,), np.diagflat),
    ("fill_diagonal", np.ones((7, 3), np.float32), (5.0, True), with_diagonal),
    ("fill_diagonal", A, (5.0,), with_diagonal),
    ("fills", A, (2.5,), np.full_like),
    ("hardshrink", A, (0.3,), lambda x, t: np.where(np.abs(x) > t, x, 0)),
    ("igamma", np.abs(A), (np.abs(A) + 1,), scipy.special.gammainc),
    ("igammac", np.abs(A), (np.abs(A) + 1,), scipy.special.gammaincc),
    ("index", A, ((FIRST, FIRST),), lambda x, at: x[at]),
    ("index_put", A, ((FIRST, FIRST), UPDATES[0, :2]), lambda x, at, v: put(x, at[0] * 4 + at[1], v)),
    ("index_put", A, ((FIRST, FIRST), UPDATES[0, :2], True), lambda x, at, v, a: put(x, at[0] * 4 + at[1], v, a)),
    ("inplace_update", A, (UPDATES, (0, 2)), lambda x, v, at: placed(x, 0, [*at], v)),
    ("inv", np.abs(A), (), np.reciprocal),
    ("log_matrix_determinant", SQUARE, (), lambda x: tuple(np.linalg.slogdet(x))),
    ("lstsq", A.T.copy(), (SQUARE[[0, 1, 2, 0]],), lambda x, b: np.linalg.lstsq(x, b, rcond=None)[0]),
    ("matrix_determinant", SQUARE, (), np.linalg.det),
    ("new_empty", A, ((2, 3),), lambda x, size: np.zeros(size, x.dtype)),
    ("renorm", A, (1, 0, 1.0), lambda x, p, axis, most: x * np.minimum(1, most / np.abs(x).sum(1, keepdims=True))),
    ("reshape_as", A, (A.T.copy(),), lambda x, y: x.reshape(y.shape)),
    ("reverse", A, ((1,),), lambda x, axis: x[:, ::-1]),
    ("reverse_sequence", A[:, :1], (np.array([2]), 0, 1), lambda x, *_: x[[1, 0, 2]]),
    ("scatter_add", A, (ROWS, UPDATES), changed_rows(np.add)),
    ("scatter_add", A, (0, ROWS, UPDATES[:, :1]), lambda x, d, at, v: put(x, at * 4, v, True)),
    ("scatter_div", A, (ROWS, UPDATES), changed_rows(np.divide)),
    ("scatter_max", A, (ROWS, UPDATES), changed_rows(np.maximum)),
    ("scatter_min", A, (ROWS, UPDATES), changed_rows(np.minimum)),
    ("scatter_mul", A, (ROWS, UPDATES), changed_rows(np.multiply)),
    ("scatter_sub", A, (ROWS, UPDATES), changed_rows(np.subtract)),
    ("soft_shrink", A, (0.3,), lambda x, t: np.sign(x) * np.maximum(np.abs(x) - t, 0)),
    ("sum_to_size", A, (1, 4), lambda x, *size: x.sum(0, keepdims=True)),
    ("sum_to_size", A, ((4,),), lambda x, size: x.sum(0)),
    ("triangular_solve", SQUARE, (SQUARE,), lambda b, a: (np.linalg.solve(np.triu(a), b), a)),
    ("triangular_solve", SQUARE, (SQUARE, False, True), lambda b, a, *_: (np.linalg.solve(np.tril(a).T, b), a)),
    ("unsorted_segment_max", A, (np.array([1, 1, 0]), 2), lambda x, *_: np.stack([x[2], x[:2].max(0)])),
    ("unsorted_segment_min", A, (np.array([1, 1, 0]), 2), lambda x, *_: np.stack([x[2], x[:2].min(0)])),
    ("unsorted_segment_prod", A, (np.array([1, 1, 0]), 2), lambda x, *_: np.stack([x[2], x[:2].prod(0)])),
    # those that write
    ("addmm_", SQUARE, (SQUARE, SQUARE), lambda x, a, b: x + a @ b),
    ("erfinv_", UNIT, (), scipy.special.erfinv),
    ("fill_diagonal_", A, (5,), with_diagonal),
    ("index_copy_", A, (1, FIRST, A[:, :2]), placed),
    ("put_", A, (np.array([[1, 5]]), UPDATES[:1, :2]), put),
    ("put_", A, (np.array([1, 1]), UPDATES[0, :2], True), put),
    ("scatter_add_", A, (0, ROWS, UPDATES[:, :1]), lambda x, d, at, v: put(x, at * 4, v, True)),
    ("sign_", A, (), np.sign),
]
#: methods without a derivative
CONSTANT = {"approximate_equal", "fills", "new_empty", "sign_", "cov", "lstsq", "renorm"}
WRITTEN = [row for row in METHODS if row[0].endswith("_")]


def tensors(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(tensors, value))
    return Tensor(value) if isinstance(value, np.ndarray) else value


def same(found: Any, expected: Any) -> None:
    if isinstance(expected, tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            same(one, other)
        return
    assert found.shape == np.shape(expected)
    np.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("number", range(len(METHODS)), ids=[f"{row[0]}-{i}" for i, row in enumerate(METHODS)])
def test_method_says_what_the_oracle_says_eagerly_and_in_a_graph(number: int) -> None:
    name, x, args, answer = METHODS[number]
    given = tensors(args)

    @weft.jit(fullgraph=True)
    def graph(x: Any) -> Any:
        return getattr(x * 1, name)(*given)

    for factor in (1.0, 0.5):
        value = x * np.float32(factor)
        expected = answer(value, *args)
        same(getattr(Tensor(value), name)(*given), expected)
        same(graph(Tensor(value)), expected)


@pytest.mark.parametrize("number", range(0, len(METHODS), 2))
def test_method_has_the_same_gradient_eagerly_and_in_a_graph(number: int) -> None:
    name, x, args, _ = METHODS[number]
    given = tensors(args)
    if name in CONSTANT:
        return

    def loss(x: Any) -> Any:
        found = getattr(x * 1, name)(*given)
        found = found[0] if isinstance(found, tuple) else found
        return (found * found).sum()

    gradient = weft.grad(loss)(Tensor(x)).asnumpy()
    np.testing.assert_allclose(weft.jit(weft.grad(loss))(Tensor(x)).asnumpy(), gradient, rtol=1e-5, atol=1e-6)
    step = np.float32(1e-2) * np.cos(np.arange(x.size)).reshape(x.shape).astype(np.float32)
    slope = (loss(Tensor(x + step)) - loss(Tensor(x - step))).item() / 2
    np.testing.assert_allclose((gradient * step).sum(), slope, rtol=5e-2, atol=2e-2)


@pytest.mark.parametrize("number", range(len(WRITTEN)), ids=[row[0] for row in WRITTEN])
def test_what_writes_returns_the_tensor_that_it_wrote(number: int) -> None:
    name, x, args, answer = WRITTEN[number]
    tensor = Tensor(x)
    view = tensor[0]
    assert getattr(tensor, name)(*tensors(args)) is tensor
    same(view, answer(x, *args)[0])


def test_facts() -> None:
    x = Tensor(A)
    assert (x.is_init(), x.is_pinned(), x.is_shared(), x.is_meta, x.init_finished, x.const_arg) == (
        *(False, False, False, False), True, False
    )  # fmt: skip
    assert x.pin_memory() is x.to_("CPU") is x.set_const_arg() is x.requires_grad_() is x
    assert x.symbolic_shape is None
    assert x.get_bytes() == A.tobytes()
    parameter = weft.Parameter(Tensor(A))
    assert parameter.requires_grad_(False) is parameter
    assert not parameter.requires_grad
    same(Tensor(A + 1j * A).mH, (A - 1j * A).T)
    same(Tensor(A).move_to("CPU"), A)


def test_data_is_a_view_that_is_a_constant_for_gradients() -> None:
    x = Tensor(A)
    x.data[0] = 7.0
    assert x[0].tolist() == [7.0] * 4
    x.data = Tensor(A * 2)
    same(x, A * 2)
    for gradient in (weft.grad(lambda x: (x.data * x).sum()), weft.jit(weft.grad(lambda x: (x.data * x).sum()))):
        same(gradient(Tensor(A)), A)
    parameter = weft.Parameter(Tensor(A))
    parameter.data = Tensor([1.0, 2.0])
    assert parameter.shape == (2,)


@pytest.mark.parametrize("name", ["exponential_", "normal_", "random_", "uniform_"])
def test_functions_that_fill_at_random(name: str) -> None:
    function = getattr(ops, name)

    @weft.jit
    def graph(x: Any) -> Any:
        return function(x * 1)

    weft.set_seed(5)
    x = Tensor(np.zeros(2000, np.float32))
    assert function(x) is x
    expected = {"exponential_": 1.0, "normal_": 0.0, "random_": 2.0**23, "uniform_": 0.5}[name]
    assert abs(x.mean().item() - expected) < 0.1 * max(expected, 1)
    weft.set_seed(5)
    same(graph(Tensor(np.zeros(2000, np.float32))), x.asnumpy())
    with pytest.raises(TypeError):
        function(1.0)


@pytest.mark.parametrize(
    ("name", "args", "answer"),
    [
        ("bernoulli_", (1.0,), np.ones_like), ("clamp_", (-0.5, 0.5), lambda x: x.clip(-0.5, 0.5)),
        ("erfinv_", (), scipy.special.erfinv), ("inplace_sigmoid", (), scipy.special.expit),
        ("stop_gradient_", (), lambda x: x), ("tanh_", (), np.tanh), ("zero_", (), np.zeros_like),
    ],
)  # fmt: skip
def test_functions_that_write(name: str, args: Any, answer: Any) -> None:
    function = getattr(ops, name)
    x = Tensor(UNIT)
    assert function(x, *args) is x
    same(x, answer(UNIT))
    same(weft.jit(lambda x: function(x * 1, *args))(Tensor(UNIT)), answer(UNIT))
    with pytest.raises(TypeError):
        function("x", *args)


def test_numbers_at_random_in_the_shape_of_a_tensor() -> None:
    x = Tensor(np.zeros(4000, np.float32))
    assert abs(np.median(x.cauchy(3.0, 0.5).asnumpy()) - 3) < 0.1
    assert abs(x.log_normal(0.5, 0.1).log().mean().item() - 0.5) < 0.1
    drawn = x.uniform(2.0, 3.0)
    assert 2 <= drawn.min().item() <= drawn.max().item() < 3
    assert Tensor(A).random_categorical(5).shape == (3, 5)
    with pytest.raises(TypeError):
        Tensor([1]).log_normal()
    with pytest.raises(TypeError):
        x.uniform(3.0, 2.0)


def test_gumbel_softmax() -> None:
    logits = Tensor(A)
    soft = ops.gumbel_softmax(logits, 0.5)
    np.testing.assert_allclose(soft.sum(-1).asnumpy(), 1, rtol=1e-5)
    hard = ops.gumbel_softmax(logits, hard=True, dim=0).asnumpy()
    np.testing.assert_allclose(hard.sum(0), 1, rtol=1e-5)
    assert set(np.round(hard, 5).ravel()) == {0.0, 1.0}
    weft.set_seed(2)
    gradient = weft.grad(lambda x: (ops.gumbel_softmax(x, hard=True) * Tensor(A)).sum())(logits).asnumpy()
    weft.set_seed(2)
    same(weft.grad(lambda x: (ops.gumbel_softmax(x) * Tensor(A)).sum())(logits), gradient)
    shares = np.mean([ops.gumbel_softmax(Tensor(np.tile(A[0], (500, 1))), hard=True).mean(0).asnumpy()], 0)
    np.testing.assert_allclose(shares, scipy.special.softmax(A[0]), atol=0.1)


def test_choice_with_mask() -> None:
    mask = np.array([[True, False, True], [False, True, False]])
    for run in (ops.choice_with_mask, weft.jit(ops.choice_with_mask)):
        places, chosen = run(Tensor(mask), 5)
        assert places.dtype is weft.int32
        assert chosen.tolist() == [True] * 3 + [False] * 2
        assert {tuple(p) for p in places.tolist()[:3]} == {(0, 0), (0, 2), (1, 1)}
        assert places.tolist()[3:] == [[0, 0]] * 2
        places, chosen = run(Tensor(mask), 2)
        assert chosen.all().item()
        assert all(mask[tuple(p)] for p in places.tolist())


@pytest.mark.parametrize("name", ["uniform_candidate_sampler", "log_uniform_candidate_sampler"])
def test_candidates(name: str) -> None:
    function = getattr(ops, name)
    true = Tensor([[1, 7], [0, 4]])
    drawn, expected, sampled = function(true, 2, 5, True, 10)
    assert len({*drawn.tolist()}) == 5
    assert expected.shape == (2, 2)
    # where no draw was refused, the number of draws times the chance, which is log(2) / log(11) at most
    assert 0 < sampled.min().item() <= sampled.max().item() <= 1.45
    assert sorted(function(true, 2, 5, True, 5)[0].tolist()) == [0, 1, 2, 3, 4]
    drawn, expected, _ = function(true, 2, 4000, False, 10)
    counts = np.bincount(drawn.asnumpy(), minlength=10)[[1, 7, 0, 4]]
    np.testing.assert_allclose(counts, expected.asnumpy().ravel(), rtol=0.25)
    for bad in ((true, 1, 3, True, 5), (true, 2, 9, True, 5), (Tensor([1]), 1, 3, True, 5)):
        with pytest.raises(ValueError, match="classes"):
            function(*bad)
    with pytest.raises(TypeError):
        function(1, 1, 3, True, 5)


def test_decoding() -> None:
    best = np.array([[0, 2, 1], [0, 2, 1], [3, 3, 1], [0, 3, 2]])
    scores = np.eye(4, dtype=np.float32)[best]
    lengths = Tensor(np.array([4, 3, 2], np.int32))
    places, labels, shape, total = ops.ctc_greedy_decoder(Tensor(scores), lengths)
    assert places.tolist() == [[0, 0], [0, 1], [1, 0], [2, 0]]
    assert labels.tolist() == [0, 0, 2, 1]
    assert shape.tolist() == [3, 2]
    assert total.tolist() == [[-4.0], [-3.0], [-2.0]]
    assert ops.ctc_greedy_decoder(Tensor(scores), lengths, False)[1].tolist() == [0, 0, 0, 2, 2, 1, 1]
    with pytest.raises(IndexError):
        ops.ctc_greedy_decoder(Tensor(scores), lengths * 2)
    places, values, _ = ops.coalesce(Tensor([[0, 0, 1], [1, 1, 2]]), Tensor([1.0, 5, 4]), Tensor([3, 3]))
    assert (places.tolist(), values.tolist()) == ([[0, 1], [1, 2]], [6.0, 4.0])
    matrix = np.array([[1, 0], [0, 2.0]], np.float32)
    same(Tensor(matrix).to_coo().to_dense(), matrix)
    same(Tensor(matrix).to_csr().to_dense(), matrix)


def test_factors() -> None:
    for matrix in (A, A.T.copy(), np.stack([SQUARE, SQUARE.T])):
        vectors, tau = Tensor(matrix).geqrf()
        if matrix.shape[-2] >= matrix.shape[-1]:
            same(vectors.orgqr(tau) @ ops.triu(vectors[..., : matrix.shape[-1], :]), matrix)
        same(vectors.ormqr(tau, Tensor(matrix), True, True).triu(), np.triu(vectors.asnumpy()))
    for some, size in ((True, 3), (False, 4)):
        q, r = Tensor(A.T.copy()).qr(some)
        assert q.shape == (4, size)
        same(q @ r, A.T)
    import scipy.linalg

    for matrix in (SQUARE, A, A.T.copy()):
        lu, pivots = scipy.linalg.lapack.sgetrf(matrix)[:2]
        data, counted = Tensor(lu), Tensor((pivots + 1).astype(np.int32))
        p, lower, upper = ops.lu_unpack(data, counted)
        same(p @ lower @ upper, matrix)
        assert ops.lu_unpack(data, counted, False)[1:] == (None, None)
        assert ops.lu_unpack(data, counted, True, False)[0] is None
    lu, pivots = scipy.linalg.lu_factor(SQUARE)
    solved = Tensor(A[:, :2]).lu_solve(Tensor(lu), Tensor((pivots + 1).astype(np.int32)))
    same(solved, np.linalg.solve(SQUARE, A[:, :2]))


def test_deformable_convolution_with_still_offsets_is_a_convolution() -> None:
    generator = np.random.default_rng(0)
    x, weight = (generator.normal(size=s).astype(np.float32) for s in ((2, 4, 5, 6), (4, 2, 3, 2)))
    still = np.concatenate([np.zeros((2, 24, 3, 3)), np.ones((2, 12, 3, 3))], 1).astype(np.float32)
    settings = ((3, 2), (1, 1, 2, 2), (1, 1, 0, 0), None, (1, 1, 1, 1), 2, 2)
    expected = ops.conv2d(Tensor(x), Tensor(weight), None, 2, "pad", (1, 1, 0, 0), 1, 2)
    found = ops.deformable_conv2d(Tensor(x), Tensor(weight), Tensor(still), *settings)
    same(found, expected.asnumpy())
    right = still.copy()
    right[:, :12] = 1  # to the right
    moved = np.concatenate([x[..., 1:], np.zeros((2, 4, 5, 1), np.float32)], -1)
    expected = ops.conv2d(Tensor(moved), Tensor(weight), None, 2, "pad", (1, 1, 0, 0), 1, 2)
    same(ops.deformable_conv2d(Tensor(x), Tensor(weight), Tensor(right), *settings), expected.asnumpy())


def test_sums_that_are_normalized() -> None:
    x, y, scale = Tensor(A), Tensor(A * 2), Tensor(A[0])
    found, rstd, total = ops.add_rms_norm(x, y, scale)
    expected, reciprocal = ops.rms_norm(Tensor(A * 3), scale)
    same((found, rstd, total), (expected.asnumpy(), reciprocal.asnumpy(), A * 3))
    found, mean, rstd, total = ops.add_layer_norm(x, y, scale, scale)
    wanted = (A * 3 - A.mean(1, keepdims=True) * 3) / np.sqrt((A * 3).var(1, keepdims=True) + 1e-5) * A[0] + A[0]
    same((found, total), (wanted, A * 3))
    same((mean, 1 / rstd), (A.mean(1, keepdims=True) * 3, np.sqrt((A * 3).var(1, keepdims=True) + 1e-5)))


def test_former_names() -> None:
    assert ops.hastype(3, weft.int64)
    assert ops.hastype((1,), weft.dtypes.tuple_)
    assert ops.isconstant(Tensor(1))
    assert (ops.scalar_max(2, 3), ops.scalar_min(2, 3), ops.list_equal([1], [2]), ops.tuple_div((7, 4), (2, 2))) == (
        *(3, 2, False), (3, 2)
    )  # fmt: skip
    assert ops.dict_setitem({"a": 1}, "a", 2) == {"a": 2}
    assert ops.tensor_range(1, 7, 2).tolist() == [1, 3, 5]
    assert ops.bernoulli_ext(Tensor([0.0, 1.0])).tolist() == [0.0, 1.0]
    assert ops.type_as(Tensor([1.5]), Tensor([1])).dtype is weft.int64
    view = ops.view_as(base := Tensor([1, 2]), Tensor([[1], [2]]))
    view[0] = 5
    assert base.tolist() == [5, 2]
    assert ops.eps(Tensor([1.0])).item() == np.finfo(np.float32).eps
    patches = Tensor(np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4))
    same(ops.col2im(patches, Tensor([3, 3]), 2, 1, 0, 1), ops.fold(patches, (3, 3), 2).asnumpy())
    same(patches.col2im(Tensor([3, 3]), 2, 1, 0, 1), patches.fold((3, 3), 2).asnumpy())


X = Tensor(A)
I = Tensor([[1, 2]])  # noqa: E741
REFUSED: list[tuple[str, tuple[Any, ...], dict[str, Any], type[Exception]]] = [
    ("adaptive_max_pool3d", (Tensor(A[None, None, None]), (2, 2)), {}, ValueError),
    ("affine_grid", (Tensor(A[None, :2, :3]), [1, 1, 2, 2]), {}, TypeError),
    ("affine_grid", (Tensor(A[None, :2, :3]), (2, 1, 2, 2)), {}, ValueError),
    ("batch_to_space_nd", (Tensor(A[:, None, None]), 2, [[0, 0], [0, 0]]), {}, ValueError),
    ("bessel_j0", (I,), {}, TypeError),
    ("bidense", (1, X, X), {}, TypeError),
    ("bidense", (X, X[:2], X), {}, ValueError),
    ("channel_shuffle", (Tensor(A[None, None]), 2), {}, ValueError),
    ("channel_shuffle", (X, 2), {}, TypeError),
    ("choice_with_mask", (X,), {}, TypeError),
    ("choice_with_mask", (Tensor([True]), 0), {}, ValueError),
    ("col2im", (Tensor(A[None, None]), (3, 3), 2, 1, 0, 1), {}, TypeError),
    ("combinations", (X,), {}, ValueError),
    ("cosine_similarity", (I, I), {}, TypeError),
    ("cosine_similarity", (X, X, 2), {}, ValueError),
    ("deformable_conv2d", (X, X, X, (1, 1), (1, 1, 1, 1), (0, 0, 0, 0)), {}, ValueError),
    ("dist", (X, X, 2.0), {}, TypeError),
    ("eps", (I,), {}, TypeError),
    ("fft", (X,), {"norm": "x"}, ValueError),
    ("fft", (X, 0), {}, ValueError),
    ("fft", (X, 2.5), {}, TypeError),
    ("fft", (Tensor([True]),), {}, TypeError),
    ("fft2", (X, (2, 2, 2), (0, 1)), {}, ValueError),
    ("fftn", (X,), {"dim": (0, 0)}, ValueError),
    ("fftfreq", (4.0,), {}, TypeError),
    ("fftshift", (X, 2), {}, ValueError),
    ("fractional_max_pool2d", (Tensor(A[None, None]), 2), {}, ValueError),
    ("fractional_max_pool2d", (Tensor(A[None, None]), 2), {"output_ratio": (1.5, 0.5)}, ValueError),
    ("geqrf", (X[0],), {}, ValueError),
    ("gumbel_softmax", (I,), {}, TypeError),
    ("gumbel_softmax", (X,), {"tau": 1}, TypeError),
    ("lp_pool1d", (X, 0, 2), {}, ValueError),
    ("lp_pool2d", (1, 2, 2), {}, TypeError),
    ("lstsq", (X, X[:2]), {}, ValueError),
    ("lstsq", (X, X.astype("float64")), {}, TypeError),
    ("lu_unpack", (1, X), {}, TypeError),
    ("matrix_norm", (X, 3), {}, ValueError),
    ("matrix_norm", (X,), {"axis": (0, 0)}, ValueError),
    ("matrix_set_diag", (X, X), {}, ValueError),
    ("matrix_set_diag", (X, X[:, 0], 0, "X"), {}, ValueError),
    ("max_unpool2d", (Tensor(A[None]), Tensor([0]), 2), {}, ValueError),
    ("max_unpool2d", (Tensor(A[None]), Tensor(A[None]), 2), {}, TypeError),
    ("max_unpool2d", (Tensor(A[None]), Tensor(np.zeros((1, 3, 4), int)), 0), {}, ValueError),
    ("max_unpool1d", (X, Tensor(np.full((3, 4), 99)), 2), {}, IndexError),
    ("multi_margin_loss", (X, Tensor([0, 1, 2]), 3), {}, ValueError),
    ("multi_margin_loss", (X, Tensor([0, 1, 2])), {"margin": 0.5}, TypeError),
    ("multi_margin_loss", (X, Tensor([0, 1, 9])), {}, IndexError),
    ("multilabel_margin_loss", (X, Tensor(np.zeros((3, 4), int))), {}, TypeError),
    ("multilabel_soft_margin_loss", (X, X), {"reduction": "x"}, ValueError),
    ("orgqr", (X, X), {}, ValueError),
    ("ormqr", (X, X[0], X), {"left": 1}, TypeError),
    ("pdist", (X, 2), {}, TypeError),
    ("pdist", (X, -1.0), {}, ValueError),
    ("rfft", (Tensor(A + 1j * A),), {}, TypeError),
    ("rotary_position_embedding", (X, X, X), {}, ValueError),
    ("space_to_batch_nd", (Tensor(A[None, None]), 2, [[0, 0], [0, 0]]), {}, RuntimeError),
    ("space_to_batch_nd", (Tensor(A[None, None]), 2.0, [[0, 0], [0, 0]]), {}, TypeError),
    ("sparse_segment_mean", (X, Tensor([0, 1]), Tensor([0])), {}, ValueError),
    ("swiglu", (Tensor(A[:, :3]),), {}, RuntimeError),
    ("view_as", (X, (4, 3)), {}, TypeError),
]


@pytest.mark.parametrize(("name", "args", "kwargs", "error"), REFUSED)
def test_bad_call(name: str, args: Any, kwargs: Any, error: Any) -> None:
    with pytest.raises(error):
        getattr(ops, name)(*args, **kwargs)


@pytest.mark.parametrize(
    ("name", "args", "error"),
    [
        ("fill_diagonal", (5,), TypeError), ("index", (1,), TypeError),
        ("index_put", (1, X), TypeError), ("move_to", ("X",), ValueError), ("scatter_add", (1,), TypeError),
        ("sum_to_size", (2, 4), ValueError), ("put_", (Tensor([0.5]), Tensor([1.0])), TypeError),
        ("put_", (Tensor([0, 1]), Tensor([1.0])), ValueError), ("set_const_arg", (1,), TypeError),
        ("requires_grad_", (1,), TypeError), ("exponential_", (0.0,), ValueError),
    ],
)  # fmt: skip
def test_bad_call_of_a_method(name: str, args: Any, error: Any) -> None:
    with pytest.raises(error):
        getattr(Tensor(A), name)(*args)


def test_diagonals_that_do_not_fit_are_refused_by_the_function() -> None:
    with pytest.raises(ValueError, match=r"^matrix_set_diag: diagonals have the shape \(3,\) here, not \(2,\)"):
        ops.matrix_set_diag(Tensor(A), Tensor([1.0, 2.0]))
