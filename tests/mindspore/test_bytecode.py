"""What MindSpore's programs ask about functions that are compiled from bytecode."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from weft import Tensor, jit, nn
from weft.mindspore.bytecode import get_code_extra
from weft.mindspore.finder import resolve


def test_a_graph_and_its_breaks_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    @jit(mode="PIJit")
    def whole(x: Tensor) -> Tensor:
        return x * 2

    @jit(mode="PIJit")
    def broken(x: Tensor) -> Tensor:
        y = x + 1
        print(y.asnumpy())
        return y * 2

    for fn, breaks in ((whole, 0), (broken, 1)):
        before = get_code_extra(fn.__wrapped__)
        assert before == {"stat": "NEVER_COMPILE", "break_count_": 0, "compile_count_": 0}
        for value in (1.0, 2.0, 3.0):
            fn(Tensor([value]))
        found = get_code_extra(fn.__wrapped__)
        assert found == get_code_extra(fn)
        assert found is not None
        assert (found["stat"], found["break_count_"], found["compile_count_"]) == ("GRAPH_CALLABLE", breaks, 1 + breaks)
        assert set(found["code"]) == {"phase_", "guard_"}
    whole(Tensor(np.ones(2, np.int32)))
    again = get_code_extra(whole)
    assert again is not None
    assert again["compile_count_"] == 2
    assert capsys.readouterr().out == "[2.]\n[3.]\n[4.]\n"


def test_methods_of_cells_are_known_by_what_was_decorated() -> None:
    class Net(nn.Cell):
        @jit(mode="PIJit")
        def construct(self, x: Tensor) -> Tensor:
            return x + 1

    net = Net()
    net(Tensor([1.0]))
    found = get_code_extra(Net.construct.__wrapped__)  # type: ignore[attr-defined]
    assert found is not None
    assert (found["stat"], found["break_count_"]) == ("GRAPH_CALLABLE", 0)


def test_what_is_not_compiled_has_nothing_to_tell() -> None:
    def plain(x: Tensor) -> Tensor:
        return x

    assert get_code_extra(plain) is None
    assert get_code_extra(3) is None


def test_functions_are_not_kept_for_the_question() -> None:
    from weft.jit.function import original_dispatchers

    def count() -> int:
        gc.collect()
        return len(original_dispatchers)

    before = count()
    made = [jit(lambda x, k=k: x + k) for k in range(20)]
    assert count() == before + 20
    del made
    assert count() == before


def test_the_module_of_programs() -> None:
    module = "mindspore._c_expression"
    assert resolve(module, "get_code_extra") is get_code_extra
    assert resolve(module, "jit_mode_pi_enable")() is True
    assert resolve(module, "jit_mode_pi_disable")() is False
    resolve(module, "update_pijit_default_config")(loop_unrolling=True)
