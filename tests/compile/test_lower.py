from __future__ import annotations

import weakref
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import io_callback

import weft  # noqa: F401  declares the operations that the texts name
from tests.helpers.profiling import calls_made
from weft import dtypes
from weft.compile.listing import read_graph
from weft.compile.lower import lower
from weft.core.primitive import IO, Primitive
from weft.errors import GraphError
from weft.ir.graph import Graph
from weft.ir.types import TOKEN, TensorType
from weft.ir.verifier import verify
from weft.ops.math import add

X = np.array([1.0, -2.0, 4.0], np.float32)


def run(text: str, *arrays: Any) -> list[Any]:
    graph = verify(read_graph(text))
    plain, compiled = lower(graph)(*map(device, arrays)), jax.jit(lower(graph))(*arrays)
    for a, b in zip(plain, compiled, strict=True):
        if not isinstance(a, tuple):
            assert a.dtype == b.dtype
            np.testing.assert_allclose(a, b, rtol=1e-6)
    return [() if isinstance(b, tuple) else np.asarray(b) for b in compiled]


def device(array: Any) -> Any:
    return jnp.asarray(array) if isinstance(array, np.ndarray) else array


def test_nodes_run_in_order_with_their_attributes() -> None:
    out, same = run(
        """subgraph @f(%x: f32[3]) {
          %0 = Constant() {value=f32[] {3.0}} : f32[]
          %1 = Mul(%x, %0) : f32[3]
          %2 = Reshape(%1) {shape=(3, 1)} : f32[3,1]
          %3 = BroadcastTo(%2) {shape=(3, 2)} : f32[3,2]
          Return(%3, %x)
        }""",
        X,
    )
    np.testing.assert_array_equal(out, np.repeat(X[:, None] * 3, 2, 1))
    np.testing.assert_array_equal(same, X)


BRANCH = """subgraph @f(%c: bool[], %x: f32[3], %y: f32[3]) {
  %0, %1 = If(%c, %x, %y) {
    then: subgraph @then(%x: f32[3], %y: f32[3]) {
      %0 = Mul(%x, %y) : f32[3]
      Return(%0, %x)
    }
    else: subgraph @else(%x: f32[3], %y: f32[3]) {
      %0 = Add(%x, %y) : f32[3]
      Return(%0, %y)
    }
  } : (f32[3], f32[3])
  Return(%0, %1)
}"""


def test_if_takes_the_branch_of_its_condition() -> None:
    y = X + 1
    for condition, expected in ((True, (X * y, X)), (False, (X + y, y))):
        found = run(BRANCH, np.array(condition), X, y)
        np.testing.assert_array_equal(found, expected)


LOOP = """subgraph @f(%n: i64[], %x: f32[3], %w: f32[3]) {
  %0 = Constant() {value=i64[] {0}} : i64[]
  %1 = Less(%0, %n) : bool[]
  %2, %3, %4 = While(%1, %0, %x, %n, %w) {carry=3} {
    body: subgraph @body(%go: bool[], %i: i64[], %x: f32[3], %n: i64[], %w: f32[3]) {
      %0 = Constant() {value=i64[] {1}} : i64[]
      %1 = Add(%i, %0) : i64[]
      %2 = Mul(%x, %w) : f32[3]
      %3 = Less(%1, %n) : bool[]
      Return(%3, %1, %2)
    }
  } : (bool[], i64[], f32[3])
  Return(%3, %4)
}"""


@pytest.mark.parametrize("rounds", (0, 1, 5))
def test_while_runs_until_its_first_carry_is_false(rounds: int) -> None:
    count, x = run(LOOP, np.array(rounds), X, np.full(3, 2.0, np.float32))
    assert count == rounds
    np.testing.assert_array_equal(x, X * 2**rounds)


def test_a_shared_callee_is_traced_once() -> None:
    traced: list[int] = []

    def implementation(x: Any) -> Any:
        traced.append(1)
        return x * 2

    kind = TensorType.of(dtypes.float32, (3,))
    double = Primitive("TestDouble", implementation, register=False)
    callee = Graph("callee")
    x = callee.add_param(kind)
    callee.outputs.append(callee.add_node(double, (x,), (), (kind,)).outputs[0])
    graph = Graph("f")
    value = graph.add_param(kind)
    for _ in range(5):
        value = graph.add_node(read_graph(CALL).nodes[0].op, (value,), (), (kind,), (callee,)).outputs[0]
    graph.outputs.append(value)
    np.testing.assert_array_equal(jax.jit(lower(verify(graph)))(X)[0], X * 32)
    assert len(traced) <= 2  # one more to infer the type


