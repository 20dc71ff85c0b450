"""`ops.host_call`: calls of Python from running graphs."""

from __future__ import annotations

import sys
import threading
import time
import traceback
from typing import Any

import numpy as np
import pytest

import weft
from weft import Parameter, Tensor, grad, jit, ops
from weft.errors import Unsupported

SEEN: list[Any] = []


def note(*args: Any, **kwargs: Any) -> None:
    SEEN.append((args, kwargs))


@pytest.fixture(autouse=True)
def nothing_seen() -> None:
    SEEN.clear()


def shown(seen: list[Any]) -> str:
    return "\n".join(map(repr, seen))


def test_arguments_are_what_they_are_in_python() -> None:
    weight = Parameter(Tensor([1.0, 2.0]), name="w")

    def f(x: Any, n: int) -> Any:
        count = x.sum().item()
        ops.host_call(note, x, n, count, [x + 1, {"a": (x * 2, "text")}], weight, key={1, 2}, text=f"{x} {n:03d}")
        return x * weight

    def record(function: Any) -> tuple[str, Any]:
        SEEN.clear()
        result = function(Tensor([3.0, 4.0]), 5)
        assert type(SEEN[0][0][2]) is float
        assert type(SEEN[0][0][4]) is Parameter
        return shown(SEEN), result.asnumpy().tolist()

    assert record(jit(f)) == record(f)


def test_a_list_is_passed_as_it_is_at_the_call() -> None:
    def f(x: Any) -> Any:
        items = [x]
        ops.host_call(note, items)
        items.append(x + 1)
        ops.host_call(note, items)
        return x

    jit(f)(Tensor(1))
    assert [len(args[0]) for args, _ in SEEN] == [1, 2]
    assert SEEN[0][0][0] is not SEEN[1][0][0]


def test_a_container_from_outside_is_passed_itself() -> None:
    kept: list[Any] = []

    @jit
    def f(x: Any) -> Any:
        ops.host_call(lambda items: items.append(1), kept)
        return x

    for length in (1, 2, 3):
        f(Tensor(1))
        assert kept == [1] * length


def test_the_call_is_made_in_the_thread_of_the_caller_and_may_run_graphs() -> None:
    threads: list[Any] = []

    def inner() -> None:
        threads.append("inner")

    double = jit(lambda x: x * 2)
    loud = jit(lambda x: (ops.host_call(inner), x + 1)[1])

    def react(x: Any) -> None:
        threads.append((threading.get_ident(), double(x).item(), loud(x).item()))

    @jit
    def f(x: Any) -> Any:
        i = Tensor(0)
        while i < 2:
            ops.host_call(react, x + i)
            i = i + 1
        return x

    f(Tensor(3))
    here = threading.get_ident()
    assert [t for t in threads if t[0] == here] == [(here, 6, 4), (here, 8, 5)]
    assert len(threads) == 4


def test_calls_in_a_loop_are_made_while_it_runs() -> None:
    times: list[float] = []

    @jit
    def f(x: Any, rounds: Any) -> Any:
        i = Tensor(0)
        while i < rounds:
            ops.host_call(lambda: times.append(time.perf_counter()))
            for _ in range(4):
                x = ops.tanh(x @ x)
            i = i + 1
        return x

    x, three = Tensor(np.ones((600, 600), np.float32)), Tensor(3)
    f(x, three)
    for _ in range(5):  # two of three rounds lie between the calls; a busy machine may stretch what surrounds them
        times.clear()
        start = time.perf_counter()
        f(x, three).asnumpy()
        assert len(times) == 3
        if times[2] - times[0] > 0.3 * (time.perf_counter() - start):
            return
    pytest.fail("the calls were made one right after the other")


@pytest.mark.parametrize("looped", [False, True])
def test_what_it_raises_reaches_the_caller_from_the_line_and_changes_nothing(looped: bool) -> None:
    weight = Parameter(Tensor([1.0, 2.0]), name="w")
    seen: list[Any] = []
    error = LookupError("as itself")

    def after() -> None:
        seen.append("after")

    def fail(x: Any) -> None:
        if x.sum() > 5:
            raise error
        seen.append(x.tolist())

    @jit
    def f(x: Any, n: Any) -> Any:
        weight.set_data(weight + 1)
        ops.host_call(fail, x)
        if looped:
            while n > 0:
                ops.host_call(fail, x * 2)
                n = n - 1
        else:
            ops.host_call(fail, x * 2)
        ops.host_call(after)
        return weight * x

    f(Tensor([1.0, 1.0]), Tensor(1))
    assert weight.asnumpy().tolist() == [2, 3]
    assert seen == [[1, 1], [2, 2], "after"]
    seen.clear()
    with pytest.raises(LookupError) as caught:
        f(Tensor([2.0, 2.0]), Tensor(1))
    assert caught.value is error
    assert caught.value.__context__ is None
    assert seen == [[2, 2]]
    assert weight.asnumpy().tolist() == [2, 3]
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert [frame.name for frame in frames][-2:] == ["f", "fail"]
    assert "ops.host_call(fail, x * 2)" in str(frames[-2].line)
    f(Tensor([1.0, 1.0]), Tensor(1))
    assert weight.asnumpy().tolist() == [3, 4]


