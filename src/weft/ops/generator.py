"""The state of the random stream, read and set: what `mindspore.get_rng_state` and the like are."""

from __future__ import annotations

import os
from typing import Any, Final

import numpy as np

from weft import dtypes
from weft.core import Tensor, shows
from weft.ops.random import get_seed, random_state, set_seed
from weft.ops.state import current_value

__all__ = ["Generator", "default_generator", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]

#: words of the state: two of a stream's key
_WORDS: Final = 2


class Generator:
    """A stream of random numbers: its state, which can be read and set.

    Random operations draw from the stream of the program, `default_generator`; another one is a state that can be kept
    and set there.

    Example:
        >>> from weft import ops
        >>> generator = Generator()
        >>> generator.manual_seed(3).initial_seed()
        3
        >>> state = generator.get_state()
        >>> generator.set_state(state)
    """

    def __init__(self) -> None:
        self._seed = 0
        self._state = _state_of(0)

    def get_state(self) -> Tensor:
        """The state: a Tensor of uint8."""
        return Tensor(self._state.asnumpy().view(np.uint8).copy())

    def set_state(self, state: Tensor) -> None:
        """Go on from a state.

        Args:
            state: what `get_state` gave.

        Raises:
            TypeError: it is no Tensor of uint8.
            ValueError: it has another size.
        """
        self._state = Tensor(_words_of(state))

    def seed(self) -> int:
        """Start anew with a seed that the system draws.

        Returns:
            int: the seed.
        """
        drawn = int.from_bytes(os.urandom(8), "little") >> 1
        self.manual_seed(drawn)
        return drawn

    def manual_seed(self, seed: int) -> Generator:
        """Start anew with a seed.

        Args:
            seed: non-negative int.

        Returns:
            Generator: this one.

        Raises:
            TypeError: the seed is no int.
            ValueError: it is negative.
        """
        _check_seed(seed)
        self._seed = seed
        self._state = _state_of(seed)
        return self

    def initial_seed(self) -> int:
        """The seed that the stream started from."""
        return self._seed


class _Default(Generator):
    """The stream of the program."""

    def __init__(self) -> None:
        """The state is that of the program."""

    def get_state(self) -> Tensor:
        return Tensor(random_state().asnumpy().view(np.uint8).copy())

    def set_state(self, state: Tensor) -> None:
        random_state().rebind(current_value(Tensor(_words_of(state))))

    def manual_seed(self, seed: int) -> Generator:
        _check_seed(seed)
        set_seed(seed)
        return self

    def initial_seed(self) -> int:
        found = get_seed()
        if found is not None:
            return found
        low, high = (int(word) for word in random_state().asnumpy())
        return low | high << 32


def _state_of(seed: int) -> Tensor:
    return Tensor(np.asarray([seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF], np.uint32))


def _check_seed(seed: Any) -> None:
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise TypeError(f"the seed must be an int, not {type(seed).__name__}")
    if seed < 0:
        raise ValueError(f"the seed must not be negative, not {seed}")


def _words_of(state: Any) -> np.ndarray[Any, Any]:
    if not isinstance(state, Tensor) or state.dtype is not dtypes.uint8:
        raise TypeError("a state is a Tensor of uint8, as get_rng_state gives it")
    if state.shape != (4 * _WORDS,):
        raise ValueError(f"a state has the shape ({4 * _WORDS},), not {state.shape}")
    return state.asnumpy().copy().view(np.uint32)


default_generator: Final = _Default()


def get_rng_state() -> Tensor:
    """The state of the program's stream of random numbers: a Tensor of uint8.

    Example:
        >>> from weft import ops
        >>> state = get_rng_state()
        >>> first = ops.rand(2)
        >>> set_rng_state(state)
        >>> bool((first == ops.rand(2)).all())
        True
    """
    return default_generator.get_state()


def set_rng_state(state: Tensor) -> None:
    """Let the program's stream of random numbers go on from a state.

    Args:
        state: what `get_rng_state` gave.

    Raises:
        TypeError: it is no Tensor of uint8.
        ValueError: it has another size.

    Example:
        >>> set_rng_state(get_rng_state())
    """
    default_generator.set_state(state)


@shows("manual_seed(5).initial_seed()", "5")
def manual_seed(seed: int) -> Generator:
    """Start the program's stream of random numbers anew.

    Args:
        seed: non-negative int.

    Returns:
        Generator: that of the program.

    Raises:
        TypeError: the seed is no int.
        ValueError: it is negative.
    """
    return default_generator.manual_seed(seed)


@shows("isinstance(seed(), int)", "True")
def seed() -> int:
    """Start the program's stream of random numbers anew with a seed that the system draws.

    Returns:
        int: the seed.
    """
    return default_generator.seed()


def initial_seed() -> int:
    """The seed that the program's stream of random numbers started from.

    Example:
        >>> _ = manual_seed(7)
        >>> initial_seed()
        7
    """
    return default_generator.initial_seed()
