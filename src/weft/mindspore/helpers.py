"""Helpers of MindSpore's own files that programs import and use."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from weft.core.tensor import Tensor

__all__ = ["cached_operator", "loss_to_show", "make_directory"]

_OPERATORS: dict[Any, Any] = {}


def _has_hash(key: Any) -> bool:
    try:
        hash(key)
    except TypeError:
        return False
    return True


def cached_operator(cls: type) -> Callable[..., Any]:
    """A function that makes an operator of the class, or gives the one that it made before of equal arguments.

    Args:
        cls: the class of the operator.

    Example:
        >>> from weft import ops
        >>> cached_operator(ops.Concat)(1) is cached_operator(ops.Concat)(1)
        True
        >>> cached_operator(ops.Concat)(0).axis
        0
    """

    def operator(*arguments: Any, **named: Any) -> Any:
        given = (*arguments, *named.values())
        key = (cls, arguments, tuple(sorted(named.items())), tuple(map(type, given)))
        if any(isinstance(value, Tensor) for value in given) or not _has_hash(key):
            return cls(*arguments, **named)
        if key not in _OPERATORS:
            _OPERATORS[key] = cls(*arguments, **named)
        return _OPERATORS[key]

    return operator


def loss_to_show(outputs: Any) -> Any:
    """The loss among the outputs of a training step, as a number or, where it has several elements, a tensor.

    Args:
        outputs: the loss, or a tuple or list that begins with it.

    Example:
        >>> loss_to_show((Tensor(1.5), 2)), loss_to_show(None)
        (1.5, None)
    """
    loss = outputs[0] if isinstance(outputs, (tuple, list)) and outputs else outputs
    if isinstance(loss, Tensor) and loss.size == 1:
        return loss.asnumpy().item()
    return loss


def make_directory(path: str, *_: Any, **__: Any) -> str:
    """Make a folder and those around it, where there is none; its path without links.

    Args:
        path: the folder.

    Raises:
        TypeError: the path is no text, or empty.
    """
    if not isinstance(path, str) or not path.strip():
        raise TypeError(f"a path is a text that is not empty, not {path!r}")
    real = os.path.realpath(path)
    os.makedirs(real, exist_ok=True)
    return real
