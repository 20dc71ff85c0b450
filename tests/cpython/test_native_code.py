"""Programs that leave objects to native code, which CPython's tests showed to be different once."""

from __future__ import annotations

import functools
import itertools
import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.cpython.test_pure_programs import outcome
from weft import jit


def divided_iterator() -> Any:
    a, b = itertools.tee([1, 2, 3])
    next(b)
    c, d = itertools.tee(b)
    return list(a), (c is b) == (itertools.tee(b)[0] is b), list(d), list(type(a)(c))


def native_object_that_holds_a_closure() -> Any:
    def compare(x: Any, y: Any) -> Any:
        calls.append((x, y))
        return x - y

    calls: list[Any] = []
    key = functools.cmp_to_key(compare)
    items = [2, 1]
    random.Random(1).random()
    items.sort(key=key)
    return items, calls


def group_of_made_keys() -> Any:
    class Key:
        def __init__(self, value: Any) -> None:
            pass

        def __eq__(self, other: Any) -> Any:
            nonlocal compared
            compared += 1
            return True

        __hash__ = None  # type: ignore[assignment]

    compared = 0
    group = next(itertools.groupby(range(3), Key))[1]
    return list(group), compared


def arrays_of_native_calls() -> Any:
    made = [np.zeros(2), json.loads("[[1]]")]
    kept, made[0][0] = str(made), random.Random(1).random()
    made[1][0].append(2)
    return kept, made[1]


PROGRAMS = [
    divided_iterator, native_object_that_holds_a_closure, group_of_made_keys, arrays_of_native_calls,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_program_does_what_python_does(program: Callable[[], Any]) -> None:
    wanted = outcome(program)
    jitted = jit(program, mode="PIJit")
    assert [outcome(jitted), outcome(jitted)] == [wanted, wanted]
