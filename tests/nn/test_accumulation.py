"""Gradients of several steps added up, and what optimizers keep of their arguments: answers of MindSpore 2.10."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from weft import Parameter, Tensor, nn
from weft.nn.accumulation import GradientAccumulation, gradient_accumulation_op, gradient_clear_op
from weft.nn.optim.optimizer import Optimizer, opt_init_args_register
from weft.ops.sparse import RowTensor


@pytest.mark.parametrize("compiled", [False, True])
def test_every_second_step_updates(compiled: bool) -> None:
    p = Parameter(Tensor([1.0]), name="p")
    optimizer = nn.SGD([p], learning_rate=1.0)
    update: Any = GradientAccumulation(2, optimizer)
    step = weft.jit(lambda loss, g: update(loss, (g,))) if compiled else lambda loss, g: update(loss, (g,))
    seen = []
    for gradient in (0.25, 0.75, 0.5, 0.5):
        assert step(Tensor(3.0), Tensor([gradient])).item() == 3.0
        total = update._grad_accumulation[0].asnumpy().item()
        seen.append((p.asnumpy().item(), total, update._accumulation_step.item(), optimizer.global_step.item()))
    assert seen == [(1.0, 0.125, 1, 0), (0.5, 0.0, 0, 1), (0.5, 0.25, 1, 1), (0.0, 0.0, 0, 2)]
    assert list(update.parameters_dict())[:3] == ["p", "grad_accumulation.p", "accumulation_step"]


@pytest.mark.parametrize("steps", [2, Tensor(2, weft.int32)])
def test_operations_on_totals(steps: Any) -> None:
    p = Parameter(Tensor([1.0, 2.0]), name="p")
    gradient_accumulation_op(steps, p, Tensor([1.0, 1.0]))
    assert p.asnumpy().tolist() == [1.5, 2.5]
    gradient_clear_op(p)
    assert p.asnumpy().tolist() == [0.0, 0.0]


@pytest.mark.parametrize(("steps", "error"), [(0, ValueError), (1.5, TypeError), (True, TypeError)])
def test_wrong_number_of_steps(steps: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="max_accumulation_step"):
        GradientAccumulation(steps, nn.SGD([Parameter(Tensor([1.0]), name="p")], 1.0))


class Plain(Optimizer):
    @opt_init_args_register
    def __init__(self, params: Any, learning_rate: float = 0.1, beta: float = 0.9, **more: Any) -> None:
        super().__init__(learning_rate, params)

    @Optimizer.target.setter  # type: ignore[attr-defined]
    def target(self, value: str) -> None:
        self._set_base_target(value)


def test_arguments_are_kept() -> None:
    parameters = [Parameter(Tensor([1.0]), name="p")]
    made = Plain(parameters, 0.5, beta=0.8)
    assert made.init_params == {"params": parameters}
    assert made.init_learning_rate == 0.5
    assert made.init_args == {"beta": 0.8, "more": {}}


def test_target() -> None:
    made = Plain([Parameter(Tensor([1.0]), name="p")])
    made.target = made.target
    for wrong, error in ((3, TypeError), ("foo", ValueError)):
        with pytest.raises(error, match="target"):
            made.target = wrong


def test_row_tensors() -> None:
    rows = RowTensor(Tensor([0]), Tensor([[1.0, 2.0]]), (3, 2))
    copy = RowTensor(row_tensor=rows)
    assert (copy.indices, copy.values, copy.dense_shape) == (rows.indices, rows.values, (3, 2))
    doubled = weft.jit(lambda v: RowTensor(rows.indices, v * 2, (3, 2)).values)(rows.values)
    assert doubled.asnumpy().tolist() == [[2.0, 4.0]]
    for wrong in ((1, rows.values, (3, 2)), (rows.indices, 1, (3, 2)), (rows.indices, rows.values, [3, 2])):
        with pytest.raises(TypeError, match="RowTensor"):
            RowTensor(*wrong)


class OfPairs(Optimizer):
    """Written against the attributes that MindSpore's base class has."""

    def __init__(self, params: Any, learning_rate: Any, weight_decay: Any = 0.0) -> None:
        super().__init__(learning_rate, params, weight_decay)

    def construct(self, gradients: Any) -> Any:
        rates: Any = self.learning_rate
        if self.dynamic_lr:
            rates = rates(self.global_step).reshape(())
        if self._is_dynamic_lr_or_weight_decay():
            self.assignadd(self.global_step, self.global_step_increase_tensor)
        decays = self.weight_decay if self.is_group else (Tensor(self.weight_decay),) * self.param_length

        def update(decay: Any, parameter: Any, gradient: Any, decayed: bool, wanted: bool) -> Any:
            assert wanted
            change = gradient + decay * parameter if decayed else gradient
            return weft.ops.assign_sub(parameter, rates * change)

        flags = (self.decay_flags, self.optim_filter)
        done = self.hyper_map(update, decays, self.parameters, self._grad_sparse_indices_deduplicate(gradients), *flags)
        return self.broadcast_params(done) if self.use_parallel else done


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("rate", [0.5, [0.5, 0.25], Tensor([0.5, 0.25])])
def test_an_optimizer_of_the_program(rate: Any, compiled: bool) -> None:
    p, q = Parameter(Tensor([1.0]), name="p"), Parameter(Tensor([2.0]), name="q")
    made = OfPairs([{"params": [p], "weight_decay": 0.5}, {"params": [q]}], rate)
    step = weft.jit(lambda a, b: made((a, b))) if compiled else lambda a, b: made((a, b))
    rates = [0.5] * 3 if isinstance(rate, float) else [0.5, 0.25, 0.25]
    first, second = 1.0, 2.0
    for now in rates:
        step(Tensor([0.5]), Tensor([1.0]))
        first, second = first - now * (0.5 + 0.5 * first), second - now
    assert (p.asnumpy().item(), q.asnumpy().item()) == pytest.approx((first, second))


