"""Loss-scale managers: how `Model` scales the loss."""

from __future__ import annotations

from abc import ABC, abstractmethod

from weft.nn.cell import Cell
from weft.nn.loss_scale import DynamicLossScaleUpdateCell


class LossScaleManager(ABC):
    """Base of the managers.

    Example:
        >>> FixedLossScaleManager(8.0).get_loss_scale()
        8.0
    """

    @abstractmethod
    def get_loss_scale(self) -> float:
        """The current scale."""

    @abstractmethod
    def update_loss_scale(self, overflow: bool) -> None:
        """Note a step.

        Args:
            overflow: whether it overflowed.
        """

    @abstractmethod
    def get_update_cell(self) -> Cell | None:
        """A cell that updates the scale inside the step, or None."""

    def get_drop_overflow_update(self) -> bool:
        """Whether a step that overflows is left out."""
        return False


class FixedLossScaleManager(LossScaleManager):
    """A scale that stays.

    Args:
        loss_scale: the scale.
        drop_overflow_update: leave out steps that overflow.

    Example:
        >>> FixedLossScaleManager().get_loss_scale()
        128.0
    """

    def __init__(self, loss_scale: float = 128.0, drop_overflow_update: bool = True) -> None:
        if loss_scale < 1:
            raise ValueError(f"FixedLossScaleManager: loss_scale must be at least 1, not {loss_scale}")
        self._loss_scale = float(loss_scale)
        self._drop_overflow_update = bool(drop_overflow_update)

    def get_loss_scale(self) -> float:
        return self._loss_scale

    def update_loss_scale(self, overflow: bool) -> None:
        del overflow  # the scale stays

    def get_drop_overflow_update(self) -> bool:
        return self._drop_overflow_update

    def get_update_cell(self) -> Cell | None:
        return None


class DynamicLossScaleManager(LossScaleManager):
    """A scale that shrinks after an overflow and grows after a run of good steps.

    Args:
        init_loss_scale: initial scale.
        scale_factor: by how much it changes.
        scale_window: length of the run.

    Example:
        >>> manager = DynamicLossScaleManager(16.0, 2, 100)
        >>> manager.update_loss_scale(overflow=True)
        >>> manager.get_loss_scale()
        8.0
    """

    def __init__(self, init_loss_scale: float = 2.0**24, scale_factor: int = 2, scale_window: int = 2000) -> None:
        if init_loss_scale < 1 or scale_factor <= 1 or scale_window < 1:
            raise ValueError(
                "DynamicLossScaleManager needs init_loss_scale >= 1, scale_factor > 1 and scale_window >= 1, got "
                f"{init_loss_scale}, {scale_factor} and {scale_window}"
            )
        self.loss_scale = float(init_loss_scale)
        self.scale_factor = scale_factor
        self.scale_window = scale_window
        self._good_steps = 0

    def get_loss_scale(self) -> float:
        return self.loss_scale

    def update_loss_scale(self, overflow: bool) -> None:
        if overflow:
            self.loss_scale = max(self.loss_scale / self.scale_factor, 1.0)
            self._good_steps = 0
            return
        self._good_steps += 1
        if self._good_steps >= self.scale_window:
            self.loss_scale *= self.scale_factor
            self._good_steps = 0

    def get_drop_overflow_update(self) -> bool:
        return True

    def get_update_cell(self) -> Cell | None:
        return DynamicLossScaleUpdateCell(self.loss_scale, self.scale_factor, self.scale_window)
