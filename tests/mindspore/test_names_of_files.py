"""What programs import from single files: kinds of element types, checks, callbacks, recurrent steps, settings."""

from __future__ import annotations

import importlib
import logging
from typing import Any

import numpy as np
import pytest

import weft
import weft.mindspore
from weft import Tensor, grad, jit, nn, ops


def named(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(f"mindspore.{module}".rstrip(".")), name)


def test_kinds_of_element_types() -> None:
    import mindspore as ms
    from mindspore.common import dtype as mstype

    assert (ms.bool, mstype.bool) == (ms.bool_, ms.bool_)
    assert str(mstype.qint4x2) == "Int4"
    assert ms.QuantDtype.UINT4.value() == 103
    assert [len(group) for group in (mstype.int_type, mstype.uint_type, mstype.complex_type)] == [4, 4, 2]
    assert set(mstype.signed_type) < set(mstype.number_type) < set(mstype.all_types)
    assert mstype.bool_ not in mstype.number_type
    assert mstype.number_type[:5] == (ms.int8, ms.int16, ms.int32, ms.int64, ms.uint8)
    assert mstype.type_size_in_bytes(ms.float16) == 2
    typing = mstype.typing
    for kind, bits, found in (
        ("Float", 32, ms.float32), ("Int", 8, ms.int8), ("UInt", 16, ms.uint16), ("BFloat", 16, ms.bfloat16),
        ("Complex", 64, ms.complex64),
    ):  # fmt: skip
        cls = getattr(typing, kind)
        assert cls(bits) is found
        assert isinstance(found, cls)
        assert not isinstance(ms.bool_, cls)
        with pytest.raises(RuntimeError):
            cls(33)
    assert isinstance(ms.bool_, typing.Bool)
    assert not isinstance(ms.bfloat16, typing.Float)
    assert isinstance(ms.float32, typing.Type)
    assert typing.str_to_type("Float32") is typing.str_to_type("float32") is ms.float32
    assert mstype._issubclass_(ms.float32, mstype.number)
    assert mstype._issubclass_(ms.float32, ms.float32)
    assert not mstype._issubclass_(ms.float32, ms.int32)
    with pytest.raises(TypeError):
        Tensor([1], mstype.qint4x2)


@pytest.mark.parametrize(
    ("check", "arguments", "says"),
    (
        ("train._utils.check_value_type", ("a", "x", (int, float)), "valid type of ['int', 'float'], but got str."),
        ("train._utils.check_value_type", ("a", True, int), "For `a` the type should be a valid type of ['int'], but"),
        ("train._utils.check_value_type", ("a", None, int), "but got NoneType."),
        ("_checkparam.check_str_by_regular", ("a/b",), r"must be match regular'^\w+[0-9a-zA-Z\_\.]*$' by flags're.AS"),
        ("_checkparam.check_str_by_regular", ("",), "The '' is illegal"),
        ("_checkparam.check_str_by_regular", ("x", "^y", 256, "P"), "For 'P', the 'x' is illegal"),
        ("_checkparam.check_str_and_none_by_regular", ("a@",), r"regular'^\w*[0-9a-zA-Z\_\.\-]*$' by flags"),
        ("common.initializer._calculate_correct_fan", ((3, 4), "x"), "'mode' x not supported, please use one of"),
        ("common.initializer._calculate_correct_fan", ((3,), "fan_in"), "dimensions"),
        ("nn.layer.container._valid_index", (3, 5, "X"), "For 'X', the value of 'index' must be a number in range [-3"),
        ("nn.layer.container._valid_index", (3, "a", "X"), "For 'X', the type of 'index' must be int, but got str."),
        ("nn.layer.container._valid_cell", (3, "X"), "For 'X', each cell must be subclass of Cell, but got int."),
        ("DeviceCtx", ("cpu",), "For DeviceCtx, the name must be one of ['CPU', 'GPU', 'Ascend', 'meta'], but got cpu"),
    ),
)
def test_checks_refuse_with_the_words_of_mindspore(check: str, arguments: tuple[Any, ...], says: str) -> None:
    with pytest.raises((TypeError, ValueError, IndexError)) as caught:
        named(check)(*arguments)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("check", "arguments", "gives"),
    (
        ("train._utils.check_value_type", ("a", 1, (int, float)), None),
        ("_checkparam.check_str_by_regular", ("a.b_",), True),
        ("_checkparam.check_str_and_none_by_regular", ("",), True),
        ("common.initializer._calculate_correct_fan", ((3, 4, 5), "fan_out"), 15),
        ("common.initializer._calculate_correct_fan", ((3, 4), "FAN_IN"), 4),
        ("nn.layer.container._valid_index", (3, -3), 0),
        ("nn.layer.container._valid_cell", (nn.Cell(),), True),
        ("nn.layer.container._get_prefix_and_index", ({},), ("", 0)),
        ("nn.layer.container._get_prefix_and_index", ({"0": nn.Dense(1, 1)},), ("", 0)),
        ("context._get_mode", (), weft.PYNATIVE_MODE),
    ),
)
def test_checks_give_what_mindspore_gives(check: str, arguments: tuple[Any, ...], gives: Any) -> None:
    assert named(check)(*arguments) == gives


