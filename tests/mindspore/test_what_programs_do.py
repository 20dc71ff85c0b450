"""What public programs do besides calling operations: fill arrays, keep state by parameter, copy by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weft import Parameter, Tensor, jit, ops
from weft.nn import experimental as optim
from weft.nn.initializer import Constant, Normal
from weft.testing import assert_no_breaks


def test_an_initializer_fills_an_array() -> None:
    array = np.zeros((2, 3), np.float32)
    Constant(3.0)(array)
    assert (array == 3).all()
    Normal(1.0)(array)
    assert not (array == 3).any()
    weight = Parameter(Tensor([1.0, 2.0]), name="w")
    Constant(3.0)(weight)
    assert weight.tolist() == [1.0, 2.0]


def test_a_copy_by_hand() -> None:
    x = Tensor([1.0, 2.0])
    for copied in (x.__deepcopy__({}), x.__deepcopy__(memodict={})):
        copied[0] = 5.0
        assert x.tolist() == [1.0, 2.0]


def test_folded_patches_with_one_dimension_for_channels_and_elements() -> None:
    patches = np.random.default_rng(0).normal(size=(2, 16, 9)).astype(np.float32)
    apart = ops.fold(Tensor(patches.reshape(2, 4, 4, 9)), (4, 4), 2)
    np.testing.assert_array_equal(ops.fold(Tensor(patches), Tensor([4, 4]), [2, 2], [1, 1], [0, 0], [1, 1]), apart)
    with pytest.raises(ValueError, match="patches"):
        ops.fold(Tensor(patches[:, :15]), (4, 4), 2)


def test_state_of_an_experimental_optimizer() -> None:
    weight = Parameter(Tensor([1.0, 2.0]), name="w")
    optimizer = optim.SGD([weight], lr=0.1)
    optimizer.state[weight]["seen"] = 1
    assert optimizer.state[weight] == {"seen": 1}


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_an_experimental_optimizer_is_one_graph(kind: str) -> None:
    """A call with ``**`` of an object whose text shows the value of a tensor."""
    weight = Parameter(Tensor([1.0, 2.0]), name="w")
    optimizer = getattr(optim, kind)([weight], lr=0.1)

    @jit
    def step(g: Any, **settings: Any) -> Any:
        return optimizer(*(), **{"gradients": (g,), **settings})

    with assert_no_breaks():
        for _ in range(3):
            step(Tensor([1.0, 2.0]))
    assert weight.tolist() != [1.0, 2.0]
