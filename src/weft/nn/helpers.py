"""What programs import from files of MindSpore's `nn`: bases, helpers of containers, steps of recurrent layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft import dtypes
from weft.core import Tensor, shows
from weft.nn.cell import Cell
from weft.nn.declared import Described, Shown, declared, flag
from weft.nn.layer.recurrent import RecurrentCell
from weft.nn.loss import LossBase
from weft.ops.padding import resize_bilinear
from weft.ops.recurrent import recurrent_step, recurrent_walk

__all__ = [
    "DynamicGRU", "DynamicLSTM", "DynamicRNNRelu", "DynamicRNNTanh", "Loss", "RNNCellBase", "ResizeBilinear",
    "check_is_tensor", "gru_cell", "lstm_cell", "prefix_and_index", "rnn_relu_cell", "rnn_tanh_cell", "valid_cell",
    "valid_index",
]  # fmt: skip


class Loss(LossBase):
    """Base of losses under its former name, see `LossBase`.

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """


def check_is_tensor(param_name: str, input_data: Any, cls_name: str) -> None:
    """Check that an input of a loss is a tensor.

    Args:
        param_name: what it is called.
        input_data: the input.
        cls_name: the loss.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(input_data, Tensor):
        raise TypeError(f"For '{cls_name}', the '{param_name}' must be a Tensor, but got {type(input_data).__name__}")


class RNNCellBase(RecurrentCell):
    """Base of the cells of recurrent layers: the weights of a step, which `construct` of a derived class computes.

    Args:
        input_size: size of the input.
        hidden_size: size of the state.
        has_bias: whether there are biases.
        num_chunks: how many gates the weights are for.
        dtype: element type of the parameters.

    Example:
        >>> RNNCellBase(2, 3, True, 4).weight_ih.shape
        (12, 2)
    """

    def __init__(
        self, input_size: int, hidden_size: int, has_bias: bool, num_chunks: int, dtype: Any = dtypes.float32
    ) -> None:
        super().__init__(input_size, hidden_size, has_bias, dtype, num_chunks)


class ResizeBilinear(
    Shown, shows=("ResizeBilinear()(Tensor([[[[1.0, 3.0]]]]), size=(1, 3), align_corners=True)", "[[[[1. 2. 3.]]]]")
):
    """Images in another size, interpolated between four pixels; `interpolate` has taken its place.

    Args:
        half_pixel_centers: whether pixels are where their middles are.
    """

    @declared(half_pixel_centers=flag)
    def __init__(self, half_pixel_centers: bool = False) -> None: ...

    def construct(self, x: Tensor, size: Any = None, scale_factor: Any = None, align_corners: bool = False) -> Any:
        """The images.

        Args:
            x: tensor of shape (N, C, H, W).
            size: the height and the width.
            scale_factor: how many times larger they are than those of `x`, an int; in place of `size`.
            align_corners: whether the middles of the pixels in the corners stay where they are.

        Raises:
            ValueError: both, or none, of `size` and `scale_factor` are given.
        """
        if (size is None) == (scale_factor is None):
            raise ValueError("ResizeBilinear: give one of size and scale_factor")
        if size is None:
            size = tuple([int(n * scale_factor) for n in x.shape[2:]])
        return resize_bilinear(x, size, align_corners, self.half_pixel_centers)


# -- containers ----------------------------------------------------------------------------------------------------


def prefix_and_index(cells: Mapping[str, Cell]) -> tuple[str, int]:
    """What precedes the numbers of a container's cells in the names of their parameters, and the largest position.

    Args:
        cells: the cells by name.

    Example:
        >>> from weft import nn
        >>> prefix_and_index({"0": nn.Dense(1, 1)})
        ('', 0)
    """
    if not cells:
        return "", 0
    prefix = next(iter(cells.values())).param_prefix
    above = prefix.rpartition(".")[0]
    return (f"{above}." if above else ""), len(cells) - 1 if above else 0


