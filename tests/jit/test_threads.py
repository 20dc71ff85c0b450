"""Threads that call one decorated function: one entry for each key, and each thread its own result."""

from __future__ import annotations

import copy
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np
import pytest

from tests.helpers.compiled import entries
from weft import Parameter, Tensor, grad, nn, ops, set_seed, vmap
from weft.compile.segment import Segment
from weft.core.trace import Trace, tracing
from weft.ir.graph import Value
from weft.jit import jit

THREADS = 32


@pytest.fixture(autouse=True)
def _switch_often() -> Iterator[None]:
    """Switch threads as often as Python can, so that a race shows."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def in_threads(work: Callable[[int], None], count: int = THREADS) -> None:
    """Run `work(number)` in threads that begin together; raises the first failure."""
    failures: list[BaseException] = []
    start = threading.Barrier(count)

    def body(number: int) -> None:
        try:
            start.wait()
            work(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=body, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def test_each_key_is_captured_once() -> None:
    captured: list[int] = []
    shapes = range(1, 11)

    @jit
    def f(v: Any) -> Any:
        return v * 2 + v.ndim

    def work(number: int) -> None:
        rng = np.random.default_rng(number)
        for _ in range(32):
            for rank in rng.permutation(shapes).tolist():
                data = rng.normal(size=(1,) * rank).astype(np.float32)
                np.testing.assert_allclose(f(Tensor(data)).asnumpy(), data * 2 + rank, rtol=1e-6)

    in_threads(work)
    captured.append(entries(f))
    assert captured == [len(shapes)]


def test_entries_are_found_while_others_reorder_them() -> None:
    @jit
    def f(v: Any, keys: Any) -> Any:
        return v * len(list(keys)) * 2

    one = Tensor(np.ones(2, np.float32))

    def work(number: int) -> None:
        for turn in range(12):
            f(one, {(number * 5 + turn) % 6})  # fewer than captures in a row make a restless value

    in_threads(work)
    assert entries(f) == 6


def test_a_thousand_calls_of_a_new_function() -> None:
    """Thirty-two threads meet at the very first call, again and again."""
    data = [np.full(2, k, np.float32) for k in range(THREADS)]
    for round_ in range(32):
        f = jit(lambda v, k=round_: v * k)

        def work(number: int) -> None:
            assert f(Tensor(data[number])).asnumpy().tolist() == [number * round_] * 2

        in_threads(work)
        assert entries(f) == 1


def test_each_instance_is_captured_once() -> None:
    class Net(nn.Cell):
        def __init__(self, k: float) -> None:
            super().__init__()
            self.k = k

        @jit
        def construct(self, v: Any) -> Any:
            return v * self.k

    class Plain:
        def __init__(self, k: float) -> None:
            self.k = k

        @jit
        def construct(self, v: Any) -> Any:
            return v * self.k

    for kind in (Net, Plain):
        objects = [kind(float(k)) for k in range(4)]

        def work(number: int) -> None:
            for turn in range(16):
                k = (number + turn) % 4
                found = objects[k].construct(Tensor(np.full(2, number, np.float32)))
                assert found.asnumpy().tolist() == [number * k] * 2

        in_threads(work)
        assert [entries(obj.construct) for obj in objects] == [1] * 4


def test_xla_compiles_once_for_each_key() -> None:
    compiled: list[str] = []

    def listen(name: str, seconds: float, fun_name: str = "", **_: Any) -> None:
        if "backend_compile" in name and fun_name == "jit(f)":  # JAX compiles the staging of constants, too
            compiled.append(name)

    jax.monitoring.register_event_duration_secs_listener(listen)

    @jit
    def f(v: Any) -> Any:
        return v * 2 + v.reshape(v.shape[0], 1).sum()

    inputs = [Tensor(np.ones(size, np.float32)) for size in range(1, 6)]

    def work(number: int) -> None:
        for turn in range(5):
            f(inputs[(number + turn) % 5])

    try:
        in_threads(work)
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)
    assert 3 <= len(compiled) <= len(inputs)  # the last sizes may share an executable


def test_a_step_in_one_thread_leaves_what_others_read() -> None:
    """One thread makes steps that write a parameter, whose memory they could take over; others read it meanwhile."""
    weight = Parameter(np.ones(3, np.float32))
    done = threading.Event()

    @jit
    def step(x: Any) -> Any:
        weight.set_data(weight * 1)
        return x + weight

    def work(number: int) -> None:
        ones = Tensor(np.ones(3, np.float32))
        if number == 0:
            try:
                for _ in range(300):
                    assert step(ones).asnumpy().tolist() == [2, 2, 2]
            finally:
                done.set()
            return
        compiled = jit(lambda x: x * weight)
        while not done.is_set():
            assert weight.asnumpy().tolist() == [1, 1, 1]
            assert (weight * 2).asnumpy().tolist() == [2, 2, 2]
            assert compiled(ones).asnumpy().tolist() == [1, 1, 1]

    in_threads(work, 4)


@pytest.mark.parametrize("compiled", [False, True])
def test_gradients_of_the_same_weights_in_several_threads(compiled: bool) -> None:
    weights = [Parameter(np.full(2, k + 1.0, np.float32), name=f"w{k}") for k in range(3)]

    def loss(x: Any) -> Any:
        for weight in weights:
            x = x * weight
        return x.sum()

    plain = jit(loss) if compiled else loss
    wanted = [g.asnumpy().tolist() for g in grad(loss, None, weights)(Tensor([1.0, 2.0]))]

    def work(number: int) -> None:
        x = Tensor([1.0, 2.0])
        for turn in range(25):
            if number % 2:
                assert plain(x).item() == 18
            else:
                assert [g.asnumpy().tolist() for g in grad(plain, None, weights)(x)] == wanted, turn

    in_threads(work, 4)
    assert all(weight._node is None for weight in weights)


@pytest.mark.parametrize("way", ["eager", "auto", "PIJit", "broken", "gradient outside"])
def test_threads_draw_numbers_of_their_own(way: str) -> None:
    def draw(x: Any) -> Any:
        if way == "broken":
            x.asnumpy()
        return (x * ops.rand(4)).sum()

    step: Callable[[Any], Any] = draw
    if way != "eager":
        step = jit(draw, mode="PIJit") if way == "PIJit" else jit(draw)
    if way == "gradient outside":
        step = grad(step)
    ones = Tensor(np.ones(4, np.float32))
    drawn: list[float] = []
    turn = threading.Barrier(4)

    def work(number: int) -> None:
        for _ in range(20):
            turn.wait()
            result = step(ones)
            drawn.append(result.sum().item())

    set_seed(1)
    in_threads(work, 4)
    set_seed(1)
    assert sorted(drawn) == sorted(step(ones).sum().item() for _ in range(80))


def test_copies_made_beside_a_capture_have_values() -> None:
    weight = Parameter(np.ones(2, np.float32), name="w")
    done = threading.Event()
    ways = (
        lambda p: p.copy(), lambda p: p.value(), copy.copy, copy.deepcopy, vmap(lambda v: v * 2),
        vmap(lambda v: v * weight[0]),
    )  # fmt: skip

    def work(number: int) -> None:
        if number == 0:
            try:
                for turn in range(12):

                    @jit
                    def step(x: Any, turn: int = turn) -> Any:
                        for _ in range(20):
                            weight.set_data(weight * 1)
                        return x + weight + 0 * turn

                    step(Tensor([1.0, 2.0]))
            finally:
                done.set()
            return
        while not done.is_set():
            for way in ways:
                assert way(weight).asnumpy().shape == (2,)

    in_threads(work, 3)


def test_no_thread_sees_what_another_captures() -> None:
    """One thread captures functions that write a parameter, others read it, compute with it and write it."""
    weight = Parameter(np.ones(3, np.float32))
    counts = [Parameter(np.zeros((), np.float32)) for _ in range(4)]
    done = threading.Event()

    def work(number: int) -> None:
        if number == 0:
            try:
                for turn in range(40):

                    @jit
                    def step(x: Any, turn: int = turn) -> Any:
                        weight.set_data(weight * 1 + 0 * turn)
                        weight.set_data(weight + 0)
                        return x + weight

                    np.testing.assert_array_equal(step(Tensor(np.ones(3, np.float32))).asnumpy(), np.full(3, 2))
            finally:
                done.set()
            return
        compiled = jit(lambda x: x * weight)
        made = 0
        while not done.is_set():
            assert weight.asnumpy().tolist() == [1, 1, 1]
            assert (weight * 2).asnumpy().tolist() == [2, 2, 2]
            assert "symbolic" not in repr(weight)
            assert compiled(Tensor(np.ones(3, np.float32))).asnumpy().tolist() == [1, 1, 1]
            counts[number - 1].set_data(counts[number - 1] + 1)
            made += 1
        assert counts[number - 1].item() == made

    in_threads(work, 5)


def test_an_entry_waits_for_a_handle_that_another_thread_traces() -> None:
    """A call past its guards comes to a parameter that another thread's trace has just written."""
    x, weight = Tensor(np.ones(3, np.float32)), Parameter(np.ones(3, np.float32))
    with tracing(Trace("product")) as trace:
        product = x * weight
        trace.root.outputs = [product._data]
    segment = Segment(trace.root)
    written, end = threading.Event(), threading.Event()

    def work() -> None:
        before = weight._data
        with tracing(Trace("writes")):
            weight.set_data(weight * 3)
            written.set()
            end.wait()
            weight._data, weight._node = before, None

    other = threading.Thread(target=work)
    other.start()
    written.wait()
    assert isinstance(weight._data, Value)
    threading.Timer(0.2, end.set).start()
    assert segment.follow((x, weight))[0].asnumpy().tolist() == [1, 1, 1]
    other.join()


