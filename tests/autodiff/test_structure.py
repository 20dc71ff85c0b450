"""A backward pass that is run often is compiled as a whole, and stays the same pass."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import weft
from weft import nn
from weft.autodiff import backward as backward_module
from weft.autodiff import structure
from weft.autodiff.custom import hook_gradient
from weft.autodiff.grad import grad, value_and_grad, vjp
from weft.autodiff.registry import bprop_getters
from weft.autodiff.rules import GraphRule
from weft.autodiff.session import stop_gradient
from weft.core import recording
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
    original = backward_module.whole_pass

    def whole_pass(key: Any) -> Any:
        passes.append(key)
        return original(key)

    monkeypatch.setattr(structure, "PATIENCE", 0)
    monkeypatch.setattr(structure, "_habits", {})
    FORMS.clear()
    monkeypatch.setattr(structure, "_alone", set())
    monkeypatch.setattr(backward_module, "whole_pass", whole_pass)
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


class Square(nn.Cell):
    """Compiled where it is called."""

    @weft.jit
    def construct(self, x: Any) -> Any:
        return x * x * self.scale

    def __init__(self, scale: float) -> None:
        super().__init__()
        self.scale = scale


def test_compiled_graphs_are_part_of_a_pass(compiled: list[Any]) -> None:
    net = Square(3.0)
    for scale in (1.0, 2.0, 0.5, 1.5):
        found = grad(lambda x: sin(net(sin(x))))(Tensor(X * scale))
        inner = np.sin(X * scale)
        wanted = np.cos(3 * inner * inner) * 6 * inner * np.cos(X * scale)
        np.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-4, atol=1e-5)
    assert len(compiled) == 1


def test_graphs_of_other_instances_are_other_structures(compiled: list[Any]) -> None:
    def slope(net: Any) -> Any:
        return grad(lambda x: sin(net(sin(x))))(Tensor(X)).asnumpy()

    inner = np.sin(X)
    nets = {scale: Square(scale) for scale in (1.0, 2.0)}
    for _ in range(3):
        for scale, net in nets.items():
            wanted = np.cos(scale * inner * inner) * 2 * scale * inner * np.cos(X)
            np.testing.assert_allclose(slope(net), wanted, rtol=1e-4, atol=1e-5)
    assert len(compiled) == 2


def test_a_graph_that_is_gone_leaves_no_pass(compiled: list[Any]) -> None:
    nets = [Square(3.0)]
    for _ in range(3):
        grad(lambda x: sin(nets[0](sin(x))))(Tensor(X))
    (key,) = compiled
    (rule,) = [weakref.ref(step[0].backward) for step in key[1] if isinstance(step[0], GraphRule)]
    compiled.clear()
    del key
    nets.clear()
    gc.collect()
    jax.clear_caches()
    gc.collect()
    assert rule() is None


def test_what_changes_between_calls_is_seen(compiled: list[Any]) -> None:
    """Constants, attributes, types, which tensors are followed, and dead entries are all part of the structure."""
    other = Tensor(X[::-1].copy())

    def fn(x: Any, factor: Any, stop: bool, dead: bool) -> Any:
        y = sin(x)
        if dead:
            sin(y * x)
        z = stop_gradient(y) if stop else y
        return reduce_sum(z * x * factor, 0)

    for _ in range(3):
        for scale in (1.0, 2.0):
            for factor in (2.0, 3.0, other):
                for stop in (False, True):
                    for dead in (False, True):
                        x = (X * scale).astype(np.float32)
                        found = grad(fn)(Tensor(x), factor, stop, dead).asnumpy()
                        plain = factor.asnumpy() if isinstance(factor, Tensor) else factor
                        wanted = plain * (np.sin(x) + (0 if stop else np.cos(x) * x))
                        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_handles_that_are_written_and_tensors_of_other_gradients(compiled: list[Any]) -> None:
    buffer = Parameter(Tensor(X), name="buffer", requires_grad=False)
    kept: list[Any] = []
    _, pullback = vjp(lambda x: kept.append(sin(x)) or sin(x), Tensor(X))

    def fn(x: Any) -> Any:
        buffer.set_data(buffer * 0.5 + x)
        inner = grad(lambda v: sin(v) * x)(x)
        return reduce_sum(buffer * x + inner + kept[0] * x)

    before = X.copy()
    for _ in range(3):
        found = grad(fn)(Tensor(X)).asnumpy()
        after = before * np.float32(0.5) + X
        wanted = X + after + (np.cos(X) - np.sin(X) * X) + np.sin(X)
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
        assert buffer._node is None
        before = after
    np.testing.assert_allclose(pullback(Tensor(X))[0].asnumpy(), np.cos(X) * X, rtol=1e-5)


def test_hooks_that_come_and_go(compiled: list[Any]) -> None:
    seen: list[Any] = []
    w = Parameter(Tensor(X), name="w")
    step = value_and_grad(lambda x: reduce_sum(sin(x * w) * x), None, [w])
    plain = [step(Tensor(X))[1][0].asnumpy() for _ in range(3)][-1]
    handle = w.register_hook(lambda g: seen.append(g.asnumpy()) or g * 2)
    np.testing.assert_allclose(step(Tensor(X))[1][0].asnumpy(), plain * 2, rtol=1e-6)
    assert len(seen) == 1
    handle.remove()
    np.testing.assert_allclose(step(Tensor(X))[1][0].asnumpy(), plain, rtol=1e-6)
    assert len(seen) == 1


def test_threads_have_tapes_of_their_own(compiled: list[Any]) -> None:
    def work(scale: float) -> list[Any]:
        x = (X * scale).astype(np.float32)
        return [(grad(program)(Tensor(x), Tensor(np.float32(scale))).asnumpy(), x, scale) for _ in range(20)]

    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(work, (0.5, 1.0, 1.5, 2.0)):
            for mine, x, scale in found:
                wanted = jax.grad(lambda x, y: jnp.sum(reference(x, y)))(x, np.float32(scale))
                np.testing.assert_allclose(mine, wanted, rtol=1e-5)


def test_forms_are_forgotten(monkeypatch: pytest.MonkeyPatch, compiled: list[Any]) -> None:
    monkeypatch.setattr(recording, "_MOST", 3)
    for _ in range(4):
        found = grad(lambda x: sin(sin(sin(sin(x) * x))))(Tensor(X))
        assert FORMS.count <= 3
    wanted = jax.grad(lambda x: jnp.sum(jnp.sin(jnp.sin(jnp.sin(jnp.sin(x) * x)))))(X)
    np.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-5)


def test_a_recording_keeps_nothing_alive(compiled: list[Any]) -> None:
    gone: list[Any] = []

    def fn(x: Any) -> Any:
        dead = sin(x) * x
        gone.append(weakref.ref(dead._data))
        del dead
        assert gone[-1]() is None
        return sin(x) * x

    for _ in range(3):
        grad(fn)(Tensor(X))
    assert len(gone) == 3
