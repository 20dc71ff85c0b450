"""`try`, `except`, `else`, `finally`, `with`, `raise`: under Python conditions and under tensor conditions."""

from __future__ import annotations

import contextlib
from typing import Any

from tests.helpers.programs import case
from tests.helpers.values import f32, i64

X = [f32(1.0, 2.0, -0.5), f32(-1.0, -2.0, 0.5)]
N = [(f32(0.5, 1.5), i64(3)), (f32(0.5, 1.5), i64(0))]


class OwnError(ValueError):
    def __init__(self, code: int) -> None:
        super().__init__(f"code {code}")
        self.code = code


class Recorder:
    def __init__(self, log: list[str], swallow: bool = False) -> None:
        self.log, self.swallow = log, swallow

    def __enter__(self) -> Recorder:
        self.log.append("enter")
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool:
        self.log.append("exit" if kind is None else f"exit {kind.__name__}: {error}")
        return self.swallow


@case(X)
def try_without_error(x: Any) -> Any:
    try:
        y = x * 2
    except ValueError:
        y = x * 0
    else:
        y = y + 1
    finally:
        y = y * 10
    return y


@case(X, second_order=True)
def caught_python_error(x: Any) -> Any:
    try:
        k = {"a": 1}["b"]
    except KeyError as error:
        k = len(error.args)
    return x * x * k


@case(X)
def error_types_in_order(x: Any) -> Any:
    out = []
    for bad in (ZeroDivisionError("z"), TypeError("t"), OwnError(3)):
        try:
            raise bad
        except (ZeroDivisionError, TypeError) as error:
            out.append(str(error))
        except OwnError as error:
            out.append(error.code)
    return x, out


@case(X)
def finally_runs_on_return(x: Any) -> Any:
    log = []

    def f() -> Any:
        try:
            return x * 2
        finally:
            log.append("finally")

    return f(), log


@case(X)
def reraise_and_cause(x: Any) -> Any:
    try:
        try:
            int("x")
        except ValueError as error:
            raise OwnError(5) from error
    except OwnError as outer:
        return x * outer.code, type(outer.__cause__).__name__


@case(X)
def bare_raise(x: Any) -> Any:
    try:
        try:
            raise OwnError(2)
        except OwnError:
            raise
    except ValueError as error:
        return x, str(error)


@case([(f32(1.0, 2.0), 1), (f32(1.0, 2.0), -1)])
def raise_on_python_condition(x: Any, k: int) -> Any:
    if k < 0:
        raise ValueError(f"k must not be negative, not {k}")
    return x * k


@case([f32(1.0, 2.0), f32(-1.0, -2.0)])
def raise_on_tensor_condition(x: Any) -> Any:
    if x.sum() < 0:
        raise ValueError("negative sum")
    return x * 2


@case([f32(1.0, 2.0), f32(-1.0, -2.0)])
def assert_on_tensor(x: Any) -> Any:
    assert x.sum() > 0, "sum must be positive"
    return x * 3


@case([f32(1.0, 2.0), f32(-1.0, -2.0), f32(90.0, 90.0)])
def two_raises_on_tensors(x: Any) -> Any:
    if x.sum() < 0:
        raise ValueError("too small")
    elif x.sum() > 100:
        raise OverflowError("too large")
    return x * 2


@case([f32(1.0, 2.0), f32(-1.0, -2.0)])
def tensor_raise_caught_inside(x: Any) -> Any:
    try:
        if x.sum() < 0:
            raise ValueError("negative")
        y = x * 2
    except ValueError:
        y = x * 10
    return y + 1


@case([f32(1.0, 2.0), f32(-1.0, -2.0)])
def tensor_raise_in_helper_caught(x: Any) -> Any:
    def check(v: Any) -> Any:
        if v.sum() < 0:
            raise OwnError(4)
        return v

    try:
        y = check(x)
    except OwnError as error:
        return x * error.code
    return y