def test_a_lock_of_the_program_is_not_waited_for_while_capturing() -> None:
    lock, count = threading.Lock(), dict[int, int]()

    @jit
    def total(x: Tensor, k: int) -> Tensor:
        y = (x * k).sum()
        with lock:
            count[k] = count.get(k, 0) + 1
            y = y + count[k] * 0
        return y

    found: list[tuple[int, float]] = []

    def work(number: int) -> None:
        found.append((number, float(total(Tensor([1.0, 2.0]), number % 3))))

    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert sorted(found) == [(number, number % 3 * 3.0) for number in range(6)]
    assert count == {0: 2, 1: 2, 2: 2}


@pytest.mark.parametrize("derived", [False, True])
def test_attributes_of_a_thread_are_written_in_python(derived: bool) -> None:
    class Derived(threading.local):
        pass

    lock, local = threading.Lock(), Derived() if derived else threading.local()
    local.count = 0

    @jit
    def step(x: Tensor) -> Tensor:
        with lock:
            local.count += 1
            return x * local.count

    for number in range(1, 4):
        assert float(step(Tensor(1.0))) == number == local.count
        assert not lock.locked()
    found = []

    def other() -> None:
        local.count = 10
        found.append(float(step(Tensor(1.0))))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert found == [11.0]
    assert local.count == 3
