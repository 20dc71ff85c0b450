"""What programs replace of optimizers, layers, losses and steps is what these compute with: methods of subclasses,
attributes that are set."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import Parameter, Tensor, jit, nn, ops


class Scaled(nn.Momentum):
    def get_lr(self) -> Any:
        return super().get_lr() * 5


class Clipped(nn.Momentum):
    def scale_grad(self, gradients: Any) -> Any:
        return tuple(g.clip(-0.1, 0.1) for g in gradients)


class Decayed(nn.Momentum):
    def decay_weight(self, gradients: Any) -> Any:
        return tuple(g * 5 for g in gradients)


class Central(nn.Momentum):
    def gradients_centralization(self, gradients: Any) -> Any:
        return tuple(g * 5 for g in gradients)


class Flat(nn.Momentum):
    def flatten_gradients(self, gradients: Any) -> Any:
        return tuple(g * 5 for g in gradients)


class NoDecay(nn.Momentum):
    def get_weight_decay(self) -> Any:
        return super().get_weight_decay() * 0


class NoDecayAtAll(nn.AdamWeightDecay):
    def get_weight_decay(self) -> Any:
        return 0.0


ways = pytest.mark.parametrize("way", [lambda f: f, jit], ids=["eager", "jit"])


@ways
@pytest.mark.parametrize(
    ("kind", "decay", "wanted"),
    [
        (nn.Momentum, 0.0, [0.9, 1.9]),
        (Scaled, 0.0, [0.5, 1.5]),
        (Clipped, 0.0, [0.99, 1.99]),
        (Decayed, 0.1, [0.5, 1.5]),
        (Central, 0.0, [0.5, 1.5]),
        (Flat, 0.0, [0.5, 1.5]),
        (NoDecay, 0.1, [0.9, 1.9]),
    ],
)
def test_methods_of_a_subclass_of_an_optimizer(
    kind: Any, decay: float, wanted: list[float], way: Callable[[Any], Any]
) -> None:
    param = Parameter(Tensor([1.0, 2.0]), name="p")
    optimizer = kind([param], 0.1, 0.9, weight_decay=decay, loss_scale=2.0)
    way(lambda gradients: optimizer(gradients))((Tensor([2.0, 2.0]),))
    assert param.asnumpy().tolist() == pytest.approx(wanted)


@ways
def test_rates_of_a_subclass_for_each_parameter(way: Callable[[Any], Any]) -> None:
    class Each(nn.SGD):
        def get_lr(self) -> Any:
            rate = super().get_lr()
            return rate, rate * 2

    params = [Parameter(Tensor([1.0]), name=name) for name in "ab"]
    optimizer = Each(params, 0.1)
    way(lambda gradients: optimizer(gradients))((Tensor([1.0]), Tensor([1.0])))
    assert [float(param.asnumpy()[0]) for param in params] == pytest.approx([0.9, 0.8])


@ways
def test_a_decay_that_is_no_part_of_the_gradient(way: Callable[[Any], Any]) -> None:
    found = []
    for kind, decay in ((nn.AdamWeightDecay, 0.0), (NoDecayAtAll, 0.5)):
        param = Parameter(Tensor([1.0, 2.0]), name="p")
        optimizer = kind([param], 0.1, weight_decay=decay)
        way(lambda gradients, optimizer=optimizer: optimizer(gradients))((Tensor([1.0, -1.0]),))
        found.append(param.asnumpy().tolist())
    assert found[0] == found[1]


@ways
@pytest.mark.parametrize(
    "rate",
    [Tensor(0.5), 0.5, lambda: Parameter(Tensor(0.5), name="rate"), lambda: nn.ExponentialDecayLR(0.5, 1.0, 1)],
    ids=["tensor", "float", "parameter", "schedule"],
)
def test_a_learning_rate_that_is_set(rate: Any, way: Callable[[Any], Any]) -> None:
    param = Parameter(Tensor([1.0, 2.0]), name="p")
    optimizer = nn.SGD([param], 0.1)
    step = way(lambda gradients: optimizer(gradients))
    step((Tensor([0.0, 0.0]),))
    optimizer.learning_rate = rate() if callable(rate) and not isinstance(rate, Tensor) else rate
    step((Tensor([1.0, 1.0]),))
    assert param.asnumpy().tolist() == [0.5, 1.5]
    assert float(optimizer.get_lr().asnumpy()) == 0.5


@ways
def test_a_weight_decay_that_is_set(way: Callable[[Any], Any]) -> None:
    for decay in (Tensor(0.0), 0.0):
        params = [Parameter(Tensor([1.0, 2.0]), name=name) for name in ("p", "beta")]
        optimizer = nn.Momentum(params, 0.1, 0.0, weight_decay=0.5)
        step = way(lambda gradients, optimizer=optimizer: optimizer(gradients))
        step((Tensor([0.0, 0.0]),) * 2)
        assert [float(param.asnumpy()[0]) for param in params] == pytest.approx([0.95, 1.0])
        optimizer.weight_decay = decay
        step((Tensor([0.0, 0.0]),) * 2)
        assert [float(param.asnumpy()[0]) for param in params] == pytest.approx([0.95, 1.0])


class Strided(nn.Conv2d):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conv2d = ops.Conv2D(4, 3, stride=2, pad_mode="same")


class Zero(nn.Dense):
    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.matmul = lambda x, w: ops.matmul(x, w.T) * 0


@ways
def test_operators_of_layers(way: Callable[[Any], Any]) -> None:
    strided, zero = Strided(3, 4, 3), Zero(2, 2)
    assert way(lambda x: strided(x))(ops.ones((1, 3, 6, 6))).shape == (1, 4, 3, 3)
    assert way(lambda x: zero(x))(ops.ones((1, 2))).asnumpy().tolist() == [zero.bias.asnumpy().tolist()]
    table, drop, norm = nn.Embedding(3, 2), nn.Dropout(p=0.5), nn.BatchNorm2d(2)
    table.gather = lambda t, i, axis: ops.gather(t, i, axis) * 0 + 7
    drop.dropout = lambda x: (x * 3, x)
    drop.set_train()
    norm.bn_infer = lambda x, *parts: (x * 7, *parts)
    norm.set_train(False)
    relu, softmax, pool = nn.ReLU(), nn.Softmax(), nn.MaxPool2d(2)
    relu.relu = softmax.softmax = pool.max_pool = lambda x: x * 3
    assert way(lambda i: table(i))(Tensor([[1, 0]])).asnumpy().tolist() == [[[7.0, 7.0]] * 2]
    image = ops.ones((1, 2, 1, 1))
    for layer, factor in ((drop, 3), (norm, 7), (relu, 3), (softmax, 3), (pool, 3)):
        assert way(lambda x, layer=layer: layer(x))(image).asnumpy().tolist() == (image * factor).asnumpy().tolist()


@ways
def test_an_operator_that_is_set_between_calls(way: Callable[[Any], Any]) -> None:
    layer = nn.Dense(2, 1, weight_init="ones", bias_init="ones")
    call, x = way(lambda x: layer(x)), ops.ones((1, 2))
    assert float(call(x)) == 3.0
    layer.matmul = lambda x, w: ops.matmul(x, w.T) * 2
    assert float(call(x)) == 5.0
    layer.has_bias = False
    assert float(call(x)) == 4.0


def test_an_operator_that_a_layer_does_not_compute_with_is_a_warning() -> None:
    layer = nn.Conv2dTranspose(1, 1, 1)
    with pytest.warns(UserWarning, match=r"Conv2dTranspose.conv2d_transpose says nothing"):
        layer.conv2d_transpose = ops.Conv2D(1, 1)

    class Own(nn.Conv2dTranspose):
        def construct(self, x: Any) -> Any:
            return self.conv2d_transpose(x, self.weight)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        own = Own(1, 1, 1, weight_init="ones")
        own.conv2d_transpose = ops.Conv2D(1, 1)
    assert own(ops.ones((1, 1, 2, 2))).shape == (1, 1, 2, 2)


@ways
def test_whether_there_is_a_bias(way: Callable[[Any], Any]) -> None:
    for layer, x in (
        (nn.Dense(2, 1, weight_init="ones", bias_init="ones"), ops.ones((1, 2))),
        (nn.Conv2d(2, 1, 1, has_bias=True, weight_init="ones", bias_init="ones"), ops.ones((1, 2, 1, 1))),
        (nn.Conv3dTranspose(2, 1, 1, has_bias=True, weight_init="ones", bias_init="ones"), ops.ones((1, 2, 1, 1, 1))),
    ):
        call = way(lambda x, layer=layer: layer(x))
        assert float(call(x)) == 3.0
        layer.has_bias = False
        assert float(call(x)) == 2.0
        layer.has_bias = True
        assert float(call(x)) == 3.0


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.w = Parameter(Tensor([1.0]), name="w")

    def construct(self, x: Any) -> Any:
        return (self.w * x).sum()


class Overflows(nn.TrainOneStepWithLossScaleCell):
    def get_overflow_status(self, status: Any, compute_output: Any) -> Any:
        return Tensor(True)


class Leaves(nn.TrainOneStepWithLossScaleCell):
    def process_loss_scale(self, overflow: Any) -> Any:
        return True


class Checks(nn.TrainOneStepWithLossScaleCell):
    def start_overflow_check(self, pre_cond: Any, compute_input: Any) -> Any:
        return 3, compute_input * 2

    def get_overflow_status(self, status: Any, compute_output: Any) -> Any:
        assert status == 3
        return super().get_overflow_status(status, compute_output)


@ways
@pytest.mark.parametrize(
    ("kind", "wanted", "overflow"), [(Overflows, 1.0, True), (Leaves, 1.0, False), (Checks, 0.9, False)]
)
def test_methods_of_a_step_with_a_loss_scale(
    kind: Any, wanted: float, overflow: bool, way: Callable[[Any], Any]
) -> None:
    net = Net()
    step = kind(net, nn.SGD(net.trainable_params(), 0.1), Tensor(8.0))
    found = way(lambda x: step(x))(Tensor([1.0]))
    assert float(net.w.asnumpy()[0]) == pytest.approx(wanted)
    assert bool(found[1]) is overflow


@ways
def test_what_a_loss_makes_of_the_elements(way: Callable[[Any], Any]) -> None:
    def half(kind: Any) -> Any:
        class Half(kind):  # type: ignore[misc, valid-type]
            def get_loss(self, x: Any, weights: Any = 1.0) -> Any:
                return super().get_loss(x, 0.5)

        return Half

    a, b = Tensor([2.0, -1.0]), Tensor([0.0, 1.0])
    for kind in (nn.MSELoss, nn.L1Loss, nn.HuberLoss):
        loss = half(kind)()
        assert float(way(lambda a, b, loss=loss: loss(a, b))(a, b)) == pytest.approx(float(kind()(a, b)) / 2)


def test_the_cells_of_a_sequence() -> None:
    net = nn.SequentialCell(nn.Dense(2, 3), nn.Dense(3, 1))
    net.cell_list = [net[0], nn.Dense(3, 4)]
    assert net(Tensor([[1.0, 2.0]])).shape == (1, 4)
    assert [param.name for param in net.get_parameters()] == ["0.weight", "0.bias", "1.weight", "1.bias"]
    net.cell_list = [nn.Dense(2, 5)]
    assert net(Tensor([[1.0, 2.0]])).shape == (1, 5)
    with pytest.raises(TypeError, match="SequentialCell"):
        net.cell_list = [3]


def test_a_child_that_is_inserted_keeps_the_names_of_its_parameters() -> None:
    class Holder(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.insert_child_to_cell("fc", nn.Dense(2, 2))

        def construct(self, x: Any) -> Any:
            return self.fc(x)

    class Outer(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Holder()

    assert [param.name for param in Holder().get_parameters()] == ["weight", "bias"]
    assert [param.name for param in Outer().get_parameters()] == ["inner.fc.weight", "inner.fc.bias"]
    np.testing.assert_array_equal(weft.jit(Holder())(ops.zeros((1, 2))).shape, (1, 2))


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("make", [nn.RNN, nn.GRU, nn.LSTM])
def test_a_recurrent_layer_without_its_biases(make: Any, compiled: bool) -> None:
    layer, plain = make(2, 3, has_bias=True), make(2, 3, has_bias=False)
    for name, parameter in plain.parameters_dict().items():
        parameter.set_data(layer.parameters_dict()[name])
    call = jit(layer.__call__) if compiled else layer
    x = Tensor(np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 2, 2))
    call(x)
    layer.has_bias = False
    np.testing.assert_allclose(call(x)[0].asnumpy(), plain(x)[0].asnumpy(), rtol=1e-6)
