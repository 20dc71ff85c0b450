"""Checks of arguments, as programs import them from `mindspore._checkparam`.

Later releases have functions and numbers of relations (``check_positive_int``, ``GE``), former ones the same as
methods of `Validator` and members of `Rel`.
"""

from __future__ import annotations

import functools
import inspect
import operator
import re
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from typing import Any, Final

__all__ = [
    "EQ", "GE", "GT", "IN", "INC_BOTH", "INC_LEFT", "INC_NEITHER", "INC_RIGHT", "LE", "LT", "NE", "NOT_IN", "Rel",
    "Validator", "args_type_check", "check", "check_bool", "check_equal_int", "check_file_name_by_regular",
    "check_float", "check_float_range", "check_int", "check_int_range", "check_is_float", "check_is_int",
    "check_is_number", "check_isinstance", "check_negative_int", "check_non_negative_float",
    "check_non_negative_int", "check_non_negative_int_sequence", "check_non_positive_int", "check_number",
    "check_number_range", "check_positive_float", "check_positive_float_sequence", "check_positive_int",
    "check_positive_int_sequence", "check_str_and_none_by_regular", "check_str_by_regular", "check_string",
    "check_subclass", "check_tensor_dtype_valid", "check_type_name", "check_types_same_and_valid",
    "check_value_type", "once", "triple", "twice",
]  # fmt: skip


class Rel(IntEnum):
    """Relations of a value to a limit, to two limits, or to a collection."""

    EQ = 1
    NE = 2
    LT = 3
    LE = 4
    GT = 5
    GE = 6
    INC_NEITHER = 7
    INC_LEFT = 8
    INC_RIGHT = 9
    INC_BOTH = 10
    IN = 11
    NOT_IN = 12


EQ, NE, LT, LE, GT, GE = Rel.EQ, Rel.NE, Rel.LT, Rel.LE, Rel.GT, Rel.GE
INC_NEITHER, INC_LEFT, INC_RIGHT, INC_BOTH = Rel.INC_NEITHER, Rel.INC_LEFT, Rel.INC_RIGHT, Rel.INC_BOTH
IN, NOT_IN = Rel.IN, Rel.NOT_IN

_BINARY: Final[dict[int, tuple[str, Callable[[Any, Any], bool]]]] = {
    EQ: ("=", operator.eq),
    NE: ("!=", operator.ne),
    LT: ("<", operator.lt),
    LE: ("<=", operator.le),
    GT: (">", operator.gt),
    GE: (">=", operator.ge),
    IN: ("in", lambda value, values: value in values),
    NOT_IN: ("not in", lambda value, values: value not in values),
}
#: brackets of a range, and whether its ends are in it
_RANGES: Final[dict[int, tuple[str, str]]] = {
    INC_NEITHER: ("(", ")"),
    INC_LEFT: ("[", ")"),
    INC_RIGHT: ("(", "]"),
    INC_BOTH: ("[", "]"),
}


def _subject(arg_name: str | None, prim_name: str | None) -> str:
    if not arg_name:
        return f"For '{prim_name}', the input value" if prim_name else "The input value"
    return f"For '{prim_name}', the '{arg_name}'" if prim_name else f"The '{arg_name}'"


