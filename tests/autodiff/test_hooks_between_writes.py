"""A hook on a tensor that is written through views, before and after: what is computed with a view later passes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weft import Tensor, grad, jit

LOG: list[Any] = []


def tenfold(g: Any) -> Any:
    LOG.append(g * 1)
    return g * 10


def made(k: int) -> Callable[[Any], Any]:
    """A hook that is made in the call, so that registering it is a break in compiled code."""

    def hook(g: Any) -> Any:
        LOG.append(g * 1)
        return g * k

    return hook


VIEWS: dict[str, Callable[[Any], Any]] = {
    "itself": lambda t: t,
    "slice of all": lambda t: t[:],
    "slice": lambda t: t[:2],
    "reshaped": lambda t: t.reshape(3, 1),
    "view of a view": lambda t: t.reshape(3, 1)[:2],
    "transposed": lambda t: t.reshape(1, 3).transpose(),
}


def _first(w: Any) -> None:
    w[1] = 5.0


WRITES: dict[str, Callable[[Any], Any]] = {
    "a number": lambda w: w.__setitem__(0, 1.0),
    "a product": lambda w: w[0:1].mul_(2.0),
    "nothing": lambda w: None,
}
#: the gradient at the hook after each write: a number cuts the first element off, a product doubles it
ARRIVES = {"a number": [0.0, 1.0, 1.0], "a product": [2.0, 1.0, 1.0], "nothing": [1.0, 1.0, 1.0]}


@pytest.mark.parametrize("hook", [tenfold, None], ids=["kept", "made in the call"])
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("view", VIEWS)
def test_the_hook_sees_the_whole_gradient(view: str, write: str, hook: Any) -> None:
    def program(x: Any) -> Any:
        t = x * 2
        w = VIEWS[view](t)
        _first(w)
        t.register_hook(made(10) if hook is None else hook)
        WRITES[write](w)
        return t.sum()

    arrives = np.array(ARRIVES[write])
    expected = arrives * [20, 0, 20]
    for compute in (grad(program), grad(jit(program)), jit(grad(program))):
        for values in ([1.0, 2.0, 3.0], [-1.0, 0.5, 2.0]):
            LOG.clear()
            assert compute(Tensor(values)).tolist() == expected.tolist()
            assert [g.tolist() for g in LOG] == [arrives.tolist()]


def test_views_that_are_used_after_the_hook() -> None:
    def program(x: Any) -> Any:
        t = x * 2
        w, other = t[:2], t[1:]
        w.mul_(3.0)
        t.register_hook(tenfold)
        return (w * w).sum() + other.sum()

    for compute in (grad(program), grad(jit(program)), jit(grad(program))):
        LOG.clear()
        assert compute(Tensor([1.0, 2.0, 3.0])).tolist() == [720.0, 1500.0, 20.0]
        assert [g.tolist() for g in LOG] == [[12.0, 25.0, 1.0]]


def _around_a_branch(x: Any, y: Any, k: Any) -> Any:
    t = x * y
    v = t[1:]
    t.register_hook(lambda g: LOG.append(("first", g.asnumpy().tolist())))
    if k > 1:
        v.mul_(x[:2])
    t.register_hook(lambda g: LOG.append(("second", g.asnumpy().tolist())))
    return (t * t).sum()


def _around_a_loop(x: Any, y: Any, k: Any) -> Any:
    t = x * y
    t.register_hook(lambda g: LOG.append(("first", g.asnumpy().tolist())))
    while k > 1:
        t *= x
        k = k - 1
    t.register_hook(lambda g: LOG.append(("second", g.asnumpy().tolist())))
    return (t * t).sum()


@pytest.mark.parametrize("way", [lambda f: grad(jit(f)), lambda f: jit(grad(f))], ids=["grad(jit)", "jit(grad)"])
@pytest.mark.parametrize("f", [_around_a_branch, _around_a_loop])
def test_around_writes_that_only_some_runs_make(f: Callable[..., Any], way: Callable[[Any], Any]) -> None:
    """Where a tensor stays as it was both hooks are of one tensor, and run in the order of their registration."""
    compiled = way(f)
    for k in (2.0, 0.0, 3.0, 1.0, 2.0):
        found = []
        for gradient in (grad(f), compiled):
            LOG.clear()
            value = gradient(Tensor([0.5, -0.3, 0.8]), Tensor([-0.5, 0.3, -0.8]), Tensor(k)).asnumpy()
            found.append((value, list(LOG)))
        np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-5)
        assert [name for name, _ in found[0][1]] == [name for name, _ in found[1][1]]
        for (_, expected), (_, actual) in zip(found[0][1], found[1][1], strict=True):
            np.testing.assert_allclose(expected, actual, rtol=1e-5)


def _base_written_apart(x: Any) -> Any:
    t = x * 1
    v = t[1:]
    v.mul_(2.0)
    t[0] = 5.0
    v.register_hook(tenfold)
    return (t * x).sum() + (v * v).sum()


def _base_written_apart_in_a_branch(x: Any) -> Any:
    t = x * 1
    v = t[1:]
    v.mul_(x[1:])
    if x.sum() > 0:
        t[0] = x[1]
        v.register_hook(tenfold)
    return (t * x).sum()


def _base_written_apart_after_a_break(x: Any) -> Any:
    t = x * 1
    v = t[1:]
    v.mul_(x[1:])
    LOG.append(str(x.shape) + "-".join(map(str, np.argsort(x.asnumpy()))))
    t[0] = x[1]
    v.register_hook(tenfold)
    return (t * x).sum()


def _base_written_twice_after_a_break(x: Any) -> Any:
    t = x * 1
    v = t[1:]
    LOG.append("-".join(map(str, np.argsort(x.asnumpy()))))
    t[0] = x[1]
    t[1] = x[2]
    v.register_hook(tenfold)
    return (t * x * v.sum()).sum()


@pytest.mark.parametrize("way", [lambda f: grad(jit(f)), lambda f: jit(grad(f))], ids=["grad(jit)", "jit(grad)"])
@pytest.mark.parametrize(
    "f",
    [
        _base_written_apart,
        _base_written_apart_in_a_branch,
        _base_written_apart_after_a_break,
        _base_written_twice_after_a_break,
    ],
)
def test_a_view_that_a_write_does_not_touch_keeps_its_history(f: Callable[..., Any], way: Callable[[Any], Any]) -> None:
    compiled = way(f)
    for values in ([0.5, -0.3, 0.8], [1.0, 2.0, 3.0], [-1.0, 0.2, -0.4]):
        found = []
        for gradient in (grad(f), compiled):
            LOG.clear()
            value = gradient(Tensor(values)).asnumpy()
            found.append((value, [seen if isinstance(seen, str) else seen.asnumpy() for seen in LOG]))
        np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-5)
        assert len(found[0][1]) == len(found[1][1])
        for expected, actual in zip(found[0][1], found[1][1], strict=True):
            if isinstance(expected, str):
                assert expected == actual
            else:
                np.testing.assert_allclose(expected, actual, rtol=1e-5)
