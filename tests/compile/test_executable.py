from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.helpers.profiling import calls_made
from weft import dtypes
from weft._jax_compat import copied
from weft.compile import compilations
from weft.compile.compilations import IN_PLACE, RUN
from weft.compile.executable import Executable, exclusively_held
from weft.core.tensor import Tensor, data_of, view
from weft.ir.graph import Graph
from weft.ir.types import TensorType
from weft.ops.math import add, mul

ADD, MUL = add.primitive, mul.primitive
F = TensorType.of(dtypes.float32, (4096,))


def step_graph() -> Graph:
    """(w, x) -> (w + x, w * x)"""
    graph = Graph("step")
    w, x = graph.add_param(F, "w"), graph.add_param(F, "x")
    (new,) = graph.add_node(ADD, (w, x), (), (F,)).outputs
    (out,) = graph.add_node(MUL, (w, x), (), (F,)).outputs
    graph.outputs += [new, out]
    return graph


def call(executable: Executable, w: Tensor, x: Tensor) -> Any:
    return executable.call([data_of(w), data_of(x)])


def test_plain_run_gives_all_outputs() -> None:
    executable = Executable(step_graph())
    w, x = jnp.full(4096, 2.0, jnp.float32), jnp.full(4096, 3.0, jnp.float32)
    new, out = executable.run(w, x)
    assert float(new[0]) == 5.0
    assert float(out[0]) == 6.0
    assert type(executable.run) is type(jax.jit(lambda: 0))  # calls go straight to the compiled function


def fresh() -> tuple[Tensor, Tensor]:
    return Tensor(np.full(4096, 2.0, np.float32)), Tensor(np.full(4096, 3.0, np.float32))


def test_an_array_that_only_its_handle_holds_is_donated() -> None:
    executable = Executable(step_graph(), donatable=(0,))
    w, x = fresh()
    for expected in (5.0, 8.0, 11.0):
        new, _ = call(executable, w, x)
        assert data_of(w).is_deleted()
        assert not data_of(x).is_deleted()
        w.rebind(Tensor(new))
        del new
        assert w.asnumpy()[0] == expected


