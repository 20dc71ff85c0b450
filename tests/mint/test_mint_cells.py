"""`mindspore.mint.nn` and its functions: weft's own operations or NumPy, in Python and in one graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import Tensor, nn, ops
from weft.mint import cells, functional
from weft.mint import nn as mint_nn

RNG = np.random.default_rng(0)
X = Tensor(RNG.standard_normal((2, 3)).astype(np.float32))
W = Tensor(RNG.standard_normal((4, 3)).astype(np.float32))
P = Tensor(RNG.uniform(0.1, 0.9, (2, 3)).astype(np.float32))
Q = Tensor(RNG.uniform(0.1, 0.9, (2, 3)).astype(np.float32))
LABELS = Tensor(np.array([2, 0]))
SIGNS = Tensor(np.array([1, -1]))
LINE = Tensor(RNG.standard_normal((2, 4, 6)).astype(np.float32))
IMAGE = Tensor(RNG.standard_normal((2, 4, 6, 6)).astype(np.float32))
BLOCK = Tensor(RNG.standard_normal((2, 4, 4, 4, 4)).astype(np.float32))
K1, K2, K3 = (Tensor(RNG.standard_normal((2, 4, *[3] * n)).astype(np.float32)) for n in (1, 2, 3))
BACK = Tensor(RNG.standard_normal((4, 2, 3, 3)).astype(np.float32))
SCALE, SHIFT = Tensor(np.array([1.0, 2.0, 3.0], np.float32)), Tensor(np.array([0.5, 0.0, 1.0], np.float32))

#: name -> (arguments, settings, the same of weft's operations)
FUNCTIONS: list[tuple[str, tuple[Any, ...], dict[str, Any], Callable[[], Any]]] = [
    ("relu", (X,), {}, lambda: ops.relu(X)),
    ("relu6", (X,), {}, lambda: ops.relu6(X)),
    ("elu", (X, 0.5), {}, lambda: ops.elu(X, 0.5)),
    ("silu", (X,), {}, lambda: ops.silu(X)),
    ("hardtanh", (X, -0.5, 0.5), {}, lambda: ops.clamp(X, -0.5, 0.5)),
    ("threshold", (X, 0.1, 9.0), {}, lambda: ops.where(X > 0.1, X, 9.0)),
    ("gelu", (X,), {"approximate": "tanh"}, lambda: ops.gelu(X, "tanh")),
    ("glu", (LINE,), {"dim": 1}, lambda: ops.glu(LINE, 1)),
    ("hardshrink", (X, 0.3), {}, lambda: ops.hardshrink(X, 0.3)),
    ("hardsigmoid", (X,), {}, lambda: ops.hardsigmoid(X)),
    ("hardswish", (X,), {}, lambda: ops.hardswish(X)),
    ("leaky_relu", (X,), {}, lambda: ops.where(X > 0, X, X * 0.01)),
    ("logsigmoid", (X,), {}, lambda: ops.log(ops.sigmoid(X))),
    ("mish", (X,), {}, lambda: ops.mish(X)),
    ("prelu", (X, Tensor([0.25])), {}, lambda: ops.where(X > 0, X, X * 0.25)),
    ("selu", (X,), {}, lambda: ops.selu(X)),
    ("sigmoid", (X,), {}, lambda: ops.sigmoid(X)),
    ("softplus", (X,), {}, lambda: ops.log1p(ops.exp(X))),
    ("softshrink", (X, 0.3), {}, lambda: ops.softshrink(X, 0.3)),
    ("tanh", (X,), {}, lambda: ops.tanh(X)),
    ("softmax", (X,), {}, lambda: ops.softmax(X, 1)),
    ("softmax", (LINE,), {}, lambda: ops.softmax(LINE, 0)),
    ("log_softmax", (X,), {"dim": 0}, lambda: ops.log_softmax(X, 0)),
    ("cosine_embedding_loss", (X, P, SIGNS), {}, lambda: ops.cosine_embedding_loss(X, P, SIGNS)),
    ("cross_entropy", (X, LABELS), {"label_smoothing": 0.1}, lambda: ops.cross_entropy(X, LABELS, label_smoothing=0.1)),
    ("binary_cross_entropy", (P, Q), {}, lambda: -ops.mean(Q * ops.log(P) + (1 - Q) * ops.log(1 - P))),
    ("binary_cross_entropy_with_logits", (X, Q, None, "sum", SCALE), {},
     lambda: -ops.sum(SCALE * Q * ops.log(ops.sigmoid(X)) + (1 - Q) * ops.log(ops.sigmoid(-X)))),
    ("l1_loss", (X, P), {}, lambda: ops.mean(ops.abs(X - P))),
    ("mse_loss", (X, P, "sum"), {}, lambda: ops.sum(ops.square(X - P))),
    ("nll_loss", (X, LABELS), {}, lambda: -(X[0, 2] + X[1, 0]) / 2),
    ("soft_margin_loss", (X, P), {}, lambda: ops.mean(ops.log1p(ops.exp(-P * X)))),
    ("smooth_l1_loss", (X, P, "none", 0.5), {}, lambda: ops.smooth_l1_loss(X, P, 0.5, "none")),
    ("kl_div", (X, P), {}, lambda: ops.mean(P * (ops.log(P) - X))),
    ("kl_div", (X, P, "batchmean", True), {}, lambda: ops.sum(ops.exp(P) * (P - X)) / 2),
    ("adaptive_avg_pool1d", (LINE, 2), {}, lambda: ops.adaptive_avg_pool1d(LINE, 2)),
    ("adaptive_avg_pool2d", (IMAGE, 2), {}, lambda: ops.adaptive_avg_pool2d(IMAGE, 2)),
    ("adaptive_avg_pool3d", (BLOCK, 2), {}, lambda: ops.adaptive_avg_pool3d(BLOCK, 2)),
    ("adaptive_max_pool1d", (LINE, 2), {}, lambda: ops.max_pool1d(LINE, 3)),
    ("adaptive_max_pool1d", (LINE, 2, True), {},
     lambda: (LINE.reshape((2, 4, 2, 3)).max(axis=-1), LINE.reshape((2, 4, 2, 3)).argmax(-1) + Tensor([0, 3]))),
    ("adaptive_max_pool2d", (IMAGE, 2), {}, lambda: ops.max_pool2d(IMAGE, 3)),
    ("avg_pool1d", (LINE, 2), {}, lambda: LINE.reshape((2, 4, 3, 2)).mean(-1)),
    ("avg_pool2d", (IMAGE, 2), {"stride": 1}, lambda: ops.avg_pool2d(IMAGE, 2, 1)),
    ("avg_pool3d", (BLOCK, 2), {}, lambda: ops.avg_pool3d(BLOCK, 2, 2)),
    ("max_pool2d", (IMAGE, 2, None, 0, 1, False, True), {},
     lambda: (lambda v, i: (v, i.astype(weft.int64)))(*ops.max_pool2d(IMAGE, 2, return_indices=True))),
    ("batch_norm", (LINE[:, :3], SHIFT, SCALE, SCALE, SHIFT), {},
     lambda: ops.batch_norm(LINE[:, :3], SHIFT, SCALE, SCALE, SHIFT)),
    ("conv1d", (LINE, K1), {"padding": (1,)}, lambda: ops.conv1d(LINE, K1, None, 1, "pad", 1)),
    ("conv1d", (LINE[0], K1), {}, lambda: ops.conv1d(LINE[:1], K1)[0]),
    ("conv2d", (IMAGE, K2), {"padding": (1, 2)}, lambda: ops.conv2d(IMAGE, K2, None, 1, "pad", (1, 1, 2, 2))),
    ("conv2d", (IMAGE, K2), {"padding": "same"}, lambda: ops.conv2d(IMAGE, K2, None, 1, "same")),
    ("conv3d", (BLOCK, K3), {"padding": 1}, lambda: ops.conv3d(BLOCK, K3, None, 1, "pad", 1)),
    ("conv_transpose2d", (IMAGE, BACK), {"stride": 2}, lambda: ops.conv_transpose2d(IMAGE, BACK, None, 2)),
    ("embedding", (LABELS, W), {}, lambda: W[LABELS]),
    ("group_norm", (LINE, 2), {}, lambda: ops.group_norm(LINE, 2)),
    ("layer_norm", (X, (3,), SCALE, SHIFT), {}, lambda: ops.layer_norm(X, (3,), SCALE, SHIFT)),
    ("interpolate upsample", (IMAGE, (3, 3)), {}, lambda: ops.interpolate(IMAGE, (3, 3))),
    ("linear", (X, W), {}, lambda: ops.matmul(X, W.T)),
    ("pad", (X, (1, 2)), {"value": 7.0}, lambda: ops.pad(X, (1, 2), "constant", 7.0)),
    ("normalize", (X,), {"dim": 0}, lambda: X / ops.sqrt(ops.sum(X * X, 0, True))),
    ("one_hot", (LABELS, 4), {}, lambda: Tensor(np.eye(4, dtype=np.int64)[[2, 0]])),
    ("pixel_shuffle", (IMAGE, 2), {},
     lambda: Tensor(IMAGE.asnumpy().reshape(2, 1, 2, 2, 6, 6).transpose(0, 1, 4, 2, 5, 3).reshape(2, 1, 12, 12))),
    ("dropout", (X, 0.5, False), {}, lambda: X),
    ("dropout", (X,), {"p": 0.0}, lambda: X),
    ("dropout2d", (IMAGE, 0.5, False), {}, lambda: IMAGE),
    ("flatten", (LINE, 1), {}, lambda: LINE.reshape((2, 24))),
]  # fmt: skip
IN_PLACE = {"relu_": (), "elu_": (0.5,), "sigmoid_": (), "hardtanh_": (-0.5, 0.5), "threshold_": (0.1, 9.0)}


def assert_same(found: Any, expected: Any) -> None:
    if isinstance(expected, tuple):
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
        return
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found.asnumpy(), expected.asnumpy(), rtol=2e-5, atol=1e-5)


def test_every_function_has_a_case() -> None:
    named = {name for names, *_ in FUNCTIONS for name in names.split()}
    elsewhere = {"fold", "unfold", "grid_sample", "max_unpool2d"}  # in test_patches.py
    assert set(functional.__all__) == named | set(IN_PLACE) | elsewhere


@pytest.mark.parametrize("number", range(len(FUNCTIONS)), ids=[f"{one[0]}-{i}" for i, one in enumerate(FUNCTIONS)])
def test_function(number: int) -> None:
    names, args, settings, expected = FUNCTIONS[number]
    for name in names.split():
        function = getattr(functional, name)
        assert_same(function(*args, **settings), expected())
        graph = weft.jit(lambda *a, function=function: function(*a, **settings), fullgraph=True)
        assert_same(graph(*args), expected())


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place(name: str) -> None:
    function, plain = getattr(functional, name), getattr(functional, name[:-1])

    def program(x: Any) -> Any:
        y = x + 0
        result = function(y, *IN_PLACE[name])
        return y, result

    expected = plain(X, *IN_PLACE[name])
    assert_same(program(X), (expected, expected))
    assert_same(weft.jit(program, fullgraph=True)(X), (expected, expected))
    if name != "sigmoid_":
        y = X + 0
        assert plain(y, *IN_PLACE[name], inplace=True) is y
        assert_same(y, expected)


def test_one_hot_counts_its_classes() -> None:
    assert_same(functional.one_hot(LABELS), Tensor(np.eye(3, dtype=np.int64)[[2, 0]]))
    assert_same(weft.jit(functional.one_hot)(LABELS), Tensor(np.eye(3, dtype=np.int64)[[2, 0]]))


#: cells without parameters -> (settings, inputs); the function is called with the same
CELLS: dict[str, tuple[dict[str, Any], tuple[Any, ...]]] = {
    "AdaptiveAvgPool1d": ({"output_size": 2}, (LINE,)), "AdaptiveAvgPool2d": ({"output_size": 2}, (IMAGE,)),
    "AdaptiveAvgPool3d": ({"output_size": 2}, (BLOCK,)), "AdaptiveMaxPool1d": ({"output_size": 2}, (LINE,)),
    "AdaptiveMaxPool2d": ({"output_size": 2, "return_indices": True}, (IMAGE,)),
    "AvgPool1d": ({"kernel_size": 2}, (LINE,)), "AvgPool2d": ({"kernel_size": 2}, (IMAGE,)),
    "AvgPool3d": ({"kernel_size": 2}, (BLOCK,)), "MaxPool2d": ({"kernel_size": 2, "padding": 1}, (IMAGE,)),
    "Flatten": ({"start_dim": 1, "end_dim": 2}, (IMAGE,)), "PixelShuffle": ({"upscale_factor": 2}, (IMAGE,)),
    "Unfold": ({"kernel_size": 2}, (IMAGE,)),
    "Fold": ({"output_size": (2, 2), "kernel_size": 1}, (Tensor(np.ones((1, 2, 4), np.float32)),)),
    "Upsample": ({"size": (3, 3)}, (IMAGE,)), "UpsamplingBilinear2d": ({"size": (3, 3)}, (IMAGE,)),
    "UpsamplingNearest2d": ({"size": (3, 3)}, (IMAGE,)),
    "ConstantPad1d": ({"padding": (1, 2), "value": 3.0}, (LINE,)), "ZeroPad1d": ({"padding": 1}, (LINE,)),
    "ConstantPad2d": ({"padding": (1, 2, 0, 1), "value": 3.0}, (IMAGE,)), "ZeroPad2d": ({"padding": 1}, (IMAGE,)),
    "ConstantPad3d": ({"padding": 1, "value": 3.0}, (BLOCK,)), "ZeroPad3d": ({"padding": 1}, (BLOCK,)),
    "ReflectionPad1d": ({"padding": 1}, (LINE,)), "ReplicationPad1d": ({"padding": 1}, (LINE,)),
    "ReflectionPad2d": ({"padding": 1}, (IMAGE,)), "ReplicationPad2d": ({"padding": 1}, (IMAGE,)),
    "ReflectionPad3d": ({"padding": 1}, (BLOCK,)), "ReplicationPad3d": ({"padding": 1}, (BLOCK,)),
    "ELU": ({"alpha": 0.5}, (X,)), "GELU": ({"approximate": "tanh"}, (X,)), "GLU": ({}, (LINE,)),
    "Hardshrink": ({"lambd": 0.3}, (X,)), "Hardsigmoid": ({}, (X,)), "Hardswish": ({}, (X,)),
    "Hardtanh": ({"max_val": 0.5}, (X,)), "LogSigmoid": ({}, (X,)), "LogSoftmax": ({"dim": 0}, (X,)),
    "Mish": ({}, (X,)), "ReLU": ({}, (X,)), "ReLU6": ({}, (X,)), "SELU": ({}, (X,)), "SiLU": ({}, (X,)),
    "Sigmoid": ({}, (X,)), "Softmax": ({}, (X,)), "Softshrink": ({}, (X,)), "Tanh": ({}, (X,)),
    "Threshold": ({"threshold": 0.1, "value": 9.0}, (X,)),
    "BCELoss": ({"weight": SCALE}, (P, Q)), "BCEWithLogitsLoss": ({"pos_weight": SCALE}, (X, Q)),
    "CrossEntropyLoss": ({"weight": SCALE}, (X, LABELS)), "KLDivLoss": ({"log_target": True}, (X, P)),
    "L1Loss": ({"reduction": "sum"}, (X, P)), "MSELoss": ({"reduction": "none"}, (X, P)),
    "NLLLoss": ({}, (X, LABELS)), "SmoothL1Loss": ({"beta": 0.5}, (X, P)), "SoftMarginLoss": ({}, (X, P)),
    "CosineEmbeddingLoss": ({"margin": 0.1}, (X, P, SIGNS)),
}  # fmt: skip


def test_every_cell_without_parameters_has_a_case() -> None:
    assert set(CELLS) == set(cells.cells("here"))


@pytest.mark.parametrize("name", CELLS)
def test_cell_is_its_function(name: str) -> None:
    settings, inputs = CELLS[name]
    cls = getattr(mint_nn, name)
    cell = cls(**settings)
    expected = cls._function(*inputs, **settings)
    assert_same(cell(*inputs), expected)
    assert_same(weft.jit(lambda *a: cell(*a), fullgraph=True)(*inputs), expected)
    assert repr(cell).startswith(name)
    with pytest.raises(TypeError, match=name):
        cls(axis_=1)


#: cells with parameters -> (the cell, weft's with the same parameters, input)
LAYERS: dict[str, Callable[[], tuple[Any, Any, Any]]] = {
    "Linear": lambda: (mint_nn.Linear(3, 4), nn.Dense(3, 4), X),
    "Conv1d": lambda: (mint_nn.Conv1d(4, 2, 3, bias=False), nn.Conv1d(4, 2, 3, pad_mode="valid"), LINE),
    "Conv2d": lambda: (
        mint_nn.Conv2d(4, 2, 3, padding=1), nn.Conv2d(4, 2, 3, pad_mode="pad", padding=1, has_bias=True), IMAGE,
    ),
    "Conv3d": lambda: (mint_nn.Conv3d(4, 2, 3, bias=False), nn.Conv3d(4, 2, 3, pad_mode="valid"), BLOCK),
    "ConvTranspose2d": lambda: (
        mint_nn.ConvTranspose2d(4, 2, 3, 2, bias=False), nn.Conv2dTranspose(4, 2, 3, 2, pad_mode="valid"), IMAGE,
    ),
    "BatchNorm1d": lambda: (mint_nn.BatchNorm1d(4), nn.BatchNorm1d(4), LINE),
    "BatchNorm2d": lambda: (mint_nn.BatchNorm2d(4), nn.BatchNorm2d(4), IMAGE),
    "BatchNorm3d": lambda: (mint_nn.BatchNorm3d(4), nn.BatchNorm3d(4), BLOCK),
    "LayerNorm": lambda: (mint_nn.LayerNorm(3), nn.LayerNorm((3,), epsilon=1e-5), X),
    "GroupNorm": lambda: (mint_nn.GroupNorm(2, 4), nn.GroupNorm(2, 4), IMAGE),
    "Embedding": lambda: (mint_nn.Embedding(5, 3), nn.Embedding(5, 3), LABELS),
    "PReLU": lambda: (mint_nn.PReLU(), nn.PReLU(), X),
    "Identity": lambda: (mint_nn.Identity(3), nn.Identity(), X),
}  # fmt: skip


def test_every_cell_has_a_case() -> None:
    assert set(mint_nn.__all__) == {*CELLS, *LAYERS, "Dropout", "Dropout2d"}


@pytest.mark.parametrize("train", [False, True])
@pytest.mark.parametrize("name", LAYERS)
def test_layer_is_that_of_weft(name: str, train: bool) -> None:
    cell, other, x = LAYERS[name]()
    cell.set_train(train)
    other.set_train(train)
    for mine, theirs in zip(cell.trainable_params(), other.trainable_params(), strict=True):
        mine.set_data(theirs.value().reshape(mine.shape))
    graph = weft.jit(lambda x: cell(x), fullgraph=True)
    for _ in range(2):
        assert_same(cell(x), other(x))
        assert_same(graph(x), other(x))
    if not cell.trainable_params():
        return
    found = weft.grad(lambda x: ops.sum(ops.square(cell(x))), None, cell.trainable_params())(x)
    expected = weft.grad(lambda x: ops.sum(ops.square(other(x))), None, other.trainable_params())(x)
    for one, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.asnumpy(), wanted.asnumpy().reshape(one.shape), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        (mint_nn.Linear(2, 3), "weight bias"),
        (mint_nn.Conv2d(1, 1, 2), "weight bias"),
        (mint_nn.BatchNorm2d(2), "weight bias running_mean running_var num_batches_tracked"),
        (mint_nn.LayerNorm(3), "weight bias"),
        (mint_nn.LayerNorm(3, bias=False), "weight"),
        (mint_nn.GroupNorm(1, 2), "weight bias"),
        (mint_nn.Embedding(3, 2), "weight"),
        (mint_nn.PReLU(), "weight"),
        (mint_nn.BatchNorm1d(2, affine=False, track_running_stats=False), ""),
    ],
)
def test_names_of_parameters(cell: Any, names: str) -> None:
    assert list(cell.parameters_dict()) == names.split()


@pytest.mark.parametrize("jit", [False, True])
def test_running_statistics(jit: bool) -> None:
    cell = mint_nn.BatchNorm1d(4).set_train()
    call = weft.jit(lambda x: cell(x), fullgraph=True) if jit else cell
    x = LINE.asnumpy()
    mean, var = np.zeros(4), np.ones(4)
    for n in range(3):
        call(LINE)
        mean = 0.9 * mean + 0.1 * x.mean((0, 2))
        var = 0.9 * var + 0.1 * x.var((0, 2), ddof=1)
        assert cell.num_batches_tracked.item() == n + 1
    np.testing.assert_allclose(cell.running_mean.asnumpy(), mean, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(cell.running_var.asnumpy(), var, rtol=1e-4)


def test_without_running_statistics_the_batch_is_used_in_evaluation() -> None:
    cell = mint_nn.BatchNorm1d(4, track_running_stats=False).set_train(False)
    x = LINE.asnumpy()
    expected = (x - x.mean((0, 2), keepdims=True)) / np.sqrt(x.var((0, 2), keepdims=True) + 1e-5)
    np.testing.assert_allclose(cell(LINE).asnumpy(), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
@pytest.mark.parametrize("padding", [1, (1, 2), "same"])
def test_padding_modes_of_convolutions(mode: str, padding: Any) -> None:
    cell = mint_nn.Conv2d(4, 2, (3, 5), padding=padding, padding_mode=mode)
    high, wide = {1: (1, 1), (1, 2): (1, 2), "same": (1, 2)}[padding]
    border = ((0, 0), (0, 0), (high, high), (wide, wide))
    padded = np.pad(IMAGE.asnumpy(), border, {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode])
    assert_same(cell(IMAGE), ops.conv2d(Tensor(padded), cell.weight, cell.bias))


@pytest.mark.parametrize("cls", [mint_nn.Dropout, mint_nn.Dropout2d])
def test_dropout(cls: Any) -> None:
    cell = cls(p=0.5)
    assert_same(cell.set_train(False)(IMAGE), IMAGE)
    cell.set_train()
    weft.set_seed(1)  # some of the few channels are kept, and some are not
    for found in (cell(IMAGE), weft.jit(lambda x: cell(x), fullgraph=True)(IMAGE)):
        kept = found.asnumpy() != 0
        assert 0 < kept.mean() < 1
        np.testing.assert_allclose(found.asnumpy()[kept], 2 * IMAGE.asnumpy()[kept], rtol=1e-6)
    with pytest.raises(ValueError, match="p must be"):
        cls(p=2)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: mint_nn.Linear(0, 1),
        lambda: mint_nn.Conv2d(3, 4, 3, groups=2),
        lambda: mint_nn.Conv2d(3, 4, 3, padding="full"),
        lambda: mint_nn.Conv2d(3, 4, 3, stride=2, padding="same"),
        lambda: mint_nn.Conv2d(3, 4, 3, padding_mode="mirror"),
        lambda: mint_nn.GroupNorm(2, 3),
        lambda: mint_nn.Embedding(3, 2, padding_idx=3),
        lambda: mint_nn.ZeroPad2d((1, 2))(IMAGE),
        lambda: functional.conv2d(IMAGE, K2, padding=(1, 2, 3)),
        lambda: functional.pixel_shuffle(IMAGE, 3),
        lambda: functional.kl_div(X, P, "max", True),
    ],
)
def test_wrong_settings(wrong: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=r"must|divide|needs|multiple|reduction"):
        wrong()