class WrittenOut(nn.TrainOneStepWithLossScaleCell):
    """A step as programs write it against the parts of MindSpore's class."""

    def construct(self, *inputs: Any) -> Any:
        loss = self.network(*inputs)
        scale = self.scale_sense
        status, scale = self.start_overflow_check(loss, scale)
        grads = self.grad(self.network, self.weights)(*inputs, weft.ops.ones_like(loss) * scale.astype(loss.dtype))
        grads = self.hyper_map(lambda gradient: gradient / scale.astype(gradient.dtype), grads)
        grads = self.grad_reducer(grads)
        overflow = self.process_loss_scale(self.get_overflow_status(status, grads))
        if not overflow:
            self.optimizer(grads)
        return loss, overflow, scale


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("moving", [False, True])
def test_a_step_with_a_scale_written_out(moving: bool, compiled: bool) -> None:
    found = []
    for kind in (nn.TrainOneStepWithLossScaleCell, WrittenOut):
        net = nn.Dense(1, 1, "ones", "zeros")
        scale = nn.DynamicLossScaleUpdateCell(8.0, 2, 2) if moving else Tensor(8.0)
        cell = kind(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.125), scale)
        step = weft.jit(lambda x, y, cell=cell: cell(x, y)) if compiled else cell
        seen = []
        for x in (1.0, 2.0, float("inf"), 1.0, 1.5, 1.0):
            _, overflow, _ = step(Tensor([[x]]), Tensor([[0.5]]))
            seen.append((overflow.item(), cell.scale_sense.item(), net.weight.asnumpy().item()))
        found.append(seen)
    assert found[0] == found[1]
    assert [overflow for overflow, _, _ in found[0]] == [False, False, True, False, False, False]


