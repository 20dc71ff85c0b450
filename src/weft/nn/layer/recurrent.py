"""Recurrent layers and cells."""

from __future__ import annotations

import itertools
import math
from typing import Any

from weft import dtypes
from weft.core import Parameter, Tensor
from weft.nn.cell import Cell
from weft.nn.declared import Described, positive_int
from weft.nn.initializer import Uniform, initializer
from weft.ops._checks import one_of
from weft.ops.create import zeros
from weft.ops.dropout import dropout
from weft.ops.joining import concat, stack
from weft.ops.recurrent import GATES, recurrent_step, recurrent_walk


class _Recurrent(Described, Cell):
    """Layers of recurrent cells along a sequence, in one or both directions.

    Args:
        input_size: size of the input's last dimension.
        hidden_size: size of the state.
        num_layers: number of layers.
        nonlinearity: ``"tanh"`` or ``"relu"``.
        has_bias: whether there are biases.
        batch_first: input and output are (N, T, ...) instead of (T, N, ...).
        dropout: between layers, while training.
        bidirectional: also walk from the end.
        dtype: element type of the parameters.
    """

    _kind = "tanh"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        has_bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        dtype: Any = dtypes.float32,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        self.input_size = positive_int(name, "input_size", input_size)
        self.hidden_size = positive_int(name, "hidden_size", hidden_size)
        self.num_layers = positive_int(name, "num_layers", num_layers)
        if not 0 <= dropout < 1:
            raise ValueError(f"{name}: dropout must be in [0, 1), not {dropout!r}")
        self.has_bias = has_bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        directions = 2 if bidirectional else 1
        gates = GATES[self._kind] * hidden_size
        init = Uniform(1 / math.sqrt(hidden_size))
        for what in ("weight_ih", "weight_hh", *(("bias_ih", "bias_hh") if has_bias else ())):
            for layer, direction in itertools.product(range(num_layers), range(directions)):
                width = input_size if layer == 0 else hidden_size * directions
                columns = {"weight_ih": (width,), "weight_hh": (hidden_size,)}.get(what, ())
                name = f"{what}_l{layer}" + ("_reverse" if direction else "")
                setattr(self, name, Parameter(initializer(init, (gates, *columns), dtype), name=name))

    def construct(self, x: Tensor, hx: Any = None, seq_length: Any = None) -> Any:
        if x.ndim != 3:
            raise ValueError(f"{type(self).__name__} takes an input of 3 dimensions, not shape {x.shape}")
        if self.batch_first:
            x = x.swapaxes(0, 1)
        directions = 2 if self.bidirectional else 1
        is_lstm = self._kind == "lstm"
        if hx is None:
            start = zeros((self.num_layers * directions, x.shape[1], self.hidden_size), x.dtype)
            hx = (start, start) if is_lstm else start
        h_all, c_all = hx if is_lstm else (hx, None)
        if seq_length is not None and not isinstance(seq_length, Tensor):
            seq_length = Tensor(seq_length)
        h_last, c_last = [], []
        for layer in range(self.num_layers):
            outputs = []
            for direction in range(directions):
                at = layer * directions + direction
                suffix = f"_l{layer}" + ("_reverse" if direction else "")
                names = ("weight_ih", "weight_hh", *(("bias_ih", "bias_hh") if self.has_bias else ()))
                weights = [getattr(self, name + suffix) for name in names]
                w_ih, w_hh, b_ih, b_hh = weights if self.has_bias else (*weights, None, None)
                out, h, c = recurrent_walk(
                    x, seq_length, h_all[at], None if c_all is None else c_all[at], w_ih, w_hh, b_ih, b_hh,
                    self._kind, direction == 1,
                )  # fmt: skip
                outputs.append(out)
                h_last.append(h)
                c_last.append(c)
            x = outputs[0] if directions == 1 else concat(outputs, -1)
            if self.dropout and self.training and layer + 1 < self.num_layers:
                x = dropout(x, self.dropout, True)
        if self.batch_first:
            x = x.swapaxes(0, 1)
        last = stack(h_last, 0)
        return x, (last, stack(c_last, 0)) if is_lstm else last

    def extend_repr(self) -> str:
        return (
            f"input_size={self.input_size}, hidden_size={self.hidden_size}, num_layers={self.num_layers}, "
            f"has_bias={self.has_bias}, batch_first={self.batch_first}, dropout={self.dropout}, "
            f"bidirectional={self.bidirectional}"
        )


