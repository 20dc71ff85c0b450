"""`ops.Custom`: functions of NumPy and JAX as operators, eagerly and in graphs."""

from __future__ import annotations

import contextlib
import copy
import threading
import traceback
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from tests.helpers.compiled import compiler, entries
from weft import Parameter, Tensor, dtypes, grad, jit, nn, ops, vmap
from weft.testing import assert_no_breaks

MODES = pytest.mark.parametrize("mode", ("eager", "auto"))
X = np.array([1.0, 2.0], np.float32)
SCALE = 3.0
TABLE = np.array([1.0, 10.0], np.float32)
SEEN: list[Any] = []


def cube(x: Any) -> Any:
    return x**3


def weighted(x: Any, y: Any) -> Any:
    out = np.zeros_like(x)
    for i in range(x.shape[0]):
        out[i] = x[i] * y[i] * np.float32(SCALE)
    return out


def pair(x: Any, count: int) -> Any:
    return x + np.float32(count), (x * 2).sum()


def limited(x: Any) -> Any:
    if x.sum() > 10:
        raise KeyError("too large", float(x.sum()))
    return x + 1


def noting(x: Any) -> Any:
    SEEN.append(float(x.sum()))
    return x


def same(*kinds: Any) -> Any:
    return kinds[0]


CUBE = ops.Custom(cube, same, same, bprop=lambda x, out, dout: (3 * x * x * dout,))
WEIGHTED = ops.Custom(weighted, (2,), dtypes.float32)
PAIR = ops.Custom(pair, lambda x, count: (x, ()), lambda x, count: (x, x), "pyfunc")
LIMITED = ops.Custom(limited, same, same)
NOTING = ops.Custom(noting, same, same, bprop=lambda x, out, dout: (dout,))
TABLED = ops.Custom(lambda x: x * TABLE, same, same)
SINE = ops.Custom(lambda x, y: jnp.sin(x) * y * SCALE, func_type="jax")
TWO = ops.Custom(lambda x, n: (x * n, [jnp.cos(x)][0]), func_type="jax")


@MODES
def test_values_on_changed_inputs(mode: str) -> None:
    def f(x: Any) -> Any:
        first, total = PAIR(x, 3)
        return CUBE(x) + WEIGHTED(x, x + 1) + first * total + SINE(x, x) + TWO(x, 2)[0] * TWO(x, 3)[1]

    def expected(x: Any) -> Any:
        return x**3 + x * (x + 1) * 3 + (x + 3) * (x * 2).sum() + np.sin(x) * x * 3 + x * 2 * np.cos(x)

    run = compiler(mode)(f)
    for x in (X, X * -0.5, X):
        np.testing.assert_allclose(run(Tensor(x)), expected(x), rtol=1e-5)


def test_it_is_in_the_graph() -> None:
    def f(x: Any) -> Any:
        return CUBE(SINE(x * 2, x)) + PAIR(x, 1)[0]

    run = jit(f)
    with assert_no_breaks():
        for x in (X, X + 1):
            np.testing.assert_allclose(run(Tensor(x)), f(Tensor(x)), rtol=1e-5)
    assert entries(run) == 1


@MODES
def test_derivatives(mode: str) -> None:
    def f(x: Any) -> Any:
        return (CUBE(x) * SINE(x, x)).sum()

    def same_with_operations(x: Any) -> Any:
        return (x * x * x * ops.sin(x) * x * 3).sum()

    for values in (X, X * 0.3):
        x = Tensor(values)
        expected = grad(same_with_operations)(x)
        np.testing.assert_allclose(compiler(mode)(grad(f))(x), expected, rtol=1e-5)
        np.testing.assert_allclose(grad(compiler(mode)(f))(x), expected, rtol=1e-5)
        second = grad(lambda x: grad(compiler(mode)(f))(x).sum())(x)
        np.testing.assert_allclose(second, grad(lambda x: grad(same_with_operations)(x).sum())(x), rtol=1e-4)


