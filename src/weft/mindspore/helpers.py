"""Helpers of MindSpore's own files that programs import and use."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any

import numpy as np

from weft.core.tensor import Tensor
from weft.nn.lazy_inline import lazy_inline
from weft.ops.summary import collect_summaries

__all__ = [
    "Implementation", "cached_operator", "cell_attr_register", "check_value_type", "hwc_to_chw", "is_numpy",
    "latest_summaries", "loss_to_show", "make_directory",
]  # fmt: skip

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


def cell_attr_register(fn: Callable[..., None] | None = None, attrs: Any = None) -> Any:
    """Note the arguments of a Cell's ``__init__`` in its `cell_init_args`, as `lazy_inline` does.

    Args:
        fn: the ``__init__``; without it, a decorator is returned.
        attrs: accepted; all arguments are noted.

    Example:
        >>> from weft import nn
        >>> class Block(nn.Cell):
        ...     @cell_attr_register
        ...     def __init__(self, width):
        ...         super().__init__()
        >>> Block(4).cell_init_args
        'Block(width=4)'
    """
    del attrs
    return lazy_inline if fn is None else lazy_inline(fn)


def check_value_type(arg_name: str, arg_value: Any, valid_types: Any) -> None:
    """Check that a value is of one of several types; a bool is none of the numbers.

    Args:
        arg_name: what the value is called.
        arg_value: the value.
        valid_types: a type, or several.

    Raises:
        TypeError: it is not.

    Example:
        >>> check_value_type("size", 3, (int, float))
        >>> check_value_type("size", "3", int)
        Traceback (most recent call last):
            ...
        TypeError: For `size` the type should be a valid type of ['int'], but got str.
    """
    types = tuple(valid_types) if isinstance(valid_types, Iterable) else (valid_types,)
    if isinstance(arg_value, types) and (not isinstance(arg_value, bool) or bool in types):
        return
    names = [kind.__name__ for kind in types]
    raise TypeError(f"For `{arg_name}` the type should be a valid type of {names}, but got {type(arg_value).__name__}.")


def latest_summaries() -> dict[str, Tensor]:
    """The last values of the summaries noted since the last call, by name and kind.

    Example:
        >>> from weft import ops
        >>> _ = latest_summaries()
        >>> ops.TensorSummary()("layer", Tensor([1.0]))
        >>> print(latest_summaries()["layer[:Tensor]"], latest_summaries())
        [1.] {}
    """
    return {f"{name}[:{kind.capitalize()}]": value for kind, name, value in collect_summaries()}


class Implementation(Enum):
    """In which language MindSpore computes an operation on data; here it is all the same.

    Example:
        >>> Implementation.C
        <Implementation.C: 0>
    """

    C = 0
    PY = 1


def is_numpy(img: Any) -> bool:
    """Whether an image is an array.

    Args:
        img: the image.
    """
    return isinstance(img, np.ndarray)


def hwc_to_chw(img: Any) -> Any:
    """An image with its channels first; one without channels stays as it is.

    Args:
        img: array of 2 or 3 dimensions.

    Raises:
        TypeError: it is no array.

    Example:
        >>> hwc_to_chw(np.zeros((2, 3, 1))).shape
        (1, 2, 3)
    """
    if not is_numpy(img):
        raise TypeError(f"img should be NumPy array. Got {type(img)}.")
    return img.transpose(2, 0, 1) if img.ndim == 3 else img
