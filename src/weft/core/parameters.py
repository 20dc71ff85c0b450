"""Groups of parameters as optimizers and gradient transforms take them, and the names that cells give them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from weft.core import trace as trace_module
from weft.core.tensor import Parameter
from weft.errors import Refusal, Unsupported


def rename(parameter: Parameter, name: str) -> None:
    """Let a cell give a Parameter the name of its place. A graph gives no names: there it is a break.

    Args:
        parameter: the Parameter.
        name: its path from the cell.
    """
    if parameter.name == name:
        return
    trace = trace_module.current()
    if trace is not None and trace.watched and id(parameter) not in trace.created:
        raise Unsupported(
            Refusal.IMPURE_CALL,
            f"the Parameter {parameter.name!r} gets the name {name!r}, as the layer that has it is put elsewhere",
            "put layers in their places outside the compiled function",
        )
    parameter.name = name


class ParameterTuple(tuple[Parameter, ...]):
    """A tuple of distinct parameters.

    Args:
        iterable: the parameters.

    Raises:
        TypeError: an item is no Parameter.
        ValueError: two different parameters have the same given name.

    Example:
        >>> import weft
        >>> group = ParameterTuple([Parameter(weft.Tensor([1.0]), name="w")])
        >>> group.clone(prefix="moment", init="zeros")[0].name
        'moment.w'
    """

    __slots__ = ()

    def __new__(cls, iterable: Iterable[Parameter]) -> ParameterTuple:
        items = list(iterable)
        by_name: dict[str, Parameter] = {}
        for position, item in enumerate(items):
            if not isinstance(item, Parameter):
                raise TypeError(
                    f"ParameterTuple holds Parameters; item {position} is a {type(item).__name__}: {item!r:.60}"
                )
            other = by_name.setdefault(item.name, item)
            if other is not item and item.has_name:
                raise ValueError(f"ParameterTuple: two different parameters are named {item.name!r}")
        return super().__new__(cls, items)

    def clone(self, prefix: str, init: Any = "same") -> ParameterTuple:
        """A new group of the same shapes, each named ``prefix.name``.

        Args:
            prefix: put before the names.
            init: ``"same"`` copies the values; else an initializer, its name, or a number.
        """
        if not isinstance(prefix, str):
            raise TypeError(f"clone: prefix must be a str, not {type(prefix).__name__}")
        copies = []
        for item in self:
            copy = item.clone(init)
            copy.name = f"{prefix}.{item.name}" if prefix else item.name
            copy.has_name = True
            copies.append(copy)
        return ParameterTuple(copies)

    def __reduce__(self) -> tuple[Any, ...]:
        return ParameterTuple, (list(self),)
