"""Library code that reads or changes more than its arguments: each call does it, and sees what is there now."""

from __future__ import annotations

import contextlib
import dataclasses
import decimal
import io
import json
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from weft import Tensor
from weft.testing import assert_compiles, assert_no_breaks

ARRAY = np.zeros(3)
RECORDS = np.rec.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f4")])
with warnings.catch_warnings(action="ignore"):
    MATRIX = np.matrix([[1.0, 2.0]])


def _saved(x: Any, folder: str, out: io.StringIO) -> Any:
    np.save(folder + "/a.npy", np.zeros(3))
    return x + 1


def _text_saved(x: Any, folder: str, out: io.StringIO) -> Any:
    np.savetxt(folder + "/c.txt", [1, 2])
    return x + 1


def _dumped(x: Any, folder: str, out: io.StringIO) -> Any:
    json.dump({"a": 1}, out)
    return x + 1


def _loaded(x: Any, folder: str, out: io.StringIO) -> Any:
    return x + float(np.load(folder + "/in.npy")[0]), np.loadtxt(folder + "/in.txt")


def _bytes(x: Any, folder: str, out: io.StringIO) -> Any:
    ARRAY.tofile(folder + "/t.bin")
    return x + 1, np.fromfile(folder + "/in.bin")


def _print_options(x: Any, folder: str, out: io.StringIO) -> Any:
    np.set_printoptions(precision=3)
    return x + 1


def _error_state(x: Any, folder: str, out: io.StringIO) -> Any:
    with np.errstate(all="ignore"):
        found = np.log(x.asnumpy() * 0), np.geterr()["divide"]
    np.seterr(over="raise")
    return x + 1, found


def _error_stack(x: Any, folder: str, out: io.StringIO) -> Any:
    with contextlib.ExitStack() as stack:
        stack.enter_context(np.errstate(divide="raise"))
        try:
            found = np.float64(1) / np.float64(0)
        except FloatingPointError as error:
            found = str(error)
        return x + 1, found


def _decimals(x: Any, folder: str, out: io.StringIO) -> Any:
    decimal.setcontext(decimal.Context(prec=7))
    return x + 1


def _in_place(x: Any, folder: str, out: io.StringIO) -> Any:
    np.put(ARRAY, [0], [ARRAY[0] + 1])
    np.copyto(ARRAY[1:], ARRAY[0])
    return x + 1


def _records(x: Any, folder: str, out: io.StringIO) -> Any:
    return x + RECORDS.a, RECORDS.b, RECORDS[0].a


def _matrix(x: Any, folder: str, out: io.StringIO) -> Any:
    return x * MATRIX.A1, MATRIX.T.shape, MATRIX.A


PROGRAMS = (
    _saved, _text_saved, _dumped, _loaded, _bytes, _print_options, _error_state, _error_stack, _decimals, _in_place,
    _records, _matrix,
)  # fmt: skip


def outcomes(program: Callable[..., Any], folder: Path) -> list[Any]:
    found = []
    out = io.StringIO()
    ARRAY[:] = 0
    for value in (1.0, 2.0, 3.0):
        np.save(folder / "in.npy", np.array([value]))
        np.array([value]).tofile(folder / "in.bin")
        (folder / "in.txt").write_text(str(value))
        RECORDS.a[0] = int(value)
        with np.printoptions(), np.errstate(), decimal.localcontext():
            result = program(Tensor([value]), str(folder), out)
            settings = np.get_printoptions()["precision"], np.geterr(), decimal.getcontext().prec
        found.append((repr(result), settings, sorted(os.listdir(folder)), out.getvalue(), ARRAY.tolist()))
        for made in ("a.npy", "c.txt", "t.bin"):
            (folder / made).unlink(missing_ok=True)
    return found


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_call_does_it(program: Callable[..., Any], tmp_path: Path) -> None:
    assert outcomes(weft.jit(program), tmp_path) == outcomes(program, tmp_path)


@pytest.mark.parametrize(
    "compute",
    [
        lambda: float(np.linalg.norm(np.ones(3))),
        lambda: float(np.linalg.inv(np.eye(2) * 2)[0, 0]),
        lambda: float(np.nanmean(np.ones(3))),
        lambda: len(np.array2string(np.ones(3))),
        lambda: len(json.dumps({"a": [1, 2]})),
        lambda: float(np.allclose(np.ones(2), 1)),
    ],
)
def test_what_leaves_nothing_behind_stays_in_the_graph(compute: Callable[[], float]) -> None:
    function = weft.jit(lambda x: x + compute())
    with assert_compiles(max=1):
        for value in (1.0, 2.0):
            np.testing.assert_allclose(function(Tensor([value])).asnumpy(), [value + compute()])
    assert not function.report().breaks


def test_dataclasses_made_in_a_graph() -> None:
    @weft.jit(mode="PIJit")
    def program(x: Tensor) -> Any:
        @dataclasses.dataclass
        class Point:
            a: int = 3

        return x * Point(2).a, Point().a, Point(1) == Point(1)

    with assert_no_breaks():
        for _ in range(2):
            result, default, equal = program(Tensor([1.0]))
            assert (result.asnumpy().tolist(), default, equal) == ([2.0], 3, True)
