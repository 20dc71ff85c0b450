"""Numbers of NumPy beside tensors are in the graph as numbers of Python are, with the types that eager code gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import Tensor, jit, ops
from weft.jit import compiled_of
from weft.testing import assert_no_breaks

KINDS = [np.float64, np.float32, np.float16, np.int64, np.int32, np.uint8]
TENSORS = [
    lambda: Tensor([1.0, 2.0]), lambda: Tensor([1, 2]), lambda: Tensor([1.0, 2.0], weft.float16),
    lambda: Tensor([True, False]),
]  # fmt: skip
RATE = np.float32(2.0)
WIDE = np.float64(0.1)


class Settings:
    rate: Any = np.float32(3.0)


SETTINGS = Settings()
RATES = [np.float32(2.0), np.float64(0.1), np.int64(3)]


def shown(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [shown(item) for item in value]
    return repr(value), type(value), getattr(value, "dtype", None)


def beside(x: Tensor, k: Any) -> Any:
    return x * k, k * x, x + k, k - (x + 1), x / k, k / (x + 1), x > k, k >= x


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "global": (lambda x: (x * RATE, WIDE * x), ()),
    "attribute": (lambda x: x * SETTINGS.rate, ()),
    "list": (lambda x: x * RATES[0] + RATES[1] - RATES[2], ()),
    "made": (lambda x: x * np.float64(2.0) + np.float32(1.0), ()),
    "computed": (lambda x, k: x * (k + 1) / np.sqrt(k), (np.float32(2.0),)),
    "condition": (lambda x, k: x if k > 1 else -x, (np.float32(2.0),)),
    "operation": (lambda x, k: ops.add(x, k), (np.float64(2.0),)),
    "index": (lambda x, k: x[k], (np.int64(1),)),
    "text": (lambda x, k: (x, f"{k}", k), (np.float32(2.0),)),
    "in a list": (lambda x, k: x * k[0], ([np.float64(2.0)],)),
    "of a bool": (lambda x, k: x * k, (np.bool_(True),)),
    "complex": (lambda x, k: x * k, (np.complex64(2 + 1j),)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_break(name: str) -> None:
    function, args = PROGRAMS[name]
    x = Tensor([1.0, 2.0])
    with assert_no_breaks():
        assert shown(jit(function)(x, *args)) == shown(function(x, *args))


@pytest.mark.parametrize("make", TENSORS)
@pytest.mark.parametrize("kind", KINDS)
def test_types_are_those_of_eager_code(make: Callable[[], Tensor], kind: Any) -> None:
    compiled = jit(beside)
    with assert_no_breaks():
        for number in (2, 3, 5):
            assert shown(compiled(make(), kind(number))) == shown(beside(make(), kind(number)))


@pytest.mark.parametrize("kind", KINDS)
def test_a_number_that_changes_becomes_an_input(kind: Any) -> None:
    settings, x = Settings(), Tensor([1.0, 2.0])

    def f(x: Tensor, k: Any) -> Any:
        return x * k + settings.rate * x

    compiled = jit(f)
    with assert_no_breaks():
        for number in range(1, 13):
            settings.rate = kind(number)
            assert shown(compiled(x, kind(number + 1))) == shown(f(x, kind(number + 1)))
    owner = compiled_of(compiled)
    assert owner is not None
    assert sum(map(len, owner.entries.values())) <= 3


def test_one_object_at_two_places_is_two_numbers() -> None:
    def f(x: Tensor, first: Settings, second: Settings) -> Any:
        constant = first.rate
        return x * constant, x * second.rate, x * first.rate

    x, one = Tensor([1.0]), np.float32(2.0)
    pairs = [(one, one), (one, np.float32(3.0)), (one, np.float32(4.0)), (np.float32(5.0), one), (one, one)]
    for order in (pairs, pairs[::-1], [(b, a) for a, b in pairs]):
        compiled, first, second = jit(f), Settings(), Settings()
        for first.rate, second.rate in order:
            assert shown(compiled(x, first, second)) == shown(f(x, first, second))


def test_what_a_condition_asks_of_one_is_guarded() -> None:
    def f(x: Tensor, k: Any) -> Any:
        return (x * k, "large") if k > 3 else (x + k, "small")

    compiled, x = jit(f), Tensor([1.0])
    for number in (1.0, 2.0, 4.0, 5.0, 2.5, 4.0, 1.0):
        for kind in (np.float32, np.float64):
            assert shown(compiled(x, kind(number))) == shown(f(x, kind(number)))


def test_identity_of_two_is_asked_in_python() -> None:
    def f(x: Tensor, a: Settings, b: Settings) -> Any:
        return x * 2 if a.rate is b.rate else x * 3

    compiled, x, a, b = jit(f), Tensor([1.0]), Settings(), Settings()
    one = np.float32(2.0)
    for a.rate, b.rate in [(one, one), (one, np.float32(2.0)), (one, one), (np.float32(3.0), one)]:
        assert shown(compiled(x, a, b)) == shown(f(x, a, b))


@pytest.mark.parametrize("policy", [{}, {"mode": "PSJit"}, {"mode": "PIJit"}, {"fullgraph": True}])
@pytest.mark.parametrize("kind", KINDS)
def test_a_constant_of_a_call_is_of_that_call_only(kind: Any, policy: dict[str, Any]) -> None:
    programs: list[Callable[..., Any]] = [
        lambda x, k: (x, k.item()),
        lambda x, k: (x, float(k), int(k), str(k)),
        lambda x, k: (x, k + 1, abs(k), {k: 1}),
        lambda x, k: (x * k, [k][0], k == 2),
        lambda x, k: x if k > 2 else (x, k),
    ]
    for program in programs:
        compiled = jit(program, **policy)
        for value in (2, 1, 2, 3, 1, 4, 2):
            x = Tensor([1.0])
            assert shown(compiled(x, kind(value))) == shown(program(x, kind(value)))