CALL = "subgraph @f() { Call() { callee: subgraph @g() { Return() } } : () Return() }"


def test_io_runs_in_order_of_its_tokens_also_in_regions() -> None:
    seen: list[float] = []

    def show(token: Any, x: Any) -> Any:
        io_callback(lambda a: seen.append(float(a)), None, x, ordered=True)
        return token

    Primitive.table.pop("TestShow", None)
    Primitive("TestShow", show, effect=IO)
    text = """subgraph @f(%io: token, %c: bool[], %a: f32[], %b: f32[]) {
      %0 = TestShow(%io, %a) : token
      %1 = If(%c, %0, %b) {
        then: subgraph @then(%io: token, %b: f32[]) {
          %0 = TestShow(%io, %b) : token
          %1 = TestShow(%0, %b) : token
          Return(%1)
        }
        else: subgraph @else(%io: token, %b: f32[]) {
          Return(%io)
        }
      } : token
      %2 = TestShow(%1, %a) : token
      Return(%2, %a)
    }"""
    function = jax.jit(lower(verify(read_graph(text))))
    token, value = function((), np.array(True), np.float32(1), np.float32(2))
    jax.effects_barrier()
    assert (token, float(value)) == ((), 1.0)
    assert seen == [1, 2, 2, 1]
    function((), np.array(False), np.float32(3), np.float32(4))
    jax.effects_barrier()
    assert seen[4:] == [3, 3]
    del Primitive.table["TestShow"]


IO_ALONE = """subgraph @f(%io: token, %c: bool[]) {
  %0 = If(%c, %io) {
    then: subgraph @then(%io: token) {
      %0 = Constant() {value=f32[] {1.0}} : f32[]
      %1 = TestShow(%io, %0) : token
      Return(%1)
    }
    else: subgraph @else(%io: token) {
      Return(%io)
    }
  } : token
  Return(%0)
}"""
IO_IN_CALLEE = """subgraph @f(%io: token, %c: bool[]) {
  %0 = Call(%io) {
    callee: subgraph @g(%io: token) {
      %0 = Constant() {value=f32[] {0.5}} : f32[]
      %1 = Constant() {value=f32[] {0.5}} : f32[]
      %2 = TestShow(%io, %0) : token
      %3 = TestShow(%2, %1) : token
      Return(%3)
    }
  } : token
  %1 = Call(%0) {
    callee: @g
  } : token
  Return(%1)
}"""
IO_IN_LOOP = """subgraph @f(%io: token, %c: bool[]) {
  %0, %1 = While(%c, %io) {carry=2} {
    body: subgraph @body(%go: bool[], %io: token) {
      %0 = If(%go, %io) {
        then: subgraph @then(%io: token) {
          %0 = Constant() {value=f32[] {2.0}} : f32[]
          %1 = TestShow(%io, %0) : token
          Return(%1)
        }
        else: subgraph @else(%io: token) {
          Return(%io)
        }
      } : token
      %1 = LogicalNot(%go) : bool[]
      Return(%1, %0)
    }
  } : (bool[], token)
  Return(%1)
}"""


@pytest.mark.parametrize(("text", "expected"), ((IO_ALONE, [1]), (IO_IN_CALLEE, [0.5] * 4), (IO_IN_LOOP, [2])))
def test_io_where_the_compiler_is_fragile(text: str, expected: list[float]) -> None:
    """XLA aborts the process on some of these when they are lowered in the obvious way."""
    seen: list[float] = []

    def show(token: Any, x: Any) -> Any:
        io_callback(lambda a: seen.append(float(a)), None, x, ordered=True)
        return token

    Primitive.table.pop("TestShow", None)
    Primitive("TestShow", show, effect=IO)
    jax.jit(lower(verify(read_graph(text))))((), np.array(True))
    jax.effects_barrier()
    del Primitive.table["TestShow"]
    assert seen == expected


def test_io_with_results_gives_them_after_the_token() -> None:
    read = Primitive("TestRead", lambda token, x: (token, x + 1), multiple=True, effect=IO, register=False)
    kind = TensorType.of(dtypes.float32, ())
    graph = Graph("f")
    token, x = graph.add_param(TOKEN), graph.add_param(kind)
    graph.outputs += graph.add_node(read, (token, x), (), (TOKEN, kind)).outputs
    after, value = jax.jit(lower(verify(graph)))((), np.float32(1))
    assert after == ()
    assert float(value) == 2.0


