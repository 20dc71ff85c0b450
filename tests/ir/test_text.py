from __future__ import annotations

import contextlib
import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import weft  # noqa: F401  declares the operations that the texts name
from weft import dtypes
from weft.compile.body import Body
from weft.compile.listing import known_digest, operation, operations_of, read_graph
from weft.core.control import CALL, add_call
from weft.core.primitive import Primitive
from weft.core.trace import CONSTANT, Literal
from weft.errors import GraphError, Location
from weft.ir.graph import Graph, Value
from weft.ir.sizes import atom, parsed
from weft.ir.text import format_array, format_graph, format_node, format_value
from weft.ir.types import TOKEN, TensorType
from weft.passes.rewrite import structure
from weft.vectorize import VMAP

F3 = TensorType.of(dtypes.float32, (3,))
F23 = TensorType.of(dtypes.float32, (2, 3))
TEXT = """subgraph @step(%x: f32[3], %conv1.weight: f32[3], %0: i64[]:int, %go: bool[], %io: token) {
  %1 = Mul(%x, %conv1.weight) : f32[3]  # src/model.py:12:9
  %2 = Full() {shape=(3,), value=-0.5, dtype=bf16} : bf16[3]
  %3 = If(%go, %1) {  # src/model.py:14
    then: subgraph @then(%0: f32[3]) {
      %1 = Neg(%0) : f32[3]
      Return(%1)
    }
    else: subgraph @else(%0: f32[3]) {
      Return(%0)
    }
  } : f32[3]
  %4, %5 = While(%go, %3) {carry=2} {
    body: subgraph @body(%0: bool[], %1: f32[3]) {
      Return(%0, %1)
    }
  } : (bool[], f32[3])
  %6 = GradMul(%x, %5, %5) {positions=(0,), count=2} : f32[3]
  Return(%6, %io)
}
"""


SIZES = """subgraph @sized(%x: f32[s0,2*s1 + 1,3], %y: f32[floordiv(s0 + 1, 2),- s0 + 9]) {
  %0 = Reshape(%x) {shape=(s0, 6*s1 + 3)} : f32[s0,6*s1 + 3]
  %1 = Reshape(%y) {shape=(s0^2*s1 - 4, max(s0, s1 - 3), - mod(s0, 3), -1)} : f32[s1*mod(s0, 3),3*s1 - 2*s0]
  %2 = GetItem(%x) {spec=(slice(None, s0 - 1, None), slice(s1, - s0, 2))} : f32[s0 - 1]
  Return(%0, %1, %2)
}
"""


def test_open_sizes_read_back() -> None:
    graph = read_graph(SIZES)
    assert str(graph) == SIZES
    s0, s1 = atom(0), atom(1)
    assert graph.params[0].type is TensorType.of(dtypes.float32, (s0, 2 * s1 + 1, 3))
    assert graph.nodes[0].attrs[0] == (s0, 6 * s1 + 3)


@pytest.mark.parametrize(
    "size",
    [
        "s0 s1", "s0**2", "s0^9", "s0^-1", "(s0)", "s99999", "mod(s0)", "mod(s0, 0)", "floordiv(s0, 1, 2)", "s0+", "t0",
        "max(s0, exit())", "s0.real", "__import__('os')", "s0 if 1 else 2", "s0*" * 200 + "s0", "s0 - s0", "1.5*s0",
        "max(s0, " * 60 + "s0" + ")" * 60, "s0*99999999999999999999",
    ],
)  # fmt: skip
def test_what_is_no_size_is_refused(size: str) -> None:
    with pytest.raises(GraphError, match="line 1"):
        read_graph(f"subgraph @f(%x: f32[s0,{size}]) {{ Return(%x) }}")
    if size != "s0 - s0":
        with pytest.raises(ValueError, match="no size"):
            parsed(size)


def test_text_reads_back_to_the_same_text() -> None:
    graph = read_graph(TEXT)
    assert str(graph) == TEXT
    assert graph.nodes[0].where() == Location("src/model.py", 12, 8)
    assert [p.name for p in graph.params] == ["x", "conv1.weight", "", "go", "io"]
    assert graph.nodes[2].regions[0].parent is graph
    assert graph.params[4].type is TOKEN
    assert graph.params[2].type is TensorType.of(dtypes.int64, (), int)


