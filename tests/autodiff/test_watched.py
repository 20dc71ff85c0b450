"""Functions of the program that library code calls: what they read, change, print and raise is as in eager code.

Each transform meets each kind of function, in four calls between which what the function reads changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from weft import Parameter, Tensor, nn, ops, set_seed
from weft.autodiff.composite import HyperMap, MultitypeFuncGraph
from weft.autodiff.custom import HookBackward, InsertGradientOf, call_with_bprop
from weft.autodiff.grad import GradOperation, grad, jvp, value_and_grad, vjp
from weft.autodiff.higher import jet, linearize
from weft.autodiff.jacobian import hessian, jacfwd, jacrev
from weft.autodiff.registry import bprop_getters
from weft.errors import Unsupported
from weft.jit import jit
from weft.ops.legacy import Morph
from weft.ops.math import mul
from weft.vectorize import vmap

SCALE = 2.0
VALUES = (2.0, 3.0, 3.0, 4.0)


class World:
    """What a function reads and changes besides its arguments."""

    def __init__(self) -> None:
        self.k = 2.0
        self.log: list[Any] = []
        self.state = Parameter(Tensor(np.zeros(2, np.float32)), name="state", requires_grad=False)

    # -- kinds of functions --------------------------------------------------------------------------------------

    def reads_self(self) -> Any:
        return lambda x: x * x * self.k

    def reads_global(self) -> Any:
        return lambda x: x * x * SCALE

    def reads_closure(self) -> Any:
        k = self.k

        def function(x: Any) -> Any:
            return x * x * k

        def change(value: float) -> None:
            nonlocal k
            k = value

        self.change = change
        return function

    def branches(self) -> Any:
        def function(x: Any) -> Any:
            if x.sum() > 0:
                return x * x * self.k
            return x * 3

        return function

    def counts(self) -> Any:
        def function(x: Any) -> Any:
            self.log.append(len(self.log))
            return x * x

        return function

    def prints(self) -> Any:
        def function(x: Any) -> Any:
            print("called", self.k)
            return x * x

        return function

    def breaks(self) -> Any:
        def function(x: Any) -> Any:
            self.log.append(x.asnumpy().tolist())
            return x * x * self.k

        return function

    def raises(self) -> Any:
        def function(x: Any) -> Any:
            self.log.append("begun")
            if self.k == 3.0:
                raise LookupError(f"no {self.k}")
            return x * x

        return function

    def writes(self) -> Any:
        def function(x: Any) -> Any:
            self.state.set_data(self.state + self.k)
            return x * x * self.k

        return function


KINDS = ("reads_self", "reads_global", "reads_closure", "branches", "counts", "prints", "breaks", "raises", "writes")


def with_pullback(f: Any) -> Any:
    def program(x: Any) -> Any:
        out, pull = vjp(f, x)
        return out, pull(x)

    return program


def mapped_graph(f: Any) -> Any:
    graph = MultitypeFuncGraph("graph")
    graph.register("Tensor")(f)
    return lambda x: HyperMap(graph)([x, (x + 1,)])


def cell_with(f: Any, register: str, hook: Any) -> Any:
    cell = nn.Identity()
    getattr(cell, register)(hook)
    return lambda x: grad(lambda y: (cell(y * 2) * y).sum())(x)


def inserted(f: Any) -> Any:
    insert = InsertGradientOf(f)
    return lambda x: grad(lambda y: (insert(y) * y).sum())(x)


class Ruled(nn.Cell):
    def __init__(self, f: Any) -> None:
        super().__init__()
        self.f = f

    def construct(self, x: Any) -> Any:
        return x * 5

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        return (self.f(dout) + x,)


def ruled(f: Any) -> Any:
    cell = Ruled(f)
    return lambda x: grad(lambda y: cell(y * 2).sum())(x)


def tensor_hook(f: Any) -> Any:
    def inner(x: Any) -> Any:
        y = x * 2
        y.register_hook(f)
        return (y * x).sum()

    return lambda x: grad(inner)(x)


def registered(f: Any) -> Any:
    def program(x: Any) -> Any:
        return grad(lambda y: mul(y, y).sum())(x)

    def run(x: Any) -> Any:
        with bprop_getters.replaced(mul, getter):
            return compiled(x)

    getter = lambda self: lambda a, b, out, dout: (f(b), a)  # noqa: E731
    compiled = program
    run.inner = program

    def use(other: Any) -> None:
        nonlocal compiled
        compiled = other

    run.use = use
    return run


TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "grad": lambda f: lambda x: grad(f)(x) + 1,
    "value_and_grad": lambda f: lambda x: value_and_grad(lambda y: (f(y).sum(), y + 1), has_aux=True)(x),
    "GradOperation": lambda f: lambda x: GradOperation(get_all=True)(f)(x),
    "second order": lambda f: lambda x: grad(lambda y: grad(f)(y).sum())(x),
    "vjp": with_pullback,
    "jvp": lambda f: lambda x: jvp(f, (x,), (x,)),
    "jacrev": lambda f: lambda x: jacrev(f)(x),
    "jacfwd": lambda f: lambda x: jacfwd(f)(x),
    "hessian": lambda f: lambda x: hessian(lambda y: f(y).sum())(x),
    "linearize": lambda f: lambda x: linearize(f, x)[1](x),
    "jet": lambda f: lambda x: jet(f, x, ops.stack([x, x])),
    "vmap": lambda f: lambda x: vmap(f)(ops.stack([x, x + 1])),
    "vmap of grad": lambda f: lambda x: vmap(grad(f))(ops.stack([x, x + 1])),
    "HyperMap": mapped_graph,
    "Morph": lambda f: lambda x: Morph(f)(x) + 1,
    "bprop": ruled,
    "call_with_bprop": lambda f: (
        lambda x: grad(lambda y: call_with_bprop(lambda a, out, dout: (f(a) * dout,), lambda a: a * 3, (y,)).sum())(x)
    ),
    "forward_pre_hook": lambda f: cell_with(f, "register_forward_pre_hook", lambda cell, inputs: f(inputs[0])),
    "forward_hook": lambda f: cell_with(f, "register_forward_hook", lambda cell, inputs, out: f(out)),
    "backward_hook": lambda f: cell_with(f, "register_backward_hook", lambda cell, gi, go: (f(gi[0]) + go[0],)),
    "backward_pre_hook": lambda f: cell_with(f, "register_backward_pre_hook", lambda cell, go: (f(go[0]),)),
    "HookBackward": lambda f: lambda x: grad(lambda y: HookBackward(lambda g: f(g[0]))(y * 2).sum())(x),
    "InsertGradientOf": inserted,
    "tensor hook": tensor_hook,
    "registered rule": registered,
}
#: what eager code cannot do: it runs the function of one example on tensors without values
MAPPED = {"vmap", "vmap of grad"}


def numbers(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.asnumpy()
    if isinstance(value, (tuple, list)):
        return [numbers(item) for item in value]
    return {k: numbers(v) for k, v in value.items()} if isinstance(value, dict) else value


def assert_same(a: Any, b: Any) -> None:
    if isinstance(a, list):
        assert isinstance(b, list)
        assert len(a) == len(b)
        for one, other in zip(a, b, strict=True):
            assert_same(one, other)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        assert_same(list(a.values()), list(b.values()))
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(b, a, rtol=2e-5, atol=1e-6)
    else:
        assert a == b


def observed(program: Any, world: World, x: np.ndarray[Any, Any], capsys: Any) -> list[Any]:
    """What a call returns or raises, and what it leaves behind."""
    world.log.clear()
    capsys.readouterr()
    try:
        result = numbers(program(Tensor(x)))
    except (LookupError, ValueError) as error:
        result = [type(error).__name__, str(error)]
    return [result, list(world.log), capsys.readouterr().out, numbers(world.state)]


def check(make: Any, kind: str, capsys: Any, compiled: Any, around: Any = lambda program: program) -> None:
    global SCALE
    worlds = World(), World()
    programs = []
    for world, wrap in zip(worlds, (lambda f: f, compiled), strict=True):
        program = make(getattr(world, kind)())
        if hasattr(program, "use"):
            program.use(wrap(program.inner))
            programs.append(around(program))
        else:
            programs.append(around(wrap(program)))
    for number, value in enumerate(VALUES):
        SCALE = value
        x = np.array([1.0, 2.0], np.float32) * (-1 if number == 2 else 1)
        found = []
        for world, program in zip(worlds, programs, strict=True):
            world.k = value
            if kind == "reads_closure":
                world.change(value)
            found.append(observed(program, world, x, capsys))
        assert_same(*found)


def pairs(names: Iterable[str], kinds: Iterable[str]) -> list[tuple[str, str]]:
    """All pairs but those that eager code refuses."""
    refused = ("branches", "prints", "breaks")
    return [(name, kind) for name in names for kind in kinds if name not in MAPPED or kind not in refused]


@pytest.mark.parametrize(("name", "kind"), pairs(TRANSFORMS, KINDS))
def test_a_call_is_that_of_eager_code(name: str, kind: str, capsys: Any) -> None:
    check(TRANSFORMS[name], kind, capsys, jit)


@pytest.mark.parametrize(
    ("name", "kind"),
    pairs(
        ("jacrev", "vmap", "bprop", "backward_hook", "tensor hook"),
        ("reads_self", "branches", "counts", "breaks", "raises"),
    ),
)
def test_a_call_under_the_guarded_policy(name: str, kind: str, capsys: Any) -> None:
    check(TRANSFORMS[name], kind, capsys, lambda program: jit(program, mode="PIJit"))


def hooked(register: str, make: Any) -> Any:
    def program(f: Any) -> Any:
        cell = nn.Dense(2, 2, "ones", "zeros")
        getattr(cell, register)(make(f))
        return lambda x: (cell(x * 2) * x).sum()

    return program


def hooked_tensor(f: Any) -> Any:
    def program(x: Any) -> Any:
        y = x * 2
        y.register_hook(f)
        return (y * x).sum()

    return program


def ruled_once(f: Any) -> Any:
    cell = Ruled(f)
    return lambda x: (cell(x * 2) + ops.sin(x)).sum()


def ruled_twice(f: Any) -> Any:
    cell = Ruled(f)
    return lambda x: cell(ops.sin(cell(x))).sum()


def made_inside(f: Any) -> Any:
    def program(x: Any) -> Any:
        y = x * 2
        z = y + 1
        z.register_hook(lambda g: f(g) * y)
        return (z * x).sum()

    return program


def in_a_branch(f: Any) -> Any:
    cell = Ruled(f)

    def program(x: Any) -> Any:
        if x.sum() > 0:
            x = cell(x)
        return (x * 3).sum()

    return program


OUTSIDE: dict[str, Callable[[Any], Any]] = {
    "bprop": ruled_once,
    "two rules": ruled_twice,
    "call_with_bprop": lambda f: (
        lambda x: call_with_bprop(lambda a, out, dout: (f(a) * dout * out,), lambda a: a * 3, (x,)).sum()
    ),
    "forward_hook": hooked("register_forward_hook", lambda f: lambda cell, inputs, out: f(out)),
    "backward_hook": hooked("register_backward_hook", lambda f: lambda cell, gi, go: (f(gi[0]) + go[0],)),
    "backward_pre_hook": hooked("register_backward_pre_hook", lambda f: lambda cell, go: (f(go[0]),)),
    "tensor hook": hooked_tensor,
    "hook of this call": made_inside,
    "branch": in_a_branch,
}


@pytest.mark.parametrize("kind", ("reads_self", "reads_global", "branches", "counts", "prints", "breaks", "raises"))
@pytest.mark.parametrize("name", OUTSIDE)
def test_a_gradient_over_a_compiled_function_calls_hooks_and_rules(name: str, kind: str, capsys: Any) -> None:
    check(OUTSIDE[name], kind, capsys, jit, lambda program: lambda x: grad(program)(x))


@pytest.mark.parametrize("name", ("bprop", "backward_hook", "tensor hook"))
def test_second_derivative_over_a_compiled_function(name: str, capsys: Any) -> None:
    around = lambda program: lambda x: grad(lambda y: (grad(program)(y) * y).sum())(x)  # noqa: E731
    check(OUTSIDE[name], "reads_self", capsys, jit, around)


def test_rules_run_in_the_backward_pass_of_each_call() -> None:
    """Not when the graph is made, and not when it runs forward."""
    seen: list[float] = []
    cell = nn.Identity()
    cell.register_backward_hook(lambda cell, gi, go: seen.append(float(gi[0].asnumpy().sum())))
    program = jit(lambda x: (cell(x * 2) * x).sum())
    x = Tensor([1.0, 2.0])
    program(x)
    assert seen == []
    out, pull = vjp(program, x)
    assert seen == []
    for factor in (1.0, 2.0):
        np.testing.assert_allclose(pull(Tensor(factor, out.dtype))[0].asnumpy(), factor * np.array([4.0, 8.0]))
    assert seen == [3.0, 6.0]
    assert len(program.report().graphs) == 1


def test_mapped_function_branches_for_each_example() -> None:
    """What eager code refuses: the branch is decided for each example."""

    def function(x: Any) -> Any:
        if x.sum() > 0:
            return x * SCALE
        return -x

    program = jit(lambda x: vmap(function)(x) + 0)
    x = np.array([[1.0, 2.0], [-3.0, 1.0]], np.float32)
    expected = np.stack([row * SCALE if row.sum() > 0 else -row for row in x])
    np.testing.assert_allclose(program(Tensor(x)).asnumpy(), expected)
    assert not program.report().breaks


def test_a_mapped_function_is_one_operation() -> None:
    cell = nn.Dense(2, 3)

    def loss(x: Any) -> Any:
        return cell(x.reshape((1, 2))).sum()

    program = jit(lambda x: vmap(grad(loss))(x))
    x = Tensor(np.ones((4, 2), np.float32))
    np.testing.assert_allclose(program(x).asnumpy(), np.tile(cell.weight.asnumpy().sum(0), (4, 1)), rtol=1e-6)
    report = program.report()
    assert not report.breaks
    assert "Vmap" in report.graphs[0].operations


def test_what_a_mapped_function_returns_keeps_its_structure() -> None:
    def function(x: Any) -> Any:
        return x.shape, {"sum": x.sum(), "rest": [x * 2, (3, x)]}

    x = Tensor(np.array([[1.0, 2.0], [3.0, 4.0]], np.float32))
    program = jit(lambda x: vmap(function)(x))
    for _ in range(2):
        assert_same(numbers(vmap(function)(x)), numbers(program(x)))


def test_a_mapped_function_writes_and_draws_as_in_eager_code() -> None:
    state = Parameter(Tensor(np.float32(0)), name="state")

    def function(x: Any) -> Any:
        state.set_data(state + 1)
        return ops.dropout(x, p=0.5) * state

    x = Tensor(np.ones((3, 4), np.float32))
    found = []
    for program in (lambda x: vmap(function)(x), jit(lambda x: vmap(function)(x))):
        set_seed(0)
        state.set_data(Tensor(np.float32(0)))
        found.append([numbers(program(x)) for _ in range(3)] + [numbers(state)])
    assert_same(*found)


def test_a_value_of_one_example_cannot_leave_the_mapped_function() -> None:
    kept: list[Any] = []

    def function(x: Any) -> Any:
        kept.append(x)
        return x * 2

    def program(x: Any) -> Any:
        return vmap(function)(x) + kept[-1]

    with pytest.raises(Unsupported, match="one example"):
        jit(program, fullgraph=True)(Tensor(np.ones((2, 2), np.float32)))
