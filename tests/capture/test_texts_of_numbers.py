"""Texts of numbers that change from call to call: completed by each call, where nobody looks at the characters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, astuple, dataclass, field, fields, replace
from typing import Any

import pytest

import weft
from weft import Tensor


class State:
    def __init__(self) -> None:
        self.step, self.rate, self.tag = 0, 0.1, ""


def _printed(state: State, x: Any) -> Any:
    state.step += 1
    print(f"step {state.step:03d} loss {x.sum()}")
    return x * 2


def _floats(state: State, x: Any) -> Any:
    state.rate *= 0.9
    print(f"rate {state.rate:.3f}", "rate " + str(state.rate), f"rate {state.rate!r}")
    return x * state.rate


def _stored(state: State, x: Any) -> Any:
    state.step += 1
    state.tag = f"step{state.step}"
    return x + state.step


def _returned(state: State, x: Any) -> Any:
    state.step += 2
    return x, f"{state.step}", str(state.step), repr(state.step), "".join(["a", str(state.step)])


def _now_and_then(state: State, x: Any) -> Any:
    state.step += 1
    if state.step % 5 == 0:
        print(f"step {state.step}")
    return x * 2


def _looked_at(state: State, x: Any) -> Any:
    state.step += 1
    return x * {"1": 2.0, "2": 3.0}.get(str(state.step), 4.0), len(f"{state.step}"), f"{state.step}" == "3"


def _raised(state: State, x: Any) -> Any:
    state.step += 1
    if state.step % 2 == 0:
        raise ValueError(f"step {state.step}")
    return x


#: with the largest number of graphs that twelve calls may need; None for texts that are looked at
PROGRAMS: dict[Callable[[State, Any], Any], int | None] = {
    _printed: 2, _floats: 2, _stored: 2, _returned: 2, _now_and_then: 4, _looked_at: None, _raised: 4,
}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_texts(program: Callable[[State, Any], Any], capfd: pytest.CaptureFixture[str]) -> None:
    compiled, found = weft.jit(program), []
    for function in (program, compiled):
        state, results = State(), []
        for _ in range(12):
            try:
                results.append(repr(function(state, Tensor([1.0]))))
            except ValueError as error:
                results.append(repr(error))
            results.append((state.step, state.tag, type(state.tag)))
        found.append((results, capfd.readouterr().out))
    assert found[0] == found[1]
    most = PROGRAMS[program]
    assert most is None or len(compiled.report().graphs) <= most


@dataclass(frozen=True)
class Frozen:
    held: Any
    step: int = 0


@dataclass
class Nested:
    held: Any
    items: dict[str, Any] = field(default_factory=dict)
    inner: Any = None


#: with the largest number of graphs that eight calls may need; None where numbers are read as a whole
DATACLASSES: dict[str, tuple[Callable[[Any, Any], Any], int | None]] = {
    "replace": (lambda s, x: replace(s, held=s.held + x), 2),
    "replace a number": (lambda s, x: replace(s, held=s.held + x, step=s.step + 1), 2),
    "replace what is not there": (lambda s, x: replace(s, nothing=1), 2),
    "fields": (lambda s, x: ([f.name for f in fields(s)], x + 1), 1),
    "fields of another": (lambda s, x: fields(x), 1),
    "read by fields": (lambda s, x: {f.name: getattr(s, f.name) for f in fields(s)}, 2),
    "asdict": (lambda s, x: (asdict(s), x + 1), None),
    "astuple": (lambda s, x: (astuple(s), x + 1), None),
    "nested asdict": (lambda s, x: asdict(Nested(s.held, {"k": s}, s)), None),
    "nested astuple": (lambda s, x: astuple(Nested(s.held + x, {"k": [s]}, (s, s))), None),
    "replace in one made here": (lambda s, x: replace(Nested(s.held, {}, x), held=x * 2), 1),
}


@pytest.mark.parametrize("name", DATACLASSES)
def test_dataclasses_taken_apart(name: str) -> None:
    program, most = DATACLASSES[name]
    compiled = weft.jit(program)
    for step in range(8):
        found = []
        for function in (program, compiled):
            try:
                found.append(repr(function(Frozen(Tensor([float(step)]), step), Tensor([1.0]))))
            except TypeError as error:
                found.append(repr(error))
        assert found[0] == found[1]
    assert most is None or len(compiled.report().graphs) <= most
