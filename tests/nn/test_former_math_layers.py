"""Layers that are operations, derivatives and losses under older names: values, gradients, in both modes, bad calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

import weft
from weft import nn, ops
from weft.core.tensor import Parameter, Tensor

Case = tuple[Callable[[], Any], tuple[Any, ...], Any]


def f(*shape: int) -> Any:
    return (np.arange(1, 1 + np.prod(shape)).reshape(shape) / 4).astype(np.float32)


SPD = np.array([[4.0, 1.0], [1.0, 3.0]], np.float32)
TABLE = np.arange(20).reshape(10, 2).astype(np.float32)
INDICES = np.array([[2, 4, 6, 0, 0], [1, 3, 5, 0, 0]], np.int32)
VALUES = np.array([[1.0, 0.5, 1.0, 0.0, 0.0], [1.0, 1.0, 2.0, 0.0, 0.0]], np.float32)
FIELDS = np.array([[0, 1, 1, 0, 0], [0, 0, 1, 0, 0]], np.int32)
DRAWN = (Tensor([0, 2, 3, 6]), Tensor([[0.5], [0.6], [0.7]]), Tensor([0.5, 0.4, 0.3, 0.2]))
SAMPLED = (f(7, 2) / 3, f(7) / 2, np.array([[0], [1], [2]], np.int32), f(3, 2))


def dense() -> Any:
    return nn.Dense(3, 2, weight_init=Tensor(np.arange(6).reshape(2, 3).astype(np.float32)), bias_init="ones")


def looked_up(operator: str, fields: int = 2) -> Callable[[], Any]:
    return lambda: nn.MultiFieldEmbeddingLookup(10, 2, fields, param_init=Tensor(TABLE), operator=operator)


def cube(x: Any, y: Any) -> Any:
    return x**3 + y


#: layer, inputs, values
CASES: dict[str, Case] = {
    "DiGamma": (nn.DiGamma, (f(3),), special.digamma(f(3))),
    "LGamma": (nn.LGamma, (np.array([-0.5, -1.5, 0.0, 3.0], np.float32),), [1.2655, 0.86, np.inf, 0.6931]),
    "LBeta": (nn.LBeta, (f(3), f(3) + 1), special.betaln(f(3), f(3) + 1)),
    "IGamma": (nn.IGamma, (f(3), f(3) + 1), special.gammainc(f(3), f(3) + 1)),
    "MatDet": (nn.MatDet, (SPD[None],), [11.0]),
    "MatInverse": (nn.MatInverse, (SPD,), np.linalg.inv(SPD)),
    "MatrixDiag": (nn.MatrixDiag, (f(2, 3),), np.stack([np.diag(row) for row in f(2, 3)])),
    "MatrixDiagPart": (nn.MatrixDiagPart, (f(2, 2, 3),), [[0.25, 1.25], [1.75, 2.75]]),
    "MatrixSetDiag high": (nn.MatrixSetDiag, (f(3, 2), np.array([-1.0, -2.0])), [[-1, 0.5], [0.75, -2], [1.25, 1.5]]),
    "MatrixSetDiag wide": (nn.MatrixSetDiag, (f(2, 3), np.array([-1.0, -2.0])), [[-1, 0.5, 0.75], [1, -2, 1.5]]),
    "Moments": (nn.Moments, (f(2, 3),), (0.875, 0.1823)),
    "Moments axis": (lambda: nn.Moments(1, True), (f(2, 3),), ([[0.5], [1.25]], [[0.0417], [0.0417]])),
    "Moments axes": (lambda: nn.Moments((0, 1)), (f(2, 3),), (0.875, 0.1823)),
    "ImageGradients": (
        nn.ImageGradients, (f(1, 1, 2, 2),), ([[[[0.5, 0.5], [0.0, 0.0]]]], [[[[0.25, 0.0], [0.25, 0.0]]]]),
    ),
    "Range": (lambda: nn.Range(1, 8, 2), (), [1, 3, 5, 7]),
    "Range down": (lambda: nn.Range(5, 0, -1), (), [5, 4, 3, 2, 1]),
    "Range floats": (lambda: nn.Range(1.0, 3.0, 0.5), (), [1.0, 1.5, 2.0, 2.5]),
    "SparseTensorDenseMatmul": (
        lambda: nn.SparseTensorDenseMatmul(True), (np.array([[0, 1], [1, 2]]), np.float32([1, 2]), (3, 4), f(3, 2)),
        [[0.0, 0.0], [0.25, 0.5], [1.5, 2.0], [0.0, 0.0]],
    ),
    "SparseTensorDenseMatmul dense": (
        lambda: nn.SparseTensorDenseMatmul(False, True),
        (np.array([[0, 1], [1, 2]]), np.float32([1, 2]), (3, 4), f(2, 4)), [[0.5, 1.5], [1.5, 3.5], [0.0, 0.0]],
    ),
    "Jvp": (lambda: nn.Jvp(lambda x: x**3), (f(2), f(2)), (f(2) ** 3, 3 * f(2) ** 3)),
    "Vjp": (lambda: nn.Vjp(lambda x: x**3), (f(2), f(2)), (f(2) ** 3, 3 * f(2) ** 3)),
    "TimeDistributed": (
        lambda: nn.TimeDistributed(dense(), 1), (f(2, 4, 3),), f(2, 4, 3) @ np.arange(6).reshape(2, 3).T + 1,
    ),
    "TimeDistributed joined": (
        lambda: nn.TimeDistributed(dense(), -2, 0), (f(2, 4, 3),), f(2, 4, 3) @ np.arange(6).reshape(2, 3).T + 1,
    ),
    "TimeDistributed operator": (lambda: nn.TimeDistributed(ops.ReLU(), 2), (-f(2, 4, 3),), np.zeros((2, 4, 3))),
    "MultiFieldEmbeddingLookup": (
        looked_up("SUM"), (INDICES, VALUES, FIELDS), [[[4.0, 5.0], [16.0, 17.5]], [[8.0, 10.0], [20.0, 22.0]]],
    ),
    "MultiFieldEmbeddingLookup MEAN": (
        looked_up("MEAN"), (INDICES, VALUES, FIELDS),
        [[[4.0, 5.0], [10.6667, 11.6667]], [[4.0, 5.0], [10.0, 11.0]]],
    ),
    "MultiFieldEmbeddingLookup MAX": (
        looked_up("MAX", 3), (INDICES, VALUES, FIELDS),
        [[[4.0, 5.0], [12.0, 13.0], [0, 0]], [[6.0, 7.0], [20.0, 22.0], [0, 0]]],
    ),
    "TripletMarginWithDistanceLoss": (
        lambda: nn.TripletMarginWithDistanceLoss(swap=True), (f(2, 3), f(2, 3) * 2, f(2, 3) * 1.5), 1.7823,
    ),
    "TripletMarginWithDistanceLoss rows": (
        lambda: nn.TripletMarginWithDistanceLoss(reduction="none"), (f(2, 3), f(2, 3) * 2, f(2, 3) * 1.5),
        [1.4677, 2.0969],
    ),
    "TripletMarginWithDistanceLoss own": (
        lambda: nn.TripletMarginWithDistanceLoss(lambda a, b: ((a - b) ** 2).sum(-1), swap=True),
        (f(2, 3), f(2, 3) * 2, f(2, 3) * 1.5), 3.1328,
    ),
    "SampledSoftmaxLoss": (
        lambda: nn.SampledSoftmaxLoss(4, 7, 1, DRAWN, remove_accidental_hits=False), SAMPLED, [2.9335, 3.4893, 3.7718],
    ),
    "SampledSoftmaxLoss hits": (
        lambda: nn.SampledSoftmaxLoss(4, 7, 1, DRAWN), SAMPLED, [2.8788, 3.4893, 3.7307],
    ),
}  # fmt: skip


def given(value: Any) -> Any:
    return Tensor(value) if isinstance(value, np.ndarray) else value


def compare(found: Any, wanted: Any) -> None:
    if isinstance(wanted, tuple):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            compare(one, other)
    else:
        np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", CASES)
def test_layers_compute_what_they_should(name: str) -> None:
    make, inputs, wanted = CASES[name]
    net = make()
    compare(net(*map(given, inputs)), wanted)
    call = weft.jit(lambda *args: net(*args))
    compare(call(*map(given, inputs)), wanted)
    compare(call(*map(given, inputs)), wanted)
    if inputs and isinstance(inputs[0], np.ndarray) and inputs[0].dtype == np.float32:
        changed = (inputs[0] * 1.25, *inputs[1:])
        compare(call(*map(given, changed)), _arrays(net(*map(given, changed))))


def _arrays(value: Any) -> Any:
    return tuple(_arrays(each) for each in value) if isinstance(value, tuple) else np.array(value)


@pytest.mark.parametrize(
    "name",
    ["DiGamma", "LBeta", "MatDet", "MatInverse", "MatrixDiag", "MatrixDiagPart", "MatrixSetDiag high", "Moments",
     "ImageGradients", "TimeDistributed", "TimeDistributed joined", "TripletMarginWithDistanceLoss rows"],
)  # fmt: skip
def test_layers_have_gradients(name: str) -> None:
    make, inputs, _ = CASES[name]
    net = make()

    def total(x: Any) -> Any:
        found = net(x, *map(given, inputs[1:]))
        return sum((each * each).sum() for each in (found if isinstance(found, tuple) else (found,)))

    x = given(inputs[0])
    eager, compiled = weft.grad(total)(x), weft.jit(weft.grad(total))(x)
    np.testing.assert_allclose(eager, compiled, rtol=1e-4, atol=1e-5)
    step = np.zeros(x.shape, np.float32)
    step.flat[0] = 1e-2
    difference = (float(total(x + Tensor(step))) - float(total(x - Tensor(step)))) / 2e-2
    np.testing.assert_allclose(np.array(eager).flat[0], difference, rtol=3e-2, atol=2e-2)


def test_derivatives_of_several_inputs() -> None:
    x, y, v = (Tensor(f(2)) for _ in range(3))
    compare(nn.Jvp(cube)(x, y, (v, v)), (f(2) ** 3 + f(2), 3 * f(2) ** 3 + f(2)))
    value, gradients = weft.jit(lambda *args: nn.Vjp(cube)(*args))(x, y, v)
    compare((value, *gradients), (f(2) ** 3 + f(2), 3 * f(2) ** 3, f(2)))


def test_a_sparse_tensor_becomes_dense() -> None:
    sparse = ops.sparse.COOTensor(Tensor([[0, 1], [1, 2]]), Tensor([1.0, 2.0]), (2, 3))
    np.testing.assert_array_equal(nn.SparseToDense()(sparse), [[0, 1, 0], [0, 0, 2]])


def test_classes_are_drawn_without_values() -> None:
    loss = nn.SampledSoftmaxLoss(6, 7, reduction="mean")
    assert np.isfinite(loss(*map(given, SAMPLED)).item())
    clipped = nn.MultiFieldEmbeddingLookup(10, 2, 2, param_init=Tensor(TABLE), max_norm=5.0)
    np.testing.assert_allclose(
        clipped(Tensor([[2]]), Tensor([[1.0]]), Tensor([[0]]))[0, 0], [3.1235, 3.9043], rtol=1e-4
    )


BAD: list[tuple[type[Exception], Callable[[], Any]]] = [
    (TypeError, lambda: nn.DiGamma()(Tensor([1]))), (TypeError, lambda: nn.LGamma()(Tensor([1]))),
    (TypeError, lambda: nn.LBeta()(Tensor([1]), Tensor([1]))),
    (TypeError, lambda: nn.IGamma()(Tensor([1]), Tensor([1]))),
    (ValueError, lambda: nn.MatrixDiag()(Tensor(1.0))), (ValueError, lambda: nn.MatrixDiagPart()(Tensor([1.0]))),
    (ValueError, lambda: nn.MatrixSetDiag()(Tensor(f(3, 2)), Tensor(f(3)))), (TypeError, lambda: nn.Moments("a")),
    (TypeError, lambda: nn.Moments(keep_dims=1)), (TypeError, lambda: nn.Moments()(Tensor([1]))),
    (ValueError, lambda: nn.Range(1, 2, 0)), (ValueError, lambda: nn.ImageGradients()(Tensor(f(2, 2)))),
    (TypeError, lambda: nn.SparseTensorDenseMatmul(1)), (TypeError, lambda: nn.TimeDistributed(3, 1)),
    (TypeError, lambda: nn.TimeDistributed(nn.ReLU(), "a")),
    (ValueError, lambda: nn.TimeDistributed(nn.ReLU(), 1)(Tensor([1.0]))),
    (ValueError, lambda: nn.MultiFieldEmbeddingLookup(10, 2, 2, operator="q")),
    (ValueError, lambda: nn.MultiFieldEmbeddingLookup(10, 2, 0)),
    (ValueError, lambda: nn.TripletMarginWithDistanceLoss(reduction="q")),
    (TypeError, lambda: nn.TripletMarginWithDistanceLoss(swap=1)),
    (TypeError, lambda: nn.TripletMarginWithDistanceLoss(margin="a")),
    (ValueError, lambda: nn.TripletMarginWithDistanceLoss()(*[Tensor(f(2))] * 3)),
    (ValueError, lambda: nn.SampledSoftmaxLoss(8, 7)), (ValueError, lambda: nn.SampledSoftmaxLoss(4, 7, 8)),
    (ValueError, lambda: nn.SampledSoftmaxLoss(4, 7, sampled_values=(1, 2))),
    (TypeError, lambda: nn.SampledSoftmaxLoss(4, 7, sampled_values=3)),
    (TypeError, lambda: nn.SampledSoftmaxLoss(4, 7)(*[Tensor(f(2, 2))] * 4)),
    (ValueError, lambda: nn.Transformer(8, 2, 1, 1, 16)(Tensor(f(5, 2, 8)), Tensor(f(3, 1, 8)))),
    (ValueError, lambda: nn.Transformer(16, 2, 1, 1, 16)(Tensor(f(5, 2, 8)), Tensor(f(3, 2, 8)))),
    (ValueError, lambda: nn.TransformerDecoderLayer(8, 2, activation="q")),
    (ValueError, lambda: nn.TransformerDecoderLayer(8, 3)),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(BAD)))
def test_bad_calls_are_refused(number: int) -> None:
    kind, call = BAD[number]
    with pytest.raises(kind):
        call()


# -- decoders --------------------------------------------------------------------------------------------------------


def filled(net: Any) -> Any:
    rng = np.random.default_rng(5)
    for param in sorted(net.get_parameters(), key=lambda param: param.name):
        param.set_data(Tensor((rng.standard_normal(param.shape) * 0.3).astype(np.float32)))
    return net.set_train(False)


@pytest.mark.parametrize("first", [False, True])
def test_decoders_attend_to_what_the_encoder_gave(first: bool) -> None:
    rng = np.random.default_rng(0)
    a = Tensor(rng.standard_normal((5, 2, 8)).astype(np.float32))
    b = Tensor(rng.standard_normal((3, 2, 8)).astype(np.float32))
    mask = Tensor(np.triu(np.full((3, 3), -1e9, np.float32), 1))
    padding = Tensor(np.array([[False] * 4 + [True], [False] * 5]))
    layer = filled(nn.TransformerDecoderLayer(8, 2, 16, dropout=0.0, norm_first=first))
    found = layer(b, a, mask, None, None, padding)
    np.testing.assert_allclose(np.array(found)[0, 0, :4], DECODED[first][0], atol=2e-4)
    net = filled(nn.Transformer(8, 2, 1, 2, 16, dropout=0.0, norm_first=first, activation="gelu"))
    call = weft.jit(lambda x, y: net(x, y, None, mask, None, padding, None, padding))
    for result in (net(a, b, None, mask, None, padding, None, padding), call(a, b), call(a, b)):
        np.testing.assert_allclose(np.array(result)[0, 0, :4], DECODED[first][1], atol=2e-4)
    # a later position of the target changes nothing before it, and a padded one of the source nothing at all
    b2, a2 = b.copy(), a.copy()
    b2[2], a2[4, 0] = 0.0, 0.0
    np.testing.assert_allclose(call(a2, b2)[:2], call(a, b)[:2], atol=1e-5)
    weights = net.trainable_params()
    grads = weft.grad(lambda x: net(x, b).sum(), None, weights)(a)
    assert len(grads) == len(weights)
    assert all(isinstance(param, Parameter) for param in weights)


#: of a decoder layer and of a transformer, as MindSpore computes them
DECODED = {
    False: (
        [0.37779998779296875, -0.3142000138759613, 0.24799999594688416, -0.3328999876976013],
        [-0.599399983882904, 0.2872999906539917, -0.5146999955177307, -0.29429998993873596],
    ),
    True: (
        [0.9700000286102295, -0.20029999315738678, -1.4082000255584717, -0.880299985408783],
        [0.0027000000700354576, 0.06509999930858612, -0.5623000264167786, -0.11869999766349792],
    ),
}

# -- kinds of pooling -------------------------------------------------------------------------------------------------

POOLING: dict[str, tuple[str, Callable[[], Any], Callable[[], Any]]] = {
    "MaxUnpool2d": (
        "max_unpool2d",
        lambda: nn.MaxUnpool2d(2)(Tensor(np.array([[[[5.0]]]], np.float32)), Tensor(np.array([[[[3]]]]))),
        lambda: [[[[0.0, 0.0], [0.0, 5.0]]]],
    ),
    "MaxUnpool1d": (
        "max_unpool1d",
        lambda: nn.MaxUnpool1d(2)(Tensor(np.array([[[5.0]]], np.float32)), Tensor(np.array([[[1]]]))),
        lambda: [[[0.0, 5.0]]],
    ),
    "MaxUnpool3d": (
        "max_unpool3d",
        lambda: nn.MaxUnpool3d((1, 1, 2))(Tensor(f(1, 1, 1, 1, 1)), Tensor(np.array([[[[[1]]]]]))),
        lambda: [[[[[0.0, 0.25]]]]],
    ),
    "LPPool1d": ("lp_pool1d", lambda: nn.LPPool1d(1, 2)(Tensor(f(1, 1, 4))), lambda: [[[0.75, 1.75]]]),
    "LPPool2d": ("lp_pool2d", lambda: nn.LPPool2d(1, 2)(Tensor(f(1, 1, 2, 2))), lambda: [[[[2.5]]]]),
    "FractionalMaxPool2d": (
        "fractional_max_pool2d",
        lambda: nn.FractionalMaxPool2d(1, output_size=3)(Tensor(f(1, 1, 3, 3))),
        lambda: f(1, 1, 3, 3),
    ),
    "FractionalMaxPool3d": (
        "fractional_max_pool3d",
        lambda: nn.FractionalMaxPool3d(1, output_size=2)(Tensor(f(1, 1, 2, 2, 2))),
        lambda: f(1, 1, 2, 2, 2),
    ),
    "AdaptiveMaxPool3d": (
        "adaptive_max_pool3d", lambda: nn.AdaptiveMaxPool3d(1)(Tensor(f(1, 2, 2, 2))), lambda: [[[[2.0]]]],
    ),
    "MultiMarginLoss": (
        "multi_margin_loss", lambda: nn.MultiMarginLoss()(Tensor(np.ones((3, 3), np.float32)), Tensor([1, 2, 1])),
        lambda: 0.6666667,
    ),
    "MultilabelMarginLoss": (
        "multilabel_margin_loss",
        lambda: nn.MultilabelMarginLoss()(
            Tensor(np.array([[0.1, 0.2, 0.4, 0.8], [0.2, 0.3, 0.5, 0.7]], np.float32)),
            Tensor(np.array([[1, 2, 0, 3], [2, 3, -1, 1]], np.int32)),
        ),
        lambda: 0.325,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", POOLING)
def test_layers_of_functions_in_ops(name: str) -> None:
    function, call, wanted = POOLING[name]
    if not hasattr(ops, function):
        pytest.skip(f"ops.{function} is not there")
    np.testing.assert_allclose(call(), wanted(), rtol=1e-5)
    np.testing.assert_allclose(weft.jit(call)(), wanted(), rtol=1e-5)
