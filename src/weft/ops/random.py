"""Random numbers: one stream, the same in every mode, whose state is a tensor.

A random operation computes with a key taken from the state, then the state advances. Both are ordinary
computations on the state's handle, so a compiled function reads and writes it like any parameter.
"""

from __future__ import annotations

import itertools
import os
import threading
from contextlib import AbstractContextManager, nullcontext
from functools import cache, partial
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

from weft import dtypes
from weft._jax_compat import to_device
from weft.core import RANDOM, Primitive, Tensor, apply, as_operator, described, op, operator_class, shows, told, wrap
from weft.core import trace as trace_module
from weft.core.threads import in_turn
from weft.ops._rules import flat_numbers, numbers, tensor
from weft.ops.elementwise import log
from weft.ops.math import add, mul
from weft.ops.sorting import topk
from weft.ops.state import current_value
from weft.parallel.processes import processes

__all__ = [
    "bernoulli", "gamma", "gumbel", "laplace", "multinomial", "multinomial_with_replacement", "normal", "poisson",
    "rand", "rand_like", "randint", "randint_like", "randn", "randn_like", "random_categorical", "random_gamma",
    "random_poisson", "randperm", "shuffle", "standard_laplace", "standard_normal", "truncated_normal", "uniform",
]  # fmt: skip

# -- the stream ------------------------------------------------------------------------------------------------


class _Seed(threading.local):
    """The seed that was set, and the generator of initial values."""

    value: int | None = None
    generator: np.random.Generator | None = None


_seed = _Seed()
#: numbers of the generators for which no seed was set, where processes draw the same numbers
_unseeded = itertools.count()


def seed_words(seed: int) -> Any:
    """The state at the beginning of a stream: [seed, count]."""
    return np.asarray([seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF], np.uint32)


@cache
def random_state() -> Tensor:
    """The handle of the stream's state, a threefry key: the seed, and how many keys were drawn."""
    common = processes().seed
    drawn = int.from_bytes(os.urandom(4), "little") if common is None else common
    return wrap(to_device(seed_words(drawn)))  # made on first use: importing touches no device


def set_seed(seed: int) -> None:
    """Start the random stream anew.

    Args:
        seed: non-negative integer; the same seed gives the same numbers in every mode.

    Raises:
        TypeError: the seed is not an integer.
        ValueError: the seed is negative.

    Example:
        >>> set_seed(1)
        >>> a = randn(2)
        >>> set_seed(1)
        >>> print(a == randn(2))
        [ True  True]
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise TypeError(f"set_seed: the seed must be an int, not {type(seed).__name__}")
    if seed < 0:
        raise ValueError(f"set_seed: the seed must not be negative, not {seed}")
    _seed.value = int(seed)
    _seed.generator = np.random.default_rng(_seed.value)
    np.random.seed(_seed.value & 0xFFFFFFFF)
    random_state().rebind(current_value(Tensor(seed_words(seed))))


def get_seed() -> int | None:
    """The seed that was set last, None if none was.

    Example:
        >>> set_seed(3)
        >>> get_seed()
        3
    """
    return _seed.value


def numpy_generator() -> np.random.Generator:
    """The NumPy generator of initial values; `set_seed` starts it anew.

    Raises:
        Unsupported: a capture asks for it, which would hold the values of its first call for ever.
    """
    trace_module.refuse_while_captured(
        "initial values are drawn, which are others in each call",
        "make layers and initial values outside the compiled function",
    )
    if _seed.generator is None:
        common = processes().seed
        if _seed.value is None and common is not None:  # the same in all processes, another one in each thread
            _seed.generator = np.random.default_rng([common, next(_unseeded)])
        else:
            _seed.generator = np.random.default_rng(_seed.value)
    return _seed.generator


ADVANCE = Primitive(
    "AdvanceRandom", lambda state: state + jnp.asarray([0, 1], jnp.uint32), no_gradient="integer result"
)


_DRAWING: Final = threading.RLock()


def draws_in_turn() -> AbstractContextManager[None]:
    """A block that reads the state of the stream and advances it: threads run it one after another, so that each draws
    numbers of its own.
    """
    return nullcontext() if trace_module.current() is not None else in_turn(_DRAWING)


def draw_key() -> Tensor:
    """The current key of the stream, a uint32 tensor of two elements; the stream then advances."""
    state = random_state()
    with draws_in_turn():
        key = current_value(state)
        state.rebind(apply(ADVANCE, (state,)))
    return key


def _key_of(seed: Any, seed2: Any = 0) -> Tensor:
    """The next key of the stream; an operation's own seed picks a stream of its own."""
    key = draw_key()
    own = (int(seed or 0) << 20) + int(seed2 or 0)
    return _own_key(key, seed=own) if own else key


