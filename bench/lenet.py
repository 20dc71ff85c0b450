"""LeNet-5 at batch 32: a training step in weft, and the same written by hand with JAX and optax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

import weft
from bench.measure import Result, row, steady
from weft import nn

BATCH: Final = 32
RATE: Final = 0.01
MOMENTUM: Final = 0.9


class LeNet(nn.Cell):
    """Two convolutions with pooling, three dense layers."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid", has_bias=True)
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid", has_bias=True)
        self.pool = nn.MaxPool2d(2, 2)
        self.relu = nn.ReLU()
        self.flatten = nn.Flatten()
        self.fc1 = nn.Dense(400, 120)
        self.fc2 = nn.Dense(120, 84)
        self.fc3 = nn.Dense(84, 10)

    def construct(self, x: Any) -> Any:
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        x = self.flatten(x)
        return self.fc3(self.relu(self.fc2(self.relu(self.fc1(x)))))


def batch() -> tuple[np.ndarray, np.ndarray]:
    """Random images and labels."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((BATCH, 1, 32, 32)).astype(np.float32), rng.integers(0, 10, BATCH).astype(np.int32)


class CompiledLeNet(LeNet):
    """The same network, its forward compiled."""

    construct = weft.jit(LeNet.construct)


def weft_step(network: type[LeNet] = LeNet) -> Callable[[Any, Any], Any]:
    """The training step: loss, gradient, update."""
    net = network()
    loss_of = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(net.trainable_params(), RATE, MOMENTUM)
    gradient = weft.value_and_grad(lambda x, y: loss_of(net(x), y), None, optimizer.parameters)

    def step(x: Any, y: Any) -> Any:
        loss, gradients = gradient(x, y)
        optimizer(gradients)
        return loss

    return step


def _jax_forward(parameters: dict[str, Any], x: Any) -> Any:
    def conv(x: Any, name: str) -> Any:
        x = jax.lax.conv_general_dilated(
            x, parameters[name], (1, 1), "VALID", dimension_numbers=("NCHW", "OIHW", "NCHW")
        )
        return jax.nn.relu(x + parameters[name + "_bias"][None, :, None, None])

    def pool(x: Any) -> Any:
        return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")

    def dense(x: Any, name: str) -> Any:
        return x @ parameters[name].T + parameters[name + "_bias"]

    x = pool(conv(pool(conv(x, "conv1")), "conv2")).reshape(BATCH, -1)
    return dense(jax.nn.relu(dense(jax.nn.relu(dense(x, "fc1")), "fc2")), "fc3")


def _jax_loss(parameters: dict[str, Any], x: Any, y: Any) -> Any:
    scores = jax.nn.log_softmax(_jax_forward(parameters, x))
    return -jnp.take_along_axis(scores, y[:, None], axis=1).mean()


def jax_parameters() -> dict[str, Any]:
    """Weights in the shapes of `LeNet`."""
    rng = np.random.default_rng(0)
    shapes = {"conv1": (6, 1, 5, 5), "conv2": (16, 6, 5, 5), "fc1": (120, 400), "fc2": (84, 120), "fc3": (10, 84)}
    made = {name: jnp.asarray(rng.standard_normal(shape) * 0.05, jnp.float32) for name, shape in shapes.items()}
    return made | {name + "_bias": jnp.zeros(shape[0], jnp.float32) for name, shape in shapes.items()}


def jax_step(compiled: bool) -> Callable[[Any, Any], Any]:
    """The same step, its state kept between calls; compiled as a whole, or op by op."""
    import optax

    parameters = jax_parameters()
    optimizer = optax.sgd(RATE, momentum=MOMENTUM)
    state = optimizer.init(parameters)

    def update(parameters: Any, state: Any, x: Any, y: Any) -> Any:
        loss, gradients = jax.value_and_grad(_jax_loss)(parameters, x, y)
        updates, state = optimizer.update(gradients, state)
        return optax.apply_updates(parameters, updates), state, loss

    if compiled:
        update = jax.jit(update, donate_argnums=(0, 1))

    def step(x: Any, y: Any) -> Any:
        nonlocal parameters, state
        parameters, state, loss = update(parameters, state, x, y)
        return loss

    return step


def _compare(ours: Callable[[Any, Any], Any], theirs: Callable[[Any, Any], Any], repeat: int) -> Result:
    x, y = batch()
    tensors, arrays = (weft.Tensor(x), weft.Tensor(y)), (jnp.asarray(x), jnp.asarray(y))
    return steady(lambda: ours(*tensors), lambda: theirs(*arrays), repeat)


@row("LeNet step, batch 32, whole step under jit", 1.05)
def compiled_step(repeat: int) -> Result:
    return _compare(weft.jit(weft_step()), jax_step(compiled=True), 2 * repeat)


@row("LeNet step, batch 32, eager", 0.1)
def eager_step(repeat: int) -> Result:
    return _compare(weft_step(), jax_step(compiled=False), min(repeat, 9))
