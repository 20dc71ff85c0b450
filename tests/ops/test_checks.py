"""The checks of arguments that functions share: what is taken, and what the message says of the rest."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
import pytest

from weft import Tensor, jit
from weft.errors import NoTensor
from weft.ops import _checks as checks

TAKEN: dict[str, tuple[Any, ...]] = {
    "bools": (True, False),
    "ints": (0, -3, IntEnum("One", "a").a),
    "floats": (0.5, float("nan"), np.float64(1.0)),
    "reals": (0, 0.5),
    "strings": ("", "a"),
    "tuples": ((), (1, 2)),
    "lists": ([], (1,)),
    "tensors": (Tensor([1]),),
    "positive_ints": (1, 7),
    "float_tensors": (Tensor([1.0]),),
}
REFUSED: list[tuple[str, Any, type[Exception], str]] = [
    ("bools", 1, TypeError, "f: x must be a bool, not int"),
    ("bools", None, TypeError, "f: x must be a bool, not NoneType"),
    ("ints", True, TypeError, "f: x must be an int, not bool"),
    ("ints", 1.0, TypeError, "f: x must be an int, not float"),
    ("floats", 1, TypeError, "f: x must be a float, not int"),
    ("reals", False, TypeError, "f: x must be a number, not bool"),
    ("reals", "1", TypeError, "f: x must be a number, not str"),
    ("strings", b"a", TypeError, "f: x must be a string, not bytes"),
    ("tuples", [1], TypeError, "f: x must be a tuple, not list"),
    ("lists", {1}, TypeError, "f: x must be a list or tuple, not set"),
    ("tensors", [1.0], NoTensor, "f: x must be a Tensor, not list"),
    ("positive_ints", 0, ValueError, "f: x must be positive, not 0"),
    ("positive_ints", True, TypeError, "f: x must be an int, not bool"),
    ("float_tensors", Tensor([1]), TypeError, "f: x must be a tensor of floats, not of Int64"),
    ("float_tensors", 1.0, NoTensor, "f: x must be a Tensor, not float"),
]


@pytest.mark.parametrize("name", TAKEN)
def test_taken(name: str) -> None:
    getattr(checks, name)("f", **{f"x{at}": value for at, value in enumerate(TAKEN[name])})


@pytest.mark.parametrize(("name", "value", "error", "message"), REFUSED)
def test_refused(name: str, value: Any, error: type[Exception], message: str) -> None:
    good = TAKEN[name][0]
    with pytest.raises(error) as raised:
        getattr(checks, name)("f", first=good, x=value, last=value)
    assert str(raised.value) == message


def test_one_of() -> None:
    checks.one_of("f", ("a", None), x="a", y=None)
    with pytest.raises(ValueError, match=r"f: x must be 'a', 'b' or 3, not 'c'"):
        checks.one_of("f", ("a", "b", 3), x="c")
    with pytest.raises(ValueError, match=r"f: x must be 'a' or 'b', not 1"):
        checks.one_of("f", {"a": 0, "b": 1}, x=1)


def test_in_a_graph() -> None:
    @jit
    def scaled(x: Any, by: Any) -> Any:
        checks.tensors("scaled", x=x)
        checks.ints("scaled", by=by)
        return x * by

    for by in (2, 3):
        assert scaled(Tensor([1.0]), by).asnumpy().tolist() == [float(by)]
    with pytest.raises(TypeError, match="scaled: by must be an int, not float"):
        scaled(Tensor([1.0]), 2.0)
