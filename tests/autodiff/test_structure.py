"""A backward pass that is run often is compiled as a whole, and stays the same pass."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from weft.autodiff import backward as backward_module
from weft.autodiff import structure
from weft.autodiff.custom import hook_gradient
from weft.autodiff.grad import grad, value_and_grad, vjp
from weft.autodiff.registry import bprop_getters
from weft.core.recording import FORMS
from weft.core.tensor import Parameter, Tensor
from weft.ops.joining import concat, split
from weft.ops.math import mul
from weft.ops.reduce import reduce_sum
from weft.ops.trigonometry import sin

X = np.array([1.0, 2.0, 3.0, 4.0], np.float32)


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Compile at once; the passes that were compiled."""
    passes: list[Any] = []
    original = backward_module.compile_pass

    def compile_pass(key: Any) -> Any:
        passes.append(key)
        return original(key)

    monkeypatch.setattr(structure, "PATIENCE", 0)
    monkeypatch.setattr(structure, "_habits", {})
    FORMS.clear()
    monkeypatch.setattr(structure, "_alone", set())
    monkeypatch.setattr(backward_module, "compile_pass", compile_pass)
    return passes


def program(x: Any, y: Any) -> Any:
    a, b = split(sin(x) * y, 2)
    return reduce_sum(concat([b * a, x, a])) * y


def reference(x: Any, y: Any) -> Any:
    a, b = jnp.split(jnp.sin(x) * y, 2)
    return jnp.sum(jnp.concatenate([b * a, x, a])) * y


def test_against_jax_and_compiled_once(compiled: list[Any]) -> None:
    for scale in (1.0, 2.0, 0.5):
        found = grad(program, (0, 1))(Tensor(X * scale), Tensor(np.float32(scale)))
        expected = jax.grad(lambda x, y: jnp.sum(reference(x, y)), (0, 1))(X * np.float32(scale), np.float32(scale))
        for mine, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(mine.asnumpy(), theirs, rtol=1e-5)
            assert mine._node is None
    assert len(compiled) == 1


def test_same_array_at_two_places_is_another_structure(compiled: list[Any]) -> None:
    x = Tensor(X)

    def fn(a: Any, b: Any) -> Any:
        return a * sin(b)

    for mine, theirs in zip(grad(fn, (0, 1))(x, x), (np.sin(X), X * np.cos(X)), strict=True):
        np.testing.assert_allclose(mine.asnumpy(), theirs, rtol=1e-5)
    np.testing.assert_allclose(grad(fn)(x, Tensor(X * 2)).asnumpy(), np.sin(X * 2), rtol=1e-5)
    np.testing.assert_allclose(grad(fn)(x, Tensor(X * 2)).asnumpy(), np.sin(X * 2), rtol=1e-5)
    assert len(compiled) >= 1


def test_weights_values_and_unused(compiled: list[Any]) -> None:
    w, unused = Parameter(Tensor(X), name="w"), Parameter(Tensor(X), name="unused")
    for _ in range(2):
        value, (of_w, of_unused) = value_and_grad(lambda x: reduce_sum(sin(x * w)), None, [w, unused])(Tensor(X))
        np.testing.assert_allclose(value.asnumpy(), np.sin(X * X).sum(), rtol=1e-5)
        np.testing.assert_allclose(of_w.asnumpy(), np.cos(X * X) * X, rtol=1e-5)
        np.testing.assert_allclose(of_unused.asnumpy(), np.zeros(4))
    assert len(compiled) == 1


def test_pullback_with_other_vectors(compiled: list[Any]) -> None:
    _, pullback = vjp(lambda x: (sin(x) * x, x * 2), Tensor(X))
    for scale in (1.0, 3.0):
        (found,) = pullback(Tensor(X * scale), Tensor(X))
        np.testing.assert_allclose(found.asnumpy(), (np.cos(X) * X + np.sin(X)) * X * scale + 2 * X, rtol=1e-5)
    assert len(compiled) == 1


def test_a_new_rule_is_used(compiled: list[Any]) -> None:
    def fn(x: Any) -> Any:
        return mul(sin(x), x)

    first = grad(fn)(Tensor(X))
    with bprop_getters.replaced(mul, lambda self: lambda x, y, out, dout: (dout * 0 + 1, dout * 0)):
        np.testing.assert_allclose(grad(fn)(Tensor(X)).asnumpy(), np.cos(X), rtol=1e-5)
    np.testing.assert_allclose(grad(fn)(Tensor(X)).asnumpy(), first.asnumpy())
    assert len(compiled) == 2  # with the rule of the program, entry by entry


def test_changing_structures_stop_compiling(compiled: list[Any]) -> None:
    for size in range(1, structure.VARIANTS + 4):
        x = np.linspace(0, 1, size, dtype=np.float32)
        np.testing.assert_allclose(
            grad(lambda x: sin(x) * x)(Tensor(x)).asnumpy(), np.cos(x) * x + np.sin(x), rtol=1e-5, atol=1e-6
        )
    assert len(compiled) == structure.VARIANTS


def test_hooks_and_recording_are_left_to_the_walk(compiled: list[Any]) -> None:
    seen = []
    for _ in range(2):
        grad(lambda x: hook_gradient(sin(x), lambda g: seen.append(1)) * x)(Tensor(X))
    assert len(seen) == 2
    assert compiled == []
    np.testing.assert_allclose(
        grad(lambda x: grad(lambda v: sin(v) * v)(x))(Tensor(X)).asnumpy(), 2 * np.cos(X) - X * np.sin(X), rtol=1e-4
    )


def test_patience(monkeypatch: pytest.MonkeyPatch, compiled: list[Any]) -> None:
    monkeypatch.setattr(structure, "PATIENCE", 3)
    monkeypatch.setattr(structure, "_UNPROVEN", 0)
    for i in range(5):
        grad(lambda x: sin(x) * x)(Tensor(X))
        assert len(compiled) == (i >= 3)


def test_a_pass_of_new_rules_is_compiled_at_first_sight(monkeypatch: pytest.MonkeyPatch, compiled: list[Any]) -> None:
    monkeypatch.setattr(structure, "PATIENCE", 3)
    for _ in range(3):
        found = grad(lambda x: sin(x) * x)(Tensor(X))
        np.testing.assert_allclose(found.asnumpy(), np.cos(X) * X + np.sin(X), rtol=1e-5)
        assert len(compiled) == 1


def test_a_pass_of_known_rules_is_not(monkeypatch: pytest.MonkeyPatch, compiled: list[Any]) -> None:
    monkeypatch.setattr(structure, "PATIENCE", 3)
    monkeypatch.setattr(structure, "_UNPROVEN", 0)
    grad(lambda x: sin(x) * x)(Tensor(X))
    monkeypatch.setattr(structure, "_UNPROVEN", 3)
    grad(lambda x: sin(sin(x) * x))(Tensor(X))
    assert compiled == []


def test_a_program_whose_passes_do_not_come_again_compiles_few_as_a_whole(
    monkeypatch: pytest.MonkeyPatch, compiled: list[Any]
) -> None:
    monkeypatch.setattr(structure, "PATIENCE", 3)

    def nested(count: int, size: int) -> Any:
        def function(x: Any) -> Any:
            for _ in range(count):  # each entry has other sizes
                x = concat([sin(x), x])
            return x

        return grad(function)(Tensor(np.ones(size, np.float32)))

    for count in range(1, 8):
        nested(count, count)
    assert len(compiled) == structure._UNPROVEN
    nested(1, 1)  # it comes again, so others may
    nested(8, 8)
    assert len(compiled) == structure._UNPROVEN + 1
