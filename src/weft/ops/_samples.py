"""Sample operands for the declarations: small, away from kinks and poles, in the shapes that tend to break rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core.primitive import Sample

A = np.array([[1.5, -2.0, 0.5], [3.0, 0.25, -1.0]], np.float32)
B = np.array([[2.0, 1.0, -0.5], [0.75, -1.25, 4.0]], np.float32)
POSITIVE = np.array([[1.5, 2.0, 0.5], [3.0, 0.25, 1.25]], np.float32)
UNIT = np.array([[0.5, -0.75, 0.25], [0.125, -0.375, 0.875]], np.float32)
INTEGERS = np.array([[3, -2, 7], [4, 1, -5]], np.int32)
DIVISORS = np.array([[2, 3, -2], [-3, 4, 2]], np.int32)
FLAGS = np.array([[True, False, True], [False, False, True]])

Samples = Callable[[], list[Sample]]


def unary(*arrays: Any, **attrs: Any) -> Samples:
    """Samples of a one-operand primitive; float32 values of both signs when no array is given."""
    return lambda: [Sample((a,), dict(attrs)) for a in arrays or (A,)]


def positive(**attrs: Any) -> Samples:
    """Samples with positive operands."""
    return unary(POSITIVE, **attrs)


def unit(**attrs: Any) -> Samples:
    """Samples with operands strictly between -1 and 1."""
    return unary(UNIT, **attrs)


def pairs(a: Any = A, b: Any = B, differentiable: bool = True, **attrs: Any) -> Samples:
    """Samples of a two-operand elementwise primitive: equal shapes and broadcasting ones."""
    return lambda: [
        Sample((a, b), dict(attrs), differentiable),
        Sample((a, b[0]), dict(attrs), differentiable),
        Sample((a[:, :1], b), dict(attrs), differentiable),
    ]


def integer_pairs(**attrs: Any) -> Samples:
    """Two integer operands, the second without zeros."""
    return lambda: [
        Sample((INTEGERS, DIVISORS), dict(attrs), False),
        Sample((INTEGERS, DIVISORS[0]), dict(attrs), False),
    ]


def one(*inputs: Any, differentiable: bool = True, vmap: bool = True, **attrs: Any) -> Samples:
    """One sample."""
    return lambda: [Sample(inputs, dict(attrs), differentiable, vmap)]


def each(*attrs: dict[str, Any], inputs: tuple[Any, ...] = (A,), differentiable: bool = True) -> Samples:
    """One sample for each set of attributes."""
    return lambda: [Sample(inputs, a, differentiable) for a in attrs]