def test_locations_can_be_left_out() -> None:
    assert "#" not in format_graph(read_graph(TEXT), locations=False)


def test_line_breaks_and_comments_are_free() -> None:
    squeezed = " ".join(line.split("#")[0] for line in TEXT.splitlines())
    assert str(read_graph("# a remark\n" + squeezed)) == format_graph(read_graph(TEXT), locations=False)


def test_left_out_operands() -> None:
    text = "subgraph @f(%x: f32[3]) {\n  %0 = Mul(%x, None) : f32[3]\n  Return(%0)\n}\n"
    graph = read_graph(text)
    assert graph.nodes[0].inputs == (graph.params[0], None)
    assert str(graph) == text


def test_equal_and_odd_names_stay_apart() -> None:
    graph = Graph("a b<c>")
    for name in ("w", "w", "w.1", "1", "größe", "a:b", ""):
        graph.add_param(F3, name)
    text = str(graph)
    assert text.startswith("subgraph @a_b_c_(%w: f32[3], %w.1: f32[3], %w.1.1: f32[3], %0: f32[3], %größe: ")
    assert ", %a_b: f32[3], %1: f32[3])" in text
    assert str(read_graph(text)) == text


def test_a_shared_callee_is_written_once_and_stays_shared() -> None:
    callee = Graph("block")
    callee.outputs.append(callee.add_param(F3, "x"))
    other = Graph("block")
    other.outputs.append(other.add_param(F3, "y"))
    graph = Graph("f")
    value = graph.add_param(F3, "x")
    for target in (callee, other, callee):
        (value,) = add_call(graph, target, [value])
    graph.outputs.append(value)
    text = str(graph)
    assert text.count("(%x: f32[3])") == 2
    again = read_graph(text)
    first, second, third = (node.regions[0] for node in again.nodes if node.op is CALL)
    assert first is third
    assert first is not second
    assert str(again) == text


def mapped(inner: Graph, *values: Value, graph: Graph) -> tuple[Value, ...]:
    return graph.add_node(VMAP, values, (Body(inner), (0,), (0,), 2), (F23,)).outputs


def test_a_graph_that_an_attribute_holds_is_written_like_a_region() -> None:
    row = Graph("vmap_row<1>")
    x = row.add_param(F3, "x")
    made = row.add_node(Primitive.table["Mul"], (x, x), (), (F3,), (), Location("src/row.py", 3, 8))
    row.outputs.append(made.outputs[0])
    twice = Graph("vmap_twice")
    twice.outputs += mapped(row, twice.add_param(F23, "x"), graph=twice)
    graph = Graph("f")
    value = graph.add_param(F23, "x")
    for inner in (row, twice, row):
        (value,) = mapped(inner, value, graph=graph)
    graph.outputs.append(value)
    text = str(graph)
    assert text.count("body: subgraph @vmap_row_1_(%x: f32[3]) {\n") == 1  # once; then it has a name
    assert text.count("body: @vmap_row_1_\n") == 2
    assert text.count("# src/row.py:3:9") == 1
    again = read_graph(text)
    assert str(again) == text
    assert structure(again) == structure(graph)
    first, second, third = (node.attrs[0].graph for node in again.nodes)
    assert first is third
    assert first.parent is None
    assert first.nodes[0].where() == Location("src/row.py", 3, 8)
    assert second.nodes[0].attrs[0].graph is first
    assert operations_of(again) == {"Vmap": "Vmap", "Mul": "Mul"}
    line = "%0 = Vmap(%x) {body=<vmap_row1: 1 nodes>, in_axes=(0,), out_axes=(0,), size=2} : f32[2,3]"
    assert format_node(graph.nodes[0], graph) == line


def test_code_of_the_program_in_a_held_graph_is_found() -> None:
    own = Primitive("TestOwn", lambda x: x, register=False)
    row = Graph("row")
    row.outputs += row.add_node(own, (row.add_param(F3, "x"),), (), (F3,)).outputs
    graph = Graph("f")
    graph.outputs += mapped(row, graph.add_param(F23, "x"), graph=graph)
    assert operations_of(graph) is None
    assert known_digest(graph) is None


_ROW = "body: subgraph @r(%x: f32[3]) { Return(%x) }"


