"""Random signatures and calls: a decorated function binds its arguments as Python does, and fails as Python does."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.values import plain
from weft import Tensor, nn
from weft.jit import jit

NAMES = ("a", "b", "c", "d")
Call = tuple[tuple[Any, ...], dict[str, Any]]


@st.composite
def signatures(draw: st.DrawFn) -> str:
    """A parameter list of positional-only, ordinary, `*rest`, keyword-only and `**named` parameters, with defaults."""
    positional = draw(st.integers(0, 3))
    slash = draw(st.integers(0, positional))
    first_default = draw(st.integers(0, positional))
    parts = []
    for i, name in enumerate(NAMES[:positional]):
        parts.append(f"{name}={i + 0.5}" if i >= first_default else name)
        if i + 1 == slash:
            parts.append("/")
    keyword_only = draw(st.lists(st.sampled_from(["x", "y=2.0"]), unique=True, max_size=2))
    rest = draw(st.booleans())
    if rest or keyword_only:
        parts.append("*rest" if rest else "*")
    parts += keyword_only
    if draw(st.booleans()):
        parts.append("**named")
    return ", ".join(parts)


values = st.one_of(
    st.integers(-2, 2), st.sampled_from([0.5, 1.5]), st.sampled_from([Tensor(np.ones(2, np.float32)), Tensor([2.0])])
)
calls = st.tuples(
    st.lists(values, max_size=4).map(tuple),
    st.dictionaries(st.sampled_from([*NAMES, "x", "y", "z"]), values, max_size=2),
)


def define(parameters: str, first: str = "") -> Callable[..., Any]:
    """A function that says how each of its parameters was bound."""
    names = [part.split("=")[0] for part in parameters.split(", ") if part not in ("", "/", "*")]
    shown = ", ".join(f"({name.strip('*')!r}, twice({name.strip('*')}))" for name in names)
    inner = f"{first}, {parameters}" if first and parameters else first or parameters
    scope: dict[str, Any] = {"twice": twice}
    exec(f"def function({inner}):\n    return [{shown}]", scope)
    return scope["function"]


def twice(value: Any) -> Any:
    if isinstance(value, tuple):
        return [item * 2 for item in value]
    if isinstance(value, dict):
        return [(key, value[key] * 2) for key in sorted(value)]
    return value * 2


def outcome(function: Callable[..., Any], call: Call) -> Any:
    try:
        return plain(function(*call[0], **call[1]))
    except TypeError as error:
        return "TypeError", str(error).split("function() ")[-1]


@settings(max_examples=60)
@given(signatures(), st.lists(calls, min_size=1, max_size=4))
def test_functions_bind_as_in_python(parameters: str, made: list[Call]) -> None:
    function = define(parameters)
    decorated = jit(function)
    assert inspect.signature(decorated) == inspect.signature(function)
    for call in (*made, *made):
        assert outcome(decorated, call) == outcome(function, call)


@settings(max_examples=30)
@given(signatures(), st.lists(calls, min_size=1, max_size=3), st.sampled_from([object, nn.Cell]))
def test_methods_bind_as_in_python(parameters: str, made: list[Call], base: type) -> None:
    function, still, of_class = define(parameters, "self"), define(parameters), define(parameters, "cls")
    methods = {"run": function, "still": staticmethod(still), "make": classmethod(of_class)}
    python = type("Owner", (base,), methods)
    compiled = type("Owner", (base,), {name: jit(method) for name, method in methods.items()})
    eager, other = python(), compiled()
    for call in (*made, *made):
        for name in methods:
            assert outcome(getattr(other, name), call) == outcome(getattr(eager, name), call)
