"""What cannot be in a graph is refused where the whole function has to be one: place, reason, and what to write."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.helpers.sources import place_of
from tests.helpers.values import x
from weft import ops
from weft.capture.branching.branches import Branches
from weft.core.parameters import Parameter
from weft.core.tensor import Tensor
from weft.errors import Refusal, Unsupported
from weft.jit import jit


def refusal(function: Callable[..., Any], *args: Any) -> Unsupported:
    """The refusal of a function, the same under both policies, twice."""
    found = []
    for mode in (None, "PSJit"):
        jitted = jit(function, mode=mode, fullgraph=True)
        for _ in range(2):
            with pytest.raises(Unsupported) as caught:
                jitted(*(args or (x(1.0, 2.0, 3.0),)))
            found.append(caught.value)
    assert len({(e.kind, e.why, e.do, str(e.location)) for e in found}) == 1
    return found[0]


def asserts_place(error: Unsupported, function: Callable[..., Any], text: str) -> None:
    assert error.location is not None
    line, column = place_of(function, text)
    assert (error.location.file, error.location.line, error.location.column) == (__file__, line, column)
    assert f"{__file__}:{line}:{column + 1}" in str(error)
    assert text in str(error)


def test_value_as_numpy() -> None:
    def f(v: Any) -> Any:
        return v.asnumpy() + 1

    error = refusal(f)
    assert error.kind is Refusal.TENSOR_VALUE
    asserts_place(error, f, "v.asnumpy()")
    assert "asnumpy()" in error.why
    assert error.do


def test_value_as_list() -> None:
    def f(v: Any) -> Any:
        return (v * 2).tolist()

    error = refusal(f)
    assert error.kind is Refusal.TENSOR_VALUE
    asserts_place(error, f, "(v * 2).tolist()")


def test_shape_that_depends_on_values() -> None:
    def f(v: Any) -> Any:
        return ops.nonzero(v > 1)

    error = refusal(f)
    assert error.kind in (Refusal.TENSOR_VALUE, Refusal.DYNAMIC_SHAPE)
    asserts_place(error, f, "ops.nonzero(v > 1)")


def test_mask_selection() -> None:
    def f(v: Any) -> Any:
        return v[v > 1]

    error = refusal(f)
    assert error.kind in (Refusal.TENSOR_VALUE, Refusal.DYNAMIC_SHAPE)
    asserts_place(error, f, "v[v > 1]")


def test_the_column_counts_characters_of_unicode_lines() -> None:
    def f(v: Any) -> Any:
        größe = "äöü"
        return v.asnumpy(), größe

    error = refusal(f)
    text = str(error)
    marked = next(line for line in text.splitlines() if set(line.strip()) == {"^"})
    source = text.splitlines()[text.splitlines().index(marked) - 1]
    assert source[marked.index("^") : marked.rindex("^") + 1] == "v.asnumpy()"


def test_the_place_is_the_users_in_a_helper() -> None:
    def helper(v: Any) -> Any:
        return v.asnumpy()

    def f(v: Any) -> Any:
        return helper(v * 2)

    error = refusal(f)
    asserts_place(error, helper, "v.asnumpy()")
    assert error.location is not None
    assert error.location.scope.endswith("helper")


@pytest.mark.parametrize("text", ["input()", "open('file')", "exec('1')", "eval('1')", "compile('1', 'f', 'eval')"])
def test_impure_builtins(text: str) -> None:
    scope: dict[str, Any] = {}
    exec(f"def f(v):\n    {text}\n    return v\n", scope)
    error = refusal(scope["f"])
    assert error.kind is Refusal.IMPURE_CALL
    assert text.partition("(")[0] in error.why
    assert error.location is not None
    assert error.location.line == 2


def test_unknown_native_call_on_a_tensor() -> None:
    def f(v: Any) -> Any:
        return np.sin(v)

    error = refusal(f)
    assert error.kind in (Refusal.UNKNOWN_CALL, Refusal.TENSOR_VALUE)
    asserts_place(error, f, "np.sin(v)")


def test_loop_that_changes_shape() -> None:
    def f(v: Any, n: Any) -> Any:
        while n > 0:
            v = ops.concat((v, v))
            n = n - 1
        return v

    error = refusal(f, x(1.0, 2.0, 3.0), Tensor(2))
    assert error.kind is Refusal.TENSOR_CONDITION
    assert error.location is not None
    assert error.location.line == place_of(f, "while n > 0")[0]
    assert re.search(r"Float32\[\d+\] becomes a tensor Float32\[\d+\]", error.why)


def test_loop_that_grows_a_list() -> None:
    def f(v: Any, n: Any) -> Any:
        out = []
        while n > 0:
            out.append(v)
            n = n - 1
        return out

    error = refusal(f, x(1.0, 2.0, 3.0), Tensor(2))
    assert error.kind is Refusal.TENSOR_CONDITION
    assert error.location is not None


def test_parameter_made_inside() -> None:
    def f(v: Any) -> Any:
        w = Parameter(Tensor([1.0, 1.0, 1.0]), name="w")
        return v * w

    error = refusal(f)
    assert error.kind is Refusal.STATE_CREATED
    assert "Parameter" in error.why
    assert error.location is not None
    assert error.location.line == place_of(f, "w = Parameter")[0]


def test_a_refusal_is_a_runtime_error() -> None:
    assert issubclass(Unsupported, RuntimeError)


def test_a_refused_function_keeps_nothing() -> None:
    log: list[int] = []

    def f(v: Any) -> Any:
        log.append(1)
        return v.asnumpy()

    jitted = jit(f, fullgraph=True)
    with pytest.raises(Unsupported):
        jitted(x(1.0, 2.0, 3.0))
    assert log == []
    assert not any(jitted.compiled.entries.values())


def test_a_refused_function_still_runs_eagerly() -> None:
    def f(v: Any) -> Any:
        return v.asnumpy() * 2

    with pytest.raises(Unsupported):
        jit(f, fullgraph=True)(x(1.0, 2.0, 3.0))
    np.testing.assert_allclose(f(x(1.0, 2.0, 3.0)), [2.0, 4.0, 6.0])


def test_a_refusal_in_a_branch_is_not_an_exception_of_the_program() -> None:
    def f(v: Any) -> Any:
        try:
            if v.sum() > 0:
                v = Tensor(v.asnumpy())
        except RuntimeError:
            v = v * 100
        return v

    refusal(f)


def test_endless_recursion_is_a_recursion_error() -> None:
    def f(v: Any) -> Any:
        return f(v + 1)

    with pytest.raises(RecursionError):
        jit(f)(x(1.0, 2.0, 3.0))


def test_recursion_whose_depth_depends_on_a_tensor() -> None:
    def f(v: Any) -> Any:
        if v.sum() > 100:
            return v
        return f(v * 2)

    assert_close = np.testing.assert_allclose
    assert_close(jit(f)(x(1.0, 2.0, 3.0)).asnumpy(), f(x(1.0, 2.0, 3.0)).asnumpy())


def test_a_loop_that_only_tensors_end_is_not_unrolled() -> None:
    seen: list[Any] = []

    def f(x: Tensor) -> Tensor:
        for _ in range(int(x.argmax()) + 1):
            if x.min() > 2.5:
                break
            seen.append(x > 0)  # which no loop of the graph can carry
            x = x * 2
        return x

    compiled = jit(f)
    runs = []
    original = Branches.run_side

    def counted(*args: Any) -> Any:
        runs.append(args[2])
        return original(*args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Branches, "run_side", counted)
        for values in ([1.0, 3.0, 2.0], [1.0, 2.0, 3.0], [5.0, 4.0, 3.0]):
            assert str(compiled(Tensor(values))) == str(f(Tensor(values)))
    assert 0 < len(runs) < 100
