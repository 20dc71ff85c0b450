"""Operator classes that older programs use: answers of MindSpore 2.10, errors and graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from weft import Tensor, ops
from weft.ops import operations as P

F = np.float32
VOLUME = (np.arange(24, dtype=F).reshape(1, 1, 2, 3, 4) ** F(1.3)).astype(F)
ROWS = np.arange(6, dtype=F).reshape(2, 3)


def both(operation: Any, *arrays: Any) -> np.ndarray[Any, Any]:
    """The result in eager code, which that of a graph equals."""
    found = operation(*map(Tensor, arrays)).asnumpy()
    compiled = weft.jit(lambda *tensors: operation(*tensors))(*map(Tensor, arrays)).asnumpy()
    assert found.dtype == compiled.dtype
    np.testing.assert_allclose(found, compiled, 1e-6)
    return found


# -- pooling and convolution -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "maxima", "means"),
    [
        (
            {"kernel_size": 2, "strides": 1},
            [[39.772556, 42.84047, 45.959957], [52.346184, 55.609554, 58.917748]],
            [[18.131096, 20.426535, 22.869343], [28.062439, 30.78674, 33.585625]],
        ),
        (
            {"kernel_size": 2, "strides": 2, "pad_mode": "same"},
            [[39.772556, 45.959957], [52.346184, 58.917748]],
            [[18.131096, 22.869343], [16.725307, 19.633053]],
        ),
        (
            {"kernel_size": 2, "strides": 2, "pad_mode": "pad", "ceil_mode": True},
            [[39.772556, 45.959957], [52.346184, 58.917748]],
            [[18.131096, 22.869343], [33.450615, 39.266106]],
        ),
        (
            {"kernel_size": (1, 2, 3), "strides": (1, 2, 2), "pad_mode": "VALID"},
            [[[10.270617]], [[42.84047]]],
            [[[4.649843]], [[33.937275]]],
        ),
    ],
)
def test_pools_of_volumes(settings: dict[str, Any], maxima: Any, means: Any) -> None:
    np.testing.assert_allclose(both(P.MaxPool3D(**settings), VOLUME).squeeze(), np.squeeze(maxima), 1e-5)
    np.testing.assert_allclose(both(P.AvgPool3D(**settings), VOLUME).squeeze(), np.squeeze(means), 1e-5)


def test_padded_pools_of_volumes() -> None:
    found = both(P.MaxPool3D(2, 1, "pad", (1, 0, 1, 0, 0, 1)), VOLUME)
    assert found.shape == (1, 1, 2, 3, 4)
    np.testing.assert_allclose(found[0, 0, 0, 0], [1, 2.4622886, 4.1711674, 4.1711674], 1e-5)
    wanted = [[18.131096, 21.657755], [28.062439, 32.19214]]
    np.testing.assert_allclose(both(P.AvgPool3D(3, 2, "pad", 1, False, False), VOLUME)[0, 0, 0], wanted, 1e-5)
    wanted = [[29.009755, 51.978615], [44.8999, 77.26113]]
    np.testing.assert_allclose(both(P.AvgPool3D(3, 2, "pad", 1, False, False, 5), VOLUME)[0, 0, 0], wanted, 1e-5)
    with pytest.raises(ValueError, match="pad"):
        P.MaxPool3D(2, pad_mode="valid", pad_list=1)(Tensor(VOLUME))


def test_transposed_convolution_of_volumes() -> None:
    weight = np.arange(16, dtype=F).reshape(1, 2, 2, 2, 2)
    transposed = P.Conv3DTranspose(1, 2, 2, pad_mode="pad", pad=0, stride=2)
    found = both(transposed, np.ones((1, 1, 2, 1, 1), F), weight)
    np.testing.assert_array_equal(found, np.concatenate([weight, weight], axis=2))
    with pytest.raises(ValueError, match="channels"):
        P.Conv3DTranspose(2, 2, 2)(Tensor(np.ones((1, 1, 2, 1, 1), F)), Tensor(weight))


# -- moves and borders -----------------------------------------------------------------------------------------------


def test_blocks_and_channels() -> None:
    found = both(P.DepthToSpace(2), np.arange(12, dtype=F).reshape(1, 12, 1, 1))
    assert found.tolist() == [[[[0, 3], [6, 9]], [[1, 4], [7, 10]], [[2, 5], [8, 11]]]]
    found = both(P.SpaceToDepth(2), np.arange(16, dtype=F).reshape(1, 1, 4, 4))
    assert found.tolist() == [[[[0, 2], [8, 10]], [[1, 3], [9, 11]], [[4, 6], [12, 14]], [[5, 7], [13, 15]]]]
    for operator, shape, error in (
        (P.DepthToSpace(2), (1, 6, 1, 1), ValueError),
        (P.SpaceToDepth(2), (1, 1, 3, 3), ValueError),
        (P.DepthToSpace(1), (1, 4, 1, 1), ValueError),
        (P.DepthToSpace(2.0), (1, 4, 1, 1), TypeError),
        (P.DepthToSpace(2), (8, 1, 1), ValueError),
    ):
        with pytest.raises(error):
            operator(Tensor(np.zeros(shape, F)))


def test_borders() -> None:
    found = both(lambda x: P.PadV3()(x, (1, 2, 0, 1), Tensor(9.0)), ROWS)
    assert found.tolist() == [[9, 0, 1, 2, 9, 9], [9, 3, 4, 5, 9, 9], [9] * 6]
    found = both(lambda x: P.PadV3(paddings_contiguous=False)(x, (1, 2, 0, 1), 9.0), ROWS)
    assert found.tolist() == [[9] * 4, [9] * 4, [9, 0, 1, 2], [9, 3, 4, 5], [9] * 4]
    for mode, row in (("reflect", [1, 0, 1, 2, 1, 0]), ("edge", [0, 0, 1, 2, 2, 2]), ("circular", [2, 0, 1, 2, 0, 1])):
        assert both(lambda x, m=mode: P.PadV3(m)(x, (1, 2)), ROWS[None])[0, 0].tolist() == row
    with pytest.raises(ValueError, match="mode"):
        P.PadV3("x")(Tensor(ROWS), (1, 2))


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ((False, False), [[0, 1.5], [2, 3.5], [3, 4.5]]),
        ((True, False), [[0, 2], [1.5, 3.5], [3, 5]]),
        ((False, True), [[0.25, 1.75], [1.75, 3.25], [3.25, 4.75]]),
    ],
)
def test_resizing(settings: Any, wanted: Any) -> None:
    found = both(lambda x: P.ResizeBilinearV2(*settings)(x, (3, 2)), ROWS[None, None])
    np.testing.assert_allclose(found[0, 0], wanted, 1e-6)


# -- numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("axis", "p", "keep", "wanted"),
    [
        ([0], 2, False, [5.91608, 5.656854, 5.91608, 6.6332497]),
        ([1], 1, True, [[14], [4], [18]]),
        ([0, 1], 3, False, 8.732892),
        ([0, -1], 2, True, [[12.083046]]),
        ([0], 0, False, [3, 2, 3, 3]),
        (0, 2, False, [5.91608, 5.656854, 5.91608, 6.6332497]),
    ],
)
def test_norms(axis: Any, p: int, keep: bool, wanted: Any) -> None:
    rows = np.arange(12, dtype=F).reshape(3, 4) - 5
    found = both(P.LpNorm(axis, p, keep), rows)
    assert found.shape == np.shape(wanted)
    np.testing.assert_allclose(found, wanted, 1e-6)


def test_least_norm() -> None:
    found = both(P.LpNorm(0, 2, False, 5.0), np.array([[1, 5], [0, 3]], F))
    np.testing.assert_allclose(found, [5, 5.830952], 1e-6)
    with pytest.raises(ValueError, match="p"):
        P.LpNorm(0, -2)(Tensor(ROWS))
    with pytest.raises(TypeError):
        P.LpNorm(0)(Tensor([[1]]))


def test_names_of_other_operations() -> None:
    assert P.SparseGatherV2()(Tensor([1.0, 2.0]), Tensor([1, 0]), 0).asnumpy().tolist() == [2, 1]
    np.testing.assert_allclose(both(P.Gelu(), np.array([-1, 0.5, 2], F)), [-0.158808, 0.345714, 1.954598], 1e-5)
    assert P.ScalarCast()(2.5, weft.int64) == 2
    assert P.ScalarCast()(1, weft.float64) == 1.0
    gradient = weft.grad(lambda x: (P.StopGradient()(x) * x).sum())(Tensor([3.0]))
    assert gradient.asnumpy().tolist() == [3]


def test_product_without_nan() -> None:
    found = both(P.MulNoNan(), np.array([np.nan, np.inf, 2], F), np.array([0, 0, 3], F))
    assert found.tolist() == [0, 0, 6]
    assert np.isnan(P.MulNoNan()(Tensor([1.0]), Tensor([np.nan])).asnumpy()[0])
    gradients = weft.grad(lambda x, y: P.MulNoNan()(x, y).sum(), (0, 1))(Tensor([np.inf, 2.0]), Tensor([0.0, 3.0]))
    assert [each.asnumpy().tolist() for each in gradients] == [[0, 3], [0, 2]]


def test_number_of_equal_elements() -> None:
    found = both(P.EqualCount(), np.array([1, 2, 3], np.int32), np.array([1, 2, 4], np.int32))
    assert found.dtype == np.int32
    assert found.tolist() == [2]
    with pytest.raises(ValueError, match="shapes"):
        P.EqualCount()(Tensor([1, 2]), Tensor([1]))


def test_classes_among_the_best() -> None:
    scores = np.array([[0.1, 0.5, 0.5, 0.3], [0.9, 0.1, 0.2, 0.3]], F)
    odd = np.array([[0.1, 0.5, np.nan, 0.3], [0.9, np.inf, 0.2, 0.3]], F)
    for k, rows, classes, wanted in (
        (2, scores, [2, 1], [True, False]),
        (3, scores, [2, 3], [True, True]),
        (1, scores, [2, 0], [True, True]),
        (1, odd, [1, 1], [False, False]),
        (1, scores, [7, -1], [False, False]),
    ):
        assert both(P.InTopK(k), rows, np.array(classes, np.int32)).tolist() == wanted


def test_extended_dimension() -> None:
    assert both(P.Padding(4), np.array([[8], [10]], F)).tolist() == [[8, 0, 0, 0], [10, 0, 0, 0]]
    assert ops.padding(Tensor([[8]])).shape == (1, 8)
    with pytest.raises(ValueError, match="dimension"):
        P.Padding(4)(Tensor([[8, 1]]))
    with pytest.raises(ValueError, match="positive"):
        P.Padding(0)(Tensor([[8]]))


# -- masks of dropout ------------------------------------------------------------------------------------------------


def test_masks_of_bits() -> None:
    x = Tensor(np.ones((50, 40), F))

    def drop(x: Tensor) -> Any:
        mask = P.DropoutGenMask()(x.shape, Tensor(0.75))
        return P.DropoutDoMask()(x, mask, Tensor(0.75)), mask

    for function in (drop, weft.jit(drop)):
        dropped, mask = (each.asnumpy() for each in function(x))
        assert mask.dtype == np.uint8
        assert mask.shape == (2000 // 128 * 16 + 16,)
        np.testing.assert_allclose(np.unique(dropped), [0, 4 / 3], 1e-6)
        assert 0.7 < np.mean(dropped != 0) < 0.8
    gradient = weft.grad(lambda x: P.DropoutDoMask()(x, Tensor(mask), 0.75).sum())(x)
    np.testing.assert_array_equal(gradient.asnumpy(), dropped)


def test_masks_of_bits_refuse() -> None:
    with pytest.raises(ValueError, match="keep_prob"):
        P.DropoutGenMask()((2,), 1.5)
    with pytest.raises(TypeError, match="uint8"):
        P.DropoutDoMask()(ops.ones((2,)), Tensor([1, 1]), 0.5)
    with pytest.raises(ValueError, match="short"):
        P.DropoutDoMask()(ops.ones((20,)), Tensor(np.ones(2, np.uint8)), 0.5)