def test_positions_in_containers_follow_the_names_of_parameters() -> None:
    from mindspore.nn.layer.container import _get_prefix_and_index

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.CellList([nn.Dense(1, 1), nn.Dense(1, 1)])

    cells = {str(i): cell for i, cell in enumerate(Net().layers)}
    assert _get_prefix_and_index(cells) == ("layers.", 1)


def test_types_of_arguments_are_checked_where_a_function_says_so() -> None:
    from mindspore._checkparam import args_type_check

    @args_type_check(a=int, b=(float, str))
    def function(a: Any, b: Any = 1.0, c: Any = None) -> Any:
        return a, b, c

    class Kept:
        @args_type_check(x=int)
        def __init__(self, x: Any) -> None:
            self.x = x

    assert function(1, "x", 3) == (1, "x", 3)
    assert function(None) == (None, 1.0, None)
    assert Kept(3).x == 3
    for call, says in (
        (lambda: function(1.0), "The parameter 'a' must be <class 'int'>, but got <class 'float'>"),
        (lambda: function(1, 2), "The parameter 'b' must be (<class 'float'>, <class 'str'>), but got <class 'int'>"),
        (lambda: Kept("a"), "The parameter 'x' must be <class 'int'>, but got <class 'str'>"),
    ):
        with pytest.raises(TypeError) as caught:
            call()
        assert str(caught.value) == says


def test_how_a_program_is_spread() -> None:
    import mindspore as ms
    from mindspore.parallel._utils import _is_sharding_propagation

    assert not _is_sharding_propagation()
    try:
        ms.set_auto_parallel_context(search_mode="sharding_propagation")
        assert _is_sharding_propagation()
    finally:
        ms.reset_auto_parallel_context()


def test_values_are_drawn_as_initializers_draw_them() -> None:
    from mindspore.common.initializer import _init_random_normal, _init_random_uniform

    weft.set_seed(3)
    normal, uniform = _init_random_normal(2.0, 0.1, (1000,)), _init_random_uniform(-1, 1, (1000,))
    weft.set_seed(3)
    np.testing.assert_array_equal(normal, _init_random_normal(2.0, 0.1, (1000,)))
    assert normal.dtype == uniform.dtype == np.float32
    assert abs(normal.mean() - 2) < 0.02
    assert abs(normal.std() - 0.1) < 0.02
    assert -1 <= uniform.min() < -0.9 < 0.9 < uniform.max() <= 1


def test_a_device_for_a_block() -> None:
    import mindspore as ms

    before = weft.get_context("device_target")
    with ms.DeviceCtx("CPU"), ms.DeviceCtx("CPU", 0):
        assert (Tensor([1.0]) + 1).tolist() == [2.0]
        assert weft.get_context("device_target") == "CPU"
    assert weft.get_context("device_target") == before
    with pytest.raises(NotImplementedError):
        ms.DeviceCtx("meta")


def test_summaries_by_name_and_kind() -> None:
    from mindspore.train.summary.summary_record import _get_summary_tensor_data

    tensor, scalar, histogram = ops.TensorSummary(), ops.ScalarSummary(), ops.HistogramSummary()

    def note(x: Tensor) -> Tensor:
        tensor("a", x)
        scalar("b", x.sum())
        histogram("h", x)
        return x * 2

    for function in (note, jit(note)):
        _get_summary_tensor_data()
        function(Tensor([1.0, 2.0]))
        function(Tensor([3.0, 2.0]))
        found = {name: value.tolist() for name, value in _get_summary_tensor_data().items()}
        assert found == {"a[:Tensor]": [3.0, 2.0], "b[:Scalar]": 5.0, "h[:Histogram]": [3.0, 2.0]}
        assert _get_summary_tensor_data() == {}


