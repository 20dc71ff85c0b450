"""One object reached in several ways, and texts of tensors: compiled code has the values and effects of eager code."""

from __future__ import annotations

import contextlib
import functools
import io
from collections.abc import Callable
from typing import Any

import numpy as np
import object_programs
import pytest
import text_programs

from weft import Tensor, nn
from weft.jit import jit

WAYS = {"jit": jit, "PIJit": functools.partial(jit, mode="PIJit")}


def result_of(function: Callable[..., Any], *args: Any) -> Any:
    try:
        return object_programs.show(function(*args))
    except Exception as error:
        return type(error).__name__, str(error)


def given(number: int) -> Tensor:
    return Tensor(np.array([1.0, 2.0], np.float32) * (number % 3))


def on_an_object(function: Callable[..., Any], kind: type) -> list[Any]:
    """What four calls return and leave behind, with changes from outside in between."""
    found, obj = [], kind()
    for number in (0, 1, 2, 3):
        if number == 2:
            with contextlib.suppress(Exception):
                object.__setattr__(obj, "n", 50)
        if number == 3:
            obj = kind()
        found.append((result_of(function, obj, given(number), number), object_programs.state(obj)))
    if "zz" in kind.__dict__:
        del kind.zz  # type: ignore[attr-defined]
    return found


SEVERAL = [
    (program, object_programs.KINDS[(place + 4 * turn) % len(object_programs.KINDS)])
    for place, program in enumerate(object_programs.ON_AN_OBJECT)
    for turn in range(3)
]
#: what the C code of a Cell needs of itself is not the program's to take away
EVERY = [(p, k) for p in object_programs.ON_AN_OBJECT for k in object_programs.KINDS if (p, k) not in SEVERAL]


def case_id(value: Any) -> str:
    return str(value.__name__)


@pytest.mark.parametrize(("program", "kind"), SEVERAL, ids=case_id)
def test_attributes_and_dict_are_one(program: Callable[..., Any], kind: type) -> None:
    assert on_an_object(jit(program), kind) == on_an_object(program, kind)


@pytest.mark.slow
@pytest.mark.parametrize(("program", "kind"), EVERY, ids=case_id)
def test_attributes_and_dict_are_one_for_every_class(program: Callable[..., Any], kind: type) -> None:
    assert on_an_object(jit(program), kind) == on_an_object(program, kind)


def on_the_module(function: Callable[..., Any]) -> list[Any]:
    object_programs.reset()
    found = []
    for number in (0, 1, 2, 3):
        if number == 2:
            object_programs.Sh.k = 9
            object_programs.P1.__dict__["k"] = 4
            object_programs.PM.__dict__["abc"] = 50
        if number == 3:
            object_programs.H.__dict__["n"] = 7
        found.append((result_of(function, given(number), number), object_programs.snapshot()))
    object_programs.H.__dict__["n"] = 1
    return found


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("program", object_programs.ON_THE_MODULE, ids=case_id)
def test_hooks_names_and_cells(program: Callable[..., Any], way: str) -> None:
    assert on_the_module(WAYS[way](program)) == on_the_module(program)


def text_of(value: Any) -> Any:
    if isinstance(value, (str, bytes)):
        return value
    return [text_of(part) for part in value] if isinstance(value, (list, tuple)) else object_programs.show(value)


def texts_of(function: Callable[..., Any]) -> list[Any]:
    """What four calls return, log and print."""
    text_programs.LOGS.clear()
    found = []
    for number in (1, 1, 2, 3):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            try:
                result = text_of(function(Tensor(np.array([1.0, 2.0], np.float32) * number)))
            except Exception as error:
                result = type(error).__name__, str(error)
        found.append((result, text_programs.LOGS[:], printed.getvalue()))
    return found


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("program", text_programs.TEXTS, ids=case_id)
def test_texts(program: Callable[..., Any], way: str) -> None:
    wanted = texts_of(program)
    assert "symbolic" not in str(wanted)
    assert texts_of(WAYS[way](program)) == wanted


def test_a_text_that_is_only_passed_on_stays_in_the_graph() -> None:
    @jit(fullgraph=True)
    def f(x: Any) -> Any:
        y = x * 2
        return f"{y!r}", "%s" % (y,), repr([y, {"a": y}]), f"{y} and {(y,)!r}", str(ValueError(y))

    def g(x: Any) -> Any:
        y = x * 2
        return f"{y!r}", "%s" % (y,), repr([y, {"a": y}]), f"{y} and {(y,)!r}", str(ValueError(y))

    for number in (1, 2):
        assert f(given(number)) == g(given(number))


class Switched(nn.Cell):
    """A Cell that overrides how its attributes are set."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []

    def __setattr__(self, name: str, value: Any) -> None:
        if "told" in self.__dict__:
            self.told.append(name)
        super().__setattr__(name, value)

    def construct(self, x: Any) -> Any:
        self.scale = x.shape[0]
        return x * self.scale


def test_an_override_of_setattr_runs_once_a_call() -> None:
    cell = Switched()
    compiled = jit(cell.construct)
    for number in (1, 2, 3):
        compiled(given(number))
        assert cell.told == ["scale"] * number


def test_attributes_written_in_several_ways_stay_in_the_graph() -> None:
    def f(obj: Any, x: Any) -> Any:
        obj.a = x
        obj.__dict__["b"] = 3
        vars(obj).update(c=x * 2)
        setattr(obj, "d-e", 1)
        object.__setattr__(obj, "f", x)
        del obj.__dict__["a"]
        return obj.b + obj.c + getattr(obj, "d-e") + obj.__dict__["f"]

    compiled = jit(f, fullgraph=True)
    for number in (1, 2):
        one, other = object_programs.Plain(), object_programs.Plain()
        assert result_of(compiled, one, given(number)) == result_of(f, other, given(number))
        assert object_programs.state(one) == object_programs.state(other)
