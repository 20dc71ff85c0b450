"""Writes of boxes: they are what they are in NumPy; what is raised where a value does not fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.helpers.programs import Case, check_case
from weft import Tensor, grad, ops
from weft.core.dispatch import apply
from weft.jit import jit
from weft.ops.index import INDEX_ADD, parse

BOXES = [
    "...", ":", "0:", ":, :", "0:4", "0:4, 0:5", "::-1", "::-1, ::-1", "1", "-1, 2", "1:3", "1:3, 2:", "::2",
    "1::2, ::3", "::-2", "3:0:-1, 1", "None, 1:3", ":, None, ::-2", "1:1", "2:1, ::-1", "..., -1", "1, ..., None, ::2",
]  # fmt: skip


@pytest.mark.parametrize("text", BOXES)
@pytest.mark.parametrize("whole", [True, False])
def test_boxes(text: str, whole: bool) -> None:
    index = eval(f"np.s_[{text}]", {"np": np})
    base = np.arange(20, dtype=np.float32).reshape(4, 5)
    value = (base[index] + 100).astype(np.float32) if whole else np.float32(7)
    wanted = base.copy()
    wanted[index] = value

    def program(x: Any, value: Any) -> Any:
        y = x * 1
        y[index] = value
        return y, y[::-1]

    check_case(Case(program, [(base, value), (base + 1, value)], False, True, False, -1))
    for function in (program, jit(program, fullgraph=True)):
        np.testing.assert_array_equal(function(Tensor(base), Tensor(value))[0].asnumpy(), wanted)
    # what the gradient of reading a box adds
    for function in (lambda x: (x[index] * 3).sum(), jit(lambda x: (x[index] * 3).sum())):
        slopes = np.zeros_like(base)
        slopes[index] = 3
        np.testing.assert_array_equal(grad(function)(Tensor(base)).asnumpy(), slopes)


@pytest.mark.parametrize("text", BOXES)
def test_sums_in_boxes(text: str) -> None:
    index = eval(f"np.s_[{text}]", {"np": np})
    for base in (np.arange(20).reshape(4, 5), -np.zeros((4, 5), np.float32), np.arange(20).reshape(4, 5) % 3 == 0):
        value = base[index]
        spec, _ = parse(index, base.shape)
        wanted = base.copy()
        wanted[index] = wanted[index] + value
        found = apply(INDEX_ADD, (Tensor(base), Tensor(value)), (spec,)).asnumpy()
        np.testing.assert_array_equal(found, wanted)
        if base.dtype == np.float32:  # -0.0 stays -0.0 where nothing is added
            np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))


def all_of_zeros(c: Any) -> Any:
    v = ops.zeros(c.shape)
    v[...] = c
    return v[::-1]


def all_of_a_slice(c: Any) -> Any:
    v = ops.zeros(c.shape)
    v[0:] = c
    return v.flip(0), v


def all_through_a_view(c: Any) -> Any:
    base = c * 1
    v = base[::-1]
    v.fill_(-3.0)
    v[..., 0:] = c * 0.5
    return base, v


def a_part_of_zeros(c: Any) -> Any:
    v = ops.zeros(c.shape)
    v[1:] = c[1:]
    v[:2].add_(c[:2])
    return v[::-1], v[::-2]


@pytest.mark.parametrize("program", [all_of_zeros, all_of_a_slice, all_through_a_view, a_part_of_zeros])
def test_what_is_written_as_a_whole(program: Callable[..., Any]) -> None:
    inputs = [np.arange(n, dtype=np.float32) + 1 for n in (3, 3, 4, 7, 2)]
    check_case(Case(program, inputs, True, True, False, -1))


def _fits_not(index: Any, shape: tuple[int, ...]) -> Callable[[Any], Any]:
    def program(x: Any) -> Any:
        try:
            x[index] = ops.ones(shape)
        except ValueError as e:
            return str(e), x
        return "", x

    return program


@pytest.mark.parametrize(
    ("index", "shape", "selection"),
    [
        (0, (3,), (2,)),
        (..., (3, 2), (2, 2)),
        (slice(1), (3,), (1, 2)),
        (slice(None, None, -1), (2, 3), (2, 2)),
        ((slice(None), 0), (2, 2), (2,)),
        (slice(0, 0), (3,), (0, 2)),
        ([0, 1, 1], (2, 2), (3, 2)),
    ],
)
def test_a_value_that_does_not_fit(index: Any, shape: tuple[int, ...], selection: tuple[int, ...]) -> None:
    program = _fits_not(index, shape)
    x = np.ones((2, 2), np.float32)
    wanted = f"cannot assign a value of shape {shape} to a selection of shape {selection}"
    for function in (program, jit(program)):
        assert function(Tensor(x))[0] == wanted
    check_case(Case(program, [x, x, np.ones((5, 2), np.float32)], False, False, False, -1))


def item_of_several(x: Any) -> Any:
    x = x * 1
    try:
        return x.item()
    except ValueError as e:
        return str(e), x


def test_item_of_several() -> None:
    ones = np.ones((2, 2), np.float32)
    check_case(Case(item_of_several, [ones, ones * 2, ones[:1], ones[:1, :1], ones[:0]], False, False, False, -1))