def _is_number(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _holds(value: Any, lower: Any, upper: Any, rel: int) -> bool:
    left, right = _RANGES[rel]
    above = value >= lower if left == "[" else value > lower
    below = value <= upper if right == "]" else value < upper
    return bool(above and below)


def check_is_number(arg_value: Any, arg_type: type, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """The value, if it is a number of the type and no bool.

    Raises:
        TypeError: it is not.

    Example:
        >>> check_is_number(3, int)
        3
    """
    if not _is_number(arg_value, arg_type):
        subject = _subject(arg_name, prim_name).replace("the '", "the type of '")
        raise TypeError(f"{subject} must be '{arg_type.__name__}', but got '{type(arg_value).__name__}'.")
    return arg_value


def _limited(kind: type, arg_value: Any, limit: Any, rel: int, arg_name: str | None, prim_name: str | None) -> Any:
    sign, holds = _BINARY[rel]
    subject, name = _subject(arg_name, prim_name), kind.__name__
    if not isinstance(arg_value, kind):
        raise TypeError(f"{subject} must be {name}, but got '{type(arg_value).__name__}'")
    if isinstance(arg_value, bool):
        raise TypeError(f"{subject} must be {name} and must {sign} {limit}, but got '{arg_value}' with type 'bool'.")
    if not holds(arg_value, limit):
        raise ValueError(
            f"{subject} must be {name} and must {sign} {limit}, but got '{arg_value}' with type "
            f"'{type(arg_value).__name__}'."
        )
    return arg_value


def check_int(arg_value: Any, value: int, rel: int, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """The value, if it is an int in the relation to the limit.

    Raises:
        TypeError: it is no int.
        ValueError: the relation does not hold.

    Example:
        >>> check_int(4, 3, GE, "count", "Net")
        4
        >>> check_int(2, 3, GE, "count", "Net")
        Traceback (most recent call last):
            ...
        ValueError: For 'Net', the 'count' must be int and must >= 3, but got '2' with type 'int'.
    """
    return _limited(int, arg_value, value, rel, arg_name, prim_name)


def check_float(
    arg_value: Any, value: float, rel: int, arg_name: str | None = None, prim_name: str | None = None
) -> Any:
    """The value, if it is a float in the relation to the limit; see `check_int`.

    Example:
        >>> check_float(4.0, 3.0, GE)
        4.0
    """
    return _limited(float, arg_value, value, rel, arg_name, prim_name)


def _to_limit(kind: type, limit: Any, rel: int, what: str) -> Callable[..., Any]:
    def check_limit(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> Any:
        return _limited(kind, arg_value, limit, rel, arg_name, prim_name)

    check_limit.__doc__ = f"The value, if it is {what}; see `check_int`."
    return check_limit


check_positive_int = _to_limit(int, 0, GT, "an int above 0")
check_negative_int = _to_limit(int, 0, LT, "an int below 0")
check_non_positive_int = _to_limit(int, 0, LE, "an int not above 0")
check_non_negative_int = _to_limit(int, 0, GE, "an int not below 0")
check_positive_float = _to_limit(float, 0, GT, "a float above 0")
check_non_negative_float = _to_limit(float, 0, GE, "a float not below 0")


def _of_each(check_one: Callable[..., Any]) -> Callable[..., Any]:
    def check_each(sequence: Sequence[Any], arg_name: str | None = None, prim_name: str | None = None) -> Any:
        for index, value in enumerate(sequence):
            check_one(value, f"{arg_name}[{index}]" if arg_name else None, prim_name)
        return sequence

    check_each.__doc__ = f"The sequence, if each of its values passes: {check_one.__doc__}"
    return check_each


check_positive_int_sequence = _of_each(check_positive_int)
check_non_negative_int_sequence = _of_each(check_non_negative_int)
check_positive_float_sequence = _of_each(check_positive_float)


def check_is_int(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """The value, if it is an int and no bool; see `check_is_number`."""
    return check_is_number(arg_value, int, arg_name, prim_name)


def check_is_float(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """The value, if it is a float; see `check_is_number`."""
    return check_is_number(arg_value, float, arg_name, prim_name)


def check_equal_int(arg_value: Any, value: int, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """The value, if it is this int; see `check_int`."""
    return _limited(int, arg_value, value, EQ, arg_name, prim_name)


def check_number_range(
    arg_value: Any,
    lower_limit: Any,
    upper_limit: Any,
    rel: int,
    value_type: type,
    arg_name: str | None = None,
    prim_name: str | None = None,
) -> Any:
    """The value, if it is a number of the type between the limits.

    Raises:
        TypeError: it is no such number.
        ValueError: it is not between them.

    Example:
        >>> check_number_range(2, 0, 2, INC_BOTH, int)
        2
        >>> check_number_range(2, 0, 2, INC_LEFT, int, "index")
        Traceback (most recent call last):
            ...
        ValueError: The 'index' must be in range of [0, 2), but got 2 with type 'int'.
    """
    subject, got = _subject(arg_name, prim_name), type(arg_value).__name__
    if not _is_number(arg_value, value_type):
        raise TypeError(f"{subject} must be '{value_type.__name__}',  but got '{got}'.")
    if not _holds(arg_value, lower_limit, upper_limit, rel):
        left, right = _RANGES[rel]
        limits = f"{left}{lower_limit}, {upper_limit}{right}"
        raise ValueError(f"{subject} must be in range of {limits}, but got {arg_value} with type '{got}'.")
    return arg_value


def check_int_range(
    arg_value: Any,
    lower_limit: int,
    upper_limit: int,
    rel: int,
    arg_name: str | None = None,
    prim_name: str | None = None,
) -> Any:
    """The value, if it is an int between the limits; see `check_number_range`."""
    return check_number_range(arg_value, lower_limit, upper_limit, rel, int, arg_name, prim_name)


def check_float_range(
    arg_value: Any,
    lower_limit: float,
    upper_limit: float,
    rel: int,
    arg_name: str | None = None,
    prim_name: str | None = None,
) -> Any:
    """The value, if it is a float between the limits; see `check_number_range`."""
    return check_number_range(arg_value, lower_limit, upper_limit, rel, float, arg_name, prim_name)


def check_number(arg_name: str, arg_value: Any, value: Any, rel: int, prim_name: str | None = None) -> Any:
    """The value, if it is in the relation to the limit.

    Raises:
        ValueError: it is not.

    Example:
        >>> check_number("rate", 0.5, 0, GT)
        0.5
    """
    sign, holds = _BINARY[rel]
    if not holds(arg_value, value):
        subject = f"For '{prim_name}', the" if prim_name else "The"
        raise ValueError(f"{subject} argument '{arg_name}' must {sign} {value}, but got {arg_value}.")
    return arg_value


def check(
    arg_name: str,
    arg_value: Any,
    value_name: str,
    value: Any,
    rel: int = EQ,
    prim_name: str | None = None,
    excp_cls: type[Exception] = ValueError,
) -> Any:
    """The value, if it is in the relation to another one.

    Raises:
        Exception: it is not; of the class `excp_cls`.

    Example:
        >>> check("rows", 2, "columns", 2)
        2
        >>> check("rows", 1, "columns", 2, EQ, "Net")
        Traceback (most recent call last):
            ...
        ValueError: For 'Net', the 'rows' should be = columns: 2, but got 1.
    """
    sign, holds = _BINARY[rel]
    if not holds(arg_value, value):
        raise excp_cls(f"{_subject(arg_name, prim_name)} should be {sign} {value_name}: {value}, but got {arg_value}.")
    return arg_value


def check_bool(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """The value, if it is a bool.

    Raises:
        TypeError: it is not.

    Example:
        >>> check_bool(True)
        True
    """
    if not isinstance(arg_value, bool):
        raise TypeError(f"{_subject(arg_name, prim_name)} must be a bool, but got {type(arg_value).__name__}.")
    return arg_value


def check_string(
    arg_value: Any, valid_values: Sequence[str], arg_name: str | None = None, prim_name: str | None = None
) -> Any:
    """The value, if it is one of the strings.

    Raises:
        ValueError: it is not.

    Example:
        >>> check_string("same", ["same", "valid"])
        'same'
    """
    if isinstance(arg_value, str) and arg_value in valid_values:
        return arg_value
    subject = _subject(arg_name, prim_name)
    raise ValueError(f"{subject} must be str and must be in '{valid_values}', but got '{arg_value}'.")


def check_isinstance(arg_name: str, arg_value: Any, classes: Any) -> Any:
    """The value, if it is an instance of a class, or of one of several.

    Raises:
        ValueError: it is not.

    Example:
        >>> check_isinstance("name", "a", str)
        'a'
    """
    if not isinstance(arg_value, classes):
        raise ValueError(f"The parameter '{arg_name}' must be isinstance of {classes}, but got {arg_value}.")
    return arg_value


def check_value_type(arg_name: str, arg_value: Any, valid_types: Any, prim_name: str | None = None) -> Any:
    """The value, if it is of one of the types; a bool is none of the numbers.

    Raises:
        TypeError: it is not.

    Example:
        >>> check_value_type("size", 3, [int, tuple])
        3
        >>> check_value_type("size", True, [int, tuple])
        Traceback (most recent call last):
            ...
        TypeError: The type of 'size' should be one of '['int', 'tuple']', but got type 'bool'.
    """
    types = tuple(valid_types) if isinstance(valid_types, Iterable) else (valid_types,)
    if isinstance(arg_value, types) and (not isinstance(arg_value, bool) or bool in types):
        return arg_value
    names = [kind.__name__ for kind in types]
    subject = f"For '{prim_name}', the" if prim_name else "The"
    wanted = f"'{names[0]}'" if len(names) == 1 else f"one of '{names}'"
    raise TypeError(f"{subject} type of '{arg_name}' should be {wanted}, but got type '{type(arg_value).__name__}'.")


def check_subclass(arg_name: str, type_: Any, template_types: Any, prim_name: str | None = None) -> None:
    """Check that an element type is one of several.

    Raises:
        TypeError: it is not.

    Example:
        >>> from weft import float16, float32, int32
        >>> check_subclass("x", float32, (float16, float32))
        >>> check_subclass("x", int32, (float32,), "Net")
        Traceback (most recent call last):
            ...
        TypeError: For 'Net', the element of 'x' must be Float32, but got Int32.
    """
    wanted = tuple(template_types) if isinstance(template_types, Iterable) else (template_types,)
    if type_ in wanted or any(isinstance(one, type) and isinstance(type_, one) for one in wanted):
        return
    names = ", ".join(str(one) for one in wanted)
    subject = f"For '{prim_name}', the" if prim_name else "The"
    raise TypeError(f"{subject} element of '{arg_name}' must be {names}, but got {type_}.")


def check_tensor_dtype_valid(arg_name: str, arg_type: Any, valid_dtypes: Any, prim_name: str | None = None) -> Any:
    """The element type, if it is one of several; see `check_subclass`."""
    check_subclass(arg_name, arg_type, valid_dtypes, prim_name)
    return arg_type


def check_type_name(arg_name: str, arg_type: Any, valid_types: Any, prim_name: str | None = None) -> Any:
    """The element type, if it is one of several; see `check_subclass`."""
    check_subclass(arg_name, arg_type, valid_types, prim_name)
    return arg_type


def check_types_same_and_valid(args: dict[str, Any], valid_values: Any, prim_name: str | None = None) -> None:
    """Check that element types, by name, are the same one, and one of several.

    Raises:
        TypeError: they are not.

    Example:
        >>> from weft import float32
        >>> check_types_same_and_valid({"x": float32, "y": float32}, (float32,))
    """
    for name, found in args.items():
        check_subclass(name, found, valid_values, prim_name)
    (first, kind), *others = args.items()
    for name, found in others:
        check(f"type of {name}", found, f"type of {first}", kind, EQ, prim_name, TypeError)


def _by_regular(pattern: str, target: str, flag: int, prim_name: str | None, said: str) -> bool:
    if re.match(pattern, target, flag) is None:
        start = f"For '{prim_name}', the" if prim_name else "The"
        raise ValueError(f"{start} '{target}' is illegal, it must be match {said}.")
    return True


def check_file_name_by_regular(target: str, reg: str | None = None, prim_name: str | None = None) -> bool:
    """Check that all characters of a file's name are usual ones.

    Raises:
        ValueError: one is not.

    Example:
        >>> check_file_name_by_regular("net-1_5.ckpt")
        True
    """
    pattern = reg or r"^[0-9a-zA-Z@\_\-\.\:\/\\]+$"
    return _by_regular(pattern, target, 0, prim_name, f"regular '{pattern}'")


def check_str_by_regular(
    target: str, reg: str | None = None, flag: re.RegexFlag = re.ASCII, prim_name: str | None = None
) -> bool:
    """Check that a text is a name: letters, digits, dots and underscores, not none of them.

    Args:
        target: the text.
        reg: another regular expression.
        flag: how it is read.
        prim_name: who asks.

    Raises:
        ValueError: it does not match.
        TypeError: it is no text.

    Example:
        >>> check_str_by_regular("layer.weight")
        True
    """
    pattern = reg or r"^\w+[0-9a-zA-Z\_\.]*$"
    return _by_regular(pattern, target, flag, prim_name, f"regular'{pattern}' by flags'{flag!s}.'")


def check_str_and_none_by_regular(
    target: str, reg: str | None = None, flag: re.RegexFlag = re.ASCII, prim_name: str | None = None
) -> bool:
    """Check that a text is a name, which may have hyphens, or empty; see `check_str_by_regular`."""
    return check_str_by_regular(target, reg or r"^\w*[0-9a-zA-Z\_\.\-]*$", flag, prim_name)


def args_type_check(*type_args: Any, **type_kwargs: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that checks the types of arguments; None is of every type.

    Args:
        type_args: the types of the first parameters, each a type or a tuple of types.
        type_kwargs: those of other parameters, by name.

    Example:
        >>> @args_type_check(size=int)
        ... def double(size):
        ...     return size * 2
        >>> double(2)
        4
        >>> double("2")
        Traceback (most recent call last):
            ...
        TypeError: The parameter 'size' must be <class 'int'>, but got <class 'str'>
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        parameters = inspect.signature(function)
        types = parameters.bind_partial(*type_args, **type_kwargs).arguments

        @functools.wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            for name, value in parameters.bind(*args, **kwargs).arguments.items():
                if value is not None and name in types and not isinstance(value, types[name]):
                    raise TypeError(f"The parameter '{name}' must be {types[name]}, but got {type(value)}")
            return function(*args, **kwargs)

        return checked

    return decorate


def _times(count: int) -> Callable[[Any], tuple[Any, ...]]:
    def repeated(m: Any) -> tuple[Any, ...]:
        return tuple(m) if isinstance(m, Iterable) and not isinstance(m, str) else (m,) * count

    repeated.__doc__ = f"A value {count} times, or the values that a collection has."
    return repeated


once, twice, triple = _times(1), _times(2), _times(3)


class Validator:
    """The checks of this module, as methods.

    Example:
        >>> Validator.check_positive_int(3, "count")
        3
    """


for _name in __all__:
    if _name.startswith("check"):
        setattr(Validator, _name, staticmethod(globals()[_name]))
