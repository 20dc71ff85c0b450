"""The ledger of footguns: where compiled programs of other frameworks differ from Python, silent differences first.

Each test runs the same calls on a fresh eager program and on a fresh compiled one and compares what can be seen.
"""

from __future__ import annotations

import copy
import math
import os
import random
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tests.helpers.values import plain, x
from weft import ops
from weft.autodiff.grad import grad, value_and_grad
from weft.core.parameters import Parameter
from weft.core.tensor import Tensor
from weft.errors import Unsupported
from weft.jit import jit, ms_function
from weft.ops.random import set_seed

COUNT = 0
TABLE = Tensor([1.0, 2.0])


def both(make: Callable[[], Callable[..., Any]], *calls: Callable[[], tuple[Any, ...]], twice: bool = True) -> Any:
    """Run calls on an eager and on a compiled program; returns the compiled one."""
    programs = make(), jit(make())
    for call in calls * (2 if twice else 1):
        results = []
        for program in programs:
            args = call()
            try:
                results.append((plain(program(*args)), plain(args)))
            except Unsupported:
                raise
            except Exception as error:
                results.append((type(error), str(error), plain(args)))
        assert results[1] == results[0]
    return programs[1]


# -- values that are frozen silently --------------------------------------------------------------------


@pytest.mark.parametrize("source", [random.random, time.time, time.perf_counter, np.random.rand, os.getpid, os.urandom])
def test_the_outside_world_is_not_frozen(source: Callable[..., Any]) -> None:
    """A call whose result may differ next time is refused or made anew, never kept as a constant."""

    def f(v: Any) -> Any:
        return v, source(1) if source is os.urandom else source()

    try:
        jitted = jit(f)
        first, second = jitted(x())[1], jitted(x())[1]
    except Unsupported as error:
        assert error.location is not None  # noqa: PT017
    else:
        assert source is os.getpid or first != second


def test_environment_variables_are_not_frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_FOOTGUN", "2")

    def f(v: Any) -> Any:
        return v * float(os.environ["WEFT_FOOTGUN"])

    jitted = jit(f)
    try:
        first = plain(jitted(x()))
    except Unsupported:
        return
    monkeypatch.setenv("WEFT_FOOTGUN", "3")
    assert plain(jitted(x())) != first


def test_numpy_arguments_are_read_at_each_call() -> None:
    def f(v: Any, array: Any) -> Any:
        return v * Tensor(array)

    jitted = jit(f)
    array = np.asarray([1.0, 2.0], np.float32)
    try:
        assert plain(jitted(x(), array)) == plain(f(x(), array))
    except Unsupported:
        return
    array[0] = 50.0
    assert plain(jitted(x(), array)) == plain(f(x(), array))
    assert plain(jitted(x(), array + 1)) == plain(f(x(), array + 1))


def test_numpy_globals_are_read_at_each_call() -> None:
    array = np.asarray([1.0, 2.0], np.float32)

    def f(v: Any) -> Any:
        return v * Tensor(array)

    jitted = jit(f)
    try:
        assert plain(jitted(x())) == plain(f(x()))
    except Unsupported:
        return
    array[0] = 50.0
    assert plain(jitted(x())) == plain(f(x()))


def test_outside_tensors_written_in_place_between_calls_are_seen() -> None:
    table = Tensor([1.0, 2.0])
    jitted = jit(lambda v: v * table)
    static = ms_function(lambda v: v * table)
    for value in (5.0, 6.0):
        table[0] = value
        assert plain(jitted(x())) == plain(x() * table)
        assert plain(static(x())) == plain(x() * table)


def test_printing_happens_at_each_call(capsys: pytest.CaptureFixture[str]) -> None:
    jitted = jit(lambda v: (print("called", v.shape), v * 2)[1])
    for _ in range(3):
        jitted(x()).asnumpy()
    assert capsys.readouterr().out == "called (2,)\n" * 3


def test_prints_keep_their_order(capsys: pytest.CaptureFixture[str]) -> None:
    def f(v: Any) -> Any:
        print("a")
        if v.sum() > 0:
            print("b", v)
        print("c")
        for i in range(2):
            print(i, v[i])
        return v

    f(x())
    expected = capsys.readouterr().out
    jitted = jit(f)
    for _ in range(2):
        jitted(x()).asnumpy()
        assert capsys.readouterr().out == expected


