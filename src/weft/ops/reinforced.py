"""Operators of reinforcement learning: sums of rewards to come, and networks that take over weights of others."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from weft import dtypes
from weft.core import as_operator, op
from weft.ops._checks import tensors
from weft.ops.state import assign


@op("RewardsToCome", classes=())
def _to_come(reward: Any, done: Any, last: Any, *, gamma: float) -> Any:
    """Discounted sums from the last step to the first; nothing comes behind the end of an episode."""
    goes_on = 1 - done.astype(reward.dtype).reshape(*done.shape, *(1,) * (reward.ndim - done.ndim))

    def step(later: Any, at: Any) -> Any:
        found = at[0] + gamma * at[1] * later
        return found, found

    return jax.lax.scan(step, jnp.broadcast_to(last, reward.shape[1:]), (reward, goes_on), reverse=True)[1]


@as_operator
def DiscountedReturn(reward: Any, done: Any, last_state_value: Any, *, gamma: float) -> Any:
    """The discounted sum of this reward and those to come, at each step.

    Args:
        reward: (steps, environments, ...).
        done: whether an episode ended there: (steps, environments), of bools.
        last_state_value: what comes behind the last step, (environments, ...).

    Returns:
        Tensor: like `reward`.
    """
    tensors("DiscountedReturn", reward=reward, done=done, last_state_value=last_state_value)
    if done.dtype is not dtypes.bool_:
        raise TypeError(f"DiscountedReturn: done must be of bool, not {done.dtype}")
    if done.shape != reward.shape[: done.ndim]:
        raise ValueError(f"DiscountedReturn: done {done.shape} does not fit rewards {reward.shape}")
    return _to_come(reward, done, last_state_value, float(gamma))


@as_operator
def BatchAssign(dst: Any, src: Any, *, lock: bool = True) -> None:
    """Write the values of tensors into as many parameters.

    Args:
        dst: the parameters.
        src: the tensors.
    """
    del lock
    if len(dst) != len(src):
        raise ValueError(f"BatchAssign: {len(src)} values for {len(dst)} parameters")
    for parameter, value in zip(dst, src, strict=True):
        assign(parameter, value)
