"""Functions over structures: `HyperMap`, `Map`, `MultitypeFuncGraph`, `Partial`, `HookBackward`, `InsertGradientOf`."""

from __future__ import annotations

from typing import Any

from tests.helpers.programs import case
from tests.helpers.values import f32, i64

from weft import ops
from weft.autodiff.composite import HyperMap, Map, MultitypeFuncGraph, Partial, partial
from weft.autodiff.custom import HookBackward, InsertGradientOf
from weft.core.tensor import Tensor

V = [f32(1.0, 2.0), f32(10.0, 20.0), f32(-1.0, 0.5)]
N = [(f32(0.5, 1.5), i64(3)), (f32(0.5, 1.5), i64(0)), (f32(-0.5, 1.25), i64(5))]

#: adds whatever it is given, and looks into what is nested
TOTAL = MultitypeFuncGraph("total")


@TOTAL.register("Tensor")
def _total_tensor(x: Any) -> Any:
    return x.sum()


@TOTAL.register("Number")
def _total_number(x: Any) -> Any:
    return x


@TOTAL.register("String")
def _total_text(x: Any) -> Any:
    return len(x)


@TOTAL.register("Tuple")
@TOTAL.register("List")
def _total_items(items: Any) -> Any:
    total: Any = 0
    for item in items:
        total = total + TOTAL(item)
    return total


@TOTAL.register("Dict")
def _total_dict(items: Any) -> Any:
    return TOTAL(list(items.values()))


SCALE = MultitypeFuncGraph("scale")
SCALE.register("Tensor", "Tensor")(lambda factor, x: x * factor)
SCALE.register("Tensor", "Number")(lambda factor, n: factor * n)
SCALE.register("Tensor", "None")(lambda factor, nothing: None)


@case(V, second_order=True)
def hypermap_over_items_of_different_depth(x: Any) -> Any:
    tree = (x, [x * 2, (x * x, {"a": ops.sin(x), "b": (x,)})], {"c": []})
    return HyperMap()(lambda a, b: a * 2 + b, tree, tree)


@case(V)
def hypermap_from_the_end(x: Any) -> Any:
    seen = []

    def note(a: Any) -> Any:
        seen.append(a)
        return a * len(seen)

    return HyperMap(note, True)(((x, x + 1), [x + 2])), seen


@case(V)
def map_looks_at_the_items_only(x: Any) -> Any:
    return Map(lambda pair, name: {name: pair[0] * pair[1][0]})([(x, (x, 1)), (x * 2, [x])], ("a", "b"))


@case(V, second_order=True)
def multitype_over_a_structure(x: Any) -> Any:
    return TOTAL((x, [1, 2.5, "four", x * x], {"a": x, "b": (x,)}))


@case(N, second_order=True)
def scaled_by_a_fixed_argument(x: Any, n: Any) -> Any:
    return HyperMap()(partial(SCALE, n), ((x, 2), [x * x, None], {"a": 1.5}))


@case(N)
def on_sides_and_in_loops(x: Any, n: Any) -> Any:
    items = (x, (x * 2,))
    while n > 0:
        items = HyperMap(lambda a: a * 0.5 + 1)(items)
        n = n - 1
    if x.sum() > 1:
        return Map()(lambda a: TOTAL(a), items)
    return TOTAL(items), x.sum()


@case(V)
def no_implementation(x: Any) -> Any:
    if x.sum() > 2:
        return SCALE(x, "text")
    return SCALE(x, 2)


@case(V)
def structures_that_differ(x: Any) -> Any:
    return HyperMap()(lambda a, b: a + b, (x, (x, x)), (x, (x,)))


@case(V)
def a_value_where_a_structure_is(x: Any) -> Any:
    return HyperMap()(lambda a, b: a + b, (x, x), (x, (x,)))


@case(V, second_order=True)
def fixed_arguments(x: Any) -> Any:
    return Partial()(lambda a, b, c: a * b + c, x, c=x * 2)(ops.sin(x))


@case(V, second_order=True)
def gradients_through_functions(x: Any) -> Any:
    clip = InsertGradientOf(lambda g: g * 0.5)
    double = HookBackward(lambda grads: grads[0] * 2)
    return clip(x * x) * double(x) + HyperMap()(clip, (x, (x,)))[1][0]


@case([(f32(1.0, 2.0), 2.0), (f32(3.0, 2.0), 0.5)], entries=-1)
def types_that_change(x: Any, n: Any) -> Any:
    found = []
    for item in (x, 1, 2.0, Tensor(n), "text", [x], {"a": n}):
        found.append(TOTAL(item))
    return found
