"""The dense (fully connected) layer."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from weft.core import op
from weft.ops._rules import of_one_type

__all__ = ["dense", "linear"]


@op("Dense")
def dense(input: Any, weight: Any, bias: Any = None) -> Any:
    """Multiply the last dimension by a weight and add a bias.

    Args:
        input: (..., K).
        weight: (O, K), or (K,) for a single output without its dimension.
        bias: (O,) or None.

    Returns:
        Tensor: (..., O).

    Raises:
        TypeError: different element types.
        ValueError: the sizes do not fit.

    Example:
        >>> from weft.core.tensor import Tensor
        >>> print(dense(Tensor([[1.0, 2.0]]), Tensor([[3.0, 4.0]]), Tensor([10.0])))
        [[21.]]
    """
    if input.ndim < 1 or weight.ndim not in (1, 2) or input.shape[-1] != weight.shape[-1]:
        raise ValueError(
            f"dense: an input of shape {tuple(input.shape)} does not fit a weight of shape {tuple(weight.shape)}; the "
            "last dimensions must be equal"
        )
    if bias is not None and tuple(bias.shape) not in ((), tuple(weight.shape[:-1])):
        raise ValueError(f"dense: a bias of shape {tuple(bias.shape)} does not fit {weight.shape[0]} outputs")
    of_one_type("dense", input, weight)
    out = jnp.matmul(input, weight.T)
    return out if bias is None else out + bias.astype(out.dtype)


linear = dense