def test_callbacks_are_called_together(capsys: pytest.CaptureFixture[str]) -> None:
    from mindspore.train.callback import Callback, _CallbackManager, _InternalCallbackParam

    class Say(Callback):
        def step_end(self, run_context: Any) -> None:
            print("step", run_context)

        def __exit__(self, *error: object) -> None:
            print("left")

    facts = _InternalCallbackParam()
    facts.epoch = 3
    assert (facts.epoch, dict(facts)) == (3, {"epoch": 3})
    with pytest.raises(KeyError):
        facts.other
    with _CallbackManager([Say(), Say()]) as callbacks:
        callbacks.on_train_step_end(1)
        callbacks.begin(2)
    assert capsys.readouterr().out.split("\n") == ["step 1", "step 1", "left", "left", ""]
    with _CallbackManager(None) as callbacks:
        callbacks.end(None)
    for bad, says in ((3, "The 'callbacks' is not a Callback"), ([3], "the elements in 'callbacks' must be")):
        with pytest.raises(TypeError, match=says):
            _CallbackManager(bad)


def test_functions_of_arrays_as_operators() -> None:
    from mindspore.ops.operations import PyFunc

    pair = [weft.float32, weft.float32], [(2,), (2,)]
    both = PyFunc(lambda a, b: (a + b, a * b), *pair, *pair)
    one = PyFunc(lambda a: a * 2, [weft.float32], [(2,)], [weft.float32], [(2,)])
    for values in ([1.0, 2.0], [5.0, -1.0]):
        a, b = Tensor(values), Tensor([3.0, 4.0])
        for call in (both, jit(lambda a, b: both(a, b)), lambda a, b: both((a, b))):
            total, product = call(a, b)
            np.testing.assert_array_equal(total.asnumpy(), a.asnumpy() + b.asnumpy())
            np.testing.assert_array_equal(product.asnumpy(), a.asnumpy() * b.asnumpy())
        for call in (one, jit(lambda a: one(a))):
            (doubled,) = call(a)
            assert doubled.tolist() == (2 * a).tolist()
    with pytest.raises(ValueError, match="differ in number"):
        PyFunc(lambda: None, [], [], [weft.float32], [])


RANDOM = np.random.default_rng(0)


def normal(*shape: int) -> Tensor:
    return Tensor(RANDOM.standard_normal(shape).astype(np.float32))


@pytest.mark.parametrize(
    ("step", "layer", "cell", "gates"),
    (
        ("_rnn_tanh_cell", "_DynamicRNNTanh", lambda: nn.RNNCell(3, 4), 1),
        ("_rnn_relu_cell", "_DynamicRNNRelu", lambda: nn.RNNCell(3, 4, nonlinearity="relu"), 1),
        ("_gru_cell", "_DynamicGRUCPUGPU", lambda: nn.GRUCell(3, 4), 3),
        ("_lstm_cell", "_DynamicLSTMCPUGPU", lambda: nn.LSTMCell(3, 4), 4),
    ),
)
def test_steps_of_recurrent_layers(step: str, layer: str, cell: Any, gates: int) -> None:
    from mindspore.nn.layer.rnn_cells import RNNCellBase

    net = cell()
    weights = (net.weight_ih, net.weight_hh, net.bias_ih, net.bias_hh)
    base = RNNCellBase(3, 4, True, gates)
    assert [p.shape for p in base.get_parameters()] == [p.shape for p in weights]
    one, walk = named(f"nn.layer.rnn_cells.{step}"), named(f"nn.layer.rnns.{layer}")()
    x, h = normal(5, 2, 3), (normal(2, 4), normal(2, 4)) if gates == 4 else normal(2, 4)
    wanted = h
    for t in range(5):
        previous, wanted = wanted, net(x[t], wanted)
    for call in (one, jit(lambda *args: one(*args))):
        found = call(x[4], previous, *weights)
        for a, b in zip(*((v if gates == 4 else (v,)) for v in (found, wanted)), strict=True):
            np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-5, atol=1e-6)
    for call in (walk, jit(lambda *args: walk(*args))):
        outputs, last = call(x, h, None, *weights)
        assert outputs.shape == (5, 2, 4)
        state = last[0] if gates == 4 else last
        np.testing.assert_allclose(state.asnumpy(), outputs[4].asnumpy(), rtol=1e-5)
    of_step = grad(lambda x: ops.sum(ops.square(one(x, previous, *weights)[0])))(x[4])
    of_cell = grad(lambda x: ops.sum(ops.square(net(x, previous)[0])))(x[4])
    np.testing.assert_allclose(of_step.asnumpy(), of_cell.asnumpy(), rtol=1e-5, atol=1e-6)


