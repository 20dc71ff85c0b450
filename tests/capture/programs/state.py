"""Parameters, assignment, globals, closures, outside containers, random numbers: state that outlives a call."""

from __future__ import annotations

from typing import Any

from tests.helpers.programs import case
from tests.helpers.values import f32, i64

from weft import ops
from weft.core.parameters import Parameter
from weft.core.tensor import Tensor

X = [f32(1.0, 2.0), f32(-1.0, -2.0)]
N = [(f32(0.5, 1.5), i64(3)), (f32(0.5, 1.5), i64(0))]


@case(X, factory=True, second_order=True)
def parameter_read() -> Any:
    w = Parameter(Tensor([2.0, 3.0]), name="w")

    def f(x: Any) -> Any:
        return x * w * x

    return f


@case(X, factory=True)
def parameter_assigned() -> Any:
    w = Parameter(Tensor([0.0, 0.0]), name="w")

    def f(x: Any) -> Any:
        ops.assign(w, w + x)
        return w * 2

    return f


@case(X, factory=True)
def parameter_assign_add() -> Any:
    count = Parameter(Tensor(0.0), name="count")

    def f(x: Any) -> Any:
        before = count * 1
        ops.assign_add(count, x.sum())
        return before, count + 0

    return f


@case(X, factory=True)
def parameter_assigned_in_branch() -> Any:
    w = Parameter(Tensor([1.0, 1.0]), name="w")

    def f(x: Any) -> Any:
        if x.sum() > 0:
            ops.assign(w, x)
        else:
            ops.assign_sub(w, x * 0.5)
        return w * x

    return f


@case(X, factory=True)
def parameter_assigned_on_one_side() -> Any:
    w = Parameter(Tensor([1.0, 1.0]), name="w")

    def f(x: Any) -> Any:
        if x.sum() > 0:
            w.set_data(w + x)
        return w + 0

    return f


@case(N, factory=True)
def parameter_assigned_in_loop() -> Any:
    w = Parameter(Tensor([1.0, 1.0]), name="w")

    def f(x: Any, n: Any) -> Any:
        while n > 0:
            ops.assign_add(w, x)
            n -= 1
        return w * 2

    return f


@case(X, factory=True)
def parameter_assigned_before_early_return() -> Any:
    w = Parameter(Tensor([1.0, 1.0]), name="w")

    def f(x: Any) -> Any:
        ops.assign(w, w * 2)
        if x.sum() > 0:
            return x
        ops.assign(w, w + 1)
        return x * w

    return f


@case(X, factory=True)
def parameter_in_place_operator() -> Any:
    w = Parameter(Tensor([1.0, 1.0]), name="w")

    def f(x: Any) -> Any:
        w[0] = x.sum()
        return w + x

    return f


@case(X, factory=True, entries=-1, policies=("auto",))
def outside_list_appended_and_measured() -> Any:
    log: list[Any] = []

    def f(x: Any) -> Any:
        log.append(x.ndim)
        return x * 2, len(log)

    return f


@case(X, factory=True, entries=2, gradients=False, policies=("auto",))
def closure_counter() -> Any:
    calls = 0

    def f(x: Any) -> Any:
        nonlocal calls
        calls += 1
        return x * calls

    return f


@case(X, factory=True, gradients=False, entries=-1)
def outside_list_keeps_tensors() -> Any:
    kept: list[Any] = [None]

    def f(x: Any) -> Any:
        kept[0] = x * 2
        return x

    def g(x: Any) -> Any:
        f(x)
        return kept[0] + 1

    return g


@case(X, factory=True, entries=-1)
def outside_object_attribute() -> Any:
    class Model:
        def __init__(self) -> None:
            self.scale = 2.0
            self.last = None

        def __call__(self, x: Any) -> Any:
            self.last = x * self.scale
            return self.last + 1

    model = Model()

    def f(x: Any) -> Any:
        return model(x)

    return f


@case(X, factory=True)
def tensor_in_closure() -> Any:
    mask = Tensor([1.0, 0.0])

    def f(x: Any) -> Any:
        return x * mask

    return f


@case([f32(1.0, 2.0, 3.0, 4.0)], gradients=False)
def random_numbers(x: Any) -> Any:
    return x + ops.standard_normal((4,)), ops.uniform((2,), Tensor(0.0), Tensor(1.0))


@case(N, gradients=False)
def random_numbers_in_tensor_loop(x: Any, n: Any) -> Any:
    total = x
    while n > 0:
        total = total + ops.standard_normal((2,))
        n -= 1
    return total


@case(X, gradients=False)
def random_numbers_in_branch(x: Any) -> Any:
    if x.sum() > 0:
        x = x + ops.standard_normal((2,))
    return x, ops.standard_normal((2,))


@case(X)
def dropout_with_seed(x: Any) -> Any:
    return ops.dropout(ops.ones((50,)), p=0.5).sum() + x


@case(X, factory=True)
def two_parameters_swapped() -> Any:
    p = Parameter(Tensor([1.0, 2.0]), name="p")
    q = Parameter(Tensor([3.0, 4.0]), name="q")

    def f(x: Any) -> Any:
        old = p + 0
        ops.assign(p, q)
        ops.assign(q, old)
        return x * p - q

    return f


@case(X, factory=True)
def momentum_step() -> Any:
    w = Parameter(Tensor([1.0, 2.0]), name="w")
    m = Parameter(Tensor([0.0, 0.0]), name="m")

    def f(x: Any) -> Any:
        g = 2 * (w - x)
        ops.assign(m, m * 0.9 + g)
        ops.assign(w, w - m * 0.1)
        return ((w - x) ** 2).sum()

    return f


@case(X, factory=True, entries=-1, policies=("auto",))
def outside_list_appended() -> Any:
    log: list[Any] = []

    def f(x: Any) -> Any:
        log.append(x * 2)
        return x, log

    return f


@case(X, factory=True, entries=-1, policies=("auto",), gradients=False)
def outside_dict_counts() -> Any:
    counts: dict[str, int] = {}

    def f(x: Any) -> Any:
        counts["calls"] = counts.get("calls", 0) + 1
        return x * counts["calls"]

    return f


@case(X, factory=True, entries=-1)
def outside_dict_keeps_last() -> Any:
    cache = {"last": None, "unrelated": 5}

    def f(x: Any) -> Any:
        cache["last"] = x * 2
        return x + 1, cache["unrelated"]

    return f


@case(X, factory=True)
def parameter_assigned_before_one_of_two_results() -> Any:
    w = Parameter(Tensor([1.0, 1.0]), name="w")

    def f(x: Any) -> Any:
        if x.sum() > 0:
            w.set_data(w + x)
            return w + 0, 1
        return w + 0

    return f
