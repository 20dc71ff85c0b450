"""Answers of MindSpore 2.10 to calls in which weft once differed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weft import Tensor, dtypes, nn, ops
from weft.mindspore import numpy as mnp

A = Tensor(np.arange(4, dtype=np.float32).reshape(2, 2))


def _unique(values: Any) -> Any:
    return [part.asnumpy().tolist() for part in ops.unique(Tensor(values))]


def test_unique_elements_come_in_the_order_of_the_tensor() -> None:
    assert _unique([3, 1, 2, 1, 3]) == [[3, 1, 2], [0, 1, 2, 1, 0]]
    assert _unique([[2.5, 2.5], [-1.0, 2.5]]) == [[2.5, -1.0], [[0, 0], [1, 0]]]


def test_diagonals_of_matrices_have_four_dimensions() -> None:
    found = ops.diag(A)
    assert found.shape == (2, 2, 2, 2)
    assert [found[i, j, i, j].item() for i in range(2) for j in range(2)] == [0.0, 1.0, 2.0, 3.0]
    assert found.sum().item() == 6.0
    assert ops.diag(Tensor([1, 2])).asnumpy().tolist() == [[1, 0], [0, 2]]


def test_means_of_windows_in_three_dimensions_count_what_same_adds() -> None:
    ones = Tensor(np.ones((1, 1, 3, 3, 3), np.float32))
    assert nn.AvgPool3d(3, 3, pad_mode="same")(ones).asnumpy().ravel().tolist() == [1.0]
    found = nn.AvgPool3d(3, 2, pad_mode="same")(ones).asnumpy()
    assert found[0, 0, 0, 0, 0] == pytest.approx(8 / 27)
    assert nn.AvgPool2d(3, 2, pad_mode="same")(ones[0]).asnumpy().ravel().tolist() == [1.0] * 12


@pytest.mark.parametrize(
    ("is_stair", "step", "rate"),
    [(False, 1, 0.04065697), (False, 7, 0.00018363056), (True, 1, 0.1), (True, 7, 0.0027323728)],
)
def test_natural_decay(is_stair: bool, step: int, rate: float) -> None:
    found = nn.NaturalExpDecayLR(0.1, 0.9, 4, is_stair)(Tensor(np.int32(step))).item()
    assert found == pytest.approx(rate, rel=1e-6)


def test_natural_decay_as_a_list() -> None:
    assert nn.natural_exp_decay_lr(0.1, 0.9, 6, 2, 2)[::2] == pytest.approx([0.1, 0.0406569660, 0.0165298888])
    assert nn.natural_exp_decay_lr(0.1, 0.9, 6, 2, 2, True)[::2] == pytest.approx([0.1, 0.1, 0.0165298888])


def test_integers_of_numpy_functions() -> None:
    assert mnp.array([1, 2]).dtype is dtypes.int32
    assert mnp.arange(5).dtype is dtypes.int32
    assert mnp.array(1 << 40).dtype is dtypes.int64
    assert mnp.array(np.array([1, 2])).dtype is dtypes.int64
    assert mnp.array([1.5]).dtype is dtypes.float32


def test_cells_are_shown_in_parentheses() -> None:
    assert repr(nn.CellList([nn.ReLU(), nn.Dense(1, 1)])) == (
        "CellList(\n  (0): ReLU()\n  (1): Dense(input_channels=1, output_channels=1, has_bias=True)\n)"
    )


def test_the_order_of_an_optimizers_parameters() -> None:
    names = [parameter.name for parameter in nn.Adam(nn.Dense(2, 3).trainable_params(), 0.1).get_parameters()]
    assert names[:4] == ["global_step", "learning_rate", "weight", "bias"]
    assert names[4:] == [
        *("beta1_power", "beta2_power", "moment1.weight", "moment1.bias", "moment2.weight", "moment2.bias"),
    ]
