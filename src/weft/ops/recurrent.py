"""Recurrent layers: one primitive walks a whole sequence; operator classes."""

from __future__ import annotations

import math
from typing import Any, Final

import jax
import jax.numpy as jnp

from weft.core import Primitive, Tensor, apply, as_operator, described, shows
from weft.ops._checks import bools, one_of, only, positive_ints
from weft.ops.activation import sigmoid, tanh
from weft.ops.create import zeros
from weft.ops.dropout import dropout as drop
from weft.ops.index import getitem
from weft.ops.joining import concat, split, stack
from weft.ops.matmul import matmul
from weft.ops.shape import reshape

__all__ = ["recurrent_step", "recurrent_walk"]

#: gates of each kind of cell, each of the size of the state
GATES: Final = {"lstm": 4, "gru": 3, "tanh": 1, "relu": 1}


def _cell(kind: str, from_input: Any, h: Any, c: Any, w_hh: Any, b_hh: Any) -> tuple[Any, Any]:
    """New state and cell state; `from_input` is the input's share of the gates."""
    from_state = h @ w_hh.T
    if b_hh is not None:
        from_state = from_state + b_hh
    if kind == "gru":
        (xr, xz, xn), (hr, hz, hn) = jnp.split(from_input, 3, -1), jnp.split(from_state, 3, -1)
        update = jax.nn.sigmoid(xz + hz)
        new = jnp.tanh(xn + jax.nn.sigmoid(xr + hr) * hn)
        h = (1 - update) * new + update * h
        return h, h
    gates = from_input + from_state
    if kind == "lstm":
        i, f, g, o = jnp.split(gates, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        return jax.nn.sigmoid(o) * jnp.tanh(c), c
    h = jnp.tanh(gates) if kind == "tanh" else jax.nn.relu(gates)
    return h, h


def _walk(
    x: Any, lengths: Any, h: Any, c: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, *, kind: str, reverse: bool
) -> Any:
    """Outputs (T, N, H) and the last states; beyond a sequence's length outputs are 0 and the state stays."""
    from_input = x @ w_ih.T
    if b_ih is not None:
        from_input = from_input + b_ih
    steps = jnp.arange(x.shape[0])

    def step(state: Any, at: Any) -> Any:
        gates, t = at
        new_h, new_c = _cell(kind, gates, state[0], state[1], w_hh, b_hh)
        out = new_h
        if lengths is not None:
            inside = (t < lengths)[:, None]
            new_h, new_c = jnp.where(inside, new_h, state[0]), jnp.where(inside, new_c, state[1])
            out = jnp.where(inside, out, jnp.zeros((), out.dtype))
        return (new_h, new_c), out

    (h, c), outputs = jax.lax.scan(step, (h, h if c is None else c), (from_input, steps), reverse=reverse)
    return outputs, h, c


WALK = Primitive("RecurrentWalk", _walk, attr_names=("kind", "reverse"), multiple=True)
_OF_CELL = described(
    w_ih="weight of the input (gates * H, I).",
    w_hh="weight of the state (gates * H, H).",
    b_ih="bias, or None.",
    b_hh="bias, or None.",
    kind='``"lstm"``, ``"gru"``, ``"tanh"`` or ``"relu"``.',
)


@_OF_CELL
@shows(
    'recurrent_walk(Tensor([[[1.0]], [[1.0]]]), None, Tensor([[0.0]]), None, *[Tensor([[1.0]])] * 2, kind="relu")[1]',
    "[[2.]]",
)
def recurrent_walk(
    x: Tensor,
    lengths: Tensor | None,
    h: Tensor,
    c: Tensor | None,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
    kind: str = "tanh",
    reverse: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """Run a recurrent cell along a sequence.

    Args:
        x: (T, N, I).
        lengths: (N,) valid steps of each sequence, None for all.
        h: initial state (N, H).
        c: initial cell state (N, H) of an LSTM, else None.
        reverse: from the last step to the first.

    Returns:
        tuple: outputs (T, N, H), last state, last cell state.
    """
    if kind not in GATES:
        raise ValueError(f"recurrent_walk: kind must be one of {', '.join(GATES)}, not {kind!r}")
    if x.ndim != 3:
        raise ValueError(f"a recurrent layer takes an input of 3 dimensions, not shape {x.shape}")
    size = w_hh.shape[1]
    if x.shape[2] != w_ih.shape[1]:
        raise ValueError(f"a recurrent layer of input size {w_ih.shape[1]} got an input of shape {x.shape}")
    for what, state in (("h", h), ("c", c)):
        if state is not None and state.shape != (x.shape[1], size):
            raise ValueError(f"the initial state {what} has shape {state.shape}, it must be {(x.shape[1], size)}")
    return apply(WALK, (x, lengths, h, c, w_ih, w_hh, b_ih, b_hh), (kind, bool(reverse)))


@_OF_CELL
@shows('recurrent_step(Tensor([[1.0]]), Tensor([[1.0]]), None, *[Tensor([[1.0]])] * 2, kind="relu")[0]', "[[2.]]")
def recurrent_step(
    x: Tensor,
    h: Tensor,
    c: Tensor | None,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
    kind: str = "tanh",
) -> tuple[Tensor, Tensor]:
    """Run a recurrent cell once: `recurrent_walk` on a sequence of one step.

    Args:
        x: (N, I).
        h: state (N, H).
        c: cell state (N, H) of an LSTM, else None.

    Returns:
        tuple: new state, new cell state.
    """
    _, h, c = recurrent_walk(x.reshape((1, *x.shape)), None, h, c, w_ih, w_hh, b_ih, b_hh, kind)
    return h, c


# -- operator classes whose weights are one tensor, or that say all that their gates were ------------------------------


@as_operator
def LSTM(
    input: Tensor, h: Tensor, c: Tensor, w: Tensor, *, input_size: int, hidden_size: int, num_layers: int,
    has_bias: bool, bidirectional: bool, dropout: float, proj_size: int = 0,
) -> Any:  # fmt: skip
    """Layers of LSTM cells along sequences (T, N, I), whose weights are one tensor: for each layer and direction the
    weights of the input and of the state, and the biases. Gives the outputs, the last states and cell states, and two
    tensors of zeros.

    Args:
        input_size: features of the input.
        hidden_size: features of the state.
        num_layers: how many layers.
        has_bias: whether there are biases.
        bidirectional: whether sequences are walked from both ends.
        dropout: the probability that an output of a layer, but the last, is zeroed.
        proj_size: 0.
    """
    positive_ints("LSTM", input_size=input_size, hidden_size=hidden_size, num_layers=num_layers)
    bools("LSTM", has_bias=has_bias, bidirectional=bidirectional)
    only("LSTM", 0, proj_size=proj_size)
    if not 0 <= dropout <= 1:
        raise ValueError(f"LSTM: dropout must be from 0 to 1, not {dropout}")
    if input.ndim != 3 or input.shape[2] != input_size:
        raise ValueError(f"LSTM: an input has the shape (T, N, {input_size}), not {input.shape}")
    directions, gates, at = 1 + bidirectional, 4 * hidden_size, 0
    flat = reshape(w, (-1,))

    def taken(*shape: int) -> Any:
        nonlocal at
        size = math.prod(shape)
        at += size
        if at > flat.shape[0]:
            raise ValueError(f"LSTM: {flat.shape[0]} weights are too few")
        return reshape(getitem(flat, slice(at - size, at)), shape)

    hs, cs, x = [], [], input
    for layer in range(num_layers):
        outputs = []
        for direction in range(directions):
            own = layer * directions + direction
            w_ih, w_hh = taken(gates, x.shape[2]), taken(gates, hidden_size)
            b_ih, b_hh = (taken(gates), taken(gates)) if has_bias else (None, None)
            out, last, cell = recurrent_walk(
                x, None, getitem(h, own), getitem(c, own), w_ih, w_hh, b_ih, b_hh, "lstm", bool(direction)
            )
            outputs.append(out)
            hs.append(last)
            cs.append(cell)
        x = outputs[0] if directions == 1 else concat(outputs, 2)
        if dropout and layer + 1 < num_layers:
            x = drop(x, dropout)
    return x, stack(hs), stack(cs), zeros((1,), input.dtype), zeros((1,), input.dtype)


#: the one value that is supported of each setting
_SUPPORTED: Final = {
    "direction": "UNIDIRECTIONAL", "cell_depth": 1, "keep_prob": 1.0, "num_proj": 0, "time_major": True,
    "activation": "tanh", "seq_length": None,
}  # fmt: skip


def _check_settings(name: str, *given: Any) -> None:
    """Refuse settings that are not supported, given in the order of `_SUPPORTED`."""
    for (what, wanted), value in zip(_SUPPORTED.items(), given, strict=True):
        only(name, wanted, **{what: value})


def _initial(state: Any, like: Tensor, size: int) -> Tensor:
    """An initial state (N, H), zeros if there is none."""
    if state is None:
        return zeros((like.shape[1], size), like.dtype)
    return reshape(state, (like.shape[1], size))


@as_operator
def DynamicRNN(
    x: Tensor, w: Tensor, b: Tensor, seq_length: Any, init_h: Any, init_c: Any, *, cell_type: str = "LSTM",
    direction: str = "UNIDIRECTIONAL", cell_depth: int = 1, use_peephole: bool = False, keep_prob: float = 1.0,
    cell_clip: float = -1.0, num_proj: int = 0, time_major: bool = True, activation: str = "tanh",
    forget_bias: float = 0.0, is_training: bool = True,
) -> Any:  # fmt: skip
    """An LSTM cell along sequences (T, N, I): outputs, states, cell states, and the gates i, j, f, o and tanh of the
    cell state at each step.

    Args:
        cell_type: ``"LSTM"``.
        direction: ``"UNIDIRECTIONAL"``.
        cell_depth: 1.
        use_peephole: False.
        keep_prob: 1.0.
        cell_clip: bound of the cell state; negative for none.
        num_proj: 0.
        time_major: True.
        activation: ``"tanh"``.
        forget_bias: what is added to the gate that forgets.
        is_training: accepted.
    """
    name = "DynamicRNN"
    del is_training
    only(name, "LSTM", cell_type=cell_type)
    only(name, False, use_peephole=use_peephole)
    _check_settings(name, direction, cell_depth, keep_prob, num_proj, time_major, activation, seq_length)
    if x.ndim != 3 or w.ndim != 2 or w.shape[1] % 4 or w.shape[0] != x.shape[2] + w.shape[1] // 4:
        raise ValueError(f"{name}: weights of shape {w.shape} do not fit an input of shape {x.shape}")
    if b.shape != (w.shape[1],):
        raise ValueError(f"{name}: a bias of shape {b.shape} does not fit weights of shape {w.shape}")
    size = w.shape[1] // 4
    h, c = _initial(init_h, x, size).astype(x.dtype), _initial(init_c, x, size).astype(b.dtype)
    steps: list[tuple[Tensor, ...]] = []
    for time in range(x.shape[0]):
        gates = matmul(concat((getitem(x, time), h), 1), w).astype(b.dtype) + b
        i, j, f, o = split(gates, size, 1)
        i, j, f, o = sigmoid(i), tanh(j), sigmoid(f + forget_bias), sigmoid(o)
        c = f * c + i * j
        c = c.clip(-cell_clip, cell_clip) if cell_clip > 0 else c
        squashed = tanh(c)
        out = o * squashed
        h = out.astype(x.dtype)
        steps.append((out, h, c, i, j, f, o, squashed))
    return tuple(stack(each) for each in zip(*steps, strict=True))


@as_operator
def DynamicGRUV2(
    x: Tensor, weight_input: Tensor, weight_hidden: Tensor, bias_input: Any, bias_hidden: Any, seq_length: Any,
    init_h: Tensor, *, direction: str = "UNIDIRECTIONAL", cell_depth: int = 1, keep_prob: float = 1.0,
    cell_clip: float = -1.0, num_proj: int = 0, time_major: bool = True, activation: str = "tanh",
    gate_order: str = "rzh", reset_after: bool = True, is_training: bool = True,
) -> Any:  # fmt: skip
    """A GRU cell along sequences (T, N, I): outputs, states, and at each step the gates that update and reset, the new
    state, and its share of the state before.

    Args:
        direction: ``"UNIDIRECTIONAL"``.
        cell_depth: 1.
        keep_prob: 1.0.
        cell_clip: negative: no bound.
        num_proj: 0.
        time_major: True.
        activation: ``"tanh"``.
        gate_order: order of the gates in weights: ``"rzh"`` or ``"zrh"``.
        reset_after: whether the gate resets the product with the weights, and not the state.
        is_training: accepted.
    """
    name = "DynamicGRUV2"
    del is_training, cell_clip
    _check_settings(name, direction, cell_depth, keep_prob, num_proj, time_major, activation, seq_length)
    one_of(name, ("rzh", "zrh"), gate_order=gate_order)
    size = weight_hidden.shape[0]
    if x.ndim != 3 or weight_hidden.shape[1] != 3 * size or weight_input.shape != (x.shape[2], 3 * size):
        raise ValueError(
            f"{name}: weights of shapes {weight_input.shape} and {weight_hidden.shape} do not fit an input of shape "
            f"{x.shape}"
        )
    biases = [each for each in (bias_input, bias_hidden) if each is not None]
    dtype = (biases or [init_h])[0].dtype
    h = _initial(init_h, x, size).astype(dtype)
    reset_at = gate_order.index("r")
    w_hidden = split(weight_hidden.astype(dtype), size, 1)
    b_hidden = [0.0] * 3 if bias_hidden is None else split(bias_hidden.astype(dtype), size, 0)
    steps: list[tuple[Tensor, ...]] = []
    for time in range(x.shape[0]):
        given = matmul(getitem(x, time), weight_input).astype(dtype)
        parts = split(given if bias_input is None else given + bias_input.astype(dtype), size, 1)
        first, second = (sigmoid(parts[at] + matmul(h, w_hidden[at]) + b_hidden[at]) for at in (0, 1))
        reset, update = (first, second) if reset_at == 0 else (second, first)
        hidden = matmul(h if reset_after else reset * h, w_hidden[2]) + b_hidden[2]
        new = tanh(parts[2] + (reset * hidden if reset_after else hidden))
        h = (1 - update) * new + update * h
        steps.append((h, h, update, reset, new, hidden))
    return tuple(stack(each) for each in zip(*steps, strict=True))
