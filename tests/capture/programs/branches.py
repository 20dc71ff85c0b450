"""`if` on tensors: joins, one-sided names, nesting, mixed Python and tensor conditions."""

from __future__ import annotations

from typing import Any

from tests.helpers.programs import case
from tests.helpers.values import f32, i64

from weft import ops

X = [f32(1.0, 2.0, -0.5), f32(-1.0, -2.0, 0.5)]


@case(X, second_order=True)
def if_else_rebinds(x: Any) -> Any:
    if x.sum() > 0:
        y = x * x * 2.0
    else:
        y = x * x * x
    return y + x


@case(X, second_order=True)
def if_without_else(x: Any) -> Any:
    y = x * x
    if x.mean() > 0:
        y = y * 3.0
    return y


@case([f32(3.0, 1.0), f32(0.5, 0.2), f32(-1.0, -2.0)], second_order=True)
def elif_chain(x: Any) -> Any:
    total = x.sum()
    if total > 2:
        y = x * x
    elif total > 0:
        y = ops.exp(x)
    elif total > -1:
        y = x
    else:
        y = x * x * x
    return y


@case(X)
def condition_without_comparison(x: Any) -> Any:
    if (x > 0).all():
        return x
    if (x > 0).any():
        return x * 2
    return -x


@case(X, second_order=True)
def nested_ifs(x: Any) -> Any:
    if x[0] > 0:
        if x[1] > 1:
            y = x * x
        else:
            y = x + 1
    else:
        if x[2] > 0:
            y = x * x * x
        else:
            y = x - 1
    return y


@case([(f32(1.0, 2.0), True), (f32(-1.0, 2.0), True), (f32(1.0, 2.0), False)])
def python_flag_around_tensor_branch(x: Any, training: bool) -> Any:
    if training:
        if x[0] > 0:
            x = x * 0.5
    else:
        x = x + 1
    return x


@case(X, second_order=True)
def early_return(x: Any) -> Any:
    if x.sum() > 0:
        return x * x
    y = x * x * x
    return y * 2


@case(X)
def name_bound_on_one_side_and_unused(x: Any) -> Any:
    if x.sum() > 0:
        scale = x * 2
        x = x + scale
    return x


@case(X)
def name_bound_on_one_side_with_default_before(x: Any) -> Any:
    bias = 0.0
    if x.sum() > 0:
        bias = 1.5
    return x + bias


@case(X)
def both_sides_bind_python_numbers(x: Any) -> Any:
    if x.sum() > 0:
        k = 2
    else:
        k = 3
    return x * k


@case(X)
def returns_number_chosen_by_tensor(x: Any) -> Any:
    if x.sum() > 0:
        return 1
    return 0


@case(X)
def returns_tuple_on_both_sides(x: Any) -> Any:
    if x.sum() > 0:
        return x, x * 2, 3
    return x + 1, x * x, 4


@case(X)
def returns_dict_on_both_sides(x: Any) -> Any:
    if x.sum() > 0:
        return {"out": x, "kind": 1}
    return {"out": -x, "kind": 2}


@case(X)
def returns_text_chosen_by_tensor(x: Any) -> Any:
    if x.sum() > 0:
        return "positive", x
    return "negative", x


@case(X)
def returns_none_or_tensor(x: Any) -> Any:
    if x.sum() > 0:
        return None
    return x * 2


@case(X)
def different_shapes_returned(x: Any) -> Any:
    if x.sum() > 0:
        return x
    return x.sum()


@case(X)
def different_dtypes_joined(x: Any) -> Any:
    if x.sum() > 0:
        y = x
    else:
        y = x.astype("float64") if hasattr(x, "astype") else x
    return y * 2


@case(X, second_order=True)
def several_names_swap(x: Any) -> Any:
    a, b = x, x * x
    if x.sum() > 0:
        a, b = b, a
    return a - b * 2


@case(X)
def pass_on_one_side(x: Any) -> Any:
    if x.sum() > 0:
        pass
    else:
        x = -x
    return x


@case([(f32(1.0, 2.0), i64(0)), (f32(1.0, 2.0), i64(1)), (f32(1.0, 2.0), i64(5))], second_order=True)
def switch_on_integer_tensor(x: Any, k: Any) -> Any:
    if k == 0:
        return x * x
    elif k == 1:
        return ops.exp(x)
    return ops.sin(x) * x


@case([(f32(1.0, 2.0), f32(3.0)), (f32(1.0, 2.0), f32(-3.0))], second_order=True)
def branch_then_branch(x: Any, t: Any) -> Any:
    if t > 0:
        x = x * t
    y = x + 1
    if y.sum() > 5:
        y = y * y
    else:
        y = y - t * t
    return y


@case(X)
def branch_in_helper(x: Any) -> Any:
    def relu_or_square(v: Any) -> Any:
        if v.max() > 1.5:
            return v * v
        return ops.relu(v)

    return relu_or_square(x) + relu_or_square(x - 1)


@case(X)
def list_append_in_branch(x: Any) -> Any:
    kept = [x]
    if x.sum() > 0:
        kept.append(x * 2)
    else:
        kept.append(x * 3)
    return kept


@case(X)
def assert_on_python_condition(x: Any) -> Any:
    assert x.ndim == 1, "needs a vector"
    return x * 2


@case(X)
def comparison_chain_on_tensors(x: Any) -> Any:
    if -1 < x.sum() < 10:
        return x
    return x * 0
