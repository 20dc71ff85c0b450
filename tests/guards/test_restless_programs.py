"""Programs whose state is another one in each call, on both sides of branches, in loops, gradients, generators."""

from __future__ import annotations

import collections
import contextlib
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from tests.helpers.compiled import compiler
from weft import Parameter, Tensor, nn, ops

CALLS = 14


def in_branch(mode: str) -> Any:
    s = set()
    items = []

    def f(x, n):
        if x.sum() > 2:
            s.add(n)
            y = x * 2
        else:
            items.append(n)
            y = x * 3
        return y, len(s)

    return compiler(mode)(f), lambda: (s, items)


def in_loop(mode: str) -> Any:
    d = {}

    def f(x, n):
        for k in range(3):
            d[n * 3 + k] = k
            x = x + len(d)
        while x.sum() < 50:
            x = x * 2
        return x

    return compiler(mode)(f), lambda: sorted(d.items())


def counted_loss() -> Any:
    seen = [0]
    hist = {}
    w = Parameter(np.ones(2, np.float32), name="w")

    def loss(x, n):
        hist[n] = n
        seen[0] += 1
        return (x * w).sum() * len(hist) + seen[0]

    return loss, w, (seen, hist)


def in_grad(mode: str) -> Any:
    loss, w, state = counted_loss()
    f = compiler(mode)(loss)

    def step(x, n):
        v, g = weft.value_and_grad(f, None, [w])(x, n)
        return v, g[0] if isinstance(g, (tuple, list)) else g

    if hasattr(f, "report"):
        step.report = f.report
    return step, lambda: state


def in_grad_in(mode: str) -> Any:
    loss, w, state = counted_loss()

    def step(x, n):
        v, g = weft.value_and_grad(loss, None, [w])(x, n)
        w.set_data(w - 0.01 * (g[0] if isinstance(g, (tuple, list)) else g))
        return v, w + 0

    return compiler(mode)(step), lambda: state


def in_gen(mode: str) -> Any:
    d = {}

    def gen(x, n):
        for k in range(2):
            d[n + k * 100] = k
            yield x * k + len(d)

    def f(x, n):
        t = 0
        for y in gen(x, n):
            t = t + y
        return t

    return compiler(mode)(f), lambda: sorted(d)


def in_try(mode: str) -> Any:
    d = {}

    def f(x, n):
        try:
            d[n] = 1
            if n % 4 == 3:
                raise ValueError(n)
            return x * len(d)
        except ValueError as e:
            d.pop(n - 1, None)
            return x - e.args[0]
        finally:
            d["f"] = n

    return compiler(mode)(f), lambda: d


def in_with(mode: str) -> Any:
    log = []
    seen = set()

    @contextlib.contextmanager
    def cm(n):
        log.append(("in", n))
        seen.add(n)
        try:
            yield len(seen)
        finally:
            log.append(("out", n))

    def f(x, n):
        with cm(n) as k:
            return x * k

    return compiler(mode)(f), lambda: (log, seen)


def in_rec(mode: str) -> Any:
    memo = {}

    def fib(n):
        if n < 2:
            return n
        if n in memo:
            return memo[n]
        memo[n] = fib(n - 1) + fib(n - 2)
        return memo[n]

    def f(x, n):
        return x * fib(n % 15)

    return compiler(mode)(f), lambda: memo


def in_cell(mode: str) -> Any:
    class Net(nn.Cell):
        def __init__(s):
            super().__init__()
            s.fc = nn.Dense(2, 2, weight_init="ones")
            s.hist = {}
            s.n = 0
            s.seen = set()

        def construct(s, x, n):
            s.n += 1
            s.hist[n] = s.n
            s.seen.add(n)
            return s.fc(x) * len(s.hist) + s.n

    net = Net()
    f = compiler(mode)(lambda x, n: net(x, n))
    return f, lambda: (net.hist, net.n, net.seen)


def lru(mode: str) -> Any:
    @functools.lru_cache(maxsize=5)
    def c(n):
        return n * 2

    def f(x, n):
        return x * c(n)

    return compiler(mode)(f), lambda: c.cache_info()


def method_state(mode: str) -> Any:
    class Meter:
        def __init__(s):
            s.vals = collections.defaultdict(list)
            s.best = None

        def update(s, **kw):
            for k, v in kw.items():
                s.vals[k].append(v)
            m = min(s.vals["n"][-3:])
            if s.best is None or m < s.best:
                s.best = m
            return s

        def mean(s, k):
            return sum(s.vals[k]) / len(s.vals[k])

    m = Meter()

    def f(x, n):
        m.update(n=n * 1.5, k=n)
        return x * m.mean("n")

    return compiler(mode)(f), lambda: (dict(m.vals), m.best)


def replay(mode: str) -> Any:
    buf = collections.deque(maxlen=6)

    def f(x, n):
        buf.append((x * n, n, n % 5 == 0))
        xs, ns, ds = zip(*buf, strict=True)
        return ops.stack(list(xs)).sum() + sum(ns) + sum(ds)

    return compiler(mode)(f), lambda: [(t.asnumpy().tolist(), n, d) for t, n, d in buf]


def topk(mode: str) -> Any:
    best = []

    def f(x, n):
        best.append((-((n * 7) % 11), n))
        best.sort()
        del best[4:]
        return x * best[0][1]

    return compiler(mode)(f), lambda: best


def bytearr(mode: str) -> Any:
    b = bytearray()

    def f(x, n):
        b.append(n % 256)
        return x * len(b) + b[-1]

    return compiler(mode)(f), lambda: bytes(b)


def ordered(mode: str) -> Any:
    od = collections.OrderedDict()

    def f(x, n):
        od[n % 7] = n
        od.move_to_end(n % 7)
        if len(od) > 4:
            od.popitem(last=False)
        return x * sum(od)

    return compiler(mode)(f), lambda: list(od.items())


def strkeys(mode: str) -> Any:
    d = {}

    def f(x, n):
        d[f"k{n}"] = n
        d.setdefault(f"j{n % 3}", []).append(n)
        return x * len(d)

    return compiler(mode)(f), lambda: d


PROGRAMS: list[Callable[[str], Any]] = [
    in_branch, in_loop, in_grad, in_grad_in, in_gen, in_try, in_with, in_rec, in_cell, lru, method_state, replay, topk,
    bytearr, ordered, strkeys,
]  # fmt: skip


def answers(make: Callable[[str], Any], mode: str) -> tuple[list[Any], list[str], Any]:
    weft.set_seed(0)
    call, state = make(mode)
    results, states = [], []
    for n in range(CALLS):
        result = call(Tensor(np.array([1.0, n % 3], np.float32)), n)
        results.append([np.array(part) for part in (result if isinstance(result, tuple) else (result,))])
        states.append(repr(state()))
    return results, states, call


@pytest.mark.parametrize("mode", ["auto", "PIJit"])
@pytest.mark.parametrize("make", PROGRAMS)
def test_each_call_has_the_state_of_its_own(make: Callable[[str], Any], mode: str) -> None:
    wanted, states, _ = answers(make, "eager")
    found, compiled_states, call = answers(make, mode)
    assert compiled_states == states
    for ours, theirs in zip(found, wanted, strict=True):
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    assert len(call.report().graphs) <= 17
