"""An exception is on its way through `finally`, a handler or `__exit__` where a branch on a tensor raises another."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tests.helpers.outcomes import chain_of
from weft import Tensor, jit

POLICIES: dict[str, Callable[[Any], Any]] = {"auto": jit, "PIJit": functools.partial(jit, mode="PIJit")}


def finally_raises(x: Any, k: int) -> Any:
    try:
        if x.sum() > 0:
            raise ValueError(k)
    finally:
        if x.sum() > 5:
            raise KeyError(k + 1)
    return k


def handler_raises(x: Any, k: int) -> Any:
    try:
        if x.sum() > 0:
            raise ValueError("v", k)
    except ValueError as error:
        if x.sum() > 5:
            raise
        if x.sum() > 2:
            raise KeyError(k) from error
    return k


@contextlib.contextmanager
def with_finally(x: Any, k: int) -> Iterator[int]:
    try:
        yield k
    finally:
        if x.sum() > 5:
            raise KeyError(k + 1)


@contextlib.contextmanager
def with_handler(x: Any, k: int) -> Iterator[int]:
    try:
        yield k
    except ValueError:
        if x.sum() > 5:
            raise KeyError(k + 1)  # noqa: B904
        raise


class Exit:
    def __init__(self, x: Any, k: int) -> None:
        self.x, self.k = x, k

    def __enter__(self) -> int:
        return self.k

    def __exit__(self, *error: Any) -> bool:
        if self.x.sum() > 5:
            raise KeyError(self.k)
        return bool(self.x.sum() > 3)


def manager(kind: Callable[[Any, int], Any]) -> Callable[[Any, int], Any]:
    def inside(x: Any, k: int) -> Any:
        with kind(x, k) as given:
            if x.sum() > 0:
                raise ValueError(given)
        return k

    return inside


def error_in_error(x: Any, k: int) -> Any:
    try:
        try:
            raise ValueError(k)
        finally:
            if x.sum() > 5:
                raise KeyError(k)
    except KeyError as error:
        raise TypeError(k) from error


def after_a_break(x: Any, k: int) -> Any:
    try:
        raise ValueError(k)
    finally:
        y = np.asarray(x.asnumpy())
        if x.sum() > 5:
            raise KeyError(k, y.shape)


PROGRAMS = {
    "finally": finally_raises,
    "handler": handler_raises,
    "contextmanager finally": manager(with_finally),
    "contextmanager handler": manager(with_handler),
    "__exit__": manager(Exit),
    "error in error": error_in_error,
    "after a break": after_a_break,
}


def seen(function: Callable[[Any, int], Any], x: Any, k: int) -> Any:
    try:
        return "returned", function(x, k)
    except Exception as error:
        return chain_of(error, __file__)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_that_of_the_call(name: str, policy: str) -> None:
    program = PROGRAMS[name]
    compiled = POLICIES[policy](program)
    for k, value in enumerate((-1.0, 1.0, 2.0, 3.0, 4.0, 1.0, 3.0, -1.0)):
        x = Tensor(np.full(2, value, np.float32))
        expected, found = seen(program, x, k), seen(compiled, x, k)
        # the outermost place is the test's own
        assert without_own_place(found) == without_own_place(expected), (k, value)


def without_own_place(chain: Any) -> Any:
    if isinstance(chain, tuple):
        return chain
    return [(kind, text, [place for place in places if place[0] != "seen"]) for kind, text, places in chain]