#: the scale before each step; the flags are those that MindSpore 2.10 returned, the scales those it left
MOVES = [
    (3, 2, "...o....o.o.......", [16, 16, 32, 16, 16, 16, 32, 32, 16, 16, 8, 8, 8, 16, 16, 16, 32, 32]),
    (1, 2, "..o..oo...", [32, 64, 32, 64, 128, 64, 32, 64, 128, 256]),
    (2, 4, "oo....o....", [4, 1, 1, 4, 4, 16, 4, 4, 16, 16, 64]),
]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(("window", "factor", "flags", "scales"), MOVES)
@pytest.mark.parametrize("shape", [(), (1,)])
def test_a_scale_of_the_program_is_moved(
    window: int, factor: int, flags: str, scales: list[float], shape: tuple[int, ...], compiled: bool
) -> None:
    update = nn.DynamicLossScaleUpdateCell(16.0, factor, window)
    scale = Parameter(Tensor(16.0).reshape(shape), name="mine")

    def step(overflow: Tensor) -> Tensor:
        return update(scale, overflow)

    called = weft.jit(step) if compiled else step
    for number, (flag, expected) in enumerate(zip(flags, scales, strict=True)):
        assert called(Tensor(flag == "o")).item() is (flag == "o")
        assert scale.asnumpy().tolist() == np.full(shape, expected).tolist()
        assert scale.shape == shape
        assert update.cur_iter.item() == number + 2
    assert update.get_loss_scale() == 16.0
    assert [p.name for p in update.get_parameters()] == ["current_iterator_step", "last_overflow_iterator_step"]


def test_a_scale_that_is_moved_is_one_for_its_views() -> None:
    update, scales = nn.DynamicLossScaleUpdateCell(16.0, 2, 3), Tensor([16.0, 4.0])
    update(scales[:1], True)
    assert scales.tolist() == [8.0, 4.0]


@pytest.mark.parametrize("compiled", [False, True])
def test_a_fixed_scale_says_what_it_was_told(compiled: bool) -> None:
    update, scale = nn.FixedLossScaleUpdateCell(8.0), Parameter(Tensor(8.0), name="mine")
    step = weft.jit(lambda overflow: update(scale, overflow)) if compiled else lambda overflow: update(scale, overflow)
    assert step(Tensor(True)).item() is True
    assert step(Tensor(False)).item() is False
    assert scale.item() == update.get_loss_scale() == 8.0


class WithAScaleOfItsOwn(nn.TrainOneStepWithLossScaleCell):
    """As steps of published training scripts are: with a second scale, and the optimizer under a condition."""

    def __init__(self, network: nn.Cell, optimizer: Any, scale_update_cell: Any) -> None:
        super().__init__(network, optimizer, scale_update_cell)
        self.loss_scale = Parameter(Tensor(scale_update_cell.get_loss_scale(), weft.float32))

    def construct(self, *inputs: Any) -> Any:
        loss = self.network(*inputs)
        status, scale = self.start_overflow_check(loss, self.loss_scale)
        grads = self.grad(self.network, self.weights)(*inputs, weft.ops.ones_like(loss) * scale.astype(loss.dtype))
        grads = self.hyper_map(lambda gradient: gradient / scale.astype(gradient.dtype), grads)
        condition = self.get_overflow_status(status, grads)
        overflow = self.loss_scaling_manager(self.loss_scale, condition)
        if not overflow:
            self.optimizer(grads)
        return loss, condition, scale.value()


@pytest.mark.parametrize("compiled", [False, True])
def test_a_step_with_a_scale_of_its_own(compiled: bool, tmp_path: Any) -> None:
    net = nn.Dense(1, 1, "ones", "zeros")
    update = nn.DynamicLossScaleUpdateCell(8.0, 2, 2)
    cell = WithAScaleOfItsOwn(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.125), update)
    step = weft.jit(lambda x, y: cell(x, y)) if compiled else cell
    seen = []
    for x in (1.0, float("inf"), 1.0, 1.5):
        before = net.weight.item()
        _, overflow, _ = step(Tensor([[x]]), Tensor([[0.5]]))
        seen.append((overflow.item(), cell.loss_scale.item(), net.weight.item() != before))
    assert seen == [(False, 8.0, True), (True, 4.0, False), (False, 4.0, True), (False, 8.0, True)]
    assert cell.scale_sense.item() == 8.0
    weft.save_checkpoint(cell, str(tmp_path / "step.ckpt"))
    assert {"scale_sense", "loss_scale"} < set(weft.load_checkpoint(str(tmp_path / "step.ckpt")))


def test_parameters_are_asked_whether_they_are_cached() -> None:
    p = Parameter(Tensor([1.0]), name="p")
    assert p.cache_enable is False
    p.cache_enable = True
    assert p.cache_enable is True
