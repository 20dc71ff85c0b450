"""Edits of a class are seen by Cells and callable objects that were compiled before."""

from __future__ import annotations

import contextlib
import copy
import inspect
from typing import Any

import pytest

import weft
from weft import Tensor, nn

X = Tensor([1.0, 2.0])


def edits(deco: Any, breaks: bool) -> list[Any]:
    """What calls return between edits."""

    class Net(nn.Cell):
        def construct(self, x: Any, k: Any = 1) -> Any:
            return x * 2 + k

    class Sub(Net):
        def construct(self, x: Any) -> Any:  # type: ignore[override]
            return x * 7

    class Static(nn.Cell):
        @staticmethod
        def construct(x: Any) -> Any:
            return x * 8

    class Scaled:
        def __init__(self) -> None:
            self.k = 3

        def __call__(self, x: Any) -> Any:
            return x * self.k

    class Negative(Scaled):
        def __call__(self, x: Any) -> Any:
            return -x

    net: Any = deco(Net())
    obj: Any = Scaled()
    compiled, caller = deco(obj), deco(lambda x: net(x) + 1)
    found = [net(X), net(X, k=3), compiled(X), caller(X)]

    def calls() -> None:
        found.extend([net(X), compiled(X), caller(X), net(X)])

    Net.construct = lambda self, x: x * 100  # type: ignore[method-assign]
    Scaled.__call__ = lambda self, x: x * 50  # type: ignore[method-assign]
    calls()
    net.__class__, obj.__class__ = Sub, Negative
    calls()
    copied = copy.deepcopy(net)
    net.__class__ = Static
    calls()
    found.append(copied(X))
    net.__class__ = Net
    net.construct = lambda x: x * 9
    calls()
    del net.construct
    calls()

    def with_a_break(self: Any, x: Any) -> Any:
        y = x + 1
        with contextlib.suppress(OSError), open("/dev/null"):
            pass
        return y * 2

    if breaks:
        Net.construct = with_a_break  # type: ignore[method-assign]
        net = deco(Net())
        calls()
        Net.construct = lambda self, x: x * 3  # type: ignore[method-assign]
        calls()
    return [value.asnumpy().tolist() for value in found]


@pytest.mark.parametrize("options", [{}, {"mode": "PIJit"}, {"fullgraph": True}], ids=["auto", "PIJit", "fullgraph"])
def test_edits_of_a_class_are_seen(options: dict[str, Any]) -> None:
    breaks = "fullgraph" not in options
    assert edits(lambda target: weft.jit(target, **options), breaks) == edits(lambda target: target, breaks)


def test_a_compiled_cell_looks_like_itself() -> None:
    class Net(nn.Cell):
        def construct(self, x: Any, k: Any = 1) -> Any:
            """Doc."""
            return x * k

    net = weft.jit(Net())
    for _ in range(4):
        net(X)
    assert str(inspect.signature(net.construct)) == "(x: 'Any', k: 'Any' = 1) -> 'Any'"
    assert (net.construct.__name__, net.construct.__doc__) == ("construct", "Doc.")
    report = net.construct.report()
    assert len(report.graphs) == 1
    assert "test_edited_classes.py" in str(report)