def test_warnings_are_issued_at_each_call() -> None:
    def f(v: Any) -> Any:
        warnings.warn("careful", UserWarning, stacklevel=1)
        return v * 2

    jitted = jit(f)
    for _ in range(2):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                jitted(x())
            except Unsupported:
                return
        assert [str(w.message) for w in caught] == ["careful"]


def test_global_counter() -> None:
    def f(v: Any) -> Any:
        global COUNT
        COUNT += 1
        return v * COUNT

    for program in (f, jit(f)):
        globals()["COUNT"] = 0
        assert [plain(program(x(1.0)))[1] for _ in range(4)] == [[1.0], [2.0], [3.0], [4.0]]
        assert COUNT == 4


def test_global_made_and_deleted() -> None:
    def f(v: Any) -> Any:
        global MADE
        MADE = 3
        y = v * MADE
        del MADE
        return y

    both(lambda: f, lambda: (x(),))
    assert "MADE" not in globals()


def test_instance_counter() -> None:
    class Model:
        def __init__(self) -> None:
            self.calls = 0

        def run(self, v: Any) -> Any:
            self.calls += 1
            return v * self.calls

    both(lambda: Model().run, lambda: (x(),), lambda: (x(3.0),))


def test_mutable_default_argument() -> None:
    def make() -> Any:
        def f(v: Any, seen: list[Any] = []) -> Any:  # noqa: B006
            seen.append(v.ndim)
            return v, len(seen)

        return f

    both(make, lambda: (x(),))


def test_memo_dictionary() -> None:
    def make() -> Any:
        memo: dict[int, int] = {}

        def fibonacci(n: int) -> int:
            if n not in memo:
                memo[n] = n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)
            return memo[n]

        return lambda v: (v * fibonacci(10), sorted(memo))

    both(make, lambda: (x(),))


def test_equal_but_different_python_arguments() -> None:
    jitted = both(
        lambda: lambda v, k: (v, k, type(k).__name__), *[lambda k=k: (x(), k) for k in (1, True, 1.0, 0.0, -0.0)]
    )
    assert math.copysign(1.0, jitted(x(), -0.0)[1]) == -1.0
    assert math.copysign(1.0, jitted(x(), 0.0)[1]) == 1.0


def test_nan_argument_is_one_entry() -> None:
    jitted = jit(lambda v, k: v * k)
    for _ in range(3):
        assert np.isnan(jitted(x(), float("nan")).asnumpy()).all()
    assert sum(len(group) for group in jitted.compiled.entries.values()) == 1


def test_random_numbers_differ_from_call_to_call_and_follow_the_seed() -> None:
    def f(v: Any) -> Any:
        return v + ops.standard_normal((2,))

    jitted = jit(f)
    runs = []
    for program in (f, jitted, jitted):
        set_seed(7)
        runs.append([plain(program(x()), 4) for _ in range(3)])
    assert runs[0] == runs[1] == runs[2]
    assert runs[0][0] != runs[0][1]


def test_dropout_differs_from_call_to_call() -> None:
    jitted = jit(lambda v: ops.dropout(v, p=0.5, training=True))
    wide = Tensor(np.ones(100, np.float32))
    assert plain(jitted(wide)) != plain(jitted(wide))


# -- aliases and in-place writes ------------------------------------------------------------------------


def test_write_to_an_argument_is_seen_by_the_caller() -> None:
    def f(v: Any) -> Any:
        v[0] = 9.0
        return v * 2

    both(lambda: f, lambda: (x(),))


def test_the_same_tensor_as_two_arguments() -> None:
    def f(a: Any, c: Any) -> Any:
        a[0] = 9.0
        return c * 2, a is c

    def same() -> tuple[Any, ...]:
        v = x()
        return v, v

    both(lambda: f, lambda: (x(), x()), same, lambda: (x(), x()))


def test_argument_that_is_also_a_global() -> None:
    def f(v: Any) -> Any:
        v[0] = v[1] * 3
        return TABLE * 1

    results = []
    for program in (f, jit(f)):
        TABLE.rebind(Tensor([1.0, 2.0]))
        results.append([plain(program(TABLE)), plain(program(x())), plain(program(TABLE))])
    assert results[0] == results[1]


