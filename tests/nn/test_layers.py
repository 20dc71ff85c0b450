"""Layers: what they compute, their parameters, their behaviour while training."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import weft
from tests.helpers.values import normals
from weft import dtypes, nn, ops
from weft.autodiff.grad import GradOperation
from weft.core.tensor import Parameter, Tensor

normal = normals()


def facts(cell: nn.Cell) -> dict[str, tuple[int, ...]]:
    return {p.name: p.shape for p in cell.get_parameters()}


PARAMETERS: dict[str, tuple[Any, dict[str, tuple[int, ...]]]] = {
    "dense": (lambda: nn.Dense(3, 4), {"weight": (4, 3), "bias": (4,)}),
    "dense_no_bias": (lambda: nn.Dense(3, 4, has_bias=False), {"weight": (4, 3)}),
    "conv2d": (lambda: nn.Conv2d(4, 6, (3, 2), group=2), {"weight": (6, 2, 3, 2)}),
    "conv2d_bias": (lambda: nn.Conv2d(4, 6, 3, has_bias=True), {"weight": (6, 4, 3, 3), "bias": (6,)}),
    "conv1d": (lambda: nn.Conv1d(4, 6, 3), {"weight": (6, 4, 1, 3)}),
    "conv3d": (lambda: nn.Conv3d(4, 6, 3), {"weight": (6, 4, 3, 3, 3)}),
    "conv2d_transpose": (lambda: nn.Conv2dTranspose(4, 6, 3, group=2), {"weight": (4, 3, 3, 3)}),
    "conv1d_transpose": (lambda: nn.Conv1dTranspose(4, 6, 3), {"weight": (4, 6, 1, 3)}),
    "batch_norm": (lambda: nn.BatchNorm2d(3), {"mean": (3,), "variance": (3,), "gamma": (3,), "beta": (3,)}),
    "layer_norm": (lambda: nn.LayerNorm((3, 4)), {"gamma": (3, 4), "beta": (3, 4)}),
    "group_norm": (lambda: nn.GroupNorm(2, 4), {"gamma": (4,), "beta": (4,)}),
    "instance_norm": (lambda: nn.InstanceNorm2d(4), {"gamma": (4,), "beta": (4,)}),
    "embedding": (lambda: nn.Embedding(7, 3), {"embedding_table": (7, 3)}),
    "prelu": (lambda: nn.PReLU(3), {"a": (3,)}),
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_have_their_names_and_shapes(name: str) -> None:
    make, wanted = PARAMETERS[name]
    assert facts(make()) == wanted


def test_dense_multiplies_and_activates() -> None:
    x, w, b = normal(2, 5, 3), normal(4, 3), normal(4)
    net = nn.Dense(3, 4, Tensor(w), Tensor(b), activation="relu")
    np.testing.assert_allclose(net(Tensor(x)).asnumpy(), np.maximum(x @ w.T + b, 0), 1e-5, 1e-5)
    with pytest.raises(ValueError, match="does not fit a weight"):
        net(Tensor(normal(2, 5)))
    with pytest.raises(ValueError, match="must be positive"):
        nn.Dense(0, 1)
    with pytest.raises(TypeError, match="must be an int"):
        nn.Dense(1.5, 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", ("same", "valid", "pad"))
def test_conv_layers_are_the_operations(mode: str) -> None:
    x = Tensor(normal(2, 4, 7, 7))
    padding = 1 if mode == "pad" else 0
    net = nn.Conv2d(4, 6, 3, 2, mode, padding, has_bias=True)
    wanted = ops.conv2d(x, net.weight, net.bias, 2, mode, padding)
    np.testing.assert_array_equal(net(x).asnumpy(), wanted.asnumpy())
    line = nn.Conv1d(4, 6, 3, 2, mode, padding)
    assert line(Tensor(normal(2, 4, 7))).shape == (2, 6, {"same": 4, "valid": 3, "pad": 4}[mode])
    back = nn.Conv2dTranspose(4, 6, 3, 2, mode, padding)
    assert back(x).shape == (2, 6, *[{"same": 14, "valid": 15, "pad": 13}[mode]] * 2)


def test_batch_norm_layer_moves_its_statistics_only_while_training() -> None:
    net = nn.BatchNorm2d(2, momentum=0.9)
    x = normal(4, 2, 3, 3) * 3 + 1
    before = np.array(net.moving_mean)
    still = net(Tensor(x)).asnumpy()
    np.testing.assert_allclose(still, x / math.sqrt(1 + 1e-5), 1e-5)
    np.testing.assert_array_equal(net.moving_mean.asnumpy(), before)
    net.set_train()
    out = net(Tensor(x)).asnumpy()
    np.testing.assert_allclose(out.mean((0, 2, 3)), 0, atol=1e-5)
    np.testing.assert_allclose(out.std((0, 2, 3)), 1, 1e-4)
    np.testing.assert_allclose(net.moving_mean.asnumpy(), 0.1 * x.mean((0, 2, 3)), 1e-5)
    np.testing.assert_allclose(net.moving_variance.asnumpy(), 0.9 + 0.1 * x.var((0, 2, 3), ddof=1), 1e-5)
    fixed = nn.BatchNorm2d(2, use_batch_statistics=False).set_train()
    np.testing.assert_allclose(fixed(Tensor(x)).asnumpy(), still)
    with pytest.raises(ValueError, match="must have 4 dimensions"):
        net(Tensor(normal(4, 2)))
    assert not net.moving_mean.requires_grad
    assert not nn.BatchNorm2d(2, affine=False).trainable_params()


def test_batch_norm_statistics_move_once_inside_a_gradient() -> None:
    net = nn.BatchNorm1d(2).set_train()
    x = Tensor(normal(8, 2))
    GradOperation(get_by_list=True)(lambda x: net(x).sum(), net.trainable_params())(x)
    np.testing.assert_allclose(net.moving_mean.asnumpy(), 0.1 * x.asnumpy().mean(0), 1e-5, 1e-6)


def test_layer_norm_layer() -> None:
    x = normal(2, 3, 4)
    net = nn.LayerNorm((4,), epsilon=1e-5)
    wanted = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(net(Tensor(x)).asnumpy(), wanted, 1e-4, 1e-5)
    with pytest.raises(TypeError, match=r"LayerNorm\(\(4,\)\)"):
        nn.LayerNorm(4)


def test_dropout_drops_while_training_only() -> None:
    weft.set_seed(1)
    x = np.ones((200, 100), np.float32)
    for net, share in ((nn.Dropout(p=0.25), 0.25), (nn.Dropout(keep_prob=0.25), 0.75), (nn.Dropout(), 0.5)):
        np.testing.assert_array_equal(net(Tensor(x)).asnumpy(), x)
        net.set_train()
        out = net(Tensor(x)).asnumpy()
        assert set(np.unique(out)) == {0.0, np.float32(1 / (1 - share))}
        assert (out == 0).mean() == pytest.approx(share, abs=0.02)
        assert not np.array_equal(out, net(Tensor(x)).asnumpy())
    channels = nn.Dropout2d(0.5).set_train()(Tensor(np.ones((20, 30, 2, 2), np.float32))).asnumpy()
    assert set(channels.reshape(600, 4).mean(1).tolist()) == {0.0, 2.0}
    with pytest.raises(ValueError, match="must be in"):
        nn.Dropout(p=1.5)
    with pytest.raises(ValueError, match="not both"):
        nn.Dropout(keep_prob=0.5, p=0.1)


def test_dropout_gradient_uses_the_same_mask() -> None:
    net = nn.Dropout(p=0.5).set_train()
    outputs: list[Any] = []

    def f(x: Any) -> Any:
        outputs.append(net(x))
        return outputs[-1].sum()

    found = GradOperation()(f)(Tensor(np.ones((50,), np.float32))).asnumpy()
    np.testing.assert_array_equal(found, outputs[0].asnumpy())


def test_dropout_operator_returns_the_mask() -> None:
    out, mask = ops.Dropout(keep_prob=0.5)(Tensor(np.ones(100, np.float32)))
    np.testing.assert_array_equal(out.asnumpy(), 2 * mask.asnumpy())
    a = ops.Dropout(0.5, 3, 4)(Tensor(np.ones(100, np.float32)))[0]
    b = ops.Dropout(0.5, 3, 4)(Tensor(np.ones(100, np.float32)))[0]
    np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())


@pytest.mark.parametrize("use_one_hot", (False, True))
def test_embedding_looks_up_rows(use_one_hot: bool) -> None:
    table = normal(5, 3)
    net = nn.Embedding(5, 3, use_one_hot, Tensor(table))
    ids = np.array([[0, 4], [2, 2]])
    np.testing.assert_allclose(net(Tensor(ids)).asnumpy(), table[ids])
    found = GradOperation(get_by_list=True)(lambda i: net(i).sum(), net.trainable_params())(Tensor(ids))[0].asnumpy()
    np.testing.assert_array_equal(found[:, 0], [1, 0, 2, 0, 1])


def test_embedding_padding_row_is_zero_and_gets_no_gradient() -> None:
    net = nn.Embedding(5, 3, padding_idx=2)
    ids = Tensor([0, 2, 2])
    assert not net.embedding_table.asnumpy()[2].any()
    found = GradOperation(get_by_list=True)(lambda i: net(i).sum(), net.trainable_params())(ids)[0].asnumpy()
    np.testing.assert_array_equal(found[:, 0], [1, 0, 0, 0, 0])


def test_one_hot_pad_flatten_and_the_rest() -> None:
    hot = nn.OneHot(depth=3, on_value=2.0, off_value=-1.0)(Tensor([0, 2, 5])).asnumpy()
    np.testing.assert_array_equal(hot, [[2, -1, -1], [-1, -1, 2], [-1, -1, -1]])
    x = normal(2, 3)
    np.testing.assert_array_equal(nn.Pad(((1, 0), (0, 2)))(Tensor(x)).asnumpy(), np.pad(x, ((1, 0), (0, 2))))
    for mode in ("reflect", "symmetric"):
        np.testing.assert_array_equal(
            nn.Pad(((1, 0), (0, 2)), mode.upper())(Tensor(x)).asnumpy(), np.pad(x, ((1, 0), (0, 2)), mode)
        )
    assert nn.Flatten()(Tensor(normal(2, 3, 4))).shape == (2, 12)
    assert nn.Flatten(0, 1)(Tensor(normal(2, 3, 4))).shape == (6, 4)
    np.testing.assert_allclose(nn.MatMul(transpose_x2=True)(Tensor(x), Tensor(x)).asnumpy(), x @ x.T, 1e-5)
    np.testing.assert_allclose(nn.Norm()(Tensor(x)).asnumpy(), np.linalg.norm(x), 1e-5)
    np.testing.assert_allclose(nn.Norm(1, True)(Tensor(x)).asnumpy(), np.linalg.norm(x, axis=1, keepdims=True), 1e-5)
    clipped = nn.ClipByNorm()(Tensor(x), Tensor(0.5)).asnumpy()
    np.testing.assert_allclose(clipped, x / np.linalg.norm(x) * 0.5, 1e-5)


@pytest.mark.parametrize(
    ("mode", "numpy_mode"),
    (("constant", "constant"), ("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap")),
)
def test_pad_modes(mode: str, numpy_mode: str) -> None:
    x = normal(2, 4, 5)
    found = ops.pad(Tensor(x), (1, 2, 3, 0), mode)
    np.testing.assert_array_equal(found.asnumpy(), np.pad(x, ((0, 0), (3, 0), (1, 2)), numpy_mode))


def test_interpolate_keeps_a_line_straight() -> None:
    x = Tensor(np.arange(4, dtype=np.float32).reshape(1, 1, 4))
    found = ops.interpolate(x, 7, mode="linear", align_corners=True).asnumpy()
    np.testing.assert_allclose(found[0, 0], np.linspace(0, 3, 7), 1e-6)
    found = ops.interpolate(x, scale_factor=2.0, mode="linear", align_corners=False).asnumpy()
    np.testing.assert_allclose(found[0, 0], [0, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3], 1e-6)
    image = np.arange(12, dtype=np.float32).reshape(1, 1, 3, 4)
    found = ops.interpolate(Tensor(image), scale_factor=2.0).asnumpy()
    np.testing.assert_array_equal(found, image.repeat(2, 2).repeat(2, 3))
    cubic = ops.interpolate(Tensor(image), (3, 4), mode="bicubic", align_corners=True).asnumpy()
    np.testing.assert_allclose(cubic, image, atol=1e-5)
    with pytest.raises(ValueError, match="either size or scale_factor"):
        ops.interpolate(x)


@pytest.mark.parametrize("name", ("relu", "relu6", "tanh", "sigmoid", "gelu", "leakyrelu", "elu", "hswish", "hsigmoid",
                                  "softmax", "logsoftmax", "prelu", "mish", "silu", "softplus"))  # fmt: skip
def test_activations_by_name(name: str) -> None:
    cell = nn.get_activation(name)
    assert cell is not None
    assert cell(Tensor(normal(2, 3))).shape == (2, 3)


def test_unknown_activation_is_named() -> None:
    with pytest.raises(KeyError, match="'nope' is no activation"):
        nn.get_activation("nope")


LOSSES: dict[str, tuple[Any, Any]] = {
    "mse": (nn.MSELoss(), lambda a, b: ops.mse_loss(a, b)),
    "l1": (nn.L1Loss("sum"), lambda a, b: ops.l1_loss(a, b, "sum")),
    "smooth": (nn.SmoothL1Loss(0.5), lambda a, b: ops.smooth_l1_loss(a, b, 0.5)),
    "huber": (nn.HuberLoss(delta=0.5), lambda a, b: ops.huber_loss(a, b, "mean", 0.5)),
    "bce_logits": (nn.BCEWithLogitsLoss(), lambda a, b: ops.binary_cross_entropy_with_logits(a, b)),
    "kl": (nn.KLDivLoss("batchmean"), lambda a, b: ops.kl_div(a, b, "batchmean")),
    "cross_entropy": (
        nn.CrossEntropyLoss(label_smoothing=0.1),
        lambda a, b: ops.cross_entropy(a, b, label_smoothing=0.1),
    ),
    "softmax": (nn.SoftmaxCrossEntropyWithLogits(), lambda a, b: ops.SoftmaxCrossEntropyWithLogits()(a, b)[0]),
}


@pytest.mark.parametrize("name", LOSSES)
def test_loss_cells_are_the_operations(name: str) -> None:
    cell, function = LOSSES[name]
    a, b = Tensor(normal(3, 4)), Tensor(np.abs(normal(3, 4)))
    np.testing.assert_array_equal(cell(a, b).asnumpy(), function(a, b).asnumpy())
    with pytest.raises(TypeError, match="must be Tensors"):
        cell(1.0, b)


def test_softmax_cross_entropy_sparse_and_not_agree() -> None:
    scores, classes = Tensor(normal(3, 4)), np.array([1, 0, 3], np.int32)
    hot = Tensor(np.eye(4, dtype=np.float32)[classes])
    for reduction in ("none", "mean", "sum"):
        sparse = nn.SoftmaxCrossEntropyWithLogits(True, reduction)(scores, Tensor(classes))
        dense = nn.SoftmaxCrossEntropyWithLogits(False, reduction)(scores, hot)
        np.testing.assert_allclose(sparse.asnumpy(), dense.asnumpy(), 1e-5)
    with pytest.raises(TypeError, match="integer class labels"):
        nn.SoftmaxCrossEntropyWithLogits(True)(scores, hot)
    with pytest.raises(ValueError, match="sparse=True"):
        nn.SoftmaxCrossEntropyWithLogits()(scores, Tensor(classes))


def test_a_loss_of_the_user_reduces_with_weights() -> None:
    class Weighted(nn.LossBase):
        def construct(self, logits: Any, labels: Any) -> Any:
            return self.get_loss((logits - labels).abs(), Tensor([1.0, 3.0]))

    found = [float(Weighted(r)(Tensor([1.0, 2.0]), Tensor([0.0, 0.0])).asnumpy()) for r in ("mean", "sum")]
    assert found == [3.5, 7.0]


# -- cells that train ------------------------------------------------------------------------------------------------


def regression() -> tuple[nn.Cell, Any, Any]:
    x = normal(16, 3)
    return nn.Dense(3, 1, "zeros", "zeros"), Tensor(x), Tensor(x @ normal(3, 1) + 0.5)


def test_one_step_is_the_gradient_step() -> None:
    net, x, y = regression()
    loss = nn.WithLossCell(net, nn.MSELoss())
    step = nn.TrainOneStepCell(loss, nn.SGD(net.trainable_params(), 0.1), sens=2.0)
    error = -y.asnumpy()
    value = step(x, y)
    assert float(value.asnumpy()) == pytest.approx((error**2).mean(), rel=1e-5)
    np.testing.assert_allclose(net.weight.asnumpy(), -0.1 * 2 * 2 * (error * x.asnumpy()).mean(0)[None], 1e-4, 1e-6)


def test_training_converges_and_the_loss_falls() -> None:
    net, x, y = regression()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Adam(net.trainable_params(), 0.1))
    losses = [float(step(x, y).asnumpy()) for _ in range(200)]
    assert losses[-1] < 1e-3 < losses[0]


def test_a_subclass_that_writes_out_the_step() -> None:
    class Own(nn.TrainOneStepCell):
        def construct(self, data: Any, label: Any) -> Any:
            loss = self.network(data, label)
            grads = self.grad(self.network, self.weights)(data, label, ops.fill(loss.dtype, loss.shape, self.sens))
            grads = self.grad_reducer(grads)
            self.optimizer(grads)
            return loss

    _, x, y = regression()

    def trained(make: Any) -> Any:
        net = nn.Dense(3, 1, "zeros", "zeros")
        step = make(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9))
        for _ in range(3):
            step(x, y)
        return net.weight.asnumpy()

    np.testing.assert_allclose(trained(Own), trained(nn.TrainOneStepCell), 1e-5)


def test_gradient_cells() -> None:
    net, x, y = regression()
    grads = nn.WithGradCell(net, nn.MSELoss())(x, y)
    value, both = nn.ForwardValueAndGrad(nn.WithLossCell(net, nn.MSELoss()), net.trainable_params(), True, True)(x, y)
    assert float(value.asnumpy()) == pytest.approx((y.asnumpy() ** 2).mean(), rel=1e-5)
    for a, b in zip(grads, both[1], strict=True):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), 1e-5)
    assert both[0][0].shape == x.shape
    loss, out, label = nn.WithEvalCell(net, nn.MSELoss())(x, y)
    assert label is y
    assert out.shape == y.shape
    assert loss.shape == ()


def test_loss_scaling_skips_a_step_that_overflows() -> None:
    net, x, y = regression()
    scale = nn.DynamicLossScaleUpdateCell(2.0**4, 2, 2)
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    step = nn.TrainOneStepWithLossScaleCell(nn.WithLossCell(net, nn.MSELoss()), optimizer, scale)
    before = np.array(net.weight)
    loss, overflow, used = step(x, Tensor(np.full((16, 1), np.inf, np.float32)))
    assert bool(overflow)
    assert float(used) == 16.0
    assert step.scale_sense.item() == 8.0
    np.testing.assert_array_equal(net.weight.asnumpy(), before)
    assert optimizer.global_step.asnumpy().tolist() == [0]
    for _ in range(2):
        loss, overflow, used = step(x, y)
        assert not bool(overflow)
    assert step.scale_sense.item() == scale.get_loss_scale() == 16.0
    plain, _, _ = regression()
    reference = nn.Dense(3, 1, "zeros", "zeros")
    plain_step = nn.TrainOneStepCell(
        nn.WithLossCell(reference, nn.MSELoss()), nn.Momentum(reference.trainable_params(), 0.1, 0.9)
    )
    for _ in range(2):
        plain_step(x, y)
    np.testing.assert_allclose(net.weight.asnumpy(), reference.weight.asnumpy(), 1e-5)
    assert float(loss.asnumpy()) > 0
    assert plain is not None


def test_half_precision_trains() -> None:
    net, x, y = regression()
    net.to_float(dtypes.bfloat16)
    loss = nn.WithLossCell(net, lambda out, label: ((out.astype(dtypes.float32) - label) ** 2).mean())
    step = nn.TrainOneStepCell(loss, nn.Adam(net.trainable_params(), 0.1))
    losses = [float(step(x, y).asnumpy()) for _ in range(60)]
    assert losses[-1] < losses[0] / 10
    assert isinstance(net.weight, Parameter)
    assert net.weight.dtype is dtypes.float32