@op("OwnKey", classes=(), effect=RANDOM, no_gradient="integer result")
def _own_key(key: Any, *, seed: int) -> Any:
    """The key at the same position of another stream."""
    mixed = (seed * 0x9E3779B1 + 0x7F4A7C15) & 0xFFFFFFFF
    return jnp.stack([jnp.asarray(mixed, jnp.uint32), key[1]])


# -- the primitives --------------------------------------------------------------------------------------------

_random = partial(op, classes=(), effect=RANDOM, no_gradient="random numbers")


def _draw(primitive: str, draw: Any, sentence: str) -> Any:
    """Declare a primitive that draws with a key."""
    return _random(primitive)(told(draw, primitive, sentence))


def _standard(primitive: str, draw: Any, what: str) -> Any:
    """Declare a distribution that has no parameters."""

    def numbers_of(key: Any, *, shape: tuple[int, ...], dtype: Any) -> Any:
        return draw(key, shape=shape, dtype=dtype.np_dtype)

    return _draw(primitive, numbers_of, f"Numbers of the {what}.")


_normal = _standard("StandardNormal", jax.random.normal, "standard normal distribution")
_uniform = _standard("UniformReal", jax.random.uniform, "uniform distribution on [0, 1)")
_laplace = _standard("StandardLaplace", jax.random.laplace, "standard Laplace distribution")
_cut_off = partial(jax.random.truncated_normal, lower=-2.0, upper=2.0)
_truncated = _standard("TruncatedNormal", _cut_off, "standard normal distribution between -2 and 2")
_bernoulli = _draw(
    "Bernoulli", lambda key, p, *, shape: jax.random.bernoulli(key, p, shape), "True with a probability."
)
_gamma = _draw("Gamma", lambda key, alpha, *, shape: jax.random.gamma(key, alpha, shape, alpha.dtype),
    "Numbers of the gamma distribution with rate 1.")  # fmt: skip
_poisson = _draw("Poisson", lambda key, rate, *, shape: jax.random.poisson(key, rate, shape, jnp.int64),
    "Numbers of the Poisson distribution.")  # fmt: skip
_permutation = _draw("Randperm", lambda key, *, n: jax.random.permutation(key, n),
    "The numbers below `n` in random order.")  # fmt: skip
_gumbel_like = _draw("Gumbel", lambda key, like: jax.random.gumbel(key, like.shape, like.dtype),
    "Numbers of the standard Gumbel distribution in the shape of a tensor.")  # fmt: skip


@_random("UniformInt")
def _integers(key: Any, low: Any, high: Any, *, shape: tuple[int, ...], dtype: Any) -> Any:
    """Uniform integers, the upper bound not included."""
    low, high = low.astype(jnp.int64), high.astype(jnp.int64)
    return jax.random.randint(key, shape, low, high, jnp.int64).astype(dtype.np_dtype)


@_random("Categorical")
def _categorical(key: Any, logits: Any, *, count: int) -> Any:
    """Categories with the odds of the last dimension."""
    shape = (count, *logits.shape[:-1])
    return jnp.moveaxis(jax.random.categorical(key, logits, axis=-1, shape=shape), 0, -1)


# -- the operations --------------------------------------------------------------------------------------------


def _wanted(dtype: Any, default: Any = dtypes.float32) -> Any:
    return default if dtype is None else dtypes.of(dtype)


def _continuous(draw: Any, shape: tuple[int, ...], dtype: Any, seed: Any, seed2: Any = 0) -> Any:
    wanted = _wanted(dtype)
    if wanted.category != 2:
        raise ValueError(f"random numbers of a continuous distribution need a floating dtype, not {wanted}")
    return draw(_key_of(seed, seed2), shape=shape, dtype=wanted)


_DRAWN: Final = described(
    size="shape, as ints or one tuple.",
    dtype="floating element type, float32 by default.",
    seed="picks a stream of its own.",
    returns="Tensor: of that shape.",
)


@_DRAWN
@shows("randn(2, 3).shape", "(2, 3)")
def randn(*size: Any, dtype: Any = None, seed: int | None = None) -> Any:
    """Numbers of the standard normal distribution.

    Raises:
        TypeError: the element type is not floating.
    """
    return _continuous(_normal, flat_numbers(size), dtype, seed)


@_DRAWN
@shows("rand((2, 3)).shape", "(2, 3)")
def rand(*size: Any, dtype: Any = None, seed: int | None = None) -> Any:
    """Numbers of the uniform distribution on [0, 1)."""
    return _continuous(_uniform, flat_numbers(size), dtype, seed)


