"""One training step as a graph is the eager step: losses, weights, statistics and random masks alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft
import weft.jit  # installs graph execution
from weft import context, nn
from weft.core.tensor import Parameter, Tensor

assert weft.jit


@pytest.fixture(autouse=True)
def _restore_mode() -> Iterator[None]:
    before = context.MODE
    yield
    weft.set_context(mode=before)


GENERATOR = np.random.default_rng(0)
X = Tensor(GENERATOR.standard_normal((4, 1, 8, 8)).astype(np.float32))
Y = Tensor(np.array([1, 2, 0, 3], np.int32))


def convolutional() -> nn.Cell:
    return nn.SequentialCell(
        nn.Conv2d(1, 3, 3, pad_mode="valid"), nn.BatchNorm2d(3), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten(),
        nn.Dropout(p=0.3), nn.Dense(27, 4),
    )  # fmt: skip


def attentive() -> nn.Cell:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, 0.1, batch_first=True), 2)
            self.head = nn.Dense(8, 4)

        def construct(self, x: Any) -> Any:
            return self.head(self.encoder(x.reshape((4, 8, 8))).mean(1))

    return Net()


def recurrent() -> nn.Cell:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.walk = nn.LSTM(8, 5, batch_first=True, bidirectional=True)
            self.norm = nn.LayerNorm((10,))
            self.head = nn.Dense(10, 4)

        def construct(self, x: Any) -> Any:
            out, _ = self.walk(x.reshape((4, 8, 8)))
            return self.head(self.norm(out[:, -1]))

    return Net()


OPTIMIZERS: dict[str, Any] = {
    "momentum": lambda p: nn.Momentum(p, 0.05, 0.9, weight_decay=0.01),
    "adam": lambda p: nn.Adam(p, nn.CosineDecayLR(0.001, 0.01, 5)),
    "lamb": lambda p: nn.Lamb(p, nn.warmup_lr(0.01, 8, 1, 4), weight_decay=0.01),
}


def trained(mode: int, make: Any, optimizer: Any, scaled: bool) -> tuple[list[float], dict[str, Any]]:
    weft.set_context(mode=mode)
    weft.set_seed(3)
    net = make()
    net.set_train()
    loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(True, "mean"))
    updates = optimizer(net.trainable_params())
    if scaled:
        step: nn.Cell = nn.TrainOneStepWithLossScaleCell(loss, updates, nn.DynamicLossScaleUpdateCell(8.0, 2, 2))
    else:
        step = nn.TrainOneStepCell(loss, updates)
    losses = []
    for _ in range(4):
        found = step(X, Y)
        losses.append(float((found[0] if scaled else found).asnumpy()))
    state = {p.name: np.array(p) for p in (*net.get_parameters(), *step.get_parameters())}
    return losses, state


@pytest.mark.parametrize("make", [convolutional, attentive, recurrent])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_as_a_graph_is_training(make: Any, name: str) -> None:
    compare(make, name, scaled=False)


@pytest.mark.parametrize("make", [convolutional])
def test_training_with_a_loss_scale_as_a_graph(make: Any) -> None:
    compare(make, "momentum", scaled=True)


def compare(make: Any, name: str, scaled: bool) -> None:
    eager = trained(context.PYNATIVE_MODE, make, OPTIMIZERS[name], scaled)
    graph = trained(context.GRAPH_MODE, make, OPTIMIZERS[name], scaled)
    np.testing.assert_allclose(graph[0], eager[0], 1e-4)
    assert graph[1].keys() == eager[1].keys()
    for key, value in eager[1].items():
        np.testing.assert_allclose(graph[1][key], value, 2e-3, 2e-4, err_msg=key)


READS: dict[str, Any] = {"value": lambda p: p.value(), "tensor": Tensor}


@pytest.mark.parametrize("name", READS)
def test_a_second_handle_on_a_parameter_is_read_when_the_graph_runs(name: str) -> None:
    read = READS[name]
    param = Parameter(Tensor([1.0]), name="p")

    @weft.jit
    def double(x: Any) -> Any:
        return x * read(param)

    for value in (1.0, 2.0, 3.0):
        param.set_data(Tensor([value]))
        np.testing.assert_array_equal(double(Tensor([2.0])).asnumpy(), [2 * value])
