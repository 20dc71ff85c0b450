"""Hooks, rules and functions that each call brings anew: the backward pass of a call runs those of that call."""

from __future__ import annotations

import gc
import types
import weakref

import numpy as np
import pytest

import weft.mindspore
from weft import Tensor, grad, jit, nn, ops, value_and_grad, vjp, vmap
from weft.testing import assert_compiles

assert weft.mindspore
import mindspore as ms  # noqa: E402
from mindspore.ops.operations import InsertGradientOf  # noqa: E402

X = Tensor([0.5, 2.0])


class Scale:
    def __init__(self, k):
        self.k = k

    def hook(self, g):
        return g * self.k

    @property
    def made(self):
        k = self.k
        return lambda g: g * k

    def backward(self, cell, grads, _=None):
        return tuple([g * self.k for g in grads])


class Slotted:
    __slots__ = ("k",)

    def __init__(self, k):
        self.k = k

    def hook(self, g):
        return g * self.k


class Scaling(nn.Cell):
    def __init__(self, k):
        super().__init__()
        self.k = k

    def construct(self, g):
        return g * self.k

    def hook(self, g):
        return g * self.k


def closure(k):
    return lambda g: g * k


def over_object(k):
    o = Scale(k)
    return lambda g: g * o.k


def default(k):
    def hook(g, k=k):
        return g * k

    return hook


def on_tensor(k):
    scale = Scale(Tensor(k))
    return scale.hook


HOOKS = {
    "closure": closure,
    "closure over an object": over_object,
    "default": default,
    "method": lambda k: Scale(k).hook,
    "method with slots": lambda k: Slotted(k).hook,
    "method with a tensor": on_tensor,
    "method of a tensor": lambda k: Tensor(k).mul,
    "method type": lambda k: types.MethodType(lambda s, g: g * s.k, Scale(k)),
    "of a property": lambda k: Scale(k).made,
    "method of a cell": lambda k: Scaling(k).hook,
    "cell": Scaling,
}


class Kept(ms._Function):
    @staticmethod
    def forward(ctx, x, h):
        ctx.h = h
        ctx.others = [h, {"h": h}]
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return ctx.h(g) + ctx.others[1]["h"](g), None


class WithBprop(nn.Cell):
    def construct(self, x, h):
        return x * 2

    def bprop(self, x, h, out, dout):
        return h(dout), None


with_bprop = WithBprop()


def hooked(x, h):
    t = x * 2
    t.register_hook(h)
    return (t * t).sum()


def hooked_twice(x, h):
    t = x * 2
    t.register_hook(h)
    u = t * 3
    u.register_hook(lambda g: g * 5)
    t.register_hook(h)
    return (u * t).sum()


def hooked_view(x, h):
    t = x * 2
    t[:1].register_hook(h)
    u = t[1:]
    u.register_hook(h)
    return (t * t).sum() + u.sum()


def written_in_place(x, h):
    t = x * 2
    t.register_hook(h)
    t.mul_(3.0)
    t.register_hook(h)
    return (t * x).sum()


def recomputed(x, h):
    def block(z):
        t = z * 2
        t.register_hook(h)
        return t * t

    return ms.recompute(block, x).sum()


def behind_inner_gradient(x, h):
    t = grad(lambda z: (z * z * z).sum())(x)
    t.register_hook(h)
    return (t * x).sum()


def inside_inner_gradient(x, h):
    return (grad(lambda z: hooked(z, h))(x) * x).sum()


def between_breaks(x, h):
    t = x * 2
    t.register_hook(h)
    float(t.asnumpy().sum())
    u = t * 3
    u.register_hook(h)
    return (u * t).sum()


def kept(x, h):
    return Kept.apply(x, h).sum()


def kept_in_a_branch(x, h):
    return Kept.apply(x, h).sum() if x.sum() > 0 else x.sum()


def kept_in_a_loop(x, h):
    i = Tensor(0)
    while i < 2:
        x = Kept.apply(x, h)
        i = i + 1
    return x.sum()


def kept_in_a_mapped_function(x, h):
    return vmap(lambda z: Kept.apply(z, h))(x).sum()


def bprop(x, h):
    return with_bprop(x, h).sum()


