"""Exceptions that leave a compiled function, with breaks before, in the `try` and in the handler."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import weft
from tests.helpers.sources import is_frameworks
from weft import jit, nn
from weft.core.tensor import Tensor


class Custom(Exception):
    def __init__(self, code: int, note: str = "") -> None:
        super().__init__(code, note)
        self.code = code


class Cleanup:
    def __init__(self, log: list[Any], swallow: bool = False) -> None:
        self.log = log
        self.swallow = swallow

    def __enter__(self) -> Cleanup:
        self.log.append("enter")
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        self.log.append(None if kind is None else (kind.__name__, error.args, trace is not None))
        return self.swallow


@contextlib.contextmanager
def noted(log: list[Any]) -> Iterator[None]:
    log.append("begin")
    try:
        yield
    except ValueError as error:
        log.append(error.args)
        raise
    finally:
        log.append("end")


def leave(x: Any) -> float:
    return float(np.sum(x.asnumpy()))


def fail(x: Any, log: list[Any]) -> Any:
    log.append(x.shape)
    raise ValueError("failed", len(log))


def deep(x: Any, log: list[Any], levels: int) -> Any:
    if not levels:
        leave(x)
        return fail(x * 2, log)
    return deep(x + 1, log, levels - 1) * 2


def plain_raise(x: Any, log: list[Any]) -> Any:
    log.append(x * 2)
    log.pop()
    raise Custom(3, "no")


def after_break(x: Any, log: list[Any]) -> Any:
    y = x * leave(x)
    log.append(1)
    raise Custom(int(y.shape[0]))


def in_callee(x: Any, log: list[Any]) -> Any:
    return fail(x, log) + 1


def in_deep_callee(x: Any, log: list[Any]) -> Any:
    y = x * 2
    return deep(y, log, 3)


def from_python(x: Any, log: list[Any]) -> Any:
    y = x * leave(x)
    return y + {"a": 1}["b"]


def index_in_graph(x: Any, log: list[Any]) -> Any:
    items = [x * 2]
    return items[len(x.shape) + 2]


def raised_from(x: Any, log: list[Any]) -> Any:
    try:
        fail(x * 2, log)
    except ValueError as error:
        raise Custom(1) from error


def raised_from_with_break_in_handler(x: Any, log: list[Any]) -> Any:
    try:
        fail(x * 2, log)
    except ValueError as error:
        log.append(leave(x) > 0)
        raise Custom(1) from error


def raised_from_none(x: Any, log: list[Any]) -> Any:
    try:
        fail(x * 2, log)
    except ValueError:
        leave(x)
        raise Custom(1) from None


def while_handling(x: Any, log: list[Any]) -> Any:
    try:
        fail(x * 2, log)
    except ValueError:
        y = x * leave(x)
        return y + log["no index"]  # type: ignore[call-overload]


def bare_raise(x: Any, log: list[Any]) -> Any:
    try:
        return fail(x * 2, log)
    except ValueError:
        log.append("handled")
        raise


def bare_raise_after_break(x: Any, log: list[Any]) -> Any:
    try:
        return deep(x, log, 2)
    except ValueError:
        log.append(leave(x) > 0)
        raise


def bare_raise_in_callee(x: Any, log: list[Any]) -> Any:
    def again() -> None:
        log.append(leave(x) > 0)
        raise

    try:
        fail(x, log)
    except ValueError:
        again()


def through_finally(x: Any, log: list[Any]) -> Any:
    try:
        y = x * 2
        try:
            fail(y, log)
        finally:
            log.append(leave(y) > 0)
    finally:
        log.append("out")


def through_with(x: Any, log: list[Any]) -> Any:
    with Cleanup(log), noted(log):
        y = x * leave(x)
        fail(y, log)


def through_with_break_outside(x: Any, log: list[Any]) -> Any:
    with noted(log):
        with Cleanup(log):
            fail(x, log)
        leave(x)


def swallowed_then_raised(x: Any, log: list[Any]) -> Any:
    with Cleanup(log, True):
        fail(x * leave(x), log)
    raise Custom(len(log))


def in_loop(x: Any, log: list[Any]) -> Any:
    for i in range(5):
        x = x * leave(x)
        try:
            if i == 3:
                raise Custom(i)
        except Custom as error:
            error.code += 1
            log.append(error.code)
            raise
        finally:
            log.append(i)


def group(x: Any, log: list[Any]) -> Any:
    found = []
    for i in range(3):
        try:
            raise (ValueError, TypeError, KeyError)[i](i)
        except (ValueError, TypeError, KeyError) as error:
            found.append(error)
    leave(x)
    try:
        raise ExceptionGroup("several", found)
    except* ValueError as errors:
        log.append([str(e) for e in errors.exceptions])
        leave(x)


def in_generator(x: Any, log: list[Any]) -> Any:
    def pieces() -> Iterator[Any]:
        try:
            yield x * 2
            leave(x)
            raise Custom(7)
        finally:
            log.append("closed")

    for piece in pieces():
        log.append(piece.shape)


def in_comprehension(x: Any, log: list[Any]) -> Any:
    return [fail(x * i, log) if i == 2 else leave(x) for i in range(4)]


def kept_and_raised(x: Any, log: list[Any]) -> Any:
    kept = None
    try:
        fail(x, log)
    except ValueError as error:
        kept = error
    leave(x)
    raise kept


def on_tensor_condition(x: Any, log: list[Any]) -> Any:
    y = x * 2
    if y.sum() > 0:
        raise Custom(1, "positive")
    return y


def in_finally_of_tensor_condition(x: Any, log: list[Any]) -> Any:
    try:
        return fail(x, log)
    finally:
        if x.sum() > 0:
            log.append("positive")
        else:
            log.append("negative")


def unbound(x: Any, log: list[Any]) -> Any:
    if leave(x) < -100:
        y = x
    return y * 2


def wrong_format_of_a_tensor(x: Any, log: list[Any]) -> Any:
    log.append("before")
    log.append(f"{x.sum():.1f}")
    log.append(f"{x.sum():03d}")


def wrong_format_of_a_number(x: Any, log: list[Any]) -> Any:
    log.append("before")
    log.append(format(int(x.sum()), "s"))


PROGRAMS: list[Callable[[Any, list[Any]], Any]] = [
    plain_raise, after_break, in_callee, in_deep_callee, from_python, index_in_graph, raised_from,
    raised_from_with_break_in_handler, raised_from_none, while_handling, bare_raise, bare_raise_after_break,
    bare_raise_in_callee, through_finally, through_with, through_with_break_outside, swallowed_then_raised, in_loop,
    group, in_generator, in_comprehension, kept_and_raised, on_tensor_condition, in_finally_of_tensor_condition,
    unbound, wrong_format_of_a_number,
]  # fmt: skip


def described(error: BaseException | None) -> Any:
    """Everything that Python notes in an exception, with the frames of this file and of contextlib."""
    if error is None:
        return None
    frames = [
        (frame.name, frame.lineno, frame.colno, frame.end_colno)
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == __file__ and frame.name != "run"
    ]
    parts = [described(part) for part in error.exceptions] if isinstance(error, BaseExceptionGroup) else []
    return (
        type(error), error.args if not parts else error.message, vars(error), frames, parts,
        described(error.__cause__), described(error.__context__), error.__suppress_context__,
    )  # fmt: skip


def run(function: Callable[..., Any]) -> tuple[Any, list[Any], BaseException]:
    """Call a program that raises; what it raised, and the state that it left."""
    log: list[Any] = []
    try:
        function(Tensor(np.array([1.0, 2.0], np.float32)), log)
    except Exception as error:
        return described(error), log, error
    raise AssertionError("the program raises nothing")


class Holder(nn.Cell):  # type: ignore[misc]
    """A Cell that calls a program."""

    def __init__(self, program: Callable[..., Any]) -> None:
        super().__init__()
        self.program = program

    def construct(self, x: Any, log: list[Any]) -> Any:
        return self.program(x, log)


class Called:
    """An object that calls a program."""

    def __init__(self, program: Callable[..., Any]) -> None:
        self.program = program

    def __call__(self, x: Any, log: list[Any]) -> Any:
        return self.program(x, log)


HOLDERS: list[Callable[[Any], Any]] = [lambda program: program, Holder, Called]


@pytest.mark.parametrize("holder", HOLDERS, ids=["function", "Cell", "object"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_exceptions_are_those_of_python(program: Callable[..., Any], holder: Callable[[Any], Any]) -> None:
    wanted, wanted_log, _ = run(holder(program))
    compiled = jit(holder(program))
    for _ in range(3):
        found, log, error = run(compiled)
        assert found == wanted
        assert log == wanted_log
        files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
        inner = files[files.index(__file__, 1) :]
        assert [file for file in inner if is_frameworks(file) or file.startswith("<")] == []


def test_a_wrong_format_of_a_tensor_is_met_in_its_place() -> None:
    compiled = jit(wrong_format_of_a_tensor)
    for _ in range(2):
        assert run(compiled)[1] == run(wrong_format_of_a_tensor)[1] == ["before", "3.0"]


def _fails(x: Any) -> Any:
    if x.shape[0] == 3:
        raise ValueError("three")
    return x


def _fails_in_python(x: Any) -> Any:
    return (x + 1).asnumpy()[7]


def _fails_on_a_side(x: Any) -> Any:
    if x.sum() > 0:
        raise KeyError("positive")
    return x


class _Failing(nn.Cell):
    def construct(self, x: Any) -> Any:
        return _fails(x * 2)


def _places(call: Callable[[Any], Any]) -> list[tuple[str, str]]:
    with pytest.raises((ValueError, KeyError, IndexError)) as raised:
        call(Tensor([1.0, 1.0, 1.0]))
    entries = traceback.extract_tb(raised.value.__traceback__)
    return [(entry.filename, entry.name) for entry in entries if entry.filename != nn.cell.__file__]


@pytest.mark.parametrize("function", [_fails, _fails_in_python, _fails_on_a_side, _Failing()])
def test_tracebacks_are_the_users(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the caller and the program nothing of the runtime is shown, the first time and later."""
    wanted = _places(function)
    compiled = function if isinstance(function, nn.Cell) else jit(function)
    before = weft.get_context("mode")
    weft.set_context(mode=weft.GRAPH_MODE)
    try:
        assert [_places(compiled), _places(compiled)] == [wanted, wanted]
        monkeypatch.setenv("WEFT_TRACEBACK", "full")
        assert any(is_frameworks(file) for file, _ in _places(compiled))
    finally:
        weft.set_context(mode=before)


def test_an_unbound_variable_that_inner_functions_share() -> None:
    def f(x: Any, items: str) -> Any:
        out = [y for item in items if (y := x * len(item)) is not None]
        return out, y

    compiled = weft.jit(f)
    for items in ("ab", "", "a", ""):
        try:
            wanted = str(f(Tensor([1.0]), items))
        except NameError as error:
            wanted = repr((error, error.__context__))
        try:
            found = str(compiled(Tensor([1.0]), items))
        except NameError as error:
            found = repr((error, error.__context__))
        assert found == wanted
