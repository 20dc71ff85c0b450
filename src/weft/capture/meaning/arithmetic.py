"""Python's arithmetic on numbers that only the running graph knows.

The graph computes what Python computes as long as a condition holds that the graph itself checks: an int fits 64 bits,
a divisor is not zero. Where it does not hold, the call is captured again without the assumption: the operation is then
a break, and Python computes it, or raises. What the graph cannot compute as Python does is a break from the start.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, Final

from weft import dtypes
from weft.core.dispatch import CAST, apply
from weft.core.number import GraphNumber, as_number, require
from weft.core.run_number import KINDS, RunNumber, settled
from weft.core.tensor import Tensor
from weft.ops.logic import invert
from weft.ops.select import where

#: ints of which the result is computed in floats to see whether it fits; floats near the limit are rounded
_FITS: Final = float(2**63) * (1 - 2.0**-40)
#: ints that floats hold exactly
_EXACT: Final = 2**53
_INT64: Final = range(-(1 << 63), 1 << 63)
_LEAST: Final = _INT64.start


def is_number(value: Any) -> bool:
    """Whether a value is a Python number that a graph can hold: known, of the call, or of the running graph."""
    kind = type(value)
    return kind in KINDS or issubclass(kind, RunNumber)


def is_graph_number(value: Any) -> bool:
    """Whether a value is a Python number that only the running graph knows."""
    return type(value) is GraphNumber


def kind_of(value: Any) -> type:
    """The Python kind of a number."""
    return value.kind if issubclass(type(value), RunNumber) else type(value)


def number(tensor: Tensor, kind: type) -> GraphNumber:
    """The Python number that a one-element tensor of a graph stands for, which fits the kind."""
    return GraphNumber(kind, as_number(tensor, kind))


def tensor_of(value: Any) -> Tensor:
    """The tensor of a number in the graph under construction."""
    if issubclass(type(value), RunNumber):
        operand = value.operand()
        if isinstance(operand, Tensor):
            return operand
        value = operand
    return as_number(value, type(value))


# -- conditions and selectors, which the capture itself computes with ----------------------------------------------


def negated(condition: GraphNumber) -> GraphNumber:
    """`not condition`."""
    return number(condition.tensor == False, bool)  # noqa: E712 - an elementwise comparison


def conjunction(first: Any, second: GraphNumber) -> GraphNumber:
    """Both of two truths, each evaluated."""
    return second if first is True else number(tensor_of(first) & second.tensor, bool)


def disjunction(first: GraphNumber, second: GraphNumber) -> GraphNumber:
    """Either of two truths, each evaluated."""
    return number(first.tensor | second.tensor, bool)


def is_at(selector: GraphNumber, position: int) -> GraphNumber:
    """Whether a selector has a value."""
    return number(selector.tensor == position, bool)


def chosen(condition: GraphNumber, first: Any, second: Any) -> GraphNumber:
    """One of two ints, either of which is computed."""
    return number(where(condition.tensor, tensor_of(first), tensor_of(second)), int)


def shifted(selector: GraphNumber, past: int) -> GraphNumber:
    """A selector without one position: what is past it moves up."""
    moved = where(selector.tensor > past, selector.tensor - 1, selector.tensor)
    return number(moved, int)


def advanced(position: Any, step: int) -> Any:
    """The position after one of a range, which the bound keeps in range."""
    return number(position.tensor + step, int) if type(position) is GraphNumber else position + step


# -- conversions ---------------------------------------------------------------------------------------------------


def converted(kind: type, value: Any) -> Any:
    """`kind(value)` for a tensor or a number of the running graph.

    Args:
        kind: `bool`, `int` or `float`.
        value: a tensor with one element, or a number.

    Raises:
        ValueError: the tensor has more than one element.
    """
    if type(value) is GraphNumber:
        if value.kind is kind:
            return value
        source, category = value.tensor, KINDS.index(value.kind)
    else:
        if value.size != 1:
            raise ValueError(f"{kind.__name__}() needs a tensor with one element, this one has shape {value.shape}")
        source, category = value, value.dtype.category
        if category == 3 and kind is not bool:
            raise TypeError(f"{kind.__name__}() argument must be a string or a real number, not 'complex'")
    if kind is bool and category:
        return number(source != 0, bool)
    if kind is int and category == 2:
        exact = apply(CAST, (source,), (dtypes.float64,))
        require((abs(exact) < _FITS).reshape(()), "whether a float fits an int of 64 bits")
    elif kind is int and source.dtype is dtypes.uint64:
        require((source < 1 << 63).reshape(()), "whether an int fits 64 bits")
    return number(source, kind)


# -- operators -----------------------------------------------------------------------------------------------------


def binary(function: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """The result of a binary operator or a comparison of two numbers, one of them known to the running graph only.

    Args:
        function: the function of `operator`, or `divmod`.
        left: the left operand.
        right: the right operand.

    Raises:
        Unsupported: the graph cannot compute what Python computes.
    """
    rule = _RULES.get(function)
    if rule is None or not all(map(_fits, (left, right))):
        return function(settled(left), settled(right))
    kinds = kind_of(left), kind_of(right)
    if float in kinds:
        return rule.of_floats(left, right)
    if rule.of_bools is not None and kinds == (bool, bool):
        return number(rule.of_bools(tensor_of(left), tensor_of(right)), bool)
    return rule.of_ints(_widened(left, int), _widened(right, int))


def unary(function: Callable[[Any], Any], value: GraphNumber) -> Any:
    """The result of `-`, `+`, `~`, `abs` or a rounding function on a number of the running graph."""
    if function in (math.floor, math.ceil, math.trunc, round):
        return _rounded(function, value)
    if value.kind is float:
        if function is operator.invert:
            return function(value.constant())  # refuses
        return value if function is operator.pos else number(function(value.tensor), float)
    tensor = _widened(value, int)
    if function in (operator.neg, abs):
        require(tensor != _LEAST, "whether an int fits 64 bits")
    if function is operator.invert:  # of tensors it is that of a bool
        return number(invert(tensor), int)
    return number(tensor if function is operator.pos else function(tensor), int)


def _rounded(function: Callable[[Any], Any], value: GraphNumber) -> Any:
    if value.kind is not float:
        return converted(int, value)
    tensor = value.tensor
    require(abs(tensor) < _FITS, "whether a float fits an int of 64 bits")
    if function is math.trunc:
        return number(tensor, int)
    found = tensor.round() if function is round else tensor.floor() if function is math.floor else -((-tensor).floor())
    return number(found, int)


def _fits(value: Any) -> bool:
    return type(value) is not int or value in _INT64


def _widened(value: Any, kind: type) -> Tensor:
    """A number as a number of a wider kind."""
    return as_number(tensor_of(value), kind)


def _real(value: Any) -> Tensor:
    """An operand as a float, as Python converts it."""
    return _widened(value, float)


def _checked(function: Callable[[Any, Any], Any]) -> Callable[[Tensor, Tensor], Any]:
    """An operation on ints whose result may not fit."""

    def of_ints(left: Tensor, right: Tensor) -> Any:
        estimate = function(_real_of(left), _real_of(right))
        require(abs(estimate) < _FITS, "whether an int fits 64 bits")
        return number(function(left, right), int)

    return of_ints


def _real_of(tensor: Tensor) -> Tensor:
    return as_number(tensor, float)


def _plain(function: Callable[[Any, Any], Any], kind: type) -> Callable[[Tensor, Tensor], Any]:
    return lambda left, right: number(function(left, right), kind)


def _divided(function: Callable[[Any, Any], Any]) -> Callable[[Tensor, Tensor], Any]:
    """`//` or `%` of ints, which floor."""

    def of_ints(left: Tensor, right: Tensor) -> Any:
        require((right != 0) & (left != _LEAST), "whether a divisor is zero")
        return number(function(left, right), int)

    return of_ints


def _divmod_of_ints(left: Tensor, right: Tensor) -> Any:
    return tuple([_divided(function)(left, right) for function in (operator.floordiv, operator.mod)])


def _true_division(left: Tensor, right: Tensor) -> Any:
    require((right != 0) & (abs(left) <= _EXACT) & (abs(right) <= _EXACT), "whether a division of ints is exact")
    return number(_real_of(left) / _real_of(right), float)


def _power_of_ints(left: Tensor, right: Tensor) -> Any:
    require(right >= 0, "whether an exponent is negative")
    estimate = _real_of(left) ** _real_of(right)
    require(abs(estimate) < _FITS, "whether an int fits 64 bits")
    return number(left**right, int)


def _shift_left(left: Tensor, right: Tensor) -> Any:
    require((right >= 0) & (right < 63), "whether a shift is in range")
    estimate = _real_of(left) * 2.0 ** _real_of(right)
    require(abs(estimate) < _FITS, "whether an int fits 64 bits")
    return number(left << right, int)


def _shift_right(left: Tensor, right: Tensor) -> Any:
    require((right >= 0) & (right < 64), "whether a shift is in range")
    return number(left >> right, int)


def _of_floats(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda left, right: number(function(_real(left), _real(right)), float)


def _float_division(left: Any, right: Any) -> Any:
    divisor = _real(right)
    require(divisor != 0, "whether a divisor is zero")
    return number(_real(left) / divisor, float)


def _float_power(left: Any, right: Any) -> Any:
    """What is not finite raises in Python, is complex, or depends on which operand is not finite."""
    result = _real(left) ** _real(right)
    require(abs(result) < math.inf, "whether a power of floats is finite")
    return number(result, float)


def _compared(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A comparison with a float: Python compares an int exactly."""

    def of_floats(left: Any, right: Any) -> Any:
        for side in (left, right):
            if kind_of(side) is int and (type(side) is not int or abs(side) > _EXACT):
                require(abs(tensor_of(side)) <= _EXACT, "whether an int is a float exactly")
        return number(function(_real(left), _real(right)), bool)

    return of_floats


