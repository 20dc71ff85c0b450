"""Comparison, and what kind of number an element is."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np

from weft.core import Tensor, apply, op, shows
from weft.core.dispatch import binary_method
from weft.ops._rows import of_one, of_pairs
from weft.ops._rules import operands, tensor
from weft.ops.logic import logical_not

__all__ = [
    "allclose", "approximate_equal", "array_equal", "eq", "equal", "ge", "greater", "greater_equal", "gt", "in1d",
    "intopk", "isclose", "isfinite", "isin", "isinf", "isnan", "isneginf", "isposinf", "isreal", "le", "less",
    "less_equal", "lt", "ne", "not_equal",
]  # fmt: skip

_WHY = "bool result"
#: comparisons whose operands may be exchanged
_symmetric = partial(of_pairs, __name__, no_gradient=_WHY, commutative=True)
#: what kind of number an element is
_kind = partial(of_one, __name__, no_gradient=_WHY)


def _ordering(name: str, short: str, function: Any, what: str, *shown: str) -> Any:
    """Declare a comparison that has a short name and an operator, too."""
    sentence = f"Whether elements of `input` are {what}, with broadcasting."
    traits: dict[str, Any] = {"method": (name, short), "operator": f"__{short}__", "no_gradient": _WHY}
    return of_pairs(__name__, name, function, sentence, *shown, **traits)


equal = _symmetric("equal", jnp.equal, "Whether elements are equal, with broadcasting.", "[1, 2], 2", "[False  True]")
not_equal = _symmetric("not_equal", jnp.not_equal, "Whether elements differ, with broadcasting.", "[1, 2], 2",
    "[ True False]", also="ne")  # fmt: skip
less = _ordering("less", "lt", jnp.less, "smaller", "[1, 2], 2", "[ True False]")
less_equal = _ordering("less_equal", "le", jnp.less_equal, "smaller or equal", "[1, 3], 2", "[ True False]")
greater = _ordering("greater", "gt", jnp.greater, "larger", "[1, 3], 2", "[False  True]")
greater_equal = _ordering("greater_equal", "ge", jnp.greater_equal, "larger or equal", "[1, 2], 2", "[False  True]")


@op("ApproximateEqual", init="tolerance=1e-05", no_gradient=_WHY)
@shows("approximate_equal(Tensor([1.0]), Tensor([1.5]), 1.0)", "[ True]")
def approximate_equal(x: Any, y: Any, *, tolerance: float = 1e-5) -> Any:
    """Whether elements differ by less than a tolerance."""
    x, y = operands("approximate_equal", x, y)
    return jnp.abs(x - y) < tolerance if x.dtype != bool else x == y


@op("IsClose", init="rtol=1e-05, atol=1e-08, equal_nan=True", method="isclose", no_gradient=_WHY, promotes=True)
@shows("isclose(Tensor([1.0, 2.0]), Tensor([1.0, 2.1]))", "[ True False]")
def isclose(input: Any, other: Any, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """Whether ``abs(input - other) <= atol + rtol * abs(other)``."""
    input, other = operands("isclose", input, other)
    return jnp.isclose(input, other, rtol, atol, equal_nan)


@shows("allclose(Tensor([1.0]), Tensor([1.0]))", "True")
def allclose(input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """Whether all elements are close, as a tensor (see `isclose`)."""
    return isclose(input, other, rtol, atol, equal_nan).all()


@shows("array_equal(Tensor([1, 2]), Tensor([1, 2]))", "True")
def array_equal(input: Any, other: Any) -> Any:
    """Whether shapes and all elements are equal, as a tensor."""
    return equal(input, other).all() if input.shape == other.shape else Tensor(False)


# -- what kind of number ---------------------------------------------------------------------------------


isnan = _kind("isnan", jnp.isnan, "Whether each element is NaN.", '[float("nan"), 1.0]', "[ True False]",
    primitive="IsNan")  # fmt: skip
isinf = _kind("isinf", jnp.isinf, "Whether each element is infinite.", '[float("inf"), 1.0]', "[ True False]",
    primitive="IsInf")  # fmt: skip
isfinite = _kind("isfinite", jnp.isfinite, "Whether each element is neither NaN nor infinite.", '[float("inf"), 1.0]',
    "[False  True]", primitive="IsFinite")  # fmt: skip


@op("FloatStatus", no_gradient=_WHY)
def _float_status(input: Any) -> Any:
    """Whether any element is NaN or infinite, as 1.0 or 0.0: ``FloatStatus()(x)``, of shape (1,)."""
    return jnp.any(~jnp.isfinite(input)).reshape(1).astype(jnp.float32)


isposinf = _kind("isposinf", jnp.isposinf, "Whether each element is plus infinity.", '[float("inf"), 1.0]',
    "[ True False]", primitive="IsPosInf", classes=())  # fmt: skip
isneginf = _kind("isneginf", jnp.isneginf, "Whether each element is minus infinity.", '[-float("inf"), 1.0]',
    "[ True False]", primitive="IsNegInf", classes=())  # fmt: skip
isreal = _kind("isreal", jnp.isreal, "Whether each element has no imaginary part.", "[1 + 0j, 1j]", "[ True False]",
    primitive="IsReal", classes=())  # fmt: skip


@op("IsIn", classes=(), no_gradient=_WHY)
@shows("isin(Tensor([1, 2, 3]), Tensor([2, 5]))", "[False  True False]")
def isin(elements: Any, test_elements: Any) -> Any:
    """Whether each element occurs in another tensor."""
    return jnp.isin(elements, test_elements)


@shows("in1d(Tensor([1, 2]), Tensor([2]))", "[False  True]")
def in1d(ar1: Any, ar2: Any, invert: bool = False) -> Any:
    """Whether each element of a flattened tensor occurs in another."""
    found = isin(tensor(ar1).reshape(-1), ar2)
    return logical_not(found) if invert else found


_COMPARABLE = (Tensor, bool, int, float, complex, np.ndarray, np.generic)


def _equality(primitive: Any, otherwise: bool) -> Any:
    of_tensors = binary_method(primitive)

    def method(self: Tensor, other: Any) -> Any:
        if type(other) is Tensor:
            return of_tensors(self, other)
        if isinstance(other, (list, tuple)) and other:
            try:
                other = Tensor(other)
            except (TypeError, ValueError):
                return otherwise
        return apply(primitive, (self, other)) if isinstance(other, _COMPARABLE) else otherwise

    return method


Tensor.__eq__ = _equality(equal.primitive, False)  # type: ignore[method-assign]
Tensor.__ne__ = _equality(not_equal.primitive, True)  # type: ignore[method-assign]


@op("EqualCount", no_gradient="a number of elements")
def _equal_count(x: Any, y: Any) -> Any:
    """The number of places where two tensors are equal, of their type and shape (1,): ``EqualCount()(x, y)``."""
    if x.shape != y.shape:
        raise ValueError(f"EqualCount: shapes {tuple(x.shape)} and {tuple(y.shape)} differ")
    return jnp.sum(x == y).astype(x.dtype).reshape(1)


@op("InTopK", init="k", no_gradient=_WHY)
def _in_top_k(x1: Any, x2: Any, *, k: int) -> Any:
    """Whether the score of a class is among the `k` best of its row: ``InTopK(k)(scores, classes)``.

    A score that is equal to the last of them is among them; one that is not finite, or of no class, is not.
    """
    if x1.ndim != 2 or x2.shape != x1.shape[:1]:
        raise ValueError(f"InTopK: scores (N, C) take classes (N,), not {tuple(x1.shape)} and {tuple(x2.shape)}")
    inside = (x2 >= 0) & (x2 < x1.shape[1])
    scores = jnp.take_along_axis(x1, jnp.where(inside, x2, 0)[:, None], axis=1)
    better = jnp.sum(~(x1 <= scores), axis=1)
    return inside & jnp.isfinite(scores[:, 0]) & (better < k)


@shows("intopk(Tensor([[1.0, 3.0, 2.0]]), Tensor([2]), 2)", "[ True]")
def intopk(x1: Tensor, x2: Tensor, k: int) -> Tensor:
    """Whether the score of a class is among the largest.

    Args:
        x1: (N, C), of floats: the scores.
        x2: (N,), of ints: the classes.
        k: how many are the largest; equal scores count together.

    Returns:
        Tensor: (N,), of bools; False for a class that there is not.

    Raises:
        ValueError: the shapes do not fit.
    """
    return _in_top_k(x1, x2, k)


eq, ne, lt, le, gt, ge = equal, not_equal, less, less_equal, greater, greater_equal