@shows("randn_like(Tensor([1.0, 2.0])).shape", "(2,)")
def randn_like(input: Any, seed: int | None = None, *, dtype: Any = None) -> Any:
    """Numbers of the standard normal distribution in the shape of a tensor."""
    return _continuous(_normal, input.shape, dtypes.float32 if dtype is None else dtype, seed)


@shows("rand_like(Tensor([1.0, 2.0])).shape", "(2,)")
def rand_like(input: Any, seed: int | None = None, *, dtype: Any = None) -> Any:
    """Numbers of the uniform distribution on [0, 1) in the shape of a tensor."""
    return _continuous(_uniform, input.shape, input.dtype if dtype is None else dtype, seed)


@_DRAWN
@shows("randint(0, 10, (2, 3)).shape", "(2, 3)")
def randint(low: Any, high: Any, size: Any, seed: int | None = None, *, dtype: Any = None) -> Any:
    """Uniform integers.

    Args:
        low: smallest number.
        high: the number after the largest.
        size: shape.
        dtype: element type, int64 by default.

    Raises:
        ValueError: `low` is not smaller than `high`.
    """
    if isinstance(low, int) and isinstance(high, int) and low >= high:
        raise ValueError(f"randint: low must be smaller than high, not {low} and {high}")
    return _integers(_key_of(seed), tensor(low), tensor(high), shape=numbers(size), dtype=_wanted(dtype, dtypes.int64))


@shows("randint_like(Tensor([1, 2]), 0, 5).shape", "(2,)")
def randint_like(input: Any, low: Any, high: Any, seed: int | None = None, *, dtype: Any = None) -> Any:
    """Uniform integers in the shape of a tensor."""
    wanted = input.dtype if dtype is None else dtypes.of(dtype)
    if wanted.category != 1 or not wanted.is_signed:
        raise ValueError(f"randint_like: dtype, by default that of the tensor, must be signed integers, not {wanted}")
    return randint(low, high, input.shape, seed, dtype=wanted)


@shows("randperm(4).sort()[0]", "[0 1 2 3]")
def randperm(n: Any, seed: int = 0, offset: int = 0, dtype: Any = dtypes.int64) -> Any:
    """The numbers below `n` in random order."""
    (count,) = numbers(n)
    return _permutation(_key_of(seed), n=count).astype(dtype)


@shows("shuffle(Tensor([1, 2, 3])).shape", "(3,)")
def shuffle(x: Any, seed: int | None = None) -> Any:
    """The slices along the first dimension in random order."""
    return x[_permutation(_key_of(seed), n=x.shape[0])] if x.ndim else x


@shows("standard_normal((2, 3)).shape", "(2, 3)")
def standard_normal(shape: Any, seed: int | None = None) -> Any:
    """Numbers of the standard normal distribution."""
    return _continuous(_normal, numbers(shape), None, seed)


@shows("standard_laplace((2, 3)).shape", "(2, 3)")
def standard_laplace(shape: Any, seed: int | None = None) -> Any:
    """Numbers of the standard Laplace distribution."""
    return _continuous(_laplace, numbers(shape), None, seed)


@shows("truncated_normal((2, 3)).shape", "(2, 3)")
def truncated_normal(shape: Any, seed: int | None = None, seed2: int = 0, dtype: Any = None) -> Any:
    """Numbers of the standard normal distribution between -2 and 2."""
    return _continuous(_truncated, numbers(shape), dtype, seed, seed2)


def _common_shape(shape: Any, *parameters: Any) -> tuple[int, ...]:
    return tuple(np.broadcast_shapes(numbers(shape), *[p.shape for p in parameters]))


def _single(*values: Any) -> tuple[Any, ...]:
    """Values as tensors of float32."""
    return tuple([tensor(value).astype(dtypes.float32) for value in values])


def _placed(draw: Any, shape: Any, middle: Any, width: Any, seed: Any) -> Any:
    """Numbers of a standard distribution, stretched and moved."""
    middle, width = _single(middle, width)
    return add(mul(_continuous(draw, _common_shape(shape, middle, width), None, seed), width), middle)


@_DRAWN
@shows("normal((2, 3), 1.0, 0.5).shape", "(2, 3)")
def normal(shape: Any, mean: Any, stddev: Any, seed: int | None = None) -> Any:
    """Numbers of a normal distribution.

    Args:
        shape: shape, broadcast with those of the parameters.
        mean: tensor or number.
        stddev: tensor or number.

    Returns:
        Tensor: float32.
    """
    return _placed(_normal, shape, mean, stddev, seed)