def nonlinear(x: Any, n: Any) -> Any:
    ops.host_call(note, "start", x)
    i = Tensor(0)
    while i < n:
        ops.host_call(note, i, x)
        x = ops.sin(x) * x
        i = i + 1
    if x.sum() > 0:
        ops.host_call(note, "positive")
        x = x * x * x
    else:
        ops.host_call(note, "not")
        x = -x * x
    return x.sum()


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("start", [[1.0, 2.0], [-1.0, 2.0], [0.1, -0.2]])
def test_gradients_make_each_call_once(order: int, start: list[float]) -> None:
    def derivative(function: Any) -> Any:
        if order == 1:
            return grad(function)
        return grad(lambda x, n: (grad(function)(x, n) ** 2).sum())

    def record(function: Any) -> tuple[str, Any]:
        SEEN.clear()
        value = function(Tensor(start), Tensor(3)).asnumpy()
        return shown(SEEN), value

    text, wanted = record(derivative(nonlinear))
    assert text
    for way in (derivative(jit(nonlinear)), jit(derivative(nonlinear))):
        for _ in range(2):
            found_text, found = record(way)
            assert found_text == text
            np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_a_graph_without_calls_left_runs_as_ever() -> None:
    @jit
    def f(x: Any) -> Any:
        if False:
            ops.host_call(print, "never")
        return x + 1

    assert f(Tensor(1)).item() == 2


def test_objects_that_the_capture_changes_are_refused() -> None:
    class Counter:
        def __init__(self) -> None:
            self.count = 0

    counter = Counter()

    @jit(fullgraph=True)
    def passes(x: Any) -> Any:
        ops.host_call(note, counter)
        return x

    @jit(fullgraph=True)
    def changes(x: Any) -> Any:
        counter.count += 1
        ops.host_call(note, counter)
        return x

    passes(Tensor(1))
    assert SEEN[0][0][0] is counter
    with pytest.raises(Unsupported, match="class Counter that the compiled function makes or changes"):
        changes(Tensor(1))


def test_a_container_that_contains_itself_is_refused() -> None:
    @jit(fullgraph=True)
    def f(x: Any) -> Any:
        items = [x]
        items.append(items)
        ops.host_call(print, items)
        return x

    with pytest.raises(Unsupported, match="contains itself"):
        f(Tensor(1))


def test_vmap_refuses_it() -> None:
    def f(x: Any) -> Any:
        ops.host_call(print, x)
        return x

    with pytest.raises(Unsupported, match="calls the host"):
        weft.vmap(f)(Tensor([1, 2]))


def test_threads_do_not_mix() -> None:
    seen: dict[int, list[Any]] = {}

    def put(x: Any) -> None:
        seen.setdefault(threading.get_ident(), []).append(x.item())

    @jit
    def f(x: Any) -> Any:
        for i in range(20):
            ops.host_call(put, x + i)
        return x

    f(Tensor(0))
    results: dict[int, list[Any]] = {}
    done = threading.Barrier(4)

    def work(start: int) -> None:
        f(Tensor(start))
        results[start] = seen[threading.get_ident()]
        done.wait()  # thread numbers are used again

    seen.clear()
    threads = [threading.Thread(target=work, args=(k * 100,)) for k in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {k: [k + i for i in range(20)] for k in (100, 200, 300, 400)}


def test_a_stream_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def write(self, text: str) -> None:
            raise BrokenPipeError(32, "gone")

        def flush(self) -> None: ...

    @jit
    def f(x: Any) -> Any:
        print("x is", x)
        return x

    f(Tensor(1))
    monkeypatch.setattr(sys, "stdout", Broken())
    with pytest.raises(BrokenPipeError, match="gone"):
        f(Tensor(1))