def test_results_keep_their_aliases() -> None:
    def f(v: Any) -> Any:
        y = v * 2
        items = [y]
        return y, y, items, {"again": items}

    for program in (f, jit(f)):
        for _ in range(2):
            a, c, items, table = program(x())
            assert a is c
            assert items[0] is a
            assert table["again"] is items


def test_results_of_two_calls_do_not_share() -> None:
    constant = [1, 2]
    jitted = jit(lambda v: (v * 2, [constant, 3]))
    first, second = jitted(x()), jitted(x())
    first[0][0] = 100.0
    assert plain(second[0]) == plain(x() * 2)
    assert first[1] is not second[1]
    assert first[1][0] is second[1][0] is constant


def test_constant_tensors_in_results_do_not_share() -> None:
    jitted = jit(lambda v: (v, ops.zeros((2,)), Tensor([1.0])))
    first = jitted(x())
    first[1][0] = 5.0
    first[2][0] = 5.0
    assert plain(jitted(x())) == plain((x(), ops.zeros((2,)), Tensor([1.0])))


def test_slices_are_copies_in_both() -> None:
    def f(v: Any) -> Any:
        part = v[:1]
        part[0] = 100.0
        return v * 1, part

    both(lambda: f, lambda: (x(),))


def test_a_list_argument_is_changed_in_place() -> None:
    def f(items: list[Any]) -> Any:
        items.append(items[0] * 2)
        items[0] = 5
        return len(items)

    both(lambda: f, lambda: ([x()],), lambda: ([x(3.0)],))


def test_iterator_argument_is_consumed_once() -> None:
    def f(v: Any, numbers: Iterator[int]) -> Any:
        return v * next(numbers) + next(numbers, 100)

    for program in (f, jit(f)):
        numbers = iter([1, 2, 3])
        try:
            assert plain(program(x(1.0), numbers)) == ("Float32", [3.0])
        except Unsupported:
            return
        assert next(numbers) == 3


# -- exceptions -----------------------------------------------------------------------------------------


def test_side_effects_before_an_exception_happen_once() -> None:
    for k in (1, -1):
        logs = []
        for wrap in (lambda f: f, jit):
            log: list[str] = []

            def f(v: Any, k: int, log: list[str] = log) -> Any:
                log.append("before")
                if k < 0:
                    raise ValueError("negative")
                log.append("after")
                return v * k

            program = wrap(f)
            for _ in range(2):
                try:
                    program(x(), k)
                except ValueError:
                    log.append("caught")
            logs.append(log)
        assert logs[0] == logs[1]


def test_side_effects_before_a_tensor_dependent_exception() -> None:
    def make() -> Any:
        w = Parameter(Tensor([0.0, 0.0]), name="w")
        log: list[str] = []

        def f(v: Any) -> Any:
            ops.assign(w, w + v)
            log.append("before")
            if v.sum() < 0:
                raise ValueError("negative")
            ops.assign(w, w * 2)
            return w + 0, list(log)

        return f

    both(make, lambda: (x(),), lambda: (x(-1.0, -2.0),), lambda: (x(3.0, 1.0),))


def test_errors_on_the_path_not_taken_do_not_happen() -> None:
    def f(v: Any) -> Any:
        if v.sum() > 0:
            return v
        return v * [1, 2][5]  # noqa: PLE0643

    both(lambda: f, lambda: (x(),), lambda: (x(-1.0, -2.0),))


def test_division_by_zero_on_the_path_not_taken() -> None:
    def f(v: Any, n: Any) -> Any:
        if n != 0:
            return v // n
        return v

    both(lambda: f, lambda: (Tensor([4, 5]), Tensor(2)), lambda: (Tensor([4, 5]), Tensor(0)))


def test_short_circuit_keeps_the_right_side_from_running() -> None:
    def make() -> Any:
        w = Parameter(Tensor(0.0), name="w")

        def touch() -> bool:
            ops.assign_add(w, Tensor(1.0))
            return True

        def f(v: Any) -> Any:
            if v.sum() > 0 and touch():
                v = v * 2
            if v.sum() > 100 or touch():
                v = v + 1
            return v, w + 0

        return f

    both(make, lambda: (x(),), lambda: (x(-1.0, -2.0),), lambda: (x(1000.0),))