@shows("valid_index(3, -1)", "2")
def valid_index(cell_num: int, index: Any, op_name: str | None = None) -> int:
    """The position that an index of a container of cells means.

    Args:
        cell_num: how many cells there are.
        index: position, from the end where it is negative.
        op_name: who asks.

    Raises:
        TypeError: the index is no int.
        IndexError: there is no such position.
    """
    start = f"For '{op_name}', the" if op_name else "The"
    if isinstance(index, bool) or not isinstance(index, int):
        raise TypeError(f"{start} type of 'index' must be int, but got {type(index).__name__}.")
    if not -cell_num <= index < cell_num:
        raise IndexError(
            f"{start} value of 'index' must be a number in range [{-cell_num}, {cell_num}), but got {index}."
        )
    return index % cell_num


def valid_cell(cell: Any, op_name: str | None = None) -> bool:
    """True, if a value is a Cell.

    Args:
        cell: the value.
        op_name: who asks.

    Raises:
        TypeError: it is none.
    """
    if isinstance(cell, Cell):
        return True
    start = f"For '{op_name}'," if op_name else ""
    raise TypeError(f"{start} each cell must be subclass of Cell, but got {type(cell).__name__}.")


# -- recurrent layers ----------------------------------------------------------------------------------------------


def rnn_tanh_cell(inputs: Any, hidden: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Any:
    """A step of a plain recurrent unit: the new state.

    Args:
        inputs: (N, I).
        hidden: the state (N, H).
        w_ih: weight of the input.
        w_hh: weight of the state.
        b_ih: bias, or None.
        b_hh: bias, or None.

    Example:
        >>> one = Tensor([[1.0]])
        >>> print(rnn_tanh_cell(one, one, one, -one, None, None))
        [[0.]]
    """
    return recurrent_step(inputs, hidden, None, w_ih, w_hh, b_ih, b_hh, "tanh")[0]


def rnn_relu_cell(inputs: Any, hidden: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Any:
    """`rnn_tanh_cell` with `relu`."""
    return recurrent_step(inputs, hidden, None, w_ih, w_hh, b_ih, b_hh, "relu")[0]


def gru_cell(inputs: Any, hidden: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Any:
    """A step of a gated recurrent unit, see `rnn_tanh_cell`."""
    return recurrent_step(inputs, hidden, None, w_ih, w_hh, b_ih, b_hh, "gru")[0]


def lstm_cell(inputs: Any, hidden: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Any:
    """A step of long short-term memory, see `rnn_tanh_cell`: states are pairs of state and cell state."""
    return recurrent_step(inputs, hidden[0], hidden[1], w_ih, w_hh, b_ih, b_hh, "lstm")


class DynamicRNNTanh(Described, Cell):
    """A recurrent layer along a sequence whose weights are given with each call.

    Example:
        >>> import weft
        >>> one = weft.Tensor([[1.0]])
        >>> outputs, state = DynamicRNNTanh()(weft.Tensor([[[0.0]], [[0.0]]]), one * 0, None, one, one, None, None)
        >>> outputs.shape, state.shape
        ((2, 1, 1), (1, 1))
    """

    _kind = "tanh"

    def construct(self, x: Any, h: Any, seq_length: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Any:
        """The outputs (T, N, H) and the last state.

        Args:
            x: (T, N, I).
            h: the first state (N, H).
            seq_length: valid steps of each sequence, or None.
            w_ih: weight of the input.
            w_hh: weight of the state.
            b_ih: bias, or None.
            b_hh: bias, or None.
        """
        return recurrent_walk(x, seq_length, h, None, w_ih, w_hh, b_ih, b_hh, self._kind)[:2]


class DynamicRNNRelu(DynamicRNNTanh, kind="relu"):
    """`DynamicRNNTanh` with `relu`."""


class DynamicGRU(DynamicRNNTanh, kind="gru"):
    """`DynamicRNNTanh` of gated recurrent units."""


class DynamicLSTM(DynamicRNNTanh):
    """`DynamicRNNTanh` of long short-term memory: states are pairs of state and cell state."""

    def construct(self, x: Any, h: Any, seq_length: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Any:
        """The outputs and the last pair of states."""
        outputs, state, cell = recurrent_walk(x, seq_length, h[0], h[1], w_ih, w_hh, b_ih, b_hh, "lstm")
        return outputs, (state, cell)
