"""Loops as functions: `while_loop`, `fori_loop`, `scan`, and their operator classes.

Plain Python that a capture steps through: a condition on a tensor, or a bound that only the graph knows, makes a loop
of the graph; any other loop is Python's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.core import OPERATOR_CLASSES, Operator, Tensor, keeps, shows, transparent
from weft.ops._checks import bools

__all__ = ["ForiLoop", "Scan", "WhileLoop", "fori_loop", "scan", "while_loop"]


@transparent
@shows("while_loop(lambda x: x < 100, lambda x: x * 3, Tensor(2))", "162")
def while_loop(cond_func: Callable[[Any], Any], loop_func: Callable[[Any], Any], init_val: Any) -> Any:
    """Apply a function to a value as long as a condition on it holds.

    Args:
        cond_func: whether to go on, given the value: a bool or a tensor of one element.
        loop_func: the next value, given the value; its types and shapes stay those of `init_val`.
        init_val: the first value: a tensor, a number, a string, or a nested tuple, list or dict of them.

    Returns:
        The first value for which the condition does not hold.

    Raises:
        TypeError: `cond_func` or `loop_func` is no function.
        ValueError: `loop_func` returned another type or shape.
    """
    _check_functions("while_loop", cond_func=cond_func, loop_func=loop_func)
    value = init_val
    while cond_func(value):
        new = loop_func(value)
        _check_alike("while_loop", value, new)
        value = new
    return value


@transparent
@shows("fori_loop(0, 4, lambda i, total: i + total, 0)", "6")
def fori_loop(
    lower: int | Tensor, upper: int | Tensor, loop_func: Callable[[Any, Any], Any], init_val: Any, unroll: bool = True
) -> Any:
    """Apply a function to a value once for each integer of a range.

    Args:
        lower: the first integer.
        upper: the integer after the last.
        loop_func: the next value, given the integer and the value; its types and shapes stay those of `init_val`.
        init_val: the first value: a tensor, a number, a string, or a nested tuple, list or dict of them.
        unroll: accepted; the compiler decides whether iterations are written out.

    Returns:
        The last value.

    Raises:
        TypeError: `lower` or `upper` is no integer, or `loop_func` is no function.
        ValueError: `loop_func` returned another type or shape.
    """
    for name, bound in (("lower", lower), ("upper", upper)):
        if not isinstance(bound, (int, Tensor)):
            raise TypeError(f"fori_loop: {name} must be an int or a Tensor, not {type(bound).__name__}")
    _check_functions("fori_loop", loop_func=loop_func)
    bools("fori_loop", unroll=unroll)
    value = init_val
    for index in range(lower, upper):
        new = loop_func(index, value)
        _check_alike("fori_loop", value, new)
        value = new
    return value


@transparent
@shows("scan(lambda total, item: (total + item, total * item), 0, [1, 2, 3])", "(6, [0, 2, 9])")
def scan(
    loop_func: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Sequence[Any] | None,
    length: int | None = None,
    reverse: bool = False,
    unroll: bool = True,
) -> tuple[Any, list[Any]]:
    """Apply a function to a value and each item of a sequence, and collect what it gives for each.

    Args:
        loop_func: the next value and a result, as a tuple, given the value and an item.
        init: the first value: a tensor, a number, a string, or a nested tuple, list or dict of them.
        xs: the items, a tuple or list; None for `length` items that are None.
        length: how many items there are; it may be left out where `xs` is given.
        reverse: begin with the last item.
        unroll: accepted; the compiler decides whether iterations are written out.

    Returns:
        tuple: the last value, and the list of the results, each at the position of its item.

    Raises:
        TypeError: `loop_func` is no function, `xs` no tuple or list, `length` no integer, or `unroll` no bool.
        ValueError: `loop_func` returned no tuple of two, or a value of another type or shape; or `length` is not that
            of `xs`.
    """
    _check_functions("scan", loop_func=loop_func)
    bools("scan", unroll=unroll)
    items = _items(xs, length)
    value = init
    results = []
    for item in items[::-1] if reverse else items:
        pair = loop_func(value, item)
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ValueError(f"scan: loop_func returns a tuple of the next value and a result, not {_shown(pair)}")
        new, result = pair
        _check_alike("scan", value, new)
        value = new
        results.append(result)
    return value, results[::-1] if reverse else results


@transparent
def _alike(old: Any, new: Any) -> bool:
    """Whether two values have the same types and shapes."""
    if isinstance(old, Tensor):
        return isinstance(new, Tensor) and old.shape == new.shape and old.dtype == new.dtype
    if type(old) is not type(new):
        return False
    if isinstance(old, (tuple, list)):
        if len(old) != len(new):
            return False
        for before, after in zip(old, new, strict=True):
            if not _alike(before, after):
                return False
    elif isinstance(old, dict):
        return list(old) == list(new) and _alike(list(old.values()), list(new.values()))
    return True


@transparent
def _check_alike(name: str, old: Any, new: Any) -> None:
    if not _alike(old, new):
        raise ValueError(
            f"{name}: loop_func returned {_shown(new)} where it was given {_shown(old)}; types and shapes stay the same"
        )


@transparent
def _shown(value: Any) -> str:
    """A value as errors name it: types and shapes."""
    if isinstance(value, Tensor):
        return f"a tensor of shape {value.shape} and dtype {value.dtype}"
    if isinstance(value, (tuple, list)):
        shown = []
        for item in value:
            shown.append(_shown(item))
        return f"a {type(value).__name__} of ({', '.join(shown)})"
    if isinstance(value, dict):
        shown = []
        for key, item in value.items():
            shown.append(f"{key!r}: {_shown(item)}")
        return f"a dict of ({', '.join(shown)})"
    return f"a value of type {type(value).__name__}"


@keeps
def _check_functions(name: str, /, **given: Any) -> None:
    for what, value in given.items():
        if not callable(value):
            raise TypeError(f"{name}: {what} must be a function, not {type(value).__name__}")


@transparent
def _items(xs: Any, length: Any) -> Any:
    """The items that a scan goes over."""
    if length is not None and (not isinstance(length, int) or isinstance(length, bool)):
        raise TypeError(f"scan: length must be an int or None, not {type(length).__name__}")
    if xs is None:
        if length is None:
            raise TypeError("scan: without xs, length says how many iterations there are")
        return [None] * length
    if not isinstance(xs, (tuple, list)):
        raise TypeError(f"scan: xs must be a tuple, a list or None, not {type(xs).__name__}")
    if length is not None and length != len(xs):
        raise ValueError(f"scan: length is {length}, but xs has {len(xs)} items")
    return xs


class _Loop(Operator):
    """Base: without attributes; a capture enters the call, which gives the user's functions on."""

    def __init__(self) -> None:
        self.fixed = {}

    @transparent
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return type(self).function(*args, **kwargs)


class WhileLoop(_Loop):
    """The operator of `while_loop`.

    Example:
        >>> WhileLoop()(lambda x: x < 100, lambda x: x + 1, 10)
        100
    """

    function = staticmethod(while_loop)


class ForiLoop(_Loop):
    """The operator of `fori_loop`.

    Example:
        >>> ForiLoop()(0, 4, lambda i, total: i + total, 0)
        6
    """

    function = staticmethod(fori_loop)


class Scan(_Loop):
    """The operator of `scan`.

    Example:
        >>> Scan()(lambda total, item: (total + item, total), 0, [1, 2, 3, 4])
        (10, [0, 1, 3, 6])
    """

    @transparent
    def __call__(self, loop_func: Any, init: Any, xs: Any, length: int | None = None, unroll: bool = True) -> Any:
        return scan(loop_func, init, xs, length, unroll=unroll)


OPERATOR_CLASSES.update({"ForiLoop": ForiLoop, "Scan": Scan, "WhileLoop": WhileLoop})