def test_left_out_operands_arrive_as_none() -> None:
    op = Primitive("TestOptional", lambda x, y, z: x if y is None else x + y + z, register=False)
    kind = TensorType.of(dtypes.float32, (3,))
    graph = Graph("f")
    x = graph.add_param(kind)
    graph.outputs += graph.add_node(op, (x, None, x), (), (kind,)).outputs
    np.testing.assert_array_equal(lower(verify(graph))(jnp.asarray(X))[0], X)


def test_results_are_freed_after_their_last_use() -> None:
    alive: list[int] = []
    made: list[weakref.ref[Any]] = []

    def implementation(x: Any) -> Any:
        alive.append(sum(r() is not None for r in made))
        result = x + 1
        made.append(weakref.ref(result))
        return result

    op = Primitive("TestCount", implementation, register=False)
    kind = TensorType.of(dtypes.float32, (3,))
    graph = Graph("f")
    value = graph.add_param(kind)
    for _ in range(8):
        value = graph.add_node(op, (value,), (), (kind,)).outputs[0]
    graph.outputs.append(value)
    lower(graph)(jnp.asarray(X))
    assert max(alive) == 1


def test_weak_types_of_jax_do_not_leak_between_nodes() -> None:
    weak = Primitive("TestWeak", lambda x: jnp.where(x > 0, 2.5, 1.5), register=False)
    kind, wide = TensorType.of(dtypes.bfloat16, ()), TensorType.of(dtypes.float64, ())
    total = TensorType.of(dtypes.float64, ())
    raw_sum = Primitive("TestRawSum", lambda a, b: a + b, register=False)
    graph = Graph("f")
    x = graph.add_param(kind)
    (w,) = graph.add_node(weak, (x,), (), (wide,)).outputs
    graph.outputs += graph.add_node(raw_sum, (w, x), (), (total,)).outputs
    assert jax.jit(lower(verify(graph)))(jnp.asarray(1, jnp.bfloat16))[0].dtype == np.float64


def test_constants_keep_every_bit() -> None:
    nan = np.frombuffer(bytes.fromhex("010080ff0000c07f00000080"), np.float32)
    graph = Graph("f")
    from weft.core.trace import CONSTANT, Literal

    kind = TensorType.of(dtypes.float32, (3,))
    graph.outputs += graph.add_node(CONSTANT, (), (Literal(nan),), (kind,)).outputs
    assert np.asarray(jax.jit(lower(read_graph(str(graph))))()[0]).tobytes() == nan.tobytes()


def test_lowering_while_jax_traces_leaks_no_tracer() -> None:
    graph = Graph("f")
    from weft.core.trace import CONSTANT, Literal

    kind = TensorType.of(dtypes.float32, (3,))
    graph.outputs += graph.add_node(CONSTANT, (), (Literal(X),), (kind,)).outputs
    kept: list[Any] = []

    @jax.jit
    def outer(x: Any) -> Any:
        kept.append(lower(graph))
        return kept[0]()[0] + x

    np.testing.assert_array_equal(outer(X), X * 2)
    np.testing.assert_array_equal(kept[0]()[0], X)


def test_wrong_number_of_arrays() -> None:
    with pytest.raises(TypeError, match="takes 3 arrays, not 1"):
        lower(read_graph(BRANCH))(X)


def test_operations_without_implementation_are_named() -> None:
    class Odd:
        name, attr_names, effect = "Odd", (), "pure"

    graph = Graph("f")
    graph.add_node(Odd(), (), (), ())
    with pytest.raises(GraphError, match="'Odd' has no implementation"):
        lower(graph)


def test_control_flow_cannot_run_by_itself() -> None:
    with pytest.raises(TypeError, match="If is control flow"):
        Primitive.table["If"].implementation()


def test_preparing_a_large_graph_is_quick() -> None:
    kind = TensorType.of(dtypes.float32, (3,))
    graph = Graph("large")
    value = graph.add_param(kind)
    for _ in range(3000):
        value = graph.add_node(add.primitive, (value, value), (), (kind,)).outputs[0]
    graph.outputs.append(value)
    assert calls_made(lambda: lower(graph)) < 20 * 3000
