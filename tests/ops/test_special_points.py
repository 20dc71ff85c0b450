"""Every derivative at the points where rules go wrong: ties, zeros, kinks, equal operands, repeated indices.

The points are made from the declared samples. There the gradient is compared with the slopes on both sides in several
directions: where they agree it must equal them, at a kink it must lie between them, and it must be finite.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.ops.test_primitives import SINGLE_PRECISION, TABLE, attrs_of, samples_of

import weft
from weft.autodiff.backward import apply_rule
from weft.core import trace
from weft.core.dispatch import apply
from weft.core.primitive import Primitive, Sample
from weft.core.tensor import Tensor, wrap

#: primitives whose gradient need not lie between the slopes, and why
ELSEWHERE = {
    "CopySign": "at 0 its slope in a direction depends on the sign that comes with it; see the table below",
    "Eigh": "vectors of equal eigenvalues have no derivative, which the values' gradient shares",
    "Svd": "vectors of equal singular values have no derivative, which the values' gradient shares",
}
#: distances of the slopes' second point: where they disagree, the function is too curved or jumps
STEPS = (1e-5, 1e-7)
TOLERANCE = 1e-4
#: how many samples one executable holds; compiling them together is faster
BATCH = 24


@dataclass(frozen=True)
class Case:
    """A sample of a primitive, and points of the same shapes and types."""

    primitive: Primitive
    attrs: tuple[Any, ...]
    sample: Sample
    name: str
    points: dict[str, list[Any]]

    @property
    def positions(self) -> list[int]:
        """The floating operands."""
        return [i for i, x in enumerate(self.sample.inputs) if x is not None and x.dtype.kind == "f"]


def double(x: Any) -> Any:
    x = None if x is None else np.asarray(x)
    return x.astype(np.float64) if x is not None and x.dtype.kind == "f" else x


def special_points(inputs: list[Any], attrs: dict[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """Points made from a sample by what is known to break rules."""
    floating = [i for i, x in enumerate(inputs) if x is not None and x.dtype.kind == "f"]

    def changed(changes: dict[int, Any]) -> list[Any]:
        return [changes.get(i, x) for i, x in enumerate(inputs)]

    def filled(value: float) -> list[Any]:
        return changed({i: np.full_like(inputs[i], value) for i in floating})

    yield "as declared", inputs
    yield "zeros", filled(0.0)
    yield "negative zeros", filled(-0.0)
    yield "ones", filled(1.0)
    yield "minus ones", filled(-1.0)
    yield "integers", changed({i: np.round(inputs[i]) for i in floating})
    for i in floating:
        yield f"operand {i} zero", changed({i: np.zeros_like(inputs[i])})
        every_other = np.arange(inputs[i].size).reshape(inputs[i].shape) % 2
        yield f"operand {i} half zero", changed({i: inputs[i] * every_other})
    for i, j in itertools.combinations(floating, 2):
        if inputs[i].shape == inputs[j].shape:
            yield f"operands {i} and {j} equal", changed({j: inputs[i]})
            yield f"operands {i} and {j} opposite", changed({j: -inputs[i]})
    for name, value in attrs.items():
        if isinstance(value, float) and np.isfinite(value):
            for sign in (1, -1):
                yield f"{name} = {sign * value}", filled(sign * value)
                if len(floating) > 1 and inputs[floating[0]].shape == inputs[floating[1]].shape:
                    other = inputs[floating[1]] + sign * value
                    yield f"operands {sign * value} apart", changed({floating[0]: other})
    for i, x in enumerate(inputs):
        if x is not None and x.dtype.kind in "iub" and x.size:
            yield f"operand {i} all 0", changed({i: np.zeros_like(x)})
            if x.dtype.kind == "b" or x.max() > 0:
                yield f"operand {i} all 1", changed({i: np.ones_like(x)})


def shapes_of(sample: Sample) -> Iterator[tuple[str, Sample]]:
    """A sample, and the same with one and no element along the first dimension of its operands."""
    yield "", sample
    for size in (1, 0):
        inputs = tuple(None if x is None else np.asarray(x)[:size] if np.ndim(x) else x for x in sample.inputs)
        yield f" of size {size}", replace(sample, inputs=inputs)


def cases() -> list[Case]:
    found = []
    for name, primitive in TABLE.items():
        if primitive.no_gradient or name in SINGLE_PRECISION or name in ELSEWHERE:
            continue
        for number, declared in enumerate(samples_of(name)):
            for shape, sample in shapes_of(declared) if number == 0 else [("", declared)]:
                inputs = [double(x) for x in sample.inputs]
                attrs = attrs_of(primitive, declared)
                case = Case(primitive, attrs, replace(sample, inputs=tuple(inputs)), f"{name}-{number}{shape}", {})
                if not case.positions or not fits(case):
                    continue
                given = dict(zip(primitive.attr_names, attrs, strict=True))
                empty = any(x is not None and x.size == 0 for x in inputs)
                case.points.update([("empty", inputs)] if empty else special_points(inputs, given))
                found.append(case)
    return found


def fits(case: Case) -> bool:
    """Whether the primitive takes operands of these shapes, and gives floating results."""
    structs = [None if x is None else jax.ShapeDtypeStruct(x.shape, x.dtype) for x in case.sample.inputs]
    try:
        outputs = jax.eval_shape(case.primitive.bound(case.attrs), *structs)
    except (TypeError, ValueError, IndexError, ZeroDivisionError):
        return False
    return any(jnp.issubdtype(o.dtype, jnp.floating) for o in (outputs if case.primitive.multiple else [outputs]))


# -- what is computed: values beside each point, and the whole Jacobian from the rule ------------------------------


def values(case: Case, inputs: list[Any]) -> Any:
    """All floating results as one vector."""
    outputs = case.primitive.bound(case.attrs)(*inputs)
    outputs = outputs if case.primitive.multiple else [outputs]
    return jnp.concatenate([jnp.ravel(o) for o in outputs if jnp.issubdtype(o.dtype, jnp.floating)])


def jacobian(case: Case, inputs: list[Any]) -> Any:
    """Gradients of each floating result by all floating operands, from the derivative rule as it runs eagerly."""
    primitive = case.primitive
    outputs = primitive.bound(case.attrs)(*inputs)
    outputs = list(outputs) if primitive.multiple else [outputs]
    count = sum(o.size for o in outputs if jnp.issubdtype(o.dtype, jnp.floating))
    needs = [i in case.positions for i in range(len(inputs))]

    def of_result(number: Any) -> Any:
        douts: list[Any] = []
        first = 0
        for o in outputs:
            if jnp.issubdtype(o.dtype, jnp.floating):
                hot = jnp.arange(first, first + o.size) == number
                douts.append(wrap(hot.astype(o.dtype).reshape(o.shape)))
                first += o.size
            else:
                douts.append(None)
        with trace.suspended():
            tensors = [None if x is None else wrap(x) for x in inputs]
            gradients = apply_rule(primitive, case.attrs, tensors, [wrap(o) for o in outputs], douts, needs)
        parts = []
        for i in case.positions:
            gradient = gradients[i]
            parts.append(jnp.zeros(inputs[i].size) if gradient is None else gradient._data.reshape(-1))
        return jnp.concatenate(parts)

    size = sum(inputs[i].size for i in case.positions)
    return jax.lax.map(of_result, jnp.arange(count)) if count else jnp.zeros((0, size))


def directions(case: Case) -> Any:
    """Directions in which slopes are taken, one a row: all operands together, at random, each operand alone."""
    sizes = [case.sample.inputs[i].size for i in case.positions]
    random = np.random.default_rng(0)
    rows = [np.ones(sum(sizes)), random.normal(size=sum(sizes))]
    for number in range(len(sizes)):
        parts = [random.uniform(0.5, 1.5, n) * (k == number) for k, n in enumerate(sizes)]
        rows.append(np.concatenate(parts))
    return np.stack(rows)


def moved(case: Case, point: list[Any], by: Any) -> list[Any]:
    inputs, first = list(point), 0
    for i in case.positions:
        size = inputs[i].size
        inputs[i] = inputs[i] + by[first : first + size].reshape(inputs[i].shape)
        first += size
    return inputs


def stacked(rows: list[list[Any]]) -> list[Any]:
    return [None if column[0] is None else np.stack(column) for column in zip(*rows, strict=True)]


def computed(batch: list[Case]) -> list[tuple[Any, Any]]:
    """For each case: values [point, place, result] and Jacobians [point, result, operand]; compiled together."""
    operands = []
    for case in batch:
        offsets = [0 * directions(case)[0]]
        offsets += [sign * step * d for d in directions(case) for step in STEPS for sign in (1, -1)]
        places = [moved(case, point, by) if by.any() else point for point in case.points.values() for by in offsets]
        operands.append((stacked(places), stacked(list(case.points.values()))))

    def run(arguments: list[Any]) -> list[Any]:
        return [
            (
                jax.lax.map(lambda inputs, case=case: values(case, inputs), places),
                jax.lax.map(lambda inputs, case=case: jacobian(case, inputs), points),
            )
            for case, (places, points) in zip(batch, arguments, strict=True)
        ]

    found = jax.jit(run)(operands)
    return [
        (np.asarray(v).reshape(len(case.points), v.shape[0] // len(case.points), v.shape[-1]), np.asarray(j))
        for case, (v, j) in zip(batch, found, strict=True)
    ]


# -- what must hold ------------------------------------------------------------------------------------------------


def complaints(case: Case, found: Any, jacobians: Any) -> Iterator[str]:
    rows = directions(case)
    for (point, _), results, gradients in zip(case.points.items(), found, jacobians, strict=True):
        centre, beside = results[0], results[1:].reshape(len(rows), len(STEPS), 2, results.shape[-1])
        sides = np.array([[step, -step] for step in STEPS])[None, :, :, None]
        with np.errstate(invalid="ignore"):
            slopes = (beside - centre) / sides  # [direction, step, side, result]
            change = np.abs(slopes[:, 0] - slopes[:, 1])
            steady = np.isfinite(slopes).all((1, 2)) & (change < 1e-3 * (1 + np.abs(slopes[:, 1]))).all(1)
        smooth = steady.all(0)
        # an operand with an infinite slope elsewhere makes 0 * inf of a result that does not depend on it
        poles = (~smooth[:, None] & ~np.isfinite(gradients)).any(0)
        wrong = smooth[:, None] & ~np.isfinite(gradients) & ~poles
        if wrong.any():
            yield f"{case.name} at {point}: not finite in results {np.flatnonzero(wrong.any(1))}"
        along = np.where(np.isfinite(gradients), gradients, 0) @ rows.T  # [result, direction]
        low, high = slopes[:, 1].min(1).T, slopes[:, 1].max(1).T
        room = TOLERANCE * (1 + np.maximum(np.abs(low), np.abs(high)))
        checked = steady.T & np.isfinite(gradients).all(1)[:, None]
        with np.errstate(invalid="ignore"):
            off = checked & ((along < low - room) | (along > high + room))
        if off.any():
            result, direction = np.argwhere(off)[0]
            yield (
                f"{case.name} at {point}: result {result}, direction {direction}: the gradient gives "
                f"{along[result, direction]:.6g}, the slopes are {low[result, direction]:.6g} and "
                f"{high[result, direction]:.6g}"
            )


ALL = cases()
BATCHES = [ALL[i : i + BATCH] for i in range(0, len(ALL), BATCH)]


@pytest.mark.parametrize("batch", BATCHES, ids=lambda batch: batch[0].name)
def test_gradient_lies_between_the_slopes(batch: list[Case]) -> None:
    found = [
        line
        for case, (results, jacobians) in zip(batch, computed(batch), strict=True)
        for line in complaints(case, results, jacobians)
    ]
    assert not found, "\n".join(found)