def insert(x, h):
    return InsertGradientOf(h)(x * 2).sum()


def of_another_compiled_function(x, h):
    return jit(hooked)(x, h) + (x * x).sum()


def put_aside(x, h):
    place[0] = h
    t = x * 2
    t.register_hook(place[0])
    place[0] = None
    return (t * x).sum()


place = [None]

FUNCTIONS = (
    hooked,
    hooked_twice,
    hooked_view,
    written_in_place,
    recomputed,
    behind_inner_gradient,
    inside_inner_gradient,
    between_breaks,
    kept,
    kept_in_a_branch,
    kept_in_a_loop,
    kept_in_a_mapped_function,
    bprop,
    insert,
    of_another_compiled_function,
    put_aside,
)


def by_vjp(f):
    def run(x, h):
        out, pull = vjp(lambda x: f(x, h), x)
        return out, pull(out)

    return run


def by_second(f):
    return lambda x, h: grad(lambda x: (grad(f)(x, h) * x).sum())(x)


GRADIENTS = {
    "outside": lambda f, compiled: grad(compiled(f)),
    "inside": lambda f, compiled: compiled(lambda x, h: grad(f)(x, h)),
    "value and gradient": lambda f, compiled: value_and_grad(compiled(f)),
    "vjp": lambda f, compiled: by_vjp(compiled(f)),
    "second": lambda f, compiled: by_second(compiled(f)),
}


def plain(f):
    return f


@pytest.mark.parametrize("way", GRADIENTS)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_hooks_as_arguments(function, way):
    for name, make in HOOKS.items():
        eager, compiled = GRADIENTS[way](function, plain), GRADIENTS[way](function, jit)
        for k in (1.0, 10.0, 3.0):
            hook = make(k)
            assert str(compiled(X, hook)) == str(eager(X, hook)), (name, k)


def from_global(x, a):
    t = x * 2
    t.register_hook(scale.hook)
    return t.sum()


def from_argument(x, a):
    t = x * 2
    t.register_hook(a.hook)
    return t.sum()


def from_attribute(x, a):
    t = x * 2
    t.register_hook(holder.scale.hook)
    return t.sum()


def from_list(x, a):
    t = x * 2
    t.register_hook(scales[0].hook)
    return t.sum()


def from_dict(x, a):
    t = x * 2
    t.register_hook(by_name["a"].hook)
    return t.sum()


def of_a_cell(x, a):
    t = x * 2
    t.register_hook(cell.held)
    return t.sum()


def kept_object(x, a):
    return Kept.apply(x, scales[0].hook).sum()


holder, scales, by_name, cell = types.SimpleNamespace(), [None], {}, Scaling(1.0)


@pytest.mark.parametrize("way", GRADIENTS)
@pytest.mark.parametrize(
    "function",
    [from_global, from_argument, from_attribute, from_list, from_dict, of_a_cell, kept_object],
    ids=lambda f: f.__name__,
)
@pytest.mark.parametrize("kind", [Scale, Slotted], ids=["plain", "slots"])
def test_hooks_of_objects_that_are_replaced(function, way, kind):
    global scale
    eager, compiled = GRADIENTS[way](function, plain), GRADIENTS[way](function, jit)
    for k in (1.0, 10.0, 3.0):
        scale = holder.scale = scales[0] = by_name["a"] = kind(k)
        cell.held = kind(k).hook
        assert str(compiled(X, scale)) == str(eager(X, scale)), k
        scale.k = 7.0
        assert str(compiled(X, scale)) == str(eager(X, scale)), k


