"""Attributes that are equal but not the same (1, True, 1.0; 0.0, -0.0) never share what was compiled for one."""

from __future__ import annotations

import inspect
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import weft
from tests.ops.table import TABLE, samples_of
from weft import Tensor, ops
from weft.autodiff.grad import grad
from weft.core.dispatch import apply
from weft.core.primitive import Primitive
from weft.ir.types import TensorType
from weft.jit import jit

VALUES = [1, True, 1.0, 0, False, 0.0, -0.0, 1 + 0j, complex(1, -0.0)]
ORDERS = [VALUES, VALUES[::-1]]


def described(value: Any) -> str:
    """A value with its class and its signs, in a nested tuple or not."""
    return repr((value, type(value).__name__))


def reporting(seen: list[str]) -> Primitive:
    """A primitive that reports each attribute it is compiled for."""

    def implementation(x: Any, *, value: Any) -> Any:
        seen.append(described(value))
        return x * 1

    def rule(x: Any, out: Any, dout: Any, *, value: Any) -> tuple[Any]:
        seen.append(described(value))
        return (dout,)

    return Primitive("Reporting", implementation, attr_names=("value",), derivative=rule, register=False)


@pytest.mark.parametrize("values", ORDERS, ids=["forward", "backward"])
@pytest.mark.parametrize("nested", [False, True], ids=["plain", "nested"])
@pytest.mark.parametrize("unpacked", [False, True], ids=["packed", "unpacked"])
def test_executables_and_types(values: list[Any], nested: bool, unpacked: bool) -> None:
    seen: list[str] = []
    primitive = reporting(seen)
    x = Tensor(1.0)
    if unpacked:
        apply(primitive, (x,), (weft.float32,))
    wrapped = [((value, 2),) if nested else (value,) for value in values]
    for kind in ("eager", "infer"):
        seen.clear()
        for attrs in wrapped * 2:
            if kind == "eager":
                apply(primitive, (x,), attrs)
            else:
                primitive.infer(attrs, (TensorType.of(weft.float32, (2,)),))
        assert seen == [described(*attrs) for attrs in wrapped]


def test_an_attribute_that_cannot_be_packed_keeps_the_others() -> None:
    seen: list[str] = []
    primitive = reporting(seen)
    x = Tensor(1.0)
    for attrs in ((1,), (True,), (weft.float32,), (1,), (True,), (1.0,), (np.int64(0),), (np.float64(0),), (0,)):
        apply(primitive, (x,), attrs)
    assert seen == [described(v) for v in (1, True, weft.float32, 1.0, np.int64(0), np.float64(0), 0)]


def test_nan_is_compiled_once() -> None:
    seen: list[str] = []
    primitive = reporting(seen)
    for _ in range(3):
        apply(primitive, (Tensor(1.0),), (float("nan"),))
    assert len(seen) == 1


@pytest.mark.parametrize("values", [(0.0, -0.0), (-0.0, 0.0)])
def test_signed_zeros_in_gradients(values: tuple[float, float]) -> None:
    """Each rule is compiled for its own attribute, for a single entry and for a whole tape alike."""
    primitive = Primitive(
        "SignOf",
        lambda x, *, value: jnp.copysign(x, value),
        attr_names=("value",),
        derivative=lambda x, out, dout, *, value: (ops.copysign(dout, ops.full((), value)),),
        register=False,
    )

    def gradient(value: float) -> float:
        return grad(lambda v: apply(primitive, (v,), (value,)).sum())(Tensor(2.0)).item()

    for value in values * 10:
        assert gradient(value) == np.copysign(1.0, value)


def test_equal_numbers_fill_with_their_own_kind() -> None:
    for make in (ops.full, jit(ops.full)):
        for value in (0.0, -0.0, 0, False, 1, True, 1.0, -0.0, 0.0):
            filled = make((2,), value).asnumpy()
            assert filled.dtype.kind == {bool: "b", int: "i", float: "f"}[type(value)]
            assert np.signbit(filled.astype(np.float64)).tolist() == [str(value).startswith("-")] * 2


def floats(value: Any) -> Any:
    """The same value with each integer as a float."""
    return tuple(map(floats, value)) if isinstance(value, tuple) else float(value) if type(value) is int else value


def integer_attributes() -> list[Any]:
    """A sample for each attribute that its primitive declares as integers."""
    found = []
    for primitive in TABLE.values():
        annotations = primitive.implementation.__annotations__
        for name in primitive.attr_names:
            if annotations.get(name) not in ("int", "tuple[int, ...]"):
                continue
            for sample in samples_of(primitive.name):
                if floats(sample.attrs.get(name)) != ():
                    if name in sample.attrs:
                        found.append(pytest.param(primitive, sample, name, id=f"{primitive.name}-{name}"))
                    break
    return found


@pytest.mark.parametrize(("primitive", "sample", "name"), integer_attributes())
def test_floats_are_refused_where_integers_are_declared_whatever_was_compiled(
    primitive: Primitive, sample: Any, name: str
) -> None:
    tensors = tuple(None if a is None else Tensor(a) for a in sample.inputs)
    functional = dict.fromkeys(primitive.attr_names) | {
        p.name: p.default
        for p in inspect.signature(primitive.implementation).parameters.values()
        if p.kind is p.KEYWORD_ONLY and p.default is not p.empty
    }
    attrs = functional | sample.attrs
    apply(primitive, tensors, tuple(attrs.values()))
    wrong = attrs | {name: floats(attrs[name])}
    with pytest.raises(TypeError, match=f": {name} must be .*int.*, not float"):
        apply(primitive, tensors, tuple(wrong.values()))
    with pytest.raises(TypeError, match=f": {name} must be .*int.*, not float"):
        jit(lambda *xs: apply(primitive, xs, tuple(wrong.values())))(*tensors)
