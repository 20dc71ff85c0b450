"""Every derivative at the points where rules go wrong: ties, zeros, kinks, equal operands, repeated indices.

The points are made from the declared samples. There the gradient is compared with the slopes on both sides in several
directions: where they agree it must equal them, at a kink it must lie between them, and it must be finite.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import weft
from tests.ops.samples.values import Sample
from tests.ops.table import SINGLE_PRECISION, TABLE, attrs_of, samples_of
from weft.autodiff.perhaps import settled
from weft.autodiff.rules import apply_rule
from weft.core import trace
from weft.core.dispatch import apply
from weft.core.primitive import Primitive
from weft.core.tensor import Tensor, wrap

#: primitives whose gradient need not lie between the slopes, and why
ELSEWHERE = {
    "BinaryCrossEntropyLoss": "its slope at 0 and 1 is that of torch and MindSpore; see the table below",
    "CopySign": "at 0 its slope in a direction depends on the sign that comes with it; see the table below",
    "CropAndResize": "it computes in single precision, and jumps where a box leaves the image",
    "DropoutByBits": "the probability is no path for gradients",
    "Eigh": "vectors of equal eigenvalues have no derivative, which the values' gradient shares",
    "FractionalCells": "the numbers that place the cells are no path for gradients",
    "FractionalMaxima": "it jumps where the numbers that place its windows move one",
    "GaussianNLL": "the smallest variance is no path for gradients, as in torch",
    "GridSample": "on a pixel it has a kink in each coordinate, of which the gradient takes one side",
    "LuFactors": "a matrix of lower rank has no derivative",
    "LarsScale": "it jumps where a norm is 0: there nothing is scaled",
    "MaxPoolingGrad": "it jumps to another element where those of a window are equal",
    "Median": "of equal elements one is taken, which is none of the sides; see the table below",
    "NanMedian": "of equal elements one is taken, which is none of the sides; see the table below",
    "Qr": "a matrix of lower rank has no derivative",
    "Quantile": "of equal elements two are taken, which is none of the sides",
    "ROIAlign": "regions are no path for gradients, as in MindSpore; those by the images are tested with its answers",
    "RegularizedBeta": "the first two operands are no path for gradients",
    "ScaledAndTranslated": "a scale of 0 leaves nothing; it computes in single precision, and jumps at its edge",
    "SingularValues": "equal ones have no derivative",
    "Sort": "equal elements keep their order, which is none of the sides; see the table below",
    "Svd": "vectors of equal singular values have no derivative, which the values' gradient shares",
    "TopK": "equal elements keep their order, which is none of the sides; see the table below",
}
#: primitives whose integers cannot be others, or whose first dimension cannot be 1, and why
RIGID = {
    "CropAndResize": "its images stay in range only as declared",
    "GatherNd": "its coordinates stay in range only as declared",
    "GetItem": "its positions stay in range only as declared",
    "IndexAdd": "its positions stay in range only as declared",
    "LastWritten": "its positions stay in range only as declared",
    "IndexSet": "its positions stay in range only as declared",
    "MarginOfClass": "its classes stay in range of the weights only as declared",
}
#: distances of the slopes' second point: where they disagree, the function is too curved or jumps
STEPS = (1e-5, 1e-7)
TOLERANCE = 1e-4
#: how many samples one executable holds; compiling them together is faster
BATCH = 40
#: the programs are small and run once: compiling them well takes longer than running them
QUICK = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}


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
            if x.dtype.kind == "b" or (x.max() > 0 and max(x.shape, default=2) > 1):
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
            resized = number == 0 and not primitive.elementwise and name not in RIGID
            for shape, sample in shapes_of(declared) if resized else [("", declared)]:
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
            gradient = settled(gradients[i])
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


@functools.cache
def computed(number: int) -> list[tuple[Any, Any]]:
    """For each case of a batch: values [point, place, result] and Jacobians [point, result, operand]."""
    operands, batch = [], BATCHES[number]
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

    found = jax.jit(run, compiler_options=QUICK)(operands)
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


@pytest.mark.parametrize("number", range(len(BATCHES)))
def test_gradient_lies_between_the_slopes(number: int) -> None:
    found = [
        line
        for case, (results, jacobians) in zip(BATCHES[number], computed(number), strict=True)
        for line in complaints(case, results, jacobians)
    ]
    assert not found, "\n".join(found)


# -- compiled, the gradients are the same ---------------------------------------------------------------------------


def gradients(case: Case, tensors: list[Tensor]) -> list[Tensor]:
    """Gradients of the sum of all floating results by the floating operands."""

    def total(*chosen: Tensor) -> Tensor:
        full = list(tensors)
        for position, tensor in zip(case.positions, chosen, strict=True):
            full[position] = tensor
        outputs = apply(case.primitive, tuple(full), case.attrs)
        parts = [o.sum() for o in (outputs if case.primitive.multiple else [outputs]) if o.dtype.is_floating]
        return sum(parts[1:], parts[0])

    found = weft.grad(total, tuple(range(len(case.positions))))(*[tensors[i] for i in case.positions])
    return list(found) if isinstance(found, tuple) else [found]


@pytest.mark.parametrize("number", range(len(BATCHES)))
def test_compiled_gradients_are_those_of_the_rules(number: int) -> None:
    """The first sample of each primitive; all of a batch in one graph."""
    chosen = [
        (case, jacobians)
        for case, (_, jacobians) in zip(BATCHES[number], computed(number), strict=True)
        if case.name.endswith("-0") and all(x is not None for x in case.sample.inputs)
    ]
    batch = [case for case, _ in chosen]

    @weft.jit
    def every(operands: list[list[Tensor]]) -> list[list[Tensor]]:
        return [gradients(case, tensors) for case, tensors in zip(batch, operands, strict=True)]

    for place in range(3):  # as declared, zeros, negative zeros
        points = [list(case.points.values())[place] for case in batch]
        found = every([[Tensor(x) for x in inputs] for inputs in points])
        for (case, jacobians), parts in zip(chosen, found, strict=True):
            flat = np.concatenate([p.asnumpy().reshape(-1) for p in parts])
            one_by_one = jacobians[place]
            with np.errstate(invalid="ignore"):
                wanted = one_by_one.sum(0)
            same = np.isclose(flat, wanted, 1e-6, 1e-9, equal_nan=True) | ~np.isfinite(one_by_one).all(0)
            assert same.all(), f"{case.name} at {list(case.points)[place]}: {flat} instead of {wanted}"


# -- the choice at kinks: answers recorded from torch 2.13 and MindSpore 2.10 ------------------------------------------

_O = weft.ops
#: function, operands, gradients of the sum; where both answer alike unless a comment says otherwise
KINKS: dict[str, tuple[Any, list[Any], list[Any]]] = {
    "abs": (_O.abs, [[-1.0, 0.0, -0.0]], [[-1.0, 0.0, 0.0]]),
    "relu": (_O.relu, [[0.0, -0.0]], [[0.0, 0.0]]),
    "relu6": (_O.relu6, [[0.0, 6.0]], [[0.0, 0.0]]),  # torch; MindSpore 1 at 6
    "leaky_relu": (lambda x: _O.leaky_relu(x, 0.3), [[-1.0, 0.0, -0.0]], [[0.3, 0.65, 0.65]]),  # MindSpore
    "prelu": (_O.prelu, [[[0.0, -1.0]], [0.25]], [[[0.25, 0.25]], [-1.0]]),
    "hardtanh": (_O.hardtanh, [[-1.0, 1.0, 0.5]], [[0.0, 0.0, 1.0]]),  # torch; MindSpore 0.5 at the bounds
    "hardshrink": (_O.hardshrink, [[-0.5, 0.5]], [[0.0, 0.0]]),
    "softshrink": (_O.softshrink, [[-0.5, 0.5]], [[0.0, 0.0]]),
    "hardsigmoid": (_O.hardsigmoid, [[-3.0, 3.0]], [[0.0, 0.0]]),
    "softplus": (_O.softplus, [[0.0]], [[0.5]]),
    "logsigmoid": (_O.logsigmoid, [[0.0]], [[0.5]]),
    "fast_gelu": (_O.fast_gelu, [[0.0]], [[0.5]]),
    "clamp": (lambda x: _O.clamp(x, 0.0, 1.0), [[0.0, 1.0, 2.0]], [[1.0, 1.0, 0.0]]),
    "clip_by_value": (lambda x: _O.clip_by_value(x, 0.0, 1.0), [[0.0, 1.0, 2.0]], [[0.5, 0.5, 0.0]]),  # MindSpore
    "logit": (lambda x: _O.logit(x, 0.1), [[0.1, 0.9, 0.0]], [[1 / 0.09, 1 / 0.09, 0.0]]),
    "maximum": (_O.maximum, [[1.0, 2.0, 0.0], [1.0, 3.0, -0.0]], [[0.5, 0.0, 0.5], [0.5, 1.0, 0.5]]),
    "minimum": (_O.minimum, [[1.0, 2.0, 0.0], [1.0, 3.0, -0.0]], [[0.5, 1.0, 0.5], [0.5, 0.0, 0.5]]),
    "fmax": (_O.fmax, [[1.0, np.nan], [1.0, 2.0]], [[1.0, 0.0], [0.0, 1.0]]),
    "fmin": (_O.fmin, [[1.0, 3.0], [1.0, np.nan]], [[1.0, 1.0], [0.0, 0.0]]),
    "copysign": (_O.copysign, [[0.0, -2.0, 1.0], [1.0, 1.0, -1.0]], [[0.0, -1.0, -1.0], [0.0, 0.0, 0.0]]),
    "xlogy": (_O.xlogy, [[0.0, 0.0, 1.0], [2.0, 0.0, 4.0]], [[np.log(2.0), 0.0, np.log(4.0)], [0.0, 0.0, 0.25]]),
    "xdivy": (_O.xdivy, [[0.0, 0.0, 1.0], [2.0, 0.0, 4.0]], [[0.5, 0.0, 0.25], [0.0, 0.0, -0.0625]]),  # definition
    "atan2": (_O.atan2, [[0.0, 0.0], [0.0, 2.0]], [[0.0, 0.5], [0.0, 0.0]]),  # torch
    "pow": (_O.pow, [[0.0, 0.0, 2.0], [0.0, 2.0, 0.0]], [[0.0, 0.0, 0.0], [0.0, 0.0, np.log(2.0)]]),
    "amax": (lambda x: _O.amax(x, 1), [[[1.0, 3.0, 3.0]]], [[[0.0, 0.5, 0.5]]]),
    "max of all": (lambda x: _O.max(x)[0], [[1.0, 3.0, 3.0]], [[0.0, 0.5, 0.5]]),
    "max along": (lambda x: _O.max(x, 1)[0], [[[1.0, 3.0, 3.0]]], [[[0.0, 1.0, 0.0]]]),
    "median": (lambda x: _O.median(x)[0], [[1.0, 3.0, 3.0]], [[0.0, 1.0, 0.0]]),
    "sort": (lambda x: _O.sort(x)[0] * Tensor([1.0, 2.0, 3.0]), [[2.0, 2.0, 1.0]], [[2.0, 3.0, 1.0]]),
    "topk": (lambda x: _O.topk(x, 2)[0], [[1.0, 1.0, 1.0]], [[1.0, 1.0, 0.0]]),
    "prod": (lambda x: _O.prod(x, 1), [[[0.0, 2.0, 3.0], [0.0, 0.0, 2.0]]], [[[6.0, 0.0, 0.0], [0.0, 0.0, 0.0]]]),
    "cumprod": (lambda x: _O.cumprod(x, 0), [[0.0, 2.0, 3.0]], [[9.0, 0.0, 0.0]]),  # torch; MindSpore NaN
    "std": (_O.std, [[2.0, 2.0]], [[0.0, 0.0]]),  # torch; MindSpore NaN
    "norm 1": (lambda x: _O.norm(x, 1, 0), [[0.0, -2.0]], [[0.0, -1.0]]),
    "norm 2": (lambda x: _O.norm(x, 2, 0), [[0.0, 0.0]], [[0.0, 0.0]]),  # torch; MindSpore NaN
    "norm inf": (lambda x: _O.norm(x, float("inf"), 0), [[0.0, 0.0]], [[0.0, 0.0]]),
    "matrix norm 1": (lambda x: _O.norm(x, 1, (0, 1)), [[[0.0, -2.0]]], [[[0.0, -1.0]]]),
    "cdist 1": (lambda x, y: _O.cdist(x, y, 1.0), [[[1.0, 2.0]], [[1.0, 3.0]]], [[[0.0, -1.0]], [[0.0, 1.0]]]),
    "cdist 2": (lambda x, y: _O.cdist(x, y, 2.0), [[[1.0, 2.0]], [[1.0, 2.0]]], [[[0.0, 0.0]], [[0.0, 0.0]]]),
    "renorm": (lambda x: _O.renorm(x, 2, 0, 1.0), [[[0.0, 0.0], [1.0, 0.0]]], [[[1.0, 1.0], [1.0, 1.0]]]),
    "clip_by_norm": (lambda x: _O.clip_by_norm(x, 1.0), [[0.0, 0.0]], [[1.0, 1.0]]),
    "clip_by_global_norm": (lambda x: _O.clip_by_global_norm((x,))[0], [[0.0, 0.0]], [[1.0, 1.0]]),
    "nn.Norm": (weft.nn.Norm(), [[0.0, 0.0]], [[0.0, 0.0]]),
    "nn.ClipByNorm": (lambda x: weft.nn.ClipByNorm()(x, Tensor(1.0)), [[0.0, 0.0]], [[1.0, 1.0]]),
    "l1_loss": (lambda x, y: _O.l1_loss(x, y, "sum"), [[1.0, 2.0], [1.0, 3.0]], [[0.0, -1.0], [0.0, 1.0]]),
    "smooth_l1_loss": (lambda x, y: _O.smooth_l1_loss(x, y, 0.0), [[1.0], [1.0]], [[0.0], [0.0]]),
    "huber_loss": (lambda x, y: _O.huber_loss(x, y, "sum"), [[1.0, 3.0], [1.0, 2.0]], [[0.0, 1.0], [0.0, -1.0]]),
    "sigmoid cross entropy": (
        _O.SigmoidCrossEntropyWithLogits(),
        [[0.0, -0.0], [1.0, 0.25]],
        [[-0.5, 0.25], [0.0, 0.0]],
    ),
    "binary_cross_entropy": (
        lambda x: _O.binary_cross_entropy(x, Tensor([1.0, 0.0, 0.0, 1.0]), None, "sum"),
        [[0.0, 1.0, 0.0, 1.0]],
        [[-1e12, 1e12, 0.0, 0.0]],
    ),
    "margin_ranking_loss": (
        lambda x, y: _O.margin_ranking_loss(x, y, Tensor([1.0, -1.0]), 0.0, "sum"),
        [[1.0, 1.0], [1.0, 1.0]],
        [[-1.0, 1.0], [1.0, -1.0]],
    ),
    "triplet_margin_loss": (
        lambda a, p, n: _O.triplet_margin_loss(a, p, n, eps=0.0),
        [[[1.0, 0.0]], [[1.0, 0.0]], [[0.5, 0.0]]],
        [[[-1.0, 0.0]], [[0.0, 0.0]], [[1.0, 0.0]]],
    ),
    "max_pool2d": (lambda x: _O.max_pool2d(x, 2), [[[[[1.0, 1.0], [1.0, 0.0]]]]], [[[[[1.0, 0.0], [0.0, 0.0]]]]]),
    "dilated max_pool2d": (
        lambda x: _O.max_pool2d(x, 2, 1, 0, 2),
        [[[[[3.0, 1.0, 3.0], [1.0, 9.0, 2.0], [3.0, 3.0, 1.0]]]]],
        [[[[[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]]]],
    ),
    "unsorted_segment_prod": (
        lambda x: _O.unsorted_segment_prod(x, Tensor([0, 0, 1, 1, 2, 2]), 4),
        [[3.0, 0.0, 5.0, 2.0, 0.0, 0.0]],
        [[0.0, 3.0, 2.0, 5.0, 0.0, 0.0]],
    ),
    # torch's scatter_reduce; MindSpore leaves the other factors out where indices repeat
    "tensor_scatter_mul": (
        lambda x, u: _O.tensor_scatter_mul(x, Tensor([[0], [0], [1], [1]]), u),
        [[3.0, 2.0, 0.0], [3.0, 0.0, 5.0, 2.0]],
        [[0.0, 10.0, 1.0], [0.0, 9.0, 4.0, 10.0]],
    ),
    "tensor_scatter_div": (
        lambda x, u: _O.tensor_scatter_div(x, Tensor([[0], [0], [1], [1]]), u),
        [[4.0, 0.0, 1.0], [2.0, 4.0, 5.0, 2.0]],
        [[0.125, 0.1, 1.0], [-0.25, -0.125, 0.0, 0.0]],
    ),
    # definition: only what is left there counts
    "tensor_scatter_update": (
        lambda x, u: _O.tensor_scatter_update(x, Tensor([[0], [0]]), u),
        [[1.0, 2.0], [3.0, 4.0]],
        [[0.0, 1.0], [0.0, 1.0]],
    ),
}


@pytest.mark.parametrize("name", KINKS)
def test_gradient_at_a_kink_is_the_recorded_one(name: str) -> None:
    function, operands, wanted = KINKS[name]
    tensors = [Tensor(np.array(x, np.float32)) for x in operands]
    found = weft.grad(lambda *xs: function(*xs).sum(), tuple(range(len(tensors))))(*tensors)
    for one, other in zip(found if isinstance(found, tuple) else (found,), wanted, strict=True):
        np.testing.assert_allclose(one.asnumpy(), np.array(other, np.float32), 1e-5, 1e-6)


def _assigned(value: Tensor, index: Tensor) -> Tensor:
    x = weft.ops.zeros(3, weft.float32) * value.sum()
    x[index] = value
    return (x * x).sum()


def test_assignment_to_a_repeated_index_gives_the_gradient_to_what_is_left() -> None:
    value, index = Tensor([3.0, 4.0]), Tensor([1, 1])
    left = weft.grad(_assigned)(value, index).asnumpy()
    np.testing.assert_array_equal(left, [0.0, 8.0])
    np.testing.assert_array_equal(weft.jit(weft.grad(_assigned))(value, index).asnumpy(), left)


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64])
def test_integers_to_negative_powers_round_toward_zero(kind: Any) -> None:
    base = np.array([1, 2, -1, -1, -2, 0, 3], kind)
    exponent = np.array([-1, -1, -2, -3, -3, -1, 2], kind)
    found = weft.ops.pow(Tensor(base), Tensor(exponent))
    assert found.asnumpy().dtype == kind
    assert found.tolist() == [int(float(b) ** int(e)) if b else 0 for b, e in zip(base, exponent, strict=True)]
    assert weft.jit(lambda b, e: b**e)(Tensor(base), Tensor(exponent)).tolist() == found.tolist()
    assert (Tensor(base) ** -1).tolist() == [1, 0, -1, -1, 0, 0, 0]
