"""The state of the stream of random numbers: kept, set, and started anew."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from weft import Tensor, ops
from weft.ops import generator


def test_a_state_that_is_set_gives_the_same_numbers() -> None:
    state = generator.get_rng_state()
    first = [ops.rand(3).asnumpy() for _ in range(2)]
    generator.set_rng_state(state)
    assert np.array_equal([ops.rand(3).asnumpy() for _ in range(2)], first)


def test_compiled_functions_draw_from_it() -> None:
    draw = weft.jit(lambda: ops.rand(3))
    assert generator.manual_seed(4) is generator.default_generator
    eager = ops.rand(3).asnumpy()
    generator.manual_seed(4)
    assert np.array_equal(draw().asnumpy(), eager)
    assert not np.array_equal(draw().asnumpy(), eager)


def test_seeds() -> None:
    assert generator.manual_seed(9).initial_seed() == generator.initial_seed() == weft.ops.random.get_seed() == 9
    assert generator.seed() == generator.initial_seed()
    own = generator.Generator()
    assert own.initial_seed() == 0
    assert own.manual_seed(3) is own
    state = own.get_state()
    own.manual_seed(4)
    assert not np.array_equal(own.get_state().asnumpy(), state.asnumpy())
    own.set_state(state)
    assert np.array_equal(own.get_state().asnumpy(), state.asnumpy())
    generator.set_rng_state(state)
    first = ops.rand(2).asnumpy()
    generator.manual_seed(3)
    assert np.array_equal(ops.rand(2).asnumpy(), first)


@pytest.mark.parametrize("wrong", ["a", 1.5, True, -1])
def test_wrong_seeds(wrong: Any) -> None:
    for act in (generator.manual_seed, generator.Generator().manual_seed):
        with pytest.raises((TypeError, ValueError)):
            act(wrong)


@pytest.mark.parametrize("wrong", [5, Tensor([1, 2]), Tensor(np.zeros(3, np.uint8))])
def test_wrong_states(wrong: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        generator.set_rng_state(wrong)
