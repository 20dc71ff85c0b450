"""What an exception says was being handled when it was raised, where the first one came out of a call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from weft import Tensor, jit


def inner(x: Any) -> Any:
    if x.sum() > 3:
        raise ValueError("first")
    return x


def in_a_handler(x: Any) -> Any:
    try:
        return inner(x)
    except ValueError:
        raise RuntimeError("second")  # noqa: B904  the context is what is tested


def with_a_cause(x: Any) -> Any:
    try:
        return inner(x)
    except ValueError as error:
        if x[0] > 0:
            raise RuntimeError("second") from error
    return x * 0


def where_a_tensor_decides(x: Any) -> Any:
    try:
        return inner(x)
    except ValueError:
        if x[0] > 0:
            raise RuntimeError("second")  # noqa: B904
    return x * 0


def of_python_itself(x: Any) -> Any:
    try:
        return inner(x)
    except ValueError:
        return {}["missing"]


def asserted(x: Any) -> Any:
    try:
        return inner(x)
    except ValueError:
        assert x[0] < 0, "second"
    return x


class Leaves:
    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if error is not None:
            raise RuntimeError("second")


def when_a_block_is_left(x: Any) -> Any:
    with Leaves():
        return inner(x)


def of_rows(x: Any) -> Any:
    total = x[0] * 0
    for row in x:
        try:
            total = total + inner(row)
        except ValueError:
            raise RuntimeError("second")  # noqa: B904
    return total


def raised_again(x: Any) -> Any:
    try:
        return in_a_handler(x)
    except RuntimeError:
        raise


def chain_of(function: Callable[[Any], Any], x: Any) -> list[str]:
    try:
        function(x)
    except Exception as error:
        found, link = [], error
        while link is not None:
            found += [repr(link), repr(link.__cause__)]
            link = link.__context__  # type: ignore[assignment]
        return found
    return []


@pytest.mark.parametrize(
    "function",
    [
        in_a_handler, with_a_cause, where_a_tensor_decides, of_python_itself, asserted, when_a_block_is_left, of_rows,
        raised_again,
    ],
)  # fmt: skip
def test_contexts_are_those_of_eager_code(function: Callable[[Any], Any]) -> None:
    compiled = jit(function)
    for values in ([1.0, 2.0, 3.0], [0.5, 0.5, 0.5], [-1.0, 4.0, 4.0], [1.0, 2.0, 3.0]):
        x = Tensor([values] * 9) if function is of_rows else Tensor(values)
        assert chain_of(compiled, x) == chain_of(function, x)
