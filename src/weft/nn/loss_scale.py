"""Training with a loss scale, which keeps small float16 gradients from becoming zero."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from weft import dtypes
from weft.autodiff.composite import HyperMap
from weft.core import Parameter, Primitive, Tensor, apply, shows
from weft.nn.cell import Cell
from weft.nn.declared import declared
from weft.nn.wrap import TrainOneStepCell, loss_and_gradients
from weft.ops.state import assign, current_value


def _all_finite(*arrays: Any) -> Any:
    return jnp.all(jnp.stack([jnp.all(jnp.isfinite(a)) for a in arrays]))


def _select_many(flag: Any, *arrays: Any) -> tuple[Any, ...]:
    count = len(arrays) // 2
    return tuple(jnp.where(flag.reshape(()), a, b) for a, b in zip(arrays[:count], arrays[count:], strict=True))


def _unscaled(scale: Any, *gradients: Any) -> tuple[Any, ...]:
    factor = 1.0 / scale.reshape(())
    return tuple((g.astype(jnp.float32) * factor).astype(g.dtype) for g in gradients)


def _next_scale(scale: Any, good_steps: Any, finite: Any, *, factor: float, window: int) -> tuple[Any, Any]:
    finite = finite.reshape(())
    good = jnp.where(finite, good_steps + 1, 0)
    raised = good >= window
    new = jnp.where(finite, jnp.where(raised, scale * factor, scale), jnp.maximum(scale / factor, 1.0))
    # a scale that overflows float32 helps nobody
    return jnp.where(jnp.isfinite(new), new, scale).astype(scale.dtype), jnp.where(raised, 0, good)


_WHY = "a decision about the step"
ALL_FINITE = Primitive("AllFinite", _all_finite, no_gradient=_WHY)
SELECT_MANY = Primitive("SelectMany", _select_many, multiple=True)
UNSCALE = Primitive("UnscaleGradients", _unscaled, multiple=True)
NEXT_SCALE = Primitive("NextLossScale", _next_scale, attr_names=("factor", "window"), multiple=True, no_gradient=_WHY)


@shows('all_finite([Tensor([1.0]), Tensor([float("inf")])])', "False")
def all_finite(tensors: Any) -> Tensor:
    """Whether no element of any tensor is infinite or not a number.

    Args:
        tensors: a tuple or list of Tensors.

    Returns:
        Tensor: a bool.
    """
    found = (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)
    return apply(ALL_FINITE, found) if found else Tensor(True)


def _none_of(overflow: Any) -> Tensor:
    """Whether a step is done, from what says that it overflowed."""
    found = overflow if isinstance(overflow, Tensor) else Tensor(bool(overflow))
    return found.reshape(()).astype(dtypes.bool_).logical_not()


class DynamicLossScaleUpdateCell(Cell):
    """A loss scale that shrinks after an overflow and grows after a run of good steps.

    Args:
        loss_scale_value: initial scale.
        scale_factor: by how much it changes.
        scale_window: length of the run.

    Example:
        >>> update, scale = DynamicLossScaleUpdateCell(8.0, 2, 100), Parameter(Tensor(8.0), name="scale")
        >>> print(update(scale, Tensor(True)), scale.value())
        True 4.0
    """

    def __init__(self, loss_scale_value: float, scale_factor: float, scale_window: int) -> None:
        super().__init__()
        if loss_scale_value < 1:
            raise ValueError(f"loss_scale_value must be at least 1, not {loss_scale_value}")
        if scale_factor <= 1:
            raise ValueError(f"scale_factor must be above 1, not {scale_factor}")
        if isinstance(scale_window, bool) or not isinstance(scale_window, int) or scale_window < 1:
            raise ValueError(f"scale_window must be a positive int, not {scale_window!r}")
        self.scale_factor = float(scale_factor)
        self.scale_window = scale_window
        self.loss_scale_value = loss_scale_value
        #: the number of the next step, and of the last one that changed the scale
        first, before = Tensor(1, dtypes.int32), Tensor(0, dtypes.int32)
        self.cur_iter = Parameter(first, name="current_iterator_step", requires_grad=False)
        self.last_overflow_iter = Parameter(before, name="last_overflow_iterator_step", requires_grad=False)

    def get_loss_scale(self) -> float:
        """The initial scale, as it was given."""
        return self.loss_scale_value

    def construct(self, loss_scale: Any, overflow: Any) -> Any:
        """Move a scale.

        Args:
            loss_scale: the Tensor with the scale, which is written.
            overflow: whether the step overflowed.

        Returns:
            `overflow`.
        """
        now = current_value(self.cur_iter)
        good_steps = now - self.last_overflow_iter - 1
        operands = loss_scale, good_steps, _none_of(overflow)
        scale, good_steps = apply(NEXT_SCALE, operands, (self.scale_factor, self.scale_window))
        if isinstance(loss_scale, Tensor):
            assign(loss_scale, scale)
        self.last_overflow_iter.rebind(now - good_steps)
        self.cur_iter.rebind(now + 1)
        return overflow


class FixedLossScaleUpdateCell(Cell):
    """A loss scale that stays.

    Args:
        loss_scale_value: the scale.

    Example:
        >>> FixedLossScaleUpdateCell(8.0).get_loss_scale()
        8.0
    """

    @declared()
    def __init__(self, loss_scale_value: float) -> None: ...

    def get_loss_scale(self) -> float:
        """The scale, as it was given."""
        return self.loss_scale_value

    def construct(self, loss_scale: Any, overflow: Any) -> Any:
        """Returns whether the step overflowed.

        Args:
            loss_scale: the scale.
            overflow: whether the step overflowed.
        """
        del loss_scale
        return overflow


class TrainOneStepWithLossScaleCell(TrainOneStepCell):
    """One step of training with a loss scale; a step whose gradients overflow changes nothing but the scale.

    Args:
        network: a network that returns the loss.
        optimizer: updates the parameters it was made with.
        scale_sense: a Tensor with the scale, or a cell that updates it.

    Returns:
        tuple: loss, whether the step overflowed, and the scale it used.

    Example:
        >>> from weft import nn
        >>> net = nn.Dense(1, 1, "ones", "zeros")
        >>> loss = nn.WithLossCell(net, nn.MSELoss())
        >>> step = TrainOneStepWithLossScaleCell(loss, nn.SGD(net.trainable_params(), 0.25), Tensor(8.0))
        >>> value, overflow, scale = step(Tensor([[1.0]]), Tensor([[0.0]]))
        >>> print(value, overflow, scale, net.weight.value())
        1.0 False 8.0 [[0.5]]
    """

    def __init__(self, network: Cell, optimizer: Any, scale_sense: Any) -> None:
        super().__init__(network, optimizer)
        self.hyper_map = HyperMap()
        self.loss_scaling_manager: Any = None
        if isinstance(scale_sense, Cell):
            self.loss_scaling_manager = scale_sense
            value = float(scale_sense.get_loss_scale())
        elif isinstance(scale_sense, Tensor):
            if scale_sense.size != 1:
                raise ValueError(f"scale_sense must have one element, not shape {scale_sense.shape}")
            value = float(scale_sense)
        else:
            raise TypeError(f"scale_sense must be a Tensor or a Cell, not {type(scale_sense).__name__}")
        self.scale_sense = Parameter(Tensor(value, dtypes.float32), name="scale_sense", requires_grad=False)

    def set_sense_scale(self, sens: Any) -> None:
        """Replace the scale.

        Args:
            sens: a Tensor with one element, or a number.
        """
        new = sens if isinstance(sens, Tensor) else Tensor(float(sens), dtypes.float32)
        if new.size != 1:
            raise ValueError(f"the scale must have one element, not shape {new.shape}")
        self.scale_sense.set_data(new.reshape(self.scale_sense.shape))

    # -- parts for subclasses that write out the step ------------------------------------------------------

    def start_overflow_check(self, pre_cond: Any, compute_input: Any) -> tuple[Any, Any]:
        """Begin to look for overflows; here what was computed is looked at afterwards.

        Args:
            pre_cond: what comes before.
            compute_input: what is computed with.

        Returns:
            tuple: a status for `get_overflow_status`, and `compute_input`.
        """
        del pre_cond
        return False, compute_input

    def get_overflow_status(self, status: Any, compute_output: Any) -> Tensor:
        """Whether something that was computed is not finite.

        Args:
            status: what `start_overflow_check` gave.
            compute_output: a Tensor, or a tuple of them.
        """
        del status
        return all_finite(compute_output).logical_not()

    def process_loss_scale(self, overflow: Tensor) -> Tensor:
        """Move the scale, where a cell does that.

        Args:
            overflow: whether the step overflowed.

        Returns:
            Tensor: `overflow`.
        """
        manager = self.loss_scaling_manager
        return overflow if manager is None else manager(self.scale_sense, overflow)

    def construct(self, *inputs: Any) -> Any:
        scale = current_value(self.scale_sense)
        status, scale = self.start_overflow_check(scale, scale)
        loss, grads = loss_and_gradients(self.network, self.weights, inputs, scale)
        grads = self.grad_reducer(apply(UNSCALE, (scale, *grads)))
        condition = self.get_overflow_status(status, grads)
        finite = _none_of(self.process_loss_scale(condition))
        targets = self.optimizer.targets
        before = [current_value(target) for target in targets]
        self.optimizer(grads)
        chosen = apply(SELECT_MANY, (finite, *targets, *before))
        for target, value in zip(targets, chosen, strict=True):
            target.rebind(value)
        return loss, condition, scale
