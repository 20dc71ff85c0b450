"""Hooks on tensors run in the order of the tape, each with the whole gradient of its tensor, in whatever way a program
is differentiated: random programs that register hooks at once, later, after breaks, on views and on copies.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import Parameter, Tensor, grad, jit, nn

SEEN: list[tuple[str, Any]] = []
INPUTS = [([1.0, 2.0], [3.0, 0.5]), ([0.5, -1.0], [2.0, 1.5]), ([1.5, 0.3], [0.7, 2.0])]
COMPUTED = [
    "{a} * {b}", "{a} + {b}", "{a} * 2", "{a} + 0", "{a}.sin()", "{a} - {b}", "weft.ops.exp({a} * 0.1)", "{a} * {a}",
    "{a}[0:2]", "{a}[:, None][:, 0]", "weft.ops.stack([{a}, {b}]).sum(0)", "weft.ops.stop_gradient({a}) * {b}",
    "watched({a})", "watched({a}) * {b}", "weft.ops.tanh({a})", "{a}.view(1, 2)[0]", "{a}.astype(weft.float32)",
    "{a}.copy()", "ruled({a})", "(lambda t: t * 2)({a})",
]  # fmt: skip
WRITTEN = ["{a}.add_({b})", "{a} += {b}", "{a}[0] = {b}[1]", "{a}.mul_(2.0)"]


class Watched(nn.Cell):
    """A cell with backward hooks."""

    def __init__(self) -> None:
        super().__init__()
        self.w = Parameter(Tensor([2.0, 3.0]), name="w")
        self.register_backward_hook(self.after)
        self.register_backward_pre_hook(self.before)

    def after(self, cell: Any, grad_input: Any, grad_output: Any) -> None:
        SEEN.extend([("after", grad_input[0]), ("after, output", grad_output[0])])

    def before(self, cell: Any, grad_output: Any) -> None:
        SEEN.append(("before", grad_output[0]))

    def construct(self, x: Any) -> Any:
        return x * self.w


class Ruled(nn.Cell):
    """A cell with a derivative of its own."""

    def construct(self, x: Any) -> Any:
        return x * 3

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        SEEN.append(("rule", dout))
        return (dout * 3 * x,)


def _sees(name: str) -> Callable[[Any], Any]:
    def sees(g: Any) -> None:
        SEEN.append((name, g))

    return sees


def _doubles(name: str) -> Callable[[Any], Any]:
    def doubles(g: Any) -> Any:
        SEEN.append((name, g))
        return g * 2

    return doubles


def _writes(name: str) -> Callable[[Any], Any]:
    def writes(g: Any) -> None:
        SEEN.append((name, g + 0))
        g += 1

    return writes


def _replaces(name: str) -> Callable[[Any], Any]:
    def replaces(g: Any) -> Any:
        SEEN.append((name, g))
        return g * 0 + 0.5

    return replaces


HOOKS = {f"{make.__name__}{i}": make(f"{make.__name__}{i}") for make in (_sees, _doubles, _writes, _replaces)
         for i in range(12)}  # fmt: skip


def _program(seed: int, late: bool, breaks: bool) -> Callable[..., Any]:
    rng = random.Random(seed)
    lines, names, hooks = ["def f(x, y):"], ["x", "y"], 0

    def one() -> str:
        return rng.choice(names[-5:] if rng.random() < 0.7 else names)

    for _ in range(rng.randint(3, 9)):
        kind = rng.random()
        if kind < 0.55 or len(names) < 3:
            made = [f"v{len(names)}"]
            lines.append(f"{made[0]} = " + rng.choice(COMPUTED).format(a=one(), b=one()))
            names += made
        elif kind < 0.62:
            made = [f"v{len(names)}", f"v{len(names) + 1}"]
            lines.append(f"{', '.join(made)} = weft.ops.split(weft.ops.concat([{one()}, {one()}]), 2)")
            names += made
        elif kind < 0.68 and breaks:
            lines.append(f"{one()}.asnumpy()")
        elif kind < 0.74:
            lines.append(rng.choice(WRITTEN).format(a=rng.choice(names[2:]), b=one()))
        else:
            tensor = one() if late and rng.random() < 0.4 else names[-1]
            maker = rng.choice((_sees, _sees, _doubles, _writes, _replaces)).__name__
            lines.append(f"{tensor}.register_hook(HOOKS['{maker}{hooks}'])")
            hooks += 1
    lines.append(f"return ({names[-1]} * {one()} + {one()}).sum()")
    source = "\n    ".join(lines)
    space: dict[str, Any] = {"weft": weft, "HOOKS": HOOKS, "watched": Watched(), "ruled": Ruled()}
    exec(compile(source, f"<hooks {seed}>", "exec"), space)
    found: Callable[..., Any] = space["f"]
    return found


def _again(gradient: Callable[..., Any]) -> Callable[..., Any]:
    return grad(lambda x, y: gradient(x, y)[0].sum(), (0, 1))


BOTH = (0, 1)
FIRST: dict[str, Callable[[Any], Any]] = {
    "eager": lambda f: grad(f, BOTH),
    "grad of jit": lambda f: grad(jit(f), BOTH),
    "jit of grad": lambda f: jit(lambda x, y: grad(f, BOTH)(x, y)),
    "jit of grad of jit": lambda f: jit(lambda x, y: grad(jit(f), BOTH)(x, y)),
    "grad of PIJit": lambda f: grad(jit(f, mode="PIJit"), BOTH),
}
SECOND: dict[str, Callable[[Any], Any]] = {
    "eager": lambda f: _again(grad(f, BOTH)),
    "grad of grad of jit": lambda f: _again(grad(jit(f), BOTH)),
    "grad of jit of grad": lambda f: _again(jit(lambda x, y: grad(f, BOTH)(x, y))),
    "jit of grad of grad": lambda f: jit(lambda x, y: _again(grad(f, BOTH))(x, y)),
}


def _outcome(gradient: Callable[..., Any]) -> list[Any]:
    found: list[Any] = []
    for x, y in INPUTS:
        SEEN.clear()
        result = [t.asnumpy() for t in gradient(Tensor(x), Tensor(y))]
        found.append((result, [(name, g.asnumpy()) for name, g in SEEN]))
    return found


def _check(seed: int, late: bool, breaks: bool, ways: dict[str, Callable[[Any], Any]]) -> None:
    wanted: Any = None
    for way, differentiated in ways.items():
        found = _outcome(differentiated(_program(seed, late, breaks)))
        wanted = wanted or found
        for (result, seen), (right, to_see) in zip(found, wanted, strict=True):
            assert [name for name, _ in seen] == [name for name, _ in to_see], way
            for value, expected in zip(
                [*result, *(g for _, g in seen)], [*right, *(g for _, g in to_see)], strict=True
            ):
                np.testing.assert_allclose(value, expected, rtol=1e-4, atol=2e-3, err_msg=way)


@pytest.mark.parametrize("seed", range(16))
def test_at_once(seed: int) -> None:
    _check(seed, late=False, breaks=False, ways=FIRST)


@pytest.mark.parametrize("seed", range(100, 116))
def test_late_and_after_breaks(seed: int) -> None:
    _check(seed, late=True, breaks=True, ways=FIRST)


@pytest.mark.parametrize("seed", range(200, 212))
def test_second_derivatives(seed: int) -> None:
    _check(seed, late=True, breaks=True, ways=SECOND)


@pytest.mark.slow
@pytest.mark.parametrize("ways", [FIRST, SECOND], ids=["first", "second"])
@pytest.mark.parametrize("seed", range(1000, 1400))
def test_many(seed: int, ways: dict[str, Callable[[Any], Any]]) -> None:
    _check(seed, late=seed % 2 == 0, breaks=seed % 3 == 0, ways=ways)


def _after_a_break(x: Any) -> Any:
    y = x * 2
    z = y * y
    w = z * y + 1
    w.asnumpy()
    for tensor, name in ((z, "z"), (y, "y"), (w, "w")):
        tensor.register_hook(_doubles(name))
    return (w * z).sum()


def test_of_tensors_with_which_graphs_have_computed() -> None:
    """What was computed before the hook was registered, in a graph that is finished, passes it as well."""
    compiled = jit(_after_a_break)
    for values in ([1.0, 2.0], [3.0, 0.5], [3.0, 0.5, 1.0], [1.0, 2.0, 3.0, 4.0]):  # sizes left open, too
        found = []
        for f in (_after_a_break, compiled):
            for gradient in (grad(f), grad(lambda x, f=f: grad(f)(x).sum())):
                SEEN.clear()
                result = gradient(Tensor(values)).asnumpy().tolist()
                found.append((result, [(name, g.asnumpy().tolist()) for name, g in SEEN]))
        assert [name for name, _ in found[0][1]] == ["w", "z", "y"]
        assert found[:2] == found[2:]


def _in_the_middle(x: Any) -> Any:
    y = x * 2
    z = y * y

    def registers(g: Any) -> None:
        y.register_hook(lambda g: g * 5)

    z.register_hook(registers)
    return (z * y).sum()


def _made_in_the_call(x: Any) -> Any:
    def counting(name: str) -> Callable[[Any], Any]:
        def counts(g: Any) -> Any:
            SEEN.append((name, g))
            return g * len(SEEN)

        return counts

    a = x * 3
    b = x * 4
    c = a * b
    for tensor, name in ((a, "a"), (c, "c"), (b, "b"), (a, "a again")):
        tensor.register_hook(counting(name))
    return (a * a).sum() + (b * c).sum()


def _by_the_caller(x: Any) -> Any:
    a, b, c = _three(x)
    for tensor, name in ((a, "a"), (b, "b"), (c, "c")):
        tensor.register_hook(_doubles(name))
    return (a * b * c).sum()


@jit
def _three(x: Any) -> Any:
    return x * 3, x * 4, x * 5


@pytest.mark.parametrize("f", [_in_the_middle, _made_in_the_call, _by_the_caller])
def test_registered_while_or_after_other_code_runs(f: Callable[[Any], Any]) -> None:
    compiled = jit(f)
    for values in ([1.0, 2.0], [3.0, 0.5], [0.25, -1.0]):
        found = []
        for gradient in (grad(f), grad(compiled), jit(grad(f))):
            SEEN.clear()
            result = gradient(Tensor(values)).asnumpy().tolist()
            found.append((result, [name for name, _ in SEEN]))
        assert found[0] == found[1] == found[2]
        if f is _by_the_caller:
            assert found[0][1] == ["c", "b", "a"]


class _UsesItsResult(nn.Cell):
    def construct(self, x: Any) -> Any:
        return x * x

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        SEEN.append(("rule", dout))
        return (dout * x + out,)


def test_a_hook_that_only_looks_changes_nothing() -> None:
    """A rule that computes with its result is called once in a second derivative, with the whole gradient."""
    rule = _UsesItsResult()

    def program(looks: bool) -> Callable[[Any], Any]:
        def f(x: Any) -> Any:
            y = rule(x * 1.5)
            if looks:
                y.register_hook(_sees("looks"))
            return (y * y).sum()

        return f

    for looks in (False, True):
        f = program(looks)
        for first in (grad(f), grad(jit(f)), jit(grad(f))):
            SEEN.clear()
            found = grad(lambda x, first=first: (first(x) * x).sum())(Tensor([1.0, 2.0]))
            assert found.asnumpy().tolist() == [40.5, 283.5]
            assert [name for name, _ in SEEN] == (["looks", "rule"] if looks else ["rule"]) * 2


def test_of_graphs_one_after_the_other() -> None:
    """A graph that is run again in pieces keeps its place between others that share nothing with it but the input."""

    def sees(name: str) -> Callable[[Any], Any]:
        return lambda g: SEEN.append((name, g * 1))  # made in each call, so that registering it is a break

    def f(x: Any) -> Any:
        t, c = x * 1, 0
        while t.sum() < 2 and c < 3:
            t = t * 1.3 + 0.2
            c += 1
        p = (x + x * 0.5) * 1
        v = p[1:]
        v.register_hook(sees("v"))
        q = x * 1
        w = q[1:]
        w.add_(1.0)
        w.register_hook(sees("w"))
        r = (q * 2)[:2]
        r.register_hook(sees("r"))
        return v.sum() + q.sum() + r.sum()

    for compute in (grad(f), grad(jit(f)), jit(grad(f))):
        for values in ([0.5, -0.3, 0.8], [3.0, 1.0, 2.0]):
            SEEN.clear()
            gradient = compute(Tensor(values))
            assert [name for name, _ in SEEN] == ["r", "w", "v"]
            assert gradient.tolist() == [3.0, 4.5, 2.5]
