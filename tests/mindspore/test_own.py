"""Names of MindSpore around operators of a program's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.helpers.compiled import compiler
from weft import Tensor, grad, ops
from weft.mindspore.custom_info import CustomRegOp, DataType
from weft.mindspore.extras import add_flags, core, switch

MODES = pytest.mark.parametrize("mode", ("eager", "auto"))


def test_what_is_said_about_a_custom_operator() -> None:
    info = (
        CustomRegOp("Add")
        .input(0, "x", "dynamic")
        .output(0, "y", shape="all")
        .attr("axis", value_type="int", default_value="1")
        .dtype_format(DataType.F16_Default, DataType.F16_Default)
        .dtype_format(DataType.I32_NCHW, DataType.None_None)
        .target("CPU")
        .get_op_info()
    )
    assert info == {
        "op_name": "Add",
        "inputs": [{"index": 0, "name": "x", "param_type": "dynamic"}],
        "outputs": [{"index": 0, "name": "y", "param_type": "required", "shape": "all"}],
        "attr": [{"name": "axis", "value_type": "int", "default_value": "1"}],
        "dtype_format": [(("float16", "DefaultFormat"),) * 2, (("int32", "NCHW"), ("", ""))],
        "target": "CPU",
    }
    double = ops.Custom(lambda x: x * 2, lambda x: x, lambda x: x, "pyfunc", reg_info=info)
    assert double(Tensor([1.0])).asnumpy().tolist() == [2.0]
    with pytest.raises(TypeError, match="op_name is the name"):
        CustomRegOp("")


@MODES
def test_flags_and_marked_functions(mode: str) -> None:
    @add_flags(has_effect=True)
    @core(loop_can_uncast=True)
    def double(x: Any) -> Any:
        return x * 2

    assert double._mindspore_flags == {"has_effect": True, "core": True, "loop_can_uncast": True}
    assert compiler(mode)(lambda x: double(x))(Tensor([1.0])).asnumpy().tolist() == [2.0]


@MODES
def test_switch(mode: str) -> None:
    def f(x: Any, flag: Any) -> Any:
        return switch(x.sum() > 2, lambda v: v * 2, lambda v: v * v)(x) + switch(flag, x, x * 10)

    run = compiler(mode)(f)
    for values in ([1.0, 2.0], [0.5, 1.0]):
        for flag in (True, False):
            x = np.array(values, np.float32)
            expected = (x * 2 if x.sum() > 2 else x * x) + (x if flag else x * 10)
            np.testing.assert_allclose(run(Tensor(x), flag), expected)
    found = grad(lambda x: run(x, True).sum())(Tensor([0.5, 1.0]))
    np.testing.assert_allclose(found, [2.0, 3.0])