@shows("laplace((2, 3), Tensor(0.0), Tensor(1.0)).shape", "(2, 3)")
def laplace(shape: Any, mean: Any, lambda_param: Any, seed: int | None = None) -> Any:
    """Numbers of a Laplace distribution."""
    return _placed(_laplace, shape, mean, lambda_param, seed)


@_DRAWN
@shows("uniform((2, 3), Tensor(0.0), Tensor(2.0)).shape", "(2, 3)")
def uniform(shape: Any, minval: Any, maxval: Any, seed: int | None = None, dtype: Any = dtypes.float32) -> Any:
    """Numbers of a uniform distribution.

    Args:
        shape: shape, broadcast with those of the bounds.
        minval: tensor or number, the smallest.
        maxval: tensor or number, not included.
        dtype: float32 or int32.

    Returns:
        Tensor: of the element type.
    """
    low, high, wanted = tensor(minval), tensor(maxval), dtypes.of(dtype)
    if wanted not in (dtypes.float32, dtypes.int32) or wanted.category != low.dtype.category:
        raise TypeError(f"uniform: numbers of float32 or int32, as the bounds are, not of {wanted} for {low.dtype}")
    shape = _common_shape(shape, low, high)
    if wanted.category == 1:
        return _integers(_key_of(seed), low, high, shape=shape, dtype=wanted)
    low, high = low.astype(wanted), high.astype(wanted)
    return add(mul(_continuous(_uniform, shape, wanted, seed), high - low), low)


@_DRAWN
@shows("bernoulli(Tensor([5.0, 6.0]), 1.0)", "[1. 1.]")
def bernoulli(input: Any, p: Any = 0.5, seed: int | None = None) -> Any:
    """Ones with a probability, zeros otherwise, in the shape and element type of a tensor.

    Args:
        input: tensor.
        p: probability, number or tensor in [0, 1].

    Returns:
        Tensor: like `input`.

    Raises:
        ValueError: the probability is out of range.
    """
    if isinstance(p, (int, float)) and not 0 <= p <= 1:
        raise ValueError(f"bernoulli: p must be in [0, 1], not {p}")
    return _bernoulli(_key_of(seed), tensor(p).astype(dtypes.float32), shape=input.shape).astype(input.dtype)


@shows("gamma((2,), Tensor([1.0, 2.0]), Tensor(1.0)).shape", "(2, 2)")
def gamma(shape: Any, alpha: Any, beta: Any, seed: int | None = None) -> Any:
    """Numbers of a gamma distribution with shape `alpha` and rate `beta`."""
    alpha, beta = _single(alpha, beta)
    return _gamma(_key_of(seed), alpha, shape=(*numbers(shape), *_common_shape((), alpha, beta))) / beta


@shows("random_gamma((2,), Tensor([1.0, 2.0, 3.0])).shape", "(2, 3)")
def random_gamma(shape: Any, alpha: Any, seed: int | None = None) -> Any:
    """Numbers of a gamma distribution with rate 1."""
    alpha = floating_tensor(alpha)
    return _gamma(_key_of(seed), alpha, shape=(*numbers(shape), *alpha.shape))


def floating_tensor(value: Any) -> Any:
    """A value as a floating-point tensor."""
    made = tensor(value)
    return made if made.dtype.is_floating else made.astype(dtypes.float32)


@shows("random_poisson((2,), Tensor([1.0, 2.0, 3.0])).shape", "(2, 3)")
def random_poisson(shape: Any, rate: Any, seed: int | None = None, dtype: Any = dtypes.float32) -> Any:
    """Numbers of a Poisson distribution."""
    rate = floating_tensor(rate)
    return _poisson(_key_of(seed), rate, shape=(*numbers(shape), *rate.shape)).astype(dtype)


@shows("poisson((2, 3), Tensor(2.0)).shape", "(2, 3)")
def poisson(shape: Any, mean: Any, seed: int | None = None) -> Any:
    """Integers of a Poisson distribution (int32)."""
    mean = floating_tensor(mean)
    return _poisson(_key_of(seed), mean, shape=_common_shape(shape, mean)).astype(dtypes.int32)


def _weights(name: str, given: Any) -> Any:
    """Weights of categories along the last dimension."""
    weights = floating_tensor(given)
    if weights.ndim == 0:
        raise ValueError(f"{name}: needs weights along a dimension, not a tensor without dimensions")
    return weights