HOLDERS = {
    "a second handle": lambda w: view(w),
    "a copied tensor": lambda w: Tensor(w),
    "the raw array": lambda w: w._data,
    "a container": lambda w: {"deep": [w._data]},
    "a NumPy view": lambda w: np.asarray(w._data),
    "a memoryview": lambda w: memoryview(np.asarray(w._data)),
    "a shard": lambda w: w._data.addressable_shards[0].data,
    "DLPack": lambda w: np.from_dlpack(w),
    "JAX through DLPack": lambda w: jnp.from_dlpack(w._data),
    "a closure": lambda w: (lambda array: lambda: array)(w._data),
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_an_array_that_somebody_else_holds_survives(holder: str) -> None:
    executable = Executable(step_graph(), donatable=(0,))
    w, x = fresh()
    held = HOLDERS[holder](w)
    new, _ = call(executable, w, x)
    assert float(new[0]) == 5.0
    while callable(held):
        held = held()
    if isinstance(held, dict):
        held = held["deep"][0]
    if isinstance(held, Tensor):
        held = held._data
    np.testing.assert_array_equal(np.asarray(held), np.full(4096, 2.0, np.float32))


def test_asnumpy_results_survive_donation() -> None:
    executable = Executable(step_graph(), donatable=(0,))
    w, x = fresh()
    before, number, listed = w.asnumpy(), w.asnumpy()[5], w.tolist()
    call(executable, w, x)
    assert before[7] == number == listed[9] == 2.0
    assert w[3] == 2.0  # as the array says


def test_one_array_in_two_places_is_not_donated() -> None:
    executable = Executable(step_graph(), donatable=(0,))
    w, _ = fresh()
    new, out = executable.call([w._data, w._data])
    assert not w._data.is_deleted()
    assert (float(new[0]), float(out[0])) == (4.0, 4.0)


def test_one_held_array_keeps_all_once_both_variants_exist() -> None:
    executable = Executable(step_graph(), donatable=(0, 1))
    w, x = fresh()
    executable.run(w._data, x._data)
    other = view(x)
    call(executable, w, x)
    assert not w._data.is_deleted()
    assert not other._data.is_deleted()


def compiled(executable: Executable) -> list[str]:
    return [compilation.what for compilation in executable.record.made]


def test_shared_arrays_are_copied_for_the_variant_that_is_compiled() -> None:
    executable = Executable(step_graph(), donatable=(0,))
    w, x = fresh()
    other = view(w)
    new, out = call(executable, w, x)
    assert (float(new[0]), float(out[0])) == (5.0, 6.0)
    assert not w._data.is_deleted()
    assert not x._data.is_deleted()
    assert compiled(executable) == [IN_PLACE]
    del other
    call(executable, w, x)
    assert w._data.is_deleted()
    assert compiled(executable) == [IN_PLACE]


def test_arrays_that_stay_shared_get_the_other_variant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weft.compile.executable._RATE", 1.0)
    executable = Executable(step_graph(), donatable=(0,))
    w, x = fresh()
    other = view(w)
    for count in (1, 1, 2, 2, 2):
        new, _ = call(executable, w, x)
        assert float(new[0]) == 5.0
        assert len(compiled(executable)) == count
    assert compiled(executable) == [IN_PLACE, RUN]
    assert float(other._data[0]) == 2.0


def scaled_graph() -> Graph:
    """(w, s) -> (w + s, s + s), with a scalar s"""
    graph = Graph("scaled")
    scalar = TensorType.of(dtypes.float32, ())
    w, s = graph.add_param(F, "w"), graph.add_param(scalar, "s")
    graph.outputs += graph.add_node(ADD, (w, s), (), (F,)).outputs
    graph.outputs += graph.add_node(ADD, (s, s), (), (scalar,)).outputs
    return graph


def test_a_scalar_that_stays_shared_is_copied_each_time() -> None:
    executable = Executable(scaled_graph(), donatable=(0, 1))
    w, s = Tensor(np.zeros(4096, np.float32)), Tensor(np.float32(1))
    former, total = [], 0.0
    for number in range(8):
        former.append(view(s))
        new, scale = call(executable, w, s)
        assert w._data.is_deleted()
        total += 2.0**number
        assert float(new[7]) == total
        w, s = Tensor(new), Tensor(scale)
        del new, scale
    assert [float(data_of(scale)) for scale in former] == [2.0**number for number in range(8)]
    assert compiled(executable) == [IN_PLACE]


def test_a_scalar_that_is_shared_after_a_plain_call_takes_nothing_over_at_first() -> None:
    executable = Executable(scaled_graph(), donatable=(0, 1))
    w, s = Tensor(np.zeros(4096, np.float32)), Tensor(np.float32(1))
    executable.run(w._data, s._data)
    former = view(s)
    call(executable, w, s)
    assert not w._data.is_deleted()
    call(executable, w, s)
    assert w._data.is_deleted()
    assert float(data_of(former)) == 1.0
    assert compiled(executable) == [RUN, IN_PLACE]


def test_a_second_variant_is_compiled_when_it_could_have_served_before() -> None:
    executable = Executable(step_graph(), donatable=(0,))
    w, x = fresh()
    executable.run(w._data, x._data)
    for count in (1, 2, 2):
        call(executable, w, x)
        assert len(compiled(executable)) == count
        assert w._data.is_deleted() == (count == 2)
        w = fresh()[0]


@contextmanager
def another_thread() -> Iterator[None]:
    stopped = threading.Event()
    thread = threading.Thread(target=stopped.wait)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def test_beside_other_threads_copies_are_taken_over_so_that_a_graph_is_compiled_once() -> None:
    executable = Executable(step_graph(), donatable=(0,))
    with another_thread():
        for _ in range(6):
            w, x = fresh()
            new, out = call(executable, w, x)
            assert (float(new[0]), float(out[0])) == (5.0, 6.0)
            assert not w._data.is_deleted()
    for _ in range(3):
        w, x = fresh()
        call(executable, w, x)
        assert w._data.is_deleted()
    assert compiled(executable) == [IN_PLACE]


def test_copies_that_take_longer_than_compiling_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weft.compile.executable._RATE", 1.0)
    executable = Executable(step_graph(), donatable=(0,))
    with another_thread():
        for count in range(5):
            w, x = fresh()
            call(executable, w, x)
            assert not w._data.is_deleted()
            assert compiled(executable) == ([IN_PLACE] if count < 2 else [IN_PLACE, RUN])


def test_a_copy_compiles_nothing() -> None:
    array = jnp.arange(977.0)
    heard: list[Any] = []
    compilations.listeners.append(heard.append)
    try:
        other = copied(array)
    finally:
        compilations.listeners.remove(heard.append)
    assert heard == []
    assert other.unsafe_buffer_pointer() != array.unsafe_buffer_pointer()
    np.testing.assert_array_equal(other, array)


def test_exclusively_held_counts_expected_holders() -> None:
    array = jnp.zeros(3)
    assert exclusively_held([array], (0,), holders=1)
    assert not exclusively_held([array], (0,), holders=2)
    assert exclusively_held([jnp.zeros(3)], (0,), holders=0)
    assert exclusively_held([array, array], ())


def test_donatable_parameters_without_a_fitting_result_are_left_out() -> None:
    graph = Graph("sum")
    w = graph.add_param(F)
    small = graph.add_param(TensorType.of(dtypes.float32, (2,)))
    graph.outputs.append(small)
    executable = Executable(graph, donatable=(0, 1))
    assert executable.donatable == (1,)
    assert executable.call([jnp.zeros(4096, jnp.float32), jnp.ones(2, jnp.float32)])[0].tolist() == [1.0, 1.0]
    assert w.index == 0


def live() -> int:
    gc.collect()
    return len(jax.devices()[0].client.live_executables())


def test_compiled_code_dies_with_the_executable() -> None:
    w, x = fresh()
    base = live()
    executable = Executable(step_graph(), donatable=(0,))
    executable.run(w._data, x._data)
    call(executable, w, x)
    call(executable, w, x)
    assert live() == base + 2
    dead = weakref.ref(executable)
    del executable
    assert dead() is None
    assert live() == base


def test_a_call_does_little_beside_the_one_of_jax() -> None:
    small = TensorType.of(dtypes.float32, (2,))
    graph = Graph("small")
    a, b = graph.add_param(small), graph.add_param(small)
    graph.outputs += graph.add_node(ADD, (a, b), (), (small,)).outputs
    run, plain, x = Executable(graph).run, jax.jit(lambda a, b: (a + b,)), jnp.ones(2, jnp.float32)
    run(x, x), plain(x, x)
    assert calls_made(lambda: run(x, x)) <= calls_made(lambda: plain(x, x)) + 10
