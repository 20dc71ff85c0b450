"""Cells that are declared: constructors made of signatures, operations as cells, descriptions that families share."""

from __future__ import annotations

import copy
import inspect
import pickle
from typing import Any, ClassVar

import pytest

import weft
from weft import Tensor, nn, ops
from weft.core.describing import Described, described
from weft.nn.declared import Applied, declared, flag, like, positive_int, real


class Base(nn.Cell):
    def __init__(self, size: int = 1) -> None:
        super().__init__()
        self.size = size * 10


class Scaled(Base):
    @declared(factor=real, twice=flag)
    def __init__(self, factor: float, size: int = 2, *, twice: bool = False, other: Any = None) -> None: ...

    def _made(self) -> None:
        if self.factor < 0:
            raise ValueError("Scaled: factor must not be negative")

    def construct(self, x: Tensor) -> Tensor:
        return x * self.factor * (2 if self.twice else 1)


class More(Scaled):
    def __init__(self) -> None:
        super().__init__(3, twice=True)


def test_a_declared_constructor_has_its_signature() -> None:
    assert str(inspect.signature(Scaled)) == (
        "(factor: 'float', size: 'int' = 2, *, twice: 'bool' = False, other: 'Any' = None) -> 'None'"
    )
    assert Scaled.__init__.__qualname__ == "Scaled.__init__"


def test_the_base_gets_what_it_takes_and_the_rest_is_kept() -> None:
    cell = Scaled(2, 5, other="x")
    assert (cell.size, cell.factor, cell.twice, cell.other) == (50, 2.0, False, "x")
    assert type(cell.factor) is float
    assert More()(Tensor([1.0])).item() == 6.0