@_DRAWN
@shows("multinomial(Tensor([0.0, 1.0]), 3)", "[1 1 1]")
def multinomial(input: Any, num_samples: int, replacement: bool = True, seed: int | None = None) -> Any:
    """Categories drawn with the weights of the last dimension.

    Args:
        input: tensor of non-negative weights, of 1 or 2 dimensions.
        num_samples: how many draws for each row.
        replacement: whether a category may be drawn again.

    Returns:
        Tensor: int32.

    Raises:
        ValueError: more draws than categories without replacement.
    """
    weights = _weights("multinomial", input)
    if replacement:
        return _categorical(_key_of(seed), log(weights), count=num_samples).astype(dtypes.int32)
    if num_samples > weights.shape[-1]:
        raise ValueError(f"multinomial: {num_samples} draws without replacement from {weights.shape[-1]} categories")
    return topk(log(weights) + _gumbel_like(_key_of(seed), weights), num_samples)[1].astype(dtypes.int32)


@shows("multinomial_with_replacement(Tensor([0.0, 1.0]), numsamples=2)", "[1 1]")
def multinomial_with_replacement(
    x: Any, seed: int = 0, offset: int = 0, numsamples: int = 1, replacement: bool = True
) -> Any:
    """Categories drawn with the weights of the last dimension, with replacement."""
    weights = _weights("multinomial_with_replacement", x)
    return _categorical(_key_of(seed, offset), log(weights), count=numsamples).astype(dtypes.int64)


@shows("random_categorical(Tensor([[0.0, 1.0]]), 3).shape", "(1, 3)")
def random_categorical(logits: Any, num_sample: int, seed: int = 0, dtype: Any = dtypes.int64) -> Any:
    """Categories drawn with the log odds of the last dimension."""
    if dtypes.of(dtype).category != 1:
        raise TypeError(f"random_categorical: dtype must be of integers, not {dtypes.of(dtype)}")
    weights = _weights("random_categorical", logits)
    return _categorical(_key_of(seed), weights, count=num_sample).astype(dtype)


@shows("gumbel(Tensor([1.0, 2.0])).shape", "(2,)")
def gumbel(like: Any) -> Any:
    """Numbers of the standard Gumbel distribution in the shape of a tensor."""
    return _gumbel_like(_key_of(None), floating_tensor(like))


def _of_shape(draw: Any) -> Any:
    """What the operator class of a distribution without parameters computes."""

    def drawn(shape: Any, seed: int, seed2: int) -> Any:
        return _continuous(draw, numbers(shape), None, seed, seed2)

    return told(drawn, draw.primitive.name, draw.__doc__)


for _each in (_normal, _uniform, _laplace):
    operator_class(_each.primitive.name, _of_shape(_each), "seed=0, seed2=0")


def _one_seed(seed: Any, seed2: Any) -> int:
    return (int(seed) << 8) + int(seed2)


@as_operator
def UniformInt(shape: Any, minval: Any, maxval: Any, *, seed: int = 0, seed2: int = 0) -> Any:
    """Uniform integers (int32), the upper bound not included."""
    return _integers(_key_of(seed, seed2), tensor(minval), tensor(maxval), shape=numbers(shape), dtype=dtypes.int32)


@as_operator
def Gamma(shape: Any, alpha: Any, beta: Any, *, seed: int = 0, seed2: int = 0) -> Any:
    """Numbers of a gamma distribution."""
    return gamma(shape, alpha, beta, _one_seed(seed, seed2))


@as_operator
def Poisson(shape: Any, mean: Any, *, seed: int = 0, seed2: int = 0) -> Any:
    """Integers of a Poisson distribution."""
    return poisson(shape, mean, _one_seed(seed, seed2))


@as_operator
def Multinomial(x: Any, num_samples: int, *, seed: int = 0, seed2: int = 0, dtype: Any = dtypes.int32) -> Any:
    """Categories drawn with the weights of the last dimension."""
    return multinomial(x, num_samples, True, _one_seed(seed, seed2)).astype(dtype)


@as_operator
def RandomCategorical(logits: Any, num_sample: int, seed: int = 0, *, dtype: Any = dtypes.int64) -> Any:
    """Categories drawn with the log odds of the last dimension."""
    return random_categorical(logits, num_sample, seed, dtype)


@as_operator
def RandomShuffle(x: Any, *, seed: int = 0, seed2: int = 0) -> Any:
    """The slices along the first dimension in random order."""
    return x[_permutation(_key_of(seed, seed2), n=x.shape[0])]


@as_operator
def Bernoulli(x: Any, p: Any = 0.5, *, seed: int = -1, offset: int = 0) -> Any:
    """Ones with a probability, zeros otherwise."""
    return bernoulli(x, p, None if seed < 0 else seed)


operator_class("TruncatedNormal", truncated_normal, "seed=0, seed2=0, dtype=dtypes.float32")
