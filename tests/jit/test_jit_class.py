from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import weft
from weft import GRAPH_MODE, Tensor, context, jit, jit_class, nn

X = Tensor([1.0, 2.0])


@pytest.fixture(params=[False, True], ids=["eager", "graph"])
def mode(request: pytest.FixtureRequest) -> Iterator[bool]:
    if request.param:
        weft.set_context(mode=GRAPH_MODE)
    yield request.param
    context.reset()


@jit_class
class Base:
    value = Tensor([3.0, 4.0])

    def __init__(self, by: float) -> None:
        self.by = by

    def act(self, x: Any) -> Any:
        return x * self.by

    def __call__(self, x: Any) -> Any:
        return self.act(x) + self.value


class Derived(Base):
    def act(self, x: Any) -> Any:
        return super().act(x) - 1


@jit_class
class Outer:
    def __init__(self) -> None:
        self.inner = Base(5.0)


class Net(nn.Cell):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.outer = Outer()

    def construct(self, x: Any) -> Any:
        made = Derived(2.0)
        return made(x) + self.outer.inner.act(x) * Base.value + self.outer.inner.by


def test_instances_are_made_read_and_called(mode: bool) -> None:
    net = Net()
    assert net(X).tolist() == [24.0, 52.0]
    net.outer.inner.by = 1.0
    assert net(X).tolist() == [8.0, 16.0]
    assert jit(net)(X).tolist() == [8.0, 16.0]


def test_a_call_without_a_method_for_it(mode: bool) -> None:
    @jit_class
    class Silent:
        pass

    class Calling(nn.Cell):  # type: ignore[misc]
        def construct(self, x: Any) -> Any:
            made: Any = Silent()
            return made(x)

    expected: Any = (ValueError, "MsClassObject: 'Silent' has no __call__ function, please check the code.")
    if not mode:
        expected = (TypeError, "'Silent' object is not callable")
    for _ in range(2):
        with pytest.raises(expected[0], match=expected[1]):
            Calling()(X)


def test_what_cannot_be_marked() -> None:
    with pytest.raises(TypeError, match=r"cannot be used for nn.Cell: Net<>\."):
        jit_class(Net)
    with pytest.raises(TypeError, match="can only be used for classes, not for 3"):
        jit_class(3)  # type: ignore[type-var]
