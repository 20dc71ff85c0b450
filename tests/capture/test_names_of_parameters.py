"""Layers that a call puts elsewhere, whose Parameters get other names; settings that a call changes."""

from __future__ import annotations

from typing import Any

import pytest

from weft import Parameter, Tensor, get_context, jit, nn, set_context


class Scale(nn.Cell):
    def __init__(self, factor: float) -> None:
        super().__init__()
        self.w = Parameter(Tensor([factor, factor]), name="w")

    def construct(self, x: Any) -> Any:
        return x * self.w


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = Scale(1.0), Scale(2.0)
        self.layers = nn.CellList([Scale(3.0), Scale(4.0)])

    def names(self) -> list[tuple[str, str, float]]:
        return [(path, p.name, float(p.asnumpy()[0])) for path, p in self.parameters_and_names()]


class Swaps(Net):
    def construct(self, x: Any) -> Any:
        self.a, self.b = self.b, self.a
        return self.a(x)


class SwapsUnderACondition(Net):
    def construct(self, x: Any) -> Any:
        if x.sum() > 0:
            self.a, self.layers[0] = self.layers[0], self.a
        return self.a(x)


class Keeps(Net):
    def construct(self, x: Any) -> Any:
        if x.sum() > 0:
            self.kept = self.b
        return self.a(x)


class Appends(Net):
    def construct(self, x: Any) -> Any:
        if x.sum() > 0 and len(self.layers) < 4:
            self.layers.append(self.a)
        return self.layers[-1](x)


@pytest.mark.parametrize("kind", [Swaps, SwapsUnderACondition, Keeps, Appends])
def test_names_are_those_of_eager_code(kind: type[Net]) -> None:
    eager, net = kind(), kind()
    compiled = jit(net.construct)
    for values in ([-1.0, -2.0], [1.0, 2.0], [-1.0, 0.5], [1.0, 2.0], [3.0, 1.0], [3.0, 2.0]):
        wanted, found = eager(Tensor(values)), compiled(Tensor(values))
        assert found.asnumpy().tolist() == wanted.asnumpy().tolist()
        assert net.names() == eager.names()


def test_settings_are_changed_where_python_changes_them() -> None:
    @jit
    def changes(x: Any) -> Any:
        if x.sum() > 0:
            set_context(loop_unroll_limit=33)
        return x * 2

    before = get_context("loop_unroll_limit")
    try:
        for value, wanted in ((-1.0, before), (1.0, 33), (-1.0, before), (1.0, 33)):
            set_context(loop_unroll_limit=before)
            changes(Tensor([value]))
            assert get_context("loop_unroll_limit") == wanted
    finally:
        set_context(loop_unroll_limit=before)
