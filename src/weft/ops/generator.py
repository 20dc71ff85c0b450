"""The state of the random stream, read and set: what `mindspore.get_rng_state` and the like are."""

from __future__ import annotations

import os
from typing import Any, Final

import numpy as np

from weft import dtypes
from weft.core import Tensor, described, shows
from weft.ops._checks import ints
from weft.ops.random import get_seed, random_state, seed_words, set_seed
from weft.ops.state import current_value

__all__ = ["Generator", "default_generator", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]

_OF_STATE: Final = described(raises="TypeError: it is no Tensor of uint8.\nValueError: it has another size.")
_OF_SEED: Final = described(
    seed="non-negative int.", raises="TypeError: the seed is no int.\nValueError: it is negative."
)


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
        self._state = Tensor(seed_words(0))

    def get_state(self) -> Tensor:
        """The state: a Tensor of uint8."""
        return Tensor(self._state.asnumpy().view(np.uint8).copy())

    @_OF_STATE
    def set_state(self, state: Tensor) -> None:
        """Go on from a state.

        Args:
            state: what `get_state` gave.
        """
        self._state.rebind(current_value(Tensor(_words_of(state))))

    def seed(self) -> int:
        """Start anew with a seed that the system draws.

        Returns:
            int: the seed.
        """
        drawn = int.from_bytes(os.urandom(8), "little") >> 1
        self.manual_seed(drawn)
        return drawn

    @_OF_SEED
    def manual_seed(self, seed: int) -> Generator:
        """Start anew with a seed.

        Returns:
            Generator: this one.
        """
        _check_seed(seed)
        self._seed = seed
        self._state.rebind(current_value(Tensor(seed_words(seed))))
        return self

    def initial_seed(self) -> int:
        """The seed that the stream started from."""
        return self._seed


class _Default(Generator):
    """The stream of the program."""

    def __init__(self) -> None:
        """The state is that of the program."""

    @property
    def _state(self) -> Tensor:  # type: ignore[override]
        return random_state()

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


def _check_seed(seed: Any) -> None:
    ints("manual_seed", seed=seed)
    if seed < 0:
        raise ValueError(f"the seed must not be negative, not {seed}")


def _words_of(state: Any) -> np.ndarray[Any, Any]:
    if not isinstance(state, Tensor) or state.dtype is not dtypes.uint8:
        raise TypeError("a state is a Tensor of uint8, as get_rng_state gives it")
    if state.shape != (8,):
        raise ValueError(f"a state has the shape (8,), not {state.shape}")
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


@_OF_STATE
def set_rng_state(state: Tensor) -> None:
    """Let the program's stream of random numbers go on from a state.

    Args:
        state: what `get_rng_state` gave.

    Example:
        >>> set_rng_state(get_rng_state())
    """
    default_generator.set_state(state)


@_OF_SEED
@shows("manual_seed(5).initial_seed()", "5")
def manual_seed(seed: int) -> Generator:
    """Start the program's stream of random numbers anew.

    Returns:
        Generator: that of the program.
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