def test_images_in_another_size() -> None:
    import mindspore

    x = normal(1, 2, 3, 4)
    for halves in (False, True):
        cell = mindspore.nn.ResizeBilinear(halves)
        for corners in (False, True):
            if halves and corners:
                continue
            for call in (cell, jit(cell)):
                found = call(x, (6, 8), None, corners)
                again = call(x, None, 2, corners)
                wanted = mindspore.ops.ResizeBilinearV2(corners, halves)(x, (6, 8))
                np.testing.assert_allclose(found.asnumpy(), wanted.asnumpy(), rtol=1e-5)
                np.testing.assert_allclose(again.asnumpy(), wanted.asnumpy(), rtol=1e-5)
    with pytest.raises(ValueError, match="one of"):
        cell(x)


def test_powers_of_matrices() -> None:
    import mindspore.numpy as mnp

    rows = [[1.0, 2.0], [3.0, 4.0]]
    for n, wanted in ((3, [[37.0, 54.0], [81.0, 118.0]]), (0, [[1.0, 0.0], [0.0, 1.0]])):
        assert mnp.matrix_power(rows, n).tolist() == wanted
    assert mnp.matrix_power(Tensor([[1, 2], [3, 4]]), 2).tolist() == [[7, 10], [15, 22]]
    for bad, error in ((-1, ValueError), (1.5, TypeError)):
        with pytest.raises(error):
            mnp.matrix_power(rows, bad)


def test_names_that_are_others() -> None:
    import mindspore as ms
    from mindspore._c_expression import MSContext, TensorPy
    from mindspore._extends import cell_attr_register
    from mindspore.common._grad_function import _Function
    from mindspore.common._stub_tensor import StubTensor
    from mindspore.log import _get_logger
    from mindspore.multiprocessing import Process
    from mindspore.ops import DataType

    assert TensorPy is ms.Tensor is ms.mint.Tensor
    assert _Function is ms._Function
    assert ms.mint.functional.softmax is ms.mint.nn.functional.softmax
    assert ms.mint.nn.Cell is ms.nn.Cell
    assert not isinstance(Tensor([1]), StubTensor)
    assert isinstance(_get_logger(), logging.Logger)
    assert issubclass(Process, object)
    assert DataType.BF16_Default == ("bfloat16", "DefaultFormat")
    assert MSContext.get_instance().get_ascend_soc_version() == ""
    assert MSContext.get_instance() is MSContext.get_instance()

    class Block(ms.nn.Cell):
        @cell_attr_register(attrs=["width"])
        def __init__(self, width: int) -> None:
            super().__init__()

    assert Block(4).cell_init_args == "Block(width=4)"
    assert ms.nn.loss.loss._Loss().reduction == "mean"


def test_who_takes_part_and_images() -> None:
    import mindspore.dataset as ds
    from mindspore import ms_memory_recycle
    from mindspore._c_expression import current_stream
    from mindspore.communication import _comm_helper
    from mindspore.dataset.vision.py_transforms_util import hwc_to_chw, is_numpy
    from mindspore.nn.loss.loss import _check_is_tensor
    from mindspore.parallel._ps_context import _is_role_pserver, _is_role_sched, _is_role_worker

    ms_memory_recycle()
    assert current_stream() is not None
    assert [role() for role in (_is_role_pserver, _is_role_sched, _is_role_worker)] == [False] * 3
    assert not _comm_helper._is_mpi_available()
    assert _comm_helper._is_initialized() is False
    assert [each.value for each in ds.Implementation] == [0, 1]
    image = np.zeros((2, 3, 1))
    assert is_numpy(image)
    assert not is_numpy([1])
    assert (hwc_to_chw(image).shape, hwc_to_chw(image[..., 0]).shape) == ((1, 2, 3), (2, 3))
    with pytest.raises(TypeError, match="img should be NumPy array"):
        hwc_to_chw(3)
    assert _check_is_tensor("x", Tensor([1]), "N") is None
    with pytest.raises(TypeError, match="For 'N', the 'x' must be"):
        _check_is_tensor("x", 3, "N")
