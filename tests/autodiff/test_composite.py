"""HyperMap, Map, MultitypeFuncGraph, Partial."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft import dtypes
from weft.autodiff.composite import HyperMap, Map, MultitypeFuncGraph, Partial, partial
from weft.autodiff.grad import grad
from weft.core.parameters import ParameterTuple
from weft.core.tensor import Parameter, Tensor
from weft.jit import jit

TREES = st.recursive(
    st.integers(-5, 5),
    lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple)
    | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=12,
)  # fmt: skip


def reference(function: Any, *trees: Any) -> Any:
    first = trees[0]
    if isinstance(first, dict):
        return {key: reference(function, *[t[key] for t in trees]) for key in first}
    if isinstance(first, (list, tuple)):
        return type(first)(reference(function, *items) for items in zip(*trees, strict=True))
    return function(*trees)


@given(tree=TREES, reverse=st.booleans())
def test_hypermap_keeps_the_structure(tree: Any, reverse: bool) -> None:
    order: list[int] = []

    def function(a: int, b: int) -> int:
        order.append(a)
        return a * 10 + b

    result = HyperMap(reverse=reverse)(function, tree, tree)
    forward = list(order)
    assert result == reference(lambda a, b: a * 10 + b, tree, tree)
    order.clear()
    HyperMap(function, not reverse)(tree, tree)
    assert order == forward[::-1]


def test_map_looks_one_level_deep() -> None:
    assert Map()(lambda a: a, ((1, 2), [3])) == ((1, 2), [3])
    assert Map(lambda a, b: a + b)([1, 2], (3, 4)) == [4, 6]
    assert HyperMap()(lambda a: a + 1, 3) == 4


def test_hypermap_refuses_unequal_structures() -> None:
    with pytest.raises(ValueError, match="one has 2 items where another has 3"):
        HyperMap()(lambda a, b: a, (1, 2), (1, 2, 3))
    with pytest.raises(TypeError, match="structures to map over differ"):
        HyperMap()(lambda a, b: a, (1, 2), 3)
    with pytest.raises(TypeError, match="structures to map over differ"):
        HyperMap()(lambda a, b: a, 3, (1, 2))
    with pytest.raises(TypeError, match="takes one as the first argument"):
        HyperMap()((1, 2))
    with pytest.raises(TypeError, match="ops must be a function"):
        HyperMap(3)
    with pytest.raises(TypeError, match="at least one structure"):
        HyperMap(abs)()


def test_hypermap_over_parameters_and_gradients() -> None:
    weights = ParameterTuple([Parameter(Tensor(float(i)), name=f"w{i}") for i in range(3)])
    scaled = HyperMap()(partial(lambda scale, w: w * scale, 2.0), weights)
    assert [t.item() for t in scaled] == [0.0, 2.0, 4.0]
    result = grad(lambda x: HyperMap()(lambda v: v * v, (x, [x])))(Tensor([3.0]))
    assert result.asnumpy().tolist() == [12.0]


def test_multitype_chooses_by_type() -> None:
    chosen = MultitypeFuncGraph("chosen")
    for names in (("Tensor", "Number"), ("Number", "Number"), ("Int", "Number"), ("Tuple",), ("None",), ("String",),
                  ("Function",), ("Bool", "Number"), ("Parameter", "Number")):  # fmt: skip
        chosen.register(*names)(lambda *args, names=names: names)
    t, p = Tensor(1.0), Parameter(Tensor(1.0))
    assert chosen(t, 2.0) == ("Tensor", "Number")
    assert chosen(p, 2.0) == ("Parameter", "Number")
    assert chosen(1.0, 2) == ("Number", "Number")
    assert chosen(1, 2) == ("Int", "Number")
    assert chosen(True, 2) == ("Bool", "Number")
    assert chosen((1,)) == ("Tuple",)
    assert chosen(None) == ("None",)
    assert chosen("a") == ("String",)
    assert chosen(len) == ("Function",)
    with pytest.raises(TypeError, match=r"chosen has no implementation for \(list, Tensor\); registered are: "):
        chosen([1], t)


def test_multitype_by_type_objects_and_replacement() -> None:
    chosen = MultitypeFuncGraph("chosen")
    chosen.register(dtypes.tensor_type, dtypes.number)(lambda a, b: "first")
    assert chosen(Tensor(1), 2) == "first"
    chosen.register("Tensor", "Number")(lambda a, b: "second")
    assert chosen(Tensor(1), 2) == "second"

    class Mine:
        pass

    chosen.register(Mine)(lambda a: "mine")
    assert chosen(Mine()) == "mine"
    with pytest.raises(TypeError, match="registered by name"):
        chosen.register(3)
    with pytest.raises(TypeError, match="name must be a str"):
        MultitypeFuncGraph(3)


def test_multitype_in_hypermap() -> None:
    square = MultitypeFuncGraph("square")
    square.register("Tensor")(lambda x: x * x)
    square.register("Number")(lambda x: x + 100)
    result = HyperMap()(square, ((Tensor([2.0]), 1), [3]))
    np.testing.assert_array_equal(result[0][0].asnumpy(), [4.0])
    assert result[0][1] == 101
    assert result[1] == [103]


def test_partial() -> None:
    assert Partial()(lambda a, b, c: (a, b, c), 1, c=3)(2) == (1, 2, 3)
    with pytest.raises(TypeError, match="partial needs a function"):
        partial(3)


def test_what_is_registered_later_is_seen_by_compiled_code() -> None:
    graph = MultitypeFuncGraph("graph")
    graph.register("Tensor")(lambda x: x * 2)
    over = HyperMap(graph)
    program = jit(lambda x: (graph(x), over([x, x])))
    x = Tensor([1.0])
    assert program(x)[0].asnumpy() == 2
    graph.register("Tensor")(lambda x: x * 5)
    assert program(x)[0].asnumpy() == 5
    over.ops = lambda x: x * 9
    assert program(x)[1][0].asnumpy() == 9