@case([(f32(0.5, 1.5), i64(3)), (f32(0.5, 1.5), i64(9))])
def raise_inside_tensor_loop(x: Any, n: Any) -> Any:
    i = 0
    while i < n:
        if i > 5:
            raise RuntimeError("too many iterations")
        x = x * 1.5
        i += 1
    return x


@case(X)
def with_user_context(x: Any) -> Any:
    log: list[str] = []
    with Recorder(log) as a, Recorder(log):
        y = x * 2
        a.log.append("body")
    return y, log


@case(X)
def with_swallows(x: Any) -> Any:
    log: list[str] = []
    with Recorder(log, swallow=True):
        x = x * 2
        raise KeyError("inside")
    return x, log


@case(X)
def with_return_inside(x: Any) -> Any:
    log: list[str] = []

    def f() -> Any:
        with Recorder(log):
            return x * 3

    return f(), log


@case(X)
def with_tensor_branch_inside(x: Any) -> Any:
    log: list[str] = []
    with Recorder(log):
        if x.sum() > 0:
            x = x * 2
        else:
            x = x - 1
    return x, log


@case(X)
def suppress_and_nullcontext(x: Any) -> Any:
    y = x
    with contextlib.suppress(KeyError):
        y = y * 2
        {}["missing"]
        y = y * 100
    with contextlib.nullcontext(y) as z:
        return z + 1


@case(X)
def exit_stack(x: Any) -> Any:
    log: list[str] = []
    with contextlib.ExitStack() as stack:
        stack.enter_context(Recorder(log))
        stack.callback(log.append, "callback")
        y = x * 2
    return y, log


@case(X)
def error_from_wrong_shape(x: Any) -> Any:
    return x.reshape((2, 2))


@case(X)
def error_caught_from_operation(x: Any) -> Any:
    try:
        return x.reshape((7, 7))
    except ValueError:
        return x * 2


@case(X)
def python_error_of_the_program(x: Any) -> Any:
    values = [x]
    return values[3]


@case(X)
def attribute_error_of_the_program(x: Any) -> Any:
    return x.no_such_method()


@case(X)
def unbound_name(x: Any) -> Any:
    if x.ndim > 5:
        y = x
    return y


@case(X)
def unbound_name_on_one_tensor_path(x: Any) -> Any:
    if x.sum() > 0:
        y = x * 2
    return y


@case(X)
def try_in_python_loop(x: Any) -> Any:
    done = 0
    for key in ("a", "b", "c"):
        try:
            x = x * {"a": 2, "c": 3}[key]
        except KeyError:
            continue
        finally:
            done += 1
    return x, done


@case(N)
def try_finally_in_tensor_loop(x: Any, n: Any) -> Any:
    while n > 0:
        try:
            x = x * 2
        finally:
            n = n - 1
    return x


@case(X)
def exception_group(x: Any) -> Any:
    try:
        raise ExceptionGroup("several", [ValueError("a"), TypeError("b")])
    except* ValueError as group:
        k = len(group.exceptions)
    except* TypeError:
        k = 10
    return x * k


@case(X)
def ambiguous_truth(x: Any) -> Any:
    if x > 0:
        return x
    return x * 2


@case(X)
def ambiguous_truth_in_list_index(x: Any) -> Any:
    return [x, 1].index(1)


@case(X)
def tensor_error_in_finally_order(x: Any) -> Any:
    log = []
    try:
        log.append("try")
        if x.sum() > 0:
            log.append("positive")
            raise ValueError("stop")
    except ValueError:
        log.append("except")
    finally:
        log.append("finally")
    return log, x


@case([(f32(1, 2),), (f32(-3, 2),), (f32(-30, 2),), (f32(30, 2),)])
def one_exception_for_two(x: Any) -> Any:
    if x.sum() > 0:
        error = KeyError("a", x.sum().item())
        y = x
    else:
        error = KeyError("a", x.min().item())
        y = -x
    try:
        if y.sum() > 4:
            raise error
        y = y + 1
    except KeyError as caught:
        y = y * caught.args[1]
    return y
