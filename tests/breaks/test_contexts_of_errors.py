"""What a program writes into an exception from outside, and reads again, before and after a break."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import weft
from tests.helpers.compiled import compiler
from weft import Tensor


class Early(Exception):
    pass


class Late(RuntimeError):
    pass


@contextlib.contextmanager
def replacing() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise Late("new") from error


@contextlib.contextmanager
def forgetting() -> Iterator[None]:
    try:
        yield
    except BaseException:
        error = Early("no context")
        try:
            raise error
        finally:
            error.__context__ = None


@contextlib.contextmanager
def passing() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise error


@weft.jit_disable
def in_python() -> None:
    """A call that ends the graph."""


def failing() -> None:
    raise ValueError("callback")


def stacked(*managers: Callable[[], Any]) -> Callable[[Tensor], Any]:
    def program(x: Tensor) -> Any:
        try:
            with contextlib.ExitStack() as stack:
                for manager in managers:
                    stack.enter_context(manager())
                stack.callback(failing)
                raise Late("first")
        except Exception as error:
            chain, seen = [], error
            while seen is not None and len(chain) < 9:
                chain.append((type(seen).__name__, seen.args, type(seen.__cause__).__name__, seen.__suppress_context__))
                seen = seen.__context__  # type: ignore[assignment]
            return x * 2, chain

    return program


def written(x: Tensor, error: BaseException) -> Any:
    """Writes all that an exception has, and reads it after a call that runs in Python."""
    before = error.args, error.__cause__, error.__context__
    error.__context__, error.__cause__, error.args = KeyError(1), None, (*error.args, 1)
    y = x * len(error.args)
    in_python()
    now = type(error.__context__).__name__, error.__cause__, error.__suppress_context__, error.args
    error.__context__ = None
    return y, before, now, error.__context__


PROGRAMS = {
    "one": (),
    "replacing": (replacing,),
    "forgetting": (forgetting,),
    "passing": (passing,),
    "all": (replacing, passing, forgetting),
    "twice": (passing, replacing, replacing),
}


def shown(value: Any) -> Any:
    return value.asnumpy().tolist() if isinstance(value, Tensor) else [shown(i) for i in value] if isinstance(
        value, tuple
    ) else repr(value)  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("mode", ["PIJit", "auto"])
def test_chains_through_exit_stacks(name: str, mode: str) -> None:
    program = stacked(*PROGRAMS[name])
    compiled = compiler(mode)(program)
    for _ in range(3):
        assert shown(compiled(Tensor([1.0]))) == shown(program(Tensor([1.0])))


def test_what_is_written_is_read_again() -> None:
    compiled = weft.jit(written, mode="PIJit")
    errors = [ValueError("a"), ValueError("a")]
    for _ in range(4):
        results = [shown(f(Tensor([1.0]), error)) for f, error in zip((written, compiled), errors, strict=True)]
        assert results[0] == results[1]
        assert errors[0].args == errors[1].args