@pytest.mark.parametrize(
    ("blocks", "why"),
    [(_ROW + _ROW, "given twice"), ("", "needs the attribute 'body'"), ("body: @r", "not defined before")],
)
def test_a_damaged_held_graph_is_refused(blocks: str, why: str) -> None:
    text = (
        "subgraph @f(%x: f32[2,3]) { %0 = Vmap(%x) {in_axes=(0,), out_axes=(0,), size=2} { ? } : f32[2,3] Return(%0) }"
    )
    assert read_graph(text.replace("?", _ROW)).nodes[0].attrs[0].graph.name == "r"
    with pytest.raises(GraphError, match=why):
        read_graph(text.replace("?", blocks))


VALUES: list[Any] = [
    None, True, False, 0, -7, 10**30, 1.5, -0.0, 1e-300, float("inf"), -float("inf"), 2j, -1.5 - 2j,
    complex("-0-0j"), complex("nan+infj"), "", "it's \"quoted\" \\ # \n {}", b"\x00'", (), (1,), (1, (2, 3)),
    (1j,), ((),), dtypes.bfloat16, dtypes.bool_, slice(None), slice(1, -1, 2), Ellipsis, ("a", None, True), float,
    (int, bool),
]  # fmt: skip


def holder(value: Any) -> Graph:
    graph = Graph("f")
    graph.add_node(Primitive.table["TestHolder"], (), (value,), ())
    return graph


@pytest.fixture(autouse=True, scope="module")
def _holder_operation() -> Any:
    Primitive("TestHolder", lambda *, value: None, attr_names=("value",))
    yield
    del Primitive.table["TestHolder"]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_attribute_values_read_back_exactly(value: Any) -> None:
    text = str(holder(value))
    again = read_graph(text)
    found = again.nodes[0].attrs[0]
    assert type(found) is type(value)
    assert repr(found) == repr(value)
    assert str(again) == text


attributes = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
    | st.complex_numbers(allow_nan=False) | st.sampled_from(dtypes.ALL),
    lambda inner: st.lists(inner, max_size=4).map(tuple),
)  # fmt: skip


@given(attributes)
def test_any_attribute_value_reads_back(value: Any) -> None:
    graph = holder(value)
    found = read_graph(str(graph)).nodes[0].attrs[0]
    assert found == value
    assert repr(found) == repr(value)


def test_objects_without_text_form_print_but_are_refused() -> None:
    text = str(holder(len))
    assert "<" in text
    with pytest.raises(GraphError, match=r"line 2, column \d+: the attribute value <.* has no text form"):
        read_graph(text)


array_dtypes = [d.np_dtype for d in dtypes.ALL]


@pytest.mark.parametrize("np_dtype", array_dtypes, ids=str)
def test_constants_of_every_dtype_keep_their_bits(np_dtype: Any) -> None:
    for values in ([0, 1, 1, 0], list(range(40))):
        array = np.array(values).astype(np_dtype)
        text = str(constant(array))
        found = read_graph(text).nodes[0].attrs[0].array
        assert (found.dtype, found.shape, found.tobytes()) == (array.dtype, array.shape, array.tobytes())


@given(
    hnp.arrays(
        st.sampled_from([np.float32, np.float64, np.float16, np.complex64, np.int8, np.uint64, np.bool_]),
        hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5),
    )
)
def test_any_constant_keeps_its_bits(array: Any) -> None:
    text = str(constant(array))
    found = read_graph(text).nodes[0].attrs[0].array
    assert (found.dtype, found.shape, found.tobytes()) == (array.dtype, array.shape, array.tobytes())
    assert str(read_graph(text)) == text


@given(st.lists(st.integers(0, 2**16 - 1), min_size=1, max_size=8))
def test_any_bfloat16_pattern_keeps_its_bits(patterns: list[int]) -> None:
    array = np.array(patterns, np.uint16).view(ml_dtypes.bfloat16)
    found = read_graph(str(constant(array))).nodes[0].attrs[0].array
    assert found.tobytes() == array.tobytes()


def constant(array: Any) -> Graph:
    graph = Graph("f")
    kind = TensorType.of(dtypes.of_np(array.dtype), array.shape)
    graph.outputs += graph.add_node(CONSTANT, (), (Literal(array),), (kind,)).outputs
    return graph


