"""Mixed precision: which cells compute in a half type, and loss scalers for training loops written by hand."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Final

from weft import dtypes
from weft.core.dispatch import apply
from weft.core.tensor import Parameter, Tensor
from weft.nn.cell import Cell
from weft.nn.hooks import cast_floating
from weft.nn.layer.basic import Dense
from weft.nn.layer.conv import Conv1d, Conv1dTranspose, Conv2d, Conv2dTranspose, Conv3d
from weft.nn.layer.normalization import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    GroupNorm,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
    LayerNorm,
)
from weft.nn.loss import LossBase
from weft.nn.loss_scale import NEXT_SCALE, TrainOneStepWithLossScaleCell, all_finite
from weft.nn.wrap import TrainOneStepCell, WithLossCell
from weft.train.loss_scale_manager import LossScaleManager

#: cells that gain from a half type
HALF_CELLS: Final[tuple[type[Cell], ...]] = (Dense, Conv1d, Conv2d, Conv3d, Conv1dTranspose, Conv2dTranspose)
#: cells that need float32
FULL_CELLS: Final[tuple[type[Cell], ...]] = (
    BatchNorm1d, BatchNorm2d, BatchNorm3d, LayerNorm, GroupNorm, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d,
    LossBase,
)  # fmt: skip


def get_white_list() -> list[type[Cell]]:
    """The cells that level O1 computes in a half type.

    Example:
        >>> from weft import nn
        >>> nn.Dense in get_white_list()
        True
    """
    return list(HALF_CELLS)


def get_black_list() -> list[type[Cell]]:
    """The cells that level O2 keeps in float32.

    Example:
        >>> from weft import nn
        >>> nn.LayerNorm in get_black_list()
        True
    """
    return list(FULL_CELLS)


def auto_mixed_precision(network: Cell, amp_level: str = "O0", dtype: Any = dtypes.float16) -> Cell:
    """Let parts of a network compute in a half type.

    Args:
        network: the network; it is changed, and returned.
        amp_level: ``"O0"`` nothing; ``"O1"`` the cells that gain (see `get_white_list`); ``"O2"`` and ``"auto"`` all
            but those that need float32 (see `get_black_list`); ``"O3"`` everything.
        dtype: float16 or bfloat16.

    Returns:
        Cell: the network, whose output is float32 at levels O1 and O2.

    Example:
        >>> from weft import nn
        >>> net = auto_mixed_precision(nn.SequentialCell(nn.Dense(2, 2), nn.LayerNorm((2,))), "O2")
        >>> net(Tensor([[1.0, 2.0]])).dtype
        mindspore.float32
    """
    wanted = dtypes.of(dtype)
    if not isinstance(network, Cell):
        raise TypeError(f"auto_mixed_precision: network must be a Cell, not {type(network).__name__}")
    if wanted not in (dtypes.float16, dtypes.bfloat16):
        raise ValueError(f"auto_mixed_precision: dtype must be float16 or bfloat16, not {wanted}")
    if amp_level not in ("O0", "O1", "O2", "O3", "auto"):
        raise ValueError(f"auto_mixed_precision: amp_level must be 'O0' to 'O3' or 'auto', not {amp_level!r}")
    if amp_level == "O0":
        return network
    if amp_level == "O3":
        return network.to_float(wanted)
    cells = [cell for _, cell in network.cells_and_names()]
    if amp_level == "O1":
        for cell in cells:
            if isinstance(cell, HALF_CELLS):
                cell.to_float(wanted)
    else:
        network.to_float(wanted)
        for cell in cells:
            if isinstance(cell, FULL_CELLS):
                cell.to_float(dtypes.float32)
    network.register_forward_hook(_to_full)
    return network


def build_train_network(
    network: Cell, optimizer: Any, loss_fn: Any = None, level: str = "O0", boost_level: str = "O0", **kwargs: Any
) -> Cell:
    """A network that trains in mixed precision: loss, gradients and the optimizer's step.

    Args:
        network: the network; without `loss_fn` it returns the loss.
        optimizer: updates the parameters.
        loss_fn: called with the network's output and the label.
        level: see `auto_mixed_precision`.
        boost_level: accepted.
        kwargs: `loss_scale_manager`, a manager of the loss scale; `cast_model_type` and `keep_batchnorm_fp32` are
            accepted.

    Returns:
        Cell: one step of training.

    Raises:
        ValueError: there is no such level or setting.

    Example:
        >>> from weft import nn
        >>> net = nn.Dense(1, 1, "ones", "zeros")
        >>> step = build_train_network(net, nn.SGD(net.trainable_params(), 0.25), nn.MSELoss(), level="O0")
        >>> print(step(Tensor([[1.0]]), Tensor([[0.0]])), net.weight.value())
        1.0 [[0.5]]
    """
    del boost_level
    unknown = set(kwargs) - {"loss_scale_manager", "cast_model_type", "keep_batchnorm_fp32"}
    if unknown:
        raise ValueError(f"build_train_network got unknown settings: {', '.join(sorted(unknown))}")
    network = auto_mixed_precision(network, level)
    if loss_fn is not None:
        network = WithLossCell(network, loss_fn)
    return training_step(network, optimizer, kwargs.get("loss_scale_manager"))


def training_step(network: Cell, optimizer: Any, manager: LossScaleManager | None) -> Cell:
    """One step of training of a network that returns its loss.

    Args:
        network: the network.
        optimizer: updates the parameters.
        manager: says which loss scale there is, None for none.
    """
    if manager is None:
        return TrainOneStepCell(network, optimizer)
    if manager.get_drop_overflow_update():
        scale = manager.get_update_cell() or Tensor(float(manager.get_loss_scale()))
        return TrainOneStepWithLossScaleCell(network, optimizer, scale)
    return TrainOneStepCell(network, optimizer, sens=manager.get_loss_scale())


def _to_full(cell: Cell, inputs: Any, output: Any) -> Any:
    return cast_floating(output, dtypes.float32)


def custom_mixed_precision(
    network: Cell, *, white_list: Any = None, black_list: Any = None, dtype: Any = dtypes.float16
) -> Cell:
    """Let the cells that a list names, or all but those, compute in a half type.

    Args:
        network: the network; it is changed, and returned.
        white_list: classes of cells that compute in the half type; operators compute in the types that they are given.
        black_list: in place of `white_list`: classes of cells that do not.
        dtype: float16 or bfloat16.

    Returns:
        Cell: the network, whose output is float32 with a `black_list`.

    Raises:
        TypeError: `network` is no Cell, or a list no list of classes.
        ValueError: there is not one of the lists, or another type.

    Example:
        >>> from weft import nn
        >>> net = custom_mixed_precision(nn.SequentialCell(nn.Dense(2, 2)), white_list=[nn.Dense])
        >>> net(Tensor([[1.0, 2.0]])).dtype
        mindspore.float16
    """
    wanted = dtypes.of(dtype)
    if not isinstance(network, Cell):
        raise TypeError(f"custom_mixed_precision: network must be a Cell, not {type(network).__name__}")
    if (white_list is None) == (black_list is None):
        raise ValueError("custom_mixed_precision takes a white_list or a black_list")
    if wanted not in (dtypes.float16, dtypes.bfloat16):
        raise ValueError(f"custom_mixed_precision: dtype must be float16 or bfloat16, not {wanted}")
    listed = black_list if white_list is None else white_list
    if not isinstance(listed, list) or not all(isinstance(kind, type) for kind in listed):
        raise TypeError(f"custom_mixed_precision: a list must hold classes, not {listed!r:.80}")
    kinds = tuple(kind for kind in listed if issubclass(kind, Cell))
    cells = [cell for _, cell in network.cells_and_names()]
    if white_list is not None:
        for cell in cells:
            if isinstance(cell, kinds):
                cell.to_float(wanted)
        return network
    network.to_float(wanted)
    for cell in cells:
        if isinstance(cell, kinds):
            cell.to_float(dtypes.float32)
    network.register_forward_hook(_to_full)
    return network


class LossScaler(ABC):
    """Base of the loss scalers that programs write.

    Example:
        >>> class Eightfold(LossScaler):
        ...     def scale(self, inputs):
        ...         return inputs * 8
        ...     def unscale(self, inputs):
        ...         return inputs / 8
        ...     def adjust(self, grads_finite):
        ...         return False
        >>> Eightfold().scale(2.0)
        16.0
    """

    @abstractmethod
    def scale(self, inputs: Any) -> Any:
        """Multiply a tensor, or each of a tuple, by the scale.

        Args:
            inputs: the tensor or tensors.
        """

    @abstractmethod
    def unscale(self, inputs: Any) -> Any:
        """Divide a tensor, or each of a tuple, by the scale.

        Args:
            inputs: the tensor or tensors.
        """

    @abstractmethod
    def adjust(self, grads_finite: Any) -> Any:
        """Note a step.

        Args:
            grads_finite: whether its gradients were finite.
        """


class StaticLossScaler(LossScaler):
    """A loss scale that stays: ``scale`` the loss, ``unscale`` the gradients.

    Args:
        scale_value: the scale.

    Example:
        >>> scaler = StaticLossScaler(8.0)
        >>> print(scaler.unscale(scaler.scale(Tensor(3.0))))
        3.0
    """

    def __init__(self, scale_value: float) -> None:
        if scale_value < 1:
            raise ValueError(f"{type(self).__name__}: scale_value must be at least 1, not {scale_value}")
        self.scale_value: Any = Parameter(Tensor(float(scale_value)), name="scale_value", requires_grad=False)

    def scale(self, inputs: Any) -> Any:
        """Multiply a tensor, or each of a tuple, by the scale.

        Args:
            inputs: the tensor or tensors.
        """
        return _each(inputs, lambda x: x * self.scale_value.astype(x.dtype))

    def unscale(self, inputs: Any) -> Any:
        """Divide a tensor, or each of a tuple, by the scale.

        Args:
            inputs: the tensor or tensors.
        """
        return _each(inputs, lambda x: (x.astype(dtypes.float32) / self.scale_value).astype(x.dtype))

    def adjust(self, grads_finite: Any) -> bool:
        """Note a step; the scale stays.

        Args:
            grads_finite: whether its gradients were finite.
        """
        del grads_finite
        return False


class DynamicLossScaler(StaticLossScaler):
    """A loss scale that shrinks after an overflow and grows after a run of good steps.

    Args:
        scale_value: initial scale.
        scale_factor: by how much it changes.
        scale_window: length of the run.

    Example:
        >>> scaler = DynamicLossScaler(8.0, 2, 100)
        >>> scaler.adjust(Tensor(False))
        True
        >>> print(scaler.scale_value.value())
        4.0
    """

    def __init__(self, scale_value: float, scale_factor: float, scale_window: int) -> None:
        super().__init__(scale_value)
        if scale_factor <= 1 or scale_window < 1:
            raise ValueError(f"DynamicLossScaler needs scale_factor > 1 and scale_window >= 1, got {scale_factor}, "
                             f"{scale_window}")  # fmt: skip
        self.scale_factor = float(scale_factor)
        self.scale_window = int(scale_window)
        self.counter = Parameter(Tensor(0, dtypes.int32), name="counter", requires_grad=False)

    def adjust(self, grads_finite: Any) -> bool:
        """Move the scale.

        Args:
            grads_finite: whether the step's gradients were finite.
        """
        finite = grads_finite if isinstance(grads_finite, Tensor) else Tensor(bool(grads_finite))
        results = apply(NEXT_SCALE, (self.scale_value, self.counter, finite), (self.scale_factor, self.scale_window))
        self.scale_value.rebind(results[0])
        self.counter.rebind(results[1])
        return True


def _each(inputs: Any, change: Any) -> Any:
    if isinstance(inputs, (tuple, list)):
        return type(inputs)([_each(x, change) for x in inputs])
    return change(inputs)


__all__ = [
    "DynamicLossScaler", "LossScaler", "StaticLossScaler", "all_finite", "auto_mixed_precision", "build_train_network",
    "custom_mixed_precision", "get_black_list", "get_white_list",
]  # fmt: skip
