"""Sizes that are known when the program runs: what they may be, and what they are.

A size is an int or a symbolic dimension of JAX: a polynomial over atoms, the names of the sizes that each call gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from itertools import product
from operator import add, floordiv, mul
from typing import Any

import jax
import jax.export
import jax.numpy as jnp

from weft._jax_compat import dimension_terms
from weft.compile.padding.table import Refused

#: an int or a symbolic dimension
Size = Any
is_symbolic = jax.export.is_symbolic_dim


def bounds(size: Size, bucket: Mapping[str, int]) -> tuple[int, int]:
    """The least and the largest that a size may be, or something beyond that.

    Args:
        size: the size.
        bucket: the largest value of each atom; the least is 1.

    Raises:
        Refused: the size has an atom that is not in the bucket, or no bounds are known.
    """
    if not is_symbolic(size):
        return int(size), int(size)
    low = high = 0
    for coefficient, factors in dimension_terms(size):
        span = (coefficient, coefficient)
        for factor, exponent in factors:
            for _ in range(exponent):
                span = _corners(mul, span, _factor_bounds(factor, bucket))
        low, high = low + span[0], high + span[1]
    return low, high


def _factor_bounds(factor: Any, bucket: Mapping[str, int]) -> tuple[int, int]:
    if isinstance(factor, str):
        if factor not in bucket:
            raise Refused("a size", f"nothing is said about {factor}")
        return 1, bucket[factor]
    operation, *operands = factor
    left, right = (bounds(operand, bucket) for operand in operands)
    if operation == "max":
        return max(left[0], right[0]), max(left[1], right[1])
    if operation == "min":
        return min(left[0], right[0]), min(left[1], right[1])
    if right[0] <= 0 or operation not in ("floordiv", "mod"):
        raise Refused("a size", f"{operation} with an operand that may be {right[0]}")
    if operation == "floordiv":
        return _corners(floordiv, left, right)
    if left[0] >= 0 and left[1] < right[0]:
        return left
    return 0, right[1] - 1


def _corners(function: Callable[[int, int], int], left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
    found = [function(a, b) for a, b in product(left, right)]
    return min(found), max(found)


def evaluated(size: Size, atoms: Mapping[str, Any]) -> Any:
    """What a size is in a call: an int, or a scalar array.

    Args:
        size: the size.
        atoms: the value of each atom, scalar arrays of one dtype.
    """
    if not is_symbolic(size):
        return int(size)
    terms = []
    for coefficient, factors in dimension_terms(size):
        values = [_factor(factor, atoms) for factor, exponent in factors for _ in range(exponent)]
        if coefficient != 1 or not values:
            values.append(coefficient)
        terms.append(reduce(mul, values))
    return reduce(add, terms)


def _factor(factor: Any, atoms: Mapping[str, Any]) -> Any:
    if isinstance(factor, str):
        return atoms[factor]
    operation, *operands = factor
    left, right = (evaluated(operand, atoms) for operand in operands)
    return _OPERATIONS[operation](left, right)


_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "floordiv": jnp.floor_divide,
    "mod": jnp.mod,
    "max": jnp.maximum,
    "min": jnp.minimum,
}


def times(sizes: Any) -> Size:
    """The product of sizes."""
    result: Size = 1
    for size in sizes:
        result = result * size
    return result


def ratio(size: Size, part: Size) -> int | None:
    """The positive int of which a size is the multiple of another size; None if there is none."""
    if is_symbolic(size) != is_symbolic(part):
        return None
    if not is_symbolic(size):
        found = size // part if part and size % part == 0 else 0
    else:
        (of_size, _), (of_part, _) = dimension_terms(size)[0], dimension_terms(part)[0]
        found = of_size // of_part if of_part else 0
    return found if found > 0 and part * found == size else None


def divided(size: Size, by: int) -> Size | None:
    """A size divided by an int; None if it is not a multiple."""
    found = size // by
    return found if found * by == size else None
