"""Programs in arrays that are longer than their values give what they give in arrays that fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from weft._jax_compat import compiled_programs
from weft.compile.padding import Extent, PaddedProgram, Refused, padded

BUCKET = {"b": 4, "t": 6}
#: sizes of b and t
SIZES = [(4, 6), (1, 1), (3, 2), (2, 5)]
#: wide numbers, so that rounding is no excuse
F, N, B, C = np.float64, np.int32, np.bool_, np.complex128

#: a function, its arrays: shape and type; sizes, if not all
Case = tuple[Callable[..., Any], list[tuple[str, Any]]]
CASES: dict[str, Case] = {}


def case(*arrays: tuple[str, Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a function as a case."""

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        assert function.__name__ not in CASES
        CASES[function.__name__] = function, list(arrays)
        return function

    return enter


def cases(arrays: list[tuple[str, Any]], **functions: Callable[..., Any]) -> None:
    """Enter functions of the same arrays."""
    for name, function in functions.items():
        assert name not in CASES
        CASES[name] = function, arrays


def traced(function: Callable[..., Any], arrays: list[tuple[str, Any]], bucket: dict[str, int] = BUCKET) -> Any:
    """The program of a function, and the shapes of its arrays."""
    scope = jax.export.SymbolicScope()
    shapes = [jax.export.symbolic_shape(shape, scope=scope) for shape, _ in arrays]
    kinds = [jax.ShapeDtypeStruct(shape, dtype) for shape, (_, dtype) in zip(shapes, arrays, strict=True)]
    return padded(jax.make_jaxpr(function)(*kinds), list(bucket), bucket)


