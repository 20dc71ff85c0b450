"""What functions refuse before they compute: operands of two element types, settings of another class, floats for
Parameters of integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
import weft.mindspore
from weft import Parameter, Tensor, ops

WHOLE, HALF = Tensor([1.0, 2.0]), Tensor(np.array([1.0, 2.0], np.float16))


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", ["NextAfter", "Zeta", "Heaviside", "Igamma"])
def test_operands_are_alike(name: str, compiled: bool) -> None:
    operator = getattr(ops, name)()

    def call(x: Any, y: Any) -> Any:
        return operator(x, y)

    function = weft.jit(call) if compiled else call
    double = Tensor(np.array([1.0, 2.0]))
    assert function(WHOLE, WHOLE + 1).dtype is weft.float32
    with pytest.raises(TypeError, match="takes tensors of float32"):
        function(WHOLE, double)
    assert function(double, double + 1).dtype is weft.float64


def test_functions_of_mindspore_take_operands_that_are_alike() -> None:
    import mindspore

    with pytest.raises(TypeError, match="takes tensors of float32"):
        mindspore.ops.tensor_scatter_add(WHOLE, Tensor([[0]]), HALF[:1])
    assert mindspore.ops.tensor_scatter_add(WHOLE, Tensor([[0]]), WHOLE[:1]).asnumpy().tolist() == [2.0, 2.0]
    with pytest.raises(TypeError, match="takes tensors of float32"):
        mindspore.ops.zeta(WHOLE, other=Tensor(np.array([1.0])))


@pytest.mark.parametrize(
    ("name", "taken", "refused"),
    [
        ("Softmax", [(), (0,), ((0,),)], ["x", 1.5]),
        ("Stack", [(), (1,)], ["x", None, 1.5, True]),
        ("Squeeze", [(), (0,), ((0,),)], ["x", 1.5]),
        ("Pad", [(((1, 1),),)], ["x", 1.5, None]),
        ("BroadcastTo", [((2, 3),), ([2, 3],)], ["x", 1.5]),
        ("MaxPool", [(), (2,), ((2, 2),)], ["x", 1.5, None]),
    ],
)
def test_settings_of_operators(name: str, taken: list[Any], refused: list[Any]) -> None:
    cls = getattr(ops, name)
    for settings in taken:
        cls(*settings)
    for setting in refused:
        with pytest.raises(TypeError, match=f"{name}: "):
            cls(setting)


@pytest.mark.parametrize("compiled", [False, True])
def test_no_floats_for_integers(compiled: bool) -> None:
    kept = Parameter(Tensor([1, 2, 3]), name="kept")

    def add(updates: Any) -> Any:
        return ops.scatter_add(kept, Tensor([0]), updates)

    function = weft.jit(add) if compiled else add
    with pytest.raises(TypeError, match="do not fit a Parameter"):
        function(Tensor([1.5]))
    function(Tensor([4]))
    assert kept.asnumpy().tolist() == [5, 2, 3]


@pytest.mark.parametrize("compiled", [False, True])
def test_steps_give_tensors(compiled: bool) -> None:
    step = ops.ApplyMomentum()

    def update(p: Any, v: Any) -> Any:
        return step(p, v, 0.5, Tensor([1.0]), 0.9)

    p, v = Parameter(Tensor([1.0]), name="p"), Parameter(Tensor([0.0]), name="v")
    found = (weft.jit(update) if compiled else update)(p, v)
    assert type(found) is Tensor
    assert found.asnumpy().tolist() == p.asnumpy().tolist() == [0.5]


@pytest.mark.parametrize("compiled", [False, True])
def test_a_step_of_descent_gives_a_tensor(compiled: bool) -> None:
    step = ops.SGD(weight_decay=1)
    assert step.name == "SGD"

    def update(p: Any, v: Any, stat: Any) -> Any:
        return step(p, Tensor([1.0]), 0.25, v, 0.9, stat)

    p, v, stat = (Parameter(Tensor([value]), name=name) for name, value in (("p", 1.0), ("v", 0.0), ("stat", 1.0)))
    found = (weft.jit(update) if compiled else update)(p, v, stat)
    assert type(found) is Tensor
    assert found.asnumpy().tolist() == p.asnumpy().tolist() == [0.5]
    assert (v.asnumpy().tolist(), stat.asnumpy().tolist()) == ([2.0], [0.0])


@pytest.mark.parametrize("compiled", [False, True])
def test_diagonals(compiled: bool) -> None:
    def call(x: Any) -> Any:
        made = ops.matrix_diag(x, k=1, padding_value=9.0)
        return made, ops.matrix_diag_part(made, 1), ops.matrix_diag_part(made, Tensor([0, 1]), 0.0, "LEFT_LEFT")

    made, one, several = (weft.jit(call) if compiled else call)(WHOLE)
    assert made.asnumpy().tolist() == [[9, 1, 9], [9, 9, 2], [9, 9, 9]]
    assert one.asnumpy().tolist() == [1, 2]
    assert several.asnumpy().tolist() == [[1, 2, 0], [9, 9, 9]]
    gradient = weft.grad(lambda x: (ops.matrix_diag(x, k=-1) * 3.0).sum())(WHOLE)
    assert gradient.asnumpy().tolist() == [3, 3]


@pytest.mark.parametrize("compiled", [False, True])
def test_unfold_has_two_forms(compiled: bool) -> None:
    def call(x: Any) -> Any:
        return x.unfold(3, 2, 1), x.unfold(2), x.unfold((2, 2), stride=2), x.unfold(dimension=3, size=2, step=1)

    found = (weft.jit(call) if compiled else call)(ops.ones((1, 2, 4, 4), weft.float32))
    assert [each.shape for each in found] == [(1, 2, 4, 3, 2), (1, 8, 9), (1, 8, 4), (1, 2, 4, 3, 2)]
