from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft.ops.math  # noqa: F401  declares the operations that the texts name
from weft import dtypes
from weft.compile.listing import read_graph
from weft.core.primitive import IO, Primitive
from weft.core.trace import Literal
from weft.errors import GraphError, Location
from weft.ir.graph import Graph, Node, Value
from weft.ir.types import TOKEN, TensorType
from weft.ir.verifier import verify

TEXT = """subgraph @net(%x: f32[3], %go: bool[], %io: token) {
  %0 = Constant() {value=f32[] {2.0}} : f32[]
  %1 = Mul(%x, %0) : f32[3]  # model.py:7:5
  %2 = Add(%1, %x) : f32[3]
  %3 = If(%go, %2) {
    then: subgraph @then(%y: f32[3]) {
      %0 = Mul(%y, %y) : f32[3]
      Return(%0)
    }
    else: subgraph @else(%y: f32[3]) {
      Return(%y)
    }
  } : f32[3]
  %4, %5 = While(%go, %3, %x) {carry=2} {
    body: subgraph @body(%go: bool[], %c: f32[3], %w: f32[3]) {
      %0 = Add(%c, %w) : f32[3]
      Return(%go, %0)
    }
  } : (bool[], f32[3])
  %6 = Call(%5) {
    callee: subgraph @callee(%x: f32[3]) {
      Return(%x)
    }
  } : f32[3]
  Return(%6, %io)
}
"""


def graph() -> Graph:
    return read_graph(TEXT)


def find(graph: Graph, name: str) -> Node:
    return next(node for node in graph.nodes if node.op.name == name)


def test_a_valid_graph_passes() -> None:
    found = graph()
    assert verify(found) is found


F2 = TensorType.of(dtypes.float32, (2,))


def use_before_definition(g: Graph) -> None:
    g.nodes[1], g.nodes[2] = g.nodes[2], g.nodes[1]


def drop_definition(g: Graph) -> None:
    del g.nodes[1]


def outer_value_in_region(g: Graph) -> None:
    then = find(g, "If").regions[0]
    then.nodes[0].inputs = (g.params[0], g.params[0])


def stray_parameter(g: Graph) -> None:
    find(g, "Add").inputs = (Value(g.params[0].type, g, None, 7), g.params[0])


def wrong_result_type(g: Graph) -> None:
    find(g, "Mul").outputs[0].type = F2


def not_interned(g: Graph) -> None:
    copy: Any = object.__new__(TensorType)
    copy.dtype, copy.shape, copy.weak = dtypes.float32, (3,), None
    g.params[0].type = copy


def dynamic_shape(g: Graph) -> None:
    g.params[0].type = TensorType.of(dtypes.float32, (-1,))


def node_twice(g: Graph) -> None:
    g.nodes.insert(2, g.nodes[1])


def result_of_another_node(g: Graph) -> None:
    find(g, "Add").outputs = find(g, "Mul").outputs


def condition_not_bool(g: Graph) -> None:
    node = find(g, "If")
    node.inputs = (g.params[0], *node.inputs[1:])


def region_lacks_parameter(g: Graph) -> None:
    node = find(g, "If")
    node.inputs = node.inputs[:1]


def region_result_type(g: Graph) -> None:
    find(g, "If").regions[1].outputs = []


def one_region(g: Graph) -> None:
    node = find(g, "If")
    node.regions = node.regions[:1]


def carry_too_large(g: Graph) -> None:
    find(g, "While").attrs = (4,)


def carry_not_kept(g: Graph) -> None:
    body = find(g, "While").regions[0]
    body.outputs = body.outputs[:1]


def go_on_not_bool(g: Graph) -> None:
    node = find(g, "While")
    node.inputs = (node.inputs[1], *node.inputs[1:])


def callee_operands(g: Graph) -> None:
    find(g, "Call").inputs = (g.params[1],)


def missing_attribute(g: Graph) -> None:
    find(g, "Constant").attrs = ()


def unhashable_attribute(g: Graph) -> None:
    find(g, "Constant").attrs = ([1],)


def constant_of_other_type(g: Graph) -> None:
    find(g, "Constant").attrs = (Literal(np.zeros(3, np.float32)),)


