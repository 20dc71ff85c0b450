"""`input_signature`: what the arguments of a compiled function must look like."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from weft import dtypes
from weft.core.tensor import Tensor


class TensorSpec:
    """The shape and dtype of a tensor, without its values.

    Args:
        shape: the dimensions; None or -1 for one that may have any size. None as a whole: any shape.
        dtype: the element type.

    Raises:
        TypeError: a dimension is no int.

    Example:
        >>> TensorSpec([None, 3], dtypes.float32)
        TensorSpec([None, 3], Float32)
    """

    def __init__(self, shape: Sequence[int | None] | None, dtype: Any) -> None:
        dims = None if shape is None else [None if size == -1 else size for size in shape]
        for size in dims or ():
            if size is not None and (isinstance(size, bool) or not isinstance(size, int)):
                raise TypeError(f"a dimension of a TensorSpec is an int or None, not {type(size).__name__}")
        self.shape = dims
        self.dtype = dtypes.of(dtype)

    def accepts(self, tensor: Tensor) -> bool:
        """Whether a tensor has this dtype and shape."""
        if tensor.dtype is not self.dtype:
            return False
        if self.shape is None:
            return True
        pairs = zip(self.shape, tensor.shape, strict=False)
        return len(self.shape) == len(tensor.shape) and all(want in (None, size) for want, size in pairs)

    def __repr__(self) -> str:
        return f"TensorSpec({self.shape}, {self.dtype})"


class Signature:
    """What the arguments of calls must agree with.

    Args:
        stated: a spec, a sequence with one for each positional argument, or a dict for some arguments by name. A spec
            is a `TensorSpec`, a Tensor or anything else with `shape` and `dtype`; a list, tuple or dict of specs; None,
            which agrees with everything; or a Python value, which agrees with values of its class.
        name: what states it, for messages.

    Example:
        >>> signature = Signature((Tensor([1.0, 2.0]), None))
        >>> signature.check(lambda x, k: x, (Tensor([3.0, 4.0]), 5), {})
        >>> signature.check(lambda x, k: x, (Tensor([1, 2, 3]), 5), {})
        Traceback (most recent call last):
            ...
        TypeError: argument 'x' does not agree with input_signature: it is a Tensor of shape [3] and dtype Int64, ...
    """

    def __init__(self, stated: Any, name: str = "input_signature") -> None:
        self.name = name
        if isinstance(stated, Mapping):
            self.named: dict[str, Any] | None = {name: _spec(value) for name, value in stated.items()}
            self.positional: tuple[Any, ...] = ()
        else:
            self.named = None
            self.positional = tuple(map(_spec, stated)) if isinstance(stated, (list, tuple)) else (_spec(stated),)

    def check(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Compare the arguments of a call.

        Args:
            function: the function that is called.
            args: its positional arguments, the instance of a method included.
            kwargs: its keyword arguments.

        Raises:
            TypeError: an argument differs from what was stated for it, or there are more or fewer of them.
        """
        bound = inspect.signature(function).bind(*args, **kwargs).arguments
        if self.named is not None:
            unknown = [name for name in self.named if name not in inspect.signature(function).parameters]
            if unknown:
                raise TypeError(f"{self.name} names {unknown[0]!r}, which {_name(function)} does not take")
            for name, spec in self.named.items():
                if name in bound:
                    _compare(spec, bound[name], f"argument {name!r}", self.name)
            return
        values: list[tuple[str, Any]] = []
        parameters = inspect.signature(function).parameters
        for name, value in bound.items():
            if parameters[name].kind is inspect.Parameter.VAR_POSITIONAL:
                values += [(f"{name}[{i}]", item) for i, item in enumerate(value)]
            elif parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
                raise TypeError(f"{_name(function)} has an {self.name}, so it takes no further keyword arguments")
            else:
                values.append((name, value))
        # the instance that a method is called on is not part of what was stated
        values = values[1:] if next(iter(parameters), "") in ("self", "cls") else values
        if len(values) != len(self.positional):
            raise TypeError(
                f"{_name(function)} was called with {len(values)} arguments, but its {self.name} states "
                f"{len(self.positional)}"
            )
        for (name, value), spec in zip(values, self.positional, strict=True):
            _compare(spec, value, f"argument {name!r}", self.name)


def _name(function: Any) -> str:
    return f"{getattr(function, '__name__', type(function).__name__)}()"


def _spec(stated: Any) -> Any:
    if isinstance(stated, (list, tuple)):
        return type(stated)(map(_spec, stated)) if type(stated) in (list, tuple) else tuple(map(_spec, stated))
    if isinstance(stated, Mapping):
        return {key: _spec(value) for key, value in stated.items()}
    if not isinstance(stated, TensorSpec) and hasattr(stated, "shape") and hasattr(stated, "dtype"):
        return TensorSpec(stated.shape, stated.dtype)
    return stated


def _compare(spec: Any, value: Any, what: str, stated: str) -> None:
    if spec is None:
        return
    if isinstance(spec, TensorSpec):
        agrees = isinstance(value, Tensor) and spec.accepts(value)
    elif isinstance(spec, (list, tuple)):
        agrees = isinstance(value, type(spec)) and len(value) == len(spec)
    elif isinstance(spec, dict):
        agrees = isinstance(value, dict) and list(value) == list(spec)
    else:
        agrees = type(value) is type(spec)
    if not agrees:
        raise TypeError(f"{what} does not agree with {stated}: it is {_shown(value)}, not {_shown(spec)}")
    if isinstance(spec, (list, tuple, dict)):
        for key, item in spec.items() if isinstance(spec, dict) else enumerate(spec):
            _compare(item, value[key], f"{what}[{key!r}]", stated)


def _shown(value: Any) -> str:
    if isinstance(value, TensorSpec):
        shape = "any shape" if value.shape is None else f"shape {value.shape}"
        return f"a Tensor of {shape} and dtype {value.dtype}"
    if isinstance(value, Tensor):
        return f"a Tensor of shape {list(value.shape)} and dtype {value.dtype}"
    if isinstance(value, dict):
        return f"a dict with the keys {', '.join(map(repr, value))}"
    if isinstance(value, (list, tuple)):
        return f"a {type(value).__name__} of {len(value)}"
    return f"a value of class {type(value).__name__}"