def test_comparisons_with_nan_and_infinity() -> None:
    def f(v: Any) -> Any:
        if v.max() > 0:
            return "greater"
        if v.max() <= 0:
            return "not greater"
        return "neither"

    both(lambda: f, *[lambda k=k: (x(k),) for k in (1.0, -1.0, math.nan, math.inf, -math.inf)])


def test_out_of_range_index_by_a_python_number() -> None:
    both(lambda: lambda v: v[7], lambda: (x(),))


def test_out_of_range_index_by_a_tensor() -> None:
    both(lambda: lambda v, i: v[i], lambda: (x(), Tensor(1)), lambda: (x(), Tensor(-1)), lambda: (x(), Tensor(0)))


def test_assertions_stay() -> None:
    scope: dict[str, Any] = {}  # made by exec, because pytest rewrites the assertions of its modules
    exec("def f(v):\n    assert v.sum() > 0, f'sum of {v.shape}'\n    return v\n", scope)
    both(lambda: scope["f"], lambda: (x(),), lambda: (x(-1.0),))


def test_context_managers_leave_on_tensor_dependent_exceptions() -> None:
    def make() -> Any:
        log: list[str] = []

        class Guard:
            def __enter__(self) -> None:
                log.append("enter")

            def __exit__(self, kind: Any, *_: Any) -> bool:
                log.append("exit" if kind is None else kind.__name__)
                return False

        def f(v: Any) -> Any:
            with Guard():
                if v.sum() < 0:
                    raise KeyError("negative")
            return v, list(log)

        return f

    both(make, lambda: (x(),), lambda: (x(-1.0),), lambda: (x(),))


# -- types, numbers and shapes --------------------------------------------------------------------------


def test_types_seen_inside() -> None:
    def f(v: Any, n: Any) -> Any:
        s = v.sum()
        k = int(n)
        return (
            isinstance(v, Tensor), type(v) is Tensor, isinstance(s, Tensor), type(v.shape), type(v.shape[0]),
            type(k), isinstance(k, int), isinstance(k, Tensor), isinstance(n, Tensor), type(bool(s > 0)),
            isinstance(v > 0, Tensor), str(v.dtype), type(float(s)), callable(v), hasattr(v, "shape"),
        )  # fmt: skip

    both(lambda: f, lambda: (x(), Tensor(3)))


def test_python_numbers_do_not_change_dtypes() -> None:
    def f(v: Any, n: Any) -> Any:
        return v * 2, n * 2, n * 2.5, n / 2, v.astype("float16") * 0.1, n**2, -n, abs(n), n % 2 == 0, 2**n

    both(
        lambda: f,
        lambda: (x(), Tensor(np.asarray([1, 2], np.int32))),
        lambda: (x(), Tensor(np.asarray([3, 4], np.int8))),
    )


