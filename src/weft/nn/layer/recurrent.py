"""Recurrent layers and cells."""

from __future__ import annotations

import itertools
import math
from typing import Any, Final

from weft import dtypes
from weft.core import Parameter, Tensor
from weft.nn.cell import Cell
from weft.nn.declared import Described, positive_int
from weft.nn.initializer import Uniform, initializer
from weft.ops._checks import one_of
from weft.ops._rules import tensor
from weft.ops.create import zeros
from weft.ops.dropout import dropout
from weft.ops.joining import concat, stack
from weft.ops.recurrent import GATES, recurrent_step, recurrent_walk

_WEIGHTS: Final = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


class _OfGates(Described, Cell):
    """Base of recurrent layers and cells.

    Args:
        input_size: size of the input's last dimension.
        hidden_size: size of the state.
        has_bias: whether there are biases.
        nonlinearity: ``"tanh"`` or ``"relu"``.
        dtype: element type of the parameters.
    """

    _kind = "tanh"

    def __init__(self, input_size: int, hidden_size: int, has_bias: bool) -> None:
        super().__init__()
        name = type(self).__name__
        self.input_size = positive_int(name, "input_size", input_size)
        self.hidden_size = positive_int(name, "hidden_size", hidden_size)
        self.has_bias = has_bias

    def _names(self) -> tuple[str, ...]:
        return _WEIGHTS if self.has_bias else _WEIGHTS[:2]

    def _draw(self, what: str, rows: int, width: int, dtype: Any, suffix: str = "") -> None:
        """Make a parameter for inputs of a width."""
        columns = {"weight_ih": (width,), "weight_hh": (self.hidden_size,)}.get(what, ())
        values = initializer(Uniform(1 / math.sqrt(self.hidden_size)), (rows, *columns), dtype)
        setattr(self, what + suffix, Parameter(values, name=what + suffix))

    def _weights(self, suffix: str = "") -> tuple[Any, Any, Any, Any]:
        """The weights for the input and the state, and the biases, or None and None."""
        found: Any = [getattr(self, name + suffix) for name in self._names()]  # `has_bias` may have been set since
        return (*found, *[None] * (len(_WEIGHTS) - len(found)))

    def _compute_by(self, nonlinearity: str) -> None:
        one_of(type(self).__name__, ("tanh", "relu"), nonlinearity=nonlinearity)
        self._kind = nonlinearity


def _suffix(layer: int, direction: int) -> str:
    """What the names of parameters end with."""
    return f"_l{layer}" + ("_reverse" if direction else "")


class _Recurrent(_OfGates):
    """Layers of recurrent cells along a sequence, in one or both directions.

    Args:
        num_layers: number of layers.
        batch_first: input and output are (N, T, ...) instead of (T, N, ...).
        dropout: between layers, while training.
        bidirectional: also walk from the end.
    """

    _example = """
        >>> out, {} = {name}(3, 4)(zeros((5, 2, 3)))
        >>> out.shape, {}
        {}
    """

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
        super().__init__(input_size, hidden_size, has_bias)
        name = type(self).__name__
        self.num_layers = positive_int(name, "num_layers", num_layers)
        if not 0 <= dropout < 1:
            raise ValueError(f"{name}: dropout must be in [0, 1), not {dropout!r}")
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        directions = 2 if bidirectional else 1
        gates = GATES[self._kind] * hidden_size
        for what in self._names():
            for layer, direction in itertools.product(range(num_layers), range(directions)):
                width = input_size if layer == 0 else hidden_size * directions
                self._draw(what, gates, width, dtype, _suffix(layer, direction))

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
        lengths = None if seq_length is None else tensor(seq_length)
        h_last, c_last = [], []
        for layer in range(self.num_layers):
            outputs = []
            for direction in range(directions):
                at = layer * directions + direction
                state = h_all[at], None if c_all is None else c_all[at]
                weights = self._weights(_suffix(layer, direction))
                out, h, c = recurrent_walk(x, lengths, *state, *weights, self._kind, direction == 1)
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


class LSTM(_Recurrent, kind="lstm", shows=("(h, c)", "h.shape, c.shape", "((5, 2, 4), (1, 2, 4), (1, 2, 4))")):
    """Long short-term memory along a sequence: ``(x, (h, c), lengths)`` to ``(outputs, (h, c))``."""


class GRU(_Recurrent, kind="gru", shows=("h", "h.shape", "((5, 2, 4), (1, 2, 4))")):
    """Gated recurrent units along a sequence: ``(x, h, lengths)`` to ``(outputs, h)``."""


class RNN(_Recurrent, shows=("h", "h.shape", "((5, 2, 4), (1, 2, 4))")):
    """Plain recurrent units along a sequence: ``(x, h, lengths)`` to ``(outputs, h)``."""

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
        self._compute_by(nonlinearity)


class RecurrentCell(_OfGates):
    """One step of a recurrent layer.

    Args:
        input_size: size of the input.
        gates: how many gates the weights are for; those of the kind of cell where none are given.
    """

    _example = """
        >>> h = c = zeros((2, 4))
        >>> {name}(3, 4)(zeros((2, 3)), {}){}.shape
        (2, 4)
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        has_bias: bool = True,
        dtype: Any = dtypes.float32,
        gates: int | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, has_bias)
        rows = (GATES[self._kind] if gates is None else gates) * hidden_size
        self.bias_ih: Any = None
        self.bias_hh: Any = None
        for name in self._names():
            self._draw(name, rows, input_size, dtype)

    def _step(self, x: Tensor, h: Tensor, c: Tensor | None) -> Any:
        return recurrent_step(x, h, c, *self._weights(), self._kind)


class LSTMCell(RecurrentCell, kind="lstm", shows=("(h, c)", "[0]")):
    """One step of long short-term memory: ``(x, (h, c))`` to ``(h, c)``."""

    def construct(self, x: Tensor, hx: Any) -> Any:
        return self._step(x, hx[0], hx[1])


class GRUCell(RecurrentCell, kind="gru", shows=("h", "")):
    """One step of a gated recurrent unit: ``(x, h)`` to ``h``."""

    def construct(self, x: Tensor, hx: Tensor) -> Any:
        return self._step(x, hx, None)[0]


class RNNCell(RecurrentCell, shows=("h", "")):
    """One step of a plain recurrent unit: ``(x, h)`` to ``h``."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        has_bias: bool = True,
        nonlinearity: str = "tanh",
        dtype: Any = dtypes.float32,
    ) -> None:
        super().__init__(input_size, hidden_size, has_bias, dtype)
        self._compute_by(nonlinearity)

    def construct(self, x: Tensor, hx: Tensor) -> Any:
        return self._step(x, hx, None)[0]
