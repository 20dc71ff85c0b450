"""The network, and the three ways to train it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weft import Tensor, jit, nn, value_and_grad

Step = Callable[[Tensor, Tensor], Tensor]


class Network(nn.Cell):
    """Two convolutions with pooling and a dense layer: images (N, 1, 8, 8) to scores (N, 10)."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, 16, 3, pad_mode="same", has_bias=True)
        self.second = nn.Conv2d(16, 32, 3, pad_mode="same", has_bias=True)
        self.pool = nn.MaxPool2d(kernel_size=2, stride=2)
        self.relu = nn.ReLU()
        self.flatten = nn.Flatten()
        self.head = nn.Dense(32 * 2 * 2, 10)

    def construct(self, x: Tensor) -> Tensor:
        """Scores of the ten digits."""
        x = self.pool(self.relu(self.first(x)))
        x = self.pool(self.relu(self.second(x)))
        return self.head(self.flatten(x))


class CompiledNetwork(Network):
    """The same network with its `construct` compiled."""

    construct = jit(Network.construct)


def training_step(network: Network, rate: float) -> Step:
    """One step of gradient descent with momentum: forward, gradient, update; gives the loss."""
    loss_of = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(network.trainable_params(), learning_rate=rate, momentum=0.9)

    def forward(images: Tensor, labels: Tensor) -> Tensor:
        return loss_of(network(images), labels)

    gradient = value_and_grad(forward, None, optimizer.parameters)

    def step(images: Tensor, labels: Tensor) -> Tensor:
        loss, gradients = gradient(images, labels)
        optimizer(gradients)
        return loss

    return step


@dataclass(frozen=True)
class Mode:
    """One way to run the training.

    Args:
        name: as the report shows it.
        network: class of the network.
        wrap: what is done to the training step.
    """

    name: str
    network: type[Network]
    wrap: Callable[[Step], Step]


MODES = (
    Mode("eager", Network, lambda step: step),
    Mode("compiled network", CompiledNetwork, lambda step: step),
    Mode("compiled step", Network, jit),
)


@dataclass
class Run:
    """What one training left behind: losses and durations of its steps, accuracy on the held-out images."""

    mode: Mode
    losses: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    accuracy: float = 0.0

    @property
    def first(self) -> float:
        """Seconds of the first step, which compiles."""
        return self.seconds[0]

    @property
    def steady(self) -> float:
        """Median seconds of the later steps."""
        return statistics.median(self.seconds[1:] or self.seconds)


def initial_weights() -> list[np.ndarray[Any, Any]]:
    """Weights that every mode starts from, drawn from the global seed."""
    return [np.array(parameter) for parameter in Network().trainable_params()]


def train(
    mode: Mode, weights: list[Any], batches: Iterable[tuple[Any, Any]], rate: float, on_step: Callable[[float], None]
) -> tuple[Network, Run]:
    """Train one network in one mode.

    Args:
        mode: how to run the steps.
        weights: initial values of the parameters.
        batches: images and labels of each step.
        rate: learning rate.
        on_step: called with the loss after each step.

    Returns:
        tuple: the trained network, and the record of the training.
    """
    network, run = mode.network(), Run(mode)
    for parameter, value in zip(network.trainable_params(), weights, strict=True):
        parameter.set_data(Tensor(value))
    step = mode.wrap(training_step(network, rate))
    for images, labels in batches:
        inputs = Tensor(images), Tensor(labels)
        start = time.perf_counter()
        loss = float(step(*inputs))  # waits for the result
        run.seconds.append(time.perf_counter() - start)
        run.losses.append(loss)
        on_step(loss)
    return network, run


def accuracy(network: Network, images: Any, labels: Any) -> float:
    """The share of images whose highest score is at their label."""
    return float((network(Tensor(images)).asnumpy().argmax(1) == labels).mean())
