"""What operator classes give: the answers in `recorded_operators.json` are those of MindSpore 2.10."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from recorded_operators import CALLS, STORED, answer, names
from test_recorded_calls import agrees as tensors_agree

import weft
import weft.mindspore

ANSWERS = json.loads(STORED.read_text())
IDS = [function for function, _ in CALLS]


def agrees(found: Any, expected: Any) -> None:
    if isinstance(expected, list):
        for one, other in zip(found, expected, strict=True):
            agrees(one, other)
    elif isinstance(expected, int):
        assert found == expected
    else:
        tensors_agree(found, expected)


@pytest.mark.parametrize("number", range(len(CALLS)), ids=IDS)
def test_answers(number: int) -> None:
    import mindspore

    agrees(answer(mindspore, *CALLS[number]), ANSWERS[number])


@pytest.mark.parametrize("number", range(len(CALLS)), ids=IDS)
def test_compiled_operators(number: int) -> None:
    """A compiled function gives the same, for these arguments and for others."""
    import mindspore

    if isinstance(ANSWERS[number], str):
        return
    known = names(mindspore)
    function = eval(CALLS[number][0], known)
    arguments = eval(f"({CALLS[number][1]}{',' if CALLS[number][1] else ''})", known)
    compiled = weft.jit(lambda *given: function(*given))
    for factor in (1.0, 0.5):
        given = [
            each * factor if isinstance(each, weft.Tensor) and each.dtype.is_floating and each.ndim > 1 else each
            for each in arguments
        ]
        same(compiled(*given), function(*given))


def same(found: Any, expected: Any) -> None:
    if isinstance(expected, (tuple, list)):
        for one, other in zip(found, expected, strict=True):
            same(one, other)
    elif isinstance(expected, weft.Tensor):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        np.testing.assert_allclose(found.asnumpy(), expected.asnumpy(), rtol=2e-4, atol=2e-5)
    else:
        assert found == expected


#: functions of float64 tensors and their arguments, where there is a derivative
SMOOTH = [
    ("ops.SpaceToBatchND([2, 2], [[0, 0], [1, 1]])", "x(1, 1, 4, 4)"),
    ("ops.BatchToSpaceND([2, 2], [[0, 1], [0, 0]])", "x(4, 1, 2, 2)"),
    ("ops.BatchToSpace(2, [[0, 0], [0, 1]])", "x(4, 1, 2, 2)"),
    ("ops.SpaceToBatch(2, [[0, 0], [0, 1]])", "x(1, 2, 4, 3)"),
    ("ops.Im2Col((2, 3), 2, 1, (1, 0))", "x(1, 2, 5, 6)"),
    ("lambda v: ops.Col2Im(2)(v, t([5, 6], 'int32'))", "x(1, 2, 4, 20)"),
    ("ops.ExtractImagePatches((1, 1, 2, 2), (1, 1, 1, 2), (1, 1, 2, 1), 'SAME')", "x(1, 2, 4, 5)"),
    ("ops.ChannelShuffle(2)", "x(1, 4, 2, 2)"),
    ("ops.operations.DepthwiseConv2dNative(2, 3)", "x(1, 2, 5, 5), x(2, 2, 3, 3)"),
    ("ops.ResizeBicubic()", "x(1, 2, 5, 6), (8, 7)"),
    ("ops.UpsampleTrilinear3D()", "x(1, 1, 2, 2, 2), (3, 4, 3)"),
    ("ops.AdaptiveMaxPool2D((2, 3))", "x(1, 2, 5, 6)"),
    ("lambda v: ops.MaxUnpool2D(2, 2)(v, t([[[[1, 8, 5], [12, 20, 23]]]], 'int64'))", "x(1, 1, 2, 3)"),
    ("lambda v: ops.FractionalMaxPoolWithFixedKsize(2, (2, 3))(v, t([[[0.3, 0.6]]]))", "x(1, 1, 5, 6)"),
    ("ops.FractionalMaxPool([1.0, 1.4, 1.4, 1.0], deterministic=True)", "x(1, 5, 6, 2)"),
    ("ops.FractionalAvgPool([1.0, 1.4, 1.4, 1.0], True, True, True)", "x(1, 5, 6, 2)"),
    ("ops.Dilation2D(1, 1)", "x(1, 2, 4, 5), x(2, 2, 2)"),
    ("lambda v: ops.SegmentMean()(v, t([0, 0, 2, 2], 'int32'))", "x(4, 2)"),
    ("lambda v: ops.SegmentProd()(v, t([0, 0, 2, 2], 'int32'))", "x(4, 2) + 2"),
    ("lambda v, d: ops.SparseTensorDenseMatmul()(t([[0, 1], [1, 2]], 'int32'), v, (3, 4), d)", "x(2), x(4, 2)"),
    ("lambda v: ops.MatrixDiagPartV3()(v, t([-1, 1], 'int32'), 9.0)", "x(2, 3, 4)"),
    ("lambda v, d: ops.MatrixSetDiagV3()(v, d, t([-1, 1], 'int32'))", "x(3, 4), x(3, 3, seed=1)"),
    ("ops.BesselJ0()", "x(4) * 9"),
    ("ops.BesselJ1()", "x(4) * 9"),
    ("ops.BesselY1()", "abs(x(4)) + 0.5"),
    ("ops.BesselK0e()", "abs(x(4)) + 0.5"),
    ("ops.BesselK1()", "abs(x(4)) + 0.5"),
    ("lambda v: ops.Betainc()(t([0.5, 2.0], 'float64'), t([0.5, 3.0], 'float64'), v)", "abs(x(2)) * 0.5 + 0.2"),
    ("lambda a, v: ops.IndexPut(1)(a, v, (t([0, 0], 'int32'), t([1, 1], 'int32')))", "x(3, 4), x(2, seed=1)"),
    ("lambda a, v: ops.IndexPut()(a, v, (t([0, 2], 'int32'), t([1, 1], 'int32')))", "x(3, 4), x(2, seed=1)"),
    ("ops.NthElement(True)", "x(2, 4), 1"),
    ("lambda v: ops.CumulativeLogsumexp(False, True)(v, t(1, 'int32'))", "x(2, 4)"),
    ("ops.EuclideanNorm()", "x(2, 3), (1,)"),
    ("ops.NuclearNorm()", "x(2, 3)"),
    ("ops.operations.Pdist(3.0)", "x(3, 2)"),
    ("ops.Lstsq()", "x(4, 2), x(4, 1)"),
    ("lambda v: ops.operations.MatrixSolveLs()(v, x(4, 1), 0.5)", "x(4, 2)"),
    ("ops.MatrixTriangularSolve()", "x(3, 3) + 2, x(3, 2)"),
    ("ops.operations.TridiagonalMatMul()", "x(1, 3), x(1, 3, seed=1), x(1, 3, seed=2), x(3, 2)"),
    ("ops.Orgqr()", "x(3, 2), x(2)"),
    ("lambda v: ops.MultilabelMarginLoss()(v, t([[0, 2, -1], [1, -1, 0]], 'int32'))", "x(2, 3)"),
    ("lambda v: ops.MultiMarginLoss()(v, t([0, 2], 'int64'))", "x(2, 3)"),
    ("lambda a, b: ops.TripletMarginLoss()(a, b, -b, t(3.0, 'float64'))", "x(2, 3), x(2, 3, seed=1)"),
    ("lambda v: ops.NoRepeatNGram(2)(t([[[1, 2, 1, 2, 1]]], 'int32'), v).exp()", "x(1, 1, 4)"),
    ("lambda v: ops.CTCGreedyDecoder()(v, t([5, 3], 'int32'))[3]", "x(5, 2, 3)"),
    ("lambda v, w: ops.LSTM(2, 3, 1, False, True, 0.0)(v, x(2, 1, 3), x(2, 1, 3), w)", "x(2, 1, 2), x(120, 1, 1)"),
    ("lambda v, w, b: ops.DynamicRNN()(v, w, b, None, None, None)[1]", "x(2, 1, 2), x(5, 12), x(12)"),
    (
        "lambda v, w, h: ops.DynamicGRUV2(reset_after=False)(v, w, h, None, None, None, x(1, 3))",
        "x(2, 1, 2), x(2, 9), x(3, 9)",
    ),
]


@pytest.mark.parametrize("number", range(len(SMOOTH)), ids=[function for function, _ in SMOOTH])
def test_derivatives(number: int) -> None:
    """A derivative along a direction is that of finite differences, and compiled the same."""
    import mindspore

    known = names(mindspore)
    single = known["x"]
    known["x"] = lambda *shape, seed=0: single(*shape, seed=seed).astype(mindspore.float64)
    function = eval(SMOOTH[number][0], known)
    arguments = eval(f"({SMOOTH[number][1]},)", known)
    positions = tuple(at for at, each in enumerate(arguments) if isinstance(each, weft.Tensor))

    def weighed(*given: Any) -> Any:
        found = function(*given)
        found = found[0] if isinstance(found, tuple) else found
        weights = np.cos(np.arange(found.size)).reshape(found.shape)
        return (found * weft.Tensor(weights)).sum()

    found = weft.grad(weighed, positions)(*arguments)
    compiled = weft.jit(weft.grad(weighed, positions))(*arguments)
    slopes = found if isinstance(found, tuple) else (found,)
    same(compiled, found)
    directions = [np.sin(3 + np.arange(arguments[at].size)).reshape(arguments[at].shape) for at in positions]
    expected = sum(float((slope.asnumpy() * way).sum()) for slope, way in zip(slopes, directions, strict=True))

    def moved(step: float) -> float:
        given = list(arguments)
        for at, way in zip(positions, directions, strict=True):
            given[at] = weft.Tensor(arguments[at].asnumpy() + step * way)
        return float(weighed(*given))

    np.testing.assert_allclose((moved(1e-6) - moved(-1e-6)) / 2e-6, expected, rtol=1e-4, atol=1e-6)


#: calls without a kernel in MindSpore for CPUs: what the documentation says of them
DOCUMENTED = [
    ("ops.BatchToSpace(2, [[0, 0], [0, 0]])", "t([[[[1]]], [[[2]]], [[[3]]], [[[4]]]])", [[[[1, 2], [3, 4]]]]),
    ("ops.SpaceToBatch(2, [[0, 0], [0, 0]])", "t([[[[1, 2], [3, 4]]]])", [[[[1]]], [[[2]]], [[[3]]], [[[4]]]]),
    ("ops.ConfusionMatrix(3)", "t([0, 1, 2, 1], 'int32'), t([0, 2, 2, 1], 'int32')", [[1, 0, 0], [0, 1, 1], [0, 0, 1]]),
    ("ops.CountNonZero(1)", "t([[0, 1, 2], [0, 0, 3]])", [2, 1]),
    ("ops.CountNonZero()", "t([[0, 1, 2], [0, 0, 3]])", 3),
    ("ops.HistogramFixedWidth(5)", "t([-1, 0, 1.5, 2, 5, 15]), t([0, 5])", [2, 1, 1, 0, 2]),
    ("ops.Quantile(1)", "t([[1, 2, 3], [4, 6, 9]]), t([0.5])", [[2, 6]]),
    ("ops.operations.Roll(1, 0)", "t([1, 2, 3])", [3, 1, 2]),
    ("lambda v: ops.SplitV([1, -1], 1, 2)(v)[1]", "t([[1, 2, 3]])", [[2, 3]]),
    (
        "lambda v: ops.ComputeAccidentalHits(2)(v, t([0, 1, 2, 3, 4], 'int64'))[:2]",
        "t([[1, 2], [0, 4], [3, 3]], 'int64')",
        [[0, 0, 1, 1, 2, 2], [1, 2, 0, 4, 3, 3]],
    ),
    ("ops.ScatterNonAliasingAdd()", "t([1, 2, 3]), t([[2], [0]], 'int32'), t([5, 7])", [8, 2, 8]),
    ("ops.LerpScalar()", "t([1, 2]), t([3, 4]), 0.5", [2, 3]),
    ("ops.GLU()", "t([2.0, 0.0])", [1.0]),
    (
        "ops.NonMaxSuppressionV3()",
        "t([[1, 2, 3, 4], [1, 3, 3, 4], [1, 3, 4, 4], [1, 1, 4, 4], [1, 1, 3, 4]]), t([0.4, 0.5, 0.72, 0.9, 0.45]), "
        "t(5, 'int32'), t(0.5), t(0)",
        [3, 2, 0],
    ),
    ("ops.LARSUpdate(0.0, 0.5)", "t([1.0]), t([2.0]), t(4.0), t(1.0), 0.5, 1.0", [1.25]),
    (
        "lambda p, a: written(2, ops.SparseApplyProximalAdagrad())(p * 1, a, 1.0, 0.0, 0.0, t([[1]]), t([0], 'int32'))",
        "t([[1], [2]]), t([[3], [1]])",
        [[[0.5], [2]], [[4], [1]]],
    ),
    ("ops.Dropout2D(1.0)", "t([[[[1, 2]]]])", [[[[[1, 2]]]], [[[[1, 1]]]]]),
    (
        "lambda q: (lambda a, s: ops.Ormqr()(a, s, q))(*ops.Geqrf()(q)).abs() * 0",
        "t([[1, 2], [3, 4]])",
        [[0, 0], [0, 0]],
    ),
]


@pytest.mark.parametrize("number", range(len(DOCUMENTED)), ids=[case[0] for case in DOCUMENTED])
def test_documented(number: int) -> None:
    import mindspore

    function, arguments, expected = DOCUMENTED[number]
    known = names(mindspore)
    given = eval(f"({arguments},)", known)
    called = eval(function, known)
    found, compiled = called(*given), weft.jit(lambda *these: called(*these))(*given)
    same(compiled, found)

    def numbers(result: Any) -> Any:
        return [numbers(each) for each in result] if isinstance(result, tuple) else result.asnumpy().tolist()

    np.testing.assert_allclose(np.array(numbers(found), float), np.array(expected, float), rtol=1e-6)


def test_random_operators_keep_to_their_shapes_and_bounds() -> None:
    import mindspore as ms

    known = names(ms)
    x, t, ops = known["x"], known["t"], ms.ops
    ms.set_seed(1)
    assert ops.RandomGamma(1)(t([2], "int32"), abs(x(3)) + 1).shape == (2, 3)
    assert ops.RandomPoisson(1)(t([2], "int32"), abs(x(3)) + 1).dtype == ms.int64
    assert sorted(ops.Randperm(5)(t([3], "int32")).asnumpy().tolist()) == [-1, -1, 0, 1, 2]
    assert sorted(ops.operations.RandpermV2()(4).asnumpy().tolist()) == [0, 1, 2, 3]
    assert ops.NonDeterministicInts(ms.int32)(t([2, 2], "int32")).dtype == ms.int32
    assert ops.operations.Cauchy([2, 3])().shape == ops.operations.LogNormalReverse()(x(2, 3)).shape == (2, 3)
    drawn = ops.operations.MultinomialWithReplacement(30, True)(t([0, 1, 1]), t(1, "int64"), t(0, "int64")).asnumpy()
    assert set(drawn.tolist()) == {1, 2}
    bounded = ops.ParameterizedTruncatedNormal(1)(t([2, 99], "int32"), t([0, 5]), t([1, 2]), t([-1, 4]), t([1, 5]))
    assert (abs(bounded[0].asnumpy()) <= 1).all()
    assert ((bounded[1].asnumpy() >= 4) & (bounded[1].asnumpy() <= 5)).all()
    for sampler in (ops.UniformCandidateSampler(2, 3, True, 8), ops.LogUniformCandidateSampler(2, 3, True, 8)):
        sampled, true_counts, counts = sampler(t([[0, 1]], "int64"))
        assert len(set(sampled.asnumpy().tolist())) == 3
        assert sampled.dtype == ms.int64
        assert true_counts.shape == (1, 2)
        assert counts.shape == (3,)
        assert (counts.asnumpy() <= 1).all()
    with pytest.raises(ValueError, match="there are not 9 of 8 classes"):
        ops.UniformCandidateSampler(1, 9, True, 8)(t([[0]], "int64"))
    kept, mask = ops.Dropout2D(0.5)(abs(x(4, 8, 2, 2)) + 1)
    assert ((kept.asnumpy() != 0) == mask.asnumpy()).all()
    assert (mask.asnumpy() == mask.asnumpy()[:, :, :1, :1]).all()
    assert 0 < mask.asnumpy().mean() < 1


def test_assert_and_attributes_of_operators() -> None:
    import mindspore as ms

    ops = ms.ops
    ops.Assert()(True, [ms.Tensor([1.0])])
    with pytest.raises(RuntimeError, match=r"assert failed: \[1.0, 2.0\]"):
        ops.Assert(2)(ms.Tensor(False), [ms.Tensor([1.0, 2.0, 3.0])])
    operator = ops.Primitive("Own")
    operator.add_attr("a", 1)
    operator.set_user_data("key", 3)
    operator.set_const_input_indexes([0])
    operator.set_instance_name("one")
    assert operator.get_attr_dict() == {"a": 1}
    assert operator.get_user_data("key") == 3
    operator.del_attr("a")
    assert operator.get_attr_dict() == {}
    assert operator.instance_name == "one"
    assert operator.check_elim(1) == (False, None)
    assert operator.get_user_data("other") is None
    assert set(ops.operations.__all__) >= {"MaxUnpool2D", "LSTM", "Morph"}
