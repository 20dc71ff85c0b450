"""Names of MindSpore that are a word for something weft has, where scripts import them from."""

from __future__ import annotations

import numpy as np
import pytest

import weft
import weft.mindspore
from weft import nn
from weft.errors import Unsupported


def test_where_scripts_import_from() -> None:
    import logging

    import mindspore as ms
    from mindspore import amp, ops
    from mindspore.common.np_dtype import bfloat16
    from mindspore.log import logging as theirs
    from mindspore.nn import Loss, MAELoss, Metric, Top1CategoricalAccuracy
    from mindspore.nn.metrics import Accuracy
    from mindspore.ops.auto_generate import gen_ops_prim
    from mindspore.ops.function import array_func
    from mindspore.train.model import Model, ParallelMode
    from mindspore.train.serialization import context, load_checkpoint

    assert theirs is logging
    assert (Loss, Metric, Accuracy) == (weft.train.Loss, weft.train.Metric, weft.train.Accuracy)
    assert Top1CategoricalAccuracy is weft.train.Top1CategoricalAccuracy
    assert MAELoss is nn.L1Loss
    assert ParallelMode.DATA_PARALLEL == "data_parallel"
    assert Model is ms.Model
    assert context.set_context is ms.set_context
    assert load_checkpoint is ms.load_checkpoint
    assert ops.P.Add is ops.Add is gen_ops_prim.Add
    assert ops.F.add is ops.add
    assert array_func.reshape is ops.reshape
    assert ms.FixedLossScaleManager is amp.FixedLossScaleManager
    assert np.dtype(bfloat16).itemsize == 2
    assert (ms.half, ms.float, ms.long, ms.double) == (ms.float16, ms.float32, ms.int64, ms.float64)


def test_blocks_views_and_settings_of_the_compiler() -> None:
    from mindspore._extends.parse import compile_config
    from mindspore.common.jit_begin_end import _jit_begin, _jit_end
    from mindspore.ops.auto_generate.gen_ops_def import slice_ext_view_op
    from mindspore.ops.auto_generate.gen_ops_prim import inplace_copy_op, select_ext_view_op

    assert compile_config.CHECK_BPROP == ""
    compile_config.CHECK_BPROP = 1
    compile_config.CHECK_BPROP = ""
    assert compile_config.JIT_ENABLE_AUGASSIGN_INPLACE == "1"

    def block(x: weft.Tensor) -> weft.Tensor:
        _jit_begin("block", x)
        return _jit_end(x + x)

    def written(x: weft.Tensor) -> weft.Tensor:
        y = x * 1
        select_ext_view_op(y, -1, 1)[0] = 9.0
        slice_ext_view_op(y, 1, 2, 4, 1)[1] = 8.0
        return inplace_copy_op(weft.ops.zeros_like(y), y), y

    x = weft.Tensor(np.arange(8, dtype=np.float32).reshape(2, 4))
    for function in (block, weft.jit(block)):
        assert function(x).asnumpy().tolist() == (x * 2).asnumpy().tolist()
    for function in (written, weft.jit(written)):
        assert [each.asnumpy().tolist() for each in function(x)] == [[[0, 9, 2, 3], [4, 5, 8, 8]]] * 2


def test_a_symbol_is_an_open_size() -> None:
    symbol = weft.core.symbol.Symbol
    assert symbol(max=8, divisor=2).to_dict() == {"max": 8, "divisor": 2}
    assert symbol().to_dict() == {}
    described = weft.Tensor(shape=[symbol(), 3], dtype=weft.float32)
    assert described.shape == weft.Tensor(shape=[None, 3], dtype=weft.float32).shape
    net = nn.Dense(3, 2, "ones", "zeros")
    net.set_inputs(described)
    weft.set_context(mode=weft.GRAPH_MODE)
    try:
        for rows in (1, 2, 5):
            assert net(weft.Tensor(np.ones((rows, 3), np.float32))).asnumpy().tolist() == [[3.0, 3.0]] * rows
    finally:
        weft.set_context(mode=weft.PYNATIVE_MODE)


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"max": "a"}, TypeError),
        ({"unique": 1}, TypeError),
        ({"divisor": 0}, ValueError),
        ({"max": 2, "min": 3}, ValueError),
        ({"divisor": 2, "remainder": 2}, ValueError),
    ],
)
def test_wrong_symbols(settings: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        weft.core.symbol.Symbol(**settings)


@pytest.mark.parametrize("level", ["O0", "O2", "O3"])
def test_a_network_that_trains_in_mixed_precision(level: str) -> None:
    from mindspore import amp

    x, y = weft.Tensor(np.ones((4, 2), np.float32)), weft.Tensor(np.zeros((4, 1), np.float32))
    for manager in (None, amp.FixedLossScaleManager(8.0), amp.DynamicLossScaleManager(8.0)):
        net = nn.Dense(2, 1, "ones", "zeros")
        step = amp.build_train_network(
            net, nn.SGD(net.trainable_params(), 0.05), nn.MSELoss(), level=level, loss_scale_manager=manager
        )
        found = [step(x, y) for _ in range(3)]
        losses = [float(out[0] if isinstance(out, tuple) else out) for out in found]
        assert losses[2] < losses[1] < losses[0] == 4.0
    with pytest.raises(ValueError, match="nonesuch"):
        amp.build_train_network(net, None, nonesuch=1)


def test_mixed_precision_cast_in_graphs() -> None:
    from mindspore.ops import functional as F

    def cast(x: weft.Tensor, n: weft.Tensor) -> object:
        half, same = F.mixed_precision_cast(weft.float16, (x, n))
        return half * 2, same

    for function in (cast, weft.jit(cast)):
        half, same = function(weft.Tensor([1.5]), weft.Tensor([3]))
        assert (half.dtype, same.dtype) == (weft.float16, weft.int64)
        assert half.asnumpy().tolist() == [3.0]


def test_settings_are_changed_outside_of_graphs() -> None:
    from mindspore import set_deterministic

    @weft.jit(fullgraph=True)
    def change(x: weft.Tensor) -> weft.Tensor:
        set_deterministic(True)
        return x

    with pytest.raises(Unsupported, match="outside the compiled function"):
        change(weft.Tensor([1.0]))
    set_deterministic(True)
    assert weft.get_context("deterministic") == "ON"
    set_deterministic(False)
    with pytest.raises(TypeError):
        set_deterministic(1)
