"""Recurrent layers: one primitive walks a whole sequence."""

from __future__ import annotations

from typing import Any, Final

import jax
import jax.numpy as jnp

from weft.core import Primitive, Tensor, apply, described, shows

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