def test_short_arrays_are_readable() -> None:
    assert format_array(np.array([[1.5, 0.1], [-0.0, np.inf]], np.float32)) == "f32[2,2] {1.5, 0.1, -0.0, inf}"
    assert format_value(Literal(np.array(True))) == "bool[] {True}"
    assert format_array(np.array([0.1 + 2j], np.complex64)) == "c64[1] {0.1+2.0j}"


ERRORS = [
    ("subgraph @f() { Return(%0) }", "line 1, column 24: %0 is not defined"),
    ("subgraph @f(%x: f32[3], %x: f32[3]) { Return() }", "column 25: %x is defined twice"),
    ("subgraph @f(%x: q32[3]) { Return() }", "column 17: 'q32' is not an element type"),
    ("subgraph @f(%x: f32[?]) { Return() }", "column 21: unexpected character '?'"),
    ("subgraph @f(%x: f32[n]) { Return() }", "column 21: expected a dimension, found 'n'"),
    ("subgraph @f(%x: f32[3]) {\n  %0 = Nope(%x) : f32[3]\n}", "line 2, column 8: there is no operation 'Nope'"),
    ("subgraph @f(%x: f32[3]) {\n  %0 = GradNope(%x) : f32[3]\n}", "there is no operation 'GradNope'"),
    ("subgraph @f(%x: f32[3]) {\n  %0, %1 = Neg(%x) : f32[3]\n}", "line 2, column 22: 2 results have 1 types"),
    ("subgraph @f() {\n  %0 = Full() {shape=()} : f32[]\n}", "line 2, column 8: Full needs the attribute 'value'"),
    (
        "subgraph @f(%x: f32[]) {\n  %0 = Neg(%x) {axis=1} : f32[]\n}",
        "line 2, column 17: Neg has no attribute 'axis'; it has: none",
    ),
    ("subgraph @f() {\n  %0 = Full() {shape=(), shape=()} : f32[]\n}", "attribute 'shape' is given twice"),
    ("subgraph @f() {\n  %0 = Full() {shape=what} : f32[]\n}", "'what' is not an attribute value"),
    ("subgraph @f() {\n  %0 = Constant() {value=f32[2] {1.0}} : f32[2]\n}", "1 elements do not fit its shape"),
    ("subgraph @f() {\n  %0 = Constant() {value=f32[2] {'AAAA'}} : f32[2]\n}", "3 bytes do not fit its shape"),
    ("subgraph @f() {\n  %0 = Constant() {value=f32[2] {'*'}} : f32[2]\n}", "are not base64"),
    ("subgraph @f() {\n  %0 = Constant() {value=i8[1] {300}} : i8[1]\n}", "does not fit the array's type"),
    ("subgraph @f() {\n  %0 = Constant() {value=f32[1] {word}} : f32[1]\n}", "does not fit the array's type"),
    ("subgraph @f() {\n  Call() { callee: @g } : ()\n  Return()\n}", "line 2, column 20: @g is not defined before"),
    ("subgraph @f() { Return() } more", "column 28: nothing more is expected"),
    ("subgraph @f() { Return()", "expected '}', found 'end of text'"),
    ("graph @f() { Return() }", "line 1, column 1: expected 'subgraph', found 'graph'"),
    ("", "line 1, column 1: expected 'subgraph'"),
]


@pytest.mark.parametrize(("text", "message"), ERRORS)
def test_malformed_text_tells_line_and_column(text: str, message: str) -> None:
    with pytest.raises(GraphError, match=re.escape(message)) as caught:
        read_graph(text)
    assert re.match(r"line \d+, column \d+: ", str(caught.value))


@given(st.integers(0, len(TEXT)), st.integers(0, 12), st.text(alphabet="%@(){}[]:,=#\"'<>.0x1 \n", max_size=3))
def test_damaged_text_never_raises_anything_else(at: int, drop: int, insert: str) -> None:
    damaged = TEXT[:at] + insert + TEXT[at + drop :]
    with contextlib.suppress(GraphError):
        read_graph(damaged)


def test_derivative_names_resolve() -> None:
    assert operation("GradMul").name == "GradMul"
    assert operation("GradGradMul") is operation("GradGradMul")
