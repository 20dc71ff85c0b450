"""Functions that write their result into their first operand, and return that; each is a Tensor method too."""

from __future__ import annotations

from typing import Any

from weft.core import Tensor, described, shows, told
from weft.ops._checks import no_generator, tensors
from weft.ops.state import stop_gradient

__all__ = [
    "bernoulli_", "clamp_", "erfinv_", "exponential_", "inplace_sigmoid", "normal_", "put_", "random_",
    "stop_gradient_", "tanh_", "uniform_", "zero_",
]  # fmt: skip

_WRITTEN = described(
    input="the tensor that is written.",
    generator="None: random numbers follow `set_seed`.",
    returns="Tensor: `input`.",
    raises="TypeError: `input` is no tensor.",
)


def _a_tensor(name: str, value: Any, generator: Any = None) -> Tensor:
    tensors(name, input=value)
    no_generator(name, generator)
    return value


@_WRITTEN
@shows("bernoulli_(Tensor([5.0, 6.0]), 1.0)", "[1. 1.]")
def bernoulli_(input: Any, p: Any = 0.5, *, generator: Any = None) -> Any:
    """Fill a tensor with ones with a probability, zeros otherwise.

    Args:
        p: the probability, a number or tensor.
    """
    return _a_tensor("bernoulli_", input, generator).bernoulli_(p)


@_WRITTEN
@shows("clamp_(Tensor([-5.0, 6.0]), 0, 1)", "[0. 1.]")
def clamp_(input: Any, min: Any = None, max: Any = None) -> Any:
    """`clamp` in place.

    Args:
        min: lower bound, None for none.
        max: upper bound, None for none.
    """
    return _a_tensor("clamp_", input).clamp_(min, max)


def _same_in_place(name: str, sentence: str, method: str, given: str, printed: str) -> Any:
    """A function without settings that is a Tensor method in place."""

    def write(input: Any) -> Any:
        return getattr(_a_tensor(name, input), method)()

    return _WRITTEN(told(write, name, f"{sentence}\n\nExample:\n    >>> print({name}(Tensor({given})))\n    {printed}"))


erfinv_ = _same_in_place("erfinv_", "`erfinv` in place.", "erfinv_", "[0.0]", "[0.]")
inplace_sigmoid = _same_in_place("inplace_sigmoid", "`sigmoid` in place.", "sigmoid_", "[0.0]", "[0.5]")
tanh_ = _same_in_place("tanh_", "`tanh` in place.", "tanh_", "[0.0]", "[0.]")
zero_ = _same_in_place("zero_", "Fill a tensor with zeros.", "zero_", "[5.0]", "[0.]")


@_WRITTEN
@shows("exponential_(Tensor([-1.0])) >= 0", "[ True]")
def exponential_(input: Any, lambd: float = 1, *, generator: Any = None) -> Any:
    """Fill a tensor with numbers of an exponential distribution.

    Args:
        lambd: its rate, a positive number.
    """
    return _a_tensor("exponential_", input, generator).exponential_(lambd)


@_WRITTEN
@shows("normal_(Tensor([5.0, 6.0]), 2.0, 0.0)", "[2. 2.]")
def normal_(input: Any, mean: Any = 0, std: Any = 1, *, generator: Any = None) -> Any:
    """Fill a tensor with numbers of a normal distribution.

    Args:
        mean: its mean.
        std: its standard deviation.
    """
    return _a_tensor("normal_", input, generator).normal_(mean, std)


@_WRITTEN
@shows("put_(Tensor([[1, 2], [3, 4]]), Tensor([0, 3]), Tensor([8, 9]))", "[[8 2]\n [3 9]]")
def put_(input: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    """Write elements at positions that count through the whole tensor.

    Args:
        index: the positions, of int64.
        source: as many elements, of the type of `input`.
        accumulate: add them instead.
    """
    return _a_tensor("put_", input).put_(index, source, accumulate)


@_WRITTEN
@shows("random_(Tensor([5, 6]), 3, 4)", "[3 3]")
def random_(input: Any, from_: Any = 0, to: Any = None, *, generator: Any = None) -> Any:
    """Fill a tensor with uniform integers.

    Args:
        from_: the smallest.
        to: the number after the largest; None for that up to which the element type has all integers.
    """
    return _a_tensor("random_", input, generator).random_(from_, to)


@_WRITTEN
@shows("stop_gradient_(Tensor([1.0]))", "[1.]")
def stop_gradient_(input: Any) -> Any:
    """Make a tensor a constant for every gradient."""
    given = _a_tensor("stop_gradient_", input)
    return given.rebind(stop_gradient(given))


@_WRITTEN
@shows("uniform_(Tensor([5.0]), 2, 3).floor()", "[2.]")
def uniform_(input: Any, from_: Any = 0, to: Any = 1, *, generator: Any = None) -> Any:
    """Fill a tensor with numbers of a uniform distribution.

    Args:
        from_: the smallest.
        to: not included.
    """
    return _a_tensor("uniform_", input, generator).uniform_(from_, to)
