"""Nested functions, closures, lambdas, defaults, keyword and variadic arguments, decorators, recursion."""

from __future__ import annotations

import functools
import operator
from typing import Any

from tests.helpers.programs import case
from tests.helpers.values import f32, i64

from weft import ops

X = [f32(1.0, 2.0, -0.5), f32(-1.0, -2.0, 0.5)]
N = [(f32(0.5, 1.5), i64(3)), (f32(0.5, 1.5), i64(0))]
SCALE = 3.0


def module_helper(x: Any, scale: float = SCALE, *, shift: float = 1.0) -> Any:
    return x * scale + shift


def polynomial(x: Any, *coefficients: float, **named: float) -> Any:
    total = x * 0
    for power, c in enumerate(coefficients):
        total = total + c * x**power
    for name in sorted(named):
        total = total + named[name]
    return total


@case(X)
def calls_helper(x: Any) -> Any:
    return module_helper(x) + module_helper(x, 2.0) + module_helper(x, shift=5.0) + module_helper(scale=1.0, x=x)


@case(X, second_order=True)
def variadic(x: Any) -> Any:
    return polynomial(x, 1.0, 2.0, 3.0, offset=0.5, other=1.0)


@case(X)
def spread_arguments(x: Any) -> Any:
    args = (1.0, 2.0)
    kwargs = {"b": 1.0, "a": 2.0}
    return polynomial(x, *args, 3.0, *[4.0], **kwargs, c=3.0)


@case(X, second_order=True)
def closure_reads(x: Any) -> Any:
    k = x.sum()

    def inner(v: Any) -> Any:
        return v * k

    return inner(x) + inner(x * 2)


@case(X)
def closure_writes_nonlocal(x: Any) -> Any:
    count = 0
    total = x * 0

    def add(v: Any) -> None:
        nonlocal count, total
        count += 1
        total = total + v

    for i in range(3):
        add(x * i)
    return total, count


@case(X, second_order=True)
def nonlocal_in_tensor_branch(x: Any) -> Any:
    state = x

    def step() -> None:
        nonlocal state
        if state.sum() > 0:
            state = state * state
        else:
            state = state + 3

    step()
    step()
    return state


@case(N)
def nonlocal_in_tensor_loop(x: Any, n: Any) -> Any:
    total = x

    def step() -> None:
        nonlocal total
        total = total + 1.5

    while n > 0:
        step()
        n -= 1
    return total


@case(X)
def lambdas(x: Any) -> Any:
    double = lambda v: v * 2  # noqa: E731
    return (lambda f, v: f(f(v)))(double, x)


@case(X)
def late_binding_closures(x: Any) -> Any:
    functions = [lambda v: v * i for i in range(3)]
    bound = [lambda v, i=i: v * i for i in range(3)]
    return [f(x) for f in functions], [f(x) for f in bound]


@case(X)
def function_returned_and_called(x: Any) -> Any:
    def make_scaler(factor: float) -> Any:
        def scale(v: Any) -> Any:
            return v * factor

        return scale

    return make_scaler(2.0)(x) + make_scaler(3.0)(x)


@case(X)
def user_decorator(x: Any) -> Any:
    def twice(fn: Any) -> Any:
        @functools.wraps(fn)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return fn(fn(*args, **kwargs), **kwargs)

        return wrapper

    @twice
    def add(v: Any, k: float = 1.0) -> Any:
        return v + k

    return add(x, k=2.0), add.__name__


@case(X)
def partial_call(x: Any) -> Any:
    scale = functools.partial(module_helper, scale=0.5, shift=0.0)
    return scale(x) + functools.partial(scale, shift=2.0)(x)


@case(X)
def reduce_over_list(x: Any) -> Any:
    return functools.reduce(lambda a, c: a * 0.5 + c, [x, x + 1, x + 2], x * 0)


@case(X, second_order=True)
def recursion_on_python_int(x: Any) -> Any:
    def power(v: Any, n: int) -> Any:
        if n == 0:
            return v * 0 + 1
        return v * power(v, n - 1)

    return power(x, 4)


@case(X)
def mutual_recursion(x: Any) -> Any:
    def even(v: Any, n: int) -> Any:
        return v if n == 0 else odd(v + 1, n - 1)

    def odd(v: Any, n: int) -> Any:
        return v * 2 if n == 0 else even(v * 3, n - 1)

    return even(x, 5)


@case([f32(1.0, 2.0, 3.0, 4.0), f32(4.0, -3.0, 2.0, -1.0)], second_order=True)
def recursion_over_halves(x: Any) -> Any:
    def tree_sum(v: Any) -> Any:
        if v.shape[0] == 1:
            return v[0] * v[0]
        half = v.shape[0] // 2
        return tree_sum(v[:half]) * 0.5 + tree_sum(v[half:])

    return tree_sum(x)


@case(X)
def recursion_over_nested_list(x: Any) -> Any:
    def flatten(items: Any) -> Any:
        out = []
        for item in items:
            if isinstance(item, list):
                out.extend(flatten(item))
            else:
                out.append(item)
        return out

    return flatten([x, [x * 2, [x * 3]], [[x * 4]]])


@case(X)
def branch_inside_recursion(x: Any) -> Any:
    def shrink(v: Any, depth: int) -> Any:
        if depth == 0:
            return v
        if v.max() > 1:
            return shrink(v * 0.5, depth - 1)
        return shrink(v + 0.25, depth - 1)

    return shrink(x, 3)


@case(X)
def keyword_only_and_positional_only(x: Any) -> Any:
    def f(a: Any, /, b: Any, *, c: Any = 1.0) -> Any:
        return a + b * c

    return f(x, b=x * 2) + f(x, x, c=3.0)


@case(X)
def mutable_default(x: Any) -> Any:
    def collect(v: Any, seen: list[Any] = []) -> Any:  # noqa: B006
        seen.append(v)
        return seen

    collect(x)
    return collect(x * 2)


@case(X)
def function_attributes(x: Any) -> Any:
    def f(v: Any) -> Any:
        f.calls += 1
        return v * f.calls

    f.calls = 0
    f(x)
    return f(x), f.calls


@case(X)
def functions_in_a_dict(x: Any) -> Any:
    table = {"relu": ops.relu, "square": lambda v: v * v, "negate": operator.neg}
    return {name: table[name](x) for name in table}


@case([(f32(1.0, 2.0), "relu"), (f32(-1.0, 2.0), "exp"), (f32(1.0, 2.0), "exp")])
def function_by_name(x: Any, name: str) -> Any:
    return getattr(ops, name)(x)


@case(X)
def callable_chosen_by_tensor(x: Any) -> Any:
    f = ops.exp if x.sum() > 0 else ops.relu
    return f(x)


@case(X)
def closures_over_the_same_cell(x: Any) -> Any:
    value = x

    def get() -> Any:
        return value

    def put(v: Any) -> None:
        nonlocal value
        value = v

    before = get()
    put(x * 2)
    return before, get()


@case(X)
def returns_a_function_result_of_map(x: Any) -> Any:
    return list(map(lambda v, k: v * k, [x, x + 1], [2, 3]))


@case(X)
def composed_from_operator_module(x: Any) -> Any:
    pick = operator.itemgetter(1, 0)
    first, second = pick([x, x * 2])
    return operator.add(first, second), operator.attrgetter("shape")(first)