def drawn(random: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Random contents; ints are indices, some out of bounds."""
    if dtype == B:
        return random.random(shape) < 0.5
    if dtype == N:
        return random.integers(-2, 8, shape).astype(N)
    array = random.normal(size=shape).astype(dtype)
    return array + 1j * random.normal(size=shape) if dtype == C else array


def garbage(random: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """What may stand outside the valid part."""
    if dtype == B:
        return random.random(shape) < 0.5
    if dtype == N:
        return random.choice(np.array([2**31 - 1, -(2**31), 0, 3], N), shape)
    return random.choice(np.array([np.nan, np.inf, -np.inf, 1e30], dtype), shape)


def in_room(random: np.random.Generator, array: np.ndarray, extents: tuple[Extent, ...]) -> np.ndarray:
    """An array with garbage around it."""
    result = garbage(random, tuple([extent.padded for extent in extents]), array.dtype)
    result[tuple([slice(n) for n in array.shape])] = array
    return result


def checked(
    function: Callable[..., Any],
    arrays: list[tuple[str, Any]],
    program: PaddedProgram,
    sizes: list[tuple[int, ...]] = SIZES,
    bucket: dict[str, int] = BUCKET,
) -> None:
    """A program gives in padded arrays what its function gives, and is compiled once."""
    run = jax.jit(program.__call__)
    exact = jax.jit(function)
    for number, values in enumerate(sizes):
        random = np.random.default_rng(number)
        atoms = dict(zip(bucket, values, strict=True))
        shapes = [eval(f"({shape},)" if shape else "()", {}, atoms) for shape, _ in arrays]
        operands = [drawn(random, shape, dtype) for shape, (_, dtype) in zip(shapes, arrays, strict=True)]
        rooms = [in_room(random, array, of) for array, of in zip(operands, program.inputs, strict=True)]
        found = run([np.int32(value) for value in values], *rooms)
        expected = jax.tree.leaves(exact(*operands))
        assert len(found) == len(expected) == len(program.outputs)
        for array, wanted, extents in zip(found, expected, program.outputs, strict=True):
            assert array.shape == tuple([extent.padded for extent in extents])
            assert array.dtype == wanted.dtype
            np.testing.assert_allclose(
                np.asarray(array)[tuple([slice(n) for n in wanted.shape])],
                wanted,
                rtol=1e-9,
                atol=1e-10,
                err_msg=str(values),
            )
    assert compiled_programs(run) == 1


BT, BTC, TT = ("b, t", F), ("b, t, 4", F), ("t, t", F)
INTS, BOOLS = ("b, t", N), ("b, t", B)

cases(
    [BT],
    nothing=lambda x: x,
    chain=lambda x: jnp.tanh(x) * 2 + jnp.exp(-(x**2)) - 1,
    clipped=lambda x: jnp.clip(x, -0.5, 0.5) + lax.clamp(F(0), x, F(1)),
    chosen=lambda x: jnp.where(x > 0, x, -x**3),
    cast=lambda x: (x.astype(np.float16), (x * 3).astype(N), x > 0, lax.bitcast_convert_type(x, np.uint64)),
    barrier=lambda x: lax.optimization_barrier((x, x * 2)),
    scalars=lambda x: (x.shape[1] * jnp.ones(3), x.shape[0] * x.shape[1] - 1 + jnp.zeros((), N)),
    dims=lambda x: x * (x.shape[0] // 2 + x.shape[1] % 2) + jnp.arange(x.shape[1] * 2)[: x.shape[1]],
    sums=lambda x: (x.sum(), x.sum(0), x.sum(1), x.mean(), x.var(1)),
    products=lambda x: (x.prod(1), x.prod(0), lax.cumprod(x, 0), x.prod(), lax.cumlogsumexp(x, 1)),
    extremes=lambda x: (x.max(), x.min(0), jnp.max(x, 1), jnp.argmax(x, 1), jnp.argmin(x, 0), jnp.argmax(x)),
    logarithms=lambda x: (jax.nn.logsumexp(x, 1), jax.nn.softmax(x), jax.nn.log_softmax(x, 0)),
    running=lambda x: (jnp.cumsum(x, 1), lax.cumsum(x, 1, reverse=True)),
    running_extremes=lambda x: (lax.cummax(x, 1), lax.cummin(x, 0, reverse=True), lax.cummax(x.reshape(-1), 0)),
    turned=lambda x: (x.T, x.T.reshape(-1), x[None, :, None]),
    merged=lambda x: (x.reshape(-1) * 2, x.reshape(-1).sum(), jnp.sort(x.reshape(-1))),
    merged_and_back=lambda x: (jnp.tanh(x.reshape(-1)).reshape(x.shape), x.reshape(-1).reshape(x.T.shape)),
    differently_merged=lambda x: x.reshape(-1) + x.T.reshape(-1) + jnp.arange(x.size),
    broadcasts=lambda x: x + jnp.ones(x.shape[1]) + jnp.zeros((x.shape[0], 1)) + jnp.ones(x.size).reshape(x.shape),
    outer=lambda x: x[:, :, None] * x[:, None, :],
    sliced=lambda x: (x[:, :-1], x[:, 1:], x[1:], x[:, -1], x[:, -1:], x[:, ::2], x[:, ::-1]),
    sliced_statically=lambda x: (x[:, 0], x[:, :3], x[:3, 2:], x[-2:]),
    shifted=lambda x: jnp.concatenate([x[:, 1:], x[:, :1]], 1) - jnp.roll(x, 1, 1) + jnp.roll(x, 2),
    joined=lambda x: (jnp.concatenate([x, x * 2], 1), jnp.concatenate([jnp.ones((2, x.shape[1]), F), x, x + 1], 0)),
    stacked=lambda x: (jnp.stack([x, x * 2], 1), jnp.concatenate([x[..., None], x[..., None]], 2)),
    repeated=lambda x: (jnp.tile(x, (2, 3)), jnp.repeat(x, 2, 1)),
    padded_low=lambda x: (jnp.pad(x, ((1, 2), (2, 0))), lax.pad(x, F(7), [(-1, 1, 0), (0, -1, 0)])),
    padded_inside=lambda x: lax.pad(x, F(7), [(0, 0, 2), (-1, 2, 1)]),
    padded_by_size=lambda x: lax.pad(x, F(7), [(x.shape[1], 0, 0), (0, x.shape[0] - 1, 0)]),
    diagonal=lambda x: jnp.tril(jnp.ones((x.shape[1], x.shape[1]))) @ x.T,
    reversed=lambda x: (lax.rev(x, (0, 1)), lax.rev(x.reshape(-1), (0,))),
    sorted=lambda x: (jnp.sort(x, 1), jnp.argsort(x, 0), jnp.sort(x.at[:, 0].set(jnp.nan), 1), jnp.sort(x)[:, ::-1]),
    best=lambda x: lax.top_k(jnp.concatenate([x, jnp.full((x.shape[0], 2), -jnp.inf, F)], 1), 2),
    gram=lambda x: (x @ x.T, x.T @ x, jnp.einsum("bt,bt->b", x, x), jnp.einsum("bt,bt->", x, x)),
    gram_of_differently_merged=lambda x: x.reshape(-1) @ x.T.reshape(-1),
    transformed=lambda x: jnp.fft.fft(jnp.broadcast_to(x[:, :, None], (*x.shape, 4))),
    diagonal_of_scatter=lambda x: x.at[:, 0].set(3.0).at[0, -1].add(1.0),
    medians=lambda x: (jnp.std(x, 0), jnp.linalg.norm(x, axis=1), jnp.mean(x, keepdims=True)),
    triangles=lambda x: jnp.where(jnp.arange(x.shape[0])[:, None] <= jnp.arange(x.shape[1]), x, 0).sum(0),
)  # fmt: skip
cases(
    [BTC],
    heads=lambda x: x.reshape(*x.shape[:2], 2, 2).transpose(0, 2, 1, 3),
    pairs=lambda x: (x.reshape(x.shape[0], -1), x.reshape(x.shape[0], -1).reshape(-1, 2), x.reshape(-1)),
    halves=lambda x: jnp.concatenate(jnp.split(x, 2, -1)[::-1], -1),
    squeezed=lambda x: (x[:, :, :1].squeeze(-1), lax.expand_dims(x, (0, 3))),
    rows_to_batches=lambda x: x.reshape(-1, 4) @ x.reshape(-1, 4).T,
    flat_matmul=lambda x: x.reshape(x.shape[0], -1) @ x.reshape(x.shape[0], -1).T,
    norms=lambda x: (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5),
    batch_norm=lambda x: (x - x.mean((0, 1))) / jnp.sqrt(x.var((0, 1)) + 1e-5),
)
cases(
    [INTS, BOOLS],
    whole_numbers=lambda n, q: (n.sum(1), n.max(0), n.min(1), jnp.argmax(n, 1), lax.cummax(n, 1)),
    divided=lambda n, q: (n // 3, n % 3, n << 1, n / n.shape[1]),
    logic=lambda n, q: (q.all(1), q.any(0), ~q & (n > 1), jnp.argmax(q, 1), lax.reduce_or(n, (1,)), q.sum()),
    bits=lambda n, q: (lax.reduce_and(n, (1,)), lax.reduce_xor(n, (0,)), lax.population_count(n), q.argmin()),
    masked_mean=lambda n, q: jnp.where(q, n, 0).sum() / jnp.maximum(q.sum(), 1),
    sorted_pairs=lambda n, q: (lax.sort((n, n * 2), num_keys=1), jnp.argsort(n, 1), jnp.sort(n.astype(np.uint8), 0)),
    counted=lambda n, q: (jnp.cumsum(q, 1), jnp.bincount(n.reshape(-1), length=5), jax.nn.one_hot(n, 5)),
)  # fmt: skip
cases([("b, t", C)], complex_numbers=lambda z: (z.sum(1), z.real, z.imag, jnp.abs(z), z @ z.T, jnp.conj(z), z.prod(0)))
cases(
    [BTC, ("b, t", N)],
    read_at=lambda x, n: (x[:, n[0, 0] % x.shape[1]], jnp.take(x, n, axis=1, mode="clip"), x[n]),
    read_with_fill=lambda x, n: (x.at[n].get(mode="fill", fill_value=7), x.at[:, n].get(mode="fill")),
    read_pairs=lambda x, n: (x[n, n], x.at[n, n].get(mode="fill", fill_value=0), x.at[n, n].get(mode="clip")),
    read_along=lambda x, n: (jnp.take_along_axis(x, n[..., None], 1), x[..., 0].at[n, 0].get(mode="clip")),
    read_narrow=lambda x, n: (x[n.astype(np.int8)], x[n.astype(np.uint8)], x.at[n, :, 1].get()),
    read_wide=lambda x, n: x.at[n.astype(np.uint64)].get(mode="clip"),
    read_flat=lambda x, n: (x.reshape(-1, 4)[n], jnp.take(x, n), jnp.take(x, n, mode="clip")),
    windows=lambda x, n: lax.dynamic_slice(x, (n[0, 0], N(0), n[0, 0]), (1, x.shape[1], 2)),
    windows_of_sizes=lambda x, n: lax.dynamic_slice(jnp.concatenate([x, x], 1), (N(0), n[0, 0], N(0)), x.shape),
    written_window=lambda x, n: lax.dynamic_update_slice(jnp.concatenate([x, x], 1), x * 2, (N(0), n[0, 0], N(0))),
    written_row=lambda x, n: lax.dynamic_update_slice(x, jnp.ones((1, 1, 4), F), (n[0, 0], n[0, -1], N(0))),
    written=lambda x, n: (x.at[n[:, 0]].set(1.0), x.at[:, n[0]].mul(2.0), x.at[n[0, 0], n[0, 0]].min(0.0)),
    added=lambda x, n: (x.at[n].add(1.0), x.at[:, n[:, 0]].add(x[:, :1]), x.at[n, n].add(x), x.at[n[0, 0]].add(x[0])),
    added_clipped=lambda x, n: (x.at[n].add(1.0, mode="clip"), x.at[:, n[0, 0]].add(x[:, 0], mode="clip")),
    added_to_slices=lambda x, n: (x.at[:, 1:].add(x[:, :-1]), x.at[:-1, :3].set(0.5), x.at[:, ::2].max(0.0)),
    added_windows=lambda x, n: x.at[n[:, 0], : x.shape[1] - 1].add(2.0).at[n[0], 1:, 2].add(1.0),
    summed_by=lambda x, n: jax.ops.segment_sum(x.reshape(-1, 4), n.reshape(-1), 5),
    greatest_by=lambda x, n: jax.ops.segment_max(x[..., 0], n[:, 0], 5),
    added_along=lambda x, n: jax.vmap(lambda v, i: v.at[i].add(1.0))(x, n),
)  # fmt: skip


def gradient(name: str) -> Callable[..., Any]:
    """The gradients of a case with respect to its real arrays."""
    function, arrays = CASES[name]

    def loss(*operands: Any) -> Any:
        leaves = [leaf for leaf in jax.tree.leaves(function(*operands)) if leaf.dtype.kind == "f"]
        return sum([jnp.sin(leaf).sum() for leaf in leaves], F(0))

    return jax.grad(loss, [i for i, (_, dtype) in enumerate(arrays) if dtype == F])


def dense(weights: Any, x: Any) -> Any:
    return jnp.tanh(x @ weights[0]) @ weights[1]


def normalized(x: Any) -> Any:
    return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)


def attention(weights: Any, x: Any, heads: int = 2) -> Any:
    size, time, width = x.shape
    query, key, value = (
        (x @ w).reshape(size, time, heads, width // heads).transpose(0, 2, 1, 3) for w in jnp.split(weights, 3, 1)
    )
    scores = query @ key.swapaxes(2, 3) / np.sqrt(width // heads).astype(F)
    scores = jnp.where(jnp.tril(jnp.ones((time, time), bool)), scores, -1e9)
    return (jax.nn.softmax(scores) @ value).transpose(0, 2, 1, 3).reshape(x.shape)


def cross_entropy(logits: Any, labels: Any) -> Any:
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None] % logits.shape[1], 1)
    return -chosen.mean()


@case(("b, 3", F), ("3, 5", F), ("5, 2", F))
def mlp(x: Any, *weights: Any) -> Any:
    return ((dense(weights, x) - 1) ** 2).mean()


@case(("b, t", N), ("7, 4", F), ("4, 12", F), ("4, 8", F), ("8, 4", F))
def transformer(tokens: Any, table: Any, projection: Any, *weights: Any) -> Any:
    x = table[tokens % 7] + jnp.sin(jnp.arange(tokens.shape[1], dtype=F))[:, None]
    x = x + attention(projection, normalized(x))
    x = x + dense(weights, normalized(x))
    logits = normalized(x) @ table.T
    return cross_entropy(logits.reshape(-1, 7), jnp.roll(tokens, -1, 1).reshape(-1))


@case(("b, t", N), ("b, t", B), ("7, 4", F), ("4, 3", F))
def bag_of_words(tokens: Any, there: Any, table: Any, weights: Any) -> Any:
    words = jnp.where(there[..., None], table[tokens], 0).sum(1) / jnp.maximum(there.sum(1), 1)[:, None]
    return cross_entropy(words @ weights, tokens[:, 0])


@case(("b, 8, 8, 2", F), ("3, 3, 2, 4", F), ("16, 3", F))
def convolutional(x: Any, kernel: Any, weights: Any) -> Any:
    x = lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    x = jax.nn.relu((x - x.mean((0, 1, 2))) / jnp.sqrt(x.var((0, 1, 2)) + 1e-5))
    x = lax.reduce_window(x, -np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    x = lax.reduce_window(x, F(0), lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")
    return cross_entropy(x.reshape(x.shape[0], -1) @ weights, jnp.arange(x.shape[0]))


@case(("b, t, 4", F), ("3, 4, 5", F))
def over_time(x: Any, kernel: Any) -> Any:
    numbers = ("NHC", "HIO", "NHC")
    same = lax.conv_general_dilated(x, kernel, (1,), "SAME", dimension_numbers=numbers)
    causal = lax.conv_general_dilated(x, kernel, (1,), [(4, 0)], rhs_dilation=(2,), dimension_numbers=numbers)
    summed = lax.reduce_window(causal, F(0), lax.add, (1, 2, 1), (1, 2, 1), [(0, 0), (1, 1), (0, 0)])
    return same, causal, summed


@case(("b, t, 4", F), ("3, 4, 5", F))
def strided_over_time(x: Any, kernel: Any) -> Any:
    return lax.conv_general_dilated(x, kernel, (2,), [(2, 2)], dimension_numbers=("NHC", "HIO", "NHC"))


@case(("b, t, 4", F))
def pooled_over_time(x: Any) -> Any:
    return lax.reduce_window(x, -np.inf, lax.max, (1, 3, 1), (1, 1, 1), "SAME")


@case(("b, t", N), ("b, t, 7", F))
def next_token(tokens: Any, logits: Any) -> Any:
    logits, labels = logits[:, :-1], tokens[:, 1:] % 7
    return -(jax.nn.log_softmax(logits) * jax.nn.one_hot(labels, 7)).sum() / labels.size


@case(("b, 6, 4", F), ("3, 2, 4", F))
def grouped(x: Any, kernel: Any) -> Any:
    return lax.conv_general_dilated(
        x, kernel, (1,), "SAME", feature_group_count=2, dimension_numbers=("NHC", "HIO", "NHC")
    )


@case(("b, t, 4", F), ("8, 4", F))
def recurrent(x: Any, weights: Any) -> Any:
    def step(state: Any, row: Any) -> Any:
        state = jnp.tanh(jnp.concatenate([state, row], 1) @ weights)
        return state, state.sum(1)

    start = jnp.zeros((x.shape[0], 4), F)
    state, sums = lax.scan(step, start, x.swapaxes(0, 1))
    last, others = lax.scan(step, start, x.swapaxes(0, 1), reverse=True)
    return state + last, sums * others


@case(("b, t, 4", F), ("5, 4, 4", F))
def deep(x: Any, weights: Any) -> Any:
    layer = jax.checkpoint(lambda x, w: (jnp.tanh(normalized(x) @ w), x.reshape(-1, 4)))
    return lax.scan(layer, x, weights)


@case(("b, t", F), ("", N))
def branching(x: Any, n: Any) -> Any:
    branches = [lambda x: x.reshape(-1), lambda x: x.T.reshape(-1) * 2, lambda x: jnp.sort(x.reshape(-1))]
    return lax.switch(n, branches, x), lax.cond(x.sum() > 0, jnp.sin, lambda x: x - x.mean(), x)


@case(("b, t", F))
def iterated(x: Any) -> Any:
    def step(state: Any) -> Any:
        number, x = state
        return number + 1, jnp.roll(x, 1, 1).T.reshape(x.shape) * 0.5

    return lax.while_loop(lambda state: (jnp.abs(state[1]).max() > 0.1) & (state[0] < 5), step, (0, x))


@case(("b, t", F))
def counted_rounds(x: Any) -> Any:
    return lax.fori_loop(0, x.shape[1], lambda i, y: y + x[:, i] * i, jnp.zeros(x.shape[0], F))


@case(("b, t", F))
def own_rules(x: Any) -> Any:
    return jax.nn.relu(x) + jax.nn.gelu(x) * jax.jit(jax.nn.softplus)(x) + jax.nn.silu(x) + jax.nn.elu(x)


@case(("b, t", F))
def special_functions(x: Any) -> Any:
    y = jnp.abs(x) + 1
    return lax.lgamma(y), lax.digamma(y), lax.erf_inv(x / 9)


@case(("b, t", F))
def incomplete_gamma(x: Any) -> Any:
    y = jnp.abs(x) + 1
    return lax.igamma(y, y + y.mean(0))


@case(("b, t", F))
def random_numbers(x: Any) -> Any:
    key = jax.random.key(x.shape[1])
    uniform, normal, whole = jax.random.uniform, jax.random.normal, jax.random.randint
    drawn = uniform(key, x.shape) + normal(key, (x.shape[1], 3, 1, x.shape[0]), F).sum((0, 1)).T
    return jnp.where(jax.random.bernoulli(key, 0.5, x.shape), x, 0), drawn, whole(key, (x.size,), 0, 9)


@case(("b, t", F))
def chosen_by_chance(x: Any) -> Any:
    return jax.random.categorical(jax.random.key(0), jnp.sin(x)), jax.random.gumbel(jax.random.key(1), x.shape)


@jax.custom_vjp
def halved_gradient(x: Any) -> Any:
    return x * 2


halved_gradient.defvjp(lambda x: (x * 2, x), lambda x, g: (g + x,))
cases([("b, t", F)], own_gradient=lambda x: halved_gradient(x).sum(1))
cases(
    [("2 * t + 1, b", F)],
    sizes_of_two=lambda x: (x[::2], x[1::2].T, x.reshape(-1), x[1:].reshape(-1, 2, x.shape[1]), x.mean(0)),
    sizes_divided=lambda x: (x[: x.shape[0] // 2], x[x.shape[0] // 2 :], x.sum(1)),
)  # fmt: skip
cases(
    [("b * t, 3", F), ("b, t", F)],
    sizes_multiplied=lambda x, y: (x * y.reshape(-1, 1), x.reshape(*y.shape, 3), x.T.reshape(3, *y.T.shape)),
)  # fmt: skip

#: no gradient is known of these: to JAX, to JAX with symbolic dimensions, or in padded arrays
UNTRACEABLE = {
    "iterated",
    "running_extremes",
    "products",
    "strided_over_time",
    "pooled_over_time",
    "counted_rounds",
    "incomplete_gamma",
}
#: programs of integers and others without a gradient
PLAIN = {name for name, (_, arrays) in CASES.items() if F not in [dtype for _, dtype in arrays] or name in UNTRACEABLE}


def check(name: str, of: Any = None) -> None:
    function, arrays = CASES[name]
    if of is not None:
        function = of(name)
    checked(function, arrays, traced(function, arrays), SIZES if of is None else SIZES[1:3])


@pytest.mark.parametrize("name", CASES)
def test_a_program_in_padded_arrays_gives_what_it_gives_in_arrays_that_fit(name: str) -> None:
    check(name)


@pytest.mark.parametrize("name", sorted(set(CASES) - PLAIN))
def test_so_do_its_gradients(name: str) -> None:
    check(name, gradient)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, jnp.bfloat16, np.int8, np.uint8, np.uint64])
def test_neutral_elements_are_those_of_the_type(dtype: Any) -> None:
    """Of unsigned and narrow numbers, too."""

    def function(x: Any) -> Any:
        x = (jnp.clip(jnp.nan_to_num(x), -9, 9) * 4).astype(dtype)
        y = x.reshape(-1)
        return (x.max(1), x.min(0), x.argmax(1), jnp.sort(x, 1), lax.cummax(x, 1, reverse=True), (y.max(), y.argmin()))

    checked(function, [BT], traced(function, [BT]))


REFUSED: dict[str, Case] = {
    "random_bits": (lambda x: x + jax.random.uniform(jax.random.key(0, impl="rbg"), x.shape), [BT]),
    "random_gamma": (lambda x: jax.random.gamma(jax.random.key(0), jnp.abs(x)), [BT]),
    "fft": (lambda x: jnp.fft.fft(x), [BT]),
    "select_and_scatter_add": (gradient("pooled_over_time"), [BTC]),
    "cholesky": (lambda x: jnp.linalg.cholesky(x), [TT]),
    "reduce": (lambda x: lax.reduce(x, F(0), lambda a, b: a + b * 1, (1,)), [BT]),
    "debug_callback": (lambda x: (jax.debug.callback(print, x), x)[1], [BT]),
    "pure_callback": (lambda x: jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x), [BT]),
    "reduce_max": (lambda z: jnp.max(z, 1), [("b, t", C)]),
    "bitcast_convert_type": (lambda x: lax.bitcast_convert_type(x, np.int32), [BT]),
    "conv_general_dilated": (
        lambda x: lax.conv_general_dilated(x.T[None], x.T[:, None, :1], (1,), "VALID", feature_group_count=x.shape[1]),
        [BT],
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_known_to_be_exact_is_refused(name: str) -> None:
    function, arrays = REFUSED[name]
    with pytest.raises(Refused, match=f"^{name}: ") as caught:
        traced(function, arrays)
    assert caught.value.what == name


def test_the_same_without_sizes_of_the_call_is_not_refused() -> None:
    """Random numbers, transforms and callbacks of fixed sizes stay as they are."""

    def function(x: Any) -> Any:
        y = jnp.fft.fft(jax.random.uniform(jax.random.key(0), (5, 4), F)).real
        return x + jnp.linalg.norm(y) + jax.pure_callback(np.sin, jax.ShapeDtypeStruct((5,), F), y[:, 0]).sum()

    checked(function, [BT], traced(function, [BT]))


def test_a_reshape_that_does_not_fit_is_refused() -> None:
    """JAX takes it on trust that two symbolic numbers of elements are the same."""
    with pytest.raises(Refused, match="t is not known to be 3\\*t"):
        traced(lambda x, y: x.reshape(y.shape), [("t", F), ("t, 3", F)])


def test_a_size_that_nobody_gives_is_refused() -> None:
    with pytest.raises(Refused, match="nothing is said about t"):
        traced(lambda x: x * 2, [BT], {"b": 4})


def test_axes_are_merged_and_split_where_they_lie() -> None:
    """No element moves where axes of padded arrays become one and are separated again."""

    def function(x: Any, w: Any) -> Any:
        y = jnp.tanh(x.reshape(-1, 4) @ w).reshape(x.shape)
        y = y.reshape(*x.shape[:2], 2, 2).transpose(0, 2, 1, 3)
        return y.transpose(0, 2, 1, 3).reshape(x.shape).reshape(-1).sum()

    text = str(traced(function, [BTC, ("4, 4", F)]).jaxpr)
    assert "gather" not in text
    assert "dynamic" not in text


def test_lengths_in_memory() -> None:
    program = traced(lambda x: (x[:, 1:], x.reshape(-1), x[:, ::2], jnp.tile(x, (2, 3)), x.sum(0), x[:1]), [BT])
    assert [tuple(extent.padded for extent in extents) for extents in program.outputs] == [
        (4, 5), (24,), (4, 3), (8, 18), (6,), (1, 6),
    ]  # fmt: skip
    assert [str(extent.size) for extent in program.inputs[0]] == ["b", "t"]


def test_rounds_over_what_is_not_valid_are_not_run() -> None:
    """A loop in a scan would not end on the garbage that stands behind the valid rows."""

    def function(x: Any) -> Any:
        def body(total: Any, row: Any) -> Any:
            halved = lax.while_loop(lambda y: ~(y < 1), lambda y: y / 2, jnp.abs(row))
            return total + halved, halved

        return lax.scan(body, F(0), x)

    checked(function, [("t", F)], traced(function, [("t", F)]))