class _Rule:
    """What an operator computes in a graph.

    Args:
        of_ints: the result for two tensors that stand for ints.
        of_floats: the result for two numbers, one of them a float.
        of_bools: the tensor of the result for those of two bools, where that is a bool.
    """

    __slots__ = ("of_ints", "of_floats", "of_bools")

    def __init__(
        self,
        of_ints: Callable[[Tensor, Tensor], Any],
        of_floats: Callable[[Any, Any], Any],
        of_bools: Callable[[Tensor, Tensor], Tensor] | None = None,
    ) -> None:
        self.of_ints = of_ints
        self.of_floats = of_floats
        self.of_bools = of_bools


def _refused(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """What a graph does not compute on floats as Python does."""
    return lambda left, right: function(settled(left), settled(right))


_RULES: Final[dict[Any, _Rule]] = {
    operator.add: _Rule(_checked(operator.add), _of_floats(operator.add)),
    operator.sub: _Rule(_checked(operator.sub), _of_floats(operator.sub)),
    operator.mul: _Rule(_checked(operator.mul), _of_floats(operator.mul)),
    operator.truediv: _Rule(_true_division, _float_division),
    operator.floordiv: _Rule(_divided(operator.floordiv), _refused(operator.floordiv)),
    operator.mod: _Rule(_divided(operator.mod), _refused(operator.mod)),
    divmod: _Rule(_divmod_of_ints, _refused(divmod)),
    operator.pow: _Rule(_power_of_ints, _float_power),
    operator.lshift: _Rule(_shift_left, _refused(operator.lshift)),
    operator.rshift: _Rule(_shift_right, _refused(operator.rshift)),
    **{
        function: _Rule(_plain(function, int), _refused(function), function)
        for function in (operator.and_, operator.or_, operator.xor)
    },
    **{
        function: _Rule(_plain(function, bool), _compared(function))
        for function in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
    },
}


def is_integral(key: Any) -> bool:
    """Whether a tensor or a number of the graph can be an index."""
    return key.dtype.category <= 1 if isinstance(key, Tensor) else kind_of(key) is not float