def test_integers_beyond_64_bits_stay_python() -> None:
    both(lambda: lambda v: (v, 2**70 // 3, 10**30 % 7), lambda: (x(),))


def test_integer_counters_beyond_32_bits() -> None:
    def f(n: Any) -> Any:
        k = 2**33
        while n > 0:
            k = k * 2
            n = n - 1
        return k

    both(lambda: f, lambda: (Tensor(3),), lambda: (Tensor(20),))


def test_float_counters_have_double_precision() -> None:
    def f(n: Any) -> Any:
        t = 0.1
        while n > 0:
            t = t + 1e-9
            n = n - 1
        return t

    for program in (f, jit(f)):
        assert abs(program(Tensor(10)) - (0.1 + 1e-8)) < 1e-14


def test_integer_division_and_remainder_of_negative_numbers() -> None:
    def f(n: Any) -> Any:
        k = int(n)
        return k // 2, k % 3, -k // 2, divmod(k, 4), n // 2, n % 3, (k >> 1), k & 6

    both(lambda: f, lambda: (Tensor(-7),), lambda: (Tensor(7),))


def test_rounding_of_numbers_from_tensors() -> None:
    def f(v: Any) -> Any:
        k = float(v.sum())
        return int(k), round(k), k // 1, k % 1.0

    both(lambda: f, lambda: (x(2.5),), lambda: (x(-2.5),), lambda: (x(3.5),))


def test_empty_and_zero_dimensional_tensors() -> None:
    def f(v: Any) -> Any:
        total = v.sum()
        for row in v:
            total = total + row.sum()
        return total, len(v), v.shape, v * 2

    both(lambda: f, lambda: (Tensor(np.zeros((0, 2), np.float32)),), lambda: (Tensor(np.ones((2, 2), np.float32)),))


def test_loop_that_does_not_run_leaves_names_as_they_were() -> None:
    def f(v: Any, n: Any) -> Any:
        i, last = 100, None
        for i in range(n):
            last = v * i
        return i, (last if last is not None else v - 1)

    both(lambda: f, lambda: (x(), Tensor(3)), lambda: (x(), Tensor(0)))


def test_order_of_keyword_arguments() -> None:
    jitted = jit(lambda **kw: list(kw))
    assert jitted(a=x(), b=1) == ["a", "b"]
    assert jitted(b=1, a=x()) == ["b", "a"]


def test_subclasses_of_containers() -> None:
    class Stack(list):  # type: ignore[type-arg]
        def top(self) -> Any:
            return self[-1]

    class Table(dict):  # type: ignore[type-arg]
        def __missing__(self, key: str) -> str:
            return key + "?"

    def f(v: Any) -> Any:
        stack = Stack([v])
        stack.append(v * 2)
        table = Table(a=v)
        return stack.top(), table["b"], table["a"], len(stack)

    both(lambda: f, lambda: (x(),))


def test_copies_are_independent() -> None:
    def f(v: Any) -> Any:
        original = {"v": v * 1, "items": [1]}
        shallow, deep = copy.copy(original), copy.deepcopy(original)
        original["v"][0] = 100.0
        original["items"].append(2)
        return original, shallow, deep

    both(lambda: f, lambda: (x(),))


# -- derivatives ----------------------------------------------------------------------------------------


def test_gradient_of_where_the_branch_avoids_a_pole() -> None:
    """A `select` of both sides would give 0 * inf = nan."""

    def f(v: Any) -> Any:
        if v.sum() > 0:
            return ops.log(v).sum()
        return (v * 0).sum()

    for program in (f, jit(f)):
        assert plain(grad(program)(x(-1.0, -1.0)))[1] == [0.0, 0.0]
        assert plain(grad(program)(x(1.0, 2.0)))[1] == [1.0, 0.5]
    assert plain(jit(grad(f))(x(-1.0, -1.0)))[1] == [0.0, 0.0]


def test_no_gradient_through_python_numbers() -> None:
    def f(v: Any) -> Any:
        return (v * float(v.sum())).sum()

    assert plain(grad(f)(x()))[1] == [3.0, 3.0]
    assert plain(grad(jit(f))(x()))[1] == [3.0, 3.0]
    assert plain(jit(grad(f))(x()))[1] == [3.0, 3.0]


def test_stop_gradient_and_detach_in_branches() -> None:
    def f(v: Any) -> Any:
        if v.sum() > 0:
            return (v * ops.stop_gradient(v)).sum()
        return (v * v).sum()

    for program in (grad(f), grad(jit(f)), jit(grad(f))):
        assert plain(program(x()))[1] == [1.0, 2.0]
        assert plain(program(x(-1.0, -2.0)))[1] == [-2.0, -4.0]


def test_gradient_of_parameters_written_in_the_call() -> None:
    def make() -> Any:
        w = Parameter(Tensor([2.0, 3.0]), name="w")

        def f(v: Any) -> Any:
            y = (v * w).sum()
            ops.assign(w, w + 1)
            return y + (v * w).sum()

        return value_and_grad(f)

    both(make, lambda: (x(),))


def test_gradient_of_a_loop_is_of_the_trips_made() -> None:
    def f(v: Any, n: Any) -> Any:
        while n > 0:
            v = v * v
            n = n - 1
        return v.sum()

    both(lambda: grad(f), lambda: (x(), Tensor(0)), lambda: (x(), Tensor(1)), lambda: (x(), Tensor(3)))
    both(lambda: grad(jit(f)), lambda: (x(), Tensor(0)), lambda: (x(), Tensor(3)))


def test_gradients_of_a_tensor_used_in_the_condition_only() -> None:
    def f(v: Any, t: Any) -> Any:
        if t.sum() > 0:
            return (v * 2).sum()
        return (v * 3).sum()

    both(lambda: grad(f, (0, 1)), lambda: (x(), x()), lambda: (x(), x(-1.0)))