class LSTM(_Recurrent):
    """Long short-term memory along a sequence: ``(x, (h, c), lengths)`` to ``(outputs, (h, c))``.

    Example:
        >>> import weft
        >>> out, (h, c) = LSTM(3, 4)(weft.ops.ones((5, 2, 3), weft.float32))
        >>> out.shape, h.shape, c.shape
        ((5, 2, 4), (1, 2, 4), (1, 2, 4))
    """

    _kind = "lstm"


class GRU(_Recurrent):
    """Gated recurrent units along a sequence: ``(x, h, lengths)`` to ``(outputs, h)``.

    Example:
        >>> import weft
        >>> out, h = GRU(3, 4)(weft.ops.ones((5, 2, 3), weft.float32))
        >>> out.shape, h.shape
        ((5, 2, 4), (1, 2, 4))
    """

    _kind = "gru"


class RNN(_Recurrent):
    """Plain recurrent units along a sequence: ``(x, h, lengths)`` to ``(outputs, h)``.

    Example:
        >>> import weft
        >>> RNN(3, 4)(weft.ops.ones((5, 2, 3), weft.float32))[0].shape
        (5, 2, 4)
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        has_bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        dtype: Any = dtypes.float32,
    ) -> None:
        super().__init__(input_size, hidden_size, num_layers, has_bias, batch_first, dropout, bidirectional, dtype)
        one_of("RNN", ("tanh", "relu"), nonlinearity=nonlinearity)
        self._kind = nonlinearity


class RecurrentCell(Described, Cell):
    """One step of a recurrent layer.

    Args:
        input_size: size of the input.
        hidden_size: size of the state.
        has_bias: whether there are biases.
        nonlinearity: ``"tanh"`` or ``"relu"``.
        dtype: element type of the parameters.
        gates: how many gates the weights are for; those of the kind of cell where none are given.
    """

    _kind = "tanh"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        has_bias: bool = True,
        dtype: Any = dtypes.float32,
        gates: int | None = None,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        self.input_size = positive_int(name, "input_size", input_size)
        self.hidden_size = positive_int(name, "hidden_size", hidden_size)
        self.has_bias = has_bias
        gates = (GATES[self._kind] if gates is None else gates) * hidden_size
        init = Uniform(1 / math.sqrt(hidden_size))
        self.weight_ih = Parameter(initializer(init, (gates, input_size), dtype), name="weight_ih")
        self.weight_hh = Parameter(initializer(init, (gates, hidden_size), dtype), name="weight_hh")
        self.bias_ih: Any = None
        self.bias_hh: Any = None
        if has_bias:
            self.bias_ih = Parameter(initializer(init, (gates,), dtype), name="bias_ih")
            self.bias_hh = Parameter(initializer(init, (gates,), dtype), name="bias_hh")

    def _step(self, x: Tensor, h: Tensor, c: Tensor | None) -> Any:
        return recurrent_step(x, h, c, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh, self._kind)


class LSTMCell(RecurrentCell):
    """One step of long short-term memory: ``(x, (h, c))`` to ``(h, c)``.

    Example:
        >>> import weft
        >>> zero = weft.ops.zeros((2, 4))
        >>> h, c = LSTMCell(3, 4)(weft.ops.ones((2, 3), weft.float32), (zero, zero))
        >>> h.shape, c.shape
        ((2, 4), (2, 4))
    """

    _kind = "lstm"

    def construct(self, x: Tensor, hx: Any) -> Any:
        return self._step(x, hx[0], hx[1])


class GRUCell(RecurrentCell):
    """One step of a gated recurrent unit: ``(x, h)`` to ``h``.

    Example:
        >>> import weft
        >>> GRUCell(3, 4)(weft.ops.ones((2, 3), weft.float32), weft.ops.zeros((2, 4))).shape
        (2, 4)
    """

    _kind = "gru"

    def construct(self, x: Tensor, hx: Tensor) -> Any:
        return self._step(x, hx, None)[0]


class RNNCell(RecurrentCell):
    """One step of a plain recurrent unit: ``(x, h)`` to ``h``.

    Example:
        >>> import weft
        >>> RNNCell(3, 4)(weft.ops.ones((2, 3), weft.float32), weft.ops.zeros((2, 4))).shape
        (2, 4)
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        has_bias: bool = True,
        nonlinearity: str = "tanh",
        dtype: Any = dtypes.float32,
    ) -> None:
        super().__init__(input_size, hidden_size, has_bias, dtype)
        one_of("RNNCell", ("tanh", "relu"), nonlinearity=nonlinearity)
        self._kind = nonlinearity

    def construct(self, x: Tensor, hx: Tensor) -> Any:
        return self._step(x, hx, None)[0]
