"""Layers that are one operation, and losses that are one function: what MindSpore 2.10 gives, eagerly and in graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import Tensor, nn, ops

X = np.arange(32, dtype=np.float32).reshape(1, 2, 4, 4)
M = np.arange(12, dtype=np.float32).reshape(3, 4)
Y = np.arange(105, dtype=np.float32).reshape(3, 5, 7)
SIGNS = np.sign(np.arange(12) - 5.5).astype(np.float32).reshape(3, 4)
ODD = (np.arange(12) % 2).astype(np.float32).reshape(3, 4)


@pytest.mark.parametrize(
    ("make", "inputs", "shape", "first"),
    (
        (lambda: nn.CentralCrop(0.5), (X,), (1, 2, 2, 2), [5.0, 6.0, 9.0]),
        (lambda: nn.CentralCrop(0.5), (Y,), (3, 3, 5), [8.0, 9.0, 10.0]),
        (lambda: nn.CentralCrop(0.7), (Y,), (3, 5, 5), [1.0, 2.0, 3.0]),
        (lambda: nn.CentralCrop(1.0), (Y,), (3, 5, 7), [0.0, 1.0, 2.0]),
        (lambda: nn.Upsample((8, 8)), (X,), (1, 2, 8, 8), [0.0, 0.0, 1.0]),
        (lambda: nn.Upsample(scale_factor=2.0, recompute_scale_factor=True), (X,), (1, 2, 8, 8), [0.0, 0.0, 1.0]),
        (nn.Tril, (M,), (3, 4), [0.0, 0.0, 0.0, 0.0, 4.0, 5.0, 0.0]),
        (nn.Triu, (M, -1), (3, 4), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        (lambda: nn.Roll([1, 2], [0, 1]), (M,), (3, 4), [10.0, 11.0, 8.0, 9.0, 2.0]),
        (nn.LRN, (X,), (1, 2, 4, 4), [0.0, 0.05862104, 0.11026357]),
        (lambda: nn.L1Regularizer(0.5), (M,), (), [33.0]),
        (lambda: nn.ReduceLogSumExp(1, True), (M,), (3, 1), [3.4401865, 7.4401884, 11.4401894]),
        (lambda: nn.Unflatten(1, (2, -1)), (M,), (3, 2, 2), [0.0, 1.0, 2.0]),
        (lambda: nn.Unflatten(-1, (2, 2)), (M,), (3, 2, 2), [0.0, 1.0, 2.0]),
        (nn.HingeEmbeddingLoss, (M, SIGNS), (), [4.3333335]),
        (nn.PoissonNLLLoss, (M, M), (), [7851.0957]),
        (lambda: nn.PoissonNLLLoss(log_input=False, full=True, reduction="sum"), (M, M), (), [18.940538]),
        (lambda: nn.PoissonNLLLoss(reduction="none"), (M, M), (3, 4), [1.0, 1.7182798, 3.38906]),
        (nn.GaussianNLLLoss, (M, M * 2, M + 1), (), [3.212101]),
        (lambda: nn.GaussianNLLLoss(full=True, reduction="sum"), (M, M * 2, M + 1), (), [49.57247]),
        (nn.MultiLabelSoftMarginLoss, (M, ODD), (), [2.6008911]),
    ),
)
def test_layers_and_losses(
    make: Callable[[], nn.Cell], inputs: tuple[Any, ...], shape: tuple[int, ...], first: list[float]
) -> None:
    cell, jitted = make(), weft.jit(make())
    given = [Tensor(value) if isinstance(value, np.ndarray) else value for value in inputs]
    found = cell(*given)
    assert found.shape == shape
    assert found.asnumpy().ravel()[: len(first)].tolist() == pytest.approx(first, rel=1e-5)
    for factor in (1.0, 0.5):
        scaled = [value * factor if isinstance(value, Tensor) else value for value in given]
        np.testing.assert_allclose(jitted(*scaled).asnumpy(), cell(*scaled).asnumpy(), rtol=1e-5)
        gradient = weft.grad(lambda first, *rest: cell(first, *rest).sum())(*scaled)
        in_graph = weft.jit(weft.grad(lambda first, *rest: cell(first, *rest).sum()))(*scaled)
        np.testing.assert_allclose(in_graph.asnumpy(), gradient.asnumpy(), rtol=1e-4, atol=1e-6)


def test_weights_of_classes() -> None:
    loss = nn.MultiLabelSoftMarginLoss(Tensor([1.0, 2.0, 3.0, 4.0]), "none")
    assert loss(Tensor(M), Tensor(ODD)).tolist() == pytest.approx([1.9737008, 5.510663, 9.500195], rel=1e-5)


def test_triplets() -> None:
    x = Tensor(M)
    assert nn.TripletMarginLoss()(x, x + 1, x * 2).item() == 0.0
    loss = nn.TripletMarginLoss(p=1, swap=True, reduction="none")
    for function in (loss, weft.jit(loss)):
        assert function(x, x + 1, x * 2, 20.0).tolist() == pytest.approx([20.0, 6.0, 0.0], rel=1e-5)


def test_sequences_of_labels() -> None:
    scores = ops.log_softmax(Tensor(np.sin(np.arange(40, dtype=np.float32)).reshape(5, 2, 4)), -1)
    lengths = Tensor([5, 4]), Tensor([2, 1])
    for loss in (nn.CTCLoss(blank=3), weft.jit(nn.CTCLoss(blank=3))):
        assert loss(scores, Tensor([[0, 1], [2, 0]]), *lengths).item() == pytest.approx(2.5335197, rel=1e-5)
    loss = nn.CTCLoss(reduction="none")
    assert loss(scores, Tensor([[1, 2], [3, 1]]), *lengths).tolist() == pytest.approx([3.3142159, 2.9008410], rel=1e-5)


@pytest.mark.parametrize("compiled", [False, True])
def test_blanks_fill_the_places_behind_the_labels(compiled: bool) -> None:
    scores = Tensor(np.sin(np.arange(40, dtype=np.float32)).reshape(5, 2, 4))
    operator = ops.CTCLoss()

    def losses(scores: Tensor, places: Tensor, labels: Tensor) -> Any:
        return operator(scores, places, labels, Tensor([5, 4], weft.int32))

    function = weft.jit(losses) if compiled else losses
    few = function(scores, Tensor([[0, 0], [1, 0], [1, 1]]), Tensor([1, 2, 0], weft.int32))
    places = Tensor([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]])
    filled = function(scores, places, Tensor([1, 3, 3, 2, 0, 3], weft.int32))
    for found, wanted in zip(filled, few, strict=True):
        np.testing.assert_allclose(found.asnumpy(), wanted.asnumpy(), rtol=1e-6)
    with pytest.raises(IndexError, match="the label 2 follows a blank"):
        function(scores, places, Tensor([1, 3, 2, 2, 0, 3], weft.int32))


def test_two_linear_inputs() -> None:
    layer = nn.BiDense(4, 3, 2)
    assert [(p.name, p.shape) for p in layer.get_parameters()] == [("weight", (2, 4, 3)), ("bias", (2,))]
    jitted = weft.jit(layer.construct)
    for lead in ((3,), (2, 3)):
        first, second = ops.randn(*lead, 4), ops.randn(*lead, 3)
        weight, bias = layer.weight.asnumpy(), layer.bias.asnumpy()
        wanted = np.einsum("...i,kij,...j->...k", first.asnumpy(), weight, second.asnumpy()) + bias
        np.testing.assert_allclose(layer(first, second).asnumpy(), wanted, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(jitted(first, second).asnumpy(), wanted, rtol=1e-4, atol=1e-5)
    assert nn.BiDense(4, 3, 2, has_bias=False).bias is None


@pytest.mark.parametrize(
    ("make", "error"),
    (
        (lambda: nn.CentralCrop(0.0), ValueError),
        (lambda: nn.CentralCrop(1), TypeError),
        (lambda: nn.CentralCrop(0.5)(Tensor(M)), ValueError),
        (lambda: nn.L1Regularizer(0), ValueError),
        (lambda: nn.L1Regularizer("a"), TypeError),
        (lambda: nn.Unflatten(1, (3, 2))(Tensor(M)), ValueError),
        (lambda: nn.PoissonNLLLoss(reduction="max"), ValueError),
        (lambda: nn.BiDense(4, 0, 2), ValueError),
    ),
)
def test_wrong_arguments(make: Callable[[], object], error: type[Exception]) -> None:
    with pytest.raises(error):
        make()