@MODES
def test_a_derivative_that_nobody_wrote(mode: str) -> None:
    with pytest.raises(RuntimeError, match=r"Custom\(limited\) has no derivative: give it one"):
        grad(compiler(mode)(lambda x: LIMITED(x).sum()))(Tensor(X))
    with pytest.raises(RuntimeError, match="has no derivative"):
        compiler(mode)(grad(lambda x: LIMITED(x).sum()))(Tensor(X))
    # no gradient goes through it here
    found = grad(compiler(mode)(lambda x: (x * ops.stop_gradient(LIMITED(x))).sum()))(Tensor(X))
    np.testing.assert_array_equal(found, X + 1)


@MODES
def test_errors_reach_the_caller_as_they_are(mode: str, capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        print("before", x)
        y = LIMITED(x)
        print("after", y)
        return ops.while_loop(lambda v: v.sum() < 100, lambda v: v * 2, y)

    run = compiler(mode)(f)
    assert run(Tensor(X)).asnumpy().tolist() == [64.0, 96.0]
    assert capsys.readouterr().out == "before [1. 2.]\nafter [2. 3.]\n"
    for _ in range(2):
        with pytest.raises(KeyError) as caught:
            run(Tensor(X * 5))
        assert caught.value.args == ("too large", 15.0)
        names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
        assert names[-2:] == ["f", "limited"] if mode == "auto" else names[-1] == "limited"
        captured = capsys.readouterr()
        assert (captured.out, captured.err) == ("before [ 5. 10.]\n", "")
    assert run(Tensor(X)).asnumpy().tolist() == [64.0, 96.0]


@MODES
def test_a_function_that_does_more_runs_in_python(mode: str) -> None:
    def f(x: Any) -> Any:
        before = len(SEEN)
        y = NOTING(x * 2)
        return y * len(SEEN) + before

    SEEN.clear()
    run = compiler(mode)(f)
    for count, x in enumerate((X, X + 1, X)):
        np.testing.assert_array_equal(run(Tensor(x)), x * 2 * (count + 1) + count)
    assert SEEN == [6.0, 10.0, 6.0]
    np.testing.assert_array_equal(compiler(mode)(grad(lambda x: f(x).sum()))(Tensor(X)), [8.0, 8.0])


@MODES
def test_what_it_depends_on_is_that_of_the_call(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = compiler(mode)(lambda x: SINE(x, x) + WEIGHTED(x, x) + TABLED(x))
    for scale in (3.0, 4.0, 3.0):
        monkeypatch.setitem(globals(), "SCALE", scale)
        for place in (1.0, 7.0):
            monkeypatch.setitem(globals(), "TABLE", np.array([place, 2.0], np.float32))
            expected = np.sin(X) * X * scale + X * X * scale + X * TABLE
            np.testing.assert_allclose(run(Tensor(X)), expected, rtol=1e-5)


@MODES
def test_in_branches_loops_and_cells(mode: str) -> None:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.cube = CUBE

        def construct(self, x: Any, n: Any) -> Any:
            while n > 0:
                x = self.cube(x) * 0.1
                n = n - 1
            return SINE(x, x) if x.sum() > 0.5 else x

    net = Net()
    run = compiler(mode)(lambda x, n: net(x, n))
    for n in (0, 2):
        expected = X
        for _ in range(n):
            expected = expected**3 * np.float32(0.1)
        if expected.sum() > 0.5:
            expected = np.sin(expected) * expected * 3
        np.testing.assert_allclose(run(Tensor(X), Tensor(n)), expected, rtol=1e-5)


@MODES
def test_a_jax_function_under_vmap(mode: str) -> None:
    rows = np.arange(6, dtype=np.float32).reshape(3, 2)
    found = compiler(mode)(vmap(lambda x: SINE(x, x[0])))(Tensor(rows))
    np.testing.assert_allclose(found, np.sin(rows) * rows[:, :1] * 3, rtol=1e-5)


@MODES
def test_results_that_are_not_what_was_declared(mode: str) -> None:
    run = compiler(mode)
    wrong = {
        "returned an array of shape": ops.Custom(lambda x: x, (3,), dtypes.float32),
        "returned an array of float64, but out_dtype is Float32": ops.Custom(
            lambda x: x.astype(np.float64), same, same
        ),
        "returned 2 results, but out_dtype has 1": ops.Custom(lambda x: (x, x), [(2,)], [dtypes.float32]),
        "returned a ndarray": ops.Custom(lambda x: x, [(2,)], [dtypes.float32]),
        "different numbers of results": ops.Custom(lambda x: x, [(2,), (2,)], [dtypes.float32]),
        "a tuple or list of ints": ops.Custom(lambda x: x, 2, dtypes.float32),
    }
    for message, custom in wrong.items():
        with pytest.raises((TypeError, ValueError), match=message):
            run(lambda x, custom=custom: custom(x))(Tensor(X))
    number = ops.Custom(lambda x: 2, (), dtypes.float32)  # Python numbers take the type
    assert run(lambda x: number(x) + x)(Tensor(X)).asnumpy().tolist() == [3.0, 4.0]


def test_what_is_refused_at_once() -> None:
    for kind in ("aot", "hybrid", "akg", "tbe", "aicpu", "julia"):
        with pytest.raises(ValueError, match=f"func_type='{kind}'.*do not run here"):
            ops.Custom("./add.so:CustomAdd", same, same, kind)
    with pytest.raises(ValueError, match="func_type is 'pyfunc' or 'jax', not 'other'"):
        ops.Custom(cube, same, same, "other")
    with pytest.raises(TypeError, match="func must be a function, not str"):
        ops.Custom("cube", same, same)
    with pytest.raises(TypeError, match="needs out_shape and out_dtype"):
        ops.Custom(cube)
    with pytest.raises(TypeError, match="bprop must be a function"):
        ops.Custom(cube, same, same, bprop=1)


@MODES
def test_functions_of_the_host_that_compute_with_jax_or_weft(mode: str) -> None:
    jax_inside = ops.Custom(lambda x: np.asarray(jnp.sin(x)), same, same)
    weft_inside = ops.Custom(lambda x: ops.sin(Tensor(x)), same, same)
    run = compiler(mode)(lambda x: jax_inside(x * 2) + weft_inside(x * 2))
    for x in (X, X + 1):
        np.testing.assert_allclose(run(Tensor(x)), 2 * np.sin(2 * x), rtol=1e-5)


@MODES
def test_numbers_that_change(mode: str) -> None:
    run = compiler(mode)(lambda x, n: PAIR(x, n)[0] + TWO(x, n)[0])
    for n in (1, 2, 3, 4, 2, *range(5, 20)):
        np.testing.assert_allclose(run(Tensor(X), n), X + n + X * n, rtol=1e-6)


@MODES
def test_operators_made_in_the_call_and_changed_between_calls(mode: str) -> None:
    def f(x: Any, power: Any) -> Any:
        made = ops.Custom(cube, list(x.shape), x.dtype)
        return made(x) * power

    run = compiler(mode)(f)
    for shape in ((2,), (3,), (2, 2), (2,)):
        x = np.ones(shape, np.float32) * 2
        np.testing.assert_allclose(run(Tensor(x), 2), 16 * np.ones(shape))
    changed = ops.Custom(cube, same, same)
    run = compiler(mode)(lambda x: changed(x))
    for function in (cube, lambda x: x * 2, cube):
        changed.func = function
        np.testing.assert_allclose(run(Tensor(X)), function(X))


@MODES
def test_what_it_depends_on_is_written_in_the_call(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x: Any, factor: Any) -> Any:
        global SCALE
        before = WEIGHTED(x, x) + SINE(x, x)
        SCALE = factor
        return before * 100 + WEIGHTED(x, x) + SINE(x, x)

    monkeypatch.setitem(globals(), "SCALE", 3.0)
    run = compiler(mode)(f)
    scale = 3.0
    for factor in (4.0, 5.0, 5.0, 3.0):
        expected = (X * X + X * np.sin(X)) * (100 * scale + factor)
        np.testing.assert_allclose(run(Tensor(X), factor), expected, rtol=1e-5)
        scale = factor


@MODES
def test_what_was_written_before_an_error_stays_written(mode: str) -> None:
    class Model(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.weight = Parameter(Tensor(X), name="weight")
            self.calls = 0

        def construct(self, x: Any) -> Any:
            self.calls += 1
            SEEN.append(self.calls)
            self.weight.set_data(x)
            y = LIMITED(x)
            self.calls += 1
            return LIMITED(y * 2)

    model = Model()
    run = compiler(mode)(lambda x: model(x))
    SEEN.clear()
    assert run(Tensor(X)).asnumpy().tolist() == [5.0, 7.0]
    calls = 2
    for factor, done in ((5, 1), (2, 2), (1, 2)):
        x = X * factor
        if factor > 1:
            with pytest.raises(KeyError):
                run(Tensor(x))
        else:
            run(Tensor(x))
        calls += done
        assert (model.calls, SEEN[-1]) == (calls, calls - done + 1)
        assert model.weight.asnumpy().tolist() == x.tolist()


@MODES
def test_errors_are_handled_where_the_program_handles_them(mode: str) -> None:
    def handled(x: Any) -> Any:
        try:
            return LIMITED(x)
        except KeyError as error:
            return x * error.args[1]

    def suppressed(x: Any) -> Any:
        y = x
        with contextlib.suppress(KeyError):
            y = handled(x * 0.1) + LIMITED(x)
        return y

    def last(x: Any) -> Any:
        try:
            return LIMITED(x)
        finally:
            SEEN.append("last")

    for f in (handled, suppressed):
        run = compiler(mode)(f)
        for factor in (1, 5, 1, 6):
            np.testing.assert_allclose(run(Tensor(X * factor)), f(Tensor(X * factor)))
    run = compiler(mode)(last)
    SEEN.clear()
    for factor in (1, 5):
        with contextlib.suppress(KeyError):
            run(Tensor(X * factor))
    assert SEEN == ["last", "last"]


@MODES
def test_copies_and_cells_that_hold_them(mode: str) -> None:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.sine, self.cube = SINE, CUBE

        def construct(self, x: Any) -> Any:
            return self.sine(x, x) + self.cube(x)

    net = Net()
    expected = np.sin(X) * X * 3 + X**3
    np.testing.assert_allclose(net(Tensor(X)), expected, rtol=1e-5)
    np.testing.assert_allclose(compiler(mode)(copy.deepcopy(net))(Tensor(X)), expected, rtol=1e-5)


def test_threads_get_their_own_errors() -> None:
    run = jit(lambda x: LIMITED(x * 2) * 2)
    right: list[bool] = []

    def work(i: int) -> None:
        for k in range(15):
            x = np.array([i, k], np.float32)
            try:
                right.append(run(Tensor(x)).asnumpy().tolist() == (4 * x + 2).tolist())
            except KeyError as error:
                right.append(error.args == ("too large", float(2 * (i + k))))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * 45


@MODES
def test_inputs_are_not_written(mode: str) -> None:
    def overwrite(x: Any) -> Any:
        x[0] = 7
        return x

    custom = ops.Custom(overwrite, same, same)
    x = Tensor(X)
    found = compiler(mode)(lambda x: (custom(x), x * 1))(x)
    assert [part.asnumpy().tolist() for part in (*found, x)] == [[7.0, 2.0], [1.0, 2.0], [1.0, 2.0]]