def operands_that_do_not_broadcast(g: Graph) -> None:
    g.params[0].type = F2
    find(g, "Mul").outputs[0].type = TensorType.of(dtypes.float32, (3,))
    find(g, "Mul").inputs = (g.params[0], g.params[0])
    find(g, "Mul").outputs[0].type = F2
    find(g, "Add").inputs = (find(g, "Constant").outputs[0], find(g, "Constant").outputs[0])


def unknown_output(g: Graph) -> None:
    g.outputs[0] = find(g, "If").regions[0].outputs[0]


def parameter_index(g: Graph) -> None:
    g.params[0], g.params[1] = g.params[1], g.params[0]


def contains_itself(g: Graph) -> None:
    find(g, "Call").regions = (g,)


def io_without_token(g: Graph) -> None:
    op = Primitive("Shout", lambda x: None, effect=IO, register=False)
    g.add_node(op, (g.params[0],), (), (TOKEN,))


def io_without_token_result(g: Graph) -> None:
    op = Primitive("Shout", lambda x: None, effect=IO, register=False)
    g.add_node(op, (g.params[2], g.params[0]), (), ())


def regions_of_plain_operation(g: Graph) -> None:
    find(g, "Mul").regions = (Graph("extra"),)


MUTATIONS: list[tuple[Callable[[Graph], None], str]] = [
    (use_before_definition, "uses a value before it is defined"),
    (drop_definition, "result of a node that is not in the graph"),
    (outer_value_in_region, "belongs to graph @net; a region sees nothing but its parameters"),
    (stray_parameter, "not among the graph's parameters"),
    (wrong_result_type, "the operation gives (f32[3]), the node says (f32[2])"),
    (not_interned, "not the interned one"),
    (dynamic_shape, "has a dimension that is no size"),
    (node_twice, "stands in the graph twice"),
    (result_of_another_node, "comes from somewhere else"),
    (condition_not_bool, "the condition must be a bool[] scalar"),
    (region_lacks_parameter, "the then region takes (f32[3]), the operands are ()"),
    (region_result_type, "the else region gives (), the results are (f32[3])"),
    (one_region, "an If has two regions, this one has 1"),
    (carry_too_large, "4 values cannot be carried, there are 3 operands"),
    (carry_not_kept, "the body gives (bool[]), carried are (bool[], f32[3])"),
    (go_on_not_bool, "the first carried value must be a bool[] scalar"),
    (callee_operands, "the callee takes (f32[3]), the operands are (bool[])"),
    (missing_attribute, "Constant has 1 attributes, the node has 0"),
    (unhashable_attribute, "cannot be hashed"),
    (constant_of_other_type, "the array is float32[3], the result f32[]"),
    (operands_that_do_not_broadcast, "the operation gives (f32[])"),
    (unknown_output, "output 0"),
    (parameter_index, "parameter 0 says that it is parameter 1"),
    (contains_itself, "graph @net contains itself"),
    (io_without_token, "its first operand must be the token"),
    (io_without_token_result, "its first result must be a token"),
    (regions_of_plain_operation, "takes no regions"),
]


@pytest.mark.parametrize(("mutate", "message"), MUTATIONS, ids=[m.__name__ for m, _ in MUTATIONS])
def test_broken_graphs_are_rejected(mutate: Callable[[Graph], None], message: str) -> None:
    broken = graph()
    mutate(broken)
    with pytest.raises(GraphError, match=re.escape(message)):
        verify(broken)


def test_the_message_shows_pass_node_source_and_neighbours() -> None:
    broken = graph()
    wrong_result_type(broken)
    broken.nodes[1].location = lambda: Location("model.py", 7, 4)
    with pytest.raises(GraphError) as caught:
        verify(broken, after="fold-constants")
    assert str(caught.value).splitlines() == [
        "graph @net is not valid after pass 'fold-constants': the operation gives (f32[3]), the node says (f32[2])",
        "  in:   %1 = Mul(%x, %0) : f32[2]",
        "  from: model.py:7:5",
        "  near:    %0 = Constant() {value=f32[] {2.0}} : f32[]",
        "  near: -> %1 = Mul(%x, %0) : f32[2]",
        "  near:    %2 = Add(%1, %x) : f32[3]",
        "  near:    %3 = If(%go, %2) : f32[3]",
    ]


def test_problems_inside_regions_are_found() -> None:
    broken = graph()
    find(broken, "While").regions[0].nodes[0].outputs[0].type = F2
    with pytest.raises(GraphError, match="graph @body is not valid"):
        verify(broken)
