"""Tensors made from sizes and random numbers: `mindspore.mint`.

Random numbers follow `set_seed`, like those of weft's operations: there are no generators to pass.
"""

from __future__ import annotations

from typing import Any

from weft import dtypes, ops
from weft.core import Tensor

__all__ = [
    "bernoulli", "empty", "empty_like", "linspace", "multinomial", "normal", "rand", "rand_like", "randint",
    "randint_like", "randn", "randn_like", "randperm",
]  # fmt: skip


def _no_generator(name: str, generator: Any) -> None:
    if generator is not None:
        raise NotImplementedError(f"{name}: random numbers follow mindspore.set_seed; generator must be None")


def empty(*size: Any, dtype: Any = None, device: Any = None) -> Any:
    """A tensor of a shape, with zeros.

    Args:
        size: the shape, as ints or one tuple.
        dtype: element type, float32 by default.
        device: accepted; tensors are where the program runs.

    Example:
        >>> empty(2, 3).shape
        (2, 3)
    """
    del device
    return ops.empty(*size, dtype=dtype)


def empty_like(input: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """A tensor in the shape of another, with zeros; see `empty`.

    Example:
        >>> empty_like(Tensor([1, 2])).shape
        (2,)
    """
    del device
    return ops.empty_like(input, dtype=dtype)


def linspace(start: Any, end: Any, steps: Any, *, dtype: Any = None) -> Any:
    """Numbers at equal distances, both ends included.

    Example:
        >>> print(linspace(0, 1, 3))
        [0.  0.5 1. ]
    """
    found = ops.linspace(start, end, steps)
    return found.astype(dtypes.float32 if dtype is None else dtype)


def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, generator: Any = None) -> Any:
    """Numbers of a normal distribution.

    Args:
        mean: number or tensor.
        std: number or tensor.
        size: the shape, where both are numbers.
        generator: None.

    Raises:
        TypeError: both are numbers and there is no size.

    Example:
        >>> normal(0.0, 1.0, (2, 3)).shape
        (2, 3)
    """
    _no_generator("normal", generator)
    if size is None and not isinstance(mean, Tensor) and not isinstance(std, Tensor):
        raise TypeError("normal() needs a size where mean and std are numbers")
    return ops.normal(() if size is None else size, mean, std)


def rand(*size: Any, generator: Any = None, dtype: Any = None, device: Any = None) -> Any:
    """Numbers of the uniform distribution on [0, 1).

    Example:
        >>> rand(2, 3).shape
        (2, 3)
    """
    del device
    _no_generator("rand", generator)
    return ops.rand(*size, dtype=dtype)


def randn(*size: Any, generator: Any = None, dtype: Any = None, device: Any = None) -> Any:
    """Numbers of the standard normal distribution.

    Example:
        >>> randn(2, 3).shape
        (2, 3)
    """
    del device
    _no_generator("randn", generator)
    return ops.randn(*size, dtype=dtype)


def _continuous_type(name: str, input: Any, dtype: Any) -> Any:
    wanted = input.dtype if dtype is None else dtypes.of(dtype)
    if wanted.category != 2:
        raise TypeError(f"{name}() needs a floating dtype, not {wanted}")
    return wanted


def rand_like(input: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Numbers of the uniform distribution in the shape of a tensor.

    Example:
        >>> rand_like(Tensor([1.0, 2.0])).shape
        (2,)
    """
    del device
    return ops.rand_like(input, dtype=_continuous_type("rand_like", input, dtype))


def randn_like(input: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Numbers of the standard normal distribution in the shape of a tensor.

    Example:
        >>> randn_like(Tensor([1.0, 2.0])).shape
        (2,)
    """
    del device
    return ops.randn_like(input, dtype=_continuous_type("randn_like", input, dtype))


def randint(*args: Any, generator: Any = None, dtype: Any = None, device: Any = None) -> Any:
    """Uniform integers: ``randint(high, size)`` or ``randint(low, high, size)``.

    Example:
        >>> randint(10, (2, 3)).shape
        (2, 3)
    """
    del device
    _no_generator("randint", generator)
    low, high, size = _bounds("randint", "(low=0, high, size)", args)
    return ops.randint(low, high, size, dtype=dtype)


def randint_like(*args: Any, dtype: Any = None, device: Any = None) -> Any:
    """Uniform integers in the shape of a tensor: ``randint_like(input, high)`` or ``randint_like(input, low, high)``.

    Example:
        >>> randint_like(Tensor([1.0, 2.0]), 10).shape
        (2,)
    """
    del device
    low, high, input = _bounds("randint_like", "(input, low=0, high)", (*args[1:], *args[:1]))
    return ops.randint(low, high, input.shape, dtype=input.dtype if dtype is None else dtype)


def _bounds(name: str, form: str, args: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    if len(args) not in (2, 3):
        raise TypeError(f"{name}{form} was given {len(args)} arguments")
    return (0, *args) if len(args) == 2 else args


def randperm(n: int, *, generator: Any = None, dtype: Any = dtypes.int64) -> Any:
    """The numbers below `n` in random order.

    Example:
        >>> randperm(4).shape
        (4,)
    """
    _no_generator("randperm", generator)
    return ops.randperm(n, dtype=dtype)


def bernoulli(input: Any, *, generator: Any = None) -> Any:
    """Ones with the probabilities that a tensor holds, zeros otherwise.

    Example:
        >>> print(bernoulli(Tensor([0.0, 1.0])))
        [0. 1.]
    """
    _no_generator("bernoulli", generator)
    return ops.bernoulli(input, input)


def multinomial(input: Any, num_samples: int, replacement: bool = False, *, generator: Any = None) -> Any:
    """Categories drawn with the weights of the last dimension, as int64.

    Example:
        >>> print(multinomial(Tensor([0.0, 1.0]), 3, True))
        [1 1 1]
    """
    _no_generator("multinomial", generator)
    return ops.multinomial(input, num_samples, replacement).astype(dtypes.int64)
