"""Every primitive of the table: samples, values against the JAX implementation, gradients to second order, vmap."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import weft
from tests.ops.samples.values import Sample
from tests.ops.table import SINGLE_PRECISION, TABLE, attrs_of, samples_of
from weft import dtypes
from weft.autodiff.backward import backward
from weft.core.dispatch import apply
from weft.core.primitive import IO, Primitive
from weft.core.tape import TapeNode
from weft.core.tensor import Tensor

#: primitives without samples, and why
WITHOUT_SAMPLES = {
    "Constant": "holds an array; made by traces",
    "Outside": "reads a handle; tests/compile/test_carried.py",
    "HostCall": "calls the host; tests/ops/test_host.py",
    "HostFunction": "calls the host; tests/ops/test_custom_operators.py",
    "ToNumber": "its result stands for a Python number; tests/core",
    "FromNumber": "its operand stands for a Python number; tests/core",
    "JoinedParts": "takes the parts of other processes; tests/parallel",
    "Mark": "a leaf of a gradient inside a graph; tests/autodiff/test_marks.py",
    "If": "control flow; tests/compile and tests/capture",
    "While": "control flow; tests/compile and tests/capture",
    "Call": "control flow; tests/compile and tests/capture",
    "Repeat": "control flow; tests/compile/test_loops.py",
    "StackRead": "the stack of a differentiated loop; tests/autodiff/test_symbolic.py",
    "StackWrite": "the stack of a differentiated loop; tests/autodiff/test_symbolic.py",
    "Vmap": "maps a graph; tests/test_vectorize.py",
    **{
        name: "meets other processes; tests/parallel/test_processes.py"
        for name in Primitive.table
        if name.endswith("Across")
    },
}

CASES = [(name, number) for name in TABLE for number in range(len(samples_of(name)))]
IDS = [f"{name}-{number}" for name, number in CASES]


def case(name: str, number: int) -> tuple[Primitive, Sample, tuple[Any, ...]]:
    primitive, sample = TABLE[name], samples_of(name)[number]
    return primitive, sample, attrs_of(primitive, sample)


def several(primitive: Primitive, found: Any) -> tuple[Any, ...]:
    return tuple(found) if primitive.multiple else (found,)


# -- every primitive has what it needs ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", TABLE)
def test_has_samples_or_a_reason(name: str) -> None:
    assert bool(samples_of(name)) != (name in WITHOUT_SAMPLES), f"{name} needs samples, or a reason for having none"


@pytest.mark.parametrize(("name", "number"), CASES, ids=IDS)
def test_sample_names_known_attributes(name: str, number: int) -> None:
    primitive, sample, attrs = case(name, number)
    assert set(sample.attrs) <= set(primitive.attr_names)
    assert inspect.Parameter.empty not in attrs


# -- values in every mode ------------------------------------------------------------------------------------------


def eagerly(primitive: Primitive, attrs: tuple[Any, ...], inputs: list[Any]) -> tuple[Any, ...]:
    tensors = tuple(None if x is None else Tensor(x) for x in inputs)
    return tuple(t.asnumpy() for t in several(primitive, apply(primitive, tensors, attrs)))


def compiled(primitive: Primitive, attrs: tuple[Any, ...], inputs: list[Any]) -> tuple[Any, ...]:
    absent = [position for position, x in enumerate(inputs) if x is None]

    def function(*tensors: Tensor) -> Any:
        operands: list[Any] = list(tensors)
        for position in absent:
            operands.insert(position, None)
        return apply(primitive, tuple(operands), attrs)

    found = weft.jit(function)(*[Tensor(x) for x in inputs if x is not None])
    return tuple(t.asnumpy() for t in several(primitive, found))


#: the ways to run a primitive on NumPy arrays; each gives a tuple of NumPy arrays
RUNNERS: dict[str, Callable[[Primitive, tuple[Any, ...], list[Any]], tuple[Any, ...]]] = {
    "eager": eagerly,
    "graph": compiled,
}


def close(found: Any, wanted: Any, tolerance: float = 1e-5) -> None:
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.shape == wanted.shape
    assert found.dtype == wanted.dtype
    if found.dtype.kind in "biu":
        np.testing.assert_array_equal(found, wanted)
    else:
        kind = np.complex128 if found.dtype.kind == "c" else np.float64
        np.testing.assert_allclose(found.astype(kind), wanted.astype(kind), tolerance, tolerance)


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize(("name", "number"), CASES, ids=IDS)
def test_value_is_that_of_the_implementation(name: str, number: int, runner: str) -> None:
    primitive, sample, attrs = case(name, number)
    if primitive.effect == IO:
        pytest.skip("an effect, not a value")
    found = RUNNERS[runner](primitive, attrs, list(sample.inputs))
    arrays = [None if x is None else jnp.asarray(x) for x in sample.inputs]
    wanted = several(primitive, primitive.bound(attrs)(*arrays))
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        close(one, other)
    types = primitive.infer(attrs, tuple(None if x is None else Tensor(x).type for x in sample.inputs))
    assert [(t.shape, t.dtype.np_dtype) for t in types] == [(x.shape, x.dtype) for x in found]


# -- gradients -----------------------------------------------------------------------------------------------------


def double(x: Any) -> Any:
    x = None if x is None else np.asarray(x)
    return x if x is None else jnp.asarray(x.astype(np.float64) if x.dtype.kind == "f" else x)


def leaf(x: Any) -> Tensor:
    tensor = Tensor(x)
    tensor._node = TapeNode((), 1, None)
    tensor._index = 0
    return tensor


class Probe:
    """A primitive as a function of its floating operands: the sum of its floating results, weighted at random."""

    def __init__(self, primitive: Primitive, sample: Sample, attrs: tuple[Any, ...]) -> None:
        self.primitive, self.attrs = primitive, attrs
        self.inputs = [double(x) for x in sample.inputs]
        self.positions = [
            i for i, x in enumerate(self.inputs) if x is not None and jnp.issubdtype(x.dtype, jnp.floating)
        ]
        self.random = np.random.default_rng(0)
        self.direction = [self.random.normal(size=self.inputs[i].shape) for i in self.positions]
        outputs = several(primitive, primitive.executable(attrs)(*self.inputs))
        self.weights = [
            self.random.normal(size=o.shape) if jnp.issubdtype(o.dtype, jnp.floating) else None for o in outputs
        ]

    def moved(self, step: float) -> list[Any]:
        inputs = list(self.inputs)
        for position, direction in zip(self.positions, self.direction, strict=True):
            inputs[position] = inputs[position] + step * direction
        return inputs

    def value(self, step: float) -> float:
        outputs = several(self.primitive, self.primitive.executable(self.attrs)(*self.moved(step)))
        return float(
            sum(np.sum(np.asarray(o) * w) for o, w in zip(outputs, self.weights, strict=True) if w is not None)
        )

    def gradients(self, step: float, record: bool) -> tuple[list[Tensor], list[Tensor | None]]:
        tensors: list[Any] = [None if x is None else Tensor(x) for x in self.moved(step)]
        leaves = []
        for position in self.positions:
            tensors[position] = leaf(tensors[position])
            leaves.append(tensors[position])
        outputs = several(self.primitive, apply(self.primitive, tuple(tensors), self.attrs))
        douts = [None if w is None else Tensor(w) for w in self.weights]
        return leaves, backward(outputs, douts, [t._node for t in leaves], record)

    def along(self, gradients: list[Any]) -> float:
        return float(
            sum(np.sum(g.asnumpy() * d) for g, d in zip(gradients, self.direction, strict=True) if g is not None)
        )


def differentiable(name: str, number: int) -> Probe:
    primitive, sample, attrs = case(name, number)
    if primitive.no_gradient or not sample.differentiable:
        pytest.skip(primitive.no_gradient or "not differentiable at this sample")
    if name in SINGLE_PRECISION:
        pytest.skip("computes in single precision")
    probe = Probe(primitive, sample, attrs)
    if not probe.positions or all(w is None for w in probe.weights):
        pytest.skip("no floating operand or result")
    return probe


STEP = 1e-5


@pytest.fixture
def op_by_op() -> Iterator[None]:
    """Compute without compiling whole primitives: their parts are shared among the cases, so this is faster."""
    with jax.disable_jit():
        yield


@pytest.mark.usefixtures("op_by_op")
@pytest.mark.parametrize(("name", "number"), CASES, ids=IDS)
def test_gradient_is_the_slope(name: str, number: int) -> None:
    probe = differentiable(name, number)
    slope = (probe.value(STEP) - probe.value(-STEP)) / (2 * STEP)
    _, gradients = probe.gradients(0.0, record=False)
    np.testing.assert_allclose(probe.along(gradients), slope, 1e-4, 1e-6)
    for position, gradient in zip(probe.positions, gradients, strict=True):
        if gradient is not None:
            assert gradient.shape == probe.inputs[position].shape
            assert gradient.dtype is dtypes.float64


@pytest.mark.usefixtures("op_by_op")
@pytest.mark.parametrize("name", [name for name in TABLE if samples_of(name)])
def test_second_gradient_is_the_slope_of_the_first(name: str) -> None:
    number = next((i for i, sample in enumerate(samples_of(name)) if sample.differentiable), 0)
    probe = differentiable(name, number)
    slope = (
        probe.along(probe.gradients(STEP, record=False)[1]) - probe.along(probe.gradients(-STEP, record=False)[1])
    ) / (2 * STEP)
    leaves, first = probe.gradients(0.0, record=True)
    tracked = [
        (g, Tensor(d)) for g, d in zip(first, probe.direction, strict=True) if g is not None and g._node is not None
    ]
    second: list[Any] = [None] * len(leaves)
    if tracked:
        second = backward([g for g, _ in tracked], [d for _, d in tracked], [t._node for t in leaves], False)
    np.testing.assert_allclose(probe.along(second), slope, 1e-4, 1e-5)


# -- vmap ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "number"), CASES, ids=IDS)
def test_vmap_is_a_loop(name: str, number: int) -> None:
    primitive, sample, attrs = case(name, number)
    if not sample.vmap or not sample.inputs:
        pytest.skip("not mapped at this sample")
    first = [None if x is None else np.asarray(x) for x in sample.inputs]
    other = [x * np.asarray(0.75, x.dtype) if x is not None and x.dtype.kind == "f" else x for x in first]
    run = primitive.bound(attrs)
    axes = tuple(None if x is None else 0 for x in first)
    batch = [None if a is None else np.stack([a, b]) for a, b in zip(first, other, strict=True)]
    found = several(primitive, jax.vmap(run, axes)(*batch))
    for position, inputs in enumerate((first, other)):
        for one, wanted in zip(
            found, several(primitive, run(*[None if x is None else jnp.asarray(x) for x in inputs])), strict=True
        ):
            close(one[position], wanted)
