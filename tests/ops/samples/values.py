"""What primitives are tested with: operands away from kinks and poles, in shapes that tend to break rules."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Sample:
    """Inputs for which a primitive is tested in every mode.

    Args:
        inputs: NumPy arrays (or None) for the tensor operands.
        attrs: static attributes by name.
        differentiable: whether finite differences are meaningful at these inputs.
        vmap: whether mapping over a leading axis is meaningful.
    """

    inputs: tuple[Any, ...]
    attrs: dict[str, Any] = field(default_factory=dict)
    differentiable: bool = True
    vmap: bool = True


A = np.array([[1.5, -2.0, 0.5], [3.0, 0.25, -1.0]], np.float32)
B = np.array([[2.0, 1.0, -0.5], [0.75, -1.25, 4.0]], np.float32)
POSITIVE = np.array([[1.5, 2.0, 0.5], [3.0, 0.25, 1.25]], np.float32)
UNIT = np.array([[0.5, -0.75, 0.25], [0.125, -0.375, 0.875]], np.float32)
INTEGERS = np.array([[3, -2, 7], [4, 1, -5]], np.int32)
DIVISORS = np.array([[2, 3, -2], [-3, 4, 2]], np.int32)
FLAGS = np.array([[True, False, True], [False, False, True]])


def unary(*arrays: Any, **attrs: Any) -> Sample:
    """Sample of a one-operand primitive; float32 values of both signs when no array is given."""
    return [Sample((a,), dict(attrs)) for a in arrays or (A,)]


def positive(**attrs: Any) -> Sample:
    """Sample with positive operands."""
    return unary(POSITIVE, **attrs)


def unit(**attrs: Any) -> Sample:
    """Sample with operands strictly between -1 and 1."""
    return unary(UNIT, **attrs)


def pairs(a: Any = A, b: Any = B, differentiable: bool = True, **attrs: Any) -> Sample:
    """Sample of a two-operand elementwise primitive: equal shapes and broadcasting ones."""
    return [
        Sample((a, b), dict(attrs), differentiable),
        Sample((a, b[0]), dict(attrs), differentiable),
        Sample((a[:, :1], b), dict(attrs), differentiable),
    ]


def integer_pairs(**attrs: Any) -> Sample:
    """Two integer operands, the second without zeros."""
    return [Sample((INTEGERS, DIVISORS), dict(attrs), False), Sample((INTEGERS, DIVISORS[0]), dict(attrs), False)]


def one(*inputs: Any, differentiable: bool = True, vmap: bool = True, **attrs: Any) -> Sample:
    """One sample."""
    return [Sample(inputs, dict(attrs), differentiable, vmap)]


def each(*attrs: dict[str, Any], inputs: tuple[Any, ...] = (A,), differentiable: bool = True) -> Sample:
    """One sample for each set of attributes."""
    return [Sample(inputs, a, differentiable) for a in attrs]
