"""Operations that are rows: what a row makes is what `op` makes of a function that says the same."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from weft import Tensor, grad, jit, ops
from weft.core.declare import as_operator
from weft.core.describing import shows, told
from weft.core.operators import OPERATOR_CLASSES
from weft.ops._rows import of_floats, of_one, of_pairs, row

_TRAITS: dict[str, Any] = {"method": (), "classes": ()}
halved = row(
    __name__, "halved", lambda x, *, times=1: x / 2**times, "Half of each.", "4.0", "2.0",
    primitive="DocRowHalved", **_TRAITS,
)  # fmt: skip
negated = of_one(__name__, "negated", jnp.negative, "Negated.", "1", "-1", primitive="DocRowNegated", **_TRAITS)
rooted = of_floats(
    __name__, "rooted", jnp.sqrt, "Roots.", "[4]", "[2.]", then=".abs()", primitive="DocRowRooted", **_TRAITS
)
added = of_pairs(__name__, "added", jnp.add, "Sums.", "1, 2", "3", primitive="DocRowAdded", **_TRAITS)
twice = of_pairs(
    __name__, "twice", jnp.add, "Sums.", "1, 2", "6", primitive="DocRowTwice",
    prepared=lambda name, *given: [2 * each for each in given], **_TRAITS,
)  # fmt: skip


def test_names_signature_and_docstring() -> None:
    assert (halved.__name__, halved.__qualname__, halved.__module__) == ("halved", "halved", __name__)
    assert list(inspect.signature(halved).parameters) == ["x", "times"]
    assert inspect.getdoc(halved) == "Half of each.\n\nExample:\n    >>> print(halved(4.0))\n    2.0"
    assert inspect.getdoc(rooted) == "Roots.\n\nExample:\n    >>> print(rooted(Tensor([4])).abs())\n    [2.]"
    assert halved.primitive.elementwise
    assert added.primitive.promotes


@pytest.mark.parametrize("run", [lambda f: f, jit], ids=["eager", "jit"])
def test_values(run: Any) -> None:
    for values in ([1.0, 4.0], [9.0, 16.0]):
        x = Tensor(values)
        assert run(partial(halved, times=2))(x).asnumpy().tolist() == [value / 4 for value in values]
        assert run(negated)(x).asnumpy().tolist() == [-value for value in values]
        assert run(rooted)(x).asnumpy().tolist() == np.sqrt(values).tolist()
        assert run(added)(x, x).asnumpy().tolist() == [2 * value for value in values]
        assert run(twice)(x, x).asnumpy().tolist() == [4 * value for value in values]
        assert run(grad(lambda y: rooted(y).sum()))(x).asnumpy() == pytest.approx(0.5 / np.sqrt(values))


def test_types() -> None:
    assert rooted(Tensor([4])).dtype is ops.sqrt(Tensor([4])).dtype
    assert added(Tensor([1]), Tensor([1.0])).dtype is ops.add(Tensor([1]), Tensor([1.0])).dtype
    with pytest.raises(ValueError, match="added: shapes"):
        added(Tensor([1, 2]), Tensor([1, 2, 3]))


def test_told_has_the_indentation_of_a_docstring() -> None:
    made = told(lambda: None, "made", "\nFirst.\n\nArgs:\n    x: a number.\n")
    assert (made.__name__, made.__qualname__) == ("made", "made")
    assert inspect.getdoc(made) == "First.\n\nArgs:\n    x: a number."


def test_an_example_stands_at_the_end_of_a_docstring() -> None:
    class Halving:
        @shows("Halving().half(3.0)", "1.5")
        def half(self, x: Any) -> Any:
            """Half of a number.

            Args:
                x: a number.
            """
            return x / 2

    @shows("pair(1)", "[[1]\n [1]]")
    def pair(x: Any) -> Any:
        """Twice."""
        return x

    example = "Example:\n    >>> print(Halving().half(3.0))\n    1.5"
    assert inspect.getdoc(Halving.half) == f"Half of a number.\n\nArgs:\n    x: a number.\n\n{example}"
    assert inspect.getdoc(pair) == "Twice.\n\nExample:\n    >>> print(pair(1))\n    [[1]\n     [1]]"


@pytest.fixture
def shifted() -> Iterator[Any]:
    @as_operator
    def DocShifted(x: Any, y: Any = 1, *, by: int, times: float = 2.0) -> Any:
        """A number moved and multiplied."""
        return (x + y * by) * times

    yield DocShifted
    del OPERATOR_CLASSES["DocShifted"]


def test_an_operator_class_has_the_settings_that_a_function_takes_by_name(shifted: Any) -> None:
    made = shifted
    assert OPERATOR_CLASSES["DocShifted"] is made
    assert (made.__name__, made.__doc__) == ("DocShifted", "A number moved and multiplied.")
    assert str(inspect.signature(made)) == "(by, times=2.0)"
    assert (made(3)(1), made(3, 1.0)(1), made(by=3)(1, y=2), made(3).times) == (8.0, 4.0, 14.0, 2.0)
    assert str(made(3)) == "DocShifted(by=3, times=2.0)"
    for values in ([1.0], [4.0, 5.0]):
        x = Tensor(values)
        assert jit(lambda x: made(3)(x))(x).asnumpy().tolist() == made(3)(x).asnumpy().tolist()
        assert grad(lambda x: made(3)(x).sum())(x).asnumpy().tolist() == [2.0] * len(values)


def test_an_operator_class_is_declared_once_and_has_its_defaults_last(shifted: Any) -> None:
    with pytest.raises(ValueError, match="declared twice"):
        as_operator(shifted.function)

    def DocMixed(x: Any, *, first: int = 1, second: int) -> Any:
        return x

    with pytest.raises(SyntaxError):
        as_operator(DocMixed)