@pytest.mark.parametrize("function", [hooked, kept, kept_in_a_loop, recomputed], ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", ["closure", "default", "method", "method of a tensor"])
def test_hooks_made_anew_need_one_graph(function, name):
    compiled = jit(function)
    run = grad(compiled)
    run(X, HOOKS[name](2.0))
    run(X, HOOKS[name](3.0))
    with assert_compiles(max=0):
        for k in range(20):
            run(X, HOOKS[name](float(k)))


@pytest.mark.parametrize("function", [kept, kept_in_a_loop], ids=lambda f: f.__name__)
def test_containers_of_a_context_need_one_graph(function):
    run = GRADIENTS["inside"](function, jit)
    scale = Scale(2.0)
    run(X, scale.hook)
    with assert_compiles(max=0):
        for _ in range(3):
            run(X, scale.hook)


def test_rules_in_mapped_functions_end_in_one_break():
    run, eager = grad(jit(kept_in_a_mapped_function)), grad(kept_in_a_mapped_function)
    for k in range(12):
        hook = closure(float(k))
        assert str(run(X, hook)) == str(eager(X, hook))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("way", ["outside", "inside", "vjp"])
def test_hooks_live_as_long_as_in_python(function, way):
    if function is kept_in_a_mapped_function:
        pytest.skip("what a mapped function holds is guarded, for as long as the entry lives")
    run = GRADIENTS[way](function, jit)
    scale = Scale(2.0)
    gone = weakref.ref(scale)
    run(X, scale.hook)
    run(X, lambda g, scale=scale: g * scale.k)
    del scale
    gc.collect()
    gc.collect()
    assert gone() is None
    assert run is not None


def test_host_calls_are_those_of_the_call():
    calls = []

    class Noting:
        def __init__(self, k):
            self.k = k

        def note(self, t):
            calls.append((self.k, float(t.asnumpy().sum())))

    @jit
    def f(x, h):
        ops.host_call(h, x * 2)
        return (x * 3).sum()

    noting = Noting(0)
    for _ in range(3):
        f(X, noting.note)
        f(X, Noting(1).note)
        f(X, lambda t: calls.append(("closure", float(t.asnumpy().sum()))))
        f(X, calls.append)
    expected = [(0, 5.0), (1, 5.0), ("closure", 5.0)]
    assert [c for c in calls if type(c) is tuple] == expected * 3
    assert len(calls) == 12


def test_host_calls_of_one_object_need_one_graph():
    class Noting:
        def note(self, t):
            pass

    @jit
    def f(x, h):
        ops.host_call(h, x * 2)
        return (x * 3).sum()

    noting = Noting()
    f(X, noting.note)
    with assert_compiles(max=0):
        for _ in range(5):
            f(X, noting.note)


AROUND = {
    "mapped": lambda f: lambda x, h: grad(lambda x: vmap(lambda z: f(z, h))(x).sum())(x),
    "recomputed": lambda f: lambda x, h: grad(lambda x: ms.recompute(lambda z: f(z, h), x).sum())(x),
    "third derivative": lambda f: (
        lambda x, h: grad(lambda x: grad(lambda x: grad(lambda x: f(x, h).sum())(x).sum())(x).sum())(x)
    ),
    "other sizes": lambda f: lambda x, h: [grad(lambda x: f(x, h).sum())(ops.ones(n)) for n in (2, 3, 4, 5)],
}


@pytest.mark.parametrize("way", AROUND)
@pytest.mark.parametrize("function", [hooked, kept], ids=lambda f: f.__name__)
def test_hooks_of_calls_inside_of_transforms(function, way):
    eager, compiled = AROUND[way](function), AROUND[way](jit(function))
    for name in ("closure", "method"):
        for k in (1.0, 10.0, 3.0):
            hook = HOOKS[name](k)
            assert str(compiled(X, hook)) == str(eager(X, hook)), (name, k)


def test_functions_of_the_host_are_those_of_the_call():
    class Times:
        def __init__(self, k):
            self.k = k

        def compute(self, a):
            return a * np.float32(self.k)

        def bprop(self, x, out, dout):
            return (dout * self.k,)

    def f(x, times):
        made = ops.Custom(times.compute, lambda a: a, lambda a: a, bprop=times.bprop, func_type="pyfunc")
        return made(x).sum()

    def of_global(x, times):
        return custom(x).sum()

    global custom
    for function in (f, of_global):
        compiled = jit(function)
        for k in (1.0, 10.0, 3.0):
            times = Times(k)
            custom = ops.Custom(times.compute, lambda a: a, lambda a: a, bprop=times.bprop, func_type="pyfunc")
            assert str(compiled(X, times)) == str(function(X, times))
            assert str(grad(compiled)(X, times)) == str(grad(function)(X, times))