@pytest.mark.parametrize(
    ("args", "kwargs", "error"),
    [((), {}, TypeError), ((1,), {"twice": 1}, TypeError), ((-1,), {}, ValueError), ((1,), {"unknown": 1}, TypeError)],
)
def test_wrong_arguments_are_refused(args: Any, kwargs: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        Scaled(*args, **kwargs)


class Fewer(Scaled):
    __init__ = declared()(like(Scaled.__init__, without=("other", "size"), factor=3, twice=True))


def test_a_constructor_is_like_another_one() -> None:
    assert str(inspect.signature(Fewer)) == "(factor: 'float' = 3, *, twice: 'bool' = True) -> 'None'"
    assert Fewer.__init__.__qualname__ == "Fewer.__init__"
    cell = Fewer(2)
    assert (cell.factor, cell.twice, cell.size, cell.other) == (2.0, True, 20, None)
    assert Fewer()(Tensor([1.0])).item() == 6.0
    with pytest.raises(TypeError):
        Fewer(1, 2)  # type: ignore[arg-type]


def test_only_parameters_with_defaults_may_be_left_out() -> None:
    class Given(Scaled):
        __init__ = declared()(like(Scaled.__init__, without=("other",)))

    with pytest.raises(TypeError):
        Given()  # type: ignore[call-arg]
    assert Given(1, 3).size == 30


@pytest.mark.parametrize("take", [copy.copy, copy.deepcopy, lambda cell: pickle.loads(pickle.dumps(cell))])
def test_declared_cells_are_copied(take: Any) -> None:
    assert take(Scaled(2))(Tensor([3.0])).item() == 6.0


@pytest.mark.parametrize("make", [nn.ReLU, nn.ELU, nn.Hardtanh, lambda: nn.GELU(False), lambda: nn.Softplus(2, 1)])
def test_an_applied_operation_is_the_same_in_a_graph(make: Any) -> None:
    cell = make()
    for values in ([-2.0, 0.5], [3.0, -0.25]):
        x = Tensor(values)
        compiled = weft.jit(lambda x: cell(x))
        assert compiled(x).asnumpy().tolist() == pytest.approx(cell(x).asnumpy().tolist(), rel=1e-6)
        gradient = weft.grad(lambda x: cell(x).sum())(x)
        assert weft.jit(weft.grad(lambda x: cell(x).sum()))(x).asnumpy().tolist() == pytest.approx(
            gradient.asnumpy().tolist(), rel=1e-6
        )


def test_attributes_are_read_in_each_call() -> None:
    cell = nn.LeakyReLU(0.5)
    assert cell(Tensor([-1.0])).item() == -0.5
    cell.alpha = 0.25
    assert cell(Tensor([-1.0])).item() == -0.25


def test_an_operation_gets_the_settings_in_order() -> None:
    class Clipped(Applied, operation=ops.clip):
        @declared()
        def __init__(self, low: float, high: float) -> None: ...

    assert Clipped(-1.0, 2.0)(Tensor([-3.0, 5.0])).asnumpy().tolist() == [-1.0, 2.0]


class Family(Described, nn.Cell):
    """Base.

    Args:
        size: how large.

    Raises:
        ValueError: too small.
    """

    _rank: ClassVar[int] = 1


def test_classes_of_programs_keep_their_docstrings() -> None:
    class Own(Family, rank=2):
        """Own."""

        @declared(size=positive_int)
        def __init__(self, size: int) -> None: ...

    assert Own.__doc__ == "Own."
    assert Own._rank == 2


def test_members_of_a_family_are_described() -> None:
    text = inspect.getdoc(nn.Conv1d)
    assert text is not None
    order = [text.index(f"    {name}: ") for name in inspect.signature(nn.Conv1d).parameters]
    assert order == sorted(order)
    assert "Raises:\n    TypeError: an argument is no number." in str(inspect.getdoc(nn.ConstantPad2d))


def test_members_fill_the_gaps_of_the_example_of_their_family() -> None:
    for cell, shown in (
        (nn.Tanh, "print(Tanh()(weft.Tensor([0.0])))"),
        (nn.ELU, "print(ELU()(weft.Tensor([0.0, 2.0])))"),
    ):
        example = str(inspect.getdoc(cell)).split("Example:\n")[1]
        assert example.split("\n")[:2] == ["    >>> import weft", f"    >>> {shown}"]
    assert "[[5. 1.]\n     [5. 5.]]" in str(inspect.getdoc(nn.ConstantPad2d))
    assert "Example:" not in str(nn.ReLU.__mro__[1].__doc__)


def test_a_function_says_what_is_its_own() -> None:
    @described(x="a number.", y="another.", returns="a sum.", raises="TypeError: no numbers.")
    def total(x: int, y: int, z: int = 0) -> int:
        """The sum.

        Args:
            y: the second.

        Example:
            >>> total(1, 2)
            3
        """
        return x + y + z

    parts = [part.split() for part in str(total.__doc__).split("\n\n")]
    assert parts[1] == ["Args:", "x:", "a", "number.", "y:", "the", "second."]
    assert parts[2:4] == [["Returns:", "a", "sum."], ["Raises:", "TypeError:", "no", "numbers."]]
    assert parts[4][0] == "Example:"


def test_unknown_keywords_of_classes_are_refused() -> None:
    with pytest.raises(TypeError):

        class Wrong(Family, height=2):
            pass


def test_type_checkers_know_the_sizes_that_layers_keep() -> None:
    def sizes(dense: nn.Dense, conv: nn.Conv2d, norm: nn.BatchNorm2d, cell: nn.LSTMCell) -> list[int]:
        return [dense.in_channels, conv.out_channels, norm.num_features, cell.hidden_size]

    def rate(dropout: nn.Dropout2d) -> float:
        return dropout.p  # an Any would be an error of the type checker

    assert sizes(nn.Dense(2, 3), nn.Conv2d(3, 4, 1), nn.BatchNorm2d(5), nn.LSTMCell(1, 6)) == [2, 4, 5, 6]
    assert rate(nn.Dropout2d(0.25)) == 0.25
