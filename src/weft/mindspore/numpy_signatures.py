"""Operations under the signatures of `mindspore.numpy`: ``sin(x, dtype=None)``, ``roll(a, shift, axis=None)``.

`dtype` is the element type of the result.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any, Final

from weft import dtypes, ops
from weft.lazily import Names
from weft.mint import rows
from weft.ops._rules import tensor

_WHOLE: Final = frozenset(each for each in dtypes.ALL if each.category == 1)
#: functions of ``x``; those of bools give float16, as in NumPy
_OF_ANGLES: Final = (
    "arcsin=asin arcsinh=asinh arccosh=acosh arctan=atan arctanh=atanh cos cosh sin sinh tan tanh arccos=acos"
)
_ELEMENTWISE: Final = (
    "abs absolute=abs exp exp2 expm1 log log10 log1p log2 sqrt cbrt square reciprocal sign floor ceil trunc rint "
    "deg2rad rad2deg radians=deg2rad fix=trunc isnan isinf isfinite invert bitwise_not=invert fabs=abs"
)
#: functions of ``a``
_OF_A: Final = "negative=neg positive logical_not"
#: functions of ``x1`` and ``x2``
_BINARY: Final = (
    "add subtract=sub multiply=mul divide=div true_divide=div floor_divide=floor_div mod=floor_mod "
    "remainder=floor_mod fmod power=pow arctan2=atan2 hypot heaviside maximum minimum logaddexp logaddexp2 "
    "gcd lcm equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor bitwise_and "
    "bitwise_or bitwise_xor matmul"
)
#: operations that compute in the type of integers
_OF_WHOLE: Final = {"exp2": lambda x: ops.pow(2, x), "reciprocal": ops.inv}
#: functions that give float32, and of which element types
_SINGLE: Final = {
    "ceil": frozenset(dtypes.ALL),
    "trunc": _WHOLE | {dtypes.bool_, dtypes.float64},
    "fix": _WHOLE | {dtypes.bool_, dtypes.float64},
    "sign": _WHOLE,
    "cbrt": frozenset({dtypes.float16}),
    "divide": frozenset({dtypes.float64}),
    "true_divide": frozenset({dtypes.float64}),
}
#: signatures without an element type, as in `weft.mint.rows`
_ROWS: Final = (
    "isposinf(x)",
    "isneginf(x)",
    "around(a, decimals=0) = round",
    "isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False)",
    "inner(a, b)",
    "outer(a, b)",
    "kron(a, b)",
    "squeeze(a, axis=None)",
    "tile(a, reps)",
    "repeat(a, repeats, axis=None) = repeat_interleave",
    "roll(a, shift, axis=None)",
    "fliplr(m)",
    "flipud(m)",
    "rot90(a, k=1, axes=(0, 1))",
    "broadcast_to(array, shape)",
    "swapaxes(x, axis1, axis2)",
    "moveaxis(a, source, destination)",
    "tril(m, k=0)",
    "triu(m, k=0)",
    "diagonal(a, offset=0, axis1=0, axis2=1)",
    "diff(a, n=1, axis=-1, prepend=None, append=None)",
    "hstack(tup)",
    "vstack(tup)",
    "dstack(tup)",
    "column_stack(tup)",
    "bincount(x, weights=None, minlength=0)",
)


def _typed(name: str, operation: Callable[..., Any], parameters: tuple[str, ...], flags: bool) -> Callable[..., Any]:
    """The operation of some tensors with an element type for its result."""
    named = [Parameter(each, Parameter.POSITIONAL_OR_KEYWORD) for each in parameters]
    wanted = Signature([*named, Parameter("dtype", Parameter.POSITIONAL_OR_KEYWORD, default=None)])

    def function(*args: Any, **kwargs: Any) -> Any:
        try:
            given = wanted.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{name}() {error}") from None
        dtype = given.pop("dtype", None)
        operands = [tensor(each) for each in given.values()]
        if flags:
            operands = [each.astype(dtypes.float16) if each.dtype is dtypes.bool_ else each for each in operands]
        whole = name in _OF_WHOLE and operands[0].dtype.category < 2
        if any(each.dtype in _SINGLE.get(name, ()) for each in operands):
            operands = [each.astype(dtypes.float32) for each in operands]
        found = (_OF_WHOLE[name] if whole else operation)(*operands)
        return found if dtype is None else found.astype(dtype)

    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    function.__doc__ = f"`weft.ops.{operation.__name__}` as ``{name}{wanted}``; `dtype` is that of the result."
    function.__signature__ = wanted  # type: ignore[attr-defined]
    return function


def _made() -> dict[str, Callable[..., Any]]:
    found = rows.functions(_ROWS, Names(ops), __name__)
    kinds = (
        (_OF_ANGLES, ("x",), True),
        (_ELEMENTWISE, ("x",), False),
        (_OF_A, ("a",), False),
        (_BINARY, ("x1", "x2"), False),
    )
    for names, parameters, flags in kinds:
        for entry in names.split():
            name, _, original = entry.partition("=")
            taken = ("input",) if name == "arccos" else parameters
            found[name] = _typed(name, getattr(ops, original or name), taken, flags)
    return found


_FUNCTIONS: Final = _made()
globals().update(_FUNCTIONS)

__all__ = list(_FUNCTIONS)
