"""Values that only some paths use, at points where zeros that went back through them would become NaN."""

from __future__ import annotations

from typing import Any

from tests.helpers.programs import case
from tests.helpers.values import f32

from weft import ops
from weft.autodiff.recompute import recompute

#: without a norm, with one, and partly zero
ZEROS = [f32(0.0, 0.0), f32(3.0, 4.0), f32(0.0, 1.0)]


@case(ZEROS, second_order=True)
def norm_used_on_one_side(x: Any) -> Any:
    norm = ops.sqrt((x * x).sum())
    if norm > 1:
        return x / norm
    return x * 2


@case(ZEROS)
def logarithm_used_on_one_side(x: Any) -> Any:
    logarithm = ops.log(x)
    return logarithm * 2 if x.min() > 0 else x * 3


@case(ZEROS)
def used_again_after_the_branch(x: Any) -> Any:
    root = ops.sqrt(x)
    y = x
    if x.sum() > 2:
        y = y * root
    if x.sum() > 6:
        y = y + root
    return y * x


@case(ZEROS)
def used_in_a_branch_of_a_branch(x: Any) -> Any:
    root = ops.sqrt(x)
    if x.sum() > -1:
        if x.sum() > 2:
            return root * x
        return x * 2
    return root


@case(ZEROS)
def used_in_a_loop_that_may_not_run(x: Any) -> Any:
    root, y = ops.sqrt(x.sum()), x
    while y.sum() > 5:
        y = y / (1 + root)
    return y


@case(ZEROS)
def used_in_some_iterations(x: Any) -> Any:
    root, y, i = ops.sqrt(x), x, 0
    while i < 3:
        if y.sum() > 2:
            y = y * 0.5 + root
        i += 1
    return y


@case(ZEROS)
def carried_by_a_loop_and_not_used(x: Any) -> Any:
    y, root = x, x
    while y.sum() > 1:
        y, root = y * 0.5, ops.sqrt(y - y)
    del root
    return y


@case(ZEROS)
def used_before_the_loop_is_left(x: Any) -> Any:
    root, y = ops.sqrt(x.sum()), x
    for _ in range(20):
        if y.sum() < 1:
            break
        y = y / (1 + root)
    return y


@case(ZEROS)
def returned_early(x: Any) -> Any:
    root = ops.sqrt(x.sum())
    if x.sum() < 1:
        return x.sum()
    return (x / root).sum()


@case(ZEROS)
def two_results_of_a_branch_of_which_one_counts(x: Any) -> Any:
    if x.sum() > 2:
        y, unused = x * 2, ops.log(x)
    else:
        y, unused = x * 3, ops.sqrt(x)
    del unused
    return y


@case(ZEROS)
def through_integers(x: Any) -> Any:
    k = ops.cast(x, "int32")
    if x.sum() > 2:
        return ops.cast(k, "float32") * x
    return x


@case(ZEROS)
def in_a_block_that_is_computed_again(x: Any) -> Any:
    def block(x: Any, root: Any) -> Any:
        if x.sum() > 2:
            return x * root
        return x * 2

    return recompute(block, x, ops.sqrt(x))


@case(ZEROS)
def the_same_condition_twice(x: Any) -> Any:
    root = ops.sqrt(x)
    large = x.sum() > 2
    y = x * 2
    if large:
        y = y + root
    if large:
        y = y * root
    return y
