"""Gradients of several steps, added up before the parameters are updated."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.autodiff.composite import HyperMap, MultitypeFuncGraph, partial
from weft.core import Parameter, Tensor
from weft.nn.cell import Cell
from weft.ops._checks import positive_ints
from weft.ops.create import zeros_like
from weft.ops.state import assign, assign_add

__all__ = ["GradientAccumulation", "gradient_accumulation_op", "gradient_clear_op"]

gradient_accumulation_op = MultitypeFuncGraph("gradient_accumulation_op")
gradient_clear_op = MultitypeFuncGraph("gradient_clear_op")


@gradient_accumulation_op.register("Number", "Tensor", "Tensor")
@gradient_accumulation_op.register("Tensor", "Tensor", "Tensor")
def _add_share(steps: Any, total: Any, gradient: Any) -> Any:
    return assign_add(total, (gradient / steps).astype(total.dtype))


@gradient_clear_op.register("Tensor")
def _clear(total: Any) -> Any:
    return assign(total, zeros_like(total))


class GradientAccumulation(Cell):
    """Updates parameters once for several steps, with the mean of their gradients.

    Args:
        max_accumulation_step: number of steps.
        optimizer: what updates the parameters.

    Raises:
        TypeError: `max_accumulation_step` is not an int.
        ValueError: it is not positive.

    Example:
        >>> from weft import nn
        >>> p = Parameter(Tensor([1.0]), name="p")
        >>> update = GradientAccumulation(2, nn.SGD([p], learning_rate=1.0))
        >>> for gradient in (0.25, 0.75):
        ...     loss = update(Tensor(0.0), (Tensor([gradient]),))
        ...     print(p.value())
        [1.]
        [0.5]
    """

    def __init__(self, max_accumulation_step: int, optimizer: Cell) -> None:
        super().__init__(auto_prefix=False)
        positive_ints("GradientAccumulation", max_accumulation_step=max_accumulation_step)
        self._max_accumulation_step = max_accumulation_step
        self.optimizer = optimizer
        self.weights = optimizer.parameters
        self.hyper_map = HyperMap()
        self._grad_accumulation = self.weights.clone(prefix="grad_accumulation", init="zeros")
        self._accumulation_step: Any = Parameter(Tensor(np.int32(0)), name="accumulation_step", requires_grad=False)

    def construct(self, loss: Any, grads: Any) -> Any:
        self.hyper_map(partial(gradient_accumulation_op, self._max_accumulation_step), self._grad_accumulation, grads)
        self._accumulation_step += 1
        if self._accumulation_step >= self._max_accumulation_step:
            self.optimizer(self._grad_accumulation)
            self.hyper_map(gradient_clear_op, self._grad_accumulation)
            self._accumulation_step = 0
        return loss
