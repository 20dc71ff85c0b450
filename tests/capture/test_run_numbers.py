"""Python numbers that only the running graph knows compute and raise as Python's, and never pass for a value."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import Parameter, Tensor, jit, ops
from weft.core.number import GraphNumber
from weft.core.run_number import RunNumber


class Color(enum.Enum):
    RED = 0
    GREEN = 1
    BLUE = 2


TABLE = {0: "zero", 1: "one", 2.5: "half"}


def seen(call: Callable[[], Any]) -> tuple[Any, ...]:
    """What a call returned, with the exact types of the parts, or raised."""
    try:
        result = call()
    except Exception as error:
        return "raised", type(error), str(error)
    parts = result if isinstance(result, tuple) else (result,)
    return "returned", [type(part) for part in parts], repr(result)


def check(function: Callable[..., Any], values: list[Any]) -> Any:
    """Compare a function with itself under both policies, in calls with changing values; returns the compiled one."""
    for mode in ({}, {"mode": "PIJit"}):
        compiled = jit(function, **mode)
        for value in values:
            assert seen(lambda: compiled(Tensor(value))) == seen(lambda: function(Tensor(value))), (value, mode)
    return compiled


INTS = [np.array([v, 3]) for v in (0, 1, -1, 5, 2**40, 2**62, -(2**63))]
FLOATS = [np.array([v, 2.0]) for v in (0.0, 1.0, -1.5, -0.0, 2.5, 1e300, float("inf"), float("nan"))]
#: expressions over a number `n` that a graph computes
COMPUTED = (
    "n + 1", "1 - n", "n * n", "n * 4", "n // 3", "n % 3", "7 // n", "7 % n", "divmod(n, 7)", "divmod(7, n)",
    "n / 2", "1 / n",
    "n ** 2", "2 ** (n % 70 - 3)", "-n", "+n", "abs(n)", "n == 1", "n < 2", "n >= 0.5", "not n", "bool(n)",
    "float(n)", "n and 1",
    "round(n)", "max(n, 3)", "min(0, n)", "n + 1.5", "n * 0.5",
)  # fmt: skip
#: expressions that need the value
NEEDED = (
    "TABLE.get(n, 'none')", "TABLE[n]", "n in {1, 4}", "n in TABLE", "collections.Counter([n, 1])", "{n: 1}", "{n}",
    "hash((n, 1))",
    "[0] * n if abs(n) < 9 else 0", "repr(n)", "f'{n!r} {n}'", "str([n])", "'%s %r' % (n, n)",
    "isinstance(n, int)", "type(n)",
    "n is True", "n is None", "complex(n)", "bytes([n])", "(5).__and__(n)", "n.real",
    "Color(n)", "[10, 20, 30][n]", "x[n]", "list(range(n)) if abs(n) < 9 else 0",
)  # fmt: skip


@pytest.mark.parametrize(
    "text", [*COMPUTED, *NEEDED, "n << 2", "n >> 1", "n & 3", "n | 3", "n ^ 3", "~n", "n.bit_length()"]
)
def test_ints(text: str) -> None:
    names = {**globals()}
    exec(f"def f(x):\n    n = int(x[0])\n    y = x * 2\n    return {text}, (y + 1).shape", names)
    check(names["f"], INTS)


@pytest.mark.parametrize("text", [*COMPUTED, *NEEDED, "n.is_integer()", "math.floor(n)", "int(n)", "round(n, 1)"])
def test_floats(text: str) -> None:
    import math

    names = {**globals(), "math": math}
    exec(f"def f(x):\n    n = x[0].item()\n    y = x * 2\n    return {text}, (y + 1).shape", names)
    # the hash of a nan is that of the object
    check(names["f"], [value for value in FLOATS if "hash" not in text or value[0] == value[0]])


def test_zero_division_is_caught() -> None:
    def f(x: Any) -> Any:
        n = int(x.argmax())
        try:
            return 1 // n, x * 2
        except ZeroDivisionError as error:
            return str(error), x * 3

    check(f, [np.array([1.0, 2.0]), np.array([3.0, 2.0]), np.array([1.0, 2.0, 5.0])])


def test_what_fits_is_one_graph() -> None:
    @jit
    def f(x: Any) -> Any:
        n = int(x.argmax())
        return x * n + x[n], n * 3 - 1, (1.0, 2.0, 3.0)[n], bool(n) is True

    for value in ([1.0, 2.0, 0.0], [1.0, 2.0, 5.0], [7.0, 2.0, 5.0]):
        f(Tensor(value))
    report = f.report()
    assert len(report.graphs) == 1
    assert not report.breaks


def test_a_number_that_does_not_fit_is_captured_again_once() -> None:
    @jit
    def f(x: Any) -> Any:
        return int(x[0]) * 4

    values = [3, 2**62, 5, 2**62 + 1, 7]
    assert [f(Tensor([v])) for v in values] == [v * 4 for v in values]
    report = f.report()
    assert len(report.recompiles) == 1
    assert "out of the range" in report.recompiles[0].event.reason


def test_counts_of_loops() -> None:
    def f(x: Any) -> Any:
        n = 0
        while x.sum() < 100:
            x = x * 2
            n += 1
        return n, {n: "steps"}, x

    check(f, [np.array([1.0, 2.0]), np.array([30.0, 2.0]), np.array([300.0, 2.0])])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint16", "uint32", "uint64"])
def test_numbers_beside_narrow_tensors(dtype: str) -> None:
    def f(x: Any, s: Any) -> Any:
        return x + s

    compiled = jit(f)
    for s in (1, 2, 300, -1, 2**40, 3):
        array = np.array([1, 2], dtype)
        assert seen(lambda: compiled(Tensor(array), s)) == seen(lambda: f(Tensor(array), s)), s


def test_a_number_of_a_graph_beside_a_narrow_tensor() -> None:
    def f(x: Any) -> Any:
        return x + int(x.astype(weft.int64).sum() * 100)

    compiled = jit(f)
    for values in ([0, 1], [1, 2], [0, 0]):
        array = np.array(values, np.int8)
        assert seen(lambda: compiled(Tensor(array))) == seen(lambda: f(Tensor(array)))


def test_an_index_picks_the_tensor_itself() -> None:
    def program() -> tuple[Any, list[Any]]:
        handles = [Parameter(Tensor([1.0, 2.0]), name="w"), Parameter(Tensor([3.0, 4.0]), name="u")]

        def step(x: Any) -> Any:
            chosen = handles[int(x.argmax()) % 2]
            chosen[0] = chosen[1] + 1
            return chosen

        return step, handles

    (eager, kept), (step, handles) = program(), program()
    compiled = jit(step)
    for values in ([1.0, 2.0], [3.0, 2.0], [1.0, 5.0]):
        wanted, found = eager(Tensor(values)), compiled(Tensor(values))
        assert [found is h for h in handles] == [wanted is h for h in kept]
        assert [h.asnumpy().tolist() for h in handles] == [h.asnumpy().tolist() for h in kept]
    assert not compiled.report().breaks


def test_every_special_method_of_numbers_asks_for_the_value() -> None:
    ours = {name for name in dir(RunNumber) if name.startswith("__")}
    skipped = {"__getnewargs__", "__getformat__", "__setformat__"}
    assert {name for name in {*dir(int), *dir(float)} if name.startswith("__")} - ours - skipped == set()
    for name in ("__hash__", "__index__", "__eq__", "__int__", "__bool__", "__add__", "__radd__", "__round__"):
        assert getattr(GraphNumber, name) is not getattr(object, name, None)


def test_products_with_jacobians_of_sides_that_leave_different_things() -> None:
    def program(x: Any) -> Any:
        noted: dict[str, int] = {}

        def f(v: Any) -> Any:
            if v.sum() < -1:
                return (v - 1) * v
            noted["n"] = 1
            return v * v * v

        return weft.jvp(f, x, x * 0 + 1)[1]

    check(program, [np.array([-1.0, -2.0]), np.array([1.0, 2.0])])


def test_what_one_of_several_outcomes_assumes() -> None:
    def program(x: Any, y: Any) -> Any:
        if x.sum() > 0:
            n = 10 // int(y.sum())
            return x * n, [n]
        return [], x

    compiled = jit(program)
    for x, y in (([3.0, 4.0], [1.0, 1.0]), ([3.0, 3.0], [1.0, -1.0]), ([-3.0, 3.0], [1.0, -1.0])):
        found = [str(seen(lambda f=f: f(Tensor(x), Tensor(y)))) for f in (program, compiled)]
        assert found[0] == found[1]


def test_numbers_of_the_call_in_library_functions_of_a_loop() -> None:
    def counted(y: Any, n: Any) -> Any:
        a, r = int(n), 0
        while y.sum() < 10:
            y = y + 1
            a = a + 1
            r = ops.arange(a, 2)
        return r

    def filled(y: Any, n: Any) -> Any:
        a, r = int(n), None
        while y.sum() < 10:
            y = y + 1
            a = a + 1
            r = ops.full((2,), 10 // a)
        return r

    def made(y: Any, n: Any) -> Any:
        a, r = int(n), None
        while y.sum() < 10:
            y = y + 1
            a = a + 1
            r = (Tensor(a), Tensor([a, a // 2]), ops.full((2,), a > 2), ops.eye(10 // a))
        return r

    for program, start in ((counted, 8.0), (filled, 5.0), (made, 8.0)):
        for mode in ({}, {"mode": "PIJit"}):
            compiled = jit(program, **mode)
            for n in (1, 3, -9, -3, -1, 2, 5):
                values = Tensor([start]), Tensor(n)
                found = [seen(lambda f=f, values=values: f(*values)) for f in (program, compiled)]
                assert found[0] == found[1], n
